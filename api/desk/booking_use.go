package desk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/desk/yard"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rental/price"
)

// Handover is what is noted when a vehicle changes hands.
type Handover struct {
	At         time.Time // now unless given; never later
	MileageMi  *int
	FuelPct    *float64
	Battery    *int
	Inspection *record.Inspection
	LocationID string   // of a return elsewhere than planned
	Confirm    []string // what is right though it looks like a typing error: ConfirmMileage

	in                           string // pointer to what the handover is in the body
	mileageIn, fuelIn, batteryIn string // pointers to the members in which those were
}

// seen is the handover with what was noted in its inspection alone.
func (h Handover) seen() Handover {
	h.mileageIn, h.fuelIn, h.batteryIn = h.in+"/mileage_mi", h.in+"/fuel_pct", h.in+"/battery_level"
	if i := h.Inspection; i != nil && h.MileageMi == nil {
		h.MileageMi, h.mileageIn = i.MileageMi, h.in+"/inspection/mileage_mi"
	}
	if i := h.Inspection; i != nil && h.FuelPct == nil {
		h.FuelPct, h.fuelIn = i.FuelPct, h.in+"/inspection/fuel_pct"
	}
	return h
}

// skew is by how much the clocks of callers may be ahead of ours.
const skew = time.Minute

// at is when a handover took place.
func (h *Handover) at(now time.Time) (time.Time, error) {
	return happened(h.At, now, h.in+"/at", "a handover is noted when it has taken place, and is now unless at is given")
}

// happened is when something took place that is written down now: now unless it is said, and never later.
func happened(at, now time.Time, pointer, about string) (time.Time, error) {
	if at.After(now.Add(skew)) {
		return now, fault(pointer, "is in the future; "+about)
	}
	if at.IsZero() || at.After(now) {
		return now, nil
	}
	return at, nil
}

// takenPlace is when an order was carried out that is written down now: not before the booking was made, nor more than
// a year before the pickup of one that was written down afterwards itself.
func (o *Order) takenPlace(now time.Time, r *record.Record[record.Booking]) (time.Time, error) {
	at, err := happened(o.At, now, "/at", "it is when it took place, and now unless it is given")
	first, why := r.CreatedAt, "before the booking was made"
	if b := &r.Body; b.Backdated {
		first, why = b.PickupAt.AddDate(-1, 0, 0), "more than a year before the pickup"
	}
	if err == nil && !o.At.IsZero() && at.Before(first) {
		err = fault("/at", "is "+why+": it is not before "+first.UTC().Format(time.RFC3339))
	}
	return at, err
}

// fits refuses the level of what a vehicle does not have: it would be charged for.
func (h *Handover) fits(v *record.Vehicle) error {
	switch v.FuelType {
	case "electric":
		if h.FuelPct != nil {
			return fault(h.fuelIn, "is of a tank, and the vehicle is electric; give battery_level")
		}
	case "gasoline", "diesel", "cng", "lpg":
		if h.Battery != nil {
			return fault(h.batteryIn, "is of a traction battery, and the vehicle runs on "+v.FuelType+"; give fuel_pct")
		}
	}
	return nil
}

// fault is a body that is not acceptable for one member.
func fault(pointer, detail string) error {
	return fleet.Invalid(fleet.FieldError{Pointer: pointer, Code: "invalid", Detail: detail})
}

