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
}
