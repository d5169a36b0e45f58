package schemas

import (
	"context"
	"strconv"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Verdict is what the server says that an insert with a token has done. A Distributed table does not say it.
type Verdict struct{ Stored, Duplicate int64 }

// Of returns a context of the insert, and forgets what was said of another one.
func (v *Verdict) Of(ctx context.Context) context.Context {
	*v = Verdict{}
	return clickhouse.Context(ctx, clickhouse.WithProfileEvents(func(events []clickhouse.ProfileEvent) {
		for _, e := range events {
			switch e.Name {
			case "InsertedCompactParts", "InsertedWideParts":
				v.Stored += e.Value
			case "DuplicatedInsertedBlocks":
				v.Duplicate += e.Value
			}
		}
	}))
}

// NextToken returns the token of a turn from 1. The server notes a token before it has the rows: one that died in
// between knows the token and has no rows, and never takes them under it. Whoever finds that goes on with the next
// turn, whose token is the same for all who do.
func NextToken(token string, turn int) string {
	if turn == 1 {
		return token
	}
	return token + "/" + strconv.Itoa(turn)
}
