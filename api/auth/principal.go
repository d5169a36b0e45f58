package auth

import (
	"context"

	"github.com/motorpool/fleet"
)

// Principal is who makes a request, as its credential proves: an account and what may be done in its name.
type Principal struct {
	Account fleet.AccountID
	Key     fleet.KeyID     // the API key, by its id; never its secret
	User    fleet.UserID    // the person behind the request; zero for keys and clients
	Session fleet.SessionID // in which the person is signed in at a browser; zero otherwise
	Client  fleet.ClientID  // the OAuth client; zero without an access token
	Grant   fleet.GrantID   // what the person gave to the client; zero if the client acts for itself
	Scopes  []Scope
	Rate    *int // requests a minute of each credential that the operator gave the account; nil is as of the server

	// Once refuses a credential that works once and was seen before. It is called when the limits let the request in, as
	// it writes; nil is none.
	Once func(context.Context) error `json:"-"`
}

// Has says whether the principal holds a scope, by itself or through Admin.
func (p *Principal) Has(s Scope) bool { return Holds(p.Scopes, s) }

// acts says whether a person acts for themselves, and no program for them.
func (p *Principal) acts() bool { return p.User != 0 && p.Client == 0 }

// Actor names the principal in audit trails: "usr_123" if a person is behind the request, else the client or the key.
func (p *Principal) Actor() string {
	switch {
	case p.User != 0:
		return p.User.String()
	case p.Client != 0:
		return p.Client.String()
	}
	return p.Key.String()
}

// Credential names what the request was let in by: the key, the session of a person, or the client with what it was
// granted.
func (p *Principal) Credential() string {
	switch {
	case p.Session != 0:
		return p.Session.String()
	case p.Grant != 0:
		return p.Client.String() + " " + p.Grant.String()
	case p.Client != 0:
		return p.Client.String()
	}
	return p.Key.String()
}

// limited names what shares a bucket of requests: the sessions of a person are one, as are the access tokens of a
// grant, so that neither another sign-in nor another token brings more.
func (p *Principal) limited() string {
	if p.Session != 0 {
		return p.User.String()
	}
	return p.Credential()
}

// LetInBy is the credential as audits have it, by its id and kind: of an access token what a person granted, or the
// client that acts for itself.
func (p *Principal) LetInBy() (id, kind string) {
	switch {
	case p.Session != 0:
		return p.Session.String(), "session"
	case p.Grant != 0:
		return p.Grant.String(), "oauth_grant"
	case p.Client != 0:
		return p.Client.String(), "oauth_client"
	}
	return p.Key.String(), "api_key"
}

// Called is what the credential of the principal is called.
func (p *Principal) Called() string {
	switch {
	case p.Session != 0:
		return "session"
	case p.Client != 0:
		return "access token"
	}
	return "API key"
}

// Lacks begins the sentence that says what the principal may not do: what lacks the scope that this takes.
func (p *Principal) Lacks() string {
	if p.acts() {
		return "Your role lacks"
	}
	return "The " + p.Called() + " lacks"
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
