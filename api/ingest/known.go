package ingest

import (
	"context"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// knownTrackers finds the trackers of accounts that reports are of. Those that were found are remembered for
// TrackerTime, unless this process writes of them; those that were not are looked for each time, since a new one
// reports at once.
type knownTrackers struct {
	together together[query.TrackerName, query.Tracker]
	now      func() time.Time
	found    *lru.Cache[query.TrackerName, knownTracker]
	forgot   atomic.Int64 // grows when something is forgotten: what was asked before may be older
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

func newKnownTrackers(a *API) *knownTrackers {
	k := &knownTrackers{now: a.Now, together: together[query.TrackerName, query.Tracker]{
		atOnce: lookUpsAtOnce, most: lookUpNames,
		ask: func(ctx context.Context, names []query.TrackerName) (map[query.TrackerName]query.Tracker, error) {
			return query.FindTrackers(ctx, a.DB, names...)
		},
	}}
	var err error
	if k.found, err = lru.New[query.TrackerName, knownTracker](OsmandRemember); err != nil {
		panic(err) // for no such size
	}
	a.desk.Store.Beside(record.Devices.Name, "intake looks again", k.forget)
	return k
}

// find returns those of the names that are an account's trackers in use.
func (k *knownTrackers) find(ctx context.Context,
	names []query.TrackerName) (map[query.TrackerName]query.Tracker, error) {
	now, forgot := k.now(), k.forgot.Load()
	all := make(map[query.TrackerName]query.Tracker, len(names))
	var unknown []query.TrackerName
	for _, name := range names {
		if known, ok := k.found.Get(name); ok && now.Before(known.until) {
			all[name] = known.Tracker
		} else {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return all, nil
	}
	found, err := k.together.find(ctx, unknown...)
	if err != nil {
		return nil, err
	}
	for _, name := range unknown {
		tracker, ok := found[name]
		if !ok {
			continue
		}
		all[name] = tracker
		if k.forgot.Load() == forgot {
			k.found.Add(name, knownTracker{tracker, now.Add(TrackerTime)})
		}
	}
	return all, nil
}

// forget has a device looked up again that was written.
func (k *knownTrackers) forget(_ context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.Device](w)
	if err != nil {
		return err
	}
	k.forgot.Add(1)
	k.found.Remove(query.TrackerName{Account: w.Account, ID: fleet.DeviceID(w.ID)})
	for _, body := range []*record.Device{before, after} {
		if body != nil {
			k.found.Remove(query.TrackerName{Account: w.Account, UniqueID: body.UniqueID})
		}
	}
	return nil
}
