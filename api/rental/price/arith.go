package price

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/motorpool/fleet"
)

// Limit is the largest amount of minor units that a price, or any part of it, may have: what every reader of JSON
// can hold exactly.
const Limit = 1<<53 - 1

// calc calculates with amounts. Once a result is beyond Limit it is out of range, whatever follows, and its
// results are zero.
type calc struct{ out bool }

// err says that the amounts were too large.
func (c *calc) err() error {
	if !c.out {
		return nil
	}
	return fleet.NewError(fleet.CodeValidation, "The price cannot be worked out: its amounts are too large.",
		fleet.FieldError{Pointer: "/rate_plan_id", Code: "out_of_range", Detail: "leads to amounts that are too large"})
}

// within returns an amount, or zero if it is beyond the limit.
func (c *calc) within(amount int64) int64 {
	if c.out || amount > Limit || amount < -Limit {
		c.out = true
		return 0
	}
	return amount
}

// add adds two amounts.
func (c *calc) add(a, b int64) int64 { return c.within(c.within(a) + c.within(b)) }

// times multiplies an amount by a number.
func (c *calc) times(amount, n int64) int64 { return c.scale(amount, n, 1) }

// scale returns amount × num / den, rounded half away from zero. It is the one rounding of this package. den must be
// positive, and num not negative but for den 1.
func (c *calc) scale(amount, num, den int64) int64 {
	negative := (amount < 0) != (num < 0)
	high, low := bits.Mul64(magnitude(amount), magnitude(num))
	low, carry := bits.Add64(low, uint64(den)/2, 0)
	high += carry
	if high >= uint64(den) {
		c.out = true
		return 0
	}
	result, _ := bits.Div64(high, low, uint64(den))
	if result > Limit {
		c.out = true
		return 0
	}
	if negative {
		return c.within(-int64(result))
	}
	return c.within(int64(result))
}

// magnitude is the absolute value, also of the least integer.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// Allocate divides an amount in proportion to weights, which are not negative and whose sum is an int64, by largest
// remainder: the parts add up to the amount exactly, each is within one minor unit of its share, and units that remain
// go to the largest remainders, of equal ones to the first. Where all weights are zero the amount is divided evenly.
// Without weights there are no parts.
func Allocate(amount int64, weights []int64) []int64 {
	var total uint64
	for _, w := range weights {
		total += uint64(w)
	}
	whole := magnitude(amount)
	parts, remainders := make([]int64, len(weights)), make([]uint64, len(weights))
	left := whole
	for i, w := range weights {
		share, of := uint64(w), total
		if total == 0 {
			share, of = 1, uint64(len(weights))
		}
		high, low := bits.Mul64(whole, share)
		part, rest := bits.Div64(high, low, of) // share ≤ of, so that the quotient fits
		parts[i], remainders[i] = int64(part), rest
		left -= part
	}
	order := make([]int, len(weights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(remainders[j], remainders[i]) })
	for i := range left { // fewer than there are parts
		parts[order[i]]++
	}
	if amount < 0 {
		for i := range parts {
			parts[i] = -parts[i]
		}
	}
	return parts
}

// spread divides an amount evenly.
func spread(amount int64, n int) []int64 { return Allocate(amount, make([]int64, n)) }
