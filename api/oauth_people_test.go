package api

import (
	"html"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/oauth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/seal"
)

// consents is what a client is told when whoever is signed in at the browser allows what it asks for.
func (b *browser) consents(ask string) url.Values {
	b.t.Helper()
	page := b.open(ask).ok(200)
	found := wishInPage.FindSubmatch(page.body)
	if found == nil {
		b.t.Fatalf("no question in %s", page.body)
	}
	sent := b.form("/oauth/authorize", "wish", html.UnescapeString(string(found[1])), "answer", "allow").ok(303)
	to, err := url.Parse(sent.header.Get("Location"))
	if err != nil {
		b.t.Fatal(err)
	}
	return to.Query()
}

// What a client may do for a person shrinks or ends with what the person may do, wherever on the way that happens:
// while the code is under way, and when tokens were given.
func TestWhatAClientMayDoShrinksAndEndsWithThePerson(t *testing.T) {
	w := newWorld(t)
	const reads, writes, none = 1, 2, 0
	for what, c := range map[string]struct {
		change func(person, client string)
		may    int
	}{
		"nothing happens":     {func(string, string) {}, writes},
		"the role is lowered": {func(p, _ string) { w.do("PATCH", "/v1/users/"+p, `{"role":"driver"}`).ok(200) }, reads},
		"the client loses": {func(_, c string) {
			w.do("PATCH", "/v1/oauth_clients/"+c, `{"scopes":["vehicles:read"]}`).ok(200)
		}, reads},
		"the person is disabled":   {func(p, _ string) { w.do("POST", "/v1/users/"+p+"/disable", "").ok(200) }, none},
		"the person is removed":    {func(p, _ string) { w.do("DELETE", "/v1/users/"+p, "").ok(204) }, none},
		"all sessions are ended":   {func(p, _ string) { w.do("POST", "/v1/users/"+p+"/end_sessions", "").ok(200) }, none},
		"the password is given up": {func(p, _ string) { w.do("POST", "/v1/users/"+p+"/reset_password", "").ok(200) }, none},
		"the client is removed":    {func(_, c string) { w.do("DELETE", "/v1/oauth_clients/"+c, "").ok(204) }, none},
		"the grant is taken away": {func(_, c string) {
			for _, grant := range w.do("GET", "/v1/oauth_grants?client_id="+c, "").data() {
				w.do("DELETE", "/v1/oauth_grants/"+grant["id"].(string), "").ok(204)
			}
		}, none},
	} {
		b, id := w.person(strings.ReplaceAll(what, " ", ".")+"@example.com", auth.Manager)
		client := w.oauthClient(byConsent)
		ask := question(client.id, "scope", "vehicles:read vehicles:write")
		given := client.redeem(b.consents(ask).Get("code")).ok(200).object()
		use := func(token any) (may int) {
			as := []string{"Authorization", "Bearer " + token.(string)}
			if w.do("GET", "/v1/vehicles", "", as...).status == 200 {
				may = reads
			}
			if w.do("POST", "/v1/vehicles", `{"make":"A","model":"B"}`, as...).status == 201 {
				may = writes
			}
			return may
		}
		wantEqual(t, what+": before", use(given["access_token"]), writes)
		code := b.consents(ask).Get("code")
		c.change(id, client.id)
		w.clock.Add(int64(5 * time.Second))
		wantEqual(t, what+": the access token", use(given["access_token"]), c.may)
		again := func(r *reply) int {
			if r.status == 200 {
				return use(r.object()["access_token"])
			}
			if code := r.object()["error"]; code != "invalid_grant" && code != "invalid_client" {
				t.Errorf("%s: %d %s", what, r.status, r.body)
			}
			return none
		}
		wantEqual(t, what+": the refresh token", again(client.ask("/oauth/token", "grant_type", "refresh_token",
			"refresh_token", given["refresh_token"].(string))), c.may)
		if what != "the grant is taken away" { // a code that is under way has none yet
			wantEqual(t, what+": the code", again(client.redeem(code)), c.may)
		}
	}
}

// Whoever gives a program what deserves a second look has proved lately who they are.
func TestWhoGivesMuchSignsInAgain(t *testing.T) {
	w := newWorld(t)
	b, _ := w.person("ann@example.com", auth.Owner)
	c := w.oauthClient(byConsent)
	wide := question(c.id, "scope", "vehicles:read keys:manage")
	b.open(wide).ok(200)
	w.clock.Add(int64(61 * time.Minute))
	b.open(question(c.id)).ok(200)
	asked := b.open(wide).ok(403)
	again := signIn(wide, true)
	if !strings.Contains(html.UnescapeString(string(asked.body)), `href="`+again+`"`) || wishInPage.Match(asked.body) ||
		asked.header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("told %s", asked.body)
	}
	wantEqual(t, "without again", b.open(signIn(wide, false)).ok(303).header.Get("Location"), wide)
	if form := b.open(again).ok(200); !strings.Contains(string(form.body), `name="password"`) {
		t.Errorf("asked by %s", form.body)
	}
	wantEqual(t, "back", b.form("/signin", "email", "ann@example.com", "password", goodPassword, "next", wide).ok(303).
		header.Get("Location"), wide)
	if b.consents(wide).Get("code") == "" {
		t.Error("no code after signing in again")
	}
}

