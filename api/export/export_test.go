package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/google/go-cmp/cmp"

	"github.com/motorpool/fleet"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var columns = []Column{
	{"fix_at", Instant}, {"lat", Number}, {"lng", Number}, {"speed_mph", Number}, {"satellites", Whole},
	{"ignition", Truth}, {"address", Text}, {"flags", Words},
}

func instant(t *testing.T, text string) fleet.Millis {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return fleet.MillisOf(at)
}

// sample is a track with everything known, with nothing known, with hostile text, and with a gap.
func sample(t *testing.T) ([]fleet.Position, [][]Value) {
	t.Helper()
	nan := math.NaN()
	positions := []fleet.Position{
		{FixTime: instant(t, "2026-01-31T09:15:02.5Z"), Lat: 38.5, Lng: -120.2, Altitude: 12.5, Speed: 13.37, Course: 270,
			Satellites: 9, Ignition: fleet.Yes},
		{FixTime: instant(t, "2026-01-31T09:15:32Z"), Lat: 40.7, Lng: -120.95, Altitude: nan, Speed: nan, Course: nan,
			Satellites: -1},
		{FixTime: instant(t, "2026-01-31T12:00:00Z"), Lat: 43.252, Lng: -126.453, Altitude: -3, Speed: 0, Course: nan,
			Satellites: 0, Ignition: fleet.No},
	}
	addresses := []string{"Salé, \"Rabat\", MA", "", "=HYPERLINK(\"x\")\n<b>"}
	flags := [][]string{nil, {"late", "jump"}, {"mock"}}
	var rows [][]Value
	for i, p := range positions {
		satellites := Value{}
		if p.Satellites >= 0 {
			satellites = WholeOf(int64(p.Satellites))
		}
		rows = append(rows, []Value{
			InstantOf(p.FixTime), ExactOf(p.Lat), ExactOf(p.Lng), NumberOf(p.Speed/fleet.MetresPerMph, 2), satellites,
			TruthOf(p.Ignition), TextOf(addresses[i]), WordsOf(flags[i]),
		})
	}
	return positions, rows
}

