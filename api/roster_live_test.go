package api

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/roster"
	"github.com/motorpool/fleet/schemas/schematest"
)

// besideMemory are two interfaces on one store and with one clock, that stands still: the first answers from memory,
// the second has none.
func besideMemory(t *testing.T) (memory, store *world, from *prometheus.Registry, clock *atomic.Int64) {
	t.Helper()
	db := schematest.Open(t)
	from, clock = prometheus.NewRegistry(), &atomic.Int64{}
	clock.Store(time.Now().UnixMilli())
	now := func() time.Time { return time.UnixMilli(clock.Load()).UTC() }
	cfg := roster.DefaultConfig()
	cfg.Lag, cfg.Every, cfg.Wait = 1, 1, 30*time.Second
	kept, err := roster.New(cfg, db, from, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	memory = newWorld(t, func(_ *rest.Config, d *Deps) { d.DB, d.Roster, d.Now = db, kept, now })
	other := *memory
	deps := Deps{Deps: rest.Deps{DB: db, IDs: fleet.NewIDSource(2, time.Now), Log: memory.api.Log, Now: now,
		Geocoder: memory.api.Geocoder}}
	if other.api, err = New(memory.api.Config, deps); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(other.api.Handler())
	t.Cleanup(server.Close)
	other.url = server.URL
	return memory, &other, from, clock
}

// liveWriter brings what pipelines and people do to vehicles, at random.
type liveWriter struct {
	*world
	random            *rand.Rand
	now               func() time.Time
	vehicles, devices []string
	others            []string // of another account
	other             fleet.AccountID
	otherKey          string
	issues            []string
	n                 uint64
	did               string
	tried             map[string]int
}

// try sends a request that may be refused, as it happens to stand.
func (w *liveWriter) try(method, path, body string) *reply {
	r := w.do(method, path, body)
	if w.tried[w.did+" "+fmt.Sprint(r.status)]++; r.status >= 500 || r.status == 404 || r.status == 400 {
		w.t.Errorf("%s %s %s: %d %s", method, path, body, r.status, r.body)
	}
	return r
}

// act does one thing.
func (w *liveWriter) act() {
	account, car := w.account, w.vehicles[w.random.IntN(len(w.vehicles))]
	if w.random.IntN(5) == 0 {
		account, car = w.other, w.others[w.random.IntN(len(w.others))]
	}
	now := w.now()
	near := func() time.Time { return now.Add(time.Duration(w.random.IntN(120)-110) * time.Minute) }
	w.n++
	args := []any{clickhouse.Named("a", uint64(account)), clickhouse.Named("v", vehicleID(w.t, car)),
		clickhouse.Named("n", w.n), clickhouse.Named("t", near().UnixMilli()), clickhouse.Named("x", w.random.Float64())}
	insert := func(what, values string) { w.exec("INSERT INTO "+what+" SELECT "+values, args...) }
	at := "fromUnixTimestamp64Milli({t:Int64}, 'UTC')"
	device := w.devices[w.random.IntN(len(w.devices))]
	mine := account == w.account
	switch w.did = fmt.Sprint(w.random.IntN(17)); w.did {
	case "0", "1":
		insert(`vehicle_state (account, vehicle, version, device, fix_time, device_time, received_at, lat7, lng7, speed_cms,
			ignition, motion, cell)`, `{a:UInt64}, {v:UInt64}, {n:UInt64}, 7, `+at+` AS f, f, f,
			toInt32(302671500 + {x:Float64} * 1e6), toInt32(-977430600 + {x:Float64} * 1e6), toUInt16({x:Float64} * 3000),
			'on', 'moving', 617700169958293503`)
	case "2":
		insert("vehicle_mileage (account, vehicle, time, raw_m, base_m)",
			"{a:UInt64}, {v:UInt64}, "+at+", toUInt32(1e6 + {n:UInt64} * 20000), 0")
	case "3":
		insert("telemetry_latest (account, vehicle, signal, time, value)", "{a:UInt64}, {v:UInt64}, ['soc_pct', "+
			"'fuel_level_pct', 'range_m', 'engine_hours_s'][{n:UInt64} % 4 + 1], "+at+", 5 + {x:Float64} * 90")
	case "4", "5":
		if mine {
			last := near()
			w.hear(device, car, last.Add(-time.Duration(w.random.IntN(5))*time.Hour), last,
				time.Duration(1+w.random.IntN(50))*time.Minute)
		}
	case "6":
		if mine {
			start := near()
			w.drove(car, int(w.n%5), int(w.n), start, start.Add(time.Duration(w.random.IntN(60))*time.Minute),
				5+30*w.random.Float64(), w.random.Float64())
		}
	case "7":
		if mine {
			w.try("POST", "/v1/vehicles/"+car+"/meter_readings", fmt.Sprintf(
				`{"kind":"odometer_mi","value":%d,"recorded_at":%q}`, 1000+w.n*20, near().Format(time.RFC3339)))
		}
	case "8", "9":
		if mine {
			from := now.Add(time.Duration(w.random.IntN(3000)-60) * time.Minute)
			w.try("POST", "/v1/vehicles/"+car+"/blocks", fmt.Sprintf(`{"kind":"other","reason":"x","from":%q,"until":%q}`,
				from.Format(time.RFC3339), from.Add(time.Duration(5+w.random.IntN(300))*time.Minute).Format(time.RFC3339)))
		}
	case "10":
		if mine {
			w.try("POST", "/v1/devices/"+device+"/assign", `{"vehicle_id":"`+car+`"}`)
		}
	case "11":
		if mine {
			w.try("POST", "/v1/devices/"+device+"/unassign", `{}`)
		}
	case "12":
		if mine && len(w.issues) < 4 {
			r := w.try("POST", "/v1/maintenance/issues", fmt.Sprintf(
				`{"vehicle_id":%q,"severity":"safety_critical","description":"Brakes"}`, car))
			if r.status == 201 {
				w.issues = append(w.issues, r.id())
			}
		} else if len(w.issues) > 0 {
			w.try("POST", "/v1/maintenance/issues/"+w.issues[0]+"/resolve", `{"resolution":"new pads"}`)
			w.issues = w.issues[1:]
		}
	case "13":
		zones := []string{"America/Chicago", "Asia/Tokyo", "Pacific/Auckland"}
		w.try("PATCH", "/v1/account", fmt.Sprintf(`{"timezone":%q}`, zones[w.random.IntN(len(zones))]))
	case "14":
		if mine {
			w.try("PATCH", "/v1/vehicles/"+car, fmt.Sprintf(`{"nickname":"n%d","in_service_on":%q}`, w.n,
				now.AddDate(0, 0, w.random.IntN(3)-2).Format(time.DateOnly)))
		}
	case "15":
		w.exec([]string{"OPTIMIZE TABLE vehicle_state FINAL", "OPTIMIZE TABLE heard FINAL", "OPTIMIZE TABLE calendars FINAL",
			"ALTER TABLE vehicle_state DELETE WHERE account = {a:UInt64} AND vehicle = {v:UInt64} SETTINGS mutations_sync = 1",
			"ALTER TABLE telemetry_latest DELETE WHERE account = {a:UInt64} SETTINGS mutations_sync = 1",
		}[w.random.IntN(5)], args...)
	case "16":
		if mine {
			id := w.vehicle(`{"make":"A","model":"B","in_service_on":"2025-01-01"}`)
			w.vehicles = append(w.vehicles, id)
			if len(w.vehicles) > 12 {
				w.try("DELETE", "/v1/vehicles/"+w.vehicles[1], "")
			}
		}
	}
}

// Whatever is done to vehicles, by people and by pipelines, and however time goes on: what memory says of them, with
// their live state, is what the store says, to the byte and the entity tag.
func TestWhatIsKnownOfVehiclesIsTheSameFromMemoryAndFromTheStore(t *testing.T) {
	memory, store, registry, clock := besideMemory(t)
	w := &liveWriter{world: store, tried: map[string]int{}, random: rand.New(rand.NewPCG(42, 7)),
		now: func() time.Time { return time.UnixMilli(clock.Load()).UTC() }}
	w.other = w.newAccount("Second")
	w.otherKey = w.newKey(w.other, auth.Admin)
	for n := range 8 {
		w.vehicles = append(w.vehicles, w.vehicle(fmt.Sprintf(`{"make":"M%d","model":"B"}`, n%3)))
	}
	for n := range 3 {
		w.devices = append(w.devices, w.tracker(fmt.Sprint("u", n), w.vehicles[n]))
	}
	for range 3 {
		w.others = append(w.others, w.do("POST", "/v1/vehicles", `{"make":"A","model":"B"}`, "Authorization",
			"Bearer "+w.otherKey).ok(201).id())
	}
	same := func(path, key string) {
		t.Helper()
		got := memory.do("GET", path, "", "Authorization", "Bearer "+key)
		want := store.do("GET", path, "", "Authorization", "Bearer "+key)
		if want.status == 200 && string(got.body) != string(want.body) || got.header.Get("ETag") != want.header.Get("ETag") ||
			got.status != want.status {
			t.Errorf("after %s: GET %s\nmemory %d %s %s\nstore  %d %s %s", w.did, path, got.status, got.header.Get("ETag"),
				got.body, want.status, want.header.Get("ETag"), want.body)
		}
	}
	pages := []string{"/v1/vehicles", "/v1/vehicles?per_page=3&sort=-make,id", "/v1/vehicles?make=M1&expand=devices",
		"/v1/vehicles?units=metric", "/v1/vehicles?fields=make,location,is_rentable,current_mileage_mi&units=metric",
		"/v1/vehicles?per_page=2&page=2&sort=status", "/v1/vehicles?q=m2", "/v1/vehicles?status=available&sort=-updated_at"}
	places := []string{"/v1/positions/latest", "/v1/positions/latest?per_page=2", "/v1/positions/latest?per_page=2&page=2",
		"/v1/positions/latest?bbox=-97.72,30.28,-97.6,30.33", "/v1/positions/latest?format=geojson",
		"/v1/positions/latest?near=30.3,-97.7&radius_m=4000"}
	for range roundsOfVehicles {
		for range 1 + w.random.IntN(2) {
			w.act()
		}
		if w.random.IntN(3) == 0 {
			clock.Add(int64(w.random.IntN(1 << w.random.IntN(24)))) // up to a few hours
		}
		same(pages[w.random.IntN(len(pages))], w.key)
		same(places[w.random.IntN(len(places))], w.key)
		same("/v1/vehicles/"+w.vehicles[w.random.IntN(len(w.vehicles))], w.key)
		same("/v1/vehicles/"+w.vehicles[w.random.IntN(len(w.vehicles))]+[]string{"?units=metric",
			"?fields=online,status_until"}[w.random.IntN(2)], w.key)
		same("/v1/positions/latest?vehicle_id="+w.vehicles[0]+","+w.others[0], w.key)
		same([]string{"/v1/vehicles", "/v1/positions/latest"}[w.random.IntN(2)], w.otherKey)
		same("/v1/vehicles/"+w.others[0], w.key) // which it does not have
		if t.Failed() {
			return
		}
	}
	text := strings.Builder{}
	kept, ready := 0.0, 0.0
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		told := map[string]*float64{"motorpool_roster_facts_total": &kept,
			"motorpool_roster_pieces_total": &ready}[family.GetName()]
		if told == nil {
			continue
		}
		for _, m := range family.GetMetric() {
			fmt.Fprintf(&text, "%s %s %v, ", family.GetName(), m.GetLabel()[0].GetValue(), m.GetCounter().GetValue())
			if m.GetLabel()[0].GetValue() == "memory" {
				*told = m.GetCounter().GetValue()
			}
		}
	}
	if t.Log(text.String(), w.tried); kept < 100 || ready < 50 {
		t.Errorf("memory told %v facts, and %v vehicles were ready: that tells little", kept, ready)
	}
}
