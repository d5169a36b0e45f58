//go:build long

package api

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/record"
)

// put writes a vehicle's state as it is told, past every rule.
func (w *world) put(vehicle, status, cause string) {
	w.t.Helper()
	id, err := fleet.ParseID(fleet.VehiclePrefix, vehicle)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.api.desk.Vehicles.Update(w.t.Context(), record.Author{Actor: "cli"}, w.account, id, 0,
		func(r *record.Record[record.Vehicle]) error {
			r.Body.Status, r.Body.StatusCause, r.Body.StatusSince = status, cause, record.InstantOf(w.api.Now())
			return nil
		}); err != nil {
		w.t.Fatal(err)
	}
}

// book writes a booking as the desk does, and returns its id; change changes what stands of it.
func (w *world) book(b record.Booking) string {
	w.t.Helper()
	id := w.api.Store.NextID()
	if _, _, err := w.api.desk.Bookings.Create(w.t.Context(), record.Author{Actor: "cli"}, w.account, id, b); err != nil {
		w.t.Fatal(err)
	}
	return fleet.FormatID(fleet.BookingPrefix, id)
}

func (w *world) changeBooking(booking string, change func(b *record.Booking)) {
	w.t.Helper()
	id, err := fleet.ParseID(fleet.BookingPrefix, booking)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.api.desk.Bookings.Update(w.t.Context(), record.Author{Actor: "cli"}, w.account, id, 0,
		func(r *record.Record[record.Booking]) error {
			status := r.Body.Status
			if change(&r.Body); r.Body.Status != status {
				r.Body.StatusSince = record.InstantOf(w.api.Now())
			}
			return nil
		}); err != nil {
		w.t.Fatal(err)
	}
}

// hold takes a vehicle's calendar for a booking.
func (w *world) hold(vehicle uint64, ref string, from, until record.Instant) {
	w.t.Helper()
	if _, err := w.api.desk.Calendars.Take(w.t.Context(), record.Author{Actor: "cli"}, w.account, vehicle,
		calendar.Hold{Ref: ref, From: from, Until: until}); err != nil {
		w.t.Fatal(err)
	}
}

// elapse lets time pass, and what it brings about.
func (w *world) elapse(d time.Duration) {
	w.t.Helper()
	w.clock.Add(int64(d))
	if err := w.api.desk.Duty(w.t.Context(), "vehicle states"); err != nil {
		w.t.Fatal(err)
	}
}

// stands is a vehicle's state and its cause.
func (w *world) stands(vehicle, what, want string) {
	w.t.Helper()
	v := w.do("GET", "/v1/vehicles/"+vehicle, "").ok(200).object()
	cause, _ := v["status_cause"].(string)
	wantEqual(w.t, what, strings.TrimSpace(fmt.Sprint(v["status"], " ", cause)), want)
}

func TestEveryMoveOfAVehicleByHand(t *testing.T) {
	w := newWorld(t)
	legal := map[string]string{
		"inactive": "available out_of_service retired", "available": "maintenance out_of_service retired",
		"turnaround":  "available maintenance out_of_service retired",
		"maintenance": "available out_of_service retired", "out_of_service": "available retired",
	}
	states := []string{"inactive", "available", "turnaround", "maintenance", "out_of_service", "rented", "retired"}
	for _, from := range states {
		for _, to := range states {
			id := w.vehicle(`{"make":"A","model":"B","disposal_on":"2199-01-31"}`)
			w.put(id, from, "")
			r := w.do("POST", "/v1/vehicles/"+id+"/status", `{"status":"`+to+`","reason":"why"}`)
			if slices.Contains(strings.Fields(legal[from]), to) {
				v := r.ok(200).object()
				wantEqual(t, from+" to "+to, fmt.Sprint(v["status"], v["status_reason"]), to+"why")
				continue
			}
			p := r.problem(409, "invalid_state_transition")
			wantEqual(t, from+" to "+to, p.CurrentState+": "+strings.Join(p.AllowedTransitions, " "), from+": "+legal[from])
			w.stands(id, from+" to "+to+" was refused", from)
		}
	}
	id := w.vehicle(`{"make":"A","model":"B"}`)
	w.do("POST", "/v1/vehicles/"+id+"/status", `{"status":"maintenance"}`).problem(422, "validation_failed")
	wantEqual(t, "no disposal",
		w.do("POST", "/v1/vehicles/"+id+"/status", `{"status":"retired","reason":"sold"}`).faults(), "/disposal_on")
	wantEqual(t, "disposal of what stays", w.do("POST", "/v1/vehicles/"+id+"/status",
		`{"status":"maintenance","reason":"x","disposal_on":"2026-02-01"}`).faults(), "/disposal_on")
	sold := w.do("POST", "/v1/vehicles/"+id+"/status",
		`{"status":"retired","reason":"sold","disposal_on":"2026-02-01","disposal_price":{"amount":1200000,"currency":"USD"}}`).ok(200).object()
	wantEqual(t, "disposal", fmt.Sprint(sold["disposal_on"], sold["disposal_price"]),
		"2026-02-01map[amount:1.2e+06 currency:USD]")
}

