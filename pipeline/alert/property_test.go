package alert_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/alert"
)

var start = fleet.MillisOf(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))

// anyRules draws rules of every kind, some edited at some time, some with hours.
func anyRules(t *rapid.T) []fleet.Rule {
	var rules []fleet.Rule
	for i := range rapid.IntRange(1, 8).Draw(t, "rules") {
		r := fleet.Rule{
			ID: fleet.RuleID(i + 1), Revision: 1, Severity: "info",
			Kind:        rapid.SampledFrom(fleet.AlertKinds).Draw(t, "kind"),
			MinDuration: fleet.Millis(rapid.SampledFrom([]int{0, 0, 30_000, 600_000}).Draw(t, "for")),
			CoolDown:    fleet.Millis(rapid.SampledFrom([]int{0, 0, 60_000, 3_600_000}).Draw(t, "cool-down")),
		}
		if r.Kind == fleet.AlertFenceDwell {
			r.Threshold = rapid.SampledFrom([]float64{0, 300}).Draw(t, "dwell")
		}
		if r.Kind == fleet.AlertSignal {
			r.Signal = &fleet.SignalTest{Signal: fleet.MustSignal("temp1_c"),
				Is: rapid.SampledFrom(fleet.SignalTests).Draw(t, "is"), Low: 10, High: 20, Hysteresis: 2}
		}
		if rapid.Bool().Draw(t, "fenced") {
			r.Fences = []fleet.FenceID{1, 2}
		}
		if rapid.IntRange(0, 2).Draw(t, "hours") == 0 {
			from := rapid.IntRange(9*60, 14*60).Draw(t, "opens")
			r.Schedule = &fleet.Schedule{Zone: time.UTC, Windows: []fleet.Window{
				{Days: 0x7f, From: from, To: from + 45}, {Days: 0x7f, From: from + 90, To: from + 95},
			}}
		}
		if rapid.IntRange(0, 2).Draw(t, "edited") == 0 {
			next := r
			next.Revision, next.MinDuration = 2, 0
			next.From = start + fleet.Millis(rapid.IntRange(0, 10_000_000).Draw(t, "edit"))
			r.To = next.From
			rules = append(rules, next)
		}
		rules = append(rules, r)
	}
	return rules
}

// anyInputs draws a day of a vehicle in disorder: whatever the detectors before could say.
func anyInputs(t *rapid.T) []alert.Input {
	in := make([]alert.Input, 0, 60)
	at := start
	now := alert.Input{}
	now.Motion.Known = true
	for range rapid.IntRange(1, 60).Draw(t, "inputs") {
		at += fleet.Millis(rapid.SampledFrom([]int{400, 1000, 2000, 30_000, 60_000, 300_000, 1_200_000, 7_200_000}).Draw(t,
			"later"))
		now.At, now.Position, now.Doubtful, now.Signal, now.Moves = at, nil, nil, nil, nil
		now.RawOdometer, now.OdometerRefused, now.Mileage = math.NaN(), false, math.NaN()
		switch rapid.IntRange(0, 3).Draw(t, "motion") {
		case 0:
			now.Motion = fleet.Motion{Known: true, Moving: true, Since: at - 1000}
		case 1:
			now.Motion = fleet.Motion{Known: true, Idling: true, IdleFrom: at - 60_000, Ignition: fleet.Yes}
		}
		if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
			name := rapid.SampledFrom([]string{"soc_pct", "fuel_level_pct", "battery_v", "speed_limit_mps", "ignition",
				"temp1_c", "temp1_c"}).Draw(t, "signal")
			now.Signal = &fleet.SignalValue{Signal: fleet.MustSignal(name), Value: rapid.Float64Range(0, 40).Draw(t, "value")}
		} else {
			p := &fleet.Position{
				FixTime: at, Lat: rapid.Float64Range(30, 30.01).Draw(t, "lat"), Lng: -97.7,
				Speed:  rapid.SampledFrom([]float64{math.NaN(), 0, 10, 20, 32.5, 33.6, 40}).Draw(t, "speed"),
				Course: rapid.SampledFrom([]float64{math.NaN(), 0, 90, 350}).Draw(t, "course"), Accuracy: math.NaN(),
				Ignition: fleet.Tri(rapid.IntRange(0, 2).Draw(t, "ignition")),
				Alarm: rapid.SampledFrom([]string{"", "", "", "accident", "hardBraking", "fault", "tow", "lowBattery,sos",
					"made up"}).Draw(t, "alarm"),
			}
			now.RawOdometer = rapid.SampledFrom([]float64{math.NaN(), 0, 1000, 9_000, 1e8}).Draw(t, "odometer")
			now.OdometerRefused = now.RawOdometer == 1e8
			if rapid.IntRange(0, 5).Draw(t, "doubtful") == 0 {
				now.Doubtful = p
			} else {
				now.Position = p
				inside := []fleet.FenceID{}
				for _, fence := range []fleet.FenceID{1, 2, 3} {
					in, was := rapid.Bool().Draw(t, "inside"), slices.Contains(now.Inside, fence)
					if in {
						inside = append(inside, fence)
					}
					if in != was {
						what := fleet.MoveExit
						if in {
							what = fleet.MoveEnter
						}
						now.Moves = append(now.Moves, fleet.FenceMove{Fence: fence, What: what, At: at - 100})
					}
				}
				now.Inside, now.SpeedLimit, now.LimitFence = inside, 0, 0
				if len(inside) > 0 {
					now.SpeedLimit, now.LimitFence = 14, inside[0]
				}
			}
		}
		in = append(in, now)
	}
	return in
}

