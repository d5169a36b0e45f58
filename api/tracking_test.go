package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/parquet/file"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/track"
	"github.com/motorpool/fleet/query"
)

var noon = fleet.MillisOf(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC))

func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	if err := w.db.Exec(w.t.Context(), sql, args...); err != nil {
		w.t.Fatal(err)
	}
}

func vehicleID(t *testing.T, id string) uint64 {
	t.Helper()
	n, err := fleet.ParseID(fleet.VehiclePrefix, id)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// drive stores n positions of a vehicle, ten seconds and about eleven metres apart on a line north; each tenth is a
// jump 1 km to the east.
func (w *world) drive(account fleet.AccountID, vehicle string, n int) {
	w.t.Helper()
	w.exec(`INSERT INTO positions (account, vehicle, fix_time, device, device_time, received_at, lat7, lng7, altitude_dm, speed_cms,
			course_cdeg, accuracy_dm, odometer_m, satellites, ignition, motion, alarm, cell, flags)
		SELECT {account:UInt64}, {vehicle:UInt64}, fromUnixTimestamp64Milli({from:Int64} + toInt64(number) * 10000, 'UTC') AS fix_time, 7, fix_time, fix_time + toIntervalMillisecond(250),
			302671500 + number * 1000, -977430600 + if(number % 10 = 9, 100000, 0), if(number = 0, 1234, NULL), if(number = 0, 1337, NULL),
			if(number = 0, 27000, NULL), if(number = 0, 35, NULL), if(number = 0, 1609344, NULL), if(number = 0, 9, NULL),
			if(number = 0, 'on', 'unknown'), 'unknown', '', 617700169958293503, if(number % 10 = 9, {jump:UInt32}, 0)
		FROM numbers({n:UInt64})`,
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicle", vehicleID(w.t, vehicle)),
		clickhouse.Named("from", int64(noon)), clickhouse.Named("jump", uint32(fleet.FlagJump|fleet.FlagMock)),
		clickhouse.Named("n", uint64(n)))
}

// park stores the live state of a vehicle.
func (w *world) park(account fleet.AccountID, vehicle string, lat, lng float64) {
	w.t.Helper()
	w.exec(`INSERT INTO vehicle_state (account, vehicle, version, device, fix_time, device_time, received_at, lat7, lng7, satellites, ignition, motion, cell)
		SELECT {account:UInt64}, {vehicle:UInt64}, 1, 7, fromUnixTimestamp64Milli({at:Int64}, 'UTC') AS fix_time, fix_time, fix_time,
			toInt32(round({lat:Float64} * 1e7)), toInt32(round({lng:Float64} * 1e7)), NULL, 'unknown', 'unknown', 617700169958293503`,
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicle", vehicleID(w.t, vehicle)),
		clickhouse.Named("at", int64(noon)), clickhouse.Named("lat", lat), clickhouse.Named("lng", lng))
}

func fixes(data []map[string]any) []string {
	var all []string
	for _, p := range data {
		all = append(all, strings.TrimSuffix(strings.TrimPrefix(p["fix_at"].(string), "2026-01-31T12:"), ".000Z"))
	}
	return all
}

func TestAPositionHasExactlyTheDocumentedMembers(t *testing.T) {
	w := newWorld(t)
	v := w.vehicle(`{"make":"Gillig","model":"Low Floor"}`)
	w.drive(w.account, v, 2)
	const first = `{"fix_at":"2026-01-31T12:00:00.000Z","device_at":"2026-01-31T12:00:00.000Z","received_at":"2026-01-31T12:00:00.250Z",` +
		`"lat":30.26715,"lng":-97.74306,"altitude_m":123.4,"speed_mph":29.9,"course_deg":270,"accuracy_m":3.5,"satellites":9,"ignition":true,` +
		`"odometer_mi":1000,"address":"Austin, Texas, US","h3":"892830828ffffff","flags":[],"device_id":"dev_7"}`
	const second = `{"fix_at":"2026-01-31T12:00:10.000Z","device_at":"2026-01-31T12:00:10.000Z","received_at":"2026-01-31T12:00:10.250Z",` +
		`"lat":30.26725,"lng":-97.74306,"altitude_m":null,"speed_mph":null,"course_deg":null,"accuracy_m":null,"satellites":null,"ignition":null,` +
		`"odometer_mi":null,"address":"Austin, Texas, US","h3":"892830828ffffff","flags":[],"device_id":"dev_7"}`
	got := string(w.do("GET", "/v1/vehicles/"+v+"/positions", "").ok(200).body)
	cell := fmt.Sprintf("%x", uint64(617700169958293503))
	want := strings.ReplaceAll(`{"data":[`+first+`,`+second+
		`],"pagination":{"page":1,"per_page":1000,"total":2,"next_cursor":null}}`+"\n", "892830828ffffff", cell)
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	metric := w.do("GET", "/v1/vehicles/"+v+"/positions?units=metric&per_page=1", "").data()[0]
	if metric["speed_kmh"] != 48.1 || metric["odometer_km"] != 1609.344 || metric["speed_mph"] != nil ||
		len(metric) != 16 {
		t.Errorf("metric: %v", metric)
	}
	// The types that describe the rows in the OpenAPI document have the same members in the same order.
	for _, c := range []struct {
		described any
		columns   []export.Column
	}{
		{track.Position{}, track.PositionColumns(false)},
		{track.Sample{}, append(track.SampleColumns(false), track.SampleColumns(true)[3:]...)},
	} {
		typ := reflect.TypeOf(c.described)
		for i, column := range c.columns {
			if name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ","); name != column.Name ||
				typ.NumField() != len(c.columns) {
				t.Errorf("%s: member %d is %s, column %s", typ, i, name, column.Name)
			}
		}
	}
}

