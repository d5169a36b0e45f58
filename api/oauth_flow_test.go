package api

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
)

// visitor is a world with a person who is signed in at the browser whose requests have the header X-Person.
type visitor struct {
	*world
	role atomic.Value // of the person, now; empty if they were removed
}

const personHeader = "X-Person"

func newVisitor(t *testing.T, change ...func(*rest.Config, *Deps)) *visitor {
	b := &visitor{}
	b.role.Store(auth.Manager)
	b.world = newWorld(t, append(change, func(_ *rest.Config, d *Deps) {
		d.OAuth.SignIn = signIn
		d.OAuth.SignedIn = func(r *http.Request) (auth.Person, bool, error) {
			session := r.Header.Get(personHeader)
			if session == "" {
				return auth.Person{}, false, nil
			}
			return auth.Person{Account: b.account, User: 7, Session: fleet.SessionID(len(session)), Name: "Ada <b>Byron</b>",
				Role: b.role.Load().(auth.Role), Since: b.api.Now()}, true, nil
		}
		d.OAuth.RoleOf = func(context.Context, fleet.AccountID, fleet.UserID) (auth.Role, bool, error) {
			role := b.role.Load().(auth.Role)
			return role, role != "", nil
		}
	})...)
	return b
}

const landing = "https://app.example/back?tab=1"

const byConsent = `{"name":"Planner & Co","type":"public","grant_types":["authorization_code","refresh_token"],` +
	`"redirect_uris":["` + landing + `","http://127.0.0.1/done","com.example.app:/back"],` +
	`"scopes":["vehicles:read","vehicles:write","keys:manage"]}`

// browse makes a request without following where it leads.
func (b *visitor) browse(method, path, body string, headers ...string) *reply {
	b.t.Helper()
	client := *http.DefaultClient
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	was := http.DefaultClient
	http.DefaultClient = &client
	defer func() { http.DefaultClient = was }()
	return b.do(method, path, body, append([]string{"Authorization", "", personHeader, "a"}, headers...)...)
}

const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

