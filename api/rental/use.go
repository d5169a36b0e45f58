package rental

import "github.com/motorpool/fleet/api/record"

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

// DrivenSince is since when an active booking has the vehicle that it has now.
func DrivenSince(b *record.Booking) record.Instant {
	for i := len(b.VehicleSwaps) - 1; i >= 0; i-- {
		if s := &b.VehicleSwaps[i]; !s.From.IsZero() {
			return s.Until
		}
	}
	return b.ActualPickupAt
}
