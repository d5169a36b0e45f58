// Package roster keeps in memory, for the accounts that somebody asks about, the current records of kinds that are
// small and asked for often, and answers lists and single records from there as the store would.
//
//	a request ──► view of the account and kind: an immutable table behind an atomic pointer ──► query.Question
//	                 ▲ loaded in one go                 ▲ what was inserted since, by the last look
//	            tables of current records  ◄──── look: which parts do the tables have by now?
//
// What tells of every change is the store's own list of parts: whatever brings a row to a table, of whichever
// process, with whatever clock, makes a part with a number of its own, and what rewrites rows in place (an erasure)
// gives parts another mutation. A look asks for that list, which reads no row, then for the rows of the parts that
// are new, of kinds that somebody asks for. An answer is given from memory if a look that began not longer than
// Config.Lag ago has ended, and after the last own write of the account; a request for which there is none waits
// for one, and if none comes, the store answers.
package roster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/query"
)

// Config are the settings of a Roster.
type Config struct {
	Memory int64         // bytes of all records together
	Idle   time.Duration // after which what nobody asks for is let go
	Lag    time.Duration // how old the look may be that an answer goes by
	Every  time.Duration // how often the store is looked at while somebody asks, at most
	Wait   time.Duration // that a request waits for memory, before it asks the store, which is no faster then
}

// DefaultConfig returns the settings used when nothing else is said.
func DefaultConfig() Config {
	return Config{Memory: 256 << 20, Idle: 15 * time.Minute, Lag: 250 * time.Millisecond, Every: 100 * time.Millisecond,
		Wait: 2 * time.Second}
}

// Validate says what is wrong with the settings.
func (c Config) Validate() error {
	if c.Memory <= 0 || c.Idle <= 0 || c.Every <= 0 || c.Lag < c.Every || c.Wait <= 0 {
		return errors.New("roster: all settings must be positive, and the lag not shorter than the time between looks")
	}
	return nil
}

// Kinds are the kinds of records that are kept, by the name that the log has for them.
var Kinds = map[string]*query.Listing{
	"vehicle": &query.Vehicles, "device": &query.Devices, "vehicle_class": &query.VehicleClasses,
	"location": &query.Locations, "rate_plan": &query.RatePlans, "geofence": &query.Geofences,
	"customer": &query.Customers, "account": &query.AccountRecords, "booking": &query.Bookings,
}

// Roster is the memory of a process. It is safe for concurrent use. A nil one keeps nothing, and the store answers.
type Roster struct {
	cfg     Config
	db      driver.Conn
	log     *slog.Logger
	metrics *metrics
	start   time.Time
	now     func() time.Time // by which facts hold
	tables  []string         // that are looked at
	kinds   map[*query.Listing]*kind
	names   map[string]*kind

	watchers  []watcher  // what follows of the tables
	keepers   []keeper   // what else is kept
	following *following // who is told what comes to the log; nil for nobody
	places    *whole[query.Latest]

	asked   atomic.Int64 // when somebody asked last
	resumed atomic.Int64 // when somebody asked after nobody had for a while
	looked  atomic.Int64 // when the last look that ended well began; 0 before the first
	bytes   atomic.Int64
	records atomic.Int64
	loading atomic.Int64  // bytes of what is being loaded
	turns   chan struct{} // of those that load
	fills   chan struct{} // of those that load what nobody waits for

	mu   sync.Mutex
	look *looking // that is under way

	off  atomic.Bool  // nothing can be kept
	slow atomic.Bool  // the look before took longer than anybody waits for one
	rest atomic.Int64 // the instant before which no look begins that nobody waits for

	// Of the look that is under way, and nobody else.
	usable  bool // the tables are such that their parts tell everything
	seen    map[string]known
	failing bool // the look before failed
}

// kind is a kind of records in memory.
type kind struct {
	listing *query.Listing
	name    string
	partly  partly       // most is 0 if all are kept, of however many
	asked   atomic.Int64 // when somebody asked last
	looked  atomic.Int64 // when the last look began that has brought all that is new to the entries
	seen    known        // what that has seen of the table; of the look that is under way, and nobody else
	mu      sync.RWMutex
	entries map[fleet.AccountID]*entry
	out     map[fleet.AccountID]int64 // until when what was let go is not loaded again
}

