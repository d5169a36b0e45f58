package api

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/track"
)

// tags stores what trackers said of who is logged in, as pipeline/sink does: tags by the minutes after noon.
func (w *world) tags(account fleet.AccountID, vehicle string, said map[float64]string) {
	w.t.Helper()
	batch, err := w.db.PrepareBatch(w.t.Context(), "INSERT INTO tag_reports (account, vehicle, time, tag)")
	if err != nil {
		w.t.Fatal(err)
	}
	for minutes, tag := range said {
		if err := batch.Append(uint64(account), vehicleID(w.t, vehicle), at(minutes).Time(), tag); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		w.t.Fatal(err)
	}
}

// driverOfTrip reads who drove a trip, as "driver source".
func (w *world) driverOfTrip(e fleet.Entity) string {
	w.t.Helper()
	got := w.do("GET", "/v1/trips/"+track.DerivedID(e), "").ok(200).object()
	who := got["driver_id"]
	if who == nil {
		who = got["driver"]
	}
	return fmt.Sprint(who, " ", got["driver_source"])
}

// sumsOf reads the hours of a driver in the hours around noon, as "driving other rest".
func (w *world) sumsOf(driver, more string) map[string]any {
	w.t.Helper()
	return w.do("GET", "/v1/drivers/"+driver+"/hours?from=2026-01-31T11:00:00Z&until=2026-01-31T15:00:00Z"+more,
		"").ok(200).object()
}

