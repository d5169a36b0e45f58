package api

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/event"
	"github.com/motorpool/fleet/api/eventview/eventtest"
)

// eventChecks are those of this process, by how many types there are: some tests add kinds.
var eventChecks struct {
	mu  sync.Mutex
	all map[int]*eventtest.Check
}

// eventCheck holds what is told in any test against its schema.
func eventCheck(w *world) *eventtest.Check {
	eventChecks.mu.Lock()
	defer eventChecks.mu.Unlock()
	types := len(fleet.EventTypes)
	if eventChecks.all == nil {
		eventChecks.all = map[int]*eventtest.Check{}
	}
	if eventChecks.all[types] == nil {
		eventChecks.all[types] = eventtest.New(w.api.Events)
	}
	return eventChecks.all[types]
}

func TestEveryTypeOfEventsHasASchemaAndAnExample(t *testing.T) {
	w := newWorld(t)
	check := eventCheck(w)
	var doc struct {
		Webhooks map[string]any `json:"webhooks"`
	}
	if err := json.Unmarshal(w.do("GET", "/v1/openapi.json", "").ok(200).body, &doc); err != nil {
		t.Fatal(err)
	}
	categories := map[string]bool{}
	for _, known := range w.do("GET", "/v1/event_types", "").ok(200).data() {
		name := known["type"].(string)
		if err := check.Example(name); err != nil {
			t.Error(err)
		}
		if doc.Webhooks[name] == nil {
			t.Errorf("the description of the interface has no webhook %s", name)
		}
		for _, c := range known["categories"].([]any) {
			categories[c.(string)] = true
		}
	}
	for _, c := range fleet.EventCategories {
		if !categories[c] {
			t.Errorf("nothing is in the category %s", c)
		}
	}
	one := w.do("GET", "/v1/event_types/work_order.opened", "").ok(200).object()
	text, err := json.Marshal(one["schema"])
	if err != nil || !strings.Contains(string(text), `"$defs"`) || strings.Contains(string(text), "components/schemas") {
		t.Errorf("%v: %s", err, text)
	}
	data := one["example"].(map[string]any)["data"].(map[string]any)
	if o := data["object"].(map[string]any); o["object"] != "work_order" {
		t.Errorf("the example is about %v", o)
	}
	w.do("GET", "/v1/event_types/work_order.eaten", "").problem(404, "not_found")
	got := w.do("GET", "/v1/events?types=payments", "")
	if got.status == 400 {
		t.Errorf("the category payments is not known: %s", got.body)
	}
}

// The check of the harness can fail.
func TestAnEventThatDoesNotFitItsSchemaIsFound(t *testing.T) {
	w := newWorld(t)
	check := eventCheck(w)
	for _, test := range []struct {
		member string
		value  any
	}{{"nickname", "x"}, {"make", 7}, {"brand", "A"}, {"object", "booking"}, {"notes", "Jane"}} {
		data := w.api.Events.Catalogue(false).Example("vehicle.created")["data"].(map[string]any)
		object := data["object"].(map[string]any)
		object[test.member] = test.value
		body, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		err = check.Event(&fleet.Event{ID: 1, Type: "vehicle.created", Account: 1, Kind: "vehicle", Body: body})
		if test.member == "nickname" && err != nil || test.member != "nickname" &&
			(err == nil || !strings.Contains(err.Error(), test.member)) {
			t.Errorf("%s is %v: %v", test.member, test.value, err)
		}
	}
	if err := check.Event(&fleet.Event{Type: "vehicle.eaten", Body: []byte("{}")}); err == nil {
		t.Error("a type that there is not is none")
	}
}

// A place is told in the envelope of all events, as the newest positions are.
func TestWhereAVehicleIsIsAnEvent(t *testing.T) {
	w := newWorld(t)
	speed := 10.0
	e, err := fleet.LocationEvent(w.account, 5, &fleet.Live{Device: 9, FixTime: noon, ReceivedTime: noon + 200, Lat: 30.5,
		Lng: -97.5, Speed: &speed, Cell: 0x89489e34c2bffff})
	if err != nil {
		t.Fatal(err)
	}
	if err := eventCheck(w).Event(&e); err != nil {
		t.Error(err)
	}
}

// What is derived fits its schema, with what may be unknown and without.
func TestWhatIsDerivedFitsItsSchema(t *testing.T) {
	w := newWorld(t)
	check, one, place := eventCheck(w), 1.0, fleet.Place{Lat: 30, Lng: -97}
	whole := fleet.Head{Start: noon, End: noon + 1000}
	for prefix, all := range map[string][]fleet.Entity{
		"vehicle.trip.": {&fleet.Trip{Head: whole, Device: 3, OdometerStart: &one, OdometerEnd: &one, FuelUsed: &one,
			EnergyUsed: &one, SocStart: &one, SocEnd: &one, ClosedReason: "stop"}, &fleet.Trip{}},
		"vehicle.stop.": {&fleet.Stop{Head: whole, Place: place, ClosedReason: "moved"}, &fleet.Stop{}},
		"vehicle.charging_session.": {&fleet.ChargingSession{Head: whole, Place: &place, SocStart: &one, SocEnd: &one,
			Energy: &one, PeakPower: &one}, &fleet.ChargingSession{}},
		"geofence.": {&fleet.Visit{Head: whole, Fence: 4, ExitPlace: &place, DwelledAt: noon, ExitReason: "left"},
			&fleet.Visit{Fence: 4}},
		"vehicle.driving_event.": {&fleet.DrivingEvent{Head: whole, What: fleet.Speeding, Source: "derived", Place: place},
			&fleet.DrivingEvent{What: fleet.Crash, Source: "device"}},
		"alert.": {&fleet.Alert{Head: whole, Rule: 5, What: fleet.AlertSpeeding, Severity: "info", Place: &place,
			Value: &one, Peak: &one, Threshold: &one, Before: &one, After: &one, Litres: &one, Fence: 4, Subject: "x",
			ResolvedReason: "cleared"}, &fleet.Alert{Head: fleet.Head{Open: true}, What: fleet.AlertOffline, Severity: "info"}},
		"vehicle.route_run.": {&fleet.RouteRun{Head: whole, Plan: 5, Stops: []fleet.RunStop{{ID: "1", ETA: noon,
			ETAError: 1000}}}, &fleet.RouteRun{Head: fleet.Head{Open: true}, Plan: 5}},
	} {
		for _, name := range fleet.EventTypes {
			if slices.ContainsFunc(fleet.EventsOfRecords, func(r fleet.RecordEvents) bool {
				return slices.Contains(r.Types, name)
			}) || !strings.HasPrefix(name, prefix) {
				continue
			}
			for _, e := range all {
				body, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				if err := check.Event(&fleet.Event{ID: 1, Type: name, Account: w.account, Vehicle: 5, At: noon, Kind: e.Kind(),
					Object: 9, Revision: 2, Body: body}); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// Every kind that is told of is described.
func TestEveryKindThatIsToldOfHasABody(t *testing.T) {
	for _, r := range fleet.EventsOfRecords {
		if !slices.ContainsFunc(event.Bodies, func(b event.Body) bool { return b.Kind == r.Kind }) {
			t.Errorf("nothing describes what is told of %s", r.Kind)
		}
	}
}
