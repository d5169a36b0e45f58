package ledger

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
)

// platforms are the channels that collect the price and keep their share of it.
var platforms = []string{"turo", "getaround", "ota", "partner"}

// Collects says whether a channel collects the price: then it owes what the booking comes to, and not the customer.
func Collects(channel string) bool { return slices.Contains(platforms, channel) }

// revenueOf says to which account a line of a bill goes. What is not named is a fee.
var revenueOf = map[string]Account{
	"time": RevenueTime, "mileage": RevenueMileage, "extra": RevenueExtras, "protection": RevenueProtection,
	"damage": RevenueDamage,
	"toll":   RevenueToll, "fine": RevenueToll, "discount": Discount, "promo": Discount, "tax": TaxPayable,
}

// spreadTypes are the lines that are for the rental as a whole. They accrue over its billed days, and their reversals
// take back from the same days; other lines belong to the day on which they were posted.
var spreadTypes = []string{"time", "extra", "protection", "young_driver", "additional_driver", "discount", "promo",
	"platform_fee"}

// priced are those of spreadTypes that accrue as the price of the days does; the others are the same every day.
var priced = []string{"time", "discount", "promo", "platform_fee"}

// OfBooking returns what ought to stand because of a booking: from pickup on its charges, of one that came to nothing
// those that were not taken back, and always what was done with the money of its deposit. zone counts where the
// booking names none.
func OfBooking(id string, b *record.Booking, zone *time.Location) []Posting {
	zone = ZoneOf(b.Timezone, zone)
	k := &book{dims: Dims{Vehicle: b.VehicleID, Class: b.VehicleClassID, Booking: id, Customer: b.CustomerID,
		Location: b.PickupLocationID, Channel: channelOf(b)}}
	owed := receivableOf(Collects(b.Channel))
	switch b.Status {
	case record.BookingActive, record.BookingCompleted:
		k.rental(b, owed, zone)
	case record.BookingCancelled, record.BookingNoShow:
		for _, c := range feesOf(b) {
			k.charge(&c, feeDay(b, &c, zone), owed)
		}
	}
	k.deposit(b, owed, zone)
	return Sum(k.postings)
}

// BilledOn is the local day from which on a booking is billed, 0 while it is not: that of pickup, and of one that came
// to nothing that of the first charge, if something is left of its charges. What was paid before is paid ahead.
func BilledOn(b *record.Booking, zone *time.Location) Day {
	zone = ZoneOf(b.Timezone, zone)
	switch b.Status {
	case record.BookingActive, record.BookingCompleted:
		return DayOf(pickupOf(b), zone)
	case record.BookingCancelled, record.BookingNoShow:
		var left int64
		days := map[Day]int64{}
		for _, c := range feesOf(b) {
			left += c.Amount.Amount
			days[feeDay(b, &c, zone)] += c.Amount.Amount
		}
		maps.DeleteFunc(days, func(_ Day, sum int64) bool { return sum == 0 })
		if left != 0 {
			return slices.Min(slices.Collect(maps.Keys(days)))
		}
	}
	return 0
}

func channelOf(b *record.Booking) string {
	if b.Channel == "" {
		return "direct"
	}
	return b.Channel
}

// receivableOf is the account of what is owed by a channel, or by the customer.
func receivableOf(platform bool) Account {
	if platform {
		return PlatformReceivable
	}
	return Receivable
}

// rental books the charges of a booking that was picked up: billed on the day that billDay says, earned when they are
// used, and all of it once the vehicle is back.
func (k *book) rental(b *record.Booking, owed Account, zone *time.Location) {
	days, prices := billed(b, zone)
	last := returnDay(b, zone)
	for _, c := range b.Charges {
		day := billDay(b, &c, zone)
		k.dims.Vehicle = vehicleOn(b, day, zone)
		if slices.Contains(spreadTypes, c.Type) {
			k.move(day, owedFor(&c, owed), aheadOf(&c), c.Amount)
		} else {
			k.charge(&c, day, owed)
		}
	}
	vehicles := vehiclesOn(b, days, zone)
	even := make([]int64, len(days))
	for _, c := range net(b.Charges) {
		weights := even
		if slices.Contains(priced, c.Type) {
			weights = prices
		}
		for i, part := range price.Allocate(c.Amount.Amount, weights) {
			k.dims.Vehicle = vehicles[i]
			k.move(min(days[i], last), aheadOf(&c), accountOf(&c), record.Money{Amount: part, Currency: c.Amount.Currency})
		}
	}
	k.level(DeferredRevenue, Unbilled)
	k.level(PrepaidExpenses, Payable)
	k.dims.Vehicle = b.VehicleID
}

