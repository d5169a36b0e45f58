package record_test

import (
	"strings"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// A store that wrote a record a moment ago, and another one since: its next write is upon what stands, a refusal is by
// what stands, and a wrong expectation is told with the revision that stands.
func TestAWriteUponWhatWasWrittenLatelyIsUponWhatStands(t *testing.T) {
	a, b, _ := twoStores(t)
	ctx, mine, other := t.Context(), record.NewLog(a, record.Vehicles), record.NewLog(b, record.Vehicles)
	set := func(text string) func(*record.Record[record.Vehicle]) error {
		return func(r *record.Record[record.Vehicle]) error { r.Body.Model += text; return nil }
	}
	was := vehicle("")
	was.Model = "a"
	rec, err := mine.New(ctx, by, account, was)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range []*record.Log[record.Vehicle]{other, mine, mine, other, mine} {
		got, err := l.Update(ctx, by, account, rec.ID, 0, set("b"))
		if want := "a" + strings.Repeat("b", i+1); err != nil || got.Revision != uint64(i+2) || got.Body.Model != want {
			t.Fatalf("write %d: %v %q, %v", i, got.Revision, got.Body.Model, err)
		}
	}
	if _, err := other.Update(ctx, by, account, rec.ID, 6, set("c")); err != nil {
		t.Fatal(err)
	}
	if _, err := mine.Update(ctx, by, account, rec.ID, 6, set("d")); fleet.CodeOf(err) != fleet.CodeStale ||
		!strings.Contains(err.Error(), "revision 7") {
		t.Errorf("upon 6, when 7 stands: %v", err)
	}
	seen := ""
	refuse := func(r *record.Record[record.Vehicle]) error {
		seen = r.Body.Model
		return fleet.NewError(fleet.CodeConflict, "no")
	}
	if _, err := mine.Update(ctx, by, account, rec.ID, 0, refuse); fleet.CodeOf(err) != fleet.CodeConflict ||
		!strings.HasSuffix(seen, "c") {
		t.Errorf("refused by %q: %v", seen, err)
	}
	if _, err := other.Archive(ctx, by, account, rec.ID, 0, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := mine.Update(ctx, by, account, rec.ID, 0, set("e")); fleet.CodeOf(err) != fleet.CodeConflict {
		t.Errorf("a write of what another store archived: %v", err)
	}
	auditIsClean(t, a)
}