// looking is a look that is under way. Instants are nanoseconds since the roster was made.
type looking struct {
	began int64
	done  chan struct{}
}

// New makes a roster, which asks nothing before somebody asks it.
func New(cfg Config, db driver.Conn, registerer prometheus.Registerer, log *slog.Logger) (*Roster, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r := &Roster{cfg: cfg, db: db, log: log, start: time.Now(), now: time.Now, tables: []string{logTable},
		turns: make(chan struct{}, loadsAtOnce), fills: make(chan struct{}, 1),
		kinds: map[*query.Listing]*kind{}, names: map[string]*kind{}}
	for name, l := range Kinds {
		k := &kind{listing: l, name: name, partly: keptPartly[name], entries: map[fleet.AccountID]*entry{},
			out: map[fleet.AccountID]int64{}}
		r.kinds[l], r.names[name], r.tables = k, k, append(r.tables, l.Table)
	}
	for _, s := range sources {
		if !slices.Contains(r.tables, s.table) {
			r.tables = append(r.tables, s.table)
		}
	}
	r.places = newPlaces(r)
	r.watchers = []watcher{r.places}
	var err error
	r.metrics, err = newMetrics(registerer, r)
	return r, err
}

// clock is a time of this process that never runs back, and is never zero.
func (r *Roster) clock() int64 { return int64(time.Since(r.start)) + 1 }

// List is query.List, from memory if that can tell; false if only the store can.
func (r *Roster) List(ctx context.Context, l *query.Listing, req query.ListRequest) (query.ListPage, bool, error) {
	v := r.view(ctx, l, req.Account)
	if v == nil {
		return query.ListPage{}, false, nil
	}
	page, ok, err := v.list(l, req)
	if err == nil {
		r.metrics.answered(ok)
	}
	return page, ok, err
}

// Get returns a record of an account that is not archived, at its newest revision; false if only the store can tell.
func (r *Roster) Get(ctx context.Context, l *query.Listing, account fleet.AccountID, id uint64) (query.Stored, bool) {
	return r.get(r.view(ctx, l, account), id)
}

func (r *Roster) get(v *view, id uint64) (query.Stored, bool) {
	if v == nil {
		return query.Stored{}, false
	}
	h := v.table.get(id)
	ok := h != nil && v.ahead[id] <= h.Revision
	r.metrics.answered(ok)
	if !ok {
		return query.Stored{}, false
	}
	return h.Stored(), true
}

// Recall is Get by the name of a kind, for commands. It waits for no loading: that begins, and the store tells
// meanwhile. While looks take long, it goes by one that began up to RecallLags times Config.Lag ago.
func (r *Roster) Recall(ctx context.Context, account fleet.AccountID, name string, id uint64) (query.Stored, bool) {
	l := r.loaded(ctx, account, name)
	if l == nil {
		return query.Stored{}, false
	}
	return r.get(r.viewWithin(ctx, l, account, RecallLags*r.cfg.Lag), id)
}

// RecallLags is how much older a look may be that a command goes by than one that an answer does: what a command is
// refused by it looks up again, and a store in which looks take long has no time for reads in their place.
const RecallLags = 4

// All returns the records of a kind that are not archived, by id, for whoever waits for no loading; false if only the
// store can tell, or they are more than most.
func (r *Roster) All(ctx context.Context, account fleet.AccountID, name string, most int) ([]query.Stored, bool) {
	l := r.loaded(ctx, account, name)
	if l == nil {
		return nil, false
	}
	v := r.viewWithin(ctx, l, account, RecallLags*r.cfg.Lag)
	if v == nil || v.share != nil || v.table.count > most || len(v.ahead) > 0 {
		return nil, false
	}
	all := make([]query.Stored, 0, v.table.count)
	for _, piece := range v.table.pieces {
		for _, h := range piece {
			all = append(all, h.Stored())
		}
	}
	r.metrics.answered(true)
	return all, true
}

