package follow

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query/pair"
)

// lookAt solves a pair from a time on, before which nothing is other than when it was last looked at, and tells and
// writes what differs.
func (f *Follower) lookAt(ctx context.Context, w *watch, from fleet.Millis) error {
	rule := f.pairRule(w)
	if rule == nil {
		return nil
	}
	cut, err := f.cut(ctx, w.account)
	if err != nil {
		return err
	}
	from = max(from, w.from)
	stored, err := f.pairAlerts(ctx, w, from)
	if err != nil {
		return err
	}
	// What was too short to be told began at most so long before.
	start := from - rule.MinDuration
	var carried *fleet.Alert
	kept := fleet.Millis(0)
	for _, a := range stored {
		switch {
		case a.Open && a.End <= from:
			carried = a
		case a.Start < cut && !a.Open:
			kept = max(kept, a.End) // what it was made of is deleted
		default:
			start = min(start, a.Start)
		}
	}
	if carried != nil {
		start = carried.End
	}
	start = max(start, w.from, cut, kept)
	made, placed, err := f.pairAlertsFrom(ctx, w, rule, start, carried)
	if err != nil || !placed && len(stored) == 0 {
		return err
	}
	maps.DeleteFunc(stored, func(_ uint64, a *fleet.Alert) bool { return a != carried && a.Start < start })
	return f.tellPair(ctx, w, stored, made)
}

// pairAlertsFrom returns the alerts of a pair from a time on. carried is one that was open then, which nothing came
// before the end of; nil if there is none. placed is false where neither is known to have been anywhere.
func (f *Follower) pairAlertsFrom(ctx context.Context, w *watch, rule *fleet.Rule, start fleet.Millis,
	carried *fleet.Alert) (all []*fleet.Alert, placed bool, err error) {
	var tracks [2][]pair.Fix
	for i := range tracks {
		if tracks[i], err = f.pairTrack(ctx, w.key(i), start, w.until); err != nil {
			return nil, false, err
		}
	}
	metres := rule.Threshold
	if metres == 0 {
		metres = rule.Kind.Default()
	}
	reached := fleet.Millis(0)
	if a, b := tracks[0], tracks[1]; len(a) > 0 && len(b) > 0 {
		reached = min(a[len(a)-1].At, b[len(b)-1].At)
	}
	if w.until != 0 {
		reached = min(reached, w.until)
	}
	if carried != nil {
		reached = max(reached, carried.End)
	}
	q := pair.Question{Metres: metres, Apart: rule.Apart}
	spans := pair.Clip(pair.Spans(tracks[0], tracks[1], q), start, math.MaxInt64, q)
	if carried != nil && (len(spans) == 0 || spans[0].From > carried.End) {
		spans = slices.Insert(spans, 0, pair.Span{From: carried.End, To: carried.End, Extreme: *carried.Peak})
	}
	for i, s := range spans {
		if w.until != 0 {
			s.To = min(s.To, w.until)
		}
		a := &fleet.Alert{
			Head: fleet.Head{Start: s.From, End: s.To, RecognisedAt: s.From + rule.MinDuration,
				Open: s.To >= reached && w.until == 0},
			Rule: w.rule, RuleRevision: w.revision, What: rule.Kind, Severity: rule.Severity, Subject: w.pair[1].String(),
			Threshold: &metres,
		}
		if i == 0 && carried != nil {
			before := *carried
			before.End, before.Open, before.ResolvedReason = a.End, a.Open, ""
			peak := math.Min(*before.Peak, s.Extreme)
			if rule.Apart {
				peak = math.Max(*before.Peak, s.Extreme)
			}
			before.Peak, a = &peak, &before
		} else {
			a.Peak = &s.Extreme
			if place, ok := pair.Where(tracks[0], s.From); ok {
				a.Place = &place
			}
			a.ID = fleet.DerivedID(fleet.KindAlert, w.key(0), a.Start, w.name())
		}
		if a.End < a.Start || a.End-a.Start < rule.MinDuration {
			continue
		}
		switch {
		case a.Open:
		case w.until != 0 && a.End >= reached:
			a.ResolvedReason = "rule_changed"
		default:
			a.ResolvedReason = "cleared"
		}
		all = append(all, a)
	}
	return all, reached != 0, nil
}

// name tells alerts of one vehicle and start apart.
func (w *watch) name() uint64 {
	hash := fnv.New64a()
	var b [24]byte
	binary.BigEndian.PutUint64(b[:8], uint64(w.rule))
	binary.BigEndian.PutUint64(b[8:16], w.revision)
	binary.BigEndian.PutUint64(b[16:], uint64(w.pair[1]))
	hash.Write(b[:])
	return hash.Sum64()
}

// tellPair holds alerts against those that are stored, and commits the difference.
func (f *Follower) tellPair(ctx context.Context, w *watch, stored map[uint64]*fleet.Alert, made []*fleet.Alert) error {
	key := w.key(0)
	var wanted []rowKey
	for id := range stored {
		wanted = append(wanted, rowKey{key, fleet.KindAlert, id})
	}
	for _, a := range made {
		if stored[a.ID] == nil {
			wanted = append(wanted, rowKey{key, fleet.KindAlert, a.ID}) // withdrawn, perhaps
		}
	}
	rows, err := f.rows(ctx, wanted)
	if err != nil {
		return err
	}
	var o outbox
	for _, id := range slices.Sorted(maps.Keys(stored)) {
		if slices.ContainsFunc(made, func(a *fleet.Alert) bool { return a.ID == id }) {
			continue
		}
		old := rows[rowKey{key, fleet.KindAlert, id}]
		old.revision, old.deleted, old.open = old.revision+1, true, false
		o.rows = append(o.rows, old)
		o.gone(&old)
	}
	slices.SortFunc(made, func(a, b *fleet.Alert) int { return cmp.Compare(a.Start, b.Start) })
	zone := cmp.Or(f.policy(w.account).policy.TraitsOf(key.Vehicle).Zone, time.UTC)
	for _, a := range made {
		body, err := json.Marshal(a)
		if err != nil {
			return err
		}
		r := row{key: key, kind: fleet.KindAlert, id: a.ID, revision: 1, recognised: a.RecognisedAt,
			start: a.Start, end: a.End,
			open: a.Open, digest: digest(&a.Head, body), body: body}
		r.late = fleet.MillisOf(f.deps.Now())-a.RecognisedAt > millis(f.cfg.LateAfter)
		start := a.Start.Time().In(zone)
		r.local = time.Date(start.Year(), start.Month(), start.Day(), 0, 0, 0, 0, time.UTC)
		var before *storedRow
		if old, ok := rows[rowKey{key, fleet.KindAlert, a.ID}]; ok {
			if !old.deleted && old.digest == r.digest {
				continue
			}
			before = &storedRow{mark: storedMark(old.kind, string(old.body)), revision: old.revision, open: old.open,
				deleted: old.deleted}
			r.revision, r.late = old.revision+1, old.late
		}
		o.rows = append(o.rows, r)
		o.note(before, a, &r, markOf(a))
	}
	return f.commit(ctx, &o)
}
