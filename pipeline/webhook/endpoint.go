package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/motorpool/fleet"
)

// Endpoint is where an account wants to be told of events, as its record says. It is shared and must not be changed.
type Endpoint struct {
	Account  fleet.AccountID
	ID       uint64
	Revision uint64 // of its record
	Created  time.Time
	Enabled  bool      // neither paused, nor off, nor archived
	Since    time.Time // it is; zero if that is not known

	URL    string
	Types  []string        // exact ones, prefix.* or categories; all if there is none
	Scope  fleet.Scope     // whose events; of all vehicles, and of none, if it names nobody
	Fences []fleet.FenceID // only events about these, if there are any
	Scopes []string        // of who made it: it hears of nothing else

	Thin       bool   // of objects only what they are and where they are read
	APIVersion string // whose form its events have
	Headers    []Header
	Secrets    []Secret // that sign, those that have ended among them

	Timeout     time.Duration // for an answer
	MaxInFlight int           // requests at once
	Rate        float64       // requests in a second; 0: any

	PlaceEvery time.Duration // least time between two places of a vehicle
	PlaceMoved float64       // m: a vehicle that moved so far is told of before; 0: none is
}

// AsksForPlaces says whether an endpoint is told where vehicles are now and then: only where its types say so by
// themselves, vehicle.location.updated or vehicle.location.*, as of nothing else there is so much.
func (e *Endpoint) AsksForPlaces() bool { return fleet.WantsType(e.Types, placeType) }

// Header is sent with each message; its value is a secret.
type Header struct{ Name, Sealed string }

// Secret is one that messages are signed with until it ends.
type Secret struct {
	ID     string
	Ends   time.Time // zero: never
	Sealed string
}

// Endpoints is what is known of all endpoints at the moment. It is safe for concurrent use.
type Endpoints interface {
	// Of returns those of an account, archived ones left out.
	Of(account fleet.AccountID) []*Endpoint
	// Get returns one, and false if it is not known or archived.
	Get(account fleet.AccountID, id uint64) (*Endpoint, bool)
	// All returns those of all accounts, also archived ones, of which no more than who they are is known.
	All() []*Endpoint
	// RefreshNow returns when all that was written before the call is known.
	RefreshNow(ctx context.Context) error
}

// endpointBody is an endpoint's record.
type endpointBody struct {
	URL         string            `json:"url"`
	Status      string            `json:"status"`
	EnabledAt   time.Time         `json:"enabled_at"`
	Types       []string          `json:"types"`
	VehicleIDs  []string          `json:"vehicle_ids"`
	Tags        []string          `json:"tags"`
	GeofenceIDs []string          `json:"geofence_ids"`
	Payload     string            `json:"payload"`
	APIVersion  string            `json:"api_version"`
	Headers     map[string]string `json:"headers"`
	TimeoutS    int               `json:"timeout_s"`
	MaxInFlight int               `json:"max_in_flight"`
	RatePerS    float64           `json:"rate_per_s"`
	Location    *struct {
		MinIntervalS float64 `json:"min_interval_s"`
		MinDistanceM float64 `json:"min_distance_m"`
	} `json:"location"`
	Secrets []struct {
		ID        string    `json:"id"`
		ExpiresAt time.Time `json:"expires_at"`
		Sealed    string    `json:"sealed"`
	} `json:"secrets"`
	Scopes []string `json:"scopes"`
}

// What holds for an endpoint that says nothing of it, and what none may exceed.
const (
	defaultTimeout  = 15 * time.Second
	longestTimeout  = 30 * time.Second
	defaultInFlight = 10
	mostInFlight    = 50
	// How often places are told: once in so long, and where nothing is said of it also when a vehicle has moved so far,
	// in metres.
	defaultPlaceEvery = 10 * time.Second
	defaultPlaceMoved = 100
)

