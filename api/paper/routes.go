package paper

import (
	"net/http"
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	desks "github.com/motorpool/fleet/api/desk/paper"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// Routes registers the routes of every kind of paper.
func (a *API) Routes() {
	money := rest.Scopes{Read: auth.FinanceRead, Write: auth.FinanceWrite}
	a.invoiceRoutes(a.of(made(a, resource{kind: record.Invoices, path: "/v1/invoices", noun: "invoice", nouns: "invoices",
		scope: money, make: a.papers.Bill, about: "Of the charges of a booking that are on none of its papers yet; a " +
			"draft unless `issue` is set. Later changes of the booking lead to another invoice, or to a credit note."},
		InvoiceNew.order)))
	a.of(made(a, resource{kind: record.CreditNotes, path: "/v1/credit_notes", noun: "credit note", nouns: "credit notes",
		scope: money, make: a.papers.Credit, about: "Of a whole invoice (`invoice_id`), whose charges can be billed " +
			"again then; or of what a booking's charges that are on no paper yet come to in favor of the customer " +
			"(`booking_id`). Its amounts are those that are given back."}, CreditNoteNew.order))
	a.of(made(a, resource{kind: record.Receipts, path: "/v1/receipts", noun: "receipt", nouns: "receipts", scope: money,
		make: a.papers.Receipt, about: "Of a payment that has moved, with what was refunded of it."}, ReceiptNew.order))
	a.of(made(a, resource{kind: record.DepositStatements, path: "/v1/deposit_statements", noun: "deposit statement",
		nouns: "deposit statements", scope: money, make: a.papers.Deposit,
		about: "Of a booking's deposit as it stands: what was taken, used and given back, and what is held."},
		BookingPaperNew.order))
	agreement := a.of(made(a, resource{kind: record.Agreements, path: "/v1/agreements", noun: "agreement",
		nouns: "agreements", scope: rest.Scopes{Read: auth.CustomersRead, Write: auth.BookingsWrite},
		make: a.papers.Agreement, about: "Of a booking, by the account's template (`papers.agreement_template`), with " +
			"the condition of the vehicle as the inspection at pickup found it and the licence of who rents, masked."},
		BookingPaperNew.order))
	a.agreementRoutes(agreement)
	statement := a.of(made(a, resource{kind: record.OwnerStatements, path: "/v1/owner_statements", noun: "owner statement",
		nouns: "owner statements", scope: money, make: a.papers.Owner, about: "Of an owner of vehicles for a month that " +
			"is over: revenue by booking, what platforms keep, the owner's share by contract (`owner_share_bp` of the " +
			"vehicle, else all), the costs that owners bear, and the payout. It tells what the ledger has until the end " +
			"of the month and no earlier statement told. One of a month before all that were told can still be made, and " +
			"the next statement has what lies between."}, OwnerStatementNew.order))
	a.statementRoutes(statement)
}

// made completes a resource by what is sent to make one.
func made[B any](a *API, what resource, order func(B) desks.Order) *resource {
	var zero B
	what.sent = zero
	what.decode = func(r *http.Request) (desks.Order, error) {
		var sent B
		err := a.DecodeBody(r, &sent)
		return order(sent), err
	}
	return &what
}

// InvoiceNew is what callers write of a new invoice.
type InvoiceNew struct {
	record.PaperFields
	BookingID  string `json:"booking_id" example:"bkg_1234"`
	CustomerID string `json:"customer_id,omitempty" doc:"Who it is made out to, as a company that pays; that of the booking unless given." example:"cus_1234"`
	Issue      bool   `json:"issue,omitempty" doc:"At once, and not as a draft."`
}

func (n InvoiceNew) order() desks.Order {
	return desks.Order{PaperFields: n.PaperFields, BookingID: n.BookingID, CustomerID: n.CustomerID, Issue: n.Issue}
}

// CreditNoteNew is what callers write of a new credit note.
type CreditNoteNew struct {
	record.PaperFields
	BookingID string `json:"booking_id,omitempty" doc:"Either this or invoice_id." example:"bkg_1234"`
	InvoiceID string `json:"invoice_id,omitempty" doc:"The invoice that is taken back as a whole." example:"inv_1234"`
}

func (n CreditNoteNew) order() desks.Order {
	return desks.Order{PaperFields: n.PaperFields, BookingID: n.BookingID, InvoiceID: n.InvoiceID}
}

// ReceiptNew is what callers write of a new receipt.
type ReceiptNew struct {
	record.PaperFields
	PaymentID string `json:"payment_id" example:"pay_1234"`
}

func (n ReceiptNew) order() desks.Order {
	return desks.Order{PaperFields: n.PaperFields, PaymentID: n.PaymentID}
}

// BookingPaperNew is what callers write of a new paper about a booking.
type BookingPaperNew struct {
	record.PaperFields
	BookingID string `json:"booking_id" example:"bkg_1234"`
}

func (n BookingPaperNew) order() desks.Order {
	return desks.Order{PaperFields: n.PaperFields, BookingID: n.BookingID}
}

// OwnerStatementNew is what callers write of a new statement of an owner.
type OwnerStatementNew struct {
	record.PaperFields
	OwnerID  string `json:"owner_customer_id" example:"cus_1234"`
	Month    string `json:"month" pattern:"^[0-9]{4}-[0-9]{2}$" example:"2026-10"`
	Currency string `json:"currency,omitempty" pattern:"^[A-Z]{3}$" doc:"That of the account unless given." example:"USD"`
}

func (n OwnerStatementNew) order() desks.Order {
	return desks.Order{PaperFields: n.PaperFields, CustomerID: n.OwnerID, Month: n.Month, Currency: n.Currency}
}

// invoiceRoutes are what can be done with an invoice beside.
func (a *API) invoiceRoutes(s *rest.Resource[record.Paper]) {
	a.bookingInvoiceRoutes(s)
	rest.Act(s, rest.Action[record.Paper, rest.NoBody]{
		Verb: "issue", Summary: "Issue an invoice", Refuses: rest.OtherState,
		About: "It gets its number, and nothing of it changes any more but whether it is paid.",
		Do: func(c *rest.Call[record.Paper], _ rest.NoBody) (record.Record[record.Paper], error) {
			return a.papers.Issue(c.Context(), c.By, c.Account, record.Invoices, c.ID, c.CheckRecord)
		},
	})
	a.Handle(rest.Route{
		Method: "GET", Path: "/v1/bookings/{id}/billing", ID: "getBookingBilling", Tag: s.Tag, Scope: s.Scope.Read,
		Summary: "Compare a booking's charges with its invoices and credit notes", Reply: Billing{},
		About: "`charged` is `invoiced` and `open` together.",
	}, func(w http.ResponseWriter, r *http.Request) error {
		id, err := rest.PathID(r, "booking", fleet.BookingPrefix)
		if err != nil {
			return err
		}
		diff, err := a.papers.Check(r.Context(), auth.From(r.Context()).Account, id)
		if err != nil {
			return err
		}
		money := func(amount int64) record.Money { return record.Money{Amount: amount, Currency: diff.Currency} }
		return rest.WriteJSON(w, r, http.StatusOK, Billing{BookingID: fleet.FormatID(fleet.BookingPrefix, id),
			Charged: money(diff.Charged), Invoiced: money(diff.Invoiced), Open: money(diff.Open)})
	})
}

// bookingInvoiceRoutes are the invoices of one booking.
func (a *API) bookingInvoiceRoutes(s *rest.Resource[record.Paper]) {
	const path = "/v1/bookings/{id}/invoices"
	booking := func(r *http.Request) (string, error) {
		id, err := rest.PathID(r, "booking", fleet.BookingPrefix)
		if err == nil {
			_, err = a.papers.Bookings.Get(r.Context(), auth.From(r.Context()).Account, id)
		}
		return fleet.FormatID(fleet.BookingPrefix, id), err
	}
	of := *s
	of.Path = path
	of.Choose = func(r *http.Request, req *query.ListRequest) error {
		id, err := booking(r)
		if err != nil {
			return err
		}
		req.Filters = append(req.Filters, query.Filter{Field: "booking_id", Op: "eq", Values: []string{id}})
		return s.Choose(r, req)
	}
	bill := &resource{make: a.papers.Bill, decode: func(r *http.Request) (desks.Order, error) {
		id, err := booking(r)
		if err != nil {
			return desks.Order{}, err
		}
		var sent BookingInvoiceNew
		if len(rest.RequestBody(r)) > 0 {
			err = a.DecodeBody(r, &sent)
		}
		return InvoiceNew{PaperFields: sent.PaperFields, BookingID: id, CustomerID: sent.CustomerID,
			Issue: sent.Issue}.order(), err
	}}
	a.Handle(rest.Route{
		Method: "GET", Path: path, ID: "listBookingInvoices", Tag: s.Tag, Scope: s.Scope.Read,
		Summary: "List the invoices of a booking",
		Params: slices.Concat(rest.PageParams, rest.Without(rest.Without(of.ListParams(), "kind"), "booking_id"),
			rest.FieldsParams),
		Reply: a.ListSchema(s.View),
	}, of.List)
	a.Handle(rest.Route{
		Method: "POST", Path: path, ID: "createBookingInvoice", Tag: s.Tag, Scope: s.Scope.Write,
		Summary: "Make an invoice of a booking", About: "As POST /v1/invoices, with the booking of the path.",
		Body: BookingInvoiceNew{}, Optional: true, Status: http.StatusCreated, Reply: s.View,
	}, func(w http.ResponseWriter, r *http.Request) error { return a.create(w, r, s, bill) })
}

// BookingInvoiceNew is what callers write of a new invoice of a booking.
type BookingInvoiceNew struct {
	record.PaperFields
	CustomerID string `json:"customer_id,omitempty" doc:"Who it is made out to, as a company that pays; that of the booking unless given." example:"cus_1234"`
	Issue      bool   `json:"issue,omitempty" doc:"At once, and not as a draft."`
}

// Billing is what a booking's charges come to, and its papers.
type Billing struct {
	BookingID string       `json:"booking_id" example:"bkg_1234"`
	Charged   record.Money `json:"charged" doc:"All charges with their taxes, without what a channel keeps."`
	Invoiced  record.Money `json:"invoiced" doc:"Invoices less credit notes, without drafts."`
	Open      record.Money `json:"open" doc:"Charges that are on no paper that was issued."`
}

// AgreementSigned is the body of the action that notes a signature.
type AgreementSigned struct {
	SignedBy string          `json:"signed_by" minLength:"1" maxLength:"200"`
	SignedAt *record.Instant `json:"signed_at,omitempty" doc:"Now unless given."`
}

// agreementRoutes are what can be done with an agreement beside.
func (a *API) agreementRoutes(s *rest.Resource[record.Paper]) {
	rest.Act(s, rest.Action[record.Paper, AgreementSigned]{
		Verb: "sign", Summary: "Note that an agreement was signed", Refuses: rest.OtherState,
		Do: func(c *rest.Call[record.Paper], sent AgreementSigned) (record.Record[record.Paper], error) {
			at := record.InstantOf(a.Now())
			if sent.SignedAt != nil && !sent.SignedAt.IsZero() {
				at = *sent.SignedAt
			}
			return c.Update(func(r *record.Record[record.Paper]) error { return a.papers.Sign(r, sent.SignedBy, at) })
		},
	})
}

// StatementPaid is the body of the action that notes that an owner was paid.
type StatementPaid struct {
	PaidOn        string `json:"paid_on,omitempty" format:"date" doc:"The day on which the money moves; today unless given."`
	PaymentMethod string `json:"payment_method,omitempty" maxLength:"50" example:"bank_transfer"`
}

// statementRoutes are what can be done with an owner's statement beside.
func (a *API) statementRoutes(s *rest.Resource[record.Paper]) {
	rest.Act(s, rest.Action[record.Paper, StatementPaid]{
		Verb: "pay", Summary: "Note that an owner was paid", Optional: true, Refuses: rest.OtherState,
		About: "What the statement says is to be paid out leaves the books by an expense of the category " +
			"`owner_payout`, which is no cost: the owner's share is one already. The statement is `paid` then, until that " +
			"expense is voided. One of which nothing is to be paid out is refused: 409.",
		Do: func(c *rest.Call[record.Paper], sent StatementPaid) (record.Record[record.Paper], error) {
			if sent.PaidOn != "" {
				if day, err := ledger.ParseDay(sent.PaidOn); err != nil || !day.Known() {
					return record.Record[record.Paper]{}, fleet.Invalid(fleet.FieldError{Pointer: "/paid_on",
						Code: "out_of_range", Detail: "must be a date from 1970-01-02 to 2199-12-31"})
				}
			}
			return a.papers.PayOwner(c.Context(), c.By, c.Account, c.ID,
				desks.Payout{PaidOn: sent.PaidOn, Method: sent.PaymentMethod}, c.CheckRecord)
		},
	})
}