// loaded returns the listing of a kind if its records of an account are in memory; if not, they are loaded.
func (r *Roster) loaded(ctx context.Context, account fleet.AccountID, name string) *query.Listing {
	if r == nil || r.names[name] == nil || r.names[name].partly.most > 0 { // what is many is not loaded for one
		return nil
	}
	k := r.names[name]
	e := k.entry(account)
	if e == nil {
		go r.view(context.WithoutCancel(ctx), k.listing, account)
		return nil
	}
	if e.view.Load() == nil {
		return nil
	}
	return k.listing
}

// ByID returns those of some records of an account that are in memory, and the ids of the others.
func (r *Roster) ByID(ctx context.Context, l *query.Listing, account fleet.AccountID,
	ids []uint64) (found map[uint64]query.Stored, rest []uint64) {
	v := r.view(ctx, l, account)
	if v == nil {
		return nil, ids
	}
	found = make(map[uint64]query.Stored, len(ids))
	for _, id := range ids {
		if h := v.table.get(id); h != nil {
			found[id] = h.Stored()
		} else {
			rest = append(rest, id)
		}
	}
	r.metrics.answered(len(rest) == 0)
	return found, rest
}

// Showed notes that this process has read something of an account in the table of a listing: no list or record is
// answered from then on that does not have it.
func (r *Roster) Showed(account fleet.AccountID, l *query.Listing) {
	if r == nil || r.kinds[l] == nil {
		return
	}
	k := r.kinds[l]
	if k.partly.most == 0 {
		r.Wrote(account, k.name)
	} else if e := k.entry(account); e != nil { // of what only the store tells of many, nothing else follows that is kept
		raise(&e.written, r.clock())
	}
}

// Wrote notes that this process has brought something of an account to the tables of a kind, or of any with "", or has
// read there what it shows: no answer is given from then on that does not have it.
func (r *Roster) Wrote(account fleet.AccountID, name string) {
	if r == nil {
		return
	}
	now := r.clock()
	for _, k := range r.names {
		if name != "" && name != k.name {
			continue
		}
		if e := k.entry(account); e != nil {
			raise(&e.written, now)
		}
	}
	for _, w := range r.watchers {
		w.wrote(account, reaches[name], now)
	}
}

// raise makes an instant a later one; it never makes it an earlier one.
func raise(at *atomic.Int64, to int64) {
	for old := at.Load(); old < to && !at.CompareAndSwap(old, to); old = at.Load() {
	}
}

func (k *kind) entry(account fleet.AccountID) *entry {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.entries[account]
}

// view returns the records of a kind and an account as they stand, or nil if that cannot be told from memory now.
func (r *Roster) view(ctx context.Context, l *query.Listing, account fleet.AccountID) *view {
	if r == nil {
		return nil
	}
	return r.viewWithin(ctx, l, account, r.cfg.Lag)
}

// viewWithin is view as a look found it that began not longer than lag ago.
func (r *Roster) viewWithin(ctx context.Context, l *query.Listing, account fleet.AccountID, lag time.Duration) *view {
	k := r.kinds[l]
	if r.off.Load() || k == nil {
		return nil
	}
	now := r.ask()
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Wait)
	defer cancel()
	for range 2 { // what a look lets go of is loaded again
		if v, gone := r.viewOf(ctx, k, account, now, lag); !gone {
			return v
		}
	}
	return nil
}

// viewOf is view at an instant; gone says that what was there was let go of meanwhile.
func (r *Roster) viewOf(ctx context.Context, k *kind, account fleet.AccountID, now int64,
	lag time.Duration) (v *view, gone bool) {
	raise(&k.asked, now)
	e := k.entry(account)
	if e == nil {
		if k.isOut(account, now) {
			return nil, false
		}
		// Before anything is read, the parts must be known that it is read of; not those of long ago, after which much
		// may have come that would be read twice.
		if !r.wait(ctx, &k.looked, max(0, now-int64(dozesAfter))) {
			return nil, false
		}
		e = r.begin(k, account)
	}
	e.asked.Store(now)
	if v = e.view.Load(); v == nil {
		select {
		case <-e.loaded:
		case <-ctx.Done():
		}
		if v = e.view.Load(); v == nil {
			return nil, e.gone.Load()
		}
	}
	need := max(now-int64(lag), e.written.Load())
	raise(&k.asked, r.clock()) // loading may have taken long
	if v.since <= need && k.looked.Load() <= need && !r.wait(ctx, &k.looked, need) {
		return nil, false
	}
	if e.gone.Load() {
		return nil, true
	}
	return e.view.Load(), false // what a look has found is there before its instant
}

