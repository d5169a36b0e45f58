package pipeline

import (
	"fmt"
	"testing"

	"github.com/motorpool/fleet"
)

// What a tracker says of who is logged in is kept with fixes, with measurements and alone, once, whatever
// becomes of the fix.
func TestWhoIsLoggedInIsKept(t *testing.T) {
	b := newBench(t)
	b.register(1)
	said := func(second int, members string) string {
		return fmt.Sprintf(`{"device":"%s","fix_at":%d,%s}`, unique(1), begin.Add(0)+fleet.Millis(second)*1000, members)
	}
	batch := batchOf(0,
		said(0, `"lat":48,"lng":11,"driver_tag":"1a:2b"`),
		said(10, `"signals":{"soc_pct":50},"driver_tag":"1A2B"`),
		said(20, `"driver_tag":"000"`),                // nobody, and nothing else
		said(30, `"lat":48,"lng":11`),                 // says nothing of it
		said(40, `"lat":0,"lng":0,"driver_tag":"3C"`), // a fix that is refused
		fmt.Sprintf(`{"device":"stranger","fix_at":%d,"lat":48,"lng":11,"driver_tag":"1A2B"}`, begin),
	)
	for range 2 {
		b.handle(b.chain(), batch)
	}
	got := b.count("sum(cityHash64(vehicle, toUnixTimestamp64Milli(time), tag)) FROM tag_reports FINAL")
	want := b.count(fmt.Sprintf("sum(cityHash64(toUInt64(1), toInt64(%d + t.1 * 1000), t.2)) FROM (SELECT arrayJoin([(0, '1A2B'), (10, '1A2B'), (20, '0'), (40, '3C')]) AS t)", begin))
	if n := b.count("count() FROM tag_reports FINAL WHERE account = 7"); n != 4 || got != want {
		t.Errorf("%d reports of tags, and not the four", n)
	}
	if n := b.count("count() FROM unregistered_reports WHERE position(report, '\"driver_tag\":\"1A2B\"') > 0"); n == 0 {
		t.Error("a report that is kept apart lost its tag")
	}
}
