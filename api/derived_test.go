package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/track"
)

// row is a derived thing to be stored.
type row struct {
	vehicle  string
	entity   fleet.Entity
	revision uint32
	deleted  bool
	late     bool
}

// derive stores derived things as pipeline/follow does, with identities by their content.
func (w *world) derive(account fleet.AccountID, rows ...row) {
	w.t.Helper()
	batch, err := w.db.PrepareBatch(w.t.Context(), `INSERT INTO derivations
		(account, vehicle, kind, id, revision, recognised_at, start_at, end_at, local_date, open, deleted, late, digest, written_at, body)`)
	if err != nil {
		w.t.Fatal(err)
	}
	for i, r := range rows {
		vehicle := vehicleID(w.t, r.vehicle)
		h := r.entity.Header()
		if h.ID == 0 {
			of := uint64(0)
			switch e := r.entity.(type) {
			case *fleet.Visit:
				of = uint64(e.Fence)
			case *fleet.Alert:
				of = uint64(e.Rule)
			}
			h.ID = fleet.DerivedID(r.entity.Kind(),
				fleet.VehicleKey{Account: account, Vehicle: fleet.VehicleID(vehicle)}, h.Start, of)
		}
		body, err := json.Marshal(r.entity)
		if err != nil {
			w.t.Fatal(err)
		}
		written := (noon + fleet.Millis(i)*1000).Time().AddDate(0, 0, 1)
		if err := batch.Append(uint64(account), vehicle, string(r.entity.Kind()), h.ID, max(r.revision, 1), h.Start.Time(),
			h.Start.Time(), h.End.Time(), h.Start.Time().Truncate(24*time.Hour), h.Open, r.deleted, r.late, uint64(0), written,
			string(body)); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		w.t.Fatal(err)
	}
}

// at is an instant so many minutes after noon.
func at(minutes float64) fleet.Millis { return noon + fleet.Millis(minutes*60_000) }

func of[T any](v T) *T { return &v }

func head(from, to float64, open bool) fleet.Head {
	return fleet.Head{Start: at(from), End: at(to), Open: open}
}

var (
	depot  = fleet.Place{Lat: 30.26715, Lng: -97.74306}
	school = fleet.Place{Lat: 30.26815, Lng: -97.74306}
)

func sampleTrip(from, to float64) *fleet.Trip {
	return &fleet.Trip{
		Head: head(from, to, false), Device: 7, StartPlace: depot, EndPlace: school, Distance: 16093.44, Moving: 540_000,
		Idle: 30_000, MaxSpeed: 20, MeanSpeed: 15,
		OdometerStart: of(1609344.), OdometerEnd: of(1625437.44), FuelUsed: of(3.785411784), Fixes: 61, ClosedReason: "stop",
	}
}

// golden holds an answer against a file, with what differs from run to run replaced.
func (w *world) golden(name, path string, replace ...string) {
	w.t.Helper()
	body := strings.NewReplacer(replace...).Replace(string(w.do("GET", path, "").ok(200).body))
	golden(w.t, name+".json", []byte(body))
}

