package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
)

// holdingStill does what must be done while the pipeline writes nothing.
func (b *backup) holdingStill(ctx context.Context, do func(context.Context) error) error {
	id := "backup " + b.name
	if err := query.AskIngestHold(ctx, b.db, id, holdSpan); err != nil {
		return err
	}
	began := time.Now()
	holding, stop := context.WithCancelCause(ctx)
	var renewing errgroup.Group
	renewing.Go(func() error {
		tick := time.NewTicker(holdRenew)
		defer tick.Stop()
		for {
			select {
			case <-holding.Done():
				return nil
			case <-tick.C:
			}
			if err := query.AskIngestHold(holding, b.db, id, holdSpan); err != nil && holding.Err() == nil {
				stop(err)
			}
		}
	})
	err := do(holding)
	if err != nil && ctx.Err() == nil && holding.Err() != nil {
		err = context.Cause(holding)
	}
	stop(nil)
	_ = renewing.Wait()
	lifting, cancel := context.WithTimeout(context.WithoutCancel(ctx), holdRenew)
	defer cancel()
	err = errors.Join(err, query.AskIngestHold(lifting, b.db, id, 0))
	if err == nil {
		fmt.Fprintf(b.out, "the pipeline held still for %s\n", time.Since(began).Round(time.Millisecond))
	}
	return err
}

// collect settles what the backup is of. What takes long goes on in copying, whose context is inner.
func (b *backup) collect(ctx, inner context.Context, copying *errgroup.Group) error {
	before, err := b.stillness(ctx)
	if err != nil {
		return err
	}
	for i := range b.manifest.Stages {
		if err := b.begin(ctx, inner, copying, &b.manifest.Stages[i]); err != nil {
			return err
		}
	}
	after, still, err := b.standings(ctx)
	if err != nil {
		return err
	}
	if !still || !equalStandings(before, after) {
		return errors.New("the pipeline did not hold still: is there one of an earlier version, or of another --clickhouse? Stop it, or try again")
	}
	b.manifest.Standings = after
	if b.manifest.Embedded {
		return b.copyLog(ctx)
	}
	return nil
}

// stillness waits until no batch is in hand and every pipeline has heard that it is to hold still.
func (b *backup) stillness(ctx context.Context) (map[string][]consume.Standing, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, stillTime, errors.New(
		"a batch is in hand that is not finished: is the pipeline running, and of this --group? It has to finish it before a backup"))
	defer cancel()
	var last map[string][]consume.Standing
	since := time.Now()
	for {
		now, still, err := b.standings(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		if !still || !equalStandings(last, now) {
			last, since = now, time.Now()
		}
		if time.Since(since) >= query.HoldNotice {
			return now, nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(standingPoll):
		}
	}
}

// standings says how far each group has come, and whether none that writes what is derived has a batch in hand.
func (b *backup) standings(ctx context.Context) (all map[string][]consume.Standing, still bool, err error) {
	all, still = map[string][]consume.Standing{}, true
	writing := consumerGroups(b.command.Group)[:3] // those behind send webhooks
	for group, topics := range groupTopics(b.kafka, b.command.Group) {
		standing, err := consume.Standings(ctx, b.client, group, topics...)
		if err != nil {
			return nil, false, err
		}
		all[group] = standing
		if !slices.Contains(writing, group) {
			continue // what it does twice is known by its ids, so that a batch of one that was killed need not be finished
		}
		still = still && !slices.ContainsFunc(standing, func(s consume.Standing) bool { return s.Planned })
	}
	return all, still, nil
}

func equalStandings(a, b map[string][]consume.Standing) bool {
	if len(a) != len(b) {
		return false
	}
	for group := range a {
		if !slices.Equal(a[group], b[group]) {
			return false
		}
	}
	return true
}

// begin starts a stage, and returns when ClickHouse knows which parts belong to it.
func (b *backup) begin(ctx, inner context.Context, copying *errgroup.Group, s *stage) error {
	if b.base == "" {
		fmt.Fprintf(b.out, "%-9s begun\n", s.Name)
	}
	done := make(chan struct{})
	copying.Go(func() error {
		defer close(done)
		return b.copyStage(inner, *s, b.base)
	})
	ctx, cancel := context.WithTimeout(ctx, collectTime)
	defer cancel()
	for {
		var collected bool
		err := b.db.QueryRow(ctx, schemas.Query("backup_read"), clickhouse.Named("id", b.id(*s))).Scan(&collected)
		if collected {
			return nil
		}
		if err != nil && ctx.Err() != nil {
			return fmt.Errorf("ClickHouse does not say what the backup is of: %w", err)
		}
		select {
		case <-done: // so quickly that it was not seen
			return nil
		case <-time.After(collectPoll):
		}
	}
}
