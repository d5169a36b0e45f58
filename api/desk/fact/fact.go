// Package fact is the room of what reports stand on: what every vehicle did, earned and cost on each local day
// (vehicle_days, summed over months in vehicle_months and over all vehicles in fleet_days), which of its trips, stops
// and driving events began on each (driving_days, driving_months), how long it was in which geofence (geofence_days),
// what every booking had of a vehicle on each (rental_days), what every rental came to (rental_sums), what every
// booking was agreed to bring (booking_sums), on what its taxes were charged (tax_bases), and what the books have of
// every customer (customer_sums).
//
// Facts are a function of records, trips, visits and entries of the ledger, worked out by ClickHouse; whoever makes
// them again finds the same. A duty looks for what was written since somebody last looked, and makes the days again
// that it is about. Any number of processes may look, and be killed: how far everything was made again is noted when it
// was, and what is found twice is made twice.
//
// What was written is found by the time that it bears, which is that of before it was written: so a look goes back
// beyond the last one for longer than a write may take.
package fact

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/base"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/schemas"
)

// Facts makes the facts of all accounts. It is safe for concurrent use.
type Facts struct {
	*base.Base

	looking sync.Mutex
	ahead   looked              // how far this process has looked, which is only noted when no account is late
	late    map[uint64]lateness // the accounts whose facts it could not make

	together   int    // bookings in a batch at most
	rentalDays uint64 // of the rentals in a batch
}

// New opens the room.
func New(b *base.Base) *Facts { return &Facts{Base: b, together: togetherMost, rentalDays: rentalDays} }

// Register registers the duty.
func (f *Facts) Register() { f.AddDuty("facts", lookEvery, f.lookUnlessSeen) }

// account is what the facts of an account hang on.
type account struct {
	id       uint64
	zone     *time.Location
	currency string
	keeps    int  // days for which trips are kept, 0 for ever
	vehicles bool // it has some
}

// accounts reads one account, or all of them for 0.
func (f *Facts) accounts(ctx context.Context, id fleet.AccountID) (map[uint64]account, []uint64, error) {
	all, order := map[uint64]account{}, []uint64{}
	err := f.each(ctx, "facts_accounts", []any{clickhouse.Named("account", uint64(id))}, func(row schemas.Row) error {
		var a account
		var zone string
		var keeps uint32
		if err := row.Scan(&a.id, &zone, &a.currency, &keeps, &a.vehicles); err != nil {
			return err
		}
		a.zone, a.currency, a.keeps = ledger.ZoneOf(zone, time.UTC), cmp.Or(a.currency, "USD"), int(keeps)
		all[a.id], order = a, append(order, a.id)
		return nil
	})
	return all, order, err
}

// each runs the query of a name and hands over its rows.
func (f *Facts) each(ctx context.Context, name string, args []any, take func(row schemas.Row) error) error {
	return schemas.EachRow(ctx, f.DB, "read "+name, schemas.Query(name), args, take)
}

// exec runs the insert of a name. Rows that were there before and went must not be taken for repetitions.
func (f *Facts) exec(ctx context.Context, name string, args []any, options ...clickhouse.QueryOption) error {
	options = append(options, clickhouse.WithSettings(clickhouse.Settings{
		"insert_deduplicate": 0, "max_partitions_per_insert_block": 0,
	}))
	if err := f.DB.Exec(clickhouse.Context(ctx, options...), schemas.Query(name), args...); err != nil {
		return fmt.Errorf("make %s: %w", name, err)
	}
	return nil
}
