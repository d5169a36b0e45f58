package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
	"github.com/xuri/excelize/v2"
)

// entries are the entries of a list, a line each.
func (r *reply) entries() string {
	r.t.Helper()
	var b strings.Builder
	for _, e := range r.data() {
		amount := e["amount"].(map[string]any)
		fmt.Fprintf(&b, "%s %s %v %s", e["local_on"], e["ledger_account"], amount["amount"], amount["currency"])
		if e["used_on"] != e["local_on"] {
			fmt.Fprintf(&b, " of %s", e["used_on"])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// balances are the balances of the ledger on a day.
func (w *world) balances(on string) map[string]float64 {
	w.t.Helper()
	all := map[string]float64{}
	sums := map[string]float64{}
	for _, a := range w.do("GET", "/v1/ledger/accounts?on="+on, "").data() {
		balance := a["balance"].(map[string]any)
		all[fmt.Sprintf("%s %s", a["ledger_account"], balance["currency"])] = balance["amount"].(float64)
		sums[balance["currency"].(string)] += balance["amount"].(float64)
	}
	for currency, sum := range sums {
		if sum != 0 {
			w.t.Errorf("balances in %s sum to %v on %s", currency, sum, on)
		}
	}
	return all
}

// audited says that nothing is wrong with the ledger.
func (w *world) audited() {
	w.t.Helper()
	if faults, err := query.LedgerAudit(w.t.Context(), w.db); err != nil || faults != (query.LedgerFaults{}) {
		w.t.Errorf("audit: %+v, %v", faults, err)
	}
}

// rental is a booking of three days in March, by local time in Chicago.
func (w *world) rental(vehicle, customer string) string {
	return w.booking(record.Booking{
		BookingFields: record.BookingFields{CustomerID: customer, VehicleID: vehicle,
			PickupAt: moment("2026-03-02T18:00:00Z"), ReturnAt: moment("2026-03-05T18:00:00Z")},
		Status: record.BookingConfirmed, Timezone: "America/Chicago", Currency: "USD",
		RateSnapshot: &record.RateSnapshot{Days: []record.DayPrice{{Date: "2026-03-02", Amount: usd(4000)},
			{Date: "2026-03-03", Amount: usd(4000)}, {Date: "2026-03-04", Amount: usd(4000)}}},
		Charges: []record.Charge{{ID: "chg_1", Type: "time", Amount: usd(12000), PostedAt: moment("2026-02-01T00:00:00Z")},
			{ID: "chg_2", Type: "tax", Amount: usd(990), PostedAt: moment("2026-02-01T00:00:00Z")}},
	})
}

func pickup(b *record.Booking) {
	b.Status, b.ActualPickupAt, b.StatusSince =
		record.BookingActive, moment("2026-03-02T18:00:00Z"), moment("2026-03-02T18:00:00Z")
}

func TestTheBooksFollowTheRecords(t *testing.T) {
	w := newWorld(t)
	car := w.vehicle(`{"make":"A","model":"B"}`)
	booking := w.rental(car, "cus_7")
	wantEqual(t, "of a confirmed one", w.do("GET", "/v1/ledger/transactions", "").pagination().Total, 0)
	w.rebook(booking, pickup)
	of := "/v1/ledger/entries?sort=local_on&booking_id=" + booking
	wantEqual(t, "picked up", w.do("GET", of, "").entries(), `2026-03-02 accounts_receivable 12000 USD
2026-03-02 accounts_receivable 990 USD
2026-03-02 deferred_revenue -8000 USD
2026-03-02 revenue.time -4000 USD
2026-03-02 tax_payable -990 USD
2026-03-03 deferred_revenue 4000 USD
2026-03-03 revenue.time -4000 USD
2026-03-04 deferred_revenue 4000 USD
2026-03-04 revenue.time -4000 USD
`)
	w.rebook(booking, func(b *record.Booking) { b.Notes = "nothing that matters here" })
	wantEqual(t, "transactions", w.do("GET", "/v1/ledger/transactions", "").pagination().Total, 1)
	w.do("POST", "/v1/bookings/"+booking+"/payments",
		`{"method":"card","amount":{"amount":12990,"currency":"USD"},"fee":{"amount":390,"currency":"USD"},"received_at":"2026-03-02T18:00:00Z"}`).ok(201)
	w.do("POST", "/v1/expenses", `{"category":"insurance","status":"posted","vehicle_id":"`+car+
		`","amount":{"amount":3000,"currency":"USD"},"incurred_on":"2026-03-01","service_period":{"from":"2026-03-01","until":"2026-03-30"}}`).ok(201)
	w.do("POST", "/v1/expenses", `{"category":"fuel","status":"posted","vehicle_id":"`+car+
		`","amount":{"amount":50,"currency":"EUR"},"incurred_on":"2026-03-04"}`).ok(201)

	wantEqual(t, "before", fmt.Sprint(w.balances("2026-02-28")), "map[]")
	wantEqual(t, "after a day", fmt.Sprint(w.balances("2026-03-02")),
		"map[accounts_receivable USD:0 cash USD:9600 cost.insurance USD:200 cost.payment_fee USD:390 deferred_revenue USD:-8000 prepaid_expenses USD:2800 revenue.time USD:-4000 tax_payable USD:-990]")
	wantEqual(t, "in the end", fmt.Sprint(w.balances("2026-04-30")),
		"map[accounts_receivable USD:0 cash EUR:-50 cash USD:9600 cost.fuel EUR:50 cost.insurance USD:3000 cost.payment_fee USD:390 deferred_revenue USD:0 prepaid_expenses USD:0 revenue.time USD:-12000 tax_payable USD:-990]")

	// Lists: filters, both directions, cursors.
	for query, want := range map[string]int{"": 9 + 3 + 61 + 2, "?vehicle_id=" + car: 75, "?booking_id=" + booking: 12,
		"?customer_id=cus_7": 12, "?kind=expense": 63, "?kind=toll,payment": 3,
		"?ledger_account=cash": 3, "?ledger_account=cash,revenue.time&from=2026-03-03&until=2026-03-03": 1,
		"?from=2026-03-30": 2, "?until=2026-03-01": 3, "?vehicle_id=veh_1": 0, "?from=2200-01-01": 0, "?until=1950-01-01": 0,
		"?source_id=" + booking: 9} {
		wantEqual(t, query, w.do("GET", "/v1/ledger/entries"+query, "").pagination().Total, want)
		count := 0.0
		for _, sum := range w.do("GET", "/v1/ledger/sums"+query, "").ok(200).data() {
			count += sum["entry_count"].(float64)
		}
		wantEqual(t, "summed of "+query, count, float64(want))
	}
	// What entries come to, which is what a figure that links to them is.
	for query, want := range map[string]string{"?ledger_account=revenue.time": "USD -12000", "?from=2200-01-01": "",
		"?ledger_account=cash,cost.fuel": "EUR 0, USD 9600", "?ledger_account=cost.fuel&vehicle_id=" + car: "EUR 50"} {
		var sums []string
		for _, sum := range w.do("GET", "/v1/ledger/sums"+query, "").ok(200).data() {
			m := sum["sum"].(map[string]any)
			sums = append(sums, fmt.Sprint(m["currency"], " ", m["amount"]))
		}
		wantEqual(t, query, strings.Join(sums, ", "), want)
	}
	// The same for a bookkeeper.
	sheet := func(path string) [][]string {
		t.Helper()
		rows, err := csv.NewReader(bytes.NewReader(w.do("GET", path, "").ok(200).body)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	rows := sheet(of + "&format=csv&kind=booking")
	wantEqual(t, "columns", strings.Join(rows[0], " "),
		"local_on account_number account_name description debit credit amount currency license_plate vehicle_name booking_number customer_number customer_name used_on known_on "+
			"ledger_account kind source_id vehicle_id booking_id customer_id transaction_id id")
	wantEqual(t, "rows", len(rows), 1+9)
	wantEqual(t, "the second", strings.Join(rows[2][:12], "|"),
		"2026-03-02|1100|Accounts receivable|Booking B-1001: tax|9.90||9.90|USD||A B|B-1001|")
	wantEqual(t, "the fourth", strings.Join(rows[4][:12], "|"),
		"2026-03-02|4000|Rental|Booking B-1001||40.00|-40.00|USD||A B|B-1001|")
	wantEqual(t, "all rows, the newest first", len(sheet("/v1/ledger/entries?format=csv")), 1+75)
	wantEqual(t, "of a vehicle on a day",
		len(sheet("/v1/ledger/entries?format=csv&from=2026-03-04&until=2026-03-04&ledger_account=revenue.time,cost.fuel&vehicle_id="+car)), 1+2)
	wantEqual(t, "of none", len(sheet("/v1/ledger/entries?format=csv&vehicle_id=veh_1")), 1)
	lines := strings.Split(string(w.do("GET", of+"&format=ndjson", "").ok(200).body), "\n")
	var line map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &line); err != nil ||
		fmt.Sprint(line) != fmt.Sprint(w.do("GET", of, "").data()[0]) || len(lines) != 12+1 {
		t.Errorf("lines: %v, %s of %d", err, lines[0], len(lines))
	}

	// What a vehicle earned and cost.
	earned := func(query string) string {
		t.Helper()
		all := map[string]any{}
		for _, a := range w.do("GET", "/v1/ledger/accounts?on=2026-03-03"+query, "").data() {
			if group, _, _ := strings.Cut(a["ledger_account"].(string), "."); group == "revenue" || group == "cost" {
				all[a["ledger_account"].(string)] = a["balance"].(map[string]any)["amount"]
			}
		}
		return fmt.Sprint(all)
	}
	wantEqual(t, "earned by the car", earned("&vehicle_id="+car),
		"map[cost.insurance:300 cost.payment_fee:390 revenue.time:-8000]")
	wantEqual(t, "earned on one day", earned("&from=2026-03-03&vehicle_id="+car),
		"map[cost.insurance:100 revenue.time:-4000]")
	wantEqual(t, "earned by another", earned("&vehicle_id=veh_1"), "map[]")
	span := "/v1/ledger/accounts?from=2026-03-03&vehicle_id=" + car + "&until=2026-03-03"
	wantEqual(t, "until a day", fmt.Sprint(w.do("GET", span, "").data()),
		fmt.Sprint(w.do("GET", strings.Replace(span, "until", "on", 1), "").data()))
	table := string(w.do("GET", span+"&format=csv", "").ok(200).body)
	for _, line := range []string{"account_number,account_name,type,debit,credit,balance,currency,entry_count,ledger_account\n",
		",Rental,revenue,0.00,40.00,-40.00,USD,1,revenue.time\n", ",Insurance,cost,1.00,0.00,1.00,USD,1,cost.insurance\n"} {
		if !strings.Contains(table, line) {
			t.Errorf("no %q in %q", line, table)
		}
	}
	file := w.do("GET", "/v1/ledger/accounts?until=2026-03-03&format=xlsx", "").ok(200)
	book, err := excelize.OpenReader(bytes.NewReader(file.body))
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	cells, err := book.GetRows("Sheet1")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "its about and heads", strings.Join(cells[1], " ")+" "+strings.Join(cells[3], " "),
		"Balances at the end of 2026-03-03 Number Account Type Debit Credit Balance Currency")
	sum, err := book.CalcCellValue("Sheet1", fmt.Sprintf("F%d", len(cells)))
	if err != nil || strings.TrimPrefix(sum, "-") != "0.00" {
		t.Errorf("balances sum to %q, %v", sum, err)
	}
	for query, want := range map[string]int{"": 4, "?ledger_account=revenue.time": 1, "?ledger_account=cash": 3,
		"?ledger_account=cash,revenue.time&vehicle_id=" + car: 4, "?ledger_account=fx": 0} {
		wantEqual(t, "transactions"+query, w.do("GET", "/v1/ledger/transactions"+query, "").pagination().Total, want)
		wantEqual(t, "listed"+query, len(w.do("GET", "/v1/ledger/transactions"+query, "").data()), want)
	}
	for _, sort := range []string{"local_on", "-local_on"} {
		var all []string
		next := "/v1/ledger/entries?per_page=7&sort=" + sort
		for path := next; ; {
			r := w.do("GET", path, "").ok(200)
			for _, e := range r.data() {
				all = append(all, e["id"].(string))
			}
			cursor := r.pagination().NextCursor
			if cursor == "" {
				break
			}
			path = next + "&cursor=" + cursor
		}
		wantEqual(t, "entries by cursor", len(all), 75)
		slices.Sort(all)
		wantEqual(t, "different ones", len(slices.Compact(all)), 75)
	}
	var seen []string
	for path := "/v1/ledger/transactions?per_page=1"; ; {
		r := w.do("GET", path, "").ok(200)
		for _, tx := range r.data() {
			seen = append(seen, tx["kind"].(string))
		}
		if r.pagination().NextCursor == "" {
			break
		}
		path = "/v1/ledger/transactions?per_page=1&cursor=" + r.pagination().NextCursor
	}
	wantEqual(t, "transactions", strings.Join(seen, " "), "expense expense payment booking")
	tx := w.do("GET", "/v1/ledger/transactions?sort=posted_at&kind=booking", "").data()[0]
	wantEqual(t, "source", tx["source_id"], booking)
	wantEqual(t, "debits", fmt.Sprint(tx["debits"]), "[map[amount:20990 currency:USD]]")
	full := w.do("GET", "/v1/ledger/transactions/"+tx["id"].(string), "").ok(200).object()
	wantEqual(t, "its entries", len(full["entries"].([]any)), 9)
	listed := w.do("GET", "/v1/ledger/entries?sort=local_on&transaction_id="+tx["id"].(string), "").data()
	wantEqual(t, "alike", fmt.Sprint(full["entries"].([]any)[0]), fmt.Sprint(listed[0]))
	for _, bad := range []string{"/v1/ledger/entries?cursor=x", "/v1/ledger/entries?ledger_account=gold",
		"/v1/ledger/entries?vehicle_id=bkg_1", "/v1/ledger/entries?source_id=veh_1", "/v1/ledger/entries?from=yesterday",
		"/v1/ledger/accounts?on=1950-01-01", "/v1/ledger/accounts?until=2026-03-04&on=2026-03-05",
		"/v1/ledger/accounts?until=2026-03-04&from=2026-03-05", "/v1/ledger/accounts?format=arrow", "/v1/ledger/accounts?vehicle_id=bkg_1", "/v1/ledger/accounts?from=never",
		"/v1/ledger/transactions?sort=amount"} {
		w.do("GET", bad, "").problem(400, "invalid_request")
	}
	w.do("GET", "/v1/ledger/transactions/ltx_1", "").problem(404, "not_found")

	// What comes to nothing leaves nothing.
	for _, e := range w.do("GET", "/v1/expenses", "").data() {
		w.do("POST", "/v1/expenses/"+e["id"].(string)+"/void", "").ok(200)
	}
	w.rebook(booking, func(b *record.Booking) {
		for _, c := range slices.Clone(b.Charges) {
			b.Charges = append(b.Charges, record.Charge{ID: c.ID + "0", Type: c.Type, Amount: usd(-c.Amount.Amount),
				ReversalOf: c.ID, PostedAt: moment("2026-03-09T18:00:00Z")})
		}
	})
	w.do("POST", "/v1/payments/"+w.do("GET", "/v1/payments", "").data()[0]["id"].(string)+"/refund",
		`{"at":"2026-03-09T18:00:00Z"}`).ok(200)
	wantEqual(t, "nothing but what the provider kept", fmt.Sprint(w.balances("2026-04-30")),
		"map[accounts_receivable USD:0 cash EUR:0 cash USD:-390 cost.fuel EUR:0 cost.insurance USD:0 cost.payment_fee USD:390 deferred_revenue USD:0 prepaid_expenses USD:0 revenue.time USD:0 tax_payable USD:0]")
	w.audited()

	w.key = w.newKey(w.newAccount("Other"), auth.Admin)
	wantEqual(t, "of others", w.do("GET", "/v1/ledger/entries", "").pagination().Total, 0)
	wantEqual(t, "sums of others", len(w.do("GET", "/v1/ledger/sums", "").ok(200).data()), 0)
	w.do("GET", "/v1/ledger/transactions/"+tx["id"].(string), "").problem(404, "not_found")
}

// The sheet says what was repaired and by whom to keys that may read work orders, and to others what it cost.
func TestTheLedgerTellsOfRepairsToWhoMayReadThem(t *testing.T) {
	w := newWorld(t)
	car := w.vehicle(`{"make":"A","model":"B"}`)
	order := "/v1/maintenance/work_orders/" + w.do("POST", "/v1/maintenance/work_orders", `{"vehicle_id":"`+car+
		`","title":"Blood on the seats","vendor":"Acme","mileage_mi":1,"scheduled_from":"2026-03-02T08:00:00Z","scheduled_until":"2026-03-02T18:00:00Z",
		"lines":[{"kind":"labor","unit_cost":{"amount":4200,"currency":"USD"}}]}`).ok(201).id()
	w.do("POST", order+"/schedule", "{}").ok(200)
	w.do("POST", order+"/start", "{}").ok(200)
	w.do("POST", order+"/complete", "{}").ok(200)
	sheet := func(scopes ...auth.Scope) string {
		key := "Bearer " + w.newKey(w.account, scopes...)
		return string(w.do("GET", "/v1/ledger/entries?format=csv", "", "Authorization", key).ok(200).body)
	}
	for _, c := range []struct {
		scopes []auth.Scope
		told   bool
	}{{[]auth.Scope{auth.FinanceRead}, false}, {[]auth.Scope{auth.FinanceRead, auth.MaintenanceRead}, true}} {
		text := sheet(c.scopes...)
		if !strings.Contains(text, "42.00") || strings.Contains(text, "Blood on the seats, Acme") != c.told {
			t.Errorf("to %v the sheet says %s", c.scopes, text)
		}
	}
}

func TestClosedBooksAreLeftAsTheyAre(t *testing.T) {
	w := newWorld(t)
	booking := w.rental("veh_1", "cus_7")
	w.rebook(booking, pickup)
	period := func(r *reply) any { return r.ok(200).object()["closed_through"] }
	wantEqual(t, "closed", period(w.do("POST", "/v1/ledger/close", `{"through":"2026-03-31"}`)), "2026-03-31")
	wantEqual(t, "again", period(w.do("POST", "/v1/ledger/close", `{"through":"2026-03-31"}`)), "2026-03-31")
	wantEqual(t, "account", w.do("GET", "/v1/account", "").ok(200).object()["books_closed_through"], "2026-03-31")
	w.do("POST", "/v1/ledger/close", `{"through":"2026-03-30"}`).problem(409, "conflict")
	w.do("POST", "/v1/ledger/reopen", `{"through":"2026-04-30"}`).problem(409, "conflict")
	wantEqual(t, "not over", w.do("POST", "/v1/ledger/close", `{"through":"2199-01-01"}`).faults(), "/through")
	wantEqual(t, "no day", w.do("POST", "/v1/ledger/close", `{"through":"0001-01-01"}`).faults(), "/through")
	wantEqual(t, "by hand", w.do("PATCH", "/v1/account", `{"books_closed_through":null}`).faults(),
		"/books_closed_through")

	march := w.balances("2026-03-31")
	w.rebook(booking, func(b *record.Booking) {
		b.Charges = append(b.Charges,
			record.Charge{ID: "chg_3", Type: "damage", Amount: usd(500), PostedAt: moment("2026-03-20T18:00:00Z")})
	})
	wantEqual(t, "march", fmt.Sprint(w.balances("2026-03-31")), fmt.Sprint(march))
	list := w.do("GET", "/v1/ledger/entries?ledger_account=revenue.damage", "").ok(200)
	e := list.data()[0]
	wantEqual(t, "used", e["used_on"], "2026-03-20")
	wantEqual(t, "known", e["local_on"], w.do("GET", "/v1/ledger/transactions", "").data()[0]["known_on"])

	wantEqual(t, "open", period(w.do("POST", "/v1/ledger/reopen", "")), nil)
	w.rebook(booking, func(b *record.Booking) {
		b.Charges = append(b.Charges,
			record.Charge{ID: "chg_4", Type: "cleaning", Amount: usd(70), PostedAt: moment("2026-03-20T18:00:00Z")})
	})
	wantEqual(t, "cleaning", w.do("GET", "/v1/ledger/entries?ledger_account=revenue.fees", "").entries(),
		"2026-03-20 revenue.fees -70 USD\n")
	w.audited()
	w.key = w.newKey(w.account, auth.FinanceRead)
	w.do("POST", "/v1/ledger/close", `{"through":"2026-03-31"}`).problem(403, "insufficient_scope")
}

// What keeps the books open is told by its name.
func TestWhatKeepsTheBooksOpenIsTold(t *testing.T) {
	w := newWorld(t)
	parking := record.RecurringCostFields{VehicleID: "veh_9", Category: "parking", Description: "Parking downtown",
		Amount: usd(100), Every: "month", From: "2026-02-01"}
	if _, err := w.api.desk.Costs.Recurring.New(t.Context(), record.Author{Actor: "test"}, w.account,
		record.RecurringCost{RecurringCostFields: parking}); err != nil {
		t.Fatal(err)
	}
	p := w.do("POST", "/v1/ledger/close", `{"through":"2026-02-28"}`).problem(409, "conflict")
	const want = "what the recurring cost Parking downtown costs by schedule cannot be brought into them"
	if !strings.Contains(p.Detail, want) {
		t.Errorf("%q does not say that %s", p.Detail, want)
	}
}

// Whatever kind of line nobody knows yet, the booking is written, and it is a fee.
func TestAnUnknownKindOfMoneyBreaksNoWrite(t *testing.T) {
	w := newWorld(t)
	w.unfit = true
	booking := w.rental("not an id", "")
	w.rebook(booking, func(b *record.Booking) {
		pickup(b)
		b.Charges = []record.Charge{{Type: "blessing", Amount: record.Money{Amount: 5, Currency: "XYZ"}}}
		b.Timezone, b.RateSnapshot.Days = "Mars/Olympus", []record.DayPrice{{Date: "once", Amount: usd(-4)}}
	})
	wantEqual(t, "posted", w.do("GET", "/v1/ledger/entries?sort=local_on", "").entries(),
		"2026-03-02 accounts_receivable 5 XYZ\n2026-03-02 revenue.fees -5 XYZ\n")
	id, _ := fleet.ParseID(fleet.BookingPrefix, booking)
	if r, err := w.api.desk.Bookings.Get(t.Context(), w.account, id); err != nil || r.Revision != 2 {
		t.Errorf("revision %d, %v", r.Revision, err)
	}
}

// owed is what the entries of a booking on receivables sum to.
func (w *lotWorld) owed(path string) float64 {
	w.t.Helper()
	sum := 0.0
	for _, e := range w.do("GET",
		"/v1/ledger/entries?per_page=100&ledger_account=accounts_receivable,platform_receivable&booking_id="+
			strings.TrimPrefix(path, "/v1/bookings/"), "").data() {
		sum += minor(e["amount"])
	}
	return sum
}

// What the books say that a customer owes is what the booking says, from pickup on and after a cancellation.
func TestTheBooksAgreeWithTheBooking(t *testing.T) {
	w := newLot(t)
	path := w.book(24, 72, "")
	w.do("POST", path+"/confirm", "").ok(200)
	agree := func(what string) {
		t.Helper()
		wantEqual(t, what, w.owed(path), minor(w.do("GET", path, "").ok(200).object()["balance_due"]))
	}
	wantEqual(t, "confirmed", w.owed(path), 0.0)
	w.pass(23 * time.Hour)
	w.do("POST", path+"/pickup", `{"mileage_mi":1000,"fuel_pct":100}`).ok(200)
	agree("picked up")
	w.do("POST", path+"/payments", `{"method":"card","amount":{"amount":9000,"currency":"USD"}}`).ok(201)
	agree("paid a part")
	w.pass(50 * time.Hour)
	w.do("POST", path+"/return", `{"mileage_mi":1250,"fuel_pct":90}`).ok(200)
	agree("returned")
	if w.owed(path) <= 0 {
		t.Errorf("owed %v", w.owed(path))
	}
	path = w.book(2, 50, "")
	w.do("POST", path+"/confirm", "").ok(200)
	w.do("POST", path+"/cancel", `{"cancelled_by":"customer"}`).ok(200)
	agree("cancelled late")
	wantEqual(t, "the fee", w.owed(path), 5500.0)
	w.audited()
}

// A customer pays 90.00 for a rental that begins tomorrow. The fleet owes them to the customer until the car is handed
// over; from then on they pay the bill, of which the days to come are billed and not earned. What is paid for a booking
// that costs nothing in the end stays owed.
func TestAPrepaymentPaysTheBillAtPickup(t *testing.T) {
	w := newLot(t)
	path := w.book(24, 72, "")
	w.do("POST", path+"/confirm", "").ok(200)
	stands := func(of string) map[string]float64 {
		t.Helper()
		sums := map[string]float64{}
		for _, e := range w.do("GET", "/v1/ledger/entries?per_page=100&booking_id="+
			strings.TrimPrefix(of, "/v1/bookings/"), "").data() {
			sums[e["ledger_account"].(string)] += minor(e["amount"])
		}
		return sums
	}
	payment := "/v1/payments/" +
		w.do("POST", path+"/payments", `{"method":"card","amount":{"amount":9000,"currency":"USD"}}`).ok(201).id()
	wantEqual(t, "paid ahead", fmt.Sprint(stands(path)), "map[cash:9000 customer_prepayments:-9000]")
	w.pass(23 * time.Hour)
	w.do("POST", path+"/pickup", `{"mileage_mi":1000,"fuel_pct":100}`).ok(200)
	sums := stands(path)
	wantEqual(t, "owed to the customer", sums["customer_prepayments"], 0.0)
	wantEqual(t, "owed by the customer", sums["accounts_receivable"],
		minor(w.do("GET", path, "").ok(200).object()["balance_due"]))
	booked := w.do("GET", payment, "").ok(200).object()["booked_for"].(map[string]any)
	wantEqual(t, "billed", booked["billed_on"],
		w.do("GET", "/v1/ledger/entries?ledger_account=accounts_receivable&kind=booking", "").data()[0]["local_on"])

	// What the customer does not pay in the end is given up, and no money moves.
	debt := fmt.Sprintf(`{"category":"bad_debt","status":"posted","booking_id":%q,"incurred_on":"2026-12-24","amount":{"amount":%.0f,"currency":"USD"}}`,
		strings.TrimPrefix(path, "/v1/bookings/"), sums["accounts_receivable"])
	w.do("POST", "/v1/expenses", debt).ok(201)
	given := stands(path)
	wantEqual(t, "given up", given["cost.bad_debt"], sums["accounts_receivable"])
	wantEqual(t, "owed still", given["accounts_receivable"], 0.0)
	wantEqual(t, "cash", given["cash"], 9000.0)
	wantEqual(t, "whose", w.do("POST", "/v1/expenses",
		`{"category":"bad_debt","incurred_on":"2026-12-24","amount":{"amount":1,"currency":"USD"}}`).faults(), "/booking_id")

	path = w.book(240, 288, "")
	w.do("POST", path+"/confirm", "").ok(200)
	w.do("POST", path+"/payments", `{"method":"card","amount":{"amount":5000,"currency":"USD"}}`).ok(201)
	w.do("POST", path+"/cancel", `{"cancelled_by":"operator"}`).ok(200)
	wantEqual(t, "cancelled for nothing", fmt.Sprint(stands(path)), "map[cash:5000 customer_prepayments:-5000]")
	w.audited()
}

// An accountant pays an insurance of 1,212.00 for a year, finds it in the sheet under the numbers of the firm's own
// chart of accounts, and what is used up of it until then.
func TestTheLedgerIsReadByAccountants(t *testing.T) {
	w := newWorld(t)
	w.do("PATCH", "/v1/account", `{"timezone":"America/Denver"}`).ok(200)
	car := w.vehicle(`{"make":"Ford","model":"Transit","nickname":"=Van 7","license_plate":"ABC 123"}`)
	w.do("POST", "/v1/expenses", `{"category":"insurance","status":"posted","vehicle_id":"`+car+
		`","vendor":"Acme Mutual","description":"Policy 7",
		"amount":{"amount":121200,"currency":"USD"},"incurred_on":"2026-01-15","service_period":{"from":"2026-01-15","until":"2027-01-14"}}`).ok(201)
	wantEqual(t, "cash moves once", w.do("GET", "/v1/ledger/entries?ledger_account=cash", "").entries(),
		"2026-01-15 cash -121200 USD\n")
	wantEqual(t, "on the first day", fmt.Sprint(w.balances("2026-01-15")),
		"map[cash USD:-121200 cost.insurance USD:333 prepaid_expenses USD:120867]")
	wantEqual(t, "in the end", fmt.Sprint(w.balances("2027-01-14")),
		"map[cash USD:-121200 cost.insurance USD:121200 prepaid_expenses USD:0]")

	chart := func(r *reply) map[string]string {
		all := map[string]string{}
		for _, l := range r.ok(200).data() {
			all[l["ledger_account"].(string)] = fmt.Sprintf("%s %s (%s)", l["account_number"], l["account_name"], l["type"])
		}
		return all
	}
	usual := chart(w.do("GET", "/v1/ledger/chart", ""))
	wantEqual(t, "cash", usual["cash"], "1000 Cash and bank (asset)")
	wantEqual(t, "deposits", usual["deposits_held"], "2100 Customer deposits (liability)")
	// The bank gets the number that the receivables have, and these another, in one change.
	mine := chart(w.do("PATCH", "/v1/ledger/chart",
		`{"data":[{"ledger_account":"cash","account_number":"1100","account_name":"First National"},
		{"ledger_account":"accounts_receivable","account_number":"1200"},{"ledger_account":"prepaid_expenses","account_number":"0980-1"}]}`))
	wantEqual(t, "renamed", mine["cash"], "1100 First National (asset)")
	wantEqual(t, "renumbered", mine["accounts_receivable"], "1200 Accounts receivable (asset)")
	for body, want := range map[string]string{
		`{"data":[{"ledger_account":"gold","account_number":"1"}]}`:                                                         "/data/0/ledger_account",
		`{"data":[{"ledger_account":"fx","account_name":"a"},{"ledger_account":"fx","account_name":"b"}]}`:                  "/data/1/ledger_account",
		`{"data":[{"ledger_account":"fx","account_name":"Differences"},{"ledger_account":"cash","account_number":"1200"}]}`: "/data/1/account_number",
		`{"data":[{"ledger_account":"accounts_receivable","account_number":""}]}`:                                           "/data/0/account_number",
		`{"data":[{"ledger_account":"fx","account_number":"seven hundred"}]}`:                                               "/data/0/account_number",
	} {
		wantEqual(t, body, w.do("PATCH", "/v1/ledger/chart", body).faults(), want)
	}
	wantEqual(t, "what was refused changed nothing", fmt.Sprint(chart(w.do("GET", "/v1/ledger/chart", ""))),
		fmt.Sprint(mine))
	wantEqual(t, "by hand", w.do("PATCH", "/v1/account", `{"ledger_chart":null}`).faults(), "/ledger_chart")
	e := w.do("GET", "/v1/ledger/entries?ledger_account=cash", "").data()[0]
	wantEqual(t, "an entry says all three", fmt.Sprint(e["ledger_account"], e["account_number"], e["account_name"]),
		"cash1100First National")
	full := w.do("GET", "/v1/ledger/transactions/"+e["transaction_id"].(string), "").ok(200).object()["entries"].([]any)
	wantEqual(t, "and so does its transaction", full[0].(map[string]any)["account_name"], "First National")
	for _, b := range w.do("GET", "/v1/ledger/accounts?on=2026-01-15", "").data() {
		wantEqual(t, "and balances", fmt.Sprintf("%s %s (%s)", b["account_number"], b["account_name"], b["type"]),
			mine[b["ledger_account"].(string)])
	}

	read := func(key, query string) string {
		t.Helper()
		w.key = key
		rows, err := csv.NewReader(bytes.NewReader(w.do("GET", "/v1/ledger/entries?format=csv&sort=local_on"+query,
			"").ok(200).body)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, row := range rows[1:] {
			b.WriteString(strings.Join(row[:13], "|") + "\n")
		}
		return b.String()
	}
	admin := w.key
	wantEqual(t, "the sheet", read(admin, "&until=2026-01-15"),
		`2026-01-15|1100|First National|Expense: insurance, Acme Mutual, Policy 7||1212.00|-1212.00|USD|ABC 123|'=Van 7|||
2026-01-15|5200|Insurance|Expense: insurance, Acme Mutual, Policy 7|3.33||3.33|USD|ABC 123|'=Van 7|||
2026-01-15|0980-1|Prepaid expenses|Expense: insurance, Acme Mutual, Policy 7|1208.67||1208.67|USD|ABC 123|'=Van 7|||
`)
	// A customer's name is for those who may read customers. A yen has no decimals.
	customer := w.do("POST", "/v1/customers", `{"type":"person","first_name":"Ann","last_name":"Lee"}`).ok(201).id()
	booking := w.rental(car, customer)
	w.do("POST", "/v1/payments", `{"customer_id":"`+customer+
		`","method":"bank_transfer","provider_ref":"T7","amount":{"amount":5000,"currency":"JPY"},"received_at":"2026-03-03T02:00:00Z"}`).ok(201)
	w.rebook(booking, pickup)
	wantEqual(t, "paid on the evening before, in Denver", read(admin, "&kind=payment"),
		`2026-03-02|1100|First National|Payment P-1001: bank transfer, T7|5000||5000|JPY||||C-1001|Ann Lee
2026-03-02|2200|Customer prepayments|Payment P-1001: bank transfer, T7||5000|-5000|JPY||||C-1001|Ann Lee
`)
	wantEqual(t, "owed", read(admin, "&kind=booking&ledger_account=accounts_receivable"),
		"2026-03-02|1200|Accounts receivable|Booking B-1001|120.00||120.00|USD|ABC 123|'=Van 7|B-1001|C-1001|Ann Lee\n"+
			"2026-03-02|1200|Accounts receivable|Booking B-1001: tax|9.90||9.90|USD|ABC 123|'=Van 7|B-1001|C-1001|Ann Lee\n")
	wantEqual(t, "owed by a number, for a car",
		read(w.newKey(w.account, auth.FinanceRead), "&kind=booking&ledger_account=accounts_receivable"),
		"2026-03-02|1200|Accounts receivable|Booking B-1001|120.00||120.00|USD|||B-1001|C-1001|\n"+
			"2026-03-02|1200|Accounts receivable|Booking B-1001: tax|9.90||9.90|USD|||B-1001|C-1001|\n")
	w.do("PATCH", "/v1/ledger/chart", `{"data":[{"ledger_account":"cash","account_name":"Mine"}]}`).problem(403,
		"insufficient_scope")
	w.key = w.newKey(w.newAccount("Other"), auth.Admin)
	wantEqual(t, "of others", fmt.Sprint(chart(w.do("GET", "/v1/ledger/chart", ""))), fmt.Sprint(usual))
}

// A rental of three weeks ago is written down today: it came back a day late, with miles to pay, and was paid in cash
// at the desk. The books say so of those days, and owe and hold nothing since; what is charged by hand today is of
// today. Where the books are closed it counts on the first open day, and says to which day it belongs. A car that comes
// back early has nothing left to be earned.
func TestARentalWrittenDownAfterwardsIsInItsOwnMonth(t *testing.T) {
	w := newLot(t)
	const weeks = -21 * 24
	day := func(hours float64) string { return w.in(hours)[:10] }
	handedOver := func(from, back float64) (string, float64) {
		t.Helper()
		w.car = w.newCar()
		path := w.book(from, from+48, `,"confirm":true,"backdated":true`)
		w.do("POST", path+"/pickup", `{"at":"`+w.in(from)+`","mileage_mi":1000,"fuel_pct":100}`).ok(200)
		return path, minor(w.do("POST", path+"/return",
			`{"at":"`+w.in(back)+`","mileage_mi":1900,"fuel_pct":50}`).ok(200).object()["balance_due"])
	}
	of := func(path, more string) []map[string]any {
		t.Helper()
		return w.do("GET", "/v1/ledger/entries?per_page=100&sort=local_on&booking_id="+
			strings.TrimPrefix(path, "/v1/bookings/")+more, "").data()
	}
	path, due := handedOver(weeks, weeks+72)
	w.do("POST", path+"/payments", fmt.Sprintf(
		`{"method":"cash","amount":{"amount":%.0f,"currency":"USD"},"received_at":%q}`, due, w.in(weeks+72))).ok(201)
	seen := map[string]bool{}
	for _, e := range of(path, "") {
		seen[e["ledger_account"].(string)] = true
		if on := e["local_on"].(string); on < day(weeks-24) || on > day(weeks+72) || e["used_on"] != on {
			t.Errorf("%v on %v", e["ledger_account"], on)
		}
	}
	for _, account := range []string{"accounts_receivable", "revenue.time", "revenue.mileage", "revenue.fees",
		"tax_payable", "cash"} {
		if !seen[account] {
			t.Errorf("nothing on %s", account)
		}
	}
	balances := w.balances(day(weeks + 72))
	for _, account := range []string{"accounts_receivable", "unbilled_receivable", "deferred_revenue",
		"customer_prepayments"} {
		wantEqual(t, account, balances[account+" USD"], 0.0)
	}
	w.do("POST", path+"/charges", `{"type":"cleaning","quantity":1,"unit_price":{"amount":2000,"currency":"USD"}}`).ok(201)
	all := of(path, "&ledger_account=accounts_receivable")
	if on := all[len(all)-1]["local_on"].(string); on < day(-24) {
		t.Errorf("charged by hand on %s", on)
	}

	early, _ := handedOver(weeks-240, weeks-240+4)
	wantEqual(t, "after an early return", w.balances(day(weeks - 200))["deferred_revenue USD"], 0.0)
	w.do("POST", "/v1/ledger/close", `{"through":"`+day(-72)+`"}`).ok(200)
	late, _ := handedOver(weeks+240, weeks+240+48)
	for _, e := range of(late, "") {
		if e["local_on"].(string) <= day(-72) || e["used_on"].(string) > day(weeks+300) {
			t.Errorf("in closed books: %v on %v of %v", e["ledger_account"], e["local_on"], e["used_on"])
		}
	}
	wantEqual(t, "closed days stay", len(of(early, "&from="+day(-72))), 0)
	w.audited()
}
