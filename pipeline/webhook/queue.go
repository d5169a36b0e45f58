package webhook

import (
	"cmp"
	"container/heap"
	"encoding/json"
	"math"
	"time"

	"golang.org/x/time/rate"

	"github.com/motorpool/fleet"
)

// item is a delivery in memory. Deliverer.mu guards it, but while an attempt is under way.
type item struct {
	delivery delivery
	event    *fleet.Event
	dueAt    time.Time
	at       int  // its place in the heap; -1: it is not there
	writing  bool // what became of it is not written yet
}

// size is about what an item takes in memory, in bytes; it never changes.
func (it *item) size() int { return 512 + len(it.event.Body) }

// before says whether an item is due before another.
func (it *item) before(other *item) bool {
	if c := it.dueAt.Compare(other.dueAt); c != 0 {
		return c < 0
	}
	return cmp.Or(cmp.Compare(it.delivery.sequence, other.delivery.sequence),
		cmp.Compare(it.delivery.id, other.delivery.id)) < 0
}

func (it *item) index() *int { return &it.at }

// ordered is a heap of what knows its place in it: what is before all others is first. What is taken out has place -1.
type ordered[T ranked[T]] []T

// ranked is what such a heap holds.
type ranked[T any] interface {
	before(T) bool
	index() *int
}

var (
	_ ranked[*item]  = (*item)(nil)
	_ ranked[*queue] = (*queue)(nil)
)