// A tag that nobody holds is listed; once somebody holds it, the trips of then show the driver, lists and scores find
// them, and the hours count. A person's word stands above the tag until it is taken back.
func TestATagThatIsGivenToSomebodyNamesTheDriverOfOlderTrips(t *testing.T) {
	w := newWorld(t)
	v := w.vehicle(`{"make":"Ford","model":"Transit"}`)
	ada, bob := w.customer(`{"display_name":"Ada","tags":["staff"]}`), w.customer(`{"display_name":"Bob"}`)
	trip, later := sampleTrip(0, 60), sampleTrip(90, 150)
	braking := &fleet.DrivingEvent{Head: head(93, 93, false), What: fleet.HarshBraking, Source: "derived", Value: 4.2,
		Speed: 12, Place: depot}
	w.derive(w.account, row{vehicle: v, entity: trip}, row{vehicle: v, entity: later}, row{vehicle: v, entity: braking})
	w.tags(w.account, v, map[float64]string{-10: "1A2B", 0: "1A2B", 30: "1A2B", 89: "1A2B", 120: "77"})

	wantEqual(t, "of nobody", w.driverOfTrip(trip), "<nil> <nil>")
	unknown := "/v1/driver_tags/unknown?from=2026-01-31T00:00:00Z&until=2026-02-01T00:00:00Z"
	listed := w.do("GET", unknown, "").ok(200).data()
	if len(listed) != 2 || listed[0]["tag"] != "77" || listed[1]["tag"] != "1A2B" || listed[1]["reports"] != 4. ||
		fmt.Sprint(listed[1]["vehicle_ids"]) != "["+v+"]" ||
		listed[1]["first_at"] != "2026-01-31T11:50:00.000Z" {
		t.Fatalf("unknown tags are %v", listed)
	}

	// The reader writes it otherwise than whoever registers it; Ada had it until 13:20.
	tag := w.do("POST", "/v1/driver_tags",
		`{"tag":"1a:2b","medium":"ibutton","holders":[{"driver_id":"`+ada+`","until":"2026-01-31T13:20:00Z"}]}`).ok(201)
	wantEqual(t, "as it is kept", tag.object()["tag"], "1A2B")
	wantEqual(t, "by the tag", w.driverOfTrip(trip), ada+" tag")
	wantEqual(t, "not any more", w.driverOfTrip(later), "<nil> <nil>")
	wantEqual(t, "unknown still", len(w.do("GET", unknown, "").data()), 2)
	w.do("PATCH", "/v1/driver_tags/"+tag.id(), `{"holders":[{"driver_id":"`+ada+`"}]}`).ok(200)
	w.do("POST", "/v1/driver_tags", `{"tag":"0077","holders":[{"driver_id":"`+bob+`"}]}`).ok(201) // another than 77
	w.do("POST", "/v1/driver_tags", `{"tag":"77","holders":[{"driver_id":"`+bob+`"}]}`).ok(201)
	wantEqual(t, "nothing unknown", len(w.do("GET", unknown, "").data()), 0)

	// The driver changed on the way: the trip is whoever's drove longer, here the first of equals, and the hours
	// are each one's.
	wantEqual(t, "of two", w.driverOfTrip(later), ada+" tag")
	parts := w.do("GET", "/v1/trips/"+track.DerivedID(later), "").object()["driver_parts"].([]any)
	if len(parts) != 2 || parts[1].(map[string]any)["driver_id"] != bob ||
		parts[1].(map[string]any)["from"] != "2026-01-31T14:00:00.000Z" {
		t.Errorf("parts are %v", parts)
	}
	got := w.sumsOf(ada, "")
	// 10 minutes before, and one
	wantEqual(t, "hours of one", fmt.Sprint(got["driving_s"], got["other_s"], got["rest_s"]), "5400 660 8340")
	got = w.sumsOf(bob, "")
	wantEqual(t, "hours of the other", fmt.Sprint(got["driving_s"], got["other_s"], got["rest_s"]), "1800 0 12600")
	if n := len(w.do("GET", "/v1/trips?driver="+ada, "").data()) +
		len(w.do("GET", "/v1/trips?driver="+bob, "").data()); n != 2 {
		t.Errorf("%d trips of both", n)
	}
	for _, s := range w.do("GET", "/v1/drivers/score?from=2026-01-31T00:00:00Z&until=2026-02-01T00:00:00Z",
		"").ok(200).data() {
		if s["driver_id"] != ada || s["trips"] != 2. || s["harsh_braking"] != 1. {
			t.Errorf("score %v", s)
		}
	}

	// By hand.
	path := "/v1/trips/" + track.DerivedID(trip) + "/driver"
	w.do("PUT", path, `{"driver":"`+bob+`"}`).ok(200)
	wantEqual(t, "by hand", w.driverOfTrip(trip), bob+" manual")
	wantEqual(t, "trips of who it was taken from", len(w.do("GET", "/v1/trips?driver="+ada, "").data()), 1)
	got = w.sumsOf(bob, "")
	wantEqual(t, "hours by hand", got["driving_s"], 5400.)
	wantEqual(t, "other work of whose tag was in it", w.sumsOf(ada, "")["other_s"], 660.)
	w.do("DELETE", path, "").ok(204)
	wantEqual(t, "taken back", w.driverOfTrip(trip), ada+" tag")

	// Rules: those asked for, else the account's, else none.
	wantEqual(t, "no rules", fmt.Sprint(w.sumsOf(ada, "")["rules"], w.sumsOf(ada, "")["findings"]), "none[]")
	w.do("PATCH", "/v1/account", `{"driving_rules":{"set":"eu_561_2006","max_continuous_driving_s":5000}}`).ok(200)
	got = w.sumsOf(ada, "&timezone=Europe/Berlin")
	if f := got["findings"].([]any); got["rules"] != "eu_561_2006" || len(f) != 1 ||
		f[0].(map[string]any)["rule"] != "continuous_driving" || f[0].(map[string]any)["actual_s"] != 5400. {
		t.Errorf("findings are %v", got)
	}
	wantEqual(t, "those asked for", fmt.Sprint(w.sumsOf(ada, "&rules=us_395_70_8")["findings"]), "[]")
}

// The customer of a rental drove what nobody else is known to have driven; a company sends the driver whom it names.
func TestTheBookingSaysWhoDroveWhereNoTagDoes(t *testing.T) {
	w := newLot(t)
	booking := w.book(0.01, 20, `,"confirm":true`)
	w.do("POST", booking+"/pickup", "").ok(200)
	picked, err := time.Parse(time.RFC3339, fmt.Sprint(w.do("GET", booking, "").object()["actual_pickup_at"]))
	if err != nil {
		t.Fatal(err)
	}
	begin := float64(fleet.MillisOf(picked)-noon)/60_000 + 10
	trip, before := sampleTrip(begin, begin+60), sampleTrip(begin-100, begin-50)
	car := fmt.Sprint(w.do("GET", booking, "").object()["vehicle_id"])
	w.derive(w.account, row{vehicle: car, entity: trip}, row{vehicle: car, entity: before})
	wantEqual(t, "of the rental", w.driverOfTrip(trip), w.customer+" booking")
	wantEqual(t, "before it", w.driverOfTrip(before), "<nil> <nil>")

	ada := w.world.customer(`{"display_name":"Ada"}`)
	w.do("POST", "/v1/driver_tags", `{"tag":"AA","holders":[{"driver_id":"`+ada+`"}]}`).ok(201)
	w.tags(w.account, car, map[float64]string{begin + 1: "AA"})
	wantEqual(t, "the tag at the wheel", w.driverOfTrip(trip), ada+" tag")
	wantEqual(t, "trips of the customer", len(w.do("GET", "/v1/trips?driver="+w.customer, "").data()), 0)
	wantEqual(t, "trips by the tag", len(w.do("GET", "/v1/trips?driver="+ada, "").data()), 1)
}

