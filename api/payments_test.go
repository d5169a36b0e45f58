package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

var clerk = record.Author{Actor: "cli"}

// booking writes a booking as the desk does, without its commands, and returns its id.
func (w *world) booking(b record.Booking) string {
	w.t.Helper()
	id := w.api.Store.NextID()
	if _, _, err := w.api.desk.Bookings.Create(w.t.Context(), clerk, w.account, id, b); err != nil {
		w.t.Fatal(err)
	}
	return fleet.FormatID(fleet.BookingPrefix, id)
}

// rebook changes a booking.
func (w *world) rebook(id string, change func(*record.Booking)) {
	w.t.Helper()
	n, err := fleet.ParseID(fleet.BookingPrefix, id)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.api.desk.Bookings.Update(w.t.Context(), clerk, w.account, n, 0,
		func(r *record.Record[record.Booking]) error {
			change(&r.Body)
			return nil
		}); err != nil {
		w.t.Fatal(err)
	}
}

func moment(text string) record.Instant {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return record.InstantOf(t)
}

// states are the states of payments and expenses, and what may be done in each: a line a state, action=state. Whatever
// is not named is refused.
var paymentStates = map[string]string{
	"pending":            "succeed=succeeded fail=failed",
	"succeeded":          "refund=refunded part=partially_refunded",
	"partially_refunded": "refund=refunded part=partially_refunded",
	"failed":             "",
	"refunded":           "",
}

var paymentAllowed = map[string]string{
	"pending": "[succeeded failed]", "succeeded": "[partially_refunded refunded]",
	"partially_refunded": "[partially_refunded refunded]", "failed": "[]", "refunded": "[]",
}

func TestEachMoveOfAPaymentIsLegalOrRefused(t *testing.T) {
	w := newWorld(t)
	bodies := map[string]string{"succeed": `{}`, "fail": `{"reason":"card declined"}`, "refund": ``,
		"part": `{"amount":{"amount":10,"currency":"USD"}}`}
	for from, legal := range paymentStates {
		for action, body := range bodies {
			to, ok := "", false
			for _, word := range strings.Fields(legal) {
				if a, state, _ := strings.Cut(word, "="); a == action {
					to, ok = state, true
				}
			}
			path := "/v1/payments/" + w.paymentIn(from)
			r := w.do("POST", path+"/"+strings.Replace(action, "part", "refund", 1), body)
			if ok {
				wantEqual(t, from+" "+action, r.ok(200).object()["status"], to)
				wantEqual(t, "stored", w.do("GET", path, "").ok(200).object()["status"], to)
				continue
			}
			p := r.problem(409, "invalid_state_transition")
			wantEqual(t, from+" "+action, p.CurrentState, from)
			wantEqual(t, from+" "+action, fmt.Sprint(p.AllowedTransitions), paymentAllowed[from])
			wantEqual(t, "unchanged", w.do("GET", path, "").ok(200).object()["status"], from)
		}
	}
}

// paymentIn makes a payment of 100 that is in a state.
func (w *world) paymentIn(state string) string {
	id := w.do("POST", "/v1/payments",
		`{"method":"card","amount":{"amount":100,"currency":"USD"},"pending":true}`).ok(201).id()
	path := "/v1/payments/" + id
	switch state {
	case "failed":
		w.do("POST", path+"/fail", "").ok(200)
	case "succeeded", "partially_refunded", "refunded":
		w.do("POST", path+"/succeed", "").ok(200)
	}
	switch state {
	case "partially_refunded":
		w.do("POST", path+"/refund", `{"amount":{"amount":30,"currency":"USD"}}`).ok(200)
	case "refunded":
		w.do("POST", path+"/refund", "").ok(200)
	}
	return id
}

