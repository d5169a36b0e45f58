package query

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// CredentialAct is a row of the audit of an account's credentials: one act, or those of an hour that are counted.
type CredentialAct struct {
	First, Last fleet.Millis // the same of one act
	Credential  string
	Kind        string
	Act         string
	Reason      string
	Actor       string
	Client      string // address; empty if there is none
	Count       uint64
	ID          uint64 // of the row
}

// CredentialActFilter says which acts of an account are wanted; what is empty is not asked for.
type CredentialActFilter struct {
	Account           fleet.AccountID
	From, To          fleet.Millis // [From, To); To 0 means no end
	Credential, Actor string
	Client            string
	Acts              []string

	AfterAt       fleet.Millis // of a page before: its last time
	AfterID       uint64       // and its last id
	Offset, Limit int
}

func (f *CredentialActFilter) named() []any {
	to, acts := f.To, f.Acts
	if to == 0 || to > endOfTime {
		to = endOfTime
	}
	if acts == nil {
		acts = []string{}
	}
	return []any{clickhouse.Named("account", uint64(f.Account)), clickhouse.Named("from", int64(max(f.From, 0))),
		clickhouse.Named("to", int64(to)), clickhouse.Named("credential", f.Credential),
		clickhouse.Named("actor", f.Actor), clickhouse.Named("client", f.Client), clickhouse.Named("acts", acts),
		clickhouse.Named("after_at", int64(f.AfterAt)), clickhouse.Named("after_id", f.AfterID),
		clickhouse.Named("limit", uint64(f.Limit)), clickhouse.Named("offset", uint64(f.Offset))}
}

// CredentialActs returns acts, newest first, and how many there are without cursor, offset and limit.
func CredentialActs(ctx context.Context, db driver.Conn, f CredentialActFilter) ([]CredentialAct, int, error) {
	total, err := countRows(ctx, db, "credential_audit_count", f.named())
	if err != nil {
		return nil, 0, fmt.Errorf("count acts of credentials: %w", err)
	}
	found, err := schemas.AllRows(ctx, db, "read acts of credentials", schemas.Query("credential_audit_list"), f.named(),
		func(a *CredentialAct, row schemas.Row) error {
			return row.Scan((*int64)(&a.First), (*int64)(&a.Last), &a.Credential, &a.Kind, &a.Act, &a.Reason, &a.Actor,
				&a.Client, &a.Count, &a.ID)
		})
	return found, total, err
}
