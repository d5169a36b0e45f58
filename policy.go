package fleet

import "time"

// AlertKind is what a rule watches for. It is a column and a JSON value, and the set is closed.
type AlertKind string

// The kinds, with the unit of their threshold.
const (
	AlertSpeeding AlertKind = "speeding" // m/s; a fixed limit, or with geofences only inside them
	// the limit is the geofence's own; threshold m/s above it
	AlertFenceSpeeding AlertKind = "geofence_speeding"
	AlertFenceEnter    AlertKind = "geofence_enter" // -
	AlertFenceExit     AlertKind = "geofence_exit"  // -
	AlertFenceDwell    AlertKind = "geofence_dwell" // s; 0 takes the geofence's own dwell time
	// -; outside all of the geofences while the schedule holds
	AlertFenceCurfew       AlertKind = "geofence_curfew"
	AlertBatteryLow        AlertKind = "battery_low"              // percent, state of charge
	AlertFuelLow           AlertKind = "fuel_low"                 // percent
	AlertVoltageLow        AlertKind = "voltage_low"              // V
	AlertOffline           AlertKind = "device_offline"           // s of silence
	AlertIdling            AlertKind = "idling"                   // s
	AlertHarshBraking      AlertKind = "harsh_braking"            // m/s²
	AlertHarshAcceleration AlertKind = "harsh_acceleration"       // m/s²
	AlertHarshCornering    AlertKind = "harsh_cornering"          // m/s²
	AlertTow               AlertKind = "tow"                      // m moved with the ignition off
	AlertUnbookedMovement  AlertKind = "movement_without_booking" // -
	AlertOverdueReturn     AlertKind = "overdue_return"           // s after the end of the booking
	AlertFaultCode         AlertKind = "fault_code"               // -
	AlertOdometerJump      AlertKind = "odometer_jump"            // m
	AlertCrash             AlertKind = "crash"                    // -
	AlertDocumentExpiring  AlertKind = "document_expiring"        // s before
	AlertMaintenanceDue    AlertKind = "maintenance_due"          // s before
	AlertBookingConflict   AlertKind = "booking_conflict"         // -

	AlertStopReached    AlertKind = "stop_reached"    // -; of a route plan
	AlertStopMissed     AlertKind = "stop_missed"     // s after the planned arrival
	AlertRouteDeviation AlertKind = "route_deviation" // s off the corridor of a route plan
)

// Kinds by what a device says.
const (
	AlertSOS         AlertKind = "sos"          // -; the alarm sos
	AlertJamming     AlertKind = "jamming"      // -; the alarm jamming
	AlertTampering   AlertKind = "tampering"    // -; the alarms tampering, removing, gpsAntennaCut
	AlertPowerCut    AlertKind = "power_cut"    // -; the alarms powerCut, powerOff
	AlertLowPower    AlertKind = "low_power"    // -; the alarms lowPower, lowBattery
	AlertDeviceAlarm AlertKind = "device_alarm" // -; any alarm, or those that the rule names
	AlertSignal      AlertKind = "signal"       // as the rule's test of a signal says
	AlertFuelDrop    AlertKind = "fuel_drop"    // percent, beyond what is used
	AlertFuelRise    AlertKind = "fuel_rise"    // percent

	AlertProximity AlertKind = "proximity" // m, between two vehicles; not the engine's, which knows one
)

// AlertKinds lists every kind.
var AlertKinds = []AlertKind{
	AlertSpeeding, AlertFenceSpeeding, AlertFenceEnter, AlertFenceExit, AlertFenceDwell, AlertFenceCurfew, AlertBatteryLow,
	AlertFuelLow, AlertVoltageLow, AlertOffline, AlertIdling, AlertHarshBraking, AlertHarshAcceleration,
	AlertHarshCornering, AlertTow, AlertUnbookedMovement, AlertOverdueReturn, AlertFaultCode,
	AlertOdometerJump, AlertCrash, AlertDocumentExpiring, AlertMaintenanceDue, AlertBookingConflict,
	AlertStopReached, AlertStopMissed, AlertRouteDeviation,
	AlertSOS, AlertJamming, AlertTampering, AlertPowerCut, AlertLowPower, AlertDeviceAlarm, AlertSignal, AlertFuelDrop,
	AlertFuelRise,
	AlertProximity,
}

// MaxPairVehicles is how many vehicles a rule of the kind proximity is about at most: every pair of them, 190.
const MaxPairVehicles = 20

// Scope says which vehicles something is about: those named and those with one of the tags; all if both are empty.
type Scope struct {
	Vehicles []VehicleID
	Tags     []string
}

