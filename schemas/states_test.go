package schemas_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

var release = flag.String("release", "", "keep the newest schema in states/ as that of a release, such as v0.1.0")

// TestUpgradeFromEveryRelease brings databases as each release made them, with rows in every table, to the newest
// schema. They must end up as a database that is made today, and lose no row. A file that a release has applied is
// never edited, renamed or removed: what changes is a new file. Each release keeps its state by make state
// RELEASE=v0.1.0.
func TestUpgradeFromEveryRelease(t *testing.T) {
	fresh := schematest.Open(t)
	if *release != "" {
		text := strings.Join(append(objects(t, fresh), versions()), ";\n\n") + ";\n"
		if err := os.WriteFile(filepath.Join("states", *release+".sql"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob("states/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d releases, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".sql"), func(t *testing.T) {
			db := schematest.Empty(t)
			restore(t, db, file)
			before := fillTables(t, db)
			if _, err := schemas.Apply(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			same(t, objects(t, db), objects(t, fresh))
			after := rowsOf(t, db)
			for table, rows := range before {
				if left, stands := after[table]; stands && left != rows {
					t.Errorf("%s has %d of %d rows", table, left, rows)
				}
			}
		})
	}
}

// TestNothingDerivedIsLostWhileTablesAreMadeAnew upgrades the first release by several processes at once, after another
// one derived what no longer came into the tables that they took over. Afterwards the tables have it, and get what is
// derived from then on.
func TestNothingDerivedIsLostWhileTablesAreMadeAnew(t *testing.T) {
	db := schematest.Empty(t)
	restore(t, db, "states/v0.1.0.sql")
	tables := map[string]string{"trip": "trips", "stop": "stops", "charge": "charges", "visit": "visits",
		"driving_event": "driving_events", "alert": "alerts", "route_run": "route_runs"}
	derive := func(id int, ago string) {
		for kind := range tables {
			insert := fmt.Sprintf(`INSERT INTO derivations (account, vehicle, kind, id, revision, start_at, end_at, written_at, body)
				SELECT 1, 2, '%s', %d, 1, now() - INTERVAL %s, now() - INTERVAL %[3]s, now() - INTERVAL %[3]s, '{}'`, kind, id, ago)
			if err := db.Exec(t.Context(), insert); err != nil {
				t.Fatal(err)
			}
		}
	}
	derive(10, "300 DAY")
	derive(11, "280 DAY")
	derive(12, "1 MINUTE")
	for _, table := range tables {
		if err := db.Exec(t.Context(), "DELETE FROM "+table+" WHERE id = 12"); err != nil {
			t.Fatal(err)
		}
	}
	applied := make(chan error)
	for range 3 {
		go func() {
			_, err := schemas.Apply(t.Context(), db)
			applied <- err
		}()
	}
	for range 3 {
		if err := <-applied; err != nil {
			t.Fatal(err)
		}
	}
	derive(13, "0 MINUTE")
	for kind, table := range tables {
		var ids []uint64
		if err := db.QueryRow(t.Context(), "SELECT groupArray(id) FROM (SELECT id FROM "+table+" FINAL ORDER BY id)").
			Scan(&ids); err != nil {
			t.Fatal(err)
		}
		if want := []uint64{10, 11, 12, 13}; !slices.Equal(ids, want) {
			t.Errorf("of kind %s the table has %d, want %d", kind, ids, want)
		}
	}
}

// TestATableIsNotMadeAnewBehindWhoHasDoneThat has a process that began to upgrade before another was done come to a
// file that makes a table anew when the other may be writing already.
func TestATableIsNotMadeAnewBehindWhoHasDoneThat(t *testing.T) {
	db := schematest.Open(t)
	made := func() (id string) {
		t.Helper()
		if err := db.QueryRow(t.Context(), "SELECT toString(uuid) FROM system.tables "+
			"WHERE database = currentDatabase() AND name = 'trips'").Scan(&id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	before, met := made(), 0
	for _, m := range schemas.Migrations() {
		if strings.Contains(m.SQL, "CREATE OR REPLACE TABLE trips ") {
			met++
			if err := schemas.ApplyOne(t.Context(), db, m, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if after := made(); met != 1 || after != before {
		t.Errorf("%d files make trips anew, and it is %s where it was %s", met, after, before)
	}
}

// same fails for what a database has of objects and another has not.
func same(t *testing.T, got, want []string) {
	t.Helper()
	for _, object := range want {
		if !slices.Contains(got, object) {
			t.Errorf("it lacks\n%s", object)
		}
	}
	for _, object := range got {
		if !slices.Contains(want, object) {
			t.Errorf("it has what it ought not to\n%s", object)
		}
	}
}

// objects returns the statements that make the tables and views of a database as they stand: tables, then views.
func objects(t *testing.T, db driver.Conn) []string {
	t.Helper()
	var all []string
	row := db.QueryRow(t.Context(), `
		SELECT groupArray(formatQuery(replaceAll(create_table_query, currentDatabase() || '.', '')))
		FROM (SELECT * FROM system.tables WHERE database = currentDatabase() ORDER BY engine LIKE '%View', name)`)
	if err := row.Scan(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// versions returns the statement that notes all migrations as applied.
func versions() string {
	var rows []string
	for _, m := range schemas.Migrations() {
		rows = append(rows, fmt.Sprintf("    ('%s', '%s')", m.Version, m.Checksum))
	}
	return "INSERT INTO schema_versions (version, checksum) VALUES\n" + strings.Join(rows, ",\n")
}

// restore makes a database as a release made it. Every file that was applied there must stand today, and what came
// later have higher numbers.
func restore(t *testing.T, db driver.Conn, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for statement := range strings.SplitSeq(strings.TrimSuffix(string(text), ";\n"), ";\n\n") {
		if err := db.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%v\n%s", err, statement)
		}
	}
	applied, err := schemas.Applied(t.Context(), db)
	if err != nil || len(applied) == 0 {
		t.Fatalf("%d migrations applied, %v", len(applied), err)
	}
	newest := slices.Max(slices.Collect(maps.Keys(applied)))
	for _, m := range schemas.Migrations() {
		if applied[m.Version] == "" && m.Version < newest {
			t.Errorf("%s has a lower number than %s, which this release has applied", m.Version, newest)
		}
		delete(applied, m.Version)
	}
	for version := range applied {
		t.Errorf("%s was applied by this release and stands no more", version)
	}
}

// fillTables inserts some rows into every table and returns how many there are now.
func fillTables(t *testing.T, db driver.Conn) map[string]uint64 {
	t.Helper()
	rows, err := db.Query(t.Context(), `SELECT table, arrayStringConcat(groupArray('`+"`' || name || '`"+`'), ', '),
			arrayStringConcat(groupArray(value), ', ')
		FROM (
			SELECT table, name, multiIf(
				match(type, '^(Nullable\\()?DateTime'), 'now()',
				match(type, '^Date'), 'today()',
				match(type, '^(Nullable\\()?(U?Int|Float)'), 'number + 1',
				match(type, '^(LowCardinality\\()?String'), 'toString(number + 1)', '') AS value
			FROM system.columns
			WHERE database = currentDatabase() AND default_kind NOT IN ('ALIAS', 'MATERIALIZED')
				AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree')
		)
		WHERE table != 'schema_versions' AND value != ''
		GROUP BY table`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var table, columns, values string
		if err := rows.Scan(&table, &columns, &values); err != nil {
			t.Fatal(err)
		}
		insert := fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM numbers(3)", table, columns, values)
		if err := db.Exec(t.Context(), insert); err != nil {
			t.Fatalf("%v\n%s", err, insert)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	all := rowsOf(t, db)
	for table, n := range all {
		if n < 3 {
			t.Errorf("%s has %d rows", table, n)
		}
	}
	return all
}

// rowsOf returns how many different keys the rows of each table have.
func rowsOf(t *testing.T, db driver.Conn) map[string]uint64 {
	t.Helper()
	var tables, keys []string
	row := db.QueryRow(t.Context(), `SELECT groupArray(name), groupArray(sorting_key)
		FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_versions'`)
	if err := row.Scan(&tables, &keys); err != nil {
		t.Fatal(err)
	}
	all := map[string]uint64{}
	for i, table := range tables {
		var n uint64
		row := db.QueryRow(t.Context(), fmt.Sprintf("SELECT uniqExact(%s) FROM %s", keys[i], table))
		if err := row.Scan(&n); err != nil {
			t.Fatal(err)
		}
		all[table] = n
	}
	return all
}
