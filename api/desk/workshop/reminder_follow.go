package workshop

import (
	"context"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/due"
)

// SnoozeReminder keeps quiet about a reminder until an instant: its stage goes on, and is told of afterwards.
func (d *Workshop) SnoozeReminder(r *record.Record[record.Reminder], until record.Instant) error {
	if !due.Open(r.Body.Stage) {
		return due.Refusal(&r.Body, fleet.FormatID(fleet.ReminderPrefix, r.ID), "snoozed")
	}
	if !until.IsZero() && !until.After(d.Now()) {
		return fleet.NewError(fleet.CodeValidation, "A reminder can be snoozed until a time to come.",
			fleet.FieldError{Pointer: "/until", Code: "past", Detail: "must lie in the future"})
	}
	r.Body.SnoozedUntil = until
	return nil
}

// DismissReminder gives up a cycle: nothing is done, and the next one counts from now, as if it had been.
func (d *Workshop) DismissReminder(ctx context.Context, r *record.Record[record.Reminder], reason string) error {
	name := fleet.FormatID(fleet.ReminderPrefix, r.ID)
	if !due.Open(r.Body.Stage) {
		return due.Refusal(&r.Body, name, due.Dismissed)
	}
	done, err := d.anchorAt(ctx, r.Account, r.Body.VehicleID, d.Now(), nil)
	if err != nil {
		return err
	}
	r.Body.Reason, r.Body.Done = reason, done
	return due.Move(&r.Body, name, due.Dismissed, record.InstantOf(d.Now()))
}

// anchorAt is the local day of an instant, and what the meters of a vehicle said then; mi, if given, is what
// somebody read off it.
func (d *Workshop) anchorAt(ctx context.Context, account fleet.AccountID, vehicle string, at time.Time,
	mi *int) (*record.Anchor, error) {
	id, err := fleet.ParseID(fleet.VehiclePrefix, vehicle)
	if err != nil {
		return nil, err
	}
	v, err := d.Vehicles.Get(ctx, account, id)
	if err != nil {
		return nil, err
	}
	zone := v.Body.Timezone
	if zone == "" {
		a, err := d.Accounts.Get(ctx, account, uint64(account))
		if err != nil {
			return nil, err
		}
		zone = a.Body.Timezone
	}
	all, err := d.Reads.MetersNow(ctx, account, []uint64{id}, at)
	if err != nil {
		return nil, err
	}
	m := metersIn(all[id], fleet.ZoneOf(zone))
	if mi != nil {
		read := float64(*mi)
		m.Mi = &read
	}
	return due.Anchor{}.Completed(due.DayOf(at, fleet.ZoneOf(zone)), m).Record(), nil
}

// reminderFollows does what a schedule asks for when its task falls due: a draft of a work order, and a block while it
// is overdue. It looks at how the reminder stands now, so that it may be repeated.
func (d *Workshop) reminderFollows(ctx context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.Reminder](w)
	if err != nil || before != nil && before.Stage == after.Stage && slices.Equal(before.Basis, after.Basis) {
		return err
	}
	scheduleID, err := fleet.ParseID(fleet.SchedulePrefix, after.ScheduleID)
	if err != nil {
		return err
	}
	schedule, err := d.Schedules.Get(ctx, w.Account, scheduleID)
	if err != nil {
		return err
	}
	now, err := d.Reminders.Get(ctx, w.Account, w.ID)
	if err != nil {
		return err
	}
	rem, by := &now.Body, record.Author{Actor: w.Actor, RequestID: w.RequestID}
	if schedule.Body.AutoWorkOrder && rem.WorkOrderID == "" && (rem.Stage == due.Due || rem.Stage == due.Overdue) {
		if err := d.draftWork(ctx, by, &now); err != nil {
			return err
		}
	}
	blocks := rem.Stage == due.Overdue && schedule.Body.BlockOverdue
	if before != nil && before.Stage == due.Overdue && (!blocks || before.StageSince != rem.StageSince) {
		if err := d.unblock(ctx, by, &now, before.StageSince); err != nil {
			return err
		}
	}
	if blocks {
		return d.blockOverdue(ctx, by, &now)
	}
	return nil
}

