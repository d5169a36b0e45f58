package schemas

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/ext"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// FactsVersion is that of what facts are, as the queries facts_* make them. A program with another one makes all of
// them again, and until then its reports say that what they stand on is not made.
const FactsVersion uint32 = 10

// Chosen sends bookings along with a query that makes facts of them, as its table chosen. In a parameter, ten thousand
// of them would be taken apart anew at each place where the query names it: a quarter of what such a query cost.
func Chosen(bookings []uint64) (clickhouse.QueryOption, error) {
	table, err := ext.NewTable("chosen", ext.Column("booking", "UInt64"))
	if err != nil {
		return nil, err
	}
	for _, id := range bookings {
		if err := table.Append(id); err != nil {
			return nil, err
		}
	}
	return clickhouse.WithExternalTable(table), nil
}

// ChosenAmong is Chosen of all bookings of an account whose ids are from first to last, for a store that is filled
// without a desk: those of tests and of load tests.
func ChosenAmong(ctx context.Context, db driver.Conn, account, first, last uint64) (clickhouse.QueryOption, error) {
	ids, err := AllRows(ctx, db, "find the bookings of some facts", Query("facts_bookings_among"), []any{
		clickhouse.Named("account", account), clickhouse.Named("first", first), clickhouse.Named("last", last),
	}, func(id *uint64, row Row) error { return row.Scan(id) })
	if err != nil {
		return nil, err
	}
	return Chosen(ids)
}
