package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// both gives the rows of a group and the totals. These are the sum of the rows where that is what they are. Else they
// are a row by themselves, as what is distinct, or in the middle, is no sum: some statements answer it with the others,
// of the same reads. It is asked beside the rows otherwise, since one question does not keep all processors busy, as
// long as half of the connections are left to others.
func (d *Definition) both(ctx context.Context, db driver.Conn, q Question) ([]Row, Row, error) {
	all := q
	all.Group, all.by = "total", q.Group
	var found, raw []Row
	var err error
	read := func(of Question, into *[]Row) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			*into, err = d.read(ctx, db, of)
			return err
		}
	}
	pool := db.Stats()
	switch {
	case q.Group == "total":
		err = read(all, &found)(ctx)
	case d.addsUp(q.Group):
		if err = read(q, &raw)(ctx); err == nil {
			found, err = d.added(raw)
		}
	case d.takes["totals"] && q.Group != manyOf:
		q.totals = true
		err = read(q, &raw)(ctx)
		if i := slices.IndexFunc(raw, func(r Row) bool { return r.everything }); i >= 0 {
			found = []Row{raw[i]}
			raw = slices.Delete(raw, i, i+1)
		}
	case 2*pool.Open < pool.MaxOpenConns:
		err = together(ctx, read(all, &found), read(q, &raw))
	default:
		if err = read(all, &found)(ctx); err == nil {
			err = read(q, &raw)(ctx)
		}
	}
	if err != nil {
		return nil, Row{}, err
	}
	totals := Row{Span: q.Span, Values: d.nothing(q.Span, nil, q.Metric)}
	if len(found) > 0 {
		totals.Values = d.values(found[0].Values, q.Span, q.Metric)
	}
	if q.Group == "total" {
		return []Row{totals}, totals, nil
	}
	rows, err := d.finish(raw, q, totals.Values)
	return rows, totals, err
}

// together does both at once. Where one fails the other is stopped, and its end is waited for; the error is why that
// was, or that the caller wants neither any more.
func together(ctx context.Context, one, other func(context.Context) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	do := func(question func(context.Context) error) error {
		err := question(ctx)
		if err != nil {
			stop(err)
		}
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- do(one) }()
	err := do(other)
	if err = cmp.Or(err, <-ended); err != nil {
		return context.Cause(ctx)
	}
	return nil
}

// manyOf is the group of whose rows one vehicle may be in several.
const manyOf = "tag"

// addsUp says whether the totals are the sum of the rows of a group: all figures are whole numbers of what is in one
// row alone.
func (d *Definition) addsUp(group string) bool {
	return group != manyOf && !slices.ContainsFunc(d.Figures, func(f Figure) bool {
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
