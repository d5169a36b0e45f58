package desk

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
)

// Change changes what callers write of a booking. Times, vehicle, class, customer and whatever the price depends on can
// be changed before the rental begins; they take the calendar as a new booking would, and are priced anew unless
// keepPrice says that what was agreed holds. The rest (notes, references) can be changed in every state.
func (d *Desk) Change(ctx context.Context, o Order, keepPrice bool,
	mutate func(*record.Record[record.Booking]) error) (record.Record[record.Booking], error) {
	action := rental.Charge
	for {
		rec, err := d.command(ctx, o, action, holding.Ask,
			func(ctx context.Context, next *record.Record[record.Booking]) error {
				was := next.Body.BookingFields
				if err := mutate(next); fleet.CodeOf(err) == fleet.CodeStale {
					return refusedRevision{err}
				} else if err != nil {
					return err
				}
				return d.changed(ctx, o, &was, &next.Body, action, keepPrice)
			})
		if err == errPlanned {
			action = rental.Change
			continue
		}
		if t, ok := errors.AsType[*record.TransitionError](err); ok {
			t.Wanted = "a change"
		}
		return rec, err
	}
}

// errPlanned says that a change is one of what was planned, and is not allowed in every state.
var errPlanned = fleet.NewError(fleet.CodeConflict, "What was planned is to change.")

// changed completes a change of the fields of a booking.
func (d *Desk) changed(ctx context.Context, o Order, was *record.BookingFields, b *record.Booking, action rental.Action,
	keepPrice bool) error {
	late := d.notPast(&b.BookingFields)
	if samePlan(was, &b.BookingFields) {
		return nil // what is only said to be backdated now keeps its price
	}
	// What is left out is completed as in a new booking. Where that is what it was, nothing was changed by leaving it out.
	if given := b.BookingFields; samePlan(was, completedBy(&given, was)) {
		if r, err := d.Resolve(ctx, o.Account, b.BookingFields); err == nil && samePlan(was, &r.Fields) {
			b.BookingFields = r.Fields
			return nil
		}
	}
	if action != rental.Change {
		return errPlanned
	}
	if err := checkPeriod(&b.BookingFields); err != nil {
		return err
	}
	if late != nil && !b.PickupAt.Equal(was.PickupAt.Time) {
		return late
	}
	if b.VehicleID == "" && b.VehicleClassID == "" {
		return fault("/vehicle_class_id", "a booking is of a vehicle or of a vehicle class")
	}
	// Another vehicle is of the class that it is of, unless the caller names the class too.
	ask := b.BookingFields
	if ask.VehicleID != was.VehicleID && ask.VehicleID != "" && ask.VehicleClassID == was.VehicleClassID {
		ask.VehicleClassID = ""
	}
	if same := ask.RatePlanID == was.RatePlanID &&
		(ask.VehicleClassID != was.VehicleClassID || ask.VehicleID != was.VehicleID || ask.Channel != was.Channel); same {
		ask.RatePlanID = "" // another one may fit better
	}
	snapshot, found, err := d.priceAgain(ctx, o.Account, *was, ask)
	if err != nil {
		return err
	}
	if err := d.rentable(ctx, o.Account, found.Vehicle, &found.Fields); err != nil {
		return err
	}
	if was.VehicleID != "" && was.VehicleID != b.VehicleID {
		b.VehicleSwaps = append(b.VehicleSwaps,
			record.VehicleSwap{VehicleID: was.VehicleID, Until: record.InstantOf(d.Now()), Reason: "the booking was changed"})
	}
	b.BookingFields, b.Timezone = found.Fields, found.Zone.String()
	if b.CustomerID == "" && b.Status == record.BookingConfirmed {
		return fault("/customer_id", "cannot be removed from a confirmed booking")
	}
	settings, _, err := d.settings(ctx, o.Account)
	if err != nil {
		return err
	}
	if err := d.Persons.MayDrive(ctx, o.Account, b, settings); err != nil {
		return err
	}
	block(b, found.BufferBefore, found.BufferAfter)
	if keepPrice {
		return nil
	}
	return d.repriced(b, &snapshot)
}