func TestTrackPagesAndFilters(t *testing.T) {
	w := newWorld(t)
	v, other := w.vehicle(`{"make":"Gillig","model":"Low Floor"}`), w.vehicle(`{"make":"Gillig","model":"Low Floor"}`)
	w.drive(w.account, v, 30)
	w.drive(w.account, other, 3)
	path := "/v1/vehicles/" + v + "/positions?"
	for query, want := range map[string][]string{
		"from=2026-01-31T12:00:20Z&until=2026-01-31T12:00:50Z": {"00:20", "00:30", "00:40"},
		"sort=-fix_at&per_page=2":                              {"04:50", "04:40"},
		"flags=jump":                                           {"01:30", "03:10", "04:50"},
		"flags=late,mock":                                      {"01:30", "03:10", "04:50"},
		"flags=trusted&from=2026-01-31T12:01:20Z&per_page=2":   {"01:20", "01:40"},
		"interval=60":                                          {"00:00", "01:00", "02:00", "03:00", "04:00"},
		"interval=60&sort=-fix_at":                             {"04:50", "03:50", "02:50", "01:50", "00:50"},
		"per_page=3&page=2":                                    {"00:30", "00:40", "00:50"},
		"flags=trusted&simplify_m=1":                           {"00:00", "04:40"},
		"max_points=2":                                         {"00:00", "04:50"},
		"flags=late":                                           nil,
		"flags=-jump&from=2026-01-31T12:01:20Z&per_page=2":     {"01:20", "01:40"},
		"flags=-late&from=2026-01-31T12:01:20Z&per_page=2":     {"01:20", "01:30"},
		"flags=mock,-jump":                                     nil,
		"from=2026-01-31t12:00:20z&per_page=1":                 {"00:20"},
		"until=1970-01-01T00:00:00Z":                           nil,
		"from=2027-01-01T00:00:00Z":                            nil,
		"from=2026-01-31T13:00:20%2B01:00&per_page=1":          {"00:20"},
	} {
		reply := w.do("GET", path+query, "")
		if got := fixes(reply.data()); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	// Following the cursor gives each position once, in every order and thinning.
	for query, n := range map[string]int{"per_page=7": 30, "per_page=7&sort=-fix_at": 30, "per_page=2&interval=60": 5,
		"per_page=2&interval=60&sort=-fix_at": 5,
		"per_page=10":                         30, "per_page=4&flags=trusted": 27} {
		seen, next, pages := map[string]bool{}, "", 0
		for {
			reply := w.do("GET", path+query+next, "")
			for _, at := range fixes(reply.data()) {
				if seen[at] {
					t.Errorf("%s: %s twice", query, at)
				}
				seen[at] = true
			}
			pagination := reply.pagination()
			if pages++; pagination.Total != n || pagination.Page != pages {
				t.Errorf("%s: page %d of total %d", query, pagination.Page, pagination.Total)
			}
			if pagination.NextCursor == "" {
				break
			}
			next = "&cursor=" + pagination.NextCursor
		}
		if len(seen) != n {
			t.Errorf("%s: saw %d of %d", query, len(seen), n)
		}
	}
	if link := w.do("GET", path+"per_page=10&page=2",
		"").ok(200).header.Get("Link"); !strings.Contains(link, `rel="next"`) || !strings.Contains(link, `page=3`) {
		t.Errorf("link %s", link)
	}
	next := w.do("GET", path+"per_page=10", "").pagination().NextCursor
	for query, code := range map[string]string{
		"from=yesterday": "invalid_request",
		"from=2026-01-31T12:00:00Z&until=2026-01-31T12:00:00Z": "invalid_request",
		"per_page=10001":             "invalid_request",
		"per_page=5000&page=3":       "invalid_request",
		"page=11":                    "invalid_request", // of a thousand each
		"flags=nonsense":             "invalid_request",
		"flags=-trusted":             "invalid_request",
		"interval=0":                 "invalid_request",
		"simplify_m=NaN":             "invalid_request",
		"max_points=1":               "invalid_request",
		"max_points=5&page=2":        "invalid_request",
		"format=csv&per_page=2":      "invalid_request",
		"format=xls":                 "invalid_request",
		"precision=9":                "invalid_request",
		"cursor=xyz":                 "invalid_request",
		"interval=60&cursor=" + next: "invalid_request", // of another list
		"unknown=1":                  "invalid_request",
	} {
		w.do("GET", path+query, "").problem(400, code)
	}
	w.do("GET", path, "", "Accept", "image/png").problem(406, "not_acceptable")
	w.do("GET", "/v1/vehicles/veh_77/positions", "").problem(404, "not_found")
	w.do("GET", "/v1/vehicles/nonsense/positions", "").problem(404, "not_found")
	stranger := w.newKey(w.newAccount("Second"), auth.Admin)
	for _, sub := range []string{"positions", "positions?format=csv", "positions?max_points=5", "telemetry",
		"telemetry?format=csv", "telemetry/latest"} {
		w.do("GET", "/v1/vehicles/"+v+"/"+sub, "", "Authorization", "Bearer "+stranger).problem(404, "not_found")
	}
	w.do("GET", path, "", "Authorization", "Bearer "+w.newKey(w.account, auth.VehiclesRead)).problem(403,
		"insufficient_scope")
}

func TestTrackInEveryFormat(t *testing.T) {
	w := newWorld(t)
	v := w.vehicle(`{"make":"Gillig","model":"Low Floor"}`)
	w.drive(w.account, v, 30)
	path := "/v1/vehicles/" + v + "/positions"
	for _, f := range export.Tracks {
		if f == export.JSON || f == export.Polyline {
			continue
		}
		byName := w.do("GET", path+"?format="+string(f), "").ok(200)
		byAccept := w.do("GET", path, "", "Accept", f.MediaType()+", */*;q=0.1").ok(200)
		if f != export.Parquet && !bytes.Equal(byName.body, byAccept.body) {
			t.Errorf("%s: format and Accept give different answers", f)
		}
		if got := byName.header.Get("Content-Type"); !strings.HasPrefix(got, f.MediaType()) {
			t.Errorf("%s: type %s", f, got)
		}
		if got := byName.header.Get("Content-Disposition"); got != `attachment; filename="`+v+"-positions"+f.Extension()+`"` {
			t.Errorf("%s: disposition %s", f, got)
		}
	}
	get := func(query string) []byte { t.Helper(); return w.do("GET", path+query, "").ok(200).body }
	records, err := csv.NewReader(bytes.NewReader(get("?format=csv&units=metric"))).ReadAll()
	if err != nil || len(records) != 31 || records[0][6] != "speed_kmh" || records[1][6] != "48.1" ||
		records[10][14] != "jump;mock" {
		t.Errorf("csv: %d records, %v", len(records), err)
	}
	stream, err := ipc.NewReader(bytes.NewReader(get("?format=arrow")))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Release()
	rows := int64(0)
	for stream.Next() {
		rows += stream.Record().NumRows()
	}
	if rows != 30 || stream.Err() != nil {
		t.Errorf("arrow: %d rows, %v", rows, stream.Err())
	}
	parquet, err := file.NewParquetReader(bytes.NewReader(get("?format=parquet")))
	if err != nil || parquet.NumRows() != 30 {
		t.Errorf("parquet: %v", err)
	}
	if n := strings.Count(string(get("?format=gpx")), "<trkpt"); n != 30 {
		t.Errorf("gpx: %d points", n)
	}
	if n := strings.Count(string(get("?format=kml&flags=trusted")), "<gx:coord>"); n != 27 {
		t.Errorf("kml: %d points", n)
	}
	if n := strings.Count(string(get("?format=geojson&max_points=5")), `"Point"`); n != 5 {
		t.Errorf("geojson: %d points", n)
	}
	if n := bytes.Count(get("?format=ndjson&interval=60"), []byte("\n")); n != 5 {
		t.Errorf("ndjson: %d lines", n)
	}
	var line struct {
		Points, Precision int
		Polyline          string
	}
	if err := json.Unmarshal(get("?format=polyline&simplify_m=1&flags=trusted&precision=6"), &line); err != nil ||
		line.Points != 2 || line.Precision != 6 || line.Polyline == "" {
		t.Errorf("polyline: %+v, %v", line, err)
	}
	head := w.do("HEAD", path+"?format=csv", "").ok(200)
	if len(head.body) != 0 || head.header.Get("Content-Disposition") == "" {
		t.Errorf("HEAD: %v", head.header)
	}
}

// A stream that fails on its way must not look like a whole one, however little of it has been written.
func TestAStreamThatFailsIsCut(t *testing.T) {
	w := newWorld(t)
	broken := errors.New("the server is gone")
	for _, f := range export.Tracks {
		for _, encoding := range []string{"identity", "gzip"} {
			for _, n := range []int{0, 3, 5000} {
				positions := func(yield func(fleet.Position, error) bool) {
					for i := range n {
						if !yield(fleet.Position{FixTime: noon + fleet.Millis(i), Lat: float64(i) / 1000}, nil) {
							return
						}
					}
					yield(fleet.Position{}, broken)
				}
				server := httptest.NewServer(w.api.Middleware(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					if err := w.api.track.DownloadTrack(rw, r, query.TrackFilter{Vehicle: 5}, f, positions); err != nil {
						w.api.WriteProblem(rw, r, err)
					}
				})))
				req, err := http.NewRequestWithContext(t.Context(), "GET", server.URL, nil)
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Accept-Encoding", encoding)
				res, err := http.DefaultClient.Do(req)
				if err == nil {
					_, err = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
				// What has not begun may still become a problem.
				if err == nil && res.StatusCode != http.StatusInternalServerError {
					t.Errorf("%s, %s, %d rows: status %d and an end as if it were whole", f, encoding, n, res.StatusCode)
				}
				server.Close()
			}
		}
	}
}

