package calendar_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/motorpool/fleet/api/calendar"
)

// drive follows a vehicle through what was promised of it, hour after hour, and says what is wrong: an independent word
// on whether a plan can be carried out. A car nobody knows the place of is where its first booking wants it.
func drive(place string, holds []calendar.Hold) error {
	for h := range 60 {
		now, on := hour(h).Time, 0
		for _, o := range holds {
			if o.Until.Equal(now) && o.Ends != "" {
				place = o.Ends
			}
		}
		for _, o := range holds {
			if !now.Before(o.From.Time) && now.Before(o.Until.Time) {
				on++
			}
			if !o.From.Equal(now) {
				continue
			}
			if o.Begins != "" && place != "" && o.Begins != place {
				return fmt.Errorf("%s begins at %s, and the car is at %s", o.Ref, o.Begins, place)
			}
			if place == "" {
				place = o.Begins
			}
		}
		if on > 1 {
			return fmt.Errorf("%d have the car at %d", on, h)
		}
	}
	return nil
}

// plan is cars with what they are promised, and bookings that have none.
type plan struct {
	places []string
	holds  [][]calendar.Hold
	booked []calendar.Hold
}

func (p *plan) room() calendar.Room {
	r := calendar.Room{Booked: p.booked}
	for i, place := range p.places {
		r.Vehicles = append(r.Vehicles, calendar.Vehicle{ID: uint64(i + 1), Place: place, Holds: p.holds[i]})
	}
	return r
}

// possible tries all ways of giving the bookings cars, and asks drive whether one can be carried out.
func (p *plan) possible(booked []calendar.Hold) bool {
	if len(booked) == 0 {
		return p.driven() == nil
	}
	for i := range p.holds {
		was := p.holds[i]
		p.holds[i] = append(slices.Clone(was), booked[0])
		ok := p.possible(booked[1:])
		p.holds[i] = was
		if ok {
			return true
		}
	}
	return false
}

func (p *plan) driven() error {
	for i, holds := range p.holds {
		if err := drive(p.places[i], holds); err != nil {
			return fmt.Errorf("car %d: %w", i+1, err)
		}
	}
	return nil
}

// give gives a booking of the class one of the cars that can serve it, any of them.
func (p *plan) give(rng *rand.Rand, n int) bool {
	h, r := p.booked[n], p.room()
	var able []int
	for i := range r.Vehicles {
		if r.Vehicles[i].Serves(&h) {
			able = append(able, i)
		}
	}
	if able == nil {
		return false
	}
	car := able[rng.IntN(len(able))]
	p.holds[car], p.booked = append(slices.Clone(p.holds[car]), h), slices.Delete(slices.Clone(p.booked), n, n+1)
	return true
}

