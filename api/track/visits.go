package track

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// Visit is a stay of a vehicle inside a geofence, as it is answered.
type Visit struct {
	ID               string         `json:"id" example:"vis_1234"`
	Object           string         `json:"object" doc:"Always visit." example:"visit"`
	VehicleID        string         `json:"vehicle_id" example:"veh_1234"`
	GeofenceID       string         `json:"geofence_id" example:"geo_1234"`
	GeofenceRevision uint64         `json:"geofence_revision" doc:"Of the geofence at entry."`
	StartAt          record.Instant `json:"from" doc:"Entry."`
	EndAt            record.Instant `json:"until" doc:"Exit; the last fix inside while it goes on."`
	DurationS        float64        `json:"duration_s"`
	LocalOn          string         `json:"local_on" format:"date" doc:"Date of its from in the time zone that the vehicle, or else the account, has now: it is told when it is asked for, and another zone changes it for all of them."`
	EntryPlace       rest.Place     `json:"entry_place"`
	ExitPlace        *rest.Place    `json:"exit_place"`
	Initial          bool           `json:"initial" doc:"It was inside when we first looked: nobody saw it enter."`
	Crossed          bool           `json:"crossed" doc:"No fix inside: the line between two fixes passes through."`
	DwelledAt        record.Instant `json:"dwelled_at" doc:"When it had been inside for the dwell time of the geofence; null if not."`
	Fixes            int            `json:"fixes"`
	ExitReason       *string        `json:"exit_reason" nullable:"true" doc:"left, fence_changed or out_of_scope; null while it goes on."`
	DerivedStamps
}

// TransformSchema implements huma.SchemaTransformer.
func (Visit) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return rest.NullablePlace(s, "exit_place")
}

func (a *API) visitRoutes() {
	s := &derivedResource[*fleet.Visit, Visit]{
		api: a, path: "/v1/visits", name: "Visit", noun: "visit", nouns: "visits", tag: "Trips", from: &query.Visits,
		about: "Stays in geofences.", show: a.showVisits,
		params: []rest.Param{{Name: "geofence_id", NotEmpty: true, About: "Only in these geofences, separated by commas."}},
		filter: func(r *http.Request, f *query.DerivedFilter) (err error) {
			f.Fences, err = rest.IDsParam[fleet.FenceID](r, "geofence_id", fleet.FencePrefix)
			return err
		},
	}
	s.registerList()
	s.registerGet()
}

func (a *API) showVisits(_ *http.Request, rows []query.Derived[*fleet.Visit]) ([]Visit, error) {
	views := make([]Visit, len(rows))
	for i := range rows {
		d, v := &rows[i], rows[i].Entity
		views[i] = Visit{
			ID: DerivedID(v), Object: "visit", VehicleID: d.Vehicle.String(), GeofenceID: v.Fence.String(),
			GeofenceRevision: v.Revision,
			StartAt:          rest.Instant(v.Start), EndAt: rest.Instant(v.End), DurationS: rest.Seconds(v.End - v.Start),
			LocalOn:    d.LocalDate.Format("2006-01-02"),
			EntryPlace: a.Place(v.EntryPlace), ExitPlace: a.PlaceOrNull(v.ExitPlace), Initial: v.Initial, Crossed: v.Crossed,
			DwelledAt: rest.Instant(v.DwelledAt), Fixes: v.Fixes, ExitReason: rest.TextOrNull(v.ExitReason),
			DerivedStamps: derivedStamps(d),
		}
	}
	return views, nil
}
