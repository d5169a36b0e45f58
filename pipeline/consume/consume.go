// Package consume reads topics as a consumer group and hands each partition's records, in order, to a Handler in
// batches that are the same whenever they are formed again.
//
// A batch is one contiguous range of offsets of one partition. Before it is handled its range is committed as a plan:
// the group's offset stays at First and the commit's metadata names Last. After a crash the next owner of the partition
// forms exactly that range again before anything else, so that whatever was derived from the range (insert tokens above
// all, see Batch.Token) is derived again with the same name. A partition goes through these states:
//
//	              plan committed            handled              offset committed
//	fetched ──────────────────────► planned ───────► handled ──────────────────────► done
//	   │ ownership lost: dropped       │ crash, error, ownership lost: the next owner forms First..Last again
//
// So every record is handled at least once, a repetition is always of a whole batch, and a Handler that is idempotent
// for a range makes it exactly once. Records are never skipped because of an error: a failing batch is tried again
// until it succeeds or the partition is somebody else's. What cannot be read comes to the handler as Poison.
//
// One goroutine handles a partition's batches and one fetches the next batch meanwhile; between them circulate
// two buffers, which is all the memory there is and so the backpressure. Records of aborted transactions are
// not told apart.
package consume

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"github.com/motorpool/fleet"
)

// Record is one record of a topic.
type Record struct {
	Offset int64
	// Time is the record's timestamp: the broker's clock with LogAppendTime, else the producer's; 0 if the batch has none.
	Time        fleet.Millis
	Key, Value  []byte // Either is nil if it is null in the log.
	ContentType string // The header content-type, or empty.
	Run         string // The header motorpool-run, which names the replay that sent it, or empty.
	Released    bool   // The header motorpool-released is 1: the report was kept apart earlier.
	// Poison is not nil if this stands for a record batch that cannot be read; then there is neither key nor value.
	Poison *Poison

	// Account is the header motorpool-account: whose the interface found the device to be that it took the report from; 0
	// if it did not come through the interface.
	Account fleet.AccountID
}

// Batch is the offset range [First, Last] of a partition and the records in it, by offset. Offsets may be missing from
// Records (compaction, transaction markers, retention). The worker owns the memory: it is valid until Handle returns.
type Batch struct {
	Topic       string
	Partition   int
	First, Last int64
	Records     []Record // Never empty.

	// Alone says whether nobody has begun to handle the range but this call of Handle: no earlier owner, no earlier call,
	// and up to now no later owner, for which it asks the broker. nil if that is not known.
	Alone func(ctx context.Context) bool
	// Reached says that everything before an offset of the range is done for good: whoever handles the rest of the range,
	// after an error or a crash, begins there. nil if there is nobody to tell.
	Reached func(ctx context.Context, next int64) error
}

// Token names the range, as topic/partition/first-last. The same records always come under the same token.
func (b *Batch) Token() string {
	token := make([]byte, 0, len(b.Topic)+48)
	token = append(token, b.Topic...)
	token = append(token, '/')
	token = strconv.AppendInt(token, int64(b.Partition), 10)
	token = append(token, '/')
	token = strconv.AppendInt(token, b.First, 10)
	token = append(token, '-')
	token = strconv.AppendInt(token, b.Last, 10)
	return string(token)
}

// Handler does the work for one partition during one ownership of it; its calls never overlap. One that is an io.Closer
// is closed when the ownership ends; the error of that is of no interest.
type Handler interface {
	// Handle must be idempotent for a range: after a crash or an error it is called again with the same batch, perhaps
	// in another process and perhaps while a call for the same range still runs where the partition was lost. An error
	// is retried with backoff, unless it is ErrFatal. The context ends some time after the partition is lost or the
	// process is told to stop; Handle should then return.
	Handle(ctx context.Context, b *Batch) error
}

// ErrFatal, wrapped by a Handler's error, stops the consumer: Run returns the error. The batch stays planned.
var ErrFatal = errors.New("cannot go on")

