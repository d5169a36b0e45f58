package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/motorpool/fleet/deploy/embedded"
)

func createTopic(t *testing.T, client *kafka.Client, name string, partitions int, configs ...kafka.ConfigEntry) {
	t.Helper()
	resp, err := client.CreateTopics(soon(t), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
		Topic: name, NumPartitions: partitions, ReplicationFactor: 1, ConfigEntries: configs,
	}}})
	if err == nil {
		err = resp.Errors[name]
	}
	if err != nil {
		t.Fatalf("create topic %s: %v", name, err)
	}
}

// produce writes one batch per value, in order, acknowledged.
func produce(t *testing.T, addr, topic string, values ...string) {
	t.Helper()
	w := &kafka.Writer{Addr: kafka.TCP(addr), Topic: topic, RequiredAcks: kafka.RequireAll, BatchSize: 1,
		Balancer: &kafka.Hash{}}
	defer w.Close()
	for _, value := range values {
		if err := w.WriteMessages(soon(t), kafka.Message{Key: []byte("vehicle"), Value: []byte(value)}); err != nil {
			t.Fatalf("produce %s: %v", value, err)
		}
	}
}

// consume reads n values of partition 0 from an offset on.
func consume(t *testing.T, addr, topic string, from int64, n int) []string {
	t.Helper()
	r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{addr}, Topic: topic, MaxWait: 50 * time.Millisecond})
	defer r.Close()
	if err := r.SetOffset(from); err != nil {
		t.Fatal(err)
	}
	var values []string
	for range n {
		m, err := r.ReadMessage(soon(t))
		if err != nil {
			t.Fatalf("after %v: %v", values, err)
		}
		values = append(values, string(m.Value))
	}
	return values
}

func commit(t *testing.T, client *kafka.Client, group, topic string, partition int, offset int64, metadata string) {
	t.Helper()
	resp, err := client.OffsetCommit(soon(t), &kafka.OffsetCommitRequest{
		GroupID: group, GenerationID: -1,
		Topics: map[string][]kafka.OffsetCommit{topic: {{Partition: partition, Offset: offset, Metadata: metadata}}},
	})
	if err == nil {
		err = resp.Topics[topic][0].Error
	}
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
}

func TestRecordsOffsetsAndMetadataSurviveKillOfTheBroker(t *testing.T) {
	dir := t.TempDir()
	addr, kill := startHelper(t, "broker "+dir+" 127.0.0.1:0")
	client := &kafka.Client{Addr: kafka.TCP(addr)}
	createTopic(t, client, "positions", 1)
	produce(t, addr, "positions", "0", "1", "2", "3")
	commit(t, client, "pipeline", "positions", 0, 1, "last=3")
	kill()

	again, _ := startHelper(t, "broker "+dir+" "+addr)
	if again != addr {
		t.Fatalf("restarted on %s, was on %s", again, addr)
	}
	if got := fmt.Sprint(consume(t, addr, "positions", 0, 4)); got != "[0 1 2 3]" {
		t.Errorf("records after the kill: %v", got)
	}
	client = &kafka.Client{Addr: kafka.TCP(addr), Transport: &kafka.Transport{}} // not the dead broker's connections
	resp, err := client.OffsetFetch(soon(t),
		&kafka.OffsetFetchRequest{GroupID: "pipeline", Topics: map[string][]int{"positions": {0}}})
	if err != nil {
		t.Fatal(err)
	}
	p := resp.Topics["positions"][0]
	if p.Error != nil || p.CommittedOffset != 1 || p.Metadata != "last=3" {
		t.Errorf("commit after the kill: offset %d, metadata %q, error %v", p.CommittedOffset, p.Metadata, p.Error)
	}
	produce(t, addr, "positions", "4") // gets the next offset, not one again
	if got := fmt.Sprint(consume(t, addr, "positions", 4, 1)); got != "[4]" {
		t.Errorf("record produced after the kill: %v", got)
	}
}

