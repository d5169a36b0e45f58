package api

import (
	"html"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/schemas"
)

// secretOf is what only the person knows of an invitation.
func secretOf(token string) string { return token[strings.LastIndex(token, ".")+1:] }

// stored says in which tables texts stand, in any column.
func (w *world) stored(texts ...string) map[string][]string {
	w.t.Helper()
	tables, found := []string{}, map[string][]string{}
	err := schemas.EachRow(w.t.Context(), w.db, "list tables", "SELECT name FROM system.tables WHERE database = "+
		"currentDatabase() AND engine LIKE '%MergeTree'", nil, func(row schemas.Row) error {
		tables = append(tables, "")
		return row.Scan(&tables[len(tables)-1])
	})
	for _, name := range tables {
		if err == nil {
			err = schemas.EachRow(w.t.Context(), w.db, "search", "SELECT DISTINCT arrayJoin(arrayFilter(x -> position(row, x) > 0, "+
				"{texts:Array(String)})) FROM (SELECT formatRow('TSVRaw', *) AS row FROM `"+name+"`)",
				[]any{clickhouse.Named("texts", texts)}, func(row schemas.Row) error {
					var text string
					err := row.Scan(&text)
					found[text] = append(found[text], name)
					return err
				})
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

func TestNoStoredRowHoldsASecret(t *testing.T) {
	w := newWorld(t)
	made := w.do("POST", "/v1/users", `{"name":"Ann","email":"ann@example.com","role":"clerk"}`, "Idempotency-Key", "1").
		ok(201)
	path := "/v1/users/" + made.id()
	reset := w.do("POST", path+"/reset_password", "", "Idempotency-Key", "2").ok(200)
	token := func(r *reply) string {
		_, token, _ := strings.Cut(r.object()["invitation_url"].(string), "token=")
		return secretOf(token)
	}
	b := w.browser()
	b.accept(reset.object()["invitation_url"].(string)).ok(303)
	first := b.cookie()
	shown := b.form("/signin/security/begin", "password", goodPassword).ok(200)
	app := regexp.MustCompile(`[A-Z2-7]{32}`).FindString(string(shown.body))
	code := w.code(app)
	confirmed := b.form("/signin/security/confirm", "code", code).ok(200)
	recovery := regexp.MustCompile(`[A-Z2-7]{5}-[A-Z2-7]{5}`).FindString(string(confirmed.body))
	b.json("POST", "/v1/customers", `{"first_name":"X"}`, "Idempotency-Key", "3").ok(201)
	w.api.Close(t.Context())
	secrets := map[string]string{
		token(made): "the first invitation", token(reset): "the second", first: "the first cookie",
		b.cookie(): "the cookie", goodPassword: "the password", app: "the secret of the app", recovery: "a recovery code",
		strings.ReplaceAll(recovery, "-", ""): "it without its dash", b.devices()[0].Value: "what the browser is known by"}
	hashes := []string{auth.Hash(b.cookie()), auth.Hash(token(reset))}
	found := w.stored(append(slices.Collect(maps.Keys(secrets)), hashes...)...)
	for secret, what := range secrets {
		if len(secret) < 10 {
			t.Errorf("%s is %q", what, secret)
		}
		if found[secret] != nil {
			t.Errorf("%s stands in %v", what, found[secret])
		}
		if strings.Contains(w.log.String(), secret) {
			t.Errorf("%s is logged", what)
		}
	}
	for _, hash := range hashes { // else the search finds nothing at all
		if found[hash] == nil {
			t.Error("a hash stands nowhere")
		}
	}
}

func TestManyGuessesAtOnceAreNoMoreThanOneAfterTheOther(t *testing.T) {
	w := newWorld(t)
	w.person("ann@example.com", auth.Clerk)
	statuses, lock := map[int]int{}, sync.Mutex{}
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			status := w.browser().signIn("ann@example.com", "a wrong password").status
			lock.Lock()
			defer lock.Unlock()
			statuses[status]++
		})
	}
	all.Wait()
	wantEqual(t, "at once", statuses, map[int]int{401: 10, 429: 20})
}

