package bi_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// dashboard is what the tests read of a dashboard of Grafana.
type dashboard struct {
	UID    string
	Title  string
	Panels []struct {
		ID          int
		Title       string
		Description string
		Targets     []struct{ RawSQL, Expr string }
	}
	Templating struct {
		List []struct{ Query string }
	}
}

// Every query of the dashboards is answered for a user of one account, with rows and without those of another. The
// metrics of the others are held against /metrics by a test of cmd/motorpool.
func TestEveryQueryOfTheDashboardsIsAnswered(t *testing.T) {
	s := open(t)
	files, err := filepath.Glob("../../deploy/dashboards/*.json")
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	now := time.Now()
	// What the plug-in of ClickHouse and Grafana put into a query.
	macros := strings.NewReplacer("$__fromTime", fmt.Sprintf("toDateTime(%d)", now.AddDate(0, 0, -30).Unix()),
		"$__toTime", fmt.Sprintf("toDateTime(%d)", now.AddDate(0, 0, 1).Unix()), "$currency", "USD")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var board dashboard
		if err := json.Unmarshal(text, &board); err != nil || board.UID == "" || len(board.Panels) < 5 {
			t.Fatalf("%s: %v, %d panels", file, err, len(board.Panels))
		}
		ask := func(what, sql string) {
			t.Helper()
			sql = macros.Replace(sql)
			if strings.Contains(sql, "$") {
				t.Errorf("%s: %s: something is not filled: %s", board.Title, what, sql)
			}
			status, answer := s.ask(t, "bi_mine", nil, sql)
			if status != 200 || strings.TrimSpace(answer) == "" || marked.MatchString(answer) {
				t.Errorf("%s: %s: %d %.300s\n%s", board.Title, what, status, answer, sql)
			}
		}
		for _, variable := range board.Templating.List {
			ask("a variable", variable.Query)
		}
		for _, p := range board.Panels {
			if p.Description == "" || len(p.Targets) == 0 {
				t.Errorf("%s: %s says or asks nothing", board.Title, p.Title)
			}
			for _, target := range p.Targets {
				if target.RawSQL != "" {
					ask(p.Title, target.RawSQL)
				} else if target.Expr == "" {
					t.Errorf("%s: %s asks nothing", board.Title, p.Title)
				}
			}
		}
	}
}
