package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// sharedInserts has inserts into a table shared by those who write at the same time, as the server takes longer to plan
// one than to insert its rows: while one is on its way, who comes waits, and all of them go with the next. Who is alone
// waits for nobody, unless linger says so, or nobody waits for it.
type sharedInserts struct {
	linger func() time.Duration // how long each waits for others before it is sent
	mu     sync.Mutex
	// by table, of those into which an insert is on its way; who waits for the next, nobody at first
	waiting map[string][]*sharer
	waking  map[string]chan struct{} // by table, ends the pause in which only those wait whom nobody waits for
}

func newSharedInserts(linger func() time.Duration) *sharedInserts {
	return &sharedInserts{linger: linger, waiting: map[string][]*sharer{}, waking: map[string]chan struct{}{}}
}

// patience is how long those whom nobody waits for wait for others before their insert is sent.
const patience = 50 * time.Millisecond

type patientKey struct{}

// patiently returns a context in which nobody waits for what is brought to a table, for as long as calm says so.
func patiently(ctx context.Context, calm func() bool) context.Context {
	return context.WithValue(ctx, patientKey{}, calm)
}

// sharer is somebody who waits for an insert.
type sharer struct {
	all   []*revision
	leave time.Time   // later than this there is too little time left
	until time.Time   // by when it is done, or given up
	calm  func() bool // whether nobody waits for it; nil if its writer does
	done  chan error  // gets what became of it
}

// errLate says that what waited for an insert was not taken along, so that the others have the time that they need.
var errLate = errors.New("the insert before took too long")

// insert is how revisions come to a table.
type insert func(ctx context.Context, all []*revision) error

// share inserts revisions into a table together with others. What became of the insert all of them are told; who goes
// earlier cuts nothing.
func (i *sharedInserts) share(ctx context.Context, table string, insert insert, all []*revision) error {
	now := time.Now()
	until, ok := ctx.Deadline()
	if !ok {
		until = now.Add(fromMemory)
	}
	mine := &sharer{all: all, leave: now.Add(until.Sub(now) / 2), until: until, done: make(chan error, 1)}
	mine.calm, _ = ctx.Value(patientKey{}).(func() bool)
	i.mu.Lock()
	before, going := i.waiting[table]
	i.waiting[table] = append(before, mine)
	switch {
	case !going:
		i.waking[table] = make(chan struct{}, 1)
	case mine.calm == nil:
		wake(i.waking[table])
	}
	i.mu.Unlock()
	if !going {
		go i.insertWaiting(context.WithoutCancel(ctx), table, insert)
	}
	select {
	case err := <-mine.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// insertWaiting inserts for those who wait, and for those who came meanwhile, until nobody does.
func (i *sharedInserts) insertWaiting(ctx context.Context, table string, insert insert) {
	for {
		i.pause(table)
		i.mu.Lock()
		waiting := i.waiting[table]
		if i.waiting[table] = nil; len(waiting) == 0 {
			delete(i.waiting, table)
			delete(i.waking, table)
		}
		i.mu.Unlock()
		if len(waiting) == 0 {
			return
		}
		var all []*revision
		var going []*sharer
		now, until := time.Now(), time.Time{}
		for _, w := range waiting {
			if now.After(w.leave) {
				w.done <- errLate
				continue
			}
			if going, all = append(going, w), append(all, w.all...); until.IsZero() || w.until.Before(until) {
				until = w.until
			}
		}
		if len(going) == 0 {
			continue
		}
		err := insert.until(ctx, until, table, all)
		for _, w := range going {
			w.done <- err
		}
	}
}

// pause waits for others who come to an insert: for longer while nobody waits for any of those that are there.
func (i *sharedInserts) pause(table string) {
	i.mu.Lock()
	waiting := i.waiting[table]
	calm := len(waiting) > 0 && !slices.ContainsFunc(waiting, func(s *sharer) bool { return s.calm == nil || !s.calm() })
	woken := i.waking[table]
	i.mu.Unlock()
	if calm {
		select {
		case <-woken:
		case <-time.After(patience):
			return
		}
	}
	time.Sleep(i.linger())
}

// hurry has all that nobody waited for inserted now.
func (i *sharedInserts) hurry() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, woken := range i.waking {
		wake(woken)
	}
}

// wake tells who waits at a channel, or comes to it next.
func wake(woken chan struct{}) {
	select {
	case woken <- struct{}{}:
	default: // it was told, or there is none
	}
}

// until inserts until an instant. A panic is its error, as nobody's request is carried out here that
// would catch it.
func (i insert) until(ctx context.Context, end time.Time, table string, all []*revision) (err error) {
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	defer func() {
		if fell := recover(); fell != nil {
			err = fmt.Errorf("insert into %s: %v", table, fell)
		}
	}()
	return i(ctx, all)
}