// withApp has a browser's person asked for codes of an app.
func (b *browser) withApp() (secret string) {
	b.t.Helper()
	shown := b.form("/signin/security/begin", "password", goodPassword).ok(200)
	secret = regexp.MustCompile(`[A-Z2-7]{32}`).FindString(string(shown.body))
	b.form("/signin/security/confirm", "code", b.code(secret)).ok(200)
	b.clock.Add(int64(time.Minute))
	return secret
}

func TestAProofOfWhatWasIsNone(t *testing.T) {
	w := newWorld(t)
	ann, id := w.person("ann@example.com", auth.Clerk)
	path := "/v1/users/" + id
	app := ann.withApp()
	for what, change := range map[string]func(){
		"another password": func() {
			link := w.do("POST", path+"/reset_password", "").ok(200).object()["invitation_url"].(string)
			wantEqual(t, "the new password", w.browser().accept(link).ok(303).header.Get("Location"), "/signin/factor")
		},
		"all sessions ended": func() { w.do("POST", path+"/end_sessions", "").ok(200) },
		"disabled": func() {
			w.do("POST", path+"/disable", "").ok(200)
			w.do("POST", path+"/enable", "").ok(200)
		},
	} {
		half := w.browser()
		wantEqual(t, what, half.signIn("ann@example.com", goodPassword).ok(303).header.Get("Location"), "/signin/factor")
		change()
		w.clock.Add(int64(time.Minute))
		r := half.form("/signin/factor", "code", w.code(app))
		if r.status != 303 || r.header.Get("Location") != "/signin" ||
			half.json("GET", "/v1/account", "").status != 401 {
			t.Errorf("%s: half of a sign-in from before goes on: %d to %s", what, r.status, r.header.Get("Location"))
		}
	}

	// An invitation was for what the person was then.
	for what, change := range map[string]string{"a higher role": `{"role":"owner"}`,
		"another address": `{"email":"eve@example.com"}`} {
		made := w.do("POST", "/v1/users", `{"name":"B","email":"bob@example.com","role":"driver"}`).ok(201)
		link := made.object()["invitation_url"].(string)
		w.do("PATCH", "/v1/users/"+made.id(), change).ok(200)
		if status := w.browser().accept(link).status; status != 404 {
			t.Errorf("%s: an invitation from before is taken: %d", what, status)
		}
		w.do("DELETE", "/v1/users/"+made.id(), "").ok(204)
	}
	made := w.do("POST", "/v1/users", `{"name":"C","email":"cat@example.com","role":"manager"}`).ok(201)
	w.do("PATCH", "/v1/users/"+made.id(), `{"role":"clerk"}`).ok(200)
	cat := w.browser()
	cat.accept(made.object()["invitation_url"].(string)).ok(303) // it was for more, and is for less now
	cat.json("GET", "/v1/account", "").ok(200)
	cat.json("POST", "/v1/vehicles", `{"make":"A","model":"B"}`).problem(403, "insufficient_scope")
}

func TestWhatAPersonGrantedEndsWithTheirSessions(t *testing.T) {
	w := newWorld(t)
	c := w.oauthClient(byConsent)
	ann, id := w.person("ann@example.com", auth.Manager)
	grant := func() (access, refresh string) {
		page := ann.open(question(c.id)).ok(200)
		wish := html.UnescapeString(string(wishInPage.FindSubmatch(page.body)[1]))
		to := ann.form("/oauth/authorize", "wish", wish, "answer", "allow").ok(303).header.Get("Location")
		at, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		got := c.redeem(at.Query().Get("code")).ok(200).object()
		return got["access_token"].(string), got["refresh_token"].(string)
	}
	use := func(token string) int {
		return w.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+token).status
	}
	for what, end := range map[string]func(){
		"all ended": func() { w.do("POST", "/v1/users/"+id+"/end_sessions", "").ok(200) },
		"another password": func() {
			ann.form("/signin/password", "present", goodPassword, "password", goodPassword+"!",
				"again", goodPassword+"!").ok(303)
			ann.form("/signin/password", "present", goodPassword+"!", "password", goodPassword, "again", goodPassword).ok(303)
		},
	} {
		ann.signIn("ann@example.com", goodPassword).ok(303)
		access, refresh := grant()
		wantEqual(t, what+": before", use(access), 200)
		end()
		w.clock.Add(int64(5 * time.Second))
		wantEqual(t, what+": after", use(access), 401)
		c.ask("/oauth/token", "grant_type", "refresh_token", "refresh_token", refresh).refusedAs(400, "invalid_grant")
	}
}

