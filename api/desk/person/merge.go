package person

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// A merge of two customers that are one person decides on the one that goes, and is announced to the one that
// stays before that:
//
//	announced (stays.merging) ──► the other is archived with merged_into ──► what it had moves, the announcement goes
//
// Who has an announcement outstanding cannot itself be merged, so that merges made at once never lead round in a ring:
// of those in a would-be ring each is announced first, and then none of them may go. An announcement that nothing
// followed is void after a while.

// announced is how long an announcement counts; well above the deadline of any write.
const announced = 2 * time.Minute

// mergeCustomers registers what follows from a merge.
func (d *Persons) mergeCustomers() {
	d.Store.Then(d.Customers.Kind().Name, "merged customer", func(ctx context.Context, w record.Written) error {
		before, after, err := record.Bodies[record.Customer](w)
		if err != nil || before == nil || before.MergedInto != "" || after.MergedInto == "" {
			return err
		}
		return d.takeOver(ctx, w, after)
	})
}

// MergeCustomer merges a customer into another: it is archived, names the other, and what it had is the other's. Both
// ids stay good. Repeating it is harmless. A customer that was merged elsewhere, or is gone, is a *fleet.Error of the
// code fleet.CodeConflict.
func (d *Persons) MergeCustomer(ctx context.Context, by record.Author, account fleet.AccountID,
	id, into uint64) (record.Record[record.Customer], error) {
	from, err := d.Customers.Get(ctx, account, id)
	if err != nil {
		return from, err
	}
	to, err := d.Customer(ctx, account, into)
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return from, intoFault("not_found", "the account has no such customer; POST /v1/customers/check finds who is meant")
	}
	if err != nil {
		return from, err
	}
	if from.Body.MergedInto != "" {
		end, err := d.Customer(ctx, account, id)
		if err == nil && end.ID != to.ID {
			err = fleet.NewError(fleet.CodeConflict, "The customer was merged into "+from.Body.MergedInto+" already.")
		}
		return from, err
	}
	if to.ID == from.ID {
		return from, intoFault("invalid", "is the same customer")
	}
	name := fleet.FormatID(fleet.CustomerPrefix, id)
	if _, err := d.Customers.Update(ctx, by, account, to.ID, 0, func(r *record.Record[record.Customer]) error {
		if r.Body.Gone() {
			return fleet.NewError(fleet.CodeConflict, "The customer to merge into was erased.")
		}
		r.Body.Merging = slices.DeleteFunc(r.Body.Merging, func(m record.Merging) bool { return m.CustomerID == name })
		r.Body.Merging = append(r.Body.Merging, record.Merging{CustomerID: name, At: record.InstantOf(d.Now())})
		return nil
	}); err != nil {
		return from, err
	}
	gone, err := d.Customers.Archive(ctx, by, account, id, 0, func(r *record.Record[record.Customer]) error {
		if r.Body.Gone() {
			return fleet.NewError(fleet.CodeConflict, "The customer was erased.")
		}
		if d.ExpectsOther(r) {
			return fleet.NewError(fleet.CodeConflict, "Another customer is being merged into this one. Try again in a moment.")
		}
		r.Body.MergedInto, r.Body.Merging = fleet.FormatID(fleet.CustomerPrefix, to.ID), nil
		return nil
	})
	if err == nil && gone.Body.MergedInto != fleet.FormatID(fleet.CustomerPrefix, to.ID) {
		err = fleet.NewError(fleet.CodeConflict,
			"The customer is archived, or was merged elsewhere, and cannot be merged into that one.")
	}
	if err != nil {
		return from, d.recall(ctx, by, account, to.ID, name, err)
	}
	return gone, nil
}

func intoFault(code, detail string) error {
	return fleet.Invalid(fleet.FieldError{Pointer: "/into", Code: code, Detail: detail})
}

// ExpectsOther says whether another customer was announced to this one, and may be merged into it any moment.
func (d *Persons) ExpectsOther(r *record.Record[record.Customer]) bool {
	return slices.ContainsFunc(r.Body.Merging, func(m record.Merging) bool { return d.Now().Sub(m.At.Time) < announced })
}

// recall takes an announcement back that comes to nothing because of err, which it returns.
func (d *Persons) recall(ctx context.Context, by record.Author, account fleet.AccountID, to uint64, name string,
	err error) error {
	if code := fleet.CodeOf(err); code == "" || code == fleet.CodeUnavailable {
		return err // nobody knows what became of it
	}
	_, _ = d.Customers.Update(ctx, by, account, to, 0, func(r *record.Record[record.Customer]) error {
		r.Body.Merging = slices.DeleteFunc(r.Body.Merging, func(m record.Merging) bool { return m.CustomerID == name })
		return nil
	})
	return err
}

// takeOver gives the customer that stays what the other had, once: it is done when the announcement is gone.
func (d *Persons) takeOver(ctx context.Context, w record.Written, other *record.Customer) error {
	into, err := fleet.ParseID(fleet.CustomerPrefix, other.MergedInto)
	if err != nil {
		return fmt.Errorf("merged customer %d: %w", w.ID, err)
	}
	stays, err := d.Customers.Get(ctx, w.Account, into)
	if err == nil && stays.Body.Gone() {
		// The erasure of the one that stays began before this one was its family, and may not have taken it along.
		_, err = d.Customers.Wipe(ctx, w.System(), w.Account, w.ID, func(c *record.Customer) {
			if !c.Gone() {
				c.ErasingSince, c.ErasureReason = record.InstantOf(d.Now()), stays.Body.ErasureReason
			}
		})
		return err
	}
	if err != nil || stays.Archived() {
		return err
	}
	name := fleet.FormatID(fleet.CustomerPrefix, w.ID)
	_, err = d.Customers.Update(ctx, record.Author{Actor: w.Actor, RequestID: w.RequestID}, w.Account, into, 0,
		func(r *record.Record[record.Customer]) error {
			at := slices.IndexFunc(r.Body.Merging, func(m record.Merging) bool { return m.CustomerID == name })
			if at < 0 || r.Body.Gone() {
				return nil
			}
			r.Body.Merging = slices.Delete(r.Body.Merging, at, at+1)
			if len(r.Body.Merging) == 0 {
				r.Body.Merging = nil
			}
			if r.Body.DuplicateOf == name {
				r.Body.DuplicateOf = ""
			}
			r.Body.Absorb(other)
			return nil
		})
	return err
}
