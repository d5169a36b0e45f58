package api

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/hook"
	"github.com/motorpool/fleet/api/outbound"
	"github.com/motorpool/fleet/api/record"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/api/seal"
)

// receiver keeps what webhooks send to it.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	heads  []http.Header
	bodies []string
	status int // it answers with
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{status: http.StatusNoContent}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.heads, r.bodies = append(r.heads, req.Header), append(r.bodies, string(body))
		w.WriteHeader(r.status)
		if r.status != http.StatusNoContent {
			fmt.Fprint(w, "SAID")
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// last is the newest message.
func (r *receiver) last() (http.Header, string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.heads[len(r.heads)-1], r.bodies[len(r.bodies)-1]
}

// verifies says whether the newest message is taken by who knows a secret.
func (r *receiver) verifies(t *testing.T, secret string) bool {
	t.Helper()
	hook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	head, body := r.last()
	return hook.VerifyIgnoringTimestamp([]byte(body), head) == nil // clocks of tests are put forward
}

const hooks = "/v1/webhook_endpoints"

func TestAWebhookEndpointIsMadeChangedAndTaken(t *testing.T) {
	w := newWorld(t)
	to := newReceiver(t)
	vehicle := w.vehicle(`{"make":"A","model":"B"}`)
	made := w.do("POST", hooks, `{"url":"`+to.URL+`/in?a=b","description":"Books",
		"types":["booking.*","maintenance","alert.raised"],"vehicle_ids":["`+vehicle+`"],"headers":{"X-Token":"TOPSECRET1"}}`).ok(201)
	id, path, secret := made.id(), made.header.Get("Location"), made.object()["secret"].(string)
	wantEqual(t, "Location", path, hooks+"/"+id)
	if !strings.HasPrefix(id, "whe_") || !strings.HasPrefix(secret, "whsec_") {
		t.Errorf("made %s", made.body)
	}
	seen := w.do("GET", path, "").ok(200)
	for name, want := range map[string]any{"status": "enabled", "payload": "full", "api_version": "v1", "timeout_s": 15.0,
		"max_in_flight": 10.0, "signature": "v1", "disabled_by": nil, "secret": nil,
		"headers": map[string]any{"X-Token": hook.Hidden}, "scopes": []any{"admin"}} {
		wantEqual(t, name, seen.object()[name], want)
	}

	// What is sent back unchanged changes nothing, and a header keeps its value.
	wantEqual(t, "revision", w.do("PUT", path, string(seen.body)).ok(200).object()["revision"], 1.0)
	w.do("PATCH", path, `{"description":"Ledger","headers":{"X-Other":"TOPSECRET2"}}`, "If-Match", `"r1"`).ok(200)
	w.do("PATCH", path, `{"description":"x"}`, "If-Match", `"r1"`).problem(412, "precondition_failed")
	tested := w.do("POST", path+"/test", `{"type":"booking.created"}`).ok(200).object()
	head, body := to.last()
	if head.Get("X-Token") != "TOPSECRET1" || head.Get("X-Other") != "TOPSECRET2" || !to.verifies(t, secret) {
		t.Errorf("sent %v", head)
	}
	wantEqual(t, "what was sent", tested["request"].(map[string]any)["body"], body)
	wantEqual(t, "delivered", tested["delivered"], true)
	wantEqual(t, "signed", tested["signed_content"], head.Get("Webhook-Id")+"."+head.Get("Webhook-Timestamp")+"."+body)
	var event struct{ Type, ID string }
	if err := json.Unmarshal([]byte(body), &event); err != nil || event.Type != "booking.created" ||
		event.ID != tested["event_id"] {
		t.Errorf("%v: %s", err, body)
	}
	w.do("PATCH", path, `{"headers":{"X-Token":null}}`).ok(200)
	w.do("POST", path+"/test", "").ok(200)
	if head, _ := to.last(); head.Get("X-Token") != "" || head.Get("X-Other") != "TOPSECRET2" {
		t.Errorf("sent %v", head)
	}
	w.secretsAreRotated(path, secret, to)
	w.aTestThatFailsSaysWhy(path, to)

	// Paused, enabled, archived.
	wantEqual(t, "paused", w.do("POST", path+"/pause", "").ok(200).object()["status"], "paused")
	w.do("POST", path+"/pause", "").problem(409, "invalid_state_transition")
	wantEqual(t, "list", len(w.do("GET", hooks+"?status=paused", "").data()), 1)
	wantEqual(t, "list", len(w.do("GET", hooks+"?status=enabled", "").data()), 0)
	wantEqual(t, "enabled", w.do("POST", path+"/enable", "").ok(200).object()["status"], "enabled")
	number, err := fleet.ParseID(fleet.WebhookEndpointPrefix, id)
	if err != nil {
		t.Fatal(err)
	}
	log := record.NewLog(w.api.Store, record.WebhookEndpoints)
	if err := hook.SwitchOff(t.Context(), log, w.account, number, "https://before.example/", hook.Gone, ""); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "another address", w.do("GET", path, "").ok(200).object()["status"], "enabled")
	if err := hook.SwitchOff(t.Context(), log, w.account, number, to.URL, hook.Gone, "It answered 410."); err != nil {
		t.Fatal(err)
	}
	off := w.do("GET", path, "").ok(200).object()
	wantEqual(t, "off", fmt.Sprint(off["status"], off["disabled_by"], off["disabled_reason"]),
		"disabledgoneIt answered 410.")
	w.do("POST", path+"/pause", "").problem(409, "invalid_state_transition")
	wantEqual(t, "on again", w.do("POST", path+"/enable", "").ok(200).object()["disabled_by"], nil)
	history := string(w.do("GET", path+"/history", "").ok(200).body)
	w.do("DELETE", path, "").ok(204)
	w.do("POST", path+"/enable", "").problem(409, "conflict")
	w.do("POST", path+"/test", "").problem(409, "conflict")
	w.do("POST", path+"/secrets/rotate", "").problem(409, "conflict")

	// Nothing that is kept or told holds a secret.
	var stored []string
	row := w.db.QueryRow(t.Context(), `SELECT groupArray(text) FROM (
		SELECT toString(tuple(*)) AS text FROM record_log UNION ALL SELECT toString(tuple(*)) FROM claim_log
		UNION ALL SELECT toString(tuple(*)) FROM webhook_endpoints)`)
	if err := row.Scan(&stored); err != nil || len(stored) < 10 {
		t.Fatal(len(stored), err)
	}
	for _, text := range append(stored, w.log.String(), history) {
		if strings.Contains(text, "TOPSECRET") || strings.Contains(text, "whsec_") || strings.Contains(text, secret[6:]) {
			t.Errorf("a secret is in %s", text)
		}
	}
	if strings.Contains(history, "sealed") {
		t.Errorf("what is sealed is in %s", history)
	}
}

