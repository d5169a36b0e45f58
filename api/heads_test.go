package api

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/roster"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// calendarReads counts how often the newest revision of one vehicle's calendar is read.
type calendarReads struct {
	driver.Conn
	id, n atomic.Uint64
}

func (c *calendarReads) Query(ctx context.Context, text string, args ...any) (driver.Rows, error) {
	named := func(name string, value any) bool { return slices.Contains(args, any(clickhouse.Named(name, value))) }
	alone := text == schemas.Query("record_newest") && named("kind", calendar.Kind.Name) && named("id", c.id.Load())
	if alone || text == schemas.Query("records_newest") && slices.ContainsFunc(args, func(arg any) bool {
		ids, _ := arg.(driver.NamedValue).Value.([]uint64)
		return len(ids) < 10 && slices.Contains(ids, c.id.Load()) // those who warm up read many
	}) {
		c.n.Add(1)
	}
	return c.Conn.Query(ctx, text, args...)
}

// A booking of a vehicle whose calendar is known reads nothing of it, however long ago it was written. A revision of
// the calendar that a process wrote that died before any table had it, and of which the server has forgotten the token,
// is not written a second time, whether looks tell of it or fail: what it holds is in the way of the next booking, and
// the one after stands upon it.
func TestACalendarThatIsKnownIsNotReadAndNoRevisionOfItIsWrittenTwice(t *testing.T) {
	t.Run("looks tell", func(t *testing.T) { writeUponWhatIsKnown(t, false) })
	t.Run("looks fail", func(t *testing.T) { writeUponWhatIsKnown(t, true) })
}

func writeUponWhatIsKnown(t *testing.T, fail bool) {
	const deadline = 3 * time.Second
	db := schematest.Open(t)
	counted, line := &calendarReads{Conn: db}, &lineConn{Conn: db}
	kept, err := roster.New(roster.DefaultConfig(), line, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(cfg *rest.Config, deps *Deps) {
		cfg.Record = record.Config{Deadline: deadline, Abandoned: 100 * time.Second}
		deps.DB, deps.Roster = counted, kept
	})
	look(t, kept)

	vans := make([]string, 2)
	for i := range vans {
		vans[i] = w.vehicle(`{"make":"A","model":"B","daily_rate":{"amount":100,"currency":"USD"}}`)
	}
	id, err := fleet.ParseID(fleet.VehiclePrefix, vans[0])
	if err != nil {
		t.Fatal(err)
	}
	counted.id.Store(id)
	renter := w.customer(`{"first_name":"Ada"}`)
	day := time.Now().UTC().Truncate(24 * time.Hour)
	book := func(van int, at time.Time) *reply {
		t.Helper()
		return w.do("POST", "/v1/bookings", fmt.Sprintf(`{"vehicle_id":%q,"customer_id":%q,"pickup_at":%q,"return_at":%q,
			"confirm":true}`, vans[van], renter, at.Format(time.RFC3339), at.AddDate(0, 0, 1).Format(time.RFC3339)))
	}
	next := func() time.Time { day = day.AddDate(0, 0, 2); return day }
	// ask has somebody go on booking, of another vehicle, for longer than what was written is known without looks.
	ask := func() {
		t.Helper()
		for begun := time.Now(); time.Since(begun) < deadline/2+time.Second; time.Sleep(200 * time.Millisecond) {
			book(1, next()).ok(201)
		}
	}
	book(0, next()).ok(201)
	known := false
	for try := 0; try < 5 && !known; try++ { // a slow look may leave one to the store
		ask()
		before := counted.n.Load()
		book(0, next()).ok(201)
		known = counted.n.Load() == before
	}
	if before := counted.n.Load(); !known || before == 0 {
		t.Errorf("of a vehicle whose calendar is known each booking read it, or none ever did (%d)", before)
	}

	of := []any{clickhouse.Named("account", uint64(w.account)), clickhouse.Named("id", id),
		clickhouse.Named("kind", calendar.Kind.Name)}
	newest := func() (revision, rows uint64) {
		t.Helper()
		if err := db.QueryRow(t.Context(), `SELECT max(revision), count() FROM record_log
			WHERE account = {account:UInt64} AND kind = {kind:String} AND id = {id:UInt64}`, of...).Scan(&revision,
			&rows); err != nil {
			t.Fatal(err)
		}
		return revision, rows
	}
	stood, _ := newest()
	taken := next()
	if err := db.Exec(t.Context(), fmt.Sprintf(`INSERT INTO record_log
		SELECT account, kind, id, revision + 1, write_id + 1, action, now64(3), created_at, archived_at, actor, request_id,
			replaceOne(body, '"holds":[', '"holds":[{"ref":"bkg_1","from":"%s","until":"%s","at":"%s"},')
		FROM record_log WHERE account = {account:UInt64} AND kind = {kind:String} AND id = {id:UInt64} AND revision = %d
		SETTINGS insert_deduplication_token = '%s:%d:%d:%d'`, taken.Format(time.RFC3339),
		taken.AddDate(0, 0, 1).Format(time.RFC3339), time.Now().UTC().Format(time.RFC3339), stood, calendar.Kind.Name,
		uint64(w.account), id, stood+1), of...); err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(t.Context(),
		"ALTER TABLE record_log MODIFY SETTING non_replicated_deduplication_window = 1"); err != nil {
		t.Fatal(err)
	}
	line.cut.Store(fail)
	ask()
	book(0, taken).problem(409, "conflict")
	book(0, next()).ok(201)
	if revision, rows := newest(); revision != stood+2 || rows != revision {
		t.Errorf("after revision %d, which another process wrote, there are %d rows up to revision %d", stood+1, rows,
			revision)
	}
	if records, claims, err := w.api.Store.Audit(t.Context()); err != nil || records+claims != 0 {
		t.Errorf("%d revisions and %d claims are double, %v", records, claims, err)
	}
}

