package command

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/traccar"
	"github.com/motorpool/fleet/query"
)

// Tend sends what is to be sent, and ends what can no longer be.
func (d *Sender) Tend(ctx context.Context) error {
	now := d.Now()
	due, err := query.DueCommands(ctx, d.DB,
		query.DueRequest{Now: now, Stuck: now.Add(-commandStuck), Waiting: d.waits.until(now),
			Limit: commandPage, Share: commandShare})
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

func (d *Sender) tendCommand(ctx context.Context, account fleet.AccountID, id uint64) error {
	rec, err := d.Commands.Get(ctx, account, id)
	if err != nil {
		return err
	}
	now, end := d.Now(), record.DeviceCommandStep{}
	switch b := &rec.Body; {
	case b.Status == record.CommandSending && now.Sub(b.StatusSince.Time) >= commandStuck:
		end = record.DeviceCommandStep{Status: record.CommandUnknown,
			Detail: "whoever sent it ended before it was known whether it went out"}
	case b.Status == record.CommandQueued && !now.Before(b.ExpiresAt.Time):
		end = record.DeviceCommandStep{Status: record.CommandExpired, Detail: b.Result}
	case b.Status == record.CommandQueued && b.Transport == byTraccar && d.Traccar != nil && !b.TryAt.After(now):
		return d.sendCommand(ctx, rec)
	default:
		return nil
	}
	_, err = d.moveCommand(ctx, record.System, account, id, rec.Revision, end, nil)
	return unlessStale(err)
}

// unlessStale forgives that somebody else came first.
func unlessStale(err error) error {
	if fleet.CodeOf(err) == fleet.CodeStale {
		return nil
	}
	return err
}

// sendCommand has Traccar send a queued command. That it is about to be sent is written upon the revision that was
// seen: one process goes on from there.
func (d *Sender) sendCommand(ctx context.Context, rec record.Record[record.DeviceCommand]) error {
	account, id := rec.Account, rec.ID
	tracker, err := d.trackerOf(ctx, &rec)
	if err != nil {
		return err
	}
	if why := changedSince(&tracker, &rec.Body, d.Now()); why != "" {
		return d.failCommand(ctx, record.System, &rec, why)
	}
	ours, err := d.reaches(ctx, account, tracker.Body.UniqueID)
	if err != nil {
		return err
	}
	if !ours {
		return d.failCommand(ctx, record.System, &rec, "the tracker is no longer the account's")
	}
	// Whatever fails before a command is being sent, it did not go out.
	found, outcome, detail := d.Traccar.Find(ctx, tracker.Body.UniqueID)
	switch outcome {
	case traccar.Later, traccar.Away:
		return d.waitWithCommand(ctx, &rec, detail, outcome == traccar.Away)
	case traccar.Refused:
		return d.failCommand(ctx, record.System, &rec, detail)
	}
	why, err := d.mayNotGo(ctx, account, &rec.Body, latest(rec.Body.AwayAt.Time, d.waits.away(id)))
	if err != nil {
		return err
	}
	if why != "" {
		return d.waitWithCommand(ctx, &rec, why, false)
	}
	sending, err := d.moveCommand(ctx, record.System, account, id, rec.Revision,
		record.DeviceCommandStep{Status: record.CommandSending}, nil)
	if err != nil {
		return unlessStale(err)
	}
	outcome, detail = d.Traccar.Send(ctx,
		traccar.Command{Device: found, Type: traccarTypes[rec.Body.Type], Attributes: traccarAttributes(&rec.Body)})
	ctx = context.WithoutCancel(ctx) // what is known now must be told
	step := record.DeviceCommandStep{Status: record.CommandSent, Detail: detail}
	switch outcome {
	case traccar.Later, traccar.Away:
		return d.postponeCommand(ctx, sending, detail, outcome == traccar.Away)
	case traccar.Refused:
		step.Status = record.CommandFailed
	case traccar.Unknown:
		step.Status = record.CommandUnknown
	case traccar.Held:
		if dangerous[rec.Body.Type] {
			step.Status = record.CommandUnknown
			step.Detail = "Traccar keeps it although it was asked not to, and may deliver it days later, while the vehicle moves: delete it in Traccar, and install Traccar 6.7 or later"
		}
	}
	_, err = d.moveCommand(ctx, record.System, account, id, 0, step, func(r *record.Record[record.DeviceCommand]) error {
		r.Body.Attempts++
		r.Body.Result = step.Detail
		return nil
	})
	return err
}

// waitWithCommand lets a queued command wait, for a reason that is written when it is a new one. When it is looked at
// again is remembered here only: another process may look earlier, and does no harm.
func (d *Sender) waitWithCommand(ctx context.Context, rec *record.Record[record.DeviceCommand], why string,
	isAway bool) error {
	now, away := d.Now(), time.Time{}
	if isAway {
		away = now
	}
	d.waits.add(rec.ID, now, away)
	return d.noteWhy(ctx, record.System, rec, why, away)
}

// postponeCommand queues a command again that was being sent and did not go out. Each time it rests longer, because it
// is written each time.
func (d *Sender) postponeCommand(ctx context.Context, rec record.Record[record.DeviceCommand], why string,
	away bool) error {
	_, err := d.Commands.Update(ctx, record.System, rec.Account, rec.ID, rec.Revision,
		func(r *record.Record[record.DeviceCommand]) error {
			b, now := &r.Body, record.InstantOf(d.Now())
			b.TryAt = record.InstantOf(now.Add(min(commandRarest, commandRetry<<min(b.Attempts, 16))))
			b.Attempts++
			if away {
				b.AwayAt = now
			}
			return record.QueueCommandAgain(r,
				record.DeviceCommandStep{Status: record.CommandQueued, At: now, By: record.System.Actor, Detail: why})
		})
	return unlessStale(err)
}

// commandWaits remembers of queued commands when to look at them again. It is safe for concurrent use.
type commandWaits struct {
	mu  sync.Mutex
	all map[uint64]commandWait
}

type commandWait struct {
	next, away time.Time // away is when its tracker was last seen to be away
	looks      int
}

// add lets a command wait, each time longer.
func (w *commandWaits) add(id uint64, now, away time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[uint64]commandWait{}
	}
	c := w.all[id]
	c.next = now.Add(min(commandSlowest, commandRetry<<min(c.looks, 10)))
	c.away = latest(c.away, away)
	c.looks++
	w.all[id] = c
}

// away is when the tracker of a command was last seen to be away, as far as is remembered.
func (w *commandWaits) away(id uint64) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all[id].away
}

// until returns the commands that still wait, and forgets those that were not looked at for a long time.
func (w *commandWaits) until(now time.Time) []uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids := []uint64{}
	for id, c := range w.all {
		if now.Sub(c.next) > commandRarest {
			delete(w.all, id)
		} else if c.next.After(now) {
			ids = append(ids, id)
		}
	}
	return ids
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
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