// secretsAreRotated has two secrets sign for some hours, and no more than two.
func (w *world) secretsAreRotated(path, first string, to *receiver) {
	w.t.Helper()
	once := func() any {
		made := w.do("POST", path+"/secrets/rotate", `{"overlap_hours":2}`, "Idempotency-Key", "rotate").ok(200)
		return made.object()["secret"]
	}
	second := once().(string)
	if again := once(); again != nil {
		w.t.Errorf("shown twice: %v", again)
	}
	signed := func(secrets map[string]bool) {
		w.t.Helper()
		w.do("POST", path+"/test", "").ok(200)
		for secret, want := range secrets {
			if to.verifies(w.t, secret) != want {
				w.t.Errorf("%s signs: not %v", secret, want)
			}
		}
	}
	signed(map[string]bool{first: true, second: true})
	wantEqual(w.t, "live", len(w.do("GET", path, "").ok(200).object()["secrets"].([]any)), 2)
	if p := w.do("POST", path+"/secrets/rotate", "").problem(409, "conflict"); strings.Contains(p.Detail, " UTC") {
		w.t.Errorf("a time is told as %s", p.Detail)
	}
	w.do("POST", path+"/secrets/rotate", `{"overlap_hours":200}`).problem(422, "validation_failed")
	w.clock.Add(int64(2*time.Hour + time.Second))
	wantEqual(w.t, "live", len(w.do("GET", path, "").ok(200).object()["secrets"].([]any)), 1)
	third := w.do("POST", path+"/secrets/rotate", "").ok(200).object()["secret"].(string)
	fourth := w.do("POST", path+"/secrets/rotate", `{"overlap_hours":0}`).ok(200).object()["secret"].(string)
	signed(map[string]bool{first: false, second: false, third: false, fourth: true})
	keys := w.do("POST", path+"/secrets/rotate", `{"signature":"v1a"}`).ok(200).object()
	if keys["secret"] != nil || keys["signature"] != "v1a" ||
		!strings.HasPrefix(fmt.Sprint(keys["secrets"].([]any)[0].(map[string]any)["public_key"]), "whpk_") {
		w.t.Errorf("rotated to %v", keys)
	}
	signed(map[string]bool{fourth: true})
	if head, _ := to.last(); !strings.Contains(head.Get("Webhook-Signature"), "v1a,") {
		w.t.Errorf("signed %v", head)
	}
}

