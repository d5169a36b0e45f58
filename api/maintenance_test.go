//go:build long

package api

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// garage is a world with a second process on the same database, and a service task.
type garage struct {
	*world
	second *API
	task   string
}

func newGarage(t *testing.T) *garage {
	t.Helper()
	w := newWorld(t)
	cfg := rest.DefaultConfig()
	cfg.Record = record.Config{Deadline: 50 * time.Second, Abandoned: 100 * time.Second}
	second, err := New(cfg,
		Deps{Deps: rest.Deps{DB: w.db, IDs: fleet.NewIDSource(2, time.Now), Log: w.api.Log, Now: w.api.Now}})
	if err != nil {
		t.Fatal(err)
	}
	g := &garage{world: w, second: second}
	g.task = w.do("POST", "/v1/maintenance/tasks",
		`{"name":"Oil change","category":"engine","every_mi":5000}`).ok(201).id()
	return g
}

// odometer reports a mileage as the pipeline does: the state of the counter, and the reading.
func (g *garage) odometer(vehicle string, miles float64) {
	g.t.Helper()
	id, _ := fleet.ParseID(fleet.VehiclePrefix, vehicle)
	at, metres := g.api.Now().UnixMilli(), miles*1609.344
	g.exec("INSERT INTO vehicle_mileage (account, vehicle, time, raw_m, base_m, before_m) SELECT {a:UInt64}, {v:UInt64}, fromUnixTimestamp64Milli({t:Int64}, 'UTC'), toUInt32({x:Float64}), 0, 0",
		clickhouse.Named("a", uint64(g.account)), clickhouse.Named("v", id), clickhouse.Named("t", at),
		clickhouse.Named("x", metres))
	g.exec("INSERT INTO telemetry (account, vehicle, signal, time, value) SELECT {a:UInt64}, {v:UInt64}, 'odometer_m', fromUnixTimestamp64Milli({t:Int64}, 'UTC'), {x:Float64}",
		clickhouse.Named("a", uint64(g.account)), clickhouse.Named("v", id), clickhouse.Named("t", at),
		clickhouse.Named("x", metres))
}

// remind has both processes do their duty at once, several times over.
func (g *garage) remind(all bool) {
	g.t.Helper()
	g.later(time.Second) // what was written until now is older than the round
	var work sync.WaitGroup
	for _, a := range []*API{g.api, g.second, g.api, g.second} {
		work.Go(func() {
			if err := a.desk.Workshop.Remind(g.t.Context(), all); err != nil {
				g.t.Error(err)
			}
		})
	}
	work.Wait()
}

// later moves the clock.
func (g *garage) later(d time.Duration) { g.clock.Add(int64(d)) }

// reminder returns the newest reminder of a vehicle.
func (g *garage) reminder(vehicle string) map[string]any {
	g.t.Helper()
	all := g.do("GET", "/v1/maintenance/reminders?sort=-cycle&vehicle_id="+vehicle, "").data()
	if len(all) == 0 {
		g.t.Fatal("there is no reminder")
	}
	return all[0]
}

