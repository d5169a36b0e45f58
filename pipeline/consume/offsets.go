package consume

import (
	"context"
	"fmt"
	"slices"

	"github.com/segmentio/kafka-go"

	"github.com/motorpool/fleet/pipeline/topic"
)

// Standing says how far a group has come in a partition.
type Standing struct {
	Topic     string `json:"topic"`
	Partition int    `json:"partition"`
	Offset    int64  `json:"offset"` // The next offset to read; -1 if the group has committed nothing.

	// Planned says that a range from there on is in hand, so that some of it may be written.
	Planned bool `json:"-"`
}

// Standings returns how far a group has come in each partition of topics, by topic and partition.
func Standings(ctx context.Context, client *kafka.Client, group string, topics ...string) ([]Standing, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	cluster, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: topics})
	if err != nil {
		return nil, fmt.Errorf("where %s stands: %w", group, err)
	}
	ids := map[string][]int{}
	for _, t := range cluster.Topics {
		if t.Error != nil {
			return nil, fmt.Errorf("topic %s: %w", t.Name, t.Error)
		}
		for _, p := range t.Partitions {
			ids[t.Name] = append(ids[t.Name], p.ID)
		}
	}
	told, err := topic.Committed(ctx, client, group, ids)
	if err != nil {
		return nil, fmt.Errorf("where %s stands: %w", group, err)
	}
	var all []Standing
	for _, name := range topics {
		committed := map[int]kafka.OffsetFetchPartition{}
		for _, p := range told[name] {
			committed[p.Partition] = p
		}
		for _, id := range slices.Sorted(slices.Values(ids[name])) {
			p, ok := committed[id]
			if !ok {
				p.CommittedOffset = -1
			}
			if p.Error != nil {
				return nil, fmt.Errorf("where %s stands in %s/%d: %w", group, name, id, p.Error)
			}
			_, planned := parsePlan(p.Metadata, p.CommittedOffset)
			all = append(all, Standing{name, id, p.CommittedOffset, planned})
		}
	}
	return all, nil
}

// SetStandings makes a group go on where it is told, and in the partitions of topics of which nothing is told, or that
// it had committed nothing, at the log's start. It must have no members: the broker refuses otherwise.
func SetStandings(ctx context.Context, client *kafka.Client, group string, all []Standing, names ...string) error {
	now, err := Standings(ctx, client, group, names...)
	if err != nil {
		return err
	}
	topics := map[string][]kafka.OffsetCommit{}
	for _, s := range now {
		at := slices.IndexFunc(all, func(told Standing) bool {
			return told.Topic == s.Topic && told.Partition == s.Partition
		})
		var offset int64
		if at >= 0 && all[at].Offset >= 0 {
			offset = all[at].Offset
		} else if offset, _, err = logRange(ctx, client, s.Topic, s.Partition); err != nil {
			return fmt.Errorf("where %s/%d begins: %w", s.Topic, s.Partition, err)
		}
		topics[s.Topic] = append(topics[s.Topic], kafka.OffsetCommit{Partition: s.Partition, Offset: offset})
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	res, err := client.OffsetCommit(ctx, &kafka.OffsetCommitRequest{GroupID: group, GenerationID: -1, Topics: topics})
	if err != nil {
		return fmt.Errorf("set the offsets of %s: %w", group, err)
	}
	for name, partitions := range res.Topics {
		for _, p := range partitions {
			if p.Error != nil {
				return fmt.Errorf("set the offset of %s in %s/%d: %w", group, name, p.Partition, p.Error)
			}
		}
	}
	return nil
}
