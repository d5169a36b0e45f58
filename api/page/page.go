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

// policy lets a page load what this server has, and be framed by nobody.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

var shell = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}} · Motorpool</title>
<link rel="stylesheet" href="` + StylePath + `">
</head>
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
	var inside, whole bytes.Buffer
	if err := body.Execute(&inside, data); err != nil {
		return fmt.Errorf("make the page %q: %w", title, err)
	}
	// What the template made is escaped already.
	if err := shell.Execute(&whole, map[string]any{"Title": title, "Body": template.HTML(inside.String())}); err != nil {
		return fmt.Errorf("make the page %q: %w", title, err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, err := whole.WriteTo(w)
	return err
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
