package api

import (
	"context"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/motorpool/fleet/api/auth"
)

const goodPassword = "a horse in the rain"

// browser is a browser that keeps cookies and follows no redirect.
type browser struct {
	*world
	client *http.Client
	from   string   // Sec-Fetch-Site of what it sends; same-origin unless said
	always []string // headers that it sends with everything, as a proxy adds them
}

func (w *world) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return &browser{world: w, from: "same-origin", client: &http.Client{Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// send sends a request of a page: a form if it has one.
func (b *browser) send(method, path, body, mediaType string, headers ...string) *reply {
	b.t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(b.t.Context()), method, b.url+path,
		strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", mediaType)
	}
	if b.from != "" {
		req.Header.Set("Sec-Fetch-Site", b.from)
	}
	for _, pairs := range [][]string{b.always, headers} {
		for i := 0; i < len(pairs); i += 2 {
			req.Header.Set(pairs[i], pairs[i+1])
		}
	}
	res, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return &reply{t: b.t, log: b.log, status: res.StatusCode, header: res.Header, body: text}
}

func (b *browser) open(path string) *reply { b.t.Helper(); return b.send("GET", path, "", "") }

func (b *browser) form(path string, fields ...string) *reply {
	b.t.Helper()
	values := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		values.Set(fields[i], fields[i+1])
	}
	return b.send("POST", path, values.Encode(), "application/x-www-form-urlencoded")
}

func (b *browser) json(method, path, body string, headers ...string) *reply {
	b.t.Helper()
	return b.send(method, path, body, "application/json", headers...)
}

// cookie is the value of the session's cookie.
func (b *browser) cookie() string {
	at, _ := url.Parse(b.url)
	for _, c := range b.client.Jar.Cookies(at) {
		if c.Name == "motorpool_session" {
			return c.Value
		}
	}
	return ""
}

// person makes somebody with a role, who has chosen the password and is signed in.
func (w *world) person(email string, role auth.Role) (*browser, string) {
	w.t.Helper()
	made := w.do("POST", "/v1/users", `{"name":"Some One","email":"`+email+`","role":"`+string(role)+`"}`).ok(201)
	b := w.browser()
	b.accept(made.object()["invitation_url"].(string)).ok(303)
	return b, made.id()
}

// accept takes up an invitation with the password.
func (b *browser) accept(link string) *reply {
	b.t.Helper()
	_, token, _ := strings.Cut(link, "token=")
	token, _ = url.QueryUnescape(token)
	return b.form("/signin/invitation", "token", token, "password", goodPassword, "again", goodPassword)
}

func (b *browser) signIn(email, password string) *reply {
	b.t.Helper()
	return b.form("/signin", "email", email, "password", password)
}

