package roster

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
)

// Facts keeps what was read of records beside them, each until a look finds that it may be other, or until it is by
// time alone. What is not kept is read: for all who ask in one moment together. Of an account that somebody asks
// about that of all records is read beside that, many at once, and of those where it has become other again and again,
// so that few wait.
type Facts[T any] struct {
	r    *Roster
	of   FactsOf
	now  func() time.Time
	read func(ctx context.Context, account fleet.AccountID, ids []uint64, now time.Time) (map[uint64]*Fact[T], error)

	mu        sync.RWMutex
	byAccount map[fleet.AccountID]*factsOf[T]
}

// FactsOf says of which records there are facts, and what these follow from.
type FactsOf struct {
	listing *query.Listing
	names   reach // of sources, whose rows name such a record
	by      reach // of sources, whose rows are named in Fact.By
	account bool  // of what of an account touches all
	many    bool  // there may be more and more of them: facts are kept of those that are in memory
	most    int   // unless 0, only what is asked for is read: of an account with more, and of others once all were
}

// Of what there are facts.
var (
	OfVehicles  = FactsOf{&query.Vehicles, ofVehicle, ofBooking, true, false, 0}
	OfBookings  = FactsOf{&query.Bookings, ofMoney, ofItem, false, true, 0}
	OfDrivers   = FactsOf{&query.Vehicles, ofDriver, 0, false, false, 0}
	OfPast      = FactsOf{&query.Vehicles, ofPast, 0, false, true, 5000}
	OfPastFixes = FactsOf{&query.Vehicles, ofPast, 0, false, true, 1000}
	OfNewFixes  = FactsOf{&query.Vehicles, ofFixes, 0, false, true, 1000}
)

// reaches are all by which facts may become others.
func (of *FactsOf) reaches() reach {
	all := of.names | of.by
	if of.account {
		all |= ofAccount
	}
	return all
}

// Fact is what was read of a record.
type Fact[T any] struct {
	Value T
	Until fleet.Millis // the last at which it holds if nothing is written
	By    []uint64     // other records by which it goes: of a vehicle bookings, of a booking tolls and expenses
	Size  int          // bytes of memory that the value has beside itself, about
	Final bool         // nothing that a source may get makes it another

	since fleet.Millis
}

// at says whether a fact holds at an instant.
func (f *Fact[T]) at(now time.Time) bool {
	return now.UnixMilli() >= int64(f.since) && !now.After(f.Until.Time())
}

// fleeting says that a fact did not hold for long after it was read: whoever asks has it read.
func (f *Fact[T]) fleeting() bool { return f.Until < f.since.Add(fillAfter) }

// factOver is about what it takes to have a fact by its record.
const factOver = 40

// size is about how many bytes of memory a fact takes.
func (f *Fact[T]) size() int64 {
	return int64(int(unsafe.Sizeof(*f)) + factOver + f.Size + 8*cap(f.By))
}

// factsOf are those of an account.
type factsOf[T any] struct {
	asked   atomic.Int64
	written atomic.Int64
	gone    atomic.Bool

	factsMu sync.RWMutex // held to read facts, and with mu to change them
	facts   map[uint64]*Fact[T]

	filling atomic.Bool // somebody reads what is missing

	mu      sync.Mutex // of whoever changes facts
	bytes   int64
	reading map[*batch[T]]bool // batches that are read
	asking  bool               // somebody reads what is asked for
	next    *batch[T]          // of those who ask meanwhile
	filled  bool               // all was kept once
	again   int64              // if filling failed: when it is tried again
}

// batch are records of which facts are read together.
type batch[T any] struct {
	ids   map[uint64]bool
	done  chan struct{}
	found map[uint64]*Fact[T]
	err   error
	stale changes // what looks have found since it began
}

// NewFacts makes a memory of facts that read tells, which says of each record that it is given. With a nil roster
// nothing is kept.
func NewFacts[T any](r *Roster, of FactsOf, now func() time.Time, read func(context.Context, fleet.AccountID, []uint64,
	time.Time) (map[uint64]*Fact[T], error)) *Facts[T] {
	f := &Facts[T]{r: r, of: of, now: now, read: read, byAccount: map[fleet.AccountID]*factsOf[T]{}}
	if r != nil {
		r.watchers, r.now = append(r.watchers, f), now
	}
	return f
}

