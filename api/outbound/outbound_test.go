package outbound

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// hostile are hosts behind which nobody may reach anything: addresses of this machine, of private networks and of
// none, in every way of writing them that a resolver or a parser may understand, and names that lead there.
var hostile = []string{
	"127.0.0.1", "127.0.0.2", "127.1", "127.0.1", "127.255.255.254", "2130706433", "017700000001", "0177.0.0.1",
	"0x7f.0.0.1", "0x7f000001", "0x7f.1", "127.0.0.1.", "127.000.000.001", "0", "0.0.0.0", "0.1.2.3",
	"localhost", "LOCALHOST", "localhost.", "ip6-localhost", "１２７.0.0.1", "127。0。0。1", "①②⑦.0.0.1", "10.0.0.1",
	"10.255.255.255", "012.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255",
	"100.64.0.1", "100.127.255.255", "169.254.169.254", "169.254.0.1", "2852039166", "0xa9fea9fe", "192.0.0.1",
	"192.0.0.170", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1",
	"224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]",
	"[0000::0001]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:10.0.0.1]", "[::ffff:169.254.169.254]",
	"[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]",
	"[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[2001:0:7f00:1::]", "[2001:db8::1]",
	"[2001:10::1]", "[fe80::1]", "[fe80::1%25lo]", "[fec0::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]",
	"[100::1]", "[3fff::1]", "[5f00::1]", "a.inside.test", "b.inside.test", "mapped.inside.test",
	"nat64.inside.test", "both.inside.test", "link.inside.test",
}

// names are what the names of the test lead to; turned leads elsewhere each time that somebody asks.
var names = map[string][]string{
	"a.inside.test.": {"127.0.0.1"}, "b.inside.test.": {"10.1.2.3"}, "mapped.inside.test.": {"::ffff:127.0.0.1"},
	"nat64.inside.test.": {"64:ff9b::7f00:1"}, "both.inside.test.": {"::1", "127.0.0.1"},
	"link.inside.test.": {"169.254.169.254"},
}

func TestNothingInsideIsDialled(t *testing.T) {
	var hit atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hit.Add(1) }))
	defer inside.Close()
	_, port, _ := net.SplitHostPort(inside.Listener.Addr().String())
	resolver, _ := nameServer(t)
	client := newClient(Reach{}, Bounds{Timeout: 2 * time.Second, Answer: 100}, resolver)
	if len(hostile) < 60 {
		t.Fatal("too few")
	}
	for _, host := range hostile {
		answer, err := client.Get("http://" + host + ":" + port + "/")
		if err == nil {
			answer.Body.Close()
			t.Errorf("%s was reached: %s", host, answer.Status)
		}
		var dns *net.DNSError
		var unread *url.Error
		if !errors.Is(err, ErrForbidden) && !errors.As(err, &dns) && !(errors.As(err, &unread) && unread.Op == "parse") {
			t.Errorf("%s: %v: not refused, and there is such a host", host, err)
		}
	}
	if hit.Load() > 0 {
		t.Errorf("%d requests went inside", hit.Load())
	}
	// The same client, name server and listener reach what is allowed: what was refused was not out of reach.
	allowed := newClient(Reach{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
		Bounds{Timeout: 2 * time.Second, Answer: 100}, resolver)
	answer, err := allowed.Get("http://a.inside.test:" + port + "/")
	if err != nil || hit.Load() != 1 {
		t.Fatal(err, hit.Load())
	}
	answer.Body.Close()
}

// A name that leads outside when somebody looks and inside when it is dialled is judged by what is dialled.
func TestAnAnswerThatChangesIsJudgedWhenItIsDialled(t *testing.T) {
	var hit atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hit.Add(1) }))
	defer inside.Close()
	_, port, _ := net.SplitHostPort(inside.Listener.Addr().String())
	resolver, asked := nameServer(t)
	seen, err := resolver.LookupNetIP(t.Context(), "ip4", "turned.test")
	if err != nil || seen[0].String() != "93.184.215.14" {
		t.Fatal(seen, err)
	}
	client := newClient(Reach{}, Bounds{Timeout: 2 * time.Second, Answer: 100}, resolver)
	_, err = client.Get("http://turned.test:" + port)
	if !errors.Is(err, ErrForbidden) || hit.Load() > 0 || asked.Load() < 2 {
		t.Errorf("%v, %d reached, %d asked", err, hit.Load(), asked.Load())
	}
}

