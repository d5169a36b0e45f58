package record_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas/schematest"
)

// noted is a consequence that notes for which revisions it was called, and fails for those of some vehicles.
type noted struct {
	mu    sync.Mutex
	calls []string
	fails map[string]bool // by VIN; "*" is all
}

func (n *noted) do(_ context.Context, w record.Written) error {
	before, after, err := record.Bodies[record.Vehicle](w)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fails[after.VIN] || n.fails["*"] {
		return errors.New("not now")
	}
	call := fmt.Sprintf("%s %d %s", after.VIN, w.Revision, w.Action)
	if before != nil {
		call += " after " + before.VIN + before.Nickname
	}
	n.calls = append(n.calls, call)
	return nil
}

// take returns what was noted since the last call, in order of its text.
func (n *noted) take() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	slices.Sort(n.calls)
	defer func() { n.calls = nil }()
	return strings.Join(n.calls, ", ")
}

// later is a store whose clock is ahead, as if time had passed, with consequences to note.
func later(t *testing.T, db driver.Conn, ahead time.Duration) (*record.Store, *noted) {
	t.Helper()
	now := func() time.Time { return time.Now().Add(ahead) }
	s, err := record.NewStore(record.Config{Deadline: time.Minute, Abandoned: 2 * time.Minute}, db,
		fleet.NewIDSource(3, now), now)
	if err != nil {
		t.Fatal(err)
	}
	n := &noted{fails: map[string]bool{}}
	s.Then("vehicle", "note", n.do)
	return s, n
}

func settle(t *testing.T, s *record.Store, fails bool) {
	t.Helper()
	if err := s.SettleConsequences(t.Context()); (err != nil) != fails {
		t.Errorf("settle: %v", err)
	}
}

func rename(t *testing.T, s *record.Store, id uint64, nickname string) {
	t.Helper()
	if _, err := record.NewLog(s, record.Vehicles).Update(t.Context(), by, account, id, 0,
		func(r *record.Record[record.Vehicle]) error {
			r.Body.Nickname = nickname
			return nil
		}); err != nil {
		t.Fatal(err)
	}
}

func TestConsequencesFollowEveryWrite(t *testing.T) {
	db := schematest.Open(t)
	s, n := later(t, db, 0)
	r := create(t, s, vehicle("A"))
	rename(t, s, r.ID, "x")
	rename(t, s, r.ID, "x") // changes nothing
	if _, err := record.NewLog(s, record.Vehicles).Archive(t.Context(), by, account, r.ID, 0, nil); err != nil {
		t.Fatal(err)
	}
	if got := n.take(); got != "A 1 create, A 2 update after A, A 3 archive after Ax" {
		t.Errorf("noted %s", got)
	}
	ids, bodies := []uint64{s.NextID(), s.NextID()}, []record.Vehicle{vehicle("B"), vehicle("C")}
	for _, err := range record.NewLog(s, record.Vehicles).CreateMany(t.Context(), by, account, ids, bodies) {
		if err != nil {
			t.Error(err)
		}
	}
	if got := n.take(); got != "B 1 create, C 1 create" {
		t.Errorf("noted %s", got)
	}
	settle(t, s, false) // marks what was done
	after, again := later(t, db, time.Minute)
	settle(t, after, false)
	if got := again.take(); got != "" {
		t.Errorf("another store did again %s", got)
	}
}

// A process that dies after a write leaves its consequences to the others.
func TestAnotherStoreSettlesWhatOneLeft(t *testing.T) {
	db := schematest.Open(t)
	dead := newStore(t, db, 1) // knows no consequences: it dies before them
	r := create(t, dead, vehicle("A"))
	rename(t, dead, r.ID, "x")
	busy, n := later(t, db, 0)
	settle(t, busy, false)
	if got := n.take(); got != "" {
		t.Errorf("settled at once, while the writer may be at it: %s", got)
	}
	after, n := later(t, db, time.Minute)
	settle(t, after, false)
	if got := n.take(); got != "A 1 create, A 2 update after A" {
		t.Errorf("settled %s", got)
	}
	settle(t, after, false)
	if got := n.take(); got != "" {
		t.Errorf("settled again %s", got)
	}
	third, n := later(t, db, 2*time.Minute)
	settle(t, third, false)
	if got := n.take(); got != "" {
		t.Errorf("another store settled again %s", got)
	}
}

// What is decided in memory is written with times of the past, and listed a while later: whoever settles it meanwhile
// has it listed first, or a vehicle would be rented by a booking that nobody finds.
func TestNothingFollowsBeforeItIsListed(t *testing.T) {
	db := schematest.Open(t)
	writing, _ := later(t, &torn{Conn: db, dead: true}, -30*time.Minute)
	r := create(t, writing, vehicle("A"))
	rename(t, writing, r.ID, "x")
	s, _ := later(t, db, 0)
	asked := 0
	s.Then("vehicle", "look", func(context.Context, record.Written) error {
		asked++
		stands(t, db, r.ID, 2, "x")
		return nil
	})
	settle(t, s, false)
	if asked == 0 {
		t.Error("nothing was settled")
	}
}

// A mark that the store lost costs one repetition, not one in every pass: the same mark said again is no repetition
// to the server.
func TestAMarkThatWasLostIsMadeAgain(t *testing.T) {
	db := schematest.Open(t)
	create(t, newStore(t, db, 1), vehicle("A"))
	for range 2 {
		s, n := later(t, db, time.Minute)
		settle(t, s, false)
		if got := n.take(); got != "A 1 create" {
			t.Errorf("settled %s", got)
		}
		s, n = later(t, db, time.Minute)
		settle(t, s, false)
		if got := n.take(); got != "" {
			t.Errorf("another store settled again %s", got)
		}
		if err := db.Exec(t.Context(),
			"ALTER TABLE record_settled DELETE WHERE true SETTINGS mutations_sync = 1"); err != nil {
			t.Fatal(err)
		}
	}
}

