package rental_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
)

var vehicleStates = []string{"inactive", "available", "turnaround", "maintenance", "out_of_service",
	"rented", "retired"}

// TestEveryMoveOfAVehicle holds every pair of states, by hand and by itself, against the table.
func TestEveryMoveOfAVehicle(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for cause, legal := range map[string]map[string]string{
		"": {
			"inactive": "available out_of_service retired", "available": "maintenance out_of_service retired",
			"turnaround":  "available maintenance out_of_service retired",
			"maintenance": "available out_of_service retired", "out_of_service": "available retired",
		},
		"bkg_1": {"available": "rented maintenance", "turnaround": "available rented maintenance", "maintenance": "available",
			"rented": "turnaround"},
	} {
		for _, from := range vehicleStates {
			for _, to := range vehicleStates {
				name := fmt.Sprintf("%s to %s by %q", from, to, cause)
				r := record.Record[record.Vehicle]{ID: 1, Body: record.Vehicle{Status: from, StatusReason: "before",
					StatusCause: "wo_1", StatusUntil: record.InstantOf(now)}}
				err := rental.MoveVehicle(&r, rental.VehicleMove{To: to, Reason: "why", Cause: cause}, now)
				allowed := slices.Contains(strings.Fields(legal[from]), to)
				if rental.MayMoveVehicle(from, to, cause == "") != allowed {
					t.Errorf("%s: may %v", name, !allowed)
				}
				if allowed {
					if b := r.Body; err != nil || b.Status != to || b.StatusReason != "why" || b.StatusCause != cause ||
						!b.StatusSince.Equal(now) || !b.StatusUntil.IsZero() {
						t.Errorf("%s: %+v, %v", name, b, err)
					}
					continue
				}
				var move *record.TransitionError
				if !errors.As(err, &move) || move.Current != from || strings.Join(move.Allowed, " ") != legal[from] ||
					fleet.CodeOf(err) != fleet.CodeTransition || move.Allowed == nil {
					t.Errorf("%s: %v, want a transition error", name, err)
				}
				if r.Body.Status != from {
					t.Errorf("%s was refused and happened", name)
				}
			}
		}
	}
}

func TestARepeatedMoveChangesNothing(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := record.Record[record.Vehicle]{ID: 1, Body: record.Vehicle{Status: "available"}}
	move := rental.VehicleMove{To: "maintenance", Reason: "why"}
	for range 2 {
		if err := rental.MoveVehicle(&r, move, now); err != nil {
			t.Fatal(err)
		}
	}
	if err := rental.MoveVehicle(&r, move, now.Add(time.Hour)); err != nil || !r.Body.StatusSince.Equal(now) {
		t.Fatal(r.Body, err)
	}
	if rental.Overruled(&r.Body, now.Add(time.Second)) || !rental.Overruled(&r.Body, now) ||
		!rental.Overruled(&r.Body, now.Add(-time.Second)) {
		t.Error("overruled")
	}
	r.Body.StatusCause = "wo_1"
	if rental.Overruled(&r.Body, now) {
		t.Error("overruled by a work order")
	}
}

func TestAVehicleIsPutInServiceWithAClassAPriceAndAPlace(t *testing.T) {
	v := record.Vehicle{}
	pointers := func(has rental.Backing) string {
		var all []string
		for _, f := range rental.UnfitForService(&v, has) {
			all = append(all, f.Pointer)
		}
		return strings.Join(all, " ")
	}
	for has, want := range map[rental.Backing]string{
		{Locations: true, Rate: true}:                "",
		{Classes: true}:                              "/vehicle_class_id /rate_plan_id",
		{Classes: true, Rate: true}:                  "/vehicle_class_id",
		{Classes: true, Locations: true}:             "/vehicle_class_id /rate_plan_id /home_location_id",
		{Classes: true, Locations: true, Rate: true}: "/vehicle_class_id /home_location_id",
	} {
		if got := pointers(has); got != want {
			t.Errorf("%+v: %q, want %q", has, got, want)
		}
	}
	v.ClassID, v.RatePlanID, v.CurrentLocationID = "vcl_1", "rat_1", "loc_1"
	if got := pointers(rental.Backing{Classes: true, Locations: true}); got != "" {
		t.Errorf("with all of it: %s", got)
	}
}
