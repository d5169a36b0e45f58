package books

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/query"
)

// CheckBooks works out anew what ought to stand because of the records of the newest so many transactions, of all
// accounts, and returns how many it looked at, and what differs from what their entries sum to, in words.
func CheckBooks(ctx context.Context, db driver.Conn, sample int) (looked int, wrong []string, err error) {
	records, err := query.LedgerSample(ctx, db, sample)
	if err != nil {
		return 0, nil, err
	}
	for _, r := range records {
		_, postings, err := ledger.Of(record.Written{Kind: r.Kind, ID: r.ID, After: []byte(r.Body)}, time.UTC)
		if err != nil {
			return 0, nil, err
		}
		left := r.Sums
		for _, p := range postings {
			left[string(p.Account)+" "+p.Currency] -= p.Amount
		}
		for name, sum := range left {
			if sum != 0 {
				wrong = append(wrong, fmt.Sprintf("%s: %s is off by %d", fleet.FormatID(ledger.Kinds[r.Kind], r.ID), name, sum))
			}
		}
	}
	return len(records), wrong, nil
}