// draftWork makes the draft of a work order for a reminder, once.
func (d *Workshop) draftWork(ctx context.Context, by record.Author, r *record.Record[record.Reminder]) error {
	taskID, err := fleet.ParseID(fleet.TaskPrefix, r.Body.TaskID)
	if err != nil {
		return err
	}
	task, err := d.Tasks.Get(ctx, r.Account, taskID)
	if err != nil {
		return err
	}
	_, err = d.OpenWork(ctx, by, r.Account, followerID("work order", r, record.Instant{}), record.WorkOrderFields{
		VehicleID: r.Body.VehicleID, Type: "preventive", Title: task.Body.Name, TaskIDs: []string{r.Body.TaskID},
		ReminderIDs: []string{fleet.FormatID(fleet.ReminderPrefix, r.ID)},
	})
	return err
}

// followerID names what a reminder brings about, once in its cycle, or once in a stage that it is in since an instant.
func followerID(what string, r *record.Record[record.Reminder], since record.Instant) uint64 {
	return fleet.DerivedID(fleet.Kind("reminder "+what), fleet.VehicleKey{Account: r.Account},
		fleet.MillisOf(since.Time), r.ID)
}

// noEnd is when a block ends that lasts until something is done.
var noEnd = record.InstantOf(time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC))

// blockOverdue keeps a vehicle from being rented until what is overdue is done. Bookings that it has keep it; no
// other can get it.
func (d *Workshop) blockOverdue(ctx context.Context, by record.Author, r *record.Record[record.Reminder]) error {
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, r.Body.VehicleID)
	if err != nil {
		return err
	}
	id := followerID("block", r, r.Body.StageSince)
	block, _, err := d.Blocks.Create(ctx, by, r.Account, id, record.Block{VehicleID: r.Body.VehicleID,
		BlockFields: record.BlockFields{From: r.Body.StageSince, Until: noEnd, Kind: "hold",
			Reason: "maintenance is overdue"}, SourceID: fleet.FormatID(fleet.ReminderPrefix, r.ID)})
	if err != nil || block.Archived() {
		return err
	}
	ref := fleet.FormatID(fleet.BlockPrefix, id)
	hold := calendar.Hold{Ref: ref, From: block.Body.From, Until: block.Body.Until, Conflict: true}
	if _, err := d.Calendars.Take(ctx, by, r.Account, vehicle, hold); err != nil {
		return err
	}
	_, err = d.Reminders.Update(ctx, by, r.Account, r.ID, 0, func(rec *record.Record[record.Reminder]) error {
		rec.Body.BlockID = ref
		return nil
	})
	return err
}

// unblock ends the block of a reminder that was overdue since an instant, and is not any more.
func (d *Workshop) unblock(ctx context.Context, by record.Author, r *record.Record[record.Reminder],
	since record.Instant) error {
	id := followerID("block", r, since)
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, r.Body.VehicleID)
	if err != nil {
		return err
	}
	if _, err := d.Blocks.Archive(ctx, by, r.Account, id, 0, nil); err != nil {
		if fleet.CodeOf(err) == fleet.CodeNotFound {
			return nil // it never had one
		}
		return err
	}
	ref := fleet.FormatID(fleet.BlockPrefix, id)
	if _, err := d.Reminders.Update(ctx, by, r.Account, r.ID, 0, func(rec *record.Record[record.Reminder]) error {
		if rec.Body.BlockID == ref {
			rec.Body.BlockID = ""
		}
		return nil
	}); err != nil {
		return err
	}
	return d.Calendars.Give(ctx, by, r.Account, vehicle, ref)
}

// overdueBlock says whether a hold is one that keeps a vehicle from being rented because maintenance is overdue: it is
// not in the way of that maintenance.
func (d *Workshop) overdueBlock(ctx context.Context, account fleet.AccountID, h *calendar.Hold) (bool, error) {
	id, err := fleet.ParseID(fleet.BlockPrefix, h.Ref)
	if err != nil {
		return false, nil
	}
	block, err := d.Blocks.Get(ctx, account, id)
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return false, nil
	}
	_, notOfReminder := fleet.ParseID(fleet.ReminderPrefix, block.Body.SourceID)
	return err == nil && notOfReminder == nil, err
}
