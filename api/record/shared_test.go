package record

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

var author = Author{Actor: "key_1", RequestID: "req_1"}

// Of many who write at the same time each finds its own in the table once it is answered, and they have shared
// inserts.
func TestWritersOfOneMomentShareInserts(t *testing.T) {
	const writers = 64
	db := schematest.Open(t)
	log := NewLog(storeOn(t, db), ServiceTasks)
	if err := db.Exec(t.Context(), "SYSTEM STOP MERGES service_tasks"); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			account := fleet.AccountID(7 + i%2)
			rec, err := log.New(t.Context(), author, account, ServiceTask{Name: fmt.Sprint(i)})
			if err != nil {
				t.Error(err)
				return
			}
			var name string
			err = db.QueryRow(t.Context(),
				"SELECT name FROM service_tasks WHERE account = {account:UInt64} AND id = {id:UInt64}",
				clickhouse.Named("account", uint64(account)), clickhouse.Named("id", rec.ID)).Scan(&name)
			if err != nil || name != fmt.Sprint(i) {
				t.Errorf("the table has %q of %d: %v", name, i, err)
			}
		})
	}
	all.Wait()
	if parts := count(t, db, "SELECT count() FROM system.parts WHERE database = currentDatabase() AND table = 'service_tasks'"); parts >= writers {
		t.Errorf("%d writers made %d inserts", writers, parts)
	}
}

// A step of a few commands waits for nobody; many wait a moment for each other, and share an insert.
func TestManyInStepShareAnInsert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Store{}
		s.shared = newSharedInserts(s.Moment)
		var over []func()
		for _, want := range []int{5, 1} {
			inserts := 0
			insert := func(context.Context, []*revision) error {
				inserts++
				time.Sleep(100 * time.Millisecond) // who comes meanwhile waits for the next
				return nil
			}
			var all sync.WaitGroup
			for n := range 5 {
				all.Go(func() {
					time.Sleep(time.Duration(n) * 2 * time.Millisecond)
					if err := s.shared.share(t.Context(), "t", insert, []*revision{{}}); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			synctest.Wait()
			if want == 5 && inserts != 2 || want == 1 && inserts != 1 {
				t.Errorf("five who came within 8 ms while %d commands were under way made %d inserts", len(over), inserts)
			}
			time.Sleep(time.Second)
			for range manyInStep {
				over = append(over, s.InStep())
			}
		}
		over[0]()
		for _, done := range over[manyInStep:] {
			done()
		}
		if wait := s.Moment(); wait != 0 {
			t.Errorf("%d commands wait %v", manyInStep-1, wait)
		}
	})
}

// What nobody waits for waits for others, until somebody comes who waits, or awaits it.
func TestWhatNobodyWaitsForSharesAnInsert(t *testing.T) {
	for _, c := range []struct {
		name string
		wake func(share func(context.Context))
		want time.Duration
	}{
		{"nothing wakes them", func(func(context.Context)) {}, patience},
		{"one comes who waits", func(share func(context.Context)) { share(context.Background()) }, 30 * time.Millisecond},
		{"somebody awaits it", nil, 30 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shared := newSharedInserts(func() time.Duration { return 0 })
				var inserted []int
				share := func(ctx context.Context) {
					if err := shared.share(ctx, "t", func(_ context.Context, all []*revision) error {
						inserted = append(inserted, len(all))
						return nil
					}, []*revision{{}}); err != nil {
						t.Error(err)
					}
				}
				begun := time.Now()
				var all sync.WaitGroup
				for n := range 3 {
					all.Go(func() {
						time.Sleep(time.Duration(n) * 10 * time.Millisecond)
						share(patiently(t.Context(), func() bool { return true }))
					})
				}
				time.Sleep(30 * time.Millisecond)
				want := 3
				if c.wake == nil {
					shared.hurry()
				} else if c.wake(share); c.want < patience {
					want = 4
				}
				all.Wait()
				if took := time.Since(begun); len(inserted) != 1 || inserted[0] != want || took != c.want {
					t.Errorf("inserts of %v after %v, want one of %d after %v", inserted, took, want, c.want)
				}
			})
		})
	}
}

