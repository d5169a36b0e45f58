package pipeline

import (
	"fmt"
	"testing"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/sink"
)

const benchRows = 32768

// BenchmarkSink inserts batches of positions, each with its token, into the real server.
func BenchmarkSink(b *testing.B) {
	bench := newBench(b)
	rows := sink.NewBatch(bench.db, "positions", 0)
	p := fleet.Position{Account: 7, Device: 1000, Lat: 48.1, Lng: 11.5, Altitude: 500, Speed: 10, Course: 90, Accuracy: 5,
		Odometer: 1000, Satellites: 9}
	b.ReportAllocs()
	round := 0
	for ; b.Loop(); round++ {
		rows.Reset()
		for i := range benchRows {
			p.Vehicle = fleet.VehicleID(1 + i%1000)
			p.FixTime = begin + fleet.Millis(round*benchRows+i)
			p.DeviceTime, p.ReceivedTime = p.FixTime, p.FixTime+400
			p.Lat, p.Cell = 48+float64(i%1000)*1e-4, fleet.Cell(617550903642685439+i%100)
			rows.Position(&p, int64(round*benchRows+i))
		}
		if err := rows.Flush(b.Context(), fmt.Sprintf("bench/%d", round)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*benchRows/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkChain works batches of JSON records through: decode, device, classify, cell, signals, sink.
func BenchmarkChain(b *testing.B) {
	bench := newBench(b)
	bench.register(1000)
	chain := bench.chain()
	report := fleet.NewReport()
	report.Positioned, report.Speed, report.Course, report.Odometer, report.Ignition = true, 12.5, 181.5, 1000, fleet.Yes
	batch := &consume.Batch{Topic: "positions"}
	b.ReportAllocs()
	round := 0
	for ; b.Loop(); round++ {
		b.StopTimer()
		batch.Records = batch.Records[:0]
		batch.First = int64(round * benchRows)
		batch.Last = batch.First + benchRows - 1
		for i := range benchRows {
			turn := round*benchRows/1000 + i/1000
			report.UniqueID = unique(1 + i%1000)
			report.FixTime = begin + fleet.Millis(turn)*10_000
			report.Lat, report.Lng = 48+float64(i%1000)*1e-3+float64(turn%900)*1e-3, 11.5
			batch.Records = append(batch.Records, consume.Record{
				Offset: batch.First + int64(i), Time: report.FixTime + 500, Value: codec.AppendReport(nil, &report),
			})
		}
		b.StartTimer()
		if err := chain.Handle(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*benchRows/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/benchRows, "ns/row")
}
