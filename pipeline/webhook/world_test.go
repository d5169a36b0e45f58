package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/eventlog"
	"github.com/motorpool/fleet/pipeline/topic"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

// testEndpoints are what the records say; the test writes them. What has no revision is archived. What is written is
// known after a second, as in registry.Endpoints, or after RefreshNow.
type testEndpoints struct {
	mu    sync.Mutex
	all   map[key]*Endpoint // as written
	known map[key]*Endpoint
	read  time.Time
}

func (t *testEndpoints) set(e Endpoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all[key{e.Account, e.ID}] = &e
}

// change changes an endpoint, as a new revision of its record does.
func (t *testEndpoints) change(k key, how func(*Endpoint)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := *t.all[k]
	next.Revision++
	how(&next)
	t.all[k] = &next
}

// stands returns what is known. The caller holds t.mu.
func (t *testEndpoints) stands() map[key]*Endpoint {
	if time.Since(t.read) > time.Second {
		t.known, t.read = maps.Clone(t.all), time.Now()
	}
	return t.known
}

func (t *testEndpoints) Of(account fleet.AccountID) []*Endpoint {
	return slices.DeleteFunc(t.All(), func(e *Endpoint) bool { return e.Account != account || e.Revision == 0 })
}

func (t *testEndpoints) Get(account fleet.AccountID, id uint64) (*Endpoint, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.stands()[key{account, id}]
	return e, ok && e.Revision > 0
}

func (t *testEndpoints) All() []*Endpoint {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.stands()))
}

func (t *testEndpoints) RefreshNow(context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.read = time.Time{}
	t.stands()
	return nil
}

// world is a store, a broker and endpoints, in which processes come and go.
type world struct {
	testing.TB
	db        driver.Conn
	kafka     topic.Config
	feed      *topic.Feed
	endpoints *testEndpoints
	secret    string
	steps     []time.Duration // of the schedule

	mu      sync.Mutex
	notices []Notice
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{TB: t, db: schematest.Open(t), kafka: topic.DefaultConfig(), secret: NewSecret(SignatureShared),
		endpoints: &testEndpoints{all: map[key]*Endpoint{}}, steps: schedule}
	c := &w.kafka
	c.Brokers, c.Replication, c.Partitions = []string{embeddedtest.Broker(t)}, 1, 4
	suffix := fmt.Sprint(".", time.Now().UnixNano())
	for _, name := range []*string{&c.Positions, &c.Telemetry, &c.Traccar, &c.DeadLetters, &c.Changes, &c.Events,
		&c.Deliveries} {
		*name += suffix
	}
	if _, err := topic.Ensure(t.Context(), *c); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.feed, err = topic.NewFeed(*c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.feed.Close() })
	return w
}

// receiver is a server of an endpoint, with what it got.
type receiver struct {
	*httptest.Server
	endpoint key

	mu    sync.Mutex
	got   map[string]int
	first map[string]time.Time
	wrong error // of a message that is not as it must be
}

func (r *receiver) count() (different, all int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.got {
		all += n
	}
	return len(r.got), all
}

// endpoint makes an endpoint of an account, and a server that notes each message and answers as it is told.
func (w *world) endpoint(account fleet.AccountID, id uint64, answer http.HandlerFunc) *receiver {
	w.Helper()
	r := &receiver{endpoint: key{account, id}, got: map[string]int{}, first: map[string]time.Time{}}
	verifier, err := standardwebhooks.NewWebhook(w.secret)
	if err != nil {
		w.Fatal(err)
	}
	r.Server = httptest.NewServer(http.HandlerFunc(func(answering http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err == nil {
			err = verifier.Verify(body, request.Header)
		}
		var told struct{ ID string }
		if err == nil {
			err = json.Unmarshal(body, &told)
		}
		name := request.Header.Get("webhook-id")
		r.mu.Lock()
		if err == nil && told.ID != name {
			err = fmt.Errorf("event %s came as %s", told.ID, name)
		}
		if err != nil && r.wrong == nil && request.Context().Err() == nil {
			r.wrong = err
		}
		if r.got[name]++; r.got[name] == 1 {
			r.first[name] = time.Now()
		}
		r.mu.Unlock()
		if answer != nil {
			answer(answering, request)
		}
	}))
	w.Cleanup(func() {
		r.CloseClientConnections()
		r.Close()
		if r.wrong != nil {
			w.Errorf("endpoint %d: %v", id, r.wrong)
		}
	})
	w.endpoints.set(Endpoint{Account: account, ID: id, Revision: 1, Enabled: true, URL: r.URL + "/hook",
		Secrets: []Secret{{ID: "whs_1", Sealed: w.secret}}, Timeout: 5 * time.Second, MaxInFlight: 10})
	return r
}

// process is one that dispatches and delivers, and keeps the log of events.
type process struct {
	w         *world
	deliverer *Deliverer
	stopRun   context.CancelFunc
	stopAll   context.CancelFunc
	consumers sync.WaitGroup
	ran       sync.WaitGroup // the deliverer
}

func (w *world) matcher() Matcher {
	return Matcher{Tags: func(fleet.AccountID, fleet.VehicleID) []string { return nil },
		MayHear: func([]string, string) bool { return true }}
}

