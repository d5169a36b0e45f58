package geofence_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/geofence"
	"github.com/motorpool/fleet/query/area"
)

var update = flag.Bool("update", false, "write what the code does into testdata; review the difference")

// TestScenarios runs the stories in testdata. A line is one of
//
//	fence ID revision=1 from=09:00 to=10:00 center=lng,lat radius=m  a version of a circle; also shape=NAME of shapes below,
//	      dwell=5m margin=m confirm=n limit=m/s hours=09:00-17:00 tag=T vehicle=N
//	tags A B                                  what the vehicle is from here on
//	TIME LAT LNG accuracy=m                   a fix, of 20 November 2026 (a Friday)
//	TIME wait                                 nothing has come until then
//
// and after the bar stand the moves, the visits as they have become, and the fences that it is in.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(text))
			if got == string(text) {
				return
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, have := strings.Split(string(text), "\n"), strings.Split(got, "\n")
			for i := range want {
				if want[i] != have[i] {
					t.Errorf("%s:%d\n want %s\n got  %s", file, i+1, want[i], have[i])
				}
			}
		})
	}
}

// shapes that a scenario may name; degrees are about Null Island, where one is 111 km either way, unless said otherwise.
var shapes = map[string]string{
	"ring":     `{"type":"Polygon","coordinates":[[[-0.02,-0.02],[0.02,-0.02],[0.02,0.02],[-0.02,0.02],[-0.02,-0.02]],[[-0.01,-0.01],[0.01,-0.01],[0.01,0.01],[-0.01,0.01],[-0.01,-0.01]]]}`,
	"islands":  `{"type":"MultiPolygon","coordinates":[[[[0,0],[0.01,0],[0.01,0.01],[0,0.01],[0,0]]],[[[0.03,0],[0.04,0],[0.04,0.01],[0.03,0.01],[0.03,0]]]]}`,
	"dateline": `{"type":"MultiPolygon","coordinates":[[[[179.98,-0.01],[180,-0.01],[180,0.01],[179.98,0.01],[179.98,-0.01]]],[[[-180,-0.01],[-179.98,-0.01],[-179.98,0.01],[-180,0.01],[-180,-0.01]]]]}`,
	"road":     `{"type":"Corridor","coordinates":[[0,0],[0.02,0],[0.02,0.02]],"width_m":60}`,
	"lane":     `{"type":"Corridor","coordinates":[[-97,30.05],[-97,30.06]],"width_m":60}`,
	"elbow":    `{"type":"Corridor","coordinates":[[9,50],[9.01,50],[9.01,50.01]],"width_m":60}`,
	"pole":     `{"type":"Circle","center":[0,90],"radius_m":50000}`,
}

func play(t *testing.T, text string) string {
	var (
		versions []fleet.FenceVersion
		index    *geofence.Index
		state    geofence.State
		err      error
	)
	traits := fleet.Traits{}
	key := fleet.VehicleKey{Account: 1, Vehicle: 7}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		input, _, _ := strings.Cut(line, "|")
		input = strings.TrimSpace(input)
		if input == "" || strings.HasPrefix(input, "#") {
			continue
		}
		words := strings.Fields(input)
		switch words[0] {
		case "fence":
			versions = append(versions, readFence(t, words[1:]))
			if index, err = geofence.NewIndexFrom(index, versions); err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
			continue
		case "end": // of the newest version of a fence
			id := fleet.FenceID(number(t, words[1]))
			for k := range versions {
				if versions[k].ID == id && versions[k].To == 0 {
					versions[k].To = clock(t, words[2])
				}
			}
			if index, err = geofence.NewIndexFrom(index, versions); err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
			continue
		case "tags":
			traits.Tags = words[1:]
			continue
		}
		var out fleet.Entities
		var moves []fleet.FenceMove
		at := clock(t, words[0])
		if words[1] == "wait" {
			index.Advance(&state, key, &traits, at, &out, &moves)
		} else {
			p := fleet.Position{FixTime: at, Lat: number(t, words[1]), Lng: number(t, words[2]), Accuracy: math.NaN()}
			for _, w := range words[3:] {
				p.Accuracy = number(t, strings.TrimPrefix(w, "accuracy="))
			}
			p.Cell = area.CellOf(p.Lat, p.Lng)
			index.Fix(&state, key, &traits, &p, &out, &moves)
		}
		var told []string
		for _, m := range moves {
			told = append(told, fmt.Sprintf("%s %d.%d at %s", m.What, m.Fence, m.Revision, short(m.At)))
		}
		for _, e := range out {
			told = append(told, describe(e.(*fleet.Visit)))
		}
		result := strings.Join(told, "; ")
		if in := index.Inside(&state, nil); len(in) > 0 {
			list := make([]string, len(in))
			for k, id := range in {
				list[k] = strconv.FormatUint(uint64(id), 10)
			}
			result += " [in " + strings.Join(list, " ")
			if limit, fence := index.SpeedLimit(&state); limit > 0 {
				result += fmt.Sprintf(", limit %g of %d", limit, fence)
			}
			result += "]"
		}
		lines[i] = strings.TrimRight(fmt.Sprintf("%-40s | %s", input, strings.TrimSpace(result)), " |")
	}
	return strings.Join(lines, "\n")
}