func TestAPersonIsInvitedSignsInAndOut(t *testing.T) {
	w := newWorld(t)
	made := w.do("POST", "/v1/users", `{"name":"Ann <b>Lee","email":"Ann@example.com","role":"clerk"}`,
		"Idempotency-Key", "1").ok(201)
	link, _ := made.object()["invitation_url"].(string)
	path := "/v1/users/" + made.id()
	wantEqual(t, "Location", made.header.Get("Location"), path)
	wantEqual(t, "status", made.object()["status"], "invited")
	if !strings.HasPrefix(link, w.url+"/signin/invitation?token=") {
		t.Fatalf("link %s", link)
	}
	again := w.do("POST", "/v1/users", `{"name":"Ann <b>Lee","email":"Ann@example.com","role":"clerk"}`,
		"Idempotency-Key", "1").ok(201)
	if again.id() != made.id() || strings.Contains(string(again.body), "token=") {
		t.Errorf("again: %s", again.body)
	}
	w.do("POST", "/v1/users", `{"name":"B","email":"aNN@example.com","role":"clerk"}`).problem(409, "conflict")
	for _, bad := range []string{`{"name":"B","email":"b","role":"clerk"}`, `{"name":"B","email":"b@example.com"}`,
		`{"name":"B","email":"B <b@example.com>","role":"clerk"}`, `{"name":"B","email":"b@example.com","role":"king"}`,
		`{"name":"B","email":"b@example.com","role":"clerk","password_hash":"x"}`} {
		if r := w.do("POST", "/v1/users", bad); r.status != 422 {
			t.Errorf("%s: %d %s", bad, r.status, r.body)
		}
	}

	b := w.browser()
	shown := b.open(strings.TrimPrefix(link, w.url)).ok(200)
	for name, want := range map[string]string{"X-Frame-Options": "DENY", "Referrer-Policy": "strict-origin",
		"Cache-Control": "no-store", "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; " +
			"img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"} {
		wantEqual(t, name, shown.header.Get(name), want)
	}
	if !strings.Contains(string(shown.body), html.EscapeString("Ann <b>Lee")) ||
		regexp.MustCompile(`(?i)<script|style=|\son[a-z]+="`).Match(shown.body) {
		t.Errorf("page %s", shown.body)
	}
	_, token, _ := strings.Cut(link, "token=")
	b.form("/signin/invitation", "token", token, "password", "short", "again", "short").ok(422)
	b.form("/signin/invitation", "token", token, "password", goodPassword, "again", "another horse in the rain").ok(422)
	b.form("/signin/invitation", "token", token+"x", "password", goodPassword, "again", goodPassword).ok(404)
	b.accept(link).ok(303)
	b.accept(link).ok(404) // a link is used once

	me := b.json("GET", "/v1/account", "").ok(200).object()
	if me["user_id"] != made.id() || me["api_key_id"] != nil {
		t.Errorf("account %v", me)
	}
	b.json("GET", "/v1/bookings", "").ok(200)
	b.json("GET", "/v1/users", "").problem(403, "insufficient_scope")
	b.json("GET", "/v1/account", "", "Authorization", "Bearer x").problem(401, "unauthorized")
	sessions := b.json("GET", "/v1/sessions", "").data()
	if len(sessions) != 1 || sessions[0]["current"] != true || sessions[0]["user_id"] != made.id() {
		t.Errorf("sessions %v", sessions)
	}
	w.do("GET", path, "").ok(200)
	if who := w.do("GET", path, "").ok(200).object(); who["status"] != "active" || who["signed_in_at"] == nil {
		t.Errorf("after sign-in: %v", who)
	}
	for _, text := range []string{string(w.do("GET", path, "").body),
		string(w.do("GET", path+"/history", "").ok(200).body), w.log.String()} {
		if strings.Contains(text, "argon2") || strings.Contains(text, token) || strings.Contains(text, goodPassword) ||
			strings.Contains(text, auth.Hash(secretOf(token))) || strings.Contains(text, b.cookie()) {
			t.Errorf("a secret is told: %s", text)
		}
	}

	was := b.cookie()
	b.form("/signout").ok(303)
	b.json("GET", "/v1/account", "").problem(401, "unauthorized")
	b.json("GET", "/v1/account", "", "Cookie", "motorpool_session="+was).problem(401, "unauthorized")
	b.signIn("ann@EXAMPLE.com", "a horse in the sun").ok(401)
	wantEqual(t, "on to", b.form("/signin", "email", "ann@example.com", "password", goodPassword, "next",
		"/oauth/authorize?x=1").ok(303).header.Get("Location"), "/oauth/authorize?x=1")
	for _, next := range []string{"//evil.example", "https://evil.example", `/\evil.example`, "/\t/evil.example", "evil",
		"/a b"} {
		c := w.browser()
		if to := c.form("/signin", "email", "ann@example.com", "password", goodPassword, "next", next).ok(303).
			header.Get("Location"); to != "/signin" {
			t.Errorf("%q leads to %q", next, to)
		}
	}

	// Another site's page can neither sign in, nor out, nor write, and reads nothing that it is told.
	for _, from := range []string{"cross-site", "same-site", ""} {
		b.from = from
		b.form("/signin", "email", "ann@example.com", "password", goodPassword).ok(403)
		b.form("/signout").ok(403)
		b.json("POST", "/v1/customers", `{"first_name":"X"}`).problem(403, "insufficient_scope")
	}
	b.json("POST", "/v1/customers", `{"first_name":"X"}`, "Origin", "https://evil.example").
		problem(403, "insufficient_scope")
	customer := b.json("POST", "/v1/customers", `{"first_name":"X"}`, "Origin", w.url).ok(201)
	if by := w.do("GET", "/v1/customers/"+customer.id()+"/history", "").data()[0]["actor"]; by != made.id() {
		t.Errorf("by %v", by)
	}
}