// Of returns the facts of some records of an account as they stand, in their order, and the instant for which they do.
// What is kept is the same pointer until it is read again.
func (f *Facts[T]) Of(ctx context.Context, account fleet.AccountID, ids []uint64) ([]*T, time.Time, error) {
	found := make([]*T, len(ids))
	a := f.account(ctx, account)
	now := f.now()
	if a == nil {
		return found, now, f.readInto(ctx, account, ids, now, found)
	}
	var missing []uint64
	for i, id := range ids {
		if fact := a.at(id, now); fact != nil {
			found[i] = &fact.Value
		} else {
			missing = append(missing, id)
		}
	}
	f.r.metrics.facts(len(ids)-len(missing), len(missing))
	if len(missing) == 0 {
		return found, now, nil
	}
	b := f.ask(a, account, missing)
	f.fill(a, account)
	select {
	case <-b.done:
	case <-ctx.Done():
		return nil, now, ctx.Err()
	}
	if a.gone.Load() { // what is read of the account from now on is not older
		f.wrote(account, f.of.reaches(), f.r.clock())
	}
	if b.err != nil {
		return nil, now, b.err
	}
	for i, id := range ids {
		if found[i] == nil {
			found[i] = valueOf(b.found[id])
		}
	}
	return found, now, nil
}

// valueOf is the value of a fact; of nothing nothing is known.
func valueOf[T any](fact *Fact[T]) *T {
	if fact == nil {
		return new(T)
	}
	return &fact.Value
}

// readInto reads facts that are not kept, after which no older ones are shown.
func (f *Facts[T]) readInto(ctx context.Context, account fleet.AccountID, ids []uint64, now time.Time,
	found []*T) error {
	read, err := f.read(ctx, account, ids, now)
	for i, id := range ids {
		found[i] = valueOf(read[id])
	}
	if f.r != nil {
		f.wrote(account, f.of.reaches(), f.r.clock())
	}
	return err
}

// account returns what is kept of an account, if that is known to stand: nil if it is not.
func (f *Facts[T]) account(ctx context.Context, account fleet.AccountID) *factsOf[T] {
	r := f.r
	if r == nil || r.off.Load() {
		return nil
	}
	now := r.ask()
	f.mu.RLock()
	a := f.byAccount[account]
	f.mu.RUnlock()
	need := now - int64(r.cfg.Lag)
	if a != nil {
		need = max(need, a.written.Load())
	}
	if !r.fresh(ctx, max(need, 0)) {
		return nil
	}
	if a == nil { // now that the parts are known that things are read of
		f.mu.Lock()
		if a = f.byAccount[account]; a == nil {
			a = &factsOf[T]{facts: map[uint64]*Fact[T]{}, reading: map[*batch[T]]bool{}}
			f.byAccount[account] = a
		}
		f.mu.Unlock()
	}
	a.asked.Store(now)
	if a.gone.Load() {
		return nil
	}
	return a
}

// ask has facts read with the next batch.
func (f *Facts[T]) ask(a *factsOf[T], account fleet.AccountID, ids []uint64) *batch[T] {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.next == nil {
		a.next = newBatch[T]()
		if !a.asking {
			a.asking = true
			go f.readAsked(a, account)
		}
	}
	for _, id := range ids {
		a.next.ids[id] = true
	}
	return a.next
}

// Bounds of reading facts.
const (
	factsWithin = 30 * time.Second
	factsAtOnce = 1000        // that are asked for
	fillAtOnce  = 5000        // of those that are missing
	someAtOnce  = 100         // of those of which each takes long to read
	fillAfter   = time.Second // that what has become other is gathered for
)

func newBatch[T any]() *batch[T] {
	return &batch[T]{ids: map[uint64]bool{}, done: make(chan struct{})}
}

