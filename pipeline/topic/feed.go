package topic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/codec"
)

// Message is a record to publish. Empty headers are not sent.
type Message struct {
	Key         []byte // decides the partition; messages of one device have one key
	Value       []byte
	ContentType string
	Run         string       // the replay it belongs to
	Released    bool         // a report that was kept apart and is now released
	Time        fleet.Millis // the record's timestamp, on topics without LogAppendTime; 0 is now
}

// Header is a further header of a published record.
type Header struct{ Key, Value string }

// AccountHeader names the account whose key or token let a report in: it counts for no device of another account.
const AccountHeader = "motorpool-account"

// HeaderOf returns the header that names an account.
func HeaderOf(account fleet.AccountID) Header {
	return Header{AccountHeader, strconv.FormatUint(uint64(account), 10)}
}

// AccountOf returns the account that a header's value names; what is none is one that nobody has.
func AccountOf(value []byte) fleet.AccountID {
	account, err := strconv.ParseUint(string(value), 10, 64)
	if err != nil {
		return math.MaxUint64
	}
	return fleet.AccountID(account)
}

// ErrTooLarge is the error of a message above Config.MaxMessageBytes; it was not sent.
var ErrTooLarge = errors.New("message is too large")

// PublishError says which messages were not acknowledged. One of them may be stored nevertheless, if its
// acknowledgement was lost: publishing it again is right, as a position that comes twice is stored once.
type PublishError struct {
	Errors []error // for each message in order, nil for those that were acknowledged
}

func (e *PublishError) Error() string {
	n, first := 0, error(nil)
	for _, err := range e.Errors {
		if err != nil {
			if n++; first == nil {
				first = err
			}
		}
	}
	return fmt.Sprintf("%d of %d messages were not acknowledged: %v", n, len(e.Errors), first)
}

