package api

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/auth"
	"github.com/motorpool/fleet/api/rest"
	"github.com/motorpool/fleet/pipeline/topic"
	"github.com/motorpool/fleet/pipeline/webhook"
)

// keptRecords keeps what is published on topics.
type keptRecords struct {
	mu  sync.Mutex
	all []topic.Message
}

func (k *keptRecords) PublishRaw(_ context.Context, name string, messages []topic.Message) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if name != "webhook.deliveries" {
		return fmt.Errorf("nothing belongs on the topic %s", name)
	}
	k.all = append(k.all, messages...)
	return nil
}

// last is the newest record, as JSON.
func (k *keptRecords) last(t *testing.T) map[string]any {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	var m struct{ Command map[string]any }
	if len(k.all) == 0 {
		t.Fatal("nothing was asked for")
	}
	if err := json.Unmarshal(k.all[len(k.all)-1].Value, &m); err != nil {
		t.Fatal(err)
	}
	return m.Command
}

// delivered writes what pipeline/webhook writes of an endpoint: five deliveries, a minute apart, the last of which
// succeeded after one attempt that failed.
func (w *world) delivered(endpoint string, now time.Time) {
	w.t.Helper()
	id, err := fleet.ParseID(fleet.WebhookEndpointPrefix, endpoint)
	if err != nil {
		w.t.Fatal(err)
	}
	for i, status := range []string{"failed", "skipped", "retrying", "pending", "succeeded"} {
		at := now.Add(time.Duration(i-10) * time.Minute)
		for version := range 2 { // the newest version of a row holds
			w.exec(`INSERT INTO webhook_deliveries (account, endpoint, sequence, id, version, event, type, vehicle, created_at,
				updated_at, status, attempts, tries, next_at, response_status, duration_ms, error)
				VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $8, $9, $10, $10, $11, $12, 7, $13)`,
				uint64(w.account), id, uint64(1001+i), uint64(11+i), uint32(version+1), uint64(101+i), "vehicle.created",
				at, []string{"pending", status}[version], uint16(2*version), now.Add(time.Hour), uint16(0), "")
		}
	}
	for n, succeeded := range []bool{false, true} {
		status, words := uint16(500), "answered 500"
		if succeeded {
			status, words = 204, ""
		}
		w.exec(`INSERT INTO webhook_attempts (account, endpoint, at, delivery, number, event, type, url, request_head,
			request_bytes, succeeded, response_status, response_head, response_body, duration_ms, error)
			VALUES ($1, $2, $3, 15, $4, 105, 'vehicle.created', 'https://example.com/', 'POST / HTTP/1.1', 100, $5, $6,
			'HTTP/1.1', 'SAID', $7, $8)`, uint64(w.account), id, now.Add(time.Duration(n-5)*time.Minute), uint16(n+1),
			succeeded, status, uint32(10*(n+1)), words)
	}
	w.exec(`INSERT INTO webhook_health (account, endpoint, version, updated_at, failing_since, failures, warned,
		last_success_at, last_failure_at, last_status, last_error, circuit, open_until)
		VALUES ($1, $2, 1, $3, $4, 3, 50, $5, $3, 500, 'answered 500', 'open', $6)`, uint64(w.account), id, now,
		now.Add(2*time.Second), now.Add(-2*time.Hour), now.Add(time.Minute)) // it fails since it is enabled
	w.exec(`INSERT INTO events (account, sequence, id, type, vehicle, at, noted_at, kind, object, revision, body)
		VALUES ($1, 1005, 105, 'vehicle.created', 0, now64(3), now64(3), 'vehicle', 5, 1, $2)`,
		uint64(w.account), `{"id":"veh_5","make":"A"}`)
}

