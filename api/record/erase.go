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

// Erase wipes a record (see Wipe) and takes what it held out of its earlier revisions and out of its current
// table, which is named. The numbers, times and authors of its revisions stay, so that its history has no gap. It
// can be repeated.
func (l *Log[T]) Erase(ctx context.Context, by Author, account fleet.AccountID, table string, id uint64,
	wipe func(*T)) error {
	if _, err := l.Wipe(ctx, by, account, id, wipe); err != nil {
		return err
	}
	return l.Forget(ctx, account, table, id)
}

// Wipe writes a revision that ends a record, archived or not, with what wipe leaves in its body. One that says the same
// is not written twice. It releases no claims: a release would tell the value again, and arrive late at worst. Forget
// removes them, and until then they are those of a record that does not hold the values, which lapse.
func (l *Log[T]) Wipe(ctx context.Context, by Author, account fleet.AccountID, id uint64,
	wipe func(*T)) (Record[T], error) {
	ctx, cancel := context.WithTimeout(ctx, l.store.cfg.Deadline)
	defer cancel()
	for {
		if err := ctx.Err(); err != nil {
			return Record[T]{}, unavailable("erase "+l.name(id), err)
		}
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
		wipe(&rec.Body)
		text, err := json.Marshal(rec.Body)
		if err != nil {
			return rec, fmt.Errorf("encode %s: %w", l.kind.Name, err)
		}
		if old.action == ActionErase && old.body == string(text) {
			// Whoever wrote it may have died before its table knew it.
			if err := l.store.feed(ctx, old); err != nil {
				return rec, unavailable("erase "+l.name(id), err)
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
		switch err := l.store.append(ctx, r, nil, old.body, nil); {
		case err == nil:
			return l.record(r)
		case !errors.Is(err, errLost):
			return rec, unavailable("erase "+l.name(id), err)
		}
	}
}

// Forget takes the bodies of records that were wiped out of their earlier revisions and out of their current table, and
// their values out of the claims on them. It returns when the bytes are out of the parts that are read.
func (l *Log[T]) Forget(ctx context.Context, account fleet.AccountID, table string, ids ...uint64) error {
	if err := l.ForgetEarlier(ctx, account, table, ids...); err != nil {
		return err
	}
	return l.forget(ctx, account, ids, schemas.Query("claims_forget_releases"), schemas.Query("claims_forget"))
}

// ForgetEarlier is Forget for records that go on: what the newest revision claims stays claimed.
func (l *Log[T]) ForgetEarlier(ctx context.Context, account fleet.AccountID, table string, ids ...uint64) error {
	return l.forget(ctx, account, ids, schemas.Query("record_forget"),
		strings.ReplaceAll(schemas.Query("rows_forget"), "/*table*/", table))
}

func (l *Log[T]) forget(ctx context.Context, account fleet.AccountID, ids []uint64, statements ...string) error {
	if len(ids) == 0 {
		return nil
	}
	defer l.store.tell(uint64(account), l.kind.Name)
	args := []any{clickhouse.Named("account", uint64(account)), clickhouse.Named("kind", l.kind.Name),
		clickhouse.Named("ids", slices.Clone(ids))}
	for _, text := range statements {
		if err := l.store.db.Exec(ctx, text, args...); err != nil {
			return fmt.Errorf("forget %s: %w", l.kind.Name, err)
		}
	}
	return nil
}

// Everything returns what was ever written in some records, in order of record and revision. Bodies that were
// forgotten are zero.
func (l *Log[T]) Everything(ctx context.Context, account fleet.AccountID, ids ...uint64) ([]T, error) {
	args := []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("kind", l.kind.Name),
		clickhouse.Named("ids", append([]uint64{}, ids...)),
	}
	doing := "read revisions of " + l.kind.Name
	return schemas.AllRows(ctx, l.store.db, doing, schemas.Query("record_bodies"), args,
		func(body *T, row schemas.Row) error {
			var text string
			if err := row.Scan(&text); err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(text), body); err != nil {
				return fmt.Errorf("decode %s: %w", l.kind.Name, err)
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
