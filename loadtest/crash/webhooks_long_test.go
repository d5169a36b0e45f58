//go:build long

package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/seal"
	"github.com/motorpool/fleet/loadtest/system"
	"github.com/motorpool/fleet/loadtest/system/systemtest"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/topic"
)

// TestEveryHealthyEndpointGetsEveryEventWhateverIsKilled has 100,000 events (MOTORPOOL_WEBHOOK_EVENTS) sent to fifty
// endpoints of ten accounts, of which twenty are sick. First it measures, by turns with the sick ones paused and not,
// how long an event takes from the topic of events to a healthy endpoint; then how many come in a second when there is
// a backlog; then the notifiers, the broker and the store are killed again and again. Every healthy endpoint has to
// have every event at least once, under one id. With all of the events the p99 of the healthy ones, the median of
// three, has to stay below two seconds, alone and beside the sick ones. A quiet machine of two cores: 0.49 s alone,
// 0.35 s beside sick ones, 2,394 deliveries a second, twelve kills, and nothing missing.
func TestEveryHealthyEndpointGetsEveryEventWhateverIsKilled(t *testing.T) {
	events := 100_000
	if text := os.Getenv("MOTORPOOL_WEBHOOK_EVENTS"); text != "" {
		var err error
		if events, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	n := newNotified(t)
	notify := n.start("notify")
	n.publish(accounts)
	n.await(time.Minute) // all runs

	during := max(20*time.Second*time.Duration(events)/100_000, 2*time.Second)
	var alone, beside []time.Duration
	for _, sick := range []bool{false, true, true, false, false, true} {
		n.switchSick(sick)
		if sick {
			n.pace(during / 5) // until it is known who is sick
		}
		p50, p99 := n.pace(during)
		t.Logf("100 events/s to three healthy endpoints each, the sick ones on: %v: p50 %v, p99 %v", sick, p50, p99)
		if sick {
			beside = append(beside, p99)
		} else {
			alone = append(alone, p99)
		}
	}
	slices.Sort(alone)
	slices.Sort(beside)
	t.Logf("p99 %v alone, %v beside the sick ones (medians of three)", alone[1], beside[1])
	// Below a quarter of a second, or in a few seconds, it is the machine that is measured.
	if during >= 10*time.Second && beside[1] > max(alone[1], 250*time.Millisecond)*6/5 {
		t.Errorf("p99 is %v beside sick endpoints, %v alone", beside[1], alone[1])
	}

	if slowest := max(alone[1], beside[1]); events >= 100_000 && slowest >= 2*time.Second {
		t.Errorf("p99 from the topic to a healthy endpoint is %v, and has to be below two seconds", slowest)
	}

	n.switchSick(true)
	burst := events * 2 / 5 / accounts * accounts
	began := time.Now()
	for left := burst; left > 0; left -= 1000 {
		n.publish(min(left, 1000))
	}
	n.await(15 * time.Minute)
	took := time.Since(began)
	t.Logf("%d deliveries to healthy endpoints in %v: %.0f a second", 3*burst, took, float64(3*burst)/took.Seconds())
	if twice := n.twice(); twice > 0 {
		t.Errorf("%d messages came twice, and nothing was killed", twice)
	}

	kills := 0
	for n.number < events {
		n.publish(min(4000, events-n.number))
		time.Sleep(time.Duration(500+700*(kills%4)) * time.Millisecond)
		n.check(notify.Kill())
		kills++
		switch kills % 3 {
		case 1:
			n.check(n.KillBroker())
			n.check(n.StartBroker())
		case 2:
			n.check(n.KillClickHouse(t.Context()))
			n.check(n.StartClickHouse(t.Context()))
		}
		notify = n.start("notify")
		time.Sleep(8 * time.Second) // the broker gives what the dead one had to the next when its session is over
	}
	n.await(15 * time.Minute)
	t.Logf("%d events, %d kills of notifiers, and of the broker and the store by turns: every healthy endpoint has every "+
		"event; %d messages came twice", n.number, kills, n.twice())
	n.noted(2 * time.Minute)
}

const accounts = 10

// notified is a system whose events are sent to endpoints of the test.
type notified struct {
	*system.System
	t       *testing.T
	feed    *topic.Feed
	config  topic.Config
	env     []string
	keys    [accounts]systemtest.Client
	ids     [accounts]fleet.AccountID
	healthy []*hears
	sick    []struct {
		client systemtest.Client
		path   string
	}
	number int // of events that were published

	mu   sync.Mutex
	sent map[string]time.Time // when an event was published, by its id
}

// hears is a healthy endpoint.
type hears struct {
	account int
	mu      sync.Mutex
	got     map[string]int
	first   map[string]time.Time
}

func newNotified(t *testing.T) *notified {
	n := &notified{System: systemtest.Start(t), t: t, config: topic.DefaultConfig(), sent: map[string]time.Time{}}
	n.config.Brokers, n.config.Replication, n.config.Partitions = []string{n.Kafka()}, 1, 4
	// Every server has an address of its own, 127.0.1.x, and all have one port.
	first, err := net.Listen("tcp", "127.0.1.1:0")
	n.check(err)
	_, port, err := net.SplitHostPort(first.Addr().String())
	n.check(err)
	n.check(first.Close())
	n.env = []string{"MOTORPOOL_OUTBOUND_NETWORKS=127.0.0.0/8", "MOTORPOOL_WEBHOOK_HTTP=true",
		"MOTORPOOL_WEBHOOK_PORTS=" + port, "MOTORPOOL_KAFKA_SESSION_TIMEOUT=6s"}
	n.check(os.WriteFile(filepath.Join(n.Dir, "seal-key"), []byte(seal.NewKey()+"\n"), 0o600))
	n.start("serve")
	n.start("ingest")
	for i := range accounts {
		n.keys[i] = systemtest.Client{Base: n.URL(), Key: systemtest.Key(t, n.System, fmt.Sprint("Account ", i), "admin")}
	}
	n.keys[0].Await(t)
	for i, client := range n.keys {
		var account struct{ ID string }
		client.Do(t.Context(), "GET", "/v1/account", nil).Decode(&account)
		id, err := fleet.ParseID("acc_", account.ID)
		n.check(err)
		n.ids[i] = fleet.AccountID(id)
		for of := range 5 {
			at := net.JoinHostPort(fmt.Sprintf("127.0.1.%d", 1+5*i+of), port)
			if of < 3 {
				h := &hears{account: i, got: map[string]int{}, first: map[string]time.Time{}}
				n.healthy = append(n.healthy, h)
				n.listen(at, false, h.hear)
				n.endpoint(client, "http://"+at+"/", "Healthy")
				continue
			}
			kind := (2*i + of - 3) % len(sicknesses)
			address := "http://" + at + "/"
			if answer := sicknesses[kind].answer; answer != nil {
				n.listen(at, sicknesses[kind].tls, answer())
			}
			if sicknesses[kind].tls {
				address = "https://" + at + "/"
			}
			path := n.endpoint(client, address, sicknesses[kind].name)
			n.sick = append(n.sick, struct {
				client systemtest.Client
				path   string
			}{client, path})
		}
	}
	n.feed, err = topic.NewFeed(n.config)
	n.check(err)
	t.Cleanup(func() { n.feed.Close() })
	return n
}

func (n *notified) check(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Fatal(err)
	}
}

