package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// hooked is an endpoint of a machine's account, and what has come to it.
type hooked struct {
	*machine
	key string

	mu  sync.Mutex
	got map[string]int // how often each event came, by its webhook-id
}

// newHooked lets a machine that is not started yet call a receiver on this one.
func newHooked(m *machine) (*hooked, *httptest.Server) {
	h := &hooked{machine: m, got: map[string]int{}}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.got[r.Header.Get("webhook-id")]++
	}))
	m.t.Cleanup(receiver.Close)
	at, err := url.Parse(receiver.URL)
	if err != nil {
		m.t.Fatal(err)
	}
	m.env = append(m.env, "MOTORPOOL_OUTBOUND_NETWORKS=127.0.0.0/8", "MOTORPOOL_WEBHOOK_HTTP=true",
		"MOTORPOOL_WEBHOOK_PORTS="+at.Port())
	return h, receiver
}

// begin makes the account and its endpoint.
func (h *hooked) begin(receiver string) {
	h.t.Helper()
	h.key = strings.TrimSpace(h.must("key", "create", "--account", "Acme", "--scopes", "admin"))
	h.post("/v1/webhook_endpoints", fmt.Sprintf(`{"url":%q,"types":["vehicle.created"]}`, receiver))
}

func (h *hooked) post(path, body string) {
	h.t.Helper()
	status, answer, err := send(http.MethodPost, h.base+path, h.key, body)
	if err != nil || status/100 != 2 {
		h.t.Fatalf("POST %s: %d %v %s\n%s", path, status, err, answer, h.said())
	}
}

// vehicles makes some, each of which is an event.
func (h *hooked) vehicles(from, to int) {
	h.t.Helper()
	for n := from; n < to; n++ {
		h.post("/v1/vehicles", fmt.Sprintf(`{"make":"Ford","model":"Focus","license_plate":"A %d"}`, n))
	}
}

// told are the ids of the events that the account has, read to the end of the feed.
func (h *hooked) told() (ids []string, err error) {
	for cursor := ""; ; {
		_, answer, err := get(h.base+"/v1/events?types=vehicle.created&per_page=100"+cursor, h.key)
		if err != nil {
			return nil, err
		}
		var page struct {
			Data       []struct{ ID string }
			Pagination struct {
				NextCursor string `json:"next_cursor"`
			}
		}
		if err := json.Unmarshal(answer, &page); err != nil {
			return nil, err
		}
		if len(page.Data) == 0 {
			return ids, nil
		}
		for _, event := range page.Data {
			ids = append(ids, event.ID)
		}
		cursor = "&cursor=" + page.Pagination.NextCursor
	}
}

// all waits until the account has so many events, and each has come to the endpoint.
func (h *hooked) all(n int) {
	h.t.Helper()
	h.eventually(fmt.Sprintf("%d events", n), func() error {
		ids, err := h.told()
		if err != nil || len(ids) != n {
			return fmt.Errorf("there are %d: %v", len(ids), err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, id := range ids {
			if h.got[id] == 0 {
				return fmt.Errorf("%s has not come; %d have", id, len(h.got))
			}
		}
		return nil
	})
}

func (h *hooked) come() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.got)
}

// startNotify starts `motorpool notify` beside `up`, which ends with the test.
func (m *machine) startNotify() (*os.Process, *buffer, error) {
	cmd, said := exec.Command(m.path, "notify"), &buffer{}
	cmd.Env = append(m.env[:len(m.env):len(m.env)], "MOTORPOOL_OPS=127.0.0.1:0")
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	m.t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	return cmd.Process, said, nil
}

func TestHeldWebhooksWaitUntilSomebodyMaySend(t *testing.T) {
	m := newMachine(t)
	h, receiver := newHooked(m)
	m.up("--webhook-hold")
	if !strings.Contains(m.said(), "webhooks are held") {
		t.Error("it does not say that webhooks are held")
	}
	h.begin(receiver.URL)
	h.vehicles(1, 4)
	m.eventually("the events are told", func() error {
		if ids, err := h.told(); err != nil || len(ids) != 3 {
			return fmt.Errorf("%d: %v", len(ids), err)
		}
		return nil
	})
	if n := h.come(); n != 0 {
		t.Errorf("%d events were sent although webhooks are held", n)
	}

	// Without the key nothing could be signed: it says what to do, and starts nothing.
	key := filepath.Join(m.data, sealKeyFile)
	if err := os.Rename(key, key+".away"); err != nil {
		t.Fatal(err)
	}
	out, errs, code := m.command("notify")
	if code != exitFailure || !strings.Contains(errs, "give --seal-key-file") ||
		!strings.Contains(errs, "--data of a running 'up'") {
		t.Errorf("without a key: %d\n%s%s", code, out, errs)
	}
	if err := os.Rename(key+".away", key); err != nil {
		t.Fatal(err)
	}
	if out := m.must("notify", "--check"); !strings.Contains(out, "the settings are good") || h.come() != 0 {
		t.Errorf("a check says %s, and %d events came", out, h.come())
	}
	if _, _, err := m.startNotify(); err != nil {
		t.Fatal(err)
	}
	h.all(3)
	h.vehicles(4, 6)
	h.all(5)
}
