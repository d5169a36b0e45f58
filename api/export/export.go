// Package export writes answers in the formats that callers choose: tables as JSON, newline-delimited JSON, CSV, Arrow
// streams and Parquet, and tracks also as GeoJSON, GPX, KML and encoded polyline.
//
// Every writer takes one row at a time and holds at most one batch in memory, so the length of an answer does not
// matter. Writers do not close what they write to, and nothing is complete before Close returned nil: a caller who
// cannot finish must not let the answer end as if it were whole. Errors are those of the underlying writer. A writer is
// owned by one goroutine.
package export

import (
	"fmt"
	"io"
	"math"
	"mime"
	"strconv"
	"strings"

	"github.com/motorpool/fleet"
)

// Format is a form of an answer, by the name that callers give.
type Format string

// The formats.
const (
	JSON     Format = "json"
	NDJSON   Format = "ndjson"
	CSV      Format = "csv"
	Arrow    Format = "arrow"
	Parquet  Format = "parquet"
	XLSX     Format = "xlsx"
	GeoJSON  Format = "geojson"
	GPX      Format = "gpx"
	KML      Format = "kml"
	Polyline Format = "polyline"
)

var (
	// Tables are the formats of any list of rows.
	Tables = []Format{JSON, NDJSON, CSV, Arrow, Parquet}
	// Reports are the formats of reports, which api/report writes.
	Reports = []Format{JSON, CSV, XLSX, Arrow, Parquet}
	// Tracks are the formats of the positions of one vehicle.
	Tracks = []Format{JSON, NDJSON, CSV, Arrow, Parquet, GeoJSON, GPX, KML, Polyline}
)

// mediaTypes gives the media type of each format. An encoded polyline has no registered one and comes inside JSON.
var mediaTypes = map[Format]string{
	JSON:     "application/json",
	NDJSON:   "application/x-ndjson",
	CSV:      "text/csv",
	Arrow:    "application/vnd.apache.arrow.stream",
	Parquet:  "application/vnd.apache.parquet",
	XLSX:     "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	GeoJSON:  "application/geo+json",
	GPX:      "application/gpx+xml",
	KML:      "application/vnd.google-earth.kml+xml",
	Polyline: "application/json",
}

// MediaType returns the media type of the format, without parameters.
func (f Format) MediaType() string { return mediaTypes[f] }

// Extension returns the usual ending of a file in the format, with its dot.
func (f Format) Extension() string {
	switch f {
	case Arrow:
		return ".arrows"
	case Polyline:
		return ".json"
	}
	return "." + string(f)
}

// MediaTypes returns the distinct media types of formats, in order.
func MediaTypes(among []Format) []string {
	var types []string
	seen := map[string]bool{}
	for _, f := range among {
		if t := f.MediaType(); !seen[t] {
			seen[t] = true
			types = append(types, t)
		}
	}
	return types
}

// Names returns the names of formats, in order.
func Names(among []Format) []string {
	names := make([]string, len(among))
	for i, f := range among {
		names[i] = string(f)
	}
	return names
}

// Choose picks a format: the one named, else the one that the Accept header prefers, else the first. It is an error if
// the named one is not offered, or if the header names media types and takes none of those offered.
func Choose(name, accept string, among []Format) (Format, error) {
	if name != "" {
		for _, f := range among {
			if string(f) == name {
				return f, nil
			}
		}
		return "", fmt.Errorf("%q is not one of %s", name, strings.Join(Names(among), ", "))
	}
	if strings.TrimSpace(accept) == "" {
		return among[0], nil
	}
	best, bestQuality := Format(""), 0.0
	for _, f := range among {
		// A caller who asks for JSON means the table.
		if f == Polyline {
			continue
		}
		if q := Quality(f.MediaType(), accept); q > bestQuality {
			best, bestQuality = f, q
		}
	}
	if best == "" {
		return "", fmt.Errorf("none of %s is acceptable", strings.Join(MediaTypes(among), ", "))
	}
	return best, nil
}

// Quality returns how welcome a media type is by an Accept header (RFC 9110, 12.5.1): the weight of the most specific
// range that matches, 0 for none.
func Quality(mediaType, accept string) float64 {
	best, specific := 0.0, -1
	for _, part := range strings.Split(accept, ",") {
		wanted, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		level := -1
		switch {
		case wanted == mediaType:
			level = 2
		case strings.HasSuffix(wanted, "/*") && strings.HasPrefix(mediaType, strings.TrimSuffix(wanted, "*")):
			level = 1
		case wanted == "*/*":
			level = 0
		}
		if level <= specific {
			continue
		}
		q := 1.0
		if text, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil || !(q >= 0 && q <= 1) {
				q = 0
			}
		}
		best, specific = q, level
	}
	return best
}

// Kind is the type of the values of a column.
type Kind int

// The kinds, and how each is written: JSON and Arrow have types for all; in CSV an instant is RFC 3339 text and words
// are joined by semicolons.
const (
	Text Kind = iota
	Number
	Whole
	Truth
	Instant
	Words
)

// Column names a column and says what it holds.
type Column struct {
	Name string
	Kind Kind
}

// Value is one cell of a row; the zero value is null. What it holds must fit the kind of its column.
type Value struct {
	set    bool
	number float64
	whole  int64
	text   string
	words  []string
}

// TextOf makes a value of a Text column; no text is null.
func TextOf(s string) Value { return Value{set: s != "", text: s} }

// NumberOf makes a value of a Number column, rounded to decimals; NaN and infinities are null.
func NumberOf(v float64, decimals int) Value {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Value{}
	}
	scale := math.Pow10(decimals)
	if r := math.Round(v*scale) / scale; !math.IsInf(r, 0) && math.Abs(v) < 1e15/scale {
		v = r + 0 // no negative zero
	}
	return Value{set: true, number: v}
}

// ExactOf makes a value of a Number column as it is; NaN and infinities are null.
func ExactOf(v float64) Value {
	return Value{set: !math.IsNaN(v) && !math.IsInf(v, 0), number: v}
}

// WholeOf makes a value of a Whole column.
func WholeOf(v int64) Value { return Value{set: true, whole: v} }

// TruthOf makes a value of a Truth column; unknown is null.
func TruthOf(v fleet.Tri) Value {
	value := Value{set: v != fleet.Unknown}
	if v == fleet.Yes {
		value.whole = 1
	}
	return value
}

// InstantOf makes a value of an Instant column; no time is null.
func InstantOf(t fleet.Millis) Value { return Value{set: t != 0, whole: int64(t)} }

// WordsOf makes a value of a Words column; no words are an empty list, not null.
func WordsOf(words []string) Value { return Value{set: true, words: words} }

// Table writes rows, which have one value for each column, in their order.
type Table interface {
	Write(row []Value) error
	Close() error
}

// NewTable returns the writer of a format of Tables. JSON is an array of objects without an envelope.
func NewTable(f Format, w io.Writer, columns []Column) (Table, error) {
	switch f {
	case JSON:
		return newJSON(w, columns), nil
	case NDJSON:
		return newNDJSON(w, columns), nil
	case CSV:
		return newCSV(w, columns)
	case Arrow:
		return newArrow(w, columns), nil
	case Parquet:
		return newParquet(w, columns)
	}
	return nil, fmt.Errorf("%s is not a format of tables", f)
}

// instantLayout is RFC 3339 with milliseconds, always UTC.
const instantLayout = "2006-01-02T15:04:05.000Z"
