package codec

import (
	"math"
	"strconv"

	"github.com/motorpool/fleet"
)

// maxMillis bounds times given as numbers to what ECMAScript calls a time value: 100 million days around the epoch.
const maxMillis = 8.64e15

// millisOf returns a number of milliseconds as a time, 0 if it is none.
func millisOf(v float64) fleet.Millis {
	if !(v >= -maxMillis && v <= maxMillis) {
		return 0
	}
	return fleet.Millis(math.Floor(v))
}

// parseClock reads an RFC 3339 time and cuts it to milliseconds. Also read are a space for the T, lower case, and an
// offset without its colon. A time without an offset is refused, because nobody knows whose local time it is.
func parseClock(b []byte) (fleet.Millis, bool) {
	// 2026-01-31T09:15:02Z
	if len(b) < 20 || b[4] != '-' || b[7] != '-' || b[13] != ':' || b[16] != ':' ||
		b[10] != 'T' && b[10] != 't' && b[10] != ' ' {
		return 0, false
	}
	year := two(b, 0)*100 + two(b, 2)
	month, day, hour, minute, second := two(b, 5), two(b, 8), two(b, 11), two(b, 14), two(b, 17)
	// two is hugely negative for what are not digits, which no range below contains; 60 is a leap second.
	if year < 0 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) ||
		hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 {
		return 0, false
	}
	b = b[19:]
	ms := 0
	if b[0] == '.' || b[0] == ',' {
		i := 1
		for scale := 100; i < len(b) && b[i]-'0' <= 9; i++ {
			ms += int(b[i]-'0') * scale
			scale /= 10
		}
		if i == 1 {
			return 0, false
		}
		b = b[i:]
	}
	offset, ok := parseOffset(b)
	if !ok {
		return 0, false
	}
	seconds := int64(daysSinceEpoch(year, month, day))*86400 + int64(hour*3600+minute*60+second-offset*60)
	return fleet.Millis(seconds*1000 + int64(ms)), true
}

// parseOffset reads Z, +hh:mm or +hhmm as minutes east of UTC.
func parseOffset(b []byte) (int, bool) {
	if len(b) == 1 && (b[0] == 'Z' || b[0] == 'z') {
		return 0, true
	}
	colon := 0
	if len(b) == 6 && b[3] == ':' {
		colon = 1
	}
	if len(b) != 5+colon || b[0] != '+' && b[0] != '-' {
		return 0, false
	}
	hours, minutes := two(b, 1), two(b, 3+colon)
	if hours < 0 || hours > 23 || minutes < 0 || minutes > 59 {
		return 0, false
	}
	offset := hours*60 + minutes
	if b[0] == '-' {
		offset = -offset
	}
	return offset, true
}

// two reads two digits, and is hugely negative if they are none.
func two(b []byte, at int) int {
	high, low := b[at]-'0', b[at+1]-'0'
	if high > 9 || low > 9 {
		return math.MinInt32
	}
	return int(high)*10 + int(low)
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// daysSinceEpoch counts the days from 1970-01-01 in the proleptic Gregorian calendar. The year is made to begin in
// March, so that the leap day is its last; the lengths of the months from March on are then (153 m + 2) / 5.
func daysSinceEpoch(year, month, day int) int {
	if month <= 2 {
		year--
		month += 12
	}
	return 365*year + floorDiv(year, 4) - floorDiv(year, 100) + floorDiv(year, 400) + (153*(month-3)+2)/5 + day - 719469
}

func floorDiv[T int | int64](a, b T) T {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

// appendClock writes a time as an RFC 3339 string, or as a number if its year has not four digits.
func appendClock(dst []byte, at fleet.Millis) []byte {
	const first, last = -62167219200000, 253402300799999 // years 0 to 9999
	if at == 0 || at < first || at > last {
		return strconv.AppendInt(dst, int64(at), 10)
	}
	days := floorDiv(int64(at), 86400000)
	ms := int(int64(at) - days*86400000)
	year, month, day := dateOf(int(days))
	dst = append(dst, '"')
	dst = appendTwo(appendTwo(dst, year/100), year%100)
	dst = appendTwo(append(dst, '-'), month)
	dst = appendTwo(append(dst, '-'), day)
	dst = appendTwo(append(dst, 'T'), ms/3600000)
	dst = appendTwo(append(dst, ':'), ms/60000%60)
	dst = appendTwo(append(dst, ':'), ms/1000%60)
	dst = append(dst, '.', '0'+byte(ms/100%10), '0'+byte(ms/10%10), '0'+byte(ms%10))
	return append(dst, 'Z', '"')
}

func appendTwo(dst []byte, n int) []byte { return append(dst, '0'+byte(n/10), '0'+byte(n%10)) }

// dateOf undoes daysSinceEpoch: by eras of 400 years, which all have 146,097 days, with years that begin in March.
func dateOf(days int) (year, month, day int) {
	days += 719468 // since 0000-03-01
	era := floorDiv(days, 146097)
	days -= era * 146097
	year = (days - days/1460 + days/36524 - days/146096) / 365
	days -= 365*year + year/4 - year/100
	month = (5*days + 2) / 153
	day = days - (153*month+2)/5 + 1
	year += era * 400
	if month += 3; month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}
