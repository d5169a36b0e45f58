package ingest

import (
	"context"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/query/together"
)

// knownTrackers finds the trackers that reports are of, by some sort of name. Those that were found are remembered
// until somebody writes them: while reports come in, however many, the store is asked each second which trackers were
// written. Those that were not found are looked for each time, since a new one reports at once. It is safe for
// concurrent use.
type knownTrackers[K comparable] struct {
	together *together.Reads[K, query.Tracker]
	changed  func(ctx context.Context, since time.Time) (map[query.TrackerName]uint64, error)
	now      func() time.Time

	mu       sync.Mutex // guards what follows
	found    *lru.Cache[K, knownTracker]
	writes   int       // how many this process made
	written  map[K]int // which of them was the last of a name
	lately   int       // looks that began before this write are not remembered, as it is not known what was written then
	used     time.Time // newest question
	watched  time.Time // all that was older than what was written until then is forgotten
	watching bool
}

type knownTracker struct {
	query.Tracker
	asked time.Time
}

const (
	lookUpNames = 1000            // that are asked of the store together
	lookUpTime  = 5 * time.Second // that the store may take for an answer
	mostWritten = 10_000          // of which it is known when they were written

	watchEvery  = time.Second
	watchIdle   = time.Minute      // without a question, after which nobody watches
	watchAgain  = 30 * time.Second // by which clocks of processes and their replicas of the store may differ
	rememberFor = 10 * time.Minute // most, as rows are seldom but sometimes written anew in their place
)

func newKnownTrackers[K comparable](now func() time.Time,
	changed func(ctx context.Context, since time.Time) (map[query.TrackerName]uint64, error),
	ask func(context.Context, []K) (map[K]query.Tracker, error)) *knownTrackers[K] {
	found, err := lru.New[K, knownTracker](OsmandRemember)
	if err != nil {
		panic(err) // for no such size
	}
	return &knownTrackers[K]{now: now, found: found, written: map[K]int{}, changed: changed,
		together: together.New(lookUpNames, ask)}
}

// find returns those of the names that are trackers in use.
func (k *knownTrackers[K]) find(ctx context.Context, names ...K) (map[K]query.Tracker, error) {
	all, unknown, asked := k.recall(ctx, names)
	if len(unknown) == 0 {
		return all, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookUpTime)
	defer cancel()
	found, err := k.together.Of(ctx, unknown...)
	if err != nil {
		return nil, err
	}
	for _, name := range unknown {
		if tracker, ok := found[name]; ok {
			all[name] = tracker
		}
	}
	k.remember(asked, unknown, all)
	return all, nil
}

// look is a moment at which the store is asked: after so many writes of this process.
type look struct {
	at     time.Time
	writes int
}

// recall returns what is remembered of the names, and those of which nothing is, with the moment they are asked at.
func (k *knownTrackers[K]) recall(ctx context.Context, names []K) (all map[K]query.Tracker, unknown []K, asked look) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	k.used = now
	if !k.watching {
		k.watching = true
		go k.watch(context.WithoutCancel(ctx))
	}
	all = make(map[K]query.Tracker, len(names))
	for _, name := range names {
		known, ok := k.found.Get(name)
		age := now.Sub(known.asked)
		if ok && (age < TrackerTime || age < rememberFor && now.Sub(k.watched) < TrackerTime) {
			all[name] = known.Tracker
		} else {
			unknown = append(unknown, name)
		}
	}
	return all, unknown, look{now, k.writes}
}

// remember keeps what was found of the names, and nothing of those that were not, or that were written since they were
// asked.
func (k *knownTrackers[K]) remember(asked look, names []K, found map[K]query.Tracker) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if asked.writes < k.lately {
		return
	}
	for _, name := range names {
		tracker, ok := found[name]
		switch {
		case k.written[name] > asked.writes:
		case ok:
			k.found.Add(name, knownTracker{tracker, asked.at})
		default:
			k.found.Remove(name)
		}
	}
}

// watch forgets what is written, while somebody asks. If the store does not answer, what is remembered ends in its
// time, and whoever asks then is told why.
func (k *knownTrackers[K]) watch(ctx context.Context) {
	for {
		since, began, over := k.toWatch()
		if over {
			return
		}
		asking, cancel := context.WithTimeout(ctx, lookUpTime)
		newest, err := k.changed(asking, since)
		cancel()
		if err == nil {
			k.forgetOlder(newest, began)
		}
		time.Sleep(watchEvery)
	}
}

// toWatch returns since when writes are to be looked for, and the time; or that nobody asks any more.
func (k *knownTrackers[K]) toWatch() (since, began time.Time, over bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	began = k.now()
	if began.Sub(k.used) > watchIdle {
		k.watching = false
		return since, began, true
	}
	since = k.watched
	if oldest := began.Add(-rememberFor); since.Before(oldest) {
		since = oldest // nothing that is older is remembered
	}
	return since.Add(-watchAgain), began, false
}

// forgetOlder has those looked up again of which there are newer revisions than are remembered, of all that were
// written until a time. What is remembered meanwhile of a look that began before is found by the next one.
func (k *knownTrackers[K]) forgetOlder(newest map[query.TrackerName]uint64, until time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.watched = until
	if len(newest) == 0 {
		return
	}
	for _, name := range k.found.Keys() {
		known, _ := k.found.Peek(name)
		if known.Revision < newest[query.TrackerName{Account: known.Account, ID: known.ID}] {
			k.found.Remove(name)
		}
	}
}

// forget has trackers looked up again.
func (k *knownTrackers[K]) forget(names ...K) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.writes++
	if len(k.written)+len(names) > mostWritten {
		k.lately = k.writes
		clear(k.written)
	}
	for _, name := range names {
		k.found.Remove(name)
		k.written[name] = k.writes
	}
}

// forgetWritten has a device looked up again that was written.
func (a *API) forgetWritten(_ context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.Device](w)
	if err != nil {
		return err
	}
	a.trackers.forget(query.TrackerName{Account: w.Account, ID: fleet.DeviceID(w.ID)})
	for _, body := range []*record.Device{before, after} {
		if body != nil {
			a.trackers.forget(query.TrackerName{Account: w.Account, UniqueID: body.UniqueID})
			a.phones.forget(body.UniqueID)
		}
	}
	return nil
}
