package record_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

// torn is a server that dies in an insert into the log: between the log and the views, without an answer.
type torn struct {
	driver.Conn
	views []string
	left  int // how many times more
}

func (c *torn) PrepareBatch(ctx context.Context, statement string, options ...driver.PrepareBatchOption) (driver.Batch, error) {
	if c.left == 0 {
		return c.Conn.PrepareBatch(ctx, statement, options...)
	}
	c.left--
	// The server finds the views of a table when an insert begins.
	if err := c.each("DETACH"); err != nil {
		return nil, err
	}
	b, err := c.Conn.PrepareBatch(ctx, statement, options...)
	return &tornBatch{b, c}, err
}

type tornBatch struct {
	driver.Batch
	c *torn
}

func (b *tornBatch) Send() error {
	return errors.Join(b.Batch.Send(), b.c.each("ATTACH"), errors.New("the server went away"))
}

// each detaches or attaches the views.
func (c *torn) each(what string) error {
	for _, v := range c.views {
		if err := c.Conn.Exec(context.Background(), what+" TABLE "+v); err != nil {
			return err
		}
	}
	return nil
}

// without does something while the views are away.
func (c *torn) without(do func() error) error {
	return errors.Join(c.each("DETACH"), do(), c.each("ATTACH"))
}

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
		t.Errorf("%d rows in the log, %d in the table at revision %d named %q; want one each at revision %d named %q", log, rows, newest, name, revision, nickname)
	}
}

func TestAWriteIsNotDoneBeforeItsViewsAre(t *testing.T) {
	db := &torn{Conn: schematest.Open(t), views: []string{"vehicles_feed"}}
	s := newStore(t, db, 1)
	db.left = 2
	r := create(t, s, vehicle(""))
	stands(t, db, r.ID, 1, "")
	db.left = 1
	rename(t, s, r.ID, "x")
	stands(t, db, r.ID, 2, "x")
	ids := []uint64{s.NextID(), s.NextID()}
	db.left = 1
	for _, err := range record.NewLog(s, record.Vehicles).CreateMany(t.Context(), by, account, ids, []record.Vehicle{vehicle(""), vehicle("")}) {
		if err != nil {
			t.Error(err)
		}
	}
	stands(t, db, ids[0], 1, "")
	stands(t, db, ids[1], 1, "")
	auditIsClean(t, s)
}

// When process and server die together nobody repeats the insert.
func TestWhatAnInsertDidNotBringToItsViewsIsMended(t *testing.T) {
	db := schematest.Open(t)
	s := newStore(t, db, 1)
	r := create(t, s, vehicle(""))
	whole := create(t, s, vehicle(""))
	tear := &torn{Conn: db, views: []string{"vehicles_feed"}}
	var made record.Record[record.Vehicle]
	if err := tear.without(func() error {
		rename(t, s, r.ID, "x")
		made = create(t, s, vehicle(""))
		rename(t, s, made.ID, "y")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	after, _ := later(t, db, time.Minute)
	for range 2 {
		if err := after.Mend(t.Context()); err != nil {
			t.Fatal(err)
		}
		stands(t, db, r.ID, 2, "x")
		stands(t, db, made.ID, 2, "y")
		stands(t, db, whole.ID, 1, "")
	}
	auditIsClean(t, s)
	var rows uint64
	if err := db.QueryRow(t.Context(), "SELECT count() FROM vehicles").Scan(&rows); err != nil || rows > 5 {
		t.Errorf("%d rows in the table, %v: whole ones were fed again", rows, err)
	}
}

// Every view of the log fills a table in which Mend can tell what is missing.
func TestEveryViewOfTheLogCanBeMended(t *testing.T) {
	db := schematest.Open(t)
	s := newStore(t, db, 1)
	tear := &torn{Conn: db}
	rows, err := db.Query(t.Context(), schemas.Query("record_feeds"))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var text, table, key string
		var columns []string
		var revisions bool
		if err := rows.Scan(&text, &columns, &table, &key, &revisions); err != nil {
			t.Fatal(err)
		}
		if !revisions {
			t.Errorf("%s has no column revision: what is missing in it cannot be told", table)
		}
		tables = append(tables, table)
	}
	var views uint64
	if err := db.QueryRow(t.Context(), `SELECT countIf(engine = 'MaterializedView' AND create_table_query ILIKE '%record_log%') FROM system.tables
		WHERE database = currentDatabase()`).Scan(&views); err != nil || int(views) != len(tables) || views < 5 {
		t.Fatalf("%d views, %v; known are %v", views, err, tables)
	}
	for _, table := range tables {
		tear.views = append(tear.views, table+"_feed")
	}
	if err := tear.without(func() error {
		create(t, s, vehicle("A"))
		_, _, err := record.NewLog(s, record.Jobs).Create(t.Context(), by, account, s.NextID(), record.Job{Kind: "x"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	after, _ := later(t, db, time.Minute)
	if err := after.Mend(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"vehicles", "jobs"} {
		var n uint64
		if err := db.QueryRow(t.Context(), fmt.Sprintf("SELECT count() FROM %s", table)).Scan(&n); err != nil || n != 1 {
			t.Errorf("%s has %d rows, %v", table, n, err)
		}
	}
}
