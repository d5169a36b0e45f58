package hook

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/eventview"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// deliveryStates are those of deliveries.
var deliveryStates = []string{"pending", "retrying", "succeeded", "failed", "skipped", "superseded"}

// kept is how long deliveries and attempts are kept.
const kept = 30 * day

const day = 24 * time.Hour

// Delivery is an event that an endpoint is to get, as it is answered.
type Delivery struct {
	ID             string         `json:"id" doc:"Identity." example:"whd_1234"`
	Object         string         `json:"object" doc:"Always webhook_delivery." example:"webhook_delivery"`
	EndpointID     string         `json:"endpoint_id" example:"whe_1234"`
	EventID        string         `json:"event_id" doc:"The head webhook-id of each attempt." example:"evt_1234"`
	Type           string         `json:"type" example:"booking.created"`
	VehicleID      *string        `json:"vehicle_id" nullable:"true" example:"veh_1234"`
	Sequence       uint64         `json:"sequence" doc:"Of the event."`
	Replayed       bool           `json:"replayed" doc:"It was asked for by replay."`
	Status         string         `json:"status" enum:"pending,retrying,succeeded,failed,skipped,superseded" doc:"pending: not tried yet; retrying: it failed, and is tried again; failed: no attempt is left; skipped: the endpoint was not enabled; superseded: of places, and there is a newer one."`
	Attempts       int            `json:"attempt_count" doc:"Made so far."`
	NextAttemptAt  record.Instant `json:"next_attempt_at" doc:"Null if none is due."`
	ResponseStatus *int           `json:"response_status" nullable:"true" doc:"Of the last attempt; null if it was not answered." example:"204"`
	DurationMS     *int           `json:"duration_ms" nullable:"true" doc:"Of the last attempt."`
	Error          *string        `json:"error" nullable:"true" doc:"Why the last attempt failed, in words."`
	CreatedAt      record.Instant `json:"created_at" doc:"When the event became known, or the replay was asked for."`
	UpdatedAt      record.Instant `json:"updated_at"`
}

// DeliveryDetail is one delivery with its attempts.
type DeliveryDetail struct {
	Delivery

	RequestBody *string   `json:"request_body" nullable:"true" doc:"What is sent, with the payload that the endpoint has now. Null if the event is gone, or if the API key may not read it."`
	Log         []Attempt `json:"attempts" nullable:"false" doc:"The newest first, at most 100."`
}

// Attempt is one request to an endpoint, as it is answered.
type Attempt struct {
	DeliveryID     string         `json:"delivery_id" example:"whd_1234"`
	EventID        string         `json:"event_id" example:"evt_1234"`
	Type           string         `json:"type" example:"booking.created"`
	Number         int            `json:"number" doc:"Counts the attempts of the delivery from 1."`
	At             record.Instant `json:"at"`
	Succeeded      bool           `json:"succeeded"`
	URL            string         `json:"url"`
	RequestHead    string         `json:"request_head" doc:"First line and headers, with ******** for the values of the endpoint's own."`
	RequestBytes   int            `json:"request_bytes" doc:"Of the body."`
	ResponseStatus *int           `json:"response_status" nullable:"true" doc:"Null if it was not answered." example:"204"`
	ResponseHead   string         `json:"response_head" doc:"Up to 4 kB. Empty, as response_body, if the API key may not read the event: receivers may send it back."`
	ResponseBody   string         `json:"response_body" doc:"Up to 4 kB."`
	DurationMS     int            `json:"duration_ms"`
	Error          *string        `json:"error" nullable:"true" doc:"In words."`
}

// spanParams are those of lists of what was sent.
var spanParams = []rest.Param{
	{Name: "from", Format: "date-time", About: "From this instant, inclusive."},
	{Name: "until", Format: "date-time", About: "Up to this instant, exclusive."},
}

func (a *API) deliveryRoutes() {
	const path = "/v1/webhook_deliveries"
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: path, ID: "listWebhookDeliveries", Tag: "Webhooks", Scope: auth.WebhooksManage,
		Summary: "List webhook deliveries", About: "Newest first, for 30 days.",
		Params: slices.Concat([]rest.Param{
			{Name: "endpoint_id", NotEmpty: true, About: "Of this endpoint."},
			{Name: "status", Enum: deliveryStates},
			{Name: "types", NotEmpty: true, About: "Only of these, separated by commas: types, `prefix.*` or categories."},
		}, spanParams, rest.PageParams),
		Reply: rest.List[Delivery]{},
	}, a.listDeliveries)
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: path + "/{id}", ID: "getWebhookDelivery", Tag: "Webhooks", Scope: auth.WebhooksManage,
		Summary: "Get a webhook delivery with its attempts", Reply: DeliveryDetail{},
	}, a.getDelivery)
	a.Handle(rest.Route{
		Method: http.MethodPost, Path: path + "/{id}/retry", ID: "retryWebhookDelivery", Tag: "Webhooks",
		Scope: auth.WebhooksManage, Status: http.StatusAccepted, Reply: Delivery{},
		Summary: "Send a webhook delivery again",
		About:   "Whatever became of it; the schedule begins anew, and the `webhook-id` stays. One that is due within a minute, and one of an endpoint that is not enabled, is a 409.",
	}, a.retry)
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/webhook_endpoints/{id}/attempts", ID: "listWebhookEndpointAttempts",
		Tag: "Webhooks", Scope: auth.WebhooksManage,
		Summary: "List the attempts at a webhook endpoint", About: "Newest first, for 30 days.",
		Params: slices.Concat([]rest.Param{
			{Name: "failed", Type: "boolean", About: "`true`: only those that failed."},
		}, spanParams, rest.PageParams),
		Reply: rest.List[Attempt]{},
	}, a.listAttempts)
}

