//go:build long

package api

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/outlook"
	"github.com/motorpool/fleet/schemas"
)

// The past of these tests is made up, and its truth is known: vehicles of one class, day rentals, more of them in
// summer and on weekends, half of them booked two weeks before or earlier.

// outlookDay is the day on which these tests ask: clocks go back within the 90 days that follow.
var outlookDay = time.Date(2025, 10, 15, 15, 0, 0, 0, time.UTC)

// outlookTruth is the occupancy of a day.
func outlookTruth(day time.Time) float64 {
	occupancy := 0.5 + 0.25*math.Sin(2*math.Pi*float64(day.YearDay()-100)/365)
	if day.Weekday() == time.Saturday || day.Weekday() == time.Sunday {
		occupancy += 0.15
	}
	return occupancy
}

// outlookWorld is a world at outlookDay, whose account has a class of so many vehicles; it returns their ids.
func outlookWorld(t *testing.T, vehicles int) (w *world, class string, cars []string) {
	w = newWorld(t)
	w.clock.Store(int64(time.Until(outlookDay)))
	class = w.do("POST", "/v1/vehicle_classes", `{"name":"Compact"}`).ok(201).id()
	for i := range vehicles {
		cars = append(cars, w.vehicle(fmt.Sprintf(
			`{"make":"Kia","model":"Rio","license_plate":"CAR-%d","vehicle_class_id":%q}`, i, class)))
	}
	return w, class, cars
}

