package user

import (
	"net/http/httptest"
	"testing"
)

func TestTheOriginOfPasskeysIsThatOfTheConfiguredAddress(t *testing.T) {
	for address, want := range map[string][2]string{
		"https://fleet.example.com":       {"fleet.example.com", "https://fleet.example.com"},
		"https://Fleet.Example.com:443/":  {"fleet.example.com", "https://fleet.example.com"},
		"https://fleet.example.com:8443":  {"fleet.example.com", "https://fleet.example.com:8443"},
		"http://localhost:8080":           {"localhost", "http://localhost:8080"},
		"http://fleet.example.com":        {},
		"https://192.0.2.1":               {},
		"https://[2001:db8::1]":           {},
		"http://127.0.0.1:8080":           {},
		"https://user:hush@":              {},
		"http://localhost.evil.example":   {},
		"http://evil.example/localhost:1": {},
	} {
		var got [2]string
		r := httptest.NewRequest("POST", "http://evil.example/signin/passkey/options", nil)
		r.Header.Set("X-Forwarded-Host", "evil.example")
		if rp := (&API{Settings: Config{PublicURL: address}}).relyingParty(r); rp != nil {
			got = [2]string{rp.Config.RPID, rp.Config.RPOrigins[0]}
			if len(rp.Config.RPOrigins) != 1 {
				t.Errorf("%s: %v", address, rp.Config.RPOrigins)
			}
		}
		if got != want {
			t.Errorf("%s is %v, want %v", address, got, want)
		}
	}
}
