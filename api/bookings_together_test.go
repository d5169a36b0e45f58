package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/desk/bulk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/transfer"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
)

// work does what imports and exports there are.
func (w *world) work() {
	w.t.Helper()
	w.doJobs(w.api)
}

// bringIn imports a file and returns the job when it is done.
func (w *world) bringIn(params, file string) map[string]any {
	w.t.Helper()
	kind := "text/csv"
	if strings.Contains(params, "jsonl") {
		kind = "application/x-ndjson"
	}
	made := w.do("POST", "/v1/imports?"+params, file, "Content-Type", kind).ok(202)
	if home := made.header.Get("Location"); home != "/v1/jobs/"+made.id() {
		w.t.Errorf("Location %q", home)
	}
	w.work()
	for _, e := range w.do("GET", "/v1/jobs/"+made.id()+"/errors", "").data() {
		w.t.Logf("row %v: %v %v", e["row"], e["code"], e["errors"])
	}
	return w.do("GET", "/v1/jobs/"+made.id(), "").ok(200).object()
}

func outcome(job map[string]any) string {
	progress, result := job["progress"].(map[string]any), job["result"].(map[string]any)
	return fmt.Sprint(job["status"], " ", progress["done"], "/", progress["total"], " ", result["succeeded"], "+",
		result["failed"])
}

// oneByOne is a kind of record of which imports make one after the other, but for those that are made together.
type oneByOne struct {
	rest.Transferable
	together bool // some are
}

func (o oneByOne) TogetherBy() (string, int) {
	if o.together {
		by, _ := o.Transferable.TogetherBy()
		return by, 8 // so that there are several lots
	}
	return "", 0
}

func (o oneByOne) ImportRows(r *http.Request, t *record.Transfer, rows []*rest.ImportRow) {
	for _, row := range rows {
		o.Transferable.ImportRows(r, t, []*rest.ImportRow{row})
	}
}

// importWorld is a lot with more cars and customers, of which each thing has a name.
type importWorld struct {
	*lotWorld
	told  *keptEvents
	names map[string]string // by the numbers of ids
	ids   map[string]string // by names
}

func newImportWorld(t *testing.T) *importWorld {
	t.Helper()
	told := &keptEvents{}
	w := &importWorld{lotWorld: lotIn(newWorld(t, func(_ *rest.Config, d *Deps) { d.Events = told })), told: told,
		names: map[string]string{}, ids: map[string]string{}}
	l := w.lotWorld
	suv := made(l, l.api.desk.Classes, record.VehicleClass{Name: "SUV", RatePlanID: l.plan})
	car := func(class string, status string) string {
		return made(l, l.api.desk.Vehicles, record.Vehicle{VehicleFields: record.VehicleFields{Make: "A", Model: "B",
			ClassID: class, HomeLocationID: l.place, DailyRate: money(7000)}, Status: status})
	}
	banned := record.Customer{CustomerFields: record.CustomerFields{DisplayName: "Max Mad", Email: "mad@example.com"},
		DoNotRent: &record.DoNotRent{Active: true}}
	like := record.Customer{CustomerFields: record.CustomerFields{DisplayName: "Max Mad", DateOfBirth: "1990-01-02"}}
	for name, id := range map[string]string{"account": l.account.String(), "place": l.place, "compact": l.class,
		"plan": l.plan, "car1": l.car, "car2": car(l.class, record.VehicleAvailable),
		"car3": car("", record.VehicleAvailable), "suv": suv, "car4": car(suv, record.VehicleAvailable),
		"retired": car(l.class, record.VehicleRetired), "ada": l.customer, "banned": made(l, l.api.desk.Customers, banned),
		"like": made(l, l.api.desk.Customers, like)} {
		w.name(name, id)
	}
	w.name("taken", w.do("POST", "/v1/bookings", w.row(`"vehicle_id":"car3","customer_id":"ada","channel":"turo",
		"external_reservation_id":"R0"`, 900, 901)).ok(201).id())
	w.name("of the class", w.do("POST", "/v1/bookings", w.row(`"vehicle_class_id":"suv","customer_id":"ada"`, 100,
		120)).ok(201).id())
	return w
}