// start starts a motorpool process with the settings of all.
func (n *notified) start(args ...string) *system.Process {
	n.t.Helper()
	for _, setting := range n.env {
		name, value, _ := strings.Cut(setting, "=")
		n.t.Setenv(name, value)
	}
	p, err := n.Start(args...)
	n.check(err)
	return p
}

// listen serves until the test ends.
func (n *notified) listen(at string, tls bool, answer http.HandlerFunc) {
	n.t.Helper()
	listener, err := net.Listen("tcp", at)
	n.check(err)
	server := &httptest.Server{Listener: listener,
		Config: &http.Server{Handler: answer, ErrorLog: log.New(io.Discard, "", 0)}}
	if tls {
		server.StartTLS()
	} else {
		server.Start()
	}
	n.t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
}

// endpoint makes an endpoint and returns its path.
func (n *notified) endpoint(client systemtest.Client, url, description string) string {
	n.t.Helper()
	var made struct{ ID string }
	answer := client.Do(n.t.Context(), "POST", "/v1/webhook_endpoints", map[string]any{"url": url, "timeout_s": 5,
		"description": description, "types": []string{"vehicle.updated"}})
	if answer.Decode(&made); answer.Status != http.StatusCreated {
		n.t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	return "/v1/webhook_endpoints/" + made.ID
}

// switchSick has the sick endpoints enabled, also those that were switched off, or paused.
func (n *notified) switchSick(on bool) {
	n.t.Helper()
	verb := map[bool]string{true: "/enable", false: "/pause"}[on]
	for _, e := range n.sick {
		answer := e.client.Do(n.t.Context(), "POST", e.path+verb, nil)
		if answer.Status != http.StatusOK && answer.Status != http.StatusConflict { // it is so already
			n.t.Fatalf("%d %s", answer.Status, answer.Body)
		}
	}
}

// publish puts events on their topic, as many of each account. While the broker is away it tries again.
func (n *notified) publish(events int) {
	n.t.Helper()
	messages := make([]topic.Message, events)
	for i := range messages {
		account := n.number % accounts
		e := fleet.Event{ID: uint64(1 + n.number), Type: "vehicle.updated", Account: n.ids[account],
			At: fleet.MillisOf(time.Now()), Kind: "vehicle", Object: uint64(1 + n.number), Revision: 2,
			Body: json.RawMessage(`{"make":"Ford","model":"Focus"}`)}
		messages[i].Value = codec.AppendEvent(nil, &e)
		n.mu.Lock()
		n.sent[fleet.FormatID(fleet.EventPrefix, e.ID)] = time.Now()
		n.mu.Unlock()
		n.number++
	}
	for giveUp := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		err := n.feed.PublishRaw(context.Background(), n.config.Events, messages)
		if err == nil {
			return
		}
		if time.Now().After(giveUp) {
			n.t.Fatal(err)
		}
	}
}

