package record

import (
	"context"
	"fmt"
	"regexp"
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

// feed is a view that fills a table from record_log.
type feed struct {
	text      string
	columns   []string
	table     string
	key       string
	revisions bool
}

// Mend fills in what revisions did not bring to the tables that views feed from the log. An insert and what its views add to are not
// one step for a server that is killed. The process that wrote repeats the insert until it is acknowledged; Mend is for what was
// cut off when both died. It looks at the last ten minutes, and the first time at those before the newest revision.
// The rows that are missing go straight into their tables, so that the log is not touched.
func (s *Store) Mend(ctx context.Context) error {
	s.mending.mu.Lock()
	defer s.mending.mu.Unlock()
	until := s.now().Add(-settleAfter)
	since := s.mending.since
	if since.IsZero() {
		written, _, err := s.newestInstants(ctx)
		if err != nil {
			return err
		}
		if since = until; written.Before(since) {
			since = written
		}
	}
	feeds, err := s.feeds(ctx)
	if err != nil {
		return err
	}
	for _, f := range feeds {
		n, err := s.mend(ctx, &f, since.Add(-mendWithin), until)
		if err != nil {
			return fmt.Errorf("compare %s with its log: %w", f.table, err)
		}
		if n > 0 {
			s.log.WarnContext(ctx, "inserts were cut off; what they did not bring to a table was filled in", "table", f.table, "rows", n)
		}
	}
	s.mending.since = until
	return nil
}

// feeds returns the views that feed from the log.
func (s *Store) feeds(ctx context.Context) ([]feed, error) {
	rows, err := s.db.Query(ctx, schemas.Query("record_feeds"))
	if err != nil {
		return nil, fmt.Errorf("read the views of the log: %w", err)
	}
	defer rows.Close()
	var all []feed
	for rows.Next() {
		var f feed
		if err := rows.Scan(&f.text, &f.columns, &f.table, &f.key, &f.revisions); err != nil {
			return nil, fmt.Errorf("read the views of the log: %w", err)
		}
		all = append(all, f)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the views of the log: %w", err)
	}
	return all, nil
}

// fromLog is where the text of a view names the log, with the database before it.
var fromLog = regexp.MustCompile(`FROM [^ ]*\brecord_log\b`)

// mend fills in what is missing of a feed in a span, and returns how many rows that were.
func (s *Store) mend(ctx context.Context, f *feed, since, until time.Time) (uint64, error) {
	key := f.key
	if f.revisions {
		key += ", revision"
	}
	lately := fromLog.ReplaceAllLiteralString(f.text, "FROM (\n"+schemas.Query("record_lately")+"\n) AS record_log")
	text := func(insert, what string) string {
		return strings.NewReplacer("/*insert*/", insert, "/*what*/", what, "/*feed*/", "("+lately+"\n)", "/*key*/", key, "/*table*/", f.table).
			Replace(schemas.Query("record_torn"))
	}
	args := []any{clickhouse.Named("since", since.UnixMilli()), clickhouse.Named("until", until.UnixMilli())}
	var missing uint64
	if err := s.db.QueryRow(ctx, text("", "count()"), args...).Scan(&missing); err != nil || missing == 0 {
		return 0, err
	}
	columns := strings.Join(f.columns, ", ")
	return missing, s.db.Exec(ctx, text("INSERT INTO "+f.table+" ("+columns+")", columns), args...)
}