// TestWhatAClassPromisesItCanGive makes random bookings of a class at several locations, of its cars, and transfers, as
// far as the rule lets them through. However the bookings get their cars, each gets one, and every car is where the
// next one needs it: an independent drive through each day of each car agrees, and so does a search of all ways to give
// the cars away.
func TestWhatAClassPromisesItCanGive(t *testing.T) {
	all := []string{"A", "A", "B", "B", "C", ""}
	taken, refused, moved, needless := 0, 0, 0, 0
	for seed := range uint64(4000) {
		rng := rand.New(rand.NewPCG(seed, 16))
		anywhere := func() string { return all[rng.IntN(len(all))] }
		p := &plan{}
		for range 1 + rng.IntN(4) {
			place := all[rng.IntN(5)]
			if seed%4 == 0 {
				place = anywhere()
			}
			p.places, p.holds = append(p.places, place), append(p.holds, nil)
		}
		for n := range 10 {
			from := rng.IntN(40)
			h := calendar.Hold{Ref: fmt.Sprint("h", n), From: hour(from), Until: hour(from + 1 + rng.IntN(12)),
				Begins: anywhere()}
			if h.Ends = h.Begins; rng.IntN(3) == 0 {
				h.Ends = cmp.Or(anywhere(), h.Begins) // who does not say where leaves it where it was
			}
			r := p.room()
			switch rng.IntN(4) {
			case 0: // of a car, or a transfer of it
				car := rng.IntN(len(p.places))
				if !r.Vehicles[car].Serves(&h) || r.Refuses(h.Ref, nil, &calendar.Bid{Vehicle: uint64(car + 1), Hold: h}) != nil {
					refused++
					continue
				}
				p.holds[car] = append(slices.Clone(p.holds[car]), h)
			case 1: // one that has none gets its car
				if len(p.booked) > 0 && !p.give(rng, rng.IntN(len(p.booked))) {
					t.Fatalf("seed %d: a booking finds no car among %+v", seed, p)
				}
				continue
			default:
				left := r.Left(&h)
				if by := r.Refuses(h.Ref, nil, &calendar.Bid{Hold: h}); (by == nil) != (left > 0) {
					t.Fatalf("seed %d: %d are left, and %v refuses", seed, left, by)
				} else if by != nil {
					if refused++; p.possible(append(slices.Clone(p.booked), h)) {
						needless++
					}
					continue
				}
				p.booked = append(slices.Clone(p.booked), h)
			}
			if taken++; h.Begins != h.Ends {
				moved++
			}
			if !p.possible(p.booked) {
				t.Fatalf("seed %d: no way to give the cars away in %+v", seed, p)
			}
		}
		for len(p.booked) > 0 {
			if !p.give(rng, rng.IntN(len(p.booked))) {
				t.Fatalf("seed %d: a booking finds no car in the end among %+v", seed, p)
			}
		}
		if err := p.driven(); err != nil {
			t.Fatalf("seed %d: %v in %+v", seed, err, p)
		}
	}
	t.Logf("%d taken, %d of them one way, %d refused, %d of those though some way to give the cars away was left", taken,
		moved, refused, needless)
	if taken < 4000 || refused < 4000 || moved < 1000 || needless > refused/10 {
		t.Error("too little happened, or too much was refused")
	}
}

// A car stands in each of two towns. What is booked in one takes nothing from the other, while both are out or one
// after the other.
func TestABookingInOneTownLeavesTheOtherItsCar(t *testing.T) {
	r := calendar.Room{Vehicles: []calendar.Vehicle{{ID: 1, Place: "Austin"}, {ID: 2, Place: "Dallas"}}}
	r.Booked = []calendar.Hold{{Ref: "1", From: hour(10), Until: hour(20), Begins: "Austin", Ends: "Austin"}}
	for _, c := range []struct {
		what string
		hold calendar.Hold
		left int
	}{
		{"at the same time from Dallas", calendar.Hold{From: hour(10), Until: hour(20), Begins: "Dallas", Ends: "Dallas"}, 1},
		{"to Austin meanwhile", calendar.Hold{From: hour(15), Until: hour(25), Begins: "Dallas", Ends: "Austin"}, 1},
		{"at the same time from Austin", calendar.Hold{From: hour(15), Until: hour(25), Begins: "Austin", Ends: "Austin"}, 0},
		{"from anywhere", calendar.Hold{From: hour(15), Until: hour(25)}, 0},
		{"later from Austin", calendar.Hold{From: hour(20), Until: hour(25), Begins: "Austin", Ends: "Austin"}, 1},
	} {
		c.hold.Ref = "2"
		if left := r.Left(&c.hold); left != c.left {
			t.Errorf("%s: %d left, not %d", c.what, left, c.left)
		}
		if short := r.Refuses("2", nil, &calendar.Bid{Hold: c.hold}); (short == nil) != (c.left > 0) {
			t.Errorf("%s: refused for %v", c.what, short)
		}
	}
}