func TestAPaymentIsNotedAndGivenBack(t *testing.T) {
	w := newWorld(t)
	customer := w.do("POST", "/v1/customers", `{"type":"person","first_name":"Ann","last_name":"Lee"}`).ok(201).id()
	booking := w.booking(record.Booking{
		BookingFields: record.BookingFields{CustomerID: customer, VehicleClassID: "vcl_5",
			PickupAt: moment("2026-03-01T10:00:00Z")},
		Status:   record.BookingConfirmed,
		Currency: "USD",
		Timezone: "America/Denver",
	})
	other := w.booking(record.Booking{Status: record.BookingConfirmed, Currency: "EUR"})
	list := "/v1/bookings/" + booking + "/payments"
	made := w.do("POST", list, `{"method":"card","provider":"stripe","provider_ref":"pi_1","amount":{"amount":12000,"currency":"USD"},"fee":{"amount":300,"currency":"USD"},"received_at":"2026-03-01T04:00:00Z"}`).ok(201)
	path := "/v1/payments/" + made.id()
	wantEqual(t, "location", made.header.Get("Location"), path)
	wantEqual(t, "customer", made.object()["customer_id"], customer)
	wantEqual(t, "zone", made.object()["booked_for"].(map[string]any)["timezone"], "America/Denver")
	w.do("POST", "/v1/payments", `{"booking_id":"`+other+
		`","method":"cash","amount":{"amount":1,"currency":"EUR"}}`).ok(201)
	w.do("POST", "/v1/payments", `{"booking_id":"`+booking+
		`","method":"cash","amount":{"amount":500,"currency":"USD"},"pending":true}`).ok(201)
	w.do("POST", "/v1/payments", `{"booking_id":"`+booking+
		`","direction":"out","method":"cash","amount":{"amount":70,"currency":"USD"}}`).ok(201)

	for body, want := range map[string]string{
		`{"method":"card","amount":{"amount":0,"currency":"USD"}}`:                                     "/amount/amount",
		`{"method":"card","amount":{"amount":5,"currency":"EUR"}}`:                                     "/amount/currency",
		`{"method":"card","amount":{"amount":5,"currency":"USD"},"fee":{"amount":6,"currency":"EUR"}}`: "/fee/amount /fee/currency",
		`{"method":"card","amount":{"amount":5,"currency":"USD"},"customer_id":"cus_1"}`:               "/customer_id",
		`{"method":"card","amount":{"amount":5,"currency":"USD"},"booking_id":"` + other + `"}`:        "/booking_id",
		`{"method":"bitcoin","amount":{"amount":5,"currency":"USD"}}`:                                  "/method",
		`{"method":"card","provider":"x","amount":{"amount":5,"currency":"USD"},"status":"refunded"}`:  "/status",
		`{"method":"card","amount":{"amount":9223372036854775807,"currency":"USD"}}`:                   "/amount/amount",
	} {
		wantEqual(t, body, w.do("POST", list, body).faults(), want)
	}
	w.do("POST", list, `{"method":"card","provider":"stripe","provider_ref":"pi_1","amount":{"amount":1,"currency":"USD"}}`).problem(409, "conflict")
	w.do("GET", "/v1/bookings/bkg_1/payments", "").problem(404, "not_found")
	w.do("POST", "/v1/bookings/bkg_1/payments",
		`{"method":"card","amount":{"amount":5,"currency":"USD"}}`).problem(404, "not_found")

	wantEqual(t, "of the booking", w.do("GET", list, "").pagination().Total, 3)
	wantEqual(t, "pending", w.do("GET", list+"?status=pending", "").pagination().Total, 1)
	wantEqual(t, "all", w.do("GET", "/v1/payments", "").pagination().Total, 4)
	wantEqual(t, "by booking", w.do("GET", "/v1/payments?booking_id="+other, "").pagination().Total, 1)
	wantEqual(t, "by reference", w.do("GET", "/v1/payments?provider_ref=pi_1", "").pagination().Total, 1)

	wantEqual(t, "too much", w.do("POST", path+"/refund", `{"amount":{"amount":12001,"currency":"USD"}}`).faults(),
		"/amount/amount")
	wantEqual(t, "nothing", w.do("POST", path+"/refund", `{"amount":{"amount":0,"currency":"USD"}}`).faults(),
		"/amount/amount")
	wantEqual(t, "euros", w.do("POST", path+"/refund", `{"amount":{"amount":1,"currency":"EUR"}}`).faults(),
		"/amount/currency")
	refund := func() map[string]any {
		return w.do("POST", path+"/refund", `{"amount":{"amount":5000,"currency":"USD"},"reason":"late"}`, "Idempotency-Key",
			"k1").ok(200).object()
	}
	refund()
	wantEqual(t, "refunded once", refund()["refunded"].(map[string]any)["amount"], 5000.0)
	wantEqual(t, "still too much", w.do("POST", path+"/refund", `{"amount":{"amount":7001,"currency":"USD"}}`).faults(),
		"/amount/amount")

	id, _ := fleet.ParseID(fleet.BookingPrefix, booking)
	paid, err := query.PaidOf(t.Context(), w.db, w.account, []uint64{id, 1})
	if err != nil || len(paid) != 1 || paid[id] != (query.Paid{Received: 12000, Refunded: 5070, Currency: "USD"}) {
		t.Errorf("paid %v, %v", paid, err)
	}
	// Only its notes can be changed by hand.
	wantEqual(t, "notes",
		w.do("PATCH", path, `{"metadata":{"a":"b"}}`).ok(200).object()["metadata"].(map[string]any)["a"], "b")
	wantEqual(t, "amount", w.do("PATCH", path, `{"amount":{"amount":1,"currency":"USD"}}`).faults(), "/amount")
	w.do("DELETE", path, "").problem(405, "method_not_allowed")
	wantEqual(t, "history", len(w.do("GET", path+"/history", "").data()), 3)
	w.key = w.newKey(w.account, auth.FinanceRead)
	w.do("POST", path+"/refund", "").problem(403, "insufficient_scope")
	w.do("GET", list, "").ok(200)
}
