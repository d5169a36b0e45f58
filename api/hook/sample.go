package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/pipeline/webhook"
)

// longestTest is the most that an endpoint may ask for.
const longestTest = 30 * time.Second

// TestNew is the body of the action that sends a sample.
type TestNew struct {
	Type string `json:"type,omitempty" maxLength:"100" doc:"The type of the event; the first that the endpoint hears of unless given." example:"booking.created"`
}

// Tested is what became of a sample.
type Tested struct {
	EventID       string        `json:"event_id" doc:"The head webhook-id." example:"evt_1234"`
	Delivered     bool          `json:"delivered" doc:"It was answered with a status from 200 to 299."`
	Request       TestRequest   `json:"request"`
	SignedContent string        `json:"signed_content" doc:"What the signatures are of: webhook-id, webhook-timestamp and the body, with dots between."`
	Response      *TestResponse `json:"response,omitempty" doc:"Absent if there was no answer."`
	DurationMS    int64         `json:"duration_ms" doc:"Until the head of the answer was there."`
	Error         *string       `json:"error" nullable:"true" doc:"Why it was not delivered, in words."`
}

// TestRequest is what was sent.
type TestRequest struct {
	URL  string `json:"url"`
	Head string `json:"head" doc:"First line and headers, with ******** for the values of the endpoint's own."`
	Body string `json:"body" doc:"As its bytes were sent and signed."`
}

// TestResponse is what was answered.
type TestResponse struct {
	Status int    `json:"status" example:"200"`
	Head   string `json:"head" doc:"First line and headers, up to 4 kB."`
	Body   string `json:"body" doc:"Up to 4 kB."`
}

// testRoute registers the action that sends a sample. It takes as long as the endpoint does.
func (a *API) testRoute(s *rest.Resource[record.WebhookEndpoint]) {
	a.Handle(rest.Route{
		Method: http.MethodPost, Path: s.Path + "/{id}/test", ID: "testWebhookEndpoint", Tag: s.Tag, Scope: s.Scope.Write,
		Summary: "Send a sample to a webhook endpoint",
		About: "At once, signed and with its headers, whatever its state and filters, and once: no delivery follows. The " +
			"event is made up, has the sequence 0, and an id that no other event has. The answer says what was sent, what was signed and what came back.",
		Body: TestNew{}, Optional: true, Reply: Tested{}, Timeout: longestTest + a.Server.Config.WriteTime,
	}, a.test)
}

func (a *API) test(w http.ResponseWriter, r *http.Request) error {
	var sent TestNew
	if err := a.DecodeBody(r, &sent); err != nil {
		return err
	}
	rec, err := a.endpointOf(r)
	if err != nil {
		return err
	}
	if err := a.usable(r, &rec); err != nil {
		return err
	}
	eventType, err := a.testType(sent.Type, &rec.Body)
	if err != nil {
		return err
	}
	tested, err := a.send(r.Context(), &rec, eventType)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, tested)
}

// testType is the type that a sample is of.
func (a *API) testType(wanted string, b *record.WebhookEndpoint) (string, error) {
	var names []string
	for _, t := range a.types {
		if wanted == t.Type || wanted == "" && fleet.WantsType(b.Types, t.Type) {
			return t.Type, nil
		}
		names = append(names, t.Type)
	}
	return "", fleet.Invalid(fleet.FieldError{Pointer: "/type", Code: "unknown_type",
		Detail: fmt.Sprintf("there is no type %.60q", wanted) + rest.DidYouMean(wanted, names) +
			"; GET /v1/event_types lists them"})
}

// send sends a sample and says what became of it.
func (a *API) send(ctx context.Context, rec *record.Record[record.WebhookEndpoint], eventType string) (*Tested, error) {
	id := fleet.FormatID(fleet.EventPrefix, a.Store.NextID())
	body, err := rest.EncodeJSON(a.sample(rec, id, eventType), false)
	if err != nil {
		return nil, err
	}
	body = bytes.TrimRight(body, "\n")
	stored, err := json.Marshal(&rec.Body)
	if err != nil {
		return nil, err
	}
	endpoint, err := webhook.ParseEndpoint(rec.Account, rec.ID, rec.Revision, stored)
	if err != nil {
		return nil, err
	}
	attempt := a.courier.Try(ctx, endpoint, id, body)
	tested := &Tested{EventID: id, Delivered: attempt.Succeeded(), DurationMS: attempt.Duration.Milliseconds(),
		Request:       TestRequest{URL: attempt.URL, Head: attempt.RequestHead, Body: string(body)},
		SignedContent: fmt.Sprintf("%s.%d.%s", id, attempt.At.Unix(), body), Error: rest.TextOrNull(attempt.Error)}
	if attempt.Status != 0 {
		tested.Response = &TestResponse{attempt.Status, attempt.ResponseHead, attempt.ResponseBody}
	}
	return tested, nil
}

// sample is a made-up event of a type, as an endpoint wants it.
func (a *API) sample(rec *record.Record[record.WebhookEndpoint], id, eventType string) map[string]any {
	event := a.catalogue().Example(eventType)
	event["id"], event["type"], event["timestamp"] = id, eventType, record.InstantOf(a.Now())
	event["account_id"], event["sequence"] = rec.Account.String(), 0
	if data, ok := event["data"].(map[string]any); ok && rec.Body.Payload == "thin" {
		object, _ := data["object"].(map[string]any)
		event["data"] = map[string]any{"object": map[string]any{
			"id": object["id"], "object": object["object"], "revision": object["revision"], "url": nil}}
	}
	return event
}
