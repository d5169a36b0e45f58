package webhook

import (
	"container/heap"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
)

// Render writes an event as an endpoint wants it: the body of a message.
type Render func(ctx context.Context, e *Endpoint, event *fleet.Event, sequence uint64) ([]byte, error)

// Switch has the account of an endpoint told of a notice, and the endpoint switched off if that is its kind. It is
// tried again until it succeeds, by the next owner too, so that it may come twice.
type Switch func(ctx context.Context, account fleet.AccountID, endpoint uint64, n Notice) error

// Config says how much a process does at once.
type Config struct {
	Workers     int           // requests at once, to all endpoints together
	MemoryBytes int           // of deliveries in memory; what is above waits in the store, but for some of each endpoint
	Grace       time.Duration // what requests that are under way are given when a partition is lost
}

// DefaultConfig returns the settings for a process that does this beside others.
func DefaultConfig() Config {
	return Config{Workers: 256, MemoryBytes: 64 << 20, Grace: time.Second}
}

// Validate returns what is wrong with the configuration, or nil.
func (c Config) Validate() error {
	if c.Workers < 2 || c.MemoryBytes < 1<<20 || c.Grace <= 0 {
		return fmt.Errorf("webhooks: %d workers with %d bytes and a grace of %v: must be two with 1 MiB at least", c.Workers,
			c.MemoryBytes, c.Grace)
	}
	return nil
}

// Deps is what a Deliverer works with.
type Deps struct {
	DB         driver.Conn
	Endpoints  Endpoints
	Matcher    Matcher // for replays
	Courier    *Courier
	Render     Render
	Switch     Switch
	Publisher  Publisher
	Topic      string                                   // of deliveries
	Partitions func(ctx context.Context) (int, error)   // how many it has
	Partition  func(key []byte, partitions int) (n int) // where a message with a key is put
	Metrics    *Metrics
	Log        *slog.Logger
}

// Deliverer sends deliveries: all endpoints that this process owns wait in it, and take turns. It is safe for
// concurrent use.
type Deliverer struct {
	cfg    Config
	deps   Deps
	store  store
	steps  []time.Duration
	places []time.Duration // the steps of places

	created  *batcher[delivery] // before their first attempt; somebody waits for them
	outcomes *batcher[outcome]
	begun    sync.WaitGroup // attempts and what else runs for an endpoint

	mu       sync.Mutex // held for moments; it guards all below, and all queues
	queues   map[key]*queue
	wakes    ordered[*queue]
	turns    map[fleet.AccountID][]*queue // queues with something to do, by account
	ring     []fleet.AccountID            // accounts with any of these
	inFlight int
	sick     int // of them, to endpoints that are sick
	under    map[fleet.AccountID]*share
	memory   memory
	nudged   chan struct{}
}

// New prepares a deliverer; Run begins.
func New(cfg Config, deps Deps) (*Deliverer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	d := &Deliverer{
		cfg: cfg, deps: deps, store: store{deps.DB}, steps: schedule, places: scheduleOfPlaces,
		queues: make(map[key]*queue), turns: make(map[fleet.AccountID][]*queue), nudged: make(chan struct{}, 1),
		under: make(map[fleet.AccountID]*share), memory: memory{most: cfg.MemoryBytes},
	}
	failing := func(err error) { deps.Log.Warn("webhooks cannot be written down, trying again", "error", err) }
	d.created = newBatcher(0, failing, d.store.writeDeliveries)
	d.outcomes = newBatcher(outcomeLinger, failing, d.writeOutcomes)
	return d, nil
}

// share is what an account holds of the workers.
type share struct {
	inFlight, sick int      // as of all
	parked         []*queue // that wait until another request has its answer
}

// shareOf returns the share of an account. The caller holds d.mu.
func (d *Deliverer) shareOf(account fleet.AccountID) *share {
	s := d.under[account]
	if s == nil {
		s = &share{}
		d.under[account] = s
	}
	return s
}

// mayBegin says whether a queue may have one more worker. An account holds no more of them than are free, so that
// whoever comes next finds some; the sick hold no more than half, of which each account has no more than is free. While
// too much is not written, as when the store is away, nobody has one.
func (d *Deliverer) mayBegin(q *queue) bool {
	s := d.shareOf(q.account)
	return d.memory.unwritten < d.memory.most && s.inFlight < d.cfg.Workers-d.inFlight &&
		(!q.sick() || s.sick < d.cfg.Workers/2-d.sick)
}

// release puts the queues of an account back that wait for a worker.
func (d *Deliverer) release(s *share, now time.Time) {
	parked := s.parked
	s.parked = nil
	for _, q := range parked {
		q.parked = false
		d.put(q, now)
	}
}

const (
	outcomeLinger = 100 * time.Millisecond
	healthEvery   = 2 * time.Second
)

