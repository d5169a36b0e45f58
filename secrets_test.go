package fleet_test

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// secretShapes are what credentials look like that somebody may have left in a file: those of ours, and those of others
// that are known by their shape.
var secretShapes = []struct {
	what, has string // has is in every text of the shape, and quickly looked for
	shape     *regexp.Regexp
}{
	{"an API key of ours", "mp_live_", regexp.MustCompile(`mp_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}`)},
	{"a private key", "PRIVATE KEY", regexp.MustCompile(`-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----\s+[A-Za-z0-9+/]{32}`)},
	{"a webhook secret", "whsec_", regexp.MustCompile(`whsec_[A-Za-z0-9+/]{32,}`)},
	{"a webhook's private key", "whsk_", regexp.MustCompile(`whsk_[A-Za-z0-9+/]{32,}`)},
	{"a key of AWS", "AKIA", regexp.MustCompile(`AKIA[A-Z2-7]{16}`)},
	{"a passing key of AWS", "ASIA", regexp.MustCompile(`ASIA[A-Z2-7]{16}`)},
	{"a key of Google", "AIza", regexp.MustCompile(`AIza[0-9A-Za-z_-]{35}`)},
	{"a token of GitHub", "gh", regexp.MustCompile(`gh[pousr]_[0-9A-Za-z]{36}`)},
	{"a fine-grained token of GitHub", "github_pat_", regexp.MustCompile(`github_pat_[0-9A-Za-z_]{80,}`)},
	{"a token of GitLab", "glpat-", regexp.MustCompile(`glpat-[0-9A-Za-z_-]{20,}`)},
	{"a token of Slack", "xox", regexp.MustCompile(`xox[abeprs]-[0-9A-Za-z-]{20,}`)},
	{"an address of Slack", "hooks.slack.com", regexp.MustCompile(`hooks\.slack\.com/services/T\w+/B\w+/\w{20,}`)},
	{"a key of Stripe", "_live_", regexp.MustCompile(`[sr]k_live_[0-9A-Za-z]{20,}`)},
	{"a token of npm", "npm_", regexp.MustCompile(`npm_[0-9A-Za-z]{36}`)},
	{"a token of PyPI", "pypi-AgEI", regexp.MustCompile(`pypi-AgEI[0-9A-Za-z_-]{50,}`)},
	{"a key of SendGrid", "SG.", regexp.MustCompile(`SG\.[0-9A-Za-z_-]{22}\.[0-9A-Za-z_-]{43}`)},
	{"a JSON Web Token", ".eyJ", regexp.MustCompile(`eyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{20,}`)},
	{"a password in an address", "://", regexp.MustCompile(`://[^\s/:@"'<>$%{}]+:[^\s/:@"'<>$%{}]{8,}@[a-z0-9.-]+\.[a-z]{2,}`)},
	{"a key of a firm with models", "sk-", regexp.MustCompile(`\bsk-(?:ant-|proj-)?[0-9A-Za-z_-]{40,}`)},
}

// notSecret are the files in which something of such a shape is made up, and why it opens nothing.
var notSecret = map[string]string{
	"api/auth/auth_test.go":          "zeros",
	"cmd/motorpool/listento_test.go": "the example of the standard, which everybody knows",
	"pipeline/webhook/sign_test.go":  "the same",
}

// TestNoFileHoldsASecret looks through every file that is kept, as somebody would who finds a copy of it.
func TestNoFileHoldsASecret(t *testing.T) {
	list, err := exec.CommandContext(t.Context(), "git", "ls-files", "-z").Output()
	if err != nil {
		t.Fatalf("list the files that are kept: %v", err)
	}
	files := strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00")
	if len(files) < 500 {
		t.Fatalf("there are only %d files", len(files))
	}
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			continue // it is being removed
		}
		if err != nil {
			t.Fatal(err)
		}
		if bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 {
			continue // no text
		}
		for _, s := range secretShapes {
			if !bytes.Contains(text, []byte(s.has)) {
				continue
			}
			if at := s.shape.FindIndex(text); at != nil {
				found[file] = true
				if notSecret[file] == "" {
					// Not the text itself: this may be read by more than the file is.
					t.Errorf("%s:%d has %s: take it out, have it revoked where it opens something, and change what was kept",
						file, 1+bytes.Count(text[:at[0]], []byte("\n")), s.what)
				}
			}
		}
	}
	for file := range notSecret {
		if !found[file] {
			t.Errorf("%s has nothing of the shape of a secret any more; strike it from the list", file)
		}
	}
}
