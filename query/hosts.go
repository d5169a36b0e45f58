package query

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/schemas"
)

// ErrSeveralStores is the error of Open for addresses that do not hold the same data.
var ErrSeveralStores = errors.New("several ClickHouse addresses are given, and they are not one store")

// host is what one address of several says of the database.
type host struct {
	addr           string
	id             string // of the database there: two servers never have the same
	plain, shared  uint64 // tables
	sharedDatabase uint64 // 1 if every table that is made in it is shared
	err            error  // it does not answer
}

const zeroUUID = "00000000-0000-0000-0000-000000000000"

// oneStore refuses several addresses that are not one store: with tables that only one server has, a connection that
// goes to the next address writes into another database. They are one if every server that answers shares its tables
// with the others, or if all of them prove to be the same server.
func (c Config) oneStore(ctx context.Context) error {
	if len(c.Addrs) < 2 {
		return nil
	}
	hosts := make([]host, 0, len(c.Addrs))
	for _, addr := range c.Addrs {
		hosts = append(hosts, c.ask(ctx, addr))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var shared, answered bool
	same := hosts[0].id != "" && hosts[0].id != zeroUUID
	var told []string
	for _, h := range hosts {
		same = same && h.err == nil && h.id == hosts[0].id
		if h.err != nil {
			told = append(told, h.addr+" does not answer")
			continue
		}
		shared = (shared || !answered) && h.plain == 0 && h.shared+h.sharedDatabase > 0
		answered = true
		told = append(told, fmt.Sprintf("%s has %d tables of its own and %d that are replicated, shared or distributed",
			h.addr, h.plain, h.shared))
	}
	if shared || same {
		return nil
	}
	return fmt.Errorf("%w: %s. Where one fails the next would be written to, and neither would have everything. Give one "+
		"address, or make database %s on all of them with replicated or shared tables (a database of engine Replicated, or "+
		"ClickHouse Cloud) before 'motorpool migrate'", ErrSeveralStores, strings.Join(told, "; "), c.Database)
}

// ask looks at the database at one address.
func (c Config) ask(ctx context.Context, addr string) (h host) {
	h.addr = addr
	database := c.Database
	c.Addrs, c.Database, c.MaxConns = []string{addr}, "system", 1 // the database may not stand there
	db, err := c.open(ctx)
	if err != nil {
		h.err = err
		return h
	}
	defer db.Close()
	err = db.QueryRow(ctx, schemas.Query("server_tables"), clickhouse.Named("database", database)).
		Scan(&h.id, &h.plain, &h.shared, &h.sharedDatabase)
	var refused *clickhouse.Exception
	if errors.As(err, &refused) {
		err = fmt.Errorf("the user may not read system.tables: %w", err)
	}
	h.err = err
	return h
}
