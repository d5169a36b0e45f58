package rest

import (
	"context"
	"net/http"

	"github.com/motorpool/fleet/api/auth"
)

// mostOfForm bounds the body of a form, in bytes.
const mostOfForm = 64 << 10

// Page registers what is shown to people in a browser. It is no operation of the interface: it stands in no document,
// and whoever serves it decides who may see it. An error that it returns becomes a problem document.
func (a *Server) Page(method, path string, h func(w http.ResponseWriter, r *http.Request) error) {
	rt := &Route{Method: method, Path: path}
	serve := func(w http.ResponseWriter, r *http.Request) {
		ExchangeOf(r.Context()).route = rt
		ctx, cancel := context.WithTimeout(r.Context(), a.Config.WriteTime)
		defer cancel()
		r = r.WithContext(auth.WithAddress(ctx, a.ClientAddr(r)))
		r.Body = http.MaxBytesReader(w, r.Body, mostOfForm)
		if err := h(w, r); err != nil {
			a.WriteProblem(w, r, err)
		}
	}
	a.router.MethodFunc(method, path, serve)
	if method == http.MethodGet {
		a.router.MethodFunc(http.MethodHead, path, serve)
	}
}

// Secure says whether the client's connection is encrypted, by ourselves or by a proxy that we trust.
func (a *Server) Secure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	return a.fromProxy(r) && r.Header.Get("X-Forwarded-Proto") == "https"
}