// run steps through inputs as pipeline/derive does. disturb is called before each, and once after the last.
func run(t *rapid.T, e *alert.Engine, traits *fleet.Traits, in []alert.Input,
	disturb func(*alert.State, fleet.Motion, fleet.Millis, fleet.Millis, *fleet.Entities)) (alert.State, fleet.Entities) {
	var s alert.State
	var out fleet.Entities
	var motion fleet.Motion
	last := start
	advance := func(to fleet.Millis) {
		disturb(&s, motion, last, to, &out)
		for n := 0; ; n++ {
			wake := e.Wake(&s, traits)
			if wake == 0 || wake > to {
				return
			}
			if n > 1000 {
				t.Fatalf("at %d it wants to wake at %d again and again", to, wake)
			}
			e.Advance(&s, key, traits, wake, motion, &out)
		}
	}
	for i := range in {
		advance(in[i].At)
		e.Step(&s, key, traits, &in[i], &out)
		motion, last = in[i].Motion, in[i].At
		if len(s.Found) > 80 {
			t.Fatalf("%d instances are kept", len(s.Found))
		}
	}
	advance(last + 10*24*3_600_000)
	return s, out
}

func written(t *rapid.T, out fleet.Entities) string {
	text := ""
	for _, x := range out {
		b, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("%d %d %s\n", x.Header().ID, x.Header().RecognisedAt, b)
	}
	return text
}

// TestAlertsDoNotDependOnTicksOrRestarts runs the same inputs with extra ticks and with clones, and wants the same.
func TestAlertsDoNotDependOnTicksOrRestarts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := alert.NewEngine(anyRules(t))
		traits := &fleet.Traits{Zone: time.UTC, Obligations: []fleet.Obligation{
			{Kind: "booking", Ref: "b", From: start, To: start + 5_000_000},
			{Kind: "booking", Ref: "b2", From: start + 6_000_000, To: start + 7_000_000, Done: true, DoneAt: start + 9_000_000},
			{Kind: "document", Ref: "d", To: start + 31*24*3_600_000},
			{Kind: "maintenance", Ref: "m", To: start + 8*24*3_600_000},
			{Kind: "conflict", Ref: "c", From: start + 1_000_000},
		}}
		in := anyInputs(t)
		state, out := run(t, e, traits, in, func(*alert.State, fleet.Motion, fleet.Millis, fleet.Millis, *fleet.Entities) {})
		alternate(t, out)
		tick := fleet.Millis(rapid.SampledFrom([]int{999, 60_000, 777_777}).Draw(t, "tick"))
		ticked, outTicked := run(t, e, traits, in,
			func(s *alert.State, m fleet.Motion, from, to fleet.Millis, out *fleet.Entities) {
				for n, at := 0, from+tick; at < to && n < 100; n, at = n+1, at+tick {
					e.Advance(s, key, traits, at, m, out)
				}
				clone := s.Clone()
				for i := range s.Found {
					s.Found[i] = alert.Found{}
				}
				*s = clone
			})
		if a, b := written(t, out), written(t, outTicked); a != b {
			t.Fatalf("ticks change what comes out\n%s\nand\n%s", a, b)
		}
		if a, b := fmt.Sprint(state), fmt.Sprint(ticked); a != b {
			t.Fatalf("ticks change the state\n%s\nand\n%s", a, b)
		}
	})
}

