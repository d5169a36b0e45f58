package books

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/query"
)

// ConfirmAmount is what is sent in confirm to say that an amount is right: that more is paid out than was paid in, or
// far more paid in than is due.
const ConfirmAmount = "amount"

// farAbove is how many times what is due a payment must be to look like a typing error. Paying ahead is normal.
const farAbove = 10

// doubtAmount says of an amount that it may be a typing error.
func doubtAmount(detail string) error {
	return &record.DoubtError{Confirm: []string{ConfirmAmount},
		Faults: []fleet.FieldError{{Pointer: "/amount/amount", Code: "implausible", Detail: detail}}}
}

// Pay writes a new payment. More paid out than was paid in, or far more paid in than is due, is a *DoubtError unless it
// was confirmed.
func (d *Books) Pay(
	ctx context.Context, by record.Author, account fleet.AccountID, id uint64, p record.Payment, confirmed []string,
) (rec record.Record[record.Payment], err error) {
	err = d.InTurn(ctx, func() error {
		next := p
		_, err := d.Payments.Get(ctx, account, id)
		if fleet.CodeOf(err) == fleet.CodeNotFound { // or it was written by an earlier attempt, and judged then
			if p.Direction == "out" {
				err = d.takeOut(ctx, account, &next, p.Amount.Amount, confirmed)
			} else {
				err = d.likely(ctx, account, &next, confirmed)
			}
		}
		if err == nil {
			rec, _, err = d.Payments.Create(ctx, by, account, id, next)
		}
		return err
	})
	return rec, err
}

// GiveBack gives back a part of a payment as record.GiveBack does, and no more than what was paid in and not paid out
// since, unless that was confirmed. It is done InTurn.
func (d *Books) GiveBack(
	ctx context.Context, rec *record.Record[record.Payment], refund record.Refund, confirmed []string,
) error {
	if err := record.GiveBack(rec, refund); err != nil || rec.Body.Direction == "out" {
		return err
	}
	return d.takeOut(ctx, rec.Account, &rec.Body, rec.Body.Refunds[len(rec.Body.Refunds)-1].Amount.Amount, confirmed)
}

// AssignPayment gives a payment that was noted without a booking its booking, which it keeps. What was paid out to the
// customer since cannot pay a booking as well. It is done InTurn.
func (d *Books) AssignPayment(ctx context.Context, rec *record.Record[record.Payment], booking string) error {
	p := &rec.Body
	switch {
	case p.BookingID == booking:
		return nil
	case p.BookingID != "":
		return fleet.NewError(fleet.CodeConflict, "The payment is of the booking "+p.BookingID+
			" already. Give it back there, and note it for the other booking.")
	case p.Direction == "out":
		return fleet.NewError(fleet.CodeConflict, "The money was paid out without a booking. Only what came in is given one.")
	}
	kept, b, err := d.PaymentFor(ctx, rec.Account, booking, p.CustomerID)
	if err != nil {
		return err
	}
	if b.Currency != "" && b.Currency != p.Amount.Currency {
		return fleet.Invalid(fleet.FieldError{Pointer: "/booking_id", Code: "currency_mismatch",
			Detail: "is of a booking in " +
				b.Currency + "; the payment is in " + p.Amount.Currency})
	}
	err = d.takeOut(ctx, rec.Account, p, p.Amount.Amount-p.Refunded(), nil)
	if doubt := (*record.DoubtError)(nil); errors.As(err, &doubt) && p.Status != record.PaymentPending {
		return fleet.NewError(fleet.CodeConflict, "Some of the money was paid out to the customer since: "+
			doubt.Faults[0].Detail+".")
	} else if err != nil && doubt == nil {
		return err
	}
	p.BookingID, p.BookedFor, p.CustomerID = booking, kept, kept.CustomerID
	return nil
}

// errTurn is where a payment is refused because another is paying out the same money at that moment.
const errTurn = "/turns"

// InTurn does what pays money out, again if another came first: whoever decides about the same money next sees what
// that one took.
func (d *Books) InTurn(ctx context.Context, do func() error) error {
	until := time.Now().Add(d.MayRun)
	for {
		err := do()
		var e *fleet.Error
		if !errors.As(err, &e) || len(e.Fields) == 0 || e.Fields[0].Pointer != errTurn {
			return err
		}
		if time.Now().After(until) {
			return fleet.NewError(fleet.CodeConflict, "The same money is being paid out at this moment. Try it again.")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10*time.Millisecond + rand.N(30*time.Millisecond)):
		}
	}
}