// Pickup hands the vehicle over. An early one holds the vehicle from then on, is charged (by more than rental.Early)
// for the days more that it makes, and is refused if somebody else has the vehicle; so is any pickup of one that has
// not come back. Of those to whom it was sold twice whoever comes first gets it.
func (d *Desk) Pickup(ctx context.Context, o Order, h Handover) (record.Record[record.Booking], error) {
	h, o.said = h.seen(), &saying{}
	return d.command(ctx, o, rental.Pickup, holding.Keep,
		func(ctx context.Context, next *record.Record[record.Booking]) error {
			b := &next.Body
			at, err := h.at(d.Now())
			if err != nil {
				return err
			}
			id, err := fleet.ParseID(fleet.VehiclePrefix, b.VehicleID)
			if err != nil {
				return fleet.NewError(fleet.CodeConflict, "The booking has no vehicle. Assign one first.",
					fleet.FieldError{Pointer: "/vehicle_id", Code: "required",
						Detail: "no vehicle is assigned; assign_vehicle gives the booking one"})
			}
			v, err := base.Recall(ctx, d.Vehicles, o.Account, id)
			if err != nil {
				return err
			}
			if !d.Past && !b.Bygone() {
				if v.Body.StatusCause != name(o.Booking) {
					if err := atHand(b.VehicleID, &v.Body); err != nil {
						return err
					}
				}
				if err := d.Yard.Safe(ctx, o.Account, id); err != nil {
					return err
				}
			}
			if err := h.fits(&v.Body); err != nil {
				return err
			}
			settings, _, err := d.settings(ctx, o.Account)
			if err != nil {
				return err
			}
			if settings.DepositDue != "never" {
				if err := depositGiven(b, d.Now()); err != nil {
					return err
				}
			}
			if err := d.Persons.MayDrive(ctx, o.Account, b, settings); err != nil {
				return err
			}
			if !at.Before(b.ReturnAt.Time) {
				if h.At.IsZero() {
					return fault("/at", "is needed, because return_at has passed by: give when the vehicle was picked up, or extend the booking first if it goes out now")
				}
				return fault("/at", "is not before return_at; extend the booking first")
			}
			until := d.Now()
			if b.Bygone() {
				until = b.ReturnAt.Time
			}
			if err := d.hadIt(ctx, o, b, &h, at, until); err != nil {
				return err
			}
			if b.PickupMeterMi, err = d.Yard.Believed(ctx, o.Account, b.VehicleID, at, h.MileageMi, h.mileageIn,
				h.Confirm); err != nil {
				return err
			}
			b.ActualPickupAt, b.PickupMileageMi, b.PickupFuelPct, b.PickupBattery =
				record.InstantOf(at), h.MileageMi, h.FuelPct, h.Battery
			b.ImportedPickup = false
			b.LicenceCheckedAt = record.InstantOf(d.Now())
			if at.Before(b.BlockedFrom.Time) {
				b.BlockedFrom = record.InstantOf(at)
			}
			d.inspected(b, "pickup", &h, at)
			if err := d.pricedFrom(b, at); err != nil {
				return err
			}
			b.PickupCharges = nil
			for i := range b.Charges {
				b.PickupCharges = append(b.PickupCharges, b.Charges[i].ID)
			}
			return nil
		})
}

// atHand refuses to hand over a vehicle that is not there to be, and says what has it.
func atHand(vehicle string, v *record.Vehicle) error {
	if v.Status == record.VehicleAvailable || v.Status == record.VehicleTurnaround {
		return nil
	}
	why := ""
	if v.StatusCause != "" {
		why = " by " + v.StatusCause
	} else if v.StatusReason != "" {
		why = " (" + v.StatusReason + ")"
	}
	return fleet.NewError(fleet.CodeConflict,
		fmt.Sprintf("The vehicle %s is %s%s and cannot be handed over.", vehicle, v.Status, why))
}

// pricedFrom charges what it costs that a vehicle is picked up well before the time that was agreed. A price that was
// not worked out from terms stays, and so does one that was kept when the pickup was moved: it is of other days.
func (d *Desk) pricedFrom(b *record.Booking, at time.Time) error {
	s := b.RateSnapshot
	if s == nil || s.Rate == nil || !early(b) {
		return nil
	}
	snapshot, charges, err := price.PickedUp(s, agreed(b), at)
	if err != nil {
		return err
	}
	d.lines(b, charges)
	b.RateSnapshot, b.BilledDays = &snapshot, snapshot.BilledDays
	return nil
}

