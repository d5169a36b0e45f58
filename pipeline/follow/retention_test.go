package follow

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/schemas"
)

// A vehicle drives over a midnight, before which everything is deleted a month later. Deriving again what came after,
// whatever reaches behind that midnight, leaves the trip that was under way and all that came later as it was: from the
// checkpoint before it, and also without one.
func TestARepairOverTheRetentionLeavesWhatStraddlesIt(t *testing.T) {
	t.Parallel()
	for _, without := range []bool{false, true} {
		t.Run(fmt.Sprintf("without a checkpoint %t", without), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.packed = false
			midnight := fleet.MillisOf(time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC))
			var rng *rand.Rand
			var all []input
			for seed := uint64(1); !driving(all, midnight); seed++ {
				rng = rand.New(rand.NewPCG(21, seed))
				all = recording(rng, 1, 20)
			}
			end := all[len(all)-1].At
			w.now = end
			w.handle(w.store(rng, all))
			w.repair()
			w.now = end + 2*3_600_000
			w.tick()
			instant := fmt.Sprintf("fromUnixTimestamp64Milli(toInt64(%d))", midnight)
			if w.count("(SELECT count() FROM trips FINAL WHERE NOT open AND start_at < "+instant+" AND end_at >= "+instant+")") != 1 {
				t.Fatal("no trip straddles the midnight")
			}
			before := w.after(midnight)

			accounts := "INSERT INTO accounts (account, id, revision, retention_days) VALUES (7, 7, 1, 30)"
			if err := w.db.Exec(t.Context(), accounts); err != nil {
				t.Fatal(err)
			}
			today := midnight.Time().AddDate(0, 0, 30).Add(time.Hour)
			if err := schemas.Retain(t.Context(), w.db.Conn, today); err != nil {
				t.Fatal(err)
			}
			if w.count("(SELECT count() FROM positions WHERE fix_time < "+instant+")") != 0 ||
				w.count("(SELECT count() FROM checkpoints WHERE at < "+instant+")") != 1 {
				t.Fatal("nothing was deleted, or the checkpoint that is needed")
			}
			if without { // as after a release that cannot read it
				if err := w.db.Exec(t.Context(), "TRUNCATE TABLE checkpoints"); err != nil {
					t.Fatal(err)
				}
			}
			w.restart()
			told := len(w.events)
			if !without {
				w.handle(w.store(rng, all[:3])) // late fixes of before the limit
				w.repair()
			}
			w.offset++
			w.handle(&consume.Batch{Topic: "changes", First: w.offset, Last: w.offset, Records: []consume.Record{
				w.record(fleet.Change{Account: account, Vehicle: 1, From: 0, To: end, Job: 77}),
			}})
			w.repair()
			w.tick()
			w.repair()
			if w.count("(SELECT count() FROM dirty_spans FINAL WHERE from_at IS NOT NULL)") != 0 ||
				w.count("(SELECT uniqExact(step) FROM job_steps)") != 1 {
				t.Error("the repair is not done")
			}
			got := w.after(midnight)
			if without { // what was recognised by what is gone may have gone too, but for trips
				notTrip := func(name, _ string) bool { return !strings.Contains(name, " trip ") }
				maps.DeleteFunc(before, notTrip)
				maps.DeleteFunc(got, notTrip)
				told = len(w.events)
			}
			if lines := differ(before, got); len(lines) > 0 || len(w.events) != told {
				some := strings.Join(lines[:min(5, len(lines))], "\n")
				t.Errorf("%d differ and %d events were told:\n%s", len(lines), len(w.events)-told, some)
			}
		})
	}
}

// driving says whether a drive goes on at a time.
func driving(all []input, at fleet.Millis) bool {
	i := slices.IndexFunc(all, func(in input) bool { return in.At >= at })
	if i < 12 || i+12 > len(all) || all[i+11].At-all[i-12].At > 20*60_000 {
		return false
	}
	return !slices.ContainsFunc(all[i-12:i+12], func(in input) bool {
		return in.Position != nil && in.Position.Speed == 0
	})
}

// after is what holds of what goes on or ended after a time.
func (w *world) after(at fleet.Millis) map[string]string {
	w.t.Helper()
	var ended []string
	row := w.db.Conn.QueryRow(w.t.Context(), `SELECT groupArray(concat(toString(vehicle), ' ', kind, ' ', toString(id)))
		FROM derivations FINAL WHERE NOT deleted AND (open OR end_at >= fromUnixTimestamp64Milli($1))`, int64(at))
	if err := row.Scan(&ended); err != nil {
		w.t.Fatal(err)
	}
	all := w.derived()
	maps.DeleteFunc(all, func(name, _ string) bool { return !slices.Contains(ended, name) })
	return all
}