func describe(v *fleet.Visit) string {
	text := fmt.Sprintf("visit of %d.%d from %s", v.Fence, v.Revision, short(v.Start))
	if v.Open {
		text += " goes on"
	} else {
		text += " to " + short(v.End) + " " + v.ExitReason
	}
	if v.Initial {
		text += " initial"
	}
	if v.Crossed {
		text += " crossed"
	}
	if v.DwelledAt != 0 {
		text += " dwelled " + short(v.DwelledAt)
	}
	return text + fmt.Sprintf(" fixes %d", v.Fixes)
}

const date = "2026-11-20"

func short(m fleet.Millis) string {
	return strings.TrimPrefix(m.Time().Format("2006-01-02T15:04:05.999"), date+"T")
}

func clock(t *testing.T, text string) fleet.Millis {
	t.Helper()
	if !strings.Contains(text, "T") {
		text = date + "T" + text
	}
	if strings.Count(text, ":") == 1 {
		text += ":00"
	}
	at, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil {
		t.Fatal(err)
	}
	return fleet.MillisOf(at)
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func readFence(t *testing.T, words []string) fleet.FenceVersion {
	t.Helper()
	v := fleet.FenceVersion{ID: fleet.FenceID(number(t, words[0])), Revision: 1, From: 1}
	var center, radius string
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "revision":
			v.Revision = uint64(number(t, value))
		case "from":
			v.From = clock(t, value)
		case "to":
			v.To = clock(t, value)
		case "center":
			center = value
		case "radius":
			radius = value
		case "shape":
			v.Geometry = []byte(shapes[value])
		case "dwell":
			d, err := time.ParseDuration(value)
			if err != nil {
				t.Fatal(err)
			}
			v.Dwell = fleet.Millis(d.Milliseconds())
		case "margin":
			v.Margin = number(t, value)
		case "confirm":
			v.Confirm = int(number(t, value))
		case "limit":
			v.SpeedLimit = number(t, value)
		case "tag":
			v.Scope.Tags = append(v.Scope.Tags, value)
		case "vehicle":
			v.Scope.Vehicles = append(v.Scope.Vehicles, fleet.VehicleID(number(t, value)))
		case "hours":
			var h [4]int
			if _, err := fmt.Sscanf(value, "%d:%d-%d:%d", &h[0], &h[1], &h[2], &h[3]); err != nil {
				t.Fatal(err)
			}
			v.Schedule = &fleet.Schedule{Zone: time.UTC, Windows: []fleet.Window{{Days: 0x7f, From: h[0]*60 + h[1], To: h[2]*60 + h[3]}}}
		default:
			t.Fatalf("unknown word %q", w)
		}
	}
	if center != "" {
		v.Geometry = fmt.Appendf(nil, `{"type":"Circle","center":[%s],"radius_m":%s}`, center, radius)
	}
	return v
}
