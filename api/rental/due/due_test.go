package due

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/record"
)

var update = flag.Bool("update", false, "rewrite what the scenarios expect")

// TestScenarios plays testdata/*.txt: a schedule, what the meters said on some days, and beneath each step
// what came of it.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(text))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(text) {
				t.Errorf("got\n%s\nwant\n%s", got, text)
			}
		})
	}
}

// scene is a scenario being played.
type scene struct {
	t        *testing.T
	schedule record.MaintenanceScheduleFields
	zone     *time.Location
	anchor   Anchor
	rem      *record.Reminder
	out      strings.Builder
}

func play(t *testing.T, text string) string {
	s := &scene{t: t, zone: time.UTC}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "   ") {
			continue
		}
		s.out.WriteString(line)
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		s.step(verb, rest)
	}
	return s.out.String()
}

func (s *scene) step(verb, rest string) {
	switch verb {
	case "", "#":
	case "schedule":
		*s = scene{t: s.t, zone: s.zone, out: s.out}
	case "every":
		q := s.quantities(rest)
		s.schedule.EveryMi, s.schedule.EveryDays, s.schedule.EveryMonths, s.schedule.EveryHours =
			whole(q["mi"]), whole(q["days"]), whole(q["months"]), whole(q["h"])
	case "soon":
		q := s.quantities(rest)
		s.schedule.DueSoonMi, s.schedule.DueSoonDays, s.schedule.DueSoonHours =
			whole(q["mi"]), whole(q["days"]), whole(q["h"])
	case "fixed":
		s.schedule.FixedDueOn = rest
	case "repeat":
		s.schedule.Repeat = rest
	case "offsets":
		for _, word := range strings.Fields(rest) {
			n, err := strconv.Atoi(word)
			if err != nil {
				s.t.Fatal(err)
			}
			s.schedule.OffsetsDays = append(s.schedule.OffsetsDays, n)
		}
	case "zone":
		var err error
		if s.zone, err = time.LoadLocation(rest); err != nil {
			s.t.Fatal(err)
		}
	case "anchor":
		today, _, m := s.moment(rest)
		s.anchor = Anchor{On: today, Mi: m.Mi, Hours: m.Hours}
	case "look":
		s.look(rest)
	case "snooze":
		at, err := time.Parse(time.RFC3339, rest)
		if err != nil {
			s.t.Fatal(err)
		}
		s.rem.SnoozedUntil = record.InstantOf(at)
	case "done":
		today, now, m := s.moment(rest)
		done := Anchor{On: today, Mi: m.Mi, Hours: m.Hours}
		rule := s.rule()
		if rule.Once() {
			fmt.Fprintf(&s.out, "    that was all\n")
			return
		}
		next := rule.Begin(s.rem.Cycle+1, rule.Next(s.rem.Cycle, AnchorOf(s.rem.Anchor), done), m, now)
		s.rem = &next
		s.show(nil)
	default:
		s.t.Fatalf("unknown step %q", verb)
	}
}

func (s *scene) rule() Rule { return RuleOf(&s.schedule, &record.ServiceTask{}) }

func (s *scene) look(rest string) {
	_, now, m := s.moment(rest)
	rule := s.rule()
	if s.rem == nil {
		made := rule.Begin(1, s.anchor, m, now)
		s.rem = &made
		s.show(News(nil, s.rem))
		return
	}
	news := rule.Judge(s.rem, m, now)
	if again := rule.Judge(s.rem, m, now); again != nil {
		s.t.Errorf("%s told twice", again)
	}
	s.show(news)
}

// show writes what has come of a step.
func (s *scene) show(news []string) {
	r := s.rem
	var points []string
	if r.DueOn != "" {
		points = append(points, "on "+r.DueOn)
	}
	if r.DueMi != nil {
		points = append(points, fmt.Sprintf("at %g mi", *r.DueMi))
	}
	if r.DueHours != nil {
		points = append(points, fmt.Sprintf("at %g h", *r.DueHours))
	}
	fmt.Fprintf(&s.out, "    cycle %d is %s; due %s", r.Cycle, r.Stage, strings.Join(points, " or "))
	if r.ForecastDueOn != "" && r.ForecastDueOn != r.DueOn {
		fmt.Fprintf(&s.out, "; forecast %s", r.ForecastDueOn)
	}
	if news != nil {
		fmt.Fprintf(&s.out, "; told: %s", strings.Join(news, ", "))
	}
	s.out.WriteString("\n")
}

