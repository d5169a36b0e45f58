package consume

import (
	"context"
	"errors"
	"fmt"

	"github.com/cenkalti/backoff/v5"
	"github.com/segmentio/kafka-go"
)

// committed reads what the group has committed for the worker's partition; offset is -1 if it has nothing.
func (w *worker) committed(ctx context.Context) (offset int64, metadata string, err error) {
	ask := func() (kafka.OffsetFetchPartition, error) {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		res, err := w.client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{
			GroupID: w.generation.GroupID,
			Topics:  map[string][]int{w.topic: {w.partition}},
		})
		if err != nil {
			return kafka.OffsetFetchPartition{}, err
		}
		if res.Error != nil {
			return kafka.OffsetFetchPartition{}, res.Error
		}
		for _, p := range res.Topics[w.topic] {
			if p.Partition == w.partition {
				return p, p.Error
			}
		}
		return kafka.OffsetFetchPartition{}, errBadResponse
	}
	p, err := backoff.Retry(ctx, ask, w.retries("asking for the committed offset failed")...)
	if err != nil {
		return 0, "", fmt.Errorf("offset of %s/%d: %w", w.topic, w.partition, err)
	}
	return p.CommittedOffset, p.Metadata, nil
}

// commit stores the next offset to read and a plan, or "" for none. An attempt may last until ctx ends; it is repeated
// until retrying ends. A commit whose answer got lost is repeated too, which is harmless: nobody else's commit can come
// between, since the broker refuses those of any other generation. errRefused says that it has refused this one.
func (w *worker) commit(ctx, retrying context.Context, offset int64, metadata string) error {
	try := func() (struct{}, error) {
		err := w.tryCommit(ctx, offset, metadata)
		if isRefusal(err) {
			err = backoff.Permanent(fmt.Errorf("%w: %w", errRefused, err))
		}
		return struct{}{}, err
	}
	if _, err := backoff.Retry(retrying, try, w.retries("committing an offset failed")...); err != nil {
		w.metrics.commitErrors.WithLabelValues(w.topic).Inc()
		return fmt.Errorf("commit %s/%d offset %d %s: %w", w.topic, w.partition, offset, metadata, err)
	}
	w.metrics.commits.WithLabelValues(w.topic).Inc()
	w.lag.committed(offset)
	return nil
}

func (w *worker) tryCommit(ctx context.Context, offset int64, metadata string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	res, err := w.client.OffsetCommit(ctx, &kafka.OffsetCommitRequest{
		GroupID:      w.generation.GroupID,
		GenerationID: int(w.generation.ID),
		MemberID:     w.generation.MemberID,
		Topics: map[string][]kafka.OffsetCommit{
			w.topic: {{Partition: w.partition, Offset: offset, Metadata: metadata}},
		},
	})
	if err != nil {
		return err
	}
	for _, p := range res.Topics[w.topic] {
		if p.Partition == w.partition {
			return p.Error
		}
	}
	return errBadResponse
}

// errRefused says that the group no longer takes our commits: the partition is or will be another member's.
var errRefused = errors.New("the group has moved on")

// isRefusal tells the errors that repeating a commit cannot cure.
func isRefusal(err error) bool {
	for _, refusal := range []kafka.Error{
		kafka.IllegalGeneration, kafka.UnknownMemberId, kafka.RebalanceInProgress, kafka.FencedInstanceID,
		kafka.OffsetMetadataTooLarge, kafka.GroupAuthorizationFailed, kafka.TopicAuthorizationFailed, kafka.InvalidGroupId,
	} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}
