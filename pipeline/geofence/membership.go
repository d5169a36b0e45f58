package geofence

import (
	"math"
	"slices"
	"sync"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query/area"
)

// Fix takes a trusted fix, later than the one before. Its cell must be the one of its place, or 0 to have it computed.
func (ix *Index) Fix(s *State, key fleet.VehicleKey, t *fleet.Traits, p *fleet.Position, out *fleet.Entities,
	moves *[]fleet.FenceMove) {
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
	ended   []fleet.FenceID // of stays that the fix has ended
	changed bool            // a deadline has
	room    []entry         // for candidates

	// Of passes.
	way area.Way    // from the fix before
	box area.Bounds // of it
	met []int       // fences whose box that meets
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
	begun := v.at >= v.ix.begun
	v.room = v.ix.candidates(v.cell, v.room[:0])
	for _, e := range v.room {
		b := &v.ix.briefs[e.fence()]
		if !(begun && e&lasting != 0) && !(b.valid(v.at) && (e&lasting != 0 || v.ix.fences[e.fence()].open(v))) {
			continue
		}
		if e.kind() == inInterior || e.kind() == inBoundary && b.shape.Contains(v.place.Lat, v.place.Lng) {
			v.in = append(v.in, e)
		} else {
			v.around = append(v.around, e)
		}
	}
}

// open says whether the fence is there for the vehicle at the hour of the fix.
func (f *fence) open(v *view) bool { return f.meant(v.key.Vehicle, v.traits) && f.hours.open(v.at) }

