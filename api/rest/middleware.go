package rest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// Middleware wraps the router in what every request passes, routes or not; the first is the outermost.
func (a *Server) Middleware(next http.Handler) http.Handler {
	next = a.cors(next)
	next = secure(next)
	next = a.compress(next)
	next = a.recover(next)
	return a.Observe(next)
}

// Observe gives the request its id and its exchange, and logs and counts it when it is done.
func (a *Server) Observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		x := &Exchange{ID: safeRequestID(r.Header.Get("X-Request-Id")), Command: record.NewCommand()}
		w.Header().Set("X-Request-Id", x.ID)
		a.metrics.running.Inc()
		defer func() {
			a.metrics.running.Dec()
			a.note(r, x, time.Since(began))
		}()
		next.ServeHTTP(&answer{ResponseWriter: w, x: x},
			r.WithContext(context.WithValue(a.bounded(r.Context()), ExchangeKey{}, x)))
	})
}

// note logs and counts one request. The query string is left out of the log: it may hold personal data.
func (a *Server) note(r *http.Request, x *Exchange, took time.Duration) {
	pattern, status := "unknown", x.status
	if x.route != nil {
		pattern = x.route.Path
	}
	if status == 0 {
		status = http.StatusOK
	}
	a.metrics.note(r.Method, pattern, status, took)
	attrs := []slog.Attr{
		slog.String("request_id", x.ID), slog.String("method", r.Method), slog.String("route", pattern),
		slog.String("path", r.URL.Path), slog.Int("status", status), slog.Int64("bytes", x.written),
		slog.Duration("took", took),
	}
	if x.Principal != nil {
		attrs = append(attrs, slog.String("account", x.Principal.Account.String()), slog.String("actor", x.Principal.Actor()))
	}
	if status == http.StatusTooManyRequests {
		attrs = append(attrs, slog.String("client", auth.Network(a.ClientAddr(r))))
	}
	level := slog.LevelInfo
	if a.Config.Quiet && status < http.StatusBadRequest {
		level = slog.LevelDebug
	}
	a.Log.LogAttrs(r.Context(), level, "request", attrs...)
}

// safeRequestID takes a request id that is safe to log and echo, and makes one otherwise.
func safeRequestID(id string) string {
	ok := len(id) > 0 && len(id) <= 128
	for i := 0; i < len(id) && ok; i++ {
		c := id[i]
		ok = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' ||
			c == '.' || c == ':'
	}
	if ok {
		return id
	}
	var b [12]byte
	rand.Read(b[:])
	return "req_" + hex.EncodeToString(b[:])
}

// recover turns a panic into a 500, or cuts the connection if the answer has begun.
func (a *Server) recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler {
				panic(v)
			}
			a.Log.ErrorContext(r.Context(), "panic in a handler", "panic", fmt.Sprint(v), "request_id", RequestID(r.Context()),
				"stack", string(debug.Stack()))
			if ExchangeOf(r.Context()).started {
				panic(http.ErrAbortHandler)
			}
			a.WriteProblem(w, r,
				fleet.NewError(codeInternal, "Something went wrong on our side. The request id names it in our logs."))
		}()
		next.ServeHTTP(w, r)
	})
}

// compress sends gzip to those who take it. Streams of events are left alone: they must not wait in a buffer.
func (a *Server) compress(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(1024), gzhttp.ContentTypes([]string{
		"application/json", "application/problem+json", "application/openapi+json", "application/openapi+yaml",
		"application/geo+json", "application/gpx+xml", "application/vnd.google-earth.kml+xml", "text/csv",
		"text/html", "text/plain", "text/javascript", "text/css", "image/svg+xml",
	}))
	if err != nil {
		panic(err) // constant options
	}
	return wrap(next)
}

// secure sets the headers that tell browsers and caches to keep their hands off. Whoever serves a page sets a
// Content-Security-Policy of its own. Browsers keep to HTTPS for a year where we serve it ourselves; of a name that a
// proxy serves by HTTPS the proxy says so, as it knows what else the name has.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "private, no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Permissions-Policy", noPermissions)
		if r.TLS != nil {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

// noPermissions takes from our pages what browsers would let them ask people for.
const noPermissions = "accelerometer=(), camera=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), " +
	"payment=(), usb=()"

// cors lets the configured origins call from browsers. Credentials are never allowed: keys travel in a header.
func (a *Server) cors(next http.Handler) http.Handler {
	if len(a.Config.CORSOrigins) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		w.Header().Add("Vary", "Origin")
		if slices.Contains(a.Config.CORSOrigins, origin) {
			h := w.Header()
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Expose-Headers",
				"ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id")
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
				h.Set("Access-Control-Allow-Headers",
					"Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, X-Request-Id")
				h.Set("Access-Control-Max-Age", "600")
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// parseQuery reads a query string strictly.
func parseQuery(raw string) (url.Values, error) { return url.ParseQuery(raw) }
