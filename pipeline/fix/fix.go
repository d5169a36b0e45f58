// Package fix decides what a report is worth: Normalise turns it into a position or refuses it, looking at nothing but
// the report itself; Classify then judges the position against what is known of its vehicle and moves that state
// forward. Both are pure: no clock, no store, no goroutine, and the same input always gives the same verdict, so a
// batch that is worked through again after a crash comes out the same.
//
// What cannot be a position is refused with a reason; what is doubtful is stored with a flag and leaves live state
// alone. The rules:
//
//	time       none                                             refused missing_time
//	           before 22 August 1999, or 1-2 January 2000       refused implausible_time
//	           1024 weeks less 90 days behind us, or more       moved by whole 1024-week cycles, flag week_rollover
//	           more than 5 min ahead of us                      fix time is our time, flag future_clock
//	           ahead of us by less                              kept; the live state takes the time of receipt
//	place      none; not finite or out of range; exactly 0,0    refused missing_, bad_, zero_coordinates
//	quantity   impossible speed, course, odometer               left out, flags bad_speed, bad_course, bad_odometer
//	device     says invalid, cell or wifi, simulated            flags invalid, approximate, mock
//	           accuracy worse than 200 m                        flag low_accuracy
//	history    same vehicle and fix time as a stored one        refused duplicate
//	           likewise, with an alarm not told with that one   stored beside it, flag invalid (the chain does it)
//	           older than live state, within / beyond 60 s      flags out_of_order, late
//	           over 300 m and 250 km/h from live state, beyond  flag jump, until one 10 s later agrees with it
//	           what its wheels did since its place last changed
//	           ignition off and moved less than the noise       flag parked_drift, the anchor holds
//	odometer   drops, resets, comes back, leaps                 see Mileage
//
// A position without a doubtful flag is trusted: the State moves to it. Fix times of trusted positions of a State
// strictly increase. Speed between places is judged from where the place last changed: where it stood still and the
// reported speed did not, the way by that speed is taken off (fleet.Wheels), and half a minute's way at 250 km/h where
// nobody told a speed; of up to five minutes that nothing was heard of a vehicle under way, their way too. An ignition
// that is off refutes it, and so does a speed of nothing.
//
//	                trusted fix                                  far and too fast
//	       +---------------------------+            +------------------------------------------+
//	       v                           |            |                                          v
//	[no state] --first good fix--> [anchored] ------+                              [anchored, candidate]
//	                                   ^   ^                                                |      |
//	                                   |   +------ fix 10 s later that agrees with it ------+      |
//	                                   +---------- fix that agrees with the anchor ----------------+
package fix

import (
	"errors"
	"time"

	"github.com/motorpool/fleet"
)

// Config holds the limits. Lengths of time are compared in whole milliseconds.
type Config struct {
	FutureTolerance time.Duration `json:"future_tolerance"` // a clock may be ahead of ours by this much
	RolloverAge     time.Duration `json:"rollover_age"`     // a fix older than this lost GPS weeks; 0 never corrects
	Reorder         time.Duration `json:"reorder"`          // up to this much behind is out of order, more is late

	MaxSpeed     float64       `json:"max_speed_mps"`   // a reported speed above is impossible
	MaxAccuracy  float64       `json:"max_accuracy_m"`  // a radius above is low accuracy
	JumpSpeed    float64       `json:"jump_speed_mps"`  // implied speed above which a fix may be a jump
	JumpDistance float64       `json:"jump_distance_m"` // and the distance that it must have covered as well
	JumpConfirm  time.Duration `json:"jump_confirm"`    // a jump is believed when a fix so much later agrees with it
	DriftRadius  float64       `json:"drift_radius_m"`  // noise of a parked device whose accuracy is not worse
	OdometerStep float64       `json:"odometer_step_m"` // leap of an odometer that is believed at any time
	OdometerDrop float64       `json:"odometer_drop_m"` // a counter that falls by more than this was reset
}

// DefaultConfig returns the limits of the package comment.
func DefaultConfig() Config {
	return Config{
		FutureTolerance: 5 * time.Minute,
		RolloverAge:     1024*week - 90*24*time.Hour,
		Reorder:         time.Minute,
		MaxSpeed:        400 * fleet.MetresPerKmh, // recordings hold 410 km/h, and 255 mph (one byte, all ones)
		MaxAccuracy:     200,
		JumpSpeed:       250 * fleet.MetresPerKmh,
		JumpDistance:    300,
		JumpConfirm:     10 * time.Second,
		DriftRadius:     25,
		OdometerStep:    5000,
		OdometerDrop:    1000,
	}
}

// Validate returns what is wrong with the limits.
func (c *Config) Validate() error {
	var problems []error
	check := func(ok bool, problem string) {
		if !ok {
			problems = append(problems, errors.New(problem))
		}
	}
	check(c.FutureTolerance >= 0, "fix future_tolerance is negative")
	check(c.RolloverAge == 0 || c.RolloverAge >= 365*24*time.Hour,
		"fix rollover_age is below a year: it would move good fixes")
	check(c.Reorder >= 0, "fix reorder is negative")
	check(c.MaxSpeed > 0, "fix max_speed_mps must be positive")
	check(c.MaxAccuracy > 0, "fix max_accuracy_m must be positive")
	check(c.JumpSpeed > 0 && c.JumpDistance > 0, "fix jump_speed_mps and jump_distance_m must be positive")
	check(c.JumpConfirm >= 0, "fix jump_confirm is negative")
	check(c.DriftRadius >= 0, "fix drift_radius_m is negative")
	check(c.OdometerStep > 0 && c.OdometerDrop > 0, "fix odometer_step_m and odometer_drop_m must be positive")
	return errors.Join(problems...)
}
