package follow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/consume"
)

// TestAnyOrderOfArrivalEndsAlike is what this package is for: whatever the order in which inputs come, in whatever
// batches, whenever the owner crashes and whatever was written by then, what is derived in the end is what deriving
// them in order gives.
func TestAnyOrderOfArrivalEndsAlike(t *testing.T) {
	seeds, hours := uint64(3), 10.0 // each order once, one of them with crashes; past midnight
	if os.Getenv("MOTORPOOL_SOAK") != "" {
		seeds, hours = 24, 14
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 1))
			// The second is not heard for twenty minutes of every eighty, and drives on.
			all := slices.DeleteFunc(recording(rng, 2, hours), func(in input) bool {
				return in.vehicle == 2 && in.At/1_200_000%4 == 0
			})
			end := fleet.Millis(0)
			for _, in := range all {
				end = max(end, in.At)
			}

			inOrder := newWorld(t)
			inOrder.packed = false
			byTime := slices.Clone(all)
			slices.SortStableFunc(byTime, func(a, b input) int { return cmp.Compare(a.At, b.At) })
			for part := range slices.Chunk(byTime, 1000) {
				inOrder.now = part[len(part)-1].At
				inOrder.handle(inOrder.store(rng, part))
			}
			inOrder.finish(end)
			want := inOrder.derived()

			w := newWorld(t)
			crashes := seed%2 == 1
			if crashes { // then what was saved last matters
				w.cfg.SaveEvery, w.cfg.IdleAfter = time.Duration(1+rng.IntN(8))*time.Hour, 24*time.Hour
				w.restart()
			}
			w.deliver(rng, all, int(seed%3), crashes)
			w.finish(end)
			if lines := differ(want, w.derived()); len(lines) > 0 {
				t.Fatalf("%d of %d differ:\n%s", len(lines), len(want), strings.Join(lines[:min(3, len(lines))], "\n"))
			}
			if len(want) < 20 {
				t.Fatalf("only %d things were derived: the recording is too dull", len(want))
			}
			if !strings.Contains(fmt.Sprint(want), `"arrived_ms"`) {
				t.Error("no stop of a route plan was reached: the recording is too dull")
			}
			w.checkEvents(want, !crashes)
			t.Logf("%d inputs, %d derived, %d events", len(all), len(want), len(w.events))
		})
	}
}

// deliver hands in inputs as they come: mode 0 has a fifth of them hours late, mode 1 newest first, mode 2 shuffled.
func (w *world) deliver(rng *rand.Rand, all []input, mode int, crashes bool) {
	w.t.Helper()
	all = slices.Clone(all)
	for i := range all {
		in := &all[i]
		switch {
		case mode == 0 && rng.IntN(5) == 0:
			in.heard = in.At + fleet.Millis(rng.IntN(6*3_600_000))
		case mode == 0:
			in.heard = in.At + fleet.Millis(rng.IntN(5000))
		case mode == 1:
			in.heard = morning + 48*3_600_000 - in.At/10 + morning/10
		default:
			in.heard = morning + fleet.Millis(rng.IntN(24*3_600_000))
		}
		if rng.IntN(20) == 0 {
			twice := *in
			twice.heard += fleet.Millis(rng.IntN(3_600_000))
			all = append(all, twice)
		}
	}
	slices.SortStableFunc(all, func(a, b input) int { return cmp.Compare(a.heard, b.heard) })
	for len(all) > 0 {
		n := min(len(all), 1+rng.IntN(300))
		part := all[:n]
		all = all[n:]
		w.now = max(w.now, part[n-1].heard) + 1000
		b := w.store(rng, part)
		w.delay(b, len(all) > 0)
		if crashes && rng.IntN(3) == 0 {
			w.trip(rng)
		}
		for tries := 0; ; tries++ {
			err := w.h.Handle(w.t.Context(), b)
			if err == nil {
				break
			}
			if tries > 3 {
				w.t.Fatal(err)
			}
			if rng.IntN(2) == 0 {
				w.restart()
			}
		}
		if crashes && rng.IntN(6) == 0 {
			w.restart()
		}
		for rng.IntN(3) > 0 {
			key, ok := w.h.nextRepair()
			if !ok {
				break
			}
			if crashes && rng.IntN(3) == 0 {
				w.trip(rng)
			}
			if err := w.h.repair(w.t.Context(), key); err != nil && rng.IntN(2) == 0 {
				w.restart()
			}
		}
		w.db.table, w.refuse = "", nil
		if rng.IntN(2) == 0 {
			w.tick()
		}
	}
}

// delay has some changes of a batch come twice, again without their inputs, or with a later batch, as those of several
// partitions do.
func (w *world) delay(b *consume.Batch, later bool) {
	w.t.Helper()
	held := w.held
	w.held = nil
	for _, r := range slices.Clone(b.Records) {
		var c fleet.Change
		if err := json.Unmarshal(r.Value, &c); err != nil {
			w.t.Fatal(err)
		}
		switch w.pack.IntN(12) {
		case 0:
			b.Records = append(b.Records, r)
		case 1:
			c.Inputs = nil
			w.held = append(w.held, c)
		case 2:
			if len(b.Records) > 1 && later {
				b.Records = slices.DeleteFunc(b.Records, func(o consume.Record) bool { return &o.Value[0] == &r.Value[0] })
				w.held = append(w.held, c)
			}
		}
	}
	for _, c := range held {
		b.Records = append(b.Records, w.record(c))
	}
	if !later {
		for _, c := range w.held {
			b.Records = append(b.Records, w.record(c))
		}
		w.held = nil
	}
}

// trip makes the next write of some sort fail.
func (w *world) trip(rng *rand.Rand) {
	tables := []string{"events", "derivations", "checkpoints", "dirty_spans"}
	if table := tables[rng.IntN(len(tables))]; table == "events" {
		w.refuse = errFlaky
	} else {
		w.db.table, w.db.after = table, rng.IntN(2) == 0
		w.db.torn = table == "derivations" && rng.IntN(2) == 0
	}
}

// checkEvents replays the stream of events: an alert is raised once, or once more after it was withdrawn, and (if
// nothing crashed) what the stream leaves is what is stored.
func (w *world) checkEvents(want map[string]string, replay bool) {
	w.t.Helper()
	seen := map[uint64]bool{}
	raised := map[uint64]int{}
	left := map[string]bool{}
	for _, e := range w.events {
		if seen[e.ID] {
			continue
		}
		seen[e.ID] = true
		switch e.Type {
		case fleet.EventAlertRaised:
			raised[e.Object]++
			if raised[e.Object] > 1 {
				w.t.Errorf("alert %d was raised again", e.Object)
			}
		case fleet.EventAlertWithdrawn:
			raised[e.Object]--
		}
		name := fmt.Sprintf("%d %s %d", e.Vehicle, e.Kind, e.Object)
		if strings.HasSuffix(e.Type, ".deleted") || e.Type == fleet.EventAlertWithdrawn {
			delete(left, name)
		} else {
			left[name] = true
		}
	}
	if !replay {
		return
	}
	for name := range want {
		if !left[name] && !strings.Contains(name, " jump ") { // of which nothing is told
			w.t.Errorf("the stream of events does not have %s", name)
		}
	}
	for name := range left {
		if want[name] == "" {
			w.t.Errorf("the stream of events still has %s", name)
		}
	}
}
