package derive_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/alert"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/pipeline/geofence"
)

// A track thinned to one fix in N says less of the way: corners are cut. What it still says is the length of the
// straight lines between its fixes, so that is the least that its trips must add up to, recorded and estimated
// together, and what was driven is the most.

// intervals are how far apart the fixes are after thinning, from what recordings have up to a quarter of an hour.
var intervals = []time.Duration{time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute,
	5 * time.Minute, 6 * time.Minute, 10 * time.Minute, 15 * time.Minute}

// thinned keeps the first of the fixes, and of the others each that comes a whole interval after the one kept before,
// and the measurements that came with them.
func thinned(in []derive.Input, every time.Duration) (kept []derive.Input) {
	last := fleet.Millis(math.MinInt64 / 2)
	for _, i := range in {
		if i.Position != nil && i.At-last >= fleet.Millis(every.Milliseconds()) {
			last = i.At
			kept = append(kept, i)
		} else if i.Position == nil && i.At == last {
			kept = append(kept, i)
		}
	}
	return kept
}

// straight is how long the lines between the fixes are.
func straight(in []derive.Input) (metres float64) {
	for i := 1; i < len(in); i++ {
		a, b := in[i-1].Position, in[i].Position
		metres += fleet.Distance(a.Lat, a.Lng, b.Lat, b.Lng)
	}
	return metres
}

// isWalk says whether the vehicle was slower than a walk from one fix to the next.
func isWalk(leg []derive.Input) bool {
	return straight(leg)*1000 < 5*fleet.MetresPerKmh*float64(leg[1].At-leg[0].At)
}

// walked is how long those of the lines are along which the vehicle was slower than a walk. Of a leg of minutes without
// any speed that may be a way shifted while it stood: the beginning of a drive just before a fix is not always counted.
func walked(in []derive.Input) (metres float64) {
	for i := 1; i < len(in); i++ {
		if leg := in[i-1 : i+1]; isWalk(leg) {
			metres += straight(leg)
		}
	}
	return metres
}

// withoutShifts leaves out the fixes to which the vehicle would have walked, no further than it may shift while it
// stands, and that tell of no speed: it may have stood where it was before, from where the drive is counted.
func withoutShifts(in []derive.Input) (kept []derive.Input) {
	most := derive.DefaultConfig().Trip.StartDistance
	for i := range in {
		if i == 0 || in[i].Position.Speed > 0 || straight(in[i-1:i+1]) >= most || !isWalk(in[i-1:i+1]) {
			kept = append(kept, in[i])
		}
	}
	return kept
}

