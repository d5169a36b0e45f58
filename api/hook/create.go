package hook

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/pipeline/webhook"
	"github.com/motorpool/fleet/query"
)

// newEndpoint makes the body of a new endpoint from what was sent; it has no secret yet.
func (a *API) newEndpoint(_ *http.Request, object map[string]any) (record.WebhookEndpoint, error) {
	var sent EndpointNew
	err := a.DecodeObject(object, &sent)
	return record.WebhookEndpoint{WebhookEndpointFields: sent.WebhookEndpointFields, Status: record.WebhookEnabled,
		EnabledAt: record.InstantOf(a.Now()), Signature: cmp.Or(sent.Signature, webhook.SignatureShared)}, err
}

// create makes an endpoint and shows its secret.
func (a *API) create(s *rest.Resource[record.WebhookEndpoint], w http.ResponseWriter, r *http.Request) error {
	object, err := rest.ParseObject(rest.RequestBody(r))
	if err != nil {
		return err
	}
	body, err := s.NewBody(r, object)
	if err != nil {
		return err
	}
	id := a.NewID(r)
	if err := a.checkMost(r, id); err != nil {
		return err
	}
	body.CreatedBy = rest.Author(r).Actor
	if err := a.sealHeaders(id, nil, &body); err != nil {
		return err
	}
	secret, kept, err := a.newSecret(id, body.Signature)
	if err != nil {
		return err
	}
	body.Secrets = []record.WebhookSecret{kept}
	rec, err := rest.CreateSecret(r, a.endpoints, id, body,
		func(b *record.WebhookEndpoint) { b.Secrets = body.Secrets })
	if err != nil {
		return err
	}
	w.Header().Set("Location", base(r)+s.Path+"/"+fleet.FormatID(fleet.WebhookEndpointPrefix, rec.ID))
	return a.answerOnce(w, r, http.StatusCreated, &rec, secret)
}

// checkMost refuses one endpoint more than an account may have. One with the id is that of an earlier attempt.
func (a *API) checkMost(r *http.Request, id uint64) error {
	most := cmp.Or(a.Settings.Most, DefaultMost)
	page, err := query.List(r.Context(), a.DB, &query.WebhookEndpoints, query.ListRequest{
		Account: auth.From(r.Context()).Account, Limit: most})
	if err != nil || len(page.Records) < most ||
		slices.ContainsFunc(page.Records, func(one query.Stored) bool { return one.ID == id }) {
		return err
	}
	return fleet.NewError(fleet.CodeConflict, fmt.Sprintf("The account has %d webhook endpoints, and may have no more. "+
		"Archive one that is not needed, or have one endpoint hear of more types.", most))
}

// answerOnce answers with an endpoint and its new secret. What is stored for repetitions of the request is without it.
func (a *API) answerOnce(w http.ResponseWriter, r *http.Request, status int, rec *record.Record[record.WebhookEndpoint],
	secret string) error {
	view := a.show(rec)
	var err error
	if rest.ExchangeOf(r.Context()).Unstored, err = rest.EncodeJSON(a.WithAllMembers(view), false); err != nil {
		return err
	}
	if webhook.PublicKey(secret) == "" { // of v1a receivers need the public key alone
		view.Secret = secret
	}
	w.Header().Set("ETag", rest.ETagOf(rec.Revision, nil))
	return rest.WriteJSON(w, r, status, a.WithAllMembers(view))
}

// newSecret makes a secret of an endpoint, and what is stored of it.
func (a *API) newSecret(endpoint uint64, signature string) (secret string, kept record.WebhookSecret, err error) {
	secret = webhook.NewSecret(signature)
	kept = record.WebhookSecret{ID: fleet.FormatID(fleet.WebhookSecretPrefix, a.Store.NextID()),
		CreatedAt: record.InstantOf(a.Now()), PublicKey: webhook.PublicKey(secret)}
	kept.Sealed, err = a.Settings.Keys.Seal(SecretPurpose(endpoint, kept.ID), secret)
	return secret, kept, noKey(err)
}

// signatureOf is the kind of a secret's signatures.
func signatureOf(s *record.WebhookSecret) string {
	if s.PublicKey != "" {
		return webhook.SignatureKeys
	}
	return webhook.SignatureShared
}

// rotate makes a new secret, and says until when the one before signs beside it.
func (a *API) rotate(w http.ResponseWriter, c *rest.Call[record.WebhookEndpoint], sent SecretsRotate) error {
	overlap := rest.SecretOverlap(sent.OverlapHours)
	var secret string
	rec, err := c.Update(func(rec *record.Record[record.WebhookEndpoint]) error {
		b, now := &rec.Body, a.Now()
		if err := a.usable(c.Request, rec); err != nil {
			return err
		}
		before := live(b.Secrets, now)
		if overlap == 0 {
			before = nil
		}
		if len(before) > 1 {
			return fleet.NewError(fleet.CodeConflict, "Two secrets are live until "+
				before[1].ExpiresAt.UTC().Format(time.RFC3339)+". Make the next one then, or now with overlap_hours 0, which ends both at once.")
		}
		for i := range before {
			before[i].ExpiresAt = record.InstantOf(now.Add(overlap))
		}
		made, kept, err := a.newSecret(rec.ID, cmp.Or(sent.Signature, b.Signature))
		if err != nil {
			return err
		}
		secret, b.Signature = made, signatureOf(&kept)
		b.Secrets = append([]record.WebhookSecret{kept}, before...)
		return nil
	})
	if err != nil {
		return err
	}
	return a.answerOnce(w, c.Request, http.StatusOK, &rec, secret)
}

// usable refuses an endpoint that is archived, or that hears of more than the key of the request may read.
func (a *API) usable(r *http.Request, rec *record.Record[record.WebhookEndpoint]) error {
	if rec.Archived() {
		return fleet.NewError(fleet.CodeConflict, "The webhook endpoint is archived; create another one.")
	}
	return mayTouch(auth.From(r.Context()), &rec.Body)
}
