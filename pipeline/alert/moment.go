package alert

import (
	"math"
	"slices"
	"strings"

	"github.com/motorpool/fleet"
)

// moment raises and resolves what has no duration, and returns the alert, if it is a new one, and whether the rule
// watches. quiet is the least time that passes before it is told again; within it a repetition prolongs it.
func (c *call) moment(r *rule, fence fleet.FenceID, subject string, at fleet.Millis, place *fleet.Place, value float64,
	quiet fleet.Millis) (*fleet.Alert, bool) {
	if !r.current(at) || !r.scoped(c.key.Vehicle, c.t) || !r.hours.holds(at) {
		return nil, false
	}
	i, found := c.s.find(r.ID, fence, subject)
	if found && at < c.s.Found[i].Cool {
		f := &c.s.Found[i]
		f.Cool = max(f.Cool, at+quiet)
		return nil, true
	}
	once := Found{
		Rule: r.ID, Fence: fence, Subject: subject, Revision: r.Revision, Phase: Cooling, Since: at, Begin: at,
		Told: c.at, Seen: at,
		Cool: at + max(r.CoolDown, quiet), What: r.Kind, Severity: r.Severity, Threshold: r.threshold,
	}
	if place != nil {
		once.Placed, once.Place = true, *place
	}
	c.measure(&once, r, value)
	told := c.emit(&once, at, moment)
	switch {
	case found:
		c.s.Found[i] = once
	case once.Cool > c.at:
		c.s.Found = slices.Insert(c.s.Found, i, once)
	}
	return told, true
}

// crossed tells of a step over a geofence's edge. A pass between two fixes goes in and out.
func (c *call) crossed(m *fleet.FenceMove) {
	subject := ""
	if m.What == fleet.MoveCross {
		subject = m.What
	}
	if m.What == fleet.MoveEnter || m.What == fleet.MoveCross {
		for _, r := range c.e.enters {
			if r.fenced(m.Fence) {
				c.moment(r, m.Fence, subject, m.At, &m.Place, math.NaN(), 0)
			}
		}
	}
	if m.What == fleet.MoveExit || m.What == fleet.MoveCross {
		for _, r := range c.e.exits {
			if r.fenced(m.Fence) {
				c.moment(r, m.Fence, subject, m.At, &m.Place, math.NaN(), 0)
			}
		}
	}
}

// alarm takes an alarm of the device for what it says.
func (c *call) alarm(in *Input) {
	p := in.Position
	if p == nil {
		p = in.Doubtful
	}
	if p == nil || p.Alarm == "" {
		return
	}
	for word := range strings.SplitSeq(p.Alarm, ",") {
		c.word(p, word)
	}
}

// mostAlarms is how many alarms of a vehicle a rule tells apart at a time.
const mostAlarms = 32

// word takes one word of an alarm for what it says.
func (c *call) word(p *fleet.Position, word string) {
	switch word {
	case "hardBraking":
		c.incident(braking, 0, p.Speed, true)
	case "hardAcceleration":
		c.incident(acceleration, 0, p.Speed, true)
	case "hardCornering":
		c.incident(cornering, 0, p.Speed, true)
	case "accident":
		c.incident(crash, 0, p.Speed, true)
	case "tow":
		if c.s.Ignition != fleet.Yes {
			c.told(c.e.tows, word)
		}
	default:
		own := c.e.own[fleet.KindOfAlarm(word)]
		if (own == nil || !c.told(*own, word)) && slices.Contains(faultAlarms, word) {
			c.told(c.e.faults, word)
		}
	}
	for _, r := range c.e.alarms {
		if len(r.Alarms) == 0 || slices.Contains(r.Alarms, word) {
			c.moment(r, 0, c.subject(r, word), c.at, c.place(), math.NaN(), repeated)
		}
	}
}

// subject returns what an alert of a rule is about: an alarm, or other when as many alarms as are told apart repeat
// themselves. So words that are new each time fill no memory.
func (c *call) subject(r *rule, word string) string {
	if _, known := c.s.find(r.ID, 0, word); known {
		return word
	}
	others := 0
	for i, _ := c.s.find(r.ID, 0, ""); i < len(c.s.Found) && c.s.Found[i].Rule == r.ID; i++ {
		if c.s.Found[i].Cool > c.at {
			others++
		}
	}
	if others >= mostAlarms {
		return "other"
	}
	return word
}

// told raises what a device says by an alarm, and returns whether any of the rules watches for it here and now.
func (c *call) told(rules []*rule, alarm string) (watched bool) {
	for _, r := range rules {
		_, here := c.moment(r, 0, alarm, c.at, c.place(), math.NaN(), repeated)
		watched = watched || here
	}
	return watched
}

// place returns where the vehicle was last seen, or nil.
func (c *call) place() *fleet.Place {
	if !c.s.Placed {
		return nil
	}
	return &c.s.Place
}

// odometer tells of a reading that leaps, or that was not believed. A zero is what a unit sends that lost its data bus.
func (c *call) odometer(in *Input) {
	known := in.RawOdometer > 0 // false for NaN
	if !known && !in.OdometerRefused {
		return
	}
	leap := math.NaN()
	if known && c.s.Odometer > 0 {
		leap = math.Abs(in.RawOdometer - c.s.Odometer)
	}
	refused := in.OdometerRefused && in.RawOdometer != 0
	backwards := !in.OdometerRefused && in.RawOdometer < c.s.Odometer
	for _, r := range c.e.odometers {
		// A rise that was believed has been driven, maybe unseen.
		if refused && !(leap < r.threshold) || backwards && leap >= r.threshold {
			c.moment(r, 0, "", c.at, c.place(), leap, repeated)
		}
	}
	if known && !in.OdometerRefused {
		c.s.Odometer = in.RawOdometer
	}
}