func (w *world) start() *process {
	w.Helper()
	registry := prometheus.NewRegistry()
	log := slog.New(slog.DiscardHandler)
	metrics := NewMetrics(registry)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	counter, err := topic.NewCounter(w.kafka, w.kafka.Deliveries)
	if err != nil {
		w.Fatal(err)
	}
	cfg := DefaultConfig()
	cfg.Grace = 100 * time.Millisecond
	p := &process{w: w}
	p.deliverer, err = New(cfg, Deps{
		DB: w.db, Endpoints: w.endpoints, Matcher: w.matcher(), Publisher: w.feed, Topic: w.kafka.Deliveries,
		Courier: &Courier{Plain: true, Client: client, Open: func(_, sealed string) (string, error) { return sealed, nil }},
		Render: func(_ context.Context, _ *Endpoint, e *fleet.Event, sequence uint64) ([]byte, error) {
			return json.Marshal(map[string]any{"id": fleet.FormatID(fleet.EventPrefix, e.ID), "type": e.Type,
				"sequence": sequence, "data": map[string]any{"object": e.Body}})
		},
		Switch: func(_ context.Context, account fleet.AccountID, endpoint uint64, n Notice) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.notices = append(w.notices, n)
			if n.Kind != Failing {
				w.endpoints.change(key{account, endpoint}, func(e *Endpoint) { e.Enabled = false })
			}
			return nil
		},
		Partitions: func(ctx context.Context) (int, error) { return counter.Count(ctx, 0) },
		Partition:  topic.PartitionOf, Metrics: metrics, Log: log,
	})
	if err != nil {
		w.Fatal(err)
	}
	p.deliverer.steps = w.steps
	events, err := eventlog.New(w.db, registry, log)
	if err != nil {
		w.Fatal(err)
	}
	dispatcher := &Dispatcher{Endpoints: w.endpoints, Matcher: w.matcher(), Publisher: w.feed,
		Topic: w.kafka.Deliveries, Metrics: metrics, Log: log}
	running, stopRun := context.WithCancel(context.Background())
	consuming, stopAll := context.WithCancel(context.Background())
	p.stopRun, p.stopAll = stopRun, stopAll
	p.ran.Go(func() { p.deliverer.Run(running) })
	for group, handler := range map[string]func(string, int) consume.Handler{
		"events":   func(string, int) consume.Handler { return events },
		"dispatch": func(string, int) consume.Handler { return dispatcher },
		"deliver":  p.deliverer.Handler,
	} {
		name := w.kafka.Events
		if group == "deliver" {
			name = w.kafka.Deliveries
		}
		kafka, err := w.kafka.Client()
		if err != nil {
			w.Fatal(err)
		}
		dialer, err := w.kafka.Dialer()
		if err != nil {
			w.Fatal(err)
		}
		cfg := consume.DefaultConfig(group + w.kafka.Deliveries)
		cfg.Linger, cfg.RetryMin, cfg.Grace = 20*time.Millisecond, 10*time.Millisecond, 500*time.Millisecond
		consumer, err := consume.New(cfg, kafka, dialer, []string{name}, handler, registry, log)
		if err != nil {
			w.Fatal(err)
		}
		p.consumers.Go(func() {
			defer topic.Disconnect(kafka)
			if err := consumer.Run(consuming); err != nil {
				w.Error(err)
			}
		})
	}
	w.Cleanup(p.stop)
	return p
}

// stop ends the process in order.
func (p *process) stop() {
	p.stopAll()
	p.consumers.Wait()
	p.stopRun()
	p.ran.Wait()
}

// kill ends the process so that nothing is written any more: what is under way is cut, and what is not noted is lost.
func (p *process) kill() {
	p.stopRun()
	p.deliverer.mu.Lock()
	for _, q := range p.deliverer.queues {
		q.owner.cut()
	}
	p.deliverer.mu.Unlock()
	p.stopAll()
	p.consumers.Wait()
	p.ran.Wait()
}

// event is one of an account, by its number.
func event(account fleet.AccountID, n int) fleet.Event {
	return fleet.Event{ID: uint64(1_000_000*int(account) + n), Type: fleet.EventTripEnded, Account: account, Vehicle: 3,
		At: fleet.MillisOf(time.Now()), Kind: fleet.KindTrip, Object: uint64(n), Revision: 1,
		Body: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))}
}

func (w *world) publish(events ...fleet.Event) {
	w.Helper()
	messages := make([]topic.Message, len(events))
	for i := range events {
		messages[i].Value = codec.AppendEvent(nil, &events[i])
	}
	if err := w.feed.PublishRaw(context.Background(), w.kafka.Events, messages); err != nil {
		w.Fatal(err)
	}
}

// eventually waits until something is so.
func (w *world) eventually(what string, within time.Duration, so func() bool) {
	w.Helper()
	for end := time.Now().Add(within); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("not within %v: %s; of deliveries there are %s", within, what, w.states())
		}
	}
}

// states says how many deliveries there are of each endpoint and status.
func (w *world) states() string {
	rows, err := w.db.Query(context.Background(), "SELECT concat(toString(endpoint), ' ', status, ' ', toString(count())) "+
		"FROM webhook_deliveries FINAL GROUP BY endpoint, status ORDER BY endpoint, status")
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			return err.Error()
		}
		all = append(all, one)
	}
	if len(all) > 60 {
		all = append(all[:60], fmt.Sprint("and ", len(all)-60, " more"))
	}
	return strings.Join(all, ", ")
}

// number is what a query counts.
func (w *world) number(what string) int {
	w.Helper()
	var n uint64
	if err := w.db.QueryRow(context.Background(), "SELECT toUInt64("+what+")").Scan(&n); err != nil {
		w.Fatal(err)
	}
	return int(n)
}
