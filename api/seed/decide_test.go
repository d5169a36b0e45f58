package seed

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/desk"
	"github.com/motorpool/fleet/api/desk/books"
	"github.com/motorpool/fleet/api/desk/bulk"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

const account fleet.AccountID = 77

func openDesk(t *testing.T, db driver.Conn) func(node uint64, now func() time.Time) (*desk.Desk, error) {
	return func(node uint64, now func() time.Time) (*desk.Desk, error) {
		cfg := record.Config{Deadline: time.Minute, Abandoned: 2 * time.Minute,
			Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))}
		store, err := record.NewStore(cfg, db, fleet.NewIDSource(node, now), now)
		if err != nil {
			return nil, err
		}
		return desk.New(store, db, now, cfg.Log), nil
	}
}

// whileOut is the newest full hour at which the car of small is rented.
func whileOut() time.Time {
	for now := time.Now().Truncate(time.Hour); ; now = now.Add(-time.Hour) {
		if p, car := plan(now); slices.ContainsFunc(p.Rentals[car.ID], func(r Rental) bool { return r.out(now) }) {
			return now
		}
	}
}

const vehicle = 910_000_000_000_004_711

// plan is that of small, with all bookings of its car.
func plan(now time.Time) (*Plan, Car) {
	car := Car{ID: fleet.FormatID(fleet.VehiclePrefix, vehicle), Class: "COMPACT", Branch: "OMA", MileageMi: 30000,
		Ways: []Way{{Miles: 10, Takes: 20 * time.Minute}}}
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		panic(err)
	}
	return New(3, now, 1, []Car{car}, zone), car
}

