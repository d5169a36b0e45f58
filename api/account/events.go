package account

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/stream"
	"github.com/motorpool/fleet/query"
)

// Event is something that happened, as the feed, the stream and webhooks show it.
type Event struct {
	ID         string         `json:"id" doc:"The same whenever the event is told: after a crash or a restore one may come again, under another sequence; take it once." example:"evt_1234"`
	Type       string         `json:"type" example:"vehicle.trip.ended"`
	Timestamp  record.Instant `json:"timestamp" doc:"When it happened, by the clock of the fix."`
	APIVersion string         `json:"api_version" example:"v1"`
	VehicleID  *string        `json:"vehicle_id" nullable:"true" example:"veh_1234"`
	Sequence   uint64         `json:"sequence" doc:"Place among all events; it only grows, with gaps."`
	Late       bool           `json:"late" doc:"Found in data that came late: recorded, and no news."`
	Data       EventData      `json:"data"`
}

// EventData holds what an event is about.
type EventData struct {
	Object map[string]any `json:"object" doc:"The trip, stop, charging session, visit, driving event or alert at that revision, as its own route shows it, but for what is looked up there (its driver, local_on, updated_at, an acknowledgement). Of an acknowledgement an alert_ack, whose id is the alert's; of a driver's assignment a trip_driver, which has the trip's id, and the driver's if that is a customer, but no name. Of a drift of the books what was compared, what was expected and found, and the command that repairs it. Of a record what is stored, without what may be about a person; of a customer the id alone."`
}

// EventPage is a page of the feed of events.
type EventPage struct {
	Data       []Event         `json:"data" nullable:"false"`
	Pagination EventPagination `json:"pagination"`
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
	Type     string `json:"type" example:"alert.raised"`
	Category string `json:"category" enum:"bookings,maintenance,fleet,customers,finance,location,alerts"`
	Scope    string `json:"scope" doc:"That a key needs to be told of it." example:"telematics:read"`
	Stream   bool   `json:"stream_only" doc:"Only on the stream, and not kept."`
}

// EventPosition is the type of positions on the stream.
const EventPosition = "vehicle.location.updated"

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
}

// EventsOf are all types of events, the one of positions first, and the scopes that they need: those of records the
// scope of their kind, and what is derived telematics:read.
func EventsOf(kinds map[string]rest.Kind) (all []EventType) {
	of := map[string]auth.Scope{}
	for _, k := range kinds {
		of[k.Log] = cmp.Or(k.EventScope, k.Read)
	}
	scopes := map[string]auth.Scope{fleet.EventBooksDrift: auth.FinanceRead}
	for _, r := range fleet.EventsOfRecords {
		for _, t := range r.Types {
			scopes[t] = of[r.Kind]
		}
	}
	for _, t := range append([]string{EventPosition}, fleet.EventTypes...) {
		all = append(all, EventType{Type: t, Category: fleet.EventCategory(t),
			Scope: string(cmp.Or(scopes[t], auth.TelematicsRead)), Stream: t == EventPosition})
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
			prefix, wide := strings.CutSuffix(word, "*")
			if t.Type == word || t.Category == word ||
				wide && strings.HasSuffix(prefix, ".") && strings.HasPrefix(t.Type, prefix) {
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
		return nil, fleet.NewError(fleet.CodeForbidden, "The API key lacks the scope "+string(lacking)+
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

func (a *API) listEvents(w http.ResponseWriter, r *http.Request) error {
	filter, err := a.eventFilter(r)
	if err != nil {
		return err
	}
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
	answer := EventPage{Data: []Event{}, Pagination: EventPagination{
		Page: page, PerPage: limit, Total: len(found.Items), NextCursor: rest.EncodeCursor(
			rest.Cursor{After: []string{strconv.FormatUint(found.Upto, 10)}, Page: page + 1, List: eventsList}),
	}}
	for _, item := range found.Items {
		view, err := a.eventView(item, rest.MetricUnits(r))
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

// eventView shows an event, with its object in the wanted units.
func (a *API) eventView(i *stream.Item, metric bool) (Event, error) {
	e := &i.Event
	view := Event{
		ID: fleet.FormatID(fleet.EventPrefix, e.ID), Type: e.Type, Timestamp: rest.Instant(e.At), APIVersion: "v1",
		Sequence: i.Sequence, Late: e.Late,
	}
	if e.Vehicle != 0 {
		view.VehicleID = rest.TextOrNull(e.Vehicle.String())
	}
	var err error
	view.Data.Object, err = a.eventObject(e, metric)
	return view, err
}

// lookedUp are the members of a derived thing's view that an event does not know.
var lookedUp = []string{"local_on", "updated_at", "driver", "driver_id", "acknowledged_at", "acknowledged_by",
	"acknowledged_note", "acknowledged"}

// eventObject shows what an event is about, as the routes of its kind show it.
func (a *API) eventObject(e *fleet.Event, metric bool) (map[string]any, error) {
	tell := a.EventViews[e.Kind]
	if tell == nil {
		tell = func(*fleet.Event, bool) (any, error) { return e.Body, nil } // a record
	}
	shown, err := tell(e, metric)
	if err != nil {
		return nil, fmt.Errorf("show %s of event %d: %w", e.Kind, e.ID, err)
	}
	text, err := rest.EncodeJSON(shown, metric)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	object := make(map[string]any, len(members))
	for name, value := range members {
		if !slices.Contains(lookedUp, name) {
			object[name] = value
		}
	}
	return object, nil
}