func (w *importWorld) name(name, id string) {
	_, number, ok := strings.Cut(id, "_")
	if !ok {
		number = id
	}
	w.names[number], w.ids[name] = name, id
}

// importBegin is when the rows of a test begin, the same in each world.
var importBegin = time.Now().UTC().Truncate(time.Hour).Add(48 * time.Hour)

// named are the names that stand as values in a row.
var named = regexp.MustCompile(`:"([a-z0-9]+)"`)

// row is a line of a file: members with names in the place of ids, and a time in hours after the begin.
func (w *importWorld) row(members string, from, until int) string {
	at := func(hours int) string { return importBegin.Add(time.Duration(hours) * time.Hour).Format(time.RFC3339) }
	members = named.ReplaceAllStringFunc(strings.ReplaceAll(members, "\n", ""), func(text string) string {
		if id := w.ids[text[2:len(text)-1]]; id != "" {
			return `:"` + id + `"`
		}
		return text
	})
	return fmt.Sprintf(`{%s,"pickup_at":%q,"return_at":%q}`, members, at(from), at(until))
}

// rows are of all sorts.
func (w *importWorld) rows() string {
	many := []string{
		w.row(`"vehicle_id":"car1","customer_id":"ada","confirm":true`, 0, 24),
		w.row(`"vehicle_id":"car1","customer_id":"ada","hold_minutes":600,"notes":"calls"`, 30, 50),
		w.row(`"vehicle_id":"car1","customer_id":"ada"`, 12, 20), // taken by row 1
		w.row(`"vehicle_id":"car1","customer_id":"ada"`, 24, 28), // in its buffer
		w.row(`"vehicle_id":"car2","customer_id":"ada","channel":"turo","external_reservation_id":"R1"`, 0, 10),
		w.row(`"vehicle_id":"car3","customer_id":"ada","channel":"turo","external_reservation_id":"R0"`, 0, 10),  // has it
		w.row(`"vehicle_id":"car2","customer_id":"ada","channel":"turo","external_reservation_id":"R1"`, 50, 60), // row 5
		w.row(`"vehicle_id":"veh_1","customer_id":"ada"`, 0, 10),
		w.row(`"vehicle_id":"car2","customer_id":"cus_1"`, 70, 80),
		w.row(`"vehicle_id":"car2","customer_id":"banned","confirm":true`, 70, 80),
		w.row(`"vehicle_id":"car2","customer_id":"like","confirm":true`, 90, 99),
		w.row(`"vehicle_class_id":"compact","customer_id":"ada","pickup_location_id":"place"`, 200, 220),
		w.row(`"vehicle_class_id":"suv","customer_id":"ada"`, 110, 130), // the class is full
		w.row(`"vehicle_id":"car4","customer_id":"ada"`, 90, 115),       // and needs its car
		w.row(`"vehicle_id":"car4","customer_id":"ada","confirm":true`, 10, 20),
		w.row(`"vehicle_id":"car3","customer_id":"ada","confirm":true`, -500, -480),
		w.row(`"vehicle_id":"car3","customer_id":"ada","confirm":"perhaps"`, 20, 30),
		w.row(`"vehicle_id":"car3","customer_id":"ada"`, 40, 30),
		w.row(`"vehicle_id":"retired","customer_id":"ada"`, 0, 10),
		w.row(`"vehicle_id":"car3","customer_id":"ada","rate_plan_id":"plan","external_refs":[{"system":"old","id":"7"}]`,
			300, 340),
		`{"vehicle_id":`,
		w.row(`"vehicle_id":"car3","customer_id":"ada","id":"bkg_7","status":"completed","metadata":{"a":"b"}`, 400, 440),
		w.row(`"vehicle_id":null,"vehicle_class_id":"compact","customer_id":"ada"`, 500, 520),
	}
	return strings.Join(many, "\n")
}

