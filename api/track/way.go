package track

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// geometryParams shape a line.
var geometryParams = []rest.Param{
	{Name: "simplify_m", Type: "number", Min: 0.01, Max: 1e6,
		About: "Leaves out what is nearer than so many metres to the line through the rest (Douglas-Peucker)."},
	{Name: "max_points", Type: "integer", Min: 2, Max: maxTrackPage,
		About: "At most so many positions, leaving out those that matter least for the shape (Visvalingam)."},
	{Name: "precision", Type: "integer", Min: 5, Max: 6, About: "Decimals of `format=polyline`; 5 unless given."},
	rest.FormatParam(export.Tracks),
}

// wayFlags keep a position out of the line of a trip. Positions that came late are in it: deriving is by event time.
const wayFlags = fleet.DoubtfulFlags &^ (fleet.FlagOutOfOrder | fleet.FlagLate)

// wayOf is the filter of the positions that make the line of a trip.
func wayOf(account fleet.AccountID, vehicle fleet.VehicleID, from, to fleet.Millis) query.TrackFilter {
	return query.TrackFilter{Account: account, Vehicle: vehicle, From: from, To: to + 1, Without: wayFlags}
}

func tooLong() error {
	return fleet.NewError(fleet.CodeInvalid,
		fmt.Sprintf("The span has more than %d positions. Choose a shorter one, or read the positions of the vehicle.",
			maxSimplified))
}

// downloadWay answers with positions in a format of tracks.
func (a *API) downloadWay(w http.ResponseWriter, r *http.Request, name string, vehicle fleet.VehicleID,
	format export.Format, way []fleet.Position) error {
	metric := rest.MetricUnits(r)
	return a.Download(w, r, format, name, func(w http.ResponseWriter) error {
		track, err := export.NewTrack(format, w, vehicle.String(), PositionColumns(metric),
			rest.IntParam(r, "precision", polylineDigits))
		if err != nil {
			return err
		}
		var row []export.Value
		for i := range way {
			row = a.PositionRow(row[:0], &way[i], metric)
			if err := track.Write(&way[i], row); err != nil {
				return err
			}
		}
		return track.Close()
	})
}

// feature is a thing with a geometry, as GeoJSON has it.
type feature struct {
	view     any
	geometry json.RawMessage
}

// writeFeatures answers with GeoJSON: a FeatureCollection, or the one Feature.
func (a *API) writeFeatures(w http.ResponseWriter, r *http.Request, name string, features []feature,
	collection bool) error {
	type shownFeature struct {
		Type       string          `json:"type"`
		Geometry   json.RawMessage `json:"geometry"`
		Properties any             `json:"properties"`
	}
	all := make([]shownFeature, len(features))
	for i, f := range features {
		all[i] = shownFeature{"Feature", f.geometry, f.view}
	}
	var answer any = struct {
		Type     string         `json:"type"`
		Features []shownFeature `json:"features"`
	}{"FeatureCollection", all}
	if !collection {
		answer = all[0]
	}
	text, err := rest.EncodeJSON(answer, rest.MetricUnits(r))
	if err != nil {
		return err
	}
	return a.Download(w, r, export.GeoJSON, name, func(w http.ResponseWriter) error {
		_, err := w.Write(text)
		return err
	})
}

// lineString is a GeoJSON geometry: a LineString, or null for fewer than two places.
func lineString(track []fleet.Position) json.RawMessage {
	if len(track) < 2 {
		return json.RawMessage("null")
	}
	line := []byte(`{"type":"LineString","coordinates":[`)
	for i := range track {
		if i > 0 {
			line = append(line, ',')
		}
		line = append(line, '[')
		line = strconv.AppendFloat(line, track[i].Lng, 'f', -1, 64)
		line = append(line, ',')
		line = strconv.AppendFloat(line, track[i].Lat, 'f', -1, 64)
		line = append(line, ']')
	}
	return append(line, "]}"...)
}
