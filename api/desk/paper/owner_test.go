package paper

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas"
)

// entry is one of the ledger.
type entry struct {
	day, account string
	vehicle      string
	booking      uint64
	amount       int64
	kind         string
	source       uint64
	purpose      string
	location     uint64
	currency     string // USD unless given
}

// post writes entries of the ledger, as a transaction each.
func (d *Papers) post(t *testing.T, entries ...entry) {
	t.Helper()
	d.postOf(t, account, entries...)
}

func (d *Papers) postOf(t *testing.T, account fleet.AccountID, entries ...entry) {
	t.Helper()
	batch, err := d.DB.PrepareBatch(t.Context(), `INSERT INTO ledger_entries (account, local_date, ledger_account,
		transaction, entry_no, id, amount, currency, use_date, vehicle, booking, location, purpose, kind, source,
		entered_at)`)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		vehicle, _ := fleet.ParseID(fleet.VehiclePrefix, e.vehicle)
		id := d.Store.NextID()
		if err := batch.Append(uint64(account), e.day, e.account, id, uint32(1), id, e.amount,
			cmp.Or(e.currency, "USD"), e.day, vehicle, e.booking, e.location, e.purpose, e.kind, e.source,
			time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
}

// Statements of an owner add up to the ledger, line by line: what is corrected in a month that was told is on the next
// one, tolls and costs that are not the owner's are on none.
func TestOwnersStatementsAddUpToTheLedger(t *testing.T) {
	d := withAccount(t)
	owner := put(t, d, d.Customers, record.Customer{CustomerFields: record.CustomerFields{DisplayName: "Olga Owner"}})
	share := int64(7000)
	car := put(t, d, d.Vehicles, record.Vehicle{Status: record.VehicleAvailable, VehicleFields: record.VehicleFields{
		Make: "Tesla", Model: "Model 3", LicensePlate: "ABC1", OwnerCustomerID: owner, OwnerShareBP: &share}})
	booking := d.book(t)
	number, _ := fleet.ParseID(fleet.BookingPrefix, booking)
	cost := put(t, d, d.Expenses, record.Expense{ExpenseFields: record.ExpenseFields{Category: "repair", Vendor: "Joe's"}})
	expense, _ := fleet.ParseID(fleet.ExpensePrefix, cost)
	d.post(t,
		entry{day: "2026-09-10", account: "revenue.time", vehicle: car, booking: number, amount: -9999, kind: "booking"},
		entry{day: "2026-09-11", account: "revenue.time", vehicle: car, booking: number, amount: -1, kind: "booking"},
		entry{day: "2026-09-11", account: "revenue.toll_recharge", vehicle: car, booking: number, amount: -500,
			kind: "booking"},
		entry{day: "2026-09-11", account: "cost.platform_fee", vehicle: car, booking: number, amount: 2005, kind: "booking"},
		entry{day: "2026-09-12", account: "cost.repair", vehicle: car, amount: 1200, kind: "expense", source: expense},
		entry{day: "2026-09-12", account: "cost.loan_interest", vehicle: car, amount: 777, kind: "expense", source: expense},
		entry{day: "2026-09-12", account: "tax_payable", vehicle: car, booking: number, amount: -825, kind: "booking",
			purpose: "tax, State tax", location: 5},
		entry{day: "2026-10-12", account: "tax_payable", vehicle: car, booking: number, amount: 25, kind: "booking",
			purpose: "tax, State tax", location: 5},
		entry{day: "2026-10-20", account: "tax_payable", amount: 300, kind: "expense", source: expense},
	)
	make := func(month string) (rec, error) {
		return d.Owner(t.Context(), by, account, d.Store.NextID(), Order{CustomerID: owner, Month: month, Currency: "USD"})
	}
	if _, err := make("2026-11"); fleet.CodeOf(err) != fleet.CodeValidation {
		t.Errorf("a month that is not over: %v", err)
	}
	first, err := make("2026-09")
	if err != nil {
		t.Fatal(err)
	}
	sums := func(r rec) string {
		text := r.Body.Number
		for _, s := range r.Body.Sums {
			text += fmt.Sprint(" ", s.Name, " ", s.Amount.Amount)
		}
		return text
	}
	// 70 % of 10000 - 2005 is 5596.5.
	if got := sums(first); got != "OS-2026-00001 gross 10000 platform_fees -2005 share 5597 costs -1200 payout 4397" {
		t.Errorf("the first says %s", got)
	}
	if l := first.Body.Lines[2]; l.Description != "Repairs: Joe's" || l.Vehicle != "ABC1, Tesla Model 3" ||
		l.ChargeID != cost || l.On != "2026-09-12" {
		t.Errorf("the cost is told as %+v", l)
	}
	if _, err := make("2026-09"); fleet.CodeOf(err) != fleet.CodeConflict {
		t.Errorf("told twice: %v", err)
	}
	d.post(t, // the books of September were open still
		entry{day: "2026-09-30", account: "contra.refund", vehicle: car, booking: number, amount: 1000, kind: "booking"},
		entry{day: "2026-10-02", account: "revenue.time", vehicle: car, booking: number, amount: -4000, kind: "booking"})
	second, err := make("2026-10")
	if err != nil {
		t.Fatal(err)
	}
	if got := sums(second); got != "OS-2026-00002 gross 3000 platform_fees 0 share 2100 costs 0 payout 2100" ||
		second.Body.About.From != "2026-09-01" || second.Body.About.Until != "2026-10-31" {
		t.Errorf("the second says %s of %+v", got, second.Body.About)
	}
	before, err := make("2026-08")
	if err != nil || before.Body.About.Until != "2026-08-31" || before.Body.Total != usd(0) {
		t.Errorf("before what was told: %+v, %v", before.Body.About, err)
	}
	d.taxes(t)
}

// taxes holds the report of taxes against the entries above.
func (d *Papers) taxes(t *testing.T) {
	t.Helper()
	for group, want := range map[string]string{
		"total": "/825/25/300/500/3", "category": "/0/0/300/-300/1 State tax/825/25/0/800/2",
		"location": "/0/0/300/-300/1 5/825/25/0/800/2", "month": "2026-09-01/825/0/0/825/1 2026-10-01/0/25/300/-325/2",
	} {
		got := ""
		err := schemas.EachRow(t.Context(), d.DB, "read taxes", "SELECT key, charged, taken_back, paid, owed, entries FROM ("+schemas.Query("report_tax_summary")+
			"\n) ORDER BY key", []any{clickhouse.Named("account", uint64(account)), clickhouse.Named("group", group),
			clickhouse.Named("from", "2026-09-01"), clickhouse.Named("to", "2026-10-31"), clickhouse.Named("currency", "USD"),
			clickhouse.Named("locations", []uint64{}), clickhouse.Named("channels", []string{})},
			func(row schemas.Row) error {
				var key string
				var charged, back, paid, owed int64
				var entries int64
				err := row.Scan(&key, &charged, &back, &paid, &owed, &entries)
				got += fmt.Sprintf(" %s/%d/%d/%d/%d/%d", key, charged, back, paid, owed, entries)
				return err
			})
		if err != nil || got != " "+want {
			t.Errorf("by %s: %s, want %s, %v", group, got, want, err)
		}
	}
}

// A statement for an owner of nothing, of nobody or for no month is refused.
func TestAnOwnerOfNothingHasNoStatement(t *testing.T) {
	d := withAccount(t)
	owner := put(t, d, d.Customers, record.Customer{CustomerFields: record.CustomerFields{DisplayName: "Olga"}})
	for _, o := range []Order{{CustomerID: owner, Month: "2026-09"}, {CustomerID: "cus_77", Month: "2026-09"},
		{CustomerID: owner, Month: "2026-13"}} {
		if _, err := d.Owner(t.Context(), by, account, d.Store.NextID(), o); fleet.CodeOf(err) != fleet.CodeValidation {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
