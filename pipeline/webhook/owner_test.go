package webhook

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
)

// deliver writes a delivery of an event as somebody left it, made some days ago.
func (w *world) deliver(k key, sequence, event uint64, status string, days int) {
	w.Helper()
	made := time.Now().AddDate(0, 0, -days)
	next := fleet.MillisOf(made)
	if status != pending {
		next = 0
	}
	err := store{w.db}.writeDeliveries(w.Context(), []delivery{{key: k, sequence: sequence,
		id: deliveryID(k, sequence, event, 0), version: 1, event: event, eventType: fleet.EventTripEnded,
		created: fleet.MillisOf(made), status: status, next: next}})
	if err != nil {
		w.Fatal(err)
	}
}

// log writes an event into the log of events.
func (w *world) log(account fleet.AccountID, sequence, event uint64, days int) {
	w.Helper()
	at := time.Now().AddDate(0, 0, -days)
	if err := w.db.Exec(w.Context(), "INSERT INTO events (account, sequence, id, type, vehicle, at, noted_at, kind, object, "+
		"revision, body) VALUES (?, ?, ?, ?, 3, ?, ?, 'trip', 1, 1, '{}')", uint64(account), sequence, event,
		fleet.EventTripEnded, at, at); err != nil {
		w.Fatal(err)
	}
}

// Who comes to own an endpoint settles what nobody will send: of an endpoint that was archived, and of an event of
// which another one has the sequence by now. Where both are still there, each delivery finds its own.
func TestWhatNobodyCanSendIsSettledByTheNextOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.endpoint(1, 5, nil)
	archived := key{1, 6}
	w.endpoints.set(Endpoint{Account: 1, ID: 6})
	w.deliver(archived, 50, 500, pending, 1)
	w.deliver(r.endpoint, 51, 501, pending, 1)
	w.log(1, 51, 777, 1) // the topic was made anew
	w.deliver(r.endpoint, 52, 502, pending, 1)
	w.log(1, 52, 502, 1)
	if err := w.db.Exec(t.Context(), "SYSTEM STOP MERGES events"); err != nil {
		t.Fatal(err)
	}
	for _, event := range []uint64{503, 504, 505} {
		w.deliver(r.endpoint, 53, event, pending, 1)
		w.log(1, 53, event, 1)
	}
	w.start()
	w.eventually("all is settled", 20*time.Second, func() bool {
		return w.number("(SELECT count() FROM webhook_deliveries FINAL WHERE status IN ('pending', 'retrying'))") == 0
	})
	for event, status := range map[int]string{500: skipped, 501: failed, 502: succeeded, 503: succeeded, 504: succeeded,
		505: succeeded} {
		if w.number(fmt.Sprintf("(SELECT count() FROM webhook_deliveries FINAL WHERE event = %d AND status = '%s')",
			event, status)) != 1 {
			t.Errorf("%d is not %s: %s", event, status, w.states())
		}
	}
	if different, all := r.count(); different != 4 || all != 4 || r.got["evt_502"] != 1 || r.got["evt_503"] != 1 {
		t.Errorf("%v has come", r.got)
	}
}

