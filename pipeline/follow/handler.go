package follow

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/consume"
)

// Handler is the owner of one partition's vehicles. Close ends it.
type Handler struct {
	f         *Follower
	partition int

	live         sync.Mutex               // Held by whoever works in the live lane: Handle, tick, Close.
	begun        bool                     // What earlier owners left behind is known. Guarded by live.
	partitions   int                      // How many partitions there are; 0 before that is known. Guarded by live.
	recheck      []fleet.VehicleKey       // Vehicles to be looked at though nothing came. Guarded by live.
	sweptAt      time.Time                // When idle vehicles were last looked for. Guarded by live.
	seenPolicies map[fleet.AccountID]seen // The policies that the timers know of. Guarded by live.

	mu       sync.Mutex // Held for moments. It guards the next three fields and is taken after any vehicle's lock.
	vehicles map[fleet.VehicleKey]*vehicle
	dirty    map[fleet.VehicleKey]*span
	wakes    wakes

	stop        context.CancelFunc
	stopped     sync.WaitGroup
	repairNudge chan struct{} // Tells the repair lane that something is dirty.
}

// seen is a policy, and when it was seen first.
type seen struct {
	policy *fleet.Policy
	at     time.Time
}

// span is what must be derived again of a vehicle.
type span struct {
	from        fleet.Millis // The earliest change.
	to          fleet.Millis // The latest input that is known of.
	storedFrom  fleet.Millis // The value of from that is stored; 0 if none is.
	jobs        []fleet.JobID
	running     bool
	touchedFrom fleet.Millis // The earliest change since the running repair last looked; 0 if there was none.
	notBefore   time.Time    // When the next repair may begin.
}

// Handler returns the owner of a partition of the topic of changes. Its goroutines run until it is closed.
func (f *Follower) Handler(_ string, partition int) consume.Handler { return f.handler(partition) }

func (f *Follower) handler(partition int) *Handler {
	ctx, cancel := context.WithCancel(context.Background())
	h := &Handler{
		f: f, partition: partition, vehicles: make(map[fleet.VehicleKey]*vehicle), dirty: make(map[fleet.VehicleKey]*span),
		wakes: newWakes(), seenPolicies: make(map[fleet.AccountID]seen), sweptAt: f.deps.Now(), stop: cancel,
		repairNudge: make(chan struct{}, 1),
	}
	if f.cfg.Tick > 0 {
		h.stopped.Add(2)
		go func() { defer h.stopped.Done(); h.runTimers(ctx) }()
		go func() { defer h.stopped.Done(); h.runRepairs(ctx) }()
		if partition == 0 { // one owner at a time looks after what is about vehicles of several
			h.stopped.Go(func() { f.runPairs(ctx) })
		}
	}
	return h
}

// Close ends the goroutines and writes a checkpoint of every vehicle that changed. It blocks for as long as that takes,
// within Grace.
func (h *Handler) Close() error {
	h.stop()
	h.stopped.Wait()
	h.live.Lock()
	defer h.live.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), h.f.cfg.Grace)
	defer cancel()
	err := h.park(ctx, func(*vehicle) bool { return true }, func(*vehicle) bool { return false })
	h.mu.Lock()
	defer h.mu.Unlock()
	h.f.deps.Metrics.vehicles.Sub(float64(len(h.vehicles)))
	h.f.deps.Metrics.dirty.Sub(float64(len(h.dirty)))
	clear(h.vehicles)
	clear(h.dirty)
	return err
}

// change is what a batch says of a vehicle, all of it together.
type change struct {
	key           fleet.VehicleKey
	from, to      fleet.Millis // The times of the first and the last new input; 0 if there is none.
	inputs        [][]byte     // The new inputs, packed; nil if they must be read from the store.
	inputsMissing bool         // One of the records came without its inputs.
	againFrom     fleet.Millis // From when on jobs want everything derived again; 0 if none does.
	jobs          []fleet.JobID
}

// Handle works changes into what is derived, or marks them for the repair lane.
func (h *Handler) Handle(ctx context.Context, b *consume.Batch) error {
	end, err := h.f.lane(ctx)
	if err != nil {
		return err
	}
	defer end()
	h.live.Lock()
	defer h.live.Unlock()
	if slices.ContainsFunc(b.Records, func(r consume.Record) bool { return r.Poison != nil }) {
		if err := h.startOver(ctx); err != nil {
			return fmt.Errorf("handle %s: %w", b.Token(), err)
		}
	}
	if err := h.begin(ctx); err != nil {
		return fmt.Errorf("handle %s: %w", b.Token(), err)
	}
	changes, others := h.decode(b)
	if len(others) > 0 {
		if err := h.f.deps.Changes.PublishChanges(ctx, others); err != nil {
			return fmt.Errorf("handle %s: %w", b.Token(), err)
		}
		h.f.deps.Metrics.forwarded.Add(float64(len(others)))
	}
	if slices.ContainsFunc(changes, func(c *change) bool { return len(c.jobs) > 0 }) {
		if err := h.f.deps.Policies.RefreshNow(ctx); err != nil {
			return fmt.Errorf("handle %s: %w", b.Token(), err)
		}
	}
	for part := range slices.Chunk(changes, h.f.cfg.PartVehicles) {
		if err := h.follow(ctx, part); err != nil {
			return fmt.Errorf("handle %s: %w", b.Token(), err)
		}
	}
	if at := b.Records[len(b.Records)-1].Time; at != 0 {
		h.f.deps.Metrics.lag.Observe(max(0, h.f.deps.Now().Sub(at.Time()).Seconds()))
	}
	return nil
}

