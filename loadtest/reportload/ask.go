package reportload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query/report"
)

// Options say what is asked. Lists that are empty are of everything.
type Options struct {
	Reports, Groups, Spans, Bases []string

	Compare string // with what each is compared, as report.Question has it; "" for nothing
	Times   int    // that each question is asked
	Above   int    // a question is printed if it takes as many milliseconds of processor time
	Explain string // folder for the plans; "" keeps none
}

// present is the day on which everything is asked, the first one after ten years.
var present = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// spans are what reports are asked of: the last month, the last year, and all ten years.
var spans = []struct {
	name string
	of   report.Span
}{
	{"month", report.Span{From: present.AddDate(0, -1, 0), Until: present.AddDate(0, 0, -1)}},
	{"year", report.Span{From: present.AddDate(-1, 0, 0), Until: present.AddDate(0, 0, -1)}},
	{"decade", report.Span{From: present.AddDate(-10, 0, 0), Until: present.AddDate(0, 0, -1)}},
}

// usage is what one question took.
type usage struct {
	took        time.Duration
	cpu         int64 // in microseconds
	rows, bytes int64 // read
}

// Ask asks each report by each of its groups, on each basis, of each span, and prints what it took, a line a question.
// Days and weeks of more than a year, which hardly anybody reads, are asked if they are named, and calendars of more
// than a month are not.
func Ask(ctx context.Context, db driver.Conn, o Options, say io.Writer) error {
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"max_memory_usage": rest.DefaultConfig().QueryMemory}))
	wanted := func(among []string, name string) bool { return len(among) == 0 || slices.Contains(among, name) }
	fmt.Fprintf(say, "%-20s %-8s %-8s %-8s %9s %9s %9s %8s %12s %10s %8s\n", "report", "group", "basis", "span",
		"first ms", "median ms", "p99 ms", "cpu ms", "rows read", "MB read", "rows")
	asked, slow := 0, 0
	for _, name := range report.Names() {
		d := report.Named(name)
		if !wanted(o.Reports, name) {
			continue
		}
		for _, span := range spans {
			for _, group := range d.Groups {
				long := span.of.Days()
				if !wanted(o.Spans, span.name) || !wanted(o.Groups, group) || group == "calendar" && long > 31 ||
					(group == "day" || group == "week") && long > 366 && len(o.Groups) == 0 {
					continue
				}
				for _, basis := range d.Bases {
					if !wanted(o.Bases, basis) {
						continue
					}
					q := question(span.of, group, basis)
					q.Compare = o.Compare
					slowest, err := ask(ctx, db, d, q, span.name, o, say)
					if err != nil {
						return fmt.Errorf("%s by %s of a %s: %w", name, group, span.name, err)
					}
					if asked++; slowest > most {
						slow++
					}
				}
			}
		}
	}
	_, err := fmt.Fprintf(say, "%d questions, of which %d have a p99 above %v\n", asked, slow, most)
	return err
}

// most is how long the slowest of a hundred answers may take.
const most = 500 * time.Millisecond

func question(span report.Span, group, basis string) report.Question {
	q := report.Question{Account: 7, Span: span, Group: group, Basis: basis, Currency: "USD", Zone: "America/New_York",
		Today: present, First: report.First{Rows: 1000}} // as the interface asks unless it is told otherwise
	for _, line := range ledger.Chart {
		q.Accounts, q.Measures = append(q.Accounts, string(line.Account)), append(q.Measures, line.Measure)
	}
	return q
}

// ask asks one question once, and then as often as is wanted, prints what it took, and returns the p99 of these: the
// first answer is told apart, as most of what it reads comes from the disk. One that has more rows than an
// answer may have, or takes more memory than it may, is said to be refused.
func ask(
	ctx context.Context, db driver.Conn, d *report.Definition, q report.Question, span string, o Options, say io.Writer,
) (time.Duration, error) {
	if o.Explain != "" {
		plan, err := d.Explain(ctx, db, q)
		if err != nil {
			return 0, err
		}
		file := filepath.Join(o.Explain, fmt.Sprintf("%s-%s-%s-%s.txt", d.Name, q.Group, q.Basis, span))
		if err := os.WriteFile(file, []byte(strings.Join(plan, "\n")+"\n"), 0o600); err != nil {
			return 0, err
		}
	}
	var all []usage
	rows := 0
	for range o.Times + 1 {
		var u usage
		var counting sync.Mutex // rows and totals may be asked at once
		counted := clickhouse.Context(ctx, clickhouse.WithProfileEvents(func(events []clickhouse.ProfileEvent) {
			counting.Lock()
			defer counting.Unlock()
			for _, e := range events {
				switch e.Name {
				case "UserTimeMicroseconds", "SystemTimeMicroseconds":
					u.cpu += e.Value
				case "SelectedRows":
					u.rows += e.Value
				case "SelectedBytes":
					u.bytes += e.Value
				}
			}
		}))
		begun := time.Now()
		answer, err := d.Answer(counted, db, q)
		if fault, ok := errors.AsType[*clickhouse.Exception](err); ok && fault.Code == int32(rest.ClickHouseMemory) ||
			errors.Is(err, report.ErrTooManyRows) {
			fmt.Fprintf(say, "%-20s %-8s %-8s %-8s refused: %.80v\n", d.Name, q.Group, q.Basis, span, err)
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		u.took, rows = time.Since(begun), answer.RowCount
		all = append(all, u)
	}
	first, all := all[0], all[1:]
	slices.SortFunc(all, func(a, b usage) int { return int(a.cpu - b.cpu) })
	cpu := all[len(all)/2].cpu / 1000
	slices.SortFunc(all, func(a, b usage) int { return int(a.took - b.took) })
	middle, slowest := all[len(all)/2], all[(len(all)*99+99)/100-1]
	if cpu >= int64(o.Above) {
		fmt.Fprintf(say, "%-20s %-8s %-8s %-8s %9d %9d %9d %8d %12d %10.1f %8d\n",
			d.Name, q.Group, q.Basis, span, first.took.Milliseconds(), middle.took.Milliseconds(),
			slowest.took.Milliseconds(), cpu, middle.rows, float64(middle.bytes)/1e6, rows)
	}
	return slowest.took, nil
}
