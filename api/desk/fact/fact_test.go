package fact_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/desk/fact"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/schemas"
)

// Every account of revenue and cost is in a column of the facts, whatever it is; nothing else is.
func TestEveryAccountOfRevenueAndCostIsAddedToAColumnOfTheFacts(t *testing.T) {
	w := open(t, "UTC")
	want := map[string]facts{}
	for i, line := range ledger.Chart {
		if counts := line.Type == ledger.Revenue || line.Type == ledger.Cost; counts != (line.Measure != "") {
			t.Errorf("%s is of type %s and has the measure %q", line.Account, line.Type, line.Measure)
		}
		amount := int64(1) << i
		if err := w.db.Exec(t.Context(), fmt.Sprintf(`INSERT INTO ledger_entries (account, local_date, ledger_account,
			transaction, entry_no, amount, currency, entered_at) VALUES (7, '2026-02-03', '%s', 1, %d, %d, 'USD', now64(3))`,
			line.Account, i, amount)); err != nil {
			t.Fatal(err)
		}
		if line.Measure == "" {
			continue
		}
		if !slices.Contains(measures, line.Measure) {
			t.Errorf("%s has the measure %s, which is no column", line.Account, line.Measure)
		}
		if line.Type == ledger.Revenue {
			amount = -amount
		}
		if want["2026-02-03 0 USD"] == nil {
			want["2026-02-03 0 USD"] = facts{}
		}
		want["2026-02-03 0 USD"].add(line.Measure, amount)
	}
	w.look()
	same(t, "days", w.stored("vehicle_days", "local_date"), want)
	var profit, entries int64
	if err := w.db.QueryRow(t.Context(),
		`SELECT sum(revenue - platform_fees - variable_cost - fixed_cost) FROM vehicle_days
		FINAL`).Scan(&profit); err != nil {
		t.Fatal(err)
	}
	if err := w.db.QueryRow(t.Context(),
		`SELECT -sum(amount) FROM ledger_entries FINAL WHERE ledger_account LIKE 'revenue%'
		OR ledger_account LIKE 'contra%' OR ledger_account LIKE 'cost%' OR ledger_account LIKE 'owner_borne%' OR ledger_account IN ('fx', 'gain_on_disposal')`).Scan(&entries); err != nil {
		t.Fatal(err)
	}
	if profit != entries {
		t.Errorf("a profit of %d, by the entries %d", profit, entries)
	}
}

// On the days on which clocks are changed a vehicle that is out all the time is out for as long as the day is.
func TestADayIsAsLongAsItIsInTheZoneOfItsVehicle(t *testing.T) {
	w := open(t, "America/New_York")
	w.now = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	days := []struct {
		zone, day string
		seconds   int64
	}{
		{"", "2026-03-08", 23 * 3600}, {"", "2026-11-01", 25 * 3600}, {"", "2026-06-01", 24 * 3600},
		{"Europe/Berlin", "2026-03-29", 23 * 3600}, {"Europe/Berlin", "2026-10-25", 25 * 3600},
		{"Australia/Lord_Howe", "2026-04-05", 24*3600 + 1800}, {"Australia/Lord_Howe", "2026-10-04", 24*3600 - 1800},
		{"Africa/Cairo", "2026-04-24", 23 * 3600}, // from 00:00 to 01:00: there is no midnight
		{"Africa/Cairo", "2026-04-23", 24 * 3600}, {"America/Havana", "2026-11-01", 25 * 3600},
	}
	of := map[string]uint64{}
	for _, d := range days {
		if of[d.zone] == 0 {
			of[d.zone] = w.vehicle(d.zone, "2026-01-01")
			create(w, w.base.Bookings, record.Booking{BookingFields: record.BookingFields{VehicleID: v1(of[d.zone]),
				PickupAt: record.InstantOf(time.Date(2026, 2, 1, 5, 0, 0, 0, time.UTC)),
				ReturnAt: record.InstantOf(w.now.AddDate(0, 0, 3))}, Status: record.BookingActive})
		}
	}
	w.look()
	stored := w.stored("vehicle_days", "local_date")
	for _, d := range days {
		f := stored[fmt.Sprintf("%s %d USD", d.day, of[d.zone])]
		if f["day_s"] != d.seconds || f["fleet_s"] != d.seconds || f["rented_s"] != d.seconds || f["billed_days"] != 1 {
			t.Errorf("%s in %q: %v, want %d s", d.day, d.zone, f, d.seconds)
		}
	}
}

