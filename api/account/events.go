package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/eventview"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/stream"
	"github.com/motorpool/fleet/query"
)

// EventPage is a page of the feed of events.
type EventPage struct {
	Data       []eventview.Event `json:"data" nullable:"false"`
	Pagination EventPagination   `json:"pagination"`
}

// EventPagination is as Pagination, but for the cursor, which is always there.
type EventPagination struct {
	Page       int    `json:"page" example:"1"`
	PerPage    int    `json:"per_page" example:"100"`
	Total      int    `json:"total" doc:"Events that match and are not on an earlier page."`
	NextCursor string `json:"next_cursor" doc:"Give it as cursor for what comes behind this page, now or later."`
}

// EventType is a type of events.
type EventType struct {
	Type       string   `json:"type" example:"alert.raised"`
	Category   string   `json:"category" enum:"bookings,maintenance,fleet,customers,finance,location,alerts,webhooks"`
	Categories []string `json:"categories" nullable:"false" doc:"All words by which it may be chosen as one of a category: category, and payments, vehicles, devices or reports."`
	Scope      string   `json:"scope" doc:"That a key needs to be told of it." example:"telematics:read"`
	Stream     bool     `json:"stream_only" doc:"The stream tells it as it comes, and the feed now and then, where a webhook asks for it, to who names it by itself."`
	URL        string   `json:"url" doc:"Where its schema and an example are." example:"/v1/event_types/alert.raised"`
}

// EventTypeShown is a type of events with what one looks like.
type EventTypeShown struct {
	EventType
	Schema  map[string]any `json:"schema" doc:"JSON Schema (2020-12) of the whole event, in miles and gallons."`
	Example map[string]any `json:"example" doc:"An event that fits the schema."`
}

// Bounds of the feed.
const (
	eventPage    = 100  // events on a page unless given
	maxEventPage = 1000 // at most
	maxEventWait = 30   // s
	eventsList   = "events"
)

// eventFilterParams choose events, in the feed and on the stream.
var eventFilterParams = []rest.Param{
	{Name: "types", NotEmpty: true, About: "Only these, separated by commas: types, `prefix.*`, or categories."},
	{Name: "vehicle_id", NotEmpty: true, About: "Only of these vehicles, separated by commas; at most 1000."},
	{Name: "geofence_id", NotEmpty: true, About: "Only events that are about these geofences, separated by commas."},
}

func (a *API) eventRoutes() {
	a.eventTypes = EventsOf(a.Kinds)
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/events", ID: "listEvents", Tag: "Events",
		Summary: "Feed of events",
		About: "What happened in the last 30 days, in the order in which it became known, and the way to follow changes of trips, stops, charging sessions, visits, driving events, alerts, bookings and all other records. A key is told of what its scopes let it read: `/v1/event_types` says which type needs which. Read what an event is about by its id: a list may know the change a moment later. " +
			"`next_cursor` is always there: give it again to get what has come since, with `wait_s` as soon as something comes. A cursor behind which events are gone is refused with a 400.",
		Params: slices.Concat(eventFilterParams, []rest.Param{
			{Name: "from", Format: "date-time",
				About: "Begin with what became known at or after this instant; otherwise with the oldest."},
			{Name: "cursor", About: "The `next_cursor` of the page before; the other parameters must stay the same."},
			{Name: "per_page", Type: "integer", Min: 1, Max: maxEventPage,
				About: fmt.Sprintf("Events on a page; %d unless given.", eventPage)},
			{Name: "wait_s", Type: "integer", Min: 1, Max: maxEventWait, About: "Wait so long for an event if there is none."},
		}),
		Reply: EventPage{}, Timeout: maxEventWait*time.Second + a.Config.ReadTime,
	}, a.listEvents)
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/event_types", ID: "listEventTypes", Tag: "Events",
		Summary: "Types of events", About: "All on one page.", Reply: a.ListSchema(EventType{}),
	}, a.listEventTypes)
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/event_types/{type}", ID: "getEventType", Tag: "Events",
		Summary: "Get a type of events, with its schema and an example", Reply: EventTypeShown{},
	}, a.getEventType)
	a.describeWebhooks()
}