// Config says how to consume.
type Config struct {
	Group string // The name of the consumer group.

	// A batch is closed by the first of these; one record is always taken, whatever its size.
	MaxRows  int           // How many records a batch has at most.
	MaxBytes int           // How many bytes of keys and values a batch has at most.
	Linger   time.Duration // How long after its first record was fetched a batch is closed.

	FetchBytes int           // The size of a fetch; a larger record batch is still read.
	FetchWait  time.Duration // How long the broker holds a fetch of an empty partition.
	// MaxInflatedBytes bounds the decompressed form of a record batch; a larger one is Poison. All processes of a group
	// need the same value.
	MaxInflatedBytes int
	Grace            time.Duration // What is left for the open batch when a partition is lost or the process stops.
	RetryMin         time.Duration // The first pause after an error of the handler or the broker.
	RetryMax         time.Duration // The longest such pause.
	// PlanWait is how long the log may end inside a planned range before the range is given up. A new leader may for
	// a moment show a shorter log than its predecessor; a log that stays short has lost its end.
	PlanWait time.Duration

	SessionTimeout    time.Duration // Without a heartbeat for this long a member is dead; it is above Grace.
	HeartbeatInterval time.Duration // The time between heartbeats, and how soon a member notices a rebalance.
	RebalanceTimeout  time.Duration // How long a rebalance waits for members; it is above Grace.
	PartitionWatch    time.Duration // How often new partitions are looked for.
	JoinBackoff       time.Duration // The pause after a failure to join.

	// Held, if it is not nil, says whether to hold still: no batch is planned then, so that nothing new is written, and
	// what is in hand is finished. It is asked often and from many goroutines.
	Held func() bool
}

func (c *Config) held() bool { return c.Held != nil && c.Held() }

// DefaultConfig returns the settings for a group.
func DefaultConfig(group string) Config {
	return Config{
		Group:             group,
		MaxRows:           65536,
		MaxBytes:          16 << 20,
		Linger:            400 * time.Millisecond,
		FetchBytes:        2 << 20,
		FetchWait:         time.Second,
		MaxInflatedBytes:  64 << 20,
		Grace:             15 * time.Second,
		RetryMin:          100 * time.Millisecond,
		RetryMax:          10 * time.Second,
		PlanWait:          time.Minute,
		SessionTimeout:    30 * time.Second,
		HeartbeatInterval: 2 * time.Second,
		RebalanceTimeout:  45 * time.Second,
		PartitionWatch:    10 * time.Second,
		JoinBackoff:       time.Second,
	}
}

// Validate returns what is wrong with the configuration, or nil.
func (c Config) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(c.Group != "", "group is empty")
	check(c.MaxRows > 0, "max rows %d: must be positive", c.MaxRows)
	check(c.MaxBytes > 0, "max bytes %d: must be positive", c.MaxBytes)
	check(c.Linger > 0, "linger %s: must be positive", c.Linger)
	check(c.FetchBytes > 0 && c.FetchBytes <= maxResponse/2, "fetch bytes %d: must be in 1..%d",
		c.FetchBytes, maxResponse/2)
	check(c.FetchWait >= time.Millisecond, "fetch wait %s: must be at least 1ms", c.FetchWait)
	check(c.MaxInflatedBytes >= 1<<20 &&
		c.MaxInflatedBytes <= 1<<30, "max inflated bytes %d: must be from 1 MiB to 1 GiB", c.MaxInflatedBytes)
	check(c.Grace > 0, "grace %s: must be positive", c.Grace)
	check(c.RetryMin > 0 && c.RetryMin <= c.RetryMax, "retry from %s to %s: must be positive and rising",
		c.RetryMin, c.RetryMax)
	check(c.PlanWait > 0, "plan wait %s: must be positive", c.PlanWait)
	check(c.SessionTimeout > c.Grace, "session timeout %s: must be above the grace period of %s",
		c.SessionTimeout, c.Grace)
	check(c.RebalanceTimeout > c.Grace, "rebalance timeout %s: must be above the grace period of %s",
		c.RebalanceTimeout, c.Grace)
	check(c.HeartbeatInterval > 0 && c.HeartbeatInterval <= c.SessionTimeout/3,
		"heartbeat interval %s: must be at most a third of the session timeout of %s", c.HeartbeatInterval, c.SessionTimeout)
	check(c.PartitionWatch > 0, "partition watch %s: must be positive", c.PartitionWatch)
	check(c.JoinBackoff > 0, "join backoff %s: must be positive", c.JoinBackoff)
	return errors.Join(errs...)
}

// Consumer is one member of a consumer group.
type Consumer struct {
	cfg        Config
	client     *kafka.Client
	dialer     *kafka.Dialer
	topics     []string
	newHandler func(topic string, partition int) Handler
	log        *slog.Logger
	metrics    *metrics
	// counts are the partitions, at least, of the topics that the present generation knows of. Run and what it
	// waits for own it.
	counts map[string]int
}

