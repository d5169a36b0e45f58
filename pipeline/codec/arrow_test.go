package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/motorpool/fleet"
)

// stream writes one Arrow stream; each batch is the rows of a JSON array in the form of arrow's RecordFromJSON.
func stream(t *testing.T, fields []arrow.Field, batches []string, options ...ipc.Option) []byte {
	t.Helper()
	schema := arrow.NewSchema(fields, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, append(options, ipc.WithSchema(schema))...)
	for _, rows := range batches {
		batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
		if err != nil {
			t.Fatal(err)
		}
		defer batch.Release()
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func nullable(name string, kind arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: kind, Nullable: true}
}

var dictionaryOfText = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}

func TestArrowColumns(t *testing.T) {
	const at = fleet.Millis(1769850902000)
	for name, test := range map[string]struct {
		fields  []arrow.Field
		batches []string
		want    []func(*fleet.Report)
	}{
		"every member": {
			[]arrow.Field{
				nullable("device", arrow.BinaryTypes.String), nullable("fix_at", arrow.FixedWidthTypes.Timestamp_ms),
				nullable("device_at", arrow.PrimitiveTypes.Int64), nullable("lat", arrow.PrimitiveTypes.Float64),
				nullable("lng", arrow.PrimitiveTypes.Float32), nullable("altitude_m", arrow.PrimitiveTypes.Int16),
				nullable("speed_mps", arrow.PrimitiveTypes.Uint8), nullable("course_deg", arrow.PrimitiveTypes.Uint16),
				nullable("accuracy_m", arrow.PrimitiveTypes.Int8), nullable("odometer_m", arrow.PrimitiveTypes.Uint64),
				nullable("satellites", arrow.PrimitiveTypes.Uint32), nullable("ignition", arrow.FixedWidthTypes.Boolean),
				nullable("motion", arrow.PrimitiveTypes.Int32), nullable("valid", arrow.FixedWidthTypes.Boolean),
				nullable("approximate", arrow.FixedWidthTypes.Boolean), nullable("mock", arrow.FixedWidthTypes.Boolean),
				nullable("alarm", dictionaryOfText), nullable("soc_pct", arrow.PrimitiveTypes.Float64),
				nullable("charging", arrow.FixedWidthTypes.Boolean), nullable("note", arrow.BinaryTypes.Binary),
				nullable("price", &arrow.Decimal128Type{Precision: 10, Scale: 2}),
			},
			[]string{`[{"device":"a","fix_at":"2026-01-31 09:15:02","device_at":1769850902001,"lat":48.25,"lng":11.5,"altitude_m":-3,
				"speed_mps":14,"course_deg":270,"accuracy_m":4,"odometer_m":84211000,"satellites":9,"ignition":true,"motion":0,
				"valid":false,"approximate":true,"mock":true,"alarm":"sos,tow","soc_pct":55.5,"charging":false,"note":"AAAA","price":"1.25"},{}]`},
			[]func(*fleet.Report){
				func(r *fleet.Report) {
					*r = fleet.Report{
						UniqueID: "a", FixTime: at, DeviceTime: at + 1, Positioned: true, Invalid: true, Approximate: true, Mock: true,
						Lat: 48.25, Lng: 11.5, Altitude: -3, Speed: 14, Course: 270, Accuracy: 4, Odometer: 84211000, Satellites: 9,
						Ignition: fleet.Yes, Motion: fleet.No, Alarm: "sos,tow",
						Signals: []fleet.SignalValue{measured("soc_pct", 55.5), measured("charging", 0)},
					}
				},
				func(*fleet.Report) {},
			},
		},
		"dictionaries replaced between batches": {
			[]arrow.Field{nullable("device", dictionaryOfText)},
			[]string{`[{"device":"a"},{"device":" b "},{"device":"a"},{"device":null}]`,
				`[{"device":"c"},{"device":"a"}]`, `[]`},
			[]func(*fleet.Report){
				func(r *fleet.Report) { r.UniqueID = "a" }, func(r *fleet.Report) { r.UniqueID = "b" },
				func(r *fleet.Report) { r.UniqueID = "a" }, func(*fleet.Report) {},
				func(r *fleet.Report) { r.UniqueID = "c" }, func(r *fleet.Report) { r.UniqueID = "a" },
			},
		},
		"times in any unit": {
			[]arrow.Field{
				nullable("fix_at", arrow.FixedWidthTypes.Timestamp_s),
				nullable("at", &arrow.TimestampType{Unit: arrow.Microsecond}),
				nullable("device_at", arrow.FixedWidthTypes.Timestamp_ns),
			},
			[]string{`[{"fix_at":"2026-01-31 09:15:02"},{"at":"2026-01-31 09:15:02.000999"},{"device_at":"1969-12-31 23:59:59.999999999"}]`},
			[]func(*fleet.Report){
				func(r *fleet.Report) { r.FixTime = at }, func(r *fleet.Report) { r.FixTime = at },
				func(r *fleet.Report) { r.DeviceTime = -1 },
			},
		},
		"columns of the wrong type are absent": {
			[]arrow.Field{
				nullable("device", arrow.PrimitiveTypes.Int64), nullable("lat", arrow.BinaryTypes.String),
				nullable("lng", arrow.Null), nullable("fix_at", arrow.BinaryTypes.String),
				nullable("alarm", arrow.PrimitiveTypes.Float64),
				nullable("soc_pct", arrow.BinaryTypes.LargeString),
			},
			[]string{`[{"device":1,"lat":"48","lng":null,"fix_at":"now","alarm":1,"soc_pct":"5"},{}]`},
			[]func(*fleet.Report){func(r *fleet.Report) { r.Positioned = true }, func(*fleet.Report) {}},
		},
		"large strings, runs of one device": {
			[]arrow.Field{nullable("device", arrow.BinaryTypes.LargeString)},
			[]string{`[{"device":"a"},{"device":"a"},{"device":""},{"device":"a"}]`},
			[]func(*fleet.Report){
				func(r *fleet.Report) { r.UniqueID = "a" }, func(r *fleet.Report) { r.UniqueID = "a" }, func(*fleet.Report) {},
				func(r *fleet.Report) { r.UniqueID = "a" },
			},
		},
		"no column at all": {nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var want []fleet.Report
			for _, change := range test.want {
				want = append(want, reportOf(change))
			}
			record := stream(t, test.fields, test.batches)
			d := NewDecoder()
			for range 3 { // the slab has a different size each time
				d.Reset()
				got, err := d.Decode(Arrow, record, nil)
				if err != nil {
					t.Fatal(err)
				}
				sameReports(t, got, want)
			}
			if got, err := d.Decode(Arrow, record[:len(record)-8], nil); err != nil || len(got) != len(want) {
				t.Errorf("without its end marker: %d reports, %v", len(got), err)
			}
		})
	}
}

