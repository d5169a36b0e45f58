package follow

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/derive"
)

// run is one vehicle's way from one state to a later one, and what came out on it.
type run struct {
	key        fleet.VehicleKey
	vehicle    *vehicle // The vehicle in memory. It is set and used only while its lock is held.
	machine    *derive.Vehicle
	state      *derive.State // The vehicle's own state in the live lane, a copy of it in a repair.
	storedRows *[]storedRow  // The vehicle's own list in the live lane, a copy of it in a repair.

	checkpointAt fleet.Millis // A checkpoint of this time is stored already.
	// What is stored as recognised after base, up to where the state has come, comes out again or does not hold.
	base fleet.Millis
	// What was before cut is deleted. It is 0 if nothing is, or nobody needed to know.
	cut fleet.Millis

	after, until   fleet.Millis // Inputs of (after, until] are read from the store.
	givenInputs    [][]byte     // These packed inputs are used instead of reading any, unless it is nil.
	expectedSpan   fleet.Millis // The part of (after, until] in which inputs are to be expected.
	advanceTo      fleet.Millis // Time comes to this after the inputs; 0 leaves it where they end.
	lookAtOpen     bool         // What is open is looked at, however few inputs there were.
	writeOpen      bool         // What is open is looked at and written as it is, however short ago it was written.
	saveCheckpoint bool         // A checkpoint is written at the end.
	// The positions are not judged, because what came before them is missing here: a repair will judge them.
	skipVerdicts bool

	inputCount     int
	out            fleet.Entities
	verdicts       []derive.Verdict
	dayCheckpoints []checkpoint // The checkpoints at the ends of the days that the run passed.

	latest    map[uint64]fleet.Entity // The last version of each thing in out, by identity.
	order     []uint64                // The identities in latest, by first appearance.
	indexByID map[uint64]int          // Where each identity is in storedRows; made once there are many.
}

// feed steps over inputs, which are in order and later than the state. Where a day of event time ends it
// keeps a checkpoint.
func (r *run) feed(inputs []derive.Input) error {
	r.inputCount += len(inputs)
	for len(inputs) > 0 {
		today := dayOf(inputs[0].At)
		if at := r.state.Reached(); at != 0 && dayOf(at) < today && at != r.checkpointAt {
			if err := r.addCheckpoint(); err != nil {
				return err
			}
		}
		n := 1
		for n < len(inputs) && dayOf(inputs[n].At) == today {
			n++
		}
		if r.skipVerdicts {
			r.machine.Step(r.state, inputs[:n], &r.out)
		} else {
			r.machine.Judge(r.state, inputs[:n], &r.out, &r.verdicts)
		}
		inputs = inputs[n:]
	}
	return nil
}

// addCheckpoint adds a checkpoint of the state as it is.
func (r *run) addCheckpoint() error {
	text, err := r.state.Encode()
	if err != nil {
		return err
	}
	at := r.state.Reached()
	c := checkpoint{key: r.key, day: dayOf(at), at: at, wake: r.machine.Wake(r.state), state: text}
	if n := len(r.dayCheckpoints); n > 0 && r.dayCheckpoints[n-1].day == c.day {
		r.dayCheckpoints[n-1] = c
	} else {
		r.dayCheckpoints = append(r.dayCheckpoints, c)
	}
	return nil
}

// finish lets time pass, looks at what is open if it is time to, and leaves the last version of each thing.
func (r *run) finish(openEvery fleet.Millis) {
	if r.advanceTo != 0 {
		r.machine.Advance(r.state, r.advanceTo, &r.out)
	}
	at := r.state.Reached()
	if r.lookAtOpen || r.writeOpen || r.inputCount > 0 && at-r.vehicle.openLookedAt >= openEvery {
		r.machine.Open(r.state, &r.out)
		r.vehicle.openLookedAt, r.vehicle.openUnwritten = at, false
	} else if r.inputCount > 0 {
		r.vehicle.openUnwritten = true
	}
	if len(r.out) == 0 {
		return
	}
	r.latest = make(map[uint64]fleet.Entity, len(r.out))
	for _, e := range r.out {
		id := e.Header().ID
		if _, ok := r.latest[id]; !ok {
			r.order = append(r.order, id)
		}
		r.latest[id] = e
	}
	r.out = nil
}

// end is the time up to which the run has decided everything: it comes to advance also where silence meant nothing.
func (r *run) end() fleet.Millis { return max(r.state.Reached(), r.advanceTo) }

// unexplained calls found with the stored things that ought to have come out and did not.
func (r *run) unexplained(found func(k *storedRow)) {
	end := r.end()
	for i := range *r.storedRows {
		k := &(*r.storedRows)[i]
		if k.deleted || k.recognised <= r.base || k.recognised > end {
			continue
		}
		if _, ok := r.latest[k.id]; !ok {
			found(k)
		}
	}
}

// lookup finds a stored thing by identity. What it returns is good until the next remember.
func (r *run) lookup(id uint64) *storedRow {
	all := *r.storedRows
	if len(all) > 16 {
		if r.indexByID == nil {
			r.indexByID = make(map[uint64]int, len(all))
			for i := range all {
				r.indexByID[all[i].id] = i
			}
		}
		if i, ok := r.indexByID[id]; ok {
			return &all[i]
		}
		return nil
	}
	for i := range all {
		if all[i].id == id {
			return &all[i]
		}
	}
	return nil
}

