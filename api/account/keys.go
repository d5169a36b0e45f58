package account

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// APIKey is an API key as it is answered. The key itself is shown when it is made, and never again.
type APIKey struct {
	ID          string         `json:"id" doc:"Identity." example:"key_1234"`
	Key         string         `json:"key,omitempty" doc:"The key itself; only in the answer that made it."`
	Object      string         `json:"object" doc:"Always api_key." example:"api_key"`
	Name        string         `json:"name"`
	Hint        string         `json:"hint" doc:"Begin and last four characters of the key." example:"mp_live_4fjK2mPq81Zb_…9xQa"`
	Scopes      []string       `json:"scopes" nullable:"false"`
	IPAllowList []string       `json:"ip_allow_list" nullable:"false" doc:"Addresses and prefixes that it may be used from; empty allows any."`
	CreatedBy   string         `json:"created_by"`
	ExpiresAt   record.Instant `json:"expires_at"`
	RevokedAt   record.Instant `json:"revoked_at"`
	LastUsedAt  record.Instant `json:"last_used_at" doc:"To the minute; null if never."`
	RotatedTo   *string        `json:"rotated_to" doc:"The key that replaces it."`

	rest.Stamps
}

// APIKeyNew is what callers write to create an API key.
type APIKeyNew struct {
	Name        string          `json:"name" minLength:"1" maxLength:"100" example:"Dispatch screen"`
	Scopes      []string        `json:"scopes" minItems:"1" maxItems:"30" nullable:"false" doc:"What it may do; nothing that the key which makes it may not." example:"[\"vehicles:read\"]"`
	ExpiresAt   *record.Instant `json:"expires_at,omitempty" doc:"Never unless given."`
	IPAllowList []string        `json:"ip_allow_list,omitempty" maxItems:"50" nullable:"false" example:"[\"192.0.2.0/24\"]"`
}

// APIKeyRotate is the body of the action that replaces a key.
type APIKeyRotate struct {
	OldExpiresAt *record.Instant `json:"old_expires_at,omitempty" doc:"How long the old key still works; 24 hours unless given."`
}

// overlap is how long a rotated key goes on working.
const overlap = 24 * time.Hour

func (a *API) keyRoutes() {
	s := &rest.Resource[record.APIKey]{
		Server: a.Server, Log: a.keys, Listing: &query.APIKeys,
		Titles: rest.Titles{Path: "/v1/api_keys", Tag: "API keys", Noun: "API key", Nouns: "API keys"},
		Scope:  rest.Scopes{Read: auth.KeysManage, Write: auth.KeysManage},
		Views:  rest.Views{View: APIKey{}, Fields: APIKeyNew{}},
		Show:   a.showKeys,
	}
	s.Register("create", "replace", "patch", "archive")
	a.Handle(rest.Route{
		Method: "POST", Path: "/v1/api_keys", ID: "createAPIKey", Tag: "API keys", Scope: auth.KeysManage,
		Summary: "Create an API key",
		About:   "The answer shows the key, this once. An answer that is replayed for an Idempotency-Key does not show it again.",
		Body:    APIKeyNew{}, Status: 201, Reply: APIKey{},
	}, func(w http.ResponseWriter, r *http.Request) error {
		var sent APIKeyNew
		if err := a.DecodeBody(r, &sent); err != nil {
			return err
		}
		if err := a.checkKey(r, &sent); err != nil {
			return err
		}
		body := record.APIKey{Name: sent.Name, Scopes: sent.Scopes, IPAllowList: sent.IPAllowList,
			CreatedBy: auth.From(r.Context()).Actor()}
		if sent.ExpiresAt != nil {
			body.ExpiresAt = *sent.ExpiresAt
		}
		return a.makeKey(w, r, a.NewID(r), body)
	})
	a.Handle(rest.Route{
		Method: "DELETE", Path: "/v1/api_keys/{id}", ID: "revokeAPIKey", Tag: "API keys", Scope: auth.KeysManage, Status: 204,
		Summary: "Revoke an API key",
		About:   "Felt everywhere within 5 seconds. A key that holds a scope which the one that makes the request does not is a 403. The key stays in the list, with `revoked_at`.",
	}, a.revokeKey)
	rest.Act(s, rest.Action[record.APIKey, APIKeyRotate]{
		Verb: "rotate", Summary: "Replace an API key", Optional: true,
		About: "Makes a key with the same name, scopes and addresses; a 403 if the key that makes the request does " +
			"not hold all of these scopes. The old one goes on working until `old_expires_at`.",
		Status: http.StatusCreated, Reply: APIKey{}, Answer: a.rotateKey,
	})
}

// checkKey refuses what a new key must not have.
func (a *API) checkKey(r *http.Request, sent *APIKeyNew) error {
	faults, err := rest.MayGrant(r, sent.Scopes)
	if err != nil {
		return err
	}
	for i, text := range sent.IPAllowList {
		if _, err := parsePrefix(text); err != nil {
			faults = append(faults, fleet.FieldError{Pointer: "/ip_allow_list/" + strconv.Itoa(i), Code: "invalid",
				Detail: "is not an address or a prefix"})
		}
	}
	if sent.ExpiresAt != nil && !sent.ExpiresAt.After(a.Now()) {
		faults = append(faults, fleet.FieldError{Pointer: "/expires_at", Code: "invalid", Detail: "must lie ahead"})
	}
	if faults != nil {
		return fleet.Invalid(faults...)
	}
	return nil
}

