package rest

import (
	"math"
	"strings"
	"unicode"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// RoundedOrNull returns a quantity rounded to decimals, or nil if it is not known.
func RoundedOrNull(v float64, decimals int) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	scale := math.Pow10(decimals)
	v = math.Round(v*scale) / scale
	return &v
}

// QuantityOrNull returns a quantity, or nil if it is not known.
func QuantityOrNull[Q ~float64](v float64) *Q {
	if math.IsNaN(v) {
		return nil
	}
	q := Q(v)
	return &q
}

// WholeOrNull returns a quantity as a whole number, or nil if it is not known.
func WholeOrNull(v float64) *int {
	if math.IsNaN(v) {
		return nil
	}
	n := int(math.Round(v))
	return &n
}

// ConvertOrNull converts a number that may be absent.
func ConvertOrNull[T any](v *float64, convert func(float64) T) *T {
	if v == nil {
		return nil
	}
	c := convert(*v)
	return &c
}

// TextOrNull returns a text, or nil if it is empty.
func TextOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// NonNil returns a list that is never nil.
func NonNil[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}

// Seconds returns a duration in seconds.
func Seconds(ms fleet.Millis) float64 { return float64(ms) / 1000 }

// Instant returns an instant as it is answered.
func Instant(at fleet.Millis) record.Instant { return record.InstantOf(at.Time()) }

// IsoTime writes an instant as it stands in texts.
func IsoTime(at fleet.Millis) string { return at.Time().Format("2006-01-02T15:04:05.000Z") }

// Printable says whether a text can be an identifier that people and machines read: no control characters, and no
// blanks at its ends.
func Printable(text string) bool {
	return text != "" && strings.TrimSpace(text) == text && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsPrint(r) || r == unicode.ReplacementChar
	})
}