// small is a business of one car that has some weeks of the plan: bookings that are over, one that goes on, one ahead,
// a cancelled one, and a visit to the workshop.
func small(t *testing.T, now time.Time) (*Business, driver.Conn) {
	t.Helper()
	db := schematest.Open(t)
	open := openDesk(t, db)
	first, err := open(1, func() time.Time { return now.AddDate(-1, 0, 0) })
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := first.Accounts.Create(t.Context(), by, account, uint64(account),
		record.Account{Name: "Demo", Timezone: "America/Chicago", Currency: "USD"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := first.Vehicles.Create(t.Context(), by, account, vehicle, record.Vehicle{
		VehicleFields: record.VehicleFields{Make: "Kia", Model: "Niro"}, Status: record.VehicleAvailable,
		StatusSince: record.InstantOf(now.AddDate(-1, 0, 0))}); err != nil {
		t.Fatal(err)
	}
	p, car := plan(now)
	p.Customers = p.Customers[:10]
	all := p.Rentals[car.ID]
	ahead := slices.IndexFunc(all, func(r Rental) bool { return r.PickupAt.After(now) })
	all = all[ahead-8 : ahead+2]
	for i := range all {
		r := &all[i]
		r.Customer %= len(p.Customers)
		if r.Outcome == "returned" {
			switch i { // of each sort one
			case 1:
				r.Damage, r.DamageCents = "scratch", 12000
			case 2:
				r.Channel, r.ExternalReference = "turo", "TR-1"
			case 3:
				r.PaysLater = true
			}
		}
	}
	all[4].Outcome, all[4].CancelledAt = "cancelled", all[4].BookedAt.Add(time.Hour)
	p.Rentals[car.ID] = all
	p.Services[car.ID] = slices.DeleteFunc(p.Services[car.ID], func(s Service) bool {
		return s.From.Before(all[0].PickupAt) || s.Until.After(now)
	})
	return &Business{Account: account, Plan: p, Cars: []Car{car}, Open: open, AtOnce: 1, Since: now,
		Branches: []Branch{{Code: "OMA",
			Location: record.Location{Name: "Omaha", Code: "OMA", Timezone: "America/Chicago"}}}}, db
}

// ordinarily makes a business by one command after the other, each written when it is decided.
func ordinarily(t *testing.T, b *Business, now time.Time) {
	t.Helper()
	ctx := t.Context()
	if err := b.begin(ctx, now); err != nil {
		t.Fatal(err)
	}
	if err := b.all(ctx, nodeCars, everyCar, func(ctx context.Context, w *worker, i int) error {
		if err := w.outfit(ctx, b.Cars[i], now); err != nil {
			return err
		}
		if err := w.carry(ctx, b.Cars[i], now, func() {}); err != nil {
			return err
		}
		if err := w.scheduled(ctx, b.Cars[i], now); err != nil {
			return err
		}
		return w.own(ctx, b.Cars[i], now)
	}); err != nil {
		t.Fatal(err)
	}
	w, err := b.worker(nodeBasics, nodeBasics)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.facts(ctx, now); err != nil {
		t.Fatal(err)
	}
}

// chance is what is drawn, or left out between: bids in calendars, and numbers for people.
var chance = regexp.MustCompile(`,"bid":[0-9]+|"number":"[A-Z]-[0-9]+",?`)

// lines are the rows of a query, each as text.
func lines(t *testing.T, db driver.Conn, query string) []string {
	t.Helper()
	rows, err := db.Query(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		all = append(all, chance.ReplaceAllString(line, ""))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// made is all that a business has come to. Counters of numbers differ by what was set aside, a calendar has one
// revision of what is decided at once, and claims have other numbers where many are taken together.
var made = map[string]string{
	"log": `SELECT concat(kind, ' ', toString(id), ' ', toString(revision), ' ', action, ' ', toString(at), ' ', actor, ' ', body)
		FROM record_log WHERE kind NOT IN ('counter', 'vehicle', 'calendar') ORDER BY kind, id, revision`,
	"vehicles": `SELECT concat(toString(id), ' ', status, ' ', JSONExtractString(body, 'status_cause'), ' ',
		JSONExtractString(body, 'status_since'), ' ', JSONExtractString(body, 'current_location_id')) FROM vehicles FINAL ORDER BY id`,
	"bookings":  "SELECT concat(toString(id), ' ', toString(revision), ' ', status, ' ', body) FROM bookings FINAL ORDER BY id",
	"calendars": "SELECT concat(kind, ' ', toString(id), ' ', body) FROM record_log WHERE kind = 'calendar' ORDER BY id, revision DESC LIMIT 1 BY id",
	"payments":  "SELECT concat(toString(id), ' ', toString(revision), ' ', body) FROM payments FINAL ORDER BY id",
	"meters":    "SELECT concat(toString(id), ' ', toString(value), ' ', toString(voided)) FROM meters FINAL ORDER BY id",
	"claims":    "SELECT concat(field, ' ', value, ' ', toString(count()), ' ', toString(argMax(owner, revision))) FROM claim_log GROUP BY field, value ORDER BY field, value",
	"transactions": `SELECT concat(toString(id), ' ', kind, ' ', toString(source), ' ', toString(revision), ' ', toString(known_on), ' ',
		entries) FROM ledger_transactions FINAL ORDER BY id`,
	"entries": `SELECT concat(toString(id), ' ', toString(local_date), ' ', ledger_account, ' ', toString(amount), ' ', toString(booking),
		' ', toString(vehicle)) FROM ledger_entries FINAL ORDER BY id`,
	"days": "SELECT concat(toString(local_date), ' ', ledger_account, ' ', toString(sum(amount))) FROM ledger_entries FINAL GROUP BY ALL ORDER BY ALL",
	"facts": `SELECT concat(toString(local_date), ' ', toString(vehicle), ' ', toString(rented_s)) FROM vehicle_days FINAL
		ORDER BY local_date, vehicle`,
}

func compare(t *testing.T, one, other driver.Conn) {
	t.Helper()
	for what, query := range made {
		a, b := lines(t, one, query), lines(t, other, query)
		if len(a) == 0 {
			t.Errorf("%s: there are none, so this proves nothing", what)
		}
		for i := range max(len(a), len(b)) {
			if i >= len(a) || i >= len(b) || a[i] != b[i] {
				at := func(all []string) string {
					if i < len(all) {
						return all[i]
					}
					return "(none)"
				}
				t.Errorf("%s differ, %d and %d:\n%s\n%s", what, len(a), len(b), at(a), at(b))
				break
			}
		}
	}
}

// clean wants every revision to be listed, marked and posted, and the books to balance.
func clean(t *testing.T, db driver.Conn) {
	t.Helper()
	for what, query := range map[string]string{
		"bookings are not listed as they stand": `SELECT toString(id) FROM (SELECT id, max(revision) AS newest FROM record_log
			WHERE kind = 'booking' GROUP BY id) AS l LEFT JOIN (SELECT id, revision FROM bookings FINAL) AS b USING (id)
			WHERE l.newest != b.revision`,
		"transactions do not balance": `SELECT toString(transaction) FROM ledger_entries FINAL
			GROUP BY transaction, currency, local_date HAVING sum(amount) != 0`,
		"transactions lack entries": `SELECT toString(id) FROM ledger_transactions AS t FINAL LEFT JOIN (SELECT transaction,
			toUInt32(count()) AS n FROM ledger_entries FINAL GROUP BY transaction) AS e ON e.transaction = t.id WHERE t.entry_count != e.n`,
		"revisions have two rows": "SELECT toString(id) FROM record_log GROUP BY kind, id, revision HAVING count() > 1",
	} {
		if all := lines(t, db, query); len(all) > 0 {
			t.Errorf("%s: %d, %s", what, len(all), all[0])
		}
	}
	records, wrong, err := books.CheckBooks(t.Context(), db, 10_000)
	if err != nil || len(wrong) > 0 || records == 0 {
		t.Errorf("the books: %d records, %v %v", records, wrong, err)
	}
}

// What is decided in memory and written in one go is what one command after the other would have made.
func TestWhatIsDecidedInMemoryIsWhatCommandsMake(t *testing.T) {
	now := whileOut()
	slow, one := small(t, now)
	ordinarily(t, slow, now)
	fast, other := small(t, now)
	if err := fast.Make(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	compare(t, one, other)
	clean(t, other)
	before := lines(t, other, "SELECT toString(count()) FROM record_log")
	again := *fast
	again.known = basics{}
	if err := again.Make(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	if after := lines(t, other, "SELECT toString(count()) FROM record_log"); !slices.Equal(before, after) {
		t.Errorf("making it again made %v revisions of %v", after, before)
	}
}

// A process that dies between what decides and what follows leaves nothing half there: whoever comes next makes up
// for it.
func TestWhoDiesAfterTheDecisionLeavesNothingUndone(t *testing.T) {
	now := whileOut()
	whole, one := small(t, now)
	if err := whole.Make(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	cut, other := small(t, now)
	_, d := half(t, cut, now)
	if err := d.Decided.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := lines(t, other, "SELECT toString(count()) FROM bookings"); n[0] != "0" {
		t.Fatalf("%s bookings are listed: the test proves nothing", n)
	}
	cut.known = basics{}
	if err := cut.Make(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	compare(t, one, other)
	clean(t, other)
}

// half decides what a business has of its car, and writes nothing of it.
func half(t *testing.T, b *Business, now time.Time) (*bulk.Bulk, *bulk.Draft) {
	t.Helper()
	ctx := t.Context()
	if err := b.begin(ctx, now); err != nil {
		t.Fatal(err)
	}
	if err := b.all(ctx, nodeCars, everyCar, func(ctx context.Context, w *worker, i int) error {
		return w.outfit(ctx, b.Cars[i], now)
	}); err != nil {
		t.Fatal(err)
	}
	w, err := b.worker(nodeBasics, nodeBasics)
	if err != nil {
		t.Fatal(err)
	}
	much, err := bulk.Begin(ctx, w.Desk, account)
	if err != nil {
		t.Fatal(err)
	}
	d, err := b.draft(ctx, much, nodeCars, b.Cars[0].ID, func(w *worker) error {
		return w.carry(ctx, b.Cars[0], now, func() {})
	})
	if err != nil || d == nil {
		t.Fatalf("it is not decided in memory: %v", err)
	}
	return much, d
}

// What follows from a revision shares what that was decoded to, and changes nothing of it, neither in memory nor once
// it is written.
func TestWhatFollowsChangesNothingThatItReads(t *testing.T) {
	now := whileOut()
	b, db := small(t, now)
	much, d := half(t, b, now)
	unaltered := func() {
		t.Helper()
		if altered, err := d.Decided.Altered(); err != nil || len(altered) > 0 {
			t.Fatalf("what follows has changed what it follows from: %v, %v", altered, err)
		}
	}
	unaltered()
	if moved, err := much.Write(t.Context(), d); err != nil || len(moved) > 0 {
		t.Fatalf("it is not written: %v", err)
	}
	unaltered()
	clean(t, db)
}

// Of what was decided upon a calendar that somebody has changed since, nothing is written.
func TestNothingIsWrittenUponWhatHasMoved(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	b, db := small(t, now)
	_, d := half(t, b, now)
	other, err := b.Open(900, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	id, err := fleet.ParseID(fleet.VehiclePrefix, b.Cars[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	from := now.AddDate(2, 0, 0)
	hold := calendar.Hold{Ref: fleet.FormatID(fleet.BlockPrefix, 1), From: record.InstantOf(from),
		Until: record.InstantOf(from.Add(time.Hour))}
	if _, err := other.Calendars.Take(t.Context(), by, account, id, hold); err != nil {
		t.Fatal(err)
	}
	before := lines(t, db, "SELECT toString(count()) FROM record_log")
	if err := d.Decided.Write(t.Context()); err == nil || !strings.Contains(err.Error(), record.ErrMoved.Error()) {
		t.Fatalf("it was written upon a calendar that had moved: %v", err)
	}
	if after := lines(t, db, "SELECT toString(count()) FROM record_log"); !slices.Equal(before, after) {
		t.Errorf("there are %v revisions, and were %v", after, before)
	}
	held := lines(t, db, `SELECT concat(field, ' ', value) FROM claim_log WHERE field = 'booking.external_reservation'
		GROUP BY field, value HAVING argMax(owner, revision) != 0`)
	if len(held) > 0 {
		t.Errorf("values are held by nobody's record: %v", held)
	}
	if err := b.Make(t.Context(), now); err != nil {
		t.Fatal(fmt.Errorf("after that: %w", err))
	}
	clean(t, db)
}
