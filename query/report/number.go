package report

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Value is what a figure comes to: an exact decimal number, a text, or nothing, which the zero value is.
type Value struct {
	unscaled int64
	text     string
	decimals int8
	known    bool
	words    bool
}

// Known says whether it is anything.
func (v Value) Known() bool { return v.known }

// Whole returns a whole number.
func Whole(n int64) Value { return Value{known: true, unscaled: n} }

// Word returns a text.
func Word(s string) Value { return Value{known: true, words: true, text: s} }

// Rounded returns a number with so many decimals, halves away from zero; nothing if it is too large.
func Rounded(r *big.Rat, decimals int) Value {
	return rounded(new(big.Int).Set(r.Num()), new(big.Int).Set(r.Denom()), decimals)
}

// rounded is that of a fraction, whose parts it changes.
func rounded(over, under *big.Int, decimals int) Value {
	negative := over.Sign()*under.Sign() < 0
	over.Abs(over)
	under.Abs(under)
	for range decimals {
		over.Mul(over, ten)
	}
	over.Add(over.Lsh(over, 1), under)
	over.Quo(over, under.Lsh(under, 1))
	if negative {
		over.Neg(over)
	}
	if !over.IsInt64() {
		return Value{}
	}
	return Value{known: true, unscaled: over.Int64(), decimals: int8(decimals)}
}

var ten = big.NewInt(10)

func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// Rat is the number, nil for nothing and for a text.
func (v Value) Rat() *big.Rat {
	if !v.known || v.words {
		return nil
	}
	return new(big.Rat).SetFrac(big.NewInt(v.unscaled), power(int(v.decimals)))
}

// Unscaled is the number as a whole one and the decimals that it has.
func (v Value) Unscaled() (n int64, decimals int) { return v.unscaled, int(v.decimals) }

// Float is the number as nearly as a float can have it.
func (v Value) Float() float64 {
	f, _ := strconv.ParseFloat(v.String(), 64) // String writes digits
	return f
}

// String writes it as people would: digits and a point, or the text.
func (v Value) String() string {
	if !v.known || v.words {
		return v.text
	}
	return Decimal(v.unscaled, int(v.decimals))
}

// Decimal writes a whole number of parts of ten, a hundred, …: Decimal(1234, 2) is 12.34.
func Decimal(n int64, decimals int) string {
	sign, size := "", uint64(n)
	if n < 0 {
		sign, size = "-", -uint64(n)
	}
	digits := strconv.FormatUint(size, 10)
	if decimals == 0 {
		return sign + digits
	}
	if len(digits) <= decimals {
		digits = strings.Repeat("0", decimals-len(digits)+1) + digits
	}
	return sign + digits[:len(digits)-decimals] + "." + digits[len(digits)-decimals:]
}

// MarshalJSON writes a number, a text or null.
func (v Value) MarshalJSON() ([]byte, error) {
	switch {
	case !v.known:
		return []byte("null"), nil
	case v.words:
		return json.Marshal(v.text)
	}
	text := v.String()
	if v.decimals > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return []byte(text), nil
}

// valueOf is what a column of a row came to.
func valueOf(column any, decimals int) (Value, error) {
	v := reflect.ValueOf(column)
	for v.Kind() == reflect.Pointer && v.Type() != reflect.TypeFor[*big.Int]() {
		if v.IsNil() {
			return Value{}, nil
		}
		v = v.Elem()
	}
	switch {
	case v.CanInt(): // most are so
		return Whole(v.Int()), nil
	case v.Kind() == reflect.String:
		return Word(v.String()), nil
	case v.CanUint():
		if v.Uint() > math.MaxInt64 {
			return Value{}, fmt.Errorf("%d is out of range", v.Uint())
		}
		return Whole(int64(v.Uint())), nil
	case v.CanFloat():
		return roundedFloat(v.Float(), decimals), nil
	}
	switch x := v.Interface().(type) {
	case *big.Int:
		return Rounded(new(big.Rat).SetInt(x), 0), nil
	case big.Int:
		return Rounded(new(big.Rat).SetInt(&x), 0), nil
	case time.Time:
		return Word(x.Format(time.DateOnly)), nil
	}
	return Value{}, fmt.Errorf("a column of %s is no figure", v.Type())
}

// Less is the difference of two numbers, nothing where one of them is none.
func (v Value) Less(other Value) Value {
	a, b := v.Rat(), other.Rat()
	if a == nil || b == nil {
		return Value{}
	}
	return Rounded(a.Sub(a, b), int(max(v.decimals, other.decimals)))
}

// Number returns a number of parts of ten, a hundred, …: Number(1234, 2) is 12.34.
func Number(n int64, decimals int) Value {
	return Value{known: true, unscaled: n, decimals: int8(decimals)}
}
