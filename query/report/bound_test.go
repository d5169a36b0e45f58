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
