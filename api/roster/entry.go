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

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
)

// entry is what is kept of an account and a kind.
type entry struct {
	account fleet.AccountID
	kind    *kind
	asked   atomic.Int64 // when somebody asked last
	written atomic.Int64 // after which a look must have begun that an answer goes by
	view    atomic.Pointer[view]
	gone    atomic.Bool           // it is kept no more: who has it must not answer from it
	loaded  chan struct{}         // closed when it was loaded, or could not be
	share   atomic.Pointer[share] // that is kept; nil if all are

	mu      sync.Mutex   // of whoever makes the next view
	pending []inserted   // that looks found before there was a view
	ahead   []query.Came // the same of the log
	large   bool         // it is more than there is room for, and keeps its place so that it is not loaded again and again
}

// view is an account's records of a kind at one moment.
type view struct {
	table *table
	share *share            // nil if all are there
	ahead map[uint64]uint64 // revisions that the log has, of records of which the table has an older one or none
	since int64             // when the loading began: all that stood then is in it
}

// inserted is a revision that came to the table of a kind.
type inserted struct {
	held     *query.Held
	archived bool
}

// begin begins to load the records of an account and a kind, unless somebody else did.
func (r *Roster) begin(k *kind, account fleet.AccountID) *entry {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e := k.entries[account]; e != nil {
		return e
	}
	delete(k.out, account)
	e := &entry{account: account, kind: k, loaded: make(chan struct{})}
	e.asked.Store(r.clock())
	k.entries[account] = e
	go r.load(e, r.clock())
	return e
}

// errRoom says that records are more than there is room for.
var errRoom = errors.New("there is no room for so many records")

// errOff says that nothing can be kept in memory.
var errOff = errors.New("the tables are not those of one server alone")

// Bounds of loading.
const (
	loadWithin  = time.Minute
	loadAgain   = 5 * time.Second  // after which what could not be loaded is tried again
	crowdedOut  = 30 * time.Second // after which what others needed the room of is loaded again
	loadsAtOnce = 4
)

// turn waits until there is a place among those that load, and turnOver gives it back.
func (r *Roster) turn(ctx context.Context) error {
	select {
	case r.turns <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Roster) turnOver() { <-r.turns }

// load reads the records of an entry, which looks know already: what is inserted meanwhile they hand over.
func (r *Roster) load(e *entry, began int64) {
	defer close(e.loaded)
	ctx, cancel := context.WithTimeout(context.Background(), loadWithin)
	defer cancel()
	var all []*query.Held
	var ahead []query.Came
	size := int64(0)
	defer func() { r.loading.Add(-size) }()
	of := query.HeldOf{Accounts: []uint64{uint64(e.account)}}
	err := r.turn(ctx)
	if err == nil {
		defer r.turnOver()
		err = r.divide(ctx, e)
	}
	if err == nil {
		of.Any = e.share.Load().any()
		err = e.kind.listing.EachHeld(ctx, r.db, of, func(_ fleet.AccountID, h *query.Held, _ bool) error {
			n := int64(h.Size())
			if size += n; r.loading.Add(n) > r.cfg.Memory {
				return errRoom
			}
			if e.share.Load().has(h) { // one that was of it once is read, too
				all = append(all, h)
			}
			if most := e.kind.partly.most; most > 0 && len(all) > 2*most {
				return errRoom
			}
			return nil
		})
	}
	if err == nil { // what was written to the log alone before any look
		err = query.EachCame(ctx, r.db, of.Accounts, []string{e.kind.name}, 0, func(c query.Came) {
			ahead = append(ahead, c)
		})
	}
	if err != nil {
		r.metrics.failed.Inc()
		r.log.Warn("records could not be brought to memory, and come from the store", "kind", e.kind.name, "error", err)
		if errors.Is(err, errRoom) { // it stays without a view until nobody asks
			e.mu.Lock()
			defer e.mu.Unlock()
			e.large, e.pending, e.ahead = true, nil, nil
			return
		}
		r.forget(e)
		r.keepOut(e, loadAgain)
		return
	}
	r.metrics.loads.Inc()
	e.mu.Lock()
	defer e.mu.Unlock()
	v := &view{table: newTable(all), share: e.share.Load(), since: began}
	v = v.told(ahead, false)
	v = v.told(e.ahead, false)
	v = v.with(e.pending)
	e.pending, e.ahead = nil, nil
	r.show(e, v)
}

// divide decides whether all records of an entry are kept, or which share of them.
func (r *Roster) divide(ctx context.Context, e *entry) error {
	if e.kind.partly.most == 0 {
		return nil
	}
	rows, err := e.kind.listing.Rows(ctx, r.db, e.account)
	if err != nil || rows <= e.kind.partly.most {
		return err
	}
	p, err := newShare(e.kind.listing, e.kind.partly, time.Now())
	e.share.Store(p)
	return err
}

// isLarge says that an entry has no room, and keeps its place alone.
func (e *entry) isLarge() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.large
}

