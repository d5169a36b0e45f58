//go:build long

package api

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/ingest"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/track"
)

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
	w := newWorld(t, func(c *rest.Config, d *Deps) { c.BodyMemory, d.Publisher = 400, broker })
	other, third := *w, *w
	other.account, third.account = w.newAccount("Second"), w.newAccount("Third")
	other.key, third.key = w.newKey(other.account, auth.Admin), w.newKey(third.account, auth.Admin)
	fix := func(w *world) *reply {
		at := time.Now().UnixMilli()
		return w.do("POST", "/v1/positions", fmt.Sprintf(`{"unique_id":"box-%d","fix_at":%d,"lat":1,"lng":2,"signals":{}%s}`,
			w.account, at, strings.Repeat(" ", 200)))
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
	if waited := time.Since(began); waited < rest.TurnWait {
		t.Errorf("refused after %v", waited)
	}
	close(broker.allowed)
	working.Wait()
	fix(&third).ok(202)
}

// TestSendersWithoutAKeyKeepOutNobodyWithOne has two addresses send bodies that never end, of more than all with a key
// have together.
func TestSendersWithoutAKeyKeepOutNobodyWithOne(t *testing.T) {
	w := newWorld(t, func(c *rest.Config, _ *Deps) {
		c.BodyMemory, c.TrustedProxies = 400,
			[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	})
	const each = rest.BodiesHeld * 400 / 2
	for _, from := range []string{"192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /osmand HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: %s\r\nContent-Length: %d\r\n\r\n%s", from,
			each+1, strings.Repeat("a", each))
	}
	pool := w.api.StrangerBodies.Reading
	for pool.Taken() < 4*each {
		time.Sleep(time.Millisecond) // until all came
	}
	w.do("POST", "/v1/vehicles", `{"make":"A","model":"B"}`).ok(201)
	w.do("POST", "/osmand", strings.Repeat("a", ingest.OsmandBody+1), "Authorization", "").problem(413,
		"payload_too_large")
	if names := pool.Owners(); len(names) != 3 || !slices.Contains(names, "2001:db8::/64") {
		t.Errorf("senders: %v", names)
	}
}

// TestASlowReaderDoesNotHoldTheTurnOfItsBody begins an answer and does not end it.
func TestASlowReaderDoesNotHoldTheTurnOfItsBody(t *testing.T) {
	w := newWorld(t, func(c *rest.Config, _ *Deps) { c.BodyMemory = 400 })
	begun, end := make(chan struct{}), make(chan struct{})
	w.api.Handle(rest.Route{Method: "POST", Path: "/v1/slow", ID: "slow", Body: ingest.OsmandMessage{},
		Reply: rest.List[track.Vehicle]{}}, func(out http.ResponseWriter, _ *http.Request) error {
		out.WriteHeader(http.StatusOK)
		begun <- struct{}{}
		<-end
		return nil
	})
	body := `{"make":"A","model":"B"` + strings.Repeat(" ", 150) + "}"
	var reading sync.WaitGroup
	defer reading.Wait()
	defer close(end)
	reading.Go(func() { w.do("POST", "/v1/slow", body) })
	<-begun
	if held := w.api.Bodies.Reading.Owners(); len(held) != 0 {
		t.Errorf("a body is held by %d", len(held))
	}
	w.do("POST", "/v1/vehicles", body).ok(201)
}

// TestAFullDiskRefusesNoReads asks what is a POST only because it says much.
func TestAFullDiskRefusesNoReads(t *testing.T) {
	var full error
	w := newWorld(t, func(_ *rest.Config, d *Deps) { d.Refused = func() error { return full } })
	vehicle := w.vehicle(`{"make":"A","model":"B"}`)
	full = fleet.NewError(fleet.CodeFull, "There is no room.")
	w.do("POST", "/v1/search/area", `{`+searchBox+`}`).ok(200)
	w.do("POST", "/v1/customers/check", `{"email":"ada@example.com"}`).ok(200)
	w.do("GET", "/v1/vehicles/"+vehicle, "").ok(200)
	w.do("POST", "/v1/vehicles", `{"make":"A","model":"B"}`).problem(507, "insufficient_storage")
	for path, want := range map[string]bool{"/v1/search/area": false, "/v1/customers/check": false, "/v1/vehicles": true} {
		if _, got := w.api.OpenAPI().Paths[path].Post.Responses["507"]; got != want {
			t.Errorf("%s documents 507: %v", path, got)
		}
	}
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
		if took := time.Since(began); len(p.Errors) == 0 || len(p.Errors) > rest.MaxFindings || took > 20*time.Second {
			t.Errorf("%s: %d findings after %v", name, len(p.Errors), took)
		}
	}
}
