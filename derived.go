package fleet

import (
	"encoding/binary"
	"hash/fnv"
)

// Kind is a sort of thing that is derived from what a vehicle's devices said. It is a column and a JSON value.
type Kind string

// The kinds.
const (
	KindTrip     Kind = "trip"
	KindStop     Kind = "stop"
	KindCharging Kind = "charge"
	KindVisit    Kind = "visit"
	KindDriving  Kind = "driving_event"
	KindAlert    Kind = "alert"
	KindRun      Kind = "route_run"

	KindPosition Kind = "position" // of events alone: a fleet.Live, which is not derived
)

// Kinds lists every kind.
var Kinds = []Kind{KindTrip, KindStop, KindCharging, KindVisit, KindDriving, KindAlert, KindRun}

// Prefix returns how written identities of the kind begin.
func (k Kind) Prefix() string {
	switch k {
	case KindTrip:
		return "trp_"
	case KindStop:
		return "stp_"
	case KindCharging:
		return "chs_"
	case KindVisit:
		return "vis_"
	case KindDriving:
		return "drv_"
	case KindAlert:
		return "alr_"
	case KindRun:
		return RunPrefix
	}
	return ""
}

// Head is what everything derived has in common. Times are event times: clocks of fixes, never of ours.
type Head struct {
	ID           uint64 `json:"-"`
	RecognisedAt Millis `json:"-"`        // time of the input that made it known; Start may lie before it
	Start        Millis `json:"start_ms"` // of the first fix that belongs to it
	End          Millis `json:"end_ms"`   // of the last fix that belongs to it so far, or at last
	Open         bool   `json:"open"`     // provisional: it goes on
}

// Header returns the head; every Entity embeds one.
func (h *Head) Header() *Head { return h }

// Entity is something derived: a *Trip, *Stop, *ChargingSession, *Visit, *DrivingEvent, *Alert or *RouteRun. Its
// JSON form is its one written form, in ClickHouse as on the topic of events: SI units, times in milliseconds
// since 1970 UTC.
type Entity interface {
	Kind() Kind
	Header() *Head
}

// Entities collects what a detector emits: the newest version of a thing whenever it begins, changes or ends. Of
// several versions of one identity the last counts. What was appended is not changed afterwards.
type Entities []Entity

// DerivedID names a derived thing by its content, so that whoever derives it again gives it the same name. of tells
// things of one kind and start apart (a geofence, a rule), and is 0 where there is only one.
func DerivedID(kind Kind, key VehicleKey, start Millis, of uint64) uint64 {
	hash := fnv.New64a()
	var b [32]byte
	binary.BigEndian.PutUint64(b[0:], uint64(key.Account))
	binary.BigEndian.PutUint64(b[8:], uint64(key.Vehicle))
	binary.BigEndian.PutUint64(b[16:], uint64(start))
	binary.BigEndian.PutUint64(b[24:], of)
	hash.Write([]byte(kind))
	hash.Write(b[:])
	return max(hash.Sum64()>>1, 1) // below 2^63, so that databases without unsigned numbers can hold it
}

// Place is where something happened, in degrees WGS 84.
type Place struct {
	Lat float64 `json:"lat"`
	Lng float64 `json:"lng"`
}

// Trip is movement between two stops.
type Trip struct {
	Head
	Device     DeviceID `json:"device,string"` // that sent its first fix
	StartPlace Place    `json:"start_place"`
	EndPlace   Place    `json:"end_place"`
	Distance   float64  `json:"distance_m"` // recorded, along the fixes that count, and estimated
	// of it: ways across silence, straight on or as the odometer has it
	Estimated  float64 `json:"distance_estimated_m"`
	Moving     Millis  `json:"moving_ms"`     // recorded time on the move
	Unrecorded Millis  `json:"unrecorded_ms"` // time on ways across silence
	// nothing of it was recorded: it is one such way, between its two ends
	Unseen   bool    `json:"unrecorded"`
	Idle     Millis  `json:"idle_ms"`       // time standing with the engine on
	MaxSpeed float64 `json:"max_speed_mps"` // of the fixes, or of the legs where these have no speed
	// what was recorded of Distance over Moving; of what was not, if nothing was
	MeanSpeed     float64  `json:"mean_speed_mps"`
	OdometerStart *float64 `json:"odometer_start_m,omitempty"`
	OdometerEnd   *float64 `json:"odometer_end_m,omitempty"` // both made monotonic, see pipeline/fix
	FuelUsed      *float64 `json:"fuel_used_l,omitempty"`
	EnergyUsed    *float64 `json:"energy_used_kwh,omitempty"`
	SocStart      *float64 `json:"soc_start_pct,omitempty"`
	SocEnd        *float64 `json:"soc_end_pct,omitempty"`
	Fixes         int      `json:"fixes"`
	ClosedReason  string   `json:"closed_reason,omitempty"` // stop, ignition_off, gap, device_change; empty while open
}

// Kind returns KindTrip.
func (*Trip) Kind() Kind { return KindTrip }

