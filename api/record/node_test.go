package record_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas/schematest"
)

// nodeOf returns the node number in an id.
func nodeOf(id uint64) uint64 { return id >> 12 % fleet.Nodes }

func TestProcessesLeaseDifferentNodes(t *testing.T) {
	db := schematest.Open(t)
	var all sync.WaitGroup
	var seen sync.Map
	for range 24 {
		s := newStore(t, db, fleet.Nodes-1)
		all.Go(func() {
			for range 2 { // leases, and renews
				if err := s.LeaseNode(t.Context()); err != nil {
					t.Error(err)
				}
			}
			node := nodeOf(s.NextID())
			if _, taken := seen.LoadOrStore(node, s); taken || node >= fleet.LeasedNodes {
				t.Errorf("node %d, taken %v", node, taken)
			}
		})
	}
	all.Wait()
}

// A process is suspended for longer than its lease lasts, and another one takes its node number.
func TestAProcessWhoseLeaseLapsedMakesNoMoreIDsWithIt(t *testing.T) {
	db := schematest.Open(t)
	var slept atomic.Int64
	clock := func() time.Time { return time.Now().Round(0).Add(time.Duration(slept.Load())) }
	open := func(now func() time.Time) *record.Store {
		s, err := record.NewStore(record.Config{Deadline: time.Minute, Abandoned: 2 * time.Minute}, db,
			fleet.NewIDSource(fleet.Nodes-1, now), now)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	// One number is left.
	if err := db.Exec(t.Context(), `INSERT INTO claim_log (account, field, value, revision, write_id, owner, detail)
		SELECT 0, 'node', toString(number), 1, 1, 1, '' FROM numbers(767)`); err != nil {
		t.Fatal(err)
	}
	sleeper, heir := open(clock), open(time.Now)
	if err := sleeper.LeaseNode(t.Context()); err != nil || nodeOf(sleeper.NextID()) != 767 {
		t.Fatalf("node %d, %v", nodeOf(sleeper.NextID()), err)
	}
	if err := heir.LeaseNode(t.Context()); err == nil || nodeOf(heir.NextID()) != fleet.Nodes-1 {
		t.Fatalf("node %d of another one, %v", nodeOf(heir.NextID()), err)
	}
	slept.Store(int64(time.Hour))
	if got := nodeOf(sleeper.NextID()); got != fleet.Nodes-1 {
		t.Errorf("an id of node %d after the lease", got)
	}
	if err := db.Exec(t.Context(), "ALTER TABLE claim_log UPDATE at = at - INTERVAL 1 HOUR WHERE value IN ('767', '12') SETTINGS mutations_sync = 1"); err != nil {
		t.Fatal(err)
	}
	heirs := map[uint64]bool{}
	for range 2 {
		if err := heir.LeaseNode(t.Context()); err != nil {
			t.Fatal(err)
		}
		heirs[nodeOf(heir.NextID())] = true
		heir = open(time.Now)
	}
	if !heirs[12] || !heirs[767] {
		t.Errorf("nodes of the heirs: %v", heirs)
	}
	if err := sleeper.LeaseNode(t.Context()); err == nil || nodeOf(sleeper.NextID()) != fleet.Nodes-1 {
		t.Errorf("the lease was another's: node %d, %v", nodeOf(sleeper.NextID()), err)
	}
	auditIsClean(t, sleeper)
}