func TestMaintenanceFollowsTheOdometer(t *testing.T) {
	g := newGarage(t)
	van := g.vehicle(`{"make":"A","model":"B"}`)
	g.odometer(van, 10_000)
	schedule := g.do("POST", "/v1/maintenance/schedules",
		`{"task_id":"`+g.task+`","vehicle_id":"`+van+`","due_soon_mi":500,"anchor":{"mi":10000},
		"auto_create_work_order":true,"block_vehicle_when_overdue":true}`).ok(201).id()
	g.remind(false)
	rem := g.reminder(van)
	path := "/v1/maintenance/reminders/" + rem["id"].(string)
	wantEqual(t, "schedule", rem["schedule_id"], schedule)
	wantEqual(t, "due", rem["due_mi"], 15000.0)
	id, _ := fleet.ParseID(fleet.VehiclePrefix, van)

	revisions := 1
	for _, c := range []struct {
		miles       float64
		stage, told string
	}{
		{10_100, "upcoming", "[]"}, {14_499, "upcoming", "[]"}, {14_500.5, "due_soon", "[due_soon]"},
		{14_900, "due_soon", "[due_soon]"}, {15_000.5, "due", "[due_soon due]"}, {15_400, "due", "[due_soon due]"},
		{15_501, "overdue", "[due_soon due overdue]"},
		{16_000, "overdue", "[due_soon due overdue]"},
	} {
		g.later(3 * time.Hour)
		g.odometer(van, c.miles)
		was := g.reminder(van)
		g.remind(false)
		g.remind(false)
		rem := g.reminder(van)
		wantEqual(t, fmt.Sprintf("stage at %g", c.miles), rem["stage"], c.stage)
		wantEqual(t, fmt.Sprintf("told at %g", c.miles), fmt.Sprint(rem["told"]), c.told)
		if was["stage"] != rem["stage"] {
			revisions++
		} else if was["revision"] != rem["revision"] {
			t.Errorf("written again at %g: %v, was %v", c.miles, rem, was)
		}
	}
	// Each piece of news is in one revision; besides it the links to the work order and the block were written.
	history := g.do("GET", path+"/history?per_page=100", "").ok(200)
	for _, stage := range []string{"due_soon", "due", "overdue"} {
		if n := strings.Count(string(history.body), `"new":"`+stage+`"`); n != 1 {
			t.Errorf("%s is news %d times: %s", stage, n, history.body)
		}
	}
	wantEqual(t, "revisions", len(history.data()), revisions+2)

	// Due, it got the draft of a work order; overdue, a block that no booking gets past.
	rem = g.reminder(van)
	work, _ := rem["work_order_id"].(string)
	orders := g.do("GET", "/v1/maintenance/work_orders?vehicle_id="+van, "").data()
	if len(orders) != 1 || orders[0]["id"] != work || orders[0]["title"] != "Oil change" ||
		orders[0]["type"] != "preventive" || orders[0]["status"] != "draft" {
		t.Fatalf("work orders %v of %v", orders, rem)
	}
	now := g.api.Now()
	booking := calendar.Hold{Ref: "bkg_77", From: record.InstantOf(now.Add(48 * time.Hour)),
		Until: record.InstantOf(now.Add(72 * time.Hour))}
	if _, err := g.api.desk.Calendars.Take(t.Context(), record.Author{}, g.account, id, booking); err == nil {
		t.Error("a booking came past the block")
	}
	// The block is not in the way of the work itself.
	at := func(d time.Duration) string { return now.Add(d).UTC().Format(time.RFC3339) }
	wo := "/v1/maintenance/work_orders/" + work
	g.do("POST", wo+"/schedule", `{"scheduled_from":"`+at(time.Hour)+`","scheduled_until":"`+at(5*time.Hour)+`"}`).ok(200)
	g.later(2 * time.Hour)
	g.do("POST", wo+"/start", "").ok(200)
	g.do("PATCH", wo, `{"lines":[{"kind":"labor","quantity":1.5,"unit_cost":{"amount":9500,"currency":"USD"}},
		{"kind":"part","unit_cost":{"amount":3333,"currency":"USD"},"tax":{"amount":275,"currency":"USD"}}]}`).ok(200)
	g.later(90 * time.Minute)
	done := g.do("POST", wo+"/complete", `{"mileage_mi":16010}`).ok(200).object()
	wantEqual(t, "total", fmt.Sprint(done["total"]), "map[amount:17858 currency:USD]")
	wantEqual(t, "downtime", done["downtime_minutes"], 90.0)

	was := g.do("GET", path, "").ok(200).object()
	wantEqual(t, "resolved", fmt.Sprint(was["stage"], was["resolved_by_work_order_id"]), "resolved"+work)
	g.remind(false)
	next := g.reminder(van)
	wantEqual(t, "next", fmt.Sprint(next["cycle"], next["stage"], next["due_mi"], next["told"]), "2upcoming21010 []")
	wantEqual(t, "reminders", len(g.do("GET", "/v1/maintenance/reminders?vehicle_id="+van, "").data()), 2)
	g.later(time.Minute)
	if _, err := g.api.desk.Calendars.Take(t.Context(), record.Author{}, g.account, id, booking); err != nil {
		t.Errorf("after the work: %v", err)
	}
}

