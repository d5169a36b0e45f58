package fleet

import (
	"strings"
	"time"
)

// Exact conversions between SI and the units of the edges. The mile is the international mile of 1959 and the knot is
// one nautical mile (1852 m) an hour, both exact by definition.
const (
	MetresPerMile  = 1609.344
	MetresPerKnot  = 1852.0 / 3600.0 // metres per second in one knot
	MetresPerKmh   = 1000.0 / 3600.0 // metres per second in one km/h
	MetresPerMph   = MetresPerMile / 3600.0
	LitresPerGal   = 3.785411784 // US liquid gallon
	StandardG      = 9.80665     // metres per second squared in one g
	EarthRadius    = 6371008.8   // mean radius in metres (IUGG)
	CoordinateUnit = 1e-7        // degrees in one step of a stored coordinate, about a centimetre
)

// Millis is an instant in milliseconds since the Unix epoch, UTC. Zero means that no time is known.
type Millis int64

// Time returns the instant as a time in UTC, and the zero time for zero.
func (m Millis) Time() time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(m)).UTC()
}

// MillisOf returns a time as milliseconds, and zero for the zero time. The epoch itself is one millisecond, as
// zero is no time.
func MillisOf(t time.Time) Millis {
	if t.IsZero() {
		return 0
	}
	if ms := t.UnixMilli(); ms != 0 {
		return Millis(ms)
	}
	return 1
}

// EarliestFix is the second week-number epoch of GPS, 22 August 1999: a receiver that stands before it has not had a
// fix, and no recording that we could be sent is older.
const EarliestFix Millis = 935_280_000_000

// ParseTime reads an instant as RFC 3339 writes it: with a fraction or without, in capitals or not, with a leap second,
// which is the second after it.
func ParseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err == nil || len(text) < len("2006-01-02T15:04:05Z") {
		return t, err
	}
	capitals, leap := strings.ToUpper(text), time.Duration(0)
	if head, ok := strings.CutSuffix(capitals[:19], ":59:60"); ok {
		capitals, leap = head+":59:59"+capitals[19:], time.Second
	}
	if again, err := time.Parse(time.RFC3339Nano, capitals); err == nil {
		return again.Add(leap), nil
	}
	return t, err
}

// Sub returns how much later m is than n.
func (m Millis) Sub(n Millis) time.Duration { return time.Duration(m-n) * time.Millisecond }

// Add returns the instant d later.
func (m Millis) Add(d time.Duration) Millis { return m + Millis(d/time.Millisecond) }
