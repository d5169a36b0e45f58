package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
)

// fill starts a broker whose topic has one partition of many small segments,
// one record in each.
func fill(t *testing.T, config BrokerConfig, records int) (*Broker, *kafka.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	config.Dir = t.TempDir()
	b, err := StartBroker(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Stop)
	client := &kafka.Client{Addr: kafka.TCP(b.Addr())}
	resp, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
		Topic: "positions", NumPartitions: 1, ReplicationFactor: 1,
		ConfigEntries: []kafka.ConfigEntry{{ConfigName: "segment.bytes", ConfigValue: "100"}},
	}}})
	if err == nil {
		err = resp.Errors["positions"]
	}
	if err != nil {
		t.Fatal(err)
	}
	w := &kafka.Writer{Addr: kafka.TCP(b.Addr()), Topic: "positions", BatchSize: 1, RequiredAcks: kafka.RequireAll}
	defer w.Close()
	for i := range records {
		value := fmt.Sprint(i, strings.Repeat(".", 100))
		if err := w.WriteMessages(ctx, kafka.Message{Value: []byte(value)}); err != nil {
			t.Fatal(err)
		}
	}
	return b, client
}

func commitTo(t *testing.T, client *kafka.Client, group string, offset int64) {
	t.Helper()
	resp, err := client.OffsetCommit(context.Background(), &kafka.OffsetCommitRequest{
		GroupID: group, GenerationID: -1,
		Topics: map[string][]kafka.OffsetCommit{"positions": {{Partition: 0, Offset: offset}}},
	})
	if err == nil {
		err = resp.Topics["positions"][0].Error
	}
	if err != nil {
		t.Fatal(err)
	}
}

func wantStart(t *testing.T, b *Broker, why string, want int64) {
	t.Helper()
	info := b.cluster.PartitionInfo("positions", 0)
	if info.LogStartOffset != want || info.HighWatermark != 10 {
		t.Errorf("%s: log is [%d, %d), want [%d, 10)", why, info.LogStartOffset, info.HighWatermark, want)
	}
}

func TestWhatAGroupHasNotReadIsKept(t *testing.T) {
	b, client := fill(t, BrokerConfig{Groups: []string{"pipeline", "webhooks"}}, 10)
	deleteAt := func(at time.Time) {
		t.Helper()
		if err := b.deleteOld(at); err != nil {
			t.Fatal(err)
		}
	}
	later := time.Now().Add(25 * time.Hour)

	commitTo(t, client, "pipeline", 0)
	deleteAt(later)
	wantStart(t, b, "nothing read", 0)
	commitTo(t, client, "pipeline", 7)
	commitTo(t, client, "webhooks", 4)
	deleteAt(time.Now())
	wantStart(t, b, "read but young", 0)
	deleteAt(later)
	wantStart(t, b, "read and old", 4)
	commitTo(t, client, "webhooks", 10)
	commitTo(t, client, "pipeline", 10)
	deleteAt(later)
	wantStart(t, b, "all read and old: the newest stays", 9)
}

func TestAFullLogLosesWhatWasReadFirst(t *testing.T) {
	b, client := fill(t, BrokerConfig{Groups: []string{"pipeline"}, MaxBytes: 1}, 10)
	if err := b.deleteOld(time.Now()); err != nil {
		t.Fatal(err)
	}
	wantStart(t, b, "full, read by nobody yet", 0)
	commitTo(t, client, "pipeline", 6)
	if err := b.deleteOld(time.Now()); err != nil {
		t.Fatal(err)
	}
	wantStart(t, b, "full", 6)
}

func TestATopicsOwnRetentionOutranksTheBrokers(t *testing.T) {
	b, client := fill(t, BrokerConfig{}, 10)
	resp, err := client.IncrementalAlterConfigs(context.Background(), &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: "positions",
			Configs: []kafka.IncrementalAlterConfigsRequestConfig{{
				Name: "retention.ms", Value: fmt.Sprint((72 * time.Hour).Milliseconds()), ConfigOperation: kafka.ConfigOperationSet,
			}},
		}},
	})
	if err != nil || resp.Resources[0].Error != nil {
		t.Fatal(err, resp)
	}
	for _, c := range []struct {
		after time.Duration
		want  int64
	}{{71 * time.Hour, 0}, {73 * time.Hour, 9}} {
		if err := b.deleteOld(time.Now().Add(c.after)); err != nil {
			t.Fatal(err)
		}
		wantStart(t, b, c.after.String(), c.want)
	}
}

// After a crash the broker knows a partition's offsets by its files alone.
func TestOffsetsGoOnAfterDeletionAndACrash(t *testing.T) {
	b, client := fill(t, BrokerConfig{Groups: []string{"pipeline"}}, 10)
	commitTo(t, client, "pipeline", 10)
	if err := b.deleteOld(time.Now().Add(25 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	crashed := BrokerConfig{Dir: copyLog(t, b.config.Dir)}
	after, err := StartBroker(crashed)
	if err != nil {
		t.Fatal(err)
	}
	defer after.Stop()
	wantStart(t, after, "after a crash", 9)
}

// copyLog copies a running broker's directory: what a kill would leave.
func copyLog(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(filepath.Join(to, "log"), os.DirFS(filepath.Join(dir, "log"))); err != nil {
		t.Fatal(err)
	}
	return to
}
