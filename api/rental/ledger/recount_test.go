package ledger_test

import (
	"maps"
	"time"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/price"
)

// recount says what ought to stand on each account at the end of a day, counted from the records as a bookkeeper would
// who has no postings: what was received, given back, billed, earned, bought, used and paid until then. It shares
// nothing with the package but the division of an amount by weights.
type recount struct {
	until string // the day, as 2026-03-01
	sums  map[string]int64
}

func (r *recount) add(account, currency string, amount int64) { r.sums[account+" "+currency] += amount }

// over says whether a day is not behind the one that is counted until; days that nobody knows are over.
func (r *recount) over(day string) bool { return day <= r.until }

// dayIn is the local day of an instant.
func dayIn(at record.Instant, name string) string {
	zone, err := time.LoadLocation(name)
	if err != nil {
		zone = time.UTC
	}
	if at.IsZero() {
		return ""
	}
	return at.In(zone).Format(time.DateOnly)
}

// between puts what was done more of first than of second on one account, or what was done less on another.
func (r *recount) between(first, second int64, currency, asset, liability string) {
	r.add(asset, currency, max(first-second, 0))
	r.add(liability, currency, -max(second-first, 0))
}

// bookAccounts are the accounts of lines of bills; those of no other are revenue from fees.
var bookAccounts = map[string]string{"time": "revenue.time", "mileage": "revenue.mileage", "extra": "revenue.extras",
	"protection": "revenue.protection",
	"damage":     "revenue.damage", "toll": "revenue.toll_recharge", "discount": "contra.discount",
	"promo": "contra.discount",
	"tax":   "tax_payable", "platform_fee": "cost.platform_fee"}

func lineAccount(c *record.Charge) string {
	if c.Type == "adjustment" && (c.Amount.Amount < 0 && c.ReversalOf == "" || c.Amount.Amount > 0 && c.ReversalOf != "") {
		return "contra.refund"
	}
	if account := bookAccounts[c.Type]; account != "" {
		return account
	}
	return "revenue.fees"
}

// cameAbout is the day of a line: that which was said, or else that on which it was written down.
func cameAbout(c *record.Charge, zone string) string {
	if said := dayIn(c.At, zone); said != "" {
		return said
	}
	return dayIn(c.PostedAt, zone)
}

func (r *recount) booking(b *record.Booking) {
	owed := "accounts_receivable"
	if b.Channel == "turo" {
		owed = "platform_receivable"
	}
	billed := "" // from which day on
	switch b.Status {
	case record.BookingActive, record.BookingCompleted:
		r.rental(b, owed)
		if billed = dayIn(b.ActualPickupAt, b.Timezone); billed == "" {
			billed = dayIn(b.PickupAt, b.Timezone)
		}
	case record.BookingCancelled, record.BookingNoShow:
		billed = r.cameToNothing(b, owed)
	}
	d := &b.Deposit
	captured, applied := d.Captured.Amount, d.Applied.Amount
	released := min(d.Released.Amount, captured-applied)
	ahead := int64(0)
	for _, m := range d.Moves {
		of := map[string]*int64{"capture": &captured, "release": &released, "apply": &applied}[m.Action]
		if day := dayIn(m.At, b.Timezone); !r.over(day) {
			*of -= m.Amount.Amount // not yet
		} else if m.Action == "apply" && (billed == "" || day < billed && !r.over(billed)) {
			ahead += m.Amount.Amount
		}
	}
	r.add("cash", "USD", captured-released)
	r.add("deposits_held", "USD", released+applied-captured)
	if billed == "" {
		ahead = applied
	}
	r.add("customer_prepayments", "USD", -ahead)
	r.add(owed, "USD", ahead-applied)
}

