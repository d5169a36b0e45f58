package desk

import (
	"fmt"
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rental/price"
)

// priced gives a new booking its price: the snapshot, and its lines as charges.
func (d *Desk) priced(b *record.Booking, s *record.RateSnapshot) {
	b.RateSnapshot, b.Currency, b.BilledDays = s, s.Currency, s.BilledDays
	d.lines(b, fresh(s.Lines))
	b.Deposit = record.Deposit{Method: s.DepositMethod, Amount: s.DepositAmount, Status: record.DepositRequired}
	zero := record.Money{Currency: s.Currency}
	if b.Deposit.Method == "" || b.Deposit.Method == "none" || b.Deposit.Amount.Amount == 0 {
		b.Deposit.Method, b.Deposit.Status, b.Deposit.Amount = "none", record.DepositNone, zero
	}
	b.Deposit.Captured, b.Deposit.Released, b.Deposit.Applied = zero, zero, zero
	b.Deposit.ChangedAt = record.InstantOf(d.Now())
}

// repriced gives a booking that was priced before another price: what stood of the old one is taken back, line by
// line, and what somebody charged by hand is taxed beside the new one. A deposit that nobody has touched yet
// becomes the new one.
func (d *Desk) repriced(b *record.Booking, s *record.RateSnapshot) error {
	d.reverseAll(b, func(c *record.Charge) bool { return c.Source == "auto" })
	if b.Currency != s.Currency && len(rental.Standing(b.Charges)) > 0 {
		return fleet.NewError(fleet.CodeConflict,
			"The booking has charges in "+b.Currency+" and would be priced in "+s.Currency+". Reverse them first.")
	}
	deposit := b.Deposit
	d.priced(b, s)
	if err := d.retax(b, anyLine); err != nil {
		return err
	}
	if deposit.Status != record.DepositNone && deposit.Status != record.DepositRequired {
		b.Deposit = deposit
	}
	return nil
}

// lines adds charges to a booking, each under a new id unless it has one, and returns the ids.
func (d *Desk) lines(b *record.Booking, charges []record.Charge) []string {
	now := record.InstantOf(d.Now())
	var ids []string
	for _, c := range charges {
		if c.PostedAt = now; c.ID == "" {
			c.ID = fleet.FormatID(fleet.ChargePrefix, d.Store.NextID())
		}
		if c.Source == "" {
			c.Source = "auto"
		}
		b.Charges = append(b.Charges, c)
		ids = append(ids, c.ID)
	}
	return ids
}

// reverseAll takes back the standing charges that a condition chooses.
func (d *Desk) reverseAll(b *record.Booking, which func(*record.Charge) bool) {
	for _, c := range rental.Standing(b.Charges) {
		if which(&c) {
			d.lines(b, []record.Charge{rental.Reversal(&c)})
		}
	}
}

// discountsFit refuses a change of charges by which those that a discount was given on go from under it: they would
// come to less than nothing.
func discountsFit(before, after []record.Charge) error {
	byHand := func(c record.Charge) bool { return c.Source == "manual" && c.Amount.Amount < 0 }
	was, is := price.Earned(before), price.Earned(after)
	if is >= min(was, 0) || !slices.ContainsFunc(rental.Standing(after), byHand) {
		return nil
	}
	return fleet.NewError(fleet.CodeConflict,
		"The discounts and adjustments that were given by hand would take off more than the charges come to then. Reverse one of them first.")
}

// undone takes the charges of a rental back that does not take place, with the discounts and other allowances that were
// given on it, and charges what that costs instead. What somebody charged by hand stays, with its taxes, and a deposit
// that nobody has touched is not needed any more. A booking that expired takes no more charges, nor gives them back: it
// keeps no cost that was passed on either, since that may be voided yet.
func (d *Desk) undone(b *record.Booking, fee *record.Charge) error {
	d.reverseAll(b, func(c *record.Charge) bool {
		return c.Source != "manual" || c.Amount.Amount < 0 || b.Status == record.BookingExpired && c.ExpenseID != ""
	})
	if b.Deposit.Status == record.DepositRequired {
		b.Deposit.Status, b.Deposit.ChangedAt = record.DepositNone, record.InstantOf(d.Now())
	}
	if err := d.retax(b, anyLine); err != nil {
		return err
	}
	if fee != nil && fee.Amount.Amount != 0 {
		fee.At = b.Cancellation.At
		d.lines(b, []record.Charge{*fee})
	}
	b.StatusSince = record.InstantOf(d.Now()) // so that what was taken back by then never stood
	return nil
}

// retax makes the taxes of a booking those of its charges, but for what somebody waived of them: see price.Retax.
func (d *Desk) retax(b *record.Booking, forgotten func(id string) bool) error {
	taxes, err := price.Retax(taxRates(b), b.Currency, b.Charges, forgotten)
	if err != nil {
		return err
	}
	d.lines(b, taxes)
	return nil
}

// anyLine has retax forget whatever was waived, since all of it was taken back.
func anyLine(string) bool { return true }

// reverse takes one charge back.
func (d *Desk) reverse(b *record.Booking, id, newID, why string) error {
	at := slices.IndexFunc(b.Charges, func(c record.Charge) bool { return c.ID == id })
	if at < 0 {
		return fleet.NewError(fleet.CodeNotFound, "The booking has no charge "+id+".")
	}
	c := b.Charges[at]
	if c.ReversalOf != "" {
		return fleet.NewError(fleet.CodeConflict,
			fmt.Sprintf("The charge %s is a reversal, of %s. Add a charge instead.", id, c.ReversalOf))
	}
	if !slices.ContainsFunc(rental.Standing(b.Charges), func(o record.Charge) bool { return o.ID == id }) {
		return fleet.NewError(fleet.CodeConflict, "The charge "+id+" is reversed already.")
	}
	back := rental.Reversal(&c)
	back.ID = newID
	if back.Source = "manual"; why != "" {
		back.Explanation = why
	}
	d.lines(b, []record.Charge{back})
	return nil
}

// fresh returns lines without ids: those of a snapshot may be posted again.
func fresh(lines []record.Charge) []record.Charge {
	lines = slices.Clone(lines)
	for i := range lines {
		lines[i].ID = ""
	}
	return lines
}
