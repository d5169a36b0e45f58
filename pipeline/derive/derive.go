// Package derive turns what a vehicle's devices said, in order of event time, into what it did: trips, stops and
// charging sessions, visits of geofences, runs along route plans, driving events and alerts. It runs the
// detectors one after the other,
//
//	input ─► deadlines that fall before it ─► fix (judged again) ─► trip ─► geofence ─► route ─► alert
//
// and is as pure as they are: what comes out depends on the inputs in order of time, on the policy, and on how far time
// has come, and on nothing else. How the inputs arrived, in which portions they are given, and whether anybody looked
// at the clock in between makes no difference: Step of a and then of b is Step of a and b, and Advance to a and then
// to b is Advance to b.
//
// The flags that a stored position has from its arrival (late, out of order, jump, parked drift, odometer leap) are not
// believed here, because they depend on what had come before it. The position is judged again, against the inputs
// before it in time.
//
// Who keeps the states, finds the inputs and stores the results is pipeline/follow.
package derive

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/alert"
	"github.com/motorpool/fleet/pipeline/fix"
	"github.com/motorpool/fleet/pipeline/geofence"
	"github.com/motorpool/fleet/pipeline/route"
	"github.com/motorpool/fleet/pipeline/trip"
)

// Config holds the parameters of the detectors that have any.
type Config struct {
	Fix  fix.Config
	Trip trip.Config
}

// DefaultConfig returns the recommended parameters.
func DefaultConfig() Config {
	return Config{Fix: fix.DefaultConfig(), Trip: trip.DefaultConfig()}
}

// Validate returns what is wrong with the parameters.
func (c *Config) Validate() error { return errors.Join(c.Fix.Validate(), c.Trip.Validate()) }

// Vehicle is everything about a vehicle that its inputs do not say. It is immutable and may be shared.
type Vehicle struct {
	key    fleet.VehicleKey
	traits *fleet.Traits
	fix    fix.Config
	trip   trip.Config
	own    map[fleet.DeviceID]fleet.TripSettings
	fences *geofence.Index
	rules  *alert.Engine
	routes *route.Plans
}

// NewVehicle compiles a vehicle. fences and rules are those of its account's policy. Settings of trips that make no
// sense together, the account's with the vehicle's, are left out. No rule holds from when the vehicle was archived;
// those before it did.
func NewVehicle(cfg *Config, key fleet.VehicleKey, policy *fleet.Policy, fences *geofence.Index,
	rules *alert.Engine) *Vehicle {
	traits := policy.TraitsOf(key.Vehicle)
	trips := cfg.Trip.With(traits.Trip)
	if trips.Validate() != nil {
		trips = cfg.Trip
	}
	if traits.Archived != 0 {
		rules = rules.Until(traits.Archived)
	}
	return &Vehicle{key: key, traits: traits, fix: cfg.Fix, trip: trips, own: policy.Devices, fences: fences, rules: rules,
		routes: route.New(traits.Routes)}
}

// trips returns the parameters that hold for a device.
func (v *Vehicle) trips(device fleet.DeviceID) *trip.Config {
	if len(v.own) > 0 { // few accounts have any
		if settings, ok := v.own[device]; ok {
			if own := v.trip.With(settings); own.Validate() == nil {
				return &own
			}
		}
	}
	return &v.trip
}

// Input is a stored position, or a measurement.
type Input struct {
	At       fleet.Millis // The fix time, or the time of the measurement.
	Position *fleet.Position
	Signal   fleet.SignalValue // The measurement, if there is no position.
	// Unsure says that the position was read with and without the flag of a jump: its rows are not merged yet.
	Unsure bool
}

// State is all that must be remembered of a vehicle between two inputs. The zero value is a vehicle of which nothing is
// known.
type State struct {
	Time  fleet.Millis // The time of the newest input.
	Fired fleet.Millis // The newest deadline that did something.
	Fix   fix.State
	Trip  trip.State
	Fence geofence.State
	Alert alert.State
	Route route.State
}

// Known says whether there was any input.
func (s *State) Known() bool { return s.Time != 0 }

// Reached returns the time up to which the state is decided: an input that is not later changes the past.
func (s *State) Reached() fleet.Millis { return max(s.Time, s.Fired) }

// Clone returns a copy that shares nothing.
func (s *State) Clone() State {
	c := *s
	c.Trip, c.Fence, c.Alert, c.Route = s.Trip.Clone(), s.Fence.Clone(), s.Alert.Clone(), s.Route.Clone()
	return c
}

