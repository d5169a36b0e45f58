package desk

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
)

// PricedDay is what a rental that begins on a day costs, or why it cannot be rented so.
type PricedDay struct {
	On       time.Time // a date
	Snapshot *record.RateSnapshot
	Why      []fleet.FieldError
}

// PriceDays works out what a rental of so many days costs that begins on each of many days, one after the other, at a
// time of day by the clock of its place. The fields name the rate plan and what is rented; nothing is looked at but
// what they name, so that it says what is asked for and not what is free.
func (d *Desk) PriceDays(ctx context.Context, account fleet.AccountID, fields record.BookingFields, first time.Time,
	at time.Duration, days, length int) ([]PricedDay, Resolved, error) {
	now := d.Now()
	fields.PickupAt = record.InstantOf(first)
	r, err := d.Resolve(ctx, account, fields)
	if err != nil {
		return nil, r, err
	}
	priced := make([]PricedDay, days)
	for i := range priced {
		on := first.AddDate(0, 0, i)
		priced[i].On = on
		begin := func(on time.Time) record.Instant {
			return record.InstantOf(time.Date(on.Year(), on.Month(), on.Day(), 0, int(at/time.Minute), 0, 0, r.Zone))
		}
		r.Fields.PickupAt, r.Fields.ReturnAt = begin(on), begin(on.AddDate(0, 0, length))
		if priced[i].Why = d.offered(&r, on, now); len(priced[i].Why) > 0 {
			continue
		}
		s, err := price.Quote(r.Request(now))
		if refused, ok := errors.AsType[*fleet.Error](err); ok && refused.Code == fleet.CodeValidation {
			priced[i].Why = refused.Fields
			continue
		}
		if err != nil {
			return nil, r, err
		}
		priced[i].Snapshot = &s
	}
	return priced, r, nil
}

// offered says why nothing can be rented so that begins on a day; nothing if it can. Where it is picked up need not be
// said.
func (d *Desk) offered(r *Resolved, on, now time.Time) []fleet.FieldError {
	if r.Plan != nil {
		day, plan := on.Format(time.DateOnly), &r.Plan.Body
		if day < plan.ValidFrom || plan.ValidTo != "" && day > plan.ValidTo {
			return []fleet.FieldError{{Pointer: "/pickup_at", Code: "not_valid",
				Detail: "is on a day that the rate plan is not for"}}
		}
	}
	return slices.DeleteFunc(r.Misfits(now), func(f fleet.FieldError) bool { return f.Pointer == atPickup })
}
