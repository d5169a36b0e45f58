package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares an answer with a file, as indented JSON.
func golden(t *testing.T, name string, body []byte) {
	t.Helper()
	var got bytes.Buffer
	if err := json.Indent(&got, body, "", "  "); err != nil {
		t.Fatal(err)
	}
	file := "testdata/" + name
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("%s is not what was answered:\n%s", file, got.String())
	}
}

// live stores what the pipeline would have stored of a vehicle.
func (w *world) live(vehicle string, account fleet.AccountID) {
	w.t.Helper()
	id, err := fleet.ParseID(fleet.VehiclePrefix, vehicle)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, insert := range []string{
		`INSERT INTO vehicle_state (account, vehicle, version, device, fix_time, device_time, received_at, lat7, lng7, speed_cms, course_cdeg, accuracy_dm, ignition)
			VALUES ($1, $2, 1, 1, '2026-01-02 03:04:05.678', '2026-01-02 03:04:05.678', '2026-01-02 03:04:06', 302672000, -977431000, 1234, 27000, 55, 'on')`,
		`INSERT INTO vehicle_mileage (account, vehicle, time, raw_m, base_m) VALUES ($1, $2, '2026-01-02 03:04:00', 28000000, 1370000)`,
		`INSERT INTO telemetry_latest (account, vehicle, signal, time, value) VALUES ($1, $2, 'soc_pct', '2026-01-02 03:04:00', 81.6)`,
		`INSERT INTO telemetry_latest (account, vehicle, signal, time, value) VALUES ($1, $2, 'range_m', '2026-01-02 03:04:00', 300000)`,
		`INSERT INTO telemetry_latest (account, vehicle, signal, time, value) VALUES ($1, $2, 'fuel_level_pct', '2026-01-02 03:04:00', 50)`,
	} {
		if err := w.db.Exec(w.t.Context(), insert, uint64(account), id); err != nil {
			w.t.Fatal(err)
		}
	}
}

// fixedTime makes ids and stamps the same in every run.
func fixedTime(_ *rest.Config, d *Deps) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	d.Now = func() time.Time { return at }
	d.IDs = fleet.NewIDSource(1, d.Now)
}

func TestTheVehicleListIsAsPublished(t *testing.T) {
	w := newWorld(t, fixedTime)
	id := w.do("POST", "/v1/vehicles",
		`{"make":"Tesla","model":"Model 3","year":2024,"vin":"5YJ3E1EA7KF317000","fuel_type":"electric",
		"license_plate":"ABC1234","plate_region":"TX","tags":["downtown"],"daily_rate":{"amount":12900,"currency":"USD"},
		"external_refs":[{"system":"turo","id":"T-77"}],"metadata":{"bay":"4"}}`, "X-Request-Id", "req_1").ok(201).id()
	w.vehicle(`{"make":"Volkswagen","model":"Tiguan","year":2020,"fuel_type":"gasoline","acquisition_mileage_mi":12000}`)
	w.live(id, w.account)
	for _, path := range []string{"/v1/vehicles", "/api/v1/vehicles"} {
		r := w.do("GET", path, "", "Content-Type", "application/json").ok(200)
		golden(t, "vehicles.json", r.body)
		if !strings.HasPrefix(r.header.Get("Link"), "<"+path+`>; rel="first"`) {
			t.Errorf("Link %s", r.header.Get("Link"))
		}
	}
	golden(t, "vehicles_metric.json",
		w.do("GET", "/v1/vehicles?units=metric&fields=current_mileage_mi,range_mi,speed_mph,battery_level", "").ok(200).body)
	golden(t, "vehicle_history.json", w.do("GET", "/v1/vehicles/"+id+"/history", "").ok(200).body)
}

func TestBatteryLevelIsOfElectrifiedVehiclesOnly(t *testing.T) {
	w := newWorld(t)
	for fuel, want := range map[string]any{"electric": 82.0, "plug_in_hybrid": 82.0, "": 82.0, "gasoline": nil,
		"diesel": nil} {
		body := `{"make":"A","model":"B"`
		if fuel != "" {
			body += `,"fuel_type":"` + fuel + `"`
		}
		id := w.vehicle(body + `}`)
		w.live(id, w.account)
		v := w.do("GET", "/v1/vehicles/"+id, "").ok(200).object()
		wantEqual(t, fuel, v["battery_level"], want)
		wantEqual(t, "mileage", v["current_mileage_mi"], 18250.0)
	}
}

