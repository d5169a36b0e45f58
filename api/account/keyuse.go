package account

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// lookupKey finds a key for auth.
func (a *API) lookupKey(ctx context.Context, tokenID string) (*auth.Key, error) {
	found, err := query.KeyByToken(ctx, a.DB, tokenID)
	if err != nil || found.ID == 0 {
		return nil, err
	}
	var body record.APIKey
	if err := json.Unmarshal([]byte(found.Body), &body); err != nil {
		return nil, fmt.Errorf("decode API key %s: %w", found.ID, err)
	}
	key := &auth.Key{ID: found.ID, Account: found.Account, SecretSHA256: body.SecretSHA256,
		ExpiresAt: body.ExpiresAt.Time, RevokedAt: body.RevokedAt.Time, Rate: found.Rate}
	for _, s := range body.Scopes {
		key.Scopes = append(key.Scopes, auth.Scope(s))
	}
	for _, text := range body.IPAllowList {
		prefix, err := parsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("decode API key %s: %w", found.ID, err)
		}
		key.Allowed = append(key.Allowed, prefix)
	}
	return key, nil
}

// parsePrefix reads an address or a prefix.
func parsePrefix(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}

// keyUses samples when keys are used: once a minute for each.
type keyUses struct {
	api  *API
	mu   sync.Mutex
	last map[fleet.KeyID]time.Time
}

// maxKeyUses bounds the memory; beyond it all is forgotten, which costs one more row for each key.
const maxKeyUses = 10_000

func newKeyUses(a *API) *keyUses { return &keyUses{api: a, last: map[fleet.KeyID]time.Time{}} }

func (u *keyUses) note(ctx context.Context, p *auth.Principal) {
	if p.Key == 0 {
		return
	}
	now := u.api.Now()
	u.mu.Lock()
	due := now.Sub(u.last[p.Key]) >= time.Minute
	if due {
		if len(u.last) >= maxKeyUses {
			clear(u.last)
		}
		u.last[p.Key] = now
	}
	u.mu.Unlock()
	if !due {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := query.NoteKeyUse(ctx, u.api.DB, p.Account, p.Key, now); err != nil {
		u.api.Log.WarnContext(ctx, "use of a key not noted", "error", err, "key", p.Key.String())
	}
}
