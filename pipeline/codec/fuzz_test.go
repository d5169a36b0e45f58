package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/motorpool/fleet"
)

// checkDecoded fails if a decoder broke its promises on some input: only its own errors, reports in their proper form,
// and native JSON that reads back as the same reports.
func checkDecoded(t *testing.T, f Format, value []byte) error {
	d := NewDecoder()
	marker := reportOf(func(r *fleet.Report) { r.UniqueID = "before" })
	got, err := d.Decode(f, value, []fleet.Report{marker})
	if got[0].UniqueID != "before" {
		t.Fatal("dst was overwritten")
	}
	got = got[1:]
	if err != nil {
		if !errors.Is(err, ErrUndecodable) && !errors.Is(err, ErrTooLarge) {
			t.Fatalf("unexpected error: %v", err)
		}
		if len(got) != 0 {
			t.Fatalf("%d reports beside an error", len(got))
		}
		return err
	}
	var again []fleet.Report
	for i := range got {
		r := &got[i]
		for _, v := range []float64{r.Lat, r.Lng, r.Altitude, r.Speed, r.Course, r.Accuracy, r.Odometer} {
			if math.IsInf(v, 0) {
				t.Fatalf("an infinity got through: %+v", r)
			}
		}
		seen := map[fleet.Signal]bool{}
		for _, m := range r.Signals {
			if seen[m.Signal] || !m.Signal.Accepts(m.Value) {
				t.Fatalf("signal %s is there twice or out of range: %v", m.Signal, r.Signals)
			}
			seen[m.Signal] = true
		}
		if id := new(interner).add(r.UniqueID); id != r.UniqueID {
			t.Fatalf("unique id %q is not in its proper form", r.UniqueID)
		}
		if !r.Positioned {
			r.Lat, r.Lng = math.NaN(), math.NaN() // not written for what is no position
		}
		text := AppendReport(nil, r)
		if again, err = d.Decode(JSON, text, again); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	sameReports(t, again, got)
	return nil
}

func FuzzJSON(f *testing.F) {
	for i, r := range withSignals(sampleReports(3)) {
		f.Add(AppendReport(nil, &r))
		if i == 0 {
			f.Add(append(append([]byte{'['}, AppendReport(nil, &r)...), ']'))
		}
	}
	for _, text := range []string{
		`{"device":"a","at":1769850902000,"signals":{"soc_pct":87.5,"banana":1}}`, `{"lat":null,"lng":"x"}`, `[]`, `[{},{}]`,
		"\xEF\xBB\xBF{}", `{"device":"\u00e9\ud83d\ude00\n"}`, `{"lat":1e999,"lng":-0.0}`,
		`{"x":[[{"y":[]}]]}`, `{"lat":nan}`,
		`{"alarm":"x,sos","valid":false,"fix_at":"2026-01-31T09:15:02.5+01:00"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		err := checkDecoded(t, JSON, value)
		text := bytes.TrimPrefix(value, []byte("\xEF\xBB\xBF"))
		if err == nil && !json.Valid(text) {
			t.Fatalf("decoded what is no JSON: %q", value)
		}
		var parsed any
		if err != nil && !errors.Is(err, ErrTooLarge) && depthOf(text) <= maxDepth && json.Unmarshal(text, &parsed) == nil &&
			ofObjects(parsed) {
			t.Fatalf("refused good JSON: %v: %q", err, value)
		}
	})
}

// depthOf returns at least the depth to which a JSON text nests.
func depthOf(text []byte) int {
	depth, deepest := 0, 0
	for _, c := range text {
		switch c {
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}

// ofObjects says whether a JSON value is an object or an array of objects.
func ofObjects(value any) bool {
	if list, ok := value.([]any); ok {
		for _, element := range list {
			if _, ok := element.(map[string]any); !ok {
				return false
			}
		}
		return true
	}
	_, ok := value.(map[string]any)
	return ok
}

func FuzzTraccar(f *testing.F) {
	f.Add(traccarMessage(f))
	for _, text := range []string{
		`{"latitude":1,"longitude":2,"uniqueId":"a","outdated":true}`, `{"position":null,"device":{"uniqueId":null}}`,
		`[{"position":{"attributes":{"rssi":-1,"obdOdometer":5,"charge":true,"soc":50}}}]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, value []byte) { checkDecoded(t, Traccar, value) })
}

func FuzzArrow(f *testing.F) {
	for _, reports := range [][]fleet.Report{nil, sampleReports(1), withSignals(sampleReports(40))} {
		record, err := EncodeArrow(reports)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(record)
	}
	f.Add(recursiveSchema())
	f.Fuzz(func(t *testing.T, value []byte) { checkDecoded(t, Arrow, value) })
}

func FuzzDeadLetter(f *testing.F) {
	f.Add(DeadLetter{ID: 1, At: 1769850902000, Reason: fleet.RefusedEmpty, Topic: "positions",
		Payload: []byte("{}")}.Append(nil))
	f.Add([]byte(`{"id":"1","at":null,"reason":"empty","topic":"t"}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		letter, err := decodeDeadLetter(value)
		if err != nil {
			return
		}
		again, err := decodeDeadLetter(letter.Append(nil))
		if err != nil || again.ID != letter.ID || again.At != letter.At || again.Offset != letter.Offset {
			t.Fatalf("%+v became %+v, %v", letter, again, err)
		}
	})
}

func FuzzContentType(f *testing.F) {
	f.Add("application/json; charset=utf-8")
	f.Fuzz(func(t *testing.T, contentType string) {
		if format, err := FormatOf(contentType, JSON); err == nil && format.ContentType() == "" {
			t.Fatalf("%q has the unknown format %q", contentType, format)
		}
	})
}
