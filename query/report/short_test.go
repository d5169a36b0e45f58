package report

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// What is worked out with short numbers is what is worked out with numbers of any size, or is left to these.
func TestShortNumbersComeToWhatLongOnesDo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	number := func() int64 {
		n := rng.Int64() >> rng.IntN(63)
		if rng.IntN(2) == 0 {
			n = -n
		}
		return n
	}
	long := 0
	for range 200_000 {
		above, below, exact := short{n: 1}, short{n: 1}, [2]*big.Int{big.NewInt(1), big.NewInt(1)}
		for range 1 + rng.IntN(3) {
			a, b := number(), number()
			above.times(a)
			below.times(b)
			exact[0].Mul(exact[0], big.NewInt(a))
			exact[1].Mul(exact[1], big.NewInt(b))
		}
		decimals := rng.IntN(5)
		if exact[1].Sign() == 0 {
			continue
		}
		text := exact[0].String() + "/" + exact[1].String()
		got, ok := above.by(below, decimals)
		if want := rounded(exact[0], exact[1], decimals); ok && got != want {
			t.Fatalf("%s with %d decimals is %s, want %s", text, decimals, got, want)
		}
		if !ok {
			long++
		}
	}
	if long == 0 || long > 180_000 {
		t.Errorf("%d of 200,000 were long", long)
	}
	for range 200_000 {
		f := math.Float64frombits(rng.Uint64())
		if rng.IntN(4) > 0 {
			f = float64(number()) / float64(int64(1)<<rng.IntN(40))
		}
		decimals, want := rng.IntN(5), Value{}
		if !math.IsNaN(f) && !math.IsInf(f, 0) {
			want = Rounded(new(big.Rat).SetFloat64(f), decimals)
		}
		if got := roundedFloat(f, decimals); got != want {
			t.Fatalf("%v with %d decimals is %s, want %s", f, decimals, got, want)
		}
	}
	for _, f := range []float64{0, math.Copysign(0, -1), 0.5, -0.5, 0.005, 2.5, 1e-300, math.SmallestNonzeroFloat64,
		1 << 62, 1 << 63, math.MaxFloat64} {
		for decimals := range 5 {
			if got, want := roundedFloat(f, decimals), Rounded(new(big.Rat).SetFloat64(f), decimals); got != want {
				t.Errorf("%v with %d decimals is %s, want %s", f, decimals, got, want)
			}
		}
	}
}
