package recordings

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/motorpool/fleet/loadtest/system"
	"github.com/motorpool/fleet/loadtest/system/systemtest"
	"github.com/motorpool/fleet/schemas"
)

// span is a trip or a stop of a vehicle.
type span struct {
	vehicle, kind string
	start, end    int64 // ms
	metres        float64
	unrecorded    bool // a way over which nothing was heard
}

// compareTrips waits until an account's trips have ended and holds them against the file.
func compareTrips(t *testing.T, sys *system.System, account string, want expected) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	systemtest.AwaitDerived(t, ctx, sys)
	counts := systemtest.CountDerived(t, sys, account)
	if counts["trip"] == 0 {
		t.Error("there are no trips")
	}
	before, trip, ours, naive := span{}, span{}, 0.0, 0.0
	for _, s := range spans(t, sys, account) {
		if s.start > s.end {
			t.Errorf("a %s of %s ends before it starts", s.kind, s.vehicle)
		}
		if s.vehicle == before.vehicle {
			if s.start < before.end {
				t.Errorf("%s: a %s from %d overlaps with a %s until %d", s.vehicle, s.kind, s.start, before.kind, before.end)
			}
			// Two trips may follow each other where data is missing between them, or where one of them is a way that nobody saw.
			if s.kind == before.kind && s.start == before.end && !s.unrecorded && !before.unrecorded {
				t.Errorf("%s: a %s from %d goes on as another", s.vehicle, s.kind, s.start)
			}
		}
		if s.kind == "trip" {
			ours += s.metres
			naive += want.way(s)
			// A vehicle that is found a little away from where it stopped went there, and one of the two trips has that way.
			// A longer one has a trip of its own.
			if away := want.between(trip, s); away > noise && away < nearby {
				naive += away
			}
			trip = s
		}
		before = s
	}
	t.Logf("%s: %.1f km in trips; from fix to fix %.1f km", account, ours/1000, naive/1000)
	// Fixes that do not count (jumps, drift) make the way from fix to fix longer; nothing makes it shorter. The receiver
	// of one recording stands still for ten seconds and then leaps, as its SOURCE.md says: its trips go by the wheels,
	// which say three per cent less than the places.
	least := 0.97
	if account == "rabat-twizy-ev" {
		least = 0.96
	}
	if ours > naive*1.01 || ours < naive*least {
		t.Errorf("trips are %.1f km long, and %.1f km from fix to fix", ours/1000, naive/1000)
	}
}

const (
	noise   = 25        // m that the fixes of a vehicle that stands may be apart
	nearby  = 1000      // m that may be of the trip before or behind
	fastest = 250 / 3.6 // m/s on the road
)

// between is how far a trip begins from where the one before ended; nothing if they are of two vehicles, or if
// nobody can have driven there.
func (e *expected) between(before, s span) float64 {
	track := e.tracks[s.vehicle]
	from, known := track[before.end]
	to, is := track[s.start]
	if before.vehicle != s.vehicle || !known || !is {
		return 0
	}
	if d := distance(from, to); d <= fastest*float64(s.start-before.end)/1000 {
		return d
	}
	return 0
}

// way is the length of a trip as the crow flies from each of the file's fixes to the next, but for leaps that no
// vehicle on the road makes since the place last changed. Across a silence a trip's way is estimated, straight on.
func (e *expected) way(s span) float64 {
	track := e.tracks[s.vehicle]
	way, last, since := 0.0, int64(0), int64(0)
	for _, at := range slices.Sorted(maps.Keys(track)) {
		if at < s.start || at > s.end {
			continue
		}
		if last != 0 {
			d := distance(track[last], track[at])
			if d == 0 {
				last = at
				continue
			}
			if d > fastest*float64(at-since)/1000 {
				continue
			}
			way += d
		}
		last, since = at, at
	}
	return way
}

// distance is the haversine formula on a sphere of the earth's mean radius.
func distance(a, b place) float64 {
	const rad, radius = math.Pi / 180, 6371008.8
	north, east := math.Sin((b.lat-a.lat)*rad/2), math.Sin((b.lng-a.lng)*rad/2)
	return 2 * radius * math.Asin(math.Sqrt(north*north+math.Cos(a.lat*rad)*math.Cos(b.lat*rad)*east*east))
}

// spans returns an account's trips and stops, by vehicle and time.
func spans(t *testing.T, sys *system.System, account string) []span {
	t.Helper()
	var all []span
	text := fmt.Sprintf(`SELECT ref, kind, toUnixTimestamp64Milli(start_at), toUnixTimestamp64Milli(end_at), metres, unrecorded FROM (
			SELECT account, vehicle, 'trip' AS kind, start_at, end_at, distance_m AS metres, unrecorded FROM trips FINAL WHERE NOT deleted
			UNION ALL SELECT account, vehicle, 'stop', start_at, end_at, 0, false FROM stops FINAL WHERE NOT deleted) AS spans
		INNER JOIN (SELECT account, id AS vehicle, JSONExtractString(body, 'external_refs', 1, 'id') AS ref FROM vehicles FINAL) AS named USING (account, vehicle)
		WHERE account IN (SELECT id FROM accounts FINAL WHERE name = '%s')
		ORDER BY vehicle, start_at, end_at`, account)
	err := schemas.EachRow(t.Context(), sys.DB, "read spans", text, nil, func(row schemas.Row) error {
		var s span
		if err := row.Scan(&s.vehicle, &s.kind, &s.start, &s.end, &s.metres, &s.unrecorded); err != nil {
			return err
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
