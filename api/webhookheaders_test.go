package api

import (
	"fmt"
	"strings"
	"testing"
)

// What an endpoint's server is sent as a credential is sent to no other one.
func TestHeadersOfAWebhookEndpointStayWithItsServer(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("x", 4000)
	path := hooks + "/" + w.do("POST", hooks, `{"url":"https://example.com/a","headers":{"X-Token":"`+long+`"}}`).id()
	// The same server, also where it is written otherwise; and sealed, a value may be longer than what is taken.
	for _, url := range []string{"https://example.com/b", "https://EXAMPLE.com:443/c?d=e"} {
		w.do("PATCH", path, `{"url":"`+url+`"}`).ok(200)
	}
	for _, body := range []string{`{"url":"https://evil.example/"}`, `{"url":"https://example.com:8443/"}`,
		`{"url":"http://example.com/"}`, `{"url":"https://evil.example/","headers":{"X-Token":"********"}}`} {
		p := w.do("PATCH", path, body).problem(422, "validation_failed")
		if len(p.Errors) != 1 || p.Errors[0].Pointer != "/headers/X-Token" {
			t.Errorf("%s: %+v", body, p.Errors)
		}
	}
	w.do("PUT", path, `{"url":"https://evil.example/","headers":{"X-Token":"********"}}`).problem(422, "validation_failed")
	w.do("PATCH", path, `{"url":"https://other.example/","headers":{"X-Token":"new"}}`).ok(200)
	w.do("PATCH", path, `{"url":"https://third.example/","headers":{"X-Token":null}}`).ok(200)
}

// The letters of a header's name say nothing: one that is written otherwise is the one that is there.
func TestHeadersOfAWebhookEndpointAreOneWhateverTheirLetters(t *testing.T) {
	w := newWorld(t)
	path := hooks + "/" + w.do("POST", hooks, `{"url":"https://example.com/a","headers":{"X-Key":"one","X-B":"two"}}`).id()
	for _, test := range []struct{ method, body string }{
		{"PATCH", `{"headers":{"x-key":"other"}}`},
		{"PATCH", `{"headers":{"x-KEY":"********"}}`},
		{"PUT", `{"url":"https://example.com/a","headers":{"x-key":"********","x-b":"three"}}`},
	} {
		headers, _ := w.do(test.method, path, test.body).ok(200).object()["headers"].(map[string]any)
		if len(headers) != 2 || headers["X-Key"] == nil || headers["X-B"] == nil {
			t.Errorf("%s %s: %v", test.method, test.body, headers)
		}
	}
	p := w.do("PATCH", path, `{"url":"https://evil.example/","headers":{"x-key":"********","X-B":null}}`).
		problem(422, "validation_failed")
	if len(p.Errors) != 1 || p.Errors[0].Pointer != "/headers/X-Key" {
		t.Errorf("its value would be told to another server: %+v", p.Errors)
	}
	w.do("PATCH", path, `{"headers":{"x-c":"1","X-C":"2"}}`).problem(422, "validation_failed")
	// So it is removed, whatever its letters, and another one that is given stays.
	for _, body := range []string{`{"headers":{"x-key":null}}`, `{"headers":{"x-b":null,"X-B":"four"}}`,
		`{"headers":{"x-none":null}}`} {
		headers := w.do("PATCH", path, body).ok(200).object()["headers"]
		if fmt.Sprint(headers) != "map[X-B:********]" {
			t.Errorf("after %s there are %v", body, headers)
		}
	}
	headers := w.do("PATCH", path, `{"headers":{"x-b":null}}`).ok(200).object()["headers"]
	if fmt.Sprint(headers) != "map[]" {
		t.Errorf("after all were removed there are %v", headers)
	}
}

// A header that says of every message that it is one and the same would have receivers take the first alone.
func TestAWebhookEndpointSaysNotThatAllMessagesAreOne(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"Idempotency-Key", "idempotency-key", "X-Idempotency-Key", "x-idempotency-key"} {
		p := w.do("POST", hooks, `{"url":"https://example.com/a","headers":{"`+name+`":"one"}}`).problem(422,
			"validation_failed")
		if len(p.Errors) != 1 || !strings.Contains(p.Errors[0].Detail, "belongs to the message") {
			t.Errorf("%s: %+v", name, p.Errors)
		}
	}
}
