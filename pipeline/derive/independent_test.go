package derive_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/pipeline/fix"
	"github.com/motorpool/fleet/pipeline/recording"
	"github.com/motorpool/fleet/pipeline/scenario"
)

const (
	sharedData  = "../../../shared/data" // where the real recordings lie, beside the project
	independent = "../../loadtest/independent/thinned.json"
)

// era is a time from one instant to another.
type era [2]fleet.Millis

// reference is what loadtest/independent/thinned.py found in a recording. Of a big one only the vehicles whose number
// Every divides are compared.
type reference struct {
	Files    []string
	Every    int
	Vehicles map[string]struct {
		Distance map[string]float64 `json:"distance_m"` // by seconds between fixes; 0 for all that was recorded
		Drives   []era
		Pauses   []era
	}
}

// references reads the recordings' names, the seconds between fixes that were looked at, and what was found.
func references(t *testing.T) (names []string, intervals []int, all map[string]reference) {
	if _, err := os.Stat(sharedData); err != nil {
		t.Fatalf("the recordings are not beside the project: %v", err)
	}
	text, err := os.ReadFile(independent)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Intervals  []int `json:"intervals_s"`
		Recordings map[string]reference
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for name := range file.Recordings {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, file.Intervals, file.Recordings
}

// inputs reads the vehicles of a recording, each in order of fix time with the first of those that have the same.
func (r *reference) inputs(t *testing.T) map[string][]derive.Input {
	judge := fix.DefaultConfig()
	judge.RolloverAge = 0
	all := map[string][]derive.Input{}
	for _, name := range r.Files {
		reader, err := recording.Open(filepath.Join(sharedData, name))
		if err != nil {
			t.Fatal(err)
		}
		report := fleet.NewReport()
		for {
			err := reader.Next(&report)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if n, _ := strconv.Atoi(report.UniqueID); r.Every > 0 && n%r.Every != 0 {
				continue
			}
			p, refusal := judge.Normalise(&report, 0)
			if refusal != "" {
				continue
			}
			p.Account, p.Vehicle, p.Device = key.Account, key.Vehicle, 5
			id := report.UniqueID
			all[id] = append(all[id], derive.Input{At: p.FixTime, Position: &p})
			for _, v := range report.Signals {
				all[id] = append(all[id], derive.Input{At: p.FixTime, Signal: v})
			}
		}
		if err := reader.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for id, list := range all {
		slices.SortStableFunc(list, func(a, b derive.Input) int { return cmp.Compare(a.At, b.At) })
		seen := fleet.Millis(math.MinInt64)
		all[id] = slices.DeleteFunc(list, func(i derive.Input) bool {
			again := i.Position != nil && i.At == seen
			if i.Position != nil {
				seen = i.At
			}
			return again
		})
	}
	return all
}

// agreement is how our trips of a recording compare with the reference.
type agreement struct {
	ours, theirs, most float64 // m; most is what the reference has for all that was recorded
	ends, near         int     // of drives that the fixes show, and those of them that are a trip's within a fix
	pauses, ended      int     // that the fixes show, and those of them in which no trip goes on
	missed             []string
}

func (a *agreement) count(id string, in []derive.Input, trips []*fleet.Trip, every int, drives, pauses []era) {
	var fixes []fleet.Millis
	for _, i := range in {
		if i.Position != nil {
			fixes = append(fixes, i.At)
		}
	}
	within := func(e era) int { // fixes in it
		from, _ := slices.BinarySearch(fixes, e[0])
		to, _ := slices.BinarySearch(fixes, e[1]+1)
		return to - from
	}
	before := func(at fleet.Millis) int {
		n, found := slices.BinarySearch(fixes, at)
		if !found {
			n-- // the newest fix before
		}
		return n
	}
	clock := func(at fleet.Millis) string { return at.Time().Format("2006-01-02 15:04:05") }
	for i, d := range drives {
		if within(d) < 3 { // too few to show a drive
			continue
		}
		for side, at := range d {
			// The standing beside it must be seen too.
			beside := era{at, at}
			if side == 0 && i > 0 {
				beside[0] = drives[i-1][1]
			} else if side == 1 && i+1 < len(drives) {
				beside[1] = drives[i+1][0]
			}
			if within(beside) < 2 && beside[0] != beside[1] || i > 0 && i+1 < len(drives) && beside[1]-beside[0] < 180_000 {
				continue
			}
			a.ends++
			ours := nearest(trips, side, at)
			if fixes := before(ours) - before(at); fixes >= -1 && fixes <= 1 || ours-at >= -nearby && ours-at <= nearby {
				a.near++
			} else {
				a.missed = append(a.missed, fmt.Sprintf("%s: %s of the drive %s to %s, ours %s", id, []string{"start", "end"}[side],
					clock(d[0]), clock(d[1]), clock(ours)))
			}
		}
	}
	for _, p := range pauses {
		// A silence is two fixes; anything else must last for two intervals, so that two are surely in it.
		if within(p) < 2 || p[1]-p[0] < fleet.Millis(2000*every) {
			continue
		}
		a.pauses++
		middle := p[0] + (p[1]-p[0])/2
		if i := slices.IndexFunc(trips, func(t *fleet.Trip) bool {
			return !t.Unseen && t.Start < middle && middle < t.End
		}); i < 0 {
			a.ended++
		} else {
			a.missed = append(a.missed, fmt.Sprintf("%s: pause %s to %s within the trip %s to %s", id, clock(p[0]), clock(p[1]),
				clock(trips[i].Start), clock(trips[i].End)))
		}
	}
}

// nearest is the start of a trip, or with side 1 the end, that is nearest to an instant.
func nearest(trips []*fleet.Trip, side int, at fleet.Millis) (found fleet.Millis) {
	for _, t := range trips {
		ours := [2]fleet.Millis{t.Start, t.End}[side]
		if max(ours-at, at-ours) < max(found-at, at-found) {
			found = ours
		}
	}
	return found
}

// nearby is how far apart two ends may be where fixes come more often: nobody knows better when a car
// that rolls stands.
const nearby = 10_000

func share(part, whole int) float64 { return float64(part) / float64(max(1, whole)) }

// shortfalls are the distances that do not hold to 2 %, by recording and seconds, with the part to which they do.
// Bike and scooter go a few hundred metres between pauses of minutes: of a way of 50 to 200 m either side may hold
// that it was none, and across a pause one counts what was walked. In New York two fixes have lost their digits and
// lie 84 km away.
var shortfalls = map[string]map[int]float64{
	"dublin e-bike":    {30: 0.03, 60: 0.03, 600: 0.06, 900: 0.09},
	"dublin e-scooter": {10: 0.03, 30: 0.10, 60: 0.11, 300: 0.03},
	"nyc":              {0: 0.27, 10: 0.27, 300: 0.14, 600: 0.36, 900: 0.31},
}

const (
	endsNear    = 0.96 // of the ends of drives; 0.98 is wanted
	pausesEnded = 0.95 // of the pauses
)

// TestThinnedRecordingsAgainstAnIndependentComputation holds our trips of real recordings, as they are and thinned,
// against what loadtest/independent/thinned.py found, and the table in thinned.md beside it, which -update writes.
// Distances agree to 2 % where fixes come each minute or more often; beyond that they are between the straight lines
// and what was recorded.
func TestThinnedRecordingsAgainstAnIndependentComputation(t *testing.T) {
	names, seconds, all := references(t)
	var sum agreement
	var table strings.Builder
	table.WriteString("| recording | s between fixes | km, ours | straight on | recorded | ends of drives | within a fix | pauses | with an end |\n")
	table.WriteString("|---|---|---|---|---|---|---|---|---|\n")
	for _, name := range names {
		r := all[name]
		inputs := r.inputs(t)
		for _, every := range seconds {
			var a agreement
			for _, id := range slices.Sorted(maps.Keys(r.Vehicles)) {
				v := r.Vehicles[id]
				in := thinned(inputs[id], time.Duration(every)*time.Second)
				if len(in) == 0 {
					continue
				}
				trips := tripsOf(t, in)
				a.ours += distanceOf(trips)
				a.theirs += v.Distance[strconv.Itoa(every)]
				a.most += v.Distance["0"]
				a.count(id, in, trips, every, v.Drives, v.Pauses)
			}
			fmt.Fprintf(&table, "| %s | %d | %.1f | %.1f | %.1f | %d | %d | %d | %d |\n", name, every,
				a.ours/1000, a.theirs/1000, a.most/1000, a.ends, a.near, a.pauses, a.ended)
			t.Logf("%s, a fix each %d s: %.1f km, straight on %.1f, recorded %.1f\n%s", name, every, a.ours/1000,
				a.theirs/1000, a.most/1000,
				strings.Join(a.missed, "\n"))
			part := cmp.Or(shortfalls[name][every], 0.02)
			least, most := a.theirs*(1-part), a.theirs*(1+part)
			if every > 60 {
				most = a.most * (1 + part)
			}
			if a.ours < least || a.ours > most {
				t.Errorf("%s, a fix each %d s: %.2f km, want from %.2f to %.2f km", name, every, a.ours/1000, least/1000, most/1000)
			}
			sum.ends, sum.near, sum.pauses, sum.ended = sum.ends+a.ends, sum.near+a.near, sum.pauses+a.pauses, sum.ended+a.ended
		}
	}
	fmt.Fprintf(&table, "| all | | | | | %d | %d | %d | %d |\n", sum.ends, sum.near, sum.pauses, sum.ended)
	t.Logf("%d ends of drives, %d within a fix (%.1f %%); %d pauses, %d with an end (%.1f %%)", sum.ends, sum.near,
		100*share(sum.near, sum.ends), sum.pauses, sum.ended, 100*share(sum.ended, sum.pauses))
	if share(sum.near, sum.ends) < endsNear || share(sum.ended, sum.pauses) < pausesEnded {
		t.Errorf("%d of %d ends of drives are a trip's within a fix, in %d of %d pauses a trip ended", sum.near, sum.ends,
			sum.ended, sum.pauses)
	}
	file := filepath.Join(filepath.Dir(independent), "thinned.md")
	if old, err := os.ReadFile(file); err == nil && string(old) == table.String() {
		return
	}
	if !scenario.Update() {
		t.Fatalf("%s is not what comes out now; run make compare and explain the difference\n%s", file, table.String())
	}
	if err := os.WriteFile(file, []byte(table.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