// Unwrap returns the errors of the messages.
func (e *PublishError) Unwrap() []error {
	var errs []error
	for _, err := range e.Errors {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// Feed publishes to topics. It is safe for concurrent use; messages of concurrent calls share requests.
//
// The partition is chosen by murmur2 of the key, as Java's producer does it: records of a device meet in one partition
// whether they come from here or from a gateway.
type Feed struct {
	client *kafka.Client
	most   int // bytes of a message

	few     *kafka.Writer // for calls with few messages, of up to batchBytes each
	batched *kafka.Writer // for calls with more of them
	single  *kafka.Writer // for larger messages
}

const (
	// batchBytes bounds a record batch. Brokers judge a whole batch by max.message.bytes, which is 1 MiB by default, so
	// that larger ones would be refused on topics that were not made by Ensure.
	batchBytes   = 900_000
	batchRows    = 10_000
	batchTimeout = 5 * time.Millisecond // what a lone message waits for company

	// A writer makes room for all rows of a batch at the first of them: 1.5 MB for batchRows, which is most of what a
	// fix would cost that comes alone.
	fewRows    = 100
	fewTimeout = time.Millisecond

	messageOverhead = 128 // bytes of a record beside key, value and headers, at most
)

// PartitionOf returns the partition that a message with a key goes to, of so many.
func PartitionOf(key []byte, partitions int) int {
	all := make([]int, partitions)
	for i := range all {
		all[i] = i
	}
	return kafka.Murmur2Balancer{}.Balance(kafka.Message{Key: key}, all...)
}

// NewFeed prepares a feed; it connects when it is used.
func NewFeed(c Config) (*Feed, error) {
	client, err := c.Client()
	if err != nil {
		return nil, err
	}
	compression, err := c.compression()
	if err != nil {
		return nil, err
	}
	writer := func(rows int, bytes int64, wait time.Duration) *kafka.Writer {
		return &kafka.Writer{
			Addr:         client.Addr,
			Transport:    client.Transport,
			Balancer:     kafka.Murmur2Balancer{},
			RequiredAcks: kafka.RequireAll,
			Compression:  compression,
			BatchSize:    rows,
			BatchBytes:   bytes,
			BatchTimeout: wait,
			MaxAttempts:  6, // with the pauses, some five seconds: enough for a new leader
		}
	}
	return &Feed{
		client:  client,
		most:    c.MaxMessageBytes,
		few:     writer(fewRows, batchBytes, fewTimeout),
		batched: writer(batchRows, batchBytes, batchTimeout),
		single:  writer(1, int64(c.MaxMessageBytes)+messageOverhead, time.Millisecond),
	}, nil
}

// Close sends what is still waiting and ends the connections.
func (f *Feed) Close() error {
	err := errors.Join(f.few.Close(), f.batched.Close(), f.single.Close())
	Disconnect(f.client)
	return err
}

// Publish sends reports in the native JSON, each as a record with the unique id as its key, and returns when all
// replicas have them. The error is a *PublishError, with the errors of the reports in order.
func (f *Feed) Publish(ctx context.Context, topic string, reports []fleet.Report, headers ...Header) error {
	var buf []byte
	ends := make([]int, len(reports))
	for i := range reports {
		buf = codec.AppendReport(buf, &reports[i])
		ends[i] = len(buf)
	}
	all := make([]kafka.Header, 0, 1+len(headers))
	all = append(all, kafka.Header{Key: codec.ContentTypeHeader, Value: []byte(codec.ContentTypeJSON)})
	for _, h := range headers {
		all = append(all, kafka.Header{Key: h.Key, Value: []byte(h.Value)})
	}
	messages := make([]kafka.Message, len(reports))
	from := 0
	for i := range reports {
		messages[i] = kafka.Message{Topic: topic, Key: []byte(reports[i].UniqueID),
			Value: buf[from:ends[i]:ends[i]], Headers: all}
		from = ends[i]
	}
	return f.write(ctx, topic, messages)
}

// PublishRaw sends messages as they are and returns when all replicas have them. The error is a *PublishError. When ctx
// ends first, keys and values may be read for a while longer.
func (f *Feed) PublishRaw(ctx context.Context, topic string, messages []Message) error {
	out := make([]kafka.Message, len(messages))
	for i, m := range messages {
		out[i] = kafka.Message{Topic: topic, Key: m.Key, Value: m.Value, Time: m.Time.Time()}
		if m.ContentType != "" {
			out[i].Headers = append(out[i].Headers, kafka.Header{Key: codec.ContentTypeHeader, Value: []byte(m.ContentType)})
		}
		if m.Run != "" {
			out[i].Headers = append(out[i].Headers, kafka.Header{Key: "motorpool-run", Value: []byte(m.Run)})
		}
		if m.Released {
			out[i].Headers = append(out[i].Headers, kafka.Header{Key: "motorpool-released", Value: []byte("1")})
		}
	}
	return f.write(ctx, topic, out)
}

// write sends the messages by size and puts their errors together.
func (f *Feed) write(ctx context.Context, topic string, messages []kafka.Message) error {
	if len(messages) == 0 {
		return nil
	}
	small := true
	for i := range messages {
		if size(&messages[i]) > batchBytes {
			small = false
			break
		}
	}
	if small {
		w := f.batched
		if len(messages) <= fewRows {
			w = f.few
		}
		return wrap(topic, spread(w.WriteMessages(ctx, messages...), len(messages)))
	}

	errs := make([]error, len(messages))
	var batched, single []kafka.Message
	var batchedAt, singleAt []int
	for i := range messages {
		switch n := size(&messages[i]); {
		case n > f.most:
			errs[i] = fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, n, f.most)
		case n > batchBytes:
			single, singleAt = append(single, messages[i]), append(singleAt, i)
		default:
			batched, batchedAt = append(batched, messages[i]), append(batchedAt, i)
		}
	}
	for i, err := range spread(f.batched.WriteMessages(ctx, batched...), len(batched)) {
		errs[batchedAt[i]] = err
	}
	for i, err := range spread(f.single.WriteMessages(ctx, single...), len(single)) {
		errs[singleAt[i]] = err
	}
	return wrap(topic, errs)
}

// size is at least what a record takes in a batch.
func size(m *kafka.Message) int {
	n := len(m.Key) + len(m.Value) + messageOverhead
	for _, h := range m.Headers {
		n += len(h.Key) + len(h.Value) + 4
	}
	return n
}

// spread turns the error of a call for n messages into one for each; nil if there is none.
func spread(err error, n int) []error {
	var each kafka.WriteErrors
	switch {
	case err == nil:
		return nil
	case errors.As(err, &each) && len(each) == n:
		return each
	}
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}

func wrap(topic string, errs []error) error {
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("publish to %s: %w", topic, &PublishError{Errors: errs})
		}
	}
	return nil
}
