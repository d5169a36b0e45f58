package rent

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// Payment is a payment as it is answered.
type Payment struct {
	ID string `json:"id" doc:"Identity." example:"pay_1234"`

	record.PaymentFields

	Number     string           `json:"number" doc:"What people call it by; given once in the account, and rising, with some left out." example:"P-1042"`
	Object     string           `json:"object" doc:"Always payment." example:"payment"`
	Status     string           `json:"status" doc:"pending, succeeded, failed, partially_refunded or refunded."`
	Refunds    []record.Refund  `json:"refunds" nullable:"false"`
	Refunded   record.Money     `json:"refunded" doc:"The sum of the refunds."`
	FailReason string           `json:"fail_reason,omitempty"`
	BookedFor  record.BookedFor `json:"booked_for" doc:"Under what it stands in the ledger: what was true of its booking when it was noted."`

	rest.Stamps
}

// AmountConfirmed is what is said to be right of an amount though it looks like a typing error.
type AmountConfirmed struct {
	Confirm []string `json:"confirm,omitempty" maxItems:"10" nullable:"false" enum:"amount" doc:"What is right though it looks like a typing error: amount, where more is paid out than was paid in for the booking (or, without one, by the customer), or where ten times what is due is paid in, or more. They are refused with confirmation_required otherwise."`
}

// PaymentNew is what callers write of a new payment.
type PaymentNew struct {
	record.PaymentFields
	AmountConfirmed
}

// PaymentAssignment is the body of the action that gives a payment its booking.
type PaymentAssignment struct {
	BookingID string `json:"booking_id" example:"bkg_1234"`
}

// PaymentSuccess is the body of the action by which a pending payment arrives.
type PaymentSuccess struct {
	ReceivedAt *record.Instant `json:"received_at,omitempty" doc:"Now unless given."`
}

// PaymentFailure is the body of the action by which a pending payment fails.
type PaymentFailure struct {
	Reason string `json:"reason,omitempty" maxLength:"500"`
}

// PaymentRefund is the body of the action that gives money back.
type PaymentRefund struct {
	Amount      *record.Money   `json:"amount,omitempty" doc:"All that is left of the payment unless given."`
	At          *record.Instant `json:"at,omitempty" doc:"Now unless given."`
	Reason      string          `json:"reason,omitempty" maxLength:"500"`
	ProviderRef string          `json:"provider_ref,omitempty" maxLength:"200" doc:"The provider's name for the refund."`

	AmountConfirmed
}

func (a *API) paymentRoutes() {
	s := a.paymentResource()
	s.Register("replace", "archive")
	a.paymentActions(s)
	a.bookingPaymentRoutes(s)
}

func (a *API) paymentActions(s *rest.Resource[record.Payment]) {
	type rec = record.Record[record.Payment]
	type asked = rest.Call[record.Payment]
	update := func(c *asked, mutate func(*rec) error) (after rec, err error) {
		err = a.desk.Books.InTurn(c.Context(), func() error {
			after, err = c.Update(mutate)
			return err
		})
		return after, err
	}
	rest.Act(s, rest.Action[record.Payment, PaymentSuccess]{
		Verb: "succeed", Summary: "Note that a pending payment has arrived", Optional: true,
		Do: func(c *asked, sent PaymentSuccess) (rec, error) {
			at := a.instantOr(sent.ReceivedAt)
			return update(c, func(rec *rec) error {
				if faults := a.notYet("/received_at", at); faults != nil {
					return fleet.Invalid(faults...)
				}
				return record.Succeed(rec, at)
			})
		},
	})
	rest.Act(s, rest.Action[record.Payment, PaymentFailure]{
		Verb: "fail", Summary: "Note that a pending payment will not arrive", Optional: true,
		Do: func(c *asked, sent PaymentFailure) (rec, error) {
			return update(c, func(rec *rec) error { return record.Fail(rec, sent.Reason) })
		},
	})
	rest.Act(s, rest.Action[record.Payment, PaymentRefund]{
		Verb: "refund", Summary: "Give back a payment, or a part of it", Optional: true,
		About: "It moves money and leaves the bill as it is: what was paid for the booking and is given back is owed again. " +
			"What the customer need not pay is taken off the bill first, by a negative `adjustment` among the booking's charges or " +
			"by reversing a charge, which makes `balance_due` negative; then as much is given back.",
		Do: func(c *asked, sent PaymentRefund) (rec, error) {
			refund := record.Refund{ID: fleet.FormatID(fleet.RefundPrefix, a.NewID(c.Request)),
				At: a.instantOr(sent.At), Reason: sent.Reason, ProviderRef: sent.ProviderRef}
			return update(c, func(rec *rec) error { return a.addRefund(c, rec, refund, &sent) })
		},
	})
	rest.Act(s, rest.Action[record.Payment, PaymentAssignment]{
		Verb: "assign", Summary: "Give a payment that was noted without a booking its booking",
		Do: func(c *asked, sent PaymentAssignment) (rec, error) {
			return update(c, func(rec *rec) error { return a.desk.Books.AssignPayment(c.Context(), rec, sent.BookingID) })
		},
	})
}

