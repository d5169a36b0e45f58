package paper

import (
	"context"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/query"
)

// Payout is how an owner's statement is paid.
type Payout struct {
	PaidOn string // a local day, that of the account unless given
	Method string
}

// PayOwner notes that an owner's statement was paid: an expense of the category owner_payout takes what the statement
// says, less what the owner owes by others of the currency that are not settled, off what is owed to the owner; the
// statement, and those others, are paid by it then. The expense bears an id that is made of the statement's, so that
// one payout is posted however often this is tried. check may refuse the revision that is paid.
//
//	others say that the payout settles them ──► the payout is posted ──► the statement says that it is paid by it
//
// Whoever says so of a payout that was voided, or that does not count them, is to be paid again: that follows from the
// revision of the statement that says it and from those of the payout, whichever comes last.
func (d *Papers) PayOwner(ctx context.Context, by record.Author, account fleet.AccountID, id uint64, o Payout,
	check func(*rec) error) (rec, error) {
	log := d.Log(record.OwnerStatements)
	r, err := log.Get(ctx, account, id)
	if err != nil {
		return r, err
	}
	if err := check(&r); err != nil {
		return log.AlreadyDone(ctx, err, by, account, id)
	}
	switch {
	case r.Body.Status != record.PaperIssued:
		return log.AlreadyDone(ctx, &record.TransitionError{
			What: "owner statement " + fleet.FormatID(fleet.OwnerPaperPrefix, id), Current: r.Body.Status,
			Wanted: record.PaperPaid, Allowed: []string{}}, by, account, id)
	case r.Body.Total.Amount <= 0:
		return r, fleet.NewError(fleet.CodeConflict, "The statement "+r.Body.Number+" says that nothing is to be paid out. "+
			"What the owner owes by it is taken off the next statement of this owner and currency that is paid.")
	}
	if o.PaidOn == "" {
		s, err := d.settingOf(ctx, account)
		if err != nil {
			return r, err
		}
		o.PaidOn = dayOf(record.InstantOf(d.Now()), s.zone)
	}
	payout, err := d.payOut(ctx, by, account, &r, o)
	if err != nil {
		return r, err
	}
	_, err = log.Update(ctx, by, account, id, 0, func(r *rec) error {
		if stands, _, err := d.payout(ctx, account, payout); err != nil || !stands || r.Body.Status != record.PaperIssued {
			return err
		}
		r.Body.Status, r.Body.PayoutID = record.PaperPaid, fleet.FormatID(fleet.ExpensePrefix, payout)
		return nil
	})
	if err != nil {
		return r, err
	}
	return log.Get(ctx, account, id) // which is to be paid again if the payout was voided meanwhile
}

// payout says whether a payout stands in the books, and whether it was voided; neither is so if it was never posted.
func (d *Papers) payout(ctx context.Context, account fleet.AccountID, id uint64) (stands, voided bool, err error) {
	e, err := d.Expenses.Get(ctx, account, id)
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return false, false, nil
	}
	voided = err == nil && e.Body.Status == record.ExpenseVoided
	return err == nil && !voided, voided, err
}

// payOut posts the payout of a statement, unless one stands, and returns the id of the one that does. Those that were
// voided are left as they are.
func (d *Papers) payOut(ctx context.Context, by record.Author, account fleet.AccountID, r *rec,
	o Payout) (uint64, error) {
	statement := fleet.FormatID(fleet.OwnerPaperPrefix, r.ID)
	for attempt := 0; ; attempt++ {
		id := fleet.NamedID("payout %d %s %d", account, statement, attempt)
		stands, voided, err := d.payout(ctx, account, id)
		if err != nil || stands {
			return id, err
		}
		if voided {
			continue
		}
		amount, what, paid, err := d.takeOff(ctx, by, account, r, fleet.FormatID(fleet.ExpensePrefix, id))
		if err != nil {
			return id, err
		}
		e, _, err := d.Expenses.Ensure(ctx, by, account, id, record.Expense{ExpenseFields: record.ExpenseFields{
			Category: ledger.OwnerPayout, OwnerCustomerID: r.Body.CustomerID, Description: what, Amount: amount,
			IncurredOn: o.PaidOn, PaidOn: o.PaidOn, PaymentMethod: o.Method}, Status: record.ExpensePosted,
			PostedAt: record.InstantOf(d.Now()), StatementID: statement, StatementIDs: append(paid, statement)})
		if err != nil || e.Body.Status != record.ExpenseVoided {
			return id, err
		}
	}
}

