// Package audit is the room of reconciliation: it holds what is stored twice against each other, which is the ledger
// against its rollups, facts against the ledger, bookings, calendars, trips and charges, and summed over months, tables
// of current records against the log, and deposits held against deposits owed. What differs is a drift: it is told by
// an event, and made again from what never changes, the log of revisions and the entries of the ledger.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/rental/ledger"
	"github.com/motorpool/fleet/schemas"
)

// The checks, in the order in which their drifts are repaired: each stands on those before it.
const (
	Counts       = "counts"       // tables of current records against the log
	Transactions = "transactions" // unbalanced, incomplete or doubled ones
	Deposits     = "deposits"     // held by the ledger against owed by bookings
	Rollups      = "rollups"      // against the ledger
	Rentals      = "rentals"      // rented seconds and billed days against bookings, money of rentals against the ledger
	Calendars    = "calendars"    // against rented seconds
	Facts        = "facts"        // their money against the ledger
	Driven       = "driven"       // distance, fuel, energy and days in geofences, against what trackers told
	Months       = "months"       // of facts, against their days, and days of the fleet
)

// Checks lists them.
var Checks = []string{Counts, Transactions, Deposits, Rollups, Rentals, Calendars, Facts, Driven, Months}

// Drift is something that is stored twice and differs.
type Drift struct {
	Check    string          `json:"check"`
	Account  fleet.AccountID `json:"-"`
	What     string          `json:"what"` // is compared: a measure, a table
	Key      string          `json:"key"`  // where, in words
	Expected int64           `json:"expected"`
	Found    int64           `json:"found"`
	kind     string          // of the record that it is about
	id       uint64
	day      string
}

// String says a drift in a line.
func (d Drift) String() string {
	return fmt.Sprintf("%s: %s of %s, %s: %d, and ought to be %d (%+d)", d.Check, d.What, d.Key, d.Account, d.Found,
		d.Expected, d.Found-d.Expected)
}

// Bounds of a look.
const (
	settled = time.Hour // since a record was written, after which what follows from it stands
	most    = 1000      // drifts of a check, or of a month of it, of an account
)

// Look runs the checks of some names, all if there are none, over all accounts. It looks twice, as far apart as it is
// told, and returns what is the same at both: what is under way is no drift. A check that fails keeps the others from
// nothing: with the error there is what these have found.
func Look(ctx context.Context, db driver.Conn, now time.Time, apart time.Duration, names ...string) ([]Drift, error) {
	first, failed := once(ctx, db, now, names)
	if len(first) == 0 {
		return nil, failed
	}
	select {
	case <-ctx.Done():
		return nil, errors.Join(failed, ctx.Err())
	case <-time.After(apart):
	}
	var again []string // the checks that found something
	seen := map[Drift]bool{}
	for _, d := range first {
		seen[d] = true
		if !slices.Contains(again, d.Check) {
			again = append(again, d.Check)
		}
	}
	second, err := once(ctx, db, now, again)
	return slices.DeleteFunc(second, func(d Drift) bool { return !seen[d] }), errors.Join(failed, err)
}

// once looks once.
func once(ctx context.Context, db driver.Conn, now time.Time, names []string) ([]Drift, error) {
	if len(names) == 0 {
		names = Checks
	}
	all, err := each(ctx, names, func(check string) ([]Drift, error) {
		some, err := look{ctx, db, now}.of(check)
		if err != nil {
			return some, fmt.Errorf("audit %s: %w", check, err)
		}
		return some, nil
	})
	slices.SortStableFunc(all, func(a, b Drift) int { return cmp.Compare(a.Account, b.Account) })
	return all, err
}

// each looks at one thing after the other, also behind one at which it fails.
func each[T any](ctx context.Context, things []T, find func(T) ([]Drift, error)) (all []Drift, failed error) {
	for _, thing := range things {
		some, err := find(thing)
		all, failed = append(all, some...), errors.Join(failed, err)
		if ctx.Err() != nil {
			break
		}
	}
	return all, failed
}

// look is one that is being taken.
type look struct {
	ctx context.Context
	db  driver.Conn
	now time.Time
}

// of runs a check.
func (l look) of(check string) ([]Drift, error) {
	query := schemas.Query("audit_" + check)
	accounts, measures, signs := ledger.Measured()
	switch check {
	case Counts:
		return each(l.ctx, schemas.Feeds(), func(f schemas.Feed) ([]Drift, error) {
			if slices.Contains(uncounted, f.Table) {
				return nil, nil
			}
			return l.rows(check, strings.ReplaceAll(query, "/*table*/", f.Table), clickhouse.Named("name", f.Table),
				clickhouse.Named("kind", f.Kinds[0]), clickhouse.Named("kinds", f.Kinds))
		})
	case Facts:
		months, err := schemas.RollupMonths(l.ctx, l.db, time.Time{})
		if err != nil {
			return nil, err
		}
		return l.months(check, query, months, clickhouse.Named("accounts", accounts), clickhouse.Named("measures", measures),
			clickhouse.Named("signs", signs))
	case Driven:
		months, err := schemas.AllRows(l.ctx, l.db, "read when anything was driven", schemas.Query("driven_months"), nil,
			func(month *string, row schemas.Row) error { return row.Scan(month) })
		if err != nil {
			return nil, err
		}
		queries := []string{query, schemas.Query("audit_rental_metres"), schemas.Query("audit_geofence_days")}
		return each(l.ctx, queries, func(query string) ([]Drift, error) { return l.months(check, query, months) })
	case Rentals:
		queries := []string{query}
		for _, of := range []string{"rental_sums", "rentals_counted", "booking_sums", "tax_bases", "customer_sums"} {
			queries = append(queries, schemas.Query("audit_"+of))
		}
		return each(l.ctx, queries, func(query string) ([]Drift, error) {
			return l.rows(check, query, clickhouse.Named("accounts", accounts), clickhouse.Named("measures", measures))
		})
	case Months:
		return each(l.ctx, []string{query, schemas.Query("audit_fleet_days")}, func(query string) ([]Drift, error) {
			return l.rows(check, query)
		})
	default:
		return l.rows(check, query)
	}
}

// months runs a query of a check month by month.
func (l look) months(check, query string, months []string, args ...any) ([]Drift, error) {
	return each(l.ctx, months, func(month string) ([]Drift, error) {
		return l.rows(check, query, append(slices.Clip(args), clickhouse.Named("month", month))...)
	})
}

// uncounted are tables that do not have a row for each record: of meters it is one a vehicle.
var uncounted = []string{"meters"}

func (l look) rows(check, query string, args ...any) ([]Drift, error) {
	args = append(args, clickhouse.Named("until", l.now.Add(-settled).UnixMilli()),
		clickhouse.Named("now", l.now.UnixMilli()), clickhouse.Named("limit", uint32(most)),
		clickhouse.Named("version", schemas.FactsVersion))
	return schemas.AllRows(l.ctx, l.db, "compare", query, args, func(d *Drift, row schemas.Row) error {
		d.Check = check
		var account uint64
		if err := row.Scan(&account, &d.What, &d.Key, &d.kind, &d.id, &d.day, &d.Expected, &d.Found); err != nil {
			return err
		}
		d.Account = fleet.AccountID(account)
		return nil
	})
}
