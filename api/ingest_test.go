package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/segmentio/kafka-go"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/ingest"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/topic"
)

// feed puts reports on a real broker as the binary does, and reads them back.
type feed struct {
	*topic.Feed
	t       *testing.T
	readers map[string]*kafka.Reader
}

func (f *feed) Publish(ctx context.Context, account fleet.AccountID, to string, reports []fleet.Report) error {
	return f.Feed.Publish(ctx, to, reports, topic.HeaderOf(account))
}

func (f *feed) ReadRecord(format string, record []byte) ([]fleet.Report, error) {
	return codec.NewDecoder().Decode(codec.Format(format), record, nil)
}

// next reads the next record of a topic.
func (f *feed) next(topic string) kafka.Message {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 30*time.Second)
	defer cancel()
	m, err := f.readers[topic].ReadMessage(ctx)
	if err != nil {
		f.t.Fatal(err)
	}
	return m
}

// report reads the next report of a topic.
func (f *feed) report(topic string) fleet.Report {
	f.t.Helper()
	m := f.next(topic)
	reports, err := codec.NewDecoder().Decode(codec.JSON, m.Value, nil)
	if err != nil || len(reports) != 1 || string(m.Key) != reports[0].UniqueID {
		f.t.Fatalf("record %s with key %s: %v", m.Value, m.Key, err)
	}
	return reports[0]
}

// newIntake is a world with a broker.
func newIntake(t *testing.T, change ...func(*rest.Config, *Deps)) (*world, *feed) {
	t.Helper()
	cfg := topic.DefaultConfig()
	cfg.Brokers, cfg.Partitions = []string{embeddedtest.Broker(t)}, 1
	if _, err := topic.Ensure(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	sender, err := topic.NewFeed(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sender.Close() })
	f := &feed{Feed: sender, t: t, readers: map[string]*kafka.Reader{}}
	for _, name := range []string{cfg.Positions, cfg.Telemetry} {
		r := kafka.NewReader(kafka.ReaderConfig{Brokers: cfg.Brokers, Topic: name, Partition: 0,
			MaxWait: 50 * time.Millisecond})
		t.Cleanup(func() { r.Close() })
		f.readers[name] = r
	}
	return newWorld(t, append(change, func(_ *rest.Config, d *Deps) { d.Publisher, d.Reader = f, f })...), f
}

func (w *world) device(uniqueID string) string {
	w.t.Helper()
	return w.do("POST", "/v1/devices", fmt.Sprintf(`{"unique_id":%q}`, uniqueID)).ok(201).id()
}