// EventsOf are all types of events, the one of positions first, and the scopes that they need: those of records the
// scope of their kind, and what is derived telematics:read.
func EventsOf(kinds map[string]rest.Kind) (all []EventType) {
	of := map[string]auth.Scope{}
	for _, k := range kinds {
		of[k.Log] = cmp.Or(k.EventScope, k.Read)
	}
	scopes := map[string]auth.Scope{fleet.EventBooksDrift: auth.FinanceRead,
		fleet.EventEndpointFailing: auth.WebhooksManage, fleet.EventEndpointDisabled: auth.WebhooksManage}
	for _, r := range fleet.EventsOfRecords {
		for _, t := range r.Types {
			scopes[t] = of[r.Kind]
		}
	}
	for _, t := range append([]string{fleet.EventLocationUpdated}, fleet.EventTypes...) {
		all = append(all, EventType{Type: t, Category: fleet.EventCategory(t), Categories: fleet.CategoriesOf(t),
			Scope: string(cmp.Or(scopes[t], auth.TelematicsRead)), Stream: t == fleet.EventLocationUpdated,
			URL: "/v1/event_types/" + t})
	}
	return all
}

func (a *API) listEventTypes(w http.ResponseWriter, r *http.Request) error {
	return rest.WriteList(w, r, "event_types", rest.Page{Number: 1, PerPage: len(a.eventTypes)}, a.eventTypes,
		len(a.eventTypes), nil)
}

// TypesParam reads types=, of those that the key may be told of. nil means all there are.
func (a *API) TypesParam(r *http.Request) ([]string, error) {
	p := auth.From(r.Context())
	words := rest.ListParam(r, "types")
	hits := make([]bool, len(words))
	var wanted []string
	var lacking auth.Scope // of a type that is wanted
	for _, t := range a.eventTypes {
		hit := words == nil
		for i, word := range words {
			if fleet.MeansType(word, t.Type) {
				hits[i], hit = true, true
			}
		}
		if hit && p.Has(auth.Scope(t.Scope)) {
			wanted = append(wanted, t.Type)
		} else if hit {
			lacking = auth.Scope(t.Scope)
		}
	}
	for i, word := range words {
		if !hits[i] {
			return nil, rest.InvalidParam("types",
				"has "+word+", which is no type, prefix.* or category; /v1/event_types lists them")
		}
	}
	if wanted == nil {
		return nil, fleet.NewError(fleet.CodeForbidden, p.Lacks()+" the scope "+string(lacking)+
			", or another one that lets it hear of events; /v1/event_types lists them.")
	}
	if len(wanted) == len(a.eventTypes) {
		return nil, nil
	}
	return wanted, nil
}

// eventFilter reads the parameters that choose events.
func (a *API) eventFilter(r *http.Request) (f stream.Filter, err error) {
	if f.Types, err = a.TypesParam(r); err != nil {
		return f, err
	}
	if f.Vehicles, err = rest.IDsParam[fleet.VehicleID](r, "vehicle_id", fleet.VehiclePrefix); err != nil {
		return f, err
	}
	f.Fences, err = rest.IDsParam[fleet.FenceID](r, "geofence_id", fleet.FencePrefix)
	return f, err
}

// feedTypes are those of some types (nil: all) that the feed tells of: places only where types= says so by itself.
func (a *API) feedTypes(r *http.Request, types []string) []string {
	if fleet.WantsType(rest.ListParam(r, "types"), fleet.EventLocationUpdated) {
		return types
	}
	if types == nil {
		return fleet.EventTypes
	}
	return slices.DeleteFunc(types, func(t string) bool { return t == fleet.EventLocationUpdated })
}

