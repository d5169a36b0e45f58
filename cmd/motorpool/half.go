package main

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet/pipeline"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/topic"
	"github.com/motorpool/fleet/query"
)

// ingestHalf is the pipeline, ready to run.
type ingestHalf struct {
	platform *platform
	registry *query.Registry
	releaser *pipeline.Releaser
	consumer *consume.Consumer
}

// newIngest reads the registry and prepares a member of the consumer group; nothing runs yet.
func (p *platform) newIngest(ctx context.Context, group string) (*ingestHalf, error) {
	config := pipeline.DefaultConfig()
	config.Formats = map[string]codec.Format{
		p.kafka.Positions: codec.JSON, p.kafka.Telemetry: codec.JSON, p.kafka.Traccar: codec.Traccar,
	}
	if err := config.Validate(); err != nil {
		return nil, err
	}
	h := &ingestHalf{platform: p, registry: query.NewRegistry(p.db)}
	if err := h.registry.Refresh(ctx); err != nil {
		return nil, err
	}
	deps := pipeline.Deps{
		DB: p.db, Registry: h.registry, Letters: letters{p}, Apart: pipeline.NewApart(&config),
		Metrics: pipeline.NewMetrics(p.metrics), Log: p.log,
	}
	h.releaser = pipeline.NewReleaser(deps, released{p})
	newHandler := func(topic string, partition int) consume.Handler {
		chain := pipeline.NewChain(&config, deps, topic, partition)
		if topic == p.kafka.Positions && partition == 0 {
			// Of all processes of the group, this partition's owner brings back what was kept apart.
			return &inCharge{Chain: chain, until: h.releaser.InCharge()}
		}
		return chain
	}
	client, err := p.kafka.Client()
	if err != nil {
		return nil, err
	}
	dialer, err := p.kafka.Dialer()
	if err != nil {
		return nil, err
	}
	h.consumer, err = consume.New(consume.DefaultConfig(group), client, dialer, p.kafka.Ingest(), newHandler, p.metrics, p.log)
	return h, err
}

// inCharge is the chain of the partition whose owner releases kept-apart reports.
type inCharge struct {
	*pipeline.Chain
	until func()
}

// Close ends the charge with the ownership of the partition.
func (c *inCharge) Close() error {
	c.until()
	return nil
}

// checks are what /readyz asks of a process with a pipeline.
func (h *ingestHalf) checks() checks { return h.platform.stores() }

// run consumes until ctx ends, and then finishes and commits the batches in hand.
func (h *ingestHalf) run(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error {
		h.registry.Run(ctx, func(err error) {
			h.platform.log.Warn("the device registry could not be read and stays as it is", "error", err)
		})
		return nil
	})
	all.Go(func() error {
		h.releaser.Run(ctx)
		return nil
	})
	all.Go(func() error { return h.consumer.Run(ctx) })
	return all.Wait()
}

// letters publishes dead letters on their topic.
type letters struct{ *platform }

func (p letters) PublishLetters(ctx context.Context, all []codec.DeadLetter) error {
	messages := make([]topic.Message, len(all))
	for i := range all {
		messages[i] = topic.Message{Key: []byte(all[i].Device), Value: all[i].Append(nil), ContentType: codec.ContentTypeJSON}
	}
	return p.feed.PublishRaw(ctx, p.kafka.DeadLetters, messages)
}

// released publishes kept-apart reports on the topics they came from.
type released struct{ *platform }

func (p released) PublishReleased(ctx context.Context, reports []pipeline.Kept) error {
	byTopic := make(map[string][]topic.Message)
	for _, k := range reports {
		byTopic[k.Topic] = append(byTopic[k.Topic], topic.Message{
			Key: []byte(k.UniqueID), Value: k.Report, ContentType: codec.ContentTypeJSON, Run: k.Run, Released: true, Time: k.At,
		})
	}
	for name, messages := range byTopic {
		if err := p.feed.PublishRaw(ctx, name, messages); err != nil {
			return fmt.Errorf("release to %s: %w", name, err)
		}
	}
	return nil
}
