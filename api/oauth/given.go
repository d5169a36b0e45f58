package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/oauth/token"
	"github.com/motorpool/fleet/api/record"
)

// TokenNamed is what a client sends to have a token looked at or revoked.
type TokenNamed struct {
	Token        string `json:"token" doc:"An access token or a refresh token." example:"mp_ort_…"`
	Hint         string `json:"token_type_hint,omitempty" doc:"access_token or refresh_token; what it is is seen without it."`
	ClientID     string `json:"client_id,omitempty" doc:"Unless Authorization says it." example:"ocl_1234"`
	ClientSecret string `json:"client_secret,omitempty" doc:"Of a confidential client, unless Authorization has it."`
}

// Introspection is what is known of a token.
type Introspection struct {
	Active    bool         `json:"active" doc:"Whether it works now. If not there is nothing else."`
	Scope     string       `json:"scope,omitempty" doc:"What it may do now." example:"vehicles:read"`
	ClientID  string       `json:"client_id,omitempty" example:"ocl_1234"`
	Subject   string       `json:"sub,omitempty" doc:"Who acts: a person, or the client itself." example:"usr_1234"`
	TokenType string       `json:"token_type,omitempty" doc:"Bearer, DPoP or refresh_token."`
	Expires   int64        `json:"exp,omitempty" doc:"Unix seconds."`
	IssuedAt  int64        `json:"iat,omitempty" doc:"Unix seconds."`
	Issuer    string       `json:"iss,omitempty"`
	Audience  string       `json:"aud,omitempty"`
	ID        string       `json:"jti,omitempty"`
	Account   string       `json:"account,omitempty" example:"acc_1234"`
	Grant     string       `json:"grant,omitempty" example:"ogr_1234"`
	Bound     *token.Bound `json:"cnf,omitempty" doc:"The key that it works with alone."`
}

// isRefresh says whether a text is to be looked for among refresh tokens.
func isRefresh(text string) bool { return strings.HasPrefix(text, "mp_ort_") }

// revoke takes a token back that a client gives back (RFC 7009). What is none, or another's, is a success too.
func (a *API) revoke(w http.ResponseWriter, r *http.Request, form url.Values) error {
	c, err := a.authenticate(w, r, form)
	if err != nil {
		return err
	}
	text := form.Get("token")
	if text == "" {
		return refuse(codeRequest, "Send token.")
	}
	if isRefresh(text) {
		err = a.revokeRefresh(r, c, text)
	} else {
		err = a.revokeAccess(r, c, text)
	}
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	return nil
}

func (a *API) revokeRefresh(r *http.Request, c *client, text string) error {
	g, err := a.refreshOf(r, c, text)
	if err != nil || g == nil {
		return err
	}
	return a.end(r.Context(), g, record.GrantRevoked)
}

// refreshOf returns what a refresh token of a client stands for, used or not; nil if it is none.
func (a *API) refreshOf(r *http.Request, c *client, text string) (*given, error) {
	once, err := a.Store.Find(r.Context(), onceRefresh, text)
	if err != nil || once == nil {
		return nil, err
	}
	g := &given{}
	if err := json.Unmarshal([]byte(once.Detail), g); err != nil {
		return nil, fmt.Errorf("read a refresh token: %w", err)
	}
	if fleet.ClientID(g.Client) != c.id || fleet.AccountID(g.Account) != c.account {
		return nil, nil
	}
	if once.Used {
		g.Until = 0
	}
	return g, nil
}

func (a *API) revokeAccess(r *http.Request, c *client, text string) error {
	claims, err := a.read(r.Context(), text)
	if errors.Is(err, token.ErrInvalid) || errors.Is(err, token.ErrExpired) {
		return nil
	}
	if err != nil || claims.ClientID != c.id.String() {
		return err
	}
	_, err = a.Store.Put(r.Context(), onceRevoked, claims.ID, 0, "", time.Unix(claims.Expires, 0).Add(time.Hour))
	a.states.forget()
	return err
}

// introspect says what is known of a token (RFC 7662).
func (a *API) introspect(w http.ResponseWriter, r *http.Request, form url.Values) error {
	c, err := a.authenticate(w, r, form)
	if err != nil {
		return err
	}
	if c.body.Type != record.OAuthConfidential {
		return a.unknownClient(w, "Only a client with a secret may look at tokens.")
	}
	text := form.Get("token")
	if text == "" {
		return refuse(codeRequest, "Send token.")
	}
	var found Introspection
	if isRefresh(text) {
		found, err = a.lookAtRefresh(r, c, text)
	} else {
		found, err = a.lookAtAccess(r, c, text)
	}
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, found)
	return nil
}

func (a *API) lookAtRefresh(r *http.Request, c *client, text string) (found Introspection, err error) {
	g, err := a.refreshOf(r, c, text)
	if err != nil || g == nil || a.Now().Unix() >= g.Until {
		return found, err
	}
	grant, err := a.grants.Get(r.Context(), c.account, g.Grant)
	if err != nil || grant.Archived() {
		return found, err
	}
	over, err := a.overSince(r.Context(), c.account, fleet.UserID(g.User), g.since())
	if err != nil || over || a.Now().Sub(time.UnixMilli(g.Began)) >= familyLasts {
		return found, err
	}
	return Introspection{Active: true, Scope: strings.Join(g.Scopes, " "), ClientID: c.id.String(),
		Subject: fleet.UserID(g.User).String(), TokenType: grantRefresh, Expires: g.Until, Issuer: a.Settings.Issuer,
		Audience: a.resource(), Account: c.account.String(), Grant: fleet.GrantID(g.Grant).String()}, nil
}

func (a *API) lookAtAccess(r *http.Request, c *client, text string) (found Introspection, err error) {
	claims, err := a.read(r.Context(), text)
	if errors.Is(err, token.ErrInvalid) || errors.Is(err, token.ErrExpired) {
		return found, nil
	}
	if err != nil || claims.Account != c.account.String() {
		return found, err
	}
	p, err := a.principal(r.Context(), claims)
	if err != nil || p == nil {
		return found, err
	}
	kind := "Bearer"
	if claims.Bound != nil {
		kind = "DPoP"
	}
	return Introspection{Active: true, Scope: strings.Join(texts(p.Scopes), " "), ClientID: claims.ClientID,
		Subject: claims.Subject, TokenType: kind, Expires: claims.Expires, IssuedAt: claims.IssuedAt, Issuer: claims.Issuer,
		Audience: claims.Audience, ID: claims.ID, Account: claims.Account, Grant: claims.Grant, Bound: claims.Bound}, nil
}
