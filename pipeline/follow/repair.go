package follow

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/derive"
)

// runRepairs repairs what is dirty until the context ends.
func (h *Handler) runRepairs(ctx context.Context) {
	timer := time.NewTimer(h.f.cfg.Tick)
	defer timer.Stop()
	for {
		for {
			key, ok := h.nextRepair()
			if !ok || ctx.Err() != nil {
				break
			}
			select {
			case h.f.repairTokens <- struct{}{}:
			case <-ctx.Done():
				return
			}
			err := h.repair(ctx, key)
			<-h.f.repairTokens
			if err != nil && ctx.Err() == nil {
				h.f.deps.Log.Error("a repair failed and is tried again", "vehicle", key.Vehicle, "error", err)
			}
		}
		timer.Reset(h.f.cfg.Tick)
		select {
		case <-ctx.Done():
			return
		case <-h.repairNudge:
		case <-timer.C:
		}
	}
}

// nextRepair returns the vehicle that has waited longest for its repair and may have it now.
func (h *Handler) nextRepair() (fleet.VehicleKey, bool) {
	now := h.f.deps.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	var next fleet.VehicleKey
	var best *span
	for key, s := range h.dirty {
		if !s.running && !s.notBefore.After(now) && (best == nil || s.notBefore.Before(best.notBefore)) {
			next, best = key, s
		}
	}
	return next, best != nil
}

// repair derives a vehicle again from the newest checkpoint before its dirty span up to the present. What comes for it
// meanwhile with a time that the repair has passed makes the span dirty again from there.
func (h *Handler) repair(ctx context.Context, key fleet.VehicleKey) (err error) {
	begun := h.f.deps.Now()
	h.mu.Lock()
	s := h.dirty[key]
	if s == nil { // another partition has the vehicle now
		h.mu.Unlock()
		return nil
	}
	s.running, s.touchedFrom = true, 0
	from, limit, jobs := s.from, s.to, slices.Clone(s.jobs)
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		s.running = false
		s.notBefore = h.f.deps.Now().Add(h.f.cfg.RepairPause)
	}()

	v := h.take(key, true)
	if err = h.load(ctx, []*vehicle{v}, nil); err != nil {
		h.forget(v)
		v.lock.Unlock()
		return err
	}
	limit = h.inputsUntil(v, limit)
	v.lock.Unlock()

	cut, err := h.f.cut(ctx, key.Account)
	if err != nil {
		return err
	}
	from = max(from, cut)
	var state derive.State
	if err = h.f.checkpoints(ctx, []window{{key: key, after: from}},
		func(_ fleet.VehicleKey, found derive.State, _, _ fleet.Millis) {
			state = found
		}); err != nil {
		return err
	}
	c := h.f.policy(key.Account)
	base := state.Reached()
	var rows []storedRow
	r := &run{
		key: key, machine: derive.NewVehicle(&h.f.cfg.Derive, key, c.policy, c.fences, c.rules), state: &state,
		storedRows:   &rows,
		checkpointAt: base, base: base, cut: cut, lookAtOpen: true, writeOpen: true,
	}
	after := base
	if base == 0 {
		after = max(cut-1, 0)
	}
	if err = h.f.feedChunks(ctx, r, window{key: key, after: after, until: limit}); err != nil {
		return err
	}
	if now, err := h.f.cut(ctx, key.Account); err != nil || now != cut {
		return err // fixes may have gone while they were read: again, from the new cut on
	}

	v = h.take(key, true)
	defer v.lock.Unlock()
	// From here on the live lane leaves the vehicle to us, and tells in touched what it left.
	r.vehicle = v
	if err = h.load(ctx, []*vehicle{v}, nil); err != nil {
		h.forget(v)
		return err
	}
	h.mu.Lock()
	passed := s.touchedFrom
	s.touchedFrom = 0
	limit = s.to
	h.mu.Unlock()
	limit = h.inputsUntil(v, limit)
	if passed > state.Reached() {
		passed = 0 // it is caught up with below
	}
	if now := h.f.policy(key.Account); now.policy.Version != c.policy.Version {
		// The live lane has gone by what was laid down meanwhile.
		r.machine = derive.NewVehicle(&h.f.cfg.Derive, key, now.policy, now.fences, now.rules)
	}
	if err = h.f.feedChunks(ctx, r, window{key: key, after: max(state.Reached(), after), until: limit}); err != nil {
		return err
	}
	r.advanceTo = v.state.Fired
	r.finish(0)
	done, err := h.replace(ctx, r, s, passed, jobs)
	if err != nil {
		h.forget(v) // some of it may be written
		return err
	}
	if done.version != 0 {
		err = h.f.writeDirty(ctx, []dirtyRow{done})
	}
	m := h.f.deps.Metrics
	m.repairs.Inc()
	m.inputs.Add(float64(r.inputCount))
	m.seconds.Observe(h.f.deps.Now().Sub(begun).Seconds())
	m.span.Observe(state.Reached().Sub(max(base, from)).Seconds())
	return err
}

