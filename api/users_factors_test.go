package api

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/auth"
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
	for range 70 {
		b.send("GET", "/signin/link?token=x", "", "", "Sec-Fetch-Dest", "image").ok(404)
	}
	b.form("/signin/link", "token", token).ok(303)
	for range 60 {
		b.open("/signin/link?token=x").ok(404)
	}
	b.open("/signin/link?token=x").ok(429)
	if !b.in() {
		t.Error("guesses at links close sessions")
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
