package consume

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/segmentio/kafka-go"
)

// fetcher forms the batches of one partition. All of it belongs to the goroutine of run.
type fetcher struct {
	cfg       Config
	client    *kafka.Client
	topic     string
	partition int
	log       *slog.Logger
	metrics   *metrics
	lag       *partitionLag

	position int64     // The next offset to read.
	planned  bool      // The batch to form is a range that was planned before.
	planEnd  int64     // The last offset of the planned range.
	short    time.Time // Since when the log ends inside the planned range; zero if it does not.

	set      recordSet // The last response; what it still holds is read before the next fetch.
	found    *poison   // A batch that cannot be read, found in set and not yet part of a batch.
	doubt    doubt     // How often the damaged bytes that came last have come.
	end      int64     // The end of the log, as last seen.
	opened   bool      // The open record batch of set is not finished.
	memory   []byte    // The memory of the last response; nil while an exchange that was given up may write to it.
	maxBytes int       // The size of the next fetch.
	retry    time.Duration
}

// start sets where to begin: at the committed offset with its plan, or at the log's start if nothing was committed
// (offset < 0). It fails only if ctx ends.
func (f *fetcher) start(ctx context.Context, offset int64, metadata string) error {
	f.maxBytes = f.cfg.FetchBytes
	f.set.inflater.limit = f.cfg.MaxInflatedBytes
	f.position = offset
	if f.planEnd, f.planned = parsePlan(metadata, offset); f.planned {
		f.metrics.replans.WithLabelValues(f.topic).Inc()
		f.log.Info("forming a planned batch again", "first", offset, "last", f.planEnd)
	}
	for f.position < 0 {
		first, _, err := logRange(ctx, f.client, f.topic, f.partition)
		if err == nil {
			f.position = first
		} else if !f.pause(ctx, time.Time{}, "asking for the log's range failed", err) {
			return ctx.Err()
		}
	}
	return nil
}

// run fills the buffers that come from free and sends them to ready, which must have room for all of them, until ctx
// ends. The open batch is sent then, too: the receiver knows whether it may still be handled. At last it closes ready.
func (f *fetcher) run(ctx context.Context, free <-chan *buffer, ready chan<- *buffer) {
	defer close(ready)
	for {
		select {
		case <-ctx.Done():
			return
		case b := <-free:
			if !f.fill(ctx, b) {
				return
			}
			b.settleTimes()
			ready <- b
		}
	}
}

// fill reads records into b until the batch is closed. When ctx ends it closes the batch early, or returns false if it
// is empty or a part of a planned range: a range is formed whole or not at all.
func (f *fetcher) fill(ctx context.Context, b *buffer) bool {
	b.First = f.position
	var due time.Time // when Linger is over; zero for an empty batch and for a planned range
	for {
		closed, err := f.take(b)
		if err != nil {
			f.metrics.fetchErrors.WithLabelValues(f.topic).Inc()
			f.pause(ctx, due, "reading what was fetched failed", err)
		}
		if len(b.Records) > 0 && !f.planned {
			if now := time.Now(); due.IsZero() {
				due = now.Add(f.cfg.Linger)
			} else if !now.Before(due) {
				closed = true
			}
		}
		if !closed && ctx.Err() != nil {
			if f.planned || len(b.Records) == 0 {
				return false
			}
			closed = true
		}
		if closed {
			b.planned = f.planned
			f.planned, f.short = false, time.Time{}
			if len(b.Records) > 0 {
				b.Last, b.highWater = f.position-1, f.lag.end.Load()
				return true
			}
			// Nothing is left of the planned range: the next batch begins behind it, perhaps in what was fetched already.
			b.First = f.position
			continue
		}
		f.fetch(ctx, b, due)
	}
}