func (w *world) aTestThatFailsSaysWhy(path string, to *receiver) {
	w.t.Helper()
	to.status = http.StatusInternalServerError
	failed := w.do("POST", path+"/test", "").ok(200).object()
	response, _ := failed["response"].(map[string]any)
	if failed["delivered"] != false || response["status"] != 500.0 || response["body"] != "SAID" ||
		!strings.Contains(fmt.Sprint(failed["error"]), "500") {
		w.t.Errorf("failed: %v", failed)
	}
	to.status = http.StatusNoContent
	w.do("POST", path+"/test", `{"type":"booking.createt"}`).problem(422, "validation_failed")
	w.do("PATCH", path, `{"url":"http://127.0.0.1:1/","headers":{"X-Other":null}}`).ok(200)
	failed = w.do("POST", path+"/test", "").ok(200).object()
	if failed["response"] != nil || !strings.Contains(fmt.Sprint(failed["error"]), "refuses") {
		w.t.Errorf("failed: %v", failed)
	}
	w.do("PATCH", path, `{"url":"`+to.URL+`"}`).ok(200)
}

func TestASecretIsShownOnceHoweverOftenItIsAskedFor(t *testing.T) {
	w := newWorld(t)
	const body = `{"url":"https://example.com/"}`
	made := w.do("POST", hooks, body, "Idempotency-Key", "k").ok(201)
	again := w.do("POST", hooks, body, "Idempotency-Key", "k").ok(201)
	if made.object()["secret"] == nil || again.object()["secret"] != nil || again.id() != made.id() {
		t.Errorf("%s and %s", made.body, again.body)
	}
	keys := w.do("POST", hooks, `{"url":"https://example.com/","signature":"v1a"}`).ok(201).object()
	if keys["secret"] != nil || keys["signature"] != "v1a" {
		t.Errorf("made %v", keys)
	}
}

