package api

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// deskWriter does what people do to bookings, at random.
type deskWriter struct {
	*world
	random              *rand.Rand
	cars                []string
	customer            string
	bookings            []string
	tolls, bills, money []string // of any of them
	did                 string
	done                map[string]int
	n                   int
}

// one draws one of some ids.
func (w *deskWriter) one(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[w.random.IntN(len(ids))]
}

// try sends a request that may be refused, as it happens to stand, and returns the id of what it is answered with.
func (w *deskWriter) try(method, path, body string) string {
	w.t.Helper()
	r := w.do(method, path, body)
	if r.status >= 500 || r.status == 400 {
		w.t.Errorf("%s: %s %s %s: %d %s", w.did, method, path, body, r.status, r.body)
	}
	if r.status >= 300 || r.status == 204 {
		return ""
	}
	w.done[w.did]++
	return r.id()
}

func (w *deskWriter) act() {
	w.n++
	booking, now := w.one(w.bookings), w.api.Now()
	path := "/v1/bookings/" + booking
	keep := func(ids *[]string, id string) {
		if id != "" {
			*ids = append(*ids, id)
		}
	}
	switch w.random.IntN(11) {
	case 0, 1:
		w.did = "book"
		pickup := now.Add(time.Duration(w.n*5) * time.Hour).Truncate(time.Minute)
		keep(&w.bookings, w.try("POST", "/v1/bookings", fmt.Sprintf(
			`{"vehicle_id":%q,"customer_id":%q,"pickup_at":%q,"return_at":%q,"confirm":%t}`, w.one(w.cars), w.customer,
			pickup.Format(time.RFC3339), pickup.Add(4*time.Hour).Format(time.RFC3339), w.n%2 == 0)))
	case 2:
		w.did = "pay"
		keep(&w.money, w.try("POST", path+"/payments", fmt.Sprintf(
			`{"method":"card","amount":{"amount":%d,"currency":"USD"}}`, 100+w.n)))
	case 3:
		w.did = "refund"
		if id := w.one(w.money); id != "" {
			w.try("POST", "/v1/payments/"+id+"/refund", `{"amount":{"amount":30,"currency":"USD"},"reason":"x"}`)
		}
	case 4:
		w.did = "write off"
		keep(&w.bills, w.try("POST", "/v1/expenses", fmt.Sprintf(
			`{"category":"bad_debt","status":"posted","booking_id":%q,"incurred_on":%q,
			"amount":{"amount":%d,"currency":"USD"}}`, booking, now.Format(time.DateOnly), 10+w.n)))
	case 5:
		w.did = "not written off after all"
		if id := w.one(w.bills); id != "" {
			w.try("POST", "/v1/expenses/"+id+"/void", "")
		}
	case 6:
		w.did = "toll"
		keep(&w.tolls, w.try("POST", "/v1/tolls", fmt.Sprintf(`{"kind":"toll","plate":"X %d","occurred_at":%q,
			"agency":"A","amount":{"amount":450,"currency":"USD"}}`, w.n, now.Format(time.RFC3339))))
	case 7:
		w.did = "toll of another"
		if id := w.one(w.tolls); id != "" {
			w.try("POST", "/v1/tolls/"+id+"/match", fmt.Sprintf(`{"booking_id":%q}`, booking))
		}
	case 8:
		w.did = "bill"
		if id := w.one(w.tolls); id != "" {
			w.try("POST", "/v1/tolls/"+id+"/bill", "")
		}
	case 9:
		w.did = "cancel"
		w.try("POST", path+"/cancel", `{"cancelled_by":"customer"}`)
	case 10:
		w.did = "change"
		w.try("PATCH", path, fmt.Sprintf(`{"notes":"n%d"}`, w.n))
	}
}

// Whatever happens to bookings, and to what was paid, written off and not billed of them: what memory says is what the
// store says, to the byte and the entity tag.
func TestWhatIsShownOfBookingsIsTheSameFromMemoryAndFromTheStore(t *testing.T) {
	memory, store, registry, _ := besideMemory(t)
	w := &deskWriter{world: store, random: rand.New(rand.NewPCG(42, 11)), done: map[string]int{}}
	store.do("PATCH", "/v1/account", `{"currency":"USD"}`).ok(200)
	for n := range 6 {
		w.cars = append(w.cars, w.vehicle(fmt.Sprintf(
			`{"make":"M%d","model":"B","daily_rate":{"amount":5000,"currency":"USD"}}`, n)))
	}
	w.customer = w.world.customer(`{"first_name":"Ann","last_name":"Lee","email":"ann@example.com"}`)
	for len(w.bookings) < 4 {
		w.act()
	}
	same := func(path string) {
		t.Helper()
		want := store.do("GET", path, "") // the process that wrote has all of it listed first
		got := memory.do("GET", path, "")
		if string(got.body) != string(want.body) || got.header.Get("ETag") != want.header.Get("ETag") ||
			got.status != 200 || want.status != 200 {
			t.Errorf("after %s: GET %s\nmemory %d %s %s\nstore  %d %s %s", w.did, path, got.status, got.header.Get("ETag"),
				got.body, want.status, want.header.Get("ETag"), want.body)
		}
	}
	pages := []string{"/v1/bookings", "/v1/bookings?per_page=3&sort=-pickup_at&expand=vehicle", "/v1/bookings?status=confirmed",
		"/v1/bookings?customer_id=" + w.customer + "&sort=total,-number", "/v1/bookings?vehicle_id=" + w.cars[0],
		"/v1/bookings?is_overdue=false&per_page=2", "/v1/bookings?payment_status=unpaid",
		"/v1/bookings?due_for=pickup&sort=due_at",
		"/v1/bookings?q=bk", "/v1/bookings?pickup_at[gte]=" + w.api.Now().Add(30*time.Hour).Format(time.RFC3339)}
	for range roundsOfBookings {
		for range 1 + w.random.IntN(3) {
			w.act()
		}
		same(pages[w.random.IntN(len(pages))])
		same("/v1/bookings/" + w.one(w.bookings))
		same("/v1/bookings/" + w.one(w.bookings) + "?expand=customer,vehicle")
		if t.Failed() {
			return
		}
	}
	fromMemory, fromStore := answersFromMemory(t, registry)
	t.Logf("%v, %v answers from memory, %v from the store", w.done, fromMemory, fromStore)
	for _, what := range []string{"book", "pay", "refund", "write off", "not written off after all", "toll",
		"toll of another", "bill", "cancel", "change"} {
		if w.done[what] == 0 {
			t.Errorf("%s was never done", what)
		}
	}
	if fromMemory < 4*fromStore {
		t.Errorf("memory told %v, the store %v: that tells little", fromMemory, fromStore)
	}
}
