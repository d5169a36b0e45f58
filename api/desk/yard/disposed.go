package yard

import (
	"context"
	"fmt"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/query"
)

// disposed says whether a vehicle has left the fleet, by its disposal_on where it is.
func (d *Yard) disposed(ctx context.Context, r *record.Record[record.Vehicle]) (bool, error) {
	if r.Body.DisposalOn == "" {
		return false, nil
	}
	home, err := base.Recall(ctx, d.Accounts, r.Account, uint64(r.Account))
	if err != nil {
		return false, err
	}
	_, until := record.InFleet(&r.Body.VehicleFields, r.Body.Timezone, home.Body.Timezone)
	return !until.IsZero() && !d.Now().Before(until), nil
}

// takeOutDisposed takes vehicles out of service whose disposal_on has come. It does not retire them, as nobody could
// take that back.
func (d *Yard) takeOutDisposed(ctx context.Context) error {
	found, err := query.VehiclesDisposed(ctx, d.DB, d.Now())
	if err != nil {
		return err
	}
	return base.Each(ctx, found, func(v query.DueVehicle) error {
		err := d.follow(ctx, record.System, v.Account, v.Vehicle, func(r *record.Record[record.Vehicle]) error {
			switch r.Body.Status {
			case record.VehicleAvailable, record.VehicleTurnaround, record.VehicleMaintenance:
			default:
				return nil
			}
			if gone, err := d.disposed(ctx, r); err != nil || !gone {
				return err
			}
			return d.takeOut(r)
		})
		if err != nil {
			return fmt.Errorf("vehicle %d: %w", v.Vehicle, err)
		}
		return nil
	})
}

// takeOut takes a vehicle out of service that was disposed of.
func (d *Yard) takeOut(r *record.Record[record.Vehicle]) error {
	return rental.MoveVehicle(r,
		rental.VehicleMove{To: record.VehicleOutOfService, Reason: "disposed of on " + r.Body.DisposalOn}, d.Now())
}

// refuseDisposed refuses to make a vehicle available that has left the fleet.
func (d *Yard) refuseDisposed(ctx context.Context, r *record.Record[record.Vehicle]) error {
	gone, err := d.disposed(ctx, r)
	if err != nil || !gone {
		return err
	}
	return fleet.NewError(fleet.CodeConflict, "The vehicle has left the fleet by its disposal_on "+r.Body.DisposalOn+
		". Retire it, or correct that day first.")
}
