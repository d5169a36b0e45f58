package fleet

import "time"

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

// MillisOf returns a time as milliseconds, and zero for the zero time.
func MillisOf(t time.Time) Millis {
	if t.IsZero() {
		return 0
	}
	return Millis(t.UnixMilli())
}

// Sub returns how much later m is than n.
func (m Millis) Sub(n Millis) time.Duration { return time.Duration(m-n) * time.Millisecond }

// Add returns the instant d later.
func (m Millis) Add(d time.Duration) Millis { return m + Millis(d/time.Millisecond) }
