package schemas

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// newest makes all tables and views as they stand after the last migration. It is written by a test, never by hand.
//
//go:embed newest.sql
var newest string

// newestBegun is what schema_versions calls that a database is being made of newest, with the checksum of that.
const newestBegun = "0000_newest"

// makeNewest gives a database that never was in use all tables and views as they stand after the last migration: to
// make them and to change them one by one takes five times as long. It says so first, so that a start that is killed in
// between is known to have been one of these; it may be done once more, and by any number of processes at once.
func makeNewest(ctx context.Context, db driver.Conn) ([]string, error) {
	if err := note(ctx, db, []Migration{{Version: newestBegun, Checksum: newestSum()}}); err != nil {
		return nil, err
	}
	for statement := range strings.SplitSeq(strings.TrimSuffix(newest, ";\n"), ";\n\n") {
		if err := db.Exec(ctx, statement); err != nil {
			return nil, fmt.Errorf("make the newest schema: %w\n%s", err, statement)
		}
	}
	all := Migrations()
	done := make([]string, len(all))
	for i, m := range all {
		done[i] = m.Version
	}
	return done, note(ctx, db, all)
}

// neverInUse says whether a database has nothing, or only what makeNewest has begun: nobody writes before that is done.
func neverInUse(ctx context.Context, db driver.Conn) (bool, error) {
	// The tables are counted first: whoever makes them of newest has said so before there is one.
	var tables, noted uint64
	var begun string
	if err := db.QueryRow(ctx, Query("tables_made")).Scan(&tables); err != nil {
		return false, fmt.Errorf("count the tables that there are: %w", err)
	}
	if err := db.QueryRow(ctx, Query("newest_begun"), clickhouse.Named("begun", newestBegun)).
		Scan(&noted, &begun); err != nil {
		return false, fmt.Errorf("read whether the newest schema was begun: %w", err)
	}
	switch {
	case noted > 0:
		return false, nil
	case begun == "":
		return tables == 0, nil
	case begun != newestSum():
		return false, errors.New("another version makes the tables of this database, or was stopped while it did: start that " +
			"one again, or, if none runs, drop the database, in which nothing is yet, and begin anew")
	}
	return true, nil
}

func newestSum() string {
	sum := sha256.Sum256([]byte(newest))
	return hex.EncodeToString(sum[:8])
}