func TestWhatIsNoWebhookEndpointIsRefused(t *testing.T) {
	w := newWorld(t, func(_ *rest.Config, d *Deps) {
		d.Webhooks.Reach, d.Webhooks.Plain = outbound.Reach{Ports: []uint16{443, 8443}}, false
	})
	for _, test := range []struct{ body, pointer, says string }{
		{`{}`, "/url", "must be given"},
		{`{"url":"example.com"}`, "/url", "is no address"},
		{`{"url":"http://example.com/"}`, "/url", "not with https://"},
		{`{"url":"https://me:word@example.com/"}`, "/url", "a user or a password"},
		{`{"url":"https://example.com:22/"}`, "/url", "443, 8443"},
		{`{"url":"https://127.0.0.1/"}`, "/url", "no public network"},
		{`{"url":"https://[::ffff:10.0.0.1]/"}`, "/url", "no public network"},
		{`{"url":"https://169.254.169.254/latest"}`, "/url", "no public network"},
		{`{"url":"https://example.com/","types":["bookings.created"]}`, "/types/0", "did you mean booking.created?"},
		{`{"url":"https://example.com/","types":["alert.raised","maintenence"]}`, "/types/1", "did you mean maintenance?"},
		{`{"url":"https://example.com/","types":["booking*"]}`, "/types/0", "no type"},
		{`{"url":"https://example.com/","types":["*"]}`, "/types/0", "no type"},
		{`{"url":"https://example.com/","vehicle_ids":["veh_7"]}`, "/vehicle_ids/0", "no vehicle"},
		{`{"url":"https://example.com/","geofence_ids":["veh_7"]}`, "/geofence_ids/0", "geofence"},
		{`{"url":"https://example.com/","headers":{"Host":"a"}}`, "/headers/Host", "belongs to the message"},
		{`{"url":"https://example.com/","headers":{"content-length":"1"}}`, "/headers/content-length", "belongs to"},
		{`{"url":"https://example.com/","headers":{"Webhook-Id":"1"}}`, "/headers/Webhook-Id", "belongs to"},
		{`{"url":"https://example.com/","headers":{"transfer-encoding":"chunked"}}`, "/headers/transfer-encoding", "belongs to"},
		{`{"url":"https://example.com/","headers":{"TE":"a"}}`, "/headers/TE", "belongs to"},
		{`{"url":"https://example.com/","headers":{"a b":"a"}}`, "/headers/a b", "no name"},
		{`{"url":"https://example.com/","headers":{"X-A":"a\r\nHost: b"}}`, "/headers/X-A", "line breaks"},
		{`{"url":"https://example.com/","headers":{"X-A":""}}`, "/headers/X-A", "value"},
		{`{"url":"https://example.com/","headers":{"X-A":"********"}}`, "/headers/X-A", "stars"},
		{`{"url":"https://example.com/","headers":{"X-A":"1","x-a":"2"}}`, "/headers/", "twice"},
		{`{"url":"https://example.com/","payload":"fat"}`, "/payload", "full"},
		{`{"url":"https://example.com/","signature":"v2"}`, "/signature", "v1a"},
		{`{"url":"https://example.com/","api_version":"v2"}`, "/api_version", "v1"},
		{`{"url":"https://example.com/","timeout_s":4}`, "/timeout_s", "at least 5"},
		{`{"url":"https://example.com/","timeout_s":31}`, "/timeout_s", "at most 30"},
		{`{"url":"https://example.com/","max_in_flight":51}`, "/max_in_flight", "at most 50"},
		{`{"url":"https://example.com/","rate_per_s":-1}`, "/rate_per_s", "at least"},
		{`{"url":"https://example.com/","secrets":[]}`, "/secrets", "unknown"},
		{`{"url":"https://example.com/","status":"paused"}`, "/status", ""},
	} {
		p := w.do("POST", hooks, test.body).problem(422, "validation_failed")
		if len(p.Errors) == 0 || !strings.HasPrefix(p.Errors[0].Pointer, test.pointer) ||
			test.says != "unknown" && !strings.Contains(p.Errors[0].Detail, test.says) {
			t.Errorf("%s: %+v", test.body, p.Errors)
		}
	}
	wantEqual(t, "made", len(w.do("GET", hooks, "").data()), 0)
}

// An endpoint hears what the key that said its types may read, and a key that may read less does not touch it.
func TestAWebhookEndpointHearsWhatItsKeyMayRead(t *testing.T) {
	w := newWorld(t)
	lesser := "Bearer " + w.newKey(w.account, auth.WebhooksManage, auth.BookingsRead, auth.VehiclesWrite)
	as := func(method, path, body string) *reply { return w.do(method, path, body, "Authorization", lesser) }
	made := as("POST", hooks, `{"url":"https://example.com/"}`).ok(201)
	path := hooks + "/" + made.id()
	wantEqual(t, "scopes", made.object()["scopes"], []any{"bookings:read", "webhooks:manage"})
	as("POST", hooks, `{"url":"https://example.com/","types":["alerts"]}`).problem(403, "insufficient_scope")
	as("PATCH", path, `{"types":["booking.*","payment.*"]}`).problem(403, "insufficient_scope")
	as("PATCH", path, `{"types":["bookings"]}`).ok(200) // what of the category it may hear

	// A key that may read more changes what it hears only by saying its types.
	wantEqual(t, "scopes", w.do("PATCH", path, `{"description":"x"}`).ok(200).object()["scopes"],
		[]any{"bookings:read", "webhooks:manage"})
	wantEqual(t, "scopes", w.do("PATCH", path, `{"types":["finance"]}`).ok(200).object()["scopes"], []any{"admin"})
	const evil = `{"url":"https://evil.example/"}`
	for _, call := range [][3]string{{"PATCH", "", evil}, {"PUT", "", evil}, {"POST", "/secrets/rotate", ""},
		{"POST", "/test", ""}} {
		as(call[0], path+call[1], call[2]).problem(403, "insufficient_scope")
	}
	as("POST", path+"/pause", "").ok(200)
	as("POST", path+"/enable", "").problem(403, "insufficient_scope")
	as("DELETE", path, "").ok(204)
	none := "Bearer " + w.newKey(w.account, auth.BookingsRead)
	w.do("GET", hooks, "", "Authorization", none).problem(403, "insufficient_scope")

	other := "Bearer " + w.newKey(w.newAccount("Second"), auth.Admin)
	for _, call := range [][2]string{{"GET", ""}, {"PATCH", ""}, {"POST", "/test"}, {"POST", "/pause"},
		{"POST", "/secrets/rotate"}} {
		body := ""
		if call[0] == "PATCH" {
			body = "{}"
		}
		w.do(call[0], path+call[1], body, "Authorization", other).problem(404, "not_found")
	}
}

