package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
)

// serve wraps a handler in everything that an operation shares with the others.
func (a *API) serve(rt *route, h handlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := exchangeOf(r.Context())
		x.route = rt
		w = &answer{ResponseWriter: w, x: x, inner: true}
		ctx := r.Context()
		if rt.Timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, rt.Timeout)
			defer cancel()
			// The writer may have no deadlines (a test's recorder); the context still holds.
			rc := http.NewResponseController(w)
			rc.SetReadDeadline(time.Now().Add(rt.Timeout))
			rc.SetWriteDeadline(time.Now().Add(rt.Timeout + 10*time.Second))
		}
		r = r.WithContext(ctx)
		err := a.admit(w, r, rt, x)
		if err == nil {
			if x.principal != nil {
				r = r.WithContext(auth.With(ctx, x.principal))
			}
			err = a.once(w, r, h)
		}
		if err == nil {
			return
		}
		if x.started {
			panic(a.cutShort(r, err))
		}
		a.writeProblem(w, r, err)
	}
}

// cutShort tells of an answer of which some was sent, and returns what to end it with. That the client has gone is no error of ours.
func (a *API) cutShort(r *http.Request, err error) error {
	level := slog.LevelError
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, context.Canceled) {
		level = slog.LevelInfo
	}
	a.log.Log(r.Context(), level, "answer cut short", "error", err, "request_id", requestID(r.Context()), "path", r.URL.Path)
	return http.ErrAbortHandler
}

// admit makes the checks that come before the handler, and reads the body.
func (a *API) admit(w http.ResponseWriter, r *http.Request, rt *route, x *exchange) error {
	if !rt.Public {
		if err := a.authorise(w, r, rt, x); err != nil {
			return err
		}
		if rt.Method != http.MethodGet {
			if err := a.Refused(); err != nil {
				return err
			}
		}
	}
	if !rt.AnyParams {
		if err := checkQuery(r, rt); err != nil {
			return err
		}
	}
	x.metric = r.URL.Query().Get("units") == "metric"
	if rt.Body == nil {
		return nil
	}
	return readBody(w, r, rt, x)
}

// checkQuery refuses parameters that the route does not declare, that come twice, or whose value is malformed.
func checkQuery(r *http.Request, rt *route) error {
	if r.URL.RawQuery == "" && !slices.ContainsFunc(rt.Params, func(p param) bool { return p.Want }) {
		return nil
	}
	query, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return fleet.NewError(fleet.CodeInvalid, "The query string cannot be read: it must be percent-encoded pairs joined by &.")
	}
	names := make([]string, 0, len(query))
	for name := range query {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		i := slices.IndexFunc(rt.Params, func(p param) bool { return p.Name == name && p.In == "" })
		if i < 0 {
			var others []string
			for _, p := range rt.Params {
				if p.In == "" {
					others = append(others, p.Name)
				}
			}
			return fleet.NewError(fleet.CodeInvalid, fmt.Sprintf("There is no parameter %q here.", name),
				fleet.FieldError{Pointer: name, Code: "unknown_parameter", Detail: "not a parameter of this operation" + meant(name, others)})
		}
		if len(query[name]) > 1 {
			return invalidParam(name, "must be given once; separate several values by commas")
		}
		if err := rt.Params[i].check(query[name][0]); err != nil {
			return err
		}
	}
	for _, p := range rt.Params {
		if _, ok := query[p.Name]; p.Want && p.In == "" && !ok {
			return invalidParam(p.Name, "must be given")
		}
	}
	return nil
}

// readBody reads the whole body into the exchange, decompressed.
func readBody(w http.ResponseWriter, r *http.Request, rt *route, x *exchange) error {
	r.Body = http.MaxBytesReader(w, r.Body, rt.BodyLimit)
	var source io.Reader = r.Body
	switch encoding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return bodyError(err, rt)
		}
		// One byte more than allowed tells too large from just large enough.
		source = io.LimitReader(z, rt.BodyLimit+1)
	default:
		return fleet.NewError(fleet.CodeMediaType, "The content encoding "+encoding+" is not supported. Send gzip, or none.")
	}
	var buf bytes.Buffer
	if n := r.ContentLength; n > 0 && n <= rt.BodyLimit {
		buf.Grow(int(n) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(source)
	if err != nil {
		return bodyError(err, rt)
	}
	if n > rt.BodyLimit {
		return tooLarge(rt)
	}
	x.body = buf.Bytes()
	if len(x.body) == 0 && rt.Optional {
		return nil
	}
	return checkMediaType(r, rt)
}

func checkMediaType(r *http.Request, rt *route) error {
	header := r.Header.Get("Content-Type")
	mediaType, params, err := mime.ParseMediaType(header)
	if err != nil || !slices.Contains(rt.BodyTypes, mediaType) {
		return fleet.NewError(fleet.CodeMediaType,
			fmt.Sprintf("The content type %q is not taken here. Send %s.", header, strings.Join(rt.BodyTypes, " or ")))
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return fleet.NewError(fleet.CodeMediaType, "The charset "+charset+" is not supported. Send UTF-8.")
	}
	return nil
}

func tooLarge(rt *route) error {
	return fleet.NewError(fleet.CodeTooLarge, fmt.Sprintf("The body is larger than %d bytes.", rt.BodyLimit))
}

func bodyError(err error, rt *route) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(rt)
	}
	return fleet.NewError(fleet.CodeInvalid, "The body could not be read to its end: it is cut short or not what its content encoding says.")
}

// methodNotAllowed answers a path that exists under another method, and names those.
func (a *API) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
		if a.router.Match(chi.NewRouteContext(), method, r.URL.Path) {
			w.Header().Add("Allow", method)
		}
	}
	a.writeProblem(w, r, fleet.NewError(codeMethod, "This path does not take "+r.Method+"; the Allow header says what it takes."))
}
