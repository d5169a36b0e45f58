package place

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
)

var placedCar = fleet.VehicleKey{Account: 7, Vehicle: 5}

func placeAt(fix fleet.Millis, lat float64) *fleet.Live {
	return &fleet.Live{FixTime: fix, Lat: lat, Lng: 10}
}

// usual is the rule of endpoints that say nothing of it.
var usual = Rule{Every: 10 * time.Second, Moved: 100}

func TestPlacesAreToldNowAndThen(t *testing.T) {
	p := newThinned()
	begin := time.UnixMilli(1e12)
	for _, step := range []struct {
		after time.Duration
		fix   fleet.Millis
		lat   float64
		told  bool
	}{
		{0, 1000, 50, true},
		{time.Second, 2000, 50.0001, false},      // 11 m on
		{2 * time.Second, 3000, 50.0005, false},  // 56 m
		{3 * time.Second, 4000, 50.001, true},    // 111 m
		{4 * time.Second, 3500, 50.01, false},    // older than what was told
		{5 * time.Second, 5000, 50.0011, false},  // 11 m from there
		{6 * time.Second, 4500, 50.0012, false},  // older than what is withheld
		{13 * time.Second, 6000, 50.0011, true},  // ten seconds after the last
		{14 * time.Second, 7000, 50.0012, false}, // and this is left over
	} {
		if got := p.take(placedCar, placeAt(step.fix, step.lat), usual, begin.Add(step.after)); got != step.told {
			t.Errorf("the fix %d is told: %t", step.fix, got)
		}
	}
	if due := p.due(begin.Add(22 * time.Second)); len(due) != 0 {
		t.Errorf("too soon there is %v", due)
	}
	due := p.due(begin.Add(23 * time.Second))
	if len(due) != 1 || due[0].vehicle != placedCar || due[0].live.FixTime != 7000 {
		t.Errorf("in the end there is %v", due)
	}
	if due := p.due(begin.Add(time.Hour)); len(due) != 0 || len(p.vehicles) != 0 || len(p.waiting) != 0 {
		t.Errorf("later there is %v, and %d vehicles are known", due, len(p.vehicles))
	}
}

// Whatever comes: what is told is new each time, far enough in time or space, and in the end the newest place is told.
func TestTheNewestPlaceIsToldInTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := Rule{Every: time.Duration(rapid.IntRange(1, 20).Draw(t, "every")) * time.Second,
			Moved: rapid.Float64Range(0, 300).Draw(t, "moved")}
		p, now := newThinned(), time.UnixMilli(1e12)
		var newest fleet.Millis
		var last *fleet.Live
		var at time.Time
		tell := func(l *fleet.Live) {
			if last != nil {
				far := rule.Moved > 0 && fleet.Distance(last.Lat, last.Lng, l.Lat, l.Lng) >= rule.Moved
				if l.FixTime <= last.FixTime || now.Sub(at) < rule.Every && !far {
					t.Fatalf("%d is told %v after %d", l.FixTime, now.Sub(at), last.FixTime)
				}
			}
			last, at = l, now
		}
		for range rapid.IntRange(1, 50).Draw(t, "fixes") {
			now = now.Add(time.Duration(rapid.IntRange(0, 8000).Draw(t, "pause")) * time.Millisecond)
			for _, m := range p.due(now) {
				tell(&m.live)
			}
			l := placeAt(fleet.Millis(rapid.IntRange(1, 1000).Draw(t, "fix")), rapid.Float64Range(50, 50.01).Draw(t, "lat"))
			newest = max(newest, l.FixTime)
			if p.take(placedCar, l, rule, now) {
				tell(l)
			}
		}
		now = now.Add(rule.Every)
		for _, m := range p.due(now) {
			tell(&m.live)
		}
		if last == nil || last.FixTime != newest {
			t.Fatalf("the last that was told is %+v, the newest %d", last, newest)
		}
	})
}
