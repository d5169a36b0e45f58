package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/schemas"
)

// feedsOf returns by kind the texts that bring revisions of it to its tables of current records.
func feedsOf() map[string][]string {
	all := make(map[string][]string)
	for _, f := range schemas.Feeds() {
		for _, kind := range f.Kinds {
			all[kind] = append(all[kind], f.Insert(schemas.Query("record_revisions")))
		}
	}
	return all
}

// again makes an insert that may be repeated, and then is to be carried out: the table keeps one row of those that are the same.
func again(ctx context.Context) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"insert_deduplicate": 0, "max_partitions_per_insert_block": 0}))
}

// feed brings revisions that stand, of records of one kind and account, to the tables of current records: lists then know them. It goes on
// until that is done or the time is up, and Mend does what is left.
func (s *Store) feed(ctx context.Context, all ...*revision) error {
	ids, numbers := make([]uint64, len(all)), make([]uint64, len(all))
	for i, r := range all {
		ids[i], numbers[i] = r.id, r.number
	}
	args := []any{clickhouse.Named("account", all[0].account), clickhouse.Named("kind", all[0].kind), clickhouse.Named("ids", ids),
		clickhouse.Named("revisions", numbers)}
	for _, text := range s.feeds[all[0].kind] {
		for attempt := 1; ; attempt++ {
			err := s.db.Exec(again(ctx), text, args...)
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
