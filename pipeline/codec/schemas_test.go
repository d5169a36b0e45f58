package codec

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
)

var update = flag.Bool("update", false, "rewrite the files of schemas/ that are made from the code")

const (
	topics  = "../../schemas/topics"
	signals = "../../schemas/signals"
)

// schemaOf compiles one of the schemas of schemas/topics.
func schemaOf(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(topics, name+".schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(schema *jsonschema.Schema, text []byte) error {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// formatOfExample returns the schema and the format that the name of an example begins with.
func formatOfExample(path string) (schema string, format Format) {
	schema, _, _ = strings.Cut(strings.TrimSuffix(filepath.Base(path), ".json"), "-")
	switch schema {
	case "traccar":
		return schema, Traccar
	case "dead_letter":
		return schema, ""
	}
	return schema, JSON
}

func TestExamplesAreValid(t *testing.T) {
	paths, err := filepath.Glob(topics + "/examples/*.json")
	if err != nil || len(paths) < 5 {
		t.Fatalf("%d examples, %v", len(paths), err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, format := formatOfExample(path)
		if err := validate(schemaOf(t, name), text); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if format == "" {
			if _, err := decodeDeadLetter(text); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		d := NewDecoder()
		reports, err := d.Decode(format, text, nil)
		if err != nil || len(reports) == 0 || d.UnknownSignals != 0 {
			t.Errorf("%s: %d reports, %d unknown signals, %v", path, len(reports), d.UnknownSignals, err)
		}
		for _, r := range reports {
			if r.UniqueID == "" || r.FixTime == 0 && r.DeviceTime == 0 || r.Positioned != (name != "telemetry") ||
				r.Positioned && math.IsNaN(r.Lat+r.Lng) {
				t.Errorf("%s: %+v", path, r)
			}
		}
	}
}

// Each example of a mistake fails its schema, and README.md says what becomes of it.
func TestMistakesAreInvalid(t *testing.T) {
	readme, err := os.ReadFile(topics + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(topics + "/examples/invalid/*.json")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d examples, %v", len(paths), err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := formatOfExample(path)
		if !json.Valid(text) {
			t.Errorf("%s is no JSON", path)
		}
		if validate(schemaOf(t, name), text) == nil {
			t.Errorf("%s is valid", path)
		}
		if !strings.Contains(string(readme), "| `"+filepath.Base(path)+"` |") {
			t.Errorf("README.md does not list %s", filepath.Base(path))
		}
	}
	if listed := strings.Count(string(readme), ".json` |"); listed != len(paths) {
		t.Errorf("README.md lists %d mistakes, there are %d", listed, len(paths))
	}
}

// What we write ourselves follows the schemas, wherever a report is one that a producer may send.
func TestOwnRecordsAreValid(t *testing.T) {
	position, telemetry, letter := schemaOf(t, "position"), schemaOf(t, "telemetry"), schemaOf(t, "dead_letter")
	quantity := func(t *rapid.T, low, high float64, name string) float64 {
		return rapid.OneOf(rapid.Just(math.NaN()), rapid.Float64Range(low, high)).Draw(t, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		r := drawReport(t)
		if r.UniqueID == "" {
			r.UniqueID = "a"
		}
		r.FixTime = fleet.Millis(rapid.Int64Range(1, 4e12).Draw(t, "fix time"))
		r.Speed, r.Course = quantity(t, 0, 120, "speed"), quantity(t, 0, 360, "course")
		r.Accuracy, r.Odometer = quantity(t, 0.1, 1e6, "accuracy"), quantity(t, 0, 4e9, "odometer")
		schema := position
		if r.Positioned {
			r.Lat, r.Lng = rapid.Float64Range(-90, 90).Draw(t, "lat"), rapid.Float64Range(-180, 180).Draw(t, "lng")
		} else {
			schema = telemetry
			if len(r.Signals) == 0 {
				r.Motion = fleet.Yes
			}
		}
		if text := AppendReport(nil, &r); validate(schema, text) != nil {
			t.Fatalf("%v: %s", validate(schema, text), text)
		}
		l := DeadLetter{
			ID: rapid.Uint64().Draw(t, "id"), At: r.FixTime, Detail: rapid.String().Draw(t, "detail"), Device: r.UniqueID,
			Reason: rapid.SampledFrom(slices.DeleteFunc(slices.Clone(fleet.Refusals),
				func(r fleet.Refusal) bool { return !r.DeadLettered() })).Draw(t, "reason"),
			Topic: "positions", Partition: rapid.IntRange(0, 100).Draw(t, "partition"),
			Offset:  rapid.Int64Range(0, 1<<50).Draw(t, "offset"),
			Format:  rapid.SampledFrom([]Format{"", JSON, Traccar, Arrow}).Draw(t, "format"),
			Payload: rapid.SliceOf(rapid.Byte()).Draw(t, "payload"),
		}
		l.PayloadBytes = len(l.Payload)
		if text := l.Append(nil); validate(letter, text) != nil {
			t.Fatalf("%v: %s", validate(letter, text), text)
		}
	})
}

// The enumerations of the schemas are those of the code.
func TestSchemasListWhatTheCodeKnows(t *testing.T) {
	var position struct {
		Defs struct {
			Alarm struct {
				Examples []string `json:"examples"`
			} `json:"alarm"`
		} `json:"$defs"`
	}
	read(t, topics+"/position.schema.json", &position)
	if !slices.Equal(position.Defs.Alarm.Examples, fleet.Alarms) {
		t.Errorf("alarms are %q, want %q", position.Defs.Alarm.Examples, fleet.Alarms)
	}
	var letter struct {
		Properties struct {
			Reason struct {
				Enum []fleet.Refusal `json:"enum"`
			} `json:"reason"`
		} `json:"properties"`
	}
	read(t, topics+"/dead_letter.schema.json", &letter)
	want := slices.DeleteFunc(slices.Clone(fleet.Refusals), func(r fleet.Refusal) bool { return !r.DeadLettered() })
	if !slices.Equal(letter.Properties.Reason.Enum, want) {
		t.Errorf("reasons are %q, want %q", letter.Properties.Reason.Enum, want)
	}
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// The documented columns and attributes are those that are read.
func TestDocumentsNameWhatIsRead(t *testing.T) {
	arrowText, err := os.ReadFile(topics + "/arrow.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range arrowMembers {
		if !strings.Contains(string(arrowText), "`"+name+"`") {
			t.Errorf("arrow.md does not name the column %s", name)
		}
	}
	readme, err := os.ReadFile(topics + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for key, attribute := range traccarAttributes {
		found := false
		for line := range strings.Lines(string(readme)) {
			found = found || strings.Contains(line, "`"+key+"`") && strings.Contains(line, "`"+attribute.signal.String()+"`")
		}
		if !found {
			t.Errorf("README.md does not say that %s becomes %s", key, attribute.signal)
		}
	}
}

// schemas/signals is made from the catalogue: go test ./pipeline/codec -run TestSignalCatalogue -update
func TestSignalCatalogue(t *testing.T) {
	for path, want := range map[string]string{
		signals + "/README.md":           signalTable(),
		signals + "/signals.schema.json": signalSchema(),
	} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is not what the catalogue says; run with -update and review the change", path)
		}
	}
}

func signalTable() string {
	var out strings.Builder
	out.WriteString(`# Signals

What vehicles and trackers report over time. This file and signals.schema.json are made from the catalogue in
signal.go at the root of the module; a test in pipeline/codec compares them, and rewrites them with ` + "`-update`" + `.

A name carries its unit as the suffix. A value outside of its range is dropped and counted, and so is a name that is not
listed; the rest of the report is kept. (Over HTTP such a report is refused, and the answer says why.) A boolean is 0 or 1 where it is stored, and may be sent as true or false. VSS is
the matching path of the COVESA Vehicle Signal Specification, where there is one. odometer_m, ignition and motion are
also members of a position, and are best sent as such.

| name | unit | range | VSS | meaning |
| --- | --- | --- | --- | --- |
`)
	for _, s := range fleet.Signals {
		vss := "–"
		if s.VSS != "" {
			vss = "`" + s.VSS + "`"
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s to %s | %s | %s |\n", s.Name, s.Unit, appendNumber(nil, s.Min),
			appendNumber(nil, s.Max), vss, s.About)
	}
	return out.String()
}

func signalSchema() string {
	var out strings.Builder
	out.WriteString(`{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "Signals by name",
  "type": "object",
  "additionalProperties": false,
  "properties": {
`)
	for i, s := range fleet.Signals {
		kind := `"type": "number", `
		if s.Unit == "bool" {
			kind = `"type": ["boolean", "number"], `
		}
		comma := ","
		if i == len(fleet.Signals)-1 {
			comma = ""
		}
		about := s.About
		if s.Unit != "bool" && s.Unit != "1" {
			about += " (" + s.Unit + ")"
		}
		fmt.Fprintf(&out, "    %q: {%s\"minimum\": %s, \"maximum\": %s, \"description\": %s}%s\n",
			s.Name, kind, appendNumber(nil, s.Min), appendNumber(nil, s.Max), appendText(nil, about), comma)
	}
	out.WriteString("  }\n}\n")
	return out.String()
}
