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

// DueVehicle is a vehicle to which the passing of time has something to do.
type DueVehicle struct {
	Account fleet.AccountID
	Vehicle uint64
	Cause   string // of the state that ends, or what has begun: an id of a booking, a block or a work order
}

// VehiclesDue returns the vehicles of all accounts to which time has something to do at an instant.
func VehiclesDue(ctx context.Context, db driver.Conn, now time.Time) ([]DueVehicle, error) {
	return dueVehicles(ctx, db, "find vehicles that are due", "vehicles_due", now)
}

// VehiclesDisposed returns the vehicles of all accounts that stand ready, or are about to, although their disposal_on
// has come somewhere on earth at an instant.
func VehiclesDisposed(ctx context.Context, db driver.Conn, now time.Time) ([]DueVehicle, error) {
	return dueVehicles(ctx, db, "find vehicles that were disposed of", "vehicles_disposed", now)
}

func dueVehicles(ctx context.Context, db driver.Conn, doing, name string, now time.Time) ([]DueVehicle, error) {
	return schemas.AllRows(ctx, db, doing, schemas.Query(name), []any{
		clickhouse.Named("now", now.UnixMilli()),
	}, func(v *DueVehicle, row schemas.Row) error {
		return row.Scan((*uint64)(&v.Account), &v.Vehicle, &v.Cause)
	})
}

// VehiclesLeftHeld returns the vehicles of all accounts that hold their own calendar and seem to have no reason to.
func VehiclesLeftHeld(ctx context.Context, db driver.Conn) ([]DueVehicle, error) {
	return schemas.AllRows(ctx, db, "find vehicles that hold themselves", schemas.Query("vehicles_left_held"), nil,
		func(v *DueVehicle, row schemas.Row) error {
			var account, vehicle uint64
			if err := row.Scan(&account, &vehicle); err != nil {
				return err
			}
			*v = DueVehicle{Account: fleet.AccountID(account), Vehicle: vehicle}
			return nil
		})
}

// VehicleBacking says whether an account has classes and locations, and whether a class (0 for none) has a price.
func VehicleBacking(ctx context.Context, db driver.Conn, account fleet.AccountID,
	class uint64) (classes, locations, rate bool, err error) {
	err = db.QueryRow(ctx, schemas.Query("vehicle_backing"), clickhouse.Named("account", uint64(account)),
		clickhouse.Named("class", class)).
		Scan(&classes, &locations, &rate)
	if err != nil {
		err = fmt.Errorf("read what a vehicle is rented by: %w", err)
	}
	return classes, locations, rate, err
}

// Hindrances returns the ids of a vehicle's open safety-critical issues, and of the work orders that are being
// carried out on it.
func Hindrances(ctx context.Context, db driver.Conn, account fleet.AccountID,
	vehicle uint64) (issues, work []string, err error) {
	err = schemas.EachRow(ctx, db, "read what keeps a vehicle", schemas.Query("vehicle_hindrances"), []any{
		clickhouse.Named("account", uint64(account)),
		clickhouse.Named("vehicle", fleet.FormatID(fleet.VehiclePrefix, vehicle)),
	}, func(row schemas.Row) error {
		var kind string
		var id uint64
		if err := row.Scan(&kind, &id); err != nil {
			return err
		}
		if kind == "issue" {
			issues = append(issues, fleet.FormatID(fleet.IssuePrefix, id))
		} else {
			work = append(work, fleet.FormatID(fleet.WorkOrderPrefix, id))
		}
		return nil
	})
	return issues, work, err
}