// Two columns with one name: the last counts, as with members of an object.
func TestArrowRepeatedColumn(t *testing.T) {
	var builders []array.Builder
	for _, v := range []float64{1, 2} {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		b.Append(v)
		builders = append(builders, b)
	}
	for _, name := range []string{"speed_mps", "soc_pct"} {
		record, err := writeStream([]arrow.Field{nullable(name, arrow.PrimitiveTypes.Float64),
			nullable(name, arrow.PrimitiveTypes.Float64)}, builders, 1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := NewDecoder().Decode(Arrow, record, nil)
		if err != nil {
			t.Fatal(err)
		}
		if name == "speed_mps" && got[0].Speed != 2 ||
			name == "soc_pct" && (len(got[0].Signals) != 1 || got[0].Signals[0].Value != 2) {
			t.Errorf("%s: %+v, want 2", name, got[0])
		}
		for i, b := range builders { // emptied by writing
			b.(*array.Float64Builder).Append(float64(i + 1))
		}
	}
}

func TestArrowSignalsOutOfRange(t *testing.T) {
	record := stream(t,
		[]arrow.Field{nullable("soc_pct", arrow.PrimitiveTypes.Float64), nullable("lat", arrow.PrimitiveTypes.Float64)},
		[]string{`[{"soc_pct":100.5},{"soc_pct":null},{"soc_pct":50}]`})
	d := NewDecoder()
	got, err := d.Decode(Arrow, record, nil)
	if err != nil || d.DroppedSignals != 1 || len(got[0].Signals)+len(got[1].Signals) != 0 || len(got[2].Signals) != 1 {
		t.Errorf("%v, dropped %d, %v", got, d.DroppedSignals, err)
	}
	r := sampleReports(1)
	r[0].Lat, r[0].Speed = math.Inf(1), math.Inf(-1)
	if record, err = EncodeArrow(r); err != nil {
		t.Fatal(err)
	}
	if got, err = d.Decode(Arrow, record, nil); err != nil || !math.IsNaN(got[0].Lat) || !math.IsNaN(got[0].Speed) ||
		!got[0].Positioned {
		t.Errorf("infinities: %+v, %v; want absent", got, err)
	}
}

func TestUndecodableArrow(t *testing.T) {
	text := []arrow.Field{nullable("device", arrow.BinaryTypes.String)}
	rows := []string{`[{"device":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}]`}
	good := stream(t, text, rows)
	many := make([]arrow.Field, maxColumns+1)
	for i := range many {
		many[i] = nullable(strings.Repeat("x", i+1), arrow.PrimitiveTypes.Int8)
	}
	nested := []arrow.Field{nullable("x", arrow.ListOf(arrow.PrimitiveTypes.Int8))}
	dictionary := []arrow.Field{nullable("device", dictionaryOfText)}
	for name, test := range map[string]struct {
		record []byte
		why    string
	}{
		"empty":              {nil, "EOF"},
		"an end only":        {[]byte("\xff\xff\xff\xff\x00\x00\x00\x00"), "EOF"},
		"JSON":               {[]byte(`{"device":"a"}`), "not a message"},
		"Arrow file":         {append([]byte("ARROW1\x00\x00"), good...), "not a message"},
		"zeros":              {make([]byte, 1000), "not a message"},
		"a size beyond":      {[]byte("\xff\xff\xff\xff\xff\xff\xff\x7f\x10\x00\x00\x00"), "ends within a message"},
		"a negative size":    {[]byte("\xff\xff\xff\xff\x00\x00\x00\x80\x10\x00\x00\x00"), "ends within a message"},
		"garbage behind":     {append(bytes.Clone(good), "garbage"...), "follows the end"},
		"two streams":        {append(bytes.Clone(good), good...), "follows the end"},
		"no schema":          {good[binary.LittleEndian.Uint32(good[4:])+8:], ""},
		"too many columns":   {stream(t, many, nil), "513 columns"},
		"nested column":      {stream(t, nested, nil), "nested"},
		"compressed by LZ4":  {stream(t, text, rows, ipc.WithLZ4()), "compressed"},
		"compressed by ZSTD": {stream(t, text, rows, ipc.WithZstd()), "compressed"},
		"deltas of a dictionary": {
			stream(t, dictionary, []string{`[{"device":"a"}]`, `[{"device":"a"},{"device":"b"}]`},
				ipc.WithDictionaryDeltas(true)), "delta",
		},
		"endless recursion of columns": {recursiveSchema(), "nested"},
	} {
		_, err := NewDecoder().Decode(Arrow, test.record, nil)
		if !errors.Is(err, ErrUndecodable) || !strings.Contains(err.Error(), test.why) {
			t.Errorf("%s: %v, want ErrUndecodable with %q", name, err, test.why)
		}
	}
	wide := reportOf(func(r *fleet.Report) { r.UniqueID = "a" })
	reports := make([]fleet.Report, MaxReports+1)
	for i := range reports {
		reports[i] = wide
	}
	if _, err := EncodeArrow(reports); !errors.Is(err, ErrTooLarge) {
		t.Errorf("encoding too many reports: %v, want ErrTooLarge", err)
	}
	half := `[` + strings.Repeat(`{"device":"a"},`, MaxReports/2) + `{"device":"a"}]`
	if _, err := NewDecoder().Decode(Arrow, stream(t, text, []string{half, half}), nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("decoding too many reports: %v, want ErrTooLarge", err)
	}
}

// recursiveSchema makes a stream whose only column is its own child, which would overflow the stack of Arrow's reader.
func recursiveSchema() []byte {
	b := flatbuffers.NewBuilder(0)
	b.StartObject(0)
	list := b.EndObject()
	b.StartVector(4, 1, 4)
	b.PlaceUint32(0) // becomes the reference back to the column
	children := b.EndVector(1)
	b.StartObject(7)
	b.PrependByteSlot(2, 12, 0) // List
	b.PrependUOffsetTSlot(3, list, 0)
	b.PrependUOffsetTSlot(5, children, 0)
	field := b.EndObject()
	b.StartVector(4, 1, 4)
	b.PrependUOffsetT(field)
	fields := b.EndVector(1)
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, fields, 0)
	schema := b.EndObject()
	b.StartObject(5)
	b.PrependInt16Slot(0, 4, 0) // V5
	b.PrependByteSlot(1, headerSchema, 0)
	b.PrependUOffsetTSlot(2, schema, 0)
	b.Finish(b.EndObject())
	metadata := b.FinishedBytes()
	size := flatbuffers.UOffsetT(len(metadata))
	// Offsets are counted from the end while building. They are unsigned, so the way back is a wrap around zero.
	element := size - children + 4
	binary.LittleEndian.PutUint32(metadata[element:], uint32((size-field)-element))
	out := binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, uint32(len(metadata)))
	return append(out, metadata...)
}

