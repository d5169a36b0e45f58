package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// ActionErase is the action of the revision that an erasure leaves.
const ActionErase = "erase"

// Erase ends a record, archived or not, and takes what it held out of the log: wipe leaves in the body only what may stay. The numbers,
// times and authors of its revisions stay, so that its history has no gap. It is done when it returns nil, and can be repeated. The
// record's current table is the caller's to clear of older rows; claims on its values are released, and forgotten by Forget.
func (l *Log[T]) Erase(ctx context.Context, by Author, account fleet.AccountID, id uint64, wipe func(*T)) (Record[T], error) {
	rec, err := l.Wipe(ctx, by, account, id, wipe)
	if err != nil {
		return rec, err
	}
	return rec, l.Forget(ctx, account, id)
}

// Wipe writes a revision that ends a record, archived or not, with what wipe leaves in its body. One that says the same is not written
// twice.
func (l *Log[T]) Wipe(ctx context.Context, by Author, account fleet.AccountID, id uint64, wipe func(*T)) (Record[T], error) {
	ctx, cancel := context.WithTimeout(ctx, l.store.cfg.Deadline)
	defer cancel()
	for {
		old, err := l.store.newest(ctx, uint64(account), l.kind.Name, id)
		if err != nil {
			return Record[T]{}, unavailable("erase "+l.name(id), err)
		}
		if old == nil {
			return Record[T]{}, l.notFound(id)
		}
		rec, err := l.record(old)
		if err != nil {
			return rec, err
		}
		had := l.claims(&rec.Body)
		wipe(&rec.Body)
		text, err := json.Marshal(rec.Body)
		if err != nil {
			return rec, fmt.Errorf("encode %s: %w", l.kind.Name, err)
		}
		if old.action == ActionErase && old.body == string(text) {
			return l.record(old)
		}
		at := millis(l.store.now())
		if at.Before(old.at) {
			at = old.at
		}
		r := &revision{account: old.account, kind: old.kind, id: id, number: old.number + 1, action: ActionErase, at: at, createdAt: old.createdAt,
			archivedAt: old.archivedAt, actor: by.Actor, requestID: by.RequestID, body: string(text)}
		if r.archivedAt == nil {
			r.archivedAt = &at
		}
		dropped, err := l.claimed(ctx, account, id, had)
		if err != nil {
			return rec, err
		}
		switch err := l.store.append(ctx, r); {
		case err == nil:
			l.releaseAll(ctx, account, dropped)
			l.store.written(ctx, r, old.body)
			return l.record(r)
		case !errors.Is(err, errLost):
			return rec, unavailable("erase "+l.name(id), err)
		}
	}
}

// Forget takes the bodies of records that were wiped out of their earlier revisions, and their values out of the claims on them. It
// returns when the bytes are out of the parts that are read.
func (l *Log[T]) Forget(ctx context.Context, account fleet.AccountID, ids ...uint64) error {
	if len(ids) == 0 {
		return nil
	}
	args := []any{clickhouse.Named("account", uint64(account)), clickhouse.Named("kind", l.kind.Name), clickhouse.Named("ids", slices.Clone(ids))}
	for _, query := range []string{"record_forget", "claims_forget"} {
		if err := l.store.db.Exec(ctx, schemas.Query(query), args...); err != nil {
			return fmt.Errorf("forget %s: %w", l.kind.Name, err)
		}
	}
	return nil
}
