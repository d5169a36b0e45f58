package api

import (
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// drove stores a trip of a vehicle, of which some miles are on ways that nobody recorded; a higher
// revision corrects it.
func (w *world) drove(vehicle string, id, revision int, start, end time.Time, miles, guessed float64) {
	w.t.Helper()
	w.exec(`INSERT INTO trips (account, vehicle, id, revision, start_at, end_at, distance_m, body)
		VALUES ({a:UInt64}, {v:UInt64}, {id:UInt64}, {r:UInt32}, fromUnixTimestamp64Milli({s:Int64}, 'UTC'), fromUnixTimestamp64Milli({e:Int64}, 'UTC'), {m:Float64}, {b:String})`,
		clickhouse.Named("a", uint64(w.account)), clickhouse.Named("v", vehicleID(w.t, vehicle)),
		clickhouse.Named("id", uint64(id)), clickhouse.Named("r", uint32(revision)), clickhouse.Named("s", start.UnixMilli()),
		clickhouse.Named("e", end.UnixMilli()), clickhouse.Named("m", miles*1609.344),
		clickhouse.Named("b", fmt.Sprintf(`{"distance_estimated_m":%f}`, guessed*1609.344)))
}

// A van whose tracker tells no odometer is read by hand now and then, and drives on. What it shows is the last reading
// and the way since, with how far that may be off: 3 % and all that nobody recorded, until two readings show what its
// track misses of the ways that it records.
func TestMileageWithoutAnOdometerIsTheLastReadingAndTheWaySince(t *testing.T) {
	w := newWorld(t)
	now := time.Now().UTC().Truncate(time.Hour)
	day := func(d float64) time.Time { return now.Add(-time.Duration(d * 24 * float64(time.Hour))) }
	van, other := w.vehicle(`{"make":"A","model":"B"}`), w.vehicle(`{"make":"A","model":"B"}`)
	read := func(vehicle string, at time.Time, miles int) string {
		return w.do("POST", "/v1/vehicles/"+vehicle+"/meter_readings",
			fmt.Sprintf(`{"kind":"odometer_mi","value":%d,"recorded_at":%q}`, miles, at.Format(time.RFC3339))).ok(201).id()
	}
	shows := func(vehicle, want string) {
		t.Helper()
		v := w.do("GET", "/v1/vehicles/"+vehicle, "").ok(200).object()
		wantEqual(t, "odometer", fmt.Sprint(v["current_mileage_mi"], " ", v["odometer_source"], " ", v["odometer_error_mi"],
			" ", v["odometer_read_mi"]), want)
	}
	w.drove(van, 1, 1, day(30), day(30).Add(time.Hour), 50, 0)
	shows(van, "<nil> <nil> <nil> <nil>") // nobody has read it yet
	read(van, day(28), 10_000)
	shows(van, "10000 manual <nil> <nil>")
	w.drove(van, 2, 1, day(20), day(20).Add(2*time.Hour), 100, 10)
	shows(van, "10100 track 13.7 10000")
	second := read(van, day(10), 10_104)
	shows(van, "10104 manual <nil> <nil>")
	w.drove(van, 3, 1, day(5), day(5).Add(3*time.Hour), 200, 0)
	shows(van, "10304 track 9.9 10104") // 4 miles were missed, of 90 that were recorded
	w.drove(van, 4, 1, day(4), day(4).Add(time.Hour), 30, 30)
	shows(van, "10334 track 39.9 10104") // whatever was learnt, nobody recorded these
	w.drove(van, 4, 2, day(4), day(4).Add(time.Hour), 0, 0)
	w.drove(van, 2, 2, day(20), day(20).Add(2*time.Hour), 94, 4)
	shows(van, "10304 track 23.2 10104") // late fixes: 10, of 90
	third := read(van, day(5).Add(90*time.Minute), 10_206)
	shows(van, "10306 track 7.3 10206") // half of the trip lies behind it
	w.do("POST", "/v1/vehicles/"+van+"/meter_readings/"+third+"/void", `{"reason":"of another van"}`).ok(200)
	shows(van, "10304 track 23.2 10104")
	w.do("POST", "/v1/vehicles/"+van+"/meter_readings/"+second+"/void", `{"reason":"misread"}`).ok(200)
	shows(van, "10294 track 13.7 10000")

	// In any order it ends alike.
	w.drove(other, 3, 1, day(5), day(5).Add(3*time.Hour), 200, 0)
	w.drove(other, 2, 2, day(20), day(20).Add(2*time.Hour), 94, 4)
	w.drove(other, 2, 1, day(20), day(20).Add(2*time.Hour), 100, 10)
	read(other, day(28), 10_000)
	w.drove(other, 1, 1, day(30), day(30).Add(time.Hour), 50, 0)
	shows(other, "10294 track 13.7 10000")

	// A tracker that tells the odometer is believed instead.
	w.exec("INSERT INTO vehicle_mileage (account, vehicle, time, raw_m, base_m, before_m) VALUES ({a:UInt64}, {v:UInt64}, fromUnixTimestamp64Milli({t:Int64}, 'UTC'), 16093440, 0, 0)",
		clickhouse.Named("a", uint64(w.account)), clickhouse.Named("v", vehicleID(t, van)),
		clickhouse.Named("t", day(4).UnixMilli()))
	shows(van, "10000 telematics <nil> <nil>")
}

// Maintenance each 5,000 miles falls due by the way that was driven since the odometer was read.
func TestMaintenanceFallsDueByTheTrack(t *testing.T) {
	w := newWorld(t)
	now := time.Now().UTC().Truncate(time.Hour)
	van := w.vehicle(`{"make":"A","model":"B"}`)
	task := w.do("POST", "/v1/maintenance/tasks", `{"name":"Oil change","every_mi":5000}`).ok(201).id()
	w.do("POST", "/v1/maintenance/schedules",
		`{"task_id":"`+task+`","vehicle_id":"`+van+`","due_soon_mi":500,"anchor":{"mi":10000}}`).ok(201)
	w.do("POST", "/v1/vehicles/"+van+"/meter_readings", fmt.Sprintf(
		`{"kind":"odometer_mi","value":14000,"recorded_at":%q}`, now.AddDate(0, 0, -20).Format(time.RFC3339))).ok(201)
	stage := func() any {
		t.Helper()
		w.clock.Add(int64(time.Second)) // what was written until now is older than the round
		if err := w.api.desk.Workshop.Remind(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		return w.do("GET", "/v1/maintenance/reminders?vehicle_id="+van, "").data()[0]["stage"]
	}
	wantEqual(t, "at the reading", stage(), "upcoming")
	w.drove(van, 1, 1, now.AddDate(0, 0, -5), now.AddDate(0, 0, -5).Add(8*time.Hour), 600, 0)
	wantEqual(t, "after 600 miles", stage(), "due_soon")
	w.drove(van, 2, 1, now.AddDate(0, 0, -2), now.AddDate(0, 0, -2).Add(8*time.Hour), 401, 0)
	wantEqual(t, "after 1,001 miles", stage(), "due")
}
