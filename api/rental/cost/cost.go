// Package cost works out what costs by schedule: what a vehicle is bought for, what it loses in value, what its loan,
// its lease and its insurance take, what it is sold for, and whatever else somebody laid down to recur. It is pure:
// records, what was driven, and what people posted themselves go in, and items come out, each to be one expense.
//
// Amounts are whole minor units. A share is rounded half up, once; what is divided over days is divided as the ledger
// divides it, by largest remainder, so that parts add up. The same terms give the same items whenever they are asked
// for: an item has a name of its own (What and Number), whatever becomes of its days and its amount.
package cost

import (
	"math/bits"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// What names a schedule. Those of a vehicle's terms come first.
type What string

// The schedules.
const (
	Purchase     What = "purchase"
	Depreciation What = "depreciation"
	Insurance    What = "insurance"
	Interest     What = "loan_interest"
	Principal    What = "loan_principal"
	Lease        What = "lease"
	Disposal     What = "disposal"
	Recurring    What = "recurring"
)

// categories are those of the expenses that a vehicle's schedules make.
var categories = map[What]string{
	Purchase: "vehicle_purchase", Depreciation: "depreciation", Insurance: "insurance", Interest: "loan_interest",
	Principal: "loan_principal", Lease: "lease", Disposal: "vehicle_sale",
}

// Item is one expense that a schedule asks for.
type Item struct {
	What     What
	Number   int // of the period: the month since the year 0 of depreciation, the nth period or payment of all others
	Category string
	Due      ledger.Day // it belongs into the books
	On       ledger.Day // it is incurred, and paid
	From, To ledger.Day // over which its cost is spread, both included
	Amount   record.Money
	Financed int64            // of a purchase: what a loan has paid
	Sold     *record.Sold     // of a disposal
	Refunded *record.Refunded // what comes back of it; nil for nothing
	ByHand   string           // the expense with which somebody has posted it already; empty for none
}

// Posted is an expense that no schedule of the vehicle has made, while it is posted.
type Posted struct {
	ID       string
	Category string
	Vendor   string
	From, To ledger.Day
	Amount   record.Money
	Financed int64
}

// Schedule is what is asked for.
type Schedule struct {
	Items []Item // in the order of What, and of time within each
	// Lacks says, of each schedule that the terms begin to describe and do not complete, what is missing.
	Lacks map[What]string
}

// byHand marks the items that somebody has posted already. alike narrows that down; nil for any of the category.
func byHand(items []Item, posted []Posted, alike func(*Item, *Posted) bool) {
	for i := range items {
		item := &items[i]
		for j := range posted {
			p := &posted[j]
			if p.Category == item.Category && p.From <= item.To && item.From <= p.To && (alike == nil || alike(item, p)) {
				item.ByHand = p.ID
				break
			}
		}
	}
}

// monthOf is the number of a day's month.
func monthOf(d ledger.Day) int {
	y, m, _ := d.Time().Date()
	return y*12 + int(m) - 1
}

// day reads a date; 0 if there is none.
func day(text string) ledger.Day {
	d, err := ledger.ParseDay(text)
	if err != nil || !d.Known() {
		return 0
	}
	return d
}

// before is the earlier of two days of which 0 is none.
func before(a, b ledger.Day) ledger.Day {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// share is amount × num / den, rounded half up; num is at most den × 1000, and nothing is negative.
func share(amount, num, den int64) int64 {
	high, low := bits.Mul64(uint64(amount), uint64(num))
	low, carry := bits.Add64(low, uint64(den)/2, 0)
	part, _ := bits.Div64(high+carry, low, uint64(den))
	return int64(part)
}

// firstDays is what the first so many of n days have of an amount that is divided over them by largest remainder, as
// the ledger divides the cost of an expense.
func firstDays(amount, n, days int64) int64 { return amount/n*days + min(amount%n, days) }
