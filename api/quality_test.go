package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
)

// sentFixes says how the positions are that a tracker sent, n of them each so many seconds from first on.
type sentFixes struct {
	first  time.Time
	every  time.Duration
	n      int
	speed  int           // cm/s
	flags  fleet.Flags   // of each seventh
	delay  time.Duration // from fix to receipt
	ahead  time.Duration // of the device's time before the receipt
	twice  bool          // stored twice, as after a repair that set flags
	lowest string        // of the tracker's own battery, in percent
}

// sends stores positions of a device, and that it was heard of then.
func (w *world) sends(device, vehicle string, s sentFixes) {
	w.t.Helper()
	id, err := fleet.ParseID(fleet.DevicePrefix, device)
	if err != nil {
		w.t.Fatal(err)
	}
	args := []any{clickhouse.Named("account", uint64(w.account)), clickhouse.Named("device", id),
		clickhouse.Named("vehicle", vehicleID(w.t, vehicle)), clickhouse.Named("first", s.first.UnixMilli()),
		clickhouse.Named("every", s.every.Milliseconds()), clickhouse.Named("n", uint64(s.n)),
		clickhouse.Named("delay", s.delay.Milliseconds()), clickhouse.Named("ahead", s.ahead.Milliseconds()),
		clickhouse.Named("speed", uint16(s.speed)),
		clickhouse.Named("flags", uint32(s.flags))}
	times := 1
	if s.twice {
		times = 2
	}
	for range times {
		w.exec(`INSERT INTO positions (account, vehicle, fix_time, device, device_time, received_at, lat7, lng7, speed_cms, satellites, flags)
			SELECT {account:UInt64}, {vehicle:UInt64}, fromUnixTimestamp64Milli({first:Int64} + toInt64(number) * {every:Int64}, 'UTC') AS fix_time, {device:UInt64},
				fromUnixTimestamp64Milli(toUnixTimestamp64Milli(fix_time) + {delay:Int64} + {ahead:Int64}, 'UTC'),
				fromUnixTimestamp64Milli(toUnixTimestamp64Milli(fix_time) + {delay:Int64}, 'UTC'),
				302671500 + number * 1000, -977430600, {speed:UInt16}, 9, if(number % 7 = 6, {flags:UInt32}, 0) FROM numbers({n:UInt64})`, args...)
	}
	w.hear(device, vehicle, s.first.Add(s.delay), s.first.Add(s.delay+time.Duration(s.n-1)*s.every), s.every)
	if s.lowest != "" {
		w.exec("INSERT INTO telemetry (account, vehicle, signal, time, value) VALUES ({account:UInt64}, {vehicle:UInt64}, 'device_battery_pct', "+
			"fromUnixTimestamp64Milli({first:Int64}, 'UTC'), "+s.lowest+")", args[0], args[2], args[3])
	}
}

