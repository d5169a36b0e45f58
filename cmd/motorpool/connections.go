package main

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// crowd bounds the connections of a listener.
type crowd struct {
	All        int            // at once
	PerAddress int            // of them from one IPv4 address, or one /64 of IPv6
	Uncounted  []netip.Prefix // addresses behind which many clients are: proxies
}

// boundedSocket closes what comes above the bounds at once, with a sentence: whoever waits in a queue learns nothing.
type boundedSocket struct {
	net.Listener
	crowd   crowd
	log     *slog.Logger
	refused atomic.Int64
	tell    rate.Sometimes

	mu     sync.Mutex
	all    int
	counts map[netip.Prefix]int
}

func newBoundedSocket(socket net.Listener, c crowd, log *slog.Logger) *boundedSocket {
	return &boundedSocket{
		Listener: socket, crowd: c, log: log, counts: map[netip.Prefix]int{}, tell: rate.Sometimes{Interval: time.Minute},
	}
}

// Accept returns the next connection that is within the bounds.
func (b *boundedSocket) Accept() (net.Conn, error) {
	for {
		conn, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tcp := conn.(*net.TCPConn)
		from := tcp.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
		leave, refusal := b.enter(from)
		if refusal == "" {
			return &client{TCPConn: tcp, leave: sync.OnceFunc(leave)}, nil
		}
		n := b.refused.Add(1)
		b.tell.Do(func() {
			b.log.Warn("connections are refused", "address", from.String(), "why", refusal, "refused_since_start", n)
		})
		// There is room for this in the socket's buffer: nobody is waited for.
		_, _ = tcp.Write([]byte("HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\n" +
			"Content-Type: text/plain; charset=utf-8\r\n\r\n" + refusal + "\n"))
		_ = tcp.Close()
	}
}

// enter counts a connection, or says why there is no room for it.
func (b *boundedSocket) enter(from netip.Addr) (leave func(), refusal string) {
	counted := !from.IsLoopback() &&
		!slices.ContainsFunc(b.crowd.Uncounted, func(p netip.Prefix) bool { return p.Contains(from) })
	bits := 32
	if from.Is6() {
		bits = 64 // what one customer has
	}
	network, err := from.WithZone("").Prefix(bits)
	if err != nil {
		return nil, "Your address cannot be read."
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.all >= b.crowd.All:
		return nil, "This server has as many connections open as it may (--max-connections). Try again in some seconds."
	case counted && b.counts[network] >= b.crowd.PerAddress:
		return nil,
			"Your address has as many connections open as it may (--max-connections-per-address). Use those, or close some. " +
				"If this is the address of a proxy, name it in --trusted-proxies."
	}
	b.all++
	if counted {
		b.counts[network]++
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.all--
		if !counted {
			return
		}
		if b.counts[network]--; b.counts[network] == 0 {
			delete(b.counts, network)
		}
	}, ""
}

// open is how many connections there are.
func (b *boundedSocket) open() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all
}

// client is a connection that is counted until it is closed.
type client struct {
	*net.TCPConn
	leave func()
}

// Write sends, and if the client takes nothing until the deadline, has Close throw away what it did not take: the
// system would keep megabytes for it otherwise, and wait.
func (c *client) Write(b []byte) (int, error) {
	n, err := c.TCPConn.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		_ = c.SetLinger(0)
	}
	return n, err
}

// Close ends the connection and its count.
func (c *client) Close() error {
	defer c.leave()
	return c.TCPConn.Close()
}
