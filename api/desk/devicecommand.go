package desk

import (
	"context"
	"fmt"
	"math"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/traccar"
	"github.com/motorpool/fleet/query"
)

// Commands to trackers. A command is a record before anybody is asked to send it, and that somebody is about to is a revision, which one
// process writes: so it goes out once. Who dies between that and the answer leaves it sending, which becomes unknown when nobody can be at
// it any more; it is never tried again then. What certainly did not go out is queued again, until it expires.

// Times of sending.
const (
	commandEvery   = 2 * time.Second
	commandStuck   = time.Minute // after which whoever began to send cannot be at it; well above two requests and a write
	commandRetry   = 5 * time.Second
	commandSlowest = time.Minute // between two attempts
	commandPage    = 500
	commandAtOnce  = 8
	commandLife    = time.Hour // unless the caller says otherwise
	commandMaxLife = 7 * 24 * time.Hour
)

// An engine is stopped below stopSpeed, by a place that is at most stopAge old unless the ignition is off.
const (
	stopSpeed = 10 * fleet.MetresPerKmh
	stopAge   = 15 * time.Minute
)

// Transports.
const (
	byTraccar = "traccar"
	byPull    = "pull"
)

// traccarTypes are the types of commands as Traccar names them.
var traccarTypes = map[string]string{
	"engine_stop": "engineStop", "engine_resume": "engineResume", "position_single": "positionSingle", "position_periodic": "positionPeriodic",
	"position_stop": "positionStop", "alarm_arm": "alarmArm", "alarm_disarm": "alarmDisarm", "output_control": "outputControl",
	"reboot_device": "rebootDevice", "custom": "custom",
}

// dangerous are the types that want to be confirmed.
var dangerous = map[string]bool{"engine_stop": true, "output_control": true, "custom": true}

func (d *Desk) deviceCommands() {
	d.duty("commands to trackers", commandEvery, d.tendCommands)
}

// Command queues a command to a tracker under an id that the caller got from Store.NextID.
func (d *Desk) Command(ctx context.Context, by record.Author, account fleet.AccountID, id, device uint64, fields record.DeviceCommandFields) (record.Record[record.DeviceCommand], error) {
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
	body := record.DeviceCommand{DeviceCommandFields: fields, DeviceID: fleet.FormatID(fleet.DevicePrefix, device),
		VehicleID: tracker.Body.VehicleNow(now), RequestedBy: by.Actor, Status: record.CommandQueued, StatusSince: at,
		Log: []record.DeviceCommandStep{{Status: record.CommandQueued, At: at, By: by.Actor}}}
	why, err := d.mayNotStop(ctx, account, &body)
	if err != nil {
		return none, err
	}
	if why != "" {
		return none, fleet.NewError(fleet.CodeConflict, "The engine is not stopped: "+why+". Stop it when the vehicle stands, or with force.")
	}
	rec, _, err := d.Commands.Create(ctx, by, account, id, body)
	return rec, err
}

// completeCommand fills in what was not said, and refuses what cannot be.
func (d *Desk) completeCommand(ctx context.Context, account fleet.AccountID, tracker *record.Device, f *record.DeviceCommandFields, now time.Time) error {
	switch {
	case dangerous[f.Type] && !f.Confirm:
		return fault("/confirm", "must be true for "+f.Type+", which may do harm")
	case f.Type == "custom" && f.Data == "":
		return fault("/data", "must be given for custom: what is sent to the tracker")
	case f.Type == "position_periodic" && f.IntervalS == nil:
		return fault("/interval_s", "must be given for position_periodic")
	case f.Type == "output_control" && (f.Output == nil || f.Data == ""):
		return fault("/output", "and data must be given for output_control")
	}
	if f.ExpiresAt.IsZero() {
		f.ExpiresAt = record.InstantOf(now.Add(commandLife))
	}
	if !f.ExpiresAt.After(now) || f.ExpiresAt.After(now.Add(commandMaxLife)) {
		return fault("/expires_at", "must lie within the next 7 days")
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
		return fault("/transport", "the operator has set no Traccar server; use pull")
	case f.Transport == byTraccar && !ours:
		return fault("/transport", "the operator has not said that this tracker is yours; ask for that, or use pull")
	}
	return nil
}

// reaches says whether the operator's Traccar server may be asked for a tracker. Whoever registers a unique id first has not shown
// that the tracker is his: it takes the operator's word.
func (d *Desk) reaches(ctx context.Context, account fleet.AccountID, uniqueID string) (bool, error) {
	if d.Traccar == nil {
		return false, nil
	}
	owners, err := query.Owners(ctx, d.DB, uniqueID)
	owner, owned := owners[uniqueID]
	return owned && owner.Account == account, err
}

