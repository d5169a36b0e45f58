package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/account"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/stream"
	"github.com/motorpool/fleet/schemas/schematest"
)

// newLive is a world with a hub, which runs until stop is called or the test ends.
func newLive(t *testing.T, change ...func(*stream.Config)) (w *world, h *stream.Hub, stop func()) {
	t.Helper()
	return newLiveWith(t, func(*rest.Config, *Deps) {}, change...)
}

// newLiveWith is newLive with other dependencies.
func newLiveWith(t *testing.T, deps func(*rest.Config, *Deps),
	change ...func(*stream.Config)) (w *world, h *stream.Hub, stop func()) {
	t.Helper()
	cfg := stream.DefaultConfig()
	cfg.Gather = 5 * time.Millisecond
	for _, f := range change {
		f(&cfg)
	}
	db := schematest.Open(t)
	h, err := stream.NewHub(cfg, db, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	w = newWorld(t, func(_ *rest.Config, d *Deps) { d.DB, d.Stream = db, h }, deps)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return w, h, cancel
}

// told is a message of a stream.
type told struct{ id, event, data string }

func (m told) object() map[string]any {
	var v struct {
		Data struct{ Object map[string]any }
	}
	_ = json.Unmarshal([]byte(m.data), &v)
	return v.Data.Object
}

// listener reads a stream.
type listener struct {
	t        *testing.T
	header   http.Header
	messages chan told // closed at the end of the stream
	beats    chan struct{}
	hangUp   func()
}

func (w *world) listen(path string, headers ...string) *listener {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", w.url+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	l := &listener{t: w.t, header: res.Header, messages: make(chan told, 10_000), beats: make(chan struct{}, 100),
		hangUp: cancel}
	if res.StatusCode != 200 {
		text, _ := io.ReadAll(res.Body)
		w.t.Fatalf("status %d: %s", res.StatusCode, text)
	}
	go func() {
		defer close(l.messages)
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		var m told
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "id":
				m.id = value
			case "event":
				m.event = value
			case "data":
				m.data = value
			case ":":
				select {
				case l.beats <- struct{}{}:
				default:
				}
			case "":
				if m != (told{}) {
					l.messages <- m
				}
				m = told{}
			}
		}
	}()
	w.t.Cleanup(cancel)
	if first := l.next(); first.id == "" || first.event != "" {
		w.t.Fatalf("the stream begins with %+v", first)
	}
	return l
}

// next is the next message; the zero message if the stream ends.
func (l *listener) next() told {
	l.t.Helper()
	select {
	case m := <-l.messages:
		return m
	case <-time.After(30 * time.Second):
		l.t.Fatal("the stream says nothing")
	}
	return told{}
}

// news is the next message that is no mere heartbeat.
func (l *listener) news() told {
	l.t.Helper()
	for {
		if m := l.next(); m.event != "" || m == (told{}) {
			return m
		}
	}
}

func tripEvent(account fleet.AccountID, vehicle fleet.VehicleID, n uint64) fleet.Event {
	return fleet.Event{
		ID: 1000 + n, Type: fleet.EventTripEnded, Account: account, Vehicle: vehicle, At: noon, Kind: fleet.KindTrip,
		Object: 77, Revision: 3,
		Body: json.RawMessage(fmt.Sprintf(`{"start_ms":%d,"end_ms":%d,"open":false,"device":"9","start_place":{"lat":30.1,"lng":-97.1},"end_place":{"lat":30.2,"lng":-97.2},`+
			`"distance_m":16093.44,"unrecorded_m":0,"moving_ms":600000,"idle_ms":1500,"max_speed_mps":20,"mean_speed_mps":10,"fixes":60,"closed_reason":"stop"}`,
			noon-900_000, noon)),
	}
}

func speedingEvent(account fleet.AccountID, vehicle fleet.VehicleID, n uint64) fleet.Event {
	return fleet.Event{
		ID: 1000 + n, Type: fleet.EventAlertRaised, Account: account, Vehicle: vehicle, At: noon, Kind: fleet.KindAlert,
		Object: 78, Revision: 1, Late: true,
		Body: json.RawMessage(fmt.Sprintf(`{"start_ms":%d,"end_ms":%d,"open":true,"rule":"5","rule_revision":2,"alert_kind":"speeding","severity":"warning","value":40,"threshold":30,"geofence":"6"}`, noon, noon)),
	}
}