func TestEveryMoveOfAWorkOrder(t *testing.T) {
	g := newGarage(t)
	start, end := g.api.Now().Add(-time.Hour).UTC().Format(time.RFC3339),
		g.api.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	period := `{"scheduled_from":"` + start + `","scheduled_until":"` + end + `"}`
	bodies := map[rental.WorkAction]string{rental.ScheduleWork: period, rental.HoldWork: `{"reason":"awaiting_parts"}`}
	into := map[string][]rental.WorkAction{"draft": nil, "scheduled": {"schedule"}, "in_progress": {"schedule", "start"},
		"on_hold":   {"schedule", "start", "hold"},
		"completed": {"schedule", "start", "complete"}, "cancelled": {"cancel"}}
	make := func(state string) string {
		van := g.vehicle(`{"make":"A","model":"B"}`)
		path := "/v1/maintenance/work_orders/" +
			g.do("POST", "/v1/maintenance/work_orders", `{"vehicle_id":"`+van+`"}`).ok(201).id()
		for _, a := range into[state] {
			g.do("POST", path+"/"+string(a), bodies[a]).ok(200)
		}
		return path
	}
	for _, state := range rental.WorkStates {
		path := make(state)
		var legal []rental.WorkAction
		for _, action := range []rental.WorkAction{rental.ScheduleWork, rental.StartWork, rental.HoldWork, rental.ResumeWork,
			rental.CompleteWork, rental.CancelWork} {
			_, err := rental.NextWork(1, state, action)
			if err == nil {
				legal = append(legal, action)
				continue
			}
			p := g.do("POST", path+"/"+string(action), bodies[action]).problem(409, "invalid_state_transition")
			if refused := err.(*record.TransitionError); p.CurrentState != state ||
				!slices.Equal(p.AllowedTransitions, refused.Allowed) {
				t.Errorf("%s of a %s one: %+v", action, state, p)
			}
		}
		wantEqual(t, "stays", g.do("GET", path, "").object()["status"], state)
		for i, action := range legal {
			if i > 0 {
				path = make(state)
			}
			want, _ := rental.NextWork(1, state, action)
			wantEqual(t, string(action)+" "+state,
				g.do("POST", path+"/"+string(action), bodies[action]).ok(200).object()["status"], want)
		}
	}
}

