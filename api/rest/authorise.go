package rest

import (
	"cmp"
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

// codeAddress is the refusal of a good key from an address that is not on its list.
const codeAddress fleet.Code = "address_not_allowed"

// authorise finds out who makes the request and whether they may, and sets the headers that go with the answer.
func (a *Server) authorise(w http.ResponseWriter, r *http.Request, rt *Route, x *Exchange) error {
	p, err := a.Authenticate(r)
	if err != nil {
		a.noteRefusal(r, err)
		return a.refuse(w, err)
	}
	x.Principal = p
	if err := a.limit(w, p, rt.Class); err != nil {
		return err
	}
	if p.Once != nil {
		if err := p.Once(r.Context()); err != nil {
			return a.refuse(w, err)
		}
	}
	if rt.Scope != "" && !p.Has(rt.Scope) {
		return a.Lacks(w, r, p, rt.Scope)
	}
	if rt.AnyOf != nil && !slices.ContainsFunc(rt.AnyOf, p.Has) {
		w.Header().Set("WWW-Authenticate", a.challenge(schemeOf(r), "insufficient_scope"))
		return fleet.NewError(fleet.CodeForbidden, p.Lacks()+" every scope that this can be done with.")
	}
	if p.Key != 0 {
		a.KeyUsed(r.Context(), p)
	}
	credential, kind := p.LetInBy()
	a.Noted(r.Context(), auth.Use{Account: p.Account, Actor: p.Actor(), Credential: credential, Kind: kind,
		Act: auth.Used, Client: a.ClientAddr(r), At: a.Now()})
	return nil
}

// refuse says what is wrong with a credential, and how to present one.
func (a *Server) refuse(w http.ResponseWriter, err error) error {
	if refusal, ok := errors.AsType[*auth.Refusal](err); ok {
		w.Header().Set("WWW-Authenticate", a.challenge(cmp.Or(refusal.Scheme, "Bearer"),
			cmp.Or(refusal.Code, "invalid_token")))
		return err
	}
	switch {
	case fleet.CodeOf(err) == fleet.CodeUnauthorized:
		a.Challenge(w, "invalid_token")
		return err
	case errors.Is(err, errNothing):
		w.Header().Set("WWW-Authenticate", a.challenge("Bearer", ""))
		return fleet.NewError(fleet.CodeUnauthorized,
			"Send an API key or an access token as Authorization: Bearer <key or token>.")
	case errors.Is(err, auth.ErrThrottled):
		w.Header().Set("Retry-After", strconv.Itoa(int(a.Config.Auth.Window.Seconds())))
		return fleet.NewError(fleet.CodeRateLimited, "Too many failed attempts from your address. Wait a minute.")
	case errors.Is(err, auth.ErrAddress):
		return fleet.NewError(codeAddress, "This API key may not be used from your address.")
	case errors.Is(err, auth.ErrMalformed), errors.Is(err, auth.ErrUnknownKey), errors.Is(err, auth.ErrExpired),
		errors.Is(err, auth.ErrRevoked):
		w.Header().Set("WWW-Authenticate", a.challenge("Bearer", "invalid_token"))
		return fleet.NewError(fleet.CodeUnauthorized, "The API key is not valid: it is unknown, expired or revoked.")
	}
	return fmt.Errorf("authenticate: %w", err)
}

// challenge is the header that says how to present a credential, and where it is had (RFC 9728, section 5.1).
func (a *Server) challenge(scheme, code string) string {
	text := scheme + ` realm="motorpool"`
	if a.ResourceMetadata != "" {
		text += `, resource_metadata="` + a.ResourceMetadata + `"`
	}
	if code != "" {
		text += `, error="` + code + `"`
	}
	if scheme == "DPoP" {
		text += `, algs="ES256 EdDSA"`
	}
	return text
}

// Challenge asks for a credential, where nothing else is known of the request.
func (a *Server) Challenge(w http.ResponseWriter, code string) {
	w.Header().Set("WWW-Authenticate", a.challenge("Bearer", code))
}

// schemeOf is the scheme in which a request presents its credential.
func schemeOf(r *http.Request) string {
	if scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "DPoP") {
		return "DPoP"
	}
	return "Bearer"
}

// Lacks refuses a principal that lacks a scope, and names that in the header, too.
func (a *Server) Lacks(w http.ResponseWriter, r *http.Request, p *auth.Principal, scope auth.Scope) error {
	w.Header().Set("WWW-Authenticate", a.challenge(schemeOf(r), "insufficient_scope")+`, scope="`+string(scope)+`"`)
	return RequireScope(p, scope)
}

// noteRefusal notes that a credential was presented that is a real one and opened nothing. One that nobody has is
// nobody's to be told of.
func (a *Server) noteRefusal(r *http.Request, err error) {
	if refused, ok := errors.AsType[*auth.RefusedError](err); ok {
		a.Noted(r.Context(), auth.Use{Account: refused.Account, Actor: refused.Credential, Credential: refused.Credential,
			Kind: refused.Kind, Act: auth.Refused, Reason: refused.Reason, Client: a.ClientAddr(r), At: a.Now()})
	}
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
// one of auth, an *auth.Refusal, another *fleet.Error, or that of a look-up.
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
// X-RateLimit-Reset is in seconds from now, as RateLimit is. Where there is no limit no header speaks of one.
func (a *Server) limit(w http.ResponseWriter, p *auth.Principal, class auth.Class) error {
	d := a.limiter.Take(p, class)
	if d.Quota > 0 {
		tellLimit(w, string(class), d)
	}
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
