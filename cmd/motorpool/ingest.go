package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/eventlog"
	"github.com/motorpool/fleet/pipeline/follow"
	"github.com/motorpool/fleet/pipeline/registry"
	"github.com/motorpool/fleet/pipeline/topic"
	"github.com/motorpool/fleet/query"
)

type ingestCommand struct {
	Group  string `help:"Consumer group; processes of one group share the work." default:"motorpool"`
	Derive bool   `help:"Derive trips, visits and alerts; without it this process only stores, and others of the group derive." default:"true" negatable:""`
	Check  bool   `help:"Check the settings, build everything and start nothing."`
}

// consumerGroup is the pipeline's, unless another is named.
const consumerGroup = "motorpool"

func (*ingestCommand) Help() string {
	return `
    Kafka ──► decode ─ device ─ classify ─ H3 ─ signals ──► ClickHouse
                                                                │
    Kafka ◄── events: trips, visits, alerts ◄── derive ◄────────┘

Any number of these may run; each takes its share of the partitions. One that is killed loses nothing: whoever takes its
partitions over handles the very same ranges again.`
}

// Run works until ctx ends, then finishes and commits the batches in hand.
func (c *ingestCommand) Run(ctx context.Context, s settings, o output) error {
	log := s.logger(o.err)
	p, err := connect(ctx, &s, false, log)
	if err != nil {
		return err
	}
	defer p.close()
	half, err := p.newIngest(ctx, c.Group, c.Derive)
	if err != nil {
		return err
	}
	ops, err := p.newOps(half.checks(), nil)
	if err != nil {
		return err
	}
	defer ops.close()
	if c.Check {
		fmt.Fprintln(o.out, "the settings are good")
		return nil
	}
	log.Info("ingesting", "group", c.Group, "ops", ops.addr())
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return half.run(ctx) })
	all.Go(func() error { return p.room.run(ctx) })
	all.Go(func() error { return ops.run(ctx) })
	return all.Wait()
}

// ingestHalf is the pipeline, ready to run.
type ingestHalf struct {
	*platform
	store     driver.Conn // its own connections: no client of the interface holds them
	registry  *registry.Devices
	policies  *registry.Policies
	releaser  *pipeline.Releaser
	hold      *query.IngestHold // a backup may ask for it
	consumers []*consume.Consumer
}

// newIngest builds the pipeline, that which derives too if it is wanted, and reads the registry for the first time.
func (p *platform) newIngest(ctx context.Context, group string, derive bool) (*ingestHalf, error) {
	store, err := p.pool(ctx, p.settings.DB.IngestConnections)
	if err != nil {
		return nil, err
	}
	h := &ingestHalf{
		platform: p, store: store, registry: registry.NewDevices(store), policies: registry.NewPolicies(store),
		hold: query.NewIngestHold(store),
	}
	for _, refresh := range []func(context.Context) error{h.registry.Refresh, h.policies.Refresh} {
		if err := refresh(ctx); err != nil {
			return nil, fmt.Errorf("%w; 'motorpool migrate' makes what is missing", err)
		}
	}
	config := pipeline.DefaultConfig()
	config.Formats = map[string]codec.Format{p.kafka.Traccar: codec.Traccar} // the others are native JSON
	if err := config.Validate(); err != nil {
		return nil, err
	}
	deps := pipeline.Deps{
		DB: store, Registry: h.registry, Letters: letters{p.feed, p.kafka.DeadLetters}, Apart: pipeline.NewApart(&config),
		Changes: changes{p.feed, p.kafka.Changes}, Metrics: pipeline.NewMetrics(p.metrics), Log: p.log,
	}
	h.releaser = pipeline.NewReleaser(deps, released{p.feed})
	dialer, err := p.kafka.Dialer()
	if err != nil {
		return nil, err
	}
	newHandler := func(topic string, partition int) consume.Handler {
		chain := pipeline.NewChain(&config, deps, topic, partition)
		if topic == p.kafka.Positions && partition == 0 {
			// The group has one owner of this partition at a time: that process brings back what was kept apart.
			return inCharge{chain, h.releaser.InCharge()}
		}
		return chain
	}
	type member struct {
		group  string
		topics []string
		newOne func(topic string, partition int) consume.Handler
	}
	members := []member{{group, p.kafka.Ingest(), newHandler}}
	if derive {
		follower, err := h.newFollower(ctx, group, deps.Metrics.Working)
		if err != nil {
			return nil, err
		}
		events, err := eventlog.New(store, p.metrics, p.log)
		if err != nil {
			return nil, err
		}
		members = append(members,
			member{group + followGroup, []string{p.kafka.Changes}, func(topic string, partition int) consume.Handler {
				return pipeline.Bury(follower.Handler(topic, partition), p.db, deps.Letters, topic, partition)
			}},
			member{group + eventsGroup, []string{p.kafka.Events}, func(topic string, partition int) consume.Handler {
				return pipeline.Bury(events, p.db, deps.Letters, topic, partition)
			}})
	}
	for _, c := range members {
		consuming := p.settings.consumer(c.group)
		consuming.Held = h.hold.Held
		consumer, err := consume.New(consuming, p.client, dialer, c.topics, c.newOne, p.metrics, p.log)
		if err != nil {
			return nil, err
		}
		h.consumers = append(h.consumers, consumer)
	}
	return h, nil
}

