package derive_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/alert"
	"github.com/motorpool/fleet/pipeline/derive"
	"github.com/motorpool/fleet/pipeline/geofence"
)

var midnight = fleet.MillisOf(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))

// town is a policy with something of everything.
func town(t testing.TB) *derive.Vehicle {
	fence := func(id fleet.FenceID, geometry string) fleet.FenceVersion {
		return fleet.FenceVersion{ID: id, Revision: 1, Name: fmt.Sprint(id), Geometry: []byte(geometry), Dwell: 5 * 60_000,
			SpeedLimit: 10}
	}
	index, err := geofence.NewIndex([]fleet.FenceVersion{
		fence(1, `{"type":"Circle","center":[-97.7431,30.2672],"radius_m":150}`),
		fence(2,
			`{"type":"Polygon","coordinates":[[[-97.75,30.27],[-97.73,30.27],[-97.73,30.29],[-97.75,30.29],[-97.75,30.27]]]}`),
		{ID: 3, Revision: 1, Name: "edited", Geometry: []byte(`{"type":"Circle","center":[-97.74,30.275],"radius_m":400}`),
			To: midnight + 6*3_600_000},
		{ID: 3, Revision: 2, Name: "edited", Geometry: []byte(`{"type":"Circle","center":[-97.74,30.275],"radius_m":900}`),
			From: midnight + 6*3_600_000},
	})
	if err != nil {
		t.Fatal(err)
	}
	var rules []fleet.Rule
	for i, kind := range fleet.AlertKinds {
		r := fleet.Rule{ID: fleet.RuleID(10 + i), Revision: 1, Kind: kind, Severity: "warning",
			MinDuration: fleet.Millis(i%3) * 30_000, CoolDown: fleet.Millis(i%2) * 300_000}
		switch kind {
		case fleet.AlertFenceEnter, fleet.AlertFenceExit, fleet.AlertFenceDwell, fleet.AlertFenceCurfew:
			r.Fences = []fleet.FenceID{1, 2}
		case fleet.AlertSignal:
			r.Signal = &fleet.SignalTest{Signal: fleet.MustSignal("temp1_c"), Is: fleet.SignalAbove, Low: 8,
				High: 8, Hysteresis: 1}
			r.From, r.Fences = midnight+3_600_000, []fleet.FenceID{1, 3}
		}
		rules = append(rules, r)
	}
	cfg := derive.DefaultConfig()
	traits := &fleet.Traits{Zone: time.UTC, Obligations: []fleet.Obligation{
		{Kind: "booking", Ref: "b1", From: midnight + 3_600_000, To: midnight + 4*3_600_000},
		{Kind: "booking", Ref: "b2", From: midnight + 6*3_600_000, To: midnight + 7*3_600_000, Done: true,
			DoneAt: midnight + 8*3_600_000},
		{Kind: "document", Ref: "registration", To: midnight + 31*86_400_000},
	}}
	hour := fleet.Millis(3_600_000)
	stops := []fleet.PlanStop{
		{ID: "a", Fence: 1},
		{ID: "b", Place: fleet.Place{Lat: 30.28, Lng: -97.74}, Radius: 700, ArriveUntil: midnight + hour/2},
		{ID: "c", Fence: 2, ArriveFrom: midnight + hour, ArriveUntil: midnight + 2*hour},
		{ID: "d", Place: fleet.Place{Lat: 30.27, Lng: -97.74}, Radius: 900, Stay: hour / 4},
	}
	traits.Routes = []fleet.RoutePlan{
		{ID: 1, Revision: 1, To: midnight + hour, Vehicle: 1, Start: midnight + hour/4, End: midnight + 3*hour,
			Stops: stops[:3], Fence: 3},
		{ID: 1, Revision: 2, From: midnight + hour, Vehicle: 1, Start: midnight + hour/4,
			End: midnight + 3*hour, Stops: stops,
			Corridor: []byte(`{"type":"Corridor","coordinates":[[-97.7431,30.2672],[-97.74,30.29]],"width_m":600}`)},
		{ID: 2, Revision: 1, From: midnight + hour/2, To: midnight + 2*hour, Vehicle: 1, Start: midnight,
			End: midnight + 9*hour, Stops: stops[1:]},
	}
	return derive.NewVehicle(&cfg, key, &fleet.Policy{Default: *traits}, index, alert.NewEngine(rules))
}

