// Package command has commands sent to trackers. A command is a record before anybody is asked to send it, and that
// somebody is about to is a revision, which one process writes: so it goes out once. Who dies between that and the
// answer leaves it sending, which becomes unknown when nobody can be at it any more; it is never tried again then. What
// certainly did not go out is queued again, until it expires.
package command

import (
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/traccar"

	"context"
	"fmt"
	"math"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// Times of sending.
const (
	Every = 2 * time.Second // is Tend to be done
	// after which whoever began to send cannot be at it; well above two requests and a write
	commandStuck   = time.Minute
	commandRetry   = 5 * time.Second
	commandSlowest = time.Minute // between two looks whether it may go out now
	commandRarest  = time.Hour   // between two attempts
	commandPage    = 500
	commandShare   = 50 // of the page, of one account
	commandAtOnce  = 8
	commandQueue   = 20        // that may wait for one tracker
	commandLife    = time.Hour // unless the caller says otherwise
	commandMaxLife = 7 * 24 * time.Hour
)

// What may stop an engine is done below stopSpeed, by a place that is at most stopAge old: who is that old is heard.
const (
	stopSpeed = 10 * fleet.MetresPerKmh
	stopAge   = 3 * time.Minute
)

// Transports.
const (
	byTraccar = "traccar"
	byPull    = "pull"
)

// traccarTypes are the types of commands as Traccar names them.
var traccarTypes = map[string]string{
	"engine_stop": "engineStop", "engine_resume": "engineResume", "position_single": "positionSingle",
	"position_periodic": "positionPeriodic",
	"position_stop":     "positionStop", "alarm_arm": "alarmArm", "alarm_disarm": "alarmDisarm",
	"output_control": "outputControl",
	"reboot_device":  "rebootDevice", "custom": "custom",
}

// dangerous are the types that want to be confirmed, and a vehicle that stands: what is sent, or an output, may stop
// the engine too.
var dangerous = map[string]bool{"engine_stop": true, "output_control": true, "custom": true}

// invalid is a body that is not acceptable for one member.
func invalid(pointer, detail string) error {
	return fleet.Invalid(fleet.FieldError{Pointer: pointer, Code: "invalid", Detail: detail})
}

// Sender queues commands, has Traccar send them, and notes what becomes of them. It is safe for concurrent use.
type Sender struct {
	DB       driver.Conn
	Now      func() time.Time
	Devices  *record.Log[record.Device]
	Commands *record.Log[record.DeviceCommand]
	Traccar  *traccar.Client // nil: there is none
	waits    commandWaits
}

// New returns a sender of the commands of a store. Somebody must do its duty, which is Tend.
func New(store *record.Store, db driver.Conn, now func() time.Time) *Sender {
	return &Sender{DB: db, Now: now, Devices: record.NewLog(store, record.Devices),
		Commands: record.NewLog(store, record.DeviceCommands)}
}

// Queue queues a command to a tracker under an id that the caller got from Store.NextID.
func (d *Sender) Queue(ctx context.Context, by record.Author, account fleet.AccountID, id, device uint64,
	fields record.DeviceCommandFields) (record.Record[record.DeviceCommand], error) {
	var none record.Record[record.DeviceCommand]
	if by.Again {
		if found, err := d.Commands.Get(ctx, account, id); err == nil {
			return found, d.Commands.Own(ctx, by, account, id)
		}
	}
	tracker, err := d.Devices.Get(ctx, account, device)
	if err != nil {
		return none, err
	}
	if tracker.Archived() {
		return none, fleet.NewError(fleet.CodeConflict, "The device is archived.")
	}
	now := d.Now()
	if err := d.completeCommand(ctx, account, &tracker.Body, &fields, now); err != nil {
		return none, err
	}
	at := record.InstantOf(now)
	if err := d.roomForCommand(ctx, account, device); err != nil {
		return none, err
	}
	body := record.DeviceCommand{DeviceCommandFields: fields, DeviceID: fleet.FormatID(fleet.DevicePrefix, device),
		UniqueID:  tracker.Body.UniqueID,
		VehicleID: tracker.Body.VehicleNow(now), RequestedBy: by.Actor, Status: record.CommandQueued, StatusSince: at,
		Log: []record.DeviceCommandStep{{Status: record.CommandQueued, At: at, By: by.Actor}}}
	why, err := d.mayNotGo(ctx, account, &body, time.Time{})
	if err != nil {
		return none, err
	}
	if why != "" {
		return none, fleet.NewError(fleet.CodeConflict, "The command, which may stop the engine, is refused: "+why+
			". Ask for a position with position_single, command it when the vehicle stands, or with force.")
	}
	rec, _, err := d.Commands.Create(ctx, by, account, id, body)
	return rec, err
}

// completeCommand fills in what was not said, and refuses what cannot be.
func (d *Sender) completeCommand(ctx context.Context, account fleet.AccountID, tracker *record.Device,
	f *record.DeviceCommandFields, now time.Time) error {
	switch {
	case dangerous[f.Type] && !f.Confirm:
		return invalid("/confirm", "must be true for "+f.Type+", which may do harm")
	case f.Type == "custom" && f.Data == "":
		return invalid("/data", "must be given for custom: what is sent to the tracker")
	case f.Type == "position_periodic" && f.IntervalS == nil:
		return invalid("/interval_s", "must be given for position_periodic")
	case f.Type == "output_control" && (f.Output == nil || f.Data == ""):
		return invalid("/output", "and data must be given for output_control")
	}
	if f.ExpiresAt.IsZero() {
		f.ExpiresAt = record.InstantOf(now.Add(commandLife))
	}
	if !f.ExpiresAt.After(now) || f.ExpiresAt.After(now.Add(commandMaxLife)) {
		return invalid("/expires_at", "must lie within the next 7 days")
	}
	ours, err := d.reaches(ctx, account, tracker.UniqueID)
	if err != nil {
		return err
	}
	switch {
	case f.Transport == "" && ours:
		f.Transport = byTraccar
	case f.Transport == "":
		f.Transport = byPull
	case f.Transport == byTraccar && d.Traccar == nil:
		return invalid("/transport", "the operator has set no Traccar server; use pull")
	case f.Transport == byTraccar && !ours:
		return invalid("/transport", "the operator has not said that this tracker is yours; ask for that, or use pull")
	}
	return nil
}

// reaches says whether the operator's Traccar server may be asked for a tracker. Whoever registers a unique id first
// has not shown that the tracker is his: it takes the operator's word.
func (d *Sender) reaches(ctx context.Context, account fleet.AccountID, uniqueID string) (bool, error) {
	if d.Traccar == nil {
		return false, nil
	}
	owners, err := query.Owners(ctx, d.DB, uniqueID)
	owner, owned := owners[uniqueID]
	return owned && owner.Account == account, err
}

// roomForCommand refuses a command for a tracker for which too many wait.
func (d *Sender) roomForCommand(ctx context.Context, account fleet.AccountID, device uint64) error {
	waiting, err := query.List(ctx, d.DB, &query.DeviceCommands, query.ListRequest{Account: account, Limit: commandQueue,
		Filters: []query.Filter{{Field: "device_id", Op: "eq", Values: []string{fleet.FormatID(fleet.DevicePrefix, device)}},
			{Field: "status", Op: "eq", Values: []string{record.CommandQueued}}}})
	if err == nil && len(waiting.Records) >= commandQueue {
		err = fleet.NewError(fleet.CodeConflict, fmt.Sprintf(
			"%d commands wait for this device. Cancel some of them, or wait until they go out or expire.", commandQueue))
	}
	return err
}

// changedSince says what of a tracker is no longer as it was when a command was asked for, which was meant for
// what was then.
func changedSince(tracker *record.Record[record.Device], b *record.DeviceCommand, now time.Time) string {
	switch {
	case tracker.Archived():
		return "the device is archived"
	case b.UniqueID != "" && b.UniqueID != tracker.Body.UniqueID:
		return "the device has another unique id than when the command was asked for"
	case b.VehicleID != tracker.Body.VehicleNow(now):
		return "the device is on another vehicle than when the command was asked for, or on none"
	}
	return ""
}

// mayNotGo says why a command must not go out now because it may stop the engine of a vehicle that moves, or "". Only a
// place after away counts: when the tracker was away then, nobody knows what the vehicle has done since.
func (d *Sender) mayNotGo(ctx context.Context, account fleet.AccountID, b *record.DeviceCommand,
	away time.Time) (string, error) {
	if !dangerous[b.Type] || b.Force {
		return "", nil
	}
	id, err := fleet.ParseID(fleet.VehiclePrefix, b.VehicleID)
	if err != nil {
		return "the tracker is on no vehicle, so that nobody knows whether it moves", nil
	}
	all, err := query.LiveOf(ctx, d.DB, account, []uint64{id})
	if err != nil {
		return "", err
	}
	live := all[id]
	switch at := live.FixTime.Time(); {
	case live.FixTime == 0 || math.IsNaN(live.Speed) || d.Now().Sub(at) > stopAge:
		return fmt.Sprintf("nobody knows whether the vehicle moves, which has told no position in the last %.0f minutes",
			stopAge.Minutes()), nil
	case !at.After(away):
		return "nobody knows whether the vehicle moves: the tracker was away, and has told no position since", nil
	case live.Speed > stopSpeed:
		return "the vehicle moves", nil
	}
	return "", nil
}

// Cancel takes a command back that nobody has begun to send. check, if not nil, may refuse.
func (d *Sender) Cancel(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	check func(*record.Record[record.DeviceCommand]) error) (record.Record[record.DeviceCommand], error) {
	return d.moveCommand(ctx, by, account, id, 0, record.DeviceCommandStep{Status: record.CommandCancelled}, check)
}

// Report notes what a gateway tells of a command: that it takes it, or what became of it. check, if not
// nil, may refuse.
func (d *Sender) Report(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	step record.DeviceCommandStep,
	check func(*record.Record[record.DeviceCommand]) error) (record.Record[record.DeviceCommand], error) {
	if step.Status == record.CommandSent {
		if rec, err := d.takeCommand(ctx, by, account, id, check); err != nil {
			return rec, err
		}
	}
	return d.moveCommand(ctx, by, account, id, 0, step, func(r *record.Record[record.DeviceCommand]) error {
		if check != nil {
			if err := check(r); err != nil {
				return err
			}
		}
		b := &r.Body
		if b.Transport != byPull && (b.Status == record.CommandQueued || b.Status == record.CommandSending) {
			return fleet.NewError(fleet.CodeConflict, "The command goes by "+b.Transport+
				", and is not sent yet: no gateway may take it or tell of it. Cancel it while it is queued.")
		}
		b.Result = step.Detail
		return nil
	})
}

// takeCommand refuses a gateway a queued command that must not go out, and writes why: it fails for good if it was
// meant for something else.
func (d *Sender) takeCommand(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	check func(*record.Record[record.DeviceCommand]) error) (record.Record[record.DeviceCommand], error) {
	rec, err := d.Commands.Get(ctx, account, id)
	if err == nil && check != nil {
		err = check(&rec)
	}
	if err != nil || rec.Body.Status != record.CommandQueued || rec.Body.Transport != byPull {
		return rec, err
	}
	if !d.Now().Before(rec.Body.ExpiresAt.Time) {
		return rec, fleet.NewError(fleet.CodeConflict, "The command has expired.")
	}
	tracker, err := d.trackerOf(ctx, &rec)
	if err != nil {
		return rec, err
	}
	if why := changedSince(&tracker, &rec.Body, d.Now()); why != "" {
		if err := d.failCommand(ctx, by, &rec, why); err != nil {
			return rec, err
		}
		return rec, fleet.NewError(fleet.CodeConflict,
			"The command has failed: "+why+". Ask for a new one if it is still wanted.")
	}
	why, err := d.mayNotGo(ctx, account, &rec.Body, time.Time{})
	if err != nil || why == "" {
		return rec, err
	}
	if err := d.noteWhy(ctx, by, &rec, why, time.Time{}); err != nil {
		return rec, err
	}
	return rec, fleet.NewError(fleet.CodeConflict,
		"The command may stop the engine and must not go out now: "+why+". Ask again later.")
}

// trackerOf is the tracker that a command is for.
func (d *Sender) trackerOf(ctx context.Context,
	rec *record.Record[record.DeviceCommand]) (record.Record[record.Device], error) {
	id, err := fleet.ParseID(fleet.DevicePrefix, rec.Body.DeviceID)
	if err != nil {
		return record.Record[record.Device]{}, err
	}
	return d.Devices.Get(ctx, rec.Account, id)
}

// failCommand ends a command that was seen and can never go out.
func (d *Sender) failCommand(ctx context.Context, by record.Author, rec *record.Record[record.DeviceCommand],
	why string) error {
	_, err := d.moveCommand(ctx, by, rec.Account, rec.ID, rec.Revision,
		record.DeviceCommandStep{Status: record.CommandFailed, Detail: why},
		func(r *record.Record[record.DeviceCommand]) error {
			r.Body.Result = why
			return nil
		})
	return unlessStale(err)
}

// noteWhy writes why a queued command waits, if that is not the reason that it has, and when its tracker was seen to be
// away, if it was.
func (d *Sender) noteWhy(ctx context.Context, by record.Author, rec *record.Record[record.DeviceCommand], why string,
	away time.Time) error {
	if rec.Body.Result == why {
		return nil
	}
	_, err := d.Commands.Update(ctx, by, rec.Account, rec.ID, rec.Revision,
		func(r *record.Record[record.DeviceCommand]) error {
			if !away.IsZero() {
				r.Body.AwayAt = record.InstantOf(away)
			}
			record.NoteCommand(r,
				record.DeviceCommandStep{Status: record.CommandQueued, At: record.InstantOf(d.Now()), By: by.Actor, Detail: why})
			return nil
		})
	return unlessStale(err)
}

// moveCommand writes that a command has reached a state, upon a revision if one is expected. Reaching a state again,
// but sent, changes nothing.
func (d *Sender) moveCommand(ctx context.Context, by record.Author, account fleet.AccountID, id, expect uint64,
	step record.DeviceCommandStep,
	check func(*record.Record[record.DeviceCommand]) error) (record.Record[record.DeviceCommand], error) {
	step.At, step.By = record.InstantOf(d.Now()), by.Actor
	return d.Commands.Update(ctx, by, account, id, expect, func(r *record.Record[record.DeviceCommand]) error {
		if check != nil {
			if err := check(r); err != nil {
				return err
			}
		}
		if r.Body.Status == step.Status && step.Status != record.CommandSent {
			return nil
		}
		return record.MoveCommand(r, step)
	})
}

// Answered notes what a tracker answered, as Traccar tells it: of the newest command that may have reached the tracker
// in the last day and of which nothing was heard.
func (d *Sender) Answered(ctx context.Context, by record.Author, account fleet.AccountID, device uint64,
	result string) error {
	found, err := query.List(ctx, d.DB, &query.DeviceCommands, query.ListRequest{Account: account, Limit: 1,
		Filters: []query.Filter{{Field: "device_id", Op: "eq", Values: []string{fleet.FormatID(fleet.DevicePrefix, device)}},
			{Field: "transport", Op: "eq", Values: []string{byTraccar}},
			{Field: "status", Op: "eq", Values: []string{record.CommandSent, record.CommandUnknown, record.CommandDelivered}},
			{Field: "created_at", Op: "gte", Values: []string{d.Now().Add(-24 * time.Hour).UTC().Format(time.RFC3339Nano)}}},
		Sort: []query.SortKey{{Field: "created_at", Desc: true}}})
	if err != nil || len(found.Records) == 0 {
		return err
	}
	_, err = d.Report(ctx, by, account, found.Records[0].ID,
		record.DeviceCommandStep{Status: record.CommandAcknowledged, Detail: result}, nil)
	if err != nil {
		return fmt.Errorf("note the answer to a command: %w", err)
	}
	return nil
}
