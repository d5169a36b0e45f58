package api

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/roster"
)

// Which rate plans are in use memory says as the store does, and a booking that goes by it costs what was written last.
func TestABookingGoesByTheRatePlansInMemory(t *testing.T) {
	both, registries := twoServers(t)
	w := both[0]
	van := w.vehicle(`{"make":"A","model":"B"}`)
	renter := w.do("POST", "/v1/customers", `{"first_name":"Ada"}`).ok(201).object()["id"].(string)
	rng := rand.New(rand.NewPCG(42, 1))
	var plans []string
	for n := range 12 {
		body := fmt.Sprintf(`{"name":"P%d","currency":"USD","daily_rate":{"amount":%d,"currency":"USD"},"enabled":%v,
			"priority":%d,"channels":%s,"valid_from":%s}`, n, 1000+n, rng.IntN(4) > 0, rng.IntN(3),
			[]string{`[]`, `["direct"]`, `["turo","direct"]`}[rng.IntN(3)], []string{`null`, `"2020-01-01"`}[rng.IntN(2)])
		plans = append(plans, w.do("POST", "/v1/rate_plans", body).ok(201).object()["id"].(string))
	}
	w.do("DELETE", "/v1/rate_plans/"+plans[3], "").ok(204)
	same := func() {
		t.Helper()
		stored, err := base.NewStored(w.db, nil).PlansInUse(t.Context(), w.account)
		if err != nil || len(stored) == 0 {
			t.Fatalf("%d plans are in use: %v", len(stored), err)
		}
		for i := range stored {
			p := &stored[i]
			p.Classes, p.Channels = append([]string{}, p.Classes...), append([]string{}, p.Channels...)
		}
		for _, one := range both {
			for _, list := range []string{"/v1/rate_plans", "/v1/vehicles", "/v1/customers"} {
				one.do("GET", list, "").ok(200) // they are in memory from now on
			}
			found, err := one.api.desk.Reads.PlansInUse(t.Context(), w.account)
			for i := range found {
				p := &found[i]
				p.Classes, p.Channels = append([]string{}, p.Classes...), append([]string{}, p.Channels...)
			}
			if err != nil || !reflect.DeepEqual(found, stored) {
				t.Errorf("memory has %+v, the store %+v: %v", found, stored, err)
			}
		}
	}
	same()
	highest := w.do("POST", "/v1/rate_plans",
		`{"name":"Highest","currency":"USD","priority":9,"daily_rate":{"amount":7000,"currency":"USD"}}`,
	).ok(201).object()["id"].(string)
	time.Sleep(roster.RecallLags * roster.DefaultConfig().Lag)
	same()
	day := time.Now().AddDate(0, 0, 2).UTC().Truncate(24 * time.Hour)
	for n, one := range both {
		amount := 7100 + n
		w.do("PATCH", "/v1/rate_plans/"+highest,
			fmt.Sprintf(`{"daily_rate":{"amount":%d,"currency":"USD"}}`, amount)).ok(200)
		time.Sleep(roster.RecallLags * roster.DefaultConfig().Lag)
		// Of a look that takes long memory knows too little for one command, but not for each.
		remembered := 0.0
		for try := 0; try < 10 && remembered < 4; try++ {
			before, _ := answersFromMemory(t, registries[n])
			pickup := day.AddDate(0, 0, 3*(10*n+try))
			made := one.do("POST", "/v1/bookings", fmt.Sprintf(`{"vehicle_id":%q,"customer_id":%q,"pickup_at":%q,
				"return_at":%q,"confirm":true}`, van, renter, pickup.Format(time.RFC3339),
				pickup.AddDate(0, 0, 1).Format(time.RFC3339))).ok(201).object()
			if total := made["total"].(map[string]any)["amount"]; total != float64(amount) {
				t.Errorf("a day costs %v, not %d", total, amount)
			}
			after, _ := answersFromMemory(t, registries[n])
			remembered = after - before
		}
		if remembered < 4 {
			t.Errorf("of what server %d looked up memory answered %v", n, remembered)
		}
	}
}