// show makes a view the newest of an entry, whose lock is held.
func (r *Roster) show(e *entry, v *view) {
	if e.gone.Load() {
		return
	}
	before := e.view.Swap(v)
	if before != nil {
		r.count(before, -1)
	}
	r.count(v, 1)
}

func (r *Roster) count(v *view, sign int64) {
	r.bytes.Add(sign * int64(v.table.bytes))
	r.records.Add(sign * int64(v.table.count))
}

// forget lets go of an entry.
func (r *Roster) forget(e *entry) {
	e.kind.mu.Lock()
	if e.kind.entries[e.account] == e {
		delete(e.kind.entries, e.account)
	}
	e.kind.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.gone.Swap(true) {
		return
	}
	if v := e.view.Load(); v != nil {
		r.count(v, -1)
		r.metrics.forgotten.Inc()
	}
}

// all returns the entries of a kind.
func (k *kind) all() []*entry {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return slices.Collect(maps.Values(k.entries))
}

// letGo lets go what nobody asked for since an instant, and then, while there is too much, what nobody asked for
// longest.
func (r *Roster) letGo(since int64) {
	var left []kept
	for _, k := range r.names {
		k.letIn(r.clock())
		for _, e := range k.all() {
			if e.asked.Load() < since {
				r.forget(e)
			} else {
				left = append(left, kept{e.asked.Load(), func() { r.forget(e); r.keepOut(e, crowdedOut) }})
			}
		}
	}
	keepers := slices.Clone(r.keepers)
	for _, w := range r.watchers {
		keepers = append(keepers, w)
	}
	for _, k := range keepers {
		for _, one := range k.kept() {
			if one.asked < since || one.asked == 0 {
				one.gone()
			} else {
				left = append(left, one)
			}
		}
	}
	slices.SortFunc(left, func(a, b kept) int { return cmp.Compare(a.asked, b.asked) })
	for _, one := range left {
		if r.bytes.Load() <= r.cfg.Memory {
			return
		}
		one.gone()
	}
}

// keepOut has an entry that was let go not loaded again for a while: what failed would most likely fail again, and what
// made room would crowd out others, and they it.
func (r *Roster) keepOut(e *entry, how time.Duration) {
	e.kind.mu.Lock()
	defer e.kind.mu.Unlock()
	e.kind.out[e.account] = r.clock() + int64(how)
}

// letIn forgets who was kept out long enough.
func (k *kind) letIn(now int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.out, func(_ fleet.AccountID, until int64) bool { return until <= now })
}

// isOut says that an account's records are not to be loaded yet.
func (k *kind) isOut(account fleet.AccountID, now int64) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.out[account] > now
}

// with returns the view after revisions came to the table, in any order. One that is not newer changes nothing.
func (v *view) with(some []inserted) *view {
	newest := map[uint64]inserted{}
	for _, i := range some {
		if old, ok := newest[i.held.ID]; !ok || old.held.Revision < i.held.Revision {
			newest[i.held.ID] = i
		}
	}
	var changes []change
	ahead, caught := v.ahead, false
	for id, i := range newest {
		was, gone := v.table.get(id), i.archived || !v.share.has(i.held)
		if was != nil && was.Revision >= i.held.Revision {
			continue
		}
		if revision, ok := ahead[id]; ok && revision <= i.held.Revision {
			if !caught {
				ahead, caught = maps.Clone(ahead), true
			}
			delete(ahead, id)
		}
		c := change{id: id, was: was, now: i.held}
		if gone {
			c.now = nil
		}
		if c.was != nil || c.now != nil {
			changes = append(changes, c)
		}
	}
	next := &view{table: v.table, share: v.share, ahead: ahead, since: v.since}
	if len(changes) > 0 {
		next.table = v.table.with(changes)
	} else if !caught {
		return v
	}
	return next
}

// list is table.list of what is kept.
func (v *view) list(l *query.Listing, req query.ListRequest) (query.ListPage, bool, error) {
	if !v.share.tells(req, v.table) {
		return query.ListPage{}, false, nil
	}
	return v.table.list(l, req)
}

