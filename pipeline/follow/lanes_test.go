package follow

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/schemas"
)

// ofVehicle are the inputs of one vehicle.
func ofVehicle(all []input, v fleet.VehicleID) []input {
	return slices.DeleteFunc(slices.Clone(all), func(in input) bool { return in.vehicle != v })
}

func (w *world) count(query string) int {
	w.t.Helper()
	var n uint64
	if err := w.db.Conn.QueryRow(w.t.Context(), "SELECT toUInt64("+query+")").Scan(&n); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	return int(n)
}

func TestDirtyVehicleDoesNotDelayLiveOnes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(3, 3))
	all := recording(rng, 2, 8)
	first, second := ofVehicle(all, 1), ofVehicle(all, 2)
	half := len(second) / 2
	w.now = first[len(first)-1].At
	w.handle(w.store(rng, append(slices.Clone(first[40:len(first)-40]), second[:half]...)))
	w.handle(w.store(rng, first[:40])) // hours late
	if w.count("(SELECT count() FROM dirty_spans FINAL WHERE from_at IS NOT NULL)") != 1 {
		t.Fatal("no span is marked")
	}

	// The repair hangs in the store, before it has the vehicle's lock and then with it.
	for _, held := range []string{"follow_checkpoints", "follow_days"} {
		reached, release := make(chan struct{}), make(chan struct{})
		opening, _, _ := strings.Cut(queryOf(held), "\n")
		var once sync.Once
		w.db.gate = func(statement string) {
			if strings.HasPrefix(statement, opening) {
				once.Do(func() { close(reached); <-release })
			}
		}
		key, ok := w.h.nextRepair()
		if !ok || key.Vehicle != 1 {
			t.Fatalf("repair of %v %v", key, ok)
		}
		done := make(chan error, 1)
		go func() { done <- w.h.repair(context.Background(), key) }()
		<-reached
		before := w.count("(SELECT count() FROM derivations WHERE vehicle = 2)")
		live := append(slices.Clone(second[half:]), first[len(first)-40:len(first)-20]...)
		w.handle(w.store(rng, live)) // returns while the repair hangs
		if after := w.count("(SELECT count() FROM derivations WHERE vehicle = 2)"); held == "follow_checkpoints" &&
			after <= before {
			t.Errorf("%s: nothing was derived of the live vehicle", held)
		}
		close(release)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		w.db.gate = nil
		if held == "follow_checkpoints" {
			w.handle(w.store(rng, first[10:12])) // dirty again
		}
	}
	w.handle(w.store(rng, first[len(first)-20:]))
	end := max(first[len(first)-1].At, second[len(second)-1].At)
	w.finish(end)

	inOrder := newWorld(t)
	inOrder.handle(inOrder.store(rng, all))
	inOrder.finish(end)
	if lines := differ(inOrder.derived(), w.derived()); len(lines) > 0 {
		t.Errorf("%d differ:\n%s", len(lines), strings.Join(lines[:min(3, len(lines))], "\n"))
	}
	if n := w.count("(SELECT count() FROM dirty_spans FINAL WHERE from_at IS NOT NULL)"); n != 0 {
		t.Errorf("%d spans are still marked", n)
	}
}

func TestSilenceRaisesAnAlertOnceThoughTheOwnerChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(4, 4))
	all := recording(rng, 1, 2)
	w.now = all[len(all)-1].At
	w.handle(w.store(rng, all))
	offline := fmt.Sprintf("(SELECT count() FROM alerts FINAL WHERE NOT deleted AND alert_kind = '%s' AND open)",
		fleet.AlertOffline)
	if n := w.count(offline); n != 0 {
		t.Fatalf("%d vehicles are offline already", n)
	}
	w.restart() // without a word, and nothing comes for the vehicle any more
	w.now += fleet.Millis(2 * time.Hour / time.Millisecond)
	w.tick()
	if n := w.count(offline); n != 1 {
		t.Fatalf("%d alerts of silence, want 1", n)
	}
	w.restart()
	w.now += fleet.Millis(time.Hour / time.Millisecond)
	w.tick()
	w.tick()
	raised := map[uint64]bool{}
	for _, e := range w.events {
		if e.Type == fleet.EventAlertRaised && strings.Contains(string(e.Body), string(fleet.AlertOffline)) &&
			strings.Contains(string(e.Body), `"open":true`) {
			raised[e.ID] = true
		}
	}
	if n := w.count(offline); n != 1 || len(raised) != 1 {
		t.Errorf("%d alerts and %d events, want 1 of each", n, len(raised))
	}
}

