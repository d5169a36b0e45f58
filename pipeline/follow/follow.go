// Package follow owns what is derived of vehicles: it takes their stored fixes and signals in order of event time, runs
// pipeline/derive over them, holds what comes out against what is stored, and publishes and writes the difference.
//
// A Handler is the owner of one partition of the topic of changes, and so of its vehicles. It works in two lanes:
//
//	            newer than the state ──────────────► pull, step, reconcile ─┐
//	change ─────┤ newer than a snapshot in memory ─► go back to it, likewise ├─► events ─► derivations ─► checkpoints
//	            older ─► dirty span ─► repair lane: from a checkpoint ───────┘
//	timer: nothing came ─► pull, step, advance ──────────────────────────────┘
//
// The live lane (Handle and the timers, one at a time) never waits for a repair: a vehicle that is just being swapped
// is left to its repair. The repair lane derives on a copy, takes the vehicle's lock only to catch up, to write and to
// put the copy in the vehicle's place.
//
// What survives a crash, and why nothing gets lost: a change is either worked into what is stored, or it has a row of
// dirty_spans, before Handle returns. A checkpoint is never newer than a change it does not know of, unless a dirty
// span says so: whoever goes back behind a stored checkpoint writes another in its place, or drops it, before Handle
// returns. Everything else in memory is a copy. After an error the vehicles concerned are forgotten and loaded again.
//
// Inputs are pulled from the store, unless they came with the change. Those are enough where all else that is stored
// and later than the state will be told of by a change that is still to come: once the state has passed whatever there
// was when the vehicle was loaded, and while no repair has anything that the live lane left to it.
//
// What was derived is judged by time of recognition: after a run from base to end, every stored thing that was
// recognised in (base, end] and did not come out again does not hold, and is deleted. Versions of one thing are told
// apart by a digest, so deriving again without a difference writes nothing. Events are acknowledged before rows are
// written: one may come twice, with the same identity, and none is lost.
package follow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/alert"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/pipeline/geofence"
)

// Config holds the settings of all owners.
type Config struct {
	Derive derive.Config

	Tick         time.Duration // How often timers and the repair lane are looked at; 0 leaves that to the caller.
	SilenceDelay time.Duration // Silence is judged up to this long before now.
	LateAfter    time.Duration // What is recognised later than this after its time is late.
	// What goes on is written once in this span of event time at most, and when nothing has come for as long by our clock.
	OpenEvery     time.Duration
	SnapshotEvery time.Duration // The event time between two snapshots in memory.
	SaveEvery     time.Duration // The time between checkpoints of a vehicle that changes.
	SaveInputs    int           // The number of inputs between two checkpoints of a vehicle at most.
	IdleAfter     time.Duration // A vehicle that has been left alone for this long is forgotten.
	RepairPause   time.Duration // The time between two repairs of a vehicle.
	Grace         time.Duration // What is left for checkpoints when a partition is lost or the process stops.
	Repairs       int           // How many repairs run at once in this process.
	Lanes         int           // How many live lanes work at once while this process stores fixes, which comes first.
	SpareLanes    int           // How many further live lanes work while it stores none.
	PartVehicles  int           // How many vehicles a query is about.
	ChunkRows     int           // How many fixes, and measurements, a repair pulls at once.
	HistoryRows   int           // A vehicle without a checkpoint and with more fixes is left to the repair lane.
}

// DefaultConfig returns the settings used when nothing else is said.
func DefaultConfig() Config {
	cfg := Config{
		Derive: derive.DefaultConfig(), Tick: time.Second, SilenceDelay: 30 * time.Second, LateAfter: 15 * time.Minute,
		OpenEvery: time.Minute, SnapshotEvery: time.Minute, SaveEvery: 5 * time.Minute, SaveInputs: 100_000,
		IdleAfter:   10 * time.Minute,
		RepairPause: 2 * time.Second, Grace: 15 * time.Second, Repairs: 2, Lanes: max(1, runtime.GOMAXPROCS(0)/2),
		SpareLanes:   runtime.GOMAXPROCS(0) / 2,
		PartVehicles: 1000, ChunkRows: 50_000, HistoryRows: 5000,
	}
	return cfg
}

// Validate returns what is wrong with the settings.
func (c *Config) Validate() error {
	problems := []error{c.Derive.Validate()}
	check := func(ok bool, problem string) {
		if !ok {
			problems = append(problems, errors.New("follow "+problem))
		}
	}
	check(c.Tick >= 0 && c.SilenceDelay >= 0 && c.LateAfter >= 0 && c.OpenEvery >= 0 &&
		c.SnapshotEvery >= 0, "tick, silence delay, late, open, snapshot: must not be negative")
	check(c.SaveEvery >= 0 && c.IdleAfter >= 0 && c.RepairPause >= 0 &&
		c.Grace >= 0, "save, idle, repair pause, grace: must not be negative")
	check(c.SaveInputs > 0 && c.Repairs > 0 && c.Lanes > 0 && c.SpareLanes >= 0 && c.PartVehicles > 0 && c.ChunkRows > 1 &&
		c.HistoryRows >= 0, "counts: must be positive")
	return errors.Join(problems...)
}

// Policies knows what accounts have laid down.
type Policies interface {
	// Of returns an account's policy, never nil and not to be changed.
	Of(account fleet.AccountID) *fleet.Policy
	// RefreshNow blocks until policies are not older than the call.
	RefreshNow(ctx context.Context) error
}

// EventPublisher puts events on their topic and returns when they are acknowledged.
type EventPublisher interface {
	PublishEvents(ctx context.Context, events []fleet.Event) error
}

// ChangePublisher puts changes on their topic, each on the partition of its vehicle, and returns when they
// are acknowledged.
type ChangePublisher interface {
	PublishChanges(ctx context.Context, changes []fleet.Change) error
}

