package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/motorpool/fleet/api/auth"
)

// oauthClient is an OAuth client of a test.
type oauthClient struct {
	w          *world
	id, secret string
}

func (w *world) oauthClient(body string) *oauthClient {
	w.t.Helper()
	made := w.do("POST", "/v1/oauth_clients", body).ok(201).object()
	secret, _ := made["client_secret"].(string)
	return &oauthClient{w, made["id"].(string), secret}
}

const forItself = `{"name":"Sync","type":"confidential","grant_types":["client_credentials"],"scopes":["vehicles:read"]}`

// form sends a form; headers are pairs of name and value.
func (w *world) form(path string, values url.Values, headers ...string) *reply {
	w.t.Helper()
	return w.do("POST", path, values.Encode(),
		append([]string{"Authorization", "", "Content-Type", "application/x-www-form-urlencoded"}, headers...)...)
}

// ask sends a form as the client, with its secret in the form; pairs of name and value.
func (c *oauthClient) ask(path string, pairs ...string) *reply {
	c.w.t.Helper()
	form := url.Values{"client_id": {c.id}}
	if c.secret != "" {
		form.Set("client_secret", c.secret)
	}
	for i := 0; i < len(pairs); i += 2 {
		if form.Del(pairs[i]); pairs[i+1] != "" {
			form.Set(pairs[i], pairs[i+1])
		}
	}
	return c.w.form(path, form)
}

// token gets an access token with which the client acts for itself.
func (c *oauthClient) token(pairs ...string) string {
	c.w.t.Helper()
	reply := c.ask("/oauth/token", append([]string{"grant_type", "client_credentials"}, pairs...)...).ok(200)
	return reply.object()["access_token"].(string)
}

// refusedAs fails the test unless the answer is an error of OAuth that nobody keeps.
func (r *reply) refusedAs(status int, code string) *reply {
	r.t.Helper()
	if got := r.object(); r.status != status || got["error"] != code || got["error_description"] == "" {
		r.t.Errorf("%d %s, want %d %s", r.status, r.body, status, code)
	}
	if r.header.Get("Cache-Control") != "no-store" || r.header.Get("Content-Type") != "application/json" {
		r.t.Errorf("headers %v", r.header)
	}
	return r
}

