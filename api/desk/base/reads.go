package base

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/query/together"
)

// Reads is what the commands of a rental's life, and what follows from them, ask for beside single records. The store
// answers (Stored), or a memory in which is decided before anything is written (package bulk). What is not here is read
// from the store, and cannot be decided in memory.
type Reads interface {
	// AnyListed is query.AnyListed of one account.
	AnyListed(ctx context.Context, account fleet.AccountID) (bool, error)
	// CustomersLike is query.CustomersLike.
	CustomersLike(ctx context.Context, account fleet.AccountID, self uint64, p query.Person,
		archived bool) ([]query.Likeness, error)
	// Hindrances is query.Hindrances.
	Hindrances(ctx context.Context, account fleet.AccountID, vehicle uint64) (issues, work []string, err error)
	// MetersAround is query.MetersAround.
	MetersAround(ctx context.Context, account fleet.AccountID, vehicle uint64, kind string, at time.Time,
		but ...uint64) (query.Around, error)
	// MetersNow is query.MetersNow.
	MetersNow(ctx context.Context, account fleet.AccountID, vehicles []uint64,
		now time.Time) (map[uint64]query.Meters, error)
	// PapersOfBooking is query.PapersOfBooking.
	PapersOfBooking(ctx context.Context, account fleet.AccountID, booking string,
		kinds ...string) ([]query.StoredPaper, error)
	// PaymentsOf is query.PaymentsOf.
	PaymentsOf(ctx context.Context, account fleet.AccountID, booking uint64) ([]uint64, error)
	// PlansInUse is query.PlansInUse.
	PlansInUse(ctx context.Context, account fleet.AccountID) ([]query.PlanInUse, error)
}

// Stored reads from the store.
type Stored struct {
	DB     driver.Conn
	listed *together.Reads[fleet.AccountID, bool]
}

// mostAccounts is of how many accounts something is asked together.
const mostAccounts = 100

// NewStored returns what reads from a store.
func NewStored(db driver.Conn) Stored {
	listed := func(ctx context.Context, accounts []fleet.AccountID) (map[fleet.AccountID]bool, error) {
		return query.AnyListed(ctx, db, accounts)
	}
	return Stored{db, together.New(mostAccounts, listed)}
}

// AnyListed is query.AnyListed of one account.
func (s Stored) AnyListed(ctx context.Context, account fleet.AccountID) (bool, error) {
	listed, err := s.listed.Of(ctx, account)
	return listed[account], err
}

// CustomersLike is query.CustomersLike.
func (s Stored) CustomersLike(ctx context.Context, account fleet.AccountID, self uint64, p query.Person,
	archived bool) ([]query.Likeness, error) {
	return query.CustomersLike(ctx, s.DB, account, self, p, archived)
}

// Hindrances is query.Hindrances.
func (s Stored) Hindrances(ctx context.Context, account fleet.AccountID,
	vehicle uint64) (issues, work []string, err error) {
	return query.Hindrances(ctx, s.DB, account, vehicle)
}

// MetersAround is query.MetersAround.
func (s Stored) MetersAround(ctx context.Context, account fleet.AccountID, vehicle uint64, kind string, at time.Time,
	but ...uint64) (query.Around, error) {
	return query.MetersAround(ctx, s.DB, account, vehicle, kind, at, but...)
}

// MetersNow is query.MetersNow.
func (s Stored) MetersNow(ctx context.Context, account fleet.AccountID, vehicles []uint64,
	now time.Time) (map[uint64]query.Meters, error) {
	return query.MetersNow(ctx, s.DB, account, vehicles, now)
}

// PapersOfBooking is query.PapersOfBooking.
func (s Stored) PapersOfBooking(ctx context.Context, account fleet.AccountID, booking string,
	kinds ...string) ([]query.StoredPaper, error) {
	return query.PapersOfBooking(ctx, s.DB, account, booking, kinds...)
}

// PaymentsOf is query.PaymentsOf.
func (s Stored) PaymentsOf(ctx context.Context, account fleet.AccountID, booking uint64) ([]uint64, error) {
	return query.PaymentsOf(ctx, s.DB, account, booking)
}

// PlansInUse is query.PlansInUse.
func (s Stored) PlansInUse(ctx context.Context, account fleet.AccountID) ([]query.PlanInUse, error) {
	return query.PlansInUse(ctx, s.DB, account)
}
