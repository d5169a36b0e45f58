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

// NewCalendars makes a memory of calendars, by a clock. With a nil roster nothing is kept.
func NewCalendars[T any](r *Roster, now func() time.Time, of func(query.Calendar) T) *Calendars[T] {
	if r == nil {
		return nil
	}
	const each = 320 // bytes that a hold takes, about
	read := func(ctx context.Context, account fleet.AccountID, ids []uint64) (rows []*keptRow[T], err error) {
		loading := int64(0)
		defer func() { r.loading.Add(-loading) }()
		err = query.EachCalendar(ctx, r.db, account, ids, now().Add(-HeldSince), func(c query.Calendar) error {
			size := uint64(unsafe.Sizeof(keptRow[T]{})) + uint64(len(c.Holds))*each
			loading += int64(size)
			if r.loading.Add(int64(size)) > r.cfg.Memory || loading > mostHolds*each {
				return errRoom
			}
			rows = append(rows, &keptRow[T]{c.ID, size, of(c)})
			return nil
		})
		return rows, err
	}
	c := &Calendars[T]{newWhole(r, "calendars", read, ofCalendar)}
	c.kept.most = mostHolds * each
	r.watchers = append(r.watchers, c.kept)
	return c
}

// Of returns what finds the calendars of an account that hold anything that ends after HeldSince ago: those of an id,
// which are of a vehicle and perhaps of a class. False if only the store can tell. They are shared, and must not be
// changed.
func (c *Calendars[T]) Of(ctx context.Context, account fleet.AccountID) (find func(id uint64, take func(*T)), ok bool) {
	return c.within(ctx, account, 1)
}

// Recall is Of by an older look: for a command, see RecallLags.
func (c *Calendars[T]) Recall(ctx context.Context,
	account fleet.AccountID) (find func(id uint64, take func(*T)), ok bool) {
	return c.within(ctx, account, RecallLags)
}

func (c *Calendars[T]) within(ctx context.Context, account fleet.AccountID,
	lags time.Duration) (find func(id uint64, take func(*T)), ok bool) {
	if c == nil || c.kept.r.off.Load() {
		return nil, false
	}
	all, ok := c.kept.all(ctx, account, lags*c.kept.r.cfg.Lag)
	c.kept.r.metrics.answered(ok)
	return func(id uint64, take func(*T)) {
		at, _ := slices.BinarySearchFunc(all, id, func(r *keptRow[T], id uint64) int { return cmp.Compare(r.id, id) })
		for ; at < len(all) && all[at].id == id; at++ {
			take(&all[at].value)
		}
	}, ok
}

// Showed notes that calendars of an account were read in the store, after which no older ones are shown.
func (c *Calendars[T]) Showed(account fleet.AccountID) {
	if c != nil {
		c.kept.wrote(account, ofCalendar, c.kept.r.clock())
	}
}
