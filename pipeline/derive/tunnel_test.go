package derive_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/alert"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/pipeline/geofence"
)

// tunnel is a drive through which the place stands still, while the speed is told each second.
type tunnel struct {
	vehicle  *derive.Vehicle
	state    derive.State
	out      fleet.Entities
	verdicts []derive.Verdict
	at       fleet.Millis
	odometer float64 // m
	told     bool    // the odometer is
	place    float64 // m north that are told
}

func newTunnel(t *testing.T, odometer bool) *tunnel {
	t.Helper()
	fences, err := geofence.NewIndex(nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := derive.DefaultConfig()
	return &tunnel{vehicle: derive.NewVehicle(&cfg, key, &fleet.Policy{}, fences, alert.NewEngine(nil)), told: odometer,
		at: 1_795_132_800_000, odometer: 100_000}
}

// drive drives for some seconds at a mean speed, which is never told twice alike.
func (u *tunnel) drive(seconds int, speed float64, frozen bool) {
	nan := math.NaN()
	for i := range seconds {
		u.at += 1000
		u.odometer += speed
		if !frozen {
			u.place += speed
		}
		p := &fleet.Position{Account: key.Account, Vehicle: key.Vehicle, Device: 1, FixTime: u.at, DeviceTime: u.at,
			ReceivedTime: u.at + 500,
			Lat:          fleet.Quantise(50 + u.place/111_195), Lng: 8, Accuracy: nan, Course: nan, Altitude: nan, Odometer: nan,
			Satellites: -1}
		if speed > 0 {
			p.Speed = speed - 2 + float64(i%5)
		}
		if u.told {
			p.Odometer = u.odometer
		}
		u.vehicle.Judge(&u.state, []derive.Input{{At: u.at, Position: p}}, &u.out, &u.verdicts)
	}
}

// unheard lets the vehicle drive on for some seconds of which nothing is told.
func (u *tunnel) unheard(seconds int, way float64) {
	u.at += fleet.Millis(seconds) * 1000
	u.odometer += way
}

// driven returns how many trips there are, and how long they are.
func (u *tunnel) driven() (trips int, metres float64) {
	newest := map[uint64]*fleet.Trip{}
	for _, e := range u.out {
		if trip, ok := e.(*fleet.Trip); ok {
			newest[trip.ID] = trip
		}
	}
	for _, trip := range newest {
		metres += trip.Distance
	}
	return len(newest), metres
}

// TestATunnelOfWhichAStretchIsMissedCountsWhole drives through a tunnel at 72 km/h in which nothing is heard for a
// while. What comes out of it is no jump, and all of the way counts, whether there is an odometer or not.
func TestATunnelOfWhichAStretchIsMissedCountsWhole(t *testing.T) {
	for _, odometer := range []bool{true, false} {
		for _, missed := range []int{0, 4, 12, 20, 60, 120, 185, 250, 290, 400} {
			t.Run(fmt.Sprintf("odometer %v, %d s missed", odometer, missed), func(t *testing.T) {
				u := newTunnel(t, odometer)
				u.drive(300, 0, false)
				u.drive(120, 20, false)
				u.drive(60, 20, true)
				u.unheard(missed, 20*float64(missed))
				u.drive(20, 20, true)
				u.place = u.odometer - 100_000
				u.drive(60, 20, false)
				u.drive(400, 0, false)
				trips, metres := u.driven()
				if want := u.odometer - 100_000; math.Abs(metres/want-1) > 0.01 || len(u.verdicts) > 0 {
					t.Errorf("%d trips of %.0f m, want %.0f m; %d jumps", trips, metres, want, len(u.verdicts))
				}
				if missed < 300 && trips != 1 { // no longer than a silence
					t.Errorf("%d trips", trips)
				}
			})
		}
	}
}

// TestASilenceWhileThePlaceStandsStillCountsOnce drives on through a silence, with a place that stands still before it
// and after. What the odometer rose by in the silence is part of what it rose by since the place last changed.
func TestASilenceWhileThePlaceStandsStillCountsOnce(t *testing.T) {
	for _, silence := range []int{0, 250, 400} {
		t.Run(fmt.Sprintf("%d s", silence), func(t *testing.T) {
			u := newTunnel(t, true)
			u.drive(300, 0, false)
			u.drive(120, 20, false)
			u.drive(60, 20, true)
			u.unheard(silence, 800)
			u.drive(20, 20, true)
			u.place += 100
			u.drive(61, 20, false)
			u.drive(400, 0, false)
			trips, metres := u.driven()
			if want := u.odometer - 100_000; trips != 1 || math.Abs(metres/want-1) > 0.01 {
				t.Errorf("%d trips of %.0f m, and the odometer rose by %.0f m", trips, metres, want)
			}
		})
	}
}
