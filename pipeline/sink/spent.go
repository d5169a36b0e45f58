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

// keys are what the rows of a batch are found by, in the tables that an insert of them fills. Without tables they are
// not looked for: sent once more, they change nothing.
type keys struct {
	tables  []place
	columns []string // The names and types of what is sent along of each row.
	row     func(i int) []any
}

// place is where rows are to be in a table.
type place struct {
	table     string
	key       string // The key's columns, in the order of the table's own.
	partition string // The partition of the table, where rows are lost by partitions.
	// there is set where a vehicle has one row: it says of a row t that it stands there for a row s of the batch,
	// or in its place.
	there string
}

// query counts what is missing there.
func (p place) query() string {
	name := "rows_lost"
	if p.there != "" {
		name = "states_lost"
	}
	return strings.NewReplacer("/*key*/", p.key, "/*partition*/", p.partition, "/*there*/", p.there, "/*table*/",
		p.table).Replace(schemas.Query(name))
}

// sentRows names the keys that a query brings along.
const sentRows = "sent_rows"

// lost says whether rows are missing of which the server says that it has seen their token: it notes the token before
// the rows, and may have been killed in between. A row that another one has replaced since, with the same key, is
// there; so is a partition's part if one of its rows is: a batch that is formed again may differ in some. That holds
// only of keys that no other batch has.
func (b *Batch) lost(ctx context.Context, t table) (bool, error) {
	k := t.keys(b.source)
	if len(k.tables) == 0 {
		return true, nil
	}
	var columns []func(*ext.Table) error
	for _, c := range k.columns {
		name, kind, _ := strings.Cut(c, " ")
		columns = append(columns, ext.Column(name, column.Type(kind)))
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
	for _, p := range k.tables {
		var missing uint64
		if err := b.db.QueryRow(clickhouse.Context(ctx, clickhouse.WithExternalTable(sent)),
			p.query()).Scan(&missing); err != nil {
			return false, fmt.Errorf("look for the rows in %s: %w", p.table, err)
		}
		if missing > 0 {
			return true, nil
		}
	}
	return false, nil
}

func (r *positionRows) keys(Source) keys {
	return keys{
		tables: []place{
			{table: "positions", key: "account, vehicle, fix_time", partition: "toYYYYMM(fix_time)"},
			{table: "positions_by_cell", key: "account, cell, fix_time, vehicle", partition: "toYYYYMM(fix_time)"},
		},
		columns: []string{"account UInt64", "vehicle UInt64", "fix_time DateTime64(3, 'UTC')", "cell UInt64"},
		row:     func(i int) []any { return []any{r.accounts[i], r.vehicles[i], r.fixTimes[i], r.cells[i]} }}
}

// keys of telemetry are none: a report that is refused as a duplicate stores its signals again, so that a row says
// nothing of a batch, and none of what the views made of it.
func (r *telemetryRows) keys(Source) keys { return keys{} }

func (r *tagRows) keys(Source) keys { return keys{} } // as telemetry

// keys of letters have no time: one that has none is dated when it is written.
func (r *letterRows) keys(s Source) keys {
	return keys{
		tables:  []place{{table: "dead_letters", key: "account, id", partition: "toYYYYMM(at)"}},
		columns: []string{"account UInt64", "id UInt64", "at DateTime64(3, 'UTC')"},
		row: func(i int) []any {
			l := &r.letters[i]
			return []any{uint64(l.Account), LetterID(s.Topic, s.Partition, l.Offset, l.Index), l.At.Time()}
		}}
}

func (r *apartRows) keys(s Source) keys {
	return keys{
		tables: []place{{table: "unregistered_reports", partition: "toYYYYMMDD(at)",
			key: "unique_id, source_topic, source_partition, source_offset, source_index"}},
		columns: []string{"unique_id String", "source_topic String", "source_partition UInt16", "source_offset UInt64",
			"source_index UInt32",
			"at DateTime64(3, 'UTC')"},
		row: func(i int) []any {
			return []any{r.uniqueIDs[i], s.Topic, uint16(s.Partition), r.offsets[i], r.indexes[i], r.times[i]}
		}}
}

func (r *outcomeRows) keys(s Source) keys {
	return keys{
		tables: []place{{table: "ingest_outcomes", key: "run, topic, partition, first_offset, account",
			partition: "toYYYYMM(at)"}},
		columns: []string{"run String", "topic String", "partition UInt16", "first_offset UInt64", "account UInt64",
			"at DateTime64(3, 'UTC')"},
		row: func(i int) []any {
			o := &r.outcomes[i]
			return []any{o.Run, s.Topic, uint16(s.Partition), uint64(o.First), uint64(o.Account), o.At.Time()}
		}}
}

func (r *mileageRows) keys(Source) keys {
	return keys{
		tables:  []place{{table: "vehicle_mileage", key: "account, vehicle", there: "t.time >= s.time"}},
		columns: []string{"account UInt64", "vehicle UInt64", "time DateTime64(3, 'UTC')"},
		row:     func(i int) []any { return []any{r.accounts[i], r.vehicles[i], r.times[i]} }}
}

// keys of states tell those of the same version, which late fixes leave as it was, by the offset: of a partition's
// batches the later one stands.
func (r *stateRows) keys(s Source) keys {
	const there = "t.version > s.version OR t.version = s.version AND t.source_topic = s.source_topic " +
		"AND t.source_partition = s.source_partition AND t.source_offset >= s.source_offset"
	return keys{
		tables: []place{{table: "vehicle_state", key: "account, vehicle", there: there}},
		columns: []string{"account UInt64", "vehicle UInt64", "version UInt64", "source_topic String",
			"source_partition UInt16",
			"source_offset UInt64"},
		row: func(i int) []any {
			return []any{r.accounts[i], r.vehicles[i], r.versions[i], s.Topic, uint16(s.Partition), r.offsets[i]}
		}}
}
