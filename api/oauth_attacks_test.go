package api

import (
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"html"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/oauth"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
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
	if len(ended) != 1 || ended[0]["ended"] != record.GrantRefreshReused {
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

// forged is a token whose signature over its header and claims is good, by a key.
func forged(t *testing.T, key *ecdsa.PrivateKey, head map[string]any, claims any) string {
	t.Helper()
	signed := unsigned(t, head, claims)
	sum := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(append(r.FillBytes(make([]byte, 32)),
		s.FillBytes(make([]byte, 32))...))
}

func unsigned(t *testing.T, head map[string]any, claims any) string {
	t.Helper()
	var parts []string
	for _, part := range []any{head, claims} {
		text, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, base64.RawURLEncoding.EncodeToString(text))
	}
	return strings.Join(parts, ".")
}

// with is a copy of an object in which some members, pairs of name and value, are others; nil takes one away.
func with(object map[string]any, pairs ...any) map[string]any {
	object = maps.Clone(object)
	for i := 0; i < len(pairs); i += 2 {
		if object[pairs[i].(string)] = pairs[i+1]; pairs[i+1] == nil {
			delete(object, pairs[i].(string))
		}
	}
	return object
}

// signingKey is the key that access tokens are signed with.
func (w *world) signingKey() (id string, key *ecdsa.PrivateKey) {
	w.t.Helper()
	rec, err := record.NewLog(w.api.Store, record.OAuthKeyrings).Get(w.t.Context(), 0, 1)
	if err != nil {
		w.t.Fatal(err)
	}
	secret, err := w.api.oauth.Settings.Keys.Open("oauth/signing_key/"+rec.Body.Keys[0].ID, rec.Body.Keys[0].Sealed)
	if err != nil {
		w.t.Fatal(err)
	}
	der, err := base64.RawStdEncoding.DecodeString(secret)
	if err != nil {
		w.t.Fatal(err)
	}
	read, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		w.t.Fatal(err)
	}
	return rec.Body.Keys[0].ID, read.(*ecdsa.PrivateKey)
}

