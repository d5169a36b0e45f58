package schemas

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Feed is a file of feeds/: what fills a table of current records from record_log. Unlike a view it costs nothing to the writes of other
// kinds. It can be repeated for any revisions, as a table keeps the highest of each record.
type Feed struct {
	Table   string
	Kinds   []string // of the records in it
	Columns string   // that it fills, as in the list of an insert
	Select  string   // their values, in the order of Columns, from record_log
}

// feedText are the parts of a feed: the table, its columns, the query, and what the query says of the kind.
var feedText = regexp.MustCompile(`(?s)\nINSERT INTO (\w+)\s+\(([^)]*)\)\n((?:WITH|SELECT)\b.*\nFROM record_log\nWHERE (?:record_log\.)?kind (.*))$`)

var quoted = regexp.MustCompile(`'(\w+)'`)

// Feeds returns all feeds in the order of the names of their tables.
func Feeds() []Feed {
	var all []Feed
	texts := paths("feeds/*.sql")
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		part := feedText.FindStringSubmatch(read(texts[name]))
		if part == nil {
			panic(texts[name] + " is not an insert of revisions of some kind") // embedded at build time
		}
		f := Feed{Table: part[1], Columns: part[2], Select: part[3]}
		for _, kind := range quoted.FindAllStringSubmatch(part[4], -1) {
			f.Kinds = append(f.Kinds, kind[1])
		}
		all = append(all, f)
	}
	return all
}

// Insert returns the text that fills the table from the revisions that a query of record_log finds, and from all if the query is empty.
func (f *Feed) Insert(revisions string) string {
	return "INSERT INTO " + f.Table + " (" + f.Columns + ")\n" + f.Of(revisions)
}

// Of returns the query of the rows that the revisions which another query finds bring to the table.
func (f *Feed) Of(revisions string) string {
	if revisions == "" {
		return f.Select
	}
	return strings.Replace(f.Select, "\nFROM record_log\n", "\nFROM (\n"+revisions+"\n) AS record_log\n", 1)
}

// Fill brings everything that record_log holds of some kinds, or of all if none are named, to the tables of current records.
func Fill(ctx context.Context, db driver.Conn, kinds ...string) error {
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"insert_deduplicate":              0, // a table that was emptied may still know what was inserted before
		"max_partitions_per_insert_block": 0,
	}))
	for _, f := range Feeds() {
		named := slices.ContainsFunc(f.Kinds, func(kind string) bool { return slices.Contains(kinds, kind) })
		if len(kinds) > 0 && !named {
			continue
		}
		if err := db.Exec(ctx, f.Insert("")); err != nil {
			return fmt.Errorf("fill %s: %w", f.Table, err)
		}
	}
	return nil
}
