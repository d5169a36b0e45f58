package price

import (
	"fmt"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// again is the request that a snapshot is the answer to.
func again(s *record.RateSnapshot) (Request, error) {
	req := Request{PlanID: s.RatePlanID, PlanName: s.RatePlanName, PlanRevision: s.RateRevision, Taxes: s.Taxes,
		PriceBasis: s.Basis}
	if s.Rate == nil || s.Basis.PickupAt.IsZero() {
		return req, fleet.NewError(fleet.CodeConflict,
			"The price was not worked out from terms, so nothing can be added to it by terms. Post the charges by hand.")
	}
	req.Terms = *s.Rate
	zone, err := fleet.Zone(s.Timezone)
	if err != nil {
		return req, fmt.Errorf("time zone of a price: %w", err)
	}
	req.Zone = zone
	return req, nil
}

// Agreed is when a rental is to be picked up and returned, as its booking has it. A price that was kept when the
// booking was moved is of other times: then what was agreed costs that price, and only days beyond it cost more.
type Agreed struct{ PickupAt, ReturnAt time.Time }

// kept says whether a price was kept when its booking was moved.
func (a Agreed) kept(p *record.PriceBasis) bool {
	pickup := p.PickupAt
	if !p.AgreedPickupAt.IsZero() {
		pickup = p.AgreedPickupAt
	}
	return !pickup.Equal(a.PickupAt) || !p.ReturnAt.Equal(a.ReturnAt)
}

// begin sets the pickup that days are counted from: the agreed one, or the one that was if it was charged for. It
// returns the fewest and the most days that the price of a snapshot is for: those that were billed, and those that were
// agreed, which differ only if the price was kept.
func (a Agreed) begin(req *Request, s *record.RateSnapshot) (least, most int, err error) {
	if !a.kept(&s.Basis) {
		return s.BilledDays, s.BilledDays, nil
	}
	if req.AgreedPickupAt.IsZero() {
		req.PickupAt = record.InstantOf(a.PickupAt)
	}
	req.ReturnAt = record.InstantOf(a.ReturnAt)
	days, err := daysFor(req)
	return min(days, s.BilledDays), max(days, s.BilledDays), err
}

// Extend works out the price of a rental with another time of return than the agreed one, by the terms and for the
// customer that were frozen. The charges are what is to be posted beside those of the snapshot: their sum is the
// difference of the totals. With the same time of return there are none.
func Extend(s *record.RateSnapshot, a Agreed, returnAt time.Time) (record.RateSnapshot, []record.Charge, error) {
	req, err := again(s)
	if err != nil {
		return record.RateSnapshot{}, nil, err
	}
	least, most, err := a.begin(&req, s)
	if err != nil {
		return record.RateSnapshot{}, nil, err
	}
	req.ReturnAt = record.InstantOf(returnAt)
	if !a.kept(&s.Basis) {
		return instead(s, req)
	}
	return beside(s, req, least, most)
}

// beside is a price that was kept with what another return makes of it. Days beyond those that it is for cost what they
// add to a rental from the agreed pickup on, by the terms. Fewer give back the days that extensions added, nothing for
// those that cost nothing, and then those that it was for at first. The basis stays that of the price that was kept.
func beside(s *record.RateSnapshot, req Request, least, most int) (record.RateSnapshot, []record.Charge, error) {
	days, err := daysFor(&req)
	if err != nil {
		return record.RateSnapshot{}, nil, err
	}
	first := BilledDays(&req.Terms, req.Zone, s.Basis.PickupAt.Time, s.Basis.ReturnAt.Time)
	added := max(0, s.BilledDays-first)
	next, charges := *s, []record.Charge(nil)
	for _, n := range [][2]int{{most, max(days, most-added)}, {min(least, first), min(days, least, first)}} {
		lines, err := step(&next, req, n[0], n[1])
		if err != nil {
			return record.RateSnapshot{}, nil, err
		}
		charges = append(charges, lines...)
	}
	return next, charges, nil
}

// step adds to a price what makes a rental of so many days one of so many others.
func step(s *record.RateSnapshot, req Request, was, is int) ([]record.Charge, error) {
	if was == is {
		return nil, nil
	}
	from, err := quote(req, was)
	if err != nil {
		return nil, err
	}
	to, err := quote(req, is)
	if err != nil {
		return nil, err
	}
	if is > was {
		s.Days = slices.Concat(s.Days, to.Days[was:])
	} else {
		s.Days = s.Days[:min(max(0, s.BilledDays+is-was), len(s.Days))]
	}
	return add(s, &from, &to)
}

// add adds to a price all that makes one of two others of the other, but for the days.
func add(s, from, to *record.RateSnapshot) ([]record.Charge, error) {
	var c calc
	charges := c.difference(from, to)
	s.Lines, s.BilledDays = slices.Concat(s.Lines, charges), s.BilledDays+to.BilledDays-from.BilledDays
	if s.IncludedMi != nil {
		included := *s.IncludedMi + *to.IncludedMi - *from.IncludedMi
		s.IncludedMi = &included
	}
	s.Steps = slices.Clone(s.Steps)
	for _, l := range charges {
		s.Steps = append(s.Steps, fmt.Sprintf("%s: %s. %s", l.Description, Format(l.Amount), l.Explanation))
	}
	var err error
	if s.Totals, err = Totals(s.Currency, s.Lines); err != nil {
		return nil, err
	}
	return charges, c.err()
}

// PickedUp works out the price of a rental whose vehicle is taken before the agreed pickup, as Extend does that of one
// with another return: by the rates of the days that it has then, and with the discounts for booking early that were
// agreed. A pickup that makes no more days, as one within the grace, changes nothing: days are counted from the agreed
// pickup then, and a return is late by it.
func PickedUp(s *record.RateSnapshot, a Agreed, at time.Time) (record.RateSnapshot, []record.Charge, error) {
	req, err := again(s)
	if err != nil {
		return record.RateSnapshot{}, nil, err
	}
	if !at.Before(req.PickupAt.Time) {
		return *s, nil, nil
	}
	_, most, err := a.begin(&req, s)
	if err != nil {
		return record.RateSnapshot{}, nil, err
	}
	was := req
	if req.AgreedPickupAt.IsZero() {
		req.AgreedPickupAt = req.PickupAt
	}
	req.PickupAt = record.InstantOf(at)
	days, err := daysFor(&req)
	if err != nil {
		return record.RateSnapshot{}, nil, fault("/at", "out_of_range", "is too long before the agreed pickup")
	}
	if days <= most {
		return *s, nil, nil
	}
	var next record.RateSnapshot
	var charges []record.Charge
	if a.kept(&s.Basis) {
		next, charges, err = before(s, was, req, most, days)
	} else {
		next, charges, err = instead(s, req)
	}
	for i := range charges {
		charges[i].Explanation = "Picked up early: " + charges[i].Explanation
	}
	return next, charges, err
}

// before is a price that was kept with what the days of an earlier pickup add to it.
func before(s *record.RateSnapshot, was, is Request, most, days int) (record.RateSnapshot, []record.Charge, error) {
	from, err := quote(was, most)
	if err != nil {
		return record.RateSnapshot{}, nil, err
	}
	to, err := quote(is, days)
	if err != nil {
		return record.RateSnapshot{}, nil, err
	}
	next := *s
	next.Basis.PickupAt, next.Basis.AgreedPickupAt, next.Basis.EarlyDays = is.PickupAt, is.AgreedPickupAt, days-most
	next.Days = slices.Concat(to.Days[:days-most], s.Days)
	charges, err := add(&next, &from, &to)
	return next, charges, err
}

// instead is the price of a request in the place of another, and what makes the one of the other.
func instead(s *record.RateSnapshot, req Request) (record.RateSnapshot, []record.Charge, error) {
	next, err := Quote(req)
	if err != nil {
		return record.RateSnapshot{}, nil, err
	}
	var c calc
	charges := c.difference(s, &next)
	return next, charges, c.err()
}

// lineKey tells lines apart that can be set against each other.
type lineKey struct{ kind, description string }

func keyOf(l *record.Charge) lineKey {
	if l.Type == "time" {
		return lineKey{l.Type, "Rental time"}
	}
	return lineKey{l.Type, l.Description}
}

// difference returns the lines that make one price of another: one for each sort of line whose sum is not the same.
func (c *calc) difference(from, to *record.RateSnapshot) []record.Charge {
	days := fmt.Sprintf("%s instead of %s: ", count(to.BilledDays, "day"), count(from.BilledDays, "day"))
	return c.instead(to.Currency, from.Lines, to.Lines, func(string) string { return days })
}

// instead returns the lines that make of the sums of some lines those of others, sort by sort. Why says what stands
// before the sums in the explanation of a line of a type.
func (c *calc) instead(currency string, from, to []record.Charge, why func(kind string) string) []record.Charge {
	var order []lineKey
	was, is, like := map[lineKey]int64{}, map[lineKey]int64{}, map[lineKey]*record.Charge{}
	sum := func(into map[lineKey]int64, lines []record.Charge) {
		for i := range lines {
			k := keyOf(&lines[i])
			if like[k] == nil {
				like[k], order = &lines[i], append(order, k)
			}
			into[k] = c.add(into[k], lines[i].Amount.Amount)
		}
	}
	sum(is, to)
	sum(was, from)
	var lines []record.Charge
	for _, k := range order {
		delta := c.add(is[k], -was[k])
		if delta == 0 {
			continue
		}
		l := like[k]
		lines = append(lines, record.Charge{
			Type: k.kind, Description: k.description, Quantity: 1, UnitPrice: record.Money{Amount: delta}, Taxable: l.Taxable,
			TaxRateBP: l.TaxRateBP,
			Explanation: fmt.Sprintf("%s%s instead of %s.", why(k.kind), Format(record.Money{Amount: is[k], Currency: currency}),
				Format(record.Money{Amount: was[k], Currency: currency})),
		})
	}
	return c.finish(currency, lines)
}

// Returned is how a vehicle came back.
type Returned struct {
	At          time.Time
	MilesDriven *int // nil if nobody knows
	// how much less there is in the tank than at pickup, in percent of it; 0 for no less; of several vehicles the sum
	FuelMissingPct    int64
	BatteryMissingPct int64 // of the traction battery
	// OneWayFee is what the location where it came back costs, if that is not the one that was agreed; else nil.
	OneWayFee *record.Money
}

// AtReturn returns what a return adds to the charges of a snapshot: days beyond those billed, miles beyond those
// included and already charged (less, if fewer were driven than were charged beforehand), fuel or energy that is
// missing, what another location costs more than the agreed one, with their taxes and the platform's share. A late day
// brings its included miles. A return before the agreed time gives nothing back.
func AtReturn(s *record.RateSnapshot, a Agreed, r Returned) ([]record.Charge, error) {
	req, err := again(s)
	if err != nil {
		return nil, err
	}
	_, days, err := a.begin(&req, s)
	if err != nil {
		return nil, err
	}
	var c calc
	late := 0
	if r.At.After(req.PickupAt.Time) && r.At.Sub(req.PickupAt.Time) < MaxDays*24*time.Hour {
		late = max(0, BilledDays(&req.Terms, req.Zone, req.PickupAt.Time, r.At)-days)
	}
	lines := append(c.lateLine(&req, s, days, late), c.milesDriven(s, r.MilesDriven, late)...)
	missing := func(kind, description string, pct int64, of string) {
		if fee := req.Terms.RefuelFee; fee != nil && fee.Amount > 0 && pct > 0 {
			lines = append(lines,
				record.Charge{Type: kind, Description: description, Quantity: pct, UnitPrice: *fee, Taxable: true,
					Explanation: fmt.Sprintf("%d %% of the %s is missing, at %s for each percent.", pct, of, Format(*fee))})
		}
	}
	missing("refuel", "Refuelling", r.FuelMissingPct, "tank")
	missing("recharge", "Recharging", r.BatteryMissingPct, "battery")
	if fee := r.OneWayFee; fee != nil && fee.Currency == s.Currency {
		agreed := int64(0)
		if req.OneWayFee != nil {
			agreed = req.OneWayFee.Amount
		}
		if more := c.add(fee.Amount, -agreed); more > 0 {
			lines = append(lines,
				record.Charge{Type: "one_way", Description: "Returned at another location than agreed", Quantity: 1,
					UnitPrice: record.Money{Amount: more}, Taxable: true,
					Explanation: fmt.Sprintf("The fee for the two locations is %s, and %s was agreed.",
						Format(*fee), Format(record.Money{Amount: agreed, Currency: s.Currency}))})
		}
	}
	lines = c.finish(s.Currency, lines)
	taxes := c.taxLines(s.Taxes, s.Currency, s.Lines, lines)
	lines = append(lines, append(taxes, c.platformLine(req.Terms.PlatformFeeBP, s.Currency, s.Lines, lines)...)...)
	return lines, c.err()
}

// lateLine charges days beyond those that were agreed: the terms' fee, or what a single day costs on each date.
func (c *calc) lateLine(req *Request, s *record.RateSnapshot, agreed, late int) []record.Charge {
	if late == 0 {
		return nil
	}
	line := record.Charge{Type: "late_return", Description: "Late return", Quantity: int64(late), Taxable: true}
	if s.LateFeePerDay != nil {
		line.UnitPrice = *s.LateFeePerDay
		line.Explanation = fmt.Sprintf("%s more than the %d agreed, at %s.", count(late, "day"), agreed,
			Format(*s.LateFeePerDay))
		return []record.Charge{line}
	}
	days := dates(req, agreed, agreed+late)
	var group []*day
	for i := range days {
		d := &days[i]
		r := c.ratesOf(req, d.of(&req.Terms))
		d.amount = c.scale(r.daily, d.factor, unity)
		line.UnitPrice.Amount = c.add(line.UnitPrice.Amount, d.amount)
		group = append(group, d)
	}
	line.Explanation = fmt.Sprintf("%s more than the %d agreed (%s), at the price of a single day: %s.",
		count(late, "day"), agreed, sayDates(group),
		req.sayTally(tally(group, func(d *day) int64 { return d.amount })))
	if line.Quantity = 1; line.UnitPrice.Amount == 0 {
		return nil
	}
	return []record.Charge{line}
}

// milesDriven settles the miles beyond those included against what was charged beforehand.
func (c *calc) milesDriven(s *record.RateSnapshot, driven *int, late int) []record.Charge {
	if driven == nil || s.IncludedMi == nil || s.ExtraMileFee == nil || s.ExtraMileFee.Amount == 0 {
		return nil
	}
	included := int64(*s.IncludedMi)
	if s.BilledDays > 0 {
		included = c.add(included, c.scale(included, int64(late), int64(s.BilledDays)))
	}
	var charged int64
	for i := range s.Lines {
		if s.Lines[i].Type == "mileage" {
			charged += s.Lines[i].Quantity
		}
	}
	due := max(0, int64(*driven)-included) - charged
	if due == 0 {
		return nil
	}
	why := fmt.Sprintf("%d miles driven, %d included", *driven, included)
	if charged > 0 {
		why += fmt.Sprintf(", %d charged already", charged)
	}
	return []record.Charge{{Type: "mileage", Description: "Miles beyond those included", Quantity: due,
		UnitPrice: *s.ExtraMileFee, Taxable: true, Explanation: why + "."}}
}

// CancelFee is what a cancellation costs, by the step that holds so long before pickup: a line of type
// cancellation_fee, whose amount is zero if it costs nothing. It is a share of the total with taxes, so it is
// not taxed again.
func CancelFee(s *record.RateSnapshot, pickup, at time.Time) (record.Charge, error) {
	var step *record.CancelStep
	for i := range s.Cancellation {
		c := &s.Cancellation[i]
		if pickup.Sub(at) < time.Duration(c.HoursBefore)*time.Hour && (step == nil || c.HoursBefore < step.HoursBefore) {
			step = c
		}
	}
	if step == nil {
		return shareOfTotal(s, "cancellation_fee", "Cancellation", 0, "Cancelled early enough to cost nothing.")
	}
	return shareOfTotal(s, "cancellation_fee", "Cancellation", step.FeeBP,
		fmt.Sprintf("Cancelled less than %s before pickup: %s of %s.", count(step.HoursBefore, "hour"),
			basisPoints(step.FeeBP), Format(s.Totals.Total)))
}

// NoShowFee is what a customer who never came owes: a line of type no_show_fee, like that of CancelFee.
func NoShowFee(s *record.RateSnapshot) (record.Charge, error) {
	return shareOfTotal(s, "no_show_fee", "No-show", s.NoShowFeeBP,
		fmt.Sprintf("Nobody came: %s of %s.", basisPoints(s.NoShowFeeBP), Format(s.Totals.Total)))
}

func shareOfTotal(s *record.RateSnapshot, kind, description string, bp int64, why string) (record.Charge, error) {
	var c calc
	line := record.Charge{Type: kind, Description: description, Quantity: 1, Explanation: why,
		UnitPrice: record.Money{Amount: c.scale(max(0, s.Totals.Total.Amount), bp, unity)}}
	return c.finish(s.Currency, []record.Charge{line})[0], c.err()
}
