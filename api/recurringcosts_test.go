package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/auth"
)

// post does what costs by schedule.
func (w *world) post() {
	w.t.Helper()
	if err := w.api.desk.Duty(w.t.Context(), "costs by schedule"); err != nil {
		w.t.Fatal(err)
	}
}

// firstOfMonth is so many months before or after the first of the present one, as a date, in UTC.
func firstOfMonth(months int) string {
	y, m, _ := time.Now().UTC().Date()
	return time.Date(y, m+time.Month(months), 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// A recurring cost is written, refused where it makes no sense, and made into expenses that name it.
func TestARecurringCostMakesExpenses(t *testing.T) {
	w := newWorld(t)
	car := w.vehicle(`{"make":"A","model":"B"}`)
	cost := func(more string) string {
		return `{"category":"parking","amount":{"amount":9000,"currency":"USD"},"every":"month","vendor":"Prairie Parking",` + more + `}`
	}
	for body, want := range map[string]string{
		cost(`"from":"0001-01-01"`):                                                  "/from",
		cost(`"from":"2026-03-01","until":"2026-02-01"`):                             "/until",
		cost(`"from":"2026-03-01","vehicle_id":"veh_1"`):                             "/vehicle_id",
		cost(`"from":"2026-03-01","location_id":"loc_1"`):                            "/location_id",
		cost(`"from":"2026-03-01","location_id":"loc_1","vehicle_id":"` + car + `"`): "/location_id",
		strings.Replace(cost(`"from":"2026-03-01"`), "9000", "0", 1):                 "/amount/amount",
		strings.Replace(cost(`"from":"2026-03-01"`), "month", "week", 1):             "/every",
		strings.Replace(cost(`"from":"2026-03-01"`), "parking", "depreciation", 1):   "/category",
	} {
		wantEqual(t, body, w.do("POST", "/v1/recurring_costs", body).faults(), want)
	}
	id := w.do("POST", "/v1/recurring_costs", cost(`"vehicle_id":"`+car+`","from":"`+firstOfMonth(-2)+`"`)).ok(201).id()
	w.post()
	made := w.do("GET", "/v1/expenses?sort=incurred_on&recurring_cost_id="+id, "").data()
	wantEqual(t, "made", len(made), 3)
	for i, e := range made {
		wantEqual(t, "day", e["incurred_on"], any(firstOfMonth(i-2)))
		wantEqual(t, "schedule", e["schedule"], any("recurring"))
		wantEqual(t, "cause", e["recurring_cost_id"], any(id))
		wantEqual(t, "vehicle", e["vehicle_id"], any(car))
		wantEqual(t, "vendor", e["vendor"], any("Prairie Parking"))
		wantEqual(t, "status", e["status"], any("posted"))
	}
	wantEqual(t, "by hand", w.do("GET", "/v1/expenses?schedule=depreciation", "").pagination().Total, 0)

	// It has ended a month ago: what was made since is taken back, and a repetition makes nothing.
	path := "/v1/recurring_costs/" + id
	end, err := time.Parse(time.DateOnly, firstOfMonth(0))
	if err != nil {
		t.Fatal(err)
	}
	w.do("PATCH", path, `{"until":"`+end.AddDate(0, 0, -1).Format(time.DateOnly)+`"}`, "If-Match", `"r1"`).ok(200)
	w.post()
	w.post()
	wantEqual(t, "posted", w.do("GET", "/v1/expenses?status=posted&recurring_cost_id="+id, "").pagination().Total, 2)
	wantEqual(t, "voided", w.do("GET", "/v1/expenses?status=voided&recurring_cost_id="+id, "").pagination().Total, 1)
	wantEqual(t, "of another", w.do("PATCH", path, `{"vehicle_id":null}`).faults(), "/vehicle_id")
	w.do("DELETE", path, "").ok(204)
	w.post()
	wantEqual(t, "archived", w.do("GET", "/v1/expenses?status=posted&recurring_cost_id="+id, "").pagination().Total, 2)
	wantEqual(t, "history", len(w.do("GET", path+"/history", "").data()), 3)
	wantEqual(t, "listed", w.do("GET", "/v1/recurring_costs?vehicle_id="+car, "").pagination().Total, 0)
	other := w.newKey(w.newAccount("Second"), auth.Admin)
	w.do("GET", path, "", "Authorization", "Bearer "+other).problem(404, "not_found")
}

// The books are closed before the duty has posted what fell due: that is posted first, on its own days, and nothing of
// closed days is left for the present one.
func TestTheBooksAreClosedWithWhatCostsBySchedule(t *testing.T) {
	w := newWorld(t)
	car := w.vehicle(`{"make":"A","model":"B","insurance":{"premium":{"amount":3000,"currency":"USD"},"period":"month",
		"from":"` + firstOfMonth(-2) + `"}}`)
	w.do("POST", "/v1/recurring_costs", `{"category":"parking","amount":{"amount":9000,"currency":"USD"},"every":"month",
		"vehicle_id":"`+car+`","from":"`+firstOfMonth(-2)+`"}`).ok(201)
	through := dayBefore(firstOfMonth(-1))
	w.do("POST", "/v1/ledger/close", `{"through":"`+through+`"}`).ok(200)
	for range 2 {
		sums := map[string]float64{}
		for _, a := range w.do("GET", "/v1/ledger/accounts?on="+through, "").data() {
			sums[a["ledger_account"].(string)] = minor(a["balance"])
		}
		wantEqual(t, "the month before last", fmt.Sprint(sums["cost.parking"], sums["cost.insurance"]), "9000 3000")
		for _, e := range w.do("GET", "/v1/ledger/entries?per_page=100", "").data() {
			if e["used_on"] != e["local_on"] {
				t.Errorf("%v is posted on %v and belongs to %v", e["ledger_account"], e["local_on"], e["used_on"])
			}
		}
		w.post() // finds nothing more of closed days
	}
}

// What a vehicle is worth is answered from the books, beside what its terms ask for.
func TestWhatAVehicleIsWorth(t *testing.T) {
	w := newWorld(t)
	bought := firstOfMonth(-2)
	car := w.vehicle(`{"make":"A","model":"B","acquired_on":"` + bought + `","ownership":"financed",
		"acquisition_cost":{"amount":2400000,"currency":"USD"},"residual_value":{"amount":1200000,"currency":"USD"},
		"useful_life_months":12,"depreciation_method":"straight_line","insurance":{"premium":{"amount":100,"currency":"USD"}},
		"financing":{"principal":{"amount":1200000,"currency":"USD"},"apr_bp":600,"term_months":24,"first_payment_on":"` +
		firstOfMonth(-1) + `"}}`)
	path := "/v1/vehicles/" + car + "/value"
	before := w.do("GET", path, "").ok(200).object()
	wantEqual(t, "not in the books yet", fmt.Sprint(before["book_value"], before["loan_balance"]), "<nil> <nil>")
	wantEqual(t, "posted through", before["posted_through"], dayBefore(bought))
	w.post()
	v := w.do("GET", path, "").ok(200).object()
	wantEqual(t, "posted through today", v["posted_through"], v["on"])
	amount := func(name string) int64 { return int64(v[name].(map[string]any)["amount"].(float64)) }
	wantEqual(t, "cost", amount("acquisition_cost"), int64(2400000))
	wantEqual(t, "book value", amount("book_value"), 2400000-amount("depreciated"))
	if lost := amount("depreciated"); lost < 190_000 || lost > 310_000 {
		t.Errorf("it has lost %d in two months and some days", lost)
	}
	states, left := map[string]int{}, int64(0)
	for _, line := range v["schedule"].([]any) {
		l := line.(map[string]any)
		states[fmt.Sprint(l["schedule"], " ", l["status"])]++
		if (l["status"] == "posted") != (l["expense_id"] != nil) {
			t.Errorf("%v", l)
		}
		if l["schedule"] == "loan_principal" && l["status"] == "posted" {
			left = int64(l["left"].(map[string]any)["amount"].(float64))
		}
	}
	wantEqual(t, "owed", amount("loan_balance"), left)
	// Interest belongs to the days before its payment, so that the payment to come is under way.
	wantEqual(t, "lines", fmt.Sprint(states), "map[depreciation planned:9 depreciation posted:3 loan_interest planned:21 "+
		"loan_interest posted:3 loan_principal planned:22 loan_principal posted:2 purchase posted:1]")
	wantEqual(t, "missing", fmt.Sprint(v["missing"]),
		"[map[detail:insurance.from and insurance.period say when the premium is due schedule:insurance]]")
	w.do("GET", path, "", "Authorization", "Bearer "+w.newKey(w.account, auth.VehiclesRead)).
		problem(403, "insufficient_scope")
	other := w.newKey(w.newAccount("Second"), auth.Admin)
	w.do("GET", path, "", "Authorization", "Bearer "+other).problem(404, "not_found")
	w.audited()

	// What is changed is in the books a moment later, and until then it says from when on it is not.
	w.do("PATCH", "/v1/vehicles/"+car, `{"residual_value":{"amount":1100000,"currency":"USD"}}`).ok(200)
	v = w.do("GET", path, "").ok(200).object()
	wantEqual(t, "posted through while changed", v["posted_through"], dayBefore(bought))
	w.post()
	v = w.do("GET", path, "").ok(200).object()
	wantEqual(t, "posted through after that", v["posted_through"], v["on"])
}

func dayBefore(day string) string {
	at, _ := time.Parse(time.DateOnly, day)
	return at.AddDate(0, 0, -1).Format(time.DateOnly)
}

// A loan pays for a purchase, and nothing else; nobody writes a sale.
func TestOnlyAPurchaseIsFinanced(t *testing.T) {
	w := newWorld(t)
	for body, want := range map[string]string{
		`{"category":"fuel","financed":{"amount":1,"currency":"USD"}`:             "/financed",
		`{"category":"vehicle_purchase","financed":{"amount":6,"currency":"EUR"}`: "/financed/currency /financed/amount",
		`{"category":"vehicle_sale"`:                                              "/category",
	} {
		wantEqual(t, body, w.do("POST", "/v1/expenses",
			body+`,"amount":{"amount":5,"currency":"USD"},"incurred_on":"2026-03-01"}`).faults(), want)
	}
	w.do("POST", "/v1/expenses", `{"category":"vehicle_purchase","financed":{"amount":4,"currency":"USD"},"status":"posted",
		"amount":{"amount":5,"currency":"USD"},"incurred_on":"2026-03-01"}`).ok(201)
	wantEqual(t, "books", fmt.Sprint(w.balances("2026-03-01")), "map[cash USD:-1 fixed_asset USD:5 loans_payable USD:-4]")
}
