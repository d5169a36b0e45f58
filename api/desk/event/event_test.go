package event

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/person"
	"github.com/motorpool/fleet/api/record"
)

func written(kind, action, before, after string) record.Written {
	w := record.Written{Account: 7, Kind: kind, Prefix: "rec_", ID: 12, Revision: 2, Action: action,
		At:    time.UnixMilli(1e12),
		After: json.RawMessage(after)}
	if before != "" {
		w.Before = json.RawMessage(before)
	} else {
		w.Revision = 1
	}
	return w
}

func TestRevisionsAreToldByTheirEvents(t *testing.T) {
	for _, test := range []struct{ kind, action, before, after, want string }{
		{"booking", "create", "", `{"status":"pending"}`, "booking.created"},
		{"booking", "create", "", `{"status":"confirmed","deposit":{"status":"required"}}`,
			"booking.created booking.confirmed deposit.required"},
		{"booking", "update", `{"status":"pending"}`, `{"status":"confirmed"}`, "booking.confirmed"},
		{"booking", "update", `{"status":"pending"}`, `{"status":"expired"}`, "booking.expired"},
		{"booking", "update", `{"status":"confirmed"}`, `{"status":"active"}`, "booking.picked_up"},
		{"booking", "update", `{"status":"confirmed"}`, `{"status":"cancelled"}`, "booking.cancelled"},
		{"booking", "update", `{"status":"confirmed"}`, `{"status":"no_show"}`, "booking.no_show"},
		{"booking", "update", `{"status":"active"}`, `{"status":"completed","deposit":{"status":"released"}}`,
			"booking.returned deposit.released"},
		{"booking", "update", `{"status":"completed"}`, `{"status":"active"}`, "booking.updated"},
		{"booking", "update", `{"status":"active","return_at":"2026-01-01T00:00:00Z"}`,
			`{"status":"active","return_at":"2026-01-02T00:00:00Z"}`, "booking.extended"},
		{"booking", "update", `{"status":"active","return_at":"2026-01-02T00:00:00Z"}`,
			`{"status":"active","return_at":"2026-01-01T00:00:00Z"}`, "booking.updated"},
		{"booking", "update", `{"status":"active"}`, `{"status":"active","overdue_noted_at":"2026-01-02T00:00:00Z"}`,
			"booking.overdue"},
		{"booking", "update", `{"status":"active","deposit":{"status":"required"}}`,
			`{"status":"active","deposit":{"status":"authorized"}}`, "deposit.authorized"},
		{"booking", "create", "", `{"status":"confirmed","do_not_rent_matches":[{"customer_id":"cus_1"}]}`,
			"booking.created booking.confirmed booking.do_not_rent"},
		{"booking", "update", `{"status":"pending","do_not_rent_matches":[{"customer_id":"cus_1"}]}`,
			`{"status":"confirmed","do_not_rent_matches":[{"customer_id":"cus_1"}]}`, "booking.confirmed"},
		{"booking", "update", `{"status":"pending"}`, `{"status":"pending","do_not_rent_matches":[{"customer_id":"cus_1"}]}`,
			"booking.do_not_rent"},
		{"booking", "update", `{"status":"pending","do_not_rent_matches":[{"customer_id":"cus_1"}]}`, `{"status":"pending"}`,
			"booking.updated"},
		{"booking", "archive", `{"status":"cancelled"}`, `{"status":"cancelled"}`, "booking.archived"},
		{"payment", "create", "", `{"status":"succeeded"}`, "payment.created payment.succeeded"},
		{"owner_statement", "update", `{"status":"issuing"}`, `{"status":"issued"}`, "owner_statement.issued"},
		{"owner_statement", "update", `{"status":"issued"}`, `{"status":"paid"}`, "owner_statement.paid"},
		{"owner_statement", "update", `{"status":"paid"}`, `{"status":"issued"}`, "owner_statement.updated"},
		{"payment", "update", `{"status":"pending"}`, `{"status":"failed"}`, "payment.failed"},
		{"payment", "update", `{"status":"succeeded"}`, `{"status":"partially_refunded","refunds":[{}]}`, "payment.refunded"},
		{"payment", "update", `{"status":"partially_refunded","refunds":[{}]}`,
			`{"status":"partially_refunded","refunds":[{},{}]}`, "payment.refunded"},
		{"payment", "update", `{"status":"succeeded"}`, `{"status":"succeeded","note":"x"}`, "payment.updated"},
		{"journal_entry", "create", "", `{"status":"posted","memo":"x"}`, "journal_entry.created"},
		{"journal_entry", "update", `{"status":"posted"}`, `{"status":"reversed"}`, "journal_entry.reversed"},
		{"reminder", "create", "", `{"stage":"due_soon"}`, "maintenance.reminder.created maintenance.reminder.due_soon"},
		{"reminder", "update", `{"stage":"due"}`, `{"stage":"overdue"}`, "maintenance.reminder.overdue"},
		{"work_order", "create", "", `{"status":"draft"}`, "work_order.opened"},
		{"work_order", "update", `{"status":"scheduled"}`, `{"status":"in_progress"}`, "work_order.started"},
		{"work_order", "update", `{"status":"on_hold"}`, `{"status":"in_progress"}`, "work_order.updated"},
		{"work_order", "update", `{"status":"in_progress"}`, `{"status":"completed"}`, "work_order.completed"},
		{"issue", "create", "", `{"status":"open"}`, "issue.opened"},
		{"issue", "update", `{"status":"open"}`, `{"status":"wont_fix"}`, "issue.resolved"},
		{"inspection", "create", "", `{"status":"draft"}`, "inspection.created"},
		{"inspection", "update", `{"status":"draft"}`, `{"status":"draft","type":"dvir"}`, "inspection.updated"},
		{"inspection", "update", `{"status":"draft"}`, `{"status":"submitted"}`, "inspection.submitted"},
		{"vehicle", "create", "", `{"status":"available"}`, "vehicle.created"},
		{"vehicle", "update", `{"status":"available"}`, `{"status":"rented"}`, "vehicle.status_changed"},
		{"vehicle", "update", `{"status":"available"}`, `{"status":"available","make":"x"}`, "vehicle.updated"},
		{"customer", "create", "", `{"name":"x"}`, "customer.created"},
		{"location", "update", `{}`, `{"name":"x"}`, "location.updated"},
		{"rate_plan", "archive", `{}`, `{}`, "rate_plan.archived"},
		{"alert_ack", "create", "", `{"by":"key_5"}`, "alert.acknowledged"},
		{"trip_driver", "create", "", `{"driver":"Jane"}`, "vehicle.trip.driver_assigned"},
		{"trip_driver", "create", "", `{}`, "vehicle.trip.driver_removed"},
		{"api_key", "create", "", `{"status":"x"}`, ""},
		{"job", "create", "", `{"kind":"report","transfer":{"records":"revenue"}}`, ""},
		{"job", "update", `{"kind":"report","transfer":{}}`, `{"kind":"report","transfer":{"attempts":1}}`, ""},
		{"job", "update", `{"kind":"report","transfer":{}}`, `{"kind":"report","transfer":{"finished":true}}`,
			"report.ready"},
		{"job", "update", `{"kind":"report"}`, `{"kind":"report","error":"no"}`, "report.failed"},
		{"job", "update", `{"kind":"export","transfer":{}}`, `{"kind":"export","transfer":{"finished":true}}`, ""},
		{"calendar", "update", `{}`, `{"holds":[]}`, ""},
	} {
		w := written(test.kind, test.action, test.before, test.after)
		all, err := Of(w)
		var types []string
		for _, e := range all {
			types = append(types, e.Type)
		}
		if got := strings.Join(types, " "); err != nil || got != test.want {
			t.Errorf("%s %s %s to %s: %q, %v; want %q", test.kind, test.action, test.before, test.after, got, err, test.want)
		}
		again, _ := Of(w)
		for i := range all {
			if all[i].ID != again[i].ID || all[i].ID == 0 || i > 0 && all[i].ID == all[i-1].ID {
				t.Errorf("ids of %s are %d and %d", all[i].Type, all[i].ID, again[i].ID)
			}
		}
	}
}

