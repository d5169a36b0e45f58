package query

import (
	"context"
	"sync/atomic"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// steady is a pool of connections whose batches stop to heed their context when they are sent. The driver has a
// goroutine of its own look at the context of a batch while it is sent, and close the connection when that ends. On a
// busy machine this goroutine may come to look only after all is done; by then whoever inserted has often ended the
// context, and the connection that is closed is at work for somebody else, whose question fails.
type steady struct{ driver.Conn }

func (s steady) PrepareBatch(
	ctx context.Context, statement string, options ...driver.PrepareBatchOption,
) (driver.Batch, error) {
	sending := &sending{Context: ctx}
	b, err := s.Conn.PrepareBatch(sending, statement, options...)
	if err != nil {
		return nil, err
	}
	return batch{b, sending}, nil
}

// batch notes when it was sent.
type batch struct {
	driver.Batch
	ctx *sending
}

func (b batch) Send() error {
	defer b.ctx.over.Store(true)
	return b.Batch.Send()
}

// sending is the context of a batch, which nothing ends any more once the batch is sent.
type sending struct {
	context.Context
	over atomic.Bool
}

func (s *sending) Done() <-chan struct{} {
	done := s.Context.Done()
	if s.over.Load() {
		return nil
	}
	return done
}
