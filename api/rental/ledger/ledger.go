// Package ledger says which postings ought to stand in the books because of a record: of a booking, a payment, an
// expense, a work order, a toll or a journal entry by hand. It is pure; api/desk/books writes what it says.
//
// The books are double-entry: postings are signed amounts in minor units, debit positive, and those of one record
// sum to zero for each currency and day. Cash moves once, on the day on which it moves; revenue and cost belong to
// the local days of use, and stand on accounts of what is paid or billed ahead until then. Deposits and taxes are
// never revenue.
//
// Of a record's revision the transaction is what ought to stand after it less what ought to stand before it (Between).
// So the sum of a record's transactions is always what ought to stand because of its newest revision, a change is
// booked as its difference, and a record that comes to nothing is reversed to nothing, without any code that reverses.
package ledger

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// Dims are what a posting can be broken down by: ids as they are written, empty where there is none.
type Dims struct {
	Vehicle  string `json:"vehicle,omitempty"`
	Class    string `json:"class,omitempty"`
	Booking  string `json:"booking,omitempty"`
	Customer string `json:"customer,omitempty"`
	Location string `json:"location,omitempty"`
	Channel  string `json:"channel,omitempty"`
}

// Posting is an amount on an account.
type Posting struct {
	Day      Day     `json:"day"` // local, to which it belongs; 0 for the day on which it becomes known
	Account  Account `json:"account"`
	Currency string  `json:"currency"`
	Amount   int64   `json:"amount"` // in minor units; a debit is positive
	Purpose  string  `json:"purpose,omitempty"`
	Dims
}

// book collects the postings of a record.
type book struct {
	postings []Posting
	purpose  string // of what is moved next: "tax, City tax", where the accounts do not say
	dims     Dims
}

// move books an amount from an account (its credit) to another (its debit), so that the two always balance.
func (b *book) move(day Day, to, from Account, m record.Money) {
	if m.Amount == 0 {
		return
	}
	b.postings = append(b.postings,
		Posting{Day: day, Account: to, Currency: m.Currency, Amount: m.Amount, Purpose: b.purpose, Dims: b.dims},
		Posting{Day: day, Account: from, Currency: m.Currency, Amount: -m.Amount, Purpose: b.purpose, Dims: b.dims})
}

// level has what stands on the wrong side of an account stand on its other: so at the end of each day an asset has no
// credit and a liability no debit.
func (b *book) level(account, other Account) {
	stands, moved := map[string]int64{}, map[string]int64{}
	for _, p := range Sum(b.postings) {
		if p.Account != account {
			continue
		}
		stands[p.Currency] += p.Amount
		wrong := min(stands[p.Currency], 0)
		if account.Type() == Liability {
			wrong = max(stands[p.Currency], 0)
		}
		b.dims = p.Dims
		b.move(p.Day, other, account, record.Money{Amount: wrong - moved[p.Currency], Currency: p.Currency})
		moved[p.Currency] = wrong
	}
}

// Sum adds up postings that differ in nothing but their amounts, leaves out what comes to zero, and puts them in
// order, by day first.
func Sum(postings []Posting) []Posting {
	all := slices.Clone(postings)
	slices.SortStableFunc(all, compare)
	sums := all[:0]
	for _, p := range all {
		if n := len(sums); n > 0 && compare(sums[n-1], p) == 0 {
			sums[n-1].Amount += p.Amount
		} else {
			sums = append(sums, p)
		}
	}
	return slices.DeleteFunc(sums, func(p Posting) bool { return p.Amount == 0 })
}

func compare(a, b Posting) int {
	return cmp.Or(cmp.Compare(a.Day, b.Day), strings.Compare(string(a.Account), string(b.Account)),
		strings.Compare(a.Currency, b.Currency), strings.Compare(a.Vehicle, b.Vehicle), strings.Compare(a.Class, b.Class),
		strings.Compare(a.Booking, b.Booking), strings.Compare(a.Customer, b.Customer),
		strings.Compare(a.Location, b.Location),
		strings.Compare(a.Channel, b.Channel),
		strings.Compare(a.Purpose, b.Purpose))
}

// Between returns the postings that lead from what stood to what ought to stand; none if these are the same.
func Between(before, after []Posting) []Posting {
	all := slices.Clone(after)
	for _, p := range before {
		p.Amount = -p.Amount
		all = append(all, p)
	}
	return Sum(all)
}