// tripsOf are the trips of a vehicle without fences and rules, as they are in the end, a day after the last input.
func tripsOf(t interface{ Fatal(...any) }, in []derive.Input) (trips []*fleet.Trip) {
	fences, err := geofence.NewIndex(nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := derive.DefaultConfig()
	v := derive.NewVehicle(&cfg, key, &fleet.Policy{Default: fleet.Traits{Zone: time.UTC}}, fences, alert.NewEngine(nil))
	var s derive.State
	var out fleet.Entities
	v.Step(&s, in, &out)
	v.Advance(&s, in[len(in)-1].At+86_400_000, &out)
	at := map[uint64]int{}
	for _, e := range out {
		trip, ok := e.(*fleet.Trip)
		if !ok {
			continue
		}
		if i, known := at[trip.ID]; known {
			trips[i] = trip
			continue
		}
		at[trip.ID] = len(trips)
		trips = append(trips, trip)
	}
	return trips
}

func distanceOf(trips []*fleet.Trip) (metres float64) {
	for _, t := range trips {
		metres += t.Distance
	}
	return metres
}

// told says what a tracker tells besides places.
type told struct{ speed, odometer, ignition bool }

func (o told) String() string {
	return fmt.Sprintf("speed %v, odometer %v, ignition %v", o.speed, o.odometer, o.ignition)
}

// errand makes a second-by-second record of drives through a town and its surroundings, with lights, corners and
// pauses, and says how far they went.
func errand(rng *rand.Rand, says told) (in []derive.Input, driven float64, drives int) {
	at, lat, lng := midnight, 70*rng.Float64()-35, 360*rng.Float64()-180
	second := func(speed, course float64, ignition fleet.Tri) {
		lat += speed * math.Cos(course) / 111_195.08
		lng = math.Remainder(lng+speed*math.Sin(course)/111_195.08/math.Cos(lat*math.Pi/180), 360)
		driven += speed
		p := &fleet.Position{Account: 7, Vehicle: 1, Device: 5, FixTime: at, DeviceTime: at, ReceivedTime: at,
			Lat: fleet.Quantise(lat),
			Lng: fleet.Quantise(lng), Altitude: math.NaN(), Speed: math.NaN(), Course: math.NaN(), Accuracy: 5,
			Odometer: math.NaN(), Satellites: -1}
		if says.speed {
			p.Speed, p.Course = speed, math.Mod(course*180/math.Pi+3600, 360)
		}
		if says.odometer {
			p.Odometer = 50_000_000 + math.Floor(driven)
		}
		if says.ignition {
			p.Ignition = ignition
		}
		in = append(in, derive.Input{At: at, Position: p})
		at += 1000
	}
	stand := func(seconds int, ignition fleet.Tri) {
		for range seconds {
			second(0, 0, ignition)
		}
	}
	stand(1200, fleet.No)
	drives = 1 + rng.IntN(3)
	for range drives {
		course, speed, target := 2*math.Pi*rng.Float64(), 0.0, 0.0
		for left := 600 + rng.IntN(4800); left > 0; {
			target = (20 + 90*rng.Float64()) * fleet.MetresPerKmh
			course += []float64{0, 0.2, -0.3, math.Pi / 2, -math.Pi / 2}[rng.IntN(5)]
			for range 20 + rng.IntN(200) {
				speed += max(-3, min(2, target-speed))
				second(speed, course, fleet.Yes)
				left--
			}
			if rng.IntN(3) == 0 { // a light
				for speed > 0 {
					speed = max(0, speed-3)
					second(speed, course, fleet.Yes)
				}
				stand(5+rng.IntN(85), fleet.Yes)
			}
		}
		for speed > 0 {
			speed = max(0, speed-3)
			second(speed, course, fleet.Yes)
		}
		stand(10, fleet.Yes)
		stand(600+rng.IntN(3000), fleet.No)
	}
	stand(3600, fleet.No)
	return in, driven, drives
}

// TestThinningATrackTakesNoMoreThanItsCorners: whatever a tracker tells besides places, however seldom it reports.
func TestThinningATrackTakesNoMoreThanItsCorners(t *testing.T) {
	// It crept away from its stop with a halt in between, so that the drive is counted from the stop.
	thinningTakesNoMoreThanCorners(t, 2546)
	rapid.Check(t, func(t *rapid.T) { thinningTakesNoMoreThanCorners(t, rapid.Uint64().Draw(t, "seed")) })
}

func thinningTakesNoMoreThanCorners(t rapid.TB, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 15))
	says := told{rng.IntN(2) == 0, rng.IntN(2) == 0, rng.IntN(2) == 0}
	all, driven, drives := errand(rng, says)
	for _, every := range intervals {
		in := thinned(all[rng.IntN(int(every.Seconds())):], every)
		least, got := straight(in), distanceOf(tripsOf(t, in))
		switch {
		case every < 5*time.Minute:
		case says.speed:
			least = straight(withoutShifts(in))
		default:
			least -= walked(in)
		}
		// Noise takes no more than half a per cent, and 25 m at an end of a drive.
		slack := 0.005*driven + 25*float64(drives)
		if got < least-slack || got > driven+slack {
			t.Errorf("a fix each %v, %v: %.0f m, straight on %.0f m, driven %.0f m in %d drives", every, says, got, least,
				driven, drives)
		}
	}
}
