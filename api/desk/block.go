package desk

import (
	"context"
	"errors"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/record"
)

// Block takes a vehicle off the road for a time, under an id: it takes the calendar first, and a *calendar.ConflictError names what
// is in the way. A repeated one gives what the first time gave.
func (d *Desk) Block(ctx context.Context, by record.Author, account fleet.AccountID, id uint64, b record.Block) (record.Record[record.Block], error) {
	if there, err := d.Blocks.Get(ctx, account, id); err == nil {
		return there, d.Blocks.Own(ctx, by, account, id)
	} else if fleet.CodeOf(err) != fleet.CodeNotFound {
		return there, err
	}
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, b.VehicleID)
	if err != nil {
		return record.Record[record.Block]{}, err
	}
	v, err := d.Vehicles.Get(ctx, account, vehicle)
	if err != nil {
		return record.Record[record.Block]{}, err
	}
	if v.Archived() {
		return record.Record[record.Block]{}, fleet.NewError(fleet.CodeConflict, "The vehicle "+b.VehicleID+" is archived and cannot be blocked.")
	}
	_, hold := blockHold(id, &b)
	hold.Rev, hold.Bid = 1, record.RandomID()
	ctx, cancel := context.WithTimeout(ctx, d.writeWithin) // a hold that nothing is written for by then counts as abandoned soon after
	defer cancel()
	if _, err := d.Calendars.Take(ctx, by, account, vehicle, *hold); err != nil {
		return record.Record[record.Block]{}, err
	}
	rec, _, err := d.Blocks.Create(ctx, by, account, id, b)
	if errors.Is(err, record.ErrTaken) {
		return rec, errors.Join(err, d.Calendars.Withdraw(ctx, by, account, vehicle, *hold))
	}
	return rec, err // a hold that no block wants lapses
}

// blockHold is the hold that a block wants, and of which vehicle. That of overdue maintenance keeps no booking from its vehicle.
func blockHold(id uint64, b *record.Block) (uint64, *calendar.Hold) {
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, b.VehicleID)
	if err != nil {
		return 0, nil
	}
	return vehicle, &calendar.Hold{Ref: fleet.FormatID(fleet.BlockPrefix, id), From: b.From, Until: b.Until, Conflict: b.SourceID != ""}
}

// ChangeBlock changes a block. A time that it does not have yet it takes in the calendar first, beside what it has; what follows from the
// written revision leaves of the two what the block says (settleBlock). A bid whose change was not written counts as abandoned after a while.
func (d *Desk) ChangeBlock(ctx context.Context, by record.Author, account fleet.AccountID, id uint64, mutate func(*record.Record[record.Block]) error) (record.Record[record.Block], error) {
	return d.Blocks.Update(ctx, by, account, id, 0, func(r *record.Record[record.Block]) error {
		_, had := blockHold(id, &r.Body)
		if err := mutate(r); err != nil {
			return err
		}
		vehicle, want := blockHold(id, &r.Body)
		if want == nil || within(want, had) {
			return nil
		}
		want.Rev, want.Bid, want.Conflict = r.Revision+1, record.RandomID(), false
		_, err := d.Calendars.Take(ctx, by, account, vehicle, *want)
		return err
	})
}

// settleBlock makes the calendar of a vehicle say what a block says by now.
func (d *Desk) settleBlock(ctx context.Context, by record.Author, account fleet.AccountID, id, vehicle uint64) error {
	return d.Calendars.Settle(ctx, by, account, vehicle, fleet.FormatID(fleet.BlockPrefix, id), func(ctx context.Context) (uint64, *calendar.Hold, error) {
		r, err := d.Blocks.Get(ctx, account, id)
		if err != nil {
			return 0, nil, err
		}
		of, hold := blockHold(id, &r.Body)
		if of != vehicle || r.Archived() {
			hold = nil
		}
		return r.Revision, hold, nil
	})
}
