package api

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/track"
	"github.com/motorpool/fleet/api/units"
)

// TestWhatIsSaidInAUnitIsReadInIt sends every speed and odometer that can be shown, in each unit that takes them,
// through what is stored of them, and reads them in tables, lists and documents.
func TestWhatIsSaidInAUnitIsReadInIt(t *testing.T) {
	const speed, odometer = 6, 11 // places of PositionColumns
	a := &track.API{Server: &rest.Server{}}
	row := func(p fleet.Position, at int, metric bool, want float64) {
		t.Helper()
		if got := a.PositionRow(nil, &p, metric)[at]; !reflect.DeepEqual(got, export.ExactOf(want)) {
			t.Fatalf("got %+v, want %v", got, want)
		}
	}
	document := func(v any, metric bool) string {
		text, err := rest.EncodeJSON(v, metric)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	same := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Fatalf("%s: got %s, want %s", what, got, want)
		}
	}
	for tenths := range 2500 {
		said := float64(tenths) / 10
		fixed := strconv.FormatFloat(said, 'f', 1, 64)
		stored := math.Round(said*fleet.MetresPerMph*100) / 100
		row(fleet.Position{Speed: stored}, speed, false, said)
		same("mph", document(struct {
			SpeedMph units.MilesPerHour `json:"speed_mph"`
		}{units.MphOf(stored)}, false), `{"speed_mph":`+fixed+`}`)
		stored = math.Round(said*fleet.MetresPerKmh*100) / 100
		row(fleet.Position{Speed: stored}, speed, true, said)
		same("km/h", document(struct {
			SpeedMph units.MilesPerHour `json:"speed_mph"`
		}{units.MphOf(stored)}, true), `{"speed_kmh":`+fixed+`}`)
	}
	for n := 0; n < 400_000; n += 997 {
		metres := float64(n) * 1000
		row(fleet.Position{Odometer: metres}, odometer, true, float64(n))
		same("km", document(struct {
			OdometerMi units.Miles `json:"odometer_mi"`
		}{units.MilesOf(metres)}, true), fmt.Sprintf(`{"odometer_km":%d.000}`, n))
		same("whole km", document(struct {
			CurrentMileageMi units.WholeMiles `json:"current_mileage_mi"`
		}{units.WholeMiles(units.MilesOf(metres))}, true),
			fmt.Sprintf(`{"current_mileage_km":%d}`, n))
		stored := math.Round(float64(n) * fleet.MetresPerMile)
		row(fleet.Position{Odometer: stored}, odometer, false, float64(n))
		same("whole miles", document(struct {
			M units.WholeMiles `json:"current_mileage_mi"`
		}{units.WholeMiles(units.MilesOf(stored))}, false), fmt.Sprintf(`{"current_mileage_mi":%d}`, n))
		litres := float64(n) / 8
		same("litres", document(struct {
			Fuel units.Gallons `json:"fuel_used_gal"`
		}{units.GallonsOf(litres)}, true), fmt.Sprintf(`{"fuel_used_l":%.3f}`, litres))
	}
}

// TestAVehicleThatSaysSixtyIsShownAtSixty looks at all that shows the speed of a vehicle's last fix.
func TestAVehicleThatSaysSixtyIsShownAtSixty(t *testing.T) {
	w := newWorld(t)
	v := w.vehicle(`{"make":"Gillig","model":"Low Floor","fuel_capacity_gal":100}`)
	w.park(w.account, v, 30.26715, -97.74306)
	w.exec(`INSERT INTO vehicle_state SELECT * REPLACE (2 AS version, toUInt16(2682) AS speed_cms) FROM vehicle_state FINAL`)
	shown := w.do("GET", "/v1/vehicles/"+v, "").ok(200).object()
	wantEqual(t, "speed", shown["speed_mph"], 60.0)
	shown = w.do("GET", "/v1/vehicles/"+v+"?units=metric", "").ok(200).object()
	wantEqual(t, "speed", shown["speed_kmh"], 96.6)
	wantEqual(t, "tank", shown["fuel_capacity_l"], 379.0)
	wantEqual(t, "latest", w.do("GET", "/v1/positions/latest", "").data()[0]["speed_mph"], 60.0)
}

// TestTimesOfRFC3339AreTaken writes one instant in the ways that the standard allows.
func TestTimesOfRFC3339AreTaken(t *testing.T) {
	for _, text := range []string{"2016-12-31T23:59:60Z", "2017-01-01t00:00:00z", "2017-01-01T00:00:00.000Z",
		"2017-01-01T01:00:00+01:00", "2016-12-31t18:59:60.000-05:00"} {
		var i record.Instant
		if err := i.UnmarshalJSON([]byte(`"` + text + `"`)); err != nil || !i.Equal(fleet.Millis(1483228800000).Time()) {
			t.Errorf("%s: %v, %v", text, i, err)
		}
	}
	for _, text := range []string{"", "z", "2017-01-01", "2017-01-01t00:00:00", "2016-12-31T23:58:60Z",
		"2017-01-01 00:00:00Z", strings.Repeat("é", 20)} {
		if at, err := fleet.ParseTime(text); err == nil {
			t.Errorf("%q is %v", text, at)
		}
	}
}
