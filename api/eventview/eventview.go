// Package eventview shows events as everybody is told of them: the feed, the stream and webhooks have one envelope,
// which is made here.
package eventview

import (
	"encoding/json"
	"fmt"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/desk/event"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/units"
)

// Version is that of the envelope and of the objects in it.
const Version = "v1"

// Event is something that happened, as the feed, the stream and webhooks show it.
type Event struct {
	ID         string         `json:"id" doc:"The same whenever the event is told: after a crash or a restore one may come again, under another sequence; take it once." example:"evt_1234"`
	Type       string         `json:"type" example:"vehicle.trip.ended"`
	Timestamp  record.Instant `json:"timestamp" doc:"When it happened, by the clock of the fix."`
	APIVersion string         `json:"api_version" example:"v1"`
	AccountID  string         `json:"account_id" doc:"Whose event it is." example:"acc_1234"`
	VehicleID  *string        `json:"vehicle_id" nullable:"true" example:"veh_1234"`
	Sequence   uint64         `json:"sequence" doc:"Place among all events; it only grows, with gaps. 0 of a position on the stream."`
	Late       bool           `json:"late" doc:"Found in data that came late: recorded, and no news."`
	Data       Data           `json:"data"`
}

// Data holds what an event is about.
type Data struct {
	Object             map[string]any `json:"object" doc:"The trip, stop, charging session, visit, driving event or alert at that revision, as its own route shows it, but for what is looked up there (its driver, local_on, updated_at, an acknowledgement). Of an acknowledgement an alert_ack, whose id is the alert's; of a driver's assignment a trip_driver, which has the trip's id, and the driver's if that is a customer, but no name. Of a drift of the books what was compared, what was expected and found, and the command that repairs it. Of a record what is stored, without what may be about a person; of a customer the id alone. Thin: id, object, revision and url, the path at which it is read."`
	PreviousAttributes map[string]any `json:"previous_attributes,omitempty" doc:"Of a record that was changed: what those of its members were before that are others now; null if there was none."`
}

// Form is how an event is to be shown.
type Form struct {
	Metric bool // in kilometres and litres
	Thin   bool // of the object only what it is and where it is read
}

// Renderer shows events. Rooms fill it when they register; from then on it is only read, and anybody may share it.
type Renderer struct {
	derived map[fleet.Kind]View
	paths   map[fleet.Kind]string
}

// View shows what events tell of a kind of things that are derived.
type View struct {
	Of   any // zero value of what Show returns
	Show func(e *fleet.Event, metric bool) (any, error)
}

// New makes a renderer that shows events of records as they are stored.
func New() *Renderer {
	return &Renderer{derived: map[fleet.Kind]View{}, paths: map[fleet.Kind]string{}}
}

// Derived says how a derived kind is shown.
func (r *Renderer) Derived(kind fleet.Kind, v View) { r.derived[kind] = v }

// At says at what, followed by its id, a thing of a kind is read: "/v1/vehicles/".
func (r *Renderer) At(kind fleet.Kind, path string) { r.paths[kind] = path }

// LookedUp are the members of a derived thing's view that an event does not know.
var LookedUp = []string{"local_on", "updated_at", "driver", "driver_id", "acknowledged_at", "acknowledged_by",
	"acknowledged_note", "acknowledged"}

// Render shows an event that has a place among all events, 0 for one that is not kept. Quantities in the object are
// rounded and in the wanted units already: the result is encoded as it is.
func (r *Renderer) Render(e *fleet.Event, sequence uint64, as Form) (Event, error) {
	shown := Event{
		ID: fleet.FormatID(fleet.EventPrefix, e.ID), Type: e.Type, Timestamp: record.InstantOf(e.At.Time()),
		APIVersion: Version, AccountID: e.Account.String(), Sequence: sequence, Late: e.Late,
	}
	if e.Vehicle != 0 {
		id := e.Vehicle.String()
		shown.VehicleID = &id
	}
	members, err := r.object(e, as.Metric)
	if err != nil {
		return shown, fmt.Errorf("show %s of event %d: %w", e.Kind, e.ID, err)
	}
	if as.Thin {
		shown.Data.Object, err = r.thin(e, members)
		return shown, err
	}
	if before, ok := members[event.PreviousAttributes]; ok {
		if err := json.Unmarshal(before, &shown.Data.PreviousAttributes); err != nil {
			return shown, fmt.Errorf("show what was before event %d: %w", e.ID, err)
		}
		delete(members, event.PreviousAttributes)
	}
	shown.Data.Object = make(map[string]any, len(members))
	for name, value := range members {
		shown.Data.Object[name] = value
	}
	return shown, nil
}

// thin says of an object what it is and where it is read. A place is read by its vehicle.
func (r *Renderer) thin(e *fleet.Event, members map[string]json.RawMessage) (map[string]any, error) {
	id := e.Vehicle.String()
	thin := map[string]any{"object": e.Kind, "url": nil}
	if e.Kind != fleet.KindPosition {
		if err := json.Unmarshal(members["id"], &id); err != nil {
			return nil, fmt.Errorf("read the id of %s of event %d: %w", e.Kind, e.ID, err)
		}
		thin["object"] = members["object"]
	}
	thin["id"] = id
	if revision, ok := members["revision"]; ok {
		thin["revision"] = revision
	}
	if path := r.paths[e.Kind]; path != "" {
		thin["url"] = path + id
	}
	return thin, nil
}

// JSON is Render as one line, with its end.
func (r *Renderer) JSON(e *fleet.Event, sequence uint64, as Form) ([]byte, error) {
	shown, err := r.Render(e, sequence, as)
	if err != nil {
		return nil, err
	}
	return units.Encode(shown, false)
}

// object shows what an event is about, as the routes of its kind show it.
func (r *Renderer) object(e *fleet.Event, metric bool) (map[string]json.RawMessage, error) {
	var shown any = e.Body // of a record
	view, isDerived := r.derived[e.Kind]
	if isDerived {
		var err error
		if shown, err = view.Show(e, metric); err != nil {
			return nil, err
		}
	}
	text, err := units.Encode(shown, metric)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	for _, name := range LookedUp {
		delete(members, name)
	}
	return members, nil
}
