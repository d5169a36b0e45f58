package bi_test

import (
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// attempt is a line of testdata/attempts.txt.
type attempt struct {
	line   int
	expect string // refused, fails=<code>, own, own=<answer> or stopped
	params url.Values
	sql    string
}

func attempts(t *testing.T) []attempt {
	t.Helper()
	text, err := os.ReadFile("testdata/attempts.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []attempt
	for i, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		expect, sql, ok := strings.Cut(line, " ")
		a := attempt{line: i + 1, expect: expect, params: url.Values{}, sql: strings.TrimSpace(sql)}
		if rest, found := strings.CutPrefix(a.sql, "?"); found {
			query, sql, _ := strings.Cut(rest, " ")
			if a.params, err = url.ParseQuery(query); err != nil {
				t.Fatal(err)
			}
			a.sql = strings.TrimSpace(sql)
		}
		if !ok || a.sql == "" {
			t.Fatalf("line %d: %s", a.line, line)
		}
		all = append(all, a)
	}
	return all
}

var (
	marked = regexp.MustCompile(fmt.Sprintf(`%s|acc_%d|%d|root:|%s`, mark, other, markNumber/100, password))
	// ACCESS_DENIED, READONLY, SETTING_CONSTRAINT_VIOLATION, QUERY_IS_PROHIBITED
	rights = regexp.MustCompile(`Code: (497|164|452|392)\.`)
	limits = regexp.MustCompile(`Code: (128|131|158|159|160|241|306|307|396)\.`)
)

// A user for analysts reads no row of another account, writes nothing, and what runs away is stopped. Nothing that is
// answered, be it an error, has what the other account's rows are marked by.
func TestAttempts(t *testing.T) {
	s := open(t)
	all := attempts(t)
	if len(all) < 60 {
		t.Fatalf("%d attempts", len(all))
	}
	for _, a := range all {
		t.Run(fmt.Sprintf("%d", a.line), func(t *testing.T) {
			user := "bi_mine"
			if a.expect == "stopped" {
				t.Parallel()
				user = "bi_hasty"
			}
			began := time.Now()
			status, text := s.ask(t, user, a.params, a.sql)
			if found := marked.FindString(text); found != "" {
				t.Errorf("%s\nanswers %q: %.300s", a.sql, found, text)
			}
			failed := status != 200 || strings.Contains(text, "DB::Exception")
			want, answer, exact := strings.Cut(a.expect, "=")
			switch want {
			case "refused":
				if !failed || !rights.MatchString(text) {
					t.Errorf("%s\nis answered: %.300s", a.sql, text)
				}
			case "fails":
				if !failed || !strings.Contains(text, "Code: "+answer+".") {
					t.Errorf("%s\nis answered: %.300s", a.sql, text)
				}
			case "own":
				if failed || exact && strings.TrimSpace(text) != answer {
					t.Errorf("%s\nis answered %d: %.300s", a.sql, status, text)
				}
			case "stopped":
				if !failed || !limits.MatchString(text) {
					t.Errorf("%s\nis not stopped by a limit: %d %.300s", a.sql, status, text)
				}
				if took := time.Since(began); took > 30*time.Second {
					t.Errorf("%s\nwent on for %s", a.sql, took)
				}
			default:
				t.Errorf("line %d expects %q", a.line, a.expect)
			}
		})
	}
}
