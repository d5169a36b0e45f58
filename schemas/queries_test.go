package schemas_test

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/ext"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
	"github.com/motorpool/fleet/schemas/schematest"
)

var (
	parameter = regexp.MustCompile(`\{(\w+):\s*([^{}]+)\}`)
	// A query that joins rows sent along with it says so in its opening comment: "-- External: name (column Type, ...)".
	external = regexp.MustCompile(`(?m)^-- External: (\w+) \(([^()]*)\)`)
	change   = regexp.MustCompile(`(?m)^(DELETE|ALTER|INSERT|OPTIMIZE) `) // answers with no rows
	// What a mark of a query that is put together stands for here; those not named are left as the comments they are.
	// TestEveryListingRuns of query executes these queries with what every listing puts there.
	marks = strings.NewReplacer("/*table*/", "vehicles", "/*search*/", "make", "/*column*/", "make", "/*what*/", "count()",
		"/*total*/", "count() OVER ()", "/*feed*/", "vehicles", "/*key*/", "account, id, revision", "/*partition*/",
		"revision", "/*time*/", "updated_at", "/*there*/", "true", "/*by*/", "device", "/*due*/",
		"status = 'active'", "/*most*/", "20")
	derivedMarks = strings.NewReplacer("/*table*/", "trips", "/*by*/", "start_at", "/*after*/", "true",
		"/*direction*/", "DESC")

	externalColumn = regexp.MustCompile(`(\w+) (\w+)`)
)

// TestEveryQueryRuns executes each file of queries/ against the newest schema, with the neutral value of each
// parameter's type.
func TestEveryQueryRuns(t *testing.T) {
	db := schematest.Open(t)
	for _, name := range schemas.QueryNames() {
		t.Run(name, func(t *testing.T) {
			text := schemas.Query(name)
			if strings.HasPrefix(name, "derived_") {
				text = derivedMarks.Replace(text)
			}
			text = marks.Replace(text)
			if !strings.HasPrefix(text, "-- ") {
				t.Error("does not open with a comment")
			}
			ctx := withNeutral(t, text)
			if change.MatchString(text) {
				if err := db.Exec(ctx, text); err != nil {
					t.Fatal(err)
				}
				return
			}
			rows, err := db.Query(ctx, text)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			for rows.Next() {
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// withNeutral is the context of a query, with what it needs sent along.
func withNeutral(t *testing.T, text string) context.Context {
	return clickhouse.Context(t.Context(), clickhouse.WithParameters(neutral(t, text)), withExternal(t, text))
}

func neutral(t *testing.T, text string) clickhouse.Parameters {
	values := clickhouse.Parameters{}
	for _, match := range parameter.FindAllStringSubmatch(text, -1) {
		name, kind := match[1], strings.TrimSpace(match[2])
		kind = strings.TrimSuffix(strings.TrimPrefix(kind, "Nullable("), ")")
		switch {
		case strings.HasPrefix(kind, "Array"):
			values[name] = "[]"
		case strings.HasPrefix(kind, "Map"):
			values[name] = "{}"
		case strings.HasPrefix(kind, "DateTime64"):
			values[name] = "2020-01-01 00:00:00.000"
		case strings.HasPrefix(kind, "DateTime"):
			values[name] = "2020-01-01 00:00:00"
		case strings.HasPrefix(kind, "Date"):
			values[name] = "2020-01-01"
		case strings.HasPrefix(kind, "UInt"), strings.HasPrefix(kind, "Int"), strings.HasPrefix(kind, "Float"):
			values[name] = "1"
		case kind == "Bool":
			values[name] = "false"
		case kind == "String":
			values[name] = ""
		case strings.HasPrefix(kind, "Identifier"):
			t.Errorf("parameter %s: a query names its tables itself", name)
		default:
			t.Fatalf("parameter %s: no neutral value of type %s is known; add one to this test", name, kind)
		}
	}
	return values
}

func withExternal(t *testing.T, text string) clickhouse.QueryOption {
	var tables []*ext.Table
	for _, match := range external.FindAllStringSubmatch(text, -1) {
		var columns []func(*ext.Table) error
		for _, c := range externalColumn.FindAllStringSubmatch(match[2], -1) {
			columns = append(columns, ext.Column(c[1], column.Type(c[2])))
		}
		table, err := ext.NewTable(match[1], columns...)
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, table)
	}
	return clickhouse.WithExternalTable(tables...)
}

// A file that stands beside the folders of subjects is not read, and of two with one name only one could be asked for.
func TestEveryFileStandsOnceInAFolderOfASubject(t *testing.T) {
	for _, kind := range []string{"tables", "views", "queries"} {
		seen := map[string]string{}
		err := filepath.WalkDir(kind, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			name := entry.Name()
			if inFolder, _ := path.Match(kind+"/*/*.sql", filepath.ToSlash(file)); !inFolder {
				t.Errorf("%s: want %s/<subject>/<name>.sql", file, kind)
			}
			if other, ok := seen[name]; ok {
				t.Errorf("%s has the name of %s", file, other)
			}
			seen[name] = file
			return nil
		})
		if err != nil || len(seen) == 0 {
			t.Errorf("%d files of %s, %v", len(seen), kind, err)
		}
		if kind == "queries" && len(seen) != len(schemas.QueryNames()) {
			t.Errorf("%d files, %d queries", len(seen), len(schemas.QueryNames()))
		}
	}
}

func TestQueryOfAnUnknownNamePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic: a name that does not exist is a fault of the program")
		}
	}()
	schemas.Query("no_such_query")
}

// TestWhatIsDerivedIsReadAlike holds the columns of the queries of what is derived equal, since one function of the
// package query reads their rows.
func TestWhatIsDerivedIsReadAlike(t *testing.T) {
	columns := func(name string) string {
		_, rest, _ := strings.Cut(schemas.Query(name), "\nSELECT ")
		selected, _, found := strings.Cut(rest, "\nFROM ")
		if !found {
			t.Fatalf("%s does not select as the other does", name)
		}
		return strings.Join(strings.Fields(selected), " ")
	}
	if page, one := columns("derived_rows"), columns("derived_by_id"); page != one {
		t.Errorf("derived_rows selects %s, derived_by_id %s", page, one)
	}
}

// TestPositionsAreReadAlike holds what queries of positions select equal and in the order of the columns, since all
// their rows are read by fleet.StoredPosition.
func TestPositionsAreReadAlike(t *testing.T) {
	column := regexp.MustCompile(`\b(device|fix_time|device_time|received_at|lat7|lng7|altitude_dm|speed_cms|` +
		`course_cdeg|accuracy_dm|odometer_m|satellites|ignition|motion|alarm|cell|flags)\b`)
	selected := func(name string) string {
		text := schemas.Query(name)
		from, to := strings.Index(text, "    device,\n"), strings.Index(text, "    flags")
		if from < 0 || to < from {
			t.Fatalf("%s selects no position", name)
		}
		return text[from : to+len("    flags")]
	}
	want := selected("positions_track")
	if names := strings.Join(column.FindAllString(want, -1), ", "); names != fleet.StoredColumns {
		t.Errorf("positions_track selects %s, want %s", names, fleet.StoredColumns)
	}
	for _, name := range []string{"positions_track_desc", "positions_latest", "vehicle_states"} {
		if got := selected(name); got != want {
			t.Errorf("%s selects\n%s\nwant\n%s", name, got, want)
		}
	}
}
