//go:build long

package outlook

import (
	"context"
	"fmt"
	"math"
	"net/http/httptest"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// tenYears are 5,000 vehicles of twelve classes until 23 November 2026, with their days, and 740,000 bookings. Of two
// vehicles some days of each month were made again, so that no month is one part.
var tenYears = []string{
	`INSERT INTO vehicles (account, id, revision, created_at, updated_at, body)
	SELECT 7, number + 1, 1, '2016-01-01 00:00:00', '2016-01-01 00:00:00', concat('{"license_plate":"P', toString(number),
		'","status":"available","vehicle_class_id":"vcl_', toString(number % 12 + 1), '","in_service_on":"2016-06-01"}')
	FROM numbers(5000)`,
	`INSERT INTO vehicle_days (account, local_date, vehicle, currency, computed_at, day_s, fleet_s, down_s, rented_s,
		billed_days, revenue_time, revenue_extras, platform_fees, cost_energy, cost_maintenance, cost_depreciation,
		cost_insurance)
	SELECT 7, toDate32('2016-11-26') + intDiv(number, 5000) AS d, number % 5000 + 1, 'USD', now64(3), 86400, 86400,
		if(cityHash64(number, 1) % 40 = 0, 86400, 0) AS down,
		if(down = 0 AND cityHash64(number, 2) % 100 < 50 + 20 * sin(toRelativeDayNum(d) / 58),
			40000 + cityHash64(number) % 46400, 0) AS r,
		r > 0, if(r > 0, 4000 + cityHash64(number) % 3000, 0), if(r > 0, 500, 0), if(r > 0, 300, 0), 100,
		if(cityHash64(number, 3) % 50 = 0, 9000, 0), 900, 400
	FROM numbers(3650 * 5000)`,
	`INSERT INTO vehicle_days (account, local_date, vehicle, currency, computed_at, fleet_s, rented_s)
	SELECT 7, toDate32('2016-11-26') + number * 14, 17 + number % 2, 'USD', now64(3), 86400, 100 FROM numbers(260)`,
	`INSERT INTO bookings (account, id, revision, created_at, updated_at, body)
	WITH number % 5000 + 1 AS v, t -> formatDateTime(t, '%FT%TZ') AS iso,
		toDateTime64('2016-11-24 15:00:00', 3, 'UTC') + toIntervalDay(cityHash64(number, 5) % 3740) AS p,
		1 + cityHash64(number, 6) % 12 AS n, p + toIntervalDay(n) AS r, toDateTime64('2026-11-22 15:00:00', 3, 'UTC') AS now,
		least(p - toIntervalHour(cityHash64(number, 7) % 2000), now) AS c,
		multiIf(number % 11 = 0, 'cancelled', number % 67 = 0, 'no_show', p > now, 'confirmed', r > now, 'active',
			'completed') AS st
	SELECT 7, bitShiftLeft(toUInt64(toUnixTimestamp64Milli(c) - 1420070400000), 22) + number, 1, c, c,
		concat('{"status":"', st, '","status_since":"', iso(least(r, now)), '","vehicle_id":"veh_', toString(v),
			'","vehicle_class_id":"vcl_', toString((v - 1) % 12 + 1), '","pickup_at":"', iso(p), '","return_at":"', iso(r),
			'","confirmed_at":"', iso(c), '","timezone":"America/Chicago","currency":"USD","billed_days":', toString(n),
			',"charges":[],"rate_snapshot":{"lines":[{"type":"time","amount":{"amount":', toString(n * 5000), '}}],"days":[',
			arrayStringConcat(arrayMap(i -> concat('{"date":"', toString(toDate(p) + i), '","amount":{"amount":5000}}'),
				range(n)), ','), ']}}')
	FROM numbers(740000)`,
}

// BenchmarkTenYears asks each forecast and each advice of tenYears. cpu-ms is the processor time of the engine and of
// this process, which does not depend on what else the machine does; p99-ms is what the slowest of a hundred took.
func BenchmarkTenYears(b *testing.B) {
	config := schematest.Config(b)
	config.QueryTimeout = 10 * time.Minute // of what fills it
	db, err := query.Open(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if _, err := schemas.Apply(b.Context(), db); err != nil {
		b.Fatal(err)
	}
	settings := clickhouse.Context(b.Context(), clickhouse.WithSettings(clickhouse.Settings{
		"max_partitions_per_insert_block": 0, "insert_deduplicate": 0, "max_memory_usage": 4 << 30, "max_insert_threads": 1}))
	fill := func(text string, args ...any) {
		if err := db.Exec(settings, text, args...); err != nil {
			b.Fatal(err)
		}
	}
	for _, text := range tenYears {
		fill(text)
	}
	for year := 2016; year <= 2026; year++ {
		fill(schemas.Query("facts_months"), clickhouse.Named("account", uint64(7)), clickhouse.Named("vehicles", []uint64{}),
			clickhouse.Named("from", strconv.Itoa(year)+"-01-01"), clickhouse.Named("to", strconv.Itoa(year)+"-12-31"))
	}
	chosen, err := schemas.ChosenAmong(b.Context(), db, 7, 0, math.MaxUint64)
	if err != nil {
		b.Fatal(err)
	}
	settings = clickhouse.Context(settings, chosen)
	fill(schemas.Query("facts_booking_sums"), clickhouse.Named("account", uint64(7)), clickhouse.Named("first", uint64(0)),
		clickhouse.Named("last", uint64(math.MaxUint64)), clickhouse.Named("zone", "America/Chicago"))
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		b.Fatal(err)
	}
	a := &API{Server: &rest.Server{}}
	a.DB, a.Long = db, db
	at := time.Date(2026, 11, 23, 18, 0, 0, 0, time.UTC)
	q := &asker{request: httptest.NewRequest("GET", "/", nil), account: 7, zone: zone, currency: "USD", at: at,
		today: ledger.DayOf(at, zone)}
	for _, ask := range []struct {
		name string
		of   func(context.Context, *asker) (any, error)
	}{{"utilization", a.utilization}, {"pace", a.pace}, {"prices", a.priceAdvice}, {"vehicles", a.vehicleAdvice}} {
		b.Run(ask.name, func(b *testing.B) {
			var engine int64
			ctx := clickhouse.Context(b.Context(), clickhouse.WithProfileEvents(func(events []clickhouse.ProfileEvent) {
				for _, e := range events {
					if e.Name == "UserTimeMicroseconds" || e.Name == "SystemTimeMicroseconds" {
						engine += e.Value
					}
				}
			}), clickhouse.WithSettings(clickhouse.Settings{"max_threads": 2}))
			var took []time.Duration
			begun := ownTime(b)
			for b.Loop() {
				at := time.Now()
				answer, err := ask.of(ctx, q)
				if err != nil || len(fmt.Sprint(answer)) < 1000 {
					b.Fatal(answer, err)
				}
				took = append(took, time.Since(at))
			}
			own := ownTime(b) - begun
			slices.Sort(took)
			b.ReportMetric(float64(own.Milliseconds()+engine/1000)/float64(len(took)), "cpu-ms")
			b.ReportMetric(float64(took[(len(took)*99-1)/100].Milliseconds()), "p99-ms")
		})
	}
}

// ownTime is the processor time of this process.
func ownTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
