package api

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/hook"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
)

// audit lists acts as texts, the newest first, with how often.
func (w *world) audit(query string) (acts []string) {
	w.t.Helper()
	w.api.Close(w.t.Context())
	for _, act := range w.do("GET", "/v1/credential_audit?per_page=100"+query, "").data() {
		text := act["act"].(string)
		if reason, ok := act["reason"].(string); ok {
			text += " " + reason
		}
		acts = append(acts, fmt.Sprintf("%s %v", text, act["count"]))
	}
	return acts
}

func TestWhatIsDoneWithACredentialIsInAnAudit(t *testing.T) {
	w := newWorld(t, func(cfg *rest.Config, _ *Deps) {
		cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	const from = "X-Forwarded-For"
	key := w.do("POST", "/v1/api_keys", `{"name":"Gate","scopes":["vehicles:read"],"ip_allow_list":["192.0.2.0/24"]}`,
		from, "203.0.113.9").ok(201).object()
	id, token := key["id"].(string), key["key"].(string)
	as := func(token, client string, status int) {
		t.Helper()
		w.do("GET", "/v1/vehicles", "", "Authorization", "Bearer "+token, from, client).ok(status)
	}
	for range 3 {
		as(token, "192.0.2.1", 200)
	}
	as(token, "192.0.2.2", 200)
	as(token, "198.51.100.7", 403)
	rotated := w.do("POST", "/v1/api_keys/"+id+"/rotate", "").ok(201).object()
	w.do("DELETE", "/v1/api_keys/"+id, "").ok(204)
	as(token, "192.0.2.1", 401)
	as(auth.MakeKey().Token, "192.0.2.1", 401)

	want := []string{"created 1", "refused address_not_allowed 1", "refused revoked 1", "revoked 1", "rotated 1", "used 1",
		"used 3"}
	got := w.audit("&credential_id=" + id)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("the audit has\n%q, want\n%q", got, want)
	}
	w.api.Close(t.Context())
	if again := w.audit("&credential_id=" + id); len(again) != len(want) {
		t.Errorf("stored again it has %q", again)
	}
	made := w.do("GET", "/v1/credential_audit?act=created&credential_id="+id, "").data()[0]
	if made["client"] != "203.0.113.9" || made["actor"] == id || made["kind"] != "api_key" || made["reason"] != nil {
		t.Errorf("it was made as %v", made)
	}
	if got := w.audit("&act=used&client=192.0.2.1&actor=" + id); !slices.Equal(got, []string{"used 3"}) {
		t.Errorf("from one address %q", got)
	}
	if got := w.audit("&credential_id=" + rotated["id"].(string)); !slices.Equal(got, []string{"created 1"}) {
		t.Errorf("of the key that came after %q", got)
	}
	text := string(w.do("GET", "/v1/credential_audit?per_page=100", "").ok(200).body)
	if strings.Contains(text, token[9:21]) || strings.Contains(text, token[len(token)-8:]) {
		t.Error("the audit has a part of a key")
	}
	// Once more what follows from the revisions, as after a crash: the same rows, and what is known of them stays.
	before := w.audit("&credential_id=" + id)
	w.exec("TRUNCATE TABLE record_settled")
	w.clock.Store(int64(time.Minute)) // their writer is not at it any more
	if err := w.api.Store.Resume(t.Context(), time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if after := w.audit("&credential_id=" + id); !slices.Equal(before, after) {
		t.Errorf("after a repetition\n%q, before\n%q", after, before)
	}
	again := w.do("GET", "/v1/credential_audit?act=created&credential_id="+id, "").data()
	if len(again) != 1 || again[0]["client"] != "203.0.113.9" {
		t.Errorf("after a repetition it was made as %v", again)
	}

	t.Run("endpoints", func(t *testing.T) {
		path := "/v1/webhook_endpoints/"
		id := w.do("POST", "/v1/webhook_endpoints", `{"url":"https://127.0.0.1/hook","headers":{"X-Token":"hush"}}`).ok(201).
			object()["id"].(string)
		w.do("PATCH", path+id, `{"headers":{"X-Token":"other"}}`).ok(200)
		w.do("PATCH", path+id, `{"description":"no credential"}`).ok(200)
		w.do("POST", path+id+"/secrets/rotate", "").ok(200)
		w.do("DELETE", path+id, "").ok(204)
		want := []string{"revoked 1", "rotated 1", "changed 1", "created 1"}
		if got := w.audit("&credential_id=" + id); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
	t.Run("OAuth clients", func(t *testing.T) {
		path := "/v1/oauth_clients"
		id := w.do("POST", path, `{"name":"Planner","type":"confidential","grant_types":["client_credentials"],"scopes":["vehicles:read"]}`).ok(201).
			id()
		path += "/" + id
		w.do("PATCH", path, `{"scopes":["vehicles:read","bookings:read"]}`).ok(200)
		w.do("POST", path+"/disable", "").ok(200)
		w.do("POST", path+"/enable", "").ok(200)
		w.do("DELETE", path, "").ok(204)
		want := []string{"revoked removed 1", "changed enabled 1", "revoked disabled 1", "changed 1", "created 1"}
		if got := w.audit("&credential_id=" + id); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
	t.Run("pages", func(t *testing.T) {
		all := w.do("GET", "/v1/credential_audit?per_page=100&until="+time.Now().UTC().Format(time.RFC3339Nano), "").ok(200)
		var paged []string
		next := "/v1/credential_audit?per_page=3&until=" + time.Now().UTC().Add(time.Second).Format("2006-01-02T15:04:05Z")
		for n := 0; next != "" && n < 20; n++ {
			page := w.do("GET", next, "").ok(200)
			for _, act := range page.data() {
				paged = append(paged, fmt.Sprint(act["at"], act["credential_id"], act["act"]))
			}
			cursor, _ := page.object()["pagination"].(map[string]any)["next_cursor"].(string)
			if next, _, _ = strings.Cut(next, "&cursor="); cursor == "" {
				break
			}
			next += "&cursor=" + cursor
		}
		if slices.Sort(paged); len(paged) < 8 || len(paged) > len(all.data()) || len(slices.Compact(paged)) != len(paged) {
			t.Errorf("pages have %q of %d", paged, len(all.data()))
		}
		w.do("GET", "/v1/credential_audit?client=here", "").problem(400, "invalid_request")
	})
	t.Run("others", func(t *testing.T) {
		w.do("GET", "/v1/credential_audit", "", "Authorization", "Bearer "+w.newKey(w.account, auth.VehiclesRead)).ok(403)
		other := w.newKey(w.newAccount("Second"), auth.KeysManage)
		w.api.Close(t.Context())
		for _, act := range w.do("GET", "/v1/credential_audit?credential_id="+id, "", "Authorization", "Bearer "+other).
			data() {
			t.Errorf("another account reads %v", act)
		}
	})
}

func TestACountOfAnHourIsOneRowWhateverStoresIt(t *testing.T) {
	w := newWorld(t)
	other, err := New(rest.DefaultConfig(), Deps{Deps: rest.Deps{DB: w.db, IDs: fleet.NewIDSource(2, time.Now),
		Log: w.api.Log}, Webhooks: hook.Config{Keys: sealKeys(t)}})
	if err != nil {
		t.Fatal(err)
	}
	use := auth.Use{Account: w.account, Actor: "key_7", Credential: "key_7", Kind: "api_key", Act: auth.Used,
		Client: netip.MustParseAddr("::ffff:192.0.2.1"), At: time.Now()}
	for i := range 6 {
		for _, process := range []*API{w.api, other} {
			process.Noted(t.Context(), use)
			if i%2 == 0 {
				process.Close(t.Context())
			}
		}
	}
	other.Close(t.Context())
	if got := w.audit("&credential_id=key_7&client=192.0.2.1"); !slices.Equal(got, []string{"used 12"}) {
		t.Errorf("%q", got)
	}
	use.At = use.At.Add(time.Hour)
	w.api.Noted(t.Context(), use)
	if got := w.audit("&credential_id=key_7"); !slices.Equal(got, []string{"used 1", "used 12"}) {
		t.Errorf("an hour later %q", got)
	}
	// What is noted without a record is a row each, in one instant too.
	for range 2 {
		w.api.Noted(t.Context(), auth.Use{Account: w.account, Actor: "cli", Credential: "usr_1", Kind: "password",
			Act: auth.Changed, At: use.At})
	}
	if got := w.audit("&credential_id=usr_1"); !slices.Equal(got, []string{"changed 1", "changed 1"}) {
		t.Errorf("%q", got)
	}
}

func TestTheCommandLineIsInTheAudit(t *testing.T) {
	w := newWorld(t)
	store, err := record.NewStore(record.DefaultConfig(), w.db, w.api.IDs, time.Now) // as motorpool key has it
	if err != nil {
		t.Fatal(err)
	}
	made, err := record.NewLog(store, record.APIKeys).New(t.Context(), record.Author{Actor: "cli"}, w.account,
		record.APIKey{Name: "cli", TokenID: "abc", Scopes: []string{"admin"}})
	if err != nil {
		t.Fatal(err)
	}
	w.clock.Store(int64(time.Minute)) // its own process is not at it any more
	if err := w.api.Store.Resume(t.Context(), time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	rows := w.do(http.MethodGet, fmt.Sprintf("/v1/credential_audit?credential_id=key_%d", made.ID), "").data()
	if len(rows) != 1 || rows[0]["actor"] != "cli" || rows[0]["act"] != "created" || rows[0]["client"] != nil {
		t.Errorf("%v", rows)
	}
}
