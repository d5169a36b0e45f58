package query

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// APIKeys is how API keys are listed.
var APIKeys = Listing{Table: "api_keys", Fields: []ListField{
	{Name: "name", Type: TextField, Sort: true},
	{Name: "created_at", Type: TimeField, Range: true, Sort: true},
	{Name: "updated_at", Type: TimeField, Range: true, Sort: true},
}, Search: []string{"name"}}

// FoundKey is an API key that somebody presents.
type FoundKey struct {
	Account fleet.AccountID
	ID      fleet.KeyID
	Body    string // JSON
	Rate    *int   // requests a minute that the operator gave to each credential of the account; nil if none were given
}

// KeyByToken finds an API key by its public part, over all accounts, with what its account may ask for. No key is a
// zero id and no error.
func KeyByToken(ctx context.Context, db driver.Conn, tokenID string) (FoundKey, error) {
	var account, id uint64
	var body string
	var rate *int64
	err := db.QueryRow(ctx, schemas.Query("api_key_by_token"), clickhouse.Named("token", tokenID)).
		Scan(&account, &id, &body, &rate)
	if errors.Is(err, sql.ErrNoRows) {
		return FoundKey{}, nil
	}
	if err != nil {
		return FoundKey{}, fmt.Errorf("read API key: %w", err)
	}
	return FoundKey{fleet.AccountID(account), fleet.KeyID(id), body, rateOf(rate)}, nil
}

// AccountRate returns how many requests a minute the operator gave to each credential of an account; nil if none were
// given.
func AccountRate(ctx context.Context, db driver.Conn, account fleet.AccountID) (*int, error) {
	var rate *int64
	err := db.QueryRow(ctx, schemas.Query("account_rate"), clickhouse.Named("account", uint64(account))).Scan(&rate)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the rate limit of account %s: %w", account, err)
	}
	return rateOf(rate), nil
}

func rateOf(stored *int64) *int {
	if stored == nil {
		return nil
	}
	return new(int(*stored))
}

// NoteKeyUse stores that a key was used. It is called for a sample of the uses, about once a minute.
func NoteKeyUse(ctx context.Context, db driver.Conn, account fleet.AccountID, key fleet.KeyID, at time.Time) error {
	batch, err := db.PrepareBatch(ctx, "INSERT INTO key_uses (account, key, at)")
	if err != nil {
		return fmt.Errorf("note use of a key: %w", err)
	}
	if err := batch.Append(uint64(account), uint64(key), at); err != nil {
		batch.Abort()
		return fmt.Errorf("note use of a key: %w", err)
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("note use of a key: %w", err)
	}
	return nil
}

// KeyUses returns when keys of an account were last used; one that never was has no entry.
func KeyUses(ctx context.Context, db driver.Conn, account fleet.AccountID,
	keys []uint64) (map[uint64]time.Time, error) {
	uses := make(map[uint64]time.Time, len(keys))
	if len(keys) == 0 {
		return uses, nil
	}
	err := schemas.EachRow(ctx, db, "read uses of keys", schemas.Query("key_uses"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("keys", keys),
	}, func(row schemas.Row) error {
		var key uint64
		var at time.Time
		if err := row.Scan(&key, &at); err != nil {
			return err
		}
		uses[key] = at
		return nil
	})
	return uses, err
}
