package rental

import (
	"fmt"

	"github.com/motorpool/fleet/api/record"
)

// MilesDriven is how far a booking's vehicles were driven; nil if nobody knows it of each of them.
func MilesDriven(b *record.Booking) *int {
	if b.PickupMileageMi == nil || b.ReturnMileageMi == nil {
		return nil
	}
	miles := *b.ReturnMileageMi - *b.PickupMileageMi
	for _, s := range b.VehicleSwaps {
		if s.From.IsZero() {
			continue // it was never driven off
		}
		if s.PickupMileageMi == nil || s.MileageMi == nil {
			return nil
		}
		miles += *s.MileageMi - *s.PickupMileageMi
	}
	return &miles
}

// Unread says in words which odometer readings of a booking nobody took: because of them MilesDriven does not know how far it was driven.
func Unread(b *record.Booking) []string {
	var all []string
	note := func(reached record.Instant, miles *int, vehicle, when string) {
		if !reached.IsZero() && miles == nil {
			all = append(all, fmt.Sprintf("no odometer reading of %s was taken at %s, so that miles driven are not known and none are charged for", vehicle, when))
		}
	}
	for _, s := range b.VehicleSwaps {
		if s.From.IsZero() {
			continue // it was never driven off
		}
		note(s.From, s.PickupMileageMi, s.VehicleID, "pickup")
		note(s.Until, s.MileageMi, s.VehicleID, "the swap")
	}
	note(b.ActualPickupAt, b.PickupMileageMi, b.VehicleID, "pickup")
	note(b.ActualReturnAt, b.ReturnMileageMi, b.VehicleID, "return")
	return all
}

// DrivenSince is since when an active booking has the vehicle that it has now.
func DrivenSince(b *record.Booking) record.Instant {
	for i := len(b.VehicleSwaps) - 1; i >= 0; i-- {
		if s := &b.VehicleSwaps[i]; !s.From.IsZero() {
			return s.Until
		}
	}
	return b.ActualPickupAt
}
