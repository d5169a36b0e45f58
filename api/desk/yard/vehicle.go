package yard

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/desk/holding"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/query"
)

// vehicles has the states of vehicles, and their meters, follow from bookings, work orders and blocks, and from time.
func (d *Yard) vehicles() {
	d.Holds.AnswerFor(fleet.BlockPrefix, d.blockWants)
	d.Holds.AnswerFor(fleet.VehiclePrefix, d.vehicleWants)
	d.Store.Then(record.Bookings.Name, "vehicle states", d.bookingMoves)
	d.Store.Beside(record.Bookings.Name, "meter readings", d.BookingReads)
	d.Store.Then(record.WorkOrders.Name, "vehicle states", d.workMoves)
	d.Store.Then(record.WorkOrders.Name, "meter readings", d.workReads)
	d.Store.Then(record.Blocks.Name, "vehicle states", d.blockMoves)
	d.AddDuty("vehicle states", 10*time.Second, d.moveDue)
	d.AddDuty("vehicle holds", time.Minute, d.giveBackLeft)
	d.AddDuty("vehicles that were disposed of", 10*time.Minute, d.takeOutDisposed)
}

// ByHand is a move of a vehicle by hand. To retire it, its disposal must be recorded, here or before.
type ByHand struct {
	Status, Reason string
	DisposalOn     string
	DisposalPrice  *record.Money
}

// MoveVehicle moves a vehicle to another state by hand. check, if not nil, may refuse the revision that the move is
// made upon. A move that the state does not allow is a *record.TransitionError. A vehicle is put in service with a
// class, a price and a place only, comes out of turnaround only without an open safety-critical issue, is available
// only before it is disposed of, and is retired only if no booking wants it any more: then it holds its own calendar
// for ever, so that none can come.
func (d *Yard) MoveVehicle(ctx context.Context, by record.Author, account fleet.AccountID, id uint64, m ByHand,
	check func(*record.Record[record.Vehicle]) error) (record.Record[record.Vehicle], error) {
	before, err := d.Vehicles.Get(ctx, account, id)
	if err != nil {
		return before, err
	}
	retires := m.Status == record.VehicleRetired && rental.MayMoveVehicle(before.Body.Status, m.Status, true)
	if retires {
		if m.DisposalOn == "" && before.Body.DisposalOn == "" {
			return before, fleet.NewError(fleet.CodeValidation, "A vehicle is retired when it was disposed of: say when.",
				fleet.FieldError{Pointer: "/disposal_on", Code: "required",
					Detail: "is needed to retire a vehicle that has no disposal_on yet"})
		}
	}
	if err := d.fit(ctx, &before, m.Status); err != nil {
		return before, err
	}
	leaving := d.Leave(by, account, id)
	if retires {
		if err := leaving.takeCalendar(ctx, "be retired"); err != nil {
			leaving.Done(ctx, err)
			return before, err
		}
	}
	rec, err := d.Vehicles.Update(ctx, by, account, id, 0, func(r *record.Record[record.Vehicle]) error {
		if check != nil {
			if err := check(r); err != nil {
				return err
			}
		}
		if r.Body.Status == m.Status && r.Body.StatusReason == m.Reason {
			return nil
		}
		if err := rental.MoveVehicle(r, rental.VehicleMove{To: m.Status, Reason: m.Reason}, d.Now()); err != nil {
			return err
		}
		if retires && m.DisposalOn != "" {
			r.Body.DisposalOn = m.DisposalOn
		}
		if retires && m.DisposalPrice != nil {
			r.Body.DisposalPrice = m.DisposalPrice
		}
		return nil
	})
	leaving.Done(ctx, err)
	return rec, err
}

// Leaving is one attempt to archive or retire a vehicle, which holds its own calendar meanwhile, so that no booking can
// come in between, nor later. Several may be under way at once: each has a hold of its own, so that one which comes to
// nothing takes nothing from another.
type Leaving struct {
	desk    *Yard
	by      record.Author
	account fleet.AccountID
	vehicle uint64
	hold    calendar.Hold // zero before it was taken
}

// Leave begins an attempt, of which Done must be told what became of it.
func (d *Yard) Leave(by record.Author, account fleet.AccountID, vehicle uint64) *Leaving {
	return &Leaving{desk: d, by: by, account: account, vehicle: vehicle}
}

// MayArchive refuses to archive a vehicle that is rented, or that bookings want. One that may be archived holds
// its own calendar.
func (l *Leaving) MayArchive(ctx context.Context, r *record.Record[record.Vehicle]) error {
	if r.Body.Status == record.VehicleRented {
		return fleet.NewError(fleet.CodeConflict, "The vehicle is rented and cannot be archived before it is back.")
	}
	return l.takeCalendar(ctx, "be archived")
}

