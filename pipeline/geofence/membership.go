package geofence

import (
	"math"
	"slices"
	"sync"

	"github.com/motorpool/fleet"
)

// Fix takes a trusted fix, later than the one before. Its cell must be the one of its place, or 0 to have it computed.
func (ix *Index) Fix(s *State, key fleet.VehicleKey, t *fleet.Traits, p *fleet.Position, out *fleet.Entities, moves *[]fleet.FenceMove) {
	ix.Advance(s, key, t, p.FixTime, out, moves)
	v := views.Get().(*view)
	defer v.release()
	v.ix, v.s, v.key, v.traits, v.out, v.moves = ix, s, key, t, out, moves
	v.at, v.place, v.cell, v.changed = p.FixTime, fleet.Place{Lat: p.Lat, Lng: p.Lng}, p.Cell, false
	if v.accuracy = p.Accuracy; !(v.accuracy > 0) {
		v.accuracy = 0
	}
	switch {
	case v.cell != 0:
	case s.At != 0 && p.Lat == s.Lat && p.Lng == s.Lng:
		v.cell = s.Cell
	default:
		v.cell = CellOf(p.Lat, p.Lng)
	}
	v.look()
	v.was = v.was[:0]
	for i := range s.Stays {
		v.was = append(v.was, s.Stays[i].Fence)
	}
	v.stays()
	v.passes()
	v.begin()
	s.At, s.Lat, s.Lng, s.Accuracy, s.Cell = v.at, p.Lat, p.Lng, v.accuracy, v.cell
	if v.changed {
		s.schedule()
		// A dwell that was over when its entry, or a return, was confirmed.
		ix.Advance(s, key, t, v.at, out, moves)
	}
}

// view is a fix and the fences about it.
type view struct {
	ix       *Index
	s        *State
	key      fleet.VehicleKey
	traits   *fleet.Traits
	at       fleet.Millis
	place    fleet.Place
	cell     fleet.Cell
	accuracy float64
	out      *fleet.Entities
	moves    *[]fleet.FenceMove

	in      []entry         // fences in effect that hold it, by fence
	around  []entry         // fences in effect near its cell that do not
	was     []fleet.FenceID // that the vehicle was in, or about to be, before the fix
	near    []entry         // of look and passes
	changed bool            // a deadline has
}

// views are used again for the memory of their lists.
var views = sync.Pool{New: func() any { return new(view) }}

func (v *view) release() {
	v.ix, v.s, v.traits, v.out, v.moves = nil, nil, nil, nil, nil
	views.Put(v)
}

// look sorts the fences of the cell into those that hold the fix and the others.
func (v *view) look() {
	v.in, v.around = v.in[:0], v.around[:0]
	v.near = v.ix.candidates(v.cell, v.near[:0])
	for _, e := range v.near {
		f := &v.ix.fences[e.fence()]
		if !f.valid(v.at) || !f.everyone && !f.meant(v.key.Vehicle, v.traits) || f.hours != nil && !f.hours.open(v.at) {
			continue
		}
		if e&3 == inInterior || e&3 == inBoundary && f.Contains(v.place.Lat, v.place.Lng) {
			v.in = append(v.in, e)
		} else {
			v.around = append(v.around, e)
		}
	}
}

// stays brings the stays up to the fix and takes them out of v.in, so that what is left there is new.
func (v *view) stays() {
	kept, left, next := v.s.Stays[:0], v.in[:0], 0
	for i := range v.s.Stays {
		y := &v.s.Stays[i]
		for next < len(v.in) && v.ix.fences[v.in[next].fence()].ID < y.Fence {
			left = append(left, v.in[next])
			next++
		}
		var inside *fence
		if next < len(v.in) {
			if f := &v.ix.fences[v.in[next].fence()]; f.ID == y.Fence {
				inside = f
				next++
			}
		}
		if inside != nil {
			v.stay(y, inside)
		} else if !v.leave(y) {
			v.changed = true
			continue
		}
		if len(kept) != i {
			kept = append(kept, *y)
		} else {
			kept = kept[:i+1]
		}
	}
	v.s.set(kept)
	v.in = append(left, v.in[next:]...)
}

// stay counts a fix inside.
func (v *view) stay(y *Stay, f *fence) {
	y.End = v.at
	y.Fixes++
	if y.Out != 0 {
		y.Out, v.changed = 0, true
		y.dwell(f)
	}
	if y.Visit == 0 && y.Fixes >= f.confirm() {
		v.enter(y, f)
	}
}

// leave judges a fix that is not inside, and says whether the stay goes on.
func (v *view) leave(y *Stay) bool {
	f := v.ix.version(y.Fence, y.Current)
	switch {
	case y.Visit == 0:
		return false
	case f == nil: // Advance has ended stays without a version
		y.end(v.at, v.place, reasonChanged, v.out)
		return false
	case !f.everyone && !f.meant(v.key.Vehicle, v.traits):
		y.end(v.at, v.place, reasonScope, v.out)
		return false
	case !f.far(v.place.Lat, v.place.Lng, v.accuracy):
		v.stay(y, f)
		return true
	}
	if y.Out++; y.Out == 1 {
		y.OutAt, y.OutPlace, y.DwellAt, v.changed = v.at, v.place, 0, true
	}
	if y.Out < f.confirm() {
		return true
	}
	y.end(y.OutAt, y.OutPlace, reasonLeft, v.out)
	*v.moves = append(*v.moves, y.move(fleet.MoveExit, y.OutAt, y.OutPlace))
	return false
}

