package fleet

// Wheels is what a vehicle is said to have driven since its place last changed. Some trackers renew the place each ten
// seconds and tell the speed each second; in a tunnel the place stands still for minutes.
//
// Nobody is believed for ever: a speed above a walk that stands still as well counts for a minute, a place that stands
// still may be old for five, in which something was heard each minute, and an ignition that is off refutes it at once.
// The zero value knows nothing.
type Wheels struct {
	Since Millis  // of the first fix at this very place
	Goes  Millis  // since when the speed says that it goes on from there
	Same  Millis  // since when the speed has this very value
	Speed float64 // m/s, of the newest fix; -1 if it is unknown
	Way   float64 // m, since Since, by the speeds
	Mute  Millis  // of the time since Since: nobody said how fast it went, though it may have driven
	Torn  bool    // fixes lay too far apart for their speeds to say how far it went
}

const (
	rollStep  = 10_000  // a speed holds between fixes that lie no further apart,
	rollFine  = 3_000   // and is as good as an odometer between these
	rollSame  = 60_000  // a place and a speed above a walk that both stand still are believed for so long
	rollStill = 300_000 // and a place that stands still, whatever the speed
	rollMute  = 30_000  // and one that comes without any speed
	rollHush  = 60_000  // a longer step makes the place no older, if the speed is another by then
	rollWalk  = 5 * MetresPerKmh
)

// Roll adds the step between two fixes, the later of which has the given speed (NaN for unknown). parked says that the
// ignition is off or the tracker does not move.
func (w *Wheels) Roll(from, to Millis, speed float64, parked bool) {
	if !(speed >= 0) {
		speed = -1
	}
	if speed != w.Speed {
		w.Same = to
	}
	if speed < rollWalk || w.Speed < rollWalk {
		w.Goes = to
	}
	span := to - from
	if span > rollHush && speed != w.Speed {
		w.Goes += span
	}
	w.Torn = w.Torn || span > rollFine
	switch {
	case parked || w.stuck(to, speed):
		w.Way, w.Mute = 0, 0
	case span > rollStep && min(speed, w.Speed) >= rollWalk: // under way before and after: it drove, at whatever speed
		w.Mute = max(w.Mute, min(w.Mute+span, rollStill))
	case span > rollStep:
	case speed < 0 || w.Speed < 0:
		w.Mute = max(w.Mute, min(w.Mute+span, rollMute))
	default:
		w.Way += (walked(w.Speed) + walked(speed)) / 2 * float64(span) / 1000
	}
	w.Speed = speed
}

// walked is the speed that counts: below a walk it is noise.
func walked(speed float64) float64 {
	if speed < rollWalk {
		return 0
	}
	return speed
}

// Stuck says whether the place has stood still for too long, by the time of the newest fix, for its speed
// to be believed.
func (w *Wheels) Stuck(at Millis) bool { return w.stuck(at, w.Speed) }

func (w *Wheels) stuck(at Millis, speed float64) bool {
	return speed >= rollWalk && (at-w.Goes > rollStill || at-max(w.Same, w.Goes) > rollSame)
}

// Told is how far the speeds say that the vehicle went since its place last changed; 0 if they were told too seldom.
func (w *Wheels) Told() float64 {
	if w.Torn {
		return 0
	}
	return w.Way
}

// Arrive begins anew at another place, with the speed of the fix there.
func (w *Wheels) Arrive(at Millis, speed float64) {
	if !(speed >= 0) {
		speed = -1
	}
	if speed != w.Speed || w.Same == 0 {
		w.Same = at
	}
	w.Since, w.Goes, w.Speed, w.Way, w.Mute, w.Torn = at, at, speed, 0, 0, false
}

// Reach is how far the vehicle may have gone while its place stood still: what the wheels did, and where nobody told
// them, what can be driven at a speed of fastest.
func (w *Wheels) Reach(fastest float64) float64 {
	return w.Way + fastest*float64(w.Mute)/1000
}
