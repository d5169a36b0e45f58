package roster

import (
	"cmp"
	"context"
	"slices"
	"time"
	"unsafe"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
)

// HeldSince is how long before the present a hold may be over that calendars in memory have.
const HeldSince = 45 * 24 * time.Hour

// mostHolds bounds the holds of an account that are kept.
const mostHolds = 200_000

// Calendars keeps what is held of vehicles and was booked of classes, of the accounts that somebody asks about, as
// whoever asks makes it of what was read.
type Calendars[T any] struct{ kept *whole[T] }

// NewCalendars makes a memory of calendars. With a nil roster nothing is kept.
func NewCalendars[T any](r *Roster, of func(query.Calendar) T) *Calendars[T] {
	if r == nil {
		return nil
	}
	const each = 320 // bytes that a hold takes, about
	read := func(ctx context.Context, account fleet.AccountID, ids []uint64) ([]keptRow[T], error) {
		found, err := query.Calendars(ctx, r.db, account, ids, time.Now().Add(-HeldSince))
		rows, holds := make([]keptRow[T], len(found)), 0
		for i, c := range found {
			if holds += len(c.Holds); holds > mostHolds {
				return nil, errRoom
			}
			rows[i] = keptRow[T]{c.ID, uint64(unsafe.Sizeof(rows[i])) + uint64(len(c.Holds))*each, of(c)}
		}
		return rows, err
	}
	c := &Calendars[T]{newWhole(r, "calendars", read, func(c *changes) map[uint64]bool { return c.calendars })}
	r.watchers = append(r.watchers, c.kept)
	return c
}

// Of returns what finds the calendars of an account that hold anything that ends after HeldSince ago: those of an id,
// which are of a vehicle and perhaps of a class. False if only the store can tell. They are shared, and must not be
// changed.
func (c *Calendars[T]) Of(ctx context.Context, account fleet.AccountID) (find func(id uint64, take func(*T)), ok bool) {
	if c == nil || c.kept.r.off.Load() {
		return nil, false
	}
	all, ok := c.kept.all(ctx, account)
	c.kept.r.metrics.answered(ok)
	return func(id uint64, take func(*T)) {
		at, _ := slices.BinarySearchFunc(all, id, func(r *keptRow[T], id uint64) int { return cmp.Compare(r.id, id) })
		for ; at < len(all) && all[at].id == id; at++ {
			take(&all[at].value)
		}
	}, ok
}
