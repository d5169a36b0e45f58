package user

import (
	"context"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
)

// standing is what a person may do now, by their role.
func (a *API) standing(ctx context.Context, asked *auth.Principal) (*auth.Principal, bool, error) {
	if asked.User == 0 || asked.Client != 0 {
		return nil, false, nil
	}
	role, ok, err := a.Role(ctx, asked.Account, asked.User)
	if err == nil && !ok {
		err = fleet.NewError(fleet.CodeForbidden, "The user "+asked.User.String()+
			", for whom this is done, may not do anything in this account any more.")
	}
	return &auth.Principal{Account: asked.Account, User: asked.User, Scopes: role.Scopes()}, true, err
}