func TestAVehicleFollowsItsBookings(t *testing.T) {
	w := newWorld(t)
	car, spare := w.vehicle(`{"make":"A","model":"B"}`), w.vehicle(`{"make":"A","model":"C","buffer_after_minutes":30}`)
	now := w.api.Now()
	at := func(h int) record.Instant { return record.InstantOf(now.Add(time.Duration(h) * time.Hour)) }
	b := record.Booking{Status: record.BookingConfirmed}
	b.VehicleID, b.PickupAt, b.ReturnAt, b.ReturnLocationID = spare, at(0), at(24), "loc_7"
	booking := w.book(b)
	w.stands(spare, "confirmed", "available")
	miles := func(n int) *int { return &n }
	w.changeBooking(booking, func(b *record.Booking) {
		b.Status, b.ActualPickupAt, b.PickupMileageMi = record.BookingActive, at(0), miles(1000)
	})
	w.stands(spare, "picked up", "rented "+booking)
	w.do("POST", "/v1/vehicles/"+spare+"/status", `{"status":"out_of_service","reason":"x"}`).problem(409,
		"invalid_state_transition")
	w.do("DELETE", "/v1/vehicles/"+spare, "").problem(409, "conflict")
	w.changeBooking(booking, func(b *record.Booking) {
		b.VehicleSwaps = append(b.VehicleSwaps, record.VehicleSwap{VehicleID: spare, From: at(0),
			Until: record.InstantOf(w.api.Now()), PickupMileageMi: miles(1000), MileageMi: miles(1100)})
		b.VehicleID, b.PickupMileageMi = car, miles(5000)
	})
	w.stands(spare, "swapped out", "turnaround "+booking)
	w.stands(car, "swapped in", "rented "+booking)
	w.elapse(31 * time.Minute)
	w.stands(spare, "buffer over", "available "+booking)
	w.changeBooking(booking, func(b *record.Booking) {
		b.Status, b.ActualReturnAt, b.ReturnMileageMi, b.BlockedUntil =
			record.BookingCompleted, record.InstantOf(w.api.Now()), miles(5200), record.InstantOf(w.api.Now().Add(2*time.Hour))
	})
	w.stands(car, "returned", "turnaround "+booking)
	wantEqual(t, "where", w.do("GET", "/v1/vehicles/"+car, "").ok(200).object()["current_location_id"], "loc_7")
	w.elapse(time.Hour)
	w.stands(car, "in the buffer", "turnaround "+booking)

	// What bookings told is read.
	readings := func(vehicle string) string {
		var all []string
		for _, m := range w.do("GET", "/v1/vehicles/"+vehicle+"/meter_readings?sort=recorded_at", "").data() {
			all = append(all, fmt.Sprintf("%v%v%v", m["source"], m["value"], m["source_id"] == booking))
		}
		return strings.Join(all, " ")
	}
	wantEqual(t, "readings", readings(spare)+" "+readings(car),
		"pickup1000true return1100true pickup5000true return5200true")

	// An open safety-critical issue keeps it; work that goes on takes it.
	issue := record.Issue{Status: "open"}
	issue.VehicleID, issue.Severity, issue.Description = car, "safety_critical", "no brakes"
	problem := w.api.Store.NextID()
	if _, _, err := w.api.desk.Issues.Create(t.Context(), record.Author{Actor: "cli"}, w.account, problem,
		issue); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "until the buffer is over", w.do("GET", "/v1/vehicles/"+car, "").object()["status_until"] != nil, true)
	w.elapse(2 * time.Hour)
	w.stands(car, "with an issue", "turnaround "+booking)
	wantEqual(t, "until it is resolved", w.do("GET", "/v1/vehicles/"+car, "").object()["status_until"], nil)
	w.do("POST", "/v1/vehicles/"+car+"/status", `{"status":"available","reason":"clean"}`).problem(409, "conflict")
	work := record.WorkOrder{Status: record.WorkInProgress, StartedAt: record.InstantOf(w.api.Now())}
	work.VehicleID = car
	order := w.api.Store.NextID()
	if _, _, err := w.api.desk.Work.Create(t.Context(), record.Author{Actor: "cli"}, w.account, order, work); err != nil {
		t.Fatal(err)
	}
	wo := fleet.FormatID(fleet.WorkOrderPrefix, order)
	w.stands(car, "work began", "maintenance "+wo)
	if _, err := w.api.desk.Issues.Update(t.Context(), record.Author{Actor: "cli"}, w.account, problem, 0,
		func(r *record.Record[record.Issue]) error {
			r.Body.Status = "resolved"
			return nil
		}); err != nil {
		t.Fatal(err)
	}
	finish := func(status string) {
		if _, err := w.api.desk.Work.Update(t.Context(), record.Author{Actor: "cli"}, w.account, order, 0,
			func(r *record.Record[record.WorkOrder]) error {
				r.Body.Status, r.Body.CompletedAt, r.Body.MileageMi = status, record.InstantOf(w.api.Now()), miles(5201)
				return nil
			}); err != nil {
			t.Fatal(err)
		}
	}
	finish(record.WorkCompleted)
	w.stands(car, "work done", "available "+wo)
	wantEqual(t, "readings", readings(car), "pickup5000true return5200true work_order5201false")
}

