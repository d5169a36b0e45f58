package record

import (
	"time"

	"github.com/motorpool/fleet"
)

// InFleet returns from when until when a vehicle is in the fleet: from the beginning of in_service_on to that of
// disposal_on, by the first of some time zones that there is. Either is zero if the vehicle does not say it.
func InFleet(v *VehicleFields, zones ...string) (from, until time.Time) {
	begin := func(text string) time.Time {
		if text == "" {
			return time.Time{}
		}
		at, err := time.ParseInLocation(time.DateOnly, text, fleet.ZoneOf(zones...))
		if err != nil {
			return time.Time{}
		}
		return at
	}
	return begin(v.InServiceOn), begin(v.DisposalOn)
}

// NotInFleet says that a vehicle is not in the fleet for the whole of a rental, nil if it is. That it was not in
// service yet is said of days to come only: of what has taken place already in_service_on is what was noted wrongly.
func NotInFleet(v *VehicleFields, pickup, back, now time.Time, zones ...string) *fleet.FieldError {
	from, until := InFleet(v, zones...)
	fault := &fleet.FieldError{Pointer: "/return_at", Code: "not_in_fleet"}
	switch {
	case !until.IsZero() && back.After(until):
		if fault.Detail = "is after the vehicle leaves the fleet, by its disposal_on " + v.DisposalOn; !pickup.Before(until) {
			fault.Pointer = "/pickup_at"
		}
	case from.After(now) && pickup.Before(from):
		fault.Pointer = "/pickup_at"
		fault.Detail = "is before the vehicle comes into service, by its in_service_on " + v.InServiceOn
	default:
		return nil
	}
	return fault
}
