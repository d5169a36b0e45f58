package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Question is what a report is asked.
type Question struct {
	Account  fleet.AccountID
	Span     Span
	Group    string
	Basis    string
	Compare  string // PreviousPeriod, PreviousYear or "" for nothing
	Currency string
	Zone     string    // of the account
	Today    time.Time // a date, in that zone
	Metric   bool      // in kilometres and litres
	Filters  Filters
	First    First // the rows that are wanted, all unless it says otherwise; a report may answer more
	MostRows int   // that may be read, 0 for the usual bound; more are ErrTooManyRows
	// the chart of accounts: of each account of the ledger, at the same place, its measure
	Accounts, Measures []string

	by string // of totals, the group whose rows they are of, so that both are made of the same
	// a row of everything is wanted beside the others, of a statement that takes this; one that answers it by tag too, of
	// which a vehicle has many, takes it as totals_by_tag
	totals bool
}

// Filters choose what counts; an empty list is any.
type Filters struct {
	Vehicles, Classes, Locations, Customers, Owners []uint64
	Channels, Tags, Makes, Models                   []string // a model with its make
}

// Row is what the figures of a report come to by one key.
type Row struct {
	Key      string
	Span     Span    // of a time; the question's for others
	Values   []Value // by the report's figures
	Previous []Value // the same in what it is compared with; nil if there is nothing to compare with

	everything bool // it is of everything, beside the rows of a group
}

// Answer is what a report came to.
type Answer struct {
	Report   *Definition // in the units that were asked for
	Question Question
	Before   Span  // what Previous is of
	Rows     []Row // in the order of time, or of the keys
	RowCount int   // with those that were not wanted
	Totals   Row
}

// Answer runs the report: its rows, its totals, and both for what it is compared with.
func (d *Definition) Answer(ctx context.Context, db driver.Conn, q Question) (*Answer, error) {
	a := &Answer{Report: d.in(q.Metric), Question: q}
	rows, count, totals, err := d.both(ctx, db, q)
	if err != nil {
		return nil, err
	}
	a.Rows, a.RowCount, a.Totals = rows, count, totals
	if d.takes["before_from"] {
		a.Before = q.before()
		return a, nil
	}
	if q.Compare == "" {
		return a, nil
	}
	a.Before = q.before()
	before := q
	before.Span = a.Before
	past, _, sum, err := d.both(ctx, db, before)
	if err != nil {
		return nil, err
	}
	a.Totals.Previous = sum.Values
	if groups[q.Group].Of == "time" {
		for i := range a.Rows[:min(len(a.Rows), len(past))] { // the first with the first
			a.Rows[i].Previous = past[i].Values
		}
		return a, nil
	}
	at := make(map[string]int, len(a.Rows))
	for i := range a.Rows {
		at[a.Rows[i].Key] = i
	}
	none := d.nothing(q.Span, totals.Values, q.Metric)
	for _, row := range past {
		i, ok := at[row.Key]
		if !ok {
			i = len(a.Rows)
			a.Rows, a.RowCount = append(a.Rows, Row{Key: row.Key, Span: q.Span, Values: none}), a.RowCount+1
		}
		a.Rows[i].Previous = row.Values
	}
	for i := range a.Rows {
		if a.Rows[i].Previous == nil {
			a.Rows[i].Previous = none
		}
	}
	return a, nil
}

// before is the span that a report is compared with.
func (q *Question) before() Span { return q.Span.Before(cmp.Or(q.Compare, PreviousPeriod)) }

// ErrTooManyRows is the refusal of a report that has more rows than one may have.
var ErrTooManyRows = errors.New("the report has too many rows")

// ErrTooManyDays is the refusal of a report that would look at more vehicles on more days than its statement does: it
// says so by throwIf. Such a report has too many rows too, if not all are shown.
var ErrTooManyDays = fmt.Errorf("too many vehicles on too many days: %w", ErrTooManyRows)

// thrown is the code of the server for what throwIf refuses.
const thrown = 395

// mostRows is how many rows of a report are read.
const mostRows = 200_000