// told returns the view after revisions came to the log; fresh says that they came since it was loaded, so that one of
// a record that it does not have may be of one that it is about to get.
func (v *view) told(some []query.Came, fresh bool) *view {
	next := v
	for _, a := range some {
		h := v.table.get(a.ID)
		if h == nil && !fresh || h != nil && h.Revision >= a.Revision || next.ahead[a.ID] >= a.Revision {
			continue
		}
		if next == v {
			next = &view{table: v.table, share: v.share, ahead: maps.Clone(v.ahead), since: v.since}
			if next.ahead == nil {
				next.ahead = map[uint64]uint64{}
			}
		}
		next.ahead[a.ID] = a.Revision
	}
	return next
}

// lookAt asks what has come to the tables since the last look, and has the entries know it.
func (r *Roster) lookAt(ctx context.Context, began int64) error {
	if !r.usable {
		usable, err := plain(ctx, r.db, r.tables)
		if err != nil {
			return err
		}
		if r.usable = usable; !usable {
			r.off.Store(true)
			r.log.Info("tables are on several servers: nothing is kept in memory, and lists come from the store")
			return errOff
		}
	}
	parts, err := readParts(ctx, r.db, r.tables)
	if err != nil {
		return err
	}
	seen := make(map[string]known, len(r.tables))
	for _, table := range r.tables {
		seen[table] = knownOf(parts[table])
	}
	if r.seen != nil {
		if err := r.lookAtLog(ctx, seen[logTable], parts[logTable]); err != nil {
			return err
		}
	}
	r.tell(ctx, seen[logTable], parts[logTable], began)
	for _, k := range r.names {
		if err := r.lookAtKind(ctx, k, seen[k.listing.Table], parts[k.listing.Table], began); err != nil {
			return err
		}
	}
	if r.seen != nil {
		if err := r.lookAtSources(ctx, seen, parts); err != nil {
			return err
		}
	}
	r.seen = seen
	r.looked.Store(began)
	return nil
}

// lookAtKind brings what is new in the table of a kind to its entries, if anybody asks for them.
func (r *Roster) lookAtKind(ctx context.Context, k *kind, now known, parts []part, began int64) error {
	entries := k.all()
	first, rows, other := k.seen.since(&now, parts)
	switch {
	case len(entries) == 0:
	case other:
		for _, e := range entries {
			r.forget(e)
		}
	case first == 0:
	case began-k.asked.Load() > int64(dozesAfter):
		return nil
	default:
		if err := r.bring(ctx, k, entries, first, rows); err != nil {
			return err
		}
	}
	k.seen = now
	k.looked.Store(began)
	return nil
}

// bring brings what was inserted into the table of a kind from a block on to entries.
func (r *Roster) bring(ctx context.Context, k *kind, entries []*entry, first int64, rows uint64) error {
	byAccount := make(map[fleet.AccountID]*entry, len(entries))
	of := query.HeldOf{Block: first}
	for _, e := range entries {
		if e.isLarge() {
			continue
		}
		byAccount[e.account] = e
		of.Accounts = append(of.Accounts, uint64(e.account))
	}
	found, grown := map[fleet.AccountID][]inserted{}, []*entry{}
	read := func(of query.HeldOf) error {
		return k.listing.EachHeld(ctx, r.db, of, func(account fleet.AccountID, h *query.Held, archived bool) error {
			found[account] = append(found[account], inserted{h, archived})
			return nil
		})
	}
	if rows > rowsAtOnce {
		if err := r.readNew(ctx, k, byAccount, of, read); err != nil {
			return err
		}
	} else if err := read(of); err != nil {
		return err
	} else if err := r.readDoubtful(byAccount, found, read); err != nil {
		return err
	}
	for account, some := range found {
		if e := byAccount[account]; e != nil {
			r.metrics.changes.Add(float64(len(some)))
			e.mu.Lock()
			if v := e.view.Load(); v != nil {
				if next := v.with(some); next != v {
					r.show(e, next)
					if e.outgrown(next) {
						grown = append(grown, e)
					}
				}
			} else if !e.large {
				e.pending = append(e.pending, some...)
			}
			e.mu.Unlock()
		}
	}
	for _, e := range grown {
		r.forget(e)
	}
	return nil
}

// outgrown says that far more records are kept in an entry than are to be: loaded again, they are a share of all, or
// one that begins later, or none.
func (e *entry) outgrown(v *view) bool {
	most := e.kind.partly.most
	return most > 0 && v.table.count > 2*most
}