// alternate holds that of one rule, geofence and subject one alert at most is open, and that none comes back.
func alternate(t *rapid.T, out fleet.Entities) {
	type name struct {
		rule    fleet.RuleID
		fence   fleet.FenceID
		subject string
	}
	open, closed := map[name]uint64{}, map[uint64]bool{}
	recognised := map[uint64]fleet.Millis{}
	for _, x := range out {
		h := x.Header()
		if h.End < h.Start || h.RecognisedAt < h.Start {
			t.Fatalf("%+v", x)
		}
		if was, ok := recognised[h.ID]; ok && was != h.RecognisedAt {
			t.Fatalf("recognised at %d, then at %d: %+v", was, h.RecognisedAt, x)
		}
		recognised[h.ID] = h.RecognisedAt
		a, ok := x.(*fleet.Alert)
		if !ok {
			continue
		}
		n := name{a.Rule, a.Fence, a.Subject}
		switch {
		case closed[a.ID]:
			t.Fatalf("told again after its end: %+v", a)
		case open[n] != 0 && open[n] != a.ID:
			t.Fatalf("two are open: %+v", a)
		case !a.Open && a.ResolvedReason != "moment" && open[n] == 0:
			t.Fatalf("resolved without being raised: %+v", a)
		case a.Open != (a.ResolvedReason == ""):
			t.Fatalf("open or not: %+v", a)
		}
		if open[n] = a.ID; !a.Open {
			delete(open, n)
			closed[a.ID] = true
		}
	}
}

// BenchmarkStep is a vehicle that drives under fifty rules of all kinds and breaks none of them: a fix a second, and
// the question after each when to wake.
func BenchmarkStep(b *testing.B) {
	var rules []fleet.Rule
	for i := range 50 {
		rules = append(rules, fleet.Rule{ID: fleet.RuleID(i + 1), Revision: 1,
			Kind: fleet.AlertKinds[i%len(fleet.AlertKinds)], Fences: []fleet.FenceID{9}})
	}
	e := alert.NewEngine(rules)
	traits := &fleet.Traits{Zone: time.UTC,
		Obligations: []fleet.Obligation{{Kind: "booking", Ref: "b", From: start, To: start + 1<<40}}}
	p := fleet.Position{Lat: 30.1, Lng: -97.7, Speed: 15, Course: 90, Accuracy: 5, Odometer: math.NaN(),
		Ignition: fleet.Yes}
	in := alert.Input{
		Position: &p, Last: &p, RawOdometer: math.NaN(), Mileage: math.NaN(), Inside: []fleet.FenceID{9},
		Motion: fleet.Motion{Known: true, Moving: true, OnTrip: true, Since: start, Ignition: fleet.Yes},
	}
	var s alert.State
	var out fleet.Entities
	at := start
	b.ReportAllocs()
	for b.Loop() {
		at += 1000
		p.FixTime, in.At = at, at
		p.Lat += 1e-7
		e.Step(&s, key, traits, &in, &out)
		if e.Wake(&s, traits) == 0 {
			b.Fatal("it never wakes")
		}
		out = out[:0]
	}
}
