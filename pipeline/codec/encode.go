package codec

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/motorpool/fleet"
)

// AppendReport appends a report as one native JSON object, without a line end. What is absent is left out; a position
// without a usable coordinate has a null one. Decode gives the same report back, with its signals in the same order,
// provided that the unique id, the alarm and the signals are ones that Decode accepts. A report that is no position
// takes the form of the telemetry topic.
func AppendReport(dst []byte, r *fleet.Report) []byte {
	dst = append(dst, `{"device":`...)
	dst = appendText(dst, r.UniqueID)
	timeName := `,"at":`
	if r.Positioned {
		timeName = `,"fix_at":`
	}
	dst = appendTime(dst, timeName, r.FixTime)
	dst = appendTime(dst, `,"device_at":`, r.DeviceTime)
	if r.Positioned {
		dst = appendCoordinate(dst, `,"lat":`, r.Lat)
		dst = appendCoordinate(dst, `,"lng":`, r.Lng)
	}
	dst = appendQuantity(dst, `,"altitude_m":`, r.Altitude)
	dst = appendQuantity(dst, `,"speed_mps":`, r.Speed)
	dst = appendQuantity(dst, `,"course_deg":`, r.Course)
	dst = appendQuantity(dst, `,"accuracy_m":`, r.Accuracy)
	dst = appendQuantity(dst, `,"odometer_m":`, r.Odometer)
	if r.Satellites >= 0 {
		dst = strconv.AppendInt(append(dst, `,"satellites":`...), int64(r.Satellites), 10)
	}
	dst = appendTri(dst, `,"ignition":`, r.Ignition)
	dst = appendTri(dst, `,"motion":`, r.Motion)
	if r.Invalid {
		dst = append(dst, `,"valid":false`...)
	}
	if r.Approximate {
		dst = append(dst, `,"approximate":true`...)
	}
	if r.Mock {
		dst = append(dst, `,"mock":true`...)
	}
	if r.Alarm != "" {
		dst = appendText(append(dst, `,"alarm":`...), r.Alarm)
	}
	if r.Driver != "" {
		dst = appendText(append(dst, `,"driver_tag":`...), r.Driver)
	}
	if len(r.Signals) > 0 {
		dst = append(dst, `,"signals":{`...)
		for i, m := range r.Signals {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, '"')
			dst = append(dst, m.Signal.String()...)
			dst = appendNumber(append(dst, '"', ':'), m.Value)
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

func appendTime(dst []byte, name string, at fleet.Millis) []byte {
	if at == 0 {
		return dst
	}
	return appendClock(append(dst, name...), at)
}

func appendQuantity(dst []byte, name string, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return dst
	}
	return appendNumber(append(dst, name...), v)
}

func appendCoordinate(dst []byte, name string, v float64) []byte {
	return appendNumber(append(dst, name...), v)
}

func appendTri(dst []byte, name string, t fleet.Tri) []byte {
	switch t {
	case fleet.Yes:
		return append(append(dst, name...), "true"...)
	case fleet.No:
		return append(append(dst, name...), "false"...)
	}
	return dst
}

// appendNumber writes the shortest text that reads back as the same float64, null if JSON has no number for it.
func appendNumber(dst []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(dst, "null"...)
	}
	// Coordinates and most measurements have few decimals. Below 10^15 two decimals of that many digits are never the
	// same float64, so if one of seven decimals reads back as v, it is the shortest once its zeros are gone.
	if n := math.Round(v * 1e7); math.Abs(n) < 1e15 && n/1e7 == v && n != 0 {
		return appendDecimal(dst, int64(n))
	}
	form := byte('f')
	if size := math.Abs(v); size != 0 && (size < 1e-6 || size >= 1e21) {
		form = 'e'
	}
	return strconv.AppendFloat(dst, v, form, -1, 64)
}

// appendDecimal writes n / 10^7 without zeros at its end.
func appendDecimal(dst []byte, n int64) []byte {
	if n < 0 {
		dst = append(dst, '-')
		n = -n
	}
	dst = strconv.AppendInt(dst, n/1e7, 10)
	rest := n % 1e7
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	for rest > 0 {
		rest *= 10
		dst = append(dst, '0'+byte(rest/1e7))
		rest %= 1e7
	}
	return dst
}

// appendText writes a JSON string. Bytes that are not UTF-8 become the replacement character.
func appendText(dst []byte, text string) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
			i++
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			i++
		case c < utf8.RuneSelf:
			dst = append(dst, c)
			i++
		default:
			r, size := utf8.DecodeRuneInString(text[i:])
			dst = utf8.AppendRune(dst, r)
			i += size
		}
	}
	return append(dst, '"')
}
