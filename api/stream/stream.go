// Package stream brings what happens to whoever listens: a Hub for each process that serves, which hears of every event
// and every change of a live position, and any number of subscriptions that read from it.
//
//	topic events  ──► Hub.Event  ──► ring of the newest events ──┐
//	                                 table events (30 days) ─────┴─► Hub.Read ──► a subscription, by its own cursor
//	topic changes ──► Hub.Change ──► newest place per vehicle ─────► Subscription.Places
//
// Nothing is pushed into subscriptions: they are woken and read, each at its own pace. Whoever is slow finds the newest
// place of a vehicle instead of each, and finds events that have left the ring in the table; so a slow or stalled
// reader costs the others nothing, needs no queue and misses no event. A subscription costs a channel and a few
// numbers, and no goroutine or timer of its own.
//
// An event's sequence is its place on the topic. The ring continues the table without a gap: it begins behind what the
// table had when the Hub began, and what is read from the table stops where the table is known to be complete.
package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
)

// Config are the settings of a Hub.
type Config struct {
	Ring       int           // events in memory, and as many places that are told as events
	PerKey     int           // subscriptions of an API key
	PerAccount int           // subscriptions of an account
	Gather     time.Duration // how long changes of positions are gathered before readers are woken
	Heartbeat  time.Duration // how often all readers are woken
}

// DefaultConfig returns the settings used when nothing else is said.
func DefaultConfig() Config {
	return Config{Ring: 10_000, PerKey: 100, PerAccount: 5_000, Gather: 100 * time.Millisecond,
		Heartbeat: 15 * time.Second}
}

// Validate says what is wrong with the settings.
func (c Config) Validate() error {
	if c.Ring < 1 || c.PerKey < 1 || c.PerAccount < 1 {
		return errors.New("stream: ring, per_key and per_account must be positive")
	}
	if c.Gather <= 0 || c.Heartbeat < c.Gather {
		return errors.New("stream: gather must be positive, and heartbeat not shorter")
	}
	return nil
}

// Errors of Subscribe and Read.
var (
	ErrTooMany = errors.New("too many subscriptions")
	ErrEnded   = errors.New("the hub has ended")
	ErrExpired = errors.New("events behind this sequence are no longer kept")
)

// Hub knows the newest events and places and who listens. It is safe for concurrent use.
type Hub struct {
	cfg     Config
	db      driver.Conn
	log     *slog.Logger
	metrics *metrics
	beats   atomic.Uint64
	done    chan struct{} // closed when Run ends

	mu     sync.RWMutex
	first  uint64 // every event from this sequence on is in memory, but for places that had to make room
	last   uint64 // the newest sequence heard of
	ring   []*Item
	places []*Item // that are told as events: they have a ring of their own, as a webhook may ask for very many
	feeds  map[fleet.AccountID]*feed
	dirty  map[*feed]struct{} // with places that nobody was woken for
	keys   map[string]int
	ended  bool

	tableMu sync.Mutex // one reader of bounds at a time
	stored  uint64     // the table has every event up to this one
	oldest  uint64     // from which on the table has not forgotten any
	asked   time.Time  // when these two were read
}

// NewHub makes a hub; it starts nothing. Begin comes next, then Run, Event and Change.
func NewHub(cfg Config, db driver.Conn, registerer prometheus.Registerer, log *slog.Logger) (*Hub, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	m, err := newMetrics(registerer)
	if err != nil {
		return nil, err
	}
	return &Hub{
		cfg: cfg, db: db, log: log, metrics: m, done: make(chan struct{}), first: 1,
		feeds: map[fleet.AccountID]*feed{}, dirty: map[*feed]struct{}{}, keys: map[string]int{},
	}, nil
}

// Begin finds out how far the table of events reaches, and returns the offset from which on Event must be told of the
// topic's records. It is called once, before Run.
func (h *Hub) Begin(ctx context.Context) (offset int64, err error) {
	newest, oldest, err := query.EventBounds(ctx, h.db, time.Now())
	if err != nil {
		return 0, err
	}
	h.tableMu.Lock()
	h.stored, h.oldest, h.asked = newest, oldest, time.Now()
	h.tableMu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.first, h.last = newest+1, newest
	return int64(newest), nil
}

// Run wakes readers until ctx ends; then it ends all subscriptions and returns nil.
func (h *Hub) Run(ctx context.Context) error {
	tick := time.NewTicker(h.cfg.Gather)
	defer tick.Stop()
	perBeat, perSecond := int(h.cfg.Heartbeat/h.cfg.Gather), max(1, int(time.Second/h.cfg.Gather))
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			h.mu.Lock()
			h.ended = true
			close(h.done)
			h.mu.Unlock()
			return nil
		case <-tick.C:
			if n%perBeat == 0 {
				h.beats.Add(1)
			}
			h.wake(n%perBeat == 0, n%perSecond == 0)
		}
	}
}

// wake wakes those for whom there are new places, those who hold places back if held is set, and everybody if all is.
func (h *Hub) wake(all, held bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if all || held {
		for _, f := range h.feeds {
			for s := range f.subs {
				if all || s.holds.Load() {
					s.poke()
				}
			}
		}
	}
	for f := range h.dirty {
		for s := range f.subs {
			if s.filter.Positions {
				s.poke()
			}
		}
	}
	clear(h.dirty)
}

// Newest returns the newest sequence heard of.
func (h *Hub) Newest() uint64 {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.last
}

// Begins returns the sequence behind which the ring has every event.
func (h *Hub) Begins() uint64 {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.first - 1
}

type metrics struct {
	connections prometheus.Gauge
	refused     prometheus.Counter
	events      prometheus.Counter
	changes     prometheus.Counter
	undecodable prometheus.Counter
	fromTable   prometheus.Counter
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "motorpool", Subsystem: "stream",
			Name: name, Help: help})
	}
	m := &metrics{
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "motorpool", Subsystem: "stream", Name: "subscriptions", Help: "Subscriptions that are open.",
		}),
		refused:     counter("refused_total", "Subscriptions that were refused because there were too many."),
		events:      counter("events_total", "Events heard of."),
		changes:     counter("changes_total", "Changes of live positions heard of."),
		undecodable: counter("undecodable_total", "Records that are no events or changes."),
		fromTable: counter("table_reads_total",
			"Pages of events that were read from the table because they had left the ring."),
	}
	for _, c := range []prometheus.Collector{m.connections, m.refused, m.events, m.changes, m.undecodable, m.fromTable} {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("stream metrics: %w", err)
		}
	}
	return m, nil
}
