package rest

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
)

// ClientAddr returns the address of the client: of the connection, or, behind proxies that we trust, the last address
// in X-Forwarded-For that is none of theirs. What is left of that the client may have made up.
func (a *Server) ClientAddr(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.IPv6Unspecified()
	}
	client := at.Addr().Unmap()
	if !a.trusted(client) {
		a.strangers.note(r, a, client)
		return client
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && a.trusted(client); i-- {
		hop, ok := hopAddr(hops[i])
		if !ok {
			break
		}
		client = hop
	}
	return client
}

// fromProxy says whether a request comes from a proxy that we trust.
func (a *Server) fromProxy(r *http.Request) bool {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && a.trusted(at.Addr().Unmap())
}

// hopAddr reads an entry of X-Forwarded-For. Some proxies give a port too.
func hopAddr(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap(), true
	}
	addr, err := netip.ParseAddr(text)
	return addr.Unmap(), err == nil
}

func (a *Server) trusted(addr netip.Addr) bool {
	return slices.ContainsFunc(a.Config.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// MaxStrangers bounds the peers that are told of: anybody can send a header.
const MaxStrangers = 100

// strangers are the peers whose forwarded headers are not believed and were told of.
type strangers struct {
	mu   sync.Mutex
	seen map[netip.Addr]bool
}

// note tells once of a peer that seems to be a proxy of ours, because all its clients then count as one.
func (s *strangers) note(r *http.Request, a *Server, peer netip.Addr) {
	if r.Header.Get("X-Forwarded-For") == "" && r.Header.Get("Forwarded") == "" {
		return
	}
	s.mu.Lock()
	fresh := !s.seen[peer] && len(s.seen) < MaxStrangers
	if fresh {
		s.seen[peer] = true
	}
	s.mu.Unlock()
	if fresh {
		a.Log.WarnContext(context.WithoutCancel(r.Context()),
			"a peer that is not trusted says for whom it sends, and is not believed: "+
				"its clients share one address, in limits and in lists of allowed addresses. If it is a proxy of yours, give "+
				"--trusted-proxies and let it send X-Forwarded-For; if not, nothing needs to be done", "peer", peer.String(),
			"set", "--trusted-proxies "+peer.String())
	}
}