// billDay is the day on which a line of a rental's bill is owed: what a handover brought about on that of the handover,
// whenever that was noted; what a channel tells on that of pickup if it is of the rental as a whole, else of return;
// and all else when it came about. Nothing is owed before pickup.
func billDay(b *record.Booking, c *record.Charge, zone *time.Location) Day {
	first, last := DayOf(pickupOf(b), zone), returnDay(b, zone)
	told := c.Source == "import"
	switch {
	case slices.Contains(b.PickupCharges, c.ID), told && (c.Type == "tax" || slices.Contains(spreadTypes, c.Type)):
		return first
	case last != never && (told || slices.Contains(b.ReturnCharges, c.ID)):
		return last
	}
	return max(first, DayOf(c.Since(), zone))
}

// never is the day of what has not taken place.
const never = Day(math.MaxInt32)

// returnDay is the day on which a booking's vehicle came back, not before pickup; never while it is out.
func returnDay(b *record.Booking, zone *time.Location) Day {
	if b.Status != record.BookingCompleted || b.ActualReturnAt.IsZero() {
		return never
	}
	return max(DayOf(pickupOf(b), zone), DayOf(b.ActualReturnAt.Time, zone))
}

// owedFor is the account of what is owed because of a line: what a channel keeps is the less that it owes.
func owedFor(c *record.Charge, owed Account) Account {
	if c.Type == "platform_fee" {
		return PlatformReceivable
	}
	return owed
}

// aheadOf is where a line that is spread stands between being billed and being used.
func aheadOf(c *record.Charge) Account {
	if c.Type == "platform_fee" {
		return PrepaidExpenses
	}
	return DeferredRevenue
}

// net gives the lines that are spread, those of one type and currency added up: a price that was changed by further
// lines is spread as the price that it came to.
func net(charges []record.Charge) []record.Charge {
	var all []record.Charge
	for _, c := range charges {
		if !slices.Contains(spreadTypes, c.Type) {
			continue
		}
		i := slices.IndexFunc(all, func(o record.Charge) bool {
			return o.Type == c.Type && o.Amount.Currency == c.Amount.Currency
		})
		if i < 0 {
			all = append(all, c)
		} else {
			all[i].Amount.Amount += c.Amount.Amount
		}
	}
	return all
}

// charge books a line of the bill on one day.
func (k *book) charge(c *record.Charge, day Day, owed Account) {
	k.purpose = purposeOf(c)
	k.move(day, owedFor(c, owed), accountOf(c), c.Amount)
	k.purpose = ""
}

// purposeOf says what a line is for, a tax by its name; nothing of what is for the rental as a whole, as
// its account does.
func purposeOf(c *record.Charge) string {
	switch {
	case slices.Contains(spreadTypes, c.Type):
		return ""
	case c.Type == "tax" && c.Description != "":
		return "tax, " + c.Description
	}
	return strings.ReplaceAll(c.Type, "_", " ")
}

// accountOf is the account of what a line is for.
func accountOf(c *record.Charge) Account {
	switch c.Type {
	case "platform_fee":
		return CostOf("platform_fee") // a negative line: what the channel keeps is a cost of ours
	case "adjustment":
		// One in the customer's favour is no negative revenue. What is reversed goes back to where it came from.
		if (c.Amount.Amount < 0) != (c.ReversalOf != "") {
			return ContraRefund
		}
	}
	if account, ok := revenueOf[c.Type]; ok {
		return account
	}
	return RevenueFees
}

// feesOf returns the lines that stand of a booking that came to nothing: its fees, what was charged by hand, what was
// posted since. What was charged for the rental and taken back by then leaves no trace, as it never stood in the books;
// what is taken back later stood until then, its taxes with it.
func feesOf(b *record.Booking) []record.Charge {
	dropped := map[string]bool{}
	for _, c := range b.Charges {
		if c.ReversalOf != "" && !c.PostedAt.After(b.StatusSince.Time) {
			dropped[c.ReversalOf], dropped[c.ID] = true, true
		}
	}
	return slices.DeleteFunc(slices.Clone(b.Charges), func(c record.Charge) bool { return dropped[c.ID] })
}