// cameToNothing counts what is left of the bill, and says from which day on; "" if nothing is.
func (r *recount) cameToNothing(b *record.Booking, owed string) string {
	over := dayIn(b.StatusSince, b.Timezone)
	if b.Cancellation != nil {
		over = dayIn(b.Cancellation.At, b.Timezone)
	}
	days := map[string]int64{}
	gone := map[string]bool{} // by the time the booking came to nothing
	for _, c := range b.Charges {
		if c.ReversalOf != "" && c.PostedAt.Compare(b.StatusSince.Time) <= 0 {
			gone[c.ReversalOf], gone[c.ID] = true, true
		}
	}
	var left int64
	for i := range b.Charges {
		c := &b.Charges[i]
		if gone[c.ID] {
			continue
		}
		left += c.Amount.Amount
		day := max(cameAbout(c, b.Timezone), over)
		days[day] += c.Amount.Amount
		if !r.over(day) {
			continue
		}
		to := owed
		if c.Type == "platform_fee" {
			to = "platform_receivable"
		}
		r.add(to, c.Amount.Currency, c.Amount.Amount)
		r.add(lineAccount(c), c.Amount.Currency, -c.Amount.Amount)
	}
	billed := ""
	for day, sum := range days {
		if sum != 0 && left != 0 && (billed == "" || day < billed) {
			billed = day
		}
	}
	return billed
}

// spread are the lines that are earned by day, and whether by the prices of the days.
var spread = map[string]bool{"time": true, "discount": true, "promo": true, "platform_fee": true, "extra": false,
	"protection": false, "young_driver": false}

func (r *recount) rental(b *record.Booking, owed string) {
	pickup := b.ActualPickupAt
	if pickup.IsZero() {
		pickup = b.PickupAt
	}
	var days []string
	var prices []int64
	if b.RateSnapshot != nil {
		for _, d := range b.RateSnapshot.Days {
			days, prices = append(days, d.Date), append(prices, d.Amount.Amount)
		}
	} else {
		last := dayIn(record.InstantOf(b.ReturnAt.Add(-time.Millisecond)), b.Timezone)
		for day := dayIn(pickup, b.Timezone); len(days) == 0 || day <= last; {
			days, prices = append(days, day), append(prices, 0)
			next, _ := time.Parse(time.DateOnly, day)
			day = next.AddDate(0, 0, 1).Format(time.DateOnly)
		}
	}
	back := "" // the day on which nothing of the rental is left to come
	if b.Status == record.BookingCompleted && !b.ActualReturnAt.IsZero() {
		back = max(dayIn(pickup, b.Timezone), dayIn(b.ActualReturnAt, b.Timezone))
	}
	type line struct{ kind, currency string }
	whole := map[line]int64{}
	billed, earned, kept, used := map[string]int64{}, map[string]int64{}, map[string]int64{}, map[string]int64{}
	for i := range b.Charges {
		c := &b.Charges[i]
		_, byDay := spread[c.Type]
		if byDay {
			whole[line{c.Type, c.Amount.Currency}] += c.Amount.Amount
		}
		if !r.over(owedOn(b, c, dayIn(pickup, b.Timezone), back)) {
			continue
		}
		if c.Type == "platform_fee" {
			r.add("platform_receivable", c.Amount.Currency, c.Amount.Amount)
			kept[c.Amount.Currency] -= c.Amount.Amount
			continue
		}
		r.add(owed, c.Amount.Currency, c.Amount.Amount)
		if byDay {
			billed[c.Amount.Currency] += c.Amount.Amount
		} else {
			r.add(lineAccount(c), c.Amount.Currency, -c.Amount.Amount)
		}
	}
	for l, amount := range whole {
		weights := prices
		if !spread[l.kind] {
			weights = make([]int64, len(days))
		}
		for i, part := range price.Allocate(amount, weights) {
			if !r.over(days[i]) && (back == "" || !r.over(back)) {
				continue
			}
			r.add(lineAccount(&record.Charge{Type: l.kind}), l.currency, -part)
			if l.kind == "platform_fee" {
				used[l.currency] -= part
			} else {
				earned[l.currency] += part
			}
		}
	}
	for _, currency := range currencies {
		r.between(earned[currency], billed[currency], currency, "unbilled_receivable", "deferred_revenue")
		r.between(kept[currency], used[currency], currency, "prepaid_expenses", "accounts_payable")
	}
}

