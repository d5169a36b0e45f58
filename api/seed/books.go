package seed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/desk/workshop"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rental/price"
)

// settleMoney does what follows from a booking in money: the payment, the damage, the deposit.
func (w *worker) settleMoney(ctx context.Context, r *Rental, rec record.Record[record.Booking], until time.Time) error {
	o := desk.Order{By: by, Account: w.Account, Booking: rec.ID}
	if rec.Body.Status == record.BookingCompleted && r.Damage != "" && len(rec.Body.Damages) == 0 {
		w.clock.Set(r.ActualReturn.Add(time.Hour))
		damage := record.Damage{ID: fleet.FormatID(fleet.DamagePrefix, rec.ID), Description: r.Damage, Severity: "minor",
			Estimate: &record.Money{Amount: r.DamageCents, Currency: "USD"}}
		if _, err := w.AddDamage(ctx, o, damage); err != nil {
			return fmt.Errorf("damage: %w", err)
		}
		next, err := w.SetDamage(ctx, o, desk.DamageRequest{ID: damage.ID, Status: "charged"})
		if err != nil {
			return fmt.Errorf("charge damage: %w", err)
		}
		rec = next
	}
	if err := w.pay(ctx, r, rec, until); err != nil {
		return fmt.Errorf("payment: %w", err)
	}
	if rec.Body.Status != record.BookingCompleted || rec.Body.Deposit.Status != "authorized" {
		return nil
	}
	w.clock.Set(r.ActualReturn.Add(2 * time.Hour))
	if _, err := w.SetDeposit(ctx, o, rental.DepositOrder{Action: rental.Release}); err != nil {
		return fmt.Errorf("release deposit: %w", err)
	}
	return nil
}

// pay pays what a booking has come to: at its end, some weeks later, or what its cancelling costs.
func (w *worker) pay(ctx context.Context, r *Rental, rec record.Record[record.Booking], until time.Time) error {
	var at time.Time
	method := "card"
	switch rec.Body.Status {
	case record.BookingCompleted:
		at = r.ActualReturn.Add(3 * time.Hour)
	case record.BookingCancelled:
		at = r.CancelledAt.Add(time.Hour)
	case record.BookingNoShow:
		at = r.PickupAt.Add(26 * time.Hour)
	default:
		return nil
	}
	switch {
	case ledger.Collects(r.Channel):
		method = "platform" // which has collected it
	case r.PaysLater:
		at, method = at.AddDate(0, 0, 16), "bank_transfer"
	}
	totals, err := price.Totals(rec.Body.Currency, rec.Body.Charges)
	if err != nil || totals.Total.Amount <= 0 || !at.Before(until) {
		return err
	}
	w.clock.Set(at)
	p := record.Payment{PaymentFields: record.PaymentFields{
		BookingID: fleet.FormatID(fleet.BookingPrefix, rec.ID), CustomerID: rec.Body.CustomerID, Direction: "in",
		Method: method, Amount: totals.Total, ReceivedAt: record.InstantOf(at),
	}, Status: "succeeded"}
	if method == "card" {
		p.Provider, p.Fee = "demo", &record.Money{Amount: totals.Total.Amount*29/1000 + 30, Currency: totals.Total.Currency}
	}
	if p.BookedFor, _, err = w.Books.PaymentFor(ctx, w.Account, p.BookingID, p.CustomerID); err != nil {
		return err
	}
	_, _, err = w.Payments.Create(ctx, by, w.Account, w.id(r.BookedAt, sortPayment, 0), p)
	return err
}

// service carries out a visit to the workshop.
func (w *worker) service(ctx context.Context, s Service, until time.Time) error {
	w.clock.Set(s.From.Add(-48 * time.Hour))
	dollars := func(cents int64) record.Money { return record.Money{Amount: cents, Currency: "USD"} }
	id := w.id(s.From, sortWork, 0)
	rec, err := w.Workshop.OpenWork(ctx, by, w.Account, id, record.WorkOrderFields{
		VehicleID: s.Car, Type: s.Type, Title: s.Title, Vendor: "Eastside Garage", ScheduledStart: record.InstantOf(s.From),
		ScheduledEnd: record.InstantOf(s.Until),
		Lines: []record.WorkLine{{Kind: "labor", Description: "Labor", Quantity: 100, UnitCost: dollars(s.LaborCents)},
			{Kind: "part", Description: "Parts", Quantity: 100, UnitCost: dollars(s.PartsC)}},
	})
	if err != nil {
		return fmt.Errorf("work order: %w", err)
	}
	for _, step := range []struct {
		from string
		at   time.Time
		move workshop.WorkMove
	}{
		{record.WorkDraft, s.From.Add(-47 * time.Hour), workshop.WorkMove{Action: rental.ScheduleWork}},
		{record.WorkScheduled, s.From, workshop.WorkMove{Action: rental.StartWork}},
		{record.WorkInProgress, s.Until, workshop.WorkMove{Action: rental.CompleteWork, MileageMi: &s.MileageMi}},
	} {
		if rec.Body.Status != step.from || !step.at.Before(until) {
			continue
		}
		w.clock.Set(step.at)
		if rec, err = w.Workshop.MoveWork(ctx, by, w.Account, id, step.move, nil); err != nil {
			return fmt.Errorf("work order, %s: %w", step.from, err)
		}
	}
	return nil
}

// expenses enters what a car, or the business, has cost.
func (w *worker) expenses(ctx context.Context, car string, since, until time.Time) error {
	for _, c := range w.Plan.Costs[car] {
		if !c.On.Before(until) || c.On.Before(since) {
			continue
		}
		at := c.On.Add(12 * time.Hour)
		w.clock.Set(at)
		e := record.Expense{ExpenseFields: record.ExpenseFields{
			VehicleID: car, Category: c.Category, Vendor: c.Vendor, Amount: record.Money{Amount: c.Cents, Currency: "USD"},
			IncurredOn: c.On.Format(time.DateOnly),
		}, Status: "posted", PostedAt: record.InstantOf(at)}
		if !c.From.IsZero() {
			e.ServicePeriod = &record.DateRange{From: c.From.Format(time.DateOnly), To: c.To.Format(time.DateOnly)}
		}
		var err error
		if e.BookedFor, _, err = w.Books.BookedFor(ctx, w.Account, car, "", ""); err != nil {
			return err
		}
		if _, _, err = w.Expenses.Create(ctx, by, w.Account, w.id(c.On, sortExpense, c.Number), e); err != nil {
			return fmt.Errorf("expense %d: %w", c.Number, err)
		}
	}
	return nil
}

// taken says whether an error is about a vehicle that somebody else has, or a state that does not allow the step:
// people may have used the demo meanwhile, and what they did stands.
func taken(err error) bool {
	code := fleet.CodeOf(err)
	var transition *record.TransitionError
	return code == fleet.CodeConflict || errors.As(err, &transition)
}
