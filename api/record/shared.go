package record

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/motorpool/fleet/schemas"
)

// sharedInserts has inserts into tables of current records shared by those who write at the same time, as the server
// takes longer to plan one than to insert its rows: while one is on its way, who comes waits, and all of them go
// with the next. Who is alone waits for nobody.
type sharedInserts struct {
	mu sync.Mutex
	// by table, of those into which an insert is on its way; who waits for the next, nobody at first
	waiting map[string][]*sharer
}

// sharer is somebody who waits for an insert.
type sharer struct {
	all   []*revision
	leave time.Time  // later than this there is too little time left
	until time.Time  // by when it is done, or given up
	done  chan error // gets what became of it
}

// errLate says that what waited for an insert was not taken along, so that the others have the time that they need.
var errLate = errors.New("the insert before took too long")

// insertShared is insertWritten together with others. What became of the insert all of them are told; who goes
// earlier cuts nothing.
func (s *Store) insertShared(ctx context.Context, f schemas.Feed, all []*revision) error {
	now := time.Now()
	until, ok := ctx.Deadline()
	if !ok {
		until = now.Add(fromMemory)
	}
	mine := &sharer{all: all, leave: now.Add(until.Sub(now) / 2), until: until, done: make(chan error, 1)}
	s.shared.mu.Lock()
	before, going := s.shared.waiting[f.Table]
	s.shared.waiting[f.Table] = append(before, mine)
	s.shared.mu.Unlock()
	if !going {
		go s.insertWaiting(context.WithoutCancel(ctx), f)
	}
	select {
	case err := <-mine.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// insertWaiting inserts for those who wait, and for those who came meanwhile, until nobody does.
func (s *Store) insertWaiting(ctx context.Context, f schemas.Feed) {
	for {
		s.shared.mu.Lock()
		waiting := s.shared.waiting[f.Table]
		if s.shared.waiting[f.Table] = nil; len(waiting) == 0 {
			delete(s.shared.waiting, f.Table)
		}
		s.shared.mu.Unlock()
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
		err := s.insertUntil(ctx, until, f, all)
		for _, w := range going {
			w.done <- err
		}
	}
}

// insertUntil is insertWritten until an instant. A panic is its error, as nobody's request is carried out here that
// would catch it.
func (s *Store) insertUntil(ctx context.Context, until time.Time, f schemas.Feed, all []*revision) (err error) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	defer func() {
		if fell := recover(); fell != nil {
			err = fmt.Errorf("insert into %s: %v", f.Table, fell)
		}
	}()
	return s.insertWritten(ctx, f, all)
}
