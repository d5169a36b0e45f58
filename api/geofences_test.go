package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/track"
)

const (
	lot    = `{"type":"Circle","center":[-97.7431,30.2672],"radius_m":500}`
	square = `{"type":"Polygon","coordinates":[[[-98,30],[-97,30],[-97,31],[-98,31],[-98,30]]]}`
)

// names are the names of the records of a list, in its order.
func (r *reply) names() string {
	r.t.Helper()
	var all []string
	for _, v := range r.data() {
		all = append(all, fmt.Sprint(v["name"]))
	}
	return strings.Join(all, " ")
}

// faults are the pointers that a 422 names.
func (r *reply) faults() string {
	r.t.Helper()
	var all []string
	for _, f := range r.problem(422, "validation_failed").Errors {
		all = append(all, f.Pointer)
	}
	return strings.Join(all, " ")
}

func TestAGeofenceIsWrittenAndFound(t *testing.T) {
	w := newWorld(t)
	van := w.vehicle(`{"make":"A","model":"B","tags":["vans"]}`)
	made := w.do("POST", "/v1/geofences", `{"name":"lot","description":"at the airport","geometry":`+lot+
		`,"color":"#2f80ed","scope":{"vehicle_ids":["`+van+`"],"tags":["vans"]},
		"schedule":{"timezone":"America/Chicago","windows":[{"days":["mon","fri"],"from":"22:00","until":"06:00"}]},"dwell_s":900,"speed_limit_mph":25,
		"exit_margin_m":30,"confirm_fixes":2,"applies_from":"2026-01-01T00:00:00Z","external_refs":[{"system":"s","id":"e1"}],"metadata":{"a":"b"}}`).ok(201)
	path := "/v1/geofences/" + made.id()
	wantEqual(t, "location", made.header.Get("Location"), path)
	g := made.object()
	if b, ok := g["bounds"].(map[string]any); !ok || b["south"].(float64) > 30.2672 || b["north"].(float64) < 30.2672 {
		t.Errorf("bounds %v", g["bounds"])
	}
	if a, _ := g["area_m2"].(float64); a <= 0 {
		t.Errorf("area %v", g["area_m2"])
	}
	wantEqual(t, "metric", w.do("GET", path+"?units=metric", "").ok(200).object()["speed_limit_kmh"], 40.0)
	w.do("POST", "/v1/geofences", `{"name":"square","geometry":`+square+`,"scope":{"tags":["cars"]}}`).ok(201)
	for query, want := range map[string]string{
		"": "lot square", "?sort=-name": "square lot", "?q=airport": "lot", "?tags=cars,x": "square",
		"?vehicle_ids=" + van: "lot", "?shape=polygon": "square",
		"?external_ref=e1": "lot", "?contains=30.2672,-97.7431": "lot square", "?contains=30.5,-97.5": "square",
		"?contains=0,0": "", "?contains=30.2672,-97.7431&q=lot": "lot",
	} {
		got := w.do("GET", "/v1/geofences"+query, "")
		wantEqual(t, query, got.names(), want)
		wantEqual(t, query+" total", got.pagination().Total, len(strings.Fields(want)))
	}
	w.do("GET", "/v1/geofences?contains=91,0", "").problem(400, "invalid_request")
	w.do("GET", "/v1/geofences?contains=here", "").problem(400, "invalid_request")

	// Another type leaves nothing of the old one behind, and what is left out stays.
	changed := w.do("PATCH", path, `{"geometry":`+square+`}`).ok(200).object()
	wantEqual(t, "geometry", fmt.Sprint(changed["geometry"]),
		"map[coordinates:[[[-98 30] [-97 30] [-97 31] [-98 31] [-98 30]]] type:Polygon]")
	wantEqual(t, "dwell", changed["dwell_s"], 900.0)
	w.do("PATCH", path, `{"dwell_s":60}`, "If-Match", `"r1"`).problem(412, "precondition_failed")
	// What was read can be written back.
	read := w.do("GET", path, "").ok(200)
	wantEqual(t, "revision", w.do("PUT", path, string(read.body)).ok(200).object()["revision"], 2.0)
	history := w.do("GET", path+"/history", "").data()
	wantEqual(t, "versions", len(history), 2)
	w.do("DELETE", path, "").ok(204)
	wantEqual(t, "after archiving", w.do("GET", "/v1/geofences?contains=30.2672,-97.7431", "").names(), "square")
	wantEqual(t, "archived ones", w.do("GET", "/v1/geofences?archived=true&contains=30.2672,-97.7431", "").names(), "lot")
}

