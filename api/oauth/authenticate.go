package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/query"
)

// client is a client that asks for something.
type client struct {
	id      fleet.ClientID
	account fleet.AccountID
	body    record.OAuthClient
	live    []record.OAuthClientSecret // that worked when it was looked up; the rest is seen within seconds
}

// lookup finds a client by its id, over all accounts; nil means that there is none that may ask.
func (a *API) lookup(ctx context.Context, name string) (*client, error) {
	id, err := fleet.ParseID(fleet.ClientPrefix, name)
	if err != nil {
		return nil, nil
	}
	account, text, archived, err := query.OAuthClient(ctx, a.DB, fleet.ClientID(id))
	if err != nil || account == 0 || archived {
		return nil, err
	}
	c := &client{id: fleet.ClientID(id), account: account}
	if err := json.Unmarshal([]byte(text), &c.body); err != nil {
		return nil, fmt.Errorf("decode OAuth client %s: %w", name, err)
	}
	if c.body.Status != record.OAuthEnabled {
		return nil, nil
	}
	c.live = live(c.body.Secrets, a.Now())
	return c, nil
}

// proves compares a secret with those of a client; that of an unknown one too, so that the time taken does not tell it
// from a wrong secret. A public client has none, and proves nothing but its name.
func proves(secret string, c *client) bool {
	if c != nil && c.body.Type == record.OAuthPublic {
		return secret == ""
	}
	secrets := []record.OAuthClientSecret{{SHA256: auth.Hash("")}}
	if c != nil {
		secrets = c.live
	}
	good := false
	for _, s := range secrets {
		good = auth.Matches(secret, s.SHA256) || good
	}
	return good && c != nil
}

// authenticate says which client makes a request, by its secret in the Authorization header or in the form, or without
// one if it is public (RFC 6749, section 2.3).
func (a *API) authenticate(w http.ResponseWriter, r *http.Request, form url.Values) (*client, error) {
	id, secret := form.Get("client_id"), form.Get("client_secret")
	user, password, basic := r.BasicAuth()
	if !basic && r.Header.Get("Authorization") != "" {
		return nil, a.unknownClient(w, "Authorization must be Basic, with the id and the secret of the client.")
	}
	if basic {
		var err1, err2 error
		user, err1 = url.QueryUnescape(user)
		password, err2 = url.QueryUnescape(password)
		if err1 != nil || err2 != nil {
			return nil, a.unknownClient(w, "Id and secret in Authorization must be percent-encoded.")
		}
		if secret != "" || id != "" && id != user {
			return nil, refuse(codeRequest, "The client proves itself in two ways. Send its secret in Authorization or in the form.")
		}
		id, secret = user, password
	}
	if id == "" {
		return nil, a.unknownClient(w, "Say which client asks: client_id and client_secret, or Authorization: Basic.")
	}
	c, err := a.door.Admit(r.Context(), id, secret, a.ClientAddr(r))
	switch {
	case err == nil:
		return c, nil
	case errors.Is(err, auth.ErrThrottled):
		w.Header().Set("Retry-After", strconv.Itoa(int(a.Config.Auth.Window.Seconds())))
		return nil, fleet.NewError(fleet.CodeRateLimited, "Too many failed attempts from your address. Wait a minute.")
	case errors.Is(err, auth.ErrUnknownKey):
		return nil, a.unknownClient(w, "The client is unknown or disabled, or its secret is wrong.")
	}
	return nil, fmt.Errorf("authenticate an OAuth client: %w", err)
}

func (a *API) unknownClient(w http.ResponseWriter, description string) error {
	w.Header().Set("WWW-Authenticate", `Basic realm="motorpool"`)
	e := refuse(codeClient, description)
	e.status = http.StatusUnauthorized
	return e
}
