package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// When garbage is collected by a process that keeps current records.
const (
	garbagePercent = 25        // of what is in use there may be at least
	garbageMost    = 96 << 20  // bytes, if that is more
	heapWanted     = 224 << 20 // bytes of both, if that is less
	collections    = 4         // a second, and not more as long as there is not more garbage than what is in use
)

// collectSooner has a process that keeps current records collect garbage before there is as much of it as of what is in
// use: those records stay, and as much again would only lie there. A process that has little in use would do hardly
// anything else, and may have more; so may one that makes much of it, as an import does. GOGC says otherwise.
func collectSooner(rosterMiB int64) {
	if rosterMiB > 0 && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
		made := growth{now: time.Now}
		afterEachCollection(func() { allowGarbage(&made) })
	}
}

// allowGarbage allows as much garbage as is right by what was in use at the last collection, and by how much was made
// of late.
func allowGarbage(made *growth) {
	read := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(read)
	debug.SetGCPercent(percentAllowed(read[0].Value.Uint64(), made.told(read[1].Value.Uint64())))
}

// percentAllowed is how much garbage there may be, in percent of what is in use, by how many bytes of it are made a
// second.
func percentAllowed(live, made uint64) int {
	bytes := max(min(garbageMost, heapWanted-min(live, heapWanted)), min(live, made/collections))
	return int(max(garbagePercent, bytes*100/max(1<<20, live)))
}

// growth is how fast a count grows, by spans of growsFor at least: what was done at once is over by then.
type growth struct {
	now       func() time.Time
	at        time.Time
	count     uint64
	perSecond uint64
}

const growsFor = 2 * time.Second

// told says by how much a count grows a second; 0 at first.
func (g *growth) told(count uint64) uint64 {
	at, grown := g.now(), count-g.count
	took := at.Sub(g.at)
	switch {
	case g.at.IsZero():
		g.at, g.count = at, count
	case took >= growsFor:
		g.at, g.count, g.perSecond = at, count, uint64(float64(grown)/took.Seconds())
	}
	return g.perSecond
}

// afterEachCollection has something done after each collection of garbage from the next one on, in which the mark that
// nobody holds goes.
func afterEachCollection(do func()) {
	runtime.AddCleanup(new([64]byte), func(do func()) {
		do()
		afterEachCollection(do)
	}, do)
}
