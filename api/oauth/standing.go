package oauth

import (
	"context"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
)

// standing is what a client may do now, by itself or with what a person granted to it. The access token with which it
// asked may be over: tokens last minutes, and another one would let it ask again.
func (a *API) standing(ctx context.Context, asked *auth.Principal) (*auth.Principal, bool, error) {
	if asked.Client == 0 {
		return nil, false, nil
	}
	p := &auth.Principal{Account: asked.Account, Client: asked.Client, Grant: asked.Grant, User: asked.User}
	now, err := a.stateOfClient(ctx, p)
	if err != nil {
		return nil, true, err
	}
	may, err := a.may(ctx, p, now)
	if err != nil {
		return nil, true, err
	}
	if may == nil {
		who := p.Client.String()
		if p.Grant != 0 {
			who += ", by what " + p.User.String() + " granted to it,"
		}
		return nil, true, fleet.NewError(fleet.CodeForbidden,
			"The OAuth client "+who+" for which this is done may not do anything in this account any more.")
	}
	for _, s := range may {
		p.Scopes = append(p.Scopes, auth.Scope(s))
	}
	return p, true, nil
}