// remember adds a stored thing.
func (r *run) remember(k storedRow) *storedRow {
	if r.indexByID != nil {
		r.indexByID[k.id] = len(*r.storedRows)
	}
	*r.storedRows = append(*r.storedRows, k)
	return &(*r.storedRows)[len(*r.storedRows)-1]
}

// cutOff says whether a thing that is not stored ended before the cut, and so was deleted, or is what can still be seen
// of one that is kept as it was.
func (r *run) cutOff(e fleet.Entity, kept []row) bool {
	h := e.Header()
	return r.base < r.cut && !h.Open && h.End < r.cut || slices.ContainsFunc(kept, func(old row) bool {
		return old.kind == e.Kind() && h.Start >= r.cut && h.Start < old.end
	})
}

// reconcile holds what came out of runs against what is stored and adds the difference to the outbox.
func (f *Follower) reconcile(ctx context.Context, runs []*run, o *outbox) error {
	var wanted []rowKey
	for _, r := range runs {
		for _, id := range r.order {
			e := r.latest[id]
			if e.Header().RecognisedAt <= r.base && r.lookup(id) == nil {
				wanted = append(wanted, rowKey{r.key, e.Kind(), id}) // of old, perhaps forgotten
			}
		}
		explained := len(wanted)
		r.unexplained(func(k *storedRow) { wanted = append(wanted, rowKey{r.key, fleet.Kinds[k.kind], k.id}) })
		if len(wanted) > explained && r.cut == 0 {
			var err error
			if r.cut, err = f.cut(ctx, r.key.Account); err != nil {
				return err
			}
		}
	}
	stored, err := f.rows(ctx, wanted)
	if err != nil {
		return err
	}
	for _, r := range runs {
		f.reconcileRun(r, stored, o)
		for _, j := range r.verdicts {
			o.judged = append(o.judged, judgedRow{key: r.key, Verdict: j})
		}
	}
	return nil
}

// reconcileRun is reconcile for one run; stored has the rows that are needed whole.
func (f *Follower) reconcileRun(r *run, stored map[rowKey]row, o *outbox) {
	end, now := r.end(), fleet.MillisOf(f.deps.Now())
	zone := f.policy(r.key.Account).policy.TraitsOf(r.key.Vehicle).Zone
	if zone == nil {
		zone = time.UTC
	}
	var kept []row
	r.unexplained(func(k *storedRow) {
		old, ok := stored[rowKey{r.key, fleet.Kinds[k.kind], k.id}]
		if !ok {
			return // cannot be: it was known
		}
		if r.base < r.cut && old.start < r.cut && !old.open {
			kept = append(kept, old) // what it was made of is deleted
			return
		}
		k.revision, k.deleted, k.wrote = max(k.revision, old.revision)+1, true, end
		old.revision, old.deleted, old.open = k.revision, true, false
		k.open = false
		o.rows = append(o.rows, old)
		o.gone(&o.rows[len(o.rows)-1])
	})
	for _, id := range r.order {
		e := r.latest[id]
		h := e.Header()
		k := r.lookup(id)
		if k == nil {
			if old, ok := stored[rowKey{r.key, e.Kind(), id}]; ok {
				k = r.remember(storedRow{
					id: id, digest: old.digest, mark: storedMark(old.kind, string(old.body)), recognised: old.recognised,
					revision: old.revision,
					kind:     kindIndex(old.kind), open: old.open, deleted: old.deleted, late: old.late,
				})
			}
		}
		body, err := json.Marshal(e)
		if err != nil {
			f.deps.Metrics.unwritten.Inc()
			f.deps.Log.Error("a derived thing cannot be written", "vehicle", r.key.Vehicle, "kind", e.Kind(), "error", err)
			continue
		}
		if k == nil && r.cutOff(e, kept) {
			continue
		}
		sum, mark := digest(h, body), markOf(e)
		late := now-h.RecognisedAt > millis(f.cfg.LateAfter)
		revision := uint32(1)
		if k != nil {
			if !k.deleted && k.digest == sum {
				continue
			}
			urgent := e.Kind() == fleet.KindVisit && k.mark == 0 && mark != 0 || e.Kind() == fleet.KindRun && k.mark != mark
			if !k.deleted && k.open && h.Open && !r.writeOpen && !urgent && k.wrote != 0 &&
				end-k.wrote < millis(f.cfg.OpenEvery) {
				r.vehicle.openUnwritten = true
				continue
			}
			late, revision = k.late, k.revision+1
		}
		start := h.Start.Time().In(zone)
		o.rows = append(o.rows, row{
			key: r.key, kind: e.Kind(), id: id, revision: revision, recognised: h.RecognisedAt, start: h.Start, end: h.End,
			local: time.Date(start.Year(), start.Month(), start.Day(), 0, 0, 0, 0, time.UTC), open: h.Open, late: late,
			digest: sum, body: body,
		})
		o.note(k, e, &o.rows[len(o.rows)-1], mark)
		now := storedRow{
			id: id, digest: sum, mark: mark, recognised: h.RecognisedAt, wrote: end, revision: revision,
			kind: kindIndex(e.Kind()), open: h.Open, late: late,
		}
		if k != nil {
			*k = now
		} else {
			r.remember(now)
		}
	}
}