func TestWhatBecameOfDeliveriesIsTold(t *testing.T) {
	asked := &keptRecords{}
	w := newWorld(t, func(_ *rest.Config, d *Deps) {
		d.Webhooks.Commands = &webhook.Commands{Publisher: asked, Topic: "webhook.deliveries"}
	})
	id := w.do("POST", hooks, `{"url":"https://example.com/"}`).ok(201).id()
	other := w.do("POST", hooks, `{"url":"https://example.com/"}`).ok(201).id()
	now := time.Now().UTC().Truncate(time.Second) // as the driver writes it
	w.delivered(id, now)

	// Lists, the newest first, with their filters and pages.
	states := func(query string) string {
		var all []string
		for _, one := range w.do("GET", "/v1/webhook_deliveries?"+query, "").data() {
			all = append(all, one["status"].(string))
		}
		return strings.Join(all, " ")
	}
	wantEqual(t, "all", states(""), "succeeded pending retrying skipped failed")
	wantEqual(t, "of an endpoint", states("endpoint_id="+id+"&status=failed"), "failed")
	wantEqual(t, "of another", states("endpoint_id="+other), "")
	wantEqual(t, "of a type", states("types=vehicle.*&per_page=2"), "succeeded pending")
	wantEqual(t, "of other types", states("types=alerts,booking.created"), "")
	wantEqual(t, "of a time", states("until="+now.Add(-9*time.Minute-30*time.Second).Format(time.RFC3339)), "failed")
	page := w.do("GET", "/v1/webhook_deliveries?per_page=2", "").ok(200).pagination()
	wantEqual(t, "in all", page.Total, 5)
	wantEqual(t, "next page", states("per_page=2&cursor="+page.NextCursor), "retrying skipped")
	w.do("GET", "/v1/webhook_deliveries?types=alert", "").problem(400, "invalid_request")
	w.do("GET", "/v1/webhook_deliveries?endpoint_id=veh_1", "").problem(400, "invalid_request")

	// One with its attempts, and what is sent.
	one := w.do("GET", "/v1/webhook_deliveries/whd_15", "").ok(200).object()
	attempts, _ := one["attempts"].([]any)
	if len(attempts) != 2 || attempts[0].(map[string]any)["succeeded"] != true || one["attempt_count"] != 2.0 ||
		one["event_id"] != "evt_105" || one["endpoint_id"] != id {
		t.Errorf("delivery %v", one)
	}
	var body struct {
		ID   string
		Data struct{ Object map[string]any }
	}
	text, _ := one["request_body"].(string)
	if err := json.Unmarshal([]byte(text), &body); err != nil || body.ID != "evt_105" ||
		body.Data.Object["make"] != "A" {
		t.Errorf("%v: sent %s", err, text)
	}
	if gone := w.do("GET", "/v1/webhook_deliveries/whd_11", "").ok(200).object()["request_body"]; gone != nil {
		t.Errorf("the body of an event that is gone: %v", gone)
	}
	few := "Bearer " + w.newKey(w.account, auth.WebhooksManage)
	seen := w.do("GET", "/v1/webhook_deliveries/whd_15", "", "Authorization", few).ok(200).object()
	if seen["request_body"] != nil {
		t.Errorf("a key that may not read vehicles sees %v", seen["request_body"])
	}
	// What a receiver answered may be what it was sent.
	said := w.do("GET", hooks+"/"+id+"/attempts", "").data()
	unsaid := w.do("GET", hooks+"/"+id+"/attempts", "", "Authorization", few).data()
	if len(said) != 2 || said[0]["response_body"] != "SAID" || len(unsaid) != 2 || unsaid[0]["response_body"] != "" ||
		unsaid[0]["response_head"] != "" || seen["attempts"].([]any)[0].(map[string]any)["response_body"] != "" {
		t.Errorf("seen by a key that may read all: %v, and by another: %v, %v", said, unsaid, seen)
	}
	failed := w.do("GET", hooks+"/"+id+"/attempts?failed=true", "").data()
	if len(failed) != 1 || failed[0]["response_status"] != 500.0 || failed[0]["error"] != "answered 500" {
		t.Errorf("failed %v", failed)
	}

	health := w.do("GET", hooks+"/"+id+"/health", "").ok(200).object()
	for name, want := range map[string]any{"attempts": 2.0, "failures": 1.0, "failure_share_bp": 5000.0, "p50_ms": 20.0,
		"backlog": 2.0, "circuit": "open", "last_error": "answered 500", "failed_in_a_row": 3.0, "warned_percent": 50.0,
		"backlog_since":   now.Add(-8 * time.Minute).Format("2006-01-02T15:04:05.000Z"),
		"switched_off_at": now.Add(120*time.Hour + 2*time.Second).Format("2006-01-02T15:04:05.000Z")} {
		wantEqual(t, name, health[name], want)
	}
	fresh := w.do("GET", hooks+"/"+other+"/health", "").ok(200).object()
	wantEqual(t, "of a new one", fmt.Sprint(fresh["circuit"], fresh["failure_share_bp"], fresh["p95_ms"],
		fresh["last_success_at"], fresh["switched_off_at"], fresh["backlog_since"]), "closed<nil> <nil> <nil> <nil> <nil>")
	w.deliveriesAreAskedForAgain(id, asked, few)

	second := "Bearer " + w.newKey(w.newAccount("Second"), auth.Admin)
	for _, path := range []string{"/v1/webhook_deliveries/whd_15", hooks + "/" + id + "/health",
		hooks + "/" + id + "/attempts"} {
		w.do("GET", path, "", "Authorization", second).problem(404, "not_found")
	}
	w.do("POST", "/v1/webhook_deliveries/whd_15/retry", "", "Authorization", second).problem(404, "not_found")
	wantEqual(t, "of another account", len(w.do("GET", "/v1/webhook_deliveries", "", "Authorization", second).data()), 0)
}

