package track

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/query/area"
)

// Geofence is a geofence as it is answered.
type Geofence struct {
	ID string `json:"id" doc:"Identity." example:"geo_1234"`

	record.GeofenceFields

	Object   string         `json:"object" doc:"Always geofence." example:"geofence"`
	Bounds   *record.Bounds `json:"bounds,omitempty" doc:"The box around it, in degrees; west is greater than east if it crosses the antimeridian."`
	AreaM2   float64        `json:"area_m2" doc:"Square metres."`
	Vertices int            `json:"vertices" doc:"Positions that it is drawn with."`
	Backfill string         `json:"backfill_job_id,omitempty" doc:"The job that last made visits of it for the past." example:"job_1234"`

	rest.Stamps
}

// fenceForms are the forms in which geofences are listed.
var fenceForms = []export.Format{export.JSON, export.GeoJSON}

// exportPage is how many records an export reads at a time; a shape may have half a megabyte.
const exportPage = 50

func (a *API) geofenceRoutes() {
	s := &rest.Resource[record.Geofence]{
		Server: a.Server, Log: a.geofences, Listing: &query.Geofences,
		Titles: rest.Titles{
			Path: "/v1/geofences", Tag: "Geofences", Noun: "geofence", Nouns: "geofences",
			About: "A geofence holds from when it was written, and a change from when it was made: of what was before it makes no visits and no alerts. " +
				"`POST /v1/geofences/{id}/backfill` makes them of stored positions.",
		},
		Scope:    rest.Scopes{Read: auth.TelematicsRead, Write: auth.TelematicsWrite},
		Views:    rest.Views{View: Geofence{}, Fields: record.GeofenceFields{}},
		Writable: func(g *record.Geofence) any { return &g.GeofenceFields },
		Show:     rest.ShowEach(func(rec record.Record[record.Geofence]) any { return showGeofence(rec) }),
		Prepare:  func(r *http.Request, _ uint64, _, g *record.Geofence) error { return a.prepareGeofence(r, g) },
		Choose: func(r *http.Request, req *query.ListRequest) (err error) {
			req.Only, err = a.fencesHolding(r)
			return err
		},
	}
	s.Register("list")
	a.Handle(rest.Route{
		Method: "GET", Path: s.Path, ID: "listGeofences", Tag: s.Tag, Scope: s.Scope.Read, Summary: "List geofences",
		About: "With `format=geojson` all that match, as a FeatureCollection: a circle is a Point with the property `radius_m`, a corridor a LineString with `width_m`.",
		Params: slices.Concat(rest.PageParams, s.ListParams(), []rest.Param{
			{Name: "contains", NotEmpty: true,
				About: "`lat,lng` in degrees: only geofences that hold this place. Edges belong to them."},
			{Name: "fields", About: "Names of members, separated by commas: only these and `id` are answered."},
			rest.FormatParam(fenceForms),
		}),
		Reply: a.ListSchema(Geofence{}), ReplyTypes: export.MediaTypes(fenceForms), Timeout: rest.ExportTime,
	}, func(w http.ResponseWriter, r *http.Request) error {
		form, err := rest.FormatOf(r, fenceForms)
		if err != nil {
			return err
		}
		if form == export.GeoJSON {
			return a.exportFences(w, r, s)
		}
		return s.List(w, r)
	})
	a.importRoutes(s)
	a.backfillRoutes(s)
}

// prepareGeofence refuses what the schema cannot, and works out what follows from the geometry.
func (a *API) prepareGeofence(r *http.Request, g *record.Geofence) error {
	faults, err := JudgeGeometry(g)
	if err != nil {
		return err
	}
	if faults = append(faults, g.Faults(a.Now())...); len(faults) > 0 {
		return fleet.Invalid(faults...)
	}
	return a.vehiclesExist(r, g.Scope)
}

