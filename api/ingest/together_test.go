package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Those who ask while others are answered ask together, each gets what is theirs, and no question has too many names.
func TestWhoAsksMeanwhileAsksTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		questions, most, running := 0, 0, 0
		all := &together[int, string]{atOnce: 2, most: 40, ask: func(_ context.Context, names []int) (map[int]string, error) {
			mu.Lock()
			questions, most, running = questions+1, max(most, len(names)), running+1
			if running > 2 {
				t.Error("more questions are under way than are allowed")
			}
			mu.Unlock()
			time.Sleep(10 * time.Millisecond)
			found := map[int]string{}
			for _, n := range names {
				if n%7 != 0 { // the others do not exist
					found[n] = fmt.Sprint(n)
				}
			}
			mu.Lock()
			running--
			mu.Unlock()
			return found, nil
		}}
		var work sync.WaitGroup
		for n := 1; n <= 200; n++ {
			work.Go(func() {
				time.Sleep(time.Duration(n) * 100 * time.Microsecond)
				found, err := all.find(t.Context(), n, n+1000)
				if _, ok := found[n]; err != nil || ok != (n%7 != 0) {
					t.Errorf("%d: %v, %v", n, found, err)
				}
			})
		}
		work.Wait()
		if questions > 20 || most > 40 {
			t.Errorf("%d questions of up to %d names for 200 requests within 20 ms", questions, most)
		}
		// One who asks alone is answered at once.
		begun := time.Now()
		if _, err := all.find(t.Context(), 5); err != nil || time.Since(begun) != 10*time.Millisecond {
			t.Errorf("%v, %v", time.Since(begun), err)
		}
	})
}

// A failure is told to those who asked, and not to those who ask later; whoever goes away leaves the others their
// answer.
func TestAFailureIsThatOfWhoAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		failing := true
		ask := func(ctx context.Context, _ []string) (map[string]int, error) {
			fails := failing
			time.Sleep(time.Second)
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if fails {
				return nil, broken
			}
			return map[string]int{"a": 1, "b": 2}, nil
		}
		all := &together[string, int]{atOnce: 1, most: 100, ask: ask}
		if _, err := all.find(t.Context(), "a"); !errors.Is(err, broken) {
			t.Errorf("%v", err)
		}
		failing = false
		ctx, leave := context.WithCancel(t.Context())
		var work sync.WaitGroup
		work.Go(func() {
			if _, err := all.find(ctx, "a"); !errors.Is(err, context.Canceled) {
				t.Errorf("who went away: %v", err)
			}
		})
		work.Go(func() {
			time.Sleep(time.Millisecond)
			leave()
			if found, err := all.find(t.Context(), "b"); err != nil || found["b"] != 2 {
				t.Errorf("%v, %v", found, err)
			}
		})
		work.Wait()
	})
}
