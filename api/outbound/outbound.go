// Package outbound makes the clients by which the program asks servers that somebody named: they follow no
// redirect, use no proxy, end in time, and check each address when they connect to it, because what a name resolves
// to can change.
package outbound

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// ErrForbidden refuses a connection to where the server should not be.
var ErrForbidden = errors.New("the server is at an address that the settings do not allow")

// Reach says where a server may be: anywhere in public, if nothing is said.
type Reach struct {
	Private  bool           // also on this machine or in a private network
	Networks []netip.Prefix // if any are named, in these and nowhere else
}

// NewClient returns a client of servers within reach, for one of which a request takes no longer than the timeout.
func NewClient(reach Reach, timeout time.Duration) *http.Client {
	dialer := &net.Dialer{Timeout: timeout, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !reach.permits(at.Addr()) {
			return fmt.Errorf("%w: %s", ErrForbidden, address)
		}
		return nil
	}}
	return &http.Client{
		Timeout:       timeout,
		Transport:     &http.Transport{DialContext: dialer.DialContext, MaxIdleConns: 1, TLSHandshakeTimeout: timeout},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// shared is the address space of carriers (RFC 6598), which is no more public than a private one.
var shared = netip.MustParsePrefix("100.64.0.0/10")

func (r Reach) permits(at netip.Addr) bool {
	at = at.Unmap()
	if len(r.Networks) > 0 {
		for _, network := range r.Networks {
			if network.Contains(at) {
				return true
			}
		}
		return false
	}
	if at.IsUnspecified() || at.IsMulticast() || at.IsLinkLocalUnicast() {
		return false
	}
	return r.Private || !at.IsPrivate() && !at.IsLoopback() && !shared.Contains(at)
}