func deliveryOf(d *query.WebhookDelivery) Delivery {
	view := Delivery{ID: fleet.FormatID(fleet.WebhookDeliveryPrefix, d.ID), Object: "webhook_delivery",
		EndpointID: fleet.FormatID(fleet.WebhookEndpointPrefix, d.Endpoint),
		EventID:    fleet.FormatID(fleet.EventPrefix, d.Event), Type: d.Type, Sequence: d.Sequence, Replayed: d.Replay != 0,
		Status: d.Status, Attempts: int(d.Attempts), NextAttemptAt: instantOf(d.NextAt),
		ResponseStatus: intOrNull(int(d.ResponseStatus)), Error: rest.TextOrNull(d.Error),
		CreatedAt: instantOf(d.CreatedAt), UpdatedAt: instantOf(d.UpdatedAt)}
	if d.Vehicle != 0 {
		view.VehicleID = rest.TextOrNull(d.Vehicle.String())
	}
	if d.Attempts > 0 {
		took := int(d.DurationMS)
		view.DurationMS = &took
	}
	return view
}

// attemptOf shows an attempt to a key. What a receiver answered may be what it was sent, so only who may read that sees
// it.
func (a *API) attemptOf(p *auth.Principal, t *query.WebhookAttempt) Attempt {
	if !a.mayRead(p, t.Type) {
		t.ResponseHead, t.ResponseBody = "", ""
	}
	return Attempt{DeliveryID: fleet.FormatID(fleet.WebhookDeliveryPrefix, t.Delivery),
		EventID: fleet.FormatID(fleet.EventPrefix, t.Event), Type: t.Type, Number: int(t.Number), At: instantOf(t.At),
		Succeeded: t.Succeeded, URL: t.URL, RequestHead: t.RequestHead, RequestBytes: int(t.RequestBytes),
		ResponseStatus: intOrNull(int(t.Status)), ResponseHead: t.ResponseHead, ResponseBody: t.ResponseBody,
		DurationMS: int(t.DurationMS), Error: rest.TextOrNull(t.Error)}
}

// instantOf is an instant, none for 0.
func instantOf(at fleet.Millis) record.Instant {
	if at <= 0 {
		return record.Instant{}
	}
	return record.InstantOf(at.Time())
}

