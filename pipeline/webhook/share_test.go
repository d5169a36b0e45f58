package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/topic"
)

// What happens in the moment after an endpoint is made or enabled is neither lost nor skipped. One of another account
// that has the same number hears of its own account alone.
func TestAnEndpointHearsOfWhatHappensAtOnceAfterItIsMadeAndEnabled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, other := w.endpoint(7, 5, nil), w.endpoint(8, 5, nil)
	w.start()
	w.publish(event(7, 1), event(8, 1), event(9, 1))
	has := func(r *receiver, n int) {
		t.Helper()
		w.eventually(fmt.Sprintf("%d have come", n), 15*time.Second, func() bool {
			different, _ := r.count()
			return different == n
		})
	}
	has(first, 1)
	has(other, 1)
	if other.got["evt_8000001"] != 1 || first.got["evt_7000001"] != 1 {
		t.Errorf("they have %v and %v", first.got, other.got)
	}
	second := w.endpoint(7, 6, nil)
	w.publish(event(7, 2))
	has(second, 1)
	w.endpoints.change(second.endpoint, func(e *Endpoint) { e.Enabled = false })
	time.Sleep(1100 * time.Millisecond) // until that is known
	w.publish(event(7, 3))
	has(first, 3)
	w.endpoints.change(second.endpoint, func(e *Endpoint) { e.Enabled = true })
	w.publish(event(7, 4))
	has(second, 2)
}

// A queue that has no room for what waits in the store does not ask for a turn.
// An endpoint has no more requests at once, and no more in a second, than it asks for; and what it asks for it has.
func TestAnEndpointIsSentNoMoreThanItAsksFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 60
	type crowd struct {
		sync.Mutex
		now, most int
	}
	at := func(c *crowd) http.HandlerFunc {
		come := func(n int) {
			c.Lock()
			defer c.Unlock()
			c.now += n
			c.most = max(c.most, c.now)
		}
		return func(http.ResponseWriter, *http.Request) {
			come(1)
			time.Sleep(20 * time.Millisecond)
			come(-1)
		}
	}
	var few, many crowd
	narrow, wide, slow := w.endpoint(7, 5, at(&few)), w.endpoint(7, 6, at(&many)), w.endpoint(7, 7, nil)
	w.endpoints.change(narrow.endpoint, func(e *Endpoint) { e.MaxInFlight = 2 })
	w.endpoints.change(slow.endpoint, func(e *Endpoint) { e.Rate = 20 })
	w.start()
	var events []fleet.Event
	for i := range n {
		events = append(events, event(7, i+1))
	}
	w.publish(events...)
	for _, r := range []*receiver{narrow, wide, slow} {
		w.eventually(fmt.Sprintf("endpoint %d has all", r.endpoint.endpoint), 20*time.Second, func() bool {
			different, _ := r.count()
			return different == n
		})
	}
	if few.most > 2 || many.most <= 2 {
		t.Errorf("%d and %d requests at once, of 2 and 10", few.most, many.most)
	}
	times := slices.SortedFunc(maps.Values(slow.first), time.Time.Compare)
	// Twenty at once, as it was quiet before, and the others evenly.
	if took := times[n-1].Sub(times[0]); took < 1900*time.Millisecond {
		t.Errorf("%d came within %v, of 20 a second", n, took)
	}
}

func TestAQueueWithoutRoomWaits(t *testing.T) {
	now := time.Now()
	q := &queue{held: map[uint64]*item{}, memory: &memory{most: 1 << 20}, storedAt: now.Add(-time.Second)}
	if at, some := q.wake(now, 10); !some || !at.Equal(q.storedAt) {
		t.Fatalf("%v, %v: what waits in the store is not read", at, some)
	}
	for id := range uint64(mostHeld) {
		q.held[id] = &item{at: -1, writing: true}
	}
	if at, some := q.wake(now, 10); some {
		t.Errorf("it wants a turn at %v, and has no room", at)
	}
}

// counting is a publisher that knows how much it was given at once.
type counting struct {
	Publisher
	most, all int
	failAfter int // messages; 0: never
}

func (c *counting) PublishRaw(ctx context.Context, name string, messages []topic.Message) error {
	if c.failAfter > 0 && c.all >= c.failAfter {
		return errors.New("nobody is there")
	}
	c.most, c.all = max(c.most, len(messages)), c.all+len(messages)
	return c.Publisher.PublishRaw(ctx, name, messages)
}

func TestABatchIsDispatchedInPieces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for id := range uint64(7) {
		w.endpoints.set(Endpoint{Account: 1, ID: 1 + id, Revision: 1, Enabled: true})
	}
	w.endpoints.set(Endpoint{Account: 1, ID: 9, Revision: 1, Enabled: true, Created: time.Now().Add(time.Hour)})
	to := &counting{Publisher: w.feed}
	d := &Dispatcher{Endpoints: w.endpoints, Matcher: w.matcher(), Publisher: to, Topic: w.kafka.Deliveries,
		Metrics: NewMetrics(prometheus.NewRegistry()), Log: slog.New(slog.DiscardHandler)}
	const n = 1000
	var reached int64
	b := consume.Batch{Topic: w.kafka.Events, First: 100, Last: 100 + n - 1,
		Reached: func(_ context.Context, next int64) error {
			if next <= reached {
				t.Errorf("%d after %d", next, reached)
			}
			reached = next
			return nil
		}}
	for i := range n {
		e := event(1, i)
		b.Records = append(b.Records, consume.Record{Offset: 100 + int64(i), Value: codec.AppendEvent(nil, &e)})
	}
	if err := d.Handle(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if to.all != 7*n || to.most > 1000 {
		t.Errorf("%d messages to seven endpoints, and to none that was made later, up to %d at once", to.all, to.most)
	}
	if reached < 100+n-1000/7-1 || reached > 100+n {
		t.Errorf("%d are said to be done of %d", reached-100, n)
	}
	// Of large events fewer go at once, and after a failure what has gone is not told again.
	to.most, to.all, to.failAfter, reached = 0, 0, 1000, 0
	for i := range b.Records {
		e := event(1, i)
		e.Body, _ = json.Marshal(map[string]string{"text": string(make([]byte, 1000))})
		b.Records[i].Value = codec.AppendEvent(nil, &e)
	}
	if err := d.Handle(t.Context(), &b); err == nil {
		t.Fatal("nobody is there, and all is dispatched")
	}
	if to.most > 400 || reached < 100+1 || reached > 100+int64(to.all)/7+1 {
		t.Errorf("%d messages, up to %d at once; %d events are said to be done", to.all, to.most, reached-100)
	}
}
