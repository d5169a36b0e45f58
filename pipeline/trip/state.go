package trip

import "github.com/motorpool/fleet"

// Phase says what a vehicle is known to be doing.
type Phase uint8

// The phases.
const (
	NoData  Phase = iota // nothing yet, or nothing since a silence ended a trip
	Stopped              // Stay is open; Drive may be on probation
	OnTrip               // Drive is a trip; Halt may become the next stop
)

// Reasons for which trips and stops end.
const (
	reasonStop     = "stop"
	reasonMoved    = "moved"
	reasonIgnition = "ignition_off"
	reasonGap      = "gap"
	reasonDevice   = "device_change"
)

// State is what must be remembered of a vehicle between inputs. The zero value knows nothing. It is plain data of a
// fixed size, about a kilobyte, and holds no reference to anything.
type State struct {
	Phase Phase

	Heard  fleet.Millis // newest input; 0 for none
	Silent bool         // nothing was heard for longer than a silence

	Last   Fix    // newest fix; its At is 0 if there was none
	Stay   Stay   // the stop of phase Stopped
	Drive  Drive  // the trip of phase OnTrip, else a drive on probation
	Halt   Halt   // the halt inside Drive
	Rhythm Rhythm // how often it reports
	Plug   Charge // the charging session, and what may become one

	MovingSince fleet.Millis // of phase OnTrip: when it left the last halt

	Ignition   fleet.Tri    // as last told
	OffAt      fleet.Millis // the ignition went off on the move, and the fix after it is awaited; 0 if not
	DroveOn    bool         // at speed with the ignition on since it was last off
	Cycles     uint8        // times that the ignition was off after DroveOn, at most 2; reliable from 2 on
	EngineFrom fleet.Millis // since when the engine is on; 0 while it is off
	EngineOn   fleet.Millis // of the time since the newest fix: with the engine on

	Rpm      Reading // newest engine speed
	EcuSpeed Reading // newest speed of the vehicle itself
	Flag     Reading // newest motion flag, as a signal
	Fuel     Reading // newest reading of the fuel counter, as reported
	Energy   Reading // newest reading of the energy counter, as reported
	Now      Meters

	Wheels fleet.Wheels // since the place last changed
	Miles  Ticks        // likewise, of the odometer
	Ahead  float64      // m of Wheels.Way that the distance of a trip has already
	Lag    float64      // m that the place may lie behind the wheels, if it had stood still before it changed
	Pace   Pace         // of a drive without speeds: how fast its legs were
}

// Reading is a value with the time it holds from; a time of 0 stands for none.
type Reading struct {
	Value float64
	At    fleet.Millis
}

// Fix is what must be remembered of a fix.
type Fix struct {
	At       fleet.Millis
	Device   fleet.DeviceID
	Lat, Lng float64
	Mileage  Reading
	Meters   Meters // as of then
}

// Meters are the quantities whose difference between two instants is told. Fuel and energy used are made monotonic: a
// counter that falls was reset, and one that leaps was exchanged; either changes nothing.
type Meters struct {
	FuelUsed   Reading // l, since the first reading
	EnergyUsed Reading // kWh, since the first reading
	FuelLevel  Reading // l
	Soc        Reading // percent
}

// Stay is a stop.
type Stay struct {
	Start, End fleet.Millis // End is the newest fix that belongs to it
	Recognised fleet.Millis
	Place      fleet.Place // where it began, which is told
	Anchor     fleet.Place // where the vehicle is held to be, from which a departure is measured
	Idle       fleet.Millis
	Fixes      int
}

