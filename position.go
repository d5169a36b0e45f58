package fleet

import "math"

// Tri is a truth value that may be unknown, as most trackers report only some of them.
type Tri int8

// The values of Tri; the zero value is Unknown.
const (
	Unknown Tri = iota
	No
	Yes
)

// TriOf returns Yes or No.
func TriOf(b bool) Tri {
	if b {
		return Yes
	}
	return No
}

// Report is what a device said in one message: who it is, when, perhaps where, and any signals it measured. A report
// is not yet trusted: nothing in it has been checked, and the account and vehicle it belongs to come from the device
// registry alone. A quantity that the message did not give is NaN, a count is -1, a time is 0.
type Report struct {
	UniqueID string // the device's own identifier (IMEI or the like), as registered

	FixTime    Millis // clock of the satellites
	DeviceTime Millis // clock of the unit

	Positioned  bool // the message is about a place, even if Lat or Lng turned out to be missing or impossible
	Invalid     bool // the device itself says that the fix is not valid
	Approximate bool // located by cell towers or wifi, not by satellites
	Mock        bool // the phone says that the location is simulated

	Lat, Lng   float64 // degrees WGS 84
	Altitude   float64 // m
	Speed      float64 // m/s over ground
	Course     float64 // degrees [0,360) from true north
	Accuracy   float64 // m, radius
	Odometer   float64 // m, as the vehicle reports it; may reset
	Satellites int     // used in the fix
	Ignition   Tri
	Motion     Tri
	Alarm      string // as AlarmOf makes it: one word or several joined by commas, or empty
	Driver     string // tag of who is logged in, as DriverTag has it, or NoDriver; empty if nothing was said

	Signals []SignalValue // in no order; a signal appears at most once
}

// NewReport returns a report that says nothing: every quantity is absent.
func NewReport() Report {
	nan := math.NaN()
	return Report{Lat: nan, Lng: nan, Altitude: nan, Speed: nan, Course: nan, Accuracy: nan, Odometer: nan, Satellites: -1}
}

// Reset makes the report say nothing again and keeps the memory of its signals.
func (r *Report) Reset() {
	signals := r.Signals[:0]
	*r = NewReport()
	r.Signals = signals
}

// Position is an accepted fix of a vehicle: one GNSS solution, checked and classified. There is one per vehicle and
// fix time. Coordinates are whole multiples of CoordinateUnit. Absent quantities are NaN, -1 and 0 as in Report.
type Position struct {
	Account AccountID
	Vehicle VehicleID
	Device  DeviceID

	FixTime      Millis // satellite clock, corrected if the flags say so
	DeviceTime   Millis // unit's clock, as reported; the uncorrected fix time where the unit gave no other
	ReceivedTime Millis // our clock: when Kafka took the record

	Lat, Lng   float64
	Altitude   float64
	Speed      float64
	Course     float64
	Accuracy   float64
	Odometer   float64
	Satellites int
	Ignition   Tri
	Motion     Tri
	Alarm      string
	Cell       Cell
	Flags      Flags
}

// Cell is an H3 index at resolution CellResolution.
type Cell uint64

// CellResolution is the H3 resolution of every stored cell: hexagons of about 0.105 km² with edges of 201 m.
const CellResolution = 9

// Quantise rounds a coordinate in degrees to the stored grid of CoordinateUnit. The division at the end makes it the
// float nearest to the decimal number, so that it is written with seven decimals.
func Quantise(deg float64) float64 { return math.Round(deg*1e7) / 1e7 }

// Flags say what is doubtful about a stored position. A position with any of DoubtfulFlags is left out of live state.
type Flags uint32

// The flags. Their names in JSON and documentation are those of FlagNames.
const (
	FlagOutOfOrder  Flags = 1 << iota // a little older than the vehicle's newest fix
	FlagLate                          // older than the vehicle's newest fix by more than the reorder window
	FlagFutureClock                   // the clock was ahead of ours: fix time is the received time, device time the claim
	FlagRollover                      // GPS week rollover corrected: fix time is 1024 weeks (or more) after device time
	FlagJump                          // too far from the fix before to have been driven, and not confirmed by another
	// the device said that its fix is not valid, or raised an alarm with one that is stored already
	FlagInvalid
	FlagApproximate // cell or wifi location
	FlagLowAccuracy // accuracy radius above the limit
	FlagDrift       // moved less than the noise while the ignition was off
	FlagBadSpeed    // the reported speed was impossible and has been left out
	FlagBadCourse   // the reported course was impossible and has been left out
	FlagMock        // a simulated location
	// the reported odometer was impossible and has been left out, or leapt and does not count
	FlagBadOdometer
	flagEnd
)

// DoubtfulFlags are the flags that keep a position out of live state and of derivations.
const DoubtfulFlags = FlagOutOfOrder | FlagLate | FlagJump | FlagInvalid | FlagApproximate | FlagLowAccuracy | FlagDrift

