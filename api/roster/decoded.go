package roster

import (
	"context"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
)

// Decoded keeps records of a kind decoded, of the accounts that somebody asks about, beside what is kept of them.
type Decoded[T any] struct {
	r       *Roster
	listing *query.Listing
	most    int // records of an account, of which more are not kept
	decode  func(fleet.AccountID, query.Stored) (*T, error)

	mu sync.RWMutex
	of map[fleet.AccountID]*decodedOf[T]
}

// decodedOf are those of an account.
type decodedOf[T any] struct {
	asked atomic.Int64

	mu    sync.Mutex
	gone  bool
	table *table // that they are of
	known map[*query.Held]*T
	all   []*T // by id; never changed
	bytes int64
}

// decodedOver is about how many times the memory of its text a decoded record takes beside itself.
const decodedOver = 2

// NewDecoded makes a memory of the decoded records of a listing, of accounts that have not more than most. With a nil
// roster nothing is kept.
func NewDecoded[T any](r *Roster, listing *query.Listing, most int,
	decode func(fleet.AccountID, query.Stored) (*T, error)) *Decoded[T] {
	d := &Decoded[T]{r: r, listing: listing, most: most, decode: decode, of: map[fleet.AccountID]*decodedOf[T]{}}
	if r != nil {
		r.keepers = append(r.keepers, d)
	}
	return d
}

// All returns the records of an account that are not archived, by id, as they stand; false if only the store can tell.
// They are shared, and must not be changed.
func (d *Decoded[T]) All(ctx context.Context, account fleet.AccountID) ([]*T, bool, error) {
	v := d.r.view(ctx, d.listing, account)
	if v == nil || v.share != nil || v.table.count > d.most {
		return nil, false, nil
	}
	d.r.metrics.answered(true)
	d.mu.RLock()
	a := d.of[account]
	d.mu.RUnlock()
	if a == nil {
		d.mu.Lock()
		if a = d.of[account]; a == nil {
			a = &decodedOf[T]{}
			d.of[account] = a
		}
		d.mu.Unlock()
	}
	a.asked.Store(d.r.clock())
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.table != v.table {
		if err := d.decodeNew(a, account, v.table); err != nil {
			return nil, false, err
		}
	}
	return a.all, true, nil
}

// decodeNew decodes what of a table is not decoded yet. The lock of the account is held.
func (d *Decoded[T]) decodeNew(a *decodedOf[T], account fleet.AccountID, t *table) error {
	known, all, bytes := make(map[*query.Held]*T, t.count), make([]*T, 0, t.count), int64(0)
	for _, piece := range t.pieces {
		for _, h := range piece {
			one := a.known[h]
			if one == nil {
				var err error
				if one, err = d.decode(account, h.Stored()); err != nil {
					return err
				}
			}
			known[h], all = one, append(all, one)
			bytes += int64(int(unsafe.Sizeof(*one)) + decodedOver*h.Size())
		}
	}
	a.table, a.known, a.all = t, known, all
	if !a.gone {
		d.r.bytes.Add(bytes - a.bytes)
		a.bytes = bytes
	}
	return nil
}

func (d *Decoded[T]) kept() []kept {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var all []kept
	for account, a := range d.of {
		asked := a.asked.Load()
		if d.r.kinds[d.listing].entry(account) == nil { // what they are of is kept no more
			asked = 0
		}
		all = append(all, kept{asked, func() { d.forget(account, a) }})
	}
	return all
}

// forget lets go of the decoded records of an account.
func (d *Decoded[T]) forget(account fleet.AccountID, a *decodedOf[T]) {
	d.mu.Lock()
	if d.of[account] == a {
		delete(d.of, account)
	}
	d.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	d.r.bytes.Add(-a.bytes)
	a.gone, a.bytes = true, 0
}
