package record

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/motorpool/fleet"
)

// early has what is still carried out of writes whose writers went on as soon as the log had them.
type early struct {
	mu       sync.Mutex
	going    map[fleet.AccountID]map[chan struct{}]bool // by account; each is closed when it is done
	n        int
	awaiting map[fleet.AccountID]int // by account, how many wait until that is done
}

// mostEarly bounds the writes that are carried out beside their writers: who comes then waits for its own.
const mostEarly = 256

// earlyKey leads to a bool: whether nobody waits for what follows.
type earlyKey struct{}

// Early returns a context in which a write returns as soon as the log has it. That the tables of current records know
// it, and what else follows from it, is carried out beside its writer: for that Await waits.
func Early(ctx context.Context) context.Context {
	if isEarly(ctx) {
		return ctx
	}
	return context.WithValue(ctx, earlyKey{}, false)
}

// Unawaited is Early for who does not await it either: until somebody else does, tables learn of several writes
// together.
func Unawaited(ctx context.Context) context.Context { return context.WithValue(ctx, earlyKey{}, true) }

// punctual returns a context in which a write returns when all is carried out.
func punctual(ctx context.Context) context.Context { return context.WithValue(ctx, earlyKey{}, nil) }

func isEarly(ctx context.Context) bool {
	_, early := ctx.Value(earlyKey{}).(bool)
	return early
}

func isUnawaited(ctx context.Context) bool {
	unawaited, _ := ctx.Value(earlyKey{}).(bool)
	return unawaited
}

// Await waits until all is carried out that follows from what this store had written of an account before, as far as it
// can be. In a context of Early it waits for nothing.
func (s *Store) Await(ctx context.Context, account fleet.AccountID) error {
	if isEarly(ctx) {
		return nil
	}
	e := &s.early
	e.mu.Lock()
	going := slices.Collect(maps.Keys(e.going[account]))
	if len(going) == 0 {
		e.mu.Unlock()
		return nil
	}
	e.awaiting[account]++
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.awaiting[account]--; e.awaiting[account] == 0 {
			delete(e.awaiting, account)
		}
	}()
	s.shared.hurry()
	for _, done := range going {
		select {
		case <-done:
		case <-ctx.Done():
			return fmt.Errorf("wait until what was written is listed: %w", ctx.Err())
		}
	}
	return nil
}

// AwaitAll is Await of every account.
func (s *Store) AwaitAll(ctx context.Context) error {
	s.early.mu.Lock()
	accounts := slices.Collect(maps.Keys(s.early.going))
	s.early.mu.Unlock()
	for _, account := range accounts {
		if err := s.Await(ctx, account); err != nil {
			return err
		}
	}
	return nil
}

// isAwaited says whether somebody waits for what was written of an account.
func (e *early) isAwaited(account fleet.AccountID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.awaiting[account] > 0
}

// followEarly carries out what follows from a revision beside its writer, in a context of Early. False says that the
// writer is to do it: in another context, or while there is too much of that. listing is the context in which it is
// brought to tables.
func (s *Store) followEarly(ctx context.Context, r *revision, follow func(ctx, listing context.Context) error) bool {
	if !isEarly(ctx) || s.draft != nil {
		return false
	}
	e, account, done := &s.early, fleet.AccountID(r.account), make(chan struct{})
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.n >= mostEarly {
		return false
	}
	if e.going[account] == nil {
		e.going[account] = make(map[chan struct{}]bool)
	}
	e.going[account][done] = true
	e.n++
	then := punctual(ctx) // what is written by what follows is done when that is
	listing := then
	if isUnawaited(ctx) {
		listing = patiently(then, func() bool { return !e.isAwaited(account) })
	}
	go func() {
		defer func() {
			if fell := recover(); fell != nil { // nobody's request is carried out here that would catch it
				s.log.ErrorContext(then, "what follows from a write fell, and will be done again", "panic", fell,
					"stack", string(debug.Stack()))
			}
			e.mu.Lock()
			defer e.mu.Unlock()
			if delete(e.going[account], done); len(e.going[account]) == 0 {
				delete(e.going, account)
			}
			e.n--
			close(done)
		}()
		if err := follow(then, listing); err != nil {
			s.log.WarnContext(then, "what was written does not show in lists yet, and will be mended", "kind", r.kind,
				"id", r.id, "error", err)
		}
	}()
	return true
}
