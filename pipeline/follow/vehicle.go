package follow

import (
	"slices"
	"sync"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/derive"
)

// vehicle is what an owner remembers of a vehicle. Whoever holds lock may use the rest; the repair lane waits for it, the
// live lane does not.
type vehicle struct {
	key  fleet.VehicleKey
	lock sync.Mutex
	gone bool // no longer the owner's: look it up again

	loaded  bool
	fresh   bool // nothing was derived since it was loaded: there may be much that it has not seen
	machine *derive.Vehicle
	policy  uint64 // version that machine was made from
	state   derive.State
	snaps   []snapshot // at most two, older first
	known   []known    // of what is stored: all that was recognised after the oldest snapshot, and what is open

	pending bool         // what is open may be written in an old version
	openAt  fleet.Millis // event time at which what is open was last looked at
	used    time.Time    // our clock, when something was last derived
	savedAt fleet.Millis // the newest stored checkpoint; 0 for none
	saved   time.Time    // our clock, when it was written
	wake    fleet.Millis // as the stored checkpoint has it
	changed bool         // the state is not that of the stored checkpoint
	unsaved int          // inputs since the stored checkpoint
	tardy   time.Time    // our clock, when something came behind the state; zero for never
	history fleet.Millis // first of many fixes without a checkpoint; 0 for none
	stored  fleet.Millis // the newest input that there was when it was loaded and of which no change may come any more; 0 for none
}

// snapshot is a state that a vehicle can go back to.
type snapshot struct {
	at    fleet.Millis // up to which it is decided
	state derive.State
}

// known is what is remembered of a stored row.
type known struct {
	id         uint64
	digest     uint64
	mark       uint64       // see markOf
	recognised fleet.Millis //
	wrote      fleet.Millis // event time of the run that wrote it; 0 if another owner did
	revision   uint32
	kind       uint8 // index in fleet.Kinds
	open       bool
	deleted    bool
	late       bool
}

// compile makes the vehicle's machine from the present policy of its account, if that has changed.
func (v *vehicle) compile(f *Follower) {
	c := f.policy(v.key.Account)
	if v.machine == nil || v.policy != c.policy.Version {
		v.machine = derive.NewVehicle(&f.cfg.Derive, v.key, c.policy, c.fences, c.rules)
		v.policy = c.policy.Version
	}
}

// snapshot keeps a copy of the state, if the newest is old enough. States are what fills the memory, and most vehicles send in
// order: only one that did not, of late, gets any.
func (v *vehicle) snapshot(f *Follower) {
	at, every := v.state.Reached(), millis(f.cfg.SnapshotEvery)
	if v.tardy.IsZero() || f.deps.Now().Sub(v.tardy) > f.cfg.IdleAfter {
		v.snaps = nil
		return
	}
	if n := len(v.snaps); n > 0 && at-v.snaps[n-1].at < every {
		return
	}
	if len(v.snaps) >= 2 {
		v.snaps = slices.Delete(v.snaps, 0, len(v.snaps)-1)
	}
	v.snaps = append(v.snaps, snapshot{at: at, state: v.state.Clone()})
}

// rewind puts the vehicle back to its newest snapshot before a time and says whether there is one. The snapshot stays.
func (v *vehicle) rewind(before fleet.Millis) bool {
	for i := len(v.snaps) - 1; i >= 0; i-- {
		if v.snaps[i].at < before {
			v.snaps = slices.Delete(v.snaps, i+1, len(v.snaps))
			v.state = v.snaps[i].state.Clone()
			return true
		}
	}
	return false
}

// prune forgets rows that nothing in memory can change any more.
func (v *vehicle) prune() {
	oldest := v.state.Reached()
	if len(v.snaps) > 0 {
		oldest = v.snaps[0].at
	}
	v.known = slices.DeleteFunc(v.known, func(k known) bool { return k.recognised <= oldest && (k.deleted || !k.open) })
	if cap(v.known) > 32 && cap(v.known) > 4*len(v.known) {
		v.known = slices.Clone(v.known)
	}
}

// due returns when the vehicle must be looked at again if nothing comes: silence means something then, or something that
// is stored from an earlier life must come out again or be deleted. 0 for never.
func (v *vehicle) due() fleet.Millis {
	wake, reached := v.machine.Wake(&v.state), v.state.Reached()
	for i := range v.known {
		if k := &v.known[i]; !k.deleted && k.recognised > reached && (wake == 0 || k.recognised < wake) {
			wake = k.recognised
		}
	}
	return wake
}