func TestAVehicleIsCreatedChangedAndArchived(t *testing.T) {
	w := newWorld(t)
	created := w.do("POST", "/v1/vehicles",
		`{"make":"Tesla","model":"Model 3","year":2024,"color":null,"insurance":{"provider":"Acme","period":"month"}}`).ok(201)
	id := created.id()
	wantEqual(t, "location", created.header.Get("Location"), "/v1/vehicles/"+id)
	wantEqual(t, "etag", created.header.Get("ETag"), `"r1"`)

	patched := w.do("PATCH", "/v1/vehicles/"+id,
		`{"year":null,"color":"red","insurance":{"provider":null,"policy_number":"P1"}}`,
		"Content-Type", "application/merge-patch+json").ok(200)
	v := patched.object()
	wantEqual(t, "etag", patched.header.Get("ETag"), `"r2"`)
	wantEqual(t, "year", v["year"], nil)
	wantEqual(t, "color", v["color"], "red")
	wantEqual(t, "insurance", v["insurance"], map[string]any{"policy_number": "P1", "period": "month"})
	wantEqual(t, "make", v["make"], "Tesla")

	// What was read can be written back: members that are read-only are unchanged.
	back := w.do("GET", "/v1/vehicles/"+id, "").ok(200)
	same := w.do("PUT", "/v1/vehicles/"+id, string(back.body)).ok(200)
	wantEqual(t, "etag of a PUT that changes nothing", same.header.Get("ETag"), `"r2"`)
	// Also when the vehicle has moved meanwhile.
	w.live(id, w.account)
	w.do("PUT", "/v1/vehicles/"+id, string(back.body)).ok(200)
	w.do("PUT", "/v1/vehicles/"+id, strings.Replace(string(back.body), `"revision":2`, `"revision":1`, 1)).problem(422,
		"validation_failed")
	replaced := w.do("PUT", "/v1/vehicles/"+id, `{"make":"VW","model":"ID.3"}`).ok(200).object()
	if replaced["color"] != nil || replaced["make"] != "VW" || replaced["status"] != "available" {
		t.Errorf("after PUT: %v", replaced)
	}
	p := w.do("PUT", "/v1/vehicles/"+id, `{"make":"VW","model":"ID.3","status":"retired","battery_level":5}`).problem(422,
		"validation_failed")
	wantEqual(t, "read-only members", fmt.Sprint(p.Errors[0].Pointer, p.Errors[1].Pointer, len(p.Errors),
		p.Errors[0].Code), "/battery_level/status2read_only")
	w.do("PATCH", "/v1/vehicles/"+id, `{"status":"retired"}`).problem(422, "validation_failed")

	w.do("DELETE", "/v1/vehicles/"+id, "").ok(204)
	w.do("DELETE", "/v1/vehicles/"+id, "").ok(204)
	gone := w.do("GET", "/v1/vehicles/"+id, "").ok(200).object()
	if gone["archived_at"] == nil || gone["is_rentable"] != false {
		t.Errorf("archived vehicle %v", gone)
	}
	wantEqual(t, "list", len(w.do("GET", "/v1/vehicles", "").data()), 0)
	wantEqual(t, "archived list", len(w.do("GET", "/v1/vehicles?archived=true", "").data()), 1)
	w.do("PATCH", "/v1/vehicles/"+id, `{"color":"blue"}`).problem(409, "conflict")

	history := w.do("GET", "/v1/vehicles/"+id+"/history?per_page=2", "")
	wantEqual(t, "history", fmt.Sprintln(len(history.data()), history.pagination().Total, history.data()[0]["action"]),
		"2 4 archive\n")
	rest := w.do("GET", "/v1/vehicles/"+id+"/history?per_page=2&cursor="+history.pagination().NextCursor, "")
	wantEqual(t, "second page", fmt.Sprintln(rest.data()[1]["action"], rest.pagination().NextCursor == ""),
		"create true\n")
	wantEqual(t, "by page", string(w.do("GET", "/v1/vehicles/"+id+"/history?per_page=2&page=2", "").body),
		string(rest.body))
}

