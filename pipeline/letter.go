package pipeline

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/pipeline/codec"
	"github.com/motorpool/fleet/pipeline/consume"
	"github.com/motorpool/fleet/pipeline/fix"
	"github.com/motorpool/fleet/pipeline/sink"
)

// publishLetters puts a batch's dead letters on their topic. A batch that is formed again publishes them again,
// with the same ids.
func publishLetters(ctx context.Context, publisher LetterPublisher, b *consume.Batch, letters []sink.Letter) error {
	if len(letters) == 0 || publisher == nil {
		return nil
	}
	encoded := make([]codec.DeadLetter, len(letters))
	for i, l := range letters {
		encoded[i] = codec.DeadLetter{
			ID: sink.LetterID(b.Topic, b.Partition, l.Offset, l.Index), At: l.At, Reason: l.Reason, Detail: l.Detail,
			Device: l.UniqueID,
			Topic:  b.Topic, Partition: b.Partition, Offset: l.Offset, Index: l.Index, Format: codec.Format(l.Format),
			Payload: l.Payload, PayloadBytes: l.Bytes,
		}
	}
	return publisher.PublishLetters(ctx, encoded)
}

// poisonLetter is the dead letter of a record batch that cannot be read. One that has no time is dated now, or it would
// expire at once.
func poisonLetter(r *consume.Record) sink.Letter {
	p, at := r.Poison, fix.Received(r.Time)
	if at == 0 {
		at = fleet.MillisOf(time.Now())
	}
	return sink.Letter{
		At: at, Reason: fleet.RefusedBatch, Offset: r.Offset, Payload: p.Head[:min(len(p.Head), sink.MaxPayload)],
		Bytes:  p.Bytes,
		Detail: fmt.Sprintf("record batch at offsets %d to %d: %s: %s", r.Offset, p.Last, p.Reason, p.Detail),
	}
}

// Buried is the handler of a partition that knows nothing of poison, with dead letters for it.
type Buried struct {
	consume.Handler
	letters LetterPublisher
	rows    *sink.Batch
}

// Bury adds to a partition's handler that what cannot be read of the partition becomes dead letters. The handler is
// given it all the same, and has to go on behind it.
func Bury(handler consume.Handler, db driver.Conn, letters LetterPublisher, topic string, partition int) *Buried {
	return &Buried{Handler: handler, letters: letters, rows: sink.NewBatch(db, topic, partition)}
}

// Handle keeps the dead letters first.
func (h *Buried) Handle(ctx context.Context, b *consume.Batch) error {
	if slices.ContainsFunc(b.Records, func(r consume.Record) bool { return r.Poison != nil }) {
		h.rows.Reset()
		for i := range b.Records {
			if r := &b.Records[i]; r.Poison != nil {
				h.rows.Letter(poisonLetter(r))
			}
		}
		if err := publishLetters(ctx, h.letters, b, h.rows.Letters()); err != nil {
			return err
		}
		if err := h.rows.Flush(ctx, token(b)); err != nil {
			return err
		}
	}
	return h.Handler.Handle(ctx, b)
}

// Close ends the handler with the ownership.
func (h *Buried) Close() error {
	if closer, ok := h.Handler.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}