func TestPrivateNetworksAreWithinReachWhereTheSettingsSaySo(t *testing.T) {
	for at, permitted := range map[string]bool{"10.1.2.3": true, "127.0.0.1": true, "::1": true, "fd00::1": true,
		"100.64.0.1": true, "93.184.215.14": true, "2606:2800:21f::1": true, "169.254.169.254": false, "0.0.0.0": false,
		"fe80::1": false, "224.0.0.1": false, "64:ff9b::a9fe:a9fe": false} {
		if err := (Reach{Private: true}).guardian().SafeAddr(netip.MustParseAddr(at)); (err == nil) != permitted {
			t.Errorf("%s: %v", at, err)
		}
	}
	one := Reach{Networks: []netip.Prefix{netip.MustParsePrefix("10.20.0.0/16"), netip.MustParsePrefix("fd00:20::/32")}}
	for at, permitted := range map[string]bool{"10.20.0.1": true, "10.21.0.1": false, "fd00:20::1": true,
		"fd00:21::1": false, "93.184.215.14": true} {
		if err := one.guardian().SafeAddr(netip.MustParseAddr(at)); (err == nil) != permitted {
			t.Errorf("%s: %v", at, err)
		}
	}
	ports := Reach{Private: true, Ports: []uint16{443, 8443}}.guardian()
	if ports.SafeAddrPort(netip.MustParseAddrPort("127.0.0.1:22")) == nil ||
		ports.SafeAddrPort(netip.MustParseAddrPort("127.0.0.1:8443")) != nil {
		t.Error("ports are judged wrongly")
	}
}

func TestAddressesAreJudgedInWords(t *testing.T) {
	for address, said := range map[string]string{
		"https://example.com/hook":               "",
		"https://example.com:8443/hook?a=b":      "",
		"https://93.184.215.14/":                 "",
		"http://example.com/hook":                "not with https://",
		"ftp://example.com/hook":                 "not with https://",
		"example.com/hook":                       "no address such as",
		"//example.com":                          "no address such as",
		"https:///hook":                          "no address such as",
		"https:example.com":                      "no address such as",
		"https://exa mple.com":                   "no address such as",
		"https://u:p@example.com":                "holds a user",
		"https://example.com/#a":                 "fragment",
		"https://example.com:22/":                "the port of the address must be one of 443, 8443",
		"https://example.com:99999/":             "the port",
		"https://127.0.0.1/":                     "in no public network",
		"https://[::ffff:127.0.0.1]/":            "in no public network",
		"https://[64:ff9b::7f00:1]/":             "in no public network",
		"https://a/" + strings.Repeat("x", 2048): "longer than",
	} {
		err := Reach{Ports: []uint16{443, 8443}}.Check(address, false)
		if said == "" && err != nil || said != "" && (err == nil || !strings.Contains(err.Error(), said)) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := (Reach{Private: true}).Check("http://127.0.0.1:8080/hook", true); err != nil {
		t.Error(err)
	}
}

func TestAnswersAreReadUpToABound(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/endless":
			for range 1000 {
				if _, err := fmt.Fprint(w, strings.Repeat("x", 1000)); err != nil {
					return
				}
			}
		case "/head":
			w.Header().Set("X-Long", strings.Repeat("x", 2*maxHead))
		case "/away":
			http.Redirect(w, r, "/exact", http.StatusFound)
		case "/exact":
			fmt.Fprint(w, strings.Repeat("x", 100))
		}
	}))
	defer server.Close()
	client := NewClient(Reach{Private: true}, Bounds{Timeout: 5 * time.Second, Answer: 100})
	read := func(path string) (int, int, error) {
		answer, err := client.Get(server.URL + path)
		if err != nil {
			return 0, 0, err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		return answer.StatusCode, len(body), err
	}
	if status, n, err := read("/exact"); status != 200 || n != 100 || err != nil {
		t.Error(status, n, err)
	}
	if _, n, err := read("/endless"); n != 100 || !errors.Is(err, ErrTooLong) {
		t.Error(n, err)
	}
	if _, _, err := read("/head"); err == nil {
		t.Error("a head without end was read")
	}
	if status, _, err := read("/away"); status != http.StatusFound || err != nil {
		t.Error("a redirect was followed", status, err)
	}
}

// A proxy that the environment names would be asked in the place of the server, and would dial for us.
func TestNoProxyIsAsked(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	client := NewClient(Reach{}, Bounds{Timeout: time.Second, Answer: 1})
	if client.Transport.(capped).RoundTripper.(*http.Transport).Proxy != nil {
		t.Error("the environment may name a proxy")
	}
}

// nameServer answers names of the test on this machine, and counts how often it was asked for the one whose answer
// changes.
func nameServer(t *testing.T) (*net.Resolver, *atomic.Int32) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	var asked atomic.Int32
	go func() {
		packet := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			if answer, err := answerTo(packet[:n], &asked); err == nil {
				conn.WriteTo(answer, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}, &asked
}

func answerTo(packet []byte, asked *atomic.Int32) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(packet); err != nil {
		return nil, err
	}
	q := m.Questions[0]
	m.Response, m.Additionals = true, nil
	to := names[q.Name.String()]
	if q.Name.String() == "turned.test." {
		to = []string{"127.0.0.1"}
		if q.Type == dnsmessage.TypeA && asked.Add(1) == 1 {
			to = []string{"93.184.215.14"}
		}
	}
	if to == nil {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, one := range to {
		head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
		switch at := netip.MustParseAddr(one); {
		case at.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: at.As4()}})
		case at.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: at.As16()}})
		}
	}
	return m.Pack()
}
