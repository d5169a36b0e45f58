package query

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// steady is a pool of connections whose batches stop to heed their context when they are sent. The driver has a
// goroutine of its own watch the context of a batch while it is sent, and close the connection when that ends. On a
// busy machine this goroutine may come to look only after all is done; by then whoever inserted has often ended the
// context, and the connection that is closed is at work for somebody else, whose question fails.
type steady struct{ driver.Conn }

func (s steady) PrepareBatch(
	ctx context.Context, statement string, options ...driver.PrepareBatchOption,
) (driver.Batch, error) {
	sending := newSending(ctx)
	b, err := s.Conn.PrepareBatch(sending, statement, options...)
	if err != nil {
		sending.end()
		return nil, err
	}
	return batch{b, sending}, nil
}

// batch notes when it is done with.
type batch struct {
	driver.Batch
	ctx *sending
}

// Send returns the error of the context if that has ended: the driver tells of the connection that was closed for it.
func (b batch) Send() error {
	defer b.ctx.end()
	err := b.Batch.Send()
	if ended := b.ctx.Err(); err != nil && ended != nil && !errors.Is(err, ended) {
		return fmt.Errorf("%w: %w", ended, err)
	}
	return err
}

func (b batch) Abort() error {
	defer b.ctx.end()
	return b.Batch.Abort()
}

func (b batch) Close() error {
	defer b.ctx.end()
	return b.Batch.Close()
}

// sending is the context of a batch, which ends with the context of whoever inserts and never after the batch is done
// with. It has a channel of its own, because a watch that took the other's before that may look at it afterwards.
type sending struct {
	context.Context
	forget func() bool // stops to wait for the end of Context

	mu   sync.Mutex
	done chan struct{} // closed when Context ends in time
	over bool          // the batch is done with
}

func newSending(ctx context.Context) *sending {
	s := &sending{Context: ctx, done: make(chan struct{})}
	s.forget = context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.over {
			close(s.done)
		}
	})
	return s
}

func (s *sending) Done() <-chan struct{} { return s.done }

func (s *sending) end() {
	s.forget()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
}
