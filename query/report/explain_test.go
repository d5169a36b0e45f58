package report

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

// Every report reads the large tables by their keys: the account, and the days where the key has them next.
func TestEveryReportReadsByKeys(t *testing.T) {
	db := schematest.Open(t)
	for _, text := range []string{
		`INSERT INTO vehicle_days (account, local_date, vehicle, currency, computed_at) SELECT number % 7, toDate32('2026-01-01') + number % 90, number, 'USD', now64(3) FROM numbers(5000)`,
		`INSERT INTO vehicle_months (account, month, vehicle, currency, computed_at) SELECT number % 7, toDate32('2026-01-01'), number, 'USD', now64(3) FROM numbers(5000)`,
		`INSERT INTO fleet_days (account, local_date, currency, computed_at) SELECT number % 7, toDate32('2026-01-01') + number % 90, toString(number), now64(3) FROM numbers(5000)`,
		`INSERT INTO driving_days (account, local_date, vehicle, computed_at) SELECT number % 7, toDate32('2026-01-01') + number % 90, number, now64(3) FROM numbers(5000)`,
		`INSERT INTO driving_months (account, month, vehicle, computed_at) SELECT number % 7, toDate32('2026-01-01'), number, now64(3) FROM numbers(5000)`,
		`INSERT INTO rental_days (account, local_date, booking, computed_at, vehicle) SELECT number % 7, toDate32('2026-01-01') + number % 90, number, now64(3), 1 FROM numbers(5000)`,
		`INSERT INTO rental_sums (account, booking, computed_at, completed, day) SELECT number % 7, number, now64(3), true, toDate32('2026-01-01') + number % 90 FROM numbers(5000)`,
		`INSERT INTO booking_sums (account, booking, computed_at, on_books, first, last) SELECT number % 7, number, now64(3), true, toDate32('2026-01-01') + number % 90 AS day, day FROM numbers(5000)`,
		`INSERT INTO customer_sums (account, currency, customer, computed_at, months, income) SELECT number % 7, 'USD', number, now64(3), ['2026-01-01'], [1] FROM numbers(5000)`,
		`INSERT INTO tax_bases (account, booking, local_date, currency, computed_at) SELECT number % 7, number, toDate32('2026-01-01') + number % 90, 'USD', now64(3) FROM numbers(5000)`,
		`INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no, currency) SELECT number % 7, toDate32('2026-01-01') + number % 90, 'cash', number, 1, 'USD' FROM numbers(5000)`,
		`INSERT INTO bookings (account, id, revision, created_at, updated_at, body) SELECT number % 7, number, 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00', '{}' FROM numbers(5000)`,
		`INSERT INTO quotes (account, id, revision, created_at, updated_at, body) SELECT number % 7, number, 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00', '{}' FROM numbers(5000)`,
		`INSERT INTO trips (account, vehicle, id, start_at, end_at, body) SELECT number % 7, number, number, toDateTime('2026-01-01 00:00:00') + number * 60 AS began, began, '{}' FROM numbers(5000)`,
		`INSERT INTO geofence_days (account, local_date, vehicle, geofence, computed_at, stays) SELECT number % 7, toDate32('2026-01-01') + number % 90, number, 1, now64(3), 1 FROM numbers(5000)`,
		`INSERT INTO alerts (account, vehicle, id, start_at, end_at, body) SELECT account, vehicle, id, start_at, end_at, body FROM trips`,
	} {
		if err := db.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	day := func(text string) time.Time {
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	keys := map[string]string{"vehicle_days": "account local_date", "vehicle_months": "account month",
		"fleet_days": "account local_date", "rental_days": "account local_date", "rental_sums": "account",
		"driving_days": "account local_date", "geofence_days": "account local_date", "driving_months": "account month",
		"ledger_entries": "account local_date", "ledger_days": "account local_date",
		"ledger_months": "account month", "ledger_flows": "account ledger_account local_date",
		"tax_bases": "account", "booking_sums": "account", "customer_sums": "account currency",
		"bookings": "account", "quotes": "account", "trips": "account", "alerts": "account"}
	for _, name := range Names() {
		d, seen := Named(name), 0
		for _, group := range d.Groups {
			if !slices.Contains([]string{d.Groups[0], "month", "vehicle", "channel"}, group) {
				continue
			}
			q := Question{Account: 3, Span: Span{day("2025-12-20"), day("2026-03-05")}, Group: group, Basis: d.Bases[0],
				Currency: "USD", Zone: "UTC", Today: day("2026-03-05")}
			plan, err := d.Explain(t.Context(), db, q)
			if err != nil {
				t.Fatal(err)
			}
			table, wanted := "", ""
			for i := range plan {
				plan[i] = strings.TrimLeft(plan[i], " │├└─")
			}
			for i, line := range plan {
				if read, ok := strings.CutPrefix(line, "ReadFromMergeTree ("); ok {
					table = read[strings.LastIndexByte(read, '.')+1 : len(read)-1]
					wanted = keys[table]
				}
				if line != "PrimaryKey" || wanted == "" {
					continue
				}
				used := ""
				for _, key := range plan[i+2:] {
					if strings.Contains(key, ":") {
						break
					}
					used += key + " "
				}
				if seen++; !strings.HasPrefix(used, wanted) {
					t.Errorf("%s by %s reads %s by %q", name, group, table, used)
				}
				wanted = ""
			}
		}
		if seen == 0 && name != "occupancy_calendar" {
			t.Errorf("%s reads nothing by a key", name)
		}
	}
}
