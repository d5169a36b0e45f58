package cost

import (
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rental/price"
)

// piece is what some days, before one of them, take of an amount.
type piece struct {
	from, before ledger.Day
	amount       int64
}

// straightLine divides what a vehicle loses evenly over the days of its life: (cost − residual) ÷ days, the
// straight-line formula. Each calendar month has its share by largest remainder.
func straightLine(total int64, from, before ledger.Day) []piece {
	var all []piece
	var days []int64
	for at := from; at < before; {
		next := min(at.Month(1), before)
		all, days = append(all, piece{from: at, before: next}), append(days, int64(next-at))
		at = next
	}
	for i, part := range price.Allocate(total, days) {
		all[i].amount = part
	}
	return all
}

// declining is the double-declining balance with a change to the straight line as soon as that takes more, as VDB of
// spreadsheets does: each month of a life of n takes 2/n of the book value, rounded half up, and never less than an
// even share of what is left above the residual value. So the life ends with the residual value.
func declining(cost, residual int64, from ledger.Day, months int) []piece {
	all, book := make([]piece, months), cost
	for i := range all {
		left := book - residual
		part := min(left, max(share(book, 2, int64(months)), share(left, 1, int64(months-i))))
		all[i] = piece{from: from.AddMonths(i), before: from.AddMonths(i + 1), amount: part}
		book -= part
	}
	return all
}

// byMonth puts pieces, which follow each other, on calendar months, as far as they lie before the end; 0 for none.
func byMonth(pieces []piece, end ledger.Day) []Item {
	var items []Item
	for _, p := range pieces {
		for at := p.from; at < p.before && (end == 0 || at < end); {
			next := before(min(at.Month(1), p.before), end)
			n := int64(p.before - p.from)
			part := firstDays(p.amount, n, int64(next-p.from)) - firstDays(p.amount, n, int64(at-p.from))
			if last := len(items) - 1; last >= 0 && items[last].Number == monthOf(at) {
				items[last].To, items[last].Amount.Amount = next-1, items[last].Amount.Amount+part
			} else {
				items = append(items, Item{Number: monthOf(at), Due: at, On: at, From: at, To: next - 1,
					Amount: record.Money{Amount: part}})
			}
			at = next
		}
	}
	return items
}

// unitsOfProduction takes (cost − residual) × miles ÷ expected miles, the units-of-production formula, month by month
// as they are over: what all months until then have driven, less what was taken before. driven is in metres, by the
// number of the month.
func unitsOfProduction(
	total int64, lifeMi int, driven map[int]int64, from, end, through ledger.Day,
) []Item {
	var items []Item
	metres, taken := int64(0), int64(0)
	for at := from; taken < total && (end == 0 || at < end); {
		next := before(at.Month(1), end)
		if next > through {
			break
		}
		metres += max(driven[monthOf(at)], 0)
		worth := total
		if life := int64(lifeMi) * millimetresPerMile; metres*1000 < life {
			worth = share(total, metres*1000, life)
		}
		items = append(items, Item{Number: monthOf(at), Due: next, On: next - 1, From: at, To: next - 1,
			Amount: record.Money{Amount: worth - taken}})
		taken, at = worth, next
	}
	return items
}

const millimetresPerMile = 1_609_344

// ours says whether a vehicle stands among what the account owns.
func ours(v *record.VehicleFields) bool {
	return v.Ownership == "" || v.Ownership == "owned" || v.Ownership == "financed"
}

// depreciation is what a vehicle loses in value, month by month: from the day on which it is put in service, or else
// acquired, down to its residual value, or until it is disposed of.
func depreciation(
	v *record.VehicleFields, driven map[int]int64, gone, through ledger.Day, lacks map[What]string,
) []Item {
	switch v.DepreciationMethod {
	case "", "none", "market_value":
		return nil // nobody said how, or somebody posts what it loses by what the market says
	}
	cost, residual, from := int64(0), int64(0), day(v.InServiceOn)
	if v.AcquisitionCost != nil {
		cost = v.AcquisitionCost.Amount
	}
	if v.ResidualValue != nil {
		residual = v.ResidualValue.Amount
	}
	if from == 0 {
		from = day(v.AcquiredOn)
	}
	byMiles := v.DepreciationMethod == "units_of_production"
	lifeMi := 0
	if v.ExpectedLifeMi != nil {
		lifeMi = *v.ExpectedLifeMi
	}
	switch {
	case cost <= 0:
		lacks[Depreciation] = "acquisition_cost says what there is to lose"
	case residual > 0 && v.ResidualValue.Currency != v.AcquisitionCost.Currency:
		lacks[Depreciation] = "residual_value must be in the currency of acquisition_cost"
	case from == 0:
		lacks[Depreciation] = "in_service_on or acquired_on says when it begins"
	case byMiles && lifeMi == 0:
		lacks[Depreciation] = "expected_life_mi says over how many miles it goes"
	case !byMiles && v.UsefulLifeMonths == 0:
		lacks[Depreciation] = "useful_life_months says how long it goes on"
	}
	if lacks[Depreciation] != "" || cost <= residual {
		return nil
	}
	var items []Item
	switch {
	case byMiles:
		items = unitsOfProduction(cost-residual, lifeMi, driven, from, gone, through)
	case v.DepreciationMethod == "declining":
		items = byMonth(declining(cost, max(residual, 0), from, v.UsefulLifeMonths), gone)
	default:
		items = byMonth(straightLine(cost-max(residual, 0), from, from.AddMonths(v.UsefulLifeMonths)), gone)
	}
	kept := items[:0]
	for _, i := range items {
		if i.Amount.Amount > 0 {
			i.What, i.Category, i.Amount.Currency = Depreciation, categories[Depreciation], v.AcquisitionCost.Currency
			kept = append(kept, i)
		}
	}
	return kept
}

// Left says of each item that lessens something what is left of that by the terms: the book value after a month of
// depreciation, and what is owed after a payment; nil for all others.
func Left(v *record.VehicleFields, items []Item) []*record.Money {
	all := make([]*record.Money, len(items))
	left := map[What]int64{}
	for _, i := range items {
		left[i.What] += i.Amount.Amount
	}
	if v.AcquisitionCost != nil {
		left[Depreciation] = v.AcquisitionCost.Amount
	}
	for n, i := range items {
		if i.What == Depreciation || i.What == Principal {
			left[i.What] -= i.Amount.Amount
			all[n] = &record.Money{Amount: left[i.What], Currency: i.Amount.Currency}
		}
	}
	return all
}
