package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

// bookingsInEachState makes one booking in each state, of a car of its own, and returns their paths.
func (w *lotWorld) bookingsInEachState() map[string]string {
	w.t.Helper()
	paths := map[string]string{}
	for _, state := range []string{"expired", "pending", "confirmed", "active", "completed", "cancelled", "no_show"} {
		w.car = w.newCar()
		confirm := `,"confirm":true`
		if state == "pending" || state == "expired" {
			confirm = `,"hold_minutes":10000`
		}
		from := 0.01
		if state == "pending" || state == "confirmed" {
			from = 100
		}
		if state == "expired" {
			confirm = `,"hold_minutes":1`
		}
		paths[state] = w.book(from, 200, confirm)
	}
	w.pass(2 * time.Minute)
	for _, step := range []struct{ state, action string }{
		{"active", "pickup"}, {"completed", "pickup"}, {"completed", "return"}, {"cancelled", "cancel"},
		{"no_show", "no_show"},
	} {
		w.do("POST", paths[step.state]+"/"+step.action, "").ok(200)
	}
	w.do("POST", paths["expired"]+"/confirm", "").problem(409, "invalid_state_transition") // and is found to have lapsed
	for state, path := range paths {
		wantEqual(w.t, path, w.do("GET", path, "").ok(200).object()["status"], state)
	}
	return paths
}

// What an action may be done in; in every other state it is a 409 that says where the booking is and where it may go.
var legalStates = map[string]string{
	"confirm": "pending", "pickup": "confirmed", "return": "active", "cancel": "pending confirmed", "no_show": "confirmed",
	"reopen": "completed",
	"extend": "pending confirmed active", "swap_vehicle": "pending confirmed active",
	"assign_vehicle": "pending confirmed",
	"charges":        "pending confirmed active completed cancelled no_show", "inspections": "confirmed active completed",
	"damages":           "active completed",
	"correct":           "active completed",
	"deposit/authorize": "pending confirmed active completed cancelled no_show", "PATCH": "pending confirmed",
}

var allowedMoves = map[string]string{
	"pending": "confirmed cancelled expired", "confirmed": "active cancelled no_show", "active": "completed",
}

func TestEveryActionInAStateThatDoesNotAllowItIsA409(t *testing.T) {
	w := newLot(t)
	paths := w.bookingsInEachState()
	other := w.newCar()
	bodies := map[string]string{
		"extend": fmt.Sprintf(`{"return_at":%q}`, w.in(300)), "swap_vehicle": fmt.Sprintf(`{"vehicle_id":%q}`, other),
		"assign_vehicle": fmt.Sprintf(`{"vehicle_id":%q}`, other),
		"charges":        `{"type":"cleaning","unit_price":{"amount":100,"currency":"USD"}}`,
		"damages":        `{"description":"a dent","severity":"minor"}`,
		"correct":        `{"reason":"x","pickup":{"mileage_mi":10}}`,
		"PATCH":          fmt.Sprintf(`{"return_at":%q}`, w.in(250)),
	}
	for action, states := range legalStates {
		for state, path := range paths {
			if strings.Contains(" "+states+" ", " "+state+" ") {
				continue
			}
			method, target := "POST", path+"/"+action
			if action == "PATCH" {
				method, target = "PATCH", path
			}
			answer := w.do(method, target, bodies[action])
			p := answer.problem(409, "invalid_state_transition")
			if p.CurrentState != state || strings.Join(p.AllowedTransitions, " ") != allowedMoves[state] {
				t.Errorf("%s of a %s one: at %s, may become %v: %s", action, state, p.CurrentState, p.AllowedTransitions, p.Detail)
			}
		}
	}
	for state, path := range paths {
		wantEqual(t, "after all that "+path, w.do("GET", path, "").ok(200).object()["status"], state)
		// Only what is over may be archived.
		status := w.do("DELETE", path, "").status
		if over := !strings.Contains("pending confirmed active", state); over != (status == 204) {
			t.Errorf("archiving a %s one: %d", state, status)
		}
	}
}

