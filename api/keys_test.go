package api

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/ingest"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

func TestWhoMayComeIn(t *testing.T) {
	w := newWorld(t)
	get := func(headers ...string) *reply { return w.do("GET", "/v1/vehicles", "", headers...) }
	challenge := func(what string, r *reply, want string) {
		t.Helper()
		wantEqual(t, what, r.header.Get("WWW-Authenticate"), want)
	}
	where := `, resource_metadata="` + w.url + `/.well-known/oauth-protected-resource"`
	for _, none := range []string{"", "Basic dXNlcjpwYXNz", "Bearer", w.key} {
		r := get("Authorization", none)
		r.problem(401, "unauthorized")
		challenge("no credential", r, `Bearer realm="motorpool"`+where)
	}
	for _, bad := range []string{"x", auth.MakeKey().Token, w.key[:len(w.key)-1] + "!", w.key + " " + w.key} {
		r := get("Authorization", "Bearer "+bad)
		r.problem(401, "unauthorized")
		challenge("bad credential", r, `Bearer realm="motorpool"`+where+`, error="invalid_token"`)
	}
	get("Authorization", "bEARER  "+w.key).ok(200)

	w.key = w.newKey(w.account, auth.VehiclesRead)
	get().ok(200)
	r := w.do("POST", "/v1/vehicles", `{"make":"A","model":"B"}`)
	r.problem(403, "insufficient_scope")
	challenge("missing scope", r, `Bearer realm="motorpool"`+where+`, error="insufficient_scope", scope="vehicles:write"`)
	w.do("GET", "/v1/devices", "").problem(403, "insufficient_scope")
	w.do("GET", "/v1/account", "").ok(200)
	if w.do("GET", "/v1/vehicles?api_key="+w.key, "", "Authorization", "").status != 401 {
		t.Error("a key in the query string is taken")
	}
}

func TestKeysAreMadeRotatedAndRevoked(t *testing.T) {
	w := newWorld(t)
	made := w.do("POST", "/v1/api_keys", `{"name":"Dispatch","scopes":["vehicles:read","keys:manage"]}`).ok(201)
	key, _ := made.object()["key"].(string)
	if !strings.HasPrefix(key, "mp_live_") ||
		!strings.HasSuffix(made.object()["hint"].(string), key[len(key)-10:len(key)-6]) {
		t.Fatalf("made %s", made.body)
	}
	path := "/v1/api_keys/" + made.id()
	wantEqual(t, "Location", made.header.Get("Location"), path)
	shown := w.do("GET", path, "").ok(200)
	if strings.Contains(string(shown.body), key) || shown.object()["last_used_at"] != nil ||
		strings.Contains(string(shown.body), "sha256") {
		t.Errorf("shown %s", shown.body)
	}
	admin := w.key
	w.key = key
	w.do("GET", "/v1/vehicles", "").ok(200)
	if w.do("GET", path, "").ok(200).object()["last_used_at"] == nil {
		t.Error("use of the key was not noted")
	}
	// A key hands on only what it holds.
	w.do("POST", "/v1/api_keys", `{"name":"more","scopes":["vehicles:write"]}`).problem(403, "insufficient_scope")
	w.do("POST", "/v1/api_keys", `{"name":"less","scopes":["vehicles:read"]}`).ok(201)

	w.key = admin
	rotated := w.do("POST", path+"/rotate", "").ok(201)
	next := rotated.object()["key"].(string)
	wantEqual(t, "scopes of the next", fmt.Sprint(rotated.object()["scopes"]), "[vehicles:read keys:manage]")
	w.do("POST", path+"/rotate", "").problem(409, "conflict")
	old := w.do("GET", path, "").ok(200).object()
	wantEqual(t, "rotated_to", old["rotated_to"], rotated.id())
	if ends, err := time.Parse(time.RFC3339, old["expires_at"].(string)); err != nil || time.Until(ends) < 23*time.Hour ||
		time.Until(ends) > 24*time.Hour {
		t.Errorf("the old key expires at %v, %v", old["expires_at"], err)
	}
	works := func(key string, status int) {
		t.Helper()
		w.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+key).ok(status)
	}
	works(key, 200)
	works(next, 200)
	w.clock.Store(int64(25 * time.Hour))
	works(key, 401)
	works(next, 200)
	w.do("DELETE", "/v1/api_keys/"+rotated.id(), "").ok(204)
	works(next, 401)
	w.do("DELETE", "/v1/api_keys/"+rotated.id(), "").ok(204)
	if revoked := w.do("GET", "/v1/api_keys/"+rotated.id(), "").ok(200).object(); revoked["revoked_at"] == nil {
		t.Errorf("revoked %v", revoked)
	}
	wantEqual(t, "keys", w.do("GET", "/v1/api_keys?q=dispatch", "").pagination().Total, 2)
	if history := string(w.do("GET", path+"/history", "").ok(200).body); strings.Contains(history,
		auth.Hash(key[21:64])) || !strings.Contains(history, "/secret_sha256") {
		t.Errorf("history %s", history)
	}
}

