package api

import (
	"strings"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// fence stores a geofence of a shape.
func (w *world) fence(account fleet.AccountID, shape record.Geometry) string {
	w.t.Helper()
	id := w.api.Store.NextID()
	body := record.Geofence{GeofenceFields: record.GeofenceFields{Name: "Lot", Geometry: shape}}
	if _, _, err := record.NewLog(w.api.Store, record.Geofences).Create(w.t.Context(), record.Author{Actor: "cli"},
		account, id, body); err != nil {
		w.t.Fatal(err)
	}
	return fleet.FormatID(fleet.FencePrefix, id)
}

func TestLatestPositionsInsideAGeofence(t *testing.T) {
	w := newWorld(t)
	names := map[string]string{}
	for name, place := range map[string][2]float64{"corner": {0.9, 0.9}, "centre": {0.2, 0.2}, "hole": {0.5, 0.1},
		"far": {10, 10}, "east": {-17, 179.9}, "west": {-17, -179.9}} {
		id := w.vehicle(`{"make":"Gillig","model":"` + name + `"}`)
		names[id] = name
		w.park(w.account, id, place[0], place[1])
	}
	radius := 30_000.
	// A triangle with a hole: the corner of its box is outside.
	triangle := w.fence(w.account, record.Geometry{Type: "Polygon", Coordinates: []any{
		[]any{[]any{0, 0}, []any{1, 0}, []any{0, 1}, []any{0, 0}},
		[]any{[]any{0.05, 0.45}, []any{0.15, 0.45}, []any{0.15, 0.55}, []any{0.05, 0.55}, []any{0.05, 0.45}},
	}})
	fiji := w.fence(w.account, record.Geometry{Type: "Circle", Center: []float64{180, -17}, RadiusM: &radius})
	theirs := w.fence(w.newAccount("Second"),
		record.Geometry{Type: "Circle", Center: []float64{180, -17}, RadiusM: &radius})
	found := func(query string) string {
		var all []string
		reply := w.do("GET", "/v1/positions/latest?"+query, "")
		for _, p := range reply.data() {
			all = append(all, names[p["vehicle_id"].(string)])
		}
		if n := reply.pagination().Total; n != len(all) {
			t.Errorf("%s: total %d of %v", query, n, all)
		}
		return strings.Join(all, " ")
	}
	wantEqual(t, "triangle", found("inside="+triangle), "centre")
	wantEqual(t, "triangle and box", found("bbox=0,0.4,1,1&inside="+triangle), "")
	wantEqual(t, "antimeridian, nearest first", found("near=-17,179.5&radius_m=100000&inside="+fiji), "east west")
	next := w.do("GET", "/v1/positions/latest?near=-17,179.5&radius_m=100000&per_page=1&inside="+fiji, "").pagination()
	second := w.do("GET", "/v1/positions/latest?near=-17,179.5&radius_m=100000&per_page=1&inside="+fiji+"&cursor="+
		next.NextCursor, "")
	if got := second.data(); next.Total != 2 || len(got) != 1 || names[got[0]["vehicle_id"].(string)] != "west" ||
		second.pagination().NextCursor != "" {
		t.Errorf("second page: %s", second.body)
	}
	if got := w.do("GET", "/v1/positions/latest?page=2&per_page=1&inside="+fiji, "").data(); len(got) != 1 {
		t.Errorf("page 2: %v", got)
	}
	if lines := strings.Count(string(w.do("GET", "/v1/positions/latest?format=csv&inside="+triangle, "").ok(200).body),
		"\n"); lines != 2 {
		t.Errorf("%d lines of CSV", lines)
	}
	w.do("GET", "/v1/positions/latest?inside="+theirs, "").problem(404, "not_found")
	w.do("GET", "/v1/positions/latest?inside=veh_1", "").problem(400, "invalid_request")
	w.do("GET", "/v1/positions/latest?inside="+triangle, "", "Authorization",
		"Bearer "+w.newKey(w.account, auth.VehiclesRead)).problem(403, "insufficient_scope")
}

func TestLatestPositionsAreCountedOnEveryPage(t *testing.T) {
	w := newWorld(t)
	for _, lat := range []float64{1, 2, 3} {
		w.park(w.account, w.vehicle(`{"make":"Gillig","model":"Bus"}`), lat, 1)
	}
	for _, per := range []string{"1", "2", "3", "4"} {
		for path, pages := "/v1/positions/latest?per_page="+per, 0; path != ""; pages++ {
			reply := w.do("GET", path, "")
			p := reply.pagination()
			if p.Total != 3 || len(reply.data()) == 0 || pages > 3 {
				t.Fatalf("%s: %d of %d", path, len(reply.data()), p.Total)
			}
			if path = ""; p.NextCursor != "" {
				path = "/v1/positions/latest?per_page=" + per + "&cursor=" + p.NextCursor
			}
		}
		if n := w.do("GET", "/v1/positions/latest?page=2&per_page="+per, "").pagination().Total; n != 3 {
			t.Errorf("page 2 of %s each: total %d", per, n)
		}
	}
}
