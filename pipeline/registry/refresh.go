// Package registry holds in memory what the pipeline must know of accounts for each fix: Devices, which device is whose
// and which vehicle it is on, and Policies, by what a vehicle is judged. Both are kept up to date by a Refresher.
package registry

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

const (
	// lookEvery is how often a refresher looks whether its tables were written to.
	lookEvery = time.Second
	// everythingEvery is how often everything is read again, so that what a reading missed is mended in the end. It is
	// seldom, for everything is all vehicles and bookings of all accounts.
	everythingEvery = time.Hour
	// overlap is how far a reading looks back behind the newest write that is known: a write's time is its writer's
	// clock, and writers are many and may be slow. What was written lately is found by an index.
	overlap = 10 * time.Minute
	// missedEvery is how often everything is read because tables were written to and nothing new was found in them.
	missedEvery = time.Minute
)

// Refresher keeps what is held in memory as new as the tables that it is made of. Every second it looks whether any was
// written to, and reads what was written lately if so. It reads everything where that brings nothing new, since a write
// may say that it was made long ago, and once an hour all the same. It is safe for concurrent use.
type Refresher struct {
	db   driver.Conn
	what string // is read, for errors
	read func(ctx context.Context, r *reading) error

	turn    sync.Mutex // of reading, and for all below that is no atomic
	written stamp
	began   time.Time         // when the newest reading began that came through
	newest  time.Time         // write that was read
	full    time.Time         // when everything was read
	missed  bool              // the tables were written to since, and nothing new was found yet
	bad     map[string]uint64 // the newest revision of each record that could not be read, by the record's name

	skipped atomic.Int64
	ended   atomic.Pointer[time.Time] // when the newest reading ended that came through
}

// reading is one reading of what was written.
type reading struct {
	of         *Refresher
	began      time.Time
	everything bool      // and not only what was written lately
	since      time.Time // what was written before is known
	newest     time.Time // write that was read, in this reading or before
	wrong      []error   // with records that were skipped for the first time
}

// saw notes when something was written that was read.
func (r *reading) saw(at time.Time) {
	if at.After(r.newest) {
		r.newest = at
	}
}

// skip notes that a revision of a record cannot be read. That is told once, and not with each reading.
func (r *reading) skip(name string, revision uint64, err error) {
	if was, ok := r.of.bad[name]; ok && was >= revision {
		return
	}
	r.of.bad[name] = revision
	r.of.skipped.Add(1)
	r.wrong = append(r.wrong, fmt.Errorf("record %s is skipped: %w", name, err))
}

// start fills in what a refresher needs. It reads nothing yet.
func (f *Refresher) start(db driver.Conn, what string, read func(context.Context, *reading) error, tables ...string) {
	f.db, f.what, f.read = db, what, read
	f.written, f.bad = stamp{tables: tables}, map[string]uint64{}
}

// Run keeps up to date until ctx ends. A store that does not answer leaves everything as it is, and is asked again;
// failed is told of each failure, and once of each record that cannot be read.
func (f *Refresher) Run(ctx context.Context, failed func(error)) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		f.turn.Lock()
		wrong, err := f.refresh(ctx)
		f.turn.Unlock()
		for _, one := range wrong {
			failed(one)
		}
		if err != nil && ctx.Err() == nil {
			failed(err)
		}
	}
}

// Refresh reads what was written since the last time. A record that cannot be read is left out, which hurts no other;
// Skipped counts it.
func (f *Refresher) Refresh(ctx context.Context) error {
	f.turn.Lock()
	defer f.turn.Unlock()
	_, err := f.refresh(ctx)
	return err
}

// RefreshNow returns when all that was written before the call is known: it reads, or waits for somebody's reading that
// began after the call. Ask once for a batch, not for each of its records.
func (f *Refresher) RefreshNow(ctx context.Context) error {
	asked := time.Now()
	f.turn.Lock()
	defer f.turn.Unlock()
	if f.began.After(asked) {
		return nil
	}
	_, err := f.refresh(ctx)
	return err
}

// Skipped returns how many revisions could not be read, each counted once.
func (f *Refresher) Skipped() int { return int(f.skipped.Load()) }

// refreshedWithin says whether a reading that came through ended no longer ago than that.
func (f *Refresher) refreshedWithin(age time.Duration) bool {
	ended := f.ended.Load()
	return ended != nil && time.Since(*ended) < age
}

// refresh reads what was written since the last time, if anything was, and returns what is wrong with records that were
// skipped for the first time. The caller holds f.turn.
func (f *Refresher) refresh(ctx context.Context) ([]error, error) {
	r := reading{of: f, began: time.Now(), since: time.Unix(0, 0), newest: f.newest}
	written, stale, err := f.written.look(ctx, f.db, r.began)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.what, err)
	}
	f.missed = f.missed || written
	age := r.began.Sub(f.full)
	r.everything = age > everythingEvery || f.missed && age > missedEvery
	if !r.everything && !f.newest.IsZero() {
		r.since = f.newest.Add(-overlap)
	}
	if stale || r.everything {
		if err := f.read(ctx, &r); err != nil {
			f.written.forget()
			return r.wrong, err
		}
		if r.everything {
			f.full = r.began
		}
		if r.everything || r.newest.After(f.newest) {
			f.missed = false
		}
		if f.newest = r.newest; f.newest.After(r.began) { // of a clock that is ahead, which hides nobody else's writes
			f.newest = r.began
		}
	}
	ended := time.Now()
	f.began = r.began
	f.ended.Store(&ended)
	return r.wrong, nil
}
