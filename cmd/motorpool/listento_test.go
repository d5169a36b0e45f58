package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// eventStream answers each request with the next part of a stream, and notes behind which event it was asked for.
type eventStream struct {
	mu    sync.Mutex
	parts []string
	after []string
	types string
}

func (s *eventStream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer good" || len(s.parts) == 0 {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"detail":"The key is over."}`)
		return
	}
	s.after, s.types = append(s.after, r.Header.Get("Last-Event-ID")), r.URL.Query().Get("types")
	fmt.Fprint(w, s.parts[0])
	s.parts = s.parts[1:]
}

const streamed = "id: %d\nevent: booking.created\ndata: {\"id\":\"evt_%d\",\"type\":\"booking.created\",\"sequence\":%d}\n\n"

func TestListenGoesOnWhereItStoodAndForwardsSigned(t *testing.T) {
	stream := &eventStream{parts: []string{
		"retry: 1000\nid: 4\n\n:\n\n" + fmt.Sprintf(streamed, 5, 105, 5) +
			fmt.Sprintf(streamed, 6, 106, 6)[:40], // broken off
		fmt.Sprintf(streamed, 6, 106, 6) + ": sign of life\nid: 9\n\n",
		"event: reset\nid: 11\ndata: {\"reason\":\"expired\",\"detail\":\"Gone.\"}\n\n",
		"event: reset\ndata: {\"reason\":\"credential\",\"detail\":\"The key is over.\"}\n\n",
	}}
	from := httptest.NewServer(stream)
	defer from.Close()
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	checker, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	to := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = checker.Verify(body, r.Header)
		}
		if err != nil {
			t.Error(err)
		}
		got = append(got, r.Header.Get("webhook-id"))
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	defer to.Close()
	var out, errs bytes.Buffer
	c := &listenCommand{URL: from.URL, Key: "good", ForwardTo: to.URL, Secret: secret,
		Types: []string{"booking.*", "alerts"}}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err = c.Run(ctx, settings{}, output{out: &out, err: &errs})
	if err == nil || err.Error() != "The key is over." {
		t.Errorf("ended with %v", err)
	}
	if fmt.Sprint(got) != "[evt_105 evt_106]" || fmt.Sprint(stream.after) != "[ 5 9 11]" ||
		stream.types != "booking.*,alerts" {
		t.Errorf("got %v, asked behind %q for %s", got, stream.after, stream.types)
	}
	if lines := strings.Count(out.String(), "booking.created"); lines != 2 ||
		!strings.Contains(out.String(), "302 Found") {
		t.Errorf("printed %s", &out)
	}
	if !strings.Contains(errs.String(), "Gone.") || strings.Contains(out.String()+errs.String(), secret) {
		t.Errorf("said %s", &errs)
	}
}

func TestListenPrintsAndSaysWhatIsWrong(t *testing.T) {
	stream := &eventStream{parts: []string{fmt.Sprintf(streamed, 5, 105, 5)}}
	from := httptest.NewServer(stream)
	defer from.Close()
	var out bytes.Buffer
	c := &listenCommand{URL: from.URL, Key: "good", After: 3}
	err := c.Run(t.Context(), settings{}, output{out: &out, err: io.Discard})
	if err == nil || out.String() != `{"id":"evt_105","type":"booking.created","sequence":5}`+"\n" ||
		stream.after[0] != "3" {
		t.Errorf("%v: %s, behind %v", err, &out, stream.after)
	}
	for _, wrong := range []listenCommand{{}, {Key: "k", ForwardTo: "localhost:3000"}, {Key: "k", Secret: "whsec_!"}} {
		if err := wrong.Run(t.Context(), settings{}, output{out: io.Discard, err: io.Discard}); err == nil {
			t.Errorf("%+v is taken", wrong)
		}
	}
}
