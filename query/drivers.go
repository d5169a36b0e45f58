package query

import (
	"context"
	"math"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// DriverTags is how the tags of drivers are listed.
var DriverTags = Listing{Table: "driver_tags", Search: []string{"tag", "label"}, Fields: []ListField{
	{Name: "tag", Type: TextField, Sort: true, Few: true},
	{Name: "medium", Type: TextField},
	{Name: "label", Type: TextField, Sort: true},
	{Name: "driver_id", Type: TagsField},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}}

// between names the parameters of a span of some vehicles of an account, and more.
func between(account fleet.AccountID, vehicles []fleet.VehicleID, from, to fleet.Millis, more ...any) []any {
	return append(more, clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", ids(vehicles)),
		clickhouse.Named("from", int64(max(from, 0))), clickhouse.Named("to", until(to)))
}

// driven reads who drove some vehicles of an account at any time of [from, to].
func driven(
	ctx context.Context, db driver.Conn, name string, account fleet.AccountID, vehicles []fleet.VehicleID,
	from, to fleet.Millis,
) ([]fleet.Driven, error) {
	if len(vehicles) == 0 {
		return nil, nil
	}
	args := between(account, vehicles, from, to)
	return schemas.AllRows(ctx, db, "read drivers", schemas.Query(name), args,
		func(d *fleet.Driven, row schemas.Row) error {
			return row.Scan((*uint64)(&d.Vehicle), &d.ID, (*int64)(&d.From), (*int64)(&d.To), &d.Driver)
		})
}

// DriversKnown says by what it may be known who drove a vehicle.
type DriversKnown struct {
	Said   bool // what people said
	Tagged bool // the tags that its trackers told
	Booked bool // the bookings that had it
}

// DriversKnownOf returns by what it may be known who drove some vehicles of an account; those of which there is nothing
// are left out.
func DriversKnownOf(ctx context.Context, db driver.Conn, account fleet.AccountID,
	vehicles []uint64) (map[uint64]DriversKnown, error) {
	all := map[uint64]DriversKnown{}
	err := schemas.EachRow(ctx, db, "read by what drivers are known", schemas.Query("drivers_known"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", vehicles),
	}, func(row schemas.Row) error {
		var vehicle uint64
		var k DriversKnown
		if err := row.Scan(&vehicle, &k.Said, &k.Tagged, &k.Booked); err != nil {
			return err
		}
		all[vehicle] = k
		return nil
	})
	return all, err
}

// DriversSaid returns who people said drove some vehicles of an account at any time of [from, to].
func DriversSaid(
	ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []fleet.VehicleID, from, to fleet.Millis,
) ([]fleet.Driven, error) {
	return driven(ctx, db, "trips_drivers", account, vehicles, from, to)
}

// DriversBooked returns whose bookings had some vehicles of an account at any time of [from, to]: of a company's the
// first driver that it names.
func DriversBooked(
	ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []fleet.VehicleID, from, to fleet.Millis,
) ([]fleet.Driven, error) {
	return driven(ctx, db, "drivers_booked", account, vehicles, from, to)
}

// TagReports returns what trackers of some vehicles of an account said of who is logged in at any time of [from, to].
// Of reports that repeat one another at least each five minutes some are left out.
func TagReports(
	ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []fleet.VehicleID, from, to fleet.Millis,
) ([]fleet.TagReport, error) {
	if len(vehicles) == 0 {
		return nil, nil
	}
	args := between(account, vehicles, from, to)
	return schemas.AllRows(ctx, db, "read tags of drivers", schemas.Query("tag_reports"), args,
		func(r *fleet.TagReport, row schemas.Row) error {
			return row.Scan((*uint64)(&r.Vehicle), (*int64)(&r.At), &r.Tag)
		})
}

// TagHolders returns whose some tags of an account are and were, by tag; without tags, all of them.
func TagHolders(
	ctx context.Context, db driver.Conn, account fleet.AccountID, tags []string,
) (map[string][]fleet.TagHolder, error) {
	all := map[string][]fleet.TagHolder{}
	err := schemas.EachRow(ctx, db, "read holders of tags", schemas.Query("tag_holders"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("tags", texts(tags)),
	}, func(row schemas.Row) error {
		var tag string
		var h fleet.TagHolder
		if err := row.Scan(&tag, &h.Driver, (*int64)(&h.From), (*int64)(&h.To)); err != nil {
			return err
		}
		all[tag] = append(all[tag], h)
		return nil
	})
	return all, err
}

// TagsOf returns the tags that a driver of an account has or had.
func TagsOf(ctx context.Context, db driver.Conn, account fleet.AccountID, id string) ([]string, error) {
	all := []string{}
	err := schemas.EachRow(ctx, db, "read tags of a driver", schemas.Query("tags_of"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("driver", id),
	}, func(row schemas.Row) error {
		var tag string
		if err := row.Scan(&tag); err != nil {
			return err
		}
		all = append(all, tag)
		return nil
	})
	return all, err
}

// TagsEverHeld returns the ids of the driver tags that some customers of an account have or ever had.
func TagsEverHeld(
	ctx context.Context, db driver.Conn, account fleet.AccountID, customers []string,
) ([]uint64, error) {
	return schemas.AllRows(ctx, db, "read tags of customers", schemas.Query("driver_tags_held"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("customers", texts(customers)),
	}, func(id *uint64, row schemas.Row) error {
		return row.Scan(id)
	})
}

// DriverVehicles returns the vehicles of an account that a driver may have driven in [from, to): as people said (by id
// or name), bookings, or trackers by one of some tags.
func DriverVehicles(
	ctx context.Context, db driver.Conn, account fleet.AccountID, id string, tags []string, from, to fleet.Millis,
) ([]fleet.VehicleID, error) {
	args := between(account, nil, from, to, clickhouse.Named("driver", id), clickhouse.Named("tags", texts(tags)))
	return schemas.AllRows(ctx, db, "read vehicles of a driver", schemas.Query("driver_vehicles"), args,
		func(vehicle *fleet.VehicleID, row schemas.Row) error { return row.Scan((*uint64)(vehicle)) })
}

// TripSpan is when a trip was, and how far it went.
type TripSpan struct {
	ID       uint64
	Vehicle  fleet.VehicleID
	From, To fleet.Millis
	Distance float64 // m, as far as it was recorded
	Moving   float64 // s

	// Unrecorded says that nobody saw it: the vehicle was found somewhere else after a silence.
	Unrecorded bool
}

// TripSpans returns the trips of an account, of some vehicles or of all if none is named, that overlap [from,
// to), by vehicle and start; with deleted those too that no longer hold. There are at most so many, or all of
// them if most is 0.
func TripSpans(
	ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []fleet.VehicleID,
	from, to fleet.Millis, deleted bool, most int,
) ([]TripSpan, error) {
	limit := uint64(most)
	if most == 0 {
		limit = math.MaxInt64
	}
	args := between(account, vehicles, from, to, clickhouse.Named("deleted", bit(deleted)),
		clickhouse.Named("most", limit))
	return schemas.AllRows(ctx, db, "read trips", schemas.Query("trips_spans"), args,
		func(t *TripSpan, row schemas.Row) error {
			return row.Scan(&t.ID, (*uint64)(&t.Vehicle), (*int64)(&t.From), (*int64)(&t.To), &t.Distance, &t.Moving,
				&t.Unrecorded)
		})
}

// UnknownTag is a tag that trackers reported and nobody held then.
type UnknownTag struct {
	Tag         string
	First, Last time.Time
	Reports     uint64
	Vehicles    []uint64
}

// UnknownTags returns the tags that trackers of an account reported in [from, to) while nobody held them, the last
// reported first.
func UnknownTags(
	ctx context.Context, db driver.Conn, account fleet.AccountID, from, to fleet.Millis, limit int,
) ([]UnknownTag, error) {
	args := between(account, nil, from, to, clickhouse.Named("limit", uint64(limit)))
	return schemas.AllRows(ctx, db, "read unknown tags", schemas.Query("tags_unknown"), args,
		func(t *UnknownTag, row schemas.Row) error {
			return row.Scan(&t.Tag, &t.First, &t.Last, &t.Reports, &t.Vehicles)
		})
}
