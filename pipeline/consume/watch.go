package consume

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/motorpool/fleet/pipeline/topic"
)

// errPartitions ends a generation, so that the next one gives away the partitions that there are now.
var errPartitions = errors.New("the topics have other partitions than before")

// watch looks for new partitions until session ends or stop does. kafka-go's own watch first counts when the generation
// has its partitions, so that one which is added just before that belongs to nobody for as long as the generation
// lasts; here what counts is what was known before the group was joined.
func (c *Consumer) watch(session, ended, stop context.Context) error {
	ticker := time.NewTicker(c.cfg.PartitionWatch)
	defer ticker.Stop()
	for {
		select {
		case <-stop.Done():
			return nil
		case <-session.Done():
			if ended.Err() != nil { // perhaps because another member has noticed; this one needs not notice later
				ctx, cancel := context.WithTimeout(context.WithoutCancel(session), time.Second)
				defer cancel()
				if counts, err := c.count(ctx); err == nil {
					c.counts = counts
				}
			}
			return nil
		case <-ticker.C:
		}
		counts, err := c.count(session)
		if err != nil {
			continue // the group says what is the matter
		}
		changed := c.counts != nil && !maps.Equal(counts, c.counts)
		c.counts = counts
		if changed {
			return errPartitions
		}
	}
}

// count asks the brokers for the number of partitions of each topic. What a client has in its cache may be older than
// what the group's leader knew: who went by that would end the new generation, too.
func (c *Consumer) count(ctx context.Context) (map[string]int, error) {
	return topic.Counts(ctx, c.dialer, c.brokers(), c.topics...)
}
