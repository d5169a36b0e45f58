package schemas_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// randomBookings are bookings of all kinds, as rows to insert, whose days are within some months of the present and of
// the same day in the two years before.
func randomBookings(rng *rand.Rand, present time.Time, n int) (rows []string) {
	at := func(days int) time.Time {
		return present.Add(time.Duration(rng.IntN(2*days*24)-days*24) * time.Hour)
	}
	one := func(of ...string) string { return of[rng.IntN(len(of))] }
	for id := range n {
		year := -rng.IntN(3)
		pickup := at(100).AddDate(year, 0, 0)
		confirmed := pickup.Add(-time.Duration(rng.IntN(80*24)) * time.Hour)
		long := rng.IntN(9)
		body := fmt.Sprintf(`{"status":%q,"status_since":%q,"pickup_at":%q,"return_at":%q,"currency":%q,"timezone":%q,"channel":%q`,
			one("pending", "confirmed", "confirmed", "active", "completed", "cancelled", "no_show", "expired"),
			confirmed.Add(time.Duration(rng.IntN(90*24))*time.Hour).Format(time.RFC3339), pickup.Format(time.RFC3339),
			pickup.AddDate(0, 0, long).Format(time.RFC3339), one("USD", "USD", "EUR"),
			one("", "America/Chicago", "Europe/Berlin"), one("", "direct", "turo"))
		if rng.IntN(5) > 0 {
			body += fmt.Sprintf(`,"confirmed_at":%q`, confirmed.Format(time.RFC3339))
		}
		if rng.IntN(2) == 0 {
			body += fmt.Sprintf(`,"cancellation":{"cancelled_at":%q}`, confirmed.Add(50*time.Hour).Format(time.RFC3339))
		}
		body += one("", `,"vehicle_id":"veh_1"`, `,"vehicle_id":"veh_2"`)
		body += one("", `,"vehicle_class_id":"vcl_5"`, `,"vehicle_class_id":"vcl_6"`)
		lines := fmt.Sprintf(`[{"type":"time","amount":{"amount":%d}},{"type":"extra","amount":{"amount":%d}},{"type":"discount","amount":{"amount":-%d}},{"type":"tax","amount":{"amount":900}}]`,
			rng.IntN(90000), rng.IntN(9000), rng.IntN(2000))
		if rng.IntN(3) == 0 {
			body += fmt.Sprintf(`,"billed_days":%d,"charges":%s`, long, lines)
		} else {
			days := ""
			for i := range long + 1 {
				if i > 0 {
					days += ","
				}
				days += fmt.Sprintf(`{"date":%q,"amount":{"amount":%d}}`,
					pickup.AddDate(0, 0, i).Format(time.DateOnly), rng.IntN(4)*2500)
			}
			body += fmt.Sprintf(`,"rate_snapshot":{"lines":%s,"days":[%s]}`, lines, days)
		}
		rows = append(rows, fmt.Sprintf("(7, %d, 1, '2025-06-01 00:00:00', '2025-06-01 00:00:00', '%s}')", id+1, body))
	}
	return rows
}

// What the forecast says is on the books, now and a year ago, the report of pace says too: of each class and month.
func TestPaceIsTheSameInReportAndForecast(t *testing.T) {
	db := openReports(t)
	record(t, db, "vehicles", 7, 1, "2024-01-01 00:00:00", `{"vehicle_class_id":"vcl_5"}`)
	record(t, db, "vehicles", 7, 2, "2024-01-01 00:00:00", `{}`)
	present := time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC)
	put(t, db, "INSERT INTO bookings (account, id, revision, created_at, updated_at, body) VALUES "+
		strings.Join(randomBookings(rand.New(rand.NewPCG(1, 2)), present, 400), ", "))
	parameters := clickhouse.Parameters{"account": "7", "from": "2026-01-01", "to": "2026-06-30",
		"zone": "America/Chicago", "currency": "USD", "as_of": "['2025-02-28','2026-02-28']",
		"accounts": chartAccounts, "measures": chartMeasures}
	schematest.MakeBooked(t, db, parameters)
	type sums map[string][6]float64 // by month: days and money now, then, and of then in the end
	forecasts := map[string]sums{"[5]": {}, "[6]": {}, "[0]": {}, "[]": {}}
	err := schemas.EachRow(clickhouse.Context(t.Context(), clickhouse.WithParameters(parameters)), db, "read the pace",
		schemas.Query("pace_days"), nil, func(row schemas.Row) error {
			var class uint64
			var day int32
			var since, until uint8
			var days, agreed, ofTime int64
			if err := row.Scan(&class, &day, &since, &until, &days, &agreed, &ofTime); err != nil {
				return err
			}
			on := time.Unix(int64(day)*86400, 0).UTC()
			year := 2026 - on.Year()
			month := time.Date(2026, on.Month(), 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
			for _, key := range []string{fmt.Sprintf("[%d]", class), "[]"} {
				sum := forecasts[key][month]
				add := func(at int, stands bool) {
					if stands {
						sum[at], sum[at+1] = sum[at]+float64(days), sum[at+1]+float64(agreed)
					}
				}
				switch year {
				case 0:
					add(0, until == 2)
				case 1:
					add(2, since == 0)
					add(4, until == 2)
				}
				forecasts[key][month] = sum
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for classes, months := range forecasts {
		report := ask(t, db, "pace", "month", "from", "2026-01-01", "to", "2026-06-30", "today", "2026-02-28",
			"classes", classes)
		for month, is := range months {
			if month > "2026-06-01" {
				continue
			}
			want(t, report, month, fmt.Sprintf(`days_on_books %.0f, revenue_on_books %.0f, days_last_year %.0f, revenue_last_year %.0f,
				days_final_last_year %.0f, revenue_final_last_year %.0f`, is[0], is[1], is[2], is[3], is[4], is[5]))
			if is[0] > 0 && is[2] > 0 && is[2] != is[4] {
				compared++
			}
		}
	}
	if compared < 8 {
		t.Errorf("only %d months have days on the books in both years", compared)
	}
}

// In a span of more than a year a day is on the books on its own date, and a year later what was there the year before.
func TestADayIsOnTheBooksOnceInSpansOfYears(t *testing.T) {
	db := openReports(t)
	has(t, db, 1)
	record(t, db, "bookings", 7, 101, "2025-02-01 00:00:00", `{"status":"completed","currency":"USD","vehicle_id":"veh_1",
		"confirmed_at":"2025-02-01T10:00:00Z","billed_days":4,"pickup_at":"2025-03-02T10:00:00Z","return_at":"2025-03-06T10:00:00Z"}`)
	span := []string{"from", "2025-01-01", "to", "2026-12-31"}
	want(t, ask(t, db, "pace", "total", span...), "", "days_on_books 4, days_last_year 4, days_final_last_year 4")
	months := ask(t, db, "pace", "month", span...)
	want(t, months, "2025-03-01", "days_on_books 4, days_last_year 0, days_final_last_year 0")
	want(t, months, "2026-03-01", "days_on_books 0, days_last_year 4, days_final_last_year 4")
}
