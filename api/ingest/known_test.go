package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
)

// trackersInUse is a store of which a test knows what it was asked.
type trackersInUse struct {
	sync.Mutex
	gone      map[int]bool
	written   map[int]time.Time
	revisions map[int]uint64
	away      bool
	questions int
	asked     map[int]int // how often each was
	looks     int         // for what was written
}

func newTrackersInUse() *trackersInUse {
	return &trackersInUse{gone: map[int]bool{}, asked: map[int]int{}, written: map[int]time.Time{},
		revisions: map[int]uint64{}}
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
		s.asked[name]++
		if !s.gone[name] {
			found[name] = query.Tracker{Account: 1, ID: fleet.DeviceID(name), Revision: 1 + s.revisions[name],
				UniqueID: fmt.Sprint(name)}
		}
	}
	return found, nil
}

func (s *trackersInUse) changed(_ context.Context, since time.Time) (map[query.TrackerName]uint64, error) {
	s.Lock()
	defer s.Unlock()
	s.looks++
	if s.away {
		return nil, errors.New("the store is away")
	}
	newest := map[query.TrackerName]uint64{}
	for name, at := range s.written {
		if !at.Before(since) {
			newest[query.TrackerName{Account: 1, ID: fleet.DeviceID(name)}] = 1 + s.revisions[name]
		}
	}
	return newest, nil
}

// takeOut takes a tracker out of use, as another process does.
func (s *trackersInUse) takeOut(name int) {
	s.write(name)
	s.set(func(s *trackersInUse) { s.gone[name] = true })
}

// write makes a new revision of a tracker, as another process does.
func (s *trackersInUse) write(name int) {
	s.set(func(s *trackersInUse) { s.revisions[name], s.written[name] = s.revisions[name]+1, time.Now() })
}

func (s *trackersInUse) set(change func(*trackersInUse)) {
	s.Lock()
	defer s.Unlock()
	change(s)
}

// Two thousand trackers that report every ten seconds are looked up once, and the store is asked each second what was
// written; one that another process takes out of use is refused within TrackerTime; a store that is away for a moment
// stops nobody, and one that stays away is told of. Nobody watches where nobody reports.
func TestTrackersThatReportAreRememberedUntilTheyAreWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newTrackersInUse()
		k := newKnownTrackers(time.Now, store.changed, store.ask)
		report := func(from, to int) (missing, failed int) {
			for name := from; name < to; name++ {
				switch found, err := k.find(t.Context(), name); {
				case err != nil:
					failed++
				case found[name].UniqueID == "":
					missing++
				}
			}
			return missing, failed
		}
		for name := range 2000 { // which have just been made
			store.write(name)
		}
		report(0, 2000)
		store.set(func(s *trackersInUse) { s.questions, s.looks = 0, 0 })
		for range 6 { // a minute
			time.Sleep(10 * time.Second)
			if missing, failed := report(0, 2000); missing+failed > 0 {
				t.Fatalf("%d missing, %d failed", missing, failed)
			}
		}
		store.set(func(s *trackersInUse) {
			if s.questions > 0 || s.looks < 59 || s.looks > 61 {
				t.Errorf("%d questions and %d looks in a minute", s.questions, s.looks)
			}
		})
		store.write(6)
		time.Sleep(TrackerTime)
		report(0, 2000)
		store.set(func(s *trackersInUse) {
			if s.questions != 1 {
				t.Errorf("%d questions after one of them was written", s.questions)
			}
		})
		store.takeOut(7)
		time.Sleep(TrackerTime)
		if missing, _ := report(0, 20); missing != 1 {
			t.Errorf("%d are refused of one that is gone", missing)
		}
		time.Sleep(2 * watchAgain)
		report(0, 2000)
		store.set(func(s *trackersInUse) { s.away = true })
		time.Sleep(2 * time.Second)
		if missing, failed := report(20, 2000); missing+failed > 0 {
			t.Errorf("%d missing, %d failed while the store is away for a moment", missing, failed)
		}
		time.Sleep(TrackerTime)
		if _, failed := report(20, 2000); failed != 1980 {
			t.Errorf("%d fail after the store has long been away", failed)
		}
		store.set(func(s *trackersInUse) { s.away = false })
		if missing, failed := report(20, 2000); missing+failed > 0 {
			t.Errorf("%d missing, %d failed when the store is back", missing, failed)
		}
		time.Sleep(watchIdle + 2*watchEvery)
		store.set(func(s *trackersInUse) { s.looks = 0 })
		time.Sleep(time.Hour)
		store.set(func(s *trackersInUse) {
			if s.looks > 0 {
				t.Errorf("%d looks while nobody reports", s.looks)
			}
		})
		store.takeOut(8)
		if missing, failed := report(0, 20); missing != 2 || failed > 0 {
			t.Errorf("after an hour %d missing, %d failed", missing, failed)
		}
		time.Sleep(watchIdle + 2*watchEvery) // the watch ends within the test
	})
}

// What was asked before a write is not remembered after it.
func TestATrackerThatWasWrittenIsLookedUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newTrackersInUse()
		var k *knownTrackers[int]
		meanwhile := func() {}
		k = newKnownTrackers(time.Now, store.changed, func(ctx context.Context, names []int) (map[int]query.Tracker, error) {
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
		time.Sleep(watchIdle + 2*watchEvery)
	})
}

// Where many are written, those who are looked up meanwhile are remembered all the same: only what is written is looked
// up again.
func TestWhoeverIsWrittenKeepsNoOtherFromBeingRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newTrackersInUse()
		var k *knownTrackers[int]
		k = newKnownTrackers(time.Now, store.changed, func(ctx context.Context, names []int) (map[int]query.Tracker, error) {
			found, err := store.ask(ctx, names)
			k.forget(2)
			return found, err
		})
		for range 3 {
			if found, err := k.find(t.Context(), 1, 2); err != nil || len(found) != 2 {
				t.Errorf("%v, %v", found, err)
			}
		}
		store.set(func(s *trackersInUse) {
			if s.questions != 3 || s.asked[1] != 1 || s.asked[2] != 3 {
				t.Errorf("%d questions, of which %v", s.questions, s.asked)
			}
		})
		// So many may be written that it is not known any more which: then none of those is remembered.
		many := make([]int, 2*mostWritten)
		for i := range many {
			many[i] = 10 + i
		}
		_, _, began := k.recall(t.Context(), []int{3})
		k.forget(3)
		k.forget(many...)
		k.remember(began, []int{3}, map[int]query.Tracker{3: {}})
		if all, _, _ := k.recall(t.Context(), []int{3}); len(all) != 0 {
			t.Errorf("%v is remembered, which was written since", all)
		}
		time.Sleep(watchIdle + 2*watchEvery)
	})
}
