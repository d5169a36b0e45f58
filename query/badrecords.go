package query

import (
	"fmt"
	"sync/atomic"
)

// badRecords remembers which records could not be read, so that each is told of once and not with every poll. It is used
// by one goroutine at a time; the count may be read by any.
type badRecords struct {
	seen  map[string]uint64 // the newest bad revision, by the record's name
	count atomic.Int64
}

// add appends what is wrong with a revision of a record to errs, unless that is known.
func (b *badRecords) add(errs []error, name string, revision uint64, err error) []error {
	if was, ok := b.seen[name]; ok && was >= revision {
		return errs
	}
	if b.seen == nil {
		b.seen = map[string]uint64{}
	}
	b.seen[name] = revision
	b.count.Add(1)
	return append(errs, fmt.Errorf("record %s is skipped: %w", name, err))
}
