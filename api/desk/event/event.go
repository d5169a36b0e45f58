// Package event says which events a revision of a record makes, what they are called and what they tell, and puts them
// on their topic as a consequence of the write.
package event

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// Publisher puts events on their topic and returns when all of them are acknowledged.
type Publisher interface {
	PublishEvents(ctx context.Context, events []fleet.Event) error
}

// Times of publishing.
const (
	publishWithin = time.Second     // a write waits no longer for its events
	publishRest   = 5 * time.Second // after a failure: until then they are left to Store.SettleConsequences at once
)

// Announce has events follow from what is written. It is called before anything is; a nil publisher announces nothing.
func Announce(store *record.Store, to Publisher) {
	if to == nil {
		return
	}
	a := announcer{to: to}
	store.Then("", "events", a.announce)
}

// announcer tells of revisions.
type announcer struct {
	to     Publisher
	failed atomic.Int64 // when publishing failed last, in nanoseconds since 1970
}

// errResting says that the broker did not answer a moment ago.
var errResting = errors.New("events could not be published a moment ago")

func (a *announcer) announce(ctx context.Context, w record.Written) error {
	all, err := Of(w)
	if err != nil || len(all) == 0 {
		return err
	}
	if rest := publishRest - time.Since(time.Unix(0, a.failed.Load())); rest > 0 {
		if !record.Unhurried(ctx) {
			return errResting
		}
		select {
		case <-ctx.Done():
			return errResting
		case <-time.After(rest):
		}
	}
	if !record.Unhurried(ctx) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, publishWithin)
		defer cancel()
	}
	if err := a.to.PublishEvents(ctx, all); err != nil {
		a.failed.Store(time.Now().UnixNano())
		return fmt.Errorf("publish events: %w", err)
	}
	return nil
}

// moves name the events of changes of a state: by kind, the member that holds it, and the type for each state that is
// reached, or for one that is reached from another ("from>to"). States that are not here make an update.
var moves = map[string]struct {
	member string
	types  map[string]string
}{
	"booking": {"status", map[string]string{
		record.BookingConfirmed: "booking.confirmed", record.BookingActive: "booking.picked_up",
		record.BookingCompleted: "booking.returned",
		record.BookingCancelled: "booking.cancelled", record.BookingNoShow: "booking.no_show",
		record.BookingExpired:                                "booking.expired",
		record.BookingCompleted + ">" + record.BookingActive: "booking.updated",
		record.BookingActive + ">" + record.BookingConfirmed: "booking.updated",
	}},
	"payment": {"status", map[string]string{
		record.PaymentSucceeded: "payment.succeeded", record.PaymentFailed: "payment.failed",
		record.PaymentRefunded: "payment.refunded", record.PaymentPartiallyRefunded: "payment.refunded",
	}},
	"invoice": {"status", map[string]string{
		record.PaperOpen: "invoice.issued", record.PaperPaid: "invoice.paid", record.PaperCredited: "invoice.credited",
		record.PaperPaid + ">" + record.PaperOpen: "invoice.updated",
	}},
	"journal_entry":     {"status", map[string]string{record.JournalReversed: "journal_entry.reversed"}},
	"credit_note":       {"status", map[string]string{record.PaperIssued: "credit_note.issued"}},
	"receipt":           {"status", map[string]string{record.PaperIssued: "receipt.issued"}},
	"deposit_statement": {"status", map[string]string{record.PaperIssued: "deposit_statement.issued"}},
	"agreement":         {"status", map[string]string{record.PaperIssued: "agreement.issued"}},
	"owner_statement": {"status", map[string]string{
		record.PaperIssued: "owner_statement.issued", record.PaperPaid: "owner_statement.paid",
		record.PaperPaid + ">" + record.PaperIssued: "owner_statement.updated",
	}},
	"reminder": {"stage", map[string]string{
		"due_soon": "maintenance.reminder.due_soon", "due": "maintenance.reminder.due",
		"overdue":  "maintenance.reminder.overdue",
		"resolved": "maintenance.reminder.resolved", "dismissed": "maintenance.reminder.dismissed",
	}},
	"work_order": {"status", map[string]string{
		record.WorkScheduled: "work_order.scheduled", record.WorkInProgress: "work_order.started",
		record.WorkOnHold:    "work_order.on_hold",
		record.WorkCompleted: "work_order.completed", record.WorkCancelled: "work_order.cancelled",
		record.WorkOnHold + ">" + record.WorkInProgress: "work_order.updated",
	}},
	"device_command": {"status", map[string]string{
		record.CommandSent: "device.command.sent", record.CommandDelivered: "device.command.delivered",
		record.CommandAcknowledged: "device.command.acknowledged", record.CommandFailed: "device.command.failed",
		record.CommandExpired: "device.command.expired", record.CommandCancelled: "device.command.cancelled",
		record.CommandUnknown: "device.command.unknown",
	}},
	"issue":      {"status", map[string]string{"resolved": "issue.resolved", "wont_fix": "issue.resolved"}},
	"inspection": {"status", map[string]string{"submitted": "inspection.submitted"}},
	"vehicle": {"status", map[string]string{
		record.VehicleAvailable: "vehicle.status_changed", record.VehicleRented: "vehicle.status_changed",
		record.VehicleTurnaround:  "vehicle.status_changed",
		record.VehicleMaintenance: "vehicle.status_changed", record.VehicleOutOfService: "vehicle.status_changed",
		record.VehicleInactive: "vehicle.status_changed", record.VehicleRetired: "vehicle.status_changed",
	}},
}

