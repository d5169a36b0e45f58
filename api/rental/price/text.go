package price

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet/api/record"
)

// decimals are the digits of minor units of the currencies that do not have two (ISO 4217).
var decimals = map[string]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0, "UGX": 0, "UYI": 0,
	"VND": 0, "VUV": 0,
	"XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3, "CLF": 4, "UYW": 4,
}

// Unusual returns the digits of minor units of the currencies that do not have two.
func Unusual() map[string]int { return maps.Clone(decimals) }

// Decimals is how many digits of an amount are behind the point.
func Decimals(currency string) int {
	if n, ok := decimals[currency]; ok {
		return n
	}
	return 2
}

// Format writes an amount for people: "USD 129.00", "JPY 12900", "USD -5.00".
func Format(m record.Money) string { return m.Currency + " " + Decimal(m) }

// Decimal writes the number of an amount: "129.00", "12900" of JPY, "-5.00".
func Decimal(m record.Money) string {
	digits, sign := strconv.FormatUint(magnitude(m.Amount), 10), ""
	if m.Amount < 0 {
		sign = "-"
	}
	if n := Decimals(m.Currency); n > 0 {
		if len(digits) <= n {
			digits = strings.Repeat("0", n+1-len(digits)) + digits
		}
		digits = digits[:len(digits)-n] + "." + digits[len(digits)-n:]
	}
	return sign + digits
}

// count writes a number of things: "1 day", "3 days".
func count[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprint(n, " ", thing, "s")
}

// unity is the whole of something, in basis points.
const unity = 10000

// basisPoints writes hundredths of a percent: 825 is "8.25 %".
func basisPoints(bp int64) string {
	text := fmt.Sprintf("%d.%02d", bp/100, bp%100)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + " %"
}

// dayName writes a date with its day of the week: "Sat 2026-03-07".
func dayName(date time.Time) string { return date.Format("Mon 2006-01-02") }

// moment writes a local time of a zone.
func moment(t time.Time, zone *time.Location) string {
	return t.In(zone).Format("Mon 2006-01-02 15:04")
}

// list joins words: "a, b and c".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// fold writes a code as codes are compared that people type.
func fold(code string) string { return strings.ToLower(strings.TrimSpace(code)) }
