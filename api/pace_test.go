package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
)

// TestNobodyGetsMoreThanAShare claims, waits and gives back, and in the end nothing is left.
func TestNobodyGetsMoreThanAShare(t *testing.T) {
	f := newFair(3, 2)
	one, again, two, three := f.claim("one"), f.claim("one"), f.claim("two"), f.claim("three")
	at := func(c *claim, n int64, want error) {
		t.Helper()
		if err := c.try(n); !errors.Is(err, want) {
			t.Errorf("try %d: %v, want %v", n, err, want)
		}
	}
	at(one, 2, nil)
	at(again, 1, errShare)
	at(two, 1, nil)
	at(three, 1, errAll)
	ended, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := again.take(ended, 1); !errors.Is(err, errShare) {
		t.Errorf("waiting for a share of one's own: %v", err)
	}
	ended, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := three.take(ended, 1); !errors.Is(err, errAll) {
		t.Errorf("waiting for the others: %v", err)
	}
	got := make(chan error)
	go func() { got <- three.take(t.Context(), 10) }() // more than a share counts as one
	one.end()
	if err := <-got; err != nil || three.has != 2 {
		t.Errorf("after another's end: %v, has %d", err, three.has)
	}
	for _, c := range []*claim{again, two, three} {
		c.end()
	}
	if len(f.owners) != 0 {
		t.Errorf("%d owners are left", len(f.owners))
	}
	at(f.claim("four"), 2, nil)
}

// slowBroker acknowledges when it is told to.
type slowBroker struct {
	asked   chan struct{}
	allowed chan struct{}
}

func (b slowBroker) Publish(ctx context.Context, _ fleet.AccountID, _ string, _ []fleet.Report) error {
	b.asked <- struct{}{}
	select {
	case <-b.allowed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestBodiesAreWorkedOnInTurn has as many bodies under work as there may be. Of the account that sent them the next is
// refused with a 429 after a while, of others, for whom nothing is left, with a 503; then they go on.
func TestBodiesAreWorkedOnInTurn(t *testing.T) {
	broker := slowBroker{asked: make(chan struct{}, 10), allowed: make(chan struct{})}
	w := newWorld(t, func(c *Config, d *Deps) { c.BodyMemory, d.Publisher = 400, broker })
	other, third := *w, *w
	other.account, third.account = w.newAccount("Second"), w.newAccount("Third")
	other.key, third.key = w.newKey(other.account, auth.Admin), w.newKey(third.account, auth.Admin)
	fix := func(w *world) *reply {
		at := time.Now().UnixMilli()
		return w.do("POST", "/v1/positions", fmt.Sprintf(`{"unique_id":"box-%d","fix_at":%d,"lat":1,"lng":2,"signals":{}%s}`, w.account, at, strings.Repeat(" ", 200)))
	}
	for _, each := range []*world{w, &other, &third} {
		each.do("POST", "/v1/devices", fmt.Sprintf(`{"unique_id":"box-%d"}`, each.account)).ok(201)
	}
	var working sync.WaitGroup
	for _, each := range []*world{w, &other} {
		working.Go(func() { fix(each).ok(202) })
		<-broker.asked
	}
	began := time.Now()
	var refused sync.WaitGroup
	refused.Go(func() {
		r := fix(w)
		r.problem(429, "rate_limited")
		wantEqual(t, "429 says when to come again", r.header.Get("Retry-After"), "5")
	})
	refused.Go(func() {
		r := fix(&third)
		r.problem(503, "unavailable")
		wantEqual(t, "503 says when to come again", r.header.Get("Retry-After"), "5")
	})
	refused.Wait()
	if waited := time.Since(began); waited < turnWait {
		t.Errorf("refused after %v", waited)
	}
	close(broker.allowed)
	working.Wait()
	fix(&third).ok(202)
}

// TestABodyOfFaultsIsRefusedAtOnce sends bodies in which everything is wrong. The answer names some of it.
func TestABodyOfFaultsIsRefusedAtOnce(t *testing.T) {
	w := newWorld(t)
	var unknown strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&unknown, `"m%d":1,`, i)
	}
	for name, body := range map[string]string{
		"unknown members": `{` + unknown.String() + `"make":"a"}`,
		"wrong items":     `{"make":"a","model":"b","tags":[` + strings.Repeat("[],", 300_000) + `[]]}`,
	} {
		began := time.Now()
		p := w.do("POST", "/v1/vehicles", body).problem(422, "validation_failed")
		if took := time.Since(began); len(p.Errors) == 0 || len(p.Errors) > maxFindings || took > 20*time.Second {
			t.Errorf("%s: %d findings after %v", name, len(p.Errors), took)
		}
	}
}
