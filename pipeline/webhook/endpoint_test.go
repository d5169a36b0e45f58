package webhook

import (
	"container/heap"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/motorpool/fleet"
)

func TestAnEndpointHearsOfWhatItWantsAndMay(t *testing.T) {
	matcher := Matcher{
		Tags: func(_ fleet.AccountID, v fleet.VehicleID) []string {
			return map[fleet.VehicleID][]string{3: {"vans"}}[v]
		},
		MayHear: func(scopes []string, eventType string) bool {
			return scopes[0] == "all" || eventType == "booking.created"
		},
	}
	trip := fleet.Event{ID: 1, Type: fleet.EventTripEnded, Account: 7, Vehicle: 3, Kind: fleet.KindTrip}
	visit := fleet.Event{ID: 2, Type: fleet.EventFenceEntered, Account: 7, Vehicle: 4, Kind: fleet.KindVisit,
		Body: json.RawMessage(`{"geofence":"9"}`)}
	booking := fleet.Event{ID: 3, Type: "booking.created", Account: 7, Kind: "booking", Object: 5}
	own := fleet.Event{ID: 4, Type: "webhook_endpoint.failing", Account: 7, Kind: "webhook_endpoint", Object: 5}
	at := fleet.Event{ID: 5, Type: fleet.EventLocationUpdated, Account: 7, Vehicle: 3, Kind: fleet.KindPosition}
	for name, test := range map[string]struct {
		body string
		want string // which of trip, visit, booking, own and place
	}{
		"all":                {`{}`, "tvb"},
		"exact":              {`{"types":["booking.created"]}`, "b"},
		"prefix":             {`{"types":["vehicle.*","booking.x"]}`, "t"},
		"category":           {`{"types":["bookings","geofence.exited"]}`, "b"},
		"category of places": {`{"types":["location"]}`, "tv"},
		"place":              {`{"types":["vehicle.location.updated"]}`, "p"},
		"places":             {`{"types":["vehicle.location.*","bookings"],"vehicle_ids":["veh_3"]}`, "p"},
		"places of another":  {`{"types":["vehicle.location.*"],"vehicle_ids":["veh_9"]}`, ""},
		"half a prefix":      {`{"types":["book*","*"]}`, ""},
		"vehicle":            {`{"vehicle_ids":["veh_4"]}`, "v"},
		"tag":                {`{"tags":["vans"]}`, "t"},
		"vehicle or tag":     {`{"vehicle_ids":["veh_4"],"tags":["vans","cars"]}`, "tv"},
		"geofence":           {`{"geofence_ids":["geo_9"]}`, "v"},
		"another geofence":   {`{"geofence_ids":["geo_8"]}`, ""},
		"scope":              {`{"scopes":["some"]}`, "b"},
	} {
		e, err := ParseEndpoint(7, 5, 1, []byte(test.body))
		if err != nil {
			t.Fatal(err)
		}
		if e.Scopes == nil {
			e.Scopes = []string{"all"}
		}
		got := ""
		for letter, event := range map[string]*fleet.Event{"t": &trip, "v": &visit, "b": &booking, "o": &own,
			"p": &at} {
			if matcher.Match(e, event) {
				got += letter
			}
		}
		for _, letter := range "tvbop" {
			if (countOf(got, letter) > 0) != (countOf(test.want, letter) > 0) {
				t.Errorf("%s: hears of %q instead of %q", name, got, test.want)
			}
		}
		e.Account = 8
		if matcher.Match(e, &trip) {
			t.Errorf("%s: another account hears of it", name)
		}
	}
}

func countOf(text string, letter rune) (n int) {
	for _, c := range text {
		if c == letter {
			n++
		}
	}
	return n
}

