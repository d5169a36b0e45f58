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

// MileageFilter says whose mileage is wanted, and by what it is summed up.
type MileageFilter struct {
	Account  fleet.AccountID
	Vehicles []fleet.VehicleID // none means all
	From, To time.Time         // local days, both included
	By       string            // day, month, or total

	AfterVehicle  fleet.VehicleID // of a page before: its last row
	AfterOn       time.Time
	Offset, Limit int
}

// Mileage is what a vehicle drove on a local day, in a month, or in the whole span.
type Mileage struct {
	Vehicle     fleet.VehicleID
	On          time.Time // the first day
	Trips       uint64
	Distance    float64 // m
	Estimated   float64 // m, of it
	Moving      float64 // s
	Idle        float64 // s, on trips
	MaxSpeed    float64 // m/s
	First, Last fleet.Millis
	Open        bool // a trip goes on
}

func (f *MileageFilter) named() []any {
	day := func(t time.Time) string { return t.Format(time.DateOnly) }
	if f.AfterOn.IsZero() {
		f.AfterOn = time.Unix(0, 0).UTC()
	}
	return []any{clickhouse.Named("account", uint64(f.Account)), clickhouse.Named("vehicles", ids(f.Vehicles)),
		clickhouse.Named("by", f.By), clickhouse.Named("from", day(f.From)), clickhouse.Named("to", day(f.To)),
		clickhouse.Named("after_vehicle", uint64(f.AfterVehicle)), clickhouse.Named("after_on", day(f.AfterOn)),
		clickhouse.Named("limit", uint64(f.Limit)),
		clickhouse.Named("offset", uint64(f.Offset))}
}

// MileageOf returns a page of what vehicles drove, by vehicle and day; vehicles and days without a trip have no row.
func MileageOf(ctx context.Context, db driver.Conn, f MileageFilter) ([]Mileage, error) {
	return schemas.AllRows(ctx, db, "read mileage", schemas.Query("mileage"), f.named(),
		func(m *Mileage, row schemas.Row) error {
			return row.Scan((*uint64)(&m.Vehicle), &m.On, &m.Trips, &m.Distance, &m.Estimated, &m.Moving, &m.Idle,
				&m.MaxSpeed, (*int64)(&m.First), (*int64)(&m.Last), &m.Open)
		})
}

// MileageCount returns how many rows the filter has on all pages.
func MileageCount(ctx context.Context, db driver.Conn, f MileageFilter) (int, error) {
	var n uint64
	if err := db.QueryRow(ctx, schemas.Query("mileage_count"), f.named()...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count mileage: %w", err)
	}
	return int(n), nil
}