// newFollower builds what derives, and gives way while storing says that the process does that.
func (h *ingestHalf) newFollower(ctx context.Context, group string, storing func() bool) (*follow.Follower, error) {
	counter, err := topic.NewCounter(h.kafka, h.kafka.Changes)
	if err != nil {
		return nil, err
	}
	if _, err := counter.Count(ctx, 0); err != nil {
		return nil, fmt.Errorf("%w; 'motorpool migrate' makes topics that are missing", err)
	}
	config := follow.DefaultConfig()
	config.Grace = h.settings.consumer(group).Grace // with the batch in hand it is still within the rebalance
	settled := config.SilenceDelay - 10*time.Second // what was on its way before then is stored and derived
	backlogs := []*topic.Backlog{
		topic.NewBacklog(h.client, group, h.kafka.Ingest()...),
		topic.NewBacklog(h.client, group+followGroup, h.kafka.Changes),
	}
	return follow.New(config, follow.Deps{
		DB: h.store, Policies: h.policies, Events: events{h.feed, h.kafka.Events},
		Metrics: follow.NewMetrics(h.metrics), Log: h.log,
		Storing: storing, Changes: changes{h.feed, h.kafka.Changes}, Topic: changeTopic{counter},
		Behind: func(ctx context.Context, partition int) ([]string, bool) {
			owed, err := backlogs[1].Behind(ctx, settled)
			if err != nil || slices.Contains(owed, fmt.Sprintf("%s/%d", h.kafka.Changes, partition)) {
				return nil, false
			}
			behind, err := backlogs[0].Behind(ctx, settled)
			// Of measurements it is not stored which way they came.
			telemetry := func(name string) bool { return strings.HasPrefix(name, h.kafka.Telemetry+"/") }
			return behind, err == nil && !slices.ContainsFunc(behind, telemetry)
		},
		AllStored: func(ctx context.Context) bool {
			for _, backlog := range backlogs {
				done, err := backlog.Done(ctx)
				if err != nil || time.Since(done) > settled {
					return false
				}
			}
			return true
		},
	})
}

// changeTopic is the topic of changes as the owners of vehicles see it.
type changeTopic struct{ *topic.Counter }

// Partition is where PublishChanges puts what is told of a vehicle.
func (changeTopic) Partition(vehicle fleet.VehicleID, partitions int) int {
	return topic.PartitionOf(changeKey(vehicle), partitions)
}

// Suffixes of the groups that read what the pipeline itself writes to topics.
const (
	followGroup = "-follow"
	eventsGroup = "-events"
)

// consumerGroups are all groups of a pipeline, the one that reads what devices send first, and those that send webhooks
// last.
func consumerGroups(group string) []string {
	return []string{group, group + followGroup, group + eventsGroup, group + dispatchGroup, group + deliverGroup,
		group + placesGroup}
}

// consumer says how the group is consumed. What a lost member may still do must fit into the session.
func (s *settings) consumer(group string) consume.Config {
	c := consume.DefaultConfig(group)
	c.SessionTimeout, c.MaxInflatedBytes = s.Broker.SessionTimeout, s.Broker.MaxInflated<<20
	c.Grace = min(c.Grace, c.SessionTimeout/2)
	c.HeartbeatInterval = min(c.HeartbeatInterval, c.SessionTimeout/6)
	c.RebalanceTimeout = c.SessionTimeout * 3 / 2
	return c
}

// inCharge is the chain of the partition whose owner releases kept-apart reports.
type inCharge struct {
	*pipeline.Chain
	until func()
}

// Close ends the charge with the ownership.
func (c inCharge) Close() error {
	c.until()
	return nil
}

