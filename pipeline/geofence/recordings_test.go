//go:build compare

package geofence_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/geofence"
	"github.com/motorpool/fleet/query/area"
)

var (
	recordings = flag.String("recordings", "../../../shared/data", "folder with a folder for each recording")
	python     = flag.String("python", "python3", "a Python that has query/area/check/requirements.txt")
)

// TestRecordings asks the index and shapely in which districts of their city the fixes of the recordings are; there
// must be no difference. It is behind the tag compare, as it needs the recordings and Python: see make compare.
func TestRecordings(t *testing.T) {
	cities, err := filepath.Glob(filepath.Join(*recordings, "*", "geofences", "*.geojson"))
	if err != nil || len(cities) == 0 {
		t.Fatalf("no districts in %s: %v", *recordings, err)
	}
	for _, districts := range cities {
		folder := filepath.Dir(filepath.Dir(districts))
		t.Run(filepath.Base(folder), func(t *testing.T) {
			text, err := os.ReadFile(districts)
			if err != nil {
				t.Fatal(err)
			}
			var collection struct {
				Features []struct{ Geometry json.RawMessage }
			}
			if err := json.Unmarshal(text, &collection); err != nil {
				t.Fatal(err)
			}
			fixes := readFixes(t, folder)
			list := filepath.Join(t.TempDir(), "fixes")
			var lines bytes.Buffer
			for _, f := range fixes {
				fmt.Fprintf(&lines, "%.17g %.17g\n", f.Lat, f.Lng)
			}
			if err := os.WriteFile(list, lines.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(*python, "../../query/area/check/check.py", list, districts).Output()
			if err != nil {
				t.Fatalf("check.py: %v", err)
			}
			answers := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			if len(answers) != len(fixes)+1 {
				t.Fatalf("%d answers to %d fixes", len(answers)-1, len(fixes))
			}
			invalid := strings.Fields(answers[0])
			answers = answers[1:]
			var versions []fleet.FenceVersion
			var numbers []int // of the districts that are compared
			for i, f := range collection.Features {
				_, err := area.Parse(f.Geometry)
				switch bad := slices.Contains(invalid, strconv.Itoa(i)); {
				case err != nil && !bad:
					t.Errorf("district %d, which shapely finds valid: %v", i, err)
				case err == nil && !bad:
					versions = append(versions,
						fleet.FenceVersion{ID: fleet.FenceID(i + 1), Revision: 1, From: 1, Geometry: f.Geometry})
					numbers = append(numbers, i)
				case err == nil:
					t.Logf("district %d is taken although shapely finds it invalid; it is not compared", i)
				}
			}
			index, err := geofence.NewIndex(versions)
			if err != nil {
				t.Fatal(err)
			}
			differences, inside := 0, 0
			var got []int
			for i, f := range fixes {
				var want []int
				for _, word := range strings.Fields(answers[i]) {
					n, err := strconv.Atoi(word)
					if err != nil {
						t.Fatal(err)
					}
					want = append(want, n)
				}
				got = index.At(f.Lat, f.Lng, area.CellOf(f.Lat, f.Lng), 2, got[:0])
				inside += len(got)
				for k := range got {
					got[k] = numbers[got[k]]
				}
				if !slices.Equal(got, want) {
					if differences++; differences <= 10 {
						t.Errorf("%v: %v, shapely %v", f, got, want)
					}
				}
			}
			t.Logf("%d districts (%d of the file are invalid), %d fixes, %d memberships, %d differences", len(versions),
				len(invalid), len(fixes), inside, differences)
		})
	}
}

// readFixes reads the places of every table in a folder that has columns lat and lng.
func readFixes(t *testing.T, folder string) (fixes []fleet.Place) {
	files, err := filepath.Glob(filepath.Join(folder, "*.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		rows := bufio.NewScanner(text)
		rows.Scan()
		head := strings.Split(rows.Text(), ",")
		atLat, atLng := slices.Index(head, "lat"), slices.Index(head, "lng")
		for atLat >= 0 && atLng >= 0 && rows.Scan() {
			// No text with a comma stands before the coordinates.
			cells := strings.SplitN(rows.Text(), ",", max(atLat, atLng)+2)
			lat, errLat := strconv.ParseFloat(cells[atLat], 64)
			lng, errLng := strconv.ParseFloat(cells[atLng], 64)
			if errLat == nil && errLng == nil && lat >= -90 && lat <= 90 && lng >= -180 && lng <= 180 {
				fixes = append(fixes, fleet.Place{Lat: fleet.Quantise(lat), Lng: fleet.Quantise(lng)})
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		file.Close()
	}
	if len(fixes) < 1000 {
		t.Fatalf("only %d fixes", len(fixes))
	}
	return fixes
}
