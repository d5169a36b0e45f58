package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/segmentio/kafka-go"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/topic"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
)

// How long the pipeline may be silent before wait asks whether there is one, and before it gives up.
const (
	waitPoll   = 100 * time.Millisecond
	waitAsk    = 15 * time.Second
	waitGiveUp = 3 * time.Minute
)

// wait returns when the outcomes of the run add up to what was sent. A report whose device the pipeline did not know
// yet was kept apart and comes back; after --register that is expected of all of them. What was sent more than once may
// be there twice, and stand for rows that are still to come: then all that is on the topics must be worked through.
func (r *replay) wait(ctx context.Context, db driver.Conn, topics topic.Config) (query.Outcome, error) {
	bar := r.progress("working", max(1, r.sent))
	defer func() { _ = bar.Finish() }()
	var last int64
	moved, asked, through := time.Now(), false, r.again == 0
	for {
		o, err := query.RunOutcome(ctx, db, r.run)
		if err != nil && ctx.Err() != nil {
			return o, ctx.Err()
		}
		apart := int64(0)
		if r.Register {
			apart = o.Refused[fleet.RefusedUnknownDevice]
		}
		if progress := o.Read - apart; err == nil && progress != last {
			last, moved, asked = progress, time.Now(), false
			_ = bar.Set64(max(0, progress))
		}
		if err == nil && o.Read >= r.sent && apart <= 0 {
			if through {
				return o, nil
			}
			if err := r.waitIngested(ctx, topics); err != nil {
				return o, err
			}
			through, moved = true, time.Now()
			continue
		}
		switch silent := time.Since(moved); {
		case silent > waitGiveUp:
			return o, fmt.Errorf("%d of %d rows were worked through, and nothing has happened for %v: is 'motorpool up' or 'motorpool ingest' running? (%w)",
				o.Read, r.sent, waitGiveUp, errors.Join(err, errNoPipeline))
		case silent > waitAsk && !asked:
			asked = true
			fmt.Fprintln(r.out.err, "waiting for the pipeline; 'motorpool doctor' says what may be missing")
		}
		if err := sleepUntil(ctx, time.Now().Add(waitPoll)); err != nil {
			return o, err
		}
	}
}

var errNoPipeline = errors.New("the pipeline does not answer")

// waitIngested returns when all that is on the topics of ingest by now is stored or refused.
func (r *replay) waitIngested(ctx context.Context, topics topic.Config) error {
	client, err := topics.Client()
	if err != nil {
		return err
	}
	defer topic.Disconnect(client)
	return r.waitGroup(ctx, client, r.Group, topics.Ingest(), "what was sent again is worked through")
}

// waitDerived returns when everything that follows from what is stored by now has been derived: trips, visits, alerts
// and their events' records. What goes on at the newest fix stays open until silence or a later fix ends it.
func (r *replay) waitDerived(ctx context.Context, db driver.Conn, topics topic.Config) error {
	client, err := topics.Client()
	if err != nil {
		return err
	}
	defer topic.Disconnect(client)
	// In this order: the pipeline tells of its changes before it commits what brought them, and notes what is to be
	// derived again before it commits those.
	for _, stage := range []struct {
		group  string
		topics []string
	}{
		{r.Group, topics.Ingest()},
		{r.Group + followGroup, []string{topics.Changes}},
	} {
		if err := r.waitGroup(ctx, client, stage.group, stage.topics, derived); err != nil {
			return err
		}
	}
	return r.waitRepairs(ctx, db)
}

// waitGroup returns when a group has committed what was on its topics when it was called. On a busy system there is
// always something newer.
func (r *replay) waitGroup(ctx context.Context, client *kafka.Client, group string, topics []string,
	what string) error {
	begin := time.Now()
	backlog := topic.NewBacklog(client, group, topics...)
	return r.until(ctx, what, func(ctx context.Context) (int64, error) {
		lag, err := topic.Lag(ctx, client, group, topics...)
		if err != nil || lag == 0 {
			return lag, err
		}
		if done, err := backlog.Done(ctx); err != nil || !done.Before(begin) {
			return 0, err
		}
		return lag, nil
	})
}

// waitRepairs returns when each vehicle of the account that had something to be derived again when it was called
// was seen without.
func (r *replay) waitRepairs(ctx context.Context, db driver.Conn) error {
	var left map[fleet.VehicleID]bool
	return r.until(ctx, "all vehicles are derived again", func(ctx context.Context) (int64, error) {
		dirty, err := r.dirty(ctx, db)
		if err != nil {
			return 0, err
		}
		if left == nil {
			left = dirty
		}
		for vehicle := range left {
			if !dirty[vehicle] {
				delete(left, vehicle)
			}
		}
		return int64(len(left)), nil
	})
}

// dirty returns the vehicles that have something to be derived again.
func (r *replay) dirty(ctx context.Context, db driver.Conn) (map[fleet.VehicleID]bool, error) {
	all := map[fleet.VehicleID]bool{}
	err := schemas.EachRow(ctx, db, "read dirty spans", schemas.Query("follow_dirty"), nil,
		func(row schemas.Row) error {
			var account, vehicle uint64
			var from int64
			var jobs []uint64
			if err := row.Scan(&account, &vehicle, &from, &jobs); err != nil {
				return err
			}
			if r.account == 0 || fleet.AccountID(account) == r.account {
				all[fleet.VehicleID(vehicle)] = true
			}
			return nil
		})
	return all, err
}

// derived is what is waited for once all rows are stored.
const derived = "what follows from the rows is derived"

// until asks what is left until it is nothing. It gives up when that has not become less for long.
func (r *replay) until(ctx context.Context, what string, left func(context.Context) (int64, error)) error {
	least, moved, asked := int64(-1), time.Now(), false
	for {
		n, err := left(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && n == 0 {
			return nil
		}
		if err == nil && (least < 0 || n < least) {
			least, moved, asked = n, time.Now(), false
		}
		switch silent := time.Since(moved); {
		case silent > waitGiveUp:
			return fmt.Errorf("it was waited until %s: %d are left, and nothing has happened for %v (%w)", what,
				max(least, 0), waitGiveUp, errors.Join(err, errNoPipeline))
		case silent > waitAsk && !asked:
			asked = true
			fmt.Fprintf(r.out.err, "waiting until %s\n", what)
		}
		if err := sleepUntil(ctx, time.Now().Add(waitPoll)); err != nil {
			return err
		}
	}
}
