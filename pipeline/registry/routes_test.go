package registry_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/registry"
)

func TestVersionsOfARoutePlanAreThoseOfItsVehicle(t *testing.T) {
	w := newPolicyWorld(t)
	for id := range 2 {
		w.write("vehicle", 7, uint64(11+id), 1, `{"make":"A"}`) // 1, 2
	}
	routes := func(vehicle fleet.VehicleID) string {
		t.Helper()
		var lines []string
		for _, r := range w.policy().TraitsOf(vehicle).Routes {
			hour := func(m fleet.Millis) any {
				if m == 0 {
					return "on"
				}
				return m.Time().Sub(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)).Hours()
			}
			lines = append(lines,
				fmt.Sprintf("%d r%d %v-%v, %d stops", r.ID, r.Revision, hour(r.From), hour(r.To), len(r.Stops)))
		}
		return strings.Join(lines, "; ")
	}
	plan := func(vehicle int, more string) string {
		return fmt.Sprintf(`{"vehicle_id":"veh_%d","from":"2026-03-02T08:00:00.000Z","until":"2026-03-02T18:00:00.000Z","stops":[
			{"id":"1","lat":30.1,"lng":-97.1,"radius_m":100,"arrive_until":"2026-03-02T09:00:00.000Z","stay_s":60},{"id":"2","geofence_id":"geo_5","lat":30.2,"lng":-97.2}%s]}`, vehicle, more)
	}
	w.write("route_plan", 7, 1, 1, plan(11, "")) // 3
	w.want("made", routes(11), "1 r1 3-on, 2 stops")
	w.want("not the other's", routes(12), "")
	first := w.policy().TraitsOf(11).Routes[0]
	w.want("its stops", fmt.Sprintf("%+v", first.Stops),
		"[{ID:1 Fence:geo_0 Place:{Lat:30.1 Lng:-97.1} Radius:100 ArriveFrom:0 ArriveUntil:"+
			fmt.Sprint(fleet.MillisOf(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)))+
			" Stay:60000} {ID:2 Fence:geo_5 Place:{Lat:30.2 Lng:-97.2} Radius:0 ArriveFrom:0 ArriveUntil:0 Stay:0}]")
	w.write("route_plan", 7, 1, 2, strings.Replace(plan(11, ""), "{", `{"name":"renamed",`, 1)) // 4
	w.want("renamed: no other version", routes(11), "1 r1 3-on, 2 stops")
	w.write("route_plan", 7, 1, 3, plan(11, `,{"id":"3","lat":1,"lng":1,"radius_m":50}`)) // 5
	w.want("a stop more", routes(11), "1 r1 3-5, 2 stops; 1 r3 5-on, 3 stops")
	w.write("route_plan", 7, 1, 4, plan(12, "")) // 6
	w.want("given away", routes(11), "1 r1 3-5, 2 stops; 1 r3 5-6, 3 stops")
	w.want("to the other", routes(12), "1 r4 6-on, 2 stops")
	w.write("route_plan", 7, 1, 5, `{"vehicle_id":"van","until":"2026-03-02T18:00:00.000Z"}`) // 7
	w.want("one that cannot be read", routes(12), "1 r4 6-on, 2 stops")
	w.write("route_plan", 8, 2, 1, plan(11, "")) // 8
	w.want("of another account", routes(11), "1 r1 3-5, 2 stops; 1 r3 5-6, 3 stops")
	w.policies = registry.NewPolicies(w.db)
	w.want("read at once", routes(12), "1 r4 6-on, 2 stops")
}