func TestPositionsAreTakenInItemByItem(t *testing.T) {
	w, f := newIntake(t)
	id := w.device("imei-1")
	first := w.key
	w.key = w.newKey(w.newAccount("Second"), auth.Admin)
	stranger := w.device("imei-2")
	w.key = first
	w.do("DELETE", "/v1/devices/"+w.device("imei-3"), "").ok(204)

	batch := []struct{ item, code string }{
		{`{"device_id":"` + id + `","fix_at":"2026-01-31T12:00:00.5Z","device_at":1769860801000,"lat":30.26715,"lng":-97.74306,"altitude_m":150,"speed_mph":30,` +
			`"course_deg":90,"accuracy_m":4,"satellites":9,"ignition":true,"motion":false,"odometer_mi":1000,"valid":false,"approximate":true,"mock":true,` +
			`"alarm":"hardBraking","signals":{"soc_pct":87.5,"charging":true}}`, ""},
		{`{"unique_id":"imei-1","fix_at":1769860810000,"lat":-90,"lng":180,"speed_kmh":36,"odometer_km":2}`, ""},
		{`{"unique_id":"imei-1","device_id":"` + id +
			`","fix_at":"2026-01-31T13:00:20+01:00","lat":0,"lng":5,"speed_mps":10,"odometer_m":2000}`, ""},
		{`{"unique_id":"imei-2","fix_at":1769860810000,"lat":1,"lng":1}`, "not_found"},
		{`{"unique_id":"imei-3","fix_at":1769860810000,"lat":1,"lng":1}`, "not_found"},
		{`{"device_id":"` + stranger + `","fix_at":1769860810000,"lat":1,"lng":1}`, "not_found"},
		{`{"device_id":"` + id + `","unique_id":"imei-2","fix_at":1769860810000,"lat":1,"lng":1}`, "not_found"},
		{`{"device_id":"veh_1","fix_at":1769860810000,"lat":1,"lng":1}`, "not_found"},
		{`{"fix_at":1769860810000,"lat":1,"lng":1}`, "required"},
		{`{"unique_id":"imei-1","lat":1,"lng":1}`, "missing_time"},
		{`{"unique_id":"imei-1","fix_at":null,"lat":1,"lng":1}`, "missing_time"},
		{`{"unique_id":"imei-1","fix_at":"1970-01-01T00:00:00Z","lat":1,"lng":1}`, "implausible_time"},
		{`{"unique_id":"imei-1","fix_at":0,"lat":1,"lng":1}`, "implausible_time"},
		{`{"unique_id":"imei-1","fix_at":"1999-08-21T23:59:59z","lat":1,"lng":1}`, "implausible_time"},
		{`{"unique_id":"imei-1","fix_at":"2026-01-31 12:00:00","lat":1,"lng":1}`, "invalid"},
		{`{"unique_id":"imei-1","fix_at":1.5,"lat":1,"lng":1}`, "invalid"},
		{`{"unique_id":"imei-1","fix_at":{},"lat":1,"lng":1}`, "invalid"},
		{`{"unique_id":"imei-1","fix_at":1769860810000,"lat":1}`, "missing_coordinates"},
		{`{"unique_id":"imei-1","fix_at":1769860810000,"lat":91,"lng":1}`, "bad_coordinates"},
		{`{"unique_id":"imei-1","fix_at":1769860810000,"lat":1,"lng":-180.1}`, "bad_coordinates"},
		{`{"unique_id":"imei-1","fix_at":1769860810000,"lat":0,"lng":0}`, "zero_coordinates"},
		{`{"unique_id":"imei-1","fix_at":1769860810000,"lat":"1","lng":1}`, "type"},
		{`{"unique_id":"imei-1","fix_at":1769860810000,"lat":1e999,"lng":1}`, "type"},
		{`{"unique_id":"imei-1","fix_at":1769860810000,"lat":1,"lng":1,"speed_mph":1,"speed_kmh":1}`, "ambiguous"},
		{`{"unique_id":"imei-1","fix_at":1769860810000,"lat":1,"lng":1,"speed_kph":1}`, "unknown_field"},
		{`{"unique_id":"imei-1","fix_at":1769860810000,"lat":1,"lng":1,"signals":{"speed":1}}`, "unknown_signal"},
		{`{"unique_id":"imei-1","fix_at":1769860810000,"lat":1,"lng":1,"signals":{"soc_pct":101}}`, "out_of_range"},
		{`{"unique_id":"imei-1","fix_at":1769860810000,"lat":1,"lng":1,"signals":{"soc_pct":"x"}}`, "type"},
		{`7`, "type"},
		{`null`, "required"},
	}
	var items []string
	for _, b := range batch {
		items = append(items, b.item)
	}
	list := "[" + strings.Join(items, ",\n") + "]"
	reply := w.do("POST", "/v1/positions", list).ok(202).object()
	for i, v := range reply["data"].([]any) {
		result := v.(map[string]any)
		status := "accepted"
		if batch[i].code != "" {
			status = "rejected"
		}
		if code, _ := result["code"].(string); result["index"] != float64(i) || result["status"] != status ||
			code != batch[i].code || status == "rejected" && result["detail"] == "" {
			t.Errorf("%s: %v, want %s %s", batch[i].item, result, status, batch[i].code)
		}
	}
	if reply["accepted"] != 3.0 || reply["rejected"] != float64(len(batch)-3) {
		t.Errorf("%v accepted, %v rejected", reply["accepted"], reply["rejected"])
	}

	want := fleet.NewReport()
	want.UniqueID, want.Positioned = "imei-1", true
	want.FixTime, want.DeviceTime = noon+500, noon+1000
	want.Lat, want.Lng, want.Altitude, want.Course, want.Accuracy, want.Satellites = 30.26715, -97.74306, 150, 90, 4, 9
	want.Ignition, want.Motion, want.Invalid, want.Approximate, want.Mock, want.Alarm =
		fleet.Yes, fleet.No, true, true, true, "hardBraking"
	got := f.report("positions")
	if math.Abs(got.Speed-13.4112) > 1e-9 || math.Abs(got.Odometer-1609344) > 1e-6 || len(got.Signals) != 2 {
		t.Errorf("speed %v, odometer %v, signals %v", got.Speed, got.Odometer, got.Signals)
	}
	got.Speed, got.Odometer, got.Signals = want.Speed, want.Odometer, nil
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("first:\ngot  %+v\nwant %+v", got, want)
	}
	for i := range 2 {
		if got := f.report("positions"); math.Abs(got.Speed-10) > 1e-9 || math.Abs(got.Odometer-2000) > 1e-9 ||
			got.FixTime != noon+10_000+fleet.Millis(i)*10_000 {
			t.Errorf("report %d: %+v", i+1, got)
		}
	}

	// One object, an envelope, gzip.
	one := `{"unique_id":"imei-1","fix_at":1769860830000,"lat":1,"lng":1}`
	w.do("POST", "/v1/positions", one).ok(202)
	w.do("POST", "/api/v1/positions", `{"data":[`+one+`]}`).ok(202)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(one))
	z.Close()
	w.do("POST", "/v1/positions", packed.String(), "Content-Encoding", "gzip").ok(202)
	for range 3 {
		if got := f.report("positions"); got.FixTime != noon+30_000 {
			t.Errorf("report %+v", got)
		}
	}
}

