package record_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

var by = record.Author{Actor: "key_1", RequestID: "req_1"}

const account = fleet.AccountID(7)

func newStore(t *testing.T, db driver.Conn, node uint64) *record.Store {
	t.Helper()
	// A busy machine may need more than the usual time for 32 writers; what they must agree on stays the same.
	s, err := record.NewStore(record.Config{Deadline: time.Minute, Abandoned: 2 * time.Minute}, db,
		fleet.NewIDSource(node, time.Now), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// twoStores are two stores on separate connections to one database, as two processes have them.
func twoStores(t *testing.T) (a, b *record.Store, db driver.Conn) {
	t.Helper()
	return twoStoresOn(t, func(db driver.Conn) driver.Conn { return db })
}

// twoStoresOn is twoStores on connections that something stands before.
func twoStoresOn(t *testing.T, before func(driver.Conn) driver.Conn) (a, b *record.Store, db driver.Conn) {
	t.Helper()
	config := schematest.Config(t)
	open := func() driver.Conn {
		conn, err := query.Open(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	db = open()
	if _, err := schemas.Apply(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return newStore(t, before(db), 1), newStore(t, before(open()), 2), db
}

// asking notes which queries of one row are made of a server, which tells nothing of its inserts if it is mute.
type asking struct {
	driver.Conn
	mute  bool
	asked atomic.Int32
}

func (c *asking) PrepareBatch(ctx context.Context, statement string,
	options ...driver.PrepareBatchOption) (driver.Batch, error) {
	if c.mute {
		ctx = clickhouse.Context(ctx, clickhouse.WithoutProfileEvents())
	}
	return c.Conn.PrepareBatch(ctx, statement, options...)
}

func (c *asking) QueryRow(ctx context.Context, text string, args ...any) driver.Row {
	if text == schemas.Query("record_writer") || text == schemas.Query("claim_writer") {
		c.asked.Add(1)
	}
	return c.Conn.QueryRow(ctx, text, args...)
}

// Whose write stands is read only where the server does not say.
func TestTheServerSaysWhoseWriteStands(t *testing.T) {
	for _, mute := range []bool{false, true} {
		conn := &asking{Conn: schematest.Open(t), mute: mute}
		create(t, newStore(t, conn, 1), vehicle("1HGCM82633A004352"))
		if asked := conn.asked.Load(); asked > 0 != mute {
			t.Errorf("mute %v: %d writers were read", mute, asked)
		}
	}
}

func vehicle(vin string) record.Vehicle {
	return record.Vehicle{
		VehicleFields: record.VehicleFields{Make: "Tesla", Model: "Model 3", Year: 2024, VIN: vin,
			Metadata: map[string]string{}},
		Status: record.VehicleAvailable,
	}
}

func create(t *testing.T, s *record.Store, v record.Vehicle) record.Record[record.Vehicle] {
	t.Helper()
	r, fresh, err := record.NewLog(s, record.Vehicles).Create(t.Context(), by, account, s.NextID(), v)
	if err != nil || !fresh {
		t.Fatalf("create: fresh %v, %v", fresh, err)
	}
	return r
}

func wantCode(t *testing.T, err error, code fleet.Code) {
	t.Helper()
	if fleet.CodeOf(err) != code {
		t.Errorf("error %v, want code %s", err, code)
	}
}

func auditIsClean(t *testing.T, s *record.Store) {
	t.Helper()
	records, claims, err := s.Audit(t.Context())
	if err != nil || records != 0 || claims != 0 {
		t.Errorf("audit: %d records and %d claims with two rows, %v", records, claims, err)
	}
}

func TestManyWritersOfOneRevisionHaveOneWinner(t *testing.T) {
	for _, mute := range []bool{false, true} {
		manyWritersOfOneRevision(t, func(db driver.Conn) driver.Conn { return &asking{Conn: db, mute: mute} })
	}
}

func manyWritersOfOneRevision(t *testing.T, before func(driver.Conn) driver.Conn) {
	a, b, db := twoStoresOn(t, before)
	r := create(t, a, vehicle(""))
	for round := range 10 {
		var won, stale atomic.Int32
		var group sync.WaitGroup
		for w := range 32 {
			log := record.NewLog([]*record.Store{a, b}[w%2], record.Vehicles)
			group.Go(func() {
				_, err := log.Update(t.Context(), by, account, r.ID, uint64(round+1), func(r *record.Record[record.Vehicle]) error {
					r.Body.Nickname = fmt.Sprintf("%d by %d", round, w)
					return nil
				})
				switch {
				case err == nil:
					won.Add(1)
				case fleet.CodeOf(err) == fleet.CodeStale:
					stale.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		group.Wait()
		if won.Load() != 1 || stale.Load() != 31 {
			t.Fatalf("round %d: %d won and %d were stale, want 1 and 31", round, won.Load(), stale.Load())
		}
	}
	auditIsClean(t, a)
	var revision uint64
	if err := db.QueryRow(t.Context(), "SELECT revision FROM vehicles FINAL WHERE id = $1",
		r.ID).Scan(&revision); err != nil || revision != 11 {
		t.Errorf("the current table stands at revision %d, %v; want 11", revision, err)
	}
}

func TestNoUpdateIsLostWhenManyChangeTheSameRecord(t *testing.T) {
	a, b, _ := twoStores(t)
	r := create(t, a, vehicle(""))
	var group sync.WaitGroup
	for w := range 32 {
		log := record.NewLog([]*record.Store{a, b}[w%2], record.Vehicles)
		group.Go(func() {
			_, err := log.Update(t.Context(), by, account, r.ID, 0, func(r *record.Record[record.Vehicle]) error {
				if r.Body.Metadata == nil {
					r.Body.Metadata = map[string]string{}
				}
				r.Body.Metadata[fmt.Sprint(w)] = "here"
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	got, err := record.NewLog(a, record.Vehicles).Get(t.Context(), account, r.ID)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Body.Metadata); n != 32 || got.Revision != 33 {
		t.Errorf("%d of 32 changes stand at revision %d", n, got.Revision)
	}
	auditIsClean(t, a)
}

func TestAUniqueValueHasOneHolderHoweverManyAskAtOnce(t *testing.T) {
	a, b, db := twoStores(t)
	var won, taken atomic.Int32
	var group sync.WaitGroup
	for w := range 16 {
		s := []*record.Store{a, b}[w%2]
		group.Go(func() {
			_, _, err := record.NewLog(s, record.Vehicles).Create(t.Context(), by, account, s.NextID(),
				vehicle("5YJ3E1EA7KF317000"))
			switch {
			case err == nil:
				won.Add(1)
			case fleet.CodeOf(err) == fleet.CodeConflict:
				taken.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 || taken.Load() != 15 {
		t.Errorf("%d won and %d were told that it is taken, want 1 and 15", won.Load(), taken.Load())
	}
	var n uint64
	if err := db.QueryRow(t.Context(),
		"SELECT count() FROM vehicles FINAL WHERE vin = '5YJ3E1EA7KF317000'").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d vehicles with the VIN, %v", n, err)
	}
	auditIsClean(t, a)
}

func TestAUniqueValueIsComparedAsPeopleReadIt(t *testing.T) {
	s := newStore(t, schematest.Open(t), 1)
	v := vehicle("")
	v.LicensePlate, v.PlateRegion = "abc-1234", "tx"
	create(t, s, v)
	v.LicensePlate, v.PlateRegion = "ABC 1234", "TX"
	_, _, err := record.NewLog(s, record.Vehicles).Create(t.Context(), by, account, s.NextID(), v)
	wantCode(t, err, fleet.CodeConflict)
	v.PlateRegion = "OK"
	create(t, s, v)
}

func TestAValueIsFreeAgainAfterItWasGivenUp(t *testing.T) {
	s := newStore(t, schematest.Open(t), 1)
	log := record.NewLog(s, record.Vehicles)
	first := create(t, s, vehicle("VIN1"))
	if _, err := log.Update(t.Context(), by, account, first.ID, 0, func(r *record.Record[record.Vehicle]) error {
		r.Body.VIN = "VIN2"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	second := create(t, s, vehicle("VIN1"))
	if _, err := log.Archive(t.Context(), by, account, second.ID, 0, nil); err != nil {
		t.Fatal(err)
	}
	create(t, s, vehicle("VIN1"))
	_, _, err := log.Create(t.Context(), by, account, s.NextID(), vehicle("VIN2"))
	wantCode(t, err, fleet.CodeConflict)
}

func TestARefusedCreationGivesItsValuesBack(t *testing.T) {
	s := newStore(t, schematest.Open(t), 1)
	v := vehicle("VIN1")
	v.LicensePlate = "TAKEN"
	create(t, s, v)
	v.VIN = "VIN2" // free, and claimed before the plate turns out to be taken
	_, _, err := record.NewLog(s, record.Vehicles).Create(t.Context(), by, account, s.NextID(), v)
	wantCode(t, err, fleet.CodeConflict)
	create(t, s, vehicle("VIN2"))
}

// A process dies between its claim and its record: the value is blocked for a while, and not for ever.
func TestACrashBetweenClaimAndRecordDoesNotBlockTheValue(t *testing.T) {
	db := schematest.Open(t)
	s := newStore(t, db, 1)
	claimAs := func(value string, owner uint64, age time.Duration) {
		if err := db.Exec(t.Context(), `INSERT INTO claim_log (account, field, value, revision, write_id, owner, at, detail)
			VALUES ($1, 'vehicle.vin', $2, 1, 1, $3, now64(3) - INTERVAL $4 SECOND, $5)`,
			uint64(account), value, owner, int(age.Seconds()), fmt.Sprint(uint64(account))); err != nil {
			t.Fatal(err)
		}
	}
	claimAs("YOUNG", 4711, 2*time.Second)
	claimAs("OLD", 4712, 121*time.Second)
	_, _, err := record.NewLog(s, record.Vehicles).Create(t.Context(), by, account, s.NextID(), vehicle("YOUNG"))
	wantCode(t, err, fleet.CodeConflict)
	create(t, s, vehicle("OLD"))

	// However old the claim: a record that holds the value keeps it.
	held := create(t, s, vehicle("HELD"))
	if err := db.Exec(t.Context(), "INSERT INTO claim_log (account, field, value, revision, write_id, owner, at, detail) VALUES ($1, 'vehicle.vin', 'HELD', 2, 1, $2, now64(3) - INTERVAL 1 DAY, $3)",
		uint64(account), held.ID, fmt.Sprint(uint64(account))); err != nil {
		t.Fatal(err)
	}
	_, _, err = record.NewLog(s, record.Vehicles).Create(t.Context(), by, account, s.NextID(), vehicle("HELD"))
	wantCode(t, err, fleet.CodeConflict)
}

func TestADeviceIsUniqueOverAllAccounts(t *testing.T) {
	s := newStore(t, schematest.Open(t), 1)
	log := record.NewLog(s, record.Devices)
	d := record.Device{DeviceFields: record.DeviceFields{UniqueID: "352093081452251"}}
	if _, _, err := log.Create(t.Context(), by, 7, s.NextID(), d); err != nil {
		t.Fatal(err)
	}
	_, _, err := log.Create(t.Context(), by, 8, s.NextID(), d)
	wantCode(t, err, fleet.CodeConflict)
}

func TestARecordOfAnotherAccountIsNotFound(t *testing.T) {
	s := newStore(t, schematest.Open(t), 1)
	log := record.NewLog(s, record.Vehicles)
	r := create(t, s, vehicle(""))
	_, err := log.Get(t.Context(), account+1, r.ID)
	wantCode(t, err, fleet.CodeNotFound)
	_, err = log.Update(t.Context(), by, account+1, r.ID, 0, func(*record.Record[record.Vehicle]) error { return nil })
	wantCode(t, err, fleet.CodeNotFound)
	_, err = log.Archive(t.Context(), by, account+1, r.ID, 0, nil)
	wantCode(t, err, fleet.CodeNotFound)
	_, _, err = log.History(t.Context(), account+1, r.ID, 0, 10)
	wantCode(t, err, fleet.CodeNotFound)
}

func TestAnArchivedRecordStaysReadableAndCannotBeChanged(t *testing.T) {
	s := newStore(t, schematest.Open(t), 1)
	log := record.NewLog(s, record.Vehicles)
	r := create(t, s, vehicle(""))
	for range 2 {
		gone, err := log.Archive(t.Context(), by, account, r.ID, 0, nil)
		if err != nil || !gone.Archived() || gone.Revision != 2 {
			t.Fatalf("archive: %+v, %v", gone, err)
		}
	}
	_, err := log.Update(t.Context(), by, account, r.ID, 0, func(r *record.Record[record.Vehicle]) error {
		r.Body.Color = "red"
		return nil
	})
	wantCode(t, err, fleet.CodeConflict)
	if got, err := log.Get(t.Context(), account, r.ID); err != nil || got.Body.Make != "Tesla" || !got.Archived() {
		t.Errorf("get after archive: %+v, %v", got, err)
	}
}

func TestAChangeThatChangesNothingMakesNoRevision(t *testing.T) {
	s := newStore(t, schematest.Open(t), 1)
	r := create(t, s, vehicle("VIN1"))
	got, err := record.NewLog(s, record.Vehicles).Update(t.Context(), by, account, r.ID, 0,
		func(*record.Record[record.Vehicle]) error { return nil })
	if err != nil || got.Revision != 1 {
		t.Errorf("revision %d, %v", got.Revision, err)
	}
}

func TestAnInsertWithoutAnswerIsRepeatedUntilItIsDecided(t *testing.T) {
	db := &lossy{Conn: schematest.Open(t)}
	s := newStore(t, db, 1)
	for _, where := range []string{"before", "after"} {
		db.fail.Store(&where)
		r := create(t, s, vehicle("VIN-"+where))
		if r.Revision != 1 {
			t.Errorf("revision %d", r.Revision)
		}
	}
	auditIsClean(t, s)
}

// lossy loses one insert: its request before it reaches the server, or its answer after.
type lossy struct {
	driver.Conn
	fail atomic.Pointer[string]
}

func (c *lossy) PrepareBatch(ctx context.Context, sql string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	batch, err := c.Conn.PrepareBatch(ctx, sql, opts...)
	if where := c.fail.Swap(nil); where != nil && err == nil {
		return &lossyBatch{batch, *where}, nil
	}
	return batch, err
}

type lossyBatch struct {
	driver.Batch
	where string
}

func (b *lossyBatch) Send() error {
	if b.where == "before" {
		b.Abort()
	} else if err := b.Batch.Send(); err != nil {
		return err
	}
	return errors.New("connection reset")
}

func TestHistoryTellsWhatChangedAndHidesSecrets(t *testing.T) {
	s := newStore(t, schematest.Open(t), 1)
	log := record.NewLog(s, record.Devices)
	d := record.Device{DeviceFields: record.DeviceFields{UniqueID: "u1", Metadata: map[string]string{"a": "1"}},
		OsmandTokenSHA256: "feed"}
	r, _, err := log.Create(t.Context(), by, account, s.NextID(), d)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Update(t.Context(), record.Author{Actor: "key_2"}, account, r.ID, 0,
		func(r *record.Record[record.Device]) error {
			r.Body.Metadata["a"], r.Body.Metadata["b/c"] = "2", "3"
			r.Body.OsmandTokenSHA256 = "beef"
			return nil
		}); err != nil {
		t.Fatal(err)
	}
	history, next, err := log.History(t.Context(), account, r.ID, 0, 10)
	if err != nil || len(history) != 2 || next != 0 {
		t.Fatalf("history %+v, next %d, %v", history, next, err)
	}
	if got, want := fmt.Sprint(history[0].Changes),
		"[{/metadata/a 1 2} {/metadata/b~1c <nil> 3} {/osmand_token_sha256 <nil> <nil>}]"; got != want {
		t.Errorf("changes %s, want %s", got, want)
	}
	if history[0].Actor != "key_2" || history[0].Action != record.ActionUpdate ||
		history[1].Action != record.ActionCreate {
		t.Errorf("history %+v", history)
	}
	if text := fmt.Sprint(history); strings.Contains(text, "feed") || strings.Contains(text, "beef") {
		t.Errorf("history shows a secret: %s", text)
	}
	page, next, err := log.History(t.Context(), account, r.ID, 0, 1)
	if err != nil || len(page) != 1 || next != 2 {
		t.Fatalf("first page %+v, next %d, %v", page, next, err)
	}
	if page, next, err = log.History(t.Context(), account, r.ID, next, 1); err != nil || len(page) != 1 ||
		page[0].Number != 1 || next != 0 {
		t.Errorf("second page %+v, next %d, %v", page, next, err)
	}
}

func TestARequestRepeatedAfterACrashMakesTheSameRecord(t *testing.T) {
	db := schematest.Open(t)
	s := newStore(t, db, 1)
	log := record.NewLog(s, record.Vehicles)
	first, err := s.Begin(t.Context(), account, "k", "hash")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := log.Create(t.Context(), by, account, first.ID, vehicle("VIN1")); err != nil {
		t.Fatal(err)
	}
	// Here the process dies. At once the key is busy; later the request is carried out again.
	if _, err := s.Begin(t.Context(), account, "k", "hash"); !errors.Is(err, record.ErrKeyBusy) {
		t.Fatalf("second begin: %v", err)
	}
	if _, err := s.Begin(t.Context(), account, "k", "other"); !errors.Is(err, record.ErrKeyReused) {
		t.Fatalf("begin with another request: %v", err)
	}
	if err := db.Exec(t.Context(), "ALTER TABLE claim_log UPDATE at = at - INTERVAL 1 HOUR WHERE field = 'idempotency' SETTINGS mutations_sync = 1"); err != nil {
		t.Fatal(err)
	}
	again, err := s.Begin(t.Context(), account, "k", "hash")
	if err != nil || again.ID != first.ID || !again.Again {
		t.Fatalf("begin after the crash: %+v, %v", again, err)
	}
	r, fresh, err := log.Create(t.Context(), by, account, again.ID, vehicle("VIN1"))
	if err != nil || fresh || r.ID != first.ID || r.Revision != 1 {
		t.Fatalf("create after the crash: %+v, %v, %v", r, fresh, err)
	}
	if err := again.Finish(t.Context(), record.Answer{Status: 201, Body: "{}"}); err != nil {
		t.Fatal(err)
	}
	if replay, err := s.Begin(t.Context(), account, "k", "hash"); err != nil || replay.Answer == nil ||
		replay.Answer.Status != 201 {
		t.Errorf("replay: %+v, %v", replay, err)
	}
	if other, err := s.Begin(t.Context(), account+1, "k", "other"); err != nil || other.ID == first.ID {
		t.Errorf("the same key of another account: %+v, %v", other, err)
	}
	var n uint64
	if err := db.QueryRow(t.Context(), "SELECT count() FROM vehicles FINAL").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d vehicles, %v", n, err)
	}
}

func TestAKeyHasOneRunnerHoweverManyRepeatAtOnce(t *testing.T) {
	a, b, _ := twoStores(t)
	var runs, busy atomic.Int32
	var group sync.WaitGroup
	for w := range 16 {
		s := []*record.Store{a, b}[w%2]
		group.Go(func() {
			switch _, err := s.Begin(t.Context(), account, "k", "hash"); {
			case err == nil:
				runs.Add(1)
			case errors.Is(err, record.ErrKeyBusy):
				busy.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if runs.Load() != 1 || busy.Load() != 15 {
		t.Errorf("%d ran and %d were told to wait, want 1 and 15", runs.Load(), busy.Load())
	}
}

func TestAReleasedKeyIsFreeForAnotherRequest(t *testing.T) {
	s := newStore(t, schematest.Open(t), 1)
	first, err := s.Begin(t.Context(), account, "k", "bad body")
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	second, err := s.Begin(t.Context(), account, "k", "good body")
	if err != nil || second.Again {
		t.Fatalf("begin after release: %+v, %v", second, err)
	}
	if err := second.Reopen(t.Context()); err != nil {
		t.Fatal(err)
	}
	third, err := s.Begin(t.Context(), account, "k", "good body")
	if err != nil || third.ID != second.ID || !third.Again {
		t.Errorf("begin after reopen: %+v, %v", third, err)
	}
}

// The table forgets a key that has expired, while the server may still know the token of its first claim.
func TestAKeyThatTheTableForgotCanBeUsedAgain(t *testing.T) {
	db := schematest.Open(t)
	s, err := record.NewStore(record.Config{Deadline: 10 * time.Second, Abandoned: 20 * time.Second}, db,
		fleet.NewIDSource(1, time.Now), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		ticket, err := s.Begin(t.Context(), account, "k", "hash")
		if err != nil {
			t.Fatal(err)
		}
		if ticket.Answer != nil || ticket.Again {
			t.Fatalf("ticket %+v", ticket)
		}
		if err := ticket.Finish(t.Context(), record.Answer{Status: 201}); err != nil {
			t.Fatal(err)
		}
		if again, err := s.Begin(t.Context(), account, "k", "hash"); err != nil || again.Answer == nil {
			t.Fatalf("again %+v, %v", again, err)
		}
		// What the TTL of the table does some days later.
		if err := db.Exec(t.Context(), "ALTER TABLE claim_log DELETE WHERE true SETTINGS mutations_sync = 1"); err != nil {
			t.Fatal(err)
		}
	}
}

// The server noted the token of a revision and was killed before it had the row. Of all who want to write that revision
// then one wins, as ever.
func TestARevisionWhoseTokenWasSpentIsWrittenByOne(t *testing.T) {
	a, b, db := twoStores(t)
	made := create(t, a, vehicle("A"))
	wipe := func() {
		if err := db.Exec(t.Context(),
			"ALTER TABLE record_log DELETE WHERE revision > 1 SETTINGS mutations_sync = 1"); err != nil {
			t.Fatal(err)
		}
	}
	rename := func(s *record.Store, name string, expect uint64) error {
		_, err := record.NewLog(s, record.Vehicles).Update(t.Context(), by, account, made.ID, expect,
			func(r *record.Record[record.Vehicle]) error {
				r.Body.Nickname = name
				return nil
			})
		return err
	}
	for turn := range 3 { // in each one more of the tokens is spent
		var all sync.WaitGroup
		var won atomic.Int64
		for i := range 8 {
			all.Go(func() {
				switch err := rename([]*record.Store{a, b}[i%2], fmt.Sprint(turn, "-", i), 1); {
				case err == nil:
					won.Add(1)
				case fleet.CodeOf(err) != fleet.CodeStale:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 {
			t.Errorf("turn %d: %d writers won", turn, won.Load())
		}
		auditIsClean(t, a)
		wipe()
	}
	if err := rename(a, "last", 0); err != nil {
		t.Error(err)
	}
	auditIsClean(t, a)
}

// Two processes may make one id, in the same millisecond, for two accounts or for one.
func TestAnIDIsOfTheRecordThatHadItFirst(t *testing.T) {
	db := schematest.Open(t)
	s := newStore(t, db, 1)
	devices := record.NewLog(s, record.Devices)
	id := s.NextID()
	by := record.Author{Actor: "key_1", Command: record.NewCommand()}
	if _, fresh, err := devices.Create(t.Context(), by, account, id, device("A")); err != nil || !fresh {
		t.Fatalf("first: %v, %v", fresh, err)
	}
	if again, fresh, err := devices.Create(t.Context(), by, account, id, device("A")); err != nil || fresh ||
		again.ID != id {
		t.Errorf("the same command again: %+v, %v, %v", again, fresh, err)
	}
	other := record.Author{Actor: "key_1", Command: record.NewCommand()}
	if _, _, err := devices.Create(t.Context(), other, account, id, device("B")); !errors.Is(err, record.ErrTaken) {
		t.Errorf("another one in the account: %v", err)
	}
	if _, _, err := devices.EnsureSeen(t.Context(), other, account, id, device("C")); err != nil {
		t.Errorf("another one in the account at the same time: %v", err)
	}
	if _, _, err := devices.Create(t.Context(), other, account+1, id,
		device("A")); fleet.CodeOf(err) != fleet.CodeConflict {
		t.Errorf("a unique id that the same id of another account has: %v", err)
	}
	// What the one who came second had claimed is free again at once.
	for at, name := range []string{"B", "C"} {
		if rec, fresh, err := devices.Create(t.Context(), other, account+fleet.AccountID(at), s.Another(other, id),
			device(name)); err != nil || !fresh || rec.Body.UniqueID != name {
			t.Errorf("%s under another id: %+v, %v", name, rec, err)
		}
	}
	if rec, fresh, err := devices.Create(t.Context(), other, account+1, id, device("D")); err != nil || !fresh ||
		rec.Body.UniqueID != "D" {
		t.Errorf("the id in another account: %+v, %v", rec, err)
	}
	auditIsClean(t, s)
}

func device(unique string) record.Device {
	return record.Device{DeviceFields: record.DeviceFields{UniqueID: unique}}
}
