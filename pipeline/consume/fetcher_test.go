package consume

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// deleteBefore deletes the records of partition 0 before an offset, as retention does.
func deleteBefore(t testing.TB, addr, topic string, offset int64) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	request := kmsg.NewPtrDeleteRecordsRequest()
	request.Topics = []kmsg.DeleteRecordsRequestTopic{{
		Topic: topic, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: 0, Offset: offset}},
	}}
	res, err := request.RequestWith(t.Context(), client)
	if err != nil || res.Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatalf("delete records: %v %+v", err, res)
	}
}

func TestOffsetOutOfRange(t *testing.T) {
	// The log has offsets 10 to 19; MaxRows is 100.
	for _, test := range []struct {
		name     string
		offset   int64
		metadata string
		want     []string // ranges
		records  int
	}{
		{"retention has overtaken the group", 3, "", []string{"10-19"}, 10},
		{"retention has deleted a whole plan", 3, "plan:1:6", []string{"10-19"}, 10},
		{"retention has deleted a plan up to its end", 3, "plan:1:9", []string{"10-19"}, 10},
		{"retention has deleted the start of a plan, which keeps its name", 3, "plan:1:14", []string{"3-14", "15-19"}, 10},
		{"the log is another one", 100, "", []string{"10-19"}, 10},
		{"the log is another one than that of a plan", 100, "plan:1:120", []string{"10-19"}, 10},
		{"the log has lost the end of a plan", 15, "plan:1:25", []string{"15-19"}, 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			addr := anyBroker(t)
			p := newProcess(t, addr)
			topic := createTopic(t, p.client, 1)
			for range 20 {
				produce(t, p.client, topic, 0, "v")
			}
			deleteBefore(t, addr, topic, 10)
			cfg := testConfig(t)
			cfg.MaxRows = 100
			commitAs(t, p.client, cfg.Group, topic, test.offset, test.metadata)
			done := newLedger()
			r := start(t, cfg, p, []string{topic}, done.handler)
			done.await(t, test.records)
			for _, want := range test.want {
				if done.times[topic+"/0/"+want] != 1 {
					t.Errorf("range %s was not handled: %v", want, done.ranges)
				}
			}
			if n := r.metric(t, "out_of_range_total"); n == 0 {
				t.Error("nothing was counted")
			}
			produce(t, p.client, topic, 0, "new")
			done.await(t, test.records+1)
		})
	}
}

func TestHugeRecordDoesNotStopThePartition(t *testing.T) {
	p := newProcess(t,
		startBroker(t, kfake.BrokerConfigs(map[string]string{"message.max.bytes": "20000000"})).ListenAddrs()[0])
	topic := createTopic(t, p.client, 1)
	huge := strings.Repeat("x", 9<<20)
	produce(t, p.client, topic, 0, "before")
	produce(t, p.client, topic, 0, huge)
	produce(t, p.client, topic, 0, "after")
	cfg := testConfig(t)
	cfg.FetchBytes, cfg.MaxBytes = 1<<10, 1<<10
	done := newLedger()
	start(t, cfg, p, []string{topic}, done.handler)
	done.await(t, 3)
	done.checkPartition(t, 0, 0, 2)
	found := false
	for _, values := range done.values {
		for _, v := range values {
			found = found || v == huge
		}
	}
	if !found {
		t.Error("the huge record arrived changed")
	}
}

// TestBatchThatIsCutOffMakesTheFetchLarger is about brokers that cut off even the first batch of a response.
func TestBatchThatIsCutOffMakesTheFetchLarger(t *testing.T) {
	f := &fetcher{cfg: DefaultConfig("g"), metrics: newTestMetrics(t), maxBytes: 50}
	whole := encodeBatch(t, 0, 0, kafka.Record{Value: kafka.NewBytes([]byte("value"))})
	b := newBuffer("t", 0)
	f.set.reset(whole[:50], 0, 1)
	if closed, err := f.take(b); closed || err != nil || f.maxBytes != 100 {
		t.Errorf("closed %v, error %v, next fetch %d bytes", closed, err, f.maxBytes)
	}
	f.set.reset(append(whole, whole[:20]...), 0, 2)
	if closed, err := f.take(b); closed || err != nil || len(b.Records) != 1 || f.maxBytes != f.cfg.FetchBytes {
		t.Errorf("closed %v, error %v, %d records, next fetch %d bytes", closed, err, len(b.Records), f.maxBytes)
	}
}

