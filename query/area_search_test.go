package query_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"
	"github.com/uber/h3-go/v4"
	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

// seen is a fix of a vehicle, seconds after noon, some way east of the middle of the test's square.
type seen struct {
	vehicle fleet.VehicleID
	at      float64 // s
	east    float64 // degrees
	flags   fleet.Flags
}

const (
	midLat, midLng = 30.25, -97.75
	halfWidth      = 0.004 // of the square, degrees: about 400 m
)

func cellOf(t testing.TB, lat, lng float64) fleet.Cell {
	t.Helper()
	cell, err := h3.LatLngToCell(h3.LatLng{Lat: lat, Lng: lng}, fleet.CellResolution)
	if err != nil {
		t.Fatal(err)
	}
	return fleet.Cell(cell)
}

func insertSeen(t testing.TB, db driver.Conn, account fleet.AccountID, all ...seen) {
	t.Helper()
	for _, s := range all {
		lng := fleet.Quantise(midLng + s.east)
		exec(t, db, `INSERT INTO positions (account, vehicle, fix_time, device, device_time, received_at, lat7, lng7, ignition, motion, alarm, cell, flags)
			VALUES ({account:UInt64}, {vehicle:UInt64}, fromUnixTimestamp64Milli({at:Int64}, 'UTC'), 7, now64(3), now64(3), {lat7:Int32}, {lng7:Int32},
				'unknown', 'unknown', '', {cell:UInt64}, {flags:UInt32})`,
			clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicle", uint64(s.vehicle)),
			clickhouse.Named("at", int64(noon)+int64(s.at*1000)), clickhouse.Named("lat7", int32(midLat*1e7)),
			clickhouse.Named("lng7", int32(lng*1e7)), clickhouse.Named("cell", uint64(cellOf(t, midLat, lng))),
			clickhouse.Named("flags", uint32(s.flags)))
	}
}

// square is the filter of the test's square: every cell that touches it counts as one that its border runs through.
func square(t testing.TB) query.AreaFilter {
	t.Helper()
	loop := h3.GeoLoop{
		{Lat: midLat - halfWidth, Lng: midLng - halfWidth}, {Lat: midLat - halfWidth, Lng: midLng + halfWidth},
		{Lat: midLat + halfWidth, Lng: midLng + halfWidth}, {Lat: midLat + halfWidth, Lng: midLng - halfWidth},
	}
	cells, err := h3.PolygonToCellsExperimental(h3.GeoPolygon{GeoLoop: loop}, fleet.CellResolution,
		h3.ContainmentOverlapping)
	if err != nil {
		t.Fatal(err)
	}
	f := query.AreaFilter{Account: mine, From: noon, To: noon + 24*3600*1000, MaxFixes: 1000, MaxSpans: 100,
		Contains: func(lat, lng float64) bool {
			return lat >= midLat-halfWidth && lat <= midLat+halfWidth && lng >= midLng-halfWidth && lng <= midLng+halfWidth
		}}
	for _, cell := range cells {
		f.Edge = append(f.Edge, fleet.Cell(cell))
	}
	return f
}

// stays writes spans as "vehicle entered-left fixes", in seconds after noon.
func stays(t testing.TB, db driver.Conn, f query.AreaFilter) []string {
	t.Helper()
	spans, err := query.SearchArea(t.Context(), db, f)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, s := range spans {
		all = append(all, fmt.Sprintf("%d %d-%d %d", s.Vehicle, (s.Entered-noon)/1000, (s.Left-noon)/1000, s.Fixes))
	}
	return all
}

const outside = 0.05

