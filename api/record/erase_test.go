package record_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas/schematest"
)

// standing returns the rows of vehicles, also those that newer ones have replaced, and says in how many of them
// a text stands.
func standing(t *testing.T, db driver.Conn, text string) (rows, with uint64) {
	t.Helper()
	if err := db.QueryRow(t.Context(), "SELECT count(), countIf(position(concat(nickname, body), $1) > 0) FROM vehicles",
		text).Scan(&rows, &with); err != nil {
		t.Fatal(err)
	}
	return rows, with
}

func bare(v *record.Vehicle) { *v = record.Vehicle{} }

// An erasure that was cut off between the log and the table, and is repeated, leaves nothing on disk.
func TestATornErasureIsFinishedByRepeatingIt(t *testing.T) {
	db := schematest.Open(t)
	s := newStore(t, db, 1)
	dying := record.NewLog(newStore(t, &torn{Conn: db, dead: true}, 2), record.Vehicles)
	v := vehicle("")
	v.Nickname = "Quuxington"
	r := create(t, s, v)
	if _, err := dying.Wipe(t.Context(), by, account, r.ID, bare); err != nil {
		t.Fatal(err)
	}
	if rows, with := standing(t, db, "Quuxington"); rows != 1 || with != 1 {
		t.Fatalf("it was not cut off: %d rows, %d with the name", rows, with)
	}
	// What the table has is no measure of what is newest.
	if err := dying.Forget(t.Context(), account, "vehicles", r.ID); err != nil {
		t.Fatal(err)
	}
	if _, with := standing(t, db, "Quuxington"); with != 0 {
		t.Errorf("the name still stands in %d rows", with)
	}
	if err := record.NewLog(s, record.Vehicles).Erase(t.Context(), by, account, "vehicles", r.ID, bare); err != nil {
		t.Fatal(err)
	}
	stands(t, db, r.ID, 2, "")
	auditIsClean(t, s)
}

// The claims of a record and their releases go, in however many parts of the table they lie.
func TestNoReleaseOutlivesItsClaim(t *testing.T) {
	db := schematest.Open(t)
	if err := db.Exec(t.Context(), "SYSTEM STOP MERGES claim_log"); err != nil {
		t.Fatal(err)
	}
	s := newStore(t, db, 1)
	log := record.NewLog(s, record.Vehicles)
	r := create(t, s, vehicle("5YJ3E1EA7KF317000"))
	for _, vin := range []string{"5YJ3E1EA7KF317001", "5YJ3E1EA7KF317002", "5YJ3E1EA7KF317003"} {
		if _, err := log.Update(t.Context(), by, account, r.ID, 0, func(v *record.Record[record.Vehicle]) error {
			v.Body.VIN = vin
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Exec(t.Context(), "SYSTEM START MERGES claim_log"); err != nil {
		t.Fatal(err)
	}
	if err := log.Erase(t.Context(), by, account, "vehicles", r.ID, bare); err != nil {
		t.Fatal(err)
	}
	var left uint64
	if err := db.QueryRow(t.Context(),
		"SELECT count() FROM claim_log WHERE position(value, '5YJ3E1EA7KF31700') > 0").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d claims and releases are left, %v", left, err)
	}
}

// meddling does something just before the log is swept.
type meddling struct {
	driver.Conn
	do func()
}

func (c *meddling) Exec(ctx context.Context, text string, args ...any) error {
	if strings.Contains(text, "ALTER TABLE record_log") && c.do != nil {
		c.do()
		c.do = nil
	}
	return c.Conn.Exec(ctx, text, args...)
}

// A write that was cut off before its table knew it, and is mended in the middle of a sweep, brings back nothing.
func TestWhatIsMendedDuringASweepIsSwept(t *testing.T) {
	db := schematest.Open(t)
	dying := newStore(t, &torn{Conn: db, dead: true}, 2)
	if _, _, err := record.NewLog(dying, record.Bookings).Create(t.Context(), by, account, dying.NextID(), record.Booking{
		BookingFields: record.BookingFields{Notes: "for Quuxington"}}); err != nil {
		t.Fatal(err)
	}
	after, _ := later(t, db, time.Minute)
	mended := false
	s := newStore(t, &meddling{Conn: db, do: func() {
		if err := after.Mend(t.Context()); err != nil {
			t.Error(err)
		}
		mended = true
	}}, 1)
	if err := s.Sweep(t.Context(), account, []string{"quuxington"}, nil, func(_, text string) string {
		return strings.ReplaceAll(text, "Quuxington", "")
	}); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"record_log WHERE kind = 'booking'", "bookings"} {
		var rows, with uint64
		if err := db.QueryRow(t.Context(), fmt.Sprintf("SELECT count(), countIf(position(body, 'Quuxington') > 0) FROM %s",
			table)).Scan(&rows, &with); err != nil {
			t.Fatal(err)
		}
		if !mended || rows != 1 || with != 0 {
			t.Errorf("%s: %d rows, the name in %d; mended %v", table, rows, with, mended)
		}
	}
}

// The statements of an erasure, which the server keeps for a while, hold neither what was sought nor what was put in
// its place.
func TestAnErasureIsNotWrittenDownByTheServer(t *testing.T) {
	db := schematest.Open(t)
	s := newStore(t, db, 1)
	if _, _, err := record.NewLog(s, record.Bookings).Create(t.Context(), by, account, s.NextID(), record.Booking{
		BookingFields: record.BookingFields{Notes: "Quuxington, Neighbour"}}); err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(t.Context(), `INSERT INTO claim_log (account, field, value, revision, owner, detail)
		SELECT $1, 'idempotency', toString(number), 1, 1, $2 FROM numbers(3)`, uint64(account),
		`{"hash":"h","answer":{"body":"Quuxington"}}`); err != nil {
		t.Fatal(err)
	}
	words := []string{"Quuxington"}
	if err := s.ForgetAnswers(t.Context(), account, words); err != nil {
		t.Fatal(err)
	}
	rewrite := func(_, text string) string { return strings.ReplaceAll(text, "Quuxington", "") }
	if err := s.Sweep(t.Context(), account, words, nil, rewrite); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		`SELECT count(), countIf(command LIKE '%Quuxington%' OR command LIKE '%Neighbour%') FROM system.mutations
			WHERE database = currentDatabase()`,
		"SELECT 3 + count(), count() FROM sweep_texts",
		"SELECT count(), countIf(detail LIKE '%Quuxington%') FROM claim_log",
		"SELECT 2 + count(), countIf(body LIKE '%Quuxington%' OR body NOT LIKE '%Neighbour%') FROM bookings",
	} {
		var all, with uint64
		if err := db.QueryRow(t.Context(), query).Scan(&all, &with); err != nil {
			t.Fatal(err)
		}
		if all < 3 || with != 0 {
			t.Errorf("%d of %d: %s", with, all, query)
		}
	}
}
