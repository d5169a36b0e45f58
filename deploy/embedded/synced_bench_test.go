package embedded_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/motorpool/fleet/deploy/embedded"
)

// BenchmarkAcknowledge is how fast one record after the other is acknowledged, by so many producers at once.
func BenchmarkAcknowledge(b *testing.B) {
	for _, synced := range []bool{false, true} {
		for _, producers := range []int{1, 16} {
			b.Run(fmt.Sprintf("sync=%v/producers=%d", synced, producers), func(b *testing.B) {
				broker, err := embedded.StartBroker(embedded.BrokerConfig{Dir: b.TempDir(), Sync: synced})
				if err != nil {
					b.Fatal(err)
				}
				defer broker.Stop()
				client := &kafka.Client{Addr: kafka.TCP(broker.Addr())}
				if _, err := client.CreateTopics(b.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
					Topic: "positions", NumPartitions: 4, ReplicationFactor: 1}}}); err != nil {
					b.Fatal(err)
				}
				b.SetParallelism(producers / 2)
				b.ResetTimer()
				began := time.Now()
				b.RunParallel(func(pb *testing.PB) {
					partition := int(time.Now().UnixNano()/1000) % 4
					for pb.Next() {
						res, err := client.Produce(b.Context(), &kafka.ProduceRequest{
							Topic: "positions", Partition: partition, RequiredAcks: kafka.RequireAll,
							Records: kafka.NewRecordReader(kafka.Record{Value: kafka.NewBytes(make([]byte, 300))}),
						})
						if err == nil {
							err = res.Error
						}
						if err != nil {
							b.Error(err)
							return
						}
					}
				})
				b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "records/s")
			})
		}
	}
}