// early says whether a booking was picked up so early that it is charged for. A price that was kept when the pickup was
// moved is of other days.
func early(b *record.Booking) bool {
	basis := &b.RateSnapshot.Basis
	priced := basis.PickupAt
	if !basis.AgreedPickupAt.IsZero() {
		priced = basis.AgreedPickupAt
	}
	return b.PickupAt.Sub(b.ActualPickupAt.Time) > rental.Early && priced.Equal(b.PickupAt.Time)
}

// inspected adds the inspection of a handover.
func (d *Desk) inspected(b *record.Booking, kind string, h *Handover, at time.Time) {
	if h.Inspection == nil {
		return
	}
	i := *h.Inspection
	i.Type, i.Status = kind, "submitted"
	if i.MileageMi == nil {
		i.MileageMi = h.MileageMi
	}
	if i.FuelPct == nil {
		i.FuelPct = h.FuelPct
	}
	d.addInspection(b, i, at)
}

// Return takes the vehicle back: what was driven too far, too long or not refuelled is charged, and the vehicle is held
// until its buffer after the return. A late return never takes the vehicle from whoever has it next.
func (d *Desk) Return(ctx context.Context, o Order, h Handover) (record.Record[record.Booking], error) {
	h, o.said = h.seen(), &saying{}
	var clip time.Time // the vehicle is somebody else's from here on
	for {
		rec, err := d.command(ctx, o, rental.Return, holding.Keep,
			func(ctx context.Context, next *record.Record[record.Booking]) error {
				return d.returned(ctx, o, next, h, clip)
			})
		taken, ok := errors.AsType[*calendar.ConflictError](err)
		if !ok || !clip.IsZero() && !taken.Hold.From.Before(clip) {
			return rec, err
		}
		clip = taken.Hold.From.Time
	}
}

func (d *Desk) returned(ctx context.Context, o Order, next *record.Record[record.Booking], h Handover,
	clip time.Time) error {
	b := &next.Body
	at, err := h.at(d.Now())
	if err != nil {
		return err
	}
	if h.At.IsZero() && b.Backdated {
		was, err := d.Bookings.Get(ctx, o.Account, o.Booking)
		if err != nil {
			return err
		}
		if was.Body.Bygone() {
			return fault("/at", "is needed, because the pickup was written down after return_at: give when the vehicle was back, even if that is only now")
		}
	}
	if at.Before(b.ActualPickupAt.Time) {
		return fault("/at", "is before the pickup at "+b.ActualPickupAt.Format(time.RFC3339))
	}
	if err := d.hadIt(ctx, o, b, &h, last(b).From.Time, at); err != nil {
		return err
	}
	if h.MileageMi != nil && b.PickupMileageMi != nil && *h.MileageMi < *b.PickupMileageMi {
		return fault(h.mileageIn, lessThanTaken(*b.PickupMileageMi))
	}
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, b.VehicleID)
	if err != nil {
		return err
	}
	v, err := base.Recall(ctx, d.Vehicles, o.Account, vehicle)
	if err != nil {
		return err
	}
	if err := h.fits(&v.Body); err != nil {
		return err
	}
	if _, err := d.Yard.Believed(ctx, o.Account, b.VehicleID, at, h.MileageMi, h.mileageIn, h.Confirm,
		yard.TakenWith(last(b))...); err != nil {
		return err
	}
	if h.LocationID != "" && h.LocationID != b.ReturnLocationID {
		if b.ElsewhereFee, err = d.feeElsewhere(ctx, o.Account, b, h.LocationID); err != nil {
			return err
		}
		b.AgreedReturnID, b.ReturnLocationID = new(b.ReturnLocationID), h.LocationID
	}
	_, after, err := d.buffers(ctx, o.Account, b)
	if err != nil {
		return err
	}
	b.ActualReturnAt, b.ReturnMileageMi, b.ReturnFuelPct, b.ReturnBattery =
		record.InstantOf(at), h.MileageMi, h.FuelPct, h.Battery
	b.ImportedReturn = false
	until := at.Add(after)
	if !clip.IsZero() && until.After(clip) {
		until = clip
	}
	if least := b.BlockedFrom.Add(time.Millisecond); until.Before(least) {
		until = least
	}
	b.BlockedUntil = record.InstantOf(until)
	if b.RateSnapshot != nil {
		charges, err := price.AtReturn(b.RateSnapshot, agreed(b), cameBack(b))
		if err != nil {
			return err
		}
		b.ReturnCharges = d.lines(b, charges)
	}
	d.inspected(b, "return", &h, at)
	return nil
}

