package rent

import (
	"context"
	"net/http"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
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

	rest.Stamps
}

// QuoteAccept is the body of the action that makes a booking of a quote.
type QuoteAccept struct {
	CustomerID  string `json:"customer_id,omitempty" doc:"Who rents, if the quote does not say." example:"cus_1234"`
	Confirm     bool   `json:"confirm,omitempty" doc:"Confirms the booking at once. Otherwise it is pending, and holds its vehicle until hold_expires_at."`
	HoldMinutes int    `json:"hold_minutes,omitempty" minimum:"1" maximum:"43200" doc:"How long a pending booking holds its vehicle; as the account says unless given."`
	Backdated   bool   `json:"backdated,omitempty" doc:"The rental is written down afterwards; without it a pickup more than an hour ago is refused."`
}

func (a *API) quoteRoutes() {
	s := &rest.Resource[record.Quote]{
		Server: a.Server, Log: a.desk.Quotes, Listing: &query.Quotes,
		Titles:   rest.Titles{Path: "/v1/quotes", Tag: "Bookings", Noun: "quote", Nouns: "quotes"},
		Scope:    rest.Scopes{Read: auth.BookingsRead, Write: auth.BookingsWrite},
		Views:    rest.Views{View: Quote{}, Fields: record.BookingFields{}, Moving: []string{"status"}},
		Writable: func(q *record.Quote) any { return &q.BookingFields },
		Make: func(r *http.Request, object map[string]any) (record.Quote, error) {
			var sent record.BookingFields
			if err := a.DecodeObject(object, &sent); err != nil {
				return record.Quote{}, err
			}
			return a.desk.Quote(r.Context(), auth.From(r.Context()).Account, sent)
		},
		Show: a.showQuotes,
	}
	s.Register("replace", "patch")
	rest.Act(s, rest.Action[record.Quote, QuoteAccept]{
		Verb: "accept", Summary: "Make a booking of a quote", Optional: true,
		About: "At the price that was quoted, if the vehicle or class is free still; otherwise a 409. A quote that " +
			"is accepted already or has expired is a 409 with `current_state`.",
		Status: http.StatusCreated, Reply: Booking{}, Answer: a.acceptQuote,
	})
}

func (a *API) acceptQuote(w http.ResponseWriter, c *rest.Call[record.Quote], sent QuoteAccept) error {
	rec, err := a.desk.Accept(c.Context(), c.By, c.Account, c.ID, desk.Acceptance{
		CustomerID: sent.CustomerID, Confirm: sent.Confirm, HoldFor: time.Duration(sent.HoldMinutes) * time.Minute,
		Backdated: sent.Backdated,
		If:        func(revision uint64) error { return rest.Precondition(c.Request, revision) },
	})
	if err != nil {
		return err
	}
	return a.bookingResource().Answer(w, c.Request, http.StatusCreated, rec)
}

func (a *API) showQuotes(_ context.Context, records []record.Record[record.Quote], _ []string) ([]rest.Shown, error) {
	views := make([]rest.Shown, len(records))
	for i, rec := range records {
		b := rec.Body
		status := desk.QuoteStatus(&b, a.Now())
		views[i] = rest.Shown{Live: []byte(status), View: Quote{ID: fleet.FormatID(fleet.QuotePrefix, rec.ID),
			BookingFields: b.BookingFields, Object: "quote", Number: b.Number, Status: status,
			ExpiresAt: b.ExpiresAt, Total: b.Snapshot.Totals.Total, RateSnapshot: b.Snapshot, BookingID: b.BookingID,
			Stamps: rest.StampsOf(rec)}}
	}
	return views, nil
}
