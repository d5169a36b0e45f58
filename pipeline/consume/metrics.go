package consume

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the counters of one consumer; all carry the label group.
type metrics struct {
	records, batches, commits, commitErrors *prometheus.CounterVec
	replans, outOfRange, poison             *prometheus.CounterVec
	fetchErrors, handleErrors               *prometheus.CounterVec
	joinErrors                              prometheus.Counter
	batchRows, handleSeconds                *prometheus.HistogramVec
	lag                                     *prometheus.GaugeVec
}

func newMetrics(group string, registerer prometheus.Registerer) (*metrics, error) {
	labels := prometheus.Labels{"group": group}
	var all []prometheus.Collector
	counter := func(name, help string, further ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "motorpool", Subsystem: "consume", Name: name, Help: help, ConstLabels: labels,
		}, append([]string{"topic"}, further...))
		all = append(all, c)
		return c
	}
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "motorpool", Subsystem: "consume", Name: name, Help: help, ConstLabels: labels, Buckets: buckets,
		}, []string{"topic"})
		all = append(all, h)
		return h
	}
	m := &metrics{
		records:      counter("records_total", "Records that were handled."),
		batches:      counter("batches_total", "Batches that were handled."),
		commits:      counter("commits_total", "Offsets and plans that were committed."),
		commitErrors: counter("commit_errors_total", "Commits that were refused or given up."),
		replans:      counter("replans_total", "Planned batches that were formed again after a crash or a rebalance."),
		outOfRange:   counter("out_of_range_total", "Times that records to be read were no longer in the log."),
		poison:       counter("poison_total", "Record batches that could not be read, with repetitions.", "reason"),
		fetchErrors:  counter("fetch_errors_total", "Fetches that failed or could not be read."),
		handleErrors: counter("handle_errors_total", "Errors of the handler."),
		batchRows:    histogram("batch_rows", "Records of a handled batch.", prometheus.ExponentialBuckets(1, 4, 10)),
		handleSeconds: histogram("handle_seconds", "Time to handle a batch, with repetitions.",
			prometheus.ExponentialBuckets(0.002, 2, 14)),
		joinErrors: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "motorpool", Subsystem: "consume", Name: "join_errors_total",
			Help: "Failures to join the consumer group.", ConstLabels: labels,
		}),
		lag: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "motorpool", Subsystem: "consume", Name: "lag",
			Help:        "Records of a partition that are not yet handled, for the partitions that this member owns.",
			ConstLabels: labels,
		}, []string{"topic", "partition"}),
	}
	for _, c := range append(all, m.joinErrors, m.lag) {
		if err := registerer.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) handled(topic string, rows int, took time.Duration) {
	m.records.WithLabelValues(topic).Add(float64(rows))
	m.batches.WithLabelValues(topic).Inc()
	m.batchRows.WithLabelValues(topic).Observe(float64(rows))
	m.handleSeconds.WithLabelValues(topic).Observe(took.Seconds())
}

// partitionLag keeps the lag gauge of one partition.
type partitionLag struct {
	end    atomic.Int64 // The log's end as last seen; written by the fetching goroutine.
	next   atomic.Int64 // The next offset to handle; written by the handling goroutine.
	gauge  prometheus.Gauge
	forget func()
}

func newPartitionLag(m *metrics, topic string, partition int) *partitionLag {
	labels := []string{topic, strconv.Itoa(partition)}
	return &partitionLag{
		gauge:  m.lag.WithLabelValues(labels...),
		forget: func() { m.lag.DeleteLabelValues(labels...) },
	}
}

func (l *partitionLag) sawEnd(end int64)       { l.end.Store(end); l.update() }
func (l *partitionLag) committed(offset int64) { l.next.Store(offset); l.update() }

func (l *partitionLag) update() { l.gauge.Set(float64(max(l.end.Load()-l.next.Load(), 0))) }
