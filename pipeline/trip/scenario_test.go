package trip_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/scenario"
	"github.com/motorpool/fleet/pipeline/trip"
)

var vehicle = fleet.VehicleKey{Account: 7, Vehicle: 42}

// TestScenarios runs the stories in testdata. A line is something that happens to one vehicle on 20 November 2026, after
// the time at which it happens; below it, after >, stands what became known by it.
//
//	drive 10m 50 every=30s    drives east for ten minutes at 50 km/h, a fix every 30 s
//	drive 10m 50 renew=12s    likewise, and the tracker renews its place each 12 s only
//	stand 10m every=30s       stands where it is; drift=15 scatters the fixes by 15 m
//	fix 100 20                one fix, 100 m east and 20 m north of where the story begins
//	signal soc_pct=40         one measurement
//	wait                      nothing happens until then
//	show                      what is open then
//	set use_ignition=off      a setting, before anything happens: also no_data, split, stop_after (s)
//
// Fixes may have speed= (km/h; drive and stand give their own, unless it is given), nospeed, ignition=on|off, motion=on|off, accuracy=,
// odometer= (m at the first fix, which then grows by what is driven) and device=.
//
// A comment begins a new story.
func TestScenarios(t *testing.T) {
	scenario.Run(t, func(p *scenario.Story) string {
		s := newStory(p)
		commands := scenario.Commands{"set": s.set, "": s.happen, "#": func(words []string) {
			if len(words) > 1 {
				*s = *newStory(p)
			}
		}}
		return p.Below("> ", commands, func(step func()) (told []string) {
			s.out = nil
			step()
			for _, e := range s.out {
				told = append(told, describe(e))
			}
			return told
		})
	})
}

// story is one vehicle's day as it is played.
type story struct {
	*scenario.Story
	config   trip.Config
	state    trip.State
	out      fleet.Entities
	east     float64 // m, where the vehicle is
	odometer float64 // m; NaN if there is none
	random   *rand.Rand
}

func newStory(s *scenario.Story) *story {
	return &story{Story: s, config: trip.DefaultConfig(), odometer: math.NaN(), random: rand.New(rand.NewPCG(1, 2))}
}

func (s *story) happen(words []string) {
	if len(words) < 2 {
		s.Fail("want a time and what happens")
	}
	now := s.Moment(words[0])
	switch words[1] {
	case "wait":
		s.config.Advance(&s.state, vehicle, now, &s.out)
	case "show":
		s.config.Advance(&s.state, vehicle, now, &s.out)
		s.config.Open(&s.state, vehicle, &s.out)
	case "signal":
		for _, word := range words[2:] {
			name, value, _ := strings.Cut(word, "=")
			signal, ok := fleet.SignalNamed(name)
			if !ok {
				s.Fail("%s is no signal", name)
			}
			s.config.Signal(&s.state, vehicle, now, fleet.SignalValue{Signal: signal, Value: s.Number(value)}, &s.out)
		}
	case "fix":
		p, _ := s.parse(words[4:])
		s.east = s.Number(words[2])
		s.fix(now, &p, s.Number(words[3]))
	case "drive":
		s.drive(now, s.Span(words[2]), s.Number(words[3]), words[4:])
	case "stand":
		s.drive(now, s.Span(words[2]), 0, words[3:])
	default:
		s.Fail("nobody knows how to %q", words[1])
	}
}

// drive goes east for a time at a speed in km/h.
func (s *story) drive(now, span fleet.Millis, speed float64, words []string) {
	p, opts := s.parse(words)
	if !opts.noSpeed && math.IsNaN(p.Speed) {
		p.Speed = speed * fleet.MetresPerKmh
	}
	renewed := s.east
	for passed := fleet.Millis(0); passed < span; passed += opts.every {
		here := s.east
		north := opts.drift * s.random.NormFloat64()
		s.east += opts.drift * s.random.NormFloat64()
		if opts.renew != 0 && passed%opts.renew != 0 {
			s.east = renewed
		}
		renewed = s.east
		s.fix(now+passed, &p, north)
		step := speed * fleet.MetresPerKmh * (float64(opts.every) / 1000)
		s.east = here + step
		s.odometer += step
	}
}

func (s *story) fix(at fleet.Millis, p *fleet.Position, north float64) {
	p.FixTime = at
	p.Lat = fleet.Quantise(north / 111195.08)
	p.Lng = fleet.Quantise(20 + s.east/111195.08)
	s.config.Fix(&s.state, vehicle, p, s.odometer, &s.out)
}

