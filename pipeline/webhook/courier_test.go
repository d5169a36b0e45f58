package webhook

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// What came of an attempt is said in words that help whoever runs the endpoint.
func TestAnAttemptSaysWhatWasWrong(t *testing.T) {
	t.Parallel()
	answers := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // so that the server hears of clients that leave
		switch r.URL.Path {
		case "/taken":
			w.Header().Set("X-Answer", "yes")
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, "thank you")
		case "/moved":
			http.Redirect(w, r, "/taken", http.StatusFound)
		case "/busy":
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		case "/late":
			<-r.Context().Done()
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, strings.Repeat("x", 1000)); err != nil {
					return
				}
			}
		case "/dripping":
			w.WriteHeader(http.StatusOK)
			for r.Context().Err() == nil {
				fmt.Fprint(w, "x")
				w.(http.Flusher).Flush()
				time.Sleep(50 * time.Millisecond)
			}
		case "/head":
			w.Header().Set("X-Long", strings.Repeat("x", 20_000))
		case "/endlesshead":
			w.Header().Set("X-Long", strings.Repeat("x", 200_000))
		case "/telling":
			connection, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				fmt.Fprintf(connection, "HTTP/1.1 500 hidden %s\r\nContent-Length: 0\r\n\r\n", strings.Repeat("x", 20_000))
				connection.Close()
			}
		case "/hangup":
			panic(http.ErrAbortHandler)
		}
	}))
	defer answers.Close()
	defer answers.CloseClientConnections()
	foreign := httptest.NewUnstartedServer(http.NotFoundHandler())
	foreign.Config.ErrorLog = log.New(io.Discard, "", 0)
	foreign.StartTLS()
	defer foreign.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	roots := foreign.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	trusting := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, MaxResponseHeaderBytes: 64 << 10}
	trusting.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "elsewhere.test:") {
			address = foreign.Listener.Addr().String()
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	client := func(transport http.RoundTripper) *http.Client {
		return &http.Client{Transport: transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	open := func(purpose, sealed string) (string, error) {
		if !strings.HasPrefix(purpose, "webhook_endpoint/whe_5/") {
			return "", fmt.Errorf("opened for %s", purpose)
		}
		return sealed, nil
	}
	strict, trusts := Courier{Plain: true, Client: client(&http.Transport{}), Open: open},
		Courier{Plain: true, Client: client(trusting), Open: open}
	forbidden := errors.New("10.3.4.5 is denied by 10.0.0.0/8")
	inside := Courier{Plain: true, Open: open, Forbidden: forbidden, Client: client(&http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, forbidden }})}
	fails := func(err error) Courier {
		return Courier{Plain: true, Open: open, Client: client(&http.Transport{
			DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, err }})}
	}
	nowhere := fails(&net.DNSError{Err: "no such host", Name: "no.such.host.invalid", IsNotFound: true})
	broken := fails(&net.OpError{Op: "write", Net: "tcp", Source: &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 41234},
		Addr: &net.TCPAddr{IP: net.IPv4(10, 1, 2, 4), Port: 443}, Err: os.NewSyscallError("write", syscall.EPIPE)})
	secret := Secret{ID: "whs_1", Sealed: NewSecret(SignatureShared)}
	for _, test := range []struct {
		courier *Courier
		url     string
		status  int
		said    string // empty: it is taken
	}{
		{&trusts, answers.URL + "/taken", 202, ""},
		{&trusts, answers.URL + "/endless", 200, ""},
		{&trusts, answers.URL + "/dripping", 200, ""},
		{&trusts, answers.URL + "/head", 200, ""},
		{&trusts, answers.URL + "/moved", 302, "redirects are not followed"},
		{&trusts, answers.URL + "/busy", 429, "answered 429 Too Many Requests"},
		{&trusts, answers.URL + "/telling", 500, "answered 500 Internal Server Error"},
		{&trusts, answers.URL + "/late", 0, "no answer within 300ms"},
		{&trusts, answers.URL + "/endlesshead", 0, "exceeded"},
		{&trusts, answers.URL + "/hangup", 0, "closed the connection without an answer"},
		{&trusts, strings.Replace(answers.URL, "http:", "https:", 1), 0, "does not speak TLS"},
		{&trusts, "https://elsewhere.test/", 0, "its certificate is not for elsewhere.test but for example.com"},
		{&strict, foreign.URL, 0, "signed by nobody who is trusted"},
		{&strict, "http://" + closed.Addr().String(), 0, "refuses the connection"},
		{&inside, "http://wiki.inside.test/", 0, "there is no host named wiki.inside.test in public"},
		{&nowhere, "http://no.such.host.invalid/", 0, "there is no host named no.such.host.invalid in public"},
		{&broken, "http://pipe.test/", 0, "broken pipe"},
		{&strict, "http://\x7f/", 0, "the address of the endpoint is none"},
	} {
		timeout := 5 * time.Second
		if strings.HasSuffix(test.url, "/late") {
			timeout = 300 * time.Millisecond
		}
		e := &Endpoint{ID: 5, URL: test.url, Timeout: timeout, Secrets: []Secret{secret},
			Headers: []Header{{"X-Token", "hidden"}}}
		a := test.courier.Try(t.Context(), e, "evt_1", []byte(`{"id":"evt_1"}`))
		if a.Status != test.status || a.Succeeded() != (test.said == "") || !strings.Contains(a.Error, test.said) {
			t.Errorf("%s: %d, %q", test.url, a.Status, a.Error)
		}
		if len(a.ResponseHead) > shownBytes || len(a.ResponseBody) > shownBytes || a.Duration > 2*time.Second {
			t.Errorf("%s: %d bytes of head and %d of body in %v", test.url, len(a.ResponseHead), len(a.ResponseBody), a.Duration)
		}
		if strings.Contains(a.Error, "10.") || strings.Contains(a.Error, "hidden") || len(a.Error) > errorBytes {
			t.Errorf("%s: it says what is inside: %s", test.url, a.Error)
		}
		if strings.Contains(a.RequestHead, "hidden") {
			t.Errorf("%s: a secret is shown: %s", test.url, a.RequestHead)
		}
		switch test.url {
		case answers.URL + "/taken":
			if a.ResponseBody != "thank you" || !strings.Contains(a.ResponseHead, "X-Answer: yes") ||
				!strings.HasPrefix(a.RequestHead, "POST /taken HTTP/1.1\n") || !strings.Contains(a.RequestHead, "X-Token: ****") {
				t.Errorf("%+v", a)
			}
		case answers.URL + "/busy":
			if a.RetryAfter != 7*time.Second {
				t.Errorf("it is to rest for %v", a.RetryAfter)
			}
		}
	}
}

