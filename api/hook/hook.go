// Package hook serves webhook endpoints: which events are sent where, signed with which secrets, and how that went. The
// sending itself is the business of pipeline/webhook.
//
// A secret is shown in the answer that made it, and never again; what is stored of it, and of the values of headers, is
// sealed. An endpoint hears what the key that said its types may read. A key that may read less can do nothing with it
// but pause or archive it: else it would have events sent to itself that it may not see.
package hook

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/eventview"
	"github.com/motorpool/fleet/api/outbound"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/seal"
	"github.com/motorpool/fleet/pipeline/webhook"
	"github.com/motorpool/fleet/query"
)

// Config says where webhooks may go and what their secrets are sealed with.
type Config struct {
	Reach outbound.Reach // of endpoints
	Plain bool           // they may be http:// too
	Keys  seal.Ring      // without a key no endpoint can be made
	Most  int            // endpoints of an account that are not archived; 0 is DefaultMost
	// Commands asks for deliveries once more; without it nobody can.
	Commands Commands
}

// DefaultMost is how many endpoints an account may have unless the operator says otherwise: each multiplies its events.
const DefaultMost = 100

// EventType is a type of events, and the scope that it takes to hear of it.
type EventType struct {
	Type       string
	Categories []string
	Scope      auth.Scope
}

// API holds webhook endpoints.
type API struct {
	*rest.Server
	Settings Config

	endpoints *record.Log[record.WebhookEndpoint]
	types     []EventType
	courier   webhook.Courier             // of samples
	catalogue func() *eventview.Catalogue // of what events look like
}

// New makes webhook endpoints on a server, which may hear of types of events. It registers nothing.
func New(s *rest.Server, c Config, types []EventType) *API {
	client := outbound.NewClient(c.Reach, outbound.Bounds{Timeout: longestTest, Answer: mostOfAnswer})
	return &API{Server: s, Settings: c, types: types,
		endpoints: record.NewLog(s.Store, record.WebhookEndpoints),
		courier: webhook.Courier{Client: client, Open: c.Keys.Open, Plain: c.Plain,
			Forbidden: outbound.ErrForbidden},
		catalogue: sync.OnceValue(func() *eventview.Catalogue { return s.Events.Catalogue(false) })}
}

// mostOfAnswer is how much is read of an answer to a sample, in bytes.
const mostOfAnswer = 64 << 10

// Hidden stands for the value of a header where an endpoint is shown.
const Hidden = "********"

// Endpoint is a webhook endpoint as it is answered.
type Endpoint struct {
	ID string `json:"id" doc:"Identity." example:"whe_1234"`

	record.WebhookEndpointFields

	Object         string   `json:"object" doc:"Always webhook_endpoint." example:"webhook_endpoint"`
	Status         string   `json:"status" enum:"enabled,paused,disabled" doc:"What happens while it is not enabled is kept as skipped, and sent by recover."`
	DisabledBy     *string  `json:"disabled_by" nullable:"true" enum:"auto,gone" doc:"auto: for five days there were only failures; gone: it answered 410. Null unless it is disabled."`
	DisabledReason *string  `json:"disabled_reason" nullable:"true" doc:"In words."`
	Signature      string   `json:"signature" enum:"v1,v1a" doc:"Of the newest secret."`
	Secret         string   `json:"secret,omitempty" doc:"What signatures v1 are checked with; only in the answer that made it."`
	Secrets        []Secret `json:"secrets" nullable:"false" doc:"Those that sign, the newest first; two while one takes the place of the other."`
	Scopes         []string `json:"scopes" nullable:"false" doc:"It hears of what these let it read: those of the key that said its types."`
	CreatedBy      *string  `json:"created_by" nullable:"true" doc:"Who made it, as the history of a record says it. It goes on when that key is revoked: archive it if it must not." example:"key_1234"`

	rest.Stamps
}

// Secret is a secret of an endpoint as it is answered: never itself.
type Secret struct {
	ID        string         `json:"id" example:"whs_1234"`
	Signature string         `json:"signature" enum:"v1,v1a"`
	PublicKey *string        `json:"public_key" nullable:"true" doc:"What signatures v1a are checked with; null of v1."`
	CreatedAt record.Instant `json:"created_at"`
	ExpiresAt record.Instant `json:"expires_at" doc:"It signs until then; null is for good."`
}

// EndpointNew is what callers write to make a webhook endpoint.
type EndpointNew struct {
	record.WebhookEndpointFields

	Signature string `json:"signature,omitempty" enum:"v1,v1a" doc:"How events are signed: v1 (HMAC-SHA256, with a secret that both sides have) or v1a (Ed25519, whose public key is shown and whose secret is not); v1 unless given."`
}

