//go:build long

package pipeline

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/motorpool/fleet"
)

// What a tracker kept whose clock is a year ahead comes at once, in batches of any size, to owners who know nothing but
// what is stored. Each fix has a time of its own, and one that is formed again has the same.
func TestFixesOfAClockThatIsTooFarAheadAreAllKept(t *testing.T) {
	const fixes = 72
	received := begin.Add(time.Hour)
	ahead := func(i int) string {
		return fmt.Sprintf(`{"device":"%s","fix_at":%d,"lat":48,"lng":11.5,"invalid":%v}`,
			unique(1), received.Add(365*24*time.Hour)+fleet.Millis(i)*1000, i%2 == 0)
	}
	var before []string // true fixes: two at the time of receipt, and one of a clock that is a little ahead
	for _, at := range []fleet.Millis{received, received + 1, received + 20, received + 200_000} {
		before = append(before, fmt.Sprintf(`{"device":"%s","fix_at":%d,"lat":48,"lng":11.5}`, unique(1), at))
	}
	for _, size := range []int{1, 40, fixes} {
		b := newBench(t)
		b.register(1)
		b.handle(b.chain(), batchOf(0, before...))
		for from := 0; from < fixes; from += size {
			var values []string
			for i := from; i < min(from+size, fixes); i++ {
				values = append(values, ahead(i))
			}
			batch := batchOf(int64(len(before)+from), values...)
			if size > 1 {
				b.refuse = errors.New("killed before the states")
				if err := b.chain().Handle(t.Context(), batch); err == nil {
					t.Fatal("nothing was cut off")
				}
			}
			b.handle(b.chain(), batch)
		}
		if n := b.count("uniqExact(fix_time) FROM positions"); n != len(before)+fixes {
			t.Errorf("batches of %d: %d fixes of %d have a time of their own", size, n, len(before)+fixes)
		}
		if n := b.count("count() FROM positions"); n != len(before)+fixes {
			t.Errorf("batches of %d: %d fixes of %d", size, n, len(before)+fixes)
		}
	}
}