// mayTouch refuses to change a key that holds what the one that makes the request does not.
func mayTouch(p *auth.Principal, k *record.APIKey) error {
	for _, name := range k.Scopes {
		if !p.Has(auth.Scope(name)) {
			return fleet.NewError(fleet.CodeForbidden,
				"A key cannot rotate or revoke one that holds the scope "+name+", which it does not hold itself.")
		}
	}
	return nil
}

// makeKey stores a key that was just made and answers with it.
func (a *API) makeKey(w http.ResponseWriter, r *http.Request, id uint64, body record.APIKey) error {
	made := auth.MakeKey()
	body.TokenID, body.SecretSHA256, body.LastFour = made.TokenID, made.SecretSHA256, made.LastFour
	rec, err := rest.CreateSecret(r, a.keys, id, body, func(b *record.APIKey) {
		b.TokenID, b.SecretSHA256, b.LastFour = made.TokenID, made.SecretSHA256, made.LastFour
	})
	if err != nil {
		return err
	}
	view := showKey(rec)
	if rest.ExchangeOf(r.Context()).Unstored, err = rest.EncodeJSON(a.WithAllMembers(view), false); err != nil {
		return err
	}
	view.Key = made.Token
	w.Header().Set("ETag", rest.ETagOf(rec.Revision, nil))
	base, _, _ := strings.Cut(r.URL.Path, "/v1/api_keys")
	w.Header().Set("Location", base+"/v1/api_keys/"+view.ID)
	return rest.WriteJSON(w, r, http.StatusCreated, a.WithAllMembers(view))
}

func (a *API) revokeKey(w http.ResponseWriter, r *http.Request) error {
	id, err := rest.PathID(r, "API key", fleet.KeyPrefix)
	if err != nil {
		return err
	}
	principal := auth.From(r.Context())
	rec, err := a.keys.Update(r.Context(), rest.Author(r), principal.Account, id, 0,
		func(rec *record.Record[record.APIKey]) error {
			if err := rest.Precondition(r, rec.Revision); err != nil {
				return err
			}
			if err := mayTouch(principal, &rec.Body); err != nil {
				return err
			}
			if now := a.Now(); rec.Body.RevokedAt.IsZero() || rec.Body.RevokedAt.After(now) {
				rec.Body.RevokedAt = record.InstantOf(now)
			}
			return nil
		})
	if err != nil {
		return err
	}
	a.Auth.Forget(rec.Body.TokenID)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *API) rotateKey(w http.ResponseWriter, c *rest.Call[record.APIKey], sent APIKeyRotate) error {
	ends := a.Now().Add(overlap)
	if sent.OldExpiresAt != nil {
		ends = sent.OldExpiresAt.Time
	}
	principal := auth.From(c.Context())
	before := fleet.FormatID(fleet.KeyPrefix, rest.ExchangeOf(c.Context()).Drawn) // if that was another key's
	fresh := a.NewID(c.Request)
	old, err := c.Update(func(rec *record.Record[record.APIKey]) error {
		if err := mayTouch(principal, &rec.Body); err != nil {
			return err
		}
		// A repetition of this very request finds its own mark and goes on.
		if next := fleet.FormatID(fleet.KeyPrefix, fresh); rec.Body.RotatedTo != next {
			if rec.Body.RotatedTo != "" && rec.Body.RotatedTo != before || !rec.Body.RevokedAt.IsZero() {
				return fleet.NewError(fleet.CodeConflict, "The API key was rotated or revoked already.")
			}
			rec.Body.RotatedTo = next
		}
		if rec.Body.ExpiresAt.IsZero() || rec.Body.ExpiresAt.After(ends) {
			rec.Body.ExpiresAt = record.InstantOf(ends)
		}
		return nil
	})
	if err != nil {
		return err
	}
	a.Auth.Forget(old.Body.TokenID)
	return a.makeKey(w, c.Request, fresh, record.APIKey{
		Name: old.Body.Name, Scopes: old.Body.Scopes, IPAllowList: old.Body.IPAllowList, CreatedBy: principal.Actor(),
	})
}

func (a *API) showKeys(ctx context.Context, records []record.Record[record.APIKey], _ []string) ([]rest.Shown, error) {
	if len(records) == 0 {
		return nil, nil
	}
	ids := make([]uint64, len(records))
	for i, rec := range records {
		ids[i] = rec.ID
	}
	uses, err := query.KeyUses(ctx, a.DB, records[0].Account, ids)
	if err != nil {
		return nil, err
	}
	views := make([]rest.Shown, len(records))
	for i, rec := range records {
		view := showKey(rec)
		if at, ok := uses[rec.ID]; ok {
			view.LastUsedAt = record.InstantOf(at)
			views[i].Live = []byte(view.LastUsedAt.String())
		}
		views[i].View = view
	}
	return views, nil
}

func showKey(rec record.Record[record.APIKey]) APIKey {
	b := rec.Body
	view := APIKey{
		ID: fleet.FormatID(fleet.KeyPrefix, rec.ID), Object: "api_key", Name: b.Name,
		Hint:   "mp_live_" + b.TokenID + "_…" + b.LastFour,
		Scopes: b.Scopes, IPAllowList: b.IPAllowList, CreatedBy: b.CreatedBy, ExpiresAt: b.ExpiresAt, RevokedAt: b.RevokedAt,
		Stamps: rest.StampsOf(rec),
	}
	if view.IPAllowList == nil {
		view.IPAllowList = []string{}
	}
	if b.RotatedTo != "" {
		view.RotatedTo = &b.RotatedTo
	}
	return view
}
