package api

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/pipeline/registry"
	"github.com/motorpool/fleet/query"
)

func TestARuleTakesTheThresholdOfItsKind(t *testing.T) {
	w := newWorld(t)
	fence := w.do("POST", "/v1/geofences", `{"name":"lot","geometry":`+lot+`}`).ok(201).id()
	made := w.do("POST", "/v1/alert_rules",
		`{"name":"fast","kind":"speeding","threshold_mph":75,"min_duration_s":30,"cooldown_s":600,"geofence_ids":["`+
			fence+`"]}`).ok(201)
	rule := made.object()
	wantEqual(t, "filled in", fmt.Sprint(rule["enabled"], rule["severity"]), "truewarning")
	path := "/v1/alert_rules/" + made.id()
	wantEqual(t, "metric", w.do("GET", path+"?units=metric", "").ok(200).object()["threshold_kmh"], 121.0)
	wantEqual(t, "switched off", w.do("PATCH", path, `{"enabled":false}`).ok(200).object()["enabled"], false)
	w.do("POST", "/v1/alert_rules", `{"name":"towed","kind":"tow","severity":"info"}`).ok(201)
	for query, want := range map[string]string{
		"": "fast towed", "?kind=tow": "towed", "?severity=warning": "fast", "?geofence_ids=" + fence: "fast",
		"?q=tow": "towed", "?sort=-kind": "towed fast",
	} {
		wantEqual(t, query, w.do("GET", "/v1/alert_rules"+query, "").names(), want)
	}
	for body, want := range map[string]string{
		`{"name":"a"}`:                                                                              "/kind",
		`{"name":"a","kind":"boredom"}`:                                                             "/kind",
		`{"name":"a","kind":"speeding","threshold_s":5}`:                                            "/threshold_s",
		`{"name":"a","kind":"crash","threshold_mps2":5}`:                                            "/threshold_mps2",
		`{"name":"a","kind":"battery_low","threshold_pct":101}`:                                     "/threshold_pct",
		`{"name":"a","kind":"speeding","threshold_mph":0}`:                                          "/threshold_mph",
		`{"name":"a","kind":"tow","geofence_ids":["` + fence + `"]}`:                                "/geofence_ids",
		`{"name":"a","kind":"geofence_curfew"}`:                                                     "/geofence_ids",
		`{"name":"a","kind":"geofence_enter","geofence_ids":["geo_1"]}`:                             "/geofence_ids/0",
		`{"name":"a","kind":"geofence_enter","geofence_ids":["veh_1"]}`:                             "/geofence_ids/0",
		`{"name":"a","kind":"tow","severity":"grave"}`:                                              "/severity",
		`{"name":"a","kind":"tow","schedule":{"timezone":"UTC"}}`:                                   "/schedule/windows",
		`{"name":"a","kind":"tow","scope":{"vehicle_ids":["veh_1"]}}`:                               "/scope/vehicle_ids/0",
		`{"name":"a","kind":"geofence_speeding","threshold_mph":0,"x":1}`:                           "/x",
		`{"name":"a","kind":"tow","threshold_m":100,"threshold_mi":1}`:                              "/threshold_mi",
		`{"name":"a","kind":"tow","applies_from":"2026-01-01T00:00:00Z"}`:                           "/applies_from",
		`{"name":"a","kind":"tow","min_duration_s":-1}`:                                             "/min_duration_s",
		`{"name":"a","kind":"sos","alarms":["sos"]}`:                                                "/alarms",
		`{"name":"a","kind":"device_alarm","alarms":["sos,idle"]}`:                                  "/alarms/0",
		`{"name":"a","kind":"signal"}`:                                                              "/signal",
		`{"name":"a","kind":"tow","signal":{"name":"temp1_c","is":"above","value":8}}`:              "/signal",
		`{"name":"a","kind":"signal","signal":{"name":"warmth","is":"above","value":8}}`:            "/signal/name",
		`{"name":"a","kind":"signal","signal":{"name":"temp1_c","is":"warm"}}`:                      "/signal/is",
		`{"name":"a","kind":"signal","signal":{"name":"temp1_c","is":"above"}}`:                     "/signal/value",
		`{"name":"a","kind":"signal","signal":{"name":"temp1_c","is":"above","value":800}}`:         "/signal/value",
		`{"name":"a","kind":"signal","signal":{"name":"temp1_c","is":"outside","from":8,"to":2}}`:   "/signal/to",
		`{"name":"a","kind":"signal","signal":{"name":"temp1_c","is":"below","value":8,"from":2}}`:  "/signal/from",
		`{"name":"a","kind":"signal","signal":{"name":"temp1_c","is":"changed","value":-1}}`:        "/signal/value",
		`{"name":"a","kind":"signal","signal":{"name":"door_open","is":"changed","hysteresis":-1}}`: "/signal/hysteresis",
	} {
		if got := w.do("POST", "/v1/alert_rules", body).faults(); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	w.do("POST", "/v1/alert_rules", `{"name":"a","kind":"geofence_speeding","threshold_mph":0}`).ok(201)
	w.do("DELETE", path, "").ok(204)
}

func TestEveryKindOfAlertIsDescribed(t *testing.T) {
	w := newWorld(t)
	kinds := w.do("GET", "/v1/alert_kinds", "").data()
	wantEqual(t, "kinds", len(kinds), len(fleet.AlertKinds))
	field, _ := reflect.TypeFor[record.AlertRuleFields]().FieldByName("Kind")
	var names []string
	for i, kind := range fleet.AlertKinds {
		names = append(names, string(kind))
		k := kinds[i]
		if k["kind"] != string(kind) || k["about"] == "" || k["default_severity"] == "" {
			t.Errorf("%s is described as %v", kind, k)
		}
		takes, ok := query.ThresholdOf(kind)
		if ok != (kind.Unit() != "") || ok != (k["threshold"] != nil) ||
			ok && (k["unit"] == "" || k["threshold"] != takes.Member) {
			t.Errorf("threshold of %s: %v", kind, k)
		}
		body := fmt.Sprintf(`{"name":"x","kind":%q`, kind)
		if ok && kind.Default() > 0 {
			body += fmt.Sprintf(`,%q:%v`, takes.Member, k["default_threshold"])
		}
		switch kind {
		case fleet.AlertFenceCurfew:
			continue
		case fleet.AlertSignal:
			body += `,"signal":{"name":"door_open","is":"changed"}`
		case fleet.AlertProximity:
			body += `,"relation":"apart","scope":{"tags":["cash"]}`
		}
		w.do("POST", "/v1/alert_rules", body+"}").ok(201)
	}
	wantEqual(t, "the schema's kinds", field.Tag.Get("enum"), strings.Join(names, ","))
}

func TestTripSettingsOfAnAccountAndAVehicle(t *testing.T) {
	w := newWorld(t)
	changed := w.do("PATCH", "/v1/account",
		`{"trip_settings":{"stop_after_s":300,"use_ignition":false},"timezone":"Europe/Berlin"}`).ok(200).object()
	wantEqual(t, "settings", fmt.Sprint(changed["trip_settings"], changed["timezone"], changed["name"]),
		"map[stop_after_s:300 use_ignition:false]Europe/BerlinFirst")
	merged := w.do("PATCH", "/v1/account", `{"trip_settings":{"stop_after_s":null,"split_s":7200}}`).ok(200).object()
	wantEqual(t, "merged", fmt.Sprint(merged["trip_settings"]), "map[split_s:7200 use_ignition:false]")
	for body, want := range map[string]string{
		`{"timezone":"Nowhere"}`:                                     "/timezone",
		`{"retention_days":29}`:                                      "/retention_days",
		`{"trip_settings":{"stop_after_s":1}}`:                       "/trip_settings/stop_after_s",
		`{"trip_settings":{"split_s":60,"no_data_s":600}}`:           "/trip_settings/split_s",
		`{"trip_settings":{"start_speed_mph":3,"stop_speed_mph":4}}`: "/trip_settings/stop_speed_mph",
		`{"name":null}`:                                              "/name",
		`{"plan":"free"}`:                                            "/plan",
	} {
		wantEqual(t, body, w.do("PATCH", "/v1/account", body).faults(), want)
	}
	for _, days := range []int{30, 0} { // 0: everything
		w.do("PATCH", "/v1/account", fmt.Sprintf(`{"retention_days":%d}`, days)).ok(200)
	}
	w.do("PATCH", "/v1/account", `{"currency":"EUR"}`, "If-Match", `"r1"`).problem(412, "precondition_failed")
	v := w.do("POST", "/v1/vehicles",
		`{"make":"A","model":"B","fuel_capacity_gal":15.5,"battery_kwh":75,"trip_settings":{"stop_after_s":120}}`).ok(201)
	wantEqual(t, "vehicle", fmt.Sprint(v.object()["trip_settings"], v.object()["fuel_capacity_gal"]),
		"map[stop_after_s:120] 15.5")
	wantEqual(t, "of a vehicle", w.do("PATCH", "/v1/vehicles/"+v.id(),
		`{"trip_settings":{"split_s":60,"no_data_s":600}}`).faults(), "/trip_settings/split_s")
	policies := registry.NewPolicies(w.db)
	if err := policies.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	id, _ := fleet.ParseID(fleet.VehiclePrefix, v.id())
	if s := policies.Of(w.account).TraitsOf(fleet.VehicleID(id)); *s.Trip.StopAfter != 120_000 ||
		*s.Trip.Split != 7_200_000 || s.Zone.String() != "Europe/Berlin" {
		t.Errorf("traits %+v", s)
	}
	// A tracker may have its own, by which its silence is judged.
	d := w.do("POST", "/v1/devices", `{"unique_id":"sleeper","no_data_s":1200}`).ok(201)
	wantEqual(t, "device", fmt.Sprint(d.object()["no_data_s"]), "1200")
	wantEqual(t, "of a device", w.do("PATCH", "/v1/devices/"+d.id(), `{"no_data_s":5}`).faults(), "/no_data_s")
	if err := policies.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	id, _ = fleet.ParseID(fleet.DevicePrefix, d.id())
	if own := policies.Of(w.account).Devices[fleet.DeviceID(id)]; own.NoData == nil || *own.NoData != 1_200_000 {
		t.Errorf("settings of a device: %+v", own)
	}
}

// Whoever writes a rule about a signal finds the names in the interface itself, also from a refusal.
func TestTheSignalsAreListed(t *testing.T) {
	w := newWorld(t)
	listed := w.do("GET", "/v1/signals", "").ok(200).data()
	wantEqual(t, "signals", len(listed), len(fleet.Signals))
	for _, s := range listed {
		wantEqual(t, fmt.Sprint("no unit of ", s["name"]), s["unit"] == nil, s["kind"] == "boolean")
	}
	got := string(w.do("POST", "/v1/alert_rules",
		`{"name":"a","kind":"signal","signal":{"name":"tmp1_c","is":"above","value":8}}`).ok(422).body)
	if !strings.Contains(got, "GET /v1/signals") || !strings.Contains(got, "did you mean temp1_c?") {
		t.Errorf("refused with %s", got)
	}
}

func TestARuleAboutPairsIsRefusedInWords(t *testing.T) {
	w := newWorld(t)
	one := w.vehicle(`{"make":"A","model":"1"}`)
	many := strings.Repeat(fmt.Sprintf("%q,", one), fleet.MaxPairVehicles) + fmt.Sprintf("%q", one)
	for more, want := range map[string]string{
		`"kind":"proximity"`: "/scope", `"kind":"proximity","scope":{"vehicle_ids":["` + one + `"]}`: "/scope/vehicle_ids",
		`"kind":"proximity","scope":{"vehicle_ids":[` + many +
			`]}`: "/scope/vehicle_ids",
		`"kind":"proximity","scope":{"tags":["a"]},"cooldown_s":5`:                                            "/cooldown_s",
		`"kind":"proximity","scope":{"tags":["a"]},"schedule":{"windows":[{"from":"08:00","until":"09:00"}]}`: "/schedule",
		`"kind":"proximity","scope":{"tags":["a"]},"threshold_m":100001`:                                      "/threshold_m",
		`"kind":"tow","relation":"near"`:                                                                      "/relation",
		`"kind":"proximity","relation":"beside","scope":{"tags":["a"]}`:                                       "/relation",
	} {
		wantEqual(t, more, w.do("POST", "/v1/alert_rules", `{"name":"a",`+more+`}`).faults(), want)
	}
}
