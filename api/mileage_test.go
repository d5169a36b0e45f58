package api

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/track"
)

// Four years of two vehicles, a trip of ten miles on every fifth day and two on every tenth: any span is answered, page
// by page, and its days add up to its months and its total.
func TestMileageOfAnySpanAddsUp(t *testing.T) {
	w := newWorld(t)
	var rows []row
	vehicles := []string{w.vehicle(`{"make":"A","model":"1"}`), w.vehicle(`{"make":"A","model":"2"}`)}
	const days = 4 * 365
	want := 0
	for _, vehicle := range vehicles {
		for day := 0; day < days; day += 5 {
			for trip := range 1 + (1 - min(day%10, 1)) {
				from := -1440*float64(day) + 60*float64(trip)
				rows = append(rows, row{vehicle: vehicle, entity: sampleTrip(from, from+10)})
				want++
			}
		}
	}
	gone := sampleTrip(-2000, -1990)
	w.derive(w.account, append(rows, row{vehicle: vehicles[0], entity: gone, revision: 2, deleted: true})...)
	const span = "from=2021-01-01&until=2026-12-31"
	sum := func(by, more string) (n, trips int, miles float64, first map[string]any) {
		t.Helper()
		for cursor := ""; ; {
			page := w.do("GET", "/v1/reports/mileage?per_page=97&by="+by+"&"+span+more+cursor, "").ok(200).object()
			for _, one := range page["data"].([]any) {
				m := one.(map[string]any)
				if first == nil {
					first = m
				}
				n, trips, miles = n+1, trips+int(m["trips"].(float64)), miles+m["distance_mi"].(float64)
			}
			pages := page["pagination"].(map[string]any)
			next, _ := pages["next_cursor"].(string)
			if next == "" {
				wantEqual(t, by+" in all", pages["total"], any(float64(n)))
				return n, trips, miles, first
			}
			cursor = "&cursor=" + url.QueryEscape(next)
		}
	}
	for by, rows := range map[string]int{"day": 2 * days / 5, "total": 2} {
		n, trips, miles, _ := sum(by, "")
		wantEqual(t, by, fmt.Sprint(n, trips, fmt.Sprintf("%.0f", miles)),
			fmt.Sprint(rows, want, fmt.Sprintf("%.0f", 10*float64(want))))
	}
	n, trips, _, first := sum("month", "&vehicle_id="+vehicles[1])
	wantEqual(t, "months of one", fmt.Sprint(n, trips), fmt.Sprint(48, want/2))
	wantEqual(t, "whose", fmt.Sprint(first["vehicle_id"], " ", strings.HasSuffix(fmt.Sprint(first["on"]), "-01"),
		first["moving_s"] != 0.), vehicles[1]+" true true")
	day := w.do("GET", "/v1/reports/mileage?from=2026-01-31&until=2026-01-31&units=metric&vehicle_id="+vehicles[0], "").data()[0]
	wantEqual(t, "a day", fmt.Sprint(day["on"], " ", day["trips"], " ", fmt.Sprintf("%.3f", day["distance_km"]), " ",
		day["from"]), "2026-01-31 2 32.187 "+rest.IsoTime(at(0)))
	lines := strings.Split(strings.TrimSpace(string(w.do("GET", "/v1/reports/mileage?format=csv&"+span, "").ok(200).body)),
		"\n")
	wantEqual(t, "lines of CSV", len(lines), 1+2*days/5)
	for _, query := range []string{"from=2026-02-02&until=2026-02-01", "from=1600-01-01&until=2026-02-01",
		"from=2026-01-01&until=2026-02-01&vehicle_id=x"} {
		w.do("GET", "/v1/reports/mileage?"+query, "").problem(400, "invalid_request")
	}
	w.key = w.newKey(w.newAccount("Second"), auth.Admin)
	wantEqual(t, "of another account", len(w.do("GET", "/v1/reports/mileage?"+span, "").data()), 0)
}

// A route without its geometry has no bound in time; with it, it says how to ask.
func TestARouteOfAnySpan(t *testing.T) {
	w := newWorld(t)
	vehicle := w.vehicle(`{"make":"A","model":"1"}`)
	var rows []row
	for day := range 400 {
		from := -1440 * float64(day)
		rows = append(rows, row{vehicle: vehicle, entity: sampleTrip(from, from+10)},
			row{vehicle: vehicle, entity: &fleet.Stop{Head: head(from+10, from+1440, false)}})
	}
	w.derive(w.account, rows...)
	path := "/v1/vehicles/" + vehicle + "/route?from=2020-01-01T00:00:00Z&until=2026-03-01T00:00:00Z"
	wantEqual(t, "trips",
		w.do("GET", path+"&geometry=false", "").ok(200).object()["totals"].(map[string]any)["trips"], any(400.0))
	w.do("GET", path, "").problem(400, "invalid_request")
}

// After a change of the zone, of the account or of a vehicle, mileage tells the days that the trips tell.
func TestMileageTellsTheDaysOfTheZoneThatHoldsNow(t *testing.T) {
	w := newWorld(t)
	vehicle := w.vehicle(`{"make":"A","model":"1"}`)
	trip := sampleTrip(-600, -580) // 02:00 UTC of 31 January
	w.derive(w.account, row{vehicle: vehicle, entity: trip})
	agree := func(want string) {
		t.Helper()
		wantEqual(t, "day of the trip",
			w.do("GET", "/v1/trips/"+track.DerivedID(trip), "").ok(200).object()["local_on"], any(want))
		for _, list := range []string{"/v1/trips", "/v1/trips?vehicle_id=" + vehicle, "/v1/trips?format=ndjson"} {
			if body := string(w.do("GET", list, "").ok(200).body); !strings.Contains(body, `"local_on":"`+want+`"`) {
				t.Errorf("%s does not say %s: %s", list, want, body)
			}
		}
		page := w.do("GET", "/v1/reports/mileage?from="+want+"&until="+want, "").ok(200).object()
		wantEqual(t, "rows", page["pagination"].(map[string]any)["total"], any(1.0))
		wantEqual(t, "day of mileage", page["data"].([]any)[0].(map[string]any)["on"], any(want))
	}
	w.do("PATCH", "/v1/account", `{"timezone":"UTC"}`).ok(200)
	agree("2026-01-31")
	w.do("PATCH", "/v1/account", `{"timezone":"America/Los_Angeles"}`).ok(200)
	agree("2026-01-30")
	w.do("PATCH", "/v1/vehicles/"+vehicle, `{"timezone":"Asia/Tokyo"}`).ok(200)
	agree("2026-01-31")
}
