package api

import (
	"context"
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
)

// BookingHandover is the body of pickup and return.
type BookingHandover struct {
	At         record.Instant     `json:"at,omitzero" doc:"When the vehicle changed hands; now unless given."`
	MileageMi  *int               `json:"mileage_mi,omitempty" minimum:"0" maximum:"3000000" doc:"Odometer; that of the inspection unless given. At return not below that at pickup. Without it miles beyond those included are not charged, and warnings and the timeline say that no reading was taken."`
	FuelPct    *float64           `json:"fuel_pct,omitempty" minimum:"0" maximum:"100" doc:"Of the tank; that of the inspection unless given. Refused for an electric vehicle."`
	Battery    *int               `json:"battery_level,omitempty" minimum:"0" maximum:"100" doc:"Of the traction battery, percent; refused for a vehicle without one."`
	Inspection *BookingInspection `json:"inspection,omitempty"`
	Location   string             `json:"return_location_id,omitempty" doc:"Of a return elsewhere than planned." example:"loc_1234"`

	Confirmed
}

// Confirmed is what is said to be right though it looks like a typing error.
type Confirmed struct {
	Confirm []string `json:"confirm,omitempty" maxItems:"10" nullable:"false" enum:"mileage" doc:"What is right though it looks like a typing error: mileage, of odometer readings that are far from the vehicle's odometer. They are refused with confirmation_required otherwise."`
}

// BookingCorrection is the body of correct.
type BookingCorrection struct {
	Reason string              `json:"reason" minLength:"1" maxLength:"500" doc:"Why; kept in corrections and told in the timeline." example:"a zero too many"`
	Pickup *HandoverCorrection `json:"pickup,omitempty" doc:"What was noted when the vehicle was picked up. What is not given stays."`
	Swaps  []SwapCorrection    `json:"swaps,omitempty" maxItems:"50" nullable:"false" doc:"What was noted when vehicles were swapped during the rental."`
	Return *ReturnCorrection   `json:"return,omitempty" doc:"What was noted when the vehicle was returned."`

	Confirmed
}

// HandoverCorrection is what is to stand of a pickup or a return.
type HandoverCorrection struct {
	At         record.Instant     `json:"at,omitzero" doc:"When the vehicle changed hands."`
	MileageMi  *int               `json:"mileage_mi,omitempty" minimum:"0" maximum:"3000000" doc:"Odometer; that of the inspection unless given."`
	FuelPct    *float64           `json:"fuel_pct,omitempty" minimum:"0" maximum:"100" doc:"Of the tank; that of the inspection unless given."`
	Battery    *int               `json:"battery_level,omitempty" minimum:"0" maximum:"100" doc:"Of the traction battery, percent."`
	Inspection *BookingInspection `json:"inspection,omitempty" doc:"In the place of the one that was made then, which stays in the list with superseded_by."`
}

func (h *HandoverCorrection) handover() *desk.Handover {
	if h == nil {
		return nil
	}
	return &desk.Handover{At: h.At.Time, MileageMi: h.MileageMi, FuelPct: h.FuelPct, Battery: h.Battery, Inspection: h.Inspection.record()}
}

// ReturnCorrection is what is to stand of a return.
type ReturnCorrection struct {
	HandoverCorrection
	Location string `json:"return_location_id,omitempty" doc:"Where the vehicle was returned." example:"loc_1234"`
}

func (c *ReturnCorrection) handover() *desk.Handover {
	if c == nil {
		return nil
	}
	h := c.HandoverCorrection.handover()
	h.LocationID = c.Location
	return h
}

// SwapCorrection is what is to stand of a swap during the rental.
type SwapCorrection struct {
	Swap            int            `json:"swap" minimum:"0" doc:"Which one: the place in vehicle_history, from 0, of the vehicle that was given back." example:"0"`
	At              record.Instant `json:"at,omitzero" doc:"When the vehicles were swapped."`
	MileageMi       *int           `json:"mileage_mi,omitempty" minimum:"0" maximum:"3000000" doc:"Odometer of the vehicle that was given back."`
	FuelPct         *float64       `json:"fuel_pct,omitempty" minimum:"0" maximum:"100" doc:"Of the tank of the vehicle that was given back."`
	Battery         *int           `json:"battery_level,omitempty" minimum:"0" maximum:"100" doc:"Of its traction battery, percent."`
	PickupMileageMi *int           `json:"pickup_mileage_mi,omitempty" minimum:"0" maximum:"3000000" doc:"Odometer of the vehicle that was driven off with instead."`
	PickupFuelPct   *float64       `json:"pickup_fuel_pct,omitempty" minimum:"0" maximum:"100" doc:"Of its tank."`
	PickupBattery   *int           `json:"pickup_battery_level,omitempty" minimum:"0" maximum:"100" doc:"Of its traction battery, percent."`
}