func (h ordered[T]) Len() int           { return len(h) }
func (h ordered[T]) Less(i, j int) bool { return h[i].before(h[j]) }
func (h ordered[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	*h[i].index(), *h[j].index() = i, j
}
func (h *ordered[T]) Push(x any) {
	one := x.(T)
	*one.index() = len(*h)
	*h = append(*h, one)
}
func (h *ordered[T]) Pop() any {
	var none T
	last := len(*h) - 1
	one := (*h)[last]
	(*h)[last] = none
	*h = (*h)[:last]
	*one.index() = -1
	return one
}

// queue is what waits of one endpoint, and how fast it may go. Deliverer.mu guards it.
type queue struct {
	key
	owner *Handler

	due      ordered[*item]
	held     map[uint64]*item // all in memory: due, under way, or not written yet
	inFlight int
	storedAt time.Time       // when the first of those is due that are in the store alone; zero: there are none
	stored   bound           // none of those is before it
	loading  bool            // somebody reads some of those
	memory   *memory         // of the process
	gone     map[uint64]bool // what was settled while somebody reads

	url     string    // of the endpoint that circuit, health and slow are about; empty: not known yet
	since   time.Time // when that was enabled
	circuit circuit
	health  health
	bucket  *rate.Limiter // nil: any rate
	slow    time.Duration // how long answers took lately

	off     uint64 // the revision of the endpoint that is switched off, or to be: nothing is sent to it
	telling bool   // its account is being told

	places map[fleet.VehicleID]*item  // the newest place of each vehicle that is due
	told   map[fleet.VehicleID]place  // the last place of each vehicle that the endpoint has
	newest map[fleet.VehicleID]uint64 // the sequence of the newest place of each vehicle that was ever due

	// Where the queue stands: in none or one of these.
	wakeAt time.Time
	heapAt int // in Deliverer.wakes; -1: not there
	inRing bool
	parked bool
}

// place is where an endpoint believes a vehicle to be.
type place struct {
	at       time.Time // when it was told
	lat, lng float64
}

// Bounds of what is in memory of one endpoint.
const (
	mostHeld   = 1000 // deliveries
	mostSick   = 16   // of an endpoint whose circuit is open
	refillAt   = 250  // below so many that are due, those in the store are read
	refillWith = 500
	soon       = time.Minute     // what is due later waits in the store
	lookAgain  = 5 * time.Second // how often it is looked whether an endpoint whose circuit is open has another address
	mostTold   = 10_000          // vehicles whose last place is remembered
)

// bound is where reading begins: no delivery that is meant is of an earlier event or was made before.
type bound struct {
	sequence uint64
	created  fleet.Millis
}

// memory is what all deliveries of a process take, in bytes. Deliverer.mu guards it.
type memory struct {
	most      int
	held      int // deliveries in memory, with what became of them
	unwritten int // of it, what became of those that is not written yet
}

// room says whether one more delivery may be in memory.
func (q *queue) room() bool {
	if !q.circuit.until.IsZero() || q.memory.held > q.memory.most {
		return len(q.held) < mostSick
	}
	return len(q.held) < mostHeld
}

// stow notes that something is in the store alone, and is due at a time.
func (q *queue) stow(at time.Time, from bound) {
	if q.storedAt.IsZero() {
		q.storedAt, q.stored = at, from
		return
	}
	if at.Before(q.storedAt) {
		q.storedAt = at
	}
	q.stored = bound{min(q.stored.sequence, from.sequence), min(q.stored.created, from.created)}
}

// hold notes that a delivery is in memory.
func (q *queue) hold(it *item) {
	q.held[it.delivery.id] = it
	q.memory.held += it.size()
}

// drop notes that it is not any more. What was dropped before, with the queue, is not again.
func (q *queue) drop(it *item) {
	if q.held[it.delivery.id] == it {
		delete(q.held, it.delivery.id)
		q.memory.held -= it.size()
	}
}

// about notes which endpoint the queue is of now. One that has another address, or was enabled again, begins anew: what
// the one before did says nothing about it.
func (q *queue) about(e *Endpoint) {
	if q.url == e.URL && q.since.Equal(e.Since) {
		return
	}
	if q.url != "" {
		q.circuit, q.slow = circuit{ramp: 1}, 0
		q.health.failingSince, q.health.failures, q.health.warned, q.health.changed = time.Time{}, 0, 0, true
	}
	q.url, q.since = e.URL, e.Since
}

// sick says whether an endpoint takes so long, or fails so much, that it must not hold all workers.
func (q *queue) sick() bool {
	return q.slow > time.Second || q.circuit.failures > 0 || !q.circuit.until.IsZero()
}

// lacks says whether what is in the store is to be read once it is due.
func (q *queue) lacks() bool {
	few := len(q.due) < refillAt
	if !q.circuit.until.IsZero() { // each probe takes one
		few = len(q.due) == 0
	}
	return few && !q.storedAt.IsZero() && !q.loading && q.room()
}

// wants says whether what is in the store is to be read now.
func (q *queue) wants(now time.Time) bool { return q.lacks() && !now.Before(q.storedAt) }

// behind says whether something that is due waits in the store, behind which what is new has its turn.
func (q *queue) behind(now time.Time) bool { return !q.storedAt.IsZero() && !now.Before(q.storedAt) }

// wake returns when there is next something to do, and false if there is nothing until something happens.
func (q *queue) wake(now time.Time, most int) (time.Time, bool) {
	var at time.Time
	if len(q.due) > 0 {
		at = q.due[0].dueAt
	}
	if q.lacks() && (at.IsZero() || q.storedAt.Before(at)) {
		at = q.storedAt
	}
	limit, from := q.circuit.limit(most)
	if at.IsZero() || q.inFlight >= limit {
		return at, false
	}
	if at.Before(from) {
		at = from
	}
	if q.bucket != nil {
		if tokens := q.bucket.TokensAt(now); tokens < 1 {
			rest := time.Duration((1 - tokens) / float64(q.bucket.Limit()) * float64(time.Second))
			if full := now.Add(rest + time.Millisecond); at.Before(full) {
				at = full
			}
		}
	}
	return at, true
}

// setRate has the queue keep to the rate of its endpoint.
func (q *queue) setRate(perSecond float64) {
	switch {
	case perSecond <= 0:
		q.bucket = nil
	case q.bucket == nil || float64(q.bucket.Limit()) != perSecond:
		q.bucket = rate.NewLimiter(rate.Limit(perSecond), int(max(1, math.Ceil(perSecond))))
	}
}

// placeType is the type of events that tell where a vehicle is; of no use once there is a newer one.
const placeType = "vehicle.location.updated"

// push puts an item into the queue and returns the one that it makes needless, if there is one: the place of a vehicle
// that is older, which may be the item itself. Places come no more often than the endpoint wants.
func (q *queue) push(it *item, e *Endpoint) (needless *item) {
	if it.delivery.eventType == placeType && it.delivery.vehicle != 0 && it.delivery.replay == 0 {
		if q.newest[it.delivery.vehicle] > it.delivery.sequence {
			return it
		}
		if q.newest == nil || len(q.newest) >= mostTold {
			q.newest = make(map[fleet.VehicleID]uint64)
		}
		q.newest[it.delivery.vehicle] = it.delivery.sequence
		if old := q.places[it.delivery.vehicle]; old != nil && old.at >= 0 && old != it {
			heap.Remove(&q.due, old.at)
			needless = old
		}
		if e != nil && e.PlaceEvery > 0 {
			if told, ok := q.told[it.delivery.vehicle]; ok && !moved(told, it.event, e.PlaceMoved) {
				if next := told.at.Add(e.PlaceEvery); next.After(it.dueAt) {
					it.dueAt = next
				}
			}
		}
		if q.places == nil {
			q.places = make(map[fleet.VehicleID]*item)
		}
		q.places[it.delivery.vehicle] = it
	}
	heap.Push(&q.due, it)
	return needless
}

// pop takes what is due first.
func (q *queue) pop() *item { return q.take(0) }

// take takes what is at a place of the heap.
func (q *queue) take(at int) *item {
	it := heap.Remove(&q.due, at).(*item)
	if q.places[it.delivery.vehicle] == it {
		delete(q.places, it.delivery.vehicle)
	}
	return it
}

// placed notes that the endpoint has the place of a vehicle.
func (q *queue) placed(it *item, now time.Time) {
	if q.told == nil || len(q.told) >= mostTold {
		q.told = make(map[fleet.VehicleID]place)
	}
	lat, lng, _ := whereabouts(it.event)
	q.told[it.delivery.vehicle] = place{now, lat, lng}
}

func whereabouts(e *fleet.Event) (lat, lng float64, ok bool) {
	var at struct{ Lat, Lng *float64 }
	if json.Unmarshal(e.Body, &at) != nil || at.Lat == nil || at.Lng == nil {
		return 0, 0, false
	}
	return *at.Lat, *at.Lng, true
}

// moved says whether a vehicle is so far (m) from where it was told to be; 0 is never.
func moved(from place, e *fleet.Event, by float64) bool {
	lat, lng, ok := whereabouts(e)
	if !ok || by <= 0 {
		return false
	}
	const radian, earth = math.Pi / 180, 6_371_000 // m
	x := (lng - from.lng) * radian * math.Cos((lat+from.lat)/2*radian)
	y := (lat - from.lat) * radian
	return earth*math.Hypot(x, y) >= by
}

// shed takes what an endpoint whose circuit has opened need not have in memory out of it.
func (q *queue) shed() {
	for i := len(q.due) - 1; i >= 0 && len(q.held) > mostSick; i-- {
		it := q.due[i]
		if it.writing {
			continue
		}
		q.take(i)
		q.drop(it)
		q.stow(it.dueAt, it.delivery.bound())
	}
}

// before says whether a queue's time comes before that of another.
func (q *queue) before(other *queue) bool { return q.wakeAt.Before(other.wakeAt) }

func (q *queue) index() *int { return &q.heapAt }
