package workshop

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/due"
	"github.com/motorpool/fleet/query"
)

// maintenance has reminders follow from schedules, meters and time, and what work orders do follow from them.
func (d *Workshop) maintenance() {
	d.Holds.AnswerFor(fleet.WorkOrderPrefix, d.workWants)
	d.Store.Then(record.Reminders.Name, "work orders and blocks", d.reminderFollows)
	d.Store.Then(record.WorkOrders.Name, "calendar", d.workHolds)
	d.Store.Then(record.WorkOrders.Name, "reminders and issues", d.workLinks)
	d.AddDuty("reminders", 15*time.Second, func(ctx context.Context) error { return d.Remind(ctx, false) })
	d.AddDuty("every reminder", time.Hour, func(ctx context.Context) error { return d.Remind(ctx, true) })
}

// Bounds of one round of Remind.
const (
	remindMost   = 20_000 // pairs of a schedule and a vehicle that are looked at; the next round takes others
	remindAtOnce = 8      // writes under way
)

// Remind brings reminders up to date: it makes those that are missing, and moves on those whose day, reading or
// schedule has come; with all it looks at every open one, so that forecasts keep up. Any number of processes do it at
// once: a reminder's id is made of its schedule, vehicle and cycle, and what is told of it is noted in the write that
// makes it so. What fails is tried in the next round.
func (d *Workshop) Remind(ctx context.Context, all bool) error {
	now := d.Now()
	pending, err := query.MaintenancePending(ctx, d.DB, now, all, remindMost)
	if err != nil || len(pending) == 0 {
		return err
	}
	byAccount := map[fleet.AccountID][]query.PendingMaintenance{}
	for _, p := range pending {
		byAccount[p.Account] = append(byAccount[p.Account], p)
	}
	return base.Each(ctx, slices.Sorted(maps.Keys(byAccount)), func(account fleet.AccountID) error {
		if err := d.remind(ctx, account, byAccount[account], now); err != nil {
			return fmt.Errorf("reminders of %s: %w", account, err)
		}
		return nil
	})
}

// remind does what Remind does for the pairs of one account.
func (d *Workshop) remind(ctx context.Context, account fleet.AccountID, some []query.PendingMaintenance,
	now time.Time) error {
	r := &round{d: d, account: account, now: now}
	if err := r.read(ctx, some); err != nil {
		return err
	}
	work, inner := errgroup.WithContext(ctx)
	work.SetLimit(remindAtOnce)
	for _, p := range some {
		work.Go(func() error {
			if err := r.look(inner, p); err != nil && inner.Err() == nil {
				d.Log.WarnContext(ctx, "a reminder could not be brought up to date", "account", account, "schedule", p.Schedule,
					"vehicle", p.Vehicle, "error", err)
			}
			return inner.Err()
		})
	}
	return work.Wait()
}

// round is what one round of Remind knows of an account. It is not written after read.
type round struct {
	d         *Workshop
	account   fleet.AccountID
	now       time.Time
	zone      *time.Location
	schedules map[uint64]query.Stored
	tasks     map[uint64]query.Stored
	vehicles  map[uint64]query.Stored
	reminders map[uint64]query.Stored
	meters    map[uint64]query.Meters
}

// read reads what the pairs hang on.
func (r *round) read(ctx context.Context, pairs []query.PendingMaintenance) error {
	var schedules, vehicles, reminders, tasks []uint64
	for _, p := range pairs {
		schedules, vehicles = append(schedules, p.Schedule), append(vehicles, p.Vehicle)
		if p.Reminder != 0 {
			reminders = append(reminders, p.Reminder)
		}
	}
	records := func(l *query.Listing, ids []uint64) (found map[uint64]query.Stored, err error) {
		return query.RecordsByID(ctx, r.d.DB, l, r.account, distinct(ids))
	}
	var err error
	if r.schedules, err = records(&query.Schedules, schedules); err != nil {
		return err
	}
	for _, s := range r.schedules {
		body, err := bodyOf[record.MaintenanceSchedule](s)
		if err != nil {
			continue // look says so, of the pairs that hang on it
		}
		id, _ := fleet.ParseID(fleet.TaskPrefix, body.TaskID) // 0 is no task
		tasks = append(tasks, id)
	}
	if r.tasks, err = records(&query.ServiceTasks, tasks); err != nil {
		return err
	}
	if r.vehicles, err = records(&query.Vehicles, vehicles); err != nil {
		return err
	}
	if r.reminders, err = records(&query.Reminders, reminders); err != nil {
		return err
	}
	if r.meters, err = query.MetersOf(ctx, r.d.DB, r.account, distinct(vehicles), r.now); err != nil {
		return err
	}
	account, err := r.d.Accounts.Get(ctx, r.account, uint64(r.account))
	r.zone = fleet.ZoneOf(account.Body.Timezone)
	return err
}

