package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"strings"
	"testing"
)

// site is a browser at the pages of a machine.
type site struct {
	*machine
	client *http.Client
}

func (m *machine) site() *site {
	jar, err := cookiejar.New(nil)
	if err != nil {
		m.t.Fatal(err)
	}
	return &site{m, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}}
}

// form sends a form to a page, or asks for it if there are no fields, and returns the status and what was answered.
func (s *site) form(path string, fields ...string) (int, string) {
	s.t.Helper()
	method, values := http.MethodGet, url.Values{}
	for i := 0; i < len(fields); i += 2 {
		method = http.MethodPost
		values.Set(fields[i], fields[i+1])
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, strings.NewReader(values.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	answer, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// accept chooses a password by a link of the command line.
func (s *site) accept(link, password string) int {
	s.t.Helper()
	at, err := url.Parse(strings.TrimSpace(link))
	if err != nil || at.Scheme+"://"+at.Host != s.base || at.Path != "/signin/invitation" {
		s.t.Fatalf("the link is %q, %v", link, err)
	}
	status, _ := s.form("/signin/invitation", "token", at.Query().Get("token"), "password", password, "again", password)
	return status
}

func (s *site) signIn(email, password string) int {
	s.t.Helper()
	status, _ := s.form("/signin", "email", email, "password", password)
	return status
}

func TestPeopleAreMadeAndHelpedByTheCommandLine(t *testing.T) {
	m := newMachine(t)
	m.up()
	const first, second = "a horse in the rain", "a train in the sun"
	s := m.site()
	link := m.must("user", "create", "--account", "Acme", "--email", "Ann@example.com", "--name", "Ann Lee", "--server",
		m.base)
	if s.accept(link, first) != 303 || s.accept(link, first) != 404 {
		t.Error("the link is not good once")
	}
	var made struct{ ID, Account, Link string }
	text := m.must("user", "create", "--account", "Acme", "--email", "bob@example.com", "--role", "clerk", "--json")
	text = strings.NewReplacer("account_id", "account", "invitation_url", "link").Replace(text)
	if err := json.Unmarshal([]byte(text), &made); err != nil || !strings.HasPrefix(made.ID, "usr_") ||
		!strings.HasPrefix(made.Account, "acc_") || !strings.HasPrefix(made.Link, "http://127.0.0.1:8080/signin/") {
		t.Errorf("told %s, %v", text, err)
	}
	for _, c := range []struct {
		says string
		args []string
	}{
		{"'motorpool user reset'", []string{"create", "--account", "Acme", "--email", "ANN@example.com"}},
		{"--email is not an address", []string{"create", "--account", "Acme", "--email", "ann"}},
		{"--role must be one of", []string{"create", "--account", "Acme", "--email", "c@example.com", "--role", "king"}},
		{"is not the address of a server", []string{"create", "--account", "A", "--email", "c@example.com", "--server", "x"}},
		{"nobody has the address", []string{"reset", "eve@example.com"}},
		{"king", []string{"role", "ann@example.com", "king"}},
	} {
		if out, errs, code := m.command(append([]string{"user"}, c.args...)...); code == 0 || out != "" ||
			!strings.Contains(errs, c.says) {
			t.Errorf("user %q: %d, %s%s", c.args, code, out, errs)
		}
	}

	if help, _, _ := m.command("user", "reset", "--help"); !strings.Contains(help, "passkey") {
		t.Errorf("the help says nothing of passkeys, which stay:\n%s", help)
	}

	// Another role holds at once for who is invited, and within seconds for who is signed in.
	m.must("user", "role", "ann@example.com", "driver")
	m.eventually("the role is another", func() error {
		if _, page := s.form("/signin"); !strings.Contains(page, "driver") {
			return io.EOF
		}
		return nil
	})
	m.must("user", "role", "bob@example.com", "owner")
	lines := m.must("user", "list", "--account", "Acme")
	for _, want := range []string{"Ann@example.com", "driver", "bob@example.com", "owner"} {
		if !strings.Contains(lines, want) {
			t.Errorf("the list lacks %s:\n%s", want, lines)
		}
	}
	var listed []struct{ ID, Email, Role string }
	if err := json.Unmarshal([]byte(m.must("user", "list", "--account", "Acme", "--json")), &listed); err != nil ||
		len(listed) != 2 {
		t.Errorf("listed %v, %v", listed, err)
	}
	made.Link = m.base + strings.TrimPrefix(made.Link, "http://127.0.0.1:8080")
	if m.site().accept(made.Link, first) != 404 {
		t.Error("an invitation to a clerk makes an owner")
	}

	// Who is reset signs in with the old password no more, and with the new one.
	link = m.must("user", "reset", "ann@example.com", "--factors", "--server", m.base)
	if m.site().signIn("ann@example.com", first) != 401 || m.site().accept(link, second) != 303 ||
		m.site().signIn("ann@example.com", second) != 303 {
		t.Error("a reset does not make another password the one that counts")
	}
	given := func(password string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), m.path, args...)
		cmd.Env, cmd.Stdin = m.env, strings.NewReader(password)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := given("short\n", "user", "reset", "ann@example.com", "--password-stdin"); err == nil ||
		!strings.Contains(out, "the password needs at least 12 characters") {
		t.Errorf("a short password: %s, %v", out, err)
	}
	if out, err := given(first+"\n", "user", "reset", "ann@example.com", "--password-stdin"); err != nil ||
		strings.Contains(out, first) || m.site().signIn("ann@example.com", first) != 303 {
		t.Errorf("a password that was read: %s, %v", out, err)
	}
	m.must("user", "remove", "ann@example.com")
	if m.site().signIn("ann@example.com", first) != 401 {
		t.Error("who was removed signs in")
	}
	m.must("user", "create", "--account", "Acme", "--email", "ann@example.com") // the address is free again
	for _, secret := range []string{first, second, strings.SplitN(link, "token=", 2)[1]} {
		if strings.Contains(m.said(), strings.TrimSpace(secret)) {
			t.Error("a secret is logged")
		}
	}
	for command, teaches := range map[string]string{"": "list", "create": "--password-stdin", "reset": "--factors",
		"role": "motorpool user role bob@example.com manager", "remove": "their sessions end", "list": "--account"} {
		help := m.must(strings.Fields("user " + command + " --help")...)
		if !strings.Contains(help, teaches) {
			t.Errorf("user %s --help does not speak of %s:\n%s", command, teaches, help)
		}
	}
}
