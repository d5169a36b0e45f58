package api

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/oauth/token"
	"github.com/motorpool/fleet/api/record"
)

// What somebody may try on the way from a question to a person to a token is refused.
func TestAttacksOnConsentAndCodes(t *testing.T) {
	b := newVisitor(t)
	c, other := b.oauthClient(byConsent), b.oauthClient(byConsent)

	// Nobody is sent to an address that is not the client's.
	for _, to := range []string{"https://evil.example/back?tab=1", "https://app.example/back",
		"https://app.example/back?tab=1&x=2",
		"https://app.example/back?tab=1#x", "https://app.example.evil.example/back?tab=1",
		"https://app.example@evil.example/",
		"HTTPS://app.example/back?tab=1", "https://app.example/./back?tab=1", "https://app.example:443/back?tab=1",
		"http://127.0.0.1:80@evil.example/done", "http://127.0.0.2/done", "http://localhost:1/done",
		"http://127.0.0.1:1/done/x",
		"https://127.0.0.1/done", "com.example.app:/other", "javascript:alert(1)", ""} {
		r := b.browse("GET", question(c.id, "redirect_uri", to), "").ok(400)
		if r.header.Get("Location") != "" {
			t.Errorf("%q is sent to %s", to, r.header.Get("Location"))
		}
	}
	b.browse("GET", question("ocl_1"), "").ok(400)
	b.browse("GET", question(c.id)+"&redirect_uri=https://evil.example", "").ok(400)

	// What is wrong with a question is told to the client.
	for code, pairs := range map[string][][]string{
		"invalid_request": {{"code_challenge", ""}, {"code_challenge_method", "plain"}, {"code_challenge_method", ""},
			{"code_challenge", "short"}, {"code_challenge_method", "s256"}, {"response_type", ""}, {"response_mode", "fragment"},
			{"dpop_jkt", "x"}},
		"unsupported_response_type": {{"response_type", "token"}, {"response_type", "code token"}},
		"invalid_scope":             {{"scope", "admin"}, {"scope", "planes:fly"}},
		"invalid_target":            {{"resource", "https://evil.example"}},
		"request_not_supported":     {{"request", "x"}},
		"access_denied":             {{"scope", "keys:manage"}},
		"consent_required":          {{"prompt", "none"}},
	} {
		for _, pair := range pairs {
			told := b.back(b.browse("GET", question(c.id, pair...), ""))
			wantEqual(t, strings.Join(pair, "="), told.Get("error")+" "+told.Get("state")+told.Get("code"), code+" s 1")
		}
	}

	// A person consents by a page of ours in their own session, and by nothing else.
	page := b.browse("GET", question(c.id), "").ok(200)
	wish := html.UnescapeString(string(wishInPage.FindSubmatch(page.body)[1]))
	answer := func(wish string, headers ...string) *reply {
		return b.browse("POST", "/oauth/authorize", url.Values{"wish": {wish}, "answer": {"allow"}}.Encode(),
			append([]string{"Content-Type", "application/x-www-form-urlencoded"}, headers...)...)
	}
	answer(wish, "Sec-Fetch-Site", "cross-site").ok(403)
	answer(wish, "Origin", "https://evil.example").ok(403)
	answer(wish, personHeader, "bb").ok(403)
	answer(wish, personHeader, "").ok(403)
	answer(wish[:len(wish)-2] + "AA").ok(403)
	answer("").ok(403)
	b.clock.Add(int64(11 * time.Minute))
	answer(wish).ok(403)

	// A code is the client's alone, works once, and for a minute.
	code := b.code(c.id)
	refused := map[string][]string{
		"no verifier": {"code_verifier", ""}, "another": {"code_verifier", strings.Repeat("a", 43)},
		"the challenge": {"code_verifier", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"},
		"short":         {"code_verifier", "a"}, "another address": {"redirect_uri", "com.example.app:/back"},
		"no address": {"redirect_uri", ""}, "another code": {"code", code + "x"},
	}
	for what, pair := range refused {
		if r := c.redeem(code, pair...); r.status != 400 || strings.Contains(string(r.body), "access_token") {
			t.Errorf("%s: %d %s", what, r.status, r.body)
		}
	}
	other.redeem(code).refusedAs(400, "invalid_grant")
	// Of many who redeem it at once one at most has a token, and it does not work.
	var wait sync.WaitGroup
	var lock sync.Mutex
	var tokens []string
	for range 8 {
		wait.Go(func() {
			if r := c.redeem(code); r.status == 200 {
				lock.Lock()
				tokens = append(tokens, r.object()["access_token"].(string))
				lock.Unlock()
			}
		})
	}
	wait.Wait()
	if len(tokens) != 1 {
		t.Fatalf("%d tokens of one code", len(tokens))
	}
	b.clock.Add(int64(5 * time.Second))
	b.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+tokens[0]).problem(401, "unauthorized")
	late := b.code(c.id)
	b.clock.Add(int64(61 * time.Second))
	c.redeem(late).refusedAs(400, "invalid_grant")

	// A refresh token that comes a second time ends all that came of it.
	first := c.redeem(b.code(c.id)).ok(200).object()
	refresh := func(c *oauthClient, text any, pairs ...string) *reply {
		return c.ask("/oauth/token", append([]string{"grant_type", "refresh_token", "refresh_token",
			text.(string)}, pairs...)...)
	}
	refresh(other, first["refresh_token"]).refusedAs(400, "invalid_grant")
	refresh(c, first["refresh_token"], "scope", "vehicles:write").refusedAs(400, "invalid_scope")
	second := refresh(c, first["refresh_token"]).ok(200).object()
	refresh(c, first["refresh_token"]).refusedAs(400, "invalid_grant")
	refresh(c, second["refresh_token"]).refusedAs(400, "invalid_grant")
	b.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+second["access_token"].(string)).
		problem(401, "unauthorized")
	ended := b.do("GET", "/v1/oauth_grants?archived=true&client_id="+c.id, "").data()
	if len(ended) < 2 {
		t.Errorf("ended %v", ended)
	}
	// One that is given back ends it, too; by its own client alone.
	third := c.redeem(b.code(c.id)).ok(200).object()
	other.ask("/oauth/revoke", "token", third["refresh_token"].(string)).ok(200)
	third = refresh(c, third["refresh_token"]).ok(200).object()
	c.ask("/oauth/revoke", "token", third["refresh_token"].(string)).ok(200)
	refresh(c, third["refresh_token"]).refusedAs(400, "invalid_grant")
	// What is stored has neither codes nor tokens.
	var stored uint64
	if err := b.db.QueryRow(t.Context(), `SELECT count() FROM claim_log WHERE position(concat(value, detail), 'mp_o') > 0`).
		Scan(&stored); err != nil || stored != 0 {
		t.Errorf("%d stored in clear, %v", stored, err)
	}
}

