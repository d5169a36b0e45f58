package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/registry"
	"github.com/motorpool/fleet/pipeline/sink"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

// begin is the time of the first fix. Dead letters and kept-apart reports expire, so it is not long ago.
var begin = fleet.MillisOf(time.Now().Add(-2 * time.Hour).Truncate(time.Hour))

// bench is a store and what chains share.
type bench struct {
	t    testing.TB
	db   driver.Conn
	cfg  Config
	deps Deps
	kept []Kept
	sent []codec.DeadLetter

	changes []fleet.Change
	refuse  error // of the next changes
}

func newBench(t testing.TB) *bench {
	db := schematest.Open(t)
	b := &bench{t: t, db: db, cfg: DefaultConfig()}
	b.deps = Deps{
		DB: db, Registry: registry.NewDevices(db), Letters: b, Apart: NewApart(&b.cfg),
		Metrics: NewMetrics(prometheus.NewRegistry()), Log: slog.New(slog.DiscardHandler), Changes: b,
	}
	return b
}

func (b *bench) PublishChanges(_ context.Context, changes []fleet.Change) error {
	if err := b.refuse; err != nil {
		b.refuse = nil
		return err
	}
	b.changes = append(b.changes, changes...)
	return nil
}

func (b *bench) PublishLetters(_ context.Context, letters []codec.DeadLetter) error {
	b.sent = append(b.sent, letters...)
	return nil
}

func (b *bench) PublishReleased(_ context.Context, reports []Kept) error {
	b.kept = append(b.kept, reports...)
	return nil
}