// SecretsRotate is the body of the action that makes a new secret.
type SecretsRotate struct {
	OverlapHours *int   `json:"overlap_hours,omitempty" minimum:"0" maximum:"168" doc:"How long the secret before goes on signing beside the new one; 24 unless given. 0 ends all others at once."`
	Signature    string `json:"signature,omitempty" enum:"v1,v1a" doc:"That of the secret before unless given."`
}

// Routes registers webhook endpoints and what is done with them.
func (a *API) Routes() {
	s := &rest.Resource[record.WebhookEndpoint]{
		Server: a.Server, Log: a.endpoints, Listing: &query.WebhookEndpoints,
		Titles: rest.Titles{Path: "/v1/webhook_endpoints", Tag: "Webhooks", Noun: "webhook endpoint",
			Nouns: "webhook endpoints"},
		Scope: rest.Scopes{Read: auth.WebhooksManage, Write: auth.WebhooksManage},
		Views: rest.Views{View: Endpoint{}, Fields: record.WebhookEndpointFields{}, Create: EndpointNew{},
			States: []string{record.WebhookEnabled, record.WebhookPaused, record.WebhookDisabled}},
		Writable: func(b *record.WebhookEndpoint) any { return &b.WebhookEndpointFields },
		Make:     a.newEndpoint,
		Show: rest.ShowEach(func(rec record.Record[record.WebhookEndpoint]) any {
			return a.show(&rec)
		}),
		Prepare: a.prepare,
	}
	s.Register("create", "batch")
	a.Handle(rest.Route{
		Method: http.MethodPost, Path: s.Path, ID: "createWebhookEndpoint", Tag: s.Tag, Scope: s.Scope.Write,
		Summary: "Create a webhook endpoint",
		About: "The answer shows the secret, this once; that to a repetition with its Idempotency-Key does not. " +
			"It hears of what the key that makes it may read, also after that key is gone. An account has a hundred, unless " +
			"the operator of the server said otherwise; one more is a 409.",
		Body: EndpointNew{}, Status: http.StatusCreated, Reply: Endpoint{},
	}, func(w http.ResponseWriter, r *http.Request) error { return a.create(s, w, r) })
	a.stateRoutes(s)
	rest.Act(s, rest.Action[record.WebhookEndpoint, SecretsRotate]{
		Verb: "secrets/rotate", ID: "rotateWebhookEndpointSecret", Summary: "Make a new secret for a webhook endpoint",
		Optional: true, Reply: Endpoint{}, Answer: a.rotate,
		About: "The answer shows the new secret, this once. Until the one before has ended, both sign each event. While " +
			"two are live a third is a 409, unless `overlap_hours` is 0.",
	})
	a.testRoute(s)
	a.againRoutes(s)
	a.healthRoute()
	a.deliveryRoutes()
}

func (a *API) show(rec *record.Record[record.WebhookEndpoint]) Endpoint {
	b := &rec.Body
	view := Endpoint{ID: fleet.FormatID(fleet.WebhookEndpointPrefix, rec.ID),
		WebhookEndpointFields: b.WebhookEndpointFields, Object: "webhook_endpoint", Status: b.Status,
		DisabledBy: rest.TextOrNull(b.DisabledBy), DisabledReason: rest.TextOrNull(b.DisabledReason),
		Signature: b.Signature, Secrets: []Secret{}, Scopes: rest.NonNil(b.Scopes), CreatedBy: rest.TextOrNull(b.CreatedBy),
		Stamps: rest.StampsOf(*rec)}
	view.Headers = hidden(b.Headers)
	for _, secret := range live(b.Secrets, a.Now()) {
		view.Secrets = append(view.Secrets, Secret{ID: secret.ID, Signature: signatureOf(&secret),
			PublicKey: rest.TextOrNull(secret.PublicKey), CreatedAt: secret.CreatedAt, ExpiresAt: secret.ExpiresAt})
	}
	return view
}

// prepare completes what is about to be written, refuses what nothing could be sent to, and seals what is new in it. Of
// a new endpoint the headers are sealed when its id is known.
func (a *API) prepare(r *http.Request, id uint64, before, b *record.WebhookEndpoint) error {
	p := auth.From(r.Context())
	if before != nil {
		if err := mayTouch(p, before); err != nil {
			return err
		}
	}
	if b.Payload == "" {
		b.Payload = "full"
	}
	if b.APIVersion == "" {
		b.APIVersion = "v1"
	}
	if b.TimeoutS == 0 {
		b.TimeoutS = 15
	}
	if b.MaxInFlight == 0 {
		b.MaxInFlight = 10
	}
	if before != nil {
		dropHeaders(r, b.Headers)
		b.Headers = respelled(before.Headers, b.Headers)
	}
	if err := a.check(r, p, before, b); err != nil {
		return err
	}
	if before == nil || !slices.Equal(before.Types, b.Types) {
		b.Scopes = a.hears(p)
	}
	if before == nil {
		return nil
	}
	return a.sealHeaders(id, before.Headers, b)
}

