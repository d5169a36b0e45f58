package codec

import (
	"fmt"
	"math"
	"testing"

	"github.com/motorpool/fleet"
)

// sampleReports makes reports of a small fleet, as a tracker of the better kind sends them.
func sampleReports(n int) []fleet.Report {
	reports := make([]fleet.Report, n)
	for i := range reports {
		r := fleet.NewReport()
		r.UniqueID = fmt.Sprintf("86%013d", i%500)
		r.FixTime = 1769850902000 + fleet.Millis(i)*1000
		r.Positioned = true
		r.Lat, r.Lng = math.Round(4.81e8+float64(i%977)*13700)/1e7, math.Round(1.15e8+float64(i%1013)*17100)/1e7
		r.Altitude = float64(500 + i%50)
		r.Speed = float64(i%300) / 10
		r.Course = float64(i % 360)
		r.Accuracy = float64(3 + i%9)
		r.Satellites = 7 + i%9
		r.Ignition = fleet.TriOf(i%5 != 0)
		reports[i] = r
	}
	return reports
}

// withSignals adds four measurements to each report.
func withSignals(reports []fleet.Report) []fleet.Report {
	for i := range reports {
		reports[i].Signals = []fleet.SignalValue{
			{Signal: fleet.MustSignal("soc_pct"), Value: float64(i%1000) / 10},
			{Signal: fleet.MustSignal("traction_voltage_v"), Value: 380 + float64(i%40)},
			{Signal: fleet.MustSignal("ambient_temp_c"), Value: float64(i%30) - 5.5},
			{Signal: fleet.MustSignal("battery_v"), Value: 12.6},
		}
	}
	return reports
}

// benchmarkRecords decodes records over and over; a row is one report.
func benchmarkRecords(b *testing.B, f Format, records [][]byte, rows int) {
	d := NewDecoder()
	var dst []fleet.Report
	bytes := 0
	for _, record := range records {
		bytes += len(record)
	}
	b.SetBytes(int64(bytes / rows))
	b.ReportAllocs()
	done := 0
	for done < b.N {
		d.Reset()
		dst = dst[:0]
		for _, record := range records {
			var err error
			if dst, err = d.Decode(f, record, dst); err != nil {
				b.Fatal(err)
			}
		}
		done += rows
	}
	b.ReportMetric(float64(done)/b.Elapsed().Seconds(), "rows/s")
}

func recordsOf(reports []fleet.Report) [][]byte {
	records := make([][]byte, len(reports))
	for i := range reports {
		records[i] = AppendReport(nil, &reports[i])
	}
	return records
}

func BenchmarkDecodeJSON(b *testing.B) {
	benchmarkRecords(b, JSON, recordsOf(sampleReports(4096)), 4096)
}

func BenchmarkDecodeJSONSignals(b *testing.B) {
	benchmarkRecords(b, JSON, recordsOf(withSignals(sampleReports(4096))), 4096)
}

func BenchmarkDecodeArrow(b *testing.B) {
	record, err := EncodeArrow(sampleReports(4096))
	if err != nil {
		b.Fatal(err)
	}
	benchmarkRecords(b, Arrow, [][]byte{record}, 4096)
}

func BenchmarkDecodeArrowSignals(b *testing.B) {
	record, err := EncodeArrow(withSignals(sampleReports(4096)))
	if err != nil {
		b.Fatal(err)
	}
	benchmarkRecords(b, Arrow, [][]byte{record}, 4096)
}

func BenchmarkAppendReport(b *testing.B) {
	reports := sampleReports(4096)
	var out []byte
	b.ReportAllocs()
	for i := range b.N {
		out = AppendReport(out[:0], &reports[i%len(reports)])
	}
	b.SetBytes(int64(len(out)))
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
