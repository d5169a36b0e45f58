package api

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
)

// Who is at a browser that was left open and knows the password changes nothing of a person with a second factor.
func TestAnOldSessionAndThePasswordChangeNoFactor(t *testing.T) {
	w := newWorld(t)
	ann, _ := w.person("ann@example.com", auth.Clerk)
	begun := ann.form("/signin/security/begin", "password", goodPassword).ok(200) // an app that is never confirmed
	secret := regexp.MustCompile(`[A-Z2-7]{32}`).FindString(string(begun.body))
	d := w.newDevice(false)
	codes := recoveryCode.FindAllString(string(ann.register(d, "Telephone").ok(200).body), -1)
	ann.form("/signin/security/confirm", "code", w.code(secret)).ok(401) // was begun with the password alone
	if shown := ann.open("/signin/security").ok(200); strings.Contains(string(shown.body), secret) {
		t.Errorf("the secret of before is shown: %s", shown.body)
	}
	was := ann.cookie()
	ann.form("/signin/security/passkeys/remove", "password", goodPassword, "id", "pky_1")
	wantEqual(t, "cookie after nothing was removed", ann.cookie(), was)

	begun = ann.form("/signin/security/begin", "password", goodPassword).ok(200)
	secret = regexp.MustCompile(`[A-Z2-7]{32}`).FindString(string(begun.body))
	ann.form("/signin/security/confirm", "code", codes[0]).ok(401) // the app is to show that it works
	w.clock.Add(int64(11 * time.Minute))
	const other = "another horse in the snow"
	ann.form("/signin/security/confirm", "code", w.code(secret)).ok(403)
	ann.form("/signin/security/begin", "password", goodPassword).ok(403)
	ann.form("/signin/password", "present", goodPassword, "password", other, "again", other).ok(403)
	ann.form("/signin/security/passkeys/options", "password", goodPassword).ok(403)
	if !ann.in() {
		t.Error("the session is over")
	}

	ann.use(d, byPasskey).ok(303)
	ann.form("/signin/password", "present", goodPassword, "password", other, "again", other).ok(303)
}