// day makes the inputs of some hours: driving, standing, silence, doubtful fixes and signals.
func day(t *rapid.T, tb testing.TB) []derive.Input {
	var in []derive.Input
	at, lat, lng, speed, course, odometer, soc := midnight, 30.2672, -97.7431, 0.0, 0.0, 1000.0, 80.0
	for range rapid.IntRange(1, 25).Draw(t, "phases") {
		phase := rapid.SampledFrom([]string{"drive", "drive", "crawl", "park", "park", "idle", "silence", "charge"}).Draw(t,
			"phase")
		every := rapid.SampledFrom([]fleet.Millis{1000, 10_000, 30_000, 120_000}).Draw(t, "every")
		told := rapid.Bool().Draw(t, "told") // whether speed and ignition are
		course = rapid.Float64Range(0, 359).Draw(t, "course")
		for range rapid.IntRange(1, 30).Draw(t, "fixes") {
			at += every
			ignition := fleet.Yes
			switch phase {
			case "drive":
				speed = rapid.Float64Range(5, 38).Draw(t, "speed")
			case "crawl":
				speed = rapid.Float64Range(0, 2).Draw(t, "speed")
			case "park", "charge":
				speed, ignition = 0, fleet.No
			case "idle":
				speed = 0
			case "silence":
				at += fleet.Millis(rapid.Int64Range(0, 3_600_000).Draw(t, "silence"))
			}
			if phase == "charge" {
				soc = min(100, soc+1)
				in = append(in, signal(at, "soc_pct", soc))
				continue
			}
			way := speed * float64(every) / 1000
			lat += way * math.Cos(course*math.Pi/180) / 111_195
			lng += way * math.Sin(course*math.Pi/180) / 96_000
			odometer += way
			p := &fleet.Position{Account: 7, Vehicle: 1, Device: 5, FixTime: at, DeviceTime: at, ReceivedTime: at,
				Lat: fleet.Quantise(lat), Lng: fleet.Quantise(lng),
				Altitude: math.NaN(), Speed: math.NaN(), Course: math.NaN(), Accuracy: 5, Odometer: odometer, Satellites: -1}
			if told {
				p.Speed, p.Course, p.Ignition = speed, course, ignition
			}
			switch rapid.IntRange(0, 40).Draw(t, "odd") {
			case 0:
				p.Lat += 1
			case 1:
				p.Flags, p.Accuracy = fleet.FlagLowAccuracy, 900
			case 2:
				p.Alarm = rapid.SampledFrom(fleet.Alarms).Draw(t, "alarm")
			case 3:
				p.Odometer = 0
			case 4:
				in = append(in, derive.Input{At: at, Position: p},
					signal(at, "fuel_level_pct", rapid.Float64Range(0, 100).Draw(t, "fuel")))
				continue
			case 5, 6, 7:
				in = append(in, derive.Input{At: at, Position: p},
					signal(at, "temp1_c", rapid.Float64Range(0, 16).Draw(t, "temperature")),
					signal(at, "temp2_c", 20))
				continue
			}
			p.Cell = cellOf(tb, p.Lat, p.Lng)
			in = append(in, derive.Input{At: at, Position: p})
		}
	}
	return in
}

func signal(at fleet.Millis, name string, v float64) derive.Input {
	return derive.Input{At: at, Signal: fleet.SignalValue{Signal: fleet.MustSignal(name), Value: v}}
}

// result is the last version of everything, as text.
func result(out fleet.Entities) map[string]string {
	all := map[string]string{}
	for _, e := range out {
		body, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		h := e.Header()
		all[fmt.Sprintf("%s %d", e.Kind(), h.ID)] = fmt.Sprintf("%d %s", h.RecognisedAt, body)
	}
	return all
}