// owedOn is the day on which a line is owed: when the vehicle was handed over, when it was back, or when
// somebody charged it.
func owedOn(b *record.Booking, c *record.Charge, out, back string) string {
	_, ofTheWhole := spread[c.Type]
	channels := c.Source == "import"
	for _, id := range b.PickupCharges {
		if id == c.ID {
			return out
		}
	}
	if channels && (ofTheWhole || c.Type == "tax") {
		return out
	}
	if back != "" {
		if channels {
			return back
		}
		for _, id := range b.ReturnCharges {
			if id == c.ID {
				return back
			}
		}
	}
	return max(out, cameAbout(c, b.Timezone))
}

func (r *recount) payment(p *record.Payment) {
	if p.Status == record.PaymentPending || p.Status == record.PaymentFailed {
		return
	}
	currency, sign := p.Amount.Currency, int64(1)
	if p.Direction == "out" {
		sign = -1
	}
	var moved int64
	if r.over(dayIn(p.ReceivedAt, "UTC")) {
		moved += sign * p.Amount.Amount
		if p.Fee != nil {
			r.add("cash", currency, -p.Fee.Amount)
			account := "cost.payment_fee"
			if p.Method == "platform" {
				account = "cost.platform_fee"
			}
			r.add(account, currency, p.Fee.Amount)
		}
	}
	for _, refund := range p.Refunds {
		if r.over(dayIn(refund.At, "UTC")) {
			moved -= sign * refund.Amount.Amount
		}
	}
	r.add("cash", currency, moved)
	billed := p.BookedFor.BilledOn
	switch {
	case p.BookingID == "" && p.Method != "platform", p.BookingID != "" && (billed == "" || !r.over(billed)):
		r.add("customer_prepayments", currency, -moved)
	case p.BookedFor.Channel == "turo" || p.BookedFor.Channel == "" && p.Method == "platform":
		r.add("platform_receivable", currency, -moved)
	default:
		r.add("accounts_receivable", currency, -moved)
	}
}

func (r *recount) expense(e *record.Expense) {
	if e.Status != record.ExpensePosted {
		return
	}
	switch e.Category {
	case "vehicle_sale":
		r.sale(e)
		return
	case "owner_share":
		for _, day := range e.OwnerDays {
			if r.over(day.On) {
				r.add("cost.owner_share", e.Amount.Currency, day.Share)
				r.add("owner_borne.variable", e.Amount.Currency, -day.Variable)
				r.add("owner_borne.fixed", e.Amount.Currency, -day.Fixed)
				r.add("owners_payable", e.Amount.Currency, day.Variable+day.Fixed-day.Share)
			}
		}
		return
	}
	account := map[string]string{"sales_tax": "tax_payable", "vehicle_purchase": "fixed_asset",
		"loan_principal": "loans_payable", "owner_payout": "owners_payable"}[e.Category]
	if account == "" {
		account = "cost." + e.Category
	}
	days := []string{e.IncurredOn}
	if p := e.ServicePeriod; p != nil && p.From <= p.To && e.Category != "bad_debt" && account[:5] == "cost." {
		days = nil
		for day, _ := time.Parse(time.DateOnly, p.From); day.Format(time.DateOnly) <= p.To; day = day.AddDate(0, 0, 1) {
			days = append(days, day.Format(time.DateOnly))
		}
	}
	currency, amount := e.Amount.Currency, e.Amount.Amount
	var paid, used int64
	if e.Tax != nil && e.TaxRecoverable {
		amount -= e.Tax.Amount
		if r.over(e.IncurredOn) {
			r.add("tax_receivable", currency, e.Tax.Amount)
			used += e.Tax.Amount
		}
	}
	for i, part := range price.Allocate(amount, make([]int64, len(days))) {
		if r.over(days[i]) {
			r.add(account, currency, part)
			used += part
		}
	}
	switch e.Category {
	case "depreciation":
		r.add("accumulated_depreciation", currency, -used)
		return
	case "bad_debt":
		r.add("accounts_receivable", currency, -used)
		return
	}
	if e.Unpaid {
		paid = 0
	} else if e.PaidOn == "" && r.over(e.IncurredOn) || e.PaidOn != "" && r.over(e.PaidOn) {
		paid = e.Amount.Amount
		if e.Financed != nil {
			paid -= e.Financed.Amount
		}
	}
	r.add("cash", currency, -paid)
	if e.Financed != nil && r.over(e.IncurredOn) {
		r.add("loans_payable", currency, -e.Financed.Amount)
		paid += e.Financed.Amount
	}
	r.between(paid, used, currency, "prepaid_expenses", "accounts_payable")
}

