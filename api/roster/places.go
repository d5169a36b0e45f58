package roster

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
)

// places are the last known positions of vehicles, by account.
type places struct {
	r  *Roster
	mu sync.RWMutex
	of map[fleet.AccountID]*placesOf
}

// placesOf are those of an account. What looks have found to be other is read again when somebody asks.
type placesOf struct {
	asked   atomic.Int64
	written atomic.Int64
	gone    atomic.Bool
	view    atomic.Pointer[[]*query.Latest] // by vehicle; never changed
	stands  atomic.Bool                     // nothing of the view may be other
	reading chan struct{}                   // held by whoever makes the next view

	mu    sync.Mutex
	stale map[uint64]bool // vehicles of which the place may be another
	whole bool            // all may
	again int64           // if reading failed: when it is tried again
}

// placeSize is how much memory a place takes.
const placeSize = int64(unsafe.Sizeof(query.Latest{}) + unsafe.Sizeof(uintptr(0)))

// Latest is query.LatestPositions from memory, with what query.CountLatest tells; false if only the store can tell, as
// it alone does of distances.
func (r *Roster) Latest(ctx context.Context, f query.LatestFilter) (found []query.Latest, total int, ok bool) {
	if r == nil || r.off.Load() || f.Near != nil || f.Offset < 0 || f.Limit < 1 {
		return nil, 0, false
	}
	all, ok := r.places.all(ctx, f.Account)
	if r.metrics.answered(ok); !ok {
		return nil, 0, false
	}
	from := 0
	after := func(i int) bool { return f.AfterDistance == 0 && all[i].Vehicle > f.AfterVehicle }
	west, east := fleet.StoredCoordinate(f.Box.West), fleet.StoredCoordinate(f.Box.East)
	south, north := fleet.StoredCoordinate(f.Box.South), fleet.StoredCoordinate(f.Box.North)
	if len(f.Vehicles) > 0 || f.Box != query.World {
		wanted := make(map[fleet.VehicleID]bool, len(f.Vehicles))
		for _, id := range f.Vehicles {
			wanted[id] = true
		}
		var some []*query.Latest
		for _, l := range all {
			lat, lng := fleet.StoredCoordinate(l.Lat), fleet.StoredCoordinate(l.Lng)
			if len(wanted) > 0 && !wanted[l.Vehicle] || lat < south || lat > north ||
				west <= east && (lng < west || lng > east) || west > east && lng < west && lng > east {
				continue
			}
			some = append(some, l)
		}
		all = some
	}
	from = min(sort.Search(len(all), after)+f.Offset, len(all))
	for _, l := range all[from:min(from+f.Limit, len(all))] {
		found = append(found, *l)
	}
	return found, len(all), true
}

// all returns the places of an account as they stand; false if that cannot be told from memory now.
func (p *places) all(ctx context.Context, account fleet.AccountID) ([]*query.Latest, bool) {
	r := p.r
	now := r.ask()
	p.mu.RLock()
	a := p.of[account]
	p.mu.RUnlock()
	need := now - int64(r.cfg.Lag)
	if a != nil {
		need = max(need, a.written.Load())
	}
	if !r.fresh(ctx, max(need, 0)) {
		return nil, false
	}
	if a == nil {
		p.mu.Lock()
		if a = p.of[account]; a == nil {
			a = &placesOf{reading: make(chan struct{}, 1), whole: true}
			p.of[account] = a
		}
		p.mu.Unlock()
	}
	a.asked.Store(now)
	if !a.stands.Load() && !p.readAgain(ctx, a, account) || a.gone.Load() {
		return nil, false
	}
	return *a.view.Load(), true
}

// readAgain reads what may be other than in the view, unless somebody else has meanwhile.
func (p *places) readAgain(ctx context.Context, a *placesOf, account fleet.AccountID) bool {
	select {
	case a.reading <- struct{}{}:
		defer func() { <-a.reading }()
	case <-ctx.Done():
		return false
	}
	if a.stands.Load() {
		return true
	}
	a.mu.Lock()
	stale, whole := a.stale, a.whole || len(a.stale) > rowsAtOnce
	if p.r.clock() < a.again {
		a.mu.Unlock()
		return false
	}
	a.stale, a.whole = nil, false
	a.mu.Unlock()
	if err := p.read(a, account, stale, whole); err != nil {
		p.r.metrics.failed.Inc()
		p.r.log.Warn("positions could not be brought to memory, and come from the store", "error", err)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.whole, a.again = true, p.r.clock()+int64(loadAgain)
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stands.Store(a.stale == nil && !a.whole)
	return true // what was found since then is of a later instant than what was asked for
}

// read makes the next view.
func (p *places) read(a *placesOf, account fleet.AccountID, stale map[uint64]bool, whole bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), loadWithin)
	defer cancel()
	if err := p.r.turn(ctx); err != nil {
		return err
	}
	defer p.r.turnOver()
	f := query.LatestFilter{Account: account, Box: query.World, Limit: math.MaxInt32}
	var before []*query.Latest
	if old := a.view.Load(); old != nil {
		before = *old
	}
	if whole {
		stale = nil
	} else {
		for id := range stale {
			f.Vehicles = append(f.Vehicles, fleet.VehicleID(id))
		}
	}
	found, err := query.LatestPositions(ctx, p.r.db, f)
	if err != nil {
		return err
	}
	next := make([]*query.Latest, 0, len(before)+len(found))
	if !whole {
		for _, l := range before {
			if !stale[uint64(l.Vehicle)] {
				next = append(next, l)
			}
		}
	}
	for i := range found {
		next = append(next, &found[i])
	}
	slices.SortFunc(next, func(a, b *query.Latest) int { return cmp.Compare(a.Vehicle, b.Vehicle) })
	a.mu.Lock()
	defer a.mu.Unlock()
	a.view.Store(&next)
	if !a.gone.Load() {
		p.r.bytes.Add(int64(len(next)-len(before)) * placeSize)
	}
	return nil
}

func (p *places) changed(account fleet.AccountID, c *changes) {
	p.mu.RLock()
	a := p.of[account]
	p.mu.RUnlock()
	if a == nil || len(c.places) == 0 && !c.any {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stale == nil {
		a.stale = map[uint64]bool{}
	}
	maps.Copy(a.stale, c.places)
	a.whole = a.whole || c.any
	a.stands.Store(false)
}

func (p *places) wrote(account fleet.AccountID, at int64) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if a := p.of[account]; a != nil {
		raise(&a.written, at)
	}
}

func (p *places) accounts() []fleet.AccountID {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return slices.Collect(maps.Keys(p.of))
}

func (p *places) kept() []kept {
	p.mu.RLock()
	defer p.mu.RUnlock()
	var all []kept
	for account, a := range p.of {
		all = append(all, kept{a.asked.Load(), func() { p.forget(account, a) }})
	}
	return all
}

// forget lets go of the places of an account.
func (p *places) forget(account fleet.AccountID, a *placesOf) {
	p.mu.Lock()
	if p.of[account] == a {
		delete(p.of, account)
	}
	p.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	if view := a.view.Load(); !a.gone.Swap(true) && view != nil {
		p.r.bytes.Add(-int64(len(*view)) * placeSize)
	}
}

// ShowedPlaces notes that a position of an account was read in the store, after which no older places are shown.
func (r *Roster) ShowedPlaces(account fleet.AccountID) {
	if r != nil {
		r.places.wrote(account, r.clock())
	}
}