func TestConditionalRequests(t *testing.T) {
	w := newWorld(t)
	id := w.vehicle(`{"make":"Tesla","model":"Model 3"}`)
	path := "/v1/vehicles/" + id
	if r := w.do("GET", path, "", "If-None-Match", `"r1"`).ok(304); len(r.body) != 0 || r.header.Get("ETag") != `"r1"` {
		t.Errorf("304 with %q and %v", r.body, r.header)
	}
	w.do("GET", path, "", "If-None-Match", `W/"r1", "other"`).ok(304)
	w.do("GET", path, "", "If-None-Match", `"r2"`).ok(200)
	w.do("PATCH", path, `{"color":"red"}`, "If-Match", `"r1"`).ok(200)
	for _, stale := range []string{`"r1"`, `W/"1"`, `1`, `""`, `"x"`, `"r22"`, `"22"`,
		// of these some look like the revision that it has, and are no tags
		`"2`, `2"`, `""2""`, `2-`, `"r2-"`, `rr2`, `W/`} {
		w.do("PATCH", path, `{"color":"blue"}`, "If-Match", stale).problem(412, "precondition_failed")
		w.do("PUT", path, `{"make":"A","model":"B"}`, "If-Match", stale).problem(412, "precondition_failed")
		w.do("DELETE", path, "", "If-Match", stale).problem(412, "precondition_failed")
		w.do("POST", path+"/status", `{"status":"maintenance","reason":"x"}`, "If-Match", stale).problem(412,
			"precondition_failed")
	}
	w.do("PATCH", path, `{"color":"blue"}`, "If-Match", `"r1", "r2"`).ok(200)
	w.do("PATCH", path, `{"color":"green"}`, "If-Match", `*`).ok(200)
	// what people send of a revision that they read
	for i, mine := range []string{`"4"`, `5`, `W/"6"`, `W/"r7"`, `r8`, `"1", "9"`} {
		w.do("PATCH", path, fmt.Sprintf(`{"color":"%d"}`, i), "If-Match", mine).ok(200)
	}

	// What changes without a revision is not hidden by If-None-Match, and does not make a change stale.
	before := w.do("GET", path, "").header.Get("ETag")
	w.live(id, w.account)
	after := w.do("GET", path, "", "If-None-Match", before).ok(200).header.Get("ETag")
	if before == after {
		t.Errorf("the vehicle moved and its tag is still %s", after)
	}
	w.do("GET", path, "", "If-None-Match", after).ok(304)
	w.do("PATCH", path, `{"color":"white"}`, "If-Match", after).ok(200)
	if r := w.do("HEAD", path, "").ok(200); len(r.body) != 0 || r.header.Get("ETag") == "" {
		t.Errorf("HEAD: %q %v", r.body, r.header)
	}
}

func TestStatusIsMovedByTheActionOnly(t *testing.T) {
	w := newWorld(t)
	path := "/v1/vehicles/" + w.vehicle(`{"make":"Tesla","model":"Model 3"}`)
	v := w.do("POST", path+"/status", `{"status":"maintenance","reason":"brakes"}`).ok(200).object()
	wantEqual(t, "status", fmt.Sprintln(v["status"], v["status_reason"], v["is_rentable"]), "maintenance brakes false\n")
	p := w.do("POST", path+"/status", `{"status":"rented","reason":"because"}`).problem(409, "invalid_state_transition")
	wantEqual(t, "409", fmt.Sprintln(p.CurrentState, p.AllowedTransitions),
		"maintenance [available out_of_service retired]\n")
	w.do("POST", path+"/status", `{"status":"available"}`).problem(422, "validation_failed")
	w.do("POST", path+"/status", `{"status":"flying","reason":"x"}`).problem(422, "validation_failed")
	wantEqual(t, "created inactive",
		w.do("POST", "/v1/vehicles", `{"make":"A","model":"B","status":"inactive"}`).ok(201).object()["status"], "inactive")
	w.do("POST", "/v1/vehicles", `{"make":"A","model":"B","status":"rented"}`).problem(422, "validation_failed")
}

