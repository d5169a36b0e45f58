package oauth

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/oauth/token"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

// Ways to get an access token.
const (
	grantClient  = "client_credentials"
	grantCode    = "authorization_code"
	grantRefresh = "refresh_token"
)

// Fields of what works once.
const (
	onceCode    = "oauth_code"
	onceRefresh = "oauth_refresh"
	onceProof   = "oauth_proof"
	onceRevoked = "oauth_revoked" // ids of access tokens that were given back
)

// tokenPath is where clients ask for tokens.
const tokenPath = "/oauth/token"

// formType is the type of the bodies that the authorization server takes.
const formType = "application/x-www-form-urlencoded"

// TokenAsk is what a client sends to get a token.
type TokenAsk struct {
	GrantType    string `json:"grant_type" enum:"client_credentials,authorization_code,refresh_token" example:"client_credentials"`
	ClientID     string `json:"client_id,omitempty" doc:"Unless Authorization says it." example:"ocl_1234"`
	ClientSecret string `json:"client_secret,omitempty" doc:"Of a confidential client, unless Authorization has it."`
	Scope        string `json:"scope,omitempty" doc:"What the token is to hold, separated by spaces; all that may be unless given." example:"vehicles:read"`
	Resource     string `json:"resource,omitempty" doc:"What the token is for (RFC 8707): this server."`
	Code         string `json:"code,omitempty" doc:"Of authorization_code."`
	RedirectURI  string `json:"redirect_uri,omitempty" doc:"Of authorization_code: the one that was asked with."`
	CodeVerifier string `json:"code_verifier,omitempty" doc:"Of authorization_code: what code_challenge is the hash of."`
	RefreshToken string `json:"refresh_token,omitempty" doc:"Of refresh_token; the answer has another one."`
}

// TokenReply is an access token, as it is answered.
type TokenReply struct {
	AccessToken  string `json:"access_token" doc:"Sent as Authorization: Bearer, or DPoP."`
	TokenType    string `json:"token_type" enum:"Bearer,DPoP"`
	ExpiresIn    int    `json:"expires_in" doc:"Seconds." example:"600"`
	Scope        string `json:"scope" doc:"What it holds." example:"vehicles:read"`
	RefreshToken string `json:"refresh_token,omitempty" doc:"For the next one; it works once."`
}

func (a *API) tokenRoutes() {
	a.endpoint(rest.Route{
		Path: tokenPath, ID: "getAccessToken", Summary: "Get an access token", Body: TokenAsk{}, Reply: TokenReply{},
		About: "OAuth 2.0 (RFC 6749): `client_credentials` for a program that acts for itself, `authorization_code` and " +
			"`refresh_token` for one to which a person consented. With a `DPoP` header (RFC 9449) the token works with the key " +
			"of that proof alone. Errors are `error` and `error_description`, as RFC 6749 has them.",
	}, a.giveToken)
	a.endpoint(rest.Route{
		Path: "/oauth/revoke", ID: "revokeAccessToken", Summary: "Give a token back", Body: TokenNamed{},
		About: "RFC 7009. A refresh token ends all that was granted with it, an access token itself alone; within 5 seconds. " +
			"A token that is none is a success, too.",
	}, a.revoke)
	a.endpoint(rest.Route{
		Path: "/oauth/introspect", ID: "introspectAccessToken", Summary: "Look at a token", Body: TokenNamed{},
		Reply: Introspection{},
		About: "RFC 7662. For confidential clients, of tokens of their own account; a refresh token is shown to its own " +
			"client. Any other is `{\"active\":false}`.",
	}, a.introspect)
}

// endpoint registers a route of the authorization server that clients post forms to.
func (a *API) endpoint(rt rest.Route, h func(http.ResponseWriter, *http.Request, url.Values) error) {
	rt.Method, rt.Tag, rt.Public, rt.Scheme = http.MethodPost, "OAuth", true, rest.ClientScheme
	rt.BodyTypes, rt.BodyLimit, rt.Wrong = []string{formType}, 64<<10, a.writeRefusal
	a.Handle(rt, func(w http.ResponseWriter, r *http.Request) error {
		if err := a.noIssuer(); err != nil {
			return err
		}
		form, err := readForm(string(rest.RequestBody(r)), "resource")
		if err != nil {
			return err
		}
		return h(w, r, form)
	})
}

