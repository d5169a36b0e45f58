package desk

import (
	"context"
	"errors"
	"reflect"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
)

// Change changes what callers write of a booking. Times, vehicle, class, customer and whatever the price depends on can be changed before
// the rental begins; they take the calendar as a new booking would, and are priced anew unless keepPrice says that what was agreed holds.
// The rest (notes, references) can be changed in every state.
func (d *Desk) Change(ctx context.Context, o Order, keepPrice bool, mutate func(*record.Record[record.Booking]) error) (record.Record[record.Booking], error) {
	action := rental.Charge
	for {
		rec, err := d.command(ctx, o, action, ask, func(ctx context.Context, next *record.Record[record.Booking]) error {
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
func (d *Desk) changed(ctx context.Context, o Order, was *record.BookingFields, b *record.Booking, action rental.Action, keepPrice bool) error {
	late := d.notPast(&b.BookingFields)
	planned, other := planOf(was), planOf(&b.BookingFields)
	if reflect.DeepEqual(planned, other) {
		return nil // what is only said to be backdated now keeps its price
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
	if same := ask.RatePlanID == was.RatePlanID && (ask.VehicleClassID != was.VehicleClassID || ask.VehicleID != was.VehicleID || ask.Channel != was.Channel); same {
		ask.RatePlanID = "" // another one may fit better
	}
	snapshot, found, err := d.priceAgain(ctx, o.Account, *was, ask)
	if err != nil {
		return err
	}
	if err := rentable(found.Vehicle); err != nil {
		return err
	}
	if was.VehicleID != "" && was.VehicleID != b.VehicleID {
		b.VehicleSwaps = append(b.VehicleSwaps, record.VehicleSwap{VehicleID: was.VehicleID, Until: record.InstantOf(d.Now()), Reason: "the booking was changed"})
	}
	b.BookingFields, b.Timezone = found.Fields, found.Zone.String()
	if b.CustomerID == "" && b.Status == record.BookingConfirmed {
		return fault("/customer_id", "cannot be removed from a confirmed booking")
	}
	settings, _, err := d.settings(ctx, o.Account)
	if err != nil {
		return err
	}
	if err := d.mayDrive(ctx, o.Account, b, settings); err != nil {
		return err
	}
	block(b, found.BufferBefore, found.BufferAfter)
	if keepPrice {
		return nil
	}
	return d.repriced(b, &snapshot)
}

// planOf is the part of a booking's fields that its hold, its price and its customer hang on.
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