// names are the kinds whose events have another first word, and what their creation is called.
var names = map[string]struct{ word, created string }{
	"reminder":       {"maintenance.reminder", "created"},
	"work_order":     {"work_order", "opened"},
	"issue":          {"issue", "opened"},
	"alert_ack":      {"alert", "acknowledged"},
	"device_command": {"device.command", "queued"},
	"trip_driver":    {"vehicle.trip", "driver_assigned"},
}

// thin are the kinds of which events tell the id alone, because everything else is about a person.
var thin = []string{"customer", "customer_note", "document", "driver_tag"}

// personal are members that may say something about a person, or anything, wherever they stand: texts that people
// write as they like, and what tokens are known by. Events outlive an erasure. A test holds the members of all
// bodies against it.
var personal = map[string]bool{
	"address": true, "archive_reason": true, "assignee": true, "cancel_reason": true, "client": true,
	"contact": true, "custom_fields": true, "data": true, "delivery_address": true, "description": true,
	"detail": true, "driver": true, "evidence": true, "explanation": true, "fail_reason": true, "footer": true,
	"grant": true, "key": true, "location": true, "memo": true, "metadata": true, "note": true, "notes": true,
	"osmand_token_sha256": true, "parameters": true, "phone": true, "photos": true, "place": true, "reason": true,
	"reported_by": true, "resolution": true, "result": true, "reversal_reason": true, "scopes": true,
	"seller": true, "signed_by": true, "status_reason": true, "title": true, "transfer_note": true, "user": true,
	"vendor": true, "void_reason": true,
}

// stored is what is known of any record.
type stored struct {
	Status         string         `json:"status"`
	Stage          string         `json:"stage"`
	VehicleID      string         `json:"vehicle_id"`
	Driver         string         `json:"driver"`
	ReturnAt       record.Instant `json:"return_at"`
	OverdueNotedAt record.Instant `json:"overdue_noted_at"`
	SignedAt       record.Instant `json:"signed_at"`
	Deposit        struct {
		Status string `json:"status"`
	} `json:"deposit"`
	Refunds []json.RawMessage `json:"refunds"`
	Listed  json.RawMessage   `json:"do_not_rent_matches"`

	// Of a job.
	Kind     string `json:"kind"`
	Subject  string `json:"subject"`
	Error    string `json:"error"`
	Transfer struct {
		Records    string         `json:"records"`
		Format     string         `json:"format"`
		Finished   bool           `json:"finished"`
		FinishedAt record.Instant `json:"finished_at"`
	} `json:"transfer"`
}

