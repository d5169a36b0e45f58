package api

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/motorpool/fleet/api/rest"

	"github.com/prometheus/client_golang/prometheus"
)

func TestOperatorsSeeHealthReadinessAndMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	w := newWorld(t, func(_ *rest.Config, d *Deps) { d.Metrics = registry })
	id := w.vehicle(`{"make":"A","model":"B"}`)
	w.do("GET", "/v1/vehicles/"+id, "").ok(200)
	w.do("GET", "/v1/made-up/"+id, "").problem(404, "not_found")

	var down, away error
	ops := rest.OpsHandler(map[string]rest.Check{"clickhouse": w.db.Ping,
		"disk": func(context.Context) error { return down }},
		map[string]rest.Check{"kafka": func(context.Context) error { return away }}, registry)
	get := func(path string) (int, string) {
		rec := httptest.NewRecorder()
		ops.ServeHTTP(rec, httptest.NewRequest("GET", path, nil))
		return rec.Code, rec.Body.String()
	}
	if status, body := get("/healthz"); status != 200 || !strings.Contains(body, "ok") {
		t.Errorf("healthz %d %s", status, body)
	}
	if status, body := get("/readyz"); status != 200 || !strings.Contains(body, `"clickhouse":"ok"`) {
		t.Errorf("readyz %d %s", status, body)
	}
	away = errors.New("connection refused")
	if status, body := get("/readyz"); status != 200 || !strings.Contains(body, `"kafka":"connection refused"`) ||
		!strings.Contains(body, `"degraded":["kafka"]`) || !strings.Contains(body, `"status":"degraded"`) {
		t.Errorf("readyz without what is only wanted: %d %s", status, body)
	}
	down = errors.New("gone")
	if status, body := get("/readyz"); status != 503 || !strings.Contains(body, `"disk":"gone"`) ||
		!strings.Contains(body, `"clickhouse":"ok"`) ||
		!strings.Contains(body, `"status":"unavailable"`) {
		t.Errorf("readyz with a fault: %d %s", status, body)
	}
	status, body := get("/metrics")
	if status != 200 ||
		!strings.Contains(body, `motorpool_http_requests_total{method="GET",route="/v1/vehicles/{id}",status="200"} 1`) ||
		!strings.Contains(body, `route="unknown",status="404"`) || strings.Contains(body, id) {
		t.Errorf("metrics %d %s", status, body)
	}
}