// Every type that the tables name is known, and every kind has its words.
func TestEveryEventOfARecordIsAType(t *testing.T) {
	for kind, m := range moves {
		for state, name := range m.types {
			if fleet.EventCategory(name) == "location" {
				t.Errorf("%s to %s is told by %s, which is no type", kind, state, name)
			}
		}
	}
	for _, r := range fleet.EventsOfRecords {
		if r.Kind == "job" {
			continue // only a report that is done, or failed, is told of
		}
		for _, w := range []record.Written{written(r.Kind, "create", "", "{}"), written(r.Kind, "update", "{}", "{}"),
			written(r.Kind, "archive", "{}", "{}")} {
			// These are made and never changed, but for a reversal, which has its word.
			once := r.Kind == "alert_ack" || r.Kind == "trip_driver" || r.Kind == "journal_entry"
			if all, err := Of(w); err != nil || len(all) != 1 && !(once && w.Action != "create") {
				t.Errorf("%s %s: %d events, %v", r.Kind, w.Action, len(all), err)
			}
		}
	}
}

// So does a saved report.
func TestASavedReportIsToldWithoutWhoAskedForIt(t *testing.T) {
	all, err := Of(written("saved_report", "create", "", `{"name":"Revenue","key":7,"user":8,"client":9,"grant":10,
		"scopes":["reports:read"]}`))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	var object map[string]any
	if err := json.Unmarshal(all[0].Body, &object); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"key", "user", "client", "grant", "scopes"} {
		if object[name] != nil {
			t.Errorf("%s is told: %v", name, object)
		}
	}
	if object["name"] != "Revenue" {
		t.Errorf("told is %v", object)
	}
}

