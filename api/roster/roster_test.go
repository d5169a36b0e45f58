package roster

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

// open returns a roster that nothing holds up but the store.
func open(t *testing.T, db driver.Conn, change ...func(*Config)) *Roster {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Wait = 30 * time.Second // a busy machine may need more than the usual time
	for _, f := range change {
		f(&cfg)
	}
	r, err := New(cfg, db, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// row is a revision of a vehicle.
type row struct {
	account, id, revision uint64
	archived              bool
	nickname              string
}

func put(t testing.TB, db driver.Conn, rows ...row) {
	t.Helper()
	batch, err := db.PrepareBatch(context.WithoutCancel(t.Context()),
		"INSERT INTO vehicles (account, id, revision, created_at, updated_at, archived_at, body)")
	if err != nil {
		t.Error(err)
		return
	}
	at := time.UnixMilli(1_700_000_000_000).UTC()
	for _, r := range rows {
		var archived *time.Time
		if r.archived {
			archived = &at
		}
		if err := batch.Append(r.account, r.id, r.revision, at, at, archived,
			fmt.Sprintf(`{"make":"m%d","nickname":%q,"revision":%d}`, r.id%3, r.nickname, r.revision)); err != nil {
			t.Error(err)
		}
	}
	if err := batch.Send(); err != nil {
		t.Error(err)
	}
}

// list asks for all of an account's vehicles, and fails the test if memory cannot tell.
func list(t testing.TB, r *Roster, account fleet.AccountID) map[uint64]uint64 {
	t.Helper()
	page, ok, err := r.List(context.WithoutCancel(t.Context()), &query.Vehicles,
		query.ListRequest{Account: account, Limit: 10_000})
	if err != nil || !ok {
		t.Errorf("a list from memory: %v, %v", ok, err)
	}
	all := map[uint64]uint64{}
	for _, s := range page.Records {
		all[s.ID] = s.Revision
	}
	return all
}

func TestAListFromMemoryHasWhatWasWrittenBeforeIt(t *testing.T) {
	db := schematest.Open(t)
	r := open(t, db)
	put(t, db, row{7, 1, 1, false, "a"}, row{7, 2, 1, false, "b"}, row{8, 3, 1, false, "c"})
	if got := list(t, r, 7); !reflect.DeepEqual(got, map[uint64]uint64{1: 1, 2: 1}) {
		t.Fatalf("loaded %v", got)
	}
	put(t, db, row{7, 2, 2, false, "b2"}, row{7, 4, 1, false, "d"}, row{8, 5, 1, false, "e"})
	r.Wrote(7, "vehicle")
	if got := list(t, r, 7); !reflect.DeepEqual(got, map[uint64]uint64{1: 1, 2: 2, 4: 1}) {
		t.Errorf("after a write %v", got)
	}
	put(t, db, row{7, 1, 2, true, "a"}, row{7, 2, 1, false, "b"})
	r.Wrote(7, "")
	if got := list(t, r, 7); !reflect.DeepEqual(got, map[uint64]uint64{2: 2, 4: 1}) {
		t.Errorf("after one was archived and an old revision came again %v", got)
	}
	if got := list(t, r, 8); !reflect.DeepEqual(got, map[uint64]uint64{3: 1, 5: 1}) {
		t.Errorf("of the other account %v", got)
	}
	if _, ok := r.Get(t.Context(), &query.Vehicles, 8, 4); ok {
		t.Error("an account was given another's vehicle")
	}
	found, rest := r.ByID(t.Context(), &query.Vehicles, 8, []uint64{2, 3, 4})
	if len(found) != 1 || found[3].Revision != 1 || !reflect.DeepEqual(rest, []uint64{2, 4}) {
		t.Errorf("by id %v, not %v", found, rest)
	}
}

// What is archived must not come back when the store joins the part that has its last revision before with a new one.
func TestWhatIsArchivedDoesNotComeBackWhenPartsAreMerged(t *testing.T) {
	db := schematest.Open(t)
	r := open(t, db)
	put(t, db, row{7, 1, 1, false, "a"})
	put(t, db, row{7, 1, 2, true, "a"})
	list(t, r, 7)
	put(t, db, row{7, 1, 1, false, "a"}) // as a writer does that repeats what it is not certain of
	r.Wrote(7, "vehicle")
	if got := list(t, r, 7); len(got) != 0 {
		t.Errorf("an old revision brought back %v", got)
	}
	if err := db.Exec(t.Context(), "OPTIMIZE TABLE vehicles FINAL"); err != nil {
		t.Fatal(err)
	}
	put(t, db, row{7, 2, 1, false, "b"})
	r.Wrote(7, "vehicle")
	if got := list(t, r, 7); !reflect.DeepEqual(got, map[uint64]uint64{2: 1}) {
		t.Errorf("after a merge %v", got)
	}
}

func TestWhatIsErasedLeavesTheMemory(t *testing.T) {
	db := schematest.Open(t)
	r := open(t, db)
	put(t, db, row{7, 1, 1, false, "Ann"}, row{7, 2, 1, false, "Bob"})
	put(t, db, row{7, 3, 1, false, "Ann"})
	list(t, r, 7)
	for _, statement := range []string{
		`ALTER TABLE vehicles UPDATE body = replaceAll(body, 'Ann', '') WHERE account = 7 SETTINGS mutations_sync = 1`,
		`ALTER TABLE vehicles UPDATE nickname = '' WHERE account = 7 AND nickname = 'Ann' SETTINGS mutations_sync = 1`,
		`ALTER TABLE vehicles DELETE WHERE account = 7 AND id = 2 SETTINGS mutations_sync = 1`,
	} {
		if err := db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(r.cfg.Lag) // nobody of this process did it
	page, ok, err := r.List(t.Context(), &query.Vehicles, query.ListRequest{Account: 7, Limit: 9})
	if err != nil || !ok || page.Total != 2 {
		t.Fatalf("%+v, %v, %v", page, ok, err)
	}
	for _, s := range page.Records {
		if want := fmt.Sprintf(`{"make":"m%d","nickname":"","revision":1}`, s.ID%3); s.Body != want {
			t.Errorf("%s is left in memory", s.Body)
		}
	}
	page, ok, err = r.List(t.Context(), &query.Vehicles, query.ListRequest{Account: 7, Limit: 9, Search: "ann"})
	if err != nil || !ok || page.Total != 0 {
		t.Errorf("who was erased is found: %+v, %v, %v", page, ok, err)
	}
}

func TestASingleRecordWaitsForNothingThatItsLogHas(t *testing.T) {
	db := schematest.Open(t)
	r := open(t, db)
	put(t, db, row{7, 1, 1, false, "a"}, row{7, 2, 1, false, "b"})
	if s, ok := r.Get(t.Context(), &query.Vehicles, 7, 1); !ok || s.Revision != 1 {
		t.Fatalf("%+v, %v", s, ok)
	}
	// Another process wrote a revision, and died before the table knew it.
	if err := db.Exec(t.Context(), `INSERT INTO record_log (account, kind, id, revision, at, created_at, body)
		VALUES (7, 'vehicle', 1, 2, now64(3), now64(3), '{}')`); err != nil {
		t.Fatal(err)
	}
	time.Sleep(r.cfg.Lag)
	if s, ok := r.Get(t.Context(), &query.Vehicles, 7, 1); ok {
		t.Errorf("memory says %+v, of which the log has a newer revision", s)
	}
	if s, ok := r.Get(t.Context(), &query.Vehicles, 7, 2); !ok || s.Revision != 1 {
		t.Errorf("of another one %+v, %v", s, ok)
	}
	put(t, db, row{7, 1, 2, false, "a"})
	time.Sleep(r.cfg.Lag)
	if s, ok := r.Get(t.Context(), &query.Vehicles, 7, 1); !ok || s.Revision != 2 {
		t.Errorf("when the table knows it too: %+v, %v", s, ok)
	}
}

func TestNothingIsAnsweredFromMemoryWhileTheStoreCannotBeLookedAt(t *testing.T) {
	db := schematest.Open(t)
	cut := &cutConn{Conn: db}
	r := open(t, cut, func(c *Config) { c.Wait = 2 * time.Second })
	put(t, db, row{7, 1, 1, false, "a"})
	list(t, r, 7)
	cut.set(true)
	time.Sleep(r.cfg.Lag)
	if _, ok := r.Get(t.Context(), &query.Vehicles, 7, 1); ok {
		t.Error("an answer came from a memory that nothing feeds")
	}
	if r.Lag() < r.cfg.Lag {
		t.Errorf("it says that it is %s behind", r.Lag())
	}
	put(t, db, row{7, 1, 2, false, "a"}, row{7, 2, 1, false, "b"})
	cut.set(false)
	if got := list(t, r, 7); !reflect.DeepEqual(got, map[uint64]uint64{1: 2, 2: 1}) {
		t.Errorf("when it is fed again %v", got)
	}
}

// While the store takes longer for a look than anybody waits for one, nobody waits: the store answers. When it is quick
// again, memory does.
func TestNobodyWaitsForLooksThatTakeTooLong(t *testing.T) {
	db := schematest.Open(t)
	cut := &cutConn{Conn: db}
	r := open(t, cut, func(c *Config) { c.Wait = 500 * time.Millisecond })
	put(t, db, row{7, 1, 1, false, "a"})
	get := func() (told bool, took time.Duration) {
		begun := time.Now()
		_, told = r.Get(t.Context(), &query.Vehicles, 7, 1)
		return told, time.Since(begun)
	}
	until := func(what string, want func(bool, time.Duration) bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(r.cfg.Lag) {
			if told, took := get(); want(told, took) {
				return
			} else if time.Now().After(end) {
				t.Fatalf("%s: never; at last %v after %s", what, told, took)
			}
		}
	}
	until("an answer from memory", func(told bool, _ time.Duration) bool { return told })
	cut.slow(2 * r.cfg.Wait)
	until("the store is asked at once", func(told bool, took time.Duration) bool { return !told && took < r.cfg.Wait/2 })
	cut.slow(0)
	until("an answer from memory again", func(told bool, _ time.Duration) bool { return told })
}

// While looks take long and nobody waits for one, the store is left alone for twice as long as they take, a quarter of
// a second at most, and no command has to wait for one because of that.
func TestLooksOfABusyStoreRest(t *testing.T) {
	cut := &cutConn{Conn: schematest.Open(t)}
	r := open(t, cut, func(c *Config) { c.Lag = 10 * time.Second })
	put(t, cut.Conn, row{7, 1, 1, false, "a"})
	if _, ok := r.Get(t.Context(), &query.Vehicles, 7, 1); !ok {
		t.Fatal("nothing is answered from memory")
	}
	cut.slow(r.cfg.Every)
	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { _ = r.Run(ctx) })
	begun := map[int64]bool{}
	for end := time.Now().Add(time.Minute); len(begun) < 5 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		r.ask()
		begun[r.looked.Load()] = true
	}
	cancel()
	run.Wait()
	looks := slices.Sorted(maps.Keys(begun))
	for i := 2; i < len(looks); i++ { // the first was quick, and nothing had rested before the second
		if gap := time.Duration(looks[i] - looks[i-1]); gap < 3*r.cfg.Every {
			t.Errorf("a look that takes %s and more is followed by one after %s", r.cfg.Every, gap)
		}
	}
	if len(looks) < 5 {
		t.Errorf("%d looks within a minute", len(looks))
	}
	r.cfg.Lag = 250 * time.Millisecond
	for took, want := range map[time.Duration]time.Duration{5: 15, 70: 210, 200: 450, 400: 600, 600: 400} {
		if rested := time.Duration(r.rested(0, int64(took*time.Millisecond))); rested != want*time.Millisecond {
			t.Errorf("after a look of %d ms the next may begin after %s", took, rested)
		}
	}
}

// What comes by ten thousands at once, as an import, is loaded anew, and holds up no look.
func TestWhatComesByTenThousandsIsLoadedAnew(t *testing.T) {
	db := schematest.Open(t)
	r := open(t, db)
	put(t, db, row{7, 1, 1, false, "a"}, row{8, 2, 1, false, "a"})
	list(t, r, 7)
	list(t, r, 8)
	const many = idsReloaded + 1
	if err := db.Exec(t.Context(), `INSERT INTO vehicles (account, id, revision, created_at, updated_at, body)
		SELECT 7, number + 10, 1, now64(3), now64(3), '{"make":"m"}' FROM numbers({many:UInt64})`,
		clickhouse.Named("many", uint64(many))); err != nil {
		t.Fatal(err)
	}
	put(t, db, row{8, 3, 1, false, "b"})
	r.Wrote(7, "vehicle")
	r.Wrote(8, "vehicle")
	kept := r.kinds[&query.Vehicles].entry(8)
	page, ok, err := r.List(t.Context(), &query.Vehicles, query.ListRequest{Account: 7, Limit: 1})
	if err != nil || !ok || page.Total != many+1 {
		t.Errorf("%d vehicles of %d, %v, %v", page.Total, many+1, ok, err)
	}
	if got := list(t, r, 8); !reflect.DeepEqual(got, map[uint64]uint64{2: 1, 3: 1}) {
		t.Errorf("of the other account %v", got)
	}
	if r.kinds[&query.Vehicles].entry(8) != kept {
		t.Error("the other account was loaded anew too")
	}
}

// What nobody asks for is not read; whoever asks for it again waits until it was.
func TestWhatIsNewOfAKindIsReadWhenSomebodyAsks(t *testing.T) {
	db := schematest.Open(t)
	r := open(t, db)
	put(t, db, row{7, 1, 1, false, "a"})
	list(t, r, 7)
	known := func() int { return r.names["vehicle"].entry(7).view.Load().table.count }
	look := func() {
		t.Helper()
		if err := r.lookAt(t.Context(), r.clock()); err != nil {
			t.Fatal(err)
		}
	}
	put(t, db, row{7, 2, 1, false, "b"})
	r.names["vehicle"].asked.Store(r.clock())
	if look(); known() != 2 {
		t.Errorf("while somebody asks, %d vehicles are known", known())
	}
	time.Sleep(dozesAfter)
	put(t, db, row{7, 1, 2, false, "a2"}, row{7, 3, 1, false, "c"})
	if look(); known() != 2 {
		t.Errorf("when nobody had asked for a while, %d vehicles are known", known())
	}
	time.Sleep(r.cfg.Lag)
	if got := list(t, r, 7); !reflect.DeepEqual(got, map[uint64]uint64{1: 2, 2: 1, 3: 1}) {
		t.Errorf("whoever asks again is told %v", got)
	}
	// One is made and changed, the change only in the log, while nobody asks.
	r.names["vehicle"].asked.Store(r.clock() - 2*int64(dozesAfter))
	put(t, db, row{7, 4, 1, false, "d"})
	if err := db.Exec(t.Context(), `INSERT INTO record_log (account, kind, id, revision, at, created_at, body)
		VALUES (7, 'vehicle', 4, 2, now64(3), now64(3), '{}')`); err != nil {
		t.Fatal(err)
	}
	look()
	time.Sleep(r.cfg.Lag)
	if s, ok := r.Get(t.Context(), &query.Vehicles, 7, 4); ok {
		t.Errorf("memory says %+v, of which the log had a newer revision before anybody asked", s)
	}
	if s, ok := r.Get(t.Context(), &query.Vehicles, 7, 3); !ok || s.Revision != 1 {
		t.Errorf("of another one %+v, %v", s, ok)
	}
}

// cutConn are connections that can be cut, and slowed down.
type cutConn struct {
	driver.Conn
	mu    sync.Mutex
	cut   bool
	after time.Duration
}

func (c *cutConn) slow(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.after = by
}

func (c *cutConn) set(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
}

func (c *cutConn) Query(ctx context.Context, text string, args ...any) (driver.Rows, error) {
	c.mu.Lock()
	cut, after := c.cut, c.after
	c.mu.Unlock()
	time.Sleep(after)
	if cut {
		return nil, os.ErrDeadlineExceeded
	}
	return c.Conn.Query(ctx, text, args...)
}

func TestWhatIsRecalledWaitsForNoLoading(t *testing.T) {
	db := schematest.Open(t)
	put(t, db, row{7, 1, 1, false, "a"}, row{7, 2, 1, true, "b"}, row{8, 3, 1, false, "c"})
	r := open(t, db)
	recall := func(id uint64) uint64 {
		stored, _ := r.Recall(t.Context(), 7, "vehicle", id)
		return stored.Revision
	}
	if got := recall(1); got != 0 {
		t.Errorf("revision %d came from a memory in which nothing was", got)
	}
	for recall(1) == 0 {
		time.Sleep(10 * time.Millisecond) // it is being loaded, as somebody asked
	}
	put(t, db, row{7, 1, 2, false, "a2"})
	r.Wrote(7, "vehicle")
	if got := []uint64{recall(1), recall(2), recall(3)}; !reflect.DeepEqual(got, []uint64{2, 0, 0}) {
		t.Errorf("after a write revisions %v: of one that stands, one that is archived and another account's", got)
	}
	all, ok := r.All(t.Context(), 7, "vehicle", 1)
	if !ok || len(all) != 1 || all[0].Revision != 2 {
		t.Errorf("all: %+v, %v", all, ok)
	}
	put(t, db, row{7, 4, 1, false, "d"})
	r.Wrote(7, "vehicle")
	if _, ok := r.All(t.Context(), 7, "vehicle", 1); ok {
		t.Error("there were more than were asked for")
	}
	if _, ok := r.Recall(t.Context(), 7, "booking", 1); ok {
		t.Error("a booking came from memory")
	}
}

func TestMemoryHasABound(t *testing.T) {
	db := schematest.Open(t)
	var rows []row
	for id := range uint64(200) {
		rows = append(rows, row{7, id + 1, 1, false, "a"}, row{8, id + 1, 1, false, "b"})
	}
	put(t, db, rows...)
	r := open(t, db)
	list(t, r, 7)
	one := r.bytes.Load()
	if one/200 > 1500 || r.records.Load() != 200 {
		t.Errorf("%d records take %d bytes", r.records.Load(), one)
	}
	list(t, r, 8)
	r.cfg.Memory = one * 3 / 2
	r.letGo(0)
	if r.records.Load() != 200 || r.bytes.Load() > r.cfg.Memory {
		t.Errorf("%d records are left in %d bytes", r.records.Load(), r.bytes.Load())
	}
	if v := r.kinds[&query.Vehicles].entry(7); v != nil {
		t.Error("what was asked for last was let go")
	}
	r.letGo(r.clock())
	if r.records.Load() != 0 || r.bytes.Load() != 0 {
		t.Errorf("when nobody asks, %d records are left in %d bytes", r.records.Load(), r.bytes.Load())
	}
	r.cfg.Memory = one / 2
	if _, ok, err := r.List(t.Context(), &query.Vehicles, query.ListRequest{Account: 7, Limit: 9}); ok || err != nil {
		t.Errorf("more than there is room for: %v, %v", ok, err)
	}
}

// Two processes see what many writers do, each record ever newer, and in the end what the store has.
func TestWhatReadersSeeOnlyMovesForward(t *testing.T) {
	db := schematest.Open(t)
	const vehicles = 40
	var mu sync.Mutex
	revisions, archived := map[uint64]uint64{}, map[uint64]bool{}
	stop := make(chan struct{})
	var writers, readers sync.WaitGroup
	for w := range 3 {
		random := rand.New(rand.NewPCG(42, uint64(w)))
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				var rows []row
				mu.Lock()
				for range 1 + random.IntN(3) {
					id := uint64(1 + random.IntN(vehicles))
					if archived[id] {
						continue
					}
					revisions[id]++
					archived[id] = random.IntN(40) == 0
					rows = append(rows, row{7 + id%2, id, revisions[id], archived[id], fmt.Sprint(n)})
				}
				mu.Unlock()
				if len(rows) > 0 {
					put(t, db, rows...)
				}
				if random.IntN(20) == 0 { // what was brought before is brought again
					put(t, db, rows...)
				}
				statement := ""
				switch random.IntN(60) {
				case 0:
					statement = "OPTIMIZE TABLE vehicles FINAL"
				case 1:
					statement = "ALTER TABLE vehicles UPDATE nickname = '' WHERE account = 7 SETTINGS mutations_sync = 1"
				}
				if statement != "" {
					if err := db.Exec(context.WithoutCancel(t.Context()), statement); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	rosters := []*Roster{open(t, db), open(t, db)}
	answers := make([]int, 4)
	for n := range 4 {
		r, account := rosters[n/2], fleet.AccountID(7+n%2)
		readers.Go(func() {
			last := map[uint64]uint64{}
			for {
				select {
				case <-stop:
					return
				default:
				}
				page, ok, err := r.List(context.WithoutCancel(t.Context()), &query.Vehicles,
					query.ListRequest{Account: account, Limit: 100})
				if err != nil {
					t.Error(err)
					return
				}
				if !ok {
					continue
				}
				answers[n]++
				there := map[uint64]bool{}
				for _, s := range page.Records {
					if there[s.ID] = true; s.ID%2 != uint64(account-7) {
						t.Errorf("account %d sees vehicle %d of the other", account, s.ID)
					}
					if s.Revision < last[s.ID] {
						t.Errorf("vehicle %d went back from revision %d to %d", s.ID, last[s.ID], s.Revision)
					}
					last[s.ID] = s.Revision
				}
				for id := range last {
					if !there[id] { // it was archived, and must not come back
						last[id] = 1 << 60
					}
				}
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	time.Sleep(4 * time.Second)
	close(stop)
	writers.Wait()
	readers.Wait()
	time.Sleep(time.Second)
	for n, r := range rosters {
		for account := fleet.AccountID(7); account <= 8; account++ {
			req := query.ListRequest{Account: account, Limit: 100, Sort: []query.SortKey{{Field: "make"}}}
			got, ok, err := r.List(t.Context(), &query.Vehicles, req)
			want, wrong := query.List(t.Context(), db, &query.Vehicles, req)
			if !ok || err != nil || wrong != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("reader %d of account %d: %v %v %v\n%+v\n%+v", n, account, ok, err, wrong, got, want)
			}
		}
	}
	written := uint64(0)
	for _, revision := range revisions {
		written += revision
	}
	t.Logf("%d revisions, %v answers", written, answers)
	for _, n := range answers {
		if n < 2 || written < 20 { // a machine that is busy with other tests gives few
			t.Errorf("%d revisions and %v answers tell little", written, answers)
		}
	}
}

func TestALookReadsOnlyPartsThatAreNew(t *testing.T) {
	db := schematest.Open(t)
	for n := range uint64(3) {
		put(t, db, row{7, n + 1, 1, false, "a"}, row{7, n + 2, 1, false, "a"})
	}
	if err := db.Exec(t.Context(), "OPTIMIZE TABLE vehicles FINAL"); err != nil {
		t.Fatal(err)
	}
	put(t, db, row{7, 9, 1, false, "a"})
	parts, err := readParts(t.Context(), db, []string{"vehicles"})
	if err != nil || len(parts["vehicles"]) != 2 {
		t.Fatalf("%+v, %v", parts, err)
	}
	first, last := int64(1), max(parts["vehicles"][0].last, parts["vehicles"][1].last)
	for block, want := range map[int64]uint64{first: 5, last: 1} {
		of := query.HeldOf{Accounts: []uint64{7}, Block: block}
		read := uint64(0)
		ctx := clickhouse.Context(t.Context(),
			clickhouse.WithProgress(func(p *clickhouse.Progress) { read += p.Rows }))
		err := query.Vehicles.EachRevision(ctx, db, of, func(fleet.AccountID, uint64, uint64) {})
		if err != nil || read != want {
			t.Errorf("revisions from insert %d on read %d rows, want %d, %v", block, read, want, err)
		}
		read = 0
		err = query.Vehicles.EachHeld(ctx, db, of, func(fleet.AccountID, *query.Held, bool) error { return nil })
		if err != nil || read != want {
			t.Errorf("records from insert %d on read %d rows, want %d, %v", block, read, want, err)
		}
	}
}
