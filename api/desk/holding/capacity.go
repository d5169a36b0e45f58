package holding

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// A class's bookings without a vehicle are as many as its vehicles can take at each location: the rule
// is calendar.Room's.
//
// Two records decide about that, the class's calendar and a vehicle's, and nothing serialises them. So a booking of the
// class, and a booking or a transfer of one of its vehicles, write their hold first and look afterwards: of two that
// race, the one that writes last sees the other. Both may see each other, and then both are refused and try again a
// moment later. Neither can miss the other.

// Capacity refuses a hold of a vehicle that will be elsewhere, and one that a class has no room for: in the class's
// calendar, or of a vehicle that the class needs for bookings that have none yet. gives is what the holder has now and
// gives up with this, nil for nothing; leaves is a class in which it gives a place up for one of its vehicles; likely
// is the class that the vehicle is thought to be of, and s what was seen of it.
func (d *Holds) Capacity(ctx context.Context, by record.Author, account fleet.AccountID, b *Bid, gives *calendar.Bid,
	leaves, likely uint64, s AlreadyRead) error {
	v, class, holds, err := d.pressed(ctx, account, b, likely, s.Vehicle)
	if err != nil {
		return err
	}
	if err := d.inPlace(ctx, by, account, b, gives, v); err != nil || class == 0 || v != nil && class == leaves {
		return err
	}
	now := d.Now()
	want := calendar.Bid{Vehicle: b.At.Vehicle, Hold: b.Hold}
	booked := (&calendar.Calendar{Holds: holds}).Standing(now)
	if v != nil && !slices.ContainsFunc(booked, func(h calendar.Hold) bool {
		return h.Ref != want.Hold.Ref && calendar.Rivals(&h, &want.Hold, v.Body.Place() == "")
	}) {
		return nil
	}
	room, err := d.room(ctx, account, class, booked, now)
	if err != nil {
		return err
	}
	short := room.Refuses(b.Hold.Ref, gives, &want)
	if short == nil {
		return nil
	}
	dropped, err := d.dropAbandoned(ctx, by, account, Place{Class: class}, holds)
	if err != nil {
		return err
	}
	if dropped {
		return d.Capacity(ctx, by, account, b, gives, leaves, likely, s)
	}
	return d.classFull(ctx, account, class, room, &want, short)
}

// RoomWithout refuses that a holder gives up what it has of a vehicle, if bookings of its class need the vehicle where
// that brings it.
func (d *Holds) RoomWithout(ctx context.Context, account fleet.AccountID, v *record.Record[record.Vehicle],
	had *calendar.Bid) error {
	class, _ := fleet.ParseID(fleet.ClassPrefix, v.Body.ClassID)
	if class == 0 {
		return nil
	}
	now := d.Now()
	holds, err := d.ClassCalendars.Of(ctx, account, class)
	if err != nil || len(holds) == 0 {
		return err
	}
	room, err := d.room(ctx, account, class, (&calendar.Calendar{Holds: holds}).Standing(now), now)
	if err != nil {
		return err
	}
	if short := room.Refuses(had.Hold.Ref, had, nil); short != nil {
		return d.classFull(ctx, account, class, room, had, short)
	}
	return nil
}

// pressed is the vehicle of a bid, the class that it may press upon, 0 if none, and what is booked of that. A vehicle
// is read beside the calendar of the class that it is likely of: both after the bid was placed. One that was seen is
// not read again.
func (d *Holds) pressed(ctx context.Context, account fleet.AccountID, b *Bid, likely uint64,
	seen *record.Record[record.Vehicle]) (*record.Record[record.Vehicle], uint64, []calendar.Hold, error) {
	if b.At.Vehicle == 0 {
		holds, err := d.ClassCalendars.Of(ctx, account, b.At.Class)
		return nil, b.At.Class, holds, err
	}
	var holds []calendar.Hold
	if seen == nil {
		group, inner := errgroup.WithContext(ctx)
		if likely != 0 {
			group.Go(func() (err error) {
				holds, err = d.ClassCalendars.Of(inner, account, likely)
				return err
			})
		}
		var v record.Record[record.Vehicle]
		group.Go(func() (err error) {
			v, err = d.Vehicles.Get(inner, account, b.At.Vehicle)
			return err
		})
		if err := group.Wait(); err != nil {
			return nil, 0, nil, err
		}
		seen = &v
	} else {
		likely = 0
	}
	class, _ := fleet.ParseID(fleet.ClassPrefix, seen.Body.ClassID)
	if class == 0 || class == likely {
		return seen, class, holds, nil
	}
	holds, err := d.ClassCalendars.Of(ctx, account, class)
	return seen, class, holds, err
}

// dropAbandoned gives up holds of a calendar that nobody wants, and says whether there were any.
func (d *Holds) dropAbandoned(ctx context.Context, by record.Author, account fleet.AccountID, at Place,
	holds []calendar.Hold) (bool, error) {
	cals, key := d.CalendarOf(at)
	any := false
	for _, h := range holds {
		abandoned, err := cals.Abandoned(ctx, account, key, h)
		if err != nil || !abandoned {
			if err != nil {
				return any, err
			}
			continue
		}
		if err := cals.Withdraw(ctx, by, account, key, h); err != nil {
			return any, err
		}
		any = true
	}
	return any, nil
}

