package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/schemas"
)

// byKind returns by kind what brings revisions of it to its tables of current records.
func byKind(feeds []schemas.Feed) map[string][]schemas.Feed {
	all := make(map[string][]schemas.Feed)
	for _, f := range feeds {
		for _, kind := range f.Kinds {
			all[kind] = append(all[kind], f)
		}
	}
	return all
}

// again makes an insert that may be repeated, and then is to be carried out: the table keeps one row of those that are
// the same. Since ClickHouse 26 insert_deduplicate says that of an INSERT SELECT alone, and without a token the content
// of others counts: so each has its own.
func again(ctx context.Context) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"insert_deduplicate": 0, "insert_deduplication_token": fmt.Sprintf("again:%d", RandomID()),
		"max_partitions_per_insert_block": 0,
		// or the server sends the DEFAULT expressions, which it works out itself
		"input_format_defaults_for_omitted_fields": 0,
	}))
}

// fromMemory is how long a feed may take that brings what its writer has in memory. One that takes longer reads
// the log, out of which an erasure may have taken what the writer still has: Sweep waits so long between the log
// and the tables.
const fromMemory = time.Second

// feed brings revisions that stand, of records of one kind and account, to the tables of current records: lists then
// know them. It goes on until that is done or the time is up, and Mend does what is left. Those who write at the same
// time share the first attempt; where that fails, each goes on by itself.
func (s *Store) feed(ctx context.Context, all ...*revision) error {
	return s.feedSince(ctx, time.Now(), all...)
}

// feedSince is feed of revisions that the log has got since an instant.
func (s *Store) feedSince(ctx context.Context, wrote time.Time, all ...*revision) error {
	defer s.tell(all[0].account, all[0].kind)
	memory, cancel := context.WithDeadline(ctx, wrote.Add(fromMemory))
	defer cancel()
	for _, f := range s.feeds[all[0].kind] {
		for attempt := 1; ; attempt++ {
			var err error
			if attempt == 1 {
				err = s.shared.share(memory, f.Table, s.bringing(f), all)
			} else {
				err = s.insertLogged(ctx, f, all)
			}
			if err == nil {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("list %s: %w", noun(all[0].kind), errors.Join(err, ctx.Err()))
			case <-time.After(time.Duration(attempt) * 50 * time.Millisecond):
			}
		}
	}
	return nil
}

// bringing returns how those who write at the same time bring their revisions to a table.
func (s *Store) bringing(f schemas.Feed) insert {
	return func(ctx context.Context, all []*revision) error { return s.insertWritten(ctx, f, all) }
}

// insertWritten brings revisions, as their writer has them, to a table, with what it can work out of them.
func (s *Store) insertWritten(ctx context.Context, f schemas.Feed, all []*revision) error {
	columns, values := workOut(f.Table, all)
	batch, err := s.db.PrepareBatch(again(ctx), f.Insert(columns...))
	if err != nil {
		return err
	}
	row := make([]any, len(f.Columns), len(f.Columns)+len(columns))
	for i, r := range all {
		for c, column := range f.Columns {
			row[c] = r.value(column)
		}
		if err := batch.Append(append(row, values[i]...)...); err != nil {
			batch.Abort()
			return err
		}
	}
	return batch.Send()
}

// insertLogged brings revisions, as they stand in the log, to a table.
func (s *Store) insertLogged(ctx context.Context, f schemas.Feed, all []*revision) error {
	ids, numbers := make([]uint64, len(all)), make([]uint64, len(all))
	since := all[0].at
	for i, r := range all {
		ids[i], numbers[i] = r.id, r.number
		if r.at.Before(since) {
			since = r.at
		}
	}
	return s.db.Exec(again(ctx), f.Insert()+"\n"+f.Of(schemas.Query("record_revisions")),
		clickhouse.Named("account", all[0].account), clickhouse.Named("kind", all[0].kind),
		clickhouse.Named("ids", ids), clickhouse.Named("revisions", numbers),
		clickhouse.Named("since", since.UnixMilli()))
}

// value returns what a revision has for a column that feeds fill.
func (r *revision) value(column string) any {
	switch column {
	case "account":
		return r.account
	case "kind":
		return r.kind
	case "id":
		return r.id
	case "revision":
		return r.number
	case "created_at":
		return r.createdAt
	case "updated_at":
		return r.at
	case "archived_at":
		return r.archivedAt
	case "actor":
		return r.actor
	case "body":
		return r.body
	}
	panic("no revision has " + column) // a test asks for the columns of all feeds
}
