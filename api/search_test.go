package api

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/uber/h3-go/v4"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/track"
	"github.com/motorpool/fleet/query"
)

// pass stores positions of a vehicle from noon on, ten seconds apart, each a thousandth of a degree east of the last.
func (w *world) pass(account fleet.AccountID, vehicle string, lat, lng float64, n int) {
	w.t.Helper()
	for i := range n {
		lng := fleet.Quantise(lng + float64(i)/1000)
		cell, err := h3.LatLngToCell(h3.LatLng{Lat: lat, Lng: lng}, fleet.CellResolution)
		if err != nil {
			w.t.Fatal(err)
		}
		w.exec(`INSERT INTO positions (account, vehicle, fix_time, device, lat7, lng7, cell)
			VALUES ({account:UInt64}, {vehicle:UInt64}, fromUnixTimestamp64Milli({at:Int64}, 'UTC'), 7, {lat7:Int32}, {lng7:Int32}, {cell:UInt64})`,
			clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicle", vehicleID(w.t, vehicle)),
			clickhouse.Named("at", int64(noon)+int64(i)*10_000), clickhouse.Named("lat7", int32(lat*1e7)),
			clickhouse.Named("lng7", int32(lng*1e7)),
			clickhouse.Named("cell", uint64(cell)))
	}
}

const searchBox = `"geometry":{"type":"Polygon","coordinates":[[[-97.7525,30.24],[-97.7475,30.24],[-97.7475,30.26],[-97.7525,30.26],[-97.7525,30.24]]]},` +
	`"from":"2026-01-31T00:00:00Z","until":"2026-02-01T00:00:00Z"`

