package auth

import (
	"context"
	"slices"

	"github.com/motorpool/fleet"
)

// Principal is who makes a request, as its credential proves: an account and what may be done in its name.
type Principal struct {
	Account fleet.AccountID
	Key     fleet.KeyID // the API key, by its id; never its secret
	Scopes  []Scope
}

// Has says whether the principal holds a scope, by itself or through Admin.
func (p *Principal) Has(s Scope) bool {
	return slices.Contains(p.Scopes, s) || slices.Contains(p.Scopes, Admin)
}

// Actor names the principal in audit trails: "key_123".
func (p *Principal) Actor() string { return p.Key.String() }

type principalKey struct{}

// With returns a context that carries the principal.
func With(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// From returns the principal of a request. A context without one is a fault of the program, because every route
// that is not public authenticates first: it panics.
func From(ctx context.Context) *Principal {
	p, ok := ctx.Value(principalKey{}).(*Principal)
	if !ok {
		panic("auth: no principal in this context")
	}
	return p
}
