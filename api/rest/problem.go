package rest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/calendar"
	"github.com/motorpool/fleet/api/record"
)

// Problem is the body of every answer that is not a success: RFC 9457 problem details with a stable code. It is of
// the media type application/problem+json.
type Problem struct {
	Type      string       `json:"type" doc:"Identifies the kind of problem; a reference into this documentation." example:"/docs#problem-not_found"`
	Title     string       `json:"title" doc:"The status in words." example:"Not Found"`
	Status    int          `json:"status" doc:"The HTTP status code." example:"404"`
	Detail    string       `json:"detail" doc:"What is wrong and what to do, for people." example:"There is no vehicle veh_1."`
	Instance  string       `json:"instance" doc:"The path that was asked for." example:"/v1/vehicles/veh_1"`
	Code      string       `json:"code" doc:"Stable name of the problem, for programs." example:"not_found"`
	RequestID string       `json:"request_id" doc:"Name of this request in the logs."`
	Errors    []FieldIssue `json:"errors,omitempty" doc:"The parts of the input that are meant."`

	CurrentState       string   `json:"current_state,omitempty" doc:"With invalid_state_transition: the state that the record is in."`
	AllowedTransitions []string `json:"allowed_transitions,omitzero" nullable:"false" doc:"With invalid_state_transition: the states it may go to; none from one that is the end."`

	Confirm []string `json:"confirm,omitempty" doc:"With confirmation_required: the value of confirm with which the request is sent again, if what it says is right."`

	Conflicts []Conflict `json:"conflicts,omitempty" doc:"With conflict, if a vehicle is taken: what holds it, the first that is in the way."`
}

// Conflict is what holds a vehicle that somebody else wants.
type Conflict struct {
	VehicleID string         `json:"vehicle_id" doc:"The vehicle that is taken." example:"veh_1234"`
	Ref       string         `json:"ref" doc:"What holds it: a booking, a block, a work order, or the vehicle itself if it is retired." example:"bkg_1234"`
	From      record.Instant `json:"from" doc:"From when it holds it, with buffers."`
	Until     record.Instant `json:"until" doc:"The first moment that is free again; null if nobody knows, because the vehicle is out and overdue."`
}

// FieldIssue names one part of the input and what is wrong with it.
type FieldIssue struct {
	Pointer string `json:"pointer" doc:"JSON pointer into the body, or the name of a parameter." example:"/year"`
	Code    string `json:"code" doc:"Stable name of the fault, finer than code: of the member that is meant." example:"invalid"`
	Detail  string `json:"detail" doc:"What is wrong, for people."`
}

// CodeStatus is the one table from codes to statuses.
var CodeStatus = map[fleet.Code]int{
	fleet.CodeInvalid:      http.StatusBadRequest,
	fleet.CodeUnauthorized: http.StatusUnauthorized,
	fleet.CodeForbidden:    http.StatusForbidden,
	codeAddress:            http.StatusForbidden,
	fleet.CodeNotFound:     http.StatusNotFound,
	CodeMethod:             http.StatusMethodNotAllowed,
	codeAccept:             http.StatusNotAcceptable,
	codeTimeout:            http.StatusRequestTimeout,
	fleet.CodeConflict:     http.StatusConflict,
	fleet.CodeTransition:   http.StatusConflict,
	fleet.CodeConfirm:      http.StatusConflict,
	codeInProgress:         http.StatusConflict,
	fleet.CodeStale:        http.StatusPreconditionFailed,
	fleet.CodeTooLarge:     http.StatusRequestEntityTooLarge,
	fleet.CodeMediaType:    http.StatusUnsupportedMediaType,
	fleet.CodeValidation:   http.StatusUnprocessableEntity,
	codeKeyReuse:           http.StatusUnprocessableEntity,
	CodeTooMuch:            http.StatusUnprocessableEntity,
	fleet.CodeRateLimited:  http.StatusTooManyRequests,
	codeInternal:           http.StatusInternalServerError,
	fleet.CodeUnavailable:  http.StatusServiceUnavailable,
	fleet.CodeFull:         http.StatusInsufficientStorage,
}

// Codes that only HTTP knows.
const (
	CodeMethod     fleet.Code = "method_not_allowed"
	codeAccept     fleet.Code = "not_acceptable"
	codeInProgress fleet.Code = "request_in_progress"
	codeKeyReuse   fleet.Code = "idempotency_key_reused"
	codeInternal   fleet.Code = "internal_error"
	codeTimeout    fleet.Code = "request_timeout"
)

// ProblemOf turns any error into what the caller may see of it. The second result says whether the error is ours to
// look into, and must be logged.
func ProblemOf(err error) (Problem, bool) { return problemOf(err, false) }

