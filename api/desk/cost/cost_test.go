package cost_test

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

const account = fleet.AccountID(7)

var by = record.Author{Actor: "key_1", RequestID: "req_1"}

func usd(cents int64) *record.Money { return &record.Money{Amount: cents, Currency: "USD"} }

func ptr[T any](v T) *T { return &v }

// office is a business with a clock.
type office struct {
	*desk.Desk
	t   *testing.T
	db  driver.Conn
	now atomic.Pointer[time.Time]
}

func open(t *testing.T, on string) *office {
	o := &office{t: t, db: schematest.Open(t)}
	o.at(on)
	o.Desk = o.process(1, o.db)
	if _, _, err := o.Accounts.Create(t.Context(), by, account, uint64(account),
		record.Account{Name: "A", Timezone: "America/Chicago", Currency: "USD"}); err != nil {
		t.Fatal(err)
	}
	return o
}

// process is one of those that work on the same store.
func (o *office) process(node uint64, db driver.Conn) *desk.Desk {
	o.t.Helper()
	now := func() time.Time { return *o.now.Load() }
	store, err := record.NewStore(record.Config{Deadline: time.Minute, Abandoned: 2 * time.Minute}, db,
		fleet.NewIDSource(node, time.Now), now)
	if err != nil {
		o.t.Fatal(err)
	}
	return desk.New(store, db, now, slog.New(slog.DiscardHandler))
}

// at puts the clock at noon of a day in Chicago.
func (o *office) at(day string) {
	o.t.Helper()
	at, err := time.Parse(time.RFC3339, day+"T18:00:00Z")
	if err != nil {
		o.t.Fatal(err)
	}
	o.now.Store(&at)
}

// post does the duty until nothing is left to do, and returns how many rounds that took.
func (o *office) post() int {
	o.t.Helper()
	for rounds := 1; ; rounds++ {
		before := o.count("SELECT count() FROM record_log")
		if err := o.Costs.Post(o.t.Context()); err != nil {
			o.t.Fatal(err)
		}
		if o.count("SELECT count() FROM record_log") == before || rounds > 100 {
			return rounds - 1
		}
	}
}

func (o *office) count(query string, args ...any) (n int64) {
	o.t.Helper()
	if err := o.db.QueryRow(o.t.Context(), "SELECT toInt64(("+query+"))", args...).Scan(&n); err != nil {
		o.t.Fatalf("%s: %v", query, err)
	}
	return n
}

func (o *office) vehicle(v record.VehicleFields) uint64 {
	o.t.Helper()
	rec, err := o.Vehicles.New(o.t.Context(), by, account,
		record.Vehicle{VehicleFields: v, Status: record.VehicleAvailable})
	if err != nil {
		o.t.Fatal(err)
	}
	return rec.ID
}

func (o *office) change(vehicle uint64, change func(*record.Vehicle)) {
	o.t.Helper()
	if _, err := o.Vehicles.Update(o.t.Context(), by, account, vehicle, 0, func(r *record.Record[record.Vehicle]) error {
		change(&r.Body)
		return nil
	}); err != nil {
		o.t.Fatal(err)
	}
}

// byHand enters an expense as a person does.
func (o *office) byHand(f record.ExpenseFields) uint64 {
	o.t.Helper()
	e := record.Expense{ExpenseFields: f, Status: record.ExpensePosted, PostedAt: record.InstantOf(*o.now.Load())}
	var err error
	if e.BookedFor, _, err = o.Books.BookedFor(o.t.Context(), account, f.VehicleID, "", ""); err != nil {
		o.t.Fatal(err)
	}
	rec, err := o.Expenses.New(o.t.Context(), by, account, e)
	if err != nil {
		o.t.Fatal(err)
	}
	return rec.ID
}