// Of many who create at the same time each has its own record, they have shared inserts into the log, and what is under
// somebody else's id gives way: of two stores that draw the same ids no record has two first revisions.
func TestThoseWhoCreateAtOneMomentShareAnInsertIntoTheLog(t *testing.T) {
	const writers, each = 24, 4
	db := schematest.Open(t)
	cfg := Config{Deadline: time.Minute, Abandoned: 2 * time.Minute}
	start := time.Now()
	var all sync.WaitGroup
	var mu sync.Mutex
	made := make(map[uint64]string)
	for n := range 2 {
		clock := func() time.Time { return start } // so that the ids of both are the same
		s, err := NewStore(cfg, db, fleet.NewIDSource(1, clock), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		log := NewLog(s, ServiceTasks)
		for i := range writers {
			all.Go(func() {
				for j := range each {
					name := fmt.Sprint(n, i, j)
					rec, err := log.New(t.Context(), author, 7, ServiceTask{Name: name})
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if other, ok := made[rec.ID]; ok {
						t.Errorf("%d is %s and %s", rec.ID, other, name)
					}
					made[rec.ID] = name
					mu.Unlock()
				}
			})
		}
	}
	all.Wait()
	log := NewLog(storeOn(t, db), ServiceTasks)
	for id, name := range made {
		if rec, err := log.Get(t.Context(), 7, id); err != nil || rec.Body.Name != name || rec.Revision != 1 {
			t.Errorf("%d is %+v and not %s: %v", id, rec, name, err)
		}
	}
	if n := count(t, db, "SELECT count() FROM record_log"); n != 2*writers*each || len(made) != 2*writers*each {
		t.Errorf("%d rows and %d answers of %d records", n, len(made), 2*writers*each)
	}
	if n := count(t, db, "SELECT count() FROM service_tasks FINAL"); n != 2*writers*each {
		t.Errorf("%d are listed", n)
	}
	blocks := "SELECT toUInt64(max(max_block_number)) FROM system.parts WHERE database = currentDatabase() AND table = 'record_log'"
	if n := count(t, db, blocks); n >= writers*each { // a block for each insert and for each mutation
		t.Errorf("%d records made %d inserts", 2*writers*each, n)
	}
}

// What is inserted with others and finds its id another's is taken back, and its author told to take another id.
func TestWhatSharesAnInsertGivesWayToWhoeverHasItsID(t *testing.T) {
	db := schematest.Open(t)
	s := storeOn(t, db)
	log := NewLog(s, ServiceTasks)
	id := s.NextIDOfMany()
	if _, made, err := NewLog(storeOn(t, db), ServiceTasks).Ensure(t.Context(), author, 7, id,
		ServiceTask{Name: "first"}); err != nil || !made {
		t.Fatal(made, err)
	}
	by := author
	by.Command = NewCommand()
	if _, _, err := log.Create(t.Context(), by, 7, id, ServiceTask{Name: "second"}); !errors.Is(err, ErrTaken) {
		t.Errorf("the second under one id: %v", err)
	}
	if _, made, err := log.Create(t.Context(), by, 8, id, ServiceTask{Name: "of another account"}); err != nil || !made {
		t.Errorf("of another account: %v, %v", made, err)
	}
	if rec, err := log.Get(t.Context(), 7, id); err != nil || rec.Body.Name != "first" {
		t.Errorf("%+v, %v", rec, err)
	}
	if n := count(t, db, "SELECT count() FROM record_log"); n != 2 {
		t.Errorf("%d rows", n)
	}
}

// A record that others may ensure shares no insert, whatever its id: of all who ensure one there is one.
func TestWhatOthersMayEnsureHasOneFirstRevisionWhateverItsID(t *testing.T) {
	db := schematest.Open(t)
	stores := []*Store{storeOn(t, db), storeOn(t, db)}
	var all sync.WaitGroup
	for range 5 {
		id := stores[0].NextIDOfMany()
		for i := range 16 {
			all.Go(func() {
				rec, _, err := NewLog(stores[i%2], ServiceTasks).Ensure(t.Context(), author, 7, id, ServiceTask{Name: "one"})
				if err != nil || rec.ID != id || rec.Body.Name != "one" {
					t.Errorf("%+v, %v", rec, err)
				}
			})
		}
	}
	all.Wait()
	if n := count(t, db, "SELECT count() FROM record_log"); n != 5 {
		t.Errorf("%d first revisions of 5 records", n)
	}
}

// Who cannot wait for the insert before writes by itself, and so does who has little time left.
func TestWhoCannotShareAnInsertIntoTheLogWritesByItself(t *testing.T) {
	db := schematest.Open(t)
	cfg := Config{Deadline: 4 * time.Second, Abandoned: 8 * time.Second}
	s, err := NewStore(cfg, db, fleet.NewIDSource(1, time.Now), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	log := NewLog(s, ServiceTasks)
	s.shared.waiting["record_log"] = nil // as while an insert is on its way
	time.AfterFunc(2200*time.Millisecond, func() { s.shared.insertWaiting(t.Context(), "record_log", s.appendNew) })
	id := s.NextIDOfMany()
	if _, made, err := log.Create(t.Context(), author, 7, id, ServiceTask{Name: "late"}); err != nil || !made {
		t.Errorf("who waited for half the time: %v, %v", made, err)
	}
	s.shared.mu.Lock()
	s.shared.waiting["record_log"] = nil
	s.shared.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), cfg.Deadline/2-100*time.Millisecond)
	defer cancel()
	if _, made, err := log.Create(ctx, author, 7, s.NextIDOfMany(), ServiceTask{Name: "in a hurry"}); err != nil || !made {
		t.Errorf("who has little time left: %v, %v", made, err)
	}
	if n := count(t, db, "SELECT count() FROM record_log"); n != 2 {
		t.Errorf("%d rows", n)
	}
}

