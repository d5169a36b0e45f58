package rest

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
)

// Place is where something happened.
type Place struct {
	Lat     float64 `json:"lat" doc:"Degrees WGS 84."`
	Lng     float64 `json:"lng" doc:"Degrees WGS 84."`
	Address *string `json:"address" nullable:"true" doc:"Words for the place."`
}

// NullablePlace says in a schema that a member which is a place may be null, which a reference cannot say by itself.
func NullablePlace(s *huma.Schema, name string) *huma.Schema {
	place := *s.Properties[name]
	s.Properties[name] = &huma.Schema{Description: place.Description,
		AnyOf: []*huma.Schema{{Ref: place.Ref}, {Type: "null"}}}
	return s
}

// Place shows a place, with its address.
func (a *Server) Place(p fleet.Place) Place {
	return Place{Lat: p.Lat, Lng: p.Lng, Address: TextOrNull(a.Address(p.Lat, p.Lng))}
}

// PlaceOrNull shows a place that may be unknown.
func (a *Server) PlaceOrNull(p *fleet.Place) *Place {
	if p == nil {
		return nil
	}
	shown := a.Place(*p)
	return &shown
}

// Address returns the words for a place; "" if nobody knows them.
func (a *Server) Address(lat, lng float64) string {
	if a.Geocoder == nil {
		return ""
	}
	return a.Geocoder.Address(lat, lng)
}
