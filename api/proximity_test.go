package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
)

// Places stores where a vehicle was, so many minutes after noon, in the order given.
func (w *world) Places(vehicle string, lines []string) {
	w.t.Helper()
	for _, line := range lines {
		var minute, lat, lng float64
		var flags uint32
		if _, err := fmt.Sscan(line, &minute, &lat, &lng, &flags); err != nil {
			w.t.Fatal(err)
		}
		w.exec(fmt.Sprintf(`INSERT INTO positions (account, vehicle, fix_time, device, device_time, received_at, lat7, lng7, satellites, ignition, motion, alarm, cell, flags)
			SELECT %d, %d, fromUnixTimestamp64Milli(%d, 'UTC') AS fix_time, 7, fix_time, fix_time, %d, %d, 9, 'unknown', 'unknown', '', 617700169958293503, %d`,
			uint64(w.account), vehicleID(w.t, vehicle), int64(at(minute)), int64(lat*1e7), int64(lng*1e7), flags))
	}
}

// A truck leaves its trailer, and comes back to it; a third vehicle is elsewhere. Whatever the order in which positions
// were stored, the answer is the same, and a jump is no meeting.
func TestProximityIsThatOfTheStoredPositionsInAnyOrder(t *testing.T) {
	w := newWorld(t)
	truck, trailer, third := w.vehicle(`{"make":"A","model":"1"}`), w.vehicle(`{"make":"A","model":"2"}`),
		w.vehicle(`{"make":"A","model":"3"}`)
	var trucks []string
	for minute := 0; minute <= 60; minute += 2 {
		away := min(max(float64(min(minute-10, 50-minute)), 0), 20) // from minute 10 to 50, at most 20 minutes' drive
		trucks = append(trucks, fmt.Sprintf("%d %.6f -97 0", minute, 30+away*0.01))
	}
	trucks = append(trucks, fmt.Sprintf("29.5 30 -97 %d", fleet.FlagJump))
	slices.Reverse(trucks)
	w.Places(truck, trucks)
	w.Places(trailer, []string{"61 30 -97 0", "0 30.0001 -97 0", "30 30 -97.0001 0"})
	w.Places(third, []string{"0 31 -97 0", "60 31 -97 0"})
	const span = "from=2026-01-31T12:00:00Z&until=2026-01-31T13:00:00Z"
	ask := func(more string) string {
		t.Helper()
		var lines []string
		for _, one := range w.do("GET",
			"/v1/reports/proximity?"+span+"&vehicle_id="+truck+","+trailer+","+third+more, "").data() {
			begin, err := time.Parse(time.RFC3339, one["from"].(string))
			end, wrong := time.Parse(time.RFC3339, one["until"].(string))
			if err != nil || wrong != nil {
				t.Fatal(err, wrong)
			}
			names := strings.NewReplacer(truck, "truck", trailer, "trailer", third,
				"third").Replace(fmt.Sprint(one["vehicle_id"], "+", one["other_vehicle_id"]))
			lines = append(lines, fmt.Sprintf("%s %s-%s %.0f km", names, begin.Format("15:04:05"), end.Format("15:04:05"),
				one["distance_m"].(float64)/1000))
		}
		return strings.Join(lines, ", ")
	}
	near, apart := ask("&distance_m=500"), ask("&distance_m=500&relation=apart&min_duration_s=60")
	wantEqual(t, "near", near, "truck+trailer 12:00:00-12:10:27 0 km, truck+trailer 12:49:33-13:00:00 0 km")
	wantEqual(t, "apart", apart,
		"truck+third 12:00:00-13:00:00 111 km, trailer+third 12:00:00-13:00:00 111 km, truck+trailer 12:10:27-12:49:33 22 km")
	wantEqual(t, "for long enough", ask("&distance_m=500&min_duration_s=3000"), "")
	lines := strings.Split(strings.TrimSpace(string(w.do("GET",
		"/v1/reports/proximity?format=csv&distance_m=500&"+span+"&vehicle_id="+truck+","+trailer, "").ok(200).body)), "\n")
	wantEqual(t, "lines of CSV", len(lines), 3)

	// Positions that come late change what is asked afterwards, as if they had always been there. The third reports so
	// seldom that its way from one to the next is believed: it crosses the truck's on its way there and back.
	w.Places(third, []string{"20 30.1 -97 0", "24 30.1 -97 0"})
	wantEqual(t, "with what came late", ask("&distance_m=500&min_duration_s=20"),
		near[:strings.Index(near, ",")]+", truck+third 12:19:55-12:20:26 0 km, truck+third 12:26:22-12:26:57 0 km"+
			near[strings.Index(near, ","):])

	for _, query := range []string{"&distance_m=0&vehicle_id=" + truck + "," + trailer, "&distance_m=5&vehicle_id=" +
		truck, "&distance_m=5&vehicle_id=" + truck + "," + truck, "&vehicle_id=" + truck + "," + trailer} {
		w.do("GET", "/v1/reports/proximity?"+span+query, "").problem(400, "invalid_request")
	}
	w.do("GET", "/v1/reports/proximity?from=2026-01-01T00:00:00Z&until=2026-03-01T00:00:00Z&distance_m=5&vehicle_id="+
		truck+","+trailer, "").problem(400, "invalid_request")
	w.key = w.newKey(w.newAccount("Second"), auth.Admin)
	w.do("GET", "/v1/reports/proximity?"+span+"&distance_m=500&vehicle_id="+truck+","+trailer,
		"").problem(404, "not_found")
}
