package auth

import (
	"context"
	"net/netip"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"
)

// Doorkeeper finds credentials by their public names and lets in whoever proves to hold one. What it finds is
// remembered for Config.CacheFor. An address that failed too often has nothing more looked up for it (ErrThrottled),
// but for credentials that were proved before: many share an address, and one that guesses must not lock out the
// others. Those are remembered apart, so that names which somebody makes up never crowd them out. It is safe for
// concurrent use.
type Doorkeeper[C any] struct {
	cfg      Config
	lookup   func(ctx context.Context, name string) (C, error)
	proves   func(secret string, found C) bool
	now      func() time.Time
	failures *buckets
	flight   singleflight.Group
	proved   *lru.Cache[string, remembered[C]]
	others   *lru.Cache[string, remembered[C]] // never proved, and most of them nothing
}

type remembered[C any] struct {
	found C
	until time.Time // after which it must be looked up again
}

// NewDoorkeeper makes a doorkeeper. What lookup finds of a name that nobody has must prove nothing.
func NewDoorkeeper[C any](cfg Config, lookup func(ctx context.Context, name string) (C, error),
	proves func(secret string, found C) bool, now func() time.Time) *Doorkeeper[C] {
	d := &Doorkeeper[C]{cfg: cfg, lookup: lookup, proves: proves, now: now, failures: newBuckets(now)}
	for _, cache := range []**lru.Cache[string, remembered[C]]{&d.proved, &d.others} {
		var err error
		if *cache, err = lru.New[string, remembered[C]](cfg.CacheSize); err != nil {
			panic(err) // Config.Validate allows no such size
		}
	}
	return d
}

// Admit returns what is found by a name if the secret is its own. Else the error is ErrUnknownKey, ErrThrottled or that
// of the look-up.
func (d *Doorkeeper[C]) Admit(ctx context.Context, name, secret string, client netip.Addr) (C, error) {
	var nothing C
	known := d.recall(name)
	good := d.proves(secret, known.found)
	if !good && !d.failures.peek(Network(client), d.cfg.Failures, d.cfg.Window) {
		return nothing, ErrThrottled
	}
	if d.now().After(known.until) {
		var err error
		if known, err = d.find(ctx, name); err != nil {
			return nothing, err
		}
		good = d.proves(secret, known.found)
	}
	d.keep(name, known, good)
	if !good {
		return nothing, d.fail(client, ErrUnknownKey)
	}
	return known.found, nil
}

// Forget has a credential looked up again when it comes next, after it was changed here.
func (d *Doorkeeper[C]) Forget(name string) {
	known := d.recall(name)
	known.until = time.Time{}
	d.keep(name, known, false)
}

func (d *Doorkeeper[C]) recall(name string) remembered[C] {
	if known, ok := d.proved.Get(name); ok {
		return known
	}
	known, _ := d.others.Get(name)
	return known
}

// keep remembers what was found. What was proved once stays with its like, whoever presents a wrong secret for it.
func (d *Doorkeeper[C]) keep(name string, known remembered[C], proved bool) {
	if proved || d.proved.Contains(name) {
		d.proved.Add(name, known)
		d.others.Remove(name)
	} else {
		d.others.Add(name, known)
	}
}

// find looks a name up, once for all who ask at the same time.
func (d *Doorkeeper[C]) find(ctx context.Context, name string) (remembered[C], error) {
	v, err, _ := d.flight.Do(name, func() (any, error) {
		until := d.now().Add(d.cfg.CacheFor) // what is read may be as old as the beginning of the look-up
		// The others who wait must not fail because the first of them went away.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		found, err := d.lookup(ctx, name)
		return remembered[C]{found, until}, err
	})
	return v.(remembered[C]), err
}

// fail counts a failed attempt of an address.
func (d *Doorkeeper[C]) fail(client netip.Addr, err error) error {
	if !d.failures.take(Network(client), d.cfg.Failures, d.cfg.Window).OK {
		return ErrThrottled
	}
	return err
}

// Network is what clients without a key are counted by: an IPv4 address, or the /64 that one IPv6 customer has.
func Network(client netip.Addr) string {
	client = client.Unmap().WithZone("")
	if client.Is6() {
		if p, err := client.Prefix(64); err == nil {
			return p.String()
		}
	}
	return client.String()
}
