package query

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// SavedReports is how saved reports are listed.
var SavedReports = Listing{Table: "saved_reports", Search: []string{"name", "report"}, Fields: []ListField{
	{Name: "name", Type: WordsField, Sort: true},
	{Name: "report", Type: TextField, Sort: true},
	{Name: "next_run_at", Type: TimeField, Range: true, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}}

// SavedReportRef names a saved report.
type SavedReportRef struct {
	Account fleet.AccountID
	ID      uint64
}

// SavedReportsDue returns the saved reports of all accounts whose time has come, at most 1000.
func SavedReportsDue(ctx context.Context, db driver.Conn, now time.Time) ([]SavedReportRef, error) {
	return schemas.AllRows(ctx, db, "find saved reports that are due", schemas.Query("saved_reports_due"),
		[]any{clickhouse.Named("now", now.UnixMilli())}, func(r *SavedReportRef, row schemas.Row) error {
			return row.Scan((*uint64)(&r.Account), &r.ID)
		})
}