// day is a day of one vehicle: a trip of ten minutes, a stop, a charge, a trip that goes on, with all that
// belongs to it.
func (w *world) day() (vehicle string, replace []string) {
	w.t.Helper()
	vehicle = w.vehicle(`{"make":"Renault","model":"Twizy"}`)
	trip, going := sampleTrip(0, 10), sampleTrip(60, 75)
	going.Open, going.ClosedReason, going.OdometerStart, going.OdometerEnd, going.FuelUsed, going.SocStart,
		going.EnergyUsed = true, "", nil, nil, nil, of(88.5), of(1.25)
	gone := sampleTrip(200, 210)
	stop := &fleet.Stop{Head: head(10, 58, false), Place: school, Idle: 60_000, Fixes: 12, ClosedReason: "moved"}
	charge := &fleet.ChargingSession{Head: head(12, 50, false), Place: &school, SocStart: of(40.), SocEnd: of(88.5),
		Energy: of(3.1), PeakPower: of(7.4)}
	visit := &fleet.Visit{Head: head(9, 61, false), Fence: 5, Revision: 2, EntryPlace: school, ExitPlace: &depot,
		DwelledAt: at(14), Fixes: 13, ExitReason: "left"}
	braking := &fleet.DrivingEvent{Head: head(3, 3, false), What: fleet.HarshBraking, Source: "derived", Value: 4.2,
		Speed: 12, Place: depot}
	speeding := &fleet.DrivingEvent{Head: head(4, 5, false), What: fleet.Speeding, Source: "derived", Value: 5,
		Speed: 20, Place: depot}
	fast := &fleet.Alert{
		Head: head(4, 5, false), Rule: 8, RuleRevision: 3, What: fleet.AlertSpeeding, Severity: "warning", Place: &depot,
		Value: of(16.), Peak: of(20.), Threshold: of(15.), ResolvedReason: "cleared",
	}
	low := &fleet.Alert{Head: head(70, 75, true), Rule: 9, RuleRevision: 1, What: fleet.AlertBatteryLow,
		Severity: "critical", Value: of(19.), Peak: of(17.), Threshold: of(20.), Fence: 5}
	mistaken := &fleet.Alert{Head: head(30, 31, false), Rule: 8, RuleRevision: 3, What: fleet.AlertSpeeding,
		Severity: "warning", ResolvedReason: "cleared"}
	w.derive(w.account, row{vehicle: vehicle, entity: trip}, row{vehicle: vehicle, entity: going, revision: 4},
		row{vehicle: vehicle, entity: gone, revision: 2, deleted: true}, row{vehicle: vehicle, entity: stop},
		row{vehicle: vehicle, entity: charge, late: true}, row{vehicle: vehicle, entity: visit},
		row{vehicle: vehicle, entity: braking}, row{vehicle: vehicle, entity: speeding}, row{vehicle: vehicle, entity: fast},
		row{vehicle: vehicle, entity: low},
		row{vehicle: vehicle, entity: mistaken, revision: 2, deleted: true})
	w.drive(w.account, vehicle, 61)
	replace = []string{vehicle, "veh_VEHICLE"}
	for name, e := range map[string]fleet.Entity{
		"TRIP": trip, "GOING": going, "GONE": gone, "STOP": stop, "CHARGE": charge, "VISIT": visit, "BRAKING": braking,
		"SPEEDING": speeding, "FAST": fast, "LOW": low, "MISTAKEN": mistaken,
	} {
		replace = append(replace, track.DerivedID(e), e.Kind().Prefix()+name)
	}
	return vehicle, replace
}

// id finds the written identity of a thing in the replacements of day.
func id(replace []string, name string) string {
	for i := 1; i < len(replace); i += 2 {
		if strings.HasSuffix(replace[i], "_"+name) {
			return replace[i-1]
		}
	}
	return ""
}

func TestAnswersOfWhatIsDerivedAreTheGoldenOnes(t *testing.T) {
	w := newWorld(t)
	vehicle, replace := w.day()
	w.golden("trips", "/v1/trips?sort=from", replace...)
	w.golden("trips_metric", "/v1/trips?sort=from&units=metric", replace...)
	w.golden("trips_deleted", "/v1/trips?sort=updated_at&include=deleted&provisional=false", replace...)
	w.golden("trip", "/v1/trips/"+id(replace, "TRIP")+"?simplify_m=1", replace...)
	w.golden("trip_geojson", "/v1/trips/"+id(replace, "TRIP")+"?max_points=3&format=geojson&units=metric", replace...)
	w.golden("stops", "/v1/stops?vehicle_id="+vehicle, replace...)
	w.golden("stop", "/v1/stops/"+id(replace, "STOP"), replace...)
	w.golden("charging_sessions", "/v1/charging_sessions", replace...)
	w.golden("visits", "/v1/visits?geofence_id=geo_5", replace...)
	w.golden("driving_events", "/v1/driving_events", replace...)
	w.golden("alerts", "/v1/alerts?include_withdrawn=true", replace...)
	w.golden("alerts_metric", "/v1/alerts?kind=speeding&units=metric", replace...)
}

