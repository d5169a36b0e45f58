package main

import (
	"fmt"
	"sync"
	"testing"
)

// What was read of one record stays as it is while other records are read with the same decoder.
func TestRecordsThatAreReadAtOnceShareNothing(t *testing.T) {
	reader := newRecordReader()
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 200 {
				want := float64(n + i%50)
				reports, err := reader.ReadRecord("json", fmt.Appendf(nil, `{"device":"d%d","signals":{"soc_pct":%v}}`, n, want))
				if err != nil || len(reports) != 1 {
					t.Error(len(reports), err)
					return
				}
				if _, err := reader.ReadRecord("traccar",
					[]byte(`{"device":{"uniqueId":"x"},"position":{"attributes":{"soc":99}}}`)); err != nil {
					t.Error(err)
				}
				if got := reports[0]; got.UniqueID != fmt.Sprintf("d%d", n) || len(got.Signals) != 1 ||
					got.Signals[0].Value != want {
					t.Errorf("%+v, want soc_pct %v", got, want)
				}
			}
		})
	}
	all.Wait()
}