func TestSessionsEndWhenTheyMust(t *testing.T) {
	w := newWorld(t)
	b, id := w.person("ann@example.com", auth.Manager)
	path := "/v1/users/" + id
	in := func(b *browser) bool { return b.json("GET", "/v1/account", "").status == 200 }
	signed := func() *browser {
		c := w.browser()
		c.signIn("ann@example.com", goodPassword).ok(303)
		return c
	}
	// Nobody can have put the cookie there before: each sign-in has a new one, and the old one is worth nothing.
	planted := b.cookie()
	b.signIn("ann@example.com", goodPassword).ok(303)
	if b.cookie() == planted || w.browser().json("GET", "/v1/account", "", "Cookie",
		"motorpool_session="+planted).status != 401 {
		t.Error("a session lives on after another sign-in")
	}
	c := signed()
	for _, s := range b.json("GET", "/v1/sessions", "").data() {
		if s["current"] == false {
			b.json("DELETE", "/v1/sessions/"+s["id"].(string), "").ok(204)
		}
	}
	if in(c) || !in(b) {
		t.Error("the wrong session was ended")
	}
	c = signed()
	c.form("/signin/password", "present", "wrong wrong wrong", "password", "another horse in the sun", "again",
		"another horse in the sun").ok(401)
	c.form("/signin/password", "present", goodPassword, "password", "another horse in the sun", "again",
		"another horse in the sun").ok(303)
	if in(b) || !in(c) {
		t.Error("after a change of the password the others live on, or this one does not")
	}
	c.form("/signin/password", "present", "another horse in the sun", "password", goodPassword,
		"again", goodPassword).ok(303)
	w.do("POST", path+"/disable", "").ok(200)
	if in(c) || signInStatus(w) != 401 {
		t.Error("a disabled person comes in")
	}
	w.do("POST", path+"/enable", "").ok(200)
	w.do("POST", path+"/enable", "").problem(409, "invalid_state_transition")
	if in(c) {
		t.Error("a session lives again")
	}
	c = signed()
	w.do("POST", path+"/end_sessions", "").ok(200)
	if in(c) {
		t.Error("a session lives on after all were ended")
	}
	c = signed()
	w.do("PATCH", path, `{"role":"driver"}`).ok(200)
	c.json("GET", "/v1/bookings", "").problem(403, "insufficient_scope")
	w.clock.Add(int64(13 * time.Hour))
	if in(c) {
		t.Error("a session lives on that nobody uses")
	}
	c = signed()
	for range 15 {
		w.clock.Add(int64(11 * time.Hour))
		in(c)
	}
	if !in(c) {
		t.Error("a session ends that is used")
	}
	w.clock.Add(int64(4 * time.Hour))
	if in(c) {
		t.Error("a session lives for more than seven days")
	}
	c = signed()
	link := w.do("POST", path+"/reset_password", "").ok(200).object()["invitation_url"].(string)
	if in(c) || signInStatus(w) != 401 {
		t.Error("the old password opens something")
	}
	w.clock.Add(int64(8 * 24 * time.Hour))
	c.accept(link).ok(404)
	c.accept(w.do("POST", path+"/reset_password", "").ok(200).object()["invitation_url"].(string)).ok(303)
	w.do("DELETE", path, "").ok(204)
	w.do("DELETE", path, "").ok(204)
	if in(c) || signInStatus(w) != 401 {
		t.Error("a removed person comes in")
	}
	w.do("POST", "/v1/users", `{"name":"B","email":"ann@example.com","role":"clerk"}`).ok(201) // the address is free again
}

func signInStatus(w *world) int { return w.browser().signIn("ann@example.com", goodPassword).status }

// TestAPageOfSomebodyElseIsToldSo holds two tabs of one browser apart, at which two people have signed in one after the
// other.
func TestAPageOfSomebodyElseIsToldSo(t *testing.T) {
	w := newWorld(t)
	b, ann := w.person("ann@example.com", auth.Manager)
	bob := w.do("POST", "/v1/users", `{"name":"Bob","email":"bob@example.com","role":"manager"}`).ok(201)
	vehicle := `{"make":"Ford","model":"Focus"}`
	first := []string{"Motorpool-User", ann}
	wantEqual(t, "whose page it is", b.json("GET", "/v1/account", "").ok(200).object()["user_id"], any(ann))
	b.json("POST", "/v1/vehicles", vehicle, first...).ok(201)
	b.accept(bob.object()["invitation_url"].(string)).ok(303) // in another tab
	for _, method := range []string{"GET", "POST"} {
		p := b.json(method, "/v1/vehicles", map[string]string{"POST": vehicle}[method], first...).problem(401, "unauthorized")
		if !strings.Contains(p.Detail, "Somebody else") {
			t.Errorf("%s is told %q", method, p.Detail)
		}
	}
	wantEqual(t, "vehicles", len(b.json("GET", "/v1/vehicles", "", "Motorpool-User", bob.id()).ok(200).data()), 1)
	w.do("GET", "/v1/vehicles", "", first...).ok(200) // an API key is whose it is
}

