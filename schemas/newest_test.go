package schemas_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

var updateNewest = flag.Bool("update-newest", false, "write newest.sql anew, after a migration came")

// A database that is made at once is as the migrations make it one after the other.
func TestTheNewestSchemaIsWhatTheMigrationsMake(t *testing.T) {
	db := schematest.Empty(t)
	if err := db.Exec(t.Context(), schemas.Migrations()[0].SQL); err != nil { // so it is in use
		t.Fatal(err)
	}
	if _, err := schemas.Apply(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	made := objects(t, db)
	if *updateNewest {
		text := strings.Builder{}
		text.WriteString(newestHead)
		for _, object := range made {
			if !strings.HasPrefix(object, "CREATE TABLE schema_versions\n") {
				kind, rest, _ := strings.Cut(object, " "+nameOf(object))
				text.WriteString(kind + " IF NOT EXISTS " + nameOf(object) + rest + ";\n\n")
			}
		}
		if err := os.WriteFile("newest.sql", []byte(strings.TrimSuffix(text.String(), "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	db = schematest.Empty(t)
	if _, err := schemas.Apply(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if same(t, objects(t, db), made); t.Failed() {
		t.Log("after a migration came: make newest")
	}
}

const newestHead = `-- All tables and views as they stand after the last migration, as the server writes them: what a new database is made of.
-- "make newest" writes this file. What each is for, the migrations say.
`

// nameOf is the name of a table or a view in the statement that makes it.
func nameOf(object string) string {
	for _, kind := range []string{"CREATE TABLE ", "CREATE MATERIALIZED VIEW ", "CREATE VIEW "} {
		if rest, ok := strings.CutPrefix(object, kind); ok {
			return strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == '\n' })[0]
		}
	}
	return ""
}

// A start that was killed while it made the tables goes on where it stood.
func TestANewDatabaseThatIsHalfMadeIsMadeWhole(t *testing.T) {
	t.Parallel()
	whole := schematest.Open(t)
	for _, statements := range []int{1, 2, 60, 130} {
		db := schematest.Empty(t)
		if _, err := schemas.Apply(t.Context(), &killed{Conn: db, after: statements}); !errors.Is(err, errKilled) {
			t.Fatalf("after %d statements: %v", statements, err)
		}
		if _, err := schemas.Apply(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		same(t, objects(t, db), objects(t, whole))
		if done, err := schemas.Apply(t.Context(), db); err != nil || len(done) > 0 {
			t.Errorf("once more: %v, %v", done, err)
		}
	}
}

// What another version has half made is not mixed with this one's tables.
func TestADatabaseThatAnotherVersionHasHalfMadeIsRefused(t *testing.T) {
	t.Parallel()
	db := schematest.Empty(t)
	if _, err := schemas.Apply(t.Context(), &killed{Conn: db, after: 9}); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	if err := db.Exec(t.Context(),
		"INSERT INTO schema_versions (version, checksum, applied_at) VALUES ('0000_newest', 'other', now64(3) + 1)"); err != nil {
		t.Fatal(err)
	}
	if _, err := schemas.Apply(t.Context(), db); err == nil || !strings.Contains(err.Error(), "drop the database") {
		t.Errorf("it was not refused: %v", err)
	}
}

var errKilled = errors.New("killed")

// killed is a connection of a process that is killed after some statements.
type killed struct {
	driver.Conn
	after int
}

func (k *killed) Exec(ctx context.Context, text string, args ...any) error {
	if k.after--; k.after < 0 {
		return errKilled
	}
	return k.Conn.Exec(ctx, text, args...)
}
