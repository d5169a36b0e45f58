package desk

import (
	"context"
	"fmt"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// Read writes a meter reading under an id. A meter does not run backwards: a reading below a valid one before it, or above a valid
// one after it, is written as voided, and says why.
func (d *Desk) Read(ctx context.Context, by record.Author, account fleet.AccountID, id uint64, m record.MeterReading) (record.Record[record.MeterReading], error) {
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, m.VehicleID)
	if err != nil {
		return record.Record[record.MeterReading]{}, err
	}
	before, after, err := query.MetersAround(ctx, d.DB, account, vehicle, m.Meter, m.RecordedAt.Time, id)
	if err != nil {
		return record.Record[record.MeterReading]{}, err
	}
	name := func(n *query.MeterNeighbour) string {
		return fmt.Sprintf("%s, %v at %s", fleet.FormatID(fleet.MeterReadingPrefix, n.ID), n.Value, n.At.UTC().Format(time.RFC3339))
	}
	switch {
	case before != nil && m.Value < before.Value:
		m.Voided, m.VoidReason = true, "is lower than the reading before it: "+name(before)
	case after != nil && m.Value > after.Value:
		m.Voided, m.VoidReason = true, "is higher than the reading after it: "+name(after)
	}
	rec, _, err := d.Readings.Create(ctx, by, account, id, m)
	return rec, err
}

// VoidReading takes a reading back. Voiding one that is voided changes nothing.
func (d *Desk) VoidReading(ctx context.Context, by record.Author, account fleet.AccountID, id uint64, reason string, check func(*record.Record[record.MeterReading]) error) (record.Record[record.MeterReading], error) {
	return d.Readings.Update(ctx, by, account, id, 0, func(r *record.Record[record.MeterReading]) error {
		if err := check(r); err != nil || r.Body.Voided {
			return err
		}
		r.Body.Voided, r.Body.VoidReason = true, reason
		return nil
	})
}

// readAt writes the odometer as a booking or a work order tells it, under an id made of what it tells.
func (d *Desk) readAt(ctx context.Context, w record.Written, source, ref, vehicle string, miles *int, at record.Instant) error {
	id, err := fleet.ParseID(fleet.VehiclePrefix, vehicle)
	if miles == nil || err != nil {
		return nil
	}
	if at.IsZero() {
		at = record.InstantOf(w.At)
	}
	name := fleet.DerivedID(fleet.Kind("meter_reading."+source), fleet.VehicleKey{Account: w.Account, Vehicle: fleet.VehicleID(id)}, fleet.MillisOf(at.Time), w.ID)
	_, err = d.Read(ctx, follows(w), w.Account, name, record.MeterReading{VehicleID: vehicle, Meter: query.Odometer, Value: float64(*miles),
		RecordedAt: at, Source: source, SourceID: ref})
	return err
}

// bookingReads writes the odometer as it was told when a vehicle was handed over.
func (d *Desk) bookingReads(ctx context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.Booking](w)
	if err != nil {
		return err
	}
	if before == nil {
		before = &record.Booking{}
	}
	ref := fleet.FormatID(fleet.BookingPrefix, w.ID)
	// A vehicle that was swapped for another was given back, and the other was taken.
	for i := len(before.VehicleSwaps); i < len(after.VehicleSwaps); i++ {
		s := &after.VehicleSwaps[i]
		if err := d.readAt(ctx, w, "return", ref, s.VehicleID, s.MileageMi, s.Until); err != nil {
			return err
		}
	}
	if !sameMiles(before.PickupMileageMi, after.PickupMileageMi) {
		at := after.ActualPickupAt
		if n := len(after.VehicleSwaps); n > 0 && after.VehicleSwaps[n-1].Until.After(at.Time) {
			at = after.VehicleSwaps[n-1].Until
		}
		if err := d.readAt(ctx, w, "pickup", ref, after.VehicleID, after.PickupMileageMi, at); err != nil {
			return err
		}
	}
	if sameMiles(before.ReturnMileageMi, after.ReturnMileageMi) {
		return nil
	}
	return d.readAt(ctx, w, "return", ref, after.VehicleID, after.ReturnMileageMi, after.ActualReturnAt)
}

// workReads writes the odometer as a work order tells it when it is completed.
func (d *Desk) workReads(ctx context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.WorkOrder](w)
	if err != nil || after.Status != record.WorkCompleted || before != nil && before.Status == record.WorkCompleted && sameMiles(before.MileageMi, after.MileageMi) {
		return err
	}
	return d.readAt(ctx, w, "work_order", fleet.FormatID(fleet.WorkOrderPrefix, w.ID), after.VehicleID, after.MileageMi, after.CompletedAt)
}

func sameMiles(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }
