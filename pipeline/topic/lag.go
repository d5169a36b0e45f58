package topic

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
)

// partition is one of a topic.
type partition struct {
	topic string
	id    int
}

// progress is where a partition's log ends and how much of it a group has committed.
type progress struct{ committed, end int64 }

// Lag returns how many records of topics a consumer group has not committed yet. A partition of which the group has
// committed nothing counts whole.
func Lag(ctx context.Context, client *kafka.Client, group string, topics ...string) (int64, error) {
	all, err := progressOf(ctx, client, group, topics)
	if err != nil {
		return 0, fmt.Errorf("lag of %s: %w", group, err)
	}
	lag := int64(0)
	for _, p := range all {
		lag += max(0, p.end-p.committed)
	}
	return lag, nil
}

func progressOf(ctx context.Context, client *kafka.Client, group string,
	topics []string) (map[partition]progress, error) {
	cluster, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: topics})
	if err != nil {
		return nil, err
	}
	ends, ids := map[string][]kafka.OffsetRequest{}, map[string][]int{}
	for _, t := range cluster.Topics {
		if t.Error != nil {
			return nil, fmt.Errorf("topic %s: %w", t.Name, t.Error)
		}
		for _, p := range t.Partitions {
			ends[t.Name] = append(ends[t.Name], kafka.FirstOffsetOf(p.ID), kafka.LastOffsetOf(p.ID))
			ids[t.Name] = append(ids[t.Name], p.ID)
		}
	}
	done, err := Committed(ctx, client, group, ids)
	if err != nil {
		return nil, err
	}
	all := map[partition]progress{}
	for name, partitions := range done {
		for _, p := range partitions {
			if p.Error != nil {
				return nil, fmt.Errorf("topic %s: %w", name, p.Error)
			}
			all[partition{name, p.Partition}] = progress{committed: p.CommittedOffset}
		}
	}
	found, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: ends})
	if err != nil {
		return nil, err
	}
	for name, partitions := range found.Topics {
		for _, p := range partitions {
			if p.Error != nil {
				return nil, fmt.Errorf("topic %s: %w", name, p.Error)
			}
			at := partition{name, p.Partition}
			all[at] = progress{committed: max(all[at].committed, p.FirstOffset), end: p.LastOffset}
		}
	}
	return all, nil
}

// Backlog watches how far behind a group is in time. Records say little about that: a busy group has always some in
// hand. It is safe for concurrent use.
type Backlog struct {
	client *kafka.Client
	group  string
	topics []string

	mu    sync.Mutex
	marks []mark // by time: where the logs ended then
	done  time.Time
	each  map[partition]time.Time // done, of each partition
	asked time.Time
}

type mark struct {
	at   time.Time
	ends map[partition]int64
}

const (
	backlogEvery = 2 * time.Second // between two questions
	backlogMarks = 60              // that are kept
)

// NewBacklog returns a watch on a group's work on topics; it asks when it is asked.
func NewBacklog(client *kafka.Client, group string, topics ...string) *Backlog {
	return &Backlog{client: client, group: group, topics: topics, each: map[partition]time.Time{}}
}

// Behind names the partitions, as topic/partition, of which not everything is committed that was there so long ago. It
// asks the brokers as Done does.
func (b *Backlog) Behind(ctx context.Context, than time.Duration) ([]string, error) {
	if _, err := b.Done(ctx); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var behind []string
	for at, done := range b.each {
		if time.Since(done) > than {
			behind = append(behind, fmt.Sprintf("%s/%d", at.topic, at.id))
		}
	}
	return behind, nil
}

// Done returns an instant up to which everything that was on the topics then is committed; the zero time if none is
// known. It asks the brokers every two seconds at most.
func (b *Backlog) Done(ctx context.Context) (time.Time, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if now.Sub(b.asked) < backlogEvery {
		return b.done, nil
	}
	all, err := progressOf(ctx, b.client, b.group, b.topics)
	if err != nil {
		return time.Time{}, fmt.Errorf("backlog of %s: %w", b.group, err)
	}
	b.asked = now
	ends := make(map[partition]int64, len(all))
	for at, p := range all {
		ends[at] = p.end
		if _, ok := b.each[at]; !ok {
			b.each[at] = time.Time{}
		}
	}
	b.marks = append(b.marks, mark{now, ends})
	if len(b.marks) > backlogMarks {
		b.marks = b.marks[1:]
	}
	for _, m := range b.marks {
		for at, end := range m.ends {
			if all[at].committed >= end {
				b.each[at] = m.at
			}
		}
	}
	for len(b.marks) > 0 {
		for at, end := range b.marks[0].ends {
			if all[at].committed < end {
				return b.done, nil
			}
		}
		b.done, b.marks = b.marks[0].at, b.marks[1:]
	}
	return b.done, nil
}