// decode reads a batch's changes and puts those of a vehicle together. Others are of vehicles that are not of this
// partition: they were told when the topic had fewer partitions, or by who does not know of all.
func (h *Handler) decode(b *consume.Batch) (all []*change, others []fleet.Change) {
	byKey := make(map[fleet.VehicleKey]*change)
	for i := range b.Records {
		if b.Records[i].Poison != nil {
			h.f.deps.Metrics.broken.Inc()
			continue
		}
		c, err := codec.ParseChange(b.Records[i].Value)
		if err != nil || c.Account == 0 || c.Vehicle == 0 || c.From > c.To {
			h.f.deps.Metrics.broken.Inc()
			h.f.deps.Log.Error("a record is no change", "topic", b.Topic, "partition", b.Partition, "offset",
				b.Records[i].Offset, "error", err)
			continue
		}
		if !h.owns(c.Vehicle) {
			others = append(others, c)
			continue
		}
		h.f.deps.Metrics.changes.Inc()
		key := fleet.VehicleKey{Account: c.Account, Vehicle: c.Vehicle}
		merged := byKey[key]
		if merged == nil {
			merged = &change{key: key}
			byKey[key] = merged
			all = append(all, merged)
		}
		from := max(c.From, 1)
		switch {
		case c.Job != 0:
			merged.againFrom = earlier(merged.againFrom, from)
			if !slices.Contains(merged.jobs, c.Job) {
				merged.jobs = append(merged.jobs, c.Job)
			}
		case c.To > 0:
			merged.from, merged.to = earlier(merged.from, from), max(merged.to, c.To)
			merged.inputsMissing = merged.inputsMissing || c.Inputs == nil
			if merged.inputs = append(merged.inputs, c.Inputs); merged.inputsMissing {
				merged.inputs = nil
			}
		}
	}
	slices.SortFunc(all, func(a, b *change) int {
		return cmp.Or(cmp.Compare(a.key.Account, b.key.Account), cmp.Compare(a.key.Vehicle, b.key.Vehicle))
	})
	return all, others
}