func (c *BookingCorrection) correction() desk.Correction {
	all := desk.Correction{Reason: c.Reason, Pickup: c.Pickup.handover(), Return: c.Return.handover(), Confirm: c.Confirm}
	for _, s := range c.Swaps {
		all.Swaps = append(all.Swaps, desk.SwapCorrection{Place: s.Swap, At: s.At.Time, MileageMi: s.MileageMi, FuelPct: s.FuelPct, Battery: s.Battery,
			PickupMileageMi: s.PickupMileageMi, PickupFuelPct: s.PickupFuelPct, PickupBattery: s.PickupBattery})
	}
	return all
}

// BookingInspection is an inspection as callers write it.
type BookingInspection struct {
	Type      string                  `json:"type,omitempty" enum:"pickup,return,periodic,dvir" doc:"That of the handover it is sent with."`
	Items     []record.InspectionItem `json:"items,omitempty" maxItems:"200" nullable:"false"`
	MileageMi *int                    `json:"mileage_mi,omitempty" minimum:"0" maximum:"3000000"`
	FuelPct   *float64                `json:"fuel_pct,omitempty" minimum:"0" maximum:"100"`
	SignedBy  string                  `json:"signed_by,omitempty" maxLength:"200"`
	Notes     string                  `json:"notes,omitempty" maxLength:"2000"`
}

func (i *BookingInspection) record() *record.Inspection {
	if i == nil {
		return nil
	}
	return &record.Inspection{Type: i.Type, Status: "submitted", Items: i.Items, MileageMi: i.MileageMi, FuelPct: i.FuelPct, SignedBy: i.SignedBy, Notes: i.Notes}
}

func (h *BookingHandover) handover() desk.Handover {
	return desk.Handover{At: h.At.Time, MileageMi: h.MileageMi, FuelPct: h.FuelPct, Battery: h.Battery, Inspection: h.Inspection.record(), LocationID: h.Location, Confirm: h.Confirm}
}

// BookingCancel is the body of cancel.
type BookingCancel struct {
	By         string `json:"cancelled_by,omitempty" enum:"customer,host,operator" doc:"operator unless given. A host's cancellation costs the customer nothing."`
	ReasonCode string `json:"reason_code,omitempty" maxLength:"50"`
	Note       string `json:"note,omitempty" maxLength:"1000"`
	WaiveFee   bool   `json:"waive_fee,omitempty"`
}

// BookingNoShow is the body of no_show.
type BookingNoShow struct {
	WaiveFee bool `json:"waive_fee,omitempty"`
}

// BookingExtension is the body of extend.
type BookingExtension struct {
	ReturnAt record.Instant `json:"return_at" doc:"The new time of return; later, or earlier."`
}

// BookingSwap is the body of swap_vehicle.
type BookingSwap struct {
	VehicleID       string   `json:"vehicle_id" doc:"The vehicle that it gets instead." example:"veh_1234"`
	Reason          string   `json:"reason,omitempty" maxLength:"500"`
	MileageMi       *int     `json:"mileage_mi,omitempty" minimum:"0" maximum:"3000000" doc:"During the rental: odometer of the vehicle that is given back."`
	FuelPct         *float64 `json:"fuel_pct,omitempty" minimum:"0" maximum:"100" doc:"During the rental: of the tank of the vehicle that is given back. What is missing of it since it was taken is charged at the return; without it nothing is, and warnings say so."`
	Battery         *int     `json:"battery_level,omitempty" minimum:"0" maximum:"100" doc:"During the rental: of its traction battery, percent."`
	PickupMileageMi *int     `json:"pickup_mileage_mi,omitempty" minimum:"0" maximum:"3000000" doc:"During the rental: odometer of the vehicle that it gets."`
	PickupFuelPct   *float64 `json:"pickup_fuel_pct,omitempty" minimum:"0" maximum:"100" doc:"During the rental: of the tank of the vehicle that it gets."`
	PickupBattery   *int     `json:"pickup_battery_level,omitempty" minimum:"0" maximum:"100" doc:"During the rental: of its traction battery, percent."`
	Reprice         bool     `json:"reprice,omitempty" doc:"Before the rental: charge what the new vehicle costs by the rates of today, instead of what was agreed."`
	Elsewhere       bool     `json:"elsewhere,omitempty" doc:"It may be one that will be at another location, because somebody brings it; without it that is a 409 (conflict) with the code elsewhere in errors."`

	Confirmed
}

// BookingAssignment is the body of assign_vehicle.
type BookingAssignment struct {
	VehicleID string `json:"vehicle_id" example:"veh_1234"`
	Elsewhere bool   `json:"elsewhere,omitempty" doc:"It may be one that will be at another location at pickup, because somebody brings it; without it that is a 409 (conflict) with the code elsewhere in errors."`
}

