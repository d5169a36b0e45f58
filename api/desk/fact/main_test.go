package fact_test

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"context"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/desk/books"
	"github.com/motorpool/fleet/api/desk/fact"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

const account = fleet.AccountID(7)

var (
	by    = record.Author{Actor: "key_1", RequestID: "req_1"}
	zones = []string{"America/New_York", "Europe/Berlin", "Australia/Lord_Howe"}
	began = time.Date(2026, 2, 27, 9, 30, 0, 0, time.UTC)
)

// trip is one as the tests know it.
type trip struct {
	vehicle, id uint64
	revision    uint32
	start, end  time.Time
	metres      float64
	fuel        float64
	deleted     bool
}

// world is an account with its facts, and what the tests know of it.
type world struct {
	t     *testing.T
	db    driver.Conn
	flaky *flaky
	base  *base.Base
	facts *fact.Facts
	now   time.Time
	zone  string // of the account
	rng   *rand.Rand

	vehicles []uint64
	bookings []uint64
	blocks   []uint64
	expenses []uint64
	moves    map[uint64][]move // states of a vehicle, as they were written
	trips    []trip
	charges  []charge
}

type move struct {
	status string
	since  time.Time
}

type charge struct {
	vehicle uint64
	start   time.Time
	kwh     float64
}

// flaky is a database to which inserts of facts fail every now and then, before or after they happened.
type flaky struct {
	driver.Conn
	mu     sync.Mutex // two statements are under way at a time
	rng    *rand.Rand
	failed int
	fails  uint64 // an account of which every insert fails

	batches int // inserts of days of rentals
}

var errDied = errors.New("the process died here")

func (f *flaky) Exec(ctx context.Context, text string, args ...any) error {
	if f.fails != 0 && slices.Contains(args, any(clickhouse.Named("account", f.fails))) {
		return errDied
	}
	if strings.Contains(text, "INSERT INTO rental_days") {
		f.mu.Lock()
		f.batches++
		f.mu.Unlock()
	}
	if f.rng == nil || !strings.Contains(text, "INSERT INTO") {
		return f.Conn.Exec(ctx, text, args...)
	}
	f.mu.Lock()
	dies := f.rng.IntN(16) // a look has fifteen inserts or more, and is repeated until all are done: some seven times
	if dies < 2 {
		f.failed++
	}
	f.mu.Unlock()
	switch dies {
	case 0:
		return errDied
	case 1:
		return errors.Join(f.Conn.Exec(ctx, text, args...), errDied)
	}
	return f.Conn.Exec(ctx, text, args...)
}

func open(t *testing.T, zone string) *world {
	w := &world{t: t, db: schematest.Open(t), now: began, zone: zone, moves: map[uint64][]move{},
		rng: rand.New(rand.NewPCG(1, 2))}
	now := func() time.Time { return w.now }
	store, err := record.NewStore(record.Config{Deadline: time.Minute, Abandoned: 2 * time.Minute}, w.db,
		fleet.NewIDSource(1, time.Now), now)
	if err != nil {
		t.Fatal(err)
	}
	w.flaky = &flaky{Conn: w.db}
	w.base = base.New(store, w.db, now, slog.New(slog.DiscardHandler))
	books.New(w.base).Register()
	b := *w.base
	b.DB = w.flaky
	w.facts = fact.New(&b)
	if _, _, err := w.base.Accounts.Create(t.Context(), by, account, uint64(account),
		record.Account{Name: "Acme", Timezone: zone, Currency: "USD"}); err != nil {
		t.Fatal(err)
	}
	return w
}

func create[T any](w *world, log *record.Log[T], body T) uint64 {
	w.t.Helper()
	id := w.base.Store.NextID()
	if _, _, err := log.Create(w.t.Context(), by, account, id, body); err != nil {
		w.t.Fatal(err)
	}
	return id
}

