package desk

import (
	"context"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/record"
)

// Block takes a vehicle off the road for a time, under an id: it takes the calendar first, and a *calendar.ConflictError names what
// is in the way. A repeated one gives what the first time gave.
func (d *Desk) Block(ctx context.Context, by record.Author, account fleet.AccountID, id uint64, b record.Block) (record.Record[record.Block], error) {
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
	if err := d.TakeBlock(ctx, by, account, id, &b); err != nil {
		return record.Record[record.Block]{}, err
	}
	rec, _, err := d.Blocks.Create(ctx, by, account, id, b)
	return rec, err // a hold that no block wants lapses
}

// TakeBlock takes the calendar for a block as it is to be. If the block is not written then, its old time is taken again by whoever
// writes it next; until then it holds too much or too little, never what another holds.
func (d *Desk) TakeBlock(ctx context.Context, by record.Author, account fleet.AccountID, id uint64, b *record.Block) error {
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, b.VehicleID)
	if err != nil {
		return err
	}
	_, err = d.Calendars.Take(ctx, by, account, vehicle, calendar.Hold{Ref: fleet.FormatID(fleet.BlockPrefix, id), From: b.From, Until: b.Until})
	return err
}
