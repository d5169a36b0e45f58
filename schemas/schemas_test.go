package schemas_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

func TestApplyBringsAnEmptyDatabaseToTheNewestSchemaOnce(t *testing.T) {
	db := schematest.Empty(t)
	done, err := schemas.Apply(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	if len(done) != len(schemas.Migrations()) {
		t.Errorf("first Apply did %d of %d migrations", len(done), len(schemas.Migrations()))
	}
	if done, err = schemas.Apply(t.Context(), db); err != nil || len(done) != 0 {
		t.Errorf("second Apply did %v, %v; want nothing", done, err)
	}
	known, err := schemas.Applied(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range schemas.Migrations() {
		if known[m.Version] != m.Checksum {
			t.Errorf("%s is noted with checksum %q", m.Version, known[m.Version])
		}
	}
}

func TestApplyByManyProcessesAtOnceGivesOneSchema(t *testing.T) {
	db := schematest.Empty(t)
	var group errgroup.Group
	for range 4 {
		group.Go(func() error {
			_, err := schemas.Apply(t.Context(), db)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	var tables uint64
	if err := db.QueryRow(t.Context(),
		"SELECT count() FROM system.tables WHERE database = currentDatabase()").Scan(&tables); err != nil {
		t.Fatal(err)
	}
	want := uint64(1) // schema_versions
	for _, m := range schemas.Migrations() {
		if strings.Contains(m.SQL, "CREATE ") && !strings.Contains(m.SQL, "CREATE OR REPLACE ") {
			want++
		}
		for _, drop := range []string{"DROP VIEW IF EXISTS ", "DROP TABLE IF EXISTS "} {
			if _, list, ok := strings.Cut(m.SQL, drop); ok {
				want -= uint64(len(strings.Split(list, ",")))
			}
		}
	}
	if tables != want {
		t.Errorf("%d tables and views, want %d: one for each that a migration makes, less what others drop, and schema_versions", tables, want)
	}
}

// What another process has begun to write anew, and is not done with, is not begun once more.
func TestApplyBeginsNothingThatIsUnderWay(t *testing.T) {
	t.Parallel()
	db := schematest.Open(t)
	for _, text := range []string{"INSERT INTO trips (account, vehicle, id) VALUES (7, 1, 1)", "SYSTEM STOP MERGES trips"} {
		if err := db.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	apply := func() (under uint64) {
		t.Helper()
		if err := db.Exec(t.Context(), `ALTER TABLE schema_versions DELETE WHERE version = '5571_trips_end_at_index'
			SETTINGS mutations_sync = 2`); err != nil {
			t.Fatal(err)
		}
		if done, err := schemas.Apply(t.Context(), db); err != nil || len(done) != 1 {
			t.Fatalf("applied %v, %v", done, err)
		}
		if err := db.QueryRow(t.Context(), `SELECT count() FROM system.mutations WHERE database = currentDatabase()
			AND table = 'trips' AND command LIKE '%end_at_minmax%' AND NOT is_done`).Scan(&under); err != nil {
			t.Fatal(err)
		}
		return under
	}
	if first, again := apply(), apply(); first != 1 || again != 1 {
		t.Errorf("%d are under way, and then %d", first, again)
	}
}

// A column or an index is dropped while another file has older parts written anew, as of many bookings: that is waited
// for.
func TestApplyWaitsForWhatIsWrittenAnew(t *testing.T) {
	t.Parallel()
	db := schematest.Open(t)
	for _, text := range []string{
		"INSERT INTO bookings (account, id) VALUES (7, 1)", "SYSTEM STOP MERGES bookings",
		"ALTER TABLE bookings MATERIALIZE COLUMN agreed_minor SETTINGS mutations_sync = 0",
		`ALTER TABLE schema_versions DELETE WHERE version IN ('6313_bookings_without_taxed', '6316_bookings_without_pace')
			SETTINGS mutations_sync = 2`,
	} {
		if err := db.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if done, err := schemas.Apply(ctx, db); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("while nothing is written anew %v were applied: %v", done, err)
	}
	if err := db.Exec(t.Context(), "SYSTEM START MERGES bookings"); err != nil {
		t.Fatal(err)
	}
	if done, err := schemas.Apply(t.Context(), db); err != nil || len(done) != 2 {
		t.Errorf("afterwards %v were applied: %v", done, err)
	}
}

func TestApplyRefusesAFileThatWasEditedAfterItWasApplied(t *testing.T) {
	db := schematest.Open(t)
	version := schemas.Migrations()[3].Version
	if err := db.Exec(t.Context(),
		"INSERT INTO schema_versions (version, checksum, applied_at) VALUES ($1, 'other', now64(3) + 1)",
		version); err != nil {
		t.Fatal(err)
	}
	_, err := schemas.Apply(t.Context(), db)
	if err == nil || !strings.Contains(err.Error(), version) || !strings.Contains(err.Error(), "edited") {
		t.Errorf("Apply after an edit: %v; want an error that names %s", err, version)
	}
}

// A record is read in a granule of half a megabyte; the first file that makes the table says so.
func TestTheLogHasSmallGranules(t *testing.T) {
	var engine string
	if err := schematest.Open(t).QueryRow(t.Context(),
		"SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = 'record_log'").
		Scan(&engine); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(engine, "index_granularity_bytes = 524288") {
		t.Error(engine)
	}
}

// Every file of tables/ and views/ opens with a comment. What makes an object has its name, and no other file makes it;
// what makes it anew has another.
func TestEveryMigrationMakesTheObjectItIsNamedAfter(t *testing.T) {
	named := regexp.MustCompile(`(?m)^CREATE (?:TABLE|VIEW|MATERIALIZED VIEW) IF NOT EXISTS (\w+)`)
	seen, made := map[string]bool{}, map[string]bool{}
	for _, m := range schemas.Migrations() {
		number, name, ok := strings.Cut(m.Version, "_")
		if !ok || len(number) != 4 || seen[number] {
			t.Errorf("%s: want a four-digit number of its own and a name", m.Version)
		}
		seen[number] = true
		if !strings.HasPrefix(m.SQL, "-- ") {
			t.Errorf("%s does not open with a comment", m.Version)
		}
		if strings.Contains(m.SQL, "CREATE ") && !strings.Contains(m.SQL, "CREATE OR REPLACE ") {
			match := named.FindStringSubmatch(m.SQL)
			if match == nil || match[1] != name || made[name] {
				t.Errorf("%s makes %v, which another file makes or it is not named after", m.Version, match)
			}
			made[name] = true
		}
		if strings.Contains(m.SQL, "MergeTree") && !strings.Contains(m.SQL, "non_replicated_deduplication_window") {
			t.Errorf("%s does not set its deduplication window, which is off by default", m.Version)
		}
	}
}