// Two cars in Austin and one in Dallas: two bookings from Austin are taken, and the third when a car was brought there
// in time.
func TestAClassHasAtALocationWhatIsThere(t *testing.T) {
	p := plan{places: []string{"Austin", "Austin", "Dallas"}, holds: make([][]calendar.Hold, 3)}
	book := func(ref, from, to string, begin, end int) bool {
		r := p.room()
		b := calendar.Bid{Hold: calendar.Hold{Ref: ref, From: hour(begin), Until: hour(end), Begins: from, Ends: to}}
		if r.Refuses(ref, nil, &b) != nil {
			return false
		}
		p.booked = append(p.booked, b.Hold)
		return true
	}
	steps := []struct {
		what string
		do   func() bool
		want bool
	}{
		{"the first from Austin", func() bool { return book("1", "Austin", "Austin", 10, 20) }, true},
		{"the second", func() bool { return book("2", "Austin", "Austin", 10, 20) }, true},
		{"the third, for which the only car is in Dallas", func() bool {
			return book("3", "Austin", "Austin", 10, 20)
		}, false},
		{"from Dallas", func() bool { return book("4", "Dallas", "Dallas", 30, 40) }, true},
		{"from Austin to Dallas while both are out", func() bool { return book("5", "Austin", "Dallas", 15, 25) }, false},
		{"after that", func() bool { return book("5", "Austin", "Dallas", 25, 30) }, true},
		{"from Austin, when one car has left and one is there", func() bool {
			return book("6", "Austin", "Austin", 45, 50)
		}, true},
		{"and another", func() bool { return book("7", "Austin", "Austin", 45, 50) }, false},
		{"when a car has come from Dallas", func() bool {
			brought := calendar.Hold{Ref: "blk", From: hour(21), Until: hour(24), Begins: "Dallas", Ends: "Austin"}
			r := p.room()
			if r.Refuses("blk", nil, &calendar.Bid{Vehicle: 3, Hold: brought}) == nil {
				return false // booking 4 needs it
			}
			brought.From, brought.Until = hour(40), hour(42)
			if r = p.room(); r.Refuses("blk", nil, &calendar.Bid{Vehicle: 3, Hold: brought}) != nil {
				return false
			}
			p.holds[2] = append(p.holds[2], brought)
			return book("8", "Austin", "Austin", 45, 50) // as long as 5 may get either car of Austin, 6 and 8 may get both
		}, false},
		{"when it is known which car has left", func() bool {
			p.holds[0], p.booked = append(p.holds[0], p.booked[3]), slices.Delete(p.booked, 3, 4)
			return book("8", "Austin", "Austin", 45, 50)
		}, true},
		{"anywhere, which any car can serve", func() bool { return book("9", "", "", 0, 5) }, true},
	}
	for _, s := range steps {
		if got := s.do(); got != s.want {
			t.Fatalf("%s: %v", s.what, got)
		}
	}
	for _, at := range []struct {
		hour int
		want string
	}{{39, "Dallas"}, {41, "Dallas"}, {42, "Austin"}} {
		v := p.room().Vehicles[2]
		if got := v.At(hour(at.hour).Time, ""); got != at.want {
			t.Errorf("at %d the car is in %s", at.hour, got)
		}
		v.Place, v.Since = "Waco", hour(50).Time // somebody has seen it there since
		if got := v.At(hour(60).Time, ""); got != "Waco" {
			t.Errorf("seen in Waco, and said to be in %s", got)
		}
	}
}

// A vehicle that was driven elsewhere was where it was driven from before that, whatever is said of it now.
func TestAVehicleWasSomewhereElseBefore(t *testing.T) {
	v := calendar.Vehicle{Place: "Dallas", Since: hour(32).Time, Holds: []calendar.Hold{
		{Ref: "back", From: hour(10), Until: hour(12), Begins: "Austin", Ends: "Waco"},
		{Ref: "away", From: hour(30), Until: hour(32), Begins: "Waco", Ends: "Dallas"},
		{Ref: "comes", From: hour(40), Until: hour(42), Begins: "Dallas", Ends: "Austin"},
	}}
	for at, want := range map[int]string{5: "Austin", 20: "Waco", 35: "Dallas", 50: "Austin"} {
		if got := v.At(hour(at).Time, ""); got != want {
			t.Errorf("at %d in %s, want %s", at, got, want)
		}
	}
	if got := v.At(hour(20).Time, "back"); got != "Waco" {
		t.Errorf("without what brought it there in %s", got)
	}
}

