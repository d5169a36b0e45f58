package oauth

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// OAuthClient is an OAuth client as it is answered. Its secret is shown when it is made, and never again.
type OAuthClient struct {
	ID string `json:"id" doc:"Identity, and the client_id of OAuth." example:"ocl_1234"`

	record.OAuthClientFields

	Object       string         `json:"object" doc:"Always oauth_client." example:"oauth_client"`
	Type         string         `json:"type" enum:"confidential,public" doc:"confidential keeps a secret; public, such as an app on a phone, has none."`
	Status       string         `json:"status" enum:"enabled,disabled" doc:"A disabled one gets no tokens, and those that it has are refused within 5 seconds."`
	ClientSecret string         `json:"client_secret,omitempty" doc:"What it proves itself with; only in the answer that made it."`
	Secrets      []ClientSecret `json:"secrets" nullable:"false" doc:"Those that work, the newest first; two while one takes the place of the other."`
	CreatedBy    *string        `json:"created_by" nullable:"true" doc:"Who made it, as the history of a record says it." example:"key_1234"`

	rest.Stamps
}

// ClientSecret is a secret of a client as it is answered: never itself.
type ClientSecret struct {
	ID        string         `json:"id" example:"ocs_1234"`
	LastFour  string         `json:"last_four"`
	CreatedAt record.Instant `json:"created_at"`
	ExpiresAt record.Instant `json:"expires_at" doc:"It works until then; null is for good."`
}

// OAuthClientNew is what callers write to make an OAuth client.
type OAuthClientNew struct {
	record.OAuthClientFields

	Type string `json:"type" enum:"confidential,public" doc:"confidential keeps a secret, as a server can; public has none, and cannot use client_credentials. It cannot be changed."`
}

// ClientSecretRotate is the body of the action that makes a new secret.
type ClientSecretRotate struct {
	OverlapHours *int `json:"overlap_hours,omitempty" minimum:"0" maximum:"168" doc:"How long the secret before goes on working beside the new one; 24 unless given. 0 ends all others at once."`
}

func (a *API) clientRoutes() {
	s := &rest.Resource[record.OAuthClient]{
		Server: a.Server, Log: a.clients, Listing: &query.OAuthClients,
		Titles: rest.Titles{Path: "/v1/oauth_clients", Tag: "OAuth", Noun: "OAuth client", Nouns: "OAuth clients"},
		Scope:  rest.Scopes{Read: auth.OAuthManage, Write: auth.OAuthManage},
		Views: rest.Views{View: OAuthClient{}, Fields: record.OAuthClientFields{}, Create: OAuthClientNew{},
			States: []string{record.OAuthEnabled, record.OAuthDisabled}},
		Writable: func(b *record.OAuthClient) any { return &b.OAuthClientFields },
		Make: func(_ *http.Request, object map[string]any) (record.OAuthClient, error) {
			var sent OAuthClientNew
			err := a.DecodeObject(object, &sent)
			return record.OAuthClient{OAuthClientFields: sent.OAuthClientFields, Type: sent.Type,
				Status: record.OAuthEnabled}, err
		},
		Show:    rest.ShowEach(func(rec record.Record[record.OAuthClient]) any { return a.show(&rec) }),
		Prepare: prepare,
		MayArchive: rest.ArchiveIf(func(r *http.Request, rec *record.Record[record.OAuthClient]) error {
			return mayTouch(auth.From(r.Context()), &rec.Body)
		}),
	}
	s.Register("create", "batch")
	a.Handle(rest.Route{
		Method: http.MethodPost, Path: s.Path, ID: "createOAuthClient", Tag: s.Tag, Scope: s.Scope.Write,
		Summary: "Create an OAuth client",
		About: "The answer shows the secret of a confidential client, this once; that to a repetition with its " +
			"Idempotency-Key does not. A client belongs to the account, and only people of the account can consent to it.",
		Body: OAuthClientNew{}, Status: http.StatusCreated, Reply: OAuthClient{},
	}, func(w http.ResponseWriter, r *http.Request) error { return a.create(s, w, r) })
	for _, move := range []struct{ verb, summary, about, to string }{
		{"disable", "Disable an OAuth client", "It gets no tokens, and those that it has are refused within 5 seconds. " +
			"What people granted to it stands, and works again when it is enabled.", record.OAuthDisabled},
		{"enable", "Enable an OAuth client", "It works again, with the secrets and grants that it has.", record.OAuthEnabled},
	} {
		rest.Act(s, rest.Action[record.OAuthClient, rest.NoBody]{
			Verb: move.verb, Summary: move.summary, About: move.about,
			Do: func(c *rest.Call[record.OAuthClient], _ rest.NoBody) (record.Record[record.OAuthClient], error) {
				rec, err := c.Update(func(rec *record.Record[record.OAuthClient]) error {
					if move.to == record.OAuthEnabled {
						if err := mayTouch(auth.From(c.Context()), &rec.Body); err != nil {
							return err
						}
					}
					rec.Body.Status = move.to
					return nil
				})
				a.changed(rec.ID)
				return rec, err
			},
		})
	}
	rest.Act(s, rest.Action[record.OAuthClient, ClientSecretRotate]{
		Verb: "rotate_secret", ID: "rotateOAuthClientSecret", Summary: "Make a new secret for an OAuth client",
		Optional: true, Reply: OAuthClient{}, Answer: a.rotate,
		About: "The answer shows the new secret, this once; it works everywhere within 5 seconds. Until the one before has " +
			"ended both work. While two are live a third is a 409, unless `overlap_hours` is 0. A public client has none: a 409.",
	})
}

