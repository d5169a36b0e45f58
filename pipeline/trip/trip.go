// Package trip finds the trips, stops, idling and charging sessions of a vehicle in its fixes and signals, in order of
// event time. It is pure: no clock, no store, no goroutine, and what it emits depends on the inputs and on nothing
// else, whatever the batches they come in and however often Advance is called in between. pipeline/derive is its
// caller: it owns a State per vehicle and feeds it trusted fixes whose times strictly increase.
//
//	                     stood StopAfter                          went StartDistance, or StartAfter at speed
//	    +--------------------------------------+     +--------------------------------------------------------+
//	    |                                      v     |                                                        v
//	[no data] --------- went --------> +--- STOPPED ----+                                            +---- MOVING ----+
//	    ^                              | <-> IDLING     |  <--- stood StopAfter, or ignition off --- |  <-> halted     |
//	    |                              +----------------+                                            |  <-> IDLING     |
//	    |                                                                                            +-----------------+
//	    +---------------------------------------- silent for Split ---------------------------------------+
//
// Nothing is believed at once. What might be a departure is a drive on probation beside the stop, what might be an
// arrival is a halt inside the trip; each keeps its own sums from its first fix on, so that both ends of a trip are
// back-dated without looking at any fix twice, and a probation that fails falls back to where it came from. The first
// fixes of a vehicle are on probation beside no stop. IDLING is standing with the engine on, NO DATA silence in which
// nothing is recorded.
//
// Silence is longer than NoData, or than three of the tracker's own intervals: the median of those of its newest legs
// that were driven. A way across silence is estimated: straight on, or what the odometer rose by if both ends have it
// and that is more. It belongs to the trip if it was driven faster than one walks; slower, over StopAfter and longer,
// the vehicle has paused, and the trip ends with the fix before. Across a silence of Split a trip only goes on at
// OnwardSpeed. A way that belongs to no trip is a trip of its own of which nothing was recorded, unless it is so short
// that it counts for the next.
//
// Evidence, the better first. An ignition that is off, if it has proven reliable (see State.Cycles): stands. Speed (of
// the fix, or of the vehicle if not older than ten seconds): from StartSpeed on moves, below StopSpeed stands, and in
// between as before. The device's own flag that it does not move: stands. Without any of these the displacement against
// the accuracy decides: a fix is somewhere else if it is more than max(Noise, accuracy) metres away, and a halt is left
// by one fix that would have had to be driven to, or by two in a row outside of HaltRadius. A vehicle that is
// StartDistance from its stop has gone there, whatever its ignition says, once speed or a second fix agrees.
//
// A trip starts at the first fix of the movement, or at the fix before it if the leg between them was driven, and its
// distance is counted from where the vehicle stood. It ends at the first fix of the standing, at the instant of a
// reliable ignition off, or at the last fix before a pause or a silence of Split. A stop begins where the trip before
// ends and ends where the next begins, so that trips and stops alternate, except across a gap. A parked vehicle that is
// found where it was left has stood there, however long it was silent.
//
// A place that stands still. Some trackers renew the place each ten seconds and tell the speed each second, and in a
// tunnel the place stands at its mouth. What the wheels did since the place last changed (fleet.Wheels: the speeds
// added up, or an odometer that went on often enough) then says how far the vehicle went. Such a stretch is a halt
// that rolls: it ends by a place that moves on, and becomes a halt like others if the speed is no longer believed,
// so that one that stands still with the place drives nowhere. The way to the next place is that of the wheels if it
// is not much less than the straight line (a place is some seconds old, so that it may lie behind the wheels or
// ahead), and the straight line otherwise; what was counted by the wheels before the place moved is never counted
// again, also not by a place that catches up with a vehicle that stands by then. A place is a leap only beyond what
// the wheels account for.
//
// Without any speed the highest is that of legs long enough for the noise of their ends to be little, confirmed by the
// leg beside (see Pace), and a halt that legs show to be a pause is no time moving, however short of StopAfter it is.
package trip

import (
	"errors"

	"github.com/motorpool/fleet"
)

