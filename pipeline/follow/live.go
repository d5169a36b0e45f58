package follow

import (
	"context"
	"fmt"
	"slices"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/derive"
)

// follow works the changes of some vehicles in.
func (h *Handler) follow(ctx context.Context, part []*change) error {
	var marks []*change
	var taken []*vehicle
	var wanted []*change // of taken, at the same index
	defer func() {
		for _, v := range taken {
			v.lock.Unlock()
		}
	}()
	for _, c := range part {
		if c.again != 0 {
			marks = append(marks, &change{key: c.key, from: c.again, to: c.to, jobs: c.jobs})
		}
		if c.to == 0 {
			continue
		}
		v := h.take(c.key, false)
		if v == nil { // its repair is about to write; it will see what has come
			marks = append(marks, &change{key: c.key, from: c.from, to: c.to})
			continue
		}
		taken, wanted = append(taken, v), append(wanted, c)
	}
	h.touch(wanted)
	if err := h.load(ctx, taken, wanted); err != nil {
		h.forgetAll(taken)
		return err
	}
	runs := make([]*run, 0, len(taken))
	for i, v := range taken {
		r, m := h.plan(v, wanted[i])
		if m != nil {
			marks = append(marks, m)
		}
		if r != nil {
			runs = append(runs, r)
		}
	}
	err := h.mark(ctx, marks)
	if err == nil {
		err = h.derive(ctx, runs)
	}
	if err == nil {
		err = h.f.markPairs(ctx, part)
	}
	if err != nil {
		h.forgetAll(taken)
	}
	return err
}

// forgetAll drops vehicles, whose locks are held, after an error: what was done to them was not written.
func (h *Handler) forgetAll(all []*vehicle) {
	for _, v := range all {
		h.forget(v)
	}
}

// touch tells repairs that are under way what has come.
func (h *Handler) touch(changes []*change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.dirty) == 0 {
		return
	}
	for _, c := range changes {
		if s := h.dirty[c.key]; s != nil && s.running {
			s.touched, s.to = earlier(s.touched, c.from), max(s.to, c.to)
		}
	}
}

