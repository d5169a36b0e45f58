package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/uber/h3-go/v4"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/schemas"
)

// polygon is a shape on the map, straight in longitude and latitude.
type polygon h3.GeoLoop

// randomPolygon is a star of 5 to 12 corners, 150 to 1500 m from a middle where the fleet drives.
func (b *stored) randomPolygon() polygon {
	const perDegree = fleet.EarthRadius * math.Pi / 180
	away, bearing := 10_000*math.Sqrt(b.rng.Float64()), 2*math.Pi*b.rng.Float64()
	shrink := math.Cos(b.cfg.Lat * math.Pi / 180)
	lat, lng := b.cfg.Lat+away*math.Cos(bearing)/perDegree, b.cfg.Lng+away*math.Sin(bearing)/perDegree/shrink
	size := 150 * math.Pow(10, b.rng.Float64())
	corners := 5 + b.rng.IntN(8)
	p := make(polygon, corners)
	for i := range p {
		angle := 2 * math.Pi * (float64(i) + 0.8*b.rng.Float64()) / float64(corners)
		radius := size * (0.5 + 0.5*b.rng.Float64()) / perDegree
		p[i] = h3.LatLng{Lat: lat + radius*math.Cos(angle), Lng: lng + radius*math.Sin(angle)/shrink}
	}
	return p
}

// contains says whether a place is inside: a ray to the east crosses the border an odd number of times.
func (p polygon) contains(lat, lng float64) bool {
	inside := false
	for i, a := range p {
		b := p[(i+1)%len(p)]
		if (a.Lat > lat) != (b.Lat > lat) && lng < a.Lng+(lat-a.Lat)/(b.Lat-a.Lat)*(b.Lng-a.Lng) {
			inside = !inside
		}
	}
	return inside
}

func (p polygon) bounds() (south, west, north, east int32) {
	minLat, minLng, maxLat, maxLng := 90.0, 180.0, -90.0, -180.0
	for _, c := range p {
		minLat, minLng, maxLat, maxLng = min(minLat, c.Lat), min(minLng, c.Lng), max(maxLat, c.Lat), max(maxLng, c.Lng)
	}
	return int32(math.Floor(minLat * 1e7)), int32(math.Floor(minLng * 1e7)), int32(math.Ceil(maxLat * 1e7)),
		int32(math.Ceil(maxLng * 1e7))
}

// text writes the corners with longitude first, each by a format.
func (p polygon) text(format, between string) string {
	corners := make([]string, len(p))
	for i, c := range p {
		corners[i] = fmt.Sprintf(format, strconv.FormatFloat(c.Lng, 'f', -1, 64), strconv.FormatFloat(c.Lat, 'f', -1, 64))
	}
	return strings.Join(corners, between)
}

// question is who was inside a polygon, when.
type question struct {
	polygon  polygon
	from, to fleet.Millis
}

// without answers by the order that positions has anyway: the vehicles and how many fixes each had inside.
const without = `SELECT vehicle, count()
FROM positions
WHERE account = {account:UInt64}
    AND fix_time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND fix_time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND bitAnd(flags, {without:UInt32}) = 0
    AND lat7 BETWEEN {south:Int32} AND {north:Int32} AND lng7 BETWEEN {west:Int32} AND {east:Int32}
    AND pointInPolygon((lng7 / 1e7, lat7 / 1e7), {polygon:Array(Tuple(Float64, Float64))})
GROUP BY vehicle`

const doubtful = uint32(fleet.FlagJump | fleet.FlagInvalid | fleet.FlagApproximate | fleet.FlagLowAccuracy)

func (b *stored) scan(ctx context.Context, q question, explain bool) (map[uint64]int, error) {
	south, west, north, east := q.polygon.bounds()
	args := []any{clickhouse.Named("account", uint64(trackAccount)), clickhouse.Named("from", int64(q.from)),
		clickhouse.Named("to", int64(q.to)), clickhouse.Named("without", doubtful), clickhouse.Named("south", south),
		clickhouse.Named("north", north), clickhouse.Named("west", west), clickhouse.Named("east", east),
		clickhouse.Named("polygon", "["+q.polygon.text("(%s,%s)", ",")+"]")}
	if explain {
		return nil, b.explainClickHouse(ctx, "area_clickhouse_without_h3", without, args...)
	}
	found := map[uint64]int{}
	var vehicle, n uint64
	err := schemas.EachRow(ctx, b.s.DB, "search by coordinates", without, args, func(row schemas.Row) error {
		if err := row.Scan(&vehicle, &n); err != nil {
			return err
		}
		found[vehicle] = int(n)
		return nil
	})
	return found, err
}

