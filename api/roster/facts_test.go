package roster

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

// reader reads where vehicles are, as facts of them, and counts what is read.
type reader struct {
	db driver.Conn

	mu    sync.Mutex
	times int
	rows  int
}

func (r *reader) read(ctx context.Context, account fleet.AccountID, vehicles []uint64,
	now time.Time) (map[uint64]*Fact[query.Live], error) {
	live, err := query.LiveOf(ctx, r.db, account, vehicles)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times, r.rows = r.times+1, r.rows+len(vehicles)
	all := make(map[uint64]*Fact[query.Live], len(live))
	for id, one := range live {
		all[id] = &Fact[query.Live]{Value: one, Until: fleet.MillisOf(now.Add(time.Hour))}
	}
	return all, err
}

func (r *reader) counts() (times, rows int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.times, r.rows
}

// withVehicles is a store with vehicles of account 7, from 1 on.
func withVehicles(t *testing.T, vehicles int) driver.Conn {
	t.Helper()
	db := schematest.Open(t)
	if err := db.Exec(t.Context(), `INSERT INTO vehicles (account, id, revision, created_at, updated_at, body)
		SELECT 7, number + 1, 1, now64(3), now64(3), '{"make":"m"}' FROM numbers({n:UInt64})`,
		clickhouse.Named("n", uint64(vehicles))); err != nil {
		t.Fatal(err)
	}
	return db
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

func (f *Facts[T]) keptOf(account fleet.AccountID) (n int) {
	f.mu.RLock()
	a := f.byAccount[account]
	f.mu.RUnlock()
	if a != nil {
		a.factsMu.RLock()
		n += len(a.facts)
		a.factsMu.RUnlock()
	}
	return n
}

// Whoever asks for one vehicle has all vehicles of the account read, many at once; what has become other is read again
// before anybody asks; and the memory that facts take is counted up and down.
func TestFactsOfAnAccountAreReadInOneGoAndKeptFed(t *testing.T) {
	const vehicles = fillAtOnce + 100
	db := withVehicles(t, vehicles)
	r, from := open(t, db), &reader{db: db}
	f := NewFacts(r, OfVehicles, time.Now, from.read)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = r.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	if _, _, err := f.Of(t.Context(), 7, []uint64{vehicles}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all are kept", func() bool { return f.keptOf(7) == vehicles })
	if times, rows := from.counts(); times > 5 || rows > vehicles+fillAtOnce {
		t.Errorf("%d vehicles in %d questions of %d in all", vehicles, times, rows)
	}
	if least := int64(vehicles * 200); r.bytes.Load() < least {
		t.Errorf("%d bytes are counted, and it takes more than %d", r.bytes.Load(), least)
	}
	before, _ := from.counts()
	many := make([]uint64, 500)
	for i := range many {
		many[i] = uint64(i*10 + 1)
	}
	if _, _, err := f.Of(t.Context(), 7, many); err != nil {
		t.Fatal(err)
	}
	if times, _ := from.counts(); times != before {
		t.Errorf("what was read before was read again, in %d questions", times-before)
	}
	if err := from.db.Exec(t.Context(), `INSERT INTO vehicle_state (account, vehicle, version, device, fix_time, device_time,
		received_at, lat7, lng7) SELECT 7, 3, 1, 7, now64(3) AS f, f, f, 302671500, -977430600`); err != nil {
		t.Fatal(err)
	}
	at := func() *Fact[query.Live] {
		f.mu.RLock()
		defer f.mu.RUnlock()
		return f.byAccount[7].at(3, time.Now())
	}
	eventually(t, "what has become other is read", func() bool {
		f.byAccount[7].asked.Store(r.clock()) // somebody asks, of other vehicles
		fact := at()
		return fact != nil && fact.Value.FixTime != 0
	})
	r.letGo(r.clock())
	if r.bytes.Load() != 0 {
		t.Errorf("%d bytes are counted when nothing is kept", r.bytes.Load())
	}
}

// Facts that nobody asked for are read only while there is room, and some is left to what is asked for.
func TestFactsThatNobodyAskedForLeaveRoom(t *testing.T) {
	const vehicles = 300
	db := withVehicles(t, vehicles)
	r, from := open(t, db), &reader{db: db}
	f := NewFacts(r, OfVehicles, time.Now, from.read)
	list(t, r, 7)
	before := r.cfg.Memory
	r.cfg.Memory = r.bytes.Load() * 8 / 7
	if _, _, err := f.Of(t.Context(), 7, []uint64{5, 6}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nobody fills", func() bool { return !f.byAccount[7].filling.Load() })
	if n := f.keptOf(7); n != 2 {
		t.Errorf("%d are kept where there is room for what was asked for", n)
	}
	r.cfg.Memory = before
	if _, _, err := f.Of(t.Context(), 7, []uint64{7}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all are kept where there is room", func() bool { return f.keptOf(7) == vehicles })
}

// What takes long to read is read of all vehicles once, some at a time, and then as it is asked for; a table of which
// it does not follow may be rewritten meanwhile.
func TestWhatTakesLongToReadIsReadOfAllOnce(t *testing.T) {
	const vehicles = 3*someAtOnce + 1
	db := withVehicles(t, vehicles)
	if err := db.Exec(t.Context(), `INSERT INTO positions (account, vehicle, fix_time, device, device_time, received_at, lat7,
		lng7) SELECT 7, number, now64(3) AS f, 7, f, f, 302671500, -977430600 FROM numbers(9)`); err != nil {
		t.Fatal(err)
	}
	r, past, live := open(t, db), &reader{db: db}, &reader{db: db}
	f, other := NewFacts(r, OfNewFixes, time.Now, past.read), NewFacts(r, OfVehicles, time.Now, live.read)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = r.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	list(t, r, 7)
	ask := func() {
		t.Helper()
		if _, _, err := f.Of(t.Context(), 7, []uint64{1}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := other.Of(t.Context(), 7, []uint64{1}); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	eventually(t, "all are kept", func() bool { return f.keptOf(7) == vehicles && other.keptOf(7) == vehicles })
	if times, rows := past.counts(); times < 4 || rows > vehicles+1 {
		t.Errorf("%d vehicles in %d questions of %d in all", vehicles, times, rows)
	}
	before, _ := live.counts()
	if err := db.Exec(t.Context(), "ALTER TABLE positions DELETE WHERE vehicle = 3 SETTINGS mutations_sync = 1"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what follows of the table goes, and is not read again", func() bool { ask(); return f.keptOf(7) == 1 })
	time.Sleep(2 * fillAfter)
	if ask(); f.keptOf(7) != 1 {
		t.Errorf("%d are kept, and one was asked for", f.keptOf(7))
	}
	if after, _ := live.counts(); after != before {
		t.Errorf("what does not follow of it was read again, in %d questions", after-before)
	}
}
