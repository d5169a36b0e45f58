package pace

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Fair shares something that there is only so much of, so that no owner gets more than a share of it.
type Fair struct {
	Most, share int64
	All         *semaphore.Weighted

	Mu     sync.Mutex
	Owners map[string]*owner // of those that have claims
}

type owner struct {
	*semaphore.Weighted
	claims int
}

// ErrShare and errAll say why a claim gets nothing more: the owner has its share, or there is nothing left.
var (
	ErrShare = errors.New("the owner has its share")
	ErrAll   = errors.New("others have all of it")
)

func NewFair(most, share int64) *Fair {
	return &Fair{Most: most, share: min(share, most), All: semaphore.NewWeighted(most), Owners: map[string]*owner{}}
}

// Claim is what somebody has of it. It is not for concurrent use.
type Claim struct {
	fair *Fair
	name string
	own  *owner
	has  int64
}

// Claim begins a claim, which must be ended.
func (f *Fair) Claim(name string) *Claim {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	own := f.Owners[name]
	if own == nil {
		own = &owner{Weighted: semaphore.NewWeighted(f.share)}
		f.Owners[name] = own
	}
	own.claims++
	return &Claim{fair: f, name: name, own: own}
}

// Take waits for n more until ctx ends. What is more than a share counts as one.
func (c *Claim) Take(ctx context.Context, n int64) error {
	n = min(n, c.fair.share)
	if c.own.Acquire(ctx, n) != nil {
		return ErrShare
	}
	if c.fair.All.Acquire(ctx, n) != nil {
		c.own.Release(n)
		return ErrAll
	}
	c.has += n
	return nil
}

// Try is take without waiting, and without that exception.
func (c *Claim) Try(n int64) error {
	if !c.own.TryAcquire(n) {
		return ErrShare
	}
	if !c.fair.All.TryAcquire(n) {
		c.own.Release(n)
		return ErrAll
	}
	c.has += n
	return nil
}

// End gives everything back.
func (c *Claim) End() {
	c.own.Release(c.has)
	c.fair.All.Release(c.has)
	c.fair.Mu.Lock()
	defer c.fair.Mu.Unlock()
	if c.own.claims--; c.own.claims == 0 {
		delete(c.fair.Owners, c.name)
	}
}
