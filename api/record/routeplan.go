package record

import (
	"strconv"
	"time"

	"github.com/motorpool/fleet"
)

// RoutePlanFields are what callers write of a route plan.
type RoutePlanFields struct {
	Name        string `json:"name" minLength:"1" maxLength:"100" example:"Tuesday, north"`
	Description string `json:"description,omitempty" maxLength:"500"`
	VehicleID   string `json:"vehicle_id" doc:"The vehicle that drives it." example:"veh_1234"`

	StartsAt Instant         `json:"from" doc:"Since when the vehicle's way counts; since when the plan was written, if that is later."`
	EndsAt   Instant         `json:"until" doc:"Until when it counts; at most 31 days later."`
	Stops    []RoutePlanStop `json:"stops" minItems:"1" maxItems:"200" nullable:"false" doc:"In the order in which they are to be reached."`

	Corridor           *Geometry `json:"corridor,omitempty" doc:"Where the vehicle is to stay; any geometry of a geofence."`
	CorridorGeofenceID string    `json:"corridor_geofence_id,omitempty" doc:"Or a geofence in which it is to stay." example:"geo_1234"`

	ExternalRefs []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata     map[string]string `json:"metadata,omitempty" maxProperties:"50" doc:"Yours to use; at most 50 members."`
}

// RoutePlanStop is a stop of a route plan: a geofence, or a place with a radius.
type RoutePlanStop struct {
	ID          string   `json:"id,omitempty" maxLength:"64" doc:"Within the plan; a number unless given. A stop that keeps it is the same stop when the plan is changed." example:"1"`
	Name        string   `json:"name,omitempty" maxLength:"100" example:"Alice's bakery"`
	GeofenceID  string   `json:"geofence_id,omitempty" doc:"Being inside is being there." example:"geo_1234"`
	Lat         *float64 `json:"lat,omitempty" minimum:"-90" maximum:"90" doc:"Degrees WGS 84. With a geofence it is the middle of that, as of when the plan was written."`
	Lng         *float64 `json:"lng,omitempty" minimum:"-180" maximum:"180"`
	RadiusM     *float64 `json:"radius_m,omitempty" minimum:"10" maximum:"50000" doc:"Being so near is being there; 100 unless given. Not with a geofence." example:"100"`
	ArriveFrom  *Instant `json:"arrive_from,omitempty" doc:"A stop that is not the next one cannot be reached before; times of arrival further on reckon with waiting until then."`
	ArriveUntil *Instant `json:"arrive_until,omitempty" doc:"Without an arrival by then the stop is missed: it was not reached in time."`
	StayS       int      `json:"stay_s,omitempty" minimum:"0" maximum:"604800" doc:"How long the vehicle is to stay, for the times of arrival further on." example:"600"`
}

// RoutePlan is a route plan as it is stored.
type RoutePlan struct{ RoutePlanFields }

// RoutePlans describes the kind; an external reference is unique in an account.
var RoutePlans = Kind[RoutePlan]{
	Name: "route_plan", Prefix: fleet.PlanPrefix,
	Claims: func(p *RoutePlan) []Claim { return refClaims("route_plan", p.ExternalRefs) },
}

const (
	defaultRadius = 100.0 // m
	longestPlan   = 31 * 24 * time.Hour
)

// Complete fills in what the caller left out: names of stops, and their radius.
func (p *RoutePlanFields) Complete() {
	taken := map[string]bool{}
	for i := range p.Stops {
		taken[p.Stops[i].ID] = true
	}
	for i := range p.Stops {
		s := &p.Stops[i]
		for n := i + 1; s.ID == ""; n++ {
			if name := strconv.Itoa(n); !taken[name] {
				s.ID, taken[name] = name, true
			}
		}
		if s.GeofenceID == "" && s.RadiusM == nil {
			radius := defaultRadius
			s.RadiusM = &radius
		}
	}
	if p.Corridor != nil {
		p.Corridor.Tidy()
	}
}

// Faults says what of a plan is not acceptable beyond what its schema says; its geometry is judged by query/area.
func (p *RoutePlanFields) Faults() []fleet.FieldError {
	var faults []fleet.FieldError
	add := func(pointer, code, detail string) {
		faults = append(faults, fleet.FieldError{Pointer: pointer, Code: code, Detail: detail})
	}
	switch length := p.EndsAt.Sub(p.StartsAt.Time); {
	case p.StartsAt.Year() < 2000 || p.StartsAt.Year() > 2200:
		add("/from", "invalid", "must lie between the years 2000 and 2200")
	case length <= 0:
		add("/until", "invalid", "must be after from")
	case length > longestPlan:
		add("/until", "invalid", "must be at most 31 days after from")
	}
	if p.Corridor != nil && p.CorridorGeofenceID != "" {
		add("/corridor_geofence_id", "invalid", "cannot be given beside corridor")
	}
	ids := map[string]bool{}
	for i := range p.Stops {
		s, at := &p.Stops[i], "/stops/"+strconv.Itoa(i)
		if ids[s.ID] {
			add(at+"/id", "invalid", "is that of another stop")
		}
		ids[s.ID] = true
		switch {
		case s.GeofenceID != "" && s.RadiusM != nil:
			add(at+"/radius_m", "invalid", "cannot be given with a geofence")
		case s.GeofenceID == "" && (s.Lat == nil || s.Lng == nil):
			add(at, "required", "needs a geofence_id, or lat and lng")
		}
		if s.ArriveFrom != nil && s.ArriveUntil != nil && !s.ArriveFrom.Before(s.ArriveUntil.Time) {
			add(at+"/arrive_until", "invalid", "must be after arrive_from")
		}
	}
	return faults
}
