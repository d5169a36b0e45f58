package trip_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/fix"
	"github.com/motorpool/fleet/pipeline/recording"
	"github.com/motorpool/fleet/pipeline/scenario"
	"github.com/motorpool/fleet/pipeline/trip"
)

const (
	sharedData  = "../../../shared/data" // where the real recordings lie, beside the project
	independent = "../../loadtest/independent"
)

// stretch is a trip as loadtest/independent/trips.py or we found it, or with nothing else set a stop.
type stretch struct {
	Start    fleet.Millis `json:"start"`
	End      fleet.Millis `json:"end"`
	Distance float64      `json:"distance_m"`
	Moving   float64      `json:"moving_s"`
}

// found is what one side found in a recording, by vehicle.
type found struct {
	trips, stops map[string][]stretch
	steps        map[string][]odometry // ours only
}

// odometry is how far all trips had gone by a fix.
type odometry struct {
	at       fleet.Millis
	lat, lng float64
	distance float64
}

// count returns how many there are, and sums.
func count(of map[string][]stretch) (n int, distance, moving float64) {
	for _, list := range of {
		for _, s := range list {
			n, distance, moving = n+1, distance+s.Distance, moving+s.Moving
		}
	}
	return n, distance, moving
}

// overlap is intersection over union, in time.
func overlap(a, b stretch) float64 {
	both := min(a.End, b.End) - max(a.Start, b.Start)
	return float64(max(both, 0)) / float64(max(1, a.End-a.Start+b.End-b.Start-both))
}

// matched counts the trips of a that have one of b over 80 %.
func matched(a, b map[string][]stretch) int {
	n := 0
	for name, list := range a {
		for _, s := range list {
			if slices.ContainsFunc(b[name], func(o stretch) bool { return overlap(s, o) >= 0.8 }) {
				n++
			}
		}
	}
	return n
}

// covered is the share of the time in a's stretches that is in b's too.
func covered(a, b map[string][]stretch) float64 {
	all, both := 0.0, 0.0
	for name, list := range a {
		for _, s := range list {
			all += float64(s.End - s.Start)
			for _, o := range b[name] {
				both += float64(max(0, min(s.End, o.End)-max(s.Start, o.Start)))
			}
		}
	}
	return both / max(all, 1)
}

