//go:build long

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"
)

// raw is a connection on which a test says what it likes.
type raw struct {
	*net.TCPConn
	t    *testing.T
	head *bufio.Reader
}

func dialRaw(t *testing.T, base string) *raw {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &raw{TCPConn: conn.(*net.TCPConn), t: t, head: bufio.NewReader(conn)}
}

func (c *raw) say(format string, args ...any) *raw {
	c.t.Helper()
	if _, err := fmt.Fprintf(c, format, args...); err != nil {
		c.t.Fatal(err)
	}
	return c
}

// answer reads the next answer, which must be there within some seconds.
func (c *raw) answer(status int) {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(clientsPatience))
	response, err := http.ReadResponse(c.head, nil)
	if err != nil {
		c.t.Fatalf("no answer: %v", err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != status {
		c.t.Fatalf("%d, want %d: %v %s", response.StatusCode, status, err, text)
	}
}

// closed waits until the other side has closed the connection, whatever it says before.
func (c *raw) closed() {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(clientsPatience))
	if _, err := io.Copy(io.Discard, c.head); errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Errorf("the connection is still open after %v", clientsPatience)
	}
}

// clientsPatience is how long a test waits for what the settings below bring about in two seconds or three.
const clientsPatience = 20 * time.Second

// TestSlowClientsHoldNothing says less than a whole request, or says it slowly, in all the ways there are: each
// connection is answered where there is something to answer, and closed within the bounds.
func TestSlowClientsHoldNothing(t *testing.T) {
	m := newMachine(t)
	m.env = append(m.env, "MOTORPOOL_HEAD_TIME=1s", "MOTORPOOL_BODY_TIME=1s", "MOTORPOOL_BODY_RATE=1000",
		"MOTORPOOL_IDLE_TIME=2s", "MOTORPOOL_CLIENT_STALL=2s", "MOTORPOOL_MAX_CONNECTIONS=60")
	m.up()
	c := m.tenant("Slow").withTracker()
	key := "Authorization: Bearer " + c.key + "\r\n"
	body := "Content-Type: application/json\r\nContent-Length: 100\r\n"
	vehicle := `{"make":"Ford","model":"` + strings.Repeat("x", 1000) + `"}`
	t.Run("together", func(t *testing.T) {
		for name, story := range map[string]func(*testing.T){
			"nothing is said": func(t *testing.T) { dialRaw(t, m.base).closed() },
			"a head that never ends": func(t *testing.T) {
				dialRaw(t, m.base).say("GET /v1/vehicles HTTP/1.1\r\nHost: x\r\n%s", key).closed()
			},
			"a head of one byte a second": func(t *testing.T) {
				conn := dialRaw(t, m.base)
				go drip(conn, "GET /v1/vehicles HTTP/1.1\r\nHost: x\r\nX-Slow: yes\r\nX-Slower: yes\r\n\r\n")
				conn.closed()
			},
			"silence between requests": func(t *testing.T) {
				conn := dialRaw(t, m.base).say("GET /v1/vehicles HTTP/1.1\r\nHost: x\r\n%s\r\n", key)
				conn.answer(200)
				conn.closed()
			},
			"no body, no key, no such path": func(t *testing.T) {
				conn := dialRaw(t, m.base).say("POST /nowhere HTTP/1.1\r\nHost: x\r\n%s\r\n", body)
				conn.answer(404)
				conn.closed()
			},
			"no body, no key": func(t *testing.T) {
				conn := dialRaw(t, m.base).say("POST /v1/vehicles HTTP/1.1\r\nHost: x\r\n%s\r\n", body)
				conn.answer(401)
				conn.closed()
			},
			"no body": func(t *testing.T) {
				conn := dialRaw(t, m.base).say("POST /v1/vehicles HTTP/1.1\r\nHost: x\r\n%s%s\r\n", key, body)
				conn.answer(408)
				conn.closed()
			},
			"no body where none is wanted": func(t *testing.T) {
				conn := dialRaw(t, m.base).say("GET /v1/vehicles HTTP/1.1\r\nHost: x\r\n%s%s\r\n", key, body)
				conn.answer(200)
				conn.closed()
			},
			"no body of a phone": func(t *testing.T) {
				conn := dialRaw(t, m.base).say("POST /osmand HTTP/1.1\r\nHost: x\r\n%s\r\n", body)
				conn.answer(408)
				conn.closed()
			},
			"chunks that do not come": func(t *testing.T) {
				conn := dialRaw(t, m.base).say("POST /v1/vehicles HTTP/1.1\r\nHost: x\r\n%sContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n", key)
				conn.answer(408)
				conn.closed()
			},
			"an expectation that is refused": func(t *testing.T) {
				dialRaw(t, m.base).say("POST /v1/vehicles HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n%s\r\n", body).closed()
			},
			"a body to the server as a whole": func(t *testing.T) {
				dialRaw(t, m.base).say("OPTIONS * HTTP/1.1\r\nHost: x\r\n%s\r\n", body).closed()
			},
			"no body to the operators' listener": func(t *testing.T) {
				conn := dialRaw(t, m.ops).say("POST /healthz HTTP/1.1\r\nHost: x\r\n%s\r\n", body)
				conn.answer(405)
				conn.closed()
			},
			"a body of one byte a second": func(t *testing.T) {
				conn := dialRaw(t, m.base).say("POST /v1/vehicles HTTP/1.1\r\nHost: x\r\n%s%s\r\n", key, body)
				go drip(conn, strings.Repeat(" ", 100))
				conn.answer(408)
				conn.closed()
			},
			"a body that is slow and fast enough": func(t *testing.T) {
				conn := dialRaw(t, m.base).
					say("POST /v1/vehicles HTTP/1.1\r\nHost: x\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", key,
						4*len(vehicle))
				for range 3 {
					conn.say("%s", strings.Repeat(" ", len(vehicle)))
					time.Sleep(700 * time.Millisecond) // in all more than the body's time without its rate
				}
				conn.say("%s", vehicle).answer(422) // the name is too long; it was read to its end
			},
			"HTTP/2 without encryption": func(t *testing.T) {
				dialRaw(t, m.base).say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").answer(405) // a method like any other
			},
			"many requests at once": func(t *testing.T) {
				conn := dialRaw(t, m.base)
				refused := "POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcde"
				all := strings.Repeat("GET /v1/vehicles HTTP/1.1\r\nHost: x\r\n"+key+"\r\n"+refused, 50)
				go func() { _, _ = io.WriteString(conn, all) }()
				for range 50 {
					conn.answer(200)
					conn.answer(404) // its body is no request
				}
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				story(t)
			})
		}
	})

	t.Run("more connections than there may be", func(t *testing.T) {
		crowd := make([]*raw, 2000)
		for i := range crowd {
			crowd[i] = dialRaw(t, m.base)
		}
		if open := m.metric("motorpool_http_connections "); open > 60 {
			t.Errorf("%v connections are open", open)
		}
		refused := 0
		for _, conn := range crowd {
			_ = conn.SetReadDeadline(time.Now().Add(clientsPatience))
			response, err := http.ReadResponse(conn.head, nil)
			switch {
			case err == nil && response.StatusCode == 503 && response.Header.Get("Retry-After") != "":
				refused++
			case err == nil || errors.Is(err, os.ErrDeadlineExceeded):
				t.Errorf("neither refused nor closed: %v %v", response, err)
			}
		}
		t.Logf("%d of %d were refused, the others closed when the time of their head was over", refused, len(crowd))
		if warned := strings.Count(m.said(), "connections are refused"); refused == 0 || warned < 1 || warned > 3 {
			t.Errorf("%d refused connections were told %d times", refused, warned)
		}
	})
	m.eventually("served again", func() error {
		status, body := c.call(t.Context(), http.MethodGet, "/v1/vehicles", "")
		if status != 200 {
			return fmt.Errorf("%d %s", status, body)
		}
		return nil
	})
}

