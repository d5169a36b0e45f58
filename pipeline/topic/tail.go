package topic

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
)

// Where Tail may begin besides an offset.
const (
	Newest = kafka.LastOffset  // behind what is there now
	Oldest = kafka.FirstOffset // at the oldest record that is left
)

// Tail reads all partitions of a topic and calls fn with each record until ctx ends; then it returns nil. It belongs to
// no consumer group: every process that tails a topic sees all of it, and nobody remembers how far it came.
//
// from is Newest, Oldest or an offset, which makes sense for a topic of one partition; an offset that is no longer or
// not yet in the log is taken for Oldest. A partition that comes into being later is read from its start. Records of a
// partition come in order, each once, from a goroutine of its own; fn is called for several partitions at a time, must
// not block for long and may keep value. While brokers do not answer, or the topic does not exist, Tail tries again with
// growing pauses and tells log. The error is that the configuration cannot work.
func Tail(ctx context.Context, c Config, name string, from int64, log *slog.Logger, fn func(partition int, offset int64, value []byte)) error {
	t := tail{config: c, topic: name, log: log.With("topic", name), fn: fn, watch: partitionWatch}
	return t.run(ctx, from)
}

const (
	partitionWatch = 10 * time.Second       // how often new partitions are looked for
	tailWait       = 500 * time.Millisecond // how long the broker holds a fetch of an empty partition
	tailRetryMin   = 100 * time.Millisecond
	tailRetryMax   = 5 * time.Second
	tailFetchBytes = 4 << 20 // a larger record is still read
)

// tail is one call of Tail.
type tail struct {
	config Config
	topic  string
	log    *slog.Logger
	fn     func(partition int, offset int64, value []byte)
	watch  time.Duration

	dialer *kafka.Dialer
}

func (t *tail) run(ctx context.Context, from int64) error {
	client, err := t.config.Client()
	if err != nil {
		return err
	}
	defer Disconnect(client)
	if t.dialer, err = t.config.Dialer(); err != nil {
		return err
	}
	var partitions sync.WaitGroup
	defer partitions.Wait()
	var retry time.Duration
	for known := 0; ; {
		n, err := t.count(ctx, client)
		wait := t.watch
		if err != nil {
			if retry == 0 && ctx.Err() == nil {
				t.log.Warn("asking for the partitions to tail failed, trying again", "error", err)
			}
			retry = min(max(2*retry, tailRetryMin), tailRetryMax)
			wait = retry/2 + rand.N(retry)
		} else {
			retry = 0
			for ; known < n; known++ {
				partition, begin := known, from
				partitions.Go(func() { t.follow(ctx, partition, begin) })
			}
			from = Oldest // of partitions that are added from now on
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// count returns how many partitions the topic has.
func (t *tail) count(ctx context.Context, client *kafka.Client) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	cluster, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{t.topic}})
	if err != nil {
		return 0, err
	}
	for _, topic := range cluster.Topics {
		if topic.Name == t.topic {
			return len(topic.Partitions), topic.Error
		}
	}
	return 0, kafka.UnknownTopicOrPartition
}

// follow reads one partition until ctx ends. The reader connects again by itself, with pauses; what it tells are errors
// that last.
func (t *tail) follow(ctx context.Context, partition int, from int64) {
	log := t.log.With("partition", partition)
	next := from
	for ctx.Err() == nil {
		err := t.read(ctx, partition, &next, log)
		if errors.Is(err, kafka.OffsetOutOfRange) {
			log.Error("the log does not reach to the offset to read next; it lost its end or is another log; reading it from its start", "offset", next)
			next = Oldest
		}
	}
}

// read reads from *next on, which it keeps up, until ctx ends or the log does not have that offset.
func (t *tail) read(ctx context.Context, partition int, next *int64, log *slog.Logger) error {
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: t.config.Brokers, Dialer: t.dialer, Topic: t.topic, Partition: partition,
		MinBytes: 1, MaxBytes: tailFetchBytes, MaxWait: tailWait,
		ReadBackoffMin: tailRetryMin, ReadBackoffMax: tailRetryMax, ReadLagInterval: -1, OffsetOutOfRangeError: true,
	})
	defer reader.Close()
	if err := reader.SetOffset(*next); err != nil {
		return fmt.Errorf("start at offset %d: %w", *next, err)
	}
	var told time.Time
	for {
		m, err := reader.ReadMessage(ctx)
		switch {
		case err == nil:
			*next = m.Offset + 1
			t.fn(partition, m.Offset, m.Value)
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, kafka.OffsetOutOfRange):
			return err
		case time.Since(told) > time.Minute:
			told = time.Now()
			log.Warn("tailing failed, trying again", "offset", *next, "error", err)
		}
	}
}
