package query

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// CustomerStats is what a customer has booked in one currency; amounts are minor units.
type CustomerStats struct {
	Currency  string
	Bookings  uint64
	Completed uint64
	Cancelled uint64
	NoShow    uint64
	Damaged   uint64 // bookings with damage
	First     time.Time
	Last      time.Time
	Revenue   int64
	Due       int64
}

// StatsOfCustomer returns what customers that count as one have booked, by currency, the one with most bookings first.
func StatsOfCustomer(ctx context.Context, db driver.Conn, account fleet.AccountID, names []string) ([]CustomerStats, error) {
	rows, err := db.Query(ctx, schemas.Query("customer_stats"), clickhouse.Named("account", uint64(account)), clickhouse.Named("customers", names))
	if err != nil {
		return nil, fmt.Errorf("read bookings of customers: %w", err)
	}
	defer rows.Close()
	var all []CustomerStats
	for rows.Next() {
		var s CustomerStats
		if err := rows.Scan(&s.Currency, &s.Bookings, &s.Completed, &s.Cancelled, &s.NoShow, &s.Damaged, &s.First, &s.Last, &s.Revenue, &s.Due); err != nil {
			return nil, fmt.Errorf("read bookings of customers: %w", err)
		}
		all = append(all, s)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read bookings of customers: %w", err)
	}
	return all, nil
}

// Outstanding is a booking that is not over, or not settled.
type Outstanding struct {
	Booking uint64
	Status  string
	Due     int64 // minor units
}

// OutstandingOf returns the bookings of customers that are not over, or not settled, at most 50.
func OutstandingOf(ctx context.Context, db driver.Conn, account fleet.AccountID, names []string) ([]Outstanding, error) {
	rows, err := db.Query(ctx, schemas.Query("customer_outstanding"), clickhouse.Named("account", uint64(account)), clickhouse.Named("customers", names))
	if err != nil {
		return nil, fmt.Errorf("read what is outstanding of customers: %w", err)
	}
	defer rows.Close()
	var all []Outstanding
	for rows.Next() {
		var o Outstanding
		if err := rows.Scan(&o.Booking, &o.Status, &o.Due); err != nil {
			return nil, fmt.Errorf("read what is outstanding of customers: %w", err)
		}
		all = append(all, o)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read what is outstanding of customers: %w", err)
	}
	return all, nil
}
