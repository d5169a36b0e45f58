package forecast

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/motorpool/fleet/api/rental/ledger"
)

// made is a history whose truth is known: occupancy follows the season and the weekday, and of what a day comes to in
// the end a known share is on the books so many days before.
func made(class uint64, first ledger.Day, days int, noise float64, seed uint64) *Series {
	rng := rand.New(rand.NewPCG(seed, class))
	s := NewSeries(class, first, days)
	for i := range s.Days {
		day := first + ledger.Day(i)
		d := &s.Days[i]
		d.Known, d.Rentable = true, 10*86400
		final := int64(float64(d.Rentable) * min(1, max(0, truth(day)+noise*rng.NormFloat64())))
		d.Rented = final
		booked := int64(0)
		for lead := Earliest; lead >= 0; lead-- {
			due := int64(float64(final) * math.Exp(-float64(lead)/20))
			d.Step(lead, due-booked)
			booked = due
		}
	}
	return s
}

// truth is the occupancy of a day: between 0.3 and 0.9, with a summer and busy weekends.
func truth(day ledger.Day) float64 {
	season := 0.5 + 0.2*math.Sin(2*math.Pi*float64(day.Time().YearDay()-100)/365)
	if w := day.Time().Weekday(); w == 0 || w == 6 {
		season += 0.2
	}
	return season
}

