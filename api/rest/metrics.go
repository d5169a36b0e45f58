package rest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics count requests by the pattern of their route, never by their path.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	running  prometheus.Gauge
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "motorpool_http_requests_total", Help: "Requests answered, by method, route pattern and status.",
		}, []string{"method", "route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "motorpool_http_request_seconds", Help: "Time from a request's arrival to the end of its answer.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"method", "route"}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "motorpool_http_requests_running", Help: "Requests being answered now, streams among them.",
		}),
	}
	for _, c := range []prometheus.Collector{m.requests, m.seconds, m.running} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}

// methods are the method labels; whatever else a client makes up is counted as "other".
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
	http.MethodDelete, http.MethodOptions}

func (m *metrics) note(method, route string, status int, took time.Duration) {
	if !slices.Contains(methods, method) {
		method = "other"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(method, route).Observe(took.Seconds())
}
