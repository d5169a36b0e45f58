package desk

import (
	"context"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// Resolved is what the fields of a booking lead to.
type Resolved struct {
	Fields   record.BookingFields // completed: channel, class of the vehicle, location of return, rate plan
	Vehicle  *record.Record[record.Vehicle]
	Class    *record.Record[record.VehicleClass]
	Pickup   *record.Record[record.Location]
	Return   *record.Record[record.Location]
	Customer *record.Record[record.Customer]
	Drivers  []record.Record[record.Customer]
	Plan     *record.Record[record.RatePlan] // nil where vehicle or class alone have a rate
	Zone     *time.Location                  // of the pickup location, the vehicle or the account; its name is the booking's timezone

	BufferBefore, BufferAfter time.Duration // of the vehicle, or its class
}

// Price works out what a booking with these fields would cost, had it been made at an instant. What does not exist or does not
// fit is a *fleet.Error of the code fleet.CodeValidation, with pointers into the fields; whether a vehicle is free is not asked.
func (d *Desk) Price(ctx context.Context, account fleet.AccountID, fields record.BookingFields, bookedAt time.Time) (record.RateSnapshot, Resolved, error) {
	panic("soon")
}
