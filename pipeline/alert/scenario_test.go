package alert_test

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/alert"
	"github.com/motorpool/fleet/pipeline/scenario"
)

// TestScenarios runs the stories in testdata. What stands behind "|" is what comes of the lines above it.
//
//	rule NAME KIND [threshold=N] [for=D] [cooldown=D] [hours=mon-fri@22:00-06:00@ZONE] [fences=A,B] [tags=A] [alarms=A,B] [is=TEST] [from=T] [to=T] [revision=N]
//	  TEST is SIGNAL:above:BOUND[~HYSTERESIS], SIGNAL:outside:LOW..HIGH, SIGNAL:changed, SIGNAL:changed:LEAST
//	vehicle [tags=A,B] [tank=LITRES]
//	booking|document|maintenance|conflict NAME [from=T] [to=T] [done[=T]]  replaces one of this name
//	stop|corridor NAME [to=T]                              what a route plan binds by from here on; without to it does no more
//	T fix [LAT,LNG] [speed=KMH] [course=] [accuracy=] [ignition=on|off] [alarm=] [odometer=KM] [refused] [doubtful] STATE
//	T signal NAME=VALUE STATE
//	T move STATE                                                           moves without a fix
//	T wait STATE                                                           nothing arrives up to T
//	restart                                                                the state is written and read again
//
// T is a time of Friday 20 November 2026 UTC, or an RFC 3339 time. STATE is how the vehicle is from now on: moving,
// standing, idling, each with since=T; inside=A,B or inside=; limit=KMH of the first fence inside; and the moves
// enter=A exit=A cross=A dwell=A reach=STOP, each as A@T if it was before. Speeds are km/h here.
func TestScenarios(t *testing.T) {
	seen := map[fleet.AlertKind]bool{}
	scenario.Run(t, play(seen, false, 0), scenario.Again{How: "restarted at every line", Play: play(seen, true, 0)},
		scenario.Again{How: "ticks of a second", Play: play(seen, false, 1000)},
		scenario.Again{How: "ticks of a minute", Play: play(seen, false, 60_000)},
		scenario.Again{How: "ticks of an hour", Play: play(seen, false, 3_600_000)})
	for _, kind := range fleet.AlertKinds {
		if !seen[kind] && kind != fleet.AlertProximity { // of two vehicles: pipeline/follow
			t.Errorf("no scenario raises %s", kind)
		}
	}
}

// story is a vehicle and its rules while a scenario runs.
type story struct {
	*scenario.Story
	rules  []fleet.Rule
	names  map[fleet.RuleID]string
	fences map[string]fleet.FenceID
	engine *alert.Engine
	traits fleet.Traits
	state  alert.State
	now    fleet.Millis
	in     alert.Input
	last   fleet.Position
	known  map[uint64]bool
	open   map[string]uint64 // of a rule and what it is about
	out    fleet.Entities
	tick   fleet.Millis
}

var key = fleet.VehicleKey{Account: 1, Vehicle: 7}

func play(seen map[fleet.AlertKind]bool, restart bool, tick fleet.Millis) scenario.Play {
	return func(p *scenario.Story) string {
		s := &story{
			Story: p, names: map[fleet.RuleID]string{}, fences: map[string]fleet.FenceID{}, known: map[uint64]bool{}, open: map[string]uint64{},
			traits: fleet.Traits{Zone: time.UTC}, engine: alert.NewEngine(nil), tick: tick,
		}
		s.in.Motion.Known = true
		commands := scenario.Commands{"rule": s.rule, "vehicle": s.vehicle, "restart": func([]string) { s.restart() }, "": s.happen}
		for _, kind := range []string{"booking", "document", "maintenance", "conflict"} {
			commands[kind] = s.agree
		}
		commands["stop"], commands["corridor"] = s.bind, s.bind
		return s.Below("    | ", commands, func(step func()) (told []string) {
			if restart {
				s.restart()
			}
			s.out = nil
			step()
			for _, x := range s.out {
				if a, ok := x.(*fleet.Alert); ok {
					seen[a.What] = true
				}
				told = append(told, s.tell(x))
			}
			return told
		})
	}
}

// restart writes the state and reads it again, and spoils what a clone might still share.
func (s *story) restart() {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(&s.state); err != nil {
		s.Fail("%v", err)
	}
	clone := s.state.Clone()
	for i := range s.state.Found {
		s.state.Found[i] = alert.Found{}
	}
	for i := range s.state.Inside {
		s.state.Inside[i] = alert.Inside{}
	}
	s.state = alert.State{}
	if err := gob.NewDecoder(&b).Decode(&s.state); err != nil {
		s.Fail("%v", err)
	}
	if fmt.Sprint(clone) != fmt.Sprint(s.state) {
		s.Fail("the state became another:\n%v\n%v", clone, s.state)
	}
	s.state = clone
}

