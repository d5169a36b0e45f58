package embeddedtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/motorpool/fleet/deploy/embedded/embeddedtest"
)

func TestBrokerFailsTheRequestsItIsToldTo(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	addr, cluster := embeddedtest.FakeBroker(t, kfake.SeedTopics(1, "positions"))
	w := &kafka.Writer{Addr: kafka.TCP(addr), Topic: "positions", RequiredAcks: kafka.RequireAll,
		BatchTimeout: time.Millisecond, MaxAttempts: 1}
	defer w.Close()

	cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "positions", Err: kerr.NotEnoughReplicas})
	if err := w.WriteMessages(ctx, kafka.Message{Value: []byte("a")}); err == nil {
		t.Error("the faulted write succeeded")
	}
	if err := w.WriteMessages(ctx, kafka.Message{Value: []byte("b")}); err != nil {
		t.Errorf("the write after the fault: %v", err)
	}
	if end := cluster.PartitionInfo("positions", 0).HighWatermark; end != 1 {
		t.Errorf("%d records are stored, want 1", end)
	}
}

func TestBrokerOfOneTestHasNoTopicsOfAnother(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	first, _ := embeddedtest.FakeBroker(t, kfake.SeedTopics(1, "positions"))
	second, _ := embeddedtest.FakeBroker(t)
	for addr, want := range map[string]int{first: 1, second: 0} {
		meta, err := (&kafka.Client{Addr: kafka.TCP(addr)}).Metadata(ctx, &kafka.MetadataRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if len(meta.Topics) != want {
			t.Errorf("%s has %d topics, want %d", addr, len(meta.Topics), want)
		}
	}
}