// Done gives up the attempt's hold after an error. After one that leaves open whether the vehicle was archived or
// retired it may be wanted: then it is for the duty, as is what cannot be given up now.
func (l *Leaving) Done(ctx context.Context, err error) {
	if err == nil || l.hold.Ref == "" || fleet.CodeOf(err) == fleet.CodeUnavailable {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.desk.WriteWithin)
	defer cancel()
	_ = l.desk.Calendars.Withdraw(ctx, l.by, l.account, l.vehicle, l.hold)
}

// takeCalendar has the vehicle hold its own calendar from now on, unless a booking wants it: what it is to do then is
// for the refusal.
func (l *Leaving) takeCalendar(ctx context.Context, what string) error {
	d, now := l.desk, l.desk.Now()
	if err := d.unbooked(ctx, l.account, l.vehicle, now, what); err != nil {
		return err
	}
	if l.hold.Ref == "" {
		l.hold = calendar.Hold{Ref: fleet.FormatID(fleet.VehiclePrefix, l.vehicle), From: record.InstantOf(now),
			Until: record.InstantOf(calendar.ForEver), Conflict: true, Bid: record.RandomID()}
	}
	all, err := d.Calendars.Take(ctx, l.by, l.account, l.vehicle, l.hold)
	if err == nil && len(all.Beside(&l.hold, now)) > 0 {
		// Blocks and buffers may stand; a booking that came in between may not.
		err = d.unbooked(ctx, l.account, l.vehicle, now, what)
	}
	return err
}

// leftForGood says whether a vehicle is not rented ever again.
func leftForGood(r *record.Record[record.Vehicle]) bool {
	return r.Body.Status == record.VehicleRetired || r.Archived()
}

// giveBackLeft gives up the holds that vehicles have of their own calendars since whoever was to archive or
// retire them died.
func (d *Yard) giveBackLeft(ctx context.Context) error {
	left, err := query.VehiclesLeftHeld(ctx, d.DB)
	if err != nil {
		return err
	}
	return base.Each(ctx, left, func(v query.DueVehicle) error {
		holds, err := d.Calendars.Of(ctx, v.Account, v.Vehicle)
		if err != nil {
			return fmt.Errorf("vehicle %d: %w", v.Vehicle, err)
		}
		for _, h := range holds {
			if h.Ref != fleet.FormatID(fleet.VehiclePrefix, v.Vehicle) {
				continue
			}
			abandoned, err := d.Calendars.Abandoned(ctx, v.Account, v.Vehicle, h)
			if err == nil && abandoned {
				err = d.Calendars.Withdraw(ctx, record.System, v.Account, v.Vehicle, h)
			}
			if err != nil {
				return fmt.Errorf("vehicle %d: %w", v.Vehicle, err)
			}
		}
		return nil
	})
}

// unbooked refuses if bookings that are not over hold the vehicle now or later, and names them.
func (d *Yard) unbooked(ctx context.Context, account fleet.AccountID, id uint64, now time.Time, what string) error {
	holds, err := d.Calendars.Of(ctx, account, id)
	if err != nil {
		return err
	}
	var faults []fleet.FieldError
	for i := range holds {
		h := &holds[i]
		booking, err := fleet.ParseID(fleet.BookingPrefix, h.Ref)
		if err != nil || !h.Until.After(now) || !h.Expires.IsZero() && !now.Before(h.Expires.Time) {
			continue
		}
		b, err := d.Bookings.Get(ctx, account, booking)
		if err != nil && fleet.CodeOf(err) != fleet.CodeNotFound {
			return err
		}
		if err == nil && b.Body.Holding() && b.Body.Status != record.BookingCompleted &&
			b.Body.VehicleID == fleet.FormatID(fleet.VehiclePrefix, id) {
			faults = append(faults, fleet.FieldError{Pointer: "/status", Code: "booked",
				Detail: fmt.Sprintf("%s is %s from %s until %s", h.Ref, b.Body.Status, h.From.Format(time.RFC3339),
					h.Until.Format(time.RFC3339))})
		}
	}
	if faults == nil {
		return nil
	}
	return fleet.NewError(fleet.CodeConflict,
		fmt.Sprintf("The vehicle cannot %s while bookings want it; give them another first.", what), faults...)
}