// drip sends a byte a second until the other side has had enough.
func drip(conn *raw, text string) {
	for i := range len(text) {
		if _, err := conn.Write([]byte(text[i : i+1])); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

// metric reads a number from /metrics.
func (m *machine) metric(name string) (v float64) {
	m.t.Helper()
	_, text, err := get(m.ops+"/metrics", "")
	if err != nil {
		m.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			if _, err := fmt.Sscan(rest, &v); err != nil {
				m.t.Fatal(err)
			}
			return v
		}
	}
	m.t.Fatalf("no metric %s", name)
	return 0
}

// TestOneAddressHasItsShareOfConnections counts by address, except for those that many clients are behind.
func TestOneAddressHasItsShareOfConnections(t *testing.T) {
	b := newBoundedSocket(nil,
		crowd{All: 7, PerAddress: 2, Uncounted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, nil)
	var leaves []func()
	for _, step := range []struct {
		from string
		in   bool
	}{
		{"192.0.2.1", true}, {"192.0.2.1", true}, {"192.0.2.1", false}, {"192.0.2.2", true},
		{"2001:db8::1", true}, {"2001:db8::2", true}, {"2001:db8::3", false}, // one customer's
		{"10.1.2.3", true}, {"127.0.0.1", true}, {"10.1.2.3", false}, // a proxy and this machine, until all are taken
	} {
		leave, refusal := b.enter(netip.MustParseAddr(step.from))
		if (refusal == "") != step.in {
			t.Errorf("%s: %q, want in %t", step.from, refusal, step.in)
		}
		if refusal == "" {
			leaves = append(leaves, leave)
		}
	}
	for _, leave := range leaves {
		leave()
	}
	if b.open() != 0 || len(b.counts) != 0 {
		t.Errorf("%d and %v are left", b.open(), b.counts)
	}
}
