//go:build long

package api

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestATollFindsItsBookingAndIsBilled(t *testing.T) {
	w := newLot(t)
	w.do("PATCH", "/v1/vehicles/"+w.car, `{"license_plate":"ABC 1234","plate_region":"TX"}`).ok(200)
	path := w.book(1, 49, "")
	booking := strings.TrimPrefix(path, "/v1/bookings/")
	w.do("POST", path+"/confirm", "").ok(200)
	// Nothing can be erased while the booking stands.
	customer := "/v1/customers/" + w.customer
	if p := w.do("POST", customer+"/erase", `{"reason":"asked"}`).problem(409, "conflict"); len(p.Errors) != 1 ||
		p.Errors[0].Pointer != booking || p.Errors[0].Code != "booking_open" {
		t.Errorf("refused with %+v", p.Errors)
	}
	w.pass(time.Hour)
	before := w.in(-0.5)
	w.do("POST", path+"/pickup", `{"mileage_mi":1000,"fuel_pct":80}`).ok(200)
	w.pass(3 * time.Hour)
	toll := func(plate, at, more string) *reply {
		return w.do("POST", "/v1/tolls", fmt.Sprintf(`{"kind":"toll","plate":%q,"region":" tx","occurred_at":%q,"agency":"TxTag","amount":{"amount":450,"currency":"USD"}%s}`, plate, at, more)).ok(201)
	}
	early := toll("abc-1234", before, "")
	wantEqual(t, "before the pickup", early.member("status"), "unmatched")
	wantEqual(t, "why", early.member("unmatched_because"),
		"nobody had picked up the vehicle ABC 1234 (A B) and not returned it at that time")
	other := toll("ABC1235", w.in(-1), "")
	wantEqual(t, "another plate", other.member("vehicle_id"), nil)
	if why := fmt.Sprint(other.member("unmatched_because")); !strings.Contains(why, "no vehicle had the plate ABC1235") {
		t.Errorf("unmatched because %q", why)
	}
	found := toll("abc-1234", w.in(-1), `,"reference":"R1","admin_fee":{"amount":500,"currency":"USD"}`)
	for member, want := range map[string]any{"status": "matched", "vehicle_id": w.car, "booking_id": booking} {
		wantEqual(t, member, found.member(member), want)
	}
	w.do("POST", "/v1/tolls", `{"kind":"toll","plate":"X","occurred_at":"`+w.in(-1)+
		`","agency":"TxTag","reference":"R1","amount":{"amount":1,"currency":"USD"}}`).problem(409, "conflict")
	one := "/v1/tolls/" + found.id()
	if p := w.do("POST", one+"/pay", "").problem(409, "invalid_state_transition"); p.CurrentState != "matched" ||
		len(p.AllowedTransitions) == 0 {
		t.Errorf("%+v", p)
	}
	owed := minor(w.do("GET", path, "").ok(200).member("total"))
	billed := w.do("POST", one+"/bill", "").ok(200)
	wantEqual(t, "billed", billed.member("status"), "billed")
	wantEqual(t, "charged", minor(w.do("GET", path, "").ok(200).member("total"))-owed, 950.0)
	w.do("POST", one+"/bill", "").problem(409, "invalid_state_transition")
	for _, change := range []string{`{"amount":{"amount":1}}`, `{"admin_fee":{"amount":1}}`, `{"admin_fee":null}`} {
		w.do("PATCH", one, change).problem(409, "conflict")
	}
	w.do("PATCH", one, `{"agency":"TxTag","admin_fee":{"amount":500,"currency":"USD"}}`).ok(200)
	w.do("POST", one+"/dispute", `{"reason":"not me"}`).ok(200)
	wantEqual(t, "billed again", w.do("POST", one+"/bill", "").ok(200).member("status"), "billed")
	wantEqual(t, "not charged twice", minor(w.do("GET", path, "").ok(200).member("total"))-owed, 950.0)
	wantEqual(t, "paid", w.do("POST", one+"/pay", "").ok(200).member("status"), "paid")
	wantEqual(t, "listed", w.do("GET", "/v1/tolls?status=paid,billed&booking_id="+booking, "").listed("id"), found.id())

	lost := w.do("GET", "/v1/tolls?status=unmatched&sort=id", "").data()[0]["id"].(string)
	w.do("POST", "/v1/tolls/"+lost+"/match", `{"booking_id":"bkg_1"}`).problem(422, "validation_failed")
	byHand := w.do("POST", "/v1/tolls/"+lost+"/match", `{"booking_id":"`+booking+`"}`).ok(200)
	wantEqual(t, "by hand", byHand.member("status"), "matched")
	wantEqual(t, "why not", byHand.member("unmatched_because"), nil)
	wantEqual(t, "waived",
		w.do("POST", "/v1/tolls/"+lost+"/waive", `{"reason":"small"}`).ok(200).member("status"), "waived")

	// The end of a dispute is not that nobody is found.
	theirs := toll("zzz9999", w.in(-1), "")
	w.do("POST", "/v1/tolls/"+theirs.id()+"/dispute", `{"reason":"not ours"}`).ok(200)
	w.do("POST", "/v1/tolls/"+theirs.id()+"/match", "").problem(409, "conflict")
	w.do("POST", "/v1/tolls/"+theirs.id()+"/bill", "").problem(409, "invalid_state_transition") // to nobody
	stays := w.do("GET", "/v1/tolls/"+theirs.id(), "").ok(200)
	wantEqual(t, "in dispute", fmt.Sprint(stays.member("status"), stays.member("reason")), "disputednot ours")
	wantEqual(t, "matched by hand",
		w.do("POST", "/v1/tolls/"+theirs.id()+"/match", `{"booking_id":"`+booking+`"}`).ok(200).member("status"), "matched")

	stats := w.do("GET", customer+"?expand=stats", "").ok(200)
	wantEqual(t, "bookings", stats.member("stats", "bookings_count"), 1.0)
	wantEqual(t, "repeat", stats.member("stats", "is_repeat"), false)
	due, _ := stats.member("stats", "balance_due").([]any)
	if len(due) != 1 || minor(due[0]) != owed+950 {
		t.Errorf("due %v, want %v", due, owed+950)
	}
}