// golden is what loadtest/independent/trips.py found.
func golden(t *testing.T) (names []string, files map[string]recorded) {
	if _, err := os.Stat(sharedData); err != nil {
		t.Fatalf("the recordings are not beside the project: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(independent, "trips.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Recordings map[string]recorded }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for name := range all.Recordings {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, all.Recordings
}

// recorded is one recording of the JSON file. Of a big one only the vehicles whose number Every divides are compared.
type recorded struct {
	File     string
	Every    int
	Vehicles map[string]struct {
		Trips []stretch
		Stops [][2]fleet.Millis
	}
}

func (r *recorded) found() found {
	f := found{trips: map[string][]stretch{}, stops: map[string][]stretch{}}
	for id, v := range r.Vehicles {
		f.trips[id] = v.Trips
		for _, s := range v.Stops {
			f.stops[id] = append(f.stops[id], stretch{Start: s[0], End: s[1]})
		}
	}
	return f
}

// detect runs the detector over a recording's vehicles, in order of fix time as pipeline/derive does.
func detect(t *testing.T, file string, every int) found {
	reader, err := recording.Open(filepath.Join(sharedData, file))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	judge, config := fix.DefaultConfig(), trip.DefaultConfig()
	judge.RolloverAge = 0
	reports := map[string][]fleet.Report{}
	report := fleet.NewReport()
	for {
		err := reader.Next(&report)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := strconv.Atoi(report.UniqueID); every > 0 && n%every != 0 {
			continue
		}
		own := report
		own.Signals = slices.Clone(report.Signals)
		reports[own.UniqueID] = append(reports[own.UniqueID], own)
	}
	result := found{map[string][]stretch{}, map[string][]stretch{}, map[string][]odometry{}}
	for name, list := range reports {
		slices.SortStableFunc(list, func(a, b fleet.Report) int { return cmp.Compare(a.FixTime, b.FixTime) })
		var judged fix.State
		var s trip.State
		var out fleet.Entities
		gone := 0.0 // m, of the trips that are closed
		for i := range list {
			p, refusal := judge.Normalise(&list[i], 0)
			if refusal == "" && judge.Classify(&judged, &p, p.FixTime <= judged.Newest) == "" &&
				p.Flags&fleet.DoubtfulFlags == 0 {
				p.Device = 1
				before := len(out)
				config.Fix(&s, vehicle, &p, math.NaN(), &out)
				for _, e := range out[before:] {
					if trip, ok := e.(*fleet.Trip); ok && !trip.Open {
						gone += trip.Distance - trip.Estimated
					}
				}
				result.steps[name] = append(result.steps[name],
					odometry{p.FixTime, p.Lat, p.Lng, gone + s.Motion().Distance - s.Drive.Estimated})
			}
			if p.FixTime >= s.Heard {
				for _, v := range list[i].Signals {
					config.Signal(&s, vehicle, p.FixTime, v, &out)
				}
			}
		}
		config.Advance(&s, vehicle, s.Heard+config.Split, &out)
		config.Open(&s, vehicle, &out)
		newest := map[uint64]fleet.Entity{}
		for _, e := range out {
			newest[e.Header().ID] = e
		}
		for _, e := range newest {
			switch e := e.(type) {
			case *fleet.Trip:
				if !e.Unseen { // the other side does not look at what was not recorded
					result.trips[name] = append(result.trips[name],
						stretch{e.Start, e.End, e.Distance - e.Estimated, float64(e.Moving) / 1000})
				}
			case *fleet.Stop:
				result.stops[name] = append(result.stops[name], stretch{Start: e.Start, End: e.End})
			}
		}
		for _, list := range [][]stretch{result.trips[name], result.stops[name]} {
			slices.SortFunc(list, func(a, b stretch) int { return cmp.Compare(a.Start, b.Start) })
		}
	}
	return result
}

// TestTripsAgainstAnIndependentComputation holds our trips of real recordings against those of
// loadtest/independent/trips.py, and the tables of differences in its README, which -update writes.
func TestTripsAgainstAnIndependentComputation(t *testing.T) {
	names, files := golden(t)
	var table, list strings.Builder
	table.WriteString("| recording | trips | matched | km | hours moving | trip time in the other's trips | stops | stop time that is ours too |\n|---|---|---|---|---|---|---|---|\n")
	for _, name := range names {
		r := files[name]
		ours, theirs := detect(t, r.File, r.Every), r.found()
		on, od, om := count(ours.trips)
		tn, td, tm := count(theirs.trips)
		ourStops, _, _ := count(ours.stops)
		theirStops, _, _ := count(theirs.stops)
		both, shared, other := matched(ours.trips, theirs.trips), covered(ours.trips, theirs.trips),
			covered(theirs.trips, ours.trips)
		fmt.Fprintf(&table, "| %s | %d / %d | %d | %.1f / %.1f | %.2f / %.2f | %.1f %% / %.1f %% | %d / %d | %.1f %% |\n",
			name, on, tn, both, od/1000, td/1000, om/3600, tm/3600, 100*shared, 100*other, ourStops, theirStops,
			100*covered(theirs.stops, ours.stops))
		if share := float64(both) / float64(max(1, min(on, tn))); share < 0.7 || shared < 0.93 || other < 0.93 {
			t.Errorf("%s: matched %.2f, of our trips' time %.3f in theirs, of theirs %.3f in ours", name, share, shared, other)
		}
		if math.Abs(od-td) > 0.04*td {
			t.Errorf("%s: %.1f km, they say %.1f km", name, od/1000, td/1000)
		}
		differences(&list, name, ours, theirs)
	}
	const mark = "<!-- written by make compare -->\n"
	readme := filepath.Join(independent, "README.md")
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), mark)
	if len(parts) != 5 {
		t.Fatalf("%s has %d parts, want 5", readme, len(parts))
	}
	parts[1], parts[3] = table.String(), list.String()
	if got := strings.Join(parts, mark); got != string(text) {
		if !scenario.Update() {
			t.Fatalf("the tables in %s are not what comes out now; run make compare and explain the difference\n%s\n%s", readme,
				parts[1], parts[3])
		}
		if err := os.WriteFile(readme, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// differences lists the trips of both sides that have no match, in groups that overlap in time.
func differences(b *strings.Builder, name string, ours, theirs found) {
	ids := make([]string, 0, len(theirs.trips))
	for id := range theirs.trips {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	clock := func(list []stretch) string {
		var words []string
		for _, s := range list {
			words = append(words, s.Start.Time().Format("15:04:05")+"-"+s.End.Time().Format("15:04:05"))
		}
		return strings.Join(words, ", ")
	}
	single := func(list, others []stretch) (rest []stretch) {
		for _, s := range list {
			if !slices.ContainsFunc(others, func(o stretch) bool { return overlap(s, o) >= 0.8 }) {
				rest = append(rest, s)
			}
		}
		return rest
	}
	for _, id := range ids {
		mine, other := single(ours.trips[id], theirs.trips[id]), single(theirs.trips[id], ours.trips[id])
		for len(mine)+len(other) > 0 {
			// The group grows from the earliest as long as anything overlaps it.
			var a, c []stretch
			end := fleet.Millis(math.MinInt64)
			for len(mine) > 0 &&
				(len(a)+len(c) == 0 && (len(other) == 0 || mine[0].Start <= other[0].Start) || mine[0].Start < end) ||
				len(other) > 0 && (len(a)+len(c) == 0 || other[0].Start < end) {
				if len(mine) > 0 && (len(other) == 0 || mine[0].Start <= other[0].Start) {
					end = max(end, mine[0].End)
					a, mine = append(a, mine[0]), mine[1:]
				} else {
					end = max(end, other[0].End)
					c, other = append(c, other[0]), other[1:]
				}
			}
			// What is left alone may lie within a trip that has its match elsewhere.
			if len(a) == 0 {
				a = within(ours.trips[id], c)
			}
			if len(c) == 0 {
				c = within(theirs.trips[id], a)
			}
			kind := "edges"
			switch {
			case len(a) == 0:
				kind = "theirs only"
			case len(c) == 0:
				kind = "ours only"
			case len(a) < len(c) || len(a) == 1 && covered(map[string][]stretch{"": a}, map[string][]stretch{"": c}) < 0.5:
				kind = "they split"
			case len(a) > len(c) || len(c) == 1 && covered(map[string][]stretch{"": c}, map[string][]stretch{"": a}) < 0.5:
				kind = "we split"
			}
			day := append(slices.Clone(a), c...)[0].Start.Time().Format("2006-01-02")
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", name, id, day, kind, clock(a), clock(c))
		}
	}
}

// within returns those of a list that overlap any of the others.
func within(list, others []stretch) (some []stretch) {
	for _, s := range list {
		if slices.ContainsFunc(others, func(o stretch) bool { return overlap(s, o) > 0 }) {
			some = append(some, s)
		}
	}
	return some
}

// TestParkedPartsOfRecordingsGoNowhere takes the stops of ten minutes and more that the independent computation found,
// without the three minutes at either end in which the vehicle may still be coming or leaving: while the fixes wander,
// our distance stands still, but for one per cent.
func TestParkedPartsOfRecordingsGoNowhere(t *testing.T) {
	const margin = 180_000
	names, files := golden(t)
	parts, naive, grown := 0, 0.0, 0.0
	for _, name := range names {
		r := files[name]
		ours, theirs := detect(t, r.File, r.Every), r.found()
		for id, stops := range theirs.stops {
			for _, stop := range stops {
				if stop.End-stop.Start < 600_000 {
					continue
				}
				var last *odometry
				for i := range ours.steps[id] {
					step := &ours.steps[id][i]
					if step.at < stop.Start+margin || step.at > stop.End-margin {
						continue
					}
					if last != nil {
						naive += fleet.Distance(last.lat, last.lng, step.lat, step.lng)
						grown += step.distance - last.distance
					}
					last = step
				}
				parts++
			}
		}
	}
	if parts < 50 || naive < 1000 {
		t.Fatalf("only %d parked parts with %.0f m of wandering", parts, naive)
	}
	t.Logf("%d parked parts: %.0f m grown while fixes wandered %.0f m (%.2f %%)", parts, grown, naive, 100*grown/naive)
	if grown > naive/100 {
		t.Errorf("%.0f m grown while fixes wandered %.0f m", grown, naive)
	}
}
