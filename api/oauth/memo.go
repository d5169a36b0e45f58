package oauth

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// memo remembers what was looked up, for so long and not longer. It is safe for concurrent use.
type memo[K comparable, V any] struct {
	lasts time.Duration
	now   func() time.Time
	kept  *lru.Cache[K, memory[V]]
}

type memory[V any] struct {
	value V
	until time.Time
}

// mostRemembered bounds the memory.
const mostRemembered = 10_000

func newMemo[K comparable, V any](lasts time.Duration, now func() time.Time) *memo[K, V] {
	kept, err := lru.New[K, memory[V]](mostRemembered)
	if err != nil {
		panic(err) // the size is a constant
	}
	return &memo[K, V]{lasts: lasts, now: now, kept: kept}
}

// get returns what is remembered of a key, or else looks it up.
func (m *memo[K, V]) get(ctx context.Context, key K, look func(context.Context) (V, error)) (V, error) {
	begun := m.now() // what is read may be as old as the beginning of the look-up
	if known, ok := m.kept.Get(key); ok && begun.Before(known.until) {
		return known.value, nil
	}
	value, err := look(ctx)
	if err == nil {
		m.kept.Add(key, memory[V]{value, begun.Add(m.lasts)})
	}
	return value, err
}

// forget has everything looked up again.
func (m *memo[K, V]) forget() { m.kept.Purge() }
