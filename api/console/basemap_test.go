package console

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// someTiles is a PMTiles file of one vector tile, which covers the Earth, after what a test does to its header.
func someTiles(t *testing.T, change func(*tilesHeader)) []byte {
	t.Helper()
	packed := func(text []byte) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	tile := packed([]byte("a tile"))
	root := packed([]byte{1, 0, 1, byte(len(tile)), 1}) // one entry: its id, how many it is of, its length, its place + 1
	metadata := packed([]byte(`{"attribution":"somebody"}`))
	h := tilesHeader{Magic: [7]byte([]byte("PMTiles")), Version: 3, Compression: gzipped, TileCompression: gzipped,
		TileType: vectorTiles}
	at := uint64(binary.Size(h))
	place := func(part []byte) tilesPart {
		begins := at
		at += uint64(len(part))
		return tilesPart{Offset: begins, Length: uint64(len(part))}
	}
	h.Root, h.Metadata, h.Leaves, h.Tiles = place(root), place(metadata), place(nil), place(tile)
	if change != nil {
		change(&h)
	}
	var file bytes.Buffer
	if err := binary.Write(&file, binary.LittleEndian, h); err != nil {
		t.Fatal(err)
	}
	return bytes.Join([][]byte{file.Bytes(), root, metadata, tile}, nil)
}

// kept writes a file into a folder of its own, with a neighbour that nobody may read through it.
func kept(t *testing.T, content []byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string][]byte{"ours.pmtiles": content, "secret.pmtiles": []byte("nobody reads it")} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "ours.pmtiles")
}

// basemapOf serves a file as the basemap of a console.
func basemapOf(t *testing.T, name string) func(method, path string, header http.Header) *http.Response {
	t.Helper()
	basemap, err := OpenBasemap(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(basemap.Close)
	s := newServer(t)
	register(s, someFiles)
	basemap.routes(s)
	handler := s.Handler()
	return func(method, path string, header http.Header) *http.Response {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		for name, values := range header {
			r.Header[name] = values
		}
		handler.ServeHTTP(w, r)
		return w.Result()
	}
}

func body(t *testing.T, r *http.Response) []byte {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPartsOfTheBasemapAreServed(t *testing.T) {
	content := someTiles(t, nil)
	ask := basemapOf(t, kept(t, content))
	for asked, want := range map[string]struct {
		status int
		body   []byte
	}{
		"bytes=0-126":     {http.StatusPartialContent, content[:127]},
		"bytes=0-16383":   {http.StatusPartialContent, content}, // which is how browsers begin, however long it is
		"bytes=127-130":   {http.StatusPartialContent, content[127:131]},
		"bytes=-4":        {http.StatusPartialContent, content[len(content)-4:]},
		"bytes=1000000-":  {http.StatusRequestedRangeNotSatisfiable, nil},
		"bytes=nonsense-": {http.StatusRequestedRangeNotSatisfiable, nil},
		"":                {http.StatusOK, content},
	} {
		header := http.Header{"Accept-Encoding": {"gzip"}} // packed again its places would be others
		if asked != "" {
			header.Set("Range", asked)
		}
		r := ask(http.MethodGet, tilesPath, header)
		if r.StatusCode != want.status || want.body != nil && !bytes.Equal(body(t, r), want.body) {
			t.Errorf("%q: %d with %d bytes, want %d with %d", asked, r.StatusCode, r.ContentLength, want.status, len(want.body))
		}
		if r.Header.Get("Content-Encoding") != "" {
			t.Errorf("%q is packed: %v", asked, r.Header)
		}
	}
}

func TestTheBasemapHasTheHeadersOfTheConsole(t *testing.T) {
	ask := basemapOf(t, kept(t, someTiles(t, nil)))
	console := ask(http.MethodGet, "/", nil).Header
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		r := ask(method, tilesPath, http.Header{"Range": {"bytes=0-9"}})
		for name, want := range map[string]string{
			"Accept-Ranges": "bytes", "Content-Type": "application/vnd.pmtiles", "Cache-Control": "public, max-age=86400",
			"Content-Length": "10",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", method, name, got, want)
			}
		}
		if tag := r.Header.Get("ETag"); !strings.HasPrefix(tag, `"`) {
			t.Errorf("%s: ETag is %q, want a strong one", method, tag)
		}
		for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options",
			"Referrer-Policy", "Cross-Origin-Resource-Policy", "Cross-Origin-Opener-Policy", "Permissions-Policy"} {
			if r.Header.Get(name) != console.Get(name) || console.Get(name) == "" {
				t.Errorf("%s: %s is %q, and of the console %q", method, name, r.Header.Get(name), console.Get(name))
			}
		}
	}
}