// addRefund adds a refund to a payment, unless a repeated request finds it there.
func (a *API) addRefund(
	c *rest.Call[record.Payment], rec *record.Record[record.Payment], refund record.Refund, sent *PaymentRefund,
) error {
	if slices.ContainsFunc(rec.Body.Refunds, func(o record.Refund) bool { return o.ID == refund.ID }) {
		return c.By.Found()
	}
	if sent.Amount != nil {
		refund.Amount = *sent.Amount
	}
	faults := a.notYet("/at", refund.At)
	if refund.At.Before(rec.Body.ReceivedAt.Time) {
		faults = append(faults, fleet.FieldError{Pointer: "/at", Code: "out_of_range",
			Detail: "is before the payment was received: " + rec.Body.ReceivedAt.Format(time.RFC3339)})
	}
	if faults != nil {
		return fleet.Invalid(faults...)
	}
	return a.desk.Books.GiveBack(c.Context(), rec, refund, sent.Confirm)
}

// instantOr is an instant that was given, or now.
func (a *API) instantOr(at *record.Instant) record.Instant {
	if at != nil && !at.IsZero() {
		return *at
	}
	return record.InstantOf(a.Now())
}

func (a *API) paymentResource() *rest.Resource[record.Payment] {
	return &rest.Resource[record.Payment]{
		Server: a.Server, Log: a.desk.Payments, Listing: &query.Payments,
		Titles: rest.Titles{Path: "/v1/payments", Tag: "Payments", Noun: "payment", Nouns: "payments"},
		Scope:  rest.Scopes{Read: auth.FinanceRead, Write: auth.FinanceWrite},
		Views: rest.Views{View: Payment{}, Fields: record.PaymentNotes{}, Create: PaymentNew{},
			States: record.PaymentStates},
		Writable: func(p *record.Payment) any { return &p.PaymentNotes },
		Make: func(_ *http.Request, object map[string]any) (record.Payment, error) {
			var sent PaymentNew
			err := a.DecodeObject(object, &sent)
			return record.Payment{PaymentFields: sent.PaymentFields, Confirm: sent.Confirm}, err
		},
		Write: func(r *http.Request, w rest.Writing[record.Payment]) (record.Record[record.Payment], error) {
			if w.Body == nil {
				return w.To(r, a.desk.Payments)
			}
			return a.desk.Books.Pay(r.Context(), rest.Author(r), auth.From(r.Context()).Account, w.ID, *w.Body, w.Body.Confirm)
		},
		Show: rest.ShowEach(showPayment),
		Prepare: func(r *http.Request, _ uint64, before, after *record.Payment) error {
			if before != nil {
				return nil // notes alone
			}
			return a.preparePayment(r, after)
		},
	}
}

// preparePayment completes a new payment, and refuses one that cannot be.
func (a *API) preparePayment(r *http.Request, p *record.Payment) error {
	if faults := moneyFaults("/amount", p.Amount, 1, price.Limit); faults != nil {
		return fleet.Invalid(faults...)
	}
	if p.Fee != nil {
		faults := moneyFaults("/fee", *p.Fee, 0, p.Amount.Amount)
		if p.Fee.Currency != p.Amount.Currency {
			faults = append(faults, fleet.FieldError{Pointer: "/fee/currency", Code: "currency_mismatch",
				Detail: "the payment is in " + p.Amount.Currency})
		}
		if faults != nil {
			return fleet.Invalid(faults...)
		}
	}
	if p.Direction == "" {
		p.Direction = "in"
	}
	var booking *record.Booking
	var err error
	if p.BookedFor, booking, err = a.desk.Books.PaymentFor(r.Context(), auth.From(r.Context()).Account, p.BookingID,
		p.CustomerID); err != nil {
		return err
	}
	p.CustomerID = p.BookedFor.CustomerID
	if booking != nil && booking.Currency != "" && booking.Currency != p.Amount.Currency {
		return fleet.Invalid(fleet.FieldError{Pointer: "/amount/currency", Code: "currency_mismatch",
			Detail: "the booking is in " + booking.Currency})
	}
	p.Status = record.PaymentSucceeded
	if p.Pending {
		p.Status, p.Pending = record.PaymentPending, false
	}
	if p.ReceivedAt.IsZero() {
		p.ReceivedAt = record.InstantOf(a.Now())
	}
	if faults := a.notYet("/received_at", p.ReceivedAt); faults != nil {
		return fleet.Invalid(faults...)
	}
	return nil
}

