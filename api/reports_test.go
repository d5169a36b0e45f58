package api

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/desk/fact"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// business is a fleet with four months of books, in which everything that reports tell apart occurs.
type business struct {
	*world
	vehicles, bookings, customers []string
	class, home, owner            string
	sums                          map[string]int64 // of links that were followed
}

func newBusiness(t *testing.T) *business {
	t.Helper()
	b := &business{world: newWorld(t)}
	b.class = b.do("POST", "/v1/vehicle_classes", `{"name":"=Compact","code":"CCAR"}`).ok(201).id()
	b.home = b.do("POST", "/v1/locations", `{"name":"Airport","timezone":"America/Chicago"}`).ok(201).id()
	for i := range 3 {
		b.customers = append(b.customers, b.do("POST", "/v1/customers",
			fmt.Sprintf(`{"first_name":"@Ann","last_name":"Lee %d","email":"a%d@example.com"}`, i, i)).ok(201).id())
	}
	b.owner = b.customers[2]
	for i, more := range []string{
		`,"vehicle_class_id":"` + b.class + `","home_location_id":"` + b.home + `","tags":["ev","vip"]`,
		`,"owner_customer_id":"` + b.owner + `","ownership":"consigned","tags":["ev"]`,
		`,"vehicle_class_id":"` + b.class + `"`} {
		b.vehicles = append(b.vehicles, b.vehicle(fmt.Sprintf(`{"make":"%s","model":"M%d","license_plate":"CAR-%d",
			"in_service_on":"2025-12-15","acquisition_cost":{"amount":%d,"currency":"USD"}%s}`, []string{"Tesla", "Kia", "Tesla"}[i], i, i, 2000000+i, more)))
	}
	rng := rand.New(rand.NewPCG(18, 4))
	for i := range 14 {
		from := time.Date(2026, 1, 2+9*i, 15, 0, 0, 0, time.UTC)
		days := 1 + rng.IntN(6)
		body := record.Booking{
			BookingFields: record.BookingFields{CustomerID: b.customers[i%2], VehicleID: b.vehicles[i%3],
				PickupLocationID: b.home,
				Channel:          []string{"direct", "turo", ""}[i%3],
				PickupAt:         record.InstantOf(from), ReturnAt: record.InstantOf(from.AddDate(0, 0, days))},
			Status: record.BookingConfirmed, Timezone: "America/Chicago", Currency: "USD", RateSnapshot: &record.RateSnapshot{},
		}
		total := int64(0)
		for d := range days {
			price := 3000 + rng.Int64N(5000)
			total += price
			body.RateSnapshot.Days = append(body.RateSnapshot.Days,
				record.DayPrice{Date: from.AddDate(0, 0, d).Format(time.DateOnly), Amount: usd(price)})
		}
		charge := func(kind string, amount int64) {
			body.Charges = append(body.Charges, record.Charge{ID: fmt.Sprintf("chg_%d", len(body.Charges)+1), Type: kind,
				Amount: usd(amount), PostedAt: record.InstantOf(from), Description: map[string]string{"tax": "City tax"}[kind]})
		}
		charge("time", total)
		charge("mileage", rng.Int64N(900))
		charge("extra", 777)
		charge("protection", 1001)
		charge("discount", -total/9)
		charge("late_return", 501)
		charge("toll", 320)
		charge("tax", total/12)
		if body.Channel == "turo" {
			charge("platform_fee", -total/4)
		}
		if i%5 == 0 {
			body.Deposit = record.Deposit{Captured: usd(20000), Released: usd(15000), Applied: usd(int64(i) * 100)}
		}
		id := b.booking(body)
		b.rebook(id, func(r *record.Booking) {
			r.Status, r.ActualPickupAt, r.StatusSince = record.BookingActive, r.PickupAt, r.PickupAt
		})
		if i%4 != 3 {
			b.rebook(id, func(r *record.Booking) { r.Status, r.ActualReturnAt = record.BookingCompleted, r.ReturnAt })
		}
		b.bookings = append(b.bookings, id)
		if i%2 == 0 {
			b.do("POST", "/v1/bookings/"+id+"/payments", fmt.Sprintf(
				`{"method":"card","amount":{"amount":%d,"currency":"USD"},"fee":{"amount":%d,"currency":"USD"},"received_at":"%s"}`,
				total/2, total/80, from.AddDate(0, 0, -3).Format(time.RFC3339))).ok(201)
		}
	}
	expense := func(category string, vehicle int, amount int64, from, until string) {
		b.do("POST", "/v1/expenses", fmt.Sprintf(`{"category":"%s","status":"posted"%s,"amount":{"amount":%d,"currency":"USD"},
			"incurred_on":"%s","service_period":{"from":"%s","until":"%s"}}`, category, map[bool]string{
			true: `,"vehicle_id":"` + b.vehicles[max(vehicle, 0)] + `"`}[vehicle >= 0], amount, from, from, until)).ok(201)
	}
	for i := range b.vehicles {
		expense("depreciation", i, 121003, "2026-01-01", "2026-04-30")
		expense("insurance", i, 40001, "2026-01-01", "2026-04-30")
		expense("repair", i, 9999, "2026-02-10", "2026-02-10")
		expense("fuel", i, 4321, "2026-03-08", "2026-03-08")
		expense("loan_interest", i, 5005, "2026-03-01", "2026-03-31")
	}
	expense("salary", -1, 300000, "2026-03-01", "2026-03-31")
	b.do("POST", "/v1/expenses", `{"category":"fuel","status":"posted","vehicle_id":"`+b.vehicles[0]+
		`","amount":{"amount":50,"currency":"EUR"},"incurred_on":"2026-03-04"}`).ok(201)
	b.tracked()
	b.facts()
	return b
}

