package record

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/schemas"
)

// mendWithin is how far Mend looks back from where it looked last.
const mendWithin = 10 * time.Minute

// mending is what one call of Mend leaves to the next.
type mending struct {
	mu    sync.Mutex
	since time.Time // what was written before is whole; zero before the first call
}

// Mend fills in what revisions did not bring to the tables of current records. A revision and its rows there are not
// one step; who wrote the one goes on until the other is done or its deadline has passed, and Mend is for what was cut
// off: the process died, or the server was away. It looks at the last ten minutes, and the first time at those before
// the newest revision and at what was written just now: that is what a process cut off that died and was started again.
func (s *Store) Mend(ctx context.Context) error {
	s.mending.mu.Lock()
	defer s.mending.mu.Unlock()
	until := s.now().Add(-settleAfter)
	if err := s.mendAll(ctx, until, nil); err != nil {
		return err
	}
	s.mending.since = until
	return nil
}

// MendNow is Mend of some kinds up to this moment, for whoever is about to decide by their tables something that cannot
// be taken back: what a process did not bring there that died a moment ago is there then.
func (s *Store) MendNow(ctx context.Context, kinds ...string) error {
	s.mending.mu.Lock()
	defer s.mending.mu.Unlock()
	return s.mendAll(ctx, s.now().Add(-settleAfter), kinds)
}

// mendAll compares the tables of all kinds with the log until an instant, or those of some kinds up to now.
func (s *Store) mendAll(ctx context.Context, until time.Time, only []string) error {
	since, upto := s.mending.since, until
	if since.IsZero() || only != nil {
		upto = s.now().Add(settleAfter)
	}
	if since.IsZero() {
		written, _, err := s.newestInstants(ctx)
		if err != nil {
			return err
		}
		if since = until; written.Before(since) {
			since = written
		}
	}
	keys, err := s.tableKeys(ctx)
	if err != nil {
		return err
	}
	kinds, err := s.kindsLately(ctx, since.Add(-mendWithin), upto)
	if err != nil {
		return err
	}
	for _, f := range s.cfg.Feeds {
		if !slices.ContainsFunc(f.Kinds, func(kind string) bool {
			return kinds[kind] && (only == nil || slices.Contains(only, kind))
		}) {
			continue
		}
		n, err := s.mend(ctx, &f, keys[f.Table], since.Add(-mendWithin), upto)
		if err != nil {
			return fmt.Errorf("compare %s with the log: %w", f.Table, err)
		}
		if n > 0 {
			level, said := slog.LevelWarn, "writes were cut off; what they did not bring to a table was filled in"
			if upto.After(until) {
				level, said = slog.LevelInfo, "what was on its way to a table, or was cut off before it, was filled in"
			}
			s.log.Log(ctx, level, said, "table", f.Table, "rows", n)
		}
	}
	return nil
}

// kindsLately returns the kinds of which revisions were written in a span: few, so that most tables need
// not be looked at.
func (s *Store) kindsLately(ctx context.Context, since, until time.Time) (map[string]bool, error) {
	var names []string
	if err := s.db.QueryRow(ctx, schemas.Query("record_kinds_lately"), clickhouse.Named("since", since.UnixMilli()),
		clickhouse.Named("until", until.UnixMilli())).Scan(&names); err != nil {
		return nil, fmt.Errorf("read what was written lately: %w", err)
	}
	kinds := make(map[string]bool, len(names))
	for _, name := range names {
		kinds[name] = true
	}
	return kinds, nil
}

// tableKey is the order of a table's rows.
type tableKey struct {
	columns string
	made    string // those of them that the table takes from a record, each with its expression
}

// tableKeys returns the key of each table.
func (s *Store) tableKeys(ctx context.Context) (map[string]tableKey, error) {
	keys := make(map[string]tableKey)
	err := schemas.EachRow(ctx, s.db, "read the keys of tables", schemas.Query("table_keys"), nil,
		func(row schemas.Row) error {
			var table string
			var key tableKey
			if err := row.Scan(&table, &key.columns, &key.made); err != nil {
				return err
			}
			keys[table] = key
			return nil
		})
	return keys, err
}

// mend fills in what is missing of a feed in a span, and returns how many rows that were.
func (s *Store) mend(ctx context.Context, f *schemas.Feed, key tableKey, since, until time.Time) (uint64, error) {
	text := func(insert, what string) string {
		return strings.NewReplacer("/*insert*/", insert, "/*what*/", what, "/*made*/", key.made,
			"/*feed*/", "(\n"+f.Of(schemas.Query("record_lately"))+"\n)",
			"/*key*/", key.columns+", revision", "/*table*/", f.Table).Replace(schemas.Query("record_torn"))
	}
	args := []any{clickhouse.Named("since", since.UnixMilli()), clickhouse.Named("until", until.UnixMilli())}
	var missing uint64
	if err := s.db.QueryRow(ctx, text("", "count()"), args...).Scan(&missing); err != nil || missing == 0 {
		return 0, err
	}
	return missing, s.db.Exec(again(ctx), text(f.Insert(), strings.Join(f.Columns, ", ")), args...)
}
