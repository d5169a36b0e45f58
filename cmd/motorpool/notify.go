package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api"
	"github.com/motorpool/fleet/api/eventview"
	"github.com/motorpool/fleet/api/hook"
	"github.com/motorpool/fleet/api/outbound"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/place"
	"github.com/motorpool/fleet/pipeline/registry"
	"github.com/motorpool/fleet/pipeline/topic"
	"github.com/motorpool/fleet/pipeline/webhook"
	"github.com/motorpool/fleet/query"
)

type notifyCommand struct {
	Group string `help:"Consumer group of the pipeline whose events are sent; processes of one group share the work." default:"motorpool"`
	Check bool   `help:"Check the settings, build everything and start nothing."`

	OutboundNetworks []netip.Prefix  `help:"Networks beside the public ones in which endpoints may be, such as 10.20.0.0/16." placeholder:"PREFIX"`
	Webhooks         webhookSettings `embed:"" prefix:"webhook-" group:"Webhooks"`
	WebhookWorkers   int             `help:"Requests to endpoints that are under way at once." default:"256" group:"Webhooks"`
}

func (*notifyCommand) Help() string {
	return `
    Kafka: events ──► which endpoints want it? ──► Kafka: webhook.deliveries ──► endpoints
                                                          │        ▲
                                        ClickHouse: deliveries, attempts, health

Sends events to the webhook endpoints of accounts, signed, until each has answered. Any number of these may run, beside
'up' too: each owns some of the endpoints. One that is killed loses nothing: whoever owns its endpoints next goes on
with what is not settled, so that an endpoint may get an event twice, under one webhook-id. It needs the keys that
'serve' seals secrets with. An endpoint is called where --outbound-networks and --webhook-ports allow, and nowhere else.

  motorpool notify --kafka kafka:9092 --clickhouse clickhouse:9000 --seal-key-file /etc/motorpool/seal-key
  motorpool notify --outbound-networks 10.20.0.0/16 --webhook-workers 512`
}

// Run sends until ctx ends, then ends the requests that are under way and writes down what came of them.
func (c *notifyCommand) Run(ctx context.Context, s settings, o output) error {
	log := s.logger(o.err)
	p, err := connect(ctx, &s, false, log)
	if err != nil {
		return err
	}
	defer p.close()
	routes, err := api.New(rest.DefaultConfig(), api.Deps{ // of which only records and the form of events are used
		Deps:   rest.Deps{DB: p.db, Long: p.db, IDs: p.ids, Log: p.log, Metrics: p.metrics},
		Events: events{p.feed, p.kafka.Events},
	})
	if err != nil {
		return err
	}
	policies := registry.NewPolicies(p.db)
	if err := policies.Refresh(ctx); err != nil {
		return fmt.Errorf("%w; 'motorpool migrate' makes what is missing", err)
	}
	half, err := p.newNotify(ctx, c.Group, notifySettings{networks: c.OutboundNetworks, webhooks: c.Webhooks,
		workers: c.WebhookWorkers, routes: routes, policies: policies})
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
	log.Info("notifying", "group", c.Group, "ops", ops.addr())
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return half.run(ctx) })
	all.Go(func() error { return p.room.run(ctx) })
	all.Go(func() error { return ops.run(ctx) })
	all.Go(func() error {
		policies.Run(ctx, func(err error) { log.Warn("tags of vehicles cannot be read, trying again", "error", err) })
		return nil
	})
	return all.Wait()
}

// notifySettings are what sending webhooks takes beside the platform.
type notifySettings struct {
	networks []netip.Prefix // beside the public ones
	webhooks webhookSettings
	workers  int
	routes   *api.API
	policies *registry.Policies // kept fresh by the caller
}

// notifyHalf sends webhooks, ready to run.
type notifyHalf struct {
	*platform
	endpoints *registry.Endpoints
	deliverer *webhook.Deliverer
	places    *place.Teller
	hold      *query.IngestHold
	consumers []*consume.Consumer
}

// Suffixes of the groups that send webhooks.
const (
	dispatchGroup = "-dispatch"
	deliverGroup  = "-deliver"
	placesGroup   = "-places"
)