// TestTripsFromMemoryAreThoseOfTheStore holds who drove and on which day, whatever people, trackers and bookings say
// meanwhile: memory knows by what a driver may be known, and the time zones.
func TestTripsFromMemoryAreThoseOfTheStore(t *testing.T) {
	memory, store, _, _ := besideMemory(t)
	random := rand.New(rand.NewPCG(20, 11))
	ada := store.customer(`{"display_name":"Ada"}`)
	store.do("POST", "/v1/driver_tags", `{"tag":"AA","holders":[{"driver_id":"`+ada+`"}]}`).ok(201)
	var cars []string
	trips := map[string][]fleet.Entity{}
	for n := range 5 {
		car := store.vehicle(fmt.Sprintf(`{"make":"M%d","model":"B"}`, n))
		cars = append(cars, car)
		for k := range 3 {
			trip := sampleTrip(float64(300*k+n), float64(300*k+n+60))
			store.derive(store.account, row{vehicle: car, entity: trip})
			trips[car] = append(trips[car], trip)
		}
	}
	seen := map[string]bool{}
	for step := range 60 {
		car := cars[random.IntN(4)] // of the fifth nobody ever says anything
		on := []*world{memory, store}[random.IntN(2)]
		path := "/v1/trips/" + track.DerivedID(trips[car][random.IntN(3)]) + "/driver"
		did := ""
		switch random.IntN(6) {
		case 0:
			did = "a tag"
			store.tags(store.account, cars[random.IntN(2)], map[float64]string{float64(random.IntN(700)): "AA"})
		case 1:
			did = "a word"
			on.do("PUT", path, fmt.Sprintf(`{"driver":"Bob %d"}`, step)).ok(200)
		case 2:
			did = "a word taken back"
			on.do("DELETE", path, "")
		case 3:
			did = "a booking"
			store.exec(fmt.Sprintf(`INSERT INTO bookings (account, id, revision, created_at, updated_at, status, vehicle_id,
					customer_id, actual_pickup_at, body)
				SELECT %d, %d, 1, now64(3), now64(3), 'active', '%s', '%s', fromUnixTimestamp64Milli(%d, 'UTC'), '{}'`,
				store.account, 1000+step, cars[1+random.IntN(3)], ada, int64(at(float64(random.IntN(700))))))
		case 4:
			did = "a time zone"
			on.do("PATCH", "/v1/vehicles/"+car, `{"timezone":"`+
				[]string{"Pacific/Kiritimati", "Pacific/Pago_Pago"}[random.IntN(2)]+`"}`).ok(200)
		case 5:
			did = "the account's time zone"
			on.do("PATCH", "/v1/account", `{"timezone":"`+[]string{"Asia/Tokyo", "America/Chicago"}[random.IntN(2)]+`"}`).ok(200)
		}
		for _, path := range []string{"/v1/trips?vehicle_id=" + cars[random.IntN(5)], "/v1/trips?vehicle_id=" + cars[4],
			"/v1/trips", "/v1/stops?vehicle_id=" + car} {
			got, want := string(memory.do("GET", path, "").ok(200).body), string(store.do("GET", path, "").ok(200).body)
			if got != want {
				t.Fatalf("step %d, after %s: GET %s\nmemory %s\nstore  %s", step, did, path, got, want)
			}
			for _, source := range []string{"manual", "tag", "booking"} {
				seen[source] = seen[source] || strings.Contains(got, `"driver_source":"`+source+`"`)
			}
		}
	}
	if len(seen) != 3 || !seen["manual"] || !seen["tag"] || !seen["booking"] {
		t.Errorf("drivers were known by %v", seen)
	}
}