func TestAGeofenceThatCannotBeIsRefused(t *testing.T) {
	w := newWorld(t)
	other := w.newKey(w.newAccount("Second"), auth.Admin)
	theirs := w.do("POST", "/v1/vehicles", `{"make":"A","model":"B"}`, "Authorization", "Bearer "+other).ok(201).id()
	for body, want := range map[string]string{
		`{"geometry":` + lot + `}`:                "/name",
		`{"name":"a"}`:                            "/geometry",
		`{"name":"a","geometry":{"type":"Blob"}}`: "/geometry/type",
		`{"name":"a","geometry":{"type":"Circle","center":[0,0],"r":1}}`:         "/geometry/r",
		`{"name":"a","geometry":{"type":"Circle","center":[0,0],"radius_m":-1}}`: "/geometry/radius_m",
		`{"name":"a","geometry":` + lot +
			`,"color":"red"}`: "/color",
		`{"name":"a","geometry":` + lot +
			`,"scope":{"vehicle_ids":["dev_1"]}}`: "/scope/vehicle_ids/0",
		`{"name":"a","geometry":` + lot + `,"scope":{"vehicle_ids":["` + theirs +
			`"]}}`: "/scope/vehicle_ids/0",
		`{"name":"a","geometry":` + lot +
			`,"schedule":{"windows":[]}}`: "/schedule/windows",
		`{"name":"a","geometry":` + lot +
			`,"schedule":{"windows":[{"from":"25:00","until":"06:00"}]}}`: "/schedule/windows/0/from",
		`{"name":"a","geometry":` + lot +
			`,"schedule":{"windows":[{"days":["moon"],"from":"05:00","until":"06:00"}]}}`: "/schedule/windows/0/days/0",
		`{"name":"a","geometry":` + lot +
			`,"schedule":{"timezone":"X","windows":[{"from":"22:00","until":"06:00"}]}}`: "/schedule/timezone",
		`{"name":"a","geometry":` + lot +
			`,"applies_from":"2100-01-01T00:00:00Z"}`: "/applies_from",
		`{"name":"a","geometry":` + lot +
			`,"bounds":{"south":1,"west":1,"north":1,"east":1}}`: "/bounds",
	} {
		if got := w.do("POST", "/v1/geofences", body).faults(); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

func TestGeofencesGoOutAsGeoJSONAndComeBack(t *testing.T) {
	w := newWorld(t)
	w.do("POST", "/v1/geofences", `{"name":"lot","geometry":`+lot+`,"dwell_s":60,"metadata":{"x":"y"}}`).ok(201)
	w.do("POST", "/v1/geofences", `{"name":"square","geometry":`+square+`,"speed_limit_mph":30}`).ok(201)
	w.do("POST", "/v1/geofences",
		`{"name":"road","geometry":{"type":"Corridor","coordinates":[[-97.7,30.2],[-97.8,30.3]],"width_m":60}}`).ok(201)
	file := w.do("GET", "/v1/geofences", "", "Accept", "application/geo+json").ok(200)
	wantEqual(t, "type", file.header.Get("Content-Type"), "application/geo+json")
	var collection struct {
		Type     string
		Features []struct {
			Type, ID   string
			Geometry   struct{ Type string }
			Properties map[string]any
		}
	}
	if err := json.Unmarshal(file.body, &collection); err != nil || collection.Type != "FeatureCollection" ||
		len(collection.Features) != 3 {
		t.Fatalf("%v: %s", err, file.body)
	}
	f := collection.Features
	wantEqual(t, "types", f[0].Geometry.Type+f[1].Geometry.Type+f[2].Geometry.Type, "PointPolygonLineString")
	wantEqual(t, "sizes", fmt.Sprint(f[0].Properties["radius_m"], f[2].Properties["width_m"]), "500 60")
	metric := w.do("GET", "/v1/geofences?format=geojson&units=metric&q=square", "").ok(200)
	if !strings.Contains(string(metric.body), `"speed_limit_kmh":48`) {
		t.Errorf("metric %s", metric.body)
	}
	wantEqual(t, "none", string(w.do("GET", "/v1/geofences?format=geojson&q=nothing", "").ok(200).body),
		"{\"type\":\"FeatureCollection\",\"features\":[\n]}\n")
	w.do("GET", "/v1/geofences?format=geojson&page=2", "").problem(400, "invalid_request")

	made := w.do("POST", "/v1/geofences/import", string(file.body), "Content-Type",
		"application/geo+json").ok(200).object()
	wantEqual(t, "created", made["created"], 3.0)
	all := w.do("GET", "/v1/geofences", "").data()
	for i := range 3 {
		for _, name := range []string{"name", "geometry", "dwell_s", "speed_limit_mph", "metadata", "bounds"} {
			wantEqual(t, name, all[i+3][name], all[i][name])
		}
	}
	mixed := w.do("POST", "/v1/geofences/import", `{"type":"FeatureCollection","features":[
		{"type":"Feature","properties":{"title":"depot","height":3,"radius":50},"geometry":{"type":"Point","coordinates":[-97,30]}},
		{"type":"Feature","properties":null,"geometry":{"type":"Point","coordinates":[-97,30]}},
		{"type":"Feature","properties":{"name":"no shape"}},
		{"type":"Feature","properties":{"name":"far","color":"blue"},"geometry":`+square+`}]}`).ok(200)
	var reply track.ImportReply
	if err := json.Unmarshal(mixed.body, &reply); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "counts", fmt.Sprint(reply.Created, reply.Rejected), "1 3")
	depot := w.do("GET", "/v1/geofences/"+reply.Data[0].ID, "").ok(200).object()
	wantEqual(t, "depot", fmt.Sprint(depot["name"], depot["metadata"]), "depotmap[height:3 radius:50]")
	for i, want := range []string{"", "/geometry/radius_m", "/geometry", "/color"} {
		got := ""
		for _, e := range reply.Data[i].Errors {
			got += e.Pointer
		}
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("item %d: %s, want %s", i, got, want)
		}
	}
	wantEqual(t, "none acceptable", w.do("POST", "/v1/geofences/import",
		`{"type":"FeatureCollection","features":[{"type":"Feature"}]}`).faults(), "/features/0/geometry")
	w.do("POST", "/v1/geofences/import", `{"type":"Feature"}`).problem(422, "validation_failed")
	w.do("POST", "/v1/geofences/import", `[`).problem(400, "invalid_request")
}