// A token that is not ours, or not for this, is none.
func TestAttacksOnAccessTokens(t *testing.T) {
	w := newWorld(t)
	c := w.oauthClient(forItself)
	good := c.token()
	parts := strings.Split(good, ".")
	read := func(part string, into any) {
		raw, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil || json.Unmarshal(raw, into) != nil {
			t.Fatal(err)
		}
	}
	var head map[string]any
	var claims token.Claims
	read(parts[0], &head)
	read(parts[1], &claims)
	rec, err := record.NewLog(w.api.Store, record.OAuthKeyrings).Get(t.Context(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	deps := w.api.oauth.Settings
	secret, err := deps.Keys.Open("oauth/signing_key/"+rec.Body.Keys[0].ID, rec.Body.Keys[0].Sealed)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := token.ReadKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := token.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	ring, public := foreign.ID, ours.Public()
	foreign.ID = ours.ID
	signed := func(k *token.Key, change func(*token.Claims)) string {
		claims := claims
		claims.ID = rand.Text()
		if change != nil {
			change(&claims)
		}
		text, err := k.Sign(claims)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	// Only what is changed is in the way.
	w.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+signed(ours, nil)).ok(200)
	der, err := x509.MarshalPKIXPublicKey(public.Key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(head map[string]any) string {
		text, err := json.Marshal(head)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text) + "." + parts[1]
	}
	hs := write(map[string]any{"alg": "HS256", "typ": "at+jwt", "kid": ours.ID})
	mac := hmac.New(sha256.New, der)
	mac.Write([]byte(hs))
	foreign2 := *foreign
	foreign2.ID = ring
	jwk, _ := json.Marshal(foreign.Public())
	embedded := write(map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": ours.ID, "jwk": json.RawMessage(jwk)})
	attacks := map[string]string{
		"alg none":                      write(map[string]any{"alg": "none", "typ": "at+jwt", "kid": ours.ID}) + ".",
		"alg HS256 with the public key": hs + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)),
		"a foreign key under our name":  signed(foreign, nil), "a foreign key": signed(&foreign2, nil),
		"a key that it brings": embedded + "." + parts[2],
		"kid of a path": write(map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": "../../dev/null"}) +
			"." + parts[2],
		"no kid":       write(map[string]any{"alg": "ES256", "typ": "at+jwt"}) + "." + parts[2],
		"another type": write(map[string]any{"alg": "ES256", "typ": "JWT", "kid": ours.ID}) + "." + parts[2],
		"crit": write(map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": ours.ID, "crit": []string{"x"}}) +
			"." + parts[2],
		"no signature": parts[0] + "." + parts[1] + ".", "half": parts[0] + "..",
		"expired":              signed(ours, func(c *token.Claims) { c.Expires = time.Now().Add(-time.Second).Unix() }),
		"of the future":        signed(ours, func(c *token.Claims) { c.IssuedAt = time.Now().Add(time.Hour).Unix() }),
		"another audience":     signed(ours, func(c *token.Claims) { c.Audience = "https://other.example" }),
		"another issuer":       signed(ours, func(c *token.Claims) { c.Issuer = "https://other.example" }),
		"no jti":               signed(ours, func(c *token.Claims) { c.ID = "" }),
		"another account":      signed(ours, func(c *token.Claims) { c.Account = "acc_1" }),
		"another client":       signed(ours, func(c *token.Claims) { c.ClientID = "ocl_1" }),
		"a grant that is none": signed(ours, func(c *token.Claims) { c.Grant, c.Subject = "ogr_1", "usr_1" }),
	}
	for what, text := range attacks {
		r := w.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+text)
		if r.status != 401 || !strings.Contains(r.header.Get("WWW-Authenticate"), `error="invalid_token"`) {
			t.Errorf("%s: %d %s", what, r.status, r.body)
		}
	}
	if more := signed(ours, func(c *token.Claims) { c.Scope = "admin" }); w.do("POST", "/v1/vehicles",
		`{"make":"A","model":"B"}`, "Authorization", "Bearer "+more).status != 403 {
		t.Error("a token holds what its client does not")
	}
	if w.do("GET", "/v1/vehicles?access_token="+good, "", "Authorization", "").status != 401 {
		t.Error("a token in the query string is taken")
	}
}

// A token that is bound to a key works with proofs of that key, each once, each for its request.
func TestAttacksOnBoundTokens(t *testing.T) {
	w := newWorld(t)
	c := w.oauthClient(strings.Replace(forItself, `"scopes"`, `"dpop_bound_access_tokens":true,"scopes"`, 1))
	key, thief := newSigner(t), newSigner(t)
	c.ask("/oauth/token", "grant_type", "client_credentials").refusedAs(400, "invalid_dpop_proof")
	get := func(proof string) *reply {
		return w.form("/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {c.id},
			"client_secret": {c.secret}}, "DPoP", proof)
	}
	at, tokenAt := w.url+"/v1/vehicles", w.url+"/oauth/token"
	proof := key.proof("POST", tokenAt, "", nil)
	got := get(proof).ok(200).object()
	wantEqual(t, "type", got["token_type"], "DPoP")
	get(proof).refusedAs(400, "invalid_dpop_proof")
	access := got["access_token"].(string)
	use := func(proof string) *reply {
		return w.do("GET", "/v1/vehicles", "", "Authorization", "DPoP "+access, "DPoP", proof)
	}
	once := key.proof("GET", at, access, nil)
	use(once).ok(200)
	set := func(name string, value any) func(map[string]any) { return func(c map[string]any) { c[name] = value } }
	for what, proof := range map[string]string{
		"again": once, "none": "", "of another key": thief.proof("GET", at, access, nil),
		"another method":  key.proof("POST", at, access, nil),
		"another address": key.proof("GET", w.url+"/v1/bookings", access, nil),
		"another host":    key.proof("GET", "https://evil.example/v1/vehicles", access, nil),
		"no ath":          key.proof("GET", at, "", nil), "another ath": key.proof("GET", at, access+"x", nil),
		"old":    key.proof("GET", at, access, set("iat", time.Now().Add(-2*time.Minute).Unix())),
		"future": key.proof("GET", at, access, set("iat", time.Now().Add(2*time.Minute).Unix())),
		"no iat": key.proof("GET", at, access, set("iat", nil)), "no jti": key.proof("GET", at, access, set("jti", "")),
		"not one": "x", "another type": key.sign(key.key, "JWT", map[string]any{"jti": "a", "htm": "GET", "htu": at,
			"iat": time.Now().Unix()}),
	} {
		r := use(proof)
		if r.status != 401 || !strings.HasPrefix(r.header.Get("WWW-Authenticate"), "DPoP ") ||
			!strings.Contains(r.header.Get("WWW-Authenticate"), "invalid_dpop_proof") {
			t.Errorf("%s: %d %s %v", what, r.status, r.body, r.header)
		}
	}
	w.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+access).problem(401, "unauthorized")
	w.do("GET", "/v1/vehicles", "", "Authorization", "DPoP "+w.oauthClient(forItself).token(), "DPoP",
		key.proof("GET", at, "", nil)).problem(401, "unauthorized")
	bound := c.ask("/oauth/introspect", "token", access).ok(200).object()["cnf"].(map[string]any)
	wantEqual(t, "bound to", bound["jkt"], key.thumbprint())
}