// One of those who share an insert may fail it, go away before it, or have waited for too long: the others are
// served all the same, and what waited too long comes out of the log.
func TestWhoSharesAnInsertHarmsNobody(t *testing.T) {
	for name, c := range map[string]struct {
		refuse string // what the server is to refuse
		goes   bool   // one goes away
		wait   time.Duration
		says   error // to the one
	}{
		"one cannot be inserted": {refuse: "ALTER TABLE service_tasks ADD CONSTRAINT one CHECK id != 2 OR name != 'of its writer'"},
		"one goes away":          {goes: true, says: context.Canceled},
		"all have waited":        {wait: fromMemory * 3 / 4},
	} {
		t.Run(name, func(t *testing.T) {
			db := schematest.Open(t)
			s, f := storeOn(t, db), feedOf(t, "service_tasks", "service_tasks")
			s.shared.waiting[f.Table] = nil // as while an insert is on its way
			at := millis(time.Now())
			answers := make([]chan error, 4)
			for i := range answers {
				r := &revision{account: 7, kind: "service_task", id: uint64(i + 1), number: 1, writeID: 1,
					action: ActionCreate, at: at, createdAt: at, body: `{"name":"of the log"}`}
				if _, err := s.insert(t.Context(), revisionToken(r), r); err != nil {
					t.Fatal(err)
				}
				written := *r
				written.body = `{"name":"of its writer"}`
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				answers[i] = make(chan error, 1)
				go func() { answers[i] <- s.feed(ctx, &written) }()
				for deadline := time.Now().Add(10 * time.Second); waitingFor(s, f) <= i; time.Sleep(time.Millisecond) {
					if time.Now().After(deadline) {
						t.Fatal("it does not wait")
					}
				}
				if i == 1 && c.goes {
					cancel()
				}
			}
			if c.refuse != "" {
				if err := db.Exec(t.Context(), c.refuse); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(c.wait)
			s.shared.insertWaiting(t.Context(), f.Table, s.bringing(f))
			for i, answer := range answers {
				if err := <-answer; i == 1 && !errors.Is(err, c.says) || i != 1 && err != nil {
					t.Errorf("%d: %v", i, err)
				}
			}
			if n := count(t, db, "SELECT count() FROM service_tasks FINAL WHERE id != 2"); n != 3 {
				t.Errorf("%d of the other three are listed", n)
			}
			want := uint64(3)
			if !c.goes { // then each brings its own, out of the log
				want = 0
			}
			if n := count(t, db, "SELECT count() FROM service_tasks FINAL WHERE id != 2 AND name = 'of its writer'"); n != want {
				t.Errorf("%d are out of memory, not %d", n, want)
			}
			parts := count(t, db, "SELECT count() FROM system.parts WHERE database = currentDatabase() AND table = 'service_tasks'")
			if c.goes && parts != 1 {
				t.Errorf("those who waited made %d inserts", parts)
			}
			if n := waitingFor(s, f); n != 0 {
				t.Errorf("%d still wait", n)
			}
		})
	}
}

func storeOn(t *testing.T, db driver.Conn) *Store {
	t.Helper()
	cfg := Config{Deadline: time.Minute, Abandoned: 2 * time.Minute}
	s, err := NewStore(cfg, db, fleet.NewIDSource(1, time.Now), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func waitingFor(s *Store, f schemas.Feed) int {
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	return len(s.shared.waiting[f.Table])
}

func count(t *testing.T, db driver.Conn, query string) (n uint64) {
	t.Helper()
	if err := db.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