// longestAnswer is how long an endpoint may take at most, and mostOfAnswer how much of what it says is read, in bytes.
const (
	longestAnswer = 30 * time.Second
	mostOfAnswer  = 64 << 10
)

// newNotify builds what sends webhooks, and reads the endpoints for the first time.
func (p *platform) newNotify(ctx context.Context, group string, n notifySettings) (*notifyHalf, error) {
	keys, err := p.settings.sealKeys()
	if err != nil {
		return nil, err
	}
	store, err := p.pool(ctx, p.settings.DB.APIConnections)
	if err != nil {
		return nil, err
	}
	h := &notifyHalf{platform: p, endpoints: registry.NewEndpoints(store), hold: query.NewIngestHold(store)}
	if err := h.endpoints.Refresh(ctx); err != nil {
		return nil, fmt.Errorf("%w; 'motorpool migrate' makes what is missing", err)
	}
	// Archived ones have no address.
	if keys.Empty() && slices.ContainsFunc(h.endpoints.All(), func(e *webhook.Endpoint) bool { return e.URL != "" }) {
		return nil, errors.New("there are webhook endpoints, and no key to open their secrets with, so that nothing could " +
			"be signed: give --seal-key-file, with the keys that 'serve' has, or the --data of a running 'up'")
	}
	counter, err := topic.NewCounter(p.kafka, p.kafka.Deliveries)
	if err != nil {
		return nil, err
	}
	if _, err := counter.Count(ctx, 0); err != nil {
		return nil, fmt.Errorf("%w; 'motorpool migrate' makes topics that are missing", err)
	}
	metrics := webhook.NewMetrics(p.metrics)
	matcher := webhook.Matcher{MayHear: api.MayHear,
		Tags: func(account fleet.AccountID, vehicle fleet.VehicleID) []string {
			return n.policies.Of(account).TraitsOf(vehicle).Tags
		}}
	config := webhook.DefaultConfig()
	config.Workers = n.workers
	// What a lost owner still does, twice its grace, must fit into what the broker gives it.
	config.Grace = min(config.Grace, p.settings.Broker.SessionTimeout/6)
	client := outbound.NewClient(outbound.Reach{Networks: n.networks, Ports: n.webhooks.Ports},
		outbound.Bounds{Timeout: longestAnswer + 5*time.Second, Answer: mostOfAnswer, Idle: 50})
	h.deliverer, err = webhook.New(config, webhook.Deps{
		DB: store, Endpoints: h.endpoints, Matcher: matcher, Courier: &webhook.Courier{Client: client, Open: keys.Open,
			Forbidden: outbound.ErrForbidden, Plain: n.webhooks.HTTP},
		Render: func(_ context.Context, e *webhook.Endpoint, event *fleet.Event, sequence uint64) ([]byte, error) {
			body, err := n.routes.Events.JSON(event, sequence, eventview.Form{Thin: e.Thin})
			return []byte(strings.TrimSuffix(string(body), "\n")), err
		},
		Switch:    switcher{record.NewLog(n.routes.Store, record.WebhookEndpoints), events{p.feed, p.kafka.Events}}.heed,
		Publisher: p.feed, Topic: p.kafka.Deliveries,
		Partitions: func(ctx context.Context) (int, error) { return counter.Count(ctx, time.Second) },
		Partition:  topic.PartitionOf, Metrics: metrics, Log: p.log,
	})
	if err != nil {
		return nil, err
	}
	dialer, err := p.kafka.Dialer()
	if err != nil {
		return nil, err
	}
	dispatcher := &webhook.Dispatcher{Endpoints: h.endpoints, Matcher: matcher, Publisher: p.feed,
		Topic: p.kafka.Deliveries, Metrics: metrics, Log: p.log}
	h.places = &place.Teller{To: events{p.feed, p.kafka.Events}, Log: p.log,
		Wanted: func(account fleet.AccountID, vehicle fleet.VehicleID) (place.Rule, bool) {
			every, moved, wanted := matcher.Places(h.endpoints.Of(account), vehicle)
			return place.Rule{Every: every, Moved: moved}, wanted
		}}
	for _, c := range []struct {
		group, topic string
		newOne       func(topic string, partition int) consume.Handler
	}{
		{group + dispatchGroup, p.kafka.Events, func(string, int) consume.Handler { return dispatcher }},
		{group + deliverGroup, p.kafka.Deliveries, h.deliverer.Handler},
		{group + placesGroup, p.kafka.Changes, func(string, int) consume.Handler { return h.places.Handler() }},
	} {
		consuming := p.settings.consumer(c.group)
		consuming.Linger, consuming.Held = 20*time.Millisecond, h.hold.Held
		consuming.MaxRows = 2000 // of which each may be for many endpoints
		consumer, err := consume.New(consuming, p.client, dialer, []string{c.topic}, c.newOne, p.metrics, p.log)
		if err != nil {
			return nil, err
		}
		h.consumers = append(h.consumers, consumer)
	}
	return h, nil
}