// hadIt refuses a handover that is written down afterwards, if by that another booking had the vehicle at the same
// time. One of now is never refused for what was noted before.
func (d *Desk) hadIt(ctx context.Context, o Order, b *record.Booking, h *Handover, from, until time.Time) error {
	if h.At.IsZero() || d.Past {
		return nil
	}
	return d.nobodyElse(ctx, o, b.VehicleID, from, until)
}

// last is the leg of a rental with the vehicle that it has now, or had last.
func last(b *record.Booking) rental.Leg {
	legs := rental.Legs(b)
	return legs[len(legs)-1]
}

// cameBack is how the vehicle of a booking came back.
func cameBack(b *record.Booking) price.Returned {
	fuel, battery := rental.Missing(b)
	return price.Returned{At: b.ActualReturnAt.Time, MilesDriven: rental.MilesDriven(b), OneWayFee: b.ElsewhereFee,
		FuelMissingPct: fuel, BatteryMissingPct: battery}
}

// lessThanTaken is said of what was read off an odometer later, and is less than what it showed at pickup.
func lessThanTaken(miles int) string {
	return fmt.Sprintf("is less than the %d miles at pickup; if those are a typing error, correct the pickup first", miles)
}

// feeElsewhere is what it costs to return a booking's vehicle at a location that was not agreed, nil for nothing.
func (d *Desk) feeElsewhere(ctx context.Context, account fleet.AccountID, b *record.Booking,
	location string) (*record.Money, error) {
	if err := d.LocationExists(ctx, account, "/return_location_id", location); err != nil || b.RateSnapshot == nil ||
		b.RateSnapshot.Rate == nil {
		return nil, err
	}
	var back *record.Record[record.Location]
	var home *record.Record[record.Account]
	if err := follow(ctx, account, d.Locations, location, &back); err != nil {
		return nil, err
	}
	if err := follow(ctx, account, d.Accounts, account.String(), &home); err != nil || home == nil {
		return nil, err
	}
	return oneWayFee(b.RateSnapshot.Rate, oneWayFees(&home.Body), b.PickupLocationID, back), nil
}

// agreed is when a booking says that it is picked up and returned.
func agreed(b *record.Booking) price.Agreed {
	return price.Agreed{PickupAt: b.PickupAt.Time, ReturnAt: b.ReturnAt.Time}
}

// Extend moves the return, later or earlier. The difference is charged by the terms that were agreed.
func (d *Desk) Extend(ctx context.Context, o Order, returnAt time.Time) (record.Record[record.Booking], error) {
	return d.command(ctx, o, rental.Extend, holding.Ask,
		func(ctx context.Context, next *record.Record[record.Booking]) error {
			b := &next.Body
			fields := b.BookingFields
			fields.ReturnAt = record.InstantOf(returnAt)
			if err := checkPeriod(&fields); err != nil {
				return err
			}
			if b.Status == record.BookingActive && (!b.ActualPickupAt.Before(returnAt) || !b.BlockedFrom.Before(returnAt)) {
				return fault("/return_at", "is not after the vehicle was picked up at "+b.ActualPickupAt.Format(time.RFC3339)+
					"; return it instead")
			}
			was := agreed(b)
			if now := d.Now(); b.Status == record.BookingActive && !b.Backdated && returnAt.Before(now.Add(-past)) &&
				!returnAt.Equal(was.ReturnAt) {
				return fault("/return_at", "lies "+ageOf(now.Sub(returnAt))+
					" ago; return the vehicle instead, at that time if it was back by then")
			}
			_, after, err := d.buffers(ctx, o.Account, b)
			if err != nil {
				return err
			}
			if returnAt.After(was.ReturnAt) {
				v, err := d.VehicleOf(ctx, o.Account, b.VehicleID)
				if err != nil {
					return err
				}
				if fault, err := d.notInFleet(ctx, o.Account, v, &fields); err != nil || fault != nil {
					if err == nil {
						err = unfit([]fleet.FieldError{*fault})
					}
					return err
				}
			}
			b.ReturnAt, b.BlockedUntil = fields.ReturnAt, record.InstantOf(returnAt.Add(after))
			b.OverdueNotedAt = record.Instant{}
			if err := d.openForReturn(ctx, o.Account, b); err != nil {
				return err
			}
			settings, _, err := d.settings(ctx, o.Account)
			if err != nil {
				return err
			}
			if err := d.Persons.MayDrive(ctx, o.Account, b, settings); err != nil {
				return err
			}
			if b.RateSnapshot == nil {
				return nil
			}
			snapshot, charges, err := price.Extend(b.RateSnapshot, was, returnAt)
			if err != nil {
				return err
			}
			d.lines(b, charges)
			b.RateSnapshot, b.BilledDays = &snapshot, snapshot.BilledDays
			return nil
		})
}