// What is remembered of trackers is that of an account, and forgotten when the tracker is written: it is told by
// another name, or gone, from the next report on.
func TestATrackerThatIsWrittenIsLookedUpAgain(t *testing.T) {
	w, f := newIntake(t)
	id := w.device("imei-1")
	send := func(name string) *reply {
		t.Helper()
		return w.do("POST", "/v1/positions", `{`+name+`,"fix_at":1769860810000,"lat":1,"lng":1}`)
	}
	for range 2 {
		send(`"unique_id":"imei-1"`).ok(202)
		send(`"device_id":"` + id + `"`).ok(202)
		f.report(ingest.PositionsTopic)
		f.report(ingest.PositionsTopic)
	}
	mine := w.key
	w.key = w.newKey(w.newAccount("Second"), auth.Admin)
	send(`"unique_id":"imei-1"`).problem(422, "validation_failed")
	send(`"device_id":"`+id+`"`).problem(422, "validation_failed")
	w.key = mine
	w.do("PATCH", "/v1/devices/"+id, `{"unique_id":"imei-9"}`).ok(200)
	send(`"unique_id":"imei-1"`).problem(422, "validation_failed")
	send(`"device_id":"` + id + `"`).ok(202)
	if r := f.report(ingest.PositionsTopic); r.UniqueID != "imei-9" {
		t.Errorf("told as of %s", r.UniqueID)
	}
	w.do("DELETE", "/v1/devices/"+id, "").ok(204)
	send(`"unique_id":"imei-9"`).problem(422, "validation_failed")
	send(`"device_id":"`+id+`"`).problem(422, "validation_failed")
}