// read asks once, and gives the raw figures of each row.
func (d *Definition) read(ctx context.Context, db driver.Conn, q Question) (found, error) {
	var all found
	var scan *scanner
	left := cmp.Or(q.MostRows, mostRows) // that may come; the one of everything is none of them
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := schemas.EachRow(ctx, db, "run report "+d.Name, d.asked(&q), d.args(q), func(row schemas.Row) error {
		if scan == nil {
			var err error
			if scan, err = newScanner(d, row); err != nil {
				return err
			}
		}
		if err := all.add(scan, row, q.Span); err != nil {
			return err
		}
		if !scan.everything() {
			if left == 0 {
				cancel() // what is left is not read
				return ErrTooManyRows
			}
			left--
		}
		return nil
	})
	if fault, ok := errors.AsType[*clickhouse.Exception](err); ok && fault.Code == thrown {
		return found{}, ErrTooManyDays
	}
	return all, err
}

// finish works out what raw rows come to, and puts them in order. Of times there is a row each, whether anything was in
// them or not; nothing is null where it is so in the totals.
func (d *Definition) finish(rows []Row, q Question, totals []Value) ([]Row, error) {
	if groups[q.Group].Of != "time" {
		for i := range rows {
			rows[i].Values = d.values(rows[i].Values, q.Span, q.Metric)
		}
		return sorted(rows), nil
	}
	found := make(map[string]Row, len(rows))
	for _, row := range rows {
		found[row.Key] = row
	}
	var times []Row
	for _, span := range q.Span.Split(q.Group) {
		key := first(q.Group, span.From).Format(time.DateOnly)
		row, ok := found[key]
		if ok {
			row.Values = d.values(row.Values, span, q.Metric)
		} else {
			row = Row{Key: key, Values: d.nothing(span, totals, q.Metric)}
		}
		row.Span = span
		times = append(times, row)
		delete(found, key)
	}
	for key := range found {
		return nil, fmt.Errorf("run report %s: %s is no %s of the span", d.Name, key, q.Group)
	}
	return times, nil
}

// Explain is how the server reads what a question asks of it, in its own words, with the keys and indexes that it uses.
func (d *Definition) Explain(ctx context.Context, db driver.Conn, q Question) ([]string, error) {
	return schemas.AllRows(ctx, db, "explain report "+d.Name, "EXPLAIN indexes = 1 "+d.asked(&q), d.args(q),
		func(line *string, row schemas.Row) error { return row.Scan(line) })
}

// sorted puts rows in the order of their keys. There may be many, so it is their places that are moved until then.
func sorted(rows []Row) []Row {
	places := make([]int32, len(rows))
	for i := range places {
		places[i] = int32(i)
	}
	slices.SortFunc(places, func(a, b int32) int { return compareKeys(rows[a].Key, rows[b].Key) })
	all := make([]Row, len(rows))
	for i, at := range places {
		all[i] = rows[at]
	}
	return all
}

