//go:build long

package follow

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Whatever the order in which fixes come, in whatever batches, whoever is killed between what and what, the
// alerts end alike.
func TestAlertsAboutPairsEndAlikeInAnyOrder(t *testing.T) {
	want := []string(nil)
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 9))
		w := pairWorld(t)
		all := dayOfPairs()
		if seed > 0 {
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		}
		if seed == 2 {
			slices.SortStableFunc(all, func(a, b input) int { return int(b.At - a.At) })
		}
		w.look()
		for len(all) > 0 {
			n := min(len(all), 1+rng.IntN(150))
			w.arrive(all[:n])
			all = all[n:]
			if seed == 3 { // the server dies at any of its inserts, before or after
				w.db.table, w.db.after = []string{"derivations", "pair_marks", "pair_watches"}[rng.IntN(3)], rng.IntN(2) == 0
				if w.f.lookAtPairs(t.Context()) != nil {
					w.restart()
				}
				w.db.table = ""
			} else if rng.IntN(2) == 0 {
				w.look()
			}
		}
		w.repair()
		w.now += 2 * pairAgain
		w.look()
		if n := w.count("(SELECT count() FROM pair_marks FINAL WHERE NOT done)"); n != 0 {
			t.Errorf("order %d: %d marks are left", seed, n)
		}
		if got := w.pairAlertsNow(); seed == 0 {
			want = got
		} else if !slices.Equal(got, want) {
			t.Errorf("order %d:\n%s\ninstead of\n%s", seed, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if len(want) != 3 {
		t.Errorf("%d alerts", len(want))
	}
}
