package rest

import (
	"context"
	"net/http"
	"net/url"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/record"
)

// Exchange is what is known about one request while it is served. It is owned by the request's goroutine.
type Exchange struct {
	ID        string          // request id, which the caller may choose
	Command   uint32          // what the request writes bears it; of all attempts with one idempotency key
	route     *Route          // nil until a route is found
	Principal *auth.Principal // nil until authenticated
	started   bool            // the handler has written something
	status    int             // that went out
	written   int64           // bytes of body that went out
	Body      []byte          // the whole body, decompressed, where the route takes one
	metric    bool            // units=metric
	query     url.Values      // of rawQuery
	rawQuery  string
	Ticket    *record.Ticket // of the request's idempotency key, if it has one
	born      uint64         // id that was made in the request: nothing can name it yet
	Drawn     uint64         // id that the request has for what it makes
	taken     int            // ids that the request had for what it makes, and that were another's
	long      bool           // it has a turn among what takes long
	ends      []func()       // give back what the request holds
	turns     []func()       // give back what it holds until its answer begins, as the turn of its body
	Unstored  []byte         // what is stored of the answer instead of its body, if that holds a secret
}

// end gives back what the request held, however it ended.
func (x *Exchange) end() {
	x.dropBody()
	for _, end := range x.ends {
		end()
	}
}

// dropBody lets the next body in. Nothing needs a request's body once its answer has begun, which a slow reader may
// take as long over as it likes.
func (x *Exchange) dropBody() {
	for _, end := range x.turns {
		end()
	}
	x.turns, x.Body = nil, nil
}

// ExchangeKey is the key of the exchange in the context of a request.
type ExchangeKey struct{}

// ExchangeOf returns the exchange of a request. It panics outside of Observe.
func ExchangeOf(ctx context.Context) *Exchange {
	x, ok := ctx.Value(ExchangeKey{}).(*Exchange)
	if !ok {
		panic("api: no exchange in this context")
	}
	return x
}

// MadeInRequest says whether an id was made in the request.
func MadeInRequest(ctx context.Context, id uint64) bool {
	x, ok := ctx.Value(ExchangeKey{}).(*Exchange)
	return ok && id != 0 && x.born == id
}

// RequestID returns the id of the request, which the answer, the log and the audit trail carry.
func RequestID(ctx context.Context) string {
	if x, ok := ctx.Value(ExchangeKey{}).(*Exchange); ok {
		return x.ID
	}
	return ""
}

// RequestBody returns the request's body, decompressed and within the route's limit, until the answer begins. The slice
// belongs to the request.
func RequestBody(r *http.Request) []byte { return ExchangeOf(r.Context()).Body }

// MetricUnits says whether the caller asked for units=metric.
func MetricUnits(r *http.Request) bool { return ExchangeOf(r.Context()).metric }

// answer watches what is written. There are two for a request: the inner one, which the handler writes to, sees that
// the answer has begun, though compression may hold it back; the outer one sees what goes out.
type answer struct {
	http.ResponseWriter
	x     *Exchange
	inner bool
}

func (w *answer) WriteHeader(status int) {
	if status >= 200 {
		w.begin(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *answer) Write(p []byte) (int, error) {
	w.begin(http.StatusOK)
	n, err := w.ResponseWriter.Write(p)
	if !w.inner {
		w.x.written += int64(n)
	}
	return n, err
}

func (w *answer) begin(status int) {
	if w.inner {
		if !w.x.started {
			w.x.started = true
			w.x.dropBody()
		}
	} else if w.x.status == 0 {
		w.x.status = status
	}
}

// Unwrap lets http.ResponseController reach the writer below.
func (w *answer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush sends what is buffered, for streams.
func (w *answer) Flush() {
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}
