package api

import (
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/hook"
	"github.com/motorpool/fleet/api/rest"
)

// elsewhere is the same browser before another process that serves the same database.
func (b *browser) elsewhere() *browser {
	b.t.Helper()
	process, err := New(rest.DefaultConfig(), Deps{Deps: rest.Deps{DB: b.db, IDs: fleet.NewIDSource(2, time.Now),
		Now: b.api.Now, Log: b.api.Log}, Webhooks: hook.Config{Keys: sealKeys(b.t)}, Users: b.api.user.Settings})
	if err != nil {
		b.t.Fatal(err)
	}
	server := httptest.NewServer(process.Handler())
	b.t.Cleanup(server.Close)
	w := *b.world
	w.url = server.URL
	return &browser{world: &w, from: b.from, client: b.client}
}

// owners counts the owners of the account who can sign in.
func (w *world) owners() (n int) {
	w.t.Helper()
	for _, one := range w.do("GET", "/v1/users", "").data() {
		if one["role"] == "owner" && one["status"] == "active" {
			n++
		}
	}
	return n
}

func TestAnAccountKeepsAnOwnerWhoCanSignIn(t *testing.T) {
	w := newWorld(t)
	ann, id := w.person("ann@example.com", auth.Owner)
	path := "/v1/users/" + id
	// Who was invited and has chosen no password yet is no owner who can sign in, and so is nobody who is disabled.
	invited := w.do("POST", "/v1/users", `{"name":"B","email":"bob@example.com","role":"owner"}`).ok(201)
	link := invited.object()["invitation_url"].(string)
	last := func(b *browser) {
		t.Helper()
		for _, call := range [][3]string{{"DELETE", path, ""}, {"POST", path + "/disable", ""},
			{"PATCH", path, `{"role":"manager"}`}, {"PATCH", path, `{"role":"clerk","name":"X"}`}} {
			b.json(call[0], call[1], call[2]).problem(409, "conflict")
		}
		w.do("POST", path+"/reset_password", "").problem(409, "conflict")
		if now := w.do("GET", path, "").ok(200).object(); now["role"] != "owner" || now["status"] != "active" ||
			now["name"] != "Some One" {
			t.Errorf("a refused change left %v", now)
		}
		b.json("GET", "/v1/account", "").ok(200)
	}
	last(ann)
	other := "/v1/users/" + invited.id()
	w.do("POST", other+"/reset_password", "").ok(200)
	w.do("POST", other+"/disable", "").ok(200)
	last(ann)
	w.do("POST", other+"/enable", "").ok(200)
	w.browser().accept(link).ok(404)
	bob := w.browser()
	bob.accept(w.do("POST", other+"/reset_password", "").ok(200).object()["invitation_url"].(string)).ok(303)
	wantEqual(t, "owners", w.owners(), 2)

	// At two processes, two owners take each other's place away at the same time: one of them stays.
	annThere, bobHere := ann.elsewhere(), bob
	for _, call := range [][2]string{{"PATCH", `{"role":"clerk"}`}, {"POST /disable", ""}, {"POST /reset_password", ""}} {
		var done sync.WaitGroup
		do := func(b *browser, at string) {
			if call[0] == "PATCH" {
				b.json("PATCH", at, call[1])
			} else {
				b.json("POST", at+call[0][len("POST "):], "")
			}
		}
		done.Go(func() { do(annThere, other) })
		done.Go(func() { do(bobHere, path) })
		done.Wait()
		wantEqual(t, "owners after "+call[0], w.owners(), 1)
		for email, at := range map[string]string{"ann@example.com": path, "bob@example.com": other} {
			w.do("PATCH", at, `{"role":"owner"}`).ok(200)
			switch w.do("GET", at, "").ok(200).object()["status"] {
			case "disabled":
				w.do("POST", at+"/enable", "").ok(200)
			case "invited":
				w.browser().accept(w.do("POST", at+"/reset_password", "").ok(200).object()["invitation_url"].(string)).ok(303)
			}
			b := map[string]*browser{path: ann, other: bob}[at]
			b.signIn(email, goodPassword).ok(303)
		}
	}
}
