package fix

import (
	"math"

	"github.com/motorpool/fleet"
)

// Mileage makes the readings of an odometer monotonic, because counters are reset, replaced and misread: the vehicle
// has gone Base + Raw metres.
//
//   - A reading a little below the one before (up to OdometerDrop) is noise: it changes nothing.
//   - A lower one is a counter that was reset: Base takes over what the old one had reached, Before remembers it.
//   - If the old counter comes back, the reset was a misreading, and is undone.
//   - A rise that nobody can have driven since the reading before, by more than OdometerStep, is not believed.
//   - Neither is a zero where there was a reading, because that is what a unit sends that lost its data bus.
type Mileage struct {
	Time   fleet.Millis // of the newest believed reading; 0 if there was none
	Raw    uint32       // m, that reading
	Base   uint32       // m, what earlier counters had reached
	Before uint32       // m, what the counter before the newest reset had reached; 0 if there was no reset
}

// Total returns the mileage in metres.
func (m Mileage) Total() float64 { return float64(m.Base) + float64(m.Raw) }

// Advance takes a reading in metres, in [0, MaxOdometer], into account and says whether it is believed. One that is
// not newer than the newest is, and changes nothing.
func (c *Config) Advance(m *Mileage, at fleet.Millis, metres float64) bool {
	if !(metres >= 0 && metres <= MaxOdometer) {
		return false
	}
	reading := uint32(math.Round(metres))
	if m.Time == 0 {
		*m = Mileage{Time: at, Raw: reading, Base: m.Base}
		return true
	}
	if at <= m.Time {
		return true
	}
	driven := c.JumpSpeed*float64(at-m.Time)/1000 + c.OdometerStep
	switch {
	case reading >= m.Raw && float64(reading-m.Raw) <= driven:
		m.Time, m.Raw = at, reading
	case reading >= m.Raw:
		if m.Before == 0 || m.Before > m.Base || reading < m.Before || float64(reading-m.Before) > driven {
			return false
		}
		*m = Mileage{Time: at, Raw: reading, Base: m.Base - m.Before}
	case float64(m.Raw-reading) <= c.OdometerDrop:
		m.Time = at
	case reading == 0 || uint64(m.Base)+uint64(m.Raw)+uint64(reading) > MaxOdometer:
		return false
	default:
		*m = Mileage{Time: at, Raw: reading, Base: m.Base + m.Raw, Before: m.Raw}
	}
	return true
}
