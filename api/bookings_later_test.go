package api

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// entriesOf gives the entries of a booking, a line each, sorted.
func (w *lotWorld) entriesOf(path string) string {
	w.t.Helper()
	text := w.do("GET", "/v1/ledger/entries?booking_id="+path[strings.LastIndex(path, "/")+1:], "").ok(200).entries()
	all := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// localDay is the day of an instant so many hours from now where the bookings are.
func (w *lotWorld) localDay(hours float64) string {
	w.t.Helper()
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		w.t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, w.in(hours))
	if err != nil {
		w.t.Fatal(err)
	}
	return at.In(zone).Format(time.DateOnly)
}

// A cancellation, a fine that was forgiven, and what was done with the deposit are written down days later, and count
// on the days on which they took place. The fee is that of when it was cancelled.
func TestWhatIsWrittenDownLaterCountsOnItsDay(t *testing.T) {
	w := newLot(t)
	at := func(hours float64) string { return `{"at":"` + w.in(hours) + `"` }
	path := w.book(240, 264, `,"confirm":true`)
	w.do("POST", path+"/deposit/authorize", `{"expires_at":"`+w.in(10000)+`"}`).ok(200)
	w.pass(238 * time.Hour)
	wantEqual(t, "to come", w.do("POST", path+"/cancel", at(1)+`}`).faults(), "/at")
	wantEqual(t, "before it was made", w.do("POST", path+"/cancel", at(-239)+`}`).faults(), "/at")
	b := w.do("POST", path+"/cancel", at(-20)+`}`).ok(200).object() // 22 hours before pickup
	w.wantAt("cancelled", b["cancellation"].(map[string]any)["cancelled_at"], -20)
	wantEqual(t, "fee", minor(b["total"]), 2750.0)
	fee, took := w.localDay(-20), w.localDay(-30)
	w.do("POST", path+"/deposit/capture", at(-30)+`,"amount":{"amount":8000,"currency":"USD"}}`).ok(200)
	wantEqual(t, "before it was taken", w.do("POST", path+"/deposit/apply", at(-31)+`}`).faults(), "/at")
	w.pass(96 * time.Hour)
	wantEqual(t, "before it was made", w.do("POST", path+"/charges",
		at(-500)+`,"type":"fine","unit_price":{"amount":900,"currency":"USD"}}`).faults(), "/at")
	fine := w.do("POST", path+"/charges",
		at(-70)+`,"type":"fine","unit_price":{"amount":900,"currency":"USD"}}`).ok(201).id()
	wantEqual(t, "before it was charged", w.do("POST", path+"/charges/"+fine+"/reverse", at(-71)+`}`).faults(), "/at")
	w.do("POST", path+"/charges/"+fine+"/reverse", at(-30)+`}`).ok(201)
	w.do("POST", path+"/deposit/apply", at(-75)+`}`).ok(200)
	w.do("POST", path+"/deposit/release", at(-26)+`}`).ok(200)
	want := []string{
		took + " cash 8000 USD", took + " deposits_held -8000 USD",
		fee + " accounts_receivable 2750 USD", fee + " revenue.fees -2750 USD",
		w.localDay(-75) + " deposits_held 2750 USD", w.localDay(-75) + " accounts_receivable -2750 USD",
		w.localDay(-70) + " accounts_receivable 900 USD", w.localDay(-70) + " revenue.toll_recharge -900 USD",
		w.localDay(-30) + " accounts_receivable -900 USD", w.localDay(-30) + " revenue.toll_recharge 900 USD",
		w.localDay(-26) + " cash -5250 USD", w.localDay(-26) + " deposits_held 5250 USD"}
	slices.Sort(want)
	wantEqual(t, "entries", w.entriesOf(path), strings.Join(want, "\n"))
	w.audited()

	// Nothing is owed for what was not confirmed by then.
	path = w.book(12, 36, "")
	w.pass(5 * time.Minute)
	w.do("POST", path+"/confirm", "").ok(200)
	w.do("POST", path+"/deposit/authorize", "").ok(200)
	wantEqual(t, "of another age",
		w.do("POST", path+"/deposit/capture", `{"at":"1990-01-01T00:00:00Z"}`).faults(), "/at")
	w.pass(10 * time.Hour)
	wantEqual(t, "no fee", minor(w.do("POST", path+"/cancel", at(-10.05)+`}`).ok(200).object()["total"]), 0.0)

	// Nobody came: by itself that is so when the grace was over, whenever the server looks.
	path = w.book(5, 29, `,"confirm":true`)
	w.pass(72 * time.Hour)
	if err := w.api.desk.Duty(t.Context(), "bookings: nobody came"); err != nil {
		t.Fatal(err)
	}
	b = w.do("GET", path, "").ok(200).object()
	wantEqual(t, "nobody came", b["status"], "no_show")
	w.wantAt("when the grace was over", b["cancellation"].(map[string]any)["cancelled_at"], -66)
	path = w.book(1, 25, `,"confirm":true`)
	w.pass(90 * time.Minute)
	w.do("POST", path+"/no_show", at(-0.75)+`}`).problem(409, "conflict")
	w.do("POST", path+"/no_show", at(-0.25)+`}`).ok(200)

	// Damage is charged when somebody says that it was.
	path = w.book(1, 100, `,"confirm":true`)
	w.do("POST", path+"/deposit/authorize", "").ok(200)
	w.pass(2 * time.Hour)
	w.do("POST", path+"/pickup", "").ok(200)
	w.pass(72 * time.Hour)
	wantEqual(t, "to come",
		w.do("POST", path+"/damages", at(1)+`,"description":"a dent","severity":"minor"}`).faults(), "/at")
	dent := w.do("POST", path+"/damages", at(-40)+`,"description":"a dent","severity":"minor"}`).ok(201).id()
	w.do("POST", path+"/damages/"+dent+"/status",
		at(-30)+`,"status":"charged","charge":{"amount":30000,"currency":"USD"}}`).ok(200)
	if day, all := w.localDay(-30), w.entriesOf(path); !strings.Contains(all, day+" revenue.damage -30000 USD") {
		t.Errorf("the damage does not count on %s: %s", day, all)
	}
	w.audited()
}