func liveChange(account fleet.AccountID, vehicle fleet.VehicleID, at fleet.Millis, lat, lng float64) *fleet.Change {
	speed := 10.0
	return &fleet.Change{Account: account, Vehicle: vehicle, From: at, To: at,
		Live: &fleet.Live{Device: 9, FixTime: at, ReceivedTime: at + 200, Lat: lat, Lng: lng, Speed: &speed}}
}

func TestTheStreamTellsEventsAndPositions(t *testing.T) {
	w, h, _ := newLive(t)
	car := w.vehicle(`{"make":"A","model":"B"}`)
	id := fleet.VehicleID(vehicleID(t, car))
	w.park(w.account, car, 30.5, -97.5)
	other := w.newAccount("Second")

	l := w.listen("/v1/stream", "Accept-Encoding", "gzip")
	wantEqual(t, "headers", fmt.Sprint(l.header["Content-Type"], l.header["Content-Encoding"], l.header["Cache-Control"]),
		"[text/event-stream] [] [private, no-store]")
	snapshot := l.news()
	wantEqual(t, "snapshot", fmt.Sprint(snapshot.id, " ", snapshot.event, " ", snapshot.object()["vehicle_id"], " ",
		snapshot.object()["lat"]), " vehicle.location.updated "+car+" 30.5")
	latest := w.do("GET", "/v1/positions/latest", "").data()[0]
	wantEqual(t, "snapshot as the list has it", fmt.Sprint(snapshot.object()), fmt.Sprint(latest))

	h.Event(1, tripEvent(other, id, 1))
	h.Event(2, tripEvent(w.account, id, 2))
	h.Event(3, speedingEvent(w.account, id, 3))
	h.Change(liveChange(other, id, noon+1000, 1, 1))
	trip, alert := l.news(), l.news()
	wantEqual(t, "trip", trip.id+" "+trip.event, "2 vehicle.trip.ended")
	wantEqual(t, "alert", alert.id+" "+alert.event, "3 alert.raised")
	ids := strings.NewReplacer(car, "veh_1", w.account.String(), "acc_1")
	golden(t, "stream_trip.json", append(indent(t, ids.Replace(trip.data)), '\n'))
	golden(t, "stream_alert.json", append(indent(t, ids.Replace(alert.data)), '\n'))
	h.Change(liveChange(w.account, id, noon+2000, 30.6, -97.6))
	moved := l.news()
	place := regexp.MustCompile(`evt_\d+`).ReplaceAllString(ids.Replace(moved.data), "evt_1")
	golden(t, "stream_position.json", append(indent(t, place), '\n'))
	if moved.id != "" {
		t.Errorf("a position has the id %s", moved.id)
	}

	metric := w.listen("/v1/stream?units=metric&positions=false&last_event_id=1")
	object := metric.news().object()
	wantEqual(t, "metric trip", fmt.Sprint(object["distance_km"], object["distance_mi"], object["max_speed_kmh"]),
		"16.093 <nil> 72")
	wantEqual(t, "metric alert", fmt.Sprint(metric.news().object()["value"]), "144")
	h.Change(liveChange(w.account, id, noon+3000, 30.6, -97.6))
	wantEqual(t, "speed", fmt.Sprint(l.news().object()["speed_mph"]), "22.4")
	h.Event(4, tripEvent(w.account, id, 4))
	wantEqual(t, "no positions", metric.news().id, "4")
}