func TestBatchesThatAreRefusedAsAWhole(t *testing.T) {
	w, _ := newIntake(t)
	w.device("imei-1")
	p := w.do("POST", "/v1/positions",
		`{"data":[{"unique_id":"imei-1","fix_at":1769860810000,"lat":91,"lng":1},{"unique_id":"nobody","fix_at":1769860810000,"lat":1,"lng":1}]}`).problem(422, "validation_failed")
	if len(p.Errors) != 2 || p.Errors[0].Pointer != "/0/lat" || p.Errors[0].Code != "bad_coordinates" ||
		p.Errors[1].Pointer != "/1/unique_id" || p.Errors[1].Code != "not_found" {
		t.Errorf("errors %+v", p.Errors)
	}
	p = w.do("POST", "/v1/positions",
		`{"data":[{"unique_id":"imei-1","fix_at":1769860810000,"lat":91,"lng":1},"x"]}`).problem(422, "validation_failed")
	if len(p.Errors) != 2 || p.Errors[1].Pointer != "/1" {
		t.Errorf("of an item that is no object: %+v", p.Errors)
	}
	many := "[" + strings.TrimSuffix(strings.Repeat("{},", ingest.MaxIngestItems+1), ",") + "]"
	for _, c := range []struct {
		body   string
		status int
		code   string
	}{
		{`[]`, 422, "validation_failed"}, {`{"data":[]}`, 422, "validation_failed"}, {`{"data":7}`, 422, "validation_failed"},
		{`7`, 422, "validation_failed"}, {`"x"`, 422, "validation_failed"}, {`{`, 400, "invalid_request"},
		{``, 400, "invalid_request"}, {`[1,]`, 400, "invalid_request"}, {`{} {}`, 400, "invalid_request"},
		{`[NaN]`, 400, "invalid_request"},
		{many, 413, "payload_too_large"},
		{`[` + strings.Repeat(" ", 5<<20) + `]`, 413, "payload_too_large"},
	} {
		w.do("POST", "/v1/positions", c.body, "Content-Type", "application/json").problem(c.status, c.code)
		w.do("POST", "/v1/telemetry", c.body, "Content-Type", "application/json").problem(c.status, c.code)
	}
	w.do("POST", "/v1/positions", "x", "Content-Type", "text/plain").problem(415, "unsupported_media_type")
	w.do("POST", "/v1/positions", "[]", "Authorization", "Bearer "+w.newKey(w.account, auth.TelematicsRead)).problem(403,
		"insufficient_scope")
	w.do("POST", "/v1/positions", "[]", "Authorization", "").problem(401, "unauthorized")
}

func TestTelemetryIsTakenIn(t *testing.T) {
	w, f := newIntake(t)
	w.device("imei-1")
	reply := w.do("POST", "/v1/telemetry",
		`[{"unique_id":"imei-1","at":"2026-01-31T12:00:00Z","signals":{"soc_pct":87.5}},{"unique_id":"imei-1","at":1769860800000,"signals":{}},
		{"unique_id":"imei-1","signals":{"soc_pct":1}},{"unique_id":"imei-1","at":1769860800000,"lat":1,"signals":{"soc_pct":1}}]`).ok(202).object()
	var codes []any
	for _, v := range reply["data"].([]any) {
		codes = append(codes, v.(map[string]any)["code"])
	}
	wantEqual(t, "codes", codes, []any{nil, "required", "missing_time", "unknown_field"})
	got := f.report("telemetry")
	if got.Positioned || got.FixTime != noon ||
		!reflect.DeepEqual(got.Signals, []fleet.SignalValue{{Signal: fleet.MustSignal("soc_pct"), Value: 87.5}}) {
		t.Errorf("report %+v", got)
	}
}

