package rent

import (
	"context"
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/cost"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// Expense is an expense as it is answered.
type Expense struct {
	ID string `json:"id" doc:"Identity." example:"exp_1234"`

	record.ExpenseFields

	Object     string           `json:"object" doc:"Always expense." example:"expense"`
	Status     string           `json:"status" doc:"draft, posted or voided."`
	PostedAt   record.Instant   `json:"posted_at" doc:"When it was entered into the books; null for a draft."`
	VoidedAt   record.Instant   `json:"voided_at"`
	VoidReason string           `json:"void_reason,omitempty"`
	ChargeID   *string          `json:"charge_id" doc:"The line of the booking by which the customer is billed, if it is billable_to_customer and was posted." example:"chg_1234"`
	Schedule   *string          `json:"schedule" doc:"By which schedule it was made: recurring, or one of its vehicle's, as purchase, depreciation, insurance, loan_interest, loan_principal, lease and disposal, or owner_share, what the owner of a vehicle gets; null if somebody wrote it." example:"depreciation"`
	Recurring  *string          `json:"recurring_cost_id" doc:"The recurring cost that made it, if schedule is recurring." example:"rcc_1234"`
	Refunded   *record.Refunded `json:"refunded" doc:"Of an expense by schedule that was paid ahead: what comes back because its vehicle was disposed of; null if nothing does."`
	Statement  *string          `json:"owner_statement_id" doc:"The owner's statement whose payout it is, if that was paid by its action." example:"ost_1234"`
	Statements []string         `json:"owner_statement_ids" nullable:"false" doc:"All of the owner's statements that the payout settles: what they owed by others was taken off it."`
	BookedFor  record.BookedFor `json:"booked_for" doc:"Under what it stands in the ledger: what was true of its vehicle or booking when it was written."`

	rest.Stamps
}

// ExpenseCreate is what callers write of a new expense.
type ExpenseCreate struct {
	record.ExpenseFields
	Status string `json:"status,omitempty" enum:"draft,posted" doc:"draft unless given; posted enters it into the books at once."`
}

// ExpensePaid is the body of the action that says when an expense was paid.
type ExpensePaid struct {
	PaidOn string `json:"paid_on" format:"date" doc:"The day on which the money moves."`
}

// ExpenseVoid is the body of the action that takes an expense out of the books.
type ExpenseVoid struct {
	Reason string `json:"reason,omitempty" maxLength:"500"`
}

func (a *API) expenseRoutes() {
	s := a.expenseResource()
	s.Register()
	type rec = record.Record[record.Expense]
	type asked = rest.Call[record.Expense]
	rest.Act(s, rest.Action[record.Expense, rest.NoBody]{
		Verb: "post", Summary: "Enter a draft into the books",
		About: "One that is `billable_to_customer` is charged to its booking, once. A booking that takes no charges " +
			"refuses it: 409.",
		Do: func(c *asked, _ rest.NoBody) (rec, error) {
			return c.Update(func(rec *rec) error {
				if err := record.Post(rec, record.InstantOf(a.Now())); err != nil {
					return err
				}
				if err := a.desk.Books.BadDebt(c.Context(), rec.Account, &rec.Body); err != nil {
					return err
				}
				return a.desk.BillExpense(c.Context(), rec.Account, rec.ID, &rec.Body)
			})
		},
	})
	rest.Act(s, rest.Action[record.Expense, ExpensePaid]{
		Verb: "pay", Summary: "Say when an expense was paid",
		About: "Of a bill that is `unpaid`, or paid on another day than was written; also of one that is posted.",
		Do: func(c *asked, sent ExpensePaid) (rec, error) {
			if faults := dayFaults("/paid_on", sent.PaidOn); faults != nil {
				return rec{}, fleet.Invalid(faults...)
			}
			return c.Update(func(rec *rec) error {
				if err := notOwners(rec); err != nil {
					return err
				}
				return record.PaidOn(rec, sent.PaidOn)
			})
		},
	})
	rest.Act(s, rest.Action[record.Expense, ExpenseVoid]{
		Verb: "void", Summary: "Take an expense out of the books", Optional: true,
		About: "Its entries stay and are reversed, and so is the line by which it was billed. Where the booking " +
			"cannot give that back (it is archived, or a discount was given on the line) this is refused: 409.",
		Do: func(c *asked, sent ExpenseVoid) (rec, error) {
			return c.Update(func(rec *rec) error {
				if err := notOwners(rec); err != nil {
					return err
				}
				if err := record.Void(rec, record.InstantOf(a.Now()), sent.Reason); err != nil {
					return err
				}
				return a.desk.UnbillExpense(c.Context(), rec.Account, rec.ID, &rec.Body)
			})
		},
	})
}

// notOwners refuses to change what an owner gets of a vehicle by hand: it follows from what the vehicle brings.
func notOwners(rec *record.Record[record.Expense]) error {
	if rec.Body.Category != ledger.OwnerShare {
		return nil
	}
	return fleet.NewError(fleet.CodeConflict, "This is what the owner of a vehicle gets, by the ledger and the vehicle's "+
		"owner_share_bp, and follows these by itself. What is paid to the owner is POST /v1/owner_statements/{id}/pay, "+
		"or an expense of the category owner_payout.")
}

func (a *API) expenseResource() *rest.Resource[record.Expense] {
	return &rest.Resource[record.Expense]{
		Server: a.Server, Log: a.desk.Expenses, Listing: &query.Expenses,
		Titles: rest.Titles{Path: "/v1/expenses", Tag: "Expenses", Noun: "expense", Nouns: "expenses"},
		Scope:  rest.Scopes{Read: auth.FinanceRead, Write: auth.FinanceWrite},
		Views: rest.Views{
			View: Expense{}, Fields: record.ExpenseFields{}, Create: ExpenseCreate{}, States: record.ExpenseStates,
		},
		Writable: func(e *record.Expense) any { return &e.ExpenseFields },
		Make: func(_ *http.Request, object map[string]any) (record.Expense, error) {
			var sent ExpenseCreate
			err := a.DecodeObject(object, &sent)
			e := record.Expense{ExpenseFields: sent.ExpenseFields, Status: record.ExpenseDraft}
			if sent.Status == record.ExpensePosted {
				e.Status, e.PostedAt = record.ExpensePosted, record.InstantOf(a.Now())
			}
			return e, err
		},
		Show: showExpenses,
		Prepare: func(r *http.Request, id uint64, before, after *record.Expense) error {
			if before != nil {
				// What is in the books is changed by voiding it and writing another.
				if err := record.IsDraft(&record.Record[record.Expense]{ID: id, Body: *before}); err != nil {
					return err
				}
			}
			return a.prepareExpense(r, after)
		},
		MayArchive: rest.ArchiveIf(func(_ *http.Request,
			rec *record.Record[record.Expense]) error {
			return record.IsDraft(rec)
		}),
	}
}

// prepareExpense completes an expense that is about to be written, and refuses one that cannot be.
func (a *API) prepareExpense(r *http.Request, e *record.Expense) error {
	faults := moneyFaults("/amount", e.Amount, 1, price.Limit)
	if e.Tax != nil {
		faults = append(faults, moneyFaults("/tax", *e.Tax, 0, max(e.Amount.Amount, 0))...)
		if e.Tax.Currency != e.Amount.Currency {
			faults = append(faults, fleet.FieldError{Pointer: "/tax/currency", Code: "currency_mismatch",
				Detail: "the amount is in " + e.Amount.Currency})
		}
	}
	faults = append(faults, financedFaults(e)...)
	faults = append(faults, ownerFaults(e)...)
	faults = append(faults, dayFaults("/incurred_on", e.IncurredOn)...)
	if e.PaidOn != "" {
		faults = append(faults, dayFaults("/paid_on", e.PaidOn)...)
		if e.Unpaid {
			faults = append(faults,
				fleet.FieldError{Pointer: "/paid_on", Code: "invalid", Detail: "is of a bill that was paid; this one is unpaid"})
		}
	}
	if e.Category == "bad_debt" && e.BookingID == "" {
		faults = append(faults, fleet.FieldError{Pointer: "/booking_id", Code: "required",
			Detail: "says whose debt is given up; a bad debt is one of a booking"})
	}
	if p := e.ServicePeriod; p != nil {
		wrong := append(dayFaults("/service_period/from", p.From), dayFaults("/service_period/until", p.To)...)
		if wrong == nil {
			from, _ := ledger.ParseDay(p.From)
			to, _ := ledger.ParseDay(p.To)
			if to < from || to-from >= ledger.MaxDays {
				wrong = []fleet.FieldError{{Pointer: "/service_period/until", Code: "out_of_range",
					Detail: "must not be before from, nor more than ten years after it"}}
			}
		}
		faults = append(faults, wrong...)
	}
	if faults != nil {
		return fleet.Invalid(faults...)
	}
	if e.ReceiptDocumentID != "" {
		id, err := fleet.ParseID(fleet.DocumentPrefix, e.ReceiptDocumentID)
		found := map[uint64]query.Stored{}
		if err == nil {
			if found, err = query.RecordsByID(r.Context(), a.DB, &query.Documents, auth.From(r.Context()).Account,
				[]uint64{id}); err != nil {
				return err
			}
		}
		if len(found) == 0 {
			return fleet.Invalid(fleet.NoSuch("/receipt_document_id", "document", fleet.DocumentPrefix, e.ReceiptDocumentID))
		}
	}
	if err := a.CheckExists(r, &query.Customers, fleet.CustomerPrefix, e.OwnerCustomerID, "/owner_customer_id",
		"customer"); err != nil {
		return err
	}
	account := auth.From(r.Context()).Account
	var booking *record.Booking
	var err error
	if e.BookedFor, booking, err = a.desk.Books.BookedFor(r.Context(), account, e.VehicleID, e.BookingID, ""); err != nil {
		return err
	}
	if faults := desk.Billable(e, booking); faults != nil {
		return fleet.Invalid(faults...)
	}
	if e.Status == record.ExpensePosted {
		if err := a.desk.Books.BadDebt(r.Context(), account, e); err != nil {
			return err
		}
		return a.desk.BillExpense(r.Context(), account, 0, e)
	}
	return nil
}

// financedFaults says what is wrong with the part that a loan has paid, and with a sale, which nobody writes.
func financedFaults(e *record.Expense) []fleet.FieldError {
	var faults []fleet.FieldError
	if e.Category == "vehicle_sale" {
		faults = append(faults, fleet.FieldError{Pointer: "/category", Code: "invalid",
			Detail: "vehicle_sale follows from the disposal_on and disposal_price of a vehicle; write these"})
	}
	if e.Financed == nil {
		return faults
	}
	if e.Category != "vehicle_purchase" {
		faults = append(faults,
			fleet.FieldError{Pointer: "/financed", Code: "invalid", Detail: "is of a vehicle_purchase alone"})
	}
	if e.Financed.Currency != e.Amount.Currency {
		faults = append(faults, fleet.FieldError{Pointer: "/financed/currency", Code: "currency_mismatch",
			Detail: "the amount is in " + e.Amount.Currency})
	}
	return append(faults, moneyFaults("/financed", *e.Financed, 0, max(e.Amount.Amount, 0))...)
}

// ownerFaults says what is wrong with what is paid to an owner of vehicles, and with a share, which nobody writes.
func ownerFaults(e *record.Expense) []fleet.FieldError {
	switch {
	case e.Category == ledger.OwnerShare:
		return []fleet.FieldError{{Pointer: "/category", Code: "invalid", Detail: "owner_share follows from what a vehicle " +
			"brings and its owner_share_bp; what is paid to its owner is of the category owner_payout"}}
	case e.Category == ledger.OwnerPayout && e.OwnerCustomerID == "":
		return []fleet.FieldError{{Pointer: "/owner_customer_id", Code: "required", Detail: "says which owner was paid"}}
	case e.Category != ledger.OwnerPayout && e.OwnerCustomerID != "":
		return []fleet.FieldError{{Pointer: "/owner_customer_id", Code: "invalid", Detail: "is of an owner_payout alone"}}
	}
	return nil
}

func showExpenses(_ context.Context, records []record.Record[record.Expense], _ []string) ([]rest.Shown, error) {
	views := make([]rest.Shown, len(records))
	for i, rec := range records {
		e := &rec.Body
		view := Expense{ID: fleet.FormatID(fleet.ExpensePrefix, rec.ID), ExpenseFields: e.ExpenseFields,
			Object: "expense", Status: e.Status,
			PostedAt: e.PostedAt, VoidedAt: e.VoidedAt, VoidReason: e.VoidReason,
			ChargeID: rest.TextOrNull(desk.ExpenseCharge(rec.ID, e)), BookedFor: e.BookedFor, Refunded: e.Refunded,
			Statement: rest.TextOrNull(e.StatementID), Statements: append([]string{}, e.StatementIDs...),
			Stamps: rest.StampsOf(rec)}
		if s := e.Scheduled; s != nil {
			view.Schedule = &s.What
			if s.What == string(cost.Recurring) {
				view.Recurring = &s.By
			}
		}
		views[i].View = view
	}
	return views, nil
}
