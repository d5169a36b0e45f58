package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
)

// echo has commands that say their words, and one that says nothing.
func echo() (Commands, func(step func()) []string) {
	var said []string
	say := func(words []string) { said = append(said, words...) }
	return Commands{"say": say, "hush": func([]string) {}, "": func([]string) { say([]string{"else"}) }, "#": say}, func(step func()) []string {
		said = nil
		step()
		return said
	}
}

func TestWhatCameOfAStepStandsBelowIt(t *testing.T) {
	commands, tell := echo()
	s := &Story{T: t, Text: "# say\nsay a\n| an old answer\n\nhush\n| another\n  10:00 b\n"}
	want := "# say\nsay a\n| say\n| a\n\nhush\n  10:00 b\n| else\n"
	if got := s.Below("| ", commands, tell); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWhatCameOfAStepStandsBesideIt(t *testing.T) {
	commands, tell := echo()
	s := &Story{T: t, Text: "# say | is no answer\nsay a   | an old answer\n\nhush | another\nsay a longer one"}
	want := "# say | is no answer\nsay a    | say, a\n\nhush\nsay a longer one | say, a, longer, one"
	if got := s.Beside(8, commands, tell); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMomentsAreReadAsTheyAreWritten(t *testing.T) {
	s := &Story{T: t}
	for text, want := range map[string]string{
		"10:00": "10:00:00", "10:00:05": "10:00:05", "10:00:05.25": "10:00:05.25", "2026-11-21T10:00": "2026-11-21T10:00:00",
		"2026-11-20T10:00:00Z": "10:00:00", "2026-11-20T10:00:00+02:00": "08:00:00",
	} {
		if got := Clock(s.Moment(text)); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	if day := s.Moment("00:00").Time(); day.Weekday() != time.Friday || day.Format(time.DateOnly) != Date {
		t.Errorf("the day is %s", day)
	}
}

func TestWordsAreRead(t *testing.T) {
	s := &Story{T: t}
	if m := Members([]string{"fix", "a=1", "b=", "c=x=y"}); len(m) != 4 || m["a"] != "1" || m["c"] != "x=y" {
		t.Errorf("members %v", m)
	}
	if l := List("a,b"); strings.Join(l, " ") != "a b" || List("") != nil {
		t.Errorf("list %v", l)
	}
	if lat, lng := s.Place("30.5,-97"); lat != 30.5 || lng != -97 {
		t.Errorf("place %v %v", lat, lng)
	}
	if d := s.Span("1m30s"); d != fleet.Millis(90_000) {
		t.Errorf("span %d", d)
	}
}
