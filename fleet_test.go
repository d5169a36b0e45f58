package fleet_test

import (
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
)

func TestParseIDReadsWhatFormatIDWroteAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.Uint64Min(1).Draw(t, "id")
		got, err := fleet.ParseID(fleet.VehiclePrefix, fleet.VehicleID(id).String())
		if err != nil || got != id {
			t.Fatalf("got %d, %v; want %d", got, err, id)
		}
	})
	for _, text := range []string{"", "veh_", "veh_0", "veh_01", "veh_-1", "veh_+1", "dev_1", "veh_1x",
		"veh_18446744073709551616", "1"} {
		if id, err := fleet.ParseID(fleet.VehiclePrefix, text); err == nil {
			t.Errorf("%q was read as %d", text, id)
		}
	}
}

func TestIDSourceNeverRepeatsAndNeverGoesBack(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	var mu sync.Mutex
	source := fleet.NewIDSource(7, func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(-time.Millisecond) // a clock that runs backwards
		return now
	})
	next := []func() uint64{source.Next, source.NextOfMany}
	var last uint64
	for i := range 20_000 { // more than one millisecond's sequence
		id := next[i/3%2]()
		if id <= last || id>>12&(fleet.Nodes-1) != 7 {
			t.Fatalf("%d after %d", id, last)
		}
		last = id
	}
	other := fleet.NewIDSource(8, func() time.Time { return now })
	if fleet.NewIDSource(7, func() time.Time { return now }).Next() == other.Next() {
		t.Fatal("two nodes made the same identity")
	}
}

func TestWhatIsMadeTogetherHasNoIDOfWhatIsMadeAlone(t *testing.T) {
	still := func() time.Time { return time.UnixMilli(1_700_000_000_000) }
	one, other := fleet.NewIDSource(7, still), fleet.NewIDSource(7, still) // two processes by mistake under one number
	alone := make(map[uint64]bool)
	for range 5000 {
		alone[one.Next()] = true
	}
	for range 5000 {
		if id := other.NextOfMany(); alone[id] {
			t.Fatalf("%d is made twice", id)
		}
	}
}

func TestQuantiseKeepsAPlaceWithinACentimetre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lat, lng := rapid.Float64Range(-90, 90).Draw(t, "lat"), rapid.Float64Range(-180, 180).Draw(t, "lng")
		if d := fleet.Distance(lat, lng, fleet.Quantise(lat), fleet.Quantise(lng)); d > 0.01 {
			t.Fatalf("moved %f m", d)
		}
	})
}

func TestDistanceKnowsTheGlobe(t *testing.T) {
	quarter := fleet.EarthRadius * math.Pi / 2
	for _, c := range []struct {
		name                   string
		lat1, lng1, lat2, lng2 float64
		want                   float64
	}{
		{"nowhere", 41.2, -95.9, 41.2, -95.9, 0},
		{"equator to pole", 0, 0, 90, 123, quarter},
		{"across the antimeridian", 0, 179.5, 0, -179.5, fleet.EarthRadius * math.Pi / 180},
		{"antipodes", 0, 0, 0, 180, 2 * quarter},
	} {
		if got := fleet.Distance(c.lat1, c.lng1, c.lat2, c.lng2); math.Abs(got-c.want) > 0.001 {
			t.Errorf("%s: %f m, want %f", c.name, got, c.want)
		}
	}
}

func TestEveryFlagHasAName(t *testing.T) {
	for bit := range fleet.FlagNames {
		if names := fleet.Flags(1 << bit).Names(); len(names) != 1 {
			t.Errorf("bit %d: %v", bit, names)
		}
	}
	if names := (fleet.FlagBadOdometer << 1).Names(); names != nil {
		t.Errorf("a bit beyond the last flag is called %v", names)
	}
}

func TestDeviceIsOnTheVehicleOfItsAssignment(t *testing.T) {
	d := fleet.Device{Assignments: []fleet.Assignment{{Vehicle: 1, To: 100}, {Vehicle: 2, From: 200, To: 300},
		{Vehicle: 3, From: 300}}}
	for at, want := range map[fleet.Millis]fleet.VehicleID{1: 1, 99: 1, 100: 0, 199: 0, 200: 2, 299: 2,
		300: 3, 1 << 40: 3} {
		if got := d.VehicleAt(at); got != want {
			t.Errorf("at %d on %v, want %v", at, got, want)
		}
	}
	if (&fleet.Device{}).VehicleAt(5) != 0 {
		t.Error("a device without assignments is on a vehicle")
	}
}

func TestSignalsAreNamedOnceAndHaveARange(t *testing.T) {
	seen := map[string]bool{}
	for i, spec := range fleet.Signals {
		if seen[spec.Name] || spec.Min >= spec.Max || spec.Unit == "" || spec.About == "" {
			t.Errorf("signal %d (%q) is repeated or incomplete", i, spec.Name)
		}
		seen[spec.Name] = true
		if s, ok := fleet.SignalNamed(spec.Name); !ok || s.Spec().Name != spec.Name {
			t.Errorf("%s is not found by its name", spec.Name)
		}
	}
	if soc := fleet.MustSignal("soc_pct"); soc.Accepts(math.NaN()) || soc.Accepts(101) || !soc.Accepts(0) {
		t.Error("soc_pct accepts what is not a percentage")
	}
}

func TestWhatIsNotThereIsNamed(t *testing.T) {
	for id, want := range map[string]string{
		"":                      "must name a vehicle",
		"bkg_7":                 `"bkg_7" is not the id of a vehicle: those are veh_ and digits`,
		"veh_7":                 "the account has no vehicle veh_7",
		strings.Repeat("x", 99): `"` + strings.Repeat("x", 40) + `" is not the id of a vehicle: those are veh_ and digits`,
	} {
		if f := fleet.NoSuch("/vehicle_id", "vehicle", fleet.VehiclePrefix, id); f.Pointer != "/vehicle_id" ||
			f.Code != "not_found" || f.Detail != want {
			t.Errorf("%q: %+v, want %s", id, f, want)
		}
	}
}

// TestDistance holds it against the formula as it is written down, from a hair to a quarter of the world, to a
// hundredth of a micrometre.
func TestDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lat, lng := rapid.Float64Range(-90, 90).Draw(t, "lat"), rapid.Float64Range(-180, 180).Draw(t, "lng")
		step := math.Pow(10, rapid.Float64Range(-7, 2).Draw(t, "step"))
		lat2 := max(-90, min(90, lat+step*rapid.Float64Range(-1, 1).Draw(t, "north")))
		lng2 := lng + step*rapid.Float64Range(-1, 1).Draw(t, "east")
		const rad = math.Pi / 180
		sinLat, sinLng := math.Sin((lat2-lat)*rad/2), math.Sin((lng2-lng)*rad/2)
		want := 2 * fleet.EarthRadius *
			math.Asin(math.Sqrt(min(1, sinLat*sinLat+math.Cos(lat*rad)*math.Cos(lat2*rad)*sinLng*sinLng)))
		if got := fleet.Distance(lat, lng, lat2, lng2); math.Abs(got-want) > 1e-8+1e-14*want {
			t.Fatalf("%v m, the formula says %v", got, want)
		}
	})
}

func BenchmarkDistance(b *testing.B) {
	sum := 0.0
	for i := range b.N {
		sum += fleet.Distance(48.1, 11.5, 48.1+float64(i&1023)*1e-6, 11.5001)
	}
	if sum == 0 {
		b.Fatal("no way")
	}
}
