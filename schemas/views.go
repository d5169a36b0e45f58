package schemas

import (
	"context"
	"fmt"
	"regexp"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// View is a view that fills a table from another whenever something is inserted there. Neither insert is one step
// with the other, so each view is such that what it made once may be made again: its table keeps no sums. Those that
// keep some are Rollups.
type View struct {
	Name   string
	Source string // the table that is inserted into
	Table  string // the one that is filled
	Select string // of Source, with the columns of Table by their names
}

var (
	viewText = regexp.MustCompile(`(?s)\nCREATE MATERIALIZED VIEW IF NOT EXISTS (\w+) TO (\w+) AS\n` +
		`(SELECT\s.*?\nFROM (\w+)\b.*)$`)
	viewDropped = regexp.MustCompile(`(?m)^DROP VIEW IF EXISTS (.*)$`)
	word        = regexp.MustCompile(`\w+`)
)

// Views returns the views that stand in the newest schema, in the order in which they were made, without those of
// Rollups.
func Views() []View {
	var all []View
	dropped := map[string]bool{}
	for _, m := range Migrations() {
		if part := viewText.FindStringSubmatch(m.SQL); part != nil {
			all = append(all, View{Name: part[1], Table: part[2], Select: part[3], Source: part[4]})
		}
		if part := viewDropped.FindStringSubmatch(m.SQL); part != nil {
			for _, name := range word.FindAllString(part[1], -1) {
				dropped[name] = true
			}
		}
	}
	standing := all[:0]
	for _, v := range all {
		if !dropped[v.Name] && !sums(v.Table) {
			standing = append(standing, v)
		}
	}
	return standing
}

// FillViews has every view make again what its table ought to have, from all that its source holds: for what a server
// lost that was cut off between the two. It may be repeated, and run while others write.
func FillViews(ctx context.Context, db driver.Conn) error {
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"insert_deduplicate":                 0, // the table may know the rows that it lost
		"max_partitions_per_insert_block":    0,
		"optimize_aggregation_in_order":      1, // a rollup of everything takes no more memory than one of a vehicle
		"max_bytes_before_external_group_by": 1 << 30,
	}))
	for _, v := range Views() {
		var columns string
		if err := db.QueryRow(ctx, Query("view_columns"), clickhouse.Named("view", v.Name)).Scan(&columns); err != nil {
			return fmt.Errorf("read the columns of %s: %w", v.Name, err)
		}
		made := "SELECT " + columns + " FROM (\n" + v.Select + "\n)"
		if err := db.Exec(ctx, "INSERT INTO "+v.Table+" ("+columns+")\n"+made); err != nil {
			return fmt.Errorf("fill %s: %w", v.Table, err)
		}
	}
	return nil
}