// Stop is a time during which a vehicle stood still.
type Stop struct {
	Head
	Place        Place  `json:"place"`   // the anchor
	Idle         Millis `json:"idle_ms"` // of it with the engine on
	Fixes        int    `json:"fixes"`
	ClosedReason string `json:"closed_reason,omitempty"` // moved, gap, device_change; empty while open
}

// Kind returns KindStop.
func (*Stop) Kind() Kind { return KindStop }

// ChargingSession is a charging session of an electric vehicle.
type ChargingSession struct {
	Head
	Place     *Place   `json:"place,omitempty"`
	SocStart  *float64 `json:"soc_start_pct,omitempty"`
	SocEnd    *float64 `json:"soc_end_pct,omitempty"`
	Energy    *float64 `json:"energy_kwh,omitempty"`    // from the power, if it was reported
	PeakPower *float64 `json:"peak_power_kw,omitempty"` // likewise
	// concluded from a rising state of charge, not from a charging signal
	Estimated bool `json:"estimated"`
}

// Kind returns KindCharging.
func (*ChargingSession) Kind() Kind { return KindCharging }

// Visit is a stay of a vehicle inside a geofence, or a pass through it between two fixes.
type Visit struct {
	Head
	Fence      FenceID `json:"geofence,string"`
	Revision   uint64  `json:"geofence_revision"` // version of the fence at entry
	Initial    bool    `json:"initial"`           // it was inside when we first looked: nobody saw it enter
	Crossed    bool    `json:"crossed"`           // no fix inside: the line between two fixes passes through
	EntryPlace Place   `json:"entry_place"`
	ExitPlace  *Place  `json:"exit_place,omitempty"`
	DwelledAt  Millis  `json:"dwelled_at_ms,omitempty"` // when it had been inside for the fence's dwell time; 0 if not
	Fixes      int     `json:"fixes"`
	ExitReason string  `json:"exit_reason,omitempty"` // left, fence_changed, out_of_scope; empty while open
}

// Kind returns KindVisit.
func (*Visit) Kind() Kind { return KindVisit }

// Ways of driving that count in the safety score.
const (
	HarshBraking      = "harsh_braking"
	HarshAcceleration = "harsh_acceleration"
	HarshCornering    = "harsh_cornering"
	Speeding          = "speeding" // with Start and End
	Crash             = "crash"
)

// DrivingEvent is a moment, or for speeding a span, of driving that was not safe. It is recorded whether or not a rule
// asks for an alert.
type DrivingEvent struct {
	Head
	What   string `json:"what"`   // one of the ways above
	Source string `json:"source"` // device (its alarm) or derived (from speed and course)
	// m/s² for harsh driving (0 if the device did not say), m/s above the limit for speeding
	Value float64 `json:"value"`
	Speed float64 `json:"speed_mps"`
	Place Place   `json:"place"`
}

// Kind returns KindDriving.
func (*DrivingEvent) Kind() Kind { return KindDriving }

// Alert is what a rule has found. It is raised at Start and resolved at End; while it is Open it may be updated.
type Alert struct {
	Head
	Rule         RuleID    `json:"rule,string"`
	RuleRevision uint64    `json:"rule_revision"`
	What         AlertKind `json:"alert_kind"`
	Severity     string    `json:"severity"`
	Place        *Place    `json:"place,omitempty"` // where it began
	Value        *float64  `json:"value,omitempty"` // what was found first, in the unit of the kind's threshold
	Peak         *float64  `json:"peak,omitempty"`  // the worst so far
	Threshold    *float64  `json:"threshold,omitempty"`
	Before       *float64  `json:"before,omitempty"`   // of a level that changed, in the unit of Value
	After        *float64  `json:"after,omitempty"`    // likewise
	Litres       *float64  `json:"amount_l,omitempty"` // what Value is in litres, if that is known
	Fence        FenceID   `json:"geofence,string,omitempty"`
	// what it is about besides: an alarm, a document, a booking
	Subject        string `json:"subject,omitempty"`
	ResolvedReason string `json:"resolved_reason,omitempty"` // cleared, moment, rule_changed, no_data; empty while open
}

// Kind returns KindAlert.
func (*Alert) Kind() Kind { return KindAlert }

// Motion is how a vehicle is moving, as the trip detector sees it after an input.
type Motion struct {
	Known    bool
	Moving   bool   // on a trip and not standing
	OnTrip   bool   //
	Since    Millis // of Moving or of standing
	Idling   bool   // standing with the engine on
	IdleFrom Millis // since when
	Ignition Tri    // as last told
	Distance float64
}

// FenceMove is a step over a geofence's edge, for whoever watches for it.
type FenceMove struct {
	Fence    FenceID
	Revision uint64
	What     string // enter, exit, dwell, cross, or inside for a membership that nobody saw begin
	At       Millis
	Place    Place
	Visit    uint64 // identity of the visit
}

// Moves of FenceMove.
const (
	MoveEnter  = "enter"
	MoveExit   = "exit"
	MoveDwell  = "dwell"
	MoveCross  = "cross"
	MoveInside = "inside"
)
