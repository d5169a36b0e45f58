package alert

import (
	"math"

	"github.com/motorpool/fleet"
)

// Sorts of incidents.
const (
	braking = iota
	acceleration
	cornering
	crash
	incidents
)

var incidentNames = [incidents]string{fleet.HarshBraking, fleet.HarshAcceleration, fleet.HarshCornering, fleet.Crash}

// Thresholds in m/s² from which speed and course of successive fixes make an incident. Braking at 3.4 m/s² is what most
// drivers stay below when they are not surprised (AASHTO, A Policy on Geometric Design of Highways and Streets,
// stopping sight distance: 11.2 ft/s²). Acceleration of 3.0 m/s² is 0.3 g, and cornering at 4.0 m/s² the 0.4 g that a
// family car rarely exceeds on any axis; both lie in the range of 0.2 to 0.5 g at which trackers raise their alarms.
var harshFrom = [incidents]float64{braking: 3.4, acceleration: 3.0, cornering: 4.0}

// harshest is beyond what a vehicle can do, in m/s²: an error of measurement. Tyres hold about 1.1 g on dry asphalt,
// and no car on the road goes from standing to 100 km/h in less than two seconds and more.
var harshest = [incidents]float64{braking: 12, acceleration: 10, cornering: 12}

const (
	closest       = fleet.Millis(500)      // ms between fixes: below it the noise of the speed is too much
	farthest      = fleet.Millis(3000)     // beyond it a change of speed says nothing of how it came
	corneringFrom = 3.0                    // m/s: below it the course wanders
	merge         = fleet.Millis(5000)     // incidents of one sort so near each other are one
	mergeCrash    = minute                 // a device tells of an accident for longer
	speedingFrom  = 3 * fleet.MetresPerKmh // m/s above the limit: what German traffic police take off below 100 km/h
	roadAge       = 2 * minute             // for so long the vehicle's word on the limit of its road holds
	derived       = "derived"
	device        = "device"
)

// Driving is what must be remembered to judge how a vehicle is driven.
type Driving struct {
	At        fleet.Millis // The time of the fix before; 0 for none.
	Speed     float64      // In m/s; -1 if unknown.
	Course    float64      // In degrees; -1 if unknown.
	Road      float64      // The limit that the vehicle reported, in m/s.
	RoadAt    fleet.Millis // When the vehicle reported that limit.
	Incidents [incidents]Incident
	Speeding  Span
}

// Incident is the newest of its sort.
type Incident struct {
	Start, Last fleet.Millis // Both are 0 if there was none.
	Value       float64      // The greatest, in m/s²; 0 if unknown.
	Speed       float64      // The speed at its beginning, in m/s; 0 if unknown.
	Place       fleet.Place
	Derived     bool
}

// Span is a time above a limit.
type Span struct {
	Start, Last fleet.Millis // Start is 0 while there is none.
	Over        float64      // The most that the speed was above the limit, in m/s.
	Speed       float64      // The speed when it was the most, in m/s.
	Place       fleet.Place  // Where it began.
}

// driving judges a trusted fix by the one before.
func (c *call) driving(in *Input) {
	d, p := &c.s.Driving, in.Position
	speed, course := minusOneIfNaN(p.Speed), minusOneIfNaN(p.Course)
	c.limit(in, speed)
	if span := c.at - d.At; d.At != 0 && span < closest {
		return // the next fix is judged by the same
	} else if d.At != 0 && span <= farthest && c.s.Ignition != fleet.No && d.Speed >= 0 && speed >= 0 {
		s := float64(span) / 1000
		change := (speed - d.Speed) / s
		c.derive(braking, -change, d.Speed)
		c.derive(acceleration, change, d.Speed)
		if d.Course >= 0 && course >= 0 && min(speed, d.Speed) > corneringFrom {
			turn := math.Abs(math.Remainder(course-d.Course, 360)) * math.Pi / 180
			c.derive(cornering, (speed+d.Speed)/2*turn/s, d.Speed)
		}
	}
	d.At, d.Speed, d.Course = c.at, speed, course
}

// minusOneIfNaN makes -1 of NaN.
func minusOneIfNaN(v float64) float64 {
	if math.IsNaN(v) {
		return -1
	}
	return v
}

