package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/query"
)

// What is done later for a credential is done with what it may do then, of whichever kind it is.
func TestAJobDoesNoMoreThanWhoAskedMayDoNow(t *testing.T) {
	b := newVisitor(t)
	b.role.Store(auth.Owner)
	const scopes = `"scopes":["vehicles:read","vehicles:write","reports:read","finance:write"]`
	key := func() (string, string) {
		made := b.do("POST", "/v1/api_keys", `{"name":"Bringer",`+scopes+`}`).ok(201)
		return "Bearer " + made.object()["key"].(string), "/v1/api_keys/" + made.id()
	}
	client := func() (string, string) {
		c := b.oauthClient(`{"name":"Sync","type":"confidential","grant_types":["client_credentials"],` + scopes + `}`)
		return "Bearer " + c.token(), "/v1/oauth_clients/" + c.id
	}
	granted := func() (string, string) {
		c := b.oauthClient(strings.Replace(byConsent, `"keys:manage"`, `"reports:read","finance:write"`, 1))
		code := b.code(c.id, "scope", "vehicles:read vehicles:write reports:read finance:write")
		token := c.redeem(code).ok(200).object()["access_token"].(string)
		grants := b.do("GET", "/v1/oauth_grants?client_id="+c.id, "").data()
		return "Bearer " + token, "/v1/oauth_grants/" + grants[0]["id"].(string)
	}
	people := 0
	person := func() (string, string) {
		people++
		p, id := b.person(fmt.Sprintf("p%d@example.com", people), auth.Manager)
		return "motorpool_session=" + p.cookie(), "/v1/users/" + id
	}
	for name, get := range map[string]func() (string, string){"key": key, "client": client, "grant": granted,
		"person": person} {
		credential, path := get()
		as := []string{"Authorization", credential}
		if name == "person" {
			as = []string{"Authorization", "", "Cookie", credential, "Sec-Fetch-Site", "same-origin"}
		}
		bring := func() string {
			return b.do("POST", "/v1/imports?kind=vehicles&format=csv", "make,model\nA,"+name+"\n",
				append([]string{"Content-Type", "text/csv"}, as...)...).ok(202).id()
		}
		job := func(id string) map[string]any { return b.do("GET", "/v1/jobs/"+id, "").ok(200).object() }
		good := bring()
		b.doJobs(b.api)
		wantEqual(t, name, outcomeOf(job(good)), "done 1/1")
		saved := b.do("POST", "/v1/saved_reports",
			`{"name":"x","report":"revenue","schedule":{"every":"day","at":"06:00"}}`, as...).ok(201).id()
		waits := []string{bring(), b.do("POST", "/v1/exports?kind=vehicles&format=csv", "", as...).ok(202).id(),
			b.do("POST", "/v1/saved_reports/"+saved+"/run", "", as...).ok(202).id()}

		// One that was begun ends when its lease is kept.
		n, err := fleet.ParseID(fleet.JobPrefix, bring())
		if err != nil {
			t.Fatal(err)
		}
		begun, err := b.api.transfer.Lease(t.Context(), query.JobRef{Account: b.account, ID: n})
		if err != nil {
			t.Fatal(err)
		}
		b.do("DELETE", path, "").ok(204)
		if err := begun.Keep(t.Context()); err == nil {
			t.Errorf("%s: the job goes on", name)
		}
		b.doJobs(b.api)
		for _, id := range append(waits, fleet.FormatID(fleet.JobPrefix, n)) {
			if got := job(id); got["status"] != "failed" || !strings.Contains(fmt.Sprint(got["result"]), "for wh") {
				t.Errorf("%s: %v", name, got)
			}
		}
		b.clock.Add(int64(24 * 60 * 60 * 1e9))
		b.makeDue(b.api)
		seen := b.do("GET", "/v1/saved_reports/"+saved, "").ok(200).object()
		if seen["next_run_at"] != nil || !strings.Contains(fmt.Sprint(seen["stopped_because"]), "for wh") {
			t.Errorf("%s: %v", name, seen)
		}
	}
	wantEqual(t, "vehicles", b.do("GET", "/v1/vehicles", "").ok(200).pagination().Total, 4)

	// Who may do less does less.
	p, id := b.person("lower@example.com", auth.Manager)
	job := b.do("POST", "/v1/imports?kind=vehicles&format=csv", "make,model\nA,B\n", "Content-Type", "text/csv",
		"Authorization", "", "Cookie", "motorpool_session="+p.cookie(), "Sec-Fetch-Site", "same-origin").ok(202).id()
	b.do("PATCH", "/v1/users/"+id, `{"role":"clerk"}`).ok(200)
	b.doJobs(b.api)
	got := b.do("GET", "/v1/jobs/"+job, "").ok(200).object()
	if got["status"] != "failed" || !strings.Contains(fmt.Sprint(got["result"]), "lacks the scope vehicles:write") {
		t.Errorf("%v", got)
	}
}