func TestDriverTagsAreOnePersonsAtATime(t *testing.T) {
	w := newWorld(t)
	ada := w.customer(`{"display_name":"Ada"}`)
	holder := func(span string) string { return `{"driver_id":"` + ada + `"` + span + `}` }
	for body, pointer := range map[string]string{
		`{"tag":"00:00"}`: "/tag", `{"tag":"- -"}`: "/tag", `{}`: "/tag",
		`{"tag":"1","holders":[` + holder("") + "," + holder("") +
			`]}`: "/holders/1/from",
		`{"tag":"1","holders":[` + holder(`,"from":"2026-01-02T00:00:00Z"`) + "," +
			holder(`,"until":"2026-01-03T00:00:00Z"`) + `]}`: "/holders/0/from",
		`{"tag":"1","holders":[` + holder(`,"from":"2026-01-02T00:00:00Z","until":"2026-01-02T00:00:00Z"`) +
			`]}`: "/holders/0/until",
		`{"tag":"1","holders":[{"driver_id":"cus_77"}]}`: "/holders/0",
	} {
		w.do("POST", "/v1/driver_tags", body).problem(422, "validation_failed")
		if got := string(w.do("POST", "/v1/driver_tags", body).body); !strings.Contains(got, `"`+pointer) {
			t.Errorf("%s: %s", body, got)
		}
	}
	w.do("POST", "/v1/driver_tags", `{"tag":"a1","holders":[`+holder(`,"until":"2026-01-02T00:00:00Z"`)+","+
		holder(`,"from":"2026-01-02T00:00:00Z"`)+`]}`).ok(201)
	w.do("POST", "/v1/driver_tags", `{"tag":"A-1"}`).problem(409, "conflict")
	wantEqual(t, "of a driver", len(w.do("GET", "/v1/driver_tags?driver_id="+ada, "").ok(200).data()), 1)
	for _, path := range []string{"/v1/drivers/cus_77/hours", "/v1/drivers/Ada/hours"} {
		w.do("GET", path, "").problem(404, "not_found")
	}
	for _, bad := range []string{"from=2027-01-01T00:00:00Z", "timezone=Mars", "timezone=Local",
		"from=2020-01-01T00:00:00Z", "rules=uk"} {
		w.do("GET", "/v1/drivers/"+ada+"/hours?"+bad, "").ok(400)
	}
}

// A key that an erased person had and somebody else has now stays the other's; what the person did with it is gone.
func TestAnErasureLeavesTheTagsOfOthers(t *testing.T) {
	w := newWorld(t)
	v := w.vehicle(`{"make":"Ford","model":"Transit"}`)
	gone, stays := w.customer(`{"first_name":"Xantippe","last_name":"Quuxington"}`), w.customer(`{"display_name":"Bob"}`)
	tag := w.do("POST", "/v1/driver_tags", `{"tag":"AB12CD","holders":[{"driver_id":"`+gone+`"}]}`).ok(201).id()
	w.do("PATCH", "/v1/driver_tags/"+tag, `{"holders":[{"driver_id":"`+gone+
		`","until":"2026-01-31T12:30:00Z"},{"driver_id":"`+stays+`","from":"2026-01-31T12:30:00Z"}]}`).ok(200)
	w.tags(w.account, v, map[float64]string{0: "AB12CD", 60: "AB12CD"})
	first, second := sampleTrip(0, 20), sampleTrip(60, 80)
	w.derive(w.account, row{vehicle: v, entity: first}, row{vehicle: v, entity: second})
	wantEqual(t, "before", w.driverOfTrip(first)+" "+w.driverOfTrip(second), gone+" tag "+stays+" tag")

	w.do("POST", "/v1/customers/"+gone+"/erase", `{"reason":"asked"}`).ok(200)
	wantEqual(t, "after", w.driverOfTrip(first)+" "+w.driverOfTrip(second), "<nil> <nil> "+stays+" tag")
	if body := string(w.do("GET", "/v1/driver_tags/"+tag, "").ok(200).body); strings.Contains(body, gone) ||
		!strings.Contains(body, stays) {
		t.Errorf("the tag is %s", body)
	}
	if places := w.standing([]string{`"` + gone + `"`})[`"`+gone+`"`]; len(places) > 0 {
		t.Errorf("the person stands in %v", places)
	}
	var left uint64
	if err := w.db.QueryRow(t.Context(), "SELECT countIf(has(driver_id, $1)) FROM driver_tags",
		gone).Scan(&left); err != nil || left > 0 {
		t.Errorf("%d rows of the tag name the person, %v", left, err)
	}
	var reports uint64
	if err := w.db.QueryRow(t.Context(), "SELECT count() FROM tag_reports").Scan(&reports); err != nil || reports != 1 {
		t.Errorf("%d reports are left, %v", reports, err)
	}
	w.do("POST", "/v1/driver_tags", `{"tag":"AB12CD"}`).problem(409, "conflict")
}