// SwapRequest is which vehicle a booking gets instead.
type SwapRequest struct {
	VehicleID       string
	Reason          string
	MileageMi       *int     // of the vehicle that is given back
	FuelPct         *float64 // likewise
	Battery         *int     // likewise
	PickupMileageMi *int     // of the one that is driven off with instead
	PickupFuelPct   *float64 // likewise
	PickupBattery   *int     // likewise
	Reprice         bool     // by what the new vehicle costs; only before the rental begins
	Elsewhere       bool     // it may be one that will be at another location at pickup
	Confirm         []string // as Handover has it
}

// Swap gives a booking another vehicle; during the rental from now on. What it had is kept in its history.
func (d *Desk) Swap(ctx context.Context, o Order, req SwapRequest) (record.Record[record.Booking], error) {
	return d.command(ctx, o, rental.Swap, holding.Ask,
		func(ctx context.Context, next *record.Record[record.Booking]) error {
			b := &next.Body
			if b.VehicleID == "" {
				return fleet.NewError(fleet.CodeConflict, "The booking has no vehicle to swap. Assign one instead.")
			}
			if b.VehicleID == req.VehicleID {
				return fault("/vehicle_id", "is the vehicle that the booking has")
			}
			if b.Bygone() {
				return fleet.NewError(fleet.CodeConflict,
					"The rental was over when its pickup was written down. Return it, or extend it first if the vehicle is still out.")
			}
			now := d.Now()
			was := record.VehicleSwap{VehicleID: b.VehicleID, Until: record.InstantOf(now), Reason: req.Reason}
			if b.Status == record.BookingActive {
				if req.MileageMi != nil && b.PickupMileageMi != nil && *req.MileageMi < *b.PickupMileageMi {
					return fault("/mileage_mi", lessThanTaken(*b.PickupMileageMi))
				}
				if _, err := d.Yard.Believed(ctx, o.Account, b.VehicleID, now, req.MileageMi, "/mileage_mi", req.Confirm,
					yard.TakenWith(last(b))...); err != nil {
					return err
				}
				given, err := d.VehicleOf(ctx, o.Account, b.VehicleID)
				if err != nil {
					return err
				}
				if err := (&Handover{FuelPct: req.FuelPct, Battery: req.Battery, fuelIn: "/fuel_pct",
					batteryIn: "/battery_level"}).fits(&given.Body); err != nil {
					return err
				}
				was.From, was.PickupMileageMi, was.PickupMeterMi, was.MileageMi =
					rental.DrivenSince(b), b.PickupMileageMi, b.PickupMeterMi, req.MileageMi
				was.PickupFuelPct, was.PickupBattery, was.FuelPct, was.Battery =
					b.PickupFuelPct, b.PickupBattery, req.FuelPct, req.Battery
				b.PickupMileageMi, b.PickupFuelPct, b.PickupBattery = req.PickupMileageMi, req.PickupFuelPct, req.PickupBattery
			}
			b.VehicleSwaps = append(b.VehicleSwaps, was)
			b.Elsewhere = req.Elsewhere || b.Status == record.BookingActive // on the road it is given where the customer is
			v, err := d.give(ctx, o.Account, b, req.VehicleID)
			if err != nil {
				return err
			}
			if b.Status == record.BookingActive {
				if err := atHand(b.VehicleID, &v.Body); err != nil {
					return err
				}
				taken := Handover{FuelPct: req.PickupFuelPct, Battery: req.PickupBattery, fuelIn: "/pickup_fuel_pct",
					batteryIn: "/pickup_battery_level"}
				if err := taken.fits(&v.Body); err != nil {
					return err
				}
				if b.PickupMeterMi, err = d.Yard.Believed(ctx, o.Account, b.VehicleID, now, req.PickupMileageMi,
					"/pickup_mileage_mi", req.Confirm); err != nil {
					return err
				}
				b.BlockedFrom = record.InstantOf(now)
				if until := now.Add(time.Millisecond); b.BlockedUntil.Before(until) {
					b.BlockedUntil = record.InstantOf(until)
				}
				return nil
			}
			if req.Reprice {
				return d.reprice(ctx, o.Account, b)
			}
			return nil
		})
}