// A token that is not ours, or not for this, is none: each has a good signature over what it says, by the thief's key
// or by ours, so that nothing but what is changed is in the way.
func TestAttacksOnAccessTokens(t *testing.T) {
	w := newWorld(t)
	c := w.oauthClient(forItself)
	good := c.token()
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(good, ".")[1])
	var claims map[string]any
	if err != nil || json.Unmarshal(raw, &claims) != nil {
		t.Fatal(err)
	}
	kid, key := w.signingKey()
	thief := newSigner(t)
	head := map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": kid}
	ours := func(pairs ...any) string { return forged(t, key, with(head, pairs...), claims) }
	theirs := func(pairs ...any) string { return forged(t, thief.key, with(head, pairs...), claims) }
	saying := func(pairs ...any) string {
		return forged(t, key, head, with(with(claims, "jti", rand.Text()), pairs...))
	}
	try := func(text string) *reply { return w.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+text) }
	try(ours()).ok(200)
	try(saying()).ok(200)

	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	hashed := func(secret []byte) string {
		text := unsigned(t, with(head, "alg", "HS256"), claims)
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(text))
		return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	jwk := func(k *ecdsa.PrivateKey) any { return jose.JSONWebKey{Key: k.Public(), Algorithm: "ES256", Use: "sig"} }
	published := w.do("GET", "/oauth/jwks", "", "Authorization", "").ok(200).body
	parts, now := strings.Split(good, "."), time.Now()
	attacks := map[string]string{
		"alg none": unsigned(t, with(head, "alg", "none"), claims) + ".", "no signature": parts[0] + "." + parts[1] + ".",
		"alg None": unsigned(t, with(head, "alg", "None"), claims) + ".", "half": parts[0] + "..",
		"HS256 with the public key":         hashed(public),
		"HS256 with the public key as PEM":  hashed(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})),
		"HS256 with what is published":      hashed(published),
		"HS256 with nothing":                hashed(nil),
		"signed by a thief, under our name": theirs(), "under their name": theirs("kid", thief.thumbprint()),
		"with their key in the header":  theirs("jwk", jwk(thief.key)),
		"with their key alone":          theirs("kid", nil, "jwk", jwk(thief.key)),
		"with their key, and its name":  theirs("kid", thief.thumbprint(), "jwk", jwk(thief.key)),
		"with an address of their keys": theirs("jku", "https://evil.example/jwks"),
		"with a certificate of theirs":  theirs("x5u", "https://evil.example/x5u", "x5t", "eA"),
		"our own key in the header":     ours("jwk", jwk(key)), "no kid": ours("kid", nil),
		"kid of a path": ours("kid", "../../dev/null"), "kid of a query": ours("kid", "' OR 1=1 --"),
		"kid that is empty": ours("kid", ""), "a long kid": ours("kid", kid+strings.Repeat("x", 2000)),
		"no type": ours("typ", nil), "an ID token": ours("typ", "JWT"), "a proof": ours("typ", "dpop+jwt"),
		"crit": ours("crit", []string{"x"}, "x", 1), "crit of what is there": ours("crit", []string{"kid"}),
		"another alg": ours("alg", "ES384"), "no alg": ours("alg", nil), "RS256": ours("alg", "RS256"),
		"expired": saying("exp", now.Add(-time.Second).Unix()), "without end": saying("exp", nil),
		"of the future": saying("iat", now.Add(time.Hour).Unix()), "for another": saying("aud", "https://other.example"),
		"for several":     saying("aud", []string{w.url, "https://other.example"}),
		"of another":      saying("iss", "https://other.example"),
		"of a like name":  saying("iss", w.url+"/"),
		"without a jti":   saying("jti", ""),
		"no client":       saying("client_id", ""),
		"another account": saying("account", "acc_1"), "another client": saying("client_id", "ocl_1"),
		"a grant that is none": saying("grant", "ogr_1", "sub", "usr_1"),
		"bound to a key":       saying("cnf", map[string]any{"jkt": thief.thumbprint()}),
	}
	for what, text := range attacks {
		r := try(text)
		if r.status != 401 || !strings.Contains(r.header.Get("WWW-Authenticate"), `error="invalid_token"`) {
			t.Errorf("%s: %d %s", what, r.status, r.body)
		}
	}
	more := saying("scope", "admin")
	w.do("POST", "/v1/vehicles", `{"make":"A","model":"B"}`, "Authorization", "Bearer "+more).
		problem(403, "insufficient_scope")
	w.do("GET", "/v1/vehicles?access_token="+good, "", "Authorization", "").problem(401, "unauthorized")
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
	jwk := func(key any) any { return jose.JSONWebKey{Key: key} }
	head := map[string]any{"alg": "ES256", "typ": "dpop+jwt", "jwk": jwk(key.key.Public())}
	said := func(pairs ...any) string {
		sum := sha256.Sum256([]byte(access))
		return forged(t, key.key, with(head, pairs...), map[string]any{"jti": rand.Text(), "htm": "GET", "htu": at,
			"iat": time.Now().Unix(), "ath": base64.RawURLEncoding.EncodeToString(sum[:])})
	}
	use(said()).ok(200)
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
		"not one": "x", "for the token": key.proof("POST", tokenAt, access, nil),
		"a small method": key.proof("get", at, access, nil), "a number as jti": key.proof("GET", at, access, set("jti", 7)),
		"a long jti": key.proof("GET", at, access, set("jti", strings.Repeat("j", 256))),
		"too long":   key.proof("GET", at, access, set("more", strings.Repeat("x", 9000))),
		"two in one": key.proof("GET", at, access, nil) + ", " + key.proof("GET", at, access, nil),
		"its type":   said("typ", "JWT"), "no type": said("typ", nil), "no key": said("jwk", nil),
		"named key": said("jwk", nil, "kid", key.thumbprint()), "a thief's key": said("jwk", jwk(thief.key.Public())),
		"its secret key": said("jwk", jwk(key.key)), "crit": said("crit", []string{"x"}, "x", 1),
		"alg": said("alg", "ES384"), "alg none": said("alg", "none"),
		"a secret as key": said("alg", "HS256", "jwk", map[string]any{"kty": "oct", "k": "eA"}),
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

