package topic

import (
	"context"
	"errors"
	"time"

	"github.com/segmentio/kafka-go"
)

// Bounds of asking again while the brokers look for who keeps a group's commits.
const (
	seekingFirst = 50 * time.Millisecond // before the second time; then twice as long each time
	seekingLast  = 4 * time.Second       // before the last time
)

// Committed returns up to where a group has come in partitions of topics; brokers differ in whether they list those of
// which it has committed nothing, and a group that nobody has ever been in has none. While the brokers look for who
// keeps the group's commits, as new ones do for a few seconds when the first group comes, it asks again, for eight
// seconds at most.
func Committed(ctx context.Context, client *kafka.Client, group string,
	partitions map[string][]int) (map[string][]kafka.OffsetFetchPartition, error) {
	for wait := seekingFirst; ; wait *= 2 {
		res, err := client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: partitions})
		if err == nil && !errors.Is(res.Error, kafka.GroupIdNotFound) {
			err = res.Error
		}
		if err == nil {
			err = seekingAny(res.Topics)
		}
		if err == nil {
			return res.Topics, nil
		}
		if !seeking(err) || wait > seekingLast {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(wait):
		}
	}
}

// seeking says that an error tells that the brokers do not know yet who keeps a group's commits, or that it is reading
// them.
func seeking(err error) bool {
	return errors.Is(err, kafka.NotCoordinatorForGroup) || errors.Is(err, kafka.GroupCoordinatorNotAvailable) ||
		errors.Is(err, kafka.GroupLoadInProgress)
}

// seekingAny returns such an error of any partition: older brokers tell it of each, and not of the group.
func seekingAny(topics map[string][]kafka.OffsetFetchPartition) error {
	for _, partitions := range topics {
		for _, p := range partitions {
			if seeking(p.Error) {
				return p.Error
			}
		}
	}
	return nil
}
