// Package together has what is asked of the store at one moment asked in one query, as the server takes longer to plan
// a read of one row than to find a dozen.
package together

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

const (
	patient = 200 * time.Millisecond // how long a query waits for the one before
	longest = time.Minute            // that a query takes for those who wait as long as it takes
)

// Reads asks for values by their keys. Who comes while a query is on its way waits for it and goes with the next, so
// that what is answered was never read before it was asked for; who is alone waits for nobody, unless Linger says so.
// It is safe for concurrent use.
type Reads[K comparable, V any] struct {
	most   int // keys of one query that several ask
	ask    func(ctx context.Context, keys []K) (map[K]V, error)
	linger func() time.Duration // nil for never

	mu   sync.Mutex
	last *query[K, V] // that was begun last, nil before the first
}

// query is one that is to be sent, or was.
type query[K comparable, V any] struct {
	ctx   context.Context // of whoever was the first, without its end: what it asks of the store holds for all
	keys  map[K]bool
	until time.Time     // when the last of those who wait for it gives up
	sent  chan struct{} // closed when nobody joins it any more
	done  chan struct{} // closed when it is answered
	found map[K]V
	err   error
}

// New returns reads by a query of at most so many keys; who asks for more asks alone. It is given every key once, and
// returns what it finds; whoever gets a value shares it with others.
func New[K comparable, V any](most int, ask func(ctx context.Context, keys []K) (map[K]V, error)) *Reads[K, V] {
	return &Reads[K, V]{most: most, ask: ask}
}

// Linger has each query wait for a while before it is sent, which linger tells every time: so those go with it who come
// in step with the first. It must be called before anything is asked.
func (r *Reads[K, V]) Linger(linger func() time.Duration) *Reads[K, V] {
	r.linger = linger
	return r
}

// Of returns what is found by keys, and perhaps by those of others too. Who goes earlier cuts nothing.
func (r *Reads[K, V]) Of(ctx context.Context, keys ...K) (map[K]V, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	once := make(map[K]bool, len(keys))
	for _, key := range keys {
		once[key] = true
	}
	if len(once) > r.most { // which would hold the others up
		return r.ask(ctx, slices.Collect(maps.Keys(once)))
	}
	q := r.join(ctx, once)
	select {
	case <-q.done:
		return q.found, q.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// join adds keys to the query that is to be sent next.
func (r *Reads[K, V]) join(ctx context.Context, keys map[K]bool) *query[K, V] {
	until, ok := ctx.Deadline()
	if !ok {
		until = time.Now().Add(longest)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.last
	if q == nil || q.under() || len(q.keys)+len(keys) > r.most {
		before := q
		q = &query[K, V]{ctx: context.WithoutCancel(ctx), keys: make(map[K]bool, len(keys)),
			sent: make(chan struct{}), done: make(chan struct{})}
		r.last = q
		go r.send(q, before)
	}
	maps.Copy(q.keys, keys)
	if until.After(q.until) {
		q.until = until
	}
	return q
}

// under says whether a query is under way, or answered.
func (q *query[K, V]) under() bool {
	select {
	case <-q.sent:
		return true
	default:
		return false
	}
}

// send asks a query when the one before is answered, or takes too long.
func (r *Reads[K, V]) send(q, before *query[K, V]) {
	defer close(q.done)
	if before != nil {
		<-before.sent
		late := time.NewTimer(patient)
		select {
		case <-before.done:
		case <-late.C:
		}
		late.Stop()
	}
	if r.linger != nil {
		time.Sleep(r.linger())
	}
	r.mu.Lock()
	close(q.sent)
	r.mu.Unlock()
	// A panic is the error of those who wait: nobody's request is carried out here that would catch it.
	defer func() {
		if fell := recover(); fell != nil {
			q.err = fmt.Errorf("ask together: %v\n%s", fell, debug.Stack())
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.last == q { // which keeps nothing that nobody waits for
			r.last = nil
		}
	}()
	ctx, cancel := context.WithDeadline(q.ctx, q.until)
	defer cancel()
	q.found, q.err = r.ask(ctx, slices.Collect(maps.Keys(q.keys)))
}
