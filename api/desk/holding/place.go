package holding

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
)

// ElsewhereError says that a vehicle is free, and in the wrong place. It unwraps to a *fleet.Error of the code
// fleet.CodeConflict.
type ElsewhereError struct{ Err *fleet.Error }

func (e *ElsewhereError) Error() string { return e.Err.Error() }

// Unwrap returns the error as callers of the interface see it.
func (e *ElsewhereError) Unwrap() error { return e.Err }

// inPlace refuses to give a vehicle to a holder for a place where it will not be then, or if a later holder would not
// find it where it must be. What is in the wrong place already is not refused a change for that. Which holds decide is
// known since the bid was placed: of two that race for one vehicle, its calendar shows the first to the second.
func (d *Holds) inPlace(ctx context.Context, by record.Author, account fleet.AccountID, b *Bid, gives *calendar.Bid,
	v *record.Record[record.Vehicle]) error {
	if v == nil {
		return nil
	}
	var had *calendar.Hold
	if gives != nil && gives.Vehicle == v.ID {
		had = &gives.Hold
	}
	there := VehicleWith(v, b.Beside)
	h, wrong := there.Displaced(b.Hold.Ref, had, &b.Hold)
	if wrong == nil {
		return nil
	}
	if dropped, err := d.dropAbandoned(ctx, by, account, b.At, b.Beside); err != nil || dropped {
		if err != nil {
			return err
		}
		holds, err := d.Calendars.Of(ctx, account, v.ID)
		if err != nil {
			return err
		}
		b.Beside = (&calendar.Calendar{Holds: holds}).Standing(d.Now())
		return d.inPlace(ctx, by, account, b, gives, v)
	}
	return d.IsElsewhere(ctx, account, v, b.Hold.Ref, h, wrong)
}

// VehicleWith is a vehicle with what stands in its calendar.
func VehicleWith(v *record.Record[record.Vehicle], standing []calendar.Hold) calendar.Vehicle {
	return calendar.Vehicle{ID: v.ID, Place: v.Body.Place(), Since: v.Body.LocatedAt.Time, Holds: standing}
}

// IsElsewhere says in words where a vehicle is instead, and what the caller may do. h is the hold that is in the wrong
// place: of the one who asks, or of somebody who comes later.
func (d *Holds) IsElsewhere(ctx context.Context, account fleet.AccountID, v *record.Record[record.Vehicle], asks string,
	h *calendar.Hold, wrong *calendar.Misplaced) error {
	who := "The vehicle " + Called(&v.Body)
	from := h.From.Format(time.RFC3339)
	refusal := func(text string, pointer, detail string) error {
		return &ElsewhereError{fleet.NewError(fleet.CodeConflict, text,
			fleet.FieldError{Pointer: pointer, Code: "elsewhere", Detail: detail})}
	}
	if o := wrong.Next; o != nil {
		ends := d.placeName(ctx, account, h.Ends)
		return refusal(fmt.Sprintf("%s would be left at %s, and %s needs it at %s at %s.", who, ends, o.Ref,
			d.placeName(ctx, account, o.Begins), o.From.Format(time.RFC3339)),
			"/vehicle_id", "would be left at "+ends+"; plan a transfer after that, or give "+o.Ref+" another vehicle first")
	}
	at, wanted := d.placeName(ctx, account, wrong.At), d.placeName(ctx, account, h.Begins)
	if h.Ref != asks {
		return refusal(fmt.Sprintf("%s would be at %s at %s, and %s needs it at %s.", who, at, from, h.Ref, wanted),
			"/vehicle_id", "is needed by "+h.Ref+" at "+wanted+"; give that another vehicle first")
	}
	text := fmt.Sprintf("%s will be at %s at %s, and not at %s.", who, at, from, wanted)
	if strings.HasPrefix(asks, fleet.BlockPrefix) {
		return refusal(text, "/from_location_id",
			"is not where the vehicle will be; leave it out, or plan a transfer to there first")
	}
	return refusal(text, "/vehicle_id", "will be at "+at+"; take one that is there, plan a transfer that ends by "+from+
		" (a block of the vehicle with to_location_id), or send elsewhere true if somebody brings it")
}

// Called is what people call a vehicle.
func Called(v *record.Vehicle) string {
	return cmp.Or(v.Nickname, v.LicensePlate, v.Make+" "+v.Model)
}

// placeName is what people call a location.
func (d *Holds) placeName(ctx context.Context, account fleet.AccountID, text string) string {
	id, err := fleet.ParseID(fleet.LocationPrefix, text)
	if err != nil {
		return text
	}
	l, err := d.Locations.Get(ctx, account, id)
	if err != nil {
		return text
	}
	return cmp.Or(l.Body.Name, text)
}

// PlaceAt is the location where a vehicle will be at an instant, without what one holder has of it; empty if nobody
// knows.
func (d *Holds) PlaceAt(ctx context.Context, account fleet.AccountID, v *record.Record[record.Vehicle], at time.Time,
	without string) (string, error) {
	now := d.Now()
	var holds []calendar.Hold
	known := false
	if m := base.MemoryIn(ctx); m != nil {
		if holds, known = d.Calendars.In(m.Calendar, account, v.ID); !known && m.Lookup {
			if busy, ok := d.Fleet.Recalled(ctx, account, now.Add(-FollowedAfter), now); ok {
				holds, known = busy.Vehicle(v.ID).Holds, true
			}
		}
	}
	if !known {
		var err error
		if holds, err = d.Calendars.Of(ctx, account, v.ID); err != nil {
			return "", err
		}
	}
	there := VehicleWith(v, (&calendar.Calendar{Holds: holds}).Standing(now))
	return there.At(at, without), nil
}
