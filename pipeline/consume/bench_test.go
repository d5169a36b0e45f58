package consume

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
)

const benchRecords = 1_000_000

// benchTopic fills a topic with records of 200 bytes of JSON.
func benchTopic(b *testing.B, client *kafka.Client, partitions int, c kafka.Compression) string {
	b.Helper()
	topic := createTopic(b, client, partitions)
	const perBatch = 2500
	for n := 0; n < benchRecords; n += perBatch {
		records := make([]kafka.Record, perBatch)
		for i := range records {
			value := fmt.Sprintf(`{"device":"8628%011d","fix_at":%d,"lat":%.6f,"lng":%.6f,"speed_mps":%.1f,"course_deg":%d,`,
				(n+i)%100_000, 1_750_000_000_000+int64(n+i), 48+float64((n+i)%10007)*1e-4, 11+float64((n+i)%9973)*1e-4,
				float64((n+i)%30), (n+i)%360)
			value += `"satellites":9,"ignition":true,"motion":true,"signals":{"soc_pct":71.5,"odometer_m":48123456,` +
				strings.Repeat(" ", max(0, 200-len(value)-88)) + `"rssi":1}}`
			records[i] = kafka.Record{
				Time: time.UnixMilli(1_750_000_000_000 + int64(n+i)), Key: kafka.NewBytes([]byte(value[11:26])),
				Value:   kafka.NewBytes([]byte(value)),
				Headers: []kafka.Header{{Key: "content-type", Value: []byte("application/json")}},
			}
		}
		produceRecords(b, client, topic, n/perBatch%partitions, c, records)
	}
	return topic
}

// BenchmarkConsume is fetching, batching and committing with a handler that does nothing; the broker is another
// process. records/cpu-s is what one core of this process would do.
func BenchmarkConsume(b *testing.B) {
	for _, bench := range []struct {
		name       string
		partitions int
		c          kafka.Compression
	}{{"partitions=1", 1, 0}, {"partitions=4", 4, 0}, {"partitions=4/lz4", 4, kafka.Lz4},
		{"partitions=4/zstd", 4, kafka.Zstd}} {
		b.Run(bench.name, func(b *testing.B) {
			p := newProcess(b, startBrokerProcess(b))
			topic := benchTopic(b, p.client, bench.partitions, bench.c)
			measure(b, func() {
				var seen, bytes atomic.Int64
				all := make(chan struct{})
				r := start(b, testConfig(b), newProcess(b, p.client.Addr.String()), []string{topic}, func(string, int) Handler {
					return handle(func(_ context.Context, batch *Batch) error {
						n := 0
						for i := range batch.Records {
							n += len(batch.Records[i].Value)
						}
						bytes.Add(int64(n))
						if seen.Add(int64(len(batch.Records))) == benchRecords {
							close(all)
						}
						return nil
					})
				})
				<-all
				r.stop()
				<-r.done
			})
		})
	}
}

// BenchmarkFetchPaths compares what reads a partition: kafka-go's two decoders and ours.
func BenchmarkFetchPaths(b *testing.B) {
	p := newProcess(b, startBrokerProcess(b))
	topic := benchTopic(b, p.client, 1, 0)
	b.Run("Client.Fetch", func(b *testing.B) {
		value := make([]byte, 4096)
		measure(b, func() {
			for offset := int64(0); offset < benchRecords; {
				res, err := p.client.Fetch(b.Context(),
					&kafka.FetchRequest{Topic: topic, Offset: offset, MinBytes: 1, MaxBytes: 2 << 20, MaxWait: time.Second})
				if err != nil {
					b.Fatal(err)
				}
				for {
					r, err := res.Records.ReadRecord()
					if err != nil {
						break
					}
					offset = r.Offset + 1
					_, _ = r.Value.Read(value)
					_ = r.Key.Close()
					_ = r.Value.Close()
				}
			}
		})
	})
	b.Run("Conn.ReadBatch", func(b *testing.B) {
		measure(b, func() {
			conn, err := p.dialer.DialLeader(b.Context(), "tcp", p.client.Addr.String(), topic, 0)
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close()
			for offset := int64(0); offset < benchRecords; {
				if _, err := conn.Seek(offset, kafka.SeekAbsolute|kafka.SeekDontCheck); err != nil {
					b.Fatal(err)
				}
				batch := conn.ReadBatchWith(kafka.ReadBatchConfig{MinBytes: 1, MaxBytes: 2 << 20, MaxWait: time.Second})
				for {
					m, err := batch.ReadMessage()
					if err != nil {
						break
					}
					offset = m.Offset + 1
				}
				_ = batch.Close()
			}
		})
	})
	b.Run("recordSet", func(b *testing.B) {
		measure(b, func() {
			var set recordSet
			var memory []byte
			buf := newBuffer(topic, 0)
			for offset := int64(0); offset < benchRecords; {
				e := newExchange(topic, 0, offset, 1, 2<<20, time.Second, memory)
				res, err := roundTrip(b.Context(), p.client, e)
				if err != nil {
					b.Fatal(err)
				}
				memory = e.body
				set.reset(res.records, 0, 0)
				for {
					if ok, err := set.open(); !ok || err != nil {
						break
					}
					for set.left > 0 {
						var r Record
						if err := set.read(&r); err != nil {
							b.Fatal(err)
						}
						if r.Offset < offset {
							continue
						}
						r.Key, r.Value = buf.keep(r.Key), buf.keep(r.Value)
						offset = r.Offset + 1
					}
				}
				buf.reset()
			}
		})
	})
}

// measure runs read, which reads benchRecords records, b.N times.
func measure(b *testing.B, read func()) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu := cpuTime(b)
	b.ResetTimer()
	for range b.N {
		read()
	}
	b.StopTimer()
	runtime.ReadMemStats(&after)
	n := float64(b.N) * benchRecords
	b.ReportMetric(n/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(n/(cpuTime(b)-cpu).Seconds(), "records/cpu-s")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/n, "allocs/record")
	b.ReportMetric(0, "ns/op")
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
