package record

import (
	"testing"

	"github.com/motorpool/fleet/schemas"
)

// A revision has what every feed fills.
func TestARevisionHasWhatFeedsFill(t *testing.T) {
	r := revision{account: 1, kind: "k", id: 2, number: 3, actor: "a", body: "{}"}
	for _, f := range schemas.Feeds() {
		for _, column := range f.Columns {
			_ = r.value(column) // it panics at what it does not know
		}
	}
	if r.value("id") != uint64(2) || r.value("revision") != uint64(3) || r.value("kind") != "k" {
		t.Error("columns have values of others")
	}
}
