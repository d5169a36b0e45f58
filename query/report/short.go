package report

import (
	"math"
	"math/bits"
)

// short is a whole number of at most 64 bits with a sign; long says that it is larger, and then nothing else holds.
type short struct {
	n              uint64
	negative, long bool
}

// times multiplies the number.
func (s *short) times(x int64) {
	size := uint64(x)
	if x < 0 {
		size, s.negative = -size, !s.negative
	}
	high, low := bits.Mul64(s.n, size)
	s.n, s.long = low, s.long || high != 0
}

// by divides the number by another one that is not 0, and rounds to so many decimals, halves away from zero; ok says
// whether that was short enough.
func (s short) by(under short, decimals int) (v Value, ok bool) {
	high, low := bits.Mul64(s.n, uint64(tens[decimals]))
	if s.long || under.long || high >= under.n {
		return Value{}, false
	}
	n, rest := bits.Div64(high, low, under.n)
	if n >= math.MaxInt64 {
		return Value{}, false
	}
	if rest >= under.n-rest {
		n++
	}
	return Number(signed(n, s.negative != under.negative), decimals), true
}

func signed(n uint64, negative bool) int64 {
	if negative {
		return -int64(n)
	}
	return int64(n)
}

// tens are the powers of ten that an int64 holds.
var tens = func() (all [19]int64) {
	all[0] = 1
	for i := 1; i < len(all); i++ {
		all[i] = all[i-1] * 10
	}
	return all
}()

// roundedFloat is what a float is exactly, rounded to so many decimals, halves away from zero; nothing if it is no
// number or too large.
func roundedFloat(f float64, decimals int) Value {
	fraction, exponent := math.Frexp(math.Abs(f))
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Value{}
	}
	high, low := bits.Mul64(uint64(fraction*(1<<53)), uint64(tens[decimals])) // times 2 to the exponent, less 53
	var n uint64
	switch exponent -= 53; {
	case exponent >= 0:
		if high != 0 || bits.Len64(low)+exponent > 63 {
			return Value{}
		}
		n = low << exponent
	case exponent > -128:
		shift := uint(-exponent)
		var carry uint64
		if shift > 64 { // half of the last place
			high += 1 << (shift - 65)
		} else {
			low, carry = bits.Add64(low, 1<<(shift-1), 0)
			high += carry
		}
		if shift >= 64 {
			n = high >> (shift - 64)
		} else if n = low>>shift | high<<(64-shift); high>>shift != 0 {
			return Value{}
		}
	}
	if n > math.MaxInt64 {
		return Value{}
	}
	return Number(signed(n, f < 0), decimals)
}
