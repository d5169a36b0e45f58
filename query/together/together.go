// Package together has what is asked of the store at one moment asked in one query, as the server takes longer to plan
// a read of one row than to find a dozen.
package together

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	patient = 200 * time.Millisecond // how long a query waits for the one before
	longest = time.Minute            // that a query takes for those who wait as long as it takes
)

// Reads asks for values by their keys. Who comes while a query is on its way waits for it and goes with the next, so
// that what is answered was never read before it was asked for; who is alone waits for nobody. It is safe for
// concurrent use.
type Reads[K comparable, V any] struct {
	most int // keys of one query, if nobody alone asks for more
	ask  func(ctx context.Context, keys []K) (map[K]V, error)

	mu   sync.Mutex
	last *query[K, V] // that was begun last, nil before the first
}

// query is one that is to be sent, or was.
type query[K comparable, V any] struct {
	keys  map[K]bool
	until time.Time // when the last of those who wait for it gives up
	sent  bool      // nobody joins it any more
	done  chan struct{}
	found map[K]V
	err   error
}

// New returns reads by a query of so many keys, or of more if somebody alone asks for them. It is given every key once,
// and returns what it finds; whoever gets a value shares it with others.
func New[K comparable, V any](most int, ask func(ctx context.Context, keys []K) (map[K]V, error)) *Reads[K, V] {
	return &Reads[K, V]{most: most, ask: ask}
}

// Of returns what is found by keys, and perhaps by those of others too. Who goes earlier cuts nothing.
func (r *Reads[K, V]) Of(ctx context.Context, keys ...K) (map[K]V, error) {
	until, ok := ctx.Deadline()
	if !ok {
		until = time.Now().Add(longest)
	}
	q := r.join(keys, until)
	select {
	case <-q.done:
		return q.found, q.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// join adds keys to the query that is to be sent next.
func (r *Reads[K, V]) join(keys []K, until time.Time) *query[K, V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.last
	if q == nil || q.sent || len(q.keys)+len(keys) > r.most {
		before := q
		q = &query[K, V]{keys: make(map[K]bool, len(keys)), done: make(chan struct{})}
		r.last = q
		go r.send(q, before)
	}
	for _, key := range keys {
		q.keys[key] = true
	}
	if until.After(q.until) {
		q.until = until
	}
	return q
}

// send asks a query when the one before is answered, or takes too long.
func (r *Reads[K, V]) send(q, before *query[K, V]) {
	if before != nil {
		late := time.NewTimer(patient)
		select {
		case <-before.done:
		case <-late.C:
		}
		late.Stop()
	}
	r.mu.Lock()
	q.sent = true
	keys := make([]K, 0, len(q.keys))
	for key := range q.keys {
		keys = append(keys, key)
	}
	r.mu.Unlock()
	defer close(q.done)
	// A panic is the error of those who wait: nobody's request is carried out here that would catch it.
	defer func() {
		if fell := recover(); fell != nil {
			q.err = fmt.Errorf("ask together: %v", fell)
		}
	}()
	ctx, cancel := context.WithDeadline(context.Background(), q.until)
	defer cancel()
	q.found, q.err = r.ask(ctx, keys)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == q { // which keeps nothing that nobody waits for
		r.last = nil
	}
}
