package pipeline

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/consume"
)

// monthsBefore is the first instant of the month that is n before that of begin. Days of a month are not counted back
// by months: from the 29th on, February has none of that number.
func monthsBefore(n int) fleet.Millis {
	at := begin.Time().UTC()
	return fleet.MillisOf(time.Date(at.Year(), at.Month()-time.Month(n), 1, 0, 0, 0, 0, time.UTC))
}

// ofMonths is a batch of one fix in each of n months, the newest last.
func ofMonths(n int) *consume.Batch {
	var values []string
	for i := range n {
		values = append(values, fmt.Sprintf(`{"device":"%s","fix_at":%d,"lat":48,"lng":11.5,"signals":{"soc_pct":50,"fuel_level_pct":-700,"nonsense":1}}`,
			unique(1), monthsBefore(n-1-i)))
	}
	return batchOf(0, values...)
}

// An insert that makes a part in each of three hundred months leaves room for thirty others in the window
// of ten thousand.
func TestABatchOfManyMonthsIsStoredAFewMonthsAtATime(t *testing.T) {
	b := newBench(t)
	registry := prometheus.NewRegistry()
	b.deps.Metrics = NewMetrics(registry)
	b.register(1)
	const months = 60
	batch := ofMonths(months)
	var reached []int64
	batch.Reached = func(_ context.Context, next int64) error {
		reached = append(reached, next)
		return nil
	}
	b.handle(b.chain(), batch)
	if n := b.count("count() FROM positions"); n != months {
		t.Errorf("%d positions", n)
	}
	if n := b.count("max(n) FROM (SELECT uniqExact(toYYYYMM(p.fix_time)) AS n FROM positions AS p CROSS JOIN ingest_outcomes AS o " +
		"WHERE p.source_offset BETWEEN o.first_offset AND o.last_offset GROUP BY o.first_offset)"); n > partMonths || n < 2 {
		t.Errorf("an insert spans %d months", n)
	}
	if n := b.count("sum(read) FROM ingest_outcomes"); n != months {
		t.Errorf("%d reports were counted", n)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "motorpool_signals_dropped_total" {
			continue
		}
		for _, m := range f.GetMetric() { // of both reasons
			if n := m.GetCounter().GetValue(); n != months {
				t.Errorf("%v signals were dropped: %v", n, m.GetLabel())
			}
		}
	}
	// The first is of one month less: what was heard of it is of the month of its receipt.
	if len(reached) != (months-1)/(partMonths-1) || reached[0] != partMonths-1 {
		t.Errorf("reached %v", reached)
	}
}

// A device's own clock dates what it measured without a fix.
func TestMonthsOfDevicesClocksCountToo(t *testing.T) {
	var m months
	for i := range partMonths {
		if !m.add([]fleet.Report{{FixTime: begin, DeviceTime: monthsBefore(i)}}) {
			t.Fatalf("no room for month %d", i)
		}
	}
	if m.add([]fleet.Report{{FixTime: begin, DeviceTime: monthsBefore(partMonths)}}) {
		t.Error("room for one month more")
	}
}

// The window is made as small as it would be for a batch of thousands of parts.
func TestABatchOfManyMonthsThatIsCutOffIsStoredOnce(t *testing.T) {
	b := newBench(t)
	b.register(1)
	for _, table := range []string{"positions", "positions_by_cell", "telemetry"} {
		for _, sql := range []string{"SYSTEM STOP MERGES ", "ALTER TABLE "} {
			if sql += table; sql[0] == 'A' {
				sql += fmt.Sprintf(" MODIFY SETTING non_replicated_deduplication_window = %d", 2*partMonths)
			}
			if err := b.db.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
	}
	const months = 40
	batch := ofMonths(months)
	rest := *batch
	batch.Reached = func(_ context.Context, next int64) error {
		rest.First, rest.Records = next, batch.Records[next:]
		if next >= months/2 {
			b.refuse = errors.New("killed before the states") // of the next part, of which the rows are stored
		}
		return nil
	}
	if err := b.chain().Handle(t.Context(), batch); err == nil {
		t.Fatal("nothing was cut off")
	}
	b.handle(b.chain(), &rest)
	for _, table := range []string{"positions", "positions_by_cell", "telemetry FINAL"} {
		if rows := b.count("count() FROM " + table); rows != months {
			t.Errorf("%s has %d rows, want %d", table, rows, months)
		}
	}
	if n := b.count("sum(stored) FROM ingest_outcomes"); n != months {
		t.Errorf("%d reports count as stored", n)
	}
}