func TestGeofencesOfTraccarComeIn(t *testing.T) {
	w := newWorld(t)
	list := `[{"id":7,"name":"lot","description":"","area":"CIRCLE (30.2672 -97.7431, 500)","calendarId":0,"attributes":{"color":"#2f80ed","speedLimit":43.45}},
		{"id":8,"name":"square","area":"POLYGON ((30 -98, 30 -97, 31 -97, 31 -98))","attributes":{}},
		{"id":9,"name":"road","area":"LINESTRING (30.2 -97.7, 30.3 -97.8)","attributes":{"polylineDistance":30}},
		{"id":10,"name":"odd","area":"TRIANGLE (1 2, 3 4)"}]`
	reply := w.do("POST", "/v1/geofences/import", list).ok(200).object()
	wantEqual(t, "counts", fmt.Sprint(reply["created"], reply["rejected"]), "3 1")
	all := w.do("GET", "/v1/geofences", "").data()
	wantEqual(t, "circle", fmt.Sprint(all[0]["geometry"], all[0]["color"]),
		"map[center:[-97.7431 30.2672] radius_m:500 type:Circle]#2f80ed")
	if limit := all[0]["speed_limit_mph"].(float64); limit < 49.99 || limit > 50.01 {
		t.Errorf("limit %v", limit)
	}
	wantEqual(t, "polygon", fmt.Sprint(all[1]["geometry"]),
		"map[coordinates:[[[-98 30] [-97 30] [-97 31] [-98 31] [-98 30]]] type:Polygon]")
	wantEqual(t, "corridor", fmt.Sprint(all[2]["geometry"]),
		"map[coordinates:[[-97.7 30.2] [-97.8 30.3]] type:Corridor width_m:60]")
	wantEqual(t, "by its number there", w.do("GET", "/v1/geofences?external_ref=8", "").names(), "square")
	// The same list again brings nothing twice.
	w.do("POST", "/v1/geofences/import", list).problem(422, "validation_failed")
}

