package bi_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/motorpool/fleet/schemas"
)

var update = flag.Bool("update", false, "write the list of views in docs/bi/README.md anew")

const (
	docs    = "../../docs/bi/README.md"
	docMark = "-run TestTheViewsAreDocumented -update`.\n"
)

// The page has every view and column with what the database says of them, and nothing lacks a word.
func TestTheViewsAreDocumented(t *testing.T) {
	s := open(t)
	var list strings.Builder
	for _, v := range schemas.Surface() {
		fmt.Fprintf(&list, "\n### %s\n\n%s\n\n| column | type | what |\n| --- | --- | --- |\n", v.Name, v.About)
		var comment string
		if err := s.db.QueryRow(t.Context(), "SELECT comment FROM system.tables WHERE database = 'bi' AND name = '"+v.Name+
			"'").Scan(&comment); err != nil || comment != v.About {
			t.Errorf("%s: the comment is %q, %v", v.Name, comment, err)
		}
		rows, err := s.db.Query(t.Context(),
			"SELECT name, type, comment FROM system.columns WHERE database = 'bi' AND table = '"+v.Name+"' ORDER BY position")
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var name, kind, about string
			if err := rows.Scan(&name, &kind, &about); err != nil {
				t.Fatal(err)
			}
			if about == "" {
				t.Errorf("%s.%s has no comment", v.Name, name)
			}
			fmt.Fprintf(&list, "| `%s` | %s | %s |\n", name, kind, about)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	head, _, found := strings.Cut(string(page), docMark)
	if !found {
		t.Fatalf("%s has no place for the views", docs)
	}
	want := head + docMark + list.String()
	if *update {
		if err := os.WriteFile(docs, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(page) != want {
		t.Errorf("%s is not as the views are: run this test with -update", docs)
	}
}