// A passkey of a device that looks at nobody signs in after a password only: without one its owner cannot.
func TestAnOwnerWhosePasskeySignsInAloneCounts(t *testing.T) {
	for name, c := range map[string]struct {
		blind  bool
		status int
	}{"a device that looks": {false, 200}, "a device that does not": {true, 409}} {
		w := newWorld(t)
		ann, id := w.person("ann@example.com", auth.Owner)
		ann.register(w.newDevice(c.blind), "Key").ok(200)
		if r := w.do("POST", "/v1/users/"+id+"/reset_password", ""); r.status != c.status {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
}

// What a person granted a program says nothing of their sessions and passkeys, which the page of consent did not name.
func TestAProgramIsNotThePersonItActsFor(t *testing.T) {
	w := newWorld(t)
	ann, id := w.person("ann@example.com", auth.Owner)
	ann.register(w.newDevice(false), "Telephone").ok(200)
	keys := "/v1/users/" + id + "/passkeys"
	key := keys + "/" + ann.json("GET", keys, "").ok(200).data()[0]["id"].(string)
	session := "/v1/sessions/" + ann.json("GET", "/v1/sessions", "").ok(200).data()[0]["id"].(string)
	client := w.oauthClient(byConsent)
	given := client.redeem(ann.consents(question(client.id, "scope", "vehicles:read")).Get("code")).ok(200).object()
	as := []string{"Authorization", "Bearer " + given["access_token"].(string)}
	w.do("GET", "/v1/vehicles", "", as...).ok(200)
	w.do("GET", "/v1/sessions", "", as...).problem(403, "insufficient_scope")
	w.do("DELETE", session, "", as...).problem(403, "insufficient_scope")
	w.do("GET", keys, "", as...).problem(403, "insufficient_scope")
	w.do("PATCH", key, `{"name":"Mine"}`, as...).problem(403, "insufficient_scope")
	ann.json("PATCH", key, `{"name":"Old telephone"}`).ok(200)
}

// A page of another site can have a browser ask for links that are none; its office still signs in.
func TestPicturesOfLinksKeepNobodyOut(t *testing.T) {
	w := newWorld(t)
	made := w.do("POST", "/v1/users", `{"name":"Ann","email":"ann@example.com","role":"owner"}`).ok(201)
	token := w.signInLink(made.id(), time.Now().Add(time.Hour))
	b := w.browser()
	got := map[int]int{}
	for range 70 { // nor does who pretends to be a picture have any number looked up
		got[b.send("GET", "/signin/link?token=x", "", "", "Sec-Fetch-Dest", "image").status]++
	}
	wantEqual(t, "pictures", got, map[int]int{404: 60, 429: 10})
	b.form("/signin/link", "token", token).ok(303)
	for range 60 {
		b.open("/signin/link?token=x").ok(404)
	}
	b.open("/signin/link?token=x").ok(429)
	if !b.in() {
		t.Error("guesses at links close sessions")
	}
}

// So does whoever opens old invitations, or has a browser ask for them: they count for themselves.
func TestOldInvitationsKeepNobodyOut(t *testing.T) {
	w := newWorld(t)
	ann, _ := w.person("ann@example.com", auth.Clerk)
	made := w.do("POST", "/v1/users", `{"name":"Bob","email":"bob@example.com","role":"clerk"}`).ok(201)
	b := w.browser()
	got := map[int]int{}
	for range 70 {
		got[b.send("GET", "/signin/invitation?token=x", "", "", "Sec-Fetch-Dest", "image").status]++
	}
	wantEqual(t, "pictures", got, map[int]int{404: 60, 429: 10})
	for range 60 {
		b.open("/signin/invitation?token=x").ok(404)
	}
	b.open("/signin/invitation?token=x").ok(429)
	b.form("/signin/invitation", "token", "x").ok(429)
	b.signIn("ann@example.com", goodPassword).ok(303)
	if !b.in() || !ann.in() {
		t.Error("guesses at invitations close sign-ins")
	}
	w.clock.Add(int64(time.Minute))
	b.accept(made.object()["invitation_url"].(string)).ok(303)
}

// The passkeys of whoever has signed in at a browser are taken there, whoever guesses in the same network.
func TestAPasskeyIsTakenWhereItsPersonHasBeenBefore(t *testing.T) {
	w := newWorld(t)
	ann, _ := w.person("ann@example.com", auth.Clerk)
	d := w.newDevice(false)
	ann.register(d, "Key").ok(200)
	crowd := w.browser()
	got := map[int]int{}
	for range 65 {
		got[crowd.form(byPasskey, "credential", "{").status]++
	}
	wantEqual(t, "guesses of a network", got, map[int]int{401: 60, 429: 5})
	fresh := w.browser()
	fresh.use(d, byPasskey).ok(429)
	for _, c := range ann.devices() {
		fresh.put(c.Name, c.Value[:len(c.Value)-4]+"AAAA")
	}
	fresh.use(d, byPasskey).ok(429)
	ann.use(d, byPasskey).ok(303)
	// With the cookie, and what another key signed, there are as few attempts as with wrong passwords.
	bad := *d
	bad.key.Key = newPasskey().Key
	got = map[int]int{}
	for range 15 {
		got[ann.use(&bad, byPasskey).status]++
	}
	wantEqual(t, "guesses with the cookie", got, map[int]int{401: 10, 429: 5})
}

// Challenges are rows: of strangers, however many networks they have, so many are kept and no more; whoever gave a
// password before is asked for no less.
func TestChallengesForStrangersAreBounded(t *testing.T) {
	w := newWorld(t, func(cfg *rest.Config, d *Deps) {
		cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		d.Users.PublicURL = strings.Replace(d.OAuth.Issuer, "127.0.0.1", "localhost", 1)
		d.Users.Challenges = 40
	})
	ann, _ := w.person("ann@example.com", auth.Clerk)
	d := w.newDevice(false)
	d.at.Origin = w.api.user.Settings.PublicURL
	ann.register(d, "Key").ok(200)
	half := w.browser()
	half.signIn("ann@example.com", goodPassword).ok(303)
	got := map[int]int{}
	for n := range 50 {
		r := w.browser().send("POST", byPasskey+"/options", "", "", "X-Forwarded-For", fmt.Sprintf("192.0.2.%d", n))
		got[r.status]++
		if r.status == 429 && r.header.Get("Retry-After") == "" {
			t.Error("nothing says when to try again")
		}
	}
	wantEqual(t, "challenges", got, map[int]int{200: 40, 429: 10})
	half.use(d, afterPassword).ok(303)
	half.form("/signin/security/passkeys/options", "password", goodPassword).ok(200)
	w.clock.Add(int64(5 * time.Minute))
	w.browser().use(d, byPasskey).ok(303)

	// Nor does who is signed in have any number of them.
	got = map[int]int{}
	for tries := 0; tries < 1000 && got[429] == 0; tries++ { // some come back while it asks
		got[half.form("/signin/security/passkeys/options", "password", goodPassword).status]++
	}
	if got[429] == 0 || got[200] < 250 {
		t.Errorf("challenges of one person: %v", got)
	}
}

// What ends a person's sessions ends the links of theirs.
func TestALinkEndsWithTheSessions(t *testing.T) {
	w := newWorld(t)
	_, id := w.person("ann@example.com", auth.Owner)
	token := w.signInLink(id, time.Now().Add(time.Hour))
	w.clock.Add(int64(time.Second))
	w.do("POST", "/v1/users/"+id+"/end_sessions", "").ok(200)
	w.browser().form("/signin/link", "token", token).ok(404)
}
