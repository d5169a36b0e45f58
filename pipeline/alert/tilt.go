package alert

import (
	"math"

	"github.com/motorpool/fleet"
)

// leaning is from how many degrees on a vehicle that was left lies otherwise than it was: no wind and no door does
// that, and a lifting frame or a ramp does more.
const leaning = 10

// Lean is how a vehicle lies about one axis.
type Lean struct {
	Known bool
	At    float64      // In degrees, as it was left.
	Read  fleet.Millis // When that was read.
	Off   bool         // The newest reading was another.
}

// tilt judges an angle of the vehicle: with the ignition off it is as it was left, which only a reading since then
// knows. Two readings in a row must say that it
// is not, and then it lies as they say.
func (c *call) tilt(x *Lean, v float64) {
	if c.s.Ignition != fleet.No || !x.Known || x.Read < c.s.IgnitionAt || c.at-c.s.IgnitionAt <= rest {
		*x = Lean{Known: true, At: v, Read: c.at}
		return
	}
	off := math.Abs(math.Remainder(v-x.At, 360)) >= leaning
	if off && x.Off {
		c.told(c.e.tows, "tilt")
		x.At, x.Read, off = v, c.at, false
	}
	x.Off = off
}