// moment reads "2026-01-10 12000 mi, 40 mi/day"; an instant instead of the date is a local day of the zone.
func (s *scene) moment(text string) (Day, Now, Meters) {
	word, rest, _ := strings.Cut(text, " ")
	at, err := time.Parse(time.RFC3339, word)
	if err != nil {
		if at, err = time.ParseInLocation("2006-01-02", word, s.zone); err != nil {
			s.t.Fatal(err)
		}
		at = at.Add(12 * time.Hour)
	}
	today := DayOf(at, s.zone)
	q := s.quantities(rest)
	m := Meters{Mi: q["mi"], Hours: q["h"], MiOn: today, HoursOn: today}
	if v := q["mi/day"]; v != nil {
		m.MiPerDay = *v
	}
	if v := q["h/day"]; v != nil {
		m.HoursPerDay = *v
	}
	return today, Now{at, s.zone}, m
}

// quantities reads "5000 mi, 180 days".
func (s *scene) quantities(text string) map[string]*float64 {
	all := map[string]*float64{}
	for part := range strings.SplitSeq(text, ",") {
		words := strings.Fields(part)
		if len(words) != 2 {
			continue
		}
		v, err := strconv.ParseFloat(words[0], 64)
		if err != nil {
			s.t.Fatal(err)
		}
		all[words[1]] = &v
	}
	return all
}

func whole(v *float64) *int {
	if v == nil {
		return nil
	}
	n := int(*v)
	return &n
}

// While nothing is done, days pass and meters run, a stage only ever goes forward, whatever the schedule.
func TestStagesOnlyGoForward(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	seen := map[string]int{}
	for range 3000 {
		rule := anyRule(random)
		today, mi, hours := Day(20000), random.Float64()*1e5, random.Float64()*1e4
		m := Meters{Mi: &mi, MiOn: today, Hours: &hours, HoursOn: today}
		rem := rule.Begin(1, Anchor{}, m, noon(today))
		told := News(nil, &rem)
		was := slices.Index(Stages, rem.Stage)
		for range 40 {
			today += Day(random.IntN(30))
			mi, hours = mi+random.Float64()*1500, hours+random.Float64()*80
			m.MiOn, m.HoursOn, m.MiPerDay, m.HoursPerDay = today, today, random.Float64()*60, random.Float64()*4
			told = append(told, rule.Judge(&rem, m, noon(today))...)
			is := slices.Index(Stages, rem.Stage)
			if is < was {
				t.Fatalf("%+v went back from %s to %s", rule, Stages[was], Stages[is])
			}
			was = is
		}
		seen[rem.Stage]++
		slices.Sort(told)
		if len(slices.Compact(slices.Clone(told))) != len(told) {
			t.Fatalf("told twice: %v", told)
		}
	}
	if seen[Overdue] == 0 || seen[Upcoming] == 0 {
		t.Errorf("the cases do not reach far: %v", seen)
	}
}

// A stage is the furthest of what each condition alone would give: what comes first holds.
func TestWhateverComesFirst(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		rule := anyRule(random)
		mi, hours := random.Float64()*8000, random.Float64()*600
		today := Day(20000)
		zero := 0.0
		p := rule.Point(1, Anchor{On: today - Day(random.IntN(500)), Mi: &zero, Hours: &zero})
		m := Meters{Mi: &mi, Hours: &hours, MiOn: today, HoursOn: today, MiPerDay: random.Float64() * 50,
			HoursPerDay: random.Float64()}
		furthest, first := 0, Day(0)
		for _, alone := range []Point{{On: p.On}, {Mi: p.Mi}, {Hours: p.Hours}} {
			furthest = max(furthest, slices.Index(Stages, rule.Stage(alone, m, today)))
			first = earliest(first, rule.Forecast(alone, m, today))
		}
		if got := rule.Stage(p, m, today); got != Stages[furthest] {
			t.Fatalf("%+v is %s, the furthest is %s", rule, got, Stages[furthest])
		}
		if got := rule.Forecast(p, m, today); got != first {
			t.Fatalf("%+v is forecast for %s, the first is %s", rule, got, first)
		}
	}
}