// A server may close a connection that was kept at the very moment at which something is sent over it.
func TestAConnectionThatWasClosedMeanwhileIsNoFailure(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var mu sync.Mutex
	var heads []http.Header
	connections := 0
	go func() { // answers one request over each connection, and closes it when the next one has come
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			connections++
			mu.Unlock()
			from := bufio.NewReader(connection)
			for n := range 2 {
				request, err := http.ReadRequest(from)
				if err != nil {
					break
				}
				_, _ = io.Copy(io.Discard, request.Body)
				mu.Lock()
				heads = append(heads, request.Header)
				mu.Unlock()
				if n == 0 {
					fmt.Fprint(connection, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				}
			}
			connection.Close()
		}
	}()
	courier := Courier{Plain: true, Client: &http.Client{Transport: &http.Transport{}},
		Open: func(_, sealed string) (string, error) { return sealed, nil }}
	e := &Endpoint{ID: 5, URL: "http://" + listener.Addr().String(), Timeout: 5 * time.Second,
		Secrets: []Secret{{ID: "whs_1", Sealed: NewSecret(SignatureShared)}}}
	for n := range 3 {
		if a := courier.Try(t.Context(), e, "evt_1", []byte(`{"id":"evt_1"}`)); !a.Succeeded() || a.Status != 200 {
			t.Fatalf("attempt %d: %d, %q", n, a.Status, a.Error)
		}
	}
	courier.Client.CloseIdleConnections()
	mu.Lock()
	defer mu.Unlock()
	if connections != 3 || len(heads) != 5 {
		t.Errorf("%d requests came over %d connections", len(heads), connections)
	}
	for _, head := range heads {
		if _, sent := head["Idempotency-Key"]; sent || head.Get("webhook-id") != "evt_1" {
			t.Errorf("sent %v", head)
		}
	}
}