func (s *story) vehicle(words []string) {
	members := scenario.Members(words)
	s.traits.Tags = scenario.List(members["tags"])
	s.traits.FuelCapacity = s.number(members["tank"], 1)
}

// agree replaces an obligation.
func (s *story) agree(words []string) {
	members := scenario.Members(words)
	at, done := members["done"]
	o := fleet.Obligation{
		Kind: words[0], Ref: words[1], From: s.instant(members["from"]), To: s.instant(members["until"]), Done: done, DoneAt: s.instant(at),
	}
	s.traits.Obligations = slices.DeleteFunc(slices.Clone(s.traits.Obligations), func(x fleet.Obligation) bool { return x.Ref == o.Ref })
	s.traits.Obligations = append(s.traits.Obligations, o)
}

// bind replaces what a route plan binds by.
func (s *story) bind(words []string) {
	s.state.Bound = slices.DeleteFunc(slices.Clone(s.state.Bound), func(o fleet.Obligation) bool { return o.Ref == words[1] })
	if to := s.instant(scenario.Members(words)["until"]); to != 0 {
		s.state.Bound = append(s.state.Bound, fleet.Obligation{Kind: words[0], Ref: words[1], To: to})
	}
}

func (s *story) happen(words []string) {
	members := scenario.Members(words)
	at := s.Moment(words[0])
	if len(words) < 2 {
		s.Fail("want a time and a word")
	}
	s.until(at)
	s.now = at
	in := &s.in
	in.At, in.Position, in.Doubtful, in.Signal, in.Moves, in.Stops = at, nil, nil, nil, nil, nil
	in.RawOdometer, in.OdometerRefused, in.Mileage = math.NaN(), false, math.NaN()
	s.situation(words[2:], members)
	switch words[1] {
	case "wait":
		s.engine.Advance(&s.state, key, &s.traits, at, s.in.Motion, &s.out)
		return
	case "signal":
		for name, value := range members {
			if signal, ok := fleet.SignalNamed(name); ok {
				in.Signal = &fleet.SignalValue{Signal: signal, Value: s.number(value, 1)}
			}
		}
		if in.Signal == nil {
			s.Fail("no such signal")
		}
	case "fix":
		s.fix(words[2:], members)
	case "move":
	default:
		s.Fail("what is %q?", words[1])
	}
	if s.last.FixTime != 0 {
		in.Last = &s.last
	}
	s.engine.Step(&s.state, key, &s.traits, in, &s.out)
}

// until lets the deadlines up to a time do what they do, as pipeline/derive does, with or without ticks in between.
func (s *story) until(at fleet.Millis) {
	if s.tick != 0 && s.now != 0 {
		for next := s.now + s.tick; next < at; next += s.tick {
			s.engine.Advance(&s.state, key, &s.traits, next, s.in.Motion, &s.out)
		}
	}
	for wake := s.engine.Wake(&s.state, &s.traits); wake != 0 && wake <= at; wake = s.engine.Wake(&s.state, &s.traits) {
		s.engine.Advance(&s.state, key, &s.traits, wake, s.in.Motion, &s.out)
	}
}

func (s *story) fix(words []string, members map[string]string) {
	p := s.last
	nan := math.NaN()
	p.FixTime, p.Speed, p.Course, p.Accuracy, p.Odometer, p.Ignition, p.Alarm = s.now, nan, nan, nan, nan, fleet.Unknown, members["alarm"]
	for _, w := range words {
		if lat, lng, ok := strings.Cut(w, ","); ok && !strings.Contains(w, "=") {
			p.Lat, p.Lng = s.number(lat, 1), s.number(lng, 1)
		}
	}
	if v, ok := members["speed"]; ok {
		p.Speed = s.number(v, fleet.MetresPerKmh)
	}
	if v, ok := members["course"]; ok {
		p.Course = s.number(v, 1)
	}
	if v, ok := members["accuracy"]; ok {
		p.Accuracy = s.number(v, 1)
	}
	if v, ok := members["odometer"]; ok {
		s.in.RawOdometer = s.number(v, 1000)
	}
	_, s.in.OdometerRefused = members["refused"]
	if v, ok := members["ignition"]; ok {
		p.Ignition = fleet.TriOf(v == "on")
		s.in.Motion.Ignition = p.Ignition
	}
	if _, doubtful := members["doubtful"]; doubtful {
		s.in.Doubtful = &p
		return
	}
	s.in.Position = &p
	s.last = p
}

