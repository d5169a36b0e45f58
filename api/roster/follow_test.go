package roster

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

// follower notes what it is told.
type follower struct {
	accounts []uint64
	quiet    bool
	told     []query.Came
	began    time.Time
	lost     int
}

func (f *follower) Wanted() ([]uint64, []string, bool) {
	return f.accounts, []string{"calendar"}, !f.quiet
}

func (f *follower) Told(_ []uint64, began time.Time, came []query.Came) {
	f.told, f.began = append(f.told, came...), began
}

func (f *follower) Lost() { f.lost++ }

// A follower is told what has come to the log of its accounts and kinds, whatever tables know and whatever times the
// revisions bear, also what came while it did not ask; and that all it knows may be other once something was written
// over.
func TestAFollowerIsToldWhatComesToTheLog(t *testing.T) {
	db := schematest.Open(t)
	r := open(t, db)
	f := &follower{accounts: []uint64{7}}
	r.Follow(f)
	insert := func(account, id, revision uint64, kind string) {
		t.Helper()
		if err := db.Exec(t.Context(), fmt.Sprintf(`INSERT INTO record_log (account, kind, id, revision, write_id, action,
			at, created_at, actor, request_id, body) SELECT %d, '%s', %d, %d, rand64(), 'update',
			now64(3) - INTERVAL %d YEAR, now64(3), '', '', '{}'`, account, kind, id, revision, id)); err != nil {
			t.Fatal(err)
		}
	}
	look := func(want ...query.Came) {
		t.Helper()
		r.following.began -= int64(tellEvery)
		before, lost := time.Now(), f.lost
		f.told = nil
		if err := r.lookAt(t.Context(), r.clock()); err != nil {
			t.Fatal(err)
		}
		for _, one := range want {
			if !slices.Contains(f.told, one) {
				t.Errorf("%+v was not told, but %+v", one, f.told)
			}
		}
		if !f.quiet && f.lost == lost && f.began.Before(before) {
			t.Errorf("a look that began %s ago tells what stands now", time.Since(f.began))
		}
	}
	insert(7, 1, 1, "calendar")
	look() // from here on
	if f.lost != 1 {
		t.Errorf("what was known before any look is lost %d times", f.lost)
	}
	insert(7, 1, 2, "calendar")
	insert(7, 3, 9, "calendar")
	insert(8, 1, 3, "calendar")
	insert(7, 4, 3, "vehicle")
	look(query.Came{Account: 7, Kind: "calendar", ID: 1, Revision: 2},
		query.Came{Account: 7, Kind: "calendar", ID: 3, Revision: 9})
	if len(f.told) != 2 {
		t.Errorf("it was told of others: %+v", f.told)
	}
	f.quiet = true
	insert(7, 1, 3, "calendar")
	look()
	if len(f.told) != 0 {
		t.Errorf("nobody asked, and it was told %+v", f.told)
	}
	f.quiet = false
	insert(7, 5, 1, "calendar")
	look(query.Came{Account: 7, Kind: "calendar", ID: 1, Revision: 3},
		query.Came{Account: 7, Kind: "calendar", ID: 5, Revision: 1})
	if err := db.Exec(t.Context(),
		"ALTER TABLE record_log UPDATE body = '{\"erased\":true}' WHERE id = 3 SETTINGS mutations_sync = 1"); err != nil {
		t.Fatal(err)
	}
	look()
	if f.lost != 2 {
		t.Errorf("what was written over was lost %d times", f.lost-1)
	}
}
