package record

import (
	"reflect"
	"strconv"
	"time"

	"github.com/motorpool/fleet"
)

// GeofenceFields are what callers write of a geofence.
type GeofenceFields struct {
	Name          string            `json:"name" minLength:"1" maxLength:"100" example:"Airport lot"`
	Description   string            `json:"description,omitempty" maxLength:"500"`
	Geometry      Geometry          `json:"geometry"`
	Color         string            `json:"color,omitempty" pattern:"^#[0-9a-fA-F]{6}$" doc:"For maps." example:"#2f80ed"`
	Scope         *Scope            `json:"scope,omitempty" doc:"The vehicles that it is about; all of them unless given."`
	Schedule      *Schedule         `json:"schedule,omitempty" doc:"The times at which it exists; always unless given."`
	DwellS        int               `json:"dwell_s,omitempty" minimum:"0" maximum:"2592000" doc:"Being inside for so many seconds is a dwell; 0 for none." example:"900"`
	SpeedLimitMph *float64          `json:"speed_limit_mph,omitempty" minimum:"1" maximum:"300" doc:"Speed limit inside." example:"25"`
	ExitMarginM   *float64          `json:"exit_margin_m,omitempty" minimum:"1" maximum:"10000" doc:"How far outside a fix must be to count as an exit; chosen by its accuracy unless given." example:"30"`
	ConfirmFixes  int               `json:"confirm_fixes,omitempty" minimum:"0" maximum:"20" doc:"How many fixes must agree before a move counts; 0 for the default." example:"2"`
	AppliesFrom   *Instant          `json:"applies_from,omitempty" doc:"Since when what this revision says holds, if that is before it was written. Visits before then are made by its backfill."`
	ExternalRefs  []ExternalRef     `json:"external_refs,omitempty" maxItems:"20" nullable:"false"`
	Metadata      map[string]string `json:"metadata,omitempty" maxProperties:"50" doc:"Yours to use; at most 50 members."`
}

// Geometry is a shape: a Polygon or MultiPolygon of GeoJSON (RFC 7946), or one of two that GeoJSON lacks. Positions are
// [longitude, latitude] in degrees WGS 84.
type Geometry struct {
	Type        string    `json:"type" enum:"Polygon,MultiPolygon,Circle,Corridor" example:"Circle"`
	Coordinates any       `json:"coordinates,omitempty" doc:"Of a Polygon or MultiPolygon its rings as in GeoJSON, of a Corridor the positions of its line."`
	Center      []float64 `json:"center,omitempty" minItems:"2" maxItems:"2" nullable:"false" doc:"Of a Circle: [longitude, latitude]." example:"[-97.6664,30.1945]"`
	RadiusM     *float64  `json:"radius_m,omitempty" doc:"Of a Circle, in metres." example:"500"`
	WidthM      *float64  `json:"width_m,omitempty" doc:"Of a Corridor, in metres: half of it to each side of the line." example:"50"`
}

// Tidy closes rings, and drops the members that the type does not have. A merge patch that gives another type leaves
// those of the old one behind.
func (g *Geometry) Tidy() {
	if g.Type == "Circle" {
		g.Coordinates, g.WidthM = nil, nil
		return
	}
	g.Center, g.RadiusM = nil, nil
	switch g.Type {
	case "Polygon":
		closeRings(g.Coordinates)
	case "MultiPolygon":
		polygons, _ := g.Coordinates.([]any)
		for _, polygon := range polygons {
			closeRings(polygon)
		}
	}
	if g.Type != "Corridor" {
		g.WidthM = nil
	}
}

// closeRings gives each ring of a polygon its first position as its last, as GeoJSON wants it.
func closeRings(polygon any) {
	rings, _ := polygon.([]any)
	for i := range rings {
		ring, _ := rings[i].([]any)
		if n := len(ring); n > 0 && !reflect.DeepEqual(ring[0], ring[n-1]) {
			rings[i] = append(ring, ring[0])
		}
	}
}

