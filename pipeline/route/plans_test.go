package route_test

import (
	"math"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/route"
)

func stopAt(id string, lat float64) fleet.PlanStop {
	return fleet.PlanStop{ID: id, Place: fleet.Place{Lat: lat, Lng: 8}, Radius: 50}
}

func fixAt(at fleet.Millis, lat float64) *route.Input {
	return &route.Input{At: at, Position: &fleet.Position{FixTime: at, Lat: lat, Lng: 8, Accuracy: math.NaN()}}
}

// Between two inputs a plan is edited to fewer stops: what goes on is told by the version that holds.
func TestPlanEditedToFewerStopsIsToldBeforeTheNextInput(t *testing.T) {
	before := fleet.RoutePlan{ID: 1, Revision: 1, Start: 1, End: 1e9,
		Stops: []fleet.PlanStop{stopAt("a", 50), stopAt("b", 51), stopAt("c", 52)}}
	var s route.State
	var out fleet.Entities
	var moves []fleet.StopMove
	route.New([]fleet.RoutePlan{before}).Step(&s, key, fixAt(100_000, 49), &out, &moves)

	before.To = 90_000 // written before the fix, read after it
	after := before
	after.Revision, after.From, after.To, after.Stops = 2, 90_000, 0, []fleet.PlanStop{stopAt("b", 51)}
	after.Stops[0].ArriveUntil = 5e8
	plans := route.New([]fleet.RoutePlan{before, after})
	out = nil
	plans.Open(&s, key, &out)
	if len(out) != 1 {
		t.Fatalf("%d runs are open, want one", len(out))
	}
	if run := out[0].(*fleet.RouteRun); run.Revision != 2 || len(run.Stops) != 1 || run.Stops[0].ID != "b" ||
		run.Stops[0].ETA == 0 {
		t.Errorf("told %+v, want stop b of revision 2 and when it is reached", run)
	}
	if bound := plans.Bound(&s); len(bound) != 1 || bound[0].Ref != fleet.StopSubject(1, "b") {
		t.Errorf("bound by %+v, want by stop b", bound)
	}
	if s.Runs[0].Revision != 1 || len(s.Runs[0].Stops) != 3 {
		t.Errorf("telling has changed the state: %+v", s.Runs[0])
	}
}

// What is told with a fix says when the vehicle will be there as it is reckoned from that fix, not from the one before.
func TestArrivalIsToldFromTheNewestFix(t *testing.T) {
	plans := route.New([]fleet.RoutePlan{{ID: 1, Revision: 1, Start: 1, End: 1e9,
		Stops: []fleet.PlanStop{stopAt("a", 50), stopAt("b", 51)}}})
	var s route.State
	var out, open fleet.Entities
	var moves []fleet.StopMove
	plans.Step(&s, key, fixAt(100_000, 50), &out, &moves)
	out = nil
	plans.Step(&s, key, fixAt(400_000, 50.05), &out, &moves) // leaves the first stop, 5.6 km on
	plans.Open(&s, key, &open)
	if len(out) != 1 || len(open) != 1 {
		t.Fatalf("told %d runs, %d are open, want one each", len(out), len(open))
	}
	told, want := out[0].(*fleet.RouteRun), open[0].(*fleet.RouteRun)
	if *told.Place != *want.Place || told.Stops[1].ETA != want.Stops[1].ETA {
		t.Errorf("told from %v at %d, want from %v at %d", *told.Place, told.Stops[1].ETA, *want.Place, want.Stops[1].ETA)
	}
}

// A vehicle follows so many plans at a time and no more; those that are left wait until others are over.
func TestVehicleFollowsSoManyPlansAtATime(t *testing.T) {
	var all []fleet.RoutePlan
	for i := range fleet.MaxPlansAtOnce + 5 {
		end := fleet.Millis(1e9)
		if i < 3 {
			end = 200_000
		}
		all = append(all,
			fleet.RoutePlan{ID: fleet.PlanID(i + 1), Revision: 1, Start: 1, End: end, Stops: []fleet.PlanStop{stopAt("a", 50)}})
	}
	plans := route.New(all)
	var s route.State
	var out fleet.Entities
	var moves []fleet.StopMove
	plans.Step(&s, key, fixAt(100_000, 49), &out, &moves)
	if len(s.Runs) != fleet.MaxPlansAtOnce {
		t.Fatalf("%d runs, want %d", len(s.Runs), fleet.MaxPlansAtOnce)
	}
	if wake := plans.Wake(&s); wake != 200_000 {
		t.Fatalf("wakes at %d, want when the first plans end", wake)
	}
	plans.Step(&s, key, &route.Input{At: 200_000}, &out, &moves)
	if len(s.Runs) != fleet.MaxPlansAtOnce || s.Runs[len(s.Runs)-1].Plan != fleet.MaxPlansAtOnce+3 {
		t.Errorf("%d runs, the last of plan %d", len(s.Runs), s.Runs[len(s.Runs)-1].Plan)
	}
}