// stays brings the stays up to the fix and takes them out of v.in, so that what is left there is new.
func (v *view) stays() {
	v.ended = v.ended[:0]
	kept, left, next, beside := v.s.Stays[:0], v.in[:0], 0, 0
	for i := range v.s.Stays {
		y := &v.s.Stays[i]
		for next < len(v.in) && v.ix.ids[v.in[next].fence()] < y.Fence {
			left = append(left, v.in[next])
			next++
		}
		var inside *fence
		if next < len(v.in) {
			if i := v.in[next].fence(); v.ix.ids[i] == y.Fence {
				inside = &v.ix.fences[i]
				next++
			}
		}
		if inside != nil {
			v.stay(y, inside)
		} else {
			for beside < len(v.around) && v.ix.ids[v.around[beside].fence()] < y.Fence {
				beside++
			}
			if !v.leave(y, v.judge(y, v.around[beside:])) {
				v.ended, v.changed = append(v.ended, y.Fence), true
				continue
			}
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

// judge returns the version that judges a stay, or nil. Unless the fix is far from it, it is the first of around.
func (v *view) judge(y *Stay, around []entry) *fence {
	if len(around) > 0 {
		if f := &v.ix.fences[around[0].fence()]; f.ID == y.Fence && f.Revision == y.Current {
			return f
		}
	}
	return v.ix.version(y.Fence, y.Current)
}

// leave judges a fix that is not inside by a version, and says whether the stay goes on.
func (v *view) leave(y *Stay, f *fence) bool {
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
		y.applyVersion(f, v.at)
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

// passes looks for fences that the way from the fix before goes through, although both fixes are outside. They are in
// the cells of both and of places between; most of them the box of the way is far from already.
func (v *view) passes() {
	s := v.s
	gap := v.at - s.At
	if s.At == 0 || gap > MaxGap || gap < 2 || v.place.Lat == s.Lat && v.place.Lng == s.Lng {
		return
	}
	length, most := -1.0, v.atMost()
	if most <= max(v.accuracy, s.Accuracy) {
		return
	}
	v.met, v.box = v.met[:0], around(s, v.place)
	far := v.cell != s.Cell && most > sampling
	if far {
		if length = v.believed(); length == 0 {
			return
		}
		v.box = bulged(v.box, length)
	}
	for _, e := range v.around {
		v.meet(e)
	}
	// No place on a shorter way is more than 180 m from this fix: what the way goes through is near its cell.
	if v.cell != s.Cell && most > sampling/2 {
		v.room = v.ix.candidates(s.Cell, v.room[:0])
		for _, e := range v.room {
			if e.kind() != inInterior { // the fix before was inside
				v.meet(e)
			}
		}
	}
	if far && length > sampling {
		v.sample(length)
	}
	if len(v.met) == 0 {
		return
	}
	slices.Sort(v.met)
	v.way = area.NewWay(s.Lat, s.Lng, v.place.Lat, v.place.Lng)
	for _, i := range v.met {
		if v.entered(i) || v.was(v.ix.ids[i]) {
			continue
		}
		enter, exit, ok := v.ix.briefs[i].shape.Passes(&v.way)
		if !ok {
			continue
		}
		f := &v.ix.fences[i]
		if f.confirm() > 1 || !f.valid(v.at) || !f.valid(s.At) || !f.open(v) || !f.hours.open(s.At) {
			continue
		}
		// The length is costly, and few get here.
		if length < 0 {
			length = v.believed()
		}
		if length > f.margin(0) {
			v.pass(f, enter, exit)
		}
	}
}

// around is the box of the way from the fix before.
func around(s *State, to fleet.Place) area.Bounds {
	b := area.Bounds{South: min(s.Lat, to.Lat), West: min(s.Lng, to.Lng), North: max(s.Lat, to.Lat),
		East: max(s.Lng, to.Lng)}
	if b.East-b.West > 180 {
		b.West, b.East = b.East, b.West
	}
	return b
}

// bulged is the box with room for the great circle between its corners, which comes nearer to a pole than both where it
// is long: 14 m for the longest way that is believed, at 60 degrees. A tenth is for what the series leaves out.
func bulged(b area.Bounds, length float64) area.Bounds {
	height := 1.1 * length * length * math.Tan(max(b.North, -b.South)*math.Pi/180) / (8 * fleet.EarthRadius) /
		metresPerDegree
	b.South, b.North = b.South-height, b.North+height
	return b
}

// meet keeps the fence of an entry in mind if its box and that of the way have something in common.
func (v *view) meet(e entry) {
	if i := e.fence(); v.ix.briefs[i].bounds.Overlaps(v.box) && !slices.Contains(v.met, i) {
		v.met = append(v.met, i)
	}
}

const metresPerDegree = fleet.EarthRadius * math.Pi / 180 // of latitude

// atMost returns a length that the way surely does not exceed: a degree of longitude is nowhere longer than
// one of latitude.
func (v *view) atMost() float64 {
	north, east := v.place.Lat-v.s.Lat, v.place.Lng-v.s.Lng
	return math.Sqrt(north*north+east*east) * metresPerDegree * (1 + 1e-9)
}

// believed returns the length of the way, in metres, and 0 if the vehicle need not, or cannot, have gone it.
func (v *view) believed() float64 {
	s := v.s
	length := fleet.Distance(s.Lat, s.Lng, v.place.Lat, v.place.Lng)
	if length <= max(v.accuracy, s.Accuracy) || length > MaxSpeed*float64(v.at-s.At)/1000 {
		return 0
	}
	return length
}

// entered says whether the fix is the first in a fence.
func (v *view) entered(i int) bool {
	return slices.ContainsFunc(v.in, func(e entry) bool { return e.fence() == i })
}

// was says whether the vehicle was in a fence, or about to be, before the fix.
func (v *view) was(id fleet.FenceID) bool {
	return slices.Contains(v.ended, id) || slices.ContainsFunc(v.s.Stays, func(y Stay) bool { return y.Fence == id })
}

// sample keeps in mind the fences at places on the way.
func (v *view) sample(length float64) {
	s, steps := v.s, math.Ceil(length/sampling)
	east := v.place.Lng - s.Lng
	if east > 180 {
		east -= 360
	} else if east < -180 {
		east += 360
	}
	for i := 1.0; i < steps; i++ {
		v.room = v.ix.candidates(CellOf(v.on(i/steps, east)), v.room[:0])
		for _, e := range v.room {
			v.meet(e)
		}
	}
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

// pass makes a visit of a fence that the way goes through.
func (v *view) pass(f *fence, enter, exit float64) {
	s := v.s
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
	y := Stay{Fence: f.ID, Revision: f.Revision, RecognisedAt: v.at, Start: time(enter), End: time(exit),
		Entry: place(enter)}
	y.Visit = fleet.DerivedID(fleet.KindVisit, v.key, y.Start, uint64(y.Fence))
	visit := y.visit()
	visit.Open, visit.Crossed, visit.ExitPlace, visit.ExitReason = false, true, &out, reasonLeft
	*v.out = append(*v.out, visit)
	*v.moves = append(*v.moves, y.move(fleet.MoveCross, y.Start, y.Entry))
}
