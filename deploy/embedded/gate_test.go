package embedded_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/motorpool/fleet/deploy/embedded"
)

// gateBefore opens a gate for two guests, of whom the engine knows one, and counts what comes through.
func gateBefore(t *testing.T) (addr string, through *atomic.Int64) {
	t.Helper()
	through = &atomic.Int64{}
	behind := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { through.Add(1) }))
	t.Cleanup(behind.Close)
	sum := sha256.Sum256([]byte("right"))
	guests := map[string]embedded.Guest{
		"bi_known": {SHA256: hex.EncodeToString(sum[:]), Engine: "word"},
		"bi_new":   {SHA256: hex.EncodeToString(sum[:])},
	}
	gate, err := embedded.OpenGate(embedded.GateConfig{Addr: "127.0.0.1:0",
		Engine: strings.TrimPrefix(behind.URL, "http://"), Logger: slog.New(slog.DiscardHandler),
		Guest: func(name string) (embedded.Guest, bool) { g, ok := guests[name]; return g, ok }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = gate.Close() })
	return gate.Addr(), through
}

// askGate sends a request and returns the status and what was answered.
func askGate(t *testing.T, method, url, user, password string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader("SELECT 1"))
	if err != nil {
		t.Fatal(err)
	}
	if user != "" {
		req.SetBasicAuth(user, password)
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// A ping is answered by the gate, whatever comes with it, and no query gets through by it.
func TestAPingReachesNoEngine(t *testing.T) {
	addr, through := gateBefore(t)
	for _, c := range []struct {
		method, url string
		status      int
		text        string
	}{
		{http.MethodGet, "/ping", 200, "Ok.\n"},
		{http.MethodGet, "/ping?query=SELECT+1", 200, "Ok.\n"},
		{http.MethodGet, "/%70ing?query=SELECT+1&user=bi_known&password=word", 200, "Ok.\n"},
		{http.MethodHead, "/ping?query=SELECT+1", 200, ""},
		{http.MethodPost, "/ping", 405, "/ping is asked by GET or HEAD\n"},
		{http.MethodPut, "/ping?query=SELECT+1", 405, "/ping is asked by GET or HEAD\n"},
		{http.MethodGet, "/ping/", 404, "queries are sent to / by GET or POST\n"},
	} {
		status, text := askGate(t, c.method, "http://"+addr+c.url, "bi_known", "right")
		if status != c.status || text != c.text {
			t.Errorf("%s %s: %d %q", c.method, c.url, status, text)
		}
	}
	if n := through.Load(); n != 0 {
		t.Errorf("%d of them reached the engine", n)
	}
}

// Who was made after the engine started is told when they come in, if the password is theirs.
func TestAGuestWhomTheEngineDoesNotKnowIsToldWhen(t *testing.T) {
	addr, through := gateBefore(t)
	if status, text := askGate(t, http.MethodPost, "http://"+addr, "bi_new", "right"); status != 403 ||
		!strings.Contains(text, "after its next start") {
		t.Errorf("the right password: %d %s", status, text)
	}
	if status, text := askGate(t, http.MethodPost, "http://"+addr, "bi_new", "wrong"); status != 401 ||
		strings.Contains(text, "start") {
		t.Errorf("a wrong password: %d %s", status, text)
	}
	if n := through.Load(); n != 0 {
		t.Errorf("%d of them reached the engine", n)
	}
	status, _ := askGate(t, http.MethodPost, "http://"+addr, "bi_known", "right")
	if status != 200 || through.Load() != 1 {
		t.Errorf("a guest whom the engine knows: %d", status)
	}
}
