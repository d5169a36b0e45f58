package bi

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
)

// User is a user for analysts as the server knows it.
type User struct {
	Name    string
	Account string // its written id
}

// Users lists those who can read the views over the tables of a database, by name.
func Users(ctx context.Context, db driver.Conn, tables string) ([]User, error) {
	return schemas.AllRows(ctx, db, "list the users for analysts", schemas.Query("bi_users"),
		[]any{clickhouse.Named("database", Database(tables)), clickhouse.Named("prefix", UserPrefix(tables))},
		func(u *User, row schemas.Row) error { return row.Scan(&u.Name, &u.Account) })
}

// ErrNoViews reports that nothing stands for analysts, because the program's user may not make it.
var ErrNoViews = errors.New("there are no views for analysts")

// Audit looks at all that users for analysts can reach over the tables of a database, and returns what is wrong: a view
// that is missing, something that is no view or reads with the rights of its maker, and what a user can read without a
// policy. It needs the right to read system.tables, system.grants and system.row_policies.
func Audit(ctx context.Context, db driver.Conn, tables string) ([]string, error) {
	type object struct {
		name string
		ok   bool
	}
	database := Database(tables)
	objects, err := schemas.AllRows(ctx, db, "list the views for analysts", schemas.Query("bi_objects"),
		[]any{clickhouse.Named("database", database)},
		func(o *object, row schemas.Row) error { return row.Scan(&o.name, &o.ok) })
	if err != nil {
		return nil, err
	}
	if len(objects) == 0 {
		return nil, ErrNoViews
	}
	var wrong []string
	missing := map[string]bool{}
	for _, v := range schemas.Surface() {
		missing[v.Name] = true
	}
	for _, o := range objects {
		switch {
		case !missing[o.name]:
			wrong = append(wrong, fmt.Sprintf("%s.%s is not of Motorpool and has no policy", database, o.name))
		case !o.ok:
			wrong = append(wrong, fmt.Sprintf("%s.%s is no view that reads with the rights of its reader", database, o.name))
		}
		delete(missing, o.name)
	}
	for name := range missing {
		wrong = append(wrong, fmt.Sprintf("%s.%s is missing", database, name))
	}
	slices.Sort(wrong)
	open, err := schemas.AllRows(ctx, db, "look for rights without a policy", schemas.Query("bi_unguarded"),
		[]any{clickhouse.Named("prefix", UserPrefix(tables))},
		func(what *string, row schemas.Row) error { return row.Scan(what) })
	for _, what := range open {
		wrong = append(wrong, what+" without a policy")
	}
	return wrong, err
}