// Topic knows on which partition of the topic of changes a vehicle is.
type Topic interface {
	// Count returns how many partitions there are; the answer is not older than age.
	Count(ctx context.Context, age time.Duration) (int, error)
	// Partition returns a vehicle's, of so many.
	Partition(vehicle fleet.VehicleID, partitions int) int
}

// Deps are what owners share.
type Deps struct {
	DB       driver.Conn
	Policies Policies
	Events   EventPublisher
	Changes  ChangePublisher // Takes changes that came to an owner who is not, or no longer, their vehicle's.
	Topic    Topic           // The topic of changes.
	// AllStored says whether everything that was sent is stored; nil for always.
	AllStored func(ctx context.Context) bool
	// Behind names the partitions that reports come through, as topic/partition, of which not everything that was sent
	// is stored, if the silence of vehicles that report elsewhere can be judged all the same. It is asked where AllStored
	// says no; nil for never.
	Behind  func(ctx context.Context, partition int) (behind []string, ok bool)
	Storing func() bool // Says whether this process is storing something now; nil for never.
	Now     func() time.Time
	Metrics *Metrics
	Log     *slog.Logger
}

// Follower makes the owners of partitions in a process. It is safe for concurrent use.
type Follower struct {
	cfg          Config
	deps         Deps
	repairTokens chan struct{} // Holds a token for each repair under way.
	laneTokens   chan struct{} // Holds a token for each live lane at work.
	spareTokens  chan struct{} // Holds a token for each live lane at work beyond Config.Lanes.
	lastVersion  atomic.Uint64 // The version that was given last.

	mu       sync.Mutex
	compiled map[fleet.AccountID]*compiled
}

// compiled is a policy, ready for use.
type compiled struct {
	policy        *fleet.Policy
	fences        *geofence.Index
	rules         *alert.Engine
	wantedSignals fleet.SignalSet // The signals that something is derived from under the rules.
	pairRules     []fleet.Rule    // Those of the rules that are about two vehicles.
}

// New prepares the owners; it connects to nothing.
func New(cfg Config, deps Deps) (*Follower, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("follow configuration: %w", err)
	}
	if deps.DB == nil || deps.Policies == nil || deps.Events == nil || deps.Changes == nil || deps.Topic == nil ||
		deps.Metrics == nil || deps.Log == nil {
		return nil, errors.New("follow configuration: something to work with is missing")
	}
	if deps.Now == nil {
		deps.Now = time.Now
	}
	if deps.Storing == nil {
		deps.Storing = func() bool { return false }
	}
	if deps.AllStored == nil {
		deps.AllStored = func(context.Context) bool { return true }
	}
	f := &Follower{cfg: cfg, deps: deps, repairTokens: make(chan struct{}, cfg.Repairs), laneTokens: make(chan struct{},
		cfg.Lanes), spareTokens: make(chan struct{}, cfg.SpareLanes), compiled: make(map[fleet.AccountID]*compiled)}
	return f, nil
}

// laneWait is how often a lane that waits looks whether the process is still storing.
const laneWait = 20 * time.Millisecond

// lane waits until a live lane may work, and returns what ends that.
func (f *Follower) lane(ctx context.Context) (func(), error) {
	wait := time.NewTicker(laneWait)
	defer wait.Stop()
	for {
		spare := f.spareTokens
		if f.deps.Storing() {
			spare = nil
		}
		select {
		case f.laneTokens <- struct{}{}:
			return func() { <-f.laneTokens }, nil
		case spare <- struct{}{}:
			return func() { <-f.spareTokens }, nil
		case <-wait.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// policy returns the present policy of an account. A geofence that cannot be compiled is told in the log,
// once a version.
func (f *Follower) policy(account fleet.AccountID) *compiled {
	p := f.deps.Policies.Of(account)
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.compiled[account]
	if c != nil && c.policy.Version == p.Version {
		return c
	}
	before := c
	c = &compiled{policy: p, pairRules: pairRules(p.Rules)}
	// Mostly it is a vehicle that was edited.
	if before != nil && reflect.DeepEqual(before.policy.Rules, p.Rules) {
		c.rules = before.rules
	} else {
		c.rules = alert.NewEngine(p.Rules)
	}
	if before != nil && reflect.DeepEqual(before.policy.Fences, p.Fences) {
		c.fences = before.fences
	} else {
		var earlier *geofence.Index
		if before != nil {
			earlier = before.fences
		}
		var err error
		if c.fences, err = geofence.NewIndexFrom(earlier, p.Fences); err != nil {
			f.deps.Log.Error("geofences that cannot be compiled are left out", "account", account, "error", err)
		}
	}
	c.wantedSignals = derive.Wanted(c.rules)
	f.compiled[account] = c
	return c
}

// wanted returns the signals that are derived from in the accounts of windows, and their names.
func (f *Follower) wanted(windows ...window) (signals []fleet.Signal, names []string) {
	var all fleet.SignalSet
	for i := range windows {
		if i > 0 && windows[i].key.Account == windows[i-1].key.Account {
			continue
		}
		for s, wanted := range f.policy(windows[i].key.Account).wantedSignals {
			all[s] = all[s] || wanted
		}
	}
	for s, wanted := range all {
		if wanted {
			signals = append(signals, fleet.Signal(s))
			names = append(names, fleet.Signal(s).String())
		}
	}
	return signals, names
}

// millis returns a length of time in milliseconds.
func millis(d time.Duration) fleet.Millis { return fleet.Millis(d / time.Millisecond) }

const day = fleet.Millis(24 * time.Hour / time.Millisecond)

// dayOf counts the UTC days since 1970.
func dayOf(t fleet.Millis) int64 { return int64(t / day) }