func TestWhatFollowsDoesNotUndoWhatSomebodyDidByHand(t *testing.T) {
	w := newWorld(t)
	car := w.vehicle(`{"make":"A","model":"B"}`)
	order := w.api.Store.NextID()
	wo := fleet.FormatID(fleet.WorkOrderPrefix, order)
	work := record.WorkOrder{Status: record.WorkInProgress, StartedAt: record.InstantOf(w.api.Now())}
	work.VehicleID = car
	if _, _, err := w.api.desk.Work.Create(t.Context(), record.Author{Actor: "cli"}, w.account, order, work); err != nil {
		t.Fatal(err)
	}
	w.stands(car, "work began", "maintenance "+wo)
	w.clock.Add(int64(time.Minute))
	w.do("POST", "/v1/vehicles/"+car+"/status", `{"status":"available","reason":"needed"}`).ok(200)
	w.elapse(time.Minute)
	w.stands(car, "by hand", "available")

	b := record.Booking{Status: record.BookingConfirmed}
	b.VehicleID, b.PickupAt, b.ReturnAt = car, record.InstantOf(w.api.Now()), record.InstantOf(w.api.Now().Add(time.Hour))
	booking := w.book(b)
	w.changeBooking(booking, func(b *record.Booking) { b.Status = record.BookingActive })
	w.stands(car, "picked up", "rented "+booking)
	w.changeBooking(booking, func(b *record.Booking) {
		b.Status, b.BlockedUntil = record.BookingCompleted, record.InstantOf(w.api.Now())
	})
	w.stands(car, "returned", "turnaround "+booking)
	w.elapse(time.Minute)
	w.stands(car, "work goes on", "maintenance "+wo)
	w.clock.Add(int64(time.Minute))
	w.do("POST", "/v1/vehicles/"+car+"/status", `{"status":"out_of_service","reason":"stolen"}`).ok(200)
	w.changeBooking(booking, func(b *record.Booking) { b.Notes = "written again" })
	w.elapse(time.Hour)
	w.stands(car, "stolen", "out_of_service")
}

