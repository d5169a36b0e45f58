// Package rental says what may become of a booking, and of vehicles, deposits, damages, inspections and work orders. It
// is pure: no store, no clock, no goroutine.
//
//	            ┌─ expire ──► expired
//	pending ────┼─ cancel ──► cancelled ◄─ cancel ─┐
//	            └─ confirm ─► confirmed ───────────┤
//	                              │                └─ no_show ─► no_show
//	                              └─ pickup ─► active ─ return ─► completed
//	                                             ◄─── reopen ──────┘ (override, for a day)
//
// A pending booking holds its vehicle until its hold lapses, a confirmed one from then on, an active one until it is
// back, and a completed one held it until the end of its buffer. Everything else that is done with a booking leaves its
// state as it is, and is allowed in some states only.
package rental

import (
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// Action is something that is done with a booking.
type Action string

// The actions. The first seven move a booking to another state, Reopen does so against the order of things.
const (
	Confirm Action = "confirm"
	Expire  Action = "expire"
	Cancel  Action = "cancel"
	NoShow  Action = "no_show"
	Pickup  Action = "pickup"
	Return  Action = "return"
	Reopen  Action = "reopen"

	Change  Action = "change"         // of planned times, vehicle, class, or what the price depends on
	Extend  Action = "extend"         //
	Swap    Action = "swap_vehicle"   //
	Assign  Action = "assign_vehicle" //
	Charge  Action = "charge"         // a line more, or one less
	Deposit Action = "deposit"        //
	Inspect Action = "inspect"        //
	Damage  Action = "damage"         // is reported, assessed, charged
	Correct Action = "correct"        // what was noted wrongly when the vehicle changed hands
)

// States lists every state, in the order of a booking's life.
var States = []string{record.BookingPending, record.BookingConfirmed, record.BookingActive, record.BookingCompleted,
	record.BookingCancelled, record.BookingNoShow, record.BookingExpired}

// moves says to which state an action leads from a state.
var moves = map[string]map[Action]string{
	record.BookingPending: {Confirm: record.BookingConfirmed, Cancel: record.BookingCancelled,
		Expire: record.BookingExpired},
	record.BookingConfirmed: {Pickup: record.BookingActive, Cancel: record.BookingCancelled, NoShow: record.BookingNoShow},
	record.BookingActive:    {Return: record.BookingCompleted},
	record.BookingCompleted: {Reopen: record.BookingActive},
}

// within says in which states an action that leaves the state as it is may be done.
var within = map[Action][]string{
	Change: {record.BookingPending, record.BookingConfirmed},
	Extend: {record.BookingPending, record.BookingConfirmed, record.BookingActive},
	Swap:   {record.BookingPending, record.BookingConfirmed, record.BookingActive},
	Assign: {record.BookingPending, record.BookingConfirmed},
	Charge: {record.BookingPending, record.BookingConfirmed, record.BookingActive, record.BookingCompleted,
		record.BookingCancelled, record.BookingNoShow},
	Deposit: {record.BookingPending, record.BookingConfirmed, record.BookingActive, record.BookingCompleted,
		record.BookingCancelled, record.BookingNoShow},
	Inspect: {record.BookingConfirmed, record.BookingActive, record.BookingCompleted},
	Damage:  {record.BookingActive, record.BookingCompleted},
	Correct: {record.BookingActive, record.BookingCompleted},
}

// Moves returns the states that a booking may go to from a state, in the order of States; none if it is at its end.
// Reopening a completed one is not among them: it is an exception that a scope of its own allows.
func Moves(status string) []string {
	to := []string{}
	for action, state := range moves[status] {
		if action != Reopen {
			to = append(to, state)
		}
	}
	slices.SortFunc(to, func(a, b string) int { return slices.Index(States, a) - slices.Index(States, b) })
	return to
}

// Next returns the state that an action leads to, which is the present one for most; a *record.TransitionError says
// that the action cannot be done in this state.
func Next(id uint64, status string, action Action) (string, error) {
	if to, ok := moves[status][action]; ok {
		return to, nil
	}
	if slices.Contains(within[action], status) {
		return status, nil
	}
	return status, &record.TransitionError{What: "booking " + fleet.FormatID(fleet.BookingPrefix, id), Current: status,
		Wanted:  string(action),
		Allowed: Moves(status)}
}
