package rent

import (
	"net/http"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
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
	return &desk.Handover{At: h.At.Time, MileageMi: h.MileageMi, FuelPct: h.FuelPct, Battery: h.Battery,
		Inspection: h.Inspection.record()}
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
		all.Swaps = append(all.Swaps,
			desk.SwapCorrection{Place: s.Swap, At: s.At.Time, MileageMi: s.MileageMi, FuelPct: s.FuelPct, Battery: s.Battery,
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
	return &record.Inspection{Type: i.Type, Status: "submitted", Items: i.Items, MileageMi: i.MileageMi,
		FuelPct: i.FuelPct, SignedBy: i.SignedBy, Notes: i.Notes}
}

func (h *BookingHandover) handover() desk.Handover {
	return desk.Handover{At: h.At.Time, MileageMi: h.MileageMi, FuelPct: h.FuelPct, Battery: h.Battery,
		Inspection: h.Inspection.record(), LocationID: h.Location, Confirm: h.Confirm}
}

// BookingCancel is the body of cancel.
type BookingCancel struct {
	By         string `json:"cancelled_by,omitempty" enum:"customer,host,operator" doc:"operator unless given. A host's cancellation costs the customer nothing."`
	ReasonCode string `json:"reason_code,omitempty" maxLength:"50"`
	Note       string `json:"note,omitempty" maxLength:"1000"`
	WaiveFee   bool   `json:"waive_fee,omitempty"`

	At record.Instant `json:"at,omitzero" doc:"When it was cancelled; now unless given. The fee is that of then, and counts in the books then."`
}

// BookingNoShow is the body of no_show.
type BookingNoShow struct {
	WaiveFee bool           `json:"waive_fee,omitempty"`
	At       record.Instant `json:"at,omitzero" doc:"When nobody came any more; now unless given. The fee counts in the books then."`
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

// bookingAction is an action on a booking, with what its body is.
type bookingAction[B any] = rest.Action[record.Booking, B]

// orderOf is a request for an action on a booking as the desk takes it.
func orderOf(c *rest.Call[record.Booking]) desk.Order {
	return desk.Order{By: c.By, Account: c.Account, Booking: c.ID,
		If: func(revision uint64) error { return rest.Precondition(c.Request, revision) }}
}

// orderAt is a request for what took place at an instant, zero for now.
func orderAt(c *rest.Call[record.Booking], at record.Instant) desk.Order {
	o := orderOf(c)
	o.At = at.Time
	return o
}

func (a *API) bookingActionRoutes(s *rest.Resource[record.Booking]) {
	type rec = record.Record[record.Booking]
	type asked = rest.Call[record.Booking]
	rest.Act(s, bookingAction[rest.NoBody]{
		Verb: "confirm", Summary: "Confirm a pending booking", Refuses: rest.OtherState,
		About: "Looks again whether the vehicle is free, whether customer and drivers may rent and their licences " +
			"last, and whether the deposit is there where the account asks for it. 409 names what is in the way.",
		Do: func(c *asked, _ rest.NoBody) (rec, error) { return a.desk.Confirm(c.Context(), orderOf(c)) },
	})
	rest.Act(s, bookingAction[BookingHandover]{
		Verb: "pickup", Summary: "Hand the vehicle over", Optional: true, Refuses: rest.OtherState,
		About: "An early pickup holds the vehicle from then on, and days more that it makes are charged by the terms " +
			"that were agreed, but not if it is at most an hour early or if the pickup was moved and its price kept " +
			"(`reprice=false`); `warnings` of the answer says so. 409 if somebody else has it, or if it has not come " +
			"back, or if another rental had it at the time that is given.",
		Do: func(c *asked, sent BookingHandover) (rec, error) {
			return a.desk.Pickup(c.Context(), orderOf(c), sent.handover())
		},
	})
	rest.Act(s, bookingAction[BookingHandover]{
		Verb: "return", Summary: "Take the vehicle back", Optional: true, Refuses: rest.OtherState,
		About: "Days beyond those agreed, miles beyond those included and fuel that is missing are charged. The " +
			"vehicle is held until its buffer after the return. 409 if another rental had it at the time that is given.",
		Do: func(c *asked, sent BookingHandover) (rec, error) {
			return a.desk.Return(c.Context(), orderOf(c), sent.handover())
		},
	})
	rest.Act(s, bookingAction[BookingCancel]{
		Verb: "cancel", Summary: "Cancel a booking", Optional: true, Refuses: rest.OtherState,
		About: "What was charged automatically is reversed, and the fee of the agreed policy is charged, but none by " +
			"itself of a booking that is backdated, unless `at` is before its pickup. A cancelled booking is never revived; duplicate it instead.",
		Do: func(c *asked, sent BookingCancel) (rec, error) {
			return a.desk.Cancel(c.Context(), orderAt(c, sent.At),
				desk.CancelRequest{By: sent.By, ReasonCode: sent.ReasonCode, Note: sent.Note, WaiveFee: sent.WaiveFee})
		},
	})
	rest.Act(s, bookingAction[BookingNoShow]{
		Verb: "no_show", Summary: "Note that nobody came for a booking", Optional: true, Refuses: rest.OtherState,
		About: "Not before the time of pickup. It happens by itself when the grace of the rate plan is over.",
		Do: func(c *asked, sent BookingNoShow) (rec, error) {
			return a.desk.NoShow(c.Context(), orderAt(c, sent.At), sent.WaiveFee)
		},
	})
	rest.Act(s, bookingAction[BookingExtension]{
		Verb: "extend", Summary: "Move the return", Refuses: rest.OtherState,
		About: "Takes the vehicle for the new period, and charges the difference by the terms that were agreed.",
		Do: func(c *asked, sent BookingExtension) (rec, error) {
			return a.desk.Extend(c.Context(), orderOf(c), sent.ReturnAt.Time)
		},
	})
	rest.Act(s, bookingAction[BookingSwap]{
		Verb: "swap_vehicle", ID: "swapBookingVehicle", Summary: "Give a booking another vehicle", Refuses: rest.OtherState,
		About: "Before the rental or during it. The vehicle that it had is kept in `vehicle_history`; one of another " +
			"class is noted in `upgrade_from_class_id`.",
		Do: func(c *asked, sent BookingSwap) (rec, error) {
			return a.desk.Swap(c.Context(), orderOf(c), desk.SwapRequest{VehicleID: sent.VehicleID, Reason: sent.Reason,
				MileageMi: sent.MileageMi, FuelPct: sent.FuelPct, Battery: sent.Battery,
				PickupMileageMi: sent.PickupMileageMi, PickupFuelPct: sent.PickupFuelPct,
				PickupBattery: sent.PickupBattery, Reprice: sent.Reprice, Elsewhere: sent.Elsewhere, Confirm: sent.Confirm})
		},
	})
	rest.Act(s, bookingAction[BookingAssignment]{
		Verb: "assign_vehicle", ID: "assignBookingVehicle", Summary: "Assign a vehicle to a booking of a class",
		Refuses: rest.OtherState,
		About: "The price stays as agreed. The vehicle must be where the booking begins, by then: one that will be " +
			"at another location is a 409 (conflict) with the code elsewhere in errors, which says where, unless a " +
			"transfer brings it in time or `elsewhere` says that somebody does.",
		Do: func(c *asked, sent BookingAssignment) (rec, error) {
			return a.desk.Assign(c.Context(), orderOf(c), sent.VehicleID, sent.Elsewhere)
		},
	})
	rest.Act(s, bookingAction[rest.NoBody]{
		Verb: "reopen", Summary: "Make a completed booking active again", Scope: auth.BookingsOverride,
		Refuses: rest.OtherState,
		About: "Within 24 hours of the return, and if nobody else has the vehicle. What the return charged is " +
			"reversed.",
		Do: func(c *asked, _ rest.NoBody) (rec, error) { return a.desk.Reopen(c.Context(), orderOf(c)) },
	})
	rest.Act(s, bookingAction[BookingCorrection]{
		Verb: "correct", Summary: "Correct what was noted at pickup, swap or return", Refuses: rest.OtherState,
		About: "For typing errors, while the booking is active and after it was completed. What stood there is kept " +
			"in `corrections` and told in the timeline. What follows from it is worked out anew: days of an early " +
			"pickup, extra miles, fuel, a late return and one elsewhere, of which the difference is charged or given " +
			"back; the readings of the vehicle's odometer; the time for which the booking holds its vehicle, and " +
			"where it leaves it. Money that was paid or deposited stays where it is: see `balance_due`. 409 if " +
			"somebody else had the vehicle at that time.",
		Do: func(c *asked, sent BookingCorrection) (rec, error) {
			return a.desk.Correct(c.Context(), orderOf(c), sent.correction())
		},
	})
	rest.Act(s, bookingAction[BookingDuplicate]{
		Verb: "duplicate", Summary: "Make a new booking like an old one", Optional: true, Status: http.StatusCreated,
		Refuses: rest.OtherState,
		About: "At the rates of today, and pending unless `confirm` is given. Ids of other systems stay with the " +
			"original.",
		Do: func(c *asked, sent BookingDuplicate) (rec, error) {
			return a.desk.Duplicate(c.Context(), orderOf(c), desk.DuplicateRequest{ID: a.NewID(c.Request),
				PickupAt: sent.PickupAt, ReturnAt: sent.ReturnAt, Confirm: sent.Confirm, Backdated: sent.Backdated})
		},
	})
}
