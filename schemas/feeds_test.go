package schemas_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// A feed fills columns by their place, which must be that of their name; and it does so with any revisions.
func TestEveryFeedFillsTheColumnsItNames(t *testing.T) {
	db := schematest.Open(t)
	feeds := schemas.Feeds()
	if len(feeds) < 29 {
		t.Errorf("%d feeds", len(feeds))
	}
	for _, f := range feeds {
		t.Run(f.Table, func(t *testing.T) {
			for _, revisions := range []string{"", schemas.Query("record_revisions")} {
				params := withNeutral(t, revisions)
				rows, err := db.Query(params, f.Of(revisions))
				if err != nil {
					t.Fatal(err)
				}
				rows.Close()
				var named []string
				for _, column := range strings.Split(f.Columns, ",") {
					named = append(named, strings.Trim(column, " \n`"))
				}
				if !slices.Equal(rows.Columns(), named) {
					t.Errorf("selects %v for %v", rows.Columns(), named)
				}
				if err := db.Exec(params, f.Insert(revisions)); err != nil {
					t.Fatal(err)
				}
			}
			if len(f.Kinds) == 0 {
				t.Error("is of no kind")
			}
		})
	}
}