func TestAClientActsForItself(t *testing.T) {
	w := newWorld(t)
	c := w.oauthClient(forItself)
	as := func(token string) []string { return []string{"Authorization", "Bearer " + token} }

	// With the library that Go programs use.
	config := clientcredentials.Config{ClientID: c.id, ClientSecret: c.secret, TokenURL: w.url + "/oauth/token"}
	for _, style := range []oauth2.AuthStyle{oauth2.AuthStyleInHeader, oauth2.AuthStyleInParams} {
		config.AuthStyle = style
		res, err := config.Client(t.Context()).Get(w.url + "/v1/vehicles")
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%v %v", res, err)
		}
		res.Body.Close()
	}
	token := c.token()
	w.do("GET", "/v1/vehicles", "", as(token)...).ok(200)
	problem := w.do("POST", "/v1/vehicles", `{"make":"A","model":"B"}`, as(token)...)
	if p := problem.problem(403, "insufficient_scope"); p.Detail != "The access token lacks the scope vehicles:write." {
		t.Errorf("told %q", p.Detail)
	}
	wantEqual(t, "actor", strings.Contains(w.log.String(), "actor="+c.id), true)

	// What it asks for is what it gets.
	c.ask("/oauth/token", "grant_type", "client_credentials", "scope", "vehicles:write").refusedAs(400, "invalid_scope")
	c.ask("/oauth/token", "grant_type", "client_credentials", "scope", "planes:fly").refusedAs(400, "invalid_scope")
	c.ask("/oauth/token", "grant_type", "client_credentials", "resource", "https://elsewhere").
		refusedAs(400, "invalid_target")
	c.ask("/oauth/token", "grant_type", "client_credentials", "resource", w.url).ok(200)
	c.ask("/oauth/token", "grant_type", "authorization_code").refusedAs(400, "unauthorized_client")
	c.ask("/oauth/token", "grant_type", "password").refusedAs(400, "unsupported_grant_type")
	c.ask("/oauth/token").refusedAs(400, "invalid_request")
	c.ask("/oauth/token", "grant_type", "client_credentials", "client_secret", "wrong").refusedAs(401, "invalid_client")
	c.ask("/oauth/token", "grant_type", "client_credentials", "client_id", "ocl_1").refusedAs(401, "invalid_client")
	w.form("/oauth/token", url.Values{"grant_type": {"client_credentials", "client_credentials"}}).
		refusedAs(400, "invalid_request")
	w.do("POST", "/oauth/token", `{"grant_type":"client_credentials"}`).refusedAs(400, "invalid_request")

	// It is looked at by clients of its account, and by nobody else.
	shown := c.ask("/oauth/introspect", "token", token).ok(200).object()
	wantEqual(t, "introspected", fmt.Sprint(shown["active"], shown["scope"], shown["client_id"], shown["sub"],
		shown["account"]), fmt.Sprint(true, "vehicles:read", c.id, c.id, w.account))
	first := w.key
	w.key = w.newKey(w.newAccount("Second"), auth.Admin)
	other := w.oauthClient(forItself)
	wantEqual(t, "to another account", string(other.ask("/oauth/introspect", "token", token).ok(200).body),
		"{\"active\":false}\n")
	other.ask("/oauth/revoke", "token", token).ok(200)
	w.key = first
	w.do("GET", "/v1/vehicles", "", as(token)...).ok(200)

	// A token that was given back is one no more, and a client that was disabled has none.
	c.ask("/oauth/revoke", "token", token).ok(200)
	refused := w.do("GET", "/v1/vehicles", "", as(token)...)
	if p := refused.problem(401, "unauthorized"); !strings.HasPrefix(p.Detail, "The access token is not valid") {
		t.Errorf("told %q", p.Detail)
	}
	wantEqual(t, "challenge", refused.header.Get("WWW-Authenticate"), `Bearer realm="motorpool", resource_metadata="`+
		w.url+`/.well-known/oauth-protected-resource", error="invalid_token"`)
	wantEqual(t, "introspected", string(c.ask("/oauth/introspect", "token", token).ok(200).body), "{\"active\":false}\n")
	token = c.token()
	w.do("POST", "/v1/oauth_clients/"+c.id+"/disable", "").ok(200)
	w.do("GET", "/v1/vehicles", "", as(token)...).problem(401, "unauthorized")
	c.ask("/oauth/token", "grant_type", "client_credentials").refusedAs(401, "invalid_client")
	w.do("POST", "/v1/oauth_clients/"+c.id+"/enable", "").ok(200)
	w.do("GET", "/v1/vehicles", "", as(token)...).ok(200)
	w.do("PATCH", "/v1/oauth_clients/"+c.id, `{"scopes":["devices:command"]}`).ok(200)
	w.clock.Add(int64(5 * time.Second))
	w.do("GET", "/v1/vehicles", "", as(token)...).problem(403, "insufficient_scope")

	// Two secrets live while one takes the place of the other.
	rotated := w.do("POST", "/v1/oauth_clients/"+c.id+"/rotate_secret", "").ok(200)
	fresh := rotated.object()["client_secret"].(string)
	c.token()
	c.token("client_secret", fresh)
	w.do("POST", "/v1/oauth_clients/"+c.id+"/rotate_secret", "").problem(409, "conflict")
	w.clock.Add(int64(25 * time.Hour))
	c.ask("/oauth/token", "grant_type", "client_credentials").refusedAs(401, "invalid_client")
	c.secret = fresh
	token = c.token()
	w.clock.Add(int64(11 * time.Minute))
	w.do("GET", "/v1/vehicles", "", as(token)...).problem(401, "unauthorized")

	// Keys change, and tokens of the one before are still taken.
	kids := func() int {
		return len(w.do("GET", "/oauth/jwks", "", "Authorization", "").ok(200).object()["keys"].([]any))
	}
	wantEqual(t, "keys", kids(), 1)
	w.clock.Add(int64(30*24*time.Hour - 30*time.Minute - 26*time.Hour))
	w.clock.Add(int64(25 * time.Hour))
	token = c.token()
	wantEqual(t, "keys", kids(), 2)
	w.clock.Add(int64(time.Minute))
	w.do("GET", "/v1/account", "", as(token)...).ok(200)
	w.clock.Add(int64(2 * time.Hour))
	w.do("GET", "/v1/account", "", as(c.token())...).ok(200)
	w.do("DELETE", "/v1/oauth_clients/"+c.id, "").ok(204)
	w.clock.Add(int64(5 * time.Second))
	c.ask("/oauth/token", "grant_type", "client_credentials").refusedAs(401, "invalid_client")
}

