package geocode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/uber/h3-go/v4"

	"github.com/motorpool/fleet/api/outbound"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

// server stands for a geocoding server somewhere in the world.
func server(t *testing.T, answer http.HandlerFunc) Config {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	cfg := DefaultConfig()
	cfg.Provider, cfg.URL, cfg.Private, cfg.PerSecond = Nominatim, s.URL+"/geo/", true, 1e6
	return cfg
}

func online(t *testing.T, cfg Config) *Online {
	t.Helper()
	o, err := NewOnline(cfg, gazetteer(t), schematest.Open(t), slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

const austin = "Austin, Texas, US"

func TestServerIsAskedOnceForACellAndSaved(t *testing.T) {
	var asked []string
	cfg := server(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path+"?"+r.URL.RawQuery+" "+r.UserAgent()+" "+r.Header.Get("Accept-Language"))
		fmt.Fprint(w, `{"display_name":"1100, Congress Avenue,  Austin,\nTexas"}`)
	})
	o := online(t, cfg)
	// Two positions of one cell, before the server has said anything.
	for range 2 {
		if got := o.Address(30.2747, -97.7404); got != austin {
			t.Errorf("at once: %q", got)
		}
	}
	o.lookUp(t.Context())
	if err := o.ask(t.Context()); err != nil || o.toAsk() != 0 {
		t.Fatalf("%v, %d left", err, o.toAsk())
	}
	const want = "1100, Congress Avenue, Austin, Texas"
	if got := o.Address(30.27471, -97.74041); got != want {
		t.Errorf("then: %q", got)
	}
	if len(o.fresh) != 0 {
		t.Error("noted though known")
	}
	if len(asked) != 1 ||
		asked[0] != "/geo/reverse?addressdetails=0&format=jsonv2&lat=30.274793&lon=-97.740506&zoom=18 motorpool en" {
		t.Errorf("asked %q", asked)
	}
	o.save(t.Context())

	// Another process finds it in the table.
	other, err := NewOnline(cfg, o.offline, o.db, o.log)
	if err != nil {
		t.Fatal(err)
	}
	other.Address(30.2747, -97.7404)
	other.lookUp(t.Context())
	if got := other.Address(30.2747, -97.7404); got != want || other.toAsk() != 0 {
		t.Errorf("from the table: %q, %d to ask", got, other.toAsk())
	}
}

func TestPhoton(t *testing.T) {
	var query string
	cfg := server(t, func(w http.ResponseWriter, r *http.Request) {
		query = r.URL.RawQuery
		fmt.Fprint(w,
			`{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[7.6,51.9]},
			"properties":{"housenumber":"10","street":"Prinzipalmarkt","postcode":"48143","city":"Münster","state":"Nordrhein-Westfalen","country":"Deutschland"}}]}`)
	})
	cfg.Provider = Photon
	o := online(t, cfg)
	o.Address(51.9626, 7.6282)
	o.lookUp(t.Context())
	if err := o.ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := o.Address(51.9626, 7.6282); got != "Prinzipalmarkt 10, 48143 Münster, Nordrhein-Westfalen, Deutschland" {
		t.Errorf("address %q", got)
	}
	if !strings.Contains(query, "limit=1") || strings.Contains(query, "format") {
		t.Errorf("query %q", query)
	}
}

func TestNoAddressIsRememberedAndTheGazetteerAnswers(t *testing.T) {
	for provider, body := range map[string]string{Nominatim: `{"error":"Unable to geocode"}`,
		Photon: `{"type":"FeatureCollection","features":[]}`} {
		cfg := server(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, body) })
		cfg.Provider = provider
		o := online(t, cfg)
		o.Address(30.2747, -97.7404)
		o.lookUp(t.Context())
		if err := o.ask(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := o.Address(30.2747, -97.7404); got != austin || len(o.fresh) != 0 {
			t.Errorf("%s: %q, noted %d", provider, got, len(o.fresh))
		}
	}
}

