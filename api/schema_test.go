package api

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/rest"
)

func TestAnswersFitTheirDescription(t *testing.T) {
	w := newWorld(t)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(w.do("GET", "/v1/openapi.json", "").ok(200).body))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	fits := func(name string, body []byte) {
		t.Helper()
		schema, err := compiler.Compile("openapi.json#/components/schemas/" + name)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(answer); err != nil {
			t.Errorf("%v\n%s", err, body)
		}
	}
	bare := w.do("POST", "/v1/vehicles", `{"make":"A","model":"B"}`).ok(201)
	fits("Vehicle", bare.body)
	full := w.vehicle(`{"make":"Tesla","model":"Model 3","year":2024,"insurance":{"provider":"Acme","premium":{"amount":100,"currency":"USD"}},"custom_fields":{"a":[1,null]}}`)
	w.live(full, w.account)
	device := w.do("POST", "/v1/devices", `{"unique_id":"u"}`).ok(201)
	fits("Device", device.body)
	fits("Device",
		w.do("POST", "/v1/devices/"+device.id()+"/assign", `{"vehicle_id":"`+full+`","from":null}`).ok(200).body)
	fits("Vehicle", w.do("GET", "/v1/vehicles/"+full+"?expand=devices", "").ok(200).body)
	fits("APIKey", w.do("POST", "/v1/api_keys", `{"name":"x","scopes":["admin"]}`).ok(201).body)
	fits("Account", w.do("GET", "/v1/account", "").ok(200).body)
	fits("DeviceToken", w.do("POST", "/v1/devices/"+device.id()+"/osmand_token", "").ok(201).body)
	fence := w.do("POST", "/v1/geofences",
		`{"name":"lot","geometry":{"type":"Circle","center":[-97.6664,30.1945],"radius_m":500},"schedule":{"windows":[{"days":["mon"],"from":"08:00","until":"09:00"}]}}`).ok(201)
	fits("Geofence", fence.body)
	fits("AlertRule", w.do("POST", "/v1/alert_rules",
		`{"name":"x","kind":"speeding","threshold_mph":70,"geofence_ids":["`+fence.id()+`"]}`).ok(201).body)
	fits("Problem", w.do("GET", "/v1/vehicles?x=1", "").body)
	fits("Problem", w.do("POST", "/v1/vehicles/"+full+"/status", `{"status":"rented","reason":"x"}`).body)
	history, err := rest.EncodeJSON(w.do("GET", "/v1/devices/"+device.id()+"/history", "").data()[0], false)
	if err != nil {
		t.Fatal(err)
	}
	fits("Revision", history)

	// What is derived, with and without what may be null.
	_, _ = w.day()
	for path, name := range map[string]string{"trips": "Trip", "stops": "Stop", "charging_sessions": "ChargingSession",
		"visits": "Visit", "driving_events": "DrivingEvent", "alerts": "Alert", "vehicles/score": "Score"} {
		all := w.do("GET", "/v1/"+path+"?per_page=100", "").data()
		if path == "vehicles/score" {
			all = w.do("GET", "/v1/vehicles/score?from=2026-01-01T00:00:00Z&until=2026-02-01T00:00:00Z", "").data()
		}
		if len(all) == 0 {
			t.Errorf("no %s", path)
		}
		for _, one := range all {
			text, err := rest.EncodeJSON(one, false)
			if err != nil {
				t.Fatal(err)
			}
			fits(name, text)
		}
	}
	w.derive(w.account, row{vehicle: full, entity: &fleet.RouteRun{Head: head(0, 1, true), Plan: 5,
		Stops: []fleet.RunStop{{ID: "1", ETA: at(3), ETAError: 1000}}}})
	for _, one := range w.do("GET", "/v1/route_runs", "").data() {
		text, err := rest.EncodeJSON(one, false)
		if err != nil {
			t.Fatal(err)
		}
		fits("RouteRun", text)
	}
	w.derive(w.account, row{vehicle: full, entity: &fleet.ChargingSession{Head: head(0, 1, true)}},
		row{vehicle: full, entity: &fleet.Visit{Head: head(0, 1, true), Fence: 5, EntryPlace: depot}})
	for path, name := range map[string]string{"charging_sessions": "ChargingSession", "visits": "Visit"} {
		text, err := rest.EncodeJSON(w.do("GET", "/v1/"+path+"?provisional=true", "").data()[0], false)
		if err != nil {
			t.Fatal(err)
		}
		fits(name, text)
	}
}