// Of all who present one code or one refresh token at the same time, to any of the processes on one store, one wins,
// and what was granted is over for everybody: one of them is a thief. A proof that one process has seen is old to the
// others.
func TestWhatManyPresentAtOnceIsOverForAll(t *testing.T) {
	b := newVisitor(t)
	second := newVisitor(t, func(_ *rest.Config, d *Deps) {
		d.DB, d.IDs = b.db, fleet.NewIDSource(2, time.Now)
		d.OAuth = oauth.Config{Issuer: b.url, Keys: b.api.oauth.Settings.Keys}
	})
	c := b.oauthClient(byConsent)
	for _, urls := range [][]string{{b.url}, {b.url, second.url}} {
		code := url.Values{"grant_type": {"authorization_code"}, "client_id": {c.id}, "code": {b.code(c.id)},
			"redirect_uri": {landing}, "code_verifier": {verifier}}
		given := c.redeem(b.code(c.id)).ok(200).object()
		refresh := url.Values{"grant_type": {"refresh_token"}, "client_id": {c.id},
			"refresh_token": {given["refresh_token"].(string)}}
		for _, form := range []url.Values{code, refresh} {
			won := oneWins(t, urls, form)
			b.clock.Add(int64(5 * time.Second))
			second.clock.Add(int64(5 * time.Second))
			for _, at := range []*world{b.world, second.world} {
				at.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+won["access_token"].(string)).
					problem(401, "unauthorized")
				at.form("/oauth/token", url.Values{"grant_type": {"refresh_token"}, "client_id": {c.id},
					"refresh_token": {won["refresh_token"].(string)}}).refusedAs(400, "invalid_grant")
			}
		}
	}
	itself := b.oauthClient(strings.Replace(forItself, "Sync", "Own", 1))
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {itself.id}, "client_secret": {itself.secret}}
	proof := newSigner(t).proof("POST", b.url+"/oauth/token", "", nil)
	b.form("/oauth/token", form, "DPoP", proof).ok(200)
	second.form("/oauth/token", form, "DPoP", proof).refusedAs(400, "invalid_dpop_proof")
}

