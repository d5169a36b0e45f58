package topic

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
)

// Counter knows how many partitions a topic has. It asks the brokers themselves: what a client knows may be some seconds
// old. It is safe for concurrent use.
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
	if c.n, c.err = c.ask(ctx); c.err != nil {
		asked = time.Now() // it may have taken longer than any age
	}
	c.asked = asked
	return c.n, c.err
}

// countTimeout is short: what waits for the answer has other things to do.
const countTimeout = 3 * time.Second

// ask asks one broker after the other.
func (c *Counter) ask(ctx context.Context) (int, error) {
	var errs []error
	for _, broker := range c.brokers {
		partitions, err := c.dialer.LookupPartitions(ctx, "tcp", broker, c.topic)
		if err == nil {
			return len(partitions), nil
		}
		errs = append(errs, err)
	}
	return 0, fmt.Errorf("partitions of %s: %w", c.topic, errors.Join(errs...))
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
