package fleet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
)

// Change says that a vehicle has new fixes or signals in [From, To], stored already. It is a record of the topic
// changes. Inputs, if they are there, are all that is new of what trips and alerts are derived from, as pipeline/derive
// packs it. They are the last member, which codec.ParseChange counts on.
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
	DeviceTime   Millis   `json:"device_ms,omitempty"` // 0 in what was written before it was told
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

// Position is the position as far as a change tells it; the rest is unknown.
func (l *Live) Position(account AccountID, vehicle VehicleID) Position {
	known := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	return Position{
		Account: account, Vehicle: vehicle, Device: l.Device, FixTime: l.FixTime, DeviceTime: cmp.Or(l.DeviceTime, l.FixTime),
		ReceivedTime: l.ReceivedTime, Lat: l.Lat, Lng: l.Lng,
		Altitude: known(l.Altitude), Speed: known(l.Speed), Course: known(l.Course), Accuracy: known(l.Accuracy),
		Odometer:   known(l.Odometer),
		Satellites: -1, Ignition: l.Ignition, Cell: l.Cell, Flags: l.Flags,
	}
}

// Event is a record of the topic events, whose one partition gives the events their order: sequence = offset + 1.
type Event struct {
	ID       uint64          `json:"id,string"` // of its content, so that one that comes twice is one
	Type     string          `json:"type"`
	Account  AccountID       `json:"account,string"`
	Vehicle  VehicleID       `json:"vehicle,string,omitempty"`
	At       Millis          `json:"at_ms"` // event time; of a record, when it was written
	Late     bool            `json:"late"`  // recorded, not news: nobody is to be woken for it
	Kind     Kind            `json:"kind"`  // of the object: something derived, or a record
	Object   uint64          `json:"object,string"`
	Revision uint32          `json:"revision"` // of the object
	Body     json.RawMessage `json:"body"`     // the object, as Entity writes itself, or as a record is stored
}

// Types of events. What a repair makes of a closed thing is an update; what no longer holds is deleted.
const (
	EventTripStarted     = "vehicle.trip.started"
	EventTripEnded       = "vehicle.trip.ended"
	EventTripUpdated     = "vehicle.trip.updated"
	EventTripDeleted     = "vehicle.trip.deleted"
	EventStopStarted     = "vehicle.stop.started"
	EventStopEnded       = "vehicle.stop.ended"
	EventStopUpdated     = "vehicle.stop.updated"
	EventStopDeleted     = "vehicle.stop.deleted"
	EventChargingStarted = "vehicle.charging_session.started"
	EventChargingEnded   = "vehicle.charging_session.ended"
	EventChargingUpdated = "vehicle.charging_session.updated"
	EventChargingDeleted = "vehicle.charging_session.deleted"
	EventFenceEntered    = "geofence.entered"
	EventFenceExited     = "geofence.exited"
	EventFenceDwelled    = "geofence.dwelled"
	EventFenceCrossed    = "geofence.crossed"
	EventVisitUpdated    = "geofence.visit.updated"
	EventVisitDeleted    = "geofence.visit.deleted"
	EventDrivingNoted    = "vehicle.driving_event.recorded"
	EventDrivingUpdated  = "vehicle.driving_event.updated"
	EventDrivingDeleted  = "vehicle.driving_event.deleted"
	EventAlertRaised     = "alert.raised"
	EventAlertUpdated    = "alert.updated"
	EventAlertResolved   = "alert.resolved"
	EventAlertWithdrawn  = "alert.withdrawn" // a repair showed that there was no reason for it
	EventRunStarted      = "vehicle.route_run.started"
	// a stop was reached, left or missed, or the corridor left or reached
	EventRunUpdated = "vehicle.route_run.updated"
	EventRunEnded   = "vehicle.route_run.ended"
	EventRunDeleted = "vehicle.route_run.deleted"
	// where a vehicle is; told now and then of accounts with a webhook that asks for it, see pipeline/place
	EventLocationUpdated = "vehicle.location.updated"
	// what is stored twice of the books differs; the object says where, by how much, and how it is repaired
	EventBooksDrift = "books.drift"
	// a webhook endpoint only fails, and when it will be switched off; it was
	EventEndpointFailing  = "webhook_endpoint.failing"
	EventEndpointDisabled = "webhook_endpoint.disabled"
)

// RecordEvents says what is told of the business records of a kind.
type RecordEvents struct {
	Kind     string // of records, as in their log
	Category string // of the events
	Types    []string
}

