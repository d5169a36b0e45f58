package record

import "github.com/motorpool/fleet"

// WebhookEndpointFields are what callers write of a webhook endpoint. Stored, the values of its headers are sealed.
type WebhookEndpointFields struct {
	URL         string            `json:"url" minLength:"1" maxLength:"2048" doc:"Where events are sent, by POST: https://, a host in public, no user, no fragment." example:"https://example.com/hooks"`
	Description string            `json:"description,omitempty" maxLength:"200" doc:"For people." example:"Accounting"`
	Types       []string          `json:"types,omitempty" maxItems:"200" nullable:"false" doc:"Only these: types, prefix.* or categories, as in GET /v1/event_types. Unless given all that its scopes let it hear. Places (vehicle.location.updated) are told only where a type says so by itself: vehicle.location.updated or vehicle.location.*." example:"[\"booking.*\",\"maintenance\"]"`
	VehicleIDs  []string          `json:"vehicle_ids,omitempty" maxItems:"1000" nullable:"false" doc:"Only events of these vehicles, or of those with one of the tags." example:"[\"veh_1234\"]"`
	Tags        []string          `json:"tags,omitempty" maxItems:"50" nullable:"false" doc:"Only events of vehicles with one of these tags, or of vehicle_ids." example:"[\"vans\"]"`
	GeofenceIDs []string          `json:"geofence_ids,omitempty" maxItems:"1000" nullable:"false" doc:"Only events about these geofences." example:"[\"geo_1234\"]"`
	Payload     string            `json:"payload,omitempty" enum:"full,thin" doc:"full tells the whole object, thin its id, type and revision alone; full unless given."`
	APIVersion  string            `json:"api_version,omitempty" enum:"v1" doc:"The version of the interface whose form events have; the newest unless given."`
	Headers     map[string]string `json:"headers,omitempty" maxProperties:"20" doc:"Sent with each event, such as a credential of the receiver. Their values are never shown again: ******** stands for each, and sent back it leaves the value as it is." example:"{\"X-Token\":\"secret\"}"`
	TimeoutS    int               `json:"timeout_s,omitempty" minimum:"5" maximum:"30" doc:"How long an answer may take, in seconds; 15 unless given."`
	MaxInFlight int               `json:"max_in_flight,omitempty" minimum:"1" maximum:"50" doc:"How many events are under way at once; 10 unless given."`
	RatePerS    float64           `json:"rate_per_s,omitempty" minimum:"0.01" maximum:"1000" doc:"How many are sent in a second at most; as many as there are unless given."`
	Location    *WebhookLocation  `json:"location,omitempty" doc:"How often places of a vehicle are told (vehicle.location.updated), to an endpoint whose types name them: once in 10 seconds, and when it has moved by 100 metres, unless this is given."`
}

// WebhookLocation says how often the places of one vehicle are told.
type WebhookLocation struct {
	MinIntervalS float64 `json:"min_interval_s,omitempty" minimum:"1" maximum:"86400" doc:"Least time between two places of a vehicle, in seconds; 10 unless given."`
	MinDistanceM float64 `json:"min_distance_m,omitempty" minimum:"0" maximum:"1000000" doc:"It is also told when the vehicle has moved so far, in metres; unless given only time counts."`
}

// WebhookEndpoint is a webhook endpoint as it is stored.
type WebhookEndpoint struct {
	WebhookEndpointFields

	Status         string          `json:"status"`                    // enabled, paused or disabled
	EnabledAt      Instant         `json:"enabled_at"`                // when it was last; failures before count no more
	CreatedBy      string          `json:"created_by,omitempty"`      // who made it, as its history says
	DisabledBy     string          `json:"disabled_by,omitempty"`     // auto: it only failed; gone: it answered 410
	DisabledReason string          `json:"disabled_reason,omitempty"` // in words
	Signature      string          `json:"signature"`                 // of the newest secret: v1 or v1a
	Secrets        []WebhookSecret `json:"secrets"`                   // those that sign, the newest first
	Scopes         []string        `json:"scopes"`                    // of who said its types: it hears of nothing else
}

// WebhookSecret is a secret that messages of an endpoint are signed with.
type WebhookSecret struct {
	ID        string  `json:"id"`
	CreatedAt Instant `json:"created_at"`
	ExpiresAt Instant `json:"expires_at"` // it signs until then; zero is for good
	Sealed    string  `json:"sealed"`
	PublicKey string  `json:"public_key,omitempty"` // of v1a
}

// States of webhook endpoints.
const (
	WebhookEnabled  = "enabled"
	WebhookPaused   = "paused"
	WebhookDisabled = "disabled"
)

// WebhookEndpoints describes the kind.
var WebhookEndpoints = Kind[WebhookEndpoint]{Name: "webhook_endpoint", Prefix: fleet.WebhookEndpointPrefix,
	Hidden: []string{"headers", "secrets"}}
