package roster

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what a roster tells of itself.
type metrics struct {
	memory    prometheus.Counter // answers
	store     prometheus.Counter // that it left to the store
	loads     prometheus.Counter
	forgotten prometheus.Counter
	changes   prometheus.Counter
	failed    prometheus.Counter
	kept      prometheus.Counter // facts of vehicles
	read      prometheus.Counter
	ready     prometheus.Counter // pieces
	made      prometheus.Counter
}

func (m *metrics) facts(kept, read int) {
	m.kept.Add(float64(kept))
	m.read.Add(float64(read))
}

func (m *metrics) answered(memory bool) {
	if memory {
		m.memory.Inc()
	} else {
		m.store.Inc()
	}
}

func newMetrics(registerer prometheus.Registerer, r *Roster) (*metrics, error) {
	counter := func(name, help string, labels prometheus.Labels) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "motorpool", Subsystem: "roster", Name: name,
			Help: help, ConstLabels: labels})
	}
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "motorpool", Subsystem: "roster", Name: name,
			Help: help}, value)
	}
	const answers = "Questions for records that are kept in memory, by what answered."
	const facts = "Facts of vehicles beside their records, by what told them."
	const pieces = "Records that were answered, by whether they were ready to be sent."
	m := &metrics{
		kept:      counter("facts_total", facts, prometheus.Labels{"from": "memory"}),
		read:      counter("facts_total", facts, prometheus.Labels{"from": "store"}),
		ready:     counter("pieces_total", pieces, prometheus.Labels{"from": "memory"}),
		made:      counter("pieces_total", pieces, prometheus.Labels{"from": "making"}),
		memory:    counter("answers_total", answers, prometheus.Labels{"from": "memory"}),
		store:     counter("answers_total", answers, prometheus.Labels{"from": "store"}),
		loads:     counter("loads_total", "Times that an account's records of a kind were brought to memory.", nil),
		forgotten: counter("forgotten_total", "Times that they were let go of.", nil),
		changes:   counter("changes_total", "Revisions that looks at the store have found.", nil),
		failed:    counter("failures_total", "Looks and loads that failed.", nil),
	}
	for _, c := range []prometheus.Collector{m.memory, m.store, m.loads, m.forgotten, m.changes, m.failed, m.kept, m.read,
		m.ready, m.made,
		gauge("bytes", "Memory that records take, about.", func() float64 { return float64(r.bytes.Load()) }),
		gauge("records", "Records in memory.", func() float64 { return float64(r.records.Load()) }),
		gauge("lag_seconds", "How old the newest look at the store is; 0 while nobody asks.",
			func() float64 { return r.Lag().Seconds() }),
	} {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("roster metrics: %w", err)
		}
	}
	return m, nil
}
