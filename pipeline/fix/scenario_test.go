package fix_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/fix"
	"github.com/motorpool/fleet/pipeline/scenario"
)

// TestScenarios runs the stories in testdata. A line is a fix of one vehicle, in order of arrival: its time, latitude,
// longitude and other members; after the bar stand the verdict, the live position after it, and the mileage.
//
//	time       a time of 20 November 2026, or a whole RFC 3339 time, or none
//	received=  when we took it, in the same form; a second after the fix otherwise
//	ignition=on|off accuracy= speed= course= odometer= and the bare words invalid, approximate, mock
func TestScenarios(t *testing.T) {
	scenario.Run(t, func(s *scenario.Story) string {
		config, state, stored := fix.DefaultConfig(), fix.State{}, map[fleet.Millis]bool{}
		said := ""
		take := func(words []string) {
			report, received := parse(s, words)
			p, refusal := config.Normalise(&report, received)
			if refusal == "" {
				free(&state, &p, stored)
				refusal = config.Classify(&state, &p, stored[p.FixTime])
			}
			verdict := "refused " + string(refusal)
			if refusal == "" {
				stored[p.FixTime] = true
				verdict = verdictOn(&p)
			}
			said = strings.TrimRight(fmt.Sprintf("%-16s | %s", verdict, liveOf(&state)), " |")
		}
		return s.Beside(64, scenario.Commands{"": take}, func(step func()) []string {
			step()
			return []string{said}
		})
	})
}

func verdictOn(p *fleet.Position) string {
	verdict := strings.Join(p.Flags.Names(), " ")
	if verdict == "" {
		verdict = "trusted"
	}
	if p.Flags&(fleet.FlagFutureClock|fleet.FlagRollover) != 0 {
		verdict += " at " + scenario.Clock(p.FixTime) + " claimed " + scenario.Clock(p.DeviceTime)
	}
	return verdict
}

func liveOf(state *fix.State) string {
	live := ""
	if state.Known() {
		live = fmt.Sprintf("live %s %.5f %.5f", scenario.Clock(state.Last.FixTime), state.Last.Lat, state.Last.Lng)
	}
	if state.Mileage.Time != 0 {
		live += fmt.Sprintf(" mileage %.0f", state.Mileage.Total())
	}
	return live
}

// free gives a position whose clock was too far ahead a time, as the chain does.
func free(s *fix.State, p *fleet.Position, stored map[fleet.Millis]bool) {
	if p.Flags&fleet.FlagFutureClock != 0 {
		p.FixTime = s.Free(p.FixTime, p.FixTime+64, func(t fleet.Millis) bool { return stored[t] })
	}
}

func parse(s *scenario.Story, words []string) (r fleet.Report, received fleet.Millis) {
	r = fleet.NewReport()
	if len(words) < 3 {
		s.Fail("want a time, a latitude and a longitude")
	}
	r.Positioned = true
	if words[0] != "none" {
		r.FixTime = s.Moment(words[0])
	}
	received = r.FixTime + 1000
	r.Lat, r.Lng = s.Number(words[1]), s.Number(words[2])
	for _, word := range words[3:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "received":
			received = s.Moment(value)
		case "device":
			r.DeviceTime = s.Moment(value)
		case "ignition":
			r.Ignition = fleet.TriOf(value == "on")
		case "invalid":
			r.Invalid = true
		case "approximate":
			r.Approximate = true
		case "mock":
			r.Mock = true
		case "accuracy":
			r.Accuracy = s.Number(value)
		case "speed":
			r.Speed = s.Number(value)
		case "course":
			r.Course = s.Number(value)
		case "odometer":
			r.Odometer = s.Number(value)
		default:
			s.Fail("unknown word %q", word)
		}
	}
	return r, received
}