func TestAWorkOrderHoldsTheCalendar(t *testing.T) {
	g := newGarage(t)
	van := g.vehicle(`{"make":"A","model":"B"}`)
	id, _ := fleet.ParseID(fleet.VehiclePrefix, van)
	now := g.api.Now().Truncate(time.Second)
	at := func(hours int) record.Instant { return record.InstantOf(now.Add(time.Duration(hours) * time.Hour)) }
	period := func(from, until int) string {
		return fmt.Sprintf(`{"scheduled_from":%q,"scheduled_until":%q}`, at(from).Format(time.RFC3339),
			at(until).Format(time.RFC3339))
	}
	holds := func() string {
		all, err := g.api.desk.Calendars.Of(t.Context(), g.account, id)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, h := range all {
			out = append(out, fmt.Sprintf("%s %g-%g", h.Ref[:3], h.From.Sub(now).Hours(), h.Until.Sub(now).Hours()))
		}
		return strings.Join(out, ", ")
	}
	if _, err := g.api.desk.Calendars.Take(t.Context(), record.Author{}, g.account, id,
		calendar.Hold{Ref: "bkg_99", From: at(10), Until: at(20)}); err != nil {
		t.Fatal(err)
	}
	path := "/v1/maintenance/work_orders/" +
		g.do("POST", "/v1/maintenance/work_orders", `{"vehicle_id":"`+van+`"}`).ok(201).id()
	g.do("POST", path+"/schedule", "").problem(422, "validation_failed")
	g.do("POST", path+"/schedule", period(5, 3)).problem(422, "validation_failed")
	if p := g.do("POST", path+"/schedule", period(5, 15)).problem(409, "conflict"); !strings.Contains(p.Detail, "bkg_99") {
		t.Errorf("%+v does not name the booking", p)
	}
	wantEqual(t, "draft", g.do("GET", path, "").object()["status"], "draft")
	wantEqual(t, "holds", holds(), "bkg 10-20")
	g.do("POST", path+"/schedule", period(2, 10)).ok(200)
	wantEqual(t, "holds", holds(), "wo_ 2-10, bkg 10-20")
	g.do("POST", path+"/schedule", period(4, 11)).problem(409, "conflict")
	wantEqual(t, "holds after a refusal", holds(), "wo_ 2-10, bkg 10-20")
	g.do("POST", path+"/schedule", period(20, 22)).ok(200)
	wantEqual(t, "holds after moving", holds(), "bkg 10-20, wo_ 20-22")
	if got := g.do("PATCH", path, `{"scheduled_until":"`+at(30).Format(time.RFC3339)+
		`"}`).faults(); got != "/scheduled_until" {
		t.Errorf("moved by a patch: %s", got)
	}
	if got := g.do("PATCH", path, `{"vehicle_id":"`+g.vehicle(`{"make":"A","model":"C"}`)+
		`"}`).faults(); got != "/vehicle_id" {
		t.Errorf("another vehicle by a patch: %s", got)
	}
	g.do("DELETE", path, "").problem(409, "conflict")
	// To start now it needs the vehicle now, and that is with a customer from 10 on.
	g.do("POST", path+"/start", "").problem(409, "conflict")
	g.do("POST", path+"/schedule", period(2, 10)).ok(200)
	g.do("POST", path+"/start", "").ok(200)
	g.do("POST", path+"/cancel", `{"reason":"no parts"}`).ok(200)
	wantEqual(t, "holds after cancelling", holds(), "bkg 10-20")

	// A vehicle that is rented is not there to work on.
	rented := g.vehicle(`{"make":"A","model":"B"}`)
	path = "/v1/maintenance/work_orders/" +
		g.do("POST", "/v1/maintenance/work_orders", `{"vehicle_id":"`+rented+`"}`).ok(201).id()
	g.do("POST", path+"/schedule", period(-1, 1)).ok(200)
	rid, _ := fleet.ParseID(fleet.VehiclePrefix, rented)
	if _, err := g.api.desk.Vehicles.Update(t.Context(), record.Author{}, g.account, rid, 0,
		func(r *record.Record[record.Vehicle]) error {
			r.Body.Status, r.Body.StatusCause = record.VehicleRented, "bkg_5"
			return nil
		}); err != nil {
		t.Fatal(err)
	}
	if p := g.do("POST", path+"/start", "").problem(409, "conflict"); !strings.Contains(p.Detail, "bkg_5") {
		t.Errorf("%+v does not name the booking", p)
	}
}