func indent(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestAStreamTellsWhatItIsAskedFor(t *testing.T) {
	w, h, stop := newLive(t)
	streams := map[string]string{ // ids of what is told
		"types=alerts":                                "2 5",
		"types=vehicle.trip.*&vehicle_id=veh_1":       "1",
		"types=vehicle.trip.ended,alert.raised":       "1 2 3 4 5",
		"geofence_id=geo_6&vehicle_id=veh_3,veh_2":    "5",
		"types=location&positions=false":              "1 3 4",
		"vehicle_id=veh_99&types=vehicle.*":           "",
		"types=geofence.*,alert.resolved":             "",
		"positions=false":                             "1 2 3 4 5",
		"positions=false&vehicle_id=veh_1":            "1 2",
		"types=vehicle.location.updated&bbox=0,0,1,1": "",
	}
	listeners := map[string]*listener{}
	for query := range streams {
		listeners[query] = w.listen("/v1/stream?last_event_id=0&" + query)
	}
	for i, e := range []fleet.Event{
		tripEvent(w.account, 1, 1), speedingEvent(w.account, 1, 2), tripEvent(w.account, 2, 3), tripEvent(w.account, 3, 4),
		speedingEvent(w.account, 3, 5),
	} {
		h.Event(uint64(i+1), e)
	}
	h.Change(liveChange(w.account, 42, noon, 0.5, 0.5))
	for query, l := range listeners {
		var got []string
		for range strings.Fields(streams[query]) {
			m := l.news()
			for m.event == fleet.EventLocationUpdated {
				m = l.news()
			}
			got = append(got, m.id)
		}
		wantEqual(t, query, strings.Join(got, " "), streams[query])
	}
	if m := listeners["types=vehicle.location.updated&bbox=0,0,1,1"].news(); m.object()["vehicle_id"] != "veh_42" {
		t.Errorf("in the box: %+v", m)
	}
	refusals(t, w)
	stop()
	for query, l := range listeners {
		for m := l.news(); m != (told{}); m = l.news() {
			if m.event != fleet.EventLocationUpdated {
				t.Errorf("%s: told %+v, too", query, m)
			}
		}
	}
}

// refusals asks for streams by parameters that are no good.
func refusals(t *testing.T, w *world) {
	t.Helper()
	for query, path := range map[string]string{"types=nothing": "types", "types=trip.*": "types",
		"vehicle_id=car": "vehicle_id", "geofence_id=veh_1": "geofence_id",
		"bbox=1": "bbox", "min_interval_s=0": "min_interval_s", "positions=maybe": "positions",
		"last_event_id=x": "last_event_id", "from=2026-01-01T00:00:00Z": "from"} {
		p := w.do("GET", "/v1/stream?"+query, "").problem(400, "invalid_request")
		wantEqual(t, query, p.Errors[0].Pointer, path)
	}
}

func TestAStreamIsResumedWithoutAGap(t *testing.T) {
	w, h, _ := newLive(t, func(c *stream.Config) { c.Ring = 20 })
	const n = 500
	for i := range uint64(n) { // the first 480 have left the ring when the client comes back
		e := tripEvent(w.account, 1, i+1)
		h.Event(i+1, e)
		w.exec("INSERT INTO events (account, sequence, id, type, vehicle, at, noted_at, kind, object, revision, body) VALUES ($1, $2, $3, $4, $5, $6, now64(3), $7, $8, $9, $10)",
			uint64(e.Account), i+1, e.ID, e.Type, uint64(e.Vehicle), e.At.Time(), string(e.Kind), e.Object, e.Revision,
			string(e.Body))
	}
	l := w.listen("/v1/stream?positions=false", "Last-Event-ID", "3")
	go func() {
		for i := uint64(n); i < n+100; i++ {
			h.Event(i+1, tripEvent(w.account, 1, i+1))
		}
	}()
	for i := 4; i <= n; i++ {
		if m := l.news(); m.id != fmt.Sprint(i) {
			t.Fatalf("told %s after %d", m.id, i-1)
		}
	}
	// What comes now leaves the ring at once and is not in the table yet; it is told as soon as it is.
	w.exec(`INSERT INTO events SELECT account, sequence + 100, id, type, vehicle, at, noted_at, late, kind, object, revision, body FROM events WHERE sequence > 400`)
	for i := n + 1; i <= n+100; i++ {
		if m := l.news(); m.id != fmt.Sprint(i) {
			t.Fatalf("told %s after %d", m.id, i-1)
		}
	}
	l.hangUp()

	far := w.listen("/v1/stream?positions=false", "Last-Event-ID", "9000000")
	if m := far.news(); m.event != "reset" || m.id != fmt.Sprint(n+100) || !strings.Contains(m.data, `"expired"`) {
		t.Errorf("an id of another world is answered with %+v", m)
	}
	h.Event(n+101, tripEvent(w.account, 1, n+101))
	wantEqual(t, "after the reset", far.news().id, fmt.Sprint(n+101))
}

// Who comes back after long is told where others are and that the stream is alive before everything is caught up, and
// its credential is looked at meanwhile.
func TestAStreamBeatsWhileItCatchesUp(t *testing.T) {
	w, h, _ := newLive(t, func(c *stream.Config) { c.Heartbeat = c.Gather })
	const n = 8000
	for i := range uint64(n) {
		h.Event(i+1, tripEvent(w.account, 1, i+1))
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", w.url+"/v1/stream?positions=false", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	req.Header.Set("Last-Event-ID", "0")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	beats := 0
	for lines.Scan() && lines.Text() != fmt.Sprintf("id: %d", n) {
		if lines.Text() == ":" {
			beats++
		}
	}
	if beats == 0 || lines.Err() != nil {
		t.Errorf("%d heartbeats before the last of %d events: %v", beats, n, lines.Err())
	}
}

// After a reset the heartbeats go on to tell how far the client has come, also where its old id was higher.
func TestAResetClientIsToldHowFarItIs(t *testing.T) {
	w, h, _ := newLive(t, func(c *stream.Config) { c.Heartbeat = 20 * time.Millisecond })
	other := w.newAccount("Second")
	h.Event(1, tripEvent(other, 1, 1))
	l := w.listen("/v1/stream?positions=false", "Last-Event-ID", "9000000")
	if m := l.news(); m.event != "reset" || m.id != "1" {
		t.Fatalf("told %+v", m)
	}
	h.Event(2, tripEvent(other, 1, 2))
	if m := l.next(); m != (told{id: "2"}) {
		t.Errorf("told %+v", m)
	}
}

func TestAStalledClientHoldsNobodyUp(t *testing.T) {
	w, h, _ := newLive(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.(*net.TCPConn).SetReadBuffer(1024); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /v1/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", w.key)
	if _, err := conn.Read(make([]byte, 15)); err != nil { // it reads the status and no more
		t.Fatal(err)
	}
	l := w.listen("/v1/stream")
	const n = 5000 // 7 MB, more than the kernel holds for a connection
	for i := range uint64(n) {
		h.Event(i+1, tripEvent(w.account, 1, i+1))
	}
	for i := 1; i <= n; i++ {
		if m := l.news(); m.id != fmt.Sprint(i) {
			t.Fatalf("told %s after %d", m.id, i-1)
		}
	}
}

func TestAStreamEndsWithItsKeyAndItsProcess(t *testing.T) {
	w, _, stop := newLive(t, func(c *stream.Config) { c.Heartbeat = 20 * time.Millisecond; c.PerKey = 2 })
	l := w.listen("/v1/stream")
	for range 3 {
		select {
		case <-l.beats:
		case <-time.After(30 * time.Second):
			t.Fatal("no heartbeat")
		}
	}
	second := w.listen("/v1/stream")
	p := w.do("GET", "/v1/stream", "").problem(429, "rate_limited")
	if !strings.Contains(p.Detail, "streams") {
		t.Error(p.Detail)
	}
	w.do("GET", "/v1/stream", "", "Authorization", "Bearer "+w.newKey(w.account, auth.VehiclesWrite)).problem(403,
		"insufficient_scope")
	if r := w.do("HEAD", "/v1/event_types", ""); r.status != 200 {
		t.Errorf("HEAD: %d", r.status)
	}
	stop()
	for _, l := range []*listener{l, second} {
		if m := l.news(); m != (told{}) {
			t.Errorf("the stream of a stopped process says %+v", m)
		}
	}
	w.do("GET", "/v1/stream", "").problem(503, "unavailable")
}

func TestAStreamEndsWhenItsKeyIsRevoked(t *testing.T) {
	before := account.StreamAuth
	account.StreamAuth = 0
	t.Cleanup(func() { account.StreamAuth = before })
	w, _, _ := newLive(t, func(c *stream.Config) { c.Heartbeat = 20 * time.Millisecond })
	made := w.do("POST", "/v1/api_keys", `{"name":"screen","scopes":["telematics:read"]}`).ok(201).object()
	admin := w.key
	w.key = made["key"].(string)
	l := w.listen("/v1/stream")
	<-l.beats
	w.key = admin
	w.do("DELETE", "/v1/api_keys/"+made["id"].(string), "").ok(204)
	if m := l.news(); m.event != "reset" || !strings.Contains(m.data, `"credential"`) {
		t.Errorf("told %+v", m)
	}
	if m := l.news(); m != (told{}) {
		t.Errorf("and then %+v", m)
	}
}

// A filter is held against every event: however long types= is, it names each type once.
func TestTypesAreNamedOnce(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), "GET",
		"/v1/events?types=alerts,alert.raised,alert.*,"+strings.Repeat("alerts,", 1000), nil)
	if err != nil {
		t.Fatal(err)
	}
	r = r.WithContext(auth.With(r.Context(), &auth.Principal{Scopes: []auth.Scope{auth.TelematicsRead}}))
	wanted, err := newWorld(t).api.account.TypesParam(r)
	if err != nil || len(wanted) == 0 || len(slices.Compact(slices.Sorted(slices.Values(wanted)))) != len(wanted) {
		t.Errorf("%v, %v", wanted, err)
	}
}

func TestTheFeedOfEvents(t *testing.T) {
	w, h, _ := newLive(t)
	types := w.do("GET", "/v1/event_types", "").data()
	if len(types) != 1+len(fleet.EventTypes) || types[0]["stream_only"] != true || types[1]["category"] != "location" {
		t.Errorf("types are %v", types)
	}
	read := func(query string) (ids []string, next string, total int) {
		t.Helper()
		r := w.do("GET", "/v1/events?"+query, "")
		for _, e := range r.data() {
			ids = append(ids, fmt.Sprint(e["sequence"]))
		}
		p := r.pagination()
		return ids, p.NextCursor, p.Total
	}
	ids, next, _ := read("")
	if len(ids) != 0 || next == "" {
		t.Fatalf("an empty feed has %v and goes on at %q", ids, next)
	}
	other := w.newAccount("Second")
	for i := range uint64(10) {
		e := tripEvent(w.account, fleet.VehicleID(1+i%2), i+1)
		if i == 4 {
			e.Account = other
		}
		h.Event(i+1, e)
	}
	h.Event(11, speedingEvent(w.account, 1, 11))
	ids, after, total := read("cursor=" + next)
	wantEqual(t, "all", fmt.Sprint(ids, total), "[1 2 3 4 6 7 8 9 10 11] 10")
	var seen []string
	for range 5 {
		ids, next, _ = read("per_page=3&cursor=" + next)
		seen = append(seen, ids...)
	}
	wantEqual(t, "page by page", fmt.Sprint(seen), "[1 2 3 4 6 7 8 9 10 11]")
	ids, next, _ = read("types=alert.*&cursor=" + after)
	wantEqual(t, "nothing new", fmt.Sprint(ids), "[]")

	// A waiting poller is answered as soon as there is something for it.
	began := time.Now()
	go func() {
		for i := uint64(12); i < 40; i++ {
			h.Event(i, tripEvent(w.account, 1, i))
		}
		h.Event(40, speedingEvent(w.account, 2, 40))
	}()
	for len(ids) == 0 {
		ids, next, _ = read("wait_s=30&types=alerts&cursor=" + next)
	}
	if wantEqual(t, "waited for", fmt.Sprint(ids), "[40]"); time.Since(began) > 25*time.Second {
		t.Error("the answer came when the time was over")
	}
	first := w.do("GET", "/v1/events?units=metric&per_page=1&from=2026-01-01T00:00:00Z", "").data()
	wantEqual(t, "metric",
		fmt.Sprint(first[0]["data"].(map[string]any)["object"].(map[string]any)["distance_km"]), "16.093")
	for query, pointer := range map[string]string{"cursor=x": "cursor", "types=x": "types", "wait_s=31": "wait_s",
		"wait_s=0": "wait_s", "per_page=1001": "per_page"} {
		p := w.do("GET", "/v1/events?"+query, "").problem(400, "invalid_request")
		wantEqual(t, query, p.Errors[0].Pointer, pointer)
	}
	if p := w.do("GET", "/v1/events?wait_s=0", "").problem(400, "invalid_request"); !strings.Contains(p.Detail,
		"between 1 and 30") {
		t.Error(p.Detail)
	}
	if !slices.ContainsFunc(types, func(v map[string]any) bool {
		return v["type"] == "alert.raised" && v["category"] == "alerts"
	}) {
		t.Error("alert.raised is no alert")
	}
}
