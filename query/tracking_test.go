package query_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

const (
	mine   fleet.AccountID = 1
	theirs fleet.AccountID = 2
)

var noon = fleet.MillisOf(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC))

func exec(t testing.TB, db driver.Conn, sql string, args ...any) {
	t.Helper()
	if err := db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// insertTrack stores n positions of a vehicle, one every step, with flags where i is a multiple of 10.
func insertTrack(t testing.TB, db driver.Conn, account fleet.AccountID, vehicle fleet.VehicleID, from fleet.Millis,
	step time.Duration, n int, flags fleet.Flags) {
	t.Helper()
	exec(t, db, `INSERT INTO positions (account, vehicle, fix_time, device, device_time, received_at, lat7, lng7, altitude_dm, speed_cms,
			course_cdeg, accuracy_dm, odometer_m, satellites, ignition, motion, alarm, cell, flags)
		SELECT {account:UInt64}, {vehicle:UInt64}, fromUnixTimestamp64Milli({from:Int64} + toInt64(number) * {step:Int64}, 'UTC') AS fix_time, 7, fix_time, fix_time,
			302671500 + number, -977430600 - number, if(number % 2 = 0, 1234, NULL), if(number % 2 = 0, 1337, NULL),
			if(number % 2 = 0, 27000, NULL), if(number % 2 = 0, 35, NULL), if(number % 2 = 0, 1609344, NULL), if(number % 2 = 0, 9, NULL),
			if(number % 2 = 0, 'on', 'unknown'), if(number % 2 = 0, 'moving', 'still'), '', 617700169958293503,
			if(number % 10 = 0, {flags:UInt32}, 0)
		FROM numbers({n:UInt64})`,
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicle", uint64(vehicle)),
		clickhouse.Named("from", int64(from)), clickhouse.Named("step", step.Milliseconds()),
		clickhouse.Named("n", uint64(n)),
		clickhouse.Named("flags", uint32(flags)))
}

func track(t *testing.T, db driver.Conn, f query.TrackFilter) []fleet.Position {
	t.Helper()
	var all []fleet.Position
	for p, err := range query.Track(t.Context(), db, f) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func times(all []fleet.Position) []int {
	var seconds []int
	for _, p := range all {
		seconds = append(seconds, int(p.FixTime-noon)/1000)
	}
	return seconds
}

func TestTrackGivesEveryFieldOfEveryPosition(t *testing.T) {
	db := schematest.Open(t)
	insertTrack(t, db, mine, 5, noon, time.Second, 2, fleet.FlagLate|fleet.FlagMock)
	insertTrack(t, db, mine, 5, noon, time.Second, 1, fleet.FlagLate|fleet.FlagMock) // stored twice before a merge
	nan := math.NaN()
	want := []fleet.Position{
		{Account: mine, Vehicle: 5, Device: 7, FixTime: noon, DeviceTime: noon, ReceivedTime: noon, Lat: 30.26715,
			Lng: -97.74306, Altitude: 123.4,
			Speed: 13.37, Course: 270, Accuracy: 3.5, Odometer: 1609344, Satellites: 9, Ignition: fleet.Yes, Motion: fleet.Yes,
			Cell: 617700169958293503, Flags: fleet.FlagLate | fleet.FlagMock},
		{Account: mine, Vehicle: 5, Device: 7, FixTime: noon + 1000, DeviceTime: noon + 1000, ReceivedTime: noon + 1000,
			Lat: 30.2671501, Lng: -97.7430601,
			Altitude: nan, Speed: nan, Course: nan, Accuracy: nan, Odometer: nan, Satellites: -1, Ignition: fleet.Unknown,
			Motion: fleet.No, Cell: 617700169958293503},
	}
	if diff := cmp.Diff(want, track(t, db, query.TrackFilter{Account: mine, Vehicle: 5}),
		cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}
}

// counting counts in the store, as TrackPage has it.
func counting(db driver.Conn) func(context.Context, query.TrackFilter) (int, error) {
	return func(ctx context.Context, f query.TrackFilter) (int, error) { return query.CountTrack(ctx, db, f) }
}

func TestTrackFilters(t *testing.T) {
	db := schematest.Open(t)
	insertTrack(t, db, mine, 5, noon, 10*time.Second, 30, fleet.FlagJump)
	insertTrack(t, db, mine, 6, noon, 10*time.Second, 3, 0)
	insertTrack(t, db, theirs, 5, noon+1, 10*time.Second, 30, 0)
	all := query.TrackFilter{Account: mine, Vehicle: 5}
	with := func(change func(*query.TrackFilter)) query.TrackFilter {
		f := all
		change(&f)
		return f
	}
	for name, c := range map[string]struct {
		f     query.TrackFilter
		want  []int
		total int
	}{
		"half-open span": {with(func(f *query.TrackFilter) {
			f.From, f.To = noon+20_000, noon+50_000
		}), []int{20, 30, 40}, 3},
		"newest first": {with(func(f *query.TrackFilter) { f.Descending, f.Limit = true, 2 }),
			[]int{290, 280}, 30},
		"page":         {with(func(f *query.TrackFilter) { f.Offset, f.Limit = 4, 2 }), []int{40, 50}, 30},
		"flagged only": {with(func(f *query.TrackFilter) { f.With = fleet.FlagJump }), []int{0, 100, 200}, 3},
		"trusted only": {with(func(f *query.TrackFilter) {
			f.Without, f.Limit = fleet.DoubtfulFlags, 3
		}), []int{10, 20, 30}, 27},
		"each minute": {with(func(f *query.TrackFilter) { f.Every = time.Minute }),
			[]int{0, 60, 120, 180, 240}, 5},
		"each minute, a page": {with(func(f *query.TrackFilter) {
			f.Every, f.Offset, f.Limit = time.Minute, 1, 2
		}), []int{60, 120}, 5},
		"each minute, newest first": {with(func(f *query.TrackFilter) {
			f.Every, f.Descending, f.Limit = time.Minute, true, 2
		}), []int{290, 230}, 5},
		"each minute, trusted": {with(func(f *query.TrackFilter) {
			f.Every, f.Without = time.Minute, fleet.FlagJump
		}), []int{10, 60, 120, 180, 240}, 5},
		"other vehicle":    {with(func(f *query.TrackFilter) { f.Vehicle = 6 }), []int{0, 10, 20}, 3},
		"nothing":          {with(func(f *query.TrackFilter) { f.Vehicle = 77 }), nil, 0},
		"before the epoch": {with(func(f *query.TrackFilter) { f.From, f.To = -5, -1 }), nil, 0},
		"far ends": {with(func(f *query.TrackFilter) {
			f.From, f.To, f.Limit = -math.MaxInt64, math.MaxInt64, 1
		}), []int{0}, 30},
	} {
		if diff := cmp.Diff(c.want, times(track(t, db, c.f))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if n, err := query.CountTrack(t.Context(), db, c.f); n != c.total || err != nil {
			t.Errorf("%s: count %d, %v, want %d", name, n, err, c.total)
		}
		n, page, err := query.TrackPage(t.Context(), db, c.f, c.f, noon.Time(), counting(db))
		if n != c.total || err != nil {
			t.Errorf("%s: a page of %d, %v, want %d", name, n, err, c.total)
		}
		if diff := cmp.Diff(c.want, times(page), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s, the page: %s", name, diff)
		}
	}
}

// Pages of a track are those of a reading of everything with FINAL, whatever was stored again with other flags and lies
// in however many parts, by cursor and by number, with the true total.
func TestPagesOfATrackAreThoseOfFinal(t *testing.T) {
	db := schematest.Open(t)
	exec(t, db, "SYSTEM STOP MERGES positions")
	random := rand.New(rand.NewPCG(3, 4))
	for range 12 { // of three months, many of them stored before
		from := noon + fleet.Millis(random.IntN(70))*86_400_000
		insertTrack(t, db, mine, fleet.VehicleID(5+random.IntN(2)), from, time.Hour, 40+random.IntN(200),
			fleet.Flags(random.IntN(8)))
	}
	for range 60 {
		whole := query.TrackFilter{Account: mine, Vehicle: fleet.VehicleID(5 + random.IntN(2)),
			Descending: random.IntN(2) == 0}
		switch random.IntN(4) {
		case 0:
			whole.Without = fleet.Flags(1 + random.IntN(7))
		case 1:
			whole.With = fleet.Flags(1 + random.IntN(7))
		}
		if random.IntN(2) == 0 {
			whole.From = noon + fleet.Millis(random.IntN(70))*86_400_000
			whole.To = whole.From + fleet.Millis(random.IntN(60))*86_400_000
		}
		want := times(track(t, db, whole))
		size := 1 + random.IntN(1+len(want))
		for offset := 0; offset <= len(want); offset += size {
			page := whole
			page.Offset, page.Limit = offset, size
			// The newest are sought where they are, where they no longer are, and before there was any.
			now := noon.Time().AddDate(0, 0, random.IntN(300)-100)
			total, positions, err := query.TrackPage(t.Context(), db, whole, page, now, counting(db))
			if err != nil || total != len(want) {
				t.Fatalf("%+v: total %d, %v, want %d", page, total, err, len(want))
			}
			got := times(positions)
			if diff := cmp.Diff(want[offset:min(offset+size, len(want))], got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%+v: %s", page, diff)
			}
			behind := whole // as a cursor has it
			switch behind.Limit = size; {
			case offset == 0 || offset == len(want):
				continue
			case whole.Descending:
				behind.To = noon + fleet.Millis(want[offset-1])*1000
			default:
				behind.From = noon + fleet.Millis(want[offset-1])*1000 + 1
			}
			total, positions, err = query.TrackPage(t.Context(), db, whole, behind, now, counting(db))
			if again := times(positions); err != nil || total != len(want) || !slices.Equal(again, got) {
				t.Fatalf("%+v: %v of %d, %v, want %v of %d", behind, again, total, err, got, len(want))
			}
		}
	}
}

func TestTrackCanBeLeftAndFails(t *testing.T) {
	db := schematest.Open(t)
	insertTrack(t, db, mine, 5, noon, time.Second, 300_000, 0)
	for range query.Track(t.Context(), db, query.TrackFilter{Account: mine, Vehicle: 5}) {
		break
	}
	// The pool must be whole afterwards.
	if n := len(track(t, db, query.TrackFilter{Account: mine, Vehicle: 5})); n != 300_000 {
		t.Errorf("read %d positions", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n, failed := 0, error(nil)
	for _, err := range query.Track(ctx, db, query.TrackFilter{Account: mine, Vehicle: 5}) {
		if failed = err; err == nil {
			n++
		}
		cancel()
	}
	if failed == nil || n == 0 || n == 300_000 {
		t.Errorf("after the context ended: %d positions, error %v", n, failed)
	}
}

// insertVehicle stores a vehicle's record and, unless its place is NaN, its state.
func insertVehicle(t testing.TB, db driver.Conn, account fleet.AccountID, id fleet.VehicleID, lat, lng float64,
	archived bool) {
	t.Helper()
	when := "NULL"
	if archived {
		when = "now64(3)"
	}
	exec(t, db, `INSERT INTO vehicles (account, id, revision, archived_at) VALUES (`+
		fmt.Sprintf("%d, %d, 1, %s)", account, id, when))
	if math.IsNaN(lat) {
		return
	}
	exec(t, db, `INSERT INTO vehicle_state (account, vehicle, version, device, fix_time, device_time, received_at, lat7, lng7, satellites, ignition, motion)
		SELECT {account:UInt64}, {vehicle:UInt64}, number, 7, fromUnixTimestamp64Milli({at:Int64} + toInt64(number) * 1000, 'UTC') AS fix_time, fix_time, fix_time,
			toInt32(round({lat:Float64} * 1e7)) - if(number = 1, 0, 5000), toInt32(round({lng:Float64} * 1e7)), NULL, 'on', 'unknown' FROM numbers(2)`,
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicle", uint64(id)),
		clickhouse.Named("at", int64(noon)), clickhouse.Named("lat", lat), clickhouse.Named("lng", lng))
}

func TestLatestPositions(t *testing.T) {
	db := schematest.Open(t)
	nan := math.NaN()
	insertVehicle(t, db, mine, 10, 30, -97, false)
	insertVehicle(t, db, mine, 11, 30.001, -97, false) // 111 m north
	insertVehicle(t, db, mine, 12, -17, 179.99, false)
	insertVehicle(t, db, mine, 13, -17, -179.99, false) // 2.1 km east of it
	insertVehicle(t, db, mine, 14, 30, -97, true)
	insertVehicle(t, db, mine, 15, nan, nan, false)
	insertVehicle(t, db, mine, 16, 89.9999, 100, false)
	insertVehicle(t, db, theirs, 20, 30, -97, false)
	all := query.LatestFilter{Account: mine, Box: query.World, Limit: 100}
	with := func(change func(*query.LatestFilter)) query.LatestFilter {
		f := all
		change(&f)
		return f
	}
	for name, c := range map[string]struct {
		f     query.LatestFilter
		want  []int
		total int
	}{
		"all": {all, []int{10, 11, 12, 13, 16}, 5},
		"some": {with(func(f *query.LatestFilter) {
			f.Vehicles = []fleet.VehicleID{13, 11, 14, 20}
		}), []int{11, 13}, 2},
		"page":   {with(func(f *query.LatestFilter) { f.Limit, f.Offset = 2, 1 }), []int{11, 12}, 5},
		"cursor": {with(func(f *query.LatestFilter) { f.AfterVehicle = 11 }), []int{12, 13, 16}, 5},
		"box": {with(func(f *query.LatestFilter) {
			f.Box = query.Box{West: -98, South: 29, East: -96, North: 30.0005}
		}), []int{10}, 1},
		"box with edges": {with(func(f *query.LatestFilter) {
			f.Box = query.Box{West: -97, South: 30, East: -97, North: 30}
		}), []int{10}, 1},
		"over 180°": {with(func(f *query.LatestFilter) {
			f.Box = query.Box{West: 179, South: -18, East: -179, North: -16}
		}), []int{12, 13}, 2},
		"near": {with(func(f *query.LatestFilter) {
			f.Near = &query.Near{Lat: 30.002, Lng: -97, Radius: 300}
		}), []int{11, 10}, 2},
		"near, a page": {with(func(f *query.LatestFilter) {
			f.Near, f.Limit = &query.Near{Lat: 30.002, Lng: -97, Radius: 300}, 1
		}), []int{11}, 2},
		"near and tight": {with(func(f *query.LatestFilter) {
			f.Near = &query.Near{Lat: 30.002, Lng: -97, Radius: 112}
		}), []int{11}, 1},
		"near over 180°": {with(func(f *query.LatestFilter) {
			f.Near = &query.Near{Lat: -17, Lng: 180, Radius: 2000}
		}), []int{12, 13}, 2},
		"near the pole": {with(func(f *query.LatestFilter) {
			f.Near = &query.Near{Lat: 90, Lng: -80, Radius: 12}
		}), []int{16}, 1},
		"all by distance": {with(func(f *query.LatestFilter) {
			f.Near = &query.Near{Lat: -17, Lng: -179.99, Radius: 3e7}
		}), []int{13, 12, 10, 11, 16}, 5},
	} {
		got, err := query.LatestPositions(t.Context(), db, c.f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var ids []int
		for _, p := range got {
			ids = append(ids, int(p.Vehicle))
			if c.f.Near != nil {
				exact := fleet.Distance(c.f.Near.Lat, c.f.Near.Lng, p.Lat, p.Lng)
				if math.Abs(float64(p.Distance)/1000-exact) > 0.002 {
					t.Errorf("%s: %s is %d mm away, not %v m", name, p.Vehicle, p.Distance, exact)
				}
			}
		}
		if diff := cmp.Diff(c.want, ids); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if n, err := query.CountLatest(t.Context(), db, c.f); n != c.total || err != nil {
			t.Errorf("%s: count %d, %v, want %d", name, n, err, c.total)
		}
	}
	got, err := query.LatestPositions(t.Context(), db, all)
	if err != nil || got[0].FixTime != noon+1000 || got[0].Lat != 30 || got[0].Satellites != -1 ||
		got[0].Ignition != fleet.Yes || !math.IsNaN(got[0].Speed) {
		t.Errorf("newest state: %+v, %v", got[0], err)
	}
}

func signals(names ...string) []fleet.Signal {
	var all []fleet.Signal
	for _, name := range names {
		all = append(all, fleet.MustSignal(name))
	}
	return all
}

func series(t *testing.T, db driver.Conn, f query.SeriesFilter) []query.Sample {
	t.Helper()
	var all []query.Sample
	for s, err := range query.Series(t.Context(), db, f) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func insertTelemetry(t testing.TB, db driver.Conn, account fleet.AccountID, vehicle fleet.VehicleID, signal string,
	at fleet.Millis, value float64) {
	t.Helper()
	exec(t, db, "INSERT INTO telemetry (account, vehicle, signal, time, value) SELECT {a:UInt64}, {v:UInt64}, {s:String}, fromUnixTimestamp64Milli({t:Int64}, 'UTC'), {x:Float64}",
		clickhouse.Named("a", uint64(account)), clickhouse.Named("v", uint64(vehicle)), clickhouse.Named("s", signal),
		clickhouse.Named("t", int64(at)), clickhouse.Named("x", value))
}

func TestSeriesAndItsBuckets(t *testing.T) {
	db := schematest.Open(t)
	// One busy minute, one with a single measurement, one in the next hour; each stored twice in separate inserts.
	for range 2 {
		for i, v := range []float64{80, 90, 70, 60} {
			insertTelemetry(t, db, mine, 5, "soc_pct", noon+fleet.Millis(i)*10_000, v)
		}
		insertTelemetry(t, db, mine, 5, "soc_pct", noon+90_000, 50)
		insertTelemetry(t, db, mine, 5, "soc_pct", noon+3_600_000, 40)
		insertTelemetry(t, db, mine, 5, "battery_v", noon+5_000, 12.6)
		insertTelemetry(t, db, mine, 5, "engine_rpm", noon, 800)
		insertTelemetry(t, db, theirs, 5, "soc_pct", noon+1, 1)
	}
	f := query.SeriesFilter{Account: mine, Vehicle: 5, Signals: signals("soc_pct", "battery_v")}
	check := func(name string, f query.SeriesFilter, total int, want []query.Sample) {
		t.Helper()
		if diff := cmp.Diff(want, series(t, db, f)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if n, err := query.CountSeries(t.Context(), db, f); n != total || err != nil {
			t.Errorf("%s: count %d, %v, want %d", name, n, err, total)
		}
	}
	raw := []query.Sample{
		{Signal: "battery_v", At: noon + 5000, Value: 12.6}, {Signal: "soc_pct", At: noon, Value: 80},
		{Signal: "soc_pct", At: noon + 10_000, Value: 90}, {Signal: "soc_pct", At: noon + 20_000, Value: 70},
		{Signal: "soc_pct", At: noon + 30_000, Value: 60}, {Signal: "soc_pct", At: noon + 90_000, Value: 50},
		{Signal: "soc_pct", At: noon + 3_600_000, Value: 40},
	}
	check("raw", f, 7, raw)
	span := f
	span.From, span.To = noon+10_000, noon+90_000
	check("raw span", span, 3, raw[2:5])
	page := f
	page.AfterSignal, page.AfterTime, page.Limit = "battery_v", noon+5000, 2
	check("raw page by cursor", page, 7, raw[1:3])
	page = f
	page.Offset, page.Limit = 2, 2
	check("raw page", page, 7, raw[2:4])

	minutes, hours := f, f
	minutes.Every, hours.Every = time.Minute, time.Hour
	battery := query.Sample{Signal: "battery_v", At: noon, Min: 12.6, Max: 12.6, Mean: 12.6, First: 12.6, Last: 12.6}
	check("minutes", minutes, 4, []query.Sample{
		battery,
		{Signal: "soc_pct", At: noon, Min: 60, Max: 90, Mean: 60, First: 80, Last: 60},
		{Signal: "soc_pct", At: noon + 60_000, Min: 50, Max: 50, Mean: 50, First: 50, Last: 50},
		{Signal: "soc_pct", At: noon + 3_600_000, Min: 40, Max: 40, Mean: 40, First: 40, Last: 40},
	})
	inHours := []query.Sample{
		battery,
		// the mean of the minutes' last values 60 and 50
		{Signal: "soc_pct", At: noon, Min: 50, Max: 90, Mean: 55, First: 80, Last: 50},
		{Signal: "soc_pct", At: noon + 3_600_000, Min: 40, Max: 40, Mean: 40, First: 40, Last: 40},
	}
	check("hours", hours, 3, inHours)
	hours.From, hours.To = noon+61_000, noon+3_600_000 // widened to whole buckets
	check("hours of a span", hours, 2, inHours[:2])
	hours.From, hours.To, hours.AfterSignal, hours.AfterTime = 0, 0, "soc_pct", noon
	check("hours by cursor", hours, 3, inHours[2:])

	latest, err := query.LatestTelemetry(t.Context(), db, mine, 5)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]query.Sample{raw[0], {Signal: "engine_rpm", At: noon, Value: 800}, raw[6]}, latest); diff != "" {
		t.Error(diff)
	}
}

func TestDeadLetters(t *testing.T) {
	db := schematest.Open(t)
	now := fleet.MillisOf(time.Now().Truncate(time.Second))
	for i := range 5 {
		reason := fleet.RefusedZeroCoordinates
		if i == 3 {
			reason = fleet.RefusedUndecodable
		}
		for _, account := range []fleet.AccountID{mine, theirs} {
			exec(t, db, `INSERT INTO dead_letters (account, id, at, reason, detail, unique_id, source_topic, source_partition, source_offset, source_index, format, payload, payload_bytes)
				SELECT {a:UInt64}, {id:UInt64}, fromUnixTimestamp64Milli({at:Int64}, 'UTC'), {r:String}, 'why', concat('dev-', toString({id:UInt64} % 10)), 'positions', 3, 100, 2, 'json', '{"\xff', 70000`,
				clickhouse.Named("a", uint64(account)), clickhouse.Named("id", uint64(account)*10+uint64(i)),
				clickhouse.Named("at", int64(now)-int64(i/2)*1000),
				clickhouse.Named("r", string(reason)))
		}
	}
	ids := func(f query.DeadLetterFilter) []int {
		t.Helper()
		all, err := query.DeadLetters(t.Context(), db, f)
		if err != nil {
			t.Fatal(err)
		}
		var ids []int
		for _, d := range all {
			ids = append(ids, int(d.ID))
		}
		return ids
	}
	f := query.DeadLetterFilter{Account: mine, Limit: 10}
	if got := ids(f); !cmp.Equal(got, []int{11, 10, 13, 12, 14}) {
		t.Errorf("all: %v", got)
	}
	if n, err := query.CountDeadLetters(t.Context(), db, f); n != 5 || err != nil {
		t.Errorf("count %d, %v", n, err)
	}
	after := f
	after.AfterAt, after.AfterID, after.Limit = now-1000, 13, 1
	if got := ids(after); !cmp.Equal(got, []int{12}) {
		t.Errorf("by cursor: %v", got)
	}
	reason := f
	reason.Reason = fleet.RefusedUndecodable
	if got := ids(reason); !cmp.Equal(got, []int{13}) {
		t.Errorf("of a reason: %v", got)
	}
	device := f
	device.UniqueID, device.To = "dev-4", now
	if got := ids(device); !cmp.Equal(got, []int{14}) {
		t.Errorf("of a device: %v", got)
	}
	d, ok, err := query.FindDeadLetter(t.Context(), db, mine, 13)
	want := query.DeadLetter{ID: 13, At: now - 1000, Reason: fleet.RefusedUndecodable, Detail: "why", UniqueID: "dev-3",
		Topic: "positions", Partition: 3,
		Offset: 100, Index: 2, Format: "json", PayloadBytes: 70000, Payload: []byte("{\"\xff")}
	if diff := cmp.Diff(want, d); diff != "" || !ok || err != nil {
		t.Errorf("%v, %v, %s", ok, err, diff)
	}
	if _, ok, err := query.FindDeadLetter(t.Context(), db, mine, 23); ok || err != nil {
		t.Errorf("somebody else's: %v, %v", ok, err)
	}
}

func TestDailyOutcomes(t *testing.T) {
	db := schematest.Open(t)
	insert := func(account fleet.AccountID, offset int, at fleet.Millis, read, stored int, refused string) {
		exec(t, db, fmt.Sprintf(`INSERT INTO ingest_outcomes (account, run, topic, partition, first_offset, last_offset, at, read, stored, signals, refused)
			SELECT %d, '', 'positions', 0, %d, %d, fromUnixTimestamp64Milli(%d, 'UTC'), %d, %d, 3, %s`, account, offset, offset, at, read, stored, refused))
	}
	insert(mine, 1, noon, 10, 8, "map('duplicate', 2)")
	insert(mine, 2, noon+1, 5, 4, "map('duplicate', 1, 'too_old', 0)")
	insert(mine, 3, noon+86_400_000, 1, 1, "map()")
	insert(theirs, 4, noon, 100, 100, "map()")
	got, err := query.DailyOutcomes(t.Context(), db, mine, noon-86_400_000, noon+2*86_400_000)
	if err != nil {
		t.Fatal(err)
	}
	day := noon - 12*3_600_000
	want := []query.DayOutcome{
		{Day: day, Read: 15, Stored: 12, Signals: 6, Refused: map[fleet.Refusal]int64{"duplicate": 3}},
		{Day: day + 86_400_000, Read: 1, Stored: 1, Signals: 3, Refused: map[fleet.Refusal]int64{}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Each query of this half reads by the key of its table, and not the whole table.
func TestQueriesUseTheirKeys(t *testing.T) {
	db := schematest.Open(t)
	span := map[string]any{"account": uint64(1), "vehicle": uint64(5), "from": int64(noon), "to": int64(noon + 1000),
		"limit": uint64(1), "offset": uint64(0), "every": int64(0), "vehicles": []uint64{}, "west": int32(0),
		"east": int32(1), "south": int32(0), "north": int32(1),
		"lat": 1.0, "lng": 1.0, "radius": 0.0, "earth": 6e6, "after_distance": uint64(0), "after_vehicle": uint64(0),
		"signals":      []string{"soc_pct", "battery_v"},
		"after_signal": "", "after_time": int64(0), "reason": "", "unique_id": "", "after_at": int64(0),
		"after_id": uint64(0), "id": uint64(1)}
	insertTrack(t, db, mine, 5, noon, time.Second, 10, 0)
	insertVehicle(t, db, mine, 5, 1, 1, false)
	insertTelemetry(t, db, mine, 5, "soc_pct", noon, 1)
	exec(t, db, "INSERT INTO dead_letters (account, id, at) SELECT 1, 1, now64(3)")
	for name, keys := range map[string]string{
		"positions_track": "account vehicle fix_time", "positions_track_desc": "account vehicle fix_time",
		"positions_count":  "account vehicle fix_time",
		"positions_latest": "account vehicle", "positions_latest_count": "account vehicle",
		"telemetry_raw": "account vehicle signal time", "telemetry_raw_count": "account vehicle signal time",
		"telemetry_buckets": "account vehicle signal bucket", "telemetry_buckets_count": "account vehicle signal bucket",
		"telemetry_latest": "account vehicle", "dead_letters": "account at", "dead_letters_count": "account at",
		"dead_letter": "account id",
	} {
		var args []any
		for param, v := range span {
			if strings.HasPrefix(name, "telemetry_buckets") && (param == "from" || param == "to" || param == "every") {
				v = map[string]uint32{"from": 600, "to": 1200, "every": 60}[param]
			}
			args = append(args, clickhouse.Named(param, v))
		}
		var plan []string
		err := schemas.EachRow(t.Context(), db, "explain a query", "EXPLAIN indexes = 1 "+schemas.Query(name), args,
			func(row schemas.Row) error {
				var line string
				if err := row.Scan(&line); err != nil {
					return err
				}
				plan = append(plan, strings.TrimLeft(line, " │├└─"))
				return nil
			})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		used := ""
		for i, line := range plan {
			if line == "PrimaryKey" && used == "" {
				for _, key := range plan[i+2:] {
					if strings.Contains(key, ":") {
						break
					}
					used += key + " "
				}
			}
		}
		if strings.TrimSpace(used) != keys {
			t.Errorf("%s uses the keys %q, want %q:\n%s", name, used, keys, strings.Join(plan, "\n"))
		} else if testing.Verbose() {
			t.Logf("%s\n%s", name, strings.Join(plan, "\n"))
		}
	}
}
