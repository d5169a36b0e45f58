// Package pace keeps clients from taking more than their share: of what is worked on at once, and of the time that a
// body or an answer may take.
package pace

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// Pace is the least that is asked of clients: how fast they send the body of a request, and how fast they take its
// answer. Whoever is slower is cut off, as each holds a connection and some memory, and a download a connection to the
// store.
type Pace struct {
	BodyTime time.Duration // what a body may take, beside what its bytes take at BodyRate
	BodyRate int           // bytes a second, of an answer too
	// a client that falls so far behind that rate with its answer, or takes nothing for so long, is gone
	Stall time.Duration
}

// Default lets a phone at the border of a network through.
func Default() Pace {
	return Pace{BodyTime: 20 * time.Second, BodyRate: 4 << 10, Stall: 30 * time.Second}
}

// Validate says what is wrong with the pace.
func (p Pace) Validate() error {
	if p.BodyTime <= 0 || p.BodyRate < 1 || p.Stall <= 0 {
		return errors.New("api: body time, body rate and stall must be positive")
	}
	return nil
}

const (
	// paceChunk is how much of an answer goes out at once.
	paceChunk = 32 << 10
	// drainMost and drainTime bound what is read of a body that nobody wanted before its request is answered, so that the
	// connection can be used again. Behind the answer what still comes is read for closeTime, as some clients listen only
	// when they have said all, and then the connection is closed.
	drainMost = 64 << 10
	drainTime = 250 * time.Millisecond
	closeTime = 2 * time.Second
)

// ErrStalled and ErrSlowBody say why a client was cut off: it took nothing of its answer for Stall, or fell behind
// BodyRate with its body.
var (
	ErrStalled  = errors.New("the client takes nothing any more")
	ErrSlowBody = errors.New("the body comes too slowly")
)

// Handler holds the clients of a handler to the pace. A request that needs no body is answered although its body
// does not come.
func (p Pace) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The writer may have no deadlines (a test's recorder): errors of the controller are left alone.
		out := &pacedWriter{ResponseWriter: w, control: http.NewResponseController(w), pace: p, left: p.Stall}
		if r.Body != nil && r.Body != http.NoBody {
			out.body = &pacedBody{ReadCloser: r.Body, control: out.control, pace: p, length: r.ContentLength,
				asks: r.Header.Get("Expect") != ""}
			r = r.WithContext(r.Context()) // the server looks at its own request again
			r.Body = out.body
		} else {
			_ = out.control.SetReadDeadline(time.Time{}) // one of the server's would look as if the client went away
		}
		defer out.end()
		next.ServeHTTP(out, r)
	})
}

// pacedBody is a body that must come at the pace.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	pace    Pace
	length  int64 // as announced; -1 unknown
	asks    bool  // the client sends it when it is told to
	began   time.Time
	read    int64
	ended   bool
	slow    bool
}

func (b *pacedBody) Read(p []byte) (int, error) {
	if b.began.IsZero() {
		b.began = time.Now()
	}
	worth := time.Duration(float64(b.read) / float64(b.pace.BodyRate) * float64(time.Second))
	_ = b.control.SetReadDeadline(b.began.Add(b.pace.BodyTime + worth))
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	switch {
	case errors.Is(err, io.EOF):
		b.ended = true
		// From now on the server watches whether the client goes away; a deadline would look as if it did.
		_ = b.control.SetReadDeadline(time.Time{})
	case errors.Is(err, os.ErrDeadlineExceeded):
		b.slow = true
		err = fmt.Errorf("%w: %w", ErrSlowBody, err)
	}
	return n, err
}

// drain reads what is left of a body, and says whether it came to its end.
func (b *pacedBody) drain() bool {
	if b.slow || b.asks || b.length-b.read > drainMost {
		return false
	}
	_ = b.control.SetReadDeadline(time.Now().Add(drainTime))
	_, err := io.CopyN(io.Discard, b.ReadCloser, drainMost+1)
	_ = b.control.SetReadDeadline(time.Time{})
	return errors.Is(err, io.EOF)
}

// pacedWriter is an answer that must be taken at the pace.
type pacedWriter struct {
	http.ResponseWriter
	control  *http.ResponseController
	pace     Pace
	body     *pacedBody // nil: the request has none
	begun    bool
	left     time.Duration // that the client may keep us waiting: what it takes gives it more, up to Stall
	deadline time.Time     // as it was set
}

// Unwrap lets http.ResponseController reach the writer below.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *pacedWriter) WriteHeader(status int) {
	if status >= 200 {
		w.begin()
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *pacedWriter) Write(b []byte) (int, error) {
	w.begin()
	for sent := 0; ; {
		began := w.extend()
		n, err := w.ResponseWriter.Write(b[sent:min(len(b), sent+paceChunk)])
		sent += n
		w.took(n, time.Since(began))
		if err != nil || sent == len(b) {
			return sent, stalled(err)
		}
	}
}

// FlushError sends what is buffered, for streams.
func (w *pacedWriter) FlushError() error {
	w.begin()
	began := w.extend()
	defer func() { w.took(0, time.Since(began)) }()
	return stalled(w.control.Flush())
}

// Flush is FlushError for those who do not ask.
func (w *pacedWriter) Flush() { _ = w.FlushError() }

func stalled(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%w: %w", ErrStalled, err)
	}
	return err
}

// extend gives the client time to take what comes next. Rows are written one by one: a clock is cheaper
// than a deadline.
func (w *pacedWriter) extend() (now time.Time) {
	now = time.Now()
	if until := now.Add(w.left); until.Sub(w.deadline) > w.pace.Stall/8 {
		_ = w.control.SetWriteDeadline(until)
		w.deadline = until
	}
	return now
}

// took counts what the client took, and how long it kept us waiting.
func (w *pacedWriter) took(n int, waited time.Duration) {
	worth := time.Duration(float64(n) / float64(w.pace.BodyRate) * float64(time.Second))
	w.left = min(w.left+worth-waited, w.pace.Stall)
}

// begin has the answer go out although some of the body is still to come. The server would wait for that first.
func (w *pacedWriter) begin() {
	if w.begun {
		return
	}
	w.begun = true
	if b := w.body; b != nil && !b.ended && !b.drain() {
		w.Header().Set("Connection", "close")
		_ = w.control.SetReadDeadline(time.Now().Add(closeTime))
	}
}

// end leaves time for what the server still has to send when the handler is done.
func (w *pacedWriter) end() {
	w.begin()
	w.left, w.deadline = w.pace.Stall, time.Time{}
	w.extend()
}
