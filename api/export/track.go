package export

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/motorpool/fleet"
)

// gap is the silence after which a track begins a new segment: nobody knows where the vehicle was in between, and a
// line across it would be invented.
const gap = 15 * time.Minute

// Track writes the positions of one vehicle in the order of their fix times. A writer of a table uses the row, one of a
// geographic format the position and, where it can carry them, the row as properties.
type Track interface {
	Write(p *fleet.Position, row []Value) error
	Close() error
}

// NewTrack returns the writer of a format of Tracks. name is that of the vehicle, as a title; precision is the number
// of decimals of an encoded polyline.
func NewTrack(f Format, w io.Writer, name string, columns []Column, precision int) (Track, error) {
	switch f {
	case GeoJSON:
		return newGeoJSON(w, columns), nil
	case GPX:
		return newGPX(w, name), nil
	case KML:
		return newKML(w, name), nil
	case Polyline:
		return newPolyline(w, precision), nil
	}
	table, err := NewTable(f, w, columns)
	if err != nil {
		return nil, err
	}
	return tableTrack{table}, nil
}

type tableTrack struct{ Table }

func (t tableTrack) Write(_ *fleet.Position, row []Value) error { return t.Table.Write(row) }

// geoJSON writes a FeatureCollection (RFC 7946) with a Point feature for each position, so that no field is lost. Its
// coordinates are longitude, latitude and, where known, altitude.
type geoJSON struct {
	w       *bufio.Writer
	columns []Column
	names   []string
	rows    int
	line    []byte
}

func newGeoJSON(w io.Writer, columns []Column) *geoJSON {
	g := &geoJSON{w: bufio.NewWriterSize(w, bufferSize), columns: columns}
	for _, c := range columns {
		g.names = append(g.names, string(appendText(nil, c.Name))+":")
	}
	return g
}

func (g *geoJSON) Write(p *fleet.Position, row []Value) error {
	line := g.line[:0]
	if g.rows == 0 {
		line = append(line, `{"type":"FeatureCollection","features":[`...)
	} else {
		line = append(line, ',', '\n')
	}
	line = append(line, `{"type":"Feature","geometry":{"type":"Point","coordinates":[`...)
	line = appendDegrees(line, p.Lng)
	line = append(line, ',')
	line = appendDegrees(line, p.Lat)
	if !math.IsNaN(p.Altitude) {
		line = append(line, ',')
		line = strconv.AppendFloat(line, p.Altitude, 'f', -1, 64)
	}
	line = append(line, `]},"properties":`...)
	line = appendObject(line, g.names, g.columns, row)
	line = append(line, '}')
	g.rows++
	g.line = line
	_, err := g.w.Write(line)
	return err
}

func (g *geoJSON) Close() error {
	if g.rows == 0 {
		g.w.WriteString(`{"type":"FeatureCollection","features":[`)
	}
	g.w.WriteString("]}\n")
	return g.w.Flush()
}

// gpx writes GPX 1.1 with one track. Speed (m/s) and course go into Garmin's TrackPointExtension version 2, which most
// programs read; GPX itself has no place for them.
type gpx struct {
	w    *bufio.Writer
	name string
	last fleet.Millis // of the position before; 0 before the first
	line []byte
}

func newGPX(w io.Writer, name string) *gpx {
	g := &gpx{w: bufio.NewWriterSize(w, bufferSize), name: name}
	g.w.WriteString(xml.Header + `<gpx version="1.1" creator="Motorpool" xmlns="http://www.topografix.com/GPX/1/1"` +
		` xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v2"><trk><name>`)
	xml.EscapeText(g.w, []byte(name))
	g.w.WriteString("</name>")
	return g
}

func (g *gpx) Write(p *fleet.Position, _ []Value) error {
	line := g.line[:0]
	switch {
	case g.last == 0:
		line = append(line, "<trkseg>\n"...)
	case p.FixTime.Sub(g.last) > gap:
		line = append(line, "</trkseg><trkseg>\n"...)
	}
	g.last = p.FixTime
	line = append(line, `<trkpt lat="`...)
	line = appendDegrees(line, p.Lat)
	line = append(line, `" lon="`...)
	line = appendDegrees(line, p.Lng)
	line = append(line, `">`...)
	line = appendElement(line, "ele", p.Altitude)
	line = append(line, "<time>"...)
	line = p.FixTime.Time().AppendFormat(line, instantLayout)
	line = append(line, "</time>"...)
	if p.Satellites >= 0 {
		line = append(line, "<sat>"...)
		line = strconv.AppendInt(line, int64(p.Satellites), 10)
		line = append(line, "</sat>"...)
	}
	if !math.IsNaN(p.Speed) || !math.IsNaN(p.Course) {
		line = append(line, "<extensions><gpxtpx:TrackPointExtension>"...)
		line = appendElement(line, "gpxtpx:speed", p.Speed)
		line = appendElement(line, "gpxtpx:course", p.Course)
		line = append(line, "</gpxtpx:TrackPointExtension></extensions>"...)
	}
	line = append(line, "</trkpt>\n"...)
	g.line = line
	_, err := g.w.Write(line)
	return err
}

