package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

const inspections = "/v1/maintenance/inspections"

// inspected are the issues of a vehicle that inspections opened, by id.
func (w *world) inspected(vehicle string) map[string]map[string]any {
	w.t.Helper()
	all := map[string]map[string]any{}
	for _, i := range w.do("GET", "/v1/maintenance/issues?category=inspection&vehicle_id="+vehicle, "").ok(200).data() {
		all[fmt.Sprint(i["id"])] = i
	}
	return all
}

// odometerReadings are the meter readings of a vehicle.
func (w *world) odometerReadings(vehicle string) string {
	w.t.Helper()
	var all []string
	for _, m := range w.do("GET", "/v1/vehicles/"+vehicle+"/meter_readings?sort=recorded_at", "").ok(200).data() {
		all = append(all, fmt.Sprint(m["source"], m["value"], m["source_id"], m["recorded_at"], m["voided"]))
	}
	return strings.Join(all, " ")
}

func TestAnInspectionIsSubmittedOnce(t *testing.T) {
	w := newWorld(t)
	van := w.vehicle(`{"make":"A","model":"B"}`)
	draft := w.do("POST", inspections, `{"vehicle_id":"`+van+`","template":"annual","mileage_mi":12000}`).ok(201).object()
	path := inspections + "/" + fmt.Sprint(draft["id"])
	wantEqual(t, "made", fmt.Sprintf("%v %v %v %v %v", draft["object"], draft["status"], draft["type"], draft["issue_ids"],
		draft["submitted_at"]), "inspection draft periodic [] <nil>")
	wantEqual(t, "reading of a draft", w.odometerReadings(van), "")
	wantEqual(t, "neither signed nor looked", w.do("POST", path+"/submit", "").faults(), "/signed_by /items")
	items := `[{"point":"brakes","result":"fail","note":"worn","photos":["doc_1"],"severity":"safety_critical"},{"point":"lights","result":"pass"},
		{"point":"mirror","result":"fail"},{"point":"tow bar","result":"na"}]`
	w.do("PATCH", path, `{"items":`+items+`}`).ok(200)
	wantEqual(t, "unsigned", w.do("POST", path+"/submit", "").faults(), "/signed_by")
	w.do("PATCH", path, `{"signed_by":"Bo Diaz"}`).ok(200)
	w.clock.Add(int64(time.Minute))

	key := []string{"Idempotency-Key", "submit 1"}
	done := w.do("POST", path+"/submit", "", key...).ok(200).object()
	wantEqual(t, "submitted", fmt.Sprintf("%v %v", done["status"], done["status_since"] == done["submitted_at"]),
		"submitted true")
	ids := done["issue_ids"].([]any)
	wantEqual(t, "issues", len(ids), 2)
	says := func(issue map[string]any) string {
		return fmt.Sprint(issue["severity"], " ", issue["description"], " ", issue["photos"], " ", issue["reported_by"], " ",
			issue["status"], " ", issue["inspection_id"] == done["id"])
	}
	found := w.inspected(van)
	wantEqual(t, "opened", len(found), 2)
	wantEqual(t, "brakes", says(found[fmt.Sprint(ids[0])]), "safety_critical brakes: worn [doc_1] Bo Diaz open true")
	wantEqual(t, "mirror", says(found[fmt.Sprint(ids[1])]), "medium mirror [] Bo Diaz open true")
	reading := fmt.Sprint("manual", 12000, done["id"], done["submitted_at"], false)
	wantEqual(t, "reading", w.odometerReadings(van), reading)

	// Repeated, by the same request and by another, and carried out again by another process.
	wantEqual(t, "the same request", w.do("POST", path+"/submit", "", key...).ok(200).object()["revision"],
		done["revision"])
	refused := w.do("POST", path+"/submit", "").problem(409, "invalid_state_transition")
	wantEqual(t, "state", fmt.Sprintf("%v %v", refused.CurrentState, refused.AllowedTransitions), "submitted []")
	w.do("POST", "/v1/maintenance/issues/"+fmt.Sprint(ids[1])+"/resolve", `{"resolution":"glued"}`).ok(200)
	w.clock.Add(int64(time.Minute))
	settled := func() (n uint64) {
		if err := w.db.QueryRow(t.Context(),
			"SELECT uniqExact(revision) FROM record_settled WHERE kind = 'inspection'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	wantEqual(t, "known to be carried out", settled(), uint64(0))
	cfg := rest.DefaultConfig()
	cfg.Record = record.Config{Deadline: 50 * time.Second, Abandoned: 100 * time.Second}
	second, err := New(cfg,
		Deps{Deps: rest.Deps{DB: w.db, IDs: fleet.NewIDSource(2, time.Now), Log: w.api.Log, Now: w.api.Now}})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Store.SettleConsequences(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "carried out again", settled(), uint64(done["revision"].(float64)))
	found = w.inspected(van)
	wantEqual(t, "issues after all", fmt.Sprintf("%d %v %v", len(found), found[fmt.Sprint(ids[0])]["revision"],
		found[fmt.Sprint(ids[1])]["status"]), "2 1 resolved")
	wantEqual(t, "reading after all", w.odometerReadings(van), reading)

	// What was submitted stays.
	for _, body := range []string{`{"items":[]}`, `{"mileage_mi":1}`, `{"signed_by":"Eve"}`, `{"type":"dvir"}`,
		`{"vehicle_id":"veh_1"}`} {
		w.do("PATCH", path, body).problem(409, "conflict")
	}
	same := w.do("PUT", path, `{"vehicle_id":"`+van+
		`","type":"periodic","template":"annual","mileage_mi":12000,"signed_by":"Bo Diaz","items":`+items+`,
		"notes":"filed","metadata":{"a":"b"},"external_refs":[{"system":"x","id":"R-1"}]}`).ok(200).object()
	wantEqual(t, "notes", fmt.Sprint(same["notes"], same["status"], same["issue_ids"]),
		fmt.Sprint("filed", "submitted", ids))
	wantEqual(t, "by reference", w.do("GET", inspections+"?external_ref=R-1", "").pagination().Total, 1)
	wantEqual(t, "issues of notes", len(w.inspected(van)), 2)
}

func TestInspectionsAreListedByWhatTheyAre(t *testing.T) {
	w := newWorld(t)
	van, other := w.vehicle(`{"make":"A","model":"B"}`), w.vehicle(`{"make":"A","model":"C"}`)
	inspect := func(vehicle, more string) string {
		return w.do("POST", inspections,
			`{"vehicle_id":"`+vehicle+`","signed_by":"A","items":[{"point":"lights","result":"pass"}]`+more+`}`).ok(201).id()
	}
	annual, daily, theirs := inspect(van, ""), inspect(van, `,"type":"dvir"`), inspect(other, "")
	w.do("POST", inspections+"/"+daily+"/submit", "").ok(200)
	for query, want := range map[string][]string{
		"vehicle_id=" + van: {annual, daily}, "type=dvir": {daily}, "status=draft": {annual, theirs},
		"status=submitted&vehicle_id=" + other: nil,
		"booking_id=bkg_1":                     nil, "created_at[gt]=2100-01-01T00:00:00Z": nil,
		"submitted_at[gt]=2000-01-01T00:00:00Z": {daily},
	} {
		var got []string
		for _, i := range w.do("GET", inspections+"?sort=created_at&"+query, "").ok(200).data() {
			got = append(got, fmt.Sprint(i["id"]))
		}
		wantEqual(t, query, strings.Join(got, " "), strings.Join(want, " "))
	}
	wantEqual(t, "nobody's", w.do("POST", inspections, `{"vehicle_id":"veh_1"}`).faults(), "/vehicle_id")
	wantEqual(t, "no booking",
		w.do("POST", inspections, `{"vehicle_id":"`+van+`","booking_id":"bkg_1"}`).faults(), "/booking_id")
	wantEqual(t, "moved", w.do("PATCH", inspections+"/"+annual, `{"vehicle_id":"`+other+`"}`).faults(), "/vehicle_id")

	// To others there is none of it.
	mine := w.key
	w.key = w.newKey(w.newAccount("Second"), auth.Admin)
	for _, rt := range w.api.Routes {
		if strings.HasPrefix(rt.Path, inspections+"/{id}") {
			body := map[string]string{"PUT": `{"vehicle_id":"` + van + `"}`, "PATCH": `{"notes":"x"}`}[rt.Method]
			w.do(rt.Method, strings.Replace(rt.Path, "{id}", annual, 1), body).problem(404, "not_found")
		}
	}
	wantEqual(t, "theirs", w.do("GET", inspections, "").pagination().Total, 0)
	w.key = mine
	w.do("DELETE", inspections+"/"+annual, "").ok(204)
	wantEqual(t, "left", w.do("GET", inspections+"?vehicle_id="+van, "").pagination().Total, 1)
}

// Whoever looks a vehicle over after its return, and finds nothing, ends its turnaround, through the
// booking or past it.
func TestAReturnInspectionEndsTheTurnaround(t *testing.T) {
	w := newLot(t)
	status := func() string { return fmt.Sprint(w.do("GET", "/v1/vehicles/"+w.car, "").ok(200).object()["status"]) }
	inspect := func(kind, result, more string) {
		t.Helper()
		made := w.do("POST", inspections, `{"vehicle_id":"`+w.car+`","type":"`+kind+
			`","signed_by":"A","items":[{"point":"bumper","result":"`+result+`"}]`+more+`}`).ok(201)
		w.do("POST", inspections+"/"+made.id()+"/submit", "").ok(200)
	}
	path := w.book(1, 24, `,"confirm":true`)
	booking := strings.TrimPrefix(path, "/v1/bookings/")
	inspect("return", "pass", "") // before
	w.do("POST", path+"/pickup", "").ok(200)
	inspect("return", "pass", "") // on the road
	w.pass(time.Hour)
	w.do("POST", path+"/return", "").ok(200)
	wantEqual(t, "back", status(), "turnaround")
	inspect("periodic", "pass", "")
	wantEqual(t, "another inspection", status(), "turnaround")
	inspect("return", "fail", `,"booking_id":"`+booking+`"`)
	wantEqual(t, "something was found", status(), "turnaround")
	inspect("return", "pass", `,"booking_id":"`+booking+`"`)
	wantEqual(t, "nothing was found", status(), "available")
}