// A vehicle that drives into a garage: what goes on is told as it is when nothing has come for a minute, once, and the
// owner still knows the vehicle.
func TestWhatGoesOnIsToldWhenNothingComes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(4, 4))
	var all []input
	for second := range 41 {
		all = append(all, input{vehicle: 1, Input: derive.Input{At: morning + fleet.Millis(second)*1000}})
		nan := math.NaN()
		all[second].Position = &fleet.Position{
			Account: account, Vehicle: 1, Device: 5, FixTime: all[second].At, DeviceTime: all[second].At,
			ReceivedTime: all[second].At, Lat: 30 + float64(second)*2e-4, Lng: -97,
			Altitude: nan, Speed: 22, Course: nan, Accuracy: nan, Odometer: nan, Satellites: -1,
		}
	}
	for part := range slices.Chunk(all, 5) {
		w.now = part[len(part)-1].At
		w.handle(w.store(rng, part))
	}
	end := func() fleet.Millis {
		return fleet.Millis(w.count("(SELECT toUnixTimestamp64Milli(max(end_at)) FROM trips FINAL WHERE NOT deleted AND open)"))
	}
	last := all[40].At
	if end() == last {
		t.Fatal("every fix is told at once: this tests nothing")
	}
	w.now = last + 30_000
	w.tick()
	if end() == last {
		t.Error("it is told though something may come")
	}
	w.now = last + 75_000
	w.tick()
	if end() != last {
		t.Errorf("the trip ends at %d, its last fix is at %d", end(), last)
	}
	rows := w.count("(SELECT count() FROM derivations)")
	w.now += 75_000
	w.tick()
	if n := w.count("(SELECT count() FROM derivations)"); n != rows || len(w.h.vehicles) != 1 {
		t.Errorf("%d rows more, %d vehicles in memory", n-rows, len(w.h.vehicles))
	}
}

func TestSilenceMeansNothingWhileTheFeedIsBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(4, 4))
	all := recording(rng, 1, 2)
	w.now = all[len(all)-1].At
	w.handle(w.store(rng, all))
	allStored := false
	w.f.deps.AllStored = func(context.Context) bool { return allStored }
	w.now += fleet.Millis(2 * time.Hour / time.Millisecond)
	before := w.count("(SELECT count() FROM derivations)")
	w.tick()
	if after := w.count("(SELECT count() FROM derivations)"); after != before {
		t.Errorf("%d rows were written while the feed was behind", after-before)
	}
	allStored = true
	w.tick()
	if after := w.count("(SELECT count() FROM derivations)"); after == before {
		t.Error("nothing was written when the feed had caught up")
	}
}

