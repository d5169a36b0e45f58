package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/motorpool/fleet/query"
)

// trackersInUse is a store of which a test knows what it was asked.
type trackersInUse struct {
	sync.Mutex
	gone      map[int]bool
	away      bool
	questions int
}

func (s *trackersInUse) ask(_ context.Context, names []int) (map[int]query.Tracker, error) {
	s.Lock()
	defer s.Unlock()
	s.questions++
	if s.away {
		return nil, errors.New("the store is away")
	}
	found := map[int]query.Tracker{}
	for _, name := range names {
		if !s.gone[name] {
			found[name] = query.Tracker{UniqueID: fmt.Sprint(name)}
		}
	}
	return found, nil
}

func (s *trackersInUse) set(change func(*trackersInUse)) {
	s.Lock()
	defer s.Unlock()
	change(s)
}

// Two thousand trackers that report every half a second cost a few questions a second; one that is taken out of use is
// refused within TrackerTime; a store that is away for a moment stops nobody, and one that stays away is told of.
func TestTrackersThatReportAreLookedUpAgainTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &trackersInUse{gone: map[int]bool{}}
		k := newKnownTrackers(time.Now, store.ask)
		report := func(from, to int) (missing, failed int) {
			for name := from; name < to; name++ {
				switch found, err := k.find(t.Context(), name); {
				case err != nil:
					failed++
				case found[name].UniqueID == "":
					missing++
				}
			}
			time.Sleep(500 * time.Millisecond)
			synctest.Wait()
			return missing, failed
		}
		report(0, 2000)
		store.set(func(s *trackersInUse) { s.questions = 0 })
		for range 120 { // a minute
			if missing, failed := report(0, 2000); missing+failed > 0 {
				t.Fatalf("%d missing, %d failed", missing, failed)
			}
		}
		store.set(func(s *trackersInUse) {
			if s.questions > 60*2 || s.questions < 60/int(TrackerTime/time.Second)*2 {
				t.Errorf("%d questions in a minute", s.questions)
			}
			s.gone[7] = true
		})
		for range 2 * TrackerTime / time.Second {
			report(0, 2000)
		}
		if missing, _ := report(0, 20); missing != 1 {
			t.Errorf("%d are refused of one that is gone", missing)
		}
		store.set(func(s *trackersInUse) { s.away = true })
		if missing, failed := report(20, 2000); missing+failed > 0 {
			t.Errorf("%d missing, %d failed while the store is away for a moment", missing, failed)
		}
		for range 2 * TrackerTime / time.Second {
			report(20, 2000)
		}
		if _, failed := report(20, 2000); failed != 1980 {
			t.Errorf("%d fail after the store has long been away", failed)
		}
		store.set(func(s *trackersInUse) { s.away = false })
		if missing, failed := report(20, 2000); missing+failed > 0 {
			t.Errorf("%d missing, %d failed when the store is back", missing, failed)
		}
	})
}

// What was asked before a write is not remembered after it.
func TestATrackerThatWasWrittenIsLookedUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &trackersInUse{gone: map[int]bool{}}
		var k *knownTrackers[int]
		meanwhile := func() {}
		k = newKnownTrackers(time.Now, func(ctx context.Context, names []int) (map[int]query.Tracker, error) {
			found, err := store.ask(ctx, names)
			meanwhile()
			return found, err
		})
		withdraw := func() {
			store.set(func(s *trackersInUse) { s.gone[1] = true })
			k.forget(1)
		}
		meanwhile = withdraw
		if found, err := k.find(t.Context(), 1); err != nil || len(found) != 1 {
			t.Errorf("%v, %v", found, err)
		}
		meanwhile = func() {}
		if found, err := k.find(t.Context(), 1); err != nil || len(found) != 0 {
			t.Errorf("a tracker that was written while it was looked up: %v, %v", found, err)
		}
		store.set(func(s *trackersInUse) { s.gone[1] = false })
		if _, err := k.find(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		withdraw()
		if found, err := k.find(t.Context(), 1); err != nil || len(found) != 0 {
			t.Errorf("a tracker that was written: %v, %v", found, err)
		}
	})
}
