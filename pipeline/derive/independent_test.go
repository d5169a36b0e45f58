package derive_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/pipeline/fix"
	"github.com/motorpool/fleet/pipeline/recording"
)

const (
	sharedData  = "../../../shared/data" // where the real recordings lie, beside the project
	independent = "../../loadtest/independent/thinned.json"
)

// era is a time from one instant to another.
type era [2]fleet.Millis

// reference is what loadtest/independent/thinned.py found in a recording. Of a big one only the vehicles whose number Every
// divides are compared.
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
			if slices.ContainsFunc(trips, func(t *fleet.Trip) bool {
				ours := t.Start
				if side == 1 {
					ours = t.End
				}
				apart, late := before(ours)-before(at), ours-at
				return apart >= -1 && apart <= 1 || late >= -nearby && late <= nearby
			}) {
				a.near++
			} else {
				a.missed = append(a.missed, fmt.Sprintf("%s: %s of the drive %s to %s", id, []string{"start", "end"}[side], clock(d[0]), clock(d[1])))
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
		if i := slices.IndexFunc(trips, func(t *fleet.Trip) bool { return t.Start < middle && middle < t.End }); i < 0 {
			a.ended++
		} else {
			a.missed = append(a.missed, fmt.Sprintf("%s: pause %s to %s within the trip %s to %s", id, clock(p[0]), clock(p[1]), clock(trips[i].Start), clock(trips[i].End)))
		}
	}
}

// nearby is how far apart two ends may be where fixes come more often: nobody knows better when a car that rolls stands.
const nearby = 10_000

func share(part, whole int) float64 { return float64(part) / float64(max(1, whole)) }

// TestThinnedRecordingsAgainstAnIndependentComputation holds our trips of real recordings, as they are and thinned, against
// what loadtest/independent/thinned.py found.
func TestThinnedRecordingsAgainstAnIndependentComputation(t *testing.T) {
	names, seconds, all := references(t)
	for _, name := range names {
		r := all[name]
		inputs := r.inputs(t)
		for _, every := range seconds {
			var a agreement
			for id, v := range r.Vehicles {
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
			t.Logf("%-18s %4d s: %7.1f km, they say %7.1f of %7.1f km (%+.1f %%); ends %d of %d (%.1f %%); pauses %d of %d (%.1f %%)", name, every,
				a.ours/1000, a.theirs/1000, a.most/1000, 100*(a.ours/a.theirs-1), a.near, a.ends, 100*share(a.near, a.ends),
				a.ended, a.pauses, 100*share(a.ended, a.pauses))
			if testing.Verbose() {
				for _, m := range a.missed {
					t.Log("   " + m)
				}
			}
		}
	}
}
