package track

import (
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/uber/h3-go/v4"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/export"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/query"
)

// HeatCell is a cell of a heat map. Answers are written from export rows with the same members in the same order; the
// type describes them.
type HeatCell struct {
	H3       string  `json:"h3" doc:"H3 cell of the resolution asked for." example:"87489e346ffffff"`
	Lat      float64 `json:"lat" doc:"Of its middle, degrees WGS 84."`
	Lng      float64 `json:"lng"`
	Fixes    int64   `json:"fixes"`
	Vehicles int64   `json:"vehicles" doc:"Different ones."`
	Seconds  float64 `json:"seconds" doc:"Time that vehicles spent, all together: from each fix to the vehicle's next, 300 s at most."`
}

// Bounds of a heat map.
const (
	maxHeatSpan    = 31 * 24 * time.Hour
	heatResolution = 8
	maxHeatCells   = 200_000
)

// heatForms are the forms of a heat map.
var heatForms = []export.Format{export.JSON, export.NDJSON, export.CSV, export.Arrow, export.Parquet, export.GeoJSON}

// HeatColumns are the columns of a heat map as a table.
var HeatColumns = []export.Column{
	{Name: "h3", Kind: export.Text}, {Name: "lat", Kind: export.Number}, {Name: "lng", Kind: export.Number},
	{Name: "fixes", Kind: export.Whole}, {Name: "vehicles", Kind: export.Whole}, {Name: "seconds", Kind: export.Number},
}

func (a *API) heatmapRoutes() {
	a.Handle(rest.Route{
		Method: http.MethodGet, Path: "/v1/heatmap", ID: "getHeatmap", Tag: "Tracking", Scope: auth.TelematicsRead,
		Summary: "Fixes, vehicles and time by H3 cell",
		About: "Where vehicles were, summed up by H3 cell; cells without fixes are not in the answer, which has one page. `geojson` gives each cell as a " +
			"hexagon. Fixes whose place is doubtful (jumps, invalid, approximate or of low accuracy) do not count. A fix belongs to the cell of resolution 9 " +
			"it is in, and that one to its H3 parents, whose hexagons it may overlap a little.",
		Params: []rest.Param{
			{Name: "resolution", Type: "integer", Min: 5, Max: fleet.CellResolution,
				About: "H3 resolution of the cells, from 5 (some 250 km²) to 9 (0.1 km²); 8 unless given."},
			{Name: "from", Format: "date-time", Required: true, About: "Fix time from which, inclusive."},
			{Name: "until", Format: "date-time", Required: true,
				About: "Fix time up to which, exclusive; at most 31 days later."},
			{Name: "bbox", NotEmpty: true,
				About: "`minLng,minLat,maxLng,maxLat` in degrees: only fixes within. A box whose first longitude is greater than its second crosses the antimeridian."},
			{Name: "vehicle_id", NotEmpty: true, About: "Only this vehicle."},
			{Name: "format", Enum: export.Names(heatForms), About: "Form of the answer, instead of an Accept header."},
		},
		Reply: rest.List[HeatCell]{}, ReplyTypes: export.MediaTypes(heatForms), Timeout: areaTime,
	}, a.heatmap)
}

