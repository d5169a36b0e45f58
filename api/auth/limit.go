package auth

import (
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/motorpool/fleet"
)

// Class groups operations that share a rate limit.
type Class string

// The classes.
const (
	Read   Class = "read"
	Write  Class = "write"
	Ingest Class = "ingest"
)

// Limit is how many operations of a class may be made within a window. Buckets fill evenly: a key that has been quiet
// may make PerKey at once, and then PerKey/Window. A PerKey of zero is no limit, of the account neither.
type Limit struct {
	PerKey     int
	PerAccount int
	Window     time.Duration
}

// MaxRate is the most requests a minute that LimitsOf takes.
const MaxRate = 1_000_000_000

// Shares of the limits of a class in that of reads.
const (
	writeShare   = 5 // a write costs the store what several reads cost
	accountShare = 5 // an account has several consoles and integrations
)

// LimitsOf returns the limits of a number of requests that a credential may make within a minute, from 1 to MaxRate: so
// many reads, as many requests of trackers, and a fifth as many writes; all credentials of an account together five
// times as many. Zero is no limit.
func LimitsOf(requests int) map[Class]Limit {
	limit := func(n int) Limit {
		return Limit{PerKey: n, PerAccount: accountShare * n, Window: time.Minute}
	}
	if requests == 0 {
		return map[Class]Limit{Read: limit(0), Write: limit(0), Ingest: limit(0)}
	}
	return map[Class]Limit{Read: limit(requests), Write: limit(max(1, requests/writeShare)), Ingest: limit(requests)}
}

// Volume is how much an account may send in within a window, by any number of keys and requests: a request is a small
// thing, and may carry ten thousand reports.
type Volume struct {
	Items  int // reports, rows of imports
	Bytes  int // of bodies, unpacked
	Window time.Duration
}

// Decision is what the limits say of one operation. The numbers are those of the tighter of the two buckets.
type Decision struct {
	OK        bool
	Quota     int           // operations in a window; zero if there is no limit, and nothing else to tell
	Window    time.Duration // of Quota
	Remaining int           // operations that may be made at once
	Reset     time.Duration // until the whole quota may be made at once again
	Retry     time.Duration // until the next operation may be made, if this one may not
}

// Limiter holds a bucket per credential and class, and one per account and class. Buckets live in this process: behind
// several processes a client may make as many times more.
type Limiter struct {
	limits  map[Class]Limit
	volume  Volume
	buckets *buckets
}

// NewLimiter makes a limiter.
func NewLimiter(cfg Config, now func() time.Time) *Limiter {
	return &Limiter{limits: cfg.Limits, volume: cfg.Volume, buckets: newBuckets(now)}
}

// TakeItems asks for the items that a request carries. One that is refused costs none. A request that carries more than
// a whole window may hold is let in when nothing else was.
func (l *Limiter) TakeItems(account fleet.AccountID, n int) Decision {
	return l.buckets.takeMany(volumeOf(account, "items"), l.volume.Items, l.volume.Window, n)
}

// TakeBytes is TakeItems for the bytes of a body.
func (l *Limiter) TakeBytes(account fleet.AccountID, n int) Decision {
	return l.buckets.takeMany(volumeOf(account, "bytes"), l.volume.Bytes, l.volume.Window, n)
}

func volumeOf(account fleet.AccountID, what string) string {
	return "v" + strconv.FormatUint(uint64(account), 36) + what
}

// Take asks for one operation of a principal, within the limits of its account if that has any of its own. One that is
// refused costs nothing.
func (l *Limiter) Take(p *Principal, class Class) Decision {
	limit := l.limits[class]
	if p.Rate != nil {
		limit = LimitsOf(*p.Rate)[class]
	}
	if limit.PerKey == 0 {
		return Decision{OK: true}
	}
	ofAccount := "a" + strconv.FormatUint(uint64(p.Account), 36) + string(class)
	ofKey := "k" + p.limited() + string(class)
	if !l.buckets.peek(ofAccount, limit.PerAccount, limit.Window) {
		return l.buckets.take(ofAccount, limit.PerAccount, limit.Window)
	}
	d := l.buckets.take(ofKey, limit.PerKey, limit.Window)
	if !d.OK {
		return d
	}
	if whole := l.buckets.take(ofAccount, limit.PerAccount, limit.Window); !whole.OK || whole.Remaining < d.Remaining {
		return whole
	}
	return d
}

