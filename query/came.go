package query

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// Came is the newest revision of a record among those that came to the log.
type Came struct {
	Account      fleet.AccountID
	Kind         string
	ID, Revision uint64
}

// EachCame hands over the newest revision that the log has of each record, of some accounts and kinds, in the parts
// that hold what was inserted from a block on; of all with 0.
func EachCame(ctx context.Context, db driver.Conn, accounts []uint64, kinds []string, block int64,
	take func(Came)) error {
	return schemas.EachRow(ctx, db, "look for new revisions", schemas.Query("record_ahead"), []any{
		clickhouse.Named("accounts", accounts), clickhouse.Named("kinds", kinds), clickhouse.Named("block", block),
	}, func(row schemas.Row) error {
		var account uint64
		var c Came
		if err := row.Scan(&account, &c.Kind, &c.ID, &c.Revision); err != nil {
			return err
		}
		c.Account = fleet.AccountID(account)
		take(c)
		return nil
	})
}
