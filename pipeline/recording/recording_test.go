package recording_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/recording"
)

// readAll returns the reports of a text under a file name, and the error that ended it, nil for its end.
func readAll(t *testing.T, name, text string) ([]fleet.Report, error) {
	t.Helper()
	reader, err := recording.New(name, strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	var all []fleet.Report
	for {
		report := fleet.NewReport()
		err := reader.Next(&report)
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, report)
	}
}

func mustRead(t *testing.T, name, text string) []fleet.Report {
	t.Helper()
	all, err := readAll(t, name, text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return all
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(want) && math.IsNaN(got) {
		return
	}
	if !(math.Abs(got-want) <= 1e-6*max(1, math.Abs(want))) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func signals(r fleet.Report) map[string]float64 {
	byName := make(map[string]float64)
	for _, s := range r.Signals {
		byName[s.Signal.String()] = s.Value
	}
	return byName
}

const at2017 = fleet.Millis(1490072431000) // 2017-03-21T05:00:31Z

func TestCSVColumns(t *testing.T) {
	text := "vehicle,timestamp,lat,lng,speed_kmh,gps_speed_kmh,heading_deg,altitude_m,gps_accuracy,gps_sats,gps_fix," +
		"battery_pct,rpm,trip_distance_km,accel_x_g,cadence,speed_limit_kmh,heart_rate,unknown,hdop,odometer_mi,ignition\n" +
		"2619,2017-03-21T05:00:31Z,30.19826,-97.77679,36,30,270.5,142.5,7.5,9,3,88.25,1500,1.5,-0.5,255,90,61,x,0.8,10,on\n"
	r := mustRead(t, "a.csv", text)[0]
	if r.UniqueID != "2619" || r.FixTime != at2017 || !r.Positioned || r.Invalid || r.Satellites != 9 ||
		r.Ignition != fleet.Yes {
		t.Errorf("report = %+v", r)
	}
	near(t, "lat", r.Lat, 30.19826)
	near(t, "lng", r.Lng, -97.77679)
	near(t, "speed", r.Speed, 10)
	near(t, "course", r.Course, 270.5)
	near(t, "altitude", r.Altitude, 142.5)
	near(t, "accuracy", r.Accuracy, 7.5)
	near(t, "odometer", r.Odometer, 16093.44)
	want := map[string]float64{
		"ecu_speed_mps": 10, "soc_pct": 88.25, "engine_rpm": 1500, "trip_odometer_m": 1500, "accel_x_mps2": -4.903325,
		"speed_limit_mps": 25, "heart_rate_bpm": 61, "hdop": 0.8,
	}
	got := signals(r)
	for name, v := range want {
		near(t, name, got[name], v)
	}
	if len(got) != len(want) {
		t.Errorf("signals = %v, want %v", got, want)
	}
}

func TestCSVRowsThatMustBeRefusedLaterAreStillReports(t *testing.T) {
	text := "timestamp,vehicle,lng,lat\r\n" +
		",7,-97,30\r\n" + // no time
		"90/02/2032,7,-97,30\r\n" + // broken time
		"2017-03-21T05:00:31Z,7,,30\r\n" + // no longitude
		"2017-03-21T05:00:31Z,7,-97,north\r\n" + // broken latitude
		"2017-03-21T05:00:31Z,7,0,0\r\n" +
		"2017-03-21T05:00:31Z,7\r\n" + // short
		"2017-03-21T05:00:31Z,,-97,30\r\n" + // no vehicle
		"\r\n" + // a blank line is no row
		"\"2017-03-21T05:00:31Z\",\"7 \"\"b\"\", with comma\",-97,30\r\n" +
		"2017-03-21T05:00:31Z,7,-97,\"30\n" + // an unclosed quote ends with its line
		"1490072431,7,-97,30\n1490072431000,7,-97,30\n" +
		"2017-03-21T05:00:31Z,7,-97,1e999"
	all := mustRead(t, "warts.csv", text)
	nan := math.NaN()
	want := []struct {
		vehicle  string
		at       fleet.Millis
		lat, lng float64
	}{
		{"7", 0, 30, -97}, {"7", 0, 30, -97}, {"7", at2017, 30, nan}, {"7", at2017, nan, -97}, {"7", at2017, 0, 0},
		{"7", at2017, nan, nan}, {"", at2017, 30, -97}, {`7 "b", with comma`, at2017, 30, -97}, {"7", at2017, 30, -97},
		{"7", at2017, 30, -97}, {"7", at2017, 30, -97}, {"7", at2017, nan, -97},
	}
	if len(all) != len(want) {
		t.Fatalf("%d reports, want %d", len(all), len(want))
	}
	for i, w := range want {
		r := all[i]
		if r.UniqueID != w.vehicle || r.FixTime != w.at || !r.Positioned {
			t.Errorf("row %d = %q at %d, want %q at %d", i, r.UniqueID, r.FixTime, w.vehicle, w.at)
		}
		near(t, "lat", r.Lat, w.lat)
		near(t, "lng", r.Lng, w.lng)
	}
}

const gpx11 = `<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1" xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v2">
 <metadata><name>not a track</name><time>2001-01-01T00:00:00Z</time></metadata>
 <wpt lat="1" lon="2"><name>not a track either</name></wpt>
 <trk><name> Van 7 &amp; trailer </name><trkseg>
  <trkpt lat="53.385" lon="-6.256"><ele>56.8</ele><time>2023-07-06T09:04:23.5Z</time><sat>8</sat><hdop>1.1</hdop>
   <extensions><gpxtpx:TrackPointExtension><gpxtpx:speed>5.5</gpxtpx:speed><gpxtpx:course>90</gpxtpx:course><gpxtpx:hr>99</gpxtpx:hr></gpxtpx:TrackPointExtension></extensions></trkpt>
  <trkpt lat="x" lon="-6.256"></trkpt>
 </trkseg></trk>
 <trk><trkseg><trkpt lat="1" lon="2"><time>2023-07-06T09:04:24+01:00</time><fix>none</fix></trkpt></trkseg></trk>
</gpx>`

func TestGPX(t *testing.T) {
	all := mustRead(t, "ride.gpx", gpx11)
	if len(all) != 3 {
		t.Fatalf("%d reports, want 3", len(all))
	}
	r := all[0]
	if r.UniqueID != "Van 7 & trailer" || r.FixTime != 1688634263500 || r.Satellites != 8 || !r.Positioned {
		t.Errorf("report = %+v", r)
	}
	near(t, "lat", r.Lat, 53.385)
	near(t, "speed", r.Speed, 5.5)
	near(t, "course", r.Course, 90)
	near(t, "altitude", r.Altitude, 56.8)
	near(t, "heart rate", signals(r)["heart_rate_bpm"], 99)
	if r := all[1]; r.UniqueID != "Van 7 & trailer" || r.FixTime != 0 || !math.IsNaN(r.Lat) {
		t.Errorf("broken point = %+v", r)
	}
	if r := all[2]; r.UniqueID != "ride" || !r.Invalid || r.FixTime != 1688630664000 {
		t.Errorf("point of the nameless track = %+v", r)
	}
}

func TestGPX10SpeedAndLatin1(t *testing.T) {
	text := "<?xml version='1.0' encoding='ISO-8859-1'?><gpx version='1.0'><trk><name>K\xfchlwagen</name><trkseg>" +
		"<trkpt lat='1' lon='2'><time>2017-03-21T05:00:31Z</time><course>10</course><speed>3</speed></trkpt></trkseg></trk></gpx>"
	r := mustRead(t, "a.gpx", text)[0]
	if r.UniqueID != "Kühlwagen" || r.FixTime != at2017 {
		t.Errorf("report = %+v", r)
	}
	near(t, "speed", r.Speed, 3)
}

const forwarded = `{"position":{"id":0,"deviceId":5,"protocol":"osmand","deviceTime":"2017-03-21T05:00:32.000+00:00",
 "fixTime":"2017-03-21T05:00:31.000+00:00","valid":true,"latitude":30.5,"longitude":-97.5,"altitude":100,"speed":10,
 "course":45,"accuracy":0,"address":null,"attributes":{"batteryLevel":80,"ignition":true,"motion":false,"hours":3600000,
 "odometer":1234,"sat":7,"obdSpeed":36,"alarm":"whatever, hardBraking","charge":true}},"device":{"id":5,"uniqueId":"3590"}}`

const apiForm = `{"id":9,"deviceId":5,"fixTime":"2017-03-21T05:00:31.000+0000","valid":false,"latitude":30.5,
 "longitude":"no","speed":null,"attributes":{"approximate":true}}`

func TestTraccar(t *testing.T) {
	for name, text := range map[string]string{
		"array": "[" + forwarded + ",\n" + apiForm + ", 5]",
		"lines": forwarded + "\n" + apiForm + "\n5\n",
	} {
		t.Run(name, func(t *testing.T) {
			all := mustRead(t, name+".json", text)
			if len(all) != 3 {
				t.Fatalf("%d reports, want 3", len(all))
			}
			r := all[0]
			if r.UniqueID != "3590" || r.FixTime != at2017 || r.DeviceTime != at2017+1000 || r.Satellites != 7 ||
				r.Ignition != fleet.Yes || r.Motion != fleet.No || r.Alarm != "hardBraking,whatever" || r.Invalid {
				t.Errorf("report = %+v", r)
			}
			near(t, "speed", r.Speed, 5.1444444)
			near(t, "accuracy", r.Accuracy, math.NaN())
			near(t, "odometer", r.Odometer, 1234)
			got := signals(r)
			near(t, "engine hours", got["engine_hours_s"], 3600)
			near(t, "obd speed", got["ecu_speed_mps"], 10)
			near(t, "battery of the tracker", got["device_battery_pct"], 80)
			near(t, "charging", got["device_charging"], 1)
			if r := all[1]; r.UniqueID != "5" || !r.Invalid || !r.Approximate || !math.IsNaN(r.Lng) || r.FixTime != at2017 {
				t.Errorf("api form = %+v", r)
			}
			if r := all[2]; r.UniqueID != "" || r.FixTime != 0 || !r.Positioned {
				t.Errorf("what is no object = %+v", r)
			}
		})
	}
}

func TestNMEA(t *testing.T) {
	text := "$GPRMC,050031.00,A,3011.8956,N,09746.6074,W,10.0,90.5,210317,,,A*hh\r\n" +
		"$GPGGA,050031.00,3011.8956,N,09746.6074,W,1,09,0.9,142.5,M,-22.0,M,,*hh\r\n" +
		"$GPGSA,A,3,04,05,,09,12,,,24,,,,,2.5,1.3,2.1*hh\r\n" +
		"$GNGGA,050032.00,3011.9,N,09746.7,W,8,05,1.0,140,M,,M,,*hh\r\n" +
		"$GNRMC,050032.00,V,,,,,,,210317,,,N*hh\r\n" +
		"$GPRMC,050033.00,A,3011.8956,N,09746.6074,W,10.0,90.5,210317,,,A*00\r\n" +
		"$PGRME,15.0,M,45.0,M,25.0,M*hh\r\n" +
		"$GPRMC,235959.50,A,3011.8956,S,09746.6074,E,10.0,90.5,311299,,,A*hh\r\n"
	all := mustRead(t, "unit4.nmea", withChecksums(text))
	if len(all) != 4 {
		t.Fatalf("%d reports, want 4: %+v", len(all), all)
	}
	r := all[0]
	if r.UniqueID != "unit4" || r.FixTime != at2017 || r.Satellites != 9 || r.Invalid || !r.Positioned {
		t.Errorf("report = %+v", r)
	}
	near(t, "lat", r.Lat, 30.19826)
	near(t, "lng", r.Lng, -97.7767900)
	near(t, "speed", r.Speed, 5.1444444)
	near(t, "course", r.Course, 90.5)
	near(t, "altitude", r.Altitude, 142.5)
	if got := signals(r); got["hdop"] != 0.9 || got["pdop"] != 2.5 || got["vdop"] != 2.1 {
		t.Errorf("signals = %v", got)
	}
	// GGA before RMC, void, simulated: one report of both.
	if r := all[1]; r.FixTime != at2017+1000 || !r.Invalid || !r.Mock || math.IsNaN(r.Lat) {
		t.Errorf("second = %+v", r)
	}
	// The damaged sentence is a report that says nothing.
	if r := all[2]; r.FixTime != 0 || !math.IsNaN(r.Lat) || r.UniqueID != "unit4" {
		t.Errorf("damaged = %+v", r)
	}
	last := all[3]
	if last.FixTime != 946684799500 {
		t.Errorf("last = %+v", last)
	}
	near(t, "south", last.Lat, -30.19826)
}

// withChecksums puts the right checksum for every *hh.
func withChecksums(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		body, rest, ok := strings.Cut(strings.TrimPrefix(line, "$"), "*hh")
		if !ok {
			out.WriteString(line)
			continue
		}
		var sum byte
		for i := range len(body) {
			sum ^= body[i]
		}
		const hex = "0123456789ABCDEF"
		out.WriteString("$" + body + "*" + string(hex[sum>>4]) + string(hex[sum&15]) + rest)
	}
	return out.String()
}

func TestWhatIsNoRecording(t *testing.T) {
	for name, text := range map[string]string{
		"empty":         " \n",
		"stops.csv":     "stop_id,stop_name,stop_lat,stop_lon\n66,X,30,-97\n",
		"page.html":     "<!DOCTYPE html><html><body>hi</body></html>",
		"open.xml":      "<gp",
		"fences.json":   `{"type":"FeatureCollection","features":[]}`,
		"numbers.json":  "[1,2,3]",
		"picture.png":   "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
		"sentence.text": "This is a letter to a friend.\n",
	} {
		_, err := readAll(t, name, text)
		if err == nil || !strings.HasPrefix(err.Error(), name+":") {
			t.Errorf("%s: err = %v, want one that names the file", name, err)
		}
		if name != "open.xml" && !errors.Is(err, recording.ErrNotRecording) {
			t.Errorf("%s: err = %v, want ErrNotRecording", name, err)
		}
	}
}

func TestBrokenFilesSayWhereAndKeepWhatCameBefore(t *testing.T) {
	good := "vehicle,timestamp,lat,lng\n" + strings.Repeat("7,2017-03-21T05:00:31Z,30,-97\n", 1000)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write([]byte(good))
	w.Close()
	for _, tt := range []struct {
		name, text string
		atLeast    int
		want       string
	}{
		{"cut.csv.gz", zipped.String()[:zipped.Len()-6], 1000, "cut.csv.gz:1001: the file is cut short"},
		{"long.csv", "vehicle,timestamp,lat,lng\n7,2017-03-21T05:00:31Z,30,-97\n" + strings.Repeat("x", 2<<20), 1,
			"long.csv:3: row longer"},
		{"cut.gpx", gpx11[:strings.Index(gpx11, "<trkpt lat=\"x\"")], 1, "cut.gpx:"},
		{"cut-in-point.gpx", gpx11[:strings.Index(gpx11, "<sat>")], 0, "cut-in-point.gpx:"},
		{"deep.gpx", "<gpx>" + strings.Repeat("<a>", 1000), 0, "deep.gpx:1: elements nested"},
		{"text.gpx", "<gpx><trk><name>" + strings.Repeat("x", 2<<20), 0, "text.gpx:1: row longer"},
		{"cut.json", "[" + forwarded + "," + apiForm[:40], 1, "cut.json:"},
		{"unclosed.json", "[" + forwarded, 1, "unclosed.json:"},
		{"bad.json", forwarded + "\n" + forwarded + "\n{oops}", 2, "bad.json:"},
		{"long.json", `[{"position":{"x":"` + strings.Repeat("y", 2<<20), 0, "long.json:1: row longer"},
	} {
		all, err := readAll(t, tt.name, tt.text)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: err = %v, want %q", tt.name, err, tt.want)
		}
		if len(all) < tt.atLeast {
			t.Errorf("%s: %d reports before the error, want %d", tt.name, len(all), tt.atLeast)
		}
	}
}