func TestIntakeWithoutKafkaClaimsNothing(t *testing.T) {
	cfg := topic.DefaultConfig()
	cfg.Brokers = []string{"127.0.0.1:1"}
	sender, err := topic.NewFeed(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close()
	f := &feed{Feed: sender, t: t}
	w := newWorld(t, func(_ *rest.Config, d *Deps) { d.Publisher = f })
	id := w.device("imei-1")
	token := w.do("POST", "/v1/devices/"+id+"/osmand_token", "").ok(201).object()["token"].(string)
	const one = `{"unique_id":"imei-1","fix_at":1769860830000,"lat":1,"lng":1}`
	for range 2 { // the key of the failed request is free again
		reply := w.do("POST", "/v1/positions", one, "Idempotency-Key", "k")
		if reply.problem(503, "unavailable"); reply.header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
	w.do("GET", "/osmand?id=imei-1&lat=1&lon=1&token="+token, "", "Authorization", "").problem(503, "unavailable")
	none := newWorld(t)
	none.device("imei-1")
	none.do("POST", "/v1/positions", one).problem(503, "unavailable")
}

func TestOsmandForm(t *testing.T) {
	w, f := newIntake(t)
	id := w.device("phone-1")
	token := w.do("POST", "/v1/devices/"+id+"/osmand_token", "").ok(201).object()["token"].(string)
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("phone-1:"+token))
	form := "application/x-www-form-urlencoded"
	query := func(pairs ...string) string {
		v := url.Values{"id": {"phone-1"}, "lat": {"30.5"}, "lon": {"-97.5"}}
		for i := 0; i < len(pairs); i += 2 {
			if v.Del(pairs[i]); pairs[i+1] != "" {
				v.Set(pairs[i], pairs[i+1])
			}
		}
		return v.Encode()
	}
	report := func(change func(*fleet.Report)) fleet.Report {
		r := fleet.NewReport()
		r.UniqueID, r.Positioned, r.Lat, r.Lng, r.FixTime = "phone-1", true, 30.5, -97.5, noon
		change(&r)
		return r
	}
	battery := func(v float64) []fleet.SignalValue {
		return []fleet.SignalValue{{Signal: fleet.MustSignal("device_battery_pct"), Value: v}}
	}
	seconds, millis := "1769860800", "1769860800000"
	for name, c := range map[string]struct {
		method, path, body string
		headers            []string
		want               fleet.Report
	}{
		"seconds, token as parameter": {"GET", "/osmand?" + query("timestamp", seconds, "token", token), "", nil,
			report(func(*fleet.Report) {})},
		"under /v1, key": {"GET", "/v1/osmand?" + query("timestamp", seconds, "key", token), "", nil,
			report(func(*fleet.Report) {})},
		"bearer, every member": {"GET", "/osmand?" + query("timestamp", millis, "speed", "10", "bearing", "270", "altitude",
			"150", "accuracy", "4", "valid", "true", "ignition", "1", "motion", "false", "odometer", "2000", "sat", "7", "mock",
			"true", "alarm", "sos", "batt", "55.5", "driverUniqueId", "x", "cell", "310,260,1,2", "foo", "bar"), "",
			[]string{"Authorization", "Bearer " + token}, report(func(r *fleet.Report) {
				r.Speed, r.Course, r.Altitude, r.Accuracy, r.Odometer, r.Satellites = 10*fleet.MetresPerKnot, 270, 150, 4, 2000, 7
				r.Ignition, r.Motion, r.Mock, r.Alarm, r.Signals, r.Driver = fleet.Yes, fleet.No, true, "sos", battery(55.5), "X"
			})},
		"basic, POST with a query": {"POST", "/osmand?" + query("timestamp", "2026-01-31T13:00:00+01:00"), "",
			[]string{"Authorization", basic}, report(func(*fleet.Report) {})},
		"POST with a form": {"POST", "/osmand", query("timestamp", seconds, "token", token, "batt", "55.5"),
			[]string{"Content-Type", form}, report(func(r *fleet.Report) { r.Signals = battery(55.5) })},
		"form without a type": {"POST", "/osmand", query("timestamp", seconds, "token", token),
			[]string{"Content-Type", "text/plain; charset=utf-8"}, report(func(*fleet.Report) {})},
		"deviceid, location": {"GET", "/osmand?" + query("timestamp", seconds, "token", token, "id", "", "deviceid",
			"phone-1", "lat", "", "lon", "", "location", "30.5,-97.5"), "", nil, report(func(*fleet.Report) {})},
		"unknown speed and course": {"GET",
			"/osmand?" + query("timestamp", seconds, "token", token, "speed", "-1", "heading", "-1", "batt", "300"), "", nil,
			report(func(*fleet.Report) {})},
		"not valid": {"GET", "/osmand?" + query("timestamp", seconds, "token", token, "valid", "false"), "",
			nil, report(func(r *fleet.Report) { r.Invalid = true })},
		"impossible place, for later": {"GET", "/osmand?" + query("timestamp", seconds, "token", token, "lat", "x"), "", nil,
			report(func(r *fleet.Report) { r.Lat = math.NaN() })},
		"time of no zone, for later": {"GET", "/osmand?" + query("timestamp", "2026-01-31 12:00:00", "token", token), "",
			nil, report(func(r *fleet.Report) { r.FixTime = 0 })},
	} {
		headers := append([]string{"Authorization", ""}, c.headers...)
		reply := w.do(c.method, c.path, c.body, headers...)
		if reply.status != 200 || len(reply.body) != 0 {
			t.Errorf("%s: %d %s", name, reply.status, reply.body)
			continue
		}
		if got := f.report("positions"); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, c.want)
		}
	}
	// Without a place it is telemetry; without anything it is only a sign of life. Without a time it is now.
	w.do("GET", "/osmand?id=phone-1&token="+token+"&timestamp="+seconds, "", "Authorization", "").ok(200)
	before := fleet.MillisOf(time.Now())
	w.do("GET", "/osmand?id=phone-1&batt=50&charge=true&token="+token, "", "Authorization", "").ok(200)
	if got := f.report("telemetry"); got.Positioned || len(got.Signals) != 2 || got.FixTime < before ||
		got.FixTime > fleet.MillisOf(time.Now()) {
		t.Errorf("telemetry %+v", got)
	}
	w.do("HEAD", "/osmand?"+query("token", token), "", "Authorization", "").ok(405)
	w.do("GET", "/osmand?token="+token, "", "Authorization", "").problem(400, "invalid_request")
	w.do("POST", "/osmand", "a=%zz", "Content-Type", form, "Authorization", "Bearer "+token).problem(400,
		"invalid_request")
}