// The days that the books know: from 1970-01-02 to the end of 2199. What lies beyond counts on the nearest.
const firstDay, lastDay Day = 1, 84005

// Known says whether the books know the day.
func (d Day) Known() bool { return firstDay <= d && d <= lastDay }

// Entry is a posting as it stands in the books.
type Entry struct {
	On Day `json:"on"` // the day of the books that it counts on
	Posting
}

// Entries puts a transaction's postings on days of the books. A posting belongs on its own day, unless the books are
// closed through that day: then it counts on the day on which it became known, or on the first open day if that lies
// later. What has no day of its own belongs to the day on which it became known. Days move as a whole, so that each
// still balances.
func Entries(postings []Posting, known, closed Day) []Entry {
	entries := make([]Entry, len(postings))
	for i, p := range postings {
		if p.Day == 0 {
			p.Day = known
		}
		p.Day = min(max(p.Day, firstDay), lastDay)
		on := p.Day
		if on <= closed {
			on = max(known, closed+1)
		}
		entries[i] = Entry{On: on, Posting: p}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(a.On, b.On) })
	return entries
}

// Of returns what ought to stand because of a revision of a record, and because of the one before it; nothing for kinds
// that have no part in the books. zone is the account's, for what belongs to no other.
func Of(w record.Written, zone *time.Location) (before, after []Posting, err error) {
	of, ok := parts[w.Kind]
	if !ok {
		return nil, nil, nil
	}
	return of(w, zone)
}

// part is Of for records of a kind.
type part func(w record.Written, zone *time.Location) (before, after []Posting, err error)

var parts = map[string]part{
	record.Bookings.Name: partOf(func(id uint64, b *record.Booking, zone *time.Location) []Posting {
		return OfBooking(fleet.FormatID(fleet.BookingPrefix, id), b, zone)
	}),
	record.Payments.Name: partOf(func(_ uint64, p *record.Payment, zone *time.Location) []Posting {
		return OfPayment(p, zone)
	}),
	record.Expenses.Name: partOf(func(_ uint64, e *record.Expense, _ *time.Location) []Posting {
		return OfExpense(e)
	}),
	record.WorkOrders.Name: partOf(func(_ uint64, w *record.WorkOrder, zone *time.Location) []Posting {
		return OfWorkOrder(w, zone)
	}),
	record.Tolls.Name: partOf(func(_ uint64, t *record.Toll, zone *time.Location) []Posting {
		return OfToll(t, zone)
	}),
	record.JournalEntries.Name: partOf(func(_ uint64, e *record.JournalEntry, _ *time.Location) []Posting {
		return OfJournalEntry(e)
	}),
}

// partOf is the part of a kind by the postings of one of its records.
func partOf[T any](postings func(id uint64, body *T, zone *time.Location) []Posting) part {
	return func(w record.Written, zone *time.Location) (stood, stands []Posting, err error) {
		before, after, err := record.Bodies[T](w)
		if err != nil {
			return nil, nil, err
		}
		if before != nil {
			stood = postings(w.ID, before, zone)
		}
		return stood, postings(w.ID, after, zone), nil
	}
}

// Kinds are the prefixes of the records that have a part in the books, by their kinds.
var Kinds = map[string]string{
	record.Bookings.Name: fleet.BookingPrefix, record.Payments.Name: fleet.PaymentPrefix,
	record.Expenses.Name:   fleet.ExpensePrefix,
	record.WorkOrders.Name: fleet.WorkOrderPrefix, record.Tolls.Name: fleet.TollPrefix,
	record.JournalEntries.Name: fleet.JournalEntryPrefix,
}

// TransactionID names the transaction of a record's revision, so that whoever posts it again gives it the same name.
func TransactionID(account fleet.AccountID, kind string, id, revision uint64) uint64 {
	return name("transaction", kind, uint64(account), id, revision)
}

// EntryID names an entry of a transaction, by its number from 1.
func EntryID(transaction uint64, number int) uint64 {
	return name("entry", "", transaction, uint64(number))
}

func name(what, kind string, numbers ...uint64) uint64 {
	hash := fnv.New64a()
	fmt.Fprintf(hash, "ledger %s %s %d", what, kind, numbers)
	return max(hash.Sum64()>>1, 1) // below 2^63, so that databases without unsigned numbers can hold it
}
