package base

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/query/together"
)

// BesideBookings reads what bookings show that their records do not say: those who ask at the same moment ask together.
type BesideBookings struct {
	paid *together.Reads[recordRef, query.Paid]
	lost *together.Reads[recordRef, query.WriteOff]
	toll *together.Reads[recordRef, []uint64] // that are not billed
}

// recordRef names a record whose kind is known.
type recordRef struct {
	account fleet.AccountID
	id      uint64
}

// Of how many records something is asked together, and of how many accounts at a time.
const (
	mostRecords    = 1000
	accountsAtOnce = 8
)

// NewBesideBookings reads from a store.
func NewBesideBookings(db driver.Conn) *BesideBookings {
	return &BesideBookings{
		paid: together.New(mostRecords, ofRecords(db, query.PaidOf)),
		lost: together.New(mostRecords, ofRecords(db, query.WrittenOff)),
		toll: together.New(mostRecords, ofRecords(db, query.OpenTolls)),
	}
}

// byAccount asks for what is of each account by itself.
func byAccount[K comparable, V any](accountOf func(K) fleet.AccountID,
	read func(ctx context.Context, account fleet.AccountID, keys []K) (map[K]V, error),
) func(context.Context, []K) (map[K]V, error) {
	return func(ctx context.Context, keys []K) (map[K]V, error) {
		of := map[fleet.AccountID][]K{}
		for _, key := range keys {
			of[accountOf(key)] = append(of[accountOf(key)], key)
		}
		all := make(map[K]V, len(keys))
		var mu sync.Mutex
		group, inner := errgroup.WithContext(ctx)
		group.SetLimit(accountsAtOnce)
		for account, some := range of {
			group.Go(func() error {
				found, err := read(inner, account, some)
				mu.Lock()
				defer mu.Unlock()
				maps.Copy(all, found)
				return err
			})
		}
		return all, group.Wait()
	}
}

// ofRecords asks for records of each account by itself.
func ofRecords[V any](db driver.Conn, read func(ctx context.Context, db driver.Conn, account fleet.AccountID,
	ids []uint64) (map[uint64]V, error)) func(context.Context, []recordRef) (map[recordRef]V, error) {
	return byAccount(func(ref recordRef) fleet.AccountID { return ref.account },
		func(ctx context.Context, account fleet.AccountID, refs []recordRef) (map[recordRef]V, error) {
			ids := make([]uint64, len(refs))
			for i, ref := range refs {
				ids[i] = ref.id
			}
			found, err := read(ctx, db, account, ids)
			all := make(map[recordRef]V, len(found))
			for id, v := range found {
				all[recordRef{account, id}] = v
			}
			return all, err
		})
}

// Beside is what is known of a booking that its record does not say.
type Beside struct {
	Paid       query.Paid
	WrittenOff query.WriteOff
	OpenTolls  []uint64 // that are not billed
}

// Of reads it of some bookings of an account, by their ids; those of which nothing is known are left out.
func (b *BesideBookings) Of(ctx context.Context, account fleet.AccountID, ids []uint64) (map[uint64]Beside, error) {
	var paid map[uint64]query.Paid
	var lost map[uint64]query.WriteOff
	var tolls map[uint64][]uint64
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() (err error) { paid, err = ofAccount(inner, b.paid, account, ids); return err })
	group.Go(func() (err error) { lost, err = ofAccount(inner, b.lost, account, ids); return err })
	group.Go(func() (err error) { tolls, err = ofAccount(inner, b.toll, account, ids); return err })
	err := group.Wait()
	all := map[uint64]Beside{}
	for _, id := range ids {
		one := Beside{paid[id], lost[id], tolls[id]}
		if one.Paid != (query.Paid{}) || one.WrittenOff.Expenses != nil || one.OpenTolls != nil {
			all[id] = one
		}
	}
	return all, err
}

// ofAccount asks for records of an account.
func ofAccount[V any](ctx context.Context, reads *together.Reads[recordRef, V], account fleet.AccountID,
	ids []uint64) (map[uint64]V, error) {
	refs := make([]recordRef, len(ids))
	for i, id := range ids {
		refs[i] = recordRef{account, id}
	}
	found, err := reads.Of(ctx, refs...)
	mine := make(map[uint64]V, len(ids))
	for _, ref := range refs {
		if v, ok := found[ref]; ok {
			mine[ref.id] = v
		}
	}
	return mine, err
}

// Families finds customers with all that were merged into them: those who ask at the same moment ask together.
type Families struct {
	reads *together.Reads[recordRef, []uint64]
}

// NewFamilies reads from a store.
func NewFamilies(db driver.Conn) *Families {
	return &Families{together.New(mostRecords, ofRecords(db, query.CustomerFamilies))}
}

// Of returns some customers of an account and all that were merged into them, directly or not.
func (f *Families) Of(ctx context.Context, account fleet.AccountID, ids ...uint64) (all []uint64, err error) {
	found, err := ofAccount(ctx, f.reads, account, ids)
	for _, id := range ids {
		for _, member := range found[id] {
			if !slices.Contains(all, member) {
				all = append(all, member)
			}
		}
	}
	return all, err
}