func TestWhoWasInAnArea(t *testing.T) {
	w := newWorld(t)
	a, b := w.vehicle(`{"make":"Gillig","model":"Low Floor","tags":["bus"]}`),
		w.vehicle(`{"make":"Gillig","model":"Low Floor"}`)
	w.pass(w.account, a, 30.25, -97.755, 11) // five of them inside
	w.pass(w.account, b, 30.25, -97.748, 2)  // the first of them inside
	w.pass(w.account, b, 30.3, -97.75, 1)    // none
	stranger := w.newAccount("Second")
	w.pass(stranger, a, 30.25, -97.75, 1)

	first := fmt.Sprintf(`{"vehicle_id":%q,"entered_at":"2026-01-31T12:00:30.000Z","left_at":"2026-01-31T12:01:10.000Z","duration_s":40,"fixes":5,`+
		`"entry_lat":30.25,"entry_lng":-97.752,"exit_lat":30.25,"exit_lng":-97.748}`, a)
	got := string(w.do("POST", "/v1/search/area", `{`+searchBox+`,"vehicle_ids":["`+a+`"]}`).ok(200).body)
	if want := `{"data":[` + first + `],"pagination":{"page":1,"per_page":100,"total":1,"next_cursor":null}}` +
		"\n"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	found := func(path, more string) (all []string) {
		for _, s := range w.do("POST", path, `{`+searchBox+more+`}`).data() {
			all = append(all, fmt.Sprint(s["vehicle_id"], " ", s["fixes"]))
		}
		return all
	}
	for more, want := range map[string][]string{
		``:                       {a + " 5", b + " 1"},
		`,"min_duration_s":40`:   {a + " 5"},
		`,"min_duration_s":40.5`: nil,
		`,"tags":["bus"]`:        {a + " 5"},
		`,"tags":["truck"]`:      nil,
		`,"tags":["truck","bus"],"vehicle_ids":["` + b + `"]`: {a + " 5", b + " 1"},
		`,"vehicle_ids":["veh_99"]`:                           nil,
		`,"vehicle_ids":[],"tags":[]`:                         {a + " 5", b + " 1"},
	} {
		got := found("/v1/search/area", more)
		if vehicleID(t, a) > vehicleID(t, b) {
			for i, j := 0, len(got)-1; i < j; i, j = i+1, j-1 {
				got[i], got[j] = got[j], got[i]
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", more, got, want)
		}
	}
	// By page and by cursor.
	one := w.do("POST", "/v1/search/area?per_page=1", `{`+searchBox+`}`)
	if p := one.pagination(); p.Total != 2 || p.NextCursor == "" {
		t.Errorf("%+v", p)
	}
	next := w.do("POST", "/v1/search/area?per_page=1&cursor="+one.pagination().NextCursor, `{`+searchBox+`}`)
	second := w.do("POST", "/v1/search/area?per_page=1&page=2", `{`+searchBox+`}`)
	if !reflect.DeepEqual(next.data(), second.data()) || len(next.data()) != 1 ||
		reflect.DeepEqual(next.data(), one.data()) || next.pagination().NextCursor != "" {
		t.Errorf("after %v came %v and page 2 is %v", one.data(), next.data(), second.data())
	}
	// A larger one has cells that lie inside as a whole, and all the fixes.
	wide := strings.NewReplacer("-97.7525", "-97.8", "-97.7475", "-97.7", "30.24", "30.2", "30.26",
		"30.3").Replace(searchBox)
	if data := w.do("POST", "/v1/search/area", `{`+wide+`,"vehicle_ids":["`+a+`"]}`).data(); len(data) != 1 ||
		data[0]["fixes"] != 11.0 {
		t.Errorf("in a larger one: %v", data)
	}
	// A circle and a corridor hold the same five.
	for _, geometry := range []string{`{"type":"Circle","center":[-97.75,30.25],"radius_m":230}`,
		`{"type":"Corridor","coordinates":[[-97.752,30.25],[-97.748,30.25]],"width_m":10}`} {
		reply := w.do("POST", "/v1/search/area",
			`{"geometry":`+geometry+`,"from":"2026-01-31T00:00:00Z","until":"2026-02-01T00:00:00Z","vehicle_ids":["`+a+`"]}`)
		if data := reply.data(); len(data) != 1 || data[0]["fixes"] != 5.0 {
			t.Errorf("%s: %v", geometry, data)
		}
	}
	for format, begin := range map[string]string{"csv": "vehicle_id,entered_at,left_at,", "ndjson": `{"vehicle_id":`,
		"parquet": "PAR1", "arrow": "\xff\xff\xff\xff"} {
		if body := string(w.do("POST", "/v1/search/area?format="+format,
			`{`+searchBox+`}`).ok(200).body); !strings.HasPrefix(body, begin) {
			t.Errorf("%s begins %.60q", format, body)
		}
	}
	typ := reflect.TypeOf(track.AreaSpan{})
	for i, column := range track.AreaColumns {
		if typ.NumField() != len(track.AreaColumns) || typ.Field(i).Tag.Get("json") != column.Name {
			t.Errorf("member %d is %s, column %s", i, typ.Field(i).Tag.Get("json"), column.Name)
		}
	}
}

func TestAreaSearchesThatAreRefused(t *testing.T) {
	w := newWorld(t)
	box := func(west, east float64) string {
		return fmt.Sprintf(`"geometry":{"type":"Polygon","coordinates":[[[%g,30],[%g,30],[%g,30.5],[%g,30.5],[%g,30]]]}`,
			west, east, east, west, west)
	}
	const span = `,"from":"2026-01-31T00:00:00Z","until":"2026-02-01T00:00:00Z"`
	for body, pointer := range map[string]string{
		`{` + box(-98, -97) + span + `}`: "/geometry", // 5,300 km²
		`{` + box(-98, -98) + span + `}`: "/geometry/coordinates",
		// thin, and round the Earth
		`{"geometry":{"type":"Corridor","coordinates":[[-170,0],[-100,10],[0,0],[100,10]],"width_m":1}` + span +
			`}`: "/geometry",
		`{"geometry":{"type":"Point","coordinates":[1,2]}` + span +
			`}`: "/geometry/type",
		`{` + box(-98, -97.9) + `}`: "/from",
		`{` + box(-98, -97.9) + `,"from":"2026-01-31T00:00:00Z","until":"2026-03-31T00:00:00Z"}`:        "/until",
		`{` + box(-98, -97.9) + `,"from":"2026-01-31T00:00:00Z","until":"2026-01-31T00:00:00Z"}`:        "/until",
		`{` + box(-98, -97.9) + `,"from":"0001-01-01T00:00:00Z","until":"0001-01-02T00:00:00Z"}`:        "/from",
		`{` + box(-98, -97.9) + span + `,"vehicle_ids":["bus 7"]}`:                                      "/vehicle_ids/0",
		`{` + box(-98, -97.9) + span + `,"min_duration_s":-1}`:                                          "/min_duration_s",
		`{` + box(-98, -97.9) + span + `,"speed":1}`:                                                    "/speed",
		`{` + box(-98, -97.9) + strings.Replace(span, `"2026-01-31T00:00:00Z"`, `"yesterday"`, 1) + `}`: "/from",
	} {
		reply := w.do("POST", "/v1/search/area", body)
		var problem struct{ Errors []struct{ Pointer string } }
		if err := json.Unmarshal(reply.body, &problem); err != nil || reply.status != 422 {
			t.Errorf("%s: %d %s", body, reply.status, reply.body)
			continue
		}
		hit := false
		for _, e := range problem.Errors {
			hit = hit || strings.HasPrefix(e.Pointer, pointer)
		}
		if !hit {
			t.Errorf("%s: errors at %v, want %s", body, problem.Errors, pointer)
		}
	}
	// There and back through the same cells: neither large nor of many cells, and much to reckon.
	var way []string
	for i := range 3000 {
		way = append(way, fmt.Sprintf("[%g,%g]", -98+float64(i)*1e-5, 30+0.1*float64(i%2)))
	}
	p := w.do("POST", "/v1/search/area", `{"geometry":{"type":"Corridor","coordinates":[`+strings.Join(way, ",")+
		`],"width_m":10}`+span+`}`).problem(422, "validation_failed")
	wantEqual(t, "long way", p.Errors[0].Code+" "+p.Errors[0].Detail,
		"too_large is 33347 km long: at most 20000 can be searched")
	two := w.do("POST", "/v1/search/area", `{`+box(-98, -97.9)+
		`,"from":"0001-01-01T00:00:00Z","until":"9999-01-01T00:00:00Z"}`).problem(422, "validation_failed")
	wantEqual(t, "faults in order", two.Errors[0].Pointer+two.Errors[1].Pointer+two.Errors[2].Pointer, "/from/until/until")
	good := `{` + box(-98, -97.9) + span + `}`
	w.do("POST", "/v1/search/area", `{`).problem(400, "invalid_request")
	w.do("POST", "/v1/search/area?cursor=xyz", good).problem(400, "invalid_request")
	w.do("POST", "/v1/search/area?per_page=1001", good).problem(400, "invalid_request")
	w.do("POST", "/v1/search/area?format=csv&page=2", good).problem(400, "invalid_request")
	w.do("POST", "/v1/search/area", good, "Authorization", "Bearer "+w.newKey(w.account, auth.VehiclesRead)).problem(403,
		"insufficient_scope")
}

func TestHeatmap(t *testing.T) {
	w := newWorld(t)
	a := w.vehicle(`{"make":"Gillig","model":"Low Floor"}`)
	w.pass(w.account, a, 30.25, -97.75, 1)
	w.exec("INSERT INTO positions SELECT account, vehicle, fix_time + toIntervalSecond(400) AS fix_time, * EXCEPT (account, vehicle, fix_time) FROM positions")
	w.pass(w.newAccount("Second"), a, 30.25, -97.75, 3)
	const path = "/v1/heatmap?from=2026-01-31T00:00:00Z&until=2026-02-01T00:00:00Z"
	cell, err := h3.LatLngToCell(h3.LatLng{Lat: 30.25, Lng: -97.75}, fleet.CellResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, resolution := range []int{5, 8, 9} {
		above, err := cell.Parent(resolution)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := track.ShowHeat(&query.HeatCell{Cell: fleet.Cell(above), Fixes: 2, Vehicles: 1, Time: query.HeatCap})
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(shown)
		if err != nil {
			t.Fatal(err)
		}
		got := string(w.do("GET", fmt.Sprintf("%s&resolution=%d", path, resolution), "").ok(200).body)
		if got != `{"data":[`+string(want)+`],"pagination":{"page":1,"per_page":1,"total":1,"next_cursor":null}}`+"\n" ||
			shown.Seconds != 300 {
			t.Errorf("resolution %d: %s, want %s", resolution, got, want)
		}
	}
	var drawn struct {
		Features []struct {
			Geometry   struct{ Coordinates [][][2]float64 }
			Properties track.HeatCell
		}
	}
	reply := w.do("GET", path+"&format=geojson", "").ok(200)
	if err := json.Unmarshal(reply.body, &drawn); err != nil ||
		reply.header.Get("Content-Type") != export.GeoJSON.MediaType() {
		t.Fatalf("%v: %s", err, reply.body)
	}
	if len(drawn.Features) != 1 || drawn.Features[0].Properties.Fixes != 2 {
		t.Fatalf("%s", reply.body)
	}
	if ring := drawn.Features[0].Geometry.Coordinates[0]; len(ring) != 7 || ring[0] != ring[6] || ring[0][0] > -97 ||
		ring[0][1] < 30 {
		t.Errorf("hexagon %v", ring)
	}
	csv := string(w.do("GET", path+"&format=csv", "").ok(200).body)
	if lines := strings.Split(strings.TrimSpace(csv), "\n"); len(lines) != 2 ||
		!strings.HasPrefix(lines[0], "h3,lat,lng,fixes,vehicles,seconds") {
		t.Errorf("csv %s", csv)
	}
	for more, n := range map[string]int{"&bbox=-98,30,-97,31": 1, "&bbox=-97,30,-96,31": 0, "&vehicle_id=" + a: 1,
		"&vehicle_id=veh_99": 0} {
		if data := w.do("GET", path+more, "").data(); len(data) != n {
			t.Errorf("%s: %d cells, want %d", more, len(data), n)
		}
	}
	for _, bad := range []string{"/v1/heatmap", "/v1/heatmap?from=2026-01-31T00:00:00Z", path + "&resolution=4",
		path + "&resolution=10", path + "&bbox=1,2,3", path + "&format=gpx", path + "&vehicle_id=" + a + ",veh_99",
		"/v1/heatmap?from=2026-01-31T00:00:00Z&until=2026-03-31T00:00:00Z",
		"/v1/heatmap?until=2026-01-31T00:00:00Z&from=2026-03-31T00:00:00Z"} {
		w.do("GET", bad, "").problem(400, "invalid_request")
	}
	w.do("GET", path, "", "Authorization", "Bearer "+w.newKey(w.account, auth.VehiclesRead)).problem(403,
		"insufficient_scope")
	typ := reflect.TypeOf(track.HeatCell{})
	for i, column := range track.HeatColumns {
		if typ.NumField() != len(track.HeatColumns) || typ.Field(i).Tag.Get("json") != column.Name {
			t.Errorf("member %d is %s, column %s", i, typ.Field(i).Tag.Get("json"), column.Name)
		}
	}
}
