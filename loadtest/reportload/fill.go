// Package reportload measures the reports over ten years of 5,000 vehicles: it makes them once, in a folder that is
// kept, and asks each report then.
package reportload

import (
	"bufio"
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/schemas"
)

// files say what is made, each in so many steps as its first line says; step counts from 0.
//
//go:embed fill/*.sql
var files embed.FS

// doneFile lies beside the engine's data and has a line for each step that was made.
const doneFile = "filled.txt"

// Fill makes what is not there yet: an account of 20 million entries with all that belongs to it. It may be stopped and
// goes on where it was; a step that was not noted is made again under the same token, which changes nothing.
func Fill(ctx context.Context, db driver.Conn, folder string, say io.Writer) error {
	names, err := files.ReadDir("fill")
	if err != nil {
		return err
	}
	done, err := os.OpenFile(filepath.Join(folder, doneFile), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer done.Close()
	var made []string
	for lines := bufio.NewScanner(done); lines.Scan(); {
		made = append(made, lines.Text())
	}
	do := func(step string, run func() error) error {
		if slices.Contains(made, step) {
			return nil
		}
		begun := time.Now()
		if err := run(); err != nil {
			return fmt.Errorf("fill %s: %w", step, err)
		}
		fmt.Fprintf(say, "%s: %.1f s\n", step, time.Since(begun).Seconds())
		_, err := fmt.Fprintln(done, step)
		return err
	}
	for _, name := range names {
		text, err := files.ReadFile(path.Join("fill", name.Name()))
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(string(text), "\n")
		steps, err := strconv.Atoi(strings.TrimPrefix(first, "-- steps: "))
		if err != nil {
			return fmt.Errorf("%s says no steps: %w", name.Name(), err)
		}
		for i := range steps {
			step := fmt.Sprintf("%s %d", name.Name(), i)
			err := do(step, func() error {
				return db.Exec(within(ctx, step), string(text), clickhouse.Named("step", uint32(i)))
			})
			if err != nil {
				return err
			}
		}
	}
	for year := present.Year() - 10; year < present.Year(); year++ {
		for _, name := range []string{"facts_months", "facts_fleet_days", "facts_driving", "facts_driving_months",
			"facts_geofence_days"} {
			step := fmt.Sprintf("%s %d", name, year)
			if name == "facts_fleet_days" {
				step = fmt.Sprintf("%s of version %d %d", name, schemas.FactsVersion, year)
			}
			err := do(step, func() error {
				return db.Exec(within(ctx, step), schemas.Query(name), clickhouse.Named("account", uint64(7)),
					clickhouse.Named("from", fmt.Sprintf("%d-01-01", year)), clickhouse.Named("to", fmt.Sprintf("%d-12-31", year)),
					clickhouse.Named("vehicles", []uint64{}), clickhouse.Named("zone", "America/New_York"),
					clickhouse.Named("kept", "1970-01-01"))
			})
			if err != nil {
				return err
			}
		}
		for _, name := range []string{"facts_rental_sums", "facts_tax_bases", "facts_booking_sums"} {
			step := fmt.Sprintf("%s of version %d %d", name, schemas.FactsVersion, year)
			err := do(step, func() error {
				accounts, measures, _ := ledger.Measured()
				first, last := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(year+1, 1, 1, 0, 0, 0, 0, time.UTC)
				chosen, err := schemas.ChosenAmong(ctx, db, 7, idAt(first), idAt(last)-1)
				if err != nil {
					return err
				}
				return db.Exec(clickhouse.Context(within(ctx, step), chosen), schemas.Query(name),
					clickhouse.Named("account", uint64(7)), clickhouse.Named("first", idAt(first)),
					clickhouse.Named("last", idAt(last)-1), clickhouse.Named("kept", "1970-01-01"),
					clickhouse.Named("zone", "America/New_York"),
					clickhouse.Named("accounts", accounts), clickhouse.Named("measures", measures))
			})
			if err != nil {
				return err
			}
		}
	}
	step := fmt.Sprintf("facts_customer_sums of version %d", schemas.FactsVersion)
	if err := do(step, func() error {
		accounts, measures, _ := ledger.Measured()
		return db.Exec(within(ctx, step), schemas.Query("facts_customer_sums"), clickhouse.Named("account", uint64(7)),
			clickhouse.Named("customers", []uint64{}), clickhouse.Named("since", "1970-01-01"),
			clickhouse.Named("accounts", accounts),
			clickhouse.Named("measures", measures))
	}); err != nil {
		return err
	}
	step = fmt.Sprintf("merged all of version %d with geofences", schemas.FactsVersion)
	return do(step, func() error { return merge(ctx, db) })
}

// idAt is the smallest id of what was made at an instant or later.
func idAt(at time.Time) uint64 {
	return uint64(at.UnixMilli()-fleet.IDEpoch) << 22
}

// within is for an insert that changes nothing if it is made again.
func within(ctx context.Context, step string) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": step,
		"max_partitions_per_insert_block": 0, "max_memory_usage": 3 << 30, "max_bytes_before_external_group_by": 1 << 30}))
}

// merge brings each part of a table into one, as the server does in the course of time.
func merge(ctx context.Context, db driver.Conn) error {
	rows, err := db.Query(ctx, `SELECT DISTINCT table FROM system.parts WHERE database = currentDatabase() AND active`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			return err
		}
		tables = append(tables, table)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	once := clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"optimize_skip_merged_partitions": 1}))
	for _, table := range tables {
		if err := db.Exec(once, "OPTIMIZE TABLE "+table+" FINAL"); err != nil {
			return err
		}
	}
	return nil
}

// Sizes says what is stored: a line for each table with its rows, parts and bytes on the disk.
func Sizes(ctx context.Context, db driver.Conn, say io.Writer) error {
	rows, err := db.Query(ctx, `SELECT table, sum(rows), count(), sum(bytes_on_disk) FROM system.parts
		WHERE database = currentDatabase() AND active GROUP BY table HAVING sum(rows) > 1000 ORDER BY table`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var table string
		var n, parts, bytes uint64
		if err := rows.Scan(&table, &n, &parts, &bytes); err != nil {
			return err
		}
		fmt.Fprintf(say, "%-18s %6.2f million rows in %4d parts, %5d MB\n", table, float64(n)/1e6, parts, bytes/1e6)
	}
	return rows.Err()
}