// alsoIn are the categories in which events are beside their own, by how their types begin.
var alsoIn = []struct{ prefix, category string }{
	{"payment.", "payments"}, {"deposit.", "payments"}, {"invoice.", "payments"}, {"credit_note.", "payments"},
	{"receipt.", "payments"}, {"deposit_statement.", "payments"},
	{"vehicle.created", "vehicles"}, {"vehicle.updated", "vehicles"}, {"vehicle.status_changed", "vehicles"},
	{"vehicle.archived", "vehicles"}, {"vehicle_class.", "vehicles"}, {"block.", "vehicles"},
	{"meter_reading.", "vehicles"}, {"device.", "devices"}, {"report.", "reports"}, {"saved_report.", "reports"},
}

// EventsOfRecords lists the types of events of business records, in the order of documentation. Which of them a
// revision is told by is decided in api/desk/event. Kinds that are not here are not told of.
var EventsOfRecords = []RecordEvents{
	{"booking", "bookings", []string{
		"booking.created",   // of whatever state
		"booking.confirmed", // it is sure, at once or later
		"booking.updated",   // any other change, and its reopening
		"booking.picked_up", "booking.extended", "booking.overdue", "booking.returned", "booking.cancelled",
		"booking.no_show",
		"booking.expired", // the hold of a pending one
		// who of those who rent and drive is, or may be, on the do-not-rent list is not who was before, and not nobody
		"booking.do_not_rent",
		"booking.archived",
		// the object is the booking
		"deposit.required", "deposit.authorized", "deposit.captured", "deposit.released", "deposit.applied",
		"deposit.expired",
	}},
	{"quote", "bookings", changes("quote")},
	{"payment", "bookings", []string{"payment.created", "payment.succeeded", "payment.failed", "payment.refunded",
		"payment.updated", "payment.archived"}},
	{"reminder", "maintenance", []string{
		"maintenance.reminder.created", "maintenance.reminder.due_soon", "maintenance.reminder.due",
		"maintenance.reminder.overdue", "maintenance.reminder.resolved", "maintenance.reminder.dismissed",
		"maintenance.reminder.updated",
		"maintenance.reminder.archived",
	}},
	{"invoice", "bookings", []string{"invoice.created", "invoice.issued", "invoice.paid", "invoice.credited",
		"invoice.updated", "invoice.archived"}},
	{"credit_note", "bookings", issued("credit_note")},
	{"receipt", "bookings", issued("receipt")},
	{"deposit_statement", "bookings", issued("deposit_statement")},
	{"agreement", "bookings", append(issued("agreement"), "agreement.signed")},
	{"owner_statement", "bookings", append(issued("owner_statement"), "owner_statement.paid")},
	{"work_order", "maintenance", []string{
		"work_order.opened", "work_order.scheduled", "work_order.started", "work_order.on_hold", "work_order.completed",
		"work_order.cancelled", "work_order.updated", "work_order.archived",
	}},
	{"issue", "maintenance", []string{"issue.opened", "issue.resolved", "issue.updated", "issue.archived"}},
	{"inspection", "maintenance",
		[]string{"inspection.created", "inspection.submitted", "inspection.updated", "inspection.archived"}},
	{"service_task", "maintenance", changes("service_task")},
	{"maintenance_schedule", "maintenance", changes("maintenance_schedule")},
	{"vehicle", "fleet", []string{"vehicle.created", "vehicle.updated", "vehicle.status_changed", "vehicle.archived"}},
	{"vehicle_class", "fleet", changes("vehicle_class")},
	{"location", "fleet", changes("location")},
	{"rate_plan", "fleet", changes("rate_plan")},
	{"block", "fleet", changes("block")},
	{"meter_reading", "fleet", changes("meter_reading")},
	{"customer", "customers", changes("customer")}, // the object is thin: its id alone
	{"customer_note", "customers", changes("customer_note")},
	{"document", "customers", changes("document")},
	{"expense", "finance", changes("expense")},
	{"recurring_cost", "finance", changes("recurring_cost")},
	{"journal_entry", "finance", []string{"journal_entry.created", "journal_entry.reversed"}},
	{"toll", "finance", changes("toll")},
	{"saved_report", "finance", changes("saved_report")},
	{"job", "finance", []string{"report.ready", "report.failed"}}, // of saved reports; other jobs are not told of
	{"device", "location", changes("device")},
	{"device_command", "fleet", []string{
		"device.command.queued", "device.command.sent", "device.command.delivered", "device.command.acknowledged",
		"device.command.failed", "device.command.expired", "device.command.cancelled", "device.command.unknown",
		"device.command.updated", "device.command.archived",
	}},
	{"geofence", "location", changes("geofence")},
	{"route_plan", "location", changes("route_plan")},
	{"alert_rule", "alerts", changes("alert_rule")},
	{"alert_ack", "alerts", []string{"alert.acknowledged"}}, // its id is the alert's
	{"driver_tag", "customers", changes("driver_tag")},      // thin too: whose it is is about a person
	{"trip_driver", "location", []string{"vehicle.trip.driver_assigned", "vehicle.trip.driver_removed"}},
}