// Whoever is the first on a do-not-rent list is found by every process at once, as one person or as somebody like them.
func TestTheFirstOnADoNotRentListMayRentNoMore(t *testing.T) {
	both, _ := twoServers(t)
	writer := both[0]
	van := writer.vehicle(`{"make":"A","model":"B","daily_rate":{"amount":100,"currency":"USD"}}`)
	licence := `"licence":{"number":"D 123","country":"US","region":"TX"},"date_of_birth":"1985-12-10"`
	ada := writer.customer(`{"first_name":"Ada",` + licence + `}`)
	twice := writer.customer(`{"first_name":"Adele",` + licence + `}`)
	day := time.Now().UTC().Truncate(24 * time.Hour)
	grace := writer.customer(`{"first_name":"Grace"}`)
	book := func(w *world, who string) *reply {
		return w.do("POST", "/v1/bookings", fmt.Sprintf(`{"vehicle_id":%q,"customer_id":%q,"pickup_at":%q,"return_at":%q,
			"confirm":true}`, van, who, day.Format(time.RFC3339),
			day.AddDate(0, 0, 1).Format(time.RFC3339)))
	}
	for _, w := range both {
		day = day.AddDate(0, 0, 2)
		book(w, twice).ok(201)
	}
	writer.do("POST", "/v1/customers/"+ada+"/do_not_rent", `{"active":true,"reason_code":"damage"}`).ok(200)
	for _, w := range both {
		day = day.AddDate(0, 0, 2)
		book(w, twice).problem(409, "conflict")
		book(w, grace).ok(201) // whoever was refused holds nothing
	}
}

