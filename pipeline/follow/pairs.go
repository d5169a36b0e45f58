package follow

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/query/pair"
)

// Rules of the kind proximity are about two vehicles, whose owners know nothing of each other. The owner of partition 0
// looks after all of them. Which pairs a version of a rule is about, and since when, is a watch; it is stored, so that
// tags that change later do not change what was. An owner notes before it commits a change that the fixes of a vehicle
// are others from a time on: a mark. The look at a mark solves the pairs of its vehicle from there on, by what is
// stored, and holds that against the alerts that are stored. It takes no clock and keeps nothing: killed anywhere, the
// next look comes to the same.

// watch is a pair that a version of a rule is about during [from, until); until 0 means until further notice.
type watch struct {
	account     fleet.AccountID
	rule        fleet.RuleID
	revision    uint64
	pair        [2]fleet.VehicleID // The two vehicles, the lower id first.
	from, until fleet.Millis
}

// mark tells that the fixes of a vehicle are others from a time on.
type mark struct {
	key       fleet.VehicleKey
	number    uint64
	from      fleet.Millis
	lookUntil fleet.Millis // By our clock, the mark is looked at again until then, each time.
	done      bool
}

const (
	// pairEvery is the pause between two looks.
	pairEvery = 2 * time.Second
	// pairAgain is for how long a mark is looked at again that is there before what it tells of: flags that are about to
	// be written, and fixes that owners handle who have not heard of a rule yet.
	pairAgain = fleet.Millis(60_000)
)

// runPairs looks at pairs until the context ends.
func (f *Follower) runPairs(ctx context.Context) {
	ticker := time.NewTicker(pairEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := f.lookAtPairs(ctx); err != nil && ctx.Err() == nil {
			f.deps.Log.Error("looking at pairs of vehicles failed and is tried again", "error", err)
		}
	}
}

// markPairs notes that fixes of vehicles came, those of them that a rule may be about with another.
func (f *Follower) markPairs(ctx context.Context, changes []*change) error {
	var marks []mark
	for _, c := range changes {
		if c.to != 0 && f.paired(c.key) {
			marks = append(marks, mark{key: c.key, number: rand.Uint64(), from: c.from})
		}
	}
	return f.writeMarks(ctx, marks)
}

// markJudged notes that positions are about to be flagged otherwise.
func (f *Follower) markJudged(ctx context.Context, judged []judgedRow) error {
	first := map[fleet.VehicleKey]fleet.Millis{}
	for _, j := range judged {
		first[j.key] = earlier(first[j.key], j.At)
	}
	var marks []mark
	for key, from := range first {
		if f.paired(key) {
			marks = append(marks,
				mark{key: key, number: rand.Uint64(), from: from, lookUntil: fleet.MillisOf(f.deps.Now()) + pairAgain})
		}
	}
	return f.writeMarks(ctx, marks)
}

// paired says whether a rule is, or was, about pairs that a vehicle may be of.
func (f *Follower) paired(key fleet.VehicleKey) bool {
	c := f.policy(key.Account)
	for i := range c.pairRules {
		if c.pairRules[i].Scope.Holds(key.Vehicle, c.policy.TraitsOf(key.Vehicle).Tags) {
			return true
		}
	}
	return false
}

// pairRules returns the versions of the rules about pairs.
func pairRules(all []fleet.Rule) []fleet.Rule {
	var rules []fleet.Rule
	for i := range all {
		if all[i].Kind == fleet.AlertProximity {
			rules = append(rules, all[i])
		}
	}
	return rules
}

// lookAtPairs brings the alerts about pairs up to what is stored.
func (f *Follower) lookAtPairs(ctx context.Context) error {
	if err := f.deps.Policies.RefreshNow(ctx); err != nil {
		return err
	}
	watches, err := f.watches(ctx)
	if err != nil {
		return err
	}
	if watches, err = f.syncWatches(ctx, watches); err != nil || len(watches) == 0 {
		return err
	}
	marks, err := f.marks(ctx)
	if err != nil || len(marks) == 0 {
		return err
	}
	now := fleet.MillisOf(f.deps.Now())
	var past []mark
	changed := map[fleet.VehicleKey]fleet.Millis{}
	for _, m := range marks {
		changed[m.key] = earlier(changed[m.key], max(m.from, 1))
		if m.done = true; m.lookUntil <= now {
			past = append(past, m)
		}
	}
	for key, from := range changed {
		before, err := f.fixBefore(ctx, key, from)
		if err != nil {
			return err
		}
		changed[key] = earlier(from, before)
	}
	for i := range watches {
		w := &watches[i]
		from := earlier(changed[w.key(0)], changed[w.key(1)])
		if from == 0 || w.until != 0 && from > w.until {
			continue
		}
		if err := f.lookAt(ctx, w, from); err != nil {
			return fmt.Errorf("look at %s and %s for %s: %w", w.pair[0], w.pair[1], w.rule, err)
		}
	}
	return f.writeMarks(ctx, past)
}

func (w *watch) key(i int) fleet.VehicleKey {
	return fleet.VehicleKey{Account: w.account, Vehicle: w.pair[i]}
}

