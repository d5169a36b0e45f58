package codec

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/motorpool/fleet"
)

// sameReports fails unless two lists of reports are equal, where NaN equals NaN.
func sameReports(t interface {
	Helper()
	Fatalf(string, ...any)
}, got, want []fleet.Report) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("reports differ (-want +got):\n%s", diff)
	}
}

// reportOf makes a report that says only what change sets.
func reportOf(change func(*fleet.Report)) fleet.Report {
	r := fleet.NewReport()
	change(&r)
	return r
}

func TestFormatOf(t *testing.T) {
	for _, test := range []struct {
		contentType string
		byTopic     Format
		want        Format
	}{
		{"", Traccar, Traccar},
		{"application/json", Traccar, JSON},
		{"Application/JSON; charset=utf-8", Traccar, JSON},
		{"application/vnd.traccar+json", JSON, Traccar},
		{"application/vnd.apache.arrow.stream", JSON, Arrow},
	} {
		got, err := FormatOf(test.contentType, test.byTopic)
		if err != nil || got != test.want {
			t.Errorf("FormatOf(%q, %q) = %q, %v; want %q", test.contentType, test.byTopic, got, err, test.want)
		}
	}
	for _, contentType := range []string{"text/csv", "application/x-protobuf", "nonsense", "/", ";"} {
		if _, err := FormatOf(contentType, JSON); !errors.Is(err, ErrUndecodable) {
			t.Errorf("FormatOf(%q): %v, want ErrUndecodable", contentType, err)
		}
	}
	for _, f := range []Format{JSON, Traccar, Arrow} {
		if got, err := FormatOf(f.ContentType(), ""); err != nil || got != f {
			t.Errorf("the content type of %q names %q, %v", f, got, err)
		}
	}
}