// toldTiles is where the console is told that the tiles are; empty if there are none.
func toldTiles(t *testing.T, r *http.Response) string {
	t.Helper()
	var told struct{ Tiles string }
	if err := json.Unmarshal(body(t, r), &told); err != nil {
		t.Fatal(err)
	}
	if r.StatusCode != http.StatusOK || r.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("%d, %v", r.StatusCode, r.Header)
	}
	return told.Tiles
}

func TestWhatIsWrittenToTheBasemapIsAtAnotherAddress(t *testing.T) {
	name := kept(t, someTiles(t, nil))
	ask := basemapOf(t, name)
	before := toldTiles(t, ask(http.MethodGet, basemapPath, nil))
	tag := ask(http.MethodGet, before, nil).Header.Get("ETag")
	if r := ask(http.MethodGet, before, http.Header{"If-None-Match": {tag}}); r.StatusCode != http.StatusNotModified {
		t.Errorf("the same is answered with %d", r.StatusCode)
	}
	if err := os.WriteFile(name, append(someTiles(t, nil), "more"...), 0o600); err != nil {
		t.Fatal(err)
	}
	after := toldTiles(t, ask(http.MethodGet, basemapPath, nil))
	if !strings.HasPrefix(before, tilesPath+"?v=") || after == before {
		t.Errorf("it was at %q and is at %q", before, after)
	}
	r := ask(http.MethodGet, after, http.Header{"Range": {"bytes=0-9"}, "If-Range": {tag}})
	if r.StatusCode != http.StatusOK || r.Header.Get("ETag") == tag {
		t.Errorf("a part of the old one is answered with %d, %v", r.StatusCode, r.Header)
	}
}

func TestNothingElseIsReadThroughTheBasemap(t *testing.T) {
	ask := basemapOf(t, kept(t, someTiles(t, nil)))
	for _, path := range []string{tilesPath + "/", tilesPath + "/secret.pmtiles", tilesPath + "/../secret.pmtiles",
		tilesPath + "%2f..%2fsecret.pmtiles", "/console/secret.pmtiles", "/console/ours.pmtiles", "/console/"} {
		r := ask(http.MethodGet, path, nil)
		if r.StatusCode != http.StatusNotFound || bytes.Contains(body(t, r), []byte("nobody reads it")) {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
	if r := ask(http.MethodPut, tilesPath, nil); r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("it can be written: %d", r.StatusCode)
	}
}

func TestWithoutABasemapTheConsoleIsToldSo(t *testing.T) {
	ask := basemapOf(t, "")
	if at := toldTiles(t, ask(http.MethodGet, basemapPath, nil)); at != "" {
		t.Errorf("there is one at %q", at)
	}
	if r := ask(http.MethodGet, tilesPath, nil); r.StatusCode != http.StatusNotFound {
		t.Errorf("it is answered with %d", r.StatusCode)
	}
}

func TestAFileThatIsNoBasemapIsSaidToBeNone(t *testing.T) {
	whole := someTiles(t, nil)
	for says, content := range map[string][]byte{
		"not a PMTiles file":    []byte("<!doctype html>"),
		"of version 3":          someTiles(t, func(h *tilesHeader) { h.Version = 2 }),
		"not copied to its end": whole[:len(whole)-1],
		"brotli":                someTiles(t, func(h *tilesHeader) { h.TileCompression = 3 }),
		"cannot draw":           someTiles(t, func(h *tilesHeader) { h.TileType = 6 }),
		"it is broken":          someTiles(t, func(h *tilesHeader) { h.Root = h.Tiles }),
		"pmtiles verify":        someTiles(t, func(h *tilesHeader) { h.Metadata.Length = 3 }),
	} {
		if _, err := OpenBasemap(kept(t, content)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want that it says %q", err, says)
		}
	}
	for _, name := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none.pmtiles")} {
		if _, err := OpenBasemap(name); err == nil || !strings.Contains(err.Error(), "name a PMTiles file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