func TestAVehicleFollowsItsBlocks(t *testing.T) {
	w := newWorld(t)
	car := w.vehicle(`{"make":"A","model":"B"}`)
	now := w.api.Now()
	at := func(h int) string { return now.Add(time.Duration(h) * time.Hour).UTC().Format(time.RFC3339) }
	path := "/v1/vehicles/" + car + "/blocks"
	made := w.do("POST", path, `{"from":"`+at(1)+`","until":"`+at(3)+`","reason":"new tyres","kind":"maintenance"}`,
		"Idempotency-Key", "b1").ok(201)
	block := made.id()
	wantEqual(t, "location", made.header.Get("Location"), "/v1/blocks/"+block)
	wantEqual(t, "repeated", w.do("POST", path, `{"from":"`+at(1)+`","until":"`+at(3)+
		`","reason":"new tyres","kind":"maintenance"}`, "Idempotency-Key", "b1").ok(201).id(), block)
	if p := w.do("POST", path, `{"from":"`+at(2)+`","until":"`+at(4)+`","reason":"mine"}`).problem(409,
		"conflict"); !strings.Contains(p.Detail, "a block (maintenance)") {
		t.Errorf("what is in the way: %s", p.Detail)
	}
	wantEqual(t, "backwards",
		w.do("POST", path, `{"from":"`+at(2)+`","until":"`+at(2)+`","reason":"mine"}`).faults(), "/until")
	own := w.do("POST", path, `{"from":"`+at(5)+`","until":"`+at(6)+`","reason":"mine","kind":"owner_use"}`).ok(201).id()
	w.do("PATCH", "/v1/blocks/"+own, `{"from":"`+at(2)+`"}`).problem(409, "conflict")
	w.do("PATCH", "/v1/blocks/"+own, `{"from":"`+at(4)+`"}`).ok(200)
	w.do("PATCH", "/v1/blocks/"+own, `{"vehicle_id":"veh_1"}`).problem(422, "validation_failed")
	wantEqual(t, "list", len(w.do("GET", path+"?kind=owner_use", "").data()), 1)
	wantEqual(t, "all", len(w.do("GET", "/v1/blocks?vehicle_id="+car+"&until[gt]="+at(3), "").data()), 1)

	calendar := w.do("GET", "/v1/vehicles/"+car+"/calendar?from="+at(0)+"&until="+at(24), "").ok(200).object()
	text := func(name, a, b string) string {
		var all []string
		for _, v := range calendar[name].([]any) {
			m := v.(map[string]any)
			from, _ := time.Parse(time.RFC3339, fmt.Sprint(m["from"]))
			until, _ := time.Parse(time.RFC3339, fmt.Sprint(m["until"]))
			all = append(all,
				strings.TrimSpace(fmt.Sprintf("%v %v %.0f-%.0f", m[a], m[b], from.Sub(now).Hours(), until.Sub(now).Hours())))
		}
		return strings.ReplaceAll(strings.Join(all, "; "), "<nil> <nil> ", "")
	}
	wantEqual(t, "holds", text("holds", "kind", "reason"), "block new tyres 1-3; block mine 4-6")
	wantEqual(t, "free", text("free", "", ""), "0-1; 3-4; 6-24")
	w.do("GET", "/v1/vehicles/"+car+"/calendar?from="+at(2)+"&until="+at(1), "").problem(400, "invalid_request")

	w.elapse(0)
	w.stands(car, "before", "available")
	w.elapse(90 * time.Minute)
	w.stands(car, "begun", "maintenance "+block)
	w.do("PATCH", "/v1/blocks/"+block, `{"until":"`+at(4)+`"}`).ok(200)
	w.elapse(100 * time.Minute) // 3:10
	w.stands(car, "longer", "maintenance "+block)
	w.elapse(time.Hour)
	w.stands(car, "over", "available "+block)
	w.do("DELETE", "/v1/blocks/"+own, "").ok(204)
	w.do("POST", path, `{"from":"`+at(4)+`","until":"`+at(6)+`","reason":"free again","kind":"repair"}`).ok(201)
	w.elapse(0)
	if v := w.do("GET", "/v1/vehicles/"+car, "").ok(200).object(); v["status"] != "maintenance" {
		t.Errorf("a block that begins at once: %v", v["status"])
	}
}