func (g *gpx) Close() error {
	if g.last != 0 {
		g.w.WriteString("</trkseg>")
	}
	g.w.WriteString("</trk></gpx>\n")
	return g.w.Flush()
}

// kmlChunk is how many positions one gx:Track holds. Its schema wants all times before all coordinates, so a track must
// be held until it is written; a gx:MultiTrack of short ones shows the same.
const kmlChunk = 1000

// kml writes KML 2.2 with Google's gx:MultiTrack.
type kml struct {
	w      *bufio.Writer
	last   fleet.Millis
	times  []byte
	coords []byte
	held   int
}

func newKML(w io.Writer, name string) *kml {
	k := &kml{w: bufio.NewWriterSize(w, bufferSize)}
	k.w.WriteString(xml.Header +
		`<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2">` +
		"<Document><Placemark><name>")
	xml.EscapeText(k.w, []byte(name))
	k.w.WriteString("</name><gx:MultiTrack><gx:interpolate>0</gx:interpolate>\n")
	return k
}

func (k *kml) Write(p *fleet.Position, _ []Value) error {
	if k.held == kmlChunk || k.last != 0 && p.FixTime.Sub(k.last) > gap {
		if err := k.flush(); err != nil {
			return err
		}
	}
	k.last = p.FixTime
	k.held++
	k.times = append(k.times, "<when>"...)
	k.times = p.FixTime.Time().AppendFormat(k.times, instantLayout)
	k.times = append(k.times, "</when>\n"...)
	k.coords = append(k.coords, "<gx:coord>"...)
	k.coords = appendDegrees(k.coords, p.Lng)
	k.coords = append(k.coords, ' ')
	k.coords = appendDegrees(k.coords, p.Lat)
	k.coords = append(k.coords, ' ')
	if math.IsNaN(p.Altitude) {
		k.coords = append(k.coords, '0')
	} else {
		k.coords = strconv.AppendFloat(k.coords, p.Altitude, 'f', -1, 64)
	}
	k.coords = append(k.coords, "</gx:coord>\n"...)
	return nil
}

func (k *kml) flush() error {
	if k.held == 0 {
		return nil
	}
	k.w.WriteString("<gx:Track>\n")
	k.w.Write(k.times)
	k.w.Write(k.coords)
	_, err := k.w.WriteString("</gx:Track>\n")
	k.times, k.coords, k.held = k.times[:0], k.coords[:0], 0
	return err
}

func (k *kml) Close() error {
	if err := k.flush(); err != nil {
		return err
	}
	k.w.WriteString("</gx:MultiTrack></Placemark></Document></kml>\n")
	return k.w.Flush()
}

// polyline writes {"precision":5,"polyline":"…","points":2} with the positions in Google's encoded polyline algorithm
// format: rounded to precision decimals, as differences.
type polyline struct {
	w        *bufio.Writer
	scale    float64
	lat, lng int64
	points   int
	piece    []byte
}

func newPolyline(w io.Writer, precision int) *polyline {
	p := &polyline{w: bufio.NewWriterSize(w, bufferSize), scale: math.Pow10(precision)}
	fmt.Fprintf(p.w, `{"precision":%d,"polyline":"`, precision)
	return p
}

func (l *polyline) Write(p *fleet.Position, _ []Value) error {
	lat, lng := int64(math.Round(p.Lat*l.scale)), int64(math.Round(p.Lng*l.scale))
	l.piece = appendPolyline(l.piece[:0], lat-l.lat)
	l.piece = appendPolyline(l.piece, lng-l.lng)
	l.lat, l.lng = lat, lng
	l.points++
	_, err := l.w.Write(l.piece)
	return err
}

func (l *polyline) Close() error {
	fmt.Fprintf(l.w, "\",\"points\":%d}\n", l.points)
	return l.w.Flush()
}

// appendPolyline encodes one difference, escaped for JSON: of the characters it can give, ? to ~, only the backslash
// needs that.
func appendPolyline(dst []byte, v int64) []byte {
	bits := uint64(v<<1) ^ uint64(v>>63)
	for {
		c := byte(bits & 0x1f)
		bits >>= 5
		if bits != 0 {
			c |= 0x20
		}
		c += 63
		if c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
		if bits == 0 {
			return dst
		}
	}
}

func appendDegrees(dst []byte, deg float64) []byte { return strconv.AppendFloat(dst, deg, 'f', -1, 64) }

func appendElement(dst []byte, name string, v float64) []byte {
	if math.IsNaN(v) {
		return dst
	}
	dst = append(dst, '<')
	dst = append(dst, name...)
	dst = append(dst, '>')
	dst = strconv.AppendFloat(dst, v, 'f', -1, 64)
	dst = append(dst, "</"...)
	dst = append(dst, name...)
	return append(dst, '>')
}
