package schematest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/query"
)

// rested has the databases that tests of this binary have done with. Emptying one takes a fiftieth of the time that
// making one does, which is most of what a short test would take. One whose schema a test has changed, or that somebody
// still talks to, is not used again.
var rested databases

// databases are those that tests have done with, the one first that has rested longest.
type databases struct {
	sync.Mutex
	names  []string
	schema map[string]uint64 // of each when it was made
}

// resting is how many databases are left alone: what a test began and did not wait for is over before another one
// gets its database.
const resting = 1

// patience is how long a statement may still go on that nobody waits for.
const patience = time.Second

func (d *databases) take() (name string, ok bool) {
	d.Lock()
	defer d.Unlock()
	if len(d.names) <= resting {
		return "", false
	}
	name, d.names = d.names[0], slices.Delete(d.names, 0, 1)
	return name, true
}

func (d *databases) give(name string) {
	d.Lock()
	defer d.Unlock()
	d.names = append(d.names, name)
}

// noteSchema notes the schema of a database that was just made, once a later change would be of a later second.
func (d *databases) noteSchema(ctx context.Context, db driver.Conn, name string) error {
	for settled := false; !settled; {
		var wait int64
		err := db.QueryRow(ctx, `SELECT toUnixTimestamp64Milli(toDateTime64(max(metadata_modification_time) + 1, 3))
			- toUnixTimestamp64Milli(now64(3)) FROM system.tables WHERE database = currentDatabase()`).Scan(&wait)
		if err != nil {
			return fmt.Errorf("read when the database was made: %w", err)
		}
		if settled = wait < 0; !settled {
			time.Sleep(time.Duration(wait+1) * time.Millisecond)
		}
	}
	made, err := schemaOf(ctx, db)
	if err != nil {
		return err
	}
	d.Lock()
	defer d.Unlock()
	if d.schema == nil {
		d.schema = make(map[string]uint64)
	}
	d.schema[name] = made
	return nil
}

func (d *databases) schemaMade(name string) uint64 {
	d.Lock()
	defer d.Unlock()
	return d.schema[name]
}

// schemaOf returns a hash of when the tables and views of a database were made or changed, and of what was applied to
// it: to say how each is made takes the server fifty times as long.
func schemaOf(ctx context.Context, db driver.Conn) (hash uint64, err error) {
	err = db.QueryRow(ctx, `SELECT
		(SELECT groupBitXor(cityHash64(name, uuid, metadata_modification_time))
			FROM system.tables WHERE database = currentDatabase())
		+ (SELECT groupBitXor(cityHash64(version, checksum)) FROM schema_versions)`).Scan(&hash)
	if err != nil {
		return 0, fmt.Errorf("read how the database is made: %w", err)
	}
	return hash, nil
}

// giveBack lets a later test have the database when this one ends; on a server that outlives the tests it is dropped.
func giveBack(t testing.TB, config query.Config) {
	t.Cleanup(func() {
		if embeddedtest.Outlived() {
			drop(t, config)
			return
		}
		rested.give(config.Database)
	})
}

// wipe brings a database to where it was when it was made.
func wipe(ctx context.Context, db driver.Conn, name string) error {
	if err := silence(ctx, db); err != nil {
		return err
	}
	schema, err := schemaOf(ctx, db)
	if err != nil {
		return err
	}
	if schema != rested.schemaMade(name) {
		return errors.New("its schema was changed")
	}
	var written []string
	if err := db.QueryRow(ctx, `SELECT groupUniqArray(table) FROM system.parts
		WHERE database = currentDatabase() AND table != 'schema_versions'`).Scan(&written); err != nil {
		return fmt.Errorf("list the tables that were written to: %w", err)
	}
	for _, table := range written {
		for _, statement := range []string{"SYSTEM START MERGES ", "TRUNCATE TABLE "} {
			if err := db.Exec(ctx, statement+table); err != nil {
				return fmt.Errorf("empty %s: %w", table, err)
			}
		}
	}
	return nil
}

// silence returns when no statement runs on a database but its own, or says that one goes on.
func silence(ctx context.Context, db driver.Conn) error {
	var talking []string
	for began := time.Now(); time.Since(began) < patience; time.Sleep(10 * time.Millisecond) {
		if err := db.QueryRow(ctx, `SELECT groupArray(query) FROM system.processes
			WHERE current_database = currentDatabase() AND query_id != initialQueryID()`).Scan(&talking); err != nil {
			return fmt.Errorf("see who talks to the database: %w", err)
		}
		if len(talking) == 0 {
			return nil
		}
	}
	return fmt.Errorf("somebody still talks to it: %q", talking)
}
