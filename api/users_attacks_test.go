package api

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/user/password"
)

// Whoever has somebody's browser for a minute, or their cookie, must not get the account for good.
func TestASessionResetsNothingOfItsOwnPerson(t *testing.T) {
	w := newWorld(t)
	ann, id := w.person("ann@example.com", auth.Owner)
	bob, other := w.person("bob@example.com", auth.Owner)
	for _, verb := range []string{"reset_password", "reset_factors"} {
		r := ann.json("POST", "/v1/users/"+id+"/"+verb, "")
		if p := r.problem(403, "insufficient_scope"); !strings.Contains(p.Detail, "/signin/") {
			t.Errorf("%s does not say how: %s", verb, p.Detail)
		}
		ann.json("GET", "/v1/account", "").ok(200)
	}
	ann.json("POST", "/v1/users/"+other+"/reset_factors", "").ok(200)
	ann.json("POST", "/v1/users/"+other+"/reset_password", "").ok(200)
	bob.json("GET", "/v1/account", "").problem(401, "unauthorized")
	w.do("POST", "/v1/users/"+id+"/reset_factors", "").ok(200) // by a key of the account
}

// plain makes a request from this machine as a client says it, Host and all.
func (w *world) plain(method, path, host string, headers ...string) *reply {
	w.t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(w.t.Context()), method, w.url+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Host = host
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return &reply{t: w.t, log: w.log, status: res.StatusCode, header: res.Header, body: text}
}

func TestTheHostOfARequestDecidesNothing(t *testing.T) {
	const invite = `{"name":"A","role":"clerk","email":"`
	link := func(r *reply) string { return r.ok(201).object()["invitation_url"].(string) }
	t.Run("on this machine", func(t *testing.T) {
		w := newWorld(t)
		w.plain("GET", "/signin", "fleet.example.com").ok(200) // the connection is of this machine, whatever it says
		// A proxy on this machine that nobody named brings people from elsewhere.
		for _, name := range []string{"X-Forwarded-For", "Forwarded", "X-Forwarded-Host", "Via"} {
			w.plain("GET", "/signin", "localhost", name, "192.0.2.1").ok(403)
		}
		req, _ := http.NewRequestWithContext(t.Context(), "POST", w.url+"/v1/users",
			strings.NewReader(invite+`a@example.com"}`))
		req.Host = "evil.example"
		req.Header.Set("Authorization", "Bearer "+w.key)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		if at := link(&reply{t: t, status: res.StatusCode, body: text}); !strings.HasPrefix(at, w.url+"/signin/") {
			t.Errorf("the link is %s", at)
		}
		made := w.do("POST", "/v1/users", invite+`b@example.com"}`, "X-Forwarded-Host", "evil.example")
		if at := link(made); !strings.HasPrefix(at, w.url+"/signin/") {
			t.Errorf("the link is %s", at)
		}
	})
	t.Run("behind a proxy", func(t *testing.T) {
		w := newWorld(t, func(cfg *rest.Config, _ *Deps) {
			cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		})
		const from = "X-Forwarded-For"
		w.plain("GET", "/signin", "localhost", from, "192.0.2.1").ok(403)
		w.plain("GET", "/signin", "evil.example", from, "192.0.2.1", "X-Forwarded-Proto", "https").ok(200)
		w.plain("GET", "/signin", "localhost").ok(200)
	})
	t.Run("from elsewhere", func(t *testing.T) {
		w := newWorld(t)
		at, ok := otherAddress()
		if !ok {
			t.Log("this machine has no address but its own")
			return
		}
		listener, err := net.Listen("tcp", net.JoinHostPort(at, "0"))
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: w.api.Handler()}
		go func() { _ = server.Serve(listener) }()
		t.Cleanup(func() { server.Close() })
		w.url = "http://" + listener.Addr().String()
		w.plain("GET", "/signin", "localhost").ok(403)
		w.plain("GET", "/signin", "127.0.0.1").ok(403)
	})
	t.Run("with an address", func(t *testing.T) {
		w := newWorld(t, func(_ *rest.Config, d *Deps) { d.Users.PublicURL = "https://fleet.example.com" })
		if at := link(w.do("POST", "/v1/users", invite+`a@example.com"}`)); !strings.HasPrefix(at,
			"https://fleet.example.com/signin/") {
			t.Errorf("the link is %s", at)
		}
	})
}