type options struct {
	every   fleet.Millis
	renew   fleet.Millis
	drift   float64
	noSpeed bool
}

func (s *story) parse(words []string) (p fleet.Position, o options) {
	nan := math.NaN()
	p = fleet.Position{Device: 1, Speed: nan, Course: nan, Accuracy: nan, Altitude: nan, Odometer: nan, Satellites: -1}
	o.every = 30_000
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "every":
			o.every = s.Span(value)
		case "renew":
			o.renew = s.Span(value)
		case "nospeed":
			o.noSpeed = true
		case "drift":
			o.drift = s.Number(value)
		case "speed":
			p.Speed = s.Number(value) * fleet.MetresPerKmh
		case "accuracy":
			p.Accuracy = s.Number(value)
		case "odometer":
			s.odometer = s.Number(value)
		case "device":
			p.Device = fleet.DeviceID(s.Number(value))
		case "ignition":
			p.Ignition = fleet.TriOf(value == "on")
		case "motion":
			p.Motion = fleet.TriOf(value == "on")
		default:
			s.Fail("unknown word %q", word)
		}
	}
	return p, o
}

func (s *story) set(words []string) {
	var settings fleet.TripSettings
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		seconds, _ := strconv.ParseInt(value, 10, 64)
		span := fleet.Millis(seconds * 1000)
		switch name {
		case "use_ignition":
			on := value == "on"
			settings.UseIgnition = &on
		case "stop_after":
			settings.StopAfter = &span
		case "no_data":
			settings.NoData = &span
		case "split":
			settings.Split = &span
		default:
			s.Fail("unknown setting %q", word)
		}
	}
	s.config = s.config.With(settings)
	if err := s.config.Validate(); err != nil {
		s.Fail("%v", err)
	}
}

// describe writes what a fleet manager would want to read.
func describe(e fleet.Entity) string {
	h := e.Header()
	var b strings.Builder
	state := "closed"
	if h.Open {
		state = "open"
	}
	fmt.Fprintf(&b, "%s %s %s to %s, known at %s", e.Kind(), state, hour(h.Start), hour(h.End), hour(h.RecognisedAt))
	say := func(format string, v *float64) {
		if v != nil {
			fmt.Fprintf(&b, ", "+format, *v)
		}
	}
	switch e := e.(type) {
	case *fleet.Trip:
		fmt.Fprintf(&b, ", %.0f m from %s to %s, moving %s, idle %s, mean %.0f, max %.0f km/h, fixes %d", e.Distance,
			metres(e.StartPlace), metres(e.EndPlace), span(e.Moving), span(e.Idle), e.MeanSpeed/fleet.MetresPerKmh,
			e.MaxSpeed/fleet.MetresPerKmh, e.Fixes)
		if e.Estimated > 0 {
			fmt.Fprintf(&b, ", estimated %.0f m in %s", e.Estimated, span(e.Unrecorded))
		}
		if e.Unseen {
			b.WriteString(", unrecorded")
		}
		say("odometer from %.0f", e.OdometerStart)
		say("to %.0f", e.OdometerEnd)
		say("fuel %.1f l", e.FuelUsed)
		say("energy %.1f kWh", e.EnergyUsed)
		say("charge from %.0f %%", e.SocStart)
		say("to %.0f %%", e.SocEnd)
		if e.ClosedReason != "" {
			fmt.Fprintf(&b, ": %s", e.ClosedReason)
		}
	case *fleet.Stop:
		fmt.Fprintf(&b, ", at %s, idle %s, fixes %d", metres(e.Place), span(e.Idle), e.Fixes)
		if e.ClosedReason != "" {
			fmt.Fprintf(&b, ": %s", e.ClosedReason)
		}
	case *fleet.ChargingSession:
		say("from %.0f %%", e.SocStart)
		say("to %.0f %%", e.SocEnd)
		say("%.2f kWh", e.Energy)
		say("peak %.0f kW", e.PeakPower)
		if e.Estimated {
			b.WriteString(", estimated")
		}
	}
	return b.String()
}

func hour(m fleet.Millis) string {
	if t := m.Time(); t.Format(time.DateOnly) != scenario.Date {
		return t.Format("2006-01-02T15:04:05")
	}
	return m.Time().Format("15:04:05")
}

func span(m fleet.Millis) string { return (time.Duration(m) * time.Millisecond).String() }

func metres(p fleet.Place) string {
	return fmt.Sprintf("%.0f,%.0f", (p.Lng-20)*111195.08+0, p.Lat*111195.08+0)
}