// A server that closes all the connections that were kept has a message three times of one attempt, and no more often.
func TestAnAttemptIsSentThreeTimesAtMost(t *testing.T) {
	t.Parallel()
	const kept = 6
	all, seen, sent := make(chan struct{}), make(map[string]bool), 0
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		mu.Lock()
		again := seen[r.RemoteAddr]
		seen[r.RemoteAddr] = true
		if sent += 1; len(seen) == kept && !again {
			close(all)
		}
		mu.Unlock()
		if again {
			panic(http.ErrAbortHandler)
		}
		<-all
	}))
	defer server.Close()
	courier := Courier{Plain: true, Client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: kept}},
		Open: func(_, sealed string) (string, error) { return sealed, nil }}
	defer courier.Client.CloseIdleConnections()
	e := &Endpoint{ID: 5, URL: server.URL, Timeout: 5 * time.Second,
		Secrets: []Secret{{ID: "whs_1", Sealed: NewSecret(SignatureShared)}}}
	var first sync.WaitGroup
	for range kept {
		first.Go(func() { courier.Try(t.Context(), e, "evt_1", []byte(`{"id":"evt_1"}`)) })
	}
	first.Wait()
	a := courier.Try(t.Context(), e, "evt_2", []byte(`{"id":"evt_2"}`))
	mu.Lock()
	defer mu.Unlock()
	if a.Succeeded() || !strings.Contains(a.Error, "closed the connection without an answer") || sent-kept != 3 {
		t.Errorf("it was sent %d times: %q", sent-kept, a.Error)
	}
}

func TestNothingIsSentThatIsNotSigned(t *testing.T) {
	t.Parallel()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	courier := Courier{Plain: true, Client: server.Client(), Open: func(_, sealed string) (string, error) {
		if sealed == "lost" {
			return "", fmt.Errorf("there is no key")
		}
		return sealed, nil
	}}
	over := Secret{ID: "whs_1", Sealed: NewSecret(SignatureShared), Ends: time.Now().Add(-time.Second)}
	good := Secret{ID: "whs_2", Sealed: NewSecret(SignatureShared)}
	for said, e := range map[string]*Endpoint{
		"no secret that holds": {Secrets: []Secret{over}},
		"there is no key":      {Secrets: []Secret{{ID: "whs_3", Sealed: "lost"}}},
		"the header X-Token":   {Secrets: []Secret{good}, Headers: []Header{{"X-Token", "lost"}}},
	} {
		e.URL, e.Timeout = server.URL, time.Second
		if a := courier.Try(t.Context(), e, "evt_1", nil); a.Succeeded() || !strings.Contains(a.Error, said) || !a.ours {
			t.Errorf("%s: %q", said, a.Error)
		}
	}
	courier.Plain = false
	plain := &Endpoint{URL: server.URL, Timeout: time.Second, Secrets: []Secret{good}}
	if a := courier.Try(t.Context(), plain, "evt_1", nil); a.Succeeded() || !strings.Contains(a.Error, "https://") {
		t.Errorf("sent without TLS, which the operator does not allow: %q", a.Error)
	}
	courier.Plain = true
	if asked > 0 {
		t.Errorf("%d requests were sent", asked)
	}
	both := &Endpoint{URL: server.URL, Timeout: time.Second, Secrets: []Secret{over, good}}
	if a := courier.Try(t.Context(), both, "evt_1", nil); !a.Succeeded() || asked != 1 {
		t.Errorf("%+v", a)
	}
}
