package follow

import (
	"container/heap"
	"context"
	"reflect"
	"time"

	"github.com/motorpool/fleet"
)

// wakes are the times at which silence will mean something, of all vehicles of a partition, in memory or not. A vehicle
// has usually one place in the queue, which may be too early: then it is put back when its turn comes.
type wakes struct {
	of    map[fleet.VehicleKey]wake
	queue wakeQueue
}

type wake struct {
	at     fleet.Millis // When the vehicle must be looked at; 0 for never.
	queued fleet.Millis // The earliest place that it has in the queue; 0 if it has none.
}

type wakePlace struct {
	at  fleet.Millis
	key fleet.VehicleKey
}

type wakeQueue []wakePlace

func (q wakeQueue) Len() int           { return len(q) }
func (q wakeQueue) Less(i, j int) bool { return q[i].at < q[j].at }
func (q wakeQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *wakeQueue) Push(p any)        { *q = append(*q, p.(wakePlace)) }
func (q *wakeQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func newWakes() wakes { return wakes{of: make(map[fleet.VehicleKey]wake)} }

// set notes when a vehicle must be looked at; 0 for never.
func (w *wakes) set(key fleet.VehicleKey, at fleet.Millis) {
	wake := w.of[key]
	wake.at = at
	if at != 0 && (wake.queued == 0 || at < wake.queued) {
		wake.queued = at
		heap.Push(&w.queue, wakePlace{at, key})
	}
	w.of[key] = wake
}

// due takes out up to n vehicles whose time has come. Each must be set again.
func (w *wakes) due(to fleet.Millis, n int) []fleet.VehicleKey {
	var all []fleet.VehicleKey
	for len(w.queue) > 0 && w.queue[0].at <= to && len(all) < n {
		p := heap.Pop(&w.queue).(wakePlace)
		wake := w.of[p.key]
		if p.at != wake.queued {
			continue // it has an earlier place, or had
		}
		wake.queued = 0
		w.of[p.key] = wake
		switch {
		case wake.at == 0:
		case wake.at <= to:
			all = append(all, p.key)
		default:
			w.set(p.key, wake.at)
		}
	}
	return all
}

// runTimers ticks until the context ends.
func (h *Handler) runTimers(ctx context.Context) {
	ticker := time.NewTicker(h.f.cfg.Tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := h.tick(ctx); err != nil && ctx.Err() == nil {
			h.f.deps.Log.Error("timers failed and are tried again", "partition", h.partition, "error", err)
		}
	}
}

// tick looks at vehicles for which silence means something by now, at some of those that must be looked at anyway, and
// forgets those that were left alone.
func (h *Handler) tick(ctx context.Context) error {
	h.live.Lock()
	defer h.live.Unlock()
	if err := h.begin(ctx); err != nil {
		return err
	}
	h.review()
	allStored, behind := h.f.deps.AllStored(ctx), []string(nil)
	if !allStored && h.f.deps.Behind != nil {
		behind, allStored = h.f.deps.Behind(ctx, h.partition)
	}
	if allStored {
		if err := h.silences(ctx, behind); err != nil {
			return err
		}
	}
	now := h.f.deps.Now()
	if now.Sub(h.sweptAt) < sweepEvery {
		return nil
	}
	h.sweptAt = now
	return h.park(ctx, func(v *vehicle) bool { return now.Sub(v.usedAt) >= h.f.cfg.IdleAfter },
		func(v *vehicle) bool { return v.openUnwritten && now.Sub(v.usedAt) >= h.f.cfg.OpenEvery })
}

// sweepEvery is how often vehicles are looked through for those that were left alone.
const sweepEvery = 10 * time.Second

// review has the vehicles looked at that a change of their account's policy concerns: a new rule may make something of
// their silence. It does so for an account once a minute at most, and not before those of the last time are through.
func (h *Handler) review() {
	if len(h.recheck) > 0 {
		return // one after the other, or they would pile up
	}
	now := h.f.deps.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	concerned := make(map[fleet.AccountID]func(fleet.VehicleID) bool)
	for key := range h.wakes.of {
		account := key.Account
		concerns, asked := concerned[account]
		if !asked {
			policy := h.f.deps.Policies.Of(account)
			before, ok := h.seenPolicies[account]
			isChanged := ok && before.policy.Version != policy.Version && now.Sub(before.at) >= time.Minute
			if isChanged {
				concerns = concernedBy(before.policy, policy)
			}
			if !ok || isChanged {
				h.seenPolicies[account] = seen{policy, now}
			}
			concerned[account] = concerns
		}
		if concerns != nil && concerns(key.Vehicle) {
			h.recheck = append(h.recheck, key)
		}
	}
}

// concernedBy says which vehicles a change of a policy concerns: all, or, as after a booking, those whose own traits
// are not what they were.
func concernedBy(before, now *fleet.Policy) func(fleet.VehicleID) bool {
	if !reflect.DeepEqual(before.Rules, now.Rules) || !reflect.DeepEqual(before.Fences, now.Fences) ||
		!reflect.DeepEqual(before.Default, now.Default) || !reflect.DeepEqual(before.Devices, now.Devices) {
		return func(fleet.VehicleID) bool { return true }
	}
	return func(vehicle fleet.VehicleID) bool {
		was, is := before.TraitsOf(vehicle), now.TraitsOf(vehicle)
		return was != is && !reflect.DeepEqual(was, is)
	}
}

// silences derives vehicles up to a little before now, with what came for them or without.
// Those that report through partitions that lag must wait.
func (h *Handler) silences(ctx context.Context, behind []string) error {
	to := fleet.MillisOf(h.f.deps.Now().Add(-h.f.cfg.SilenceDelay))
	h.mu.Lock()
	keys := h.wakes.due(to, h.f.cfg.PartVehicles)
	h.mu.Unlock()
	n := min(max(h.f.cfg.PartVehicles-len(keys), 0), len(h.recheck))
	keys, h.recheck = append(keys, h.recheck[:n]...), h.recheck[n:]
	keys, err := h.audible(ctx, keys, to, behind)
	if err != nil {
		return err
	}
	var taken []*vehicle
	defer func() {
		for _, v := range taken {
			v.lock.Unlock()
		}
	}()
	var again []fleet.VehicleKey
	seenKeys := make(map[fleet.VehicleKey]bool, len(keys))
	for _, key := range keys {
		if seenKeys[key] || !h.owns(key.Vehicle) {
			continue
		}
		seenKeys[key] = true
		if v := h.take(key, false); v != nil {
			taken = append(taken, v)
		} else {
			again = append(again, key) // its repair is about to write
		}
	}
	h.recheck = append(h.recheck, again...)
	err = h.load(ctx, taken, nil)
	if err == nil {
		runs := make([]*run, 0, len(taken))
		for _, v := range taken {
			v.compile(h.f)
			reached := v.state.Reached()
			if reached < to {
				v.snapshot(h.f)
			}
			r := &run{
				key: v.key, vehicle: v, machine: v.machine, state: &v.state, storedRows: &v.storedRows,
				checkpointAt: v.checkpointAt, base: reached, after: reached, until: to, advanceTo: to,
			}
			if v.justLoaded {
				r.expectedSpan = to - reached
			}
			runs = append(runs, r)
		}
		err = h.derive(ctx, runs)
	}
	if err != nil {
		h.forgetAll(taken)
		for _, v := range taken {
			h.recheck = append(h.recheck, v.key)
		}
	}
	return err
}

// park writes a checkpoint of the vehicles that are idle and changed, and what is open as it is, and forgets them. Of
// those that are only stale it writes what is open. Those that somebody else holds stay.
func (h *Handler) park(ctx context.Context, idle, stale func(*vehicle) bool) error {
	h.mu.Lock()
	all := make([]*vehicle, 0, len(h.vehicles))
	for _, v := range h.vehicles {
		all = append(all, v)
	}
	h.mu.Unlock()
	for len(all) > 0 {
		n := min(len(all), h.f.cfg.PartVehicles)
		if err := h.parkPart(ctx, all[:n], idle, stale); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

func (h *Handler) parkPart(ctx context.Context, part []*vehicle, idle, stale func(*vehicle) bool) error {
	var taken, parked []*vehicle
	var runs []*run
	defer func() {
		for _, v := range taken {
			v.lock.Unlock()
		}
	}()
	for _, v := range part {
		if !v.lock.TryLock() {
			continue
		}
		over := idle(v)
		if v.forgotten || !over && !stale(v) {
			v.lock.Unlock()
			continue
		}
		taken = append(taken, v)
		if over {
			parked = append(parked, v)
		}
		if v.loaded && v.machine != nil && (over && v.changed || v.openUnwritten) {
			at := v.state.Reached()
			runs = append(runs, &run{
				key: v.key, vehicle: v, machine: v.machine, state: &v.state, storedRows: &v.storedRows,
				checkpointAt: v.checkpointAt, base: at, writeOpen: true, saveCheckpoint: over && v.changed,
			})
		}
	}
	err := h.derive(ctx, runs)
	if err != nil {
		parked = taken // what was done to them was not written
	}
	h.forgetAll(parked)
	return err
}