func TestAnOAuthClientIsWhatItCanBe(t *testing.T) {
	w := newWorld(t)
	body := func(kind, grants, uris, scopes string) string {
		return fmt.Sprintf(`{"name":"A","type":"%s","grant_types":%s,"redirect_uris":%s,"scopes":%s}`, kind, grants, uris, scopes)
	}
	const read, codes = `["vehicles:read"]`, `["authorization_code","refresh_token"]`
	for _, good := range []string{"https://a.example/b", "http://127.0.0.1/b", "http://[::1]:8000/b",
		"http://localhost:3000/b", "com.example.app:/b", "https://a.example:8443/b?c=d"} {
		w.do("POST", "/v1/oauth_clients", body("public", codes, `["`+good+`"]`, read)).ok(201)
	}
	for _, bad := range []string{"", "/b", "http://a.example/b", "https:///b", "https://a.example/#b",
		"javascript:alert(1)",
		"data:text/html,b", "https://*.a.example/b", "https://u:p@a.example/b", "http://127.0.0.1.a.example/b",
		"https://a.example/b c", "HTTPS://a.example/", "http://0.0.0.0/b", `https://a.example\@b.example/`} {
		sent, _ := strings.CutPrefix(fmt.Sprintf("%q", bad), "")
		w.do("POST", "/v1/oauth_clients", body("public", codes, `[`+sent+`]`, read)).problem(422, "validation_failed")
	}
	w.do("POST", "/v1/oauth_clients", body("public", `["client_credentials"]`, `[]`, read)).
		problem(422, "validation_failed")
	w.do("POST", "/v1/oauth_clients", body("public", codes, `[]`, read)).problem(422, "validation_failed")
	w.do("POST", "/v1/oauth_clients", body("confidential", `["refresh_token"]`, `[]`, read)).
		problem(422, "validation_failed")
	w.do("POST", "/v1/oauth_clients", body("confidential", `["client_credentials"]`, `[]`, `["planes:fly"]`)).
		problem(422, "validation_failed")
	strong := w.oauthClient(body("confidential", `["client_credentials"]`, `[]`, `["vehicles:write"]`))
	w.key = w.newKey(w.account, auth.OAuthManage, auth.VehiclesRead)
	w.do("POST", "/v1/oauth_clients", body("confidential", `["client_credentials"]`, `[]`, `["vehicles:write"]`)).
		problem(403, "insufficient_scope")
	path := "/v1/oauth_clients/" + strong.id
	w.do("POST", path+"/rotate_secret", "").problem(403, "insufficient_scope")
	w.do("PATCH", path, `{"name":"B"}`).problem(403, "insufficient_scope")
	w.do("POST", path+"/disable", "").ok(200)
	w.do("POST", path+"/enable", "").problem(403, "insufficient_scope")
	for _, shown := range []string{path, path + "/history", "/v1/oauth_clients"} {
		if text := string(w.do("GET", shown, "").ok(200).body); strings.Contains(text, "sha256") {
			t.Errorf("%s shows %s", shown, text)
		}
	}
}
