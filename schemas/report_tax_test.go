package schemas_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/schemas"
)

// Booking 101 came to 200.00 with a State tax of 7.25 % and a City tax of 2 %; 33.33 were added on its return, and
// taken back in April. Of booking 102, 100.00, the tax was waived a day later. A channel told a tax of booking 103.
// Something was bought with 3.00 of input tax, and 5.00 went to the authority. 10.00 were owed when the books began.
func TestATaxSaysOnWhatItWasCharged(t *testing.T) {
	db := openReports(t)
	line := func(kind, amount, more string) string {
		return `,{"type":"` + kind + `","amount":{"amount":` + amount + `}` + more + `}`
	}
	const taxable = `,"taxable":true`
	const state, city = `,"description":"State tax","tax_rate_bp":725`, `,"description":"City tax","tax_rate_bp":200`
	for id, charges := range map[int]string{
		101: line("time", "20000", taxable) + line("toll", "900", "") +
			line("tax", "1450", state) + line("tax", "400", city) +
			line("platform_fee", "-3000", taxable) +
			line("extra", "3333", taxable) + line("tax", "242", state) + line("tax", "67", city) +
			line("extra", "-3333", taxable) + line("tax", "-242", state) + line("tax", "-67", city),
		102: line("time", "10000", taxable) + line("tax", "725", state) + line("tax", "-725", state),
		103: line("time", "5000", "") + line("tax", "99", `,"description":"sales tax"`),
	} {
		record(t, db, "bookings", 7, id, "2026-02-01 00:00:00", `{"status":"completed","currency":"USD","pickup_at":"2026-03-01T10:00:00Z","charges":[`+charges[1:]+`]}`)
	}
	put(t, db, `INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, kind, booking, source, purpose, location, occurred_at) VALUES
		(7, '2026-03-01', 'tax_payable', 1, 1, 1, -1450, 'USD', 'booking', 101, 101, 'tax, State tax', 5, '2026-03-01 10:00:00'),
		(7, '2026-03-01', 'tax_payable', 1, 2, 2, -400, 'USD', 'booking', 101, 101, 'tax, City tax', 5, '2026-03-01 10:00:00'),
		(7, '2026-03-03', 'tax_payable', 2, 1, 3, -242, 'USD', 'booking', 101, 101, 'tax, State tax', 5, '2026-03-03 10:00:00'),
		(7, '2026-03-03', 'tax_payable', 2, 2, 4, -67, 'USD', 'booking', 101, 101, 'tax, City tax', 5, '2026-03-03 10:00:00'),
		(7, '2026-04-09', 'tax_payable', 3, 1, 5, 242, 'USD', 'booking', 101, 101, 'tax, State tax', 5, '2026-04-09 10:00:00'),
		(7, '2026-04-09', 'tax_payable', 3, 2, 6, 67, 'USD', 'booking', 101, 101, 'tax, City tax', 5, '2026-04-09 10:00:00'),
		(7, '2026-03-05', 'tax_payable', 4, 1, 7, -725, 'USD', 'booking', 102, 102, 'tax, State tax', 6, '2026-03-05 10:00:00'),
		(7, '2026-03-06', 'tax_payable', 5, 1, 8, 725, 'USD', 'booking', 102, 102, 'tax, State tax', 6, '2026-03-06 10:00:00'),
		(7, '2026-03-07', 'tax_payable', 6, 1, 9, -99, 'USD', 'booking', 103, 103, 'tax, sales tax', 6, '2026-03-07 10:00:00'),
		(7, '2026-03-08', 'tax_payable', 7, 1, 10, 500, 'USD', 'expense', 0, 1, '', 0, '2026-03-08 10:00:00'),
		(7, '2026-03-02', 'tax_payable', 11, 1, 14, -1000, 'USD', 'journal_entry', 0, 3, 'opening balance', 0, '2026-03-02 10:00:00'),
		(7, '2026-03-08', 'tax_receivable', 8, 1, 11, 300, 'USD', 'expense', 0, 2, '', 0, '2026-03-08 10:00:00'),
		(7, '2026-03-05', 'tax_payable', 9, 1, 12, -44, 'EUR', 'booking', 102, 102, 'tax, State tax', 6, '2026-03-05 10:00:00'),
		(8, '2026-03-05', 'tax_payable', 10, 1, 13, -66, 'USD', 'booking', 102, 102, 'tax, State tax', 6, '2026-03-05 10:00:00')`)
	names := ask(t, db, "tax_summary", "category")
	want(t, names, "State tax", "charged 2417, taken_back 725, tax 1692, taxable 23333, known_tax 1692, paid 0, owed 1692, input_tax 0, entries 4")
	want(t, names, "City tax", "charged 467, taxable 23333, known_tax 467")
	want(t, names, "sales tax", "charged 99, taxable 0, known_tax 0")
	want(t, names, "", "charged 0, taxable 0, paid -500, owed 500, input_tax 300, balance 200, entries 2")
	if _, apart := names["opening balance"]; apart {
		t.Error("what was owed when the books began is a tax of its own")
	}
	days := ask(t, db, "tax_summary", "day", "to", "2026-04-30")
	want(t, days, "2026-03-01", "tax 1850, taxable 40000")
	want(t, days, "2026-03-03", "tax 309, taxable 6666")
	want(t, days, "2026-03-05", "tax 725, taxable 10000")
	want(t, days, "2026-03-06", "tax -725, taxable -10000")
	want(t, days, "2026-04-09", "tax -309, taxable -6666")
	// what came after the span changes nothing in it, and what was before it is known
	places := ask(t, db, "tax_summary", "jurisdiction", "from", "2026-03-03", "to", "2026-03-03")
	want(t, places, "loc_5 State tax", "tax 242, taxable 3333")
	want(t, ask(t, db, "tax_summary", "location"), "5", "tax 2159, taxable 46666")
	want(t, ask(t, db, "tax_summary", "total", "locations", "[6]"), "", "charged 824, taken_back 725, taxable 0, input_tax 0")
	put(t, db, "INSERT INTO vehicle_days (account, local_date, vehicle, computed_at) VALUES (7, '2026-03-01', 1, now64(3))")
	drifts := func() (keys []string) {
		t.Helper()
		until := clickhouse.Parameters{"accounts": chartAccounts, "measures": chartMeasures, "limit": "9", "version": "1",
			"until": fmt.Sprint(time.Now().UnixMilli())}
		err := schemas.EachRow(clickhouse.Context(t.Context(), clickhouse.WithParameters(until)), db, "audit",
			"SELECT key FROM ("+schemas.Query("audit_tax_bases")+") ORDER BY key", nil, func(row schemas.Row) error {
				keys = append(keys, "")
				return row.Scan(&keys[len(keys)-1])
			})
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}
	if found := drifts(); len(found) > 0 {
		t.Errorf("the audit finds %v", found)
	}
	put(t, db, `INSERT INTO tax_bases SELECT * REPLACE (known + 1 AS known, computed_at + INTERVAL 1 SECOND AS computed_at)
		FROM tax_bases FINAL WHERE local_date = '2026-03-03'`)
	if found := drifts(); !slices.Equal(found, []string{"bkg_101 City tax", "bkg_101 State tax"}) {
		t.Errorf("the audit finds %v of one that is a unit too much", found)
	}
}