// What is free is found in memory as in the store, whatever was booked, blocked, moved, released or left to lapse, and
// by the process that has not written it as soon as its memory must know.
func TestWhatIsFreeIsFoundInMemoryAsInTheStore(t *testing.T) {
	both, registries := twoServers(t)
	w := both[0]
	stored := *w
	var err error
	if stored.api, err = New(w.api.Config, Deps{Deps: rest.Deps{DB: w.db, IDs: fleet.NewIDSource(3, time.Now),
		Log: w.api.Log, Now: w.api.Now}}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(stored.api.Handler())
	defer server.Close()
	stored.url = server.URL

	rng := rand.New(rand.NewPCG(11, 5))
	one := func(all []string) string { return all[rng.IntN(len(all))] }
	var places, classes, vehicles, bookings []string
	for n := range 3 {
		places = append(places, w.do("POST", "/v1/locations", fmt.Sprintf(`{"name":"L%d","timezone":%q}`, n,
			[]string{"America/Chicago", "Europe/Berlin", "Pacific/Auckland"}[n])).ok(201).id())
		classes = append(classes, w.do("POST", "/v1/vehicle_classes", fmt.Sprintf(`{"name":"C%d","rank":%d,
			"buffer_after_minutes":%d,"daily_rate":{"amount":%d,"currency":"USD"}}`, n, n, n*90, 4000+n*500)).ok(201).id())
	}
	w.do("POST", "/v1/rate_plans", fmt.Sprintf(`{"name":"Late","currency":"USD","priority":2,"daily_rate":{"amount":3000,
		"currency":"USD"},"vehicle_class_ids":[%q],"valid_from":%q}`, classes[1],
		time.Now().AddDate(0, 0, 12).Format(time.DateOnly))).ok(201)
	for n := range 12 {
		more := []string{``, `,"buffer_before_minutes":120`, `,"daily_rate":{"amount":9900,"currency":"USD"}`,
			`,"min_rental_days":3`, fmt.Sprintf(`,"in_service_on":%q`, time.Now().AddDate(0, 0, 5).Format(time.DateOnly)),
			fmt.Sprintf(`,"disposal_on":%q`, time.Now().AddDate(0, 0, 9).Format(time.DateOnly))}[n%6]
		if n%5 > 0 {
			more += fmt.Sprintf(`,"vehicle_class_id":%q`, one(classes))
		}
		if n%4 > 0 {
			more += fmt.Sprintf(`,"home_location_id":%q`, one(places))
		}
		vehicles = append(vehicles, w.vehicle(fmt.Sprintf(`{"make":"M%d","model":"X"%s}`, n, more)))
	}
	renter := w.do("POST", "/v1/customers", `{"first_name":"Ada"}`).ok(201).id()
	w.do("POST", "/v1/vehicles", `{"make":"Foreign","model":"X","daily_rate":{"amount":1,"currency":"USD"}}`,
		"Authorization", "Bearer "+w.newKey(w.newAccount("Foreign"), auth.Admin)).ok(201)

	begin := time.Now().UTC().Truncate(time.Hour)
	stamp := func(hours int) string { return begin.Add(time.Duration(hours) * time.Hour).Format(time.RFC3339) }
	made := map[string]int{}
	change := func(by *world) {
		from := rng.IntN(20 * 24)
		period := fmt.Sprintf(`"pickup_at":%q,"return_at":%q`, stamp(from), stamp(from+6+rng.IntN(90)))
		what, r := "", (*reply)(nil)
		switch rng.IntN(10) {
		case 0, 1, 2:
			what, r = "booking", by.do("POST", "/v1/bookings", fmt.Sprintf(`{"vehicle_id":%q,"customer_id":%q,%s,"confirm":true}`,
				one(vehicles), renter, period))
		case 3:
			what, r = "one way", by.do("POST", "/v1/bookings", fmt.Sprintf(`{"vehicle_id":%q,"customer_id":%q,%s,
				"return_location_id":%q,"confirm":true}`, one(vehicles), renter, period, one(places)))
		case 4:
			what, r = "class", by.do("POST", "/v1/bookings", fmt.Sprintf(`{"vehicle_class_id":%q,"customer_id":%q,%s,
				"pickup_location_id":%q,"confirm":true}`, one(classes), renter, period, one(places)))
		case 5:
			what, r = "lapsing", by.do("POST", "/v1/bookings", fmt.Sprintf(`{"vehicle_id":%q,"customer_id":%q,%s,"hold_minutes":30}`,
				one(vehicles), renter, period))
		case 6:
			what, r = "block", by.do("POST", "/v1/vehicles/"+one(vehicles)+"/blocks", fmt.Sprintf(
				`{"from":%q,"until":%q,"kind":"manual","reason":"x"}`, stamp(from), stamp(from+30)))
		case 7:
			what, r = "transfer", by.do("POST", "/v1/vehicles/"+one(vehicles)+"/blocks", fmt.Sprintf(
				`{"from":%q,"until":%q,"kind":"relocation","reason":"x","to_location_id":%q}`, stamp(from), stamp(from+3), one(places)))
		case 8:
			if len(bookings) > 0 {
				what, r = "cancelled", by.do("POST", "/v1/bookings/"+one(bookings)+"/cancel", `{}`)
			}
		case 9:
			what, r = "patched", by.do("PATCH", "/v1/vehicles/"+one(vehicles), fmt.Sprintf(
				`{"buffer_after_minutes":%d,"current_location_id":%q}`, rng.IntN(300), one(places)))
		}
		if r == nil {
			return
		}
		if made[what+fmt.Sprint(r.status < 300)]++; r.status == 201 && strings.HasPrefix(r.id(), fleet.BookingPrefix) {
			bookings = append(bookings, r.id())
		}
	}
	// One has driven off, and should have been back yesterday.
	out := w.do("POST", "/v1/bookings", fmt.Sprintf(`{"vehicle_id":%q,"customer_id":%q,"pickup_at":%q,"return_at":%q,
		"confirm":true,"backdated":true}`, vehicles[2], renter, stamp(-72), stamp(-24))).ok(201).id()
	w.do("POST", "/v1/bookings/"+out+"/pickup", fmt.Sprintf(`{"at":%q}`, stamp(-72))).ok(200)
	bookings = append(bookings, out)
	questions := func() []string {
		from := rng.IntN(20 * 24)
		base := fmt.Sprintf("/v1/availability?per_page=100&pickup_at=%s&return_at=%s", stamp(from), stamp(from+10+rng.IntN(60)))
		return []string{base, base + "&pickup_location_id=" + one(places), base + "&vehicle_class_id=" + one(classes),
			base + "&return_location_id=" + one(places)}
	}
	found, refused := 0, 0
	for round := range 9 {
		for range 5 {
			change(both[rng.IntN(2)])
		}
		if round == 5 {
			w.do("PATCH", "/v1/vehicles/"+vehicles[1], `{"status":"inactive"}`)
			w.do("DELETE", "/v1/vehicles/"+vehicles[3], "")
		}
		time.Sleep(roster.DefaultConfig().Lag)
		for _, path := range questions() {
			want := stored.do("GET", path, "").ok(200)
			found += len(want.data())
			refused += len(want.object()["not_available"].(map[string]any))
			for n, by := range both {
				if got := by.do("GET", path, "").ok(200); !reflect.DeepEqual(got.object(), want.object()) {
					t.Fatalf("round %d: server %d finds\n%s\nand the store\n%s", round, n, got.body, want.body)
				}
				memory := by.api.desk.Fleet.(recalled)
				_, held := memory.calendars.Of(t.Context(), w.account)
				if _, decoded, err := memory.vehicles.All(t.Context(), w.account); !held || !decoded || err != nil {
					t.Fatalf("round %d: server %d has calendars in memory: %v, vehicles: %v, %v", round, n, held, decoded, err)
				}
			}
		}
	}
	// So are holds that have lapsed since.
	for _, now := range []time.Time{time.Now(), time.Now().Add(time.Hour)} {
		want, err := stored.api.desk.Fleet.Busy(t.Context(), w.account, now.Add(-time.Hour), now)
		if err != nil {
			t.Fatal(err)
		}
		got, err := w.api.desk.Fleet.Busy(t.Context(), w.account, now.Add(-time.Hour), now)
		if err != nil {
			t.Fatal(err)
		}
		for n, text := range append(vehicles, classes...) {
			_, digits, _ := strings.Cut(text, "_")
			id, _ := strconv.ParseUint(digits, 10, 64)
			a, b := got.Vehicle(id), want.Vehicle(id)
			if n >= len(vehicles) {
				a, b = got.Class(id), want.Class(id)
			}
			said := func(holds []calendar.Hold) (lines []string) {
				for _, h := range holds {
					if until := h.Until.Time; !until.After(now.Add(time.Second)) { // is open
						h.Until = record.InstantOf(now)
					}
					lines = append(lines, fmt.Sprint(h.Ref, h.From, h.Until, h.Begins, h.Ends))
				}
				return lines
			}
			if !slices.Equal(said(a.Holds), said(b.Holds)) {
				t.Errorf("%s has %+v, in the store %+v", text, a.Holds, b.Holds)
			}
		}
	}
	if found < 50 || refused < 50 || made["bookingtrue"] < 5 || made["classtrue"] < 1 || made["transfertrue"] < 1 ||
		made["lapsingtrue"] < 1 {
		t.Errorf("%d were free and %d reasons given, of %v: too few to tell", found, refused, made)
	}
	// What was over long ago is not in memory, and what one's own write took is taken with the next question.
	past := fmt.Sprintf("/v1/availability?pickup_at=%s&return_at=%s", stamp(-100*24), stamp(-99*24))
	if got, want := w.do("GET", past, "").ok(200), stored.do("GET", past, "").ok(200); !reflect.DeepEqual(got.object(),
		want.object()) {
		t.Errorf("of the past %s and %s", got.body, want.body)
	}
	free := fmt.Sprintf("/v1/availability?per_page=100&pickup_at=%s&return_at=%s", stamp(900), stamp(930))
	for n, by := range both {
		before, _ := answersFromMemory(t, registries[n])
		all := by.do("GET", free, "").ok(200).data()
		took := all[n]["vehicle_id"].(string)
		by.do("POST", "/v1/bookings", fmt.Sprintf(`{"vehicle_id":%q,"customer_id":%q,"pickup_at":%q,"return_at":%q,
			"confirm":true}`, took, renter, stamp(900), stamp(930))).ok(201)
		for _, left := range by.do("GET", free, "").ok(200).data() {
			if left["vehicle_id"] == took || left["make"] == "Foreign" {
				t.Errorf("after it was taken %v is free", left)
			}
		}
		if after, _ := answersFromMemory(t, registries[n]); after < before+6 {
			t.Errorf("memory answered %v of two searches", after-before)
		}
	}
}

// A booking is answered when the log has it. Whoever asks the same process next finds it wherever it shows, and so does
// another key of the account; another process has it soon.
func TestWhoMakesABookingFindsItAtOnce(t *testing.T) {
	both, _ := twoServers(t)
	w, other := both[0], both[1]
	van := w.vehicle(`{"make":"A","model":"B","daily_rate":{"amount":100,"currency":"USD"}}`)
	renter := w.customer(`{"first_name":"Ada"}`)
	reader := w.newKey(w.account, auth.BookingsRead)
	day := time.Now().UTC().Truncate(24 * time.Hour)
	for range 5 {
		day = day.AddDate(0, 0, 2)
		from, until := day.Format(time.RFC3339), day.AddDate(0, 0, 1).Format(time.RFC3339)
		free := func() int {
			return len(w.do("GET", "/v1/availability?pickup_at="+from+"&return_at="+until, "").ok(200).data())
		}
		if free() != 1 {
			t.Fatal("the vehicle is not free")
		}
		id := w.do("POST", "/v1/bookings", fmt.Sprintf(`{"vehicle_id":%q,"customer_id":%q,"pickup_at":%q,"return_at":%q,
			"confirm":true}`, van, renter, from, until)).ok(201).id()
		other.do("POST", "/v1/maintenance/issues",
			fmt.Sprintf(`{"vehicle_id":%q,"booking_id":%q,"description":"It smells."}`, van, id)).ok(201)
		if n := free(); n != 0 {
			t.Error("the vehicle that was just booked is free")
		}
		for _, list := range []string{"?vehicle_id=" + van, "?customer_id=" + renter, "?sort=-created_at"} {
			for _, key := range []string{w.key, reader} {
				found := w.do("GET", "/v1/bookings"+list, "", "Authorization", "Bearer "+key).ok(200)
				if !found.lists(id) {
					t.Errorf("%s does not list %s", list, id)
				}
			}
		}
		deadline := time.Now().Add(10 * time.Second)
		for !other.do("GET", "/v1/bookings?vehicle_id="+van, "").ok(200).lists(id) {
			if time.Now().After(deadline) {
				t.Fatal("another process does not list it")
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// lists says whether a list has a record.
func (r *reply) lists(id string) bool {
	return slices.ContainsFunc(r.data(), func(one map[string]any) bool { return one["id"] == id })
}

// Whoever makes a booking is answered while it is not carried out yet what follows from it; who asks next waits for
// that, but not for ever.
func TestABookingIsAnsweredBeforeWhatFollowsFromIt(t *testing.T) {
	w := newWorld(t)
	goOn := make(chan struct{})
	w.api.Store.Then(record.Bookings.Name, "slow", func(context.Context, record.Written) error {
		<-goOn
		return nil
	})
	defer close(goOn)
	van := w.vehicle(`{"make":"A","model":"B","daily_rate":{"amount":100,"currency":"USD"}}`)
	renter := w.customer(`{"first_name":"Ada"}`)
	pickup := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 2)
	asked := func(do func()) time.Duration {
		begun := time.Now()
		do()
		return time.Since(begun)
	}
	for n := range 2 { // the second is not kept waiting by the first
		from, until := pickup.AddDate(0, 0, 2*n), pickup.AddDate(0, 0, 2*n+1)
		if took := asked(func() {
			w.do("POST", "/v1/bookings", fmt.Sprintf(`{"vehicle_id":%q,"customer_id":%q,"pickup_at":%q,"return_at":%q,
				"confirm":true}`, van, renter, from.Format(time.RFC3339), until.Format(time.RFC3339))).ok(201)
		}); took > awaitFor {
			t.Errorf("a booking was answered after %v", took)
		}
	}
	if took := asked(func() { w.do("GET", "/v1/bookings", "").ok(200) }); took < awaitFor {
		t.Errorf("a list did not wait: it was answered after %v", took)
	}
}

// awaitFor is how long an operation waits for what was written before (api/rest/serve.go).
const awaitFor = 2 * time.Second