// Drive is a trip or a drive on probation, up to its newest fix or to the halt inside it.
type Drive struct {
	On         bool // otherwise it is what a silence of Split has cut, which may go on
	Start, End fleet.Millis
	Opened     fleet.Millis // on probation: the fix that began it
	Recognised fleet.Millis
	Device     fleet.DeviceID
	From, To   fleet.Place
	Distance   float64
	Estimated  float64      // of Distance: on ways that nobody saw
	Unrecorded fleet.Millis // time on these ways
	MaxSpeed   float64
	Moving     fleet.Millis
	Idle       fleet.Millis
	AtSpeed    fleet.Millis // of Moving: witnessed by speed
	Fixes      int
	Begin      Meters
	BeginMiles Reading
	EndMiles   Reading
	Far        bool   // on probation: the newest fix is StartDistance away
	Before     Unseen // on probation
}

// Halt is standing inside a drive, for how long nobody knows yet.
type Halt struct {
	On      bool
	Stood   bool // speed or a flag says so; otherwise it is only that no movement shows
	Start   fleet.Millis
	Place   fleet.Place
	Idle    fleet.Millis
	Fixes   int
	End     Meters // as of Start
	Out     bool   // the newest fix lies outside, and waits for another that agrees
	OutAt   fleet.Millis
	OutLeft fleet.Place

	Going    fleet.Millis // since when speed says that it goes on, though it is not away yet; 0 if not
	Restless fleet.Millis // of the time since Going: with the engine on
	Rolling  bool         // it is only the place that stands still, and the speed says that it drives

	Paused fleet.Millis // the newest fix by which legs without speed show that it stood from Start on; 0 if none
	Rested fleet.Millis // of the time until Paused: with the engine on
}

// idle is the idle time of the halt if it goes on.
func (h *Halt) idle() fleet.Millis { return h.Idle + h.Restless }

// Charge is a charging session, or what may become one.
type Charge struct {
	Open       bool
	Estimated  bool
	Start      fleet.Millis
	Recognised fleet.Millis
	Evidence   fleet.Millis // newest input that shows that it goes on
	Place      fleet.Place
	HasPlace   bool
	SocStart   Reading
	SocEnd     Reading
	Energy     float64 // kWh
	Powered    bool    // Energy and Peak are known
	Peak       float64 // kW
	Power      Reading // newest power, kW
	Signal     Reading // newest charging signal
	Low        Reading // lowest state of charge since the vehicle stands
	Top        Reading // highest since the session began
}

// Clone returns a copy that shares nothing with the state.
func (s *State) Clone() State { return *s }

// reliable says whether the ignition has proven to tell the truth: twice it was on at speed and then off at rest, and
// since then it was never off at speed away from where it was.
func (s *State) reliable() bool { return s.Cycles >= 2 }

// Motion returns how the vehicle is moving after the newest input.
func (s *State) Motion() (m fleet.Motion) {
	s.Moves(&m)
	return m
}

// Moves is Motion where it is asked for each fix: it fills in m, which is zero.
func (s *State) Moves(m *fleet.Motion) {
	m.Ignition = s.Ignition
	switch s.Phase {
	case Stopped:
		m.Known = true
		m.Since = s.Stay.Start
	case OnTrip:
		m.Known = !s.Silent
		m.OnTrip = true
		m.Distance = s.Drive.Distance
		m.Since = s.MovingSince
		m.Moving = !s.Silent
		if s.Halt.On && s.Halt.Stood {
			m.Moving = false
			m.Since = s.Halt.Start
		}
	default:
		if !s.Drive.On || !s.Halt.On || !s.Halt.Stood {
			return
		}
		m.Known = true // its first fixes say that it stands, though that is no stop yet
		m.Since = s.Halt.Start
	}
	if m.Known && !m.Moving && !s.Silent && s.EngineFrom != 0 {
		m.Idling = true
		m.IdleFrom = max(m.Since, s.EngineFrom)
	}
}

// standing says whether nothing speaks against that the vehicle stands.
func (s *State) standing() bool { return !s.Drive.On || s.Halt.On }

// standsSince is the instant from which on standing holds; 0 if it has no beginning that is known.
func (s *State) standsSince() fleet.Millis {
	switch {
	case s.Drive.On:
		return s.Halt.Start
	case s.Phase == Stopped:
		return s.Stay.Start
	}
	return 0
}
