package yard

import (
	"context"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/query"
)

// ConfirmMileage is what is sent in confirm to say that an odometer reading is right, however far from the vehicle's
// odometer it is.
const ConfirmMileage = "mileage"

// Doubts collects what of a request may be a typing error.
type Doubts struct {
	Confirmed []string
	faults    []fleet.FieldError
}

// Odometer looks at what was read off the odometer of a vehicle, nil for nothing, beside the readings that are near and
// others that are to count. The pointer is into the body.
func (q *Doubts) Odometer(vehicle string, at time.Time, miles *int, pointer string, near nearby,
	others ...rental.Reading) {
	if miles == nil || slices.Contains(q.Confirmed, ConfirmMileage) {
		return
	}
	for _, n := range []*query.MeterNeighbour{near.Before, near.After, near.Told} {
		if n != nil {
			others = append(others, rental.Reading{At: n.At, Mi: n.Value})
		}
	}
	var before, after *rental.Reading
	for i := range others {
		o := &others[i]
		if !o.At.After(at) && (before == nil || o.At.After(before.At)) {
			before = o
		} else if o.At.After(at) && (after == nil || o.At.Before(after.At)) {
			after = o
		}
	}
	if before == nil {
		before = near.acquired
	}
	if why := rental.Doubtful(rental.Reading{At: at, Mi: float64(*miles)}, before, after); why != "" {
		q.faults = append(q.faults, fleet.FieldError{Pointer: pointer, Code: "implausible",
			Detail: "The odometer of " + vehicle + " would show " + why})
	}
}

// Err is a *DoubtError if there are doubts.
func (q *Doubts) Err() error {
	if q.faults == nil {
		return nil
	}
	return &record.DoubtError{Confirm: []string{ConfirmMileage}, Faults: q.faults}
}

// nearby is what is known of a vehicle's odometer around an instant.
type nearby struct {
	query.Around
	acquired *rental.Reading // as noted when the vehicle was acquired, if it was
}

// Near returns the readings of a vehicle's odometer next to an instant, but for some; none if nothing was read then.
func (d *Yard) Near(ctx context.Context, account fleet.AccountID, vehicle string, at time.Time, miles *int,
	but ...uint64) (nearby, error) {
	id, err := fleet.ParseID(fleet.VehiclePrefix, vehicle)
	if err != nil || miles == nil {
		return nearby{}, nil
	}
	var found nearby
	if found.Around, err = d.Reads.MetersAround(ctx, account, id, query.Odometer, at, but...); err != nil {
		return nearby{}, err
	}
	v, err := base.Recall(ctx, d.Vehicles, account, id)
	if err != nil && fleet.CodeOf(err) != fleet.CodeNotFound {
		return nearby{}, err
	}
	found.acquired = acquiredWith(&v, at)
	return found, nil
}

// acquiredWith is what the odometer of a vehicle showed when it was acquired, if that was noted: on the day that was
// given, else when it came into the records, and in any case by an instant at which it was read.
func acquiredWith(v *record.Record[record.Vehicle], by time.Time) *rental.Reading {
	miles := v.Body.AcquisitionMileageMi
	if miles == nil {
		return nil
	}
	at, err := time.Parse(time.DateOnly, v.Body.AcquiredOn)
	if err != nil {
		at = v.CreatedAt
	}
	if at.After(by) {
		at = by
	}
	return &rental.Reading{At: at, Mi: float64(*miles), Acquired: true}
}

// Above is what an odometer was read as before, if that is a mile more than the miles or more; else nil.
func Above(near nearby, miles *int) *float64 {
	if n := near.Before; n != nil && miles != nil && n.Value >= float64(*miles+1) {
		return &n.Value
	}
	return nil
}

// Believed is a *DoubtError unless the odometer of a vehicle may well have shown some miles at an instant, or that was
// confirmed; others are readings that count beside those that are known. It returns what the odometer was read as
// before, if that is more.
func (d *Yard) Believed(
	ctx context.Context, account fleet.AccountID, vehicle string, at time.Time, miles *int, pointer string,
	confirmed []string, others ...rental.Reading,
) (*float64, error) {
	near, err := d.Near(ctx, account, vehicle, at, miles)
	if err != nil {
		return nil, err
	}
	q := Doubts{Confirmed: confirmed}
	q.Odometer(vehicle, at, miles, pointer, near, others...)
	return Above(near, miles), q.Err()
}

// TakenWith is what the odometer of a vehicle showed when a rental took it: whoever confirmed that does not
// confirm it again.
func TakenWith(l rental.Leg) []rental.Reading {
	if *l.Taken == nil {
		return nil
	}
	return []rental.Reading{{At: l.From.Time, Mi: float64(**l.Taken)}}
}