// What was sold does not stand ready: when its day has come where it is, it is out of service, and available again only
// once that day was corrected. What is rented is left to its renter.
func TestWhatWasSoldIsNotAvailable(t *testing.T) {
	w := newWorld(t)
	sold := w.vehicle(`{"make":"A","model":"B","disposal_on":"2026-02-01"}`)
	later := w.vehicle(`{"make":"A","model":"B","disposal_on":"2199-02-01"}`)
	rented := w.vehicle(`{"make":"A","model":"B","disposal_on":"2026-02-01"}`)
	there := w.vehicle(`{"make":"A","model":"B","timezone":"Pacific/Kiritimati","disposal_on":"` +
		w.api.Now().UTC().Add(14*time.Hour).Format(time.DateOnly) + `"}`)
	here := w.vehicle(`{"make":"A","model":"B","timezone":"Pacific/Midway","disposal_on":"` +
		w.api.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly) + `"}`)
	w.put(rented, "rented", "")
	leave := func() {
		t.Helper()
		if err := w.api.desk.Duty(t.Context(), "vehicles that were disposed of"); err != nil {
			t.Fatal(err)
		}
	}
	leave()
	for id, want := range map[string]string{sold: "out_of_service", later: "available", rented: "rented",
		there: "out_of_service", here: "available"} {
		w.stands(id, "disposed of", want)
	}
	v := w.do("GET", "/v1/vehicles/"+sold, "").ok(200).object()
	wantEqual(t, "why", v["status_reason"], any("disposed of on 2026-02-01"))
	path := "/v1/vehicles/" + sold + "/status"
	w.do("POST", path, `{"status":"available","reason":"it is here"}`).problem(409, "conflict")
	w.do("PATCH", "/v1/vehicles/"+sold, `{"disposal_on":null}`).ok(200)
	w.do("POST", path, `{"status":"available","reason":"it is here"}`).ok(200)
	leave()
	w.stands(sold, "not sold after all", "available")

	// Sold in the workshop, it never stands ready.
	tyres := w.do("POST", "/v1/maintenance/work_orders", `{"vehicle_id":"`+sold+`","title":"Tyres","mileage_mi":1,
		"scheduled_from":"2026-03-02T08:00:00Z","scheduled_until":"2026-03-02T18:00:00Z"}`).ok(201).id()
	order := "/v1/maintenance/work_orders/" + tyres
	w.do("POST", order+"/schedule", "{}").ok(200)
	w.do("POST", order+"/start", "{}").ok(200)
	w.stands(sold, "in the workshop", "maintenance "+tyres)
	w.do("PATCH", "/v1/vehicles/"+sold, `{"disposal_on":"2026-02-01"}`).ok(200)
	w.do("POST", order+"/complete", "{}").ok(200)
	w.stands(sold, "sold in the workshop", "out_of_service")
}

func TestAVehicleThatBookingsWantStays(t *testing.T) {
	w := newWorld(t)
	car := w.vehicle(`{"make":"A","model":"B"}`)
	b := record.Booking{Status: record.BookingConfirmed}
	b.VehicleID, b.PickupAt, b.ReturnAt =
		car, record.InstantOf(w.api.Now().Add(time.Hour)), record.InstantOf(w.api.Now().Add(9*time.Hour))
	booking := w.book(b)
	id, _ := fleet.ParseID(fleet.VehiclePrefix, car)
	w.hold(id, booking, b.PickupAt, b.ReturnAt)
	retire := func() *reply {
		return w.do("POST", "/v1/vehicles/"+car+"/status", `{"status":"retired","reason":"sold","disposal_on":"2026-02-01"}`)
	}
	if p := retire().problem(409, "conflict"); len(p.Errors) != 1 || !strings.Contains(p.Errors[0].Detail, "B-1001 is") {
		t.Errorf("in the way: %+v", p.Errors)
	}
	w.do("DELETE", "/v1/vehicles/"+car, "").problem(409, "conflict")
	w.changeBooking(booking, func(b *record.Booking) { b.Status = record.BookingCancelled })
	retire().ok(200)
	now := w.api.Now().UTC()
	w.do("POST", "/v1/vehicles/"+car+"/blocks", `{"from":"`+now.Format(time.RFC3339)+`","until":"`+
		now.AddDate(1, 0, 0).Format(time.RFC3339)+`","reason":"x"}`).problem(409, "conflict")
	w.do("DELETE", "/v1/vehicles/"+car, "").ok(204)
}

