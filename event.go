package fleet

import "encoding/json"

// Change says that a vehicle has new fixes or signals in [From, To], stored already. It is a record of the topic changes.
// Inputs, if they are there, are all that is new of what trips and alerts are derived from, as pipeline/derive packs it.
type Change struct {
	Account AccountID `json:"account,string"`
	Vehicle VehicleID `json:"vehicle,string"`
	From    Millis    `json:"from_ms"`
	To      Millis    `json:"to_ms"`
	Job     JobID     `json:"job,string,omitempty"` // it asks to derive the span again, for this job
	Live    *Live     `json:"live,omitempty"`       // where the vehicle is now, if that has changed
	Inputs  []byte    `json:"inputs,omitempty"`
}

// Live is a vehicle's last trusted position in a Change; absent quantities are nil.
type Live struct {
	Device       DeviceID `json:"device,string"`
	FixTime      Millis   `json:"fix_ms"`
	ReceivedTime Millis   `json:"received_ms"`
	Lat          float64  `json:"lat"`
	Lng          float64  `json:"lng"`
	Altitude     *float64 `json:"altitude_m,omitempty"`
	Speed        *float64 `json:"speed_mps,omitempty"`
	Course       *float64 `json:"course_deg,omitempty"`
	Accuracy     *float64 `json:"accuracy_m,omitempty"`
	Odometer     *float64 `json:"odometer_m,omitempty"`
	Ignition     Tri      `json:"ignition,omitempty"`
	Cell         Cell     `json:"cell,string"`
	Flags        Flags    `json:"flags,omitempty"`
}

// Event is a record of the topic events, whose one partition gives the events their order: sequence = offset + 1.
type Event struct {
	ID       uint64          `json:"id,string"` // of its content, so that one that comes twice is one
	Type     string          `json:"type"`
	Account  AccountID       `json:"account,string"`
	Vehicle  VehicleID       `json:"vehicle,string,omitempty"`
	At       Millis          `json:"at_ms"` // event time
	Late     bool            `json:"late"`  // recorded, not news: nobody is to be woken for it
	Kind     Kind            `json:"kind"`  // of the object
	Object   uint64          `json:"object,string"`
	Revision uint32          `json:"revision"` // of the object
	Body     json.RawMessage `json:"body"`     // the object, as Entity writes itself
}

// Types of events. What a repair makes of a closed thing is an update; what no longer holds is deleted.
const (
	EventTripStarted    = "vehicle.trip.started"
	EventTripEnded      = "vehicle.trip.ended"
	EventTripUpdated    = "vehicle.trip.updated"
	EventTripDeleted    = "vehicle.trip.deleted"
	EventStopStarted    = "vehicle.stop.started"
	EventStopEnded      = "vehicle.stop.ended"
	EventStopUpdated    = "vehicle.stop.updated"
	EventStopDeleted    = "vehicle.stop.deleted"
	EventChargeStarted  = "vehicle.charge.started"
	EventChargeEnded    = "vehicle.charge.ended"
	EventChargeUpdated  = "vehicle.charge.updated"
	EventChargeDeleted  = "vehicle.charge.deleted"
	EventFenceEntered   = "geofence.entered"
	EventFenceExited    = "geofence.exited"
	EventFenceDwelled   = "geofence.dwelled"
	EventFenceCrossed   = "geofence.crossed"
	EventVisitUpdated   = "geofence.visit.updated"
	EventVisitDeleted   = "geofence.visit.deleted"
	EventDrivingNoted   = "vehicle.driving_event.recorded"
	EventDrivingUpdated = "vehicle.driving_event.updated"
	EventDrivingDeleted = "vehicle.driving_event.deleted"
	EventAlertRaised    = "alert.raised"
	EventAlertUpdated   = "alert.updated"
	EventAlertResolved  = "alert.resolved"
	EventAlertWithdrawn = "alert.withdrawn" // a repair showed that there was no reason for it
)

// EventTypes lists every type, in the order of documentation.
var EventTypes = []string{
	EventTripStarted, EventTripEnded, EventTripUpdated, EventTripDeleted, EventStopStarted, EventStopEnded, EventStopUpdated,
	EventStopDeleted, EventChargeStarted, EventChargeEnded, EventChargeUpdated, EventChargeDeleted, EventFenceEntered,
	EventFenceExited, EventFenceDwelled, EventFenceCrossed, EventVisitUpdated, EventVisitDeleted, EventDrivingNoted,
	EventDrivingUpdated, EventDrivingDeleted, EventAlertRaised, EventAlertUpdated, EventAlertResolved, EventAlertWithdrawn,
}
