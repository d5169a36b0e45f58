package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestGarbageIsAQuarterOfWhatIsInUseOrMoreWhereThatIsLittle(t *testing.T) {
	for live, want := range map[uint64]int{
		0: 9600, 1 << 20: 9600, 48 << 20: 200, 96 << 20: 100, 128 << 20: 75, 160 << 20: 40, 192 << 20: 25, 4 << 30: 25,
	} {
		if got := percentAllowed(live); got != want {
			t.Errorf("of %d bytes in use %d %% may be garbage, not %d", live, got, want)
		}
	}
}

func TestEachCollectionIsFollowed(t *testing.T) {
	followed := make(chan int, 100)
	n := 0
	afterEachCollection(func() {
		n++
		followed <- n
	})
	for want := 1; want <= 3; want++ {
		runtime.GC()
		select {
		case got := <-followed:
			if got != want {
				t.Fatalf("collection %d was taken for %d", want, got)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("nothing followed collection %d", want)
		}
	}
}

func TestWhatMayBeGarbageGoesByWhatIsInUse(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	hold := make([]byte, 300<<20)
	runtime.GC()
	allowGarbage()
	if got := debug.SetGCPercent(100); got != garbagePercent {
		t.Errorf("beside %d MB in use %d %% may be garbage, not %d", len(hold)>>20, got, garbagePercent)
	}
	runtime.KeepAlive(hold)
}
