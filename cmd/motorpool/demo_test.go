package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/motorpool/fleet"
)

func lapOf(identifier string, seconds ...int) *lap {
	var reports []fleet.Report
	for i, s := range seconds {
		r := fleet.NewReport()
		if s >= 0 {
			r.FixTime = fleet.Millis(1490072431000 + 1000*s)
		}
		r.Positioned, r.Lat, r.Lng = true, float64(i), 1
		reports = append(reports, r)
	}
	return newLap(identifier, reports)
}

// TestALapGoesOnForEver steps through two days: every report comes once a lap, in order, at its time, however the
// steps fall.
func TestALapGoesOnForEver(t *testing.T) {
	l := lapOf("7", 0, 10, 10, 5, -1, 60) // 5 goes back in time, -1 has none: both follow the one before
	if l.period != 180_000 {
		t.Fatalf("period = %d ms, want a minute and the pause", l.period)
	}
	begin := fleet.Millis(1_760_000_000_123)
	var all []fleet.Report
	step := fleet.Millis(250)
	for at := begin; at < begin+2*86_400_000; {
		all = l.due(at, at+step, false, all)
		at += step
		step = (step*7)%91_000 + 250 // also steps longer than a lap's gaps
	}
	perLap := len(l.reports)
	if laps := len(all) / perLap; laps < 959 || laps > 962 {
		t.Fatalf("%d reports in two days", len(all))
	}
	var last fleet.Millis
	for i := range all {
		if i > 0 && int(all[i].Lat) != (int(all[i-1].Lat)+1)%perLap {
			t.Fatalf("report %d is row %v after row %v", i, all[i].Lat, all[i-1].Lat)
		}
		if all[i].FixTime == 0 {
			if all[i].Lat != 4 {
				t.Fatalf("row %v has lost its time", all[i].Lat)
			}
			continue
		}
		if all[i].FixTime < last {
			t.Fatalf("report %d goes back in time", i)
		}
		last = all[i].FixTime
	}
}

func TestALapHasAPositionAtAnyTime(t *testing.T) {
	l := lapOf("7", 0, 10, 60)
	for at := fleet.Millis(1_760_000_000_000); at < 1_760_000_400_000; at += 1000 {
		got := l.due(at-1, at, true, nil)
		if len(got) != 1 || got[0].FixTime > at || at-got[0].FixTime >= l.period {
			t.Fatalf("at %d: %+v", at, got)
		}
	}
}

// A recording has rows without a place; a vehicle must be on the map also if its turn begins with one.
func TestALapHasAPlaceAtAnyTime(t *testing.T) {
	l := lapOf("7", 0, 10, 60)
	l.reports[1].Lat, l.reports[1].Lng = 0, 0
	for at := fleet.Millis(1_760_000_000_000); at < 1_760_000_400_000; at += 1000 {
		got := l.due(at-1, at, true, nil)
		if len(got) == 0 || got[0].Lng == 0 || len(got) > 2 || got[len(got)-1].FixTime < got[0].FixTime {
			t.Fatalf("at %d: %+v", at, got)
		}
	}
}

func TestTheSameInstantGivesTheSameFixes(t *testing.T) {
	a, b := lapOf("7", 0, 10, 60), lapOf("7", 0, 10, 60)
	from, to := fleet.Millis(1_760_000_000_000), fleet.Millis(1_760_000_600_000)
	x, y := a.due(from, to, false, nil), b.due(from+240_000, to, false, nil)
	for _, r := range y {
		found := false
		for _, s := range x {
			found = found || r.FixTime == s.FixTime && r.Lat == s.Lat
		}
		if !found {
			t.Errorf("fix at %d is not among those of the first run", r.FixTime)
		}
	}
	if len(y) == 0 {
		t.Error("nothing in the second run")
	}
}

// TestTheDemoRidesThroughABrokerFailure uses a bubble's clock: the publisher fails for a minute, and then everything
// due in that minute is there, once.
func TestTheDemoRidesThroughABrokerFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		fleetOf := &demoFleet{laps: []*lap{lapOf("7", 0, 1, 2, 3, 4, 5)}, registrations: []registration{{identifier: "7"}}}
		begin := time.Now()
		var got []fleet.Report
		err := fleetOf.play(ctx, map[string]string{"7": "demo:7"}, time.Now,
			func(_ context.Context, due []fleet.Report) error {
				if since := time.Since(begin); since > time.Minute && since < 2*time.Minute {
					return errors.New("the broker is away")
				}
				got = append(got, due...)
				return nil
			}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range got {
			if r.UniqueID != "demo:7" || i > 0 && r.FixTime <= got[i-1].FixTime {
				t.Fatalf("report %d = %+v", i, r)
			}
			if i > 0 && int(r.Lat) != (int(got[i-1].Lat)+1)%6 {
				t.Fatalf("report %d is row %v after row %v", i, r.Lat, got[i-1].Lat)
			}
		}
		if len(got) < 30 {
			t.Errorf("%d reports", len(got))
		}
	})
}

func TestTheBundledDemoLoads(t *testing.T) {
	fleetOf, err := loadDemo()
	if err != nil {
		t.Fatal(err)
	}
	now := fleet.MillisOf(time.Now())
	reports, noTime := 0, 0
	for i, l := range fleetOf.laps {
		reports += len(l.reports)
		for _, timed := range l.timed {
			if !timed {
				noTime++
			}
		}
		for at := now; at < now+86_400_000; at += 600_000 {
			if got := l.due(at.Add(-demoBackfill), at, true, nil); !slices.ContainsFunc(got,
				func(r fleet.Report) bool { return r.Lat != 0 || r.Lng != 0 }) {
				t.Errorf("%s is not on the map at %v", fleetOf.registrations[i].identifier, at.Time())
			}
		}
	}
	if len(fleetOf.laps) != 92 || reports != 35_643 || noTime != 91 {
		t.Errorf("%d vehicles, %d reports, %d without a time", len(fleetOf.laps), reports, noTime)
	}
}
