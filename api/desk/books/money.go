package books

import (
	"context"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// BookedFor finds out what money is for, of the ids that a payment or an expense names; empty ones name
// nothing. The booking is nil if none is named. An id of no record of the account is a *fleet.Error of the
// code fleet.CodeValidation.
func (d *Books) BookedFor(ctx context.Context, account fleet.AccountID,
	vehicle, booking, customer string) (record.BookedFor, *record.Booking, error) {
	f := record.BookedFor{VehicleID: vehicle, CustomerID: customer}
	var found *record.Booking
	if booking != "" {
		b, err := named(ctx, d.Bookings, account, booking, "/booking_id")
		if err != nil {
			return f, nil, err
		}
		found = b
		f.ClassID, f.LocationID, f.Channel, f.Timezone = b.VehicleClassID, b.PickupLocationID, b.Channel, b.Timezone
		if vehicle == "" {
			f.VehicleID = b.VehicleID
		}
		if customer == "" {
			f.CustomerID = b.CustomerID
		}
		if f.Channel == "" {
			f.Channel = "direct"
		}
	}
	if vehicle != "" {
		v, err := named(ctx, d.Vehicles, account, vehicle, "/vehicle_id")
		if err != nil {
			return f, nil, err
		}
		f.ClassID = v.ClassID
		if f.LocationID == "" {
			f.LocationID = v.HomeLocationID
		}
	}
	if customer != "" {
		if _, err := named(ctx, d.Customers, account, customer, "/customer_id"); err != nil {
			return f, nil, err
		}
	}
	if f.Timezone == "" {
		zone, _, err := d.booksOf(ctx, account)
		if err != nil {
			return f, nil, err
		}
		f.Timezone = zone.String()
	}
	return f, found, nil
}

// named reads the record that a member of a body names.
func named[T any](ctx context.Context, log *record.Log[T], account fleet.AccountID, text, pointer string) (*T, error) {
	id, err := fleet.ParseID(log.Kind().Prefix, text)
	if err == nil {
		var r record.Record[T]
		if r, err = log.Get(ctx, account, id); err == nil {
			return &r.Body, nil
		}
		if fleet.CodeOf(err) != fleet.CodeNotFound {
			return nil, err
		}
	}
	return nil, fleet.Invalid(fleet.NoSuch(pointer, strings.ReplaceAll(log.Kind().Name, "_", " "),
		log.Kind().Prefix, text))
}

// BookedNow notes what a record of a vehicle is for, so that it is reversed as it was posted, whatever becomes of
// vehicle and account: the zone once, the class and place whenever the vehicle is another.
func (d *Books) BookedNow(ctx context.Context, account fleet.AccountID, f *record.BookedFor, vehicle string) error {
	if f.Timezone == "" {
		zone, _, err := d.booksOf(ctx, account)
		if err != nil {
			return err
		}
		f.Timezone = zone.String()
	}
	if f.VehicleID == vehicle {
		return nil
	}
	*f = record.BookedFor{VehicleID: vehicle, Timezone: f.Timezone}
	id, err := fleet.ParseID(fleet.VehiclePrefix, vehicle)
	if err != nil {
		return nil
	}
	v, err := d.Vehicles.Get(ctx, account, id)
	if err != nil && fleet.CodeOf(err) != fleet.CodeNotFound {
		return err
	}
	f.ClassID, f.LocationID = v.Body.ClassID, v.Body.HomeLocationID
	return nil
}
