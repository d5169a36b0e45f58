package desk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// A class's bookings without a vehicle are as many as its vehicles can take: for the period of each of them, the vehicles of the
// class that are free throughout, and those that the class may be overbooked by, are at least as many as the bookings of
// the class that overlap it, itself included. That is enough for each to get a vehicle in whatever order they are given:
// whoever comes to choose has as many free vehicles as there are bookings, and each of the others has taken one of them at most.
//
// Two records decide about that, the class's calendar and a vehicle's, and nothing serialises them. So a booking of the class and a
// booking of one of its vehicles both write their hold first and look afterwards: of two that race, the one that writes
// last sees the other. Both may see each other, and then both are refused and try again a moment later. Neither can miss the other.

// capacity refuses a hold that a class has no room for: one in the class's calendar, or one of a vehicle whose class needs it for
// bookings that have no vehicle yet. leaves is a class in which the booking gives a place up with this; likely is the class that the vehicle
// is thought to be of, and s what was seen of it.
func (d *Desk) capacity(ctx context.Context, by record.Author, account fleet.AccountID, b *bid, leaves, likely uint64, s sight) error {
	if s.listed != nil && (s.class == nil || *s.class != 0) {
		if err := s.listed(); err != nil {
			return err
		}
	}
	class, holds, err := d.pressed(ctx, account, b, likely, s.class)
	if err != nil || class == 0 || b.at.vehicle != 0 && class == leaves {
		return err
	}
	now := d.Now()
	all := (&calendar.Calendar{Holds: holds}).Taken(&calendar.Hold{From: b.hold.From, Until: b.hold.Until}, now)
	pressed := slices.DeleteFunc(slices.Clone(all), func(h calendar.Hold) bool { return h.Ref == b.hold.Ref })
	if b.at.class != 0 {
		pressed = append(pressed, b.hold)
	}
	if len(pressed) == 0 {
		return nil
	}
	room, err := d.room(ctx, account, class, holds, pressed, now)
	if err != nil {
		return err
	}
	for _, h := range pressed {
		short, ours := room.short(&h, b.at.vehicle)
		if !short || b.at.vehicle != 0 && !ours {
			continue
		}
		if dropped, err := d.dropAbandoned(ctx, by, account, class, holds); err != nil || dropped {
			if err != nil {
				return err
			}
			return d.capacity(ctx, by, account, b, leaves, likely, s)
		}
		return room.refusal(class, &h)
	}
	return nil
}

// pressed is the class that a bid may press upon, 0 if none, and what is booked of it. A vehicle is read beside the calendar of the class that
// it is likely of: both after the bid was placed. One that was seen is not read again.
func (d *Desk) pressed(ctx context.Context, account fleet.AccountID, b *bid, likely uint64, seen *uint64) (uint64, []calendar.Hold, error) {
	if b.at.vehicle == 0 {
		seen = &b.at.class
	}
	if seen != nil {
		if *seen == 0 {
			return 0, nil, nil
		}
		holds, err := d.ClassCalendars.Of(ctx, account, *seen)
		return *seen, holds, err
	}
	var holds []calendar.Hold
	group, inner := errgroup.WithContext(ctx)
	if likely != 0 {
		group.Go(func() (err error) {
			holds, err = d.ClassCalendars.Of(inner, account, likely)
			return err
		})
	}
	var v record.Record[record.Vehicle]
	group.Go(func() (err error) {
		v, err = d.Vehicles.Get(inner, account, b.at.vehicle)
		return err
	})
	if err := group.Wait(); err != nil {
		return 0, nil, err
	}
	class, _ := fleet.ParseID(fleet.ClassPrefix, v.Body.ClassID)
	if class == 0 || class == likely {
		return class, holds, nil
	}
	holds, err := d.ClassCalendars.Of(ctx, account, class)
	return class, holds, err
}

// dropAbandoned gives up holds of a class that nobody wants, and says whether there were any.
func (d *Desk) dropAbandoned(ctx context.Context, by record.Author, account fleet.AccountID, class uint64, holds []calendar.Hold) (bool, error) {
	any := false
	for _, h := range holds {
		abandoned, err := d.ClassCalendars.Abandoned(ctx, account, class, h)
		if err != nil || !abandoned {
			if err != nil {
				return any, err
			}
			continue
		}
		if err := d.ClassCalendars.Withdraw(ctx, by, account, class, h); err != nil {
			return any, err
		}
		any = true
	}
	return any, nil
}

// room is what a class has, over the periods of some bookings.
type room struct {
	vehicles []uint64
	busy     map[uint64][]query.Hold
	booked   *calendar.Calendar // of the class
	extra    int
	now      time.Time
}

// room reads the vehicles of a class and who has them over the periods of some holds. Who has them is read from the current table: a hold that
// it does not know yet is of somebody who has not looked at the class either, and will see our hold after that (sight.listed).
func (d *Desk) room(ctx context.Context, account fleet.AccountID, class uint64, booked, over []calendar.Hold, now time.Time) (*room, error) {
	c, err := d.Classes.Get(ctx, account, class)
	if err != nil {
		return nil, err
	}
	r := &room{booked: &calendar.Calendar{Holds: booked}, now: now}
	if r.vehicles, err = query.ClassVehicles(ctx, d.DB, account, class); err != nil {
		return nil, err
	}
	r.extra = len(r.vehicles) * c.Body.OverbookingBP / 10000
	from, until := over[0].From.Time, over[0].Until.Time
	for _, h := range over[1:] {
		if h.From.Before(from) {
			from = h.From.Time
		}
		if until.Before(h.Until.Time) {
			until = h.Until.Time
		}
	}
	r.busy, err = query.BusyVehicles(ctx, d.DB, account, 0, append([]uint64{}, r.vehicles...), from, until, now)
	return r, err
}

// short says whether there are fewer vehicles for a booking of the class than there are bookings beside it, and whether a vehicle is
// among those that the booking could have.
func (r *room) short(h *calendar.Hold, vehicle uint64) (short, ours bool) {
	free := 0
	for _, v := range r.vehicles {
		taken := slices.ContainsFunc(r.busy[v], func(o query.Hold) bool {
			return o.Ref != h.Ref && h.Overlaps(o.From, o.Until)
		})
		if !taken {
			free++
		}
		if v == vehicle {
			// It is taken by the one hold that is asked about; by another one too, and that changes nothing.
			refs := map[string]bool{}
			for _, o := range r.busy[v] {
				if h.Overlaps(o.From, o.Until) {
					refs[o.Ref] = true
				}
			}
			ours = len(refs) == 1
		}
	}
	beside := len(r.booked.Taken(h, r.now)) + 1
	return free+r.extra < beside, ours
}

// refusal names what is in the way.
func (r *room) refusal(class uint64, h *calendar.Hold) error {
	var others []string
	for _, o := range r.booked.Taken(h, r.now) {
		others = append(others, o.Ref)
	}
	beside := "no bookings of the class without a vehicle overlap it"
	if len(others) > 0 {
		beside = "bookings of the class without a vehicle overlap it: " + strings.Join(others[:min(len(others), 10)], ", ")
	}
	return fleet.NewError(fleet.CodeConflict, fmt.Sprintf("The class %s has no vehicle left for %s from %s until %s: of its %d vehicles too few are free throughout, and %s.",
		fleet.FormatID(fleet.ClassPrefix, class), h.Ref, h.From.Format(time.RFC3339), h.Until.Format(time.RFC3339), len(r.vehicles), beside))
}