func TestUniqueValuesAreRefusedByName(t *testing.T) {
	w := newWorld(t)
	first := w.vehicle(`{"make":"A","model":"B","vin":"VIN1","license_plate":"ABC 1","plate_region":"TX","external_refs":[{"system":"turo","id":"1"}]}`)
	for body, pointer := range map[string]string{
		`{"make":"A","model":"B","vin":"vin1"}`:                                                      "/vin",
		`{"make":"A","model":"B","license_plate":"abc-1","plate_region":"tx"}`:                       "/license_plate",
		`{"make":"A","model":"B","external_refs":[{"system":"turo","id":"1"}]}`:                      "/external_refs",
		`{"make":"A","model":"B","vin":"VIN2","external_refs":[{"system":"turo","id":"1"}]}`:         "/external_refs",
		`{"make":"A","model":"B","external_refs":[{"system":"x","id":"1"},{"system":"x","id":"1"}]}`: "/external_refs",
	} {
		r := w.do("POST", "/v1/vehicles", body)
		if strings.Contains(body, `"x"`) {
			r.ok(201) // the same reference twice in one record is one
			continue
		}
		p := r.problem(409, "conflict")
		if len(p.Errors) != 1 || p.Errors[0].Pointer != pointer {
			t.Errorf("%s: %v, want %s", body, p.Errors, pointer)
		}
	}
	w.vehicle(`{"make":"A","model":"B","vin":"VIN2"}`)
	// Another account has its own VINs.
	w.key = w.newKey(w.newAccount("Second"), auth.Admin)
	w.vehicle(`{"make":"A","model":"B","vin":"VIN1"}`)
	w.do("GET", "/v1/vehicles/"+first, "").problem(404, "not_found")
}

func TestAWholeRecordWrittenBackByManyIsTakenOnce(t *testing.T) {
	w := newWorld(t)
	id := w.vehicle(`{"make":"Tesla","model":"Model 3"}`)
	read := w.do("GET", "/v1/vehicles/"+id, "").ok(200).object()
	var wrote atomic.Int32
	var group sync.WaitGroup
	for i := range 12 {
		body := maps.Clone(read)
		body["nickname"] = fmt.Sprint(i)
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			switch r := w.do("PUT", "/v1/vehicles/"+id, string(text)); r.status {
			case 200:
				wrote.Add(1)
			case 422:
				// The body carries a revision that is not the present one any more.
			default:
				t.Errorf("status %d: %s", r.status, r.body)
			}
		})
	}
	group.Wait()
	wantEqual(t, "writes upon one revision", wrote.Load(), int32(1))
	wantEqual(t, "revision", w.do("GET", "/v1/vehicles/"+id, "").ok(200).object()["revision"], 2.0)
}

// What an answer shows beside the record changes without a revision, and must not hide behind a 304.
func TestTheEntityTagSeesWhatIsShownWithTheRecord(t *testing.T) {
	w := newWorld(t)
	vehicle := w.vehicle(`{"make":"A","model":"B"}`)
	device := "/v1/devices/" + w.do("POST", "/v1/devices", `{"unique_id":"u"}`).ok(201).id()
	w.do("POST", device+"/assign",
		`{"vehicle_id":"`+vehicle+`","from":"`+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)+`"}`).ok(200)
	before := w.do("GET", device, "").ok(200)
	w.clock.Store(int64(2 * time.Hour))
	after := w.do("GET", device, "", "If-None-Match", before.header.Get("ETag")).ok(200)
	wantEqual(t, "vehicle", after.object()["vehicle_id"], vehicle)

	expanded := "/v1/vehicles/" + vehicle + "?expand=devices"
	tag := w.do("GET", expanded, "").ok(200).header.Get("ETag")
	w.do("GET", expanded, "", "If-None-Match", tag).ok(304)
	w.do("PATCH", device, `{"name":"new"}`, "If-Match", after.header.Get("ETag")).ok(200)
	w.do("GET", expanded, "", "If-None-Match", tag).ok(200)
}