// fit refuses to make a vehicle available that must not be.
func (d *Yard) fit(ctx context.Context, r *record.Record[record.Vehicle], to string) error {
	if to != record.VehicleAvailable || !rental.MayMoveVehicle(r.Body.Status, to, true) {
		return nil
	}
	if err := d.refuseDisposed(ctx, r); err != nil {
		return err
	}
	switch r.Body.Status {
	case record.VehicleInactive:
		class, _ := fleet.ParseID(fleet.ClassPrefix, r.Body.ClassID) // 0 for none
		classes, locations, rate, err := query.VehicleBacking(ctx, d.DB, r.Account, class)
		if err != nil {
			return err
		}
		if faults := rental.UnfitForService(&r.Body,
			rental.Backing{Classes: classes, Locations: locations, Rate: rate}); faults != nil {
			return fleet.Invalid(faults...)
		}
	case record.VehicleTurnaround:
		return d.Safe(ctx, r.Account, r.ID)
	}
	return nil
}

// Safe refuses a vehicle that nobody ought to drive.
func (d *Yard) Safe(ctx context.Context, account fleet.AccountID, vehicle uint64) error {
	issues, _, err := d.Reads.Hindrances(ctx, account, vehicle)
	if err != nil || issues == nil {
		return err
	}
	return fleet.NewError(fleet.CodeConflict, "The vehicle has open issues that are critical to safety: "+
		strings.Join(issues, ", ")+". Resolve them first, or take another vehicle.")
}

// follow changes the state of a vehicle as a consequence of something. A vehicle that is not there, or archived,
// is left alone.
func (d *Yard) follow(ctx context.Context, by record.Author, account fleet.AccountID, id uint64,
	change func(*record.Record[record.Vehicle]) error) error {
	if d.Past {
		return nil
	}
	_, err := d.Vehicles.Update(ctx, by, account, id, 0, change)
	switch fleet.CodeOf(err) {
	case fleet.CodeNotFound, fleet.CodeConflict:
		return nil
	}
	return err
}

// bookingMoves has the vehicles of a booking follow it: it looks at how the booking stands now, so that it
// may be repeated.
func (d *Yard) bookingMoves(ctx context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.Booking](w)
	if err != nil {
		return err
	}
	rented := func(b *record.Booking) bool { return b != nil && b.Status == record.BookingActive }
	if !rented(before) && !rented(after) && after.Status != record.BookingCompleted {
		return nil
	}
	now, err := d.Bookings.Get(ctx, w.Account, w.ID)
	if err != nil {
		return err
	}
	texts := []string{after.VehicleID, now.Body.VehicleID}
	if before != nil {
		texts = append(texts, before.VehicleID)
	}
	for _, swap := range now.Body.VehicleSwaps {
		texts = append(texts, swap.VehicleID)
	}
	slices.Sort(texts)
	for _, text := range slices.Compact(texts) {
		id, err := fleet.ParseID(fleet.VehiclePrefix, text)
		if err != nil {
			continue // none was assigned
		}
		if err := d.followBooking(ctx, w.System(), w.Account, id, w.ID, before, &now.Body); err != nil {
			return err
		}
	}
	return nil
}

// followBooking puts a vehicle where a booking has brought it, with the levels of its handovers. was is the booking as
// it stood before, nil for none.
func (d *Yard) followBooking(ctx context.Context, by record.Author, account fleet.AccountID, vehicle, booking uint64,
	was, b *record.Booking) error {
	ref, mine := fleet.FormatID(fleet.BookingPrefix, booking), b.VehicleID == fleet.FormatID(fleet.VehiclePrefix, vehicle)
	return d.follow(ctx, by, account, vehicle, func(r *record.Record[record.Vehicle]) error {
		v, now := &r.Body, d.Now()
		levelsOf(ref, fleet.FormatID(fleet.VehiclePrefix, vehicle), b).note(v, ref)
		if mine && b.Status == record.BookingCompleted {
			if was != nil && was.Status == record.BookingCompleted && v.LocatedAt.Equal(was.BlockedUntil.Time) {
				v.LocatedAt = record.Instant{} // it was this return that left it there, and it is another one now
			}
			v.Left(b.ReturnLocationID, b.BlockedUntil)
		}
		switch {
		case mine && b.Status == record.BookingActive:
			if b.Bygone() || v.StatusCause == ref && v.Status == record.VehicleRented || rental.Overruled(v, takenAt(b)) ||
				!rental.MayMoveVehicle(v.Status, record.VehicleRented, false) {
				return nil
			}
			// This may come late, after a crash or when much was decided at once; the vehicle is gone since it was taken.
			since := takenAt(b)
			if v.StatusSince.After(since) {
				since = v.StatusSince.Time
			}
			return rental.MoveVehicle(r, rental.VehicleMove{To: record.VehicleRented, Reason: "picked up", Cause: ref}, since)
		case v.StatusCause == ref && v.Status == record.VehicleRented:
			reason, until := "swapped for another vehicle",
				record.InstantOf(now.Add(time.Duration(v.BufferAfterMinutes)*time.Minute))
			if mine {
				if reason, until = "returned", b.BlockedUntil; until.IsZero() {
					until = record.InstantOf(now)
				}
			}
			return rental.MoveVehicle(r,
				rental.VehicleMove{To: record.VehicleTurnaround, Reason: reason, Cause: ref, Until: until}, now)
		case v.StatusCause == ref && v.Status == record.VehicleTurnaround && mine && inspected(b):
			v.StatusUntil = record.InstantOf(now)
			return d.endTurnaround(ctx, r, "inspected")
		case v.StatusCause == ref && v.Status == record.VehicleTurnaround && mine && b.Status == record.BookingCompleted &&
			!b.BlockedUntil.IsZero():
			v.StatusUntil = b.BlockedUntil // which moves with a return that is corrected
		}
		return nil
	})
}