// look does what is to be done for one pair.
func (r *round) look(ctx context.Context, p query.PendingMaintenance) error {
	if !p.Targeted {
		return r.end(ctx, p.Reminder)
	}
	schedule, ok := r.schedules[p.Schedule]
	if !ok {
		return nil
	}
	s, err := bodyOf[record.MaintenanceSchedule](schedule)
	if err != nil {
		return err
	}
	taskID, _ := fleet.ParseID(fleet.TaskPrefix, s.TaskID)
	task, ok := r.tasks[taskID]
	if !ok {
		return nil
	}
	t, err := bodyOf[record.ServiceTask](task)
	if err != nil {
		return err
	}
	vehicle, err := bodyOf[record.Vehicle](r.vehicles[p.Vehicle])
	if err != nil {
		return err
	}
	c := &cycleOf{round: r, pair: p, schedule: s, rule: due.RuleOf(&s.MaintenanceScheduleFields, &t),
		basis: []uint64{schedule.Revision, task.Revision},
		now:   due.Now{At: r.now, Zone: r.zone}, meters: metersIn(r.meters[p.Vehicle], r.zone)}
	if vehicle.Timezone != "" {
		c.now.Zone = fleet.ZoneOf(vehicle.Timezone)
		c.meters = metersIn(r.meters[p.Vehicle], c.now.Zone)
	}
	if p.Reminder == 0 {
		return c.begin(ctx, 1, due.AnchorOf(s.Anchor))
	}
	last, ok := r.reminders[p.Reminder]
	if !ok {
		return nil
	}
	rem, err := bodyOf[record.Reminder](last)
	switch {
	case err != nil:
		return err
	case due.Open(rem.Stage):
		return c.judge(ctx, rem)
	case rem.Untargeted:
		return c.begin(ctx, rem.Cycle+1, due.AnchorOf(rem.Anchor))
	case c.rule.Once():
		return nil
	}
	return c.begin(ctx, rem.Cycle+1, c.rule.Next(rem.Cycle, due.AnchorOf(rem.Anchor), due.AnchorOf(rem.Done)))
}

// end dismisses a reminder that no schedule asks for any more.
func (r *round) end(ctx context.Context, id uint64) error {
	_, err := r.d.Reminders.Update(ctx, record.System, r.account, id, 0, func(rec *record.Record[record.Reminder]) error {
		if !due.Open(rec.Body.Stage) || rec.UpdatedAt.After(r.now) {
			return nil
		}
		rec.Body.Untargeted, rec.Body.Reason = true, "the schedule does not ask for it any more"
		return due.Move(&rec.Body, fleet.FormatID(fleet.ReminderPrefix, rec.ID), due.Dismissed, record.InstantOf(r.now))
	})
	return err
}

// cycleOf is a schedule and a vehicle, with all that decides when the present cycle is due.
type cycleOf struct {
	*round
	pair     query.PendingMaintenance
	schedule record.MaintenanceSchedule
	rule     due.Rule
	basis    []uint64
	now      due.Now
	meters   due.Meters
}

// begin makes the reminder of a cycle. Whoever makes it first decides where it begins.
func (c *cycleOf) begin(ctx context.Context, cycle int, from due.Anchor) error {
	rem := c.rule.Begin(cycle, from, c.meters, c.now)
	rem.ScheduleID, rem.VehicleID = fleet.FormatID(fleet.SchedulePrefix, c.pair.Schedule),
		fleet.FormatID(fleet.VehiclePrefix, c.pair.Vehicle)
	rem.TaskID, rem.Basis = c.schedule.TaskID, c.basis
	_, _, err := c.d.Reminders.Create(ctx, record.System, c.account,
		reminderID(c.account, c.pair.Schedule, c.pair.Vehicle, cycle), rem)
	return err
}

// reminderID names the reminder of a cycle, so that all processes agree.
func reminderID(account fleet.AccountID, schedule, vehicle uint64, cycle int) uint64 {
	return fleet.DerivedID("reminder", fleet.VehicleKey{Account: account, Vehicle: fleet.VehicleID(vehicle)},
		fleet.Millis(cycle), schedule)
}

// judge brings an open reminder up to date. It writes only what changes, and nothing upon a revision that is newer than
// what this round has read: readings that are older than those it was judged by would take it back.
func (c *cycleOf) judge(ctx context.Context, was record.Reminder) error {
	apply := func(rem *record.Reminder) {
		c.rule.Judge(rem, c.meters, c.now)
		rem.TaskID, rem.Basis = c.schedule.TaskID, c.basis
	}
	is := was
	is.Told = append([]string(nil), was.Told...)
	if apply(&is); reflect.DeepEqual(is, was) {
		return nil
	}
	_, err := c.d.Reminders.Update(ctx, record.System, c.account, c.pair.Reminder, 0,
		func(rec *record.Record[record.Reminder]) error {
			if !rec.UpdatedAt.After(c.round.now) {
				apply(&rec.Body)
			}
			return nil
		})
	return err
}

// metersIn are the meters of a vehicle as package due wants them, with local days.
func metersIn(m query.Meters, zone *time.Location) due.Meters {
	var out due.Meters
	read := func(meter *query.Meter) (value *float64, on due.Day, perDay float64) {
		if meter.At == 0 {
			return nil, 0, 0
		}
		for _, rate := range []*float64{meter.PerDay30, meter.PerDay90} {
			if rate != nil && perDay == 0 {
				perDay = *rate
			}
		}
		return &meter.Value, due.DayOf(meter.At.Time(), zone), perDay
	}
	out.Mi, out.MiOn, out.MiPerDay = read(&m.OdometerMi)
	out.Hours, out.HoursOn, out.HoursPerDay = read(&m.EngineHours)
	return out
}

// bodyOf decodes the body of a stored record.
func bodyOf[T any](s query.Stored) (T, error) {
	var body T
	if err := json.Unmarshal([]byte(s.Body), &body); err != nil {
		return body, fmt.Errorf("decode record %d: %w", s.ID, err)
	}
	return body, nil
}

// distinct leaves out repeated ids.
func distinct(ids []uint64) []uint64 {
	seen := make(map[uint64]bool, len(ids))
	kept := make([]uint64, 0, len(ids))
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			kept = append(kept, id)
		}
	}
	return kept
}
