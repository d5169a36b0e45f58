package console

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/rest"
)

// newServer is a server without a route; the store that it names is asked nothing.
func newServer(t *testing.T) *rest.Server {
	t.Helper()
	db, err := clickhouse.Open(&clickhouse.Options{Addr: []string{"127.0.0.1:9"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s, err := rest.New(rest.DefaultConfig(), rest.Deps{DB: db, IDs: fleet.NewIDSource(0, time.Now),
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// serve serves some files as the console.
func serve(t *testing.T, files fstest.MapFS) func(path string) *http.Response {
	t.Helper()
	s := newServer(t)
	register(s, files)
	handler := s.Handler()
	return func(path string) *http.Response {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		return w.Result()
	}
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var someFiles = fstest.MapFS{
	"index.html":         {Data: []byte(`<!doctype html><script type="module" src="/console/assets/a-1.js"></script>`)},
	"share.html":         {Data: []byte(`<!doctype html><script type="module" src="/console/assets/a-1.js"></script>`)},
	"assets/a-1.js":      {Data: []byte(`import "./b-2.js"`)},
	"assets/ground.json": {Data: []byte(`{}`)},
	"assets/icon-3.svg":  {Data: []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)},
	"README.md":          {Data: []byte("for developers")},
	"assets/notes":       {Data: []byte("without a type")},
}

func TestEachPageIsTheConsoleUnderAPolicyThatLetsNothingElseIn(t *testing.T) {
	get := serve(t, someFiles)
	for _, path := range append(slices.Clone(pages), sharePage) {
		r := get(path)
		policy := r.Header.Get("Content-Security-Policy")
		if r.StatusCode != http.StatusOK || !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; ") ||
			strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
			t.Errorf("%s: %d under %q", path, r.StatusCode, policy)
		}
		if r.Header.Get("Cache-Control") != "no-cache" || !strings.Contains(text(t, r), "/console/assets/a-1.js") {
			t.Errorf("%s is not the console, or may be kept: %v", path, r.Header)
		}
	}
}

func TestPagesThatNameNoIconGetTheConsoles(t *testing.T) {
	r := serve(t, someFiles)("/favicon.ico")
	if to := r.Header.Get("Location"); r.StatusCode != http.StatusFound || to != "/console/assets/icon-3.svg" {
		t.Errorf("%d, to %q", r.StatusCode, to)
	}
	if r := serve(t, fstest.MapFS{})("/favicon.ico"); r.StatusCode != http.StatusNoContent {
		t.Errorf("without a console: %d", r.StatusCode)
	}
}

func TestAMapWithoutTilesNamesTowns(t *testing.T) {
	s := newServer(t)
	townRoutes(s)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, townsPath, nil))
	var told struct {
		Names string
		At    []int
	}
	if err := json.Unmarshal(w.Body.Bytes(), &told); err != nil {
		t.Fatal(err)
	}
	names := strings.Split(told.Names, "\n")
	i := slices.Index(names, "Tokyo")
	if len(names) != mostTowns || len(told.At) != 2*mostTowns || i < 0 ||
		told.At[2*i] != 13969 || told.At[2*i+1] != 3569 {
		t.Errorf("%d names, %d numbers, Tokyo is the place %d", len(names), len(told.At), i)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(w.Body.Bytes())
	if z.Close(); packed.Len() > 160<<10 {
		t.Errorf("the towns take a browser %d bytes", packed.Len())
	}
}

func TestWhatAPageLoadsMayBeKeptForEver(t *testing.T) {
	get := serve(t, someFiles)
	for path, mediaType := range map[string]string{
		"/console/assets/a-1.js": "text/javascript; charset=utf-8", "/console/assets/ground.json": "application/json",
	} {
		r := get(path)
		if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != mediaType ||
			!strings.Contains(r.Header.Get("Cache-Control"), "immutable") ||
			r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", path, r.StatusCode, r.Header)
		}
	}
	for _, path := range []string{"/console/", "/console/assets/", "/console/assets/c-3.js", "/console/README.md",
		"/console/assets/notes", "/console/../console.go", "/console/%2e%2e/console.go", "/console/assets/a-1.js/",
		"/console//etc/passwd", "/console/assets/..%2f..%2fREADME.md"} {
		if r := get(path); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
}

func TestAProgramWithoutTheConsoleSaysHowItIsBuilt(t *testing.T) {
	r := serve(t, fstest.MapFS{"README.md": {Data: []byte("nothing was built")}})("/")
	if page := text(t, r); r.StatusCode != http.StatusOK || !strings.Contains(page, "make console build") {
		t.Errorf("%d %s", r.StatusCode, page)
	}
}

// The types of problems lead to /docs#problem-…, and a browser takes along what comes after #.
func TestAProgramWithoutTheConsoleLeadsToThePlainReference(t *testing.T) {
	get := serve(t, fstest.MapFS{})
	for _, path := range []string{"/docs", "/docs/problems/not_found"} {
		if r := get(path); r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != "/v1/docs" {
			t.Errorf("%s: %d to %q", path, r.StatusCode, r.Header.Get("Location"))
		}
	}
}

// isBuilt says whether the console is built in. `go test` without Node has nothing to look at; where engines are
// required, as in CI, the console is too.
func isBuilt(t *testing.T) bool {
	t.Helper()
	_, err := built.ReadFile("built/index.html")
	if err != nil && os.Getenv("MOTORPOOL_REQUIRE_ENGINES") == "1" {
		t.Fatalf("%v: `make console` builds it", err)
	}
	return err == nil
}

// builtIn returns a file of the console.
func builtIn(t *testing.T, name string) []byte {
	t.Helper()
	content, err := built.ReadFile("built/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// What is built in must keep the policy too: neither script nor style in the page, and nothing from elsewhere.
func TestWhatIsBuiltInKeepsThePolicy(t *testing.T) {
	if !isBuilt(t) {
		return
	}
	index := slices.Concat(builtIn(t, "index.html"), builtIn(t, "share.html"))
	for _, fault := range []string{`<script(?:\s[^>]*)?>[^<]`, `<style`, `\sstyle=`, `\son[a-z]+=`,
		`(?:src|href)="(?:https?:)?//`} {
		if found := regexp.MustCompile(fault).Find(index); found != nil {
			t.Errorf("a page has %s", found)
		}
	}
}

// mostFirst is how many bytes, packed, a page may load before it stands. The map's library and its ground follow then.
const mostFirst = 400_000

var (
	ofPage = regexp.MustCompile("import\\([`'\"]\\./([^`'\"]+)[`'\"]\\)(?:,__vite__mapDeps\\(\\[([0-9,]+)\\]\\))?")
	listed = regexp.MustCompile(`m\.f=\[([^\]]*)\]`)
	linked = regexp.MustCompile(`(?:src|href)="/console/(assets/[^"]+\.(?:js|css))"`)
)

// What is loaded first grows with each page that is added to it, by a library that is imported where it need not be.
func TestAPageStandsAfterLessThan400KB(t *testing.T) {
	if !isBuilt(t) {
		return
	}
	index := builtIn(t, "index.html")
	var first []string
	for _, found := range linked.FindAllSubmatch(index, -1) {
		first = append(first, string(found[1]))
	}
	if len(first) == 0 {
		t.Fatal("index.html names no script: the console is built otherwise than this test reads it")
	}
	entry := builtIn(t, first[0])
	list := listed.FindSubmatch(entry)
	if list == nil || len(list[1]) == 0 {
		t.Fatalf("%s lists no files that pages need: the console is built otherwise than this test reads it", first[0])
	}
	var files []string
	if err := json.Unmarshal(slices.Concat([]byte{'['}, list[1], []byte{']'}), &files); err != nil {
		t.Fatal(err)
	}
	packed := map[string]int{}
	size := func(name string) int {
		if packed[name] == 0 {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			w.Write(builtIn(t, name))
			w.Close()
			packed[name] = b.Len()
		}
		return packed[name]
	}
	pages := ofPage.FindAllSubmatch(entry, -1)
	if len(pages) < 30 {
		t.Fatalf("%d pages were found in %s: the console is built otherwise than this test reads it", len(pages), first[0])
	}
	for _, page := range pages {
		needs := append(slices.Clone(first), "assets/"+string(page[1]))
		for number := range bytes.SplitSeq(page[2], []byte{','}) {
			if len(number) == 0 {
				continue // it needs nothing beside itself
			}
			i, err := strconv.Atoi(string(number))
			if err != nil || i >= len(files) {
				t.Fatalf("%s needs file %s of %d: %v", page[1], number, len(files), err)
			}
			if !slices.Contains(needs, files[i]) {
				needs = append(needs, files[i])
			}
		}
		sum := len(index)
		for _, name := range needs {
			sum += size(name)
		}
		if sum > mostFirst {
			t.Errorf("%s stands after %d bytes, packed: %v", page[1], sum, needs)
		}
		if strings.HasPrefix(string(page[1]), "MapPage") {
			t.Logf("the first view, %s, stands after %d bytes, packed", page[1], sum)
		}
	}
}

// What sort of thing was refused is said in each language of the pages, whatever the interface may answer.
func TestEachProblemHasWordsInTheLanguagesOfTheConsole(t *testing.T) {
	text, err := os.ReadFile("web/src/lib/texts.problems.ts")
	if err != nil {
		t.Fatal(err)
	}
	for code := range rest.CodeStatus {
		if n := strings.Count(string(text), "\t"+string(code)+": '"); n != 2 {
			t.Errorf("%s has words in %d languages, want 2: English has those of the interface", code, n)
		}
	}
}