func (s *stored) state(kind string) string {
	if moves[kind].member == "stage" {
		return s.Stage
	}
	return s.Status
}

// Of returns the events by which a revision is told, none for kinds of which nothing is told.
func Of(w record.Written) ([]fleet.Event, error) {
	i := slices.IndexFunc(fleet.EventsOfRecords, func(r fleet.RecordEvents) bool { return r.Kind == w.Kind })
	if i < 0 {
		return nil, nil
	}
	if w.Prefix == "" {
		return nil, fmt.Errorf("nobody knows how the ids of %s are written: it has no log", w.Kind)
	}
	before, after, err := record.Bodies[stored](w)
	if err != nil {
		return nil, err
	}
	body, err := eventBody(w)
	if err != nil {
		return nil, err
	}
	vehicle := w.ID
	if w.Kind != "vehicle" {
		if vehicle, err = fleet.ParseID(fleet.VehiclePrefix, after.VehicleID); err != nil {
			vehicle = 0
		}
	}
	var all []fleet.Event
	for _, t := range typesOf(w.Kind, w.Action, before, after) {
		if slices.Contains(fleet.EventsOfRecords[i].Types, t) {
			all = append(all, fleet.Event{
				ID: fleet.RecordEventID(w.Account, w.Kind, w.ID, w.Revision, t), Type: t, Account: w.Account,
				Vehicle: fleet.VehicleID(vehicle),
				At:      fleet.MillisOf(w.At), Kind: fleet.Kind(w.Kind), Object: w.ID, Revision: uint32(w.Revision), Body: body,
			})
		}
	}
	return all, nil
}

// typesOf returns the types of the events of a revision. Each has one at least.
func typesOf(kind, action string, before, after *stored) []string {
	word, created := kind, "created"
	if n, ok := names[kind]; ok {
		word, created = n.word, n.created
	}
	var types []string
	from, to := "", after.state(kind)
	switch {
	case action == record.ActionArchive:
		return []string{word + ".archived"}
	case before == nil && kind == record.TripDrivers.Name && after.Driver == "":
		return []string{word + ".driver_removed"}
	case before == nil:
		types = append(types, word+"."+created)
		before = &stored{}
	default:
		from = before.state(kind)
	}
	if from != to && (from != "" || kind != "vehicle") {
		if t := moves[kind].types[from+">"+to]; t != "" {
			types = append(types, t)
		} else if t := moves[kind].types[to]; t != "" {
			types = append(types, t)
		}
	}
	types = append(types, besideState(kind, from == to, before, after)...)
	if len(types) == 0 {
		types = append(types, word+".updated")
	}
	return types
}

// besideState returns what a revision is told by that its state does not show.
func besideState(kind string, same bool, before, after *stored) (types []string) {
	switch {
	case kind == "booking":
		if before.OverdueNotedAt.IsZero() && !after.OverdueNotedAt.IsZero() {
			types = append(types, "booking.overdue")
		}
		if after.Listed != nil && !bytes.Equal(before.Listed, after.Listed) {
			types = append(types, "booking.do_not_rent")
		}
		if same && !before.ReturnAt.IsZero() && before.ReturnAt.Before(after.ReturnAt.Time) {
			types = append(types, "booking.extended")
		}
		if is := after.Deposit.Status; is != before.Deposit.Status && is != "" && is != "none" {
			types = append(types, "deposit."+is)
		}
	case kind == "agreement" && before.SignedAt.IsZero() && !after.SignedAt.IsZero():
		types = append(types, "agreement.signed")
	case kind == record.Jobs.Name && after.Kind == record.JobReport:
		if after.Transfer.Finished && !before.Transfer.Finished {
			types = append(types, "report.ready")
		} else if after.Error != "" && before.Error == "" {
			types = append(types, "report.failed")
		}
	case kind == "payment" && same && len(after.Refunds) > len(before.Refunds):
		types = append(types, "payment.refunded")
	}
	return types
}
