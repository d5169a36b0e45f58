// Package recordings replays real recordings through the built binary, Kafka and ClickHouse, and holds what the
// interface then says against the files, which it reads by itself: every row is stored or refused with its reason, and
// a vehicle's track is exactly the file's fixes; trips and stops take turns, and trips are as long as the way from fix
// to fix. The long run takes the full recordings if they lie beside the project; the short one takes their cuts in
// deploy/demo, as the long one does otherwise.
package recordings

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/loadtest/system/systemtest"
)

func TestMain(m *testing.M) { os.Exit(systemtest.Run(m)) }

type place struct{ lat, lng float64 }

// expected is what a file should become.
type expected struct {
	rows    int
	stored  int
	refused map[string]int
	tracks  map[string]map[int64]place // first place of each vehicle and fix time (ms)
}

func TestEveryRecordingIsStoredOrRefusedWithItsReason(t *testing.T) {
	var files []string
	for _, pattern := range recordings {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			files = slices.DeleteFunc(found, func(name string) bool { return strings.HasPrefix(filepath.Base(name), "stops_") })
		}
	}
	if len(files) == 0 {
		t.Fatal("there are no recordings")
	}
	sys := systemtest.Start(t)
	systemtest.Process(t, sys, "ingest")
	systemtest.Process(t, sys, "serve")
	// One account a folder, since the files of a folder share vehicles and are replayed on top of each other.
	byFolder := make(map[string][]string)
	for _, file := range files {
		byFolder[filepath.Base(filepath.Dir(file))] = append(byFolder[filepath.Base(filepath.Dir(file))], file)
	}
	for folder, files := range byFolder {
		t.Run(folder, func(t *testing.T) {
			want := read(t, files)
			out, err := sys.Output(append([]string{"replay", "--account", folder, "--register", "--wait", "--json"},
				files...)...)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Read, Stored int
				Refused      map[string]int
			}
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatalf("%s: %v", out, err)
			}
			t.Logf("%s: %d rows of %d vehicles: %s", folder, want.rows, len(want.tracks), out)
			if got.Read != want.rows || got.Stored != want.stored || !equal(got.Refused, want.refused) {
				t.Errorf("want read %d, stored %d, refused %v", want.rows, want.stored, want.refused)
			}
			key, err := sys.Output("key", "create", "--account", folder, "--scopes", "vehicles:read,telematics:read")
			if err != nil {
				t.Fatal(err)
			}
			compareTracks(t, sys.URL(), key, want)
			compareTrips(t, sys, folder, want)
		})
	}
}

func equal(a, b map[string]int) bool {
	for reason := range b {
		if a[reason] != b[reason] {
			return false
		}
	}
	return len(a) == len(b)
}

// read works out what the files should become, by the documented rules and nothing of the system's own code.
func read(t *testing.T, files []string) expected {
	t.Helper()
	e := expected{refused: map[string]int{}, tracks: map[string]map[int64]place{}}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		unzipped, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		rows := csv.NewReader(unzipped)
		if _, err := rows.Read(); err != nil { // vehicle,timestamp,lat,lng,...
			t.Fatal(err)
		}
		for {
			row, err := rows.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			e.rows++
			e.add(row)
		}
	}
	return e
}

func (e *expected) add(row []string) {
	at, timeErr := time.Parse(time.RFC3339, row[1])
	lat, latErr := strconv.ParseFloat(row[2], 64)
	lng, lngErr := strconv.ParseFloat(row[3], 64)
	switch {
	case timeErr != nil:
		e.refused["missing_time"]++
		return
	case latErr != nil || lngErr != nil:
		e.refused["missing_coordinates"]++
		return
	case lat == 0 && lng == 0:
		e.refused["zero_coordinates"]++
		return
	}
	track := e.tracks[row[0]]
	if track == nil {
		track = make(map[int64]place)
		e.tracks[row[0]] = track
	}
	if _, known := track[at.UnixMilli()]; known {
		e.refused["duplicate"]++
		return
	}
	track[at.UnixMilli()] = place{lat, lng}
	e.stored++
}

// compareTracks reads tracks through the interface and compares them fix by fix.
func compareTracks(t *testing.T, base, key string, want expected) {
	t.Helper()
	vehicles := make([]string, 0, len(want.tracks))
	for vehicle := range want.tracks {
		vehicles = append(vehicles, vehicle)
	}
	rand.Shuffle(len(vehicles), func(i, j int) { vehicles[i], vehicles[j] = vehicles[j], vehicles[i] })
	for _, vehicle := range vehicles[:min(tracksCompared, len(vehicles))] {
		var list struct {
			Data []struct{ ID string }
		}
		if err := json.NewDecoder(get(t, base, key, "/v1/vehicles?external_ref="+url.QueryEscape(vehicle))).
			Decode(&list); err != nil || len(list.Data) != 1 {
			t.Fatalf("vehicle %s: %v, %v", vehicle, list, err)
		}
		rows, err := csv.NewReader(get(t, base, key, "/v1/vehicles/"+list.Data[0].ID+"/positions?format=csv")).ReadAll()
		if err != nil {
			t.Fatalf("vehicle %s: %v", vehicle, err)
		}
		column := make(map[string]int)
		for i, name := range rows[0] {
			column[name] = i
		}
		track, before := want.tracks[vehicle], ""
		if len(rows)-1 != len(track) {
			t.Errorf("vehicle %s has %d positions of %d", vehicle, len(rows)-1, len(track))
		}
		for _, row := range rows[1:] {
			at, err := time.Parse(time.RFC3339, row[column["fix_at"]])
			if err != nil || row[column["fix_at"]] <= before {
				t.Fatalf("vehicle %s: %s after %s, %v", vehicle, row[column["fix_at"]], before, err)
			}
			before = row[column["fix_at"]]
			was, ok := track[at.UnixMilli()]
			lat, lng := number(t, row[column["lat"]]), number(t, row[column["lng"]])
			// A coordinate is stored to 1e-7 degree, a centimetre.
			if !ok || math.Abs(lat-was.lat) > 0.51e-7 || math.Abs(lng-was.lng) > 0.51e-7 {
				t.Fatalf("vehicle %s at %s is at %v,%v; the file says %v", vehicle, before, lat, lng, was)
			}
		}
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// get returns the body of an answer, and waits if the interface says that it is asked too often.
func get(t *testing.T, base, key, path string) io.Reader {
	t.Helper()
	for {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+key)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode == http.StatusTooManyRequests {
			seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
			time.Sleep(time.Duration(max(1, seconds)) * time.Second)
			continue
		}
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("GET %s: %s %s %v", path, response.Status, body, err)
		}
		return strings.NewReader(string(body))
	}
}