// New prepares a consumer of topics, which must exist; it connects to nothing. Client and dialer reach the same
// brokers: the dialer is for the group's own connection. newHandler is called for each partition whenever this
// member comes to own it, also if it owned it before, and from several goroutines. One registerer takes one
// consumer of a group.
func New(cfg Config, client *kafka.Client, dialer *kafka.Dialer, topics []string,
	newHandler func(topic string, partition int) Handler, registerer prometheus.Registerer, log *slog.Logger,
) (*Consumer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("consumer configuration: %w", err)
	}
	if len(topics) == 0 || client == nil || client.Addr == nil || dialer == nil {
		return nil, errors.New("consumer configuration: no topics or no brokers")
	}
	m, err := newMetrics(cfg.Group, registerer)
	if err != nil {
		return nil, fmt.Errorf("consumer metrics: %w", err)
	}
	return &Consumer{
		cfg: cfg, client: client, dialer: dialer, topics: topics, newHandler: newHandler, log: log, metrics: m,
	}, nil
}

// Run consumes until ctx ends, and then finishes: it stops fetching, handles and commits what it has fetched within the
// grace period and leaves the group. It returns nil then, and an error only if the group cannot be set up or a handler
// failed with ErrFatal. While brokers do not answer it tries again.
func (c *Consumer) Run(ctx context.Context) error {
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID:                c.cfg.Group,
		Brokers:           c.brokers(),
		Dialer:            c.dialer,
		Topics:            c.topics,
		HeartbeatInterval: c.cfg.HeartbeatInterval,
		SessionTimeout:    c.cfg.SessionTimeout,
		RebalanceTimeout:  c.cfg.RebalanceTimeout,
		JoinGroupBackoff:  c.cfg.JoinBackoff,
		StartOffset:       kafka.FirstOffset,
	})
	if err != nil {
		return fmt.Errorf("consumer group %s: %w", c.cfg.Group, err)
	}
	defer c.leave(group)

	c.counts, _ = c.count(ctx) // before the group's leader does; without an answer the first one of watch counts
	for ctx.Err() == nil {
		generation, err := group.Next(ctx)
		if err != nil {
			if ctx.Err() == nil {
				c.metrics.joinErrors.Inc()
				c.log.Warn("joining the consumer group failed, trying again", "group", c.cfg.Group, "error", err)
			}
			continue // the group makes its own pauses
		}
		c.log.Info("joined the consumer group", "group", c.cfg.Group, "generation", generation.ID,
			"partitions", partitionCount(generation))
		served := make(chan error, 1)
		generation.Start(func(ended context.Context) {
			err := c.serve(ctx, ended, generation)
			served <- err
			if err == nil || errors.Is(err, ErrFatal) || ctx.Err() != nil {
				// To return ends the generation and makes the group join again, which is wanted after a failure
				// only. When we stop, the membership lasts until leave closes the group.
				<-ended.Done()
			}
		})
		switch err := <-served; {
		case errors.Is(err, ErrFatal):
			return err
		case err != nil:
			c.log.Warn("the generation is given up, joining the group again", "group", c.cfg.Group, "error", err)
		}
	}
	return nil
}

func (c *Consumer) brokers() []string { return strings.Split(c.client.Addr.String(), ",") }

// serve runs a worker for each partition of a generation until the generation ends, stop ends or one of them fails.
func (c *Consumer) serve(stop, ended context.Context, generation *kafka.Generation) error {
	workers, session := errgroup.WithContext(ended)
	for topic, partitions := range generation.Assignments {
		for _, partition := range partitions {
			w := newWorker(c, generation, topic, partition.ID)
			workers.Go(func() error { return w.run(session, stop) })
		}
	}
	workers.Go(func() error { return c.watch(session, ended, stop) })
	err := workers.Wait()
	if err == nil && stop.Err() == nil {
		// Without partitions there is nothing to do until the next rebalance.
		select {
		case <-ended.Done():
		case <-stop.Done():
		}
	}
	return err
}

// leave leaves the group. Closing waits for a join that is under way, which can take as long as a rebalance; the broker
// finds out about a member that just goes away, so we do not wait for that.
func (c *Consumer) leave(group *kafka.ConsumerGroup) {
	left := make(chan struct{})
	go func() {
		_ = group.Close()
		close(left)
	}()
	select {
	case <-left:
	case <-time.After(c.cfg.Grace):
	}
}

func partitionCount(generation *kafka.Generation) int {
	n := 0
	for _, partitions := range generation.Assignments {
		n += len(partitions)
	}
	return n
}
