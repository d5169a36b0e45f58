package consume

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/compress"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/motorpool/fleet/pipeline/topic"
)

// tailed is a record that a tail has given.
type tailed struct {
	partition int
	offset    int64
	value     string
}

// startTail runs a tail until the test ends, and returns where its records come out.
func startTail(t *testing.T, c topic.Config, name string, from int64, watch time.Duration) <-chan tailed {
	t.Helper()
	records := make(chan tailed, 10_000)
	tl := tail{config: c, topic: name, log: slog.New(slog.DiscardHandler), watch: watch,
		fn: func(partition int, offset int64, value []byte) {
			records <- tailed{partition, offset, string(value)}
		}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- tl.run(ctx, from) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(20 * time.Second):
			t.Error("the tail did not end with its context")
		}
	})
	return records
}

// topics says which topics to make on a broker.
func topics(t testing.TB, addr string) topic.Config {
	c := topic.DefaultConfig()
	c.Brokers, c.Partitions, c.Replication = []string{addr}, 3, 1
	for _, name := range []*string{&c.Positions, &c.Telemetry, &c.Traccar, &c.DeadLetters, &c.Changes, &c.Events} {
		*name = uniqueName(t, "topic")
	}
	return c
}

func ensured(t testing.TB, addr string) topic.Config {
	t.Helper()
	c := topics(t, addr)
	if _, err := topic.Ensure(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c
}

func openFeed(t testing.TB, c topic.Config) *topic.Feed {
	t.Helper()
	feed, err := topic.NewFeed(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := feed.Close(); err != nil {
			t.Error(err)
		}
	})
	return feed
}

func receive(t *testing.T, records <-chan tailed) tailed {
	t.Helper()
	select {
	case r := <-records:
		return r
	case <-time.After(30 * time.Second):
		t.Fatal("nothing came")
	}
	return tailed{}
}

// publish publishes records with the values prefix0, prefix1 and so on, each under its own key.
func publish(t *testing.T, feed *topic.Feed, name, prefix string, n int) {
	t.Helper()
	messages := make([]topic.Message, n)
	for i := range messages {
		messages[i] = topic.Message{Key: strconv.AppendInt(nil, int64(i), 10), Value: fmt.Append(nil, prefix, i)}
	}
	if err := feed.PublishRaw(t.Context(), name, messages); err != nil {
		t.Fatal(err)
	}
}

func TestTailGivesWhatIsNewInAllPartitions(t *testing.T) {
	c := ensured(t, anyBroker(t))
	feed := openFeed(t, c)
	publish(t, feed, c.Changes, "old", 30)
	records := startTail(t, c, c.Changes, Newest, tailWatch)
	// When a partition has given its first record its tail stands; until then records may fall before it.
	next := map[int]int64{}
	take := func(r tailed) {
		if strings.HasPrefix(r.value, "old") {
			t.Errorf("%+v was there before", r)
		}
		if at, ok := next[r.partition]; ok && r.offset != at {
			t.Errorf("partition %d gives offset %d after %d", r.partition, r.offset, at-1)
		}
		next[r.partition] = r.offset + 1
	}
	for len(next) < c.Partitions {
		publish(t, feed, c.Changes, "probe", 30)
		for wait := time.After(300 * time.Millisecond); wait != nil; {
			select {
			case r := <-records:
				take(r)
			case <-wait:
				wait = nil
			}
		}
	}
	publish(t, feed, c.Changes, "new", 100)
	for got := 0; got < 100; {
		r := receive(t, records)
		take(r)
		if strings.HasPrefix(r.value, "new") {
			got++
		}
	}
}

