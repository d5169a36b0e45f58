package rest

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/pprof"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Check says whether something that we need is there; nil means yes.
type Check func(ctx context.Context) error

// checkTime is how long a check may take before it counts as failed.
const checkTime = 3 * time.Second

// OpsHandler serves the operators' listener, which is not for the world: /healthz (the process lives), /readyz,
// /metrics, and under /debug/pprof/ where time and memory go. A process is ready when it can do its main work: needed
// are the checks without which it cannot, and makes a 503, wanted those without which it does less, which degraded
// names. The names and faults of all are in the body.
func OpsHandler(needed, wanted map[string]Check, metrics prometheus.Gatherer) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		opsJSON(w, http.StatusOK, map[string]any{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		all := maps.Clone(needed)
		maps.Copy(all, wanted)
		results, failed := runChecks(r.Context(), all)
		status, word := http.StatusOK, "ok"
		if len(failed) > 0 {
			word = "degraded"
		}
		if slices.ContainsFunc(failed, func(name string) bool { return needed[name] != nil }) {
			status, word = http.StatusServiceUnavailable, "unavailable"
		}
		opsJSON(w, status, map[string]any{"status": word, "degraded": failed, "checks": results})
	})
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	for _, name := range []string{"allocs", "block", "goroutine", "heap", "mutex"} {
		mux.Handle("GET /debug/pprof/"+name, pprof.Handler(name))
	}
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	return secure(mux)
}

// runChecks runs all checks at once and returns "ok" or the fault of each, and the names of those that failed.
func runChecks(ctx context.Context, checks map[string]Check) (results map[string]string, failed []string) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var mu sync.Mutex
	var group sync.WaitGroup
	results, failed = make(map[string]string, len(checks)), []string{}
	for name, check := range checks {
		group.Go(func() {
			err := check(ctx)
			mu.Lock()
			defer mu.Unlock()
			results[name] = "ok"
			if err != nil {
				results[name], failed = err.Error(), append(failed, name)
			}
		})
	}
	group.Wait()
	slices.Sort(failed)
	return results, failed
}

func opsJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // whoever asked may be gone
}
