package query

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Geofences is how geofences are listed.
var Geofences = Listing{Table: "geofences", Fields: []ListField{
	{Name: "name", Type: TextField, Sort: true},
	{Name: "shape", Type: TextField},
	{Name: "tags", Type: TagsField},
	{Name: "vehicle_ids", Type: TagsField},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"name", "description"}}

// AlertRules is how alert rules are listed.
var AlertRules = Listing{Table: "alert_rules", Fields: []ListField{
	{Name: "name", Type: TextField, Sort: true},
	{Name: "kind", Type: TextField, Sort: true},
	{Name: "severity", Type: TextField, Sort: true},
	{Name: "tags", Type: TagsField},
	{Name: "geofence_ids", Type: TagsField},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"name", "description"}}

// Jobs is how jobs are listed.
var Jobs = Listing{Table: "jobs", Fields: []ListField{
	{Name: "kind", Type: TextField, Sort: true},
	{Name: "subject_id", Type: TextField},
	{Name: "subject", Type: TextField}, // the name of subject_id before
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"kind", "subject"}}

// FenceShape is the geometry of a geofence, as it was written.
type FenceShape struct {
	ID       uint64
	Geometry []byte
}

// FencesAround returns the geofences of an account, archived ones too, whose bounding boxes hold a place: those that an
// exact test is worth while for.
func FencesAround(ctx context.Context, db driver.Conn, account fleet.AccountID, lat, lng float64) ([]FenceShape, error) {
	rows, err := db.Query(ctx, schemas.Query("geofences_at"), clickhouse.Named("account", uint64(account)),
		clickhouse.Named("lat", lat), clickhouse.Named("lng", lng))
	if err != nil {
		return nil, fmt.Errorf("find geofences around a place: %w", err)
	}
	defer rows.Close()
	var all []FenceShape
	for rows.Next() {
		var s FenceShape
		var text string
		if err := rows.Scan(&s.ID, &text); err != nil {
			return nil, fmt.Errorf("find geofences around a place: %w", err)
		}
		s.Geometry = []byte(text)
		all = append(all, s)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("find geofences around a place: %w", err)
	}
	return all, nil
}

// Steps is how far a job has come. A job of which no step is done has none.
type Steps struct {
	Done   uint64
	Failed uint64    // of Done
	First  time.Time // when the first was done
	Last   time.Time // when the last so far was done
	Error  string    // of one that failed
}

// StepsOf returns how far some jobs of an account have come, by their ids.
func StepsOf(ctx context.Context, db driver.Conn, account fleet.AccountID, jobs []uint64) (map[uint64]Steps, error) {
	all := make(map[uint64]Steps, len(jobs))
	if len(jobs) == 0 {
		return all, nil
	}
	rows, err := db.Query(ctx, schemas.Query("jobs_steps"), clickhouse.Named("account", uint64(account)), clickhouse.Named("jobs", jobs))
	if err != nil {
		return nil, fmt.Errorf("read steps of jobs: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id uint64
		var s Steps
		if err := rows.Scan(&id, &s.Done, &s.Failed, &s.First, &s.Last, &s.Error); err != nil {
			return nil, fmt.Errorf("read steps of jobs: %w", err)
		}
		all[id] = s
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read steps of jobs: %w", err)
	}
	return all, nil
}

// VehicleSpan is a vehicle and a span of event time, both ends included.
type VehicleSpan struct {
	Vehicle  fleet.VehicleID
	From, To fleet.Millis
}

// VehiclesSince returns the vehicles of an account that have fixes at or after an instant, with the first and the last of
// those, by vehicle.
func VehiclesSince(ctx context.Context, db driver.Conn, account fleet.AccountID, from fleet.Millis) ([]VehicleSpan, error) {
	return scanSpans(ctx, db, "backfill_vehicles", clickhouse.Named("account", uint64(account)), clickhouse.Named("from", int64(from)))
}

// VisitorsSince returns the vehicles of an account that have visits of a geofence which end at or after an instant, with
// the start of the first and the end of the last of those, by vehicle.
func VisitorsSince(ctx context.Context, db driver.Conn, account fleet.AccountID, fence fleet.FenceID, from fleet.Millis) ([]VehicleSpan, error) {
	return scanSpans(ctx, db, "backfill_visitors", clickhouse.Named("account", uint64(account)), clickhouse.Named("geofence", uint64(fence)),
		clickhouse.Named("from", int64(from)))
}

func scanSpans(ctx context.Context, db driver.Conn, name string, args ...any) ([]VehicleSpan, error) {
	rows, err := db.Query(ctx, schemas.Query(name), args...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer rows.Close()
	var all []VehicleSpan
	for rows.Next() {
		var vehicle uint64
		var from, to time.Time
		if err := rows.Scan(&vehicle, &from, &to); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		all = append(all, VehicleSpan{Vehicle: fleet.VehicleID(vehicle), From: fleet.MillisOf(from), To: fleet.MillisOf(to)})
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return all, nil
}

// VehicleTags returns the tags of all vehicles of an account that have any, archived ones too.
func VehicleTags(ctx context.Context, db driver.Conn, account fleet.AccountID) (map[fleet.VehicleID][]string, error) {
	rows, err := db.Query(ctx, schemas.Query("vehicles_tags"), clickhouse.Named("account", uint64(account)))
	if err != nil {
		return nil, fmt.Errorf("read tags: %w", err)
	}
	defer rows.Close()
	all := map[fleet.VehicleID][]string{}
	for rows.Next() {
		var id uint64
		var tags []string
		if err := rows.Scan(&id, &tags); err != nil {
			return nil, fmt.Errorf("read tags: %w", err)
		}
		all[fleet.VehicleID(id)] = tags
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read tags: %w", err)
	}
	return all, nil
}
