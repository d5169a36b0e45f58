package schemas_test

import (
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// A local day begins with its first moment, also where the clocks jump over midnight or strike it twice, and ends where
// the next one begins.
func TestLocalDaysBeginWithTheirFirstMoment(t *testing.T) {
	t.Parallel()
	db := schematest.Open(t)
	for name, around := range map[string]string{
		"Africa/Cairo": "2026-04-24", "America/Havana": "2026-11-01", "America/Santiago": "2026-09-06",
		"Asia/Beirut": "2026-03-29", "America/New_York": "2026-03-08", "Australia/Lord_Howe": "2026-04-05",
		"Pacific/Kiritimati": "2026-01-01", "Asia/Kathmandu": "2026-01-01",
	} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		day, _ := time.Parse(time.DateOnly, around)
		err = schemas.EachRow(t.Context(), db, "read the days", schemas.Query("zone_days"), []any{
			clickhouse.Named("account", uint64(7)), clickhouse.Named("zone", name),
			clickhouse.Named("from", day.AddDate(0, 0, -2).Format(time.DateOnly)),
			clickhouse.Named("to", day.AddDate(0, 0, 2).Format(time.DateOnly)),
		}, func(row schemas.Row) error {
			var zoned string
			var day time.Time
			var on, begins, ends int64
			if err := row.Scan(&zoned, &day, &on, &begins, &ends); err != nil {
				return err
			}
			for what, at := range map[string]int64{day.Format(time.DateOnly): begins,
				day.AddDate(0, 0, 1).Format(time.DateOnly): ends} {
				first := time.UnixMilli(at).In(zone)
				before := first.Add(-time.Second)
				if first.Format(time.DateOnly) != what || before.Format(time.DateOnly) >= what {
					t.Errorf("%s in %s begins at %s, a second after %s", what, name, first, before)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
