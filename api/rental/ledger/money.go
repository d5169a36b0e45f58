package ledger

import (
	"slices"
	"time"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
)

// OfPayment returns what ought to stand because of a payment: nothing until it has succeeded, then the money on the day
// it moved, less what the provider keeps, and what was given back on the days it was given back. What a booking is paid
// before it is billed is owed to the customer, until the day on which it is billed; so is what is paid for no booking,
// but by a channel.
func OfPayment(p *record.Payment, zone *time.Location) []Posting {
	zone = ZoneOf(p.BookedFor.Timezone, zone)
	k := &book{dims: Dims{Booking: p.BookingID, Customer: p.CustomerID}}
	k.dims.booked(&p.BookedFor)
	if !slices.Contains([]string{record.PaymentSucceeded, record.PaymentRefunded, record.PaymentPartiallyRefunded},
		p.Status) {
		return nil
	}
	platform := p.Method == "platform"
	owed := receivableOf(platform)
	if p.BookedFor.Channel != "" {
		owed = receivableOf(Collects(p.BookedFor.Channel)) // what a booking is billed on is what its payments pay
	}
	billed, ahead, unbilled := Day(0), int64(0), !platform
	if p.BookingID != "" {
		billed = dayOr(p.BookedFor.BilledOn, 0)
		unbilled = billed == 0
	}
	move := func(day Day, m record.Money) {
		settled := owed
		if unbilled || day < billed {
			settled = Prepayments
			ahead += m.Amount
		}
		k.move(day, Cash, settled, m)
	}
	sign := int64(1)
	if p.Direction == "out" {
		sign = -1
	}
	on := DayOf(p.ReceivedAt.Time, zone)
	move(on, record.Money{Amount: sign * p.Amount.Amount, Currency: p.Amount.Currency})
	k.purpose = "refund"
	for _, r := range p.Refunds {
		move(DayOf(r.At.Time, zone), record.Money{Amount: -sign * r.Amount.Amount, Currency: r.Amount.Currency})
	}
	if k.purpose = ""; billed != 0 {
		k.move(billed, Prepayments, owed, record.Money{Amount: ahead, Currency: p.Amount.Currency})
	}
	if p.Fee != nil {
		fee := CostOf("payment_fee")
		if platform {
			fee = CostOf("platform_fee")
		}
		k.move(on, fee, Cash, *p.Fee)
	}
	return Sum(k.postings)
}

// booked takes over dimensions that a record keeps.
func (d *Dims) booked(f *record.BookedFor) {
	d.Vehicle, d.Class, d.Location, d.Channel = f.VehicleID, f.ClassID, f.LocationID, f.Channel
	if d.Customer == "" {
		d.Customer = f.CustomerID
	}
}

// OfExpense returns what ought to stand because of an expense while it is posted: its money on the day it was paid, and
// its cost evenly over the days of its service period, as far as they are not refunded: the money of those comes back
// on the first of them. What is paid before it is used is prepaid, what is used before it is paid is owed.
func OfExpense(e *record.Expense) []Posting {
	if e.Status != record.ExpensePosted {
		return nil
	}
	k := &book{dims: Dims{Booking: e.BookingID}}
	k.dims.booked(&e.BookedFor)
	if e.VehicleID != "" {
		k.dims.Vehicle = e.VehicleID
	}
	incurred := dayOr(e.IncurredOn, 0) // 0, the day on which it becomes known, if there is none
	if e.Category == OwnerShare {
		k.shareOut(e)
		return Sum(k.postings)
	}
	if e.Sold != nil {
		k.sell(incurred, e)
		return Sum(k.postings)
	}
	to, from, days, cost := CostOf(e.Category), PrepaidExpenses, serviceDays(e, incurred), e.Amount
	if to.Type() != Cost || e.Category == "bad_debt" {
		days = []Day{incurred} // what is not used up by day
	}
	switch e.Category {
	case "depreciation":
		from = AccumulatedDepreciation // no money moves, nor for a debt that is given up
	case "bad_debt":
		from = receivableOf(Collects(e.BookedFor.Channel))
	default:
		owed := e.Amount
		if e.Financed != nil {
			k.move(incurred, PrepaidExpenses, LoansPayable, *e.Financed)
			owed.Amount -= e.Financed.Amount
		}
		if !e.Unpaid {
			k.move(dayOr(e.PaidOn, incurred), PrepaidExpenses, Cash, owed)
		}
	}
	if e.Tax != nil && e.TaxRecoverable {
		k.move(incurred, InputTax, from, *e.Tax)
		cost.Amount -= e.Tax.Amount
	}
	ends := Day(0)
	if e.Refunded != nil {
		ends = dayOr(e.Refunded.On, 0)
	}
	for i, part := range price.Allocate(cost.Amount, make([]int64, len(days))) {
		if ends == 0 || days[i] < ends {
			k.move(days[i], to, from, record.Money{Amount: part, Currency: cost.Currency})
		} else if !e.Unpaid {
			k.move(max(ends, dayOr(e.PaidOn, incurred)), Cash, PrepaidExpenses,
				record.Money{Amount: part, Currency: cost.Currency})
		}
	}
	k.level(PrepaidExpenses, Payable)
	k.owedTo(e.OwnerCustomerID)
	return Sum(k.postings)
}

