package report

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/motorpool/fleet/schemas/schematest"
)

// The first rows that the server tells are those of the whole answer, with its totals and the number of its rows: of
// every report by every sort of record, in the order of keys and of figures.
func TestTheFirstRowsAreThoseOfTheWhole(t *testing.T) {
	db := schematest.Open(t)
	rent(t, db)
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	rng, cut := rand.New(rand.NewPCG(1, 2)), 0
	for _, name := range Names() {
		d := Named(name)
		for _, group := range d.Groups {
			if groups[group].Of != "record" {
				continue
			}
			q := Question{Account: 3, Span: Span{day, day.AddDate(0, 0, 49)}, Group: group, Basis: d.Bases[0], Currency: "USD",
				Zone: "America/Chicago", Today: day, Accounts: []string{"revenue.time"}, Measures: []string{"revenue_time"}}
			whole, err := d.Answer(t.Context(), db, q)
			if err != nil {
				t.Fatalf("%s by %s: %v", name, group, err)
			}
			figure := rng.IntN(len(d.Figures))
			by := d.Figures[figure].Name
			for _, first := range []First{{Rows: 2, Falling: rng.IntN(2) == 0}, {Rows: 3, By: by, Falling: rng.IntN(2) == 0}} {
				of := q
				if of.First = first; !d.cuts(&of) {
					continue
				}
				got, err := d.Answer(t.Context(), db, of)
				if err != nil {
					t.Fatalf("%s by %s, %+v: %v", name, group, first, err)
				}
				want := ordered(whole.Rows, first, figure)
				if len(want) > first.Rows {
					cut++
				}
				want = want[:min(first.Rows, len(want))]
				if !slices.EqualFunc(ordered(got.Rows, first, figure), want, func(a, b Row) bool {
					return a.Key == b.Key && slices.Equal(a.Values, b.Values)
				}) || !slices.Equal(got.Totals.Values, whole.Totals.Values) || got.RowCount != whole.RowCount {
					t.Errorf("%s by %s, %+v: %d rows of %d, totals %v, want %d of %d, %v", name, group, first, len(got.Rows),
						got.RowCount, got.Totals.Values, len(want), whole.RowCount, whole.Totals.Values)
				}
			}
		}
	}
	if cut < 30 {
		t.Errorf("%d answers were cut: that is no test", cut)
	}
}

// ordered puts rows that are in the order of their keys in that which is asked for, nothing last.
func ordered(rows []Row, first First, figure int) []Row {
	rows = slices.Clone(rows)
	if first.By == "" {
		if first.Falling {
			slices.Reverse(rows)
		}
		return rows
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		x, y := a.Values[figure], b.Values[figure]
		switch {
		case x.known != y.known && x.known:
			return -1
		case x.known != y.known:
			return 1
		case first.Falling:
			return int(y.unscaled - x.unscaled)
		}
		return int(x.unscaled - y.unscaled)
	})
	return rows
}
