package webhook

import "github.com/prometheus/client_golang/prometheus"

// Metrics counts what becomes of deliveries. One registerer takes one.
type Metrics struct {
	dispatched prometheus.Counter
	broken     prometheus.Counter
	settled    *prometheus.CounterVec
	attempts   *prometheus.CounterVec
	delay      prometheus.Histogram
	inFlight   prometheus.Gauge
	inHand     prometheus.Gauge
	endpoints  prometheus.Gauge
}

// NewMetrics registers the metrics.
func NewMetrics(registerer prometheus.Registerer) *Metrics {
	m := &Metrics{
		dispatched: prometheus.NewCounter(prometheus.CounterOpts{Name: "motorpool_webhook_dispatched_total",
			Help: "Events that were found to be for an endpoint, once for each, with repetitions."}),
		broken: prometheus.NewCounter(prometheus.CounterOpts{Name: "motorpool_webhook_undecodable_total",
			Help: "Records of the topic of deliveries that are none."}),
		settled: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "motorpool_webhook_deliveries_total",
			Help: "Deliveries that came to an end, by what became of them."}, []string{"status"}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "motorpool_webhook_attempts_total",
			Help: "Requests to endpoints: whether they were answered, and how."}, []string{"answer"}),
		delay: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "motorpool_webhook_delay_seconds",
			Help:    "From when an event was noted to when an endpoint had it at the first attempt.",
			Buckets: []float64{.05, .1, .2, .5, 1, 2, 5, 10, 30, 60}}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "motorpool_webhook_in_flight",
			Help: "Requests that are under way."}),
		inHand: prometheus.NewGauge(prometheus.GaugeOpts{Name: "motorpool_webhook_in_memory",
			Help: "Deliveries in memory; the others that are not settled wait in the store."}),
		endpoints: prometheus.NewGauge(prometheus.GaugeOpts{Name: "motorpool_webhook_endpoints",
			Help: "Endpoints for which this process has, or had, something since it owns them."}),
	}
	registerer.MustRegister(m.dispatched, m.broken, m.settled, m.attempts, m.delay, m.inFlight, m.inHand, m.endpoints)
	return m
}

// answered is how an attempt is counted.
func answered(a *Attempt) string {
	switch {
	case a.Status == 0 && a.ours:
		return "unsent"
	case a.Status == 0:
		return "none"
	}
	return string('0'+byte(a.Status/100%10)) + "xx"
}
