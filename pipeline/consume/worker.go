package consume

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/segmentio/kafka-go"
)

// worker owns one partition during one generation of the group. Its goroutine plans, handles and commits; a second one,
// fetcher.run, forms the batches.
type worker struct {
	cfg        Config
	client     *kafka.Client
	generation *kafka.Generation
	topic      string
	partition  int
	newHandler func(topic string, partition int) Handler
	log        *slog.Logger
	metrics    *metrics
	lag        *partitionLag
}

func newWorker(c *Consumer, generation *kafka.Generation, topic string, partition int) *worker {
	return &worker{
		cfg: c.cfg, client: c.client, generation: generation, topic: topic, partition: partition,
		newHandler: c.newHandler, metrics: c.metrics,
		log: c.log.With("topic", topic, "partition", partition, "generation", generation.ID),
		lag: newPartitionLag(c.metrics, topic, partition),
	}
}

// buffers is how many batches of a partition are in memory: one that is handled and one that is fetched meanwhile.
const buffers = 2

// run works until session ends (the partition may be somebody else's) or stop does (the process is to end). After
// session it finishes the batch in hand and drops the rest; after stop it finishes everything that was fetched; in both
// cases within Grace. It returns an error if the generation ought to end, so that the partition gets another owner.
func (w *worker) run(session, stop context.Context) error {
	defer w.lag.forget()
	fetching, stopFetching := context.WithCancel(session)
	defer stopFetching()
	defer context.AfterFunc(stop, stopFetching)()
	finishing, release := outlive(fetching, w.cfg.Grace)
	defer release()
	// What fails is tried again while the partition is ours, and no longer than there is time for.
	retrying, stopRetrying := context.WithCancel(finishing)
	defer stopRetrying()
	defer context.AfterFunc(session, stopRetrying)()

	f := &fetcher{
		cfg: w.cfg, client: w.client, topic: w.topic, partition: w.partition,
		log: w.log, metrics: w.metrics, lag: w.lag,
	}
	offset, metadata, err := w.committed(fetching)
	if err == nil {
		err = f.start(fetching, offset, metadata)
	}
	if err != nil {
		if fetching.Err() != nil {
			return nil
		}
		return err
	}
	w.lag.committed(f.position)

	free, ready := make(chan *buffer, buffers), make(chan *buffer, buffers)
	for range buffers {
		free <- newBuffer(w.topic, w.partition)
	}
	go f.run(fetching, free, ready)
	defer func() { // leave nothing running that uses the client
		stopFetching()
		for range ready {
		}
	}()

	err = w.work(session, fetching, finishing, retrying, free, ready)
	if err != nil && session.Err() != nil && !errors.Is(err, ErrFatal) {
		w.log.Info("the partition was lost before its batch was committed; its next owner forms it again", "error", err)
		return nil
	}
	return err
}

// work handles the batches that come from ready until it is closed or session ends.
func (w *worker) work(session, fetching, finishing, retrying context.Context, free chan<- *buffer,
	ready <-chan *buffer) error {
	handler := w.newHandler(w.topic, w.partition)
	if closer, ok := handler.(io.Closer); ok {
		defer closer.Close()
	}
	var b *buffer // planned already, or nil
	for {
		if b != nil && session.Err() != nil {
			return nil // the plan stands: the next owner forms the batch again
		}
		if b == nil {
			var open bool
			if b, open = <-ready; !open || session.Err() != nil || !b.planned && !w.released(fetching) {
				return nil // what is not planned is just fetched again by whoever owns the partition next
			}
			if err := w.commit(finishing, retrying, b.First, formatPlan(b.Last)); err != nil {
				return err
			}
		}
		if err := w.handle(finishing, retrying, handler, b); err != nil {
			return err
		}
		// If the next batch is there, its plan goes into the commit that ends this one. That is safe: this batch is
		// handled, so the offset is true, and the plan is stored before its batch is handled, as ever. The offset and its
		// metadata are stored together or not at all. In the latter case the group still has this batch's own plan.
		var next *buffer
		if !w.cfg.held() {
			next = waiting(session, ready)
		}
		offset, metadata := b.Last+1, ""
		if next != nil {
			offset, metadata = next.First, formatPlan(next.Last)
		}
		if err := w.commit(finishing, retrying, offset, metadata); err != nil {
			return err
		}
		b.reset()
		free <- b
		b = next
	}
}

// heldPoll is how soon a worker that holds still notices that it may go on.
const heldPoll = 50 * time.Millisecond

// released waits while the group holds still, which a range that was planned before does not, as it is waited for, and
// returns whether work may go on: not if fetching has ended meanwhile.
func (w *worker) released(fetching context.Context) bool {
	if !w.cfg.held() {
		return true
	}
	tick := time.NewTicker(heldPoll)
	defer tick.Stop()
	for w.cfg.held() {
		select {
		case <-fetching.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}

// waiting returns a batch that can be planned right away, or nil.
func waiting(session context.Context, ready <-chan *buffer) *buffer {
	if session.Err() != nil {
		return nil
	}
	select {
	case b := <-ready:
		return b // nil if ready was closed
	default:
		return nil
	}
}

// handle gives the batch to the handler until that succeeds, retrying ends or the error is fatal.
func (w *worker) handle(finishing, retrying context.Context, handler Handler, b *buffer) error {
	started := time.Now()
	rest := b.Batch
	rest.Alone = func(ctx context.Context) bool {
		// Whoever owns the partition next begins after the group has stopped taking our commits.
		return !b.planned && w.tryCommit(ctx, rest.First, formatPlan(b.Last)) == nil
	}
	rest.Reached = func(ctx context.Context, next int64) error {
		if err := w.commit(ctx, retrying, next, formatPlan(b.Last)); err != nil {
			return err
		}
		rest.First = next
		for len(rest.Records) > 0 && rest.Records[0].Offset < next {
			rest.Records = rest.Records[1:]
		}
		return nil
	}
	try := func() (struct{}, error) {
		err := handler.Handle(finishing, &rest)
		b.planned = true
		if err != nil {
			w.metrics.handleErrors.WithLabelValues(w.topic).Inc()
			if errors.Is(err, ErrFatal) {
				err = backoff.Permanent(err)
			}
		}
		return struct{}{}, err
	}
	if _, err := backoff.Retry(retrying, try, w.retries("handling a batch failed", "batch", b.Token())...); err != nil {
		return fmt.Errorf("handle %s: %w", b.Token(), err)
	}
	w.metrics.handled(w.topic, len(b.Records), time.Since(started))
	return nil
}

// retries are the options for trying again with growing, jittered pauses until the context ends. The first error of a
// row is logged, and then one every minute.
func (w *worker) retries(what string, attrs ...any) []backoff.RetryOption {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = w.cfg.RetryMin, w.cfg.RetryMax
	var logged time.Time
	return []backoff.RetryOption{
		backoff.WithBackOff(pauses),
		backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, _ time.Duration) {
			if time.Since(logged) > time.Minute {
				logged = time.Now()
				w.log.Warn(what+", trying again", append(attrs, "error", err)...)
			}
		}),
	}
}

// outlive returns a context that ends grace after parent does.
func outlive(parent context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stopWatching := context.AfterFunc(parent, func() {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		stopWatching()
		cancel()
	}
}
