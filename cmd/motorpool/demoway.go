package main

import (
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"sort"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/seed"
	"github.com/motorpool/fleet/deploy/demo"
)

const (
	// demoSpacing is the least time between two fixes of a vehicle of the rental business that drives.
	demoSpacing = fleet.Millis(15_000)
	// demoHeartbeat is how often its tracker reports while it stands.
	demoHeartbeat = fleet.Millis(600_000)
	// demoWalk is how fast a vehicle gets from where one drive ends to where the next one begins, in m/s.
	demoWalk = 5.0
)

// way is a way out from a branch, as it was recorded. Its first fix is the branch.
type way struct {
	fixes  []fleet.Report // without times
	at     []fleet.Millis // since it was begun; rising
	metres float64
	town   bool
}

func (w *way) takes() fleet.Millis { return w.at[len(w.at)-1] }

// newWay puts a way together from drives.
func newWay(branch *demo.Branch, described *demo.Way, drives map[string][]fleet.Report) (*way, error) {
	start := fleet.NewReport()
	start.Positioned, start.Lat, start.Lng, start.Speed = true, branch.Lat, branch.Lng, 0
	w := &way{fixes: []fleet.Report{start}, at: []fleet.Millis{0}, town: described.Town}
	for _, part := range described.Drives {
		rows := drives[part.ID]
		until := len(rows) - 1
		if part.Until != nil {
			until = *part.Until
		}
		if part.From < 0 || until < 0 || part.From >= len(rows) || until >= len(rows) {
			return nil, fmt.Errorf("the demo's way %s: %s has no rows %d to %d", described.Name, part.ID, part.From, until)
		}
		w.join(rows, part.From, until)
	}
	return w, nil
}

// join adds a part of a drive, forwards or backwards.
func (w *way) join(rows []fleet.Report, from, until int) {
	step := 1
	if until < from {
		step = -1
	}
	last := w.fixes[len(w.fixes)-1]
	apart := fleet.Distance(last.Lat, last.Lng, rows[from].Lat, rows[from].Lng)
	begin := w.takes() + max(demoSpacing, fleet.Millis(apart/demoWalk*1000))
	for i := from; i != until+step; i += step {
		at := begin + max(rows[i].FixTime-rows[from].FixTime, rows[from].FixTime-rows[i].FixTime)
		if i != from && i != until && at < w.takes()+demoSpacing {
			continue
		}
		fix := rows[i]
		if step < 0 {
			fix.Course = turned(fix.Course)
		}
		fix.FixTime, fix.DeviceTime = 0, 0
		last := w.fixes[len(w.fixes)-1]
		w.metres += fleet.Distance(last.Lat, last.Lng, fix.Lat, fix.Lng)
		w.fixes, w.at = append(w.fixes, fix), append(w.at, at)
	}
}

// turned is the course of who goes the other way.
func turned(course float64) float64 { return math.Mod(course+180, 360) }

// round is what a vehicle of the rental business does: it drives its ways as its rentals go, and stands between, at its
// place or where it was left. Where it is depends on the wall clock alone.
type round struct {
	uniqueID string
	place    fleet.Report // where it stands at its branch
	ways     []*way
	legs     []seed.Leg
	phase    fleet.Millis // of its heartbeats
}

// spots is how far apart vehicles stand at their branch, in degrees of longitude.
const spots = 7.0 / 83_000

// newRound makes the round of the vehicle that has a spot at a branch.
func newRound(uniqueID string, branch *demo.Branch, spot int, ways []*way, legs []seed.Leg) *round {
	r := &round{uniqueID: uniqueID, place: fleet.NewReport(), ways: ways, legs: legs}
	r.place.Positioned, r.place.Lat, r.place.Lng, r.place.Speed = true, branch.Lat, branch.Lng+float64(spot)*spots, 0
	hash := fnv.New64a()
	io.WriteString(hash, uniqueID)
	r.phase = fleet.Millis(hash.Sum64()%uint64(demoHeartbeat)) / 1000 * 1000
	return r
}

// due appends the reports whose turn is in (from, to].
func (r *round) due(from, to fleet.Millis, dst []fleet.Report) []fleet.Report {
	end := func(i int) fleet.Millis { return fleet.MillisOf(r.legs[i].At) + r.ways[r.legs[i].Way].takes() }
	i := sort.Search(len(r.legs), func(i int) bool { return end(i) > from })
	for at := from; ; i++ {
		until := to
		if i < len(r.legs) {
			until = min(to, fleet.MillisOf(r.legs[i].At)-1)
		}
		dst = r.stand(at, until, i, dst)
		if i == len(r.legs) || until == to {
			return dst
		}
		dst = r.drive(r.legs[i], from, to, dst)
		at = min(end(i), to)
	}
}

// stand appends the heartbeats in (from, until], before a leg.
func (r *round) stand(from, until fleet.Millis, leg int, dst []fleet.Report) []fleet.Report {
	fix := r.place
	if leg > 0 && !r.legs[leg-1].Home {
		w := r.ways[r.legs[leg-1].Way]
		fix = w.fixes[len(w.fixes)-1]
	}
	fix.UniqueID, fix.Speed, fix.Ignition = r.uniqueID, 0, fleet.TriOf(false)
	for at := (from+r.phase)/demoHeartbeat*demoHeartbeat - r.phase; at <= until; at += demoHeartbeat {
		if at > from {
			fix.FixTime = at
			dst = append(dst, fix)
		}
	}
	return dst
}

// drive appends the fixes of a leg in (from, to].
func (r *round) drive(leg seed.Leg, from, to fleet.Millis, dst []fleet.Report) []fleet.Report {
	w, begin := r.ways[leg.Way], fleet.MillisOf(leg.At)
	for n := range w.fixes {
		i, at := n, w.at[n]
		if leg.Home {
			i = len(w.fixes) - 1 - n
			at = w.takes() - w.at[i]
		}
		if begin+at <= from || begin+at > to {
			continue
		}
		fix := w.fixes[i]
		switch {
		case i == 0:
			fix = r.place
		case leg.Home:
			fix.Course = turned(fix.Course)
		}
		fix.UniqueID, fix.FixTime, fix.Ignition = r.uniqueID, begin+at, fleet.TriOf(true)
		dst = append(dst, fix)
	}
	return dst
}

// seedWays are ways as the plan of the business knows them.
func seedWays(ways []*way) []seed.Way {
	const metresPerMile = 1609.344
	all := make([]seed.Way, len(ways))
	for i, w := range ways {
		all[i] = seed.Way{Miles: w.metres / metresPerMile, Takes: time.Duration(w.takes()) * time.Millisecond}
	}
	return all
}
