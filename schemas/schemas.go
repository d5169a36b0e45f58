// Package schemas owns the shape of everything stored in ClickHouse: tables and views as ordered migrations, and the
// queries that read, all as plain .sql files that are embedded here; the feeds that fill tables of current records from
// the log; and the one reader of rows (EachRow, AllRows, OneRow). How a column of a table of current records is taken
// from a record is said by its DEFAULT expression; where a writer works one out as well, since it is dear to plan, a
// test holds it against that. It knows no domain type. Files stand in folders by subject: ingest (what trackers send,
// and trackers), derived (what is made of that), record (the log, accounts, jobs, vehicles), rental, and store (the
// database itself).
//
// Apply brings a database to the newest schema and may be run by any number of processes at once and any number of
// times: every file holds one statement that changes nothing where it was done before, and each applied file is noted
// in schema_versions. A database that has nothing yet is made of newest.sql at once, which says what all files together
// make; a test writes it and holds it against them, and it is the place to see a table as it is. A file that a release
// has applied is never edited, renamed or removed; a change is a new file with a higher number. Files of the first
// release have numbers by subject: record from 0010, ingest from 1010, derived from 2010, rental from 3010, store from
// 4010, views of a subject from 500 on. What comes later, whatever it is about, takes the next number from 5000 on: the
// last file is the newest, which is how a backup names its schema.
package schemas

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

//go:embed tables/*/*.sql views/*/*.sql queries/*/*.sql bi/*.sql
var files embed.FS

// queries are the paths of the queries by their names, of which each stands once in all folders.
var queries = paths("queries/*/*.sql")

// Migration is one file of a folder of tables/ or views/: a four-digit number, a name and one statement.
type Migration struct {
	Version  string // "1010_positions"
	SQL      string
	Checksum string // of SQL, in hex
}

// Migrations returns all migrations in the order of their numbers, tables and views together.
func Migrations() []Migration {
	var all []Migration
	for _, pattern := range []string{"tables/*/*.sql", "views/*/*.sql"} {
		for name, file := range paths(pattern) {
			text := read(file)
			sum := sha256.Sum256([]byte(text))
			all = append(all, Migration{Version: name, SQL: text, Checksum: hex.EncodeToString(sum[:8])})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Version < all[j].Version })
	return all
}

// Query returns the text of <name>.sql of a folder of queries/. A name that does not exist is a fault of the program
// and panics. A query may stand within others, in the place of "/*query <name>*/" there, without its opening comment;
// in that of "/*query <name> from=begin*/" its parameter from is called begin.
func Query(name string) string {
	file, ok := queries[name]
	if !ok {
		panic("no query " + name)
	}
	return within.ReplaceAllStringFunc(read(file), func(mark string) string {
		m := within.FindStringSubmatch(mark)
		text := opening.ReplaceAllString(Query(m[1]), "")
		for _, renamed := range strings.Fields(m[2]) {
			from, to, _ := strings.Cut(renamed, "=")
			text = strings.ReplaceAll(text, "{"+from+":", "{"+to+":")
		}
		return text
	})
}

var (
	within  = regexp.MustCompile(`/\*query (\w+)((?: \w+=\w+)*)\*/`)
	opening = regexp.MustCompile(`^(--[^\n]*\n)+`)
)

// QueryNames returns the names of all queries, sorted; a test executes each.
func QueryNames() []string { return slices.Sorted(maps.Keys(queries)) }

// paths returns the files that a pattern matches by their names without the ending. A name that stands in two folders
// is a fault of the program and panics.
func paths(pattern string) map[string]string {
	found, err := fs.Glob(files, pattern)
	if err != nil {
		panic(err) // a pattern of this file
	}
	all := make(map[string]string, len(found))
	for _, file := range found {
		name := strings.TrimSuffix(path.Base(file), ".sql")
		if other, ok := all[name]; ok {
			panic(file + " has the name of " + other)
		}
		all[name] = file
	}
	return all
}

func read(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // embedded at build time
	}
	return string(text)
}

const createVersions = `CREATE TABLE IF NOT EXISTS schema_versions
(version String, checksum String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))
ENGINE = ReplacingMergeTree(applied_at) ORDER BY version`

// Apply brings the connection's database to the newest schema and returns the versions it applied, in order. A file
// whose text changed after it was applied is an error, because the database would then not be what the files say.
func Apply(ctx context.Context, db driver.Conn) ([]string, error) {
	if err := db.Exec(ctx, createVersions); err != nil {
		return nil, fmt.Errorf("create schema_versions: %w", err)
	}
	if none, err := neverInUse(ctx, db); err != nil {
		return nil, err
	} else if none {
		return makeNewest(ctx, db)
	}
	return applyOneByOne(ctx, db)
}

// applyOneByOne applies the migrations that the database does not have.
func applyOneByOne(ctx context.Context, db driver.Conn) ([]string, error) {
	known, err := Applied(ctx, db)
	if err != nil {
		return nil, err
	}
	var done []string
	// that are done and not noted yet: together, as there are many, but nothing that took long is done twice
	var fresh []Migration
	for _, m := range Migrations() {
		begun := time.Now()
		if err := applyOne(ctx, db, m, known); err != nil {
			return done, errors.Join(err, note(ctx, db, fresh))
		}
		if _, ok := known[m.Version]; ok {
			continue
		}
		done, fresh = append(done, m.Version), append(fresh, m)
		if time.Since(begun) > time.Second || rewrites.MatchString(m.SQL) || remakes.MatchString(m.SQL) {
			if err := note(ctx, db, fresh); err != nil {
				return done, err
			}
			fresh = nil
		}
	}
	return done, note(ctx, db, fresh)
}

