package sink

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/ext"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"

	"github.com/motorpool/fleet/schemas"
)

// keys are what the rows of a batch are found by, in the tables that an insert of them fills with the same rows. Without tables they need not be
// found: sent once more, they change nothing.
type keys struct {
	tables    []string
	partition string   // of all these tables
	columns   []string // name and type; the first key of them are the key, the others are for the partition
	key       int
	row       func(i int) []any
}

// sentRows names the keys that a query brings along.
const sentRows = "sent_rows"

// lost says whether rows are missing of which the server says that it has seen their token, in a turn: it notes the token before the rows, and may
// have been killed in between. A row that another one has replaced since, with the same key, is there; so is a partition's part if one of its rows is:
// a batch that is formed again may differ in some.
func (b *Batch) lost(ctx context.Context, t table, turn int) (bool, error) {
	k := t.keys(b.source)
	if len(k.tables) == 0 {
		return turn == 1, nil
	}
	var columns []func(*ext.Table) error
	var names []string
	for _, c := range k.columns {
		name, kind, _ := strings.Cut(c, " ")
		columns, names = append(columns, ext.Column(name, column.Type(kind))), append(names, name)
	}
	sent, err := ext.NewTable(sentRows, columns...)
	if err != nil {
		return false, err
	}
	for i := range t.rows() {
		if err := sent.Append(k.row(i)...); err != nil {
			return false, err
		}
	}
	for _, table := range k.tables {
		text := strings.NewReplacer("/*key*/", strings.Join(names[:k.key], ", "), "/*partition*/", k.partition, "/*table*/", table).
			Replace(schemas.Query("rows_lost"))
		var missing uint64
		if err := b.db.QueryRow(clickhouse.Context(ctx, clickhouse.WithExternalTable(sent)), text).Scan(&missing); err != nil {
			return false, fmt.Errorf("look for the rows in %s: %w", table, err)
		}
		if missing > 0 {
			return true, nil
		}
	}
	return false, nil
}

func (r *positionRows) keys(Source) keys {
	return keys{tables: []string{"positions", "positions_by_cell"}, partition: "toYYYYMM(fix_time)", key: 3,
		columns: []string{"account UInt64", "vehicle UInt64", "fix_time DateTime64(3, 'UTC')"},
		row:     func(i int) []any { return []any{r.accounts[i], r.vehicles[i], r.fixTimes[i]} }}
}

func (r *telemetryRows) keys(Source) keys {
	return keys{tables: []string{"telemetry"}, partition: "toYYYYMM(time)", key: 4,
		columns: []string{"account UInt64", "vehicle UInt64", "signal String", "time DateTime64(3, 'UTC')"},
		row:     func(i int) []any { return []any{r.accounts[i], r.vehicles[i], r.signals[i], r.times[i]} }}
}

func (r *letterRows) keys(s Source) keys {
	return keys{tables: []string{"dead_letters"}, partition: "toYYYYMM(at)", key: 3,
		columns: []string{"account UInt64", "at DateTime64(3, 'UTC')", "id UInt64"},
		row: func(i int) []any {
			l := &r.letters[i]
			return []any{uint64(l.Account), l.At.Time(), LetterID(s.Topic, s.Partition, l.Offset, l.Index)}
		}}
}

func (r *apartRows) keys(s Source) keys {
	return keys{tables: []string{"unregistered_reports"}, partition: "toYYYYMMDD(at)", key: 5,
		columns: []string{"unique_id String", "source_topic String", "source_partition UInt16", "source_offset UInt64", "source_index UInt32",
			"at DateTime64(3, 'UTC')"},
		row: func(i int) []any {
			return []any{r.uniqueIDs[i], s.Topic, uint16(s.Partition), r.offsets[i], r.indexes[i], r.times[i]}
		}}
}

func (r *outcomeRows) keys(s Source) keys {
	return keys{tables: []string{"ingest_outcomes"}, partition: "toYYYYMM(at)", key: 5,
		columns: []string{"run String", "topic String", "partition UInt16", "first_offset UInt64", "account UInt64", "at DateTime64(3, 'UTC')"},
		row: func(i int) []any {
			o := &r.outcomes[i]
			return []any{o.Run, s.Topic, uint16(s.Partition), uint64(o.First), uint64(o.Account), o.At.Time()}
		}}
}

func (r *mileageRows) keys(Source) keys { return keys{} }
func (r *stateRows) keys(Source) keys   { return keys{} }