func (a *API) heatmap(w http.ResponseWriter, r *http.Request) error {
	format, err := rest.FormatOf(r, heatForms)
	if err != nil {
		return err
	}
	where, err := latestFilter(r)
	if err != nil {
		return err
	}
	f := query.HeatFilter{
		Account: auth.From(r.Context()).Account, Box: where.Box, From: rest.TimeParam(r, "from", 0),
		To:         rest.TimeParam(r, "until", 0),
		Resolution: rest.IntParam(r, "resolution", heatResolution), Limit: maxHeatCells + 1,
	}
	if err := rest.CheckSpan(f.From, f.To); err != nil {
		return err
	}
	if f.To-f.From > fleet.Millis(maxHeatSpan.Milliseconds()) {
		return rest.InvalidParam("until", "must be at most 31 days after from")
	}
	switch len(where.Vehicles) {
	case 0:
	case 1:
		f.Vehicle = where.Vehicles[0]
	default:
		return rest.InvalidParam("vehicle_id", "must be one vehicle")
	}
	db, err := a.LongTurn(w, r)
	if err != nil {
		return err
	}
	cells, err := query.Heatmap(r.Context(), db, f)
	if err != nil {
		return err
	}
	if len(cells) > maxHeatCells {
		return rest.InvalidParam("resolution",
			fmt.Sprintf("gives more than %d cells: choose a coarser one, a bbox or a shorter time", maxHeatCells))
	}
	switch format {
	case export.JSON:
		p := rest.Page{Number: 1, PerPage: max(len(cells), 1)}
		return rest.WriteRows(w, r, "", p, len(cells), HeatColumns, heatRows(cells))
	case export.GeoJSON:
		return a.Download(w, r, format, "heatmap", func(w http.ResponseWriter) error { return writeHexagons(w, cells) })
	}
	return a.Download(w, r, format, "heatmap", func(w http.ResponseWriter) error {
		return rest.WriteTable(w, format, HeatColumns, heatRows(cells))
	})
}

// ShowHeat shows a cell of a heat map, at its middle in degrees.
func ShowHeat(c *query.HeatCell) (HeatCell, error) {
	middle, err := h3.CellToLatLng(h3.Cell(c.Cell))
	if err != nil {
		return HeatCell{}, fmt.Errorf("middle of cell %x: %w", uint64(c.Cell), err)
	}
	return HeatCell{
		H3: strconv.FormatUint(uint64(c.Cell), 16), Lat: fleet.Quantise(middle.Lat), Lng: fleet.Quantise(middle.Lng),
		Fixes: int64(c.Fixes), Vehicles: int64(c.Vehicles), Seconds: c.Time.Seconds(),
	}, nil
}

func heatRows(cells []query.HeatCell) iter.Seq2[rest.RowKey, error] {
	return func(yield func(rest.RowKey, error) bool) {
		var row []export.Value
		for i := range cells {
			c, err := ShowHeat(&cells[i])
			row = append(row[:0], export.TextOf(c.H3), export.ExactOf(c.Lat), export.ExactOf(c.Lng), export.WholeOf(c.Fixes),
				export.WholeOf(c.Vehicles), export.NumberOf(c.Seconds, 3))
			if !yield(rest.RowKey{Row: row}, err) || err != nil {
				return
			}
		}
	}
}

// hexagon is a cell as a feature of GeoJSON.
type hexagon struct {
	Type       string   `json:"type"`
	Geometry   outline  `json:"geometry"`
	Properties HeatCell `json:"properties"`
}

type outline struct {
	Type        string         `json:"type"`
	Coordinates [][][2]float64 `json:"coordinates"`
}

// writeHexagons writes a FeatureCollection. A cell across the antimeridian has longitudes beyond 180 degrees, so that
// it is one polygon.
func writeHexagons(w http.ResponseWriter, cells []query.HeatCell) error {
	if _, err := w.Write([]byte(`{"type":"FeatureCollection","features":[`)); err != nil {
		return err
	}
	for i := range cells {
		shown, err := ShowHeat(&cells[i])
		if err != nil {
			return err
		}
		border, err := h3.CellToBoundary(h3.Cell(cells[i].Cell))
		if err != nil {
			return fmt.Errorf("border of cell %s: %w", shown.H3, err)
		}
		ring := make([][2]float64, 0, len(border)+1)
		for _, corner := range border {
			lng := corner.Lng
			if lng-shown.Lng > 180 {
				lng -= 360
			} else if lng-shown.Lng < -180 {
				lng += 360
			}
			ring = append(ring, [2]float64{fleet.Quantise(lng), fleet.Quantise(corner.Lat)})
		}
		text, err := json.Marshal(hexagon{Type: "Feature", Properties: shown,
			Geometry: outline{Type: "Polygon", Coordinates: [][][2]float64{append(ring, ring[0])}}})
		if err != nil {
			return err
		}
		if i > 0 {
			text = append([]byte{','}, text...)
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	_, err := w.Write([]byte("]}\n"))
	return err
}
