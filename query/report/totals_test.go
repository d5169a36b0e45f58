package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas/schematest"
)

// Totals that are worked out of rows are those that are answered when nothing but they is asked for, by every group:
// also where what came to nothing is no row, and where a deposit that was kept is of no channel. These are the reports
// that are made of the ledger alone; TestReportsAddUpAndLinkToTheirEntries asks all.
func TestTotalsOfRowsAreThoseOfEverything(t *testing.T) {
	db := schematest.Open(t)
	for _, text := range []string{
		`INSERT INTO vehicles (account, id, revision, created_at, updated_at, body)
			SELECT 3, 1 + number, 1, '2025-01-01', '2025-01-01', '{"status":"available","tags":["ev"]}' FROM numbers(4)`,
		`INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, amount, currency, kind, vehicle,
				booking, customer, channel, source)
			SELECT 3, toDate32('2026-01-01') + number % 90, ['accounts_receivable', 'platform_receivable', 'cash', 'deposits_held',
					'tax_payable', 'revenue.time', 'cost.fuel', 'cost.platform_fee'][1 + number % 8], number, 1,
				toInt64(cityHash64(number) % 4001) - 2000, 'USD', ['booking', 'payment', 'expense'][1 + number % 3], number % 5,
				number % 7, 1 + number % 6, ['direct', 'turo', ''][1 + number % 11 % 3], number % 9
			FROM numbers(2000)`,
		`INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, amount, currency, kind, booking,
				customer, channel, source) VALUES
			(3, '2026-02-10', 'accounts_receivable', 5001, 1, 30000, 'USD', 'booking', 90, 8, 'turo', 90),
			(3, '2026-02-10', 'accounts_receivable', 5002, 1, -30000, 'USD', 'booking', 90, 8, '', 90),
			(3, '2026-02-07', 'tax_payable', 5003, 1, 500, 'USD', 'expense', 0, 0, '', 95),
			(3, '2026-02-07', 'tax_payable', 5004, 1, -500, 'USD', 'expense', 0, 0, '', 96)`,
	} {
		if err := db.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	day := time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC)
	asked := 0
	for _, name := range []string{"balance_sheet", "deposits_held", "profit_and_loss", "receivables_ageing", "take_rate",
		"tax_summary"} {
		d := Named(name)
		for _, basis := range d.Bases {
			q := Question{Account: 3, Span: Span{day, day.AddDate(0, 0, 49)}, Group: "total", Basis: basis, Currency: "USD",
				Zone: "UTC", Today: day, Accounts: []string{"revenue.time", "cost.fuel", "cost.platform_fee"},
				Measures: []string{"revenue_time", "cost_energy", "platform_fees"}}
			var want *Answer
			for _, group := range d.Groups {
				if group == "total" || !d.addsUp(group) {
					continue
				}
				if want == nil {
					var err error
					if want, err = d.Answer(t.Context(), db, q); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
				}
				of := q
				of.Group = group
				a, err := d.Answer(t.Context(), db, of)
				if err != nil {
					t.Fatalf("%s by %s: %v", name, group, err)
				}
				asked++
				for i, v := range a.Totals.Values {
					if v.Known() && v != want.Totals.Values[i] {
						t.Errorf("%s by %s, %s: %s in all is %v, and %v if nothing else is asked for", name, group, basis,
							d.Figures[i].Name, v, want.Totals.Values[i])
					}
				}
			}
		}
	}
	if asked < 20 {
		t.Errorf("only %d questions", asked)
	}
}

// A question beside another is let in as long as three quarters of the connections are left.
func TestFewTotalsAreAskedBesideTheirRows(t *testing.T) {
	pool := driver.Stats{MaxOpenConns: 16}
	var leave []func()
	for range 4 {
		done, ok := beside(pool)
		if !ok {
			t.Fatal("one of four has to wait")
		}
		leave = append(leave, done)
	}
	if _, ok := beside(pool); ok {
		t.Error("a fifth is let in")
	}
	leave[0]()
	done, ok := beside(pool)
	if !ok {
		t.Error("nobody is let in after one has left")
	}
	for _, done := range append(leave[1:], done) {
		done()
	}
	if _, ok := beside(driver.Stats{MaxOpenConns: 3}); ok {
		t.Error("of three connections one is taken for a second question")
	}
}