func TestOsmandJSON(t *testing.T) {
	w, f := newIntake(t)
	id := w.device("phone-1")
	token := w.do("POST", "/v1/devices/"+id+"/osmand_token", "").ok(201).object()["token"].(string)
	send := func(body string) *reply {
		t.Helper()
		return w.do("POST", "/osmand", body, "Authorization", "Bearer "+token)
	}
	send(`{"device_id":"phone-1","location":{"timestamp":"2026-01-31T12:00:00.000Z","coords":{"latitude":30.5,"longitude":-97.5,"accuracy":4.5,"speed":12.5,"heading":90,"altitude":150},
		"event":"motionchange","is_moving":true,"odometer":2000,"mock":true,"activity":{"type":"in_vehicle"},"battery":{"level":0.5,"is_charging":false},"alarm":"sos",
		"extras":{"alarm":"tow","ignition":true,"soc":80,"nested":{}}}}`).ok(200)
	got := f.report("positions")
	if got.FixTime != noon || got.Lat != 30.5 || got.Lng != -97.5 || got.Accuracy != 4.5 || got.Speed != 12.5 ||
		got.Course != 90 || got.Altitude != 150 || got.Odometer != 2000 || got.Motion != fleet.Yes ||
		got.Ignition != fleet.Yes || !got.Mock || got.Alarm != "sos" {
		t.Errorf("report %+v", got)
	}
	values := map[string]float64{}
	for _, s := range got.Signals {
		values[s.Signal.String()] = s.Value
	}
	wantEqual(t, "signals", values, map[string]float64{"soc_pct": 80, "device_battery_pct": 50, "device_charging": 0})

	// Members that Traccar's own parser insists on may be missing, and -1 is unknown.
	send(`{"device_id":"phone-1","location":{"timestamp":"2026-01-31T12:00:10Z","coords":{"latitude":30.5,"longitude":-97.5,"speed":-1,"heading":-1}}}`).ok(200)
	if got := f.report("positions"); got.FixTime != noon+10_000 || !math.IsNaN(got.Speed) || !math.IsNaN(got.Course) ||
		!math.IsNaN(got.Accuracy) {
		t.Errorf("report %+v", got)
	}
	w.do("POST", "/osmand?id=phone-1",
		`{"location":{"timestamp":1769860820,"coords":{"latitude":30.5,"longitude":-97.5}}}`, "Authorization",
		"Bearer "+token).ok(200)
	if got := f.report("positions"); got.FixTime != noon+20_000 {
		t.Errorf("report %+v", got)
	}
	send(`{"device_id":"phone-1"}`).ok(200)
	for _, body := range []string{`{`, `[]`, `{"location":{}}`,
		`{"device_id":"phone-1","location":{"coords":{"latitude":"x"}}}`} {
		send(body).problem(400, "invalid_request")
	}
}

