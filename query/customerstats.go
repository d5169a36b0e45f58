package query

import (
	"cmp"
	"context"
	"slices"
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
	Revenue   int64 // earned through a day, by the books; without taxes
	Booked    int64 // what the bookings come to without taxes
	Due       int64
}

// add counts what another customer booked in that currency.
func (s *CustomerStats) add(o *CustomerStats) {
	if o.Bookings != 0 && (s.Bookings == 0 || o.First.Before(s.First)) {
		s.First = o.First
	}
	if o.Last.After(s.Last) {
		s.Last = o.Last
	}
	s.Bookings += o.Bookings
	s.Completed += o.Completed
	s.Cancelled += o.Cancelled
	s.NoShow += o.NoShow
	s.Damaged += o.Damaged
	s.Revenue += o.Revenue
	s.Booked += o.Booked
	s.Due += o.Due
}

// StatsOfCustomers returns what customers have booked, and what that has earned through a day on accounts of the
// ledger, each with all that were merged into it, by currency, the one with most bookings first. It takes three queries
// for all of them, and one for each step of their merges.
func StatsOfCustomers(
	ctx context.Context, db driver.Conn, account fleet.AccountID, ids []uint64, through time.Time, accounts []string,
) (map[uint64][]CustomerStats, error) {
	family, into, err := mergedFamily(ctx, db, "customers_merged", account, ids)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(family))
	for i, id := range family {
		names[i] = fleet.FormatID(fleet.CustomerPrefix, id)
	}
	all := map[uint64][]CustomerStats{}
	count := func(customer uint64, booked *CustomerStats) {
		seen := map[uint64]bool{}
		for id, merged := customer, true; merged && !seen[id]; id, merged = into[id] {
			if seen[id] = true; slices.Contains(ids, id) {
				all[id] = counted(all[id], booked)
			}
		}
	}
	if err = bookedBy(ctx, db, account, names, count); err == nil {
		err = earnedBy(ctx, db, account, family, through, accounts, count)
	}
	if err == nil {
		err = prepaidBy(ctx, db, account, names, count)
	}
	for _, stats := range all {
		slices.SortFunc(stats, func(a, b CustomerStats) int {
			return cmp.Or(cmp.Compare(b.Bookings, a.Bookings), cmp.Compare(a.Currency, b.Currency))
		})
	}
	return all, err
}

// counted adds what somebody booked in a currency to what is known.
func counted(stats []CustomerStats, booked *CustomerStats) []CustomerStats {
	i := slices.IndexFunc(stats, func(s CustomerStats) bool { return s.Currency == booked.Currency })
	if i < 0 {
		return append(stats, *booked)
	}
	stats[i].add(booked)
	return stats
}

// bookedBy tells what customers, named by their ids as text, have booked: each of its own, by currency.
func bookedBy(ctx context.Context, db driver.Conn, account fleet.AccountID, names []string,
	tell func(customer uint64, booked *CustomerStats)) error {
	return schemas.EachRow(ctx, db, "read bookings of customers", schemas.Query("customer_stats"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("customers", names),
	}, func(row schemas.Row) error {
		var s CustomerStats
		var name string
		if err := row.Scan(&name, &s.Currency, &s.Bookings, &s.Completed, &s.Cancelled, &s.NoShow, &s.Damaged, &s.First,
			&s.Last, &s.Booked, &s.Due); err != nil {
			return err
		}
		id, err := fleet.ParseID(fleet.CustomerPrefix, name)
		if err != nil {
			return err
		}
		tell(id, &s)
		return nil
	})
}

// prepaidBy tells what customers, named by their ids as text, paid without a booking: that much less they owe.
func prepaidBy(
	ctx context.Context, db driver.Conn, account fleet.AccountID, names []string,
	tell func(customer uint64, prepaid *CustomerStats),
) error {
	return schemas.EachRow(ctx, db, "read what customers paid ahead", schemas.Query("customer_prepaid"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("customers", names),
	}, func(row schemas.Row) error {
		var s CustomerStats
		var name string
		if err := row.Scan(&name, &s.Currency, &s.Due); err != nil {
			return err
		}
		s.Due = -s.Due
		if id, err := fleet.ParseID(fleet.CustomerPrefix, name); err == nil {
			tell(id, &s)
		}
		return nil
	})
}

// earnedBy tells what customers have earned through a day on accounts of the ledger: each of its own, by currency.
func earnedBy(
	ctx context.Context, db driver.Conn, account fleet.AccountID, customers []uint64, through time.Time, accounts []string,
	tell func(customer uint64, earned *CustomerStats),
) error {
	return schemas.EachRow(ctx, db, "read revenue of customers", schemas.Query("customer_revenue"), []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("customers", customers),
		clickhouse.Named("through", through.Format(time.DateOnly)), clickhouse.Named("accounts", accounts),
	}, func(row schemas.Row) error {
		var s CustomerStats
		var id uint64
		if err := row.Scan(&id, &s.Currency, &s.Revenue); err != nil {
			return err
		}
		tell(id, &s)
		return nil
	})
}

// Outstanding is a booking that is not over, or not settled.
type Outstanding struct {
	Booking uint64
	Status  string
	Due     int64 // minor units
}

// OutstandingOf returns the bookings of customers that are not over, or not settled, at most 50.
func OutstandingOf(ctx context.Context, db driver.Conn, account fleet.AccountID,
	names []string) ([]Outstanding, error) {
	args := []any{
		clickhouse.Named("account", uint64(account)), clickhouse.Named("customers", names),
	}
	return schemas.AllRows(ctx, db, "read what is outstanding of customers", schemas.Query("customer_outstanding"), args,
		func(o *Outstanding, row schemas.Row) error {
			return row.Scan(&o.Booking, &o.Status, &o.Due)
		})
}
