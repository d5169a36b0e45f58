// Package console serves what people see of Motorpool in a browser. It is built from web/ by `make console`, embedded
// into the program, and calls /v1 alone: what the console can do, an integration can.
package console

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/page"
	"github.com/motorpool/fleet/api/rest"
)

// built is what `make console` makes: index.html and what it loads. A checkout where nobody made it has a README alone.
//
//go:embed all:built
var built embed.FS

// assets is where what the pages load is served. Its names carry the hash of the content.
const assets = "/console/"

// pages are the paths that the console shows something at; it reads them itself.
var pages = []string{"/", "/map", "/alerts", "/bookings", "/bookings/*", "/customers", "/customers/*", "/vehicles",
	"/vehicles/*", "/maintenance", "/maintenance/*", "/money", "/money/*", "/platform", "/platform/*",
	"/fences", "/fences/*", "/heat", "/shares", "/rules", "/rules/*", docs, docs + "/*"}

// docs is where the reference is: a page of the console, or without one the page that the interface has by itself.
const docs = "/docs"

// sharePage is what a share link opens: a page of its own, for people without an account.
const sharePage = "/share"

// policy lets the pages load what this server has, and nothing else: neither script nor style stands in a page. The map
// makes pictures of its own as it goes.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
	"connect-src 'self'; worker-src 'self'; font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// Routes registers the pages of the console, and the operator's basemap if there is one.
func Routes(s *rest.Server, basemap *Basemap) {
	files, err := fs.Sub(built, "built")
	if err != nil {
		panic(err) // a constant name
	}
	register(s, files)
	basemap.routes(s)
	townRoutes(s)
}

func register(s *rest.Server, files fs.FS) {
	show := showing(files, "index.html")
	for _, path := range pages {
		s.Page(http.MethodGet, path, show)
	}
	s.Page(http.MethodGet, "/favicon.ico", icon(files))
	s.Page(http.MethodGet, sharePage, showing(files, "share.html"))
	s.Page(http.MethodGet, assets+"*", func(w http.ResponseWriter, r *http.Request) error {
		return asset(w, r, files)
	})
}

// icon is what browsers ask for of pages that name none, such as those of signing in.
func icon(files fs.FS) func(http.ResponseWriter, *http.Request) error {
	found, _ := fs.Glob(files, "assets/icon-*.svg") // the pattern is a constant
	return func(w http.ResponseWriter, r *http.Request) error {
		if len(found) == 0 {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		http.Redirect(w, r, assets+found[0], http.StatusFound)
		return nil
	}
}

// showing shows one of the pages that are built; a page that says how, if none is.
func showing(files fs.FS, name string) func(http.ResponseWriter, *http.Request) error {
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return notBuilt
	}
	return func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		_, err := w.Write(content)
		return err
	}
}

var notBuiltText = template.Must(template.New("console").Parse(`<p>This program was built without the console.
<code>make console build</code> makes both; it needs npm.</p><p>The interface is there all the same:
<a href="/v1/docs">its reference</a>.</p>`))

// notBuilt is shown in the place of the console where the program was built without it.
func notBuilt(w http.ResponseWriter, r *http.Request) error {
	if r.URL.Path == docs || strings.HasPrefix(r.URL.Path, docs+"/") {
		http.Redirect(w, r, "/v1/docs", http.StatusSeeOther) // a browser takes along which place of it was meant
		return nil
	}
	return page.Write(w, http.StatusOK, "The console is not built in", notBuiltText, nil)
}

// mediaTypes are those of what is built.
var mediaTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".json": "application/json", ".svg": "image/svg+xml", ".woff2": "font/woff2", ".txt": "text/plain; charset=utf-8",
}

// asset serves what a page loads. Its name changes with its content, so that browsers may keep it.
func asset(w http.ResponseWriter, r *http.Request, files fs.FS) error {
	name := strings.TrimPrefix(r.URL.Path, assets)
	mediaType := mediaTypes[path.Ext(name)]
	content, err := fs.ReadFile(files, name)
	if err != nil || mediaType == "" {
		return fleet.NewError(fleet.CodeNotFound,
			"There is no "+r.URL.Path+". Load the page again: the console may have been updated.")
	}
	info, err := fs.Stat(files, name)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	// A worker that the map starts stands under the policy of its own file.
	w.Header().Set("Content-Security-Policy", policy)
	http.ServeContent(w, r, name, info.ModTime(), bytes.NewReader(content))
	return nil
}
