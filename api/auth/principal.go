package auth

import (
	"context"
	"slices"

	"github.com/motorpool/fleet"
)

// Principal is who makes a request, as its credential proves: an account and what may be done in its name.
type Principal struct {
	Account fleet.AccountID
	Key     fleet.KeyID     // the API key, by its id; never its secret
	User    fleet.UserID    // the person behind the request; zero for keys and clients
	Session fleet.SessionID // in which the person is signed in at a browser; zero otherwise
	Scopes  []Scope
}

// Has says whether the principal holds a scope, by itself or through Admin.
func (p *Principal) Has(s Scope) bool {
	return slices.Contains(p.Scopes, s) || slices.Contains(p.Scopes, Admin)
}

// Actor names the principal in audit trails: "key_123", or "usr_123" if there is a person.
func (p *Principal) Actor() string {
	if p.User != 0 {
		return p.User.String()
	}
	return p.Key.String()
}

// Credential names what the request was let in by: the key, or the session of a person.
func (p *Principal) Credential() string {
	if p.Session != 0 {
		return p.Session.String()
	}
	return p.Key.String()
}

// Lacks begins the sentence that says what the principal may not do: what lacks the scope that this takes.
func (p *Principal) Lacks() string {
	if p.Session != 0 {
		return "Your role lacks"
	}
	return "The API key lacks"
}

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
