// Package scenario plays the stories in testdata, which tests read. A story is a text: each line of it is a step, with what came of
// it below or beside, and a comment begins with #. A test brings the commands that its stories are made of. What comes of them must
// be what the story says; with -update the story is written anew, and the difference is to be reviewed.
package scenario

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
)

var update = flag.Bool("update", false, "write what the code does into testdata; review the difference")

// Update says whether tests write anew what they compare with.
func Update() bool { return *update }

// Date is the day of times that name none, a Friday, in UTC.
const Date = "2026-11-20"

// A Play goes through a story and returns it with what comes of its steps now.
type Play func(s *Story) string

// Again is another way to play all stories, of which the same must come.
type Again struct {
	How  string
	Play Play
}

// Run plays every story of testdata.
func Run(t *testing.T, play Play, again ...Again) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text := string(content)
			got := play(&Story{T: t, Text: text, file: file})
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			compare(t, file, text, got)
			for _, a := range again {
				compare(t, file+", "+a.How, text, a.Play(&Story{T: t, Text: text, file: file}))
			}
		})
	}
}

// compare tells of the first line that is another.
func compare(t *testing.T, name, text, got string) {
	want, have := strings.Split(text, "\n"), strings.Split(got, "\n")
	for i := range max(len(want), len(have)) {
		if i >= len(want) || i >= len(have) || want[i] != have[i] {
			t.Errorf("%s:%d\n want %s\n got  %s", name, i+1, few(want, i), few(have, i))
			return
		}
	}
}

// few shows the lines from one on.
func few(lines []string, from int) string {
	return strings.Join(lines[min(from, len(lines)):min(from+3, len(lines))], "\n      ")
}

// Commands are what the steps of a story may be, by their first word. The command of no name does what no other does, such as
// steps that begin with a time, and that of # hears the comments.
type Commands map[string]func(words []string)

// Story is a story while it is played. Where it cannot be understood, the test fails and names the line.
type Story struct {
	T    *testing.T
	Text string
	file string
	line int // that is being played, from 1 on
}

// Below plays a story in which what came of a step stands in lines below it that begin with a mark. Each step is done by tell,
// which says what came of it.
func (s *Story) Below(mark string, commands Commands, tell func(step func()) []string) string {
	var lines []string
	for i, line := range strings.Split(s.Text, "\n") {
		if strings.HasPrefix(line, mark) {
			continue
		}
		s.line = i + 1
		lines = append(lines, line)
		for _, told := range s.step(line, commands, tell) {
			lines = append(lines, mark+told)
		}
	}
	return strings.Join(lines, "\n")
}

// Beside plays a story in which what came of a step stands on its line, behind as many characters and a bar. Each step is done
// by tell, which says what came of it.
func (s *Story) Beside(width int, commands Commands, tell func(step func()) []string) string {
	lines := strings.Split(s.Text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "#") {
			continue
		}
		step, _, _ := strings.Cut(line, "|")
		step = strings.TrimRight(step, " ")
		s.line, lines[i] = i+1, step
		if told := strings.Join(s.step(step, commands, tell), ", "); told != "" {
			lines[i] = fmt.Sprintf("%-*s | %s", width, step, told)
		}
	}
	return strings.Join(lines, "\n")
}

func (s *Story) step(line string, commands Commands, tell func(step func()) []string) []string {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil
	}
	if strings.HasPrefix(words[0], "#") {
		if hear := commands["#"]; hear != nil {
			hear(words)
		}
		return nil
	}
	do := commands[words[0]]
	if do == nil {
		do = commands[""]
	}
	if do == nil {
		s.Fail("nobody knows how to %q", words[0])
	}
	return tell(func() { do(words) })
}

// Fail ends the test at the line that is being played.
func (s *Story) Fail(format string, args ...any) {
	s.T.Helper()
	s.T.Fatalf("%s:%d: %s", s.file, s.line, fmt.Sprintf(format, args...))
}

// Number reads a number.
func (s *Story) Number(text string) float64 {
	s.T.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		s.Fail("%q is no number", text)
	}
	return v
}

// Span reads a length of time, as 5m.
func (s *Story) Span(text string) fleet.Millis {
	s.T.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		s.Fail("%q is no length of time", text)
	}
	return fleet.Millis(d.Milliseconds())
}

// Moment reads an instant: a time of Date, with a date before it or without, and its zone if it is not UTC.
func (s *Story) Moment(text string) fleet.Millis {
	s.T.Helper()
	dated := text
	if !strings.Contains(text, "T") {
		dated = Date + "T" + text
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err := time.Parse(layout, dated); err == nil {
			return fleet.MillisOf(at)
		}
	}
	s.Fail("%q is no time", text)
	return 0
}

// Clock writes an instant as Moment reads it.
func Clock(at fleet.Millis) string {
	return strings.TrimPrefix(at.Time().Format("2006-01-02T15:04:05.999"), Date+"T")
}

// Place reads a latitude and a longitude with a comma between.
func (s *Story) Place(text string) (lat, lng float64) {
	s.T.Helper()
	a, b, ok := strings.Cut(text, ",")
	if !ok {
		s.Fail("%q is no place", text)
	}
	return s.Number(a), s.Number(b)
}

// Members reads words of the form name=value; a name alone has no value.
func Members(words []string) map[string]string {
	members := make(map[string]string, len(words))
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		members[name] = value
	}
	return members
}

// List reads values with commas between.
func List(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