// changes are the types that most kinds have.
func changes(kind string) []string {
	return []string{kind + ".created", kind + ".updated", kind + ".archived"}
}

// issued are the types of a kind of paper that is issued.
func issued(kind string) []string {
	return []string{kind + ".created", kind + ".issued", kind + ".updated", kind + ".archived"}
}

// EventTypes lists every type, in the order of documentation.
var EventTypes = append([]string{
	EventTripStarted, EventTripEnded, EventTripUpdated, EventTripDeleted, EventStopStarted, EventStopEnded,
	EventStopUpdated, EventStopDeleted, EventChargingStarted, EventChargingEnded, EventChargingUpdated,
	EventChargingDeleted, EventFenceEntered, EventFenceExited, EventFenceDwelled, EventFenceCrossed, EventVisitUpdated,
	EventVisitDeleted, EventDrivingNoted, EventDrivingUpdated, EventDrivingDeleted, EventAlertRaised, EventAlertUpdated,
	EventAlertResolved, EventAlertWithdrawn, EventRunStarted, EventRunUpdated, EventRunEnded, EventRunDeleted,
	EventBooksDrift, EventEndpointFailing, EventEndpointDisabled,
}, typesOfRecords()...)

func typesOfRecords() (all []string) {
	for _, r := range EventsOfRecords {
		all = append(all, r.Types...)
	}
	return all
}

// EventCategories lists the categories of events: those of which each type has one, and those that others are in too.
var EventCategories = []string{"bookings", "maintenance", "fleet", "customers", "finance", "location", "alerts",
	"webhooks", "payments", "vehicles", "devices", "reports"}

// CategoriesOf returns all categories that a type of events is in, its own first.
func CategoriesOf(eventType string) []string {
	all := []string{EventCategory(eventType)}
	for _, also := range alsoIn {
		if strings.HasPrefix(eventType, also.prefix) {
			all = append(all, also.category)
		}
	}
	return all
}

// MeansType says whether a word means a type of events: the type itself, a prefix.* or a category.
func MeansType(word, eventType string) bool {
	prefix, wide := strings.CutSuffix(word, "*")
	return word == eventType || wide && strings.HasSuffix(prefix, ".") && strings.HasPrefix(eventType, prefix) ||
		slices.Contains(CategoriesOf(eventType), word)
}

// WantsType says whether who names some words wants a type of events: none names all. Where vehicles are now is wanted
// only where a word says so by itself, vehicle.location.updated or vehicle.location.*, as of nothing else there is so
// much.
func WantsType(words []string, eventType string) bool {
	if eventType == EventLocationUpdated {
		return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "vehicle.location.") })
	}
	return len(words) == 0 || slices.ContainsFunc(words, func(word string) bool { return MeansType(word, eventType) })
}

// EventCategory returns the category of a type of events.
func EventCategory(eventType string) string {
	for _, r := range EventsOfRecords {
		if slices.Contains(r.Types, eventType) {
			return r.Category
		}
	}
	if strings.HasPrefix(eventType, "alert.") {
		return "alerts"
	}
	switch eventType {
	case EventBooksDrift:
		return "finance"
	case EventEndpointFailing, EventEndpointDisabled:
		return "webhooks"
	}
	return "location"
}

// LocationEvent is the event of where a vehicle is: of a fix there is one, however often it is told.
func LocationEvent(account AccountID, vehicle VehicleID, live *Live) (Event, error) {
	body, err := json.Marshal(live)
	if err != nil {
		return Event{}, fmt.Errorf("encode the place of %s: %w", vehicle, err)
	}
	return Event{ID: LocationEventID(account, vehicle, live.FixTime), Type: EventLocationUpdated, Account: account,
		Vehicle: vehicle, At: live.FixTime, Kind: KindPosition, Object: uint64(vehicle), Body: body}, nil
}

// LocationEventID names the event of where a vehicle is, by the time of the fix.
func LocationEventID(account AccountID, vehicle VehicleID, at Millis) uint64 {
	return DerivedID(KindPosition, VehicleKey{Account: account, Vehicle: vehicle}, at, 0)
}

// RecordEventID names an event of a revision of a record, so that one that is told again is the same.
func RecordEventID(account AccountID, kind string, id, revision uint64, eventType string) uint64 {
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%d\x00%s\x00%d\x00%d\x00%s", account, kind, id, revision, eventType)
	return max(hash.Sum64()>>1, 1) // as DerivedID
}
