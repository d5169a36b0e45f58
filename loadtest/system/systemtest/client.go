package systemtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/motorpool/fleet/loadtest/system"
)

// Client calls one process of the interface with one key. It is safe for concurrent use.
type Client struct {
	Base string // "http://127.0.0.1:8080"
	Key  string
}

// Answer is what came back. Status is 0 if nothing did, and then Body says why.
type Answer struct {
	Status    int
	ETag      string
	RequestID string
	Body      []byte
}

// Decode reads the JSON of an answer; one that is none leaves v as it is.
func (a Answer) Decode(v any) { _ = json.Unmarshal(a.Body, v) }

// Do makes a request, with headers given in pairs.
func (c Client) Do(ctx context.Context, method, path string, body any, headers ...string) Answer {
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return Answer{Body: []byte(err.Error())}
		}
		in = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.Base+path, in)
	if err != nil {
		return Answer{Body: []byte(err.Error())}
	}
	request.Header.Set("Authorization", "Bearer "+c.Key)
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return Answer{Body: []byte(err.Error())}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return Answer{Body: []byte(err.Error())}
	}
	return Answer{Status: response.StatusCode, ETag: response.Header.Get("ETag"),
		RequestID: response.Header.Get("X-Request-Id"), Body: text}
}

// Await returns when the process answers.
func (c Client) Await(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		answer := c.Do(t.Context(), "GET", "/v1/account", nil)
		if answer.Status == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not answer: %d %s", c.Base, answer.Status, answer.Body)
		}
	}
}

// Key makes an API key of an account.
func Key(t *testing.T, s *system.System, account, scopes string) string {
	t.Helper()
	key, err := s.Output("key", "create", "--account", account, "--scopes", scopes)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// FreeAddr returns an address to listen on.
func FreeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
