// Package historyload measures pages of what was of one vehicle: its trips, stops, visits, alerts and positions, by
// many clients and by one alone, from programs side by side over one store. The vehicles drive for a year; what they
// did is made in the store, so that the last month's is still in eight parts, each of half the time of the one before,
// as it is while they report, and that of each month before in one, as the store itself merges it when nothing came
// into it for a day.
package historyload

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/loadtest/asking"
	"github.com/motorpool/fleet/loadtest/system"
	"github.com/motorpool/fleet/schemas"
)

// Options say how much is measured.
type Options struct {
	Fixes    int
	Vehicles int
	Clients  int           // at once
	For      time.Duration // that each sort of request is made
	Key      string
	Bases    []Base
}

// Base is a process that is measured.
type Base struct{ Name, URL string }

// Result is what was measured.
type Result struct {
	Options
	Sorts []asking.Sort
}

// Write prints a table in Markdown.
func (r Result) Write(w io.Writer) error {
	fmt.Fprintf(w, "%d fixes of %d vehicles\n\n", r.Fixes, r.Vehicles)
	return asking.Table(w, r.Sorts)
}

// Run fills the store and measures.
func Run(ctx context.Context, sys *system.System, o Options) (Result, error) {
	r := Result{Options: o}
	since := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -365)
	if err := fill(ctx, sys, o, since); err != nil {
		return r, fmt.Errorf("fill: %w", err)
	}
	day := since.AddDate(0, 0, 161)
	for _, what := range []struct{ name, path string }{
		{"20 trips", "/v1/trips?per_page=20&vehicle_id=%s"}, {"20 stops", "/v1/stops?per_page=20&vehicle_id=%s"},
		{"20 visits", "/v1/visits?per_page=20&vehicle_id=%s"},
		{"20 alerts", "/v1/alerts?per_page=20&vehicle_id=%s"},
		{"100 newest positions", "/v1/vehicles/%s/positions?per_page=100&sort=-fix_at"},
		{"positions of a day", "/v1/vehicles/%s/positions?per_page=1000&from=" + day.Format(time.RFC3339) +
			"&until=" + day.AddDate(0, 0, 1).Format(time.RFC3339)},
	} {
		for _, clients := range []int{1, o.Clients} {
			for _, base := range o.Bases {
				ask := func(ctx context.Context, random *rand.Rand) (*http.Request, error) {
					vehicle := fleet.FormatID(fleet.VehiclePrefix, firstVehicle+random.Uint64N(uint64(o.Vehicles)))
					req, err := http.NewRequestWithContext(ctx, http.MethodGet, base.URL+fmt.Sprintf(what.path, vehicle), nil)
					if err == nil {
						req.Header.Set("Authorization", "Bearer "+o.Key)
					}
					return req, err
				}
				if _, err := asking.Measure(ctx, clients, o.For/4, ask); err != nil { // to get warm
					return r, fmt.Errorf("%s from %s: %w", what.name, base.Name, err)
				}
				s, err := asking.Measure(ctx, clients, o.For, ask)
				if err != nil {
					return r, fmt.Errorf("%s from %s: %w", what.name, base.Name, err)
				}
				s.Name, s.Of = what.name, base.Name
				r.Sorts = append(r.Sorts, s)
			}
		}
	}
	return r, nil
}

// firstVehicle is the id of the first one; the others follow.
const firstVehicle = 1 << 40

