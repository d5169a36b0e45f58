package api

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/pipeline/webhook"
)

// runtimes say how the samples of docs/webhooks.md are run, by the words behind their fences.
var runtimes = map[string][]string{"go": {"go", "run", "sample.go"}, "ts": {"node", "sample.mjs"},
	"python": {"python3", "sample.py"}, "bash": {"bash", "sample.sh"}}

// The samples of the guide take what is signed with the secret, also beside another's signature, and nothing else.
func TestTheSamplesOfTheGuideVerify(t *testing.T) {
	guide, err := os.ReadFile("../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	const id, body = "evt_1234", "{\"type\":\"booking.created\",\"data\":{\"note\":\"Grüße \\\\ % '\"}}"
	secret, other := webhook.NewSecret(webhook.SignatureShared), webhook.NewSecret(webhook.SignatureShared)
	sign := func(at time.Time, secrets ...string) string {
		signature, err := webhook.Sign(secrets, id, at, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return signature
	}
	now := time.Now()
	found := 0
	blocks := regexp.MustCompile("(?s)```(go|ts|python|bash)\n(.*?)```")
	for _, block := range blocks.FindAllStringSubmatch(string(guide), -1) {
		found++
		t.Run(block[1], func(t *testing.T) {
			t.Parallel()
			command, folder := runtimes[block[1]], t.TempDir()
			file := command[len(command)-1]
			if err := os.WriteFile(filepath.Join(folder, file), []byte(block[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			if block[1] == "go" { // built once
				build := exec.CommandContext(t.Context(), "go", "build", "-o", "sample", file)
				build.Dir = folder
				if out, err := build.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				command = []string{filepath.Join(folder, "sample")}
			}
			run := func(at time.Time, signature, body string) string {
				c := exec.CommandContext(t.Context(), command[0], command[1:]...)
				c.Dir, c.Stdin = folder, strings.NewReader(body)
				c.Env = append(os.Environ(), "SECRET="+secret, "WEBHOOK_ID="+id, "WEBHOOK_SIGNATURE="+signature,
					"WEBHOOK_TIMESTAMP="+strconv.FormatInt(at.Unix(), 10))
				out, err := c.CombinedOutput()
				if err != nil {
					return "refused: " + string(out)
				}
				return ""
			}
			for what, refused := range map[string]string{
				"one of two signatures": run(now, sign(now, other, secret), body),
				"its signature":         run(now, sign(now, secret), body),
			} {
				if refused != "" {
					t.Errorf("%s: %s", what, refused)
				}
			}
			if run(now, sign(now, other), body) == "" || run(now, sign(now, secret), body+" ") == "" {
				t.Error("a message that is not ours is taken")
			}
			// By hand nobody looks at the clock.
			if old := now.Add(-time.Hour); block[1] != "bash" && run(old, sign(old, secret), body) == "" {
				t.Error("an old message is taken")
			}
		})
	}
	if found != len(runtimes) {
		t.Errorf("%d samples", found)
	}
}
