//go:build long

package fact_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/desk/fact"
	"github.com/motorpool/fleet/api/rental/ledger"
)

// year makes a year of 5,000 vehicles: 300,000 bookings of five billed days each, 3.6 million entries, of which 2.1
// million are revenue or cost, 3.65 million trips, 1.2 million states in as many revisions, and 260,000 visits.
var year = []string{
	`INSERT INTO record_log (account, kind, id, revision, write_id, action, at, created_at, actor, request_id, body)
	SELECT 7, 'vehicle', 1 + number % 5000, 1 + intDiv(number, 5000) AS r, number, 'update', since, since, '', '',
		concat('{"make":"A","model":"B","status":"', ['available', 'rented', 'turnaround', 'maintenance'][1 + r % 4],
			'","status_since":"', formatDateTime(since, '%Y-%m-%dT%H:%i:%S'), '.000Z","in_service_on":"2024-06-01","notes":"',
			repeat('something about it ', 50), '"}')
	FROM (SELECT number, toDateTime64('2025-01-01 00:00:00', 3, 'UTC')
		+ toIntervalSecond(intDiv(intDiv(number, 5000) * 365 * 86400, 240)) AS since FROM numbers(1200000))`,
	`INSERT INTO vehicles (account, id, revision, created_at, updated_at, archived_at, body)
	SELECT account, id, revision, created_at, at, archived_at, body FROM record_log WHERE kind = 'vehicle' AND revision = 240`,
	`INSERT INTO bookings (account, id, revision, created_at, updated_at, archived_at, body)
	WITH t -> formatDateTime(t, '%Y-%m-%dT%H:%i:%S.000Z') AS iso
	SELECT 7, bitShiftLeft(toUInt64(toUnixTimestamp(pickup) * 1000 - 1577836800000), 22) + v, 9, pickup, pickup, NULL,
		concat('{"status":"completed","vehicle_id":"veh_', toString(v), '","customer_id":"cus_', toString(number % 70000),
			'","vehicle_class_id":"vcl_', toString(v % 20), '","pickup_location_id":"loc_1","channel":"direct","timezone":"',
			['America/New_York', 'Europe/Berlin', ''][1 + v % 3], '","currency":"USD","pickup_at":"', iso(pickup),
			'","return_at":"', iso(pickup + toIntervalHour(110)), '","actual_pickup_at":"', iso(pickup + 600),
			'","actual_return_at":"', iso(pickup + toIntervalHour(111)), '","status_since":"', iso(pickup),
			'","rate_snapshot":{"days":[', arrayStringConcat(arrayMap(d -> concat('{"date":"', toString(toDate(pickup) + d),
				'","amount":{"amount":5000,"currency":"USD"}}'), range(5)), ','), '],"steps":["',
			repeat('a step in words","', 60), '"]},"charges":[', arrayStringConcat(arrayMap(d -> concat('{"id":"chg_',
				toString(d), '","type":"time","amount":{"amount":5000,"currency":"USD"},"explanation":"',
				repeat('how it came to be ', 10), '"}'), range(6)), ','), ']}')
	FROM (SELECT number, 1 + number % 5000 AS v,
		toDateTime('2025-01-01 00:00:00', 'UTC') + toIntervalHour(intDiv(number, 5000) * 146 + v % 24) AS pickup
		FROM numbers(300000))`,
	`INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, vehicle,
		booking, kind)
	SELECT 7, toDate32(pickup) + intDiv(intDiv(number, 5000) % 10, 2),
		if(intDiv(number, 5000) % 2 = 0, 'revenue.time', 'deferred_revenue'), intDiv(number, 2), number % 2, number,
		if(intDiv(number, 5000) % 2 = 0, -5000, 5000), 'USD', v, bitShiftLeft(toUInt64(toUnixTimestamp(pickup) * 1000 - 1577836800000), 22) + v,
		'booking'
	FROM (SELECT number, 1 + number % 5000 AS v,
		toDateTime('2025-01-01 00:00:00', 'UTC') + toIntervalHour(intDiv(number, 50000) * 146 + v % 24) AS pickup
		FROM numbers(3000000))`,
	`INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount, currency, vehicle,
		kind)
	SELECT 7, toDate32('2025-01-01') + intDiv(number, 5000) * 3, ['cost.fuel', 'cost.insurance', 'cost.repair'][1 + number % 3],
		3000000 + number, 1, 0, 1000, ['USD', 'EUR'][1 + number % 2], 1 + number % 5000, 'expense'
	FROM numbers(600000)`,
	`INSERT INTO trips (account, vehicle, id, revision, start_at, end_at, deleted, updated_at, distance_m, body)
	SELECT 7, 1 + number % 5000, number, 1, at, at + toIntervalMinute(45), false, at, 30000, '{"fuel_used_l":2.5}'
	FROM (SELECT number, toDateTime64('2025-01-01 06:00:00', 3, 'UTC') + toIntervalHour(intDiv(number, 5000) * 12) AS at
		FROM numbers(3650000))`,
	`INSERT INTO visits (account, vehicle, id, revision, start_at, end_at, deleted, updated_at, geofence)
	SELECT 7, 1 + number % 5000, number, 1, at, at + toIntervalHour(number % 90), false, at, 1 + number % 50
	FROM (SELECT number, toDateTime64('2025-01-01 06:00:00', 3, 'UTC') + toIntervalHour(intDiv(number, 5000) * 168) AS at
		FROM numbers(260000))`,
}

