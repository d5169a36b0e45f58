package workshop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
)

// OpenWork makes a draft of a work order. Repeated under one id it gives what the first time gave.
func (d *Workshop) OpenWork(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	fields record.WorkOrderFields) (record.Record[record.WorkOrder], error) {
	if there, err := d.Work.Get(ctx, account, id); err == nil {
		return there, d.Work.Own(ctx, by, account, id)
	} else if fleet.CodeOf(err) != fleet.CodeNotFound {
		return there, err
	}
	w := record.WorkOrder{WorkOrderFields: fields, Status: record.WorkDraft, StatusSince: record.InstantOf(d.Now())}
	w.Complete()
	var err error
	if w.Total, err = rental.WorkTotal(w.Lines); err != nil {
		return record.Record[record.WorkOrder]{}, err
	}
	rec, _, err := d.Work.Create(ctx, by, account, id, w)
	return rec, err
}

// WorkMove is what is done with a work order, and what is said with it.
type WorkMove struct {
	Action     rental.WorkAction
	Start, End record.Instant // of schedule; what the work order says unless given
	Reason     string         // of hold and cancel
	MileageMi  *int           // of complete: what was read off the vehicle
	InvoiceRef string         // of complete
	Confirm    []string       // as Handover has it
}

// MoveWork does something with a work order. check, if not nil, may refuse the revision that it is done upon. What
// its state does not allow is a *record.TransitionError; a vehicle that is taken in the time of the work order is
// a *calendar.ConflictError.
func (d *Workshop) MoveWork(ctx context.Context, by record.Author, account fleet.AccountID, id uint64, m WorkMove,
	check func(*record.Record[record.WorkOrder]) error) (record.Record[record.WorkOrder], error) {
	// a hold that nothing is written for by then counts as abandoned soon after
	ctx, cancel := context.WithTimeout(ctx, d.WriteWithin)
	defer cancel()
	for {
		was, err := d.Work.Get(ctx, account, id)
		if err != nil {
			return was, err
		}
		if check != nil {
			if err := check(&was); err != nil {
				return d.Work.AlreadyDone(ctx, err, by, account, id)
			}
		}
		next := was
		if err := d.moveWork(ctx, &next, m); err != nil {
			return d.Work.AlreadyDone(ctx, err, by, account, id)
		}
		bid, err := d.bidForWork(ctx, by, &was, &next)
		if err != nil {
			return was, err
		}
		rec, err := d.Work.Update(ctx, by, account, id, was.Revision, func(r *record.Record[record.WorkOrder]) error {
			r.Body = next.Body
			return nil
		})
		if err == nil {
			return rec, nil
		}
		if code := fleet.CodeOf(err); code != "" && code != fleet.CodeUnavailable {
			d.withdrawWork(ctx, by, &next, bid)
			if code == fleet.CodeStale && ctx.Err() == nil {
				continue // somebody else came first: decided upon what stands now
			}
		}
		return rec, err
	}
}

// moveWork makes the next revision of a work order.
func (d *Workshop) moveWork(ctx context.Context, r *record.Record[record.WorkOrder], m WorkMove) error {
	w, now := &r.Body, record.InstantOf(d.Now())
	to, err := rental.NextWork(r.ID, w.Status, m.Action)
	if err != nil {
		return err
	}
	if w.Status != to {
		w.Status, w.StatusSince = to, now
	}
	w.HoldReason = ""
	switch m.Action {
	case rental.ScheduleWork:
		return scheduleWork(w, m)
	case rental.StartWork:
		w.StartedAt = now
		startHold(w, now.Time)
		return d.notRented(ctx, r)
	case rental.HoldWork:
		w.HoldReason = m.Reason
	case rental.CompleteWork:
		return d.completeWork(ctx, r, m, now)
	case rental.CancelWork:
		w.CancelReason, w.BlockedFrom, w.BlockedUntil = m.Reason, record.Instant{}, record.Instant{}
	}
	return nil
}

// scheduleWork sets the time of a work order, which blocks the vehicle.
func scheduleWork(w *record.WorkOrder, m WorkMove) error {
	if !m.Start.IsZero() {
		w.ScheduledStart = m.Start
	}
	if !m.End.IsZero() {
		w.ScheduledEnd = m.End
	}
	if w.ScheduledStart.IsZero() || w.ScheduledEnd.IsZero() {
		return fleet.NewError(fleet.CodeValidation, "A work order is scheduled from a time until a time.",
			fleet.FieldError{Pointer: "/scheduled_from", Code: "required",
				Detail: "both scheduled_from and scheduled_until are needed, here or before"})
	}
	if !w.ScheduledStart.Before(w.ScheduledEnd.Time) {
		return fleet.NewError(fleet.CodeValidation, "A work order must end after it begins.",
			fleet.FieldError{Pointer: "/scheduled_until", Code: "order", Detail: "must lie after scheduled_from"})
	}
	w.BlockedFrom, w.BlockedUntil = w.ScheduledStart, w.ScheduledEnd
	if w.StartedAt.IsZero() {
		return nil
	}
	// What has begun began when it did.
	w.BlockedFrom = earlier(w.BlockedFrom, w.StartedAt)
	if !w.BlockedFrom.Before(w.BlockedUntil.Time) {
		return fleet.NewError(fleet.CodeValidation, "A work order must end after it begins.",
			fleet.FieldError{Pointer: "/scheduled_until", Code: "order", Detail: "must lie after it was started"})
	}
	return nil
}