// In March booking 1 is corrected, one of many, to a net amount whose tax is nothing, and booking 20 is billed; the
// taxes of those between them are of February. None of them says when it is picked up.
func TestTaxesOfAFewBookingsAmongManyAreTheirs(t *testing.T) {
	db := openReports(t)
	const entry = `INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency,
		kind, booking, source, purpose, location, occurred_at) VALUES (7, '%[1]s', 'tax_payable', %[2]d, 1, %[2]d, %[3]d, 'USD',
		'booking', %[4]d, %[4]d, 'tax, State tax', 5, '%[1]s 10:00:00')`
	for id := 1; id <= 20; id++ {
		day, net, tax := "2026-02-10", 10000, 725
		if id == 20 {
			day = "2026-03-10"
		}
		put(t, db, fmt.Sprintf(entry, day, id, -tax, id))
		if id == 1 {
			put(t, db, fmt.Sprintf(entry, "2026-03-11", 100, tax, id))
			net, tax = 5, 0
		}
		record(t, db, "bookings", 7, id, "2026-02-01 00:00:00", fmt.Sprintf(`{"status":"completed","currency":"USD","charges":[
			{"type":"time","amount":{"amount":%d},"taxable":true},
			{"type":"tax","amount":{"amount":%d},"description":"State tax","tax_rate_bp":725}]}`, net, tax))
	}
	march := ask(t, db, "tax_summary", "day")
	want(t, march, "2026-03-10", "charged 725, taken_back 0, taxable 10000, known_tax 725, entries 1")
	want(t, march, "2026-03-11", "charged 0, taken_back 725, taxable -10000, known_tax -725, entries 1")
	all := ask(t, db, "tax_summary", "total", "from", "2026-02-01")
	want(t, all, "", "charged 14500, taken_back 725, taxable 190000, known_tax 13775, entries 21")
}

