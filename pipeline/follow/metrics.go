package follow

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the counters of the owners of a process.
type Metrics struct {
	changes   prometheus.Counter
	broken    prometheus.Counter
	forwarded prometheus.Counter
	inputs    prometheus.Counter
	unpacked  *prometheus.CounterVec
	repairs   prometheus.Counter
	seconds   prometheus.Histogram
	span      prometheus.Histogram
	rewinds   prometheus.Counter
	events    prometheus.Counter
	rows      prometheus.Counter
	unwritten prometheus.Counter
	dirty     prometheus.Gauge
	vehicles  prometheus.Gauge
	lag       prometheus.Histogram
}

// NewMetrics registers the counters.
func NewMetrics(r prometheus.Registerer) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		r.MustRegister(c)
		return c
	}
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
		r.MustRegister(g)
		return g
	}
	histogram := func(name, help string, first, factor float64, n int) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help,
			Buckets: prometheus.ExponentialBuckets(first, factor, n)})
		r.MustRegister(h)
		return h
	}
	unpacked := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "motorpool_follow_unpacked_total",
		Help: "Vehicles whose inputs came with their changes, and whether those could be used.",
	}, []string{"used"})
	r.MustRegister(unpacked)
	return &Metrics{
		changes: counter("motorpool_follow_changes_total", "Changes that were taken from their topic, with repetitions."),
		broken:  counter("motorpool_follow_undecodable_total", "Records of the topic of changes that are no changes."),
		forwarded: counter("motorpool_follow_forwarded_total",
			"Changes that were on another partition than their vehicle's, and were put there."),
		inputs: counter("motorpool_follow_inputs_total",
			"Fixes and measurements that were derived from, with repetitions."),
		unpacked: unpacked,
		repairs:  counter("motorpool_follow_repairs_total", "Spans that were derived again by the repair lane."),
		seconds:  histogram("motorpool_follow_repair_seconds", "How long a repair took.", 0.01, 4, 9),
		span:     histogram("motorpool_follow_repair_span_seconds", "Event time that a repair went through.", 60, 8, 9),
		rewinds: counter("motorpool_follow_rewinds_total",
			"Changes behind the state that a snapshot in memory was enough for."),
		events: counter("motorpool_follow_events_total", "Events that were published, with repetitions."),
		rows:   counter("motorpool_follow_rows_total", "Rows of derivations that were written."),
		unwritten: counter("motorpool_follow_unwritable_total",
			"Derived things that could not be written as JSON: a fault of a detector."),
		dirty:    gauge("motorpool_follow_dirty_vehicles", "Vehicles that wait for a repair."),
		vehicles: gauge("motorpool_follow_vehicles", "Vehicles in memory."),
		lag: histogram("motorpool_follow_lag_seconds",
			"Time from a change's record to its end in the live lane.", 0.01, 3, 12),
	}
}
