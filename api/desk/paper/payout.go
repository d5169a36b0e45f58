package paper

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// Payout is how an owner's statement is paid.
type Payout struct {
	PaidOn string // a local day, that of the account unless given
	Method string
}

// PayOwner notes that an owner's statement was paid: an expense of the category owner_payout takes what the statement
// says off what is owed to the owner, and the statement is paid then. The expense bears an id that is made of the
// statement's, so that one payout is posted however often this is tried. check may refuse the revision that is paid.
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
	name := fleet.FormatID(fleet.OwnerPaperPrefix, id)
	switch {
	case r.Body.Status != record.PaperIssued:
		return log.AlreadyDone(ctx, &record.TransitionError{What: "owner statement " + name, Current: r.Body.Status,
			Wanted: record.PaperPaid, Allowed: []string{}}, by, account, id)
	case r.Body.Total.Amount <= 0:
		return r, fleet.NewError(fleet.CodeConflict, "The statement "+r.Body.Number+" says that nothing is to be paid out. "+
			"What an owner owes stays on owners_payable, and lessens what is owed to them later.")
	}
	if o.PaidOn == "" {
		s, err := d.settingOf(ctx, account)
		if err != nil {
			return r, err
		}
		o.PaidOn = dayOf(record.InstantOf(d.Now()), s.zone)
	}
	if err := d.payOut(ctx, by, account, name, &r.Body, o); err != nil {
		return r, err
	}
	return log.Update(ctx, by, account, id, 0, func(r *rec) error {
		r.Body.Status = record.PaperPaid
		return nil
	})
}

// payOut posts the payout of a statement, unless it is posted. Those that were voided are left as they are.
func (d *Papers) payOut(ctx context.Context, by record.Author, account fleet.AccountID, statement string,
	p *record.Paper, o Payout) error {
	for attempt := 0; ; attempt++ {
		hash := fnv.New64a()
		fmt.Fprintf(hash, "payout %d %s %d", account, statement, attempt)
		id := max(hash.Sum64()>>1, 1) // as fleet.DerivedID
		e, _, err := d.Expenses.Ensure(ctx, by, account, id, record.Expense{ExpenseFields: record.ExpenseFields{
			Category: ledger.OwnerPayout, OwnerCustomerID: p.CustomerID, Description: p.Number, Amount: p.Total,
			IncurredOn: o.PaidOn, PaidOn: o.PaidOn, PaymentMethod: o.Method}, Status: record.ExpensePosted,
			PostedAt: record.InstantOf(d.Now()), StatementID: statement})
		if err != nil || e.Body.Status != record.ExpenseVoided {
			return err
		}
	}
}

// afterPayout has a statement whose payout was taken out of the books be to be paid again.
func (d *Papers) afterPayout(ctx context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.Expense](w)
	if err != nil || before == nil || after.Status != record.ExpenseVoided || before.Status == after.Status {
		return err
	}
	id, err := fleet.ParseID(fleet.OwnerPaperPrefix, after.StatementID)
	if err != nil {
		return nil // of none
	}
	_, err = d.Log(record.OwnerStatements).Update(ctx, w.System(), w.Account, id, 0, func(r *rec) error {
		if r.Body.Status == record.PaperPaid {
			r.Body.Status = record.PaperIssued
		}
		return nil
	})
	return err
}