// takeOff has the statements by which an owner owes, and that nothing settles yet, be paid by a payout that is about to
// be posted. It returns what is left to be paid out of a statement then, the numbers of those that are in it, and the
// ids of those that were taken off.
func (d *Papers) takeOff(ctx context.Context, by record.Author, account fleet.AccountID, r *rec,
	payout string) (record.Money, string, []string, error) {
	amount, numbers := r.Body.Total, []string{}
	statements, err := d.ofOwner(ctx, account, r.Body.CustomerID, r.Body.Currency)
	if err != nil {
		return amount, "", nil, err
	}
	open := func(p *record.Paper) bool {
		return p.Total.Amount < 0 && (p.Status == record.PaperIssued || p.PayoutID == payout)
	}
	left, owes := amount.Amount, []rec{}
	for _, s := range statements {
		if open(&s.Body) {
			left += s.Body.Total.Amount
			owes, numbers = append(owes, s), append(numbers, s.Body.Number)
		}
	}
	if left <= 0 {
		return amount, "", nil, fleet.NewError(fleet.CodeConflict, "Nothing is to be paid out of the statement "+
			r.Body.Number+": the owner owes as much or more by "+strings.Join(numbers, ", ")+". That is taken off the first "+
			"statement that is paid and comes to more; what is due until then can be written as an expense of the category "+
			"owner_payout.")
	}
	what, paid := r.Body.Number, []string{}
	for _, s := range owes {
		if s.Body.Status == record.PaperPaid && d.Now().Sub(s.UpdatedAt) > d.Store.Abandoned() {
			// Whoever took it off has died, and it may be about to be opened: it is taken off anew.
			if err := d.unpay(ctx, by, account, s.ID, 0, payout); err != nil {
				return amount, "", nil, err
			}
		}
		taken := false
		if _, err := d.Log(record.OwnerStatements).Update(ctx, by, account, s.ID, 0, func(s *rec) error {
			if taken = open(&s.Body); taken {
				s.Body.Status, s.Body.PayoutID = record.PaperPaid, payout
			}
			return nil
		}); err != nil {
			return amount, "", nil, err
		}
		if taken { // and by no other payout meanwhile
			amount.Amount += s.Body.Total.Amount
			what += ", less " + s.Body.Number
			paid = append(paid, fleet.FormatID(fleet.OwnerPaperPrefix, s.ID))
		}
	}
	return amount, what, paid, nil
}

// ofOwner are the statements of an owner in a currency.
func (d *Papers) ofOwner(ctx context.Context, account fleet.AccountID, owner, currency string) ([]rec, error) {
	if err := d.Store.MendNow(ctx, record.OwnerStatements.Name); err != nil {
		return nil, err
	}
	stored, err := query.PapersOfOwner(ctx, d.DB, account, record.OwnerStatements.Name, owner, currency)
	if err != nil {
		return nil, err
	}
	all, _, err := decoded(account, stored)
	return all, err
}

// pays says whether a payout pays a statement that says so: one that was not voided, and that counts it if it says whom
// it counts, which those that were posted by an older version do not.
func pays(payout *record.Expense, statement uint64) bool {
	return payout.Status != record.ExpenseVoided && (len(payout.StatementIDs) == 0 ||
		slices.Contains(payout.StatementIDs, fleet.FormatID(fleet.OwnerPaperPrefix, statement)))
}

// unpay has a statement that says that a payout pays it be to be paid again. One that another payout pays by now stays,
// and so does any that has another revision than expect, unless that is 0.
func (d *Papers) unpay(ctx context.Context, by record.Author, account fleet.AccountID, id, expect uint64,
	payout string) error {
	_, err := d.Log(record.OwnerStatements).Update(ctx, by, account, id, expect, func(r *rec) error {
		if r.Body.Status == record.PaperPaid && r.Body.PayoutID == payout {
			r.Body.Status, r.Body.PayoutID = record.PaperIssued, ""
		}
		return nil
	})
	return err
}

// afterPayout has the statements be to be paid again that say that a payout pays them when it is posted or voided, and
// that it does not pay.
func (d *Papers) afterPayout(ctx context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.Expense](w)
	if err != nil || after.StatementID == "" || before != nil && before.Status == after.Status {
		return err
	}
	statements, err := d.ofOwner(ctx, w.Account, after.OwnerCustomerID, after.Amount.Currency)
	if err != nil {
		return err
	}
	payout := fleet.FormatID(fleet.ExpensePrefix, w.ID)
	for _, s := range statements {
		if s.Body.PayoutID == payout && !pays(after, s.ID) {
			if err := d.unpay(ctx, w.System(), w.Account, s.ID, 0, payout); err != nil {
				return err
			}
		}
	}
	return nil
}

// afterPaid does that for a statement that has come to say so of a payout that stood, or was voided, before, and for
// one whose payout is not posted a while later, because whoever was about to post it has died. A repetition of that
// request takes the statement off anew first, by a revision that is given as long again.
func (d *Papers) afterPaid(ctx context.Context, w record.Written) error {
	_, after, err := record.Bodies[record.Paper](w)
	if err != nil || after.PayoutID == "" {
		return err
	}
	id, err := fleet.ParseID(fleet.ExpensePrefix, after.PayoutID)
	if err != nil {
		return err
	}
	e, err := d.Expenses.Get(ctx, w.Account, id)
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		if d.Now().Sub(w.At) < 2*d.Store.Abandoned() { // whoever is at it may still post it
			return record.ErrNotYet
		}
		err = d.unpay(ctx, w.System(), w.Account, w.ID, w.Revision, after.PayoutID)
		if fleet.CodeOf(err) == fleet.CodeStale {
			return nil // what is newer has a consequence of its own
		}
		return err
	}
	if err != nil || pays(&e.Body, w.ID) {
		return err
	}
	return d.unpay(ctx, w.System(), w.Account, w.ID, 0, after.PayoutID)
}
