package query

import (
	"context"
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
func FencesAround(ctx context.Context, db driver.Conn, account fleet.AccountID,
	lat, lng float64) ([]FenceShape, error) {
	return schemas.AllRows(ctx, db, "find geofences around a place", schemas.Query("geofences_at"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("lat", lat), clickhouse.Named("lng", lng),
	}, func(s *FenceShape, row schemas.Row) error {
		var text string
		if err := row.Scan(&s.ID, &text); err != nil {
			return err
		}
		s.Geometry = []byte(text)
		return nil
	})
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
	err := schemas.EachRow(ctx, db, "read steps of jobs", schemas.Query("jobs_steps"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("jobs", jobs),
	}, func(row schemas.Row) error {
		var id uint64
		var s Steps
		if err := row.Scan(&id, &s.Done, &s.Failed, &s.First, &s.Last, &s.Error); err != nil {
			return err
		}
		all[id] = s
		return nil
	})
	return all, err
}

// VehicleSpan is a vehicle and a span of event time, both ends included.
type VehicleSpan struct {
	Vehicle  fleet.VehicleID
	From, To fleet.Millis
}

// VehiclesSince returns the vehicles of an account that have fixes at or after an instant, with the first and the last
// of those, by vehicle.
func VehiclesSince(ctx context.Context, db driver.Conn, account fleet.AccountID,
	from fleet.Millis) ([]VehicleSpan, error) {
	return scanSpans(ctx, db, "backfill_vehicles", clickhouse.Named("account", uint64(account)),
		clickhouse.Named("from", int64(from)))
}

// VisitorsSince returns the vehicles of an account that have visits of a geofence which end at or after an instant,
// with the start of the first and the end of the last of those, by vehicle.
func VisitorsSince(ctx context.Context, db driver.Conn, account fleet.AccountID, fence fleet.FenceID,
	from fleet.Millis) ([]VehicleSpan, error) {
	return scanSpans(ctx, db, "backfill_visitors", clickhouse.Named("account", uint64(account)),
		clickhouse.Named("geofence", uint64(fence)),
		clickhouse.Named("from", int64(from)))
}

func scanSpans(ctx context.Context, db driver.Conn, name string, args ...any) ([]VehicleSpan, error) {
	return schemas.AllRows(ctx, db, "read "+name, schemas.Query(name), args,
		func(v *VehicleSpan, row schemas.Row) error {
			var vehicle uint64
			var from, to time.Time
			if err := row.Scan(&vehicle, &from, &to); err != nil {
				return err
			}
			*v = VehicleSpan{Vehicle: fleet.VehicleID(vehicle), From: fleet.MillisOf(from), To: fleet.MillisOf(to)}
			return nil
		})
}

// VehicleTags returns the tags of all vehicles of an account that have any, archived ones too.
func VehicleTags(ctx context.Context, db driver.Conn, account fleet.AccountID) (map[fleet.VehicleID][]string, error) {
	all := map[fleet.VehicleID][]string{}
	err := schemas.EachRow(ctx, db, "read tags", schemas.Query("vehicles_tags"), []any{
		clickhouse.Named("account", uint64(account)),
	}, func(row schemas.Row) error {
		var id uint64
		var tags []string
		if err := row.Scan(&id, &tags); err != nil {
			return err
		}
		all[fleet.VehicleID(id)] = tags
		return nil
	})
	return all, err
}
