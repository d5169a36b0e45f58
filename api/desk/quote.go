package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
)

// The states of a quote, which follow from what it says and the time.
const (
	QuoteOpen     = "open"
	QuoteAccepted = "accepted"
	QuoteExpired  = "expired"
)

// QuoteStatus is the state of a quote at an instant.
func QuoteStatus(q *record.Quote, now time.Time) string {
	switch {
	case q.BookingID != "":
		return QuoteAccepted
	case !now.Before(q.ExpiresAt.Time):
		return QuoteExpired
	default:
		return QuoteOpen
	}
}

// Quote works out the price of a booking to be, and freezes it for as long as the account says. Nothing is held.
func (d *Desk) Quote(ctx context.Context, account fleet.AccountID,
	fields record.BookingFields) (q record.Quote, err error) {
	err = d.Recalling(func(lookup bool) error {
		m := base.NewMemory()
		m.Lookup = lookup
		q, err = d.quote(m.In(ctx), account, fields)
		return err
	})
	return q, err
}

func (d *Desk) quote(ctx context.Context, account fleet.AccountID, fields record.BookingFields) (record.Quote, error) {
	now := d.Now()
	snapshot, found, err := d.Price(ctx, account, fields, now)
	if err != nil {
		return record.Quote{}, err
	}
	fault, err := d.notInFleet(ctx, account, found.Vehicle, &found.Fields)
	if err != nil {
		return record.Quote{}, err
	}
	if fault != nil {
		return record.Quote{}, unfit([]fleet.FieldError{*fault})
	}
	settings, _, err := d.settings(ctx, account)
	if err != nil {
		return record.Quote{}, err
	}
	return record.Quote{BookingFields: found.Fields, Snapshot: snapshot,
		Reserved:  fleet.FormatID(fleet.BookingPrefix, d.Store.NextID()),
		ExpiresAt: record.InstantOf(now.AddDate(0, 0, settings.QuoteDays))}, nil
}

// Acceptance is how a quote is accepted.
type Acceptance struct {
	CustomerID string // of a quote that has none
	Confirm    bool   // the booking, at once
	HoldFor    time.Duration
	Backdated  bool                        // its pickup may lie in the past by now
	If         func(revision uint64) error // refuses revisions of the quote that the caller does not mean; nil for any
}

// Accept makes a booking of a quote, at the price that was quoted, if vehicle or class are free still. The booking's id
// was reserved with the quote, so that a quote never leads to two, whoever dies in between.
func (d *Desk) Accept(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	a Acceptance) (record.Record[record.Booking], error) {
	var none record.Record[record.Booking]
	q, err := d.Quotes.Get(ctx, account, id)
	if err != nil {
		return none, err
	}
	if a.If != nil {
		if err := a.If(q.Revision); err != nil {
			return none, err
		}
	}
	if status := QuoteStatus(&q.Body, d.Now()); status != QuoteOpen || q.Archived() {
		if q.Archived() {
			status = "archived"
		}
		because := "and is not accepted any more; make a new one"
		if status == QuoteAccepted {
			because = "and the booking " + q.Body.BookingID + " was made of it"
		}
		return none, &record.TransitionError{What: "quote " + fleet.FormatID(fleet.QuotePrefix, id), Current: status,
			Wanted: QuoteAccepted, Allowed: []string{}, Because: because}
	}
	fields := q.Body.BookingFields
	if fields.CustomerID == "" {
		fields.CustomerID = a.CustomerID
	} else if a.CustomerID != "" && a.CustomerID != fields.CustomerID {
		return none,
			unfit([]fleet.FieldError{{Pointer: "/customer_id", Code: "mismatch", Detail: "is not the customer of the quote"}})
	}
	fields.Backdated = fields.Backdated || a.Backdated
	booking, err := fleet.ParseID(fleet.BookingPrefix, q.Body.Reserved)
	if err != nil {
		return none, fmt.Errorf("booking of quote %d: %w", id, err)
	}
	by.Command = cmp.Or(by.Command, record.NewCommand()) // what else is found under the id is not of this quote
	rec, err := d.Book(ctx, by, account, BookRequest{ID: booking, Fields: fields, Confirm: a.Confirm, HoldFor: a.HoldFor,
		Snapshot: &q.Body.Snapshot, QuoteID: fleet.FormatID(fleet.QuotePrefix, id)})
	if errors.Is(err, record.ErrTaken) {
		// Whoever accepts the quote finds the new id, and the caller who tries again is one of them.
		_, unreserved := d.Quotes.Update(ctx, by, account, id, 0, func(r *record.Record[record.Quote]) error {
			if r.Body.Reserved == q.Body.Reserved {
				r.Body.Reserved = fleet.FormatID(fleet.BookingPrefix, d.Store.NextID())
			}
			return nil
		})
		return none, errors.Join(err, unreserved)
	}
	if err != nil {
		return none, err
	}
	_, err = d.Quotes.Update(ctx, by, account, id, 0, func(r *record.Record[record.Quote]) error {
		r.Body.BookingID = fleet.FormatID(fleet.BookingPrefix, rec.ID)
		return nil
	})
	return rec, err
}
