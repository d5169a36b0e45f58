package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/ext"

	"github.com/motorpool/fleet/schemas"
)

// feed is a table of current records, and the text that has the server make its rows.
type feed struct {
	table string
	text  string // over the revisions that a statement brings along
	log   string // over those that stand in the log
}

// written names the revisions that a statement of a feed brings along.
const written = "written_revisions"

// feedsOf returns by kind what brings revisions of it to its tables of current records.
func feedsOf() map[string][]feed {
	all := make(map[string][]feed)
	for _, f := range schemas.Feeds() {
		for _, kind := range f.Kinds {
			all[kind] = append(all[kind], feed{f.Table, f.Insert("SELECT * FROM " + written), f.Insert(schemas.Query("record_revisions"))})
		}
	}
	return all
}

// again makes an insert that may be repeated, and then is to be carried out: the table keeps one row of those that are the same. Since
// ClickHouse 26 insert_deduplicate says that of an INSERT SELECT alone, and without a token the content of others counts: so each has its own.
func again(ctx context.Context) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"insert_deduplicate": 0, "insert_deduplication_token": fmt.Sprintf("again:%d", RandomID()), "max_partitions_per_insert_block": 0,
	}))
}

// fromMemory is how long a feed may take that brings what its writer has in memory. One that takes longer reads the log, out of which an erasure
// may have taken what the writer still has: Sweep waits so long between the log and the tables.
const fromMemory = time.Second

// feed brings revisions that stand, of records of one kind and account, to the tables of current records: lists then know them. It goes on
// until that is done or the time is up, and Mend does what is left.
func (s *Store) feed(ctx context.Context, all ...*revision) error {
	memory, cancel := context.WithTimeout(ctx, fromMemory)
	defer cancel()
	for _, f := range s.feeds[all[0].kind] {
		bring := s.selectRows
		if !slices.ContainsFunc(all, func(r *revision) bool { return r.row == nil }) {
			bring = s.insertRows
		}
		for attempt := 1; ; attempt++ {
			inner := memory
			if attempt > 1 {
				inner, bring = ctx, s.insertLogged
			}
			err := bring(inner, f, all)
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

// insertRows brings revisions that have rows to a table.
func (s *Store) insertRows(ctx context.Context, f feed, all []*revision) error {
	var columns []string
	for _, cell := range all[0].row {
		columns = append(columns, cell.Column)
	}
	batch, err := s.db.PrepareBatch(again(ctx), "INSERT INTO "+f.table+" ("+strings.Join(columns, ", ")+")")
	if err != nil {
		return err
	}
	values := make([]any, len(columns))
	for _, r := range all {
		for i, cell := range r.row {
			values[i] = cell.Value
		}
		if err := batch.Append(values...); err != nil {
			batch.Abort()
			return err
		}
	}
	return batch.Send()
}

// insertLogged has the server make the rows of revisions as they stand in the log.
func (s *Store) insertLogged(ctx context.Context, f feed, all []*revision) error {
	ids, numbers := make([]uint64, len(all)), make([]uint64, len(all))
	for i, r := range all {
		ids[i], numbers[i] = r.id, r.number
	}
	return s.db.Exec(again(ctx), f.log, clickhouse.Named("account", all[0].account), clickhouse.Named("kind", all[0].kind),
		clickhouse.Named("ids", ids), clickhouse.Named("revisions", numbers))
}

// selectRows has the server make the rows of revisions.
func (s *Store) selectRows(ctx context.Context, f feed, all []*revision) error {
	brought, err := ext.NewTable(written, ext.Column("account", "UInt64"), ext.Column("kind", "String"), ext.Column("id", "UInt64"),
		ext.Column("revision", "UInt64"), ext.Column("action", "String"), ext.Column("at", "DateTime64(3, 'UTC')"),
		ext.Column("created_at", "DateTime64(3, 'UTC')"), ext.Column("archived_at", "Nullable(DateTime64(3, 'UTC'))"),
		ext.Column("actor", "String"), ext.Column("body", "String"))
	if err != nil {
		return err
	}
	for _, r := range all {
		if err := brought.Append(r.account, r.kind, r.id, r.number, r.action, r.at, r.createdAt, r.archivedAt, r.actor, r.body); err != nil {
			return err
		}
	}
	return s.db.Exec(clickhouse.Context(again(ctx), clickhouse.WithExternalTable(brought)), f.text)
}