// Work and blocks may begin in the buffer after a rental, which is there for that; bookings may not, and nobody calls
// it a conflict.
func TestWorkBeginsInTheBufferAfterARental(t *testing.T) {
	w := newLot(t)
	path := w.book(0.1, 24, `,"confirm":true`)
	order := "/v1/maintenance/work_orders/" +
		w.do("POST", "/v1/maintenance/work_orders", `{"vehicle_id":"`+w.car+`"}`).ok(201).id()
	planned := func(from, until float64) string {
		return fmt.Sprintf(`{"scheduled_from":%q,"scheduled_until":%q}`, w.in(from), w.in(until))
	}
	w.do("POST", order+"/schedule", planned(23, 25)).refused()
	w.do("POST", order+"/schedule", planned(24, 24.5)).ok(200)
	w.do("POST", path+"/extend", `{"return_at":"`+w.in(24.25)+`"}`).refused() // that time is the work's now
	w.do("POST", order+"/schedule", planned(25, 26)).ok(200)
	w.do("POST", path+"/pickup", `{"mileage_mi":10}`).ok(200)
	w.pass(23 * time.Hour)
	w.do("POST", order+"/start", "").refused() // it is not back
	w.do("POST", path+"/return", `{"mileage_mi":20}`).ok(200)
	wantEqual(t, "start", w.do("POST", order+"/start", "").ok(200).object()["status"], "in_progress")
	car := w.do("GET", "/v1/vehicles/"+w.car, "").object()
	wantEqual(t, "vehicle", fmt.Sprint(car["status"], car["next_booking_id"]), "maintenance<nil>")
	w.do("POST", path+"/reopen", "").refused() // it would take the vehicle from the work
	w.pass(10 * time.Minute)
	w.do("POST", order+"/complete", `{}`).ok(200)
	w.do("POST", "/v1/vehicles/"+w.car+"/blocks",
		fmt.Sprintf(`{"from":%q,"until":%q,"reason":"photos"}`, w.in(0.01), w.in(0.5))).ok(201)
	doDuty(t, w, "bookings: overlaps")
	wantEqual(t, "conflict", w.do("GET", path, "").object()["conflict"], false)
	w.do("POST", "/v1/bookings", w.booking(1, 5, "")).refused() // the buffer is not over, with the one before the pickup
	w.do("POST", "/v1/bookings", w.booking(1.5, 5, "")).ok(201)
}

// A rental that is past its time, and is to go on, meets the work that has begun meanwhile; so does another vehicle's
// rental that is to go on with it.
func TestAnOverdueRentalTakesNoVehicleFromWork(t *testing.T) {
	w := newLot(t)
	path := w.book(0.1, 24, `,"confirm":true`)
	order := "/v1/maintenance/work_orders/" +
		w.do("POST", "/v1/maintenance/work_orders", `{"vehicle_id":"`+w.car+`"}`).ok(201).id()
	w.do("POST", path+"/pickup", `{"mileage_mi":10}`).ok(200)
	w.pass(24 * time.Hour)
	w.do("POST", path+"/return", `{"mileage_mi":20}`).ok(200)
	w.pass(10 * time.Minute)
	w.do("POST", order+"/schedule", fmt.Sprintf(`{"scheduled_from":%q,"scheduled_until":%q}`, w.in(0), w.in(1))).ok(200)
	w.do("POST", order+"/start", "").ok(200)
	w.do("POST", path+"/reopen", "").refused()

	spare := w.newCar()
	other := w.do("POST", "/v1/bookings",
		strings.Replace(w.booking(0.1, 24, `,"confirm":true`), w.car, spare, 1)).ok(201).id()
	w.do("POST", "/v1/bookings/"+other+"/pickup", `{"mileage_mi":10}`).ok(200)
	w.pass(25 * time.Hour)
	third := w.newCar()
	w.do("POST", "/v1/vehicles/"+third+"/blocks",
		fmt.Sprintf(`{"from":%q,"until":%q,"reason":"photos"}`, w.in(0), w.in(8))).ok(201)
	w.do("POST", "/v1/bookings/"+other+"/swap_vehicle", `{"vehicle_id":"`+third+`"}`).refused()
}

// Work that was planned in the buffer after a rental leaves a late return its buffer.
func TestALateReturnKeepsItsBuffer(t *testing.T) {
	w := newLot(t)
	path := w.book(0.1, 24, `,"confirm":true`)
	w.do("POST", "/v1/vehicles/"+w.car+"/blocks",
		fmt.Sprintf(`{"from":%q,"until":%q,"reason":"photos"}`, w.in(24.1), w.in(24.2))).ok(201)
	w.do("POST", path+"/pickup", `{"mileage_mi":10}`).ok(200)
	w.pass(24*time.Hour + 30*time.Minute)
	w.wantAt("blocked until", w.do("POST", path+"/return", `{"mileage_mi":20}`).ok(200).object()["blocked_until"], 1)
	w.do("POST", "/v1/bookings", w.booking(0.6, 5, "")).refused()
	doDuty(t, w, "bookings: overlaps")
	wantEqual(t, "conflict", w.do("GET", path, "").object()["conflict"], false)
}

