package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// ActionErase is the action of the revision that an erasure leaves.
const ActionErase = "erase"

func (l *kindLog) wipe(ctx context.Context, by Author, account fleet.AccountID, id uint64,
	wipe func(any)) (Record[any], error) {
	ctx, cancel := context.WithTimeout(ctx, l.store.cfg.Deadline)
	defer cancel()
	for {
		if err := ctx.Err(); err != nil {
			return Record[any]{}, unavailable("erase "+l.named(id), err)
		}
		old, err := l.store.newest(ctx, uint64(account), l.name, id)
		if err != nil {
			return Record[any]{}, unavailable("erase "+l.named(id), err)
		}
		if old == nil {
			return Record[any]{}, l.notFound(id)
		}
		rec, err := l.record(old)
		if err != nil {
			return rec, err
		}
		wipe(rec.Body)
		text, err := json.Marshal(rec.Body)
		if err != nil {
			return rec, fmt.Errorf("encode %s: %w", l.name, err)
		}
		if old.action == ActionErase && old.body == string(text) {
			// Whoever wrote it may have died before its table knew it.
			if err := l.store.feed(ctx, old); err != nil {
				return rec, unavailable("erase "+l.named(id), err)
			}
			return l.record(old)
		}
		at := millis(l.store.now())
		if at.Before(old.at) {
			at = old.at
		}
		r := &revision{account: old.account, kind: old.kind, id: id, number: old.number + 1, action: ActionErase, at: at,
			createdAt:  old.createdAt,
			archivedAt: old.archivedAt, actor: by.Actor, requestID: by.RequestID, body: string(text)}
		if r.archivedAt == nil {
			r.archivedAt = &at
		}
		switch err := l.store.append(ctx, r, l.decided(rec.Body), old.body, nil); {
		case err == nil:
			return l.record(r)
		case !errors.Is(err, errLost):
			return rec, unavailable("erase "+l.named(id), err)
		}
	}
}

func (l *kindLog) forget(ctx context.Context, account fleet.AccountID, table string, ids []uint64) error {
	if err := l.forgetEarlier(ctx, account, table, ids); err != nil {
		return err
	}
	return l.forgetBy(ctx, account, ids, schemas.Query("claims_forget_releases"), schemas.Query("claims_forget"))
}

func (l *kindLog) forgetEarlier(ctx context.Context, account fleet.AccountID, table string, ids []uint64) error {
	return l.forgetBy(ctx, account, ids, schemas.Query("record_forget"),
		strings.ReplaceAll(schemas.Query("rows_forget"), "/*table*/", table))
}

func (l *kindLog) forgetBy(ctx context.Context, account fleet.AccountID, ids []uint64, statements ...string) error {
	if len(ids) == 0 {
		return nil
	}
	defer l.store.tell(uint64(account), l.name)
	args := []any{clickhouse.Named("account", uint64(account)), clickhouse.Named("kind", l.name),
		clickhouse.Named("ids", slices.Clone(ids))}
	for _, text := range statements {
		if err := l.store.db.Exec(ctx, text, args...); err != nil {
			return fmt.Errorf("forget %s: %w", l.name, err)
		}
	}
	return nil
}

func (l *kindLog) everything(ctx context.Context, account fleet.AccountID, ids []uint64) ([]any, error) {
	args := []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("kind", l.name),
		clickhouse.Named("ids", append([]uint64{}, ids...)),
	}
	doing := "read revisions of " + l.name
	return schemas.AllRows(ctx, l.store.db, doing, schemas.Query("record_bodies"), args,
		func(body *any, row schemas.Row) error {
			var text string
			if err := row.Scan(&text); err != nil {
				return err
			}
			*body = l.newBody()
			if err := json.Unmarshal([]byte(text), *body); err != nil {
				return fmt.Errorf("decode %s: %w", l.name, err)
			}
			return nil
		})
}

// erasedAnswer is what a repeated request is told whose answer named something that was erased since.
var erasedAnswer = func() string {
	body := `{"type":"/docs#problem-conflict","title":"Conflict","status":409,"detail":"The answer to this request held personal data that was erased since.","instance":"","code":"conflict","request_id":""}`
	text, err := json.Marshal(Answer{Status: 409, Header: map[string]string{"Content-Type": "application/problem+json"},
		Body: body + "\n"})
	if err != nil {
		panic(err) // strings and numbers only
	}
	return string(text)
}()

// ForgetAnswers takes the answers that are kept for idempotency keys, and hold one of some words, out of the store.
func (s *Store) ForgetAnswers(ctx context.Context, account fleet.AccountID, words []string) error {
	hashes, err := schemas.AllRows(ctx, s.db, "find answers", schemas.Query("answers_find"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("words", words),
	}, func(hash *uint64, row schemas.Row) error { return row.Scan(hash) })
	if err != nil {
		return err
	}
	for some := range slices.Chunk(hashes, textsAtOnce) {
		if err := s.db.Exec(ctx, schemas.Query("answers_forget"), clickhouse.Named("account", uint64(account)),
			clickhouse.Named("answer", erasedAnswer), clickhouse.Named("hashes", some)); err != nil {
			return fmt.Errorf("forget answers: %w", err)
		}
	}
	return nil
}
