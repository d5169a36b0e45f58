package seed

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"
)

var anchor = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

func town() []Car {
	var cars []Car
	for i := range 12 {
		class := Classes[i%len(Classes)]
		cars = append(cars, Car{ID: fmt.Sprintf("veh_%d", 1000+i), Class: class.Code, Electric: i%3 == 0,
			MileageMi: 3000 + i*2500, InWorkshop: i == 5,
			Ways: []Way{{Miles: 2.5, Takes: 8 * time.Minute}, {Miles: 32, Takes: 42 * time.Minute}}})
	}
	return cars
}

func TestSameSeedMakesTheSameBusiness(t *testing.T) {
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	one, other := New(1, anchor, 2, town(), zone), New(1, anchor, 2, town(), zone)
	if !reflect.DeepEqual(one, other) {
		t.Error("two plans of one seed differ")
	}
	if reflect.DeepEqual(one.Rentals, New(2, anchor, 2, town(), zone).Rentals) {
		t.Error("two seeds make the same plan")
	}
	// Whoever asks later in the day gets the same.
	if !reflect.DeepEqual(one.Rentals, New(1, anchor.Add(5*time.Hour), 2, town(), zone).Rentals) {
		t.Error("the hour of the day changes the plan")
	}
}

func TestPlanIsPossible(t *testing.T) {
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	p := New(1, anchor, 2, town(), zone)
	outcomes := map[string]int{}
	for car, rentals := range p.Rentals {
		var free time.Time
		for _, r := range rentals {
			outcomes[r.Outcome]++
			if r.PickupAt.Before(free) {
				t.Errorf("%s is rented twice at %v", car, r.PickupAt)
			}
			if !r.ReturnAt.After(r.PickupAt) || !r.BookedAt.Before(r.PickupAt) ||
				r.Outcome == "cancelled" && !r.CancelledAt.Before(r.PickupAt) {
				t.Errorf("%s: %+v", car, r)
			}
			free = r.Over()
			for _, s := range p.Services[car] {
				if r.PickupAt.Before(s.Until) && s.From.Before(free) {
					t.Errorf("%s is in the workshop at %v and rented at %v", car, s.From, r.PickupAt)
				}
			}
		}
		if len(rentals) < 60 {
			t.Errorf("%s has %d rentals in two years", car, len(rentals))
		}
	}
	if outcomes["returned"] < 800 || outcomes["cancelled"] < 40 || outcomes["no_show"] == 0 {
		t.Errorf("outcomes %v", outcomes)
	}
	t.Logf("%v, %d customers", outcomes, len(p.Customers))
}

// Whoever has a car drives it, and nobody else does: away from the branch and back in time, as far as the
// odometer says.
func TestCarsAreDrivenWhenTheyAreRented(t *testing.T) {
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	p := New(1, anchor, 2, town(), zone)
	out, workshop := 0, 0
	for _, car := range town() {
		read := 0
		for _, r := range p.Rentals[car.ID] {
			if r.out(anchor) {
				out++
			}
			if r.Outcome != "returned" {
				if r.Legs != nil || r.FromMi != r.ToMi {
					t.Errorf("%s is driven although nobody came: %+v", car.ID, r)
				}
				continue
			}
			at, miles, home := r.ActualPickup, 0.0, true
			for _, leg := range r.Legs {
				if leg.At.Before(at) || leg.Home == home {
					t.Errorf("%s: rental %d, leg at %v", car.ID, r.Number, leg.At)
				}
				at, home = leg.At.Add(car.Ways[leg.Way].Takes), leg.Home
				miles += car.Ways[leg.Way].Miles
			}
			if len(r.Legs) == 0 || !home || at.After(r.ActualReturn) {
				t.Errorf("%s is not back when rental %d ends: %+v", car.ID, r.Number, r)
			}
			if driven := float64(r.ToMi - r.FromMi); r.FromMi < read || math.Abs(driven-miles) > 1 {
				t.Errorf("%s: %v miles by the odometer, %v driven, from %d after %d", car.ID, driven, miles, r.FromMi, read)
			}
			read = r.ToMi
		}
		for _, s := range p.Services[car.ID] {
			if !s.From.After(anchor) && s.Until.After(anchor) {
				workshop++
			}
		}
	}
	if out < 4 || workshop == 0 {
		t.Errorf("%d cars are out and %d in the workshop", out, workshop)
	}
}
