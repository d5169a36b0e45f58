package pace

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// Pool shares something that there is only so much of, so that no owner gets more than a share of it.
type Pool struct {
	share int64
	all   *semaphore.Weighted
	taken atomic.Int64

	mu     sync.Mutex
	owners map[string]*owner // of those that have claims
}

type owner struct {
	*semaphore.Weighted
	claims int
}

// ErrShare and ErrAll say why a claim gets nothing more: the owner has its share, or there is nothing left.
var (
	ErrShare = errors.New("the owner has its share")
	ErrAll   = errors.New("others have all of it")
)

// NewPool makes a pool of most units, of which one owner gets share at most.
func NewPool(most, share int64) *Pool {
	return &Pool{share: min(share, most), all: semaphore.NewWeighted(most), owners: map[string]*owner{}}
}

// Claim is what somebody has of a pool. It is not for concurrent use.
type Claim struct {
	pool *Pool
	name string
	own  *owner
	has  int64
}

// Owners are the names of those that have claims.
func (p *Pool) Owners() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.owners))
}

// Taken is how much all claims have at this moment.
func (p *Pool) Taken() int64 { return p.taken.Load() }

// Claim begins a claim, which must be ended.
func (p *Pool) Claim(name string) *Claim {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.owners[name]
	if own == nil {
		own = &owner{Weighted: semaphore.NewWeighted(p.share)}
		p.owners[name] = own
	}
	own.claims++
	return &Claim{pool: p, name: name, own: own}
}

// Take waits for n more until ctx ends. What is more than a share counts as one.
func (c *Claim) Take(ctx context.Context, n int64) error {
	n = min(n, c.pool.share)
	if c.own.Acquire(ctx, n) != nil {
		return ErrShare
	}
	if c.pool.all.Acquire(ctx, n) != nil {
		c.own.Release(n)
		return ErrAll
	}
	c.has += n
	c.pool.taken.Add(n)
	return nil
}

// Try is Take without waiting, and without that exception.
func (c *Claim) Try(n int64) error {
	if !c.own.TryAcquire(n) {
		return ErrShare
	}
	if !c.pool.all.TryAcquire(n) {
		c.own.Release(n)
		return ErrAll
	}
	c.has += n
	c.pool.taken.Add(n)
	return nil
}

// End gives everything back.
func (c *Claim) End() {
	c.own.Release(c.has)
	c.pool.all.Release(c.has)
	c.pool.taken.Add(-c.has)
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	if c.own.claims--; c.own.claims == 0 {
		delete(c.pool.owners, c.name)
	}
}
