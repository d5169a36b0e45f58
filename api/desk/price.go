package desk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
)

// Price works out what a booking with these fields would cost, had it been made at an instant. What does not exist or
// does not fit (a rental too short for the vehicle, a driver too young for the class, an extra that the rate plan does
// not have) is a *fleet.Error of the code fleet.CodeValidation, with pointers into the fields. Whether a vehicle is
// free is not asked, nor whether the customer may rent.
func (d *Desk) Price(ctx context.Context, account fleet.AccountID, fields record.BookingFields,
	bookedAt time.Time) (record.RateSnapshot, Resolved, error) {
	return d.price(ctx, account, fields, bookedAt, (*Resolved).Misfits)
}

// PriceAnyway is Price for what was agreed elsewhere, or by people who may: how long and how early a rental must be,
// who may drive and over which channel are not asked.
func (d *Desk) PriceAnyway(ctx context.Context, account fleet.AccountID, fields record.BookingFields,
	bookedAt time.Time) (record.RateSnapshot, Resolved, error) {
	return d.price(ctx, account, fields, bookedAt, func(*Resolved, time.Time) []fleet.FieldError { return nil })
}

// priceAgain is Price for a booking that had other fields: what is said against an end of the rental counts only if
// that end has changed.
func (d *Desk) priceAgain(ctx context.Context, account fleet.AccountID,
	was, fields record.BookingFields) (record.RateSnapshot, Resolved, error) {
	return d.price(ctx, account, fields, d.Now(), func(r *Resolved, at time.Time) []fleet.FieldError {
		stays := map[string]bool{
			"/pickup_at": was.PickupAt.Equal(fields.PickupAt.Time) && was.PickupLocationID == r.Fields.PickupLocationID &&
				was.DeliveryAddress == fields.DeliveryAddress,
			"/return_at": was.ReturnAt.Equal(fields.ReturnAt.Time) && was.ReturnLocationID == r.Fields.ReturnLocationID,
			atPickup:     was.PickupLocationID == "",
		}
		return slices.DeleteFunc(r.Misfits(at), func(f fleet.FieldError) bool { return stays[f.Pointer] && ofAnEnd(&f) })
	})
}

// priceThere is Price for a booking that keeps its times and its place, or has none: what is said against those does
// not count. Where a vehicle is at home is of no matter to a booking that was made without a place.
func (d *Desk) priceThere(ctx context.Context, account fleet.AccountID,
	fields record.BookingFields) (record.RateSnapshot, Resolved, error) {
	return d.price(ctx, account, fields, d.Now(), func(r *Resolved, at time.Time) []fleet.FieldError {
		return slices.DeleteFunc(r.Misfits(at), func(f fleet.FieldError) bool { return ofAnEnd(&f) })
	})
}

// ofAnEnd says whether a fault is of when and where a rental begins or ends.
func ofAnEnd(f *fleet.FieldError) bool {
	return f.Code == "closed" || f.Code == "too_soon" || f.Pointer == atPickup
}

// atPickup points to the location of pickup.
const atPickup = "/pickup_location_id"

func (d *Desk) price(ctx context.Context, account fleet.AccountID, fields record.BookingFields, bookedAt time.Time,
	misfits func(*Resolved, time.Time) []fleet.FieldError) (record.RateSnapshot, Resolved, error) {
	if err := checkPeriod(&fields); err != nil {
		return record.RateSnapshot{}, Resolved{}, err
	}
	r, err := d.Resolve(ctx, account, fields)
	if err != nil {
		return record.RateSnapshot{}, r, err
	}
	if faults := misfits(&r, bookedAt); len(faults) > 0 {
		return record.RateSnapshot{}, r, unfit(faults)
	}
	s, err := price.Quote(r.Request(bookedAt))
	return s, r, err
}

// unfit is the error of what does not fit.
func unfit(faults []fleet.FieldError) error {
	return fleet.Invalid(faults...)
}

// Misfits says what of the booking its vehicle, class and rate plan do not allow; nil if nothing. What a vehicle says
// holds instead of what its class says, and a rate plan's limits hold besides.
func (r *Resolved) Misfits(bookedAt time.Time) []fleet.FieldError {
	var faults []fleet.FieldError
	add := func(pointer, code, detail string) {
		faults = append(faults, fleet.FieldError{Pointer: pointer, Code: code, Detail: detail})
	}
	pickup, back := r.Fields.PickupAt.Time, r.Fields.ReturnAt.Time
	if !pickup.Before(back) {
		add("/return_at", "out_of_range", "must be after pickup_at")
		return faults
	}
	if r.unplaced {
		add(atPickup, "required",
			"must say at which of the account's locations it begins; the taxes are those of that location")
	}
	terms, v, c := r.terms(), r.fromVehicle(), r.class()
	if back.Sub(pickup) < price.MaxDays*24*time.Hour {
		days := price.BilledDays(&terms, r.Zone, pickup, back)
		if least := max(cmp.Or(v.MinRentalDays, c.MinRentalDays), terms.MinRentalDays); days < least {
			add("/return_at", "too_short", fmt.Sprintf("makes %d days, and the least is %d", days, least))
		}
		for _, most := range []int{cmp.Or(v.MaxRentalDays, c.MaxRentalDays), terms.MaxRentalDays} {
			if most > 0 && days > most {
				add("/return_at", "too_long", fmt.Sprintf("makes %d days, and the most is %d", days, most))
				break
			}
		}
	}
	if lead := cmp.Or(v.LeadTimeMinHours, c.LeadTimeMinHours); pickup.Sub(bookedAt) < time.Duration(lead)*time.Hour &&
		lead > 0 {
		add("/pickup_at", "too_soon", fmt.Sprintf("must be at least %d hours after the booking is made", lead))
	}
	if channels := r.channels(); len(channels) > 0 && !slices.Contains(channels, r.Fields.Channel) {
		add("/channel", "not_offered", "is not one over which the vehicle is rented")
	}
	if r.Class != nil && r.Class.Body.MinDriverAge > 0 {
		for i, driver := range r.Drivers {
			if age, known := ageAt(driver.Body.DateOfBirth, pickup.In(r.Zone)); known && age < r.Class.Body.MinDriverAge {
				add(r.driverPointer(i), "too_young", "is younger than the class allows")
			}
		}
	}
	return append(faults, r.closed()...)
}
