package seed

import (
	"math/rand/v2"
	"slices"
	"time"
)

// buffer is for how long a vehicle is made ready after a rental.
const buffer = 2 * time.Hour

// tracked is for how long before the anchor trackers have told where the cars are.
const tracked = 3 * 24 * time.Hour

// lastLeg is how long before the return the way back is over.
const lastLeg = 10 * time.Minute

// legs makes up what is driven in a rental: away from the branch, on from there by way of the branch a few times a day,
// and back in time. Nobody sets out at night.
func legs(rng *rand.Rand, car Car, from, until time.Time) []Leg {
	if len(car.Ways) == 0 {
		return nil
	}
	var all []Leg
	way, home := rng.IntN(len(car.Ways)), false
	at := from.Add(time.Duration(5+rng.IntN(20)) * time.Minute)
	for {
		takes := car.Ways[way].Takes
		last := until.Add(-lastLeg - takes)
		if home && at.After(last) {
			at = last
		}
		if at.Before(from) || !home && at.Add(takes).After(last) {
			return all // there is no time to go away once more
		}
		all = append(all, Leg{At: at, Way: way, Home: home})
		if home && at.Equal(last) {
			return all
		}
		stay := time.Duration(90+rng.IntN(360)) * time.Minute
		if home { // an errand on the way
			stay = time.Duration(10+rng.IntN(50)) * time.Minute
			way = rng.IntN(len(car.Ways))
		}
		if at = awake(rng, at.Add(takes+stay)); home && at.After(until.Add(-2*time.Hour)) {
			return all
		}
		home = !home
	}
}

// awake is an instant, or the next morning if it lies in the night.
func awake(rng *rand.Rand, at time.Time) time.Time {
	if h := at.Hour(); h >= 7 && h < 23 {
		return at
	}
	morning := time.Date(at.Year(), at.Month(), at.Day(), 7, 0, 0, 0, at.Location())
	if at.Hour() >= 23 {
		morning = morning.AddDate(0, 0, 1)
	}
	return morning.Add(time.Duration(rng.IntN(180)) * time.Minute)
}

// Over is when a rental is over at the latest: it is as agreed, or later.
func (r *Rental) Over() time.Time {
	if r.ActualReturn.After(r.ReturnAt) {
		return r.ActualReturn
	}
	return r.ReturnAt
}

// out says whether the car is, or was, with the customer at an instant.
func (r *Rental) out(at time.Time) bool {
	return r.Outcome == "returned" && !r.ActualPickup.After(at) && r.ActualReturn.After(at)
}

// moments are when there is something to do for a rental.
func (r *Rental) moments() []time.Time {
	all := []time.Time{r.BookedAt}
	var end time.Time
	switch r.Outcome {
	case "cancelled":
		end = r.CancelledAt
	case "no_show":
		end = r.PickupAt.Add(25 * time.Hour)
	default:
		all = append(all, r.ActualPickup)
		end = r.ActualReturn
	}
	for h := range 4 { // damages, deposits and payments follow by the hour
		at := end.Add(time.Duration(h) * time.Hour)
		all = append(all, at)
		if r.PaysLater {
			all = append(all, at.AddDate(0, 0, 16))
		}
	}
	return all
}

// TrackedFrom is since when a tracker has told where a car is: for some days, and for the whole of the rental in which
// these begin.
func (p *Plan) TrackedFrom(car string) time.Time {
	from := p.Anchor.Add(-tracked)
	for i := range p.Rentals[car] {
		if r := &p.Rentals[car][i]; r.out(from) {
			return r.ActualPickup.Add(-time.Hour)
		}
	}
	return from
}

// Drives are the legs of a car since it is tracked, in the order of time.
func (p *Plan) Drives(car string) []Leg {
	from := p.TrackedFrom(car)
	var all []Leg
	for i := range p.Rentals[car] {
		if r := &p.Rentals[car][i]; !r.ActualPickup.Before(from) {
			all = append(all, r.Legs...)
		}
	}
	return all
}

// freeSince is when a car was given back, or came out of the workshop, the last time before an instant.
func (p *Plan) freeSince(car string, at time.Time) (since time.Time, returned bool) {
	since = p.Begin
	for _, s := range p.steps(car) {
		if s.rental != nil && s.rental.Outcome != "returned" {
			continue
		}
		if s.over.After(since) && !s.over.After(at) {
			since, returned = s.over, s.rental != nil
		}
	}
	return since, returned
}

// step is something of the plan that occupies a car.
type step struct {
	rental  *Rental
	service *Service
	begin   time.Time
	over    time.Time // the car is back
	moments []time.Time
}

// due says whether there is something to do that was not yet at an instant, and is before another.
func (s *step) due(done, until time.Time) bool {
	return slices.ContainsFunc(s.moments, func(at time.Time) bool { return !at.Before(done) && at.Before(until) })
}

// steps are those of a car in the order in which they begin.
func (p *Plan) steps(car string) []step {
	var all []step
	for i := range p.Rentals[car] {
		r := &p.Rentals[car][i]
		s := step{rental: r, begin: r.PickupAt, over: r.PickupAt, moments: r.moments()} // nobody has what nobody came for
		if r.Outcome == "returned" {
			s.over = r.ActualReturn
		}
		all = append(all, s)
	}
	for i := range p.Services[car] {
		s := &p.Services[car][i]
		all = append(all, step{service: s, begin: s.From, over: s.Until,
			moments: []time.Time{s.From.Add(-48 * time.Hour), s.From.Add(-47 * time.Hour), s.From, s.Until}})
	}
	slices.SortStableFunc(all, func(a, b step) int { return a.begin.Compare(b.begin) })
	return all
}