// note writes down which migrations were applied.
func note(ctx context.Context, db driver.Conn, fresh []Migration) error {
	if len(fresh) == 0 {
		return nil
	}
	batch, err := db.PrepareBatch(ctx, "INSERT INTO schema_versions (version, checksum)")
	if err != nil {
		return fmt.Errorf("note versions: %w", err)
	}
	for _, m := range fresh {
		if err := batch.Append(m.Version, m.Checksum); err != nil {
			batch.Abort()
			return fmt.Errorf("note %s: %w", m.Version, err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("note versions: %w", err)
	}
	return nil
}

// applyOne applies a migration unless it is known, by its checksum.
func applyOne(ctx context.Context, db driver.Conn, m Migration, known map[string]string) error {
	sum, ok := known[m.Version]
	if !ok {
		if begun, err := rewriting(ctx, db, m); err != nil || begun {
			return err
		}
		if err := rewritten(ctx, db, m); err != nil {
			return err
		}
		if remakes.MatchString(m.SQL) {
			if again, err := Applied(ctx, db); err != nil || again[m.Version] != "" {
				return err
			}
		}
		if rewrites.MatchString(m.SQL) { // it goes on when the statement is answered
			ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"mutations_sync": 0, "alter_sync": 0}))
		}
		if err := execute(ctx, db, m.SQL); err != nil {
			return fmt.Errorf("apply %s: %w", m.Version, err)
		}
		return nil
	}
	if sum != m.Checksum {
		return fmt.Errorf("migration %s was edited after it was applied: add a new file instead", m.Version)
	}
	return nil
}

// rewrites finds the table and the commands of a file that has older parts written anew, which goes on behind it.
var rewrites = regexp.MustCompile(`(?m)^ALTER TABLE (\w+)\s+(MATERIALIZE (?:COLUMN|INDEX)[\s\S]*)`)

// remakes finds a file that makes a table anew, which is not done once more behind another process that has done it and
// may be writing by now: what that writes while the table is taken over goes to the one that is replaced.
var remakes = regexp.MustCompile(`(?m)^CREATE OR REPLACE TABLE`)

// execute does what a file says. Another process that makes the table anew at this moment has the server find neither
// the old one nor the new one, for an instant.
func execute(ctx context.Context, db driver.Conn, statement string) error {
	for tries := 1; ; tries++ {
		err := db.Exec(ctx, statement)
		var refused *clickhouse.Exception
		if !errors.As(err, &refused) || !slices.Contains(tableGone, refused.Code) || tries == 50 {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(rewritePoll):
		}
	}
}

// tableGone are the codes by which the server says that a table went while a statement looked at it: UNKNOWN_TABLE and
// TABLE_IS_DROPPED.
var tableGone = []int32{60, 218}

// complete finds the table of a file that takes a column or an index from the parts that there are, or takes them over.
var complete = regexp.MustCompile(
	`(?m)^(?:ALTER|CREATE OR REPLACE) TABLE (\w+)\s+(?:CLONE|(?:CLEAR|DROP|RENAME) (?:COLUMN|INDEX))`)

// rewritten returns when what older files have written anew is done, where a file needs that: the server takes no
// column from a table while it writes that anew, and who takes parts over takes them as they are.
func rewritten(ctx context.Context, db driver.Conn, m Migration) error {
	found := complete.FindStringSubmatch(m.SQL)
	if found == nil {
		return nil
	}
	for {
		var left bool
		err := db.QueryRow(ctx, Query("mutations_left"), clickhouse.Named("table", found[1])).Scan(&left)
		if err != nil {
			return fmt.Errorf("look what is left to do before %s: %w", m.Version, err)
		}
		if !left {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until %s is written anew, for %s: %w", found[1], m.Version, ctx.Err())
		case <-time.After(rewritePoll):
		}
	}
}

// rewritePoll is how often it is looked whether a table is written anew, or there again.
const rewritePoll = 100 * time.Millisecond

// rewriting says whether another process has begun what a file has written anew, and it is still under way: begun once
// more it would all be done twice.
func rewriting(ctx context.Context, db driver.Conn, m Migration) (begun bool, err error) {
	found := rewrites.FindStringSubmatch(m.SQL)
	if found == nil {
		return false, nil
	}
	commands := strings.Split(found[2], ",")
	for i, command := range commands {
		commands[i] = strings.TrimSpace(command)
	}
	if err := db.QueryRow(ctx, Query("mutations_under_way"), clickhouse.Named("table", found[1]),
		clickhouse.Named("commands", commands)).Scan(&begun); err != nil {
		return false, fmt.Errorf("look what %s has begun: %w", m.Version, err)
	}
	return begun, nil
}

// Applied returns the checksum of each migration that the database has, by version.
func Applied(ctx context.Context, db driver.Conn) (map[string]string, error) {
	known := make(map[string]string)
	err := EachRow(ctx, db, "read schema_versions",
		"SELECT version, checksum FROM schema_versions FINAL WHERE version != '"+newestBegun+"'", nil,
		func(row Row) error {
			var version, sum string
			if err := row.Scan(&version, &sum); err != nil {
				return err
			}
			known[version] = sum
			return nil
		})
	return known, err
}
