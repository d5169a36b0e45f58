package eventview

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/motorpool/fleet"
)

func TestOneEnvelope(t *testing.T) {
	r := New()
	r.At("vehicle", "/v1/vehicles/")
	r.At(fleet.KindTrip, "/v1/trips/")
	r.Derived(fleet.KindTrip, View{Show: func(e *fleet.Event, metric bool) (any, error) {
		return map[string]any{"id": "trp_5", "object": "trip", "driver": "Jane", "distance_mi": 10, "metric": metric,
			"revision": 2}, nil
	}})
	vehicle := fleet.Event{ID: 9, Type: "vehicle.updated", Account: 7, Vehicle: 12, At: 1e12, Kind: "vehicle", Object: 12,
		Revision: 2, Body: json.RawMessage(
			`{"id":"veh_c","object":"vehicle","revision":2,"plate":"X","odometer_mi":1E+000000,"previous_attributes":{"plate":null}}`)}
	trip := fleet.Event{ID: 9, Type: "vehicle.trip.ended", Account: 7, At: 1e12, Kind: fleet.KindTrip, Late: true}
	for _, test := range []struct {
		event    fleet.Event
		as       Form
		has, not []string
	}{
		{vehicle, Form{}, []string{`"id":"evt_`, `"api_version":"v1"`, `"account_id":"acc_`, `"sequence":3`,
			`"vehicle_id":"veh_`,
			`"timestamp":"2001-09-09T01:46:40.000Z"`, `"object":{"id":"veh_c","object":"vehicle","odometer_mi":1.000,"plate":"X","revision":2}`,
			`"previous_attributes":{"plate":null}`}, []string{"url"}},
		{vehicle, Form{Metric: true}, []string{`"odometer_km":1.609`}, []string{"odometer_mi"}},
		{vehicle, Form{Thin: true}, []string{`"data":{"object":{"id":"veh_c","object":"vehicle","revision":2,"url":"/v1/vehicles/veh_c"}}}`},
			[]string{"plate"}},
		{trip, Form{}, []string{`"distance_mi":10,`, `"vehicle_id":null`, `"late":true`}, []string{"Jane", "previous"}},
		{trip, Form{Thin: true}, []string{`{"id":"trp_5","object":"trip","revision":2,"url":"/v1/trips/trp_5"}`},
			[]string{"distance"}},
	} {
		text, err := r.JSON(&test.event, 3, test.as)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range test.has {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s %+v: %s, want %s", test.event.Type, test.as, text, want)
			}
		}
		for _, bad := range test.not {
			if strings.Contains(string(text), bad) {
				t.Errorf("%s %+v: %s has %s", test.event.Type, test.as, text, bad)
			}
		}
	}
}
