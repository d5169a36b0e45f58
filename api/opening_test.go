package api

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/record"
)

// A business moves here at the end of February with a financed car, customers who owe and who left a deposit, and money
// in the bank, as docs/data.md says it. It works a month: the balance sheet balances, and the profit is that month's.
func TestBalancesAreOpenedAndAMonthIsWorked(t *testing.T) {
	b := &business{world: newWorld(t)}
	w := b.world
	w.clock.Store(int64(time.Until(time.Date(2026, 4, 3, 12, 0, 0, 0, time.UTC)))) // March is over, and no more
	car := w.vehicle(`{"make":"A","model":"B","license_plate":"OLD-1","acquired_on":"2025-12-01","in_service_on":"2025-12-01",
		"acquisition_cost":{"amount":2400000,"currency":"USD"},"residual_value":{"amount":1200000,"currency":"USD"},
		"useful_life_months":60,"depreciation_method":"straight_line","ownership":"financed",
		"financing":{"principal":{"amount":1200000,"currency":"USD"},"apr_bp":600,"term_months":24,"first_payment_on":"2026-01-01"}}`)
	w.post()
	debtor := w.do("POST", "/v1/customers", `{"first_name":"Old","last_name":"Debtor"}`).ok(201).id()

	// What the old books had on the last of February, in cents. Cars and loans stand here by their terms.
	stands := w.balances("2026-02-28")
	old := map[string]int64{"cash": 800000, "accounts_receivable": 45000, "deposits_held": -30000, "tax_payable": -12000}
	for _, account := range []string{"fixed_asset", "accumulated_depreciation", "loans_payable", "accounts_payable"} {
		old[account] = int64(stands[account+" USD"])
	}
	if old["fixed_asset"] != 2400000 || old["accumulated_depreciation"] >= 0 || old["loans_payable"] >= 0 {
		t.Fatalf("by their terms stands %v", stands)
	}
	var lines []string
	var left int64
	for account, amount := range old {
		if missing := amount - int64(stands[account+" USD"]); missing != 0 {
			more := ""
			if account == "accounts_receivable" || account == "deposits_held" {
				more = ` ,"customer_id":"` + debtor + `"`
			}
			lines, left = append(lines, fmt.Sprint(account, " ", missing, more)), left-missing
		}
	}
	slices.Sort(lines)
	opening := w.do("POST", "/v1/journal_entries", journal("2026-02-28", `"opening":true,"memo":"From the old books",`,
		append(lines, fmt.Sprint("equity ", left))...)).ok(201)
	opened := w.balances("2026-02-28")
	for account, amount := range old {
		wantEqual(t, account, int64(opened[account+" USD"]), amount)
	}
	w.do("POST", "/v1/ledger/close", `{"through":"2026-02-28"}`).ok(200)

	// March: a rental is paid, rent is paid, the debtor pays, and the owner takes something out.
	rented := w.rental(car, w.do("POST", "/v1/customers", `{"first_name":"New"}`).ok(201).id())
	w.rebook(rented, pickup)
	w.rebook(rented, func(b *record.Booking) { b.Status, b.ActualReturnAt = record.BookingCompleted, b.ReturnAt })
	w.do("POST", "/v1/bookings/"+rented+"/payments",
		`{"method":"card","amount":{"amount":12990,"currency":"USD"},"received_at":"2026-03-05T18:00:00Z"}`).ok(201)
	w.do("POST", "/v1/expenses", `{"category":"parking","status":"posted","amount":{"amount":7000,"currency":"USD"},"incurred_on":"2026-03-10"}`).ok(201)
	w.do("POST", "/v1/payments", `{"method":"bank_transfer","customer_id":"`+debtor+
		`","amount":{"amount":45000,"currency":"USD"},"received_at":"2026-03-12T12:00:00Z"}`).ok(201)
	paid := ` ,"customer_id":"` + debtor + `"`
	w.do("POST", "/v1/journal_entries", journal("2026-03-12", "", "customer_prepayments 45000"+paid,
		"accounts_receivable -45000"+paid)).ok(201)
	w.do("POST", "/v1/journal_entries", journal("2026-03-31", "", "equity 20000", "cash -20000")).ok(201)

	const march = "?from=2026-03-01&until=2026-03-31"
	closing := w.balances("2026-03-31")
	worn := int64(closing["cost.depreciation USD"] - opened["cost.depreciation USD"])
	interest := int64(closing["cost.loan_interest USD"] - opened["cost.loan_interest USD"])
	if worn < 19900 || worn > 20500 || interest < 4000 || interest > 6000 { // a 60th of 12,000, and 6 % of 12,000 or less
		t.Errorf("March cost %d of value and %d of interest", worn, interest)
	}
	profit := 12000 - 7000 - worn - interest
	number := func(row figureRow, name string) int64 {
		n := row.number(t, name)
		return new(big.Int).Div(n.Num(), n.Denom()).Int64()
	}
	wantEqual(t, "profit of March", number(b.report("profit_and_loss"+march).Totals, "amount"), profit)
	sheet := b.report("balance_sheet" + march)
	wantEqual(t, "what is owned less what is owed", number(sheet.Totals, "balance"), int64(0))
	rows := map[string]figureRow{}
	for _, row := range sheet.Rows {
		rows[row.Key] = row
	}
	wantEqual(t, "result of March", number(rows["result"], "movement"), -profit)
	wantEqual(t, "the owner's", number(rows["equity"], "opening"), left)
	wantEqual(t, "taken out", number(rows["equity"], "movement"), int64(20000))
	wantEqual(t, "its entries", b.follow(rows["equity"].Links["balance"]), left+20000)
	if row := rows["accounts_receivable"]; len(row.Figures) > 0 && number(row, "balance") != 0 {
		t.Errorf("the debtor still owes %v", row.Figures)
	}

	// What customers owe and left is told with who they are; money by hand is nobody's income; nothing has drifted.
	ageing := b.report("receivables_ageing?until=2026-03-01&group_by=customer")
	wantEqual(t, "owed on the first", fmt.Sprint(len(ageing.Rows), " ", ageing.Rows[0].Key, " ",
		string(ageing.Rows[0].Figures["balance"])), "1 "+debtor+" 45000")
	held := b.report("deposits_held" + march + "&group_by=customer")
	wantEqual(t, "held", held.Rows[0].Key+" "+string(held.Rows[0].Figures["held"]), debtor+" 30000")
	taxes := b.report("tax_summary?from=2026-02-01&until=2026-02-28").Totals
	wantEqual(t, "taxes", fmt.Sprint(string(taxes.Figures["charged"]), " ", string(taxes.Figures["paid"]), " ",
		string(taxes.Figures["owed"])), "0 -12000 12000")
	cash := b.report("profitability" + march + "&basis=cash").Totals
	wantEqual(t, "received", number(cash, "revenue"), int64(12990+45000))
	w.api.desk.Audit.Apart = time.Millisecond
	if drifts, err := w.api.desk.Audit.Look(t.Context()); err != nil || len(drifts) > 0 {
		t.Errorf("drifts: %v, %v", drifts, err)
	}
	w.audited()

	// The opening is of a closed day: it is reversed on an open one.
	path := "/v1/journal_entries/" + opening.id() + "/reverse"
	wantEqual(t, "closed", w.do("POST", path, `{"on":"2026-02-28"}`).faults(), "/on")
	w.do("POST", path, `{"on":"2026-04-01"}`).ok(200)
	wantEqual(t, "reversed", w.balances("2026-04-01")["equity USD"], float64(20000))
	if by := w.do("GET", "/v1/journal_entries?opening=true", "").data(); len(by) != 1 ||
		!strings.HasPrefix(fmt.Sprint(by[0]["number"]), "J-") {
		t.Errorf("opened by %v", by)
	}
}
