package api

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
)

// acts lists the audit as texts, in alphabetical order: kind, act, reason, by whom, from where, and how often. names
// stand for ids.
func (w *world) acts(query string, names map[string]string) (acts []string) {
	w.t.Helper()
	w.api.Close(w.t.Context())
	for _, act := range w.do("GET", "/v1/credential_audit?per_page=100"+query, "").data() {
		who := act["actor"].(string)
		if name, ok := names[who]; ok {
			who = name
		}
		acts = append(acts, fmt.Sprint(act["kind"], " ", act["act"], " ", act["reason"], " by ", who, " from ", act["client"],
			" ", act["count"]))
	}
	slices.Sort(acts)
	return acts
}

func TestSignInsAndWhatChangesThemAreInTheAudit(t *testing.T) {
	w := newWorld(t, func(cfg *rest.Config, _ *Deps) {
		cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	at := func(address string) *browser {
		b := w.browser()
		b.always = []string{"X-Forwarded-For", address, "X-Forwarded-Proto", "https"}
		return b
	}
	owner, boss := w.person("boss@example.com", auth.Owner)
	made := w.do("POST", "/v1/users", `{"name":"Ann","email":"ann@example.com","role":"clerk"}`, "X-Forwarded-For",
		"203.0.113.9").ok(201)
	id := made.id()
	path := "/v1/users/" + id
	own := w.do("GET", "/v1/account", "").object()["api_key_id"].(string)
	names := map[string]string{id: "ann", boss: "boss", own: "key"}
	b := at("192.0.2.1")
	b.accept(made.object()["invitation_url"].(string)).ok(303)
	b.form("/signout").ok(303)
	for range 3 {
		at("198.51.100.7").signIn("ann@example.com", "a wrong horse at night").ok(401)
		at("198.51.100.7").signIn("nobody@example.com", "a wrong horse at night").ok(401)
	}
	b.signIn("ann@example.com", goodPassword).ok(303)
	b.signIn("ann@example.com", goodPassword).ok(303)
	b.form("/signin/password", "present", goodPassword, "password", goodPassword+"s", "again", goodPassword+"s").ok(303)
	shown := b.form("/signin/security/begin", "password", goodPassword+"s").ok(200)
	secret := regexp.MustCompile(`[A-Z2-7]{32}`).FindString(string(shown.body))
	confirmed := b.form("/signin/security/confirm", "code", w.code(secret)).ok(200)
	recovery := regexp.MustCompile(`[A-Z2-7]{5}-[A-Z2-7]{5}`).FindString(string(confirmed.body))
	c := at("192.0.2.2")
	c.signIn("ann@example.com", goodPassword+"s").ok(303)
	c.form("/signin/factor", "code", "000000").ok(401)
	c.form("/signin/factor", "code", recovery).ok(303)
	for _, s := range c.json("GET", "/v1/sessions", "").data() {
		if s["current"] == false {
			c.json("DELETE", "/v1/sessions/"+s["id"].(string), "").ok(204)
		}
	}
	owner.json("PATCH", path, `{"role":"analyst"}`).ok(200)
	owner.json("PATCH", path, `{"name":"Ann Lee"}`).ok(200) // which is no credential
	w.do("POST", path+"/end_sessions", "").ok(200)
	w.do("POST", path+"/reset_factors", "").ok(200)
	w.do("POST", path+"/reset_password", "").ok(200)
	w.do("POST", path+"/disable", "").ok(200)
	w.do("POST", path+"/enable", "").ok(200)
	w.do("DELETE", path, "").ok(204)

	const key, ann, other = " by key from 127.0.0.1 1", " by ann from 192.0.2.1 1", " by ann from 192.0.2.2 1"
	want := []string{
		"user created <nil> by key from 203.0.113.9 1", "password created invitation_accepted" + ann,
		"password refused wrong_password by ann from 198.51.100.7 3", "password changed password" + ann,
		"totp created app_added" + ann, "recovery_codes created codes_made" + ann, "totp refused wrong_totp" + other,
		"recovery_codes revoked code_used" + other, "user changed role by boss from 127.0.0.1 1",
		"session revoked all_ended" + key, "totp revoked app_removed" + key, "password revoked reset" + key,
		"invitation created invited" + key, "invitation revoked withdrawn" + key, "user revoked disabled" + key,
		"user changed enabled" + key, "user revoked disabled" + key, "user revoked removed" + key,
	}
	slices.Sort(want)
	got := w.acts("&credential_id="+id, names)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("of the person the audit has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	want = []string{
		"session created password" + ann, "session revoked signed_out" + ann, "session created password" + ann,
		"session created password" + ann, "session revoked replaced" + ann, "session created renewed" + ann,
		"session created renewed" + ann, "session created recovery_code" + other, "session revoked ended" + other,
	}
	slices.Sort(want)
	got = slices.DeleteFunc(w.acts("&act=created,revoked&actor="+id, names), func(act string) bool {
		return !strings.HasPrefix(act, "session ")
	})
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("of sessions the audit has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	text := string(w.do("GET", "/v1/credential_audit?per_page=100", "").ok(200).body)
	for _, hidden := range []string{secret, recovery, goodPassword, "nobody@", "ann@", auth.Hash(secret), "sealed:"} {
		if strings.Contains(text, hidden) {
			t.Errorf("the audit tells %s", hidden)
		}
	}
	w.key = w.newKey(w.newAccount("Second"), auth.KeysManage)
	if got := w.acts("&credential_id="+id, names); got != nil {
		t.Errorf("another account reads %q", got)
	}
	if got := w.acts("&actor="+id, names); got != nil {
		t.Errorf("another account reads %q", got)
	}
}

func TestWhoGuessesPasswordsFillsNoAudit(t *testing.T) {
	w := newWorld(t)
	_, id := w.person("ann@example.com", auth.Clerk)
	for range 40 {
		w.browser().signIn("ann@example.com", "a wrong horse at night")
	}
	// Who waits was not looked up, so that it is nobody's audit; the log names them.
	named := regexp.MustCompile(`path=/signin status=429 .*client=127\.0\.0\.1`)
	if n := len(named.FindAllString(w.log.String(), -1)); n < 29 {
		t.Errorf("%d of 30 who wait are in the log", n)
	}
	got := w.acts("&act=refused&credential_id="+id, map[string]string{id: "ann"})
	if want := []string{"password refused wrong_password by ann from 127.0.0.1 10"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
