package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/auth"
)

func TestADeviceGoesFromVehicleToVehicle(t *testing.T) {
	w := newWorld(t)
	first, second := w.vehicle(`{"make":"A","model":"B"}`), w.vehicle(`{"make":"C","model":"D"}`)
	created := w.do("POST", "/v1/devices", `{"unique_id":"352093081452251","name":"Box 1","protocol":"teltonika"}`).ok(201)
	path := "/v1/devices/" + created.id()
	wantEqual(t, "vehicle", created.object()["vehicle_id"], nil)
	w.do("POST", "/v1/devices", `{"unique_id":"352093081452251"}`).problem(409, "conflict")

	d := w.do("POST", path+"/assign", `{"vehicle_id":"`+first+`"}`).ok(200).object()
	wantEqual(t, "vehicle", d["vehicle_id"], first)
	wantEqual(t, "assignments", fmt.Sprint(d["assignments"]), "[map[from:<nil> until:<nil> vehicle_id:"+first+"]]")
	wantEqual(t, "again", w.do("POST", path+"/assign", `{"vehicle_id":"`+first+`"}`).ok(200).object()["revision"], 2.0)
	w.do("POST", path+"/assign", `{"vehicle_id":"`+second+`","from":"2026-01-01T00:00:00Z"}`).ok(200)
	wantEqual(t, "device_ids", fmt.Sprint(w.do("GET", "/v1/vehicles/"+second, "").ok(200).object()["device_ids"]),
		"["+created.id()+"]")
	wantEqual(t, "device_ids of the first",
		fmt.Sprint(w.do("GET", "/v1/vehicles/"+first, "").ok(200).object()["device_ids"]), "[]")
	wantEqual(t, "devices of the first", w.do("GET", "/v1/vehicles/"+first+"/devices", "").ok(200).pagination().Total, 1)
	expanded := w.do("GET", "/v1/vehicles?expand=devices", "").data()
	wantEqual(t, "expand=devices", expanded[1]["devices"].([]any)[0].(map[string]any)["unique_id"], "352093081452251")
	cars := w.newKey(w.account, auth.VehiclesRead)
	w.do("GET", "/v1/vehicles?expand=devices", "", "Authorization", "Bearer "+cars).problem(403, "insufficient_scope")
	w.do("GET", "/v1/vehicles/"+expanded[1]["id"].(string)+"?expand=devices", "", "Authorization",
		"Bearer "+cars).problem(403, "insufficient_scope")
	w.do("GET", path+"?expand=vehicle", "", "Authorization",
		"Bearer "+w.newKey(w.account, auth.TelematicsRead)).problem(403, "insufficient_scope")
	wantEqual(t, "expand=vehicle",
		w.do("GET", path+"?expand=vehicle", "").ok(200).object()["vehicle"].(map[string]any)["make"], "C")
	w.do("POST", path+"/assign", `{"vehicle_id":"`+first+`","from":"2025-01-01T00:00:00Z"}`).problem(409, "conflict")
	w.do("POST", path+"/unassign", `{"at":"2025-01-01T00:00:00Z"}`).problem(409, "conflict")
	wantEqual(t, "after unassign", w.do("POST", path+"/unassign", "").ok(200).object()["vehicle_id"], nil)
	w.do("POST", path+"/unassign", "").problem(409, "conflict")

	p := w.do("POST", path+"/assign", `{"vehicle_id":"veh_1"}`).problem(422, "validation_failed")
	wantEqual(t, "pointer", p.Errors[0].Pointer+p.Errors[0].Code, "/vehicle_idnot_found")
	w.do("DELETE", "/v1/vehicles/"+first, "").ok(204)
	w.do("POST", path+"/assign", `{"vehicle_id":"`+first+`"}`).problem(422, "validation_failed")
	w.do("PATCH", path, `{"assignments":[]}`).problem(422, "validation_failed")

	// The registry of the pipeline reads what was written here.
	var body string
	if err := w.db.QueryRow(t.Context(),
		"SELECT body FROM devices FINAL WHERE unique_id = '352093081452251'").Scan(&body); err != nil {
		t.Fatal(err)
	}
	var stored struct {
		Assignments []struct{ VehicleID, From, Until *string }
	}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(body, "vehicle_id", "VehicleID")), &stored); err != nil ||
		len(stored.Assignments) != 2 || stored.Assignments[0].From != nil ||
		*stored.Assignments[0].Until != "2026-01-01T00:00:00.000Z" {
		t.Errorf("stored %s, %v", body, err)
	}
	w.do("DELETE", path, "").ok(204)
	w.do("POST", "/v1/devices", `{"unique_id":"352093081452251"}`).ok(201)
}