func write(t *testing.T, f Format, n int) []byte {
	t.Helper()
	positions, rows := sample(t)
	var out bytes.Buffer
	track, err := NewTrack(f, &out, `Bus <7> & "co"`, columns, 5)
	if err != nil {
		t.Fatal(err)
	}
	for i := range positions[:n] {
		if err := track.Write(&positions[i], rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := track.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestTextFormatsAreTheGoldenOnes(t *testing.T) {
	for _, f := range []Format{JSON, NDJSON, CSV, GeoJSON, GPX, KML, Polyline} {
		for name, n := range map[string]int{"track": 3, "empty": 0} {
			got := write(t, f, n)
			path := filepath.Join("testdata", name+"."+string(f))
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s:\n%s", path, diff)
			}
		}
	}
}

// The golden files must also mean what they should to readers that know nothing of this package.
func TestJSONReadsBack(t *testing.T) {
	var rows []map[string]any
	if err := json.Unmarshal(write(t, JSON, 3), &rows); err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{
		{"fix_at": "2026-01-31T09:15:02.500Z", "lat": 38.5, "lng": -120.2, "speed_mph": 29.91, "satellites": 9.0,
			"ignition": true, "address": "Salé, \"Rabat\", MA", "flags": []any{}},
		{"fix_at": "2026-01-31T09:15:32.000Z", "lat": 40.7, "lng": -120.95, "speed_mph": nil, "satellites": nil,
			"ignition": nil, "address": nil, "flags": []any{"late", "jump"}},
		{"fix_at": "2026-01-31T12:00:00.000Z", "lat": 43.252, "lng": -126.453, "speed_mph": 0.0, "satellites": 0.0,
			"ignition": false, "address": "=HYPERLINK(\"x\")\n<b>", "flags": []any{"mock"}},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	lines := strings.Split(strings.TrimSpace(string(write(t, NDJSON, 3))), "\n")
	for i, line := range lines {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil || !cmp.Equal(row, want[i]) {
			t.Errorf("line %d: %v %s", i, err, line)
		}
	}
}

func TestCSVReadsBack(t *testing.T) {
	records, err := csv.NewReader(bytes.NewReader(write(t, CSV, 3))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"fix_at", "lat", "lng", "speed_mph", "satellites", "ignition", "address", "flags"},
		{"2026-01-31T09:15:02.500Z", "38.5", "-120.2", "29.91", "9", "true", `Salé, "Rabat", MA`, ""},
		{"2026-01-31T09:15:32.000Z", "40.7", "-120.95", "", "", "", "", "late;jump"},
		{"2026-01-31T12:00:00.000Z", "43.252", "-126.453", "0", "0", "false", "'=HYPERLINK(\"x\")\n<b>", "mock"},
	}
	if diff := cmp.Diff(want, records); diff != "" {
		t.Error(diff)
	}
}

func checkArrow(t *testing.T, records []arrow.Record) {
	t.Helper()
	var rows []map[string]any
	for _, record := range records {
		text, err := record.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var part []map[string]any
		if err := json.Unmarshal(text, &part); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, part...)
	}
	want := []map[string]any{
		{"fix_at": "2026-01-31 09:15:02.5Z", "lat": 38.5, "lng": -120.2, "speed_mph": 29.91, "satellites": 9.0,
			"ignition": true, "address": "Salé, \"Rabat\", MA", "flags": []any{}},
		{"fix_at": "2026-01-31 09:15:32Z", "lat": 40.7, "lng": -120.95, "speed_mph": nil, "satellites": nil, "ignition": nil,
			"address": nil, "flags": []any{"late", "jump"}},
		{"fix_at": "2026-01-31 12:00:00Z", "lat": 43.252, "lng": -126.453, "speed_mph": 0.0, "satellites": 0.0,
			"ignition": false, "address": "=HYPERLINK(\"x\")\n<b>", "flags": []any{"mock"}},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}

func TestArrowReadsBack(t *testing.T) {
	for _, n := range []int{3, 0} {
		r, err := ipc.NewReader(bytes.NewReader(write(t, Arrow, n)))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Release()
		var records []arrow.Record
		for r.Next() {
			record := r.Record()
			record.Retain()
			records = append(records, record)
		}
		if r.Err() != nil {
			t.Fatal(r.Err())
		}
		if n > 0 {
			checkArrow(t, records)
		} else if got := len(r.Schema().Fields()); got != len(columns) || len(records) != 0 {
			t.Errorf("empty stream with %d fields and %d batches", got, len(records))
		}
	}
}

func TestParquetReadsBack(t *testing.T) {
	for _, n := range []int{3, 0} {
		pf, err := file.NewParquetReader(bytes.NewReader(write(t, Parquet, n)))
		if err != nil {
			t.Fatal(err)
		}
		reader, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		table, err := reader.ReadTable(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer table.Release()
		if table.NumRows() != int64(n) || table.NumCols() != int64(len(columns)) {
			t.Errorf("%d rows of %d columns", table.NumRows(), table.NumCols())
		}
		if n > 0 {
			batches := array.NewTableReader(table, 10)
			defer batches.Release()
			batches.Next()
			checkArrow(t, []arrow.Record{batches.Record()})
		}
	}
}

func TestManyRowsComeInSeveralBatches(t *testing.T) {
	var out bytes.Buffer
	table, err := NewTable(Arrow, &out, []Column{{"n", Whole}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2*arrowBatch + 1 {
		if err := table.Write([]Value{WholeOf(int64(i))}); err != nil {
			t.Fatal(err)
		}
	}
	if out.Len() < arrowBatch*8 {
		t.Error("full batches are held back")
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	next, batches := int64(0), 0
	for r.Next() {
		batches++
		for _, v := range r.Record().Column(0).(*array.Int64).Int64Values() {
			if v != next {
				t.Fatalf("row %d holds %d", next, v)
			}
			next++
		}
	}
	if batches != 3 || next != 2*arrowBatch+1 {
		t.Errorf("%d rows in %d batches", next, batches)
	}
}

func TestGeoJSONReadsBack(t *testing.T) {
	type collection struct {
		Type     string
		Features []struct {
			Type     string
			Geometry struct {
				Type        string
				Coordinates []float64
			}
			Properties map[string]any
		}
	}
	var c, empty collection
	if err := json.Unmarshal(write(t, GeoJSON, 3), &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Features) != 3 || c.Type != "FeatureCollection" || c.Features[0].Type != "Feature" ||
		c.Features[0].Geometry.Type != "Point" ||
		!cmp.Equal(c.Features[0].Geometry.Coordinates, []float64{-120.2, 38.5, 12.5}) ||
		!cmp.Equal(c.Features[1].Geometry.Coordinates, []float64{-120.95, 40.7}) ||
		c.Features[1].Properties["fix_at"] != "2026-01-31T09:15:32.000Z" {
		t.Errorf("read %+v", c)
	}
	if err := json.Unmarshal(write(t, GeoJSON, 0), &empty); err != nil || empty.Features == nil ||
		len(empty.Features) != 0 {
		t.Errorf("empty: %+v, %v", empty, err)
	}
}

func TestGPXReadsBack(t *testing.T) {
	var doc struct {
		XMLName xml.Name `xml:"http://www.topografix.com/GPX/1/1 gpx"`
		Trk     struct {
			Name   string `xml:"name"`
			Trkseg []struct {
				Trkpt []struct {
					Lat   float64   `xml:"lat,attr"`
					Lon   float64   `xml:"lon,attr"`
					Ele   *float64  `xml:"ele"`
					Time  time.Time `xml:"time"`
					Sat   *int      `xml:"sat"`
					Speed *float64  `xml:"extensions>TrackPointExtension>speed"`
				} `xml:"trkpt"`
			} `xml:"trkseg"`
		} `xml:"trk"`
	}
	if err := xml.Unmarshal(write(t, GPX, 3), &doc); err != nil {
		t.Fatal(err)
	}
	segments := doc.Trk.Trkseg
	if doc.Trk.Name != `Bus <7> & "co"` || len(segments) != 2 || len(segments[0].Trkpt) != 2 ||
		len(segments[1].Trkpt) != 1 {
		t.Fatalf("read %+v", doc)
	}
	first, second := segments[0].Trkpt[0], segments[0].Trkpt[1]
	if first.Lat != 38.5 || first.Lon != -120.2 || *first.Ele != 12.5 || *first.Sat != 9 || *first.Speed != 13.37 ||
		first.Time.UnixMilli() != 1769850902500 || second.Ele != nil || second.Speed != nil {
		t.Errorf("read %+v, %+v", first, second)
	}
}

func TestKMLReadsBack(t *testing.T) {
	var doc struct {
		XMLName xml.Name `xml:"http://www.opengis.net/kml/2.2 kml"`
		Name    string   `xml:"Document>Placemark>name"`
		Tracks  []struct {
			When  []time.Time `xml:"http://www.opengis.net/kml/2.2 when"`
			Coord []string    `xml:"http://www.google.com/kml/ext/2.2 coord"`
		} `xml:"Document>Placemark>MultiTrack>Track"`
	}
	if err := xml.Unmarshal(write(t, KML, 3), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Tracks) != 2 || len(doc.Tracks[0].When) != 2 || len(doc.Tracks[0].Coord) != 2 ||
		doc.Tracks[1].Coord[0] != "-126.453 43.252 -3" {
		t.Errorf("read %+v", doc)
	}
}

// The line of Google's own description of the format.
func TestPolylineIsGooglesExample(t *testing.T) {
	var doc struct {
		Precision, Points int
		Polyline          string
	}
	if err := json.Unmarshal(write(t, Polyline, 3), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Polyline != "_p~iF~ps|U_ulLnnqC_mqNvxq`@" || doc.Precision != 5 || doc.Points != 3 {
		t.Errorf("read %+v", doc)
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name, accept string
		want         Format
	}{
		{"", "", JSON},
		{"gpx", "application/json", GPX},
		{"", "*/*", JSON},
		{"", "text/csv", CSV},
		{"", "text/html, application/xml;q=0.9, */*;q=0.8", JSON},
		{"", "text/csv;q=0.5, application/geo+json", GeoJSON},
		{"", "application/*;q=0.1, text/*", CSV},
		{"", "application/json;q=0, */*;q=0.1", NDJSON},
		{"", "Application/VND.apache.parquet", Parquet},
		{"polyline", "", Polyline},
	} {
		if got, err := Choose(c.name, c.accept, Tracks); got != c.want || err != nil {
			t.Errorf("Choose(%q, %q) = %q, %v, want %q", c.name, c.accept, got, err, c.want)
		}
	}
	for _, c := range [][2]string{{"xls", ""}, {"", "image/png"}, {"", "garbage"}, {"", "text/csv;q=x"}, {"GPX", ""}} {
		if got, err := Choose(c[0], c[1], Tracks); err == nil {
			t.Errorf("Choose(%q, %q) = %q", c[0], c[1], got)
		}
	}
	if _, err := Choose("gpx", "", Tables); err == nil {
		t.Error("a table as GPX")
	}
}

type failing struct{ left int }

var errFull = errors.New("full")

func (w *failing) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestErrorsOfTheWriterComeOut(t *testing.T) {
	positions, rows := sample(t)
	for _, f := range Tracks {
		to := &failing{left: 100}
		track, err := NewTrack(f, to, "x", columns, 5)
		for i := 0; err == nil && i < 200000; i++ {
			err = track.Write(&positions[i%2], rows[i%2])
		}
		if err == nil {
			err = track.Close()
		}
		if !errors.Is(err, errFull) {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func TestNumbersAreRoundedAndNeverNaN(t *testing.T) {
	for _, c := range []struct {
		v    float64
		dec  int
		want string
	}{{1.005, 1, "1"}, {29.9078, 2, "29.91"}, {-0.04, 1, "0"}, {math.NaN(), 2, "null"}, {math.Inf(1), 2, "null"},
		{1e20, 2, "100000000000000000000"}} {
		v := NumberOf(c.v, c.dec)
		if got := string(appendValue(nil, Number, &v)); got != c.want {
			t.Errorf("NumberOf(%v, %d) writes %s, want %s", c.v, c.dec, got, c.want)
		}
	}
}

func BenchmarkTrack(b *testing.B) {
	for _, f := range Tracks {
		b.Run(string(f), func(b *testing.B) {
			var t testing.T
			positions, rows := sample(&t)
			track, err := NewTrack(f, &failing{left: math.MaxInt}, "x", columns, 5)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := track.Write(&positions[0], rows[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
