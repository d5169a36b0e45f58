package follow

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/pipeline/sink"
)

// with returns a newer policy with a rule more.
func (w *world) with(r fleet.Rule) *fleet.Policy {
	changed := *w.policy
	changed.Version++
	changed.Rules = append(slices.Clone(changed.Rules), r)
	return &changed
}

// job hands in that a job wants a vehicle derived again.
func (w *world) job(v fleet.VehicleID) {
	w.t.Helper()
	w.offset++
	w.handle(&consume.Batch{Topic: "changes", First: w.offset, Last: w.offset, Records: []consume.Record{
		w.record(fleet.Change{Account: account, Vehicle: v, To: w.now, Job: 77}),
	}})
}

// hang begins a repair that hangs in the store before the nth query of a name, and returns what lets it go on.
func (w *world) hang(name string, nth int) (release func()) {
	w.t.Helper()
	reached, released := make(chan struct{}), make(chan struct{})
	opening, _, _ := strings.Cut(queryOf(name), "\n")
	var mu sync.Mutex
	w.db.gate = func(statement string) {
		if !strings.HasPrefix(statement, opening) {
			return
		}
		mu.Lock()
		nth--
		here := nth == 0
		mu.Unlock()
		if here {
			close(reached)
			<-released
		}
	}
	key, ok := w.h.nextRepair()
	if !ok {
		w.t.Fatal("no repair waits")
	}
	done := make(chan error, 1)
	go func() { done <- w.h.repair(context.Background(), key) }()
	<-reached
	return func() {
		w.t.Helper()
		close(released)
		if err := <-done; err != nil {
			w.t.Fatal(err)
		}
		w.db.gate = nil
	}
}

// A repair that began before a rule was laid down must not withdraw what the live lane has found by it.
func TestRuleLaidDownDuringARepairHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(3, 3))
	all := ofVehicle(recording(rng, 1, 8), 1)
	n := len(all) - 100
	w.now = all[len(all)-1].At
	w.handle(w.store(rng, all[40:n]))
	w.handle(w.store(rng, all[:40]))
	release := w.hang("follow_fixes_of", 1) // it has its policy
	w.lay(w.with(fleet.Rule{ID: 99, Revision: 1, From: all[n].At, Kind: fleet.AlertSpeeding, Severity: "info",
		Threshold: 8}))
	w.handle(w.store(rng, all[n:]))
	const alerts = "(SELECT count() FROM alerts FINAL WHERE NOT deleted AND rule = 99)"
	before := w.count(alerts)
	release()
	w.repair()
	if after := w.count(alerts); before == 0 || after != before {
		t.Errorf("%d alerts before the repair ended, %d after", before, after)
	}
}

// However much has come for however many vehicles, it is pulled in portions.
func TestNoPullIsLargerThanItMayBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const chunk = 500
	w.cfg.ChunkRows, w.packed = chunk, false
	w.restart()
	rng := rand.New(rand.NewPCG(10, 10))
	all := recording(rng, 12, 4)
	end := fleet.Millis(0)
	for _, in := range all {
		end = max(end, in.At)
	}
	w.now = end
	w.handle(w.store(rng, all))
	const most = partChunks * chunk * fixBytes
	if len(all)*fixBytes < 2*most || w.db.bytes.Load() == 0 || w.db.bytes.Load() > most {
		t.Errorf("a query returned %d bytes of %d, and may %d", w.db.bytes.Load(), len(all)*fixBytes, most)
	}
	w.finish(end)

	inOrder := newWorld(t)
	inOrder.handle(inOrder.store(rng, all))
	inOrder.finish(end)
	if lines := differ(inOrder.derived(), w.derived()); len(lines) > 0 {
		t.Errorf("%d differ:\n%s", len(lines), strings.Join(lines[:min(3, len(lines))], "\n"))
	}
}

// What was stored before anything was derived is derived when a job wants it, though nobody was ever told of it.
func TestJobDerivesWhatNobodyWasToldOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(5, 5))
	all := recording(rng, 1, 4)
	w.now = all[len(all)-1].At
	w.store(rng, all)
	w.job(1)
	w.restart()
	w.tick()
	w.repair()
	w.finish(w.now)

	inOrder := newWorld(t)
	inOrder.handle(inOrder.store(rng, all))
	inOrder.finish(all[len(all)-1].At)
	want := inOrder.derived()
	if lines := differ(want, w.derived()); len(lines) > 0 || len(want) == 0 {
		t.Errorf("%d of %d differ:\n%s", len(lines), len(want), strings.Join(lines[:min(3, len(lines))], "\n"))
	}
}

