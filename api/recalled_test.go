package api

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/desk/base"
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
		stored, err := base.NewStored(w.db).PlansInUse(t.Context(), w.account)
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
		before, _ := answersFromMemory(t, registries[n])
		pickup := day.AddDate(0, 0, 3*n)
		made := one.do("POST", "/v1/bookings", fmt.Sprintf(`{"vehicle_id":%q,"customer_id":%q,"pickup_at":%q,
			"return_at":%q,"confirm":true}`, van, renter, pickup.Format(time.RFC3339),
			pickup.AddDate(0, 0, 1).Format(time.RFC3339))).ok(201).object()
		if total := made["total"].(map[string]any)["amount"]; total != float64(amount) {
			t.Errorf("a day costs %v, not %d", total, amount)
		}
		if after, _ := answersFromMemory(t, registries[n]); after < before+4 {
			t.Errorf("of what server %d looked up memory answered %v", n, after-before)
		}
	}
}