// sale counts a vehicle that is sold.
func (r *recount) sale(e *record.Expense) {
	currency, price := e.Amount.Currency, e.Amount.Amount
	owed, paid := int64(0), int64(0)
	if r.over(e.IncurredOn) {
		r.add("fixed_asset", currency, -e.Sold.Cost.Amount)
		r.add("accumulated_depreciation", currency, e.Sold.Depreciated.Amount)
		r.add("gain_on_disposal", currency, e.Sold.Cost.Amount-e.Sold.Depreciated.Amount-price)
		owed = price
	}
	if !e.Unpaid && (e.PaidOn == "" && r.over(e.IncurredOn) || e.PaidOn != "" && r.over(e.PaidOn)) {
		paid = price
	}
	r.add("cash", currency, paid)
	r.between(owed, paid, currency, "accounts_receivable", "customer_prepayments")
}

// bought counts something that costs on a day, and was paid that day or on another.
func (r *recount) bought(account string, cost record.Money, on, paidOn string) {
	var used, paid int64
	if r.over(on) {
		used = cost.Amount
	}
	if paidOn == "" && r.over(on) || paidOn != "" && r.over(paidOn) {
		paid = cost.Amount
	}
	r.add(account, cost.Currency, used)
	r.add("cash", cost.Currency, -paid)
	r.between(paid, used, cost.Currency, "prepaid_expenses", "accounts_payable")
}

// agree holds what was posted against what is counted from the records, at the end of each third day.
func (b *books) agree() {
	b.t.Helper()
	for day := time.Date(2026, 2, 25, 0, 0, 0, 0,
		time.UTC); day.Before(time.Date(2026, 5, 15, 0, 0, 0, 0, time.UTC)); day = day.AddDate(0, 0, 3) {
		r := &recount{until: day.Format(time.DateOnly), sums: map[string]int64{}}
		for _, o := range b.bookings {
			r.booking(o)
		}
		for _, o := range b.payments {
			r.payment(o)
		}
		for _, o := range b.expenses {
			r.expense(o)
		}
		for _, o := range b.work {
			if o.Status == record.WorkCompleted {
				r.bought("cost.repair", *o.Total, dayIn(o.CompletedAt, "UTC"), o.PaidOn)
			}
		}
		for _, o := range b.tolls {
			if o.Status != record.TollDisputed {
				r.bought("cost.toll", o.Amount, dayIn(o.OccurredAt, "UTC"), o.PaidOn)
			}
		}
		stands := map[string]int64{}
		for _, p := range b.posted {
			if p.Day.String() <= r.until {
				stands[string(p.Account)+" "+p.Currency] += p.Amount
			}
		}
		for _, sums := range []map[string]int64{stands, r.sums} {
			maps.DeleteFunc(sums, func(_ string, sum int64) bool { return sum == 0 })
		}
		if !maps.Equal(stands, r.sums) {
			b.t.Fatalf("at the end of %s the books say\n%v\nthe records say\n%v", r.until, stands, r.sums)
		}
	}
}