// shareOut books what an owner gets of what a vehicle brought, on the days on which it brought that, and takes off what
// the owner bears of its costs. It is owed until it is paid out.
func (k *book) shareOut(e *record.Expense) {
	for _, d := range e.OwnerDays {
		on := dayOr(d.On, 0)
		money := func(amount int64) record.Money { return record.Money{Amount: amount, Currency: e.Amount.Currency} }
		k.move(on, OwnersShare, OwnersPayable, money(d.Share))
		k.move(on, OwnersPayable, BorneVariable, money(d.Variable))
		k.move(on, OwnersPayable, BorneFixed, money(d.Fixed))
	}
	k.owedTo(e.OwnerCustomerID)
}

// owedTo says of what stands on OwnersPayable whose it is. The cost is of no customer: an owner rents nothing.
func (k *book) owedTo(owner string) {
	for i := range k.postings {
		if k.postings[i].Account == OwnersPayable {
			k.postings[i].Customer = owner
		}
	}
}

// sell takes a vehicle that is sold out of the books. What it was sold for less its book value is a gain, or a loss;
// the money is owed until it is paid.
func (k *book) sell(on Day, e *record.Expense) {
	left := e.Sold.Cost.Amount - e.Sold.Depreciated.Amount - e.Amount.Amount
	k.move(on, AccumulatedDepreciation, FixedAsset, e.Sold.Depreciated)
	k.move(on, Receivable, FixedAsset, e.Amount)
	k.move(on, DisposalGain, FixedAsset, record.Money{Amount: left, Currency: e.Amount.Currency})
	if !e.Unpaid {
		k.move(dayOr(e.PaidOn, on), Cash, Receivable, e.Amount)
	}
	k.level(Receivable, Prepayments)
}

// serviceDays returns the days over which an expense is spread, at least one.
func serviceDays(e *record.Expense, incurred Day) []Day {
	if p := e.ServicePeriod; p != nil {
		from, err1 := ParseDay(p.From)
		to, err2 := ParseDay(p.To)
		if err1 == nil && err2 == nil && from <= to && to-from < MaxDays {
			days := make([]Day, 0, to-from+1)
			for day := from; day <= to; day++ {
				days = append(days, day)
			}
			return days
		}
	}
	return []Day{incurred}
}

// workCategory is the category of cost of each type of work order.
var workCategory = map[string]string{"tire": "tires", "corrective": "repair", "damage": "repair", "": "repair"}

// OfWorkOrder returns what ought to stand because of a work order: its cost, tax included, once it is completed, and
// its money on the day it was paid. zone counts where it keeps none, as those do that were completed long ago.
func OfWorkOrder(w *record.WorkOrder, zone *time.Location) []Posting {
	if w.Status != record.WorkCompleted || w.Total == nil {
		return nil
	}
	category, ok := workCategory[w.Type]
	if !ok {
		category = "maintenance"
	}
	zone = ZoneOf(w.BookedFor.Timezone, zone)
	k := &book{dims: Dims{Vehicle: w.VehicleID, Class: w.BookedFor.ClassID, Location: w.BookedFor.LocationID}}
	k.spend(DayOf(w.CompletedAt.Time, zone), CostOf(category), w.PaidOn, *w.Total)
	return Sum(k.postings)
}

// OfToll returns what ought to stand because of a toll or a fine: what the agency wants, whoever bears it in the end,
// on the day it was incurred, and its money on the day it was paid; nothing while it is disputed. What the customer is
// charged for it is a charge of the booking. zone counts where it keeps none.
func OfToll(t *record.Toll, zone *time.Location) []Posting {
	if t.Status == "disputed" {
		return nil
	}
	category := "toll"
	if t.Kind == "fine" {
		category = "fine"
	}
	zone = ZoneOf(t.BookedFor.Timezone, zone)
	k := &book{dims: Dims{Vehicle: t.VehicleID, Booking: t.BookingID, Class: t.BookedFor.ClassID,
		Location: t.BookedFor.LocationID}}
	k.spend(DayOf(t.OccurredAt.Time, zone), CostOf(category), t.PaidOn, t.Amount)
	return Sum(k.postings)
}

// spend books a cost on its day, and its money on the day on which it is paid.
func (k *book) spend(on Day, cost Account, paidOn string, m record.Money) {
	k.move(on, cost, PrepaidExpenses, m)
	k.move(dayOr(paidOn, on), PrepaidExpenses, Cash, m)
	k.level(PrepaidExpenses, Payable)
}