func TestNobodyRisesAboveTheirRoleAndAnOwnerStays(t *testing.T) {
	w := newWorld(t)
	owner, id := w.person("ann@example.com", auth.Owner)
	path := "/v1/users/" + id
	for _, call := range [][2]string{{"DELETE", path}, {"POST", path + "/disable"}} {
		owner.json(call[0], call[1], "").problem(409, "conflict")
	}
	owner.json("PATCH", path, `{"role":"manager"}`).problem(409, "conflict")
	if now := owner.json("GET", path, "").ok(200).object(); now["role"] != "owner" || now["status"] != "active" {
		t.Errorf("the owner is %v", now)
	}
	// Two owners demote each other at the same time: one of them stays.
	other, second := w.person("bob@example.com", auth.Owner)
	done := make(chan int, 2)
	go func() { done <- owner.json("PATCH", "/v1/users/"+second, `{"role":"clerk"}`).status }()
	go func() { done <- other.json("PATCH", path, `{"role":"clerk"}`).status }()
	first, next := <-done, <-done
	owners := 0
	for _, one := range w.do("GET", "/v1/users", "").data() {
		if one["role"] == "owner" {
			owners++
		}
	}
	if owners != 1 {
		t.Errorf("%d owners after %d and %d", owners, first, next)
	}
	// A key with the scope alone gives and touches no role that may do more than it may.
	w.do("PATCH", path, `{"role":"owner"}`).ok(200)
	admin := w.key
	w.key = w.newKey(w.account, append(auth.Driver.Scopes(), auth.UsersManage)...)
	w.do("POST", "/v1/users", `{"name":"C","email":"c@example.com","role":"clerk"}`).problem(403, "insufficient_scope")
	driver := w.do("POST", "/v1/users", `{"name":"C","email":"c@example.com","role":"driver"}`).ok(201).id()
	w.do("PATCH", "/v1/users/"+driver, `{"role":"owner"}`).problem(403, "insufficient_scope")
	w.do("PATCH", path, `{"name":"X"}`).problem(403, "insufficient_scope")
	for _, verb := range []string{"disable", "enable", "reset_password", "reset_factors", "end_sessions"} {
		w.do("POST", path+"/"+verb, "").problem(403, "insufficient_scope")
	}
	w.do("DELETE", path, "").problem(403, "insufficient_scope")
	for _, s := range w.do("GET", "/v1/sessions?user_id="+id, "").data() {
		w.do("DELETE", "/v1/sessions/"+s["id"].(string), "").problem(403, "insufficient_scope")
	}
	w.key = admin
	// Nobody sees or ends what is another account's.
	stranger := w.newAccount("Second")
	w.key = w.newKey(stranger, auth.Admin)
	for _, s := range owner.json("GET", "/v1/sessions", "").data() {
		w.do("DELETE", "/v1/sessions/"+s["id"].(string), "").problem(404, "not_found")
	}
	if n := len(w.do("GET", "/v1/sessions", "").data()) + len(w.do("GET", "/v1/sessions?user_id="+id, "").data()) +
		len(w.do("GET", "/v1/users", "").data()); n != 0 {
		t.Errorf("another account sees %d", n)
	}
	w.do("GET", path, "").problem(404, "not_found")
	w.do("DELETE", path, "").problem(404, "not_found")
}

func TestWhoGuessesPasswordsWaitsAndOthersDoNot(t *testing.T) {
	w := newWorld(t)
	w.person("ann@example.com", auth.Clerk)
	for _, email := range []string{"ann@example.com", "nobody@example.com"} {
		statuses := map[int]int{}
		for range 15 {
			statuses[w.browser().signIn(email, "a wrong password").status]++
		}
		wantEqual(t, email, statuses, map[int]int{401: 10, 429: 5})
	}
	wantEqual(t, "with the right one meanwhile", signInStatus(w), 429)
	w.clock.Add(int64(2 * time.Minute))
	wantEqual(t, "two minutes later", signInStatus(w), 303)
}