func TestWithoutAKeyNoSecretIsTaken(t *testing.T) {
	w := newWorld(t, func(_ *rest.Config, d *Deps) { d.Webhooks.Keys = seal.Ring{} })
	p := w.do("POST", hooks, `{"url":"https://example.com/"}`).problem(503, "unavailable")
	if !strings.Contains(p.Detail, "--seal-key-file") {
		t.Error(p.Detail)
	}
}

// What is sealed with a key that is to go is sealed with the next one, and is sent and signed as before.
func TestSecretsAreSealedAgainWithTheNextKey(t *testing.T) {
	old, next := seal.NewKey(), seal.NewKey()
	keys := func(lines ...string) seal.Ring {
		ring, err := seal.Read([]byte(strings.Join(lines, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		return ring
	}
	w := newWorld(t, func(_ *rest.Config, d *Deps) { d.Webhooks.Keys = keys(old) })
	to := newReceiver(t)
	made := w.do("POST", hooks, `{"url":"`+to.URL+`","payload":"thin","types":["vehicle.created"],
		"headers":{"X-Token":"TOPSECRET1"}}`).ok(201)
	number, err := fleet.ParseID(fleet.WebhookEndpointPrefix, made.id())
	if err != nil {
		t.Fatal(err)
	}
	both, log := keys(next, old), record.NewLog(w.api.Store, record.WebhookEndpoints)
	for _, want := range []bool{true, false} {
		again, err := hook.SealAgain(t.Context(), log, &both, record.Author{Actor: "cli"}, w.account, number)
		if again != want || err != nil {
			t.Fatalf("sealed: %v, want %v: %v", again, want, err)
		}
	}
	// Another process has the next key alone.
	other, err := New(w.api.Config, Deps{Webhooks: hook.Config{Reach: outbound.Reach{Private: true}, Plain: true,
		Keys: keys(next)}, Deps: rest.Deps{DB: w.db, IDs: fleet.NewIDSource(2, w.api.Now), Log: w.api.Log, Now: w.api.Now}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(other.Handler())
	defer server.Close()
	w.url = server.URL
	w.do("POST", hooks+"/"+made.id()+"/test", "").ok(200)
	head, body := to.last()
	if head.Get("X-Token") != "TOPSECRET1" || !to.verifies(t, made.object()["secret"].(string)) {
		t.Errorf("sent %v", head)
	}
	var event struct {
		Type string
		Data struct{ Object map[string]any }
	}
	if err := json.Unmarshal([]byte(body), &event); err != nil || event.Type != "vehicle.created" ||
		event.Data.Object["id"] == nil || event.Data.Object["make"] != nil {
		t.Errorf("%v: sent %s", err, body)
	}
	only := keys(seal.NewKey())
	if _, err := hook.SealAgain(t.Context(), log, &only, record.Author{Actor: "cli"}, w.account, number); err == nil {
		t.Error("what no key opens is sealed again")
	}
}
