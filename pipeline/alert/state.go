package alert

import (
	"slices"

	"github.com/motorpool/fleet"
)

// State is what must be remembered of a vehicle between two inputs. The zero value knows nothing.
type State struct {
	Vehicle fleet.VehicleID
	At      fleet.Millis // The time of the newest input.
	Reached fleet.Millis // The newest input, or the newest deadline that did something: nothing is found before it.
	Heard   fleet.Millis // When anything was last heard of the vehicle.
	Placed  bool         // There was a trusted fix.
	Place   fleet.Place  // Where the last trusted fix was, if Placed.

	Moving     bool
	Stood      fleet.Millis // When it was last seen to stop moving: what moves now began later.
	IdleFrom   fleet.Millis // Since when it idles; 0 if it does not.
	IdleSeen   fleet.Millis // The newest fix that stands with the engine on.
	IdleOver   fleet.Millis // When it was last seen to stop idling.
	Ignition   fleet.Tri    // The ignition as last told.
	IgnitionAt fleet.Millis // Since when the ignition is so.
	Parked     bool         // It is known where the ignition went off.
	ParkedAt   fleet.Place  // Where the ignition went off, if Parked.

	Odometer    float64 // The newest reading that was believed, in metres; 0 for none.
	FuelPercent bool    // The vehicle tells its fuel in percent, so litres do not count.

	Inside   []Inside           // Ordered by geofence.
	Bound    []fleet.Obligation // What its route plans bind it by; replaced whole, never changed.
	Readings []Reading          // Ordered by rule.
	Fuel     Fuel
	Lean     [2]Lean // Roll and pitch.
	Found    []Found // Ordered by rule, geofence and subject.
	Driving  Driving
}

// Inside is a geofence that the vehicle is inside of.
type Inside struct {
	Fence fleet.FenceID
	Since fleet.Millis // Since when, as far as we know.
	Dwelt fleet.Millis // When it had been inside for the geofence's dwell time; 0 if not.
}

// Phase is where a rule instance stands.
type Phase uint8

// The phases; see the package comment.
const (
	Idle Phase = iota
	Pending
	Raised
	Cooling
)

// Found is an instance of a rule that is not idle.
type Found struct {
	Rule     fleet.RuleID
	Fence    fleet.FenceID
	Subject  string
	Revision uint64

	Phase Phase
	Since fleet.Millis // When the condition began.
	Begin fleet.Millis // When the rule first saw it, which is Start of the alert.
	Due   fleet.Millis // When a pending one will be raised, if it goes on; 0 for never.
	Told  fleet.Millis // When a raised one was recognised, which is RecognisedAt of the alert.
	Seen  fleet.Millis // The newest input that confirmed it.
	Until fleet.Millis // When the window of the schedule of a raised one closes; 0 for never.
	Cool  fleet.Millis // Nothing is raised before this time.

	What      fleet.AlertKind
	Severity  string
	Threshold float64
	Measured  bool // There are values: Value, Peak and PeakTold.
	Value     float64
	Peak      float64
	PeakTold  float64
	Placed    bool
	Place     fleet.Place // Where it began.
}

// Clone returns a copy that shares nothing.
func (s *State) Clone() State {
	c := *s
	c.Inside, c.Found, c.Readings = slices.Clone(s.Inside), slices.Clone(s.Found), slices.Clone(s.Readings)
	return c
}

// find returns where an instance is or belongs.
func (s *State) find(rule fleet.RuleID, fence fleet.FenceID, subject string) (int, bool) {
	low, high := 0, len(s.Found)
	for low < high {
		mid := (low + high) / 2
		f := &s.Found[mid]
		if f.Rule < rule || f.Rule == rule && (f.Fence < fence || f.Fence == fence && f.Subject < subject) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == len(s.Found) {
		return low, false
	}
	f := &s.Found[low]
	return low, f.Rule == rule && f.Fence == fence && f.Subject == subject
}

// insideOf returns the entry of a geofence, or nil.
func (s *State) insideOf(fence fleet.FenceID) *Inside {
	for i := range s.Inside {
		if s.Inside[i].Fence == fence {
			return &s.Inside[i]
		}
	}
	return nil
}

// entered takes over which geofences the vehicle is inside of, and since when.
func (s *State) entered(in *Input) {
	for i := range in.Moves {
		if m := &in.Moves[i]; m.What == fleet.MoveExit {
			s.Inside = slices.DeleteFunc(s.Inside, func(x Inside) bool { return x.Fence == m.Fence })
		}
	}
	if len(s.Inside) > 0 {
		s.Inside = slices.DeleteFunc(s.Inside, func(x Inside) bool { return !slices.Contains(in.Inside, x.Fence) })
	}
	for _, fence := range in.Inside {
		if s.insideOf(fence) != nil {
			continue
		}
		x := Inside{Fence: fence, Since: in.At}
		for i := range in.Moves {
			if m := &in.Moves[i]; m.Fence == fence && (m.What == fleet.MoveEnter || m.What == fleet.MoveInside) {
				x.Since = m.At
			}
		}
		at, _ := slices.BinarySearchFunc(s.Inside, fence, func(x Inside, f fleet.FenceID) int {
			if x.Fence < f {
				return -1
			}
			return 1
		})
		s.Inside = slices.Insert(s.Inside, at, x)
	}
	for i := range in.Moves {
		if m := &in.Moves[i]; m.What == fleet.MoveDwell {
			if x := s.insideOf(m.Fence); x != nil {
				x.Dwelt = m.At
			}
		}
	}
}