// takeOut has a payment take a sum out of what was paid in for its booking or, without one, by its customer. More than
// that is a *DoubtError unless it was confirmed. Each that takes something has a turn of its own, which is unique: of
// two that looked at the same money one is written, and the other looks again.
func (d *Books) takeOut(
	ctx context.Context, account fleet.AccountID, p *record.Payment, sum int64, confirmed []string,
) error {
	of := p.BookingID
	if of == "" {
		of = p.CustomerID
	}
	if of == "" { // nobody's: what it was itself is all that there is
		if p.Direction == "out" && !slices.Contains(confirmed, ConfirmAmount) {
			return doubtAmount("Nobody is named who paid in what is paid out")
		}
		return nil
	}
	ids, err := query.PaymentsBy(ctx, d.DB, account, p.BookingID, p.CustomerID)
	if err != nil {
		return err
	}
	var left int64
	turn := 0
	for _, id := range ids {
		other, err := d.Payments.Get(ctx, account, id)
		if err != nil {
			return err
		}
		o := &other.Body
		for _, t := range o.Turns {
			if whose, number, _ := strings.Cut(t, "/"); whose == of {
				if n, err := strconv.Atoi(number); err == nil {
					turn = max(turn, n+1)
				}
			}
		}
		if o.BookingID == p.BookingID && o.Amount.Currency == p.Amount.Currency {
			left += stays(o)
		}
	}
	what := "by the customer without a booking"
	if p.BookingID != "" {
		what = "for the booking"
		b, err := named(ctx, d.Bookings, account, p.BookingID, "/booking_id")
		if err != nil {
			return err
		}
		left += b.Deposit.Applied.Amount
	}
	if sum > left && !slices.Contains(confirmed, ConfirmAmount) {
		return doubtAmount(fmt.Sprintf("%s would be paid out, and only %s is left of what was paid in %s", inMoney(sum, p),
			inMoney(max(0, left), p), what))
	}
	p.Turns = append(slices.Clone(p.Turns), of+"/"+strconv.Itoa(turn))
	return nil
}

func inMoney(amount int64, p *record.Payment) string {
	return price.Format(record.Money{Amount: amount, Currency: p.Amount.Currency})
}

// stays is what a payment adds to what was paid in, or takes from it; what is about to go out is gone.
func stays(p *record.Payment) int64 {
	left := p.Amount.Amount - p.Refunded()
	switch {
	case p.Status == record.PaymentFailed, p.Status == record.PaymentPending && p.Direction != "out":
		return 0
	case p.Direction == "out":
		return -left
	}
	return left
}

// likely refuses a payment that is so far above what its booking owes, or all comes to if nothing is owed any more,
// that it looks like a typing error.
func (d *Books) likely(ctx context.Context, account fleet.AccountID, p *record.Payment, confirmed []string) error {
	id, err := fleet.ParseID(fleet.BookingPrefix, p.BookingID)
	if err != nil || slices.Contains(confirmed, ConfirmAmount) {
		return nil // of no booking
	}
	b, err := d.Bookings.Get(ctx, account, id)
	if err != nil {
		return err
	}
	owed, due, err := d.Owes(ctx, account, id, &b.Body)
	if err != nil {
		return err
	}
	if due <= 0 {
		due = owed
	}
	if due > 0 && p.Amount.Amount/farAbove >= due {
		return doubtAmount(fmt.Sprintf("%s would be paid in, and only %s is due for the booking", inMoney(p.Amount.Amount, p),
			inMoney(due, p)))
	}
	return nil
}

// Owes is what a booking comes to, for whoever pays it, and what of that is not paid.
func (d *Books) Owes(ctx context.Context, account fleet.AccountID, id uint64,
	b *record.Booking) (owed, due int64, err error) {
	paid, err := query.PaidOf(ctx, d.DB, account, []uint64{id})
	if err != nil {
		return 0, 0, err
	}
	totals, err := price.Totals(b.Currency, b.Charges)
	if err != nil {
		return 0, 0, err
	}
	if owed = totals.Total.Amount; ledger.Collects(b.Channel) {
		owed -= totals.PlatformFee.Amount
	}
	return owed, owed - paid[id].Received + paid[id].Refunded - b.Deposit.Applied.Amount, nil
}

// BadDebt refuses to write off more of a booking than it owes: what is due less what was written off before.
func (d *Books) BadDebt(ctx context.Context, account fleet.AccountID, e *record.Expense) error {
	id, err := fleet.ParseID(fleet.BookingPrefix, e.BookingID)
	if err != nil || e.Category != "bad_debt" {
		return nil
	}
	b, err := d.Bookings.Get(ctx, account, id)
	if err != nil {
		return err
	}
	if e.Amount.Currency != b.Body.Currency {
		return fleet.Invalid(fleet.FieldError{Pointer: "/amount/currency", Code: "currency_mismatch",
			Detail: "the booking is in " + b.Body.Currency})
	}
	_, due, err := d.Owes(ctx, account, id, &b.Body)
	if err != nil {
		return err
	}
	lost, err := query.WrittenOff(ctx, d.DB, account, []uint64{id})
	if err != nil {
		return err
	}
	if due = max(0, due-lost[id].Sum); e.Amount.Amount > due {
		return fleet.Invalid(fleet.FieldError{Pointer: "/amount/amount", Code: "out_of_range", Detail: "is more than the " +
			price.Format(record.Money{Amount: due, Currency: e.Amount.Currency}) + " that the booking still owes"})
	}
	return nil
}