// respelled returns headers as they are sent, with the letters of those that were there before: a name that is written
// otherwise is the same header, and what is sent under it takes the place of what stays.
func respelled(was, sent map[string]string) map[string]string {
	if len(was) == 0 || len(sent) == 0 {
		return sent
	}
	letters := make(map[string]string, len(was))
	for name := range was {
		letters[http.CanonicalHeaderKey(name)] = name
	}
	headers := maps.Clone(sent)
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		before, known := letters[http.CanonicalHeaderKey(name)]
		if !known || name == before {
			continue
		}
		if value, both := headers[before]; both && value != Hidden && value != was[before] {
			continue // both are new: they are refused
		}
		headers[before] = sent[name]
		delete(headers, name)
	}
	return headers
}

// dropHeaders removes from headers that are about to be written those that a merge patch removes in other letters.
func dropHeaders(r *http.Request, headers map[string]string) {
	if r.Method != http.MethodPatch || len(headers) == 0 {
		return
	}
	patch, err := rest.ParseObject(rest.RequestBody(r))
	if err != nil {
		return // it was refused before
	}
	sent, _ := patch["headers"].(map[string]any)
	for name, value := range sent {
		if value != nil {
			continue
		}
		maps.DeleteFunc(headers, func(has, _ string) bool {
			_, said := sent[has]
			return !said && http.CanonicalHeaderKey(has) == http.CanonicalHeaderKey(name)
		})
	}
}

// hears are those of a key's scopes that let it hear of events.
func (a *API) hears(p *auth.Principal) []string {
	scopes := []string{}
	for _, s := range auth.Scopes {
		if slices.Contains(p.Scopes, s) &&
			(s == auth.Admin || slices.ContainsFunc(a.types, func(t EventType) bool { return t.Scope == s })) {
			scopes = append(scopes, string(s))
		}
	}
	return scopes
}

// mayTouch refuses to have more sent than the key that asks for it may read.
func mayTouch(p *auth.Principal, b *record.WebhookEndpoint) error {
	for _, name := range b.Scopes {
		if !p.Has(auth.Scope(name)) {
			return fleet.NewError(fleet.CodeForbidden, "The webhook endpoint hears of what takes the scope "+name+
				", which the "+p.Called()+" does not hold; it can only pause or archive it.")
		}
	}
	return nil
}

// sealHeaders seals the values of headers that are new. One that is hidden, or unchanged, stays as it was.
func (a *API) sealHeaders(id uint64, before map[string]string, b *record.WebhookEndpoint) error {
	if len(b.Headers) == 0 {
		return nil
	}
	sealed := make(map[string]string, len(b.Headers))
	for name, value := range b.Headers {
		was, known := before[name]
		if known && (value == Hidden || value == was) {
			sealed[name] = was
			continue
		}
		text, err := a.Settings.Keys.Seal(HeaderPurpose(id, name), value)
		if err != nil {
			return noKey(err)
		}
		sealed[name] = text
	}
	b.Headers = sealed
	return nil
}

// hidden are headers as they are shown.
func hidden(headers map[string]string) map[string]string {
	if headers == nil {
		return nil
	}
	shown := make(map[string]string, len(headers))
	for name := range headers {
		shown[name] = Hidden
	}
	return shown
}

// HeaderPurpose and SecretPurpose are what a value of an endpoint is sealed for.
func HeaderPurpose(endpoint uint64, name string) string {
	return "webhook_endpoint/" + fleet.FormatID(fleet.WebhookEndpointPrefix, endpoint) + "/header/" + name
}

// SecretPurpose is what a secret of an endpoint is sealed for.
func SecretPurpose(endpoint uint64, secret string) string {
	return "webhook_endpoint/" + fleet.FormatID(fleet.WebhookEndpointPrefix, endpoint) + "/secret/" + secret
}

// noKey says to callers that the server has nothing to seal with.
func noKey(err error) error {
	if err == seal.ErrNoKey {
		return fleet.NewError(fleet.CodeUnavailable, "This server has no key to seal secrets with, so that it takes none: "+
			"its operator gives it one with --seal-key-file.")
	}
	return err
}

// live are the secrets that sign at an instant.
func live(secrets []record.WebhookSecret, now time.Time) []record.WebhookSecret {
	var all []record.WebhookSecret
	for _, s := range secrets {
		if s.ExpiresAt.IsZero() || s.ExpiresAt.After(now) {
			all = append(all, s)
		}
	}
	return all
}

// base is what the path of a request begins with before that of the interface.
func base(r *http.Request) string {
	text, _, _ := strings.Cut(r.URL.Path, "/v1/")
	return text
}
