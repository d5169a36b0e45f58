package together

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Those who ask while others are answered ask together, each gets what is theirs, read no earlier than they asked, and
// no question has too many keys.
func TestWhoAsksMeanwhileAsksTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		queries, most, running := 0, 0, 0
		reads := New(40, func(_ context.Context, keys []int) (map[int]string, error) {
			mu.Lock()
			queries, most, running = queries+1, max(most, len(keys)), running+1
			if running > 1 {
				t.Error("a query does not wait for the one before")
			}
			mu.Unlock()
			now, found := time.Now(), map[int]string{}
			time.Sleep(10 * time.Millisecond)
			for _, key := range keys {
				if key%7 != 0 { // the others do not exist
					found[key] = fmt.Sprint(now.UnixNano())
				}
			}
			mu.Lock()
			running--
			mu.Unlock()
			return found, nil
		})
		var work sync.WaitGroup
		for n := 1; n <= 200; n++ {
			work.Go(func() {
				time.Sleep(time.Duration(n) * 100 * time.Microsecond)
				asked := fmt.Sprint(time.Now().UnixNano())
				found, err := reads.Of(t.Context(), n, n+1000)
				if at, ok := found[n]; err != nil || ok != (n%7 != 0) || ok && at < asked {
					t.Errorf("%d: asked at %s and answered of %s, %v", n, asked, at, err)
				}
			})
		}
		work.Wait()
		if queries > 20 || most > 40 {
			t.Errorf("%d queries of up to %d keys for 200 requests within 20 ms", queries, most)
		}
		// One who asks alone is answered at once.
		begun := time.Now()
		if _, err := reads.Of(t.Context(), 5); err != nil || time.Since(begun) != 10*time.Millisecond {
			t.Errorf("%v, %v", time.Since(begun), err)
		}
	})
}

func TestAQueryThatTakesLongHoldsUpNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := New(100, func(ctx context.Context, keys []string) (map[string]int, error) {
			if keys[0] == "stuck" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return map[string]int{keys[0]: 1}, nil
		})
		var work sync.WaitGroup
		begun := time.Now()
		work.Go(func() {
			_, err := reads.Of(t.Context(), "stuck")
			if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took != longest {
				t.Errorf("%v after %v", err, took)
			}
		})
		synctest.Wait()
		if found, err := reads.Of(t.Context(), "quick"); err != nil || found["quick"] != 1 || time.Since(begun) != patient {
			t.Errorf("%v, %v after %v", found, err, time.Since(begun))
		}
		work.Wait()
	})
}

// A failure is told to those who asked, and not to those who ask later.
func TestAFailureIsThatOfWhoAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		answer := func() (map[string]int, error) { return nil, broken }
		reads := New(100, func(ctx context.Context, _ []string) (map[string]int, error) {
			mine := answer
			time.Sleep(time.Second)
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return mine()
		})
		if _, err := reads.Of(t.Context(), "a"); !errors.Is(err, broken) {
			t.Errorf("%v", err)
		}
		answer = func() (map[string]int, error) { panic("a bug") }
		if _, err := reads.Of(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "a bug") {
			t.Errorf("%v", err)
		}
		answer = func() (map[string]int, error) { return map[string]int{"a": 1}, nil }
		if found, err := reads.Of(t.Context(), "a"); err != nil || found["a"] != 1 {
			t.Errorf("%v, %v", found, err)
		}
		answer = func() (map[string]int, error) { return nil, broken }
		if found, err := reads.Of(t.Context()); err != nil || found != nil {
			t.Errorf("who asks for nothing: %v, %v", found, err)
		}
	})
}

// Whoever goes away leaves the others their answer, and who has little time leaves them as much as they have.
func TestWhoGoesAwayCutsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var asked []int
		reads := New(100, func(ctx context.Context, keys []string) (map[string]bool, error) {
			mu.Lock()
			asked = append(asked, len(keys))
			mu.Unlock()
			found := map[string]bool{}
			for _, key := range keys {
				found[key] = true
			}
			select {
			case <-time.After(time.Second):
				return found, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		var work sync.WaitGroup
		work.Go(func() { _, _ = reads.Of(t.Context(), "before") })
		synctest.Wait()
		leaving, leave := context.WithCancel(t.Context())
		for _, who := range []struct {
			key  string
			ctx  context.Context
			ends error
		}{{"goes", leaving, context.Canceled}, {"in a hurry", t.Context(), context.DeadlineExceeded},
			{"patient", t.Context(), nil}} {
			work.Go(func() {
				ctx, cancel := context.WithTimeout(who.ctx, 10*time.Second)
				if who.ends == context.DeadlineExceeded {
					ctx, cancel = context.WithTimeout(who.ctx, time.Second/2)
				}
				defer cancel()
				found, err := reads.Of(ctx, who.key)
				if !errors.Is(err, who.ends) || err == nil && !found[who.key] {
					t.Errorf("%s: %v, %v", who.key, found, err)
				}
			})
			synctest.Wait() // in this order
		}
		leave()
		work.Wait()
		if len(asked) != 2 || asked[1] != 3 {
			t.Errorf("queries of %v keys", asked)
		}
	})
}

// However many wait, one more is asked each time that patience ends; and who asks for very much asks alone.
func TestManyThatWaitDoNotComeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var begun []time.Duration
		start := time.Now()
		reads := New(2, func(_ context.Context, keys []int) (map[int]bool, error) {
			if len(keys) < 3 {
				mu.Lock()
				begun = append(begun, time.Since(start))
				mu.Unlock()
			}
			time.Sleep(10 * patient)
			return map[int]bool{keys[0]: true}, nil
		})
		var work sync.WaitGroup
		for n := range 5 {
			work.Go(func() { _, _ = reads.Of(t.Context(), 2*n, 2*n+1) })
			synctest.Wait()
		}
		if _, err := reads.Of(t.Context(), 1, 2, 3); err != nil || time.Since(start) != 10*patient {
			t.Errorf("who asks for more than goes together waited until %s, %v", time.Since(start), err)
		}
		work.Wait()
		for n, at := range begun {
			if at != time.Duration(n)*patient {
				t.Errorf("they are asked at %v", begun)
				break
			}
		}
	})
}

// Those who come in step, but for a moment, go in one query with the first of them; where nobody is to be waited for,
// nobody waits.
func TestThoseInStepGoTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var queries int
		moment := 10 * time.Millisecond
		reads := New(100, func(_ context.Context, keys []int) (map[int]int, error) {
			queries++
			time.Sleep(3 * time.Millisecond)
			return map[int]int{keys[0]: len(keys)}, nil
		}).Linger(func() time.Duration { return moment })
		var work sync.WaitGroup
		for n := range 5 {
			work.Go(func() {
				time.Sleep(time.Duration(n) * 2 * time.Millisecond)
				if _, err := reads.Of(t.Context(), n); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
		if queries != 1 {
			t.Errorf("five who came within 8 ms went in %d queries", queries)
		}
		moment = 0
		begun := time.Now()
		if _, err := reads.Of(t.Context(), 7); err != nil || time.Since(begun) != 3*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
	})
}