// Who drives more, or has driven further, is due no later.
func TestForecastIsMonotone(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	later := func(a, b Day) bool { return b != 0 && (a == 0 || a > b) }
	for range 20000 {
		rule := anyRule(random)
		today := Day(20000)
		zero, mi := 0.0, random.Float64()*6000
		p := rule.Point(1, Anchor{On: today, Mi: &zero})
		m := Meters{Mi: &mi, MiOn: today - Day(random.IntN(20)), MiPerDay: random.Float64() * 50}
		base := rule.Forecast(p, m, today)
		faster, further := m, m
		faster.MiPerDay += random.Float64() * 50
		more := mi + random.Float64()*1000
		further.Mi = &more
		for _, o := range []Meters{faster, further} {
			if got := rule.Forecast(p, o, today); later(got, base) {
				t.Fatalf("%+v: %s for %+v, %s for %+v", rule, base, m, got, o)
			}
		}
	}
}

// Nothing needs to be looked at before the day and the readings that Watch names: until then a look changes no stage
// and tells nothing.
func TestNothingHappensBeforeTheWatch(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 3000 {
		rule := anyRule(random)
		today, mi, hours := Day(20000), 1000.0, 100.0
		m := Meters{Mi: &mi, MiOn: today, Hours: &hours, HoursOn: today}
		rem := rule.Begin(1, Anchor{}, m, noon(today))
		for range 30 {
			today += Day(random.IntN(20))
			mi, hours = mi+random.Float64()*800, hours+random.Float64()*40
			m.MiOn, m.HoursOn = today, today
			woken := !rem.WatchAt.IsZero() && !noon(today).At.Before(rem.WatchAt.Time) ||
				rem.WatchMi != nil && mi >= *rem.WatchMi || rem.WatchHours != nil && hours >= *rem.WatchHours
			stage := rem.Stage
			news := rule.Judge(&rem, m, noon(today))
			if !woken && (rem.Stage != stage || news != nil) {
				t.Fatalf("%+v: %s became %s and told %v unasked", rule, stage, rem.Stage, news)
			}
		}
	}
}

// The days of a fixed schedule are where they would be had each been done in time.
func TestAFixedScheduleKeepsItsDays(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 3000 {
		rule := Rule{Days: 1 + random.IntN(400), FixedOn: 20000, Fixed: true}
		a, today := Anchor{}.Completed(19000, Meters{}), Day(19900)
		for cycle := 1; cycle < 10; cycle++ {
			p := rule.Point(cycle, a)
			if int(p.On-20000)%rule.Days != 0 {
				t.Fatalf("every %d days: cycle %d is due on day %d", rule.Days, cycle, p.On)
			}
			if cycle > 1 && p.On <= today {
				t.Fatalf("every %d days: done on %d, due again on %d", rule.Days, today, p.On)
			}
			today = max(today, p.On-Day(random.IntN(20))) + Day(random.IntN(600))
			a = rule.Next(cycle, a, Anchor{On: today})
		}
	}
}

func anyRule(random *rand.Rand) Rule {
	n := func(most int) *int {
		if random.IntN(3) == 0 {
			return nil
		}
		v := 1 + random.IntN(most)
		return &v
	}
	s := record.MaintenanceScheduleFields{EveryMi: n(8000), EveryDays: n(500), EveryHours: n(400), DueSoonMi: n(900),
		DueSoonDays: n(30), DueSoonHours: n(40),
		OffsetsDays: []int{30, 7, 1}, EveryMonths: n(24)}
	if random.IntN(4) == 0 {
		s.FixedDueOn = Day(20000 + random.IntN(300)).String()
	}
	return RuleOf(&s, &record.ServiceTask{})
}

func noon(d Day) Now { return Now{d.Start(time.UTC).Add(12 * time.Hour), time.UTC} }
