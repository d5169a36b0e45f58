package api

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/semaphore"
)

// fair shares something that there is only so much of, so that no owner gets more than a share of it.
type fair struct {
	most, share int64
	all         *semaphore.Weighted

	mu     sync.Mutex
	owners map[string]*owner // of those that have claims
}

type owner struct {
	*semaphore.Weighted
	claims int
}

// errShare and errAll say why a claim gets nothing more: the owner has its share, or there is nothing left.
var (
	errShare = errors.New("the owner has its share")
	errAll   = errors.New("others have all of it")
)

func newFair(most, share int64) *fair {
	return &fair{most: most, share: min(share, most), all: semaphore.NewWeighted(most), owners: map[string]*owner{}}
}

// claim is what somebody has of it. It is not for concurrent use.
type claim struct {
	fair *fair
	name string
	own  *owner
	has  int64
}

// claim begins a claim, which must be ended.
func (f *fair) claim(name string) *claim {
	f.mu.Lock()
	defer f.mu.Unlock()
	own := f.owners[name]
	if own == nil {
		own = &owner{Weighted: semaphore.NewWeighted(f.share)}
		f.owners[name] = own
	}
	own.claims++
	return &claim{fair: f, name: name, own: own}
}

// take waits for n more until ctx ends. What is more than a share counts as one.
func (c *claim) take(ctx context.Context, n int64) error {
	n = min(n, c.fair.share)
	if c.own.Acquire(ctx, n) != nil {
		return errShare
	}
	if c.fair.all.Acquire(ctx, n) != nil {
		c.own.Release(n)
		return errAll
	}
	c.has += n
	return nil
}

// try is take without waiting, and without that exception.
func (c *claim) try(n int64) error {
	if !c.own.TryAcquire(n) {
		return errShare
	}
	if !c.fair.all.TryAcquire(n) {
		c.own.Release(n)
		return errAll
	}
	c.has += n
	return nil
}

// end gives everything back.
func (c *claim) end() {
	c.own.Release(c.has)
	c.fair.all.Release(c.has)
	c.fair.mu.Lock()
	defer c.fair.mu.Unlock()
	if c.own.claims--; c.own.claims == 0 {
		delete(c.fair.owners, c.name)
	}
}