func TestNativeMembers(t *testing.T) {
	const at = fleet.Millis(1769850902000)
	for name, test := range map[string]struct {
		text string
		want func(*fleet.Report)
	}{
		"every member": {
			`{"device":"860000000000001","fix_at":"2026-01-31T09:15:02Z","device_at":1769850903500,"lat":48.1372,"lng":-11.5756,
			"altitude_m":519.5,"speed_mps":13.9,"course_deg":271,"accuracy_m":4,"satellites":12,"ignition":true,"motion":false,
			"odometer_m":84211000,"valid":false,"approximate":true,"mock":true,"alarm":"hardBraking","signals":{"soc_pct":87.5,"charging":true}}`,
			func(r *fleet.Report) {
				*r = fleet.Report{
					UniqueID: "860000000000001", FixTime: at, DeviceTime: at + 1500, Positioned: true, Invalid: true,
					Approximate: true, Mock: true, Lat: 48.1372, Lng: -11.5756, Altitude: 519.5, Speed: 13.9, Course: 271,
					Accuracy: 4, Odometer: 84211000, Satellites: 12, Ignition: fleet.Yes, Motion: fleet.No, Alarm: "hardBraking",
					Signals: []fleet.SignalValue{{Signal: fleet.MustSignal("soc_pct"), Value: 87.5},
						{Signal: fleet.MustSignal("charging"), Value: 1}},
				}
			},
		},
		"telemetry": {`{"device":"a","at":1769850902000}`,
			func(r *fleet.Report) { r.UniqueID, r.FixTime = "a", at }},
		"null coordinates":         {`{"lat":null,"lng":null}`, func(r *fleet.Report) { r.Positioned = true }},
		"coordinate of wrong type": {`{"lat":"48.1","lng":[11]}`, func(r *fleet.Report) { r.Positioned = true }},
		"one coordinate":           {`{"lng":11.5}`, func(r *fleet.Report) { r.Positioned, r.Lng = true, 11.5 }},
		"wrong types are absent": {
			`{"device":42,"fix_at":{},"speed_mps":"1","satellites":1e9,"ignition":1,"valid":"no","alarm":7,"signals":[1]}`,
			func(*fleet.Report) {},
		},
		"nulls are absent": {
			`{"device":null,"fix_at":null,"ignition":null,"valid":null,"alarm":null,"signals":null}`, func(*fleet.Report) {}},
		"unknown members": {`{"x":{"y":[1,{"z":"}"}]},"device":"a","w":"\"]}"}`,
			func(r *fleet.Report) { r.UniqueID = "a" }},
		"numbers no float holds": {`{"speed_mps":1e999,"altitude_m":-1e999,"course_deg":1e-999}`,
			func(r *fleet.Report) { r.Course = 0 }},
		"the last of several": {`{"device":"b","device":"b","speed_mps":1,"speed_mps":2,"speed_mps":null}`,
			func(r *fleet.Report) { r.UniqueID, r.Speed = "b", 2 }},
		"byte order mark":             {"\xEF\xBB\xBF {\"device\":\"a\"}", func(r *fleet.Report) { r.UniqueID = "a" }},
		"escapes in names and values": {`{"\u0064evice":"\u00e9\ud83d\ude00"}`, func(r *fleet.Report) { r.UniqueID = "é😀" }},
		"half a surrogate pair":       {`{"device":"a\ud83d!"}`, func(r *fleet.Report) { r.UniqueID = "a\uFFFD!" }},
		"white space around the id":   {`{"device":"  a b\t"}`, func(r *fleet.Report) { r.UniqueID = "a b" }},
		"id not UTF-8":                {"{\"device\":\"a\xff\"}", func(*fleet.Report) {}},
		"id with a bell":              {`{"device":"a\u0007"}`, func(*fleet.Report) {}},
		"id empty":                    {`{"device":"  "}`, func(*fleet.Report) {}},
		"id of 128 bytes": {`{"device":"` + strings.Repeat("x", 128) + `"}`, func(r *fleet.Report) {
			r.UniqueID = strings.Repeat("x", 128)
		}},
		"id of 129 bytes":     {`{"device":"` + strings.Repeat("x", 129) + `"}`, func(*fleet.Report) {}},
		"id of a megabyte":    {`{"device":"` + strings.Repeat("x", 1<<20) + `"}`, func(*fleet.Report) {}},
		"known alarms first":  {`{"alarm":"banana, sos,tow"}`, func(r *fleet.Report) { r.Alarm = "sos,tow,banana" }},
		"no known alarm":      {`{"alarm":"banana"}`, func(r *fleet.Report) { r.Alarm = "banana" }},
		"tag of a driver":     {`{"driver_tag":" 1a:00:00-2F "}`, func(r *fleet.Report) { r.Driver = "1A00002F" }},
		"nobody is logged in": {`{"driver_tag":"0000"}`, func(r *fleet.Report) { r.Driver = fleet.NoDriver }},
		"no tag":              {`{"driver_tag":17,"driver_tag":""}`, func(*fleet.Report) {}},
		"empty alarm":         {`{"alarm":" , "}`, func(*fleet.Report) {}},
		"fields under signals": {`{"signals":{"odometer_m":5,"ignition":1,"motion":false}}`, func(r *fleet.Report) {
			r.Odometer, r.Ignition, r.Motion = 5, fleet.Yes, fleet.No
		}},
		"a field's own member wins": {`{"odometer_m":7,"signals":{"odometer_m":5,"ignition":0},"ignition":true}`,
			func(r *fleet.Report) {
				r.Odometer, r.Ignition = 7, fleet.Yes
			}},
		"last value of a signal": {`{"signals":{"soc_pct":1,"hdop":2,"soc_pct":3}}`, func(r *fleet.Report) {
			r.Signals = []fleet.SignalValue{{Signal: fleet.MustSignal("soc_pct"), Value: 3},
				{Signal: fleet.MustSignal("hdop"), Value: 2}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := NewDecoder().Decode(JSON, []byte(test.text), nil)
			if err != nil {
				t.Fatal(err)
			}
			sameReports(t, got, []fleet.Report{reportOf(test.want)})
		})
	}
}

func TestUndecodableJSON(t *testing.T) {
	for name, text := range map[string]string{
		"empty":                    "",
		"white space":              " \n",
		"a number":                 "1",
		"a string":                 `"x"`,
		"null":                     "null",
		"array of numbers":         "[1]",
		"array of arrays":          "[[{}]]",
		"one good, one not object": `[{"device":"a"},null]`,
		"cut short":                `{"device":"a","lat":4`,
		"no end":                   `{"device":"a"`,
		"garbage behind":           `{"device":"a"} x`,
		"two objects":              `{"device":"a"}{"device":"b"}`,
		"NaN":                      `{"lat":NaN}`,
		"nan":                      `{"lat":nan}`,
		"inf":                      `{"lat":inf}`,
		"minus inf":                `{"lat":-inf}`,
		"Infinity":                 `{"lat":Infinity}`,
		"plus":                     `{"lat":+1}`,
		"leading zero":             `{"lat":01}`,
		"no integer part":          `{"lat":.5}`,
		"no fraction":              `{"lat":5.}`,
		"no exponent":              `{"lat":5e}`,
		"two points":               `{"lat":1.2.3}`,
		"hexadecimal":              `{"lat":0x10}`,
		"trailing comma":           `{"lat":1,}`,
		"trailing comma in array":  `[{},]`,
		"single quotes":            `{'lat':1}`,
		"bare name":                `{lat:1}`,
		"comment":                  `{/* */"lat":1}`,
		"unknown escape":           `{"device":"\x41"}`,
		"short escape":             `{"device":"\u12"}`,
		"raw line end in string":   "{\"device\":\"a\nb\"}",
		"truee":                    `{"ignition":truee}`,
		"tru":                      `{"ignition":tru}`,
		"zero byte":                "{\"lat\":1\x00}",
		"UTF-16 little-endian":     "\xff\xfe{\x00}\x00",
		"UTF-16 big-endian":        "\xfe\xff\x00{\x00}",
		"binary":                   "\x00\x01\x02\x03",
		"gzip":                     "\x1f\x8b\x08\x00\x00",
		"arrays a bomb deep":       `{"x":` + strings.Repeat("[", 1<<20),
		"objects a bomb deep":      strings.Repeat(`{"x":`, 1<<19),
		"deep but closed":          `{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}",
	} {
		for _, f := range []Format{JSON, Traccar} {
			dst := []fleet.Report{reportOf(func(r *fleet.Report) { r.UniqueID = "before" })}
			got, err := NewDecoder().Decode(f, []byte(text), dst)
			if !errors.Is(err, ErrUndecodable) {
				t.Errorf("%s as %s: %v, want ErrUndecodable", name, f, err)
			}
			if len(got) != 1 || got[0].UniqueID != "before" {
				t.Errorf("%s as %s: dst changed to %d reports", name, f, len(got))
			}
		}
	}
}

func TestLimits(t *testing.T) {
	d := NewDecoder()
	big := []byte(`{"device":"a","note":"` + strings.Repeat("x", 10<<20) + `"}`)
	if _, err := d.Decode(JSON, big, nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("10 MiB: %v, want ErrTooLarge", err)
	}
	d.MaxBytes = 16 << 20
	if got, err := d.Decode(JSON, big, nil); err != nil || len(got) != 1 || got[0].UniqueID != "a" {
		t.Errorf("10 MiB with a higher limit: %d reports, %v", len(got), err)
	}
	full := "[" + strings.Repeat("{},", MaxReports-1) + "{}]"
	if got, err := d.Decode(JSON, []byte(full), nil); err != nil || len(got) != MaxReports {
		t.Errorf("%d reports: %d, %v", MaxReports, len(got), err)
	}
	if got, err := d.Decode(JSON, []byte(full[:len(full)-1]+",{}]"), nil); !errors.Is(err, ErrTooLarge) || len(got) != 0 {
		t.Errorf("one report too many: %d, %v, want ErrTooLarge", len(got), err)
	}
	if got, err := d.Decode(JSON, []byte("[]"), nil); err != nil || len(got) != 0 {
		t.Errorf("empty array: %d reports, %v", len(got), err)
	}
	if _, err := d.Decode("xml", []byte("{}"), nil); !errors.Is(err, ErrUndecodable) {
		t.Errorf("unknown format: %v, want ErrUndecodable", err)
	}
}

func TestSignalCounters(t *testing.T) {
	d := NewDecoder()
	got, err := d.Decode(JSON, []byte(
		`{"signals":{"soc_pct":101,"hdop":"x","fuel_level_pct":null,"banana":1,"kiwi":{},"soh_pct":1e999,"pdop":2}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.DroppedSignals != 3 || d.UnknownSignals != 2 {
		t.Errorf("dropped %d, unknown %d; want 3 and 2", d.DroppedSignals, d.UnknownSignals)
	}
	sameReports(t, got, []fleet.Report{reportOf(func(r *fleet.Report) {
		r.Signals = []fleet.SignalValue{{Signal: fleet.MustSignal("pdop"), Value: 2}}
	})})
}

// Reports stay as they were decoded until Reset, however much is decoded after them and whatever becomes of the bytes.
func TestReportsOutliveTheirRecord(t *testing.T) {
	d := NewDecoder()
	var got, want []fleet.Report
	for round := range 3 {
		d.Reset()
		got, want = got[:0], want[:0]
		for i, r := range withSignals(sampleReports(5000)) {
			record := AppendReport(nil, &r)
			var err error
			if got, err = d.Decode(JSON, record, got); err != nil {
				t.Fatal(err)
			}
			clear(record)
			if i%3 == round {
				if _, err := d.Decode(JSON, []byte(`{"signals":{"soc_pct":1,"hdop":2},`), nil); err == nil {
					t.Fatal("broken record was decoded")
				}
			}
			want = append(want, r)
		}
		sameReports(t, got, want)
	}
}

func TestInternerForgets(t *testing.T) {
	var n interner
	for i := range maxNames + 10 {
		written := "  " + strconv.Itoa(i)
		if name := n.text(written); name != written[2:] || n.bytes([]byte(written)) != name {
			t.Fatalf("id %q became %q", written, name)
		}
	}
	if len(n.names) > maxNames {
		t.Errorf("%d names are kept, at most %d should be", len(n.names), maxNames)
	}
}

func TestClocks(t *testing.T) {
	for text, want := range map[string]fleet.Millis{
		`"2026-01-31T09:15:02.000+00:00"`: 1769850902000,
		`"2026-01-31T09:15:02Z"`:          1769850902000,
		`"2026-01-31t09:15:02z"`:          1769850902000,
		`"2026-01-31 09:15:02Z"`:          1769850902000,
		`"2026-01-31T10:15:02.1239+0100"`: 1769850902123,
		`"2026-01-31T05:45:02.5-03:30"`:   1769850902500,
		`"2024-02-29T00:00:00Z"`:          1709164800000,
		`"2016-12-31T23:59:60Z"`:          1483228800000,
		`"1969-12-31T23:59:59.999Z"`:      -1,
		`"0001-01-01T00:00:00Z"`:          -62135596800000,
		`1769850902000`:                   1769850902000,
		`1769850902000.7`:                 1769850902000,
		`1.769850902e12`:                  1769850902000,
		`-1`:                              -1,
		`1e300`:                           0,
		`"2026-01-31T09:15:02"`:           0, // whose local time?
		`"2026-01-31"`:                    0,
		`"2026-02-29T00:00:00Z"`:          0,
		`"1900-02-29T00:00:00Z"`:          0,
		`"2026-13-01T00:00:00Z"`:          0,
		`"2026-00-10T00:00:00Z"`:          0,
		`"2026-01-31T24:00:00Z"`:          0,
		`"2026-01-31T09:60:00Z"`:          0,
		`"2026-01-31T09:15:61Z"`:          0,
		`"2026-01-31T09:15:02.Z"`:         0,
		`"2026-01-31T09:15:02+1"`:         0,
		`"2026-01-31T09:15:02+24:00"`:     0,
		`"2026-01-31T09:15:02ZZ"`:         0,
		`"2o26-01-31T09:15:02Z"`:          0,
		`"1769850902000"`:                 0,
		`""`:                              0,
		`true`:                            0,
	} {
		got, err := NewDecoder().Decode(JSON, []byte(`{"fix_at":`+text+`}`), nil)
		if err != nil || got[0].FixTime != want {
			t.Errorf("%s is %d, %v; want %d", text, got[0].FixTime, err, want)
		}
	}
}

func TestDeadLetter(t *testing.T) {
	want := DeadLetter{
		ID: math.MaxUint64, At: 1769850902000, Reason: fleet.RefusedUndecodable, Detail: "a \"quoted\"\nline \x01",
		Device: "é😀", Topic: "positions", Partition: 3, Offset: 1 << 53, Index: 2, Format: JSON,
		Payload: []byte("\x00\xff{"), PayloadBytes: 3,
	}
	got, err := decodeDeadLetter(want.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dead letter differs (-want +got):\n%s", diff)
	}
	long := DeadLetter{Reason: fleet.RefusedTooLarge, Topic: "positions", Payload: make([]byte, 1<<20),
		PayloadBytes: 1 << 20}
	if got, err = decodeDeadLetter(long.Append(nil)); err != nil || len(got.Payload) != maxDeadLetterPayload ||
		got.PayloadBytes != 1<<20 {
		t.Errorf("long payload: %d of %d bytes, %v", len(got.Payload), got.PayloadBytes, err)
	}
	for _, text := range []string{"", "{}", "[]", `{"id":"x"}`, `{"id":"1","reason":"empty"}`,
		`{"id":"1","reason":"empty","topic":"t","payload_base64":"*"}`} {
		if _, err := decodeDeadLetter([]byte(text)); !errors.Is(err, ErrUndecodable) {
			t.Errorf("%s: %v, want ErrUndecodable", text, err)
		}
	}
}
