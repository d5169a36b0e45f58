package oauth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/oauth/token"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/seal"
)

// keyringID is the id of the one keyring; it is of no account.
const keyringID = 1

// Times of signing keys. A new key is published before it signs, longer than any process goes without reading the
// keys; one that signs no more is published until the last token that it signed has expired, and longer.
const (
	keySigns     = 30 * 24 * time.Hour
	keyAnnounced = time.Hour
	keyRemains   = time.Hour
	keysReread   = time.Minute
)

// keyring is the keys that access tokens are signed with, as they stand in the store: all processes have the same, as
// the record of them is changed by compare-and-set. Who finds the newest too old adds another one.
type keyring struct {
	log  *record.Log[record.OAuthKeyring]
	ring seal.Ring
	now  func() time.Time

	mu   sync.Mutex
	keys []heldKey // the newest first
	read time.Time
}

type heldKey struct {
	*token.Key
	signsFrom time.Time
}

// signer is the key that signs now.
func (k *keyring) signer(ctx context.Context) (*token.Key, error) {
	keys, err := k.all(ctx, "")
	if err != nil {
		return nil, err
	}
	now := k.now()
	for _, key := range keys {
		if !now.Before(key.signsFrom) {
			return key.Key, nil
		}
	}
	return keys[len(keys)-1].Key, nil
}

// public are the public halves of the keys, but for those that signed nothing that can be good any more; that of an id
// is looked for again if it is not known.
func (k *keyring) public(ctx context.Context, id string) ([]jose.JSONWebKey, error) {
	keys, err := k.all(ctx, id)
	if err != nil {
		return nil, err
	}
	var all []jose.JSONWebKey
	for i, key := range keys {
		if i > 0 && k.now().Sub(keys[i-1].signsFrom) > accessLasts+keyRemains {
			break // the next one took its place so long ago, and of those before it, too
		}
		all = append(all, key.Public())
	}
	return all, nil
}

// all returns the keys, at least one, and makes the first or the next if its time has come.
func (k *keyring) all(ctx context.Context, id string) ([]heldKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	age := k.now().Sub(k.read)
	unknown := id != "" && !slices.ContainsFunc(k.keys, func(key heldKey) bool { return key.ID == id })
	if k.keys != nil && age >= 0 && age < keysReread && !(unknown && age >= time.Second) {
		return k.keys, nil
	}
	keys, err := k.load(ctx)
	if err != nil {
		return nil, err
	}
	k.keys, k.read = keys, k.now()
	return keys, nil
}

func (k *keyring) load(ctx context.Context) ([]heldKey, error) {
	rec, err := k.log.Get(ctx, 0, keyringID)
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		var first record.OAuthKey
		if first, err = k.make(k.now()); err == nil {
			rec, _, err = k.log.Ensure(ctx, record.System, 0, keyringID, record.OAuthKeyring{Keys: []record.OAuthKey{first}})
		}
	} else if err == nil && k.due(rec.Body.Keys) {
		rec, err = k.log.Update(ctx, record.System, 0, keyringID, 0, func(rec *record.Record[record.OAuthKeyring]) error {
			return k.advance(&rec.Body)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read the signing keys: %w", noKey(err))
	}
	var keys []heldKey
	for _, kept := range rec.Body.Keys {
		secret, err := k.ring.Open(keyPurpose(kept.ID), kept.Sealed)
		if err != nil {
			return nil, fmt.Errorf("open signing key %s: %w", kept.ID, noKey(err))
		}
		key, err := token.ReadKey(secret)
		if err != nil {
			return nil, fmt.Errorf("read signing key %s: %w", kept.ID, err)
		}
		keys = append(keys, heldKey{key, kept.SignsFrom.Time})
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no signing key")
	}
	return keys, nil
}

// due says whether the newest key has signed for long enough.
func (k *keyring) due(keys []record.OAuthKey) bool {
	return len(keys) == 0 || k.now().Sub(keys[0].SignsFrom.Time) > keySigns-keyAnnounced
}

// advance adds a key if one is due, and removes those that nothing is signed with any more.
func (k *keyring) advance(b *record.OAuthKeyring) error {
	if !k.due(b.Keys) {
		return nil // somebody was faster
	}
	signsFrom := k.now().Add(keyAnnounced)
	if len(b.Keys) == 0 {
		signsFrom = k.now()
	}
	next, err := k.make(signsFrom)
	if err != nil {
		return err
	}
	b.Keys = append([]record.OAuthKey{next}, b.Keys...)
	for i := 1; i+1 < len(b.Keys); i++ {
		if k.now().Sub(b.Keys[i].SignsFrom.Time) > accessLasts+keyRemains { // it took the place of the next one so long ago
			b.Keys = b.Keys[:i+1]
		}
	}
	return nil
}

func (k *keyring) make(signsFrom time.Time) (record.OAuthKey, error) {
	key, err := token.NewKey()
	if err != nil {
		return record.OAuthKey{}, err
	}
	secret, err := key.Secret()
	if err != nil {
		return record.OAuthKey{}, fmt.Errorf("write a signing key: %w", err)
	}
	sealed, err := k.ring.Seal(keyPurpose(key.ID), secret)
	return record.OAuthKey{ID: key.ID, Sealed: sealed, CreatedAt: record.InstantOf(k.now()),
		SignsFrom: record.InstantOf(signsFrom)}, err
}

// keyPurpose is what a signing key is sealed for.
func keyPurpose(id string) string { return "oauth/signing_key/" + id }

// SealAgain seals with the first of the keys those signing keys that are sealed with another one, and says whether
// there were any. Those that no key opens any more are an error, or, if they are given up, thrown away: tokens that
// they signed are refused, and a new one signs from now on.
func SealAgain(ctx context.Context, keyrings *record.Log[record.OAuthKeyring], keys *seal.Ring, giveUp bool,
	by record.Author) (again bool, err error) {
	k := &keyring{ring: *keys, now: time.Now}
	_, err = keyrings.Update(ctx, by, 0, keyringID, 0, func(rec *record.Record[record.OAuthKeyring]) error {
		again = false
		var kept []record.OAuthKey
		for _, one := range rec.Body.Keys {
			if keys.Stale(one.Sealed) {
				again = true
				secret, err := keys.Open(keyPurpose(one.ID), one.Sealed)
				if giveUp && errors.Is(err, seal.ErrUnknownKey) {
					continue
				}
				if err != nil {
					return err
				}
				if one.Sealed, err = keys.Seal(keyPurpose(one.ID), secret); err != nil {
					return err
				}
			}
			kept = append(kept, one)
		}
		rec.Body.Keys = kept
		if len(kept) == 0 {
			return k.advance(&rec.Body)
		}
		return nil
	})
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return false, nil
	}
	if err != nil {
		err = fmt.Errorf("seal the signing keys again: %w", err)
	}
	return again, err
}