// load reads what is stored of vehicles that were not met before, whose locks are held. changes, if there are any, are
// those at hand, by the same index, and what came before them counts as the past: that of a vehicle without a checkpoint is
// left to the repair lane if it is long.
func (h *Handler) load(ctx context.Context, vehicles []*vehicle, changes []*change) error {
	missing := make(map[fleet.VehicleKey]*vehicle)
	var windows, histories []window
	for _, v := range vehicles {
		if !v.loaded {
			missing[v.key] = v
			windows = append(windows, window{key: v.key, after: 1 << 60})
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if err := h.f.checkpoints(ctx, windows, func(key fleet.VehicleKey, s derive.State, at, wake fleet.Millis) {
		v := missing[key]
		v.state, v.savedAt, v.wake, v.saved = s, at, wake, h.f.deps.Now()
	}); err != nil {
		return err
	}
	for i, v := range vehicles {
		if missing[v.key] != v || v.savedAt != 0 {
			continue
		}
		w := window{key: v.key, after: 1 << 60}
		if changes != nil {
			w.after = changes[i].from
		}
		histories = append(histories, w)
	}
	past := make(map[fleet.VehicleKey]bool, len(histories))
	if len(histories) > 0 {
		if err := h.f.histories(ctx, histories, func(key fleet.VehicleKey, fixes int, first fleet.Millis) {
			past[key] = true
			if fixes > h.f.cfg.HistoryRows {
				missing[key].history = first
			}
		}); err != nil {
			return err
		}
	}
	if err := h.f.mend(ctx, windows); err != nil {
		return err
	}
	for i := range windows {
		windows[i].after = missing[windows[i].key].savedAt
	}
	if err := h.f.knownOf(ctx, windows, func(key fleet.VehicleKey, k known) {
		v := missing[key]
		v.known = append(v.known, k)
	}); err != nil {
		return err
	}
	// The first change of a vehicle that is ever handled leaves a checkpoint behind. Where there is none of any format, nothing
	// derived and nothing earlier, changes tell of all that is stored.
	windows = slices.DeleteFunc(windows, func(w window) bool {
		v := missing[w.key]
		return changes != nil && v.savedAt == 0 && len(v.known) == 0 && !past[w.key]
	})
	if err := h.f.newest(ctx, windows, missing); err != nil {
		return err
	}
	for _, v := range missing {
		v.loaded, v.fresh = true, true
	}
	return nil
}

// maxRewind is how many days a vehicle is taken back in memory at most.
const maxRewind = 30

// plan says what to do about a change: a run in the live lane, a span for the repair lane, or both.
func (h *Handler) plan(v *vehicle, c *change) (*run, *change) {
	v.compile(h.f)
	reached := v.state.Reached()
	r := &run{key: v.key, v: v, machine: v.machine, state: &v.state, known: &v.known, saved: v.savedAt, base: reached, after: reached, until: c.to}
	if r.expected = c.to - c.from; v.fresh {
		r.expected = c.to - reached
	}
	switch {
	case c.from > reached && v.history != 0:
		// The present from nothing; the repair lane puts it right.
		first := v.history
		r.blind = true
		r.base, r.after, r.expected = c.from-1, c.from-1, c.to-c.from
		if h.covers(v.key, first) {
			return r, nil
		}
		return r, &change{key: v.key, from: first, to: c.to}
	case c.from > reached:
		if reached >= v.stored && !h.isDirty(v.key) {
			r.given = c.inputs
		}
		v.snapshot(h.f)
		return r, nil
	}
	v.tardy = h.f.deps.Now()
	last, fired := v.state.Time, v.state.Fired
	if oldest := c.from - 1; dayOf(reached)-dayOf(oldest) <= maxRewind && v.rewind(c.from) {
		h.f.deps.Metrics.rewinds.Inc()
		at := v.state.Reached()
		r.base, r.after, r.until, r.advance, r.look, r.saved = at, at, max(c.to, last), fired, true, 0
		r.expected = r.until - at
		if c.from <= v.savedAt {
			r.save = true
			for d := dayOf(c.from); d <= dayOf(v.savedAt); d++ {
				r.days = append(r.days, checkpoint{key: v.key, day: d, at: at})
			}
		}
		return r, nil
	}
	late := &change{key: v.key, from: c.from, to: c.to}
	if c.to <= reached {
		return nil, late
	}
	v.snapshot(h.f)
	r.blind = true
	return r, late
}

// covers says whether a repair that waits or runs will derive a vehicle, whose lock is held, from a time on.
func (h *Handler) covers(key fleet.VehicleKey, from fleet.Millis) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.dirty[key]
	return s != nil && s.durable != 0 && s.durable <= from
}

// isDirty says whether a repair of a vehicle waits or runs: then there may be inputs that were left to it.
func (h *Handler) isDirty(key fleet.VehicleKey) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.dirty[key] != nil
}

// derive makes the runs and writes what comes of them.
func (h *Handler) derive(ctx context.Context, runs []*run) error {
	if len(runs) == 0 {
		return nil
	}
	if err := h.feed(ctx, runs); err != nil {
		return err
	}
	var o outbox
	for _, r := range runs {
		r.finish(millis(h.f.cfg.OpenEvery))
	}
	if err := h.f.reconcile(ctx, runs, &o); err != nil {
		return err
	}
	now := h.f.deps.Now()
	saving := make([]bool, len(runs))
	for i, r := range runs {
		v := r.v
		v.used = now
		v.unsaved += r.inputs
		v.changed = v.changed || r.inputs > 0 || v.state.Reached() != v.savedAt
		wake := v.machine.Wake(&v.state)
		saving[i] = r.save || v.changed && v.state.Known() && (v.savedAt == 0 || now.Sub(v.saved) >= h.f.cfg.SaveEvery ||
			v.unsaved >= h.f.cfg.SaveInputs || wake != 0 && (v.wake == 0 || wake < v.wake))
		if saving[i] {
			if err := r.keep(); err != nil {
				return fmt.Errorf("checkpoint of %s: %w", v.key.Vehicle, err)
			}
		}
		o.checkpoints = append(o.checkpoints, r.days...)
	}
	if err := h.f.commit(ctx, &o); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, r := range runs {
		v := r.v
		h.f.deps.Metrics.inputs.Add(float64(r.inputs))
		if n := len(r.days); n > 0 {
			v.savedAt = r.days[n-1].at
		}
		if saving[i] {
			v.saved, v.wake, v.changed, v.unsaved = now, r.days[len(r.days)-1].wake, false, 0
		}
		v.fresh, v.history = false, 0
		v.prune()
		h.wakes.set(v.key, v.due())
	}
	return nil
}