// enter makes a visit of a stay that is confirmed.
func (v *view) enter(y *Stay, f *fence) {
	y.Visit = fleet.DerivedID(fleet.KindVisit, v.key, y.Start, uint64(y.Fence))
	y.RecognisedAt = v.at
	y.dwell(f)
	v.changed = true
	what := fleet.MoveEnter
	if y.Initial {
		what = fleet.MoveInside
	}
	*v.out = append(*v.out, y.visit())
	*v.moves = append(*v.moves, y.move(what, y.Start, y.Entry))
}

// begin makes stays of the fences that are left in v.in.
func (v *view) begin() {
	for _, e := range v.in {
		f := &v.ix.fences[e.fence()]
		y := Stay{Fence: f.ID, Revision: f.Revision, Start: v.at, End: v.at, Entry: v.place, Fixes: 1}
		// Nobody saw it enter if there was no fence, or it was inside, at the fix before.
		s := v.s
		y.Initial = s.At == 0 || !f.valid(s.At) || !f.hours.open(s.At) || f.Contains(s.Lat, s.Lng)
		y.settle(f, v.at)
		v.changed = true
		if f.confirm() == 1 {
			v.enter(&y, f)
		}
		at, _ := slices.BinarySearchFunc(s.Stays, y.Fence, func(y Stay, id fleet.FenceID) int {
			switch {
			case y.Fence < id:
				return -1
			case y.Fence > id:
				return 1
			}
			return 0
		})
		s.Stays = slices.Insert(s.Stays, at, y)
	}
}

// sampling is the distance, in metres, between places on a way whose cells are looked up: every place on it is then
// within 180 m of one of them, as area.Covering wants it, with something over for the bend of a long way.
const sampling = 340.0

// passes looks for fences that the way from the fix before goes through, although both fixes are outside.
func (v *view) passes() {
	s := v.s
	gap := v.at - s.At
	if s.At == 0 || gap > MaxGap || gap < 2 || v.place.Lat == s.Lat && v.place.Lng == s.Lng {
		return
	}
	if len(v.around) == 0 && v.cell == s.Cell {
		return
	}
	length := fleet.Distance(s.Lat, s.Lng, v.place.Lat, v.place.Lng)
	if length <= max(v.accuracy, s.Accuracy) || length > MaxSpeed*float64(gap)/1000 {
		return
	}
	near := v.around
	if v.cell != s.Cell {
		near = v.ix.candidates(s.Cell, append(v.near[:0], near...))
		if length > sampling {
			near = v.sample(length, near)
		}
		v.near = near
		slices.Sort(near)
	}
	last := -1
	for _, e := range near {
		i := e.fence()
		if i == last {
			continue
		}
		last = i
		f := &v.ix.fences[i]
		if length > f.margin(0) && f.confirm() == 1 && f.along(s, v.place) && !slices.Contains(v.was, f.ID) {
			v.pass(f)
		}
	}
}

// sample appends the candidates of places on the way.
func (v *view) sample(length float64, near []entry) []entry {
	s, steps := v.s, math.Ceil(length/sampling)
	east := v.place.Lng - s.Lng
	if east > 180 {
		east -= 360
	} else if east < -180 {
		east += 360
	}
	for i := 1.0; i < steps; i++ {
		lat, lng := v.on(i/steps, east)
		near = v.ix.candidates(CellOf(lat, lng), near)
	}
	return near
}

// on returns a place on the way, which goes a number of degrees to the east.
func (v *view) on(fraction, east float64) (lat, lng float64) {
	lng = v.s.Lng + fraction*east
	if lng > 180 {
		lng -= 360
	} else if lng < -180 {
		lng += 360
	}
	return v.s.Lat + fraction*(v.place.Lat-v.s.Lat), lng
}

// along says whether the boxes of the fence and of the way have something in common.
func (f *fence) along(s *State, to fleet.Place) bool {
	south, north := min(s.Lat, to.Lat), max(s.Lat, to.Lat)
	if south > f.bounds.North || north < f.bounds.South {
		return false
	}
	west, east := min(s.Lng, to.Lng), max(s.Lng, to.Lng)
	if f.bounds.West > f.bounds.East || east-west > 180 {
		return true
	}
	return west <= f.bounds.East && east >= f.bounds.West
}

// pass makes a visit of a fence that the way goes through.
func (v *view) pass(f *fence) {
	s := v.s
	if !f.valid(v.at) || !f.valid(s.At) || !f.meant(v.key.Vehicle, v.traits) || !f.hours.open(v.at) || !f.hours.open(s.At) {
		return
	}
	enter, exit, ok := f.Crosses(s.Lat, s.Lng, v.place.Lat, v.place.Lng)
	if !ok || enter <= 0 || exit >= 1 || enter >= exit {
		return
	}
	// The times lie between the fixes, so that no other pass and no entry can have the same.
	time := func(fraction float64) fleet.Millis {
		return s.At + max(1, min(v.at-s.At-1, fleet.Millis(math.Round(fraction*float64(v.at-s.At)))))
	}
	east := v.place.Lng - s.Lng
	if east > 180 {
		east -= 360
	} else if east < -180 {
		east += 360
	}
	place := func(fraction float64) (p fleet.Place) {
		p.Lat, p.Lng = v.on(fraction, east)
		p.Lat, p.Lng = fleet.Quantise(p.Lat), fleet.Quantise(p.Lng)
		return p
	}
	out := place(exit)
	y := Stay{Fence: f.ID, Revision: f.Revision, RecognisedAt: v.at, Start: time(enter), End: time(exit), Entry: place(enter)}
	y.Visit = fleet.DerivedID(fleet.KindVisit, v.key, y.Start, uint64(y.Fence))
	visit := y.visit()
	visit.Open, visit.Crossed, visit.ExitPlace, visit.ExitReason = false, true, &out, reasonLeft
	*v.out = append(*v.out, visit)
	*v.moves = append(*v.moves, y.move(fleet.MoveCross, y.Start, y.Entry))
}