func (s *story) situation(words []string, members map[string]string) {
	in := &s.in
	since := s.instant(members["since"])
	if since == 0 {
		since = s.now
	}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		what, when, back := strings.Cut(value, "@")
		at := s.now
		if back {
			at = s.instant(when)
		}
		switch name {
		case "moving":
			in.Motion.Moving, in.Motion.Idling, in.Motion.IdleFrom, in.Motion.Since = true, false, 0, since
		case "standing":
			in.Motion.Moving, in.Motion.Idling, in.Motion.IdleFrom, in.Motion.Since = false, false, 0, since
		case "idling":
			in.Motion.Moving, in.Motion.Idling, in.Motion.IdleFrom, in.Motion.Since = false, true, since, since
		case "inside":
			in.Inside = nil
			for _, name := range scenario.List(value) {
				in.Inside = append(in.Inside, s.fence(name))
			}
			if len(in.Inside) == 0 {
				in.SpeedLimit, in.LimitFence = 0, 0
			}
		case "limit":
			in.SpeedLimit, in.LimitFence = s.number(value, fleet.MetresPerKmh), 0
			if in.SpeedLimit > 0 {
				in.LimitFence = in.Inside[0]
			}
		case "reach":
			in.Stops = append(in.Stops, fleet.StopMove{Plan: 1, Stop: what, At: at, Place: fleet.Place{Lat: 1, Lng: 2}})
		case "enter", "exit", "cross", "dwell":
			in.Moves = append(in.Moves, fleet.FenceMove{Fence: s.fence(what), What: name, At: at, Place: fleet.Place{Lat: 1, Lng: 2}})
		}
	}
}

func (s *story) fence(name string) fleet.FenceID {
	if s.fences[name] == 0 {
		s.fences[name] = fleet.FenceID(len(s.fences) + 1)
	}
	return s.fences[name]
}

func (s *story) rule(words []string) {
	members := scenario.Members(words)
	r := fleet.Rule{Kind: fleet.AlertKind(words[2]), Severity: "warning", Revision: 1, ID: fleet.RuleID(len(s.names) + 1)}
	if !slices.Contains(fleet.AlertKinds, r.Kind) {
		s.Fail("no such kind")
	}
	for id, name := range s.names {
		if name == words[1] {
			r.ID = id
		}
	}
	s.names[r.ID] = words[1]
	if v, ok := members["threshold"]; ok {
		unit := 1.0
		if r.Kind.Unit() == "m/s" {
			unit = fleet.MetresPerKmh
		}
		r.Threshold = s.number(v, unit)
	}
	if v, ok := members["is"]; ok {
		r.Signal = s.signalTest(v)
	}
	r.MinDuration, r.CoolDown = s.span(members["for"]), s.span(members["cooldown"])
	r.From, r.To = s.instant(members["from"]), s.instant(members["until"])
	if v, ok := members["revision"]; ok {
		r.Revision = uint64(s.number(v, 1))
	}
	r.Scope.Tags, r.Alarms = scenario.List(members["tags"]), scenario.List(members["alarms"])
	for _, name := range scenario.List(members["fences"]) {
		r.Fences = append(r.Fences, s.fence(name))
	}
	if v, ok := members["hours"]; ok {
		r.Schedule = timetable(v)
	}
	s.rules = append(slices.DeleteFunc(s.rules, func(x fleet.Rule) bool { return x.ID == r.ID && x.Revision == r.Revision }), r)
	s.engine = alert.NewEngine(s.rules)
}