// ParseEndpoint reads the record of an endpoint.
func ParseEndpoint(account fleet.AccountID, id, revision uint64, body []byte) (*Endpoint, error) {
	var b endpointBody
	if err := json.Unmarshal(body, &b); err != nil {
		return nil, fmt.Errorf("read endpoint %s: %w", Name(id), err)
	}
	e := &Endpoint{
		Account: account, ID: id, Revision: revision, Enabled: b.Status == "enabled", Since: b.EnabledAt,
		URL: b.URL, Types: b.Types,
		Scope: fleet.Scope{Tags: b.Tags}, Scopes: b.Scopes, Thin: b.Payload == "thin", APIVersion: b.APIVersion,
		Timeout: defaultTimeout, MaxInFlight: defaultInFlight, Rate: b.RatePerS,
		PlaceEvery: defaultPlaceEvery, PlaceMoved: defaultPlaceMoved,
	}
	if at := b.Location; at != nil {
		e.PlaceMoved = at.MinDistanceM
		if at.MinIntervalS > 0 {
			e.PlaceEvery = time.Duration(at.MinIntervalS * float64(time.Second))
		}
	}
	if b.TimeoutS > 0 {
		e.Timeout = min(time.Duration(b.TimeoutS)*time.Second, longestTimeout)
	}
	if b.MaxInFlight > 0 {
		e.MaxInFlight = min(b.MaxInFlight, mostInFlight)
	}
	for _, text := range b.VehicleIDs {
		vehicle, err := fleet.ParseID(fleet.VehiclePrefix, text)
		if err != nil {
			return nil, fmt.Errorf("read endpoint %s: %w", Name(id), err)
		}
		e.Scope.Vehicles = append(e.Scope.Vehicles, fleet.VehicleID(vehicle))
	}
	for _, text := range b.GeofenceIDs {
		fence, err := fleet.ParseID(fleet.FencePrefix, text)
		if err != nil {
			return nil, fmt.Errorf("read endpoint %s: %w", Name(id), err)
		}
		e.Fences = append(e.Fences, fleet.FenceID(fence))
	}
	for name, sealed := range b.Headers {
		e.Headers = append(e.Headers, Header{name, sealed})
	}
	slices.SortFunc(e.Headers, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
	for _, s := range b.Secrets {
		e.Secrets = append(e.Secrets, Secret{s.ID, s.ExpiresAt, s.Sealed})
	}
	return e, nil
}

// Name is the written form of an endpoint's identity.
func Name(id uint64) string { return fleet.FormatID("whe_", id) }

// Matcher says which endpoints are told of an event.
type Matcher struct {
	// Tags returns those of a vehicle now.
	Tags func(account fleet.AccountID, vehicle fleet.VehicleID) []string
	// MayHear says whether scopes let their holder be told of a type of events.
	MayHear func(scopes []string, eventType string) bool
}

// Match says whether an endpoint wants to be told of an event of its account and may be. None is told of itself.
func (m *Matcher) Match(e *Endpoint, event *fleet.Event) bool {
	if event.Account != e.Account || event.Kind == ownKind && event.Object == e.ID ||
		!fleet.WantsType(e.Types, event.Type) || !m.MayHear(e.Scopes, event.Type) {
		return false
	}
	return m.about(e, event.Vehicle) && (len(e.Fences) == 0 || slices.Contains(e.Fences, fenceOf(event)))
}

// about says whether an endpoint wants to be told of a vehicle; 0 is none.
func (m *Matcher) about(e *Endpoint, vehicle fleet.VehicleID) bool {
	if len(e.Scope.Vehicles)+len(e.Scope.Tags) == 0 {
		return true
	}
	if vehicle == 0 {
		return false
	}
	var tags []string
	if len(e.Scope.Tags) > 0 {
		tags = m.Tags(e.Account, vehicle)
	}
	return e.Scope.Holds(vehicle, tags)
}

// Places returns how often some endpoints of an account want to be told where a vehicle is: as often as the one that
// wants it most, once in so long, or when it has moved so far (m; 0: only time counts). None does if wanted is false.
func (m *Matcher) Places(endpoints []*Endpoint, vehicle fleet.VehicleID) (every time.Duration, moved float64,
	wanted bool) {
	for _, e := range endpoints {
		if !e.Enabled || !e.AsksForPlaces() || len(e.Fences) > 0 || !m.MayHear(e.Scopes, placeType) || !m.about(e, vehicle) {
			continue
		}
		if !wanted || e.PlaceEvery < every {
			every = e.PlaceEvery
		}
		if e.PlaceMoved > 0 && (moved == 0 || e.PlaceMoved < moved) {
			moved = e.PlaceMoved
		}
		wanted = true
	}
	return every, moved, wanted
}

// ownKind is that of the records of endpoints.
const ownKind = "webhook_endpoint"

// fenceOf is the geofence that an event is about, or 0.
func fenceOf(event *fleet.Event) fleet.FenceID {
	var about struct {
		Fence fleet.FenceID `json:"geofence,string"`
	}
	if event.Kind != fleet.KindVisit && event.Kind != fleet.KindAlert || json.Unmarshal(event.Body, &about) != nil {
		return 0
	}
	return about.Fence
}
