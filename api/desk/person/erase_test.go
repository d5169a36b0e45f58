package person

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas/schematest"
)

// spied is a connection of which before and after are told each statement that is carried out; before may say that
// it is not to be.
type spied struct {
	driver.Conn
	before func(text string) bool
	after  func(text string)
}

func (c *spied) Exec(ctx context.Context, text string, args ...any) error {
	if c.before != nil && !c.before(text) {
		return nil
	}
	err := c.Conn.Exec(ctx, text, args...)
	if c.after != nil {
		c.after(text)
	}
	return err
}

// nowhere checks that a text stands in none of the tables that hold what customers are, not even in rows that others
// have replaced.
func nowhere(t *testing.T, db driver.Conn, text string) {
	t.Helper()
	for _, table := range []string{"record_log", "customers", "customer_notes", "documents", "job_output"} {
		var with uint64
		if err := db.QueryRow(t.Context(), fmt.Sprintf("SELECT countIf(position(body, $1) > 0) FROM %s", table),
			text).Scan(&with); err != nil {
			t.Fatal(err)
		}
		if with != 0 {
			t.Errorf("%s still stands in %d rows of %s", text, with, table)
		}
	}
}

// What a process wrote that died before any table knew it is erased with the rest, and whoever mends the tables
// brings nothing back.
func TestErasureFindsWhatNoTableKnowsYet(t *testing.T) {
	db := schematest.Open(t)
	d := on(t, db, time.Now)
	dying, err := record.NewStore(record.Config{Deadline: time.Minute, Abandoned: 2 * time.Minute},
		&spied{Conn: db, before: func(text string) bool {
			return !strings.HasPrefix(text, "INSERT INTO ")
		}}, fleet.NewIDSource(9, time.Now), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	text := put(t, d, d.Customers, record.Customer{CustomerFields: record.CustomerFields{FirstName: "Ada"}})
	other := number(fleet.CustomerPrefix,
		put(t, d, d.Customers, record.Customer{CustomerFields: record.CustomerFields{FirstName: "Quuxington"}}))
	if _, err := record.NewLog(dying, record.Customers).Archive(t.Context(), by, account, other, 0,
		func(r *record.Record[record.Customer]) error {
			r.Body.MergedInto = text
			return nil
		}); err != nil {
		t.Fatal(err)
	}
	cut := &Persons{Base: &base.Base{Store: dying}}
	put(t, cut, record.NewLog(dying, record.Notes),
		record.Note{CustomerID: text, NoteFields: record.NoteFields{Text: "Quuxington called"}})
	put(t, cut, record.NewLog(dying, record.Documents),
		record.Document{CustomerID: text, DocumentFields: record.DocumentFields{Name: "Quuxington's passport"}})

	id := number(fleet.CustomerPrefix, text)
	if _, err := d.DecideErasure(t.Context(), by, account, id, "asked", false); err != nil {
		t.Fatal(err)
	}
	if err := d.FinishErasure(t.Context(), by, account, id); err != nil {
		t.Fatal(err)
	}
	if err := on(t, db, func() time.Time { return time.Now().Add(time.Minute) }).Store.Mend(t.Context()); err != nil {
		t.Fatal(err)
	}
	nowhere(t, db, "Quuxington")
	if rec, err := d.Customers.Get(t.Context(), account, other); err != nil || rec.Body.ErasedAt.IsZero() {
		t.Errorf("the one that was merged is not erased: %v", err)
	}
}

// exporting is a connection at which somebody exports all customers before anything is written.
type exporting struct {
	driver.Conn
	t     *testing.T
	times int
}

func (c *exporting) export() {
	c.times++
	if err := c.Conn.Exec(c.t.Context(),
		"INSERT INTO job_output (* EXCEPT keep_days) SELECT account, $1, 1, 1, now(), body FROM customers FINAL SETTINGS insert_deduplicate = 0",
		c.times); err != nil {
		c.t.Error(err)
	}
}

func (c *exporting) Exec(ctx context.Context, text string, args ...any) error {
	c.export()
	return c.Conn.Exec(ctx, text, args...)
}

func (c *exporting) PrepareBatch(ctx context.Context, text string,
	opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	c.export()
	return c.Conn.PrepareBatch(ctx, text, opts...)
}

// Whenever somebody exports customers while one is being erased: when that is done, no result tells the person.
func TestWhatIsExportedMeanwhileDoesNotOutliveAnErasure(t *testing.T) {
	db := schematest.Open(t)
	d := on(t, db, time.Now)
	id := number(fleet.CustomerPrefix, put(t, d, d.Customers,
		record.Customer{CustomerFields: record.CustomerFields{FirstName: "Ada", LastName: "Quuxington"}}))
	conn := &exporting{Conn: db, t: t}
	d = on(t, conn, time.Now)
	if _, err := d.DecideErasure(t.Context(), by, account, id, "asked", false); err != nil {
		t.Fatal(err)
	}
	if err := d.FinishErasure(t.Context(), by, account, id); err != nil {
		t.Fatal(err)
	}
	nowhere(t, db, "Quuxington")
	var emptied uint64
	if err := db.QueryRow(t.Context(), "SELECT countIf(body = '{}') FROM job_output").Scan(&emptied); err != nil ||
		emptied == 0 {
		t.Errorf("%d of %d exports were emptied: the test proves nothing, %v", emptied, conn.times, err)
	}
}

// dying is the connection of a process that dies between the log and the tables of current records.
type dying struct{ driver.Conn }

func (c *dying) Exec(ctx context.Context, text string, args ...any) error {
	if strings.HasPrefix(text, "INSERT INTO ") {
		return nil
	}
	return c.Conn.Exec(ctx, text, args...)
}

func (c *dying) PrepareBatch(ctx context.Context, text string,
	opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	if strings.HasPrefix(text, "INSERT INTO bookings ") {
		return nil, errors.New("it is dying")
	}
	return c.Conn.PrepareBatch(ctx, text, opts...)
}

// A booking or a payment that no table knows yet, of a customer or of one of whose merge none knows, keeps the customer
// from being erased.
func TestErasureSeesWhatIsOutstandingAtOnce(t *testing.T) {
	db := schematest.Open(t)
	d := on(t, db, time.Now)
	if err := d.Store.Mend(t.Context()); err != nil { // as a process does that starts
		t.Fatal(err)
	}
	cut := on(t, &dying{db}, time.Now)
	refused := func(what, id, code string) {
		t.Helper()
		_, err := d.DecideErasure(t.Context(), by, account, number(fleet.CustomerPrefix, id), "asked", false)
		if e, ok := errors.AsType[*fleet.Error](err); !ok || e.Code != fleet.CodeConflict || len(e.Fields) != 1 ||
			e.Fields[0].Code != code {
			t.Errorf("%s: %v", what, err)
		}
	}
	customer := func() string { return put(t, d, d.Customers, record.Customer{}) }
	ann, bob, cid := customer(), customer(), customer()
	put(t, cut, cut.Bookings,
		record.Booking{BookingFields: record.BookingFields{CustomerID: ann}, Status: record.BookingConfirmed})
	refused("a booking", ann, "booking_open")
	old := put(t, d, d.Bookings,
		record.Booking{BookingFields: record.BookingFields{CustomerID: bob}, Status: record.BookingCompleted})
	put(t, cut, cut.Payments, record.Payment{PaymentFields: record.PaymentFields{BookingID: old, CustomerID: bob,
		Direction: "in", Amount: record.Money{Amount: 500, Currency: "USD"}}, Status: record.PaymentSucceeded})
	refused("a payment", bob, "balance_open")
	gone := customer()
	put(t, d, d.Bookings,
		record.Booking{BookingFields: record.BookingFields{CustomerID: gone}, Status: record.BookingConfirmed})
	if _, err := cut.Customers.Archive(t.Context(), by, account, number(fleet.CustomerPrefix, gone), 0,
		func(r *record.Record[record.Customer]) error {
			r.Body.MergedInto = cid
			return nil
		}); err != nil {
		t.Fatal(err)
	}
	refused("a merge", cid, "booking_open")
}

// A row that somebody has read from the log, and brings to the table when that was emptied already, goes as well.
func TestErasureTakesAlsoTheRowThatComesLate(t *testing.T) {
	db := schematest.Open(t)
	late := &spied{Conn: db}
	d := on(t, late, time.Now)
	id := number(fleet.CustomerPrefix,
		put(t, d, d.Customers, record.Customer{CustomerFields: record.CustomerFields{FirstName: "Quuxington"}}))
	if err := db.Exec(t.Context(), "CREATE TABLE late ENGINE = Memory AS SELECT * FROM customers"); err != nil {
		t.Fatal(err)
	}
	came := 0
	late.after = func(text string) {
		if strings.Contains(text, "ALTER TABLE customers\nDELETE") {
			if came++; came == 1 {
				if err := db.Exec(t.Context(), "INSERT INTO customers SELECT * FROM late"); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if _, err := d.DecideErasure(t.Context(), by, account, id, "asked", false); err != nil {
		t.Fatal(err)
	}
	if err := d.FinishErasure(t.Context(), by, account, id); err != nil {
		t.Fatal(err)
	}
	if came == 0 {
		t.Error("no row came late")
	}
	nowhere(t, db, "Quuxington")
}
