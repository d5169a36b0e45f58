package alert

import (
	"math"

	"github.com/motorpool/fleet"
)

// leaning is from how many degrees on a vehicle that was left lies otherwise than it was: no wind and no door does that,
// and a lifting frame or a ramp does more.
const leaning = 10

// Lean is how a vehicle lies about one axis.
type Lean struct {
	Known bool
	At    float64 // degrees, as it was left
	Off   bool    // the newest reading was another
}

// tilt judges an angle of the vehicle: with the ignition off it is as it was left. Two readings in a row must say that it
// is not, and then it lies as they say.
func (c *call) tilt(x *Lean, v float64) {
	if c.s.Ignition != fleet.No || !x.Known || c.at-c.s.IgnitionAt <= rest {
		*x = Lean{Known: true, At: v}
		return
	}
	off := math.Abs(math.Remainder(v-x.At, 360)) >= leaning
	if off && x.Off {
		c.told(c.e.tows, "tilt")
		x.At, off = v, false
	}
	x.Off = off
}
