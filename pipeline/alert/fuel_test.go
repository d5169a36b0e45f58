package alert_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/alert"
)

// TestFuelIsToldOnceHoweverOftenItIsMeasured has a truck drive for three hours, stand for two, of which somebody takes
// a quarter of the tank out in ten minutes, be filled up in three, and drive on, with a level that sloshes by five
// percent on the move and wavers by one at rest. With a reading in a quarter of an hour a level is no better than one
// reading and what was used until then.
func TestFuelIsToldOnceHoweverOftenItIsMeasured(t *testing.T) {
	const hour = fleet.Millis(3_600_000)
	actual := func(at fleet.Millis) (level float64, moving bool) {
		ramp := func(from, span fleet.Millis) float64 { return max(0, min(1, float64(at-from)/float64(span))) }
		level = 90 - 24*ramp(0, 3*hour) - 25*ramp(4*hour, hour/6) + 50*ramp(5*hour-hour/20, hour/20) - 16*ramp(5*hour, 2*hour)
		return level, at < 3*hour || at > 5*hour
	}
	for _, every := range []fleet.Millis{1000, 10_000, 60_000, 300_000, 900_000} {
		for seed := range uint64(5) {
			t.Run(fmt.Sprintf("%s %d", time.Duration(every)*time.Millisecond, seed), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 1))
				e := alert.NewEngine([]fleet.Rule{{ID: 1, Revision: 1, Kind: fleet.AlertFuelDrop},
					{ID: 2, Revision: 1, Kind: fleet.AlertFuelRise}})
				traits := &fleet.Traits{Zone: time.UTC, FuelCapacity: 400}
				var s alert.State
				var out fleet.Entities
				for at := fleet.Millis(0); at < 7*hour; at += every {
					level, moving := actual(at)
					noise := 1.0
					if moving {
						noise = 5
					}
					in := alert.Input{At: start + at, RawOdometer: math.NaN(), Mileage: math.NaN(),
						Motion: fleet.Motion{Known: true, Moving: moving, Ignition: fleet.TriOf(moving)}}
					p := fleet.Position{FixTime: in.At, Lat: 30, Lng: -97, Speed: math.NaN(), Course: math.NaN(), Accuracy: math.NaN(),
						Odometer: math.NaN(), Ignition: fleet.TriOf(moving)}
					in.Position = &p
					e.Step(&s, key, traits, &in, &out)
					in.Position, in.Signal = nil, &fleet.SignalValue{Signal: fleet.MustSignal("fuel_level_pct"),
						Value: max(0, min(100, level+noise*(2*rng.Float64()-1)))}
					e.Step(&s, key, traits, &in, &out)
				}
				want := []struct {
					kind     fleet.AlertKind
					from, by fleet.Millis
					amount   float64
				}{{fleet.AlertFuelDrop, 4 * hour, 4*hour + hour/6, 25}, {fleet.AlertFuelRise, 5*hour - hour/20, 5 * hour, 50}}
				if len(out) != len(want) {
					t.Fatalf("%d are told: %+v", len(out), out)
				}
				for i, w := range want {
					a := out[i].(*fleet.Alert)
					began := a.Start - start
					if a.What != w.kind || began < w.from-every-hour/60 || began > w.by || math.Abs(*a.Value-w.amount) > 8 ||
						math.Abs(*a.Litres-4**a.Value) > 0.1 {
						t.Errorf("%s of %.1f %% (%.0f l) at %s", a.What, *a.Value, *a.Litres, time.Duration(began)*time.Millisecond)
					}
				}
			})
		}
	}
}