// Who was written down as the holder by mistake takes nothing along of whose the tag is: neither by a later revision of
// the tag, nor by a newer tag of the same number.
func TestAnErasureLeavesWhatSomebodyElsesTagSays(t *testing.T) {
	for name, correct := range map[string]func(w *world, tag, stays string){
		"by a revision": func(w *world, tag, stays string) {
			w.do("PATCH", "/v1/driver_tags/"+tag, `{"holders":[{"driver_id":"`+stays+`"}]}`).ok(200)
		},
		"by a newer tag": func(w *world, tag, stays string) {
			w.do("DELETE", "/v1/driver_tags/"+tag, "").ok(204)
			w.do("POST", "/v1/driver_tags",
				`{"tag":"AB12CD","holders":[{"driver_id":"`+stays+`","from":"2026-01-31T12:00:00Z"}]}`).ok(201)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			v := w.vehicle(`{"make":"Ford","model":"Transit"}`)
			gone, stays := w.customer(`{"first_name":"Xantippe","last_name":"Quuxington"}`), w.customer(`{"display_name":"Bob"}`)
			tag := w.do("POST", "/v1/driver_tags", `{"tag":"AB12CD","holders":[{"driver_id":"`+gone+`"}]}`).ok(201).id()
			correct(w, tag, stays)
			w.tags(w.account, v, map[float64]string{0: "AB12CD"})
			trip := sampleTrip(0, 20)
			w.derive(w.account, row{vehicle: v, entity: trip})
			wantEqual(t, "before", w.driverOfTrip(trip), stays+" tag")
			w.do("POST", "/v1/customers/"+gone+"/erase", `{"reason":"asked"}`).ok(200)
			wantEqual(t, "after", w.driverOfTrip(trip), stays+" tag")
		})
	}
}

// Who is looked for among more trips than are read at once is told what to ask for; years of trips are looked through
// month by month.
func TestTheTripsOfADriverAreLookedForInParts(t *testing.T) {
	w := newWorld(t)
	v := w.vehicle(`{"make":"Ford","model":"Transit"}`)
	ada := w.customer(`{"display_name":"Ada"}`)
	w.do("POST", "/v1/driver_tags", `{"tag":"AA","holders":[{"driver_id":"`+ada+`"}]}`).ok(201)
	const month = 31 * 24 * 60
	for _, begin := range []float64{-4 * month, -2 * month, -2*month + 60, 0} {
		w.derive(w.account, row{vehicle: v, entity: sampleTrip(begin, begin+20)})
		w.tags(w.account, v, map[float64]string{begin: "AA"})
	}
	w.derive(w.account, row{vehicle: v, entity: sampleTrip(300, 320)}) // of nobody
	list := "/v1/trips?driver=" + ada
	wantEqual(t, "of all time", len(w.do("GET", list, "").ok(200).data()), 4)
	scores := "/v1/drivers/score?until=2026-02-01T00:00:00Z&from="
	wantEqual(t, "scored", w.do("GET", scores+"2025-06-01T00:00:00Z", "").ok(200).data()[0]["trips"], 4.)
	w.do("GET", scores+"2025-01-01T00:00:00Z", "").ok(400)

	defer func(n int) { track.MaxDriverTrips = n }(track.MaxDriverTrips)
	track.MaxDriverTrips = 3
	if got := string(w.do("GET", list, "").ok(400).body); !strings.Contains(got, "more than 3 trips") ||
		!strings.Contains(got, "from and until") {
		t.Errorf("refused with %s", got)
	}
	wantEqual(t, "of a shorter span", len(w.do("GET", list+"&from=2026-01-01T00:00:00Z", "").ok(200).data()), 1)
}
