// Package outbound makes the clients by which the program asks servers that somebody named: they follow no redirect,
// use no proxy, end in time, read no more than they are told, and check each address when they connect to it, because
// what a name resolves to can change between a look and the next.
package outbound

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// Errors of connections and answers.
var (
	ErrForbidden = errors.New("the server is at an address that the settings do not allow")
	ErrTooLong   = errors.New("the answer is longer than what is read of one")
)

// Reach says where a server may be: anywhere in public, if nothing is said.
type Reach struct {
	Private  bool           // also on this machine or in a private network
	Networks []netip.Prefix // also in these, whatever they are
	Ports    []uint16       // on these alone, if any are named
}

// Bounds are what one request may take.
type Bounds struct {
	Timeout time.Duration // from the look for its name to the last byte of its answer
	Answer  int64         // bytes of the body of an answer; reading on is ErrTooLong
	Idle    int           // connections that are kept open to one server; 1 if nothing is said
}

// mostIdle is how many connections are kept open to all servers together.
const mostIdle = 1000

// maxHead is how much of the head of an answer is read, in bytes.
const maxHead = 64 << 10

// NewClient returns a client of servers within reach.
func NewClient(reach Reach, bounds Bounds) *http.Client {
	return newClient(reach, bounds, nil)
}

// newClient is NewClient that looks for names where it is told to, or where the system does.
func newClient(reach Reach, bounds Bounds, names *net.Resolver) *http.Client {
	guardian := reach.guardian()
	dialer := &net.Dialer{Timeout: bounds.Timeout, Resolver: names,
		Control: func(network, address string, raw syscall.RawConn) error {
			if err := guardian.Safe(network, address, raw); err != nil {
				return fmt.Errorf("%w: %w", ErrForbidden, err)
			}
			return nil
		}}
	return &http.Client{
		Timeout: bounds.Timeout,
		Transport: capped{bounds.Answer, &http.Transport{DialContext: dialer.DialContext,
			MaxIdleConns: mostIdle, MaxIdleConnsPerHost: max(bounds.Idle, 1), IdleConnTimeout: time.Minute,
			TLSHandshakeTimeout:    bounds.Timeout,
			MaxResponseHeaderBytes: maxHead, ForceAttemptHTTP2: true}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// private are the networks that are no more public than this machine. Addresses of single links are not among them:
// what answers there (169.254.169.254 of clouds) is no server that anybody named.
var private = []netip.Prefix{
	netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("fc00::/7"),
}

// guardian judges addresses: what is in no public network is refused, also where it is written into an address of
// IPv6 (mapped, NAT64, 6to4, Teredo).
func (r Reach) guardian() *ssrf.Guardian {
	also := r.Networks
	if r.Private {
		also = append(private[:len(private):len(private)], also...)
	}
	var v4, v6 []netip.Prefix
	for _, network := range also {
		if network.Addr().Is4() {
			v4 = append(v4, network)
		} else {
			v6 = append(v6, network)
		}
	}
	return ssrf.New(ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...), ssrf.WithPorts(r.Ports...))
}

// capped is a transport that reads no more than so many bytes of an answer.
type capped struct {
	most int64
	http.RoundTripper
}

// RoundTrip asks as the transport below does. A body that is too long ends with ErrTooLong.
func (c capped) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = &cappedBody{answer.Body, c.most}
	}
	return answer, err
}

type cappedBody struct {
	io.ReadCloser
	left int64
}

func (b *cappedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if int64(n) > b.left {
		return int(b.left), ErrTooLong
	}
	b.left -= int64(n)
	return n, err
}