// readAsked reads batches of what is asked for until there is none.
func (f *Facts[T]) readAsked(a *factsOf[T], account fleet.AccountID) {
	for {
		a.mu.Lock()
		b := a.next
		a.asking, a.next = b != nil, nil
		a.mu.Unlock()
		if b == nil {
			return
		}
		f.readBatch(a, b, account, f.r.turns, factsAtOnce)
	}
}

// fill begins to read what is missing of an account, unless somebody does.
func (f *Facts[T]) fill(a *factsOf[T], account fleet.AccountID) {
	if a.filling.Swap(true) {
		return
	}
	go func() {
		defer a.filling.Store(false)
		a.mu.Lock()
		first, again := !a.filled, a.again
		a.mu.Unlock()
		if f.r.clock() < again || f.of.most > 0 && !first {
			return
		}
		if !first {
			time.Sleep(fillAfter)
		}
		read := map[uint64]bool{} // of what is read once
		for a.wanted(f.r) {
			begun := time.Now()
			b := f.missing(a, account, read)
			if b == nil {
				return
			}
			if f.of.most > 0 {
				maps.Copy(read, b.ids)
			}
			if len(b.ids) == 0 {
				a.mu.Lock()
				a.filled = true
				a.mu.Unlock()
				return
			}
			if f.readBatch(a, b, account, f.r.fills, fillAtOnce); b.err != nil {
				f.r.metrics.failed.Inc()
				f.r.log.Warn("what is beside records could not be brought to memory, and comes from the store", "error", b.err)
				a.mu.Lock()
				a.again, a.filled = f.r.clock()+int64(loadAgain), f.of.most > 0
				a.mu.Unlock()
				return
			}
			rest := time.Since(begun) // others have the store for as long
			if first {
				rest /= 4
			}
			time.Sleep(rest)
		}
	}()
}

// wanted says that facts of an account are to be there before they are asked for: somebody asks about it, and there is
// room.
func (a *factsOf[T]) wanted(r *Roster) bool {
	return !a.gone.Load() && r.clock()-a.asked.Load() < int64(askedFor) && r.bytes.Load() < r.cfg.Memory/8*7
}

// missing are records of an account of which nothing is kept that holds and that are not among some, as many as are
// read at once; nil if that cannot be told.
func (f *Facts[T]) missing(a *factsOf[T], account fleet.AccountID, but map[uint64]bool) *batch[T] {
	ctx, cancel := context.WithTimeout(context.Background(), loadWithin)
	defer cancel()
	v, _ := f.r.viewOf(ctx, f.r.kinds[f.of.listing], account, f.r.clock(), f.r.cfg.Lag)
	if v == nil {
		return nil
	}
	b, now := newBatch[T](), f.now()
	atOnce := fillAtOnce
	if f.of.most > 0 {
		if atOnce = someAtOnce; v.table.count > f.of.most {
			return b
		}
	}
	for _, piece := range v.table.pieces {
		for _, h := range piece {
			if kept := a.get(h.ID); but[h.ID] || kept != nil && (kept.at(now) || kept.fleeting()) {
				continue
			}
			if b.ids[h.ID] = true; len(b.ids) == atOnce {
				return b
			}
		}
	}
	return b
}

// get is what is kept of a record, or nil.
func (a *factsOf[T]) get(id uint64) *Fact[T] {
	a.factsMu.RLock()
	defer a.factsMu.RUnlock()
	return a.facts[id]
}

// at is what is kept of a record, if it holds at an instant.
func (a *factsOf[T]) at(id uint64, now time.Time) *Fact[T] {
	if kept := a.get(id); kept != nil && kept.at(now) {
		return kept
	}
	return nil
}

// readBatch reads the facts of a batch, when there is a place among those that read, and keeps them.
func (f *Facts[T]) readBatch(a *factsOf[T], b *batch[T], account fleet.AccountID, places chan struct{}, atOnce int) {
	defer close(b.done)
	ctx, cancel := context.WithTimeout(context.Background(), factsWithin)
	defer cancel()
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	case <-ctx.Done():
		b.err = ctx.Err()
		return
	}
	a.mu.Lock()
	a.reading[b] = true
	a.mu.Unlock()
	b.err = f.readSome(ctx, b, account, atOnce)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.reading, b)
	if b.err == nil {
		f.keep(a, account, b)
	}
}

