//go:build long

package pipeline

import (
	"context"
	"testing"
)

// A producer may date its records as it likes; when a device was heard of goes by that.
func TestABatchThatWasReceivedInManyMonthsIsStoredAFewMonthsAtATime(t *testing.T) {
	b := newBench(t)
	b.register(1)
	const months = 40
	batch := batchOf(0)
	for i := range months {
		one := batchOf(int64(i), fixAt(1, i))
		one.Records[0].Time = monthsBefore(months - i)
		one.Records[0].Account = 7 // let in before the device was made
		if i%4 == 3 {
			one.Records[0].Value = []byte("no report") // a dead letter is of a month, too
		}
		batch.Records, batch.Last = append(batch.Records, one.Records...), int64(i)
	}
	var reached []int64
	batch.Reached = func(_ context.Context, next int64) error {
		reached = append(reached, next)
		return nil
	}
	b.handle(b.chain(), batch)
	if n := b.count("count() FROM heard_hours FINAL"); n != months*3/4 {
		t.Errorf("heard in %d hours", n)
	}
	for i, next := range append(reached, months) {
		if i == 0 && next > partMonths || i > 0 && next-reached[i-1] > partMonths {
			t.Errorf("an insert spans more than %d months: parts end at %v", partMonths, reached)
		}
	}
	if len(reached) == 0 {
		t.Error("all was stored at once")
	}
}
