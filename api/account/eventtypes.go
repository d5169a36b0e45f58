package account

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"github.com/motorpool/fleet/api/rest"
)

// describeWebhooks adds to the description of the interface what an endpoint is sent of each type. It is called when
// all rooms have said how they show what events are about.
func (a *API) describeWebhooks() {
	a.catalogue = a.Events.Catalogue(true)
	doc := a.Docs.OpenAPI()
	maps.Copy(doc.Components.Schemas.Map(), a.catalogue.Components())
	doc.Webhooks = map[string]*huma.PathItem{}
	for _, t := range a.eventTypes {
		doc.Webhooks[t.Type] = &huma.PathItem{Post: &huma.Operation{
			OperationID: "on:" + t.Type, Method: http.MethodPost, Tags: []string{"Events"}, Summary: t.Type,
			Description: "Of the categories " + strings.Join(t.Categories, ", ") + ". Needs the scope `" + t.Scope + "`.",
			RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
				"application/json": {Schema: a.catalogue.Of(t.Type), Example: a.catalogue.Example(t.Type)},
			}},
			Responses: map[string]*huma.Response{"2XX": {Description: "Received."}},
		}}
	}
}

func (a *API) getEventType(w http.ResponseWriter, r *http.Request) error {
	name := chi.URLParam(r, "type")
	i := slices.IndexFunc(a.eventTypes, func(t EventType) bool { return t.Type == name })
	if i < 0 {
		return rest.NotFound("type of events", name)
	}
	shown := EventTypeShown{EventType: a.eventTypes[i], Example: a.catalogue.Example(name)}
	var err error
	if shown.Schema, err = a.catalogue.Schema(name); err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, shown)
}
