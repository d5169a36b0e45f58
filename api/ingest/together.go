package ingest

import (
	"context"
	"sync"
	"time"
)

// together looks names up for many requests at once: those that ask while so many questions are under way as are
// allowed meet in the next one, so that the store is asked seldom when much comes and at once when little does. It is
// safe for concurrent use.
type together[K comparable, V any] struct {
	ask    func(ctx context.Context, names []K) (map[K]V, error)
	atOnce int // questions under way
	most   int // names of one question, unless somebody asks for more by itself

	mu      sync.Mutex // guards what follows
	asking  int
	waiting []*question[K, V] // in their order; the last one takes more
}

// question is what some requests ask together. What it has found is for all of them: each looks for its own names.
type question[K comparable, V any] struct {
	names map[K]struct{}
	done  chan struct{} // closed when the answer is there
	found map[K]V
	err   error
}

// answerTime is how long the store may take over a question.
const answerTime = 5 * time.Second

// find returns what is found of some names, among that of others. That the store does not answer is told to all who
// have asked together.
func (t *together[K, V]) find(ctx context.Context, names ...K) (map[K]V, error) {
	q := t.join(ctx, names)
	select {
	case <-q.done:
		return q.found, q.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// join adds names to the question that waits, and asks it if nobody is to do so.
func (t *together[K, V]) join(ctx context.Context, names []K) *question[K, V] {
	t.mu.Lock()
	defer t.mu.Unlock()
	var q *question[K, V]
	if n := len(t.waiting); n > 0 && len(t.waiting[n-1].names)+len(names) <= t.most {
		q = t.waiting[n-1]
	} else {
		q = &question[K, V]{names: make(map[K]struct{}, len(names)), done: make(chan struct{})}
		t.waiting = append(t.waiting, q)
	}
	for _, name := range names {
		q.names[name] = struct{}{}
	}
	if t.asking < t.atOnce {
		t.asking++
		// The others must not fail because the first of them went away.
		go t.run(context.WithoutCancel(ctx))
	}
	return q
}

// run asks what waits until nothing does.
func (t *together[K, V]) run(ctx context.Context) {
	for {
		t.mu.Lock()
		if len(t.waiting) == 0 {
			t.asking--
			t.mu.Unlock()
			return
		}
		q := t.waiting[0]
		t.waiting = t.waiting[1:]
		t.mu.Unlock()
		t.answer(ctx, q)
	}
}

func (t *together[K, V]) answer(ctx context.Context, q *question[K, V]) {
	defer close(q.done)
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	names := make([]K, 0, len(q.names))
	for name := range q.names {
		names = append(names, name)
	}
	q.found, q.err = t.ask(ctx, names)
}
