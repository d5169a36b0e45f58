package outbound

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxAddress is how long an address may be, in bytes.
const maxAddress = 2048

// Check says, in words for whoever wrote it, why an address is none that is called: it has to be https (or http, where
// plain is true), with a host, without a user, a password and a fragment, on a port within reach. Where a name leads is
// only known when it is called; an address that is written as a number is judged at once.
func (r Reach) Check(address string, plain bool) error {
	if len(address) > maxAddress {
		return fmt.Errorf("the address is longer than %d characters", maxAddress)
	}
	at, err := url.Parse(address)
	switch {
	case err != nil || !at.IsAbs() || at.Opaque != "" || at.Hostname() == "":
		return fmt.Errorf("%q is no address such as https://example.com/path", address)
	case at.Scheme != "https" && (at.Scheme != "http" || !plain):
		if plain {
			return fmt.Errorf("the address begins with %q, not with https:// or http://", at.Scheme+"://")
		}
		return fmt.Errorf("the address begins with %q, not with https://", at.Scheme+"://")
	case at.User != nil:
		return fmt.Errorf("the address holds a user or a password; a header of your own can hold a secret")
	case strings.Contains(address, "#"):
		return fmt.Errorf("the address has a fragment (#), which is never sent")
	}
	port := portOf(at)
	if port == 0 || len(r.Ports) > 0 && !slices.Contains(r.Ports, port) {
		return fmt.Errorf("the port of the address must be one of %s, which the operator of this server allows", listed(r.Ports))
	}
	if ip, err := netip.ParseAddr(at.Hostname()); err == nil {
		if err := r.guardian().SafeAddr(ip.Unmap()); err != nil {
			return fmt.Errorf("%s is in no public network", ip)
		}
	}
	return nil
}

// portOf is the port that an address names, or that of its scheme; 0 is none.
func portOf(at *url.URL) uint16 {
	if at.Port() == "" {
		return map[string]uint16{"https": 443, "http": 80}[at.Scheme]
	}
	port, err := strconv.ParseUint(at.Port(), 10, 16)
	if err != nil {
		return 0
	}
	return uint16(port)
}

func listed(ports []uint16) string {
	if len(ports) == 0 {
		return "1 to 65535"
	}
	words := make([]string, len(ports))
	for i, port := range ports {
		words[i] = strconv.Itoa(int(port))
	}
	return strings.Join(words, ", ")
}