func intOrNull(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// webhookFilter reads what lists of what was sent have in common.
func webhookFilter(r *http.Request, list string) (query.WebhookFilter, rest.Page, error) {
	f := query.WebhookFilter{Account: auth.From(r.Context()).Account, From: rest.TimeParam(r, "from", 0),
		To: rest.TimeParam(r, "until", 0)}
	if err := rest.CheckSpan(f.From, f.To); err != nil {
		return f, rest.Page{}, err
	}
	p, err := rest.PageOf(r, list)
	if err != nil {
		return f, p, err
	}
	if f.AfterAt, f.AfterID, err = p.Behind(); err != nil {
		return f, p, err
	}
	f.Offset, f.Limit = p.Offset(), p.PerPage+1
	return f, p, nil
}

// pageOfSent writes a page of what was found, with one more than is on it if there is a next page.
func pageOfSent[T, V any](w http.ResponseWriter, r *http.Request, list string, p rest.Page, found []T, total int,
	show func(*T) V, key func(*T) (fleet.Millis, uint64)) error {
	var after []string
	if len(found) > p.PerPage {
		found = found[:p.PerPage]
		after = rest.AfterOf(key(&found[p.PerPage-1]))
	}
	data := make([]V, len(found))
	for i := range found {
		data[i] = show(&found[i])
	}
	return rest.WriteList(w, r, list, p, data, total, after)
}

func (a *API) listDeliveries(w http.ResponseWriter, r *http.Request) error {
	const list = "webhook_deliveries"
	f, p, err := webhookFilter(r, list)
	if err != nil {
		return err
	}
	if text := rest.TextParam(r, "endpoint_id", ""); text != "" {
		if f.Endpoint, err = fleet.ParseID(fleet.WebhookEndpointPrefix, text); err != nil {
			return rest.InvalidParam("endpoint_id", "is not the id of a webhook endpoint: those are whe_ and digits")
		}
	}
	f.Status = rest.TextParam(r, "status", "")
	if f.Types, err = a.typesOf(rest.ListParam(r, "types")); err != nil {
		return err
	}
	found, total, err := query.WebhookDeliveries(r.Context(), a.DB, f)
	if err != nil {
		return err
	}
	return pageOfSent(w, r, list, p, found, total, deliveryOf,
		func(d *query.WebhookDelivery) (fleet.Millis, uint64) { return d.CreatedAt, d.ID })
}

// typesOf are the types that the words of a parameter mean; nil of none.
func (a *API) typesOf(words []string) (types []string, err error) {
	for _, word := range words {
		before := len(types)
		for _, t := range a.types {
			if fleet.MeansType(word, t.Type) {
				types = append(types, t.Type)
			}
		}
		if len(types) == before {
			return nil, rest.InvalidParam("types", "has "+word+", which is no type, prefix.* or category"+
				rest.DidYouMean(word, a.words())+"; /v1/event_types lists them")
		}
	}
	return types, nil
}

func (a *API) listAttempts(w http.ResponseWriter, r *http.Request) error {
	rec, err := a.endpointOf(r)
	if err != nil {
		return err
	}
	list := "webhook_attempts/" + strconv.FormatUint(rec.ID, 10)
	f, p, err := webhookFilter(r, list)
	if err != nil {
		return err
	}
	f.Endpoint, f.Failed = rec.ID, rest.TextParam(r, "failed", "") == "true"
	found, total, err := query.WebhookAttempts(r.Context(), a.DB, f)
	if err != nil {
		return err
	}
	show := func(t *query.WebhookAttempt) Attempt { return a.attemptOf(auth.From(r.Context()), t) }
	return pageOfSent(w, r, list, p, found, total, show,
		func(t *query.WebhookAttempt) (fleet.Millis, uint64) { return t.At, t.Delivery })
}

// endpointOf is the endpoint that a path names.
func (a *API) endpointOf(r *http.Request) (record.Record[record.WebhookEndpoint], error) {
	id, err := rest.PathID(r, "webhook endpoint", fleet.WebhookEndpointPrefix)
	if err != nil {
		return record.Record[record.WebhookEndpoint]{}, err
	}
	return a.endpoints.Get(r.Context(), auth.From(r.Context()).Account, id)
}

// deliveryOfPath is the delivery that a path names.
func (a *API) deliveryOfPath(r *http.Request) (query.WebhookDelivery, error) {
	id, err := rest.PathID(r, "webhook delivery", fleet.WebhookDeliveryPrefix)
	if err != nil {
		return query.WebhookDelivery{}, err
	}
	d, ok, err := query.FindWebhookDelivery(r.Context(), a.DB, auth.From(r.Context()).Account, id)
	if err == nil && !ok {
		err = rest.NotFound("webhook delivery", fleet.FormatID(fleet.WebhookDeliveryPrefix, id))
	}
	return d, err
}

// mostShown is how many attempts of a delivery are shown with it.
const mostShown = 100

func (a *API) getDelivery(w http.ResponseWriter, r *http.Request) error {
	d, err := a.deliveryOfPath(r)
	if err != nil {
		return err
	}
	view := DeliveryDetail{Delivery: deliveryOf(&d), Log: []Attempt{}}
	attempts, _, err := query.WebhookAttempts(r.Context(), a.DB, query.WebhookFilter{
		Account: auth.From(r.Context()).Account, Endpoint: d.Endpoint, Delivery: d.ID, From: d.CreatedAt, Limit: mostShown})
	if err != nil {
		return err
	}
	for i := range attempts {
		view.Log = append(view.Log, a.attemptOf(auth.From(r.Context()), &attempts[i]))
	}
	if view.RequestBody, err = a.bodyOf(r, &d); err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, view)
}

// mayRead says whether a key may read events of a type.
func (a *API) mayRead(p *auth.Principal, eventType string) bool {
	return slices.ContainsFunc(a.types, func(t EventType) bool { return t.Type == eventType && p.Has(t.Scope) })
}

// bodyOf is what is sent of a delivery; nil if its event is gone, or is none that the key of the request may read.
func (a *API) bodyOf(r *http.Request, d *query.WebhookDelivery) (*string, error) {
	p := auth.From(r.Context())
	if !a.mayRead(p, d.Type) {
		return nil, nil
	}
	event, ok, err := query.EventOf(r.Context(), a.DB, p.Account, d.Sequence, d.Event)
	if err != nil || !ok {
		return nil, err
	}
	rec, err := a.endpoints.Get(r.Context(), p.Account, d.Endpoint)
	if err != nil {
		return nil, err
	}
	text, err := a.Events.JSON(&event, d.Sequence, eventview.Form{Thin: rec.Body.Payload == "thin"})
	if err != nil {
		return nil, err
	}
	body := string(bytes.TrimRight(text, "\n"))
	return &body, nil
}
