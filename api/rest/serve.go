package rest

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
	"github.com/motorpool/fleet/api/pace"
	"github.com/motorpool/fleet/api/record"
)

// serve wraps a handler in everything that an operation shares with the others.
func (a *Server) serve(rt *Route, h handlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := ExchangeOf(r.Context())
		x.route = rt
		w = &answer{ResponseWriter: w, x: x, inner: true}
		defer x.end()
		err := a.admit(w, r, rt, x)
		if err == nil {
			// The time begins when the body is there: how long that may take is a matter of its size.
			ctx, cancel := rt.within(r.Context())
			defer cancel()
			if x.Principal != nil {
				ctx = auth.WithAddress(auth.With(ctx, x.Principal), a.ClientAddr(r))
				ctx, err = a.current(ctx, rt)
			}
			if r = r.WithContext(ctx); err == nil {
				err = a.once(w, r, h)
			}
		}
		if err == nil {
			return
		}
		if x.started {
			panic(a.cutShort(r, err))
		}
		if rt.Wrong != nil {
			rt.Wrong(w, r, err)
			return
		}
		a.WriteProblem(w, r, err)
	}
}

// awaitFor is how long an operation waits for what was written before: then it goes by what there is, as another
// process would.
const awaitFor = 2 * time.Second

// current waits until all is carried out of which the account was told before that it is written. An operation that
// needs no table waits for nothing, and is itself told so before tables know (record.Unawaited).
func (a *Server) current(ctx context.Context, rt *Route) (context.Context, error) {
	switch {
	case rt.Early:
		return record.Unawaited(ctx), nil
	case rt.Class == auth.Ingest:
		return ctx, nil
	}
	within, cancel := context.WithTimeout(ctx, awaitFor)
	defer cancel()
	if err := a.Store.Await(within, auth.From(ctx).Account); err != nil && ctx.Err() == nil {
		a.Log.DebugContext(ctx, "an operation goes on before all is listed that was written", "error", err)
	}
	return ctx, ctx.Err()
}

// cutShort tells of an answer of which some was sent, and returns what to end it with. That the client has gone is no
// error of ours.
func (a *Server) cutShort(r *http.Request, err error) error {
	level := slog.LevelError
	if errors.Is(err, pace.ErrStalled) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, context.Canceled) {
		level = slog.LevelInfo
	}
	a.Log.Log(r.Context(), level, "answer cut short", "error", err, "request_id", RequestID(r.Context()),
		"path", r.URL.Path)
	return http.ErrAbortHandler
}

// admit makes the checks that come before the handler, and reads the body.
func (a *Server) admit(w http.ResponseWriter, r *http.Request, rt *Route, x *Exchange) error {
	if !rt.Public {
		ctx, cancel := rt.within(r.Context())
		defer cancel()
		if err := a.authorise(w, r.WithContext(ctx), rt, x); err != nil {
			return err
		}
		if rt.Class != auth.Read {
			if err := a.Refused(); err != nil {
				return err
			}
		}
	}
	if !rt.AnyParams {
		if err := publishedNames(r, rt); err != nil {
			return err
		}
		if err := CheckQuery(r, rt); err != nil {
			return err
		}
	}
	x.metric = queryOf(r).Get("units") == "metric"
	if rt.Body == nil {
		return nil
	}
	return a.readBody(w, r, rt, x)
}

// publishedNames takes `to`, which the end of a span of time was published as, for `until`, which it is
// called everywhere.
func publishedNames(r *http.Request, rt *Route) error {
	if !strings.Contains(r.URL.RawQuery, "to=") {
		return nil
	}
	query := r.URL.Query()
	spans := slices.ContainsFunc(rt.Params, func(p Param) bool { return p.Name == "until" && p.In == "" })
	if !spans || !query.Has("to") {
		return nil
	}
	if query.Has("until") {
		return InvalidParam("to", "is another name of until; give one of them")
	}
	query["until"] = query["to"]
	query.Del("to")
	r.URL.RawQuery = query.Encode()
	return nil
}

