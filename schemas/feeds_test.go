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

// Every table that says how its columns are taken from a record has a feed, and its feed fills all other columns.
func TestEveryColumnIsFilledOrTakenFromTheRecord(t *testing.T) {
	db := schematest.Open(t)
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