// oneWins sends a form eight times at once, to the servers in turn, and returns what the one who wins is given.
func oneWins(t *testing.T, urls []string, form url.Values) (won map[string]any) {
	t.Helper()
	var wait sync.WaitGroup
	var lock sync.Mutex
	answers := map[int]int{}
	for i := range 8 {
		wait.Go(func() {
			res, err := http.PostForm(urls[i%len(urls)]+"/oauth/token", form)
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			lock.Lock()
			defer lock.Unlock()
			if answers[res.StatusCode]++; res.StatusCode == http.StatusOK {
				if err := json.NewDecoder(res.Body).Decode(&won); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if answers[200] != 1 || answers[400] != 7 {
		t.Fatalf("answers by status: %v", answers)
	}
	return won
}

// What is bound to a key of a program is of no use to whoever has stolen it without the key: neither the code nor the
// refresh token.
func TestAThiefNeedsTheKey(t *testing.T) {
	b := newVisitor(t)
	c := b.oauthClient(byConsent)
	key, thief := newSigner(t), newSigner(t)
	ask := func(signer *signer, pairs ...string) *reply {
		form := url.Values{"client_id": {c.id}}
		for i := 0; i < len(pairs); i += 2 {
			form.Set(pairs[i], pairs[i+1])
		}
		if signer == nil {
			return b.form("/oauth/token", form)
		}
		return b.form("/oauth/token", form, "DPoP", signer.proof("POST", b.url+"/oauth/token", "", nil))
	}
	code := []string{"grant_type", "authorization_code", "redirect_uri", landing, "code_verifier", verifier, "code",
		b.code(c.id, "dpop_jkt", key.thumbprint())}
	ask(thief, code...).refusedAs(400, "invalid_dpop_proof")
	ask(nil, code...).refusedAs(400, "invalid_dpop_proof")
	given := ask(key, code...).ok(200).object()
	refresh := []string{"grant_type", "refresh_token", "refresh_token", given["refresh_token"].(string)}
	ask(thief, refresh...).refusedAs(400, "invalid_dpop_proof")
	ask(nil, refresh...).refusedAs(400, "invalid_dpop_proof")
	next := ask(key, refresh...).ok(200).object()
	refresh[3] = next["refresh_token"].(string)
	ask(thief, refresh...).refusedAs(400, "invalid_dpop_proof")
	use := func(signer *signer) *reply {
		access := next["access_token"].(string)
		return b.do("GET", "/v1/vehicles", "", "Authorization", "DPoP "+access, "DPoP",
			signer.proof("GET", b.url+"/v1/vehicles", access, nil))
	}
	use(key).ok(200)
	use(thief).problem(401, "unauthorized")
}

// Nothing that somebody makes up is a fault of ours, and nothing of it is given a token or sent elsewhere.
func TestWhatIsMadeUpIsRefused(t *testing.T) {
	b := newVisitor(t, func(c *rest.Config, _ *Deps) { c.Auth.Failures = 1e6 })
	c, itself := b.oauthClient(byConsent), b.oauthClient(strings.Replace(forItself, "Sync", "Own", 1))
	good := map[string]url.Values{
		"/oauth/token": {"grant_type": {"authorization_code"}, "client_id": {c.id}, "code": {b.code(c.id)},
			"redirect_uri": {landing}, "code_verifier": {verifier}},
		"/oauth/revoke": {"client_id": {itself.id}, "client_secret": {itself.secret}, "token": {"x"},
			"token_type_hint": {"x"}},
		"/oauth/introspect": {"client_id": {itself.id}, "client_secret": {itself.secret}, "token": {"x"}},
		"/oauth/authorize":  {},
	}
	ask, err := url.Parse(question(c.id))
	if err != nil {
		t.Fatal(err)
	}
	good["/oauth/authorize"] = ask.Query()
	send := func(path string, form url.Values) *reply {
		if path == "/oauth/authorize" {
			return b.browse("GET", path+"?"+form.Encode(), "")
		}
		return b.form(path, form)
	}
	for path, form := range good {
		for name := range form {
			twice := maps.Clone(form)
			twice[name] = []string{form.Get(name), form.Get(name)}
			if r := send(path, twice); r.status != 400 {
				t.Errorf("%s with %s twice: %d %s", path, name, r.status, r.body)
			}
			for _, value := range []string{"\x00", "\xff\xfe", "%", "' OR 1=1 --", "{}", "[]", "..", "mp_ort_", "mp_oac_",
				"a.b.c", "ocl_18446744073709551616", "<script>", "é", "\r\nSet-Cookie: a=b", strings.Repeat("x", 5000),
				strings.Repeat("a b ", 5000)} {
				changed := maps.Clone(form)
				changed.Set(name, value)
				r := send(path, changed)
				to, err := url.Parse(r.header.Get("Location"))
				if r.status >= 500 || strings.Contains(string(r.body), "access_token") || err != nil ||
					to.Host != "" && to.Host != "app.example" || strings.Contains(string(r.body), "<script>") ||
					r.header.Get("Set-Cookie") != "" {
					t.Errorf("%s with %s=%.20q: %d %v %s", path, name, value, r.status, r.header, r.body)
				}
				if r.header.Get("Content-Type") == "text/html; charset=utf-8" && (r.header.Get("X-Frame-Options") != "DENY" ||
					!strings.Contains(r.header.Get("Content-Security-Policy"), "frame-ancestors 'none'")) {
					t.Errorf("%s with %s=%.20q may be framed: %v", path, name, value, r.header)
				}
			}
		}
		if path == "/oauth/authorize" {
			continue
		}
		asForm := []string{"Authorization", "", "Content-Type", "application/x-www-form-urlencoded"}
		b.do("POST", path, "token=%zz", asForm...).refusedAs(400, "invalid_request")
		b.do("POST", path, "token="+strings.Repeat("x", 65<<10), asForm...).refusedAs(413, "invalid_request")
		b.do("POST", path, "", asForm...).refusedAs(401, "invalid_client")
		for _, basic := range []string{"Basic", "Basic ", "Basic x", "Basic eA==", "Basic JXo6JXo=", "Bearer x",
			"Basic \x80"} {
			b.do("POST", path, "token=x", append(asForm[2:], "Authorization", basic)...).refusedAs(401, "invalid_client")
		}
	}
}
