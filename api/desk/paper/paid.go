package paper

import (
	"context"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/paperwork"
	"github.com/motorpool/fleet/query"
)

// afterPaper has an invoice be credited that a credit note takes back, and invoices be paid as far as what was paid
// goes.
func (d *Papers) afterPaper(ctx context.Context, w record.Written) error {
	_, p, err := record.Bodies[record.Paper](w)
	if err != nil || p.Number == "" {
		return err
	}
	if invoice, err := fleet.ParseID(fleet.InvoicePrefix, p.InvoiceID); err == nil {
		if _, err := d.Log(record.Invoices).Update(ctx, w.System(), w.Account, invoice, 0, func(r *rec) error {
			if r.Body.Status == record.PaperCredited {
				return nil
			}
			return record.MovePaper(r, record.PaperCredited)
		}); err != nil {
			return err
		}
	}
	return d.settle(ctx, w.System(), w.Account, p.BookingID)
}

// afterPayment has invoices of the payment's booking be paid, or open again.
func (d *Papers) afterPayment(ctx context.Context, w record.Written) error {
	_, p, err := record.Bodies[record.Payment](w)
	if err != nil {
		return err
	}
	return d.settle(ctx, w.System(), w.Account, p.BookingID)
}

// afterBooking does that where what is used of its deposit has changed.
func (d *Papers) afterBooking(ctx context.Context, w record.Written) error {
	if w.Before == nil {
		return nil // no paper names it yet
	}
	before, after, err := record.Bodies[record.Booking](w)
	if err != nil || before.Deposit.Applied == after.Deposit.Applied {
		return err
	}
	return d.settle(ctx, w.System(), w.Account, fleet.FormatID(fleet.BookingPrefix, w.ID))
}

// settle has each invoice of a booking be open or paid, as what was paid for the booking goes. What was paid is read
// again for each attempt to write, so that of several that settle at once the last word is that of all payments.
func (d *Papers) settle(ctx context.Context, by record.Author, account fleet.AccountID, booking string) error {
	if booking == "" {
		return nil
	}
	wanted, err := d.covered(ctx, account, booking)
	if err != nil {
		return err
	}
	for id := range wanted {
		_, err := d.Log(record.Invoices).Update(ctx, by, account, id, 0, func(r *rec) error {
			if r.Body.Status != record.PaperOpen && r.Body.Status != record.PaperPaid {
				return nil
			}
			now, err := d.covered(ctx, account, booking)
			if err != nil {
				return err
			}
			if covered, known := now[id]; known {
				r.Body.Status = map[bool]string{true: record.PaperPaid, false: record.PaperOpen}[covered]
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// covered says of the invoices of a booking whether what was paid covers them, by id.
func (d *Papers) covered(ctx context.Context, account fleet.AccountID, booking string) (map[uint64]bool, error) {
	papers, _, err := d.papersOf(ctx, account, booking)
	if err != nil || len(papers) == 0 {
		return nil, err
	}
	sum, err := d.paidFor(ctx, account, booking)
	if err != nil {
		return nil, err
	}
	covered := map[uint64]bool{}
	for i, is := range paperwork.PaidUp(bodies(papers), sum) {
		if papers[i].Body.Number != "" {
			covered[papers[i].ID] = is
		}
	}
	return covered, nil
}

// paidFor is what was paid for a booking: by payments, less refunds, and of its deposit.
func (d *Papers) paidFor(ctx context.Context, account fleet.AccountID, booking string) (int64, error) {
	id, err := fleet.ParseID(fleet.BookingPrefix, booking)
	if err != nil {
		return 0, err
	}
	b, err := d.Bookings.Get(ctx, account, id)
	if err != nil {
		return 0, err
	}
	paid, err := query.PaidOf(ctx, d.DB, account, []uint64{id})
	return paid[id].Received - paid[id].Refunded + b.Body.Deposit.Applied.Amount, err
}

// settled has an invoice that is being issued say what was paid of it by now. That stays printed on it, so the tables
// are made to say first what a process wrote that died a moment ago.
func (d *Papers) settled(ctx context.Context, account fleet.AccountID, p *record.Paper) error {
	if err := d.Store.MendNow(ctx, record.Payments.Name, record.Invoices.Name, record.CreditNotes.Name,
		record.Bookings.Name); err != nil {
		return err
	}
	papers, _, err := d.papersOf(ctx, account, p.BookingID)
	if err != nil {
		return err
	}
	paid, err := d.paidFor(ctx, account, p.BookingID)
	if err != nil {
		return err
	}
	paperwork.Settle(p, bodies(papers), paid)
	return nil
}
