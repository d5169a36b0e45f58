package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/motorpool/fleet/api/seal"
)

func TestTheKeyOfTheDataFolderIsMadeOnceAndForItsOwnerOnly(t *testing.T) {
	s := settings{Data: t.TempDir()}
	if keys, err := s.sealKeys(); err != nil || !keys.Empty() {
		t.Fatal("keys of nowhere", err)
	}
	var texts []string
	for range 2 {
		if err := s.makeSealKey(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(s.Data, sealKeyFile))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	about, err := os.Stat(filepath.Join(s.Data, sealKeyFile))
	if err != nil || about.Mode().Perm() != 0o600 || texts[0] != texts[1] {
		t.Errorf("%v, %v, made twice: %v", err, about.Mode(), texts[0] != texts[1])
	}
	kept, err := s.sealKeys()
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := kept.Seal("a", "word")
	if err != nil {
		t.Fatal(err)
	}

	// One that is named takes its place; the old one behind it opens what it sealed.
	next := seal.NewKey()
	s.SealKey = next + "," + texts[0]
	both, err := s.sealKeys()
	if err != nil {
		t.Fatal(err)
	}
	if word, err := both.Open("a", sealed); word != "word" || err != nil || !both.Stale(sealed) {
		t.Errorf("%q, %v", word, err)
	}
	file := filepath.Join(t.TempDir(), "keys")
	for text, good := range map[string]bool{next + "\n": true, "": false, "# none\n": false, "short": false} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := (&settings{SealKeyFile: file}).sealKeys(); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := (&settings{SealKeyFile: file + "none"}).sealKeys(); err == nil {
		t.Error("a file that is not there is taken")
	}
	elsewhere := settings{Data: t.TempDir(), SealKey: next}
	if err := elsewhere.makeSealKey(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(elsewhere.Data, sealKeyFile)); err == nil {
		t.Error("a key is made although one is named")
	}
}

// sealing are the places that seal something, and how it is sealed again when the operator has another key. Who adds
// one has 'motorpool seal rotate' know it, and the test below make one.
var sealing = map[string]string{
	"api/hook/create.go newSecret":         "hook.SealAgain",
	"api/hook/hook.go sealHeaders":         "hook.SealAgain",
	"api/hook/seal.go SealAgain":           "by itself",
	"api/oauth/authorize.go askForConsent": "lives for minutes",
	"api/oauth/keyring.go make":            "oauth.SealAgain",
	"api/oauth/keyring.go SealAgain":       "by itself",
	"api/user/factor.go beginTOTP":         "user.SealAgain",
	"api/user/seal.go SealAgain":           "by itself",
	"api/user/device.go remember":          "stays with browsers, and is made anew at the next sign-in",
}

func TestWhateverIsSealedIsKnownToItsRotation(t *testing.T) {
	found := map[string]bool{}
	for _, folder := range []string{"api", "pipeline", "query", "cmd", "schemas"} {
		root := filepath.Join("..", "..", folder)
		if err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.HasSuffix(path, "api/seal/seal.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, decl := range file.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok {
					continue
				}
				ast.Inspect(fn, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok {
						if to, ok := call.Fun.(*ast.SelectorExpr); ok && to.Sel.Name == "Seal" && len(call.Args) == 2 {
							found[strings.TrimPrefix(filepath.ToSlash(path), "../../")+" "+fn.Name.Name] = true
						}
					}
					return true
				})
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(sealing))
	if !slices.Equal(got, want) {
		t.Errorf("secrets are sealed in\n%s\nand known to their rotation are\n%s", strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
}

func TestAfterARotationTheOldKeyIsNeededForNothing(t *testing.T) {
	m := newMachine(t)
	m.up()
	const password = "a horse in the rain"
	file := filepath.Join(m.data, sealKeyFile)
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	key := strings.TrimSpace(m.must("key", "create", "--account", "Acme", "--scopes", "admin"))
	post := func(path, body string, into any) {
		t.Helper()
		status, answer, err := send(http.MethodPost, m.base+path, key, body)
		if err != nil || status/100 != 2 || json.Unmarshal(answer, into) != nil {
			t.Fatalf("POST %s: %d %v %s", path, status, err, answer)
		}
	}
	var endpoint struct{ ID, Secret string }
	post("/v1/webhook_endpoints", `{"url":"https://example.com/a","headers":{"X-Key":"hush"}}`, &endpoint)
	if status, answer, err := get(m.base+"/oauth/jwks", ""); err != nil || status != 200 {
		t.Fatalf("the signing keys: %d %v %s", status, err, answer)
	}
	s := m.site()
	s.accept(m.must("user", "create", "--account", "Acme", "--email", "ann@example.com", "--server", m.base), password)
	_, page := s.form("/signin/security/begin", "password", password)
	secret := regexp.MustCompile(`[A-Z2-7]{32}`).FindString(page)
	code := func(at time.Time) string {
		text, err := totp.GenerateCode(secret, at)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if status, page := s.form("/signin/security/confirm", "code", code(time.Now().Add(-30*time.Second))); status != 200 {
		t.Fatalf("an app: %d %s", status, page)
	}
	waiting := m.site() // whose secret waits for its first code
	waiting.accept(m.must("user", "create", "--account", "Acme", "--email", "bob@example.com", "--server", m.base),
		password)
	_, page = waiting.form("/signin/security/begin", "password", password)
	pending := regexp.MustCompile(`[A-Z2-7]{32}`).FindString(page)

	// As 'motorpool seal --help' says.
	next := m.must("seal", "key")
	if err := os.WriteFile(file, []byte(next+string(old)), 0o600); err != nil {
		t.Fatal(err)
	}
	m.interrupt()
	m.up()
	said := m.must("seal", "rotate")
	if !strings.HasPrefix(said, "1 webhook endpoints and 2 second factors of people were ") ||
		!strings.Contains(said, "tokens were") {
		t.Errorf("it says %s", said)
	}
	if said = m.must("seal", "rotate"); !strings.HasPrefix(said, "0 webhook endpoints and 0 second factors") {
		t.Errorf("again it says %s", said)
	}
	m.interrupt()
	if err := os.WriteFile(file, []byte(next), 0o600); err != nil {
		t.Fatal(err)
	}
	m.up()
	if status := m.site().signIn("ann@example.com", password); status != 303 {
		t.Fatalf("sign-in answers %d", status)
	}
	s = m.site()
	s.signIn("ann@example.com", password)
	if status, page := s.form("/signin/factor", "code", code(time.Now())); status != 303 {
		t.Errorf("a code of the app answers %d %s", status, page)
	}
	if _, page := waiting.form("/signin/security"); pending == "" || !strings.Contains(page, pending) {
		t.Errorf("the secret that waits is gone: %s", page)
	}
	status, answer, err := send(http.MethodPost, m.base+"/v1/webhook_endpoints/"+endpoint.ID+"/test", key, "{}")
	if err != nil || strings.Contains(string(answer), "key that is not here") {
		t.Errorf("a test event: %d %v %s", status, err, answer)
	}
	// What is newest of each record is sealed with no other key than the new one, of whatever kind it is.
	db := m.store()
	rows, err := db.Query(t.Context(), `SELECT kind, id,
			extractAll(argMax(body, revision), 'sealed:([0-9a-f]{8}):') AS used
		FROM record_log GROUP BY kind, account, id HAVING notEmpty(used)`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	kinds, numbers := map[string]int{}, map[string]bool{}
	for rows.Next() {
		var kind string
		var id uint64
		var used []string
		if err := rows.Scan(&kind, &id, &used); err != nil {
			t.Fatal(err)
		}
		kinds[kind]++
		for _, number := range used {
			numbers[number] = true
		}
	}
	if fmt.Sprint(kinds) != "map[oauth_keyring:1 user:2 webhook_endpoint:1]" || len(numbers) != 1 {
		t.Errorf("sealed are %v, with %d keys", kinds, len(numbers))
	}
}