// Assign gives a booking of a class its vehicle, or another one before the rental; the price stays. It must be at the
// location of pickup then, unless elsewhere says that somebody brings it.
func (d *Desk) Assign(ctx context.Context, o Order, vehicleID string,
	elsewhere bool) (record.Record[record.Booking], error) {
	return d.command(ctx, o, rental.Assign, holding.Ask,
		func(ctx context.Context, next *record.Record[record.Booking]) error {
			b := &next.Body
			if b.VehicleID == vehicleID {
				return nil
			}
			if b.VehicleID != "" {
				b.VehicleSwaps = append(b.VehicleSwaps,
					record.VehicleSwap{VehicleID: b.VehicleID, Until: record.InstantOf(d.Now()), Reason: "another one was assigned"})
			}
			b.Elsewhere = elsewhere
			_, err := d.give(ctx, o.Account, b, vehicleID)
			return err
		})
}

// give gives a booking a vehicle: one of another class is an upgrade, or the opposite. Its buffers hold from now on.
func (d *Desk) give(ctx context.Context, account fleet.AccountID, b *record.Booking,
	vehicleID string) (record.Record[record.Vehicle], error) {
	id, err := fleet.ParseID(fleet.VehiclePrefix, vehicleID)
	if err != nil {
		return record.Record[record.Vehicle]{}, noVehicle(vehicleID)
	}
	v, err := base.Recall(ctx, d.Vehicles, account, id)
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return v, noVehicle(vehicleID)
	}
	if err != nil {
		return v, err
	}
	if err := d.rentable(ctx, account, &v, &b.BookingFields); err != nil {
		return v, err
	}
	b.VehicleID = vehicleID
	if class := v.Body.ClassID; class != "" && class != b.VehicleClassID {
		if b.UpgradedFrom == "" {
			b.UpgradedFrom = b.VehicleClassID
		}
		if b.VehicleClassID = class; class == b.UpgradedFrom {
			b.UpgradedFrom = ""
		}
	}
	before, after, err := d.buffers(ctx, account, b)
	if err != nil {
		return v, err
	}
	block(b, before, after)
	return v, nil
}

func noVehicle(id string) error {
	return fleet.Invalid(fleet.NoSuch("/vehicle_id", "vehicle", fleet.VehiclePrefix, id))
}

// reprice prices a booking that has not begun anew, by the rates of today.
func (d *Desk) reprice(ctx context.Context, account fleet.AccountID, b *record.Booking) error {
	fields := b.BookingFields
	fields.RatePlanID = ""
	snapshot, found, err := d.priceThere(ctx, account, fields)
	if err != nil {
		return err
	}
	b.RatePlanID = found.Fields.RatePlanID
	return d.repriced(b, &snapshot)
}
