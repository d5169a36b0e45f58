package books

import (
	"context"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// prepayments has payments know from which day on their bookings are billed: what was paid before is a prepayment until
// then. A payment is told when it is noted, and again whenever its booking's day changes; either may come first.
func (d *Books) prepayments() {
	d.Store.Then(record.Bookings.Name, "prepayments", func(ctx context.Context, w record.Written) error {
		before, after, err := record.Bodies[record.Booking](w)
		if err != nil || before == nil || ledger.BilledOn(before, time.UTC) == ledger.BilledOn(after, time.UTC) {
			return err
		}
		ids, err := d.Reads.PaymentsOf(ctx, w.Account, w.ID)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := d.billPayment(ctx, w, id, w.ID); err != nil {
				return err
			}
		}
		return nil
	})
	d.Store.Then(record.Payments.Name, "prepayments", func(ctx context.Context, w record.Written) error {
		before, after, err := record.Bodies[record.Payment](w)
		if err != nil || after.BookingID == "" || before != nil && before.BookingID == after.BookingID {
			return err
		}
		booking, err := fleet.ParseID(fleet.BookingPrefix, after.BookingID)
		if err != nil {
			return nil // of nothing that could be billed
		}
		return d.billPayment(ctx, w, w.ID, booking)
	})
}

// billPayment tells a payment from when on its booking is billed, as that stands now.
func (d *Books) billPayment(ctx context.Context, w record.Written, id, booking uint64) error {
	_, err := d.Payments.Update(ctx, w.System(), w.Account, id, 0, func(r *record.Record[record.Payment]) error {
		// Read upon the revision that is changed: of two that tell the payment at once, the one that comes last
		// knows the last day.
		b, err := d.Bookings.Get(ctx, w.Account, booking)
		if err != nil {
			return err
		}
		r.Body.BookedFor.BilledOn = billedOn(&b.Body, &r.Body.BookedFor)
		return nil
	})
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return nil
	}
	return err
}

// billedOn writes the day from which on a booking is billed, "" while it is not.
func billedOn(b *record.Booking, f *record.BookedFor) string {
	if day := ledger.BilledOn(b, fleet.ZoneOf(f.Timezone)); day != 0 {
		return day.String()
	}
	return ""
}

// PaymentFor says what a payment is for, from its booking and its customer, which may both be "", and
// returns the booking.
func (d *Books) PaymentFor(ctx context.Context, account fleet.AccountID,
	booking, customer string) (record.BookedFor, *record.Booking, error) {
	f, found, err := d.BookedFor(ctx, account, "", booking, customer)
	if err == nil && found != nil {
		f.BilledOn = billedOn(found, &f)
	}
	return f, found, err
}
