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

	Heard  fleet.Millis // The time of the newest input; 0 for none.
	Silent bool         // Nothing was heard for longer than a silence.

	Last   Fix    // The newest fix; its At is 0 if there was none.
	Stay   Stay   // The stop, in phase Stopped.
	Drive  Drive  // The trip in phase OnTrip, else a drive on probation.
	Halt   Halt   // The halt inside Drive.
	Rhythm Rhythm // How often it reports.
	Plug   Charge // The charging session, and what may become one.

	MovingSince fleet.Millis // When it left the last halt, in phase OnTrip.

	Ignition   fleet.Tri    // The ignition as last told.
	OffAt      fleet.Millis // The ignition went off on the move then, and the fix after it is awaited; 0 if not.
	DroveOn    bool         // It was at speed with the ignition on since the ignition was last off.
	Cycles     uint8        // How often the ignition was off after DroveOn, at most 2; it is reliable from 2 on.
	EngineFrom fleet.Millis // Since when the engine is on; 0 while it is off.
	EngineOn   fleet.Millis // How much of the time since the newest fix the engine was on.

	Rpm      Reading // The newest engine speed.
	EcuSpeed Reading // The newest speed that the vehicle itself told.
	Flag     Reading // The newest motion flag, as a signal.
	Fuel     Reading // The newest reading of the fuel counter, as reported.
	Energy   Reading // The newest reading of the energy counter, as reported.
	Now      Meters

	Wheels fleet.Wheels // What the wheels did since the place last changed.
	Miles  Ticks        // What the odometer did since the place last changed.
	Ahead  float64      // How much of Wheels.Way, in metres, the distance of a trip has already.
	// How far, in metres, the place may lie behind the wheels, if it had stood still before it changed.
	Lag  float64
	Pace Pace // How fast the legs of a drive without speeds were.
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
	Meters   Meters // The meters as of then.
}

// Meters are the quantities whose difference between two instants is told. Fuel and energy used are made monotonic: a
// counter that falls was reset, and one that leaps was exchanged; either changes nothing.
type Meters struct {
	FuelUsed   Reading // In litres, since the first reading.
	EnergyUsed Reading // In kWh, since the first reading.
	FuelLevel  Reading // In litres.
	Soc        Reading // In percent.
}

// Stay is a stop.
type Stay struct {
	Start, End fleet.Millis // End is the newest fix that belongs to it.
	Recognised fleet.Millis
	Place      fleet.Place // Where it began, which is told.
	Anchor     fleet.Place // Where the vehicle is held to be, from which a departure is measured.
	Idle       fleet.Millis
	Fixes      int
}

// Drive is a trip or a drive on probation, up to its newest fix or to the halt inside it.
type Drive struct {
	On         bool // The drive goes on; otherwise it is what a silence of Split has cut, which may go on.
	Start, End fleet.Millis
	Opened     fleet.Millis // The fix that began it, of one on probation.
	Recognised fleet.Millis
	Device     fleet.DeviceID
	From, To   fleet.Place
	Distance   float64
	Estimated  float64      // How much of Distance was on ways that nobody saw.
	Unrecorded fleet.Millis // The time on ways that nobody saw.
	MaxSpeed   float64
	Moving     fleet.Millis
	Idle       fleet.Millis
	AtSpeed    fleet.Millis // How much of Moving was witnessed by speed.
	Fixes      int
	Begin      Meters
	BeginMiles Reading
	EndMiles   Reading
	Far        bool   // The newest fix of one on probation is StartDistance away.
	Before     Unseen // The way that nobody saw before one on probation.
}

// Halt is standing inside a drive, for how long nobody knows yet.
type Halt struct {
	On      bool
	Stood   bool // Speed or a flag says so; otherwise it is only that no movement shows.
	Start   fleet.Millis
	Place   fleet.Place
	Idle    fleet.Millis
	Fixes   int
	End     Meters // The meters as of Start.
	Out     bool   // The newest fix lies outside, and waits for another that agrees.
	OutAt   fleet.Millis
	OutLeft fleet.Place

	Going    fleet.Millis // Since when speed says that it goes on, though it is not away yet; 0 if not.
	Restless fleet.Millis // How much of the time since Going the engine was on.
	Rolling  bool         // Only the place stands still, and the speed says that it drives.

	Paused fleet.Millis // The newest fix by which legs without speed show that it stood from Start on; 0 if none.
	Rested fleet.Millis // How much of the time until Paused the engine was on.
}

// idle is the idle time of the halt if it goes on.
func (h *Halt) idle() fleet.Millis { return h.Idle + h.Restless }

// Charge is a charging session, or what may become one.
type Charge struct {
	Open       bool
	Estimated  bool
	Start      fleet.Millis
	Recognised fleet.Millis
	Evidence   fleet.Millis // The newest input that shows that it goes on.
	Place      fleet.Place
	HasPlace   bool
	SocStart   Reading
	SocEnd     Reading
	Energy     float64 // In kWh.
	Powered    bool    // Energy and Peak are known.
	Peak       float64 // In kW.
	Power      Reading // The newest power, in kW.
	Signal     Reading // The newest charging signal.
	Low        Reading // The lowest state of charge since the vehicle stands.
	Top        Reading // The highest state of charge since the session began.
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
