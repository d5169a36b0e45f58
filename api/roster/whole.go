package roster

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/motorpool/fleet"
)

// keptRow is one row, and how many bytes of memory it takes.
type keptRow[T any] struct {
	id, size uint64
	value    T
}

// whole keeps all rows of something by their ids, of the accounts that somebody asks about. What looks have found to
// be other is read again when somebody asks.
type whole[T any] struct {
	r    *Roster
	name string // of the rows, in the plural
	read reading[T]
	of   reach // of sources of which the rows follow
	most int64 // bytes of an account, of which more are not kept; 0 for any

	mu        sync.RWMutex
	byAccount map[fleet.AccountID]*wholeOf[T]
}

// reading reads the rows of some ids of an account, or all with nil. Each row is kept by itself, as most of those that
// were read together may soon be others.
type reading[T any] func(ctx context.Context, account fleet.AccountID, ids []uint64) ([]*keptRow[T], error)

func newWhole[T any](r *Roster, name string, read reading[T], of reach) *whole[T] {
	return &whole[T]{r: r, name: name, read: read, of: of, byAccount: map[fleet.AccountID]*wholeOf[T]{}}
}

// wholeOf are those of an account.
type wholeOf[T any] struct {
	asked   atomic.Int64
	written atomic.Int64
	gone    atomic.Bool
	view    atomic.Pointer[[]*keptRow[T]] // by id; never changed
	stands  atomic.Bool                   // nothing of the view may be other
	reading chan struct{}                 // held by whoever makes the next view

	mu    sync.Mutex
	stale map[uint64]bool // ids of which the row may be another
	whole bool            // all may
	again int64           // if reading failed: when it is tried again
	bytes int64
}

// all returns the rows of an account as they stood lag ago or later; false if that cannot be told from memory now.
func (w *whole[T]) all(ctx context.Context, account fleet.AccountID, lag time.Duration) ([]*keptRow[T], bool) {
	r := w.r
	now := r.ask()
	w.mu.RLock()
	a := w.byAccount[account]
	w.mu.RUnlock()
	need := now - int64(lag)
	if a != nil {
		need = max(need, a.written.Load())
	}
	if !r.fresh(ctx, max(need, 0)) {
		return nil, false
	}
	if a == nil {
		w.mu.Lock()
		if a = w.byAccount[account]; a == nil {
			a = &wholeOf[T]{reading: make(chan struct{}, 1), whole: true}
			w.byAccount[account] = a
		}
		w.mu.Unlock()
	}
	a.asked.Store(now)
	if !a.stands.Load() && !w.readAgain(ctx, a, account) || a.gone.Load() {
		return nil, false
	}
	view := a.view.Load()
	if view == nil {
		return nil, false
	}
	return *view, true
}

// readAgain reads what may be other than in the view, unless somebody else has meanwhile. Who asks waits for it no
// longer than for a look, and the reading goes on for the next.
func (w *whole[T]) readAgain(ctx context.Context, a *wholeOf[T], account fleet.AccountID) bool {
	ctx, cancel := context.WithTimeout(ctx, w.r.cfg.Wait)
	defer cancel()
	select {
	case a.reading <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	if a.stands.Load() {
		<-a.reading
		return true
	}
	read := make(chan bool, 1)
	go func() {
		defer func() { <-a.reading }()
		read <- w.readNow(a, account)
	}()
	select {
	case ok := <-read:
		return ok
	case <-ctx.Done():
		return false
	}
}

// readNow is readAgain for whoever holds reading.
func (w *whole[T]) readNow(a *wholeOf[T], account fleet.AccountID) bool {
	a.mu.Lock()
	stale, whole := a.stale, a.whole || len(a.stale) > rowsAtOnce
	if w.r.clock() < a.again {
		a.mu.Unlock()
		return false
	}
	a.stale, a.whole = nil, false
	a.mu.Unlock()
	if err := w.makeView(a, account, stale, whole); err != nil {
		w.r.metrics.failed.Inc()
		w.r.log.Warn(w.name+" could not be brought to memory, and come from the store", "error", err)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.whole, a.again = true, w.r.clock()+int64(loadAgain)
		if errors.Is(err, errRoom) { // nothing of them is kept until there may be room
			a.again = w.r.clock() + int64(w.r.cfg.Idle)
			a.view.Store(nil)
			w.r.bytes.Add(-a.bytes)
			a.bytes = 0
		}
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stands.Store(a.stale == nil && !a.whole)
	return true // what was found since then is of a later instant than what was asked for
}

// makeView reads what may be other, or all, and makes the next view.
func (w *whole[T]) makeView(a *wholeOf[T], account fleet.AccountID, stale map[uint64]bool, whole bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), loadWithin)
	defer cancel()
	if whole {
		if err := w.r.turn(ctx); err != nil {
			return err
		}
		defer w.r.turnOver()
	}
	var before []*keptRow[T]
	var ids []uint64
	if old := a.view.Load(); old != nil && !whole {
		before, ids = *old, slices.Collect(maps.Keys(stale))
	}
	found, err := w.read(ctx, account, ids)
	if err != nil {
		return err
	}
	next := make([]*keptRow[T], 0, len(before)+len(found))
	for _, row := range before {
		if !stale[row.id] {
			next = append(next, row)
		}
	}
	next = append(next, found...)
	slices.SortFunc(next, func(a, b *keptRow[T]) int { return cmp.Compare(a.id, b.id) })
	bytes := int64(len(next)) * int64(unsafe.Sizeof(uintptr(0)))
	for _, row := range next {
		bytes += int64(row.size)
	}
	if w.most > 0 && bytes > w.most {
		return errRoom
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.view.Store(&next)
	if !a.gone.Load() {
		w.r.bytes.Add(bytes - a.bytes)
		a.bytes = bytes
	}
	return nil
}

func (w *whole[T]) changed(account fleet.AccountID, c *changes) {
	w.mu.RLock()
	a := w.byAccount[account]
	w.mu.RUnlock()
	other := c.of(w.of)
	if a == nil || len(other) == 0 && c.any&w.of == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stale == nil {
		a.stale = map[uint64]bool{}
	}
	maps.Copy(a.stale, other)
	a.whole = a.whole || c.any&w.of != 0
	a.stands.Store(false)
}

func (w *whole[T]) wrote(account fleet.AccountID, of reach, at int64) {
	if of&w.of == 0 {
		return
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	if a := w.byAccount[account]; a != nil {
		raise(&a.written, at)
	}
}

func (w *whole[T]) accounts() []fleet.AccountID {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return slices.Collect(maps.Keys(w.byAccount))
}

func (w *whole[T]) kept() []kept {
	w.mu.RLock()
	defer w.mu.RUnlock()
	var all []kept
	for account, a := range w.byAccount {
		all = append(all, kept{a.asked.Load(), func() { w.forget(account, a) }})
	}
	return all
}

// forget lets go of the rows of an account.
func (w *whole[T]) forget(account fleet.AccountID, a *wholeOf[T]) {
	a.mu.Lock()
	if !a.gone.Swap(true) { // before no look tells it anything any more
		w.r.bytes.Add(-a.bytes)
		a.bytes = 0
	}
	a.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byAccount[account] == a {
		delete(w.byAccount, account)
	}
}
