package fix

import (
	"math"
	"time"

	"github.com/motorpool/fleet"
)

const week = 7 * 24 * time.Hour

// cycle is how long a GPS receiver counts weeks before it begins at zero again: ten bits (IS-GPS-200, 6.2.4).
const cycle = 1024 * week

var (
	// The clock of many units begins at 1 January 2000 and runs on without a fix.
	factoryFrom = fleet.MillisOf(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
	factoryTo   = fleet.MillisOf(time.Date(2000, 1, 3, 0, 0, 0, 0, time.UTC))
	// latest bounds times that a device claims, so that every stored time is one that ClickHouse can hold.
	latest = fleet.MillisOf(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
)

// MaxOdometer is the highest reading that an odometer can have, in metres.
const MaxOdometer = 4e9

// Received returns the time at which we took a record, given the time stamp that Kafka has for it. A producer may have
// set that stamp to anything; one that cannot be a time is replaced by 0, which stands for unknown.
func Received(stamp fleet.Millis) fleet.Millis {
	if stamp < fleet.EarliestFix || stamp > latest {
		return 0
	}
	return stamp
}

// Normalise checks a report that came at the received time (0 for unknown) and returns what it says as a position
// without account, vehicle, device and cell. With a refusal for its coordinates the position still has its times and
// quantities, so that signals can be kept; with a refusal for its time it has nothing. A report that is not about a
// place is refused for missing coordinates.
func (c *Config) Normalise(r *fleet.Report, received fleet.Millis) (fleet.Position, fleet.Refusal) {
	p := fleet.Position{ReceivedTime: received}
	if refusal := c.times(r, &p); refusal != "" {
		return fleet.Position{}, refusal
	}
	c.quantities(r, &p)
	switch {
	case math.IsNaN(r.Lat) || math.IsNaN(r.Lng):
		return p, fleet.RefusedMissingCoordinates
	case math.Abs(r.Lat) > 90 || math.Abs(r.Lng) > 180:
		return p, fleet.RefusedBadCoordinates
	}
	// Adding zero turns -0 into 0.
	p.Lat, p.Lng = fleet.Quantise(r.Lat)+0, fleet.Quantise(r.Lng)+0
	if p.Lat == 0 && p.Lng == 0 {
		return p, fleet.RefusedZeroCoordinates
	}
	return p, ""
}

// times finds when the fix was taken and corrects a clock that is a GPS cycle behind or ahead of ours.
func (c *Config) times(r *fleet.Report, p *fleet.Position) fleet.Refusal {
	claim := r.FixTime
	if claim == 0 {
		claim = r.DeviceTime
	}
	if claim == 0 {
		return fleet.RefusedMissingTime
	}
	if claim < fleet.EarliestFix || claim >= factoryFrom && claim < factoryTo {
		return fleet.RefusedImplausibleTime
	}
	p.FixTime, p.DeviceTime = claim, r.DeviceTime
	if r.DeviceTime <= 0 || r.DeviceTime > latest {
		p.DeviceTime = min(claim, latest)
	}
	if p.ReceivedTime == 0 { // nothing to hold the clock against
		p.FixTime = min(claim, latest)
		p.ReceivedTime = p.FixTime
		return ""
	}
	if c.RolloverAge > 0 {
		for p.ReceivedTime-p.FixTime > fleet.Millis(c.RolloverAge.Milliseconds()) {
			p.FixTime = p.FixTime.Add(cycle)
			p.Flags |= fleet.FlagRollover
			p.DeviceTime = claim
		}
	}
	if p.FixTime-p.ReceivedTime > fleet.Millis(c.FutureTolerance.Milliseconds()) {
		p.FixTime = p.ReceivedTime
		p.Flags |= fleet.FlagFutureClock
		p.DeviceTime = min(claim, latest)
	}
	return ""
}

// quantities takes over what is possible and leaves out the rest.
func (c *Config) quantities(r *fleet.Report, p *fleet.Position) {
	nan := math.NaN()
	p.Altitude, p.Speed, p.Course, p.Accuracy, p.Odometer = r.Altitude, r.Speed, r.Course, r.Accuracy, r.Odometer
	p.Satellites, p.Ignition, p.Motion = r.Satellites, r.Ignition, r.Motion
	if !(p.Altitude >= -12_000 && p.Altitude <= 100_000) { // from the deepest trench to where space begins
		p.Altitude = nan
	}
	if !math.IsNaN(p.Speed) && !(p.Speed >= 0 && p.Speed <= c.MaxSpeed) {
		p.Speed = nan
		p.Flags |= fleet.FlagBadSpeed
	}
	if p.Course == 360 {
		p.Course = 0
	}
	if !math.IsNaN(p.Course) && !(p.Course >= 0 && p.Course < 360) {
		p.Course = nan
		p.Flags |= fleet.FlagBadCourse
	}
	if !(p.Accuracy >= 0) || math.IsInf(p.Accuracy, 1) {
		p.Accuracy = nan
	}
	if p.Accuracy > c.MaxAccuracy {
		p.Flags |= fleet.FlagLowAccuracy
	}
	if !math.IsNaN(p.Odometer) && !(p.Odometer >= 0 && p.Odometer <= MaxOdometer) {
		p.Odometer = nan
		p.Flags |= fleet.FlagBadOdometer
	}
	if p.Satellites < 0 || p.Satellites > 255 {
		p.Satellites = -1
	}
	if r.Invalid {
		p.Flags |= fleet.FlagInvalid
	}
	if r.Approximate {
		p.Flags |= fleet.FlagApproximate
	}
	if r.Mock {
		p.Flags |= fleet.FlagMock
	}
	p.Alarm = fleet.AlarmOf(r.Alarm)
}