func TestTheRecordOfAnEndpointIsRead(t *testing.T) {
	e, err := ParseEndpoint(7, 5, 3, []byte(`{"url":"https://example.com/h","status":"enabled","payload":"thin",
		"timeout_s":20,"max_in_flight":500,"rate_per_s":2.5,"headers":{"B":"sealed:b","A":"sealed:a"},"location":{"min_interval_s":30,
		"min_distance_m":100},"secrets":[{"id":"whs_1","sealed":"sealed:1","expires_at":"2026-01-02T03:04:05Z"},
		{"id":"whs_2","sealed":"sealed:2"}],"scopes":["bookings:read"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if !e.Enabled || !e.Thin || e.Timeout != 20*time.Second || e.MaxInFlight != mostInFlight || e.Rate != 2.5 ||
		fmt.Sprint(e.Headers) != "[{A sealed:a} {B sealed:b}]" || e.PlaceEvery != 30*time.Second || e.PlaceMoved != 100 ||
		len(e.Secrets) != 2 || e.Secrets[0].Ends.Year() != 2026 || !e.Secrets[1].Ends.IsZero() {
		t.Errorf("%+v", e)
	}
	if e, _ := ParseEndpoint(7, 5, 3, []byte(`{"status":"paused"}`)); e.Enabled || e.Timeout != defaultTimeout ||
		e.MaxInFlight != defaultInFlight {
		t.Errorf("%+v", e)
	}
	if e, _ := ParseEndpoint(7, 5, 3, []byte(`{"location":{"min_interval_s":1}}`)); e.PlaceEvery != time.Second ||
		e.PlaceMoved != 0 {
		t.Errorf("%+v", e)
	}
	if _, err := ParseEndpoint(7, 5, 3, []byte(`{"vehicle_ids":["bkg_1"]}`)); err == nil {
		t.Error("a booking is taken for a vehicle")
	}
}

func TestACircuitOpensAndComesBackSlowly(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var c circuit
	for range openAfter - 1 {
		c.fail(now, now, false, 0, 0)
	}
	if limit, from := c.limit(10); limit != 10 || !from.IsZero() {
		t.Fatalf("%d from %v before it opens", limit, from)
	}
	c.fail(now, now, false, 0, 0)
	if limit, from := c.limit(10); limit != 1 || !from.Equal(now.Add(firstPause)) || c.state(now) != "open" {
		t.Fatalf("%d from %v", limit, from)
	}
	c.fail(now, now, false, 0, 0) // that was under way
	c.succeed(10, now)            // and so was this
	for pause := firstPause; pause < longestPause; pause = min(2*pause, longestPause) {
		now = c.until
		if c.state(now) != "half_open" {
			t.Fatal(c.state(now))
		}
		c.fail(now, now, false, 0, 0)
		if got := c.until.Sub(now); got != min(2*pause, longestPause) {
			t.Fatalf("rests for %v after %v", got, pause)
		}
	}
	now = c.until
	c.succeed(10, now)
	for _, want := range []int{1, 2, 4, 8, 10, 10} {
		if limit, from := c.limit(10); limit != want || !from.IsZero() {
			t.Errorf("%d at once instead of %d", limit, want)
		}
		c.succeed(10, now)
	}
	c.fail(now, now, true, time.Hour, 0)
	if c.until != now.Add(time.Hour) {
		t.Errorf("who asked for an hour rests until %v", c.until)
	}
	c.fail(now, now, true, 100*time.Hour, 0)
	if c.until != now.Add(longestWait) {
		t.Errorf("who asked for four days rests until %v", c.until)
	}
}

func TestWhatBeganBeforeAPauseIsNoProbe(t *testing.T) {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var c circuit
	for range openAfter {
		c.fail(began, began, false, 0, 0)
	}
	until := c.until
	for range 10 { // they were under way when it opened, and end after the pause
		c.fail(began, until.Add(time.Second), false, 0, 0)
	}
	if c.until != until || c.pause != firstPause {
		t.Errorf("rests until %v, %v", c.until, c.pause)
	}
}

// Of several endpoints the one that wants places most says how often they are told.
func TestPlacesAreToldAsOftenAsAnyEndpointWants(t *testing.T) {
	matcher := Matcher{Tags: func(fleet.AccountID, fleet.VehicleID) []string { return []string{"vans"} },
		MayHear: func(scopes []string, _ string) bool { return len(scopes) > 0 }}
	var all []*Endpoint
	for i, body := range []string{
		`{"types":["vehicle.location.*"],"location":{"min_interval_s":60}}`,
		`{"types":["vehicle.location.updated"],"tags":["vans"],"location":{"min_interval_s":30,"min_distance_m":500}}`,
		`{"types":["vehicle.location.*"],"vehicle_ids":["veh_9"],"location":{"min_interval_s":1,"min_distance_m":1}}`,
		`{"types":["location"]}`, `{}`,
	} {
		e, err := ParseEndpoint(7, uint64(i+1), 1, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		e.Enabled, e.Scopes = true, []string{"telematics:read"}
		all = append(all, e)
	}
	if every, moved, wanted := matcher.Places(all, 3); every != 30*time.Second || moved != 500 || !wanted {
		t.Errorf("every %v, %v m, %v", every, moved, wanted)
	}
	all[0].Enabled, all[1].Scopes = false, nil
	if _, _, wanted := matcher.Places(all, 3); wanted {
		t.Error("an endpoint that is off, or may not hear of it, wants places")
	}
}

func TestAnEndpointThatOnlyFailsIsSwitchedOffAfterWarnings(t *testing.T) {
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var h health
	said := ""
	for hour := range 5*24 + 1 {
		if n, some := h.fail(begin.Add(time.Duration(hour)*time.Hour), begin, 500, "answered 500"); some {
			said += fmt.Sprint(hour, " ", n.Kind, " ", n.Share, "; ")
			if n.Kind == Failing {
				h.warned = n.Share
			}
		}
	}
	if said != "60 failing 50; 90 failing 75; 108 failing 90; 120 auto 0; " {
		t.Error(said)
	}
	h = health{}
	for try := range failingTimes { // ten attempts are needed, however long it takes
		at := begin.Add(time.Duration(try) * 24 * time.Hour)
		n, some := h.fail(at, begin, 0, "it refuses the connection")
		if off := some && n.Kind == OffFailing; off != (try == failingTimes-1) {
			t.Errorf("%v after %d attempts", off, try+1)
		}
	}
	h.warned = 90
	back := begin.AddDate(0, 0, 20) // it is enabled again
	if n, some := h.fail(back.Add(time.Hour), back, 500, ""); some || h.failures != 1 || h.warned != 0 {
		t.Errorf("%+v after it was enabled again: %+v", n, h)
	}
	h.succeed(begin, 200)
	if n, some := h.fail(begin.AddDate(0, 0, 30), begin, 500, ""); some || h.failures != 1 {
		t.Errorf("%+v after a success", n)
	}
}

func TestOfThePlacesOfAVehicleTheNewestIsTold(t *testing.T) {
	now := time.Now()
	q := &queue{held: map[uint64]*item{}}
	e := &Endpoint{PlaceEvery: 10 * time.Second, PlaceMoved: 500}
	at := func(sequence uint64, vehicle fleet.VehicleID, lat float64) *item {
		return &item{at: -1, dueAt: now, event: &fleet.Event{Body: json.RawMessage(fmt.Sprintf(`{"lat":%v,"lng":8}`, lat))},
			delivery: delivery{id: sequence, sequence: sequence, vehicle: vehicle, eventType: placeType}}
	}
	first, second, other := at(1, 3, 50), at(2, 3, 50.001), at(3, 4, 50)
	for _, test := range []struct{ it, needless *item }{{second, nil}, {other, nil}, {first, first}} {
		if got := q.push(test.it, e); got != test.needless {
			t.Fatalf("%+v is needless", got)
		}
	}
	if it := q.pop(); it != second || len(q.due) != 1 {
		t.Fatalf("%+v is told", it)
	}
	q.placed(second, now)
	near, far := at(5, 3, 50.002), at(6, 3, 50.01)
	if q.push(near, e); !near.dueAt.Equal(now.Add(10 * time.Second)) {
		t.Errorf("a place near by is told after %v", near.dueAt.Sub(now))
	}
	if old := q.push(far, e); old != near || !far.dueAt.Equal(now) {
		t.Errorf("a place far off is told after %v", far.dueAt.Sub(now))
	}
	q.pop()
	q.pop() // the sixth is under way; the fifth failed and comes back
	if old := q.push(near, e); old != near {
		t.Error("a place is told after a newer one")
	}
	q.push(far, e) // a newest one that failed itself does come back
	trip := &item{at: -1, dueAt: now, event: &fleet.Event{},
		delivery: delivery{vehicle: 3, eventType: fleet.EventTripEnded}}
	if q.push(trip, e) != nil || len(q.due) != 2 {
		t.Error("what is no place makes one needless")
	}
	for len(q.due) > 0 {
		heap.Pop(&q.due)
	}
}

func TestACommandAndAnEventAreReadAsTheyWereWritten(t *testing.T) {
	e := event(7, 3)
	m, got, err := parseMessage(appendMessage(nil, 5, 42, 1_700_000_000_000, &e))
	if err != nil || m.Endpoint != 5 || m.Sequence != 42 || m.Noted != 1_700_000_000_000 ||
		fmt.Sprint(got) != fmt.Sprint(e) {
		t.Errorf("%+v, %+v, %v", m, got, err)
	}
	for _, text := range []string{"", "null", "{}", `{"account":"7","endpoint":"5"}`,
		`{"account":"8","endpoint":"5","sequence":"42","noted_ms":1,"event":{"id":"1","type":"a","account":"7"}}`} {
		if _, _, err := parseMessage([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
