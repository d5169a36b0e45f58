package topic

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
)

// BenchmarkPublish publishes reports as the HTTP interface and replays do, 5000 at a time; the broker is
// in the process.
func BenchmarkPublish(b *testing.B) {
	for _, compression := range []string{"none", "lz4", "snappy", "zstd"} {
		b.Run(compression, func(b *testing.B) {
			c := config(b, embeddedtest.Broker(b))
			c.Compression, c.Partitions = compression, 4
			if _, err := Ensure(b.Context(), c); err != nil {
				b.Fatal(err)
			}
			feed := openFeed(b, c)
			reports := make([]fleet.Report, 5000)
			for i := range reports {
				r := fleet.NewReport()
				r.UniqueID, r.Positioned = fmt.Sprintf("8628%011d", i*7919), true
				r.FixTime, r.Lat, r.Lng = fleet.Millis(1_750_000_000_000+i*977), 48+float64(i%997)*1.37e-3,
					11+float64(i%991)*1.73e-3
				r.Speed, r.Course, r.Satellites, r.Ignition, r.Motion = float64(i%30), float64(i%360), i%12, fleet.Yes, fleet.Yes
				r.Signals = []fleet.SignalValue{{Signal: fleet.MustSignal("soc_pct"), Value: float64(i % 100)},
					{Signal: fleet.MustSignal("odometer_m"), Value: float64(i * 1013)}}
				reports[i] = r
			}
			before := cpuTime(b)
			b.ResetTimer()
			for range b.N {
				if err := feed.Publish(b.Context(), c.Positions, reports); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			n := float64(b.N * len(reports))
			b.ReportMetric(n/b.Elapsed().Seconds(), "reports/s")
			b.ReportMetric(n/(cpuTime(b)-before).Seconds(), "reports/cpu-s")
		})
	}
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
