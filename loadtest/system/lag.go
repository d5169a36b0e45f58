package system

import (
	"context"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go"
)

// lags are the groups of a pipeline with the topics that each of them reads.
var lags = map[string][]string{
	"motorpool":        {"positions", "telemetry", "traccar.positions"},
	"motorpool-follow": {"changes"},
	"motorpool-events": {"events"},
}

// Lag returns how many records the pipeline has not committed yet: of what devices sent, of changes and of events.
func (s *System) Lag(ctx context.Context) (int64, error) {
	transport := &kafka.Transport{}
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(s.kafka), Transport: transport}
	all := int64(0)
	for group, topics := range lags {
		lag, err := lagOf(ctx, client, group, topics)
		if err != nil {
			return 0, fmt.Errorf("lag of %s: %w", group, err)
		}
		all += lag
	}
	return all, nil
}

func lagOf(ctx context.Context, client *kafka.Client, group string, topics []string) (int64, error) {
	cluster, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: topics})
	if err != nil {
		return 0, err
	}
	wanted, ids := map[string][]kafka.OffsetRequest{}, map[string][]int{}
	for _, t := range cluster.Topics {
		if t.Error != nil {
			return 0, fmt.Errorf("topic %s: %w", t.Name, t.Error)
		}
		for _, p := range t.Partitions {
			wanted[t.Name] = append(wanted[t.Name], kafka.FirstOffsetOf(p.ID), kafka.LastOffsetOf(p.ID))
			ids[t.Name] = append(ids[t.Name], p.ID)
		}
	}
	committed, err := client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: ids})
	if err == nil && !errors.Is(committed.Error, kafka.GroupIdNotFound) {
		err = committed.Error
	}
	if err != nil {
		return 0, err
	}
	ends, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: wanted})
	if err != nil {
		return 0, err
	}
	lag := int64(0)
	for name, partitions := range ends.Topics {
		for _, p := range partitions {
			if p.Error != nil {
				return 0, fmt.Errorf("topic %s: %w", name, p.Error)
			}
			from := p.FirstOffset
			for _, c := range committed.Topics[name] {
				if c.Partition == p.Partition {
					from = max(from, c.CommittedOffset)
				}
			}
			lag += max(0, p.LastOffset-from)
		}
	}
	return lag, nil
}