// A repair that meets a vehicle first must not leave its long past to the live lane.
func TestLongPastIsNotForTheLiveLaneThoughARepairCameFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.HistoryRows = 100
	w.restart()
	rng := rand.New(rand.NewPCG(6, 6))
	all := recording(rng, 1, 6)
	n := len(all) - 10
	w.now = all[len(all)-1].At
	w.store(rng, all[:n])
	w.job(1)
	release := w.hang("follow_checkpoints", 2) // it has looked at the vehicle once
	w.db.bytes.Store(0)
	w.handle(w.store(rng, all[n:]))
	if w.db.bytes.Load() > 10*fixBytes {
		t.Errorf("the live lane pulled %d bytes", w.db.bytes.Load())
	}
	release()
	for _, s := range w.h.dirty {
		if s.from < all[n].At {
			t.Errorf("the long past is to be repaired again, from %v", s.from)
		}
	}
	w.repair()
	w.finish(w.now)

	inOrder := newWorld(t)
	inOrder.handle(inOrder.store(rng, all))
	inOrder.finish(all[len(all)-1].At)
	if lines := differ(inOrder.derived(), w.derived()); len(lines) > 0 {
		t.Errorf("%d differ:\n%s", len(lines), strings.Join(lines[:min(3, len(lines))], "\n"))
	}
}

// An account that is edited all the time must not have its vehicles pile up to be looked at.
func TestEditsDoNotPileUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cfg.PartVehicles = 1
	w.restart()
	rng := rand.New(rand.NewPCG(11, 11))
	const vehicles = 4
	w.now = morning + 2*3_600_000
	w.handle(w.store(rng, recording(rng, vehicles, 1)))
	edit := func() {
		w.now += fleet.Millis(2 * time.Minute / time.Millisecond)
		edited := *w.policy
		edited.Version++
		edited.Devices = map[fleet.DeviceID]fleet.TripSettings{fleet.DeviceID(edited.Version): {}} // may be anybody's
		w.lay(&edited)
	}
	for range 9 {
		edit()
		w.tick()
		if n := len(w.h.recheck); n > vehicles {
			t.Fatalf("%d vehicles wait to be looked at, of %d", n, vehicles)
		}
	}
	for len(w.h.recheck) == 0 {
		edit()
		w.tick()
	}
	edit() // while others still wait for the one before
	for len(w.h.recheck) > 0 {
		w.tick()
	}
	w.tick()
	if n := len(w.h.recheck); n == 0 {
		t.Error("the last edit was forgotten")
	}
}

// What is written of one vehicle, as a booking of it is, has that one looked at and no other; a rule all of them.
func TestABookingHasItsOwnVehicleLookedAt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(12, 12))
	const vehicles = 4
	w.now = morning + 2*3_600_000
	w.handle(w.store(rng, recording(rng, vehicles, 1)))
	reviewed := func(edit func(*fleet.Policy)) []fleet.VehicleID {
		for len(w.h.recheck) > 0 {
			w.tick()
		}
		w.now += fleet.Millis(2 * time.Minute / time.Millisecond)
		edited := *w.policy
		edited.Version++
		edited.Vehicles = maps.Clone(edited.Vehicles)
		edit(&edited)
		w.lay(&edited)
		w.h.live.Lock()
		defer w.h.live.Unlock()
		w.h.review()
		var found []fleet.VehicleID
		for _, key := range w.h.recheck {
			found = append(found, key.Vehicle)
		}
		return found
	}
	reviewed(func(*fleet.Policy) {}) // the first policy that the timers see is no change
	var booked fleet.VehicleID
	for key := range w.h.wakes.of {
		booked = key.Vehicle
	}
	found := reviewed(func(p *fleet.Policy) {
		if p.Vehicles == nil {
			p.Vehicles = map[fleet.VehicleID]*fleet.Traits{}
		}
		traits := *p.TraitsOf(booked)
		traits.Obligations = []fleet.Obligation{{Kind: "booking", Ref: "bkg_1", To: w.now + 7_200_000}}
		p.Vehicles[booked] = &traits
	})
	if len(found) != 1 || found[0] != booked {
		t.Errorf("%v are looked at, of which %v was booked", found, booked)
	}
	if found := reviewed(func(p *fleet.Policy) {
		p.Devices = map[fleet.DeviceID]fleet.TripSettings{99: {}}
	}); len(found) != vehicles {
		t.Errorf("%v are looked at after a change that may concern all %d", found, vehicles)
	}
}

