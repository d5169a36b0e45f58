// Package price works out what a rental costs. It is pure: everything that matters is in the Request, the same
// request has the same price for ever, and what was agreed is frozen in a record.RateSnapshot that tells how each
// line came to be.
//
// The order is
//
//	rate plan → season → vehicle or class → tiers → billed days → weekdays and holidays      lines of type time
//	→ discounts: length, early booking, promotion, customer                                  discount, promo
//	→ miles beyond those included → extras and protection → fees                             mileage, extra, …
//	→ taxes of the pickup location                                                           tax
//	→ what the channel keeps                                                                 platform_fee
//	→ deposit, which is no line
//
// Season. Each billed day has a local date, and the season of that date; of seasons that overlap the last in the list.
// A season with a rate has that rate, and only its own tiers; one with tiers alone has the plan's daily rate; one with
// a factor has the plan's rate and tiers times the factor.
//
// Vehicle or class. If the vehicle (or its class) has a daily rate of its own, it stands in the place of the plan's,
// and whatever else the plan says of time (tiers, rates of seasons) is in proportion.
//
// Tiers. A tier is a price for so many days. The whole rental's days are put together of tiers and single days: either
// as cheaply as possible, where a tier may cover more days than are needed (cheapest_combination), or always the
// longest tier that fits and single days for the rest (longest_fit). That price is spread evenly over the days, cents
// that remain going to the first ones. Where a rental crosses seasons each day has its share of what the whole rental
// would cost in the season of that day.
//
// Billed days. calendar_day: local dates touched; a return at midnight does not touch the new day. 24h: days that run
// from the time of day of pickup to the same time of day by the clock on the wall, so that a day on which clocks change
// is one day. 24h_with_grace: the same, but the last one is not billed if it is not longer than the grace. Never less
// than one. Day i has the date of pickup plus i.
//
// Discounts are on time alone, each on what the ones before it left: they can never exceed the price of the time.
//
// Taxes are on the sum of the taxable lines, each tax by itself. The platform fee is a negative line that the customer
// never sees in the total: see Totals.
//
// Rounding. Amounts are integers of minor units. A share or a percentage is rounded half away from zero, once, to minor
// units (see scale); an amount that is divided into parts is allocated by largest remainder (see Allocate), so that
// parts add up to the whole. Amounts beyond Limit are refused, never wrapped.
package price

import (
	"fmt"
	"slices"
	"time"

	"github.com/motorpool/fleet/api/record"
)

// Request is what a price is asked for. Everything is resolved: nothing is looked up.
type Request struct {
	PlanID       string // empty where a vehicle or class has a rate and no plan fits
	PlanName     string
	PlanRevision uint64
	Terms        record.RatePlanTerms
	Zone         *time.Location   // whose days are billed: the name must be an IANA zone
	Taxes        []record.TaxRate // of the pickup location

	record.PriceBasis
}

// Quote works out a price. What cannot be priced (an extra that the terms do not have, a promotion that is not
// valid, amounts of different currencies) is a *fleet.Error of the code fleet.CodeValidation whose pointers are
// those of record.BookingFields.
func Quote(req Request) (record.RateSnapshot, error) {
	if err := req.check(); err != nil {
		return record.RateSnapshot{}, err
	}
	req.Terms = relevant(&req)
	n, err := daysFor(&req)
	if err != nil {
		return record.RateSnapshot{}, err
	}
	return quote(req, n)
}

// quote is Quote of a request that was checked, for so many days from the pickup.
func quote(req Request, n int) (record.RateSnapshot, error) {
	var c calc
	s := c.frame(&req, n)
	days, lines := c.timeLines(&req, n)
	s.Days = make([]record.DayPrice, len(days))
	var whole int64
	for i, d := range days {
		s.Days[i] = record.DayPrice{Date: d.date.Format(time.DateOnly), Amount: req.money(d.amount)}
		whole = c.add(whole, d.amount)
	}
	off, err := c.discountLines(&req, n, whole)
	if err != nil {
		return record.RateSnapshot{}, err
	}
	extras, err := c.extraLines(&req, n)
	if err != nil {
		return record.RateSnapshot{}, err
	}
	currency := req.Terms.Currency
	lines = c.finish(currency, slices.Concat(lines, off, c.mileageLine(&req, &s), extras, c.feeLines(&req, n)))
	lines = append(lines, c.taxLines(req.Taxes, currency, nil, lines)...)
	s.Lines = append(lines, c.platformLine(req.Terms.PlatformFeeBP, currency, nil, lines)...)
	if s.Totals, err = Totals(currency, s.Lines); err != nil {
		return record.RateSnapshot{}, err
	}
	s.Steps = req.tell(&s)
	return s, c.err()
}

