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

// calendarReads counts how often the newest revision of one vehicle's calendar is read by itself.
type calendarReads struct {
	driver.Conn
	id, n atomic.Uint64
}

func (c *calendarReads) Query(ctx context.Context, text string, args ...any) (driver.Rows, error) {
	named := func(name string, value any) bool { return slices.Contains(args, any(clickhouse.Named(name, value))) }
	if text == schemas.Query("record_newest") && named("kind", calendar.Kind.Name) && named("id", c.id.Load()) {
		c.n.Add(1)
	}
	return c.Conn.Query(ctx, text, args...)
}

// A booking of a vehicle whose calendar is known reads nothing of it, however long ago it was written. A revision of
// the calendar that a process wrote that died before any table had it, and of which the server has forgotten the token,
// is not written a second time: what it holds is in the way of the next booking, and the one after stands upon it.
func TestACalendarThatIsKnownIsNotReadAndNoRevisionOfItIsWrittenTwice(t *testing.T) {
	const deadline = 4 * time.Second
	db := schematest.Open(t)
	counted := &calendarReads{Conn: db}
	kept, err := roster.New(roster.DefaultConfig(), db, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(cfg *rest.Config, deps *Deps) {
		cfg.Record = record.Config{Deadline: deadline, Abandoned: 100 * time.Second}
		deps.DB, deps.Roster = counted, kept
	})
	ctx, cancel := context.WithCancel(t.Context())
	var looking sync.WaitGroup
	looking.Go(func() { _ = kept.Run(ctx) })
	defer func() { cancel(); looking.Wait() }()

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
