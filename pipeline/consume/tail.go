package consume

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/motorpool/fleet/pipeline/topic"
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
// not block for long and may keep value. What cannot be read is left out. While brokers do not answer, or the topic
// does not exist, Tail tries again with growing pauses and tells log. The error is that the configuration cannot work.
func Tail(ctx context.Context, c topic.Config, name string, from int64, log *slog.Logger,
	fn func(partition int, offset int64, value []byte)) error {
	t := tail{config: c, topic: name, log: log.With("topic", name), fn: fn, watch: tailWatch}
	return t.run(ctx, from)
}

const (
	tailWatch    = 10 * time.Second       // how often new partitions are looked for
	tailWait     = 500 * time.Millisecond // how long the broker holds a fetch of an empty partition
	tailLinger   = time.Millisecond       // what a record waits for company
	tailRetryMin = 100 * time.Millisecond
	tailRetryMax = 5 * time.Second
)

// tail is one call of Tail.
type tail struct {
	config topic.Config
	topic  string
	log    *slog.Logger
	fn     func(partition int, offset int64, value []byte)
	watch  time.Duration

	client  *kafka.Client
	metrics *metrics
}

func (t *tail) run(ctx context.Context, from int64) error {
	var err error
	if t.client, err = t.config.Client(); err != nil {
		return err
	}
	defer topic.Disconnect(t.client)
	if t.metrics, err = newMetrics("", prometheus.NewRegistry()); err != nil { // which nobody asks
		return err
	}
	var partitions sync.WaitGroup
	defer partitions.Wait()
	var retry time.Duration
	for known := 0; ; {
		n, err := topic.Partitions(ctx, t.client, t.topic)
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

// follow reads one partition until ctx ends, with a fetcher that has no plans.
func (t *tail) follow(ctx context.Context, partition int, from int64) {
	cfg := DefaultConfig("")
	cfg.MaxRows, cfg.Linger, cfg.FetchWait = 10_000, tailLinger, tailWait
	cfg.RetryMin, cfg.RetryMax = tailRetryMin, tailRetryMax
	f := &fetcher{
		cfg: cfg, client: t.client, topic: t.topic, partition: partition, log: t.log.With("partition", partition),
		metrics: t.metrics, lag: newPartitionLag(t.metrics, t.topic, partition),
	}
	for from < 0 {
		first, end, err := logRange(ctx, t.client, t.topic, partition)
		switch {
		case err == nil && from == Newest:
			from = end
		case err == nil:
			from = first
		case !f.pause(ctx, time.Time{}, "asking for the log's range failed", err):
			return
		}
	}
	if f.start(ctx, from, "") != nil {
		return
	}
	for b := newBuffer(t.topic, partition); f.fill(ctx, b); b.reset() {
		for i := range b.Records {
			if r := &b.Records[i]; r.Poison == nil {
				t.fn(partition, r.Offset, bytes.Clone(r.Value))
			}
		}
	}
}
