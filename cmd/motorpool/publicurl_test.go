package main

import (
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/oauth"
)

// Whoever listens to a network has to say by which name it is reached: localhost would be everybody's own machine.
func TestTheServerClaimsNoAddressThatOthersCannotReach(t *testing.T) {
	for _, c := range []struct{ http, given, scheme, want string }{
		{"127.0.0.1:8080", "", "http", "http://127.0.0.1:8080"},
		{"[::1]:8080", "", "http", "http://[::1]:8080"},
		{"localhost:8443", "", "https", "https://localhost:8443"},
		{"127.0.0.1:80", "", "http", "http://127.0.0.1"},
		{"localhost:443", "", "https", "https://localhost"},
		{"[0:0:0:0:0:0:0:1]:8080", "", "http", "http://[::1]:8080"},
		{"127.0.0.1:0", "", "http", ""},
		{"0.0.0.0:8080", "", "http", ""},
		{"[::]:8080", "", "http", ""},
		{":8080", "", "http", ""},
		{":443", "", "https", ""},
		{"192.168.1.5:8080", "", "http", ""},
		{"fleet.internal:8080", "", "http", ""},
		{"none", "", "http", ""},
		{"0.0.0.0:8080", "https://fleet.example.com/", "http", "https://fleet.example.com"},
		{":8080", "http://localhost:8080", "http", "http://localhost:8080"},
	} {
		s := settings{HTTP: c.http}
		got := s.publicURL(c.given, c.scheme, false)
		if got != c.want {
			t.Errorf("--http %s --public-url %q: %q, want %q", c.http, c.given, got, c.want)
		}
		if err := (&oauth.Config{Issuer: got}).Validate(); err != nil {
			t.Errorf("--http %s --public-url %q: %v", c.http, c.given, err)
		}
		if got := s.publicURL(c.given, c.scheme, true); got != strings.TrimRight(c.given, "/") {
			t.Errorf("behind a proxy, --http %s --public-url %q: %q", c.http, c.given, got)
		}
	}
	for _, bad := range []string{"fleet.example.com", "http://fleet.example.com", "http://192.168.1.5:8080",
		"http://0.0.0.0:8080", "https://", "https://fleet.example.com/app", "https://fleet.example.com?a=b",
		"https://fleet.example.com#a", "https://fleet.example.com?", "https://ada@fleet.example.com",
		"ftp://fleet.example.com", "https://fleet.example.com:port", "javascript:alert(1)", "https://*.example.com",
		"https://fleet example.com"} {
		err := (&oauth.Config{Issuer: (&settings{}).publicURL(bad, "http", false)}).Validate()
		if err == nil || !strings.Contains(err.Error(), "https://") {
			t.Errorf("--public-url %s: %v", bad, err)
		}
	}
	// The address is compared character by character with what browsers and programs send.
	for given, write := range map[string]string{
		"https://Fleet.Example.COM":       "https://fleet.example.com",
		"https://fleet.example.com:443":   "https://fleet.example.com",
		"https://Fleet.example.com:443/":  "https://fleet.example.com",
		"HTTPS://fleet.example.com":       "https://fleet.example.com",
		"https://fleet.example.com:":      "https://fleet.example.com",
		"https://fleet.example.com:08443": "https://fleet.example.com:8443",
		"http://localhost:80":             "http://localhost",
		"http://LOCALHOST:8080":           "http://localhost:8080",
		"http://127.0.0.1:80":             "http://127.0.0.1",
		"http://[0:0:0:0:0:0:0:1]:8080":   "http://[::1]:8080",
		"https://[2001:DB8::1]":           "https://[2001:db8::1]",
	} {
		err := (&oauth.Config{Issuer: (&settings{}).publicURL(given, "http", false)}).Validate()
		if err == nil || !strings.HasSuffix(err.Error(), "give "+write) {
			t.Errorf("--public-url %s is not told to be %s: %v", given, write, err)
		}
		if err := (&oauth.Config{Issuer: write}).Validate(); err != nil {
			t.Errorf("--public-url %s: %v", write, err)
		}
	}
}