// facts makes the facts that reports stand on.
func (b *business) facts() {
	b.t.Helper()
	from, _ := ledger.ParseDay("2025-12-01")
	until, _ := ledger.ParseDay("2026-05-31")
	err := b.api.desk.Facts.Make(b.t.Context(), b.account, from, until, func(fact.Made) error { return nil })
	if err != nil {
		b.t.Fatal(err)
	}
}

// figures is a report as a test reads it.
type figures struct {
	Columns []struct {
		Name, Unit, Formula string
		Additive            bool
	}
	Rows   []figureRow
	Totals figureRow
}

type figureRow struct {
	Key, Label, From, Until   string
	Figures, Previous, Change map[string]json.RawMessage
	Links                     map[string]string
}

func (r figureRow) number(t *testing.T, name string) *big.Rat {
	t.Helper()
	text := string(r.Figures[name])
	if text == "null" {
		return nil
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%s of %s is %q", name, r.Key, text)
	}
	return n
}

func (b *business) report(path string) (f figures) {
	b.t.Helper()
	if err := json.Unmarshal(b.do("GET", "/v1/reports/"+path, "").ok(200).body, &f); err != nil {
		b.t.Fatal(err)
	}
	return f
}

// follow sums the entries of a list.
func (b *business) follow(link string) (sum int64) {
	b.t.Helper()
	if b.sums == nil {
		b.sums = map[string]int64{}
	}
	if sum, ok := b.sums[link]; ok {
		return sum
	}
	for line := range strings.Lines(string(b.do("GET", link+"&format=ndjson", "").ok(200).body)) {
		var e struct{ Amount record.Money }
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Amount.Currency != "USD" {
			b.t.Fatalf("%s: %s, %v", link, line, err)
		}
		sum += e.Amount.Amount
	}
	b.sums[link] = sum
	return sum
}

