package alert

import (
	"math"

	"github.com/motorpool/fleet"
)

// How fuel taken out and filled in is told from fuel that is used, and from what sloshes in the tank. Levels are in
// percent of the tank.
const (
	usualTank  = 60.0             // l, of a vehicle whose tank nobody has told
	fuelLeast  = 5.0              // a smaller difference is none
	fuelNoise  = 2.5              // readings of one level lie within this
	fuelSettle = 5 * minute       // a new level must have stood for so long
	fuelSlosh  = 2 * minute       // readings on the move are averaged over about so long
	usedDriven = 40.0 / 3_600_000 // a ms: what a vehicle uses at the most on the move,
	usedIdle   = 5.0 / 3_600_000  // standing with the engine on, or nobody knows,
	usedOff    = 0.5 / 3_600_000  // and with it off, which is how the level changes with the warmth of the day
	fuelBefore = 24 * 60 * minute // a level that is older is not compared with
)

// Fuel is what must be remembered of the level in the tank.
type Fuel struct {
	At     fleet.Millis // The time of the newest reading; 0 for none.
	Tank   float64      // The size of the tank in litres that the reading was made percent by; 0 if it was percent.
	Level  float64      // The level as it is believed to be.
	Firm   fleet.Millis // The newest reading that was near Level.
	Where  fleet.Place  // Where the vehicle was at Firm, if Placed.
	Placed bool         // It is known where the vehicle was at Firm.
	Moved  fleet.Millis // The newest reading on the move.
	Change Refill
}

// Refill is a level that may be another one for good: filled in, taken out, or neither.
type Refill struct {
	Mark   fleet.Millis // Since when the level stands; 0 if there is none.
	At     float64      // The level at Mark.
	Level  float64      // The level now.
	Used   float64      // What may have been used up to Mark.
	Since  float64      // What may have been used since Mark.
	Driven bool         // It came about on the move, or unseen with movement in between.
}

// firm notes that the vehicle's level is what it was believed to be.
func (c *call) firm() {
	f := &c.s.Fuel
	f.Firm, f.Where, f.Placed, f.Change = c.at, c.s.Place, c.s.Placed, Refill{}
}

// fuel takes a reading of the level in percent into account, which was made of litres by the size of a
// tank, or tank is 0.
func (c *call) fuel(v, tank float64) {
	f := &c.s.Fuel
	last := f.At
	if last == 0 || c.at-last > fuelBefore || tank != f.Tank {
		*f = Fuel{At: c.at, Tank: tank, Level: v}
		c.firm()
		return
	}
	f.At = c.at
	span := c.at - last
	onTheWay := c.s.Moving || c.s.Stood >= last || f.Moved == last
	if c.s.Moving {
		f.Moved = c.at
	}
	used := c.usual(span, onTheWay)
	switch off := v - f.Level; {
	case f.Change.Mark != 0:
		c.changing(v, span, used)
	case off >= fuelLeast || off <= -max(fuelLeast, used):
		f.Change = Refill{Mark: c.at, At: v, Level: v, Used: used, Driven: onTheWay}
	default:
		f.follow(v, span, used, onTheWay || f.Moved != 0 && c.at-f.Moved <= fuelSlosh)
		if math.Abs(v-f.Level) <= fuelNoise {
			c.firm()
		}
	}
}

// usual is what may have been used in a time.
func (c *call) usual(span fleet.Millis, onTheWay bool) float64 {
	switch {
	case onTheWay:
		return usedDriven * float64(span)
	case c.s.Ignition == fleet.No:
		return usedOff * float64(span)
	}
	return usedIdle * float64(span)
}

// average moves a level towards a reading, the more the longer ago the one before was.
func average(level, v float64, span fleet.Millis) float64 {
	return level + (v-level)*(1-math.Exp(-float64(span)/float64(fuelSlosh)))
}

// follow lets the level go along with a reading. Of a vehicle that stands it goes no faster than fuel is used, so that
// what is taken out little by little adds up.
func (f *Fuel) follow(v float64, span fleet.Millis, used float64, sloshes bool) {
	next := average(f.Level, v, span)
	if !sloshes {
		next = max(min(next, f.Level+used), f.Level-used)
	}
	f.Level = next
}

// changing follows a level that may be another one, until it is known to have returned or to stand.
func (c *call) changing(v float64, span fleet.Millis, used float64) {
	f := &c.s.Fuel
	x := &f.Change
	x.Since += used
	x.Level = average(x.Level, v, span)
	switch {
	case math.Abs(x.Level-f.Level) < fuelLeast/2: // it has returned
		c.firm()
	case x.Level > x.At+fuelNoise || x.Level < x.At-fuelNoise-x.Since: // it still changes
		x.Mark, x.At, x.Used, x.Since = c.at, x.Level, x.Used+x.Since, 0
		x.Driven = x.Driven || c.s.Moving
	case c.at-x.Mark >= fuelSettle:
		after := x.Level
		if x.Driven && after < f.Level {
			after = max(after, x.At) // what came after is used
		}
		c.refilled(x, after)
		f.Level = x.Level
		c.firm()
	}
}

// refilled tells of a level that stands at another height, as of when it was last at the one before.
func (c *call) refilled(x *Refill, after float64) {
	f := &c.s.Fuel
	before := f.Level
	rules, size, way := c.e.rises, after-before, "standing"
	if size < 0 {
		rules, size = c.e.drops, -size-x.Used
	}
	if x.Driven {
		way = "driving"
	}
	var place *fleet.Place
	if f.Placed {
		place = &f.Where
	}
	tank := f.Tank
	if tank == 0 {
		tank = c.t.FuelCapacity
	}
	for _, r := range rules {
		if size < r.threshold {
			continue
		}
		told, _ := c.moment(r, 0, way, f.Firm, place, math.Abs(after-before), 0)
		if told == nil {
			continue
		}
		told.Before, told.After = &before, &after
		if tank > 0 {
			litres := math.Abs(after-before) * tank / 100
			told.Litres = &litres
		}
	}
}