// Format is the version of what Encode writes. A state of another is not read, and its vehicle derived from
// the beginning.
const Format uint32 = 4

// Encode writes the state; equal states are written alike.
func (s *State) Encode() ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(s); err != nil {
		return nil, fmt.Errorf("encode state: %w", err)
	}
	return b.Bytes(), nil
}

// Decode reads what Encode wrote.
func Decode(text []byte) (State, error) {
	var s State
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&s); err != nil {
		return State{}, fmt.Errorf("decode state: %w", err)
	}
	return s, nil
}

// Verdict says whether a stored position is a jump, where its flags say otherwise because they depend on what had
// arrived before it.
type Verdict struct {
	At     fleet.Millis
	Device fleet.DeviceID
	Jump   bool
}

// Step works inputs in, which are later than the state's time and in order of time, and appends to out what begins,
// changes or ends. It does not change the inputs.
func (v *Vehicle) Step(s *State, in []Input, out *fleet.Entities) { v.Judge(s, in, out, nil) }

// Judge is Step that also appends to verdicts, unless it is nil.
func (v *Vehicle) Judge(s *State, in []Input, out *fleet.Entities, verdicts *[]Verdict) {
	w := works.Get().(*work)
	defer works.Put(w)
	w.verdicts = verdicts
	for i := range in {
		input := &in[i]
		if input.Position == nil && !base[input.Signal.Signal] && !v.rules.Wants(input.Signal.Signal, input.At) {
			s.Time = max(s.Time, input.At) // its deadlines fire before the next input, as they would have before this one
			continue
		}
		v.fire(s, w, input.At, out)
		s.Time = max(s.Time, input.At)
		if input.Position != nil {
			v.position(s, w, input, out)
		} else {
			v.signal(s, w, input, out)
		}
	}
	w.verdicts = nil
}

// works are those that nobody uses at the time: a fix that comes alone would need one for itself.
var works = sync.Pool{New: func() any { return new(work) }}

// work is memory that a Step uses for all its inputs.
type work struct {
	position fleet.Position
	moves    []fleet.FenceMove
	inside   []fleet.FenceID
	stops    []fleet.StopMove
	verdicts *[]Verdict // Nil if nobody asks for them.
}

// arrival are the flags that a position owes to what arrived before it.
const arrival = fleet.FlagOutOfOrder | fleet.FlagLate | fleet.FlagJump | fleet.FlagDrift

func (v *Vehicle) position(s *State, w *work, input *Input, out *fleet.Entities) {
	stored := input.Position
	w.position = *stored
	p := &w.position
	// A future clock was dealt with when the position was stored; its fix time is ours.
	future := p.Flags & fleet.FlagFutureClock
	p.Flags &^= arrival | fleet.FlagFutureClock
	p.ReceivedTime = 0 // when it came matters to the live state alone
	if !math.IsNaN(p.Odometer) {
		p.Flags &^= fleet.FlagBadOdometer
	}
	if v.fix.Classify(&s.Fix, p, false) != "" {
		return // cannot be: inputs differ in time
	}
	p.Flags |= future
	if jump := p.Flags & fleet.FlagJump; w.verdicts != nil && (jump != stored.Flags&fleet.FlagJump || input.Unsure) {
		*w.verdicts = append(*w.verdicts, Verdict{At: stored.FixTime, Device: stored.Device, Jump: jump != 0})
	}
	in := alert.Input{
		At: p.FixTime, RawOdometer: p.Odometer, OdometerRefused: !math.IsNaN(p.Odometer) &&
			p.Flags&fleet.FlagBadOdometer != 0,
	}
	switch doubts := p.Flags & fleet.DoubtfulFlags; doubts {
	case 0:
		in.Position = p
	case fleet.FlagDrift: // it says again where the vehicle stands
		alarm := p.Alarm
		*p = s.Fix.Last
		p.FixTime, p.Speed, p.Alarm, p.Flags = stored.FixTime, 0, alarm, future|fleet.FlagDrift
		in.Position = p
	default:
		in.Doubtful = p
	}
	w.moves, w.stops = w.moves[:0], w.stops[:0]
	if in.Position != nil {
		reading := math.NaN() // of the odometer, at this fix
		if s.Fix.Mileage.Time == p.FixTime {
			reading = s.Fix.Mileage.Total()
		}
		v.trips(p.Device).Fix(&s.Trip, v.key, p, reading, out)
		v.fences.Fix(&s.Fence, v.key, v.traits, p, out, &w.moves)
		v.route(s, w, p.FixTime, p, out)
	}
	v.alert(s, w, &in, out)
}