func (a *API) giveToken(w http.ResponseWriter, r *http.Request, form url.Values) error {
	network := auth.Network(a.ClientAddr(r))
	if !a.paced.Open(network) {
		w.Header().Set("Retry-After", "60")
		return fleet.NewError(fleet.CodeRateLimited, "Too many tokens were asked for from your address. Wait a minute.")
	}
	a.paced.Fail(network)
	c, err := a.authenticate(w, r, form)
	if err != nil {
		return err
	}
	grant := form.Get("grant_type")
	switch {
	case grant == "":
		return refuse(codeRequest, "Send grant_type.")
	case !slices.Contains([]string{grantClient, grantCode, grantRefresh}, grant):
		return refuse(codeGrantType, "The grant_type "+grant+" is none of "+grantClient+", "+grantCode+", "+grantRefresh+".")
	case !slices.Contains(c.body.GrantTypes, grant):
		return refuse(codeUnauthorized, "The client may not use "+grant+"; see its grant_types.")
	}
	if err := a.checkResource(form["resource"]); err != nil {
		return err
	}
	proof, err := a.proofOf(r, c)
	if err != nil {
		return err
	}
	var reply *TokenReply
	switch grant {
	case grantClient:
		reply, err = a.forItself(r.Context(), c, form, proof)
	case grantCode:
		reply, err = a.redeem(r.Context(), c, form, proof)
	case grantRefresh:
		reply, err = a.refresh(r.Context(), c, form, proof)
	}
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, reply)
	return nil
}

// checkResource refuses to give tokens for anything else than this server (RFC 8707).
func (a *API) checkResource(asked []string) error {
	for _, one := range asked {
		if strings.TrimSuffix(one, "/") != a.resource() {
			return refuse(codeTarget, "Tokens are given for "+a.resource()+" alone.")
		}
	}
	return nil
}

// proofOf returns what a request for a token proves to hold a key by; nil if it proves none. That it comes for the
// first time is looked at when the rest of the request is known to be good (spend), so that nobody has proofs
// remembered whose request comes to nothing.
func (a *API) proofOf(r *http.Request, c *client) (*token.Proof, error) {
	proofs := r.Header.Values("DPoP")
	if len(proofs) == 0 {
		if c.body.DPoPBound {
			return nil, refuse(codeProof, "The client gets only tokens that are bound to a key: send a DPoP header.")
		}
		return nil, nil
	}
	if len(proofs) > 1 {
		return nil, refuse(codeProof, "Send one DPoP header.")
	}
	proof, err := token.ReadProof(proofs[0], r.Method, a.Settings.Issuer+r.URL.Path, "", a.Now())
	if err != nil {
		return nil, refuse(codeProof, fleet.Sentence(err.Error()))
	}
	return proof, nil
}

// spend refuses a proof that was seen before; nil is none.
func (a *API) spend(ctx context.Context, proof *token.Proof) error {
	if proof == nil {
		return nil
	}
	first, err := a.firstSeen(ctx, proof)
	if err == nil && !first {
		err = refuse(codeProof, "The DPoP proof was seen before: make another one for each request.")
	}
	return err
}

// keyOf is the thumbprint of the key of a proof; empty of none.
func keyOf(proof *token.Proof) string {
	if proof == nil {
		return ""
	}
	return proof.Thumbprint
}

// firstSeen says whether a proof comes for the first time, to any process.
func (a *API) firstSeen(ctx context.Context, p *token.Proof) (bool, error) {
	// It is kept longer than it is taken, by clocks that are not the same.
	return a.Store.Put(ctx, onceProof, p.Thumbprint+" "+p.ID, 0, "", a.Now().Add(3*token.ProofLasts))
}

// scopesAsked are the scopes that a token is to hold: what is asked for, of what may be.
func scopesAsked(asked string, may []string) ([]string, error) {
	if asked == "" {
		return may, nil
	}
	scopes, unknown := auth.ParseScopes(asked)
	if unknown != "" || strings.Contains(asked, ",") {
		return nil, refuse(codeScope, "There is no scope "+unknown+"; scopes are separated by spaces.")
	}
	for _, s := range scopes {
		if !auth.Holds(may, s) {
			return nil, refuse(codeScope, "The scope "+string(s)+" may not be asked for here.")
		}
	}
	return texts(scopes), nil
}

// forItself gives a client a token with which it acts for itself.
func (a *API) forItself(ctx context.Context, c *client, form url.Values,
	proof *token.Proof) (*TokenReply, error) {
	scopes, err := scopesAsked(form.Get("scope"), c.body.Scopes)
	if err == nil {
		err = a.spend(ctx, proof)
	}
	if err != nil {
		return nil, err
	}
	return a.sign(ctx, c, c.id.String(), "", scopes, keyOf(proof))
}

