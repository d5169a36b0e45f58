package rental

import (
	"maps"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// The states of a vehicle. Moves that people make by hand have a reason; the others have a cause: the booking, the
// block or the work order from which they follow.
//
//	             ┌──────────── by hand ─────────────┐
//	inactive ────┴─> available ──pickup──> rented ──return, swap──> turnaround ──buffer over, inspected──> available
//	                  │    ^                ^                        │ │
//	     work started,│    │work done,      └────────pickup──────────┘ │
//	     block begins v    │block over                                 │
//	                 maintenance <──work started, block begins─────────┘
//
//	any but rented ──by hand──> out_of_service ──by hand──> available
//	any but rented ──by hand, disposal recorded──> retired
//	available, turnaround, maintenance ──disposal_on has come──> out_of_service
//
// vehicleByHand and vehicleByItself are the whole of it.
var vehicleByHand = map[string][]string{
	record.VehicleInactive:  {record.VehicleAvailable, record.VehicleOutOfService, record.VehicleRetired},
	record.VehicleAvailable: {record.VehicleMaintenance, record.VehicleOutOfService, record.VehicleRetired},
	record.VehicleTurnaround: {record.VehicleAvailable, record.VehicleMaintenance, record.VehicleOutOfService,
		record.VehicleRetired},
	record.VehicleMaintenance:  {record.VehicleAvailable, record.VehicleOutOfService, record.VehicleRetired},
	record.VehicleOutOfService: {record.VehicleAvailable, record.VehicleRetired},
	record.VehicleRented:       {},
	record.VehicleRetired:      {},
}

var vehicleByItself = map[string][]string{
	record.VehicleAvailable:   {record.VehicleRented, record.VehicleMaintenance},
	record.VehicleTurnaround:  {record.VehicleAvailable, record.VehicleRented, record.VehicleMaintenance},
	record.VehicleMaintenance: {record.VehicleAvailable},
	record.VehicleRented:      {record.VehicleTurnaround},
}

// VehicleStates lists every state of a vehicle.
var VehicleStates = slices.Sorted(maps.Keys(vehicleByHand))

// VehicleMove is a move of a vehicle to another state, or from one cause of its state to another.
type VehicleMove struct {
	To     string
	Reason string
	Cause  string         // a booking, a block or a work order; "" by hand
	Until  record.Instant // when the state ends by itself, if it does
}

// MoveVehicle moves a vehicle. A move that its state does not allow is a *record.TransitionError; a move by hand to the
// state that it is in, for the same reason, changes nothing, so that a repeated request is harmless.
func MoveVehicle(r *record.Record[record.Vehicle], m VehicleMove, now time.Time) error {
	v := &r.Body
	if v.Status == m.To && v.StatusReason == m.Reason && v.StatusCause == m.Cause {
		return nil
	}
	moves := vehicleByHand
	if m.Cause != "" {
		moves = vehicleByItself
	}
	if !slices.Contains(moves[v.Status], m.To) {
		return &record.TransitionError{What: "vehicle " + fleet.FormatID(fleet.VehiclePrefix, r.ID),
			Current: v.Status, Wanted: m.To,
			Allowed: append([]string{}, moves[v.Status]...)}
	}
	v.Status, v.StatusReason, v.StatusCause, v.StatusUntil, v.StatusSince =
		m.To, m.Reason, m.Cause, m.Until, record.InstantOf(now)
	return nil
}

// MayMoveVehicle says whether a vehicle in a state may go to another, by hand or by itself.
func MayMoveVehicle(from, to string, byHand bool) bool {
	if byHand {
		return slices.Contains(vehicleByHand[from], to)
	}
	return slices.Contains(vehicleByItself[from], to)
}

// Overruled says whether somebody put the vehicle by hand where it is, at or after an instant: what was to follow from
// something that happened then must not undo that.
func Overruled(v *record.Vehicle, at time.Time) bool {
	return v.StatusCause == "" && !v.StatusSince.Before(at)
}

// Backing is what there is of an account to rent a vehicle by.
type Backing struct {
	Classes, Locations bool // the account has some
	Rate               bool // the vehicle's class or some rate plan gives it a price
}

// UnfitForService says what a vehicle lacks to be put in service: a class, a price and a place. An account that has no
// classes only tracks its vehicles, and nothing is asked of them; one that has no locations has no place to give.
func UnfitForService(v *record.Vehicle, has Backing) []fleet.FieldError {
	if !has.Classes {
		return nil
	}
	var faults []fleet.FieldError
	lacks := func(member, what string) {
		faults = append(faults, fleet.FieldError{Pointer: "/" + member, Code: "required",
			Detail: "must be set before the vehicle is put in service: " + what})
	}
	if v.ClassID == "" {
		lacks("vehicle_class_id", "what it is rented as")
	}
	if v.RatePlanID == "" && v.DailyRate == nil && !has.Rate {
		lacks("rate_plan_id", "it, daily_rate, or a rate of its class gives its price")
	}
	if has.Locations && v.HomeLocationID == "" && v.CurrentLocationID == "" {
		lacks("home_location_id", "where it is picked up")
	}
	return faults
}