// A toll in the books cannot be archived: it would cost for ever, and nobody could take it back. One that somebody
// matches by hand is of the vehicle of its booking, whatever plate was read.
func TestATollInTheBooksIsNotArchived(t *testing.T) {
	w := newLot(t)
	path := w.book(0.01, 49, `,"confirm":true`)
	other := w.newCar()
	w.do("PATCH", "/v1/vehicles/"+other, `{"license_plate":"XYZ1"}`).ok(200)
	w.pass(time.Hour)
	w.do("POST", path+"/pickup", "").ok(200)
	w.pass(3 * time.Hour)
	one := "/v1/tolls/" + w.do("POST", "/v1/tolls",
		`{"kind":"toll","plate":"XYZ1","occurred_at":"`+w.in(-1)+`","amount":{"amount":450,"currency":"USD"}}`).ok(201).id()
	wantEqual(t, "by its plate", w.do("GET", one, "").member("vehicle_id"), other)
	wantEqual(t, "by its booking", w.do("POST", one+"/match",
		`{"booking_id":"`+strings.TrimPrefix(path, "/v1/bookings/")+`"}`).ok(200).member("vehicle_id"), w.car)
	if words := w.do("DELETE", one, "").refused(); !strings.Contains(words, "Dispute it") {
		t.Errorf("refused with %q", words)
	}
	w.do("POST", one+"/dispute", `{"reason":"not ours"}`).ok(200)
	w.do("DELETE", one, "").ok(204)
	sum := 0.0
	for _, e := range w.do("GET", "/v1/ledger/entries?ledger_account=cost.toll", "").ok(200).data() {
		sum += minor(e["amount"])
	}
	wantEqual(t, "what the toll costs", sum, 0.0)
}

// The books of an erased customer stay as they were, and the words in them go.
func TestErasureLeavesTheBooks(t *testing.T) {
	w := newLot(t)
	id := quuxWrites(w.world)
	w.do("POST", "/v1/customers/"+id+"/do_not_rent", `{"active":false}`).ok(200)
	w.customer = id
	path := w.book(24, 72,
		`,"delivery_address":"77 Zyzzyva Lane","notes":"call Xantippe Quuxington, xantippe.q@quux.example"`)
	mine := w.do("GET", path, "").ok(200).object()
	erased := w.do("POST", "/v1/customers/"+id+"/erase", `{"reason":"asked","force":true}`).ok(200)
	if erased.member("erased_at") == nil {
		t.Fatalf("not done: %s\n%s", erased.body, w.log)
	}
	for word, places := range w.standing(quuxWords) {
		t.Errorf("%s still stands in %v", word, places)
	}
	after := w.do("GET", path, "").ok(200).object()
	for _, member := range []string{"total", "balance_due", "customer_id", "status", "billed_days", "revision",
		"rate_snapshot", "charges"} {
		wantEqual(t, member, fmt.Sprint(after[member]), fmt.Sprint(mine[member]))
	}
	wantEqual(t, "address", after["delivery_address"], "[erased]")
	wantEqual(t, "listed", w.do("GET", "/v1/bookings?customer_id="+id, "").listed("customer_id"), id)
}