// feeDay is the day on which a line counts of a booking that came to nothing: what was charged before is
// earned when it does.
func feeDay(b *record.Booking, c *record.Charge, zone *time.Location) Day {
	over := b.StatusSince
	if b.Cancellation != nil && !b.Cancellation.At.IsZero() {
		over = b.Cancellation.At // which may have been written down later
	}
	return max(DayOf(over.Time, zone), DayOf(c.Since(), zone))
}

// deposit books what was done with the money of a deposit, on the days on which it was done; what its moves do not
// have, of deposits of before, belongs to the day on which it becomes known. What of it pays a booking that is not
// billed yet is paid ahead, until it is. An authorization moves no money. Its dimensions are the booking and the
// customer alone: it is no vehicle's, and would move again whenever the booking got another one.
func (k *book) deposit(b *record.Booking, owed Account, zone *time.Location) {
	k.dims, k.purpose = Dims{Booking: k.dims.Booking, Customer: k.dims.Customer}, "deposit"
	billed := BilledOn(b, zone)
	if billed == 0 {
		owed = Prepayments
	}
	captured, applied, released := b.Deposit.Captured, b.Deposit.Applied, b.Deposit.Released
	// of a mere authorization nothing comes back
	released.Amount = min(released.Amount, max(captured.Amount-applied.Amount, 0))
	ahead := record.Money{Currency: applied.Currency}
	for _, m := range b.Deposit.Moves {
		day := DayOf(m.At.Time, zone)
		switch m.Action {
		case "capture":
			captured.Amount -= m.Amount.Amount
			k.move(day, Cash, DepositsHeld, m.Amount)
		case "release":
			released.Amount -= m.Amount.Amount
			k.move(day, DepositsHeld, Cash, m.Amount)
		case "apply":
			applied.Amount -= m.Amount.Amount
			settled := owed
			if day < billed {
				settled, ahead.Amount = Prepayments, ahead.Amount+m.Amount.Amount
			}
			k.move(day, DepositsHeld, settled, m.Amount)
		}
	}
	k.move(billed, Prepayments, owed, ahead)
	k.move(0, Cash, DepositsHeld, captured)
	k.move(0, DepositsHeld, owed, applied)
	k.move(0, DepositsHeld, Cash, released)
}

func pickupOf(b *record.Booking) time.Time {
	if !b.ActualPickupAt.IsZero() {
		return b.ActualPickupAt.Time
	}
	return b.PickupAt.Time
}

// billed returns the days over which a rental's price accrues, at least one, and what each costs.
func billed(b *record.Booking, zone *time.Location) ([]Day, []int64) {
	var days []Day
	var prices []int64
	if s := b.RateSnapshot; s != nil {
		for _, d := range s.Days {
			if day, err := ParseDay(d.Date); err == nil {
				days, prices = append(days, day), append(prices, d.Amount.Amount)
			}
		}
	}
	if len(days) > 0 {
		return days, weighable(prices)
	}
	// Imported ones have no snapshot: the local days from pickup to return, all alike.
	from, until := pickupOf(b), b.ReturnAt.Time
	first := DayOf(from, zone)
	last := max(first, DayOf(until.Add(-time.Millisecond), zone))
	for day := first; day <= min(last, first+MaxDays-1); day++ {
		days = append(days, day)
	}
	return days, make([]int64, len(days))
}

// weighable returns weights that an amount can be divided by: prices as they are, or even ones where prices
// make no sense.
func weighable(prices []int64) []int64 {
	left := int64(price.Limit)
	for _, p := range prices {
		if p < 0 || p > left {
			return make([]int64, len(prices))
		}
		left -= p
	}
	return prices
}

// MaxDays bounds the days over which an amount is spread.
const MaxDays = 3660

// vehiclesOn returns the vehicle that the booking had on each day.
func vehiclesOn(b *record.Booking, days []Day, zone *time.Location) []string {
	all := make([]string, len(days))
	for i, day := range days {
		all[i] = vehicleOn(b, day, zone)
	}
	return all
}

// vehicleOn is the vehicle that the booking had when the day began, or at pickup if that was later.
func vehicleOn(b *record.Booking, day Day, zone *time.Location) string {
	if len(b.VehicleSwaps) == 0 {
		return b.VehicleID
	}
	at := day.Begins(zone)
	if pickup := pickupOf(b); at.Before(pickup) {
		at = pickup
	}
	for _, s := range b.VehicleSwaps {
		if at.Before(s.Until.Time) {
			return s.VehicleID
		}
	}
	return b.VehicleID
}
