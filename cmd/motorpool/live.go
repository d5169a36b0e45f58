package main

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet/api/stream"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/consume"
)

// liveHub is what tells open streams, ready to run.
type liveHub struct {
	*platform
	hub  *stream.Hub
	from int64 // offset of the topic of events
}

func (p *platform) newLiveHub(ctx context.Context) (*liveHub, error) {
	hub, err := stream.NewHub(stream.DefaultConfig(), p.db, p.metrics, p.log)
	if err != nil {
		return nil, err
	}
	from, err := hub.Begin(ctx)
	return &liveHub{platform: p, hub: hub, from: from}, err
}

// run follows both topics until ctx ends, and then ends all streams.
func (l *liveHub) run(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return l.hub.Run(ctx) })
	all.Go(func() error {
		return consume.Tail(ctx, l.kafka, l.kafka.Events, l.from, l.log, l.hub.EventRecords(codec.ParseEvent))
	})
	all.Go(func() error {
		return consume.Tail(ctx, l.kafka, l.kafka.Changes, consume.Newest, l.log, l.hub.ChangeRecords(codec.ParseChange))
	})
	return all.Wait()
}
