package schemas_test

import (
	"slices"
	"testing"

	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// A feed selects columns in the order in which it fills them, from any revisions.
func TestEveryFeedFillsTheColumnsItNames(t *testing.T) {
	db := schematest.Open(t)
	for _, f := range schemas.Feeds() {
		t.Run(f.Table, func(t *testing.T) {
			for _, revisions := range []string{"", schemas.Query("record_revisions")} {
				params := withNeutral(t, revisions)
				rows, err := db.Query(params, f.Of(revisions))
				if err != nil {
					t.Fatal(err)
				}
				rows.Close()
				if !slices.Equal(rows.Columns(), f.Columns) {
					t.Errorf("selects %v for %v", rows.Columns(), f.Columns)
				}
				if err := db.Exec(params, f.Insert()+"\n"+f.Of(revisions)); err != nil {
					t.Fatal(err)
				}
			}
			if len(f.Kinds) == 0 {
				t.Error("is of no kind")
			}
		})
	}
}

// Every table that takes columns from a record has a feed, which fills all others. (The body of a trip is
// not of a record.)
func TestEveryColumnIsFilledOrTakenFromTheRecord(t *testing.T) {
	db := schematest.Open(t)
	var fed, current []string
	for _, f := range schemas.Feeds() {
		fed = append(fed, f.Table)
	}
	err := schemas.EachRow(t.Context(), db, "find tables that take columns from a record",
		"SELECT DISTINCT table FROM system.columns WHERE database = currentDatabase() AND default_expression LIKE '%body%' AND table != 'trips' ORDER BY table",
		nil, func(row schemas.Row) error {
			var name string
			defer func() { current = append(current, name) }()
			return row.Scan(&name)
		})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Sort(fed); !slices.Equal(fed, current) {
		t.Errorf("feeds fill %v, and there are %v", fed, current)
	}
	for _, f := range schemas.Feeds() {
		var neither []string
		if err := db.QueryRow(t.Context(), `SELECT groupArray(name) FROM system.columns
			WHERE database = currentDatabase() AND table = $1 AND default_kind = '' AND NOT has($2, name)`, f.Table, f.Columns).Scan(&neither); err != nil {
			t.Fatal(err)
		}
		if len(neither) > 0 {
			t.Errorf("%s: %v", f.Table, neither)
		}
	}
}