// What is asked for wrongly is refused in words that help, and another account's ids give nothing.
func TestAReportSaysWhatItIsMadeOf(t *testing.T) {
	b := newBusiness(t)
	w := b.world
	if p := w.do("GET", "/v1/reports/income", "").problem(404, "not_found"); !strings.Contains(p.Detail, "revenue") {
		t.Error(p.Detail)
	}
	p := w.do("GET", "/v1/reports/profit_and_loss?group_by=vehicle", "").problem(400, "invalid_request")
	if !strings.Contains(p.Detail, "account, total, day") {
		t.Error(p.Detail)
	}
	w.do("GET", "/v1/reports/revenue?basis=booked", "").problem(400, "invalid_request")
	w.do("GET", "/v1/reports/revenue?sort=-income", "").problem(400, "invalid_request")
	w.do("GET", "/v1/reports/revenue?from=2026-03-02&until=2026-03-01", "").problem(400, "invalid_request")
	w.do("GET", "/v1/reports/utilization?channel=turo", "").problem(400, "invalid_request")
	w.do("GET", "/v1/reports/revenue?timezone=Europe/Paris", "").problem(422, "validation_failed")
	w.do("GET", "/v1/reports/revenue?timezone=America/Chicago", "").ok(200)
	bare := w.newKey(w.account, auth.FinanceRead)
	w.do("GET", "/v1/reports/revenue", "", "Authorization", "Bearer "+bare).problem(403, "insufficient_scope")

	span := "from=2026-01-01&to=2026-04-30"
	f := b.report("utilization?" + span + "&group_by=month&compare=previous_period")
	wantEqual(t, "months", len(f.Rows), 4)
	wantEqual(t, "the first", f.Rows[0].Label, "January 2026")
	now, past := f.Rows[3].number(t, "rented_s"), f.Rows[3].Previous["rented_s"]
	if now.Sign() <= 0 || string(past) != "0" {
		t.Errorf("rented %s, before %s", now, past)
	}
	if d := f.Totals.number(t, "fleet_s"); string(f.Totals.Change["fleet_s"]) == "null" || d.Sign() <= 0 {
		t.Errorf("%v", f.Totals)
	}
	// Nothing was in the fleet in 2024: no ratio, and no error.
	f = b.report("utilization?from=2024-01-01&to=2024-12-31&group_by=year")
	wantEqual(t, "of nothing", string(f.Totals.Figures["utilization"])+" "+string(f.Rows[0].Figures["fleet_s"]), "null 0")

	top := b.report("revenue?" + span + "&group_by=vehicle&sort=-revenue&limit=1")
	all := b.report("revenue?" + span + "&group_by=vehicle&sort=-revenue")
	wantEqual(t, "the first of all", len(top.Rows) == 1 && top.Rows[0].Key == all.Rows[0].Key, true)
	wantEqual(t, "with its plate", strings.HasPrefix(all.Rows[0].Label, "CAR-"), true)
	wantEqual(t, "totals of a part", string(top.Totals.Figures["revenue"]), string(all.Totals.Figures["revenue"]))
	one := b.report("revenue?" + span + "&vehicle_id=" + b.vehicles[0])
	for _, row := range all.Rows {
		if row.Key == b.vehicles[0] {
			wantEqual(t, "of one", string(one.Totals.Figures["revenue"]), string(row.Figures["revenue"]))
			if got := -b.follow(row.Links["revenue"]); fmt.Sprint(got) != string(row.Figures["revenue"]) {
				t.Errorf("entries come to %d, the figure is %s", got, row.Figures["revenue"])
			}
		}
	}
	b.do("POST", "/v1/expenses", `{"category":"vehicle_purchase","status":"posted","vehicle_id":"`+b.vehicles[0]+
		`","amount":{"amount":1900000,"currency":"USD"},"incurred_on":"2026-03-04"}`).ok(201)
	cash := b.report("profitability?basis=cash&from=2026-01-01&to=" + time.Now().AddDate(0, 0, 1).Format(time.DateOnly))
	wantEqual(t, "capital", string(cash.Totals.Figures["capital"]), "1900000")
	for figure, sign := range map[string]int64{"revenue": 1, "paid": -1, "capital": -1, "net_profit": 1} {
		if got := sign * b.follow(cash.Totals.Links[figure]); fmt.Sprint(got) != string(cash.Totals.Figures[figure]) {
			t.Errorf("cash: entries of %s come to %d, the figure is %s", figure, got, cash.Totals.Figures[figure])
		}
	}
	for _, group := range []string{"category", "jurisdiction", "location"} {
		for _, row := range b.report("tax_summary?" + span + "&group_by=" + group).Rows {
			if got := -b.follow(row.Links["owed"]); fmt.Sprint(got) != string(row.Figures["owed"]) || got == 0 {
				t.Errorf("%s: entries come to %d, what is owed is %s", row.Label, got, row.Figures["owed"])
			}
		}
	}
	bridge := b.report("revenue_bridge?from=2026-03-01&to=2026-03-31&group_by=vehicle")
	for _, row := range append(bridge.Rows, bridge.Totals) {
		sum := new(big.Rat)
		for _, effect := range []string{"fleet_size_effect", "utilization_effect", "rate_effect"} {
			sum.Add(sum, row.number(t, effect))
		}
		if change := row.number(t, "change"); sum.Cmp(change) != 0 {
			t.Errorf("%s: effects come to %s, the change is %s", row.Label, sum, change)
		}
	}

	w.key = w.newKey(w.newAccount("Second"), auth.Admin)
	of := "&vehicle_id=" + b.vehicles[0]
	for _, path := range []string{"revenue?" + of, "profitability?basis=cash" + of, "receivables_ageing?group_by=booking",
		"receivables_ageing?customer_id=" + b.customers[0], "occupancy_calendar?group_by=calendar" + of,
		"fleet_roi?group_by=vehicle" + of, "depreciation?group_by=vehicle" + of, "balance_sheet?group_by=account"} {
		f := b.report(path + "&" + span)
		for name, value := range f.Totals.Figures {
			if text := string(value); text != "0" && text != "null" {
				t.Errorf("%s shows another account %s = %s", path, name, text)
			}
		}
	}
}
