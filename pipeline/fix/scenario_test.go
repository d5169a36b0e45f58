package fix_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/fix"
)

var update = flag.Bool("update", false, "write what the code does into testdata; review the difference")

// TestScenarios runs the stories in testdata. A line is a fix of one vehicle, in order of arrival: its time, latitude,
// longitude and other members; after the bar stand the verdict, the live position after it, and the mileage.
//
//	time       a time of 20 November 2026, or a whole RFC 3339 time, or none
//	received=  when we took it, in the same form; a second after the fix otherwise
//	ignition=on|off accuracy= speed= course= odometer= and the bare words invalid, approximate, mock
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
			for i := range want {
				if want[i] != have[i] {
					t.Errorf("%s:%d\n want %s\n got  %s", file, i+1, want[i], have[i])
				}
			}
		})
	}
}

func play(t *testing.T, text string) string {
	config := fix.DefaultConfig()
	var state fix.State
	stored := map[fleet.Millis]bool{}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		input, _, _ := strings.Cut(line, "|")
		input = strings.TrimSpace(input)
		if input == "" || strings.HasPrefix(input, "#") {
			continue
		}
		report, received, err := parse(input)
		if err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		p, refusal := config.Normalise(&report, received)
		if refusal == "" {
			free(&state, &p, stored)
			refusal = config.Classify(&state, &p, stored[p.FixTime])
		}
		verdict := "refused " + string(refusal)
		if refusal == "" {
			stored[p.FixTime] = true
			if verdict = strings.Join(p.Flags.Names(), " "); verdict == "" {
				verdict = "trusted"
			}
			if p.Flags&(fleet.FlagFutureClock|fleet.FlagRollover) != 0 {
				verdict += " at " + clock(p.FixTime) + " claimed " + clock(p.DeviceTime)
			}
		}
		live := ""
		if state.Known() {
			live = fmt.Sprintf("live %s %.5f %.5f", clock(state.Last.FixTime), state.Last.Lat, state.Last.Lng)
		}
		if state.Mileage.Time != 0 {
			live += fmt.Sprintf(" mileage %.0f", state.Mileage.Total())
		}
		lines[i] = strings.TrimRight(fmt.Sprintf("%-64s | %-16s | %s", input, verdict, live), " |")
	}
	return strings.Join(lines, "\n")
}

// free gives a position whose clock was too far ahead a time, as the chain does.
func free(s *fix.State, p *fleet.Position, stored map[fleet.Millis]bool) {
	if p.Flags&fleet.FlagFutureClock != 0 {
		p.FixTime = s.Free(p.FixTime, p.FixTime+64, func(t fleet.Millis) bool { return stored[t] })
	}
}

const day = "2026-11-20"

func clock(m fleet.Millis) string {
	return strings.TrimSuffix(strings.TrimPrefix(m.Time().Format("2006-01-02T15:04:05.999Z07:00"), day+"T"), "Z")
}

func instant(text string) (fleet.Millis, error) {
	if text == "none" {
		return 0, nil
	}
	if !strings.Contains(text, "T") {
		text = day + "T" + text + "Z"
	}
	at, err := time.Parse(time.RFC3339, text)
	return fleet.MillisOf(at), err
}

func parse(input string) (r fleet.Report, received fleet.Millis, err error) {
	r = fleet.NewReport()
	words := strings.Fields(input)
	if len(words) < 3 {
		return r, 0, fmt.Errorf("%q: want a time, a latitude and a longitude", input)
	}
	r.Positioned = true
	if r.FixTime, err = instant(words[0]); err != nil {
		return r, 0, err
	}
	received = r.FixTime + 1000
	for i, to := range []*float64{&r.Lat, &r.Lng} {
		if *to, err = strconv.ParseFloat(words[1+i], 64); err != nil {
			return r, 0, err
		}
	}
	for _, word := range words[3:] {
		name, value, _ := strings.Cut(word, "=")
		number, notNumber := strconv.ParseFloat(value, 64)
		switch name {
		case "received":
			received, err = instant(value)
			notNumber = nil
		case "device":
			r.DeviceTime, err = instant(value)
			notNumber = nil
		case "ignition":
			r.Ignition, notNumber = fleet.TriOf(value == "on"), nil
		case "invalid":
			r.Invalid, notNumber = true, nil
		case "approximate":
			r.Approximate, notNumber = true, nil
		case "mock":
			r.Mock, notNumber = true, nil
		case "accuracy":
			r.Accuracy = number
		case "speed":
			r.Speed = number
		case "course":
			r.Course = number
		case "odometer":
			r.Odometer = number
		default:
			err = fmt.Errorf("unknown word %q", word)
		}
		if err == nil {
			err = notNumber
		}
		if err != nil {
			return r, 0, fmt.Errorf("%s: %w", word, err)
		}
	}
	return r, received, nil
}