// tell writes what came out, and holds that alerts of a rule are raised and resolved in turn.
func (s *story) tell(x fleet.Entity) string {
	h := x.Header()
	if h.End < h.Start || h.RecognisedAt < h.Start || h.ID == 0 {
		s.T.Errorf("from %s to %s, recognised at %s", scenario.Clock(h.Start), scenario.Clock(h.End), scenario.Clock(h.RecognisedAt))
	}
	if d, ok := x.(*fleet.DrivingEvent); ok {
		text := fmt.Sprintf("driving %s (%s) %s", d.What, d.Source, scenario.Clock(d.Start))
		if d.End != d.Start {
			text += "-" + scenario.Clock(d.End)
		}
		if d.Open {
			text += " goes on"
		}
		if d.What == fleet.Speeding {
			return text + fmt.Sprintf(", %.0f km/h above", d.Value/fleet.MetresPerKmh)
		}
		return text + fmt.Sprintf(", %.1f m/s² at %.0f km/h", d.Value, d.Speed/fleet.MetresPerKmh)
	}
	a := x.(*fleet.Alert)
	subject := fmt.Sprint(a.Rule, a.Fence, a.Subject)
	did := "updated"
	if !s.known[a.ID] {
		did = "raised"
	}
	switch {
	case !a.Open && a.ResolvedReason == "moment":
		if s.known[a.ID] {
			s.T.Errorf("a moment is told twice: %v", a)
		}
		did = "raised and resolved"
	case !a.Open:
		if s.open[subject] != a.ID {
			s.T.Errorf("resolved without being raised: %v", a)
		}
		delete(s.open, subject)
		did = "resolved (" + a.ResolvedReason + ")"
	case s.open[subject] != 0 && s.open[subject] != a.ID:
		s.T.Errorf("raised beside another of its rule: %v", a)
	case did == "updated" && s.open[subject] == 0:
		s.T.Errorf("raised again after it was resolved: %v", a)
	default:
		s.open[subject] = a.ID
	}
	s.known[a.ID] = true
	text := fmt.Sprintf("%s %s: from %s", s.names[a.Rule], did, scenario.Clock(a.Start))
	switch {
	case a.Open && did == "raised":
		if a.RecognisedAt != a.Start {
			text += ", known at " + scenario.Clock(a.RecognisedAt)
		}
	case a.ResolvedReason != "moment":
		text += " to " + scenario.Clock(a.End)
	}
	for name, id := range s.fences {
		if id == a.Fence {
			text += ", " + name
		}
	}
	if a.Subject != "" {
		text += ", " + a.Subject
	}
	if a.Value != nil {
		unit := a.What.Unit()
		if signal, ok := fleet.SignalNamed(a.Subject); ok {
			unit = signal.Spec().Unit
		}
		scale := 1.0
		if a.What.Unit() == "m/s" {
			scale, unit = fleet.MetresPerKmh, "km/h"
		}
		text += fmt.Sprintf(", %.4g %s", *a.Value/scale, unit)
		if *a.Peak != *a.Value {
			text += fmt.Sprintf(", at worst %.4g", *a.Peak/scale)
		}
	}
	return text
}

// signalTest reads what a rule asks of a signal.
func (s *story) signalTest(text string) *fleet.SignalTest {
	parts := strings.Split(text, ":")
	t := &fleet.SignalTest{Signal: fleet.MustSignal(parts[0]), Is: parts[1]}
	t.Hysteresis = t.Signal.Hysteresis()
	if len(parts) > 2 {
		bounds, least, given := strings.Cut(parts[2], "~")
		if given {
			t.Hysteresis = s.number(least, 1)
		}
		low, high, two := strings.Cut(bounds, "..")
		if t.Low = s.number(low, 1); two {
			t.High = s.number(high, 1)
		} else {
			t.High = t.Low
		}
	}
	return t
}

// instant reads a time, and nothing as none.
func (s *story) instant(text string) fleet.Millis {
	if text == "" {
		return 0
	}
	return s.Moment(text)
}

// number reads a number of some units, and nothing as zero.
func (s *story) number(text string, unit float64) float64 {
	if text == "" {
		return 0
	}
	return s.Number(text) * unit
}

// span reads a length of time, and nothing as none.
func (s *story) span(text string) fleet.Millis {
	if text == "" {
		return 0
	}
	return s.Span(text)
}

// timetable reads "mon-fri@22:00-06:00@Europe/Berlin".
func timetable(text string) *fleet.Schedule {
	parts := strings.SplitN(text, "@", 3)
	zone := time.UTC
	if len(parts) == 3 {
		var err error
		if zone, err = time.LoadLocation(parts[2]); err != nil {
			panic(err)
		}
	}
	names := []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
	first, last, ok := strings.Cut(parts[0], "-")
	if !ok {
		last = first
	}
	var w fleet.Window
	for d := slices.Index(names, first); d <= slices.Index(names, last); d++ {
		w.Days |= 1 << d
	}
	from, to, _ := strings.Cut(parts[1], "-")
	minutes := func(text string) int {
		var h, m int
		if _, err := fmt.Sscanf(text, "%d:%d", &h, &m); err != nil {
			panic(err)
		}
		return h*60 + m
	}
	w.From, w.To = minutes(from), minutes(to)
	return &fleet.Schedule{Zone: zone, Windows: []fleet.Window{w}}
}
