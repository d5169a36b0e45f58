//go:build long

package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/motorpool/fleet"
)

// status answers with a status, and heads in pairs.
func status(code int, heads ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(heads); i += 2 {
			w.Header().Set(heads[i], heads[i+1])
		}
		w.WriteHeader(code)
	}
}

// Servers that answer nobody hold neither all workers nor those of other accounts, also before that is known of them.
func TestNewEndpointsThatAnswerNobodyLeaveOthersTheirWorkers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tarpit := func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(30 * time.Second):
		}
	}
	w.endpoint(1, 10, tarpit)
	one, _ := w.endpoints.Get(1, 10)
	for id := range uint64(400) { // each alone has but one request under way
		e := *one
		e.ID, e.Timeout = 1000+id, 30*time.Second
		w.endpoints.set(e)
	}
	for id := range uint64(6) { // these would have fifty each
		e := *one
		e.Account, e.ID, e.Timeout, e.MaxInFlight = 2, 2000+id, 30*time.Second, 50
		w.endpoints.set(e)
	}
	healthy := w.endpoint(3, 30, nil)
	p := w.start()
	var events []fleet.Event
	for i := range 60 {
		events = append(events, event(2, i))
	}
	w.publish(append(events, event(1, 1))...)
	w.eventually("they are asked", 15*time.Second, func() bool {
		p.deliverer.mu.Lock()
		defer p.deliverer.mu.Unlock()
		return p.deliverer.inFlight >= 100
	})
	time.Sleep(time.Second)
	began := time.Now()
	w.publish(event(3, 1), event(3, 2), event(3, 3))
	w.eventually("the healthy one has all", 5*time.Second, func() bool {
		different, _ := healthy.count()
		return different == 3
	})
	t.Logf("after %v, with %d under way", time.Since(began), p.deliverer.inFlight)
}

// Endpoints that are slow, dead, flapping, gone, too busy, wrong or endless wait for themselves; the process is killed
// again and again, and every healthy endpoint gets every event.
func TestHealthyEndpointsGetEveryEventWhoeverIsSickAndKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 300
	var healthy []*receiver
	for id := range uint64(3) {
		healthy = append(healthy, w.endpoint(1, 1+id, nil))
	}
	healthy = append(healthy, w.endpoint(2, 4, nil))
	w.endpoint(1, 11, func(_ http.ResponseWriter, r *http.Request) { // slow, and answers after the timeout
		select {
		case <-r.Context().Done():
		case <-time.After(20 * time.Second):
		}
	})
	dead := w.endpoint(1, 12, nil)
	dead.Close()
	flaps := atomic.Int64{}
	w.endpoint(2, 13, func(w http.ResponseWriter, _ *http.Request) {
		if flaps.Add(1)%3 == 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	gone := w.endpoint(1, 14, status(http.StatusGone))
	w.endpoint(1, 15, status(http.StatusTooManyRequests, "Retry-After", "2"))
	w.endpoint(1, 16, status(http.StatusServiceUnavailable, "Retry-After",
		time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)))
	w.endpoint(1, 17, status(http.StatusFound, "Location", healthy[0].URL))
	endless := w.endpoint(1, 18, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := fmt.Fprint(w, strings.Repeat("x", 1000)); err != nil {
				return
			}
		}
	})
	w.endpoint(1, 19, status(http.StatusInternalServerError, "X-Long", strings.Repeat("x", 8000)))

	p := w.start()
	for round := range 3 {
		var events []fleet.Event
		for i := range n / 6 {
			number := round*n/3 + 2*i
			events = append(events, event(1, number), event(2, number+1), event(1, number+1), event(2, number))
		}
		w.publish(events...)
		w.eventually("somebody heard of it", 20*time.Second, func() bool {
			heard, _ := healthy[0].count()
			return heard > round*n/3
		})
		if round < 2 {
			p.kill()
			p = w.start()
		}
	}
	for _, r := range append(healthy, endless) {
		w.eventually(fmt.Sprintf("endpoint %d has every event", r.endpoint.endpoint), 30*time.Second, func() bool {
			different, _ := r.count()
			return different == n
		})
	}
	if _, asked := gone.count(); asked > 3*10 { // each process may have ten under way before it knows
		t.Errorf("an endpoint that wants no more was asked %d times", asked)
	}
	w.eventually("all of the healthy is noted", 10*time.Second, func() bool {
		return w.number("(SELECT count() FROM webhook_deliveries FINAL WHERE endpoint <= 4 AND status = 'succeeded')") == 4*n
	})
	if len(w.notices) == 0 || w.notices[0].Kind != OffGone {
		t.Errorf("who is gone was not switched off: %+v", w.notices)
	}
	if twice := w.number("(SELECT count() FROM (SELECT id FROM webhook_deliveries FINAL GROUP BY id " +
		"HAVING count() > 1))"); twice > 0 {
		t.Errorf("%d deliveries are there twice", twice)
	}
	// A server that asks to be left alone for a minute is, whoever owns its endpoint.
	if n := w.number("(SELECT count() FROM webhook_attempts WHERE endpoint = 16)"); n > 3*10 {
		t.Errorf("a server that asked for a minute was asked %d times", n)
	}
}

// Of an endpoint there is one recover at a time, and one goes through the days of its span.
func TestARecoverGoesThroughTheDaysAndThereIsOneAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.endpoint(7, 5, nil)
	for days := range 5 {
		n := uint64(100 + days)
		w.deliver(r.endpoint, n, n, failed, days)
		w.log(7, n, n, days)
	}
	commands := Commands{DB: w.db, Publisher: w.feed, Topic: w.kafka.Deliveries}
	ask := func() error {
		return commands.Recover(t.Context(), 7, 5, Selection{Since: time.Now().AddDate(0, 0, -20)}, Failed)
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	var underWay *UnderWayError
	if err := ask(); !errors.As(err, &underWay) || time.Since(underWay.Asked) > time.Minute {
		t.Fatalf("asked for twice: %v", err)
	}
	if err := commands.Recover(t.Context(), 7, 6, Selection{}); err != nil { // another endpoint
		t.Fatal(err)
	}
	w.start()
	w.eventually("all have come", 20*time.Second, func() bool {
		different, _ := r.count()
		return different == 5
	})
	w.eventually("it may be asked for again", 20*time.Second, func() bool { return ask() == nil })
}