// A panic of one of two questions is its error.
func TestAPanicOfAQuestionIsAnError(t *testing.T) {
	falls := func(context.Context) error { panic("no such column") }
	answers := func(context.Context) error { return nil }
	for _, both := range [][2]func(context.Context) error{{falls, answers}, {answers, falls}} {
		if err := together(t.Context(), both[0], both[1]); err == nil || !strings.Contains(err.Error(), "no such column") {
			t.Errorf("%v", err)
		}
	}
}

// rent lets account 3 have vehicles with tags, rentals of all sorts, and what their days and trackers say.
func rent(t *testing.T, db driver.Conn) {
	t.Helper()
	for _, text := range []string{
		`INSERT INTO vehicles (account, id, revision, created_at, updated_at, body)
			SELECT 3, 1 + number, 1, '2025-01-01', '2025-01-01', concat('{"make":"Kia","fuel_type":"electric","timezone":"Asia/Tokyo","tags":',
				['[]', '["ev"]', '["ev","van","old"]'][1 + number % 3], '}') FROM numbers(5)`,
		`INSERT INTO bookings (account, id, revision, created_at, updated_at, body)
			WITH toDateTime64('2026-01-02 22:30:00', 3, 'UTC') + toIntervalHour(number * 7) AS pickup,
				t -> formatDateTime(t, '%FT%T.000Z') AS iso
			SELECT 3, number + 1, 1, pickup - toIntervalHour(number % 50), pickup, concat('{"status":"',
				['completed', 'completed', 'completed', 'active', 'no_show', 'cancelled', 'expired'][1 + number % 7],
				'","timezone":"', ['', 'Asia/Tokyo', 'America/New_York'][1 + number % 3], '","channel":"', ['', 'turo'][1 + number % 2],
				'","currency":"USD","customer_id":"cus_', toString(1 + number % 11), '","vehicle_class_id":"vcl_', toString(number % 3),
				'","vehicle_id":"veh_', toString(number % 6), if(number % 4 > 0, '', concat('","vehicle_history":[{"vehicle_id":"veh_',
					toString((number + 1) % 6), '","from":"', iso(pickup), '","until":"', iso(pickup + 3600), '"}],"x":"')),
				'","billed_days":', toString(1 + number % 9), ',"pickup_at":"', iso(pickup), '","actual_pickup_at":"', iso(pickup),
				if(number % 7 < 3, concat('","actual_return_at":"', iso(pickup + 7200)), ''), '","charges":[{"type":"time","amount":{"amount":',
				toString(number), '}}]}')
			FROM numbers(150)`,
		`INSERT INTO vehicle_statuses (account, vehicle, since, revision, status)
			SELECT 3, number % 6, toDateTime64('2026-01-02 23:00:00', 3, 'UTC') + toIntervalHour(number * 5), 1, 'available' FROM numbers(150)`,
		`INSERT INTO visits (account, vehicle, id, revision, start_at, end_at, geofence)
			SELECT 3, number % 6, number, 1, toDateTime64('2026-01-02 23:00:00.600', 3, 'UTC') + toIntervalHour(number * 5) AS began,
				began + toIntervalHour(number), 1 + number % 3 FROM numbers(100)`,
		`INSERT INTO alerts (account, vehicle, id, revision, start_at, end_at, alert_kind, severity) SELECT account, vehicle, id, 1,
			start_at, end_at, ['speeding', 'idling'][geofence], 'warning' FROM visits WHERE account = 3 AND geofence < 3`,
		`INSERT INTO charges (account, vehicle, id, revision, start_at, end_at, energy_kwh)
			SELECT account, vehicle, id, 1, start_at, end_at, if(id % 3 = 0, NULL, 20) FROM visits WHERE account = 3`,
		`INSERT INTO vehicle_days (account, local_date, vehicle, currency, driven_m, fuel_l, energy_kwh)
			SELECT account, toDate32(start_at), vehicle, 'USD', 1000.7 * id, id % 5, 0.3 * id FROM visits WHERE account = 3`,
		`INSERT INTO vehicle_months (account, month, vehicle, currency, driven_m, fuel_l, energy_kwh, driven_days, fuelled_m)
			SELECT account, toStartOfMonth(local_date), vehicle, currency, sum(driven_m), sum(fuel_l), sum(energy_kwh), count(),
				sumIf(driven_m, fuel_l > 0) FROM vehicle_days WHERE account = 3 GROUP BY ALL`,
	} {
		if err := db.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	schematest.MakeFleetDays(t, db, 3)
	schematest.MakeGeofenceDays(t, db, clickhouse.Parameters{"account": "3", "zone": "America/Chicago"})
	makeBooked(t, db)
}

// makeBooked makes the facts of the bookings of account 3.
func makeBooked(t *testing.T, db driver.Conn) {
	t.Helper()
	schematest.MakeBooked(t, db, clickhouse.Parameters{"account": "3", "zone": "America/Chicago",
		"accounts": "['revenue.time']", "measures": "['revenue_time']"})
}

// Totals that a statement answers with its rows are those that are answered when nothing but they is asked for, by
// every group: also by tag, where a vehicle is in several rows, and where a rental had two vehicles.
func TestTotalsOfTheSameReadsAreThoseOfEverything(t *testing.T) {
	db := schematest.Open(t)
	rent(t, db)
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, name := range []string{"alerts", "bookings", "customers", "energy", "geofence_time", "pickups", "turnaround"} {
		d := Named(name)
		q := Question{Account: 3, Span: Span{day, day.AddDate(0, 0, 49)}, Group: "total", Basis: Accrual, Currency: "USD",
			Zone: "America/Chicago", Today: day, Accounts: []string{"revenue.time"}, Measures: []string{"revenue_time"}}
		want, err := d.Answer(t.Context(), db, q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !d.takes["totals"] && !d.takes["totals_by_tag"] || want.Totals.Values[0].Float() < 10 {
			t.Errorf("%s is %v", name, want.Totals.Values)
		}
		for _, group := range d.Groups {
			of := q
			of.Group = group
			a, err := d.Answer(t.Context(), db, of)
			if err != nil {
				t.Fatalf("%s by %s: %v", name, group, err)
			}
			if !slices.Equal(a.Totals.Values, want.Totals.Values) || len(a.Rows) == 0 {
				t.Errorf("%s by %s: in all %v, and %v if nothing else is asked for", name, group, a.Totals.Values,
					want.Totals.Values)
			}
			keys := map[string]bool{}
			for _, row := range a.Rows {
				if keys[row.Key] {
					t.Errorf("%s by %s: two rows of %q", name, group, row.Key)
				}
				keys[row.Key] = true
			}
		}
	}
}

// The row of everything that a statement answers beside the others is none of those that are counted.
func TestTheRowOfTotalsDoesNotCount(t *testing.T) {
	db := schematest.Open(t)
	if err := db.Exec(t.Context(), `INSERT INTO bookings (account, id, revision, created_at, updated_at, body)
		SELECT 3, number + 1, 1, '2026-01-01', '2026-01-01', concat('{"status":"completed","currency":"USD","customer_id":"cus_',
			toString(1 + number), '","vehicle_id":"veh_1","actual_return_at":"2026-01-01T12:00:00Z"}')
		FROM numbers(3)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(t.Context(), `INSERT INTO vehicles (account, id, revision, created_at, updated_at, body)
		VALUES (3, 1, 1, '2026-01-01', '2026-01-01', '{}')`); err != nil {
		t.Fatal(err)
	}
	makeBooked(t, db)
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for most, refused := range map[int]bool{2: true, 3: false, 4: false} {
		q := Question{Account: 3, Span: Span{day, day}, Group: "customer", Basis: Accrual, Currency: "USD", Zone: "UTC",
			Today: day, MostRows: most}
		a, err := Named("customers").Answer(t.Context(), db, q)
		if errors.Is(err, ErrTooManyRows) != refused || err == nil && (len(a.Rows) != 3 || a.Totals.Values[0] != Whole(3)) {
			t.Errorf("of at most %d rows: %s, %v", most, fmt.Sprint(a), err)
		}
	}
}
