package codec

import (
	"math"
	"slices"
	"strconv"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
)

// drawReport makes any report that a decoder could have handed out.
func drawReport(t *rapid.T) fleet.Report {
	quantity := rapid.OneOf(
		rapid.Just(math.NaN()), rapid.Float64Range(-1e6, 1e6), rapid.Float64(),
		rapid.Map(rapid.Int64Range(-1<<40, 1<<40), func(n int64) float64 { return float64(n) / 1e7 }),
	).Filter(func(v float64) bool { return !math.IsInf(v, 0) })
	at := rapid.OneOf(
		rapid.Just(fleet.Millis(0)),
		rapid.Map(rapid.Int64Range(0, 4e12), func(n int64) fleet.Millis { return fleet.Millis(n) }),
		rapid.Map(rapid.Int64Range(-maxMillis, maxMillis), func(n int64) fleet.Millis { return fleet.Millis(n) }),
	)
	name := rapid.OneOf(
		rapid.StringMatching(`[0-9]{0,15}`),
		rapid.Map(rapid.StringOfN(rapid.RuneFrom(nil, unicode.L, unicode.N, unicode.P, unicode.S), 0, 32, 128),
			new(interner).add),
	)
	tri := rapid.SampledFrom([]fleet.Tri{fleet.Unknown, fleet.No, fleet.Yes})
	r := fleet.Report{
		UniqueID: name.Draw(t, "device"), FixTime: at.Draw(t, "fix time"), DeviceTime: at.Draw(t, "device time"),
		Positioned: rapid.Bool().Draw(t, "positioned"), Invalid: rapid.Bool().Draw(t, "invalid"),
		Approximate: rapid.Bool().Draw(t, "approximate"), Mock: rapid.Bool().Draw(t, "mock"),
		Lat: math.NaN(), Lng: math.NaN(), Altitude: quantity.Draw(t, "altitude"), Speed: quantity.Draw(t, "speed"),
		Course: quantity.Draw(t, "course"), Accuracy: quantity.Draw(t, "accuracy"), Odometer: quantity.Draw(t, "odometer"),
		Satellites: rapid.IntRange(-1, 255).Draw(t, "satellites"), Ignition: tri.Draw(t, "ignition"),
		Motion: tri.Draw(t, "motion"), Alarm: rapid.SampledFrom(append([]string{""}, fleet.Alarms...)).Draw(t, "alarm"),
		Driver: fleet.DriverTag(rapid.String().Draw(t, "driver")),
	}
	if r.Positioned {
		r.Lat, r.Lng = quantity.Draw(t, "lat"), quantity.Draw(t, "lng")
	}
	signals := rapid.SliceOfNDistinct(rapid.IntRange(0, len(fleet.Signals)-1), 0, 8, rapid.ID).Draw(t, "signals")
	for _, i := range signals {
		s := fleet.Signal(i)
		if s == signalOdometer || s == signalIgnition || s == signalMotion {
			continue
		}
		v := rapid.Float64Range(s.Spec().Min, s.Spec().Max).Draw(t, s.String())
		r.Signals = append(r.Signals, fleet.SignalValue{Signal: s, Value: v})
	}
	return r
}

func TestJSONRoundTrip(t *testing.T) {
	d := NewDecoder()
	rapid.Check(t, func(t *rapid.T) {
		d.Reset()
		want := rapid.SliceOfN(rapid.Custom(drawReport), 1, 5).Draw(t, "reports")
		array := []byte("[")
		var single []fleet.Report
		for i := range want {
			if i > 0 {
				array = append(array, ',')
			}
			begin := len(array)
			array = AppendReport(array, &want[i])
			var err error
			if single, err = d.Decode(JSON, array[begin:], single); err != nil {
				t.Fatalf("%v: %s", err, array[begin:])
			}
		}
		array = append(array, ']')
		batch, err := d.Decode(JSON, array, nil)
		if err != nil {
			t.Fatalf("%v: %s", err, array)
		}
		sameReports(t, single, want)
		sameReports(t, batch, want)
		if d.DroppedSignals != 0 || d.UnknownSignals != 0 {
			t.Fatalf("dropped %d, unknown %d signals", d.DroppedSignals, d.UnknownSignals)
		}
	})
}

func TestArrowRoundTrip(t *testing.T) {
	d := NewDecoder()
	rapid.Check(t, func(t *rapid.T) {
		d.Reset()
		want := rapid.SliceOfN(rapid.Custom(drawReport), 0, 700).Draw(t, "reports")
		record, err := EncodeArrow(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Decode(Arrow, record, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			slices.SortFunc(want[i].Signals, func(a, b fleet.SignalValue) int { return int(a.Signal) - int(b.Signal) })
		}
		sameReports(t, got, want)
	})
}

// The number reader must agree with the standard library on every number, and the clock reader on every time.
func TestNumbersAreExact(t *testing.T) {
	digits := rapid.StringMatching(`-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,4})?`)
	rapid.Check(t, func(t *rapid.T) {
		text := digits.Draw(t, "number")
		want, err := strconv.ParseFloat(text, 64)
		if err != nil {
			want = math.NaN()
		}
		var s scanner
		s.start([]byte(text))
		got := s.float()
		s.end()
		if s.fault != "" || math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%s is %v (%s), want %v", text, got, s.fault, want)
		}
	})
}

func TestClocksAgreeWithTheCalendar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := fleet.Millis(rapid.Int64Range(-62167219200000, 253402300799999).Draw(t, "time")) // years 0 to 9999
		text := want.Time().Format("2006-01-02T15:04:05.000Z07:00")
		if want == 0 {
			text = "1970-01-01T00:00:00Z"
		}
		if got, ok := parseClock([]byte(text)); !ok || got != want {
			t.Fatalf("%s is %d, want %d", text, got, want)
		}
		if got := string(appendClock(nil, want)); want != 0 && got != `"`+text+`"` {
			t.Fatalf("%d is written %s, want %q", want, got, text)
		}
	})
}

// Numbers are written as briefly as strconv writes them.
func TestNumbersAreShort(t *testing.T) {
	values := rapid.OneOf(
		rapid.Float64Range(-1e7, 1e7), rapid.Float64Range(-1e-5, 1e-5), rapid.Float64Range(-1e20, 1e20),
		rapid.Map(rapid.Int64Range(-2e15, 2e15), func(n int64) float64 { return float64(n) / 1e7 }),
		rapid.Map(rapid.Int64Range(-1e15, 1e15), func(n int64) float64 { return float64(n) }),
		rapid.Map(rapid.Int64Range(-1e9, 1e9), func(n int64) float64 { return float64(n) / 1e3 }),
	)
	rapid.Check(t, func(t *rapid.T) {
		v := values.Draw(t, "number")
		got := string(appendNumber(nil, v))
		back, err := strconv.ParseFloat(got, 64)
		if err != nil || math.Float64bits(back) != math.Float64bits(v) {
			t.Fatalf("%v is written %s, which reads as %v, %v", v, got, back, err)
		}
		if want := strconv.FormatFloat(v, 'f', -1, 64); len(got) > len(want) {
			t.Fatalf("%v is written %s, want %s", v, got, want)
		}
	})
}
