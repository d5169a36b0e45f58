package follow

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/derive"
)

// underway are the inputs of a vehicle that drives north at 20 m/s from an instant to another, a fix a minute.
func underway(from, to fleet.Millis) (all []input) {
	for at := from; at <= to; at += 60_000 {
		all = append(all, input{vehicle: 1, Input: derive.Input{At: at, Position: &fleet.Position{
			Account: account, Vehicle: 1, Device: 5, FixTime: at, DeviceTime: at, ReceivedTime: at + 500, Speed: 20, Accuracy: 5,
			Lat: fleet.Quantise(30 + float64(at-morning)/1000*20/111_195), Lng: -97.7431, Satellites: 9,
		}}})
	}
	return all
}

// A silence of an hour ends a trip. If the vehicle has driven on all the same, it is the one trip again, whoever
// owns it by then.
func TestATripThatSilenceEndedGoesOnIfTheVehicleDroveOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(15, 1))
	const minute = 60_000
	w.now = morning + 20*minute
	w.handle(w.store(rng, underway(morning, w.now)))
	w.now = morning + 85*minute
	w.tick()
	if n := w.count("(SELECT count() FROM trips FINAL WHERE NOT deleted AND NOT open AND closed_reason = 'gap')"); n != 1 {
		t.Fatalf("%d trips were ended by silence, want 1", n)
	}
	w.restart()
	w.now = morning + 130*minute
	w.handle(w.store(rng, underway(morning+110*minute, w.now)))
	w.finish(w.now)
	const whole = `(SELECT countIf(distance_m > 155e3 AND abs(distance_estimated_m - 108e3) < 500 AND unrecorded_s = 5400
		AND moving_s = 2400 AND NOT unrecorded) * 10 + count() FROM trips FINAL WHERE NOT deleted)`
	if n := w.count(whole); n != 11 {
		t.Errorf("%d tens of trips are whole, and so many ones are there; want 1 and 1", n)
	}
	var told []string
	seen := map[uint64]bool{}
	for _, e := range w.events {
		if e.Kind == fleet.KindTrip && !seen[e.ID] {
			seen[e.ID] = true
			told = append(told, strings.TrimPrefix(e.Type, "vehicle.trip."))
		}
	}
	if got := strings.Join(told, " "); got != "started ended updated ended" {
		t.Errorf("told: %s", got)
	}
}