// question is the address at which a person is asked; pairs of name and value change it.
func question(client string, pairs ...string) string {
	sum := sha256.Sum256([]byte(verifier))
	q := url.Values{"response_type": {"code"}, "client_id": {client}, "redirect_uri": {landing}, "state": {"s 1"},
		"scope": {"vehicles:read"}, "code_challenge_method": {"S256"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}}
	for i := 0; i < len(pairs); i += 2 {
		if q.Del(pairs[i]); pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return "/oauth/authorize?" + q.Encode()
}

var wishInPage = regexp.MustCompile(`name="wish" value="([^"]+)"`)

// answered is where the browser is sent when the person answers the question.
func (b *visitor) answered(ask, answer string) url.Values {
	b.t.Helper()
	page := b.browse("GET", ask, "").ok(200)
	found := wishInPage.FindSubmatch(page.body)
	if found == nil {
		b.t.Fatalf("no question in %s", page.body)
	}
	return b.back(b.browse("POST", "/oauth/authorize", url.Values{"wish": {html.UnescapeString(string(found[1]))},
		"answer": {answer}}.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin"))
}

// back are the parameters with which a client is told.
func (b *visitor) back(r *reply) url.Values {
	b.t.Helper()
	to, err := url.Parse(r.ok(303).header.Get("Location"))
	if err != nil || to.Query().Get("iss") != b.url {
		b.t.Fatalf("sent to %s, %v", to, err)
	}
	return to.Query()
}

// code gets a code for the client.
func (b *visitor) code(client string, pairs ...string) string {
	b.t.Helper()
	told := b.answered(question(client, pairs...), "allow")
	if told.Get("code") == "" || told.Get("state") != "s 1" {
		b.t.Fatalf("told %v", told)
	}
	return told.Get("code")
}

func (c *oauthClient) redeem(code string, pairs ...string) *reply {
	c.w.t.Helper()
	return c.ask("/oauth/token", append([]string{"grant_type", "authorization_code", "code", code, "redirect_uri", landing,
		"code_verifier", verifier}, pairs...)...)
}

func TestAPersonConsents(t *testing.T) {
	b := newVisitor(t)
	c := b.oauthClient(byConsent)
	vehicles := func(token string) *reply { return b.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+token) }

	// Who is not signed in signs in and comes back.
	to := b.browse("GET", question(c.id), "", personHeader, "").ok(303).header.Get("Location")
	if !strings.HasPrefix(to, "/signin?next="+url.QueryEscape("/oauth/authorize?")) {
		t.Errorf("sent to %s", to)
	}
	page := b.browse("GET", question(c.id, "scope", "vehicles:read keys:manage"), "").ok(200)
	for _, want := range []string{"Allow Planner &amp; Co?", "Ada &lt;b&gt;Byron", "See vehicles",
		"https://app.example."} {
		if !strings.Contains(string(page.body), want) {
			t.Errorf("the page lacks %q: %s", want, page.body)
		}
	}
	if strings.Contains(string(page.body), "API keys") {
		t.Error("a manager may not give what they may not do")
	}
	policy := page.header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "default-src 'none'") ||
		!strings.Contains(policy, "form-action 'self' https://app.example;") ||
		page.header.Get("X-Frame-Options") != "DENY" || page.header.Get("Cache-Control") != "no-store" ||
		page.header.Get("Referrer-Policy") != "strict-origin" {
		t.Errorf("headers %v", page.header)
	}
	b.browse("GET", "/ui/page.css", "").ok(200)
	// A window that a program opened for this keeps who opened it, all the way; other pages let go.
	for path, want := range map[string]string{question(c.id): "unsafe-none", "/signin": "unsafe-none",
		"/signin/factor": "unsafe-none", "/signin/password": "same-origin", "/signin/security": "same-origin"} {
		wantEqual(t, path, b.browse("GET", path, "").header.Get("Cross-Origin-Opener-Policy"), want)
	}
	wantEqual(t, "no", b.answered(question(c.id), "deny").Get("error"), "access_denied")

	// The library that Go programs use goes the whole way, on a port of its own.
	config := oauth2.Config{ClientID: c.id, RedirectURL: "http://127.0.0.1:49152/done", Scopes: []string{"vehicles:read"},
		Endpoint: oauth2.Endpoint{AuthURL: b.url + "/oauth/authorize", TokenURL: b.url + "/oauth/token"}}
	own := oauth2.GenerateVerifier()
	ask := strings.TrimPrefix(config.AuthCodeURL("s 1", oauth2.S256ChallengeOption(own)), b.url)
	got, err := config.Exchange(t.Context(), b.answered(ask, "allow").Get("code"), oauth2.VerifierOption(own))
	if err != nil || got.RefreshToken == "" {
		t.Fatalf("%v %v", got, err)
	}
	vehicles(got.AccessToken).ok(200)
	got.Expiry = time.Now().Add(-time.Minute)
	next, err := config.TokenSource(t.Context(), got).Token()
	if err != nil || next.RefreshToken == got.RefreshToken {
		t.Fatalf("%v %v", next, err)
	}
	vehicles(next.AccessToken).ok(200)

	// Who has access is seen, and taken away.
	grants := b.do("GET", "/v1/oauth_grants?client_id="+c.id, "").data()
	if len(grants) != 1 || grants[0]["user_id"] != "usr_7" {
		t.Fatalf("grants %v", grants)
	}
	b.do("DELETE", "/v1/oauth_grants/"+grants[0]["id"].(string), "").ok(204)
	vehicles(next.AccessToken).problem(401, "unauthorized")
	c.ask("/oauth/token", "grant_type", "refresh_token", "refresh_token", next.RefreshToken).
		refusedAs(400, "invalid_grant")

	// A person who may do less, or is gone, takes their tokens along.
	whole := c.redeem(b.code(c.id, "scope", "vehicles:read vehicles:write")).ok(200).object()
	access := whole["access_token"].(string)
	write := func() *reply {
		return b.do("POST", "/v1/vehicles", `{"make":"A","model":"B"}`, "Authorization", "Bearer "+access)
	}
	write().ok(201)
	b.role.Store(auth.Driver)
	b.clock.Add(int64(5 * time.Second))
	write().problem(403, "insufficient_scope")
	vehicles(access).ok(200)
	b.role.Store(auth.Role(""))
	b.clock.Add(int64(5 * time.Second))
	vehicles(access).problem(401, "unauthorized")
	c.ask("/oauth/token", "grant_type", "refresh_token", "refresh_token", whole["refresh_token"].(string)).
		refusedAs(400, "invalid_grant")
}

// signer makes proofs of a key.
type signer struct {
	t   *testing.T
	key *ecdsa.PrivateKey
}

func newSigner(t *testing.T) *signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &signer{t, key}
}

// proof makes a proof; change may make it a bad one.
func (s *signer) proof(method, address, access string, change func(map[string]any)) string {
	s.t.Helper()
	claims := map[string]any{"jti": rand.Text(), "htm": method, "htu": address, "iat": time.Now().Unix()}
	if access != "" {
		sum := sha256.Sum256([]byte(access))
		claims["ath"] = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	if change != nil {
		change(claims)
	}
	return s.sign(s.key, "dpop+jwt", claims)
}

func (s *signer) sign(key *ecdsa.PrivateKey, kind string, claims map[string]any) string {
	s.t.Helper()
	options := (&jose.SignerOptions{EmbedJWK: true}).WithType(jose.ContentType(kind))
	made, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, options)
	if err != nil {
		s.t.Fatal(err)
	}
	text, err := json.Marshal(claims)
	if err != nil {
		s.t.Fatal(err)
	}
	signed, err := made.Sign(text)
	if err != nil {
		s.t.Fatal(err)
	}
	compact, err := signed.CompactSerialize()
	if err != nil {
		s.t.Fatal(err)
	}
	return compact
}

func (s *signer) thumbprint() string {
	sum, err := (&jose.JSONWebKey{Key: s.key.Public()}).Thumbprint(crypto.SHA256)
	if err != nil {
		s.t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(sum)
}
