package consume

import (
	"context"
	"fmt"

	"github.com/segmentio/kafka-go"

	"github.com/motorpool/fleet/pipeline/topic"
)

// PartitionLag says how far a group is with a partition.
type PartitionLag struct {
	Topic     string
	Partition int
	Committed int64 // The next offset to handle; the log's start if the group has committed none.
	End       int64 // The offset that the next record will get.
}

// Records returns how many offsets are not handled yet.
func (l PartitionLag) Records() int64 { return max(l.End-l.Committed, 0) }

// Lag asks the brokers how far a group is with each partition of topics, whoever consumes them, in the order of topics
// and partitions. A topic that does not exist is an error.
func Lag(ctx context.Context, client *kafka.Client, group string, topics []string) ([]PartitionLag, error) {
	cluster, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: topics})
	if err != nil {
		return nil, fmt.Errorf("lag of group %s: %w", group, err)
	}
	var lags []PartitionLag
	partitions := make(map[string][]int, len(topics))
	offsets := make(map[string][]kafka.OffsetRequest, len(topics))
	for _, t := range cluster.Topics {
		if t.Error != nil {
			return nil, fmt.Errorf("lag of group %s: topic %s: %w", group, t.Name, t.Error)
		}
		for _, p := range t.Partitions {
			partitions[t.Name] = append(partitions[t.Name], p.ID)
			offsets[t.Name] = append(offsets[t.Name], kafka.FirstOffsetOf(p.ID), kafka.LastOffsetOf(p.ID))
			lags = append(lags, PartitionLag{Topic: t.Name, Partition: p.ID})
		}
	}
	// The committed offsets come first: a lag that is too large by what is handled meanwhile is better than one of zero
	// that never was.
	committed, err := topic.Committed(ctx, client, group, partitions)
	if err != nil {
		return nil, fmt.Errorf("lag of group %s: %w", group, err)
	}
	ends, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: offsets})
	if err != nil {
		return nil, fmt.Errorf("lag of group %s: %w", group, err)
	}
	for i := range lags {
		l := &lags[i]
		l.Committed = -1
		for _, p := range committed[l.Topic] {
			if p.Partition == l.Partition {
				l.Committed, err = p.CommittedOffset, p.Error
			}
		}
		for _, p := range ends.Topics[l.Topic] {
			if p.Partition != l.Partition {
				continue
			}
			if err == nil {
				err = p.Error
			}
			l.End = p.LastOffset
			l.Committed = max(l.Committed, p.FirstOffset)
		}
		if err != nil {
			return nil, fmt.Errorf("lag of group %s: %s/%d: %w", group, l.Topic, l.Partition, err)
		}
	}
	return lags, nil
}