func update[T any](w *world, log *record.Log[T], id uint64, change func(*T)) {
	w.t.Helper()
	_, err := log.Update(w.t.Context(), by, account, id, 0, func(r *record.Record[T]) error {
		change(&r.Body)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func get[T any](w *world, log *record.Log[T], id uint64) record.Record[T] {
	w.t.Helper()
	r, err := log.Get(w.t.Context(), account, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// vehicle makes one that is in service from a day on, "" for since its record is made.
func (w *world) vehicle(zone, from string) uint64 {
	v := record.Vehicle{VehicleFields: record.VehicleFields{Make: "A", Model: "B", Timezone: zone, InServiceOn: from},
		Status: record.VehicleAvailable, StatusSince: record.InstantOf(w.now)}
	id := create(w, w.base.Vehicles, v)
	w.vehicles = append(w.vehicles, id)
	w.moves[id] = []move{{v.Status, w.now}}
	return id
}

// move puts a vehicle into a state since an instant.
func (w *world) move(id uint64, status string, since time.Time) {
	update(w, w.base.Vehicles, id, func(v *record.Vehicle) {
		v.Status, v.StatusSince = status, record.InstantOf(since)
	})
	w.moves[id] = append(w.moves[id], move{status, record.InstantOf(since).Time})
}

// drive stores a trip, the newest revision of it.
func (w *world) drive(tr trip) {
	w.t.Helper()
	err := w.db.Exec(w.t.Context(), fmt.Sprintf(`INSERT INTO trips (account, vehicle, id, revision, start_at, end_at,
		deleted, updated_at, distance_m, body) VALUES (7, %d, %d, %d, '%s', '%s', %v, now64(3), %v,
		'{"fuel_used_l":%v}')`, tr.vehicle, tr.id, tr.revision, sqlTime(tr.start), sqlTime(tr.end), tr.deleted, tr.metres,
		tr.fuel))
	if err != nil {
		w.t.Fatal(err)
	}
	w.trips = slices.DeleteFunc(w.trips, func(o trip) bool { return o.id == tr.id })
	w.trips = append(w.trips, tr)
}

func (w *world) charge(c charge) {
	w.t.Helper()
	err := w.db.Exec(w.t.Context(), fmt.Sprintf(`INSERT INTO charges (account, vehicle, id, revision, start_at, end_at,
		updated_at, energy_kwh) VALUES (7, %d, %d, 1, '%s', '%s', now64(3), %v)`, c.vehicle, len(w.charges)+1,
		sqlTime(c.start), sqlTime(c.start.Add(time.Hour)), c.kwh))
	if err != nil {
		w.t.Fatal(err)
	}
	w.charges = append(w.charges, c)
}

func sqlTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000") }

func (w *world) look() {
	w.t.Helper()
	for w.facts.Look(w.t.Context()) != nil {
		if w.flaky.rng == nil {
			w.t.Fatal(w.facts.Look(w.t.Context()))
		}
	}
}

// measures are the columns of vehicle_days in their order.
var measures = []string{"day_s", "fleet_s", "down_s", "rented_s", "idle_s", "billed_days", "driven_m",
	"rented_m", "fuel_l", "energy_kwh", "revenue_time", "revenue_mileage", "revenue_extras", "revenue_protection",
	"revenue_fees", "revenue_damage", "discounts", "refunds", "toll_recharge", "platform_fees", "cost_energy",
	"cost_maintenance", "cost_other_variable", "cost_depreciation", "cost_finance", "cost_insurance", "cost_other_fixed"}

// facts are what stands of a day: thousandths for what is no whole number, by measure.
type facts map[string]int64

// stored reads a table of facts by its key in words; rows of nothing are left out.
func (w *world) stored(table, day string) map[string]facts {
	w.t.Helper()
	all := map[string]facts{}
	var columns []string
	for _, m := range measures {
		if strings.HasSuffix(m, "_m") || m == "fuel_l" || m == "energy_kwh" {
			m += " * 1000"
		}
		columns = append(columns, "toInt64(round("+m+"))")
	}
	text := fmt.Sprintf("SELECT concat(toString(%s), ' ', toString(vehicle), ' ', currency), [%s] FROM %s FINAL",
		day, strings.Join(columns, ", "), table)
	err := schemas.EachRow(w.t.Context(), w.db, "read facts", text, nil, func(row schemas.Row) error {
		var key string
		var values []int64
		if err := row.Scan(&key, &values); err != nil {
			return err
		}
		all[key] = facts{}
		for i, v := range values {
			all[key].add(measures[i], v)
		}
		if len(all[key]) == 0 {
			delete(all, key)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

func (f facts) add(measure string, n int64) {
	if f[measure] += n; f[measure] == 0 {
		delete(f, measure)
	}
}

// same compares facts.
func same(t *testing.T, what string, got, want map[string]facts) {
	t.Helper()
	wrong := 0
	keys := slices.Sorted(maps.Keys(want))
	for key := range got {
		if want[key] == nil {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		if !maps.Equal(got[key], want[key]) {
			if wrong++; wrong <= 5 {
				t.Errorf("%s, %s:\ngot  %v\nwant %v", what, key, got[key], want[key])
			}
		}
	}
	if wrong > 0 {
		t.Fatalf("%s: %d of %d are wrong", what, wrong, len(keys))
	}
}

func load(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(cmp.Or(name, "UTC"))
	if err != nil {
		t.Fatal(err)
	}
	return zone
}