func TestIssuesFollowTheirWorkOrder(t *testing.T) {
	g := newGarage(t)
	van, other := g.vehicle(`{"make":"A","model":"B"}`), g.vehicle(`{"make":"A","model":"C"}`)
	vans, _ := fleet.ParseID(fleet.VehiclePrefix, van)
	others, _ := fleet.ParseID(fleet.VehiclePrefix, other)
	issue := func(vehicle, severity string) string {
		return g.do("POST", "/v1/maintenance/issues",
			`{"vehicle_id":"`+vehicle+`","severity":"`+severity+`","description":"brakes"}`).ok(201).id()
	}
	brakes, scratch, theirs := issue(van, "safety_critical"), issue(van, "low"), issue(other, "safety_critical")
	status := func(id string) string {
		i := g.do("GET", "/v1/maintenance/issues/"+id, "").ok(200).object()
		return fmt.Sprint(i["status"], " ", i["work_order_id"])
	}
	safety := func() int {
		found, err := query.OpenSafetyIssues(t.Context(), g.db, g.account, []uint64{vans, others})
		if err != nil {
			t.Fatal(err)
		}
		return len(found[vans])*10 + len(found[others])
	}
	wantEqual(t, "safety", safety(), 11)
	orders := "/v1/maintenance/work_orders"
	wantEqual(t, "another vehicle's", g.do("POST", orders, `{"vehicle_id":"`+van+`","issue_ids":["`+theirs+`"]}`).faults(),
		"/issue_ids/0")
	wantEqual(t, "nobody's", g.do("POST", orders, `{"vehicle_id":"`+van+`","issue_ids":["iss_1","x"]}`).faults(),
		"/issue_ids/0 /issue_ids/1")
	wo := g.do("POST", orders, `{"vehicle_id":"`+van+`","issue_ids":["`+brakes+`","`+scratch+`"]}`).ok(201).id()
	wantEqual(t, "linked", status(brakes), "open "+wo)
	wantEqual(t, "taken", g.do("POST", orders, `{"vehicle_id":"`+van+`","issue_ids":["`+brakes+`"]}`).faults(),
		"/issue_ids/0")
	g.do("PATCH", orders+"/"+wo, `{"issue_ids":["`+brakes+`"]}`).ok(200)
	wantEqual(t, "let go", status(scratch), "open <nil>")
	now := g.api.Now().UTC()
	period := `{"scheduled_from":"` + now.Add(-time.Minute).Format(time.RFC3339) + `","scheduled_until":"` +
		now.Add(time.Hour).Format(time.RFC3339) + `"}`
	g.do("POST", orders+"/"+wo+"/schedule", period).ok(200)
	g.do("POST", orders+"/"+wo+"/start", "").ok(200)
	wantEqual(t, "begun", status(brakes), "in_progress "+wo)
	g.do("POST", orders+"/"+wo+"/cancel", "").ok(200)
	wantEqual(t, "free again", status(brakes), "open <nil>")
	wantEqual(t, "safety", safety(), 11)
	wo = g.do("POST", orders, `{"vehicle_id":"`+van+`","issue_ids":["`+brakes+`"]}`).ok(201).id()
	g.do("POST", orders+"/"+wo+"/schedule", period).ok(200)
	g.do("POST", orders+"/"+wo+"/start", "").ok(200)
	g.do("POST", orders+"/"+wo+"/complete", "").ok(200)
	wantEqual(t, "resolved", status(brakes), "resolved "+wo)
	wantEqual(t, "safety", safety(), 1)
	// What it cost is posted: it stays.
	g.do("PATCH", orders+"/"+wo,
		`{"lines":[{"kind":"fee","unit_cost":{"amount":1,"currency":"USD"}}]}`).problem(409, "conflict")
	g.do("PATCH", orders+"/"+wo, `{"invoice_ref":"A-1"}`).ok(200)

	// By hand.
	g.do("POST", "/v1/maintenance/issues/"+scratch+"/start", "").ok(200)
	g.do("POST", "/v1/maintenance/issues/"+scratch+"/wont_fix", `{"resolution":"too small"}`).ok(200)
	g.do("POST", "/v1/maintenance/issues/"+scratch+"/resolve", `{"resolution":"x"}`).problem(409,
		"invalid_state_transition")
	g.do("POST", "/v1/maintenance/issues/"+theirs+"/resolve", `{"resolution":"done"}`).ok(200)
	wantEqual(t, "safety", safety(), 0)
	wantEqual(t, "moved to another vehicle",
		g.do("PATCH", "/v1/maintenance/issues/"+theirs, `{"vehicle_id":"`+van+`"}`).faults(), "/vehicle_id")
}

