package desk

import (
	"context"
	"sync"

	"github.com/motorpool/fleet"
	"github.com/motorpool/fleet/api/record"
)

// memory is what one command has read of records that it only looks up: who rents what by which rates. It lives until the command takes
// something, so that nothing is decided by what was true before. What decides, a booking or a calendar, is never remembered.
type memory struct {
	mu    sync.Mutex
	known map[remembered]any
}

type remembered struct {
	account fleet.AccountID
	kind    string
	id      uint64
}

type memoryKey struct{}

// remembering returns a context in which recall reads each record once.
func remembering(ctx context.Context) context.Context {
	return context.WithValue(ctx, memoryKey{}, &memory{known: map[remembered]any{}})
}

// recall returns the newest revision of a record, or that which was read before in a context that remembers. What it returns may be
// shared and must not be changed.
func recall[T any](ctx context.Context, log *record.Log[T], account fleet.AccountID, id uint64) (record.Record[T], error) {
	m, ok := ctx.Value(memoryKey{}).(*memory)
	if !ok {
		return log.Get(ctx, account, id)
	}
	key := remembered{account, log.Kind().Name, id}
	m.mu.Lock()
	found, ok := m.known[key].(record.Record[T])
	m.mu.Unlock()
	if ok {
		return found, nil
	}
	found, err := log.Get(ctx, account, id)
	if err == nil {
		m.mu.Lock()
		m.known[key] = found
		m.mu.Unlock()
	}
	return found, err
}
