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
		if c.againFrom != 0 {
			marks = append(marks, &change{key: c.key, from: c.againFrom, to: c.to, jobs: c.jobs})
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
			s.touchedFrom, s.to = earlier(s.touchedFrom, c.from), max(s.to, c.to)
		}
	}
}

// load reads what is stored of vehicles that were not met before, whose locks are held. changes, if there are any, are
// those at hand, by the same index, and what came before them counts as the past: that of a vehicle without a
// checkpoint is left to the repair lane if it is long.
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
		v.state, v.checkpointAt, v.checkpointWake, v.checkpointWritten = s, at, wake, h.f.deps.Now()
	}); err != nil {
		return err
	}
	for i, v := range vehicles {
		if missing[v.key] != v || v.checkpointAt != 0 {
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
				missing[key].historyFrom = first
			}
		}); err != nil {
			return err
		}
	}
	if err := h.f.mend(ctx, windows); err != nil {
		return err
	}
	for i := range windows {
		windows[i].after = missing[windows[i].key].checkpointAt
	}
	if err := h.f.storedRowsOf(ctx, windows, func(key fleet.VehicleKey, k storedRow) {
		v := missing[key]
		v.storedRows = append(v.storedRows, k)
	}); err != nil {
		return err
	}
	// The first change of a vehicle that is ever handled leaves a checkpoint behind. Where there is none of any format,
	// nothing derived and nothing earlier, changes tell of all that is stored.
	windows = slices.DeleteFunc(windows, func(w window) bool {
		v := missing[w.key]
		return changes != nil && v.checkpointAt == 0 && len(v.storedRows) == 0 && !past[w.key]
	})
	if err := h.f.newest(ctx, windows, missing); err != nil {
		return err
	}
	for _, v := range missing {
		v.loaded, v.justLoaded = true, true
	}
	return nil
}

// maxRewind is how many days a vehicle is taken back in memory at most.
const maxRewind = 30

// plan says what to do about a change: a run in the live lane, a span for the repair lane, or both.
func (h *Handler) plan(v *vehicle, c *change) (*run, *change) {
	v.compile(h.f)
	reached := v.state.Reached()
	r := &run{key: v.key, vehicle: v, machine: v.machine, state: &v.state, storedRows: &v.storedRows,
		checkpointAt: v.checkpointAt, base: reached, after: reached, until: c.to}
	if r.expectedSpan = c.to - c.from; v.justLoaded {
		r.expectedSpan = c.to - reached
	}
	switch {
	case c.from > reached && v.historyFrom != 0:
		// The present from nothing; the repair lane puts it right.
		first := v.historyFrom
		r.skipVerdicts = true
		r.base, r.after, r.expectedSpan = c.from-1, c.from-1, c.to-c.from
		if h.covers(v.key, first) {
			return r, nil
		}
		return r, &change{key: v.key, from: first, to: c.to}
	case c.from > reached:
		if reached >= v.storedUntil && !h.isDirty(v.key) {
			r.givenInputs = c.inputs
		}
		v.snapshot(h.f)
		return r, nil
	}
	v.lateInputAt = h.f.deps.Now()
	last, fired := v.state.Time, v.state.Fired
	if oldest := c.from - 1; dayOf(reached)-dayOf(oldest) <= maxRewind && v.rewind(c.from) {
		h.f.deps.Metrics.rewinds.Inc()
		at := v.state.Reached()
		r.base, r.after, r.until, r.advanceTo, r.lookAtOpen, r.checkpointAt = at, at, max(c.to, last), fired, true, 0
		r.expectedSpan = r.until - at
		if c.from <= v.checkpointAt {
			r.saveCheckpoint = true
			for d := dayOf(c.from); d <= dayOf(v.checkpointAt); d++ {
				r.dayCheckpoints = append(r.dayCheckpoints, checkpoint{key: v.key, day: d, at: at})
			}
		}
		return r, nil
	}
	late := &change{key: v.key, from: c.from, to: c.to}
	if c.to <= reached {
		return nil, late
	}
	v.snapshot(h.f)
	r.skipVerdicts = true
	return r, late
}

// covers says whether a repair that waits or runs will derive a vehicle, whose lock is held, from a time on.
func (h *Handler) covers(key fleet.VehicleKey, from fleet.Millis) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.dirty[key]
	return s != nil && s.storedFrom != 0 && s.storedFrom <= from
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
		v := r.vehicle
		v.usedAt = now
		v.unsavedInputs += r.inputCount
		v.changed = v.changed || r.inputCount > 0 || v.state.Reached() != v.checkpointAt
		wake := v.machine.Wake(&v.state)
		saving[i] = r.saveCheckpoint ||
			v.changed && v.state.Known() && (v.checkpointAt == 0 || now.Sub(v.checkpointWritten) >= h.f.cfg.SaveEvery ||
				v.unsavedInputs >= h.f.cfg.SaveInputs || wake != 0 && (v.checkpointWake == 0 || wake < v.checkpointWake))
		if saving[i] {
			if err := r.addCheckpoint(); err != nil {
				return fmt.Errorf("checkpoint of %s: %w", v.key.Vehicle, err)
			}
		}
		o.checkpoints = append(o.checkpoints, r.dayCheckpoints...)
	}
	if err := h.f.commit(ctx, &o); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, r := range runs {
		v := r.vehicle
		h.f.deps.Metrics.inputs.Add(float64(r.inputCount))
		if n := len(r.dayCheckpoints); n > 0 {
			v.checkpointAt = r.dayCheckpoints[n-1].at
		}
		if saving[i] {
			v.checkpointWritten, v.checkpointWake, v.changed, v.unsavedInputs =
				now, r.dayCheckpoints[len(r.dayCheckpoints)-1].wake, false, 0
		}
		v.justLoaded, v.historyFrom = false, 0
		v.prune()
		h.wakes.set(v.key, v.due())
	}
	return nil
}
