package route_test

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/route"
	"github.com/motorpool/fleet/pipeline/scenario"
)

// TestScenarios runs the stories in testdata. What stands behind "|" is what comes of the lines above it.
//
//	plan NAME start=T end=T [from=T] [to=T] [corridor=LAT,LNG;LAT,LNG;WIDTH] [fence=A]   a version, the next revision of its name
//	stop NAME [LAT,LNG,RADIUS] [fence=A] [from=T] [until=T] [stay=D]                    of the plan above it
//	T fix LAT,LNG [accuracy=M] [trip] [inside=A,B] [enter=A[@T]] [exit=A[@T]] [cross=A[@T]]
//	T drive LAT,LNG speed=KMH [every=D]    fixes on a trip from the last place
//	T wait                                 nothing arrives up to T
//
// T is a time of Friday 20 November 2026 UTC. Times of arrival ahead are told with open, what was reached with each line.
//
//	open                                   what goes on, with the times of arrival
func TestScenarios(t *testing.T) {
	scenario.Run(t, play(false, 0), scenario.Again{How: "restarted at every line", Play: play(true, 0)},
		scenario.Again{How: "ticks of a second", Play: play(false, 1000)},
		scenario.Again{How: "ticks of a minute", Play: play(false, 60_000)},
		scenario.Again{How: "ticks of an hour", Play: play(false, 3_600_000)})
}

var key = fleet.VehicleKey{Account: 1, Vehicle: 7}

type story struct {
	*scenario.Story
	plans  []fleet.RoutePlan
	names  []string
	fences map[string]fleet.FenceID
	route  *route.Plans
	state  route.State
	inside []fleet.FenceID
	now    fleet.Millis
	tick   fleet.Millis
	last   map[uint64]string
	out    fleet.Entities
	moves  []fleet.StopMove
	said   []string
}

func play(restart bool, tick fleet.Millis) scenario.Play {
	return func(p *scenario.Story) string {
		s := &story{Story: p, fences: map[string]fleet.FenceID{}, last: map[uint64]string{}, tick: tick}
		commands := scenario.Commands{"plan": s.plan, "stop": s.stop, "open": s.open, "": s.happen}
		return s.Below("| ", commands, func(step func()) []string {
			if restart {
				s.restart()
			}
			s.out, s.moves, s.said = nil, nil, nil
			step()
			return s.said
		})
	}
}

func (s *story) open([]string) {
	s.route.Open(&s.state, key, &s.out)
	for _, e := range s.out {
		s.said = append(s.said, s.tell(e.(*fleet.RouteRun), true))
	}
}

func (s *story) restart() {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(&s.state); err != nil {
		s.Fail("%v", err)
	}
	s.state = route.State{}
	if err := gob.NewDecoder(&b).Decode(&s.state); err != nil {
		s.Fail("%v", err)
	}
	s.state = s.state.Clone()
}

func (s *story) numbers(text string) (all []float64) {
	for _, part := range strings.Split(text, ",") {
		all = append(all, s.Number(part))
	}
	return all
}

func (s *story) fence(name string) fleet.FenceID {
	if s.fences[name] == 0 {
		s.fences[name] = fleet.FenceID(100 + len(s.fences))
	}
	return s.fences[name]
}

func (s *story) plan(words []string) {
	words = words[1:]
	p := fleet.RoutePlan{ID: fleet.PlanID(slices.Index(s.names, words[0]) + 1), Revision: uint64(len(s.plans) + 1), Vehicle: key.Vehicle}
	if p.ID == 0 {
		s.names = append(s.names, words[0])
		p.ID = fleet.PlanID(len(s.names))
	}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "start":
			p.Start = s.Moment(value)
		case "end":
			p.End = s.Moment(value)
		case "from":
			p.From = s.Moment(value)
		case "to":
			p.To = s.Moment(value)
		case "fence":
			p.Fence = s.fence(value)
		case "corridor":
			parts := strings.Split(value, ";")
			var line []string
			for _, point := range parts[:len(parts)-1] {
				v := s.numbers(point)
				line = append(line, fmt.Sprintf("[%v,%v]", v[1], v[0]))
			}
			p.Corridor = fmt.Appendf(nil, `{"type":"Corridor","coordinates":[%s],"width_m":%s}`, strings.Join(line, ","), parts[len(parts)-1])
		default:
			s.Fail("what is %q?", word)
		}
	}
	s.plans, s.route = append(s.plans, p), nil
}

func (s *story) stop(words []string) {
	words = words[1:]
	p := &s.plans[len(s.plans)-1]
	x := fleet.PlanStop{ID: words[0]}
	for _, word := range words[1:] {
		name, value, ok := strings.Cut(word, "=")
		switch {
		case !ok:
			v := s.numbers(word)
			x.Place, x.Radius = fleet.Place{Lat: v[0], Lng: v[1]}, v[2]
		case name == "fence":
			x.Fence = s.fence(value)
		case name == "from":
			x.ArriveFrom = s.Moment(value)
		case name == "until":
			x.ArriveUntil = s.Moment(value)
		case name == "stay":
			x.Stay = s.Span(value)
		default:
			s.Fail("what is %q?", word)
		}
	}
	p.Stops = append(p.Stops, x)
}