// checks are all needed: without either store nothing is sent.
func (h *notifyHalf) checks() checks {
	all := h.readStore()
	maps.Copy(all, h.readBroker())
	return all
}

// run works until ctx ends. What sends outlives the consumers, which write down what came of it.
func (h *notifyHalf) run(ctx context.Context) error {
	return runBeside(ctx, h.consumers, h.deliverer.Run, h.places.Run,
		func(ctx context.Context) {
			h.endpoints.Run(ctx, func(err error) {
				h.log.Warn("webhook endpoints cannot be read, trying again", "error", err)
			})
		},
		func(ctx context.Context) {
			h.hold.Run(ctx, func(err error) { h.log.Warn("a backup could not be made now", "error", err) })
		})
}

// switcher tells accounts of endpoints that fail.
type switcher struct {
	endpoints *record.Log[record.WebhookEndpoint]
	events    events
}

// heed makes the event of a notice, and switches the endpoint off if that is asked for. The event goes first: whoever
// is killed in between, or fails, tells it again under the same id, so that an account is told of each switching off.
func (s switcher) heed(ctx context.Context, account fleet.AccountID, endpoint uint64, n webhook.Notice) error {
	rec, err := s.endpoints.Get(ctx, account, endpoint)
	if fleet.CodeOf(err) == fleet.CodeNotFound || err == nil && !hook.Sends(&rec, n.URL) {
		return nil // it is not about what the endpoint is now
	}
	if err != nil {
		return err
	}
	eventType, share := fleet.EventEndpointFailing, n.Share
	told := hook.Failure{ID: fleet.FormatID(fleet.WebhookEndpointPrefix, endpoint), Object: record.WebhookEndpoints.Name,
		FailingSince: record.InstantOf(n.Since), Failures: n.Failures, LastError: n.LastError, WarnedPercent: share}
	switch n.Kind {
	case webhook.OffGone:
		told.Reason = "It answered 410: it wants no more events."
	case webhook.OffFailing:
		told.Reason = fmt.Sprintf("Since %s all %d attempts failed; the last: %s.", n.Since.UTC().Format(time.RFC3339),
			n.Failures, n.LastError)
	}
	// A share is told once of each time that it fails, and a switching off once of each revision.
	once := fmt.Sprint(n.Since.UnixMilli(), " ", share)
	if told.Reason != "" {
		eventType, once = fleet.EventEndpointDisabled, fmt.Sprint(rec.Revision)
	}
	body, err := json.Marshal(told)
	if err != nil {
		return err
	}
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%d\x00%d\x00%s\x00%s", account, endpoint, eventType, once)
	if err := s.events.PublishEvents(ctx, []fleet.Event{{
		ID: max(hash.Sum64()>>1, 1), Type: eventType, Account: account, At: fleet.MillisOf(time.Now()),
		Kind: fleet.Kind(record.WebhookEndpoints.Name), Object: endpoint, Revision: 1, Body: body,
	}}); err != nil || told.Reason == "" {
		return err
	}
	return hook.SwitchOff(ctx, s.endpoints, account, endpoint, n.URL, string(n.Kind), told.Reason)
}
