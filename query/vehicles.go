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

// Fields of what was heard. What was never heard of is before all that was, and is not online.
var (
	lastHeard = ListField{Name: "last_heard_at", Type: TimeField, Range: true, Sort: true, Column: "heard.last_heard_at",
		Join: joinHeard, Never: true}
	online = ListField{Name: "online", Type: TextField, Sort: true, Column: "if(heard.online, 'true', 'false')",
		Join: joinHeard}
)

// Vehicles is how vehicles are listed.
var Vehicles = Listing{Table: "vehicles", Fields: []ListField{
	{Name: "make", Type: WordsField, Sort: true},
	{Name: "model", Type: WordsField, Sort: true},
	{Name: "year", Type: NumberField, Range: true, Sort: true},
	{Name: "vin", Type: CodeField, Sort: true},
	{Name: "status", Type: TextField, Sort: true},
	{Name: "license_plate", Type: CodeField, Sort: true},
	{Name: "plate_region", Type: WordsField, Sort: true},
	{Name: "nickname", Type: WordsField, Sort: true},
	{Name: "fleet_number", Type: WordsField, Sort: true},
	{Name: "fuel_type", Type: TextField, Sort: true},
	{Name: "body_type", Type: TextField, Sort: true},
	{Name: "tags", Type: TagsField},
	{Name: "vehicle_class_id", Type: TextField, Sort: true},
	{Name: "home_location_id", Type: TextField, Sort: true},
	{Name: "current_location_id", Type: TextField, Sort: true},
	{Name: "rate_plan_id", Type: TextField},
	{Name: "owner_customer_id", Type: TextField},
	{Name: "ownership", Type: TextField, Sort: true},
	{Name: "transmission", Type: TextField},
	{Name: "drivetrain", Type: TextField},
	{Name: "seats", Type: NumberField, Range: true, Sort: true},
	{Name: "status_since", Type: TimeField, Range: true, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
	lastHeard, online,
}, Heard: "vehicle", Search: []string{"make", "model", "vin", "license_plate", "nickname", "fleet_number", "tags"}}

// Devices is how devices are listed.
var Devices = Listing{Table: "devices", Fields: []ListField{
	{Name: "unique_id", Type: TextField, Sort: true},
	{Name: "name", Type: WordsField, Sort: true},
	{Name: "protocol", Type: TextField, Sort: true},
	{Name: "model", Type: WordsField, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
	lastHeard, online,
}, Heard: "device", Search: []string{"unique_id", "name", "model"}}

// Live is what is known of a vehicle at this moment. Absent quantities are NaN, absent times zero.
type Live struct {
	FixTime     fleet.Millis // of the newest trusted fix; zero if the vehicle never had one
	Lat, Lng    float64
	Speed       float64 // m/s
	Course      float64 // degrees
	Accuracy    float64 // m
	Ignition    fleet.Tri
	MileageTime fleet.Millis // of the odometer reading
	Mileage     float64      // m
	Charge      float64      // percent of the traction battery
	ChargeTime  fleet.Millis
	Fuel        float64 // percent of the tank
	FuelTime    fleet.Millis
	Range       float64 // m
	EngineTime  float64 // s that the engine has run
}

// LiveOf returns what is known of some vehicles of an account. A vehicle of which nothing is known has an entry too.
func LiveOf(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []uint64) (map[uint64]Live, error) {
	all := make(map[uint64]Live, len(vehicles))
	if len(vehicles) == 0 {
		return all, nil
	}
	err := schemas.EachRow(ctx, db, "read live state", schemas.Query("vehicles_live"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", vehicles),
	}, func(row schemas.Row) error {
		var r liveRow
		if err := row.Scan(&r.vehicle, (*int64)(&r.fix.FixTime), &r.fix.Lat, &r.fix.Lng, &r.fix.Speed, &r.fix.Course,
			&r.fix.Accuracy, (*int8)(&r.fix.Ignition), &r.mileageTime, &r.mileage, &r.charge, &r.chargeTime, &r.fuel,
			&r.fuelTime, &r.rangeM, &r.engine); err != nil {
			return err
		}
		all[r.vehicle] = r.live()
		return nil
	})
	return all, err
}

// liveRow is a row of vehicles_live.
type liveRow struct {
	vehicle     uint64
	fix         fleet.StoredPosition // as much of the newest trusted one as Live has; its time is zero if there is none
	mileageTime *time.Time
	mileage     *uint64
	charge      *float64
	chargeTime  *time.Time
	fuel        *float64
	fuelTime    *time.Time
	rangeM      *float64
	engine      *float64
}

func (r *liveRow) live() Live {
	p := fleet.Position{}
	r.fix.Restore(&p)
	if p.FixTime == 0 {
		p.Lat, p.Lng = math.NaN(), math.NaN()
	}
	l := Live{
		FixTime: p.FixTime, Lat: p.Lat, Lng: p.Lng, Speed: p.Speed, Course: p.Course, Accuracy: p.Accuracy,
		Ignition: p.Ignition,
		Mileage:  orNaN(r.mileage), Charge: orNaN(r.charge), Fuel: orNaN(r.fuel), Range: orNaN(r.rangeM),
		EngineTime: orNaN(r.engine),
	}
	for _, at := range []struct {
		to   *fleet.Millis
		from *time.Time
	}{{&l.MileageTime, r.mileageTime}, {&l.ChargeTime, r.chargeTime}, {&l.FuelTime, r.fuelTime}} {
		if at.from != nil {
			*at.to = fleet.MillisOf(*at.from)
		}
	}
	return l
}

// orNaN reads an optional column.
func orNaN[N uint64 | float64](v *N) float64 {
	if v == nil {
		return math.NaN()
	}
	return float64(*v)
}

// DevicesOf returns the devices of an account that are or were on some vehicles.
func DevicesOf(ctx context.Context, db driver.Conn, account fleet.AccountID, vehicles []uint64) ([]Stored, error) {
	ids := make([]string, len(vehicles))
	for i, id := range vehicles {
		ids[i] = fleet.FormatID(fleet.VehiclePrefix, id)
	}
	return scanStored(ctx, db, "vehicles_devices", schemas.Query("vehicles_devices"),
		clickhouse.Named("account", uint64(account)), clickhouse.Named("vehicles", ids))
}

// VehicleStatuses returns the state of each of an account's vehicles that is not archived.
func VehicleStatuses(ctx context.Context, db driver.Conn, account fleet.AccountID) (map[fleet.VehicleID]string, error) {
	all := map[fleet.VehicleID]string{}
	err := schemas.EachRow(ctx, db, "read vehicles_statuses", schemas.Query("vehicles_statuses"), []any{
		clickhouse.Named("account", uint64(account)),
	}, func(row schemas.Row) error {
		var id uint64
		var status string
		err := row.Scan(&id, &status)
		all[fleet.VehicleID(id)] = status
		return err
	})
	return all, err
}
