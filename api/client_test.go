package api

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/ingest"
	"github.com/motorpool/fleet/api/rest"
)

// Behind a proxy that was not named, or a router, everybody has one address.
func TestBadKeysBesideAGoodOneDoNotLockItOut(t *testing.T) {
	w := newWorld(t)
	w.do("GET", "/v1/vehicles", "").ok(200)
	for range 3 {
		w.clock.Add(int64(w.api.Config.Auth.CacheFor + time.Second)) // what is remembered of the key no longer stands
		stopped := false
		for range 2 * w.api.Config.Auth.Failures {
			stopped = w.do("GET", "/v1/vehicles", "", "Authorization",
				"Bearer "+auth.MakeKey().Token).status == http.StatusTooManyRequests
		}
		if !stopped {
			t.Fatal("nobody is stopped from guessing")
		}
		w.do("GET", "/v1/vehicles", "").ok(200)
	}
}

func TestPhonesReportBesideOneThatGuesses(t *testing.T) {
	w, _ := newIntake(t)
	id := w.device("phone-1")
	token := w.do("POST", "/v1/devices/"+id+"/osmand_token", "").ok(201).object()["token"].(string)
	report := func(id, token string) *reply {
		return w.do("GET", "/osmand?lat=1&lon=1&id="+id+"&token="+token, "", "Authorization", "")
	}
	report("phone-1", token).ok(200)
	for i := range 2 * ingest.OsmandFailsPerMin {
		report("nobody-"+string(rune('a'+i%26)), "x")
	}
	report("nobody", "x").problem(429, "rate_limited")
	w.clock.Add(int64(ingest.TrackerTime + time.Second))
	report("phone-1", token).ok(200)
}

func TestAProxyThatIsNotTrustedIsToldOfOnce(t *testing.T) {
	w := newWorld(t)
	for _, header := range []string{"X-Forwarded-For", "Forwarded", "X-Forwarded-For"} {
		w.do("GET", "/v1/vehicles", "", header, "for=192.0.2.1").ok(200)
	}
	if n := strings.Count(w.log.String(), "--trusted-proxies 127.0.0.1"); n != 1 {
		t.Errorf("told %d times what to set:\n%s", n, w.log)
	}
	for i := range 3 * rest.MaxStrangers {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.RemoteAddr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 51, byte(i >> 8), byte(i)}), 1).String()
		r.Header.Set("X-Forwarded-For", "192.0.2.1")
		w.api.ClientAddr(r)
	}
	if n := strings.Count(w.log.String(), "--trusted-proxies "); n > 2*rest.MaxStrangers {
		t.Errorf("%d peers fill the log", n)
	}
}

func TestTheClientIsTheLastAddressThatNoProxyOfOursHas(t *testing.T) {
	a := &rest.Server{Config: rest.Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"),
		netip.MustParsePrefix("127.0.0.1/32")}}}
	for _, test := range []struct {
		peer, want string
		forwarded  []string
	}{
		{"10.0.0.1:5", "10.0.0.1", nil},
		{"10.0.0.1:5", "192.0.2.1", []string{"192.0.2.1"}},
		{"10.0.0.1:5", "192.0.2.1", []string{"203.0.113.9, 192.0.2.1"}}, // made up by 192.0.2.1
		{"10.0.0.1:5", "192.0.2.1", []string{"203.0.113.9", "192.0.2.1, 10.0.0.7"}},
		{"10.0.0.1:5", "192.0.2.1", []string{"10.0.0.9, 192.0.2.1"}},
		{"10.0.0.1:5", "192.0.2.1", []string{"192.0.2.1:4711"}},
		{"10.0.0.1:5", "2001:db8::1", []string{"[2001:db8::1]:4711"}},
		{"[::ffff:10.0.0.1]:5", "192.0.2.1", []string{"::ffff:192.0.2.1"}},
		{"10.0.0.1:5", "10.0.0.1", []string{"192.0.2.1, unknown"}},
		{"10.0.0.1:5", "10.0.0.7", []string{"192.0.2.1, nonsense, 10.0.0.7"}},
	} {
		r := &http.Request{RemoteAddr: test.peer, Header: http.Header{"X-Forwarded-For": test.forwarded}}
		if got := a.ClientAddr(r).String(); got != test.want {
			t.Errorf("%s says %q: %s, want %s", test.peer, test.forwarded, got, test.want)
		}
	}
}