func TestMeterReadingsAreKept(t *testing.T) {
	w := newWorld(t)
	car, other := w.vehicle(`{"make":"A","model":"B","acquisition_mileage_mi":10}`), w.vehicle(`{"make":"A","model":"C"}`)
	path := "/v1/vehicles/" + car + "/meter_readings"
	read := func(value float64, at string) map[string]any {
		return w.do("POST", path,
			fmt.Sprintf(`{"kind":"odometer_mi","value":%v,"recorded_at":%q,"confirm":["mileage"]}`, value, at)).ok(201).object()
	}
	first := w.do("POST", path,
		`{"kind":"odometer_mi","value":1000,"recorded_at":"2026-01-01T00:00:00Z","note":"by the door"}`).ok(201)
	wantEqual(t, "location", first.header.Get("Location"), path+"/"+first.id())
	w.do("GET", path+"/"+first.id(), "").ok(200)
	w.do("GET", "/v1/vehicles/"+other+"/meter_readings/"+first.id(), "").problem(404, "not_found")
	high := read(9000, "2026-01-02T00:00:00Z")
	low := read(1100, "2026-01-03T00:00:00Z")
	if low["voided"] != true || !strings.Contains(fmt.Sprint(low["void_reason"]), fmt.Sprint(high["id"])) {
		t.Errorf("a lower one: %v", low)
	}
	wantEqual(t, "higher than a later one", read(9500, "2026-01-01T12:00:00Z")["voided"], true)
	mileage := func() string {
		v := w.do("GET", "/v1/vehicles/"+car, "").ok(200).object()
		return fmt.Sprint(v["current_mileage_mi"], v["odometer_source"], v["odometer_recorded_at"])
	}
	wantEqual(t, "mileage", mileage(), "9000manual2026-01-02T00:00:00.000Z")
	void := path + "/" + fmt.Sprint(high["id"]) + "/void"
	w.do("POST", void, `{}`).problem(422, "validation_failed")
	w.do("POST", "/v1/vehicles/"+other+"/meter_readings/"+fmt.Sprint(high["id"])+"/void",
		`{"reason":"typo"}`).problem(404, "not_found")
	wantEqual(t, "voided", w.do("POST", void, `{"reason":"typo"}`).ok(200).object()["void_reason"], "typo")
	wantEqual(t, "again", w.do("POST", void, `{"reason":"other"}`).ok(200).object()["void_reason"], "typo")
	// What contradicted it counts again; what is far from the others as well does not.
	wantEqual(t, "mileage", mileage(), "1100manual2026-01-03T00:00:00.000Z")
	wantEqual(t, "good again", read(1200, "2026-01-04T00:00:00Z")["voided"], false)
	wantEqual(t, "list", len(w.do("GET", path+"?recorded_at[gte]=2026-01-02T00:00:00Z&kind=odometer_mi", "").data()), 3)
	wantEqual(t, "of another", len(w.do("GET", "/v1/vehicles/"+other+"/meter_readings", "").data()), 0)
	wantEqual(t, "in the future",
		w.do("POST", path, `{"kind":"odometer_mi","value":1,"recorded_at":"2199-01-01T00:00:00Z"}`).faults(), "/recorded_at")
	w.do("POST", path, `{"kind":"engine_hours","value":77.5,"source":"import"}`).ok(201)
	wantEqual(t, "hours", w.do("GET", "/v1/vehicles/"+car, "").ok(200).object()["engine_hours"], 77.5)
	w.do("POST", path, `{"kind":"odometer_mi","value":1,"source":"telematics"}`).problem(422, "validation_failed")
}

// A vehicle that was to be archived, and is not because somebody changed it in between, can be rented as before.
func TestAVehicleThatIsNotArchivedHoldsNothing(t *testing.T) {
	w := newWorld(t)
	car := w.vehicle(`{"make":"A","model":"B"}`)
	id, err := fleet.ParseID(fleet.VehiclePrefix, car)
	if err != nil {
		t.Fatal(err)
	}
	holds := 0
	w.api.Store.Then(calendar.Kind.Name, "somebody else writes", func(ctx context.Context, r record.Written) error {
		if holds += strings.Count(string(r.After), car); holds != 1 {
			return nil
		}
		_, err := w.api.desk.Vehicles.Update(ctx, record.Author{Actor: "cli"}, w.account, id, 0,
			func(r *record.Record[record.Vehicle]) error {
				r.Body.Nickname = "x"
				return nil
			})
		return err
	})
	w.do("DELETE", "/v1/vehicles/"+car, "", "If-Match", `"r1"`).problem(412, "precondition_failed")
	if left, err := w.api.desk.Calendars.Of(t.Context(), w.account, id); err != nil || len(left) != 0 || holds == 0 {
		t.Errorf("it still holds %v, %v; %d holds before", left, err, holds)
	}
	w.do("DELETE", "/v1/vehicles/"+car, "").ok(204)
	if left, err := w.api.desk.Calendars.Of(t.Context(), w.account, id); err != nil || len(left) != 1 {
		t.Errorf("archived, it holds %v, %v", left, err)
	}
}