// look has a roster look at the store as serve has it, until the test ends.
func look(t *testing.T, r *roster.Roster) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var looking sync.WaitGroup
	looking.Go(func() { _ = r.Run(ctx) })
	t.Cleanup(func() { cancel(); looking.Wait() })
}

// Where a vehicle will be is not told by what its calendar was a moment ago: whoever books it without naming a place,
// just after another process has sent it elsewhere, picks it up there.
func TestWhoeverNamesNoPlacePicksUpWhereTheVehicleWillBe(t *testing.T) {
	both, _ := twoServers(t)
	for _, w := range both {
		look(t, w.api.Roster)
	}
	w, other := both[0], both[1]
	place := func(name string) string {
		return w.do("POST", "/v1/locations", fmt.Sprintf(`{"name":%q,"timezone":"UTC"}`, name)).ok(201).id()
	}
	here, there := place("Here"), place("There")
	van := w.vehicle(fmt.Sprintf(`{"make":"A","model":"B","current_location_id":%q,
		"daily_rate":{"amount":100,"currency":"USD"}}`, here))
	renter := w.customer(`{"first_name":"Ada"}`)
	day := time.Now().UTC().Truncate(24 * time.Hour)
	at, to := here, there
	book := func(w *world, more string) map[string]any {
		t.Helper()
		day = day.AddDate(0, 0, 2)
		return w.do("POST", "/v1/bookings", fmt.Sprintf(`{"vehicle_id":%q,"customer_id":%q,"pickup_at":%q,"return_at":%q,
			"confirm":true%s}`, van, renter, day.Format(time.RFC3339), day.AddDate(0, 0, 1).Format(time.RFC3339),
			more)).ok(201).object()
	}
	for range 4 {
		for begun := time.Now(); time.Since(begun) < time.Second; time.Sleep(200 * time.Millisecond) {
			if made := book(w, fmt.Sprintf(`,"pickup_location_id":%q`, at)); made["pickup_location_id"] != at {
				t.Fatalf("picked up at %v", made["pickup_location_id"])
			}
		}
		book(other, fmt.Sprintf(`,"pickup_location_id":%q,"return_location_id":%q`, at, to))
		if made := book(w, ""); made["pickup_location_id"] != to {
			t.Errorf("a vehicle that will be at %s is picked up at %v", to, made["pickup_location_id"])
		}
		at, to = to, at
	}
}
