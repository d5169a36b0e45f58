package api

import (
	"fmt"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/auth"
)

func TestARatePlanTellsItsPricesByDayAsQuotesDo(t *testing.T) {
	s := newShop(t)
	chicago, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	first := s.api.Now().In(chicago).AddDate(0, 0, 3)
	day := func(n int) string { return first.AddDate(0, 0, n).Format(time.DateOnly) }
	s.do("PATCH", "/v1/rate_plans/"+s.plan, `{"seasons":[{"name":"Fair","from":"`+day(10)+`","until":"`+day(12)+
		`","factor_bp":15000}],"weekday_factors":[{"day":"sat","factor_bp":12000}],"min_rental_days":2,
		"early_bird_discounts":[{"min_days_ahead":60,"discount_bp":1000}],"valid_until":"`+day(200)+`"}`).ok(200)
	prices := "/v1/rate_plans/" + s.plan + "/prices?from=" + day(0)

	// Each is that of a quote which begins then.
	year := s.do("GET", prices+"&rental_days=3", "").ok(200).object()
	wantEqual(t, "what", fmt.Sprint(year["rate_plan_id"], year["vehicle_class_id"], year["pickup_location_id"],
		year["timezone"], year["currency"], year["pickup_time"]),
		fmt.Sprint(s.plan, s.class, s.place, "America/Chicago", "USD", "10:00"))
	days := year["days"].([]any)
	wantEqual(t, "days", len(days), 365)
	for _, n := range []int{0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 13, 60, 130, 200} {
		on := first.AddDate(0, 0, n)
		at := func(more int) string {
			return time.Date(on.Year(), on.Month(), on.Day()+more, 10, 0, 0, 0, chicago).UTC().Format(time.RFC3339)
		}
		quote := s.do("POST", "/v1/quotes", `{"vehicle_class_id":"`+s.class+`","rate_plan_id":"`+s.plan+`","pickup_at":"`+
			at(0)+`","return_at":"`+at(3)+`"}`).ok(201).object()
		sums, got := quote["rate_snapshot"].(map[string]any)["totals"].(map[string]any), days[n].(map[string]any)
		wantEqual(t, "day", got["pickup_on"], any(on.Format(time.DateOnly)))
		wantEqual(t, on.Format(time.DateOnly), fmt.Sprint(got["subtotal"], got["discounts_total"], got["total"]),
			fmt.Sprint(sums["subtotal"], sums["discounts_total"], sums["total"]))
	}
	late := days[201].(map[string]any)
	wantEqual(t, "beyond the plan", fmt.Sprint(late["total"], late["reasons"].([]any)[0].(map[string]any)["code"]),
		"<nil>not_valid")

	// What the plan does not allow has no price, and says why.
	short := s.do("GET", prices+"&days=2", "").ok(200).object()["days"].([]any)
	wantEqual(t, "two days", len(short), 2)
	wantEqual(t, "too short", fmt.Sprint(short[0].(map[string]any)["total"],
		short[0].(map[string]any)["reasons"].([]any)[0].(map[string]any)["code"]), "<nil>too_short")

	// A plan for any class has to be told which; and what is somebody else's is nowhere.
	loose := "/v1/rate_plans/" + s.do("POST", "/v1/rate_plans",
		`{"name":"Any","currency":"USD","daily_rate":{"amount":100,"currency":"USD"}}`).ok(201).id() + "/prices"
	s.do("GET", loose, "").problem(400, "invalid_request")
	s.do("GET", loose+"?days=1&vehicle_class_id="+s.class, "").ok(200)
	s.do("GET", loose+"?vehicle_class_id=vcl_1", "").problem(400, "invalid_request")
	s.do("GET", prices+"&pickup_time=noon", "").problem(400, "invalid_request")

	// Where there are several locations, and none is named, it has the price without taxes.
	s.do("POST", "/v1/locations", `{"name":"Downtown","timezone":"America/Chicago"}`).ok(201)
	several := s.do("GET", prices+"&days=1&rental_days=3", "").ok(200).object()
	one := several["days"].([]any)[0].(map[string]any)
	wantEqual(t, "anywhere", fmt.Sprint(several["pickup_location_id"], one["reasons"]), "<nil> []")
	wantEqual(t, "without taxes", fmt.Sprint(one["total"]), fmt.Sprint(one["subtotal"]))
	other := "Bearer " + s.newKey(s.newAccount("Second"), auth.Admin)
	s.do("GET", prices, "", "Authorization", other).problem(404, "not_found")
}