// Holds says whether a vehicle with these tags is meant.
func (s *Scope) Holds(vehicle VehicleID, tags []string) bool {
	if len(s.Vehicles) == 0 && len(s.Tags) == 0 {
		return true
	}
	for _, v := range s.Vehicles {
		if v == vehicle {
			return true
		}
	}
	for _, wanted := range s.Tags {
		for _, tag := range tags {
			if tag == wanted {
				return true
			}
		}
	}
	return false
}

// Schedule is the times of the week at which something holds, in a time zone; nil means always.
type Schedule struct {
	Zone    *time.Location
	Windows []Window
}

// Window is a part of the days that begin on Days (bit 0 is Monday), from From to To minutes after local midnight. One
// whose To is not after From ends on the next day.
type Window struct {
	Days     uint8
	From, To int
}

// FenceVersion is a geofence as it was during [From, To); To 0 means until further notice.
type FenceVersion struct {
	ID         FenceID
	Revision   uint64
	From, To   Millis
	Name       string
	Geometry   []byte // GeoJSON as query/area takes it; it was validated when it was written
	Scope      Scope
	Schedule   *Schedule
	Dwell      Millis  // 0: no dwell
	SpeedLimit float64 // m/s; 0: none
	Margin     float64 // m outside that a fix must be to count as an exit; 0: the default
	Confirm    int     // fixes that must agree before a move counts; 0: the default
}

// Rule is an alert rule as it was during [From, To); To 0 means until further notice.
type Rule struct {
	ID          RuleID
	Revision    uint64
	From, To    Millis
	Kind        AlertKind
	Severity    string  // info, warning, critical
	Threshold   float64 // in the unit of the kind; 0: the kind's default
	MinDuration Millis  // it must have held for so long
	CoolDown    Millis  // after one was resolved, no other begins for so long
	Schedule    *Schedule
	Scope       Scope
	Fences      []FenceID
	Alarms      []string    // of device_alarm: these words; all if empty
	Signal      *SignalTest // of signal
	Apart       bool        // of proximity: farther apart than Threshold, otherwise not farther
}

// TripSettings change how trips are found; a nil member leaves it at what it was.
type TripSettings struct {
	StopAfter     *Millis  // standing for so long is a stop
	StartDistance *float64 // m; leaving this radius is a trip,
	StartAfter    *Millis  // and so is moving for so long
	NoData        *Millis  // silence from which on nothing is known; unless given, as the tracker's own interval has it
	Split         *Millis  // silence that ends a trip
	StartSpeed    *float64 // m/s from which a vehicle is moving
	StopSpeed     *float64 // m/s below which it is standing
	UseIgnition   *bool    // whether its ignition is believed
}

// Obligation is something a vehicle is bound by in time, of which an alert may have to tell.
type Obligation struct {
	Kind     string // booking, document, maintenance, conflict; of its route plans stop, corridor
	Ref      string // which one
	From, To Millis // of a booking; To is when the others fall due
	Done     bool   // returned, renewed, settled
	DoneAt   Millis // when; 0: nobody knows, and what is done counts as never having been open
}

// Open says whether nobody had done it by an instant.
func (o *Obligation) Open(at Millis) bool { return !o.Done || o.DoneAt > at }

// Traits are what is known of a vehicle besides what its devices say.
type Traits struct {
	Tags         []string
	Zone         *time.Location // for local dates; never nil
	Class        string         // body type
	FuelCapacity float64        // l; 0 unknown
	Battery      float64        // kWh usable; 0 unknown
	Trip         TripSettings   // the account's, then the vehicle's own
	Obligations  []Obligation   // by To
	Routes       []RoutePlan    // that it has to drive, by End, then plan and revision
	Archived     Millis         // since when it is out of the fleet, and no rule holds for it; 0: it is not
}

// Policy is what an account has laid down about its vehicles, at some instant. It is shared and must not be changed.
type Policy struct {
	Account  AccountID
	Version  uint64 // grows with every change, so that what was built from it can be kept
	Fences   []FenceVersion
	Rules    []Rule
	Vehicles map[VehicleID]*Traits     // those that are as they were in the version before are the very same
	Default  Traits                    // of a vehicle that is not there
	Devices  map[DeviceID]TripSettings // of trackers that have settings of their own, which stand above those of vehicles
}

// TraitsOf returns the traits of a vehicle.
func (p *Policy) TraitsOf(vehicle VehicleID) *Traits {
	if t := p.Vehicles[vehicle]; t != nil {
		return t
	}
	return &p.Default
}
