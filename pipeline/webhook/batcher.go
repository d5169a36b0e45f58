package webhook

import (
	"context"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// batcher writes rows of several callers together, one insert at a time, and tries again until it succeeds.
type batcher[T any] struct {
	write  func(ctx context.Context, rows []T) error
	linger time.Duration // what the first rows of an insert wait for company
	failed func(error)

	mu      sync.Mutex
	rows    []T
	written []func() // to be called when the rows are
	wake    chan struct{}
	hurry   chan struct{} // somebody waits: there is no lingering
}

func newBatcher[T any](linger time.Duration, failed func(error), write func(context.Context, []T) error) *batcher[T] {
	return &batcher[T]{write: write, linger: linger, failed: failed, wake: make(chan struct{}, 1),
		hurry: make(chan struct{}, 1)}
}

// add has rows written soon, and calls written, if it is not nil, when they are.
func (b *batcher[T]) add(written func(), rows ...T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows = append(b.rows, rows...)
	if written != nil {
		b.written = append(b.written, written)
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// put returns when the rows, and all that were added before, are written, which is at once.
func (b *batcher[T]) put(ctx context.Context, rows ...T) error {
	done := make(chan struct{})
	b.add(func() { close(done) }, rows...)
	select {
	case b.hurry <- struct{}{}:
	default:
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run writes until ctx ends.
func (b *batcher[T]) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
		}
		if b.linger > 0 {
			select {
			case <-ctx.Done():
				return
			case <-b.hurry:
			case <-time.After(b.linger):
			}
		}
		b.mu.Lock()
		rows, written := b.rows, b.written
		b.rows, b.written = nil, nil
		b.mu.Unlock()
		if len(rows) > 0 && !b.writeAll(ctx, rows) {
			return
		}
		for _, f := range written {
			f()
		}
	}
}

// writeAll returns false if ctx ended before it succeeded.
func (b *batcher[T]) writeAll(ctx context.Context, rows []T) bool {
	return retry(ctx, func() error { return b.write(ctx, rows) }, b.failed) == nil
}

// retry tries something again, with pauses that grow, until it succeeds or ctx ends, and tells failed of each failure.
func retry(ctx context.Context, try func() error, failed func(error)) error {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = 50*time.Millisecond, 5*time.Second
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, try() },
		backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, _ time.Duration) { failed(err) }))
	return err
}
