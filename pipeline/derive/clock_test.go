package derive_test

import (
	"math"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/alert"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/pipeline/geofence"
)

// An hour with 20 minutes of driving, by a tracker whose clock is ahead of ours or behind, and by one that
// sent all at once.
func TestATripIsTheSameWheneverItsFixesWereReceived(t *testing.T) {
	begin := fleet.MillisOf(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))
	trip := func(received func(fleet.Millis) fleet.Millis) *fleet.Trip {
		cfg := derive.DefaultConfig()
		fences, err := geofence.NewIndex(nil)
		if err != nil {
			t.Fatal(err)
		}
		v := derive.NewVehicle(&cfg, key, &fleet.Policy{}, fences, alert.NewEngine(nil))
		var s derive.State
		var out fleet.Entities
		nan := math.NaN()
		for i := range 360 {
			at := begin + fleet.Millis(i)*10_000
			driven := float64(min(max(i-60, 0), 120)) * 200
			p := fleet.Position{
				Account: key.Account, Vehicle: key.Vehicle, Device: 3, FixTime: at, DeviceTime: at, ReceivedTime: received(at),
				Lat: fleet.Quantise(50 + driven/111_195), Lng: 8, Altitude: nan, Course: nan, Accuracy: nan,
				Odometer: 100_000 + driven, Satellites: -1,
			}
			if driven > 0 && driven < 24_000 {
				p.Speed = 20
			}
			v.Step(&s, []derive.Input{{At: at, Position: &p}}, &out)
		}
		var last *fleet.Trip
		for _, e := range out {
			if x, ok := e.(*fleet.Trip); ok {
				last = x
			}
		}
		if last == nil {
			t.Fatal("no trip")
		}
		return last
	}
	want := trip(func(at fleet.Millis) fleet.Millis { return at + 1000 })
	if want.OdometerStart == nil || want.OdometerEnd == nil {
		t.Fatal("the trip has no odometer where the clock is right")
	}
	for name, received := range map[string]func(fleet.Millis) fleet.Millis{
		"a millisecond ahead": func(at fleet.Millis) fleet.Millis { return at - 1 },
		"four minutes ahead":  func(at fleet.Millis) fleet.Millis { return at - 240_000 },
		"sent at once":        func(fleet.Millis) fleet.Millis { return begin },
	} {
		got := trip(received)
		if got.OdometerStart == nil || got.OdometerEnd == nil {
			t.Errorf("%s: the trip has no odometer", name)
			continue
		}
		if *got.OdometerStart != *want.OdometerStart || *got.OdometerEnd != *want.OdometerEnd ||
			got.Distance != want.Distance {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
