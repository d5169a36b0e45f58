package api

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

// nullablePlace says in a schema that a member which is a place may be null, which a reference cannot say by itself.
func nullablePlace(s *huma.Schema, name string) *huma.Schema {
	place := *s.Properties[name]
	s.Properties[name] = &huma.Schema{Description: place.Description, AnyOf: []*huma.Schema{{Ref: place.Ref}, {Type: "null"}}}
	return s
}

// place shows a place, with its address.
func (a *API) place(p fleet.Place) Place {
	return Place{Lat: p.Lat, Lng: p.Lng, Address: textOrNull(a.address(p.Lat, p.Lng))}
}

// placeOrNull shows a place that may be unknown.
func (a *API) placeOrNull(p *fleet.Place) *Place {
	if p == nil {
		return nil
	}
	shown := a.place(*p)
	return &shown
}

// address returns the words for a place; "" if nobody knows them.
func (a *API) address(lat, lng float64) string {
	if a.Geocoder == nil {
		return ""
	}
	return a.Geocoder.Address(lat, lng)
}