// Run sends until ctx ends. Let it outlive the consumer whose handlers it serves: they write down what they know when
// they are closed.
func (d *Deliverer) Run(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { d.created.run(ctx) })
	all.Go(func() { d.outcomes.run(ctx) })
	all.Go(func() { d.keepHealth(ctx) })
	for ctx.Err() == nil {
		timer := time.NewTimer(d.serve(time.Now()))
		select {
		case <-ctx.Done():
		case <-d.nudged:
		case <-timer.C:
		}
		timer.Stop()
	}
	all.Wait()
	d.begun.Wait()
}

func (d *Deliverer) nudge() {
	select {
	case d.nudged <- struct{}{}:
	default:
	}
}

// serve begins what can be begun, and returns how long there is nothing else to do.
func (d *Deliverer) serve(now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.wakes) > 0 && !d.wakes[0].wakeAt.After(now) {
		d.enqueue(heap.Pop(&d.wakes).(*queue))
	}
	for d.inFlight < d.cfg.Workers && len(d.ring) > 0 {
		d.begin(d.next(), now)
	}
	if len(d.wakes) == 0 {
		return time.Hour
	}
	return max(d.wakes[0].wakeAt.Sub(now), time.Millisecond)
}

// enqueue gives a queue its turn behind the others of its account.
func (d *Deliverer) enqueue(q *queue) {
	if len(d.turns[q.account]) == 0 {
		d.ring = append(d.ring, q.account)
	}
	d.turns[q.account] = append(d.turns[q.account], q)
	q.inRing = true
}

// next returns the queue whose turn it is. Accounts take turns, and the endpoints of each; d.ring is not empty.
func (d *Deliverer) next() *queue {
	account := d.ring[0]
	d.ring = d.ring[1:]
	q := d.turns[account][0]
	if rest := d.turns[account][1:]; len(rest) > 0 {
		d.turns[account] = rest
		d.ring = append(d.ring, account)
	} else {
		delete(d.turns, account)
	}
	q.inRing = false
	return q
}

// put gives a queue the place that it has at a time, if it has none.
func (d *Deliverer) put(q *queue, now time.Time) {
	if q.inRing || q.parked || q.owner.closed {
		return
	}
	most := defaultInFlight
	e, ok := d.deps.Endpoints.Get(q.account, q.endpoint)
	if ok {
		most = e.MaxInFlight
		q.setRate(e.Rate)
		q.about(e)
	}
	if !ok || e.Revision != q.off {
		q.off = 0
	}
	at, some := q.wake(now, most)
	if q.off != 0 && at.Before(now.Add(time.Second)) {
		at = now.Add(time.Second) // the endpoint's record is about to say so
	}
	if !q.circuit.until.IsZero() && at.After(now.Add(lookAgain)) {
		at = now.Add(lookAgain)
	}
	switch {
	case !some && q.heapAt >= 0:
		heap.Remove(&d.wakes, q.heapAt)
	case !some:
	case q.heapAt >= 0:
		q.wakeAt = at
		heap.Fix(&d.wakes, q.heapAt)
		d.nudge()
	default:
		q.wakeAt = at
		heap.Push(&d.wakes, q)
		d.nudge()
	}
}

// begin does the next thing for a queue whose turn it is.
func (d *Deliverer) begin(q *queue, now time.Time) {
	if q.owner.closed {
		return
	}
	if q.wants(now) {
		// What is stowed from here on may come too late for the reading, and has another one.
		q.loading, q.gone, q.storedAt = true, make(map[uint64]bool), time.Time{}
		from := q.stored
		d.begun.Go(func() { d.load(q, from) })
	}
	most := defaultInFlight
	e, ok := d.deps.Endpoints.Get(q.account, q.endpoint)
	if ok {
		most = e.MaxInFlight
	}
	at, some := q.wake(now, most)
	switch {
	case !some || at.After(now) || q.off != 0 || len(q.due) == 0 || q.due[0].dueAt.After(now):
		d.put(q, now)
		return
	case !d.mayBegin(q):
		q.parked = true
		s := d.shareOf(q.account)
		s.parked = append(s.parked, q)
		return
	}
	it := q.pop()
	if !ok || !e.Enabled {
		d.settle(q, it, skipped, why(e))
		d.put(q, now)
		return
	}
	if q.bucket != nil {
		q.bucket.AllowN(now, 1)
	}
	s, sick := d.shareOf(q.account), q.sick()
	q.inFlight++
	d.inFlight++
	s.inFlight++
	if sick {
		d.sick++
		s.sick++
	}
	d.deps.Metrics.inFlight.Set(float64(d.inFlight))
	ctx := q.owner.sending
	if sick {
		ctx = q.owner.sendingSick
	}
	d.begun.Go(func() { d.attempt(ctx, q, it, e, sick) })
	if at, some := q.wake(now, most); some && !at.After(now) {
		d.enqueue(q)
	} else {
		d.put(q, now)
	}
}

// forgetWake takes a queue out of the heap of times.
func (d *Deliverer) forgetWake(q *queue) {
	if q.heapAt >= 0 {
		heap.Remove(&d.wakes, q.heapAt)
	}
}