// take moves records from the last response to b and returns whether that closed the batch. If not, the response is
// used up.
func (f *fetcher) take(b *buffer) (closed bool, err error) {
	for {
		if !f.opened {
			if closed, err := f.open(b); closed || err != nil || !f.opened {
				return closed, err
			}
		}
		for f.set.left > 0 {
			if f.planned && f.position > f.planEnd || f.full(b) || !f.planned && b.poisoned() {
				return true, nil
			}
			if len(b.Records) == cap(b.Records) {
				b.Records = append(b.Records, Record{})[:len(b.Records)]
			}
			r := &b.Records[:len(b.Records)+1][len(b.Records)]
			rest := f.set.records
			if err := f.set.read(r); err != nil {
				return false, fmt.Errorf("offset %d or after it: %w", f.position, err) // cannot be: open has looked
			}
			if r.Offset < f.position {
				r.Key, r.Value = nil, nil
				continue // a response begins with a whole batch, which may begin before the offset that was asked for
			}
			if f.planned && r.Offset > f.planEnd {
				// Offsets are missing at the range's end, and this record belongs to the next batch.
				f.set.records, f.set.left = rest, f.set.left+1
				r.Key, r.Value = nil, nil
				f.position = f.planEnd + 1
				return true, nil
			}
			r.Key, r.Value = b.keep(r.Key), b.keep(r.Value)
			b.bytes += len(r.Key) + len(r.Value)
			b.Records = b.Records[:len(b.Records)+1]
			f.position = r.Offset + 1
		}
		f.opened = false
		f.set.close()
		f.advance(f.set.next)
	}
}

// open opens the next batch of the last response that can be read; those that cannot are buried in b, which may close
// it. Without an open batch, and not closed, the response is used up.
func (f *fetcher) open(b *buffer) (closed bool, err error) {
	for {
		found := f.found
		if found == nil {
			f.opened, err = f.set.open()
			if errors.Is(err, errTruncated) && f.cannotBe() {
				err = f.set.cut()
			}
			found = asPoison(err)
		}
		switch {
		case found != nil:
			if closed, err := f.bury(b, found); closed || err != nil {
				return closed, err
			}
			continue
		case errors.Is(err, errTruncated):
			// A broker cuts the response at the size that was asked for, but sends the first batch whole since Kafka
			// 0.10.1. With one that does not, a batch larger than a fetch must not stop the partition for ever.
			if f.set.batches == 0 {
				f.maxBytes = max(f.maxBytes, min(2*f.maxBytes, maxBatch))
			}
			f.set.reset(nil, f.position, f.end)
			return false, nil
		case !f.opened:
			return f.planned && f.position > f.planEnd, nil
		}
		f.maxBytes, f.retry, f.doubt = f.cfg.FetchBytes, 0, doubt{}
		return false, nil
	}
}

// cannotBe says whether the batch that the response ends in is cut off although all of it was asked for.
func (f *fetcher) cannotBe() bool {
	return f.set.batches == 0 && len(f.set.data) >= logOverhead &&
		(f.set.size() <= int64(f.maxBytes) || f.maxBytes >= maxBatch)
}

// full says whether a batch that is no planned range has come to a limit.
func (f *fetcher) full(b *buffer) bool {
	return !f.planned && (len(b.Records) >= f.cfg.MaxRows || b.bytes >= f.cfg.MaxBytes)
}

// advance moves position forward to an offset before which nothing is left, but not beyond the end of a planned range.
func (f *fetcher) advance(to int64) {
	if f.planned {
		to = min(to, f.planEnd+1)
	}
	f.position = max(f.position, to)
}

// requestTimeout bounds a request to a broker, beside the time it is asked to wait.
const requestTimeout = 10 * time.Second