func TestWhatBookingsBecome(t *testing.T) {
	w := newLot(t)
	paths := w.bookingsInEachState()
	// A completed one is reopened with a scope of its own, for a day.
	clerk := w.newKey(w.account, auth.BookingsWrite, auth.BookingsRead)
	w.do("POST", paths["completed"]+"/reopen", "", "Authorization", "Bearer "+clerk).problem(403, "insufficient_scope")
	b := w.do("POST", paths["completed"]+"/reopen", "").ok(200).object()
	wantEqual(t, "reopened", b["status"], "active")
	wantEqual(t, "not returned", b["actual_return_at"], nil)
	w.do("POST", paths["completed"]+"/return", "").ok(200)
	w.pass(25 * time.Hour)
	w.do("POST", paths["completed"]+"/reopen", "").problem(409, "invalid_state_transition")
	// A cancellation within the last day costs half, taxes included, and nothing else is owed.
	late := w.do("POST", w.bookAnother(2, 50)+"/cancel",
		`{"cancelled_by":"customer","reason_code":"plans"}`).ok(200).object()
	wantEqual(t, "fee", minor(late["total"]), 5500.0)
	wantEqual(t, "of the customer", late["cancellation"].(map[string]any)["cancelled_by"], "customer")
	early := w.do("POST", w.bookAnother(48, 96)+"/cancel", "").ok(200).object()
	wantEqual(t, "no fee", minor(early["total"]), 0.0)
	waived := w.do("POST", w.bookAnother(2, 50)+"/cancel", `{"waive_fee":true}`).ok(200).object()
	wantEqual(t, "waived", minor(waived["total"]), 0.0)
	// A duplicate has the fields, and a life of its own.
	copied := w.do("POST", paths["cancelled"]+"/duplicate",
		fmt.Sprintf(`{"pickup_at":%q,"return_at":%q}`, w.in(300), w.in(330))).ok(201).object()
	wantEqual(t, "pending", copied["status"], "pending")
	wantEqual(t, "of", "/v1/bookings/"+copied["duplicate_of"].(string), paths["cancelled"])
	// Nobody came, and the grace is over: a duty ends it.
	gone := w.bookAnother(1, 20)
	w.pass(3 * time.Hour)
	doDuty(t, w, "bookings: nobody came")
	b = w.do("GET", gone, "").ok(200).object()
	wantEqual(t, "nobody came", b["status"], "no_show")
	wantEqual(t, "all of it", minor(b["total"]), 5500.0)
	// A hold lapses, a rental is overdue: each is noted once.
	held := w.book(20, 40, "")
	out := w.bookAnother(0.01, 1)
	w.do("POST", out+"/pickup", "").ok(200)
	w.pass(2 * time.Hour)
	for range 2 {
		doDuty(t, w, "bookings: holds lapse")
		doDuty(t, w, "bookings: overdue")
	}
	wantEqual(t, "lapsed", w.do("GET", held, "").ok(200).object()["status"], "expired")
	b = w.do("GET", out, "").ok(200).object()
	wantEqual(t, "overdue", b["is_overdue"], true)
	wantEqual(t, "since", b["overdue_since"], b["return_at"])
	wantEqual(t, "revisions", b["revision"], 3.0)
}

// bookAnother makes a confirmed booking of a new car.
func (w *lotWorld) bookAnother(from, until float64) string {
	w.t.Helper()
	w.car = w.newCar()
	return w.book(from, until, `,"confirm":true`)
}

