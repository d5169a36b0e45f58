package webhook

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/topic"
)

// Handler is the owner of one partition's endpoints. A delivery is written before it is tried, so whoever owns the
// partition next finds in the store whatever this one knew. Close ends it.
type Handler struct {
	d         *Deliverer
	partition int

	turn       sync.Mutex     // held by whoever works: Handle, or the taking over before the first batch
	began      bool           // what earlier owners left behind is known; guarded by turn
	partitions int            // how many there are; guarded by turn
	newest     map[key]uint64 // the newest event of which an endpoint has a delivery; guarded by turn

	sending     context.Context // of requests
	cut         context.CancelFunc
	sendingSick context.Context // of those to endpoints that are sick; it ends before
	cutSick     context.CancelFunc
	taking      sync.WaitGroup
	stop        context.CancelFunc

	closed    bool        // guarded by Deliverer.mu
	abandoned atomic.Bool // what is not written yet must not be any more
}

// Handler returns the owner of a partition of the topic of deliveries.
func (d *Deliverer) Handler(_ string, partition int) consume.Handler {
	taking, stop := context.WithCancel(context.Background())
	sending, cut := context.WithCancel(context.Background())
	sendingSick, cutSick := context.WithCancel(sending)
	h := &Handler{d: d, partition: partition, newest: make(map[key]uint64), sending: sending, cut: cut,
		sendingSick: sendingSick, cutSick: cutSick, stop: stop}
	h.taking.Go(func() { // also if nothing new ever comes
		_ = retry(taking, func() error {
			h.turn.Lock()
			defer h.turn.Unlock()
			return h.begin(taking)
		}, func(err error) { d.deps.Log.Warn("taking over webhooks failed, trying again", "error", err) })
	})
	return h
}

// Close ends what is under way, requests to sick endpoints at once and others within Grace, and writes down what came
// of it within another. What cannot be written then is not known to have been: the next owner does it again.
func (h *Handler) Close() error {
	h.stop()
	h.taking.Wait()
	d := h.d
	d.mu.Lock()
	h.closed = true
	d.mu.Unlock()
	h.cutSick()
	ctx, cancel := context.WithTimeout(context.Background(), 2*d.cfg.Grace)
	defer cancel()
	soon := time.AfterFunc(d.cfg.Grace, h.cut)
	defer soon.Stop()
	for h.busy() && ctx.Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	h.cut()
	err := d.outcomes.put(ctx)
	h.abandoned.Store(err != nil)
	if e := d.writeHealth(ctx, time.Now(), h); err == nil {
		err = e
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.queues, func(_ key, q *queue) bool {
		if q.owner != h {
			return false
		}
		d.forgetWake(q)
		for _, it := range q.held {
			q.drop(it)
		}
		return true
	})
	return err
}

// busy says whether requests are under way.
func (h *Handler) busy() bool {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	for _, q := range h.d.queues {
		if q.owner == h && q.inFlight > 0 {
			return true
		}
	}
	return false
}

// begin learns what earlier owners of the partition have left behind, if this one does not know yet.
func (h *Handler) begin(ctx context.Context) error {
	if h.began {
		return nil
	}
	d := h.d
	n, err := d.deps.Partitions(ctx)
	if err != nil {
		return fmt.Errorf("take over partition %d of webhooks: %w", h.partition, err)
	}
	h.partitions = n
	if err := d.deps.Endpoints.RefreshNow(ctx); err != nil {
		return fmt.Errorf("take over partition %d of webhooks: %w", h.partition, err)
	}
	var keys []key
	for _, e := range d.deps.Endpoints.All() {
		if h.owns(e.ID) {
			keys = append(keys, key{e.Account, e.ID})
		}
	}
	for some := range slices.Chunk(keys, mostAtOnce) {
		waiting, err := d.store.unsettled(ctx, some)
		if err != nil {
			return fmt.Errorf("take over partition %d of webhooks: %w", h.partition, err)
		}
		healths, err := d.store.healths(ctx, some)
		if err != nil {
			return fmt.Errorf("take over partition %d of webhooks: %w", h.partition, err)
		}
		newest, err := d.store.newest(ctx, some)
		if err != nil {
			return fmt.Errorf("take over partition %d of webhooks: %w", h.partition, err)
		}
		maps.Copy(h.newest, newest)
		d.mu.Lock()
		for k, fares := range healths {
			h.queue(k).health = fares
		}
		for k, waits := range waiting {
			q := h.queue(k)
			q.stow(waits.at, waits.from)
			d.put(q, time.Now())
		}
		d.mu.Unlock()
	}
	h.began = true
	return nil
}

// mostAtOnce is how many endpoints are asked about at once.
const mostAtOnce = 1000

// owns says whether an endpoint is of this partition.
func (h *Handler) owns(endpoint uint64) bool {
	return h.d.deps.Partition(messageKey(endpoint), h.partitions) == h.partition
}

// queue returns the queue of an endpoint. The caller holds Deliverer.mu. One that another handler of this process has
// left behind is made anew.
func (h *Handler) queue(k key) *queue {
	d := h.d
	q := d.queues[k]
	if q != nil && q.owner == h {
		return q
	}
	if q != nil {
		d.forgetWake(q)
	}
	q = &queue{key: k, owner: h, held: make(map[uint64]*item), heapAt: -1, memory: &d.memory,
		circuit: circuit{ramp: 1}} // of whom nothing is known is asked one thing first
	d.queues[k] = q
	return q
}