// A job says for whom it is done, with what scopes, and which process does it: of that nothing is told.
func TestAReportIsToldWithoutWhoAskedForIt(t *testing.T) {
	all, err := Of(written("job", "update", `{"kind":"report"}`, `{"kind":"report","subject":"srp_4","transfer":{"records":"revenue",
		"format":"csv","query":"customer_id=cus_1","key":7,"scopes":["admin"],"holder":"9","finished":true,"finished_at":"2026-01-02T03:04:05Z"}}`))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	var object map[string]any
	if err := json.Unmarshal(all[0].Body, &object); err != nil {
		t.Fatal(err)
	}
	delete(object, "id")
	delete(object, "revision")
	want := map[string]any{"object": "job", "kind": "report", "subject_id": "srp_4", "records": "revenue", "format": "csv",
		"finished_at": "2026-01-02T03:04:05.000Z"}
	if !reflect.DeepEqual(object, want) {
		t.Errorf("told is %v, want %v", object, want)
	}
}

func TestAnEventSaysWhatWasBefore(t *testing.T) {
	all, err := Of(written("vehicle", "update", `{"status":"available","plate":"A","notes":"Jane","tags":["x"],"odometer_mi":5}`,
		`{"status":"available","plate":"B","notes":"Ann","tags":["x"],"nickname":"Red"}`))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	var object map[string]any
	if err := json.Unmarshal(all[0].Body, &object); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"plate": "A", "nickname": nil, "odometer_mi": 5.0}
	if !reflect.DeepEqual(object[PreviousAttributes], want) {
		t.Errorf("before was %v, want %v", object[PreviousAttributes], want)
	}
	if all, err := Of(written("customer", "update", `{"name":"Jane"}`, `{"name":"Ann"}`)); err != nil ||
		strings.Contains(string(all[0].Body), "previous") {
		t.Errorf("%s, %v", all[0].Body, err)
	}
}

func TestADriverIsToldByIDAlone(t *testing.T) {
	for driver, want := range map[string]any{"cus_5": "cus_5", "Jane": nil} {
		all, err := Of(written("trip_driver", "create", "", `{"vehicle_id":"veh_9","trip_id":"trp_3","driver":"`+driver+`"}`))
		var object map[string]any
		if err != nil || json.Unmarshal(all[0].Body, &object) != nil || object["driver_id"] != want ||
			object["driver"] != nil || object["trip_id"] != "trp_3" {
			t.Errorf("%s: %v, %v", driver, object, err)
		}
	}
}

func TestEventsSayNothingAboutPersons(t *testing.T) {
	secret := []string{"Jane", "D123", "Elm St"}
	for kind, body := range map[string]string{
		"booking":     `{"status":"active","vehicle_id":"veh_9","notes":"Jane","delivery_address":"Elm St","inspections":[{"signed_by":"Jane","items":[{"note":"Jane"}]}],"custom_fields":{"x":"D123"},"cancellation":{"note":"Jane"},"total":9007199254740993}`,
		"customer":    `{"name":"Jane","licence":{"number":"D123"},"address":{"line1":"Elm St"}}`,
		"document":    `{"name":"Jane D123"}`,
		"alert_ack":   `{"by":"key_5","note":"called Jane"}`,
		"trip_driver": `{"vehicle_id":"veh_9","driver":"Jane"}`,
	} {
		all, err := Of(written(kind, "create", "", body))
		if err != nil || len(all) == 0 {
			t.Fatal(err)
		}
		for _, word := range secret {
			if strings.Contains(string(all[0].Body), word) {
				t.Errorf("%s: %s", kind, all[0].Body)
			}
		}
		var object struct {
			ID, Object, Status string
			Revision           uint64
			Total              json.Number
		}
		if err := json.Unmarshal(all[0].Body, &object); err != nil || object.ID != "rec_12" ||
			object.Object != kind || object.Revision != 1 {
			t.Errorf("%s: %+v, %v", kind, object, err)
		}
		if kind == "booking" && (object.Status != "active" || object.Total != "9007199254740993" || all[0].Vehicle != 9) {
			t.Errorf("%s: %+v of vehicle %d", kind, object, all[0].Vehicle)
		}
	}
}

// broker fails as long as it is told to.
type broker struct {
	away  bool
	asked int
	told  []fleet.Event
}