// FlagNames gives the written name of each flag, in bit order.
var FlagNames = [...]string{
	"out_of_order", "late", "future_clock", "week_rollover", "jump", "invalid", "approximate", "low_accuracy",
	"parked_drift", "bad_speed", "bad_course", "mock", "bad_odometer",
}

// Names returns the written names of the flags that are set, in bit order; nil for none.
func (f Flags) Names() []string {
	var names []string
	for bit, name := range FlagNames {
		if f&(1<<bit) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Refusal is the reason for which something a device sent is not stored as a position. It is a metric label, a column
// and a JSON value, and the set is closed.
type Refusal string

// The reasons of refusal. Those for which Refusal.DeadLettered holds are kept as dead letters with their raw bytes.
const (
	RefusedUndecodable Refusal = "undecodable" // not a record of the stated format
	RefusedTooLarge    Refusal = "too_large"   // above the size limit of a record
	// a record batch of Kafka that cannot be read; it counts as one report
	RefusedBatch              Refusal = "unreadable_batch"
	RefusedNoDevice           Refusal = "missing_device"      // names no device
	RefusedMissingTime        Refusal = "missing_time"        // no usable time
	RefusedImplausibleTime    Refusal = "implausible_time"    // a factory-default clock: 1970, 1980, 2000
	RefusedMissingCoordinates Refusal = "missing_coordinates" // no latitude or no longitude
	RefusedBadCoordinates     Refusal = "bad_coordinates"     // NaN, infinite or outside [-90,90], [-180,180]
	RefusedZeroCoordinates    Refusal = "zero_coordinates"    // exactly 0,0: what trackers send without a fix
	RefusedDuplicate          Refusal = "duplicate"           // the vehicle has a position at this fix time already
	RefusedTooOld             Refusal = "too_old"             // beyond the account's retention
	RefusedUnassigned         Refusal = "device_unassigned"   // known device that was on no vehicle at that time
	RefusedUnknownDevice      Refusal = "unknown_device"      // kept apart until the device is registered
	RefusedUnknownOverflow    Refusal = "unknown_device_over_limit"
	RefusedEmpty              Refusal = "empty" // neither a position nor a known signal
)

// Refusals lists every reason, in the order of documentation.
var Refusals = []Refusal{
	RefusedUndecodable, RefusedTooLarge, RefusedBatch, RefusedNoDevice, RefusedMissingTime, RefusedImplausibleTime,
	RefusedMissingCoordinates, RefusedBadCoordinates, RefusedZeroCoordinates, RefusedDuplicate, RefusedTooOld,
	RefusedUnassigned, RefusedUnknownDevice, RefusedUnknownOverflow, RefusedEmpty,
}

// DeadLettered says whether a record refused for this reason is kept as a dead letter. Duplicates lose nothing,
// unknown devices are kept elsewhere, and what is beyond retention is not wanted.
func (r Refusal) DeadLettered() bool {
	switch r {
	case RefusedDuplicate, RefusedTooOld, RefusedUnknownDevice, RefusedUnknownOverflow:
		return false
	}
	return true
}

// Alarms are the alarms that trackers commonly know, as Traccar spells them. A position may carry others
// too, see AlarmOf.
var Alarms = []string{
	"general", "sos", "vibration", "movement", "lowspeed", "overspeed", "fallDown", "lowPower", "lowBattery", "fault",
	"powerOff", "powerOn", "door", "lock", "unlock", "geofence", "geofenceEnter", "geofenceExit", "gpsAntennaCut",
	"accident", "tow", "idle", "highRpm", "hardAcceleration", "hardBraking", "hardCornering", "laneChange",
	"fatigueDriving", "powerCut", "powerRestored", "jamming", "temperature", "parking", "bonnet", "footBrake",
	"fuelLeak", "tampering", "removing",
}

// Distance returns the great-circle distance in metres between two places in degrees, by the haversine formula on a
// sphere of EarthRadius; it is right across the antimeridian and at the poles.
func Distance(lat1, lng1, lat2, lng2 float64) float64 {
	const rad = math.Pi / 180
	if lat1 == lat2 && lng1 == lng2 {
		return 0
	}
	sinLat, sinLng := sinOf((lat2-lat1)*rad/2), sinOf((lng2-lng1)*rad/2)
	cos := math.Cos((lat1 + lat2) * rad / 2)
	h := sinLat*sinLat + (cos*cos-sinLat*sinLat)*sinLng*sinLng // the product of the cosines of both latitudes
	if h < 1e-5 {
		x := math.Sqrt(h) // up to 40 km: the series of asin as far as a float64 shows it
		return 2 * EarthRadius * (x + x*h*(1.0/6+h*(3.0/40+h*(15.0/336))))
	}
	return 2 * EarthRadius * math.Asin(math.Sqrt(min(1, h)))
}

// sinOf is math.Sin, of small angles sooner: as much of its series as a float64 shows.
func sinOf(x float64) float64 {
	if x > -0.005 && x < 0.005 {
		square := x * x
		return x - x*square*(1.0/6-square/120)
	}
	return math.Sin(x)
}