// inputsUntil returns up to when a vehicle, whose lock is held, has inputs that we have been told of, given what its
// dirty span knows. Of one without a state that is everything: nobody may have been told of what was stored before it
// was derived from.
func (h *Handler) inputsUntil(v *vehicle, to fleet.Millis) fleet.Millis {
	if !v.state.Known() {
		return max(to, fleet.MillisOf(h.f.deps.Now())+day)
	}
	return max(to, v.state.Reached())
}

// replace writes what a repair came to and puts its state in the place of the vehicle's. It returns the row that clears
// the dirty span, or one without a version if there is more to repair.
func (h *Handler) replace(ctx context.Context, r *run, s *span, passed fleet.Millis,
	jobs []fleet.JobID) (dirtyRow, error) {
	v, reached := r.vehicle, r.state.Reached()
	if err := h.f.storedRowsOf(ctx, []window{{key: r.key, after: r.base}}, func(_ fleet.VehicleKey, k storedRow) {
		*r.storedRows = append(*r.storedRows, k)
	}); err != nil {
		return dirtyRow{}, err
	}
	stored, err := h.f.daysAfter(ctx, r.key, r.base)
	if err != nil {
		return dirtyRow{}, err
	}
	if r.state.Known() {
		if err := r.addCheckpoint(); err != nil {
			return dirtyRow{}, fmt.Errorf("checkpoint of %s: %w", r.key.Vehicle, err)
		}
	}
	var o outbox
	for _, at := range stored {
		if !slices.ContainsFunc(r.dayCheckpoints, func(c checkpoint) bool { return c.day == dayOf(at) }) {
			o.checkpoints = append(o.checkpoints, checkpoint{key: r.key, day: dayOf(at), at: at})
		}
	}
	o.checkpoints = append(o.checkpoints, r.dayCheckpoints...)
	for _, j := range jobs {
		o.steps = append(o.steps, jobStep{account: r.key.Account, job: j, vehicle: r.key.Vehicle})
	}
	if err := h.f.reconcile(ctx, []*run{r}, &o); err != nil {
		return dirtyRow{}, err
	}
	if err := h.f.commit(ctx, &o); err != nil {
		return dirtyRow{}, err
	}
	now := h.f.deps.Now()
	v.state, v.storedRows, v.snapshots, v.machine = *r.state, *r.storedRows, nil, r.machine
	v.policyVersion, v.usedAt, v.changed, v.unsavedInputs, v.openUnwritten = 0, now, false, 0, false
	v.historyFrom = 0
	if r.state.Known() {
		v.checkpointAt, v.checkpointWritten, v.checkpointWake = reached, now, v.machine.Wake(&v.state)
	}
	v.prune()

	h.mu.Lock()
	defer h.mu.Unlock()
	h.wakes.set(v.key, v.due())
	if s.touchedFrom = earlier(s.touchedFrom, passed); s.touchedFrom != 0 {
		s.from, s.jobs = s.touchedFrom, s.jobs[len(jobs):]
		return dirtyRow{}, nil
	}
	if len(s.jobs) > len(jobs) {
		s.jobs = s.jobs[len(jobs):]
		return dirtyRow{}, nil
	}
	delete(h.dirty, r.key)
	h.f.deps.Metrics.dirty.Dec()
	return dirtyRow{key: r.key, version: h.f.version()}, nil
}