func differences(want, got map[string]string) string {
	var lines []string
	for id, text := range want {
		if got[id] != text {
			lines = append(lines, "- "+id+" "+text, "+ "+id+" "+got[id])
		}
	}
	for id, text := range got {
		if _, ok := want[id]; !ok {
			lines = append(lines, "+ "+id+" "+text)
		}
	}
	return strings.Join(lines, "\n")
}

const forEver = 400 * 86_400_000

// TestPortionsTicksAndRestartsMakeNoDifference gives the same inputs whole and in portions, with a look at the clock
// and a restart in between.
func TestPortionsTicksAndRestartsMakeNoDifference(t *testing.T) {
	v := town(t)
	rapid.Check(t, func(rt *rapid.T) {
		in := day(rt, t)
		end := in[len(in)-1].At
		var whole derive.State
		var want fleet.Entities
		v.Step(&whole, in, &want)
		v.Advance(&whole, end+forEver, &want)

		var s derive.State
		var got fleet.Entities
		for rest := in; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "portion")
			for n < len(rest) && rest[n].At == rest[n-1].At {
				n++ // inputs of one time come together
			}
			v.Step(&s, rest[:n], &got)
			switch rapid.IntRange(0, 3).Draw(rt, "between") {
			case 0: // a restart
				text, err := s.Encode()
				if err != nil {
					rt.Fatal(err)
				}
				if s, err = derive.Decode(text); err != nil {
					rt.Fatal(err)
				}
			case 1: // the clock, at any time before the next input
				if n < len(rest) {
					last, next := rest[n-1].At, rest[n].At
					if next > last+1 {
						v.Advance(&s, fleet.Millis(rapid.Int64Range(int64(last), int64(next-1)).Draw(rt, "tick")), &got)
					}
				}
			case 2:
				before, err := s.Encode()
				if err != nil {
					rt.Fatal(err)
				}
				c := s.Clone()
				v.Advance(&c, end+forEver, &fleet.Entities{})
				if after, _ := s.Encode(); !slices.Equal(before, after) {
					rt.Fatal("what a clone goes through changes the original")
				}
			}
			rest = rest[n:]
		}
		for at := end; at < end+forEver; at += forEver / 7 {
			v.Advance(&s, at, &got)
		}
		v.Advance(&s, end+forEver, &got)
		if diff := differences(result(want), result(got)); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// TestWhatIsDerivedFitsTogether holds what readers of the tables rely on.
func TestWhatIsDerivedFitsTogether(t *testing.T) {
	v := town(t)
	rapid.Check(t, func(rt *rapid.T) {
		in := day(rt, t)
		var s derive.State
		var out fleet.Entities
		v.Step(&s, in, &out)
		v.Advance(&s, in[len(in)-1].At+forEver, &out)
		last := map[uint64]fleet.Entity{}
		recognised := map[uint64]fleet.Millis{}
		for _, e := range out {
			h := e.Header()
			if was, ok := recognised[h.ID]; ok && was != h.RecognisedAt {
				a, _ := json.Marshal(last[h.ID])
				b, _ := json.Marshal(e)
				rt.Fatalf("recognised at %d and at %d\n%s\n%s", was, h.RecognisedAt, a, b)
			}
			recognised[h.ID], last[h.ID] = h.RecognisedAt, e
			if h.ID == 0 || h.End < h.Start || h.RecognisedAt < h.Start || h.Start == 0 {
				rt.Fatalf("%s with %+v", e.Kind(), *h)
			}
		}
		var still []fleet.Entity
		for _, e := range slices.SortedFunc(maps.Values(last), func(a, b fleet.Entity) int {
			return cmp.Or(cmp.Compare(a.Header().Start, b.Header().Start), cmp.Compare(a.Header().End, b.Header().End))
		}) {
			switch e.(type) {
			case *fleet.Trip, *fleet.Stop:
				if n := len(still); n > 0 && e.Header().Start < still[n-1].Header().End {
					a, _ := json.Marshal(still[n-1])
					b, _ := json.Marshal(e)
					rt.Fatalf("%s overlaps\n%s", a, b)
				}
				still = append(still, e)
			}
		}
	})
}
