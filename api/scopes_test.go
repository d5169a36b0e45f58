package api

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet/api/auth"
)

// answersTo calls every operation that asks for a credential as one who holds scopes, some at a time, and wants those
// that document one of these to let them in, and the others to refuse them. It returns how many refused.
func answersTo(t *testing.T, all []operation, who, scheme string, held []auth.Scope,
	send func(op operation, path string) *reply) int {
	t.Helper()
	var lacking atomic.Int64
	var calls errgroup.Group
	calls.SetLimit(4)
	for _, op := range all {
		asks, may, anybody := false, false, false
		for _, way := range op.security {
			if needs, ok := way[scheme]; ok {
				asks, anybody = true, anybody || len(needs) == 0
				may = may || !slices.ContainsFunc(needs, func(s string) bool { return !auth.Holds(held, auth.Scope(s)) })
			}
		}
		if !asks {
			continue
		}
		calls.Go(func() error {
			r := send(op, strings.NewReplacer("{id}", "veh_1").Replace(op.path))
			lacks := r.status == 403 && strings.Contains(string(r.body), `"insufficient_scope"`)
			if may == lacks && !anybody || !may && !lacks || r.status == 401 || r.status == 429 || r.status == 500 {
				t.Errorf("%s: %s (%s %s) answers %d: %s", who, op.id, op.method, op.path, r.status, r.body)
			}
			if lacks {
				lacking.Add(1)
			}
			return nil
		})
	}
	_ = calls.Wait() // none of them fails
	return int(lacking.Load())
}

// Every operation answers to the scopes that it documents, and to no other: to an API key with each scope alone, to an
// access token with each alone, and to a key without any. A parameter that is none has it refused, if it lets in,
// before anything is done; that a scope is enough for what comes then is seen with the roles.
func TestEveryOperationAsksForItsScope(t *testing.T) {
	w := newWorld(t)
	public := map[string]bool{}
	for _, rt := range w.api.Routes {
		public[rt.ID] = rt.Public
	}
	all := operations(w)
	for _, op := range all {
		if !public[op.id] {
			w.do(op.method, strings.NewReplacer("{id}", "veh_1").Replace(op.path), op.body, "Authorization", "").
				problem(401, "unauthorized")
		}
	}
	for name, is := range public {
		if is && !regexp.MustCompile(`(?i)^get(openapi|docs)|osmand|AccessToken$|`+
			`^(getAuthorizationServer|getProtectedResource|getSigningKeys|askForConsent|answerConsent|openShareLink)$`).MatchString(name) {
			t.Errorf("%s is public", name)
		}
	}
	client := w.oauthClient(`{"name":"All","type":"confidential","grant_types":["client_credentials"],"scopes":["` +
		strings.Join(scopeNames(), `","`) + `"]}`)
	as := func(credential string) func(operation, string) *reply {
		return func(op operation, path string) *reply {
			return w.do(op.method, path+"?nothing=1", op.body, "Authorization", "Bearer "+credential)
		}
	}
	described := w.do("GET", "/v1/openapi.json", "").object()["components"].(map[string]any)["securitySchemes"]
	for name, flow := range described.(map[string]any)["oauth2"].(map[string]any)["flows"].(map[string]any) {
		told := flow.(map[string]any)
		if len(told["scopes"].(map[string]any)) != len(auth.Scopes) || told["tokenUrl"] != w.url+"/oauth/token" {
			t.Errorf("%s is described as %v", name, told)
		}
		for scope, words := range told["scopes"].(map[string]any) {
			if !auth.Scope(scope).Known() || words == "" {
				t.Errorf("%s describes the scope %s as %q", name, scope, words)
			}
		}
	}
	if answersTo(t, all, "a key without scopes", "api_key", nil, as(w.newKey(w.account))) == 0 {
		t.Error("a key without scopes is refused nothing")
	}
	for _, s := range auth.Scopes {
		w.clock.Add(int64(time.Minute)) // in which the limits of the account fill up
		alone := []auth.Scope{s}
		refused := answersTo(t, all, "a key for "+string(s), "api_key", alone, as(w.newKey(w.account, s)))
		again := answersTo(t, all, "a token for "+string(s), "oauth2", alone, as(client.token("scope", string(s))))
		if refused != again || refused == 0 != (s == auth.Admin) {
			t.Errorf("%s: %d operations refuse the key, and %d the token", s, refused, again)
		}
	}
}

func scopeNames() (all []string) {
	for _, s := range auth.Scopes {
		all = append(all, string(s))
	}
	return all
}

// An id of nobody and a body that is none: a person who may come in is told so, and nothing is changed. Of what a role
// was let in for, all is done once; a role that may do all of that and more is asked at the door, as keys are.
func TestEveryOperationAsksTheRoleForItsScope(t *testing.T) {
	w := newWorld(t)
	all := operations(w)
	var lock sync.Mutex
	done := map[string][]auth.Role{} // who did what an operation does, by its name
	for _, role := range slices.Backward(auth.Roles) {
		b, _ := w.person(string(role)+"@example.com", role)
		refused := answersTo(t, all, string(role), "api_key", role.Scopes(), func(op operation, path string) *reply {
			lock.Lock()
			known := slices.ContainsFunc(done[op.id], role.Covers)
			lock.Unlock()
			if known || op.path == "/v1/stream" { // which would never end
				path += "?nothing=1"
			}
			r := b.json(op.method, path, "{")
			if !known && r.status != 403 {
				lock.Lock()
				done[op.id] = append(done[op.id], role)
				lock.Unlock()
			}
			return r
		})
		if refused == 0 != (role == auth.Owner) {
			t.Errorf("%s is refused %d operations", role, refused)
		}
	}
}
