package record_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// reserved is a booking that a platform knows by a name.
func reserved(name string) record.Booking {
	return record.Booking{BookingFields: record.BookingFields{Channel: "turo", ExternalReservationID: name}}
}

func bookOne(t *testing.T, s *record.Store, name string) (id uint64, err error) {
	id = s.NextID()
	_, _, err = record.NewLog(s, record.Bookings).Create(t.Context(), by, account, id, reserved(name))
	return id, err
}

// bookMany makes bookings of some names at once.
func bookMany(t *testing.T, s *record.Store, names ...string) (ids []uint64, errs []error) {
	var bodies []record.Booking
	for _, name := range names {
		ids, bodies = append(ids, s.NextID()), append(bodies, reserved(name))
	}
	return ids, record.NewLog(s, record.Bookings).CreateMany(t.Context(), by, account, ids, bodies)
}

// holders are the bookings that have a name.
func holders(t *testing.T, db driver.Conn, name string) (n uint64) {
	t.Helper()
	if err := db.QueryRow(t.Context(), "SELECT count() FROM bookings FINAL WHERE external_reservation_id = $1", name).
		Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// between has something happen once, right before a statement that begins or stands so is sent.
type between struct {
	driver.Conn
	statement string
	do        func()
}

func (c *between) at(statement string) {
	if do := c.do; do != nil && strings.HasPrefix(statement, c.statement) {
		c.do = nil
		do()
	}
}

func (c *between) PrepareBatch(ctx context.Context, statement string,
	options ...driver.PrepareBatchOption) (driver.Batch, error) {
	c.at(statement)
	return c.Conn.PrepareBatch(ctx, statement, options...)
}

func (c *between) Query(ctx context.Context, text string, args ...any) (driver.Rows, error) {
	c.at(text)
	return c.Conn.Query(ctx, text, args...)
}

func (c *between) QueryRow(ctx context.Context, text string, args ...any) driver.Row {
	c.at(text)
	return c.Conn.QueryRow(ctx, text, args...)
}

// Who takes a value by itself and who takes it among many do not both get it, wherever the one comes between what the
// other does.
func TestAValueThatIsTakenAmongManyHasOneHolder(t *testing.T) {
	const claims = "INSERT INTO claim_log"
	for name, c := range map[string]struct {
		before string
		many   bool // who is interrupted takes many
		other  bool // and so does who comes between
	}{
		"one before many claim":     {before: claims, many: true},
		"one before many look":      {before: schemas.Query("claims_overtaken"), many: true},
		"many before one claims":    {before: claims, other: true},
		"many before one looks":     {before: schemas.Query("claims_since"), other: true},
		"many before many claim":    {before: claims, many: true, other: true},
		"many before many look":     {before: schemas.Query("claims_overtaken"), many: true, other: true},
		"one before another claims": {before: claims},
	} {
		t.Run(name, func(t *testing.T) {
			conn := &between{statement: c.before}
			s, other, db := twoStoresOn(t, func(db driver.Conn) driver.Conn {
				if conn.Conn == nil {
					conn.Conn = db
					return conn
				}
				return db
			})
			won := map[bool]int{}
			count := func(errs ...error) {
				for _, err := range errs {
					if err != nil && fleet.CodeOf(err) != fleet.CodeConflict {
						t.Error(err)
					}
				}
				won[errs[0] == nil]++
			}
			book := func(s *record.Store, many bool, beside string) {
				if many {
					_, errs := bookMany(t, s, "R1", beside)
					count(errs...)
					if errs[1] != nil {
						t.Errorf("a value that nobody else wanted was refused: %v", errs[1])
					}
				} else {
					_, err := bookOne(t, s, "R1")
					count(err)
				}
			}
			conn.do = func() { book(other, c.other, "R2") }
			book(s, c.many, "R3")
			if conn.do != nil {
				t.Fatal("nobody came between")
			}
			if won[true] != 1 || holders(t, db, "R1") != 1 {
				t.Errorf("%d got the value, and %d bookings have it, want 1", won[true], holders(t, db, "R1"))
			}
			auditIsClean(t, s)
			if _, err := bookOne(t, s, "R1"); fleet.CodeOf(err) != fleet.CodeConflict {
				t.Errorf("it was taken once more: %v", err)
			}
		})
	}
}

// However many ask for the same values at once, by themselves and among many, nobody is told that they got one that
// somebody else has.
func TestValuesThatAreTakenAmongManyHaveOneHolderHoweverManyAskAtOnce(t *testing.T) {
	a, b, db := twoStores(t)
	const values = 12
	var got [values]atomic.Int32
	var group sync.WaitGroup
	for w := range 8 {
		s := []*record.Store{a, b}[w%2]
		group.Go(func() {
			order := rand.Perm(values)
			if w < 4 {
				var names []string
				for _, i := range order {
					names = append(names, fmt.Sprint("R", i))
				}
				_, errs := bookMany(t, s, names...)
				for n, err := range errs {
					if err == nil {
						got[order[n]].Add(1)
					} else if fleet.CodeOf(err) != fleet.CodeConflict {
						t.Error(err)
					}
				}
				return
			}
			for _, i := range order {
				if _, err := bookOne(t, s, fmt.Sprint("R", i)); err == nil {
					got[i].Add(1)
				} else if fleet.CodeOf(err) != fleet.CodeConflict {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	won := 0
	for i := range got {
		won += int(got[i].Load())
		if n := holders(t, db, fmt.Sprint("R", i)); uint64(got[i].Load()) != n || n > 1 {
			t.Errorf("R%d: %d were told that they have it, and %d bookings do", i, got[i].Load(), n)
		}
	}
	if won == 0 {
		t.Error("nobody got any")
	}
	auditIsClean(t, a)
}

// An attempt that died before it looked, or could not take its row back, does not make the next one under the same id
// the holder of what somebody else has.
func TestAnEarlierAttemptsRowIsNoClaimThatWasWon(t *testing.T) {
	db := schematest.Open(t)
	s := newStore(t, db, 1)
	again := func(id uint64, name string) error {
		if err := db.Exec(t.Context(), fmt.Sprintf(`INSERT INTO claim_log (account, field, value, revision, write_id, owner, detail)
			VALUES (%d, 'booking.external_reservation', 'turo\x1f%s', 2, %d, %d, '%[1]d')`, account, name, record.RandomID(), id)); err != nil {
			t.Fatal(err)
		}
		_, _, err := record.NewLog(s, record.Bookings).Create(t.Context(), by, account, id, reserved(name))
		return err
	}
	if _, err := bookOne(t, s, "R1"); err != nil {
		t.Fatal(err)
	}
	if err := again(s.NextID(), "R1"); fleet.CodeOf(err) != fleet.CodeConflict || holders(t, db, "R1") != 1 {
		t.Errorf("%v, and %d bookings have the value", err, holders(t, db, "R1"))
	}
	if err := again(s.NextID(), "R2"); err != nil || holders(t, db, "R2") != 1 {
		t.Errorf("nobody else wanted it: %v", err)
	}
}

// What a process claimed among many that died before it looked lapses, and takes nothing from whoever holds the value.
func TestAClaimAmongManyThatCameToNothingLapses(t *testing.T) {
	db := schematest.Open(t)
	s := newStore(t, db, 1)
	dead := func(name string, revision int, ago string) {
		t.Helper()
		if err := db.Exec(t.Context(), fmt.Sprintf(`INSERT INTO claim_log (account, field, value, revision, write_id, owner, at, detail)
			SELECT %d, 'booking.external_reservation', 'turo\x1f%s', %d, %d, 4711, now64(3) - INTERVAL %s, '%[1]d'`,
			account, name, revision, record.RandomID(), ago)); err != nil {
			t.Fatal(err)
		}
	}
	dead("R1", 2, "1 SECOND")
	if _, err := bookOne(t, s, "R1"); fleet.CodeOf(err) != fleet.CodeConflict {
		t.Errorf("somebody may still be writing it: %v", err)
	}
	dead("R2", 2, "1 HOUR")
	if _, err := bookOne(t, s, "R2"); err != nil {
		t.Errorf("it is nobody's: %v", err)
	}
	id, err := bookOne(t, s, "R3")
	if err != nil {
		t.Fatal(err)
	}
	dead("R3", 2, "1 HOUR")
	if _, err := bookOne(t, s, "R3"); fleet.CodeOf(err) != fleet.CodeConflict {
		t.Errorf("a booking holds it: %v", err)
	}
	log := record.NewLog(s, record.Bookings)
	if _, err := log.Update(t.Context(), by, account, id, 0, func(r *record.Record[record.Booking]) error {
		r.Body.ExternalReservationID = "R4"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := bookOne(t, s, "R3"); fleet.CodeOf(err) != fleet.CodeConflict {
		t.Errorf("whoever claimed it a moment ago may still be writing it: %v", err)
	}
	if err := db.Exec(t.Context(),
		"ALTER TABLE claim_log UPDATE at = at - INTERVAL 1 HOUR WHERE true SETTINGS mutations_sync = 1"); err != nil {
		t.Fatal(err)
	}
	if _, err := bookOne(t, s, "R3"); err != nil {
		t.Errorf("it was given up: %v", err)
	}
	if _, errs := bookMany(t, s, "R4", "R5"); fleet.CodeOf(errs[0]) != fleet.CodeConflict || errs[1] != nil {
		t.Error(errs)
	}
}
