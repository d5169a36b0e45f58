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
	// CustomersLike is query.CustomersLike of one person.
	CustomersLike(ctx context.Context, account fleet.AccountID, p *query.Sought) ([]query.Likeness, error)
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
	like   *together.Reads[soughtIn, alike]
}

// soughtIn is somebody who is looked for in an account. Of two who are the same each is looked for.
type soughtIn struct {
	account fleet.AccountID
	*query.Sought
}

// alike are the customers like somebody, or why they were not found: what one account asks fails for it alone.
type alike struct {
	customers []query.Likeness
	err       error
}

// Of how many accounts something is asked together, and how many people are looked for.
const (
	mostAccounts = 100
	mostPeople   = 64
)

// NewStored returns what reads from a store. What several ask for at one moment waits for others as long as linger
// says, which is nil for never: see together.Reads.Linger.
func NewStored(db driver.Conn, linger func() time.Duration) Stored {
	listed := func(ctx context.Context, accounts []fleet.AccountID) (map[fleet.AccountID]bool, error) {
		return query.AnyListed(ctx, db, accounts)
	}
	like := func(ctx context.Context, account fleet.AccountID, some []soughtIn) (map[soughtIn]alike, error) {
		people := make([]*query.Sought, len(some))
		for i, one := range some {
			people[i] = one.Sought
		}
		found, err := query.CustomersLike(ctx, db, account, people)
		all := make(map[soughtIn]alike, len(some))
		for i, one := range some {
			if err != nil {
				all[one] = alike{err: err}
			} else {
				all[one] = alike{customers: found[i]}
			}
		}
		return all, nil
	}
	accountOf := func(s soughtIn) fleet.AccountID { return s.account }
	return Stored{db, together.New(mostAccounts, listed).Linger(linger),
		together.New(mostPeople, byAccount(accountOf, like)).Linger(linger)}
}

// AnyListed is query.AnyListed of one account.
func (s Stored) AnyListed(ctx context.Context, account fleet.AccountID) (bool, error) {
	listed, err := s.listed.Of(ctx, account)
	return listed[account], err
}

// CustomersLike is query.CustomersLike of one person, who is looked for with those for whom others look at the moment.
func (s Stored) CustomersLike(ctx context.Context, account fleet.AccountID,
	p *query.Sought) ([]query.Likeness, error) {
	who := soughtIn{account, p}
	found, err := s.like.Of(ctx, who)
	if err != nil {
		return nil, err
	}
	return found[who].customers, found[who].err
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