// checks are all needed: without either store nothing comes through.
func (h *ingestHalf) checks() checks {
	all := h.readStore()
	maps.Copy(all, h.readBroker())
	return all
}

// run works until ctx ends. The registry is kept fresh until the last batch is through.
func (h *ingestHalf) run(ctx context.Context) error {
	return runBeside(ctx, h.consumers,
		func(ctx context.Context) {
			h.registry.Run(ctx, func(err error) {
				h.log.Warn("the device registry cannot be read, trying again", "error", err)
			})
		},
		func(ctx context.Context) {
			h.policies.Run(ctx, func(err error) {
				h.log.Warn("geofences and rules cannot be read, trying again", "error", err)
			})
		},
		func(ctx context.Context) {
			h.hold.Run(ctx, func(err error) { h.log.Warn("a backup could not be made now", "error", err) })
		},
		h.releaser.Run)
}

// runBeside runs consumers until ctx ends or one of them fails, and returns when all of them have ended and what goes
// beside them has: that is stopped last, as consumers need it for what they have in hand.
func runBeside(ctx context.Context, consumers []*consume.Consumer, beside ...func(context.Context)) error {
	outliving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var all sync.WaitGroup
	for _, run := range beside {
		all.Go(func() { run(outliving) })
	}
	consuming, ctx := errgroup.WithContext(ctx)
	for _, consumer := range consumers {
		consuming.Go(func() error { return consumer.Run(ctx) })
	}
	err := consuming.Wait()
	stop()
	all.Wait()
	return err
}

// letters puts dead letters on their topic.
type letters struct {
	feed  *topic.Feed
	topic string
}

// PublishLetters returns when all replicas have the letters. One that is larger than its topic takes stays in
// ClickHouse alone.
func (l letters) PublishLetters(ctx context.Context, all []codec.DeadLetter) error {
	messages := make([]topic.Message, len(all))
	for i, letter := range all {
		messages[i] = topic.Message{Key: []byte(letter.Device), Value: letter.Append(nil), ContentType: codec.ContentTypeJSON,
			Time: letter.At}
	}
	err := l.feed.PublishRaw(ctx, l.topic, messages)
	var partly *topic.PublishError
	if errors.As(err, &partly) {
		for _, failed := range partly.Errors {
			if failed != nil && !errors.Is(failed, topic.ErrTooLarge) {
				return err
			}
		}
		return nil
	}
	return err
}

// changes tells on a topic which vehicles have something new.
type changes struct {
	feed  *topic.Feed
	topic string
}

// PublishChanges returns when all replicas have the changes.
func (c changes) PublishChanges(ctx context.Context, all []fleet.Change) error {
	messages := make([]topic.Message, len(all))
	for i := range all {
		value, err := json.Marshal(&all[i])
		if err != nil {
			return err
		}
		messages[i] = topic.Message{Key: changeKey(all[i].Vehicle), Value: value, ContentType: codec.ContentTypeJSON}
	}
	return c.feed.PublishRaw(ctx, c.topic, messages)
}

// events puts what was derived on its topic.
type events struct {
	feed  *topic.Feed
	topic string
}

// PublishEvents returns when all replicas have the events, in order.
func (e events) PublishEvents(ctx context.Context, all []fleet.Event) error {
	messages := make([]topic.Message, len(all))
	for i := range all {
		value := codec.AppendEvent(make([]byte, 0, 256+len(all[i].Body)), &all[i])
		messages[i] = topic.Message{Value: value, ContentType: codec.ContentTypeJSON}
	}
	return e.feed.PublishRaw(ctx, e.topic, messages)
}

// changeKey keeps a vehicle on one partition, and so with one owner.
func changeKey(vehicle fleet.VehicleID) []byte { return strconv.AppendUint(nil, uint64(vehicle), 10) }

// released puts kept-apart reports back onto the topics that they came from.
type released struct{ feed *topic.Feed }

// PublishReleased returns when all replicas have the reports.
func (r released) PublishReleased(ctx context.Context, reports []pipeline.Kept) error {
	byTopic := make(map[string][]topic.Message)
	for _, k := range reports {
		byTopic[k.Topic] = append(byTopic[k.Topic], topic.Message{
			Key: []byte(k.UniqueID), Value: k.Report, ContentType: codec.ContentTypeJSON, Run: k.Run, Released: true, Time: k.At,
		})
	}
	for name, messages := range byTopic {
		if err := r.feed.PublishRaw(ctx, name, messages); err != nil {
			return err
		}
	}
	return nil
}