// asked keeps what was to be derived again, or fails.
type asked struct {
	mu      sync.Mutex
	changes []fleet.Change
	err     error
}

func (a *asked) PublishChanges(_ context.Context, changes []fleet.Change) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil {
		a.changes = append(a.changes, changes...)
	}
	return a.err
}

// fix stores a fix of a vehicle.
func (w *world) fix(account fleet.AccountID, vehicle string, at time.Time) {
	w.t.Helper()
	id, err := fleet.ParseID(fleet.VehiclePrefix, vehicle)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.db.Exec(w.t.Context(), `INSERT INTO positions (account, vehicle, fix_time) VALUES ($1, $2, $3)`,
		uint64(account), id, at); err != nil {
		w.t.Fatal(err)
	}
}

func TestABackfillAsksForEveryVehicleThatItMayConcern(t *testing.T) {
	published := &asked{}
	w := newWorld(t, func(_ *rest.Config, d *Deps) { d.Changes = published })
	old, van, car := w.vehicle(`{"make":"A","model":"old","tags":["vans"]}`),
		w.vehicle(`{"make":"A","model":"van","tags":["vans"]}`), w.vehicle(`{"make":"A","model":"car"}`)
	day := func(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }
	w.fix(w.account, old, day(1))
	for d := 5; d <= 8; d++ {
		w.fix(w.account, van, day(d))
		w.fix(w.account, car, day(d+1))
	}
	w.fix(w.newAccount("Second"), van, day(3))
	fence := w.do("POST", "/v1/geofences", `{"name":"lot","geometry":`+lot+`,"scope":{"tags":["vans"]}}`).ok(201).id()
	path := "/v1/geofences/" + fence
	begun := w.do("POST", path+"/backfill", `{"from":"2026-01-06T00:00:00Z"}`).ok(202)
	job := begun.object()
	wantEqual(t, "location", begun.header.Get("Location"), "/v1/jobs/"+begun.id())
	wantEqual(t, "job", fmt.Sprint(job["kind"], job["subject_id"], job["status"], job["progress"]),
		"geofence_backfill"+fence+"queuedmap[done:0 total:1]")
	id, err := fleet.ParseID(fleet.JobPrefix, begun.id())
	if err != nil {
		t.Fatal(err)
	}
	vehicle, _ := fleet.ParseID(fleet.VehiclePrefix, van)
	want := fleet.Change{Account: w.account, Vehicle: fleet.VehicleID(vehicle), From: fleet.MillisOf(day(6)),
		To: fleet.MillisOf(day(8)), Job: fleet.JobID(id)}
	if len(published.changes) != 1 || !reflect.DeepEqual(published.changes[0], want) {
		t.Fatalf("asked for %+v, want %+v", published.changes, want)
	}
	written := w.do("GET", path, "").ok(200).object()
	wantEqual(t, "applies from", fmt.Sprint(written["applies_from"], written["backfill_job_id"]),
		"2026-01-06T00:00:00.000Z"+begun.id())

	step := func(vehicle string, failure string) {
		v, _ := fleet.ParseID(fleet.VehiclePrefix, vehicle)
		if err := w.db.Exec(t.Context(),
			`INSERT INTO job_steps (account, job, step, at, error) VALUES ($1, $2, $3, now64(3), $4)`, uint64(w.account), id, v,
			failure); err != nil {
			t.Fatal(err)
		}
	}
	// ended waits until a serving process has noted that the steps of a job are done.
	ended := func(job string) map[string]any {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.api.transfer.Run(ctx) }()
		for fmt.Sprint(w.do("GET", "/v1/jobs/"+job, "").object()["finished_at"]) == "<nil>" {
			if t.Context().Err() != nil {
				t.Fatal("not ended")
			}
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := w.api.track.EndBackfills(t.Context()); err != nil {
			t.Error(err)
		}
		return w.do("GET", "/v1/jobs/"+job, "").ok(200).object()
	}
	step(van, "")
	step(van, "") // twice is once
	begunAt := job["updated_at"].(string)
	job = ended(begun.id())
	if job["status"] != "done" || fmt.Sprint(job["progress"]) != "map[done:1 total:1]" || job["finished_at"] == nil ||
		job["started_at"] == nil {
		t.Errorf("job %v", job)
	}
	if at := job["updated_at"].(string); at <= begunAt || at < job["finished_at"].(string) || job["revision"] != 2.0 {
		t.Errorf("begun at %s, and then %v", begunAt, job)
	}

	// Without a beginning it is the oldest fix there is, and the same again is a new version of the geofence.
	revision := w.do("GET", path, "").ok(200).object()["revision"].(float64)
	second := w.do("POST", path+"/backfill", "").ok(202)
	wantEqual(t, "vehicles", len(published.changes), 3)
	wantEqual(t, "since ever", w.do("GET", path, "").ok(200).object()["applies_from"], "2026-01-01T00:00:00.000Z")
	id, _ = fleet.ParseID(fleet.JobPrefix, second.id())
	step(old, "")
	wantEqual(t, "half of it", w.do("GET", "/v1/jobs/"+second.id(), "").ok(200).object()["status"], "running")
	step(van, "no such thing")
	failed := ended(second.id())
	wantEqual(t, "failed", fmt.Sprint(failed["status"], failed["result"]),
		"failedmap[error:no such thing failed:1 succeeded:1]")
	w.do("POST", path+"/backfill", "").ok(202)
	wantEqual(t, "revision", w.do("GET", path, "").ok(200).object()["revision"], revision+2)
	wantEqual(t, "jobs", w.do("GET", "/v1/jobs?subject="+fence, "").pagination().Total, 3)
	wantEqual(t, "jobs by the name of the member", w.do("GET", "/v1/jobs?subject_id="+fence, "").pagination().Total, 3)
	wantEqual(t, "jobs of another", w.do("GET", "/v1/jobs?subject_id=geo_1", "").pagination().Total, 0)
	w.do("POST", path+"/backfill", "", "If-Match", `"r1"`).problem(412, "precondition_failed")
	elsewhere := w.do("POST", "/api"+path+"/backfill", `{"from":"2026-02-01T00:00:00Z"}`).ok(202)
	wantEqual(t, "location under /api", elsewhere.header.Get("Location"), "/api/v1/jobs/"+elsewhere.id())
	done := w.do("POST", path+"/backfill", `{"from":"2026-02-01T00:00:00Z"}`).ok(202).object()
	wantEqual(t, "nothing to do", fmt.Sprint(done["status"], done["progress"]), "donemap[done:0 total:0]")

	w.do("POST", path+"/backfill", `{"from":"2100-01-01T00:00:00Z"}`).problem(422, "validation_failed")
	published.err = errors.New("no broker")
	w.do("POST", path+"/backfill", "", "Idempotency-Key", "k").problem(503, "unavailable")
	wantEqual(t, "given up", w.do("GET", "/v1/jobs?sort=-created_at", "").data()[0]["status"], "failed")
	published.err = nil
	w.do("POST", path+"/backfill", "", "Idempotency-Key", "k").ok(202)
	wantEqual(t, "taken up again", w.do("GET", "/v1/jobs?sort=-created_at", "").data()[0]["status"], "queued")
	w.do("DELETE", path, "").ok(204)
	w.do("POST", path+"/backfill", "").problem(409, "conflict")
}

func TestWithoutKafkaNothingIsBackfilled(t *testing.T) {
	w := newWorld(t)
	fence := w.do("POST", "/v1/geofences", `{"name":"lot","geometry":`+lot+`}`).ok(201).id()
	w.do("POST", "/v1/geofences/"+fence+"/backfill", "").problem(503, "unavailable")
	wantEqual(t, "jobs", w.do("GET", "/v1/jobs", "").pagination().Total, 0)
	wantEqual(t, "revision", w.do("GET", "/v1/geofences/"+fence, "").ok(200).object()["revision"], 1.0)
}
