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
	key     fleet.VehicleKey
	v       *vehicle // only with its lock
	machine *derive.Vehicle
	state   *derive.State // the vehicle's own, or a copy
	known   *[]known      // likewise
	saved   fleet.Millis  // a checkpoint of this time is stored already
	base    fleet.Millis  // what was recognised after it, up to where the state has come, comes out again or does not hold
	cut     fleet.Millis  // what was before it is deleted; 0 if nothing is, or nobody needed to know

	after, until fleet.Millis // inputs to be pulled: (after, until]
	given        [][]byte     // or these, packed; nil if there are none
	expected     fleet.Millis // the part of that in which inputs are to be expected
	advance      fleet.Millis // then time comes to this; 0: it does not
	look         bool         // at what is open
	force        bool         // and write it in its present version
	save         bool         // write a checkpoint

	blind bool // to what came before: a repair will judge the positions

	inputs int
	out    fleet.Entities
	judged []derive.Verdict
	days   []checkpoint // of the days that it passed

	latest map[uint64]fleet.Entity // the last version of each thing in out
	order  []uint64                // of latest, by first appearance
	places map[uint64]int          // of known, by identity, once there are many
}

// feed steps over inputs, which are in order and later than the state. Where a day of event time ends it keeps a checkpoint.
func (r *run) feed(inputs []derive.Input) error {
	r.inputs += len(inputs)
	for len(inputs) > 0 {
		today := dayOf(inputs[0].At)
		if at := r.state.Reached(); at != 0 && dayOf(at) < today && at != r.saved {
			if err := r.keep(); err != nil {
				return err
			}
		}
		n := 1
		for n < len(inputs) && dayOf(inputs[n].At) == today {
			n++
		}
		if r.blind {
			r.machine.Step(r.state, inputs[:n], &r.out)
		} else {
			r.machine.Judge(r.state, inputs[:n], &r.out, &r.judged)
		}
		inputs = inputs[n:]
	}
	return nil
}

// keep adds a checkpoint of the state as it is.
func (r *run) keep() error {
	text, err := r.state.Encode()
	if err != nil {
		return err
	}
	at := r.state.Reached()
	c := checkpoint{key: r.key, day: dayOf(at), at: at, wake: r.machine.Wake(r.state), state: text}
	if n := len(r.days); n > 0 && r.days[n-1].day == c.day {
		r.days[n-1] = c
	} else {
		r.days = append(r.days, c)
	}
	return nil
}

// finish lets time pass, looks at what is open if it is time to, and leaves the last version of each thing.
func (r *run) finish(openEvery fleet.Millis) {
	if r.advance != 0 {
		r.machine.Advance(r.state, r.advance, &r.out)
	}
	at := r.state.Reached()
	if r.look || r.force || r.inputs > 0 && at-r.v.openAt >= openEvery {
		r.machine.Open(r.state, &r.out)
		r.v.openAt, r.v.pending = at, false
	} else if r.inputs > 0 {
		r.v.pending = true
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
func (r *run) end() fleet.Millis { return max(r.state.Reached(), r.advance) }

// unexplained calls found with the stored things that ought to have come out and did not.
func (r *run) unexplained(found func(k *known)) {
	end := r.end()
	for i := range *r.known {
		k := &(*r.known)[i]
		if k.deleted || k.recognised <= r.base || k.recognised > end {
			continue
		}
		if _, ok := r.latest[k.id]; !ok {
			found(k)
		}
	}
}

// lookup finds a stored thing by identity. What it returns is good until the next learn.
func (r *run) lookup(id uint64) *known {
	all := *r.known
	if len(all) > 16 {
		if r.places == nil {
			r.places = make(map[uint64]int, len(all))
			for i := range all {
				r.places[all[i].id] = i
			}
		}
		if i, ok := r.places[id]; ok {
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

// learn adds a stored thing.
func (r *run) learn(k known) *known {
	if r.places != nil {
		r.places[k.id] = len(*r.known)
	}
	*r.known = append(*r.known, k)
	return &(*r.known)[len(*r.known)-1]
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
		r.unexplained(func(k *known) { wanted = append(wanted, rowKey{r.key, fleet.Kinds[k.kind], k.id}) })
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
		f.settle(r, stored, o)
		for _, j := range r.judged {
			o.judged = append(o.judged, judgedRow{key: r.key, Verdict: j})
		}
	}
	return nil
}

// settle is reconcile for one run; stored has the rows that are needed whole.
func (f *Follower) settle(r *run, stored map[rowKey]row, o *outbox) {
	end, now := r.end(), fleet.MillisOf(f.deps.Now())
	zone := f.policy(r.key.Account).policy.TraitsOf(r.key.Vehicle).Zone
	if zone == nil {
		zone = time.UTC
	}
	var kept []row
	r.unexplained(func(k *known) {
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
				k = r.learn(known{
					id: id, digest: old.digest, mark: storedMark(old.kind, string(old.body)), recognised: old.recognised, revision: old.revision,
					kind: kindIndex(old.kind), open: old.open, deleted: old.deleted, late: old.late,
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
			if !k.deleted && k.open && h.Open && !r.force && !urgent && k.wrote != 0 && end-k.wrote < millis(f.cfg.OpenEvery) {
				r.v.pending = true
				continue
			}
			late, revision = k.late, k.revision+1
		}
		start := h.Start.Time().In(zone)
		o.rows = append(o.rows, row{
			key: r.key, kind: e.Kind(), id: id, revision: revision, recognised: h.RecognisedAt, start: h.Start, end: h.End,
			local: time.Date(start.Year(), start.Month(), start.Day(), 0, 0, 0, 0, time.UTC), open: h.Open, late: late, digest: sum, body: body,
		})
		o.note(k, e, &o.rows[len(o.rows)-1], mark)
		now := known{
			id: id, digest: sum, mark: mark, recognised: h.RecognisedAt, wrote: end, revision: revision, kind: kindIndex(e.Kind()), open: h.Open, late: late,
		}
		if k != nil {
			*k = now
		} else {
			r.learn(now)
		}
	}
}
