package rental

import (
	"fmt"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// DepositAction is something that is done with a deposit.
type DepositAction string

// What is done with deposits.
const (
	Authorize DepositAction = "authorize" // the provider holds the amount for us
	Capture   DepositAction = "capture"   // the money is ours to keep for now: all of it, or a part
	Release   DepositAction = "release"   // of what was authorized, or of what was captured and not given back or used
	Apply     DepositAction = "apply"     // what was captured pays what the customer owes
)

// Lapse is what time does to an authorization; it is nobody's to order.
const Lapse DepositAction = "lapse"

// depositMoves says to which state an action leads from a state. What a release of captured money leads to depends
// on what is left.
//
//	none, required, expired ── authorize ──► authorized ── capture ──► captured
//	required (method charge) ── capture ──► captured
//	captured ── apply, release ──► captured, or when nothing is left applied, released
//	authorized ── release, or its time is up ──► released, expired
var depositMoves = map[string]map[DepositAction]string{
	record.DepositNone:       {Authorize: record.DepositAuthorized},
	record.DepositRequired:   {Authorize: record.DepositAuthorized, Capture: record.DepositCaptured},
	record.DepositExpired:    {Authorize: record.DepositAuthorized, Lapse: record.DepositExpired},
	record.DepositAuthorized: {Capture: record.DepositCaptured, Release: record.DepositReleased},
	record.DepositCaptured:   {Apply: record.DepositCaptured, Release: record.DepositCaptured},
	record.DepositReleased:   {},
	record.DepositApplied:    {},
}

// depositAllowed are the states that a deposit may go to, in words of TransitionError.
var depositAllowed = map[string][]string{
	record.DepositNone:       {record.DepositAuthorized},
	record.DepositRequired:   {record.DepositAuthorized, record.DepositCaptured},
	record.DepositExpired:    {record.DepositAuthorized},
	record.DepositAuthorized: {record.DepositCaptured, record.DepositReleased},
	record.DepositCaptured:   {record.DepositReleased, record.DepositApplied}, record.DepositReleased: {},
	record.DepositApplied: {},
}

// DepositOrder is an action with its amount: 0 for all that there is.
type DepositOrder struct {
	Action      DepositAction
	Amount      int64
	Currency    string // of Amount; the deposit's unless given
	ProviderRef string
	ExpiresAt   time.Time // of an authorization; zero for never
	At          time.Time
}

// Held is what is captured and neither given back nor used.
func Held(d *record.Deposit) int64 { return d.Captured.Amount - d.Released.Amount - d.Applied.Amount }

// DepositHeld says that a deposit is kept of a booking that came to nothing; "" if it is not so.
func DepositHeld(b *record.Booking) string {
	over := b.Status == record.BookingCancelled || b.Status == record.BookingNoShow || b.Status == record.BookingExpired
	switch {
	case over && b.Deposit.Status == record.DepositAuthorized:
		return "The deposit is still authorized although nothing came of the booking: release it, or capture what is to be kept."
	case over && b.Deposit.Status == record.DepositCaptured:
		return "A part of the deposit is still held although nothing came of the booking: apply it to what is owed, and release the rest."
	}
	return ""
}

// Lapsed says whether an authorization has run out, noted or not.
func Lapsed(d *record.Deposit, now time.Time) bool {
	return d.Status == record.DepositExpired ||
		d.Status == record.DepositAuthorized && !d.ExpiresAt.IsZero() && !now.Before(d.ExpiresAt.Time)
}

// SetDeposit does something with the deposit of a booking. An authorization that has run out is expired first.
func SetDeposit(id uint64, d *record.Deposit, o DepositOrder) error {
	if d.Status == record.DepositExpired && o.Action == Lapse {
		return nil // noted already
	}
	if Lapsed(d, o.At) {
		d.Status = record.DepositExpired
	}
	to, ok := depositMoves[d.Status][o.Action]
	if !ok || o.Action == Capture && d.Status == record.DepositRequired && d.Method != "charge" {
		allowed := append([]string{}, depositAllowed[d.Status]...)
		if d.Status == record.DepositRequired && d.Method != "charge" {
			allowed = allowed[:1]
		}
		return &record.TransitionError{What: "deposit of booking " + fleet.FormatID(fleet.BookingPrefix, id),
			Current: d.Status, Wanted: string(o.Action), Allowed: allowed}
	}
	if o.Currency != "" && d.Amount.Currency != "" && o.Currency != d.Amount.Currency {
		return fleet.NewError(fleet.CodeValidation, "The deposit is in "+d.Amount.Currency+".",
			fleet.FieldError{Pointer: "/amount/currency", Code: "invalid", Detail: "must be " + d.Amount.Currency})
	}
	most := d.Amount.Amount
	if d.Status == record.DepositCaptured {
		most = Held(d)
	}
	amount := o.Amount
	if amount == 0 {
		amount = most
	}
	if o.Action == Authorize && d.Status == record.DepositNone {
		most = amount
	}
	if o.Action == Authorize && most == 0 {
		return fleet.NewError(fleet.CodeValidation, "No deposit was agreed. Give the amount that is to be authorized.",
			fleet.FieldError{Pointer: "/amount", Code: "required", Detail: "must be given, as no deposit was agreed"})
	}
	if amount <= 0 || o.Action != Authorize && amount > most {
		return fleet.NewError(fleet.CodeValidation,
			fmt.Sprintf("The amount must be above 0 and at most %d, which is what there is.", most),
			fleet.FieldError{Pointer: "/amount", Code: "invalid",
				Detail: fmt.Sprintf("must be from 1 to %d minor units; all of it unless given", most)})
	}
	switch o.Action {
	case Authorize:
		if d.Method == "none" || d.Method == "" {
			d.Method = "hold"
		}
		d.Amount.Amount = amount
		d.AuthorizedAt, d.ExpiresAt = record.InstantOf(o.At), record.InstantOf(o.ExpiresAt)
	case Capture:
		d.Captured.Amount = amount
		moved(d, o, amount)
	case Release:
		if d.Status == record.DepositAuthorized {
			if amount != most {
				return fleet.NewError(fleet.CodeValidation,
					"An authorization is released as a whole. Capture what is to be kept; the rest lapses.",
					fleet.FieldError{Pointer: "/amount", Code: "invalid",
						Detail: "must be left out: an authorization is released as a whole"})
			}
		} else {
			moved(d, o, amount)
		}
		d.Released.Amount += amount
	case Apply:
		d.Applied.Amount += amount
		moved(d, o, amount)
	}
	if d.Status = to; to == record.DepositCaptured && Held(d) == 0 && o.Action != Capture {
		if d.Status = record.DepositApplied; d.Released.Amount > 0 {
			d.Status = record.DepositReleased
		}
	}
	if o.ProviderRef != "" {
		d.ProviderRef = o.ProviderRef
	}
	d.ChangedAt = record.InstantOf(o.At)
	return nil
}

// moved notes what was done with the money of a deposit.
func moved(d *record.Deposit, o DepositOrder, amount int64) {
	d.Moves = append(d.Moves, record.DepositMove{Action: string(o.Action),
		Amount: record.Money{Amount: amount, Currency: d.Amount.Currency}, At: record.InstantOf(o.At)})
}
