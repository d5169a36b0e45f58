package track

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
	"github.com/motorpool/fleet/query/area"
)

// insideOf reads inside=: the shape of a geofence, or nil without the parameter. Unless the caller gave a box, the
// filter gets that of the shape, so that the store gives only what may be inside.
func (a *API) insideOf(r *http.Request, f *query.LatestFilter) (*area.Shape, error) {
	text := rest.TextParam(r, "inside", "")
	if text == "" {
		return nil, nil
	}
	id, err := fleet.ParseID(fleet.FencePrefix, text)
	if err != nil {
		return nil, rest.InvalidParam("inside", err.Error())
	}
	rec, err := a.geofences.Get(r.Context(), auth.From(r.Context()).Account, id)
	if err != nil {
		return nil, err
	}
	geometry, err := json.Marshal(rec.Body.Geometry)
	if err != nil {
		return nil, fmt.Errorf("encode the shape of %s: %w", text, err)
	}
	shape, err := area.Parse(geometry)
	if err != nil {
		return nil, fmt.Errorf("read the shape of %s: %w", text, err)
	}
	if f.Box == query.World {
		f.Box = boxOf(shape.Bounds())
	}
	return &shape, nil
}

// boxOf is a box as queries take it, a step of a coordinate wider than the bounds, because it is rounded to steps.
func boxOf(b area.Bounds) query.Box {
	const step = fleet.CoordinateUnit
	box := query.Box{West: b.West - step, South: b.South - step, East: b.East + step, North: b.North + step}
	if b.West > b.East && box.West <= box.East {
		box.West, box.East = -180, 180 // all but nothing is left between the two
	}
	return box
}

// latestInside returns all that the filter wants, without the rest if a shape is given.
func (a *API) latestInside(r *http.Request, f query.LatestFilter, shape *area.Shape) ([]*query.Latest, error) {
	f.Offset, f.Limit = 0, math.MaxInt32
	all, _, err := a.LatestPositions(r.Context(), f)
	if err != nil || shape == nil {
		return all, err
	}
	inside := all[:0]
	for _, l := range all {
		if shape.Contains(l.Lat, l.Lng) {
			inside = append(inside, l)
		}
	}
	return inside, nil
}