func (a *API) listEvents(w http.ResponseWriter, r *http.Request) error {
	filter, err := a.eventFilter(r)
	if err != nil {
		return err
	}
	filter.Types = a.feedTypes(r, filter.Types)
	if a.Stream == nil {
		return fleet.NewError(fleet.CodeUnavailable, "This process does not follow events.")
	}
	account := auth.From(r.Context()).Account
	after, page, err := a.eventsFrom(r, account)
	if err != nil {
		return err
	}
	limit := rest.IntParam(r, "per_page", eventPage)
	found, err := a.awaitEvents(r, account, after, &filter, limit)
	if errors.Is(err, stream.ErrExpired) {
		return rest.InvalidParam("cursor",
			"is too old: events are kept for 30 days, and some behind it are gone; read what you follow anew, and begin with from")
	}
	if err != nil {
		return err
	}
	answer := EventPage{Data: []eventview.Event{}, Pagination: EventPagination{
		Page: page, PerPage: limit, Total: len(found.Items), NextCursor: rest.EncodeCursor(
			rest.Cursor{After: []string{strconv.FormatUint(found.Upto, 10)}, Page: page + 1, List: eventsList}),
	}}
	for _, item := range found.Items {
		view, err := a.Events.Render(&item.Event, item.Sequence, eventview.Form{Metric: rest.MetricUnits(r)})
		if err != nil {
			return err
		}
		answer.Data = append(answer.Data, view)
	}
	if found.More {
		left, err := query.CountEvents(r.Context(), a.DB, query.EventFilter{
			Account: account, After: found.Upto, Types: filter.Types, Vehicles: filter.Vehicles, Fences: filter.Fences,
		})
		if err != nil {
			return err
		}
		answer.Pagination.Total += left
	}
	// The objects are in the wanted units already.
	body, err := rest.EncodeJSON(answer, false)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err = w.Write(body)
	return err
}

// eventsFrom returns behind which sequence the caller wants to read on, and the number of the page.
func (a *API) eventsFrom(r *http.Request, account fleet.AccountID) (after uint64, page int, err error) {
	bad := rest.InvalidParam("cursor", "is not a next_cursor of this list")
	if text := rest.TextParam(r, "cursor", ""); text != "" {
		c, err := rest.DecodeCursor(text)
		if err != nil || c.List != eventsList {
			return 0, 0, bad
		}
		if after, err = strconv.ParseUint(c.After[0], 10, 63); err != nil {
			return 0, 0, bad
		}
		return after, c.Page, nil
	}
	ring := a.Stream.Begins() // before the table is asked, so that nothing falls between
	kept := fleet.MillisOf(a.Now().Add(time.Hour - query.EventRetention))
	since := max(rest.TimeParam(r, "from", kept), kept)
	after, ok, err := query.EventsSince(r.Context(), a.DB, account, since)
	if !ok {
		after = max(after, ring)
	}
	return after, 1, err
}

// awaitEvents reads a page, and waits for something to be on it if the caller wants that.
func (a *API) awaitEvents(r *http.Request, account fleet.AccountID, after uint64, filter *stream.Filter,
	limit int) (stream.Page, error) {
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(rest.IntParam(r, "wait_s", 0))*time.Second)
	defer cancel()
	waits := rest.IntParam(r, "wait_s", 0) > 0
	var sub *stream.Subscription
	if waits {
		var err error
		if sub, err = a.subscribe(r, account, *filter); err != nil {
			return stream.Page{}, err
		}
		defer sub.Close()
	}
	for {
		page, err := a.Stream.Read(r.Context(), account, after, filter, limit)
		if err != nil || len(page.Items) > 0 {
			return page, err
		}
		after = page.Upto
		if page.More {
			continue
		}
		if !waits {
			return page, nil
		}
		var again <-chan time.Time
		if page.Behind {
			again = time.After(behindPause)
		}
		select {
		case <-again:
		case <-sub.Woken():
		case <-sub.Ended():
			return page, nil
		case <-ctx.Done():
			return page, nil
		}
	}
}
