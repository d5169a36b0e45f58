package api

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Check says whether something that we need is there; nil means yes.
type Check func(ctx context.Context) error

// checkTime is how long a check may take before it counts as failed.
const checkTime = 3 * time.Second

// OpsHandler serves the operators' listener, which is not for the world: /healthz (the process lives), /readyz (every
// check passes; 503 with the names and faults of those that do not) and /metrics.
func OpsHandler(checks map[string]Check, metrics prometheus.Gatherer) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		opsJSON(w, http.StatusOK, map[string]any{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		results, ready := runChecks(r.Context(), checks)
		status, word := http.StatusOK, "ok"
		if !ready {
			status, word = http.StatusServiceUnavailable, "unavailable"
		}
		opsJSON(w, status, map[string]any{"status": word, "checks": results})
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	return mux
}

// runChecks runs all checks at once and returns "ok" or the fault of each.
func runChecks(ctx context.Context, checks map[string]Check) (map[string]string, bool) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var mu sync.Mutex
	var group sync.WaitGroup
	results, ready := make(map[string]string, len(checks)), true
	for name, check := range checks {
		group.Go(func() {
			err := check(ctx)
			mu.Lock()
			defer mu.Unlock()
			results[name] = "ok"
			if err != nil {
				results[name], ready = err.Error(), false
			}
		})
	}
	group.Wait()
	return results, ready
}

func opsJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // whoever asked may be gone
}