// wait waits for a look that began after an instant, and ended well: looked is when the last such one began. It waits
// for none while looks take too long.
func (r *Roster) wait(ctx context.Context, looked *atomic.Int64, after int64) bool {
	for begun := r.clock(); looked.Load() <= after; {
		l := r.lookNow()
		if r.slow.Load() {
			return false
		}
		select {
		case <-l.done:
		case <-ctx.Done():
			return false
		}
		if l.began >= begun { // one that knew who waits
			return looked.Load() > after
		}
	}
	return true
}

// lookNow returns the look that is under way, or begins one.
func (r *Roster) lookNow() *looking {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.look != nil {
		return r.look
	}
	l := &looking{began: r.clock(), done: make(chan struct{})}
	r.look = l
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), lookWithin)
		defer cancel()
		err := r.lookAt(ctx, l.began)
		if err != nil && err != errOff {
			r.metrics.failed.Inc()
			if !r.failing {
				r.log.Warn("the store could not be looked at; nothing is answered from memory until it can", "error", err)
			}
		}
		r.failing = err != nil
		now := r.clock()
		r.slow.Store(now-l.began > int64(r.cfg.Wait))
		r.rest.Store(r.rested(l.began, now-l.began))
		r.mu.Lock()
		r.look = nil
		r.mu.Unlock()
		close(l.done)
	}()
	return l
}

// rested is when the next look is to begin after one that took so long, unless somebody waits for it: looks of a busy
// store take a third of the time. A list may have to wait for one because of that, a command must not (RecallLags).
func (r *Roster) rested(began, took int64) int64 {
	lag := int64(r.cfg.Lag)
	return began + min(3*took, took+lag, RecallLags*lag-took)
}

// Bounds of looking.
const (
	lookWithin = 10 * time.Second
	askedFor   = 10 * time.Second // after which nobody is asking any more
	letGoEvery = 50               // looks
	rowsAtOnce = 2000             // of parts that are read whole; of more, first what is new in them
	dozesAfter = time.Second      // after which what is new of a kind that nobody asks for is left until somebody does
)

// Run looks at the store while somebody asks, and lets go what nobody asks for, until ctx ends.
func (r *Roster) Run(ctx context.Context) error {
	if r == nil {
		<-ctx.Done()
		return nil
	}
	for n, wait := 0, r.cfg.Every; ; n, wait = n+1, r.cfg.Every {
		now := r.clock()
		if rest := time.Duration(r.rest.Load() - now); rest > 0 {
			wait = min(wait, rest)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		now = r.clock()
		if n%letGoEvery == 0 || r.bytes.Load() > r.cfg.Memory {
			r.letGo(now - int64(r.cfg.Idle))
		}
		if asked := r.asked.Load(); asked != 0 && now-asked < int64(askedFor) && now >= r.rest.Load() && !r.off.Load() {
			r.lookNow()
		}
	}
}

// ask notes that somebody asks now.
func (r *Roster) ask() int64 {
	now := r.clock()
	if before := r.asked.Load(); before == 0 || now-before > int64(askedFor) {
		raise(&r.resumed, now)
	}
	r.asked.Store(now)
	return now
}

// Lag is how old the newest look is, or for how long one has been missing since somebody asks again; 0 while nobody
// asks.
func (r *Roster) Lag() time.Duration {
	now, asked := r.clock(), r.asked.Load()
	if asked == 0 || now-asked > int64(askedFor) || r.off.Load() {
		return 0
	}
	return time.Duration(now - max(r.looked.Load(), r.resumed.Load()))
}

// Check says that the roster is behind, for /readyz: the store answers meanwhile.
func (r *Roster) Check(context.Context) error {
	if lag := r.Lag(); lag > 2*lookWithin {
		return fmt.Errorf("the newest look at the store is %s old; lists and records come from the store, slowly",
			lag.Round(time.Second))
	}
	return nil
}