func TestTheTokenOfADeviceIsShownOnce(t *testing.T) {
	w := newWorld(t)
	path := "/v1/devices/" + w.do("POST", "/v1/devices", `{"unique_id":"phone-1"}`).ok(201).id()
	made := w.do("POST", path+"/osmand_token", "", "Idempotency-Key", "k").ok(201).object()
	token, _ := made["token"].(string)
	if len(token) != 22 || made["unique_id"] != "phone-1" {
		t.Fatalf("made %v", made)
	}
	if again := w.do("POST", path+"/osmand_token", "", "Idempotency-Key", "k").ok(201).object(); again["token"] != nil {
		t.Errorf("again %v", again)
	}
	shown := w.do("GET", path, "").ok(200)
	wantEqual(t, "has token", shown.object()["has_osmand_token"], true)
	all := string(shown.body) + string(w.do("GET", path+"/history", "").ok(200).body) + w.log.String()
	if strings.Contains(all, token) || strings.Contains(all, auth.Hash(token)) {
		t.Error("the token or its hash is shown")
	}
	var body string
	if err := w.db.QueryRow(t.Context(), "SELECT body FROM devices FINAL WHERE unique_id = 'phone-1'").
		Scan(&body); err != nil || !strings.Contains(body, auth.Hash(token)) {
		t.Errorf("stored %s, %v", body, err)
	}
	w.do("DELETE", path+"/osmand_token", "").ok(204)
	wantEqual(t, "has token", w.do("GET", path, "").ok(200).object()["has_osmand_token"], false)
}

// TestAUniqueIDThatAnOperatorGaveToAnotherAccountIsTaken tries every way to register or rename a device.
func TestAUniqueIDThatAnOperatorGaveToAnotherAccountIsTaken(t *testing.T) {
	w := newWorld(t)
	other := w.newAccount("Other")
	if err := w.api.Store.Own(t.Context(), other, true, "given"); err != nil {
		t.Fatal(err)
	}
	id := w.device("mine")
	w.do("POST", "/v1/devices", `{"unique_id":"given"}`).problem(409, "conflict")
	w.do("PATCH", "/v1/devices/"+id, `{"unique_id":"given"}`).problem(409, "conflict")
	w.do("PUT", "/v1/devices/"+id, `{"unique_id":"given"}`).problem(409, "conflict")
	results := w.do("POST", "/v1/devices/batch", `{"data":[{"unique_id":"given"},{"unique_id":"free"}]}`).ok(200).data()
	if results[0]["status"] != 409.0 || results[1]["status"] != 201.0 {
		t.Errorf("a batch: %v", results)
	}
	w.do("PATCH", "/v1/devices/"+id, `{"name":"Van"}`).ok(200)
	if d := w.do("GET", "/v1/devices/"+id, "").ok(200).object(); d["unique_id"] != "mine" || d["name"] != "Van" {
		t.Errorf("the device is %v", d)
	}
	w.do("POST", "/v1/devices", `{"unique_id":"given"}`, "Authorization",
		"Bearer "+w.newKey(other, auth.TelematicsWrite)).ok(201)
}
