package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// What is written through the interface reaches an endpoint, signed, also after everything was killed; one that says
// that it is gone is switched off, and what it missed is sent when it is back.
func TestAnEventReachesItsEndpoint(t *testing.T) {
	var mu sync.Mutex
	got := map[string]string{} // types by webhook-id
	var verifier *standardwebhooks.Webhook
	gone := false
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, err := io.ReadAll(r.Body)
		var event struct{ ID, Type string }
		if err = errors.Join(err, verifier.Verify(body, r.Header), json.Unmarshal(body, &event)); err != nil {
			t.Error(err)
		}
		if event.ID != r.Header.Get("webhook-id") || r.Header.Get("X-Token") != "of mine" {
			t.Errorf("%s came with %v", event.ID, r.Header)
		}
		if gone {
			w.WriteHeader(http.StatusGone)
			return
		}
		got[event.ID] = event.Type
	}))
	defer receiver.Close()
	at, err := url.Parse(receiver.URL)
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t)
	m.env = append(m.env, "MOTORPOOL_OUTBOUND_NETWORKS=127.0.0.0/8", "MOTORPOOL_WEBHOOK_HTTP=true",
		"MOTORPOOL_WEBHOOK_PORTS="+at.Port())
	m.up()
	key := strings.TrimSpace(m.must("key", "create", "--account", "Acme", "--scopes", "admin"))
	write := func(path, body string, into any) {
		t.Helper()
		status, answer, err := send(http.MethodPost, m.base+path, key, body)
		if err != nil || status/100 != 2 {
			t.Fatalf("POST %s: %d %v %s\n%s", path, status, err, answer, m.said())
		}
		if err := json.Unmarshal(answer, into); err != nil {
			t.Fatal(err)
		}
	}
	var endpoint struct{ ID, Secret, Status string }
	write("/v1/webhook_endpoints", fmt.Sprintf(`{"url":%q,"types":["vehicle.*"],"headers":{"X-Token":"of mine"}}`,
		receiver.URL), &endpoint)
	if verifier, err = standardwebhooks.NewWebhook(endpoint.Secret); err != nil {
		t.Fatal(err)
	}
	var ignored struct{}
	vehicle := func(n int) {
		t.Helper()
		write("/v1/vehicles", fmt.Sprintf(`{"make":"Ford","model":"Focus","license_plate":"A %d"}`, n), &ignored)
	}
	has := func(n int) {
		t.Helper()
		m.eventually(fmt.Sprintf("%d events", n), func() error {
			mu.Lock()
			defer mu.Unlock()
			if len(got) < n {
				return fmt.Errorf("%d have come: %v", len(got), got)
			}
			return nil
		})
	}
	// A new endpoint hears of what happens at once after it was made.
	vehicle(1)
	has(1)
	before := 1
	vehicle(1000)
	if err := m.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-m.exited
	m.up()
	vehicle(1001)
	has(before + 2)

	mu.Lock()
	gone, before = true, len(got)
	mu.Unlock()
	vehicle(1002)
	m.eventually("the endpoint is switched off", func() error {
		_, answer, err := get(m.base+"/v1/webhook_endpoints/"+endpoint.ID, key)
		if err == nil && !strings.Contains(string(answer), `"disabled_by":"gone"`) {
			err = fmt.Errorf("it is %s", answer)
		}
		return err
	})
	mu.Lock()
	gone = false
	mu.Unlock()
	write("/v1/webhook_endpoints/"+endpoint.ID+"/enable", "", &endpoint)
	since := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	write("/v1/webhook_endpoints/"+endpoint.ID+"/recover", `{"since":"`+since+`"}`, &ignored)
	has(before + 1)
	// Of the switching off everybody is told who may manage webhooks.
	m.eventually("the switching off is told", func() error {
		_, answer, err := get(m.base+"/v1/events?types=webhook_endpoint.disabled", key)
		if err == nil && (!strings.Contains(string(answer), endpoint.ID) || strings.Contains(string(answer), ":"+at.Port())) {
			err = fmt.Errorf("told is %s", answer)
		}
		return err
	})
	mu.Lock()
	defer mu.Unlock()
	for _, eventType := range got {
		if !strings.HasPrefix(eventType, "vehicle.") {
			t.Errorf("an event %s has come", eventType)
		}
	}
}