// What fails is tried again, however long that takes, and keeps nothing else from its turn.
func TestWhatFailsIsSettledOnce(t *testing.T) {
	db := schematest.Open(t)
	ahead := time.Duration(0)
	now := func() time.Time { return time.Now().Add(ahead) }
	s, err := record.NewStore(record.Config{Deadline: time.Minute, Abandoned: 2 * time.Minute}, db,
		fleet.NewIDSource(3, now), now)
	if err != nil {
		t.Fatal(err)
	}
	n := &noted{fails: map[string]bool{"A": true}}
	s.Then("vehicle", "note", n.do)
	create(t, s, vehicle("A"))
	for range 3 {
		settle(t, s, ahead > 0)
		ahead += 3 * time.Hour
		create(t, s, vehicle(fmt.Sprint(ahead)))
	}
	if got := n.take(); strings.Contains(got, "A ") || strings.Count(got, "create") != 3 {
		t.Errorf("noted %s", got)
	}
	delete(n.fails, "A")
	settle(t, s, false)
	if got := n.take(); got != "A 1 create" {
		t.Errorf("settled %s", got)
	}
}

// While nothing works a pass is given up soon, and the next one begins behind it.
func TestAPassThatFailsIsGivenUp(t *testing.T) {
	db := schematest.Open(t)
	dead := newStore(t, db, 1)
	ids, bodies := make([]uint64, 50), make([]record.Vehicle, 50)
	for i := range ids {
		ids[i], bodies[i] = dead.NextID(), vehicle(fmt.Sprintf("V%02d", i))
	}
	for _, err := range record.NewLog(dead, record.Vehicles).CreateMany(t.Context(), by, account, ids, bodies) {
		if err != nil {
			t.Fatal(err)
		}
	}
	s, n := later(t, db, time.Minute)
	for i := range 20 {
		n.fails[fmt.Sprintf("V%02d", i)] = true
	}
	settle(t, s, true)
	if got := n.take(); got != "" {
		t.Errorf("settled %s", got)
	}
	settle(t, s, false)
	if got := n.take(); strings.Count(got, "create") != 30 {
		t.Errorf("settled %s", got)
	}
	clear(n.fails)
	settle(t, s, false)
	if got := n.take(); strings.Count(got, "create") != 20 {
		t.Errorf("settled %s", got)
	}
}

// The first look goes back to what was settled last, though that be long ago.
func TestTheFirstLookGoesBackToWhatWasSettledLast(t *testing.T) {
	db := schematest.Open(t)
	s, _ := later(t, db, 0)
	create(t, s, vehicle("A"))
	settle(t, s, false)
	create(t, newStore(t, db, 1), vehicle("B")) // and then nobody was there for two days
	after, n := later(t, db, 48*time.Hour)
	settle(t, after, false)
	if got := n.take(); got != "B 1 create" {
		t.Errorf("settled %s", got)
	}
}

// What follows from all kinds is carried out beside what follows from one, and either alone keeps a revision from
// being settled.
func TestConsequencesOfAllKinds(t *testing.T) {
	db := schematest.Open(t)
	s, n := later(t, db, 0)
	all := &noted{fails: map[string]bool{"A": true}}
	s.Then("", "all", all.do)
	create(t, s, vehicle("A"))
	create(t, s, vehicle("B"))
	if n.take() != "A 1 create, B 1 create" || all.take() != "B 1 create" {
		t.Error("not carried out once each")
	}
	settle(t, s, false)
	after, n := later(t, db, time.Minute)
	after.Then("", "all", all.do)
	clear(all.fails)
	settle(t, after, false)
	if got, own := all.take(), n.take(); got != "A 1 create" || own != "A 1 create" {
		t.Errorf("settled %q and %q", got, own)
	}
}

// What a revision gives up is free when what follows from it is carried out: a merge gives it to another record there.
func TestWhatFollowsMayClaimWhatWasGivenUp(t *testing.T) {
	s := newStore(t, schematest.Open(t), 1)
	log := record.NewLog(s, record.Vehicles)
	var heir error
	s.Then("vehicle", "inherit", func(ctx context.Context, w record.Written) error {
		if w.Action == record.ActionArchive {
			_, _, heir = log.Create(ctx, by, account, s.NextID(), vehicle("A"))
		}
		return heir
	})
	old := create(t, s, vehicle("A"))
	if _, err := log.Archive(t.Context(), by, account, old.ID, 0, nil); err != nil || heir != nil {
		t.Errorf("archived: %v; the heir: %v", err, heir)
	}
}

// What has nothing to do with the others does not wait for them: two that wait for each other would
// otherwise never meet.
func TestWhatFollowsBesideIsDoneAtOnce(t *testing.T) {
	s := newStore(t, schematest.Open(t), 1)
	meets := make(chan bool)
	met := false
	s.Then("vehicle", "waits", func(ctx context.Context, _ record.Written) error {
		select {
		case met = <-meets:
		case <-time.After(10 * time.Second):
		}
		return nil
	})
	s.Beside("vehicle", "comes", func(ctx context.Context, _ record.Written) error {
		select {
		case meets <- true:
		case <-time.After(10 * time.Second):
		}
		return nil
	})
	create(t, s, vehicle("A"))
	if !met {
		t.Error("one was done after the other")
	}
}
