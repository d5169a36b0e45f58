// Package bi is what analysts and BI tools read of an account without the interface: a database of documented views
// beside that of the tables, and the users who may read it.
//
// A view has SQL SECURITY INVOKER, so that whoever reads it needs rights to the columns that it reads, and is held by
// the row policies of the tables. A user belongs to one account. They have rights to the views and to those columns,
// and a row policy of their account on each view and each table. No view and no right reaches what tells who somebody
// is or where renters drove: persons are ids, and trips have no places.
//
// Users are made through SQL on a server ([Statements]), and through its configuration on the embedded engine, which
// package embedded writes at its start. [Audit] looks at what stands, whoever made it.
package bi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/api/rental/price"
	"github.com/motorpool/fleet/schemas"
)

// mainDatabase is the database whose views have the plain name.
const mainDatabase = "motorpool"

// Database is the name of the database of the views over the tables of another.
func Database(tables string) string {
	if tables == mainDatabase {
		return "bi"
	}
	return tables + "_bi"
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ErrTaken reports that the database of the views has something else by the name of one.
var ErrTaken = errors.New("is no view of Motorpool")

// Apply makes the views over the tables of a database, to which db is connected, and replaces those that stand.
func Apply(ctx context.Context, db driver.Conn, tables string) error {
	database := Database(tables)
	if !plainName.MatchString(database) {
		return fmt.Errorf("the database %q has a name that is not plain letters, digits and underscores", tables)
	}
	if err := db.Exec(ctx, "CREATE DATABASE IF NOT EXISTS "+database); err != nil {
		return fmt.Errorf("make the database %s of analysts: %w", database, err)
	}
	others, err := schemas.AllRows(ctx, db, "look for other tables", schemas.Query("bi_others"),
		[]any{clickhouse.Named("database", database)},
		func(name *string, row schemas.Row) error { return row.Scan(name) })
	if err != nil {
		return err
	}
	marks := marks(database)
	for _, v := range schemas.Surface() {
		if slices.Contains(others, v.Name) {
			return fmt.Errorf("%s.%s %w: rename it, or give --clickhouse-database", database, v.Name, ErrTaken)
		}
		if err := db.Exec(ctx, marks.Replace(v.SQL)+"COMMENT "+quote(v.About)); err != nil {
			return fmt.Errorf("make the view %s.%s: %w", database, v.Name, err)
		}
	}
	return nil
}

// marks fills what the files of the views leave open.
func marks(database string) *strings.Replacer {
	var chart, codes, types, measures []string
	for _, l := range ledger.Chart {
		code, kind, measure := quote(string(l.Account)), quote(l.Type), quote(l.Measure)
		chart = append(chart, "("+strings.Join([]string{code, quote(l.Number), quote(l.Name), kind, measure}, ", ")+")")
		codes, types, measures = append(codes, code), append(types, kind), append(measures, measure)
	}
	unusual := price.Unusual()
	var currencies, units []string
	for _, code := range slices.Sorted(maps.Keys(unusual)) {
		minor := 1
		for range unusual[code] {
			minor *= 10
		}
		currencies, units = append(currencies, quote(code)), append(units, strconv.Itoa(minor))
	}
	return strings.NewReplacer("/*bi*/", database+".",
		"/*units*/", "transform(currency, "+list(currencies)+", "+list(units)+", 100)",
		"/*chart*/", list(chart), "/*codes*/", list(codes), "/*types*/", list(types), "/*measures*/", list(measures))
}

func list(items []string) string { return "[" + strings.Join(items, ", ") + "]" }

// quote writes a text as a literal of SQL.
func quote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
