package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Open returns a secret that is sealed for a purpose.
type Open func(purpose, sealed string) (string, error)

// Courier sends messages to endpoints. It is safe for concurrent use.
type Courier struct {
	Client *http.Client // which checks whom it dials, and follows no redirect
	Open   Open
	Plain  bool // endpoints may be http:// too
	// Forbidden is the error of a Client that does not dial an address; whose it is is told nobody.
	Forbidden error
}

// Attempt is one request to an endpoint, and what came of it.
type Attempt struct {
	At           time.Time
	URL          string
	RequestHead  string // first line and headers, values that are secrets left out
	RequestBytes int    // of the body
	Status       int    // of the answer; 0: there was none
	ResponseHead string // first line and headers, up to 4 kB
	ResponseBody string // up to 4 kB
	Duration     time.Duration
	Error        string // in words; empty if the endpoint has the message
	RetryAfter   time.Duration

	// The failure is no fault of the endpoint's, nothing was sent: this process cannot send to it at all, or it cannot
	// write the event.
	ours, unwritable bool
}

// Succeeded says whether the endpoint has the message: it answered 2xx.
func (a *Attempt) Succeeded() bool { return a.Error == "" }

const (
	errorBytes = 500             // of what went wrong, in words
	shownBytes = 4 << 10         // of a head or a body that are kept
	drainBytes = 64 << 10        // of a body that are read, so that the connection can be used again
	drainTime  = time.Second     // for the body, when the head says all that counts
	userAgent  = "Motorpool/1.0" // of requests
	mostAgain  = 2               // times that one attempt goes over another connection
)

// Try sends a message, which has the same id whenever it is sent, once. It blocks for the endpoint's timeout at most.
func (c *Courier) Try(ctx context.Context, e *Endpoint, id string, body []byte) Attempt {
	a := c.try(ctx, e, id, body)
	if a.Error = strings.ToValidUTF8(a.Error, "\uFFFD"); len(a.Error) > errorBytes {
		a.Error = strings.ToValidUTF8(a.Error[:errorBytes], "")
	}
	return a
}

func (c *Courier) try(ctx context.Context, e *Endpoint, id string, body []byte) Attempt {
	a := Attempt{At: time.Now(), URL: e.URL, RequestBytes: len(body)}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(e.Timeout, func() { cancel(errLate) })
	defer late.Stop()
	request, err := c.request(ctx, e, id, a.At, body)
	if err != nil {
		a.Error, a.ours = err.Error(), true
		return a
	}
	a.RequestHead = requestHead(request, e)
	answer, err := c.Client.Do(request)
	if err != nil {
		a.Duration = time.Since(a.At)
		if a.Error = c.words(err, request.URL.Hostname()); errors.Is(context.Cause(ctx), errLate) {
			a.Error = fmt.Sprintf("no answer within %v", e.Timeout)
		}
		return a
	}
	defer answer.Body.Close()
	a.Duration = time.Since(a.At)
	a.Status, a.ResponseHead = answer.StatusCode, responseHead(answer)
	a.RetryAfter = retryAfter(answer.Header, time.Now())
	a.Error = refusal(answer)
	// What is not read in time is of no interest: the status stands.
	late.Reset(drainTime)
	shown, _ := io.ReadAll(io.LimitReader(answer.Body, shownBytes))
	a.ResponseBody = strings.ToValidUTF8(string(shown), "\uFFFD")
	_, _ = io.CopyN(io.Discard, answer.Body, drainBytes)
	return a
}

var errLate = errors.New("the time is over")

