package api

import (
	"crypto/tls"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet/api/rest"
)

// safeHeaders are on every answer, whatever it is.
var safeHeaders = map[string]string{
	"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
	"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
}

// published are the answers that programs in a page of any site may read: who gives access tokens, and how to check
// them.
var published = map[string]bool{
	"GET /.well-known/oauth-authorization-server without a key": true,
	"GET /.well-known/oauth-protected-resource without a key":   true,
	"GET /oauth/jwks without a key":                             true,
	"GET /.well-known/oauth-authorization-server":               true,
	"GET /.well-known/oauth-protected-resource":                 true,
	"GET /oauth/jwks": true,
}

func TestEveryAnswerTellsBrowsersToKeepOff(t *testing.T) {
	w := newWorld(t)
	handler := w.api.Handler()
	parameter := regexp.MustCompile(`\{[^}]+\}`)
	ask := func(method, path, key string, encrypted bool) *http.Response {
		r := httptest.NewRequest(method, path, strings.NewReader(""))
		r.Header.Set("Origin", "https://evil.example")
		if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		if encrypted {
			r.TLS = &tls.ConnectionState{}
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		return answer.Result()
	}
	check := func(what string, res *http.Response) {
		t.Helper()
		for name, want := range safeHeaders {
			if got := res.Header.Values(name); !slices.Equal(got, []string{want}) {
				t.Errorf("%s: %s is %q, want %q", what, name, got, want)
			}
		}
		policy := res.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") ||
			!strings.Contains(res.Header.Get("Permissions-Policy"), "geolocation=()") {
			t.Errorf("%s: the policies are %q and %q", what, policy, res.Header.Get("Permissions-Policy"))
		}
		for name := range res.Header {
			if name == "Access-Control-Allow-Origin" && published[what] {
				continue // what every page may read has nothing of anybody's
			}
			if name == "Server" || strings.HasPrefix(name, "X-Powered") || strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: has %s: %s", what, name, res.Header.Get(name))
			}
		}
	}
	calls := map[string]string{"GET /nowhere": "GET", "OPTIONS /v1/vehicles": "OPTIONS", "TRACE /v1/vehicles": "TRACE"}
	for _, rt := range w.api.Routes {
		if strings.HasSuffix(rt.Path, "/stream") {
			continue // does not end; its head is that of the others
		}
		calls[rt.Method+" "+parameter.ReplaceAllString(rt.Path, "1")] = rt.Method
	}
	for i, call := range slices.Sorted(maps.Keys(calls)) {
		path := strings.TrimPrefix(call, calls[call]+" ")
		check(call+" without a key", ask(calls[call], path, "", false))
		if calls[call] == http.MethodGet && i%8 == 0 { // what is behind the headers takes its time
			check(call, ask(calls[call], path, w.key, false))
		}
	}
	if len(calls) < 300 {
		t.Errorf("only %d calls", len(calls))
	}
	for encrypted, want := range map[bool]string{true: "max-age=31536000", false: ""} {
		if got := ask("GET", "/v1/vehicles", w.key, encrypted).Header.Get("Strict-Transport-Security"); got != want {
			t.Errorf("Strict-Transport-Security is %q, want %q", got, want)
		}
	}

	// What the policy of the page forbids is not in the page.
	page := w.do("GET", "/v1/docs", "").ok(200)
	policy := page.header.Get("Content-Security-Policy")
	for source, text := range map[string]string{"script-src": "<script", "img-src": "<img", "font-src": "@font-face",
		"connect-src": "fetch("} {
		if strings.Contains(string(page.body), text) && !strings.Contains(policy, source) {
			t.Errorf("the page has %s, and its policy is %q", text, policy)
		}
	}
	if strings.Contains(string(page.body), "<style") != strings.Contains(policy, "style-src") {
		t.Errorf("styles of the page and its policy %q do not agree", policy)
	}

	ops := rest.OpsHandler(nil, nil, prometheus.NewRegistry())
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/nowhere"} {
		answer := httptest.NewRecorder()
		ops.ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
		check(path, answer.Result())
	}
}