// pace publishes 100 events a second for a while, waits until all have come, and returns how long they took.
func (n *notified) pace(during time.Duration) (p50, p99 time.Duration) {
	n.t.Helper()
	from := n.number
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(during); time.Now().Before(end); {
		<-tick.C
		n.publish(accounts)
	}
	n.await(time.Minute)
	var all []time.Duration
	for _, h := range n.healthy {
		h.mu.Lock()
		for id := from; id < n.number; id++ {
			name := fleet.FormatID(fleet.EventPrefix, uint64(1+id))
			if at, came := h.first[name]; came {
				all = append(all, at.Sub(n.sent[name]))
			}
		}
		h.mu.Unlock()
	}
	slices.Sort(all)
	return all[len(all)/2].Round(time.Millisecond), all[len(all)*99/100].Round(time.Millisecond)
}

// await waits until every healthy endpoint has every event of its account, and no other.
func (n *notified) await(within time.Duration) {
	n.t.Helper()
	giveUp := time.Now().Add(within)
	for _, h := range n.healthy {
		for {
			h.mu.Lock()
			got := len(h.got)
			h.mu.Unlock()
			want := (n.number - h.account + accounts - 1) / accounts
			if got == want {
				break
			}
			if time.Now().After(giveUp) || got > want {
				n.t.Fatalf("an endpoint of account %d has %d of %d events", h.account, got, want)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	for _, h := range n.healthy {
		for id := h.account; id < n.number; id += accounts {
			name := fleet.FormatID(fleet.EventPrefix, uint64(1+id))
			h.mu.Lock() // one that comes twice may come now
			lacks := h.got[name] == 0
			h.mu.Unlock()
			if lacks {
				n.t.Fatalf("an endpoint of account %d lacks %s", h.account, name)
			}
		}
	}
}

// twice is how many messages came to healthy endpoints that had the event.
func (n *notified) twice() (twice int) {
	for _, h := range n.healthy {
		h.mu.Lock()
		for _, times := range h.got {
			twice += times - 1
		}
		h.mu.Unlock()
	}
	return twice
}

// noted waits until all that healthy endpoints have is noted, once each.
func (n *notified) noted(within time.Duration) {
	n.t.Helper()
	want := uint64(3 * n.number)
	for giveUp := time.Now().Add(within); ; time.Sleep(time.Second) {
		var all, succeeded uint64
		n.check(n.DB.QueryRow(n.t.Context(), `SELECT count(), countIf(status = 'succeeded') FROM webhook_deliveries FINAL
			WHERE endpoint IN (SELECT id FROM webhook_endpoints WHERE description = 'Healthy')`).Scan(&all, &succeeded))
		if all == want && succeeded == want {
			return
		}
		if time.Now().After(giveUp) {
			n.t.Fatalf("%d deliveries to healthy endpoints are noted, %d as succeeded, of %d", all, succeeded, want)
		}
	}
}

func (h *hears) hear(_ http.ResponseWriter, r *http.Request) {
	name := r.Header.Get("webhook-id")
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.got[name]++; h.got[name] == 1 {
		h.first[name] = time.Now()
	}
}

// sicknesses are how endpoints are sick. Without an answer nothing listens.
var sicknesses = []struct {
	name   string
	tls    bool // with a certificate that nobody trusts
	answer func() http.HandlerFunc
}{
	{"slow", false, func() http.HandlerFunc { return after(2 * time.Second) }},
	{"dead", false, nil},
	{"flapping", false, func() http.HandlerFunc {
		var asked atomic.Int64
		return func(w http.ResponseWriter, _ *http.Request) {
			if asked.Add(1)/50%2 == 0 {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
	}},
	{"gone", false, func() http.HandlerFunc { return says(http.StatusGone, "", nil) }},
	{"busy for a second", false, func() http.HandlerFunc {
		return says(http.StatusTooManyRequests, "Retry-After", func() string { return "1" })
	}},
	{"busy until a time", false, func() http.HandlerFunc {
		return says(http.StatusTooManyRequests, "Retry-After", func() string {
			return time.Now().Add(2 * time.Second).UTC().Format(http.TimeFormat)
		})
	}},
	{"redirecting", false, func() http.HandlerFunc {
		return says(http.StatusFound, "Location", func() string { return "http://127.0.1.1/" })
	}},
	{"of wrong TLS", true, func() http.HandlerFunc { return after(0) }},
	{"of an endless body", false, func() http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, strings.Repeat("x", 1000)); err != nil {
					return
				}
			}
		}
	}},
	{"of a huge head", false, func() http.HandlerFunc {
		return says(http.StatusOK, "X-Long", func() string { return strings.Repeat("x", 100_000) })
	}},
	{"late", false, func() http.HandlerFunc { return after(20 * time.Second) }},
	{"failing", false, func() http.HandlerFunc { return says(http.StatusInternalServerError, "", nil) }},
}

// after answers 200 when a time is over, or nobody waits any more.
func after(d time.Duration) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(d):
		}
	}
}

// says answers with a status, and a head that is made each time.
func says(status int, name string, value func() string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if name != "" {
			w.Header().Set(name, value())
		}
		w.WriteHeader(status)
	}
}