// Every way in that can change or make a key is tried with one that may manage keys and little else.
func TestAKeyTouchesNoneThatMayMoreThanItself(t *testing.T) {
	w := newWorld(t)
	admin := w.key
	me := "/v1/api_keys/" + w.do("GET", "/v1/account", "").ok(200).object()["api_key_id"].(string)
	make := func(scopes string) (path, key string) {
		made := w.do("POST", "/v1/api_keys", `{"name":"x","scopes":[`+scopes+`]}`, "Authorization", "Bearer "+admin).ok(201)
		return "/v1/api_keys/" + made.id(), made.object()["key"].(string)
	}
	finance, _ := make(`"vehicles:read","finance:write"`)
	less, lessKey := make(`"vehicles:read"`)
	own, ownKey := make(`"vehicles:read","keys:manage"`)
	w.key = ownKey
	for _, path := range []string{me, finance} {
		before := w.do("GET", path, "").ok(200).object()
		w.do("DELETE", path, "").problem(403, "insufficient_scope")
		w.do("POST", path+"/rotate", "").problem(403, "insufficient_scope")
		w.do("POST", path+"/rotate", `{"old_expires_at":"2020-01-01T00:00:00Z"}`, "Idempotency-Key", "k").problem(403,
			"insufficient_scope")
		for _, other := range [][2]string{{"PUT", ""}, {"PATCH", ""}, {"POST", "/revoke"}, {"POST", "/archive"},
			{"POST", "/restore"}} {
			if r := w.do(other[0], path+other[1], `{"name":"mine"}`); r.status != 404 && r.status != 405 {
				t.Errorf("%s %s%s: %d", other[0], path, other[1], r.status)
			}
		}
		wantEqual(t, path, w.do("GET", path, "").ok(200).object(), before)
	}
	for _, body := range []string{`{"name":"x","scopes":["admin"]}`,
		`{"name":"x","scopes":["vehicles:read","finance:write"]}`} {
		w.do("POST", "/v1/api_keys", body).problem(403, "insufficient_scope")
	}
	item := `{"name":"x","scopes":["admin"]}`
	for path, body := range map[string]string{"/v1/api_keys/batch": `{"data":[` + item + `]}`,
		"/v1/imports?kind=api_keys&format=jsonl": item} {
		if r := w.do("POST", path, body); r.status < 400 || r.status >= 500 {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	w.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+admin).ok(200)
	w.do("POST", less+"/rotate", "").ok(201)
	w.do("DELETE", less, "").ok(204)
	w.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+lessKey).ok(401)
	w.do("DELETE", own, "").ok(204)
	w.do("DELETE", finance, "", "Authorization", "Bearer "+admin).ok(204)
}

// Revoked through another process: this one remembers the key for less than five seconds.
func TestARevocationElsewhereIsFeltWithinFiveSeconds(t *testing.T) {
	w := newWorld(t)
	other, err := New(w.api.Config, Deps{Deps: rest.Deps{DB: w.db, IDs: w.api.IDs, Log: w.api.Log, Now: w.api.Now}})
	if err != nil {
		t.Fatal(err)
	}
	made := w.do("POST", "/v1/api_keys", `{"name":"x","scopes":["vehicles:read"]}`).ok(201)
	key := made.object()["key"].(string)
	serve := func(method, path, key string) int {
		req, _ := http.NewRequest(method, path, nil)
		req.RemoteAddr = "192.0.2.1:1"
		req.Header.Set("Authorization", "Bearer "+key)
		rec := newRecorder()
		other.Handler().ServeHTTP(rec, req)
		return rec.Code
	}
	wantEqual(t, "before", serve("GET", "/v1/vehicles", key), 200)
	w.do("DELETE", "/v1/api_keys/"+made.id(), "").ok(204)
	w.clock.Add(int64(5 * time.Second))
	wantEqual(t, "5 s later", serve("GET", "/v1/vehicles", key), 401)
}

