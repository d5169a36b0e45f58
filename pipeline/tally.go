package pipeline

import (
	"maps"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/fix"
	"github.com/motorpool/fleet/pipeline/sink"
)

// tally counts what becomes of a batch's reports, for each account and run.
type tally struct {
	outcomes         []sink.Outcome
	index            map[counted]int       // of outcomes
	last             int                   // the outcome that was counted last; most batches have few
	devices          map[deviceCounted]int // of the outcome's Devices
	flags            [32]uint64
	dropped, unknown uint64 // signals
}

// counted is what an outcome is of. A run is whatever a producer says, and accounts are many.
type counted struct {
	account fleet.AccountID
	run     string
}

// deviceCounted is what an outcome of one device is of.
type deviceCounted struct {
	device  fleet.DeviceID
	quarter fleet.Millis
	outcome string
	of      counted
}

func (t *tally) reset() {
	if len(t.index) > 64 {
		t.index = nil
	}
	if len(t.devices) > 4096 {
		t.devices = nil
	}
	clear(t.index)
	clear(t.devices)
	*t = tally{outcomes: t.outcomes[:0], index: t.index, devices: t.devices}
}

// outcome returns the counts of an account and run.
func (t *tally) outcome(account fleet.AccountID, run string) *sink.Outcome {
	if t.last < len(t.outcomes) {
		if o := &t.outcomes[t.last]; o.Account == account && o.Run == run {
			return o
		}
	}
	key := counted{account, run}
	at, ok := t.index[key]
	if !ok {
		if t.index == nil {
			t.index = make(map[counted]int)
		}
		at = len(t.outcomes)
		t.index[key] = at
		t.outcomes = append(t.outcomes, sink.Outcome{Account: account, Run: run, Refused: map[string]int64{}})
	}
	t.last = at
	return &t.outcomes[t.last]
}

func (t *tally) refuse(account fleet.AccountID, run string, reason fleet.Refusal) {
	o := t.outcome(account, run)
	o.Read++
	o.Refused[string(reason)]++
}

// measured is the outcome of a report of which only measurements are stored.
const measured = "measured"

// device counts what became of a report of a known device that is not stored as a position.
func (t *tally) device(d *fleet.Device, run string, received fleet.Millis, outcome string) {
	if received == 0 {
		return // on no day
	}
	const quarter = fleet.Millis(15 * time.Minute / time.Millisecond)
	o := t.outcome(d.Account, run)
	key := deviceCounted{device: d.ID, quarter: received - received%quarter, outcome: outcome, of: counted{d.Account, run}}
	at, ok := t.devices[key]
	if !ok {
		if t.devices == nil {
			t.devices = make(map[deviceCounted]int)
		}
		at = len(o.Devices)
		t.devices[key] = at
		o.Devices = append(o.Devices, sink.DeviceOutcome{Device: d.ID, Quarter: key.quarter, Outcome: outcome})
	}
	o.Devices[at].Count++
}

func (t *tally) store(account fleet.AccountID, run string, flags fleet.Flags) {
	o := t.outcome(account, run)
	o.Read++
	o.Stored++
	for bit := range fleet.FlagNames {
		if flags&(1<<bit) != 0 {
			t.flags[bit]++
		}
	}
}

// release counts a report that was kept apart and came back: it moves from nobody's account to its device's.
func (t *tally) release(run string) {
	o := t.outcome(0, run)
	o.Read--
	o.Refused[string(fleet.RefusedUnknownDevice)]--
}

// addOutcomes adds the outcomes to the rows, as those of a batch.
func (t *tally) addOutcomes(b *consume.Batch, rows *sink.Batch) {
	at := fix.Received(b.Records[len(b.Records)-1].Time)
	if at == 0 {
		at = fleet.MillisOf(time.Now()) // or it would expire at once
	}
	for _, o := range t.outcomes {
		o.First, o.Last, o.At = b.First, b.Last, at
		maps.DeleteFunc(o.Refused, func(_ string, n int64) bool { return n == 0 })
		rows.Outcome(o)
	}
}

// Metrics are the counters of the chains of a process.
type Metrics struct {
	reads    prometheus.Counter
	stored   prometheus.Counter
	flagged  *prometheus.CounterVec
	refused  *prometheus.CounterVec
	signals  prometheus.Counter
	dropped  *prometheus.CounterVec
	released prometheus.Counter

	working atomic.Int32 // chains that have a batch in hand
}

// Working says whether any chain has a batch in hand.
func (m *Metrics) Working() bool { return m.working.Load() > 0 }

// NewMetrics registers the counters.
func NewMetrics(r prometheus.Registerer) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		r.MustRegister(c)
		return c
	}
	vector := func(name, help, label string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
		r.MustRegister(v)
		return v
	}
	m := &Metrics{
		reads:    counter("motorpool_reports_read_total", "Reports that were worked through, those of repeated batches too."),
		stored:   counter("motorpool_reports_stored_total", "Reports that were stored."),
		flagged:  vector("motorpool_positions_flagged_total", "Positions that were stored with a flag.", "flag"),
		refused:  vector("motorpool_reports_refused_total", "Reports that were refused.", "reason"),
		signals:  counter("motorpool_signals_stored_total", "Measurements that were stored."),
		dropped:  vector("motorpool_signals_dropped_total", "Measurements that were left out.", "reason"),
		released: counter("motorpool_reports_released_total", "Reports that were kept apart and published again."),
	}
	for _, reason := range fleet.Refusals {
		m.refused.WithLabelValues(string(reason))
	}
	for _, flag := range fleet.FlagNames {
		m.flagged.WithLabelValues(flag)
	}
	return m
}

// count adds a finished batch to the counters.
func (t *tally) count(m *Metrics, signals int) {
	for _, o := range t.outcomes {
		m.reads.Add(float64(max(0, o.Read)))
		m.stored.Add(float64(o.Stored))
		for reason, n := range o.Refused {
			m.refused.WithLabelValues(reason).Add(float64(max(0, n)))
		}
	}
	for bit, name := range fleet.FlagNames {
		if n := t.flags[bit]; n > 0 {
			m.flagged.WithLabelValues(name).Add(float64(n))
		}
	}
	m.signals.Add(float64(signals))
	m.dropped.WithLabelValues("out_of_range").Add(float64(t.dropped))
	m.dropped.WithLabelValues("unknown").Add(float64(t.unknown))
}