func dayAt(t *testing.T, text string) ledger.Day {
	t.Helper()
	d, err := ledger.ParseDay(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestASeasonIsForecastBetterThanByLastYear(t *testing.T) {
	first := dayAt(t, "2023-01-01")
	all := []*Series{made(1, first, 1096, 0.08, 1), made(2, first, 1096, 0.08, 2), made(3, first, 1096, 0.08, 3)}
	total := Total(all)
	today := dayAt(t, "2026-01-01")
	b := Test(all, total, today, Usual)
	if b.Origins != 52 || b.To != today-1 || b.From != today-yearBefore+1 {
		t.Errorf("%d origins from %s to %s", b.Origins, b.From, b.To)
	}
	for _, c := range []Calls{b.Full, b.Empty} {
		if c.Called < 100 || c.Of != b.Full.Of || c.Right*c.Of < 3*c.Came*c.Called {
			t.Errorf("days are called full or empty hardly better than by chance: %+v", c)
		}
	}
	for i, most := range []float64{3, 6, 7, 7} {
		c, a := b.Classes[i], b.Account[i]
		if c.Forecasts == 0 || c.Forecasts != c.Compared || c.Forecasts != 3*a.Forecasts {
			t.Fatalf("%d to %d: %+v %+v", c.FromDays, c.ToDays, c, a)
		}
		// What a day comes to has a standard deviation of 8 points about the truth: of that a mean error of 6.4 stays even of
		// who knows the truth, and last year, which has such an error of its own, is 9 off.
		if c.MAE > most || c.MAE >= c.NaiveMAE || math.Abs(c.Bias) > 1 {
			t.Errorf("%d to %d days before: %+v", c.FromDays, c.ToDays, c)
		}
		if a.MAE >= a.NaiveMAE || a.MAE > 4 {
			t.Errorf("of the account, %d to %d days before: %+v", a.FromDays, a.ToDays, a)
		}
	}
}

func TestAForecastKnowsNothingOfTheFuture(t *testing.T) {
	first, origin := dayAt(t, "2024-01-01"), dayAt(t, "2025-06-01")
	s := made(1, first, 730, 0.05, 7)
	total := Total([]*Series{s})
	day := origin + 30
	want := Expect(s, total, day, origin)
	for i := range s.Days {
		if d := &s.Days[i]; first+ledger.Day(i) >= origin {
			d.Rented = d.Rentable - d.Rented
			if first+ledger.Day(i) == day {
				d.Step(29, 4711) // booked on the morrow
			}
		}
	}
	if got := Expect(s, Total([]*Series{s}), day, origin); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestAForecastGoesByTheShareOfWhatWasFree(t *testing.T) {
	first := dayAt(t, "2026-01-05") // a Monday
	s := NewSeries(1, first, 10*week+1)
	for i := range 10 {
		d := &s.Days[i*week]
		d.Known, d.Rentable, d.Rented = true, 100, 80
		d.Step(20, 60) // 40 were free ten days before, of which 20 were rented
	}
	target := first + 10*week
	d := s.At(target)
	d.Rentable = 200
	d.Step(30, 100)
	got := Expect(s, s, target, target-10)
	if got.OnBooks != 100 || got.Rented != 150 || got.Share != 0.5 || got.Samples != 9 {
		t.Errorf("%+v", got)
	}
}

func TestLittleIsSaidOfLittle(t *testing.T) {
	first := dayAt(t, "2026-01-01")
	today := first + LeastHistory - 1
	short := made(1, first, LeastHistory+Horizon, 0.05, 1)
	for i := range short.Days {
		short.Days[i].Known = first+ledger.Day(i) < today
	}
	total := Total([]*Series{short})
	if h := HistoryOf(total, today); h.Enough() || h.Days != LeastHistory-1 {
		t.Errorf("history %+v", h)
	}
	if b := Test([]*Series{short}, total, today, Usual); b.Origins != 0 || b.Classes[0].Forecasts != 0 {
		t.Errorf("a test of too little: %+v", b)
	}
	early := first + 40
	if e := Expect(short, total, early+3, early); e.Samples != 0 || e.Rented != e.OnBooks || e.Rented == 0 {
		t.Errorf("%+v of too little", e)
	}

	// A class that is new is judged by the account.
	old := made(2, first-365, 365+LeastHistory+Horizon, 0.05, 2)
	fresh := NewSeries(3, first-365, len(old.Days))
	target := fresh.At(today + 5)
	target.Rentable = 86400
	e := Expect(fresh, Total([]*Series{old, fresh}), today+5, today)
	if !e.Pooled || e.Samples < leastSamples || e.Rented <= 0 {
		t.Errorf("a new class: %+v", e)
	}
}

func TestNothingIsDividedByNothing(t *testing.T) {
	empty := Total(nil)
	if h := HistoryOf(empty, 20000); h.Enough() || h.Days != 0 {
		t.Errorf("%+v", h)
	}
	if b := Test(nil, empty, 20000, Usual); b.Origins != 0 || b.From != 0 {
		t.Errorf("%+v", b)
	}
	if e := Expect(empty, empty, 20001, 20000); e != (Expected{}) {
		t.Errorf("%+v", e)
	}
	if _, ok := Pct(5, 0); ok {
		t.Error("a share of nothing")
	}
	// A fleet that stands still, has no car, or is full long before has shares, and none is not a number.
	for _, rentable := range []int64{0, 1000} {
		for _, rented := range []int64{0, rentable, rentable + 10} {
			s := NewSeries(1, 19000, 200)
			for i := range s.Days {
				d := &s.Days[i]
				d.Known, d.Rentable, d.Rented = true, rentable, rented
				d.Step(Earliest, rented)
			}
			e := Expect(s, s, 19150, 19100)
			if math.IsNaN(e.Share) || e.Rented < 0 || e.Rented > max(rentable, e.OnBooks) {
				t.Errorf("%d of %d: %+v", rented, rentable, e)
			}
			for _, off := range Test([]*Series{s}, s, 19200, Usual).Classes {
				if math.IsNaN(off.MAE) || off.MAE != 0 && rented <= rentable {
					t.Errorf("%d of %d: %+v", rented, rentable, off)
				}
			}
		}
	}
}

func TestADayIsTooCheapOrTooDear(t *testing.T) {
	for _, test := range []struct {
		pct               float64
		rate, usual, cost int64
		want              Advice
	}{
		{85, 10000, 10000, 0, Advice{TooLow, 10250, 10500}},
		{100, 10000, 10000, 0, Advice{TooLow, 11000, 12000}},
		{100, 0, 10000, 0, Advice{TooLow, 11000, 12000}},
		{100, 11000, 10000, 0, Advice{}}, // it is there already
		{100, 13000, 10000, 0, Advice{}},
		{84.9, 10000, 10000, 0, Advice{}},
		{40, 10000, 10000, 0, Advice{TooHigh, 9500, 9750}},
		{0, 10000, 10000, 0, Advice{TooHigh, 8000, 9000}},
		{0, 10000, 10000, 8500, Advice{TooHigh, 8500, 9000}}, // never below what it costs
		{0, 10000, 10000, 10000, Advice{}},
		{0, 8000, 10000, 0, Advice{}},
		{0, 10000, 0, 0, Advice{}}, // nothing is usual
	} {
		if got := Advise(test.pct, test.rate, test.usual, test.cost, Usual); got != test.want {
			t.Errorf("%+v: %+v", test, got)
		}
	}
}

func TestBreakEvenIsWhereTheProfitTurns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		r := Result{BilledDays: rng.Int64N(40), Revenue: rng.Int64N(200_000), PlatformFees: rng.Int64N(20_000),
			Energy: rng.Int64N(9_000), Maintenance: rng.Int64N(30_000), OtherVariable: rng.Int64N(5_000),
			TollRecharge: rng.Int64N(2_000), Depreciation: rng.Int64N(60_000), Insurance: rng.Int64N(9_000),
			Finance: rng.Int64N(20_000), OtherFixedCosts: rng.Int64N(3_000)}
		days, ok := r.BreakEvenDays()
		switch {
		case !ok && r.BilledDays > 0 && r.Contribution() > 0:
			t.Fatalf("no break-even of %+v", r)
		case ok && r.BilledDays > 0 && r.Contribution() > 0 && (r.NetProfit() >= 0) != (r.BilledDays >= days):
			t.Fatalf("%d days break even, %d were billed, and the profit is %d", days, r.BilledDays, r.NetProfit())
		}
	}
	if days, ok := (&Result{}).BreakEvenDays(); days != 0 || !ok {
		t.Errorf("%d %v of a vehicle that costs nothing", days, ok)
	}
}

func TestBucketsOfPace(t *testing.T) {
	weeks, before := Weeks(dayAt(t, "2026-11-25"), 2) // a Wednesday
	if before.String() != "2025-11-26" || len(weeks) != 2 || weeks[0].From.String() != "2026-11-23" ||
		weeks[0].To.String() != "2026-11-29" || weeks[1].BeforeFrom.String() != "2025-12-01" ||
		weeks[1].BeforeFrom.Time().Weekday() != weeks[1].From.Time().Weekday() {
		t.Errorf("%v %v", weeks, before)
	}
	months, before := Months(dayAt(t, "2028-02-29"), 12)
	if before.String() != "2027-02-28" || months[0].To.String() != "2028-02-29" ||
		months[0].BeforeTo.String() != "2027-02-28" || months[11].From.String() != "2029-01-01" {
		t.Errorf("%v %v", months, before)
	}
	days := map[ledger.Day]OnBooks{10: {1, 100}, 11: {2, 300}, 13: {5, 5}}
	if got := Sum(days, 10, 12); got != (OnBooks{3, 400}) {
		t.Errorf("%+v", got)
	}
	if got := Pickup(OnBooks{10, 900}, OnBooks{8, 800}, OnBooks{20, 2000}); got != (OnBooks{22, 2100}) {
		t.Errorf("%+v", got)
	}
	off, ok := PaceErrorOf([]int64{110, 95}, []int64{80, 100}, []int64{100, 100})
	if !ok || off != (PaceError{Buckets: 2, MAE: 750, Bias: 250, NaiveMAE: 1000, Naives: -1000}) {
		t.Errorf("%+v", off)
	}
	if _, ok := PaceErrorOf([]int64{1}, []int64{1}, []int64{0}); ok {
		t.Error("an error of nothing")
	}
}

func BenchmarkTest(b *testing.B) {
	var all []*Series
	for class := range uint64(10) {
		all = append(all, made(class, 19000, 1096, 0.08, 1))
	}
	total := Total(all)
	for b.Loop() {
		Test(all, total, 19000+1096, Usual)
	}
}
