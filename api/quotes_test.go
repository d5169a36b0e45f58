package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/auth"
)

// shop is a small rental business with two cars of a class, a van without one, and a rate plan.
type shop struct {
	*world
	plan, class, place, red, blue, van string
}

func newShop(t *testing.T) *shop {
	w := newWorld(t)
	s := &shop{world: w}
	s.place = w.do("POST", "/v1/locations",
		`{"name":"Airport","timezone":"America/Chicago","taxes":[{"name":"Tax","rate_bp":1000}]}`).ok(201).id()
	s.class = w.do("POST", "/v1/vehicle_classes", `{"name":"Small","buffer_after_minutes":60}`).ok(201).id()
	s.plan = w.do("POST", "/v1/rate_plans",
		`{"name":"Standard","currency":"USD","daily_rate":{"amount":5000,"currency":"USD"},"tiers":[{"days":7,"price":{"amount":30000,"currency":"USD"}}],
		"vehicle_class_ids":["`+s.class+`"],"promotions":[{"code":"HALLO","discount_bp":1000}]}`).ok(201).id()
	car := func(nickname string) string {
		return w.vehicle(`{"make":"A","model":"B","nickname":"` + nickname + `","vehicle_class_id":"` + s.class +
			`","home_location_id":"` + s.place + `"}`)
	}
	s.red, s.blue = car("red"), car("blue")
	s.van = w.vehicle(`{"make":"V","model":"W","nickname":"van","daily_rate":{"amount":4000,"currency":"USD"},"min_rental_days":2}`)
	return s
}

// at is an instant some hours from tomorrow noon, as text.
func (s *shop) at(hours int) string {
	return s.api.Now().UTC().Truncate(24 * time.Hour).Add(time.Duration(36+hours) * time.Hour).
		Format("2006-01-02T15:04:05.000Z")
}

func (s *shop) customer() string {
	return s.do("POST", "/v1/customers", `{"first_name":"Ada","last_name":"L"}`).ok(201).id()
}

func TestAQuoteHoldsItsPriceUntilItIsAccepted(t *testing.T) {
	s := newShop(t)
	ask := fmt.Sprintf(`{"vehicle_id":"%s","pickup_at":"%s","return_at":"%s","promo_code":"HALLO"}`, s.red,
		s.at(0), s.at(72))
	made := s.do("POST", "/v1/quotes", ask).ok(201)
	q := made.object()
	wantEqual(t, "total", fmt.Sprint(q["total"]), "map[amount:14850 currency:USD]")
	wantEqual(t, "completed",
		fmt.Sprint(q["vehicle_class_id"], q["rate_plan_id"], q["pickup_location_id"], q["channel"], q["status"]),
		fmt.Sprint(s.class, s.plan, s.place, "direct", "open"))
	path := made.header.Get("Location")
	wantEqual(t, "found",
		len(s.do("GET", "/v1/quotes?vehicle_id="+s.red+"&total[lt]=15000&sort=-expires_at", "").data()), 1)
	s.do("PATCH", path, `{}`).problem(405, "method_not_allowed")

	// The rates change; the quote does not.
	s.do("PATCH", "/v1/rate_plans/"+s.plan,
		`{"daily_rate":{"amount":9900,"currency":"USD"},"promotions":[],"enabled":false}`).ok(200)
	b := s.do("POST", path+"/accept", `{"customer_id":"`+s.customer()+`","confirm":true}`).ok(201)
	wantEqual(t, "booking", fmt.Sprint(b.object()["status"], b.object()["total"], b.object()["quote_id"]),
		fmt.Sprint("confirmed", map[string]any{"amount": 14850.0, "currency": "USD"}, made.id()))
	q = s.do("GET", path, "").ok(200).object()
	wantEqual(t, "accepted", fmt.Sprint(q["status"], q["booking_id"]), fmt.Sprint("accepted", b.id()))
	p := s.do("POST", path+"/accept", "").problem(409, "invalid_state_transition")
	wantEqual(t, "state", p.CurrentState, "accepted")
}