// earlier returns the earlier of two times, of which 0 is none.
func earlier(a, b fleet.Millis) fleet.Millis {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// startOver forgets all vehicles, as a new owner knows none: changes that cannot be read may have been about any of
// them, or other partitions have some of them now. What is stored of them since their checkpoints is looked at again.
func (h *Handler) startOver(ctx context.Context) error {
	if err := h.park(ctx, func(*vehicle) bool { return true }, func(*vehicle) bool { return false }); err != nil {
		return fmt.Errorf("begin anew: %w", err)
	}
	h.mu.Lock()
	left := slices.Collect(maps.Keys(h.vehicles)) // whose repairs were about to write
	h.mu.Unlock()
	for _, key := range left {
		v := h.take(key, true)
		h.forget(v)
		v.lock.Unlock()
	}
	h.begun = false
	return nil
}

// partitionAge is how old the owner's idea of the number of partitions may be while it works.
const partitionAge = 2 * time.Second

// recount notices that the topic of changes has other partitions than before. Then this owner begins anew with its
// share: until the consumer group has given away the new partitions, nobody owns the vehicles on them.
func (h *Handler) recount(ctx context.Context) error {
	age := partitionAge
	if !h.begun {
		age = 0 // a new partition has its owner because somebody knows of it
	}
	n, err := h.f.deps.Topic.Count(ctx, age)
	switch {
	case err != nil && h.begun:
		return nil // without brokers nothing comes either
	case err != nil:
		return fmt.Errorf("count the partitions: %w", err)
	case n <= h.partition:
		return fmt.Errorf("partition %d is not among the %d that a broker knows of", h.partition, n)
	case n == h.partitions:
		return nil
	}
	if h.begun {
		h.f.deps.Log.Warn("the topic of changes has another number of partitions; beginning anew", "partition", h.partition,
			"before", h.partitions, "now", n)
		if err := h.startOver(ctx); err != nil {
			return err
		}
	}
	h.partitions = n
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wakes = newWakes()
	for key, s := range h.dirty {
		if !h.owns(key.Vehicle) && !s.running {
			delete(h.dirty, key)
			h.f.deps.Metrics.dirty.Dec()
		}
	}
	return nil
}

// owns says whether a vehicle is of this partition; only with live.
func (h *Handler) owns(vehicle fleet.VehicleID) bool {
	return h.f.deps.Topic.Partition(vehicle, h.partitions) == h.partition
}

// begin learns what earlier owners of the partition have left behind, if this one does not know yet.
func (h *Handler) begin(ctx context.Context) error {
	if err := h.recount(ctx); err != nil {
		return fmt.Errorf("take over a partition: %w", err)
	}
	if h.begun {
		return nil
	}
	// A repair that a job wants goes by what was laid down before the job, and this process may not have
	// heard of that yet.
	if err := h.f.deps.Policies.RefreshNow(ctx); err != nil {
		return fmt.Errorf("take over a partition: %w", err)
	}
	var all []fleet.VehicleKey
	wake := make(map[fleet.VehicleKey]fleet.Millis)
	if err := h.f.loadWakes(ctx, func(key fleet.VehicleKey, at fleet.Millis) {
		if h.owns(key.Vehicle) {
			all = append(all, key)
			wake[key] = at
		}
	}); err != nil {
		return fmt.Errorf("take over a partition: %w", err)
	}
	spans := make(map[fleet.VehicleKey]*span)
	if err := h.f.loadDirty(ctx, func(key fleet.VehicleKey, from fleet.Millis, jobs []fleet.JobID) {
		if h.owns(key.Vehicle) {
			spans[key] = &span{from: from, storedFrom: from, jobs: jobs}
		}
	}); err != nil {
		return fmt.Errorf("take over a partition: %w", err)
	}
	h.mu.Lock()
	for key, at := range wake {
		h.wakes.set(key, at)
	}
	for key, s := range spans {
		if h.dirty[key] == nil {
			h.f.deps.Metrics.dirty.Inc()
			h.dirty[key] = s
		}
	}
	h.mu.Unlock()
	// What the last owner did after its last checkpoints is gone from memory. Each vehicle is looked at once.
	h.recheck, h.begun = all, true
	h.nudgeRepairs()
	return nil
}

// nudgeRepairs tells the repair lane that there may be something to do.
func (h *Handler) nudgeRepairs() {
	select {
	case h.repairNudge <- struct{}{}:
	default:
	}
}

// take returns a vehicle with its lock held, or nil if somebody else holds it and wait is false.
func (h *Handler) take(key fleet.VehicleKey, wait bool) *vehicle {
	for {
		h.mu.Lock()
		v := h.vehicles[key]
		if v == nil {
			v = &vehicle{key: key}
			h.vehicles[key] = v
			h.f.deps.Metrics.vehicles.Inc()
		}
		h.mu.Unlock()
		if wait {
			v.lock.Lock()
		} else if !v.lock.TryLock() {
			return nil
		}
		if !v.forgotten {
			return v
		}
		v.lock.Unlock()
	}
}

// forget drops a vehicle, whose lock is held, from memory.
func (h *Handler) forget(v *vehicle) {
	v.forgotten = true
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.vehicles[v.key] == v {
		delete(h.vehicles, v.key)
		h.f.deps.Metrics.vehicles.Dec()
	}
}

// mark notes spans to be derived again, and returns when that is stored.
func (h *Handler) mark(ctx context.Context, marks []*change) error {
	if len(marks) == 0 {
		return nil
	}
	var all []dirtyRow
	h.mu.Lock()
	for _, m := range marks {
		s := h.dirty[m.key]
		if s == nil {
			s = &span{from: m.from}
			h.dirty[m.key] = s
			h.f.deps.Metrics.dirty.Inc()
		}
		s.from, s.to = earlier(s.from, m.from), max(s.to, m.to)
		if s.running {
			s.touchedFrom = earlier(s.touchedFrom, m.from)
		}
		store := s.storedFrom == 0 || s.from < s.storedFrom
		for _, j := range m.jobs {
			if !slices.Contains(s.jobs, j) || s.running {
				s.jobs = append(s.jobs, j)
				store = true
			}
		}
		if store {
			all = append(all, dirtyRow{key: m.key, version: h.f.version(), from: s.from, jobs: slices.Clone(s.jobs)})
		}
	}
	h.mu.Unlock()
	if err := h.f.writeDirty(ctx, all); err != nil {
		return err
	}
	h.mu.Lock()
	for _, d := range all {
		if s := h.dirty[d.key]; s != nil {
			s.storedFrom = earlier(s.storedFrom, d.from)
		}
	}
	h.mu.Unlock()
	h.nudgeRepairs()
	return nil
}
