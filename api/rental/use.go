package rental

import (
	"fmt"
	"time"

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

// RanBack says in words which odometers were taken at pickup as less than the vehicle's meter had before.
func RanBack(b *record.Booking) []string {
	var all []string
	note := func(vehicle string, miles *int, meter *float64) {
		if miles != nil && meter != nil {
			all = append(all, fmt.Sprintf("the odometer of %s was taken as %d mi at pickup, and its meter had %.0f mi before; the miles driven are counted from what was taken",
				vehicle, *miles, *meter))
		}
	}
	for _, s := range b.VehicleSwaps {
		note(s.VehicleID, s.PickupMileageMi, s.PickupMeterMi)
	}
	note(b.VehicleID, b.PickupMileageMi, b.PickupMeterMi)
	return all
}

// Early is by how much a vehicle may be picked up before the agreed time at no cost and with nobody being told.
const Early = time.Hour

// PickedUpEarly says in words that a vehicle was picked up well before the agreed time, and whether that was charged; "" if it was not.
func PickedUpEarly(b *record.Booking) string {
	agreed, charged := b.PickupAt, "nothing was charged for the time before"
	if s := b.RateSnapshot; s != nil && !s.Basis.AgreedPickupAt.IsZero() {
		agreed, charged = s.Basis.AgreedPickupAt, "the days before it are charged as well"
	} else if b.ActualPickupAt.IsZero() || agreed.Sub(b.ActualPickupAt.Time) <= Early {
		return ""
	}
	zone, err := time.LoadLocation(b.Timezone)
	if err != nil {
		zone = time.UTC
	}
	return fmt.Sprintf("the vehicle was picked up %s before the agreed pickup, which was at %s; %s", about(agreed.Sub(b.ActualPickupAt.Time)),
		agreed.In(zone).Format("2006-01-02 15:04 MST"), charged)
}

// about writes a time in words: "2 days and 3 hours", "40 minutes".
func about(d time.Duration) string {
	count := func(n int, thing string) string {
		if n == 1 {
			return "1 " + thing
		}
		return fmt.Sprint(n, " ", thing, "s")
	}
	minutes := int(d.Round(time.Minute) / time.Minute)
	days, hours := minutes/(24*60), minutes/60%24
	switch {
	case minutes < 60:
		return count(minutes, "minute")
	case days == 0:
		return count(hours, "hour")
	case hours == 0:
		return count(days, "day")
	}
	return count(days, "day") + " and " + count(hours, "hour")
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
