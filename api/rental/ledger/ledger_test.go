package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
)

func usd(amount int64) record.Money { return record.Money{Amount: amount, Currency: "USD"} }

func at(text string) record.Instant {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return record.InstantOf(t)
}

// lines writes postings for people, one a line; vehicle adds the vehicle.
func lines(postings []ledger.Posting, vehicle bool) string {
	var b strings.Builder
	for _, p := range postings {
		fmt.Fprintf(&b, "%s %s %d %s", p.Day, p.Account, p.Amount, p.Currency)
		if vehicle {
			b.WriteString(" " + p.Vehicle)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func want(t *testing.T, got []ledger.Posting, vehicle bool, text string) {
	t.Helper()
	balanced(t, got)
	got = slices.Clone(got)
	for i := range got {
		got[i].Purpose = "" // TestAnEntrySaysWhatItIsFor has them
	}
	got = ledger.Sum(got)
	text = strings.ReplaceAll(strings.TrimSpace(text), "\t", "") + "\n"
	if text == "\n" {
		text = ""
	}
	if shown := lines(got, vehicle); shown != text {
		t.Errorf("got\n%swant\n%s", shown, text)
	}
}

// balanced says that postings sum to zero for each currency and day.
func balanced(t interface {
	Helper()
	Errorf(string, ...any)
}, postings []ledger.Posting) {
	t.Helper()
	sums := map[string]int64{}
	for _, p := range postings {
		if p.Amount == 0 {
			t.Errorf("a posting of nothing: %+v", p)
		}
		sums[p.Day.String()+" "+p.Currency] += p.Amount
	}
	for key, sum := range sums {
		if sum != 0 {
			t.Errorf("%s sums to %d", key, sum)
		}
	}
}

// rental is three days from the evening of 1 March in Denver, which is 2 March in UTC.
func rental() *record.Booking {
	return &record.Booking{
		BookingFields: record.BookingFields{CustomerID: "cus_1", VehicleID: "veh_1", VehicleClassID: "vcl_1",
			PickupLocationID: "loc_1",
			PickupAt:         at("2026-03-02T01:00:00Z"), ReturnAt: at("2026-03-05T01:00:00Z")},
		Status: record.BookingActive, Timezone: "America/Denver", Currency: "USD", ActualPickupAt: at("2026-03-02T01:10:00Z"),
		RateSnapshot: &record.RateSnapshot{Days: []record.DayPrice{{Date: "2026-03-01", Amount: usd(5000)},
			{Date: "2026-03-02", Amount: usd(5000)}, {Date: "2026-03-03", Amount: usd(6000)}}},
		Charges: []record.Charge{
			{ID: "chg_1", Type: "time", Amount: usd(16000), PostedAt: at("2026-02-01T00:00:00Z")},
			{ID: "chg_2", Type: "discount", Amount: usd(-1600), PostedAt: at("2026-02-01T00:00:00Z")},
			{ID: "chg_3", Type: "extra", Amount: usd(1000), PostedAt: at("2026-02-01T00:00:00Z")},
			{ID: "chg_4", Type: "one_way", Amount: usd(2500), PostedAt: at("2026-02-01T00:00:00Z")},
			{ID: "chg_5", Type: "tax", Amount: usd(1790), PostedAt: at("2026-02-01T00:00:00Z")},
		},
	}
}

func TestARentalAccruesByDayOfUse(t *testing.T) {
	b := rental()
	want(t, ledger.OfBooking("bkg_1", b, time.UTC), true, `
		2026-03-01 accounts_receivable 19690 USD veh_1
		2026-03-01 contra.discount 500 USD veh_1
		2026-03-01 deferred_revenue -10566 USD veh_1
		2026-03-01 revenue.extras -334 USD veh_1
		2026-03-01 revenue.fees -2500 USD veh_1
		2026-03-01 revenue.time -5000 USD veh_1
		2026-03-01 tax_payable -1790 USD veh_1
		2026-03-02 contra.discount 500 USD veh_1
		2026-03-02 deferred_revenue 4833 USD veh_1
		2026-03-02 revenue.extras -333 USD veh_1
		2026-03-02 revenue.time -5000 USD veh_1
		2026-03-03 contra.discount 600 USD veh_1
		2026-03-03 deferred_revenue 5733 USD veh_1
		2026-03-03 revenue.extras -333 USD veh_1
		2026-03-03 revenue.time -6000 USD veh_1`)
	for _, p := range ledger.OfBooking("bkg_1", b, time.UTC) {
		if p.Dims != (ledger.Dims{Vehicle: "veh_1", Class: "vcl_1", Booking: "bkg_1", Customer: "cus_1", Location: "loc_1",
			Channel: "direct"}) {
			t.Errorf("dimensions %+v", p.Dims)
		}
	}
	for _, status := range []string{record.BookingPending, record.BookingConfirmed, record.BookingExpired} {
		b.Status = status
		want(t, ledger.OfBooking("bkg_1", b, time.UTC), false, "")
	}
}

func TestWhatIsPostedLaterCountsWhenItWasPosted(t *testing.T) {
	b := rental()
	before := ledger.OfBooking("bkg_1", b, time.UTC)
	b.Status = record.BookingCompleted
	b.Charges = append(b.Charges,
		record.Charge{ID: "chg_6", Type: "damage", Amount: usd(40000), PostedAt: at("2026-03-09T18:00:00Z")},
		record.Charge{ID: "chg_7", Type: "toll", Amount: usd(450), PostedAt: at("2026-03-09T18:00:00Z")},
		record.Charge{ID: "chg_8", Type: "adjustment", Amount: usd(-700), PostedAt: at("2026-03-10T18:00:00Z")})
	want(t, ledger.Between(before, ledger.OfBooking("bkg_1", b, time.UTC)), false, `
		2026-03-09 accounts_receivable 40450 USD
		2026-03-09 revenue.damage -40000 USD
		2026-03-09 revenue.toll_recharge -450 USD
		2026-03-10 accounts_receivable -700 USD
		2026-03-10 contra.refund 700 USD`)
	before = ledger.OfBooking("bkg_1", b, time.UTC)
	b.Charges = append(b.Charges, record.Charge{ID: "chg_9", Type: "damage", Amount: usd(-40000), ReversalOf: "chg_6",
		PostedAt: at("2026-03-20T18:00:00Z")},
		record.Charge{ID: "chg_10", Type: "adjustment", Amount: usd(700), ReversalOf: "chg_8",
			PostedAt: at("2026-03-20T18:00:00Z")},
		// A price for the rental as a whole is taken back from the days on which it stood.
		record.Charge{ID: "chg_11", Type: "extra", Amount: usd(-1000), ReversalOf: "chg_3",
			PostedAt: at("2026-03-20T18:00:00Z")})
	want(t, ledger.Between(before, ledger.OfBooking("bkg_1", b, time.UTC)), false, `
		2026-03-01 deferred_revenue -334 USD
		2026-03-01 revenue.extras 334 USD
		2026-03-02 deferred_revenue -333 USD
		2026-03-02 revenue.extras 333 USD
		2026-03-03 deferred_revenue -333 USD
		2026-03-03 revenue.extras 333 USD
		2026-03-20 accounts_receivable -40300 USD
		2026-03-20 contra.refund -700 USD
		2026-03-20 deferred_revenue 1000 USD
		2026-03-20 revenue.damage 40000 USD`)
}

func TestAnExtensionIsTheDifference(t *testing.T) {
	b := rental()
	before := ledger.OfBooking("bkg_1", b, time.UTC)
	b.RateSnapshot.Days = append(b.RateSnapshot.Days, record.DayPrice{Date: "2026-03-04", Amount: usd(4000)})
	b.RateSnapshot.Days[2].Amount = usd(5500)
	b.Charges = append(b.Charges,
		record.Charge{ID: "chg_6", Type: "time", Amount: usd(3500), PostedAt: at("2026-03-03T18:00:00Z")})
	b.Charges = slices.DeleteFunc(b.Charges, func(c record.Charge) bool { return c.Type != "time" })
	before = slices.DeleteFunc(before, func(p ledger.Posting) bool { return p.Account != ledger.RevenueTime })
	var time_ []ledger.Posting
	for _, p := range ledger.Between(before, ledger.OfBooking("bkg_1", b, time.UTC)) {
		if p.Account == ledger.RevenueTime {
			time_ = append(time_, p)
		}
	}
	if got := lines(time_, false); got != "2026-03-03 revenue.time 500 USD\n2026-03-04 revenue.time -4000 USD\n" {
		t.Errorf("got\n%s", got)
	}
}

// A rental of 1 to 4 March is written down in April, and so is that it came back late, with miles to pay. The
// books say March.
func TestWhatAHandoverBroughtAboutCountsOnItsDay(t *testing.T) {
	b := rental()
	b.ActualPickupAt, b.ActualReturnAt, b.Status = b.PickupAt, at("2026-03-05T20:00:00Z"), record.BookingCompleted
	b.Charges = []record.Charge{{ID: "chg_1", Type: "time", Amount: usd(16000)},
		{ID: "chg_2", Type: "tax", Amount: usd(1600)}, {ID: "chg_3", Type: "mileage", Amount: usd(300)},
		{ID: "chg_4", Type: "late_return", Amount: usd(5000)},
		{ID: "chg_5", Type: "tax", Amount: usd(530)},
		{ID: "chg_6", Type: "cleaning", Amount: usd(2000)}}
	for i := range b.Charges {
		b.Charges[i].PostedAt = at("2026-04-20T18:00:00Z")
	}
	b.PickupCharges, b.ReturnCharges = []string{"chg_1", "chg_2"}, []string{"chg_3", "chg_4", "chg_5"}
	want(t, ledger.OfBooking("bkg_1", b, time.UTC), false, `
		2026-03-01 accounts_receivable 17600 USD
		2026-03-01 deferred_revenue -11000 USD
		2026-03-01 revenue.time -5000 USD
		2026-03-01 tax_payable -1600 USD
		2026-03-02 deferred_revenue 5000 USD
		2026-03-02 revenue.time -5000 USD
		2026-03-03 deferred_revenue 6000 USD
		2026-03-03 revenue.time -6000 USD
		2026-03-05 accounts_receivable 5830 USD
		2026-03-05 revenue.fees -5000 USD
		2026-03-05 revenue.mileage -300 USD
		2026-03-05 tax_payable -530 USD
		2026-04-20 accounts_receivable 2000 USD
		2026-04-20 revenue.fees -2000 USD`)
	// So it is with the trips of a channel that are imported afterwards.
	b.PickupCharges, b.ReturnCharges, b.Charges = nil, nil, b.Charges[:3]
	for i := range b.Charges {
		b.Charges[i].Source = "import"
	}
	want(t, ledger.OfBooking("bkg_1", b, time.UTC), false, `
		2026-03-01 accounts_receivable 17600 USD
		2026-03-01 deferred_revenue -11000 USD
		2026-03-01 revenue.time -5000 USD
		2026-03-01 tax_payable -1600 USD
		2026-03-02 deferred_revenue 5000 USD
		2026-03-02 revenue.time -5000 USD
		2026-03-03 deferred_revenue 6000 USD
		2026-03-03 revenue.time -6000 USD
		2026-03-05 accounts_receivable 300 USD
		2026-03-05 revenue.mileage -300 USD`)
}

// Whoever reads the books sees which tax, which fee, and what of the money was a deposit or given back.
func TestAnEntrySaysWhatItIsFor(t *testing.T) {
	b := rental()
	b.Charges = append(b.Charges[:1:1], record.Charge{ID: "chg_2", Type: "tax", Description: "City tax", Amount: usd(100)},
		record.Charge{ID: "chg_3", Type: "tax", Description: "State tax", Amount: usd(400)},
		record.Charge{ID: "chg_4", Type: "late_return", Amount: usd(700)})
	b.Deposit = record.Deposit{Captured: usd(5000)}
	p := &record.Payment{PaymentFields: record.PaymentFields{Direction: "in", Amount: usd(900),
		ReceivedAt: at("2026-03-01T20:00:00Z")},
		Status: record.PaymentPartiallyRefunded, Refunds: []record.Refund{{Amount: usd(300), At: at("2026-03-01T22:00:00Z")}}}
	said := map[string]int64{}
	for _, p := range append(ledger.OfBooking("bkg_1", b, time.UTC), ledger.OfPayment(p, time.UTC)...) {
		if p.Account == ledger.Receivable || p.Account == ledger.TaxPayable || p.Account == ledger.Cash ||
			p.Account == ledger.Prepayments {
			said[fmt.Sprintf("%s: %s", p.Account, p.Purpose)] += p.Amount
		}
	}
	if got, want := fmt.Sprint(said),
		"map[accounts_receivable: :16000 accounts_receivable: late return:700 accounts_receivable: tax, City tax:100 "+
			"accounts_receivable: tax, State tax:400 cash: :900 cash: deposit:5000 cash: refund:-300 customer_prepayments: :-900 customer_prepayments: refund:300 tax_payable: tax, City tax:-100 tax_payable: tax, State tax:-400]"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Three days are paid for, and the vehicle comes back on the first: what is left is earned then.
func TestWhatIsLeftOfARentalIsEarnedAtItsReturn(t *testing.T) {
	b := rental()
	b.Charges = b.Charges[:2]
	out := ledger.OfBooking("bkg_1", b, time.UTC)
	b.Status, b.ActualReturnAt = record.BookingCompleted, at("2026-03-02T20:00:00Z") // 2 March in Denver
	back := ledger.OfBooking("bkg_1", b, time.UTC)
	want(t, ledger.Between(out, back), false, `
		2026-03-02 contra.discount 600 USD
		2026-03-02 deferred_revenue 5400 USD
		2026-03-02 revenue.time -6000 USD
		2026-03-03 contra.discount -600 USD
		2026-03-03 deferred_revenue -5400 USD
		2026-03-03 revenue.time 6000 USD`)
	b.Status, b.ActualReturnAt = record.BookingActive, record.Instant{} // it was not returned after all
	want(t, ledger.Between(out, ledger.OfBooking("bkg_1", b, time.UTC)), false, "")
}

func TestEachVehicleHasItsDays(t *testing.T) {
	b := rental()
	b.VehicleID, b.Charges = "veh_2", b.Charges[:1]
	b.VehicleSwaps = []record.VehicleSwap{{VehicleID: "veh_0", Until: at("2026-03-02T01:00:00Z")},
		{VehicleID: "veh_1", Until: at("2026-03-03T12:00:00Z")}}
	want(t, ledger.OfBooking("bkg_1", b, time.UTC), true, `
		2026-03-01 accounts_receivable 16000 USD veh_1
		2026-03-01 deferred_revenue -11000 USD veh_1
		2026-03-01 revenue.time -5000 USD veh_1
		2026-03-02 deferred_revenue 5000 USD veh_1
		2026-03-02 revenue.time -5000 USD veh_1
		2026-03-03 deferred_revenue 6000 USD veh_1
		2026-03-03 revenue.time -6000 USD veh_1`)
	b.VehicleSwaps[1].Until = at("2026-03-03T06:00:00Z") // an hour before 3 March begins in Denver
	got := lines(ledger.OfBooking("bkg_1", b, time.UTC), true)
	if !strings.Contains(got, "2026-03-02 revenue.time -5000 USD veh_1\n") ||
		!strings.Contains(got, "2026-03-03 revenue.time -6000 USD veh_2\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestAPlatformOwesWhatItDoesNotKeep(t *testing.T) {
	b := rental()
	b.Channel = "turo"
	b.RateSnapshot = nil // imported
	b.Charges = []record.Charge{{Type: "time", Amount: usd(10000)}, {Type: "platform_fee", Amount: usd(-2500)}}
	b.ReturnAt = at("2026-03-03T07:00:00Z") // midnight in Denver: the new day is not touched
	want(t, ledger.OfBooking("bkg_1", b, time.UTC), false, `
		2026-03-01 cost.platform_fee 1250 USD
		2026-03-01 deferred_revenue -5000 USD
		2026-03-01 platform_receivable 7500 USD
		2026-03-01 prepaid_expenses 1250 USD
		2026-03-01 revenue.time -5000 USD
		2026-03-02 cost.platform_fee 1250 USD
		2026-03-02 deferred_revenue 5000 USD
		2026-03-02 prepaid_expenses -1250 USD
		2026-03-02 revenue.time -5000 USD`)
}

func TestOfACancelledBookingTheFeeStands(t *testing.T) {
	b := rental()
	b.Status, b.StatusSince = record.BookingCancelled, at("2026-02-28T20:00:00Z")
	for _, c := range b.Charges[:5] {
		b.Charges = append(b.Charges, record.Charge{ID: c.ID + "0", Type: c.Type, Amount: usd(-c.Amount.Amount),
			ReversalOf: c.ID, PostedAt: b.StatusSince})
	}
	want(t, ledger.OfBooking("bkg_1", b, time.UTC), false, "")
	b.Charges = append(b.Charges,
		record.Charge{ID: "chg_7", Type: "cancellation_fee", Amount: usd(5000), PostedAt: b.StatusSince})
	want(t, ledger.OfBooking("bkg_1", b, time.UTC), false, `
		2026-02-28 accounts_receivable 5000 USD
		2026-02-28 revenue.fees -5000 USD`)
	b.Charges = append(b.Charges, record.Charge{ID: "chg_8", Type: "cancellation_fee", Amount: usd(-5000),
		ReversalOf: "chg_7", PostedAt: at("2026-03-02T20:00:00Z")})
	want(t, ledger.OfBooking("bkg_1", b, time.UTC), false, `
		2026-02-28 accounts_receivable 5000 USD
		2026-02-28 revenue.fees -5000 USD
		2026-03-02 accounts_receivable -5000 USD
		2026-03-02 revenue.fees 5000 USD`)
	// What was charged by hand stands until it is taken back by hand, and is earned when the rental comes to
	// nothing, not before.
	b.Status, b.Charges = record.BookingNoShow, append(b.Charges[:10:10],
		record.Charge{ID: "chg_9", Type: "delivery", Amount: usd(800), PostedAt: at("2026-02-20T20:00:00Z")})
	want(t, ledger.OfBooking("bkg_1", b, time.UTC), false, `
		2026-02-28 accounts_receivable 800 USD
		2026-02-28 revenue.fees -800 USD`)
}

// A delivery was charged by hand with its tax before the booking was cancelled, and is taken back a week later: what
// was turned over and its tax stood until then, both.
func TestWhatIsTakenBackAfterACancellationStoodUntilThen(t *testing.T) {
	b := rental()
	b.Status, b.StatusSince = record.BookingCancelled, at("2026-02-28T20:00:00Z")
	b.Charges = []record.Charge{
		{ID: "chg_1", Type: "delivery", Amount: usd(3333), Taxable: true, PostedAt: at("2026-02-20T20:00:00Z")},
		{ID: "chg_2", Type: "tax", Description: "State tax", Amount: usd(242), PostedAt: at("2026-02-20T20:00:00Z")},
		{ID: "chg_3", Type: "delivery", Amount: usd(-3333), Taxable: true, ReversalOf: "chg_1",
			PostedAt: at("2026-03-07T20:00:00Z")},
		{ID: "chg_4", Type: "tax", Description: "State tax", Amount: usd(-242), PostedAt: at("2026-03-07T20:00:00Z")},
	}
	stood, back := `
		2026-02-28 accounts_receivable 3575 USD
		2026-02-28 revenue.fees -3333 USD
		2026-02-28 tax_payable -242 USD`, `
		2026-03-07 accounts_receivable -3575 USD
		2026-03-07 revenue.fees 3333 USD
		2026-03-07 tax_payable 242 USD`
	posted := ledger.OfBooking("bkg_1", b, time.UTC)
	want(t, posted, false, stood+back)
	before := *b
	before.Charges = b.Charges[:2]
	want(t, ledger.Between(ledger.OfBooking("bkg_1", &before, time.UTC), posted), false, back)
}

// On 1 April somebody writes down what happened in March: the customer cancelled on the 2nd, a fine came on the 5th and
// was forgiven on the 9th, and the deposit that was taken on the 1st paid the fee on the 3rd; the rest was given back.
func TestWhatIsWrittenDownLaterCountsWhenItHappened(t *testing.T) {
	written := at("2026-04-01T09:00:00Z")
	b := rental()
	b.Charges[0].PostedAt = at("2026-02-20T20:00:00Z")
	b.Cancellation = &record.Cancellation{At: at("2026-03-02T12:00:00Z")}
	b.Status, b.StatusSince, b.Charges = record.BookingCancelled, written, append(b.Charges[:1:1],
		record.Charge{ID: "chg_20", Type: "time", ReversalOf: b.Charges[0].ID, Amount: usd(-b.Charges[0].Amount.Amount),
			PostedAt: written},
		record.Charge{ID: "chg_21", Type: "cancellation_fee", Amount: usd(5000), At: at("2026-03-02T12:00:00Z"),
			PostedAt: written},
		record.Charge{ID: "chg_22", Type: "fine", Amount: usd(900), At: at("2026-03-05T12:00:00Z"), PostedAt: written},
		record.Charge{ID: "chg_23", Type: "fine", ReversalOf: "chg_22", Amount: usd(-900), At: at("2026-03-09T12:00:00Z"),
			PostedAt: at("2026-04-01T09:00:01Z")})
	b.Deposit = record.Deposit{Captured: usd(20000), Applied: usd(5000), Released: usd(15000), Moves: []record.DepositMove{
		{Action: "capture", Amount: usd(20000), At: at("2026-03-01T12:00:00Z")},
		{Action: "apply", Amount: usd(5000), At: at("2026-03-03T12:00:00Z")},
		{Action: "release", Amount: usd(15000), At: at("2026-03-03T12:00:00Z")}}}
	want(t, ledger.OfBooking("bkg_1", b, time.UTC), false, `
		2026-03-01 cash 20000 USD
		2026-03-01 deposits_held -20000 USD
		2026-03-02 accounts_receivable 5000 USD
		2026-03-02 revenue.fees -5000 USD
		2026-03-03 accounts_receivable -5000 USD
		2026-03-03 cash -15000 USD
		2026-03-03 deposits_held 20000 USD
		2026-03-05 accounts_receivable 900 USD
		2026-03-05 revenue.toll_recharge -900 USD
		2026-03-09 accounts_receivable -900 USD
		2026-03-09 revenue.toll_recharge 900 USD`)
}

// What of a deposit pays a rental before it is billed is paid ahead until pickup.
func TestADepositThatPaysAheadIsOwedUntilPickup(t *testing.T) {
	b := rental()
	b.Status, b.Charges = record.BookingConfirmed, nil
	b.Deposit = record.Deposit{Captured: usd(20000), Applied: usd(7500), Moves: []record.DepositMove{
		{Action: "capture", Amount: usd(20000), At: at("2026-02-20T12:00:00Z")},
		{Action: "apply", Amount: usd(7500), At: at("2026-02-21T12:00:00Z")}}}
	want(t, ledger.OfBooking("bkg_1", b, time.UTC), false, `
		2026-02-20 cash 20000 USD
		2026-02-20 deposits_held -20000 USD
		2026-02-21 customer_prepayments -7500 USD
		2026-02-21 deposits_held 7500 USD`)
	ahead := ledger.OfBooking("bkg_1", b, time.UTC)
	b.Status = record.BookingActive
	day := ledger.BilledOn(b, time.UTC).String()
	want(t, ledger.Between(ahead, ledger.OfBooking("bkg_1", b, time.UTC)), false, day+` accounts_receivable -7500 USD
		`+day+` customer_prepayments 7500 USD`)
}

func TestADepositIsALiability(t *testing.T) {
	b := rental()
	b.Status, b.Charges = record.BookingConfirmed, nil
	b.Deposit = record.Deposit{Method: "hold", Amount: usd(20000), Status: "authorized"}
	want(t, ledger.OfBooking("bkg_1", b, time.UTC), false, "")
	b.Deposit.Released = usd(20000)
	want(t, ledger.OfBooking("bkg_1", b, time.UTC), false, "")
	b.Deposit = record.Deposit{Method: "charge", Amount: usd(20000), Status: "captured", Captured: usd(20000)}
	charged := ledger.OfBooking("bkg_1", b, time.UTC)
	want(t, charged, false, `
		1970-01-01 cash 20000 USD
		1970-01-01 deposits_held -20000 USD`)
	b.Deposit.Applied, b.Deposit.Released = usd(7500), usd(12500)
	used := ledger.OfBooking("bkg_1", b, time.UTC)
	want(t, ledger.Between(charged, used), false, `
		1970-01-01 cash -12500 USD
		1970-01-01 customer_prepayments -7500 USD
		1970-01-01 deposits_held 20000 USD`)
	// No money moves when the booking gets another vehicle.
	b.VehicleID, b.VehicleClassID, b.PickupLocationID = "veh_2", "vcl_2", "loc_2"
	want(t, ledger.Between(used, ledger.OfBooking("bkg_1", b, time.UTC)), false, "")
	// What of it was to pay the rental pays it at pickup.
	b.Status = record.BookingActive
	want(t, ledger.Between(used, ledger.OfBooking("bkg_1", b, time.UTC)), false, `
		1970-01-01 accounts_receivable -7500 USD
		1970-01-01 customer_prepayments 7500 USD`)
}

func TestMoneyMovesWhenAPaymentSucceeds(t *testing.T) {
	fee := usd(290)
	p := &record.Payment{PaymentFields: record.PaymentFields{BookingID: "bkg_1", CustomerID: "cus_1", Direction: "in",
		Method: "card", Amount: usd(10000), Fee: &fee, ReceivedAt: at("2026-03-02T05:00:00Z")},
		BookedFor: record.BookedFor{VehicleID: "veh_1", Timezone: "America/Denver", BilledOn: "2026-03-01"},
		Status:    record.PaymentPending}
	want(t, ledger.OfPayment(p, time.UTC), false, "")
	p.Status = record.PaymentFailed
	want(t, ledger.OfPayment(p, time.UTC), false, "")
	p.Status, p.Refunds = record.PaymentPartiallyRefunded,
		[]record.Refund{{Amount: usd(4000), At: at("2026-03-07T12:00:00Z")}}
	want(t, ledger.OfPayment(p, time.UTC), true, `
		2026-03-01 accounts_receivable -10000 USD veh_1
		2026-03-01 cash 9710 USD veh_1
		2026-03-01 cost.payment_fee 290 USD veh_1
		2026-03-07 accounts_receivable 4000 USD veh_1
		2026-03-07 cash -4000 USD veh_1`)
	p.Method, p.Direction, p.Fee = "platform", "out", nil
	want(t, ledger.OfPayment(p, time.UTC), false, `
		2026-03-01 cash -10000 USD
		2026-03-01 platform_receivable 10000 USD
		2026-03-07 cash 4000 USD
		2026-03-07 platform_receivable -4000 USD`)
}

// A customer pays 100.00 on 10 February for a rental that is picked up on 1 March. Until then the fleet owes it
// to the customer.
func TestWhatIsPaidBeforePickupIsOwedToTheCustomer(t *testing.T) {
	p := &record.Payment{PaymentFields: record.PaymentFields{BookingID: "bkg_1", Direction: "in", Method: "card",
		Amount: usd(10000), ReceivedAt: at("2026-02-10T12:00:00Z")},
		Status: record.PaymentSucceeded}
	ahead := ledger.OfPayment(p, time.UTC)
	want(t, ahead, false, `
		2026-02-10 cash 10000 USD
		2026-02-10 customer_prepayments -10000 USD`)
	p.BookedFor.BilledOn = "2026-03-01"
	want(t, ledger.Between(ahead, ledger.OfPayment(p, time.UTC)), false, `
		2026-03-01 accounts_receivable -10000 USD
		2026-03-01 customer_prepayments 10000 USD`)
	// What is given back before pickup is owed no longer; what is given back after it was the customer's.
	p.Refunds = []record.Refund{{Amount: usd(3000), At: at("2026-02-20T12:00:00Z")},
		{Amount: usd(1000), At: at("2026-03-09T12:00:00Z")}}
	want(t, ledger.OfPayment(p, time.UTC), false, `
		2026-02-10 cash 10000 USD
		2026-02-10 customer_prepayments -10000 USD
		2026-02-20 cash -3000 USD
		2026-02-20 customer_prepayments 3000 USD
		2026-03-01 accounts_receivable -7000 USD
		2026-03-01 customer_prepayments 7000 USD
		2026-03-09 accounts_receivable 1000 USD
		2026-03-09 cash -1000 USD`)
	// A guest of a channel that collects pays at the desk: it is the channel's bill that is paid.
	p.BookedFor.Channel, p.Refunds = "turo", nil
	want(t, ledger.OfPayment(p, time.UTC), false, `
		2026-02-10 cash 10000 USD
		2026-02-10 customer_prepayments -10000 USD
		2026-03-01 customer_prepayments 10000 USD
		2026-03-01 platform_receivable -10000 USD`)
	// What names no booking is owed to the customer, until it is given one.
	p.BookingID, p.BookedFor = "", record.BookedFor{}
	want(t, ledger.OfPayment(p, time.UTC), false, `
		2026-02-10 cash 10000 USD
		2026-02-10 customer_prepayments -10000 USD`)
}

func TestABookingIsBilledAtPickup(t *testing.T) {
	b := rental()
	on := func(want string) {
		t.Helper()
		day := ""
		if got := ledger.BilledOn(b, time.UTC); got != 0 {
			day = got.String()
		}
		if day != want {
			t.Errorf("a %s booking is billed on %q, want %q", b.Status, day, want)
		}
	}
	on("2026-03-01")
	b.Status = record.BookingConfirmed
	on("")
	// Of one that comes to nothing there is a bill if something is left to pay.
	b.Status, b.StatusSince, b.Charges = record.BookingCancelled, at("2026-02-28T20:00:00Z"), nil
	on("")
	b.Charges = []record.Charge{{ID: "chg_7", Type: "cancellation_fee", Amount: usd(5000), PostedAt: b.StatusSince}}
	on("2026-02-28")
	b.Charges = append(b.Charges, record.Charge{ID: "chg_8", Type: "cancellation_fee", Amount: usd(-5000),
		ReversalOf: "chg_7", PostedAt: at("2026-03-02T20:00:00Z")})
	on("")
}

// A rental is extended on 5 March for two days that are over already, at 40.00 each: they were earned before
// they were billed.
func TestWhatIsEarnedBeforeItIsBilledIsUnbilled(t *testing.T) {
	b := rental()
	b.Charges = b.Charges[:1]
	before := ledger.OfBooking("bkg_1", b, time.UTC)
	b.RateSnapshot.Days = append(b.RateSnapshot.Days, record.DayPrice{Date: "2026-03-04", Amount: usd(4000)},
		record.DayPrice{Date: "2026-03-05", Amount: usd(4000)})
	b.Charges = append(b.Charges,
		record.Charge{ID: "chg_9", Type: "time", Amount: usd(8000), PostedAt: at("2026-03-06T18:00:00Z")})
	want(t, ledger.Between(before, ledger.OfBooking("bkg_1", b, time.UTC)), false, `
		2026-03-04 revenue.time -4000 USD
		2026-03-04 unbilled_receivable 4000 USD
		2026-03-05 revenue.time -4000 USD
		2026-03-05 unbilled_receivable 4000 USD
		2026-03-06 accounts_receivable 8000 USD
		2026-03-06 unbilled_receivable -8000 USD`)
}

// An insurance of 1,212.00 is paid on 15 January for the year from then on: the money is gone that day, and 3.33 of it
// are used up on it. In the end the 1,208.67 that were paid ahead are used up.
func TestAnExpenseIsPaidOnceAndUsedUpByDay(t *testing.T) {
	e := &record.Expense{ExpenseFields: record.ExpenseFields{VehicleID: "veh_1", Category: "insurance",
		Amount: usd(121200), IncurredOn: "2026-01-15",
		ServicePeriod: &record.DateRange{From: "2026-01-15", To: "2027-01-14"}}, Status: record.ExpenseDraft}
	want(t, ledger.OfExpense(e), false, "")
	e.Status = record.ExpensePosted
	posted := ledger.OfExpense(e)
	want(t, posted[:5], true, `
		2026-01-15 cash -121200 USD veh_1
		2026-01-15 cost.insurance 333 USD veh_1
		2026-01-15 prepaid_expenses 120867 USD veh_1
		2026-01-16 cost.insurance 333 USD veh_1
		2026-01-16 prepaid_expenses -333 USD veh_1`)
	sums := map[ledger.Account]int64{}
	for _, p := range posted {
		sums[p.Account] += p.Amount
	}
	if len(posted) != 3+2*364 || sums[ledger.Cash] != -121200 || sums[ledger.PrepaidExpenses] != 0 ||
		sums["cost.insurance"] != 121200 {
		t.Errorf("%d postings that sum to %v", len(posted), sums)
	}
	e.Status = record.ExpenseVoided
	if left := ledger.Sum(append(ledger.Between(posted, ledger.OfExpense(e)), posted...)); len(left) != 0 {
		t.Errorf("voided\n%s", lines(left, false))
	}
	// Paid at the end of January for three days, of which one is over by then.
	e.Status, e.Amount, e.PaidOn, e.ServicePeriod =
		record.ExpensePosted, usd(100), "2026-01-31", &record.DateRange{From: "2026-01-30", To: "2026-02-01"}
	want(t, ledger.OfExpense(e), false, `
		2026-01-30 accounts_payable -34 USD
		2026-01-30 cost.insurance 34 USD
		2026-01-31 accounts_payable 34 USD
		2026-01-31 cash -100 USD
		2026-01-31 cost.insurance 33 USD
		2026-01-31 prepaid_expenses 33 USD
		2026-02-01 cost.insurance 33 USD
		2026-02-01 prepaid_expenses -33 USD`)
	// Bought on 15 January, paid two weeks later.
	e.ServicePeriod, e.PaidOn = nil, "2026-01-29"
	want(t, ledger.OfExpense(e), false, `
		2026-01-15 accounts_payable -100 USD
		2026-01-15 cost.insurance 100 USD
		2026-01-29 accounts_payable 100 USD
		2026-01-29 cash -100 USD`)
	tax := usd(19)
	e.PaidOn, e.Tax, e.Amount = "", &tax, usd(119)
	want(t, ledger.OfExpense(e), false, `
		2026-01-15 cash -119 USD
		2026-01-15 cost.insurance 119 USD`)
	e.TaxRecoverable = true
	want(t, ledger.OfExpense(e), false, `
		2026-01-15 cash -119 USD
		2026-01-15 cost.insurance 100 USD
		2026-01-15 tax_receivable 19 USD`)
}

func TestWhatIsNoCostIsNoCost(t *testing.T) {
	e := &record.Expense{ExpenseFields: record.ExpenseFields{Amount: usd(100), IncurredOn: "2026-01-15"},
		Status: record.ExpensePosted, BookedFor: record.BookedFor{Channel: "direct"}}
	for category, text := range map[string]string{
		"depreciation": "2026-01-15 accumulated_depreciation -100 USD\n2026-01-15 cost.depreciation 100 USD",
		// The taxes of the last quarter are paid over, a van is bought, and a customer will never pay.
		"sales_tax":        "2026-01-15 cash -100 USD\n2026-01-15 tax_payable 100 USD",
		"vehicle_purchase": "2026-01-15 cash -100 USD\n2026-01-15 fixed_asset 100 USD",
		"loan_principal":   "2026-01-15 cash -100 USD\n2026-01-15 loans_payable 100 USD",
		"bad_debt":         "2026-01-15 accounts_receivable -100 USD\n2026-01-15 cost.bad_debt 100 USD",
	} {
		e.Category = category
		if e.ServicePeriod = nil; category != "depreciation" {
			e.ServicePeriod = &record.DateRange{From: "2025-10-01", To: "2025-12-31"}
		}
		want(t, ledger.OfExpense(e), false, text)
	}
}

// A lender has paid the most of a van, and gets it back.
func TestAFinancedPurchaseIsOwedToTheLender(t *testing.T) {
	loan := usd(80)
	e := &record.Expense{ExpenseFields: record.ExpenseFields{Category: "vehicle_purchase", Amount: usd(100),
		Financed: &loan, IncurredOn: "2026-01-15"}, Status: record.ExpensePosted}
	want(t, ledger.OfExpense(e), false, `
		2026-01-15 cash -20 USD
		2026-01-15 fixed_asset 100 USD
		2026-01-15 loans_payable -80 USD`)
	e.Unpaid = true // the rest, too, is owed
	want(t, ledger.OfExpense(e), false, `
		2026-01-15 accounts_payable -20 USD
		2026-01-15 fixed_asset 100 USD
		2026-01-15 loans_payable -80 USD`)
}

// A van that was bought for 100 and has lost 60 leaves the books, at a gain or at a loss.
func TestASaleTakesTheVehicleOutOfTheBooks(t *testing.T) {
	e := &record.Expense{ExpenseFields: record.ExpenseFields{Category: "vehicle_sale", Amount: usd(55),
		IncurredOn: "2026-01-15"}, Status: record.ExpensePosted, Sold: &record.Sold{Cost: usd(100), Depreciated: usd(60)}}
	want(t, ledger.OfExpense(e), false, `
		2026-01-15 accumulated_depreciation 60 USD
		2026-01-15 cash 55 USD
		2026-01-15 fixed_asset -100 USD
		2026-01-15 gain_on_disposal -15 USD`)
	e.Amount, e.PaidOn = usd(30), "2026-02-01"
	want(t, ledger.OfExpense(e), false, `
		2026-01-15 accounts_receivable 30 USD
		2026-01-15 accumulated_depreciation 60 USD
		2026-01-15 fixed_asset -100 USD
		2026-01-15 gain_on_disposal 10 USD
		2026-02-01 accounts_receivable -30 USD
		2026-02-01 cash 30 USD`)
	e.PaidOn = "2026-01-10" // before it is handed over
	want(t, ledger.OfExpense(e), false, `
		2026-01-10 cash 30 USD
		2026-01-10 customer_prepayments -30 USD
		2026-01-15 accumulated_depreciation 60 USD
		2026-01-15 customer_prepayments 30 USD
		2026-01-15 fixed_asset -100 USD
		2026-01-15 gain_on_disposal 10 USD`)
	e.PaidOn, e.Unpaid, e.Amount = "", true, usd(40)
	want(t, ledger.OfExpense(e), false, `
		2026-01-15 accounts_receivable 40 USD
		2026-01-15 accumulated_depreciation 60 USD
		2026-01-15 fixed_asset -100 USD`)
}

func TestWorkAndTollsCost(t *testing.T) {
	total := usd(8900)
	w := &record.WorkOrder{WorkOrderFields: record.WorkOrderFields{VehicleID: "veh_1", Type: "tire"},
		Status: record.WorkInProgress, Total: &total, CompletedAt: at("2026-03-02T01:00:00Z")}
	denver, err := time.LoadLocation("America/Denver")
	if err != nil {
		t.Fatal(err)
	}
	want(t, ledger.OfWorkOrder(w, denver), false, "")
	for kind, account := range map[string]string{"tire": "tires", "corrective": "repair", "damage": "repair", "": "repair",
		"preventive": "maintenance", "recall": "maintenance", "inspection": "maintenance"} {
		w.Type, w.Status = kind, record.WorkCompleted
		want(t, ledger.OfWorkOrder(w, denver), true,
			"2026-03-01 cash -8900 USD veh_1\n2026-03-01 cost."+account+" 8900 USD veh_1")
	}
	w.Type, w.PaidOn = "tire", "2026-03-31"
	want(t, ledger.OfWorkOrder(w, denver), false, `
		2026-03-01 accounts_payable -8900 USD
		2026-03-01 cost.tires 8900 USD
		2026-03-31 accounts_payable 8900 USD
		2026-03-31 cash -8900 USD`)
	fine := &record.Toll{TollFields: record.TollFields{Kind: "fine", Amount: usd(5000),
		OccurredAt: at("2026-03-02T01:00:00Z")}, Status: "matched", VehicleID: "veh_1", BookingID: "bkg_1"}
	want(t, ledger.OfToll(fine, denver), true, "2026-03-01 cash -5000 USD veh_1\n2026-03-01 cost.fine 5000 USD veh_1")
	fine.PaidOn = "2026-03-20"
	want(t, ledger.OfToll(fine, denver), false, `
		2026-03-01 accounts_payable -5000 USD
		2026-03-01 cost.fine 5000 USD
		2026-03-20 accounts_payable 5000 USD
		2026-03-20 cash -5000 USD`)
	fine.Status = "disputed"
	want(t, ledger.OfToll(fine, denver), false, "")
}

func TestClosedDaysTakeNothing(t *testing.T) {
	day := func(text string) ledger.Day {
		d, err := ledger.ParseDay(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	var postings []ledger.Posting
	for _, text := range []string{"2026-01-30", "2026-01-31", "2026-02-01", "2026-02-20"} {
		postings = append(postings, ledger.Posting{Day: day(text), Account: ledger.Cash, Amount: 1, Currency: "USD"})
	}
	postings = append(postings, ledger.Posting{Account: ledger.DepositsHeld, Amount: 1, Currency: "USD"})
	for _, c := range []struct{ known, closed, want string }{
		{"2026-02-10", "1970-01-01", "2026-01-30 2026-01-31 2026-02-01 2026-02-10 2026-02-20"},
		{"2026-02-10", "2026-01-31", "2026-02-01 2026-02-10 2026-02-10 2026-02-10 2026-02-20"},
		{"2026-01-31", "2026-01-31", "2026-02-01 2026-02-01 2026-02-01 2026-02-01 2026-02-20"},
		{"2026-02-10", "2026-02-28", "2026-03-01 2026-03-01 2026-03-01 2026-03-01 2026-03-01"},
	} {
		var on []string
		for _, e := range ledger.Entries(slices.Clone(postings), day(c.known), day(c.closed)) {
			on = append(on, e.On.String())
			if e.Account == ledger.DepositsHeld && e.Day != day(c.known) {
				t.Errorf("a deposit belongs to %s", e.Day)
			}
		}
		if got := strings.Join(on, " "); got != c.want {
			t.Errorf("known on %s, closed through %s: %s, want %s", c.known, c.closed, got, c.want)
		}
	}
}

func TestTheChartOfAccountsIsInOrder(t *testing.T) {
	seen := map[string]bool{}
	last := ""
	for _, l := range ledger.Chart {
		if l.Number <= last {
			t.Errorf("%s has the number %s behind %s", l.Account, l.Number, last)
		}
		if seen[string(l.Account)] || seen[l.Name] || l.Type == "" || l.Name == "" {
			t.Errorf("%+v is there twice, or says too little", l)
		}
		last, seen[string(l.Account)], seen[l.Name] = l.Number, true, true
	}
	for _, c := range ledger.Categories {
		if ledger.CostOf(c).Type() == "" {
			t.Errorf("%s has no account", c)
		}
	}
}
