package desk

import (
	"context"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rental/price"
)

// mostItems bounds the charges, inspections and damages of one booking, each.
const mostItems = 1000

// AddCharge posts lines to a booking, all or none, with the taxes that are due on them. A line is never edited. One
// whose id is there already is not posted twice.
func (d *Desk) AddCharge(ctx context.Context, o Order, lines ...record.Charge) (record.Record[record.Booking], error) {
	return d.command(ctx, o, rental.Charge, holding.Ask,
		func(_ context.Context, next *record.Record[record.Booking]) error {
			return d.dated(o, next, func() error { return d.chargeAll(&next.Body, o.By, lines) })
		})
}

// dated has the lines that are posted to a booking count when the order says that they came about.
func (d *Desk) dated(o Order, next *record.Record[record.Booking], post func() error) error {
	b, n := &next.Body, len(next.Body.Charges)
	if err := post(); err != nil || o.At.IsZero() {
		return err
	}
	at, err := o.takenPlace(d.Now(), next)
	if err != nil {
		return err
	}
	first := next.CreatedAt
	if b.PickupAt.Before(first) {
		first = b.PickupAt.Time
	}
	for _, c := range b.Charges[n:] {
		if i := slices.IndexFunc(b.Charges, func(o record.Charge) bool { return o.ID == c.ReversalOf }); i >= 0 &&
			first.Before(b.Charges[i].Since()) {
			first = b.Charges[i].Since()
		}
	}
	if at.Before(first) {
		return fault("/at", "is before there was anything to charge or to take back, at "+first.UTC().Format(time.RFC3339))
	}
	for i := range b.Charges[n:] {
		b.Charges[n+i].At = record.InstantOf(at)
	}
	return nil
}

// mayCharge refuses lines that AddCharge would refuse. Their ids come from what is billed: those that are there already
// were billed before.
func (d *Desk) mayCharge(ctx context.Context, o Order, lines []record.Charge) error {
	trial, err := d.mayChange(ctx, o, func(*record.Booking) bool { return true })
	if err != nil {
		return err
	}
	return d.chargeAll(trial, record.Author{}, lines)
}

// mayChange returns a copy of a booking to try a change of its lines on, or refuses because it takes none; nil if
// nothing needs to change.
func (d *Desk) mayChange(ctx context.Context, o Order, needs func(*record.Booking) bool) (*record.Booking, error) {
	rec, err := d.Bookings.Get(ctx, o.Account, o.Booking)
	if err != nil || !needs(&rec.Body) {
		return nil, err
	}
	if rec.Archived() {
		return nil, fleet.NewError(fleet.CodeConflict, "The booking "+name(o.Booking)+" is archived and cannot be changed.")
	}
	if _, err := rental.Next(rec.ID, rec.Body.Status, rental.Charge); err != nil {
		return nil, err
	}
	trial := copyOf(rec)
	return &trial.Body, nil
}

func (d *Desk) chargeAll(b *record.Booking, by record.Author, lines []record.Charge) error {
	for _, c := range lines {
		if slices.ContainsFunc(b.Charges, func(o record.Charge) bool { return o.ID == c.ID }) {
			if err := by.Found(); err != nil {
				return err
			}
			continue
		}
		if err := d.charge(b, c); err != nil {
			return err
		}
	}
	return nil
}

func (d *Desk) charge(b *record.Booking, c record.Charge) error {
	if len(b.Charges) >= mostItems {
		return fleet.NewError(fleet.CodeConflict, "The booking has too many charges.")
	}
	if b.Currency == "" {
		b.Currency = c.Amount.Currency
	}
	if c.Amount.Currency != b.Currency {
		return fault("/unit_price/currency", "must be "+b.Currency+", in which the booking is charged")
	}
	added, err := price.ByHand(taxRates(b), b.Currency, b.Charges, c)
	if err != nil {
		return err
	}
	d.lines(b, added)
	return nil
}

// taxRates are the taxes of a booking, as they were agreed; none of one that was not priced.
func taxRates(b *record.Booking) []record.TaxRate {
	if b.RateSnapshot == nil {
		return nil
	}
	return b.RateSnapshot.Taxes
}

// ReverseCharge takes a line back by another one of the opposite amount, under the id given, and the taxes on it.
func (d *Desk) ReverseCharge(ctx context.Context, o Order,
	charge, newID, why string) (record.Record[record.Booking], error) {
	return d.command(ctx, o, rental.Charge, holding.Ask,
		func(_ context.Context, next *record.Record[record.Booking]) error {
			b := &next.Body
			if slices.ContainsFunc(b.Charges, func(c record.Charge) bool { return c.ID == newID }) {
				return o.By.Found()
			}
			return d.dated(o, next, func() error { return d.takeBack(b, charge, newID, why) })
		})
}

// mayTakeBack refuses to take back a line that ReverseCharge would refuse to. One that does not stand needs nothing.
func (d *Desk) mayTakeBack(ctx context.Context, o Order, line string) error {
	trial, err := d.mayChange(ctx, o, func(b *record.Booking) bool { return onTheBill(b, line) })
	if err != nil || trial == nil {
		return err
	}
	before := slices.Clone(trial.Charges)
	if err := d.takeBack(trial, line, "", ""); err != nil {
		return err
	}
	return discountsFit(before, trial.Charges)
}

// takeBack takes a line back, and the taxes on it.
func (d *Desk) takeBack(b *record.Booking, line, newID, why string) error {
	if err := d.reverse(b, line, newID, why); err != nil {
		return err
	}
	return d.retax(b, nil)
}

// onTheBill says whether a booking has a line that was not reversed.
func onTheBill(b *record.Booking, line string) bool {
	return slices.ContainsFunc(rental.Standing(b.Charges), func(c record.Charge) bool { return c.ID == line })
}