// Five trackers of a fleet: one is good; of one every seventh place is a jump, and a third of what it sends is refused;
// one was each ten minutes until Tuesday noon; the clock of one is two hours ahead; one was never heard of. It is
// Thursday evening in Chicago.
func TestTheFleetSaysWhichTrackersNeedAHand(t *testing.T) {
	w := newWorld(t)
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	real := time.Now().In(zone)
	thursday := real.AddDate(0, 0, -7-(int(real.Weekday())-int(time.Thursday)+7)%7)
	now := time.Date(thursday.Year(), thursday.Month(), thursday.Day(), 20, 0, 0, 0, zone)
	w.clock.Store(int64(time.Until(now)))
	of, cars := map[string]string{}, map[string]string{}
	for i, name := range []string{"good", "jumpy", "silent", "ahead", "never"} {
		cars[name] = w.vehicle(`{"make":"A","model":"` + name + `"}`)
		of[name] = w.tracker(fmt.Sprint(i), cars[name])
		w.exec("ALTER TABLE devices UPDATE created_at = created_at - INTERVAL 60 DAY WHERE true SETTINGS mutations_sync = 1")
	}
	noon := now.Add(-8 * time.Hour)
	w.sends(of["good"], cars["good"], sentFixes{first: now.Add(-48 * time.Hour), every: time.Minute, n: 2880, speed: 1000,
		delay: 2 * time.Second, lowest: "80"})
	w.sends(of["jumpy"], cars["jumpy"], sentFixes{first: now.Add(-70 * time.Minute), every: time.Minute, n: 70,
		speed: 1000, flags: fleet.FlagJump, delay: time.Second, twice: true, lowest: "12"})
	w.sends(of["silent"], cars["silent"],
		sentFixes{first: noon.Add(-72 * time.Hour), every: 10 * time.Minute, n: 145, delay: time.Second})
	w.sends(of["ahead"], cars["ahead"], sentFixes{first: now.Add(-70 * time.Minute), every: time.Minute, n: 70,
		flags: fleet.FlagFutureClock, ahead: 2 * time.Hour})
	id, _ := fleet.ParseID(fleet.DevicePrefix, of["jumpy"])
	for range 2 { // the row of a batch may be written again
		w.exec("INSERT INTO device_outcomes VALUES ($1, $2, $3, 'bad_coordinates', '', 'positions', 0, 17, 30), ($1, $2, $3, 'measured', '', 'positions', 0, 17, 5)",
			uint64(w.account), id, now.Add(-30*time.Minute).UTC().Truncate(15*time.Minute))
	}

	all := w.do("GET", "/v1/devices/quality?per_page=2", "").ok(200)
	next := w.do("GET", "/v1/devices/quality?per_page=2&cursor="+all.pagination().NextCursor, "").ok(200)
	wantEqual(t, "total", all.pagination().Total, 5)
	order := append(all.data(), next.data()...)
	order = append(order, w.do("GET", "/v1/devices/quality?sort=needs_hand", "").data()[0])
	for i, want := range []string{"never", "silent", "jumpy", "ahead", "good"} {
		wantEqual(t, "place "+fmt.Sprint(i), order[i]["device_id"], of[want])
	}
	verdict := func(name string) (map[string]any, string) {
		q := w.do("GET", "/v1/devices/"+of[name]+"/quality", "").ok(200).object()
		return q, q["verdict"].(string)
	}
	for name, want := range map[string]string{
		"good":   "Reports each minute or more often; nothing is wrong.",
		"silent": "Reports each 10 minutes; silent since Tuesday, 12:00; ",
		"ahead":  "its clock is 2 hours ahead",
		"jumpy":  "14 % of places are jumps",
		"never":  "Nothing ever came of it.",
	} {
		if _, got := verdict(name); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not say %q", name, got, want)
		}
	}
	q, got := verdict("jumpy")
	for _, want := range []string{"29 % of reports are refused: bad coordinates", "its own battery was down to 12 %"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	wantEqual(t, "received", fmt.Sprint(q["received"], q["stored"], q["refused"]), "105 75 map[bad_coordinates:30]")
	wantEqual(t, "intervals", fmt.Sprint(q["moving_interval_s"], q["standing_interval_s"], q["delay_s"], q["satellites"]),
		"60 <nil> 1 9")

	q, _ = verdict("silent")
	days := q["days"].([]any)
	wantEqual(t, "days", len(days), 8) // from Thursday evening on
	day := func(i int) map[string]any { return days[i].(map[string]any) }
	wantEqual(t, "the last day with reports",
		fmt.Sprint(day(5)["day_on"], day(5)["stored"], day(5)["gaps"], day(5)["gaps_s"]),
		fmt.Sprint(now.AddDate(0, 0, -2).Format(time.DateOnly), 73, 1, 12*3600))
	wantEqual(t, "a day of silence", fmt.Sprint(day(6)["stored"], day(6)["gaps"], day(6)["gaps_s"]),
		fmt.Sprint(0, 0, 24*3600))
	wantEqual(t, "standing", fmt.Sprint(q["standing_interval_s"], q["moving_interval_s"]), "600 <nil>")
	w.do("GET", "/v1/devices/"+of["silent"]+"/quality?from=2020-01-01T00:00:00Z", "").problem(400, "invalid_request")

	stranger := w.newKey(w.newAccount("Second"), auth.Admin)
	w.do("GET", "/v1/devices/"+of["good"]+"/quality", "", "Authorization", "Bearer "+stranger).problem(404, "not_found")
	wantEqual(t, "a stranger's fleet",
		len(w.do("GET", "/v1/devices/quality", "", "Authorization", "Bearer "+stranger).data()), 0)
	w.do("GET", "/v1/devices/quality", "", "Authorization", "Bearer "+w.newKey(w.account, auth.VehiclesRead)).problem(403,
		"insufficient_scope")
}
