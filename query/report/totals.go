package report

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// both gives the rows of a group, how many there are, and the totals. These are the sum of the rows where that is what
// they are. Else they are a row by themselves, as what is distinct, or in the middle, is no sum: some statements answer
// it with the others, of the same reads. It is asked beside the rows otherwise, since one question does not keep all
// processors busy, where few others do so.
func (d *Definition) both(ctx context.Context, db driver.Conn, q Question) ([]Row, int, Row, error) {
	all := q
	all.Group, all.by = "total", q.Group
	var whole, raw found
	var err error
	read := func(of Question, into *found) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			*into, err = d.read(ctx, db, of)
			return err
		}
	}
	switch {
	case q.Group == "total":
		err = read(all, &whole)(ctx)
	case d.addsUp(q.Group):
		if err = read(q, &raw)(ctx); err == nil {
			if whole.rows = raw.everything(); !d.cuts(&q) {
				whole.rows, err = d.added(raw.rows)
			}
		}
	case d.takes["totals"] && d.Adds(q.Group), d.takes["totals_by_tag"]:
		q.totals = true
		err = read(q, &raw)(ctx)
		whole.rows = raw.everything()
	default:
		if done, ok := beside(db.Stats()); ok {
			err = together(ctx, read(all, &whole), read(q, &raw))
			done()
		} else if err = read(all, &whole)(ctx); err == nil {
			err = read(q, &raw)(ctx)
		}
	}
	if err != nil {
		return nil, 0, Row{}, err
	}
	totals := Row{Span: q.Span, Values: d.nothing(q.Span, nil, q.Metric)}
	if len(whole.rows) > 0 {
		totals.Values = d.values(whole.rows[0].Values, q.Span, q.Metric)
	}
	if q.Group == "total" {
		return []Row{totals}, 1, totals, nil
	}
	rows, err := d.finish(raw.rows, q, totals.Values)
	return rows, max(raw.all, len(rows)), totals, err
}

// besides are the questions that are asked beside others now.
var besides atomic.Int64

// beside lets a question in beside another, until done is called: a quarter of the connections may be taken by such
// second questions, as whoever asks has one already and others want theirs.
func beside(pool driver.Stats) (done func(), ok bool) {
	if besides.Add(1) <= int64(pool.MaxOpenConns/4) {
		return func() { besides.Add(-1) }, true
	}
	besides.Add(-1)
	return nil, false
}

// together does both at once. Where one fails the other is stopped, and its end is waited for; the error is why that
// was, or that the caller wants neither any more. A panic is an error, as nobody above would catch that of the one that
// runs by itself.
func together(ctx context.Context, one, other func(context.Context) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	do := func(question func(context.Context) error) (err error) {
		defer func() {
			if fault := recover(); fault != nil {
				err = fmt.Errorf("run a report: panic: %v\n%s", fault, debug.Stack())
			}
			if err != nil {
				stop(err)
			}
		}()
		return question(ctx)
	}
	ended := make(chan error, 1)
	go func() { ended <- do(one) }()
	err := do(other)
	if err = cmp.Or(err, <-ended); err != nil {
		return context.Cause(ctx)
	}
	return nil
}

// Adds says whether what is additive adds up over the rows of a group to the totals: it does unless a vehicle may be in
// several rows, or the definition says that rows of the group are made by themselves.
func (d *Definition) Adds(group string) bool {
	return group != "tag" && !slices.Contains(d.Apart, group)
}

// addsUp says whether the totals are the sum of the rows of a group: these add up, and all figures are whole numbers.
func (d *Definition) addsUp(group string) bool {
	return d.Adds(group) && !slices.ContainsFunc(d.Figures, func(f Figure) bool {
		return !f.Ratio() && !units[f.Unit].summed
	})
}

// added is the sum of raw rows, none of none. What is null in all of them is null.
func (d *Definition) added(rows []Row) ([]Row, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	sum := make([]Value, len(d.Figures))
	for _, row := range rows {
		for i, v := range row.Values {
			if v.decimals != 0 || v.words {
				return nil, fmt.Errorf("run report %s: %s is no whole number", d.Name, d.Figures[i].Name)
			}
			sum[i] = Value{known: sum[i].known || v.known, unscaled: sum[i].unscaled + v.unscaled}
		}
	}
	return []Row{{Values: sum}}, nil
}