func TestLatestPositionsOverTheInterface(t *testing.T) {
	w := newWorld(t)
	north, south, east, none := w.vehicle(`{"make":"A","model":"1"}`), w.vehicle(`{"make":"A","model":"2"}`),
		w.vehicle(`{"make":"A","model":"3"}`), w.vehicle(`{"make":"A","model":"4"}`)
	gone := w.vehicle(`{"make":"A","model":"5"}`)
	w.park(w.account, north, 30.001, -97)
	w.park(w.account, south, 30, -97)
	w.park(w.account, east, -17, -179.99)
	w.park(w.account, gone, 30, -97)
	w.do("DELETE", "/v1/vehicles/"+gone, "").ok(204)
	ids := func(query string) []string {
		t.Helper()
		var all []string
		for _, p := range w.do("GET", "/v1/positions/latest"+query, "").data() {
			all = append(all, p["vehicle_id"].(string))
		}
		return all
	}
	for query, want := range map[string][]string{
		"":                                  {north, south, east},
		"?vehicle_id=" + south + "," + none: {south},
		"?bbox=-98,29,-96,30.0005":          {south},
		"?bbox=179,-18,-179,-16":            {east},
		"?near=30.0011,-97&radius_m=200":    {north, south},
		"?near=29.9999,-97&radius_m=200":    {south, north},
		"?near=30.0011,-97&radius_m=20":     {north},
		"?near=30,-97&radius_m=200&bbox=-98,30.0005,-96,31": {north},
	} {
		if got := ids(query); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	first := w.do("GET", "/v1/positions/latest?near=30.0011,-97&radius_m=200&per_page=1", "")
	if p := first.data()[0]; p["distance_m"] != 11.1 || p["address"] != "Austin, Texas, US" ||
		p["fix_at"] != "2026-01-31T12:00:00.000Z" || len(p) != 18 {
		t.Errorf("near: %v", p)
	}
	page := first.pagination()
	if page.Total != 2 || page.NextCursor == "" {
		t.Fatalf("page %+v", page)
	}
	second := w.do("GET", "/v1/positions/latest?near=30.0011,-97&radius_m=200&per_page=1&cursor="+page.NextCursor, "")
	if p := second.data(); len(p) != 1 || p[0]["vehicle_id"] != south || second.pagination().NextCursor != "" ||
		second.pagination().Total != 2 {
		t.Errorf("second page: %v", p)
	}
	records, err := csv.NewReader(
		bytes.NewReader(w.do("GET", "/v1/positions/latest", "", "Accept", "text/csv").ok(200).body)).ReadAll()
	if err != nil || len(records) != 4 || records[0][0] != "vehicle_id" {
		t.Errorf("csv: %v, %v", records, err)
	}
	w.do("POST", "/v1/vehicles/"+south+"/status", `{"status":"out_of_service","reason":"flat"}`).ok(200)
	var points struct {
		Type     string
		Features []struct {
			Type     string
			Geometry struct {
				Type        string
				Coordinates []float64
			}
			Properties map[string]any
		}
	}
	shown := w.do("GET", "/v1/positions/latest?format=geojson&near=30.0011,-97&radius_m=200&units=metric", "").ok(200)
	if err := json.Unmarshal(shown.body, &points); err != nil || points.Type != "FeatureCollection" ||
		len(points.Features) != 2 || shown.header.Get("Content-Type") != "application/geo+json" {
		t.Fatalf("geojson: %v, %s, %s", err, shown.header, shown.body)
	}
	for i, want := range []struct {
		vehicle, status string
		lat             float64
	}{{north, "available", 30.001}, {south, "out_of_service", 30}} {
		f := points.Features[i]
		_, metric := f.Properties["speed_kmh"]
		if f.Type != "Feature" || f.Geometry.Type != "Point" ||
			!reflect.DeepEqual(f.Geometry.Coordinates, []float64{-97, want.lat}) || f.Properties["vehicle_id"] != want.vehicle ||
			f.Properties["status"] != want.status || f.Properties["fix_at"] != "2026-01-31T12:00:00.000Z" || !metric ||
			len(f.Properties) != 19 {
			t.Errorf("feature %d: %+v", i, f)
		}
	}
	if empty := w.do("GET", "/v1/positions/latest?bbox=0,0,1,1", "", "Accept", "application/geo+json").
		ok(200); strings.TrimSpace(string(empty.body)) != `{"type":"FeatureCollection","features":[]}` {
		t.Errorf("nobody in geojson: %s", empty.body)
	}
	for _, query := range []string{"bbox=1,2,3", "bbox=1,2,3,x", "bbox=0,10,1,5", "bbox=-181,0,1,1", "bbox=NaN,0,1,1",
		"near=1,2", "radius_m=5", "near=91,0&radius_m=1", "near=1,2&radius_m=0",
		"near=1,2&radius_m=Inf", "vehicle_id=dev_1", "vehicle_id=1", "per_page=1001"} {
		w.do("GET", "/v1/positions/latest?"+query, "").problem(400, "invalid_request")
	}
	stranger := w.newKey(w.newAccount("Second"), auth.TelematicsRead)
	if got := w.do("GET", "/v1/positions/latest?vehicle_id="+north, "", "Authorization",
		"Bearer "+stranger); len(got.data()) != 0 || got.pagination().Total != 0 {
		t.Errorf("a stranger sees %s", got.body)
	}
}

func TestTelemetryOverTheInterface(t *testing.T) {
	w := newWorld(t)
	v := w.vehicle(`{"make":"Renault","model":"Twizy"}`)
	for i, value := range []float64{80, 90, 70} {
		w.exec("INSERT INTO telemetry (account, vehicle, signal, time, value) SELECT {a:UInt64}, {v:UInt64}, 'soc_pct', fromUnixTimestamp64Milli({t:Int64}, 'UTC'), {x:Float64}",
			clickhouse.Named("a", uint64(w.account)), clickhouse.Named("v", vehicleID(t, v)),
			clickhouse.Named("t", int64(noon)+int64(i)*40_000), clickhouse.Named("x", value))
	}
	w.exec("INSERT INTO telemetry (account, vehicle, signal, time, value) SELECT {a:UInt64}, {v:UInt64}, 'battery_v', fromUnixTimestamp64Milli({t:Int64}, 'UTC'), 12.6",
		clickhouse.Named("a", uint64(w.account)), clickhouse.Named("v", vehicleID(t, v)), clickhouse.Named("t", int64(noon)))
	path := "/v1/vehicles/" + v + "/telemetry"
	for query, want := range map[string]string{
		"?signals=soc_pct&per_page=2": `[{"signal":"soc_pct","unit":"percent","at":"2026-01-31T12:00:00.000Z","value":80},{"signal":"soc_pct","unit":"percent","at":"2026-01-31T12:00:40.000Z","value":90}]`,
		"?interval=1h": `[{"signal":"battery_v","unit":"V","at":"2026-01-31T12:00:00.000Z","min":12.6,"max":12.6,"mean":12.6,"first":12.6,"last":12.6},` +
			`{"signal":"soc_pct","unit":"percent","at":"2026-01-31T12:00:00.000Z","min":70,"max":90,"mean":80,"first":80,"last":70}]`,
		"?signals=soc_pct&interval=auto&from=2026-01-31T12:00:00Z&until=2026-01-31T12:01:00Z": `[{"signal":"soc_pct","unit":"percent","at":"2026-01-31T12:00:00.000Z","min":80,"max":90,"mean":90,"first":80,"last":90}]`,
		"?signals=soc_pct&interval=auto&from=2020-01-31T12:00:00Z&until=2026-01-31T12:01:00Z": `[{"signal":"soc_pct","unit":"percent","at":"2026-01-31T00:00:00.000Z","min":70,"max":90,"mean":80,"first":80,"last":70}]`,
		"/latest": `[{"signal":"battery_v","unit":"V","at":"2026-01-31T12:00:00.000Z","value":12.6},{"signal":"soc_pct","unit":"percent","at":"2026-01-31T12:01:20.000Z","value":70}]`,
	} {
		var got struct{ Data json.RawMessage }
		if err := json.Unmarshal(w.do("GET", path+query, "").ok(200).body, &got); err != nil || string(got.Data) != want {
			t.Errorf("%s:\ngot  %s\nwant %s", query, got.Data, want)
		}
	}
	var seen []string
	next := ""
	for {
		reply := w.do("GET", path+"?per_page=1"+next, "")
		for _, s := range reply.data() {
			seen = append(seen, fmt.Sprint(s["signal"], s["value"]))
		}
		page := reply.pagination()
		if page.Total != 4 {
			t.Fatalf("total %d", page.Total)
		}
		if page.NextCursor == "" {
			break
		}
		next = "&cursor=" + page.NextCursor
	}
	wantEqual(t, "pages", seen, []string{"battery_v12.6", "soc_pct80", "soc_pct90", "soc_pct70"})
	records, err := csv.NewReader(bytes.NewReader(w.do("GET", path+"?format=csv&interval=1m", "").ok(200).body)).ReadAll()
	if err != nil || len(records) != 4 || strings.Join(records[0], " ") != "signal unit at min max mean first last" {
		t.Errorf("csv: %v, %v", records, err)
	}
	for _, query := range []string{"?signals=speed", "?interval=7m", "?interval=auto", "?per_page=0", "?format=gpx"} {
		w.do("GET", path+query, "").problem(400, "invalid_request")
	}
}