// advance lets the deadlines up to a time do what they do, as package derive does.
func (s *story) advance(to fleet.Millis) {
	for last := fleet.Millis(0); ; {
		at := s.route.Wake(&s.state)
		if at == 0 || at > to || at <= last {
			return
		}
		last = at
		s.route.Step(&s.state, key, &route.Input{At: at, Inside: s.inside}, &s.out, &s.moves)
	}
}

func (s *story) happen(words []string) {
	if s.route == nil {
		s.route = route.New(slices.Clone(s.plans))
	}
	at := s.Moment(words[0])
	switch words[1] {
	case "wait":
		s.pass(at)
	case "fix":
		v := s.numbers(words[2])
		s.fix(at, fleet.Place{Lat: v[0], Lng: v[1]}, words[3:])
	case "drive":
		v, every, speed := s.numbers(words[2]), fleet.Millis(30_000), 0.0
		for _, word := range words[3:] {
			if name, value, _ := strings.Cut(word, "="); name == "every" {
				every = s.Span(value)
			} else {
				speed = s.numbers(value)[0] * fleet.MetresPerKmh
			}
		}
		from, to := s.state.Place, fleet.Place{Lat: v[0], Lng: v[1]}
		n := int(math.Ceil(fleet.Distance(from.Lat, from.Lng, to.Lat, to.Lng) / speed / (float64(every) / 1000)))
		for i := range n + 1 {
			part := float64(i) / float64(n)
			place := fleet.Place{Lat: from.Lat + (to.Lat-from.Lat)*part, Lng: from.Lng + (to.Lng-from.Lng)*part}
			s.fix(at+fleet.Millis(i)*every, place, []string{"trip"})
		}
	default:
		s.Fail("what is %q?", words[1])
	}
	s.said = s.told()
}

// pass lets time come to an instant.
func (s *story) pass(at fleet.Millis) {
	for s.tick != 0 && s.now != 0 && s.now+s.tick < at {
		s.now += s.tick
		s.advance(s.now)
	}
	s.advance(at)
	s.now = at
}

func (s *story) fix(at fleet.Millis, place fleet.Place, words []string) {
	s.pass(at)
	p := &fleet.Position{FixTime: at, Lat: place.Lat, Lng: place.Lng, Accuracy: math.NaN()}
	in := route.Input{At: at, Position: p}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "trip":
			in.OnTrip = true
		case "accuracy":
			p.Accuracy = s.numbers(value)[0]
		case "inside":
			s.inside = nil
			for _, fence := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' }) {
				s.inside = append(s.inside, s.fence(fence))
			}
		case fleet.MoveEnter, fleet.MoveExit, fleet.MoveCross:
			fence, when, ok := strings.Cut(value, "@")
			m := fleet.FenceMove{Fence: s.fence(fence), What: name, At: at, Place: place}
			if ok {
				m.At = s.Moment(when)
			}
			in.Moves = append(in.Moves, m)
		default:
			s.Fail("what is %q?", word)
		}
	}
	in.Inside = s.inside
	s.route.Step(&s.state, key, &in, &s.out, &s.moves)
}

// told says what is new.
func (s *story) told() (lines []string) {
	for i := range s.moves {
		m := &s.moves[i]
		lines = append(lines, "REACHED "+s.names[m.Plan-1]+"/"+m.Stop+" "+clock(m.At))
	}
	for _, e := range s.out {
		run := e.(*fleet.RouteRun)
		if said := s.tell(run, false); said != s.last[run.ID] {
			s.last[run.ID] = said
			lines = append(lines, said)
		}
	}
	for _, o := range s.route.Bound(&s.state) {
		if o.To <= s.now {
			lines = append(lines, "  bound: "+o.Kind+" "+o.Ref+" "+clock(o.To))
		}
	}
	return lines
}

func (s *story) tell(run *fleet.RouteRun, ahead bool) string {
	text := s.names[run.Plan-1] + " since " + clock(run.Start)
	if !run.Open {
		text = s.names[run.Plan-1] + " " + clock(run.Start) + "-" + clock(run.End) + " " + run.ClosedReason
	}
	for _, x := range run.Stops {
		text += ", " + x.ID
		if x.Arrived != 0 {
			text += " " + clock(x.Arrived)
		}
		if x.Left != 0 {
			text += "-" + clock(x.Left)
		}
		if x.Passed {
			text += " passed"
		}
		if x.Skipped {
			text += " skipped"
		}
		if x.Missed != 0 {
			text += " missed " + clock(x.Missed)
		}
		if ahead && x.ETA != 0 {
			text += fmt.Sprintf(" at about %s ± %s", clock(x.ETA), (time.Duration(x.ETAError) * time.Millisecond).Round(time.Second))
		}
	}
	if run.OffSince != 0 {
		text += ", off since " + clock(run.OffSince)
	}
	if run.Off != 0 {
		text += ", off for " + (time.Duration(run.Off) * time.Millisecond).Round(time.Second).String()
	}
	if ahead {
		text += fmt.Sprintf(", %.0f km/h", run.Speed/fleet.MetresPerKmh)
	}
	return text
}

func clock(at fleet.Millis) string { return at.Time().Format("15:04:05") }