// Bounds is a box in degrees; West is greater than East if it crosses the antimeridian.
type Bounds struct {
	South float64 `json:"south"`
	West  float64 `json:"west"`
	North float64 `json:"north"`
	East  float64 `json:"east"`
}

// Scope names the vehicles that something is about: those of VehicleIDs and those that carry one of Tags.
type Scope struct {
	VehicleIDs []string `json:"vehicle_ids,omitempty" maxItems:"1000" nullable:"false" example:"[\"veh_1234\"]"`
	Tags       []string `json:"tags,omitempty" maxItems:"50" nullable:"false" doc:"Vehicles that carry one of them are meant too." example:"[\"vans\"]"`
}

// Schedule is the times of the week at which something holds.
type Schedule struct {
	Timezone string   `json:"timezone,omitempty" maxLength:"64" doc:"IANA time zone; the account's unless given." example:"America/Chicago"`
	Windows  []Window `json:"windows" minItems:"1" maxItems:"50" nullable:"false"`
}

// Window is a part of some days.
type Window struct {
	Days []string `json:"days,omitempty" enum:"mon,tue,wed,thu,fri,sat,sun" maxItems:"7" nullable:"false" doc:"The days on which it begins; every day unless given."`
	From string   `json:"from" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" doc:"Local time." example:"22:00"`
	To   string   `json:"until" pattern:"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$" doc:"Local time; on the next day if it is not after from." example:"06:00"`
}

// Geofence is a geofence as it is stored: what callers write, and what was worked out of it.
type Geofence struct {
	GeofenceFields
	Bounds   *Bounds `json:"bounds,omitempty"`
	AreaM2   float64 `json:"area_m2,omitempty"`
	Vertices int     `json:"vertices,omitempty"`
	// Backfill is the job that last made AppliesFrom count anew. Policies tell by it whether a revision that repeats an
	// older AppliesFrom means it, or merely carries it along.
	Backfill string `json:"backfill_job_id,omitempty"`
}

// Geofences describes the kind; an external reference is unique in an account.
var Geofences = Kind[Geofence]{
	Name: "geofence", Prefix: fleet.FencePrefix,
	Claims: func(g *Geofence) []Claim { return refClaims("geofence", g.ExternalRefs) },
}

// Faults says what of a geofence is not acceptable beyond what its schema says; its geometry is judged by query/area.
func (g *GeofenceFields) Faults(now time.Time) []fleet.FieldError {
	faults := append(g.Scope.faults(), g.Schedule.faults()...)
	if g.AppliesFrom != nil && g.AppliesFrom.After(now) {
		faults = append(faults, fleet.FieldError{Pointer: "/applies_from", Code: "invalid", Detail: "must not lie ahead"})
	}
	return faults
}

func (s *Scope) faults() []fleet.FieldError {
	if s == nil {
		return nil
	}
	var faults []fleet.FieldError
	for i, text := range s.VehicleIDs {
		if _, err := fleet.ParseID(fleet.VehiclePrefix, text); err != nil {
			faults = append(faults, fleet.FieldError{Pointer: "/scope/vehicle_ids/" + strconv.Itoa(i), Code: "not_found",
				Detail: "is not the id of a vehicle"})
		}
	}
	for i, tag := range s.Tags {
		if tag == "" {
			faults = append(faults,
				fleet.FieldError{Pointer: "/scope/tags/" + strconv.Itoa(i), Code: "invalid", Detail: "must not be empty"})
		}
	}
	return faults
}

func (s *Schedule) faults() []fleet.FieldError {
	if s == nil || s.Timezone == "" {
		return nil
	}
	if _, err := time.LoadLocation(s.Timezone); err != nil || s.Timezone == "Local" {
		return []fleet.FieldError{{Pointer: "/schedule/timezone", Code: "invalid", Detail: "is not an IANA time zone"}}
	}
	return nil
}
