package report

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
)

// AsOf is until when what the report stands on was made: of one that is made of facts until when everything was made
// again that had been written, of one that is made of sums of the ledger until when these are known to lack nothing,
// the zero time if nothing was yet; of all others now.
func (d *Definition) AsOf(ctx context.Context, db driver.Conn, now time.Time) (time.Time, error) {
	for _, made := range []struct {
		of    []string // what the report reads of
		until string   // the query that tells until when that is made
	}{
		{[]string{"FROM vehicle_", "FROM rental_days", "FROM rental_sums", "FROM driving_", "FROM fleet_days",
			"FROM geofence_days", "FROM tax_bases", "FROM booking_sums", "FROM customer_sums"}, "facts_as_of"},
		{[]string{"FROM ledger_days", "FROM ledger_months", "FROM ledger_flows"}, "rollup_looked"},
	} {
		if !slices.ContainsFunc(made.of, func(table string) bool { return strings.Contains(d.statement, table) }) {
			continue
		}
		var at time.Time
		if err := db.QueryRow(ctx, schemas.Query(made.until), clickhouse.Named("version", schemas.FactsVersion)).
			Scan(&at); err != nil {
			return at, fmt.Errorf("read until when reports are made: %w", err)
		}
		if at.Unix() <= 0 {
			return time.Time{}, nil
		}
		if at.Before(now) {
			now = at
		}
	}
	return now, nil
}
