package api

import (
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/track"
)

// oneOfEach makes one record of every kind that a path can name, and returns their ids by the paths up to them. What it
// writes into them is among the secrets.
func (w *lotWorld) oneOfEach() map[string]string {
	w.t.Helper()
	ids := map[string]string{}
	add := func(path, body string) string {
		w.t.Helper()
		ids[path+"/{id}"] = w.do("POST", path, body).ok(201).id()
		return ids[path+"/{id}"]
	}
	// What is found out of the tracks of a vehicle.
	_, found := w.day()
	for path, name := range map[string]string{"trips": "TRIP", "stops": "STOP", "charging_sessions": "CHARGE",
		"visits": "VISIT", "driving_events": "BRAKING", "alerts": "LOW"} {
		ids["/v1/"+path+"/{id}"] = id(found, name)
	}
	vehicle := add("/v1/vehicles", `{"make":"SECRETMAKE","model":"X","vin":"SECRETVIN","metadata":{"note":"SECRETNOTE"}}`)
	device := add("/v1/devices", `{"unique_id":"SECRETUNIQUE"}`)
	w.do("POST", "/v1/devices/"+device+"/assign", `{"vehicle_id":"`+vehicle+`","from":null}`).ok(200)
	w.live(vehicle, w.account)
	add("/v1/api_keys", `{"name":"SECRETKEYNAME","scopes":["vehicles:read"]}`)
	user := w.do("POST", "/v1/users", `{"name":"SECRETNOTE","email":"secretnote@example.com","role":"owner"}`).ok(201)
	ids["/v1/users/{id}"] = user.id()
	there := w.browser()
	there.accept(user.object()["invitation_url"].(string)).ok(303)
	there.register(w.newDevice(false), "SECRETNOTE").ok(200)
	ids["/v1/users/{id}/passkeys/{passkey}"] = fmt.Sprint(w.do("GET", "/v1/users/"+user.id()+"/passkeys", "").
		data()[0]["id"])
	_, ann := w.person("ann@example.com", auth.Clerk)
	ids["/v1/sessions/{id}"] = fmt.Sprint(w.do("GET", "/v1/sessions?user_id="+ann, "").data()[0]["id"])
	fence := add("/v1/geofences",
		`{"name":"SECRETNOTE","geometry":{"type":"Circle","center":[-97.6664,30.1945],"radius_m":500}}`)
	add("/v1/alert_rules", `{"name":"SECRETNOTE","kind":"speeding","geofence_ids":["`+fence+`"]}`)
	plan := add("/v1/route_plans", `{"name":"SECRETNOTE","vehicle_id":"`+vehicle+
		`","from":"2026-03-01T00:00:00Z","until":"2026-03-02T00:00:00Z","stops":[{"geofence_id":"`+fence+`"}]}`)
	run := &fleet.RouteRun{Head: head(0, 1, true), Stops: []fleet.RunStop{{ID: "SECRETNOTE"}}}
	number, err := fleet.ParseID(fleet.PlanPrefix, plan)
	if err != nil {
		w.t.Fatal(err)
	}
	run.Plan = fleet.PlanID(number)
	w.derive(w.account, row{vehicle: vehicle, entity: run})
	ids["/v1/route_runs/{id}"] = track.DerivedID(run)
	add("/v1/vehicle_classes", `{"name":"SECRETNOTE"}`)
	add("/v1/locations", `{"name":"SECRETNOTE"}`)
	add("/v1/rate_plans", `{"name":"SECRETNOTE","currency":"USD","daily_rate":{"amount":1,"currency":"USD"}}`)
	ids["/v1/jobs/{id}"] = w.do("POST", "/v1/exports?kind=vehicles&format=csv", "").ok(202).id()

	// The rental.
	customer := add("/v1/customers", `{"first_name":"SECRETNOTE"}`)
	add("/v1/driver_tags", `{"tag":"SECRETTAG","label":"SECRETNOTE","holders":[{"driver_id":"`+customer+`"}]}`)
	ids["/v1/drivers/{id}"] = customer
	for part, body := range map[string]string{"note": `{"text":"SECRETNOTE"}`,
		"document": `{"kind":"id","name":"SECRETNOTE"}`} {
		path := "/v1/customers/{id}/" + part + "s"
		ids[path+"/{"+part+"}"] = w.do("POST", strings.Replace(path, "{id}", customer, 1), body).ok(201).id()
	}
	document := "/v1/customers/" + customer + "/documents/" + ids["/v1/customers/{id}/documents/{document}"]
	w.do("PUT", document+"/file", "%PDF-1.7 SECRETNOTE", "Content-Type", "application/pdf").ok(200)
	add("/v1/quotes", w.booking(200, 220, ""))
	booking := w.book(0.01, 20, `,"confirm":true,"notes":"SECRETNOTE"`)
	ids["/v1/bookings/{id}"] = strings.TrimPrefix(booking, "/v1/bookings/")
	w.do("POST", booking+"/pickup", "").ok(200)
	ids["/v1/bookings/{id}/charges/{charge}"] = fmt.Sprint(w.do("GET", booking+"/charges", "").data()[0]["id"])
	ids["/v1/bookings/{id}/damages/{damage}"] = w.do("POST", booking+"/damages",
		`{"description":"SECRETNOTE","severity":"minor"}`).ok(201).id()
	ids["/v1/payments/{id}"] = w.do("POST", booking+"/payments",
		`{"method":"card","amount":{"amount":1,"currency":"USD"}}`).ok(201).id()
	add("/v1/invoices", `{"booking_id":"`+ids["/v1/bookings/{id}"]+`","notes":"SECRETNOTE","issue":true}`)
	add("/v1/credit_notes", `{"invoice_id":"`+ids["/v1/invoices/{id}"]+`","notes":"SECRETNOTE"}`)
	add("/v1/receipts", `{"payment_id":"`+ids["/v1/payments/{id}"]+`","notes":"SECRETNOTE"}`)
	add("/v1/deposit_statements", `{"booking_id":"`+ids["/v1/bookings/{id}"]+`","notes":"SECRETNOTE"}`)
	add("/v1/agreements", `{"booking_id":"`+ids["/v1/bookings/{id}"]+`","notes":"SECRETNOTE"}`)
	w.do("PATCH", "/v1/vehicles/"+vehicle, `{"owner_customer_id":"`+customer+`"}`).ok(200)
	add("/v1/owner_statements", `{"owner_customer_id":"`+customer+`","month":"2026-02","notes":"SECRETNOTE"}`)
	ids["/v1/ledger/transactions/{id}"] = fmt.Sprint(w.do("GET", "/v1/ledger/transactions", "").data()[0]["id"])
	add("/v1/expenses", `{"category":"fuel","amount":{"amount":100,"currency":"USD"},"incurred_on":"2026-03-01"}`)
	add("/v1/recurring_costs", `{"category":"parking","amount":{"amount":100,"currency":"USD"},"every":"month","from":"2026-03-01","vendor":"SECRETNOTE"}`)
	add("/v1/journal_entries", `{"on":"2026-03-01","memo":"SECRETNOTE","lines":[`+
		`{"ledger_account":"cash","debit":{"amount":100,"currency":"USD"},"customer_id":"`+customer+`","memo":"SECRETNOTE"},`+
		`{"ledger_account":"equity","credit":{"amount":100,"currency":"USD"},"vehicle_id":"`+vehicle+`"}]}`)
	add("/v1/share_links", `{"vehicle_id":"`+vehicle+`","expires_at":"`+w.in(10)+`","note":"SECRETNOTE"}`)
	add("/v1/saved_reports", `{"name":"SECRETNOTE","report":"revenue"}`)
	w.delivered(add("/v1/webhook_endpoints", `{"url":"http://127.0.0.1:1/SECRETNOTE","headers":{"X-Token":"SECRETNOTE"}}`), time.Now())
	ids["/v1/webhook_deliveries/{id}"] = "whd_15"
	client := add("/v1/oauth_clients", `{"name":"SECRETNOTE","type":"confidential","grant_types":["client_credentials"],`+
		`"scopes":["vehicles:read"]}`)
	ids["/v1/oauth_grants/{id}"] = made(w, record.NewLog(w.api.Store, record.OAuthGrants),
		record.OAuthGrant{ClientID: client, UserID: "usr_1", Scopes: []string{"vehicles:read"}})
	add("/v1/tolls", `{"kind":"toll","plate":"SECRETNOTE","occurred_at":"2026-03-01T00:00:00Z","agency":"TxTag","amount":{"amount":450,"currency":"USD"}}`)
	ids["/v1/blocks/{id}"] = w.do("POST", "/v1/vehicles/"+vehicle+"/blocks",
		`{"from":"`+w.in(300)+`","until":"`+w.in(301)+`","reason":"SECRETNOTE"}`).ok(201).id()
	ids["/v1/vehicles/{id}/meter_readings/{reading}"] = w.do("POST", "/v1/vehicles/"+vehicle+"/meter_readings",
		`{"kind":"odometer_mi","value":1,"recorded_at":"2026-01-01T00:00:00Z","note":"SECRETNOTE","confirm":["mileage"]}`).ok(201).id()
	ids["/v1/devices/{id}/commands/{command}"] = w.do("POST", "/v1/devices/"+ids["/v1/devices/{id}"]+"/commands",
		`{"type":"custom","data":"SECRETNOTE","confirm":true,"force":true}`).ok(201).id()

	// Maintenance.
	task := add("/v1/maintenance/tasks", `{"name":"SECRETNOTE","every_mi":5000}`)
	schedule := add("/v1/maintenance/schedules", `{"task_id":"`+task+`","vehicle_id":"`+vehicle+`"}`)
	ids["/v1/maintenance/reminders/{id}"] = made(w, w.api.desk.Reminders,
		record.Reminder{ScheduleID: schedule, TaskID: task, VehicleID: vehicle, Cycle: 1, Stage: "due"})
	add("/v1/maintenance/work_orders", `{"vehicle_id":"`+vehicle+`","title":"SECRETNOTE"}`)
	add("/v1/maintenance/issues", `{"vehicle_id":"`+vehicle+`","severity":"low","description":"SECRETNOTE"}`)
	add("/v1/maintenance/inspections", `{"vehicle_id":"`+vehicle+`","notes":"SECRETNOTE"}`)

	ids["/v1/dead_letters/{id}"] = "dlt_1"
	w.exec(`INSERT INTO dead_letters (account, id, at, reason, detail, unique_id, source_topic, source_partition, source_offset, source_index, format, payload, payload_bytes)
		SELECT {a:UInt64}, 1, fromUnixTimestamp64Milli({at:Int64}, 'UTC'), 'zero_coordinates', 'SECRETNOTE', 'SECRETUNIQUE', 'positions', 3, 100, 2, 'traccar', 'SECRETNOTE', 10`,
		clickhouse.Named("a", uint64(w.account)), clickhouse.Named("at", time.Now().UnixMilli()))
	return ids
}
