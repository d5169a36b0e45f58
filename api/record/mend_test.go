package record_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// torn is a server that goes away between the log and the tables of current records.
type torn struct {
	driver.Conn
	left int  // how many times more, without doing anything
	dead bool // or for good, and its writers with it: nobody sees an error
}

func (c *torn) Exec(ctx context.Context, text string, args ...any) error {
	if err := c.away(text); err != nil {
		return err
	}
	if c.dead && feeds(text) {
		return nil
	}
	return c.Conn.Exec(ctx, text, args...)
}

func (c *torn) PrepareBatch(ctx context.Context, text string,
	options ...driver.PrepareBatchOption) (driver.Batch, error) {
	if err := c.away(text); err != nil {
		return nil, err
	}
	b, err := c.Conn.PrepareBatch(ctx, text, options...)
	if err == nil && c.dead && feeds(text) {
		return &unsent{b}, nil
	}
	return b, err
}

// away is the error of a server that went away before a table was fed.
func (c *torn) away(text string) error {
	if c.left > 0 && feeds(text) {
		c.left--
		return errors.New("the server went away")
	}
	return nil
}

// feeds says whether a statement brings revisions to a table of current records.
func feeds(text string) bool {
	begins := func(f schemas.Feed) bool { return strings.HasPrefix(text, strings.TrimSuffix(f.Insert(), ")")) }
	return slices.ContainsFunc(schemas.Feeds(), begins)
}

// unsent is a batch of which the server hears nothing.
type unsent struct{ driver.Batch }

func (b *unsent) Send() error { return b.Abort() }

// stands checks that a vehicle is there once in the log and once in the table, at a revision.
func stands(t *testing.T, db driver.Conn, id, revision uint64, nickname string) {
	t.Helper()
	var log, rows, newest uint64
	var name string
	if err := db.QueryRow(t.Context(), `SELECT (SELECT count() FROM record_log WHERE id = $1 AND revision = $2),
		count(), max(revision), any(nickname) FROM vehicles FINAL WHERE id = $1`, id, revision).Scan(&log, &rows, &newest, &name); err != nil {
		t.Fatal(err)
	}
	if log != 1 || rows != 1 || newest != revision || name != nickname {
		t.Errorf("%d rows in the log, %d in the table at revision %d named %q; want one each at revision %d named %q", log,
			rows, newest, name, revision, nickname)
	}
}

func TestAWriteIsNotDoneBeforeItsTablesKnowIt(t *testing.T) {
	db := &torn{Conn: schematest.Open(t)}
	s := newStore(t, db, 1)
	db.left = 2
	r := create(t, s, vehicle(""))
	stands(t, db, r.ID, 1, "")
	db.left = 1
	rename(t, s, r.ID, "x")
	stands(t, db, r.ID, 2, "x")
	ids := []uint64{s.NextID(), s.NextID()}
	db.left = 1
	for _, err := range record.NewLog(s, record.Vehicles).CreateMany(t.Context(), by, account, ids,
		[]record.Vehicle{vehicle(""), vehicle("")}) {
		if err != nil {
			t.Error(err)
		}
	}
	stands(t, db, ids[0], 1, "")
	stands(t, db, ids[1], 1, "")
	auditIsClean(t, s)
}

// When a process dies nobody repeats what it did not come to.
func TestWhatAWriteDidNotBringToItsTablesIsMended(t *testing.T) {
	db := schematest.Open(t)
	s := newStore(t, db, 1)
	r := create(t, s, vehicle(""))
	whole := create(t, s, vehicle(""))
	dying := newStore(t, &torn{Conn: db, dead: true}, 2)
	rename(t, dying, r.ID, "x")
	made := create(t, dying, vehicle(""))
	rename(t, dying, made.ID, "y")
	// Whoever starts next does so at once, and later again.
	if err := newStore(t, db, 3).Mend(t.Context()); err != nil {
		t.Fatal(err)
	}
	stands(t, db, r.ID, 2, "x")
	stands(t, db, made.ID, 2, "y")
	rename(t, dying, r.ID, "z")
	after, _ := later(t, db, time.Minute)
	for range 2 {
		if err := after.Mend(t.Context()); err != nil {
			t.Fatal(err)
		}
		stands(t, db, r.ID, 3, "z")
		stands(t, db, made.ID, 2, "y")
		stands(t, db, whole.ID, 1, "")
	}
	auditIsClean(t, s)
	var rows uint64
	if err := db.QueryRow(t.Context(), "SELECT count() FROM vehicles").Scan(&rows); err != nil || rows > 6 {
		t.Errorf("%d rows in the table, %v: whole ones were fed again", rows, err)
	}
}

// Every feed fills a table of which Mend can tell what is missing.
func TestEveryFeedCanBeMended(t *testing.T) {
	db := schematest.Open(t)
	for _, f := range schemas.Feeds() {
		if !slices.Contains(f.Columns, "revision") {
			t.Errorf("%s has no column revision: what is missing in it cannot be told", f.Table)
		}
		for i, kind := range f.Kinds {
			if err := db.Exec(t.Context(),
				"INSERT INTO record_log (account, kind, id, revision, at, body) VALUES (1, $1, $2, 3, $3, '{}')", kind, 7+i,
				time.Now()); err != nil {
				t.Fatal(err)
			}
		}
	}
	after, _ := later(t, db, time.Minute)
	if err := after.Mend(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, f := range schemas.Feeds() {
		var n uint64
		if err := db.QueryRow(t.Context(),
			fmt.Sprintf("SELECT count() FROM %s WHERE revision = 3", f.Table)).Scan(&n); err != nil || int(n) < len(f.Kinds) {
			t.Errorf("%s has %d rows of %v, %v", f.Table, n, f.Kinds, err)
		}
	}
}

// A caller who goes away after the insert leaves nothing half written.
func TestWhoGoesAwayCutsNothing(t *testing.T) {
	db := schematest.Open(t)
	ctx, leave := context.WithCancel(t.Context())
	s := newStore(t, &leaving{Conn: db, leave: leave}, 1)
	id := s.NextID()
	_, _, _ = record.NewLog(s, record.Vehicles).Create(ctx, by, account, id, vehicle("")) // it may have heard
	if ctx.Err() == nil {
		t.Fatal("nobody went away")
	}
	until := time.Now().Add(time.Minute)
	for n := uint64(0); n == 0; {
		if time.Now().After(until) {
			t.Fatal("the vehicle did not come to its table")
		}
		if err := db.QueryRow(t.Context(), "SELECT count() FROM vehicles WHERE id = $1", id).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
}

// leaving is a server whose caller goes away as soon as the log has a revision.
type leaving struct {
	driver.Conn
	leave func()
}

func (c *leaving) PrepareBatch(ctx context.Context, statement string,
	options ...driver.PrepareBatchOption) (driver.Batch, error) {
	b, err := c.Conn.PrepareBatch(ctx, statement, options...)
	if err != nil || !strings.Contains(statement, "record_log") {
		return b, err
	}
	return &leavingBatch{b, c.leave}, nil
}

type leavingBatch struct {
	driver.Batch
	leave func()
}

func (b *leavingBatch) Send() error {
	defer b.leave()
	return b.Batch.Send()
}
