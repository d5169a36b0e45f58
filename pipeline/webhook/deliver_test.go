package webhook

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/motorpool/fleet"
)

// Whoever comes next finds what was written and not tried, and what was tried and not noted.
func TestWhatWasWrittenIsDeliveredByTheNextOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	block := make(chan struct{})
	var asked atomic.Int64
	r := w.endpoint(1, 5, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) <= 4 { // so that all ten may be under way
			return
		}
		select {
		case <-block:
		case <-r.Context().Done():
		}
	})
	p := w.start()
	w.publish(event(1, 201), event(1, 202), event(1, 203), event(1, 204))
	w.eventually("four are noted", 15*time.Second, func() bool {
		return w.number("(SELECT count() FROM webhook_attempts)") == 4
	})
	var events []fleet.Event
	for i := range 30 {
		events = append(events, event(1, i))
	}
	w.publish(events...)
	w.eventually("ten are under way", 15*time.Second, func() bool {
		different, _ := r.count()
		return different == 14
	})
	p.kill() // ten tried, and none noted; twenty written, or not even that
	if n := w.number("(SELECT count() FROM webhook_attempts)"); n != 4 {
		t.Fatalf("%d attempts are noted", n)
	}
	close(block)
	p = w.start()
	w.eventually("all have come", 20*time.Second, func() bool {
		different, _ := r.count()
		return different == 34
	})
	w.eventually("all is noted", 10*time.Second, func() bool {
		return w.number("(SELECT count() FROM webhook_deliveries FINAL WHERE status = 'succeeded' AND attempts = 1)") == 34
	})
	// In order nothing is sent again.
	p.stop()
	w.start()
	w.publish(event(1, 100))
	w.eventually("the next one has come", 15*time.Second, func() bool {
		different, _ := r.count()
		return different == 35
	})
	if _, all := r.count(); all > 45 {
		t.Errorf("%d messages of 35 events", all)
	}
}

func TestAPausedEndpointIsRecoveredAndEventsAreReplayed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	down := atomic.Bool{}
	r := w.endpoint(7, 5, func(w http.ResponseWriter, _ *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	w.steps = []time.Duration{0, 100 * time.Millisecond}
	commands := Commands{DB: w.db, Publisher: w.feed, Topic: w.kafka.Deliveries}
	begin := time.Now().Add(-time.Minute)
	w.start()
	has := func(what string, n, all int) {
		t.Helper()
		w.eventually(what, 15*time.Second, func() bool {
			different, messages := r.count()
			return different == n && messages == all
		})
	}
	settled := func(status string, n int) {
		t.Helper()
		w.eventually(fmt.Sprintf("%d are %s", n, status), 15*time.Second, func() bool {
			return w.number("(SELECT count() FROM webhook_deliveries FINAL WHERE status = '"+status+"')") == n
		})
	}
	w.publish(event(7, 1), event(7, 2))
	has("two have come", 2, 2)
	w.endpoints.change(r.endpoint, func(e *Endpoint) { e.Enabled = false })
	time.Sleep(1100 * time.Millisecond) // until that is known
	w.publish(event(7, 3), event(7, 4), event(7, 5))
	settled(skipped, 3)
	w.endpoints.change(r.endpoint, func(e *Endpoint) { e.Enabled = true })
	if err := commands.Recover(t.Context(), 7, 5, Selection{Since: begin, Types: []string{"booking.*"}}); err != nil {
		t.Fatal(err)
	}
	w.eventually("that is done", 15*time.Second, func() bool {
		return commands.Recover(t.Context(), 7, 5, Selection{Since: begin, Types: []string{"location"}}) == nil
	})
	has("the skipped have come", 5, 5)
	settled(succeeded, 5)

	down.Store(true)
	w.publish(event(7, 6))
	settled(failed, 1)
	has("it was tried twice", 6, 7)
	down.Store(false)
	var id uint64
	if err := w.db.QueryRow(t.Context(),
		"SELECT id FROM webhook_deliveries FINAL WHERE status = 'failed'").Scan(&id); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second finds it waiting, or settled and sends it once more
		if err := commands.Retry(t.Context(), 7, 5, id); err != nil {
			t.Fatal(err)
		}
	}
	settled(succeeded, 6)

	if err := commands.Replay(t.Context(), 7, 5, 77, Selection{Since: begin}); err != nil {
		t.Fatal(err)
	}
	settled(succeeded, 12)
	if err := commands.Replay(t.Context(), 7, 5, 77, Selection{Since: begin}); err != nil { // the same once more
		t.Fatal(err)
	}
	w.eventually("that is done", 15*time.Second, func() bool {
		return commands.Replay(t.Context(), 7, 5, 78, Selection{Since: begin, Types: []string{"alerts"}}) == nil
	})
	w.publish(event(7, 7))
	settled(succeeded, 13)
	if different, _ := r.count(); different != 7 {
		t.Errorf("%d events of seven", different)
	}
	if err := commands.Recover(context.Background(), 7, 5, Selection{}, "succeeded"); err == nil {
		t.Error("what has come is recovered")
	}
}
