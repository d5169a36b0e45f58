package price

import (
	"fmt"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// check refuses a request whose amounts do not go together.
func (req *Request) check() error {
	if req.Zone == nil {
		req.Zone = time.UTC
	}
	currency := req.Terms.Currency
	for _, m := range []struct {
		amount        *record.Money
		name, pointer string
	}{
		{req.DailyRate, "the daily rate of the " + req.DailyRateOf, "/vehicle_id"},
		{req.ExtraMileFee, "the extra mile fee of vehicle or class", "/vehicle_id"},
		{req.DepositAmount, "the deposit", "/vehicle_id"}, {req.OneWayFee, "the one-way fee", "/return_location_id"},
		{req.DeliveryFee, "the delivery fee", "/pickup_location_id"},
	} {
		if m.amount == nil {
			continue
		}
		if m.amount.Currency != currency {
			return fault(m.pointer, "currency_mismatch",
				fmt.Sprintf("%s is in %s, and the rate plan in %s", m.name, m.amount.Currency, currency))
		}
		if m.amount.Amount < 0 || m.amount.Amount > Limit {
			return fault(m.pointer, "out_of_range", m.name+" is out of range")
		}
	}
	if faults := Faults(&req.Terms); faults != nil {
		return fault("/rate_plan_id", "not_valid",
			"leads to a rate plan that cannot be used: "+faults[0].Pointer+" "+faults[0].Detail)
	}
	for _, n := range []struct {
		value   int64
		pointer string
	}{{req.CustomerDiscountBP - unity, "/customer_id"}, {int64(req.AdditionalDrivers) - 1000, "/drivers"}} {
		if n.value > 0 {
			return fault(n.pointer, "out_of_range", "leads to more than is possible")
		}
	}
	return nil
}

// Faults says what is wrong with terms, by JSON pointer; nil if nothing is. What a schema can refuse is not looked at
// again, but for amounts.
func Faults(t *record.RatePlanTerms) []fleet.FieldError {
	f := &faults{currency: t.Currency}
	f.money("/daily_rate", &t.DailyRate)
	f.tiers("/tiers", t.Tiers)
	for i := range t.Seasons {
		f.season(fmt.Sprintf("/seasons/%d", i), &t.Seasons[i])
	}
	f.unique("/weekday_factors", "/day", len(t.WeekdayFactors), func(i int) string { return t.WeekdayFactors[i].Day })
	f.unique("/holidays", "/date", len(t.Holidays), func(i int) string { return t.Holidays[i].Date })
	f.unique("/length_discounts", "/min_days", len(t.LengthDiscounts), func(i int) string {
		return fmt.Sprint(t.LengthDiscounts[i].MinDays)
	})
	f.unique("/early_bird_discounts", "/min_days_ahead", len(t.EarlyBirdDiscounts), func(i int) string {
		return fmt.Sprint(t.EarlyBirdDiscounts[i].MinDaysAhead)
	})
	f.unique("/promotions", "/code", len(t.Promotions), func(i int) string { return fold(t.Promotions[i].Code) })
	f.unique("/extras", "/code", len(t.Extras), func(i int) string { return t.Extras[i].Code })
	f.unique("/cancellation_steps", "/hours_before", len(t.CancelSteps), func(i int) string {
		return fmt.Sprint(t.CancelSteps[i].HoursBefore)
	})
	for i := range t.Promotions {
		f.promotion(fmt.Sprintf("/promotions/%d", i), &t.Promotions[i])
	}
	for i := range t.Extras {
		f.money(fmt.Sprintf("/extras/%d/price", i), &t.Extras[i].Price)
		f.money(fmt.Sprintf("/extras/%d/max_price", i), t.Extras[i].MaxPrice)
	}
	f.money("/extra_mile_fee", t.ExtraMileFee)
	f.money("/young_driver_fee", t.YoungDriverFee)
	f.money("/additional_driver_fee", t.AdditionalDriverFee)
	f.money("/late_fee_per_day", t.LateFeePerDay)
	f.money("/refuel_fee", t.RefuelFee)
	for i := range t.OneWayFees {
		f.money(fmt.Sprintf("/one_way_fees/%d/fee", i), &t.OneWayFees[i].Fee)
	}
	f.money("/deposit_amount", t.DepositAmount)
	if t.YoungDriverFee != nil && t.YoungDriverAge == 0 {
		f.add("/young_driver_age", "required", "says who pays the young_driver_fee")
	}
	if t.MaxRentalDays != 0 && t.MaxRentalDays < t.MinRentalDays {
		f.add("/max_rental_days", "out_of_range", "must not be less than min_rental_days")
	}
	return f.all
}

// faults collects what is wrong.
type faults struct {
	currency string
	all      []fleet.FieldError
}

func (f *faults) add(pointer, code, detail string) {
	f.all = append(f.all, fleet.FieldError{Pointer: pointer, Code: code, Detail: detail})
}

func (f *faults) money(pointer string, m *record.Money) {
	switch {
	case m == nil:
	case m.Currency != f.currency:
		f.add(pointer+"/currency", "currency_mismatch", "must be "+f.currency+", the currency of the rate plan")
	case m.Amount < 0 || m.Amount > Limit:
		f.add(pointer+"/amount", "out_of_range", fmt.Sprintf("must be from 0 to %d", int64(Limit)))
	}
}

func (f *faults) tiers(pointer string, tiers []record.RateTier) {
	for i := range tiers {
		f.money(fmt.Sprintf("%s/%d/price", pointer, i), &tiers[i].Price)
		if i > 0 && tiers[i].Days <= tiers[i-1].Days {
			f.add(fmt.Sprintf("%s/%d/days", pointer, i), "not_ascending", "must be more than the days of the tier before")
		}
	}
}

func (f *faults) season(pointer string, s *record.RateSeason) {
	if s.From > s.To {
		f.add(pointer+"/until", "out_of_range", "must not be before from")
	}
	f.money(pointer+"/daily_rate", s.DailyRate)
	f.tiers(pointer+"/tiers", s.Tiers)
	switch {
	case s.FactorBP != nil && (s.DailyRate != nil || s.Tiers != nil):
		f.add(pointer+"/factor_bp", "not_both", "stands instead of a daily_rate and tiers, not beside them")
	case s.FactorBP == nil && s.DailyRate == nil && s.Tiers == nil:
		f.add(pointer, "required", "must have a daily_rate, tiers or a factor_bp")
	}
}

func (f *faults) promotion(pointer string, p *record.Promotion) {
	f.money(pointer+"/amount", p.Amount)
	if (p.DiscountBP > 0) == (p.Amount != nil) {
		f.add(pointer+"/discount_bp", "one_of", "must have either discount_bp or amount")
	}
	if p.From != "" && p.To != "" && p.From > p.To {
		f.add(pointer+"/until", "out_of_range", "must not be before from")
	}
}

// unique refuses elements of a list whose key another one before them has.
func (f *faults) unique(pointer, member string, n int, key func(int) string) {
	seen := map[string]bool{}
	for i := range n {
		if k := key(i); seen[k] {
			f.add(fmt.Sprintf("%s/%d%s", pointer, i, member), "not_unique", "is there already")
		} else {
			seen[k] = true
		}
	}
}