// Who has mended a receiver need not wait for hours: what waits in the store is tried at once, by the one or all.
func TestWhatWaitsForHoursIsTriedWhenItIsAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	down := atomic.Bool{}
	down.Store(true)
	r := w.endpoint(7, 5, func(w http.ResponseWriter, _ *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	w.steps = []time.Duration{0, time.Hour, time.Hour}
	w.start()
	w.publish(event(7, 1), event(7, 2), event(7, 3))
	w.eventually("all wait", 20*time.Second, func() bool {
		return w.number("(SELECT count() FROM webhook_deliveries FINAL WHERE status = 'retrying')") == 3
	})
	down.Store(false)
	commands := Commands{DB: w.db, Publisher: w.feed, Topic: w.kafka.Deliveries}
	var id uint64
	if err := w.db.QueryRow(t.Context(), "SELECT min(id) FROM webhook_deliveries").Scan(&id); err != nil {
		t.Fatal(err)
	}
	succeeded := func(n int) {
		t.Helper()
		w.eventually(fmt.Sprintf("%d have come", n), 20*time.Second, func() bool {
			return w.number("(SELECT count() FROM webhook_deliveries FINAL WHERE status = 'succeeded')") == n
		})
	}
	if err := commands.Retry(t.Context(), 7, 5, id); err != nil {
		t.Fatal(err)
	}
	succeeded(1)
	if err := commands.Recover(t.Context(), 7, 5, Selection{Since: time.Now().Add(-time.Hour)}); err != nil {
		t.Fatal(err)
	}
	succeeded(3)
	if different, all := r.count(); different != 3 || all != 6 {
		t.Errorf("%d messages of %d events", all, different)
	}
}

// While something that is due waits in the store, what is new waits behind it, so that it has its turn.
func TestWhatIsNewWaitsBehindWhatIsDueInTheStore(t *testing.T) {
	now := time.Now()
	d := &Deliverer{cfg: DefaultConfig(), queues: map[key]*queue{}, under: map[fleet.AccountID]*share{},
		turns: map[fleet.AccountID][]*queue{}, nudged: make(chan struct{}, 1), memory: memory{most: 1 << 20},
		deps: Deps{Endpoints: &testEndpoints{all: map[key]*Endpoint{}}}}
	h := &Handler{d: d}
	q := h.queue(key{1, 5})
	q.stow(now.Add(-time.Second), bound{3, 30})
	e := event(1, 7)
	enqueue := func(sequence uint64) {
		h.enqueue([]*item{{delivery: newDelivery(q.key, sequence, fleet.MillisOf(now), &e), event: &e, at: -1}})
	}
	enqueue(7)
	if len(q.held) != 0 || q.stored != (bound{3, 30}) {
		t.Errorf("%d in memory; the store is read from %+v", len(q.held), q.stored)
	}
	q.storedAt = time.Time{} // it was read
	enqueue(8)
	if len(q.held) != 1 || !q.storedAt.IsZero() {
		t.Errorf("%d in memory", len(q.held))
	}
}

// What an owner could not write before it had to go is not written after the next one began.
func TestWhatALostOwnerDidNotWriteIsNotWrittenLater(t *testing.T) {
	lost := &Handler{}
	lost.abandoned.Store(true)
	d := &Deliverer{} // without a store
	if err := d.writeOutcomes(t.Context(), []outcome{{owner: lost}, {owner: lost}}); err != nil {
		t.Error(err)
	}
}

// While the store is away too little is written: what became of deliveries takes memory, and nobody begins another.
func TestNobodyBeginsWhileTooMuchIsNotWritten(t *testing.T) {
	d := &Deliverer{cfg: DefaultConfig(), memory: memory{most: 10_000}, under: map[fleet.AccountID]*share{},
		turns: map[fleet.AccountID][]*queue{}}
	q := &queue{memory: &d.memory}
	if !d.mayBegin(q) {
		t.Fatal("nobody may begin")
	}
	o := outcome{attempt: &Attempt{ResponseBody: string(make([]byte, 9000)), ResponseHead: string(make([]byte, 900))}}
	d.memory.unwritten += o.size()
	d.memory.held += o.size()
	if d.mayBegin(q) {
		t.Errorf("another one begins with %d bytes that are not written", d.memory.unwritten)
	}
	d.written(o.size())
	if !d.mayBegin(q) || d.memory.held != 0 {
		t.Error("nobody may begin when all is written")
	}
}

// What an address did says nothing about the next one, nor about the time before an endpoint was enabled again.
func TestAnEndpointWithAnotherAddressBeginsAnew(t *testing.T) {
	now := time.Now()
	for what, change := range map[string]func(*Endpoint){
		"another address": func(e *Endpoint) { e.URL = "https://b.example" },
		"enabled again":   func(e *Endpoint) { e.Since = now },
		"as it was":       func(*Endpoint) {},
	} {
		q, e := &queue{}, &Endpoint{URL: "https://a.example", Since: now.Add(-time.Hour)}
		q.health.failingSince, q.health.failures = now.Add(-24*time.Hour), 9 // as it was stored
		q.about(e)
		q.circuit.fail(now, now, true, 24*time.Hour, 0)
		change(e)
		q.about(e)
		anew := q.circuit.until.IsZero() && q.health.failingSince.IsZero() && q.health.failures == 0 && q.health.changed
		if kept := q.health.failures == 9 && !q.circuit.until.IsZero(); anew != (what != "as it was") || anew == kept {
			t.Errorf("%s: %+v, %+v", what, q.circuit, q.health)
		}
	}
}

// A process that lacks the key, say, keeps what it cannot send, however long that lasts, and does not ask for each.
func TestAFaultOfOursCostsNoTry(t *testing.T) {
	d := &Deliverer{cfg: DefaultConfig(), queues: map[key]*queue{}, under: map[fleet.AccountID]*share{}, steps: schedule,
		nudged: make(chan struct{}, 1), memory: memory{most: 1 << 20}, outcomes: newBatcher[outcome](0, nil, nil),
		deps: Deps{Endpoints: &testEndpoints{all: map[key]*Endpoint{}}, Log: slog.New(slog.DiscardHandler),
			Metrics: NewMetrics(prometheus.NewRegistry())}}
	q, e, told := (&Handler{d: d}).queue(key{1, 5}), &Endpoint{MaxInFlight: 10}, event(1, 7)
	now := time.Now()
	it := &item{delivery: newDelivery(q.key, 7, fleet.MillisOf(now), &told), event: &told, at: -1}
	for range 3 * len(schedule) {
		d.note(q, it, e, &Attempt{At: now, Error: "there is no key", ours: true}, now)
	}
	if r := &it.delivery; r.status != retrying || r.tries != 0 || int(r.attempts) != 3*len(schedule) {
		t.Errorf("%s after %d tries and %d attempts", r.status, r.tries, r.attempts)
	}
	if rest := q.circuit.until.Sub(now); rest < oursPause || q.health.failures != 0 {
		t.Errorf("it rests for %v, and failed %d times", rest, q.health.failures)
	}
}

// While deliveries of a replay wait, another one is refused: it would send what waits twice. After a quarter of an hour
// in which nobody worked at the replay it is not, as an endpoint may fail for days.
func TestAReplayIsNotAskedForAgainWhileTheLastOneWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	down := atomic.Bool{}
	down.Store(true)
	r := w.endpoint(7, 5, func(w http.ResponseWriter, _ *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	w.steps = []time.Duration{0, time.Second, time.Second, time.Second, time.Hour}
	w.log(7, 100, 500, 1)
	w.log(7, 101, 501, 1)
	commands := Commands{DB: w.db, Publisher: w.feed, Topic: w.kafka.Deliveries}
	replay := func(number uint64) error {
		return commands.Replay(t.Context(), 7, 5, number, Selection{Since: time.Now().AddDate(0, 0, -2)})
	}
	w.start()
	if err := replay(70); err != nil {
		t.Fatal(err)
	}
	w.eventually("it is done, and its deliveries wait", 15*time.Second, func() bool {
		return w.number("(SELECT count() FROM webhook_asked FINAL WHERE done)") == 1 &&
			w.number("(SELECT count() FROM webhook_deliveries FINAL WHERE status = 'retrying' AND replay = 70)") == 2
	})
	var underWay *UnderWayError
	if err := replay(71); !errors.As(err, &underWay) || !underWay.Waits {
		t.Errorf("asked for while deliveries wait: %v", err)
	}
	if err := replay(70); err != nil {
		t.Errorf("the same once more: %v", err)
	}
	if err := commands.Recover(t.Context(), 7, 5, Selection{Since: time.Now().Add(-time.Hour)}, Failed); err != nil {
		t.Errorf("a recover: %v", err)
	}
	w.eventually("the same is done", 15*time.Second, func() bool {
		return w.number("(SELECT count() FROM webhook_asked FINAL WHERE NOT done)") == 0
	})
	if err := w.db.Exec(t.Context(), "INSERT INTO webhook_asked SELECT * REPLACE (updated_at - INTERVAL 16 MINUTE AS updated_at) "+
		"FROM webhook_asked FINAL"); err != nil {
		t.Fatal(err)
	}
	if err := replay(72); err != nil {
		t.Errorf("a quarter of an hour later: %v", err)
	}
	down.Store(false)
	w.eventually("both have come, and the next may be asked for", 20*time.Second, func() bool {
		different, _ := r.count()
		return different == 2 && replay(73) == nil
	})
}
