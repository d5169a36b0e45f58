package desk

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/record"
)

// ElsewhereError says that a vehicle is free, and in the wrong place. It unwraps to a *fleet.Error of the code fleet.CodeConflict.
type ElsewhereError struct{ Err *fleet.Error }

func (e *ElsewhereError) Error() string { return e.Err.Error() }

// Unwrap returns the error as callers of the interface see it.
func (e *ElsewhereError) Unwrap() error { return e.Err }

// inPlace refuses to give a vehicle to a holder for a place where it will not be then, or to leave it where its next booking does not begin.
// Who had it in the wrong place already is not refused a change for that. Which holds decide is known since the bid was placed: of two that
// race for one vehicle, its calendar shows the first to the second.
func (d *Desk) inPlace(ctx context.Context, by record.Author, account fleet.AccountID, b *bid, gives *calendar.Bid, v *record.Record[record.Vehicle]) error {
	if v == nil {
		return nil
	}
	there := calendar.Vehicle{ID: v.ID, Place: v.Body.Place(), Since: v.Body.LocatedAt.Time, Holds: b.beside}
	wrong := there.Misplaced(&b.hold)
	if wrong == nil || gives != nil && gives.Vehicle == v.ID && there.Misplaced(&gives.Hold) != nil {
		return nil
	}
	if dropped, err := d.dropAbandoned(ctx, by, account, b.at, b.beside); err != nil || dropped {
		if err != nil {
			return err
		}
		if b.beside, err = d.Calendars.Of(ctx, account, v.ID); err != nil {
			return err
		}
		b.beside = (&calendar.Calendar{Holds: b.beside}).Standing(d.Now())
		return d.inPlace(ctx, by, account, b, gives, v)
	}
	return d.elsewhere(ctx, account, &v.Body, &b.hold, wrong)
}

// elsewhere says in words where a vehicle is instead, and what the caller may do.
func (d *Desk) elsewhere(ctx context.Context, account fleet.AccountID, v *record.Vehicle, h *calendar.Hold, wrong *calendar.Misplaced) error {
	who := "The vehicle " + cmp.Or(v.Nickname, v.LicensePlate, v.Make+" "+v.Model)
	if o := wrong.Next; o != nil {
		return &ElsewhereError{fleet.NewError(fleet.CodeConflict, fmt.Sprintf("%s would be left at %s, and %s needs it at %s at %s.", who,
			d.placeName(ctx, account, h.Ends), o.Ref, d.placeName(ctx, account, o.Begins), o.From.Format(time.RFC3339)),
			fleet.FieldError{Pointer: "/return_location_id", Code: "elsewhere",
				Detail: "is not where the vehicle is needed next; plan a transfer between the two, or give the next one another vehicle"})}
	}
	at, from := d.placeName(ctx, account, wrong.At), h.From.Format(time.RFC3339)
	return &ElsewhereError{fleet.NewError(fleet.CodeConflict, fmt.Sprintf("%s will be at %s at %s, and not at %s.", who, at, from, d.placeName(ctx, account, h.Begins)),
		fleet.FieldError{Pointer: "/vehicle_id", Code: "elsewhere", Detail: "will be at " + at + "; take one that is there, block it for a transfer (to_location_id) " +
			"that ends by " + from + ", or send elsewhere true if somebody brings it"})}
}

// placeName is what people call a location.
func (d *Desk) placeName(ctx context.Context, account fleet.AccountID, text string) string {
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

// placeAt is the location where a vehicle will be at an instant, empty if nobody knows.
func (d *Desk) placeAt(ctx context.Context, account fleet.AccountID, v *record.Record[record.Vehicle], at time.Time) (string, error) {
	m, _ := ctx.Value(memoryKey{}).(*memory)
	var holds []calendar.Hold
	known := false
	if m != nil {
		holds, known = d.Calendars.In(m.calendar, account, v.ID)
	}
	if !known {
		var err error
		if holds, err = d.Calendars.Of(ctx, account, v.ID); err != nil {
			return "", err
		}
	}
	there := calendar.Vehicle{Place: v.Body.Place(), Since: v.Body.LocatedAt.Time, Holds: (&calendar.Calendar{Holds: holds}).Standing(d.Now())}
	return there.At(at, ""), nil
}
