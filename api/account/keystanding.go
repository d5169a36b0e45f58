package account

import (
	"context"
	"fmt"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
)

// mostRotations bounds how often the replacement of a key is replaced.
const mostRotations = 20

// standing is what a key may do now, or the one that replaced it.
func (a *API) standing(ctx context.Context, asked *auth.Principal) (*auth.Principal, bool, error) {
	if asked.Key == 0 {
		return nil, false, nil
	}
	id := asked.Key
	for range mostRotations {
		rec, err := a.keys.Get(ctx, asked.Account, uint64(id))
		if err != nil {
			return nil, true, err
		}
		b, now := &rec.Body, a.Now()
		if next, err := fleet.ParseID(fleet.KeyPrefix, b.RotatedTo); err == nil {
			id = fleet.KeyID(next)
			continue
		}
		what := ""
		switch {
		case rec.Archived():
			what = "is archived"
		case !b.RevokedAt.IsZero() && !b.RevokedAt.After(now):
			what = "is revoked"
		case !b.ExpiresAt.IsZero() && !b.ExpiresAt.After(now):
			what = "has expired"
		default:
			p := &auth.Principal{Account: asked.Account, Key: id}
			for _, s := range b.Scopes {
				p.Scopes = append(p.Scopes, auth.Scope(s))
			}
			return p, true, nil
		}
		return nil, true, fleet.NewError(fleet.CodeForbidden,
			fmt.Sprintf("The API key %q (%s), for which this is done, %s.", b.Name, id, what))
	}
	return nil, true, fleet.NewError(fleet.CodeForbidden, "The API key for which this is done was replaced too often.")
}
