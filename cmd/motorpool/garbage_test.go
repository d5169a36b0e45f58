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
		if got := percentAllowed(live, 100<<20); got != want {
			t.Errorf("of %d bytes in use %d %% may be garbage, not %d", live, got, want)
		}
	}
}

// What makes much garbage has it collected four times a second, until there is as much of it as of what is in use.
func TestWhatMakesMuchGarbageMayHaveMore(t *testing.T) {
	for made, want := range map[uint64]int{0: 25, 200 << 20: 25, 400 << 20: 50, 800 << 20: 100, 8 << 30: 100} {
		if got := percentAllowed(200<<20, made); got != want {
			t.Errorf("of what makes %d bytes a second %d %% may be garbage, not %d", made, got, want)
		}
	}
	now := time.Unix(1, 0)
	g := growth{now: func() time.Time { return now }}
	for i, want := range []uint64{0, 0, 100, 100, 50, 50, 0} {
		if got := g.told(uint64(100 * min(i, 3))); got != want {
			t.Errorf("what grows the %dth time grows by %d a second, not %d", i, got, want)
		}
		now = now.Add(time.Second)
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
	allowGarbage(&growth{now: time.Now})
	if got := debug.SetGCPercent(100); got != garbagePercent {
		t.Errorf("beside %d MB in use %d %% may be garbage, not %d", len(hold)>>20, got, garbagePercent)
	}
	runtime.KeepAlive(hold)
}
