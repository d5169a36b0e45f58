package fleet_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
)

// storedUnit is a quantity that is stored in whole units: where it stands, what one unit is, and between what it can be stored.
type storedUnit struct {
	name      string
	of        func(p *fleet.Position) *float64
	unit      float64
	low, high float64
	unknown   float64 // what comes back for NaN
}

var storedUnits = []storedUnit{
	{"lat", func(p *fleet.Position) *float64 { return &p.Lat }, fleet.CoordinateUnit, -180, 180, 0},
	{"lng", func(p *fleet.Position) *float64 { return &p.Lng }, fleet.CoordinateUnit, -180, 180, 0},
	{"altitude", func(p *fleet.Position) *float64 { return &p.Altitude }, 0.1, -214748364.7, 214748364.7, math.NaN()},
	{"speed", func(p *fleet.Position) *float64 { return &p.Speed }, 0.01, 0, 655.35, math.NaN()},
	{"course", func(p *fleet.Position) *float64 { return &p.Course }, 0.01, 0, 655.35, math.NaN()},
	{"accuracy", func(p *fleet.Position) *float64 { return &p.Accuracy }, 0.1, 0, 429496729.5, math.NaN()},
	{"odometer", func(p *fleet.Position) *float64 { return &p.Odometer }, 1, 0, 4294967295, math.NaN()},
}

// restored is what comes back of a position that was stored.
func restored(p fleet.Position) fleet.Position {
	s := p.Stored()
	back := fleet.Position{Account: p.Account, Vehicle: p.Vehicle}
	s.Restore(&back)
	return back
}

func TestAStoredPositionComesBackWithinItsUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		odd := rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), -1, math.MaxFloat64})
		p := fleet.Position{
			Account: 3, Vehicle: 9, Device: fleet.DeviceID(rapid.Uint64().Draw(t, "device")),
			FixTime: fleet.Millis(rapid.Int64().Draw(t, "fix")), DeviceTime: fleet.Millis(rapid.Int64().Draw(t, "own")),
			ReceivedTime: fleet.Millis(rapid.Int64().Draw(t, "got")), Satellites: rapid.IntRange(-1, 255).Draw(t, "satellites"),
			Ignition: fleet.Tri(rapid.IntRange(0, 2).Draw(t, "ignition")), Motion: fleet.Tri(rapid.IntRange(0, 2).Draw(t, "motion")),
			Alarm: rapid.String().Draw(t, "alarm"), Cell: fleet.Cell(rapid.Uint64().Draw(t, "cell")),
			Flags: fleet.Flags(rapid.Uint32().Draw(t, "flags")),
		}
		for _, q := range storedUnits {
			*q.of(&p) = rapid.OneOf(odd, rapid.Float64(), rapid.Float64Range(q.low, q.high)).Draw(t, q.name)
		}
		back := restored(p)
		for _, q := range storedUnits {
			was, is := *q.of(&p), *q.of(&back)
			switch want := max(q.low, min(q.high, was)); {
			case math.IsNaN(was):
				if is != q.unknown && !(math.IsNaN(is) && math.IsNaN(q.unknown)) {
					t.Fatalf("unknown %s comes back as %g", q.name, is)
				}
			case !(math.Abs(is-want) <= q.unit*(0.5+1e-6)):
				t.Fatalf("%s %g comes back as %g", q.name, was, is)
			}
		}
		if again := back.Stored(); again != p.Stored() {
			t.Fatalf("%+v is stored as %+v, and what comes back as %+v", p, p.Stored(), again)
		}
		for _, q := range storedUnits {
			*q.of(&p), *q.of(&back) = 0, 0
		}
		if back != p {
			t.Fatalf("%+v comes back as %+v", p, back)
		}
	})
}

// TestWhatIsNotKnownIsStoredAsUnknown names what stands for it, which the queries of the store are written by.
func TestWhatIsNotKnownIsStoredAsUnknown(t *testing.T) {
	nan := math.NaN()
	unknown := fleet.Position{Altitude: nan, Speed: nan, Course: nan, Accuracy: nan, Odometer: nan, Satellites: -1}
	want := fleet.StoredPosition{Altitude: fleet.NoAltitude, Speed: -1, Course: -1, Accuracy: -1, Odometer: -1, Satellites: -1}
	if got := unknown.Stored(); got != want {
		t.Errorf("stored as %+v, want %+v", got, want)
	}
	high := math.Inf(1)
	most := fleet.Position{Lat: high, Lng: -high, Altitude: -high, Speed: high, Course: -high, Accuracy: high, Odometer: -high, Satellites: 300}
	want = fleet.StoredPosition{Lat: 1_800_000_000, Lng: -1_800_000_000, Altitude: fleet.NoAltitude + 1, Speed: math.MaxUint16,
		Accuracy: math.MaxUint32, Satellites: math.MaxUint8}
	if got := most.Stored(); got != want {
		t.Errorf("stored as %+v, want %+v", got, want)
	}
}

// TestACoordinateIsStoredAsItIsQuantised holds the two roundings of a coordinate equal.
func TestACoordinateIsStoredAsItIsQuantised(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		deg := rapid.Float64Range(-180, 180).Draw(t, "deg")
		if got := fleet.CoordinateOf(fleet.StoredCoordinate(deg)); got != fleet.Quantise(deg) {
			t.Fatalf("%g is stored as %g, and quantised to %g", deg, got, fleet.Quantise(deg))
		}
	})
}

func TestEveryStoredColumnHasAPlace(t *testing.T) {
	var s fleet.StoredPosition
	names, places := strings.Split(fleet.StoredColumns, ", "), s.Columns()
	if len(names) != len(places) {
		t.Fatalf("%d columns have %d places", len(names), len(places))
	}
	seen := map[any]string{}
	for i, place := range places {
		if seen[place] != "" {
			t.Errorf("%s and %s have one place", seen[place], names[i])
		}
		seen[place] = names[i]
	}
}