func (f *Facts[T]) readSome(ctx context.Context, b *batch[T], account fleet.AccountID, atOnce int) error {
	b.found = make(map[uint64]*Fact[T], len(b.ids))
	for some := range slices.Chunk(slices.Sorted(maps.Keys(b.ids)), atOnce) {
		now := f.now()
		found, err := f.read(ctx, account, some, now)
		if err != nil {
			return err
		}
		for id, fact := range found {
			fact.since = fleet.MillisOf(now)
			b.found[id] = fact
		}
	}
	return nil
}

// keep keeps what a batch has found, but for what may be other since it began. The lock of the account is held.
func (f *Facts[T]) keep(a *factsOf[T], account fleet.AccountID, b *batch[T]) {
	if a.gone.Load() || f.of.all(&b.stale) {
		return
	}
	var v *view
	if e := f.r.kinds[f.of.listing].entry(account); e != nil {
		v = e.view.Load()
	}
	for id, fact := range b.found {
		if f.of.many && (v == nil || v.table.get(id) == nil) {
			continue
		}
		if !f.touched(&b.stale, id, fact) {
			a.put(f.r, id, fact)
		}
	}
}

// all says whether changes may have made all facts others.
func (of *FactsOf) all(c *changes) bool { return c.any&of.reaches() != 0 || of.account && c.facts }

// touched says whether they may have made that of a record another.
func (f *Facts[T]) touched(c *changes, id uint64, fact *Fact[T]) bool {
	others := c.of(f.of.by)
	return f.of.all(c) || !fact.Final && (c.of(f.of.names)[id] ||
		len(others) > 0 && slices.ContainsFunc(fact.By, func(id uint64) bool { return others[id] }))
}

// put keeps a fact of a record; with nil it lets go of what is kept of it. mu is held.
func (a *factsOf[T]) put(r *Roster, id uint64, fact *Fact[T]) {
	a.factsMu.Lock()
	defer a.factsMu.Unlock()
	if old := a.facts[id]; old != nil {
		a.add(r, -old.size())
		delete(a.facts, id)
	}
	if fact != nil {
		a.add(r, fact.size())
		a.facts[id] = fact
	}
}

func (a *factsOf[T]) add(r *Roster, bytes int64) {
	a.bytes += bytes
	r.bytes.Add(bytes)
}

// changed lets go of what a look has found to be other.
func (f *Facts[T]) changed(account fleet.AccountID, c *changes) {
	f.mu.RLock()
	a := f.byAccount[account]
	f.mu.RUnlock()
	if a == nil || !f.of.all(c) && len(c.of(f.of.names))+len(c.of(f.of.by)) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.gone.Load() {
		return
	}
	for b := range a.reading {
		b.stale.join(c)
	}
	if a.wanted(f.r) {
		defer f.fill(a, account)
	}
	if !f.of.all(c) && len(c.of(f.of.by)) == 0 {
		for id := range c.of(f.of.names) {
			if fact := a.get(id); fact != nil && !fact.Final {
				a.put(f.r, id, nil)
			}
		}
		return
	}
	for id, fact := range a.facts {
		if f.touched(c, id, fact) {
			a.put(f.r, id, nil)
		}
	}
}

func (f *Facts[T]) wrote(account fleet.AccountID, of reach, at int64) {
	if of&f.of.reaches() == 0 {
		return
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	if a := f.byAccount[account]; a != nil {
		raise(&a.written, at)
	}
}

func (f *Facts[T]) accounts() []fleet.AccountID {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.Collect(maps.Keys(f.byAccount))
}

func (f *Facts[T]) kept() []kept {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var all []kept
	for account, a := range f.byAccount {
		all = append(all, kept{a.asked.Load(), func() { f.forget(account, a) }})
	}
	return all
}

// forget lets go of what is kept of an account.
func (f *Facts[T]) forget(account fleet.AccountID, a *factsOf[T]) {
	f.mu.Lock()
	if f.byAccount[account] == a {
		delete(f.byAccount, account)
	}
	f.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.gone.Swap(true) {
		f.r.bytes.Add(-a.bytes)
	}
}