// request makes the signed request of a message.
func (c *Courier) request(ctx context.Context, e *Endpoint, id string, at time.Time,
	body []byte) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("the address of the endpoint is none: %w", err)
	}
	if r.URL.Scheme != "https" && !c.Plain {
		return nil, errors.New("the address is not https://, which the operator of this server asks for by now")
	}
	place := ownKind + "/" + Name(e.ID)
	for _, h := range e.Headers {
		value, err := c.Open(place+"/header/"+h.Name, h.Sealed)
		if err != nil {
			return nil, fmt.Errorf("the header %s cannot be sent: %w", h.Name, err)
		}
		r.Header.Set(h.Name, value)
	}
	var secrets []string
	for _, s := range e.Secrets {
		if !s.Ends.IsZero() && !at.Before(s.Ends) {
			continue
		}
		secret, err := c.Open(place+"/secret/"+s.ID, s.Sealed)
		if err != nil {
			return nil, fmt.Errorf("the message cannot be signed: %w", err)
		}
		secrets = append(secrets, secret)
	}
	if len(secrets) == 0 {
		return nil, errors.New("the message cannot be signed: the endpoint has no secret that holds now")
	}
	signature, err := Sign(secrets, id, at, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", userAgent)
	r.Header.Set("webhook-id", id)
	r.Header.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	r.Header.Set("webhook-signature", signature)
	// Its id makes it harmless to send again: what meets a connection that the endpoint is closing goes over another
	// one. Without a value the header only tells the transport so, and is not sent.
	r.Header["Idempotency-Key"] = []string{}
	whole, again := r.GetBody, 0
	r.GetBody = func() (io.ReadCloser, error) {
		if again++; again > mostAgain {
			return nil, fmt.Errorf("send it %d times: %w", again, io.ErrUnexpectedEOF)
		}
		return whole()
	}
	return r, nil
}

// requestHead writes the head of a request for people; headers of the account's own are secrets.
func requestHead(r *http.Request, e *Endpoint) string {
	shown := r.Header.Clone()
	for _, h := range e.Headers {
		shown.Set(h.Name, "********")
	}
	return head("POST "+r.URL.RequestURI()+" "+r.Proto, shown)
}

func responseHead(r *http.Response) string { return head(r.Proto+" "+r.Status, r.Header) }

func head(first string, header http.Header) string {
	var b strings.Builder
	b.WriteString(first + "\n")
	_ = header.Write(&b) // into memory
	text := strings.ToValidUTF8(strings.ReplaceAll(b.String(), "\r\n", "\n"), "\uFFFD")
	if len(text) > shownBytes {
		text = strings.ToValidUTF8(text[:shownBytes], "")
	}
	return text
}

// refusal says why an answer is none that takes the message; "" if it is.
func refusal(r *http.Response) string {
	// In the words of the standard: those of the receiver may be anything.
	answered := strings.TrimSpace("answered " + strconv.Itoa(r.StatusCode) + " " + http.StatusText(r.StatusCode))
	switch {
	case r.StatusCode >= 200 && r.StatusCode < 300:
		return ""
	case r.StatusCode >= 300 && r.StatusCode < 400:
		return answered + ": redirects are not followed; give the address that they lead to"
	case r.StatusCode == http.StatusGone:
		return answered + ": it wants no more messages"
	}
	return answered
}

// busy are the answers of servers that have too much to do.
func busy(status int) bool {
	return slices.Contains([]int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout}, status)
}

// words says what went wrong with a request to a host for who runs the endpoint: the same of a host that is inside as
// of one that is not there, so that nobody learns by it what is inside.
func (c *Courier) words(err error, host string) string {
	var (
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		checked *tls.CertificateVerificationError
		plain   tls.RecordHeaderError
		alert   tls.AlertError
		dns     *net.DNSError
		timeout net.Error
		failed  *net.OpError
		asked   *url.Error
	)
	switch {
	case errors.As(err, &unknown):
		return "its certificate is signed by nobody who is trusted; is the chain complete?"
	case errors.As(err, &name):
		return fmt.Sprintf("its certificate is not for %s but for %s", name.Host, namesOf(name.Certificate))
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("its certificate holds from %s to %s only", day(invalid.Cert.NotBefore),
			day(invalid.Cert.NotAfter))
	case errors.As(err, &checked):
		return "its certificate is not good: " + checked.Err.Error()
	case errors.As(err, &plain), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "it does not speak TLS at this port"
	case errors.As(err, &alert):
		return "it refused the TLS connection: " + alert.Error()
	case errors.As(err, &dns) && dns.IsNotFound, c.Forbidden != nil && errors.Is(err, c.Forbidden):
		return "there is no host named " + host + " in public"
	case errors.As(err, &dns):
		return "the name " + dns.Name + " could not be looked up"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "it refuses the connection"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it closed the connection without an answer"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "its network cannot be reached"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	case errors.As(err, &failed) && failed.Err != nil:
		return failed.Err.Error() // without the addresses, of which one is inside
	case errors.As(err, &asked):
		return asked.Err.Error()
	}
	return err.Error()
}

func namesOf(c *x509.Certificate) string {
	names := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names[:min(len(names), 5)], ", ")
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
