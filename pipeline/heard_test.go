package pipeline

import (
	"fmt"
	"testing"
	"time"

	"github.com/motorpool/fleet/pipeline/consume"
)

// A device sends a fix at once, the same again five minutes later, then its battery alone, then a place that is none.
// It was heard of four times, and what is not stored as a position is counted by what became of it: also when the batch
// is handled again by a process that knows nothing, behind the states of the vehicles, where all would be duplicates.
func TestWhateverComesOfADeviceIsHeardOnceAndCountedOnce(t *testing.T) {
	b := newBench(t)
	b.register(1)
	at := begin.Add(time.Hour)
	batch := batchOf(20, fixAt(1, 0), fixAt(1, 0),
		fmt.Sprintf(`{"device":"%s","device_at":%d,"signals":{"device_battery_pct":40}}`, unique(1), at),
		fmt.Sprintf(`{"device":"%s","fix_at":%d,"lat":95,"lng":11.5}`, unique(1), at.Add(time.Minute)))
	for i := range batch.Records {
		batch.Records[i].Time = at.Add(time.Duration(5*i) * time.Minute)
	}
	first := b.chain()
	for i, chain := range []*Chain{first, first, b.chain()} {
		b.handle(chain, batch)
		if n := b.count("max(toUnixTimestamp64Milli(heard_at)) FROM heard WHERE account = 7 AND device = 1001 AND vehicle = 1"); n != int(at.Add(15*time.Minute)) {
			t.Errorf("handled %d times: last heard at %d, not %d", i+1, n, at.Add(15*time.Minute))
		}
		if n := b.count("groupBitOr(minutes) FROM heard_hours WHERE account = 7 AND device = 1001"); n != 1|1<<5|1<<10|1<<15 {
			t.Errorf("handled %d times: heard in the minutes %b", i+1, n)
		}
		for outcome, want := range map[string]int{"duplicate": 1, "measured": 1, "bad_coordinates": 1} {
			if n := b.count("sum(n) FROM device_outcomes FINAL WHERE account = 7 AND device = 1001 AND outcome = '" + outcome +
				"'"); n != want {
				t.Errorf("handled %d times: %d reports are %s, not %d", i+1, n, outcome, want)
			}
		}
		if n := b.count("sum(n) FROM device_outcomes FINAL"); n != 3 {
			t.Errorf("handled %d times: %d reports in all", i+1, n)
		}
	}
}

// Ten reports within a minute are one row, and a failed batch does not count as written.
func TestADeviceIsWrittenDownAsHeardOnceAMinute(t *testing.T) {
	b := newBench(t)
	b.register(1)
	chain := b.chain()
	for i := range int64(10) {
		batch := &consume.Batch{Topic: "positions", First: i, Last: i, Records: []consume.Record{{
			Offset: i, Time: begin.Add(time.Hour + time.Duration(i)*time.Second), Value: []byte(fixAt(1, int(i)))}}}
		if i == 0 {
			b.refuse = fmt.Errorf("the broker is away")
			if err := chain.Handle(t.Context(), batch); err == nil {
				t.Fatal("the failure went unnoticed")
			}
			if n := b.count("count() FROM heard"); n != 1 {
				t.Fatalf("%d rows before the failure", n)
			}
			if err := b.db.Exec(t.Context(), "TRUNCATE TABLE heard"); err != nil {
				t.Fatal(err)
			}
		}
		b.handle(chain, batch)
	}
	if n := b.count("count() FROM heard"); n != 1 {
		t.Errorf("%d rows for ten reports within a minute", n)
	}
}