// FollowedAfter is how long ago a hold must be over for its vehicle to have followed it, whoever died.
const FollowedAfter = time.Hour

// room reads the vehicles of a class, where they are and who has them from now on: from the current table, and what
// that may not know yet from the log. Who holds a vehicle looks at the class as soon as the log has the hold.
func (d *Holds) room(ctx context.Context, account fleet.AccountID, class uint64, booked []calendar.Hold,
	now time.Time) (*calendar.Room, error) {
	c, err := d.Classes.Get(ctx, account, class)
	if err != nil {
		return nil, err
	}
	vehicles, err := query.ClassVehicles(ctx, d.DB, account, class)
	if err != nil {
		return nil, err
	}
	home, err := base.Recall(ctx, d.Accounts, account, uint64(account))
	if err != nil {
		return nil, err
	}
	r := &calendar.Room{Booked: booked, OverbookingBP: c.Body.OverbookingBP}
	ids, from := []uint64{}, now.Add(-FollowedAfter)
	for _, v := range vehicles {
		ids = append(ids, v.ID)
		r.Vehicles = append(r.Vehicles, calendar.Vehicle{ID: v.ID, Place: v.Place, Since: v.Since})
	}
	for i := range booked {
		if booked[i].From.Before(from) {
			from = booked[i].From.Time
		}
	}
	var busy map[uint64][]query.Hold
	var unlisted map[uint64][]calendar.Hold
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		busy, err = query.BusyVehicles(inner, d.DB, account, 0, ids, from, calendar.ForEver, now)
		return err
	})
	group.Go(func() (err error) {
		unlisted, err = d.Calendars.Unlisted(inner, account, ids)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i := range r.Vehicles {
		v := &vehicles[i]
		holds := base.HoldsFrom(busy[v.ID])
		if newer, ok := unlisted[v.ID]; ok {
			holds = slices.DeleteFunc((&calendar.Calendar{Holds: newer}).Standing(now),
				func(h calendar.Hold) bool { return !h.Until.After(from) })
		}
		said := record.VehicleFields{InServiceOn: v.InServiceOn, DisposalOn: v.DisposalOn}
		r.Vehicles[i].Holds = append(holds, Away(v.ID, &said, now, v.Timezone, home.Body.Timezone)...)
	}
	return r, nil
}

// Away are the times from now on at which nobody can have a vehicle because it is not in the fleet (record.NotInFleet),
// as its class sees them: as holds of its own, which leave it where it is.
func Away(id uint64, v *record.VehicleFields, now time.Time, zones ...string) []calendar.Hold {
	from, until := record.InFleet(v, zones...)
	ref, all := fleet.FormatID(fleet.VehiclePrefix, id), []calendar.Hold(nil)
	if from.After(now) {
		all = append(all, calendar.Hold{Ref: ref, Until: record.InstantOf(from)})
	}
	if !until.IsZero() {
		all = append(all, calendar.Hold{Ref: ref, From: record.InstantOf(until), Until: record.InstantOf(calendar.ForEver)})
	}
	return all
}

// classFull says to whoever asks what is in the way: it speaks of what was asked for, whichever booking would be left
// without a vehicle.
func (d *Holds) classFull(ctx context.Context, account fleet.AccountID, class uint64, r *calendar.Room,
	asked *calendar.Bid, short *calendar.Hold) error {
	var waiting []string
	wait := func(h *calendar.Hold) {
		if h.Ref != asked.Hold.Ref && !slices.Contains(waiting, h.Ref) && len(waiting) < 10 {
			waiting = append(waiting, h.Ref)
		}
	}
	wait(short)
	for i := range r.Booked {
		if r.Booked[i].Overlaps(short.From.Time, short.Until.Time) {
			wait(&r.Booked[i])
		}
	}
	name := fleet.FormatID(fleet.ClassPrefix, class)
	span := fmt.Sprintf("from %s until %s", asked.Hold.From.Format(time.RFC3339), asked.Hold.Until.Format(time.RFC3339))
	if asked.Hold.Begins != "" {
		span = "at " + d.placeName(ctx, account, asked.Hold.Begins) + " " + span
	}
	if asked.Vehicle != 0 {
		return fleet.NewError(fleet.CodeConflict, fmt.Sprintf(
			"The vehicle %s cannot be spared %s: it is needed for bookings of its class %s that have no vehicle yet: %s.",
			fleet.FormatID(fleet.VehiclePrefix, asked.Vehicle), span, name, strings.Join(waiting, ", ")))
	}
	why := "Other bookings have them, or they are elsewhere"
	if len(waiting) > 0 {
		why = "Those that are there and free then are needed for bookings of the class that have no vehicle yet: " +
			strings.Join(waiting, ", ")
	}
	return fleet.NewError(fleet.CodeConflict,
		fmt.Sprintf("None of the %d vehicles of the class %s is left %s. %s.", len(r.Vehicles), name, span, why))
}