func (b *broker) PublishEvents(ctx context.Context, events []fleet.Event) error {
	b.asked++
	if _, ok := ctx.Deadline(); !ok {
		return errors.New("no deadline")
	}
	if b.away {
		return errors.New("away")
	}
	b.told = append(b.told, events...)
	return nil
}

func TestABrokerThatIsAwayIsLeftAlone(t *testing.T) {
	b := &broker{away: true}
	a := &announcer{to: b}
	w := written("vehicle", "create", "", `{"status":"available"}`)
	for range 5 {
		if err := a.announce(t.Context(), w); err == nil {
			t.Error("told")
		}
	}
	if b.asked != 1 {
		t.Errorf("asked %d times", b.asked)
	}
	b.away = false
	a.failed.Store(time.Now().Add(-publishRest).UnixNano())
	if err := a.announce(t.Context(), w); err != nil || len(b.told) != 1 || b.told[0].Type != "vehicle.created" {
		t.Errorf("%v, %+v", err, b.told)
	}
}

// plain are the texts of bodies that say nothing about a person: ids, states, codes, dates and the names of things.
var plain = strings.Fields(`
	actor was is superseded_by voided_by turns agreed_return_location_id pickup_charge_ids expense_id from_location_id number to_location_id
	id listed_customer_id reasons alert_id trip_id by on owner_statement_id settles booking_id backfill_job_id block_id category_ids charge_id current_location_id customer_id duplicate_of geofence_ids home_location_id inspection_id issue_ids
	location_id owner_customer_id pickup_location_id quote_id rate_plan_id receipt_document_id reminder_ids reserved_booking_id resolved_by_work_order_id
	return_charge_ids return_location_id reversal_of schedule_id source_id status_cause daily_rate_of task_id task_ids toll_id upgrade_from_class_id vehicle_class_id
	vehicle_class_ids vehicle_id vehicle_ids what work_order_id
	external_reservation_id invoice_ref provider_ref reference policy_number unique_id vin plate unmatched_because plate_region license_plate region fleet_number
	status stage told hold_reason reason_code day_rounding deposit_method payment_method channel channels protocol provider system source_campaign
	code promo_code protection_plan category fault_codes point body_type drivetrain trim make model color currency timezone coordinates days due_on forecast_due_on
	device_id requested_by transport type alarms
	booking_number deposit_status invoice_id invoice_number kind language ledger_account month number_prefix payment_id payout_id payment_number pickup_location_name
	return_location_name series tax_charge_ids vehicle
	corridor_geofence_id driver_id error format geofence_id records report stopped subject_id
	name nickname rate_plan_name agency lender parts steps tag tags template`)

// texts collects the members of a type that hold texts.
func texts(t reflect.Type, names map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		texts(t.Elem(), names)
	case reflect.Struct:
		if t == reflect.TypeFor[record.Instant]() {
			return
		}
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" && f.Anonymous {
				texts(f.Type, names)
				continue
			}
			if name == "-" {
				continue
			}
			leaf := f.Type
			for leaf.Kind() == reflect.Pointer || leaf.Kind() == reflect.Slice {
				leaf = leaf.Elem()
			}
			if k := leaf.Kind(); (k == reflect.String || k == reflect.Map || k == reflect.Interface) &&
				f.Tag.Get("enum") == "" && f.Tag.Get("format") == "" && f.Tag.Get("pattern") == "" {
				names[name] = true
			}
			if !personal[name] {
				texts(f.Type, names)
			}
		}
	}
}

// Every text that a body may have is either known to be plain, or taken out of events.
func TestEveryTextIsPlainOrTakenOut(t *testing.T) {
	names := map[string]bool{}
	for _, b := range Bodies {
		if !slices.ContainsFunc(fleet.EventsOfRecords, func(r fleet.RecordEvents) bool { return r.Kind == b.Kind }) {
			t.Errorf("nothing is told of %s", b.Kind)
		}
		texts(b.Type, names)
	}
	var unknown []string
	for name := range names {
		if !personal[name] && !slices.Contains(plain, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	if unknown != nil {
		t.Errorf("these are neither known to be plain nor taken out: %s", strings.Join(unknown, " "))
	}
}

// Every text that a body about a customer may have, and that events leave out, is erased with the customer; but for
// what the books need, and what holds no more of the customer than is found by what the customer is known by.
func TestEveryTextAboutACustomerIsErased(t *testing.T) {
	left := strings.Fields("description explanation title metadata custom_fields photos place location evidence")
	names := map[string]bool{}
	for _, body := range []any{record.Booking{}, record.Quote{}, record.Payment{}} {
		texts(reflect.TypeOf(body), names)
	}
	for name := range names {
		if personal[name] && !person.FreeText[name] && !slices.Contains(left, name) {
			t.Errorf("%s is not erased", name)
		}
	}
}