// notYet says what is wrong with the instant of money that has moved: that it is still to come. A day is left for
// clocks and zones.
func (a *API) notYet(pointer string, at record.Instant) []fleet.FieldError {
	if at.After(a.Now().Add(24 * time.Hour)) {
		return []fleet.FieldError{{Pointer: pointer, Code: "out_of_range",
			Detail: "lies in the future; money that has not moved yet is a pending payment"}}
	}
	return nil
}

func showPayment(rec record.Record[record.Payment]) any {
	p := &rec.Body
	return Payment{ID: fleet.FormatID(fleet.PaymentPrefix, rec.ID), PaymentFields: p.PaymentFields, Object: "payment",
		Number: p.Number, Status: p.Status,
		Refunds:    append([]record.Refund{}, p.Refunds...),
		Refunded:   record.Money{Amount: p.Refunded(), Currency: p.Amount.Currency},
		FailReason: p.FailReason, BookedFor: p.BookedFor, Stamps: rest.StampsOf(rec)}
}

// bookingPaymentRoutes are the payments of one booking.
func (a *API) bookingPaymentRoutes(s *rest.Resource[record.Payment]) {
	const path = "/v1/bookings/{id}/payments"
	of := *s
	of.Path = path
	of.Choose = func(r *http.Request, req *query.ListRequest) error {
		booking, err := a.pathBooking(r)
		if err != nil {
			return err
		}
		ids, err := query.PaymentsOf(r.Context(), a.DB, req.Account, booking)
		req.Only = &ids
		return err
	}
	a.Handle(rest.Route{
		Method: "GET", Path: path, ID: "listBookingPayments", Tag: s.Tag, Scope: s.Scope.Read,
		Summary: "List the payments of a booking",
		Params:  slices.Concat(rest.PageParams, of.ListParams(), rest.FieldsParams),
		Reply:   a.ListSchema(s.View),
	}, of.List)
	a.Handle(rest.Route{
		Method: "POST", Path: path, ID: "createBookingPayment", Tag: s.Tag, Scope: s.Scope.Write,
		Summary: "Create a payment of a booking",
		About:   "As POST /v1/payments, with the booking of the path.", Body: PaymentNew{}, Status: 201, Reply: s.View,
	}, func(w http.ResponseWriter, r *http.Request) error {
		id, err := a.pathBooking(r)
		if err != nil {
			return err
		}
		object, err := rest.ParseObject(rest.RequestBody(r))
		if err != nil {
			return err
		}
		booking := fleet.FormatID(fleet.BookingPrefix, id)
		if named, ok := object["booking_id"]; ok && named != nil && named != booking {
			return fleet.Invalid(fleet.FieldError{Pointer: "/booking_id", Code: "invalid",
				Detail: "is not the booking of the path"})
		}
		object["booking_id"] = booking
		body, err := s.NewBody(r, object)
		if err != nil {
			return err
		}
		rec, err := s.Insert(r, a.NewID(r), body)
		if err != nil {
			return err
		}
		base, _, _ := strings.Cut(r.URL.Path, "/v1/bookings/")
		r = r.Clone(r.Context())
		r.URL.Path = base + s.Path
		return s.Answer(w, r, http.StatusCreated, rec)
	})
}

// pathBooking is the id of the booking that the path names, which there is.
func (a *API) pathBooking(r *http.Request) (uint64, error) {
	id, err := rest.PathID(r, "booking", fleet.BookingPrefix)
	if err != nil {
		return 0, err
	}
	_, err = a.desk.Bookings.Get(r.Context(), auth.From(r.Context()).Account, id)
	return id, err
}