// buckets are token buckets by name. A bucket that is full again is the same as none, so that only names in recent
// use are kept.
type buckets struct {
	now func() time.Time

	mu   sync.Mutex
	full map[string]time.Time // when each bucket will be full
}

// maxBuckets bounds the memory: some 20 MB. Beyond it buckets are forgotten, which forgives.
const maxBuckets = 100_000

func newBuckets(now func() time.Time) *buckets {
	return &buckets{now: now, full: map[string]time.Time{}}
}

// peek says whether a token could be taken.
func (b *buckets) peek(name string, quota int, window time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.full[name].Sub(b.now()) <= window-window/time.Duration(quota)
}

// take takes a token if there is one.
func (b *buckets) take(name string, quota int, window time.Duration) Decision {
	return b.takeMany(name, quota, window, 1)
}

// takeMany takes n tokens if there are so many. The state of a bucket is the one instant at which it will be full:
// a token moves it ahead by the time that one token takes to come back (the generic cell rate algorithm).
func (b *buckets) takeMany(name string, quota int, window time.Duration, n int) Decision {
	now := b.now()
	each := float64(window) / float64(quota)
	cost := time.Duration(float64(min(n, quota)) * each)
	b.mu.Lock()
	defer b.mu.Unlock()
	full := b.full[name]
	if full.Before(now) {
		full = now
	}
	d := Decision{Quota: quota, Window: window}
	if missing := full.Sub(now); missing > window-cost {
		d.Reset, d.Retry = missing, missing-(window-cost)
		d.Remaining = int(float64(window-missing) / each)
		return d
	}
	full = full.Add(cost)
	d.OK, d.Reset = true, full.Sub(now)
	d.Remaining = int(math.Floor(float64(window-d.Reset) / each))
	if _, ok := b.full[name]; !ok && len(b.full) >= maxBuckets {
		b.clean(now)
	}
	b.full[name] = full
	return d
}

// give puts a token back.
func (b *buckets) give(name string, quota int, window time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if full, ok := b.full[name]; ok {
		b.full[name] = full.Add(-window / time.Duration(quota))
	}
}

// clean forgets full buckets, and if all are in use, any.
func (b *buckets) clean(now time.Time) {
	for name, full := range b.full {
		if !full.After(now) {
			delete(b.full, name)
		}
	}
	for name := range b.full {
		if len(b.full) < maxBuckets*9/10 {
			return
		}
		delete(b.full, name)
	}
}

// Throttle bounds how often something may fail, by names: a bucket each, which fills evenly, so that nobody is kept out
// for good. It is safe for concurrent use.
type Throttle struct {
	buckets *buckets
	quota   int
	window  time.Duration
}

// NewThrottle makes a throttle that takes so many failures of a name within a window.
func NewThrottle(quota int, window time.Duration, now func() time.Time) *Throttle {
	return &Throttle{buckets: newBuckets(now), quota: quota, window: window}
}

// Open says whether a name may try.
func (t *Throttle) Open(name string) bool { return t.buckets.peek(name, t.quota, t.window) }

// Take counts a failure of a name before it is one, and says whether the name may try: who tries many at once has no
// more than who tries one after the other. Give takes it back of who did not fail.
func (t *Throttle) Take(name string) bool { return t.buckets.take(name, t.quota, t.window).OK }

// Give takes a failure back that Take counted.
func (t *Throttle) Give(name string) { t.buckets.give(name, t.quota, t.window) }

// Fail counts a failure of a name.
func (t *Throttle) Fail(name string) { t.buckets.take(name, t.quota, t.window) }