func (v *Vehicle) signal(s *State, w *work, input *Input, out *fleet.Entities) {
	v.trips(s.Trip.Last.Device).Signal(&s.Trip, v.key, input.At, input.Signal, out)
	w.moves, w.stops = w.moves[:0], w.stops[:0]
	v.alert(s, w,
		&alert.Input{At: input.At, Signal: &input.Signal, Aside: !base[input.Signal.Signal], RawOdometer: math.NaN()}, out)
}

// route follows the vehicle's route plans, and has the rules know what it is bound by there. Without a fix the
// time has come.
func (v *Vehicle) route(s *State, w *work, at fleet.Millis, p *fleet.Position, out *fleet.Entities) {
	if v.routes.None(&s.Route) { // as for most vehicles
		if p != nil {
			s.Route.Measure(at, p, s.Trip.Phase == trip.OnTrip)
		}
		return
	}
	w.inside = v.fences.Inside(&s.Fence, w.inside[:0])
	in := route.Input{At: at, Position: p, OnTrip: s.Trip.Phase == trip.OnTrip, Moves: w.moves, Inside: w.inside}
	if v.routes.Step(&s.Route, v.key, &in, out, &w.stops) {
		s.Alert.Bound = v.routes.Bound(&s.Route)
	}
}

// alert fills in what the detectors know by now, and runs the rules.
func (v *Vehicle) alert(s *State, w *work, in *alert.Input, out *fleet.Entities) {
	w.inside = v.fences.Inside(&s.Fence, w.inside[:0])
	s.Trip.Moves(&in.Motion)
	in.Moves, in.Stops, in.Inside, in.Mileage = w.moves, w.stops, w.inside, mileage(&s.Fix)
	in.SpeedLimit, in.LimitFence = v.fences.SpeedLimit(&s.Fence)
	if s.Fix.Known() {
		in.Last = &s.Fix.Last
	}
	v.rules.Step(&s.Alert, v.key, v.traits, in, out)
}

// mileage returns the vehicle's mileage in metres, or NaN.
func mileage(s *fix.State) float64 {
	if s.Mileage.Time == 0 {
		return math.NaN()
	}
	return s.Mileage.Total()
}

// Advance says that time has come to an instant without a further input up to it.
func (v *Vehicle) Advance(s *State, to fleet.Millis, out *fleet.Entities) {
	w := works.Get().(*work)
	defer works.Put(w)
	v.fire(s, w, to, out)
}

// fire lets the deadlines up to an instant do what they do, each at its own time.
func (v *Vehicle) fire(s *State, w *work, to fleet.Millis, out *fleet.Entities) {
	for last := fleet.Millis(0); ; {
		at := v.Wake(s)
		if at == 0 || at > to || at <= last {
			return // at <= last: a detector that does not move on must not hold us up for ever
		}
		last = at
		s.Fired = max(s.Fired, at)
		w.moves, w.stops = w.moves[:0], w.stops[:0]
		v.trips(s.Trip.Last.Device).Advance(&s.Trip, v.key, at, out)
		v.fences.Advance(&s.Fence, v.key, v.traits, at, out, &w.moves)
		v.route(s, w, at, nil, out)
		if len(w.moves) > 0 || len(w.stops) > 0 {
			v.alert(s, w, &alert.Input{At: at, RawOdometer: math.NaN()}, out)
		}
		v.rules.Advance(&s.Alert, v.key, v.traits, at, s.Trip.Motion(), out)
	}
}

// Wake returns the time at which silence will mean something, or 0.
func (v *Vehicle) Wake(s *State) fleet.Millis {
	wake := fleet.Millis(0)
	for _, at := range [...]fleet.Millis{v.trips(s.Trip.Last.Device).Wake(&s.Trip), v.fences.Wake(&s.Fence, v.traits),
		v.routes.Wake(&s.Route), v.rules.Wake(&s.Alert, v.traits)} {
		if at != 0 && (wake == 0 || at < wake) {
			wake = at
		}
	}
	return wake
}

// Open appends the present versions of what goes on.
func (v *Vehicle) Open(s *State, out *fleet.Entities) {
	v.trip.Open(&s.Trip, v.key, out)
	v.fences.Open(&s.Fence, v.key, out)
	v.routes.Open(&s.Route, v.key, out)
	v.rules.Open(&s.Alert, v.key, out)
}
