package alert

import (
	"slices"

	"github.com/motorpool/fleet"
)

// State is what must be remembered of a vehicle between two inputs. The zero value knows nothing.
type State struct {
	Vehicle fleet.VehicleID
	At      fleet.Millis // of the newest input
	Reached fleet.Millis // of the newest input, or the newest deadline that did something: nothing is found before
	Heard   fleet.Millis // when anything was last heard of the vehicle
	Placed  bool         // whether there was a trusted fix,
	Place   fleet.Place  // and where the last was

	Moving     bool
	Stood      fleet.Millis // when it was last seen to stop moving: what moves now began later,
	IdleFrom   fleet.Millis // 0: not idling
	IdleSeen   fleet.Millis // of the newest fix that stands with the engine on
	IdleOver   fleet.Millis // and likewise when it was last seen to stop idling
	Ignition   fleet.Tri    // as last told
	IgnitionAt fleet.Millis // since when
	Parked     bool         // whether it is known
	ParkedAt   fleet.Place  // where the ignition went off

	Odometer    float64 // m, the newest reading that was believed; 0 for none
	FuelPercent bool    // the vehicle tells its fuel in percent, so litres do not count

	Inside   []Inside           // by geofence
	Bound    []fleet.Obligation // what its route plans bind it by; replaced whole, never changed
	Readings []Reading          // by rule
	Fuel     Fuel
	Lean     [2]Lean // roll and pitch
	Found    []Found // by rule, geofence and subject
	Driving  Driving
}

// Inside is a geofence that the vehicle is inside of.
type Inside struct {
	Fence fleet.FenceID
	Since fleet.Millis // that we know of
	Dwelt fleet.Millis // when it had been inside for the geofence's dwell time; 0 if not
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
	Since fleet.Millis // when the condition began
	Begin fleet.Millis // when the rule first saw it: Start of the alert
	Due   fleet.Millis // pending: when it will be raised, if it goes on; 0 never
	Told  fleet.Millis // raised: RecognisedAt of the alert
	Seen  fleet.Millis // the newest input that confirmed it
	Until fleet.Millis // raised: when the window of the schedule closes; 0 never
	Cool  fleet.Millis // nothing is raised before

	What      fleet.AlertKind
	Severity  string
	Threshold float64
	Measured  bool // whether there are values:
	Value     float64
	Peak      float64
	PeakTold  float64
	Placed    bool
	Place     fleet.Place // where it began
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
