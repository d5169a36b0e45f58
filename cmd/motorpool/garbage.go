package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// When garbage is collected by a process that keeps current records.
const (
	garbagePercent = 25        // of what is in use there may be at least
	garbageMost    = 96 << 20  // bytes, if that is more
	heapWanted     = 224 << 20 // bytes of both, if that is less
)

// collectSooner has a process that keeps current records collect garbage before there is as much of it as of what is in
// use: those records stay, and as much again would only lie there. A process that has little in use would do hardly
// anything else, and may have more. GOGC says otherwise.
func collectSooner(rosterMiB int64) {
	if rosterMiB > 0 && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
		afterEachCollection(allowGarbage)
	}
}

// allowGarbage allows as much garbage as is right by what was in use at the last collection.
func allowGarbage() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(percentAllowed(live[0].Value.Uint64()))
}

// percentAllowed is how much garbage there may be, in percent of what is in use.
func percentAllowed(live uint64) int {
	bytes := min(garbageMost, heapWanted-min(live, heapWanted))
	return int(max(garbagePercent, bytes*100/max(1<<20, live)))
}

// afterEachCollection has something done after each collection of garbage from the next one on, in which the mark that
// nobody holds goes.
func afterEachCollection(do func()) {
	runtime.AddCleanup(new([64]byte), func(do func()) {
		do()
		afterEachCollection(do)
	}, do)
}
