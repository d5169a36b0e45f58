package cost

import (
	"fmt"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
)

func usd(cents int64) *record.Money { return &record.Money{Amount: cents, Currency: "USD"} }

func on(t *testing.T, text string) ledger.Day {
	t.Helper()
	d, err := ledger.ParseDay(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func ptr[T any](v T) *T { return &v }

// text writes items, one a line.
func text(items []Item) string {
	var b strings.Builder
	for _, i := range items {
		fmt.Fprintf(&b, "%s %d due %s on %s for %s..%s %d", i.What, i.Number, i.Due, i.On, i.From, i.To, i.Amount.Amount)
		if i.Financed != 0 {
			fmt.Fprintf(&b, " financed %d", i.Financed)
		}
		if i.Sold != nil {
			fmt.Fprintf(&b, " sold %d less %d", i.Sold.Cost.Amount, i.Sold.Depreciated.Amount)
		}
		if i.Refunded != nil {
			fmt.Fprintf(&b, " refunded %d on %s", i.Refunded.Amount.Amount, i.Refunded.On)
		}
		if i.ByHand != "" {
			b.WriteString(" by hand " + i.ByHand)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func of(items []Item, what What) []Item {
	var some []Item
	for _, i := range items {
		if i.What == what {
			some = append(some, i)
		}
	}
	return some
}

func sum(items []Item) (total int64) {
	for _, i := range items {
		total += i.Amount.Amount
	}
	return total
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Straight line, (cost − residual) ÷ life: 15,000.00 over the 1,827 days of five years is 8.2102 a day.
func TestStraightLineGoesByDays(t *testing.T) {
	v := &record.VehicleFields{AcquiredOn: "2024-01-01", AcquisitionCost: usd(2_000_000), ResidualValue: usd(500_000),
		UsefulLifeMonths: 60, DepreciationMethod: "straight_line"}
	all := OfVehicle(v, nil, nil, on(t, "2024-01-01"))
	items := of(all.Items, Depreciation)
	equal(t, "first three", text(items[:3]), `depreciation 24288 due 2024-01-01 on 2024-01-01 for 2024-01-01..2024-01-31 25452
depreciation 24289 due 2024-02-01 on 2024-02-01 for 2024-02-01..2024-02-29 23809
depreciation 24290 due 2024-03-01 on 2024-03-01 for 2024-03-01..2024-03-31 25452
`)
	equal(t, "months", len(items), 60)
	equal(t, "the whole", sum(items), int64(1_500_000))

	// Put in service in mid-month, and sold in another: each has its days.
	v.InServiceOn, v.DisposalOn = "2024-01-22", "2024-03-02"
	items = of(OfVehicle(v, nil, nil, on(t, "2024-01-01")).Items, Depreciation)
	equal(t, "cut", text(items), `depreciation 24288 due 2024-01-22 on 2024-01-22 for 2024-01-22..2024-01-31 8210
depreciation 24289 due 2024-02-01 on 2024-02-01 for 2024-02-01..2024-02-29 23809
depreciation 24290 due 2024-03-01 on 2024-03-01 for 2024-03-01..2024-03-01 822
`)
}

// The double-declining balance with a change to the straight line is VDB of spreadsheets, whose manual has the
// example: 2,400 that are 300 in ten years lose 40.00 in the first month, and 396.31 in the seventh to eighteenth, of
// which whole cents each month leave 396.30.
func TestDecliningBalanceIsThatOfSpreadsheets(t *testing.T) {
	v := &record.VehicleFields{AcquiredOn: "2020-01-01", AcquisitionCost: usd(240_000), ResidualValue: usd(30_000),
		UsefulLifeMonths: 120, DepreciationMethod: "declining"}
	items := of(OfVehicle(v, nil, nil, on(t, "2020-01-01")).Items, Depreciation)
	equal(t, "first month", items[0].Amount.Amount, int64(4000))
	equal(t, "months 7 to 18", sum(items[6:18]), int64(39630))
	equal(t, "the whole", sum(items), int64(210_000))
}

// Units of production, (cost − residual) × units ÷ expected units: 72,000.00 over 100,000 miles is 0.72 a mile.
func TestUnitsOfProductionGoByMiles(t *testing.T) {
	v := &record.VehicleFields{AcquiredOn: "2024-01-10", AcquisitionCost: usd(8_000_000), ResidualValue: usd(800_000),
		ExpectedLifeMi: ptr(100_000), DepreciationMethod: "units_of_production"}
	metres := func(miles float64) int64 { return int64(miles*1609.344 + 0.5) }
	driven := map[int]int64{24288: metres(1000), 24290: metres(2000), 24291: metres(98_000), 24292: metres(100)}
	items := of(OfVehicle(v, driven, nil, on(t, "2024-04-30")).Items, Depreciation)
	equal(t, "until the month is over", text(items), `depreciation 24288 due 2024-02-01 on 2024-01-31 for 2024-01-10..2024-01-31 72000
depreciation 24290 due 2024-04-01 on 2024-03-31 for 2024-03-01..2024-03-31 144000
`)
	equal(t, "never below", sum(of(OfVehicle(v, driven, nil, on(t, "2024-08-30")).Items, Depreciation)), int64(7_200_000))
}

// The annuity formula, P × r ÷ (1 − (1 + r)^−n): 20,000 at 5 % over 60 months are 377.42 a month, 200,000 at 6.5 %
// over 360 months 1,264.14, of which the first has 1,083.33 of interest.
func TestALoanIsPaidBackExactly(t *testing.T) {
	equal(t, "a car", annuity(2_000_000, 500, 60), int64(37742))
	equal(t, "a house", annuity(20_000_000, 650, 360), int64(126414))
	equal(t, "without interest", annuity(1_000_000, 0, 36), int64(27778))
	all := amortise(20_000_000, 650, 126414, 360)
	equal(t, "the first", all[0], payment{interest: 108333, principal: 18081})
	equal(t, "payments", len(all), 360)

	v := &record.VehicleFields{AcquiredOn: "2024-01-20", AcquisitionCost: usd(100_000), Financing: &record.Financing{
		Principal: usd(60_000), APR: ptr(int64(600)), FirstPaymentOn: "2024-02-29", TermMonths: 3}}
	equal(t, "items", text(OfVehicle(v, nil, nil, on(t, "2024-02-01")).Items), `purchase 1 due 2024-01-20 on 2024-01-20 for 2024-01-20..2024-01-20 100000 financed 60000
loan_interest 1 due 2024-01-30 on 2024-02-29 for 2024-01-30..2024-02-29 300
loan_interest 2 due 2024-03-01 on 2024-03-29 for 2024-03-01..2024-03-29 201
loan_interest 3 due 2024-03-30 on 2024-04-29 for 2024-03-30..2024-04-29 101
loan_principal 1 due 2024-02-29 on 2024-02-29 for 2024-02-29..2024-02-29 19900
loan_principal 2 due 2024-03-29 on 2024-03-29 for 2024-03-29..2024-03-29 19999
loan_principal 3 due 2024-04-29 on 2024-04-29 for 2024-04-29..2024-04-29 20101
`)
	items := OfVehicle(v, nil, nil, on(t, "2024-02-01")).Items
	equal(t, "owed", *Left(v, items)[5], *usd(20101))

	// Payments that do not cover the interest pay nothing back, and it says so.
	v.Financing.MonthlyPayment = usd(300)
	if s := OfVehicle(v, nil, nil, on(t, "2024-02-01")); len(of(s.Items, Interest)) != 0 || s.Lacks[Principal] == "" {
		t.Errorf("a loan that is never paid back: %s%v", text(s.Items), s.Lacks)
	}
}

// A loan ends with its vehicle: on the day of the sale all that is left is paid back, with the interest of the days
// since the last payment.
func TestTheLoanOfAVehicleThatIsSoldIsPaidBack(t *testing.T) {
	v := &record.VehicleFields{AcquiredOn: "2024-01-20", AcquisitionCost: usd(100_000), Financing: &record.Financing{
		Principal: usd(60_000), APR: ptr(int64(600)), FirstPaymentOn: "2024-02-29", TermMonths: 3}}
	for sold, want := range map[string]string{
		"2024-03-11": `loan_interest 1 due 2024-01-30 on 2024-02-29 for 2024-01-30..2024-02-29 300
loan_interest 2 due 2024-03-01 on 2024-03-11 for 2024-03-01..2024-03-11 76
loan_principal 1 due 2024-02-29 on 2024-02-29 for 2024-02-29..2024-02-29 19900
loan_principal 2 due 2024-03-11 on 2024-03-11 for 2024-03-11..2024-03-11 40100
`, "2024-03-29": `loan_interest 1 due 2024-01-30 on 2024-02-29 for 2024-01-30..2024-02-29 300
loan_interest 2 due 2024-03-01 on 2024-03-29 for 2024-03-01..2024-03-29 201
loan_principal 1 due 2024-02-29 on 2024-02-29 for 2024-02-29..2024-02-29 19900
loan_principal 2 due 2024-03-29 on 2024-03-29 for 2024-03-29..2024-03-29 40100
`, "2024-01-22": "loan_principal 1 due 2024-01-22 on 2024-01-22 for 2024-01-22..2024-01-22 60000\n"} {
		v.DisposalOn = sold
		all := OfVehicle(v, nil, nil, on(t, "2024-02-01")).Items
		items := append(of(all, Interest), of(all, Principal)...)
		equal(t, "sold on "+sold, text(items), want)
		equal(t, "financed", of(all, Purchase)[0].Financed, int64(60_000))
		equal(t, "left in the end", *Left(v, items)[len(items)-1], *usd(0))
	}
}

// What people posted of a loan lessens what is paid back at the sale, and what they posted of it then or later stands
// in its place.
func TestWhatWasPaidBackByHandIsNotPaidBackAgainAtTheSale(t *testing.T) {
	v := &record.VehicleFields{AcquiredOn: "2024-01-20", AcquisitionCost: usd(100_000), Financing: &record.Financing{
		Principal: usd(60_000), APR: ptr(int64(600)), FirstPaymentOn: "2024-02-29", TermMonths: 3}, DisposalOn: "2024-03-11"}
	for _, c := range []struct {
		what, category, day string
		amount              int64
		want                string
	}{
		{"instead of a payment", "loan_principal", "2024-02-29", 15_000, "19900 by exp_1, 45000 by "},
		{"beside the schedule", "loan_principal", "2024-03-05", 10_000, "19900 by , 30100 by "},
		{"all of it before", "loan_principal", "2024-03-05", 40_100, "19900 by "},
		{"too much before", "loan_principal", "2024-03-05", 50_000, "19900 by "},
		{"on the day", "loan_principal", "2024-03-11", 39_000, "19900 by , 40100 by exp_1"},
		{"two days later", "loan_principal", "2024-03-13", 40_100, "19900 by , 40100 by exp_1"},
	} {
		s := OfVehicle(v, nil, []Posted{{ID: "exp_1", Category: c.category, From: on(t, c.day), To: on(t, c.day),
			Amount: *usd(c.amount)}}, on(t, "2024-02-01"))
		var all []string
		for _, i := range of(s.Items, Principal) {
			all = append(all, fmt.Sprintf("%d by %s", i.Amount.Amount, i.ByHand))
		}
		equal(t, c.what, strings.Join(all, ", "), c.want)
		equal(t, c.what+", financed", of(s.Items, Purchase)[0].Financed, int64(60_000))
	}
	interest := of(OfVehicle(v, nil, []Posted{{ID: "exp_2", Category: "loan_interest", From: on(t, "2024-03-13"),
		To: on(t, "2024-03-13"), Amount: *usd(80)}}, on(t, "2024-02-01")).Items, Interest)
	equal(t, "interest", interest[0].ByHand+","+interest[1].ByHand, ",exp_2")
}

func TestInsuranceAndLeasesGoByTheirPeriods(t *testing.T) {
	v := &record.VehicleFields{Insurance: &record.Insurance{Premium: usd(36_500), Period: "year", StartsOn: "2023-03-01",
		EndsOn: "2025-02-28"}}
	through := on(t, "2030-01-01")
	equal(t, "two years", text(OfVehicle(v, nil, nil, through).Items), `insurance 1 due 2023-03-01 on 2023-03-01 for 2023-03-01..2024-02-29 36500
insurance 2 due 2024-03-01 on 2024-03-01 for 2024-03-01..2025-02-28 36500
`)
	v.DisposalOn = "2024-03-11"
	equal(t, "sold", text(OfVehicle(v, nil, nil, through).Items), `insurance 1 due 2023-03-01 on 2023-03-01 for 2023-03-01..2024-02-29 36500
insurance 2 due 2024-03-01 on 2024-03-01 for 2024-03-01..2025-02-28 36500 refunded 35500 on 2024-03-11
`)
	v = &record.VehicleFields{Ownership: "leased", AcquisitionCost: usd(1), AcquiredOn: "2024-01-01",
		Financing: &record.Financing{MonthlyPayment: usd(39_900), FirstPaymentOn: "2024-01-31", TermMonths: 2}}
	equal(t, "a lease", text(OfVehicle(v, nil, nil, through).Items), `lease 1 due 2024-01-31 on 2024-01-31 for 2024-01-31..2024-02-28 39900
lease 2 due 2024-02-29 on 2024-02-29 for 2024-02-29..2024-03-30 39900
`)
}

// What somebody posted stands in the place of what its days overlap, and nothing else.
func TestWhatIsPostedByHandIsNotAskedForAgain(t *testing.T) {
	v := &record.VehicleFields{AcquiredOn: "2024-01-01", AcquisitionCost: usd(120_000), UsefulLifeMonths: 4,
		DepreciationMethod: "straight_line", DisposalOn: "2024-04-01", DisposalPrice: usd(50_000),
		Financing: &record.Financing{Principal: usd(60_000), FirstPaymentOn: "2024-02-01", TermMonths: 2}}
	feb, mar := on(t, "2024-02-10"), on(t, "2024-03-01")
	posted := []Posted{
		{ID: "exp_1", Category: "depreciation", From: feb, To: feb, Amount: *usd(10_000)},
		{ID: "exp_2", Category: "fuel", From: mar, To: mar, Amount: *usd(10_000)},
	}
	equal(t, "February", text(OfVehicle(v, nil, posted, mar).Items), `purchase 1 due 2024-01-01 on 2024-01-01 for 2024-01-01..2024-01-01 120000 financed 60000
depreciation 24288 due 2024-01-01 on 2024-01-01 for 2024-01-01..2024-01-31 30744
depreciation 24289 due 2024-02-01 on 2024-02-01 for 2024-02-01..2024-02-29 28760 by hand exp_1
depreciation 24290 due 2024-03-01 on 2024-03-01 for 2024-03-01..2024-03-31 30744
disposal 1 due 2024-04-01 on 2024-04-01 for 2024-04-01..2024-04-01 50000 sold 120000 less 71488
loan_principal 1 due 2024-02-01 on 2024-02-01 for 2024-02-01..2024-02-01 30000
loan_principal 2 due 2024-03-01 on 2024-03-01 for 2024-03-01..2024-03-01 30000
`)
	// Who bought it for cash, by the books, owes nothing that could be paid back.
	posted = append(posted, Posted{ID: "exp_3", Category: "vehicle_purchase", From: feb, To: feb, Amount: *usd(130_000)})
	items := OfVehicle(v, nil, posted, mar).Items
	equal(t, "paid back", len(of(items, Principal)), 0)
	equal(t, "sold", text(of(items, Disposal)),
		"disposal 1 due 2024-04-01 on 2024-04-01 for 2024-04-01..2024-04-01 50000 sold 130000 less 71488\n")
	posted[2].Financed = 60_000
	equal(t, "paid back", len(of(OfVehicle(v, nil, posted, mar).Items, Principal)), 2)
}

func TestWhatIsLackingIsSaid(t *testing.T) {
	for _, one := range []struct {
		v    record.VehicleFields
		what What
		says string
	}{
		{record.VehicleFields{DepreciationMethod: "straight_line"}, Depreciation, "acquisition_cost"},
		{record.VehicleFields{AcquisitionCost: usd(1)}, Purchase, "acquired_on"},
		{record.VehicleFields{DepreciationMethod: "declining", AcquisitionCost: usd(1), AcquiredOn: "2024-01-01"},
			Depreciation, "useful_life_months"},
		{record.VehicleFields{DepreciationMethod: "units_of_production", AcquisitionCost: usd(1), AcquiredOn: "2024-01-01"},
			Depreciation, "expected_life_mi"},
		{record.VehicleFields{DepreciationMethod: "straight_line", AcquisitionCost: usd(1), AcquiredOn: "2024-01-01",
			ResidualValue: &record.Money{Amount: 1, Currency: "EUR"}}, Depreciation, "currency"},
		{record.VehicleFields{Insurance: &record.Insurance{Premium: usd(1)}}, Insurance, "insurance.from"},
		{record.VehicleFields{Financing: &record.Financing{Principal: usd(1)}}, Principal, "first_payment_on"},
		{record.VehicleFields{Financing: &record.Financing{Principal: usd(1), FirstPaymentOn: "2024-01-01"}}, Principal,
			"monthly_payment or"},
		{record.VehicleFields{Ownership: "leased", Financing: &record.Financing{MonthlyPayment: usd(1)}}, Lease,
			"first_payment_on"},
	} {
		if got := OfVehicle(&one.v, nil, nil, 20_000).Lacks[one.what]; !strings.Contains(got, one.says) {
			t.Errorf("%s lacks %q, want %s", one.what, got, one.says)
		}
	}
}

func TestARecurringCostGoesByItsPeriods(t *testing.T) {
	r := &record.RecurringCostFields{VehicleID: "veh_1", Category: "parking", Amount: *usd(9_000), Every: "quarter",
		From: "2024-01-01", Until: "2024-08-15"}
	may := on(t, "2024-05-05")
	posted := []Posted{{ID: "exp_1", Category: "parking", From: may, To: may, Amount: *usd(500)},
		{ID: "exp_2", Category: "parking", From: on(t, "2024-02-01"), To: on(t, "2024-02-01"), Amount: *usd(9_000)}}
	equal(t, "quarters", text(OfRecurring(r, nil, posted, on(t, "2024-12-31")).Items), `recurring 1 due 2024-01-01 on 2024-01-01 for 2024-01-01..2024-03-31 9000 by hand exp_2
recurring 2 due 2024-04-01 on 2024-04-01 for 2024-04-01..2024-06-30 9000
recurring 3 due 2024-07-01 on 2024-07-01 for 2024-07-01..2024-08-15 4500
`)
	// In the quarter in which the vehicle goes, 9,000 are due, of which 50 of 91 days have 4,950, or a share of 4,945.
	gone := &record.VehicleFields{DisposalOn: "2024-02-20"}
	for _, amount := range []int64{9_000, 4_950, 4_945, 4_055} {
		posted[1].Amount = *usd(amount)
		first := OfRecurring(r, gone, posted, on(t, "2024-12-31")).Items[0]
		equal(t, fmt.Sprint("by hand ", amount), first.ByHand, map[bool]string{true: "exp_2"}[amount != 4_055])
	}
	posted[1].Amount = *usd(9_000)
	// Of the whole business, it must be of the vendor, too.
	r.VehicleID, r.Vendor = "", "Prairie Parking"
	posted[0].Amount, posted[0].Vendor = *usd(9_000), "Prairie Parking"
	all := OfRecurring(r, nil, posted, on(t, "2024-12-31")).Items
	equal(t, "by hand", fmt.Sprint(all[0].ByHand, "|", all[1].ByHand), "|exp_1")
	sold := &record.VehicleFields{DisposalOn: "2024-04-01"}
	equal(t, "of a vehicle that is sold", len(OfRecurring(r, sold, nil, on(t, "2024-12-31")).Items), 1)
}
