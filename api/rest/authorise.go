package rest

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
)

// Realm is the challenge of RFC 6750 to those who present nothing.
const Realm = `Bearer realm="motorpool"`

// codeAddress is the refusal of a good key from an address that is not on its list.
const codeAddress fleet.Code = "address_not_allowed"

// authorise finds out who makes the request and whether they may, and sets the headers that go with the answer.
func (a *Server) authorise(w http.ResponseWriter, r *http.Request, rt *Route, x *Exchange) error {
	p, err := a.Authenticate(r)
	switch {
	case err == nil:
	case errors.Is(err, errNothing):
		w.Header().Set("WWW-Authenticate", Realm)
		return fleet.NewError(fleet.CodeUnauthorized, "Send an API key as Authorization: Bearer <key>.")
	case fleet.CodeOf(err) == fleet.CodeUnauthorized:
		w.Header().Set("WWW-Authenticate", Realm+`, error="invalid_token"`)
		return err
	case errors.Is(err, auth.ErrThrottled):
		w.Header().Set("Retry-After", strconv.Itoa(int(a.Config.Auth.Window.Seconds())))
		return fleet.NewError(fleet.CodeRateLimited, "Too many failed attempts from your address. Wait a minute.")
	case errors.Is(err, auth.ErrAddress):
		return fleet.NewError(codeAddress, "This API key may not be used from your address.")
	case errors.Is(err, auth.ErrMalformed), errors.Is(err, auth.ErrUnknownKey), errors.Is(err, auth.ErrExpired),
		errors.Is(err, auth.ErrRevoked):
		w.Header().Set("WWW-Authenticate", Realm+`, error="invalid_token"`)
		return fleet.NewError(fleet.CodeUnauthorized, "The API key is not valid: it is unknown, expired or revoked.")
	default:
		return fmt.Errorf("authenticate: %w", err)
	}
	x.Principal = p
	if err := a.limit(w, p, rt.Class); err != nil {
		return err
	}
	if rt.Scope != "" && !p.Has(rt.Scope) {
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`%s, error="insufficient_scope", scope="%s"`, Realm, rt.Scope))
		return fleet.NewError(fleet.CodeForbidden, p.Lacks()+" the scope "+string(rt.Scope)+".")
	}
	if rt.AnyOf != nil && !slices.ContainsFunc(rt.AnyOf, p.Has) {
		w.Header().Set("WWW-Authenticate", Realm+`, error="insufficient_scope"`)
		return fleet.NewError(fleet.CodeForbidden, p.Lacks()+" every scope that this can be done with.")
	}
	a.KeyUsed(r.Context(), p)
	return nil
}

// RequireScope refuses a principal that lacks a scope.
func RequireScope(p *auth.Principal, scope auth.Scope) error {
	if !p.Has(scope) {
		return fleet.NewError(fleet.CodeForbidden, p.Lacks()+" the scope "+string(scope)+".")
	}
	return nil
}

// errNothing says that a request has no credential at all.
var errNothing = errors.New("no credential")

// Authenticate finds out who makes a request: by one of the ways that rooms add, or else by an API key. The error is
// one of auth, a *fleet.Error, or that of a look-up.
func (a *Server) Authenticate(r *http.Request) (*auth.Principal, error) {
	for _, way := range a.Ways {
		if p, ok, err := way(r); ok || err != nil {
			return p, err
		}
	}
	token, ok := Bearer(r)
	if !ok {
		return nil, errNothing
	}
	return a.Auth.Authenticate(r.Context(), token, a.ClientAddr(r))
}

// Bearer returns the credential of the Authorization header.
func Bearer(r *http.Request) (string, bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

// limit takes one operation from the buckets of credential and account, and says in headers what is left.
// X-RateLimit-Reset is in seconds from now, as RateLimit is.
func (a *Server) limit(w http.ResponseWriter, p *auth.Principal, class auth.Class) error {
	d := a.limiter.Take(p.Credential(), p.Account, class)
	tellLimit(w, string(class), d)
	if d.OK {
		return nil
	}
	return fleet.NewError(fleet.CodeRateLimited,
		fmt.Sprintf("More than %d %s operations within %v. Retry-After says when to go on.", d.Quota, class, d.Window))
}

// SpendItems takes what a request carries from the account's bucket. The headers speak of it where it is in the way.
func (a *Server) SpendItems(w http.ResponseWriter, account fleet.AccountID, n int) error {
	return carried(w, "items", a.limiter.TakeItems(account, n))
}

// SpendBytes is SpendItems for the bytes of a body, which count when they have come, whatever becomes of them.
func (a *Server) SpendBytes(w http.ResponseWriter, account fleet.AccountID, n int) error {
	return carried(w, "bytes", a.limiter.TakeBytes(account, n))
}

func carried(w http.ResponseWriter, what string, d auth.Decision) error {
	if d.OK {
		return nil
	}
	tellLimit(w, what, d)
	return fleet.NewError(fleet.CodeRateLimited,
		fmt.Sprintf("Your account may send %d %s within %v, and has. Retry-After says when to send this again.", d.Quota,
			what, d.Window))
}

// tellLimit says in headers what is left of a limit.
func tellLimit(w http.ResponseWriter, name string, d auth.Decision) {
	h := w.Header()
	reset := int(math.Ceil(d.Reset.Seconds()))
	h.Set("RateLimit-Policy", fmt.Sprintf(`"%s";q=%d;w=%d`, name, d.Quota, int(d.Window.Seconds())))
	h.Set("RateLimit", fmt.Sprintf(`"%s";r=%d;t=%d`, name, d.Remaining, reset))
	h.Set("X-RateLimit-Limit", strconv.Itoa(d.Quota))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(d.Remaining))
	h.Set("X-RateLimit-Reset", strconv.Itoa(reset))
	if !d.OK {
		h.Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(d.Retry.Seconds())))))
	}
}