// What happens in the 25th hour of a day is of that day, also when no other day is made with it.
func TestADayThatIsMadeByItselfHasItsLastHour(t *testing.T) {
	w := open(t, "America/New_York")
	w.now = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	a := w.vehicle("", "2026-01-01")
	at := func(minute int) time.Time { // after 11 in the evening
		return time.Date(2026, 11, 2, 4, minute, 0, 0, time.UTC)
	}
	create(w, w.base.Blocks, record.Block{VehicleID: v1(a), BlockFields: record.BlockFields{
		From: record.InstantOf(at(30)), Until: record.InstantOf(at(50)), Kind: "repair", Reason: "so"}})
	w.charge(charge{a, at(20), 7})
	if err := w.db.Exec(t.Context(), fmt.Sprintf(`INSERT INTO trips (account, vehicle, id, revision, start_at, end_at,
		updated_at, distance_m) VALUES (7, %d, 1, 1, '%s', '%s', now64(3), 4000)`,
		a, sqlTime(at(15)), sqlTime(at(45)))); err != nil {
		t.Fatal(err)
	}
	day, err := ledger.ParseDay("2026-11-01")
	if err == nil {
		err = w.facts.Make(t.Context(), account, day, day, func(fact.Made) error { return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	f := w.stored("vehicle_days", "local_date")[fmt.Sprintf("2026-11-01 %d USD", a)]
	if f["driven_m"] != 4_000_000 || f["energy_kwh"] != 7000 || f["down_s"] != 1200 {
		t.Errorf("the day has %v", f)
	}
}

// What two records say counts once, and what is out is not down.
func TestAMomentIsOfOneKindOnly(t *testing.T) {
	w := open(t, "UTC")
	a := w.vehicle("", "2026-02-01")
	w.now = began.AddDate(0, 0, 10)
	at := func(day, hour int) record.Instant {
		return record.InstantOf(time.Date(2026, 3, day, hour, 0, 0, 0, time.UTC))
	}
	block := func(kind string, from, until record.Instant) {
		w.blocks = append(w.blocks, create(w, w.base.Blocks, record.Block{VehicleID: v1(a),
			BlockFields: record.BlockFields{From: from, Until: until, Kind: kind, Reason: "so"}}))
	}
	rent := func(from, until record.Instant) {
		w.bookings = append(w.bookings, create(w, w.base.Bookings, record.Booking{BookingFields: record.BookingFields{
			VehicleID: v1(a), PickupAt: from, ReturnAt: until}, Status: record.BookingCompleted, ActualPickupAt: from,
			ActualReturnAt: until}))
	}
	block("maintenance", at(2, 0), at(2, 10))
	block("repair", at(2, 6), at(2, 12))
	w.move(a, record.VehicleMaintenance, at(2, 8).Time)
	w.move(a, record.VehicleAvailable, at(2, 14).Time)
	rent(at(2, 4), at(2, 7))
	rent(at(2, 6), at(2, 9))
	for _, kind := range []string{"manual", "owner_use", "missing", "hold", "relocation", "transport", "other"} {
		block(kind, at(3, 0), at(3, 12))
	}
	w.look()
	stored := w.stored("vehicle_days", "local_date")
	for day, want := range map[string][3]int64{"2026-03-02": {5, 9, 10}, "2026-03-03": {0, 0, 24}} {
		f := stored[fmt.Sprintf("%s %d USD", day, a)]
		if got := [3]int64{f["rented_s"] / 3600, f["down_s"] / 3600, f["idle_s"] / 3600}; got != want {
			t.Errorf("%s: %v hours rented, down and idle, want %v", day, got, want)
		}
	}
	same(t, "days", stored, w.expected())
}

// A booking that is taken back leaves days with nothing, and makes them again on the vehicle that it went to.
func TestADayThatBecomesEmptyStandsWithZeros(t *testing.T) {
	w := open(t, "America/New_York")
	a, b := w.vehicle("", "2026-02-01"), w.vehicle("Europe/Berlin", "2026-02-01")
	id := create(w, w.base.Bookings, record.Booking{BookingFields: record.BookingFields{VehicleID: v1(a),
		PickupAt: record.InstantOf(began), ReturnAt: record.InstantOf(began.AddDate(0, 0, 4))}, Status: record.BookingActive,
		Currency: "EUR", Charges: []record.Charge{{ID: "chg_1", Type: "time", PostedAt: record.InstantOf(began),
			Amount: record.Money{Amount: 10001, Currency: "EUR"}}}})
	w.bookings = append(w.bookings, id)
	w.drive(trip{vehicle: a, id: 1, revision: 1, start: began.Add(18 * time.Hour), end: began.Add(20 * time.Hour),
		metres: 1234.567, fuel: 3.21})
	w.now = began.AddDate(0, 0, 2)
	w.look()
	before := w.stored("vehicle_days", "local_date")
	same(t, "while it is out", before, w.expected())
	if n := before[fmt.Sprintf("2026-02-28 %d EUR", a)]["revenue_time"]; n == 0 {
		t.Error("nothing is earned on the second day")
	}
	update(w, w.base.Bookings, id, func(r *record.Booking) { r.VehicleID = v1(b) })
	w.look()
	same(t, "on the other vehicle", w.stored("vehicle_days", "local_date"), w.expected())
	update(w, w.base.Bookings, id, func(r *record.Booking) {
		r.Status, r.StatusSince = record.BookingCancelled, record.InstantOf(w.now.Add(time.Second))
		back := r.Charges[0]
		back.ID, back.ReversalOf, back.Amount.Amount = "chg_2", "chg_1", -10001
		r.Charges = append(r.Charges, back)
	})
	w.look()
	after := w.stored("vehicle_days", "local_date")
	same(t, "taken back", after, w.expected())
	for key, f := range after {
		if strings.HasSuffix(key, "EUR") || f["rented_s"]+f["billed_days"]+f["rented_m"] != 0 {
			t.Errorf("%s: %v", key, f)
		}
	}
	again(w)
}

// What was driven on days whose trips are gone stays as it was.
func TestWhatWasDrivenOutlivesItsTrips(t *testing.T) {
	w := open(t, "UTC")
	update(w, w.base.Accounts, uint64(account), func(a *record.Account) { a.RetentionDays = 30 })
	a := w.vehicle("", "2026-02-01")
	w.drive(trip{vehicle: a, id: 1, revision: 1, start: began.Add(-5 * time.Hour), end: began, metres: 5000, fuel: 1})
	w.look()
	key := fmt.Sprintf("2026-02-27 %d USD", a)
	if n := w.stored("vehicle_days", "local_date")[key]["driven_m"]; n != 5_000_000 {
		t.Fatalf("%d mm were driven", n)
	}
	w.now = w.now.AddDate(0, 0, 40)
	if err := w.db.Exec(t.Context(), "TRUNCATE TABLE trips"); err != nil {
		t.Fatal(err)
	}
	from, to, err := w.facts.Extent(t.Context(), account)
	if err == nil {
		err = w.facts.Make(t.Context(), account, from, to, func(fact.Made) error { return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	if f := w.stored("vehicle_days", "local_date")[key]; f["driven_m"] != 5_000_000 || f["fuel_l"] != 1000 {
		t.Errorf("%v", f)
	}
}

// driving are the sums of driving_days by day, in Berlin.
func (w *world) driving(table, day string) string {
	w.t.Helper()
	var all string
	if err := w.db.QueryRow(w.t.Context(), `SELECT arrayStringConcat(groupArray(line), ', ') FROM (
		SELECT concat(toString(`+day+`), ': ', toString(trips), ' ', toString(ways), ' ', toString(distance_m), ' ',
			toString(duration_s), ' ', toString(stop_idle_s), ' ', toString(max_speed_mps), ' ', toString(speeding_s)) AS line
		FROM `+table+` FINAL WHERE account = 7 AND trips + ways + stop_idle_s + speeding > 0 ORDER BY `+day+`, vehicle)`).
		Scan(&all); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// What began on a day is of it: trips, stops and driving events, in the zone of the vehicle, also when they change
// later, and when what they were made of is gone since the account does not keep it any more.
func TestDrivingIsOfTheDayOnWhichItBegan(t *testing.T) {
	w := open(t, "UTC")
	a := w.vehicle("Europe/Berlin", "2026-02-01")
	put := func(text string) {
		t.Helper()
		if err := w.db.Exec(t.Context(), fmt.Sprintf(text, a)); err != nil {
			t.Fatal(err)
		}
	}
	const trip = `INSERT INTO trips (account, vehicle, id, revision, start_at, end_at, updated_at, distance_m, max_speed_mps,
		unrecorded, deleted) VALUES (7, %d, `
	put(trip + `1, 1, '2026-02-20 22:30:00', '2026-02-20 23:30:00', now64(3), 4000, 20, false, false)`)
	put(trip + `2, 1, '2026-02-20 23:30:00', '2026-02-20 23:40:00', now64(3), 700.4, 30, false, false)`)
	put(trip + `3, 1, '2026-02-20 23:50:00', '2026-02-21 00:10:00', now64(3), 50, 99, true, false)`)
	w.look()
	days := func(want string) {
		t.Helper()
		w.look()
		if got := w.driving("driving_days", "local_date"); got != want {
			t.Errorf("days\n%s, want\n%s", got, want)
		}
	}
	days("2026-02-20: 1 0 4000 3600 0 20 0, 2026-02-21: 1 1 750 600 0 30 0")
	put(`INSERT INTO stops (account, vehicle, id, revision, start_at, end_at, updated_at, idle_s)
		VALUES (7, %d, 4, 1, '2026-02-21 00:10:00', '2026-02-21 05:00:00', now64(3), 99.6)`)
	put(`INSERT INTO driving_events (account, vehicle, id, revision, start_at, end_at, updated_at, what)
		VALUES (7, %d, 5, 1, '2026-02-20 22:40:00', '2026-02-20 22:40:30', now64(3), 'speeding')`)
	days("2026-02-20: 1 0 4000 3600 0 20 30, 2026-02-21: 1 1 750 600 100 30 0")
	put(trip + `2, 2, '2026-02-20 23:30:00', '2026-02-20 23:40:00', now64(3), 700.4, 30, false, true)`)
	days("2026-02-20: 1 0 4000 3600 0 20 30, 2026-02-21: 0 1 50 0 100 0 0")
	if got := w.driving("driving_months", "month"); got != "2026-02-01: 1 1 4050 3600 100 20 30" {
		t.Errorf("the month: %s", got)
	}
	var before, after uint64
	count := func(into *uint64) {
		t.Helper()
		if err := w.db.QueryRow(t.Context(), "SELECT count() FROM driving_days").Scan(into); err != nil {
			t.Fatal(err)
		}
	}
	again := func() {
		t.Helper()
		from, to, err := w.facts.Extent(t.Context(), account)
		if err == nil {
			err = w.facts.Make(t.Context(), account, from, to, func(fact.Made) error { return nil })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	count(&before)
	again()
	if count(&after); before != after {
		t.Errorf("made again there are %d rows, not %d", after, before)
	}
	update(w, w.base.Accounts, uint64(account), func(a *record.Account) { a.RetentionDays = 30 })
	w.now = w.now.AddDate(0, 0, 60)
	put("ALTER TABLE trips DELETE WHERE vehicle = %d SETTINGS mutations_sync = 1")
	again()
	if got := w.driving("driving_months", "month"); got != "2026-02-01: 1 1 4050 3600 100 20 30" {
		t.Errorf("the month without its trips: %s", got)
	}
}

// Another account has the same vehicles and days, and nothing of it is seen.
func TestFactsAreOfOneAccount(t *testing.T) {
	w := open(t, "UTC")
	a := w.vehicle("", "2026-02-20")
	w.look()
	want := w.stored("vehicle_days", "local_date")
	for _, text := range []string{
		`INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, amount, currency, vehicle,
			entered_at) VALUES (8, '2026-02-26', 'cost.fuel', 1, 1, 500, 'USD', %d, now64(3))`,
		`INSERT INTO trips (account, vehicle, id, revision, start_at, end_at, updated_at, distance_m)
			VALUES (8, %d, 1, 1, '2026-02-26 10:00:00', '2026-02-26 11:00:00', now64(3), 1000)`,
	} {
		if err := w.db.Exec(t.Context(), fmt.Sprintf(text, a)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := w.base.Accounts.Create(t.Context(), by, 8, 8, record.Account{Name: "Other"}); err != nil {
		t.Fatal(err)
	}
	w.look()
	var others uint64
	if err := w.db.QueryRow(t.Context(), `SELECT count() FROM vehicle_days FINAL WHERE account = 8 AND cost_energy = 500
		AND driven_m = 0`).Scan(&others); err != nil || others != 1 {
		t.Errorf("%d days of the other account, %v", others, err)
	}
	if err := w.db.Exec(t.Context(),
		"ALTER TABLE vehicle_days DELETE WHERE account = 8 SETTINGS mutations_sync = 1"); err != nil {
		t.Fatal(err)
	}
	same(t, "after the other wrote", w.stored("vehicle_days", "local_date"), want)
}

// A way that nobody saw may take weeks, and what a vehicle has driven may be older than its record and its service. One
// of more than 62 days counts on its first 62.
func TestWhatWasDrivenForWeeksOrBeforeAVehicleCameCountsOnItsDays(t *testing.T) {
	w := open(t, "Europe/Berlin")
	id := w.vehicle("", "2026-01-05")
	day := func(month time.Month, day int) time.Time {
		return time.Date(2026, month, day, 0, 0, 0, 0, load(t, w.zone))
	}
	w.drive(trip{vehicle: id, id: 1, revision: 1, start: day(1, 20), end: day(2, 9), metres: 20_000})
	w.drive(trip{vehicle: id, id: 2, revision: 1, start: day(-1, 20), end: day(-1, 21), metres: 300})
	w.drive(trip{vehicle: id, id: 3, revision: 1, start: day(-5, 1), end: day(-3, 30), metres: 620})
	w.charge(charge{vehicle: id, start: day(-2, 20), kwh: 40})
	w.look()
	got := w.stored("vehicle_days", "local_date")
	for on, want := range map[time.Time]int64{day(1, 19): 0, day(1, 20): 1_000_000, day(1, 31): 1_000_000,
		day(2, 1): 1_000_000, day(2, 8): 1_000_000, day(2, 9): 0, day(-1, 20): 300_000,
		day(-5, 1): 10_000, day(-4, 31): 10_000, day(-3, 1): 0} {
		if driven := got[fmt.Sprintf("%s %d USD", on.Format(dateForm), id)]["driven_m"]; driven != want {
			t.Errorf("on %s %d mm were driven, and ought to be %d", on.Format(dateForm), driven, want)
		}
	}
	if wh := got[fmt.Sprintf("%s %d USD", day(-2, 20).Format(dateForm), id)]["energy_kwh"]; wh != 40_000 {
		t.Errorf("%d Wh were charged before the vehicle came, and ought to be 40000", wh)
	}
}

// What is filled in from what stands elsewhere bears an old time, which no look finds; whoever fills makes all again.
func TestTripsThatAreFilledInCount(t *testing.T) {
	w := open(t, "UTC")
	id := w.vehicle("", "2026-02-20")
	w.look()
	for _, text := range []string{
		"DETACH TABLE trips_feed", // a server that is cut off before the view's part
		fmt.Sprintf(`INSERT INTO derivations (account, vehicle, kind, id, revision, start_at, end_at, written_at, body)
			VALUES (7, %d, 'trip', 1, 1, '2026-02-26 10:00:00', '2026-02-26 11:00:00', '2026-02-26 11:00:00',
			'{"distance_m":5000}')`, id),
		"ATTACH TABLE trips_feed",
	} {
		if err := w.db.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	w.look()
	if err := schemas.FillViews(t.Context(), w.db); err != nil {
		t.Fatal(err)
	}
	if err := w.facts.MakeAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	key := fmt.Sprintf("2026-02-26 %d USD", id)
	if n := w.stored("vehicle_days", "local_date")[key]["driven_m"]; n != 5_000_000 {
		t.Errorf("%d mm were driven", n)
	}
}
