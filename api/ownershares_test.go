package api

import (
	"fmt"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/record"
)

// A car that belongs to somebody else brings the fleet its part alone: its owner's share is a cost of the car in every
// report of what cars bring, what the owner bears is none, and what is owed stands in the balance sheet until it is
// paid, which is no cost again.
func TestAnOwnersShareIsACostOfTheCarAndOwedUntilItIsPaid(t *testing.T) {
	b := &business{world: newWorld(t)}
	owner := b.do("POST", "/v1/customers", `{"first_name":"Olga","last_name":"Owner"}`).ok(201).id()
	terms := `"in_service_on":"2025-12-15","acquisition_cost":{"amount":2000000,"currency":"USD"}`
	car := b.vehicle(`{"make":"Kia","model":"A","license_plate":"HERS",` + terms + `,"owner_customer_id":"` + owner +
		`","owner_share_bp":7000}`)
	ours := b.vehicle(`{"make":"Kia","model":"A","license_plate":"OURS",` + terms + `}`)
	from := time.Date(2026, 2, 3, 15, 0, 0, 0, time.UTC)
	for _, vehicle := range []string{car, ours} {
		rental := b.booking(record.Booking{
			BookingFields: record.BookingFields{CustomerID: owner, VehicleID: vehicle,
				PickupAt: record.InstantOf(from), ReturnAt: record.InstantOf(from.AddDate(0, 0, 2))},
			Status: record.BookingConfirmed, Timezone: "America/Chicago", Currency: "USD",
			RateSnapshot: &record.RateSnapshot{Days: []record.DayPrice{{Date: "2026-02-03", Amount: usd(5001)},
				{Date: "2026-02-04", Amount: usd(4999)}}},
			Charges: []record.Charge{{ID: "chg_1", Type: "time", Amount: usd(10000), PostedAt: record.InstantOf(from)}}})
		b.rebook(rental, func(r *record.Booking) { r.Status, r.ActualPickupAt = record.BookingActive, r.PickupAt })
		b.rebook(rental, func(r *record.Booking) { r.Status, r.ActualReturnAt = record.BookingCompleted, r.ReturnAt })
		for category, amount := range map[string]int{"repair": 1200, "insurance": 280, "fuel": 100} {
			b.do("POST", "/v1/expenses", fmt.Sprintf(`{"category":"%s","status":"posted","vehicle_id":"%s",
				"amount":{"amount":%d,"currency":"USD"},"incurred_on":"2026-02-05"}`, category, vehicle, amount)).ok(201)
		}
	}
	if err := b.api.desk.Duty(t.Context(), "papers: shares of owners into the books"); err != nil {
		t.Fatal(err)
	}
	b.facts()
	const february = "?from=2026-02-01&to=2026-02-28&group_by="
	of := func(report, group, key string, figures ...string) string {
		t.Helper()
		for _, row := range b.report(report + february + group).Rows {
			if row.Key != key {
				continue
			}
			said := ""
			for _, f := range figures {
				said += " " + string(row.Figures[f])
				if link := row.Links[f]; link != "" && report == "profitability" {
					if got := fmt.Sprint(b.follow(link)); got != string(row.Figures[f]) && "-"+string(row.Figures[f]) != got {
						t.Errorf("%s of %s is %s, its entries come to %s", f, key, row.Figures[f], got)
					}
				}
			}
			return said
		}
		return " none"
	}
	profit := []string{"revenue", "maintenance", "insurance", "other_variable", "other_fixed", "contribution",
		"net_profit"}
	wantEqual(t, "hers", of("profitability", "vehicle", car, profit...), " 10000 1200 280 5800 -280 2900 2900")
	wantEqual(t, "ours", of("profitability", "vehicle", ours, profit...), " 10000 1200 280 0 0 8700 8420")
	wantEqual(t, "cost", of("cost_per_mile", "vehicle", car, "total_cost"), " 7100")
	wantEqual(t, "brought", of("fleet_roi", "vehicle", car, "net_cash", "profit_12"), " 2900 2900")
	wantEqual(t, "profit and loss", of("profit_and_loss", "account", "cost.owner_share", "amount"), " -7000")
	owed := func() string { return of("balance_sheet", "account", "owners_payable", "balance") }
	wantEqual(t, "owed", owed(), " -5520")

	wantEqual(t, "no cost", b.do("PATCH", "/v1/account", `{"papers":{"owner_costs":["repair","vehicle_purchase"]}}`).faults(),
		"/papers/owner_costs/1")
	statement := b.do("POST", "/v1/owner_statements", `{"owner_customer_id":"`+owner+`","month":"2026-02"}`).ok(201)
	wantEqual(t, "told", minor(statement.object()["total"]), 5520.0)
	path := "/v1/owner_statements/" + statement.id()
	wantEqual(t, "no day", b.do("POST", path+"/pay", `{"paid_on":"2026-02-31"}`).problem(422, "validation_failed").Code,
		"validation_failed")
	wantEqual(t, "paid", b.do("POST", path+"/pay", `{"paid_on":"2026-02-28"}`).ok(200).object()["status"], "paid")
	b.do("POST", path+"/pay", "").problem(409, "invalid_state_transition")
	wantEqual(t, "owed after it was paid", owed(), " 0")
	b.facts()
	wantEqual(t, "no cost again", of("profitability", "vehicle", car, profit...), " 10000 1200 280 5800 -280 2900 2900")
	payout := b.do("GET", "/v1/expenses?category=owner_payout", "").data()[0]
	wantEqual(t, "of", payout["owner_statement_id"], any(statement.id()))
	wantEqual(t, "all of the owner", b.do("GET", "/v1/expenses?owner_customer_id="+owner, "").pagination().Total, 2)
	wantEqual(t, "of nobody", b.do("GET", "/v1/expenses?owner_customer_id=cus_1", "").pagination().Total, 0)
	b.do("POST", "/v1/expenses/"+payout["id"].(string)+"/void", "").ok(200)
	wantEqual(t, "to be paid again", b.do("GET", path, "").ok(200).object()["status"], "issued")
	wantEqual(t, "owed again", owed(), " -5520")

	share := b.do("GET", "/v1/expenses?category=owner_share", "").data()[0]
	wantEqual(t, "of the schedule", fmt.Sprint(share["schedule"], " ", share["owner_customer_id"]), "owner_share "+owner)
	b.do("POST", "/v1/expenses/"+share["id"].(string)+"/void", "").problem(409, "conflict")
	b.do("POST", "/v1/expenses/"+share["id"].(string)+"/pay", `{"paid_on":"2026-03-01"}`).problem(409, "conflict")
	for body, want := range map[string]string{
		`{"category":"owner_share"`:                                 "/category",
		`{"category":"owner_payout"`:                                "/owner_customer_id",
		`{"category":"fuel","owner_customer_id":"` + owner + `"`:    "/owner_customer_id",
		`{"category":"owner_payout","owner_customer_id":"cus_7777"`: "/owner_customer_id",
	} {
		wantEqual(t, body, b.do("POST", "/v1/expenses",
			body+`,"amount":{"amount":5,"currency":"USD"},"incurred_on":"2026-03-01"}`).faults(), want)
	}
	b.do("POST", "/v1/expenses", `{"category":"owner_payout","owner_customer_id":"`+owner+`","status":"posted",
		"amount":{"amount":5520,"currency":"USD"},"incurred_on":"2026-02-28"}`).ok(201)
	wantEqual(t, "paid by hand", owed(), " 0")
	b.do("POST", "/v1/expenses", `{"category":"repair","status":"posted","vehicle_id":"`+car+`",
		"amount":{"amount":1000,"currency":"USD"},"incurred_on":"2026-02-06"}`).ok(201)
	b.do("POST", "/v1/ledger/close", `{"through":"2026-02-28"}`).ok(200)
	wantEqual(t, "borne before the books were closed", owed(), " 1000")
	for _, a := range b.do("GET", "/v1/ledger/accounts", "").data() {
		wantEqual(t, "currency of "+a["ledger_account"].(string), a["currency"], any("USD"))
	}
	b.audited()
}