// readNew reads what is new in parts that have many rows, most of which are known: first what their revisions are. Of
// an account of which very many are new all is loaded again in one go, by whoever asks, and no look is held up by it.
func (r *Roster) readNew(ctx context.Context, k *kind, entries map[fleet.AccountID]*entry, of query.HeldOf,
	read func(query.HeldOf) error) error {
	wanted := map[fleet.AccountID][]uint64{}
	whole := query.HeldOf{Block: of.Block}
	questions := []*query.HeldOf{&whole}
	for account, e := range entries {
		p := e.share.Load()
		if p == nil || e.view.Load() == nil { // of what is being loaded nobody knows what has left the share meanwhile
			whole.Accounts = append(whole.Accounts, uint64(account))
			continue
		}
		questions = append(questions, &query.HeldOf{Block: of.Block, Accounts: []uint64{uint64(account)}, Any: p.any()})
		// What has left the share is not found by its filters; the log's newer revision tells of it.
		wanted[account] = slices.Collect(maps.Keys(e.view.Load().ahead))
	}
	for _, q := range questions {
		if len(q.Accounts) == 0 {
			continue
		}
		err := k.listing.EachRevision(ctx, r.db, *q, func(account fleet.AccountID, id, revision uint64) {
			if v := entries[account].view.Load(); v != nil {
				if h := v.table.get(id); h != nil && h.Revision >= revision {
					return
				}
			}
			wanted[account] = append(wanted[account], id)
		})
		if err != nil {
			return err
		}
	}
	for account, ids := range wanted {
		if len(ids) > idsReloaded {
			r.forget(entries[account])
			continue
		}
		for some := range slices.Chunk(ids, idsAtOnce) {
			if err := read(query.HeldOf{Accounts: []uint64{uint64(account)}, IDs: some}); err != nil {
				return err
			}
		}
	}
	return nil
}

// readDoubtful reads again what is not in memory, as it stands: a part that came to be of a new one and an old one has
// old revisions too, and of a record that was archived since nothing in memory tells it.
func (r *Roster) readDoubtful(entries map[fleet.AccountID]*entry, found map[fleet.AccountID][]inserted,
	read func(query.HeldOf) error) error {
	doubtful := map[fleet.AccountID][]uint64{}
	for account, some := range found {
		v := (*view)(nil)
		if e := entries[account]; e != nil {
			v = e.view.Load()
		}
		found[account] = slices.DeleteFunc(some, func(i inserted) bool {
			if v != nil && v.table.get(i.held.ID) != nil {
				return false
			}
			gone := i.archived || v != nil && !v.share.has(i.held)
			if !gone && !slices.Contains(doubtful[account], i.held.ID) {
				doubtful[account] = append(doubtful[account], i.held.ID)
			}
			return !gone
		})
	}
	for account, ids := range doubtful {
		if err := read(query.HeldOf{Accounts: []uint64{uint64(account)}, IDs: ids}); err != nil {
			return err
		}
	}
	return nil
}

// Bounds of what is read by ids: how many are named in one question, and of how many new ones all is loaded again.
const (
	idsAtOnce   = 2000
	idsReloaded = 5 * idsAtOnce
)

// lookAtLog has entries know which of their records the log has newer revisions of: whoever wrote them may have died
// before their tables knew, and a single record is what the log says.
func (r *Roster) lookAtLog(ctx context.Context, now known, parts []part) error {
	before := r.seen[logTable]
	first, _, _ := before.since(&now, parts)
	entries := map[fleet.AccountID]bool{}
	var accounts []uint64
	var kinds []string
	for name, k := range r.names {
		some := k.all()
		for _, e := range some {
			if !entries[e.account] {
				entries[e.account], accounts = true, append(accounts, uint64(e.account))
			}
		}
		if len(some) > 0 {
			kinds = append(kinds, name)
		}
	}
	if first == 0 || len(accounts) == 0 {
		return nil
	}
	type owner struct {
		account fleet.AccountID
		kind    string
	}
	found := map[owner][]query.Came{}
	err := query.EachCame(ctx, r.db, accounts, kinds, first, func(c query.Came) {
		of := owner{c.Account, c.Kind}
		found[of] = append(found[of], c)
	})
	if err != nil {
		return err
	}
	for of, some := range found {
		if e := r.names[of.kind].entry(of.account); e != nil {
			e.mu.Lock()
			if v := e.view.Load(); v != nil {
				if next := v.told(some, true); next != v && !e.gone.Load() {
					e.view.Store(next)
				}
			} else if !e.large {
				e.ahead = append(e.ahead, some...)
			}
			e.mu.Unlock()
		}
	}
	return nil
}