// chanceAndTime is what is drawn, and when something was done.
var chanceAndTime = regexp.MustCompile(`"bid":[0-9]+|[A-Z]-[0-9]{4,}|(chg|key)_[0-9]+|"(at|status_since|confirmed_at|` +
	`licence_checked_at|hold_expires_at|expires|posted_at|changed_at|quoted_at|booked_at)":"[^"]*"`)

// idNumbers are those of ids.
var idNumbers = regexp.MustCompile(`[0-9]{9,}`)

// alike is a text with names for ids, and without what differs by chance.
func (w *importWorld) alike(text string) string {
	return idNumbers.ReplaceAllStringFunc(chanceAndTime.ReplaceAllString(text, ""), func(number string) string {
		if name := w.names[number]; name != "" {
			return "<" + name + ">"
		}
		return number
	})
}

// lines are the rows of a query, made alike, in order.
func (w *importWorld) lines(query string) []string {
	w.t.Helper()
	all, err := schemas.AllRows(w.t.Context(), w.db, "look", query, nil,
		func(text *string, row schemas.Row) error { return row.Scan(text) })
	if err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	for i := range all {
		all[i] = w.alike(all[i])
	}
	slices.Sort(all)
	return all
}

// comesTo is all that an import of rows comes to.
func (w *importWorld) comesTo(file string) map[string][]string {
	w.t.Helper()
	job := w.bringIn("kind=bookings&format=jsonl", file)
	id, err := fleet.ParseID(fleet.JobPrefix, job["id"].(string))
	if err != nil {
		w.t.Fatal(err)
	}
	rec, err := record.NewLog(w.api.Store, record.Jobs).Get(w.t.Context(), w.account, id)
	if err != nil {
		w.t.Fatal(err)
	}
	all := map[string][]string{"outcome": {outcome(job)}}
	for row := 1; row <= strings.Count(file, "\n")+1; row++ {
		w.name(fmt.Sprint("row ", row), fleet.FormatID(fleet.BookingPrefix, transfer.RowID(&rec, row)))
	}
	for _, e := range w.do("GET", "/v1/jobs/"+job["id"].(string)+"/errors", "").data() {
		all["errors"] = append(all["errors"],
			w.alike(fmt.Sprint(e["row"], " ", e["code"], " ", e["detail"], " ", e["errors"])))
	}
	if err := w.api.Store.Close(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	for what, query := range map[string]string{
		"log": `SELECT concat(toString(id), ' ', toString(revision), ' ', action, ' ', actor, ' ', body) FROM record_log
			WHERE kind = 'booking'`,
		"listed": "SELECT concat(toString(id), ' ', status, ' ', toString(pickup_at), body) FROM bookings FINAL",
		"calendars": `SELECT concat(kind, ' ', toString(id), ' ', argMax(body, revision)) FROM record_log
			WHERE kind IN ('calendar', 'class_calendar') GROUP BY kind, id`,
		"held": "SELECT concat(kind, ' ', toString(id), ' ', arrayJoin(hold_refs)) FROM calendars FINAL",
		"claims": `SELECT concat(field, ' ', value, ' ', toString(argMax(owner, revision))) FROM claim_log
			WHERE field LIKE 'booking%' GROUP BY field, value`,
		"entries": `SELECT concat(toString(local_date), ' ', ledger_account, ' ', toString(amount), ' ', toString(booking))
			FROM ledger_entries FINAL`,
		"unsettled": `SELECT concat(kind, ' ', toString(id)) FROM record_log WHERE kind IN ('booking', 'calendar') AND
			(account, kind, id, revision) NOT IN (SELECT account, kind, id, revision FROM record_settled)`,
		"doubled": "SELECT toString(id) FROM record_log GROUP BY kind, id, revision HAVING count() > 1",
	} {
		all[what] = w.lines(query)
	}
	w.told.mu.Lock()
	defer w.told.mu.Unlock()
	for _, e := range w.told.all {
		if e.Kind == "booking" {
			all["told"] = append(all["told"], w.alike(fmt.Sprint(e.Type, " ", e.Object, " ", e.Vehicle, " ", string(e.Body))))
		}
	}
	slices.Sort(all["told"])
	for name, id := range w.ids {
		if strings.HasPrefix(name, "row ") {
			if timeline := w.do("GET", "/v1/bookings/"+id+"/timeline", ""); timeline.status == http.StatusOK {
				all["timelines"] = append(all["timelines"], w.alike(name+" "+string(timeline.body)))
			}
		}
	}
	slices.Sort(all["timelines"])
	return all
}

// What an import makes together, in memory and in large inserts, is what it makes one after the other, of rows of all
// sorts: with and without a vehicle, that overlap, of people who may not rent, that are wrong in themselves; and the
// rows that are refused are refused in the same words.
func TestBookingsThatAreMadeTogetherAreWhatSingleOnesAre(t *testing.T) {
	slow := newImportWorld(t)
	slow.api.Transfers["bookings"] = oneByOne{slow.api.Transfers["bookings"], false}
	want := slow.comesTo(slow.rows())
	fast := newImportWorld(t)
	fast.api.Transfers["bookings"] = oneByOne{fast.api.Transfers["bookings"], true}
	got := fast.comesTo(fast.rows())
	for what := range want {
		if len(want[what]) == 0 && what != "entries" && what != "unsettled" && what != "doubled" {
			t.Errorf("%s: there are none, so this proves nothing", what)
		}
		if diff := cmp.Diff(want[what], got[what]); diff != "" {
			t.Errorf("%s: one by one (-) and together (+):\n%s", what, diff)
		}
	}
	// Imported bookings lie where those lie that are made now: an insert of many is one part of their table, or two.
	if parts := fast.lines("SELECT DISTINCT partition FROM system.parts WHERE database = currentDatabase() AND table = 'bookings'"); len(parts) > 2 {
		t.Errorf("the bookings are in %d parts of their table: %v", len(parts), parts)
	}
	// Each vehicle's bookings came at once, of which the calendar's revision tells.
	if n := fast.lines("SELECT toString(max(revision)) FROM record_log WHERE kind = 'calendar'"); n[0] > "9" {
		t.Errorf("a calendar has %s revisions, as if its bookings had been made one by one", n[0])
	}
}

// drafted is a draft of bookings of car1 as an import makes them, decided and not written.
func (w *importWorld) drafted(ctx context.Context, by record.Author, ids []uint64, rows ...record.BookingFields) (
	*bulk.Bulk, *bulk.Draft) {
	w.t.Helper()
	var refs []record.Ref
	var values []record.Claim
	for i := range rows {
		values = append(values, record.Bookings.Claims(&record.Booking{BookingFields: rows[i]})...)
		refs = append(append(refs, w.api.desk.Refs(w.account, &rows[i])...),
			record.Ref{Kind: record.Bookings.Name, ID: ids[i]})
	}
	much, err := bulk.Among(ctx, w.api.desk, w.account, refs, values)
	if err != nil {
		w.t.Fatal(err)
	}
	vehicle, err := fleet.ParseID(fleet.VehiclePrefix, rows[0].VehicleID)
	if err != nil {
		w.t.Fatal(err)
	}
	d, err := much.Draft(record.Ref{Kind: calendar.Kind.Name, ID: vehicle}, nil, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range rows {
		if _, err := d.Book(ctx, by, w.account, desk.BookRequest{ID: ids[i], Fields: rows[i], Confirm: true}); err != nil {
			w.t.Fatal(err)
		}
	}
	return much, d
}

// fields are those of a booking, from and until so many hours after the begin.
func (w *importWorld) fields(car string, from, until int) record.BookingFields {
	return record.BookingFields{VehicleID: w.ids[car], CustomerID: w.customer,
		PickupAt: record.InstantOf(importBegin.Add(time.Duration(from) * time.Hour)),
		ReturnAt: record.InstantOf(importBegin.Add(time.Duration(until) * time.Hour))}
}

// A process that dies while it makes bookings together leaves nothing half there, wherever it dies: whoever goes on
// with the import makes those that are not there, none twice, and what follows from them follows.
func TestAnImportThatDiesMakesNoBookingTwiceAndLeavesNoneHalfThere(t *testing.T) {
	for _, died := range []string{"before it wrote", "when calendars were held", "when the log was written",
		"before rows were noted"} {
		t.Run(died, func(t *testing.T) {
			w := newImportWorld(t)
			const bookings = 6
			var file []string
			var fields []record.BookingFields
			for i := range bookings {
				members, one := `"vehicle_id":"car1","customer_id":"ada","confirm":true`, w.fields("car1", 30*i, 30*i+20)
				if i%2 == 0 {
					one.Channel, one.ExternalReservationID = "turo", fmt.Sprint("D", i)
					members += fmt.Sprintf(`,"channel":"turo","external_reservation_id":"D%d"`, i)
				}
				file = append(file, w.row(members, 30*i, 30*i+20))
				fields = append(fields, one)
			}
			job := w.do("POST", "/v1/imports?kind=bookings&format=jsonl", strings.Join(file, "\n"), "Content-Type",
				"application/x-ndjson").ok(202).id()
			open, err := query.OpenTransfers(t.Context(), w.db, w.api.Now())
			if err != nil || len(open) != 1 {
				t.Fatal(open, err)
			}
			l, err := w.api.transfer.Lease(t.Context(), open[0])
			if err != nil {
				t.Fatal(err)
			}
			ctx := w.api.transfer.OnBehalf(t.Context(), &l.Rec)
			by := rest.Author(transfer.AsItself(ctx, "/v1/bookings"))
			var ids []uint64
			for i := range bookings {
				ids = append(ids, transfer.RowID(&l.Rec, i+1))
			}
			much, d := w.drafted(ctx, by, ids, fields...)
			switch died {
			case "when calendars were held":
				if _, err := w.api.Store.Hold(ctx, d.Decided); err != nil {
					t.Fatal(err)
				}
			case "when the log was written":
				if moved, err := w.api.Store.Hold(ctx, d.Decided); err != nil || moved[0] != nil {
					t.Fatal(moved, err)
				}
				if err := d.Decided.Write(ctx); err != nil {
					t.Fatal(err)
				}
			case "before rows were noted":
				if moved, err := much.Write(ctx, d); err != nil || len(moved) > 0 {
					t.Fatal(moved, err)
				}
			}
			w.clock.Add(int64(2 * transfer.LeaseTime))
			deps := Deps{Deps: w.api.Deps, Events: w.told}
			deps.Metrics = nil
			other, err := New(w.api.Config, deps)
			if err != nil {
				t.Fatal(err)
			}
			other.transfer.WorkOn(t.Context(), open[0])
			for _, duty := range []string{"mend", "settle"} {
				if err := other.desk.Duty(t.Context(), duty); err != nil {
					t.Fatal(err)
				}
			}
			if err := other.Store.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantEqual(t, "job", outcome(w.do("GET", "/v1/jobs/"+job, "").object()), "done 6/6 6+0")
			wantEqual(t, "bookings", w.do("GET", "/v1/bookings?vehicle_id="+w.ids["car1"], "").ok(200).pagination().Total,
				bookings)
			for i, id := range ids {
				text := fleet.FormatID(fleet.BookingPrefix, id)
				wantEqual(t, fmt.Sprint("revision of row ", i+1), w.do("GET", "/v1/bookings/"+text, "").object()["revision"], 1.0)
				w.told.check(t, text, "booking.created", "booking.confirmed", "deposit.required")
			}
			if all := w.lines("SELECT toString(id) FROM record_log GROUP BY kind, id, revision HAVING count() > 1"); all != nil {
				t.Errorf("revisions have two rows: %v", all)
			}
			// Somebody else gets none of it, and what was given up is free.
			w.do("POST", "/v1/bookings", w.row(`"vehicle_id":"car1","customer_id":"ada"`, 40, 45)).refused()
			w.do("POST", "/v1/bookings/"+fleet.FormatID(fleet.BookingPrefix, ids[1])+"/cancel",
				`{"cancelled_by":"customer"}`).ok(200)
			w.do("POST", "/v1/bookings", w.row(`"vehicle_id":"car1","customer_id":"ada"`, 40, 45)).ok(201)
		})
	}
}

// Bookings of several vehicles, once the calendars of these have them, are one insert into the log. It is none if
// somebody has written the first of the calendars since: then each vehicle's bookings stand or do not by themselves.
// What comes to another calendar does no harm, as little as to a booking that is made alone. The third car is of no
// class, so that nothing need be held before: its bookings are an insert of their own, and it had two revisions.
func TestBookingsOfSeveralVehiclesAreOneInsertOnceTheirCalendarsHaveThem(t *testing.T) {
	cars := []string{"car1", "car2", "car3"}
	for _, meanwhile := range []struct {
		comes   string // to which calendar
		stands  string
		written string // how often each calendar
	}{
		{"none", "car1 car2 car3", "<car1> 2, <car2> 1, <car3> 3"},
		{"car2", "car1 car2 car3", "<car1> 2, <car2> 2, <car3> 3"},
		{"car1", "car2 car3", "<car1> 2, <car2> 2, <car3> 3"},
	} {
		t.Run("comes to "+meanwhile.comes, func(t *testing.T) {
			w := newImportWorld(t)
			var drafts []*record.Draft
			var ids []uint64
			for i, car := range cars {
				id, fields := w.api.Store.NextID(), w.fields(car, 100+i, 110+i)
				fields.Channel, fields.ExternalReservationID = "turo", "of "+car
				_, d := w.drafted(t.Context(), record.Author{Actor: "test"}, []uint64{id}, fields)
				drafts, ids = append(drafts, d.Decided), append(ids, id)
			}
			errs, err := w.api.Store.Hold(t.Context(), drafts...)
			if err != nil || errs[0] != nil || errs[1] != nil || errs[2] != nil {
				t.Fatal(errs, err)
			}
			if meanwhile.comes != "none" {
				w.do("POST", "/v1/bookings", w.row(fmt.Sprintf(`"vehicle_id":%q,"customer_id":"ada"`, meanwhile.comes),
					400, 410)).ok(201)
			}
			if err := w.api.Store.WriteDrafts(t.Context(), drafts, errs); err != nil {
				t.Fatal(err)
			}
			var stands []string
			for i, car := range cars {
				switch {
				case errs[i] == nil:
					stands = append(stands, car)
				case !errors.Is(errs[i], record.ErrMoved):
					t.Fatal(car, errs[i])
				}
				_, err := w.api.desk.Bookings.Get(t.Context(), w.account, ids[i])
				if found := err == nil; found != (errs[i] == nil) {
					t.Errorf("%s: %v, and its booking is there: %t", car, errs[i], found)
				}
			}
			wantEqual(t, "of which bookings stand", strings.Join(stands, " "), meanwhile.stands)
			wantEqual(t, "calendars that were written", strings.Join(w.lines(`SELECT concat(toString(id), ' ', toString(count()))
				FROM record_log WHERE kind = 'calendar' GROUP BY id`), ", "), meanwhile.written)
			for i, car := range cars { // what those have claimed that do not stand is free again
				again := w.do("POST", "/v1/bookings", w.row(fmt.Sprintf(`"vehicle_id":%q,"customer_id":"ada","channel":"turo",
					"external_reservation_id":"of %s"`, car, car), 600, 610))
				if errs[i] == nil {
					again.refused()
				} else {
					again.ok(201)
				}
			}
		})
	}
}

// Two processes make the same bookings of two vehicles, as when a lease has lapsed, and one of them writes between two
// steps of the other: nothing is written twice, and what stands keeps its vehicle.
func TestWhoMakesWhatAnotherMakesWritesNothingTwice(t *testing.T) {
	by := record.Author{Actor: "test"}
	for _, order := range []struct{ says, first, second string }{
		{"who holds first writes last", "hold", "decide, write"},
		{"who decides first writes last", "decide", "hold, write"},
		{"who holds first writes while the other decides", "hold", "decide"},
	} {
		t.Run(order.says, func(t *testing.T) {
			w := newImportWorld(t)
			ids := []uint64{w.api.Store.NextID(), w.api.Store.NextID()}
			type process struct {
				much   *bulk.Bulk
				drafts []*bulk.Draft
				below  []*record.Draft
				errs   []error
			}
			decide := func() *process {
				much, one := w.drafted(t.Context(), by, ids[:1], w.fields("car1", 100, 110))
				_, other := w.drafted(t.Context(), by, ids[1:], w.fields("car2", 100, 110))
				return &process{much, []*bulk.Draft{one, other}, []*record.Draft{one.Decided, other.Decided}, nil}
			}
			hold := func(p *process) *process {
				var err error
				if p.errs, err = w.api.Store.Hold(t.Context(), p.below...); err != nil || p.errs[0] != nil || p.errs[1] != nil {
					t.Fatal(p.errs, err)
				}
				return p
			}
			write := func(p *process) (moved int) {
				some, err := p.much.Write(t.Context(), p.drafts...)
				if err != nil {
					t.Fatal(err)
				}
				return len(some)
			}
			writeHeld := func(p *process) (moved int) {
				if err := w.api.Store.WriteDrafts(t.Context(), p.below, p.errs); err != nil {
					t.Fatal(err)
				}
				for _, err := range p.errs {
					if errors.Is(err, record.ErrMoved) {
						moved++
					}
				}
				return moved
			}
			var moved int
			switch order.first + ": " + order.second {
			case "hold: decide, write":
				first := hold(decide())
				if n := write(decide()); n > 0 {
					t.Fatalf("%d moved of what nobody disturbed", n)
				}
				moved = writeHeld(first)
			case "decide: hold, write":
				first := decide()
				if n := writeHeld(hold(decide())); n > 0 {
					t.Fatalf("%d moved of what nobody disturbed", n)
				}
				moved = write(first)
			case "hold: decide":
				first := hold(decide())
				second := decide()
				if n := writeHeld(first); n > 0 {
					t.Fatalf("%d moved of what nobody disturbed", n)
				}
				moved = write(second)
			}
			wantEqual(t, "moved of who was late", moved, 2)
			if all := w.lines(`SELECT toString(id) FROM record_log
				GROUP BY kind, id, revision HAVING count() > 1`); all != nil {
				t.Errorf("revisions have two rows: %v", all)
			}
			for _, car := range []string{"car1", "car2"} {
				row := w.row(fmt.Sprintf(`"vehicle_id":%q,"customer_id":"ada"`, car), 105, 108)
				w.do("POST", "/v1/bookings", row).refused()
			}
		})
	}
}

// A draft of a made-up past, as the demo's are, holds its calendar by a clock of long ago, so that anybody may take
// what it holds until it stands: whether somebody has is for that very calendar to say.
func TestDraftsOfAPastAreWrittenUponTheirOwnCalendars(t *testing.T) {
	w := newImportWorld(t)
	longAgo := func() time.Time { return time.Now().Add(-100 * time.Hour) }
	var drafts []*record.Draft
	for _, car := range []string{"car1", "car2"} {
		fields := w.fields(car, 100, 110)
		much, err := bulk.Among(t.Context(), w.api.desk, w.account, w.api.desk.Refs(w.account, &fields), nil)
		if err != nil {
			t.Fatal(err)
		}
		vehicle, err := fleet.ParseID(fleet.VehiclePrefix, fields.VehicleID)
		if err != nil {
			t.Fatal(err)
		}
		d, err := much.Draft(record.Ref{Kind: calendar.Kind.Name, ID: vehicle}, nil, longAgo)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Book(t.Context(), record.Author{Actor: "test"}, w.account,
			desk.BookRequest{ID: w.api.Store.NextID(), Fields: fields, Confirm: true}); err != nil {
			t.Fatal(err)
		}
		drafts = append(drafts, d.Decided)
	}
	errs, err := w.api.Store.Hold(t.Context(), drafts...)
	if err != nil || errs[0] != nil || errs[1] != nil {
		t.Fatal(errs, err)
	}
	w.do("POST", "/v1/bookings", w.row(`"vehicle_id":"car2","customer_id":"ada"`, 105, 108)).ok(201)
	if err := w.api.Store.WriteDrafts(t.Context(), drafts, errs); err != nil {
		t.Fatal(err)
	}
	if errs[0] != nil || !errors.Is(errs[1], record.ErrMoved) {
		t.Errorf("%v, want nothing and that something has moved", errs)
	}
}

// A booking of a class without a vehicle, and one of the class's only car that is made in memory, do not both get it,
// whichever comes first: the one looks at the calendar of the class when its own hold can be seen, and so does the
// other.
func TestWhatIsDecidedInMemoryLeavesAClassWhatItHasPromised(t *testing.T) {
	w := newImportWorld(t)
	ofClass := w.row(`"vehicle_class_id":"suv","customer_id":"ada"`, 300, 320)
	draft := func(from, until int) (*bulk.Bulk, *bulk.Draft) {
		return w.drafted(t.Context(), record.Author{Actor: "test"}, []uint64{w.api.Store.NextID()},
			w.fields("car4", from, until))
	}
	// The class is booked when the draft is decided, and before that is held.
	much, d := draft(310, 330)
	first := w.do("POST", "/v1/bookings", ofClass).ok(201).id()
	if moved, err := much.Write(t.Context(), d); err != nil || len(moved) != 1 {
		t.Fatalf("the class has promised its only car, and the draft stands: %d moved, %v", len(moved), err)
	}
	found := w.do("GET", "/v1/bookings?vehicle_id="+w.ids["car4"], "").ok(200).pagination().Total
	wantEqual(t, "bookings of the car", found, 0)
	w.do("POST", "/v1/bookings/"+first+"/cancel", `{"cancelled_by":"customer"}`).ok(200)
	// What it held was given back: somebody else gets the car at once.
	again := w.do("POST", "/v1/bookings", w.row(`"vehicle_id":"car4","customer_id":"ada"`, 310, 330)).ok(201).id()
	w.do("POST", "/v1/bookings/"+again+"/cancel", `{"cancelled_by":"customer"}`).ok(200)
	// The class is booked when the draft has its hold, and is not written.
	_, d = draft(510, 530)
	if moved, err := w.api.Store.Hold(t.Context(), d.Decided); err != nil || moved[0] != nil {
		t.Fatal(moved, err)
	}
	w.do("POST", "/v1/bookings", w.row(`"vehicle_class_id":"suv","customer_id":"ada"`, 500, 520)).refused()
	if err := d.Decided.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A draft that nobody has disturbed stands, and the class knows of it.
	much, d = draft(610, 630)
	if moved, err := much.Write(t.Context(), d); err != nil || len(moved) > 0 {
		t.Fatal(len(moved), err)
	}
	w.do("POST", "/v1/bookings", w.row(`"vehicle_class_id":"suv","customer_id":"ada"`, 600, 620)).refused()
}
