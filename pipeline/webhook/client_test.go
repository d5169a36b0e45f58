//go:build client

package webhook

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

var tools = flag.String("tools", "", "folder with what client/ pins, and its scripts: node_modules and python/bin")

// What a receiver gets is taken by the libraries that receivers use, of npm and PyPI: standardwebhooks and svix; also
// while one secret takes the place of another.
func TestOtherLibrariesTakeOurSignatures(t *testing.T) {
	type message struct {
		Secret  string            `json:"secret"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	}
	var got []message
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		m := message{Headers: map[string]string{}, Body: base64.StdEncoding.EncodeToString(body)}
		for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
			m.Headers[name] = r.Header.Get(name)
		}
		got = append(got, m)
	}))
	defer server.Close()
	courier := Courier{Plain: true, Client: server.Client(),
		Open: func(_, sealed string) (string, error) { return sealed, nil }}
	old, next := NewSecret(SignatureShared), NewSecret(SignatureShared)
	for _, secrets := range [][]string{{old}, {next, old}} {
		e := &Endpoint{URL: server.URL, Timeout: 5 * time.Second}
		for _, secret := range secrets {
			e.Secrets = append(e.Secrets, Secret{ID: "whs_1", Sealed: secret})
		}
		for _, body := range []string{`{}`, `{"id":"evt_1","data":{"object":{"name":"Žofie <&> 漢字 \u2028"}}}`} {
			if a := courier.Try(t.Context(), e, "evt_1", []byte(body)); !a.Succeeded() {
				t.Fatal(a.Error)
			}
			last := got[len(got)-1]
			got = got[:len(got)-1]
			for _, secret := range secrets { // whoever knows either takes it
				last.Secret = secret
				got = append(got, last)
			}
		}
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "messages.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"node", "verify.mjs"}, {"python/bin/python", "verify.py"}} {
		if command[0] != "node" {
			command[0] = filepath.Join(*tools, command[0])
		}
		out, err := exec.Command(command[0], filepath.Join(*tools, command[1]), file).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", command[1], err, out)
		}
	}
	t.Logf("%d messages are taken by four libraries", len(got))
}
