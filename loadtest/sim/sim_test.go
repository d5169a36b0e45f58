package sim

import (
	"reflect"
	"testing"

	"github.com/motorpool/fleet"
)

func TestSameSeedSameFleet(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Vehicles = 50
	a, b := New(cfg), New(cfg)
	cfg.Seed++
	c := New(cfg)
	differs := false
	last := map[string]fleet.Report{}
	for range 50 * 200 {
		var ra, rb, rc fleet.Report
		a.Next(&ra)
		b.Next(&rb)
		c.Next(&rc)
		if !reflect.DeepEqual(ra, rb) {
			t.Fatalf("%+v\nand\n%+v", ra, rb)
		}
		differs = differs || ra.Lat != rc.Lat
		if before, ok := last[ra.UniqueID]; ok {
			if ra.FixTime-before.FixTime != cfg.Interval {
				t.Fatalf("%d ms between two fixes", ra.FixTime-before.FixTime)
			}
			if d := fleet.Distance(before.Lat, before.Lng, ra.Lat, ra.Lng); d > 400 {
				t.Fatalf("drove %f m in 10 s", d)
			}
		}
		ra.Signals = nil
		last[ra.UniqueID] = ra
	}
	if !differs {
		t.Error("another seed made the same fleet")
	}
}

func TestAFleetKeepsItsShiftAndItsReach(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Vehicles, cfg.Interval = 20, 60_000
	cfg.Reach, cfg.Shift = 15_000, 8*3600*1000
	driven := New(cfg)
	last := map[string]fleet.Millis{}
	var days fleet.Millis
	for range cfg.Vehicles * 3 * 480 {
		var r fleet.Report
		driven.Next(&r)
		since := r.FixTime - cfg.Start
		if since%day >= cfg.Shift {
			t.Fatalf("a fix %d ms into the day", since%day)
		}
		if r.FixTime <= last[r.UniqueID] {
			t.Fatalf("time goes from %d to %d", last[r.UniqueID], r.FixTime)
		}
		last[r.UniqueID], days = r.FixTime, max(days, since/day)
		if d := fleet.Distance(cfg.Lat, cfg.Lng, r.Lat, r.Lng); d > cfg.Reach+33*60+50 {
			t.Fatalf("%f m from the middle", d)
		}
	}
	if days != 2 {
		t.Errorf("three shifts end on day %d", days)
	}
}
