package roster

import (
	"context"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/schemas"
)

// The log of revisions is looked at beside the tables of current records: what it has and they have not yet.
const logTable = "record_log"

// span are inserts into a table, by the numbers that the store gives them: from the first to the last.
type span struct{ first, last int64 }

// part is what the store says of a part of a table.
type part struct {
	span
	partition string
	mutated   int64
	rows      uint64
}

// known is what has been seen of a table: what came from which inserts, by partition, the newest mutation, and how many
// parts it has still to come to.
type known struct {
	spans         map[string][]span // in order, apart from each other
	mutated, left int64
}

// readParts returns the parts of some tables as they stand at one moment.
func readParts(ctx context.Context, db driver.Conn, tables []string) (map[string][]part, error) {
	all := map[string][]part{}
	err := schemas.EachRow(ctx, db, "look at the parts of tables", schemas.Query("tables_parts"),
		[]any{clickhouse.Named("tables", tables)}, func(row schemas.Row) error {
			var table string
			var p part
			if err := row.Scan(&table, &p.partition, &p.first, &p.last, &p.mutated, &p.rows); err != nil {
				return err
			}
			all[table] = append(all[table], p)
			return nil
		})
	return all, err
}

// plain says whether the parts that a server has of some tables are all that there are.
func plain(ctx context.Context, db driver.Conn, tables []string) (bool, error) {
	var n uint64
	if err := db.QueryRow(ctx, schemas.Query("tables_plain"), clickhouse.Named("tables", tables)).Scan(&n); err != nil {
		return false, fmt.Errorf("look at the engines of tables: %w", err)
	}
	return n == uint64(len(tables)), nil
}

// knownOf is what there is to know of parts.
func knownOf(parts []part) known {
	k := known{spans: map[string][]span{}}
	for _, p := range parts {
		k.spans[p.partition] = append(k.spans[p.partition], p.span)
		k.mutated = max(k.mutated, p.mutated)
	}
	for _, p := range parts {
		if p.mutated < k.mutated && p.first < k.mutated { // inserts and mutations are numbered together
			k.left++
		}
	}
	for name, spans := range k.spans {
		slices.SortFunc(spans, func(a, b span) int { return int(a.first - b.first) })
		joined := spans[:1]
		for _, s := range spans[1:] {
			if last := &joined[len(joined)-1]; s.first <= last.last+1 {
				last.last = max(last.last, s.last)
			} else {
				joined = append(joined, s)
			}
		}
		k.spans[name] = joined
	}
	return k
}

// has says whether one of the spans has all of another.
func (k *known) has(partition string, s span) bool {
	return slices.ContainsFunc(k.spans[partition], func(o span) bool { return o.first <= s.first && s.last <= o.last })
}

// since compares what is known with what there is now. It returns the first insert that is not known, 0 if all are, and
// about how many rows the parts have that came from such; and whether rows that were known may be others by now, or
// gone: the table was mutated, emptied, or is another one.
func (k *known) since(now *known, parts []part) (first int64, rows uint64, other bool) {
	other = now.mutated != k.mutated || now.left != k.left
	for partition, spans := range k.spans {
		other = other || slices.ContainsFunc(spans, func(s span) bool { return !now.has(partition, s) })
	}
	for _, p := range parts {
		if k.has(p.partition, p.span) {
			continue
		}
		unseen := p.first
		for _, s := range k.spans[p.partition] {
			if s.first <= unseen && unseen <= s.last {
				unseen = s.last + 1
			}
		}
		if first == 0 || unseen < first {
			first = unseen
		}
	}
	if first != 0 {
		for _, p := range parts {
			if p.last >= first {
				rows += p.rows
			}
		}
	}
	return first, rows, other
}