// Config holds the thresholds: lengths of time in milliseconds, metres, metres per second.
type Config struct {
	StopAfter     fleet.Millis `json:"stop_after_ms"`    // Standing for so long is a stop.
	StartAfter    fleet.Millis `json:"start_after_ms"`   // Moving at speed for so long is a trip.
	StartDistance float64      `json:"start_distance_m"` // Getting this far is a trip, too.
	NoData        fleet.Millis `json:"no_data_ms"`       // In a longer silence nothing is known.
	// A silence is three of the tracker's intervals, if that is longer than NoData.
	Learn      bool         `json:"learn_interval"`
	Split      fleet.Millis `json:"split_ms"`        // A silence of so long ends a trip.
	StartSpeed float64      `json:"start_speed_mps"` // From this speed on the vehicle moves.
	StopSpeed  float64      `json:"stop_speed_mps"`  // Below this speed it stands.
	// A vehicle that made so much on average has not stopped in a silence of Split.
	OnwardSpeed float64 `json:"onward_speed_mps"`
	// Faster than this it was brought there, beyond StartDistance.
	LeapSpeed float64 `json:"leap_speed_mps"`
	// Fixes this near are the same place, if their accuracy is not worse.
	Noise float64 `json:"noise_m"`
	// Fixes without speed scatter this far around a vehicle that stands.
	HaltRadius  float64 `json:"halt_radius_m"`
	UseIgnition bool    `json:"use_ignition"` // An ignition that has proven reliable is believed.
	// A state of charge that rises by so much while standing is charged.
	ChargeRise  float64      `json:"charge_rise_pct"`
	ChargeQuiet fleet.Millis `json:"charge_quiet_ms"` // An estimated charge ends when it has not risen for so long.
	// An ignition off on the move waits so long for the fix after it.
	OffWait fleet.Millis `json:"ignition_off_wait_ms"`
}

// DefaultConfig returns the parameters of an account that has set none.
func DefaultConfig() Config {
	return Config{
		StopAfter:     180_000,
		StartAfter:    60_000,
		StartDistance: 200,
		NoData:        300_000,
		Learn:         true,
		Split:         3_600_000,
		StartSpeed:    5 * fleet.MetresPerKmh,
		StopSpeed:     2 * fleet.MetresPerKmh,
		OnwardSpeed:   20 * fleet.MetresPerKmh,
		LeapSpeed:     250 * fleet.MetresPerKmh,
		Noise:         25,
		HaltRadius:    50,
		UseIgnition:   true,
		ChargeRise:    2,
		ChargeQuiet:   1_800_000,
		OffWait:       60_000,
	}
}

// Validate returns what is wrong with the thresholds.
func (c *Config) Validate() error {
	var problems []error
	check := func(ok bool, problem string) {
		if !ok {
			problems = append(problems, errors.New(problem))
		}
	}
	const (
		day  = 24 * 3_600_000
		week = 7 * day
	)
	check(c.StopAfter > 0 && c.StopAfter <= week, "trip stop_after_ms must be positive, and a week at most")
	check(c.StartAfter >= 0 && c.StartAfter <= week, "trip start_after_ms must be in [0, one week]")
	check(c.StartDistance > 0 && c.StartDistance <= 100_000, "trip start_distance_m must be in (0, 100 km]")
	check(c.NoData > 0 && c.NoData <= week, "trip no_data_ms must be positive, and a week at most")
	check(c.Split > c.NoData && c.Split <= 30*day, "trip split_ms must be above no_data_ms, and thirty days at most")
	check(c.StopSpeed >= 0 && c.StopSpeed <= c.StartSpeed &&
		c.StartSpeed <= 100, "trip speeds must be 0 <= stop <= start <= 100 m/s")
	check(c.OnwardSpeed >= c.StartSpeed, "trip onward_speed_mps must not be below start_speed_mps")
	check(c.LeapSpeed > c.OnwardSpeed, "trip leap_speed_mps must be above onward_speed_mps")
	check(c.Noise > 0 && c.Noise <= c.HaltRadius, "trip noise_m must be positive, and halt_radius_m at most")
	check(c.HaltRadius <= 10_000, "trip halt_radius_m is above 10 km")
	check(c.ChargeRise > 0 && c.ChargeRise <= 100, "trip charge_rise_pct must be in (0, 100]")
	check(c.ChargeQuiet > 0 && c.OffWait >= 0,
		"trip charge_quiet_ms must be positive and ignition_off_wait_ms not negative")
	return errors.Join(problems...)
}

// With returns the thresholds as an account, a vehicle or a tracker has changed them. One that says nothing of another,
// which it passes, takes it along: a silence the time that splits a trip, for instance. The result is to be validated.
func (c Config) With(t fleet.TripSettings) Config {
	set(&c.StopAfter, t.StopAfter)
	set(&c.StartAfter, t.StartAfter)
	set(&c.StartDistance, t.StartDistance)
	set(&c.NoData, t.NoData)
	c.Learn = c.Learn && t.NoData == nil
	set(&c.Split, t.Split)
	c.Split = max(c.Split, c.NoData+1)
	set(&c.StartSpeed, t.StartSpeed)
	set(&c.StopSpeed, t.StopSpeed)
	set(&c.UseIgnition, t.UseIgnition)
	if t.StopSpeed == nil {
		c.StopSpeed = min(c.StopSpeed, c.StartSpeed)
	}
	c.StartSpeed = max(c.StartSpeed, c.StopSpeed)
	c.OnwardSpeed = max(c.OnwardSpeed, c.StartSpeed)
	return c
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}