func TestFailuresAreErrorsAndTheGazetteerAnswers(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"display_name":"stolen"}`)
	}))
	defer elsewhere.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"500":      func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"429":      func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
		"no JSON":  func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>") },
		"empty":    func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "{}") },
		"redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
		"huge": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"display_name":%q}`, strings.Repeat("x", 2*maxAnswer))
		},
		"cut short": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"display_name":"x`)
			panic(http.ErrAbortHandler)
		},
		"wrong type": func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"display_name":7}`) },
	} {
		for _, provider := range []string{Nominatim, Photon} {
			cfg := server(t, answer)
			cfg.Provider = provider
			o, err := NewOnline(cfg, gazetteer(t), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			o.Address(30.2747, -97.7404)
			o.asked, o.fresh = o.fresh, nil
			if err := o.ask(t.Context()); err == nil {
				t.Errorf("%s, %s: no error", name, provider)
			}
			if got := o.Address(30.2747, -97.7404); got != austin {
				t.Errorf("%s, %s: %q", name, provider, got)
			}
			if len(o.fresh) != 1 {
				t.Errorf("%s, %s: not noted again", name, provider)
			}
		}
	}
}

func TestServersInsideAreRefusedUnlessTheSettingsSaySo(t *testing.T) {
	hit := false
	cfg := server(t, func(w http.ResponseWriter, r *http.Request) { hit = true; fmt.Fprint(w, `{"display_name":"x"}`) })
	cfg.Private = false
	for _, host := range []string{cfg.URL, strings.Replace(cfg.URL, "127.0.0.1", "localhost", 1)} {
		cfg.URL = host
		c, err := newClient(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.reverse(t.Context(), 1, 1); !errors.Is(err, outbound.ErrForbidden) || hit {
			t.Errorf("%s: %v, reached %v", host, err, hit)
		}
	}
	cfg.Networks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	cfg.URL = strings.Replace(cfg.URL, "localhost", "127.0.0.1", 1)
	c, err := newClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if address, err := c.reverse(t.Context(), 1, 1); address != "x" || err != nil {
		t.Errorf("named network: %q, %v", address, err)
	}
}

func TestRunAsksNewestFirstAndStops(t *testing.T) {
	var requests atomic.Int32
	second := make(chan struct{})
	cfg := server(t, func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 2 {
			close(second)
			<-r.Context().Done() // never answers
			return
		}
		fmt.Fprintf(w, `{"display_name":"lat %s"}`, r.URL.Query().Get("lat")[:2])
	})
	o := online(t, cfg)
	o.Address(30.2747, -97.7404)
	o.Address(51.9626, 7.6282)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- o.Run(ctx) }()
	<-second // so the first answer has been worked off
	if got := o.Address(51.9626, 7.6282); got != "lat 51" {
		t.Errorf("newest: %q", got)
	}
	if got := o.Address(30.2747, -97.7404); got != austin {
		t.Errorf("while the server hangs: %q", got)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	found, err := load(t.Context(), o.db, Nominatim, []h3.Cell{cellOf(t, 51.9626, 7.6282)})
	if err != nil || len(found) != 1 {
		t.Errorf("saved when stopped: %v, %v", found, err)
	}
}

func cellOf(t *testing.T, lat, lng float64) h3.Cell {
	t.Helper()
	cell, err := h3.LatLngToCell(h3.LatLng{Lat: lat, Lng: lng}, cellResolution)
	if err != nil {
		t.Fatal(err)
	}
	return cell
}

func TestMemoryAndQueueAreBounded(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Provider, cfg.URL, cfg.Waiting, cfg.Remember = Nominatim, "https://geocoder.invalid", 10, 20
	o, err := NewOnline(cfg, gazetteer(t), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		o.Address(30+float64(i)/100, -97)
	}
	if len(o.fresh) != 10 || len(o.wants) != 10 {
		t.Errorf("%d noted, %d wanted", len(o.fresh), len(o.wants))
	}
	for i := range 100 {
		o.learn(h3.Cell(i), "x")
		if _, ok := o.known.get(0); !ok {
			t.Fatalf("what is used is forgotten after %d", i)
		}
	}
	if n := len(o.known.newer) + len(o.known.older); n > 20 {
		t.Errorf("%d remembered", n)
	}
}

func TestValidate(t *testing.T) {
	if err := DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*Config){
		"provider": func(c *Config) { c.Provider = "google" },
		"no url":   func(c *Config) { c.URL = "" },
		"file url": func(c *Config) { c.URL = "file:///etc/passwd" },
		"query":    func(c *Config) { c.URL = "https://a.example/?x=1" },
		"rate":     func(c *Config) { c.PerSecond = 0 },
		"timeout":  func(c *Config) { c.Timeout = 0 },
	} {
		cfg := DefaultConfig()
		cfg.Provider, cfg.URL = Photon, "https://geocoder.example/photon"
		if err := cfg.Validate(); err != nil {
			t.Error(err)
		}
		spoil(&cfg)
		if cfg.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