func showGeofence(rec record.Record[record.Geofence]) Geofence {
	b := rec.Body
	return Geofence{ID: fleet.FormatID(fleet.FencePrefix, rec.ID), GeofenceFields: b.GeofenceFields, Object: "geofence",
		Bounds: b.Bounds,
		AreaM2: b.AreaM2, Vertices: b.Vertices, Backfill: b.Backfill, Stamps: rest.StampsOf(rec)}
}

// fencesHolding reads contains= and returns the geofences that hold the place.
func (a *API) fencesHolding(r *http.Request) (*[]uint64, error) {
	text := rest.TextParam(r, "contains", "")
	if text == "" {
		return nil, nil
	}
	first, second, ok := strings.Cut(text, ",")
	lat, err := strconv.ParseFloat(strings.TrimSpace(first), 64)
	lng, wrong := strconv.ParseFloat(strings.TrimSpace(second), 64)
	if !ok || err != nil || wrong != nil || !(lat >= -90 && lat <= 90 && lng >= -180 && lng <= 180) {
		return nil, rest.InvalidParam("contains", "must be lat,lng in degrees")
	}
	around, err := query.FencesAround(r.Context(), a.DB, auth.From(r.Context()).Account, lat, lng)
	if err != nil {
		return nil, err
	}
	ids := []uint64{}
	for _, f := range around {
		if err := r.Context().Err(); err != nil {
			return nil, err // many large shapes take longer than anybody waits
		}
		shape, err := area.Parse(f.Geometry)
		if err != nil {
			return nil, fmt.Errorf("geometry of %s: %w", fleet.FenceID(f.ID), err)
		}
		if shape.Contains(lat, lng) {
			ids = append(ids, f.ID)
		}
	}
	return &ids, nil
}

// exportFences answers with all geofences that the parameters ask for, as a FeatureCollection.
func (a *API) exportFences(w http.ResponseWriter, r *http.Request, s *rest.Resource[record.Geofence]) error {
	if err := rest.RefusePaging(r, "format=geojson"); err != nil {
		return err
	}
	if r.URL.Query().Has("fields") {
		return rest.InvalidParam("fields", "cannot be combined with format=geojson")
	}
	sortBy, _, err := s.SortKeys(r)
	if err != nil {
		return err
	}
	req, err := s.Chosen(r, sortBy)
	if err != nil {
		return err
	}
	req.Limit = exportPage
	return a.Download(w, r, export.GeoJSON, "geofences", func(w http.ResponseWriter) error {
		open := `{"type":"FeatureCollection","features":[`
		for {
			page, err := query.List(r.Context(), a.DB, s.Listing, req)
			if err != nil {
				return err
			}
			for _, stored := range page.Records {
				rec, err := rest.FromStored[record.Geofence](req.Account, stored)
				if err != nil {
					return err
				}
				text, err := fenceFeature(rec, rest.MetricUnits(r))
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintf(w, "%s\n%s", open, text); err != nil {
					return err
				}
				open = ","
			}
			if req.After = page.Next; req.After == nil {
				break
			}
		}
		if open != "," {
			if _, err := w.Write([]byte(open)); err != nil {
				return err
			}
		}
		_, err := w.Write([]byte("\n]}\n"))
		return err
	})
}

// fenceFeature writes a geofence as a feature whose properties are its other members.
func fenceFeature(rec record.Record[record.Geofence], metric bool) ([]byte, error) {
	view := showGeofence(rec)
	properties, err := rest.Members(view)
	if err != nil {
		return nil, err
	}
	delete(properties, "geometry")
	feature := struct {
		Type       string         `json:"type"`
		ID         string         `json:"id"`
		Geometry   map[string]any `json:"geometry"`
		Properties map[string]any `json:"properties"`
	}{"Feature", view.ID, standardGeometry(view.Geometry, properties), properties}
	text, err := rest.EncodeJSON(feature, metric)
	if err != nil {
		return nil, err
	}
	return text[:len(text)-1], nil // without the end of the line
}
