//go:build compare

package route_test

import (
	"cmp"
	"flag"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/fix"
	"github.com/motorpool/fleet/pipeline/recording"
	"github.com/motorpool/fleet/pipeline/route"
	"github.com/motorpool/fleet/pipeline/trip"
)

var recordings = flag.String("recordings", "../../../shared/data", "folder with a folder for each recording")

// TestArrivalsOnRecordings asks on each trip of the recordings, every minute, when its end will be reached, and
// compares. Trips whose end is nearer than 500 m, and rounds that have less way ahead than half of what they will
// drive, are no way to a place. It is behind the tag compare, as it needs the recordings.
func TestArrivalsOnRecordings(t *testing.T) {
	for _, source := range []struct {
		files string
		every int
	}{{"muenster-envirocar-obd/tracks.csv.gz", 1}, {"austin-buses/2016-02-07.csv.gz", 10}} {
		files, err := filepath.Glob(filepath.Join(*recordings, source.files))
		if err != nil || len(files) == 0 {
			t.Fatalf("no recordings %s", source.files)
		}
		var parts []float64 // of what was said to be left, by which it took longer
		within := 0
		for _, file := range files {
			for _, fixes := range tracks(t, file, source.every) {
				p, w := arrivals(fixes)
				parts, within = append(parts, p...), within+w
			}
		}
		slices.Sort(parts)
		if len(parts) == 0 {
			t.Errorf("%s: nothing to compare", source.files)
			continue
		}
		at := func(part float64) float64 { return parts[int(part*float64(len(parts)-1))] }
		if share := float64(within) / float64(len(parts)); share < 0.75 || math.Abs(at(0.5)) > 0.1 {
			t.Errorf("%s: %.2f within the error, half of them off by more than %+.2f", source.files, share, at(0.5))
		}
		t.Logf("%s: %d times asked, within the error %.0f %%; took longer by (of what was said) 10 %%: %+.2f, half: %+.2f, 90 %%: %+.2f",
			source.files, len(parts), 100*float64(within)/float64(len(parts)), at(0.1), at(0.5), at(0.9))
	}
}

// tracks reads the trusted fixes of a recording's vehicles.
func tracks(t *testing.T, file string, every int) map[string][]fleet.Position {
	reader, err := recording.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	reports, report := map[string][]fleet.Report{}, fleet.NewReport()
	for {
		if err := reader.Next(&report); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if n, _ := strconv.Atoi(report.UniqueID); n%every == 0 {
			reports[report.UniqueID] = append(reports[report.UniqueID], report)
		}
	}
	all, judge := map[string][]fleet.Position{}, fix.DefaultConfig()
	judge.RolloverAge = 0
	for name, list := range reports {
		slices.SortStableFunc(list, func(a, b fleet.Report) int { return cmp.Compare(a.FixTime, b.FixTime) })
		var judged fix.State
		for i := range list {
			p, refusal := judge.Normalise(&list[i], 0)
			if refusal == "" && judge.Classify(&judged, &p, p.FixTime <= judged.Newest) == "" &&
				p.Flags&fleet.DoubtfulFlags == 0 {
				all[name] = append(all[name], p)
			}
		}
	}
	return all
}

// arrivals compares what is said on each trip of a track with what came.
func arrivals(fixes []fleet.Position) (parts []float64, within int) {
	type moment struct {
		at    fleet.Millis
		place fleet.Place
		speed float64
		gone  float64
	}
	plans, config := route.New(nil), trip.DefaultConfig()
	var s route.State
	var ts trip.State
	var out fleet.Entities
	var asked []moment
	gone := 0.0
	for i := range fixes {
		p := &fixes[i]
		p.Device = 1
		before := len(out)
		config.Fix(&ts, key, p, math.NaN(), &out)
		if i > 0 {
			gone += fleet.Distance(fixes[i-1].Lat, fixes[i-1].Lng, p.Lat, p.Lng)
		}
		plans.Step(&s, key, &route.Input{At: p.FixTime, Position: p, OnTrip: ts.Motion().OnTrip}, &out, &[]fleet.StopMove{})
		for _, e := range out[before:] {
			e, ok := e.(*fleet.Trip)
			if !ok || e.Open {
				continue
			}
			end := slices.IndexFunc(fixes, func(p fleet.Position) bool { return p.FixTime >= e.End })
			whole := 0.0
			for j := end; j < i; j++ {
				whole += fleet.Distance(fixes[j].Lat, fixes[j].Lng, fixes[j+1].Lat, fixes[j+1].Lng)
			}
			for _, m := range asked {
				straight := fleet.Distance(m.place.Lat, m.place.Lng, e.EndPlace.Lat, e.EndPlace.Lng)
				if m.at < e.Start+120_000 || m.at >= e.End || straight < 500 || gone-whole-m.gone > 2*straight {
					continue
				}
				said, took := straight*route.Detour/m.speed, float64(e.End-m.at)/1000
				parts = append(parts, (took-said)/said)
				if math.Abs(took-said) <= route.ErrorPart*said+float64(route.ErrorBase)/1000 {
					within++
				}
			}
			asked = nil
		}
		if n := len(asked); ts.Motion().OnTrip && (n == 0 || p.FixTime-asked[n-1].at >= 60_000) {
			asked = append(asked, moment{p.FixTime, fleet.Place{Lat: p.Lat, Lng: p.Lng}, s.Speed(), gone})
		}
	}
	return parts, within
}
