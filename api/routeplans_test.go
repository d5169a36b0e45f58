package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
)

func TestARoutePlanSaysWhatItsStopsAre(t *testing.T) {
	w := newWorld(t)
	vehicle := w.vehicle(`{"make":"A","model":"B"}`)
	fence := w.do("POST", "/v1/geofences", `{"name":"lot","geometry":`+lot+`}`).ok(201).id()
	const times = `"from":"2026-03-02T08:00:00Z","until":"2026-03-02T18:00:00Z"`
	plan := func(stops, more string) string {
		return `{"name":"north","vehicle_id":"` + vehicle + `",` + times + `,"stops":[` + stops + `]` + more + `}`
	}
	made := w.do("POST", "/v1/route_plans", plan(`{"geofence_id":"`+fence+
		`","stay_s":600},{"lat":30.3,"lng":-97.7,"arrive_until":"2026-03-02T09:00:00Z"},{"id":"1","lat":30.4,"lng":-97.7,"radius_m":50}`,
		`,"corridor":{"type":"Corridor","coordinates":[[-97.7,30.3],[-97.7,30.4]],"width_m":400}`)).ok(201)
	stops := made.object()["stops"].([]any)
	for i, want := range []string{"2 map[lat:true lng:true radius_m:false]", "3 map[lat:true lng:true radius_m:true]",
		"1 map[lat:true lng:true radius_m:true]"} {
		stop := stops[i].(map[string]any)
		has := map[string]bool{}
		for _, name := range []string{"lat", "lng", "radius_m"} {
			_, has[name] = stop[name]
		}
		wantEqual(t, fmt.Sprint("stop ", i), fmt.Sprint(stop["id"], " ", has), want)
	}
	wantEqual(t, "listed",
		w.do("GET", "/v1/route_plans?vehicle_id="+vehicle+"&from[lt]=2026-04-01T00:00:00Z", "").names(), "north")
	// What is answered can be written again, and a stop keeps its id when others come before it.
	path := "/v1/route_plans/" + made.id()
	changed := w.do("PATCH", path,
		`{"stops":[{"lat":30.2,"lng":-97.7},{"id":"2","geofence_id":"`+fence+`"}]}`).ok(200).object()["stops"].([]any)
	wantEqual(t, "ids", fmt.Sprint(changed[0].(map[string]any)["id"], changed[1].(map[string]any)["id"]), "12")

	for body, want := range map[string]string{
		plan(``, ``):          "/stops",
		plan(`{"lat":1}`, ``): "/stops/0",
		plan(`{"geofence_id":"geo_7777777"}`,
			``): "/stops/0/geofence_id",
		plan(`{"geofence_id":"`+fence+`","radius_m":50}`,
			``): "/stops/0/radius_m",
		plan(`{"id":"a","lat":1,"lng":1},{"id":"a","lat":1,"lng":1}`,
			``): "/stops/1/id",
		plan(`{"lat":1,"lng":1,"arrive_from":"2026-03-02T10:00:00Z","arrive_until":"2026-03-02T09:00:00Z"}`,
			``): "/stops/0/arrive_until",
		plan(`{"lat":1,"lng":1}`,
			`,"corridor":{"type":"Corridor","coordinates":[[0,0],[0,1]]}`): "/corridor/width_m",
		plan(`{"lat":1,"lng":1}`,
			`,"corridor_geofence_id":"geo_7777777"`): "/corridor_geofence_id",
		strings.Replace(plan(`{"lat":1,"lng":1}`, ``), vehicle, "veh_7777777",
			1): "/vehicle_id",
		strings.Replace(plan(`{"lat":1,"lng":1}`, ``), "03-02T18", "05-02T18", 1): "/until",
	} {
		if got := w.do("POST", "/v1/route_plans", body).faults(); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	w.do("DELETE", path, "").ok(204)
}

// A vehicle follows so many plans at a time: more that overlap are refused, at other times and for other vehicles not.
func TestAVehicleHasSoManyRoutePlansAtATime(t *testing.T) {
	w := newWorld(t)
	vehicle := w.vehicle(`{"make":"A","model":"B"}`)
	plan := func(vehicle, day string) string {
		return `{"name":"n","vehicle_id":"` + vehicle + `","from":"2026-03-` + day + `T08:00:00Z","until":"2026-03-` + day +
			`T18:00:00Z","stops":[{"lat":1,"lng":1}]}`
	}
	var last string
	for range fleet.MaxPlansAtOnce {
		last = w.do("POST", "/v1/route_plans", plan(vehicle, "02")).ok(201).id()
	}
	wantEqual(t, "one too many", w.do("POST", "/v1/route_plans", plan(vehicle, "02")).faults(), "/vehicle_id")
	w.do("PATCH", "/v1/route_plans/"+last, `{"name":"m"}`).ok(200)
	w.do("POST", "/v1/route_plans", plan(vehicle, "03")).ok(201)
	w.do("POST", "/v1/route_plans", plan(w.vehicle(`{"make":"A","model":"B"}`), "02")).ok(201)
	w.do("DELETE", "/v1/route_plans/"+last, "").ok(204)
	w.do("POST", "/v1/route_plans", plan(vehicle, "02")).ok(201)
}

func TestTheProgressOfARoutePlanIsThatOfItsNewestRun(t *testing.T) {
	w := newWorld(t)
	vehicle := w.vehicle(`{"make":"A","model":"B"}`)
	plan := w.do("POST", "/v1/route_plans",
		`{"name":"north","vehicle_id":"`+vehicle+`","from":"2026-03-02T08:00:00Z","until":"2026-03-02T18:00:00Z",
		"stops":[{"lat":30.3,"lng":-97.7},{"lat":30.4,"lng":-97.7},{"lat":30.5,"lng":-97.7},{"lat":30.6,"lng":-97.7}]}`).ok(201).id()
	path := "/v1/route_plans/" + plan + "/progress"
	before := w.do("GET", path, "").ok(200).object()
	wantEqual(t, "before it began", fmt.Sprint(before["status"], before["id"], len(before["stops"].([]any))),
		"planned<nil> 4")

	number, err := fleet.ParseID(fleet.PlanPrefix, plan)
	if err != nil {
		t.Fatal(err)
	}
	run := &fleet.RouteRun{Head: head(0, 30, true), Plan: fleet.PlanID(number), Revision: 1, Speed: 12, Place: &depot,
		Off: 90_000, OffSince: at(29), Stops: []fleet.RunStop{
			{ID: "1", Arrived: at(1), Left: at(9)}, {ID: "2", Skipped: true, Missed: at(20)},
			{ID: "3", Arrived: at(28), Missed: at(25)}, {ID: "4", ETA: at(40), ETAError: 300_000},
		}}
	other := &fleet.RouteRun{Head: head(-600, -500, false), Plan: 4, ClosedReason: fleet.RunExpired,
		Stops: []fleet.RunStop{{ID: "1"}}}
	w.derive(w.account, row{vehicle: vehicle, entity: run}, row{vehicle: vehicle, entity: other})
	now := w.do("GET", path, "").ok(200)
	var states []string
	for _, s := range now.object()["stops"].([]any) {
		stop := s.(map[string]any)
		states = append(states, fmt.Sprint(stop["id"], " ", stop["status"], " ", stop["late"], " ", stop["eta_error_s"]))
	}
	wantEqual(t, "its stops", strings.Join(states, ", "),
		"1 left false <nil>, 2 missed true <nil>, 3 arrived true <nil>, 4 pending false 300")
	wantEqual(t, "state", fmt.Sprint(now.object()["status"], now.object()["off_corridor_s"], now.object()["provisional"]),
		"under_way90 true")
	one := "/v1/route_runs/" + now.id()
	wantEqual(t, "by its id", w.do("GET", one, "").ok(200).object()["route_plan_id"], any(plan))
	for query, want := range map[string]int{"": 2, "?route_plan_id=" + plan: 1, "?route_plan_id=rpl_4": 1,
		"?route_plan_id=rpl_5": 0, "?vehicle_id=" + vehicle: 2, "?provisional=false": 1} {
		wantEqual(t, query, len(w.do("GET", "/v1/route_runs"+query, "").data()), want)
	}
	w.do("GET", "/v1/route_runs?route_plan_id=veh_1", "").problem(400, "invalid_request")
	if text := string(w.do("GET", "/v1/route_runs?format=csv", "").ok(200).body); !strings.Contains(text, plan) {
		t.Errorf("as CSV: %s", text)
	}

	w.key = w.newKey(w.newAccount("Second"), auth.Admin)
	w.do("GET", path, "").problem(404, "not_found")
	w.do("GET", one, "").problem(404, "not_found")
	wantEqual(t, "another account's", len(w.do("GET", "/v1/route_runs", "").data()), 0)
}
