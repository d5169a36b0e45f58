package desk

import (
	"context"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// passedOn says as what a customer is charged for an expense, by its category; as an expense where nothing else is
// said.
var passedOn = map[string]string{
	"fuel": "refuel", "charging": "recharge", "cleaning": "cleaning", "toll": "toll", "fine": "fine",
	"repair": "damage", "tires": "damage",
}

// ownCosts are the categories of what no customer causes.
var ownCosts = []string{
	"depreciation", "lease", "loan_interest", "platform_fee", "payment_fee", "bad_debt", "sales_tax", "vehicle_purchase",
	"vehicle_sale", "loan_principal", "salary", "marketing",
	"owner_share", "owner_payout",
}

// expenses has what is billed of expenses follow from them.
func (d *Desk) expenses() {
	d.Store.Then(record.Expenses.Name, "charges", d.followExpense)
}

// BillExpense decides, of an expense that is posted, whether it is billed: if it is billable to the customer, to its
// booking, once. The line follows from that. A booking that takes no charges refuses it.
func (d *Desk) BillExpense(ctx context.Context, account fleet.AccountID, id uint64, e *record.Expense) error {
	if e.Billed = e.BillableToCustomer; !e.Billed {
		return nil
	}
	order, line, err := expenseLine(record.Author{}, account, id, e)
	if err != nil {
		return err
	}
	return d.mayCharge(ctx, order, []record.Charge{line})
}

// UnbillExpense refuses to void an expense whose line its booking cannot give back: the customer would go on owing it.
func (d *Desk) UnbillExpense(ctx context.Context, account fleet.AccountID, id uint64, e *record.Expense) error {
	if !e.Billed {
		return nil
	}
	order, line, err := expenseLine(record.Author{}, account, id, e)
	if err != nil {
		return err
	}
	return d.mayTakeBack(ctx, order, line.ID)
}

// Billable refuses an expense that cannot be billed to a customer. booking is the one that it names; nil for none.
func Billable(e *record.Expense, booking *record.Booking) []fleet.FieldError {
	fault := func(pointer, code, detail string) []fleet.FieldError {
		return []fleet.FieldError{{Pointer: pointer, Code: code, Detail: detail}}
	}
	switch {
	case !e.BillableToCustomer:
		return nil
	case slices.Contains(ownCosts, e.Category):
		return fault("/billable_to_customer", "invalid", "is not for the category "+e.Category+", which no customer causes")
	case booking == nil:
		return fault("/booking_id", "required", "says which booking is billed; billable_to_customer needs one")
	case booking.Currency != "" && booking.Currency != e.Amount.Currency:
		return fault("/amount/currency", "currency_mismatch", "the booking that is billed is in "+booking.Currency)
	}
	return nil
}

// ExpenseCharge is the id of the line by which an expense is billed; empty for one that is not.
func ExpenseCharge(id uint64, e *record.Expense) string {
	if !e.Billed {
		return ""
	}
	return chargeOf("expense", id, "cost")
}

// expenseLine is the line by which an expense that is billed is charged, and where. It is of the cost with its tax,
// and not taxed again.
func expenseLine(
	by record.Author, account fleet.AccountID, id uint64, e *record.Expense,
) (Order, record.Charge, error) {
	booking, err := fleet.ParseID(fleet.BookingPrefix, e.BookingID)
	if err != nil {
		return Order{}, record.Charge{}, err
	}
	kind, ok := passedOn[e.Category]
	if !ok {
		kind = "expense"
	}
	words := strings.ToUpper(e.Category[:1]) + strings.ReplaceAll(e.Category[1:], "_", " ")
	if e.Vendor != "" {
		words += ", " + e.Vendor
	}
	return Order{By: by, Account: account, Booking: booking}, record.Charge{
		ID: ExpenseCharge(id, e), Type: kind, Description: words, Quantity: 1, UnitPrice: e.Amount, Amount: e.Amount,
		Source: "manual", ExpenseID: fleet.FormatID(fleet.ExpensePrefix, id),
		Explanation: "A cost of " + e.IncurredOn + ", passed on.",
	}, nil
}

// followExpense charges an expense that was billed to its booking, and takes that back when the expense is voided. It
// goes by how the expense stands now.
func (d *Desk) followExpense(ctx context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.Expense](w)
	if err != nil || !after.Billed || before != nil && before.Billed && before.Status == after.Status {
		return err
	}
	by := record.Author{Actor: w.Actor, RequestID: w.RequestID}
	now, err := d.Expenses.Get(ctx, w.Account, w.ID)
	if err != nil || !now.Body.Billed {
		return err
	}
	order, line, err := expenseLine(by, w.Account, w.ID, &now.Body)
	if err != nil {
		return err
	}
	if now.Body.Status == record.ExpensePosted {
		if took, err := d.chargeFor(ctx, order, line); err != nil || !took {
			if err == nil {
				_, err = d.Expenses.Update(ctx, w.System(), w.Account, w.ID, 0, func(r *record.Record[record.Expense]) error {
					r.Body.Billed = false
					return nil
				})
			}
			return err
		}
		// Whoever voided it meanwhile may have looked before the line was there.
		if now, err = d.Expenses.Get(ctx, w.Account, w.ID); err != nil || now.Body.Status == record.ExpensePosted {
			return err
		}
	}
	return d.uncharge(ctx, order, line.ID, "The cost was taken out of the books.")
}

// uncharge takes back a line that stands. A booking that came to its end since that was decided keeps it.
func (d *Desk) uncharge(ctx context.Context, o Order, line, why string) error {
	rec, err := d.Bookings.Get(ctx, o.Account, o.Booking)
	if err != nil {
		return err
	}
	if rec.Archived() || !onTheBill(&rec.Body, line) {
		return nil
	}
	o.decided = true
	_, err = d.ReverseCharge(ctx, o, line, fleet.FormatID(fleet.ChargePrefix, d.Store.NextID()), why)
	if code := fleet.CodeOf(err); code == fleet.CodeTransition || code == fleet.CodeConflict {
		d.Log.WarnContext(ctx, "a line of a voided expense stays on its booking",
			"booking", name(o.Booking), "charge", line, "error", err)
		return nil
	}
	return err
}