// fetch asks for the records from position on. It waits until there are some, until due if the batch has begun, or for
// FetchWait. It deals with errors itself, and pauses after them.
func (f *fetcher) fetch(ctx context.Context, b *buffer, due time.Time) {
	minBytes, wait := 1, f.cfg.FetchWait
	if !due.IsZero() {
		// The batch waits in any case: better one answer when it is due than one for every few records.
		minBytes = min(f.maxBytes, max(1, f.cfg.MaxBytes-b.bytes))
		wait = max(time.Until(due), time.Millisecond)
	}
	e := newExchange(f.topic, f.partition, f.position, minBytes, f.maxBytes, wait, f.memory)
	f.memory = nil
	bounded, cancel := context.WithTimeout(ctx, wait+requestTimeout)
	defer cancel()
	res, err := roundTrip(bounded, f.client, e)
	switch {
	case err == nil:
		if cap(e.body) <= 4*f.cfg.FetchBytes { // one very large record does not decide for ever what a partition costs
			f.memory = e.body
		}
		f.end = res.highWater
		f.set.reset(res.records, f.position, f.end)
		f.lag.sawEnd(res.highWater)
		f.checkPlan(res)
		if len(res.records) == 0 {
			f.retry = 0
		}
	case ctx.Err() != nil:
	case errors.Is(err, kafka.OffsetOutOfRange):
		f.outOfRange(ctx, b, due)
	default:
		f.metrics.fetchErrors.WithLabelValues(f.topic).Inc()
		f.pause(ctx, due, "fetching failed", err)
	}
}

// checkPlan gives the rest of a planned range up if the log has ended inside it for PlanWait: records that had been
// acknowledged are lost then, and what is written next gets their offsets.
func (f *fetcher) checkPlan(res fetched) {
	if !f.planned || f.position > f.planEnd || len(res.records) > 0 || res.highWater > f.planEnd {
		f.short = time.Time{}
		return
	}
	if f.short.IsZero() {
		f.short = time.Now()
	}
	if time.Since(f.short) < f.cfg.PlanWait {
		return
	}
	f.metrics.outOfRange.WithLabelValues(f.topic).Inc()
	f.log.Error("the log has lost its end: it stops inside a range that was read before; going on with what is there",
		"position", f.position, "planned_last", f.planEnd, "end", res.highWater)
	f.planEnd = f.position - 1
}

// outOfRange moves position to where the log has records.
func (f *fetcher) outOfRange(ctx context.Context, b *buffer, due time.Time) {
	first, end, err := logRange(ctx, f.client, f.topic, f.partition)
	switch {
	case err != nil:
		f.pause(ctx, due, "asking for the log's range failed", err)
		return
	case f.position >= first && f.position <= end:
		f.pause(ctx, due, "fetching failed", kafka.OffsetOutOfRange) // it was so for a moment
		return
	case f.position < first:
		f.log.Error("records were deleted before they were read; going on with the oldest that are left",
			"position", f.position, "oldest", first)
		f.advance(first)
	case len(b.Records) > 0:
		// The open batch ends here, by Linger; its end is still right.
		f.pause(ctx, due, "the log ends before the offset to read next", kafka.OffsetOutOfRange)
		return
	default:
		// Which of its records we have read before cannot be told. Reading some twice does no harm; missing some does.
		f.log.Error("the log ends before the offset to read next: it lost its end or is another log; reading it from its start",
			"position", f.position, "start", first, "end", end)
		f.planned, f.position = false, first
	}
	f.metrics.outOfRange.WithLabelValues(f.topic).Inc()
	if len(b.Records) == 0 && !f.planned {
		b.First = f.position
	}
}

// pause logs an error and waits before the next attempt, longer each time and not past due. It returns false if ctx
// ended.
func (f *fetcher) pause(ctx context.Context, due time.Time, what string, err error) bool {
	if f.retry == 0 {
		f.log.Warn(what+", trying again", "position", f.position, "error", err)
	}
	f.retry = min(max(2*f.retry, f.cfg.RetryMin), f.cfg.RetryMax)
	wait := f.retry/2 + rand.N(f.retry)
	if !due.IsZero() {
		wait = min(wait, max(time.Until(due), 0))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// logRange asks for the first offset of a partition and the one that its next record will get.
func logRange(ctx context.Context, client *kafka.Client, topic string, partition int) (first, end int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	res, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{
		topic: {kafka.FirstOffsetOf(partition), kafka.LastOffsetOf(partition)},
	}})
	if err != nil {
		return 0, 0, err
	}
	for _, p := range res.Topics[topic] {
		if p.Partition == partition {
			return p.FirstOffset, p.LastOffset, p.Error
		}
	}
	return 0, 0, kafka.UnknownTopicOrPartition
}