// Browsers follow a form of ours to no other site, through any number of redirects. Who has just signed in is led to a
// program by a page; who comes from there is by a redirect.
func TestAnAnswerAfterSigningInReachesTheProgram(t *testing.T) {
	w := newWorld(t)
	b, _ := w.person("ann@example.com", auth.Driver)
	c := w.oauthClient(byConsent)
	ask := question(c.id, "scope", "keys:manage")
	page := b.open(ask).ok(200)
	to := strings.TrimPrefix(page.header.Get("Refresh"), "0; url=")
	if !strings.HasPrefix(to, landing+"&") || !strings.Contains(to, "error=access_denied") ||
		!strings.Contains(html.UnescapeString(string(page.body)), `href="`+to+`"`) ||
		!strings.Contains(page.header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
		t.Errorf("led to %q by %s", to, page.body)
	}
	b.from = "cross-site"
	wantEqual(t, "from elsewhere", b.open(ask).ok(303).header.Get("Location"), to)

	// Nobody is sent to a program before they are known, and what is granted is asked for: none is no way around.
	none := question(c.id, "prompt", "none")
	wantEqual(t, "none", strings.Contains(b.open(none).ok(303).header.Get("Location"), "error=consent_required"), true)
	if to := w.browser().open(none).ok(303).header.Get("Location"); !strings.HasPrefix(to, "/signin?next=") {
		t.Errorf("led to %s", to)
	}
}

// Without an address of its own a server offers no authorization server, and says what to set.
func TestWithoutAnAddressNoAuthorizationServerIsOffered(t *testing.T) {
	w := newWorld(t, func(_ *rest.Config, d *Deps) { d.OAuth.Issuer = "" })
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource",
		"/oauth/jwks"} {
		if p := w.do("GET", path, "", "Authorization", "").problem(404, "not_found"); !strings.Contains(p.Detail,
			"--public-url") {
			t.Errorf("%s says %s", path, p.Detail)
		}
	}
	if page := w.do("GET", question("ocl_1"), "", "Authorization", "").ok(404); !strings.Contains(string(page.body),
		"--public-url") {
		t.Errorf("told %s", page.body)
	}
	c := w.oauthClient(forItself)
	c.ask("/oauth/token", "grant_type", "client_credentials").refusedAs(404, "invalid_request")
	refused := w.do("GET", "/v1/vehicles", "", "Authorization", "Bearer a.b.c")
	refused.problem(401, "unauthorized")
	if strings.Contains(refused.header.Get("WWW-Authenticate"), "resource_metadata") {
		t.Errorf("names %s", refused.header.Get("WWW-Authenticate"))
	}
	for _, op := range operations(w) {
		for _, way := range op.security {
			if way["oauth2"] != nil {
				t.Fatalf("%s is said to take access tokens", op.id)
			}
		}
	}
}

// Without the key that seals nothing is signed; when it is lost a new signing key takes the place of those that it
// sealed, and the tokens that they signed are over.
func TestALostSealKeyEndsTokensAndNoMore(t *testing.T) {
	w := newWorld(t)
	c := w.oauthClient(forItself)
	before := c.token()
	reopen := func(keys seal.Ring) *world {
		return newWorld(t, func(_ *rest.Config, d *Deps) { d.DB, d.OAuth = w.db, oauth.Config{Issuer: w.url, Keys: keys} })
	}
	get := func(w *world, secret string) *reply {
		return w.form("/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {c.id},
			"client_secret": {secret}})
	}
	lost := sealKeys(t)
	for says, keys := range map[string]seal.Ring{"--seal-key-file": {}, "seal rotate --lost": lost} {
		other := reopen(keys)
		if r := get(other, c.secret).refusedAs(503, "temporarily_unavailable"); !strings.Contains(string(r.body), says) {
			t.Errorf("told %s", r.body)
		}
		other.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+before).problem(503, "unavailable")
		other.do("GET", "/v1/vehicles", "").ok(200) // API keys go on
	}
	rings := record.NewLog(w.api.Store, record.OAuthKeyrings)
	author := record.Author{Actor: "cli"}
	if _, err := oauth.SealAgain(t.Context(), rings, &lost, false, author); err == nil {
		t.Error("keys that cannot be opened are thrown away unasked")
	}
	if again, err := oauth.SealAgain(t.Context(), rings, &lost, true, author); err != nil || !again {
		t.Fatal(again, err)
	}
	other := reopen(lost)
	fresh := get(other, c.secret).ok(200).object()["access_token"].(string)
	other.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+before).problem(401, "unauthorized")
	other.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+fresh).ok(200)
	if again, err := oauth.SealAgain(t.Context(), rings, &lost, true, author); err != nil || again {
		t.Error("keys that are open are thrown away", again, err)
	}
}