// TestReceivedTimeIsTheBrokersWithLogAppendTime needs a broker that honours the setting; kfake keeps the
// producer's time.
func TestReceivedTimeIsTheBrokersWithLogAppendTime(t *testing.T) {
	p := newProcess(t, anyBroker(t))
	topic := createTopic(t, p.client, 1,
		kafka.ConfigEntry{ConfigName: "message.timestamp.type", ConfigValue: "LogAppendTime"})
	before := time.Now().Add(-time.Minute).UnixMilli()
	produce(t, p.client, topic, 0, "a", "b")
	honoured := os.Getenv("MOTORPOOL_TEST_KAFKA") != ""
	times := make(chan []Record, 1)
	start(t, testConfig(t), p, []string{topic}, func(string, int) Handler {
		return handle(func(_ context.Context, b *Batch) error {
			times <- slices.Clone(b.Records)
			return nil
		})
	})
	for _, r := range <-times {
		if brokers := int64(r.Time) > before; brokers != honoured {
			t.Errorf("record %d has time %s", r.Offset, r.Time.Time())
		}
	}
}

func TestBatchLimits(t *testing.T) {
	p := newProcess(t, anyBroker(t))
	topic := createTopic(t, p.client, 1)
	produce(t, p.client, topic, 0, numbered("v", 25)...)
	rows := func(cfg Config) []int {
		cfg.Group = uniqueName(t, "group")
		var sizes []int
		total := 0
		all := make(chan struct{})
		r := start(t, cfg, newProcess(t, p.client.Addr.String()), []string{topic}, func(string, int) Handler {
			return handle(func(_ context.Context, b *Batch) error {
				sizes = append(sizes, len(b.Records))
				if total += len(b.Records); total == 25 {
					close(all)
				}
				return nil
			})
		})
		<-all
		r.stop()
		_ = r.wait(t)
		return sizes
	}
	cfg := testConfig(t)
	cfg.MaxRows = 10
	if got := rows(cfg); len(got) != 3 || got[0] != 10 || got[1] != 10 || got[2] != 5 {
		t.Errorf("by rows: %v", got)
	}
	cfg = testConfig(t)
	cfg.MaxBytes = 12 // three records of 1+3 bytes each, and for the later ones 1+4
	if got := rows(cfg); got[0] != 3 || got[len(got)-1] > 3 {
		t.Errorf("by bytes: %v", got)
	}
	cfg = testConfig(t)
	cfg.Linger = 300 * time.Millisecond
	began := time.Now()
	if got := rows(cfg); len(got) != 1 {
		t.Errorf("by time: %v", got)
	}
	if took := time.Since(began); took < cfg.Linger {
		t.Errorf("the batch was closed after %s", took)
	}
}

func TestLag(t *testing.T) {
	p := newProcess(t, anyBroker(t))
	topic := createTopic(t, p.client, 2)
	produce(t, p.client, topic, 0, numbered("v", 10)...)
	produce(t, p.client, topic, 1, numbered("v", 4)...)
	group := uniqueName(t, "group")
	commitAs(t, p.client, group, topic, 7, "plan:1:8")
	var lags []PartitionLag
	retryRefused(t, func() (err error) {
		lags, err = Lag(t.Context(), p.client, group, []string{topic})
		return err
	})
	if len(lags) != 2 || lags[0].Records() != 3 || lags[1].Records() != 4 {
		t.Errorf("lags are %+v", lags)
	}
	if _, err := Lag(t.Context(), p.client, group, []string{"no-such-topic"}); err == nil {
		t.Error("a missing topic has a lag")
	}
}

// A partition on which nothing more comes does not keep for ever what its last large batch took.
func TestMemoryOfALargeBatchIsGivenBackWhenItIsUsedUp(t *testing.T) {
	f := &fetcher{cfg: DefaultConfig("g"), metrics: newTestMetrics(t)}
	f.set.inflater.limit = f.cfg.MaxInflatedBytes
	value := make([]byte, 3<<20)
	var records []kafka.Record
	for range 4 {
		records = append(records, kafka.Record{Value: kafka.NewBytes(value)})
	}
	batch := encodeBatch(t, 0, byte(kafka.Gzip), records...)
	f.set.reset(batch, 0, int64(len(records)))
	b := newBuffer("t", 0)
	if closed, err := f.take(b); closed || err != nil || len(b.Records) != len(records) {
		t.Fatalf("%v, %v, %d records", closed, err, len(b.Records))
	}
	if kept := cap(f.set.inflater.memory); kept > keptInflated || f.set.records != nil {
		t.Errorf("%d bytes are kept, of records %v", kept, f.set.records != nil)
	}
}