// BookingDuplicate is the body of duplicate.
type BookingDuplicate struct {
	PickupAt record.Instant `json:"pickup_at,omitzero" doc:"As the original's unless given."`
	ReturnAt record.Instant `json:"return_at,omitzero" doc:"As the original's unless given."`
	Confirm  bool           `json:"confirm,omitempty"`

	Backdated bool `json:"backdated,omitempty" doc:"The rental is written down afterwards; without it a pickup more than an hour ago is refused."`
}

// bookingAction is one action on a booking: its body, and what the desk does with it.
type bookingAction struct {
	path, id, summary, about string
	scope                    auth.Scope
	status                   int
	body                     any
	optional                 bool
	do                       func(r *http.Request, o desk.Order) (record.Record[record.Booking], error)
}

// ifMatchParam is the precondition of actions.
var ifMatchParam = param{Name: "If-Match", In: "header", About: "The `ETag` that the change is made upon; 412 if there is a newer revision."}

// decoded reads an action's body, nothing if it was left out.
func decoded[B any](a *API, r *http.Request) (B, error) {
	var sent B
	if len(bodyOf(r)) == 0 {
		return sent, nil
	}
	return sent, a.decodeBody(r, &sent)
}

// with makes an action that takes a body.
func with[B any](a *API, do func(ctx context.Context, o desk.Order, r *http.Request, sent B) (record.Record[record.Booking], error)) func(*http.Request, desk.Order) (record.Record[record.Booking], error) {
	return func(r *http.Request, o desk.Order) (record.Record[record.Booking], error) {
		sent, err := decoded[B](a, r)
		if err != nil {
			return record.Record[record.Booking]{}, err
		}
		return do(r.Context(), o, r, sent)
	}
}

// order reads which booking a request is about.
func (a *API) order(r *http.Request) (desk.Order, error) {
	id, err := pathID(r, "booking", fleet.BookingPrefix)
	return desk.Order{By: author(r), Account: auth.From(r.Context()).Account, Booking: id,
		If: func(revision uint64) error { return precondition(r, revision) }}, err
}

