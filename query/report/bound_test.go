package report

import (
	"errors"
	"testing"
	"time"

	"github.com/motorpool/fleet/schemas/schematest"
)

// A report of more rows than one may have is refused, and one of as many is not.
func TestAReportHasNoMoreRowsThanItMay(t *testing.T) {
	db := schematest.Open(t)
	if err := db.Exec(t.Context(), `INSERT INTO ledger_entries (account, local_date, ledger_account, transaction, entry_no,
		amount, currency) VALUES (3, '2026-01-01', 'cost.fuel', 1, 1, 5, 'USD'), (3, '2026-01-01', 'cash', 1, 2, -5, 'USD')`,
	); err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	q := Question{Account: 3, Span: Span{day, day}, Group: "account", Basis: "accrual", Currency: "USD", Zone: "UTC",
		Today: day, Accounts: []string{"cost.fuel"}, Measures: []string{"cost_energy"}, MostRows: 2}
	d := Named("balance_sheet")
	if a, err := d.Answer(t.Context(), db, q); err != nil || len(a.Rows) != 2 {
		t.Errorf("as many rows as it may have: %v, %v", a, err)
	}
	q.MostRows = 1
	if a, err := d.Answer(t.Context(), db, q); !errors.Is(err, ErrTooManyRows) {
		t.Errorf("more rows than it may have: %v, %v", a, err)
	}
}

// The calendar looks at two million days of vehicles at most, and at two hundred thousand where each is a row.
func TestTheCalendarHasNoMoreDaysThanItMay(t *testing.T) {
	db := schematest.Open(t)
	if err := db.Exec(t.Context(), `INSERT INTO vehicles (account, id, revision, created_at, updated_at, body)
		SELECT 3, 1 + number, 1, '1970-01-01', '1970-01-01', '{"status":"available"}' FROM numbers(20)`); err != nil {
		t.Fatal(err)
	}
	first := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		group    string
		days     int
		vehicles []uint64
		refused  bool
	}{
		{"calendar", 10_001, nil, true}, {"calendar", 20, nil, false}, {"calendar", 10_001, []uint64{4}, false},
		{"total", 10_001, nil, false}, {"total", 100_000, nil, false}, {"total", 100_001, nil, true},
		{"month", 100_001, nil, true}, {"month", 100_001, []uint64{4, 5}, false},
	} {
		q := Question{Account: 3, Span: Span{first, first.AddDate(0, 0, c.days-1)}, Group: c.group, Basis: "accrual",
			Currency: "USD", Zone: "UTC", Today: first, Filters: Filters{Vehicles: c.vehicles}}
		a, err := Named("occupancy_calendar").Answer(t.Context(), db, q)
		if errors.Is(err, ErrTooManyDays) != c.refused || err != nil && !c.refused {
			t.Errorf("%d days by %s of %v: %v", c.days, c.group, c.vehicles, err)
			continue
		}
		vehicles := len(c.vehicles)
		if vehicles == 0 {
			vehicles = 20
		}
		i := Named("occupancy_calendar").index("vehicle_days")
		if err == nil && a.Totals.Values[i] != Whole(int64(c.days*vehicles)) {
			t.Errorf("%d days by %s of %v: %v in all", c.days, c.group, c.vehicles, a.Totals.Values[i])
		}
	}
}
