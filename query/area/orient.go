package area

import (
	"math"
	"math/big"
)

// orient says on which side of the line from a to b the point c lies: 1 left, -1 right, 0 on it. The answer is exact.
func orient(ax, ay, bx, by, cx, cy float64) int {
	if ax == bx && (ay == by || bx == cx) || ay == by && by == cy || ax == cx && ay == cy || bx == cx && by == cy {
		return 0
	}
	left := (ax - cx) * (by - cy)
	right := (ay - cy) * (bx - cx)
	det := left - right
	// Shewchuk, Adaptive Precision Floating-Point Arithmetic (1997), bound A of orient2d: beyond it the sign is right.
	const bound = (3 + 16*0x1p-53) * 0x1p-53
	if limit := bound * (math.Abs(left) + math.Abs(right)); det > limit || -det > limit {
		if det > 0 {
			return 1
		}
		return -1
	}
	return orientExact(ax, ay, bx, by, cx, cy)
}

// orientExact is orient for the few points that are almost on the line.
func orientExact(ax, ay, bx, by, cx, cy float64) int {
	rat := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	sub := func(a, b float64) *big.Rat { return new(big.Rat).Sub(rat(a), rat(b)) }
	left := new(big.Rat).Mul(sub(ax, cx), sub(by, cy))
	right := new(big.Rat).Mul(sub(ay, cy), sub(bx, cx))
	return left.Cmp(right)
}