func TestAnUnsafeVehicleIsNotHandedOver(t *testing.T) {
	w := newWorld(t)
	car := w.vehicle(`{"make":"A","model":"B"}`)
	at := func(h int) record.Instant { return record.InstantOf(w.api.Now().Add(time.Duration(h) * time.Hour)) }
	b := record.Booking{Status: record.BookingConfirmed}
	b.VehicleID, b.PickupAt, b.ReturnAt = car, at(0), at(24)
	booking := w.book(b)
	issue := record.Issue{Status: "open"}
	issue.VehicleID, issue.Severity, issue.Description = car, "safety_critical", "no brakes"
	id := w.api.Store.NextID()
	if _, _, err := w.api.desk.Issues.Create(t.Context(), record.Author{Actor: "cli"}, w.account, id, issue); err != nil {
		t.Fatal(err)
	}
	warns := func() bool {
		v := w.do("GET", "/v1/vehicles/"+car, "").ok(200).object()
		return strings.Contains(fmt.Sprint(v["warnings"]), "no brakes") && v["is_rentable"] == false
	}
	if !warns() {
		t.Error("the vehicle does not warn of its issue")
	}
	p := w.do("POST", "/v1/bookings/"+booking+"/pickup", `{"mileage_mi":10}`).problem(409, "conflict")
	if !strings.Contains(p.Detail, "no brakes") {
		t.Error(p.Detail)
	}
	if _, err := w.api.desk.Issues.Update(t.Context(), record.Author{Actor: "cli"}, w.account, id, 0,
		func(r *record.Record[record.Issue]) error {
			r.Body.Status = "resolved"
			return nil
		}); err != nil {
		t.Fatal(err)
	}
	if warns() {
		t.Error("the vehicle warns of what was resolved")
	}
	w.do("POST", "/v1/bookings/"+booking+"/pickup", `{"mileage_mi":10}`).ok(200)
}

// However many archive, retire and change a vehicle at once, one that is archived or retired holds its own calendar,
// and no other does.
func TestArchivingAtOnceLeavesTheHold(t *testing.T) {
	w := newWorld(t)
	for i := range 24 {
		vehicle := w.vehicle(`{"make":"A","model":"B","disposal_on":"2026-01-01"}`)
		path := "/v1/vehicles/" + vehicle
		requests := [][]string{{"DELETE", path, "", "If-Match", `"r1"`}, {"DELETE", path, "", "If-Match", `"r2"`},
			{"PATCH", path, `{"color":"red"}`}}
		if i%2 == 0 {
			requests = append(requests, []string{"POST", path + "/status", `{"status":"retired","reason":"sold"}`, "If-Match",
				`"r1"`}, []string{"DELETE", path, ""})
		}
		var all sync.WaitGroup
		for _, r := range requests {
			all.Go(func() { w.do(r[0], r[1], r[2], r[3:]...) })
		}
		all.Wait()
		shown := w.do("GET", path, "").ok(200).object()
		left := shown["archived_at"] != nil || shown["status"] == record.VehicleRetired
		holds, err := w.api.desk.Calendars.Of(t.Context(), w.account, vehicleID(t, vehicle))
		if err != nil || left != (len(holds) > 0) {
			t.Errorf("vehicle %d: archived at %v, %v, and holds %v, %v", i, shown["archived_at"], shown["status"], holds, err)
		}
		if listed := w.do("GET", path+"/calendar", "").ok(200).object()["holds"].([]any); len(listed) != min(len(holds), 1) {
			t.Errorf("vehicle %d is shown with %v", i, listed)
		}
	}
}
