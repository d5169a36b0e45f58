package main

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/seed"
)

// planOf is the bundled business at a moment, with ids of its own.
func planOf(t *testing.T, anchor time.Time) (*rentalFleet, *seed.Plan, []seed.Car) {
	t.Helper()
	f, err := loadRentals()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]fleet.VehicleID{}
	for i, v := range f.vehicles {
		known[v.ID] = fleet.VehicleID(1000 + i)
	}
	cars, err := f.cars(known)
	if err != nil {
		t.Fatal(err)
	}
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	return f, seed.New(1, anchor, 2, cars, zone), cars
}

func metresBetween(a, b *fleet.Report) float64 { return fleet.Distance(a.Lat, a.Lng, b.Lat, b.Lng) }

// Every way out is a way that one can drive: no leaps, no fix twice, and as long as its fixes are apart.
func TestTheWaysOfTheDemoAreDriven(t *testing.T) {
	f, _, _ := planOf(t, time.Now())
	for i, ways := range f.ways {
		for j, w := range ways {
			name := fmt.Sprintf("%s, way %d", f.vehicles[i].ID, j)
			fastest := 0.0
			for k := 1; k < len(w.fixes); k++ {
				if w.at[k] <= w.at[k-1] {
					t.Fatalf("%s: fix %d is no later than the one before", name, k)
				}
				fastest = max(fastest, metresBetween(&w.fixes[k-1], &w.fixes[k])/float64(w.at[k]-w.at[k-1])*3600)
			}
			most := 140.0
			if w.town {
				most = 75
			}
			if fastest > most || w.metres < 1500 || w.metres > 60_000 {
				t.Errorf("%s: %.0f m, up to %.0f km/h", name, w.metres, fastest)
			}
		}
	}
}

// Whoever asks in whatever steps hears the same, in order: a vehicle drives in its rentals and stands at its
// branch otherwise.
func TestVehiclesOfTheDemoDriveInTheirRentals(t *testing.T) {
	anchor := time.Date(2026, 11, 23, 15, 0, 0, 0, time.UTC)
	f, plan, cars := planOf(t, anchor)
	all, out := 0, 0
	for i, r := range f.rounds(plan, cars) {
		from, to := fleet.MillisOf(plan.TrackedFrom(cars[i].ID)), fleet.MillisOf(anchor.AddDate(0, 0, 1))
		whole := r.due(from, to, nil)
		all += len(whole)
		var parts []fleet.Report
		for at, step := from, fleet.Millis(250); at < to; step = step*7%20_000_000 + 250 {
			parts = r.due(at, min(at+step, to), parts)
			at += step
		}
		if len(parts) != len(whole) {
			t.Errorf("%s: %d reports at once, %d in steps", r.uniqueID, len(whole), len(parts))
			continue
		}
		away := func(at fleet.Millis) bool {
			for _, rental := range plan.Rentals[cars[i].ID] {
				if rental.Outcome == "returned" && fleet.MillisOf(rental.ActualPickup) <= at &&
					at <= fleet.MillisOf(rental.ActualReturn) {
					return true
				}
			}
			return false
		}
		for k := range whole {
			fix := &whole[k]
			if fix.FixTime != parts[k].FixTime || fix.Lat != parts[k].Lat || k > 0 && fix.FixTime <= whole[k-1].FixTime {
				t.Fatalf("%s: report %d is %v, in steps %v", r.uniqueID, k, fix.FixTime.Time(), parts[k].FixTime.Time())
			}
			if k > 0 && (fix.FixTime-whole[k-1].FixTime > demoHeartbeat || metresBetween(&whole[k-1], fix) > 2500) {
				t.Errorf("%s: a gap before %v", r.uniqueID, fix.FixTime.Time())
			}
			switch {
			case away(fix.FixTime):
				out++
			case fix.Lat != r.place.Lat || fix.Lng != r.place.Lng || fix.Speed != 0:
				t.Fatalf("%s is at %v, %v at %v, and nobody has it", r.uniqueID, fix.Lat, fix.Lng, fix.FixTime.Time())
			}
		}
	}
	if out == 0 || all > 100_000 {
		t.Errorf("%d reports, %d of them in rentals", all, out)
	}
	t.Logf("%d reports, %d of them in rentals", all, out)
}

// The odometer at return is that at pickup and the way between, as the fixes tell it.
func TestOdometersOfTheDemoAgreeWithItsTracks(t *testing.T) {
	anchor := time.Date(2026, 11, 23, 15, 0, 0, 0, time.UTC)
	f, plan, cars := planOf(t, anchor)
	for i, r := range f.rounds(plan, cars) {
		for _, rental := range plan.Rentals[cars[i].ID] {
			if rental.Outcome != "returned" || rental.ActualPickup.Before(plan.TrackedFrom(cars[i].ID)) {
				continue
			}
			var metres float64
			fixes := r.due(fleet.MillisOf(rental.ActualPickup), fleet.MillisOf(rental.ActualReturn), nil)
			for k := 1; k < len(fixes); k++ {
				metres += metresBetween(&fixes[k-1], &fixes[k])
			}
			if miles, driven := metres/1609.344, float64(rental.ToMi-rental.FromMi); math.Abs(miles-driven) > 1+driven*0.02 {
				t.Errorf("%s, rental %d: %.1f miles of track, %v by the odometer", r.uniqueID, rental.Number, miles, driven)
			}
		}
	}
}