func TestTailFromAnOffsetGivesEveryRecordOnceThroughFaults(t *testing.T) {
	cluster := startBroker(t)
	c := ensured(t, cluster.ListenAddrs()[0])
	feed := openFeed(t, c)
	publish(t, feed, c.Events, "v", 10)
	fault := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Count: 3, Err: kerr.NotLeaderForPartition})
	records := startTail(t, c, c.Events, 4, tailWatch)
	for i := range int64(6) {
		if r := receive(t, records); r != (tailed{0, 4 + i, fmt.Sprint("v", 4+i)}) {
			t.Fatalf("%+v where offset %d was to come", r, 4+i)
		}
	}
	if fault.Hits() == 0 {
		t.Fatal("no fetch failed")
	}
	// Now the connection breaks in the middle of it.
	broken := make(chan struct{}, 1)
	cluster.ControlKey(int16(kmsg.Fetch), func(kmsg.Request) (kmsg.Response, error, bool) {
		broken <- struct{}{}
		return nil, fmt.Errorf("the cable is cut"), true
	})
	select {
	case <-broken:
	case <-time.After(20 * time.Second):
		t.Fatal("nobody fetches")
	}
	publish(t, feed, c.Events, "w", 5)
	for i := range int64(5) {
		if r := receive(t, records); r != (tailed{0, 10 + i, fmt.Sprint("w", i)}) {
			t.Fatalf("%+v where offset %d was to come", r, 10+i)
		}
	}
}

func TestTailOfAnOffsetThatIsNotThere(t *testing.T) {
	c := ensured(t, anyBroker(t))
	publish(t, openFeed(t, c), c.Events, "v", 3)
	if r := receive(t, startTail(t, c, c.Events, 100, tailWatch)); r != (tailed{0, 0, "v0"}) {
		t.Errorf("a log that is shorter than it was is tailed from %+v", r)
	}
	if r := receive(t, startTail(t, c, c.Events, Oldest, tailWatch)); r != (tailed{0, 0, "v0"}) {
		t.Errorf("the oldest record is %+v", r)
	}
}

func TestTailGoesOnBehindWhatCannotBeRead(t *testing.T) {
	addr := startBroker(t).ListenAddrs()[0]
	c := ensured(t, addr)
	feed := openFeed(t, c)
	records := startTail(t, c, c.Events, Oldest, tailWatch)
	publish(t, feed, c.Events, "v", 1)
	produceRaw(t, addr, c.Events, rawBatch(1, 3, []byte("no gzip")))
	produceRaw(t, addr, c.Events, rawBatch(1, 3, bytes.Repeat(zeros(t, compress.Gzip, 8<<20), 20)))
	publish(t, feed, c.Events, "w", 1)
	for _, want := range []tailed{{0, 0, "v0"}, {0, 7, "w0"}} {
		if r := receive(t, records); r != want {
			t.Errorf("%+v where %+v was to come", r, want)
		}
	}
}

func TestTailOfATopicThatGrows(t *testing.T) {
	c := topics(t, anyBroker(t))
	records := startTail(t, c, c.Changes, Newest, 20*time.Millisecond) // there is no topic yet
	if _, err := topic.Ensure(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	feed := openFeed(t, c)
	first := receiveProbe(t, feed, c, records)
	if first.partition >= 3 {
		t.Fatalf("%+v", first)
	}
	client, err := c.Client()
	if err != nil {
		t.Fatal(err)
	}
	defer topic.Disconnect(client)
	res, err := client.CreatePartitions(t.Context(), &kafka.CreatePartitionsRequest{Topics: []kafka.TopicPartitionsConfig{
		{Name: c.Changes, Count: 4},
	}})
	if err != nil || res.Errors[c.Changes] != nil {
		t.Fatal(err, res)
	}
	// Whether or not the tail knows the new partition already, it gives its first record.
	for {
		_, err := client.Produce(t.Context(), &kafka.ProduceRequest{
			Topic: c.Changes, Partition: 3, RequiredAcks: kafka.RequireAll,
			Records: kafka.NewRecordReader(kafka.Record{Value: kafka.NewBytes([]byte("new"))}),
		})
		if err == nil {
			break
		}
		// The client does not know the partition before it asks again, within metadataTTL.
		select {
		case <-time.After(100 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal(err)
		}
	}
	for {
		if r := receive(t, records); r.partition == 3 {
			if r != (tailed{3, 0, "new"}) {
				t.Errorf("the new partition begins with %+v", r)
			}
			return
		}
	}
}

// receiveProbe publishes until a record comes, which may be of an earlier call.
func receiveProbe(t *testing.T, feed *topic.Feed, c topic.Config, records <-chan tailed) tailed {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		publish(t, feed, c.Changes, "probe", 20)
		select {
		case r := <-records:
			return r
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Fatal("nothing came")
	return tailed{}
}