// otherAddress is an address of this machine that is not its own alone.
func otherAddress() (string, bool) {
	all, _ := net.InterfaceAddrs()
	for _, one := range all {
		if at, ok := one.(*net.IPNet); ok && !at.IP.IsLoopback() && at.IP.To4() != nil {
			return at.IP.String(), true
		}
	}
	return "", false
}

func TestWhoseSessionIsNotLookedUpIsToldToWait(t *testing.T) {
	w := newWorld(t)
	b, _ := w.person("ann@example.com", auth.Clerk)
	b.json("GET", "/v1/account", "").ok(200)
	there := b.elsewhere() // which has not seen the session
	strange := func(n int) int {
		return w.plainAt(there.url, "GET", "/v1/account", "Cookie", "motorpool_session="+strings.Repeat("x", 40)+
			fmt.Sprintf("%03d", n)).status
	}
	last, began := 0, time.Now()
	for n := 0; n < 62+int(time.Since(began)/time.Second) && last != 429; n++ { // sixty, and one more each second
		last = strange(n)
	}
	wantEqual(t, "after many strange cookies", last, 429)
	r := there.json("GET", "/v1/account", "")
	r.problem(429, "rate_limited")
	if r.header.Get("Retry-After") == "" {
		t.Error("nothing says when to try again")
	}
	there.form("/signout").ok(429)
	if b.cookie() == "" {
		t.Error("the cookie is gone, and the session lives")
	}
	there.open("/signin").ok(429)
	b.form("/signout").ok(303) // where it is known
	b.json("GET", "/v1/account", "").problem(401, "unauthorized")
}

// plainAt makes a request of no browser.
func (w *world) plainAt(url, method, path string, headers ...string) *reply {
	w.t.Helper()
	other := *w
	other.url = url
	return other.plain(method, path, "", headers...)
}

func TestWhoComesAtABusyMomentIsToldToTryAgain(t *testing.T) {
	w := newWorld(t, func(_ *rest.Config, d *Deps) {
		// Long enough that a crowd has the line full, and no longer: who gets into it waits for all of it.
		d.Users.Hashing = password.Config{MemoryKiB: 8 << 10, Time: 4, AtOnce: 1}
	})
	ann, _ := w.person("ann@example.com", auth.Clerk)
	cat := w.do("POST", "/v1/users", `{"name":"C","email":"cat@example.com","role":"clerk"}`).ok(201)
	invite := func() string {
		return w.do("POST", "/v1/users/"+cat.id()+"/reset_password", "").ok(200).object()["invitation_url"].(string)
	}
	emails := []string{"a1@example.com", "a2@example.com", "a3@example.com", "a4@example.com"}
	for _, email := range emails {
		w.person(email, auth.Clerk)
	}
	over, stop := context.WithCancel(t.Context())
	var crowd sync.WaitGroup
	for _, email := range emails {
		for range 7 {
			crowd.Go(func() {
				for over.Err() == nil {
					if r := w.browser().signIn(email, goodPassword); r.status != 303 && r.status != 503 {
						t.Errorf("a sign-in: %d %s", r.status, r.body)
						return
					}
				}
			})
		}
	}
	link := invite()
	for name, try := range map[string]func() *reply{
		"sign in": func() *reply { return w.browser().signIn("ann@example.com", goodPassword) },
		"change the password": func() *reply {
			return ann.form("/signin/password", "present", goodPassword, "password", "another horse", "again", "")
		},
		"set up an app": func() *reply { return ann.form("/signin/security/begin", "password", goodPassword) },
		"accept": func() *reply {
			r := w.browser().accept(link)
			if r.status == 303 {
				link = invite()
			}
			return r
		},
	} {
		var r *reply
		for range 60 {
			if r = try(); r.status == 503 {
				break
			}
		}
		if r.status != 503 || r.header.Get("Retry-After") == "" ||
			!strings.HasPrefix(r.header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %v", name, r.status, r.header)
		}
	}
	stop()
	crowd.Wait()
	w.browser().signIn("ann@example.com", goodPassword).ok(303) // what was sent away counts as no failure
}