// takenAt is when the booking's present vehicle was handed over.
func takenAt(b *record.Booking) time.Time {
	at := b.StatusSince.Time
	for _, swap := range b.VehicleSwaps {
		if swap.Until.After(at) {
			at = swap.Until.Time
		}
	}
	return at
}

// inspected says whether the vehicle was looked at since its return, and nothing was found.
func inspected(b *record.Booking) bool {
	for i := range b.Inspections {
		in := &b.Inspections[i]
		if in.Type == "return" && in.Status == "submitted" && in.SupersededBy == "" && !in.At.Before(b.ActualReturnAt.Time) &&
			!slices.ContainsFunc(in.Items, func(item record.InspectionItem) bool { return item.Result == "fail" }) {
			return true
		}
	}
	return false
}

// ready makes a vehicle available again, or takes it out of service if it has left the fleet meanwhile.
func (d *Yard) ready(ctx context.Context, r *record.Record[record.Vehicle], reason string) error {
	gone, err := d.disposed(ctx, r)
	if err != nil {
		return err
	}
	if gone {
		return d.takeOut(r)
	}
	return rental.MoveVehicle(r,
		rental.VehicleMove{To: record.VehicleAvailable, Reason: reason, Cause: r.Body.StatusCause}, d.Now())
}

// endTurnaround makes a vehicle available again, or brings it into the work that waits for it; with an open
// safety-critical issue it stays where it is.
func (d *Yard) endTurnaround(ctx context.Context, r *record.Record[record.Vehicle], reason string) error {
	issues, work, err := d.Reads.Hindrances(ctx, r.Account, r.ID)
	if err != nil || issues != nil {
		return err
	}
	if work != nil {
		return rental.MoveVehicle(r,
			rental.VehicleMove{To: record.VehicleMaintenance, Reason: "work goes on", Cause: work[0]}, d.Now())
	}
	return d.ready(ctx, r, reason)
}

// endMaintenance makes a vehicle available again when what brought it into maintenance is over, unless
// other work goes on.
func (d *Yard) endMaintenance(ctx context.Context, r *record.Record[record.Vehicle], reason string) error {
	_, work, err := d.Reads.Hindrances(ctx, r.Account, r.ID)
	if err != nil {
		return err
	}
	if work != nil {
		r.Body.StatusCause, r.Body.StatusUntil = work[0], record.Instant{}
		return nil
	}
	return d.ready(ctx, r, reason)
}

// maintain brings a vehicle into maintenance for a cause that began at an instant, unless it is somewhere else
// for good reason.
func (d *Yard) maintain(r *record.Record[record.Vehicle], cause, reason string, began time.Time,
	until record.Instant) error {
	v := &r.Body
	if v.Status == record.VehicleMaintenance && v.StatusCause == cause {
		v.StatusUntil = until
		return nil
	}
	if rental.Overruled(v, began) || !rental.MayMoveVehicle(v.Status, record.VehicleMaintenance, false) {
		return nil
	}
	return rental.MoveVehicle(r,
		rental.VehicleMove{To: record.VehicleMaintenance, Reason: reason, Cause: cause, Until: until}, d.Now())
}

// workMoves has a vehicle follow a work order on it.
func (d *Yard) workMoves(ctx context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.WorkOrder](w)
	if err != nil || before != nil && before.Status == after.Status && before.VehicleID == after.VehicleID {
		return err
	}
	return d.followWork(ctx, w.System(), w.Account, w.ID)
}