// frame is the snapshot but for its lines.
func (c *calc) frame(req *Request, days int) record.RateSnapshot {
	t := req.Terms
	s := record.RateSnapshot{
		RatePlanID: req.PlanID, RatePlanName: req.PlanName, RateRevision: req.PlanRevision, QuotedAt: req.BookedAt,
		Currency: t.Currency,
		Timezone: req.Zone.String(), BilledDays: days, DayRounding: rounding(&t), ExtraMileFee: t.ExtraMileFee,
		LateFeePerDay: t.LateFeePerDay,
		Cancellation:  t.CancelSteps, NoShowFeeBP: unity, Taxes: req.Taxes, DepositAmount: req.money(0),
		DepositMethod: t.DepositMethod,
		Rate:          &t, Basis: req.PriceBasis,
	}
	if t.NoShowFeeBP != nil {
		s.NoShowFeeBP = *t.NoShowFeeBP
	}
	perDay := t.IncludedMilesPerDay
	if req.IncludedMilesPerDay != nil {
		perDay = req.IncludedMilesPerDay
	}
	if perDay != nil {
		included := int(c.times(int64(*perDay), int64(days)))
		s.IncludedMi = &included
	}
	if req.ExtraMileFee != nil {
		s.ExtraMileFee = req.ExtraMileFee
	}
	// what vehicle, class or customer ask for holds
	if s.DepositMethod == "" || s.DepositMethod == "none" && req.DepositAmount != nil {
		s.DepositMethod = "hold"
	}
	if deposit := firstOf(req.DepositAmount, t.DepositAmount); deposit != nil && s.DepositMethod != "none" {
		s.DepositAmount = *deposit
	}
	if s.DepositAmount.Amount == 0 {
		s.DepositMethod = "none"
	}
	return s
}

// firstOf returns the first amount that there is.
func firstOf(amounts ...*record.Money) *record.Money {
	for _, m := range amounts {
		if m != nil {
			return m
		}
	}
	return nil
}

// relevant leaves out of the terms what can never matter for this rental: seasons and holidays that were over before it
// was booked, or began if that was earlier, and promotions other than its own, which are nobody else's to know.
func relevant(req *Request) record.RatePlanTerms {
	t := req.Terms
	begins := req.PickupAt.Time
	if req.BookedAt.Before(begins) {
		begins = req.BookedAt.Time // before which nobody picks it up
	}
	first := dateOf(begins, req.Zone, 0).Format(time.DateOnly)
	t.Seasons = kept(t.Seasons, func(s record.RateSeason) bool { return s.To >= first })
	t.Holidays = kept(t.Holidays, func(h record.DateFactor) bool { return h.Date >= first })
	t.Promotions = kept(t.Promotions, func(p record.Promotion) bool { return fold(p.Code) == fold(req.PromoCode) })
	return t
}

// kept returns the elements that are to be kept, nil if there are none.
func kept[T any](all []T, keep func(T) bool) []T {
	var some []T
	for _, t := range all {
		if keep(t) {
			some = append(some, t)
		}
	}
	return some
}

// tell writes down how the price was found.
func (req *Request) tell(s *record.RateSnapshot) []string {
	plan := "No rate plan: the rate of the " + req.DailyRateOf + "."
	if req.PlanID != "" {
		plan = fmt.Sprintf("Rate plan %s (%s, revision %d): %s a day.", req.PlanName, req.PlanID, req.PlanRevision,
			Format(req.Terms.DailyRate))
	}
	steps := []string{plan}
	if req.DailyRate != nil {
		step := fmt.Sprintf("The %s has a rate of its own: %s a day.", req.DailyRateOf, Format(*req.DailyRate))
		if req.PlanID != "" && req.Terms.DailyRate.Amount != 0 {
			step += " Tiers and rates of seasons are in proportion to it."
		}
		steps = append(steps, step)
	}
	how := map[string]string{
		calendarDay: "each local date that is touched", hours24: "24 hours by the clock, begun ones too",
		hours24Late: fmt.Sprintf("24 hours by the clock, with %d minutes of grace", graceOf(&req.Terms)/time.Minute),
	}[s.DayRounding]
	steps = append(steps, fmt.Sprintf("%s to %s (%s): %s (%s).", moment(req.PickupAt.Time, req.Zone),
		moment(req.ReturnAt.Time, req.Zone), s.Timezone, count(s.BilledDays, "day"), how))
	for _, l := range s.Lines {
		steps = append(steps, fmt.Sprintf("%s: %s. %s", l.Description, Format(l.Amount), l.Explanation))
	}
	steps = append(steps, fmt.Sprintf("Total: %s, of which taxes %s.", Format(s.Totals.Total), Format(s.Totals.Taxes)))
	if s.IncludedMi != nil {
		step := fmt.Sprintf("%s included", count(*s.IncludedMi, "mile"))
		if s.ExtraMileFee != nil {
			step += fmt.Sprintf(", %s for each beyond", Format(*s.ExtraMileFee))
		}
		steps = append(steps, step+".")
	}
	if s.DepositMethod != "none" {
		steps = append(steps,
			fmt.Sprintf("Deposit: %s (%s); no part of the total.", Format(s.DepositAmount), s.DepositMethod))
	}
	return steps
}
