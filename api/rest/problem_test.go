package rest

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/auth"
)

// Whoever asked for a write that the store failed in is told to look first, also of an item of a batch; whoever sent
// a question by POST asks again.
func TestWhoAskedForAWriteIsToldToLook(t *testing.T) {
	server := &Server{Deps: Deps{Log: slog.New(slog.DiscardHandler)}}
	ask := func(class auth.Class) *http.Request {
		x := &Exchange{route: &Route{Class: class}}
		return httptest.NewRequestWithContext(context.WithValue(t.Context(), ExchangeKey{}, x), "POST", "/v1/things", nil)
	}
	told := func(class auth.Class) string {
		w := httptest.NewRecorder()
		server.WriteProblem(w, ask(class), context.DeadlineExceeded)
		return w.Body.String()
	}
	item := (&Resource[struct{}]{Server: server}).failure(ask(auth.Write), 1, context.DeadlineExceeded)
	for what, words := range map[string]string{"write": told(auth.Write), "item": item.Error.Detail} {
		if strings.Contains(words, "Try again") || !strings.Contains(words, "Look whether") {
			t.Errorf("%s: %s", what, words)
		}
	}
	if words := told(auth.Read); !strings.Contains(words, "Try again") || strings.Contains(words, "Look whether") {
		t.Errorf("question: %s", words)
	}
}
