// Package units writes the quantities of the interface, in the units that the caller asked for, and rounds them once.
package units

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/motorpool/fleet"
)

// The quantities of the interface. They are kept as they were worked out and rounded when they are written, in the
// units that the caller asked for: what was said in whole kilometres is read in whole kilometres. A speed is stored in
// hundredths of a metre a second, so one decimal is what can be told of it.
type (
	Miles        float64
	WholeMiles   float64
	MilesPerHour float64
	Gallons      float64
)

// Quantity is one of these. Places gives its decimals, and what it is multiplied by for its metric unit.
type Quantity interface {
	Places() (decimals int, metric float64)
}

// Places are three decimals, and kilometres in a mile.
func (Miles) Places() (int, float64) { return 3, kmPerMile }

// Places are no decimals, and kilometres in a mile.
func (WholeMiles) Places() (int, float64) { return 0, kmPerMile }

// Places are one decimal, and kilometres in a mile.
func (MilesPerHour) Places() (int, float64) { return 1, kmPerMile }

// Places are three decimals, and litres in a gallon.
func (Gallons) Places() (int, float64) { return 3, fleet.LitresPerGal }

const kmPerMile = fleet.MetresPerMile / 1000

// MarshalJSON writes all digits; Encode rounds them.
func (v Miles) MarshalJSON() ([]byte, error) { return unrounded(v) }

// MarshalJSON writes all digits; Encode rounds them.
func (v WholeMiles) MarshalJSON() ([]byte, error) { return unrounded(v) }

// MarshalJSON writes all digits; Encode rounds them.
func (v MilesPerHour) MarshalJSON() ([]byte, error) { return unrounded(v) }

// MarshalJSON writes all digits; Encode rounds them.
func (v Gallons) MarshalJSON() ([]byte, error) { return unrounded(v) }

// Schema says that it is a whole number, or null, as it is wherever it is shown.
func (WholeMiles) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Format: "int64", Nullable: true}
}

// exactly follows a number that is to be rounded, and as many zeros as it shall have decimals. It is an exponent of
// zero, so that the number is one in any case; nothing else in an answer is written so.
const exactly = "E+000"

func unrounded[Q interface {
	Quantity
	~float64
}](v Q) ([]byte, error) {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return nil, fmt.Errorf("%v is no quantity", float64(v))
	}
	decimals, _ := v.Places()
	text := append(strconv.AppendFloat(nil, float64(v), 'f', -1, 64), exactly...)
	return append(text, "000000000"[:decimals]...), nil
}

// rounding gives the number behind what unrounded wrote, and the decimals that it is to have.
func rounding(number string) (string, int, bool) {
	digits, zeros, ok := strings.Cut(number, exactly)
	return digits, len(zeros), ok
}

// Encode writes a value as one line of JSON, in the wanted units, without escaping HTML.
func Encode(v any, metric bool) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	if metric {
		return MetricJSON(buf.Bytes())
	}
	return ShownJSON(buf.Bytes()), nil
}

// ShownJSON rounds a document's quantities and leaves everything else as it is.
func ShownJSON(doc []byte) []byte {
	if !bytes.Contains(doc, []byte(exactly)) {
		return doc
	}
	out := make([]byte, 0, len(doc))
	for len(doc) > 0 {
		end := bytes.IndexAny(doc, `"-0123456789`)
		if end < 0 {
			break
		}
		out, doc = append(out, doc[:end]...), doc[end:]
		if doc[0] == '"' {
			end = textEnd(doc)
			out, doc = append(out, doc[:end]...), doc[end:]
			continue
		}
		if end = bytes.IndexAny(doc, ",]} \n"); end < 0 {
			end = len(doc)
		}
		if digits, decimals, ok := rounding(string(doc[:end])); ok {
			v, _ := strconv.ParseFloat(digits, 64) // unrounded wrote it
			out = appendRounded(out, v, decimals)
		} else {
			out = append(out, doc[:end]...)
		}
		doc = doc[end:]
	}
	return append(out, doc...)
}

// textEnd is the length of the string that a document begins with.
func textEnd(doc []byte) int {
	for i := 1; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(doc)
}

// appendRounded writes a number with its decimals; halves, which the binary number may lie a little below, go up.
func appendRounded(out []byte, v float64, decimals int) []byte {
	return strconv.AppendFloat(out, Rounded(v, decimals)+0, 'f', decimals, 64)
}