// TestInsertThatDidNotReachItsViewsIsMended has the store die between derivations and what is fed from it,
// again and again.
func TestInsertThatDidNotReachItsViewsIsMended(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	all := recording(rng, 1, 4)
	slices.SortStableFunc(all, func(a, b input) int { return int(a.At - b.At) })
	w := newWorld(t)
	torn := 0
	for part := range slices.Chunk(all, 40) {
		w.now = part[len(part)-1].At
		b := w.store(rng, part)
		w.db.table, w.db.after, w.db.torn = "derivations", true, true
		if err := w.h.Handle(t.Context(), b); err != nil {
			torn++
			if torn%2 == 0 {
				w.restart()
			}
			w.handle(b)
		}
		w.db.table = ""
	}
	w.finish(w.now)
	if torn < 5 {
		t.Fatalf("only %d inserts were torn", torn)
	}
}

// TestVerdictsAreOfTheirPosition has two devices report a vehicle in one millisecond, and the order by cell lack what
// positions has.
func TestVerdictsAreOfTheirPosition(t *testing.T) {
	w := newWorld(t)
	good := fleet.Position{Account: account, Vehicle: 1, Device: 1, FixTime: morning, DeviceTime: morning,
		ReceivedTime: morning, Lat: 30.1, Lng: -97.7, Cell: 0x89489e34667ffff}
	bad := good
	bad.Device, bad.Lat, bad.Cell, bad.Flags = 2, 30.6, 0x89489e34663ffff, fleet.FlagJump
	for _, p := range []*fleet.Position{&good, &bad} {
		rows := sink.NewBatch(w.db.Conn, "positions", 0)
		rows.Position(p, int64(p.Device))
		if err := rows.Flush(t.Context(), fmt.Sprintf("test/0/%d", p.Device)); err != nil {
			t.Fatal(err)
		}
	}
	flagged := good
	flagged.Flags |= fleet.FlagJump
	for second, want := range map[*fleet.Position]bool{&bad: false, &flagged: true} {
		in := arrange([]derive.Input{{At: morning, Position: second}, {At: morning, Position: &good}})
		if len(in) != 1 || in[0].Unsure != want {
			t.Errorf("%+v with another of device %d", in, second.Device)
		}
	}
	verdict := func(device fleet.DeviceID, jump bool, want string) {
		t.Helper()
		all := []judgedRow{{fleet.VehicleKey{Account: account, Vehicle: 1},
			derive.Verdict{At: morning, Device: device, Jump: jump}}}
		if err := w.f.flag(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		var device2, cells uint64
		var flags, flagsByCell uint32
		if err := w.db.QueryRow(t.Context(), "SELECT device, flags FROM positions FINAL").Scan(&device2, &flags); err != nil {
			t.Fatal(err)
		}
		if err := w.db.QueryRow(t.Context(),
			"SELECT count(), max(flags) FROM positions_by_cell FINAL WHERE lat7 > 303000000").Scan(&cells,
			&flagsByCell); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(device2, flags, cells, flagsByCell); got != want {
			t.Errorf("device %d, jump %v: %s, want %s", device, jump, got, want)
		}
	}
	jump := uint32(fleet.FlagJump)
	verdict(1, false, fmt.Sprint(2, jump, 1, jump))
	if err := w.db.Exec(t.Context(), "TRUNCATE TABLE positions_by_cell"); err != nil {
		t.Fatal(err)
	}
	verdict(2, true, fmt.Sprint(2, jump, 1, jump))
	verdict(2, false, fmt.Sprint(2, 0, 1, 0))
}
