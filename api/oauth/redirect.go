package oauth

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// badRedirect says what is wrong with an address that people are to come back to; empty if nothing is.
func badRedirect(text string) string {
	u, err := url.Parse(text)
	switch {
	case len(text) > 2000:
		return "is longer than 2000 characters"
	case err != nil || u.Scheme == "" || strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c > '~' }):
		return "is no absolute address"
	case u.Fragment != "" || strings.Contains(text, "#"):
		return "must have no fragment"
	case strings.Contains(text, "*"):
		return "must be one whole address, without *"
	case u.User != nil:
		return "must have no user"
	case !plainHost(u.Host):
		return "must have a host of letters, digits, dots, hyphens and a port alone"
	case !strings.HasPrefix(text, u.Scheme) || // which Parse writes small
		strings.Contains(text, `\`):
		return "is not written as browsers write it"
	}
	switch {
	case u.Scheme == "https":
		if u.Hostname() == "" {
			return "must have a host"
		}
	case u.Scheme == "http":
		if !loopback(u) {
			return "may be http:// only on 127.0.0.1, [::1] or localhost"
		}
	case !strings.Contains(u.Scheme, "."):
		return "must be https://, or have a scheme that is a name turned around, such as com.example.app:/back"
	}
	return ""
}

// plainHost says whether a host has no characters but those of names, addresses and ports, so that it can stand in a
// policy.
func plainHost(host string) bool {
	return !strings.ContainsFunc(host, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(".:[]-", c))
	})
}

// loopback says whether an address is on the machine of whoever uses it.
func loopback(u *url.URL) bool { return u.Hostname() == "localhost" || loopbackIP(u) }

// loopbackIP says so of an address without a name, whose port is free: programs take any (RFC 8252, section 7.3).
func loopbackIP(u *url.URL) bool {
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && (ip == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || ip == netip.IPv6Loopback())
}

// redirectsTo says whether an address is one of a client's: the same text, or the same but for the port where that is
// free.
func redirectsTo(registered []string, text string) bool {
	if slices.Contains(registered, text) {
		return true
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || !loopbackIP(u) || badRedirect(text) != "" {
		return false
	}
	bare, ok := withoutPort(text, u)
	return ok && slices.ContainsFunc(registered, func(one string) bool {
		other, err := url.Parse(one)
		if err != nil || other.Scheme != "http" || !loopbackIP(other) {
			return false
		}
		same, ok := withoutPort(one, other)
		return ok && same == bare
	})
}

// withoutPort writes an address without its port, and otherwise character by character as it is.
func withoutPort(text string, u *url.URL) (string, bool) {
	rest, ok := strings.CutPrefix(text, "http://"+u.Host)
	host := strings.TrimSuffix(u.Host, ":"+u.Port())
	return "http://" + host + rest, ok
}