// What the page of security says of programs is what becomes of them.
func TestWhatAPersonGrantedEndsWithWhatTheySignInWith(t *testing.T) {
	w := newWorld(t)
	c := w.oauthClient(byConsent)
	ann, id := w.person("ann@example.com", auth.Manager)
	if shown := string(ann.open("/signin/security").ok(200).body); !strings.Contains(shown, "they ask you again") {
		t.Errorf("the page does not tell of programs: %s", shown)
	}
	access, secret := "", ""
	remove := func() *reply {
		keys := ann.json("GET", "/v1/users/"+id+"/passkeys", "").data()
		return ann.form("/signin/security/passkeys/remove", "id", keys[0]["id"].(string), "password", goodPassword)
	}
	for _, step := range []struct {
		what string
		do   func() *reply
		ends bool
	}{
		{"the first passkey", func() *reply { return ann.register(w.newDevice(false), "Telephone") }, true},
		{"another passkey", func() *reply { return ann.register(w.newDevice(false), "Key") }, false},
		{"a passkey less", remove, true},
		{"an app", func() *reply {
			shown := ann.form("/signin/security/begin", "password", goodPassword).ok(200)
			secret = regexp.MustCompile(`[A-Z2-7]{32}`).FindString(string(shown.body))
			return ann.form("/signin/security/confirm", "code", w.code(secret))
		}, true},
		{"the last passkey less", remove, true},
		{"a passkey beside an app", func() *reply { return ann.register(w.newDevice(false), "Key") }, false},
		{"no app any more", func() *reply {
			w.clock.Add(int64(time.Minute))
			return ann.form("/signin/security/remove", "code", w.code(secret))
		}, true},
	} {
		access = c.redeem(ann.consents(question(c.id, "scope", "vehicles:read")).Get("code")).ok(200).
			object()["access_token"].(string)
		step.do().ok(200)
		w.clock.Add(int64(5 * time.Second))
		status := w.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+access).status
		if status != map[bool]int{true: 401, false: 200}[step.ends] {
			t.Errorf("after %s a token answers %d", step.what, status)
		}
	}
}

// A proof that came with a request that was refused for its number is good for the same request later.
func TestAProofIsSpentWhenTheRequestIsLetIn(t *testing.T) {
	w := newWorld(t, func(cfg *rest.Config, _ *Deps) {
		cfg.Auth.Limits[auth.Read] = auth.Limit{PerKey: 2, PerAccount: 1000, Window: 20 * time.Second}
	})
	c := w.oauthClient(strings.Replace(forItself, `"scopes"`, `"dpop_bound_access_tokens":true,"scopes"`, 1))
	key, at := newSigner(t), w.url+"/v1/vehicles"
	access := w.form("/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {c.id},
		"client_secret": {c.secret}}, "DPoP", key.proof("POST", w.url+"/oauth/token", "", nil)).ok(200).
		object()["access_token"].(string)
	use := func(proof string) *reply {
		return w.do("GET", "/v1/vehicles", "", "Authorization", "DPoP "+access, "DPoP", proof)
	}
	for range 2 {
		use(key.proof("GET", at, access, nil)).ok(200)
	}
	proof := key.proof("GET", at, access, nil)
	use(proof).problem(429, "rate_limited")
	w.clock.Add(int64(15 * time.Second))
	use(proof).ok(200)
	w.clock.Add(int64(10 * time.Second))
	use(proof).problem(401, "unauthorized")
}
