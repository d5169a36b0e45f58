package report

import (
	"math/big"
	"slices"
)

// values works the ratios out, in their places among the raw figures, and puts everything into the units that were
// asked for.
func (d *Definition) values(raw []Value, span Span, metric bool) []Value {
	values := raw
	if metric {
		values = slices.Clone(raw)
	}
	for i := range d.Figures {
		unit := &d.reckoned[i].unit
		factor := unit.factor
		if !metric {
			factor = nil
		}
		switch {
		case d.Figures[i].Ratio():
			values[i] = d.ratio(i, raw, span, factor)
		case factor != nil:
			values[i] = Value{}
			if number := raw[i].Rat(); number != nil {
				values[i] = Rounded(number.Mul(number, factor), unit.decimals)
			}
		}
	}
	return values
}

// reckoned is what is looked up of a figure once, and not in each row: its unit, and of a ratio at which places among
// the figures its factors stand, -1 for those that are none.
type reckoned struct {
	unit        unit
	over, under []int
}

// reckon looks up what is reckoned with.
func (d *Definition) reckon() {
	d.reckoned = make([]reckoned, len(d.Figures))
	places := func(factors []Factor) (all []int) {
		for _, factor := range factors {
			all = append(all, d.index(factor.Figure))
		}
		return all
	}
	for i := range d.Figures {
		f := &d.Figures[i]
		d.reckoned[i] = reckoned{units[f.Unit], places(f.Over), places(f.Under)}
	}
}

// ratio works out the figure at a place, in another unit if there is a factor for it; it is nothing if what it is made
// of lacks a figure, or nothing stands below the line. There may be many rows, so what is short is worked out without
// numbers of any size, which give the same.
func (d *Definition) ratio(at int, raw []Value, span Span, factor *big.Rat) Value {
	f, r := &d.Figures[at], &d.reckoned[at]
	above, below := short{n: 1}, short{n: 1}
	for i, side := range [...][]Factor{f.Over, f.Under} {
		in, out, places := &above, &below, r.over
		if i == 1 {
			in, out, places = &below, &above, r.under
		}
		for j, factor := range side {
			switch place := places[j]; {
			case place >= 0:
				v := &raw[place]
				if !v.known || v.words {
					return Value{}
				}
				in.times(v.unscaled)
				out.times(tens[v.decimals])
			case factor.Figure == SpanDays:
				in.times(int64(span.Days()))
			default:
				in.times(factor.Number)
			}
		}
	}
	if f.Unit == "percent" {
		above.times(100)
	}
	if below.n == 0 && !below.long {
		return Value{}
	}
	if factor == nil {
		if v, ok := above.by(below, r.unit.decimals); ok {
			return v
		}
	}
	over, under := d.quotient(at, raw, span)
	if under.Sign() == 0 {
		return Value{}
	}
	if factor != nil {
		over.Mul(over, factor.Num())
		under.Mul(under, factor.Denom())
	}
	return rounded(over, under, r.unit.decimals)
}

// quotient is a ratio of any size, as what stands above and below the line. Nothing is reduced.
func (d *Definition) quotient(at int, raw []Value, span Span) (above, below *big.Int) {
	f, r := &d.Figures[at], &d.reckoned[at]
	above, below = big.NewInt(1), big.NewInt(1)
	var next big.Int
	for i, side := range [...][]Factor{f.Over, f.Under} {
		in, out, places := above, below, r.over
		if i == 1 {
			in, out, places = below, above, r.under
		}
		for j, factor := range side {
			switch place := places[j]; {
			case place >= 0:
				in.Mul(in, next.SetInt64(raw[place].unscaled))
				out.Mul(out, next.SetInt64(tens[raw[place].decimals]))
			case factor.Figure == SpanDays:
				in.Mul(in, next.SetInt64(int64(span.Days())))
			default:
				in.Mul(in, next.SetInt64(factor.Number))
			}
		}
	}
	if f.Unit == "percent" {
		above.Mul(above, next.SetInt64(100))
	}
	return above, below
}

// nothing are the figures of what there is nothing of: none, and no ratio. What is null in the totals is so here.
func (d *Definition) nothing(span Span, totals []Value, metric bool) []Value {
	raw := make([]Value, len(d.Figures))
	for i := range raw {
		if f := &d.Figures[i]; (f.Additive() || f.Unit == "distinct") && (totals == nil || totals[i].Known()) {
			raw[i] = Whole(0)
		}
	}
	return d.values(raw, span, metric)
}