// Handle writes the deliveries of a batch down and queues them, and does what its commands ask.
func (h *Handler) Handle(ctx context.Context, b *consume.Batch) error {
	h.turn.Lock()
	defer h.turn.Unlock()
	if err := h.begin(ctx); err != nil {
		return err
	}
	var fresh []*item
	var others []topic.Message
	for i := range b.Records {
		r := &b.Records[i]
		if r.Poison != nil {
			h.d.deps.Metrics.broken.Inc()
			continue
		}
		m, e, err := parseMessage(r.Value)
		if err != nil {
			h.d.deps.Metrics.broken.Inc()
			h.d.deps.Log.Warn("a record of the topic of deliveries is none; it is skipped", "topic", b.Topic, "partition",
				b.Partition, "offset", r.Offset, "error", err)
			continue
		}
		k := key{m.Account, m.Endpoint}
		switch {
		case !h.owns(m.Endpoint): // it was told when the topic had fewer partitions
			others = append(others, topic.Message{Key: messageKey(m.Endpoint), Value: r.Value})
		case m.Command != nil:
			if err := h.take(ctx, fresh); err != nil {
				return fmt.Errorf("handle %s: %w", b.Token(), err)
			}
			fresh = fresh[:0]
			if err := h.obey(ctx, k, m.Command); err != nil {
				return fmt.Errorf("handle %s: %w", b.Token(), err)
			}
		default:
			e.Body = slices.Clone(e.Body)
			fresh = append(fresh, &item{delivery: newDelivery(k, m.Sequence, m.Noted, &e), event: &e, at: -1})
		}
	}
	if err := h.take(ctx, fresh); err != nil {
		return fmt.Errorf("handle %s: %w", b.Token(), err)
	}
	if err := h.d.deps.Publisher.PublishRaw(ctx, h.d.deps.Topic, others); err != nil {
		return fmt.Errorf("handle %s: %w", b.Token(), err)
	}
	return nil
}

// newDelivery is that of an event that was noted at a time.
func newDelivery(k key, sequence uint64, noted fleet.Millis, e *fleet.Event) delivery {
	return delivery{key: k, sequence: sequence, id: deliveryID(k, sequence, e.ID, 0), version: 1, event: e.ID,
		eventType: e.Type, vehicle: e.Vehicle, created: noted, status: pending, next: noted}
}

// take writes new deliveries and queues them.
func (h *Handler) take(ctx context.Context, all []*item) error {
	d := h.d
	all, err := h.unknown(ctx, all)
	if err != nil || len(all) == 0 {
		return err
	}
	asked := false
	rows := make([]delivery, len(all))
	for i, it := range all {
		e, ok := d.deps.Endpoints.Get(it.delivery.account, it.delivery.endpoint)
		if (!ok || !e.Enabled) && !asked { // what is about to be skipped must not be so by what was a moment ago
			asked = true
			if err := d.deps.Endpoints.RefreshNow(ctx); err != nil {
				return err
			}
			e, ok = d.deps.Endpoints.Get(it.delivery.account, it.delivery.endpoint)
		}
		if !ok || !e.Enabled {
			it.delivery.status, it.delivery.next, it.delivery.err = skipped, 0, why(e)
			d.deps.Metrics.settled.WithLabelValues(skipped).Inc()
		}
		rows[i] = it.delivery
	}
	if err := d.created.put(ctx, rows...); err != nil {
		return err
	}
	for _, it := range all {
		h.newest[it.delivery.key] = max(h.newest[it.delivery.key], it.delivery.sequence)
	}
	h.enqueue(all)
	return nil
}

// unknown returns those of some deliveries that are not written yet. Events are told in their order, so that only one
// that is no newer than what its endpoint had may have been told before: by a dispatcher that died then, or to an
// owner that did. Such a one is read from the store if it waits.
func (h *Handler) unknown(ctx context.Context, all []*item) ([]*item, error) {
	d := h.d
	var fresh, suspect []*item
	var rows []delivery
	for _, it := range all {
		if it.delivery.sequence > h.newest[it.delivery.key] {
			fresh = append(fresh, it)
			continue
		}
		suspect, rows = append(suspect, it), append(rows, it.delivery)
	}
	if len(suspect) == 0 {
		return fresh, nil
	}
	known, err := d.store.known(ctx, rows)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, it := range suspect {
		if !known[it.delivery.id] {
			fresh = append(fresh, it)
		} else if q := h.queue(it.delivery.key); q.held[it.delivery.id] == nil {
			q.stow(now, it.delivery.bound())
			d.put(q, now)
		}
	}
	return fresh, nil
}

// enqueue puts deliveries that are written into their queues, or leaves them in the store where there is no room.
func (h *Handler) enqueue(all []*item) {
	d := h.d
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	touched := make(map[*queue]bool)
	for _, it := range all {
		if it.delivery.next == 0 {
			continue
		}
		q := h.queue(it.delivery.key)
		touched[q] = true
		if q.held[it.delivery.id] != nil {
			continue
		}
		if !q.room() || q.behind(now) {
			q.stow(it.delivery.next.Time(), it.delivery.bound())
			continue
		}
		it.dueAt = it.delivery.next.Time()
		q.hold(it)
		e, _ := d.deps.Endpoints.Get(q.account, q.endpoint)
		if old := q.push(it, e); old != nil {
			d.settle(q, old, superseded, supersededBy)
		}
	}
	// Those who came first have their turn first, whatever the order of memory.
	queues := slices.SortedFunc(maps.Keys(touched), func(a, b *queue) int {
		return cmp.Or(cmp.Compare(a.account, b.account), cmp.Compare(a.endpoint, b.endpoint))
	})
	for _, q := range queues {
		d.put(q, now)
	}
}