// byCell answers as POST /v1/search/area does: the cells that the polygon touches are looked up in the second order,
// and every fix of theirs is tested.
func (b *stored) byCell(ctx context.Context, query string, q question, explain bool) (map[uint64]int, error) {
	cells, err := h3.PolygonToCellsExperimental(h3.GeoPolygon{GeoLoop: h3.GeoLoop(q.polygon)}, fleet.CellResolution,
		h3.ContainmentOverlapping)
	if err != nil {
		return nil, err
	}
	cover := make([]uint64, len(cells))
	for i, cell := range cells {
		cover[i] = uint64(cell)
	}
	args := []any{clickhouse.Named("account", uint64(trackAccount)), clickhouse.Named("from", int64(q.from)),
		clickhouse.Named("to", int64(q.to)), clickhouse.Named("without", doubtful),
		clickhouse.Named("jump", uint32(fleet.FlagJump)), clickhouse.Named("cells", cover),
		clickhouse.Named("vehicles", []uint64{})}
	if explain {
		return nil, b.explainClickHouse(ctx, "area_clickhouse", query, args...)
	}
	found := map[uint64]int{}
	var vehicle, cell uint64
	var at int64
	var lat, lng int32
	var jumped bool
	err = schemas.EachRow(ctx, b.s.DB, "search by cells", query, args, func(row schemas.Row) error {
		if err := row.Scan(&vehicle, &at, &lat, &lng, &cell, &jumped); err != nil {
			return err
		}
		if !jumped && q.polygon.contains(float64(lat)/1e7, float64(lng)/1e7) {
			found[vehicle]++
		}
		return nil
	})
	return found, err
}

// inPostgres is the question in PostgreSQL's own geometry.
func (q question) inPostgres() string {
	south, west, north, east := q.polygon.bounds()
	return fmt.Sprintf("SELECT vehicle, count(*) FROM positions WHERE account = %d AND fix_time >= to_timestamp(%d / 1000.0) AND fix_time < to_timestamp(%d / 1000.0) "+
		"AND flags & %d = 0 AND lat BETWEEN %.7f AND %.7f AND lng BETWEEN %.7f AND %.7f AND polygon '(%s)' @> point(lng, lat) GROUP BY vehicle",
		trackAccount, q.from, q.to, doubtful, float64(south)/1e7, float64(north)/1e7, float64(west)/1e7, float64(east)/1e7,
		q.polygon.text("(%s,%s)", ","))
}

// area asks who was inside a polygon that was never asked for before, in windows of several lengths.
func (b *stored) area(ctx context.Context) error {
	query := schemas.Query("area_fixes")
	windows := []time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}
	fmt.Fprint(b.report, "### Vehicles inside an ad-hoc polygon in a time window\n\nPolygons of 5 to 12 corners, 300 m to 3 km across, each asked once, both ways in turn; "+
		"the answers are compared. Without H3: bounding box, then pointInPolygon, over positions.\n\n"+
		"| window | queries | vehicles, fixes found (mean) | by H3 cell: p50, ms | p99, ms | without: p50, ms | p99, ms | ratio of the medians |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	var allBy, allWithout took
	for i, length := range windows {
		if length > time.Duration(b.days)*24*time.Hour {
			continue
		}
		var by, scan took
		vehicles, fixes := 0, 0
		n := max(1, b.o.Queries/len(windows))
		for j := range n + 2 { // the first two warm up
			q := question{polygon: b.randomPolygon()}
			q.from, q.to = b.window(length)
			begun := time.Now()
			found, err := b.byCell(ctx, query, q, false)
			if err != nil {
				return err
			}
			middle := time.Now()
			want, err := b.scan(ctx, q, false)
			if err != nil {
				return err
			}
			if !maps.Equal(found, want) {
				return errors.New("the two answers differ: " + q.polygon.text("%s %s", ", "))
			}
			if j < 2 {
				continue
			}
			by, scan = append(by, middle.Sub(begun)), append(scan, time.Since(middle))
			vehicles += len(found)
			for _, n := range found {
				fixes += n
			}
			if i == 1 && j == 2 {
				if _, err := b.byCell(ctx, query, q, true); err != nil {
					return err
				}
				if _, err := b.scan(ctx, q, true); err != nil {
					return err
				}
			}
		}
		allBy, allWithout = append(allBy, by...), append(allWithout, scan...)
		fmt.Fprintf(b.report, "| %s | %d | %d, %d | %s | %s | %.1f |\n", length, n, vehicles/n, fixes/n, by, scan,
			scan.at(0.5).Seconds()/by.at(0.5).Seconds())
	}
	fmt.Fprintf(b.report, "| all | %d | | %s | %s | %.1f |\n\n", len(allBy), allBy, allWithout,
		allWithout.at(0.5).Seconds()/allBy.at(0.5).Seconds())
	if b.postgres == nil {
		return nil
	}
	return b.areaInPostgres()
}

// areaInPostgres asks a few of the same questions there, for information: its plan is a scan of the window.
func (b *stored) areaInPostgres() (err error) {
	psql, err := postgresSession(b.postgres)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, psql.close()) }()
	var times took
	for i := range 5 {
		q := question{polygon: b.randomPolygon()}
		q.from, q.to = b.window(6 * time.Hour)
		if i == 0 {
			if err := b.explainPostgres("area_postgres", q.inPostgres()); err != nil {
				return err
			}
			continue
		}
		took, err := psql.time(q.inPostgres())
		if err != nil {
			return err
		}
		times = append(times, took)
	}
	fmt.Fprintf(b.report,
		"PostgreSQL with a BRIN index on the time takes %.0f ms for a window of 6 hours (median of %d).\n\n",
		float64(times.at(0.5).Microseconds())/1000, len(times))
	return nil
}