// syncWatches brings the watches up to the rules and tags of now, and returns all of them. A pair that begins or ends
// is marked first.
func (f *Follower) syncWatches(ctx context.Context, stored []watch) ([]watch, error) {
	accounts, err := f.pairAccounts(ctx)
	if err != nil {
		return nil, err
	}
	for i := range stored {
		accounts[stored[i].account] = true
	}
	now := fleet.MillisOf(f.deps.Now())
	var news []watch
	wanted := map[watch]fleet.Millis{} // with neither from nor until: from when
	for account := range accounts {
		p := f.policy(account)
		for i := range p.pairRules {
			if r := &p.pairRules[i]; r.From <= now && (r.To == 0 || r.To > now) {
				for _, w := range pairsOf(p.policy, r) {
					wanted[w] = max(r.From, 1)
				}
			}
		}
	}
	seenVersions := map[watch]bool{} // versions, with nothing else
	for i := range stored {
		w := &stored[i]
		seenVersions[watch{account: w.account, rule: w.rule, revision: w.revision}] = true
		name := watch{account: w.account, rule: w.rule, revision: w.revision, pair: w.pair}
		_, on := wanted[name]
		if w.until != 0 {
			continue
		}
		if delete(wanted, name); !on {
			w.until = now
			if r := f.pairRule(w); r != nil && r.To != 0 {
				w.until = min(r.To, now)
			}
			w.until = max(w.until, w.from)
			news = append(news, *w)
		}
	}
	for name, from := range wanted {
		w := name
		if w.from = from; seenVersions[watch{account: w.account, rule: w.rule, revision: w.revision}] {
			w.from = now // by a tag that a vehicle was given
		}
		news, stored = append(news, w), append(stored, w)
	}
	marks := make([]mark, len(news))
	for i := range news {
		marks[i] = mark{key: news[i].key(0), number: rand.Uint64(), from: cmp.Or(news[i].until, news[i].from),
			lookUntil: now + pairAgain}
	}
	if err := f.writeMarks(ctx, marks); err != nil {
		return nil, err
	}
	return stored, f.writeWatches(ctx, news)
}

// pairsOf returns the pairs that a rule is about now.
func pairsOf(p *fleet.Policy, r *fleet.Rule) (all []watch) {
	var vehicles []fleet.VehicleID
	for id, traits := range p.Vehicles {
		if traits.Archived == 0 && r.Scope.Holds(id, traits.Tags) {
			vehicles = append(vehicles, id)
		}
	}
	slices.Sort(vehicles)
	vehicles = vehicles[:min(len(vehicles), fleet.MaxPairVehicles)]
	for i, first := range vehicles {
		for _, second := range vehicles[i+1:] {
			all = append(all,
				watch{account: p.Account, rule: r.ID, revision: r.Revision, pair: [2]fleet.VehicleID{first, second}})
		}
	}
	return all
}

// pairRule returns the version of the rule that a watch is of, nil if it is gone.
func (f *Follower) pairRule(w *watch) *fleet.Rule {
	c := f.policy(w.account)
	for i := range c.pairRules {
		if r := &c.pairRules[i]; r.ID == w.rule && r.Revision == w.revision {
			return r
		}
	}
	return nil
}

// pairTrack reads where a vehicle was, from its last fix at or before a time to its first at or after another;
// 0 for the end.
func (f *Follower) pairTrack(ctx context.Context, key fleet.VehicleKey, from, to fleet.Millis) ([]pair.Fix, error) {
	var all []pair.Fix
	before, err := f.fixBefore(ctx, key, from)
	if err != nil {
		return nil, err
	}
	for p, err := range query.Track(ctx, f.deps.DB, pairFilter(key, earlier(from, before))) {
		if err != nil {
			return nil, err
		}
		fix := pair.Fix{At: p.FixTime, Place: fleet.Place{Lat: p.Lat, Lng: p.Lng}}
		if n := len(all); n > 0 && fix.At == all[n-1].At {
			continue
		}
		all = append(all, fix)
		if to != 0 && p.FixTime >= to {
			break
		}
	}
	if len(all) > 1 && all[1].At <= from {
		all = all[1:] // there is one at that very time
	}
	return all, nil
}

// fixBefore returns the time of a vehicle's last fix before a time, 0 if there is none.
func (f *Follower) fixBefore(ctx context.Context, key fleet.VehicleKey, at fleet.Millis) (fleet.Millis, error) {
	filter := pairFilter(key, 0)
	filter.To, filter.Descending, filter.Limit = at, true, 1
	for p, err := range query.Track(ctx, f.deps.DB, filter) {
		return p.FixTime, err
	}
	return 0, nil
}

// pairFilter is that of the fixes that make the line of a vehicle, as the reports have it.
func pairFilter(key fleet.VehicleKey, from fleet.Millis) query.TrackFilter {
	return query.TrackFilter{Account: key.Account, Vehicle: key.Vehicle, From: from,
		Without: fleet.DoubtfulFlags &^ (fleet.FlagOutOfOrder | fleet.FlagLate)}
}