// mayNotStop says why an engine must not be stopped now, or "" for anything that may be done.
func (d *Desk) mayNotStop(ctx context.Context, account fleet.AccountID, b *record.DeviceCommand) (string, error) {
	if b.Type != "engine_stop" || b.Force {
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
	old := d.Now().Sub(live.FixTime.Time()) > stopAge && live.Ignition != fleet.No
	switch {
	case live.FixTime == 0 || math.IsNaN(live.Speed) || old:
		return "nobody knows whether the vehicle moves", nil
	case live.Speed > stopSpeed:
		return "the vehicle moves", nil
	}
	return "", nil
}

// CancelCommand takes a command back that nobody has begun to send. check, if not nil, may refuse.
func (d *Desk) CancelCommand(ctx context.Context, by record.Author, account fleet.AccountID, id uint64, check func(*record.Record[record.DeviceCommand]) error) (record.Record[record.DeviceCommand], error) {
	return d.moveCommand(ctx, by, account, id, 0, record.DeviceCommandStep{Status: record.CommandCancelled}, check)
}

// ReportCommand notes what a gateway tells of a command: that it takes it, or what became of it. check, if not nil, may refuse.
func (d *Desk) ReportCommand(ctx context.Context, by record.Author, account fleet.AccountID, id uint64, step record.DeviceCommandStep, check func(*record.Record[record.DeviceCommand]) error) (record.Record[record.DeviceCommand], error) {
	return d.moveCommand(ctx, by, account, id, 0, step, func(r *record.Record[record.DeviceCommand]) error {
		if check != nil {
			if err := check(r); err != nil {
				return err
			}
		}
		b := &r.Body
		if step.Status == record.CommandSent && b.Status == record.CommandQueued {
			if b.Transport != byPull {
				return fleet.NewError(fleet.CodeConflict, "The command goes by "+b.Transport+"; no gateway may take it.")
			}
			if !d.Now().Before(b.ExpiresAt.Time) {
				return fleet.NewError(fleet.CodeConflict, "The command has expired.")
			}
			why, err := d.mayNotStop(ctx, account, b)
			if err != nil {
				return err
			}
			if why != "" {
				return fleet.NewError(fleet.CodeConflict, "The engine is not stopped now: "+why+". Ask again later.")
			}
		}
		b.Result = step.Detail
		return nil
	})
}

// moveCommand writes that a command has reached a state, upon a revision if one is expected. Reaching a state again, but sent, changes nothing.
func (d *Desk) moveCommand(ctx context.Context, by record.Author, account fleet.AccountID, id, expect uint64, step record.DeviceCommandStep, check func(*record.Record[record.DeviceCommand]) error) (record.Record[record.DeviceCommand], error) {
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

// tendCommands sends what is to be sent, and ends what can no longer be.
func (d *Desk) tendCommands(ctx context.Context) error {
	now := d.Now()
	due, err := query.DueCommands(ctx, d.DB, now, now.Add(-commandStuck), commandPage)
	if err != nil {
		return err
	}
	var work errgroup.Group
	work.SetLimit(commandAtOnce)
	for _, c := range due {
		work.Go(func() error { return d.tendCommand(ctx, c.Account, c.ID) })
	}
	return work.Wait()
}

func (d *Desk) tendCommand(ctx context.Context, account fleet.AccountID, id uint64) error {
	rec, err := d.Commands.Get(ctx, account, id)
	if err != nil {
		return err
	}
	now, end := d.Now(), record.DeviceCommandStep{}
	switch b := &rec.Body; {
	case b.Status == record.CommandSending && now.Sub(b.StatusSince.Time) >= commandStuck:
		end = record.DeviceCommandStep{Status: record.CommandUnknown, Detail: "whoever sent it ended before it was known whether it went out"}
	case b.Status == record.CommandQueued && !now.Before(b.ExpiresAt.Time):
		end = record.DeviceCommandStep{Status: record.CommandExpired, Detail: b.Result}
	case b.Status == record.CommandQueued && b.Transport == byTraccar && d.Traccar != nil && !b.TryAt.After(now):
		return d.sendCommand(ctx, rec)
	default:
		return nil
	}
	_, err = d.moveCommand(ctx, system, account, id, rec.Revision, end, nil)
	return unlessStale(err)
}

// unlessStale forgives that somebody else came first.
func unlessStale(err error) error {
	if fleet.CodeOf(err) == fleet.CodeStale {
		return nil
	}
	return err
}

// sendCommand has Traccar send a queued command. That it is about to be sent is written upon the revision that was seen: one process
// goes on from there.
func (d *Desk) sendCommand(ctx context.Context, rec record.Record[record.DeviceCommand]) error {
	account, id := rec.Account, rec.ID
	device, err := fleet.ParseID(fleet.DevicePrefix, rec.Body.DeviceID)
	if err != nil {
		return err
	}
	tracker, err := d.Devices.Get(ctx, account, device)
	if err != nil {
		return err
	}
	ours, err := d.reaches(ctx, account, tracker.Body.UniqueID)
	if err != nil {
		return err
	}
	if !ours || tracker.Archived() {
		_, err = d.moveCommand(ctx, system, account, id, rec.Revision, record.DeviceCommandStep{Status: record.CommandFailed, Detail: "the tracker is no longer the account's"}, nil)
		return unlessStale(err)
	}
	why, err := d.mayNotStop(ctx, account, &rec.Body)
	if err != nil {
		return err
	}
	if why != "" {
		return d.postponeCommand(ctx, rec, why)
	}
	// Whatever fails before a command is being sent, it did not go out.
	found, outcome, detail := d.Traccar.Find(ctx, tracker.Body.UniqueID)
	switch outcome {
	case traccar.Later:
		return d.postponeCommand(ctx, rec, detail)
	case traccar.Refused:
		_, err = d.moveCommand(ctx, system, account, id, rec.Revision, record.DeviceCommandStep{Status: record.CommandFailed, Detail: detail}, func(r *record.Record[record.DeviceCommand]) error {
			r.Body.Result = detail
			return nil
		})
		return unlessStale(err)
	}
	sending, err := d.moveCommand(ctx, system, account, id, rec.Revision, record.DeviceCommandStep{Status: record.CommandSending}, nil)
	if err != nil {
		return unlessStale(err)
	}
	outcome, detail = d.Traccar.Send(ctx, traccar.Command{Device: found, Type: traccarTypes[rec.Body.Type], Attributes: traccarAttributes(&rec.Body)})
	ctx = context.WithoutCancel(ctx) // what is known now must be told
	step := record.DeviceCommandStep{Status: record.CommandSent, Detail: detail}
	switch outcome {
	case traccar.Later:
		return d.postponeCommand(ctx, sending, detail)
	case traccar.Refused:
		step.Status = record.CommandFailed
	case traccar.Unknown:
		step.Status = record.CommandUnknown
	}
	_, err = d.moveCommand(ctx, system, account, id, 0, step, func(r *record.Record[record.DeviceCommand]) error {
		r.Body.Attempts++
		r.Body.Result = detail
		return nil
	})
	return err
}

// postponeCommand queues a command again that did not go out, for a reason that is logged when it is a new one.
func (d *Desk) postponeCommand(ctx context.Context, rec record.Record[record.DeviceCommand], why string) error {
	_, err := d.Commands.Update(ctx, system, rec.Account, rec.ID, rec.Revision, func(r *record.Record[record.DeviceCommand]) error {
		b, now := &r.Body, d.Now()
		wait := min(commandSlowest, commandRetry<<min(b.Attempts, 10))
		b.Attempts++
		b.TryAt, b.Result = record.InstantOf(now.Add(wait)), why
		if b.Status == record.CommandQueued {
			return nil
		}
		return record.MoveCommand(r, record.DeviceCommandStep{Status: record.CommandQueued, At: record.InstantOf(now), By: system.Actor, Detail: why})
	})
	return unlessStale(err)
}

// traccarAttributes are the parameters of a command as Traccar names them.
func traccarAttributes(b *record.DeviceCommand) map[string]any {
	attributes := map[string]any{}
	if b.IntervalS != nil {
		attributes["frequency"] = *b.IntervalS
	}
	if b.Output != nil {
		attributes["index"] = *b.Output
	}
	if b.Data != "" {
		attributes["data"] = b.Data
	}
	return attributes
}

// CommandAnswered notes what a tracker answered, as Traccar tells it: of the newest command that may have reached the tracker in the last
// day and of which nothing was heard.
func (d *Desk) CommandAnswered(ctx context.Context, by record.Author, account fleet.AccountID, device uint64, result string) error {
	found, err := query.List(ctx, d.DB, &query.DeviceCommands, query.ListRequest{Account: account, Limit: 1,
		Filters: []query.Filter{{Field: "device_id", Op: "eq", Values: []string{fleet.FormatID(fleet.DevicePrefix, device)}},
			{Field: "transport", Op: "eq", Values: []string{byTraccar}},
			{Field: "status", Op: "eq", Values: []string{record.CommandSent, record.CommandUnknown, record.CommandDelivered}},
			{Field: "created_at", Op: "gte", Values: []string{d.Now().Add(-24 * time.Hour).UTC().Format(time.RFC3339Nano)}}},
		Sort: []query.SortKey{{Field: "created_at", Desc: true}}})
	if err != nil || len(found.Records) == 0 {
		return err
	}
	_, err = d.ReportCommand(ctx, by, account, found.Records[0].ID, record.DeviceCommandStep{Status: record.CommandAcknowledged, Detail: result}, nil)
	if err != nil {
		return fmt.Errorf("note the answer to a command: %w", err)
	}
	return nil
}