// register makes devices 1..n of account 7, each on the vehicle of its number since ever.
func (b *bench) register(n int) {
	b.t.Helper()
	batch, err := b.db.PrepareBatch(b.t.Context(),
		"INSERT INTO devices (account, id, revision, created_at, updated_at, unique_id, body)")
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 1; i <= n; i++ {
		body := fmt.Sprintf(`{"unique_id":"%s","assignments":[{"vehicle_id":"veh_%d","from":null,"until":null}]}`, unique(i),
			i)
		if err := batch.Append(uint64(7), uint64(1000+i), uint64(1), begin.Time(), time.Now(), unique(i), body); err != nil {
			b.t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		b.t.Fatal(err)
	}
	if err := b.deps.Registry.Refresh(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

func unique(i int) string { return fmt.Sprintf("device-%d", i) }

// chain returns a chain with nothing in memory, as the next owner of the partition has.
func (b *bench) chain() *Chain { return NewChain(&b.cfg, b.deps, "positions", 0) }

func (b *bench) handle(c *Chain, batch *consume.Batch) {
	b.t.Helper()
	if err := c.Handle(b.t.Context(), batch); err != nil {
		b.t.Fatal(err)
	}
}

// count returns one number of the store.
func (b *bench) count(query string) int {
	b.t.Helper()
	var n int64
	if err := b.db.QueryRow(b.t.Context(), "SELECT toInt64((SELECT "+query+"))").Scan(&n); err != nil {
		b.t.Fatalf("%s: %v", query, err)
	}
	return int(n)
}

// batch makes a batch of records from an offset on.
func batchOf(first int64, values ...string) *consume.Batch {
	b := &consume.Batch{Topic: "positions", First: first, Last: first + int64(len(values)) - 1}
	for i, v := range values {
		b.Records = append(b.Records, consume.Record{Offset: first + int64(i), Time: begin.Add(time.Hour), Value: []byte(v)})
	}
	return b
}

func fixAt(device int, second int) string {
	return fmt.Sprintf(`{"device":"%s","fix_at":%d,"lat":%.6f,"lng":11.5,"speed_mps":10,"odometer_m":%d,"ignition":true,"signals":{"soc_pct":%d}}`,
		unique(device), begin.Add(time.Duration(second)*time.Second), 48+float64(second)*1e-4, 1000+second*10, 90-second%50)
}

func TestBatchThatIsHandledAgainChangesNothing(t *testing.T) {
	b := newBench(t)
	b.register(3)
	var values []string
	for second := range 100 {
		values = append(values, fixAt(1+second%3, second))
	}
	batch := batchOf(10, values...)
	b.handle(b.chain(), batch)
	b.handle(b.chain(), batch)
	same := b.chain()
	b.handle(same, batch)
	b.handle(same, batch)
	b.expect(100, 100)
}

// The server noted the token of an insert and was killed before it had the rows: which looks as if somebody had
// taken them away.
func TestABatchWhoseTokensWereSpentWithoutItsRowsIsStoredAllTheSame(t *testing.T) {
	b := newBench(t)
	b.register(3)
	// What was stored before has a measurement that the batch has too.
	again := fmt.Sprintf(`{"device":"%s","fix_at":%d,"signals":{"soc_pct":55}}`, unique(3), begin.Add(2*time.Second))
	b.handle(b.chain(), batchOf(0, again))
	batch := batchOf(2, fixAt(1, 3), `garbage`, fixAt(9, 1), fixAt(2, 4), fixAt(3, 3), again, fixAt(3, 4))
	b.handle(b.chain(), batch)
	tables := []string{"positions", "telemetry", "dead_letters", "unregistered_reports", "ingest_outcomes",
		"vehicle_mileage", "vehicle_state", "positions_by_cell", "telemetry_1m", "telemetry_1h", "telemetry_1d",
		"telemetry_latest"}
	rows := func(table string) int { return b.count("count() FROM " + table + " FINAL") }
	want := map[string]int{}
	for _, table := range tables {
		if want[table] = rows(table); want[table] == 0 {
			t.Fatalf("nothing in %s", table)
		}
	}
	for _, table := range tables { // the server forgets the tokens of parts that it removes
		if err := b.db.Exec(t.Context(), "ALTER TABLE "+table+" MODIFY SETTING remove_empty_parts = 0"); err != nil {
			t.Fatal(err)
		}
	}
	stays := fmt.Sprintf("time = fromUnixTimestamp64Milli(%d)", begin.Add(2*time.Second))
	wipe := func(tables ...string) {
		for _, table := range tables {
			where := map[string]string{"telemetry": "NOT " + stays, "ingest_outcomes": "first_offset > 0"}[table]
			if err := b.db.Exec(t.Context(),
				"ALTER TABLE "+table+" DELETE WHERE "+cmp.Or(where, "true")+" SETTINGS mutations_sync = 1"); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Telemetry depends on where the vehicles stood, which is written last: it was lost before that was.
	states := []string{"vehicle_mileage", "vehicle_state"}
	for _, lost := range [][]string{append(states, "telemetry"), append(states, "telemetry"),
		append(states, "telemetry_1m", "telemetry_1d"), append(states, "telemetry_1h", "telemetry_latest"), states,
		{"positions"}, {"positions_by_cell"}, {"dead_letters"},
		// the last ones by two tokens
		{"unregistered_reports"}, {"ingest_outcomes"}, {"positions", "positions_by_cell", "dead_letters"}} {
		wipe(lost...)
		b.handle(b.chain(), batch)
		for _, table := range tables {
			if got := rows(table); got != want[table] {
				t.Errorf("without %v: %d rows in %s, want %d", lost, got, table, want[table])
			}
		}
	}
}

// An owner that was stalled hears only after the next one went on that its states have been written: they stay as the
// next one wrote them.
func TestStatesThatAreWrittenAgainDoNotReplaceLaterOnes(t *testing.T) {
	b := newBench(t)
	rows := func(offset int64, candidate int, newest int) *sink.Batch {
		at := begin.Add(time.Duration(newest) * time.Second)
		r := sink.NewBatch(b.db, "positions", 0)
		r.State(&sink.State{Last: fleet.Position{Account: 7, Vehicle: 1, FixTime: begin}, Newest: at,
			CandidateTime: begin + fleet.Millis(candidate)}, offset)
		r.Mileage(sink.Mileage{Account: 7, Vehicle: 1, Time: at, Raw: uint32(candidate)})
		return r
	}
	write := func(token string, r *sink.Batch) {
		if err := r.FlushStates(t.Context(), token); err != nil {
			t.Fatal(err)
		}
	}
	write("a", rows(10, 1, 5))
	write("b", rows(11, 2, 5)) // of the same version
	write("a", rows(10, 1, 5))
	stands := "toUnixTimestamp64Milli(assumeNotNull(candidate_time)) FROM vehicle_state FINAL"
	if got := b.count(stands); got != int(begin)+2 {
		t.Errorf("the vehicle stands as %d", got-int(begin))
	}
	if n := b.count("countIf(candidate_time = fromUnixTimestamp64Milli(" + fmt.Sprint(int64(begin)+1) +
		")) FROM vehicle_state"); n > 1 {
		t.Errorf("the old state was written %d times", n)
	}
	if got := b.count("raw_m FROM vehicle_mileage FINAL"); got != 2 {
		t.Errorf("the mileage is the one of %d", got)
	}
	// Of a batch whose rows are lost, another vehicle's or an older one of the same vehicle hides nothing.
	for _, table := range []string{"vehicle_state", "vehicle_mileage"} {
		for _, sql := range []string{" MODIFY SETTING remove_empty_parts = 0",
			" DELETE WHERE true SETTINGS mutations_sync = 1"} {
			if err := b.db.Exec(t.Context(), "ALTER TABLE "+table+sql); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("c", rows(9, 3, 4))
	write("b", rows(11, 2, 5))
	if got := b.count(stands); got != int(begin)+2 {
		t.Errorf("the vehicle stands as %d after its rows were lost", got-int(begin))
	}
	if got := b.count("raw_m FROM vehicle_mileage FINAL"); got != 2 {
		t.Errorf("the mileage is the one of %d after its rows were lost", got)
	}
}

// What is stored is told, also if the first telling failed and the batch's own fixes are there already when it
// is formed again.
func TestWhatIsNewIsToldAfterItIsStored(t *testing.T) {
	b := newBench(t)
	b.register(2)
	batch := batchOf(10, fixAt(1, 5), fixAt(2, 6), fixAt(1, 3), fixAt(1, 9), `{"device":"`+unique(2)+`","fix_at":`+
		fmt.Sprint(int64(begin.Add(20*time.Second)))+`,"signals":{"soc_pct":50}}`)
	b.refuse = errors.New("the broker is away")
	if err := b.chain().Handle(t.Context(), batch); err == nil {
		t.Fatal("the batch is done though nobody was told")
	}
	b.handle(b.chain(), batch)
	if len(b.changes) != 2 {
		t.Fatalf("%d changes of two vehicles", len(b.changes))
	}
	at := func(second int) fleet.Millis { return begin.Add(time.Duration(second) * time.Second) }
	for i, want := range []fleet.Change{{Vehicle: 1, From: at(3), To: at(9)}, {Vehicle: 2, From: at(6), To: at(20)}} {
		got := b.changes[i]
		if got.Account != 7 || got.Vehicle != want.Vehicle || got.From != want.From || got.To != want.To || got.Live == nil {
			t.Errorf("%+v instead of %+v", got, want)
		}
	}
	if live := b.changes[0].Live; live.FixTime != at(9) || live.Speed == nil || *live.Speed != 10 {
		t.Errorf("vehicle 1 is at %+v", live)
	}
}

// expect holds the store against a number of fixes, and their outcomes against a number of reads.
func (b *bench) expect(fixes, read int) {
	b.t.Helper()
	for query, want := range map[string]int{
		"count() FROM positions":                                       fixes,
		"uniqExact(vehicle, fix_time) FROM positions":                  fixes,
		"count() FROM telemetry FINAL WHERE signal = 'soc_pct'":        fixes,
		"sum(read) FROM ingest_outcomes FINAL":                         read,
		"sum(stored) FROM ingest_outcomes FINAL":                       fixes,
		"sum(arraySum(mapValues(refused))) FROM ingest_outcomes FINAL": read - fixes,
		"countIf(cell = 0 OR flags != 0) FROM positions":               0,
		"count() FROM (SELECT vehicle, max(fix_time) AS t FROM positions GROUP BY vehicle) AS p FULL OUTER JOIN (SELECT vehicle, fix_time AS t FROM vehicle_state FINAL) AS s USING (vehicle) WHERE p.t != s.t":           0,
		"count() FROM (SELECT max(odometer_m) AS o, vehicle FROM positions GROUP BY vehicle) AS p FULL OUTER JOIN (SELECT vehicle, base_m + raw_m AS o FROM vehicle_mileage FINAL) AS m USING (vehicle) WHERE p.o != m.o": 0,
	} {
		if got := b.count(query); got != want {
			b.t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}

// failing lets the n-th insert and all after it fail, as if the process had been killed there, and all into one table.
type failing struct {
	driver.Conn
	left  atomic.Int64
	table string // "" for none
}

func failingAfter(db driver.Conn, inserts int) *failing {
	f := &failing{Conn: db}
	f.left.Store(int64(inserts))
	return f
}

var errKilled = errors.New("killed")

func (f *failing) PrepareBatch(ctx context.Context, query string,
	opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	if f.left.Add(-1) < 0 || f.table != "" && strings.HasPrefix(query, "INSERT INTO "+f.table+" ") {
		return nil, errKilled
	}
	return f.Conn.PrepareBatch(ctx, query, opts...)
}

func TestKilledBetweenAnyTwoInsertsNothingIsLostOrDoubled(t *testing.T) {
	type kill struct {
		inserts int
		table   string
	}
	kills := []kill{{99, "positions"}, {99, "telemetry"}} // which are inserted at once: one stands without the other
	for inserts := range 8 {
		kills = append(kills, kill{inserts, ""})
	}
	for _, kill := range kills {
		t.Run(fmt.Sprint(kill.inserts, kill.table), func(t *testing.T) {
			b := newBench(t)
			b.register(3)
			b.handle(b.chain(), batchOf(0, fixAt(1, 1), fixAt(2, 2)))
			// Device 3 has nothing before. Of every kind one: a letter, an unknown device, a duplicate, good ones.
			batch := batchOf(2, fixAt(1, 3), `garbage`, fixAt(9, 1), fixAt(1, 1), fixAt(2, 4), fixAt(3, 3), fixAt(3, 4))
			killed := b.chain()
			db := failingAfter(b.db, kill.inserts)
			db.table = kill.table
			killed.deps.DB = db
			killed.rows = NewChain(&b.cfg, killed.deps, "positions", 0).rows
			err := killed.Handle(t.Context(), batch)
			if (kill.inserts < 7 || kill.table != "") && !errors.Is(err, errKilled) {
				t.Fatalf("%v", err)
			}
			next := b.chain()
			b.handle(next, batch)
			b.handle(next, batchOf(9, fixAt(1, 5), fixAt(2, 6)))
			for query, want := range map[string]int{
				"count() FROM positions":                                    8,
				"uniqExact(vehicle, fix_time) FROM positions":               8,
				"count() FROM dead_letters":                                 1,
				"count() FROM unregistered_reports":                         1,
				"sum(read) FROM ingest_outcomes FINAL":                      11,
				"sum(stored) FROM ingest_outcomes FINAL":                    8,
				"sum(refused['duplicate']) FROM ingest_outcomes FINAL":      1,
				"sum(refused['undecodable']) FROM ingest_outcomes FINAL":    1,
				"sum(refused['unknown_device']) FROM ingest_outcomes FINAL": 1,
				"countIf(flags != 0) FROM positions":                        0,
				"count() FROM telemetry FINAL":                              14,
				"uniqExact(vehicle) FROM telemetry":                         3,
			} {
				if got := b.count(query); got != want {
					t.Errorf("%s: %d, want %d", query, got, want)
				}
			}
		})
	}
}

func TestGarbageIsClassifiedAndStopsNothing(t *testing.T) {
	b := newBench(t)
	b.register(1)
	at := func(member string) string {
		return fmt.Sprintf(`{"device":"device-1","fix_at":%d,%s}`, begin+1, member)
	}
	garbage := map[string]fleet.Refusal{
		"":                          fleet.RefusedUndecodable,
		"{":                         fleet.RefusedUndecodable,
		"\xff\xfe{\x00}\x00":        fleet.RefusedUndecodable,
		"[]":                        fleet.RefusedEmpty,
		"{}":                        fleet.RefusedNoDevice,
		`{"device":"device-1"}`:     fleet.RefusedMissingTime,
		at(`"lat":91,"lng":1`):      fleet.RefusedBadCoordinates,
		at(`"lat":1,"lng":181`):     fleet.RefusedBadCoordinates,
		at(`"lat":NaN,"lng":1`):     fleet.RefusedUndecodable,
		at(`"lat":1e999,"lng":1`):   fleet.RefusedMissingCoordinates,
		at(`"lat":null,"lng":1`):    fleet.RefusedMissingCoordinates,
		at(`"lat":"x","lng":1`):     fleet.RefusedMissingCoordinates,
		at(`"lat":0,"lng":0`):       fleet.RefusedZeroCoordinates,
		at(`"signals":{"nope":1}`):  fleet.RefusedEmpty,
		strings.Repeat("[", 10<<20): fleet.RefusedTooLarge,
		`{"device":"device-1","fix_at":"1970-01-01T00:00:05Z","lat":1,"lng":1}`: fleet.RefusedImplausibleTime,
		`{"device":"device-1","fix_at":"2000-01-01T00:00:05Z","lat":1,"lng":1}`: fleet.RefusedImplausibleTime,
	}
	var values []string
	want := map[fleet.Refusal]int{}
	second := 10
	for value, reason := range garbage {
		want[reason]++
		second++
		values = append(values, value, fixAt(1, second))
	}
	values = append(values, `{"device":"device-1","fix_at":"2099-01-01T00:00:00Z","lat":48.1,"lng":11.5}`)
	b.handle(b.chain(), batchOf(0, values...))
	if got := b.count("count() FROM positions"); got != len(garbage)+1 {
		t.Errorf("%d positions, want %d", got, len(garbage)+1)
	}
	if got := b.count("countIf(bitTest(flags, 2) AND fix_time <= received_at + 1 AND toYear(device_time) = 2099) FROM positions"); got != 1 {
		t.Errorf("%d positions of a clock that is ahead", got)
	}
	for reason, n := range want {
		if got := b.count(fmt.Sprintf("sum(refused['%s']) FROM ingest_outcomes FINAL", reason)); got != n {
			t.Errorf("%s: %d, want %d", reason, got, n)
		}
		if got := b.count(fmt.Sprintf("count() FROM dead_letters WHERE reason = '%s'", reason)); got != n {
			t.Errorf("dead letters of %s: %d, want %d", reason, got, n)
		}
	}
	for _, part := range []string{"latitude 91 and longitude 1", "names no device", "lacks a latitude",
		"1970-01-01T00:00:05Z"} {
		if got := b.count(fmt.Sprintf("count() FROM dead_letters WHERE detail LIKE '%%%s%%'", part)); got == 0 {
			t.Errorf("no dead letter says %q", part)
		}
	}
	if got := b.count("countIf(detail = '') FROM dead_letters"); got != 0 {
		t.Errorf("%d dead letters say nothing", got)
	}
	if len(b.sent) != len(garbage) {
		t.Errorf("%d dead letters on their topic, want %d", len(b.sent), len(garbage))
	}
}

// poisoned is a batch of two record batches that cannot be read, as consume gives it.
func poisoned(topic string) *consume.Batch {
	return &consume.Batch{Topic: topic, First: 5, Last: 24, Records: []consume.Record{
		{Offset: 5, Time: begin,
			Poison: &consume.Poison{Last: 14, Reason: consume.PoisonTooLarge, Detail: "why", Head: []byte("head"), Bytes: 1000}},
		// without a time
		{Offset: 15,
			Poison: &consume.Poison{Last: 24, Reason: consume.PoisonChecksum, Detail: "why", Head: []byte("head"), Bytes: 1000}},
	}}
}

func TestABatchThatCannotBeReadBecomesADeadLetterOnceAndCountsAsOne(t *testing.T) {
	t.Run("also where nothing of it has a time", func(t *testing.T) {
		b := newBench(t)
		timeless := poisoned("positions")
		timeless.Records[0].Time = 0
		for range 4 {
			b.handle(b.chain(), timeless)
		}
		if n := b.count("count() FROM dead_letters"); n != 2 {
			t.Errorf("%d dead letters of two batches", n)
		}
	})
	for inserts := range 2 { // the letters, and then the outcomes
		b := newBench(t)
		b.register(1)
		b.killed(poisoned("positions"), inserts)
		next := b.chain()
		b.handle(next, poisoned("positions"))
		b.handle(next, batchOf(25, fixAt(1, 1)))
		b.expect(1, 3)
		for query, want := range map[string]int{
			"count() FROM dead_letters WHERE reason = 'unreadable_batch' AND payload = 'head' AND payload_bytes = 1000 AND toYear(at) > 2020": 2,
			"count() FROM dead_letters WHERE detail = 'record batch at offsets 5 to 14: too_large: why'":                                      1,
			"sum(refused['unreadable_batch']) FROM ingest_outcomes FINAL":                                                                     2,
			"count() FROM ingest_outcomes FINAL WHERE toYear(at) > 2020":                                                                      2,
		} {
			if got := b.count(query); got != want {
				t.Errorf("killed after %d inserts: %s: %d, want %d", inserts, query, got, want)
			}
		}
	}
}

// forgetful is the handler of a topic for which nobody counts.
type forgetful struct{ handled, closed int }

func (f *forgetful) Handle(context.Context, *consume.Batch) error { f.handled++; return nil }
func (f *forgetful) Close() error                                 { f.closed++; return nil }

func TestPoisonOfOtherTopicsBecomesADeadLetterToo(t *testing.T) {
	b, f := newBench(t), &forgetful{}
	for range 2 {
		h := Bury(f, b.db, b, "changes", 3)
		if err := h.Handle(t.Context(), poisoned("changes")); err != nil {
			t.Fatal(err)
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := b.count("count() FROM dead_letters WHERE source_topic = 'changes' AND source_partition = 3"); n != 2 ||
		len(b.sent) != 4 || f.handled != 2 || f.closed != 2 {
		t.Errorf("%d dead letters, %d sent, %d batches handled, %d closed", n, len(b.sent), f.handled, f.closed)
	}
}

func TestReportsOfAnUnknownDeviceAppearOnceItIsRegistered(t *testing.T) {
	b := newBench(t)
	b.cfg.ApartPerDevice, b.cfg.ApartTotal = 3, 5
	b.deps.Apart = NewApart(&b.cfg)
	b.handle(b.chain(),
		batchOf(0, fixAt(1, 1), fixAt(1, 2), fixAt(1, 3), fixAt(1, 4), fixAt(2, 1), fixAt(3, 1), fixAt(4, 1)))
	if kept, over := b.count("sum(refused['unknown_device']) FROM ingest_outcomes FINAL"),
		b.count("sum(refused['unknown_device_over_limit']) FROM ingest_outcomes FINAL"); kept != 5 || over != 2 {
		t.Fatalf("%d kept and %d over the limit", kept, over)
	}
	releaser := NewReleaser(b.deps, b)
	b.register(1)
	if err := releaser.Release(t.Context()); err != nil || len(b.kept) != 0 {
		t.Fatalf("released %d while another process is in charge, %v", len(b.kept), err)
	}
	defer releaser.InCharge()()
	if err := releaser.Release(t.Context()); err != nil || len(b.kept) != 3 {
		t.Fatalf("released %d, %v", len(b.kept), err)
	}
	var values []string
	for _, k := range b.kept {
		values = append(values, string(k.Report))
	}
	back := batchOf(7, values...)
	for i := range back.Records {
		back.Records[i].Released = true
	}
	b.handle(b.chain(), back)
	for query, want := range map[string]int{
		"count() FROM positions FINAL":                              3,
		"count() FROM unregistered_reports":                         2,
		"sum(read) FROM ingest_outcomes FINAL":                      7,
		"sum(read) FROM ingest_outcomes FINAL WHERE account = 7":    3,
		"sum(stored) FROM ingest_outcomes FINAL":                    3,
		"sum(refused['unknown_device']) FROM ingest_outcomes FINAL": 2,
	} {
		if got := b.count(query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	if err := releaser.Release(t.Context()); err != nil || len(b.kept) != 3 {
		t.Fatalf("released again: %d, %v", len(b.kept), err)
	}
}

// meanwhile has something happen while reports are published.
type meanwhile struct {
	*bench
	then func()
}

func (m meanwhile) PublishReleased(ctx context.Context, reports []Kept) error {
	m.then()
	return m.bench.PublishReleased(ctx, reports)
}

// Another partition, or another process that does not know the device yet, may keep a report apart that was received no
// later than those that are being released: what was not read is not forgotten.
func TestAReportThatIsKeptApartDuringAReleaseIsNotForgotten(t *testing.T) {
	b := newBench(t)
	b.handle(b.chain(), batchOf(0, fixAt(1, 1), fixAt(1, 2)))
	late := "INSERT INTO unregistered_reports SELECT unique_id, at, 'telemetry', 3, source_offset, source_index, run, report " +
		"FROM unregistered_reports WHERE source_topic != 'telemetry' AND source_offset = 0"
	releaser := NewReleaser(b.deps, meanwhile{b, func() {
		if err := b.db.Exec(t.Context(), late); err != nil {
			t.Error(err)
		}
		late = "SELECT 1"
	}})
	defer releaser.InCharge()()
	b.register(1)
	for _, want := range []int{2, 3, 3} {
		if err := releaser.Release(t.Context()); err != nil || len(b.kept) != want {
			t.Fatalf("released %d, want %d: %v", len(b.kept), want, err)
		}
	}
}

// choosy takes the reports of all devices but one.
type choosy struct {
	*bench
	but string
}

func (c choosy) PublishReleased(ctx context.Context, reports []Kept) error {
	if reports[0].UniqueID == c.but {
		return errors.New("not this one")
	}
	return c.bench.PublishReleased(ctx, reports)
}

func TestDeviceThatCannotBeReleasedKeepsNoOtherWaiting(t *testing.T) {
	b := newBench(t)
	var values []string
	for device := range 20 {
		values = append(values, fixAt(1+device, 1))
	}
	b.handle(b.chain(), batchOf(0, values...))
	b.register(20)
	releaser := NewReleaser(b.deps, choosy{b, unique(1)})
	defer releaser.InCharge()()
	if err := releaser.Release(t.Context()); err == nil || len(b.kept) != 19 {
		t.Errorf("released %d of 19, %v", len(b.kept), err)
	}
	if got := b.count("count() FROM unregistered_reports"); got != 1 {
		t.Errorf("%d are still kept apart, want 1", got)
	}
}

// killed handles a batch with a chain that is killed before its n-th insert.
func (b *bench) killed(batch *consume.Batch, inserts int) {
	b.t.Helper()
	c := b.chain()
	c.deps.DB = failingAfter(b.db, inserts)
	c.rows = NewChain(&b.cfg, c.deps, "positions", 0).rows
	if err := c.Handle(b.t.Context(), batch); !errors.Is(err, errKilled) {
		b.t.Fatalf("killed before insert %d: %v", inserts, err)
	}
}

func TestDeviceRegisteredBetweenACrashAndTheNextTryLosesNothing(t *testing.T) {
	for inserts := range 6 {
		t.Run(fmt.Sprint(inserts), func(t *testing.T) {
			b := newBench(t)
			b.register(1)
			batch := batchOf(0, fixAt(1, 1), fixAt(2, 1), fixAt(2, 2))
			b.killed(batch, inserts)
			b.register(2)
			chain := b.chain()
			b.handle(chain, batch)
			releaser := NewReleaser(b.deps, b)
			defer releaser.InCharge()()
			if err := releaser.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(b.kept) > 0 {
				b.handle(chain, batchOf(3, string(b.kept[0].Report), string(b.kept[1].Report)))
			}
			if got := b.count("uniqExact(vehicle, fix_time) FROM positions"); got != 3 {
				t.Errorf("%d positions, want 3", got)
			}
		})
	}
}

func TestDeviceTakenAwayBetweenACrashAndTheNextTryIsKeptApart(t *testing.T) {
	b := newBench(t)
	b.register(1)
	batch := batchOf(0, fixAt(1, 1), fixAt(2, 1))
	b.killed(batch, 1)
	b.deps.Registry = registry.NewDevices(b.db)
	if err := b.db.Exec(t.Context(), "INSERT INTO devices (account, id, revision, created_at, updated_at, archived_at, unique_id, body) SELECT account, id, 2, created_at, now64(3), now64(3), unique_id, body FROM devices"); err != nil {
		t.Fatal(err)
	}
	b.handle(b.chain(), batch)
	if got := b.count("count() FROM unregistered_reports FINAL"); got != 2 {
		t.Errorf("%d reports are kept apart, want 2", got)
	}
}

func TestTopicMadeAgainUnderItsNameLosesNothing(t *testing.T) {
	b := newBench(t)
	b.register(1)
	b.handle(b.chain(), batchOf(0, fixAt(1, 1)))
	again := batchOf(0, fixAt(1, 2))
	again.Records[0].Time++
	b.handle(b.chain(), again)
	if got := b.count("count() FROM positions"); got != 2 {
		t.Errorf("%d positions, want 2", got)
	}
}

func TestReleasedReportOfADeviceThatIsUnknownAgainCountsOnce(t *testing.T) {
	b := newBench(t)
	b.handle(b.chain(), batchOf(0, fixAt(1, 1)))
	back := batchOf(1, fixAt(1, 1))
	back.Records[0].Released = true
	b.handle(b.chain(), back)
	if read, unknown := b.count("sum(read) FROM ingest_outcomes FINAL"),
		b.count("sum(refused['unknown_device']) FROM ingest_outcomes FINAL"); read != 1 || unknown != 1 {
		t.Errorf("%d read and %d unknown, want 1 of each", read, unknown)
	}
}

// TestRecordsOfManyReportsTakeBoundedMemory sends reports that are small on the wire and large in memory.
func TestRecordsOfManyReportsTakeBoundedMemory(t *testing.T) {
	b := newBench(t)
	b.register(1)
	var values []string
	for i := range 7 {
		values = append(values, "["+fixAt(1, i)+strings.Repeat(","+fixAt(1, i), 30_000)+"]")
	}
	batch := batchOf(10, values...)
	chain := b.chain()
	b.killed(batch, 5) // in the second part
	b.handle(chain, batch)
	b.handle(b.chain(), batch)
	b.handle(chain, batchOf(17, fixAt(1, 3), fixAt(1, 9)))
	if most := partReports + codec.MaxReports; cap(chain.works) > most {
		t.Errorf("room for %d reports at once, want at most %d", cap(chain.works), most)
	}
	for query, want := range map[string]int{
		"count() FROM positions":                               8,
		"sum(stored) FROM ingest_outcomes FINAL":               8,
		"sum(read) FROM ingest_outcomes FINAL":                 7*30_001 + 2,
		"countIf(flags != 0) FROM positions":                   0,
		"uniqExact(first_offset) FROM ingest_outcomes":         4,
		"max(last_offset - first_offset) FROM ingest_outcomes": 2,
	} {
		if got := b.count(query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}

func TestVehicleHoldsNothingOfABatchThatIsThrough(t *testing.T) {
	b := newBench(t)
	b.register(1)
	var values []string
	for second := range 1000 {
		values = append(values, fixAt(1, second))
	}
	chain := b.chain()
	b.handle(chain, batchOf(0, append(values, values[0])...))
	for _, v := range chain.vehicles {
		if cap(v.times) > keptTimes || v.timeSet != nil {
			t.Errorf("the vehicle holds on to %d times and %d more", cap(v.times), len(v.timeSet))
		}
	}
}

// TestAnyBatchingAndAnyCrashStoreEachFixOnce sends fixes shuffled and doubled, in batches of any size, with owners that
// forget everything now and then.
func TestAnyBatchingAndAnyCrashStoreEachFixOnce(t *testing.T) {
	b := newBench(t)
	b.register(5)
	rng := rand.New(rand.NewPCG(1, 2))
	var values []string
	for second := range 400 {
		values = append(values, fixAt(1+second%5, second))
	}
	values = append(values, values[:100]...)
	rng.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
	chain := b.chain()
	var first int64
	for rest := values; len(rest) > 0; {
		n := min(len(rest), 1+rng.IntN(60))
		batch := batchOf(first, rest[:n]...)
		first += int64(n)
		if rng.IntN(3) == 0 {
			broken := b.chain()
			broken.deps.DB = failingAfter(b.db, rng.IntN(6))
			broken.rows = NewChain(&b.cfg, broken.deps, "positions", 0).rows
			_ = broken.Handle(t.Context(), batch) // killed somewhere, or not
			chain = b.chain()
		}
		b.handle(chain, batch)
		rest = rest[n:]
	}
	for query, want := range map[string]int{
		"count() FROM positions":                               400,
		"uniqExact(vehicle, fix_time) FROM positions":          400,
		"sum(stored) FROM ingest_outcomes FINAL":               400,
		"sum(refused['duplicate']) FROM ingest_outcomes FINAL": 100,
	} {
		if got := b.count(query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	var newest []time.Time
	if err := b.db.QueryRow(t.Context(),
		"SELECT groupArray(fix_time) FROM (SELECT fix_time FROM vehicle_state FINAL ORDER BY vehicle)").
		Scan(&newest); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(newest, func(a, b time.Time) int { return a.Compare(b) }) || len(newest) != 5 ||
		fleet.MillisOf(newest[4]) != begin.Add(399*time.Second) {
		t.Errorf("the vehicles stand at %v", newest)
	}
}

// TestEachTopicAndContentTypeIsTaken sends what gateways, Traccar and Arrow producers send, as the topics'
// documents say.
func TestEachTopicAndContentTypeIsTaken(t *testing.T) {
	b := newBench(t)
	b.register(4)
	b.cfg.Formats = map[string]codec.Format{"traccar.positions": codec.Traccar}
	var next int64
	one := func(topic, contentType, value string) {
		t.Helper()
		batch := batchOf(next, value)
		next++
		batch.Topic, batch.Records[0].ContentType = topic, contentType
		b.handle(NewChain(&b.cfg, b.deps, topic, 0), batch)
	}
	at := begin.Time().Format("2006-01-02T15:04:05.000+00:00")
	one("traccar.positions", "", `{"position":{"id":0,"deviceId":7,"protocol":"osmand","serverTime":"`+at+
		`","deviceTime":"`+at+`","fixTime":"`+at+
		`","valid":true,"latitude":48.1,"longitude":11.5,"altitude":510,"speed":10,"course":90,"accuracy":0,"address":null,"network":null,`+
		`"geofenceIds":null,"attributes":{"batteryLevel":80,"ignition":true}},"device":{"id":7,"uniqueId":"device-1","name":"Bus","status":"online"}}`)
	one("telemetry", "application/json", `{"device":"device-2","at":"`+at+`","signals":{"soc_pct":55.5,"engine_rpm":900}}`)
	report := fleet.NewReport()
	report.UniqueID, report.Positioned, report.FixTime, report.Lat, report.Lng = "device-3", true, begin, 48.2, 11.6
	arrow, err := codec.EncodeArrow([]fleet.Report{report})
	if err != nil {
		t.Fatal(err)
	}
	one("positions", codec.ContentTypeArrow, string(arrow))
	one("positions", codec.ContentTypeArrow, string(arrow[:len(arrow)/2])+"\x00") // cut off
	one("positions", "text/plain", "hello")
	for query, want := range map[string]int{
		"count() FROM positions WHERE vehicle = 1 AND speed_cms = 514 AND accuracy_dm IS NULL":      1, // 10 knots
		"count() FROM telemetry WHERE vehicle = 1 AND signal = 'device_battery_pct' AND value = 80": 1,
		"count() FROM positions WHERE vehicle = 2":                                                  0,
		"count() FROM telemetry WHERE vehicle = 2":                                                  2,
		"count() FROM positions WHERE vehicle = 3":                                                  1,
		"sum(stored) FROM ingest_outcomes FINAL":                                                    3,
		"count() FROM dead_letters WHERE reason = 'undecodable' AND account = 0":                    2,
	} {
		if got := b.count(query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}

func TestADeviceOnNoVehicleYetIsTreatedAsUnknown(t *testing.T) {
	b := newBench(t)
	write := func(revision int, assignments string) {
		t.Helper()
		if err := b.db.Exec(t.Context(), "INSERT INTO devices (account, id, revision, created_at, updated_at, unique_id, body) VALUES (7, 1001, $1, $2, now(), $3, $4)",
			revision, begin.Time(), unique(1), `{"unique_id":"`+unique(1)+`","assignments":[`+assignments+`]}`); err != nil {
			t.Fatal(err)
		}
		if err := b.deps.Registry.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	releaser := NewReleaser(b.deps, b)
	defer releaser.InCharge()()
	write(1, "")
	b.handle(b.chain(), batchOf(0, fixAt(1, 1)))
	if err := releaser.Release(t.Context()); err != nil || len(b.kept) != 0 {
		t.Fatalf("released %d before it is on a vehicle, %v", len(b.kept), err)
	}
	if n := b.count("count() FROM unregistered_reports"); n != 1 {
		t.Fatalf("%d reports are kept apart", n)
	}
	write(2, `{"vehicle_id":"veh_1","from":null,"until":null}`)
	if err := releaser.Release(t.Context()); err != nil || len(b.kept) != 1 {
		t.Fatalf("released %d once it is on a vehicle, %v", len(b.kept), err)
	}
}

// A device without a view of the sky tells of what happens with the last fix that it had. The alarm counts, at the
// device's own time, and as often as it was raised: not as often as it was sent.
func TestAnAlarmWithAFixThatIsStoredAlreadyIsKept(t *testing.T) {
	told := func(fix, device int, alarm string) string {
		return fmt.Sprintf(`{"device":"%s","fix_at":%d,"device_at":%d,"lat":48,"lng":11.5,"speed_mps":10%s}`,
			unique(1), begin.Add(time.Duration(fix)*time.Second), begin.Add(time.Duration(device)*time.Second), alarm)
	}
	const crash, braking, sos = `,"alarm":"accident"`, `,"alarm":"hardBraking"`, `,"alarm":"sos"`
	values := []string{
		told(10, 10, ""), told(10, 15, crash), told(10, 15, crash), told(10, 17, ""), // the last has nothing to say
		told(20, 22, braking), told(20, 22, braking), told(10, 15, crash),
		told(15, 15, ""), told(15, 15, ""), // a true fix of that second
		told(25, 40, sos), told(25, 30, crash), told(25, 40, sos), told(25, 30, crash), // the newer comes first
		told(50, 50, ""), told(50, 50, sos), told(50, 50, sos), // of one second
		`{"device":"` + unique(1) + `","fix_at":` + fmt.Sprint(int64(begin.Add(time.Minute))) + `,"lat":48,"lng":11.5}`,
		`{"device":"` + unique(1) + `","fix_at":` + fmt.Sprint(int64(begin.Add(time.Minute))) +
			`,"lat":48,"lng":11.5` + braking + `}`,
		told(70, 3600, ""), told(70, 3800, crash), // a clock that is a little ahead
		told(30, 4000, ""), told(30, 4100, crash), // from the future
	}
	at := func(second, ms int) string {
		return fmt.Sprintf("fix_time = fromUnixTimestamp64Milli(%d)", int64(begin)+int64(second)*1000+int64(ms))
	}
	invalid := fmt.Sprint(uint32(fleet.FlagInvalid))
	for _, size := range []int{1, 2, 5, len(values)} {
		b := newBench(t)
		b.register(1)
		c := b.chain()
		for i := 0; i < len(values); i += size {
			b.handle(c, batchOf(int64(i), values[i:min(i+size, len(values))]...))
		}
		for query, want := range map[string]int{
			"count() FROM positions": 13,
			"count() FROM positions WHERE " + at(10, 0) +
				" AND alarm = '' AND flags = 0": 1,
			"count() FROM positions WHERE " + at(15, -1) +
				" AND alarm = 'accident' AND speed_cms IS NULL AND flags = " + invalid: 1,
			"count() FROM positions WHERE " + at(15, 0) + " AND alarm = '' AND bitAnd(flags, " + invalid +
				") = 0": 1,
			"count() FROM positions WHERE " + at(25, 0) +
				" AND alarm = 'sos'": 1,
			"count() FROM positions WHERE " + at(30, -1) + " AND alarm = 'accident' AND bitAnd(flags, " + invalid +
				") != 0": 1,
			"count() FROM positions WHERE alarm = 'hardBraking' AND flags = 0": 1,
			"count() FROM positions WHERE " + at(50, 1) + " AND alarm = 'sos' AND flags = " +
				invalid: 1,
			"count() FROM positions WHERE " + at(60, 1) + " AND alarm = 'hardBraking' AND flags = " +
				invalid: 1,
		} {
			if got := b.count(query); got != want {
				t.Errorf("batches of %d: %s: %d, want %d", size, query, got, want)
			}
		}
	}
}

// A tracker renews its place each 15 s, at 30 m/s. Whoever owns the partition next knows what the wheels did since, and
// calls no more of it a jump than the one before would have.
func TestTheNextOwnerKnowsHowFarAVehicleIsFromAPlaceThatStandsStill(t *testing.T) {
	b := newBench(t)
	b.register(1)
	frozen := func(second int) string {
		return fmt.Sprintf(`{"device":"%s","fix_at":%d,"lat":%.6f,"lng":11.5,"speed_mps":30}`,
			unique(1), begin.Add(time.Duration(second)*time.Second), 48+float64(second/15*15)*30/111_195)
	}
	for second := range 50 {
		b.handle(b.chain(), batchOf(int64(second), frozen(second)))
	}
	if got := b.count("count() FROM positions WHERE flags != 0"); got != 0 {
		t.Errorf("%d fixes are doubtful", got)
	}
	if got := b.count("count() FROM positions"); got != 50 {
		t.Errorf("%d fixes", got)
	}
}

// A clock that is ahead makes a series of the odometer no denser.
func TestAnOdometerIsMeasuredOnceAMinuteWhateverTheClock(t *testing.T) {
	for _, ahead := range []fleet.Millis{-240_000, 0, 240_000} {
		b := newBench(t)
		b.register(1)
		var values []string
		for i := range 120 {
			values = append(values, fixAt(1, i))
		}
		batch := batchOf(0, values...)
		for i := range batch.Records {
			batch.Records[i].Time = begin + fleet.Millis(i)*1000 - ahead
			batch.Records[i].Account = 7 // let in, if before the device was made
		}
		b.handle(b.chain(), batch)
		if n := b.count(fmt.Sprintf("count() FROM telemetry FINAL WHERE signal = '%s'", odometerSignal)); n != 2 {
			t.Errorf("a clock %d s ahead: %d readings in two minutes", ahead/1000, n)
		}
	}
}