// followWork puts the vehicle of a work order where the work has brought it.
func (d *Yard) followWork(ctx context.Context, by record.Author, account fleet.AccountID, work uint64) error {
	now, err := d.Work.Get(ctx, account, work)
	if err != nil {
		return err
	}
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, now.Body.VehicleID)
	if err != nil {
		return nil
	}
	ref := fleet.FormatID(fleet.WorkOrderPrefix, work)
	goesOn := !now.Archived() && (now.Body.Status == record.WorkInProgress || now.Body.Status == record.WorkOnHold)
	return d.follow(ctx, by, account, vehicle, func(r *record.Record[record.Vehicle]) error {
		switch v := &r.Body; {
		case goesOn:
			return d.maintain(r, ref, "work has begun", now.Body.StartedAt.Time, record.Instant{})
		case v.Status == record.VehicleMaintenance && v.StatusCause == ref:
			return d.endMaintenance(ctx, r, "work is done")
		}
		return nil
	})
}

// blockMoves has a vehicle follow a block of its calendar.
func (d *Yard) blockMoves(ctx context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.Block](w)
	if err != nil {
		return err
	}
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, after.VehicleID)
	if err != nil {
		return nil
	}
	if before != nil { // the first revision stands upon the very hold that was taken for it
		if err := d.settleBlock(ctx, w.System(), w.Account, w.ID, vehicle); err != nil {
			return err
		}
	}
	return d.followBlock(ctx, w.System(), w.Account, vehicle, w.ID)
}

// followBlock puts a vehicle where a block has brought it.
func (d *Yard) followBlock(ctx context.Context, by record.Author, account fleet.AccountID,
	vehicle, block uint64) error {
	b, err := d.Blocks.Get(ctx, account, block)
	if err != nil {
		return err
	}
	ref, now := fleet.FormatID(fleet.BlockPrefix, block), d.Now()
	holds := !b.Archived() && b.Body.Maintains() && !now.Before(b.Body.From.Time) && now.Before(b.Body.Until.Time) &&
		b.Body.VehicleID == fleet.FormatID(fleet.VehiclePrefix, vehicle)
	return d.follow(ctx, by, account, vehicle, func(r *record.Record[record.Vehicle]) error {
		if !b.Archived() && !now.Before(b.Body.Until.Time) {
			r.Body.Left(b.Body.ToLocationID, b.Body.Until)
		}
		switch v := &r.Body; {
		case holds:
			return d.maintain(r, ref, b.Body.Reason, b.Body.From.Time, b.Body.Until)
		case v.Status == record.VehicleMaintenance && v.StatusCause == ref:
			return d.endMaintenance(ctx, r, "the block is over")
		}
		return nil
	})
}

// moveDue does what time has to do with vehicles: turnarounds end, blocks begin and end, transfers arrive.
func (d *Yard) moveDue(ctx context.Context) error {
	due, err := query.VehiclesDue(ctx, d.DB, d.Now())
	if err != nil {
		return err
	}
	return base.Each(ctx, due, func(v query.DueVehicle) error {
		if err := d.moveOne(ctx, v); err != nil {
			return fmt.Errorf("vehicle %d: %w", v.Vehicle, err)
		}
		return nil
	})
}

func (d *Yard) moveOne(ctx context.Context, due query.DueVehicle) error {
	if block, err := fleet.ParseID(fleet.BlockPrefix, due.Cause); err == nil {
		return d.followBlock(ctx, record.System, due.Account, due.Vehicle, block)
	}
	if work, err := fleet.ParseID(fleet.WorkOrderPrefix, due.Cause); err == nil {
		return d.followWork(ctx, record.System, due.Account, work)
	}
	return d.follow(ctx, record.System, due.Account, due.Vehicle, func(r *record.Record[record.Vehicle]) error {
		v := &r.Body
		if v.Status != record.VehicleTurnaround || v.StatusUntil.IsZero() || d.Now().Before(v.StatusUntil.Time) {
			return nil
		}
		return d.endTurnaround(ctx, r, "the buffer is over")
	})
}

// vehicleWants says whether a vehicle wants to hold its own calendar, as one that is retired or archived does.
func (d *Yard) vehicleWants(ctx context.Context, account fleet.AccountID, id uint64, at holding.Place,
	_ calendar.Hold) (bool, error) {
	r, err := d.Vehicles.Get(ctx, account, id)
	return err == nil && id == at.Vehicle && leftForGood(&r), err
}
