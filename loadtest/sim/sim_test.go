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