// deliveriesAreAskedForAgain asks for them one by one and by spans; few is the credential of a key that may not read
// what the endpoint hears of.
func (w *world) deliveriesAreAskedForAgain(id string, asked *keptRecords, few string) {
	w.t.Helper()
	path := hooks + "/" + id
	w.do("POST", "/v1/webhook_deliveries/whd_15/retry", "").ok(202)
	wantEqual(w.t, "resent", asked.last(w.t)["delivery"], "15")
	w.do("POST", "/v1/webhook_deliveries/whd_14/retry", "").problem(409, "conflict") // it is about to be tried
	w.do("POST", "/v1/webhook_deliveries/whd_15/retry", "", "Authorization", few).problem(403, "insufficient_scope")
	since := time.Now().UTC().Add(-time.Hour).Format(time.RFC3339)
	w.do("POST", path+"/recover", `{"since":"`+since+`","types":["vehicle.*"],"status":["skipped"]}`).ok(202)
	// One at a time, until it is done; another kind, and another endpoint, need not wait.
	p := w.do("POST", path+"/recover", `{"since":"`+since+`"}`).problem(409, "conflict")
	if !strings.Contains(p.Detail, "asked for at") {
		w.t.Error(p.Detail)
	}
	told := fmt.Sprint(asked.last(w.t)["statuses"], asked.last(w.t)["again"])
	wantEqual(w.t, "recovered", told, "[skipped] true")
	first := w.do("POST", path+"/replay", `{"since":"`+since+`"}`, "Idempotency-Key", "r").ok(202)
	again := w.do("POST", path+"/replay", `{"since":"`+since+`"}`, "Idempotency-Key", "r").ok(202)
	wantEqual(w.t, "replayed", string(again.body), string(first.body))
	w.do("POST", path+"/replay", `{"since":"`+since+`"}`).problem(409, "conflict")
	w.exec("INSERT INTO webhook_asked SELECT * REPLACE (now64(3) AS updated_at, 2 AS step, true AS done) FROM webhook_asked")
	if number, _ := asked.last(w.t)["replay"].(string); len(number) < 5 {
		w.t.Errorf("replay %q", number)
	}
	wantEqual(w.t, "asked", len(asked.all), 3)
	before := time.Now().UTC().AddDate(0, 0, -27).Format(time.RFC3339) // its events would be gone before its last attempt
	w.do("POST", path+"/recover", `{"since":"`+before+`"}`).problem(422, "validation_failed")
	for body, pointer := range map[string]string{`{}`: "/since", `{"since":"2020-01-01T00:00:00Z"}`: "/since",
		`{"since":"` + since + `","until":"` + since + `"}`:                 "/until",
		`{"since":"` + since + `","types":["alert"]}`:                       "/types/0",
		`{"since":"` + since + `","types":["booking.created","bookings."]}`: "/types/1"} {
		for _, verb := range []string{"/recover", "/replay"} {
			if p := w.do("POST", path+verb, body).problem(422, "validation_failed"); p.Errors[0].Pointer != pointer {
				w.t.Errorf("%s of %s: %+v", verb, body, p.Errors)
			}
		}
	}
	w.do("POST", path+"/recover", `{"since":"`+since+`","status":["pending"]}`).problem(422, "validation_failed")
	w.do("POST", path+"/recover", `{"since":"`+since+`"}`, "Authorization", few).problem(403, "insufficient_scope")
	w.do("POST", path+"/pause", "").ok(200)
	for _, call := range []string{path + "/recover", path + "/replay"} {
		w.do("POST", call, `{"since":"`+since+`"}`).problem(409, "conflict")
	}
	w.do("POST", "/v1/webhook_deliveries/whd_15/retry", "").problem(409, "conflict")
	wantEqual(w.t, "asked", len(asked.all), 3)
}