func TestSchedulesThatCannotBe(t *testing.T) {
	g := newGarage(t)
	van := g.vehicle(`{"make":"A","model":"B"}`)
	bare := g.do("POST", "/v1/maintenance/tasks", `{"name":"Look around"}`).ok(201).id()
	for body, want := range map[string]string{
		`{"vehicle_id":"` + van + `"}`:                                                            "/task_id",
		`{"task_id":"` + g.task + `"}`:                                                            "/vehicle_id",
		`{"task_id":"` + g.task + `","vehicle_id":"` + van + `","tag":"x"}`:                       "/vehicle_id",
		`{"task_id":"tsk_1","vehicle_id":"` + van + `"}`:                                          "/task_id",
		`{"task_id":"` + g.task + `","vehicle_id":"veh_1"}`:                                       "/vehicle_id",
		`{"task_id":"` + g.task + `","vehicle_class_id":"vcl_1"}`:                                 "/vehicle_class_id",
		`{"task_id":"` + bare + `","vehicle_id":"` + van + `"}`:                                   "/every_mi",
		`{"task_id":"` + g.task + `","tag":"x","anchor":{"mi":5}}`:                                "/anchor",
		`{"task_id":"` + g.task + `","tag":"x","fixed_due_on":"1960-01-01"}`:                      "/fixed_due_on",
		`{"task_id":"` + g.task + `","tag":"x","fixed_due_on":"2026-02-30"}`:                      "/fixed_due_on",
		`{"task_id":"` + g.task + `","tag":"x","every_mi":0}`:                                     "/every_mi",
		`{"task_id":"` + g.task + `","tag":"x","reminder_offsets_days":[7,-1]}`:                   "/reminder_offsets_days/1",
		`{"task_id":"` + g.task + `","tag":"x","repeat":"never"}`:                                 "/repeat",
		`{"task_id":"` + g.task + `","tag":"x","status":"paused"}`:                                "/status",
		`{"task_id":"` + g.task + `","tag":"x","anchor":{"on":"1960-01-01"},"external_refs":[1]}`: "/external_refs/0",
	} {
		if got := g.do("POST", "/v1/maintenance/schedules", body).faults(); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// Schedules of a tag take in the vehicles that have it, and let go of those that do not; days pass for both.
func TestRemindersOfATag(t *testing.T) {
	g := newGarage(t)
	one, two := g.vehicle(`{"make":"A","model":"B","tags":["vans"]}`),
		g.vehicle(`{"make":"A","model":"C","timezone":"Pacific/Auckland"}`)
	schedule := g.do("POST", "/v1/maintenance/schedules",
		`{"task_id":"`+g.task+`","tag":"vans","every_days":30,"due_soon_days":5,"reminder_offsets_days":[10]}`).ok(201).id()
	g.remind(false)
	reminders := func() string {
		var all []string
		for _, r := range g.do("GET", "/v1/maintenance/reminders?sort=cycle,created_at&schedule_id="+schedule, "").data() {
			name := map[any]string{one: "one", two: "two"}[r["vehicle_id"]]
			all = append(all, fmt.Sprint(name, " ", r["cycle"], " ", r["stage"], " ", r["told"]))
		}
		return strings.Join(all, ", ")
	}
	wantEqual(t, "reminders", reminders(), "one 1 upcoming []")
	g.do("PATCH", "/v1/vehicles/"+two, `{"tags":["vans"]}`).ok(200)
	g.remind(false)
	wantEqual(t, "two more", reminders(), "one 1 upcoming [], two 1 upcoming []")
	g.later(20 * 24 * time.Hour)
	g.remind(false)
	wantEqual(t, "ten days before", reminders(), "one 1 upcoming [offset:10], two 1 upcoming [offset:10]")

	rem := g.reminder(one)["id"].(string)
	path := "/v1/maintenance/reminders/" + rem
	g.do("POST", path+"/snooze", `{"until":"2020-01-01T00:00:00Z"}`).problem(422, "validation_failed")
	g.do("POST", path+"/snooze", `{"until":"`+g.api.Now().Add(6*24*time.Hour).UTC().Format(time.RFC3339)+`"}`).ok(200)
	g.later(5 * 24 * time.Hour)
	g.remind(false)
	wantEqual(t, "snoozed", reminders(), "one 1 due_soon [offset:10], two 1 due_soon [offset:10 due_soon]")
	g.later(25 * time.Hour)
	g.remind(false)
	wantEqual(t, "awake", reminders(), "one 1 due_soon [offset:10 due_soon], two 1 due_soon [offset:10 due_soon]")

	// Paused, nothing happens; dismissed, the next cycle counts from now; without the tag it is over.
	g.do("PATCH", "/v1/maintenance/schedules/"+schedule, `{"paused":true}`).ok(200)
	g.later(10 * 24 * time.Hour)
	g.remind(true)
	wantEqual(t, "paused", reminders(), "one 1 due_soon [offset:10 due_soon], two 1 due_soon [offset:10 due_soon]")
	g.do("PATCH", "/v1/maintenance/schedules/"+schedule, `{"paused":false}`).ok(200)
	g.do("POST", path+"/dismiss", `{"reason":"sold soon"}`).ok(200)
	g.do("POST", path+"/dismiss", `{"reason":"again"}`).problem(409, "invalid_state_transition")
	g.do("POST", path+"/snooze", `{}`).problem(409, "invalid_state_transition")
	g.do("PATCH", "/v1/vehicles/"+two, `{"tags":[]}`).ok(200)
	g.remind(false)
	wantEqual(t, "dismissed, and let go", reminders(),
		"one 1 dismissed [offset:10 due_soon], two 1 dismissed [offset:10 due_soon], one 2 upcoming []")
	// Back again, it goes on where it was: nothing was done.
	g.do("PATCH", "/v1/vehicles/"+two, `{"tags":["vans"]}`).ok(200)
	g.remind(false)
	wantEqual(t, "back", reminders(),
		"one 1 dismissed [offset:10 due_soon], two 1 dismissed [offset:10 due_soon], one 2 upcoming [], two 2 overdue [overdue]")
	// A longer interval holds for the cycle that runs.
	g.do("PATCH", "/v1/maintenance/schedules/"+schedule, `{"every_days":60}`).ok(200)
	g.remind(false)
	wantEqual(t, "changed", g.reminder(two)["stage"], "upcoming")
	open := g.do("GET", "/v1/maintenance/reminders?stage=upcoming,due_soon,due,overdue", "").data()
	if len(open) != 2 || open[0]["due_on"] == nil || open[0]["due_on"] == "" {
		t.Errorf("open %+v", open)
	}
	g.do("DELETE", "/v1/maintenance/schedules/"+schedule, "").ok(204)
	g.remind(false)
	wantEqual(t, "archived",
		len(g.do("GET", "/v1/maintenance/reminders?stage=upcoming,due_soon,due,overdue", "").data()), 0)
}