// changed has a client looked up again when it comes next.
func (a *API) changed(id uint64) {
	a.door.Forget(fleet.FormatID(fleet.ClientPrefix, id))
	a.states.forget()
}

func (a *API) show(rec *record.Record[record.OAuthClient]) OAuthClient {
	b := &rec.Body
	view := OAuthClient{ID: fleet.FormatID(fleet.ClientPrefix, rec.ID), OAuthClientFields: b.OAuthClientFields,
		Object: "oauth_client", Type: b.Type, Status: b.Status, Secrets: []ClientSecret{},
		CreatedBy: rest.TextOrNull(b.CreatedBy), Stamps: rest.StampsOf(*rec)}
	for _, s := range live(b.Secrets, a.Now()) {
		view.Secrets = append(view.Secrets, ClientSecret{ID: s.ID, LastFour: s.LastFour, CreatedAt: s.CreatedAt,
			ExpiresAt: s.ExpiresAt})
	}
	return view
}

// live are the secrets that work at an instant.
func live(secrets []record.OAuthClientSecret, now time.Time) []record.OAuthClientSecret {
	var all []record.OAuthClientSecret
	for _, s := range secrets {
		if s.ExpiresAt.IsZero() || s.ExpiresAt.After(now) {
			all = append(all, s)
		}
	}
	return all
}

// prepare refuses what no client can be, and scopes that the credential does not hold.
func prepare(r *http.Request, _ uint64, before, b *record.OAuthClient) error {
	if before != nil {
		if err := mayTouch(auth.From(r.Context()), before); err != nil {
			return err
		}
	}
	faults, err := rest.MayGrant(r, b.Scopes)
	if err != nil {
		return err
	}
	for i, text := range b.RedirectURIs {
		if fault := badRedirect(text); fault != "" {
			faults = append(faults, fleet.FieldError{Pointer: "/redirect_uris/" + strconv.Itoa(i), Code: "invalid",
				Detail: fault})
		}
	}
	codes := slices.Contains(b.GrantTypes, grantCode)
	switch {
	case b.Type == record.OAuthPublic && slices.Contains(b.GrantTypes, grantClient):
		faults = append(faults, fleet.FieldError{Pointer: "/grant_types", Code: "invalid",
			Detail: "has client_credentials, which takes a secret, and a public client has none"})
	case slices.Contains(b.GrantTypes, grantRefresh) && !codes:
		faults = append(faults, fleet.FieldError{Pointer: "/grant_types", Code: "invalid",
			Detail: "has refresh_token without authorization_code, which gives the first"})
	}
	if codes && len(b.RedirectURIs) == 0 {
		faults = append(faults, fleet.FieldError{Pointer: "/redirect_uris", Code: "required",
			Detail: "must name where people come back to, for authorization_code"})
	}
	if faults != nil {
		return fleet.Invalid(faults...)
	}
	return nil
}