// samePlan says whether two bookings are the same in what their hold, their price and their customer hang on, in
// whatever words.
func samePlan(a, b *record.BookingFields) bool { return reflect.DeepEqual(planOf(a), planOf(b)) }

// completedBy gives fields, where they have none, the values of others that a booking is completed with.
func completedBy(b, other *record.BookingFields) *record.BookingFields {
	b.Channel, b.VehicleClassID = cmp.Or(b.Channel, other.Channel), cmp.Or(b.VehicleClassID, other.VehicleClassID)
	b.PickupLocationID = cmp.Or(b.PickupLocationID, other.PickupLocationID)
	b.ReturnLocationID = cmp.Or(b.ReturnLocationID, other.ReturnLocationID)
	b.RatePlanID = cmp.Or(b.RatePlanID, other.RatePlanID)
	return b
}

// planOf is the part of a booking's fields that its hold, its price and its customer hang on, each value
// in one spelling.
func planOf(b *record.BookingFields) record.BookingFields {
	plan := *b
	plan.Backdated = false
	plan.ExternalReservationID, plan.SourceCampaign, plan.Notes, plan.DeliveryAddress = "", "", "", ""
	plan.ExternalRefs, plan.Metadata, plan.CustomFields = nil, nil, nil
	plan.Elsewhere = false // that a vehicle is brought costs nothing
	if b.DeliveryAddress != "" {
		plan.DeliveryAddress = "somewhere" // that it is delivered costs, not where to
	}
	plan.PickupAt, plan.ReturnAt = record.Instant{Time: b.PickupAt.UTC()}, record.Instant{Time: b.ReturnAt.UTC()}
	plan.Drivers, plan.Extras = nil, nil
	for _, e := range b.Extras {
		e.Quantity = max(1, e.Quantity)
		plan.Extras = append(plan.Extras, e)
	}
	slices.SortFunc(plan.Extras, func(x, y record.BookedExtra) int {
		return cmp.Or(strings.Compare(x.Code, y.Code), cmp.Compare(x.Quantity, y.Quantity))
	})
	if len(b.Drivers) != 1 || b.Drivers[0].CustomerID != b.CustomerID { // who drives unless somebody is named
		plan.Drivers = append(plan.Drivers, b.Drivers...)
	}
	slices.SortFunc(plan.Drivers, func(x, y record.Driver) int {
		return cmp.Or(strings.Compare(x.CustomerID, y.CustomerID), strings.Compare(x.Role, y.Role))
	})
	plan.PromoCode = strings.ToUpper(strings.TrimSpace(b.PromoCode))
	if b.ExpectedMi != nil && *b.ExpectedMi == 0 {
		plan.ExpectedMi = nil
	}
	return plan
}

// DuplicateRequest is what a duplicate has of its own.
type DuplicateRequest struct {
	ID       uint64
	PickupAt record.Instant // as the original's unless given
	ReturnAt record.Instant
	Confirm  bool

	Backdated bool // its pickup may lie in the past
}

// Duplicate makes a new booking of an old one, in whatever state that is: with its fields, at the rates of today.
func (d *Desk) Duplicate(ctx context.Context, o Order, req DuplicateRequest) (record.Record[record.Booking], error) {
	rec, err := d.Bookings.Get(ctx, o.Account, o.Booking)
	if err != nil {
		return rec, err
	}
	if o.If != nil {
		if err := o.If(rec.Revision); err != nil {
			return rec, err
		}
	}
	fields := rec.Body.BookingFields
	fields.ExternalReservationID, fields.ExternalRefs, fields.RatePlanID = "", nil, ""
	if rec.Body.UpgradedFrom != "" {
		fields.VehicleClassID = rec.Body.UpgradedFrom
	}
	fields.Backdated = req.Backdated
	if !req.PickupAt.IsZero() {
		fields.PickupAt = req.PickupAt
	}
	if !req.ReturnAt.IsZero() {
		fields.ReturnAt = req.ReturnAt
	}
	return d.Book(ctx, o.By, o.Account, BookRequest{ID: req.ID, Fields: fields, Confirm: req.Confirm, Of: name(o.Booking)})
}
