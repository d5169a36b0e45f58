package trip_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/trip"
)

var update = flag.Bool("update", false, "write what the code does into testdata; review the difference")

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
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(text))
			if got == string(text) {
				return
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, have := strings.Split(string(text), "\n"), strings.Split(got, "\n")
			for i := range min(len(want), len(have)) {
				if want[i] != have[i] {
					t.Errorf("%s:%d\n want %s\n got  %s", file, i+1, want[i], have[i])
				}
			}
			t.Errorf("%s: %d lines, want %d", file, len(have), len(want))
		})
	}
}

const day = "2026-11-20"

// story is one vehicle's day as it is played.
type story struct {
	config   trip.Config
	state    trip.State
	out      fleet.Entities
	east     float64 // m, where the vehicle is
	odometer float64 // m; NaN if there is none
	random   *rand.Rand
}

func newStory() *story {
	return &story{config: trip.DefaultConfig(), odometer: math.NaN(), random: rand.New(rand.NewPCG(1, 2))}
}

// play returns the text with what the detector says in place of what the lines after > say. An empty comment line begins
// a new story.
func play(t *testing.T, text string) string {
	s := newStory()
	var lines []string
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, ">") {
			continue
		}
		lines = append(lines, line)
		if strings.HasPrefix(line, "# ") {
			s = newStory()
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		s.out = nil
		if err := s.happen(strings.Fields(line)); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		for _, e := range s.out {
			lines = append(lines, "> "+describe(e))
		}
	}
	return strings.Join(lines, "\n")
}

func (s *story) happen(words []string) error {
	if words[0] == "set" {
		return s.set(words[1:])
	}
	if len(words) < 2 {
		return fmt.Errorf("%v: want a time and what happens", words)
	}
	date, clock := day, words[0]
	if before, after, ok := strings.Cut(clock, "T"); ok {
		date, clock = before, after
	}
	at, err := time.Parse("2006-01-02 15:04:05", date+" "+clock)
	if err != nil {
		return err
	}
	now := fleet.MillisOf(at)
	switch words[1] {
	case "wait":
		s.config.Advance(&s.state, vehicle, now, &s.out)
		return nil
	case "show":
		s.config.Advance(&s.state, vehicle, now, &s.out)
		s.config.Open(&s.state, vehicle, &s.out)
		return nil
	case "signal":
		for _, word := range words[2:] {
			name, value, _ := strings.Cut(word, "=")
			signal, ok := fleet.SignalNamed(name)
			number, err := strconv.ParseFloat(value, 64)
			if !ok || err != nil {
				return fmt.Errorf("%s is no signal with a value", word)
			}
			s.config.Signal(&s.state, vehicle, now, fleet.SignalValue{Signal: signal, Value: number}, &s.out)
		}
		return nil
	case "fix":
		p, _, err := s.parse(words[4:])
		if err != nil {
			return err
		}
		east, err := strconv.ParseFloat(words[2], 64)
		if err != nil {
			return err
		}
		north, err := strconv.ParseFloat(words[3], 64)
		if err != nil {
			return err
		}
		s.east = east
		s.fix(now, &p, north)
		return nil
	case "drive", "stand":
		span, err := time.ParseDuration(words[2])
		if err != nil {
			return err
		}
		speed, rest := 0.0, words[3:]
		if words[1] == "drive" {
			if speed, err = strconv.ParseFloat(words[3], 64); err != nil {
				return err
			}
			rest = words[4:]
		}
		p, opts, err := s.parse(rest)
		if err != nil {
			return err
		}
		if !opts.noSpeed && math.IsNaN(p.Speed) {
			p.Speed = speed * fleet.MetresPerKmh
		}
		renewed := s.east
		for passed := time.Duration(0); passed < span; passed += opts.every {
			here := s.east
			north := opts.drift * s.random.NormFloat64()
			s.east += opts.drift * s.random.NormFloat64()
			if opts.renew != 0 && passed%opts.renew != 0 {
				s.east = renewed
			}
			renewed = s.east
			s.fix(now.Add(passed), &p, north)
			step := speed * fleet.MetresPerKmh * opts.every.Seconds()
			s.east = here + step
			s.odometer += step
		}
		return nil
	}
	return fmt.Errorf("nobody knows how to %q", words[1])
}

func (s *story) fix(at fleet.Millis, p *fleet.Position, north float64) {
	p.FixTime = at
	p.Lat = fleet.Quantise(north / 111195.08)
	p.Lng = fleet.Quantise(20 + s.east/111195.08)
	s.config.Fix(&s.state, vehicle, p, s.odometer, &s.out)
}

type options struct {
	every   time.Duration
	renew   time.Duration
	drift   float64
	noSpeed bool
}

func (s *story) parse(words []string) (p fleet.Position, o options, err error) {
	nan := math.NaN()
	p = fleet.Position{Device: 1, Speed: nan, Course: nan, Accuracy: nan, Altitude: nan, Odometer: nan, Satellites: -1}
	o.every = 30 * time.Second
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		number, notNumber := strconv.ParseFloat(value, 64)
		switch name {
		case "every":
			o.every, notNumber = time.ParseDuration(value)
		case "renew":
			o.renew, notNumber = time.ParseDuration(value)
		case "nospeed":
			o.noSpeed, notNumber = true, nil
		case "drift":
			o.drift = number
		case "speed":
			p.Speed = number * fleet.MetresPerKmh
		case "accuracy":
			p.Accuracy = number
		case "odometer":
			s.odometer = number
		case "device":
			p.Device = fleet.DeviceID(number)
		case "ignition":
			p.Ignition, notNumber = fleet.TriOf(value == "on"), nil
		case "motion":
			p.Motion, notNumber = fleet.TriOf(value == "on"), nil
		default:
			return p, o, fmt.Errorf("unknown word %q", word)
		}
		if notNumber != nil {
			return p, o, fmt.Errorf("%s: %w", word, notNumber)
		}
	}
	return p, o, nil
}

func (s *story) set(words []string) error {
	var settings fleet.TripSettings
	for _, word := range words {
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
			return fmt.Errorf("unknown setting %q", word)
		}
	}
	s.config = s.config.With(settings)
	return s.config.Validate()
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
	if t := m.Time(); t.Format(time.DateOnly) != day {
		return t.Format("2006-01-02T15:04:05")
	}
	return m.Time().Format("15:04:05")
}

func span(m fleet.Millis) string { return (time.Duration(m) * time.Millisecond).String() }

func metres(p fleet.Place) string {
	return fmt.Sprintf("%.0f,%.0f", (p.Lng-20)*111195.08+0, p.Lat*111195.08+0)
}
