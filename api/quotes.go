package api

import (
	"context"
	"net/http"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// Quote is a quote as it is answered.
type Quote struct {
	ID string `json:"id" doc:"Identity." example:"quo_1234"`

	record.BookingFields

	Number       string              `json:"number" doc:"What people call it by; given once in the account, and rising, with some left out." example:"Q-1042"`
	Object       string              `json:"object" doc:"Always quote." example:"quote"`
	Status       string              `json:"status" doc:"open, accepted or expired. More may be added." example:"open"`
	ExpiresAt    record.Instant      `json:"expires_at" doc:"Until when it can be accepted."`
	Total        record.Money        `json:"total" doc:"What the customer would owe."`
	RateSnapshot record.RateSnapshot `json:"rate_snapshot" doc:"The price, and how every line came to be. It holds when the quote is accepted, whatever the rates are by then."`
	BookingID    string              `json:"booking_id,omitempty" doc:"What came of it." example:"bkg_1234"`

	Stamps
}

// QuoteAccept is the body of the action that makes a booking of a quote.
type QuoteAccept struct {
	CustomerID  string `json:"customer_id,omitempty" doc:"Who rents, if the quote does not say." example:"cus_1234"`
	Confirm     bool   `json:"confirm,omitempty" doc:"Confirms the booking at once. Otherwise it is pending, and holds its vehicle until hold_expires_at."`
	HoldMinutes int    `json:"hold_minutes,omitempty" minimum:"1" maximum:"43200" doc:"How long a pending booking holds its vehicle; as the account says unless given."`
	Backdated   bool   `json:"backdated,omitempty" doc:"The rental is written down afterwards; without it a pickup more than an hour ago is refused."`
}

func (a *API) quoteRoutes() {
	s := &resource[record.Quote]{
		api: a, log: a.desk.Quotes, listing: &query.Quotes,
		titles:   titles{path: "/v1/quotes", tag: "Bookings", noun: "quote", nouns: "quotes"},
		scope:    scopes{read: auth.BookingsRead, write: auth.BookingsWrite},
		views:    views{view: Quote{}, fields: record.BookingFields{}, moving: []string{"status"}},
		writable: func(q *record.Quote) any { return &q.BookingFields },
		make: func(r *http.Request, object map[string]any) (record.Quote, error) {
			var sent record.BookingFields
			if err := a.decodeObject(object, &sent); err != nil {
				return record.Quote{}, err
			}
			return a.desk.Quote(r.Context(), auth.From(r.Context()).Account, sent)
		},
		show: a.showQuotes,
	}
	s.register("replace", "patch")
	act(s, action[record.Quote, QuoteAccept]{
		Verb: "accept", Summary: "Make a booking of a quote", Optional: true,
		About: "At the price that was quoted, if the vehicle or class is free still; otherwise a 409. A quote that " +
			"is accepted already or has expired is a 409 with `current_state`.",
		Status: http.StatusCreated, Reply: Booking{}, Answer: a.acceptQuote,
	})
}

func (a *API) acceptQuote(w http.ResponseWriter, c *call[record.Quote], sent QuoteAccept) error {
	rec, err := a.desk.Accept(c.Context(), c.By, c.Account, c.ID, desk.Acceptance{
		CustomerID: sent.CustomerID, Confirm: sent.Confirm, HoldFor: time.Duration(sent.HoldMinutes) * time.Minute, Backdated: sent.Backdated,
		If: func(revision uint64) error { return precondition(c.Request, revision) },
	})
	if err != nil {
		return err
	}
	return a.bookingResource().answer(w, c.Request, http.StatusCreated, rec)
}

func (a *API) showQuotes(_ context.Context, records []record.Record[record.Quote], _ []string) ([]shown, error) {
	views := make([]shown, len(records))
	for i, rec := range records {
		b := rec.Body
		status := desk.QuoteStatus(&b, a.Now())
		views[i] = shown{live: []byte(status), view: Quote{ID: fleet.FormatID(fleet.QuotePrefix, rec.ID), BookingFields: b.BookingFields, Object: "quote", Number: b.Number, Status: status,
			ExpiresAt: b.ExpiresAt, Total: b.Snapshot.Totals.Total, RateSnapshot: b.Snapshot, BookingID: b.BookingID, Stamps: stampsOf(rec)}}
	}
	return views, nil
}
