package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/eventlog"
	"github.com/motorpool/fleet/pipeline/topic"
)

// Publisher puts messages on a topic, and returns when all replicas have them.
type Publisher interface {
	PublishRaw(ctx context.Context, topic string, messages []topic.Message) error
}

// Dispatcher is the consume.Handler of the topic of events: it tells, for each endpoint that an event is for, the
// topic of deliveries, keyed by endpoint. A batch that comes again is told again, and known to the endpoints' owners
// by its deliveries' ids. It is safe for concurrent use.
type Dispatcher struct {
	Endpoints Endpoints
	Matcher   Matcher
	Publisher Publisher
	Topic     string // of deliveries
	Metrics   *Metrics
	Log       *slog.Logger
}

// What is put on the topic of deliveries at once: an account may have many endpoints, and a batch many events.
const (
	pieceMessages = 1000
	pieceBytes    = 512 << 10
)

// clocksDiffer is how far the clocks of who makes an endpoint and who makes an event may be apart.
const clocksDiffer = time.Minute

// Handle tells the topic of deliveries of a batch of events, piece by piece.
func (d *Dispatcher) Handle(ctx context.Context, b *consume.Batch) error {
	if b.Partition != 0 {
		return fmt.Errorf("topic %s has more than one partition, so its events have no order: %w", b.Topic, consume.ErrFatal)
	}
	// An endpoint that was made before an event hears of it.
	if err := d.Endpoints.RefreshNow(ctx); err != nil {
		return fmt.Errorf("dispatch %s: %w", b.Token(), err)
	}
	var piece []topic.Message
	bytes := 0
	records := b.Records // Reached takes what is done out of the batch
	for i := range records {
		r := &records[i]
		if r.Poison != nil { // the consumer has told of it
			continue
		}
		e, err := eventlog.Decode(r.Value)
		if err != nil { // the log of events tells of it
			continue
		}
		noted := r.Time
		if noted <= 0 {
			noted = e.At
		}
		told := false // a piece was, while this event was looked at
		for _, endpoint := range d.Endpoints.Of(e.Account) {
			if noted.Time().Before(endpoint.Created.Add(-clocksDiffer)) || !d.Matcher.Match(endpoint, &e) {
				continue // it was there before the endpoint was, or is nothing to it
			}
			value := appendMessage(make([]byte, 0, 512+len(e.Body)), endpoint.ID, eventlog.Sequence(r.Offset), noted, &e)
			if len(piece) >= pieceMessages || len(piece) > 0 && bytes+len(value) > pieceBytes {
				if err := d.publish(ctx, b, piece); err != nil {
					return err
				}
				piece, bytes, told = piece[:0], 0, true
			}
			piece = append(piece, topic.Message{Key: messageKey(endpoint.ID), Value: value})
			bytes += len(value)
		}
		if !told || i == len(records)-1 {
			continue
		}
		// What is left of the piece is about this event, or it is empty.
		if err := d.publish(ctx, b, piece); err != nil {
			return err
		}
		piece, bytes = piece[:0], 0
		if b.Reached != nil {
			if err := b.Reached(ctx, r.Offset+1); err != nil {
				return fmt.Errorf("dispatch %s: %w", b.Token(), err)
			}
		}
	}
	return d.publish(ctx, b, piece)
}

// publish puts some messages on the topic of deliveries.
func (d *Dispatcher) publish(ctx context.Context, b *consume.Batch, piece []topic.Message) error {
	if len(piece) == 0 {
		return nil
	}
	if err := d.Publisher.PublishRaw(ctx, d.Topic, piece); err != nil {
		if !tooLarge(err) {
			return fmt.Errorf("dispatch %s: %w", b.Token(), err)
		}
		d.Log.Error("an event is too large to be sent to endpoints", "topic", b.Topic, "batch", b.Token(), "error", err)
	}
	d.Metrics.dispatched.Add(float64(len(piece)))
	return nil
}

// tooLarge says whether nothing is wrong but that messages are larger than the topic takes, which no repetition mends.
func tooLarge(err error) bool {
	var partly *topic.PublishError
	return errors.As(err, &partly) && !slices.ContainsFunc(partly.Errors, func(one error) bool {
		return one != nil && !errors.Is(one, topic.ErrTooLarge)
	})
}