func TestOsmandRevealsNoDevice(t *testing.T) {
	w, _ := newIntake(t)
	id := w.device("phone-1")
	w.device("phone-without-token")
	token := w.do("POST", "/v1/devices/"+id+"/osmand_token", "").ok(201).object()["token"].(string)
	anonymous := []string{"Authorization", ""}
	if reply := w.do("GET", "/osmand?id=phone-1&lat=1&lon=1", "",
		anonymous...); reply.problem(401, "unauthorized").Status != 401 || reply.header.Get("WWW-Authenticate") == "" {
		t.Error("no challenge")
	}
	answers := map[string]bool{}
	for _, path := range []string{"id=phone-1&token=wrong", "id=phone-1&token=" + token + "x", "id=nobody&token=" + token,
		"id=phone-without-token&token=x", "id=phone-without-token&token=" + token} {
		p := w.do("GET", "/osmand?lat=1&lon=1&"+path, "", anonymous...).problem(404, "not_found")
		answers[p.Detail] = true
	}
	if len(answers) != 1 {
		t.Errorf("the answers differ: %v", answers)
	}
	// The credential of a person is none of a device.
	w.do("GET", "/osmand?lat=1&lon=1&id=phone-1", "").problem(404, "not_found")
	w.do("GET", "/osmand?lat=1&lon=1&id=phone-1&token="+token, "", anonymous...).ok(200)

	// A withdrawn token stops working once what is remembered of the device is too old.
	w.do("DELETE", "/v1/devices/"+id+"/osmand_token", "").ok(204)
	w.clock.Store(int64(ingest.TrackerTime + time.Second))
	w.do("GET", "/osmand?lat=1&lon=1&id=phone-1&token="+token, "", anonymous...).problem(404, "not_found")

	// Who guesses is stopped; a phone behind the same address that is known reports on.
	other := w.device("phone-2")
	right := "/osmand?lat=1&lon=1&id=phone-2&token=" +
		w.do("POST", "/v1/devices/"+other+"/osmand_token", "").ok(201).object()["token"].(string)
	w.do("GET", right, "", anonymous...).ok(200)
	limited := 0
	for range 2 * ingest.OsmandFailsPerMin {
		if reply := w.do("GET", "/osmand?lat=1&lon=1&id=phone-2&token=x", "",
			anonymous...); reply.status == http.StatusTooManyRequests {
			limited++
			if reply.header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
	}
	if limited == 0 {
		t.Error("nobody is stopped from guessing")
	}
	w.do("GET", right, "", anonymous...).ok(200)
	w.clock.Add(int64(ingest.TrackerTime + time.Second)) // too long ago to stand, not to be looked up
	w.do("GET", right, "", anonymous...).ok(200)
	w.do("DELETE", "/v1/devices/"+other+"/osmand_token", "").ok(204)
	w.clock.Add(int64(ingest.TrackerTime + time.Second))
	w.do("GET", right, "", anonymous...).problem(404, "not_found")
}

func TestOsmandLimitsADevice(t *testing.T) {
	o := ingest.NewOsmandIntake(&ingest.API{Server: &rest.Server{Deps: rest.Deps{Now: func() time.Time {
		return time.UnixMilli(int64(noon))
	}}}})
	for i := range ingest.OsmandBurst {
		if !o.Allow(1) {
			t.Fatalf("stopped after %d", i)
		}
	}
	if o.Allow(1) || !o.Allow(2) {
		t.Error("a device is not limited by itself")
	}
	for i := range 2 * ingest.OsmandRemember {
		o.Allow(fleet.DeviceID(i))
	}
	if len(o.Devices) > ingest.OsmandRemember {
		t.Errorf("%d devices in memory", len(o.Devices))
	}
}

func TestDeadLettersOverTheInterface(t *testing.T) {
	w, f := newIntake(t, func(c *rest.Config, _ *Deps) { c.Auth.Volume.Items = ingest.MonthItems + 500 })
	w.device("imei-1")
	now := fleet.MillisOf(time.Now().Truncate(time.Second))
	insert := func(account fleet.AccountID, id int, reason fleet.Refusal, payload string, bytes int) {
		t.Helper()
		w.exec(`INSERT INTO dead_letters (account, id, at, reason, detail, unique_id, source_topic, source_partition, source_offset, source_index, format, payload, payload_bytes)
			SELECT {a:UInt64}, {id:UInt64}, fromUnixTimestamp64Milli({at:Int64}, 'UTC'), {r:String}, 'why', 'imei-1', 'positions', 3, 100, 2, 'traccar', {p:String}, {n:UInt64}`,
			clickhouse.Named("a", uint64(account)), clickhouse.Named("id", uint64(id)),
			clickhouse.Named("at", int64(now)-int64(id)*1000), clickhouse.Named("r", string(reason)),
			clickhouse.Named("p", payload), clickhouse.Named("n", uint64(bytes)))
	}
	second := w.newAccount("Second")
	record := `{"position":{"fixTime":1769860800000,"latitude":1,"longitude":2},"device":{"uniqueId":"imei-1"}}`
	for i := range 5 {
		insert(w.account, i+1, fleet.RefusedZeroCoordinates, record, len(record))
	}
	insert(w.account, 6, fleet.RefusedTooLarge, `{"pos`, 70000)
	insert(w.account, 8, fleet.RefusedZeroCoordinates, ` [{"device":"imei-1"},{"device":"of another account"}]`, 54)
	insert(second, 7, fleet.RefusedUndecodable, "x", 1)
	var seen []any
	next := ""
	for {
		reply := w.do("GET", "/v1/dead_letters?per_page=4"+next, "")
		for _, d := range reply.data() {
			seen = append(seen, d["id"])
			if _, has := d["payload"]; has {
				t.Error("a list with payloads")
			}
		}
		page := reply.pagination()
		if page.Total != 7 {
			t.Errorf("total %d", page.Total)
		}
		if page.NextCursor == "" {
			break
		}
		next = "&cursor=" + page.NextCursor
	}
	wantEqual(t, "ids", seen, []any{"dlt_1", "dlt_2", "dlt_3", "dlt_4", "dlt_5", "dlt_6", "dlt_8"})
	if got := w.do("GET", "/v1/dead_letters?reason=too_large&unique_id=imei-1", "").data(); len(got) != 1 ||
		got[0]["id"] != "dlt_6" {
		t.Errorf("of a reason: %v", got)
	}
	one := w.do("GET", "/v1/dead_letters/dlt_1", "").ok(200).object()
	if one["payload"] != base64.StdEncoding.EncodeToString([]byte(record)) || one["reason"] != "zero_coordinates" ||
		!strings.HasSuffix(one["at"].(string), ".000Z") {
		t.Errorf("one: %v", one)
	}
	if batch := w.do("GET", "/v1/dead_letters/dlt_8", "").ok(200).object(); batch["payload"] != nil ||
		batch["payload_bytes"] != 54.0 {
		t.Errorf("a record of several devices: %v", batch)
	}
	w.do("POST", "/v1/dead_letters/dlt_1/replay", "").ok(202)
	if got := f.report("positions"); got.UniqueID != "imei-1" || got.FixTime != noon || got.Lng != 2 {
		t.Errorf("replayed %+v", got)
	}
	// It is of a month long ago, and so is the next.
	w.do("POST", "/v1/dead_letters/dlt_2/replay", "").problem(429, "rate_limited")
	for _, id := range []string{"dlt_6", "dlt_8"} { // cut off, and none of Traccar's
		w.do("POST", "/v1/dead_letters/"+id+"/replay", "").problem(409, "conflict")
	}
	for _, id := range []string{"dlt_7", "dlt_99", "veh_1", "x"} {
		w.do("GET", "/v1/dead_letters/"+id, "").problem(404, "not_found")
		w.do("POST", "/v1/dead_letters/"+id+"/replay", "").problem(404, "not_found")
	}
	w.do("GET", "/v1/dead_letters?reason=duplicate", "").problem(400, "invalid_request")
}

func TestUsage(t *testing.T) {
	w := newWorld(t)
	w.exec(fmt.Sprintf(`INSERT INTO ingest_outcomes (account, run, topic, partition, first_offset, last_offset, at, read, stored, signals, refused)
		SELECT %d, '', 'positions', 0, number, number, now64(3) - toIntervalDay(number), 10, 8, 3, map('duplicate', 2) FROM numbers(2)`, uint64(w.account)))
	days := w.do("GET", "/v1/usage", "").data()
	if len(days) != 2 || days[0]["day_on"].(string) < days[1]["day_on"].(string) || days[0]["read"] != 10.0 ||
		!reflect.DeepEqual(days[0]["refused"], map[string]any{"duplicate": 2.0}) {
		t.Errorf("days %v", days)
	}
	if got := w.do("GET", "/v1/usage", "", "Authorization",
		"Bearer "+w.newKey(w.newAccount("Second"), auth.Admin)).data(); len(got) != 0 {
		t.Errorf("a stranger sees %v", got)
	}
	w.do("GET", "/v1/usage?from=2020-01-01T00:00:00Z", "").problem(400, "invalid_request")
}