func (a *API) bookingActionRoutes(s *resource[record.Booking]) {
	type rec = record.Record[record.Booking]
	for _, action := range []bookingAction{
		{path: "confirm", id: "confirmBooking", summary: "Confirm a pending booking",
			about: "Looks again whether the vehicle is free, whether customer and drivers may rent and their licences last, and whether the deposit is there where the account asks for it. 409 names what is in the way.",
			do:    func(r *http.Request, o desk.Order) (rec, error) { return a.desk.Confirm(r.Context(), o) }},
		{path: "pickup", id: "pickupBooking", summary: "Hand the vehicle over", body: BookingHandover{}, optional: true,
			about: "An early pickup holds the vehicle from then on, and days more that it makes are charged by the terms that were agreed, but not if it is at most an hour early or if the pickup was moved and its price kept (`reprice=false`); `warnings` of the answer says so. 409 if somebody else has it, or if it has not come back.",
			do: with(a, func(ctx context.Context, o desk.Order, _ *http.Request, sent BookingHandover) (rec, error) {
				return a.desk.Pickup(ctx, o, sent.handover())
			})},
		{path: "return", id: "returnBooking", summary: "Take the vehicle back", body: BookingHandover{}, optional: true,
			about: "Days beyond those agreed, miles beyond those included and fuel that is missing are charged. The vehicle is held until its buffer after the return.",
			do: with(a, func(ctx context.Context, o desk.Order, _ *http.Request, sent BookingHandover) (rec, error) {
				return a.desk.Return(ctx, o, sent.handover())
			})},
		{path: "cancel", id: "cancelBooking", summary: "Cancel a booking", body: BookingCancel{}, optional: true,
			about: "What was charged automatically is reversed, and the fee of the agreed policy is charged, but none by itself of a booking that is backdated. A cancelled booking is never revived; duplicate it instead.",
			do: with(a, func(ctx context.Context, o desk.Order, _ *http.Request, sent BookingCancel) (rec, error) {
				return a.desk.Cancel(ctx, o, desk.CancelRequest{By: sent.By, ReasonCode: sent.ReasonCode, Note: sent.Note, WaiveFee: sent.WaiveFee})
			})},
		{path: "no_show", id: "noShowBooking", summary: "Note that nobody came for a booking", body: BookingNoShow{}, optional: true,
			about: "Not before the time of pickup. It happens by itself when the grace of the rate plan is over.",
			do: with(a, func(ctx context.Context, o desk.Order, _ *http.Request, sent BookingNoShow) (rec, error) {
				return a.desk.NoShow(ctx, o, sent.WaiveFee)
			})},
		{path: "extend", id: "extendBooking", summary: "Move the return", body: BookingExtension{},
			about: "Takes the vehicle for the new period, and charges the difference by the terms that were agreed.",
			do: with(a, func(ctx context.Context, o desk.Order, _ *http.Request, sent BookingExtension) (rec, error) {
				return a.desk.Extend(ctx, o, sent.ReturnAt.Time)
			})},
		{path: "swap_vehicle", id: "swapBookingVehicle", summary: "Give a booking another vehicle", body: BookingSwap{},
			about: "Before the rental or during it. The vehicle that it had is kept in `vehicle_history`; one of another class is noted in `upgrade_from_class_id`.",
			do: with(a, func(ctx context.Context, o desk.Order, _ *http.Request, sent BookingSwap) (rec, error) {
				return a.desk.Swap(ctx, o, desk.SwapRequest{VehicleID: sent.VehicleID, Reason: sent.Reason, MileageMi: sent.MileageMi,
					FuelPct: sent.FuelPct, Battery: sent.Battery, PickupMileageMi: sent.PickupMileageMi, PickupFuelPct: sent.PickupFuelPct,
					PickupBattery: sent.PickupBattery, Reprice: sent.Reprice, Elsewhere: sent.Elsewhere, Confirm: sent.Confirm})
			})},
		{path: "assign_vehicle", id: "assignBookingVehicle", summary: "Assign a vehicle to a booking of a class", body: BookingAssignment{},
			about: "The price stays as agreed. The vehicle must be where the booking begins, by then: one that will be at another location is a 409 (conflict) with the code elsewhere in errors, " +
				"which says where, unless a transfer brings it in time or `elsewhere` says that somebody does.",
			do: with(a, func(ctx context.Context, o desk.Order, _ *http.Request, sent BookingAssignment) (rec, error) {
				return a.desk.Assign(ctx, o, sent.VehicleID, sent.Elsewhere)
			})},
		{path: "reopen", id: "reopenBooking", summary: "Make a completed booking active again", scope: auth.BookingsOverride,
			about: "Within 24 hours of the return, and if nobody else has the vehicle. What the return charged is reversed.",
			do:    func(r *http.Request, o desk.Order) (rec, error) { return a.desk.Reopen(r.Context(), o) }},
		{path: "correct", id: "correctBooking", summary: "Correct what was noted at pickup, swap or return", body: BookingCorrection{},
			about: "For typing errors, while the booking is active and after it was completed. What stood there is kept in `corrections` and told in the timeline. What follows from it is worked out anew: " +
				"days of an early pickup, extra miles, fuel, a late return and one elsewhere, of which the difference is charged or given back; the readings of the vehicle's odometer; the time for which the booking holds its vehicle, and where it leaves it. " +
				"Money that was paid or deposited stays where it is: see `balance_due`. 409 if somebody else had the vehicle at that time.",
			do: with(a, func(ctx context.Context, o desk.Order, _ *http.Request, sent BookingCorrection) (rec, error) {
				return a.desk.Correct(ctx, o, sent.correction())
			})},
		{path: "duplicate", id: "duplicateBooking", summary: "Make a new booking like an old one", body: BookingDuplicate{}, optional: true, status: http.StatusCreated,
			about: "At the rates of today, and pending unless `confirm` is given. Ids of other systems stay with the original.",
			do: with(a, func(ctx context.Context, o desk.Order, r *http.Request, sent BookingDuplicate) (rec, error) {
				return a.desk.Duplicate(ctx, o, desk.DuplicateRequest{ID: a.newID(r), PickupAt: sent.PickupAt, ReturnAt: sent.ReturnAt, Confirm: sent.Confirm, Backdated: sent.Backdated})
			})},
	} {
		a.bookingAction(s, action)
	}
}

func (a *API) bookingAction(s *resource[record.Booking], action bookingAction) {
	if action.scope == "" {
		action.scope = auth.BookingsWrite
	}
	if action.status == 0 {
		action.status = http.StatusOK
	}
	a.handle(route{
		Method: "POST", Path: "/v1/bookings/{id}/" + action.path, ID: action.id, Tag: "Bookings", Scope: action.scope, Summary: action.summary,
		About:  action.about + " A state that does not allow it is a 409 with `current_state` and `allowed_transitions`.",
		Params: []param{ifMatchParam}, Body: action.body, Optional: action.optional, Status: action.status, Reply: Booking{},
	}, func(w http.ResponseWriter, r *http.Request) error {
		o, err := a.order(r)
		if err != nil {
			return err
		}
		rec, err := action.do(r, o)
		if err != nil {
			return err
		}
		return s.answer(w, r, action.status, rec)
	})
}
