package geofence

import "github.com/motorpool/fleet"

// Wake returns the earliest time at which Advance would do something, 0 for never. It may lie before the newest fix if
// the fences have changed for the past.
func (ix *Index) Wake(s *State, t *fleet.Traits) fleet.Millis {
	if s.Index == ix.hash {
		return s.Due
	}
	c := s.Clone()
	ix.sync(&c)
	return c.Due
}

// Advance tells that the time has come to to, and does what is due until then, in order of time and then of fences.
func (ix *Index) Advance(s *State, key fleet.VehicleKey, t *fleet.Traits, to fleet.Millis, out *fleet.Entities,
	moves *[]fleet.FenceMove) {
	ix.sync(s)
	for s.Due != 0 && s.Due <= to {
		due := s.Due
		kept := s.Stays[:0]
		for i := range s.Stays {
			y := s.Stays[i]
			if y.DwellAt != 0 && y.DwellAt == due {
				y.DwelledAt, y.DwellAt = due, 0
				*out = append(*out, y.visit())
				*moves = append(*moves, y.move(fleet.MoveDwell, due, fleet.Place{Lat: s.Lat, Lng: s.Lng}))
			}
			if y.Until != 0 && y.Until == due && !ix.renew(s, &y, key, t, due, out) {
				continue
			}
			kept = append(kept, y)
		}
		s.set(kept)
		s.schedule()
	}
}

// sync takes the deadlines from this index, if they came from another.
func (ix *Index) sync(s *State) {
	if s.Index == ix.hash {
		return
	}
	for i := range s.Stays {
		y := &s.Stays[i]
		if f := ix.version(y.Fence, y.Current); f != nil {
			y.applyVersion(f, max(s.At, f.From))
		} else {
			y.Until, y.DwellAt = s.At, 0
		}
	}
	s.Index = ix.hash
	s.schedule()
}

// schedule finds the earliest deadline.
func (s *State) schedule() {
	s.Due = 0
	for i := range s.Stays {
		for _, d := range [...]fleet.Millis{s.Stays[i].Until, s.Stays[i].DwellAt} {
			if d != 0 && (s.Due == 0 || d < s.Due) {
				s.Due = d
			}
		}
	}
}

// set keeps these stays; none are nil, as gob would have it.
func (s *State) set(stays []Stay) {
	if s.Stays = stays; len(stays) == 0 {
		s.Stays = nil
	}
}

// applyVersion takes what the version says about the stay, which is judged by it from a time on.
func (y *Stay) applyVersion(f *fence, at fleet.Millis) {
	y.Current, y.Limit = f.Revision, f.SpeedLimit
	y.Until = f.hours.closes(at)
	if f.To != 0 && (y.Until == 0 || f.To < y.Until) {
		y.Until = f.To
	}
	y.dwell(f)
}

// dwell sets the time at which the stay will have lasted for the version's dwell time.
func (y *Stay) dwell(f *fence) {
	y.DwellAt = 0
	if y.Visit != 0 && y.Out == 0 && y.DwelledAt == 0 && f.Dwell > 0 {
		y.DwellAt = max(y.Start+f.Dwell, f.From)
	}
}

// renew decides about a stay whose version ends or whose schedule closes, and says whether it goes on.
func (ix *Index) renew(s *State, y *Stay, key fleet.VehicleKey, t *fleet.Traits, at fleet.Millis,
	out *fleet.Entities) bool {
	f := ix.versionAt(y.Fence, at)
	reason := ""
	switch {
	case f == nil:
		reason = reasonChanged
	case !f.meant(key.Vehicle, t) || !f.hours.open(at):
		reason = reasonScope
	case f.Revision != y.Current && f.far(s.Lat, s.Lng, s.Accuracy):
		reason = reasonChanged
	case f.Revision != y.Current && y.Visit == 0:
		return false // it will be inside from the first fix under the new version on
	}
	if reason == "" {
		if f.Revision != y.Current {
			y.Out = 0
		}
		y.applyVersion(f, at)
		return true
	}
	y.end(at, fleet.Place{Lat: s.Lat, Lng: s.Lng}, reason, out)
	return false
}

// end tells that the visit is over, if there is one.
func (y *Stay) end(at fleet.Millis, place fleet.Place, reason string, out *fleet.Entities) {
	if y.Visit == 0 {
		return
	}
	v := y.visit()
	v.Open, v.End, v.ExitPlace, v.ExitReason = false, max(at, y.Start), &place, reason
	*out = append(*out, v)
}
