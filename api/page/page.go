// Package page writes pages for people in a browser: a shell with one style sheet, in light and dark, and headers that
// let nothing else in. A page holds neither script nor style of its own; scripts are files that the server has.
package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
)

// StylePath is where the style sheet is served.
const StylePath = "/ui/page.css"

//go:embed page.css
var style []byte

// policyTo lets a page load what this server has, and be framed by nobody. Its forms lead to this server, and to a
// place that is named as policies name them; empty if there is none. asks says that its script asks this server.
func policyTo(place string, asks bool) string {
	if place != "" {
		place = " " + place
	}
	if asks {
		place += "; connect-src 'self'"
	}
	return "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; " +
		"form-action 'self'" + place + "; frame-ancestors 'none'; base-uri 'none'"
}

var shell = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>{{.Title}} · Motorpool</title>
<link rel="stylesheet" href="` + StylePath + `">
{{with .Script}}<script src="{{.}}" defer></script>
{{end}}</head>
<body>
<main>
<p class="brand">Motorpool</p>
<h1>{{.Title}}</h1>
{{.Body}}
</main>
</body>
</html>
`))

// Write writes a page: a title, and below it what a template makes of data.
func Write(w http.ResponseWriter, status int, title string, body *template.Template, data any) error {
	return write(w, status, title, "", body, data, policyTo("", false))
}

// WriteWithScript writes a page with a script, a file that this server has, which may ask this server.
func WriteWithScript(w http.ResponseWriter, status int, title, script string, body *template.Template,
	data any) error {
	return write(w, status, title, script, body, data, policyTo("", true))
}

// WriteTo writes a page whose form ends up at a place elsewhere, which is named as policies name it.
func WriteTo(w http.ResponseWriter, status int, title string, body *template.Template, data any, place string) error {
	return write(w, status, title, "", body, data, policyTo(place, false))
}

func write(w http.ResponseWriter, status int, title, script string, body *template.Template, data any,
	policy string) error {
	var inside, whole bytes.Buffer
	if err := body.Execute(&inside, data); err != nil {
		return fmt.Errorf("make the page %q: %w", title, err)
	}
	// What the template made is escaped already.
	if err := shell.Execute(&whole, map[string]any{"Title": title, "Script": script,
		"Body": template.HTML(inside.String())}); err != nil {
		return fmt.Errorf("make the page %q: %w", title, err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	// With no-referrer, browsers from before 2021 say "Origin: null" of what the page's forms send. No path is told.
	h.Set("Referrer-Policy", "strict-origin")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, err := whole.WriteTo(w)
	return err
}

// KeepOpener has a window keep the one that opened it. Programs have people sign in and consent in a window of its own,
// which ends up at a page of theirs; without this that page could not speak to the one that waits for it.
func KeepOpener(h func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Cross-Origin-Opener-Policy", "unsafe-none")
		return h(w, r)
	}
}

// Style serves the style sheet.
func Style(w http.ResponseWriter, _ *http.Request) error {
	return File(w, "text/css; charset=utf-8", style)
}

// File serves what pages load.
func File(w http.ResponseWriter, mediaType string, content []byte) error {
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", "public, max-age=300")
	_, err := w.Write(content)
	return err
}

// Local returns an address of this server that a page may go on to: a path, with what follows it. What leads elsewhere,
// in any spelling that browsers take, is "".
func Local(next string) string {
	if len(next) > 2000 || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") ||
		strings.ContainsFunc(next, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f || r > 0x7e }) {
		return ""
	}
	return next
}
