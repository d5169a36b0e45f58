package ledger

import (
	"slices"
	"time"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
)

// OfPayment returns what ought to stand because of a payment: nothing until it has succeeded, then the money on the day it moved,
// less what the provider keeps, and what was given back on the days it was given back.
func OfPayment(p *record.Payment, zone *time.Location) []Posting {
	zone = zoneOf(p.BookedFor.Timezone, zone)
	k := &book{dims: Dims{Booking: p.BookingID, Customer: p.CustomerID}}
	k.dims.booked(&p.BookedFor)
	if !slices.Contains([]string{record.PaymentSucceeded, record.PaymentRefunded, record.PaymentPartiallyRefunded}, p.Status) {
		return nil
	}
	platform := p.Method == "platform"
	owed := receivableOf(platform)
	there, back := Cash, owed // of what goes out: the other way round
	if p.Direction == "out" {
		there, back = owed, Cash
	}
	on := DayOf(p.ReceivedAt.Time, zone)
	k.move(on, there, back, p.Amount)
	if p.Fee != nil {
		fee := CostOf("other")
		if platform {
			fee = CostOf("platform_fee")
		}
		k.move(on, fee, Cash, *p.Fee)
	}
	for _, r := range p.Refunds {
		k.move(DayOf(r.At.Time, zone), back, there, r.Amount)
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

// OfExpense returns what ought to stand because of an expense: while it is posted its amount, tax included, evenly over the days of
// its service period.
func OfExpense(e *record.Expense) []Posting {
	if e.Status != record.ExpensePosted {
		return nil
	}
	k := &book{dims: Dims{Booking: e.BookingID}}
	k.dims.booked(&e.BookedFor)
	if e.VehicleID != "" {
		k.dims.Vehicle = e.VehicleID
	}
	from := Cash
	if e.Category == "depreciation" {
		from = AccumulatedDepreciation // no money moves
	}
	days := serviceDays(e)
	for i, part := range price.Allocate(e.Amount.Amount, make([]int64, len(days))) {
		k.move(days[i], CostOf(e.Category), from, record.Money{Amount: part, Currency: e.Amount.Currency})
	}
	return Sum(k.postings)
}

// serviceDays returns the days over which an expense is spread, at least one.
func serviceDays(e *record.Expense) []Day {
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
	day, _ := ParseDay(e.IncurredOn) // 0, the day on which it becomes known, if there is none
	return []Day{day}
}

// workCategory is the category of cost of each type of work order.
var workCategory = map[string]string{"tire": "tires", "corrective": "repair", "damage": "repair", "": "repair"}

// OfWorkOrder returns what ought to stand because of a work order: its cost, tax included, once it is completed. zone counts
// where it keeps none, as those do that were completed long ago.
func OfWorkOrder(w *record.WorkOrder, zone *time.Location) []Posting {
	if w.Status != record.WorkCompleted || w.Total == nil {
		return nil
	}
	category, ok := workCategory[w.Type]
	if !ok {
		category = "maintenance"
	}
	zone = zoneOf(w.BookedFor.Timezone, zone)
	k := &book{dims: Dims{Vehicle: w.VehicleID, Class: w.BookedFor.ClassID, Location: w.BookedFor.LocationID}}
	k.move(DayOf(w.CompletedAt.Time, zone), CostOf(category), Cash, *w.Total)
	return Sum(k.postings)
}

// OfToll returns what ought to stand because of a toll or a fine: what the agency wants, whoever bears it in the end, on the day it
// was incurred; nothing while it is disputed. What the customer is charged for it is a charge of the booking. zone counts where it
// keeps none.
func OfToll(t *record.Toll, zone *time.Location) []Posting {
	if t.Status == "disputed" {
		return nil
	}
	category := "toll"
	if t.Kind == "fine" {
		category = "fine"
	}
	zone = zoneOf(t.BookedFor.Timezone, zone)
	k := &book{dims: Dims{Vehicle: t.VehicleID, Booking: t.BookingID, Class: t.BookedFor.ClassID, Location: t.BookedFor.LocationID}}
	k.move(DayOf(t.OccurredAt.Time, zone), CostOf(category), Cash, t.Amount)
	return Sum(k.postings)
}
