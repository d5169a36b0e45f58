package trip

import (
	"math"

	"github.com/motorpool/fleet"
)

// Pace is how fast the legs of a drive are whose fixes have no speed. A leg is long enough for the noise of its ends to
// be little, and counts as far as one beside it was as fast, or alone if the noise is next to nothing in it.
type Pace struct {
	At     fleet.Millis // When the leg began; 0 if none has.
	Place  fleet.Place
	Before float64     // The speed of the leg before, in m/s; 0 if there was none.
	From   fleet.Place // Where the leg before began.
	Length float64     // The length of the leg before, in metres.
}

const (
	paceSpan  = 10_000 // a leg lasts so long
	paceSlow  = 60_000 // one that lasts longer without getting anywhere is none
	paceNoise = 4      // a leg is so many times as long as the noise,
	paceAlone = 20     // and one that needs no other so many times
)

// pace takes a fix that the drive has reached.
func (c *Config) pace(s *State, in *input) {
	p := &s.Pace
	if !math.IsNaN(in.speed) {
		*p = Pace{}
		return
	}
	if p.At < s.Drive.Start || p.At == 0 {
		*p = Pace{At: in.since, Place: s.lastPlace()}
	}
	span, noise := in.at-p.At, c.noise(in)
	if span < paceSpan {
		return
	}
	length := apart(p.Place, in.place)
	if length < paceNoise*noise {
		if span > paceSlow {
			*p = Pace{At: in.at, Place: in.place}
		}
		return
	}
	speed := length * 1000 / float64(span)
	switch alike := min(speed, p.Before); {
	case span >= paceSlow && length >= paceAlone*noise:
		s.Drive.note(speed)
	case alike > s.Drive.MaxSpeed && apart(p.From, in.place) >= 0.8*(length+p.Length):
		s.Drive.note(alike) // it did not come back, as one wild fix does
	}
	*p = Pace{At: in.at, Place: in.place, Before: speed, From: p.Place, Length: length}
}

// pause notes that a vehicle without speed has stood since its halt began: it has not gone further than StopSpeed takes
// it, and is well within the noise.
func (c *Config) pause(s *State, in *input) {
	h := &s.Halt
	if in.says == unknown && in.distance < min(0.75*c.Noise, c.StopSpeed*float64(in.at-h.Start)/1000) {
		h.Paused, h.Rested = in.at, h.idle()
	}
}

// pauseLeast is how long a pause lasts: a shorter one is a leg that was slow.
const pauseLeast = 15_000

// pausedUntil is until when a halt that is left was a pause, 0 if it was none.
func (s *State) pausedUntil(in *input) fleet.Millis {
	h := &s.Halt
	if h.Stood || h.Paused-h.Start < pauseLeast || s.lagged(in) {
		return 0
	}
	return h.Paused
}

// lagged says whether the place had stood still and is now further away than anything on wheels gets from a standstill:
// then it was the place that stood, not the vehicle.
func (s *State) lagged(in *input) bool {
	const fastest = 5 // m/s²
	seconds := float64(in.at-in.since) / 1000
	return s.Wheels.Since < in.since && 2*apart(s.lastPlace(), in.place) > fastest*seconds*seconds
}

// left is when a vehicle without speed left its stop by a leg that was driven: at the fix before, or if it had gone by
// then and only its place stood still, as long before as the leg takes in a town.
func (c *Config) left(s *State, in *input) fleet.Millis {
	const town = 50 * fleet.MetresPerKmh
	if !s.lagged(in) {
		return in.since
	}
	took := min(fleet.Millis(in.distance*1000/town), in.at-in.since+s.Wheels.Mute)
	return min(in.since, max(in.at-took, s.Stay.Start+c.StopAfter))
}
