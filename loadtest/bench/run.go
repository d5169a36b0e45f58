package bench

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/motorpool/fleet/loadtest/system"
)

const pollEvery = 100 * time.Millisecond

// Options say how much to measure.
type Options struct {
	Fixes        int // of the ingest comparison; 0 leaves out all that goes through Kafka
	Vehicles     int
	FencesWithin float64 // km from the middle of the simulated city, within which the fleet stays too
	Rounds       int
	Latency      time.Duration // how long the latency is watched; 0 leaves it out
	Sizes        bool
	Stored       StoredOptions
}

// Run measures and writes a report in Markdown. It has the system to itself.
func Run(ctx context.Context, s *system.System, o Options, report io.Writer) error {
	if o.Fixes > 0 {
		if err := fed(ctx, s, o, report); err != nil {
			return err
		}
	}
	if o.Stored.Fixes > 0 {
		return Stored(ctx, s, o.Stored, report)
	}
	return nil
}

// fed measures what goes through Kafka.
func fed(ctx context.Context, s *system.System, o Options, report io.Writer) error {
	serve, err := s.Start("serve")
	if err != nil {
		return err
	}
	defer func() { _, _, _ = serve.Stop() }()
	c, err := connect(ctx, s)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Log, "registering %d vehicles\n", o.Vehicles+1)
	ids, err := c.register(ctx, o.Vehicles+1)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Log, "laying down %d geofences within %.0f km and %d rules\n", benchFences, o.FencesWithin,
		len(benchRules))
	if err := c.layDown(ctx, s, o.FencesWithin*1000); err != nil {
		return err
	}
	ingest, err := Ingest(ctx, s, o.Fixes, o.Vehicles, o.Rounds, o.FencesWithin*1000)
	if err != nil {
		return err
	}
	fmt.Fprintf(report, "## JSON ingest against ClickHouse's Kafka engine\n\n%d fixes of %d vehicles, one record each, 4 partitions, in turn:\n\n",
		o.Fixes, o.Vehicles)
	fmt.Fprint(report, "| round | all steps, stored, fixes/s | derived, fixes/s | without deriving, fixes/s | Kafka engine, fixes/s | all steps / engine | all steps / without | derived / without |\n"+
		"| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	peak := 0.0
	for i := range ingest.Ours {
		fmt.Fprintf(report, "| %d | %.0f | %.0f | %.0f | %.0f | %.2f | %.2f | %.2f |\n", i+1, ingest.Ours[i],
			ingest.Derived[i], ingest.Sink[i], ingest.KafkaEngine[i], ingest.Ours[i]/ingest.KafkaEngine[i],
			ingest.Ours[i]/ingest.Sink[i], ingest.Derived[i]/ingest.Sink[i])
		peak = max(peak, ingest.Ours[i])
	}
	found, err := counts(ctx, s)
	if err != nil {
		return err
	}
	fmt.Fprintf(report, "\nMedian ratio %.2f, with %d geofences within %.0f km of the city's middle and %d rules; %s were derived. The pipeline used %.2f µs of processor time a fix and %.0f MB at the most.\n"+
		"Simulated fixes take %.1f bytes each in positions.\n\n",
		ingest.Ratio(), benchFences, o.FencesWithin, len(benchRules), found, ingest.OursCPU.Seconds()*1e6/float64(o.Fixes),
		float64(ingest.OursMemory)/1e6, ingest.BytesPerFix)
	if o.Latency > 0 {
		l, err := Latency(ctx, s, c, groupFlag(o.Rounds-1), ids, peak/2, o.Latency)
		if err != nil {
			return err
		}
		fmt.Fprintf(report, "## From Kafka to visible through the interface\n\n%d probes under a load of %.0f fixes/s, half of the peak: p50 %d ms, p90 %d ms, p99 %d ms.\n\n",
			l.Probes, l.Rate, l.P50.Milliseconds(), l.P90.Milliseconds(), l.P99.Milliseconds())
	}
	if o.Sizes {
		return reportSizes(ctx, s, groupFlag(o.Rounds-1), report)
	}
	return nil
}

func reportSizes(ctx context.Context, s *system.System, group string, report io.Writer) error {
	folders, err := filepath.Glob("../shared/data/*")
	if err != nil {
		return err
	}
	if len(folders) == 0 {
		folders = []string{"deploy/demo/recordings"}
	}
	sizes, err := Sizes(ctx, s, group, folders)
	if err != nil {
		return err
	}
	fmt.Fprint(report, "## Bytes on disk of a position\n\n| recording | positions | bytes each |\n| --- | --- | --- |\n")
	var bytes, positions float64
	for _, r := range sizes {
		bytes, positions = bytes+r.Bytes*float64(r.Positions), positions+float64(r.Positions)
		fmt.Fprintf(report, "| %s | %d | %.1f |\n", r.Recording, r.Positions, r.Bytes)
	}
	_, err = fmt.Fprintf(report, "\nAll together %.1f bytes each.\n", bytes/positions)
	return err
}