// rentedOn writes the facts and the bookings of some days, of which those that are booked after outlookDay are left
// out.
func (w *world) rentedOn(class string, cars []string, from time.Time, days int) {
	w.t.Helper()
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		w.t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	facts, err := w.db.PrepareBatch(w.t.Context(), `INSERT INTO vehicle_days (account, local_date, vehicle, currency,
		computed_at, day_s, fleet_s, down_s, rented_s, billed_days, revenue_time, cost_maintenance, cost_depreciation)`)
	if err != nil {
		w.t.Fatal(err)
	}
	bookings, err := w.db.PrepareBatch(w.t.Context(),
		"INSERT INTO bookings (account, id, revision, created_at, updated_at, body)")
	if err != nil {
		w.t.Fatal(err)
	}
	n := uint64(0)
	for i := range days {
		y, m, d := from.AddDate(0, 0, i).Date()
		begin, end := time.Date(y, m, d, 0, 0, 0, 0, zone), time.Date(y, m, d+1, 0, 0, 0, 0, zone)
		for _, car := range cars {
			booked := begin.AddDate(0, 0, -int(20*rng.ExpFloat64())).Add(-time.Hour)
			rented := rng.Float64() < outlookTruth(begin) && booked.Before(outlookDay)
			long := uint32(end.Sub(begin) / time.Second)
			var had, billed uint32
			if n++; rented {
				had, billed = long, 1
				id := w.api.Store.NextID()
				body := fmt.Sprintf(`{"status":"confirmed","status_since":%[1]q,"confirmed_at":%[1]q,"pickup_at":%[2]q,`+
					`"return_at":%[3]q,"vehicle_id":%[4]q,"vehicle_class_id":%[5]q,"billed_days":1,"currency":"USD",`+
					`"rate_snapshot":{"lines":[{"type":"time","amount":{"amount":5000,"currency":"USD"}},`+
					`{"type":"extra","amount":{"amount":700}},{"type":"tax","amount":{"amount":400}}]}}`,
					booked.UTC().Format(time.RFC3339), begin.UTC().Format(time.RFC3339), end.UTC().Format(time.RFC3339), car, class)
				if err := bookings.Append(uint64(w.account), id, uint64(1), booked, booked, body); err != nil {
					w.t.Fatal(err)
				}
			}
			if !begin.Before(outlookDay.Add(-24 * time.Hour)) {
				continue
			}
			id, err := fleet.ParseID(fleet.VehiclePrefix, car)
			if err != nil {
				w.t.Fatal(err)
			}
			if err := facts.Append(uint64(w.account), begin, id, "USD", outlookDay, long, long, uint32(0), had, billed,
				int64(billed)*5000, int64(100), int64(2000)); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	if err := bookings.Send(); err != nil {
		w.t.Fatal(err)
	}
	if err := facts.Send(); err != nil {
		w.t.Fatal(err)
	}
	w.sumMonths()
}

// sumMonths makes the months of all days that are written, and what was agreed for bookings, as whoever makes facts
// does.
func (w *world) sumMonths() {
	w.t.Helper()
	if err := w.db.Exec(w.t.Context(), schemas.Query("facts_months"), clickhouse.Named("account", uint64(w.account)),
		clickhouse.Named("from", "2023-01-01"), clickhouse.Named("to", "2025-12-31"),
		clickhouse.Named("vehicles", []uint64{})); err != nil {
		w.t.Fatal(err)
	}
	chosen, err := schemas.ChosenAmong(w.t.Context(), w.db, uint64(w.account), 0, math.MaxUint64)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.db.Exec(clickhouse.Context(w.t.Context(), chosen), schemas.Query("facts_booking_sums"),
		clickhouse.Named("account", uint64(w.account)), clickhouse.Named("first", uint64(0)),
		clickhouse.Named("last", uint64(math.MaxUint64)), clickhouse.Named("zone", "America/Chicago")); err != nil {
		w.t.Fatal(err)
	}
}

func outlookOf[T any](t *testing.T, r *reply) (v T) {
	t.Helper()
	if err := json.Unmarshal(r.ok(200).body, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAForecastIsNearTheTruthAndSaysHowNear(t *testing.T) {
	w, class, cars := outlookWorld(t, 12)
	first := outlookDay.AddDate(-2, -3, 0)
	w.rentedOn(class, cars, first, int(outlookDay.Sub(first)/(24*time.Hour))+91)
	got := outlookOf[outlook.UtilizationForecast](t, w.do("GET", "/v1/forecasts/utilization", ""))
	if got.Refused != "" || got.History.Days < 820 || len(got.Days) != 90 || got.Days[0].Date != "2025-10-16" ||
		got.Backtest.Forecasts != 52 || *got.Backtest.Until != "2025-10-14" {
		t.Fatalf("%s %+v %+v, %d days from %s", got.Refused, got.History, got.Backtest, len(got.Days), got.Days[0].Date)
	}
	var off, bias float64
	for _, d := range got.Days {
		day, err := time.Parse(time.DateOnly, d.Date)
		if err != nil {
			t.Fatal(err)
		}
		miss := *d.ExpectedPct - 100*outlookTruth(day)
		off, bias = off+math.Abs(miss)/90, bias+miss/90
		hours := int64(24)
		if d.Date == "2025-11-02" { // clocks go back
			hours = 25
		}
		wantEqual(t, "rentable on "+d.Date, d.Rentable, hours*3600*12)
		if len(d.Classes) != 1 || d.Classes[0].Name != "Compact" || *d.Classes[0].VehicleClassID != class ||
			*d.LowPct > *d.ExpectedPct || *d.HighPct < *d.ExpectedPct || d.OnBooks > *d.Expected+d.Rentable/5 {
			t.Errorf("%+v", d)
		}
	}
	// Of 12 vehicles a day has a standard deviation of 14 points about the truth.
	if off > 8 || math.Abs(bias) > 4 {
		t.Errorf("expected %.1f points off the truth on average, and %.1f too much", off, bias)
	}
	t.Logf("expected is %.1f points off the truth, and %.1f too much", off, bias)
	for _, e := range got.Backtest.Account {
		t.Logf("%d to %d days ahead: %v off, last year %v", e.FromDays, e.ToDays, *e.MAE, *e.LastYearMAE)
		if e.Days == 0 || *e.MAE > 14 || e.Compared > 0 && *e.MAECompared >= *e.LastYearMAE || math.Abs(*e.Bias) > 5 {
			t.Errorf("the test says %+v, MAE %v bias %v, last year %v", e, *e.MAE, *e.Bias, *e.LastYearMAE)
		}
	}
	again := outlookOf[outlook.UtilizationForecast](t, w.do("GET", "/v1/forecasts/utilization", ""))
	wantEqual(t, "asked again", fmt.Sprint(*again.Days[40].ExpectedPct, *again.Backtest.Account[2].MAE),
		fmt.Sprint(*got.Days[40].ExpectedPct, *got.Backtest.Account[2].MAE))
	w.priceAdviceOfThat(class)
	w.paceOfThat()
	w.nothingOfThatIsSeenByOthers()
}

// priceAdviceOfThat looks at what is said of the prices of a fleet that is emptier in winter.
func (w *world) priceAdviceOfThat(class string) {
	w.t.Helper()
	got := outlookOf[outlook.PriceAdvice](w.t, w.do("GET", "/v1/advice/prices?low_pct=35&high_pct=60", ""))
	if got.Judged != 90 || len(got.Days) == 0 || *got.Backtest.Empty.Hit <= *got.Backtest.Empty.Chance {
		w.t.Fatalf("judged %d, said %d, %+v", got.Judged, len(got.Days), got.Backtest)
	}
	for _, d := range got.Days {
		want, from, until := "too_high", int64(4000), int64(5000)
		if d.ExpectedPct > 50 {
			want, from, until = "too_low", 5000, 6000
		}
		if d.Verdict != want || d.From.Amount < from || d.Until.Amount > until || d.From.Amount > d.Until.Amount ||
			d.UsualRate.Amount != 5000 || *d.VehicleClassID != class || d.BookedRate != nil && d.BookedRate.Amount != 5000 ||
			!strings.Contains(d.Says, "Compact on "+d.Date) {
			w.t.Errorf("%+v", d)
		}
	}
	w.do("GET", "/v1/advice/prices?low_pct=90", "").problem(400, "invalid_request")
}

// paceOfThat holds the pace against what the tables have.
func (w *world) paceOfThat() {
	w.t.Helper()
	for _, by := range []string{"week", "month"} {
		got := outlookOf[outlook.Pace](w.t, w.do("GET", "/v1/forecasts/pace?periods=3&group_by="+by, ""))
		if len(got.Periods) != 3 || got.On != "2025-10-15" || got.BacktestDays.Periods != 3 ||
			*got.BacktestDays.MAE > 4_000 || *got.BacktestRev.On != got.LastYearOn {
			w.t.Fatalf("%+v", got)
		}
		for _, p := range got.Periods {
			count := func(from, until, on string) (n uint64) {
				if err := w.db.QueryRow(w.t.Context(), `SELECT count() FROM bookings FINAL WHERE account = ?
					AND toDate(pickup_at, 'America/Chicago') BETWEEN ? AND ? AND toDate(confirmed_at, 'America/Chicago') <= ?`,
					uint64(w.account), from, until, on).Scan(&n); err != nil {
					w.t.Fatal(err)
				}
				return n
			}
			now, before := count(p.From, p.Until, got.On), count(p.LastFrom, p.LastUntil, got.LastYearOn)
			final := count(p.LastFrom, p.LastUntil, got.On)
			if now == 0 || uint64(p.Now.BilledDays) != now || p.Now.Revenue.Amount != int64(now)*5700 ||
				uint64(p.LastYear.BilledDays) != before || uint64(p.LastFinal.BilledDays) != final ||
				p.Expected.BilledDays != int64(now+final-before) ||
				*p.DaysPaceBP != (int64(now)-int64(before))*10_000/int64(before) {
				w.t.Errorf("%d, a year ago %d of %d: %+v %+v %+v", now, before, final, p.Now, p.LastYear, p.LastFinal)
			}
		}
	}
}

// nothingOfThatIsSeenByOthers asks as another account, which has no history, and without the scope.
func (w *world) nothingOfThatIsSeenByOthers() {
	w.t.Helper()
	other := w.newKey(w.newAccount("Second"), auth.ReportsRead)
	ask := func(path string) *reply { return w.do("GET", path, "", "Authorization", "Bearer "+other) }
	use := outlookOf[outlook.UtilizationForecast](w.t, ask("/v1/forecasts/utilization?days=2"))
	if use.Refused == "" || use.History.Days != 0 || use.Days[0].Expected != nil || use.Days[0].Rentable != 0 ||
		use.Days[0].OnBooksPct != nil || len(use.Days[0].Classes) != 0 || use.Backtest.From != nil {
		w.t.Errorf("%+v", use)
	}
	prices := outlookOf[outlook.PriceAdvice](w.t, ask("/v1/advice/prices"))
	if prices.Refused == "" || prices.Judged != 0 || len(prices.Days) != 0 || prices.Backtest.Full.Hit != nil {
		w.t.Errorf("%+v", prices)
	}
	pace := outlookOf[outlook.Pace](w.t, ask("/v1/forecasts/pace"))
	if len(pace.Periods) != 6 || pace.Periods[0].Now.BilledDays != 0 || pace.Periods[0].DaysPaceBP != nil ||
		pace.Periods[0].Expected != nil || pace.BacktestDays.MAE != nil {
		w.t.Errorf("%+v", pace)
	}
	cars := outlookOf[outlook.VehicleAdvice](w.t, ask("/v1/advice/vehicles"))
	if cars.Judged != 0 || len(cars.Vehicles) != 0 || cars.Backtest.Hit != nil {
		w.t.Errorf("%+v", cars)
	}
	key := "Bearer " + w.newKey(w.account, auth.BookingsRead)
	for _, path := range []string{"/v1/forecasts/utilization", "/v1/forecasts/pace", "/v1/advice/prices",
		"/v1/advice/vehicles"} {
		w.do("GET", path, "", "Authorization", key).problem(403, "insufficient_scope")
	}
}

func TestOutlookOfWhatIsKnown(t *testing.T) {
	w, class, cars := outlookWorld(t, 3)
	t.Run("pace", func(t *testing.T) { paceKnowsWhatWasOnTheBooks(t, w, class) })
	t.Run("vehicles", func(t *testing.T) { vehiclesThatLoseMoneySayWhy(t, w, cars) })
	t.Run("too little", func(t *testing.T) { aForecastOfTooLittleSaysSo(t, w, class, cars) })
}

func aForecastOfTooLittleSaysSo(t *testing.T, w *world, class string, cars []string) {
	w.rentedOn(class, cars, outlookDay.AddDate(0, 0, -45), 50)
	got := outlookOf[outlook.UtilizationForecast](t, w.do("GET", "/v1/forecasts/utilization?days=3", ""))
	if got.Refused == "" || got.History.Days >= got.History.Needed || got.Days[0].Expected != nil ||
		got.Days[0].Rentable != 2*86400 || got.Backtest.From != nil || got.Backtest.Account[0].MAE != nil {
		t.Errorf("%+v", got)
	}
}

// Bookings that were cancelled count until the day on which they were, and holds never.
func paceKnowsWhatWasOnTheBooks(t *testing.T, w *world, class string) {
	book := func(status, confirmed, since, currency string) {
		if err := w.db.Exec(t.Context(), "INSERT INTO bookings (account, id, revision, created_at, updated_at, body) VALUES (?, ?, 1, ?, ?, ?)",
			uint64(w.account), w.api.Store.NextID(), outlookDay, outlookDay, fmt.Sprintf(
				`{"status":%q,"status_since":%q,"confirmed_at":%q,"pickup_at":"2024-10-30T15:00:00Z","return_at":"2024-11-02T15:00:00Z",`+
					`"vehicle_class_id":%q,"billed_days":3,"currency":%q,"charges":[{"type":"time","amount":{"amount":10000}},`+
					`{"type":"toll","amount":{"amount":900}},{"type":"time","reversal_of":"chg_1","amount":{"amount":-10000}}]}`,
				status, since, confirmed, class, currency)); err != nil {
			t.Fatal(err)
		}
	}
	book("completed", "2024-10-01T12:00:00Z", "2024-11-02T15:00:00Z", "USD")
	book("cancelled", "2024-10-01T12:00:00Z", "2024-10-20T15:00:00Z", "USD") // after the day that is compared with
	book("cancelled", "2024-10-01T12:00:00Z", "2024-10-14T15:00:00Z", "USD") // before it
	book("completed", "2024-10-25T12:00:00Z", "2024-11-02T15:00:00Z", "USD") // not booked yet
	book("expired", "", "2024-10-02T12:00:00Z", "USD")                       // a hold
	book("completed", "2024-10-01T12:00:00Z", "2024-11-02T15:00:00Z", "EUR") // of another currency: days, and no money
	w.sumMonths()
	got := outlookOf[outlook.Pace](t, w.do("GET", "/v1/forecasts/pace?periods=2", ""))
	// Two of the three days are in October, for 3333 and 3333, and the third of November has what is left.
	for i, want := range []struct{ before, beforeMoney, final, finalMoney int64 }{
		{6, 13332, 6, 13332}, {3, 6668, 3, 6668}} {
		p := got.Periods[i]
		final := p.LastFinal
		if i == 1 { // November of last year is over as well
			wantEqual(t, "until", p.LastUntil, "2024-11-30")
		}
		if p.LastYear.BilledDays != want.before || p.LastYear.Revenue.Amount != want.beforeMoney ||
			final.BilledDays != want.final || final.Revenue.Amount != want.finalMoney || p.Now.BilledDays != 0 ||
			*p.DaysPaceBP != -10_000 {
			t.Errorf("%d: %+v %+v", i, p.LastYear, final)
		}
	}
}

func vehiclesThatLoseMoneySayWhy(t *testing.T, w *world, cars []string) {
	day := func(car, date, columns, values string) {
		id, err := fleet.ParseID(fleet.VehiclePrefix, car)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.db.Exec(t.Context(), fmt.Sprintf(`INSERT INTO vehicle_days (account, local_date, vehicle, currency,
			computed_at, day_s, fleet_s, %s) VALUES (%d, '%s', %d, 'USD', now64(3), 86400, 86400, %s)`, columns,
			uint64(w.account), date, id, values)); err != nil {
			t.Fatal(err)
		}
	}
	// The first lost money in the year and in the quarter, the second in the quarter alone, the third in neither.
	day(cars[0], "2025-01-10", "billed_days, revenue_time, platform_fees, cost_energy, cost_depreciation",
		"2, 10000, 1000, 1000, 30000")
	day(cars[0], "2025-09-10", "billed_days, revenue_time, discounts, cost_maintenance, toll_recharge",
		"1, 2000, -500, 4000, 100")
	day(cars[1], "2025-01-10", "billed_days, revenue_time", "9, 90000")
	day(cars[1], "2025-10-14", "cost_insurance, cost_finance", "700, 300")
	day(cars[1], "2025-10-15", "cost_insurance", "100000") // today is not over
	day(cars[2], "2025-10-01", "billed_days, revenue_time", "1, 5000")
	day(cars[0], "2024-05-05", "cost_insurance", "5")
	day(cars[2], "2024-05-05", "cost_insurance", "5")
	w.sumMonths()
	got := outlookOf[outlook.VehicleAdvice](t, w.do("GET", "/v1/advice/vehicles", ""))
	if got.Judged != 3 || len(got.Vehicles) != 2 || got.Vehicles[0].VehicleID != cars[0] ||
		got.Vehicles[1].VehicleID != cars[1] {
		t.Fatalf("%+v", got)
	}
	v := got.Vehicles[0]
	sums := []int64{v.Year.Revenue.Amount, v.Year.PlatformFees.Amount, v.Year.VariableCost.Amount,
		v.Year.Contribution.Amount, v.Year.FixedCost.Amount, v.Year.NetProfit.Amount, v.Quarter.NetProfit.Amount,
		v.Year.BilledDays, *v.Year.BreakEven}
	// 5600 came of 3 days; 30000 are 16.07 such days.
	wantEqual(t, "sums", sums, []int64{11500, 1000, 4900, 5600, 30000, -24400, -2400, 3, 17})
	if v.LicensePlate != "CAR-0" || v.Quarter.BreakEven == nil || *v.Quarter.BreakEven != 0 ||
		!strings.Contains(v.Says, "CAR-0 lost USD 244.00 in the last 12 months: 3 days were billed, and 17 such days") {
		t.Errorf("%+v", v)
	}
	if v := got.Vehicles[1]; v.Year.NetProfit.Amount != 89000 || v.Quarter.NetProfit.Amount != -1000 ||
		v.Quarter.BreakEven != nil || v.Quarter.From != "2025-07-15" || v.Quarter.Until != "2025-10-14" {
		t.Errorf("%+v", v)
	}
	if b := got.Backtest; b.Lost != 2 || b.Again != 1 || *b.Hit != 5000 || *b.Chance != 5000 ||
		*b.From != "2023-10-15" || *b.Until != "2024-10-14" {
		t.Errorf("%+v", b)
	}
	// Whoever sold the first need not be told to, and what became of it is known all the same.
	w.do("PATCH", "/v1/vehicles/"+cars[0], `{"disposal_on":"2025-10-10"}`).ok(200)
	sold := outlookOf[outlook.VehicleAdvice](t, w.do("GET", "/v1/advice/vehicles", ""))
	if sold.Judged != 2 || len(sold.Vehicles) != 1 || sold.Vehicles[0].VehicleID != cars[1] ||
		sold.Backtest.Lost != 2 || sold.Backtest.Again != 1 {
		t.Errorf("%+v", sold)
	}
}
