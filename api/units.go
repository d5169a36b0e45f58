package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/motorpool/fleet"
)

// metricJSON rewrites a document from miles to kilometres: a member whose name ends in _mi becomes _km, one in _mph
// becomes _kmh, and its number is converted. A whole number stays whole; others are rounded to the decimals that
// they had, at least one. Everything else, the order of members included, stays as it is; so do metadata and
// custom_fields, whose names are the caller's.
func metricJSON(doc []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	m := metricWriter{dec: dec}
	m.out.Grow(len(doc) + len(doc)/16)
	if err := m.value(false); err != nil && err != io.EOF {
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

// value copies the next value; numbers in it are converted if convert is set.
func (m *metricWriter) value(convert bool) error {
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
			inner := convert
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
		if convert {
			m.out.WriteString(milesToKm(t.String()))
		} else {
			m.out.WriteString(t.String())
		}
	case string:
		m.text(t)
	case bool:
		m.out.WriteString(strconv.FormatBool(t))
	case nil:
		m.out.WriteString("null")
	}
	return nil
}

// name copies a member's name, renamed if it carries a unit, and says whether its value is to be converted.
func (m *metricWriter) name() (bool, error) {
	token, err := m.dec.Token()
	if err != nil {
		return false, err
	}
	name, convert := token.(string), false
	if !m.theirs {
		name, convert = metricName(name)
	}
	m.theirs = m.theirs || name == "custom_fields" || name == "metadata"
	m.text(name)
	m.out.WriteByte(':')
	return convert, nil
}

func (m *metricWriter) text(s string) {
	enc := json.NewEncoder(&m.out)
	enc.SetEscapeHTML(false)
	enc.Encode(s) // a string always encodes
	m.out.Truncate(m.out.Len() - 1)
}

// metricName gives the metric twin of a member's name, if it has one.
func metricName(name string) (string, bool) {
	if stem, ok := strings.CutSuffix(name, "_mi"); ok {
		return stem + "_km", true
	}
	if stem, ok := strings.CutSuffix(name, "_mph"); ok {
		return stem + "_kmh", true
	}
	return name, false
}

func milesToKm(number string) string {
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return number
	}
	v *= fleet.MetresPerMile / 1000
	_, fraction, has := strings.Cut(number, ".")
	if !has {
		return strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', max(1, len(fraction)), 64)
}
