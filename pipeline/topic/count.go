package topic

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
)

// Counter knows how many partitions a topic has. It asks the brokers themselves: what a client knows may be some
// seconds old. It is safe for concurrent use.
type Counter struct {
	brokers []string
	dialer  *kafka.Dialer
	topic   string

	mu    sync.Mutex // held while it asks: one question answers all
	n     int
	err   error
	asked time.Time
}

// NewCounter returns the counter of a topic; it connects when it is asked.
func NewCounter(c Config, name string) (*Counter, error) {
	dialer, err := c.Dialer()
	if err != nil {
		return nil, err
	}
	return &Counter{brokers: c.Brokers, dialer: dialer, topic: name}, nil
}

// Count returns how many partitions the topic has; the answer is not older than age.
func (c *Counter) Count(ctx context.Context, age time.Duration) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if age > 0 && time.Since(c.asked) < age {
		return c.n, c.err
	}
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	asked := time.Now()
	counts, err := Counts(ctx, c.dialer, c.brokers, c.topic)
	if c.n, c.err = counts[c.topic], err; err != nil {
		asked = time.Now() // it may have taken longer than any age
	}
	c.asked = asked
	return c.n, c.err
}

// countTimeout is short: what waits for the answer has other things to do.
const countTimeout = 3 * time.Second

// Counts returns how many partitions each of the topics has. It asks the brokers themselves, one after the other
// until one answers.
func Counts(ctx context.Context, dialer *kafka.Dialer, brokers []string, topics ...string) (map[string]int, error) {
	var errs []error
	for _, broker := range brokers {
		counts, err := countsAt(ctx, dialer, broker, topics)
		if err == nil {
			return counts, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("partitions of %s: %w", strings.Join(topics, ", "), errors.Join(errs...))
}

func countsAt(ctx context.Context, dialer *kafka.Dialer, broker string, topics []string) (map[string]int, error) {
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	conn, err := dialer.DialContext(ctx, "tcp", broker)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	partitions, err := conn.ReadPartitions(topics...)
	if err != nil {
		return nil, err
	}
	counts := make(map[string]int, len(topics))
	for _, p := range partitions {
		counts[p.Topic]++
	}
	return counts, nil
}

// IngestPartitions returns how many partitions the topics have together that devices send to, as far as they exist.
func IngestPartitions(ctx context.Context, c Config) (int, error) {
	client, err := c.Client()
	if err != nil {
		return 0, err
	}
	defer Disconnect(client)
	existing, _, err := existingTopics(ctx, client, c)
	if err != nil {
		return 0, fmt.Errorf("list topics: %w", err)
	}
	n := 0
	for _, name := range c.Ingest() {
		n += len(existing[name].Partitions)
	}
	return n, nil
}