// A hold is displaced by a change if it is in the wrong place after it and was not before, in businesses of one
// location and of two.
func TestAHoldIsDisplacedIfItWasInItsPlaceBefore(t *testing.T) {
	random := rand.New(rand.NewPCG(20, 5))
	displaced, none := 0, 0
	for range 4000 {
		places := []string{"", "Austin", "Austin", "Waco"}[:3+random.IntN(2)]
		place := func() string { return places[random.IntN(len(places))] }
		hold := func(ref string, from int) calendar.Hold {
			h := calendar.Hold{Ref: ref, From: hour(from), Until: hour(from + 1 + random.IntN(4)), Begins: place()}
			if h.Begins != "" {
				h.Ends = cmp.Or(place(), h.Begins)
			}
			return h
		}
		v := calendar.Vehicle{Place: place()}
		for n := range 1 + random.IntN(5) {
			v.Holds = append(v.Holds, hold(fmt.Sprint("h", n), 5*n))
		}
		var had *calendar.Hold
		if random.IntN(2) == 0 {
			h := v.Holds[0]
			had = &h
		}
		var want *calendar.Hold
		all := v.Holds[1:]
		if random.IntN(4) > 0 {
			h := hold("h0", 5*random.IntN(6))
			want, all = &h, append([]calendar.Hold{h}, v.Holds[1:]...)
		}

		with := func(h *calendar.Hold) calendar.Vehicle {
			other := v
			other.Holds = slices.Clone(v.Holds[1:])
			if h != nil {
				other.Holds = append(other.Holds, *h)
			}
			return other
		}
		now, then := with(had), with(want)
		expected := ""
		for _, h := range all {
			was := h
			if h.Ref == "h0" && had != nil {
				was = *had
			}
			before := h.Ref == "h0" && had == nil || now.Misplaced(&was) == nil
			if expected == "" && then.Misplaced(&h) != nil && before {
				expected = h.Ref
			}
		}
		got := ""
		if h, _ := v.Displaced("h0", had, want); h != nil {
			got = h.Ref
			displaced++
		} else {
			none++
		}
		if got != expected {
			t.Fatalf("%q is displaced, want %q: %+v, %+v instead of %+v", got, expected, v, want, had)
		}
	}
	if displaced < 200 || none < 200 {
		t.Errorf("%d displaced and %d not: that tells little", displaced, none)
	}
}

// A vehicle that was given its holds says what one says that looks at each of them.
func TestWhatIsKnownOfAllHoldsChangesNoAnswer(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 3))
	places := []string{"", "loc_1", "loc_2"}
	anywhere, here := func() string { return places[rng.IntN(3)] }, func() string { return places[1] }
	free, tidy := 0, 0
	for range 20_000 {
		place := anywhere
		if rng.IntN(2) == 0 {
			place = here
		}
		hold := func(ref string, from int) calendar.Hold {
			return calendar.Hold{Ref: ref, From: hour(from), Until: hour(from + 1 + rng.IntN(6)), Begins: place(), Ends: place()}
		}
		var holds []calendar.Hold
		from := 0
		for i := range rng.IntN(6) {
			if from += rng.IntN(8); rng.IntN(9) == 0 {
				from = rng.IntN(30) // out of their order, as what was imported with a conflict may be
			}
			holds = append(holds, hold(fmt.Sprint(i%4), from))
		}
		plain := calendar.Vehicle{ID: 1, Place: place(), Since: hour(rng.IntN(10)).Time, Holds: holds}
		given := plain
		held := calendar.NewSeries(holds)
		given.Give(held)
		h := hold(fmt.Sprint(rng.IntN(6)), rng.IntN(40))
		at, more := hour(rng.IntN(50)).Time, hold("9", rng.IntN(40))
		if plain.Serves(&h) {
			free++
		}
		if plain.Serves(&h) != given.Serves(&h) || plain.Free(&h) != given.Free(&h) ||
			(plain.Misplaced(&h) == nil) != (given.Misplaced(&h) == nil) || plain.At(at, h.Ref) != given.At(at, h.Ref) ||
			plain.With(more).Serves(&h) != given.With(more).Serves(&h) {
			t.Fatalf("%+v: of %+v", plain, h)
		}
		if held.Tidy {
			tidy++
		}
		left := held.EndingAfter(at)
		want := slices.DeleteFunc(slices.Clone(holds), func(o calendar.Hold) bool { return !o.Until.After(at) })
		if !slices.Equal(left.Holds, want) {
			t.Fatalf("of %+v from %s on %+v", holds, at, left.Holds)
		}
	}
	if free < 1000 || tidy < 1000 || tidy > 19_000 {
		t.Errorf("%d were free and %d in their order: too few to tell", free, tidy)
	}
}
