package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
)

// A scenario is a text of lines, of which # begins a comment. Times are local to the zone, which is UTC unless given. A
// time without a date is of the last date that was named. Vehicles are numbers.
//
//	zone <name>, rules <set>, period <from> <to>
//	holder <tag> <driver> [from <time>] [until <time>]
//	tag <vehicle> <time> <tag>
//	booking <vehicle> <from> <to> <driver>, manual <vehicle> <from> <to> <driver>
//	trip <vehicle> <from> <to>
//	who <expected parts of the last trip: driver source [from-to], …; the trip's own first>
//	hours <driver>
//	day <date> <driving> <other> <rest> <longest> <breaks>, sum <driving> <other> <rest> <overlap>
//	finding <rule> <time> <limit> <actual>, no more findings
//
// After hours, each line is held against the next of what was found.
type scenario struct {
	t        *testing.T
	where    string
	zone     *time.Location
	date     string
	rules    Rules
	period   Span
	evidence Evidence
	trips    []struct {
		vehicle fleet.VehicleID
		Span
	}
	report   Report
	days     []Day
	findings []Finding
}

func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := &scenario{t: t, zone: time.UTC, rules: RuleSets["eu_561_2006"],
				evidence: Evidence{Holders: map[string][]fleet.TagHolder{}}}
			for n, line := range strings.Split(string(text), "\n") {
				line, _, _ = strings.Cut(line, "#")
				if words := strings.Fields(line); len(words) > 0 {
					s.where = fmt.Sprintf("%s:%d", file, n+1)
					s.line(words[0], words[1:])
				}
			}
		})
	}
}

func (s *scenario) line(verb string, words []string) {
	s.evidence.sorted = nil // what follows may add to it
	switch verb {
	case "zone":
		zone, err := time.LoadLocation(words[0])
		if err != nil {
			s.t.Fatalf("%s: %v", s.where, err)
		}
		s.zone = zone
	case "rules":
		s.rules = RuleSets[words[0]]
	case "period":
		s.period.From, words = s.time(words)
		s.period.To, _ = s.time(words)
	case "holder":
		s.holder(words[0], words[1], words[2:])
	case "tag":
		at, rest := s.time(words[1:])
		s.evidence.Reports = append(s.evidence.Reports, fleet.TagReport{Vehicle: s.vehicle(words[0]), At: at, Tag: rest[0]})
	case "booking", "manual":
		d := fleet.Driven{Vehicle: s.vehicle(words[0]), ID: uint64(len(s.evidence.Bookings) + len(s.evidence.Manual) + 1)}
		rest := words[1:]
		d.From, rest = s.time(rest)
		d.To, rest = s.time(rest)
		d.Driver = strings.Trim(rest[0], "-") // - takes back what was said
		if verb == "booking" {
			s.evidence.Bookings = append(s.evidence.Bookings, d)
		} else {
			s.evidence.Manual = append(s.evidence.Manual, d)
		}
	case "trip":
		s.trips = append(s.trips, struct {
			vehicle fleet.VehicleID
			Span
		}{vehicle: s.vehicle(words[0])})
		trip := &s.trips[len(s.trips)-1]
		trip.From, words = s.time(words[1:])
		trip.To, _ = s.time(words)
	case "who":
		trip := s.trips[len(s.trips)-1]
		s.equal(s.shown(s.evidence.Who(trip.vehicle, trip.From, trip.To)), strings.Join(words, " "))
	case "hours":
		s.hours(words[0])
	default:
		s.found(verb, words)
	}
}

func (s *scenario) holder(tag, driver string, words []string) {
	h := fleet.TagHolder{Driver: driver}
	for len(words) > 0 {
		verb := words[0]
		var at fleet.Millis
		if at, words = s.time(words[1:]); verb == "from" {
			h.From = at
		} else {
			h.To = at
		}
	}
	s.evidence.Holders[tag] = append(s.evidence.Holders[tag], h)
}

func (s *scenario) hours(name string) {
	var driving []Span
	away := map[fleet.VehicleID][]Span{}
	for _, trip := range s.trips {
		away[trip.vehicle] = append(away[trip.vehicle], Span{trip.From, trip.To})
		for _, p := range s.evidence.Who(trip.vehicle, trip.From, trip.To).Parts {
			if p.Driver == name {
				driving = append(driving, Span{p.From, p.To})
			}
		}
	}
	s.report = Hours(driving, s.evidence.Logins(name, away), s.period, s.zone, s.rules)
	s.days, s.findings = s.report.Days, s.report.Findings
}

// found holds a line against the next of what the hours gave.
func (s *scenario) found(verb string, words []string) {
	got := "nothing"
	switch verb {
	case "sum":
		got = fmt.Sprint(span(s.report.Driving), " ", span(s.report.Other), " ", span(s.report.Rest), " ",
			span(s.report.Overlap))
	case "day":
		if len(s.days) > 0 {
			d := s.days[0]
			s.days = s.days[1:]
			got = fmt.Sprint(d.Date, " ", span(d.Driving), " ", span(d.Other), " ", span(d.Rest), " ", span(d.Longest),
				" ", len(d.Breaks))
		}
	case "finding":
		if len(s.findings) > 0 {
			f := s.findings[0]
			s.findings = s.findings[1:]
			got = fmt.Sprint(f.Rule, " ", s.clock("2006-01-02 15:04", f.At), " ", span(f.Limit), " ", span(f.Actual))
		}
	case "no": // more findings
		got = "more findings"
		if len(s.findings) > 0 {
			got = fmt.Sprint(s.findings)
		}
	default:
		s.t.Fatalf("%s: what is %s?", s.where, verb)
	}
	s.equal(got, strings.Join(words, " "))
}

func (s *scenario) equal(got, want string) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("%s: got %s, want %s", s.where, got, want)
	}
}

func (s *scenario) shown(d Drive) string {
	by := func(p Part) string {
		if p.Driver == "" {
			return "nobody"
		}
		return p.Driver + " " + string(p.Source)
	}
	text := by(d.Part)
	for _, p := range d.Parts {
		if len(d.Parts) > 1 {
			text += fmt.Sprint(", ", by(p), " ", s.clock("15:04", p.From), "-", s.clock("15:04", p.To))
		}
	}
	return text
}

func (s *scenario) clock(layout string, at fleet.Millis) string {
	return at.Time().In(s.zone).Format(layout)
}

func span(d fleet.Millis) string {
	return fmt.Sprintf("%d:%02d", d/hour, d%hour/minute)
}

func (s *scenario) vehicle(word string) fleet.VehicleID {
	var id uint64
	if _, err := fmt.Sscan(word, &id); err != nil {
		s.t.Fatalf("%s: %q is no vehicle", s.where, word)
	}
	return fleet.VehicleID(id)
}

// time reads a time, with or without a date, and returns the words behind it.
func (s *scenario) time(words []string) (fleet.Millis, []string) {
	if len(words[0]) == len(time.DateOnly) {
		s.date, words = words[0], words[1:]
	}
	at, err := time.ParseInLocation("2006-01-02 15:04", s.date+" "+words[0], s.zone)
	if err != nil {
		s.t.Fatalf("%s: %v", s.where, err)
	}
	return fleet.MillisOf(at), words[1:]
}