// sign makes an access token.
func (a *API) sign(ctx context.Context, c *client, subject, grant string, scopes []string,
	jkt string) (*TokenReply, error) {
	key, err := a.keys.signer(ctx)
	if err != nil {
		return nil, err
	}
	now := a.Now()
	claims := token.Claims{Issuer: a.Settings.Issuer, Subject: subject, Audience: a.resource(), ClientID: c.id.String(),
		Scope: strings.Join(scopes, " "), ID: auth.MakeOnce(""), IssuedAt: now.Unix(),
		Expires: now.Add(accessLasts).Unix(), Account: c.account.String(), Grant: grant}
	reply := &TokenReply{TokenType: "Bearer", ExpiresIn: int(accessLasts / time.Second), Scope: claims.Scope}
	if jkt != "" {
		claims.Bound, reply.TokenType = &token.Bound{Thumbprint: jkt}, "DPoP"
	}
	reply.AccessToken, err = key.Sign(claims)
	return reply, err
}

// given is what a code or a refresh token stands for.
type given struct {
	Account  uint64   `json:"account"`
	Client   uint64   `json:"client"`
	User     uint64   `json:"user"`
	Session  uint64   `json:"session,omitempty"`
	Grant    uint64   `json:"grant"`
	Scopes   []string `json:"scopes"`
	Redirect string   `json:"redirect,omitempty"`
	Verifier string   `json:"challenge,omitempty"` // the hash of it
	JKT      string   `json:"jkt,omitempty"`
	Began    int64    `json:"began"`           // when the person consented, in Unix milliseconds
	Since    int64    `json:"since,omitempty"` // when the session began in which they did, alike
	Until    int64    `json:"until"`           // Unix seconds
}

// since is when the session began in which the person consented; of what an older version gave, when they did.
func (g *given) since() time.Time { return time.UnixMilli(cmp.Or(g.Since, g.Began)) }

// put keeps what a code or refresh token stands for.
func (a *API) put(ctx context.Context, field, text string, g *given, lasts time.Duration) error {
	until := a.Now().Add(lasts)
	g.Until = until.Unix()
	detail, err := json.Marshal(g)
	if err != nil {
		return fmt.Errorf("write %s: %w", field, err)
	}
	first, err := a.Store.Put(ctx, field, text, g.Grant, string(detail), until.Add(refreshLasts))
	if err == nil && !first {
		err = fmt.Errorf("write %s: it is there already", field)
	}
	return err
}

// find returns what a code or refresh token of a client stands for. One that was used before ends the grant.
func (a *API) find(ctx context.Context, c *client, field, text, why string) (*record.Once, *given, error) {
	no := refuse(codeGrant, "The code or refresh token is unknown, has expired, was used before, or is another client's.")
	once, err := a.Store.Find(ctx, field, text)
	if err != nil || once == nil {
		return nil, nil, orElse(err, no)
	}
	g := &given{}
	if err := json.Unmarshal([]byte(once.Detail), g); err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", field, err)
	}
	if fleet.ClientID(g.Client) != c.id || fleet.AccountID(g.Account) != c.account {
		return nil, nil, no
	}
	if once.Used {
		return nil, nil, orElse(a.end(ctx, g, why), no)
	}
	if a.Now().Unix() >= g.Until {
		return nil, nil, no
	}
	return once, g, nil
}

// use uses a code or refresh token; of all who do so at the same time one wins, and the grant of the others ends,
// which is the same one.
func (a *API) use(ctx context.Context, once *record.Once, g *given, why string) error {
	first, err := a.Store.Use(ctx, once, a.Now().Add(refreshLasts))
	if err == nil && !first {
		err = orElse(a.end(ctx, g, why), refuse(codeGrant, "The code or refresh token was used before."))
	}
	return err
}

// end takes a grant away, and notes why.
func (a *API) end(ctx context.Context, g *given, why string) error {
	_, err := a.grants.Archive(ctx, record.System, fleet.AccountID(g.Account), g.Grant, 0,
		func(rec *record.Record[record.OAuthGrant]) error {
			rec.Body.Ended = why
			return nil
		})
	a.states.forget()
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return nil // the code was never redeemed
	}
	return err
}