// A partition that lags, and be it for ever, stops the clock of those that report through it, and of nobody else.
func TestSilenceIsJudgedByThePartitionsThatAVehicleReportsThrough(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(4, 4))
	all := recording(rng, 2, 2)
	w.now = all[len(all)-1].At
	w.handle(w.store(rng, all))
	if err := w.db.Conn.Exec(t.Context(),
		"ALTER TABLE positions UPDATE source_topic = 'positions', source_partition = vehicle WHERE 1 SETTINGS mutations_sync = 1"); err != nil {
		t.Fatal(err)
	}
	behind, known := []string{"positions/1", "positions/11"}, false
	w.f.deps.AllStored = func(context.Context) bool { return false }
	w.f.deps.Behind = func(context.Context, int) ([]string, bool) { return behind, known }
	w.now += fleet.Millis(2 * time.Hour / time.Millisecond)
	of := func(vehicle int) int {
		return w.count(fmt.Sprintf("(SELECT count() FROM derivations WHERE vehicle = %d)", vehicle))
	}
	first, second := of(1), of(2)
	w.tick()
	if of(1) != first || of(2) != second {
		t.Error("something was judged while nobody knows who is behind")
	}
	known = true
	w.tick()
	if of(1) != first || of(2) == second {
		t.Errorf("%d rows more of the vehicle whose partition lags, %d of the other", of(1)-first, of(2)-second)
	}
	behind = []string{"positions/3"}
	w.now += 2 * fleet.Millis(behindAgain.Milliseconds())
	w.tick()
	if of(1) == first {
		t.Error("nothing was written when its partition had caught up")
	}

	if err := w.db.Conn.Exec(t.Context(),
		fmt.Sprintf("INSERT INTO vehicle_state (account, vehicle, version, source_topic, "+
			"source_partition) VALUES (%d, 1, 1, 'positions', 77)", account)); err != nil {
		t.Fatal(err)
	}
	keys := []fleet.VehicleKey{{Account: account, Vehicle: 1}, {Account: account, Vehicle: 2}}
	for partition, want := range map[string][]fleet.VehicleKey{
		"positions/77": keys[1:], // that of the newest fix alone
		"positions/1":  keys[1:], // that of former ones
		"positions/2":  keys[:1],
		"positions/5":  keys,
	} {
		if got, err := w.h.audible(t.Context(), keys, w.now, []string{partition}); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is behind: %v, %v", partition, got, err)
		}
	}
}

func TestJobDerivesAgainAndIsCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(5, 5))
	all := recording(rng, 2, 4)
	w.now = all[len(all)-1].At
	w.handle(w.store(rng, all))
	before := w.count("(SELECT count() FROM alerts FINAL WHERE NOT deleted AND rule = 99)")
	old := w.policy
	w.laid = w.with(fleet.Rule{ID: 99, Revision: 1, Kind: fleet.AlertSpeeding, Severity: "info", Threshold: 8})
	w.offset++
	w.handle(&consume.Batch{Topic: "changes", First: w.offset, Last: w.offset, Records: []consume.Record{
		w.record(fleet.Change{Account: account, Vehicle: 1, From: 0, To: w.now, Job: 77}),
		w.record(fleet.Change{Account: account, Vehicle: 2, From: 0, To: w.now, Job: 77}),
	}})
	w.policy, w.laid = old, w.policy
	w.restart() // it is remembered, and goes by what was laid down before it
	w.tick()
	w.repair()
	if n := w.count("(SELECT uniqExact(step) FROM job_steps WHERE job = 77 AND error = '')"); n != 2 {
		t.Errorf("%d steps are done, want 2", n)
	}
	if after := w.count("(SELECT count() FROM alerts FINAL WHERE NOT deleted AND rule = 99)"); before != 0 || after == 0 {
		t.Errorf("%d alerts before and %d after", before, after)
	}
}

func TestLongPastWithoutACheckpointIsLeftToTheRepairLane(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(6, 6))
	all := recording(rng, 1, 20)
	w.cfg.HistoryRows = 100
	w.restart()
	n := len(all) - 10
	w.now = all[n-1].At
	w.store(rng, all[:n]) // nobody was told
	w.handle(w.store(rng, all[n:]))
	if _, ok := w.h.nextRepair(); !ok {
		t.Error("no repair waits")
	}
	w.repair()
	w.finish(all[len(all)-1].At)

	inOrder := newWorld(t)
	inOrder.handle(inOrder.store(rng, all))
	inOrder.finish(all[len(all)-1].At)
	if lines := differ(inOrder.derived(), w.derived()); len(lines) > 0 {
		t.Errorf("%d differ:\n%s", len(lines), strings.Join(lines[:min(3, len(lines))], "\n"))
	}
}

func TestRecordThatIsNoChangeIsSkipped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(7, 7))
	b := w.store(rng, recording(rng, 1, 1))
	b.Records = append([]consume.Record{{Value: []byte("{")}, {Value: nil},
		{Value: []byte(`{"account":"7","vehicle":"1","from_ms":5,"to_ms":1}`)}}, b.Records...)
	w.handle(b)
	if w.count("(SELECT count() FROM checkpoints)") == 0 {
		t.Error("the change behind them was not worked in")
	}
}

func TestOwnerRunsItsLanesAndStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(8, 8))
	all := recording(rng, 2, 3)
	w.now = all[len(all)-1].At + 3*3_600_000
	w.cfg.Tick = 5 * time.Millisecond
	w.restart()
	w.handle(w.store(rng, all[len(all)/4:]))
	w.handle(w.store(rng, all[:len(all)/4]))
	deadline := time.Now().Add(20 * time.Second)
	for w.count("(SELECT count() FROM dirty_spans FINAL WHERE from_at IS NOT NULL)") > 0 {
		if time.Now().After(deadline) {
			t.Fatal("the repair lane does not repair")
		}
	}
	if err := w.h.Close(); err != nil {
		t.Fatal(err)
	}
	inOrder := newWorld(t)
	inOrder.now = w.now
	inOrder.handle(inOrder.store(rng, all))
	inOrder.finish(all[len(all)-1].At)
	var trips [2]int
	for i, world := range []*world{inOrder, w} {
		trips[i] = world.count("(SELECT count() FROM trips FINAL WHERE NOT deleted)")
	}
	if trips[0] != trips[1] || trips[0] == 0 {
		t.Errorf("%d trips in order, %d otherwise", trips[0], trips[1])
	}
}

func queryOf(name string) string { return schemas.Query(name) }

// A vehicle that went back behind its stored checkpoint must not be taken up from that one after a crash.
func TestCheckpointThatALateFixHasPassedIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(9, 9))
	all := slices.DeleteFunc(recording(rng, 1, 6), func(in input) bool { return in.Position == nil }) // no two of one time
	end := all[len(all)-1].At
	i := len(all) / 2 // in the middle of a drive
	for slices.ContainsFunc(all[i-12:i+12], func(in input) bool { return in.Position.Speed == 0 }) ||
		all[i+12].At-all[i-12].At > 20*60_000 {
		i++
	}
	w.now = end
	w.cfg.SaveEvery = 0
	w.restart()
	w.handle(w.store(rng, all[10:i-8]))
	w.handle(w.store(rng, all[:10])) // from here on it has snapshots
	w.repair()
	// and a checkpoint behind the gap, on the same trip
	w.handle(w.store(rng, append(slices.Clone(all[i-8:i-4]), all[i:i+8]...)))
	if w.count("(SELECT count() FROM trips FINAL WHERE open AND start_at < "+
		fmt.Sprintf("fromUnixTimestamp64Milli(toInt64(%d)))", all[i-4].At)) != 1 {
		t.Fatal("no trip goes on at the checkpoint")
	}
	w.f.cfg.SaveEvery = 24 * time.Hour
	w.handle(w.store(rng, all[i-4:i]))
	if _, ok := w.h.nextRepair(); ok {
		t.Fatal("a repair waits: no snapshot was gone back to")
	}
	w.restart()
	w.handle(w.store(rng, all[i+8:]))
	w.finish(end)

	inOrder := newWorld(t)
	inOrder.handle(inOrder.store(rng, all))
	inOrder.finish(end)
	if lines := differ(inOrder.derived(), w.derived()); len(lines) > 0 {
		t.Errorf("%d differ:\n%s", len(lines), strings.Join(lines[:min(3, len(lines))], "\n"))
	}
}

// TestLanesGiveWayToStoring has the lanes beyond the first work only while nothing is stored.
func TestLanesGiveWayToStoring(t *testing.T) {
	t.Parallel()
	var storing atomic.Bool
	f := &Follower{laneTokens: make(chan struct{}, 1), spareTokens: make(chan struct{}, 1),
		deps: Deps{Storing: storing.Load}}
	storing.Store(true)
	first, err := f.lane(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 3*laneWait)
	defer cancel()
	if _, err := f.lane(soon); err == nil {
		t.Error("two lanes work while fixes are stored")
	}
	storing.Store(false)
	second, err := f.lane(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second()
	first()
}
