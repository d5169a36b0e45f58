package auth

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

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
	Rate         *int           // of the account, see Principal
}

// Lookup finds a key by its public part; nil means that there is none.
type Lookup func(ctx context.Context, tokenID string) (*Key, error)

// Config are the settings of authentication and limits.
type Config struct {
	CacheFor  time.Duration // how long a key is remembered; a revocation is felt within this time
	CacheSize int           // keys that are remembered, and as many unknown ids
	Failures  int           // failed attempts of one client address within Window before it must wait
	Window    time.Duration // of Failures
	Limits    map[Class]Limit
	Volume    Volume
}

// DefaultRate is how many requests a minute a credential may make when nothing else is said: 1,000 a second, as a
// gateway makes that forwards the fixes of 10,000 vehicles one by one, each ten seconds; an integration that reads
// 100,000 records one after the other is done in two minutes; and hundreds of consoles behind one key never see it.
const DefaultRate = 60_000

// DefaultConfig returns the settings used when nothing else is said.
func DefaultConfig() Config {
	return Config{
		CacheFor: 4 * time.Second, CacheSize: 10_000, Failures: 30, Window: time.Minute,
		Limits: LimitsOf(DefaultRate),
		Volume: Volume{Items: 3_000_000, Bytes: 1 << 30, Window: time.Minute},
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
	if c.Volume.Items < 1 || c.Volume.Bytes < 1 || c.Volume.Window <= 0 {
		return errors.New("auth: the volume of an account must be positive")
	}
	for _, class := range []Class{Read, Write, Ingest} {
		l := c.Limits[class]
		if l.PerKey < 0 || l.PerKey > 0 && l.PerAccount < 1 || l.Window <= 0 {
			return errors.New("auth: the limits of class " + string(class) + " must be positive, or 0 for none")
		}
	}
	return nil
}

// Authenticator tells who presents a key.
type Authenticator struct {
	door *Doorkeeper[*Key]
}

// NewAuthenticator makes an authenticator.
func NewAuthenticator(cfg Config, lookup Lookup, now func() time.Time) *Authenticator {
	return &Authenticator{NewDoorkeeper(cfg, lookup, provesKey, now)}
}

// provesKey compares the secret for an unknown key too, so that the time taken does not tell it from a wrong secret.
func provesKey(secret string, key *Key) bool {
	hash := Hash("")
	if key != nil {
		hash = key.SecretSHA256
	}
	return Matches(secret, hash) && key != nil
}

// Authenticate returns who presents a key from a client address, or one of the errors above, or the error of the
// look-up. An address that failed too often is refused with ErrThrottled before any look-up is made, but for keys that
// were good before. A key that is a real one and opens nothing is a *RefusedError. What has not the form of a key costs
// no look-up, and does not count.
func (a *Authenticator) Authenticate(ctx context.Context, token string, client netip.Addr) (*Principal, error) {
	tokenID, secret, err := ParseKey(token)
	if err != nil {
		return nil, err
	}
	key, err := a.door.Admit(ctx, tokenID, secret, client)
	if err != nil {
		return nil, err
	}
	now := a.door.now()
	refused := func(reason string, err error) error {
		return &RefusedError{Account: key.Account, Credential: key.ID.String(), Kind: "api_key", Reason: reason,
			Err: err}
	}
	switch {
	case !key.RevokedAt.IsZero() && !now.Before(key.RevokedAt):
		return nil, refused("revoked", a.door.fail(client, ErrRevoked))
	case !key.ExpiresAt.IsZero() && !now.Before(key.ExpiresAt):
		return nil, refused("expired", a.door.fail(client, ErrExpired))
	case len(key.Allowed) > 0 &&
		!slices.ContainsFunc(key.Allowed, func(p netip.Prefix) bool { return p.Contains(client) }):
		return nil, refused("address_not_allowed", ErrAddress)
	}
	return &Principal{Account: key.Account, Key: key.ID, Scopes: key.Scopes, Rate: key.Rate}, nil
}

// Forget has a key looked up again when it comes next, after it was changed here.
func (a *Authenticator) Forget(tokenID string) { a.door.Forget(tokenID) }