func TestAQuoteIsNoHold(t *testing.T) {
	s := newShop(t)
	ask := fmt.Sprintf(`{"vehicle_id":"%s","pickup_at":"%s","return_at":"%s"}`, s.red, s.at(0), s.at(72))
	first, second := s.do("POST", "/v1/quotes", ask).ok(201), s.do("POST", "/v1/quotes", ask).ok(201)
	s.do("POST", first.header.Get("Location")+"/accept", "").ok(201)
	s.do("POST", second.header.Get("Location")+"/accept", "").problem(409, "conflict")
	s.do("POST", second.header.Get("Location")+"/accept", `{}`, "If-Match", `"r7"`).problem(412, "precondition_failed")
	for body, want := range map[string]string{
		fmt.Sprintf(`{"pickup_at":"%s","return_at":"%s"}`, s.at(0),
			s.at(72)): "/vehicle_class_id",
		fmt.Sprintf(`{"vehicle_id":"veh_x","pickup_at":"%s","return_at":"%s"}`, s.at(0),
			s.at(72)): "/vehicle_id",
		fmt.Sprintf(`{"vehicle_id":"%s","pickup_at":"%s","return_at":"%s","promo_code":"X"}`, s.red, s.at(0),
			s.at(72)): "/promo_code",
		fmt.Sprintf(`{"vehicle_id":"%s","pickup_at":"%s","return_at":"%s"}`, s.van, s.at(0),
			s.at(20)): "/return_at",
		fmt.Sprintf(`{"vehicle_id":"%s","pickup_at":"%s","return_at":"%s"}`, s.van, s.at(10),
			s.at(0)): "/return_at",
		fmt.Sprintf(`{"vehicle_id":"%s","pickup_at":"0001-01-01T00:00:00Z","return_at":"9999-01-01T00:00:00Z"}`,
			s.van): "/pickup_at /return_at",
	} {
		if got := s.do("POST", "/v1/quotes", body).faults(); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

func TestAnOfferHasItsPlateForWhoMaySeeVehicles(t *testing.T) {
	s := newShop(t)
	s.do("PATCH", "/v1/vehicles/"+s.red, `{"license_plate":"RED 1"}`).ok(200)
	path := fmt.Sprintf("/v1/availability?pickup_at=%s&return_at=%s&vehicle_class_id=%s", s.at(0), s.at(72), s.class)
	for want, scopes := range map[string][]auth.Scope{
		"RED 1": {auth.BookingsRead, auth.VehiclesRead},
		"<nil>": {auth.BookingsRead},
	} {
		offers := s.do("GET", path, "", "Authorization", "Bearer "+s.newKey(s.account, scopes...)).ok(200).data()
		wantEqual(t, "red of two", fmt.Sprintf("%d %v %v", len(offers), offers[0]["nickname"], offers[0]["license_plate"]),
			"2 red "+want)
	}
}

func TestWhatIsFreeIsFound(t *testing.T) {
	s := newShop(t)
	find := func(from, until int, more string) string {
		r := s.do("GET", fmt.Sprintf("/v1/availability?pickup_at=%s&return_at=%s%s", s.at(from), s.at(until), more),
			"").ok(200).object()
		var words []string
		for _, v := range r["data"].([]any) {
			v := v.(map[string]any)
			words = append(words, fmt.Sprint(v["nickname"], v["total"].(map[string]any)["amount"]))
		}
		for _, c := range r["classes"].([]any) {
			c := c.(map[string]any)
			price := "-"
			if p, ok := c["price"].(map[string]any); ok {
				price = fmt.Sprint(p["total"].(map[string]any)["amount"])
			}
			words = append(words,
				fmt.Sprintf("%v:%v/%v-%v=%v@%s", c["name"], c["free"], c["vehicles"], c["booked"], c["left"], price))
		}
		return fmt.Sprint(strings.Join(words, " "), " ", r["not_available"])
	}
	book := func(what string, from, until int) string {
		return s.do("POST", "/v1/bookings",
			fmt.Sprintf(`{%s,"pickup_at":"%s","return_at":"%s"}`, what, s.at(from), s.at(until))).ok(201).id()
	}
	wantEqual(t, "all", find(0, 72, ""), "van12000 red16500 blue16500 Small:2/2-0=2@16500 map[]")
	wantEqual(t, "a day", find(0, 24, ""), "red5500 blue5500 Small:2/2-0=2@5500 map[too_short:1]")
	// nobody knows where the van is, and so it may be there
	wantEqual(t, "at a place", find(0, 72, "&pickup_location_id="+s.place),
		"van13200 red16500 blue16500 Small:2/2-0=2@16500 map[]")
	wantEqual(t, "of a class", find(0, 72, "&vehicle_class_id="+s.class), "red16500 blue16500 Small:2/2-0=2@16500 map[]")
	wantEqual(t, "with a code", find(0, 72, "&promo_code=hallo"),
		"red14850 blue14850 Small:2/2-0=2@14850 map[promo_code_not_found:1]")
	booking := book(`"vehicle_id":"`+s.red+`"`, 0, 24)
	wantEqual(t, "red is taken", find(12, 72, ""), "van12000 blue16500 Small:1/2-0=1@16500 map[busy:1]")
	wantEqual(t, "in its buffer", find(24, 96, ""), "van12000 blue16500 Small:1/2-0=1@16500 map[busy:1]")
	wantEqual(t, "after its buffer", find(25, 97, ""), "van12000 red16500 blue16500 Small:2/2-0=2@16500 map[]")
	class := book(`"vehicle_class_id":"`+s.class+`"`, 0, 24)
	wantEqual(t, "the class is full", find(12, 72, ""), "van12000 Small:1/2-1=0@16500 map[busy:1 class_full:1]")
	for _, id := range []string{booking, class} {
		s.do("POST", "/v1/bookings/"+id+"/cancel", `{"cancelled_by":"customer"}`).ok(200)
	}
	wantEqual(t, "cancelled", find(12, 72, ""), "van12000 red16500 blue16500 Small:2/2-0=2@16500 map[]")
	s.do("POST", "/v1/vehicles/"+s.blue+"/status", `{"status":"out_of_service","reason":"broken"}`).ok(200)
	wantEqual(t, "out of service", find(0, 72, ""), "van12000 red16500 Small:1/1-0=1@16500 map[]")

	for query, want := range map[string]string{
		"pickup_at=" + s.at(0) + "&return_at=" + s.at(0):                               "return_at",
		"pickup_at=1950-01-01T00:00:00Z&return_at=" + s.at(0):                          "pickup_at",
		"pickup_at=" + s.at(0) + "&return_at=" + s.at(9) + "&vehicle_class_id=vcl_1":   "vehicle_class_id",
		"pickup_at=" + s.at(0) + "&return_at=" + s.at(9) + "&pickup_location_id=loc_x": "pickup_location_id",
		"pickup_at=" + s.at(0) + "&return_at=" + s.at(9) + "&customer_id=cus_1":        "customer_id",
		"pickup_at=" + s.at(0) + "&return_at=" + s.at(9) + "&rate_plan_id=rat_1":       "rate_plan_id",
	} {
		if faults := s.do("GET", "/v1/availability?"+query, "").problem(400, "invalid_request").Errors; len(faults) != 1 ||
			faults[0].Pointer != want {
			t.Errorf("%s: %+v, want %s", query, faults, want)
		}
	}
	s.do("GET", "/v1/availability", "").problem(400, "invalid_request")
}