func (c *call) derive(sort int, value, speed float64) {
	if value >= harshFrom[sort] && value <= harshest[sort] {
		c.incident(sort, value, speed, false)
	}
}

// incident records harsh driving, or what a device says is harsh, as a new incident or as more of the last one.
func (c *call) incident(sort int, value, speed float64, told bool) {
	i := &c.s.Driving.Incidents[sort]
	span := merge
	if sort == crash {
		span = mergeCrash
	}
	before, goesOn := i.Value, i.Start != 0 && c.at-i.Last <= span
	if goesOn {
		i.Last, i.Value = c.at, max(i.Value, value)
	} else {
		*i = Incident{Start: c.at, Last: c.at, Value: value, Speed: max(minusOneIfNaN(speed), 0), Place: c.near,
			Derived: !told}
	}
	source := device
	if i.Derived {
		source = derived
	}
	*c.out = append(*c.out, &fleet.DrivingEvent{
		Head: fleet.Head{
			ID: drivingID(c.key, i.Start, incidentNames[sort]), RecognisedAt: i.Start, Start: i.Start, End: i.Last,
		},
		What: incidentNames[sort], Source: source, Value: i.Value, Speed: i.Speed, Place: i.Place,
	})
	for _, r := range c.e.harsh[sort] {
		// What the device judged without a value counts for every rule, once.
		if !goesOn && (value == 0 || value >= r.threshold) ||
			goesOn && before != 0 && before < r.threshold && i.Value >= r.threshold {
			found := i.Value
			if found == 0 {
				found = math.NaN()
			}
			c.moment(r, 0, "", c.at, c.place(), found, 0)
		}
	}
}

// limit follows how long the vehicle is faster than its fences and its road allow.
func (c *call) limit(in *Input, speed float64) {
	d := &c.s.Driving
	limit := in.SpeedLimit
	if d.Road > 0 && c.at-d.RoadAt <= roadAge && (limit == 0 || d.Road < limit) {
		limit = d.Road
	}
	over, span := speed-limit, &d.Speeding
	switch {
	case speed < 0:
	case limit > 0 && span.Start != 0 && over > 0:
		span.Last = c.at
		if over > span.Over {
			span.Over, span.Speed = over, speed
		}
	case span.Start != 0:
		c.endSpan()
	case limit > 0 && over > speedingFrom:
		*span = Span{Start: c.at, Last: c.at, Over: over, Speed: speed, Place: c.s.Place}
		*c.out = append(*c.out, span.event(c.key, true))
	}
}

func (c *call) endSpan() {
	*c.out = append(*c.out, c.s.Driving.Speeding.event(c.key, false))
	c.s.Driving.Speeding = Span{}
}

// wake returns when silence ends a span, or 0.
func (d *Driving) wake() fleet.Millis {
	if d.Speeding.Start == 0 {
		return 0
	}
	return d.Speeding.Last + stale
}

// silent ends a span at its last fix if nothing came since.
func (d *Driving) silent(c *call) {
	if at := d.wake(); at != 0 && at <= c.at {
		c.endSpan()
	}
}

func (s *Span) event(key fleet.VehicleKey, open bool) *fleet.DrivingEvent {
	return &fleet.DrivingEvent{
		Head: fleet.Head{
			ID: drivingID(key, s.Start, fleet.Speeding), RecognisedAt: s.Start, Start: s.Start, End: s.Last, Open: open,
		},
		What: fleet.Speeding, Source: derived, Value: s.Over, Speed: s.Speed, Place: s.Place,
	}
}

func drivingID(key fleet.VehicleKey, start fleet.Millis, what string) uint64 {
	return fleet.DerivedID(fleet.KindDriving, key, start, nameOf(0, 0, what))
}

// Open appends the present versions of what goes on.
func (e *Engine) Open(s *State, key fleet.VehicleKey, out *fleet.Entities) {
	if s.Driving.Speeding.Start != 0 {
		*out = append(*out, s.Driving.Speeding.event(key, true))
	}
	for i := range s.Found {
		if f := &s.Found[i]; f.Phase == Raised {
			*out = append(*out, f.alert(key, max(f.Seen, f.Begin), ""))
		}
	}
}