func TestAKeyWorksFromItsAddressesOnly(t *testing.T) {
	w := newWorld(t)
	near := w.do("POST", "/v1/api_keys",
		`{"name":"near","scopes":["vehicles:read"],"ip_allow_list":["127.0.0.0/8"]}`).ok(201).object()["key"].(string)
	far := w.do("POST", "/v1/api_keys",
		`{"name":"far","scopes":["vehicles:read"],"ip_allow_list":["192.0.2.1"]}`).ok(201).object()["key"].(string)
	w.key = near
	w.do("GET", "/v1/vehicles", "").ok(200)
	w.key = far
	w.do("GET", "/v1/vehicles", "").problem(403, "address_not_allowed")
	w.do("GET", "/v1/vehicles", "", "X-Forwarded-For", "192.0.2.1").problem(403, "address_not_allowed")

	w = newWorld(t, func(c *rest.Config, _ *Deps) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	w.key = w.do("POST", "/v1/api_keys",
		`{"name":"far","scopes":["vehicles:read"],"ip_allow_list":["192.0.2.1"]}`).ok(201).object()["key"].(string)
	w.do("GET", "/v1/vehicles", "").problem(403, "address_not_allowed")
	w.do("GET", "/v1/vehicles", "", "X-Forwarded-For", "203.0.113.9, 192.0.2.1").ok(200)
	w.do("GET", "/v1/vehicles", "", "X-Forwarded-For", "192.0.2.1, 203.0.113.9").problem(403, "address_not_allowed")
}

func TestLimitsAreToldAndHeld(t *testing.T) {
	w := newWorld(t, func(c *rest.Config, _ *Deps) {
		c.Auth.Limits = map[auth.Class]auth.Limit{
			auth.Read:   {PerKey: 3, PerAccount: 5, Window: time.Minute},
			auth.Write:  {PerKey: 100, PerAccount: 100, Window: time.Minute},
			auth.Ingest: {PerKey: 100, PerAccount: 100, Window: time.Minute},
		}
	})
	for left := 2; left >= 0; left-- {
		r := w.do("GET", "/v1/vehicles", "").ok(200)
		wantEqual(t, "remaining", r.header.Get("X-RateLimit-Remaining"), fmt.Sprint(left))
	}
	r := w.do("GET", "/v1/vehicles", "")
	r.problem(429, "rate_limited")
	wantEqual(t, "policy", r.header.Get("RateLimit-Policy"), `"read";q=3;w=60`)
	if s := r.header.Get("Retry-After"); s != "20" && s != "19" {
		t.Errorf("Retry-After %s", s)
	}
	w.vehicle(`{"make":"A","model":"B"}`)
	w.key = w.newKey(w.account, auth.VehiclesRead)
	w.do("GET", "/v1/vehicles", "").ok(200)
	w.do("GET", "/v1/vehicles", "").ok(200)
	w.do("GET", "/v1/vehicles", "").problem(429, "rate_limited") // the account's five are used up
}

// TestAnOperatorGivesAnAccountLimitsOfItsOwn: they hold for its keys and clients, are felt within seconds, and the
// account cannot change them itself.
func TestAnOperatorGivesAnAccountLimitsOfItsOwn(t *testing.T) {
	w := newWorld(t, func(c *rest.Config, _ *Deps) { c.Auth.Limits = auth.LimitsOf(1_000) })
	other := w.newKey(w.newAccount("Second"), auth.Admin)
	c := w.oauthClient(forItself)
	access := "Bearer " + w.form("/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {c.id},
		"client_secret": {c.secret}}).ok(200).object()["access_token"].(string)
	policy := func(credential ...string) string {
		t.Helper()
		return w.do("GET", "/v1/vehicles", "", credential...).ok(200).header.Get("RateLimit-Policy")
	}
	give := func(n *int) {
		t.Helper()
		accounts := record.NewLog(w.api.Store, record.Accounts)
		_, err := accounts.Update(t.Context(), record.Author{Actor: "cli"}, w.account, uint64(w.account), 0,
			func(rec *record.Record[record.Account]) error {
				rec.Body.RateLimit = n
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		w.clock.Add(int64(6 * time.Second))
	}
	wantEqual(t, "of a key, as of the server", policy(), `"read";q=1000;w=60`)
	give(new(7_000))
	wantEqual(t, "of a key", policy(), `"read";q=7000;w=60`)
	wantEqual(t, "of a token", policy("Authorization", access), `"read";q=7000;w=60`)
	wantEqual(t, "of another account", policy("Authorization", "Bearer "+other), `"read";q=1000;w=60`)
	wantEqual(t, "of a write", w.do("PATCH", "/v1/account", `{"name":"First"}`).ok(200).header.Get("RateLimit-Policy"),
		`"write";q=1400;w=60`)
	wantEqual(t, "as the account sees it", w.do("GET", "/v1/account", "").ok(200).object()["rate_limit"], any(7000.0))
	for _, body := range []string{`{"rate_limit":8000}`, `{"rate_limit":null}`, `{"rate_limit":0}`} {
		p := w.do("PATCH", "/v1/account", body).problem(422, "validation_failed")
		if len(p.Errors) != 1 || p.Errors[0].Code != "read_only" {
			t.Errorf("%s: %+v", body, p.Errors)
		}
	}
	give(new(0))
	r := w.do("GET", "/v1/vehicles", "").ok(200)
	for _, name := range []string{"RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "X-RateLimit-Remaining"} {
		wantEqual(t, name+" without a limit", r.header.Get(name), "")
	}
	give(new(3))
	for range 3 {
		w.do("GET", "/v1/vehicles", "").ok(200)
	}
	r = w.do("GET", "/v1/vehicles", "")
	r.problem(429, "rate_limited")
	wantEqual(t, "policy", r.header.Get("RateLimit-Policy"), `"read";q=3;w=60`)
	if s := r.header.Get("Retry-After"); s != "20" && s != "19" {
		t.Errorf("Retry-After %s", s)
	}
	give(nil)
	wantEqual(t, "when it is taken back", policy(), `"read";q=1000;w=60`)
}

// A request is a small thing, and may carry ten thousand reports.
func TestAnAccountIsLimitedInWhatItsRequestsCarry(t *testing.T) {
	w, _ := newIntake(t, func(c *rest.Config, _ *Deps) {
		c.Auth.Volume = auth.Volume{Items: 100, Bytes: 20_000, Window: time.Minute}
	})
	w.device("imei-1")
	batch := func(n, padding int) string {
		one := fmt.Sprintf(`{"unique_id":"imei-1","fix_at":%q,"lat":30,"lng":-97}`, time.Now().UTC().Format(time.RFC3339))
		return "[" + strings.Repeat(one+",", n-1) + one + strings.Repeat(" ", padding) + "]"
	}
	w.do("POST", "/v1/positions", batch(60, 0)).ok(202)
	r := w.do("POST", "/v1/positions", batch(60, 0))
	if p := r.problem(429, "rate_limited"); !strings.Contains(p.Detail, "100 items") {
		t.Errorf("told %q", p.Detail)
	}
	wantEqual(t, "policy", r.header.Get("RateLimit-Policy"), `"items";q=100;w=60`)
	wantEqual(t, "limit", r.header.Get("X-RateLimit-Limit"), "100")
	if s := r.header.Get("Retry-After"); s == "" || s == "0" {
		t.Errorf("Retry-After %q", s)
	}
	// Refused by any other way in too, and with any other key; what is smaller still fits.
	w.key = w.newKey(w.account, auth.Admin)
	w.do("POST", "/v1/positions/traccar", "["+strings.Repeat(`{"position":{},"device":{"uniqueId":"imei-1"}},`, 59)+
		`{"position":{},"device":{"uniqueId":"imei-1"}}]`).problem(429, "rate_limited")
	w.do("POST", "/v1/vehicles/batch", `{"data":[`+strings.Repeat(`{"make":"A","model":"B"},`, 59)+
		`{"make":"A","model":"B"}]}`).problem(429, "rate_limited")
	w.do("POST", "/v1/positions", batch(2, 0)).ok(202)
	if p := w.do("POST", "/v1/positions", batch(1, 19_000)).problem(429, "rate_limited"); !strings.Contains(p.Detail,
		"20000 bytes") {
		t.Errorf("told %q", p.Detail)
	}
	// Bytes count whatever they are for.
	w.do("PATCH", "/v1/account", `{"name":"First"}`+strings.Repeat(" ", 19_000)).problem(429, "rate_limited")
	// Another account is not in it, and a minute later all is as before, even for what is larger than all of it.
	first := w.key
	w.key = w.newKey(w.newAccount("Second"), auth.Admin)
	w.do("POST", "/v1/vehicles/batch",
		`{"data":[`+strings.Repeat(`{"make":"A","model":"B"},`, 59)+`{"make":"A","model":"B"}]}`).ok(200)
	w.key = first
	w.clock.Add(int64(time.Minute))
	w.do("POST", "/v1/positions", batch(120, 0)).ok(202)
	w.do("POST", "/v1/positions", batch(1, 0)).problem(429, "rate_limited")
}

// monthsAgo is the beginning of the month that was so many months ago: not each has a day like today.
func monthsAgo(n int) string {
	now := time.Now().UTC()
	return time.Date(now.Year(), now.Month()-time.Month(n), 1, 0, 0, 0, 0, time.UTC).Format(time.RFC3339)
}

// What is stored together of many months is stored in many pieces.
func TestARequestIsOfAFewMonthsAndPaysForThem(t *testing.T) {
	w, _ := newIntake(t, func(c *rest.Config, _ *Deps) {
		c.Auth.Volume = auth.Volume{Items: 30 * ingest.MonthItems, Bytes: 1 << 30, Window: time.Minute}
	})
	w.device("imei-1")
	of := func(months int) string {
		var all []string
		for i := range months {
			all = append(all, fmt.Sprintf(`{"unique_id":"imei-1","fix_at":%q,"lat":30,"lng":-97}`, monthsAgo(2+i)))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	if p := w.do("POST", "/v1/positions", of(60)).problem(422, "validation_failed"); !strings.Contains(p.Detail,
		"different months") {
		t.Errorf("told %q", p.Detail)
	}
	w.do("POST", "/v1/positions", of(20)).ok(202)
	w.do("POST", "/v1/positions", of(20)).problem(429, "rate_limited")
	w.do("POST", "/v1/positions", of(5)).ok(202)
}

// Some rows are dated by the device's own clock.
func TestMonthsOfDevicesClocksCountToo(t *testing.T) {
	w, _ := newIntake(t, func(c *rest.Config, _ *Deps) {
		c.Auth.Volume = auth.Volume{Items: 2*ingest.MonthItems + 100, Bytes: 1 << 30, Window: time.Minute}
	})
	id := w.device("imei-1")
	old := func(months int) string { return monthsAgo(2 + months) }
	var alarms []string
	for i := range ingest.MaxMonths + 1 {
		alarms = append(alarms,
			fmt.Sprintf(`{"unique_id":"imei-1","fix_at":%q,"device_at":%q,"lat":30,"lng":-97,"alarm":"sos"}`,
				time.Now().UTC().Format(time.RFC3339), old(i)))
	}
	if p := w.do("POST", "/v1/positions", "["+strings.Join(alarms, ",")+"]").problem(422,
		"validation_failed"); !strings.Contains(p.Detail, "25 different months") {
		t.Errorf("told %q", p.Detail)
	}
	// What is refused for its months costs no items, and a phone's old reports count as old ones do.
	token := w.do("POST", "/v1/devices/"+id+"/osmand_token", "").ok(201).object()["token"].(string)
	phone := func(months int) *reply {
		return w.do("GET", fmt.Sprintf("/osmand?id=imei-1&lat=30&lon=-97&timestamp=%s&token=%s", old(months), token), "",
			"Authorization", "")
	}
	w.do("POST", "/v1/positions", alarms[0]).ok(202)
	w.do("POST", "/v1/positions", "["+strings.Join(alarms[:3], ",")+"]").problem(429, "rate_limited")
	phone(1).ok(200)
	phone(2).problem(429, "rate_limited")
}

func TestAClientThatGuessesIsThrottled(t *testing.T) {
	w := newWorld(t, func(c *rest.Config, _ *Deps) { c.Auth.Failures = 3 })
	for range 3 {
		w.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+auth.MakeKey().Token).problem(401, "unauthorized")
	}
	r := w.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+auth.MakeKey().Token)
	r.problem(429, "rate_limited")
	if r.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}