// Whatever a few changed bytes make a stream say, it must neither crash the decoder nor take much memory.
func TestDamagedArrow(t *testing.T) {
	good, err := EncodeArrow(withSignals(sampleReports(300)))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	d := NewDecoder()
	var before, after runtime.MemStats
	for i := range 3000 {
		record := bytes.Clone(good)
		limit := len(record)
		if i%2 == 0 {
			limit = 6000 // metadata is worth more attention than values
		}
		for range 1 + random.IntN(3) {
			at := random.IntN(limit - 8)
			switch random.IntN(4) {
			case 0:
				record[at] = byte(random.Uint32())
			case 1:
				record[at] ^= 1 << random.IntN(8)
			case 2:
				binary.LittleEndian.PutUint32(record[at&^3:], random.Uint32())
			case 3:
				binary.LittleEndian.PutUint64(record[at&^7:],
					[]uint64{0, 1, 1 << 31, 1 << 40, 1<<63 - 1, 1<<64 - 1}[random.IntN(6)])
			}
		}
		if i%5 == 0 {
			record = record[:random.IntN(len(record))]
		}
		runtime.ReadMemStats(&before)
		d.Reset()
		_, err := d.Decode(Arrow, record, nil)
		runtime.ReadMemStats(&after)
		if err != nil && !errors.Is(err, ErrUndecodable) && !errors.Is(err, ErrTooLarge) {
			t.Fatalf("round %d: %v", i, err)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 24<<20 {
			t.Fatalf("round %d: %d MiB were allocated for a record of %d bytes (%v)", i, taken>>20, len(record), err)
		}
	}
}