// fill makes vehicles and a year of what they did, month by month, the last one's in eight parts.
func fill(ctx context.Context, sys *system.System, o Options, since time.Time) error {
	var account uint64
	if err := sys.DB.QueryRow(ctx, "SELECT max(account) FROM accounts").Scan(&account); err != nil {
		return err
	}
	if err := sys.DB.Exec(ctx, fmt.Sprintf(`INSERT INTO record_log
			(account, kind, id, revision, write_id, action, at, created_at, archived_at, actor, request_id, body)
		SELECT %d, 'vehicle', %d + number, 1, rand64() %% 9000000000000000000 + 1, 'create', now64(3), now64(3), NULL,
			'loadtest', '', '{"make":"Kia","model":"Niro","status":"available"}' FROM numbers(%d)`,
		account, firstVehicle, o.Vehicles)); err != nil {
		return err
	}
	if err := schemas.Fill(ctx, sys.DB, "vehicle"); err != nil {
		return err
	}
	const months, monthMS = 12, int64(365 * 24 * 3600 * 1000 / 12)
	place, speed := fleet.Place{Lat: 30.2671530, Lng: -97.7430608}, 31.3
	tables := []string{"positions", "trips", "stops", "visits", "alerts"}
	for month := range months {
		if month == months-1 {
			for _, table := range tables {
				if err := sys.DB.Exec(ctx, "OPTIMIZE TABLE "+table+" FINAL"); err != nil {
					return err
				}
			}
		}
		each := max(o.Fixes/months/o.Vehicles, 100) // fixes of a vehicle in a month
		parts := 1
		if month == months-1 {
			parts = 8
		}
		for part := range parts {
			// A row each `every` fixes of a vehicle, by its number n in the month, at time at.
			rows := func(every int) string {
				all := each / every
				begin, end := all-all>>part, all-all>>(part+1)
				if part == parts-1 {
					end = all
				}
				return fmt.Sprintf(`FROM (SELECT %d AS account, %d + number %% %d AS vehicle, intDiv(number, %d) AS n,
						fromUnixTimestamp64Milli(toInt64(%d + n * %d), 'UTC') AS at, cityHash64(number, %d, %d) %% 9000000000000000000 + 1 AS id
					FROM numbers(%d, %d))`, account, firstVehicle, o.Vehicles, o.Vehicles,
					since.UnixMilli()+int64(month)*monthMS, monthMS/int64(all), month, every, o.Vehicles*begin,
					o.Vehicles*(end-begin))
			}
			head := "(account, vehicle, id, revision, start_at, end_at, open, deleted, late, updated_at, body"
			values := func(e fleet.Entity) string {
				body, err := json.Marshal(e)
				if err != nil {
					panic(err) // what is written below
				}
				return "SELECT account, vehicle, id, 1, at, at + 1200, false, n % 50 = 7, false, at + 1300, '" +
					string(body) + "'"
			}
			for _, statement := range []string{
				`INSERT INTO positions (account, vehicle, fix_time, device, device_time, received_at, lat7, lng7, speed_cms, course_cdeg, ignition, motion, cell)
				SELECT account, vehicle, at, vehicle, at, at, 302671500 + n % 100000, -977430600 + n % 77777, n % 3000, n % 36000, 'on', 'moving',
					617700169958293503 ` + rows(1),
				"INSERT INTO trips " + head + ") " + values(&fleet.Trip{StartPlace: place, EndPlace: place, Moving: 900_000,
					Distance: 12_345.6, MaxSpeed: 27.8, MeanSpeed: 13.7, Fixes: 100, ClosedReason: "stop"}) + rows(100),
				"INSERT INTO stops " + head + ") " + values(&fleet.Stop{Place: place, Idle: 60_000, Fixes: 12,
					ClosedReason: "moved"}) + rows(100),
				"INSERT INTO visits " + head + ", geofence) " + values(&fleet.Visit{Fence: 7, Revision: 1, EntryPlace: place,
					ExitPlace: &place, Fixes: 12, ExitReason: "left"}) + ", n % 100 + 1 " + rows(100),
				"INSERT INTO alerts " + head + ", rule, alert_kind, severity) " + values(&fleet.Alert{Rule: 1, RuleRevision: 1,
					What: fleet.AlertSpeeding, Severity: fleet.SeverityWarning, Place: &place, Value: &speed, Peak: &speed,
					Threshold: &speed, ResolvedReason: "cleared"}) + ", n % 9 + 1, 'speeding', 'warning' " + rows(100),
			} {
				if err := sys.DB.Exec(ctx, statement); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