// CheckQuery refuses parameters that the route does not declare, that come twice, or whose value is malformed.
func CheckQuery(r *http.Request, rt *Route) error {
	if r.URL.RawQuery == "" && !slices.ContainsFunc(rt.Params, func(p Param) bool { return p.Required }) {
		return nil
	}
	query, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return fleet.NewError(fleet.CodeInvalid,
			"The query string cannot be read: it must be percent-encoded pairs joined by &.")
	}
	names := make([]string, 0, len(query))
	for name := range query {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		i := slices.IndexFunc(rt.Params, func(p Param) bool { return p.Name == name && p.In == "" })
		if i < 0 {
			var others []string
			for _, p := range rt.Params {
				if p.In == "" {
					others = append(others, p.Name)
				}
			}
			return fleet.NewError(fleet.CodeInvalid, fmt.Sprintf("There is no parameter %q here.", name),
				fleet.FieldError{Pointer: name, Code: "unknown_parameter",
					Detail: "not a parameter of this operation" + DidYouMean(name, others)})
		}
		if len(query[name]) > 1 {
			return InvalidParam(name, "must be given once; separate several values by commas")
		}
		if err := rt.Params[i].check(query[name][0]); err != nil {
			return err
		}
	}
	for _, p := range rt.Params {
		if _, ok := query[p.Name]; p.Required && p.In == "" && !ok {
			return InvalidParam(p.Name, "must be given")
		}
	}
	return nil
}

// readBody reads the whole body into the exchange, decompressed, and waits until it may be worked on.
func (a *Server) readBody(w http.ResponseWriter, r *http.Request, rt *Route, x *Exchange) error {
	sender, of := auth.Network(a.ClientAddr(r)), a.StrangerBodies
	if x.Principal != nil {
		sender, of = x.Principal.Account.String(), a.Bodies
	}
	held := of.Reading.Claim(sender)
	x.turns = append(x.turns, held.End)
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
	var buf bytes.Buffer // grows with what has come: what a client announces costs it nothing
	n, err := buf.ReadFrom(heldReader{source, held})
	switch {
	case errors.Is(err, pace.ErrShare), errors.Is(err, pace.ErrAll):
		return tooMuch(w, err, "You send too many large bodies at once. Send the next when one is answered.",
			"Too many large bodies are sent at once. Try again in some seconds.")
	case err != nil:
		return bodyError(err, rt)
	case n > rt.BodyLimit:
		return tooLarge(rt)
	}
	x.Body = buf.Bytes()
	if x.Principal != nil {
		if err := a.SpendBytes(w, x.Principal.Account, len(x.Body)); err != nil {
			return err
		}
	}
	turn := of.parsing.Claim(sender)
	x.turns = append(x.turns, turn.End)
	if err := a.wait(w, r, turn, n, "You send too many large bodies at once. Send the next when one is answered.",
		"Too many large bodies are being worked on. Try again in some seconds."); err != nil {
		return err
	}
	if len(x.Body) == 0 && rt.Optional {
		return nil
	}
	return checkMediaType(r, rt)
}

// heldReader counts what is read and held of a body.
type heldReader struct {
	io.Reader
	held *pace.Claim
}

func (h heldReader) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if full := h.held.Try(int64(n)); full != nil {
		return n, full
	}
	return n, err
}

// bodies shares the memory that bodies take.
type bodies struct {
	Reading *pace.Pool // bytes that are held
	parsing *pace.Pool // bytes that are worked on
}

const (
	BodiesHeld    = 8       // times as much may be held as may be worked on: as bytes they take what they are
	strangeMemory = 1 << 20 // that bodies without a key are worked on in: phones send some hundred bytes each
)

// newBodies gives each of so many senders a part.
func newBodies(memory, senders int64) bodies {
	return bodies{pace.NewPool(BodiesHeld*memory, BodiesHeld*memory/senders), pace.NewPool(memory, memory/senders)}
}

func checkMediaType(r *http.Request, rt *Route) error {
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

func tooLarge(rt *Route) error {
	return fleet.NewError(fleet.CodeTooLarge, fmt.Sprintf("The body is larger than %d bytes.", rt.BodyLimit))
}

func bodyError(err error, rt *Route) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(rt)
	}
	if errors.Is(err, pace.ErrSlowBody) {
		return fleet.NewError(codeTimeout,
			"The body came too slowly or not at all. Send it again, in smaller parts or compressed by gzip.")
	}
	return fleet.NewError(fleet.CodeInvalid,
		"The body could not be read to its end: it is cut short or not what its content encoding says.")
}

// methodNotAllowed answers a path that exists under another method, and names those.
func (a *Server) methodNotAllowed(w http.ResponseWriter, r *http.Request) {
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
		if a.router.Match(chi.NewRouteContext(), method, r.URL.Path) {
			w.Header().Add("Allow", method)
		}
	}
	a.WriteProblem(w, r,
		fleet.NewError(CodeMethod, "This path does not take "+r.Method+"; the Allow header says what it takes."))
}