// compareKeys puts ids in the order of their numbers.
func compareKeys(a, b string) int {
	if len(a) != len(b) && digits(a) && digits(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

func digits(s string) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// args are the parameters that the statement takes.
func (d *Definition) args(q Question) []any {
	all := map[string]any{
		"account": uint64(q.Account), "from": q.Span.From.Format(time.DateOnly), "to": q.Span.Until.Format(time.DateOnly),
		"group": q.Group, "by": cmp.Or(q.by, q.Group), "basis": q.Basis, "currency": q.Currency, "zone": q.Zone,
		"today":  q.Today.Format(time.DateOnly),
		"totals": q.totals, "totals_by_tag": q.totals, "before_from": q.before().From.Format(time.DateOnly),
		"before_to": q.before().Until.Format(time.DateOnly),
		"vehicles":  some(q.Filters.Vehicles), "classes": some(q.Filters.Classes), "locations": some(q.Filters.Locations),
		"channels": some(q.Filters.Channels), "customers": some(q.Filters.Customers), "owners": some(q.Filters.Owners),
		"tags": some(q.Filters.Tags), "makes": some(q.Filters.Makes), "models": some(q.Filters.Models),
		"accounts": some(q.Accounts), "measures": some(q.Measures),
	}
	var args []any
	for name, value := range all {
		if d.takes[name] {
			args = append(args, clickhouse.Named(name, value))
		}
	}
	return args
}

// some is a list that the driver takes for an empty one too.
func some[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}

// described is a row that knows its columns.
type described interface {
	Columns() []string
	ColumnTypes() []driver.ColumnType
}

// scanner reads rows, whatever the order of their columns.
type scanner struct {
	columns []any // pointers, as the columns come
	key     int
	whole   *uint64 // the column that says whether the row is of everything; nil if there is none
	count   *uint64 // the column that says how many rows there are; nil if there is none
	figures []int   // the columns of the raw figures, by all figures; -1 of ratios
	summed  []int   // those of their sums; -1 where there is none
	figure  []Figure

	reckoned []reckoned // by all figures
	room     []Value    // for rows to come
}

func newScanner(d *Definition, from schemas.Row) (*scanner, error) {
	row, ok := from.(described)
	if !ok {
		return nil, fmt.Errorf("a %T does not know its columns", from)
	}
	s := &scanner{key: -1, figures: make([]int, len(d.Figures)), summed: make([]int, len(d.Figures)),
		figure: d.Figures, reckoned: d.reckoned}
	names := row.Columns()
	for i, column := range row.ColumnTypes() {
		s.columns = append(s.columns, reflect.New(column.ScanType()).Interface())
		switch names[i] {
		case "key":
			s.key = i
		case "everything":
			if s.whole, ok = s.columns[i].(*uint64); !ok {
				return nil, fmt.Errorf("everything is a %s", column.DatabaseTypeName())
			}
		case rowCount:
			if s.count, ok = s.columns[i].(*uint64); !ok {
				return nil, fmt.Errorf("%s is a %s", rowCount, column.DatabaseTypeName())
			}
		}
	}
	for i := range d.Figures {
		s.figures[i], s.summed[i] = slices.Index(names, d.Figures[i].Name), slices.Index(names, sumOf+d.Figures[i].Name)
		if d.Figures[i].Ratio() {
			s.figures[i] = -1
		} else if s.figures[i] < 0 {
			return nil, fmt.Errorf("there is no column %s", d.Figures[i].Name)
		}
	}
	if s.key < 0 {
		return nil, fmt.Errorf("there is no column key")
	}
	return s, nil
}

// everything says whether the row that was read last is of everything.
func (s *scanner) everything() bool { return s.whole != nil && *s.whole != 0 }

func (s *scanner) read(row schemas.Row) (string, []Value, error) {
	if err := row.Scan(s.columns...); err != nil {
		return "", nil, err
	}
	if len(s.room) < len(s.figures) { // of many rows at once
		s.room = make([]Value, 100*len(s.figures))
	}
	raw := s.room[:len(s.figures):len(s.figures)]
	s.room = s.room[len(s.figures):]
	for i, at := range s.figures {
		if at < 0 {
			continue
		}
		var err error
		if raw[i], err = valueOf(s.columns[at], s.reckoned[i].unit.decimals); err != nil {
			return "", nil, fmt.Errorf("%s: %w", s.figure[i].Name, err)
		}
	}
	key, ok := s.columns[s.key].(*string)
	if !ok {
		return "", nil, fmt.Errorf("the key is no text")
	}
	return *key, raw, nil
}

// in is the definition in the units that are asked for.
func (d *Definition) in(metric bool) *Definition {
	if !metric {
		return d
	}
	shown := *d
	shown.Figures = slices.Clone(d.Figures)
	rename := func(name, unit string) string {
		if u := units[unit]; u.factor != nil {
			return name[:len(name)-len(u.suffix)] + u.metric
		}
		return name
	}
	for i := range shown.Figures {
		f := &shown.Figures[i]
		for _, side := range []*[]Factor{&f.Over, &f.Under} {
			*side = slices.Clone(*side)
			for j, factor := range *side {
				if of := d.Figure(factor.Figure); of != nil {
					(*side)[j].Figure = rename(of.Name, of.Unit)
				}
			}
		}
		f.Name = rename(f.Name, f.Unit)
	}
	return &shown
}
