package follow

import (
	"slices"
	"sync"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/derive"
)

// vehicle is what an owner remembers of a vehicle. Whoever holds lock may use the rest; the repair lane waits for it,
// the live lane does not.
type vehicle struct {
	key       fleet.VehicleKey
	lock      sync.Mutex
	forgotten bool // It is no longer the owner's, and whoever waited for the lock looks it up again.

	loaded        bool
	justLoaded    bool // Nothing was derived since it was loaded, so there may be much that it has not seen.
	machine       *derive.Vehicle
	policyVersion uint64 // The version of the policy that machine was made from.
	state         derive.State
	snapshots     []snapshot // At most two, the older first.
	// What is stored of it: all that was recognised after the oldest snapshot, and what is open.
	storedRows []storedRow

	openUnwritten     bool         // What is open may be stored in an old version.
	openLookedAt      fleet.Millis // The event time at which what is open was last looked at.
	usedAt            time.Time    // When something was last derived, by our clock.
	checkpointAt      fleet.Millis // The event time of the newest stored checkpoint; 0 if there is none.
	checkpointWritten time.Time    // When that checkpoint was written, by our clock.
	checkpointWake    fleet.Millis // When the vehicle must be looked at, as that checkpoint has it.
	changed           bool         // The state is not that of the stored checkpoint.
	unsavedInputs     int          // How many inputs came since the stored checkpoint.
	lateInputAt       time.Time    // When an input last came behind the state, by our clock; zero for never.
	historyFrom       fleet.Millis // The first of many fixes that no checkpoint covers; 0 if there are not many.
	// The newest input that was stored when it was loaded. No change tells of that one any more. 0 if there was none.
	storedUntil fleet.Millis
}

// snapshot is a state that a vehicle can go back to.
type snapshot struct {
	at    fleet.Millis // Everything up to this time is decided in the state.
	state derive.State
}

// storedRow is what is remembered of a row of derivations that is stored.
type storedRow struct {
	id         uint64
	digest     uint64
	mark       uint64 // What markOf returned for the stored version.
	recognised fleet.Millis
	wrote      fleet.Millis // The event time of the run that wrote it; 0 if another owner did.
	revision   uint32
	kind       uint8 // The index of its kind in fleet.Kinds.
	open       bool
	deleted    bool
	late       bool
}

// compile makes the vehicle's machine from the present policy of its account, if that has changed.
func (v *vehicle) compile(f *Follower) {
	c := f.policy(v.key.Account)
	if v.machine == nil || v.policyVersion != c.policy.Version {
		v.machine = derive.NewVehicle(&f.cfg.Derive, v.key, c.policy, c.fences, c.rules)
		v.policyVersion = c.policy.Version
	}
}

// snapshot keeps a copy of the state, if the newest is old enough. States are what fills the memory, and most vehicles
// send in order: only one that did not, of late, gets any.
func (v *vehicle) snapshot(f *Follower) {
	at, every := v.state.Reached(), millis(f.cfg.SnapshotEvery)
	if v.lateInputAt.IsZero() || f.deps.Now().Sub(v.lateInputAt) > f.cfg.IdleAfter {
		v.snapshots = nil
		return
	}
	if n := len(v.snapshots); n > 0 && at-v.snapshots[n-1].at < every {
		return
	}
	if len(v.snapshots) >= 2 {
		v.snapshots = slices.Delete(v.snapshots, 0, len(v.snapshots)-1)
	}
	v.snapshots = append(v.snapshots, snapshot{at: at, state: v.state.Clone()})
}

// rewind puts the vehicle back to its newest snapshot before a time and says whether there is one. The snapshot stays.
func (v *vehicle) rewind(before fleet.Millis) bool {
	for i := len(v.snapshots) - 1; i >= 0; i-- {
		if v.snapshots[i].at < before {
			v.snapshots = slices.Delete(v.snapshots, i+1, len(v.snapshots))
			v.state = v.snapshots[i].state.Clone()
			return true
		}
	}
	return false
}

// prune forgets rows that nothing in memory can change any more.
func (v *vehicle) prune() {
	oldest := v.state.Reached()
	if len(v.snapshots) > 0 {
		oldest = v.snapshots[0].at
	}
	v.storedRows = slices.DeleteFunc(v.storedRows, func(k storedRow) bool {
		return k.recognised <= oldest && (k.deleted || !k.open)
	})
	if cap(v.storedRows) > 32 && cap(v.storedRows) > 4*len(v.storedRows) {
		v.storedRows = slices.Clone(v.storedRows)
	}
}

// due returns when the vehicle must be looked at again if nothing comes: silence means something then, or something
// that is stored from an earlier life must come out again or be deleted. 0 for never.
func (v *vehicle) due() fleet.Millis {
	wake, reached := v.machine.Wake(&v.state), v.state.Reached()
	for i := range v.storedRows {
		if k := &v.storedRows[i]; !k.deleted && k.recognised > reached && (wake == 0 || k.recognised < wake) {
			wake = k.recognised
		}
	}
	return wake
}