func earlier(a, b record.Instant) record.Instant {
	if b.Before(a.Time) {
		return b
	}
	return a
}

// startHold has the hold of a work order begin no later than now, and if its time is over already, last as long
// as was planned.
func startHold(w *record.WorkOrder, now time.Time) {
	length := w.BlockedUntil.Sub(w.BlockedFrom.Time)
	w.BlockedFrom = earlier(w.BlockedFrom, record.InstantOf(now))
	if !now.Before(w.BlockedUntil.Time) {
		w.BlockedUntil = record.InstantOf(now.Add(max(length, time.Minute)))
	}
}

// notRented refuses to work on a vehicle that is with a customer.
func (d *Workshop) notRented(ctx context.Context, r *record.Record[record.WorkOrder]) error {
	id, err := fleet.ParseID(fleet.VehiclePrefix, r.Body.VehicleID)
	if err != nil {
		return err
	}
	v, err := d.Vehicles.Get(ctx, r.Account, id)
	if err != nil || d.Past || v.Body.Status != record.VehicleRented {
		return err
	}
	by := "a booking"
	if v.Body.StatusCause != "" {
		by = v.Body.StatusCause
	}
	return fleet.NewError(fleet.CodeConflict,
		fmt.Sprintf("The vehicle %s is rented (%s); the work can start when it is back.", r.Body.VehicleID, by))
}

// completeWork ends a work order: what it cost, how long it took, what the meters said; its hold ends now.
func (d *Workshop) completeWork(ctx context.Context, r *record.Record[record.WorkOrder], m WorkMove,
	now record.Instant) error {
	w := &r.Body
	if _, err := d.Yard.Believed(ctx, r.Account, w.VehicleID, now.Time, m.MileageMi, "/mileage_mi",
		m.Confirm); err != nil {
		return err
	}
	if m.MileageMi != nil {
		w.MileageMi = m.MileageMi
	}
	if m.InvoiceRef != "" {
		w.InvoiceRef = m.InvoiceRef
	}
	var err error
	if w.Done, err = d.anchorAt(ctx, r.Account, w.VehicleID, now.Time, w.MileageMi); err != nil {
		return err
	}
	if w.Total, err = rental.WorkTotal(w.Lines); err != nil {
		return err
	}
	if err := d.Books.BookedNow(ctx, r.Account, &w.BookedFor, w.VehicleID); err != nil {
		return err
	}
	w.CompletedAt = now
	w.DowntimeMinutes = int(now.Sub(w.StartedAt.Time).Round(time.Minute) / time.Minute)
	w.BlockedUntil = now
	if !w.BlockedFrom.Before(now.Time) {
		w.BlockedFrom, w.BlockedUntil = record.Instant{}, record.Instant{}
	}
	return nil
}

// workHold is the hold that a work order wants, and of which vehicle; nil for none. One that was begun holds the
// vehicle until it ends.
func workHold(id uint64, w *record.WorkOrder) (uint64, *calendar.Hold) {
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, w.VehicleID)
	if err != nil || w.BlockedFrom.IsZero() {
		return 0, nil
	}
	return vehicle, &calendar.Hold{Ref: fleet.FormatID(fleet.WorkOrderPrefix, id), From: w.BlockedFrom,
		Until: w.BlockedUntil,
		Open:  w.Status == record.WorkInProgress || w.Status == record.WorkOnHold}
}

// bidForWork takes what the next revision of a work order holds beside what the present one has; nil if that is enough.
func (d *Workshop) bidForWork(ctx context.Context, by record.Author,
	was, next *record.Record[record.WorkOrder]) (*calendar.Hold, error) {
	vehicle, want := workHold(next.ID, &next.Body)
	before, had := workHold(was.ID, &was.Body)
	if want == nil || before == vehicle && holding.Within(want, had) {
		return nil, nil
	}
	want.Rev, want.Bid = was.Revision+1, record.RandomID()
	_, err := d.Calendars.Take(ctx, by, was.Account, vehicle, *want)
	taken, ok := errors.AsType[*calendar.ConflictError](err)
	if !ok {
		return want, err
	}
	// A block because maintenance is overdue is not in the way of maintenance. While it stands no booking can
	// come in between.
	if mine, asked := d.overdueBlock(ctx, was.Account, &taken.Hold); asked != nil || !mine {
		return nil, errors.Join(asked, err)
	}
	want.Conflict = true
	all, err := d.Calendars.Take(ctx, by, was.Account, vehicle, *want)
	if err != nil {
		return nil, err
	}
	beside := all.Beside(want, d.Now())
	for i := range beside {
		if mine, asked := d.overdueBlock(ctx, was.Account, &beside[i]); asked != nil || !mine {
			d.withdrawWork(ctx, by, next, want)
			return nil, errors.Join(asked, &calendar.ConflictError{Vehicle: next.Body.VehicleID, Hold: beside[i]})
		}
	}
	return want, nil
}

// withdrawWork gives a bid back that came to nothing. If that fails, the bid counts as abandoned after a while.
func (d *Workshop) withdrawWork(ctx context.Context, by record.Author, r *record.Record[record.WorkOrder],
	bid *calendar.Hold) {
	if bid == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	vehicle, _ := workHold(r.ID, &r.Body)
	if err := d.Calendars.Withdraw(ctx, by, r.Account, vehicle, *bid); err != nil {
		d.Log.WarnContext(ctx, "a bid was not withdrawn and lapses by itself", "work_order", bid.Ref, "error", err)
	}
}