func TestGzipAndByteOrderMark(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write([]byte("\xef\xbb\xbfvehicle,timestamp,lat,lng\n7,2017-03-21T05:00:31Z,30,-97\n"))
	w.Close()
	path := filepath.Join(t.TempDir(), "no-extension")
	if err := os.WriteFile(path, zipped.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	report := fleet.NewReport()
	if err := reader.Next(&report); err != nil || report.UniqueID != "7" {
		t.Fatalf("report %+v, err %v", report, err)
	}
	if err := reader.Next(&report); err != io.EOF {
		t.Fatalf("err = %v, want EOF", err)
	}
	if reader.Offset() != int64(zipped.Len()) || reader.Format() != recording.CSV {
		t.Errorf("offset %d of %d, format %s", reader.Offset(), zipped.Len(), reader.Format())
	}
	if _, err := recording.Open(filepath.Join(t.TempDir(), "none.csv")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("a.csv", "vehicle,timestamp,lat,lng,cadence\n7,2017-03-21T05:00:31Z,30,-97,\"2\"\"\n")
	f.Add("a.gpx", gpx11)
	f.Add("a.json", "["+forwarded+","+apiForm+"]")
	f.Add("b.json", forwarded+"\n"+apiForm)
	f.Add("a.nmea", withChecksums("$GPRMC,050031.00,A,3011.8956,N,09746.6074,W,10.0,90.5,210317,,,A*hh\n$GPGGA,050031.00,3011.8956,N,09746.6074,W,1,09,0.9,142.5,M,-22.0,M,,*hh\n"))
	f.Fuzz(func(t *testing.T, name, text string) {
		reader, err := recording.New(name, strings.NewReader(text))
		if err != nil {
			return
		}
		report := fleet.NewReport()
		// A row takes at least two bytes of any format, so more reports than that would be an endless loop.
		for n := 0; n <= len(text)+1; n++ {
			if err := reader.Next(&report); err != nil {
				return
			}
			if report.FixTime < -1<<62 || math.IsInf(report.Lat, 0) || math.IsInf(report.Lng, 0) {
				t.Fatalf("report = %+v", report)
			}
			seen := make(map[fleet.Signal]bool)
			for _, s := range report.Signals {
				if seen[s.Signal] || math.IsNaN(s.Value) {
					t.Fatalf("signals = %v", report.Signals)
				}
				seen[s.Signal] = true
			}
		}
		t.Fatal("more reports than the text has bytes")
	})
}