// books is what accounts hold, of entries through a day.
func (o *office) books(through string) string {
	o.t.Helper()
	rows, err := o.db.Query(o.t.Context(), fmt.Sprintf(`SELECT ledger_account, sum(amount) AS sum FROM ledger_entries FINAL
		WHERE local_date <= '%s' GROUP BY ledger_account HAVING sum != 0 ORDER BY ledger_account`, through))
	if err != nil {
		o.t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var name string
		var sum int64
		if err := rows.Scan(&name, &sum); err != nil {
			o.t.Fatal(err)
		}
		all = append(all, fmt.Sprint(name, " ", sum))
	}
	return strings.Join(all, ", ")
}

// made lists the expenses that are in the books by schedule.
func (o *office) made() string {
	o.t.Helper()
	rows, err := o.db.Query(o.t.Context(), `SELECT schedule, incurred_on, amount FROM expenses FINAL
		WHERE scheduled_by != '' AND status = 'posted' ORDER BY schedule, incurred_on, amount`)
	if err != nil {
		o.t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var what, on string
		var amount int64
		if err := rows.Scan(&what, &on, &amount); err != nil {
			o.t.Fatal(err)
		}
		all = append(all, fmt.Sprint(what, " ", on, " ", amount))
	}
	return strings.Join(all, ", ")
}