// Booking 101 was priced at 7.25 % and, before it was picked up, moved to a city where the tax of the same name is 8 %.
// Booking 102 is to be picked up in May, and was cancelled in March: the fee is not taxed, a delivery that was charged
// by hand and stays is. Booking 103 was taxed twice under one name, at 5 % and 2 %.
func TestATaxOfANameThatHadAnotherRateIsChargedOnTheSame(t *testing.T) {
	db := openReports(t)
	line := func(kind, amount, more string) string {
		return `,{"type":"` + kind + `","amount":{"amount":` + amount + `}` + more + `}`
	}
	const taxable = `,"taxable":true`
	tax := func(bp string) string { return `,"description":"Sales tax","tax_rate_bp":` + bp }
	for id, b := range map[int][3]string{
		101: {"active", "2026-03-01", line("time", "10000", taxable) + line("tax", "725", tax("725")) +
			line("time", "-10000", taxable) + line("tax", "-725", tax("725")) +
			line("time", "10001", taxable) + line("tax", "800", tax("800"))},
		102: {"cancelled", "2026-05-01", line("time", "10000", taxable) + line("tax", "725", tax("725")) +
			line("delivery", "3333", taxable) + line("tax", "242", tax("725")) +
			line("time", "-10000", taxable) + line("tax", "-725", tax("725")) + line("cancellation_fee", "5000", "")},
		103: {"active", "2026-03-01", line("time", "10010", taxable) +
			line("tax", "501", tax("500")) + line("tax", "200", tax("200"))},
	} {
		record(t, db, "bookings", 7, id, "2026-02-20 00:00:00",
			`{"status":"`+b[0]+`","currency":"USD","pickup_at":"`+b[1]+`T10:00:00Z","charges":[`+b[2][1:]+`]}`)
	}
	put(t, db, `INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, kind, booking, source, purpose, location, occurred_at) VALUES
		(7, '2026-03-01', 'tax_payable', 1, 1, 1, -800, 'USD', 'booking', 101, 101, 'tax, Sales tax', 5, '2026-03-01 10:00:00'),
		(7, '2026-03-02', 'tax_payable', 2, 1, 2, -242, 'USD', 'booking', 102, 102, 'tax, Sales tax', 5, '2026-03-02 10:00:00'),
		(7, '2026-03-03', 'tax_payable', 3, 1, 3, -701, 'USD', 'booking', 103, 103, 'tax, Sales tax', 5, '2026-03-03 10:00:00')`)
	days := ask(t, db, "tax_summary", "day")
	want(t, days, "2026-03-01", "tax 800, taxable 10001, known_tax 800")
	want(t, days, "2026-03-02", "tax 242, taxable 3333, known_tax 242")
	want(t, days, "2026-03-03", "tax 701, taxable 10010, known_tax 701")
}