// mayTouch refuses to change a client that holds what the credential does not.
func mayTouch(p *auth.Principal, b *record.OAuthClient) error {
	for _, name := range b.Scopes {
		if !p.Has(auth.Scope(name)) {
			return fleet.NewError(fleet.CodeForbidden, "The OAuth client holds the scope "+name+", which the "+p.Called()+
				" does not hold; it can only disable it.")
		}
	}
	return nil
}

// create makes a client and shows its secret.
func (a *API) create(s *rest.Resource[record.OAuthClient], w http.ResponseWriter, r *http.Request) error {
	object, err := rest.ParseObject(rest.RequestBody(r))
	if err != nil {
		return err
	}
	body, err := s.NewBody(r, object)
	if err != nil {
		return err
	}
	id := a.NewID(r)
	body.ClientID, body.CreatedBy = fleet.FormatID(fleet.ClientPrefix, id), rest.Author(r).Actor
	secret := ""
	if body.Type == record.OAuthConfidential {
		var kept record.OAuthClientSecret
		secret, kept = a.newSecret()
		body.Secrets = []record.OAuthClientSecret{kept}
	}
	rec, err := rest.CreateSecret(r, a.clients, id, body, func(b *record.OAuthClient) { b.Secrets = body.Secrets })
	if err != nil {
		return err
	}
	a.changed(rec.ID)
	base, _, _ := strings.Cut(r.URL.Path, "/v1/")
	w.Header().Set("Location", base+s.Path+"/"+fleet.FormatID(fleet.ClientPrefix, rec.ID))
	return a.answerOnce(w, r, http.StatusCreated, &rec, secret)
}

// answerOnce answers with a client and its new secret. What is stored for repetitions of the request is without it.
func (a *API) answerOnce(w http.ResponseWriter, r *http.Request, status int, rec *record.Record[record.OAuthClient],
	secret string) error {
	view := a.show(rec)
	var err error
	if rest.ExchangeOf(r.Context()).Unstored, err = rest.EncodeJSON(a.WithAllMembers(view), false); err != nil {
		return err
	}
	view.ClientSecret = secret
	w.Header().Set("ETag", rest.ETagOf(rec.Revision, nil))
	return rest.WriteJSON(w, r, status, a.WithAllMembers(view))
}

func (a *API) newSecret() (secret string, kept record.OAuthClientSecret) {
	secret, hash, lastFour := auth.MakeClientSecret()
	return secret, record.OAuthClientSecret{ID: fleet.FormatID(fleet.ClientSecretPrefix, a.Store.NextID()), SHA256: hash,
		LastFour: lastFour, CreatedAt: record.InstantOf(a.Now())}
}

// rotate makes a new secret, and says until when the one before works beside it.
func (a *API) rotate(w http.ResponseWriter, c *rest.Call[record.OAuthClient], sent ClientSecretRotate) error {
	var secret string
	rec, err := c.Update(func(rec *record.Record[record.OAuthClient]) error {
		b, now := &rec.Body, a.Now()
		if err := mayTouch(auth.From(c.Context()), b); err != nil {
			return err
		}
		if b.Type != record.OAuthConfidential {
			return fleet.NewError(fleet.CodeConflict, "The OAuth client is public and has no secret. Create a confidential one.")
		}
		before := live(b.Secrets, now)
		if rest.SecretOverlap(sent.OverlapHours) == 0 {
			before = nil
		}
		if len(before) > 1 {
			return fleet.NewError(fleet.CodeConflict, "Two secrets are live until "+
				before[1].ExpiresAt.UTC().Format(time.RFC3339)+
				". Make the next one then, or now with overlap_hours 0, which ends both at once.")
		}
		for i := range before {
			before[i].ExpiresAt = record.InstantOf(now.Add(rest.SecretOverlap(sent.OverlapHours)))
		}
		made, kept := a.newSecret()
		secret, b.Secrets = made, append([]record.OAuthClientSecret{kept}, before...)
		return nil
	})
	if err != nil {
		return err
	}
	a.changed(rec.ID)
	return a.answerOnce(w, c.Request, http.StatusOK, &rec, secret)
}