// devices are the cookies by which a browser shows who has signed in there.
func (b *browser) devices() (found []*http.Cookie) {
	at, _ := url.Parse(b.url)
	for _, c := range b.client.Jar.Cookies(at) {
		if strings.HasPrefix(c.Name, "motorpool_device_") {
			found = append(found, c)
		}
	}
	return found
}

func (b *browser) put(name, value string) {
	at, _ := url.Parse(b.url)
	b.client.Jar.SetCookies(at, []*http.Cookie{{Name: name, Value: value, Path: "/"}})
}

func TestWhoHasSignedInHereBeforeIsNotKeptOut(t *testing.T) {
	w := newWorld(t, func(cfg *rest.Config, d *Deps) {
		cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		d.Users.PublicURL = d.OAuth.Issuer // which is on this machine, so that passwords may be typed there
	})
	ann, _ := w.person("ann@example.com", auth.Clerk)
	bob, _ := w.person("bob@example.com", auth.Clerk)
	try := func(b *browser, from, password string) int {
		return b.send("POST", "/signin", "email=ann%40example.com&password="+strings.ReplaceAll(password, " ", "+"),
			"application/x-www-form-urlencoded", "X-Forwarded-For", from).status
	}
	got := map[int]int{}
	for n := range 110 {
		got[try(w.browser(), fmt.Sprintf("192.0.2.%d", n/10), "a wrong password")]++
	}
	wantEqual(t, "guesses from many networks", got, map[int]int{401: 100, 429: 10})
	wantEqual(t, "another browser", try(w.browser(), "198.51.100.2", goodPassword), 429)
	wantEqual(t, "somebody else's browser", try(bob, "198.51.100.2", goodPassword), 429)
	cookies := ann.devices()
	if len(cookies) != 1 {
		t.Fatalf("her browser has %v", cookies)
	}
	forged := w.browser()
	forged.put(cookies[0].Name, cookies[0].Value[:len(cookies[0].Value)-4]+"AAAA")
	wantEqual(t, "a forged cookie", try(forged, "198.51.100.2", goodPassword), 429)
	wantEqual(t, "her own browser", try(ann, "192.0.2.1", goodPassword), 303)
	// Who stole the cookie has no more attempts than a network.
	got = map[int]int{}
	for n := range 15 {
		got[try(ann, fmt.Sprintf("203.0.113.%d", n), "a wrong password")]++
	}
	wantEqual(t, "guesses with the cookie", got, map[int]int{401: 10, 429: 5})
}

func TestEachSessionIsListed(t *testing.T) {
	w := newWorld(t)
	ann, id := w.person("ann@example.com", auth.Clerk)
	number := strings.TrimPrefix(id, "usr_")
	w.exec("INSERT INTO sessions (account, user, id, token, factors, began_at, seen_at, at) SELECT " +
		fmt.Sprint(uint64(w.account)) + ", " + number + ", number, '', 2, now64(), now64(), now64() FROM numbers(1, 1200)")
	first := ann.json("GET", "/v1/sessions?per_page=100", "").ok(200)
	wantEqual(t, "sessions", first.pagination().Total, 1201)
	seen := map[string]bool{}
	for at := first; ; {
		for _, s := range at.data() {
			seen[s["id"].(string)] = true
		}
		next, _ := at.object()["pagination"].(map[string]any)["next_cursor"].(string)
		if next == "" {
			break
		}
		at = ann.json("GET", "/v1/sessions?per_page=100&cursor="+url.QueryEscape(next), "").ok(200)
	}
	wantEqual(t, "different ones", len(seen), 1201)
	wantEqual(t, "of the thirteenth page", len(ann.json("GET", "/v1/sessions?per_page=100&page=13", "").data()), 1)
	ann.json("DELETE", "/v1/sessions/ses_1", "").ok(204)
	ann.json("DELETE", "/v1/sessions/ses_1", "").problem(404, "not_found")
	wantEqual(t, "after one was ended", w.do("GET", "/v1/sessions?user_id="+id, "").pagination().Total, 1200)
	w.do("POST", "/v1/users/"+id+"/end_sessions", "").ok(200)
	wantEqual(t, "after all were ended", w.do("GET", "/v1/sessions", "").pagination().Total, 0)
}
