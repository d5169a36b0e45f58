package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/oauth/token"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// notValid is what whoever presents a token that proves nothing is told.
const notValid = "The access token is not valid: it has expired, was revoked, or is not of this server. Get another one."

// bearer proves who makes a request by an access token, as Authorization: Bearer, or DPoP with a proof.
func (a *API) bearer(r *http.Request) (*auth.Principal, bool, error) {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	text = strings.TrimSpace(text)
	bound := strings.EqualFold(scheme, "DPoP")
	if !bound && !(strings.EqualFold(scheme, "Bearer") && strings.Count(text, ".") == 2) {
		return nil, false, nil // an API key has no dot
	}
	answerIn := "Bearer"
	if bound {
		answerIn = "DPoP"
	}
	c, err := a.read(r.Context(), text)
	if errors.Is(err, token.ErrInvalid) || errors.Is(err, token.ErrExpired) {
		return nil, true, &auth.Refusal{Scheme: answerIn, Says: notValid, Cause: err}
	}
	if err != nil {
		return nil, true, err
	}
	once, err := a.checkBound(r, c, text, bound)
	if err != nil {
		return nil, true, err
	}
	p, err := a.principal(r.Context(), c)
	if err == nil && p == nil {
		err = &auth.Refusal{Scheme: answerIn, Says: notValid}
	}
	if p != nil {
		p.Once = once
	}
	return p, true, err
}

// read checks an access token against our keys.
func (a *API) read(ctx context.Context, text string) (*token.Claims, error) {
	keys, err := a.keys.public(ctx, token.KeyID(text))
	if err != nil {
		return nil, err
	}
	return token.Read(text, keys, a.Settings.Issuer, a.resource(), a.Now())
}

// checkBound refuses a token that is bound to a key without a proof of that key, and one that is not with a proof.
// What it returns refuses a proof that was seen before, and is to be called when the request may be made.
func (a *API) checkBound(r *http.Request, c *token.Claims, text string,
	bound bool) (func(context.Context) error, error) {
	jkt := c.Thumbprint()
	switch {
	case jkt == "" && !bound:
		return nil, nil
	case jkt == "":
		return nil, &auth.Refusal{Scheme: "DPoP",
			Says: "The access token is not bound to a key: send it as Authorization: Bearer <token>."}
	case !bound:
		return nil, &auth.Refusal{Scheme: "DPoP",
			Says: "The access token is bound to a key: send it as Authorization: DPoP <token>, with a proof as DPoP."}
	case auth.IsAgain(r.Context()):
		return nil, nil
	}
	refusal := func(says string) error { return &auth.Refusal{Scheme: "DPoP", Code: codeProof, Says: says} }
	proofs := r.Header.Values("DPoP")
	if len(proofs) != 1 {
		return nil, refusal("Send one DPoP header, with a proof of the key of the access token.")
	}
	proof, err := token.ReadProof(proofs[0], r.Method, a.Settings.Issuer+r.URL.EscapedPath(), text, a.Now())
	if err != nil {
		return nil, refusal(fleet.Sentence(err.Error()))
	}
	if proof.Thumbprint != jkt {
		return nil, refusal("The DPoP proof is of another key than the access token is bound to.")
	}
	return func(ctx context.Context) error {
		first, err := a.firstSeen(ctx, proof)
		if err == nil && !first {
			err = refusal("The DPoP proof was seen before: make another one for each request.")
		}
		return err
	}, nil
}

// state is what decides over a token, beside what it says itself.
type state struct {
	good   bool
	scopes []string  // the most that it may do now, but for the role of the person
	since  time.Time // of the session in which the person granted it
	rate   *int      // of the account, see auth.Principal
}

// principal is whoever a token stands for, with what it may do now; nil if it stands for nobody any more.
func (a *API) principal(ctx context.Context, c *token.Claims) (*auth.Principal, error) {
	account, err1 := fleet.ParseID(fleet.AccountPrefix, c.Account)
	id, err2 := fleet.ParseID(fleet.ClientPrefix, c.ClientID)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("read a token that we signed: %w", err)
	}
	p := &auth.Principal{Account: fleet.AccountID(account), Client: fleet.ClientID(id)}
	if c.Grant != "" {
		user, err1 := fleet.ParseID(fleet.UserPrefix, c.Subject)
		grant, err2 := fleet.ParseID(fleet.GrantPrefix, c.Grant)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("read a token that we signed: %w", err)
		}
		p.User, p.Grant = fleet.UserID(user), fleet.GrantID(grant)
	}
	key := strings.Join([]string{c.ID, c.Account, c.ClientID, c.Grant, c.Subject}, " ")
	now, err := a.states.get(ctx, key, func(ctx context.Context) (state, error) { return a.stateOf(ctx, p, c.ID) })
	if err != nil || !now.good {
		return nil, err
	}
	p.Rate = now.rate
	may, err := a.may(ctx, p, now)
	if err != nil || may == nil {
		return nil, err
	}
	for _, s := range auth.Both(strings.Fields(c.Scope), may) {
		p.Scopes = append(p.Scopes, auth.Scope(s))
	}
	return p, nil
}

// may is what a client, or a person by it, may do now; nil if they are nobody any more. What it asks remembers what it
// reads itself: remembering that once more would be felt late.
func (a *API) may(ctx context.Context, p *auth.Principal, now state) ([]string, error) {
	if !now.good || p.Grant == 0 {
		return now.scopes, nil
	}
	role, ok, err := a.Settings.RoleOf(ctx, p.Account, p.User)
	if err != nil || !ok {
		return nil, err
	}
	if over, err := a.overSince(ctx, p.Account, p.User, now.since); err != nil || over {
		return nil, err
	}
	return auth.Both(now.scopes, texts(role.Scopes())), nil
}

// stateOf looks up what decides over a token.
func (a *API) stateOf(ctx context.Context, p *auth.Principal, jti string) (state, error) {
	given, err := a.Store.Find(ctx, onceRevoked, jti)
	if err != nil || given != nil {
		return state{}, err
	}
	now, err := a.stateOfClient(ctx, p)
	if err != nil || !now.good {
		return now, err
	}
	now.rate, err = query.AccountRate(ctx, a.DB, p.Account)
	return now, err
}

// stateOfClient looks up what decides over all tokens of a client, or of a grant.
func (a *API) stateOfClient(ctx context.Context, p *auth.Principal) (state, error) {
	rec, err := a.clients.Get(ctx, p.Account, uint64(p.Client))
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return state{}, nil
	}
	if err != nil || rec.Archived() || rec.Body.Status != record.OAuthEnabled {
		return state{}, err
	}
	if p.Grant == 0 {
		return state{good: true, scopes: rec.Body.Scopes}, nil
	}
	grant, err := a.grants.Get(ctx, p.Account, uint64(p.Grant))
	if fleet.CodeOf(err) == fleet.CodeNotFound {
		return state{}, nil
	}
	if err != nil || grant.Archived() || a.Settings.RoleOf == nil {
		return state{}, err
	}
	if grant.Body.ClientID != p.Client.String() || grant.Body.UserID != p.User.String() {
		return state{}, nil
	}
	since := grant.Body.SessionBeganAt.Time
	if since.IsZero() {
		since = grant.CreatedAt // an older version noted no more
	}
	return state{good: true, scopes: auth.Both(rec.Body.Scopes, grant.Body.Scopes), since: since}, nil
}