func TestListsOfWhatIsDerivedFilter(t *testing.T) {
	w := newWorld(t)
	_, replace := w.day()
	other := w.vehicle(`{"make":"Gillig","model":"Low Floor"}`)
	w.derive(w.account, row{vehicle: other, entity: sampleTrip(-600, -590)})
	stranger := w.newAccount("Second")
	w.derive(stranger, row{vehicle: other, entity: sampleTrip(-500, -490)})
	names := func(path string) string {
		var all []string
		for _, item := range w.do("GET", path, "").data() {
			name := strings.NewReplacer(replace...).Replace(item["id"].(string))
			if item["vehicle_id"] == other {
				name = "OTHER"
			}
			_, short, found := strings.Cut(name, "_")
			if !found {
				short = name
			}
			all = append(all, short)
		}
		return strings.Join(all, " ")
	}
	const day = "2026-01-31T"
	for path, want := range map[string]string{
		"/v1/trips":                     "GOING TRIP OTHER",
		"/v1/trips?vehicle_id=" + other: "OTHER",
		"/v1/trips?vehicle_id=veh_1":    "",
		"/v1/trips?from=" + day + "12:05:00Z&until=" + day + "12:06:00Z":                   "TRIP", // cut by neither end
		"/v1/trips?from=" + day + "12:10:00Z&until=" + day + "13:00:00Z":                   "",     // half open on both
		"/v1/trips?from=" + day + "12:09:59.999Z&until=" + day + "13:00:00.001Z&sort=from": "TRIP GOING",
		"/v1/trips?from=2026-02-01T00:00:00Z":                                              "GOING", // it has no end yet
		"/v1/trips?provisional=true":                                                       "GOING",
		"/v1/trips?provisional=false":                                                      "TRIP OTHER",
		"/v1/trips?include=deleted":                                                        "GONE GOING TRIP OTHER",
		"/v1/trips?updated_since=2026-02-01T12:00:01Z":                                     "GOING",
		"/v1/trips?updated_since=2026-02-01T12:00:01Z&include=deleted&sort=updated_at":     "GOING GONE",
		"/v1/charging_sessions?late=true":                                                  "CHARGE",
		"/v1/charging_sessions?late=false":                                                 "",
		"/v1/visits?geofence_id=geo_5,geo_6":                                               "VISIT",
		"/v1/visits?geofence_id=geo_6":                                                     "",
		"/v1/driving_events?kind=speeding":                                                 "SPEEDING",
		"/v1/driving_events?kind=speeding,harsh_braking":                                   "SPEEDING BRAKING",
		"/v1/driving_events?from=" + day + "12:03:00Z&until=" + day + "12:03:01Z":          "BRAKING", // a moment
		"/v1/driving_events?from=" + day + "12:02:00Z&until=" + day + "12:03:00Z":          "",
		"/v1/alerts":                         "LOW FAST",
		"/v1/alerts?status=raised":           "LOW",
		"/v1/alerts?status=resolved":         "FAST",
		"/v1/alerts?status=withdrawn":        "MISTAKEN",
		"/v1/alerts?status=withdrawn,raised": "LOW MISTAKEN",
		"/v1/alerts?include_withdrawn=true":  "LOW MISTAKEN FAST",
		"/v1/alerts?severity=critical":       "LOW",
		"/v1/alerts?kind=speeding":           "FAST",
		"/v1/alerts?rule_id=rul_8":           "FAST",
		"/v1/alerts?geofence_id=geo_5":       "LOW",
		"/v1/alerts?acknowledged=true":       "",
		"/v1/alerts?acknowledged=false":      "LOW FAST",
	} {
		if got := names(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for _, path := range []string{
		"/v1/trips?vehicle_id=1", "/v1/trips?from=2026-01-31T12:00:00Z&until=2026-01-31T12:00:00Z", "/v1/trips?sort=distance",
		"/v1/trips?include=all", "/v1/trips?geofence_id=geo_5", "/v1/visits?geofence_id=5", "/v1/driving_events?kind=parking",
		"/v1/alerts?status=open", "/v1/alerts?rule_id=geo_1", "/v1/alerts?severity=", "/v1/trips?cursor=x",
		"/v1/trips?format=gpx", "/v1/trips?format=csv&page=2", "/v1/trips?driver=",
		"/v1/trips/" + id(replace, "TRIP") + "?max_points=1",
		"/v1/trips/" + id(replace, "TRIP") + "?format=xls",
	} {
		w.do("GET", path, "").problem(400, "invalid_request")
	}
}

func TestListsOfWhatIsDerivedPage(t *testing.T) {
	w := newWorld(t)
	v := w.vehicle(`{"make":"Gillig","model":"Low Floor"}`)
	var rows []row
	for i := range 23 {
		rows = append(rows, row{vehicle: v, entity: sampleTrip(float64(i/2), float64(i))}) // two begin together
		rows[i].entity.Header().ID = uint64(1000 + i)
	}
	w.derive(w.account, rows...)
	for _, sort := range []string{"from", "-from", "updated_at", "-updated_at"} {
		seen := map[string]bool{}
		var first string
		for next := ""; ; {
			reply := w.do("GET", "/v1/trips?per_page=5&sort="+sort+next, "")
			for _, trip := range reply.data() {
				id := trip["id"].(string)
				if seen[id] {
					t.Errorf("%s: %s twice", sort, id)
				}
				if seen[id] = true; first == "" {
					first = id
				}
			}
			p := reply.pagination()
			if p.Total != 23 {
				t.Fatalf("%s: total %d", sort, p.Total)
			}
			if p.NextCursor == "" {
				break
			}
			next = "&cursor=" + p.NextCursor
		}
		want := "trp_1000"
		if sort[0] == '-' {
			want = "trp_1022"
		}
		if len(seen) != 23 || first != want {
			t.Errorf("%s: %d of 23, from %s", sort, len(seen), first)
		}
	}
	if got := w.do("GET", "/v1/trips?per_page=10&page=3&sort=from", "").data(); len(got) != 3 ||
		got[2]["id"] != "trp_1022" {
		t.Errorf("page 3: %v", got)
	}
}

func TestExportsOfWhatIsDerived(t *testing.T) {
	w := newWorld(t)
	_, replace := w.day()
	records, err := csv.NewReader(
		bytes.NewReader(w.do("GET", "/v1/trips?format=csv&sort=from&units=metric", "").ok(200).body)).ReadAll()
	if err != nil || len(records) != 3 {
		t.Fatalf("%v, %v", records, err)
	}
	const header = "id vehicle_id device_id driver_id driver driver_source from until duration_s local_on start_lat start_lng start_address end_lat end_lng end_address distance_km distance_estimated_km moving_s unrecorded_s unrecorded idle_s max_speed_kmh mean_speed_kmh " +
		"odometer_start_km odometer_end_km fuel_used_l energy_used_kwh soc_start_pct soc_end_pct fixes closed_reason provisional late revision updated_at deleted"
	wantEqual(t, "header", strings.Join(records[0], " "), header)
	const first = "trp_TRIP|veh_VEHICLE|dev_7||||2026-01-31T12:00:00.000Z|2026-01-31T12:10:00.000Z|600|2026-01-31|30.26715|-97.74306|Austin, Texas, US|30.26815|-97.74306|Austin, Texas, US|16.093|0|540|0|false|30|72|54|" +
		"1609.344|1625.437|3.785||||61|stop|false|false|1|2026-02-01T12:00:00.000Z|false"
	wantEqual(t, "first row", strings.NewReplacer(replace...).Replace(strings.Join(records[1], "|")), first)

	var line map[string]any
	lines := bytes.Split(bytes.TrimSpace(w.do("GET", "/v1/stops", "", "Accept", "application/x-ndjson").ok(200).body),
		[]byte("\n"))
	if err := json.Unmarshal(lines[0], &line); err != nil || len(lines) != 1 ||
		line["place"].(map[string]any)["lat"] != school.Lat {
		t.Errorf("%s: %v", lines, err)
	}
	for format, first := range map[string]string{"parquet": "PAR1", "arrow": "\xff\xff\xff\xff"} {
		for _, path := range []string{"trips", "stops", "charging_sessions", "visits", "driving_events", "alerts"} {
			if body := w.do("GET", "/v1/"+path+"?format="+format, "").ok(200).body; !bytes.HasPrefix(body, []byte(first)) {
				t.Errorf("%s of %s begins %q", format, path, body[:min(8, len(body))])
			}
		}
	}
	trip := "/v1/trips/" + id(replace, "TRIP") + "?format="
	for format, part := range map[string]string{
		"gpx": `<trkpt lat="30.26715" lon="-97.74306">`, "kml": "<gx:coord>-97.74306 30.26715",
		"polyline": `{"precision":5,"polyline":"`, "csv": "fix_at,device_at",
		"ndjson": `{"fix_at":"2026-01-31T12:00:00.000Z"`,
	} {
		body := string(w.do("GET", trip+format, "").ok(200).body)
		if !strings.Contains(body, part) {
			t.Errorf("%s: %.300s", format, body)
		}
		if n := strings.Count(body, "<trkpt"); format == "gpx" && n != 55 { // 61 without the six jumps
			t.Errorf("%d points", n)
		}
	}
}

func TestWhatIsDerivedIsNobodyElses(t *testing.T) {
	w := newWorld(t)
	vehicle, replace := w.day()
	w.do("PUT", "/v1/trips/"+id(replace, "TRIP")+"/driver", `{"driver":"Jane"}`).ok(200)
	w.key = w.newKey(w.newAccount("Second"), auth.Admin)
	for path, name := range map[string]string{"trips": "TRIP", "stops": "STOP", "charging_sessions": "CHARGE",
		"visits": "VISIT", "driving_events": "BRAKING", "alerts": "FAST"} {
		w.do("GET", "/v1/"+path+"/"+id(replace, name), "").problem(404, "not_found")
		for _, query := range []string{"", "?vehicle_id=" + vehicle, "?include=deleted"} {
			wantEqual(t, path+query, w.do("GET", "/v1/"+path+query, "").pagination().Total, 0)
		}
	}
	w.do("POST", "/v1/alerts/"+id(replace, "FAST")+"/acknowledge", "").problem(404, "not_found")
	w.do("PUT", "/v1/trips/"+id(replace, "TRIP")+"/driver", `{"driver":"Eve"}`).problem(404, "not_found")
	w.do("DELETE", "/v1/trips/"+id(replace, "TRIP")+"/driver", "").problem(404, "not_found")
	const span = "from=2026-01-31T00:00:00Z&until=2026-02-01T00:00:00Z"
	for _, path := range []string{"/v1/vehicles/" + vehicle + "/route?", "/v1/vehicles/" + vehicle + "/score?"} {
		w.do("GET", path+span, "").problem(404, "not_found")
	}
	for _, path := range []string{"/v1/trips?driver=Jane&", "/v1/vehicles/score?", "/v1/drivers/score?", "/v1/heatmap?",
		"/v1/heatmap?vehicle_id=" + vehicle + "&"} {
		wantEqual(t, path, w.do("GET", path+span, "").pagination().Total, 0)
	}
}

func TestATripThatWasReplacedSaysSo(t *testing.T) {
	w := newWorld(t)
	_, replace := w.day()
	p := w.do("GET", "/v1/trips/"+id(replace, "GONE"), "").problem(404, "not_found")
	if !strings.Contains(p.Detail, "replaced") || !strings.Contains(p.Detail, "&from=2026-01-31T15:20:00.000Z") {
		t.Errorf("detail %q", p.Detail)
	}
	w.do("GET", "/v1/trips/trp_1", "").problem(404, "not_found")
	w.do("GET", "/v1/trips/"+strings.Replace(id(replace, "STOP"), "stp_", "trp_", 1), "").problem(404, "not_found")
	w.do("PUT", "/v1/trips/"+id(replace, "GONE")+"/driver", `{"driver":"Jane"}`).problem(404, "not_found")
	stranger := w.newKey(w.newAccount("Second"), auth.Admin)
	for _, name := range []string{"TRIP", "STOP", "CHARGE", "VISIT", "BRAKING", "FAST"} {
		path := map[string]string{"TRIP": "trips", "STOP": "stops", "CHARGE": "charging_sessions", "VISIT": "visits",
			"BRAKING": "driving_events", "FAST": "alerts"}[name]
		w.do("GET", "/v1/"+path+"/"+id(replace, name), "").ok(200)
		w.do("GET", "/v1/"+path+"/"+id(replace, name), "", "Authorization", "Bearer "+stranger).problem(404, "not_found")
	}
	w.do("POST", "/v1/alerts/"+id(replace, "FAST")+"/acknowledge", "{}", "Authorization",
		"Bearer "+stranger).problem(404, "not_found")
	w.do("PUT", "/v1/trips/"+id(replace, "TRIP")+"/driver", `{"driver":"Jane"}`, "Authorization",
		"Bearer "+stranger).problem(404, "not_found")
	if got := w.do("GET", "/v1/alerts/"+id(replace, "MISTAKEN"), "").ok(200).object()["status"]; got != "withdrawn" {
		t.Errorf("status %v", got)
	}
}

func TestAlertsAreAcknowledgedOnce(t *testing.T) {
	w := newWorld(t)
	_, replace := w.day()
	path := "/v1/alerts/" + id(replace, "FAST")
	if got := w.do("GET", path, "").ok(200).object(); got["acknowledged_at"] != nil || got["acknowledged_by"] != nil {
		t.Errorf("%v", got)
	}
	first := w.do("POST", path+"/acknowledge", `{"note":" called the driver "}`).ok(200).object()
	if first["acknowledged_at"] == nil || first["acknowledged_note"] != "called the driver" ||
		!strings.HasPrefix(fmt.Sprint(first["acknowledged_by"]), "key_") || first["status"] != "resolved" {
		t.Errorf("%v", first)
	}
	again := w.do("POST", path+"/acknowledge", `{"note":"another"}`).ok(200).object()
	if diff := cmp.Diff(first, again); diff != "" {
		t.Error(diff)
	}
	if got := w.do("GET", "/v1/alerts?acknowledged=true", "").data(); len(got) != 1 || cmp.Diff(got[0], first) != "" {
		t.Errorf("%v", got)
	}
	w.do("POST", "/v1/alerts/"+id(replace, "LOW")+"/acknowledge", "").ok(200)
	w.do("POST", path+"/acknowledge", `{"note":5}`).problem(422, "validation_failed")
	if got := w.do("GET", "/v1/alerts?acknowledged=false", "").data(); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestTheDriverOfATripSurvivesItsDerivation(t *testing.T) {
	w := newWorld(t)
	v := w.vehicle(`{"make":"Gillig","model":"Low Floor"}`)
	cus := w.customer(`{"display_name":"Janet Doe"}`)
	trip, open := sampleTrip(0, 10), sampleTrip(100, 101)
	open.Open = true
	w.derive(w.account, row{vehicle: v, entity: trip}, row{vehicle: v, entity: open})
	driver := func(e fleet.Entity) string {
		got := w.do("GET", "/v1/trips/"+track.DerivedID(e), "").ok(200).object()
		return fmt.Sprint(got["driver"], " ", got["driver_id"])
	}
	path := func(e fleet.Entity) string { return "/v1/trips/" + track.DerivedID(e) + "/driver" }
	wantEqual(t, "at first", driver(trip), "<nil> <nil>")
	wantEqual(t, "answer", w.do("PUT", path(trip), `{"driver":" Jane Doe "}`).ok(200).object()["driver"], "Jane Doe")
	w.do("PUT", path(open), `{"driver":"`+cus+`"}`).ok(200)
	wantEqual(t, "by name", driver(trip), "Jane Doe <nil>")
	wantEqual(t, "by id", driver(open), "<nil> "+cus)
	wantEqual(t, "trips of a driver", len(w.do("GET", "/v1/trips?driver=Jane+Doe", "").data()), 1)

	// Later data begins the trip earlier, which gives it another identity; and the open one goes on for an hour.
	longer := sampleTrip(-2, 10)
	closed := sampleTrip(100, 160)
	w.derive(w.account, row{vehicle: v, entity: trip, revision: 2, deleted: true}, row{vehicle: v, entity: longer},
		row{vehicle: v, entity: closed, revision: 2})
	wantEqual(t, "derived again", driver(longer), "Jane Doe <nil>")
	wantEqual(t, "went on", driver(closed), "<nil> "+cus)
	for query, want := range map[string]string{"Jane+Doe": track.DerivedID(longer), cus: track.DerivedID(closed)} {
		if got := w.do("GET", "/v1/trips?driver="+query, "").data(); len(got) != 1 || got[0]["id"] != want {
			t.Errorf("trips of %s: %v", query, got)
		}
	}
	// The newest statement counts, and one that changes nothing writes nothing.
	w.do("PUT", path(longer), `{"driver":"John Roe"}`).ok(200)
	for range 2 {
		w.do("DELETE", path(closed), "").ok(204)
		w.do("PUT", path(longer), `{"driver":"John Roe"}`).ok(200)
	}
	wantEqual(t, "newest", driver(longer), "John Roe <nil>")
	wantEqual(t, "nobody", driver(closed), "<nil> <nil>")
	wantEqual(t, "trips of who drove none",
		len(w.do("GET", "/v1/trips?driver=Jane+Doe", "").data())+len(w.do("GET", "/v1/trips?driver="+cus, "").data()), 0)
	var n uint64
	if err := w.db.QueryRow(t.Context(), "SELECT count() FROM trip_drivers FINAL").Scan(&n); err != nil || n != 4 {
		t.Errorf("%d statements, %v", n, err)
	}
	for _, body := range []string{`{"driver":""}`, `{"driver":" "}`, `{"driver":"cus_x"}`, `{"driver":"cus_77"}`, `{}`,
		`{"driver":5}`} {
		w.do("PUT", path(longer), body).problem(422, "validation_failed")
	}
}

// TestDaysGoByTheZoneThatHoldsNow changes the zone of an account, and then of a vehicle, and asks for the days of what
// was derived before.
func TestDaysGoByTheZoneThatHoldsNow(t *testing.T) {
	w := newWorld(t)
	vehicle, _ := w.day()
	days := func() string {
		var all []string
		for _, path := range []string{"trips", "stops", "charging_sessions", "visits", "driving_events", "alerts"} {
			on := map[string]bool{}
			for _, row := range w.do("GET", "/v1/"+path, "").data() {
				on[row["local_on"].(string)] = true
			}
			all = append(all, fmt.Sprint(len(on), on["2026-01-31"], on["2026-02-01"]))
		}
		return strings.Join(slices.Compact(all), ", ")
	}
	wantEqual(t, "in UTC", days(), "1 true false")
	w.do("PATCH", "/v1/account", `{"timezone":"Pacific/Kiritimati"}`).ok(200)
	wantEqual(t, "fourteen hours on", days(), "1 false true")
	trip := w.do("GET", "/v1/trips", "").data()[0]["id"].(string)
	wantEqual(t, "one trip", w.do("GET", "/v1/trips/"+trip, "").ok(200).object()["local_on"], "2026-02-01")
	w.do("PATCH", "/v1/vehicles/"+vehicle, `{"timezone":"America/Chicago"}`).ok(200)
	wantEqual(t, "by the vehicle's own", days(), "1 true false")
}

// TestPagesFromMemoryAreThoseOfTheStore asks for the newest of what vehicles did while that goes on, is repaired in
// months that are over, comes late, is taken out of the store and merged there, and while months go by: memory, which
// knows how much there was before, answers what the store counts.
func TestPagesFromMemoryAreThoseOfTheStore(t *testing.T) {
	memory, store, _, clock := besideMemory(t)
	random := rand.New(rand.NewPCG(9, 3))
	now := func() fleet.Millis { return fleet.Millis(clock.Load()) }
	const day = 24 * 60. // minutes
	var cars []string
	for n := range 3 {
		cars = append(cars, store.vehicle(fmt.Sprintf(`{"make":"M%d","model":"B"}`, n)))
	}
	made := map[string][]*fleet.Trip{}
	for step := range 60 {
		car := cars[random.IntN(len(cars))]
		ago := float64(random.IntN(3)) * day // from noon of a day of January to now
		if random.IntN(3) > 0 {
			ago = random.Float64() * 200 * day
		}
		begin := float64(now()-noon)/60_000 - ago
		did := ""
		switch what := random.IntN(12); {
		case what < 5:
			did = fmt.Sprintf("a trip %.1f days ago", ago/day)
			trip := sampleTrip(begin, begin+20)
			store.derive(store.account, row{vehicle: car, entity: trip})
			made[car] = append(made[car], trip)
		case what < 7 && len(made[car]) > 0:
			did = "a repair"
			store.derive(store.account, row{vehicle: car, entity: made[car][random.IntN(len(made[car]))],
				revision: uint32(2 + step), deleted: random.IntN(2) == 0})
		case what < 10:
			did = fmt.Sprintf("positions %.1f days ago", ago/day)
			store.exec(fmt.Sprintf(`INSERT INTO positions (account, vehicle, fix_time, device, device_time, received_at, lat7, lng7)
				SELECT %d, %d, fromUnixTimestamp64Milli(toInt64(%d + number * 60000), 'UTC') AS at, 7, at, at, 302671500, -977430600
				FROM numbers(%d)`, store.account, vehicleID(t, car), at(begin)/60_000*60_000, 1+random.IntN(20)))
		case what == 10:
			did = "a merge"
			table := []string{"trips", "positions"}[random.IntN(2)]
			store.exec("OPTIMIZE TABLE " + table + " FINAL")
		default:
			did = "time went by, and what was at its begin is gone"
			clock.Add(int64(random.IntN(12)) * int64(day) * 60_000)
			store.exec(fmt.Sprintf("ALTER TABLE %s DROP PARTITION '%s'", []string{"trips", "positions"}[random.IntN(2)],
				now().Time().AddDate(0, -2-random.IntN(5), 0).Format("200601")))
		}
		for _, one := range []string{car, cars[random.IntN(len(cars))]} {
			for _, path := range []string{"/v1/trips?per_page=3&vehicle_id=" + one, "/v1/trips?per_page=100&vehicle_id=" + one,
				"/v1/vehicles/" + one + "/positions?per_page=5&sort=-fix_at"} {
				got, want := string(memory.do("GET", path, "").ok(200).body), string(store.do("GET", path, "").ok(200).body)
				if got != want {
					t.Fatalf("step %d, after %s: GET %s\nmemory %s\nstore  %s", step, did, path, got, want)
				}
			}
		}
	}
	for car, trips := range made {
		if len(trips) < 3 {
			t.Errorf("%s had %d trips: that tells little", car, len(trips))
		}
	}
}
