package codec

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
)

// drawEvent makes up an event, with all sorts of text in it.
func drawEvent(t *rapid.T) fleet.Event {
	word := rapid.OneOf(rapid.SampledFrom([]string{"trip", fleet.EventTripEnded, "a<b>&c", "quote\"\\", "ü\u2028", ""}), rapid.String())
	body, err := json.Marshal(map[string]any{"n": rapid.Float64Range(-1e9, 1e9).Draw(t, "n"), "s": word.Draw(t, "s"), "deep": []any{nil, true, map[string]any{}}})
	if err != nil {
		t.Fatal(err)
	}
	return fleet.Event{
		ID: rapid.Uint64().Draw(t, "id"), Type: word.Draw(t, "type"), Account: fleet.AccountID(rapid.Uint64().Draw(t, "account")),
		Vehicle: fleet.VehicleID(rapid.SampledFrom([]uint64{0, 1, 1 << 40, math.MaxUint64}).Draw(t, "vehicle")),
		At:      fleet.Millis(rapid.Int64().Draw(t, "at")), Late: rapid.Bool().Draw(t, "late"), Kind: fleet.Kind(word.Draw(t, "kind")),
		Object: rapid.Uint64().Draw(t, "object"), Revision: rapid.Uint32().Draw(t, "revision"), Body: body,
	}
}

// TestEventsAreWrittenAsJSONWritesThem holds AppendEvent and ParseEvent against encoding/json.
func TestEventsAreWrittenAsJSONWritesThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		want, err := json.Marshal(&e)
		if err != nil {
			t.Fatal(err)
		}
		if got := AppendEvent(nil, &e); string(got) != string(want) {
			t.Fatalf("written\n%s\nJSON writes\n%s", got, want)
		}
		got, err := ParseEvent(want)
		if err != nil {
			t.Fatal(err)
		}
		var wanted fleet.Event
		if err := json.Unmarshal(want, &wanted); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, wanted) {
			t.Fatalf("read\n%+v\nJSON reads\n%+v", got, wanted)
		}
	})
}

// TestChangesAreReadAsJSONReadsThem, also after one byte was changed or added, or some cut off.
func TestChangesAreReadAsJSONReadsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := fleet.Change{
			Account: fleet.AccountID(rapid.Uint64Range(1, 1<<60).Draw(t, "account")), Vehicle: fleet.VehicleID(rapid.Uint64().Draw(t, "vehicle")),
			From: fleet.Millis(rapid.Int64().Draw(t, "from")), To: fleet.Millis(rapid.Int64().Draw(t, "to")), Job: fleet.JobID(rapid.Uint64().Draw(t, "job")),
			Inputs: rapid.SliceOf(rapid.Byte()).Draw(t, "inputs"),
		}
		if rapid.Bool().Draw(t, "live") {
			c.Live = &fleet.Live{Device: 1, FixTime: 2, Lat: rapid.Float64Range(-90, 90).Draw(t, "lat")}
		}
		text, err := json.Marshal(&c)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseChange(text); err != nil || len(got.Inputs) != len(c.Inputs) {
			t.Fatalf("%s became %+v (%v)", text, got, err)
		}
		text = spoil(t, text)
		var want fleet.Change
		wrong := json.Unmarshal(text, &want)
		got, err := ParseChange(text)
		if (err == nil) != (wrong == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q\nread %+v (%v)\nJSON reads %+v (%v)", text, got, err, want, wrong)
		}
	})
}

// spoil changes one byte of a text, adds one, cuts the text off, or leaves it.
func spoil(t *rapid.T, text []byte) []byte {
	at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
	other := rapid.SampledFrom([]byte("0159-.e{}[]\",:\\ \tantf\x00\x80\n")).Draw(t, "byte")
	switch rapid.IntRange(0, 3).Draw(t, "how") {
	case 0:
		return text[:at]
	case 1:
		text[at] = other
	case 2:
		return slices.Insert(text, at, other)
	}
	return text
}

// TestAnEventWithoutABodyIsWritten: null, as encoding/json has it.
func TestAnEventWithoutABodyIsWritten(t *testing.T) {
	e := fleet.Event{ID: 1, Type: "a.b", Account: 2, At: 3, Kind: "c", Object: 4, Revision: 5}
	want, err := json.Marshal(&e)
	if err != nil {
		t.Fatal(err)
	}
	if got := AppendEvent(nil, &e); string(got) != string(want) {
		t.Errorf("written\n%s\nJSON writes\n%s", got, want)
	}
}

// TestWhatIsNoEventIsRefusedAsJSONRefusesIt changes one byte of an event, adds one, or cuts it: whatever encoding/json makes of that is
// what ParseEvent makes of it.
func TestWhatIsNoEventIsRefusedAsJSONRefusesIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		text := spoil(t, AppendEvent(nil, &e))
		var want fleet.Event
		wrong := json.Unmarshal(text, &want)
		got, err := ParseEvent(text)
		if (err == nil) != (wrong == nil) {
			t.Fatalf("%s: %v, JSON says %v", text, err, wrong)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%s:\nread\n%+v\nJSON reads\n%+v", text, got, want)
		}
	})
}

func benchmarkEvent() fleet.Event {
	return fleet.Event{
		ID: 1 << 61, Type: fleet.EventFenceEntered, Account: 912061596495507456, Vehicle: 912061599887593472, At: 1e12, Kind: fleet.KindVisit,
		Object: 1 << 62, Revision: 1, Body: json.RawMessage(`{"id":"6917529027641081856","recognised_ms":1000000000000,"start_ms":1000000000000,` +
			`"end_ms":1000000000000,"open":true,"fence":"912061599887593473","revision":1,"initial":false,"entry_place":{"lat":30.25,"lng":-97.75},"fixes":1}`),
	}
}

func BenchmarkEventAppend(b *testing.B) {
	e := benchmarkEvent()
	var text []byte
	b.ReportAllocs()
	for b.Loop() {
		text = AppendEvent(text[:0], &e)
	}
}

func BenchmarkEventMarshal(b *testing.B) {
	e := benchmarkEvent()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := json.Marshal(&e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEventParse(b *testing.B) {
	e := benchmarkEvent()
	text := AppendEvent(nil, &e)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseEvent(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEventUnmarshal(b *testing.B) {
	e := benchmarkEvent()
	text := AppendEvent(nil, &e)
	b.ReportAllocs()
	for b.Loop() {
		var read fleet.Event
		if err := json.Unmarshal(text, &read); err != nil {
			b.Fatal(err)
		}
	}
}