// code is what an app shows at an instant of the world's clock.
func (w *world) code(secret string) string {
	w.t.Helper()
	code, err := totp.GenerateCode(secret, w.api.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	return code
}

func TestASecondFactorIsAskedAndEachCodeIsGoodOnce(t *testing.T) {
	w := newWorld(t)
	b, id := w.person("ann@example.com", auth.Clerk)
	other := w.browser()
	other.signIn("ann@example.com", goodPassword).ok(303)
	b.form("/signin/security/begin", "password", "wrong").ok(401)
	shown := b.form("/signin/security/begin", "password", goodPassword).ok(200)
	secret := regexp.MustCompile(`[A-Z2-7]{32}`).FindString(string(shown.body))
	if picture := b.open("/signin/security/qr.png").ok(200); picture.header.Get("Content-Type") != "image/png" {
		t.Errorf("picture %v", picture.header)
	}
	b.form("/signin/security/confirm", "code", "000000").ok(401)
	was, used := b.cookie(), w.code(secret)
	confirmed := b.form("/signin/security/confirm", "code", used).ok(200)
	recovery := regexp.MustCompile(`[A-Z2-7]{5}-[A-Z2-7]{5}`).FindAllString(string(confirmed.body), -1)
	if len(recovery) != 10 || b.cookie() == was || other.json("GET", "/v1/account", "").status != 401 {
		t.Fatalf("%d recovery codes; a session of less lives on, or this one keeps its cookie", len(recovery))
	}
	path := "/v1/users/" + id
	for _, text := range []string{string(w.do("GET", path, "").body), string(w.do("GET", path+"/history", "").body)} {
		if strings.Contains(text, "sealed:") || strings.Contains(text, secret) || strings.Contains(text, recovery[0]) {
			t.Errorf("a secret is told: %s", text)
		}
	}

	// The password alone opens nothing.
	c := w.browser()
	wantEqual(t, "on to", c.form("/signin", "email", "ann@example.com", "password", goodPassword, "next", "/x").ok(303).
		header.Get("Location"), "/signin/factor?next=%2Fx")
	c.json("GET", "/v1/account", "").problem(401, "unauthorized")
	wantEqual(t, "a half session sees", c.open("/signin/security").ok(303).header.Get("Location"),
		"/signin?next=%2Fsignin%2Fsecurity")
	c.form("/signin/factor", "code", used).ok(401) // to confirm
	w.clock.Add(int64(time.Minute))
	halfway, code := c.cookie(), w.code(secret)
	wantEqual(t, "on to", c.form("/signin/factor", "code", code, "next", "/x").ok(303).header.Get("Location"), "/x")
	c.json("GET", "/v1/account", "").ok(200)
	if c.cookie() == halfway || w.browser().json("GET", "/v1/account", "", "Cookie",
		"motorpool_session="+halfway).status != 401 {
		t.Error("the half session became a whole one")
	}
	again := func(code string) int {
		d := w.browser()
		d.signIn("ann@example.com", goodPassword).ok(303)
		return d.form("/signin/factor", "code", code).status
	}
	wantEqual(t, "the same code again", again(code), 401)
	wantEqual(t, "a recovery code", again(strings.ToLower(recovery[3])), 303)
	wantEqual(t, "the same recovery code again", again(recovery[3]), 401)
	w.clock.Add(int64(11 * time.Minute))
	d := w.browser()
	d.signIn("ann@example.com", goodPassword).ok(303)
	w.clock.Add(int64(11 * time.Minute))
	wantEqual(t, "half a session after ten minutes", d.form("/signin/factor", "code", w.code(secret)).ok(303).
		header.Get("Location"), "/signin")
	statuses := map[int]int{}
	for range 14 {
		statuses[again("123456")]++
	}
	wantEqual(t, "guessing", statuses, map[int]int{401: 10, 429: 4})

	w.do("POST", path+"/reset_factors", "").ok(200)
	e := w.browser()
	wantEqual(t, "after the reset", e.signIn("ann@example.com", goodPassword).ok(303).header.Get("Location"), "/signin")
}
