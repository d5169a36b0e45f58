package api

import (
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/rest"
)

// An account has so many endpoints; what is archived does not count, and who made one is shown.
func TestAnAccountHasSoManyWebhookEndpoints(t *testing.T) {
	w := newWorld(t, func(_ *rest.Config, d *Deps) { d.Webhooks.Most = 2 })
	const body = `{"url":"https://example.com/"}`
	first := w.do("POST", hooks, body, "Idempotency-Key", "a").ok(201)
	if by, _ := first.object()["created_by"].(string); !strings.HasPrefix(by, "key_") {
		t.Errorf("it was made by %q", by)
	}
	w.do("POST", hooks, body).ok(201)
	p := w.do("POST", hooks, body).problem(409, "conflict")
	if !strings.Contains(p.Detail, "2 webhook endpoints") {
		t.Error(p.Detail)
	}
	wantEqual(t, "once more", w.do("POST", hooks, body, "Idempotency-Key", "a").ok(201).id(), first.id())
	w.do("DELETE", hooks+"/"+first.id(), "").ok(204)
	w.do("POST", hooks, body).ok(201)
}
