package api

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/user"
)

// signInLink makes a link for somebody, as the operator does, and returns its token.
func (w *world) signInLink(id string, until time.Time) string {
	w.t.Helper()
	n, err := fleet.ParseID(fleet.UserPrefix, id)
	if err != nil {
		w.t.Fatal(err)
	}
	link, err := user.SignInLink(w.t.Context(), w.api.Store, w.url, w.account, fleet.UserID(n), until)
	if err != nil {
		w.t.Fatal(err)
	}
	token, ok := strings.CutPrefix(link, w.url+"/signin/link?token=")
	if !ok {
		w.t.Fatalf("link %s", link)
	}
	return token
}

func TestALinkOfTheOperatorSignsInOnce(t *testing.T) {
	w := newWorld(t)
	made := w.do("POST", "/v1/users", `{"name":"Ann <b>Lee","email":"ann@example.com","role":"owner"}`).ok(201)
	token := w.signInLink(made.id(), time.Now().Add(time.Hour))
	if held := w.stored(token); held[token] != nil {
		t.Errorf("the link stands in %v", held[token])
	}

	first, second := w.browser(), w.browser()
	shown := first.open("/signin/link?token=" + token).ok(200)
	if !strings.Contains(string(shown.body), "Ann &lt;b&gt;Lee") || first.cookie() != "" {
		t.Errorf("page %s", shown.body)
	}
	first.open("/signin/link?token=" + token).ok(200) // to look at it uses nothing
	stranger := w.browser()
	stranger.from = "cross-site"
	stranger.form("/signin/link", "token", token).ok(403)

	var statuses [2]int
	var both sync.WaitGroup
	for i, b := range []*browser{first, second} {
		both.Go(func() { statuses[i] = b.form("/signin/link", "token", token).status })
	}
	both.Wait()
	if statuses != [2]int{303, 404} && statuses != [2]int{404, 303} {
		t.Errorf("two at once: %v", statuses)
	}
	in := first
	if statuses[0] == 404 {
		in = second
	}
	wantEqual(t, "who", in.json("GET", "/v1/account", "").ok(200).object()["user_id"], made.id())
	w.browser().form("/signin/link", "token", token).ok(404)
	w.browser().open("/signin/link?token=" + token).ok(404)
	acts := slices.DeleteFunc(w.acts("&actor="+made.id(), map[string]string{made.id(): "ann"}),
		func(act string) bool { return !strings.HasPrefix(act, "session created") })
	wantEqual(t, "the audit", acts, []string{"session created link by ann from 127.0.0.1 1"})
}

func TestALinkOfTheOperatorOpensNothingMoreThanItShould(t *testing.T) {
	w := newWorld(t)
	_, id := w.person("ann@example.com", auth.Owner)
	expired := w.signInLink(id, time.Now().Add(-time.Minute))
	w.browser().form("/signin/link", "token", expired).ok(404)
	for _, garbage := range []string{"", "x", expired + "x", strings.Repeat("a", 43), strings.Repeat("é", 43)} {
		w.browser().form("/signin/link", "token", garbage).ok(404)
	}

	disabled := w.signInLink(id, time.Now().Add(time.Hour))
	w.person("bob@example.com", auth.Owner)
	w.do("POST", "/v1/users/"+id+"/disable", "").ok(200)
	w.browser().form("/signin/link", "token", disabled).ok(404)
}