func startBroker(t *testing.T, config embedded.BrokerConfig) *embedded.Broker {
	t.Helper()
	b, err := embedded.StartBroker(config)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBrokerStopsAndStartsOnItsPort(t *testing.T) {
	dir := t.TempDir()
	b := startBroker(t, embedded.BrokerConfig{Dir: dir, Sync: true})
	addr := b.Addr()
	createTopic(t, &kafka.Client{Addr: kafka.TCP(addr)}, "positions", 1)
	produce(t, addr, "positions", "0", "1")
	if _, err := embedded.StartBroker(embedded.BrokerConfig{Dir: dir}); !errors.Is(err, embedded.ErrInUse) {
		t.Errorf("second start: %v, want ErrInUse", err)
	}
	b.Stop()
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("the stopped broker still listens")
	}
	b = startBroker(t, embedded.BrokerConfig{Dir: dir, Addr: addr})
	defer b.Stop()
	if got := fmt.Sprint(consume(t, addr, "positions", 0, 2)); got != "[0 1]" {
		t.Errorf("records after a restart: %v", got)
	}
}

func TestTopicsAreOnlyMadeOnRequest(t *testing.T) {
	b := startBroker(t, embedded.BrokerConfig{Dir: t.TempDir()})
	defer b.Stop()
	w := &kafka.Writer{Addr: kafka.TCP(b.Addr()), Topic: "unheard_of", AllowAutoTopicCreation: true, MaxAttempts: 2,
		BatchTimeout: time.Millisecond}
	defer w.Close()
	if err := w.WriteMessages(soon(t), kafka.Message{Value: []byte("x")}); !errors.Is(err, kafka.UnknownTopicOrPartition) {
		t.Errorf("write to a topic that does not exist: %v", err)
	}
}

// Documented at Broker: what depends on the time of arrival cannot take it
// from the record here.
func TestRecordTimesAreTheProducersWhateverTheTopicSays(t *testing.T) {
	b := startBroker(t, embedded.BrokerConfig{Dir: t.TempDir()})
	defer b.Stop()
	createTopic(t, &kafka.Client{Addr: kafka.TCP(b.Addr())}, "positions", 1,
		kafka.ConfigEntry{ConfigName: "message.timestamp.type", ConfigValue: "LogAppendTime"})
	sent := time.UnixMilli(1_200_000_000_000)
	w := &kafka.Writer{Addr: kafka.TCP(b.Addr()), Topic: "positions", BatchTimeout: time.Millisecond}
	defer w.Close()
	if err := w.WriteMessages(soon(t), kafka.Message{Time: sent, Value: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	// kafka-go shows the producer's time whatever the broker did; kgo does not.
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()), kgo.ConsumeTopics("positions"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	records := client.PollFetches(soon(t)).Records()
	if len(records) != 1 || !records[0].Timestamp.Equal(sent) || records[0].Attrs.TimestampType() != 0 {
		t.Errorf("got %v, want one record with the producer's time %v", records, sent)
	}
}

func TestBatchStampedByItsClientIsRefused(t *testing.T) {
	b := startBroker(t, embedded.BrokerConfig{Dir: t.TempDir()})
	defer b.Stop()
	createTopic(t, &kafka.Client{Addr: kafka.TCP(b.Addr())}, "positions", 1)
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()), kgo.MaxVersions(kversion.V3_0_0()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for attributes, want := range map[int16]error{0x00: nil, 0x08: kerr.InvalidTimestamp} {
		if got := produceRaw(soon(t), client, "positions", attributes); !errors.Is(got, want) {
			t.Errorf("attributes %#x: %v, want %v", attributes, got, want)
		}
	}
}

// produceRaw sends one empty record in a batch with the given attributes.
func produceRaw(ctx context.Context, client *kgo.Client, topic string, attributes int16) error {
	record := (&kmsg.Record{Length: 6}).AppendTo(nil)
	batch := &kmsg.RecordBatch{
		Length: int32(49 + len(record)), Magic: 2, Attributes: attributes,
		FirstTimestamp: 1, MaxTimestamp: 1, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		NumRecords: 1, Records: record,
	}
	const checksummed = 21 // what follows the checksum
	batch.CRC = int32(crc32.Checksum(batch.AppendTo(nil)[checksummed:], crc32.MakeTable(crc32.Castagnoli)))
	part := kmsg.NewProduceRequestTopicPartition()
	part.Records = batch.AppendTo(nil)
	in := kmsg.NewProduceRequestTopic()
	in.Topic, in.Partitions = topic, []kmsg.ProduceRequestTopicPartition{part}
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = -1, 1000
	req.Topics = []kmsg.ProduceRequestTopic{in}
	resp, err := client.Broker(0).Request(ctx, req)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode)
}