func (o *office) want(what, got, want string) {
	o.t.Helper()
	if got != want {
		o.t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// van is bought with a loan, and loses 100.00 a month in a year of 360 days' worth.
func van() record.VehicleFields {
	return record.VehicleFields{Make: "Ford", Model: "Transit", AcquiredOn: "2025-01-01", AcquisitionCost: usd(365_000),
		UsefulLifeMonths: 24, DepreciationMethod: "straight_line", Ownership: "financed",
		Financing: &record.Financing{Principal: usd(120_000), APR: ptr(int64(1200)), MonthlyPayment: usd(50_000),
			FirstPaymentOn: "2025-02-01", TermMonths: 12}}
}

// A van's purchase, its loan and what it loses in value come into the books as they fall due, each once, and its sale
// takes it out again and pays back what is left of the loan, with the interest of ten days: 2.54 of 7.12 for 28. Left
// is what it has really cost.
func TestAVansLifeIsInTheBooks(t *testing.T) {
	o := open(t, "2025-01-01")
	id := o.vehicle(van())
	o.post()
	o.want("on the first day", o.made(), "depreciation 2025-01-01 15500, purchase 2025-01-01 365000")
	o.want("books", o.books("2025-01-01"),
		"accumulated_depreciation -500, cash -245000, cost.depreciation 500, fixed_asset 365000, loans_payable -120000")
	o.at("2025-02-03")
	o.post()
	o.want("in February", o.made(), "depreciation 2025-01-01 15500, depreciation 2025-02-01 14000, "+
		"loan_interest 2025-02-01 1200, loan_interest 2025-03-01 712, loan_principal 2025-02-01 48800, purchase 2025-01-01 365000")
	o.want("books", o.books("2025-02-01"), "accumulated_depreciation -16000, cash -295000, cost.depreciation 16000, "+
		"cost.loan_interest 1200, fixed_asset 365000, loans_payable -71200")
	if rounds := o.post(); rounds != 0 {
		t.Errorf("%d more rounds wrote something", rounds)
	}
	o.change(id, func(v *record.Vehicle) { v.DisposalOn, v.DisposalPrice = "2025-02-11", usd(350_000) })
	o.at("2025-05-01")
	o.post()
	o.want("sold", o.books("2025-05-01"),
		"cash -16454, cost.depreciation 20500, cost.loan_interest 1454, gain_on_disposal -5500")
}

// What somebody posted is not posted again, what they void stays void, and what they post later takes the place of what
// the schedule has made.
func TestWhatPeoplePostStands(t *testing.T) {
	o := open(t, "2025-03-15")
	terms := van()
	terms.Financing = nil
	terms.Insurance = &record.Insurance{Premium: usd(9_000), Period: "quarter", StartsOn: "2025-01-01"}
	id := o.vehicle(terms)
	vehicle := fleet.FormatID(fleet.VehiclePrefix, id)
	mine := o.byHand(record.ExpenseFields{VehicleID: vehicle, Category: "depreciation", Amount: *usd(20_000),
		IncurredOn: "2025-02-28", ServicePeriod: &record.DateRange{From: "2025-02-01", To: "2025-02-28"}})
	o.byHand(record.ExpenseFields{VehicleID: vehicle, Category: "vehicle_purchase", Amount: *usd(360_000),
		IncurredOn: "2024-12-20"})
	o.post()
	o.want("made", o.made(), "depreciation 2025-01-01 15500, depreciation 2025-03-01 15500, insurance 2025-01-01 9000")

	march := uint64(o.count(
		"SELECT id FROM expenses FINAL WHERE schedule = 'depreciation' AND incurred_on = '2025-03-01'"))
	void := func(id uint64) {
		t.Helper()
		if _, err := o.Expenses.Update(t.Context(), by, account, id, 0, func(r *record.Record[record.Expense]) error {
			return record.Void(r, record.InstantOf(*o.now.Load()), "wrong")
		}); err != nil {
			t.Fatal(err)
		}
	}
	void(march)
	o.byHand(record.ExpenseFields{VehicleID: vehicle, Category: "insurance", Amount: *usd(8_000),
		IncurredOn: "2025-01-05"})
	o.at("2025-03-16")
	o.post()
	o.want("voided, and posted by hand", o.made(), "depreciation 2025-01-01 15500")
	void(mine)
	o.post()
	o.want("February again", o.made(), "depreciation 2025-01-01 15500, depreciation 2025-02-01 14000")
}

// What was paid ahead for a car that is sold comes back on the day of the sale. The months before it stay as they were.
func TestASaleRefundsWhatWasPaidAhead(t *testing.T) {
	o := open(t, "2025-03-15")
	id := o.vehicle(record.VehicleFields{Make: "Ford", Model: "Transit",
		Insurance: &record.Insurance{Premium: usd(36_500), Period: "year", StartsOn: "2025-01-01"}})
	parking := record.RecurringCostFields{VehicleID: fleet.FormatID(fleet.VehiclePrefix, id), Category: "parking",
		Amount: *usd(9_000), Every: "quarter", From: "2025-01-01", Unpaid: true}
	if _, err := o.Recurring.New(t.Context(), by, account,
		record.RecurringCost{RecurringCostFields: parking}); err != nil {
		t.Fatal(err)
	}
	o.post()
	before := o.books("2025-02-28")
	o.want("paid for a year", before, "accounts_payable -5900, cash -36500, cost.insurance 5900, cost.parking 5900, prepaid_expenses 30600")
	o.change(id, func(v *record.Vehicle) { v.DisposalOn = "2025-03-11" })
	o.post()
	o.want("the months before", o.books("2025-02-28"), before)
	o.want("the day before", o.books("2025-03-10"), "accounts_payable -6900, cash -36500, cost.insurance 6900, cost.parking 6900, prepaid_expenses 29600")
	o.want("the day of the sale", o.books("2025-03-11"), "accounts_payable -6900, cash -6900, cost.insurance 6900, cost.parking 6900")
	o.want("the year", o.books("2025-12-31"), o.books("2025-03-11"))
	o.change(id, func(v *record.Vehicle) { v.DisposalOn = "" })
	o.post()
	o.want("it was not sold", o.books("2025-02-28"), before)
	o.want("paid as before", o.books("2025-12-31"), "accounts_payable -9000, cash -36500, cost.insurance 36500, cost.parking 9000")
}

// A change of the terms corrects what is in the books, by reversal of what differs and not by a second posting, and
// whoever pays on another day keeps that.
func TestAChangeOfTermsCorrectsThePast(t *testing.T) {
	o := open(t, "2025-03-15")
	terms := van()
	terms.Financing, terms.Ownership = nil, "owned"
	id := o.vehicle(terms)
	o.post()
	purchase := uint64(o.count("SELECT id FROM expenses FINAL WHERE schedule = 'purchase'"))
	if _, err := o.Expenses.Update(t.Context(), by, account, purchase, 0, func(r *record.Record[record.Expense]) error {
		return record.PaidOn(r, "2025-01-09")
	}); err != nil {
		t.Fatal(err)
	}
	expenses := o.count("SELECT count() FROM expenses FINAL")
	o.change(id, func(v *record.Vehicle) { v.AcquisitionCost, v.ResidualValue = usd(437_000), usd(72_000*2) })
	o.post()
	o.want("cheaper to own", o.books("2025-01-31"),
		"accumulated_depreciation -12443, cash -437000, cost.depreciation 12443, fixed_asset 437000")
	o.want("not paid yet", o.books("2025-01-08"),
		"accounts_payable -437000, accumulated_depreciation -3216, cost.depreciation 3216, fixed_asset 437000")
	if n := o.count("SELECT count() FROM expenses FINAL"); n != expenses {
		t.Errorf("there are %d expenses, there were %d", n, expenses)
	}
	// It was put in service later, and then nobody knows what it loses at all.
	o.change(id, func(v *record.Vehicle) { v.InServiceOn = "2025-02-15" })
	o.post()
	o.want("later", o.made(),
		"depreciation 2025-02-15 5619, depreciation 2025-03-01 12443, purchase 2025-01-01 437000")
	o.change(id, func(v *record.Vehicle) { v.DepreciationMethod = "none" })
	o.post()
	o.want("none", o.books("2025-12-31"), "cash -437000, fixed_asset 437000")
	o.change(id, func(v *record.Vehicle) { v.DepreciationMethod = "straight_line" })
	o.post()
	o.want("after all", o.made(),
		"depreciation 2025-02-15 5619, depreciation 2025-03-01 12443, purchase 2025-01-01 437000")
	o.want("audit", fmt.Sprint(o.count(`SELECT count() FROM (SELECT transaction, currency, local_date, sum(amount) AS s
		FROM ledger_entries FINAL GROUP BY ALL HAVING s != 0)`)), "0")
}

// A recurring cost makes an expense each period, of the vehicle, the location or the whole business, until it ends. A
// vehicle's own insurance gives way to one that recurs.
func TestRecurringCostsArePosted(t *testing.T) {
	o := open(t, "2025-03-15")
	terms := van()
	terms.Financing, terms.DepreciationMethod, terms.AcquisitionCost = nil, "none", nil
	terms.Insurance = &record.Insurance{Premium: usd(9_000), Period: "month", StartsOn: "2025-03-01"}
	vehicle := fleet.FormatID(fleet.VehiclePrefix, o.vehicle(terms))
	location, err := o.Locations.New(t.Context(), by, account, record.Location{Name: "Omaha", Code: "OMA"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []record.RecurringCostFields{
		{Category: "telematics", Amount: *usd(1_800), Every: "month", From: "2025-01-31", Vendor: "SIM cards"},
		{LocationID: fleet.FormatID(fleet.LocationPrefix, location.ID), Category: "parking", Amount: *usd(120_000),
			Every: "quarter", From: "2025-01-01", Until: "2025-02-14", Unpaid: true},
		{VehicleID: vehicle, Category: "insurance", Amount: *usd(8_000), Every: "year", From: "2025-01-01"},
	} {
		if _, err := o.Recurring.New(t.Context(), by, account, record.RecurringCost{RecurringCostFields: r}); err != nil {
			t.Fatal(err)
		}
	}
	for _, vendor := range []string{"SIM cards", "Another"} { // of which the first stands for January
		o.byHand(record.ExpenseFields{Category: "telematics", Vendor: vendor, Amount: *usd(1_700), IncurredOn: "2025-03-01"})
	}
	o.post()
	o.post()
	o.want("made", o.made(), "recurring 2025-01-01 8000, recurring 2025-01-01 60000, recurring 2025-01-31 1800, "+
		"recurring 2025-02-28 1800")
	o.want("books", o.books("2025-02-27"), "accounts_payable -60000, cash -9800, cost.insurance 1276, cost.parking 60000, "+
		"cost.telematics 1800, prepaid_expenses 6724")
	if n := o.count("SELECT count() FROM ledger_entries FINAL WHERE location = ? AND ledger_account = 'cost.parking'",
		location.ID); n != 45 {
		t.Errorf("%d days of parking are of the location, want 45", n)
	}
}
