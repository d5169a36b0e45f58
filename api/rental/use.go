package rental

import (
	"fmt"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// Leg is the time for which a rental had one of its vehicles. What was read then is in the booking, and may be
// changed there.
type Leg struct {
	VehicleID   string
	From, Until record.Instant // when it was taken and given back; zero before that
	Taken, Back **int          // what was read then
	Fuel        [2]**float64   // in the tank when it was taken, and when it was given back
	Battery     [2]**int       // of the traction battery
	Meter       **float64      // what the vehicle's meter had before, if that is more than was read when it was taken
}

// Legs are the vehicles that a rental had, one after the other. The last is the one that it has now, or is to get.
func Legs(b *record.Booking) []Leg {
	var all []Leg
	for i := range b.VehicleSwaps {
		if s := &b.VehicleSwaps[i]; !s.From.IsZero() { // else it was never driven off
			all = append(all,
				Leg{VehicleID: s.VehicleID, From: s.From, Until: s.Until, Taken: &s.PickupMileageMi, Back: &s.MileageMi,
					Fuel: [2]**float64{&s.PickupFuelPct, &s.FuelPct}, Battery: [2]**int{&s.PickupBattery, &s.Battery},
					Meter: &s.PickupMeterMi})
		}
	}
	since := b.ActualPickupAt
	if all != nil {
		since = all[len(all)-1].Until
	}
	return append(all,
		Leg{VehicleID: b.VehicleID, From: since, Until: b.ActualReturnAt, Taken: &b.PickupMileageMi, Back: &b.ReturnMileageMi,
			Fuel: [2]**float64{&b.PickupFuelPct, &b.ReturnFuelPct}, Battery: [2]**int{&b.PickupBattery, &b.ReturnBattery},
			Meter: &b.PickupMeterMi})
}

// MilesDriven is how far a booking's vehicles were driven; nil if nobody knows it of each of them.
func MilesDriven(b *record.Booking) *int {
	miles := 0
	for _, l := range Legs(b) {
		if *l.Taken == nil || *l.Back == nil {
			return nil
		}
		miles += **l.Back - **l.Taken
	}
	return &miles
}

// Unread says in words which odometer readings of a booking nobody took: because of them MilesDriven does not know how
// far it was driven.
func Unread(b *record.Booking) []string {
	var all []string
	note := func(reached record.Instant, miles *int, vehicle, when string) {
		if !reached.IsZero() && miles == nil {
			all = append(all, fmt.Sprintf("no odometer reading of %s was taken at %s, so that miles driven are not known and none are charged for", vehicle, when))
		}
	}
	legs := Legs(b)
	for i, l := range legs {
		given := "the swap"
		if i == len(legs)-1 {
			given = "return"
		}
		note(l.From, *l.Taken, l.VehicleID, "pickup")
		note(l.Until, *l.Back, l.VehicleID, given)
	}
	return all
}

// Missing is how many whole percent there are less in the tanks of a booking's vehicles than when they were taken, and
// in their traction batteries: of each vehicle by its own levels, nothing where one of the two is not known.
func Missing(b *record.Booking) (fuel, battery int64) {
	for _, l := range Legs(b) {
		fuel += missing(l.Fuel)
		battery += missing(l.Battery)
	}
	return fuel, battery
}

func missing[T int | float64](level [2]**T) int64 {
	taken, back := *level[0], *level[1]
	if taken == nil || back == nil || *back >= *taken {
		return 0
	}
	return int64(*taken - *back)
}

// Unlevelled says in words of which vehicles a level was taken at one end only: because of that nothing is
// missing of them.
func Unlevelled(b *record.Booking) []string {
	var all []string
	note := func(l Leg, what string, taken, back bool) {
		when := "when it was given back"
		if !taken {
			when = "when it was driven off with"
		}
		if !l.Until.IsZero() && taken != back {
			all = append(all, fmt.Sprintf("no %s level of %s was taken %s, so that nothing is charged for what is missing", what,
				l.VehicleID, when))
		}
	}
	for _, l := range Legs(b) {
		note(l, "fuel", *l.Fuel[0] != nil, *l.Fuel[1] != nil)
		note(l, "battery", *l.Battery[0] != nil, *l.Battery[1] != nil)
	}
	return all
}

// KeptOneWay says in words that a vehicle came back where it costs less than what was agreed, which stays charged; ""
// if it did not.
func KeptOneWay(b *record.Booking) string {
	if b.AgreedReturnID == nil || b.RateSnapshot == nil || b.RateSnapshot.Basis.OneWayFee == nil {
		return ""
	}
	agreed, costs := b.RateSnapshot.Basis.OneWayFee.Amount, int64(0)
	if b.ElsewhereFee != nil {
		costs = b.ElsewhereFee.Amount
	}
	if costs >= agreed {
		return ""
	}
	return "the one-way fee that was agreed stays charged, with its tax, though the vehicle was returned where less is asked; post an adjustment if the customer does not owe it"
}

// RanBack says in words which odometers were taken at pickup as less than the vehicle's meter had before.
func RanBack(b *record.Booking) []string {
	var all []string
	for _, l := range Legs(b) {
		if miles, meter := *l.Taken, *l.Meter; miles != nil && meter != nil {
			all = append(all, fmt.Sprintf("the odometer of %s was taken as %d mi at pickup, and its meter had %.0f mi before; the miles driven are counted from what was taken",
				l.VehicleID, *miles, *meter))
		}
	}
	return all
}

// Early is by how much a vehicle may be picked up before the agreed time at no cost and with nobody being told.
const Early = time.Hour

// PickedUpEarly says in words that a vehicle was picked up well before the agreed time, and whether that was charged;
// "" if it was not.
func PickedUpEarly(b *record.Booking) string {
	agreed, charged := b.PickupAt, "nothing was charged for the time before"
	if s := b.RateSnapshot; s != nil && !s.Basis.AgreedPickupAt.IsZero() {
		agreed, charged = s.Basis.AgreedPickupAt, "the days before it are charged as well"
	} else if b.ActualPickupAt.IsZero() || agreed.Sub(b.ActualPickupAt.Time) <= Early {
		return ""
	}
	return fmt.Sprintf("the vehicle was picked up %s before the agreed pickup, which was at %s; %s",
		about(agreed.Sub(b.ActualPickupAt.Time)), agreed.In(fleet.ZoneOf(b.Timezone)).Format("2006-01-02 15:04 MST"), charged)
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
	legs := Legs(b)
	return legs[len(legs)-1].From
}
