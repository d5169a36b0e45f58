package sink

import (
	"math"

	"github.com/motorpool/fleet"
)

// latest is the last instant that is stored, 1 January 2200: DateTime64(3) ends in 2299.
const latest = 7_258_118_400_000

// millis cuts an instant to what DateTime64 holds.
func millis(m fleet.Millis) int64 { return min(max(int64(m), 0), latest) }

// degrees7 returns a coordinate in steps of fleet.CoordinateUnit.
func degrees7(deg float64) int32 { return int32(math.Round(scaled(deg, 1e7, -1.8e9, 1.8e9))) }

// fromDegrees7 is the inverse; for a coordinate that fleet.Quantise made it gives the very same float.
func fromDegrees7(v int32) float64 { return float64(v) * fleet.CoordinateUnit }

// scaled multiplies and cuts to a range; NaN becomes zero.
func scaled(v, by, low, high float64) float64 {
	v *= by
	if math.IsNaN(v) {
		return 0
	}
	return min(max(v, low), high)
}

// optional is a Nullable column: values in one piece of memory, and for the driver a pointer to each or nil.
type optional[T any] struct {
	values  []T
	present []bool
	ptrs    []*T
}

func (o *optional[T]) add(v T, present bool) {
	o.values = append(o.values, v)
	o.present = append(o.present, present)
}

func (o *optional[T]) reset() {
	o.values, o.present, o.ptrs = o.values[:0], o.present[:0], o.ptrs[:0]
}

// column returns the pointers, which hold until the next add or reset.
func (o *optional[T]) column() []*T {
	o.ptrs = o.ptrs[:0]
	for i := range o.values {
		if o.present[i] {
			o.ptrs = append(o.ptrs, &o.values[i])
		} else {
			o.ptrs = append(o.ptrs, nil)
		}
	}
	return o.ptrs
}

// number adds a quantity in its column's unit, which is 1/by of the quantity's; NaN is absent.
func number[T int32 | uint32 | uint16](o *optional[T], v, by float64) {
	low, high := 0.0, 0.0
	switch any(T(0)).(type) {
	case int32:
		low, high = math.MinInt32, math.MaxInt32
	case uint32:
		high = math.MaxUint32
	case uint16:
		high = math.MaxUint16
	}
	o.add(T(math.Round(scaled(v, by, low, high))), !math.IsNaN(v))
}
