package cost

import (
	"slices"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// Categories are those of the expenses that vehicles' schedules make, in order.
func Categories() []string {
	var all []string
	for _, category := range categories {
		all = append(all, category)
	}
	slices.Sort(all)
	return all
}

// OfVehicle returns what a vehicle's terms ask for: all that is known to come, and of what has no end, or goes by what
// is driven, as much as has come through a day. driven is in metres, by the number of the month. What somebody posted
// of a category stands in the place of the items whose days it overlaps, and a purchase in the place of the purchase.
func OfVehicle(v *record.VehicleFields, driven map[int]int64, posted []Posted, through ledger.Day) Schedule {
	s := Schedule{Lacks: map[What]string{}}
	gone := day(v.DisposalOn)
	interest, principal := loan(v, gone, s.Lacks)
	var owned []Item
	if ours(v) {
		owned = purchase(v, principal, posted, s.Lacks)
		lost := depreciation(v, driven, gone, through, s.Lacks)
		byHand(lost, posted, nil)
		owned = append(append(owned, lost...), disposal(v, append(owned, lost...), posted)...)
	}
	if !borrowed(owned, posted) {
		principal = nil
	}
	rest := slices.Concat(insurance(v, gone, through, s.Lacks), interest, principal, lease(v, gone, through, s.Lacks))
	byHand(rest, posted, nil)
	s.Items = append(owned, payoff(v, rest, posted, gone)...)
	return s
}

// purchase is what a vehicle was bought for, as far as its loan goes with that.
func purchase(v *record.VehicleFields, principal []Item, posted []Posted, lacks map[What]string) []Item {
	on := day(v.AcquiredOn)
	if on == 0 {
		on = day(v.InServiceOn)
	}
	if v.AcquisitionCost == nil || v.AcquisitionCost.Amount <= 0 {
		return nil
	}
	if on == 0 {
		lacks[Purchase] = "acquired_on says when it was bought"
		return nil
	}
	item := Item{What: Purchase, Number: 1, Category: categories[Purchase], Due: on, On: on, From: on, To: on,
		Amount: *v.AcquisitionCost}
	for _, p := range principal {
		if p.Amount.Currency == item.Amount.Currency {
			item.Financed += p.Amount.Amount
		}
	}
	for _, p := range posted {
		if p.Category == item.Category {
			item.ByHand = p.ID
		}
	}
	return []Item{item}
}

// borrowed says whether the books have the debt that a loan's payments pay back.
func borrowed(items []Item, posted []Posted) bool {
	asked := func(i Item) bool { return i.What == Purchase && i.ByHand == "" && i.Financed > 0 }
	stands := func(p Posted) bool { return p.Category == categories[Purchase] && p.Financed > 0 }
	return slices.ContainsFunc(items, asked) || slices.ContainsFunc(posted, stands)
}

// disposal is the sale of a vehicle, which takes out of the books what it was bought for and what it has lost since,
// whoever posted that.
func disposal(v *record.VehicleFields, items []Item, posted []Posted) []Item {
	on := day(v.DisposalOn)
	if on == 0 || v.DisposalPrice == nil || v.DisposalPrice.Amount < 0 {
		return nil
	}
	cost, lost := int64(0), int64(0)
	add := func(category string, m record.Money) {
		switch {
		case m.Currency != v.DisposalPrice.Currency:
		case category == categories[Purchase]:
			cost += m.Amount
		case category == categories[Depreciation]:
			lost += m.Amount
		}
	}
	for _, i := range items {
		if i.ByHand == "" {
			add(i.Category, i.Amount)
		}
	}
	for _, p := range posted {
		add(p.Category, p.Amount)
	}
	if cost == 0 {
		return nil // there is nothing in the books that could be taken out
	}
	money := func(amount int64) record.Money {
		return record.Money{Amount: amount, Currency: v.DisposalPrice.Currency}
	}
	return []Item{{What: Disposal, Number: 1, Category: categories[Disposal], Due: on, On: on, From: on, To: on,
		Amount: *v.DisposalPrice, Sold: &record.Sold{Cost: money(cost), Depreciated: money(lost)}}}
}