// TestTheFactsOfAYearOfFiveThousandVehiclesAreMadeAgainInHalfAMinute prints how long it takes to make them, and to make
// them again when nothing differs.
func TestTheFactsOfAYearOfFiveThousandVehiclesAreMadeAgainInHalfAMinute(t *testing.T) {
	w := open(t, "America/New_York")
	w.now = time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	for _, text := range year {
		begun := time.Now()
		whole := regexp.MustCompile(`numbers\((\d+)\)`).FindStringSubmatch(text)
		n := 0
		if whole != nil {
			n, _ = strconv.Atoi(whole[1])
		}
		for from := 0; from == 0 || from < n; from += 50_000 * (1 + n/1_000_000*10) {
			some := text
			if whole != nil {
				some = strings.ReplaceAll(text, whole[0],
					fmt.Sprintf("numbers(%d, %d)", from, min(n-from, 50_000*(1+n/1_000_000*10))))
			}
			if err := w.db.Exec(t.Context(), some); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%s: %s", text[:30], time.Since(begun))
	}
	day := func(text string) ledger.Day {
		d, err := ledger.ParseDay(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	used := map[string]int64{}
	w.flaky.Conn = &metered{Conn: w.db, used: used}
	for _, what := range []string{"made", "made again"} {
		begun := time.Now()
		err := w.facts.Make(t.Context(), account, day("2025-01-01"), day("2025-12-31"), func(m fact.Made) error {
			t.Logf("%s: %s", m.From, m.Took)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(begun)
		var days, rentals, rented, revenue uint64
		if err := w.db.QueryRow(t.Context(), `SELECT
			(SELECT count() FROM vehicle_days FINAL), (SELECT count() FROM rental_days FINAL),
			(SELECT toUInt64(sum(rented_s)) FROM vehicle_days FINAL), (SELECT toUInt64(sum(revenue)) FROM vehicle_days FINAL)`).
			Scan(&days, &rentals, &rented, &revenue); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s in %s: %d days of vehicles, %d of rentals, %d s rented, revenue %d; ms of inserts %v", what,
			took, days, rentals, rented, revenue, used)
		clear(used)
		if days < 5000*365 || revenue != 5000*1_500_000 || rented == 0 {
			t.Error("that is not the year")
		}
		if took > 30*time.Second {
			t.Errorf("%s in %s", what, took)
		}
	}
}

// metered adds up how long the inserts of each table take, in milliseconds.
type metered struct {
	driver.Conn
	mu   sync.Mutex
	used map[string]int64
}

func (m *metered) Exec(ctx context.Context, text string, args ...any) error {
	_, table, _ := strings.Cut(text, "INSERT INTO ")
	table, _, _ = strings.Cut(table, " ")
	begun := time.Now()
	err := m.Conn.Exec(ctx, text, args...)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used[table] += time.Since(begun).Milliseconds()
	return err
}
