package rest

import (
	"context"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// AskerOf is a principal as what is done for it later keeps it, with what it may do now as the most.
func AskerOf(p *auth.Principal) record.Asker {
	asker := record.Asker{Key: uint64(p.Key), User: uint64(p.User), Client: uint64(p.Client), Grant: uint64(p.Grant),
		Scopes: []string{}}
	for _, s := range p.Scopes {
		asker.Scopes = append(asker.Scopes, string(s))
	}
	return asker
}

// AskedBy is whoever asked for something, with the most that is done in their name.
func AskedBy(account fleet.AccountID, asker *record.Asker) *auth.Principal {
	p := &auth.Principal{Account: account, Key: fleet.KeyID(asker.Key), User: fleet.UserID(asker.User),
		Client: fleet.ClientID(asker.Client), Grant: fleet.GrantID(asker.Grant)}
	for _, s := range asker.Scopes {
		p.Scopes = append(p.Scopes, auth.Scope(s))
	}
	return p
}

// MayNow is whoever asked for something, with what of it may be done for them now. If that is nothing, or not what it
// takes, a *fleet.Error says why.
func (a *Server) MayNow(ctx context.Context, account fleet.AccountID, asker *record.Asker,
	takes auth.Scope) (*auth.Principal, error) {
	asked := AskedBy(account, asker)
	for _, standing := range a.Standings {
		now, ok, err := standing(ctx, asked)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if asker.Scopes != nil {
			now.Scopes = auth.Both(now.Scopes, asked.Scopes)
		}
		if !now.Has(takes) {
			return nil, fleet.NewError(fleet.CodeForbidden, "What this is done for, "+now.Actor()+
				", may not have it done any more: it lacks the scope "+string(takes)+".")
		}
		return now, nil
	}
	return nil, fleet.NewError(fleet.CodeForbidden, "It is not known any more for whom this is done.")
}
