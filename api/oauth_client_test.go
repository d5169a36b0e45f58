//go:build client

package api

import (
	"encoding/json"
	"flag"
	"os/exec"
	"path/filepath"
	"testing"
)

var tools = flag.String("tools", "", "folder with what oauth/client pins, and its scripts: node_modules and python/bin")

// The libraries that programs use get tokens and use them: oauth4webapi, openid-client and Authlib.
func TestOtherLibrariesGetTokens(t *testing.T) {
	b := newVisitor(t)
	itself, app := b.oauthClient(forItself), b.oauthClient(byConsent)
	told, err := json.Marshal(map[string]any{"url": b.url, "public": map[string]string{"id": app.id},
		"confidential": map[string]string{"id": itself.id, "secret": itself.secret}})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"node", "verify.mjs"}, {"python/bin/python", "verify.py"}} {
		if command[0] != "node" {
			command[0] = filepath.Join(*tools, command[0])
		}
		run := exec.CommandContext(t.Context(), command[0], command[1], string(told))
		run.Dir = *tools
		out, err := run.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Errorf("%s: %v", command[1], err)
		}
	}
}
