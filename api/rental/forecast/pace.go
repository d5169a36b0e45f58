package forecast

import "github.com/motorpool/fleet/api/rental/ledger"

// Bucket is a week or a month to come, and the one that it is compared with a year before: of weeks the one 52 weeks
// before, which has the same days of the week, of months the same month.
type Bucket struct {
	From, To             ledger.Day
	BeforeFrom, BeforeTo ledger.Day
}

// Weeks are so many weeks from Monday to Sunday, the first with today in it, and the day that is today's a year
// before.
func Weeks(today ledger.Day, n int) (buckets []Bucket, before ledger.Day) {
	monday := today - ledger.Day((int(today.Time().Weekday())+6)%week)
	for i := range n {
		from := monday + ledger.Day(i*week)
		buckets = append(buckets, Bucket{From: from, To: from + week - 1,
			BeforeFrom: from - yearBefore, BeforeTo: from + week - 1 - yearBefore})
	}
	return buckets, today - yearBefore
}

// Months are so many months, the first with today in it, and the day that is today's a year before: of 29 February it
// is the 28th.
func Months(today ledger.Day, n int) (buckets []Bucket, before ledger.Day) {
	for i := range n {
		buckets = append(buckets, Bucket{From: today.Month(i), To: today.Month(i+1) - 1,
			BeforeFrom: today.Month(i - 12), BeforeTo: today.Month(i-11) - 1})
	}
	return buckets, today.AddMonths(-12)
}

// OnBooks is what is on the books for some days: billed days, and what was agreed for them in minor units.
type OnBooks struct{ BilledDays, Revenue int64 }

// Sum adds up what is on the books from one day to another, both inclusive.
func Sum(days map[ledger.Day]OnBooks, from, to ledger.Day) OnBooks {
	var sum OnBooks
	for day := from; day <= to; day++ {
		sum.BilledDays += days[day].BilledDays
		sum.Revenue += days[day].Revenue
	}
	return sum
}

// Pickup is what a bucket is likely to come to: what is on its books, and what its year before still took on from that
// day until the end. Never less than nothing.
func Pickup(now, before, final OnBooks) OnBooks {
	return OnBooks{BilledDays: max(0, now.BilledDays+final.BilledDays-before.BilledDays),
		Revenue: max(0, now.Revenue+final.Revenue-before.Revenue)}
}

// PaceError is how far off Pickup was a year ago, in basis points of what came, beside the guess that a bucket comes to
// what its year before did.
type PaceError struct {
	Buckets                     int
	MAE, Bias, NaiveMAE, Naives int64
}

// PaceErrorOf compares what was expected of some buckets, and what the year before had come to, with what came; false
// if nothing came.
func PaceErrorOf(expected, naive, came []int64) (PaceError, bool) {
	e := PaceError{Buckets: len(came)}
	var all int64
	abs := func(v int64) int64 { return max(v, -v) }
	for i, v := range came {
		all += v
		e.MAE += abs(expected[i] - v)
		e.Bias += expected[i] - v
		e.NaiveMAE += abs(naive[i] - v)
		e.Naives += naive[i] - v
	}
	if all <= 0 {
		return PaceError{Buckets: len(came)}, false
	}
	for _, v := range []*int64{&e.MAE, &e.Bias, &e.NaiveMAE, &e.Naives} {
		*v = *v * 10_000 / all
	}
	return e, true
}