func TestSpansOfAnArea(t *testing.T) {
	db := schematest.Open(t)
	insertSeen(t, db, mine,
		// Twelve minutes away without a fix: two spans.
		seen{vehicle: 1, at: 0}, seen{vehicle: 1, at: 60}, seen{vehicle: 1, at: 780}, seen{vehicle: 1, at: 790},
		// Ten minutes of silence: still there.
		seen{vehicle: 2, at: 0}, seen{vehicle: 2, at: 600},
		// Seen elsewhere in between: two spans, however far away it was.
		seen{vehicle: 3, at: 0}, seen{vehicle: 3, at: 100, east: outside}, seen{vehicle: 3, at: 200},
		seen{vehicle: 3, at: 210},
		// Out for less than a minute: noise at the border.
		seen{vehicle: 4, at: 0}, seen{vehicle: 4, at: 20, east: halfWidth + 0.0001}, seen{vehicle: 4, at: 40},
		// In cells of the cover and never inside.
		seen{vehicle: 5, at: 0, east: halfWidth + 0.0001}, seen{vehicle: 5, at: 10, east: -halfWidth - 0.0001},
		// The border is inside.
		seen{vehicle: 6, at: 0, east: halfWidth}, seen{vehicle: 6, at: 0, east: halfWidth},
		// Doubtful places do not count, neither inside nor outside; a late fix does.
		seen{vehicle: 7, at: 0}, seen{vehicle: 7, at: 100, east: outside, flags: fleet.FlagJump},
		seen{vehicle: 7, at: 200, flags: fleet.FlagLate}, seen{vehicle: 7, at: 300, flags: fleet.FlagLowAccuracy},
		seen{vehicle: 7, at: 400, flags: fleet.FlagDrift},
		// A fix that turned out to be a jump is flagged in another row, merged with the first or not.
		seen{vehicle: 10, at: 0}, seen{vehicle: 10, at: 10}, seen{vehicle: 10, at: 10, flags: fleet.FlagJump},
		seen{vehicle: 10, at: 20},
		// So is one outside, which ends no stay.
		seen{vehicle: 11, at: 0}, seen{vehicle: 11, at: 100, east: outside},
		seen{vehicle: 11, at: 100, east: outside, flags: fleet.FlagJump},
		seen{vehicle: 11, at: 200},
		// Of two trackers one has a bad place.
		seen{vehicle: 12, at: 0, east: -halfWidth / 2, flags: fleet.FlagLowAccuracy}, seen{vehicle: 12, at: 0},
		// An absence over the turn of the hour.
		seen{vehicle: 8, at: 3500}, seen{vehicle: 8, at: 3700, east: outside}, seen{vehicle: 8, at: 3900},
	)
	insertSeen(t, db, theirs, seen{vehicle: 1, at: 30}, seen{vehicle: 9, at: 0})
	f := square(t)
	want := []string{"1 0-60 2", "1 780-790 2", "2 0-600 2", "3 0-0 1", "3 200-210 2", "4 0-40 2", "6 0-0 1", "7 0-400 3",
		"8 3500-3500 1", "8 3900-3900 1", "10 0-20 2", "11 0-200 2", "12 0-0 1"}
	if diff := cmp.Diff(want, stays(t, db, f)); diff != "" {
		t.Error(diff)
	}
	for name, c := range map[string]struct {
		change func(f *query.AreaFilter)
		want   []string
	}{
		"vehicles": {func(f *query.AreaFilter) {
			f.Vehicles = []fleet.VehicleID{2, 6, 99}
		}, []string{"2 0-600 2", "6 0-0 1"}},
		"min duration": {func(f *query.AreaFilter) { f.MinDuration = 41 * time.Second },
			[]string{"1 0-60 2", "2 0-600 2", "7 0-400 3", "11 0-200 2"}},
		"window": {func(f *query.AreaFilter) { f.From, f.To = noon+60_000, noon+790_000 }, []string{
			"1 60-60 1", "1 780-780 1", "2 600-600 1", "3 200-210 2", "7 200-400 2", "11 200-200 1"}},
		"nothing": {func(f *query.AreaFilter) { f.Edge = nil }, nil},
		// A cell that lies inside is not asked about.
		"inner": {func(f *query.AreaFilter) {
			f.Inner, f.Edge = []fleet.Cell{cellOf(t, midLat, midLng)}, nil
			f.Contains = nil
			f.Vehicles = []fleet.VehicleID{2}
		}, []string{"2 0-600 2"}},
	} {
		f := square(t)
		c.change(&f)
		if diff := cmp.Diff(c.want, stays(t, db, f)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	f.MaxFixes = 10
	if _, err := query.SearchArea(t.Context(), db, f); !errors.Is(err, query.ErrTooManyFixes) {
		t.Errorf("more fixes than allowed: %v", err)
	}
	f = square(t)
	f.MaxSpans = 3
	if _, err := query.SearchArea(t.Context(), db, f); !errors.Is(err, query.ErrTooManySpans) {
		t.Errorf("more spans than allowed: %v", err)
	}
}

// TestAnInsertThatIsRepeatedLeavesTheSecondOrderAsItIs holds the view's table to the token of the insert that feeds it.
func TestAnInsertThatIsRepeatedLeavesTheSecondOrderAsItIs(t *testing.T) {
	db := schematest.Open(t)
	ctx := clickhouse.Context(t.Context(),
		clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": "positions/0/0-9"}))
	for range 3 {
		batch, err := db.PrepareBatch(ctx, "INSERT INTO positions (account, vehicle, fix_time, cell, lat7, lng7)")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			if err := batch.Append(uint64(mine), uint64(5), noon.Time().Add(time.Duration(i)*time.Second),
				uint64(cellOf(t, midLat, midLng)), int32(midLat*1e7), int32(midLng*1e7)); err != nil {
				t.Fatal(err)
			}
		}
		if err := batch.Send(); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"positions", "positions_by_cell"} {
		var n uint64
		if err := db.QueryRow(t.Context(), "SELECT count() FROM "+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n != 10 {
			t.Errorf("%s has %d rows of 10 after a repeated insert", table, n)
		}
	}
}

// TestSpansAgreeWithTheirDefinition compares with the definition written down plainly: whole tracks, no cells, no SQL.
func TestSpansAgreeWithTheirDefinition(t *testing.T) {
	db := schematest.Open(t)
	f := square(t)
	vehicle := fleet.VehicleID(100)
	rapid.Check(t, func(rt *rapid.T) {
		vehicle++
		var fixes []seen
		at := 0.0
		for range rapid.IntRange(1, 12).Draw(rt, "fixes") {
			at += float64(rapid.SampledFrom([]int{1, 30, 59, 60, 61, 300, 599, 600, 601, 4000}).Draw(rt, "pause"))
			s := seen{vehicle: vehicle, at: at,
				east: rapid.SampledFrom([]float64{0, 0.002, halfWidth + 0.0005, outside}).Draw(rt, "east")}
			s.flags = rapid.SampledFrom([]fleet.Flags{0, 0, 0, fleet.FlagLate, fleet.FlagJump}).Draw(rt, "flags")
			fixes = append(fixes, s)
		}
		insertSeen(t, db, mine, fixes...)
		f.Vehicles = []fleet.VehicleID{vehicle}
		var want []string
		entered, left, n, out := -1.0, 0.0, 0, false
		flush := func() {
			if n > 0 {
				want = append(want, fmt.Sprintf("%d %.0f-%.0f %d", vehicle, entered, left, n))
			}
			n = 0
		}
		for _, s := range fixes {
			if s.flags == fleet.FlagJump {
				continue
			}
			if s.east > halfWidth {
				out = true
				continue
			}
			if away := s.at - left; n > 0 && (away > 600 || away > 60 && out) {
				flush()
			}
			if n == 0 {
				entered = s.at
			}
			left, out = s.at, false
			n++
		}
		flush()
		if got := stays(t, db, f); !slices.Equal(got, want) {
			rt.Fatalf("%+v\ngot  %v\nwant %v", fixes, got, want)
		}
	})
}
