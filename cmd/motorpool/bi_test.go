package main

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A user for analysts comes in after the next start, reads their account alone, and is refused at once when their
// password was changed or they were removed.
func TestAUserForAnalystsComesAndGoes(t *testing.T) {
	m := newMachine(t)
	gate := freeAddr(t)
	m.up("--bi-http", gate)
	m.must("account", "create", "Acme")
	m.must("account", "create", "Other")
	password := strings.TrimSpace(m.must("bi", "user", "create", "--account", "Acme"))
	m.must("bi", "user", "create", "--account", "Other", "--name", "others")
	if _, stderr, code := m.command("bi", "user", "create", "--account", "Acme"); code != exitFailure ||
		!strings.Contains(stderr, "rotate") {
		t.Errorf("a second user of one name: %d %s", code, stderr)
	}
	m.hasTheMetricsOfTheDashboards()
	m.interrupt()
	m.up("--bi-http", gate)
	if said := m.said(); !strings.Contains(said, gate+", for bi_acme, bi_others") || strings.Contains(said, password) {
		t.Errorf("the start screen says %s", said)
	}
	ask := func(password, sql string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+gate+"/", strings.NewReader(sql))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-ClickHouse-User", "bi_acme")
		req.Header.Set("X-ClickHouse-Key", password)
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, strings.TrimSpace(string(text))
	}
	const own = "SELECT count() > 40, uniqExact(account_id) FROM bi.ledger_accounts"
	if status, text := ask(password, own); status != 200 || text != "1\t1" {
		t.Errorf("the user is answered %d %s", status, text)
	}
	if status, text := ask(password, "SELECT file('"+m.data+"/clickhouse-password')"); status != 403 {
		t.Errorf("a file is read: %d %s", status, text)
	}
	if out := m.must("doctor"); !strings.Contains(out, "23 views, 2 users") {
		t.Errorf("the doctor says\n%s", out)
	}
	rotated := strings.TrimSpace(m.must("bi", "user", "rotate", "acme"))
	if status, _ := ask(password, own); status != http.StatusUnauthorized {
		t.Errorf("the old password still opens: %d", status)
	}
	if status, text := ask(rotated, own); status != 200 {
		t.Errorf("the new password does not open: %d %s", status, text)
	}
	out := m.must("bi", "user", "list", "--account", "Acme", "--json")
	if !strings.Contains(out, `"bi_acme"`) || strings.Contains(out, "bi_others") || strings.Contains(out, "sha256") {
		t.Errorf("the list is %s", out)
	}
	m.must("bi", "user", "remove", "bi_acme")
	if status, _ := ask(rotated, own); status != http.StatusUnauthorized {
		t.Errorf("a removed user comes in: %d", status)
	}
	if out := m.must("bi", "user", "list"); strings.Contains(out, "bi_acme") || !strings.Contains(out, "bi_others") {
		t.Errorf("the list is %s", out)
	}
	if _, stderr, code := m.command("bi", "user", "rotate", "acme"); code != exitFailure ||
		!strings.Contains(stderr, "list") {
		t.Errorf("a user who is gone is given a password: %d %s", code, stderr)
	}
	m.interrupt()
}

// hasTheMetricsOfTheDashboards looks for each metric that a dashboard of Grafana asks for among those that are told.
func (m *machine) hasTheMetricsOfTheDashboards() {
	m.t.Helper()
	board, err := os.ReadFile("../../deploy/dashboards/ingest.json")
	if err != nil {
		m.t.Fatal(err)
	}
	status, told, err := get(m.ops+"/metrics", "")
	if err != nil || status != http.StatusOK {
		m.t.Fatal(status, err)
	}
	names := regexp.MustCompile(`motorpool_[a-z_]+[a-z]`).FindAllString(string(board), -1)
	if len(names) < 12 {
		m.t.Errorf("the dashboard asks for %q", names)
	}
	for _, name := range names {
		if !regexp.MustCompile(`(?m)^` + name + `[ {]`).Match(told) {
			m.t.Errorf("/metrics has no %s", name)
		}
	}
}
