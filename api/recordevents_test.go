package api

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/account"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/stream"
)

// directly hands published events to a hub, as the topic does.
type directly struct {
	mu   sync.Mutex
	hub  *stream.Hub
	last uint64
}

func (d *directly) PublishEvents(_ context.Context, events []fleet.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range events {
		d.last++
		d.hub.Event(d.last, e)
	}
	return nil
}

func TestRecordsAreToldOfToThoseWhoMayReadThem(t *testing.T) {
	publisher := &directly{}
	w, h, _ := newLiveWith(t, func(_ *rest.Config, d *Deps) { d.Events = publisher })
	publisher.hub = h
	hears := w.listen("/v1/stream?positions=false", "Authorization", "Bearer "+w.newKey(w.account, auth.VehiclesRead))
	deaf := w.listen("/v1/stream?positions=false", "Authorization", "Bearer "+w.newKey(w.account, auth.BookingsRead))
	id := w.do("POST", "/v1/vehicles", `{"make":"Tesla","model":"Model 3"}`).ok(201).object()["id"].(string)
	w.do("POST", "/v1/vehicles/"+id+"/status", `{"status":"maintenance","reason":"brakes"}`).ok(200)
	w.do("PATCH", "/v1/vehicles/"+id, `{"nickname":"x"}`, "Content-Type", "application/merge-patch+json").ok(200)
	w.do("DELETE", "/v1/vehicles/"+id, "").ok(204)
	want := []string{"vehicle.created", "vehicle.status_changed", "vehicle.updated", "vehicle.archived"}
	for i, typ := range want {
		m := hears.next()
		if m.event != typ || m.object()["id"] != id || m.object()["revision"] != float64(i+1) {
			t.Errorf("message %d is %+v, want %s of %s", i, m, typ, id)
		}
	}
	types := func(key, query string) (types []string) {
		for _, e := range w.do("GET", "/v1/events?"+query, "", "Authorization", "Bearer "+key).ok(200).data() {
			if e["vehicle_id"] != id {
				t.Errorf("event %v is of %v", e["type"], e["vehicle_id"])
			}
			types = append(types, e["type"].(string))
		}
		return types
	}
	// An endpoint wants places: they are in the topic, and the feed has them for who names them.
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, id)
	if err != nil {
		t.Fatal(err)
	}
	place, err := fleet.LocationEvent(w.account, fleet.VehicleID(vehicle), &fleet.Live{Device: 9, FixTime: noon,
		ReceivedTime: noon + 200, Lat: 30.5, Lng: -97.5, Cell: 0x89489e34c2bffff})
	if err == nil {
		err = publisher.PublishEvents(t.Context(), []fleet.Event{place})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"", "types=vehicle.*", "types=vehicles,location"} {
		if got := types(w.key, query); !slices.Equal(got, want) {
			t.Errorf("the feed of %q has %v", query, got)
		}
	}
	if got := types(w.key, "types=vehicle.location.*"); !slices.Equal(got, []string{fleet.EventLocationUpdated}) {
		t.Errorf("the feed of places has %v", got)
	}
	if got := types(w.newKey(w.account, auth.VehiclesRead, auth.BookingsRead),
		"types=vehicle.*,bookings"); !slices.Equal(got, want) {
		t.Errorf("the feed of vehicles has %v", got)
	}
	if got := types(w.newKey(w.account, auth.TelematicsRead, auth.BookingsRead), ""); len(got) != 0 {
		t.Errorf("who may not read vehicles hears %v", got)
	}
	if got := types(w.newKey(w.newAccount("Second"), auth.Admin), ""); len(got) != 0 {
		t.Errorf("another account hears %v", got)
	}
	w.do("GET", "/v1/events?types=vehicle.created", "", "Authorization",
		"Bearer "+w.newKey(w.account, auth.BookingsRead)).problem(403, "insufficient_scope")
	w.do("GET", "/v1/events", "", "Authorization", "Bearer "+w.newKey(w.account, auth.VehiclesWrite)).problem(403,
		"insufficient_scope")
	select {
	case m := <-deaf.messages:
		t.Errorf("who may not read vehicles is told %+v", m)
	default:
	}
}

func TestEveryKindThatIsToldOfHasItsScope(t *testing.T) {
	for _, e := range account.EventsOf(kinds) {
		command := strings.HasPrefix(e.Type, "device.command.")
		if e.Scope == string(auth.TelematicsRead) && !command &&
			!slices.Contains([]string{"location", "alerts"}, e.Category) {
			t.Errorf("%s needs %s", e.Type, e.Scope)
		}
		if !strings.Contains(strings.Join(fleet.EventCategories, " "), e.Category) {
			t.Errorf("%s is of category %s", e.Type, e.Category)
		}
	}
}

func TestWhoTakesNoteAndWhoDroveIsTold(t *testing.T) {
	publisher := &directly{}
	w, h, _ := newLiveWith(t, func(_ *rest.Config, d *Deps) { d.Events = publisher })
	publisher.hub = h
	v, replace := w.day()
	alert, trip := id(replace, "FAST"), w.do("GET", "/v1/trips?vehicle_id="+v, "").data()[0]["id"]
	hears := w.listen("/v1/stream?positions=false&vehicle_id="+v, "Authorization",
		"Bearer "+w.newKey(w.account, auth.TelematicsRead))
	for range 2 { // the second one says nothing new
		w.do("POST", "/v1/alerts/"+alert+"/acknowledge", `{"note":"called Jane"}`).ok(200)
		w.do("PUT", "/v1/trips/"+trip.(string)+"/driver", `{"driver":"Jane Doe"}`).ok(200)
	}
	w.do("DELETE", "/v1/trips/"+trip.(string)+"/driver", "").ok(204)
	for _, want := range []struct{ event, member, value string }{
		{"alert.acknowledged", "id", alert}, {"vehicle.trip.driver_assigned", "trip_id", trip.(string)},
		{"vehicle.trip.driver_removed", "trip_id", trip.(string)},
	} {
		m := hears.next()
		if o := m.object(); m.event != want.event || o[want.member] != want.value || o["vehicle_id"] != v ||
			o["note"] != nil || o["driver"] != nil {
			t.Errorf("%+v, want %+v", m, want)
		}
	}
}
