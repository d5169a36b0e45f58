package auth

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/motorpool/fleet"
)

// Errors of Authenticate, beside ErrMalformed. Whoever presents a bad credential is not told which of them it was.
var (
	ErrUnknownKey = errors.New("no such API key, or a wrong secret")
	ErrExpired    = errors.New("API key has expired")
	ErrRevoked    = errors.New("API key was revoked")
	ErrAddress    = errors.New("API key may not be used from this address")
	ErrThrottled  = errors.New("too many failed attempts from this address")
)

// Key is a stored API key, as far as it decides who may come in.
type Key struct {
	ID           fleet.KeyID
	Account      fleet.AccountID
	SecretSHA256 string
	Scopes       []Scope
	Allowed      []netip.Prefix // addresses it may be used from; empty means any
	ExpiresAt    time.Time      // zero never
	RevokedAt    time.Time      // zero not yet; may lie ahead, for a rotated key
}

// Lookup finds a key by its public part; nil means that there is none.
type Lookup func(ctx context.Context, tokenID string) (*Key, error)

// Config are the settings of authentication and limits.
type Config struct {
	CacheFor  time.Duration // how long a key is remembered; a revocation is felt within this time
	CacheSize int           // keys and unknown ids
	Failures  int           // failed attempts of one client address within FailureWindow before it must wait
	Window    time.Duration // of Failures
	Limits    map[Class]Limit
}

// DefaultConfig returns the settings used when nothing else is said.
func DefaultConfig() Config {
	return Config{
		CacheFor: 4 * time.Second, CacheSize: 10_000, Failures: 30, Window: time.Minute,
		Limits: map[Class]Limit{
			Read:   {PerKey: 6_000, PerAccount: 30_000, Window: time.Minute},
			Write:  {PerKey: 1_200, PerAccount: 6_000, Window: time.Minute},
			Ingest: {PerKey: 6_000, PerAccount: 30_000, Window: time.Minute},
		},
	}
}

// Validate says what is wrong with the settings.
func (c Config) Validate() error {
	if c.CacheFor < 0 || c.CacheFor > 5*time.Second {
		return errors.New("auth: cache_for must be between 0 and 5 s, so that a revocation is felt within 5 s")
	}
	if c.CacheSize < 1 || c.Failures < 1 || c.Window <= 0 {
		return errors.New("auth: cache_size, failures and window must be positive")
	}
	for _, class := range []Class{Read, Write, Ingest} {
		if l := c.Limits[class]; l.PerKey < 1 || l.PerAccount < 1 || l.Window <= 0 {
			return errors.New("auth: the limits of class " + string(class) + " must be positive")
		}
	}
	return nil
}

// Authenticator tells who presents a key.
type Authenticator struct {
	cfg      Config
	lookup   Lookup
	now      func() time.Time
	failures *buckets
	flight   singleflight.Group

	mu    sync.Mutex
	known map[string]remembered
}

type remembered struct {
	key   *Key // nil: there is none
	until time.Time
}

// NewAuthenticator makes an authenticator.
func NewAuthenticator(cfg Config, lookup Lookup, now func() time.Time) *Authenticator {
	return &Authenticator{cfg: cfg, lookup: lookup, now: now, known: map[string]remembered{}, failures: newBuckets(now)}
}

// Authenticate returns who presents a key from a client address, or one of the errors above, or the error of the
// look-up. An address that failed too often is refused with ErrThrottled before any look-up is made; a key that is
// remembered as good still passes, so that one bad client behind an address does not lock out the others.
func (a *Authenticator) Authenticate(ctx context.Context, token string, client netip.Addr) (*Principal, error) {
	block := network(client)
	tokenID, secret, err := ParseKey(token)
	if err != nil {
		return nil, a.fail(block, err)
	}
	key, ok := a.remember(tokenID)
	if !ok || key == nil {
		if !a.failures.peek(block, a.cfg.Failures, a.cfg.Window) {
			return nil, ErrThrottled
		}
	}
	if !ok {
		if key, err = a.find(ctx, tokenID); err != nil {
			return nil, err
		}
	}
	// The comparison is made for an unknown key too, so that the time taken does not tell it from a wrong secret.
	hash := Hash("")
	if key != nil {
		hash = key.SecretSHA256
	}
	if !Matches(secret, hash) || key == nil {
		return nil, a.fail(block, ErrUnknownKey)
	}
	now := a.now()
	switch {
	case !key.RevokedAt.IsZero() && !now.Before(key.RevokedAt):
		return nil, a.fail(block, ErrRevoked)
	case !key.ExpiresAt.IsZero() && !now.Before(key.ExpiresAt):
		return nil, a.fail(block, ErrExpired)
	case len(key.Allowed) > 0 && !slices.ContainsFunc(key.Allowed, func(p netip.Prefix) bool { return p.Contains(client) }):
		return nil, ErrAddress
	}
	return &Principal{Account: key.Account, Key: key.ID, Scopes: key.Scopes}, nil
}

// Forget drops what is remembered of a key, after it was changed here.
func (a *Authenticator) Forget(tokenID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.known, tokenID)
}

func (a *Authenticator) remember(tokenID string) (*Key, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, ok := a.known[tokenID]
	if !ok || a.now().After(r.until) {
		return nil, false
	}
	return r.key, true
}

// find looks a key up, once for all who ask at the same time.
func (a *Authenticator) find(ctx context.Context, tokenID string) (*Key, error) {
	began := a.now() // what was read may be as old as the beginning of the look-up
	v, err, _ := a.flight.Do(tokenID, func() (any, error) {
		// The others who wait must not fail because the first of them went away.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return a.lookup(ctx, tokenID)
	})
	if err != nil {
		return nil, err
	}
	key := v.(*Key)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.known) >= a.cfg.CacheSize {
		a.evict()
	}
	a.known[tokenID] = remembered{key: key, until: began.Add(a.cfg.CacheFor)}
	return key, nil
}

// evict makes room: what is stale goes, and if nothing is, whatever comes first.
func (a *Authenticator) evict() {
	now := a.now()
	for id, r := range a.known {
		if now.After(r.until) {
			delete(a.known, id)
		}
	}
	for id := range a.known {
		if len(a.known) < a.cfg.CacheSize {
			return
		}
		delete(a.known, id)
	}
}

// fail counts a failed attempt.
func (a *Authenticator) fail(block string, err error) error {
	if !a.failures.take(block, a.cfg.Failures, a.cfg.Window).OK {
		return ErrThrottled
	}
	return err
}

// network is what failures are counted by: an IPv4 address, or the /64 that one IPv6 customer has.
func network(client netip.Addr) string {
	client = client.Unmap()
	if client.Is6() {
		if p, err := client.Prefix(64); err == nil {
			return p.String()
		}
	}
	return client.String()
}