// SetDeposit does something with the deposit of a booking: authorize, capture, release or apply.
func (d *Desk) SetDeposit(ctx context.Context, o Order,
	order rental.DepositOrder) (record.Record[record.Booking], error) {
	return d.command(ctx, o, rental.Deposit, holding.Ask,
		func(ctx context.Context, next *record.Record[record.Booking]) error {
			order, err := order, error(nil)
			if order.At, err = o.takenPlace(d.Now(), next); err != nil {
				return err
			}
			if moves := next.Body.Deposit.Moves; len(moves) > 0 && order.At.Before(moves[len(moves)-1].At.Time) {
				return fault("/at", "is before what was done with the deposit last, at "+
					moves[len(moves)-1].At.UTC().Format(time.RFC3339))
			}
			if order.Action == rental.Apply && next.Body.Deposit.Status == record.DepositCaptured {
				_, due, err := d.Books.Owes(ctx, o.Account, o.Booking, &next.Body)
				if err != nil {
					return err
				}
				if due = max(0, due); order.Amount == 0 {
					order.Amount = min(due, rental.Held(&next.Body.Deposit))
				}
				if order.Amount > due || due == 0 {
					return fault("/amount/amount",
						"is more than the "+price.Format(record.Money{Amount: due, Currency: next.Body.Currency})+
							" that the customer owes; release what is left of the deposit")
				}
			}
			return rental.SetDeposit(o.Booking, &next.Body.Deposit, order)
		})
}

// AddInspection adds an inspection to a booking.
func (d *Desk) AddInspection(ctx context.Context, o Order, i record.Inspection) (record.Record[record.Booking], error) {
	return d.command(ctx, o, rental.Inspect, holding.Ask,
		func(_ context.Context, next *record.Record[record.Booking]) error {
			if len(next.Body.Inspections) >= mostItems {
				return fleet.NewError(fleet.CodeConflict, "The booking has too many inspections.")
			}
			if slices.ContainsFunc(next.Body.Inspections, func(other record.Inspection) bool { return other.ID == i.ID }) {
				return o.By.Found()
			}
			d.addInspection(&next.Body, i, d.Now())
			return nil
		})
}

func (d *Desk) addInspection(b *record.Booking, i record.Inspection, at time.Time) {
	if i.ID == "" {
		i.ID = fleet.FormatID(fleet.InspectionPrefix, d.Store.NextID())
	}
	if i.At.IsZero() {
		i.At = record.InstantOf(at)
	}
	if i.Status == "" {
		i.Status = "submitted"
	}
	b.Inspections = append(b.Inspections, i)
}

// AddDamage reports damage of the vehicle.
func (d *Desk) AddDamage(ctx context.Context, o Order, damage record.Damage) (record.Record[record.Booking], error) {
	return d.command(ctx, o, rental.Damage, holding.Ask,
		func(_ context.Context, next *record.Record[record.Booking]) error {
			if len(next.Body.Damages) >= mostItems {
				return fleet.NewError(fleet.CodeConflict, "The booking has too many damages.")
			}
			if slices.ContainsFunc(next.Body.Damages, func(other record.Damage) bool { return other.ID == damage.ID }) {
				return o.By.Found()
			}
			if damage.Status, damage.ChargeID = rental.DamageReported, ""; damage.ID == "" {
				damage.ID = fleet.FormatID(fleet.DamagePrefix, d.Store.NextID())
			}
			at, err := happened(damage.At.Time, d.Now(), "/at", "it is when the damage was found, and now unless it is given")
			if err != nil {
				return err
			}
			damage.At = record.InstantOf(at)
			next.Body.Damages = append(next.Body.Damages, damage)
			return nil
		})
}

// DamageRequest is what becomes of a damage.
type DamageRequest struct {
	ID       string
	Status   string
	Estimate *record.Money
	Charge   *record.Money // what is charged for it; the estimate unless given
}

// SetDamage moves a damage to another state. Charging it posts a charge.
func (d *Desk) SetDamage(ctx context.Context, o Order, req DamageRequest) (record.Record[record.Booking], error) {
	return d.command(ctx, o, rental.Damage, holding.Ask,
		func(_ context.Context, next *record.Record[record.Booking]) error {
			b := &next.Body
			at := slices.IndexFunc(b.Damages, func(v record.Damage) bool { return v.ID == req.ID })
			if at < 0 {
				return fleet.NewError(fleet.CodeNotFound, "The booking has no damage "+req.ID+".")
			}
			damage := &b.Damages[at]
			if err := rental.SetDamage(damage, req.Status); err != nil {
				return err
			}
			if req.Estimate != nil {
				damage.Estimate = req.Estimate
			}
			if req.Status != rental.DamageCharged {
				return nil
			}
			amount := req.Charge
			if amount == nil {
				amount = damage.Estimate
			}
			if amount == nil {
				return fault("/charge", "must be given, for nobody has estimated the damage: what the customer is to pay")
			}
			if amount.Amount <= 0 {
				return fault("/charge/amount", "must be above 0; a damage that costs the customer nothing is waived")
			}
			line := fleet.FormatID(fleet.ChargePrefix, d.Store.NextID())
			if err := d.dated(o, next, func() error {
				return d.charge(b, record.Charge{ID: line, Type: "damage", Description: cut(damage.Description, 300), Quantity: 1,
					UnitPrice: *amount, Amount: *amount, Source: "manual",
					Explanation: "For the damage that was noted on " +
						damage.At.In(fleet.ZoneOf(b.Timezone)).Format(time.DateOnly) + "."})
			}); err != nil {
				return err
			}
			damage.ChargeID = line
			return nil
		})
}