// MetricJSON rewrites a document from miles to kilometres and from gallons to litres: a member whose name ends in _mi
// becomes _km (miles_driven, included_miles and extra_miles are km_driven and so on), one in _mph becomes _kmh, one in
// _gal becomes _l, and its number is converted. A quantity is rounded as in miles, other whole numbers stay whole, and
// others are rounded to the decimals that they had, at least one. Everything else, the order of members included, stays
// as it is; so do metadata and custom_fields, whose names are the caller's.
func MetricJSON(doc []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	m := metricWriter{dec: dec}
	m.out.Grow(len(doc) + len(doc)/16)
	if err := m.value(1); err != nil && err != io.EOF {
		return nil, fmt.Errorf("convert units: %w", err)
	}
	m.out.WriteByte('\n')
	return m.out.Bytes(), nil
}

type metricWriter struct {
	dec    *json.Decoder
	out    bytes.Buffer
	theirs bool // within members that belong to the caller
}

// value copies the next value; numbers in it are multiplied by a factor.
func (m *metricWriter) value(factor float64) error {
	token, err := m.dec.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		theirs := m.theirs
		m.out.WriteByte(byte(t))
		for first := true; m.dec.More(); first = false {
			if !first {
				m.out.WriteByte(',')
			}
			inner := factor
			if t == '{' {
				if inner, err = m.name(); err != nil {
					return err
				}
			}
			if err := m.value(inner); err != nil {
				return err
			}
			m.theirs = theirs
		}
		end, err := m.dec.Token()
		if err != nil {
			return err
		}
		m.out.WriteByte(byte(end.(json.Delim)))
	case json.Number:
		m.out.WriteString(converted(t.String(), factor))
	case string:
		m.text(t)
	case bool:
		m.out.WriteString(strconv.FormatBool(t))
	case nil:
		m.out.WriteString("null")
	}
	return nil
}

// name copies a member's name, renamed if it carries a unit, and gives the factor of its value.
func (m *metricWriter) name() (float64, error) {
	token, err := m.dec.Token()
	if err != nil {
		return 1, err
	}
	name, factor := token.(string), 1.0
	if !m.theirs {
		name, factor = MetricName(name)
	}
	m.theirs = m.theirs || name == "custom_fields" || name == "metadata"
	m.text(name)
	m.out.WriteByte(':')
	return factor, nil
}

func (m *metricWriter) text(s string) {
	enc := json.NewEncoder(&m.out)
	enc.SetEscapeHTML(false)
	enc.Encode(s) // a string always encodes
	m.out.Truncate(m.out.Len() - 1)
}

// metricUnitsOf are the ends of names that carry a unit, those of their metric twins, and what a number is times.
var metricUnitsOf = []struct {
	end, twin string
	factor    float64
}{{"_mi", "_km", kmPerMile}, {"miles_driven", "km_driven", kmPerMile}, {"included_miles", "included_km", kmPerMile},
	{"extra_miles", "extra_km", kmPerMile}, {"_mph", "_kmh", kmPerMile}, {"_gal", "_l", fleet.LitresPerGal}}

// MetricName gives the metric twin of a member's name, and what its number is multiplied by; the name itself and 1
// if it has none.
func MetricName(name string) (string, float64) {
	for _, u := range metricUnitsOf {
		if stem, ok := strings.CutSuffix(name, u.end); ok {
			return stem + u.twin, u.factor
		}
	}
	return name, 1
}

// converted multiplies a number in text and rounds it.
func converted(number string, factor float64) string {
	digits, decimals, exact := rounding(number)
	if factor == 1 && !exact {
		return number
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return number
	}
	if !exact {
		if _, fraction, has := strings.Cut(digits, "."); has {
			decimals = max(1, len(fraction))
		}
	}
	return string(appendRounded(nil, v*factor, decimals))
}

// MilesOf converts metres.
func MilesOf(metres float64) Miles { return Miles(metres / fleet.MetresPerMile) }

// GallonsOf converts litres to US gallons.
func GallonsOf(litres float64) Gallons { return Gallons(litres / fleet.LitresPerGal) }

// MphOf converts metres a second to miles an hour.
func MphOf(mps float64) MilesPerHour { return MilesPerHour(mps / fleet.MetresPerMph) }

// Rounded cuts a number to decimals.
func Rounded(v float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	return math.Round(v*scale) / scale
}
