package workshop

import (
	"context"
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rental/due"
)

// workHolds makes the calendars that a revision of a work order touches say what the work order says by now.
func (d *Workshop) workHolds(ctx context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.WorkOrder](w)
	if err != nil || before == nil {
		return err // a draft holds nothing
	}
	left, had := workHold(w.ID, before)
	vehicle, want := workHold(w.ID, after)
	if had == nil && want == nil {
		return nil
	}
	for _, id := range distinct([]uint64{left, vehicle}) {
		if id == 0 {
			continue
		}
		if err := d.settleWork(ctx, record.Author{Actor: w.Actor, RequestID: w.RequestID}, w.Account, w.ID, id); err != nil {
			return err
		}
	}
	return nil
}

// settleWork makes the calendar of a vehicle say what a work order says by now.
func (d *Workshop) settleWork(ctx context.Context, by record.Author, account fleet.AccountID,
	id, vehicle uint64) error {
	return d.Calendars.SettleHolder(ctx, by, account, vehicle, fleet.FormatID(fleet.WorkOrderPrefix, id),
		func(ctx context.Context) (uint64, *calendar.Hold, error) {
			r, err := d.Work.Get(ctx, account, id)
			if err != nil {
				return 0, nil, err
			}
			of, hold := workHold(id, &r.Body)
			if of != vehicle || r.Archived() {
				hold = nil
			}
			return r.Revision, hold, nil
		})
}

// workLinks has the reminders and issues of a work order follow it: they name it while it is to be done, are resolved
// when it is done, and are free again when it is cancelled, or does not name them any more. It looks at how the work
// order stands now.
func (d *Workshop) workLinks(ctx context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.WorkOrder](w)
	if err != nil {
		return err
	}
	now, err := d.Work.Get(ctx, w.Account, w.ID)
	if err != nil {
		return err
	}
	by := record.Author{Actor: w.Actor, RequestID: w.RequestID}
	reminders, issues := slices.Clone(after.ReminderIDs), slices.Clone(after.IssueIDs)
	if before != nil {
		reminders, issues = append(reminders, before.ReminderIDs...), append(issues, before.IssueIDs...)
	}
	slices.Sort(reminders)
	for _, text := range slices.Compact(reminders) {
		if err := d.linkReminder(ctx, by, &now, text); err != nil {
			return err
		}
	}
	slices.Sort(issues)
	for _, text := range slices.Compact(issues) {
		if err := d.linkIssue(ctx, by, &now, text); err != nil {
			return err
		}
	}
	return nil
}

// linkReminder has one reminder follow a work order.
func (d *Workshop) linkReminder(ctx context.Context, by record.Author, w *record.Record[record.WorkOrder],
	text string) error {
	id, err := fleet.ParseID(fleet.ReminderPrefix, text)
	if err != nil {
		return err
	}
	self := fleet.FormatID(fleet.WorkOrderPrefix, w.ID)
	_, err = d.Reminders.Update(ctx, by, w.Account, id, 0, func(r *record.Record[record.Reminder]) error {
		rem := &r.Body
		names := slices.Contains(w.Body.ReminderIDs, text) && w.Body.Status != record.WorkCancelled && !w.Archived()
		switch {
		case !due.Open(rem.Stage) || rem.WorkOrderID != "" && rem.WorkOrderID != self:
			return nil
		case !names:
			rem.WorkOrderID = ""
		case w.Body.Status == record.WorkCompleted:
			rem.WorkOrderID, rem.ResolvedBy, rem.Done = self, self, w.Body.Done
			return due.Move(rem, text, due.Resolved, w.Body.CompletedAt)
		default:
			rem.WorkOrderID = self
		}
		return nil
	})
	if fleet.CodeOf(err) == fleet.CodeConflict {
		return nil // archived
	}
	return err
}

// linkIssue has one issue follow a work order.
func (d *Workshop) linkIssue(ctx context.Context, by record.Author, w *record.Record[record.WorkOrder],
	text string) error {
	id, err := fleet.ParseID(fleet.IssuePrefix, text)
	if err != nil {
		return err
	}
	self := fleet.FormatID(fleet.WorkOrderPrefix, w.ID)
	_, err = d.Issues.Update(ctx, by, w.Account, id, 0, func(r *record.Record[record.Issue]) error {
		i := &r.Body
		names := slices.Contains(w.Body.IssueIDs, text) && w.Body.Status != record.WorkCancelled && !w.Archived()
		switch {
		case i.Status == rental.IssueResolved || i.Status == rental.IssueWontFix ||
			i.WorkOrderID != "" && i.WorkOrderID != self:
			return nil
		case !names:
			if i.WorkOrderID == "" {
				return nil
			}
			i.WorkOrderID = ""
			return rental.MoveIssue(id, i, rental.IssueOpen, record.InstantOf(d.Now()))
		case w.Body.Status == record.WorkCompleted:
			i.WorkOrderID, i.Resolution = self, "done with work order "+self
			return rental.MoveIssue(id, i, rental.IssueResolved, w.Body.CompletedAt)
		}
		i.WorkOrderID = self
		if !w.Body.StartedAt.IsZero() {
			return rental.MoveIssue(id, i, rental.IssueInProgress, w.Body.StartedAt)
		}
		return nil
	})
	if fleet.CodeOf(err) == fleet.CodeConflict {
		return nil // archived
	}
	return err
}

// workWants says whether a work order wants a hold of its vehicle.
func (d *Workshop) workWants(ctx context.Context, account fleet.AccountID, id uint64, at holding.Place,
	h calendar.Hold) (bool, error) {
	r, err := d.Work.Get(ctx, account, id)
	if err != nil || r.Archived() {
		return false, err
	}
	vehicle, want := workHold(id, &r.Body)
	if vehicle != at.Vehicle {
		return false, nil
	}
	return holding.Standing(&h, r.Revision, want, func() error {
		return d.settleWork(ctx, record.System, account, id, vehicle)
	})
}
