package desk

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// MatchToll finds the vehicle that bore the plate when a toll was due, and the booking that had it then: from its actual pickup until its
// actual return, or until now. What is not found, or not told apart, stays empty.
func (d *Desk) MatchToll(ctx context.Context, account fleet.AccountID, t *record.TollFields) (vehicle, booking string, err error) {
	at := fleet.MillisOf(t.OccurredAt.Time)
	vehicles, err := query.VehiclesWithPlate(ctx, d.DB, account, t.Plate, t.Region, at)
	if err != nil || len(vehicles) != 1 {
		return "", "", err
	}
	vehicle = fleet.FormatID(fleet.VehiclePrefix, vehicles[0])
	out, err := query.BookingsOut(ctx, d.DB, account, vehicles[0], at)
	if err != nil {
		return "", "", err
	}
	found := 0
	for _, stored := range out {
		var b record.Booking
		if err := json.Unmarshal([]byte(stored.Body), &b); err != nil {
			return "", "", fmt.Errorf("decode booking %d: %w", stored.ID, err)
		}
		if VehicleAt(&b, t.OccurredAt.Time) == vehicle {
			booking, found = fleet.FormatID(fleet.BookingPrefix, stored.ID), found+1
		}
	}
	if found > 1 || t.OccurredAt.After(d.Now()) {
		booking = ""
	}
	return vehicle, booking, nil
}

// VehicleAt is the vehicle that a booking had at a time, empty if it has none.
func VehicleAt(b *record.Booking, at time.Time) string {
	for _, swap := range b.VehicleSwaps {
		if at.Before(swap.Until.Time) {
			return swap.VehicleID
		}
	}
	return b.VehicleID
}

// BillToll charges a matched toll, and the fee for handling it, to its booking. Repeating it charges nothing twice.
func (d *Desk) BillToll(ctx context.Context, by record.Author, account fleet.AccountID, id uint64, check func(*record.Record[record.Toll]) error) (record.Record[record.Toll], error) {
	name := fleet.FormatID(fleet.TollPrefix, id)
	rec, err := d.Tolls.Get(ctx, account, id)
	if err != nil {
		return rec, err
	}
	if err := check(&rec); err != nil {
		return rec, err
	}
	trial := rec.Body
	if trial.ChargeID == "" && trial.Status == record.TollDisputed {
		trial.Status = record.TollMatched // the dispute is over: it is charged all the same
	}
	if err := trial.Move(name, record.TollBilled); err != nil {
		return rec, err
	}
	booking, err := fleet.ParseID(fleet.BookingPrefix, rec.Body.BookingID)
	if err != nil {
		return rec, fmt.Errorf("toll %d is %s: %w", id, rec.Body.Status, err)
	}
	charge := tollCharge(id, "toll")
	order := Order{By: by, Account: account, Booking: booking}
	line := func(chargeID, what string, amount record.Money) record.Charge {
		return record.Charge{ID: chargeID, Type: rec.Body.Kind, Description: what, Quantity: 1, UnitPrice: amount, Amount: amount, Source: "import", TollID: name,
			PostedAt: record.InstantOf(d.Now())}
	}
	if _, err := d.AddCharge(ctx, order, line(charge, rec.Body.Agency+" "+rec.Body.OccurredAt.UTC().Format("2006-01-02 15:04"), rec.Body.Amount)); err != nil {
		return rec, err
	}
	if fee := rec.Body.AdminFee; fee != nil && fee.Amount > 0 {
		if _, err := d.AddCharge(ctx, order, line(tollCharge(id, "fee"), "Handling fee", *fee)); err != nil {
			return rec, err
		}
	}
	return d.Tolls.Update(ctx, by, account, id, 0, func(r *record.Record[record.Toll]) error {
		if r.Body.Status == record.TollBilled {
			return nil
		}
		if r.Body.BookingID != rec.Body.BookingID {
			return fleet.NewError(fleet.CodeConflict, "The toll was matched with another booking meanwhile.")
		}
		r.Body.ChargeID = charge
		return r.Body.Move(name, record.TollBilled)
	})
}

// tollCharge names a charge of a toll by what it is.
func tollCharge(id uint64, what string) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "toll %d %s", id, what)
	return fleet.FormatID(fleet.ChargePrefix, max(h.Sum64()>>1, 1))
}
