package yard

import (
	"context"
	"errors"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/record"
)

// Block takes a vehicle off the road for a time, under an id: it takes the calendar first, and a
// *calendar.ConflictError names what is in the way. A repeated one gives what the first time gave.
func (d *Yard) Block(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	b record.Block) (record.Record[record.Block], error) {
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
		return record.Record[record.Block]{}, fleet.NewError(fleet.CodeConflict,
			"The vehicle "+b.VehicleID+" is archived and cannot be blocked.")
	}
	if err := d.fetched(ctx, account, &v, id, &b.BlockFields); err != nil {
		return record.Record[record.Block]{}, err
	}
	_, hold := blockHold(id, &b)
	hold.Rev, hold.Bid = 1, record.RandomID()
	// a hold that nothing is written for by then counts as abandoned soon after
	ctx, cancel := context.WithTimeout(ctx, d.WriteWithin)
	defer cancel()
	if err := d.takeBlock(ctx, by, account, nil, hold, &v); err != nil {
		return record.Record[record.Block]{}, err
	}
	rec, _, err := d.Blocks.Create(ctx, by, account, id, b)
	if errors.Is(err, record.ErrTaken) {
		return rec, errors.Join(err, d.Calendars.Withdraw(ctx, by, account, vehicle, *hold))
	}
	return rec, err // a hold that no block wants lapses
}

// blockHold is the hold that a block wants, and of which vehicle. That of overdue maintenance keeps no booking
// from its vehicle.
func blockHold(id uint64, b *record.Block) (uint64, *calendar.Hold) {
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, b.VehicleID)
	if err != nil {
		return 0, nil
	}
	return vehicle, &calendar.Hold{Ref: fleet.FormatID(fleet.BlockPrefix, id), From: b.From, Until: b.Until,
		Conflict: b.SourceID != "",
		Begins:   b.FromLocationID, Ends: b.ToLocationID}
}

// fetched completes a transfer: it begins where the vehicle will be, unless it says so itself.
func (d *Yard) fetched(ctx context.Context, account fleet.AccountID, v *record.Record[record.Vehicle], id uint64,
	b *record.BlockFields) error {
	for pointer, text := range map[string]string{"/from_location_id": b.FromLocationID,
		"/to_location_id": b.ToLocationID} {
		if text == "" {
			continue
		}
		if err := d.LocationExists(ctx, account, pointer, text); err != nil {
			return err
		}
	}
	if b.ToLocationID == "" || b.FromLocationID != "" {
		return nil
	}
	var err error
	b.FromLocationID, err = d.Holds.PlaceAt(ctx, account, v, b.From.Time, fleet.FormatID(fleet.BlockPrefix, id))
	return err
}

// takeBlock takes what a block wants in the place of what it has, which may be nil. One that moves the vehicle, or does
// not any more, is refused as a booking would be: if somebody needs the vehicle elsewhere, or its class what it leaves.
// One that does not may be for a fault, and asks nobody.
func (d *Yard) takeBlock(ctx context.Context, by record.Author, account fleet.AccountID, had, want *calendar.Hold,
	v *record.Record[record.Vehicle]) error {
	all, err := d.Calendars.Take(ctx, by, account, v.ID, *want)
	if err != nil || want.Ends == "" && (had == nil || had.Ends == "") {
		return err
	}
	b := &holding.Bid{At: holding.Place{Vehicle: v.ID}, Hold: *want, Beside: all.Standing(d.Now())}
	var gives *calendar.Bid
	if had != nil {
		gives = &calendar.Bid{Vehicle: v.ID, Hold: *had}
	}
	err = d.Holds.Capacity(ctx, by, account, b, gives, 0, 0, holding.AlreadyRead{Vehicle: v})
	if err != nil {
		d.Holds.Withdraw(ctx, by, account, b)
	}
	return err
}

// MayGiveUp refuses to archive a transfer that is not over while bookings need the vehicle where it brings it. Who
// books at the same moment is not seen.
func (d *Yard) MayGiveUp(ctx context.Context, r *record.Record[record.Block]) error {
	vehicle, had := blockHold(r.ID, &r.Body)
	if had == nil || had.Ends == "" || !had.Until.After(d.Now()) || r.Archived() {
		return nil
	}
	v, err := d.Vehicles.Get(ctx, r.Account, vehicle)
	if err != nil {
		return err
	}
	holds, err := d.Calendars.Of(ctx, r.Account, vehicle)
	if err != nil {
		return err
	}
	there := holding.VehicleWith(&v, (&calendar.Calendar{Holds: holds}).Standing(d.Now()))
	if h, wrong := there.Displaced(had.Ref, had, nil); wrong != nil {
		return d.Holds.IsElsewhere(ctx, r.Account, &v, had.Ref, h, wrong)
	}
	return d.Holds.RoomWithout(ctx, r.Account, &v, &calendar.Bid{Vehicle: vehicle, Hold: *had})
}

// ChangeBlock changes a block. A time that it does not have yet it takes in the calendar first, beside what it has;
// what follows from the written revision leaves of the two what the block says (settleBlock). A bid whose change was
// not written counts as abandoned after a while.
func (d *Yard) ChangeBlock(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	mutate func(*record.Record[record.Block]) error) (record.Record[record.Block], error) {
	return d.Blocks.Update(ctx, by, account, id, 0, func(r *record.Record[record.Block]) error {
		_, had := blockHold(id, &r.Body)
		if err := mutate(r); err != nil {
			return err
		}
		vehicle, want := blockHold(id, &r.Body)
		if want == nil || holding.Within(want, had) && want.SamePlaces(had) {
			return nil
		}
		v, err := d.Vehicles.Get(ctx, account, vehicle)
		if err != nil {
			return err
		}
		if err := d.fetched(ctx, account, &v, id, &r.Body.BlockFields); err != nil {
			return err
		}
		want.Begins = r.Body.FromLocationID
		want.Rev, want.Bid, want.Conflict = r.Revision+1, record.RandomID(), false
		return d.takeBlock(ctx, by, account, had, want, &v)
	})
}

// settleBlock makes the calendar of a vehicle say what a block says by now.
func (d *Yard) settleBlock(ctx context.Context, by record.Author, account fleet.AccountID, id, vehicle uint64) error {
	return d.Calendars.SettleHolder(ctx, by, account, vehicle, fleet.FormatID(fleet.BlockPrefix, id),
		func(ctx context.Context) (uint64, *calendar.Hold, error) {
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

// blockWants says whether a block wants a hold of its vehicle.
func (d *Yard) blockWants(ctx context.Context, account fleet.AccountID, id uint64, at holding.Place,
	h calendar.Hold) (bool, error) {
	r, err := d.Blocks.Get(ctx, account, id)
	if err != nil || r.Archived() {
		return false, err
	}
	vehicle, want := blockHold(id, &r.Body)
	if vehicle != at.Vehicle {
		return false, nil
	}
	return holding.Standing(&h, r.Revision, want, func() error {
		return d.settleBlock(ctx, record.System, account, id, vehicle)
	})
}
