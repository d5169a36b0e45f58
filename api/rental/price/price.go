// Package price works out what a rental costs. It is pure: everything that matters is in the Request, the same request has the
// same price for ever, and what was agreed is frozen in a record.RateSnapshot that tells how each line came to be.
//
// The order is
//
//	rate plan → season → vehicle or class → tiers → billed days → weekdays and holidays      lines of type time
//	→ discounts: length, early booking, promotion, customer                                  discount, promo
//	→ miles beyond those included → extras and protection → fees                             mileage, extra, protection, ...
//	→ taxes of the pickup location                                                           tax
//	→ what the channel keeps                                                                 platform_fee
//	→ deposit, which is no line
//
// Season. Each billed day has a local date, and the season of that date; of seasons that overlap the last in the list. A season
// with a rate has that rate, and only its own tiers; one with tiers alone has the plan's daily rate; one with a factor has the plan's
// rate and tiers times the factor.
//
// Vehicle or class. If the vehicle (or its class) has a daily rate of its own, it stands in the place of the plan's, and whatever
// else the plan says of time (tiers, rates of seasons) is in proportion.
//
// Tiers. A tier is a price for so many days. The whole rental's days are put together of tiers and single days: either as
// cheaply as possible, where a tier may cover more days than are needed (cheapest_combination), or always the longest
// tier that fits and single days for the rest (longest_fit). That price is spread evenly over the days, cents that remain going to the
// first ones. Where a rental crosses seasons each day has its share of what the whole rental would cost in the season of that day.
//
// Billed days. calendar_day: local dates touched; a return at midnight does not touch the new day. 24h: days that run from the
// time of day of pickup to the same time of day by the clock on the wall, so that a day on which clocks change is one day. 24h_with_grace: the
// same, but the last one is not billed if it is not longer than the grace. Never less than one. Day i has the date of pickup plus i.
//
// Discounts are on time alone, each on what the ones before it left: they can never exceed the price of the time.
//
// Taxes are on the sum of the taxable lines, each tax by itself. The platform fee is a negative line that the customer never
// sees in the total: see Totals.
//
// Rounding. Amounts are integers of minor units. A share or a percentage is rounded half away from zero, once, to minor
// units (see scale); an amount that is divided into parts is allocated by largest remainder (see Allocate), so that parts add up to the
// whole. Amounts beyond Limit are refused, never wrapped.
package price

import (
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

// Quote works out a price. What cannot be priced (an extra that the terms do not have, a promotion that is not valid, amounts of
// different currencies) is a *fleet.Error of the code fleet.CodeValidation whose pointers are those of record.BookingFields.
func Quote(req Request) (record.RateSnapshot, error) { panic("soon") }

// Extend works out the price of a rental with another time of return, by the terms and for the customer that were frozen. The
// charges are what is to be posted beside those of the snapshot: their sum is the difference of the totals. With the
// same time of return there are none.
func Extend(s *record.RateSnapshot, returnAt time.Time) (record.RateSnapshot, []record.Charge, error) {
	panic("soon")
}

// Returned is how a vehicle came back.
type Returned struct {
	At                time.Time
	MilesDriven       *int  // nil if nobody knows
	FuelMissingPct    int64 // how much less there is in the tank than at pickup, in percent of it; 0 for no less
	BatteryMissingPct int64 // of the traction battery
}

// AtReturn returns what a return adds to the charges of a snapshot: days beyond those billed, miles beyond those included and
// already charged (less, if fewer were driven than were charged beforehand), fuel or energy that is missing, with their taxes and the platform's share.
func AtReturn(s *record.RateSnapshot, r Returned) ([]record.Charge, error) { panic("soon") }

// CancelFee is what a cancellation costs, by the step that holds so long before pickup: a line of type cancellation_fee, whose
// amount is zero if it costs nothing. It is a share of the total with taxes, so it is not taxed again.
func CancelFee(s *record.RateSnapshot, pickup, at time.Time) (record.Charge, error) { panic("soon") }

// NoShowFee is what a customer who never came owes: a line of type no_show_fee.
func NoShowFee(s *record.RateSnapshot) (record.Charge, error) { panic("soon") }

// Totals adds up charges, which must be of one currency. Lines of type platform_fee are no part of what is owed; see record.Totals.
func Totals(currency string, charges []record.Charge) (record.Totals, error) { panic("soon") }

// TaxesOn returns the tax lines that are due for charges added to others: the tax on all of them less that on the ones before, so
// that the taxes of a booking are always those of its sum. A tax of which nothing is due has no line.
func TaxesOn(rates []record.TaxRate, currency string, before, added []record.Charge) ([]record.Charge, error) {
	panic("soon")
}

// Allocate divides an amount in proportion to weights, which are not negative, by largest remainder: the parts add up to the
// amount exactly, each is within one minor unit of its share, and units that remain go to the largest remainders, of equal ones
// to the first. Without any weight the amount is divided evenly.
func Allocate(amount int64, weights []int64) []int64 { panic("soon") }

// BilledDays is how many days are billed from pickup to return.
func BilledDays(terms *record.RatePlanTerms, zone *time.Location, pickup, ret time.Time) int {
	panic("soon")
}

// Format writes an amount for people: "USD 129.00", "JPY 12900".
func Format(m record.Money) string { panic("soon") }
