package schemas_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// booked makes up entries of one account: ten years of 5,000 vehicles in 10 classes, 12 locations and 5 channels,
// 200,000 customers, bookings with thirty entries over five or nine days on twelve ledger accounts.
const booked = `INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, id, amount,
		currency, vehicle, class, booking, customer, location, channel, kind, source, occurred_at)
	WITH intDiv(number, 30) AS b, cityHash64(b) AS h
	SELECT 7, toDate32('2016-01-01') + h %% 3650 + intDiv(number %% 30, 6) * (1 + h %% 2) AS day,
		['deferred_revenue', 'revenue.time', 'revenue.extras', 'tax_payable', 'cost.platform_fee', 'accounts_receivable',
			'accounts_receivable', 'cash', 'revenue.fees', 'deferred_revenue', 'customer_prepayments', 'revenue.protection']
			[1 + (number %% 6) + 6 * (h %% 2)],
		b, number %% 30, intDiv(sipHash64(number), 2), toInt64(sipHash64(number) %% 20000) - 10000, 'USD',
		1 + intDiv(h, 7) %% 5000 AS v, 1 + v %% 10, b, intDiv(h, 11) %% 200000, 1 + intDiv(v, 10) %% 12,
		['direct', 'turo', 'website', 'getaround', 'ota'][1 + intDiv(h, 13) %% 5], 'booking', b, toDateTime64(day, 3)
	FROM numbers(%d, %d)`

// BenchmarkRollups says what 20 million entries take, and how long sums and a look through everything take; -benchtime
// 1x makes them once. Its figures stand in docs/decisions.
func BenchmarkRollups(b *testing.B) {
	db := schematest.Open(b)
	ctx := clickhouse.Context(b.Context(), clickhouse.WithSettings(clickhouse.Settings{
		"max_partitions_per_insert_block": 0, "max_threads": 2}))
	const entries, page = 20_000_000, 500_000
	begun := time.Now()
	for first := 0; first < entries; first += page {
		if err := db.Exec(ctx, fmt.Sprintf(booked, first, page)); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%d entries in %.0f s", entries, time.Since(begun).Seconds())
	for _, table := range []string{"ledger_entries", "ledger_days", "ledger_months", "ledger_flows"} {
		if err := db.Exec(ctx, "OPTIMIZE TABLE "+table+" FINAL"); err != nil {
			b.Fatal(err)
		}
		var rows, bytes uint64
		if err := db.QueryRow(ctx, `SELECT sum(rows), sum(bytes_on_disk) FROM system.parts
			WHERE active AND database = currentDatabase() AND table = '`+table+"'").Scan(&rows, &bytes); err != nil {
			b.Fatal(err)
		}
		b.Logf("%s: %.2f million rows, %d MB", table, float64(rows)/1e6, bytes/1e6)
	}
	lately := time.Now().Add(-48 * time.Hour).UnixMilli()
	var said string
	const year = "local_date BETWEEN '2024-01-01' AND '2024-12-31'"
	for _, q := range []struct{ what, text string }{
		{"days: all by month and account", `SELECT toStartOfMonth(local_date) AS m, ledger_account, sum(amount)
			FROM ledger_days WHERE account = 7 GROUP BY m, ledger_account`},
		{"days: all by account", `SELECT ledger_account, currency, sum(amount), sum(entries)
			FROM ledger_days WHERE account = 7 GROUP BY ALL`},
		{"days: a year by day", `SELECT local_date, sum(amount) FROM ledger_days
			WHERE account = 7 AND ledger_account LIKE 'revenue.%' AND ` + year + ` GROUP BY ALL`},
		{"days: all by class and location", `SELECT class, location, sum(amount) FROM ledger_days
			WHERE account = 7 GROUP BY ALL`},
		{"months: all by month and account", `SELECT month, ledger_account, sum(amount) FROM ledger_months
			WHERE account = 7 GROUP BY ALL`},
		{"months: all by vehicle and account", `SELECT vehicle, ledger_account, sum(amount) FROM ledger_months
			WHERE account = 7 GROUP BY ALL`},
		{"months: all by customer", `SELECT customer, sum(amount) FROM ledger_months
			WHERE account = 7 AND ledger_account LIKE 'revenue.%' GROUP BY ALL`},
		{"months: a year by vehicle", `SELECT vehicle, sum(amount) FROM ledger_months
			WHERE account = 7 AND month BETWEEN '2024-01-01' AND '2024-12-01' GROUP BY ALL`},
		{"entries: all by month and account, FINAL", `SELECT toStartOfMonth(local_date) AS m, ledger_account, sum(amount)
			FROM ledger_entries FINAL WHERE account = 7 GROUP BY ALL
			SETTINGS do_not_merge_across_partitions_select_final = 1`},
		{"entries: a year by vehicle, FINAL", `SELECT vehicle, sum(amount) FROM ledger_entries FINAL
			WHERE account = 7 AND ` + year + ` GROUP BY ALL SETTINGS do_not_merge_across_partitions_select_final = 1`},
		{"months of two days", schemas.Query("rollup_months")},
	} {
		var took []time.Duration
		var cpu int64 // of the last time, in microseconds
		counted := clickhouse.Context(ctx, clickhouse.WithProfileEvents(func(events []clickhouse.ProfileEvent) {
			for _, e := range events {
				if e.Name == "UserTimeMicroseconds" || e.Name == "SystemTimeMicroseconds" {
					cpu += e.Value
				}
			}
		}))
		for range 15 {
			begun, cpu = time.Now(), 0
			err := schemas.EachRow(counted, db, q.what, q.text, []any{clickhouse.Named("since", lately)},
				func(schemas.Row) error { return nil })
			if err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(begun))
		}
		slices.Sort(took)
		said += fmt.Sprintf("%-42s median %4d ms, slowest of 15 %4d ms, cpu %4d ms\n", q.what, took[7].Milliseconds(),
			took[14].Milliseconds(), cpu/1000)
	}
	b.Log(said)
	begun = time.Now()
	months, err := schemas.RollupMonths(ctx, db, time.Time{})
	if err != nil {
		b.Fatal(err)
	}
	done, err := schemas.RepairRollups(ctx, db, months, 0)
	if err != nil || len(done) > 0 {
		b.Fatal(done, err)
	}
	b.Logf("a look through %d months: %.1f s", len(months), time.Since(begun).Seconds())
	for _, table := range []string{"ledger_days", "ledger_months", "ledger_flows"} {
		if err := db.Exec(ctx, "TRUNCATE TABLE "+table); err != nil {
			b.Fatal(err)
		}
	}
	begun = time.Now()
	if _, err := schemas.RepairRollups(ctx, db, months, 0); err != nil {
		b.Fatal(err)
	}
	b.Logf("filling %d months: %.0f s", len(months), time.Since(begun).Seconds())
}
