package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/track"
	"github.com/motorpool/fleet/api/units"
)

func TestTheRouteOfADayIsTheGoldenOne(t *testing.T) {
	w := newWorld(t)
	vehicle, replace := w.day()
	const span = "from=2026-01-31T12:05:00Z&until=2026-01-31T14:00:00Z"
	w.golden("route", "/v1/vehicles/"+vehicle+"/route?max_points=3&"+span, replace...)
	w.golden("route_geojson", "/v1/vehicles/"+vehicle+"/route?format=geojson&simplify_m=1&units=metric&"+span, replace...)
}

// What a route holds does not depend on how its span is chosen.
func TestARouteIsNeverCut(t *testing.T) {
	w := newWorld(t)
	vehicle, _ := w.day()
	route := func(from, to string) track.RouteHistory {
		var got track.RouteHistory
		if err := json.Unmarshal(w.do("GET", "/v1/vehicles/"+vehicle+"/route?geometry=false&from=2026-01-31T"+from+
			"Z&until=2026-01-31T"+to+"Z", "").ok(200).body, &got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	for span, want := range map[string]string{
		"12:00:00 12:00:01": "trip",
		"12:09:59 12:10:01": "trip stop",
		"12:30:00 12:30:01": "stop",
		"12:57:00 13:30:00": "stop gap trip",
		"12:59:00 12:59:30": "",
		"11:00:00 15:00:00": "trip stop gap trip",
	} {
		from, to, _ := strings.Cut(span, " ")
		got := route(from, to)
		var kinds []string
		for _, leg := range got.Legs {
			kinds = append(kinds, leg.Kind)
			if leg.Geometry != nil {
				t.Errorf("%s: geometry %s", span, leg.Geometry)
			}
		}
		wantEqual(t, span, strings.Join(kinds, " "), want)
		trips := strings.Count(want, "trip")
		if got.Totals.Trips != trips || fmt.Sprintf("%.3f", got.Totals.DistanceMi) != fmt.Sprintf("%.3f", 10*float64(trips)) {
			t.Errorf("%s: %+v", span, got.Totals)
		}
	}
	all := route("11:00:00", "15:00:00").Totals
	if all.UnknownS != 120 || all.StoppedS != 48*60 || all.IdleS != 120 || all.MovingS != 1080 || all.Gaps != 1 ||
		all.Stops != 1 {
		t.Errorf("%+v", all)
	}
}

func TestRoutesAsFilesAndTheirLimits(t *testing.T) {
	w := newWorld(t)
	vehicle, _ := w.day()
	path := "/v1/vehicles/" + vehicle + "/route?from=2026-01-31T00:00:00Z&until=2026-02-01T00:00:00Z"
	for format, part := range map[string]string{"gpx": "<trkpt", "kml": "<gx:coord>", "polyline": `"points":55`,
		"csv": "fix_at,device_at", "geojson": `"type":"Point"`} {
		if body := string(w.do("GET", path+"&format="+format, "").ok(200).body); !strings.Contains(body, part) {
			t.Errorf("%s: %.300s", format, body)
		}
	}
	if n := strings.Count(string(w.do("GET", path+"&format=gpx&simplify_m=1", "").ok(200).body), "<trkpt"); n != 2 {
		t.Errorf("%d points of a straight line", n)
	}
	w.do("GET", "/v1/vehicles/"+vehicle+"/route", "").problem(400, "invalid_request")
	w.do("GET", "/v1/vehicles/"+vehicle+"/route?from=2026-01-31T00:00:00Z", "").problem(400, "invalid_request")
	w.do("GET", "/v1/vehicles/"+vehicle+"/route?from=2026-01-31T00:00:00Z&until=2026-06-01T00:00:00Z", "").problem(400,
		"invalid_request")
	w.do("GET", "/v1/vehicles/"+vehicle+"/route?from=2026-01-31T00:00:00Z&until=2026-01-30T00:00:00Z", "").problem(400,
		"invalid_request")
	w.do("GET", "/v1/vehicles/veh_1/route?from=2026-01-31T00:00:00Z&until=2026-02-01T00:00:00Z",
		"").problem(404, "not_found")
}

func TestAWayThatNobodySawIsALegOfItsOwn(t *testing.T) {
	w := newWorld(t)
	v := w.vehicle(`{"make":"Gillig","model":"Low Floor"}`)
	before, way, after := sampleTrip(0, 5), sampleTrip(5, 95), sampleTrip(95, 99)
	before.ClosedReason, way.ClosedReason = "gap", "gap"
	way.Estimated, way.Moving, way.Idle, way.Unrecorded, way.Unseen, way.MaxSpeed = way.Distance, 0, 0, 5_400_000, true, 0
	way.MeanSpeed = 100 // as nobody measured it, the highest speed of the route it is not
	after.Estimated, after.Unrecorded = after.Distance/4, 60_000
	w.derive(w.account, row{vehicle: v, entity: before}, row{vehicle: v, entity: way}, row{vehicle: v, entity: after})
	const span = "from=2026-01-31T00:00:00Z&until=2026-02-01T00:00:00Z"
	var got track.RouteHistory
	text := w.do("GET", "/v1/vehicles/"+v+"/route?geometry=false&"+span, "").ok(200).body
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, leg := range got.Legs {
		kinds = append(kinds, leg.Kind)
	}
	wantEqual(t, "legs", strings.Join(kinds, " "), "trip unrecorded trip")
	if leg := got.Legs[1]; leg.Trip == nil || !leg.Trip.Unrecorded || leg.Trip.UnrecordedS != 5400 ||
		leg.Trip.EstimatedMi != leg.Trip.DistanceMi {
		t.Errorf("%+v", leg.Trip)
	}
	if sum := got.Totals; sum.Trips != 2 || sum.Unrecorded != 1 || sum.Gaps != 0 ||
		fmt.Sprintf("%.2f %.2f", sum.DistanceMi, sum.EstimatedMi) != "30.00 12.50" ||
		sum.UnrecordedS != 5460 || sum.MaxSpeedMph >= 200 {
		t.Errorf("%+v", sum)
	}
	score := w.do("GET", "/v1/vehicles/"+v+"/score?"+span, "").ok(200).object()
	wantEqual(t, "score", fmt.Sprint(score["trips"], score["distance_mi"]), "2 17.5")
}

// A fix in which one trip ends and the next begins belongs to both lines.
func TestTripsThatTouchShareAFix(t *testing.T) {
	w := newWorld(t)
	v := w.vehicle(`{"make":"Gillig","model":"Low Floor"}`)
	first, second := sampleTrip(0, 5), sampleTrip(5, 9)
	first.ClosedReason = "device_change"
	w.derive(w.account, row{vehicle: v, entity: first}, row{vehicle: v, entity: second})
	w.drive(w.account, v, 61)
	var got track.RouteHistory
	if err := json.Unmarshal(w.do("GET", "/v1/vehicles/"+v+
		"/route?from=2026-01-31T00:00:00Z&until=2026-02-01T00:00:00Z&simplify_m=1", "").ok(200).body, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Legs) != 2 || !strings.HasSuffix(string(got.Legs[0].Geometry), "[-97.74306,30.27015]]}") ||
		!strings.Contains(string(got.Legs[1].Geometry), "[[-97.74306,30.27015],") {
		t.Errorf("%s\n%s", got.Legs[0].Geometry, got.Legs[1].Geometry)
	}
}

func TestScoresShowWhatTheyAreMadeOf(t *testing.T) {
	w := newWorld(t)
	vehicle, replace := w.day()
	other := w.vehicle(`{"make":"Gillig","model":"Low Floor"}`)
	short := sampleTrip(0, 10)
	short.Distance = 9_999
	w.derive(w.account, row{vehicle: other, entity: short})
	w.derive(w.newAccount("Second"), row{vehicle: other, entity: sampleTrip(20, 30)})
	replace = append(replace, other, "veh_OTHER")
	for _, name := range []string{"TRIP", "GOING"} {
		w.do("PUT", "/v1/trips/"+id(replace, name)+"/driver", `{"driver":"Jane"}`).ok(200)
	}
	const span = "from=2026-01-31T00:00:00Z&until=2026-02-01T00:00:00Z"
	w.golden("score_vehicle", "/v1/vehicles/"+vehicle+"/score?"+span, replace...)
	w.golden("score_vehicles", "/v1/vehicles/score?"+span, replace...)
	w.golden("score_drivers", "/v1/drivers/score?units=metric&"+span, replace...)
	// By hand: 32.187 km with one harsh braking and 60 s of 1080 s above the limit.
	want, _ := fleet.Score(fleet.ScoreInput{Distance: 2 * 16093.44, Driving: 1_080_000, Speeding: 60_000, Braking: 1})
	if want < 60 || want > 66 {
		t.Errorf("score %v", want)
	}
	for _, path := range []string{"/v1/vehicles/" + vehicle + "/score?" + span, "/v1/vehicles/score?sort=score&" + span,
		"/v1/drivers/score?" + span} {
		got := w.do("GET", path, "").ok(200).object()
		if list, ok := got["data"].([]any); ok {
			got = list[0].(map[string]any)
		}
		if got["score"] != units.Rounded(want, 1) || got["trips"] != 2. || got["harsh_braking"] != 1. ||
			got["speeding_s"] != 60. || got["definitions_version"] == "" {
			t.Errorf("%s: %v", path, got)
		}
	}
	// Spans side by side count nothing twice and leave nothing out.
	trips := 0.
	for _, part := range []string{"from=2026-01-31T00:00:00Z&until=2026-01-31T12:05:00Z",
		"from=2026-01-31T12:05:00Z&until=2026-02-01T00:00:00Z"} {
		trips += w.do("GET", "/v1/vehicles/"+vehicle+"/score?"+part, "").ok(200).object()["trips"].(float64)
	}
	wantEqual(t, "trips of two halves", trips, 2.)
	if got := w.do("GET", "/v1/vehicles/"+vehicle+"/score?until=2020-01-01T00:00:00Z",
		"").ok(200).object(); got["score"] != nil || got["harsh_events_per_100_km"] != nil {
		t.Errorf("without any trip: %v", got)
	}
	page := w.do("GET", "/v1/vehicles/score?per_page=1&"+span, "").pagination()
	if got := w.do("GET", "/v1/vehicles/score?per_page=1&cursor="+page.NextCursor+"&"+span, ""); len(got.data()) != 1 ||
		got.pagination().NextCursor != "" || page.Total != 2 {
		t.Errorf("second page: %s", got.body)
	}
	// Without an end they end now, and all pages at the same now.
	open := "/v1/vehicles/score?per_page=1&from=2026-01-31T00:00:00Z"
	first := w.do("GET", open, "").ok(200)
	w.clock.Add(int64(time.Hour))
	second := w.do("GET", open+"&cursor="+first.pagination().NextCursor, "").ok(200)
	wantEqual(t, "end of the second page", second.data()[0]["until"], first.data()[0]["until"])
	if body := string(w.do("GET", "/v1/vehicles/score?format=csv&"+span, "").ok(200).body); strings.Count(body,
		"\n") != 3 || !strings.HasPrefix(body, "vehicle_id,driver_id,driver,from,until,score,") {
		t.Errorf("csv: %s", body)
	}
}
