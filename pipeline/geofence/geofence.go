// Package geofence tells which geofences a vehicle is in, and makes its visits of them. It is pure: an Index is
// compiled from the versions of an account's fences and never changes, a State holds what is known of one vehicle, and
// both together turn its trusted fixes, in order of event time, into visits and moves. No clock, no store, no
// goroutine; an Index may serve any number of vehicles at once, a State one caller.
//
// A fence is in effect for a vehicle at a time at which one of its versions holds, the vehicle is in that version's
// scope and its schedule is open. Where it is not in effect it does not exist. What is in a fence is decided by
// query/area, exactly; the index, by the H3 cell of the fix, only leaves out what cannot be.
//
//	          Confirm fixes inside, one after the other
//	[outside] ------------------------------------------> [inside]   enter, at the first of these fixes
//	          <------------------------------------------            exit, at the first of these fixes
//	          Confirm fixes outside by more than the margin
//
// The margin is the greater of the fence's Margin (DefaultMargin if it is 0) and the accuracy of the fix, so that noise
// at the border neither enters nor leaves; Confirm is 1 unless the fence says otherwise. The rest:
//
//	first fix, new version, schedule opens   already inside: a visit marked initial and the move inside, no enter
//	new version while inside                 the visit goes on under its first revision if the last place is not outside
//	                                         the new version by more than the margin; else fence_changed, no exit
//	archived                                 fence_changed, no exit
//	schedule closes, scope is lost           out_of_scope, no exit; a lost scope shows at the next fix
//	between two fixes, both outside          a visit marked crossed and the move cross, its times interpolated: fixes not
//	                                         more than MaxGap and MaxSpeed apart, more than the margin from each other,
//	                                         the fence in effect at both, and Confirm not above 1 (nothing confirms)
//	silence                                  a visit stays open; the way across it is not a pass
//	dwell                                    once a visit, at entry + Dwell, by Advance; not while an exit waits to be
//	                                         confirmed
//
// The End of a visit is the time of its exit fix, of the last fix in it while it is open. Doubtful fixes
// must not be given.
package geofence

import (
	"github.com/motorpool/fleet"
)

const (
	// DefaultMargin is how far outside, in metres, a fix must be to be an exit; see parked drift in pipeline/fix.
	DefaultMargin = 25.0
	// MaxGap is the longest silence across which a pass is believed.
	MaxGap = fleet.Millis(5 * 60 * 1000)
	// MaxSpeed, in m/s, is that of a jump in pipeline/fix: no pass is believed above it.
	MaxSpeed = 250 * fleet.MetresPerKmh
)

// Reasons for the end of a visit.
const (
	reasonLeft    = "left"
	reasonChanged = "fence_changed"
	reasonScope   = "out_of_scope"
)

// State is what is known of a vehicle. The zero value knows nothing.
type State struct {
	At       fleet.Millis // of the newest fix; 0 for none
	Lat, Lng float64      // where it was
	Accuracy float64      // m, 0 if unknown
	Cell     fleet.Cell
	Stays    []Stay // by fence

	Index uint64       // the index that Due and the stays' deadlines were taken from
	Due   fleet.Millis // the earliest of the deadlines; 0 for none
}

// Stay is a fence that the vehicle is in, or about to be.
type Stay struct {
	Fence   fleet.FenceID
	Current uint64 // revision of the version that judges it now

	Visit        uint64 // identity of the visit; 0 until the entry is confirmed
	Revision     uint64 // version at entry
	Initial      bool
	RecognisedAt fleet.Millis
	Start, End   fleet.Millis // of the first fix inside, and of the last
	Entry        fleet.Place
	DwelledAt    fleet.Millis
	Fixes        int

	Out      int // fixes in a row outside
	OutAt    fleet.Millis
	OutPlace fleet.Place

	Until   fleet.Millis // when its version ends or its schedule closes; 0 for never
	DwellAt fleet.Millis // when it will have dwelled; 0 for never, or if it has
	Limit   float64      // speed limit of its version, m/s
}

// Clone returns a copy that shares nothing.
func (s *State) Clone() State {
	c := *s
	c.Stays = append([]Stay(nil), s.Stays...)
	return c
}

// Inside appends to buf the fences that the vehicle is in, in ascending order.
func (ix *Index) Inside(s *State, buf []fleet.FenceID) []fleet.FenceID {
	for i := range s.Stays {
		if s.Stays[i].Visit != 0 {
			buf = append(buf, s.Stays[i].Fence)
		}
	}
	return buf
}

// SpeedLimit returns the lowest speed limit, in m/s, of the fences that the vehicle is in, and the first fence that has
// it; 0 and 0 if none has one.
func (ix *Index) SpeedLimit(s *State) (limit float64, fence fleet.FenceID) {
	for i := range s.Stays {
		if y := &s.Stays[i]; y.Visit != 0 && y.Limit > 0 && (limit == 0 || y.Limit < limit) {
			limit, fence = y.Limit, y.Fence
		}
	}
	return limit, fence
}

// Open appends the visits that go on, as they are now.
func (ix *Index) Open(s *State, key fleet.VehicleKey, out *fleet.Entities) {
	for i := range s.Stays {
		if s.Stays[i].Visit != 0 {
			*out = append(*out, s.Stays[i].visit())
		}
	}
}

// visit returns the visit of a stay as it is now.
func (y *Stay) visit() *fleet.Visit {
	return &fleet.Visit{
		Head:  fleet.Head{ID: y.Visit, RecognisedAt: y.RecognisedAt, Start: y.Start, End: y.End, Open: true},
		Fence: y.Fence, Revision: y.Revision, Initial: y.Initial, EntryPlace: y.Entry, DwelledAt: y.DwelledAt, Fixes: y.Fixes,
	}
}

// move returns a step of the stay over the fence's edge.
func (y *Stay) move(what string, at fleet.Millis, place fleet.Place) fleet.FenceMove {
	return fleet.FenceMove{Fence: y.Fence, Revision: y.Revision, What: what, At: at, Place: place, Visit: y.Visit}
}
