package ingest

import (
	"context"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// knownTrackers finds the trackers that reports are of, by some sort of name. Those that were found are remembered for
// TrackerTime, unless this process writes of them; those that were not are looked for each time, since a new one
// reports at once. Those that report all the time are looked up again before they are too old, many in one question, so
// that the store is asked a few times a second however many report. It is safe for concurrent use.
type knownTrackers[K comparable] struct {
	together together[K, query.Tracker]
	now      func() time.Time

	mu       sync.Mutex // guards what follows
	found    *lru.Cache[K, knownTracker]
	forgot   int // grows when something is forgotten: what was asked before may be older
	aging    map[K]struct{}
	renewing bool
}

type knownTracker struct {
	query.Tracker
	until time.Time
}

// Bounds of what is asked of the store together.
const (
	lookUpsAtOnce = 4
	lookUpNames   = 1000
)

// renewEvery is how long those that get old are gathered before they are looked up again.
const renewEvery = 200 * time.Millisecond

func newKnownTrackers[K comparable](now func() time.Time,
	ask func(context.Context, []K) (map[K]query.Tracker, error)) *knownTrackers[K] {
	found, err := lru.New[K, knownTracker](OsmandRemember)
	if err != nil {
		panic(err) // for no such size
	}
	return &knownTrackers[K]{now: now, found: found, aging: map[K]struct{}{},
		together: together[K, query.Tracker]{atOnce: lookUpsAtOnce, most: lookUpNames, ask: ask}}
}

// find returns those of the names that are trackers in use.
func (k *knownTrackers[K]) find(ctx context.Context, names ...K) (map[K]query.Tracker, error) {
	all, unknown, asked := k.recall(ctx, names)
	if len(unknown) == 0 {
		return all, nil
	}
	found, err := k.together.find(ctx, unknown...)
	if err != nil {
		return nil, err
	}
	k.remember(asked, unknown, found)
	for _, name := range unknown {
		if tracker, ok := found[name]; ok {
			all[name] = tracker
		}
	}
	return all, nil
}

// look is a moment at which the store is asked.
type look struct {
	at     time.Time
	forgot int
}

// recall returns what is remembered of the names, and those of which nothing is, with the moment they are asked at.
func (k *knownTrackers[K]) recall(ctx context.Context, names []K) (all map[K]query.Tracker, unknown []K, asked look) {
	k.mu.Lock()
	defer k.mu.Unlock()
	asked = look{k.now(), k.forgot}
	all = make(map[K]query.Tracker, len(names))
	for _, name := range names {
		known, ok := k.found.Get(name)
		if !ok || !asked.at.Before(known.until) {
			unknown = append(unknown, name)
			continue
		}
		all[name] = known.Tracker
		if asked.at.Add(TrackerTime / 2).After(known.until) {
			k.aging[name] = struct{}{}
		}
	}
	if len(k.aging) > 0 && !k.renewing {
		k.renewing = true
		go k.renew(context.WithoutCancel(ctx))
	}
	return all, unknown, asked
}

// remember keeps what was found of the names, and nothing of those that were not, unless something was forgotten since
// they were asked.
func (k *knownTrackers[K]) remember(asked look, names []K, found map[K]query.Tracker) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if asked.forgot != k.forgot {
		return
	}
	for _, name := range names {
		if tracker, ok := found[name]; ok {
			k.found.Add(name, knownTracker{tracker, asked.at.Add(TrackerTime)})
		} else {
			k.found.Remove(name)
		}
	}
}

// renew looks up again what gets old, until nothing does. If the store does not answer, what is remembered ends in its
// time, and whoever asks then is told why.
func (k *knownTrackers[K]) renew(ctx context.Context) {
	for {
		time.Sleep(renewEvery)
		names, asked := k.takeAging()
		if len(names) == 0 {
			return
		}
		for some := range slices.Chunk(names, lookUpNames) {
			if found, err := k.together.find(ctx, some...); err == nil {
				k.remember(asked, some, found)
			}
		}
	}
}

// takeAging returns what is to be looked up again; nothing, if this is over.
func (k *knownTrackers[K]) takeAging() (names []K, asked look) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for name := range k.aging {
		names = append(names, name)
	}
	clear(k.aging)
	k.renewing = len(names) > 0
	return names, look{k.now(), k.forgot}
}

// forget has trackers looked up again.
func (k *knownTrackers[K]) forget(names ...K) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forgot++
	for _, name := range names {
		k.found.Remove(name)
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