// doDuty does a duty of the desk.
func doDuty(t *testing.T, w *lotWorld, name string) {
	t.Helper()
	if err := w.api.desk.Duty(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

// A timeline tells of payments to those alone who may know of them.
func TestATimelineTellsOfPaymentsToThoseWhoMayKnow(t *testing.T) {
	w := newLot(t)
	path := w.book(1, 49, "")
	w.do("POST", "/v1/payments", `{"booking_id":"`+strings.TrimPrefix(path, "/v1/bookings/")+
		`","method":"cash","amount":{"amount":100,"currency":"USD"}}`).ok(201)
	payments := func(scopes ...auth.Scope) (n int) {
		for _, e := range w.do("GET", path+"/timeline", "", "Authorization",
			"Bearer "+w.newKey(w.account, scopes...)).ok(200).data() {
			if e["kind"] == "payment" {
				n++
			}
		}
		return n
	}
	wantEqual(t, "without", payments(auth.BookingsRead), 0)
	wantEqual(t, "with", payments(auth.BookingsRead, auth.FinanceRead), 1)
}

// The process dies before a command was carried out. Another one, which its caller gave the same X-Request-Id, has
// moved the booking since.
func TestACommandDoesNotTakeTheWriteOfAnotherForItsOwn(t *testing.T) {
	w := newLot(t)
	keyID, err := fleet.ParseID(fleet.KeyPrefix, w.do("GET", "/v1/account", "").ok(200).object()["api_key_id"].(string))
	if err != nil {
		t.Fatal(err)
	}
	path := w.book(0.01, 49, `,"confirm":true`)
	w.pass(time.Hour)
	ticket, err := w.api.Store.Begin(t.Context(), w.account, "k",
		rest.RequestHash("POST", path+"/pickup", "", fleet.KeyID(keyID).String(), []byte(`{"mileage_mi":7}`)))
	if err != nil {
		t.Fatal(err)
	}
	w.do("POST", path+"/cancel", `{"cancelled_by":"customer","reason_code":"other"}`, "X-Request-Id", "mine",
		"Idempotency-Key", "other").ok(200)
	if err := ticket.Reopen(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.do("POST", path+"/pickup", `{"mileage_mi":7}`, "Idempotency-Key", "k", "X-Request-Id", "mine").problem(409,
		"invalid_state_transition")
}

// The process dies after a command was carried out and before the answer was stored: the repetition answers with what
// stands, and does not refuse what it has done itself. Anybody else is refused.
func TestACommandRepeatedAfterACrashAnswersWithWhatStands(t *testing.T) {
	w := newLot(t)
	me := w.do("GET", "/v1/account", "").ok(200).object()["api_key_id"].(string)
	keyID, err := fleet.ParseID(fleet.KeyPrefix, me)
	if err != nil {
		t.Fatal(err)
	}
	path := w.book(0.01, 49, `,"confirm":true`)
	booking, _ := fleet.ParseID(fleet.BookingPrefix, strings.TrimPrefix(path, "/v1/bookings/"))
	payment := w.do("POST", "/v1/payments", `{"booking_id":"`+strings.TrimPrefix(path, "/v1/bookings/")+
		`","method":"cash","pending":true,"amount":{"amount":100,"currency":"USD"}}`).ok(201).id()
	paid, _ := fleet.ParseID(fleet.PaymentPrefix, payment)
	w.pass(time.Hour)
	dead := record.Author{Actor: me, RequestID: "req_dead"}
	for _, c := range []struct {
		path, body, key string
		do              func() error
	}{
		{path + "/pickup", `{"mileage_mi":7}`, "k1", func() error {
			miles := 7
			_, err := w.api.desk.Pickup(t.Context(), desk.Order{By: dead, Account: w.account, Booking: booking},
				desk.Handover{MileageMi: &miles})
			return err
		}},
		{"/v1/payments/" + payment + "/succeed", "", "k2", func() error {
			_, err := w.api.desk.Payments.Update(t.Context(), dead, w.account, paid, 0,
				func(r *record.Record[record.Payment]) error {
					return record.Succeed(r, record.InstantOf(w.api.Now()))
				})
			return err
		}},
	} {
		hash := rest.RequestHash("POST", c.path, "", fleet.KeyID(keyID).String(), []byte(c.body))
		ticket, err := w.api.Store.Begin(t.Context(), w.account, c.key, hash)
		if err != nil {
			t.Fatal(err)
		}
		dead.Command = ticket.Command
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		if err := ticket.Reopen(t.Context()); err != nil {
			t.Fatal(err)
		}
		stands := w.do("GET", c.path[:strings.LastIndex(c.path, "/")], "").ok(200)
		w.do("POST", c.path, c.body, "Idempotency-Key", "other "+c.key).problem(409, "invalid_state_transition")
		again := w.do("POST", c.path, c.body, "Idempotency-Key", c.key, "If-Match", `"1"`).ok(200)
		wantEqual(t, c.path, again.member("revision"), stands.member("revision"))
		wantEqual(t, c.path, again.member("status"), stands.member("status"))
	}
}