// ProblemOfWrite is ProblemOf of what was to be written: whoever repeats it must look first whether it is done.
func ProblemOfWrite(err error) (Problem, bool) { return problemOf(err, true) }

// problemOf is ProblemOf of a request that writes something, or does not.
func problemOf(err error, writes bool) (Problem, bool) {
	var e *fleet.Error
	if !errors.As(err, &e) {
		if e = storeTrouble(err, writes); e == nil {
			e = fleet.NewError(codeInternal, "Something went wrong on our side. The request id names it in our logs.")
		}
		return problemFrom(e), true
	}
	p := problemFrom(e)
	var t *record.TransitionError
	if errors.As(err, &t) {
		p.CurrentState, p.AllowedTransitions = t.Current, NonNil(t.Allowed)
	}
	if doubted, ok := errors.AsType[*record.DoubtError](err); ok {
		p.Confirm = doubted.Confirm
	}
	if taken, ok := errors.AsType[*calendar.ConflictError](err); ok {
		c := Conflict{VehicleID: taken.Vehicle, Ref: taken.Hold.Ref, From: taken.Hold.From, Until: taken.Hold.Until}
		if taken.Hold.Open && c.Until.Before(time.Now()) {
			c.Until = record.Instant{}
		}
		p.Conflicts = []Conflict{c}
	}
	// That there is no room is told once, and not for each request, by whoever looks at the disk.
	return p, p.Status >= http.StatusInternalServerError && e.Code != fleet.CodeFull
}

func problemFrom(e *fleet.Error) Problem {
	status, ok := CodeStatus[e.Code]
	if !ok {
		status = http.StatusInternalServerError
	}
	p := Problem{
		Type: "/docs#problem-" + string(e.Code), Title: http.StatusText(status), Status: status,
		Detail: e.Message, Code: string(e.Code),
	}
	for _, f := range e.Fields {
		p.Errors = append(p.Errors, FieldIssue(f))
	}
	return p
}

// WriteProblem answers a request with an error. Headers that belong to the error (WWW-Authenticate, Retry-After,
// Allow) are set by whoever found it.
func (a *Server) WriteProblem(w http.ResponseWriter, r *http.Request, err error) {
	p, ok := a.Judge(w, r, err)
	if !ok {
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings and numbers only
	}
	h.Set("Content-Length", strconv.Itoa(len(body)+1))
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		w.Write(append(body, '\n'))
	}
}

// Judge is what a client is told of an error, in whatever form; an error of ours is logged. It is false if the client
// is gone, who needs no answer any more.
func (a *Server) Judge(w http.ResponseWriter, r *http.Request, err error) (p Problem, ok bool) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		// Nobody reads the answer, and it is nobody's fault.
		w.WriteHeader(statusClientGone)
		return p, false
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if x, ok := r.Context().Value(ExchangeKey{}).(*Exchange); ok && x.route != nil {
		reads = reads || x.route.Class == auth.Read
	}
	p, ours := problemOf(err, !reads)
	a.tell(r.Context(), &p)
	p.Instance, p.RequestID = r.URL.Path, RequestID(r.Context())
	if ours {
		a.Log.ErrorContext(r.Context(), "request failed", "error", err, "request_id", p.RequestID,
			"method", r.Method, "path", r.URL.Path)
	}
	h := w.Header()
	if seconds := retryAfter[p.Status]; seconds != "" && h.Get("Retry-After") == "" {
		h.Set("Retry-After", seconds)
	}
	h.Del("ETag")
	return p, true
}

// retryAfter is when to try again, in seconds, if whoever found the error has not said it.
var retryAfter = map[int]string{http.StatusServiceUnavailable: "5", http.StatusInsufficientStorage: "30"}

// statusClientGone is what the log shows for a request whose client left; it never reaches anyone.
const statusClientGone = 499

// InvalidParam is the error for a query parameter, path or header that cannot be understood.
func InvalidParam(name, detail string) *fleet.Error {
	return fleet.NewError(fleet.CodeInvalid, "The parameter "+name+" "+fleet.Sentence(detail),
		fleet.FieldError{Pointer: name, Code: "invalid", Detail: detail})
}

// InvalidParams is what is wrong with members of a body, said of parameters of those names.
func InvalidParams(e *fleet.Error) *fleet.Error {
	fields := slices.Clone(e.Fields)
	for i := range fields {
		fields[i].Pointer = strings.TrimPrefix(fields[i].Pointer, "/")
	}
	return fleet.NewError(fleet.CodeInvalid, e.Message, fields...)
}

// NotFound is the error for a thing that does not exist or belongs to somebody else; the two cannot be told apart.
func NotFound(what, id string) *fleet.Error {
	return fleet.NewError(fleet.CodeNotFound, "There is no "+what+" "+id+".")
}