func orElse(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// redeem gives a client a token for a code.
func (a *API) redeem(ctx context.Context, c *client, form url.Values, proof *token.Proof) (*TokenReply, error) {
	jkt := keyOf(proof)
	code, verifier := form.Get("code"), form.Get("code_verifier")
	if code == "" || verifier == "" || form.Get("redirect_uri") == "" {
		return nil, refuse(codeRequest, "Send code, redirect_uri and code_verifier.")
	}
	once, g, err := a.find(ctx, c, onceCode, code, record.GrantCodeReused)
	if err != nil {
		return nil, err
	}
	switch {
	case form.Get("redirect_uri") != g.Redirect:
		return nil, refuse(codeGrant, "The redirect_uri is another one than the code was asked with.")
	case !token.Answers(verifier, g.Verifier):
		return nil, refuse(codeGrant, "The code_verifier is not the one of the code_challenge.")
	case g.JKT != "" && g.JKT != jkt:
		return nil, refuse(codeProof, "The code is bound to another key: send a DPoP proof of the key of dpop_jkt.")
	}
	role, err := a.roleScopes(ctx, g)
	if err != nil {
		return nil, err
	}
	if err := a.spend(ctx, proof); err != nil {
		return nil, err
	}
	// The grant comes before the code is used, so that whoever uses it a second time finds a grant to end.
	if _, _, err := a.grants.Ensure(ctx, record.Author{Actor: fleet.UserID(g.User).String()},
		fleet.AccountID(g.Account), g.Grant, record.OAuthGrant{ClientID: c.id.String(),
			UserID: fleet.UserID(g.User).String(), SessionID: fleet.SessionID(g.Session).String(),
			SessionBeganAt: record.InstantOf(g.since()), Scopes: g.Scopes}); err != nil {
		return nil, err
	}
	if err := a.use(ctx, once, g, record.GrantCodeReused); err != nil {
		return nil, err
	}
	g.JKT, g.Redirect, g.Verifier = "", "", ""
	if c.body.Type == record.OAuthPublic {
		g.JKT = jkt // a confidential client proves itself by its secret, and may change its key
	}
	return a.withRefresh(ctx, c, g, auth.Both(auth.Both(g.Scopes, c.body.Scopes), role), jkt)
}

// refresh gives a client a token for a refresh token, and another refresh token.
func (a *API) refresh(ctx context.Context, c *client, form url.Values, proof *token.Proof) (*TokenReply, error) {
	jkt := keyOf(proof)
	text := form.Get("refresh_token")
	if text == "" {
		return nil, refuse(codeRequest, "Send refresh_token.")
	}
	once, g, err := a.find(ctx, c, onceRefresh, text, record.GrantRefreshReused)
	if err != nil {
		return nil, err
	}
	if g.JKT != "" && g.JKT != jkt {
		return nil, refuse(codeProof, "The refresh token is bound to a key: send a DPoP proof of that key.")
	}
	scopes, err := scopesAsked(form.Get("scope"), g.Scopes)
	if err != nil {
		return nil, err
	}
	grant, err := a.grants.Get(ctx, fleet.AccountID(g.Account), g.Grant)
	if err != nil {
		return nil, err
	}
	if grant.Archived() {
		return nil, refuse(codeGrant, "Access was taken away: ask the person again.")
	}
	if a.Now().Sub(time.UnixMilli(g.Began)) >= familyLasts {
		return nil, refuse(codeGrant, "The person consented too long ago: ask them again.")
	}
	role, err := a.roleScopes(ctx, g)
	if err != nil {
		return nil, err
	}
	if err := a.spend(ctx, proof); err != nil {
		return nil, err
	}
	if g.JKT == "" && c.body.Type == record.OAuthPublic {
		g.JKT = jkt // from the first proof on
	}
	reply, err := a.withRefresh(ctx, c, g, auth.Both(auth.Both(scopes, c.body.Scopes), role), jkt)
	if err != nil {
		return nil, err
	}
	// The next one stands before this one is used: a process that dies between leaves this one good.
	return reply, a.use(ctx, once, g, record.GrantRefreshReused)
}

// withRefresh makes an access token, and a refresh token if the client takes those.
func (a *API) withRefresh(ctx context.Context, c *client, g *given, scopes []string,
	jkt string) (*TokenReply, error) {
	reply, err := a.sign(ctx, c, fleet.UserID(g.User).String(), fleet.GrantID(g.Grant).String(), scopes, jkt)
	if err != nil || !slices.Contains(c.body.GrantTypes, grantRefresh) {
		return reply, err
	}
	next := *g
	reply.RefreshToken = auth.MakeOnce("mp_ort_")
	return reply, a.put(ctx, onceRefresh, reply.RefreshToken, &next, refreshLasts)
}

// roleScopes is what the person who granted something may do now; a person who is gone is an invalid_grant.
func (a *API) roleScopes(ctx context.Context, g *given) ([]string, error) {
	if a.Settings.RoleOf == nil {
		return nil, refuse(codeGrant, "Nobody can sign in to this server.")
	}
	role, ok, err := a.Settings.RoleOf(ctx, fleet.AccountID(g.Account), fleet.UserID(g.User))
	if err == nil && !ok {
		err = refuse(codeGrant, "The person who consented has no access any more.")
	}
	if err == nil {
		var over bool
		if over, err = a.overSince(ctx, fleet.AccountID(g.Account), fleet.UserID(g.User), g.since()); over {
			err = refuse(codeGrant, "The person ended what they had granted: ask them again.")
		}
	}
	return texts(role.Scopes()), err
}
