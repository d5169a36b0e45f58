package sink

import (
	"os"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
	"github.com/motorpool/fleet/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

// A batch that comes again is looked for in tables of billions of rows.
func TestRowsAreLookedForByTheOrderOfTheirTables(t *testing.T) {
	db := schematest.Open(t)
	const rows = 1_000_000
	at := fleet.Millis(1_790_000_000_000)
	for _, sql := range []string{
		"INSERT INTO positions (account, vehicle, fix_time, cell) SELECT 7, number % 1000, " +
			"fromUnixTimestamp64Milli(1790000000000 + intDiv(number, 1000) * 1000), 600000 + cityHash64(number) % 100000 " +
			"FROM numbers(1000000)",
		"INSERT INTO vehicle_state (account, vehicle, version) SELECT 7, number, 1 FROM numbers(1000000)",
		"INSERT INTO vehicle_mileage (account, vehicle, time) SELECT 7, number, fromUnixTimestamp64Milli(1) " +
			"FROM numbers(1000000)",
	} {
		if err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	b := NewBatch(db, "positions", 0)
	b.Position(&fleet.Position{Account: 7, Vehicle: 3, FixTime: at + 1, Cell: 650_000}, 1)
	b.State(&State{Last: fleet.Position{Account: 7, Vehicle: 500_000}, Newest: at}, 1)
	b.Mileage(Mileage{Account: 7, Vehicle: 500_000, Time: at})
	for _, rowsOf := range []table{&b.positions, &b.states, &b.mileages} {
		for _, p := range rowsOf.keys(b.source).tables {
			read := uint64(0)
			ctx := clickhouse.Context(t.Context(),
				clickhouse.WithProgress(func(p *clickhouse.Progress) { read += p.Rows }))
			lost, err := b.lost(ctx, lookedFor{rowsOf, p})
			if err != nil || !lost {
				t.Errorf("%s: a row that is not there is found: %v", p.table, err)
			}
			if read == 0 || read > rows/10 {
				t.Errorf("%s: %d rows were read", p.table, read)
			}
		}
	}
}

// lookedFor is a table of which rows are looked for in one place only.
type lookedFor struct {
	table
	in place
}

func (l lookedFor) keys(s Source) keys {
	k := l.table.keys(s)
	k.tables = []place{l.in}
	return k
}
