package topic

import (
	"context"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go"
)

// Lag returns how many records of topics a consumer group has not committed yet. A partition of which the group has
// committed nothing counts whole.
func Lag(ctx context.Context, client *kafka.Client, group string, topics ...string) (int64, error) {
	cluster, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: topics})
	if err != nil {
		return 0, fmt.Errorf("lag of %s: %w", group, err)
	}
	ends, committed := map[string][]kafka.OffsetRequest{}, map[string][]int{}
	for _, t := range cluster.Topics {
		if t.Error != nil {
			return 0, fmt.Errorf("lag of %s: topic %s: %w", group, t.Name, t.Error)
		}
		for _, p := range t.Partitions {
			ends[t.Name] = append(ends[t.Name], kafka.FirstOffsetOf(p.ID), kafka.LastOffsetOf(p.ID))
			committed[t.Name] = append(committed[t.Name], p.ID)
		}
	}
	done, err := client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: committed})
	if err == nil && !errors.Is(done.Error, kafka.GroupIdNotFound) { // nobody has ever been in it
		err = done.Error
	}
	if err != nil {
		return 0, fmt.Errorf("lag of %s: %w", group, err)
	}
	type partition struct {
		topic string
		id    int
	}
	reached := map[partition]int64{}
	for name, partitions := range done.Topics {
		for _, p := range partitions {
			if p.Error != nil {
				return 0, fmt.Errorf("lag of %s: topic %s: %w", group, name, p.Error)
			}
			reached[partition{name, p.Partition}] = p.CommittedOffset
		}
	}
	found, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: ends})
	if err != nil {
		return 0, fmt.Errorf("lag of %s: %w", group, err)
	}
	lag := int64(0)
	for name, partitions := range found.Topics {
		for _, p := range partitions {
			if p.Error != nil {
				return 0, fmt.Errorf("lag of %s: topic %s: %w", group, name, p.Error)
			}
			lag += max(0, p.LastOffset-max(reached[partition{name, p.Partition}], p.FirstOffset))
		}
	}
	return lag, nil
}
